"""What the best score threshold is worth on new data, by cross-validation over sequences.

The highest of many numbers is partly luck: f1 (or HOTA) at the threshold where it is highest is too good, because the
threshold was chosen on the same data. So other sequences choose: those of each of ten folds get the threshold that is
best in the nine other folds (below ten sequences, each is a fold of its own), and what they add up to there is added.

The interval is that of these sums by the jackknife. It is to hold the true value of the threshold that all sequences
chose, from which those of the folds differ a little, so half the difference between the apparent and the
cross-validated value counts as a further standard error. docs/uncertainty.md has what that keeps.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...scoring import Metric, NamedSums, sequence_sums
from ..certainty import Functions, jackknife, reasons

MOST_FOLDS = 10

# Why there is no interval, by metric.
NO_INTERVAL = {
    "f1": "only one sequence has objects at the threshold that others chose",
    "HOTA": f"fewer than {reasons.FEWEST_COMBINED} sequences, of which a large one may decide the combined HOTA",
}


def best_threshold(
    curve: pd.DataFrame, metric: Metric, sums: NamedSums, fewest: int, confidence: float, seed: int
) -> dict[str, float]:
    """The threshold of the highest value of a share, that value, and the cross-validated one with its interval.

    `curve` has the metric of all sequences at each score threshold, and `sums` are those of each sequence there,
    (sequences, thresholds, ...) by name. With fewer than `fewest` sequences there is no interval, with a single one no
    cross-validated value either.
    """
    validated = f"{metric.name}_cross_validated"
    names = ["score_threshold", metric.name, validated, f"{validated}_low", f"{validated}_high"]
    row = dict.fromkeys(names, np.nan)
    if not len(curve):
        return row
    best = highest(curve[[metric.name]].to_numpy().T)[0]
    row |= {name: float(curve[name].iloc[best]) for name in names[:2]}
    assert metric.value is not None  # what is swept follows from sums
    assert metric.weight is not None
    functions = jackknife.single_share(metric.value, metric.weight)
    counted = np.flatnonzero((functions.weights(sums) > 0).any(axis=(1, 2)))
    if len(counted) < 2:
        return row
    held_out = _held_out({name: rows[counted] for name, rows in sums.items()}, functions, len(counted), seed)
    apparent, one_group = np.array([[row[metric.name]]]), np.zeros(len(counted), np.int64)
    estimate, low, high = of_held_out(held_out, one_group, 1, functions, apparent, confidence)
    row[validated] = estimate.item()
    if len(counted) >= fewest:
        row |= {f"{validated}_low": low.item(), f"{validated}_high": high.item()}
    return row


def of_held_out(
    sums: NamedSums,
    group: np.ndarray,
    n_groups: int,
    functions: Functions,
    apparent: np.ndarray,
    confidence: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cross-validated metrics of groups and their bounds, each (groups, metrics).

    `sums` are those of each sequence, in the group `group`, at the threshold that others chose, and `apparent` are the
    metrics at the threshold that all chose.
    """
    estimate = functions.values({name: sequence_sums.added_rows(rows, group, n_groups) for name, rows in sums.items()})
    found = jackknife.jackknife(sums, group, n_groups, functions, confidence, np.abs(apparent - estimate) / 2)
    return found.estimate, found.low, found.high


def null_texts(best: pd.DataFrame) -> list[str]:
    """The texts of warnings that say why cross-validated values of a table `best`, or their intervals, are null."""
    name = "HOTA" if "HOTA" in best else "f1"
    apparent, value, low = (best[name + end].notna() for end in ("", "_cross_validated", "_cross_validated_low"))
    lone = "only one sequence has objects, and no other can try its threshold"
    texts = {
        f"{lone}, so {name}_cross_validated is null; expect less than {name} on new data": apparent & ~value,
        f"{NO_INTERVAL[name]}, so {name}_cross_validated has no interval": value & ~low,
    }
    return [text for text, rows in texts.items() if rows.any()]


def _held_out(sums: NamedSums, functions: Functions, n_sequences: int, seed: int) -> dict[str, np.ndarray]:
    """The sums of each sequence, (sequences, ...), at the threshold that is best in the other folds."""
    sequence, n_folds = np.arange(n_sequences), min(n_sequences, MOST_FOLDS)
    fold = np.random.default_rng([seed]).permutation(sequence % n_folds)
    folds = {name: np.stack([rows[fold == k].sum(axis=0) for k in range(n_folds)]) for name, rows in sums.items()}
    is_other = 1 - np.eye(n_folds)
    others = {name: np.tensordot(is_other, rows, 1) for name, rows in folds.items()}
    chosen = highest(functions.values(others)[..., 0])
    return {name: rows[sequence, chosen[fold]] for name, rows in sums.items()}


def score_thresholds(scores: np.ndarray, given: Sequence[float] | None, most: int) -> np.ndarray:
    """The score thresholds in rising order; without those given, the scores that occur, at most `most` of them.

    Raises ValueError where those given are not numeric.
    """
    if given is not None:
        thresholds = np.asarray(given)
        numeric = thresholds.ndim == 1 and thresholds.size and thresholds.dtype.kind in "iuf"
        if not numeric or np.isnan(thresholds).any():
            raise ValueError(f"score is {given!r}; a list of thresholds is needed, such as [0.25, 0.5]")
        return np.unique(thresholds.astype(np.float64))
    occurring = np.unique(scores)
    if len(occurring) <= most:
        return occurring
    ranked = np.sort(scores)
    return np.unique(ranked[np.linspace(0, len(ranked) - 1, most).astype(np.int64)])


def highest(values: np.ndarray) -> np.ndarray:
    """The position of the highest value in each row of (N, thresholds); the last position where several are equal."""
    if not values.shape[1]:
        return np.zeros(len(values), np.int64)
    return values.shape[1] - 1 - np.argmax(np.nan_to_num(values[:, ::-1], nan=-1.0), axis=1)
