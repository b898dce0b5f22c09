"""detection_limit(): recall as a logistic curve of a column, and the values at which it is 50% and 90%.

The curve is fitted by maximum likelihood; its intervals come from leaving out one sequence at a time. A test says
whether recall is no logistic curve. A binned check stands beside the curve: recall in bins of the column with its own
intervals, and the mean of the curve over the same truths.

Warnings and reasons say why a limit is not known.
"""

import warnings
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...scoring import FEW_SEQUENCES, Groups, NamedSums, match_sums, row_counts, sequence_sums
from ...support import InputError, arrays, pandas_tables, result_views
from ...tables import By, Table, array_of, as_numbers, checks, messages, schema, selections, table_kinds
from .interval_tables import FEW_DEGREES, QUESTION, RESTS_ON_FEW
from .jackknife import Intervals, jackknife, single_share
from .logistic_curves import Curves, Truths, ends, logistic_curves
from .resampling import check_confidence, number_sequences

# The recalls at which the curve is read.
RECALLS = (0.5, 0.9)

# The count of quantile bins of the check.
BINS = 8

# The confidence of the interval of the easiest truths' recall: a tenth is left on its upper side.
SURE_CEILING = 0.8

# Columns that follow from the outcome, so that recall cannot be a function of them.
OF_OUTCOME = ("distance", "similarity", "squared_error", "kelvins_error")

LIMITS = [
    "recall",
    "estimate",
    "low",
    "high",
    "slope",
    "intercept",
    "bend_p_value",
    "n_truth",
    "n_sequences",
    "degrees_of_freedom",
    "reason",
]
CHECK = ["mean", "n_truth", "n_sequences", "recall", "recall_low", "recall_high", "recall_of_curve"]

# A curve is called no logistic one if the p-value of its bend, times the count of curves, is at most this.
RARE = 0.05


class DetectionLimit(NamedTuple):
    """The result of `detection_limit`: two DataFrames.

    Attributes
    ----------
    limits
        One row for each group and each recall, 50% and 90%: the value of the column where the curve has it.
    bins
        One row for each group and bin of the column: recall there, and what the curve says.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> matches = sf.match(truth, sf.read_objects("data/sample/cautious.parquet"))
    >>> sf.detection_limit(matches, "truth_brightness")
    DetectionLimit
      recall 0.5, estimate 50.73, low 43.64, high 56.4
      recall 0.9, estimate 80.52, low 72.45, high 95.41
      limits  2 rows × 11 columns
      bins    8 rows × 8 columns
    """

    limits: pd.DataFrame
    bins: pd.DataFrame

    def __repr__(self) -> str:
        return result_views.result_as_text(self, self._headline())

    def _repr_html_(self) -> str | None:
        return result_views.result_as_html(self, self._headline(), [result_views.Front("limits")])

    def _headline(self) -> list[str]:
        names = getattr(self.limits, "column_names", None) or list(self.limits.columns)  # of pyarrow, or of others
        return result_views.headline(self.limits, names[: names.index("high") + 1])


