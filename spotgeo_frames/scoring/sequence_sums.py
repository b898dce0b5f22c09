"""Sums: what groups of the rows of each sequence add up to, and the metrics that follow from that.

Match tables, tracks, poses, batches and parts of datasets all become `Sums`. These add up, are grouped more coarsely,
lose a group of sequences, become a table and come back, and give every metric of their `MetricSet`. Average precision
does not follow from added sums, so its rows are groups of sequences that say how often each of them counts, and its
metrics come from the ranked detections of the frames that count. `Evaluable` is whatever becomes `Sums`; other rooms
register their results.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Hashable, Iterable, Mapping, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..support import InputError, arrays
from ..tables import By, Columns, joined, schema, selections

if TYPE_CHECKING:
    import pandas as pd

    from .registry import Metric

# Sums by name, arrays of one leading shape: a value for each row, and where a sum is of thresholds, for each of these.
NamedSums = Mapping[str, np.ndarray]

# The sums of the rows of match tables.
SUMS = ["tp", "fn", "fp", "squared_error", "near", "near_squared"]


def assignment_of(names: Container[Any]) -> str:
    """The assignment that the names of sums or of metrics tell: "least", which alone has GOSPA, or else "most"."""
    return "least" if "gospa" in names else "most"


def share(part: np.ndarray, whole: np.ndarray, nothing: float = np.nan) -> np.ndarray:
    """Divides part by whole; returns `nothing` where the whole is 0."""
    quotient = np.full(np.broadcast(part, whole).shape, nothing)
    np.divide(part, whole, out=quotient, where=whole != 0)
    return quotient


def run_sums(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Sums the values (N,) of each group; returns (n_groups,).

    Neighbouring rows of one group are summed first, because sorted tables have many of them and this is faster.
    """
    if n_groups == 1 and len(values):
        return np.add.reduceat(values, [0])
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(group), 1), bool), group[1:] != group[:-1]]))
    return arrays.added_at(group[starts], np.add.reduceat(values, starts), n_groups)


