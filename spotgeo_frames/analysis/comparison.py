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
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..scoring.evaluations import Evaluation, is_result
from ..scoring.ranking import ranked
from ..scoring.registry import Metric
from ..support.chunks import chunks
from ..support.named_tables import as_html, as_text, headline
from ..support.pandas_versions import TEXT, with_text
from ..tables.kinds import CALLER, same_kind_as
from ..tables.selections import By
from ..tables.table import Table
from .resampling import (
    BLUR,
    aligned_sums,
    bounds,
    check_metrics,
    check_options,
    metrics_of,
    names_of,
    resampled_sums,
)
from .submissions import groups_of, labelled, submissions

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
        return headline(self.leaderboard, ["rank", "name", "HOTA", "f1", "kelvins_mse"])


@same_kind_as("matches")
def compare(
    matches: Mapping[str, Table | NamedTuple],
    metrics: Sequence[str] | None = None,
    by: By | None = None,
    baseline: str | None = None,
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
        A dict from the name of each submission to its match table, or to what `track` or `pose` returned. All are of
        the same truth and were made with the same rule.
    metrics
        A list of metrics. Of match tables any that `summarize` returns, your own among them; by default "f1",
        "precision", "recall", "mse" (px²), "det_a" and "rmse" (px). Of tracks any in the `summary` of `track`; by
        default "HOTA", "DetA", "AssA", "MOTA" and "IDF1". Of poses any in that of `pose` but "ap", "ap_pre" and
        "ap_rec", which do not follow from sums of sequences; by default "HOTA", "DetA", "AssA" and "mota" (percent).
    by
        The groups, each compared by itself: a column of the truth, the frames or the sequences; a list of columns,
        whose values are crossed; or a dict from columns to a count of quantile bins (2 to 1000) or None. Only groups
        that all submissions have are compared. Results of tracks and poses are grouped by `sequence`, its attributes
        (`sequence_<column>`), and for poses `joint`.
    baseline
        The name of the submission that all others are compared with. Without it, every pair is compared.
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

    leaderboard: the `by` columns, then one row for each submission, by highest f1, then lowest kelvins_mse (tracks and
        poses: by highest HOTA): `rank`, `name`, the metrics that `summarize` computes, the intervals of those that
        rank, such as `f1_low` and `f1_high` (those of `kelvins_mse` are null after matching by similarity), then
        `chance_of_rank_1`, `chance_of_rank_2` and so on, the share of resamples in which the submission has this rank
        (equal submissions share a rank; null if there is only one sequence), and `apart_from_next`, whether its f1
        (HOTA) differs from that of the next row (p_adjusted below 1 - confidence; null in the last row, and where the
        two were not compared).
    pairs: the `by` columns, then one row for each pair and metric: `a`, `b` (the baseline, or the lower-ranked of the
        two), for tracks and poses `of` ("combined": the metric of all sequences together), `metric`, `estimate` (the
        metric of `a` minus that of `b`), its percentile bootstrap interval `low` to `high`, `p_value` of a two-sided
        permutation test (Phipson and Smyth, 2010, doi:10.2202/1544-6115.1585), and `p_adjusted` over all pairs by
        Holm's method (1979). All are null where the metric is undefined; `low` and `high` also if there is
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
    check_options(resamples, confidence)
    evaluations, unknown = submissions(matches, baseline, exclude, by)
    names = check_metrics(names_of(metrics), next(iter(evaluations.values())).family)
    is_of_results = is_result(next(iter(matches.values())))
    boards, pairs, texts = [], [], [unknown]
    for labels, of_group in groups_of(evaluations):
        board, missing = ranked(of_group)
        board, table = _compared(of_group, board, names, baseline, resamples, confidence, seed)
        if is_of_results:
            table.insert(2, "of", pd.Series(["combined"] * len(table), dtype=TEXT))
        boards.append(labelled(board, labels))
        pairs.append(labelled(table, labels))
        texts.append(missing)
    notes = boards[0].attrs | {"resamples": resamples, "confidence": confidence, "seed": seed}
    answer = Comparison(*(with_text(pd.concat(parts, ignore_index=True)) for parts in (boards, pairs)))
    for table in answer:
        table.attrs = notes
    for text in dict.fromkeys(filter(None, texts)):
        warnings.warn(f"compare: {text}", stacklevel=CALLER)
    return answer


def _compared(
    evaluations: Mapping[str, Evaluation],
    best_first: pd.DataFrame,
    metrics: Sequence[str],
    baseline: str | None,
    resamples: int,
    confidence: float,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The two tables of a Comparison of evaluations that each have one group, from their leaderboard."""
    names = best_first["name"].tolist()
    family = evaluations[names[0]].family
    sums = aligned_sums({name: evaluations[name] for name in names})
    wanted = list(dict.fromkeys([*metrics, *family.ranking]))

    def metrics_from(added: np.ndarray, names: Sequence[str]) -> np.ndarray:
        return metrics_of(sums.named(added), names, family)

    samples = metrics_from(resampled_sums(sums.values, resamples, seed), wanted)
    pairs = [(names.index(a), names.index(b)) for a, b in _pairs(names, baseline)]
    of_metrics = samples[..., : len(metrics)]
    table = _pair_table(names, pairs, metrics, of_metrics, sums.values, metrics_from, confidence, seed)
    ranking = [(samples[..., wanted.index(name)], family.metrics[name]) for name in family.ranking]
    best_first = _with_intervals(best_first, ranking, len(sums.values), confidence)
    return best_first.assign(apart_from_next=_apart(names, table, family.ranking[0], confidence)), table


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
    ranked: pd.DataFrame, ranking: Sequence[tuple[np.ndarray, Metric]], n_sequences: int, confidence: float
) -> pd.DataFrame:
    """Adds the intervals of the ranking metrics and the chance of each rank to a leaderboard.

    `ranking` has the values of each ranking metric in the resamples, (resamples, submissions), and its entry.
    """
    columns: dict[str, np.ndarray] = {}
    ahead = np.zeros((*ranking[0][0].shape, ranking[0][0].shape[1]), np.int64)  # of each by each other: 1, 0 or -1
    for values, metric in ranking:
        low_high = _bounds(values, n_sequences, confidence)
        columns[f"{metric.name}_low"], columns[f"{metric.name}_high"] = low_high
        better = np.nan_to_num(values if metric.higher_is_better else -values, nan=-1.0)
        gap = better[..., None, :] - better[..., None]
        tied = np.abs(gap) <= BLUR * np.maximum(1.0, np.abs(better[..., None]))
        ahead = np.where(ahead == 0, np.where(tied, 0, np.sign(gap)), ahead)
    rank = 1 + (ahead > 0).sum(axis=2)
    share = np.nan if n_sequences < 2 else 1.0
    columns |= {f"chance_of_rank_{k}": share * (rank == k).mean(axis=0) for k in range(1, rank.shape[1] + 1)}
    return ranked.assign(**columns)  # which keeps the notes in attrs


def _apart(names: Sequence[str], pairs: pd.DataFrame, metric: str, confidence: float) -> pd.Series:
    """Whether the metric of each submission differs from that of the next; null where the two were not compared."""
    rows = pairs[pairs["metric"] == metric].dropna(subset="p_adjusted")
    p_adjusted = {frozenset((a, b)): p for a, b, p in zip(rows["a"], rows["b"], rows["p_adjusted"], strict=True)}
    to_next = [p_adjusted.get(frozenset(pair)) for pair in zip(names, [*names[1:], None], strict=True)]
    return pd.Series([None if p is None else p < 1 - confidence for p in to_next], dtype="boolean")
