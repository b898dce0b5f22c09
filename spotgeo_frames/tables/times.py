"""align_times(): predictions that have times instead of frames get the frames of the truth."""

from __future__ import annotations

from datetime import timedelta
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from ..support import InputError, pandas_tables, result_views
from .annotations import Annotations
from .arrow import as_pandas
from .checks import check_frames
from .messages import first_keys, listed, missing
from .other_words import way_out
from .schema import FRAME_KEY
from .spellings import plain
from .table import Table
from .table_kinds import same_kind_as

Direction = Literal["nearest", "backward"]

# What times are called, as `plain` has names.
TIMES = {"timestamp", "timestamps", "timestampns", "timestampus", "timestampms", "ts", "stamp", "datetime", "unixtime"}

# Why predictions have no frame.
BEYOND = "no frame within the tolerance"
NEARER = "another time is nearer to the frame"
LATER = "a newer prediction replaced it before the next frame"


class AlignedTimes(NamedTuple):
    """What `align_times` returns: the predictions with frames, and those that have none, with the `reason`."""

    predictions: pd.DataFrame
    unpaired: pd.DataFrame

    def __repr__(self) -> str:
        return result_views.result_as_text(self)

    def _repr_html_(self) -> str | None:
        return result_views.result_as_html(self, fronts=[result_views.Front("predictions", is_own=True)])


@same_kind_as("predictions")
def align_times(
    truth: Annotations | Table,
    predictions: Annotations | Table,
    tolerance: float | timedelta | np.timedelta64,
    direction: Direction = "nearest",
) -> AlignedTimes:
    """Gives predictions the frames of the truth by their times, where clocks do not tick together.

    Parameters
    ----------
    truth
        Annotations, or a table of objects or of frames, with `sequence`, `frame` and `time`: numbers or datetimes, one
        for each frame. The frames table decides where it has a column `time`.
    predictions
        Annotations, or a table of objects, with `sequence` and `time`, of their own or of their frames table. All rows
        of a sequence with an equal time belong together, as what the detector said at that time.
    tolerance
        How far apart the times of a frame and of its predictions may be, in the unit of numbers, or a timedelta, such
        as `pd.Timedelta("20ms")`.
    direction
        "nearest": predictions get the frame whose time is nearest. Where several times are nearest to one frame, the
        nearest of them gets it. "backward": each frame has the last predictions that had arrived by its time. One time
        may so serve several frames, and late predictions are compared with what has moved on: streaming accuracy
        counts latency this way (Li et al., ECCV 2020, doi:10.1007/978-3-030-58536-5_28).

    Returns
    -------
    Both tables are of the predictions' kind:

    predictions: the rows that have a frame, sorted by sequence and frame, with all columns; `frame` is the truth's, and
        `time_difference` is their time minus that of the frame.
    unpaired: the rows that have none, as they were given, and the `reason`.

    Raises
    ------
    InputError: a column is missing, a time is null, objects of a frame have different times, or the times or sequences
        of the sides are of different types.
    ValueError: `direction` is something else, or `tolerance` is negative or does not fit the times.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": [1, 2], "time": [0.0, 0.1], "x": [1.0, 2.0], "y": 0.0})
    >>> found = pd.DataFrame({"sequence": 1, "time": [0.02, 0.11, 0.4], "x": [1.0, 2.0, 9.0], "y": 0.0})
    >>> aligned = sf.align_times(truth, found, tolerance=0.05)
    >>> aligned.predictions[["frame", "time", "x"]]
       frame  time    x
    0      1  0.02  1.0
    1      2  0.11  2.0
    >>> aligned.unpaired[["time", "reason"]]
       time                         reason
    0   0.4  no frame within the tolerance
    """
    if direction not in get_args(Direction):
        raise ValueError(f"align_times: direction is {direction!r}; 'nearest' or 'backward' is needed")
    known, found = _frames_of(truth), _timed(predictions, "predictions")
    own = [name for name in ("time_difference", "reason") if name in found]
    if own:
        raise InputError(f"align_times: predictions: column {own[0]} is a name of the result; give it another")
    known_times, times = _alike(known["time"], found["time"])
    sequence = _sequences(found)
    _check_sequences(known["sequence"], sequence)
    frames = pd.DataFrame({"sequence": known["sequence"], "frame": known["frame"], "of_frame": known_times})
    twice = frames.duplicated(["sequence", "of_frame"], keep=False).to_numpy()
    if twice.any():
        keys = first_keys(frames, twice, FRAME_KEY)
        raise InputError(f"align_times: truth: {int(twice.sum()):,} frames have the time of another: {keys}")
    scans = pd.DataFrame({"sequence": sequence, "of_scan": times}).drop_duplicates()
    paired, none = _pairs(frames, scans, _tolerance(tolerance, known_times), direction)
    rows = pd.DataFrame({"sequence": sequence, "of_scan": times, "row": np.arange(len(found))})
    order = rows.merge(paired, on=["sequence", "of_scan"]).sort_values(["sequence", "frame", "row"], kind="stable")
    answer = found.drop(columns="frame", errors="ignore").take(order["row"].to_numpy()).reset_index(drop=True)
    answer.insert(list(answer.columns).index("sequence") + 1, "frame", order["frame"].to_numpy(np.int64))
    answer["time_difference"] = (order["of_scan"] - order["of_frame"]).to_numpy()
    left = rows.merge(none, on=["sequence", "of_scan"]).sort_values("row")
    reason = pd.Series(left["reason"].to_numpy(), dtype=pandas_tables.TEXT)
    return AlignedTimes(answer, found.take(left["row"].to_numpy()).reset_index(drop=True).assign(reason=reason))