def added(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Adds the rows of values (N, ...) by their group, in order: float64 (n_groups, ...)."""
    flat = values.reshape(len(values), int(np.prod(values.shape[1:], dtype=np.int64)))
    sums = [arrays.added_at(group, column, n_groups) for column in flat.T]
    return np.stack(sums, axis=-1).reshape(n_groups, *values.shape[1:]) if sums else np.zeros((n_groups, 0))


def added_rows(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """The same, several times as fast for one group, whose values may be added in another order."""
    if n_groups != 1:
        return added(values, group, n_groups)
    flat = values.reshape(len(values), int(np.prod(values.shape[1:], dtype=np.int64)))
    # BLAS would add in an order that the processor decides.
    return np.einsum("ij->j", flat, dtype=np.float64).reshape(1, *values.shape[1:])


def total_rows(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """The same, of the data type of the values, and for one group as `with_total` adds."""
    if n_groups == 1:
        return np.ascontiguousarray(values).sum(axis=0, keepdims=True)
    return added(values, group, n_groups).astype(values.dtype)


def with_total(values: np.ndarray) -> np.ndarray:
    """Appends a row with the total of all rows of values (N, ...), which become (N + 1, ...)."""
    # Sums are rounded by the order in which memory holds them, so it is the same whatever they are made of.
    ordered = np.ascontiguousarray(values)
    return np.concatenate([ordered, ordered.sum(axis=0, keepdims=True)])


def each_left_out(
    values: NamedSums, group: np.ndarray, n_groups: int, rows: np.ndarray | slice = slice(None)
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The sums of each group, (n_groups, ...), and those of the group of each row without that row, (rows, ...)."""
    totals = {name: added_rows(of, group, n_groups) for name, of in values.items()}
    return totals, {name: totals[name][group[rows]] - of[rows] for name, of in values.items()}


def row_at(values: Mapping[str, Any], rows: np.ndarray) -> dict[str, Any]:
    """The rows of each array at these positions."""
    return {name: of[rows] for name, of in values.items()}


def unknown_outcomes(rows: Mapping[int, tuple[int, int]]) -> set[int]:
    """The outcomes of which no row belongs to a slice, from the counts of all rows and of those that do not."""
    return {outcome for outcome, (n_rows, n_null) in rows.items() if n_rows and n_null == n_rows}


class MetricSet(NamedTuple):
    """The metrics of one kind of result.

    Attributes
    ----------
    entries
        The entries of all metrics, by name.
    ranking
        The metrics that order a leaderboard: the first, then those that decide between equals.
    default
        The metrics that intervals and comparisons have where none are named.
    compute
        A function from sums (arrays of one leading shape, by name) and names of metrics to these metrics, by name, in
        that shape.
    counted
        A function from sums to how much there is to count. Where that is 0, the metrics of a resample are null.
    curves
        The same as `compute`, but of metrics that are means, such as HOTA over alpha, the K numbers that they are the
        mean of, (..., K); of others (..., 1). Nulls are left out of the mean. None where no metric is a mean.
    lost
        Of average precision, the categories of which some weighting left no truth, which made numbers null.
    again
        A function and its arguments that make the same set in another process, where sums go to others.
    """

    entries: Mapping[str, Metric]
    ranking: Sequence[str]
    default: Sequence[str]
    compute: Callable[[NamedSums, Sequence[str]], Mapping[str, np.ndarray]]
    counted: Callable[[NamedSums], np.ndarray]
    curves: Callable[[NamedSums, Sequence[str]], Mapping[str, np.ndarray]] | None = None
    lost: Collection[Any] = ()
    again: tuple[Callable[..., MetricSet], tuple[Any, ...]] | None = None

    def numbers(self, sums: NamedSums, names: Sequence[str]) -> np.ndarray:
        """The named metrics (..., metrics) of sums by name; null where there is nothing to count."""
        values = np.stack(list(self.compute(sums, names).values()), axis=-1).astype(np.float64)
        values[self.counted(sums) == 0] = np.nan
        return values

    def __reduce__(self) -> Any:
        return self.again or (MetricSet, tuple(self))


class PerSequence(NamedTuple):
    """The metrics of S sequences, each by itself and within one group.

    Attributes
    ----------
    row
        The row of the sums that each is part of, (S,).
    sequence
        The name of each, (S,).
    values
        The metrics by name, (S,) each, as in the rows of the sequences.
    """

    row: np.ndarray
    sequence: Any
    values: Mapping[str, np.ndarray]


class Sums(NamedTuple):
    """What C rows add up to, each one group of the rows of one sequence, and the metrics that follow.

    Attributes
    ----------
    metrics
        The metrics, and how they follow from sums.
    labels
        One row for each of G groups, sorted: its values in the columns that were grouped by. There are no columns where
        everything is one group.
    group, sequence
        The group of each row (C,), rising, and the name of its sequence (C,); None where sequences are added up.
    values
        The sums by name, each (C, ...).
    attrs
        The notes of what was evaluated: how it was made, and how many crowds it left out.
    rows
        For FP and for FN, the count of all rows and the count of rows that are null in a column to group by, or that
        such a column knows nothing of. Rows that `dropna` left out are counted, too. Where the two counts are equal, no
        row of this outcome belongs to a slice, so metrics that need the outcome are null. Empty where nothing is
        grouped.
    by_similarity
        Whether matching was by similarity; such tables have no errors in px².
    own_metrics
        The own metrics whose sums are among the values, as METRIC.SUM.
    lacking
        The own metrics that were asked for and are left out, each with what it asks for that the table lacks.
    texts
        The texts of warnings: about the rows of a match table and what they are grouped by, or that the predictions of
        an average precision share no value of a column with the truths.
    summary
        The table that `summarize` returns, the labels and metrics of each group, where it does not follow from these
        rows: of tracks, poses, average precision and clusters.
    per_sequence
        Of tracks and poses, the metrics of each sequence by itself.
    sizes
        Of average precision, whose rows are groups of sequences, how many sequences each has, (C,).
    in_clusters
        Whether rows may be several sequences, which are left out together.
    """

    metrics: MetricSet
    labels: Columns
    group: np.ndarray
    sequence: Any
    values: dict[str, np.ndarray]
    attrs: dict[Hashable, Any]
    rows: Mapping[int, tuple[int, int]] = {}
    by_similarity: bool = True
    own_metrics: Sequence[str] = ()
    lacking: Mapping[str, str] = {}
    texts: Sequence[str] = ()
    summary: pd.DataFrame | None = None
    per_sequence: PerSequence | None = None
    sizes: np.ndarray | None = None
    in_clusters: bool = False

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.labels)

    @property
    def n_sequences(self) -> np.ndarray:
        """How many sequences each group has, (G,)."""
        return arrays.added_at(self.group, self.sizes, self.n_groups).astype(np.int64)

    @property
    def in_groups(self) -> bool:
        """Whether rows are groups of sequences, as of average precision, and say how often each of them counts."""
        return self.sizes is not None

    @property
    def assignment(self) -> str:
        """The assignment that the sums tell."""
        return assignment_of(self.values)

    @property
    def of_result(self) -> bool:
        """Whether this is of a result, whose combined numbers are one of several kinds, and not of a match table."""
        return self.per_sequence is not None or self.in_groups

    @property
    def unknown(self) -> set[int]:
        """The outcomes of which no row belongs to a slice."""
        return unknown_outcomes(self.rows)

    def take(self, rows: np.ndarray) -> Sums:
        """The sums of these rows, without what is known of whole groups; the groups stay."""
        sequence = None if self.sequence is None else self.sequence.take(rows)
        sizes = None if self.sizes is None else self.sizes[rows]
        values, alone = row_at(self.values, rows), self.per_sequence
        if alone is not None:
            place = np.full(len(self.group), -1)
            place[rows] = np.arange(len(rows))
            kept = np.flatnonzero(place[alone.row] >= 0)
            alone = PerSequence(place[alone.row[kept]], alone.sequence.take(kept), row_at(alone.values, kept))
        return self._replace(group=self.group[rows], sequence=sequence, values=values, sizes=sizes, per_sequence=alone)

    def of_group(self, position: int) -> Sums:
        """The sums of one group alone."""
        rows, summary = np.flatnonzero(self.group == position), self.summary
        if summary is not None:
            summary = summary.drop(columns=self.labels.columns).iloc[[position]].reset_index(drop=True)
        alone = self.take(rows)
        return alone._replace(labels=Columns({}, n_rows=1), group=np.zeros(len(rows), np.int64), summary=summary)

    def totals(self) -> dict[str, np.ndarray]:
        """The sums of each group, (G, ...)."""
        return {name: added_rows(rows, self.group, self.n_groups) for name, rows in self.values.items()}

    def without_each(self, rows: np.ndarray | slice = slice(None)) -> tuple[NamedSums, NamedSums]:
        """The sums of each group, (G, ...), and those of the group of each row without that row, (rows, ...)."""
        return each_left_out(self.values, self.group, self.n_groups, rows)

    def joined(self, row: np.ndarray, first: np.ndarray, sequence: Any) -> Sums:
        """The sums in fewer rows, such as one for each cluster of sequences.

        `row` is the new row of each, `first` the first of each new one, and `sequence` the name of that.
        """
        alone = self.per_sequence and self.per_sequence._replace(row=row[self.per_sequence.row])
        values = {name: added_rows(rows, row, len(first)) for name, rows in self.values.items()}
        return self._replace(group=self.group[first], sequence=sequence, values=values, per_sequence=alone)


