"""Numbers of the whole curve of scores besides average precision: each is the best over all score thresholds.

A threshold at a score that only false alarms have is never better than the next higher score of a true positive, so
only scores of true positives are tried. Each counts what its category has from its score on, as a threshold does
not part equal scores. Every function takes them and what else is Known, and gives a number of each ranking, (R,): of
the detections of one category at one threshold. FURTHER lists the kinds of these numbers; everything else that is
asked about them stands there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from .interpolation import TruePositives


class Known(NamedTuple):
    """What further numbers follow from, besides the true positives.

    Attributes
    ----------
    score
        The score of each detection, (D,).
    last
        The last true positive of its category that has the score of each, (N,).
    limit
        The threshold of each ranking's category, (R,): the least similarity of a match, or the largest distance.
    by_distance
        Whether detections match by distance.
    share
        The recall or precision in the name of the number; null where it has none.
    """

    score: np.ndarray
    last: np.ndarray
    limit: np.ndarray
    by_distance: bool
    share: float


class Kind(NamedTuple):
    """A kind of further numbers.

    Attributes
    ----------
    compute
        Computes it of each ranking.
    formula, note
        What it is, in words; `{share}` stands for the recall or precision in its name.
    has_share
        Whether its name ends with a recall or a precision.
    comes_with
        The kind that brings it along; None where it is asked for by itself.
    higher_is_better
        Whether more of it is better; None where neither is.
    """

    compute: Callable[[TruePositives, Known], np.ndarray]
    formula: str
    note: str
    has_share: bool = False
    comes_with: str | None = None
    higher_is_better: bool | None = True


def kind_and_share(name: Any) -> tuple[str, float | None]:
    """The kind of a further number, and the recall or precision in its name; raises ValueError if it is none.

    `oLRP` and `best_f1` are kinds by themselves; `precision_at_recall_0.9` and `recall_at_precision_0.5` have a share.
    """
    text = name if isinstance(name, str) else ""
    if text in FURTHER and not FURTHER[text].has_share and FURTHER[text].comes_with is None:
        return text, None
    kind, _, share = text.rpartition("_")
    try:
        value = float(share)
    except ValueError:
        value = np.nan
    if kind not in FURTHER or not FURTHER[kind].has_share or not 0 < value <= 1:
        how = "'oLRP', 'best_f1', 'precision_at_recall_0.9' and 'recall_at_precision_0.5' are such numbers"
        raise ValueError(f"metrics: {name!r} is no further number of average precision; {how}")
    return kind, value


def further_among(names: Iterable[str]) -> list[str]:
    """Those of the names that are further numbers, each as `metrics` asks for it: `best_f1_score` by best_f1."""
    asked = ((FURTHER[name].comes_with if name in FURTHER else None) or name for name in names)
    return [name for name in asked if _is_further(name)]


def _is_further(name: str) -> bool:
    """Whether `metrics` takes this name."""
    try:
        kind_and_share(name)
    except ValueError:
        return False
    return True


def _optimal_lrp(true: TruePositives, known: Known) -> np.ndarray:
    """The least localisation recall precision error (Oksuz et al. 2021, arXiv:2011.10772); 1 where nothing is found.

    A true positive costs 0 where it is exact and 1 at the limit of its category; misses and false alarms cost 1.
    """
    of = known.limit[true.ranking]
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.nan_to_num(true.measure / of if known.by_distance else (1.0 - true.measure) / (1.0 - of))
    cost = np.cumsum(true.weight * error)
    before, cost = np.concatenate([[0.0], cost])[true.first[:-1]], cost[known.last]
    n_truth = true.n_truth[true.ranking]
    missed = n_truth - true.tp
    value = (cost - before[true.ranking] + true.fp + missed) / (n_truth + true.fp)
    return 1.0 - _highest(true, 1.0 - value)


def _best_f1(true: TruePositives, _: Known) -> np.ndarray:
    """The highest F1; 0 where nothing is found."""
    return _highest(true, _f1(true))


def _best_f1_score(true: TruePositives, known: Known) -> np.ndarray:
    """The highest score threshold that has the highest F1; null without any."""
    f1 = _f1(true)
    highest = _highest(true, f1)
    is_best = np.flatnonzero(f1 == highest[true.ranking])
    ranking, first = np.unique(true.ranking[is_best], return_index=True)
    answer = np.full(len(highest), np.nan)
    answer[ranking] = known.score[true.detection[is_best[first]]]
    return answer


def _f1(true: TruePositives) -> np.ndarray:
    """F1 from the score of each true positive on."""
    return 2.0 * true.tp / (true.tp + true.fp + true.n_truth[true.ranking])


def _precision_at_recall(true: TruePositives, known: Known) -> np.ndarray:
    """The highest precision where recall is at least the share; 0 where that is not reached."""
    enough = true.tp >= known.share * true.n_truth[true.ranking] * (1 - 1e-12)
    return _highest(true, np.where(enough, true.tp / (true.tp + true.fp), 0.0))


def _recall_at_precision(true: TruePositives, known: Known) -> np.ndarray:
    """The highest recall where precision is at least the share; 0 where that is not reached."""
    enough = true.tp >= known.share * (true.tp + true.fp) * (1 - 1e-12)
    return _highest(true, np.where(enough, true.tp / true.n_truth[true.ranking], 0.0))


def _highest(true: TruePositives, values: np.ndarray) -> np.ndarray:
    """The highest value of the true positives of each ranking, at least 0."""
    answer = np.zeros(len(true.n_truth))
    filled = np.diff(true.first) > 0
    if filled.any():
        answer[filled] = np.maximum.reduceat(values, true.first[:-1][filled])
    return np.maximum(answer, 0.0)


FURTHER = {
    "oLRP": Kind(
        _optimal_lrp,
        "least (sum of localisation errors of the TP + FP + FN) / (TP + FP + FN) over all score thresholds",
        "optimal localisation recall precision error (Oksuz et al. 2021, arXiv:2011.10772); lower is better",
        higher_is_better=False,
    ),
    "best_f1": Kind(
        _best_f1, "highest F1 over all score thresholds", "mean over categories, each with a threshold of its own"
    ),
    "best_f1_score": Kind(
        _best_f1_score,
        "score threshold of the highest F1",
        "mean over categories; null where nothing is found",
        comes_with="best_f1",
        higher_is_better=None,
    ),
    "precision_at_recall": Kind(
        _precision_at_recall,
        "highest precision at a recall of at least {share:g}",
        "0 where it is not reached",
        has_share=True,
    ),
    "recall_at_precision": Kind(
        _recall_at_precision,
        "highest recall at a precision of at least {share:g}",
        "0 where it is not reached",
        has_share=True,
    ),
}
