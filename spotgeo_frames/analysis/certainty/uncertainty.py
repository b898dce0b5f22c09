"""intervals(): the metrics of a match table, of tracks, of poses or of average precision, with confidence intervals.

Sequences are taken as drawn from all sequences like them, so the intervals are of the number that more such sequences
would give, each weighted by its size. Three methods make them: "jackknife" leaves out one sequence at a time (see
`jackknife.py`), "percentile" draws sequences with replacement, as many as there are (Efron, 1979,
doi:10.1214/aos/1176344552), and "batch_means" cuts one long sequence into pieces in time (see `batches.py`).
"""

import warnings
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from ...scoring import AveragePrecision, Sums, sequence_sums, summary_of
from ...support import InputError, arrays
from ...tables import By, Columns, Table, table_kinds
from .batches import batch_means, null_texts
from .estimates import clustered, combined, estimates_of, macro, tau_of, with_units
from .interval_tables import (
    QUESTION,
    metric_table,
    result_table,
    warning_texts,
)
from .jackknife import Intervals
from .reasons import of_too_few, with_reasons, without_interval
from .resampling import (
    bounds,
    check_labels,
    check_metrics,
    check_options,
    matrix_of,
    names_of,
    number_sequences,
    own_among,
    resampled_sums,
)

Method = Literal["jackknife", "percentile", "batch_means"]

# The count of sums, and of resampled metrics, that are in memory at once, 8 bytes each.
NUMBERS_AT_ONCE = 1 << 23


@table_kinds.same_kind_as("x")
def intervals(
    x: Table | NamedTuple | AveragePrecision,
    by: By | None = None,
    metrics: str | Sequence[str] | None = None,
    method: Method = "jackknife",
    cluster: str | None = None,
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    without_each: bool = False,
) -> pd.DataFrame:
    """Computes metrics with confidence intervals, for what these sequences have shown.

    The intervals answer what the metric of many more sequences like these would be, each weighted by its size.
    Sequences have to be independent of each other (or `cluster` says which are not); frames and objects of one sequence
    need not be. No interval knows what no sequence has shown: a failure in one of k sequences stays unseen in n of them
    with a chance of (1 - 1/k) to the power n. One in 20 is not among ten sequences in 60% of cases.

    Parameters
    ----------
    x
        A match table, or what `track`, `pose` or `average_precision` returned.
    by
        The groups, each with intervals of its own: a column of the match table; a Series with a value for each row (or,
        of a match table of polars, an expression); a list of these, whose values are crossed; or a dict from columns to
        a count of quantile bins (2 to 1000), edges of bins, or None. Rows that are null in `by` are left out. Results
        of tracks and poses are grouped by columns of their table `sums`: `sequence`, its attributes
        (`sequence_<column>`), `joint` of poses, and `category` of `track(by="category")`; those of average precision by
        what its own `by` takes.
    metrics
        A metric, or a list of them. Of a match table any that `summarize` returns, your own among them; by default
        "f1", "precision", "recall", "mse" (px²), "det_a" and "rmse" (px). Of tracks any in the `summary` of `track`; by
        default "HOTA", "DetA", "AssA", "MOTA" and "IDF1". Of poses any in that of `pose` but "ap", "ap_pre" and
        "ap_rec", which do not follow from sums of sequences; by default "HOTA", "DetA", "AssA" and "mota" (percent). Of
        average precision any number in its `summary`; by default "AP", "AP50" and "AP75".
    method
        "jackknife": leaves out one sequence at a time; the interval of a share is that of its logit, that of an error
        without an upper end that of its logarithm, with t of the degrees of freedom of Bell and McCaffrey (2002),
        corrected for skewness (Hall, 1992, J. R. Stat. Soc. B 54, 221-228). "percentile": the quantiles of the metric
        over resamples of sequences (Efron, 1979, doi:10.1214/aos/1176344552), which are too narrow with few sequences.
        "batch_means": for match tables of a single long sequence, which is cut into 120 pieces in time. How alike they
        are is part of the interval (Mueller and Watson, 2016, doi:10.1093/restud/rdw014), which is null below 1,500
        frames or where frames stay alike for much of the sequence; `reason` says how many frames would be needed. The
        columns that weigh sequences are null then.
    cluster
        A column of groups of sequences that are not independent of each other, such as nights of observation. Whole
        groups are then left out, or drawn.
    confidence
        The share of intervals that contain the true value, between 0 and 1.
    resamples
        How often "percentile" draws sequences, with replacement; at least 1.
    seed
        Of the resamples; equal seeds give equal intervals.
    without_each
        Of results, whether to add the combined numbers without each sequence, where there are up to 20.

    Returns
    -------
    DataFrame of the match table's kind with one row for each group and metric: the `by` columns, `metric`, `estimate`
    (the value that `summarize` computes), `low` and `high` (the bounds of the interval), and what they rest on:
    `n_sequences`, the count of sequences that have rows in the group; `n_effective`, how many sequences of equal size
    would tell as much; `degrees_of_freedom`; `largest_share`, the greatest share that one sequence has of all weights.
    Bounds are null where nothing is known of them; `reason` says why, and is null elsewhere. Warnings tell of nulls,
    and of fewer than 20 sequences or 5 degrees of freedom. The notes (`attrs`) say which `question` the intervals
    answer.

    Tracks and poses have a column `aggregate`: "combined" (its interval is null below 20 sequences, of which a single
    one may decide it), "macro", the mean over sequences of each one's own value (the mean sequence is another
    question), and, with `without_each`, "without NAME", the combined number without the sequence NAME (or without the
    cluster NAME).

    Average precision has these rows but no "macro": the AP of a single image is another number. Up to 100 groups of
    sequences are left out in turn. AP of few images is too high, so the interval is moved down by the bias, which
    halves of the sequences tell ("percentile" does not do that). If a category has truths in one group only, bounds are
    null: nothing tells how its AP would vary.

    Raises
    ------
    InputError: `x` is no match table or has no rows; a column of `by` is missing, or has the name of a column of the
        result; the column `cluster` is missing, null, or differs within a sequence; "batch_means" is asked of tracks,
        poses, average precision or several sequences; a metric of your own fails.
    ValueError: an unknown metric or method, `resamples` below 1, `seed` below 0, or `confidence` not between 0 and 1.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> sf.intervals(matches, metrics=["f1", "recall"]).round(2)[["metric", "estimate", "low", "high", "n_sequences"]]
       metric  estimate   low  high  n_sequences
    0      f1      0.82  0.78  0.85           60
    1  recall      0.89  0.77  0.94           60
    """
    given = x, by, metrics, method, cluster, confidence, resamples, seed
    answer, texts = interval_table(*given, without_each=without_each)
    for text in texts:
        warnings.warn(f"intervals: {text}", stacklevel=table_kinds.CALLER)
    return answer