@table_kinds.same_kind_as("matches")
def detection_limit(
    matches: Table | NamedTuple, column: str, by: By | None = None, *, confidence: float = 0.95
) -> DetectionLimit:
    """Fits recall as a logistic curve of a column, and finds the values at which it is 50% and 90%.

    Recall may rise with the column, as with brightness, or fall, as with distance. The intervals take sequences as
    independent of each other; frames and objects of one sequence need not be.

    Parameters
    ----------
    matches
        A match table of any kind of objects, or what `track` or `pose` returned.
    column
        A column of numbers that every truth has, found or missed: one of the truth (`truth_brightness`), of its frame
        or sequence, or computed from these. Truths without a finite value are left out, and a warning says how many.
    by
        The groups, each with a curve of its own: a column of the match table; a Series with a value for each row (or,
        of a match table of polars, an expression); a list of these, whose values are crossed; or a dict from columns to
        a count of quantile bins (2 to 1000), edges of bins, or None. Rows that are null in `by` are left out.
    confidence
        The share of intervals that contain the true value, between 0 and 1.

    Returns
    -------
    DetectionLimit of two DataFrames of the match table's kind (polars or pyarrow; otherwise pandas).

    limits: two rows for each group, with the `by` columns; `recall`, 0.5 and 0.9; `estimate`, the value of the column
        where the curve has this recall, with the bounds `low` and `high` (in the column's unit); `slope` and
        `intercept` of logit(recall) = intercept + slope * value; `bend_p_value`, which is small if the logit is no
        straight line of the column, so recall is no logistic curve; `n_truth` and `n_sequences`, of the truths with a
        value; `degrees_of_freedom` of the interval; `reason`, why `estimate`, `low` or `high` is null. Each is null
        where it would lie outside the values of the data, and all are where the slope cannot be told from 0, where all
        truths on one side of a value were found and all on the other missed, or where recall levels off below: the
        easiest truths have less, and surely less than the curve says of them.
    bins: one row for each group and each bin of the column that has truths (8 quantile bins of all truths), with the
        `by` columns; the bin, under the column's name; `mean`, the mean value in the bin; `n_truth`, `n_sequences`;
        `recall` with its jackknife interval, `recall_low` and `recall_high`; and `recall_of_curve`, the mean of the
        curve over the same truths.

    The curve is fitted by maximum likelihood. Its interval holds all values at which a t test does not tell the curve
    from this recall (Fieller, 1954, doi:10.1111/j.2517-6161.1954.tb00159.x), with variances from leaving out one
    sequence at a time. Warnings say where little is known, why values are null, and where the curve is not logistic.

    Raises
    ------
    InputError: `matches` is no match table; the column is missing, holds no numbers, follows from the outcome, or is
        null on every missed truth; a column of `by` is missing, has a name that a column of the result has, or is null
        on every missed truth.
    ValueError: `confidence` is not between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet", "data/sample/frames.parquet")
    >>> matches = sf.match(truth, sf.read_objects("data/sample/cautious.parquet"))
    >>> contrast = np.log(matches["truth_brightness"] / matches["frame_sky"])
    >>> found = sf.detection_limit(matches.assign(log_contrast=contrast), "log_contrast")
    >>> found.limits[["recall", "estimate", "low", "high", "n_truth", "n_sequences"]].round(2)
       recall  estimate   low  high  n_truth  n_sequences
    0     0.5      0.16  0.08  0.23      627           50
    1     0.9      0.63  0.54  0.76      627           50
    """
    check_confidence(confidence)
    name = "detection_limit: matches"
    table = checks.check_matches(sequence_sums.match_table_of(matches, name), name, by_groups=True)
    _check_values(table, column)
    groups = match_sums.group_rows(table, by)
    _check_by(groups, column)
    truths, n_left_out = _truths(groups, column)
    no_curve = why_no_curve(truths)
    curves = logistic_curves(truths, pd.isna(no_curve), np.array(RECALLS), confidence)
    ceiling = _ceilings(truths, curves)
    limits = _limits(groups, truths, curves, ceiling, no_curve)
    bins = _bins(groups, truths, curves.recall, column, confidence)
    limits.attrs = bins.attrs = groups.table.attrs | {"question": QUESTION, "column": column, "confidence": confidence}
    for text in (*warning_texts(limits, column, n_left_out), *row_counts.group_texts(groups)):
        warnings.warn(f"detection_limit: {text}", stacklevel=table_kinds.CALLER)
    return DetectionLimit(limits, bins)


def _check_values(table: pd.DataFrame, column: str) -> None:
    """Raises InputError unless recall can be a function of this column."""
    if not isinstance(column, str):
        raise InputError(f"detection_limit: column is {column!r}; the name of a column is needed")
    selections.check_column(table, column)
    problem = f"detection_limit: column {column}"
    if column in OF_OUTCOME:
        raise InputError(f"{problem} follows from the outcome; a column of truths is needed, such as truth_x")
    values, outcome = table[column], table["outcome"].array.codes
    null = values.isna().to_numpy()
    if not null.all() and not pd.api.types.is_any_real_numeric_dtype(values.dtype):
        how = f"intervals(matches, by={column!r}, metrics=['recall']) has the recall of each value"
        raise InputError(f"{problem} is of type {values.dtype}; numbers are needed; {how}")
    missed = outcome == schema.FN
    if missed.any() and null[missed].all() and not null[outcome == schema.TP].all():
        why = "so nothing tells how recall depends on it; a column of truths is needed, such as truth_x"
        raise InputError(f"{problem} is null on every missed truth, {why}")


