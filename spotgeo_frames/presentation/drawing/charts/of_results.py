"""Charts of limits of detection, calibrations, protocols and GOSPA by frame."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...theme import BETWEEN
from .. import drawn_results
from ..drawn_results import LAYERS, MARKERS, Limits, PointSets
from ..wording import with_unit
from .of_tables import LINES, rows_of
from .parts import (
    FAINT,
    INK,
    SERIES,
    Drawing,
    Rows,
    by_submission,
    dashed,
    shaped,
    share_axis,
    short_names,
    shown_name,
    submission_tooltip,
    tooltips,
)
from .vega_lite import Spec, channel, encoded, layered, marks

# How high a bar of a protocol is, with those of other submissions (px).
BAR = 26

# Points that are seen, with their tooltips.
DOTS: dict[str, Any] = {"filled": True, "size": 60, "opacity": 1, "color": SERIES[0]}


def _each(of_each: Mapping[str, pd.DataFrame], fields: Mapping[str, Any]) -> Rows:
    """The rows of the tables of submissions, with their short names."""
    rows: Rows = []
    for name, table in zip(short_names(list(of_each)), of_each.values(), strict=True):
        rows += rows_of(table, {"submission": [name] * len(table)} | dict(fields))
    return rows


def detection_limit(found: Limits) -> Drawing:
    """The chart of recall in bins of a column, with a logistic curve, and bars where it has certain heights."""
    names = short_names(list(found.bins))
    bins = {"value": "mean", "recall": "recall", "low": "recall_low", "high": "recall_high", "truths": "n_truth"}
    curves, known = {}, {}
    for name, limits in found.limits.items():
        value, recall = drawn_results.logistic(found.bins[name], limits)
        curves[name] = pd.DataFrame({"value": value, "recall": recall})
        told = drawn_results.told(limits)
        known[name] = told.assign(start=told["low"].fillna(value[0]), end=told["high"].fillna(value[-1]))
    ends = {"value": "estimate", "recall": "recall", "low": "low", "high": "high", "start": "start", "end": "end"}
    title = shown_name(found.title)

    def along(field: str) -> Spec:
        return channel(field, title=title, scale={"zero": False})

    x, y = along("value:Q"), share_axis("recall", "recall")
    shares = [("recall:Q", "recall", ".2%"), ("low:Q", "from", ".2%"), ("high:Q", "to", ".2%")]
    told_of = [*submission_tooltip(names), ("value:Q", "value", ".4~g")]
    of_bins = {"x": x, "tooltip": tooltips(*told_of, *shares)}
    ranges = [("low:Q", "from", ".4~g"), ("high:Q", "to", ".4~g")]
    of_limits = {"y": y, "tooltip": tooltips(*told_of, shares[0], *ranges)}
    curve = marks("curves", "line", LINES | {"point": False}, x=x, y=y, **dashed(names))
    bar = {"color": SERIES[0]}
    layers = [
        by_submission(curve, names, of_lines=True),
        *_by_submission(
            names,
            marks("bins", "rule", bar, **of_bins, y=share_axis("low", "recall"), y2="high"),
            marks("bins", "point", DOTS, **of_bins, y=y, **shaped(names)),
            marks("limits", "rule", bar | {"strokeWidth": 3}, **of_limits, x=along("start:Q"), x2="end"),
            marks("limits", "point", DOTS | {"size": 120}, **of_limits, x=x, **shaped(names)),
        ),
    ]
    data = {"bins": _each(found.bins, bins), "curves": _each(curves, {"value": "value", "recall": "recall"})}
    about = f"Recall by {shown_name(found.column)}, and where it is {found.heights}"
    return Drawing(layered(*layers), data | {"limits": _each(known, ends)}, about, zooms=True)


def _by_submission(names: Sequence[str], *layers: Spec) -> list[Spec]:
    """Layers with a colour for each submission; another layer has the legend's choice."""
    return [by_submission(layer, names, selects=False) for layer in layers]


def calibration(of_each: Mapping[str, pd.DataFrame], about: str) -> Drawing:
    """The chart of precision over the mean score of each bin, with the line of a calibrated detector."""
    names = short_names(list(of_each))
    fields = {"score": "mean_score", "precision": "precision", "low": "precision_low", "high": "precision_high"}
    x = channel("score:Q", title="mean score", scale={"domain": [0, 1]})
    y = share_axis("precision", "precision")
    told = [("score:Q", "mean score", ".3f"), ("precision:Q", "precision", ".2%"), ("low:Q", "from", ".2%")]
    told += [("high:Q", "to", ".2%"), ("detections:Q", "detections", ",")]
    of_bins = {"x": x, "tooltip": tooltips(*submission_tooltip(names), *told)}
    line = marks("bins", "line", LINES | {"point": False}, **of_bins, y=y, **dashed(names))
    bar = {"strokeWidth": 2, "color": SERIES[0]}
    layers = [
        marks("calibrated", "line", {"color": FAINT, "strokeDash": [4, 3]}, x=x, y=y),
        by_submission(line, names, of_lines=True),
        *_by_submission(
            names,
            marks("bins", "rule", bar, **of_bins, y=share_axis("low", "precision"), y2="high"),
            marks("bins", "point", DOTS, **of_bins, y=y, **shaped(names)),
        ),
    ]
    rows = _each(of_each, fields | {"detections": "n_predicted"})
    data = {"bins": rows, "calibrated": [{"score": end, "precision": end} for end in (0, 1)]}
    return Drawing(layered(*layers), data, about, ratio=1.0)


