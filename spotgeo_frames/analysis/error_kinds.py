"""diagnose() and error_costs(): the kind of each miss and each false alarm, and the cost of each kind.

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
taken for one object that was detected in the wrong place, so there are as many such misses as false alarms.

The kinds and their costs follow TIDE (Bolya et al., 2020, doi:10.1007/978-3-030-58580-8_33): the cost of a kind is the
change of a metric if all errors of this kind were corrected and everything else stayed the same.
"""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from ..matching.alignment import Aligned, align, without_categories
from ..matching.assignment import Entries, assign
from ..matching.noted_rule import noted_rule
from ..matching.pairs import Pairs, same_category
from ..matching.rule import Rule
from ..matching.similarity import Measure
from ..matching.words import asked_of_matches
from ..scoring.match_sums import match_sums
from ..scoring.registry import METRICS, defined, values_of
from ..support.errors import InputError
from ..support.pandas_versions import TEXT
from ..tables.checks import check_matches
from ..tables.kinds import same_kind_as
from ..tables.match_sides import sides_of
from ..tables.schema import FN, FP, measure_of
from ..tables.table import Table

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

# The kinds that only tables with categories have.
OF_CATEGORIES = [KINDS[CONFUSED], KINDS[CONFUSED_AND_MISLOCATED]]

# How far a mislocated prediction may lie: the multiple of tau, or the least similarity, which is that of TIDE.
REACH, LEAST_SIMILARITY = 3.0, 0.1

# The metrics whose costs are computed.
COSTED = ["f1", "mse"]


