"""The sums of a match table, from its pairs alone: where only the sums are wanted, no table need be made."""

import numpy as np

from ..matching.crowds import WithoutCrowds, without_explained
from ..matching.pairs import Pairs
from ..matching.rule import Rule
from ..support.keys import distinct, grouped, row_keys
from ..tables.columns import Columns, array_of
from ..tables.schema import FN, FRAME_KEY, TP
from .group_sums import Cells, Sums, totals
from .match_sums import group_sums


def pair_sums(counting: WithoutCrowds, pairs: Pairs, rule: Rule) -> Sums:
    """What `summary_sums` returns of the match table of these pairs, in which all rows form one group.

    Errors are added in another order, so their sums may differ in the last digits.
    """
    aligned, pairs, notes = without_explained(counting, pairs)
    sequence = aligned.frames["sequence"]
    of_frame, first = grouped(row_keys(aligned.frames, ["sequence"]))
    n_sequences = len(first)
    _, listed = distinct(row_keys(aligned.frames, FRAME_KEY))  # each joint of a frame is a frame of its own there
    n_frames, n_truth, n_predicted = (
        np.bincount(of_frame[frames], counts, n_sequences)
        for frames, counts in (
            (listed, None),
            (slice(None), aligned.truth.counts),
            (slice(None), aligned.predictions.counts),
        )
    )
    of_pair = of_frame[aligned.predictions.frame[pairs.prediction]]
    tp = np.bincount(of_pair, minlength=n_sequences)
    n_wrong = n_truth + n_predicted - 2 * tp
    near = rule.in_table(pairs.measure)
    errors = zip(
        rule.errors(np.full(len(near), TP), pairs.measure), rule.errors(np.array([FN]), np.array([np.nan])), strict=True
    )
    squared, kelvins = (
        group_sums(of_pairs, of_pair, n_sequences) + np.where(n_wrong > 0, n_wrong * of_wrong, 0.0)
        for of_pairs, of_wrong in errors
    )
    values = {
        "tp": tp,
        "fn": n_truth - tp,
        "fp": n_predicted - tp,
        "squared_error": squared,
        "near": group_sums(near, of_pair, n_sequences),
        "near_squared": group_sums(near * near, of_pair, n_sequences),
        "kelvins_error": kelvins,
        "n_frames": n_frames,
    }
    values = {name: rows.astype(np.float64) for name, rows in values.items()}
    cells = Cells(np.zeros(n_sequences, np.int64), array_of(sequence.take(first)), values)
    return Sums(Columns({}, n_rows=1), totals(cells, 1), {}, not rule.by_distance, rule.notes | notes)
