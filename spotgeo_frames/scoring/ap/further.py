"""Numbers of the whole curve of scores besides average precision: each is the best over all score thresholds.

A threshold right below a true positive is always at least as good as one right below the false alarms after it, so the
true positives are all that is looked at. Every function gives a number of each category, (K,).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .interpolation import TruePositives

# Further numbers that follow from the scores, and those that have a recall or a precision in their names.
FURTHER = ("oLRP", "best_f1")
AT_SHARE = ("precision_at_recall", "recall_at_precision")


def kind_and_share(name: Any) -> tuple[str, float | None]:
    """The kind of a further number, and the recall or precision in its name; raises ValueError if it is none.

    `oLRP` and `best_f1` are kinds by themselves; `precision_at_recall_0.9` and `recall_at_precision_0.5` have a share.
    """
    text = name if isinstance(name, str) else ""
    if text in FURTHER:
        return text, None
    kind, _, share = text.rpartition("_")
    try:
        value = float(share)
    except ValueError:
        value = np.nan
    if kind not in AT_SHARE or not 0 < value <= 1:
        how = "'oLRP', 'best_f1', 'precision_at_recall_0.9' and 'recall_at_precision_0.5' are such numbers"
        raise ValueError(f"metrics: {name!r} is no further number of average precision; {how}")
    return kind, value


def is_further(name: str) -> bool:
    """Whether this is the name of a further number."""
    try:
        kind_and_share(name)
    except ValueError:
        return False
    return True


def optimal_lrp(true: TruePositives, limit: np.ndarray, *, by_distance: bool) -> np.ndarray:
    """The least localisation recall precision error (Oksuz et al. 2021, arXiv:2011.10772); 1 where nothing is found.

    A true positive costs 0 where it is exact and 1 at the `limit` of its category (K,); misses and false alarms cost 1.
    """
    of = limit[true.category]
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.nan_to_num(true.measure / of if by_distance else (1.0 - true.measure) / (1.0 - of))
    cost = np.cumsum(true.weight * error)
    before = np.concatenate([[0.0], cost])[true.first[:-1]]
    n_truth = true.n_truth[true.category]
    missed = n_truth - true.tp
    value = (cost - before[true.category] + true.fp + missed) / (n_truth + true.fp)
    return 1.0 - _highest(true, 1.0 - value)


def best_f1(true: TruePositives) -> np.ndarray:
    """The highest F1; 0 where nothing is found."""
    return _highest(true, _f1(true))


def best_f1_score(true: TruePositives, score: np.ndarray) -> np.ndarray:
    """The highest score threshold that has the highest F1, from the scores of all detections; null without any."""
    f1, highest = _f1(true), best_f1(true)
    is_best = np.flatnonzero(f1 == highest[true.category])
    category, first = np.unique(true.category[is_best], return_index=True)
    answer = np.full(len(highest), np.nan)
    answer[category] = score[true.detection[is_best[first]]]
    return answer


def _f1(true: TruePositives) -> np.ndarray:
    """F1 right below each true positive."""
    return 2.0 * true.tp / (true.tp + true.fp + true.n_truth[true.category])


def precision_at_recall(true: TruePositives, recall: float) -> np.ndarray:
    """The highest precision where recall is at least this; 0 where that is not reached."""
    enough = true.tp >= recall * true.n_truth[true.category] * (1 - 1e-12)
    return _highest(true, np.where(enough, true.tp / (true.tp + true.fp), 0.0))


def recall_at_precision(true: TruePositives, precision: float) -> np.ndarray:
    """The highest recall where precision is at least this; 0 where that is not reached."""
    enough = true.tp >= precision * (true.tp + true.fp) * (1 - 1e-12)
    return _highest(true, np.where(enough, true.tp / true.n_truth[true.category], 0.0))


def _highest(true: TruePositives, values: np.ndarray) -> np.ndarray:
    """The highest value of the true positives of each category, at least 0."""
    answer = np.zeros(len(true.n_truth))
    filled = np.diff(true.first) > 0
    if filled.any():
        answer[filled] = np.maximum.reduceat(values, true.first[:-1][filled])
    return np.maximum(answer, 0.0)