def protocols(of_each: Mapping[str, pd.DataFrame]) -> Drawing:
    """The chart of a bar of average precision by each protocol; of one submission also marks of AP50 and AP75."""
    names = short_names(list(of_each))
    rows = _each(of_each, {"protocol": "protocol", "AP": "AP"} | {name: name for name in MARKERS})
    place = {name: position for position, name in enumerate(names)}
    rows = [row | {"place": place[row["submission"]]} for row in rows]
    x, y = share_axis("AP", "average precision"), channel("protocol:N", sort=None, title=None)
    told = [("protocol:N", "protocol", ""), *((f"{name}:Q", name, ".2%") for name in ("AP", *MARKERS))]
    bars = marks("protocols", "bar", {"color": SERIES[0]}, x=x, y=y)
    bars = encoded(bars, tooltip=tooltips(*submission_tooltip(names), *told))
    if len(names) > 1:
        bars = encoded(bars, yOffset=channel("place:O", sort="ascending"))
    layers = [by_submission(bars, names)]
    there = {name for name in MARKERS if any(np.isfinite(row[name]) for row in rows)} if len(names) == 1 else ()
    marked = [{"protocol": row["protocol"], "number": name, "AP": row[name]} for row in rows for name in sorted(there)]
    if marked:
        shape = channel("number:N", title=None, scale={"domain": sorted(there), "range": ["circle", "diamond"]})
        look = {"filled": True, "size": 70, "opacity": 1, "color": INK}
        tooltip = tooltips(("number:N", "number", ""), told[1])
        layers.append(marks("marks", "point", look, x=x, y=y, shape=shape, tooltip=tooltip))
    height = len({row["protocol"] for row in rows}) * max(BAR, 14 * len(names))
    data = {"protocols": rows, "marks": marked}
    return Drawing(layered(*layers), data, "The same predictions by each protocol", height)


def gospa(drawn: PointSets) -> Drawing:
    """The chart of GOSPA by frame: the layers of one submission, or a line for each of several."""
    names = short_names(list(drawn.of_each))
    title = with_unit("GOSPA", drawn.unit)
    x = channel("frame:Q", title="frame", axis={"tickMinStep": 1, "format": "d"}, scale={"zero": False, "nice": False})
    told = [("frame:Q", "frame", "d"), ("gospa:Q", "GOSPA", ".4~g"), ("ospa:Q", "OSPA", ".4~g")]
    tables = {name: frames.reset_index() for name, frames in drawn.of_each.items()}
    rows = _each(tables, {name: name for name in ("frame", "gospa", "ospa", *LAYERS)})
    if len(names) > 1:
        tooltip = tooltips(*submission_tooltip(names), *told)
        lines = marks("frames", "line", LINES, x=x, y=channel("gospa:Q", title=title), **dashed(names), tooltip=tooltip)
        return Drawing(by_submission(lines, names, of_lines=True), {"frames": rows}, drawn.title)
    texts = [text for text, _ in LAYERS.values()]
    scale = {"domain": texts, "range": [BETWEEN.outcomes[of] for _, of in LAYERS.values()]}
    areas = marks(
        "layers",
        "area",
        {"opacity": 0.75},
        x=x,
        y=channel("value:Q", stack="zero", title=title),
        order="order:Q",
        color=channel("layer:N", title=None, scale=scale),
    )
    layers = [
        {"frame": row["frame"], "layer": text, "order": order, "value": row[name]}
        for row in rows
        for order, (name, (text, _)) in enumerate(LAYERS.items())
    ]
    whole = [
        {"frame": row["frame"], "of": of.upper(), "value": row[of]} | row for row in rows for of in ("gospa", "ospa")
    ]
    dashes = channel("of:N", title=None, scale={"domain": ["GOSPA", "OSPA"], "range": [[1, 0], [6, 3]]})
    look = {"color": INK, "point": "transparent"}
    value = channel("value:Q", title=title)
    lines = marks("whole", "line", look, x=x, y=value, strokeDash=dashes, tooltip=tooltips(*told))
    return Drawing(layered(areas, lines), {"layers": layers, "whole": whole}, drawn.title)
