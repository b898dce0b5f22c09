"""What each kind of error costs in average precision, by counting again with that kind mended.

As in TIDE (tidecv 1.0.1, quantify.py), a mended false alarm is taken away, or, if it stands for a missed truth, becomes
a true positive of that truth's category, with its own score; a mended lost truth no longer counts. Everything else
stays as it was matched.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...matching import Pairs
from ...scoring import AveragePrecision, Matched, curves, protocol_entries, scopes
from ...support import pandas_tables
from .detection_errors import KINDS, LOST, DetectionErrors, errors_at, kinds_of, nearest_truths

# The rows of the result besides the kinds: all missed truths, all false alarms, and all kinds.
ALL_MISSES, ALL_FALSE_ALARMS, ALL = "all_misses", "all_false_alarms", "all"

# The recall points of tidecv 1.0.1 (ap.py). Some differ in the last bit from those of pycocotools.
TIDE_RECALLS = np.arange(101) / 100


class Left(NamedTuple):
    """What is left once some errors are mended.

    Attributes
    ----------
    detections
        The positions of the N detections that are left, in the order in which they are counted, (N,).
    category
        Their categories, (N,).
    finds
        The truth that each of them finds, (N,); -1 for false alarms.
    counts
        Marks the truths that count, (G,).
    """

    detections: np.ndarray
    category: np.ndarray
    finds: np.ndarray
    counts: np.ndarray


def detection_costs(result: AveragePrecision) -> pd.DataFrame:
    """The costs of each kind of error of what `average_precision` returned."""
    matched = result.matched
    nearest = nearest_truths(matched)
    errors = [errors_at(matched, nearest, position) for position in range(len(matched.thresholds))]
    places = np.argsort(matched.detections.by_score)
    names = [*kinds_of(matched), ALL_MISSES, ALL_FALSE_ALARMS, ALL]
    sides = {"n_misses": (errors[0].truth_kind, ALL_MISSES), "n_false_alarms": (errors[0].kind, ALL_FALSE_ALARMS)}
    columns: dict[str, Any] = {
        column: [int(np.isin(kind, _kinds_in(name, whole)).sum()) for name in names]
        for column, (kind, whole) in sides.items()
    }
    # The first row is that of nothing mended.
    rows = ["", *names]
    values = np.array([[_ap(matched, _left(matched, places, of, name)) for of in errors] for name in rows])
    for column in ("AP50", "AP"):
        number = matched.numbers.get(column)
        at = np.flatnonzero(False if number is None else number.is_at(matched.thresholds))
        of_rows = values[:, at].mean(axis=1) if len(at) else np.full(len(rows), np.nan)
        columns |= {column: of_rows[1:], f"{column}_gain": of_rows[1:] - of_rows[0] + 0.0}  # no -0.0
    tide = 100 * np.array([_ap(matched, _left(matched, places, errors[0], name), as_tide=True) for name in rows])
    columns["dAP"] = tide[1:] - tide[0] + 0.0
    answer = pd.DataFrame({"kind": names} | columns).astype({"kind": pandas_tables.TEXT})
    answer.attrs = matched.notes
    return answer


def _kinds_in(name: str, whole: str) -> list[int]:
    """The kinds, as positions in KINDS, that a row of the result is about; ALL and `whole` are about all of them."""
    return [position for position, kind in enumerate(KINDS) if name in (kind, whole, ALL)]


def _left(matched: Matched, places: np.ndarray, errors: DetectionErrors, name: str) -> Left:
    """What is left once the errors of a row of the result are mended; `places` are those of all detections by score."""
    detections = matched.detections
    mended = _kinds_in(name, ALL)
    is_mended = np.isin(errors.kind, mended)
    finds = np.where(is_mended, errors.stands_for, errors.finds)
    left = np.flatnonzero((finds >= 0) | ((errors.kind >= 0) & ~is_mended))
    finds = finds[left]
    category = detections.category[left]
    category[finds >= 0] = detections.truth_category[finds[finds >= 0]]
    # Mended, all false alarms come after the true positives of their category.
    place = np.where(finds < 0, 1, 0) if name == ALL_FALSE_ALARMS else places[left]
    order = np.argsort(category * len(places) + place, kind="stable")  # fast, since hardly anything changes its place
    is_gone = errors.truth_kind >= 0 if name == ALL_MISSES else np.isin(errors.truth_kind, LOST) & (LOST in mended)
    return Left(left[order], category[order], finds[order], matched.scopes["all"].counts & ~is_gone)


def _ap(matched: Matched, left: Left, as_tide: bool = False) -> float:
    """AP at one threshold of what is left: the mean of the categories of which anything is left; null without truths.

    Categories that have no truths, mended or not, are left out; TIDE takes them for 0. A category that has no truths
    left is 0. If nothing is left of any, AP is 1, since nothing is wrong.
    """
    detections, counts = matched.detections, matched.scopes["all"].counts
    had_truths = np.bincount(detections.truth_category[counts], minlength=len(detections.categories)) > 0
    if not had_truths.any():
        return np.nan
    taken = {name: getattr(detections, name)[left.detections] for name in ("row", "frame", "score")}
    true = np.flatnonzero(left.finds >= 0)
    averages = curves.averages_of(
        detections._replace(category=left.category, rank=None, **taken),
        scopes.Scope(left.counts, np.ones(len(left.finds), bool)),
        scopes.matches_of(Pairs(true, left.finds[true], np.ones(len(true))), [np.arange(len(true))]),
        {"AP": matched.numbers["AP"]},
        protocol_entries.PROTOCOLS["coco"] if as_tide else matched.protocol,
        recalls=TIDE_RECALLS if as_tide else None,
    )
    precision = np.where(averages.n_truth > 0, averages.values["precision"][0].mean(axis=0), 0.0)
    is_taken = (averages.n_truth + averages.n_predicted > 0) & (had_truths | as_tide)
    return float(precision[is_taken].mean()) if is_taken.any() else 1.0
