"""The tables of the page as text: their titles, the order in which columns sort, and their cells."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...scoring.few_sequences import FEW_NOTE, few_marked
from ...scoring.registry import METRICS, SLICED, own_metrics
from ...support.labels import DASH, bins_as_text, label
from ..display import texts, words
from ..metric_text import arrow, definition, reading, title
from .evaluation import COMBINED, MACRO, Evaluation, rows_of
from .rule_texts import first_title, rule_text

# The titles of columns that belong to no metric.
TITLES = {
    "tau": "tau, px",
    "threshold": "least similarity",
    "score_threshold": "best threshold",
    "p_value": "p-value",
    "p_adjusted": "adjusted p-value",
    "low": "from",
    "high": "to",
    "estimate": "difference",
    "a": "submission",
    "b": "minus",
    "of": "of",
    "bootstrap_share_first": "bootstrap share first",
    "apart_from_next": "differs from the next",
}
CAPTIONS = {"sequence": "By sequence", "frame_n_truth": "By the number of truths in a frame (frame_n_truth)"}
COSTS = ["kind", "n_misses", "n_false_alarms", "f1", "f1_gain", "mse", "mse_gain"]
BOARD = ["rank", "name", "HOTA", "HOTA_low", "HOTA_high", "MOTA", "IDF1", "mota"]
BOARD += ["f1", "f1_low", "f1_high", "kelvins_mse", "mse", "loc_a"]
BOARD += ["bootstrap_share_first", "apart_from_next"]

# What the mean over sequences is called in a cell of the headline, by its column; and where there is none.
MEANS = {"mean": "estimate", "mean_low": "low", "mean_high": "high"}
NO_MEAN = dict.fromkeys(["estimate", "low", "high"], DASH)

# What an interval rests on, by its column.
RESTS_ON = {
    "n_effective": "effective sequences: of equal size, as even; for",
    "largest_share": "largest share of a sequence; for",
    "degrees_of_freedom": "degrees of freedom; for",
}

# The count of rows of a table that a page has room for.
MOST_ROWS = 16_000


class Table(NamedTuple):
    """A table of the page.

    Attributes
    ----------
    name, caption, titles, rows
        The name in the page's script, the caption, the titles of columns, and the texts of the cells.
    kinds
        How each column sorts: as "number", as "text", or by the "position" of each row in the column's `positions`.
    sorted_by
        The position of the column by which the rows are sorted, the largest first; None if they are not.
    n_left_out
        The count of rows that the page has no room for.
    note
        A note below the table, or an empty text.
    """

    name: str
    caption: str
    titles: list[str]
    kinds: list[str]
    rows: list[list[str]]
    sorted_by: int | None = None
    positions: Mapping[int, list[int]] = {}
    n_left_out: int = 0
    note: str = ""


def headline(evaluation: Evaluation) -> list[dict[str, Any]]:
    """One row for each metric: its label and meaning, and for each submission its value, interval and all digits.

    Where the combined number has no interval, `mean`, `mean_low` and `mean_high` are the mean over sequences and its
    interval; otherwise they are dashes.
    """
    rows = []
    combined, macro = (rows_of(evaluation.intervals, of) for of in (COMBINED, MACRO))
    for metric in evaluation.headline:
        of_metric = combined[combined["metric"] == metric]  # in the order of the submissions
        cells = texts(of_metric)[["estimate", "low", "high"]].assign(exact=of_metric["estimate"].map(_exact))
        means = texts(macro[macro["metric"] == metric])[["estimate", "low", "high"]].to_dict("records")
        named = [
            cell | {name: mean[of] for name, of in MEANS.items()}
            for cell, mean in zip_longest(cells.to_dict("records"), means, fillvalue=NO_MEAN)
        ]
        known = reading(metric)
        assert known is not None  # the metrics of intervals are in a registry
        head = {"label": title(metric), "better": arrow(known.metric), "meaning": definition(known.metric)}
        rows.append(head | {"cells": named})
    return rows


def rests_on(evaluation: Evaluation) -> list[tuple[str, list[str]]]:
    """What the interval of the metric that ranks rests on: labels with the values of all submissions."""
    rows = rows_of(evaluation.intervals, COMBINED)
    shown = texts(rows[rows["metric"] == evaluation.headline[0]])
    return [(f"{text} {title(evaluation.headline[0])}", shown[name].tolist()) for name, text in RESTS_ON.items()]


def counts(evaluation: Evaluation) -> list[tuple[str, list[str]]]:
    """The label of each count with its values for all submissions."""
    shown = texts(evaluation.summary)
    of_counts = [metric for metric in METRICS.values() if metric.written == "count"]
    return [(f"{metric.label}: {metric.formula}", shown[metric.name].tolist()) for metric in of_counts]


def lead(evaluation: Evaluation) -> list[str]:
    """The first sentences of the page: which submission is best, whether by more than chance, and on how much data."""
    shown = texts(evaluation.summary).to_dict("records")[0]
    data = ", ".join(f"{shown[name]} {METRICS[name].label}" for name in ("n_sequences", "n_frames", "n_truth"))
    sentences = [f"Evaluated on {data}, with {rule_text(evaluation.rule)}."]
    metric = evaluation.headline[0]
    name = first_title(metric, evaluation.rule)
    if evaluation.compared is None:
        return [f"{name} is {shown[metric]}.", *sentences]
    first, second, *_ = evaluation.names
    article = "an" if metric == "f1" else "a"
    pairs = rows_of(evaluation.compared.pairs, COMBINED)
    [p] = pairs.loc[(pairs["a"] == first) & (pairs["b"] == second) & (pairs["metric"] == metric), "p_adjusted"]
    surely = bool(evaluation.compared.leaderboard["apart_from_next"].fillna(False).iloc[0])
    sure = "by more than chance explains" if surely else "but not shown to differ"
    known = "" if pd.isna(p) else f", {sure} (adjusted p-value {p:.2g})"
    return [f"{first} is first with {article} {name} of {shown[metric]}, before {second}{known}.", *sentences]


def slice_table(name: str, columns: Sequence[str], summary: pd.DataFrame, names: Sequence[str]) -> Table:
    """Makes the table of a summary by columns: its first MOST_ROWS rows, sequences with the most errors first."""
    by = [*columns] if len(names) == 1 else ["submission", *columns]
    binned = [by.index(column) for column in columns if isinstance(summary[column].dtype, pd.CategoricalDtype)]
    metrics = [metric for metric in [*SLICED, *own_metrics()] if metric in summary]
    table = summary
    if [*columns] == ["sequence"] and not binned:
        errors = (summary["fn"].fillna(0) + summary["fp"].fillna(0)).astype("int64")
        metrics = ["errors", *(metric for metric in metrics if metric != "n_sequences")]
        table = summary.assign(errors=errors).take(np.argsort(-errors.to_numpy(), kind="stable"))
    shown = table.head(MOST_ROWS)[[*by, *metrics]]
    # Bins as text would not sort by their bounds, and rounded texts could make different values look equal.
    kinds = ["position" if place in binned else kind for place, kind in enumerate(_kinds(shown))]
    exact = bins_as_text(shown)[[*columns]].map(label).to_numpy().tolist()
    first, last = len(by) - len(columns), len(by)
    cells, any_few = few_marked(texts(shown), shown)
    rows = [[*row[:first], *values, *row[last:]] for row, values in zip(cells.to_numpy(), exact, strict=True)]
    return Table(
        name,
        CAPTIONS.get("*".join(columns), f"By {' and '.join(columns)}"),
        [*by, *map(_title, metrics)],
        kinds,
        rows,
        sorted_by=len(by) if "errors" in metrics else None,
        positions={place: shown[by[place]].cat.codes.tolist() for place in binned},
        n_left_out=len(table) - len(shown),
        note=FEW_NOTE if any_few else "",
    )


def other_tables(evaluation: Evaluation) -> list[Table]:
    """The tables of costs of errors, of the comparison and of the best thresholds, if the report has them."""
    whose = [] if len(evaluation.names) == 1 else ["submission"]
    costs = evaluation.costs.assign(kind=evaluation.costs["kind"].map(words))
    tables = [_table("costs", "Kinds of error and their cost", _having(costs, [*whose, *COSTS]))]
    if evaluation.compared is not None:
        tables.append(_table("leaderboard", "Leaderboard", _having(evaluation.compared.leaderboard, BOARD)))
        differences = pd.concat([rows_of(evaluation.compared.pairs, of) for of in (COMBINED, MACRO)])
        pairs = _table("pairs", "Differences between submissions", differences)
        metric = pairs.titles.index("metric")
        rows = [[*row[:metric], _title(row[metric]), *row[metric + 1 :]] for row in pairs.rows]
        tables.append(pairs._replace(rows=rows))
    if evaluation.sweep is not None:
        best = evaluation.sweep.best
        columns = [*whose, *(str(name) for name in best if name != "submission")]
        tables.append(_table("sweep", "The best threshold of the score", best[columns]))
    return tables


def _having(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The columns of a table that it has, of those named."""
    return table[[column for column in columns if column in table]]


def _exact(value: float) -> str:
    """A number with all its digits."""
    return DASH if np.isnan(value) else repr(float(value))


def _title(column: str) -> str:
    """The title of a column."""
    return TITLES.get(column) or title(column) or words(column.removeprefix("n_"))


def _kinds(table: pd.DataFrame) -> list[str]:
    """How each column sorts: as number or as text."""
    return ["number" if pd.api.types.is_any_real_numeric_dtype(table[column].dtype) else "text" for column in table]


def _cells(table: pd.DataFrame) -> list[list[str]]:
    """The texts of all cells, row by row."""
    return texts(table).to_numpy().tolist()


def _table(name: str, caption: str, table: pd.DataFrame) -> Table:
    """Makes a table of the page from all columns of a DataFrame."""
    return Table(name, caption, [_title(str(column)) for column in table], _kinds(table), _cells(table))
