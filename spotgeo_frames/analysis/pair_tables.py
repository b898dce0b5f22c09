"""The differences of pairs of submissions with their tests, as `compare` and `non_inferiority` need them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..scoring.evaluations import Evaluation, Family
from ..scoring.match_sums import NamedSums
from ..support.pandas_versions import TEXT, with_text
from .estimates import linear, means, singles_of, totals_among, values_of
from .interval_tables import MOST_LEFT_OUT
from .resampling import BLUR, aligned_sums, metrics_of, only_used
from .submissions import labelled
from .swaps import Curves, swap_tests

# The numbers of a row of pairs.
NUMBERS = ["estimate", "low", "high", "p_value", "p_adjusted"]


class Group(NamedTuple):
    """What is compared within one group: its labels, each an array of one value; submissions; and pairs of names."""

    labels: Mapping[str, Any]
    evaluations: Mapping[str, Evaluation]
    pairs: Sequence[tuple[str, str]]


def pair_table(
    groups: Sequence[Group], metrics: Sequence[str], resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """One row for each group, pair and metric; all p-values are adjusted together."""
    tests = _swapped(groups, metrics, resamples, confidence, seed)
    first = next(iter(groups[0].evaluations.values()))
    is_result, has_means = first.of_result, first.singles is not None
    of_means = paired_t(groups, metrics, confidence) if has_means else tests
    parts, at = [], 0
    for group in groups:
        rows = range(at, at + len(group.pairs))
        tables = [
            _rows(pair, metrics, {"of": "combined"} if is_result else {}, tests[row])
            for pair, row in zip(group.pairs, rows, strict=True)
        ]
        if has_means:
            tables += [
                _rows(pair, metrics, {"of": "macro"}, of_means[row])
                for pair, row in zip(group.pairs, rows, strict=True)
            ]
        if is_result:
            tables += [table for pair in group.pairs for table in _without(group, pair, metrics)]
        parts.append(labelled(pd.concat(tables, ignore_index=True), group.labels))
        at += len(group.pairs)
    return with_text(pd.concat(parts, ignore_index=True))


def _rows(
    pair: tuple[str, str], metrics: Sequence[str], of: Mapping[str, str], numbers: Mapping[str, np.ndarray]
) -> pd.DataFrame:
    """One row for each metric of a pair, from numbers (metrics,) by name."""
    texts = {"a": pair[0], "b": pair[1], **of}
    columns = {name: pd.array([text] * len(metrics), dtype=TEXT) for name, text in texts.items()}
    return pd.DataFrame({**columns, "metric": pd.array(list(metrics), dtype=TEXT), **numbers})


def _swapped(
    groups: Sequence[Group], metrics: Sequence[str], resamples: int, confidence: float, seed: int
) -> list[dict[str, np.ndarray]]:
    """The swap tests of each pair of each group in turn: the numbers (metrics,) by name."""
    sides = {
        (at, name): linear(of, metrics) for at, group in enumerate(groups) for name, of in group.evaluations.items()
    }
    place = {key: position for position, key in enumerate(sides)}
    pairs = [(place[at, a], place[at, b]) for at, group in enumerate(groups) for a, b in group.pairs]
    n_sequences = [n_cells(group) for group in groups for _ in group.pairs]
    first = next(iter(sides.values()))
    family = first.family
    sums, curves = aligned_sums({f"{key}": of for key, of in sides.items()}), curves_of(family, metrics)
    sums, curves = only_used(sums, curves, [name for name in metrics if family.metrics[name].sums is not None])
    totals = totals_among(metrics, first)
    tests = swap_tests(sums, pairs, np.array(n_sequences), curves, totals, resamples, seed, confidence)
    if first.in_groups:  # it may be known where its pseudo-values are not
        of_sides = [of.summary[list(metrics)].to_numpy(np.float64)[0] for of in sides.values()]
        tests = tests._replace(estimate=np.stack([of_sides[a] - of_sides[b] for a, b in pairs]))
    return [dict(zip(NUMBERS, values, strict=True)) for values in zip(*tests, strict=True)]


def n_cells(group: Group) -> int:
    """How many sequences any submission of the group has, or groups of sequences that are left out together."""
    together = [pd.Index(of.sequence) for of in group.evaluations.values()]
    return len(pd.concat([index.to_series() for index in together]).drop_duplicates())


def curves_of(family: Family, metrics: Sequence[str]) -> Curves:
    """The metrics of the family as a function of sums, (..., K) each; null where there is nothing to count."""

    def curves(sums: NamedSums) -> list[np.ndarray]:
        if family.curves is None:
            return [values[..., None] for values in np.moveaxis(metrics_of(sums, metrics, family), -1, 0)]
        found = family.curves(sums, metrics)
        nothing = family.counted(sums)[..., None] == 0
        return [np.where(nothing, np.nan, found[name]) for name in metrics]

    return curves


def paired_t(groups: Sequence[Group], metrics: Sequence[str], confidence: float) -> list[dict[str, np.ndarray]]:
    """The paired t tests of the mean over sequences of each pair in turn: the numbers (metrics,) by name."""
    found = [_of_means(group, pair, metrics, confidence) for group in groups for pair in group.pairs]
    adjusted = holm(np.concatenate([of["p_value"] for of in found])[:, None]).reshape(len(found), -1)
    return [of | {"p_adjusted": p_adjusted} for of, p_adjusted in zip(found, adjusted, strict=True)]


def _of_means(group: Group, pair: tuple[str, str], metrics: Sequence[str], confidence: float) -> dict[str, np.ndarray]:
    """The paired t test of a pair: the numbers (metrics,) by name.

    Where all sequences differ by the same amount, t knows no error and would be infinite. The p-value is then that of
    the signs of the differences, 2^(1 - n), and nothing is known of the bounds.
    """
    from scipy.special import stdtr  # imported here, because it is slow to import

    a, b = (singles_of(group.evaluations[name]) for name in pair)
    at = pd.Index(b.sequence).get_indexer(pd.Index(a.sequence))
    both = np.flatnonzero(at >= 0)
    of_a, of_b = values_of(a, metrics)[both], values_of(b, metrics)[at[both]]
    apart = np.where(np.abs(of_a - of_b) <= BLUR * np.abs(of_a), 0.0, of_a - of_b)
    n_cells = len(group.evaluations[pair[0]].sequence)
    of_all = means(apart, a.cell[both], np.zeros(n_cells, np.int64), 1, confidence)
    mean, low, high, error, n, _, freedom, _ = (numbers[0] for numbers in of_all)
    with np.errstate(all="ignore"):
        p_value = 2 * stdtr(freedom, -np.abs(mean) / error)
    agree = np.isnan(low)
    p_value = np.where(agree, np.where(mean == 0, 1.0, 2.0 ** (1 - n)), p_value)
    p_value[np.isnan(mean)] = np.nan
    none = agree & (mean == 0) & (n > 1)
    low, high = (np.where(none, 0.0, bound) for bound in (low, high))
    return {"estimate": mean, "low": low, "high": high, "p_value": p_value}


def _without(group: Group, pair: tuple[str, str], metrics: Sequence[str]) -> list[pd.DataFrame]:
    """The differences of the combined numbers without each sequence, or cluster, if they are not too many."""
    a, b = (group.evaluations[name] for name in pair)
    if not 1 < len(a.sequence) <= MOST_LEFT_OUT:
        return []
    sums = aligned_sums({"a": a, "b": b})
    without = sums.values.sum(axis=0) - sums.values
    left = [metrics_of(sums.named(without[:, at]), metrics, of.family) for at, of in enumerate((a, b))]
    names = np.sort(np.asarray(a.sequence))
    unknown = np.full(len(metrics), np.nan)
    return [
        _rows(pair, metrics, {"of": f"without {name}"}, dict.fromkeys(NUMBERS, unknown) | {"estimate": of[0] - of[1]})
        for name, *of in zip(names, *left, strict=False)
    ]


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
