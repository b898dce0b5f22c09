"""Charts for notebooks: in sizes of their own, with their data, a title, and what a reader can do with them.

They have no settings of their own besides, so Altair joins them by `|` and `&`, and a theme of Altair, such as the dark
one, holds for them as for any other chart.
"""

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ....analysis import Calibration, DetectionLimit
from ....matching import noted_rule
from ....support import InputError, label
from ....tables import Table, schema
from .. import drawn_confusion, drawn_results, drawn_tables
from ..wording import title
from . import of_classes, of_places, of_results, of_tables
from .offline import offline
from .parts import FAINT, Drawing, Rows, short_names, shown_name
from .vega_lite import Spec, encoded, layered, units

# The width of a chart, and of one of several side by side (px).
WIDTH, NARROW = 440, 300

# The scales that a chart does not share with those beside it.
OWN_SCALES: dict[str, Any] = dict.fromkeys(["color", "fill", "shape", "strokeDash", "yOffset"], "independent")

# The most rows that Altair embeds in a chart.
MOST_ROWS = 5_000

# Differences are marked as sure where the adjusted p-value is below 1 minus this.
CONFIDENCE = 0.95

# The most categories whose lines are drawn; those with the lowest average precision are the ones to see.
MOST_CATEGORIES = 8


def notebook_chart(drawing: Drawing, width: int = WIDTH, has_legend: bool = True) -> Any:
    """The chart of a drawing, with its data; raises InputError if it has too many rows.

    Its colours stay its own where Altair joins it to others. Otherwise those would share a scale of colours, be it of
    recall and of counts.
    """
    n_rows = sum(len(rows) for rows in drawing.data.values())
    if n_rows > MOST_ROWS:
        problem = f"charts: {n_rows:,} marks would be drawn; a chart takes at most {MOST_ROWS:,}"
        raise InputError(f"{problem}: give fewer rows, or fewer submissions at a time")
    chart = _of_altair(drawing.chart if has_legend else _without_legends(drawing.chart), drawing.data)
    if len(drawing.picks) > 1:
        choice = alt.binding_select(options=list(drawing.picks), name="submission ")
        chart = chart.add_params(alt.param(name="picked", value=drawing.picks[0], bind=choice))
    chart = alt.layer(chart).resolve_scale(**OWN_SCALES)
    if drawing.background is not None:
        chart = chart.properties(view=alt.ViewBackground(fill=drawing.background))
    if drawing.zooms:
        # Altair makes one of selections that are alike, and maps of different things would zoom together. The wheel
        # needs a key, so that it still scrolls the notebook.
        name = re.sub(r"\W+", "_", f"zoom {drawing.title}", flags=re.ASCII)
        chart = chart.add_params(alt.selection_interval(name=name, bind="scales", zoom="wheel![event.ctrlKey]"))
    height = drawing.height if drawing.ratio is None else round(width * drawing.ratio)
    return offline(chart.properties(width=width, height=height, title=_title(drawing)))


def _title(drawing: Drawing) -> Any:
    """The title of a drawing, with the submission that is picked, since a saved picture shows no list to pick from."""
    if len(drawing.picks) < 2:
        return drawing.title
    about = json.dumps(f"{drawing.title}: ")  # ASCII with everything else escaped, so a literal of Vega's expressions
    return alt.TitleParams(text=alt.ExprRef(f"{about} + picked"))


def shown(drawing: Drawing | None, why: str) -> Any:
    """The chart of a drawing, or an empty chart that says why there is none."""
    if drawing is not None:
        return notebook_chart(drawing)
    said = alt.Chart(alt.InlineData(values=[{"why": why}])).mark_text(color=FAINT).encode(text="why:N")
    return offline(said.properties(width=WIDTH, height=60))


