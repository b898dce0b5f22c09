"""object_summary(): in which of its frames each true object was found, and in which it was missed."""

import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import is_integer_dtype

from ...matching import layout, noted_rule
from ...scoring import row_counts, sequence_sums
from ...support import InputError, arrays, pandas_tables
from ...tables import Table, checks, messages, schema, table_kinds

HISTORY_TYPE = pd.CategoricalDtype(["always found", "found in part", "flickers", "never found"])


class IdentityColumns(NamedTuple):
    """The columns of a match table that name the true and the predicted object through their sequence."""

    truth: str
    predicted: str


class ObjectRows(NamedTuple):
    """The rows of truths of a match table, sorted by object and frame, as integers.

    `objects` is the object of each of these rows, and `first` where each object begins. `frame` is the position of the
    frame of each row of the whole table; a joint has frames of its own.
    """

    rows: np.ndarray
    objects: np.ndarray
    first: np.ndarray
    frame: np.ndarray


@table_kinds.same_kind_as("matches")
def object_summary(matches: Table | NamedTuple, *, identity: str | None = None) -> pd.DataFrame:
    """Summarizes the history of each true object: in which of its frames it was found.

    Parameters
    ----------
    matches
        A match table, or what `track` or `pose` returned. Its truth has to have the same identity in all frames of a
        sequence, as the truth of the spotGEO challenge has.
    identity
        The column that names an object through its sequence; a truth without it has `object`. By default that which
        `track` or `pose` noted in the table, or else `object`. Tables of polars keep no notes; a warning tells where
        their truths look as if they had been numbered for want of names.

    Returns
    -------
    DataFrame of the match table's kind with one row for each true object, sorted by `sequence`, (`joint`,) `object`:

    n_frames, n_found: the count of frames that have the object, and of those in which it is a true positive.
    found_share: n_found / n_frames.
    pattern: one character for each of the object's frames, in order: 1 where it was found, 0 where it was missed.
    longest_gap: the most frames in a row in which it was missed, among its own frames.
    n_changes: how often it changes from found to missed or back.
    n_switches: how often its predicted identity changes; only for tables of `track` and `pose`.
    history: "always found", "never found", "found in part" (one change) or "flickers" (two changes or more).
    mean_distance: px, the mean over the frames in which it was found, null if it never was; `mean_similarity` instead
        after matching by similarity.

    There is no interval: these are the histories of these objects, and not an estimate of others.

    Raises
    ------
    InputError: `matches` is no match table, its column of identities is missing, or an object occurs in a frame more
        than once.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> frames = [1, 2, 3, 4]
    >>> truth = pd.DataFrame({"sequence": 1, "frame": frames, "object": 1, "x": [10.0, 20.0, 30.0, 40.0], "y": 5.0})
    >>> matches = sf.match(truth, truth[truth["frame"] != 3])
    >>> sf.object_summary(matches)[["sequence", "object", "n_found", "pattern", "longest_gap", "history"]]
       sequence  object  n_found pattern  longest_gap   history
    0         1       1        3    1101            1  flickers
    """
    table = checks.check_matches(sequence_sums.match_table_of(matches, "object_summary: matches"))
    row_counts.warn_of_doubled(table, "object_summary")
    name = "object_summary: matches"
    if identity is None and table.attrs.get(schema.NUMBERED):
        problem = "the truth had no column object, so nothing follows an object from frame to frame"
        raise InputError(f"{name}: {problem}; give the truth one, or say identity=")
    truth = identity_columns(table, identity, name).truth
    rows, of_row, first, frame = object_rows(table, truth, name)
    if identity is None and not noted_rule.rule_notes(table) and _look_numbered(table, truth, rows, frame[rows]):
        problem = "the truths of each frame are numbered from 0 as if they had no column object"
        way_out = "give them one, or say identity='object' if the numbers follow objects"
        warnings.warn(f"{name}: {problem}, so they may follow nothing; {way_out}", stacklevel=3)
    found = table["outcome"].array.codes[rows] == schema.TP
    n_frames, n_found = np.bincount(of_row), arrays.added_at(of_row, found)
    changes = np.diff(found, prepend=False) & (np.diff(of_row, prepend=-1) == 0)
    n_changes = arrays.added_at(of_row, changes).astype(np.int64)
    measure = schema.measure_of(table)
    near = np.nan_to_num(table[measure].to_numpy(np.float64)[rows])
    with np.errstate(invalid="ignore"):
        mean = arrays.added_at(of_row, near) / n_found
    history = np.select([n_found == n_frames, n_found == 0, n_changes > 1], [0, 3, 2], 1)
    key = [*_group(table), truth]
    answer = table[key].take(rows[first]).reset_index(drop=True).rename(columns={truth: "object"})
    events = {"n_switches": arrays.added_at(of_row, switches(table)[rows]).astype(np.int64)} if "event" in table else {}
    answer = answer.assign(
        n_frames=n_frames,
        n_found=n_found.astype(np.int64),
        found_share=n_found / n_frames,
        pattern=_patterns(found, first),
        longest_gap=_longest_gaps(found, of_row, len(first)),
        n_changes=n_changes,
        **events,
        history=pd.Categorical.from_codes(history, dtype=HISTORY_TYPE),
        **{f"mean_{measure}": mean},
    )
    answer.attrs = table.attrs
    return answer