def _check_by(groups: Groups, column: str) -> None:
    """Raises InputError if a column to group by has a name that the result has itself, or is no column of truths."""
    taken = [name for name in groups.labels if name in {*LIMITS, *CHECK, column}]
    if taken:
        raise InputError(f"by: {taken[0]} is a column of the result itself; rename the Series or the column")
    if schema.FN in sequence_sums.unknown_outcomes(groups.rows):
        told = "the same" if groups.everything.one_sided else "null"
        problem = f"is {told} on every missed truth, so recall is not known there"
        raise InputError(f"by: {', '.join(groups.labels)} {problem}")


def _truths(groups: Groups, column: str) -> tuple[Truths, dict[int, int]]:
    """The truths with a finite value, and of each outcome how many have none."""
    outcome, values = groups.table["outcome"], as_numbers(groups.table[column])
    known = np.isfinite(values)
    n_left_out = {kind: int(np.count_nonzero(~known & (outcome == kind))) for kind in (schema.TP, schema.FN)}
    rows = np.flatnonzero(known & ((outcome == schema.TP) | (outcome == schema.FN)))
    sequence, n_sequences = number_sequences(groups.table)
    group, found = groups.of_row[rows], outcome[rows] == schema.TP
    cell, first = arrays.grouped(group * n_sequences + sequence[rows])
    return Truths(values[rows], found.astype(np.float64), group, cell, group[first], groups.n_groups), n_left_out


