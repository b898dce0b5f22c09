"""The sums of a match table, from its pairs alone: where only the sums are wanted, no table need be made."""

from collections.abc import Hashable

import numpy as np

from ..matching.crowds import WithoutCrowds, without_explained
from ..matching.pairs import Pairs
from ..matching.rule import Rule
from ..support.arrays import added_at, distinct, grouped, row_keys
from ..tables.columns import Columns
from ..tables.schema import FN, FRAME_KEY, TP
from .group_sums import Cells, Sums, totals


def pair_sums(counting: WithoutCrowds, pairs: Pairs, rule: Rule) -> Sums:
    """What `summary_sums` returns of the match table of these pairs, in which all rows form one group.

    Errors are added in another order, so their sums may differ in the last digits.
    """
    cells, notes = pair_cells(counting, pairs, rule)
    return Sums(Columns({}, n_rows=1), totals(cells, 1), {}, not rule.by_distance, rule.notes | notes)


def pair_cells(counting: WithoutCrowds, pairs: Pairs, rule: Rule) -> tuple[Cells, dict[Hashable, int]]:
    """What `cells_of` returns of the match table of these pairs: the sums of each sequence; and counts for the notes.

    The counts are those of rows that were left out, such as `crowds` and `explained`, where there may be any.
    """
    aligned, pairs, notes = without_explained(counting, pairs)
    truth, predictions, frames = aligned.truth, aligned.predictions, aligned.frames
    of_frame, first = grouped(row_keys(frames, ["sequence"]))
    # Each joint of a frame is a row of `frames`.
    listed = distinct(row_keys(frames, FRAME_KEY))[1] if "joint" in frames else slice(None)
    of_pair = of_frame.take(predictions.frame.take(pairs.prediction))

    def added(sequence: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        return added_at(sequence, values, len(first))

    tp = added(of_pair)
    fn, fp = added(of_frame, truth.counts) - tp, added(of_frame, predictions.counts) - tp
    near = rule.in_table(pairs.measure)
    squared, kelvins = rule.errors(np.full(len(near), TP), pairs.measure)
    [missed], [kelvins_missed] = rule.errors(np.array([FN]), np.array([np.nan]))  # and of a false alarm
    unpaired = fn + fp
    values = {
        "tp": tp,
        "fn": fn,
        "fp": fp,
        "squared_error": added(of_pair, squared) + np.where(unpaired > 0, unpaired * missed, 0.0),
        "near": added(of_pair, near),
        "near_squared": added(of_pair, near * near),
        "kelvins_error": added(of_pair, kelvins) + np.where(unpaired > 0, unpaired * kelvins_missed, 0.0),
        "n_frames": added(of_frame[listed]),
    }
    return Cells(np.zeros(len(first), np.int64), frames["sequence"].take(first), values), {**aligned.notes, **notes}