def _look_numbered(table: pd.DataFrame, truth: str, rows: np.ndarray, frame: np.ndarray) -> bool:
    """Whether the objects of each frame are 0 to their count - 1, while this count changes within a sequence.

    Objects with names of their own would leave gaps. `rows` are those of truths, and `frame` the frame of each.
    """
    if truth != "truth_object" or "joint" in table or not is_integer_dtype(table[truth].dtype) or not len(rows):
        return False
    truths = pd.DataFrame({"frame": frame, "object": table[truth].array.take(rows).to_numpy(np.int64)})
    of_frame = truths.groupby("frame")["object"].agg(["min", "max", "size"])
    if of_frame["min"].any() or (of_frame["max"] + 1 != of_frame["size"]).any():
        return False
    first = rows[np.unique(frame, return_index=True)[1]]
    sequence = pd.Series(table["sequence"].array.take(first), of_frame.index)
    count = of_frame["size"].groupby(sequence, observed=True).agg(["min", "max"])
    return bool(((count["max"] > 2) & (count["max"] > count["min"])).any())


def identity_columns(table: pd.DataFrame, identity: str | None, name: str) -> IdentityColumns:
    """The columns of a match table with the objects' names: `identity`, or else what its notes say, or `object`.

    A side that lacks such a column has `object`. Raises InputError, which calls the table `name`, if both sides do.
    """
    column = identity or table.attrs.get("identity") or "object"
    named = [f"{prefix}{column}" for prefix in schema.SIDE_PREFIXES]
    if column != "object" and not any(name in table for name in named):
        raise InputError(f"{name}: it has neither {' nor '.join(named)}, which identity={column!r} needs")
    objects = [f"{prefix}object" for prefix in schema.SIDE_PREFIXES]
    return IdentityColumns(*(own if own in table else other for own, other in zip(named, objects, strict=True)))


def object_rows(table: pd.DataFrame, identity: str, name: str) -> ObjectRows:
    """The rows of truths of a match table, by object.

    `identity` is the column that names an object, and `name` the table in messages. Raises InputError if the column is
    missing, or if an object occurs in a frame more than once.
    """
    if identity not in table:
        raise InputError(messages.missing(name, identity, table.columns, "match() adds it"))
    frame, first_of_frame = arrays.grouped(arrays.row_keys(table, schema.frame_columns(table)))
    # A name means one object within these columns, which are known for each row from those of each frame.
    of_frames = [column for column in _group(table) if column in schema.frame_columns(table)]
    group, first_of_group = arrays.grouped(arrays.row_keys(table[of_frames].take(first_of_frame), of_frames))
    rows = np.flatnonzero(np.isin(table["outcome"].array.codes, [schema.TP, schema.FN]))
    rows = rows[arrays.stable_order(frame[rows], len(first_of_frame))]
    of_rows = [*(column for column in _group(table) if column not in of_frames), identity]
    numbered = [arrays.ordinals([table[column].array.take(rows)]) for column in of_rows]
    codes, spans = [of_row for [of_row], _ in numbered], [span for _, span in numbered]
    objects, first = arrays.grouped(arrays.pack([group[frame[rows]], *codes], [len(first_of_group), *spans]))
    order = arrays.stable_order(objects, len(first))
    rows, objects = rows[order], objects[order]
    if np.any((np.diff(objects) == 0) & (np.diff(frame[rows]) == 0)):
        problem = f"column {identity}: a name is in a frame more than once; it has to be unique within its frame"
        raise InputError(f"{name}: {problem}")
    return ObjectRows(rows, objects, np.flatnonzero(np.diff(objects, prepend=-1)), frame)


def switches(table: pd.DataFrame) -> np.ndarray:
    """Marks the rows of a match table of tracks whose `event` is "switch"."""
    return (table["event"] == layout.EVENTS[layout.SWITCH]).to_numpy(bool, na_value=False)


def _group(table: pd.DataFrame) -> list[str]:
    """The columns within which a name means one object; of tracks by class or by condition, also these."""
    by = ["category"] if table.attrs.get("by") == "category" else []
    return [column for column in ("sequence", "joint", *by, *schema.slice_columns(table)) if column in table]


def _patterns(found: np.ndarray, first: np.ndarray) -> pd.Series:
    """Writes the pattern of each object, a string of 0 and 1; the rows of an object begin at its place in `first`."""
    marks = pa.array(["0", "1"]).take(pa.array(found.view(np.int8)))
    marks_of_objects = pa.LargeListArray.from_arrays(np.append(first, len(found)), marks)
    return pd.Series(pc.binary_join(marks_of_objects, ""), dtype=pandas_tables.TEXT)


def _longest_gaps(found: np.ndarray, of_row: np.ndarray, n_objects: int) -> np.ndarray:
    """The longest run of misses of each object; `of_row` is the object of each row."""
    begins = np.flatnonzero((np.diff(of_row, prepend=-1) != 0) | (np.diff(found, prepend=False)))
    lengths = np.diff(begins, append=len(found)) * ~found[begins]
    longest = np.zeros(n_objects, np.int64)
    np.maximum.at(longest, of_row[begins], lengths)
    return longest