@same_kind_as("matches")
def diagnose(
    matches: Table,
    reach: float | None = None,
    tau: float | None = None,
    *,
    least_similarity: float | None = None,
    similarity: str | Measure | None = None,
    threshold: float | None = None,
    sigmas: Mapping[Any, float] | None = None,
) -> pd.DataFrame:
    """Adds the kind of each error to a match table: why it is a miss or a false alarm.

    Parameters
    ----------
    matches
        A match table with the coordinates of truths and predictions: of points, boxes, joints or whole poses.
    reach
        For a table by distance: the largest distance between a miss and a false alarm that are taken for one mislocated
        object, in multiples of tau; 3 by default, at least 1.
    tau
        The largest distance (px) at which a prediction is near a truth. Needed only where the match table has lost its
        own tau, as a table of polars has.
    least_similarity
        For a table by similarity: the least similarity of a miss and a false alarm that are taken for one mislocated
        object; 0.1 by default, above 0 and at most the threshold.
    similarity, threshold, sigmas
        The rule of a table by similarity, in the words of `match`. Needed only where the table has lost its notes; a
        similarity that is a function is needed always.

    Returns
    -------
    DataFrame of the same kind, the match table with two more columns. `pair_distance` (px), or `pair_similarity` after
    matching by similarity, is that of a mislocated miss and its false alarm, and null elsewhere. `kind` is categorical,
    null for true positives and empty frames. A pair is near if its distance is at most tau, or its similarity at least
    the threshold. The kinds of misses are

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
    InputError: `matches` is no match table, it lacks columns that its rule needs, or its rule is not known.
    ValueError: `reach`, `tau`, `least_similarity`, `similarity`, `threshold` or `sigmas` is out of range.

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
    table = check_matches(matches)
    rule = noted_rule(table, asked_of_matches(tau, None, similarity, threshold, sigmas))
    farthest, notes = _farthest(rule, reach, least_similarity)
    sides = sides_of(table, rule.measured_columns)
    aligned = align(sides.truth, sides.predictions)
    near = rule.near_pairs(without_categories(aligned), farthest)
    same = same_category(aligned, near.prediction, near.truth) & np.ones(len(near.truth), bool)
    truth_rows = sides.truth_rows[aligned.truth.row]
    predicted_rows = sides.predicted_rows[aligned.predictions.row]
    truth_row, predicted_row = truth_rows[near.truth], predicted_rows[near.prediction]

    outcome = table["outcome"].array.codes
    close, missed, false = rule.is_near(near.measure), outcome[truth_row] == FN, outcome[predicted_row] == FP
    kind = np.full(len(table), -1)
    kind[outcome == FN], kind[outcome == FP] = LOST, BACKGROUND
    kind[truth_row[close & ~same & missed]] = CONFUSED
    kind[predicted_row[close & ~same & false]] = CONFUSED
    kind[truth_row[close & same & missed & ~false]] = TAKEN
    kind[predicted_row[close & same & false & ~missed]] = DUPLICATE
    kind[predicted_rows[(aligned.truth.counts == 0)[aligned.predictions.frame]]] = NO_TRUTH
    measure = np.full(len(table), np.nan)
    for wanted, of_pair in ((same, MISLOCATED), (~same, CONFUSED_AND_MISLOCATED)):
        left = np.flatnonzero(wanted & (kind[truth_row] == LOST) & (kind[predicted_row] == BACKGROUND))
        paired = left[_paired(near.take(left), aligned, rule, farthest)]
        for rows in (truth_row[paired], predicted_row[paired]):
            kind[rows] = of_pair
            measure[rows] = near.measure[paired]
    return _with_kinds(table, kind, measure, notes)


def _with_kinds(table: pd.DataFrame, kind: np.ndarray, measure: np.ndarray, notes: dict[str, Any]) -> pd.DataFrame:
    """The match table with the kind of each row, a position in KINDS or -1, the measure of its pair, and more notes."""
    possible = possible_kinds(table)
    codes = np.array([possible.index(name) if name in possible else -1 for name in KINDS] + [-1])  # the last for none
    answer = table.assign(kind=pd.Categorical.from_codes(codes[kind], dtype=pd.CategoricalDtype(possible)))
    answer[f"pair_{measure_of(table)}"] = measure
    answer.attrs = table.attrs | notes
    return answer


def possible_kinds(table: pd.DataFrame) -> list[str]:
    """The kinds of errors that a match table can have; without categories nothing is confused."""
    has_categories = "truth_category" in table and "predicted_category" in table
    return [kind for kind in KINDS if has_categories or kind not in OF_CATEGORIES]


def _farthest(rule: Rule, reach: float | None, least_similarity: float | None) -> tuple[float, dict[str, Any]]:
    """The largest distance (px) or the least similarity of a mislocated pair, and the notes that say so.

    Raises ValueError if one of the two is out of range, or does not go with the rule.
    """
    if rule.by_distance:
        if least_similarity is not None:
            raise ValueError("least_similarity goes with tables by similarity; give reach, in multiples of tau")
        reach = REACH if reach is None else reach
        if not isinstance(reach, Real) or not 1 <= reach < np.inf:
            raise ValueError(f"reach is {reach!r}; 1 or more is needed, in multiples of tau")
        return reach * rule.largest_cost, {"reach": reach, "tau": rule.tau}
    if reach is not None:
        raise ValueError("reach goes with tables by distance; give least_similarity")
    most = 1.0 if rule.threshold is None else rule.threshold
    least = min(LEAST_SIMILARITY, most) if least_similarity is None else least_similarity
    if not isinstance(least, Real) or not 0 < least <= most:
        raise ValueError(
            f"least_similarity is {least!r}; a number above 0 and at most the threshold {most:g} is needed"
        )
    return least, {"least_similarity": least, "threshold": rule.threshold}


def _paired(pairs: Pairs, aligned: Aligned, rule: Rule, farthest: float) -> np.ndarray:
    """Marks the pairs of the best one-to-one assignment of each frame: as many as possible, then the nearest."""
    starts = aligned.predictions.starts, aligned.truth.starts
    entries = Entries(pairs.prediction, pairs.truth, rule.cost(pairs.measure), *starts, aligned.names_from(0))
    return assign(entries, farthest if rule.by_distance else 1.0)


@same_kind_as("diagnosed")
def error_costs(diagnosed: Table) -> pd.DataFrame:
    """Computes the cost of each kind of error: f1 and mse if all errors of this kind, and no others, were corrected.

    A corrected false alarm is removed, a corrected miss becomes a true positive with error 0, and a corrected pair of a
    mislocated miss and its false alarm becomes one true positive with error 0.

    Parameters
    ----------
    diagnosed
        The table that `diagnose` returned, or rows of it.

    Returns
    -------
    DataFrame (of pandas, polars or pyarrow, as `diagnosed` is) with one row for each kind of error, also for those that
    do not occur, and a last row `all` for all kinds together: `kind`, `n_misses`, `n_false_alarms`, `f1` after the
    correction and `f1_gain` (its increase); after matching by distance also `mse` (px²) after the correction and
    `mse_gain` (px², its decrease). The kinds `confused` and `confused_and_mislocated` are listed only if both sides
    have categories. Source: TIDE (Bolya et al., 2020, doi:10.1007/978-3-030-58580-8_33), whose costs are in average
    precision instead.

    Raises
    ------
    InputError: `diagnosed` is no match table, its column `kind` is missing, or it holds other values than the kinds.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [10.0, 90.0], "y": 5.0})
    >>> predictions = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [12.0, 75.0], "y": 5.0})
    >>> costs = sf.error_costs(sf.diagnose(sf.match(truth, predictions)))
    >>> costs.loc[costs["kind"].isin(["lost", "mislocated"]), ["kind", "n_misses", "n_false_alarms", "f1", "f1_gain"]]
             kind  n_misses  n_false_alarms   f1  f1_gain
    1        lost         0               0  0.5      0.0
    2  mislocated         1               1  1.0      0.5
    """
    table = check_matches(diagnosed)
    if "kind" not in table or not table["kind"].dropna().isin(KINDS).all():
        problem = "is missing" if "kind" not in table else f"holds others than {', '.join(KINDS)}"
        raise InputError(f"error_costs: column kind {problem}; pass a table that diagnose() returned")
    outcome, kind = table["outcome"].array.codes, table["kind"].astype(KIND_TYPE).array.codes
    possible = [KINDS.index(name) for name in possible_kinds(table)]
    corrected = [kind == code for code in possible] + [kind >= 0]
    n_misses, n_alarms = (np.array([(outcome[rows] == missing).sum() for rows in corrected]) for missing in (FN, FP))
    error = np.nan_to_num(table["squared_error"].to_numpy(np.float64))
    now = match_sums(table, np.zeros(len(table), np.int64), 1)
    sums = {name: np.repeat(values, len(corrected)) for name, values in now.items()}
    sums["tp"] += n_misses
    sums["fn"] -= n_misses
    sums["fp"] -= n_alarms
    sums["squared_error"] -= [error[rows].sum() for rows in corrected]
    columns = {"kind": [*(KINDS[code] for code in possible), "all"], "n_misses": n_misses, "n_false_alarms": n_alarms}
    by_similarity = measure_of(table) == "similarity"
    costed = defined(COSTED, by_similarity)
    before, after = (values_of(values, costed, by_similarity) for values in (now, sums))
    for name in costed:
        sign = 1 if METRICS[name].higher_is_better else -1
        gain = sign * (after[name] - before[name]) + 0.0  # which makes -0.0, of no change, 0.0
        columns |= {name: after[name], f"{name}_gain": gain}
    answer = pd.DataFrame(columns).astype({"kind": TEXT})
    answer.attrs = table.attrs
    return answer
