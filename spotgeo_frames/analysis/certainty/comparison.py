"""compare(): whether one submission is better than another by more than chance.

Submissions are compared on the same sequences, because a sequence that is hard for one submission is usually hard for
the others. p-values and intervals come from two tests, of which the more careful one counts: swapping what two
submissions made of whole sequences (see `swaps.py`), which is exact where the two are exchangeable, and leaving out one
sequence at a time (see `left_out_pairs.py`), for where they are only equal in the metric. docs/uncertainty.md says how
often both are right.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...scoring import FEW_SEQUENCES, LITTLE_KNOWN, OF_FEW, AveragePrecision, Sums, own_metrics, registry, summary_of
from ...support import pandas_tables, result_views
from ...tables import By, Table, table_kinds
from ...tracking import known_metric
from .estimates import combined_with_reasons, estimates_of, macro
from .interval_tables import QUESTION, metric_table, result_table
from .jackknife import Intervals
from .leaderboards import ranked, with_bounds
from .pair_tables import Group, n_units, pair_table
from .reasons import lost_text, with_reasons
from .resampling import check_metrics, check_options, names_of
from .submissions import groups_of, labelled, same_rows, submissions

# The numbers of a leaderboard that a notebook shows, as far as it has them.
NUMBERS = ["HOTA", "DetA", "AssA", "MOTA", "IDF1", "mota", "AP", "AP50", "AP75"]
NUMBERS += ["f1", "precision", "recall", "mse", "kelvins_mse"]


class Comparison(NamedTuple):
    """The result of `compare`: two DataFrames.

    Attributes
    ----------
    leaderboard
        One row for each submission, best first, with its metrics and the intervals of those that rank it.
    pairs
        One row for each pair of submissions and metric, with the difference, its interval and its p-values.
    single
        One row for each submission and metric, with its interval, as `intervals` has it of each alone.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> names = ["eager", "cautious"]
    >>> matches = {name: sf.match(truth, sf.read_objects(f"data/sample/{name}.parquet")) for name in names}
    >>> compared = sf.compare(matches, metrics=["f1"])
    >>> compared.leaderboard[["rank", "name", "f1"]].round(3)
       rank      name     f1
    0     1     eager  0.819
    1     2  cautious  0.813
    >>> compared.pairs[["a", "b", "metric", "estimate"]].round(3)
           a         b metric  estimate
    0  eager  cautious     f1     0.007
    """

    leaderboard: pd.DataFrame
    pairs: pd.DataFrame
    single: pd.DataFrame

    def __repr__(self) -> str:
        return result_views.result_as_text(self, self._headline())

    def _repr_html_(self) -> str | None:
        groups = [str(name) for name in self.pairs if name in self.leaderboard and name != "reason"]
        ranked = [*groups, "rank", "name", *NUMBERS, "apart_from_next"]
        pairs = [*groups, "a", "b", "aggregate", "metric", "estimate", "p_adjusted"]
        fronts = [
            result_views.Front("leaderboard", ranked, known=known_metric),
            result_views.Front("pairs", pairs, known=known_metric),
        ]
        return result_views.result_as_html(self, self._headline(), fronts)

    def _headline(self) -> list[str]:
        return result_views.headline(
            self.leaderboard, ["rank", "name", "HOTA", "AP", "AP50", "AP75", "f1", "kelvins_mse"]
        )


@table_kinds.same_kind_as("matches")
def compare(
    matches: Mapping[str, Table | NamedTuple | AveragePrecision],
    metrics: str | Sequence[str] | None = None,
    by: By | None = None,
    baseline: str | None = None,
    exclude: Iterable[int] | Iterable[str] | None = None,
    cluster: str | None = None,
    *,
    seed: int = 0,
    confidence: float = 0.95,
    resamples: int = 10_000,
    without_each: bool = False,
) -> Comparison:
    """Compares submissions on the same truth: each with each other, or all with a baseline.

    Parameters
    ----------
    matches
        A dict from the name of each submission to its match table, or to what `track`, `pose` or `average_precision`
        returned. All are of the same truth and were made with the same rule.
    metrics
        A metric, or a list of them. Of match tables any that `summarize` returns, your own among them; by default "f1",
        "precision", "recall", "mse" (px²), "det_a" and "rmse" (px). Of tracks any in the `summary` of `track`; by
        default "HOTA", "DetA", "AssA", "MOTA" and "IDF1". Of poses any in that of `pose` but "ap", "ap_pre" and
        "ap_rec", which do not follow from sums of sequences; by default "HOTA", "DetA", "AssA" and "mota" (percent). Of
        average precision any number in its `summary`; by default "AP", "AP50" and "AP75".
    by
        The groups, each compared by itself: a column of the truth, the frames or the sequences; a list of columns,
        whose values are crossed; or a dict from columns to a count of quantile bins (2 to 1000), edges of bins, or
        None. All submissions share their bins, and only groups that all have are compared. Results of tracks and poses
        are grouped by `sequence`, its attributes (`sequence_<column>`), `joint` of poses, and `category` of
        `track(by="category")`; those of average precision by what its own `by` takes.
    cluster
        A column of groups of sequences that are not independent of each other, such as nights of observation. Whole
        groups are then swapped.
    baseline
        The name of the submission that all others are compared with. Without it, every pair is compared.
    resamples
        How often sequences are swapped; at least 1. Up to 12 sequences are swapped in all ways there are. Of more than
        1,000 sequences, the count is rounded up to a power of two, so that the ways are a group.
    confidence
        The share of intervals that contain the true difference, between 0 and 1.
    seed
        Equal seeds give equal results.
    exclude
        Sequences to leave out, a list of strings or of integers like the tables'. A warning names those that no table
        has.
    without_each
        Of results, whether to add the combined differences without each sequence, where there are up to 20.

    Returns
    -------
    Comparison of three DataFrames, of the first match table's kind (pandas, polars or pyarrow).

    leaderboard: one row for each submission, by highest f1, then lowest kelvins_mse (tracks and poses by HOTA, average
        precision by AP): `rank`, `name`, the metrics that `summarize` computes, `f1_low`, `f1_high`, `kelvins_mse_low`
        and `kelvins_mse_high` (the jackknife intervals of `intervals`), `reason` (why these are null, otherwise null),
        and `apart_from_next`, whether its f1 differs from the f1 of the next row (p_adjusted at most 1 - confidence;
        null in the last row, and where the two were not compared).
    pairs: one row for each pair and metric: `a`, `b` (the baseline, or the lower-ranked of the two), `metric`,
        `estimate` (the metric of `a` minus that of `b`), `low` and `high`, the differences that neither of two tests
        rejects, `p_value`, the larger one of both, `p_adjusted` over all pairs and metrics (the largest t and the least
        p-value of each swap: Westfall and Young, 1993; Holm, 1979, where swaps are too few to tell), and `reason`, why
        bounds are null, otherwise null. One test swaps the sequences of both (studentised: Janssen, 1997,
        doi:10.1016/S0167-7152(97)00043-6; Chung and Romano, 2013, doi:10.1214/13-AOS1090), more than 1,000 of them in
        the ways of a group (Koning and Hemerik, 2024, doi:10.1093/biomet/asad050). The other leaves out one sequence at
        a time (t with the degrees of freedom of Bell and McCaffrey, 2002, corrected for skewness: Hall,
        1992, J. R. Stat. Soc. B 54, 221-228), and allows for what few sequences cannot show: where fewer than six
        sequences differ, the bounds are the largest plausible share of sequences that differ, times the range of the
        metric. The interval excludes 0 just where p_value is at most 1 - confidence. Below six sequences p-values
        cannot be below 0.05, and `low` and `high` are null. Where both submissions have the same rows, in whatever
        order, the difference is 0 and its p-value 1.
        Tracks and poses have a column `aggregate`, as in `intervals`: "combined", "macro" (the mean of the sequences'
        own values, by leaving out, adjusted by Holm's method) and, with `without_each`, "without NAME", the difference
        alone. Average precision has no "macro"; the jackknife's pseudo-values of up to 100 groups of sequences (Tukey,
        1958) are swapped and left out.
    single: one row for each submission and metric, by `name`: `estimate`, `low`, `high`, what these rest on, and
        `reason`, as `intervals` returns them; of tracks and poses "combined" and "macro".

    Raises
    ------
    InputError: `matches` is no dict or has fewer than two match tables, a table has no rows, the tables have different
        truths (the message names one) or rules, no table has the name `baseline`, or a metric of your own fails.
    ValueError: an unknown metric, `resamples` below 1, `seed` below 0, or `confidence` not between 0 and 1.

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
    check_options(resamples, confidence, seed)
    metrics, exclude = names_of(metrics), None if exclude is None else [*exclude]
    sums, taus, unknown = submissions(matches, baseline, exclude, by, cluster, registry.own_metrics())
    names = check_metrics(metrics, [*sums.values()])
    same = _same(matches, sums, exclude)
    groups, boards = [], []
    texts = [unknown, own_metrics.lacking_text(of.lacking for of in sums.values())]
    for labels, of_group in groups_of(sums):
        board, about_rows = ranked(of_group, "compare")
        pairs_of_names = _pairs(board["name"].tolist(), baseline)
        groups.append(Group(labels, of_group, pairs_of_names, next(iter(taus.values())), same))
        boards.append(board)
        texts += about_rows
    pairs = pair_table(groups, names, resamples, confidence, seed, without_each=without_each)
    tables, single = [], []
    for board, group in zip(boards, groups, strict=True):
        found = _found(group, names, taus, confidence)
        tables.append(labelled(_with_places(board, group, pairs, found, confidence), group.labels))
        single.append(labelled(_single(board["name"], group, names, found, confidence), group.labels))
    joined = (pandas_tables.with_text(pd.concat(parts, ignore_index=True)) for parts in (tables, single))
    answer = Comparison(next(joined), pairs, next(joined))
    options = {"resamples": resamples, "confidence": confidence, "seed": seed}
    notes = boards[0].attrs | {"question": QUESTION} | options
    for table in answer:
        table.attrs = notes
    lost = {category: None for group in groups for of in group.sums.values() for category in of.metrics.lost}
    texts += [f"null intervals and p-values: {lost_text(lost)}"] if lost and pairs["p_value"].isna().any() else []
    for text in dict.fromkeys(filter(None, [*texts, *warning_texts(groups, confidence)])):
        warnings.warn(f"compare: {text}", stacklevel=table_kinds.CALLER)
    return answer