def _pairs(
    frames: pd.DataFrame, scans: pd.DataFrame, tolerance: Any, direction: Direction
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The times of predictions (`of_scan`) with their frames, and the others with the reason why they have none."""
    sides = {"of_scan": scans, "of_frame": frames}
    left, right = (
        sides[name].assign(time=sides[name][name]).sort_values("time", kind="stable").reset_index(drop=True)
        for name in (("of_scan", "of_frame") if direction == "nearest" else ("of_frame", "of_scan"))
    )
    # Joined by their places, since a column with nulls could not hold nanoseconds.
    places = right[["sequence", "time"]].assign(place=np.arange(len(right)))
    place = pd.merge_asof(left, places, on="time", by="sequence", direction=direction, tolerance=tolerance)["place"]
    has = place.notna().to_numpy()
    other = right.take(place[has].to_numpy(np.int64)).drop(columns=["sequence", "time"]).reset_index(drop=True)
    near = pd.concat([left[has].drop(columns="time").reset_index(drop=True), other], axis=1)
    paired = near
    if direction == "nearest":  # of several times that are nearest to one frame, the nearest
        apart = near.assign(apart=(near["of_scan"] - near["of_frame"]).abs())
        ordered = apart.sort_values(["apart", "of_scan"], kind="stable")
        paired = ordered.drop_duplicates(["sequence", "frame"]).drop(columns="apart")
    none = scans[~_among(scans, paired)]
    if direction == "nearest":
        is_late, why = _among(none, near), NEARER
    else:
        last = frames.groupby("sequence", observed=True)["of_frame"].max()
        is_late, why = none["of_scan"].to_numpy() < none["sequence"].map(last).to_numpy(), LATER
    return paired, none.assign(reason=np.where(is_late, why, BEYOND))


def _tolerance(tolerance: Any, times: pd.Series) -> Any:
    """The tolerance in the type of the times; raises ValueError if it is none, or does not fit them."""
    problem = f"align_times: tolerance is {tolerance!r}"
    if not pd.api.types.is_any_real_numeric_dtype(times.dtype):
        try:
            if tolerance is None or (isinstance(tolerance, Real) and not isinstance(tolerance, np.timedelta64)):
                raise TypeError
            span = pd.Timedelta(tolerance)
        except (TypeError, ValueError):
            raise ValueError(f"{problem}; times are datetimes, so a timedelta is needed") from None
        if pd.isna(span) or span < pd.Timedelta(0):
            raise ValueError(f"{problem}; a timedelta of 0 or more is needed")
        return span
    if not isinstance(tolerance, Real) or isinstance(tolerance, bool) or not 0 <= float(tolerance) < np.inf:
        raise ValueError(f"{problem}; a number of 0 or more is needed, in the unit of the times")
    return int(float(tolerance)) if times.dtype == np.int64 else float(tolerance)  # whole times differ by whole numbers


def _among(scans: pd.DataFrame, others: pd.DataFrame) -> np.ndarray:
    """Marks the times of predictions that are among others."""
    key = ["sequence", "of_scan"]
    merged = scans[key].merge(others[key].drop_duplicates(), how="left", on=key, indicator=True)
    return (merged["_merge"] == "both").to_numpy()


def _timed(given: Annotations | Table, name: str) -> pd.DataFrame:
    """The rows of a side with their times, of their own or of their frames; raises InputError if they have none."""
    objects, frames = (given.objects, given.frames) if isinstance(given, Annotations) else (given, None)
    table = as_pandas(objects, f"align_times: {name}").reset_index(drop=True)
    if "time" not in table and frames is not None:
        listed_frames = as_pandas(frames, f"align_times: {name} frames")
        if "time" in listed_frames and {*FRAME_KEY} <= {*table}:
            check_frames(listed_frames[FRAME_KEY], f"align_times: {name} frames")
            table = table.merge(listed_frames[[*FRAME_KEY, "time"]], how="left", on=FRAME_KEY)
    for column in ("sequence", "time"):
        if column not in table:
            why = _way_out(table, column)
            raise InputError(missing(f"align_times: {name}", column, table.columns, why))
    null = table["time"].isna().to_numpy()
    if null.any():
        keys = first_keys(table, null, [column for column in FRAME_KEY if column in table])
        raise InputError(f"align_times: {name}: column time: {int(null.sum()):,} rows are null: {keys}")
    return table


def _way_out(table: pd.DataFrame, column: str) -> str:
    """What a table has instead of a column, and the call that makes it."""
    why = f"there are {listed(table.columns)}"
    called = next((name for name in table if plain(name) in TIMES), None) if column == "time" else None
    return f'{why}; table.rename(columns={{"{called}": "time"}}) makes it' if called else way_out(why, table, column)


def _frames_of(truth: Annotations | Table) -> pd.DataFrame:
    """The frames of the truth with their times; raises InputError if a frame has several."""
    listed_frames = truth.frames if isinstance(truth, Annotations) else None
    if listed_frames is not None and "time" in as_pandas(listed_frames, "align_times: truth frames"):
        table = _timed(listed_frames, "truth frames")
    else:
        table = _timed(truth, "truth")
    if "frame" not in table:
        raise InputError(missing("align_times: truth", "frame", table.columns, _way_out(table, "frame")))
    frames = table[[*FRAME_KEY, "time"]].drop_duplicates().reset_index(drop=True)
    several = frames.duplicated(FRAME_KEY, keep=False).to_numpy()
    if several.any():
        keys = first_keys(frames, several, FRAME_KEY)
        raise InputError(f"align_times: truth: {int(several.sum()):,} times of frames that have several: {keys}")
    return check_frames(frames[FRAME_KEY], "align_times: truth").assign(time=frames["time"])


def _alike(truth: pd.Series, predictions: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Both columns of times in one type.

    Raises InputError if one holds numbers and the other does not, or if whole numbers are too large for what they are
    compared with.
    """
    sides = {"truth": truth, "predictions": predictions}
    are_numbers = [pd.api.types.is_any_real_numeric_dtype(side.dtype) for side in sides.values()]
    are_whole = [pd.api.types.is_integer_dtype(side.dtype) for side in sides.values()]
    most = 2**63 if all(are_whole) else 2**53  # nanoseconds since 1970 do not fit float64
    for (name, side), whole in zip(sides.items(), are_whole, strict=True):
        if all(are_numbers) and whole and len(side) and max(abs(int(side.min())), abs(int(side.max()))) >= most:
            problem = "has whole numbers that its type or that of the other side cannot hold"
            raise InputError(f"align_times: {name}: column time {problem}; make both int64")
    if all(are_whole):
        return truth.astype("int64"), predictions.astype("int64")
    if all(are_numbers):
        return truth.astype("float64"), predictions.astype("float64")
    kinds = [side.dtype for side in (truth, predictions)]
    try:
        if any(are_numbers):
            raise TypeError
        one, other = (pd.to_datetime(side).dt.as_unit("ns") for side in (truth, predictions))
        if one.dtype != other.dtype:  # one of them has a time zone, or another one
            raise TypeError
        return one, other
    except (TypeError, ValueError):
        problem = f"column time is {kinds[0]} in the truth and {kinds[1]} in the predictions"
        raise InputError(f"align_times: {problem}; make both numbers, or both datetimes of one zone") from None


def _sequences(table: pd.DataFrame) -> pd.Series:
    """The sequences of rows in their type; raises InputError if some are null or of no type of keys."""
    keys = check_frames(table[["sequence"]].assign(frame=np.arange(len(table))), "align_times: predictions")
    return keys["sequence"]


def _check_sequences(truth: pd.Series, predictions: pd.Series) -> None:
    """Raises InputError if the sequences of the sides are of different types."""
    if truth.dtype != predictions.dtype and len(truth) and len(predictions):
        problem = f"column sequence is {truth.dtype} in the truth and {predictions.dtype} in the predictions"
        raise InputError(f"align_times: {problem}; make them the same")
