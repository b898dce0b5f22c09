"""diagnose(): the kind of each miss and each false alarm.

Every FN and FP of a match table gets exactly one kind, the first in this list that applies. A pair is near if it may
match by the rule of the table, and nearly near if it reaches farther, as the caller says.

    FN  taken                     a prediction of its category is near, but was matched with another truth
        confused                  a prediction of another category is near
        mislocated                paired with a remaining FP of its category, see below
        confused_and_mislocated   paired with a remaining FP of another category, see below
        lost                      none of these
    FP  no_truth_in_frame         the frame has no truth
        duplicate                 a truth of its category is near, but was matched with another prediction
        confused                  a truth of another category is near
        mislocated                paired with a remaining FN of its category, see below
        confused_and_mislocated   paired with a remaining FN of another category, see below
        background                none of these

Within each frame, the misses and the false alarms that remain and are nearly near are paired one to one: first those of
one category, then those of different categories; as many pairs as possible, and among those the nearest. Each pair is
taken for one object that was detected in the wrong place, so there are as many such misses as false alarms. The kinds
follow TIDE (Bolya et al., 2020, doi:10.1007/978-3-030-58580-8_33).
"""

from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...geometries import Measure
from ...matching import (
    Aligned,
    Entries,
    Pairs,
    Rule,
    alignment,
    assignment,
    noted_rule,
    options_of_matches,
    same_category,
)
from ...scoring import AveragePrecision, row_counts, sequence_sums, shown_position
from ...support import InputError
from ...tables import Table, checks, schema, sides_of, table_kinds
from .detection_errors import LEAST_SIMILARITY, diagnosed
from .named_pairs import with_named_pairs

KINDS = [
    "taken",
    "lost",
    "mislocated",
    "confused",
    "confused_and_mislocated",
    "duplicate",
    "background",
    "no_truth_in_frame",
]
KIND_TYPE = pd.CategoricalDtype(KINDS)
TAKEN, LOST, MISLOCATED, CONFUSED, CONFUSED_AND_MISLOCATED, DUPLICATE, BACKGROUND, NO_TRUTH = range(len(KINDS))

# The kinds of misses and false alarms that come in pairs.
PAIRED = [MISLOCATED, CONFUSED_AND_MISLOCATED]

# The kinds that only tables with categories have.
OF_CATEGORIES = [KINDS[CONFUSED], KINDS[CONFUSED_AND_MISLOCATED]]

# How far a mislocated prediction may lie: the multiple of the largest distance of a match, or else LEAST_SIMILARITY.
REACH = 3.0


class ErrorKinds(NamedTuple):
    """The kinds of the N rows of a match table.

    `kind` (N,) is a position in KINDS, or -1 for rows that are no errors. For each row of a mislocated pair, `partner`
    (N,) is the other row of the pair; for all others it is -1. `other` (N,) is the row of the object that explains an
    error: for a false alarm the truth that it is near, for a miss the prediction. It is the partner, or else the
    nearest one that the kind is about: one of another category, or one that is matched already; -1 for none. `measure`
    (N,) is how far or how similar that is, null for none.
    """

    kind: np.ndarray
    partner: np.ndarray
    other: np.ndarray
    measure: np.ndarray