def warning_texts(groups: Sequence[Group], confidence: float) -> list[str]:
    """The text of a warning if groups have few sequences."""
    counts = [n_units(group) for group in groups]
    least, few = min(counts), [count for count in counts if count < FEW_SEQUENCES]
    if not few:
        return []
    where = "" if len(counts) == 1 else f"{len(few)} of {len(counts)} groups have "
    text = f"{where}{OF_FEW}: {LITTLE_KNOWN}"
    smallest = 2.0 ** (1 - least)
    if smallest > 1 - confidence:
        of_them = "1 sequence" if least == 1 else f"{least} sequences"
        text += f"; with {of_them} no p-value can be below {smallest:.2g}, so low and high are null"
    return [text]


def _pairs(names: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """The pairs of names to compare."""
    if baseline is None:
        return list(combinations(names, 2))
    return [(name, baseline) for name in names if name != baseline]


def _same(
    matches: Mapping[str, Any], sums: Mapping[str, Sums], exclude: Sequence[int | str] | None
) -> set[frozenset[str]]:
    """The pairs of names whose submissions have the same rows."""

    def may_be(a: Sums, b: Sums) -> bool:  # which is known much sooner
        is_like = a.values.keys() == b.values.keys() and len(a.group) == len(b.group)
        return is_like and all(np.allclose(of, b.values[name], equal_nan=True) for name, of in a.values.items())

    return {
        frozenset((a, b))
        for a, b in combinations(matches, 2)
        if may_be(sums[a], sums[b]) and same_rows(matches[a], matches[b], exclude)
    }


def _found(group: Group, names: Sequence[str], taus: Mapping[str, float], confidence: float) -> dict[str, Intervals]:
    """The intervals of each submission alone, of the ranking metrics, then of the other named ones."""
    return {
        name: combined_with_reasons(of, _with_ranking(of, names), taus[name], confidence)
        for name, of in group.sums.items()
    }


def _with_ranking(of: Sums, names: Sequence[str]) -> list[str]:
    """The ranking metrics, then the other named ones."""
    return list(dict.fromkeys([*of.metrics.ranking, *names]))


def _single(
    order: Iterable[str], group: Group, names: Sequence[str], found: Mapping[str, Intervals], confidence: float
) -> pd.DataFrame:
    """One row for each submission, in this order, and named metric."""
    tables = []
    for name in order:
        of, n_sequences = group.sums[name], group.sums[name].n_sequences
        places = [_with_ranking(of, names).index(metric) for metric in names]
        own = Intervals(*(values[:, places] for values in found[name]))
        own = own._replace(estimate=estimates_of(summary_of(of), names))
        if of.of_result:
            means = None
            if of.per_sequence:
                of_means = macro(of, names, confidence)
                means = with_reasons(of_means, of, names, group.tau, n_sequences, are_means=True)
            table = result_table(of, names, n_sequences, own, means)
        else:
            table = metric_table(of, names, n_sequences, own)
        tables.append(table.assign(name=name)[["name", *table]])
    return pd.concat(tables, ignore_index=True)


def _with_places(
    board: pd.DataFrame, group: Group, pairs: pd.DataFrame, found: Mapping[str, Intervals], confidence: float
) -> pd.DataFrame:
    """Adds to a leaderboard the intervals of the ranking metrics, and whether the first differs from the next row's."""
    names = board["name"].tolist()
    ranking = group.sums[names[0]].metrics.ranking
    apart = _apart(names, _of_group(pairs, group.labels), ranking[0], confidence)
    return with_bounds(board, ranking, found).assign(apart_from_next=apart)


def _of_group(pairs: pd.DataFrame, labels: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of combined numbers of a group."""
    kept = pairs["aggregate"] == "combined" if "aggregate" in pairs else pd.Series(True, index=pairs.index)
    for name, value in labels.items():
        kept &= pairs[name] == pd.Series(value).iloc[0]
    return pairs[kept]


def _apart(names: Sequence[str], pairs: pd.DataFrame, metric: str, confidence: float) -> pd.Series:
    """Whether the metric of each submission differs from that of the next; null where the two were not compared."""
    rows = pairs[pairs["metric"] == metric].dropna(subset="p_adjusted")
    p_adjusted = {frozenset((a, b)): p for a, b, p in zip(rows["a"], rows["b"], rows["p_adjusted"], strict=True)}
    to_next = [p_adjusted.get(frozenset(pair)) for pair in zip(names, [*names[1:], None], strict=True)]
    return pd.Series([None if p is None else p <= 1 - confidence for p in to_next], dtype="boolean")
