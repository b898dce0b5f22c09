"""compare(): whether one submission is better than another by more than chance.

Submissions are compared on the same sequences, because a sequence that is hard for one submission is usually hard for
the others. p-values and intervals come from one test: swapping what two submissions made of whole sequences (see
`swaps.py`). Where the two are exchangeable, the p-values are exact; where they are only equal in the metric, nearly
(docs/uncertainty.md says how nearly, and where not).
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..scoring.ap.result import AveragePrecision
from ..scoring.few_sequences import FEW_SEQUENCES, LITTLE_KNOWN, OF_FEW
from ..scoring.own_metrics import lacking_text
from ..scoring.ranking import ranked
from ..scoring.registry import Metric, own_metrics
from ..support.named_tables import as_html, as_text, headline
from ..support.pandas_versions import with_text
from ..tables.kinds import CALLER, same_kind_as
from ..tables.selections import By
from ..tables.table import Table
from .estimates import combined, linear
from .interval_tables import QUESTION, lost_text
from .pair_tables import Group, n_cells, pair_table
from .resampling import (
    BLUR,
    aligned_sums,
    check_metrics,
    check_options,
    metrics_of,
    names_of,
    only_used,
    resampled_sums,
)
from .submissions import groups_of, labelled, submissions
from .uncertainty import FEWEST_COMBINED


class Comparison(NamedTuple):
    """The result of `compare`: two DataFrames.

    Attributes
    ----------
    leaderboard
        One row for each submission, best first, with its metrics and the intervals of those that rank it.
    pairs
        One row for each pair of submissions and metric, with the difference, its interval and its p-values.

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

    def __repr__(self) -> str:
        return as_text(self, self._headline())

    def _repr_html_(self) -> str | None:
        return as_html(self, self._headline())

    def _headline(self) -> list[str]:
        return headline(self.leaderboard, ["rank", "name", "HOTA", "AP", "AP50", "AP75", "f1", "kelvins_mse"])