@table_kinds.same_kind_as("matches")
def diagnose(
    matches: Table | NamedTuple | AveragePrecision,
    reach: float | None = None,
    tau: float | None = None,
    *,
    least_similarity: float | None = None,
    similarity: str | Measure | None = None,
    threshold: float | None = None,
    sigmas: Mapping[Any, float] | None = None,
    distance: Measure | None = None,
) -> pd.DataFrame:
    """Adds the kind of each error to a match table: why it is a miss or a false alarm.

    Parameters
    ----------
    matches
        A match table with the coordinates of truths and predictions, of points, boxes, joints or whole poses, or what
        `track` or `pose` returned; or what `average_precision` returned, whose errors have other kinds, see the notes.
    reach
        For a table by distance: the largest distance between a miss and a false alarm that are taken for one mislocated
        object, in multiples of tau, or for a table of `pose` of 0.5 head sizes; 3 by default, at least 1.
    tau
        The largest distance (px) at which a prediction is near a truth. Needed only where the match table has lost its
        own tau, as a table of polars has.
    least_similarity
        For a table by similarity: the least similarity of a miss and a false alarm that are taken for one mislocated
        object; 0.1 by default, above 0 and at most the threshold.
    similarity, threshold, sigmas
        The rule of a table by similarity, as `match` takes it. Needed only where the table has lost its notes; a
        similarity that is a function is needed always. Of average precision only `threshold` is asked for, one of those
        that it is the mean over: the lowest by default, which is 0.5 unless `thresholds` said otherwise.
    distance
        The function of distances that the table was matched by; needed always where there was one.

    Returns
    -------
    DataFrame of the same kind, the match table with four more columns. `kind` is categorical, null for true positives
    and empty frames. `pair_object` and `pair_category` name the object that explains an error: for a false alarm the
    truth that it is near, for a miss the prediction; null where there is none, as for `lost` and `background`.
    `pair_distance` (in the unit of `distance`), or `pair_similarity` after matching by similarity, is how far or how
    similar that is; of tables of `pose` it is `pair_head_sizes`, a distance in head sizes of the truth. A pair is near
    if its distance is at most tau or 0.5 head sizes, or its similarity at least the threshold. The kinds of misses are

    taken: a prediction of the same category is near, but was matched with another truth.
    confused: a prediction of another category is near.
    mislocated: a false alarm that no other truth explains lies within reach; the two are one object that was detected
        in the wrong place.
    confused_and_mislocated: the same, with a false alarm of another category.
    lost: no prediction is near.

    and those of false alarms are

    no_truth_in_frame: the frame has no truth.
    duplicate: a truth of the same category is near, but was matched with another prediction.
    confused: a truth of another category is near.
    mislocated, confused_and_mislocated: the false alarm of such a miss.
    background: no truth is near.

    Without a column `category` on both sides all objects are of one category. Source: TIDE (Bolya et al., 2020,
    doi:10.1007/978-3-030-58580-8_33), whose kinds are those of false alarms in average precision.

    Raises
    ------
    InputError: `matches` is no match table or of several submissions, it lacks columns that its rule needs, or its rule
        is not known.
    ValueError: `reach`, `tau`, `least_similarity`, `similarity`, `threshold`, `sigmas` or `distance` is out of range.

    Notes
    -----
    Average precision lets a detection choose by its score, and has the kinds of TIDE, equal to tidecv 1.0.1. The answer
    is the match table at the threshold, without what is ignored. A false alarm has the first kind that applies:

    mislocated: a truth of its category is at least as similar as `least_similarity`, and none is more similar than the
        threshold.
    confused: a truth of another category is at least as similar as the threshold.
    duplicate: a truth of its category is, which another detection has found.
    confused_and_mislocated: a truth of another category is more similar than `least_similarity`.
    background: none of these, be there truths in the frame or not.

    A mislocated or confused false alarm means the most similar such truth. A miss that is meant has the kind of the
    false alarm with the highest score that means it; all others are `lost`. `pair_similarity` is that of a false alarm
    and the truth that makes its kind, and, of a miss that is meant, that of this false alarm.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [10.0, 90.0], "y": 5.0})
    >>> predictions = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [12.0, 75.0], "y": 5.0})
    >>> sf.diagnose(sf.match(truth, predictions))[["outcome", "kind", "pair_distance"]]
      outcome        kind  pair_distance
    0      TP         NaN            NaN
    1      FN  mislocated           15.0
    2      FP  mislocated           15.0
    """
    if isinstance(matches, AveragePrecision):
        check_left_out(reach=reach, tau=tau, similarity=similarity, sigmas=sigmas, distance=distance)
        position = shown_position(matches.matched.thresholds, threshold)
        least = LEAST_SIMILARITY if least_similarity is None else least_similarity
        _check_least(least, float(matches.matched.thresholds[position]))
        return diagnosed(matches, position, least)
    table = checks.check_matches(sequence_sums.match_table_of(matches, "diagnose: matches"), by_groups=True)
    if schema.is_of_precision(table.columns):
        raise InputError("diagnose: give what average_precision() returned, instead of its matches")
    row_counts.check_one_submission(table, "diagnose")
    row_counts.warn_of_doubled(table, "diagnose")
    rule = noted_rule.noted_rule(table, options_of_matches(tau, None, similarity, threshold, sigmas, distance))
    farthest, notes = _farthest(rule, reach, least_similarity)
    kinds = kinds_of_errors(table, rule, farthest)
    possible = possible_kinds(table)
    codes = np.array([possible.index(name) if name in possible else -1 for name in KINDS] + [-1])  # the last for none
    answer = table.assign(kind=pd.Categorical.from_codes(codes[kinds.kind], dtype=pd.CategoricalDtype(possible)))
    answer[f"pair_{rule.pair_measure}"] = kinds.measure
    answer = with_named_pairs(answer, kinds.other)
    answer.attrs = table.attrs | notes
    return answer


