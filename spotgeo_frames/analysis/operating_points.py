"""operating_point(): the score threshold that reaches a precision, or a recall."""

from numbers import Real

import numpy as np
import pandas as pd

from ..scoring.ap.result import AveragePrecision
from ..scoring.match_sums import share
from ..tables.columns import array_of, as_numbers
from ..tables.kinds import same_kind_as
from ..tables.schema import FN, FP, TP
from ..tables.selections import number_groups
from ..tables.table import Table
from .scored_detections import SCORE, scored_matches


@same_kind_as("x")
def operating_point(
    x: Table | AveragePrecision,
    precision: float | None = None,
    recall: float | None = None,
    threshold: float | None = None,
) -> pd.DataFrame:
    """Finds the score threshold that has at least a precision, or at least a recall.

    Of all score thresholds with at least that precision, it is the one with the highest recall; of those with at least
    that recall, the one with the highest precision. Of several such, it is the highest.

    Parameters
    ----------
    x
        A match table whose predictions had a `score`, of any kind of objects, or what `average_precision` returned.
    precision, recall
        The precision or the recall to reach, above 0 and at most 1; give one of them.
    threshold
        Of average precision, the similarity from which on a detection is right, one of those that it is the mean over:
        the lowest by default, which is 0.5 unless `thresholds` said otherwise.

    Returns
    -------
    DataFrame (of the kind that `x` has) with one row for each `category`, where both sides have one, and a last row,
    whose category is null, for one threshold of all together: `score_threshold`; `precision` and `recall` of the
    detections whose score is at least that, null where no threshold reaches what was asked; `n_truth` and
    `n_predicted`, how many truths and detections of any score they rest on.

    A threshold that was chosen on the same data looks better than it is, the more so the fewer objects there are. So
    check precision and recall on other data, or choose the threshold on one half of the sequences and look at it on the
    other. `sweep` has the f1 to expect of its best threshold on new data.

    Nothing is matched anew: a truth whose detection is below the threshold counts as missed. In average precision that
    changes nothing, because higher scores choose first. In the tables of `match`, another detection above the threshold
    may be near such a truth, and then the true precision and recall are a little higher; `sweep` matches anew.

    Raises
    ------
    InputError: `x` is no match table, holds those of several thresholds, or has no scores.
    ValueError: neither or both of `precision` and `recall` are given, one of them is out of range, or `threshold` is
        none of those that `x` is the mean over, or is given with a match table.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> result = sf.average_precision(truth, sf.read_objects("data/boxes/v2.parquet"))
    >>> sf.operating_point(result, precision=0.9).round(3)
      category  score_threshold  precision  recall  n_truth  n_predicted
    0  bicycle             0.64      0.905   0.404      354          204
    1      bus             0.53      0.972   0.649      265          179
    2      car             0.60      0.900   0.846      501          602
    3   person             0.52      0.904   0.798      486          513
    4      NaN             0.57      0.906   0.706     1606         1498
    """
    asked = _checked(precision, recall)
    table = scored_matches(x, threshold, "operating_point")
    counted = table[np.isin(table["outcome"].array.codes, [TP, FN, FP])]
    best = _best(counted, np.zeros(len(counted), np.int64), 1, asked)
    if "category" in table:
        category = array_of(counted["category"])
        group, first = number_groups({"category": category}, len(counted))
        names = pd.Series(category.take(first))
        names = names.astype("Int64") if pd.api.types.is_integer_dtype(names.dtype) else names
        best = pd.concat([_best(counted, group, len(first), asked), best], ignore_index=True)
        best.insert(0, "category", names.reindex(range(len(best))).astype(names.dtype))
    best.attrs = table.attrs | {f"least_{name}": value for name, value in asked.items()}
    return best


def _checked(precision: float | None, recall: float | None) -> dict[str, float]:
    """What was asked for, by its name; raises ValueError unless it is one of the two, above 0 and at most 1."""
    asked = {name: value for name, value in (("precision", precision), ("recall", recall)) if value is not None}
    if len(asked) != 1:
        raise ValueError("precision or recall is needed, one of the two: what the threshold is to reach")
    [(name, value)] = asked.items()
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value <= 1:
        raise ValueError(f"{name} is {value!r}; a number above 0 and at most 1 is needed")
    return asked


def _best(counted: pd.DataFrame, group: np.ndarray, n_groups: int, asked: dict[str, float]) -> pd.DataFrame:
    """The operating point of each group of hits, misses and false alarms; `group` (N,) is that of each row."""
    outcome = counted["outcome"].array.codes
    is_found, score = outcome != FN, as_numbers(counted[SCORE])
    n_truth = np.bincount(group[outcome != FP], minlength=n_groups)
    n_predicted = np.bincount(group[is_found], minlength=n_groups)
    rows = np.flatnonzero(is_found)
    rows = rows[np.lexsort((-score[rows], group[rows]))]
    score, group = score[rows], group[rows]
    before = np.concatenate([[0], np.cumsum(outcome[rows] == TP)])
    start = np.searchsorted(group, np.arange(n_groups))
    tp = before[1:] - before[start][group]
    n = np.arange(1, len(rows) + 1) - start[group]
    values = {"precision": share(tp, n), "recall": share(tp, n_truth[group])}

    # Detections of equal scores are above a threshold together.
    is_last = np.append((score[1:] != score[:-1]) | (group[1:] != group[:-1]), True)[: len(rows)]
    [(name, least)] = asked.items()
    reached = np.flatnonzero(is_last & (values[name] >= least))
    other = values["recall" if name == "precision" else "precision"]
    reached = reached[np.lexsort((-score[reached], -other[reached], group[reached]))]
    groups, first = np.unique(group[reached], return_index=True)
    found = {"score_threshold": score, **values}
    columns = {name: np.full(n_groups, np.nan) for name in found}
    for name, of_rows in found.items():
        columns[name][groups] = of_rows[reached[first]]
    return pd.DataFrame(columns | {"n_truth": n_truth, "n_predicted": n_predicted})