def of_submissions(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The table with its column `submission` as categories in the order of the rows, and the names of these.

    Where there is no such column, all rows are of one submission. Raises InputError if the submission of a row is null.
    """
    if "submission" not in table:
        only = pd.Categorical(["submission"] * len(table), categories=["submission"])
        return table.assign(submission=only), ["submission"]  # charts of one submission do not show its name
    named = drawn_tables.names_of_rows(table, "charts")
    names = list(dict.fromkeys(named))
    return table.assign(submission=pd.Categorical(named, categories=names)), names


def thinned(table: pd.DataFrame, kept: pd.Index) -> pd.DataFrame:
    """So many evenly spaced rows of a table that a chart takes them all, and those of the index `kept`."""
    every = -(-len(table) // max(MOST_ROWS - 2 * len(kept), 1))
    return table[table.index.isin(table.index[::every].union(kept))] if every > 1 else table


def side_by_side(drawings: Sequence[Drawing]) -> Any:
    """The charts of drawings with the same submissions, next to each other; the last one has the legend."""
    with warnings.catch_warnings():  # that they share what is highlighted, as they should
        warnings.filterwarnings("ignore", "Automatically deduplicated selection parameter", UserWarning)
        charts = [notebook_chart(drawing, NARROW, has_legend=False) for drawing in drawings[:-1]]
        return offline(alt.hconcat(*charts, notebook_chart(drawings[-1], NARROW)))


def _without_legends(chart: Spec) -> Spec:
    """A chart without the legends of submissions."""

    def without(of: Spec) -> Spec:
        named = {name: of["encoding"][name] for name in ("color", "shape", "strokeDash") if name in of["encoding"]}
        return encoded(of, **{name: shown | {"legend": None} for name, shown in named.items()})

    return layered(*map(without, chart["layer"])) if "layer" in chart else without(chart)


def _of_altair(chart: Spec, data: Mapping[str, Rows]) -> Any:
    """The chart of Altair that a specification describes, or its layers, with the rows instead of their names."""
    made = [_unit_of_altair(of, data[of["data"]["name"]]) for of in units(chart)]
    return alt.layer(*made) if "layer" in chart else made[0]


def _unit_of_altair(of: Spec, rows: Rows) -> Any:
    """The chart of Altair of one layer."""
    # With descriptions of marks, Vega-Lite would write titles of axes, which may be the user's, as code.
    mark = alt.MarkDef(**of["mark"], aria=False)
    chart = alt.Chart(alt.InlineData(values=[_known(row) for row in rows]), mark=mark).encode(**of["encoding"])
    for step in of.get("transform", []):
        chart = chart.transform_filter(step["filter"])
    for choice in of.get("params", []):
        chosen = alt.selection_point(name=choice["name"], fields=choice["select"]["fields"], bind=choice["bind"])
        chart = chart.add_params(chosen)
    return chart


def _known(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with None for what JSON has no number for."""
    return {name: value if not isinstance(value, float) or np.isfinite(value) else None for name, value in row.items()}


def recall_map(matches: Table | Mapping[str, Table], bins: int, axes: Any) -> Any:
    """The map of recall of a match table."""
    bins = drawn_tables.count_to_draw(bins, "bins", "charts")
    drawing = of_places.recall_map(*of_submissions(drawn_tables.places_to_draw(matches, "charts", 4, axes)), bins)
    return shown(drawing, "no truths")


def distances(matches: Table | Mapping[str, Table], bins: int) -> Any:
    """The histogram of the distances, or of the similarities, of a match table."""
    bins = drawn_tables.count_to_draw(bins, "bins", "charts")
    drawn_results.check_one_rule(matches, drawn_results.OF_MEASURES, "charts")
    table, names = of_submissions(drawn_tables.matches_to_draw(matches, "charts", 4))
    has_any = table[schema.measure_of(table)].notna().any()
    return shown(
        of_places.measures(table, names, drawn_results.rule_to_draw(table), bins) if has_any else None,
        "no true positives",
    )


def residuals(matches: Table | Mapping[str, Table], tau: float | None, axes: Any) -> Any:
    """The map of predicted minus true coordinates of a match table."""
    drawn_results.check_one_rule(matches, ["tau"] if tau is None else [], "charts")
    table = drawn_tables.places_to_draw(matches, "charts", 4, axes)
    rule = noted_rule.distance_rule(table, ["tau"], tau)
    drawn_tables.check_offsets(table, "charts")
    tau, farthest = rule.largest_cost, table["distance"].max()
    if farthest > tau * (1 + 1e-9):  # they would have no bin
        problem = f"tau is {tau:g}, but there are true positives at distances up to {farthest:.4g}"
        raise InputError(f"charts: {problem}; give the tau that the table was matched with")
    table, names = of_submissions(table)
    bins = min(of_places.RESIDUAL_BINS, int((MOST_ROWS / (len(names) + 1)) ** 0.5))
    drawing = of_places.residuals(table, names, rule, bins - 1 + bins % 2)  # an odd count has a bin around 0
    return shown(drawing, "no true positives")


def error_costs(costs: Table | Mapping[str, Table]) -> Any:
    """The chart of the table that `error_costs` returned."""
    table, metric = drawn_tables.costs_to_draw(costs, "charts")
    return shown(of_tables.error_costs(*of_submissions(table), metric), f"no gain in {title(metric)} is known")


def metric_by_slice(intervals: Table | Mapping[str, Table], metric: str | None) -> Any:
    """The chart of a metric in the table that `intervals` returned."""
    rows, by, metric = drawn_tables.intervals_to_draw(intervals, metric, "charts")
    by = [name for name in by if name != "submission"]
    slices = [shown_name(name) for name in drawn_tables.slice_names(rows, by)]
    has_any = rows["estimate"].notna().any()
    drawing = of_tables.estimates_by_slice(*of_submissions(rows), slices, ", ".join(by), metric) if has_any else None
    return shown(drawing, f"no values of {metric}" if len(rows) else f"no rows of {metric}")


def forest(pairs: Table | Mapping[str, Table], metric: str | None) -> Any:
    """The chart of a metric in the table `pairs` that `compare` returned."""
    rows, metric = drawn_tables.pairs_to_draw(pairs, metric, "charts")
    by = [str(name) for name in rows.columns[: list(rows.columns).index("a")]]
    slices = [f", {name}" for name in drawn_tables.slice_names(rows, by)] if by else [""] * len(rows)
    a, b = (rows[side].map(label).tolist() for side in "ab")
    submissions = list(dict.fromkeys(name for pair in zip(a, b, strict=True) for name in pair))
    short = dict(zip(submissions, short_names(submissions), strict=True))
    sides = zip(a, b, drawn_tables.mean_names(rows), slices, strict=True)
    names = [f"{short[one]} − {short[other]}{of}{where}" for one, other, of, where in sides]
    return shown(of_tables.forest(rows, names, metric, CONFIDENCE), f"no rows of {metric}")


def sweep_curves(curve: Table | Mapping[str, Table]) -> Any:
    """The two charts of the table `curve` that `sweep` returned."""
    table, metric, limit, unit = drawn_tables.sweep_to_draw(curve, "charts")
    table, names = of_submissions(table.reset_index(drop=True))
    limits = [f"{limit} {label(value)}{unit}" for value in table[limit]] if limit else [""] * len(table)
    if len({*limits}) > 1:  # a line for each
        whole = names if len(names) > 1 else []
        lines = [f"{name}, {of}" if whole else of for name, of in zip(table["submission"], limits, strict=True)]
        names = list(dict.fromkeys(lines))
        table = table.assign(submission=pd.Categorical(lines, categories=names))
    if not len(table):
        return shown(None, "no score thresholds")
    best = pd.concat([drawn_tables.best_of(rows, metric) for _, rows in table.groupby("submission", observed=True)])
    drawn = thinned(table, best.index)
    return side_by_side([of_tables.by_threshold(drawn, best, names, metric), of_tables.by_recall(drawn, names)])


def hota_curve(curve: Table | Mapping[str, Table]) -> Any:
    """The chart of the table `curve` that `track` or `pose` returned; of several submissions, one for each metric."""
    rows, names = of_submissions(drawn_tables.hota_to_draw(curve, "charts"))
    if not rows["HOTA"].notna().any():
        return shown(None, "nothing was tracked")
    if len(names) == 1:
        return notebook_chart(of_tables.metrics_over_alpha(rows))
    return side_by_side([of_tables.hota_curve(rows, names, metric) for metric in of_tables.METRICS])


def precision_recall(curve: Table | Mapping[str, Table], threshold: float | None) -> Any:
    """The chart of the table `curve` of average precision."""
    rows, names = of_submissions(drawn_tables.precision_to_draw(curve, "charts"))
    if not len(rows):
        return shown(None, "no truths")
    lines = {
        (name, line): values
        for name in names
        for line, values in _lines(rows[rows["submission"] == name], threshold).items()
    }
    every = -(-sum(map(len, lines.values())) // MOST_ROWS)
    # Of several submissions, names alone tell lines apart.
    only = len(names) == 1 and drawn_tables.averages_points(rows.attrs)
    short = dict(zip(names, short_names(names), strict=True))
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


def confusion(counts: Table | Mapping[str, Table]) -> Any:
    """The chart of the table that `confusion` returned, or of one of each submission."""
    squares = drawn_confusion.squares_to_draw(counts, "charts")
    has_any = any(square.to_numpy().any() for square in squares.values())
    return shown(of_classes.confusion(squares, list(squares)) if has_any else None, "no truths and no detections")


def detection_limit(found: DetectionLimit | Mapping[str, DetectionLimit]) -> Any:
    """The chart of what `detection_limit` returned, or of one result of each submission."""
    drawn = drawn_results.limits_to_draw(found, "charts")
    has_any = any(map(len, drawn.bins.values()))
    return shown(of_results.detection_limit(drawn) if has_any else None, f"no truth has a value of {drawn.column}")


def calibration(found: Calibration | Mapping[str, Calibration]) -> Any:
    """The chart of what `calibration` returned, or of one result of each submission."""
    of_each = drawn_results.calibrations_to_draw(found, "charts")
    about = drawn_results.calibration_title(of_each)
    bins = {name: table for name, (table, _) in of_each.items()}
    return shown(of_results.calibration(bins, about) if any(map(len, bins.values())) else None, "no detections")


def protocols(table: Table | Mapping[str, Table]) -> Any:
    """The chart of the table that `protocols` returned, or of one of each submission."""
    of_each = drawn_tables.of_each(drawn_results.protocols_to_draw(table, "charts"), "charts")
    has_any = any(map(len, of_each.values()))
    return shown(of_results.protocols(of_each) if has_any else None, "no protocols")


def gospa(matches: Table | Mapping[str, Table]) -> Any:
    """The chart of GOSPA by frame of a match table, or of one of each submission."""
    drawn = drawn_results.gospa_to_draw(matches, "charts", 4)
    return shown(of_results.gospa(drawn) if any(map(len, drawn.of_each.values())) else None, "no frames")


def _lines(rows: pd.DataFrame, threshold: float | None) -> dict[str, pd.Series]:
    """The lines of one submission, by their names; those of categories with the lowest average precision."""
    if not len(rows):
        return {}
    if threshold is None:
        return drawn_tables.mean_lines(rows)
    return dict([*drawn_tables.category_lines(rows, threshold, "charts").items()][:MOST_CATEGORIES])


def _of_lines(rows: Rows, threshold: float | None) -> Drawing:
    """The chart of rows of lines of submissions: in dashes at thresholds, or in colours by category."""
    about = drawn_results.precision_title(threshold, threshold is not None)
    names, lines = (list(dict.fromkeys(row[field] for row in rows)) for field in ("submission", "threshold"))
    if threshold is None and len(names) > 1:
        return of_tables.precision_lines(rows, names, lines, about)
    # Lines in colours can be told apart more easily, so they have them where the submissions need none.
    turned = [row | {"submission": row["threshold"], "threshold": row["submission"]} for row in rows]
    titles = (of_tables.OF_THRESHOLD if threshold is None else "category", "submission")
    return of_tables.precision_lines(turned, lines, names, about, titles)
