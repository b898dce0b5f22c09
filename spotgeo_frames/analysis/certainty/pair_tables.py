"""The differences of pairs of submissions with their tests, as `compare` and `non_inferiority` need them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...scoring import MetricSet, NamedSums, PerSequence, Sums, summary_of
from ...support import pandas_tables
from .estimates import functions_of, functions_of_means, linear, per_sequence, rows_of_means
from .interval_tables import MOST_LEFT_OUT
from .left_out_pairs import PairTests, left_out_of, none_of, pair_tests
from .reasons import NOT_DEFINED_FOR_ONE, NOT_OF_ALL, OF_THE_REST, lost_text, of_too_few, without_interval
from .resampling import aligned_sums, only_used
from .submissions import labelled
from .swaps import Curves, holm, swap_tests

# The numbers of a row of pairs.
NUMBERS = ["estimate", "low", "high", "p_value", "p_adjusted"]


class Group(NamedTuple):
    """What is compared within one group.

    Attributes
    ----------
    labels
        Its labels, each an array of one value.
    sums
        Those of the submissions, by name.
    pairs
        Pairs of their names.
    tau
        That of the match tables (px); null if it is not known.
    same
        The pairs of names that have the same rows, and are one detector as far as anybody can see.
    """

    labels: Mapping[str, Any]
    sums: Mapping[str, Sums]
    pairs: Sequence[tuple[str, str]]
    tau: float = np.nan
    same: Collection[frozenset[str]] = ()


def pair_table(
    groups: Sequence[Group],
    metrics: Sequence[str],
    resamples: int,
    confidence: float,
    seed: int,
    *,
    without_each: bool = False,
) -> pd.DataFrame:
    """One row for each group, pair and metric; all p-values are adjusted together.

    Of results, also the differences `without_each` sequence.
    """
    tests = _swapped(groups, metrics, resamples, confidence, seed)
    first = next(iter(groups[0].sums.values()))
    is_result, has_means = first.of_result, first.per_sequence is not None
    of_means = _of_means(groups, metrics, confidence) if has_means else tests
    pairs = [(group, frozenset(pair) in group.same) for group in groups for pair in group.pairs]
    for text, marked in without_interval(first.metrics, metrics):
        tests, of_means = (
            [of if is_same else _untold(of, text, marked) for of, (_, is_same) in zip(several, pairs, strict=True)]
            for several in (tests, of_means)
        )
    tests = [
        of if is_same else _with_enough(of, first.metrics, metrics, n_units(group))
        for of, (group, is_same) in zip(tests, pairs, strict=True)
    ]
    parts, at = [], 0
    for group in groups:
        rows = range(at, at + len(group.pairs))
        tables = [
            _rows(pair, metrics, {"aggregate": "combined"} if is_result else {}, tests[row])
            for pair, row in zip(group.pairs, rows, strict=True)
        ]
        if has_means:
            tables += [
                _rows(pair, metrics, {"aggregate": "macro"}, of_means[row])
                for pair, row in zip(group.pairs, rows, strict=True)
            ]
        if is_result and without_each:
            tables += [table for pair in group.pairs for table in _without(group, pair, metrics)]
        parts.append(labelled(pd.concat(tables, ignore_index=True), group.labels))
        at += len(group.pairs)
    return pandas_tables.with_text(pd.concat(parts, ignore_index=True))


def _with_enough(
    found: Mapping[str, Any], metrics: MetricSet, names: Sequence[str], n_sequences: int
) -> dict[str, Any]:
    """A test without the intervals of metrics that need more sequences; p-values of swaps hold for any count."""
    answer = dict(found)
    for marked, text in of_too_few(metrics, names, np.array(n_sequences)):
        bounds = {name: np.where(marked, np.nan, answer[name]) for name in ("low", "high")}
        told = zip(marked, found["estimate"], answer["reason"], strict=True)
        answer |= bounds | {"reason": [text if of and not np.isnan(value) else old for of, value, old in told]}
    return answer


def _untold(found: Mapping[str, Any], text: str, marked: np.ndarray) -> dict[str, Any]:
    """A test in which the marked metrics have their difference alone, and this reason."""
    numbers = {name: np.where(marked, np.nan, found[name]) for name in NUMBERS if name != "estimate"}
    reasons = [text if is_marked else told for is_marked, told in zip(marked, found["reason"], strict=True)]
    return {**found, **numbers, "reason": reasons}


def _rows(
    pair: tuple[str, str], metrics: Sequence[str], of: Mapping[str, str], found: Mapping[str, Any]
) -> pd.DataFrame:
    """One row for each metric of a pair, from numbers and reasons (metrics,) by name."""
    texts = {"a": pair[0], "b": pair[1], **of}
    columns = {name: pd.array([text] * len(metrics), dtype=pandas_tables.TEXT) for name, text in texts.items()}
    numbers = {name: found[name] for name in NUMBERS}
    reasons = {"reason": pd.array(found["reason"], dtype=pandas_tables.TEXT)}
    return pd.DataFrame({**columns, "metric": pd.array(list(metrics), dtype=pandas_tables.TEXT), **numbers, **reasons})


def _swapped(
    groups: Sequence[Group], metrics: Sequence[str], resamples: int, confidence: float, seed: int
) -> list[dict[str, Any]]:
    """The swap tests of each pair of each group in turn: numbers and reasons (metrics,) by name."""
    sides = {(at, name): linear(of, metrics) for at, group in enumerate(groups) for name, of in group.sums.items()}
    place = {key: position for position, key in enumerate(sides)}
    pairs = [(place[at, a], place[at, b]) for at, group in enumerate(groups) for a, b in group.pairs]
    n_sequences = [n_units(group) for group in groups for _ in group.pairs]
    first = next(iter(sides.values()))
    leaving_out = [
        test
        for at, group in enumerate(groups)
        for test in _left_out(group, {name: sides[at, name] for name in group.sums}, metrics, confidence)
    ]
    stacked = PairTests(*(np.stack(column) for column in zip(*leaving_out, strict=True)))
    sums, curves = aligned_sums({f"{key}": of for key, of in sides.items()}), curves_of(first.metrics, metrics)
    sums, curves = only_used(sums, curves, [name for name in metrics if first.metrics.entries[name].sums is not None])
    tests = swap_tests(sums, pairs, np.array(n_sequences), curves, stacked, resamples, seed, confidence)
    if first.in_groups:  # it may be known where its pseudo-values are not
        of_sides = [summary_of(of)[list(metrics)].to_numpy(np.float64)[0] for of in sides.values()]
        tests = tests._replace(estimate=np.stack([of_sides[a] - of_sides[b] for a, b in pairs]))
    found = [dict(zip(NUMBERS, values, strict=True)) for values in zip(*tests, strict=True)]
    lost = lost_text({name: None for of in sides.values() for name in of.metrics.lost}) if first.in_groups else None
    return [
        of | {"reason": _reasons(test.reason, of["estimate"], of["low"], lost)}
        for of, test in zip(found, leaving_out, strict=True)
    ]


def _reasons(reasons: np.ndarray, estimate: np.ndarray, low: np.ndarray, lost: str | None) -> list[str | None]:
    """Why bounds (metrics,) are null, also where only all submissions together, or average precision itself, tell."""

    def reason(told: str | None, value: float, bound: float) -> str | None:
        if np.isnan(value):
            return told if told == NOT_DEFINED_FOR_ONE else NOT_OF_ALL
        return (lost if told == NOT_DEFINED_FOR_ONE and lost else told) if np.isnan(bound) else None

    return [reason(*row) for row in zip(reasons, estimate, low, strict=True)]


def _left_out(group: Group, sides: Mapping[str, Sums], metrics: Sequence[str], confidence: float) -> list[PairTests]:
    """The tests of each pair of a group by leaving out sequences."""
    sums = aligned_sums(sides)
    of_sides = {
        name: left_out_of(sums.named(sums.values[:, at]), functions_of(of, metrics, group.tau))
        for at, (name, of) in enumerate(sides.items())
    }
    found = [(pair, pair_tests(of_sides[pair[0]], of_sides[pair[1]], confidence)) for pair in group.pairs]
    return [none_of(test) if frozenset(pair) in group.same else test for pair, test in found]


def n_units(group: Group) -> int:
    """How many sequences any submission of the group has, or groups of sequences that are left out together."""
    together = [pd.Index(of.sequence) for of in group.sums.values()]
    return len(pd.concat([index.to_series() for index in together]).drop_duplicates())


def curves_of(metrics: MetricSet, names: Sequence[str]) -> Curves:
    """The named metrics as a function of sums, (..., K) each; null where there is nothing to count."""

    def curves(sums: NamedSums) -> list[np.ndarray]:
        if metrics.curves is None:
            found = {name: values[..., None] for name, values in metrics.compute(sums, names).items()}
        else:
            found = dict(metrics.curves(sums, names))
        nothing = metrics.counted(sums)[..., None] == 0
        return [np.where(nothing, np.nan, found[name]) for name in names]

    return curves


def _of_means(groups: Sequence[Group], metrics: Sequence[str], confidence: float) -> list[dict[str, Any]]:
    """The tests of the means over sequences of each pair in turn: numbers and reasons (metrics,) by name."""
    found = [_of_mean(group, pair, metrics, confidence) for group in groups for pair in group.pairs]
    adjusted = holm(np.concatenate([of.p_value for of in found])).reshape(len(found), -1)
    return [of._asdict() | {"p_adjusted": p_adjusted} for of, p_adjusted in zip(found, adjusted, strict=True)]


def _of_mean(group: Group, pair: tuple[str, str], metrics: Sequence[str], confidence: float) -> PairTests:
    """The test of a pair's means over the sequences of which both know the metric."""
    sides = [group.sums[name] for name in pair]
    entries = [sides[0].metrics.entries[name] for name in metrics]
    functions = functions_of_means(*(np.array([getattr(entry, end) for entry in entries]) for end in ("low", "high")))
    a, b = map(per_sequence, sides)
    at = pd.Index(b.sequence).get_indexer(pd.Index(a.sequence))
    both = np.flatnonzero(at >= 0)
    values = [
        {name: np.asarray(of.values[name], np.float64)[rows] for name in metrics}
        for of, rows in ((a, both), (b, at[both]))
    ]
    known = {name: ~(np.isnan(values[0][name]) | np.isnan(values[1][name])) for name in metrics}
    shared = [
        PerSequence(a.row[both], None, {name: np.where(known[name], of[name], np.nan) for name in metrics})
        for of in values
    ]
    means = [left_out_of(rows_of_means(of, metrics, len(sides[0].sequence)), functions) for of in shared]
    found = pair_tests(means[0], means[1], confidence, is_alone=True)
    return none_of(found) if frozenset(pair) in group.same else found


def _without(group: Group, pair: tuple[str, str], metrics: Sequence[str]) -> list[pd.DataFrame]:
    """The differences of the combined numbers without each sequence, or cluster, if they are not too many."""
    a, b = (group.sums[name] for name in pair)
    if not 1 < len(a.sequence) <= MOST_LEFT_OUT:
        return []
    sums = aligned_sums({"a": a, "b": b})
    without = sums.values.sum(axis=0) - sums.values
    left = [of.metrics.numbers(sums.named(without[:, at]), metrics) for at, of in enumerate((a, b))]
    names = np.sort(np.asarray(a.sequence))
    unknown: dict[str, Any] = dict.fromkeys(NUMBERS, np.full(len(metrics), np.nan))
    unknown |= {"reason": [OF_THE_REST] * len(metrics)}
    return [
        _rows(pair, metrics, {"aggregate": f"without {name}"}, unknown | {"estimate": of[0] - of[1]})
        for name, *of in zip(names, *left, strict=False)
    ]