def add_sums(parts: Sequence[Sums]) -> Sums:
    """The sums of one or more tables that share no sequence and were grouped by the same columns, a row a group.

    Rows with equal labels are added in the order of the parts. The counts of crowds in the notes are added, too. Sums
    of own metrics stay only if all parts have them.
    """
    first = parts[0]
    n_rows = sum(len(part.labels) for part in parts)
    labels = Columns({name: joined([part.labels[name] for part in parts]) for name in first.labels}, n_rows=n_rows)
    of_row, of_group = selections.number_groups(labels.arrays, n_rows)
    labels = labels.take(of_group) if labels.columns else Columns({}, n_rows=1)
    # Counts are whole numbers far below 2**53, so float64 adds them exactly.
    values = {
        name: added(np.concatenate([part.values[name] for part in parts]), of_row, len(labels)).astype(rows.dtype)
        for name, rows in first.values.items()
        if all(name in part.values for part in parts)
    }
    rows = {
        outcome: (sum(part.rows[outcome][0] for part in parts), sum(part.rows[outcome][1] for part in parts))
        for outcome in first.rows
    }
    counted = [name for name in schema.COUNTS_NOTED if any(name in part.attrs for part in parts)]
    notes = first.attrs | {name: sum(part.attrs.get(name, 0) for part in parts) for name in counted}
    lacking = {name: text for part in reversed(parts) for name, text in part.lacking.items()}
    group = np.arange(len(labels))
    return first._replace(labels=labels, group=group, values=values, rows=rows, attrs=notes, lacking=lacking)


