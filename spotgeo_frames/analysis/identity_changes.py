"""identity_breaks(): where the identity of a tracked truth changed, and where the truth was lost for a while.

Both follow from neighbours: two frames in which a truth is matched, without another such frame between them. The truth
has a gap if it is missed between the two, and a switch if the second has another predicted identity.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..matching.pairs import PAIRS_AT_ONCE
from ..matching.similarity import difference, point_distance
from ..support.chunks import chunks
from ..support.errors import InputError
from ..support.keys import grouped, locate, ordinals, row_keys
from ..support.ragged import ranges
from ..tables.checks import check_matches
from ..tables.kinds import same_kind_as
from ..tables.match_sides import check_coordinates
from ..tables.messages import first_keys, missing
from ..tables.schema import FN, PREFIXES, SIDE_PREFIXES, TP, centres, frame_columns
from ..tables.table import Table
from ..tracking.poses import PoseResult
from ..tracking.tracks import TrackResult
from .histories import IdentityColumns, identity_columns, object_rows, switches

BREAK_TYPE = pd.CategoricalDtype(["switch", "gap"])
SWITCH, GAP = range(len(BREAK_TYPE.categories))
NAME = "identity_breaks: matches"
CARRIED = tuple(PREFIXES[side] for side in ("truth", "sequences", "frames"))


@same_kind_as("x")
def identity_breaks(x: TrackResult | PoseResult | Table, *, identity: str | None = None) -> pd.DataFrame:
    """Lists where tracks of true objects broke: each switch to another predicted identity, and each gap.

    Parameters
    ----------
    x
        What `track` or `pose` returned, or its table `matches`, with all rows of each sequence that it has.
    identity
        The column that named the objects in `track` or `pose`. Needed only if it was not `object` and the table has
        lost its notes, as tables of polars have.

    Returns
    -------
    DataFrame of the kind of `x`, a row for each break, sorted by sequence, frame and (for poses) joint. Joints break
    each on its own. Call a truth's matched frames those in which it is a true positive, and "before" and "after" two of
    them with none between:

    sequence, frame, (joint): where the break is: the frame after of a switch, and the first missed frame of a gap.
    truth_object: the identity of the truth.
    break: "switch" if the truth has another predicted identity after than before, however long the gap. These are the
        rows whose `event` is "switch", so there are IDSW of them; of poses, poseval counts as `switches` those before
        the last annotated frame of each sequence. "gap" if the truth exists and is missed in frames between the two,
        whichever identity comes after. A gap that ends in a switch gives two rows. Misses before the first match and
        after the last one are no gap, nor are frames in which the truth does not exist.
    predicted_before, predicted_after: the predicted identities of the two frames; equal for a gap that ends without a
        switch.
    taken_by: the truth that is matched with predicted_before in the frame of the break; null if there is none.
    gap: in how many frames between the two the truth exists and is missed; 0 for an immediate switch.
    nearest_truth: px, the distance to the nearest other truth of the frame (for poses, to the nearest same joint), of
        the centres of boxes; null if there is none.
    similarity: that of the pair before.

    Then come all other columns of the match table that tell of the truth, the frame and the sequence (`category`,
    `truth_*`, `frame_*`, `sequence_*`), so breaks can be grouped and counted by them.

    Raises
    ------
    InputError: `x` is no match table of `track` or `pose`, a column is missing, an identity is in a frame more than
        once, or the events do not follow from the identities, because rows are missing or `identity` has to be given.

    Notes
    -----
    CLEAR's Frag counts the steps, frames with objects on both sides, between two matches of a truth, whether or not the
    truth exists there. So a truth that is absent for some steps adds to Frag and has no gap, and a truth that is missed
    only in frames without any prediction has a gap and adds nothing to Frag. All other gaps are fragmentations.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3, 4], "object": 7, "x": [0.0, 5.0, 9.0, 14.0], "y": 0.0})
    >>> result = sf.track(truth, truth.assign(object=[1, 1, 1, 2]).drop(index=2))  # missed once, then another identity
    >>> breaks = sf.identity_breaks(result)
    >>> breaks[["frame", "truth_object", "break", "predicted_before", "predicted_after", "gap"]]
       frame  truth_object   break  predicted_before  predicted_after  gap
    0      3             7     gap                 1                2    1
    1      4             7  switch                 1                2    1
    """
    table = check_matches(x.matches if isinstance(x, TrackResult | PoseResult) else x, NAME)
    why = "give what track() or pose() returned, or its table matches"
    check_coordinates(table, ["truth"])
    names = identity_columns(table, identity, NAME)
    for column in ("event", "similarity", *names):
        if column not in table:
            raise InputError(missing(NAME, column, table.columns, why))
    frame, _ = grouped(row_keys(table, frame_columns(table)))
    [predicted], _ = ordinals([table[names.predicted].array])
    breaks = _breaks(table, names, frame, predicted)
    columns = {
        **{name: table[name].take(breaks.row).array for name in frame_columns(table)},
        "truth_object": table[names.truth].take(breaks.row).array,
        "break": pd.Categorical.from_codes(breaks.kind, dtype=BREAK_TYPE),
        "predicted_before": table[names.predicted].take(breaks.before).array,
        "predicted_after": table[names.predicted].take(breaks.after).array,
        "taken_by": _taken_by(table, names.truth, frame, predicted, breaks),
        "gap": breaks.n_missed,
        "nearest_truth": _nearest_truth(table, frame, breaks.row),
        "similarity": table["similarity"].take(breaks.before).array,
    }
    others = [name for name in map(str, table.columns) if name == "category" or name.startswith(CARRIED)]
    carried = {name: table[name].take(breaks.row).array for name in others if name not in columns}
    answer = pd.DataFrame(columns | carried)
    answer.attrs = table.attrs
    return answer


class _Breaks(NamedTuple):
    """The breaks in their order: the code of their kind, how many frames are missed, and rows of the match table.

    `row` is that of the break; `before` and `after` are those of the two matches around it.
    """

    kind: np.ndarray
    n_missed: np.ndarray
    row: np.ndarray
    before: np.ndarray
    after: np.ndarray


def _breaks(table: pd.DataFrame, names: IdentityColumns, frame: np.ndarray, predicted: np.ndarray) -> _Breaks:
    """The breaks in the order of frames, from the frame and the predicted identity of each row, as integers.

    Raises InputError if the events tell of other switches.
    """
    truths, of_truth, _ = object_rows(table, names.truth, NAME)
    found = np.flatnonzero(table["outcome"].array.codes[truths] == TP)
    matched = truths[found]
    again, n_missed = np.diff(of_truth[found]) == 0, np.diff(found) - 1
    switch, gap = np.flatnonzero(again & (np.diff(predicted[matched]) != 0)), np.flatnonzero(again & (n_missed > 0))
    _check_events(table, matched[switch + 1], names)
    pair, row = np.concatenate([switch, gap]), np.concatenate([matched[switch + 1], truths[found[gap] + 1]])
    kind = np.repeat([SWITCH, GAP], [len(switch), len(gap)])
    order = np.lexsort([row, frame[row]])
    pair = pair[order]
    return _Breaks(kind[order], n_missed[pair], row[order], matched[pair], matched[pair + 1])


def _check_events(table: pd.DataFrame, switch: np.ndarray, names: IdentityColumns) -> None:
    """Raises InputError unless the rows whose event is "switch" are these."""
    expected = np.zeros(len(table), bool)
    expected[switch] = True
    wrong = switches(table) != expected
    if wrong.any():
        problem = f"its switches are not those of {names.truth} and {names.predicted}"
        hint = "give all rows of each sequence, and identity= if track() or pose() was called with it"
        where = first_keys(table, wrong, frame_columns(table))
        raise InputError(f"{NAME}: column event: {problem}; {hint}: {where}")


def _taken_by(table: pd.DataFrame, truth: str, frame: np.ndarray, predicted: np.ndarray, breaks: _Breaks) -> Any:
    """The truth that is matched with the identity before each break, in the frame of the break; null if none is."""
    here = np.zeros(int(frame.max(initial=0)) + 1, bool)
    here[frame[breaks.row]] = True
    matched = np.flatnonzero((table["outcome"].array.codes == TP) & here[frame])
    span = int(predicted.max(initial=0)) + 1
    keys = frame[matched] * span + predicted[matched]
    order = np.argsort(keys)
    place = locate(keys[order], frame[breaks.row] * span + predicted[breaks.before])
    truths = table[truth].take(matched[order]).reset_index(drop=True)
    truths = truths.astype("Int64") if truths.dtype == np.int64 else truths
    return truths.reindex(place).array  # -1 is no row


def _nearest_truth(table: pd.DataFrame, frame: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The distance (px) of the truths of some rows to the nearest other truth of their frame; null if there is none."""
    truths = np.flatnonzero(np.isin(table["outcome"].array.codes, [TP, FN]) & np.isin(frame, frame[rows]))
    truths = truths[np.argsort(frame[truths], kind="stable")]
    x, y = centres(table, SIDE_PREFIXES[0])
    first, last = (np.searchsorted(frame[truths], frame[rows], side) for side in ("left", "right"))
    nearest = np.full(len(rows), np.nan)
    for start, end in chunks(last - first, PAIRS_AT_ONCE):
        of_break, member = ranges(first[start:end], (last - first)[start:end])
        one, other = rows[start:end][of_break], truths[member]
        distance = point_distance(difference(x[one], x[other]), difference(y[one], y[other]))
        distance[one == other] = np.nan
        nearest[start:end] = np.fmin.reduceat(distance, np.flatnonzero(np.diff(of_break, prepend=-1)))
    return nearest
