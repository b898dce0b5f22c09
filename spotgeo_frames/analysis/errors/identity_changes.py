"""identity_breaks(): where the identity of a tracked truth changed, and where the truth was lost for a while.

Both follow from neighbours: two frames in which a truth is matched, without another such frame between them. The truth
has a gap if it is missed between the two, and a switch if the second has another predicted identity.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ...geometries import centres, difference, point_distance
from ...matching import PAIRS_AT_ONCE
from ...scoring import sequence_sums
from ...support import InputError, arrays
from ...tables import Table, check_coordinates, checks, messages, schema, table_kinds
from ...tracking import PoseResult, TrackResult
from .histories import IdentityColumns, ObjectRows, identity_columns, object_rows, switches

BREAK_TYPE = pd.CategoricalDtype(["switch", "gap"])
SWITCH, GAP = range(len(BREAK_TYPE.categories))
NAME = "identity_breaks: matches"
CARRIED = tuple(schema.PREFIXES[side] for side in ("truth", "sequences", "frames"))


@table_kinds.same_kind_as("x")
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
    DataFrame of the kind of `x`, a row for each break, sorted by sequence, frame and (for poses) joint. Each joint is
    looked at on its own. A break lies between two matches of a truth (rows in which it is a true positive) that have no
    other match of it between them, the match before and the match after:

    sequence, frame, (joint): of a switch the frame of the match after, of a gap the first missed frame.
    truth_object: the identity of the truth.
    break: "switch" if the match after has another predicted identity than the match before, however long ago that was.
        "gap" if the truth exists and is missed in frames between the two matches, whichever identity comes after. A gap
        that ends in a switch gives two rows. Misses before the first match and after the last one are no gap, nor are
        frames in which the truth does not exist.
    predicted_before, predicted_after: the predicted identities of the two matches.
    taken_by: the truth that is matched with predicted_before in the frame of the break; null if there is none.
    gap: in how many frames between the two matches the truth exists and is missed; 0 for an immediate switch.
    nearest_truth: px, the distance from the truth to the nearest other one in the frame of the break: between the
        centres of boxes, and for poses between the same joints; null if there is no other.
    similarity: that of the match before.

    Then come all other columns of the match table that tell of the truth, the frame and the sequence (`category`,
    `truth_*`, `frame_*`, `sequence_*`), so breaks can be grouped and counted by them.

    Raises
    ------
    InputError: `x` is no match table of `track` or `pose`, a column is missing, an identity is in a frame more than
        once, or the events do not follow from the identities, because rows are missing or `identity` has to be given.

    Notes
    -----
    The switches are the rows whose `event` is "switch", as many as IDSW counts. Of poses, `switches` in the summary
    leaves out the last annotated frame of each sequence, as poseval does; here its switches are listed, too.

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
    table = checks.check_matches(sequence_sums.evaluable(x, NAME).matches, NAME)
    why = "give what track() or pose() returned, or its table matches"
    check_coordinates(table, ["truth"])
    names = identity_columns(table, identity, NAME)
    for column in ("event", "similarity", *names):
        if column not in table:
            raise InputError(messages.missing(NAME, column, table.columns, why))
    truths = object_rows(table, names.truth, NAME)
    [predicted], _ = arrays.ordinals([table[names.predicted].array])
    breaks = _breaks(table, truths, predicted)
    _check_events(table, breaks, names)
    nearest, taker = _other_truths(table, truths, predicted, breaks)
    identities = table[names.truth].reset_index(drop=True)
    identities = identities.astype("Int64") if identities.dtype.kind in "iu" else identities
    columns = {
        **{name: table[name].array.take(breaks.row) for name in schema.frame_columns(table)},
        "truth_object": identities.array.take(breaks.row),
        "break": pd.Categorical.from_codes(breaks.kind, dtype=BREAK_TYPE),
        "predicted_before": table[names.predicted].array.take(breaks.before),
        "predicted_after": table[names.predicted].array.take(breaks.after),
        "taken_by": identities.reindex(taker).array,  # -1 is no row
        "gap": breaks.n_missed,
        "nearest_truth": nearest,
        "similarity": table["similarity"].array.take(breaks.before),
    }
    own = ("category", *schema.slice_columns(table))
    others = [name for name in map(str, table.columns) if name in own or name.startswith(CARRIED)]
    carried = {name: table[name].array.take(breaks.row) for name in others if name not in columns}
    answer = pd.DataFrame(columns | carried, copy=False)
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


def _breaks(table: pd.DataFrame, truths: ObjectRows, predicted: np.ndarray) -> _Breaks:
    """The breaks in the order of frames; `predicted` is the predicted identity of each row as an integer."""
    found = np.flatnonzero(table["outcome"].array.codes[truths.rows] == schema.TP)
    matched = truths.rows[found]
    # Of each match and the next: whether both are of one truth, and how often it is missed between them.
    again, n_missed = np.diff(truths.objects[found]) == 0, np.diff(found) - 1
    switch, gap = np.flatnonzero(again & (np.diff(predicted[matched]) != 0)), np.flatnonzero(again & (n_missed > 0))
    kind = np.repeat([SWITCH, GAP], [len(switch), len(gap)])
    pair, row = np.concatenate([switch, gap]), np.concatenate([matched[switch + 1], truths.rows[found[gap] + 1]])
    order = np.lexsort([row, truths.frame[row]])
    pair = pair[order]
    return _Breaks(kind[order], n_missed[pair], row[order], matched[pair], matched[pair + 1])


def _check_events(table: pd.DataFrame, breaks: _Breaks, names: IdentityColumns) -> None:
    """Raises InputError unless the switches are the rows whose event is "switch"."""
    found = np.zeros(len(table), bool)
    found[breaks.row[breaks.kind == SWITCH]] = True
    wrong = switches(table) != found
    if wrong.any():
        problem = f"its switches are not those of {names.truth} and {names.predicted}"
        hint = "give all rows of each sequence, and identity= if track() or pose() was called with it"
        where = messages.first_keys(table, wrong, schema.frame_columns(table))
        raise InputError(f"{NAME}: column event: {problem}; {hint}: {where}")


def _other_truths(
    table: pd.DataFrame, truths: ObjectRows, predicted: np.ndarray, breaks: _Breaks
) -> tuple[np.ndarray, np.ndarray]:
    """Of the other truths in the frame of each break: the distance (px) of the nearest, and the row of the taker.

    The taker is matched with the identity before the break. Null and -1 if there is none.
    """
    frame = truths.frame
    in_break = np.zeros(int(frame.max(initial=0)) + 1, bool)
    in_break[frame[breaks.row]] = True
    rows = truths.rows[in_break[frame[truths.rows]]]
    rows = rows[np.argsort(frame[rows], kind="stable")]
    x, y = centres(table, schema.SIDE_PREFIXES[0])
    first, last = (np.searchsorted(frame[rows], frame[breaks.row], side) for side in ("left", "right"))
    nearest, taker = np.full(len(first), np.nan), np.full(len(first), -1)
    for start, end in arrays.chunks(last - first, PAIRS_AT_ONCE):
        pair, member = arrays.ranges(first[start:end], (last - first)[start:end])
        pair += start
        own, other = breaks.row[pair], rows[member]
        distance = point_distance(difference(x[own], x[other]), difference(y[own], y[other]))
        distance[own == other] = np.nan
        nearest[start:end] = np.fmin.reduceat(distance, np.flatnonzero(np.diff(pair, prepend=-1)))
        takes = predicted[other] == predicted[breaks.before[pair]]  # a missed truth has a null here, equal to none
        taker[pair[takes]] = other[takes]
    return nearest, taker