def kinds_of_errors(table: pd.DataFrame, rule: Rule, farthest: float | None = None) -> ErrorKinds:
    """The kinds of the rows of a checked match table, by the rule that it was made with.

    `farthest` is the largest distance (px or head sizes) or the least similarity of a mislocated pair.
    """
    farthest = _farthest(rule)[0] if farthest is None else farthest
    aligned, near, truth_row, predicted_row, predicted_rows = near_rows(table, rule, farthest)
    same = same_category(aligned, near.prediction, near.truth) & np.ones(len(near.truth), bool)

    outcome = table["outcome"].array.codes
    close, missed, false = (
        rule.is_near(near.measure),
        outcome[truth_row] == schema.FN,
        outcome[predicted_row] == schema.FP,
    )
    kind = np.full(len(table), -1)
    kind[outcome == schema.FN], kind[outcome == schema.FP] = LOST, BACKGROUND
    kind[truth_row[close & ~same & missed]] = CONFUSED
    kind[predicted_row[close & ~same & false]] = CONFUSED
    kind[truth_row[close & same & missed & ~false]] = TAKEN
    kind[predicted_row[close & same & false & ~missed]] = DUPLICATE
    kind[predicted_rows[(aligned.truth.counts == 0)[aligned.predictions.frame]]] = NO_TRUTH
    partner, other, measure = np.full(len(table), -1), np.full(len(table), -1), np.full(len(table), np.nan)
    order = np.argsort(-rule.cost(near.measure), kind="stable")  # the nearest comes last, and stays
    for of_kind, wanted in ((CONFUSED, ~same), (TAKEN, same), (DUPLICATE, same)):
        for rows, others in ((truth_row, predicted_row), (predicted_row, truth_row)):
            chosen = order[(close & wanted & (kind[rows] == of_kind))[order]]
            other[rows[chosen]], measure[rows[chosen]] = others[chosen], near.measure[chosen]
    for wanted, of_pair in zip((same, ~same), PAIRED, strict=True):
        left = np.flatnonzero(wanted & (kind[truth_row] == LOST) & (kind[predicted_row] == BACKGROUND))
        chosen = left[paired(near.take(left), aligned, rule, farthest)]
        for rows, others in ((truth_row, predicted_row), (predicted_row, truth_row)):
            kind[rows[chosen]] = of_pair
            partner[rows[chosen]] = other[rows[chosen]] = others[chosen]
            measure[rows[chosen]] = near.measure[chosen]
    return ErrorKinds(kind, partner, other, measure)


class NearRows(NamedTuple):
    """The near pairs of a match table, whatever their categories.

    `truth_row` and `predicted_row` (K,) are the rows of the K pairs, `predicted_rows` (P,) those of all predictions in
    the order of `aligned`.
    """

    aligned: Aligned
    near: Pairs
    truth_row: np.ndarray
    predicted_row: np.ndarray
    predicted_rows: np.ndarray


def near_rows(table: pd.DataFrame, rule: Rule, farthest: float | None = None) -> NearRows:
    """The pairs that may match by a rule, or reach as far as `farthest`, as rows of a checked match table."""
    sides = sides_of(table, rule.measured_columns)
    aligned = alignment.align(sides.truth, sides.predictions)
    near = rule.near_pairs(alignment.without_categories(aligned), farthest)
    predicted_rows = sides.predicted_rows[aligned.predictions.row]
    truth_row = sides.truth_rows[aligned.truth.row][near.truth]
    return NearRows(aligned, near, truth_row, predicted_rows[near.prediction], predicted_rows)


def possible_kinds(table: pd.DataFrame) -> list[str]:
    """The kinds of errors that a match table can have; without categories nothing is confused."""
    has_categories = "truth_category" in table and "predicted_category" in table
    return [kind for kind in KINDS if has_categories or kind not in OF_CATEGORIES]


def _farthest(
    rule: Rule, reach: float | None = None, least_similarity: float | None = None
) -> tuple[float, dict[str, Any]]:
    """The largest distance (px or head sizes) or the least similarity of a mislocated pair, and the notes that say so.

    Raises ValueError if one of the two is out of range, or does not go with the rule.
    """
    if rule.pair_measure != "similarity":
        multiples = f"in multiples of {'tau' if rule.by_distance else f'{rule.largest_cost:g} head sizes'}"
        if least_similarity is not None:
            raise ValueError(f"least_similarity goes with tables by similarity; give reach, {multiples}")
        reach = REACH if reach is None else reach
        if not isinstance(reach, Real) or not 1 <= reach < np.inf:
            raise ValueError(f"reach is {reach!r}; 1 or more is needed, {multiples}")
        return reach * rule.largest_cost, {"reach": reach, rule.limit: rule.largest_cost}
    if reach is not None:
        raise ValueError("reach goes with tables by distance; give least_similarity")
    most = 1.0 if rule.threshold is None else rule.threshold
    least = min(LEAST_SIMILARITY, most) if least_similarity is None else least_similarity
    _check_least(least, most)
    return least, {"least_similarity": least, "threshold": rule.threshold}


def _check_least(least: float, most: float) -> None:
    """Raises ValueError unless `least` is a least similarity that goes with the threshold `most`."""
    if not isinstance(least, Real) or not 0 < least <= most:
        raise ValueError(
            f"least_similarity is {least!r}; a number above 0 and at most the threshold {most:g} is needed"
        )


def check_left_out(**options: object) -> None:
    """Raises ValueError if an option is given that average precision has already."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ValueError(f"{given[0]} does not go with what average_precision() returned; leave it out")


def paired(pairs: Pairs, aligned: Aligned, rule: Rule, farthest: float) -> np.ndarray:
    """Marks the pairs of the best one-to-one assignment of each frame: as many as possible, then the nearest."""
    starts = aligned.predictions.starts, aligned.truth.starts
    entries = Entries(pairs.prediction, pairs.truth, rule.cost(pairs.measure), *starts, aligned.names_from(0))
    largest = 1.0 if rule.pair_measure == "similarity" else float(rule.cost(np.array([farthest]))[0])
    return assignment.assign(entries, assignment.most_pairs(largest))
