"""What an evaluation adds up to in each sequence, and how its metrics follow from added sums.

Match tables and the results of `track` and `pose` are asked the same questions: `summarize`, `leaderboard`,
`intervals`, `compare`. `asked_table` takes each of them apart into the same `Asked`, which makes an `Evaluation`. Rooms
that have other results register theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial, singledispatch
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..support.arrays import added_at
from ..tables.schema import FN, FP, TP, measure_of
from ..tables.selections import By, excluded_sequences, without_sequences
from .group_sums import cells_of, known_sums, sums_of_cells, sums_of_sequences
from .match_sums import NamedSums
from .registry import METRICS, RANKING, Metric, values_of
from .row_counts import group_texts
from .row_groups import group_rows, unknown_outcomes
from .summary import summary_of

if TYPE_CHECKING:
    import pandas as pd

# The sum that counts the rows of each outcome.
COUNTED = {TP: "tp", FN: "fn", FP: "fp"}

# The metrics that intervals and comparisons of detections have by default.
ASKED = ("f1", "precision", "recall", "mse", "det_a", "rmse")


class Family(NamedTuple):
    """The metrics of one kind of evaluation.

    Attributes
    ----------
    metrics
        The entries of all metrics, by name.
    ranking
        The metrics that order a leaderboard: the first, then those that decide between equals.
    asked
        The metrics that intervals and comparisons have by default.
    values
        A function from sums (arrays of one leading shape, by name) and names of metrics to these metrics, by name, in
        that shape.
    counted
        A function from sums to how much there is to count. Where that is 0, the metrics of a resample are null.
    curves
        The same as `values`, but of metrics that are means, such as HOTA over alpha, the K numbers that they are the
        mean of, (..., K); of others (..., 1). Nulls are left out of the mean. None where no metric is a mean.
    lost
        Of average precision, the categories of which some weighting left no truth, which made numbers null.
    """

    metrics: Mapping[str, Metric]
    ranking: Sequence[str]
    asked: Sequence[str]
    values: Callable[[NamedSums, Sequence[str]], Mapping[str, np.ndarray]]
    counted: Callable[[NamedSums], np.ndarray]
    curves: Callable[[NamedSums, Sequence[str]], Mapping[str, np.ndarray]] | None = None
    lost: Collection[Any] = ()


class Singles(NamedTuple):
    """The metrics of S sequences, each by itself and within one group.

    Attributes
    ----------
    cell
        The cell that each is part of, (S,).
    sequence
        The name of each, (S,).
    values
        The metrics by name, (S,) each, as in the rows of the sequences.
    """

    cell: np.ndarray
    sequence: Any
    values: Mapping[str, np.ndarray]


class Evaluation(NamedTuple):
    """The sums of C cells, each the rows of one group in one sequence, and the metrics of G groups.

    Attributes
    ----------
    family
        The metrics, and how they follow from sums.
    labels
        For each column that was grouped by, the value of each group, (G,); none where everything is one group.
    group, sequence
        The group of each cell (C,), rising, and the name of its sequence (C,).
    sums
        The sums of the cells by name, each (C, ...).
    summary
        The table that `summarize` returns: the labels and metrics of each group.
    texts
        The texts of warnings: about the rows of a match table and what they are grouped by, or that the predictions of
        an average precision share no value of a column with the truths.
    singles
        Of tracks and poses, the metrics of each sequence by itself.
    sizes
        Of average precision, whose cells are groups of sequences, how many sequences each cell has, (C,).
    lacking
        The own metrics that were asked for and are left out, each with what it asks for that the table lacks.
    in_clusters
        Whether cells may be several sequences, which are left out together.
    """

    family: Family
    labels: dict[str, Any]
    group: np.ndarray
    sequence: Any
    sums: dict[str, np.ndarray]
    summary: pd.DataFrame
    texts: Sequence[str] = ()
    singles: Singles | None = None
    sizes: np.ndarray | None = None
    lacking: Mapping[str, str] = MappingProxyType({})
    in_clusters: bool = False

    @property
    def n_sequences(self) -> np.ndarray:
        """How many sequences each group has, (G,)."""
        return added_at(self.group, self.sizes, self.n_groups).astype(np.int64)

    @property
    def in_groups(self) -> bool:
        """Whether cells are groups of sequences, as of average precision, whose sums say how often each counts."""
        return self.sizes is not None

    @property
    def of_result(self) -> bool:
        """Whether this is of a result, whose combined numbers are one of several kinds, and not of a match table."""
        return self.singles is not None or self.in_groups

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.summary)

    @property
    def attrs(self) -> dict[Hashable, Any]:
        """The notes of what was evaluated."""
        return self.summary.attrs


def group_of(evaluation: Evaluation, position: int) -> Evaluation:
    """The evaluation of one group alone."""
    is_of_group = evaluation.group == position
    cells = np.flatnonzero(is_of_group)
    summary = evaluation.summary.drop(columns=list(evaluation.labels)).iloc[[position]].reset_index(drop=True)
    return evaluation._replace(
        labels={},
        group=np.zeros(len(cells), np.int64),
        sequence=evaluation.sequence.take(cells),
        sums={name: values[cells] for name, values in evaluation.sums.items()},
        summary=summary,
        singles=evaluation.singles and _singles_of(evaluation.singles, is_of_group),
        sizes=None if evaluation.sizes is None else evaluation.sizes[cells],
    )


def _singles_of(singles: Singles, kept: np.ndarray) -> Singles:
    """The singles of some cells, which are numbered anew; `kept` (C,) says which."""
    rows = np.flatnonzero(kept[singles.cell])
    cell = np.cumsum(kept)[singles.cell[rows]] - 1
    return Singles(cell, singles.sequence.take(rows), {name: of[rows] for name, of in singles.values.items()})


class Asked(NamedTuple):
    """What may be evaluated by groups: a table with a column `sequence`, and its match table.

    `evaluate` makes an Evaluation of the table, or of rows of it: it takes the table, `by`, and the names of the own
    metrics that are needed. It raises InputError where `by` does not fit the table or an own metric fails. `by` may
    name `columns`; messages say `called` for the table.

    Of average precision, cells are groups of sequences (`in_groups`), so `evaluate` also takes `units`, a Series that
    says for each sequence, by name, with which others it is left out. It knows no Series in `by`.
    """

    table: pd.DataFrame
    matches: pd.DataFrame
    evaluate: Callable[..., Evaluation]
    columns: Sequence[Hashable]
    called: str = "match table"
    in_groups: bool = False


@singledispatch
def asked_table(x: Any, name: str) -> Asked:
    """The table behind a match table, or behind a result that registered how; messages begin with `name`.

    Raises InputError if it is neither.
    """
    from ..tables.checks import check_matches

    table = check_matches(x, name, by_groups=True)
    return Asked(table, table, match_evaluation, list(table))


def leaving_out(asked: Asked, exclude: Sequence[int | str] | None) -> Asked:
    """The same without excluded sequences, which were checked; None leaves all in."""
    table = without_sequences(asked.table, exclude)
    matches = table if asked.matches is asked.table else without_sequences(asked.matches, exclude)
    return asked._replace(table=table, matches=matches)


def is_result(x: Any) -> bool:
    """Whether this is a result that registered how it is taken apart."""
    return asked_table.dispatch(type(x)) is not asked_table.dispatch(object)


def summary_of_result(
    x: Any, by: By | None, exclude: Iterable[int] | Iterable[str] | None
) -> tuple[pd.DataFrame, list[str]]:
    """The table that `summarize` returns of a result, and the texts of warnings."""
    asked = asked_table(x, "summarize: matches")
    left_out, unknown = excluded_sequences(exclude, [asked.table])
    evaluation = asked.evaluate(without_sequences(asked.table, left_out), by, ())
    return evaluation.summary, [*filter(None, [unknown]), *evaluation.texts]


def match_evaluation(table: pd.DataFrame, by: By | None, own: Sequence[str] = ()) -> Evaluation:
    """The evaluation of a checked match table by groups of its rows."""
    groups = group_rows(table, by, own=own)
    cells = cells_of(groups)
    by_similarity = measure_of(groups.table) == "similarity"
    unknown = unknown_outcomes(groups.rows)
    counted = [name for outcome, name in COUNTED.items() if outcome not in unknown]
    family = Family(
        METRICS, RANKING, ASKED, partial(values_of, by_similarity=by_similarity), partial(_counted, counted)
    )
    return Evaluation(
        family,
        groups.labels,
        cells.group,
        cells.sequence,
        known_sums(sums_of_sequences(cells), unknown),
        summary_of(sums_of_cells(groups, cells)),
        group_texts(groups),
        lacking=groups.own.lacking,
    )


def texts_of(evaluations: Mapping[str, Evaluation]) -> list[str]:
    """The texts of warnings about match tables, each once, with the name of the first that it is about."""
    about = {text: name for name, of in reversed([*evaluations.items()]) for text in of.texts}
    return [f"{name}: {text}" for text, name in about.items()]


def _counted(names: Sequence[str], sums: NamedSums) -> np.ndarray:
    """How much there is to count: all outcomes of which something is known in slices."""
    return np.add.reduce([sums[name] for name in names])