@same_kind_as("matches")
def compare(
    matches: Mapping[str, Table | NamedTuple | AveragePrecision],
    metrics: str | Sequence[str] | None = None,
    by: By | None = None,
    baseline: str | None = None,
    exclude: Iterable[int] | Iterable[str] | None = None,
    cluster: str | None = None,
    seed: int = 0,
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
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
        How often sequences are swapped, and drawn for `bootstrap_share_first`; at least 1. Up to 12 sequences are
        swapped in all ways there are.
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

    leaderboard: one row for each submission, by highest f1, then lowest kelvins_mse (tracks and poses by HOTA, average
        precision by AP): `rank`, `name`, the metrics that `summarize` computes, `f1_low`, `f1_high`, `kelvins_mse_low`
        and `kelvins_mse_high` (the jackknife intervals of `intervals`), then `bootstrap_share_first`, the share of
        resamples of the sequences in which the submission is first (equals share the place; null if there is only one
        sequence; no probability that it is best), and `apart_from_next`, whether its f1 differs from the f1 of the next
        row (p_adjusted below 1 - confidence; null in the last row, and where the two were not compared).
    pairs: one row for each pair and metric: `a`, `b` (the baseline, or the lower-ranked of the two), `metric`,
        `estimate` (the metric of `a` minus that of `b`), `low` and `high`, the differences that the test does not
        reject, `p_value` of a two-sided test that swaps the sequences of both (studentised: Janssen, 1997,
        doi:10.1016/S0167-7152(97)00043-6; Chung and Romano, 2013, doi:10.1214/13-AOS1090; never below that of a t test
        with the jackknife's standard error), and `p_adjusted` over all pairs and metrics (max-T of Westfall and Young,
        1993). The interval excludes 0 just where p_value is at most 1 - confidence. `low` and `high` are null below six
        sequences, whose p-values cannot be below 0.05. All are null where the metric is undefined. Tracks and poses
        have a column `of`, as in `intervals`: "combined", "macro" (a paired t test of the sequences' own values,
        adjusted by Holm's method) and, up to 20 sequences, "without NAME", the difference alone. Average precision has
        no "macro"; the jackknife's pseudo-values of up to 100 groups of sequences (Tukey, 1958) are swapped.

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
    metrics = names_of(metrics)
    evaluations, taus, unknown = submissions(matches, baseline, exclude, by, cluster, own_metrics())
    names = check_metrics(metrics, [*evaluations.values()])
    groups, boards = [], []
    texts = [unknown, lacking_text(of.lacking for of in evaluations.values())]
    for labels, of_group in groups_of(evaluations):
        board, about_rows = ranked(of_group, "compare")
        groups.append(Group(labels, of_group, _pairs(board["name"].tolist(), baseline)))
        boards.append(board)
        texts += about_rows
    pairs = pair_table(groups, names, resamples, confidence, seed)
    tables = [
        labelled(_with_intervals(board, group, taus, pairs, resamples, confidence, seed), group.labels)
        for board, group in zip(boards, groups, strict=True)
    ]
    answer = Comparison(with_text(pd.concat(tables, ignore_index=True)), pairs)
    options = {"resamples": resamples, "confidence": confidence, "seed": seed}
    notes = boards[0].attrs | {"question": QUESTION} | options
    for table in answer:
        table.attrs = notes
    lost = {category: None for group in groups for of in group.evaluations.values() for category in of.family.lost}
    texts += [f"null intervals and p-values: {lost_text(lost)}"] if lost and pairs["p_value"].isna().any() else []
    for text in dict.fromkeys(filter(None, [*texts, *warning_texts(groups, confidence)])):
        warnings.warn(f"compare: {text}", stacklevel=CALLER)
    return answer


def warning_texts(groups: Sequence[Group], confidence: float) -> list[str]:
    """The text of a warning if groups have few sequences."""
    counts = [n_cells(group) for group in groups]
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


def _with_intervals(
    board: pd.DataFrame,
    group: Group,
    taus: Mapping[str, float],
    pairs: pd.DataFrame,
    resamples: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Adds to a leaderboard the intervals of the ranking metrics, and how sure the first places are."""
    names = board["name"].tolist()
    evaluations = {name: group.evaluations[name] for name in names}
    family = evaluations[names[0]].family
    linearised = {name: linear(of, family.ranking) for name, of in evaluations.items()}
    sums, family_of_sums = aligned_sums(linearised), linearised[names[0]].family
    n_sequences = n_cells(group)
    known = n_sequences >= (FEWEST_COMBINED if evaluations[names[0]].of_result else 2)
    found = [combined(of, family.ranking, taus[name], confidence) for name, of in evaluations.items()]
    columns: dict[str, Any] = {}
    for metric, name in enumerate(family.ranking):
        for bound in ("low", "high"):
            values = np.array([getattr(of, bound)[0, metric] for of in found])
            columns[f"{name}_{bound}"] = np.where(known, values, np.nan)
    used, metrics_from = only_used(sums, lambda of: [metrics_of(of, family.ranking, family_of_sums)])
    [samples] = metrics_from(used.named(resampled_sums(used.values, resamples, seed)))
    shares = _shares_first(samples, [family.metrics[name] for name in family.ranking])
    columns["bootstrap_share_first"] = np.where(n_sequences > 1, shares, np.nan)
    columns["apart_from_next"] = _apart(names, _of_group(pairs, group.labels), family.ranking[0], confidence)
    return board.assign(**columns)  # which keeps the notes in attrs


def _of_group(pairs: pd.DataFrame, labels: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of combined numbers of a group."""
    kept = pairs["of"] == "combined" if "of" in pairs else pd.Series(True, index=pairs.index)
    for name, value in labels.items():
        kept &= pairs[name] == pd.Series(value).iloc[0]
    return pairs[kept]


def _shares_first(samples: np.ndarray, ranking: Sequence[Metric]) -> np.ndarray:
    """The share of resamples in which each submission is first, from (resamples, submissions, metrics)."""
    ahead = np.zeros((*samples.shape[:2], samples.shape[1]), np.int64)  # of each by each other: 1, 0 or -1
    for metric, entry in enumerate(ranking):
        values = samples[..., metric]
        better = np.nan_to_num(values if entry.higher_is_better else -values, nan=-1.0)
        gap = better[..., None, :] - better[..., None]
        tied = np.abs(gap) <= BLUR * np.maximum(1.0, np.abs(better[..., None]))
        ahead = np.where(ahead == 0, np.where(tied, 0, np.sign(gap)), ahead)
    return (~(ahead > 0).any(axis=2)).mean(axis=0)


def _apart(names: Sequence[str], pairs: pd.DataFrame, metric: str, confidence: float) -> pd.Series:
    """Whether the metric of each submission differs from that of the next; null where the two were not compared."""
    rows = pairs[pairs["metric"] == metric].dropna(subset="p_adjusted")
    p_adjusted = {frozenset((a, b)): p for a, b, p in zip(rows["a"], rows["b"], rows["p_adjusted"], strict=True)}
    to_next = [p_adjusted.get(frozenset(pair)) for pair in zip(names, [*names[1:], None], strict=True)]
    return pd.Series([None if p is None else p < 1 - confidence for p in to_next], dtype="boolean")
