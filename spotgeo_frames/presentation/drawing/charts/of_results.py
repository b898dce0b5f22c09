"""Charts for notebooks of the tables that were computed from match tables."""

from typing import Any

import pandas as pd

from ....support.texts import label
from ....tables.table import Table
from ..drawn_tables import (
    best_of,
    category_lines,
    costs_to_draw,
    hota_to_draw,
    intervals_to_draw,
    mean_lines,
    mean_names,
    pairs_to_draw,
    precision_to_draw,
    slice_names,
    sweep_to_draw,
)
from ..metric_text import title
from .comparison_charts import forest as drawing_of_pairs
from .encodings import Drawing
from .error_charts import error_costs as drawing_of_costs
from .in_notebooks import MOST_ROWS, notebook_chart, nothing_to_draw, of_submissions, side_by_side, thinned
from .names import Rows, short_names, shown_name
from .precision_charts import ABOUT, OF_THRESHOLD, precision_lines
from .slice_charts import estimates_by_slice
from .threshold_charts import by_recall, by_threshold
from .track_charts import METRICS, OF_ONE, metrics_over_alpha
from .track_charts import hota_curve as drawing_of_hota

# Differences are marked as sure where the adjusted p-value is below 1 minus this.
CONFIDENCE = 0.95

# The most categories whose lines are drawn; those with the lowest average precision are the ones to see.
MOST_CATEGORIES = 8


def error_costs(costs: Table) -> Any:
    """The chart of the table that `error_costs` returned."""
    table, metric = costs_to_draw(costs, "charts")
    drawing = drawing_of_costs(*of_submissions(table), metric)
    return notebook_chart(drawing) if drawing else nothing_to_draw(f"no gain in {title(metric)} is known")


def metric_by_slice(intervals: Table, metric: str | None) -> Any:
    """The chart of a metric in the table that `intervals` returned."""
    rows, by, metric = intervals_to_draw(intervals, metric, "charts")
    if not rows["estimate"].notna().any():
        return nothing_to_draw(f"no values of {metric}" if len(rows) else f"no rows of {metric}")
    by = [name for name in by if name != "submission"]
    slices = [shown_name(name) for name in slice_names(rows, by)]
    return notebook_chart(estimates_by_slice(*of_submissions(rows), slices, ", ".join(by), metric))


def forest(pairs: Table, metric: str | None) -> Any:
    """The chart of a metric in the table `pairs` that `compare` returned."""
    rows, metric = pairs_to_draw(pairs, metric, "charts")
    by = [str(name) for name in rows.columns[: list(rows.columns).index("a")]]
    slices = [f", {name}" for name in slice_names(rows, by)] if by else [""] * len(rows)
    sides = zip(rows["a"], rows["b"], slices, mean_names(rows), strict=True)
    submissions = list(dict.fromkeys(label(name) for pair in zip(rows["a"], rows["b"], strict=True) for name in pair))
    short = dict(zip(submissions, short_names(submissions), strict=True))
    names = [f"{short[label(a)]} − {short[label(b)]}{of}{where}" for a, b, where, of in sides]
    drawing = drawing_of_pairs(rows, names, metric, CONFIDENCE)
    return notebook_chart(drawing) if drawing else nothing_to_draw(f"no rows of {metric}")


def sweep_curves(curve: Table) -> Any:
    """The two charts of the table `curve` that `sweep` returned."""
    table, metric, limit, unit = sweep_to_draw(curve, "charts")
    table, names = of_submissions(table.reset_index(drop=True))
    limits = [f"{limit} {label(value)}{unit}" for value in table[limit]] if limit else [""] * len(table)
    if len({*limits}) > 1:  # a line for each
        whole = names if len(names) > 1 else []
        lines = [f"{name}, {of}" if whole else of for name, of in zip(table["submission"], limits, strict=True)]
        names = list(dict.fromkeys(lines))
        table = table.assign(submission=pd.Categorical(lines, categories=names))
    if not len(table):
        return nothing_to_draw("no score thresholds")
    best = pd.concat([best_of(rows, metric) for _, rows in table.groupby("submission", observed=True)])
    drawn = thinned(table, best.index)
    return side_by_side([by_threshold(drawn, best, names, metric), by_recall(drawn, names)])


def hota_curve(curve: Table) -> Any:
    """The chart of the table `curve` that `track` or `pose` returned; of several submissions, one for each metric."""
    rows, names = of_submissions(hota_to_draw(curve, OF_ONE, "charts"))
    if not rows["HOTA"].notna().any():
        return nothing_to_draw("nothing was tracked")
    if len(names) == 1:
        return notebook_chart(metrics_over_alpha(rows))
    return side_by_side([drawing_of_hota(rows, names, metric) for metric in METRICS])


def precision_recall(curve: Table, threshold: float | None) -> Any:
    """The chart of the table `curve` of average precision."""
    rows, names = of_submissions(precision_to_draw(curve, "charts"))
    if not len(rows):
        return nothing_to_draw("no truths")
    lines = {
        (name, line): values
        for name in names
        for line, values in _lines(rows[rows["submission"] == name], threshold).items()
    }
    every = -(-sum(map(len, lines.values())) // MOST_ROWS)
    only, short = len(names) == 1, dict(zip(names, short_names(names), strict=True))
    drawn = [
        {
            "submission": short[name],
            "threshold": shown_name(f"{line}, AP {values.mean():.2f}" if only else line),
            "recall": recall,
            "precision": precision,
        }
        for (name, line), values in lines.items()
        for recall, precision in values.iloc[::every].items()
    ]
    return notebook_chart(_of_lines(drawn, threshold))


def _lines(rows: pd.DataFrame, threshold: float | None) -> dict[str, pd.Series]:
    """The lines of one submission, by their names; those of categories with the lowest average precision."""
    if threshold is None:
        return mean_lines(rows) if len(rows) else {}
    return dict([*category_lines(rows, threshold, "charts").items()][:MOST_CATEGORIES]) if len(rows) else {}


def _of_lines(rows: Rows, threshold: float | None) -> Drawing:
    """The chart of rows of lines of submissions: in dashes at thresholds, or in colours by category."""
    names, lines = (list(dict.fromkeys(row[field] for row in rows)) for field in ("submission", "threshold"))
    if threshold is None and len(names) > 1:
        return precision_lines(rows, names, lines, ABOUT)
    # Lines in colours can be told apart more easily, so they have them where the submissions need none.
    turned = [row | {"submission": row["threshold"], "threshold": row["submission"]} for row in rows]
    about = ABOUT if threshold is None else f"Precision over recall at {threshold:.2f}, by category"
    titles = (OF_THRESHOLD if threshold is None else "category", "submission")
    return precision_lines(turned, lines, names, about, titles)