class Evaluable(NamedTuple):
    """What becomes sums by groups: a table with a column `sequence`, and its match table.

    `evaluate` makes the Sums of the table, or of rows of it: it takes the table, `by`, and the names of the own metrics
    that are needed. It raises InputError where `by` does not fit the table or an own metric fails. `by` may name
    `columns`; messages say `called` for the table.

    Of average precision, rows of sums are groups of sequences (`in_groups`), so `evaluate` also takes `units`, a Series
    that says for each sequence, by name, with which others it is left out. It knows no Series in `by`.
    """

    table: pd.DataFrame
    matches: pd.DataFrame
    evaluate: Callable[..., Sums]
    columns: Sequence[Hashable]
    called: str = "match table"
    in_groups: bool = False

    def without(self, exclude: Sequence[int | str] | None) -> Evaluable:
        """The same without excluded sequences, which were checked; None leaves all in."""
        table = selections.without_sequences(self.table, exclude)
        matches = table if self.matches is self.table else selections.without_sequences(self.matches, exclude)
        return self._replace(table=table, matches=matches)


@singledispatch
def evaluable(x: Any, name: str) -> Evaluable:
    """The table behind a match table, or behind a result that registered how; messages begin with `name`.

    Raises InputError if it is neither.
    """
    from ..tables import checks
    from .match_sums import known_match_sums

    table = checks.check_matches(x, name, by_groups=True)
    return Evaluable(table, table, known_match_sums, list(table))


def is_result(x: Any) -> bool:
    """Whether this is a result that registered how it is taken apart."""
    return evaluable.dispatch(type(x)) is not evaluable.dispatch(object)


def match_table_of(x: Any, name: str) -> Any:
    """The match table behind what `track` or `pose` returned; anything else is returned as it is.

    Raises InputError, which begins with `name`, of average precision, which has a match table for each threshold.
    """
    if not is_result(x):
        return x
    of = evaluable(x, name)
    if of.in_groups:
        raise InputError(f"{name}: is of average precision, which has pairs for each threshold; give a match table")
    return of.matches


def summary_of_result(
    x: Any, by: By | None, exclude: Iterable[int] | Iterable[str] | None
) -> tuple[pd.DataFrame, list[str]]:
    """The table that `summarize` returns of a result, and the texts of warnings."""
    of = evaluable(x, "summarize: matches")
    left_out, unknown = selections.excluded_sequences(exclude, [of.table])
    sums = of.evaluate(selections.without_sequences(of.table, left_out), by, ())
    assert sums.summary is not None  # those of results have one
    return sums.summary, [*filter(None, [unknown]), *sums.texts]


def texts_of(several: Mapping[str, Sums]) -> list[str]:
    """The texts of warnings about match tables, each once, with the name of the first that it is about."""
    about = {text: name for name, of in reversed([*several.items()]) for text in of.texts}
    return [f"{name}: {text}" for text, name in about.items()]
