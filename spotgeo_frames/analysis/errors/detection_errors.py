"""The kinds of error in average precision, which are those of TIDE.

Source: Bolya et al., 2020, doi:10.1007/978-3-030-58580-8_33, and its code, tidecv 1.0.1 (quantify.py). Each detection
that counts and is wrong has the first kind in this list that applies. A truth is similar from the threshold on, and
somewhat similar from 0.1 on, whether or not another detection has found it.

    mislocated                a truth of its category is somewhat similar, and none is more similar than the threshold
    confused                  a truth of another category is similar
    duplicate                 a truth of its category is similar
    confused_and_mislocated   a truth of another category is more than somewhat similar
    background                none of these

One truth explains a mislocated or confused detection, which is said to mean it: the most similar one that the kind is
about. A missed truth that is meant has the kind of the detection with the highest score that means it. All other missed
truths are `lost`.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ...matching import Pairs
from ...scoring import (
    AveragePrecision,
    Detections,
    Matched,
    curves,
    match_tables,
    shares_row,
    similar_of_any_category,
)
from ...support import InputError
from ...tables import checks, schema
from .named_pairs import with_named_pairs

KINDS = ["lost", "mislocated", "confused", "confused_and_mislocated", "duplicate", "background"]
LOST, MISLOCATED, CONFUSED, CONFUSED_AND_MISLOCATED, DUPLICATE, BACKGROUND = range(len(KINDS))

# From this similarity on, a truth is somewhat similar; it is that of TIDE.
LEAST_SIMILARITY = 0.1


class Nearest(NamedTuple):
    """The truth of a set that is most similar to each of D detections, (D,), and how similar it is.

    Without one that is somewhat similar they are -1 and 0.
    """

    truth: np.ndarray
    similarity: np.ndarray


class RowErrors(NamedTuple):
    """The N rows of a match table at one threshold, ignored ones among them, and their errors.

    `kind` (N,) is a position in KINDS, or -1. `other` (N,) is the row of the other side that makes it, or -1, and
    `similarity` (N,) is that of the two, null for none.
    """

    table: pd.DataFrame
    kind: np.ndarray
    other: np.ndarray
    similarity: np.ndarray


class DetectionErrors(NamedTuple):
    """The errors at one threshold, of D detections and G truths.

    Attributes
    ----------
    finds
        The truth that each detection is matched with, (D,); -1 if it counts nowhere or is wrong.
    kind, truth_kind
        The kinds of the detections that are wrong (D,) and of the truths that are missed (G,), as positions in KINDS;
        -1 for all others, also for those that are ignored.
    stands_for
        The missed truth that a detection would find if it were mended, (D,); -1 if there is none.
    means
        The truth that makes a detection's kind, (D,); -1 for background and where nothing is wrong.
    similarity
        How similar that is, (D,); null where there is none.
    """

    finds: np.ndarray
    kind: np.ndarray
    truth_kind: np.ndarray
    stands_for: np.ndarray
    means: np.ndarray
    similarity: np.ndarray


def nearest_truths(matched: Matched, least: float = LEAST_SIMILARITY) -> tuple[Nearest, Nearest]:
    """The most similar truth that counts of each detection's own category, and of all other categories.

    Raises InputError if pairs match by distance.
    """
    check_by_similarity(matched, "kinds of errors")
    detections = matched.detections
    pairs = similar_of_any_category(detections, matched.rule, least)
    pairs = pairs.take(matched.scopes["all"].counts[pairs.truth])
    same = detections.category[pairs.prediction] == detections.truth_category[pairs.truth]
    n_detections = len(detections.row)
    return _nearest(pairs.take(same), n_detections), _nearest(pairs.take(~same), n_detections)


def check_by_similarity(matched: Matched, what: str) -> None:
    """Raises InputError, which calls what is asked for, if the pairs of an average precision match by distance."""
    if matched.rule.by_distance:
        how = "match() at one tau, whose table diagnose() takes, tells them"
        raise InputError(f"{what}: this average precision matches by distance, and they go by similarity; {how}")


def _nearest(pairs: Pairs, n_detections: int) -> Nearest:
    """The pair of each detection with the highest similarity; of equal ones, that with the first truth."""
    order = np.lexsort((pairs.truth, -pairs.measure, pairs.prediction))
    pairs = pairs.take(order)
    pairs = pairs.take(np.flatnonzero(np.diff(pairs.prediction, prepend=-1)))
    truth, similarity = np.full(n_detections, -1), np.zeros(n_detections)
    truth[pairs.prediction], similarity[pairs.prediction] = pairs.truth, pairs.measure
    return Nearest(truth, similarity)


def errors_at(
    matched: Matched, nearest: tuple[Nearest, Nearest], position: int, least: float = LEAST_SIMILARITY
) -> DetectionErrors:
    """The errors at the threshold of this position."""
    detections, scope, pairs = matched.detections, matched.scopes["all"], matched.matches["all"].at(position)
    finds, is_wrong = np.full(len(detections.row), -1), scope.within.copy()
    is_wrong[pairs.prediction] = False
    pairs = pairs.take(curves.is_right(detections, scope, pairs))
    finds[pairs.prediction] = pairs.truth
    is_missed = scope.counts.copy()
    is_missed[pairs.truth] = False

    threshold, (same, other) = matched.thresholds[position], nearest
    by_kind = {
        MISLOCATED: (same.truth >= 0) & (same.similarity <= threshold),
        CONFUSED: other.similarity >= threshold,
        DUPLICATE: same.similarity >= threshold,
        CONFUSED_AND_MISLOCATED: other.similarity > least,
    }
    kind = np.where(is_wrong, np.select([*by_kind.values()], [*by_kind], BACKGROUND), -1)
    of_same = np.isin(kind, [MISLOCATED, DUPLICATE])
    similarity = np.where(of_same, same.similarity, other.similarity)
    is_none = np.isin(kind, [-1, BACKGROUND])
    similarity[is_none] = np.nan
    means = np.where(is_none, -1, np.where(of_same, same.truth, other.truth))

    meant = np.where(kind == MISLOCATED, same.truth, np.where(kind == CONFUSED, other.truth, -1))
    meant[meant >= 0] = np.where(is_missed[meant[meant >= 0]], meant[meant >= 0], -1)
    stands_for = _standing(detections, meant)
    stands = stands_for >= 0
    truth_kind = np.where(is_missed, LOST, -1)
    truth_kind[stands_for[stands]] = kind[stands]
    return DetectionErrors(finds, kind, truth_kind, stands_for, means, similarity)


def _standing(detections: Detections, meant: np.ndarray) -> np.ndarray:
    """The truth that each detection stands for: of those that mean a truth (-1: none), the one of the highest score."""
    means = np.flatnonzero(meant >= 0)
    means = means[np.lexsort((detections.row[means], -detections.score[means]))]
    truth, first = np.unique(meant[means], return_index=True)
    stands_for = np.full(len(meant), -1)
    stands_for[means[first]] = truth
    return stands_for


def errors_of_rows(matched: Matched, position: int, least: float) -> RowErrors:
    """The match table at the threshold of this position, and the errors of its rows."""
    errors = errors_at(matched, nearest_truths(matched, least), position, least)
    table = match_tables(matched, [matched.thresholds[position]])
    outcome = table["outcome"].array.codes
    kind, similarity = np.full(len(table), -1), np.full(len(table), np.nan)
    other = np.full(len(table), -1)

    # Rows of truths, and those of detections without one, stand in the order of their sides.
    truth_rows, alarm_rows = (
        np.flatnonzero(np.isin(outcome, [schema.TP, schema.FN])),
        np.flatnonzero(outcome == schema.FP),
    )
    stands = np.flatnonzero(errors.stands_for >= 0)
    kind[truth_rows] = errors.truth_kind
    similarity[truth_rows[errors.stands_for[stands]]] = errors.similarity[stands]
    detections, pairs = matched.detections, matched.matches["all"].at(position)
    has_row = np.ones(len(detections.row), bool)
    has_row[pairs.prediction[shares_row(detections, matched.scopes["all"], pairs)]] = False
    alarms = np.flatnonzero(has_row)
    alarms = alarms[np.argsort(detections.row[alarms])]
    kind[alarm_rows], similarity[alarm_rows] = errors.kind[alarms], errors.similarity[alarms]
    row_of_alarm = np.full(len(detections.row), -1)
    row_of_alarm[alarms] = alarm_rows
    other[truth_rows[errors.stands_for[stands]]] = row_of_alarm[stands]
    means = errors.means[alarms]
    other[alarm_rows[means >= 0]] = truth_rows[means[means >= 0]]
    return RowErrors(table, kind, other, similarity)


def diagnosed(result: AveragePrecision, position: int, least: float) -> pd.DataFrame:
    """The match table at the threshold of this position, without what is ignored, with the kind of each error."""
    matched = result.matched
    table, kind, other, similarity = errors_of_rows(matched, position, least)
    possible = kinds_of(matched)
    codes = np.array([possible.index(name) if name in possible else -1 for name in KINDS] + [-1])  # the last for none
    table["kind"] = pd.Categorical.from_codes(codes[kind], dtype=pd.CategoricalDtype(possible))
    table["pair_similarity"] = similarity
    notes = table.attrs
    table = with_named_pairs(table, other)
    table.attrs = notes | {"least_similarity": least}
    return checks.check_matches(table).reset_index(drop=True)


def kinds_of(matched: Matched) -> list[str]:
    """The kinds of errors that a result can have; without categories nothing is confused."""
    return [name for name in KINDS if matched.detections.has_categories or not name.startswith("confused")]