def interval_table(
    x: Table | NamedTuple | AveragePrecision,
    by: By | None,
    metrics: str | Sequence[str] | None,
    method: Method = "jackknife",
    cluster: str | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    exclude: Sequence[int | str] | None = None,
    *,
    without_each: bool = False,
) -> tuple[pd.DataFrame, list[str]]:
    """Computes the table that `intervals` returns, and the texts of warnings instead of raising them.

    Takes and raises what `intervals` does; `exclude` are checked sequences to leave out.
    """
    metrics = names_of(metrics)
    check_options(resamples, confidence, seed)
    if method not in get_args(Method):
        raise ValueError(f"method is {method!r}; {', '.join(map(repr, get_args(Method)))} are known")
    of = with_units(sequence_sums.evaluable(x, "intervals: x").without(exclude), cluster)
    if not len(of.table):
        raise InputError(f"intervals: the {'result' if sequence_sums.is_result(x) else 'match table'} has no rows")
    own = own_among(metrics)
    sums = of.evaluate(of.table, by, own)
    names = check_metrics(metrics, [sums])
    check_labels(sums.labels)
    n_sequences = sums.n_sequences
    tau = tau_of(of.matches)
    if method == "batch_means":
        found = batch_means(sums, of, by, own, names, tau, confidence)
        few = of_too_few(sums.metrics, names, n_sequences[:, None])
        for text, marked in [*without_interval(sums.metrics, names), *((text, where) for where, text in few)]:
            holds = np.broadcast_to(marked, found.low.shape)
            found.low[holds] = found.high[holds] = np.nan
            found.reason[holds] = text
        texts = null_texts(found.reason, names)
    else:
        sums = clustered(sums, of, cluster)
        found = combined(sums, names, tau, confidence)
        if method == "percentile":
            found = _by_resampling(found, sums, names, resamples, confidence, seed)
        texts = warning_texts(found, names, n_sequences, tau, sums)
        n_rows = np.bincount(sums.group) if sums.in_clusters else n_sequences
        found = with_reasons(found, sums, names, tau, n_rows)
    found = found._replace(estimate=estimates_of(summary_of(sums), names))
    if sums.of_result:
        of_means = None
        if sums.per_sequence:
            of_means = with_reasons(macro(sums, names, confidence), sums, names, tau, n_sequences, are_means=True)
        answer = result_table(sums, names, n_sequences, found, of_means, without_each=without_each)
    else:
        answer = metric_table(sums, names, n_sequences, found)
    options = {"resamples": resamples, "confidence": confidence, "method": method, "seed": seed}
    answer.attrs = sums.attrs | {"question": QUESTION} | options
    return answer, [*texts, *sums.texts]


def _by_resampling(
    found: Intervals, sums: Sums, names: Sequence[str], resamples: int, confidence: float, seed: int
) -> Intervals:
    """Intervals of the jackknife with the bounds of resampling."""
    low, high = _percentile(sums, names, resamples, confidence, seed)
    if sums.in_groups:  # a category that leaving out can lose, drawing can lose, too
        low, high = (np.where(np.isnan(found.error), np.nan, bound) for bound in (low, high))
    return found._replace(low=low, high=high, degrees_of_freedom=np.full_like(low, np.nan))


def _percentile(
    sums: Sums, names: Sequence[str], resamples: int, confidence: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The bounds (groups, metrics) by drawing sequences with replacement; null with fewer than two sequences."""
    low, high = np.full((2, sums.n_groups, len(names)), np.nan)
    n_rows = np.bincount(sums.group, minlength=sums.n_groups)
    sequence, n_sequences = number_sequences(Columns({"sequence": sums.sequence}))
    matrix = matrix_of(sums.values, len(sequence))
    at_once = np.where(n_rows > 1, matrix.values.shape[1] * max(resamples, n_sequences), 1)
    for first, last in arrays.chunks(at_once, NUMBERS_AT_ONCE):
        if n_rows[first:last].max() < 2:
            continue
        rows = np.flatnonzero((sums.group >= first) & (sums.group < last))
        of_sequences = np.zeros((n_sequences, last - first, matrix.values.shape[1]))
        of_sequences[sequence[rows], sums.group[rows] - first] = matrix.values[rows]
        samples = sums.metrics.numbers(matrix.named(resampled_sums(of_sequences, resamples, seed)), names)
        low[first:last], high[first:last] = bounds(samples, confidence)
    low[n_rows < 2] = high[n_rows < 2] = np.nan
    return low, high