def _ceilings(truths: Truths, curves: Curves) -> np.ndarray:
    """Where recall levels off below each of RECALLS, the recall that it has there, (groups, recalls); null elsewhere.

    The easiest truths are those for which the curve says at least this recall, and the eighth of the group for which it
    says most. If they have less, and surely less than the curve says of them, it goes on rising where recall does not.
    """
    ceilings = np.full((truths.n_groups, len(RECALLS)), np.nan)
    if not len(truths.value):
        return ceilings
    order = np.lexsort([curves.recall, truths.group])
    n_of_group = np.bincount(truths.group, minlength=truths.n_groups)
    last = np.cumsum(n_of_group) - 1
    eighth = curves.recall[order][np.maximum(last - n_of_group // BINS, 0)][truths.group]
    for position, height in enumerate(RECALLS):
        easy = np.flatnonzero((curves.recall >= height) | (curves.recall >= eighth))
        cell, first = arrays.grouped(truths.cell[easy])
        if not len(first):
            continue
        sums = {"tp": arrays.added_at(cell, truths.found[easy]), "n": np.bincount(cell).astype(np.float64)}
        group = truths.group[easy]
        found = _recall_intervals(sums, group[first], truths.n_groups, SURE_CEILING)
        n = np.maximum(np.bincount(group, minlength=truths.n_groups), 1)
        said = arrays.added_at(group, curves.recall[easy], truths.n_groups) / n
        levels_off = (found.estimate[:, 0] < height) & (found.high[:, 0] < said)
        ceilings[levels_off, position] = found.estimate[levels_off, 0]
    return ceilings


def _recall_intervals(sums: NamedSums, group: np.ndarray, n_groups: int, confidence: float) -> Intervals:
    """Recall with its intervals from the sums `tp` and `n` of sequences, (C,), whose groups are given."""
    functions = single_share(lambda sums: sequence_sums.share(sums["tp"], sums["n"]), lambda sums: sums["n"])
    return jackknife(sums, group, n_groups, functions, confidence)


def _limits(groups: Groups, truths: Truths, curves: Curves, ceiling: np.ndarray, no_curve: np.ndarray) -> pd.DataFrame:
    """The table `limits` of a DetectionLimit."""
    n_recalls = len(RECALLS)
    least, greatest = (end[:, None] for end in ends(truths.value, truths.group, truths.n_groups))
    n_sequences = np.bincount(truths.group_of_cell, minlength=truths.n_groups)
    inside = (least <= curves.crossing) & (curves.crossing <= greatest)
    is_read = inside & (curves.is_sloped | (n_sequences == 1)[:, None]) & np.isnan(ceiling)
    has_width = is_read & (curves.low < curves.high)
    low = np.where(has_width & (least <= curves.low), curves.low, np.nan)
    high = np.where(has_width & (curves.high <= greatest), curves.high, np.nan)
    columns = {name: values.repeat(n_recalls) for name, values in groups.labels.items()}
    columns |= {
        "recall": np.tile(RECALLS, truths.n_groups),
        "estimate": np.where(is_read, curves.crossing, np.nan).ravel(),
        "low": low.ravel(),
        "high": high.ravel(),
        "slope": curves.slope.repeat(n_recalls),
        "intercept": curves.intercept.repeat(n_recalls),
        "bend_p_value": curves.bend_p_value.repeat(n_recalls),
        "n_truth": np.bincount(truths.group, minlength=truths.n_groups).repeat(n_recalls),
        "n_sequences": n_sequences.repeat(n_recalls),
        "degrees_of_freedom": curves.degrees_of_freedom.ravel(),
    }
    limits = pd.DataFrame(columns)
    null = np.flatnonzero(limits[["estimate", "low", "high"]].isna().any(axis=1))
    facts = limits.assign(
        least=least.repeat(n_recalls),
        greatest=greatest.repeat(n_recalls),
        crossing=curves.crossing.ravel(),
        ceiling=ceiling.ravel(),
        is_sloped=curves.is_sloped.ravel(),
        agree=(curves.low == curves.high).ravel(),
    )
    reasons = np.full(len(limits), None, object)
    for row, known in zip(null.tolist(), facts.iloc[null].to_dict("records"), strict=True):
        reasons[row] = no_curve[row // n_recalls] or why_null(known)
    return limits.assign(reason=pd.array(reasons, dtype=pandas_tables.TEXT))


def _bins(groups: Groups, truths: Truths, recall: np.ndarray, column: str, confidence: float) -> pd.DataFrame:
    """The table `bins` of a DetectionLimit; `recall` is what the curves say of each truth."""
    in_bins = array_of(selections.binned(pd.DataFrame({column: truths.value}), column, BINS))
    row, first = selections.number_groups({"group": truths.group, column: in_bins}, len(truths.value))
    cell, first_of_cell = arrays.grouped(row * len(truths.group_of_cell) + truths.cell)
    sums = {"tp": arrays.added_at(cell, truths.found), "n": np.bincount(cell).astype(np.float64)}
    found = _recall_intervals(sums, row[first_of_cell], len(first), confidence)
    n = np.bincount(row, minlength=len(first))
    columns = {name: values.take(truths.group[first]) for name, values in groups.labels.items()}
    columns |= {
        column: in_bins.take(first),
        "mean": arrays.added_at(row, truths.value, len(first)) / n,
        "n_truth": n,
        "n_sequences": np.bincount(row[first_of_cell], minlength=len(first)),
        "recall": found.estimate[:, 0],
        "recall_low": found.low[:, 0],
        "recall_high": found.high[:, 0],
        "recall_of_curve": arrays.added_at(row, recall, len(first)) / n,
    }
    return pd.DataFrame(columns)


def why_no_curve(truths: Truths) -> np.ndarray:
    """Why each group has no curve, (G,); None where it has one."""
    group, n_groups = truths.group, truths.n_groups
    n, n_found = np.bincount(group, minlength=n_groups), arrays.added_at(group, truths.found, n_groups)
    least, greatest = ends(truths.value, group, n_groups)
    between = (truths.value > least[group]) & (truths.value < greatest[group])
    is_few = arrays.added_at(group, between, n_groups) == 0
    found, missed = (ends(truths.value[of], group[of], n_groups) for of in (truths.found == 1, truths.found == 0))
    rises, falls = missed[1] <= found[0], found[1] <= missed[0]
    reasons = np.full(n_groups, None, object)
    for g in np.flatnonzero(is_few | rises | falls):  # of all found or all missed, one side has no ends
        if n[g] == 0:
            reasons[g] = "no truth has a value"
        elif n_found[g] in (0, n[g]):
            reasons[g] = f"all truths were {'found' if n_found[g] else 'missed'}"
        elif is_few[g]:
            reasons[g] = "there are fewer than three values, so nothing tells how recall goes between them"
        else:
            (first, below), (then, above) = ("missed", missed), ("found", found)
            if falls[g]:
                (first, below), (then, above) = (then, above), (first, below)
            reasons[g] = (
                f"all truths up to {below[1][g]:.6g} were {first}, and all from {above[0][g]:.6g} on were {then}"
            )
    return reasons


def why_null(row: Mapping[Hashable, Any]) -> str:
    """Why a row of `limits` of a group that has a curve holds nulls.

    The row has what the curve says besides: `least` and `greatest`, of the group's values; `crossing`, where the curve
    has the recall; `is_sloped`, whether the slope can be told from 0; `agree`, whether the interval has no width;
    `ceiling`, the recall at which the data level off below, null if they do not.
    """
    outside = f"all values, which go from {row['least']:.6g} to {row['greatest']:.6g}"
    if np.isnan(row["slope"]):
        return "the curve cannot be fitted, because a few values are far from all others"
    if row["n_sequences"] > 1 and not row["is_sloped"]:
        degrees = f"{row['degrees_of_freedom']:.2g} degrees of freedom"
        return f"{row['n_sequences']} sequences do not tell the slope from 0 ({degrees})"
    if not np.isnan(row["ceiling"]):
        return (
            f"recall does not go beyond about {row['ceiling']:.0%} in these data, where the curve says "
            f"{row['recall']:.0%} and more"
        )
    if np.isnan(row["estimate"]):
        where = "above" if (row["slope"] > 0) == (row["crossing"] < row["least"]) else "below"
        return f"the curve is {where} {row['recall']:.0%} at {outside}"
    if row["n_sequences"] == 1:
        return "there is only one sequence, so nothing tells how others differ"
    if row["agree"]:
        return "all sequences agree, so nothing tells how others differ"
    bounds = [name for name in ("low", "high") if np.isnan(row[name])]
    return f"{' and '.join(bounds)} would lie outside {outside}"


def warning_texts(limits: pd.DataFrame, column: str, n_left_out: Mapping[int, int]) -> list[str]:
    """The texts of warnings: what was left out, where little is known, why values are null, and which curves bend.

    `n_left_out` is how many truths of each outcome have no finite value.
    """
    n_recalls = max(limits["recall"].nunique(), 1)
    n_curves, texts = len(limits) // n_recalls, []
    if n := sum(n_left_out.values()):
        missed = f"{n_left_out[schema.FN]:,} of them missed"
        texts.append(f"{messages.counted(n, 'truth')} left out, {missed}, because {column} is null or infinite there")
    few = (limits["n_sequences"] < FEW_SEQUENCES) | (limits["degrees_of_freedom"] < FEW_DEGREES)
    few &= limits["n_sequences"] > 1
    if few.any():
        texts.append(
            RESTS_ON_FEW if n_curves == 1 else f"{few.sum():,} of {len(limits):,} limits rest on {RESTS_ON_FEW}"
        )
    null = limits["reason"].notna()
    if n_curves == 1:
        for reason, rows in limits[null].groupby("reason", sort=False):
            texts.append(f"recall of {' and '.join(f'{recall:.0%}' for recall in rows['recall'])}: {reason}")
    elif null.any():
        texts.append(f"{null.sum():,} of {len(limits):,} limits have nulls; the column reason says why")
    p_value = limits["bend_p_value"].iloc[::n_recalls].dropna()
    bends = p_value * len(p_value) <= RARE
    if bends.any():
        which = f"bend_p_value {p_value.iloc[0]:.2g}" if n_curves == 1 else f"{bends.sum():,} of {n_curves:,} groups"
        how = "compare recall with recall_of_curve in bins, and try the logarithm of the column"
        texts.append(f"recall is no logistic curve of {column} ({which}), so the limits may be off; {how}")
    return texts
