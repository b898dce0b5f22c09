"""compare(): whether one submission is better than another by more than chance.

Submissions are compared on the same sequences, because a sequence that is hard for one submission is usually hard for
the others. The interval of a difference comes from the bootstrap: sequences are drawn with replacement, the same
sequences for both submissions. The p-value comes from a permutation test: if both submissions are equally good,
swapping their results for whole sequences changes the difference by chance only. p = (b + 1) / (m + 1), where b of m
random permutations have a difference at least as large as the observed one (Phipson and Smyth, 2010,
doi:10.2202/1544-6115.1585). The p-values of a metric are adjusted over all pairs by Holm's method (Holm, 1979,
https://www.jstor.org/stable/4615733), which bounds the probability of calling any two equally good submissions
different.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..scoring.group_sums import group_rows
from ..scoring.ranking import ranked
from ..scoring.registry import RANKING, own_metrics
from ..support.chunks import chunks
from ..support.errors import InputError
from ..support.named_tables import as_html, as_text, headline
from ..support.pandas_versions import TEXT
from ..tables.checks import check_matches
from ..tables.kinds import CALLER, same_kind_as
from ..tables.messages import counted
from ..tables.schema import measure_of
from ..tables.selections import excluded_sequences, without_sequences
from ..tables.table import Table
from .resampling import (
    BLUR,
    DEFAULT_METRICS,
    bounds,
    check_metrics,
    check_options,
    metrics_of,
    resampled_sums,
    table_sums,
)
from .same_truth import truth_differences

# The count of swaps, one for each sequence and permutation, that are in memory at once, 8 bytes each.
SIGNS_AT_ONCE = 1 << 20


class Comparison(NamedTuple):
    """The result of `compare`: two DataFrames.

    Attributes
    ----------
    leaderboard
        One row for each submission, best first, with its metrics, their intervals and the chance of each rank.
    pairs
        One row for each pair of submissions and metric, with the difference, its interval and its p-values.
    """

    leaderboard: pd.DataFrame
    pairs: pd.DataFrame

    def __repr__(self) -> str:
        return as_text(self, self._headline())

    def _repr_html_(self) -> str | None:
        return as_html(self, self._headline())

    def _headline(self) -> list[str]:
        return headline(self.leaderboard, ["rank", "name", "f1", "kelvins_mse"])


@same_kind_as("matches")
def compare(
    matches: Mapping[str, Table],
    baseline: str | None = None,
    metrics: Sequence[str] = DEFAULT_METRICS,
    resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    *,
    exclude: Iterable[int] | Iterable[str] | None = None,
) -> Comparison:
    """Compares submissions on the same truth: each with each other, or all with a baseline.

    Parameters
    ----------
    matches
        A dict from the name of each submission to its match table. All tables are of the same truth and were made with
        the same rule.
    baseline
        The name of the submission that all others are compared with. Without it, every pair is compared.
    metrics
        A list of any of "f1", "precision", "recall", "mse" (px²), "det_a", "rmse" (px), "one_minus_f1", "mean_distance"
        (px), "loc_a" and "kelvins_mse", and your own metrics, which `metric()` added.
    resamples
        How often sequences are drawn for the intervals, and how often they are swapped for the p-values; at least 1.
    confidence
        The share of intervals that contain the true difference, between 0 and 1.
    seed
        Equal seeds give equal results.
    exclude
        Sequences to leave out, a list of strings or of integers like the tables'. A warning names those that no table
        has.

    Returns
    -------
    Comparison of two DataFrames, of the first match table's kind (pandas, polars or pyarrow).

    leaderboard: one row for each submission, by highest f1, then lowest kelvins_mse: `rank`, `name`, the metrics that
        `summarize` computes, `f1_low`, `f1_high`, `kelvins_mse_low` and `kelvins_mse_high` (null after matching by
        similarity), then `chance_of_rank_1`, `chance_of_rank_2` and so on, the share of resamples in which the
        submission has this rank (equal submissions share a rank; null if there is only one sequence), and
        `apart_from_next`, whether its f1 differs from the f1 of the next row (p_adjusted below 1 - confidence; null in
        the last row, and where the two were not compared).
    pairs: one row for each pair and metric: `a`, `b` (the baseline, or the lower-ranked of the two), `metric`,
        `estimate` (the metric of `a` minus that of `b`), its percentile bootstrap interval `low` to `high`, `p_value`
        of a two-sided permutation test (Phipson and Smyth, 2010, doi:10.2202/1544-6115.1585), and `p_adjusted` over all
        pairs by Holm's method (1979). All are null where the metric is undefined; `low` and `high` also if there is
        only one sequence.

    Raises
    ------
    InputError: `matches` is no dict or has fewer than two match tables, a table has no rows, the tables have different
        truths (the message names one) or rules, no table has the name `baseline`, or a metric of your own fails.
    ValueError: an unknown metric, `resamples` below 1, or `confidence` not between 0 and 1.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": range(8), "frame": 1, "object": 1, "x": 50.0, "y": 50.0})
    >>> submissions = {"all": truth, "half": truth[truth["sequence"] < 4]}
    >>> compared = sf.compare({name: sf.match(truth, side) for name, side in submissions.items()}, metrics=["f1"])
    >>> compared.leaderboard[["rank", "name", "f1"]].round(3)
       rank  name     f1
    0     1   all  1.000
    1     2  half  0.667
    >>> compared.pairs[["a", "b", "metric", "estimate"]].round(3)
         a     b metric  estimate
    0  all  half     f1     0.333
    """
    asked = check_metrics(metrics)
    check_options(resamples, confidence)
    tables, unknown = _checked(matches, baseline, exclude)
    groups = {name: group_rows(table, None, own=own_metrics()) for name, table in tables.items()}
    best_first, missing = ranked(groups)
    names = best_first["name"].tolist()
    sums, more = table_sums([groups[name] for name in names], asked)
    by_similarity = measure_of(tables[names[0]]) == "similarity"
    metrics_from = partial(metrics_of, by_similarity=by_similarity, more=more)
    wanted = list(dict.fromkeys([*asked, *RANKING]))
    samples = metrics_from(resampled_sums(sums, resamples, seed), wanted)
    pairs = [(names.index(a), names.index(b)) for a, b in _pairs(names, baseline)]
    table = _pair_table(names, pairs, asked, samples[..., : len(asked)], sums, metrics_from, confidence, seed)
    best_first = _with_intervals(best_first, samples, wanted, len(sums), confidence)
    best_first = best_first.assign(apart_from_next=_apart(names, table, confidence))
    notes = best_first.attrs | {"resamples": resamples, "confidence": confidence, "seed": seed}
    best_first.attrs = table.attrs = notes
    for text in filter(None, (unknown, missing)):
        warnings.warn(f"compare: {text}", stacklevel=CALLER)
    return Comparison(best_first, table)


def _checked(
    matches: Mapping[str, Table], baseline: str | None, exclude: Iterable[int] | Iterable[str] | None
) -> tuple[dict[str, pd.DataFrame], str | None]:
    """Checks that all tables have the same truth; returns them without excluded sequences, and a warning's text."""
    if not isinstance(matches, Mapping):
        needed = "a dict of names and match tables is needed, such as {'a': matches, 'b': others}"
        raise InputError(f"compare: matches is of type {type(matches).__name__}; {needed}")
    if len(matches) < 2:
        raise InputError(f"compare: {counted(len(matches), 'match table')} given; two or more are needed")
    if baseline is not None and baseline not in matches:
        known = ", ".join(map(str, matches))
        raise InputError(f"compare: baseline: no match table has the name {baseline!r}; the names are {known}")
    tables = {name: check_matches(table, f"compare: matches: {name}") for name, table in matches.items()}
    left_out, unknown = excluded_sequences(exclude, tables.values())
    tables = {name: without_sequences(table, left_out) for name, table in tables.items()}
    first, *others = tables
    if not len(tables[first]):
        raise InputError(f"compare: the match table of {first} has no rows")
    problems = [
        problem
        for name in others
        for problem in truth_differences("compare", {first: tables[first], name: tables[name]})
    ]
    if problems:
        raise InputError(problems)
    return tables, unknown


