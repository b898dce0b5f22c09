"""What tracks would be if their errors of one kind were mended.

A match table of tracks is mended by giving its rows other predictions: `Mended` says under which identity, and with
whose geometry. From that, truth and predictions are made again, to be evaluated again.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...support import InputError, arrays
from ...tables import Annotations, MatchSides, messages, schema
from .histories import identity_columns, object_rows, switches

NAME = "error_costs: matches"

# The names of an identity that are no longer those in the table: the frames from which they hold, and the names.
History = tuple[list[int], list[int]]


class TrackRows(NamedTuple):
    """The N rows of a match table of tracks, (N,) each.

    `outcome` and `frame` (a position; each joint of a frame is a frame of its own) are those of the row. `truth` and
    `predicted` are identities, counted from 0 through all sequences, and -1 for a side that the row lacks. Each joint
    has identities of its own. For rows with a truth, `before` and `after` are the rows in which it was last matched
    before, and is first matched after; -1 for none.
    """

    outcome: np.ndarray
    frame: np.ndarray
    truth: np.ndarray
    predicted: np.ndarray
    before: np.ndarray
    after: np.ndarray

    @property
    def n_predicted(self) -> int:
        """How many predicted identities there are."""
        return int(self.predicted.max(initial=-1)) + 1

    @property
    def own(self) -> np.ndarray:
        """For each row with a truth, an identity that belongs to it and that no prediction has."""
        return self.n_predicted + self.truth

    @property
    def switches(self) -> np.ndarray:
        """Marks the true positives whose truth was last matched with another identity."""
        matched_before = (self.outcome == schema.TP) & (self.before >= 0)
        return matched_before & (self.predicted != self.predicted[self.before])

    @property
    def in_gaps(self) -> np.ndarray:
        """Marks the misses between two frames in which their truth is found."""
        return (self.outcome == schema.FN) & (self.before >= 0) & (self.after >= 0)

    @property
    def n_gaps(self) -> int:
        """How many runs of misses `in_gaps` has."""
        rows = np.flatnonzero(self.in_gaps)
        return len({*zip(self.truth[rows].tolist(), self.before[rows].tolist(), strict=True)})


class Mended(NamedTuple):
    """The predictions of the N rows of a match table once they are mended.

    `identity` (N,) is that of the row's prediction, -1 for none. `place` (N,) is the row whose truth gives the
    prediction its geometry, -1 for the prediction's own.
    """

    identity: np.ndarray
    place: np.ndarray


def track_rows(table: pd.DataFrame, identity: str | None = None) -> TrackRows:
    """The rows of a checked match table of `track` or `pose`, whose objects are named by the column `identity`.

    Without it, the notes of the table name the column, or it is `object`. Raises InputError if there is no such column,
    or if the events of the table do not fit the identities.
    """
    names = identity_columns(table, identity, NAME)
    truths = object_rows(table, names.truth, NAME)
    outcome = table["outcome"].array.codes
    truth, predicted = np.full(len(table), -1), np.full(len(table), -1)
    truth[truths.rows] = truths.objects
    claimed = np.flatnonzero(np.isin(outcome, [schema.TP, schema.FP]))
    if names.predicted not in table:
        raise InputError(messages.missing(NAME, names.predicted, table.columns, "track() and pose() make it"))
    key = [name for name in ("sequence", "joint", names.predicted) if name in table]
    predicted[claimed], _ = arrays.grouped(arrays.row_keys(table[key].iloc[claimed], key))
    before, after = (_last_matched(truth, outcome == schema.TP, order) for order in (truths.rows, truths.rows[::-1]))
    rows = TrackRows(outcome, truths.frame, truth, predicted, before, after)
    if "event" not in table or not np.array_equal(rows.switches, switches(table)):
        problem = f"column event does not fit the identities in {names.truth} and {names.predicted}"
        raise InputError(f"{NAME}: {problem}; give identity=, the column by which track() or pose() knew objects")
    return rows


def _last_matched(truth: np.ndarray, matched: np.ndarray, order: np.ndarray) -> np.ndarray:
    """For each row, the last matched row of its truth that comes before it in the `order`, which sorts by truth.

    It is -1 for rows without one.
    """
    position = np.arange(len(order))
    begins = np.maximum.accumulate(np.where(np.diff(truth[order], prepend=-1) != 0, position, 0))
    last = np.maximum.accumulate(np.where(matched[order], position, -1))
    last = np.concatenate([[-1], last[:-1]])[: len(order)]
    rows = np.full(len(truth), -1)
    rows[order] = np.where(last >= begins, order[last], -1) if len(order) else -1
    return rows


def mended_errors(rows: TrackRows, marked: np.ndarray, partner: np.ndarray) -> Mended:
    """The marked misses and false alarms mended; `partner` is the other row of a mislocated pair, -1 for all others.

    A false alarm is removed, and that of a mislocated pair moves onto its truth. Any other miss gets a prediction with
    the truth's own geometry, under the identity with which the truth was last matched, or else is first matched
    afterwards. Where that is taken in the frame, or there is none, it gets an identity of its own.
    """
    identity, place = rows.predicted.copy(), np.full(len(partner), -1)
    false, alone = marked & (rows.outcome == schema.FP), partner < 0
    identity[false & alone] = -1
    place[false & ~alone] = partner[false & ~alone]
    missed = np.flatnonzero(marked & (rows.outcome == schema.FN) & alone)
    matched = _names(rows, np.where(rows.before >= 0, rows.before, rows.after))
    return _filled(rows, Mended(identity, place), missed, [matched, rows.own])


def mended_gaps(rows: TrackRows) -> Mended:
    """Each miss between two frames in which its truth is found mended, by a prediction with the truth's own geometry.

    It has the identity before the gap, else the one after it. Where both are taken in the frame, the miss remains.
    """
    today = Mended(rows.predicted.copy(), np.full(len(rows.predicted), -1))
    choices = [_names(rows, rows.before), _names(rows, rows.after)]
    return _filled(rows, today, np.flatnonzero(rows.in_gaps), choices)


def mended_all(rows: TrackRows) -> Mended:
    """Every truth found under one identity of its own, and no false alarms; true positives keep their places."""
    return Mended(
        np.where(rows.truth >= 0, rows.own, -1), np.where(rows.outcome == schema.FN, np.arange(len(rows.truth)), -1)
    )


def mended_switches(rows: TrackRows) -> Mended:
    """Every switch mended, one after the other: from its frame on, two identities are exchanged.

    They are the one with which the truth was last matched and the one of the switch, each in the names that earlier
    exchanges gave them. To rename only one of them would put it twice into a frame.
    """
    switched = np.flatnonzero(rows.switches)
    switched = switched[np.argsort(rows.frame[switched], kind="stable")]
    before = rows.before[switched]
    columns = rows.frame[switched], rows.predicted[switched], rows.frame[before], rows.predicted[before]
    histories, holders = dict[int, History](), dict[int, int]()
    for frame, found, last_frame, last_found in zip(*(column.tolist() for column in columns), strict=True):
        wanted, named = _name_at(histories, last_found, last_frame), _name_at(histories, found, frame)
        if wanted == named:
            continue
        holder = holders.get(wanted, wanted)
        for identity, name in ((found, wanted), (holder, named)):
            frames, names = histories.setdefault(identity, ([], []))
            frames.append(frame)
            names.append(name)
            holders[name] = identity
    return Mended(_renamed(rows, histories), np.full(len(rows.truth), -1))


def _name_at(histories: dict[int, History], identity: int, frame: int) -> int:
    """The name of an identity in a frame."""
    frames, names = histories.get(identity, ([], []))
    position = bisect_right(frames, frame)
    return names[position - 1] if position else identity


def _renamed(rows: TrackRows, histories: dict[int, History]) -> np.ndarray:
    """The predicted identities of all rows under their names in each frame."""
    if not histories:
        return rows.predicted
    identity = np.repeat([*histories], [len(frames) for frames, _ in histories.values()])
    since, name = (np.concatenate([history[part] for history in histories.values()]) for part in (0, 1))
    span = int(rows.frame.max()) + 1
    keys = identity * span + since
    order = np.argsort(keys, kind="stable")  # of several names from one frame on, the last one given holds
    last = order[np.searchsorted(keys[order], rows.predicted * span + rows.frame, side="right") - 1]
    known = (identity[last] == rows.predicted) & (since[last] <= rows.frame)
    return np.where(known, name[last], rows.predicted)


def _names(rows: TrackRows, of: np.ndarray) -> np.ndarray:
    """The predicted identities of these rows; -1 where there is no row."""
    return np.where(of >= 0, rows.predicted[of], -1)


def _filled(rows: TrackRows, mended: Mended, missed: np.ndarray, choices: Sequence[np.ndarray]) -> Mended:
    """The misses with a prediction in their place, under the first of the `choices` (N,) that is free in the frame.

    Where several misses of a frame want the same identity, the first gets it. Those without a free one stay missed.
    """
    identity, place = mended.identity.copy(), mended.place.copy()
    span = rows.n_predicted + int(rows.truth.max(initial=-1)) + 2
    for wanted in choices:
        missed = missed[identity[missed] < 0]
        there = np.flatnonzero(identity >= 0)
        taken = np.sort(rows.frame[there] * span + identity[there])
        keys = rows.frame[missed] * span + wanted[missed]
        free = np.flatnonzero((wanted[missed] >= 0) & (arrays.locate(taken, keys) < 0))
        filled = missed[free[np.unique(keys[free], return_index=True)[1]]]
        identity[filled], place[filled] = wanted[filled], filled
    return Mended(identity, place)


def mended_sides(sides: MatchSides, rows: TrackRows, mended: Mended) -> tuple[Annotations, Annotations]:
    """Truth and predictions with numbers for identities, as they are once they are mended.

    Predictions with the geometry of truths come last; they have those of their columns that truths have, too.
    """
    truth = sides.truth.objects.assign(object=rows.truth[sides.truth_rows])
    identity = mended.identity[sides.predicted_rows]
    kept = (identity >= 0) & (mended.place[sides.predicted_rows] < 0)
    predictions = sides.predictions.objects.assign(object=identity)[kept]
    placed = np.flatnonzero((mended.identity >= 0) & (mended.place >= 0))
    if len(placed):
        shared = [column for column in predictions if column in truth]
        moved = truth[shared].iloc[np.searchsorted(sides.truth_rows, mended.place[placed])]
        moved = moved.assign(object=mended.identity[placed])
        predictions = pd.concat([predictions, moved], ignore_index=True) if len(predictions) else moved
    return sides.truth._replace(objects=truth), Annotations(predictions.reset_index(drop=True))