def _pairs(names: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """The pairs of names to compare."""
    if baseline is None:
        return list(combinations(names, 2))
    return [(name, baseline) for name in names if name != baseline]


def _pair_table(
    names: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    metrics: Sequence[str],
    samples: np.ndarray,
    sums: np.ndarray,
    metrics_from: Callable[..., np.ndarray],
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Makes the table `pairs` of a Comparison, with one row for each pair and metric.

    `metrics_from` computes metrics (..., metrics) from sums (..., sums) and the names of the metrics.
    """
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    values = metrics_from(sums.sum(axis=0), metrics)
    estimate = values[a] - values[b]
    low, high = _bounds(samples[:, a] - samples[:, b], len(sums), confidence)
    p_value = _p_values(sums, pairs, metrics, metrics_from, len(samples), seed)
    p_value[np.isnan(estimate)] = low[np.isnan(estimate)] = high[np.isnan(estimate)] = np.nan
    label = pd.Series(names, dtype=TEXT).array
    return pd.DataFrame(
        {
            "a": label.take(a.repeat(len(metrics))),
            "b": label.take(b.repeat(len(metrics))),
            "metric": pd.array(list(metrics) * len(pairs), dtype=TEXT),
            "estimate": estimate.ravel(),
            "low": low.ravel(),
            "high": high.ravel(),
            "p_value": p_value.ravel(),
            "p_adjusted": holm(p_value).ravel(),
        }
    )


def _bounds(samples: np.ndarray, n_sequences: int, confidence: float) -> np.ndarray:
    """The lower and upper bounds (2, ...) of samples (N, ...); null if there is only one sequence."""
    low_high = bounds(samples, confidence)
    return low_high if n_sequences > 1 else np.full_like(low_high, np.nan)


def _p_values(
    sums: np.ndarray,
    pairs: Sequence[tuple[int, int]],
    metrics: Sequence[str],
    metrics_from: Callable[..., np.ndarray],
    permutations: int,
    seed: int,
) -> np.ndarray:
    """Two-sided p-values (pairs, metrics) of permutations that swap whole sequences between the two of a pair.

    `sums` are (sequences, submissions, sums); `metrics_from` computes metrics (..., metrics) from sums (..., sums) and
    the names of the metrics.
    """
    random = np.random.default_rng([seed, 1])
    n_as_large = np.zeros((len(pairs), len(metrics)), np.int64)
    for first, last in chunks(np.full(permutations, len(sums)), SIGNS_AT_ONCE):
        swapped = random.integers(0, 2, (last - first, len(sums)), dtype=np.uint8).astype(np.float64)
        for row, (a, b) in enumerate(pairs):
            totals = sums[:, a].sum(axis=0), sums[:, b].sum(axis=0)
            moved = swapped @ (sums[:, b] - sums[:, a])
            values = [metrics_from(total, metrics) for total in totals]
            least = np.abs(values[0] - values[1]) - BLUR * np.maximum(*map(np.abs, values))
            differences = metrics_from(totals[0] + moved, metrics)
            differences -= metrics_from(totals[1] - moved, metrics)
            n_as_large[row] += np.count_nonzero(~(np.abs(differences) < least), axis=0)  # counts undefined ones, too
    return (n_as_large + 1.0) / (permutations + 1.0)


def holm(p_values: np.ndarray) -> np.ndarray:
    """Adjusts p-values (tests, families) within each family by Holm's method (1979); null ones are not counted."""
    order = np.argsort(p_values, axis=0)  # null last
    n_tests = np.count_nonzero(~np.isnan(p_values), axis=0)
    ordered = np.take_along_axis(p_values, order, axis=0)
    left = np.maximum(n_tests - np.arange(len(p_values))[:, None], 1)
    raised = np.minimum(np.maximum.accumulate(ordered * left, axis=0), 1.0)
    adjusted = np.empty_like(p_values)
    np.put_along_axis(adjusted, order, raised, axis=0)
    return adjusted


def _with_intervals(
    ranked: pd.DataFrame, samples: np.ndarray, metrics: Sequence[str], n_sequences: int, confidence: float
) -> pd.DataFrame:
    """Adds the intervals of the ranking metrics and the chance of each rank to a leaderboard."""
    f1, kelvins = (samples[..., metrics.index(name)] for name in RANKING)
    columns = {}
    for name, values in zip(RANKING, (f1, kelvins), strict=True):
        columns[f"{name}_low"], columns[f"{name}_high"] = _bounds(values, n_sequences, confidence)
    f1, kelvins = np.nan_to_num(f1, nan=-1.0), np.nan_to_num(kelvins)
    rank = np.ones(f1.shape, np.int64)
    for other in range(f1.shape[1]):
        by_f1, by_kelvins = f1[:, [other]] - f1, kelvins[:, [other]] - kelvins
        tied = np.abs(by_f1) <= BLUR
        rank += np.where(tied, by_kelvins < -BLUR * np.abs(kelvins), by_f1 > 0)
    share = np.nan if n_sequences < 2 else 1.0
    columns |= {f"chance_of_rank_{k}": share * (rank == k).mean(axis=0) for k in range(1, f1.shape[1] + 1)}
    return ranked.assign(**columns)  # which keeps the notes in attrs


def _apart(names: Sequence[str], pairs: pd.DataFrame, confidence: float) -> pd.Series:
    """Whether the f1 of each submission differs from that of the next one; null where the two were not compared."""
    f1 = pairs[pairs["metric"] == "f1"].dropna(subset="p_adjusted")
    p_adjusted = {frozenset((a, b)): p for a, b, p in zip(f1["a"], f1["b"], f1["p_adjusted"], strict=True)}
    to_next = [p_adjusted.get(frozenset(pair)) for pair in zip(names, [*names[1:], None], strict=True)]
    return pd.Series([None if p is None else p < 1 - confidence for p in to_next], dtype="boolean")
