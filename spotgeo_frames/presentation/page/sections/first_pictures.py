"""The pictures of the first screen: numbers with intervals, the trade, what errors cost, and where objects are."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from ...drawing import display, drawn_tables, shortened, wording
from ..evaluation import CONFIDENCE, Evaluation
from ..html.blocks import Kept
from ..html.marks import Axis, Bar, Dot, Label, Line, Mark, Path, Picture, axis
from .first_slices import sliced
from .verdict import Evidence, percent

# The size of a picture, in px, and the room for the texts of its axis.
WIDTH, HEIGHT, FOOT = 380, 212, 22

# The rows of a picture are so far apart at least that the values beside them can be read.
APART = 12

# The most metrics of the first picture, and the least range of the sides in the second, so that a curve has room.
MOST_METRICS, TRADED = 5, 0.4

# From this range on, lines of equal F1 are drawn in larger steps.
WIDE = 0.7

# The most kinds of error that a picture has room for.
MOST_KINDS = 6

# The longest text of a slice, in characters, and the width of a character, in px.
LONGEST_SLICE, CHARACTER = 14, 6.2

BOUNDS = ("estimate", "low", "high")


def _with_range(row: pd.Series) -> str:
    """An estimate with its interval, or with the reason why it has none."""
    if np.isnan(row["low"]) and np.isnan(row["high"]):
        reason = "" if pd.isna(row.get("reason")) else f": {row['reason']}"
        return f"{percent(row['estimate'])}, no interval{reason}"
    return f"{percent(row['estimate'])} ({percent(row['low'])} to {percent(row['high'])})"


def _rows(intervals: pd.DataFrame, names: Sequence[str], metric: str) -> list[pd.Series | None]:
    """The row of each submission in a table of intervals; None where it has none, or a null."""
    rows = intervals[intervals["metric"] == metric]
    found = {str(row["submission"]): row for _, row in rows.iterrows() if not np.isnan(row["estimate"])}
    return [found.get(name) for name in names]


def numbers(evidence: Evidence, names: Sequence[str]) -> Picture | None:
    """The headline numbers as dots on one scale, with their intervals."""
    rows = _of_metrics(evidence, names)
    known = [row for of in rows.values() for row in of if row is not None]
    if not known:
        return None
    scale = axis([row[bound] for row in known for bound in BOUNDS], 92, WIDTH - 62)
    marks, texts = _columns(scale, HEIGHT - FOOT), list[str]()
    high = (HEIGHT - FOOT) / len(rows)
    apart = min(17.0, high / (len(names) + 0.4))
    for place, (metric, of) in enumerate(rows.items()):
        title, middle = wording.title(metric) or metric, (place + 0.5) * high
        marks.append(Label(0, middle + 4, shortened(title, 13), style="strong"))
        for series, row in enumerate(of):
            y = middle + (series - (len(names) - 1) / 2) * apart
            shown = "–" if row is None else percent(row["estimate"])
            marks.append(Label(WIDTH, y + 4, shown, "end", "strong", series))
            if row is not None:
                texts.append(f"{names[series]}: {title} {_with_range(row)}")
                marks.append(_across(scale, y, row, series))
                marks.append(Dot(scale.at(row["estimate"]), y, series, texts[-1], min(5.0, apart / 2.4)))
    has_bars = any(not np.isnan(row["low"]) for row in known)
    note = f"bars: {CONFIDENCE:.0%} intervals" if has_bars else "no intervals"
    return Picture("first-numbers", "How good, how sure", WIDTH, HEIGHT, marks, "; ".join(texts), note)


def _of_metrics(evidence: Evidence, names: Sequence[str]) -> dict[str, list[pd.Series | None]]:
    """The rows of the metrics that there is room for: what ranks first, then its two sides, then other headlines."""
    listed = dict.fromkeys([evidence.ranks, *evidence.sides, *wording.RESULT_HEADLINE])
    rows = {name: _rows(evidence.intervals, names, name) for name in listed if wording.is_share(name)}
    known = [(name, of) for name, of in rows.items() if any(row is not None for row in of)]
    room = max(1, (HEIGHT - FOOT) // (APART * len(names)))
    return dict(known[: min(room, MOST_METRICS)])


def _across(scale: Axis, y: float, row: pd.Series, series: int) -> Line:
    """An interval as a line from left to right."""
    return Line(scale.at(_or(row, "low")), y, scale.at(_or(row, "high")), y, "bar", series)


def _upright(scale: Axis, x: float, row: pd.Series, series: int) -> Line:
    """An interval as an upright line."""
    return Line(x, scale.at(_or(row, "low")), x, scale.at(_or(row, "high")), "bar", series)


def _or(row: pd.Series, bound: str) -> float:
    """A bound of an interval, or the estimate where it is not known."""
    return float(row["estimate"] if np.isnan(row[bound]) else row[bound])


def _columns(scale: Axis, bottom: float) -> list[Mark]:
    """The grid of an axis that lies at the bottom, with the values of its ticks."""
    marks: list[Mark] = []
    for tick in scale.ticks:
        marks.append(Line(scale.at(tick), 0, scale.at(tick), bottom))
        marks.append(Label(scale.at(tick), bottom + 15, scale.text(tick), "middle", "faint"))
    return marks


def _levels(scale: Axis, left: float) -> list[Mark]:
    """The grid of an axis that stands at the left, with the values of its ticks."""
    marks: list[Mark] = []
    for tick in scale.ticks:
        marks.append(Line(left, scale.at(tick), WIDTH, scale.at(tick)))
        marks.append(Label(left - 6, scale.at(tick) + 4, scale.text(tick), "end", "faint"))
    return marks


def trade(evidence: Evidence, names: Sequence[str], tables: Mapping[str, Kept]) -> Picture | None:
    """The two sides of the metric that ranks against each other, each submission a cross of its intervals."""
    across, up = evidence.sides
    rows = [_rows(evidence.intervals, names, side) for side in (across, up)]
    known = [(i, x, y) for i, (x, y) in enumerate(zip(*rows, strict=True)) if x is not None and y is not None]
    if not known:
        return None
    x_axis = axis([x[bound] for _, x, _ in known for bound in BOUNDS], 48, WIDTH - 14, TRADED)
    y_axis = axis([y[bound] for _, _, y in known for bound in BOUNDS], HEIGHT - FOOT - 14, 12, TRADED)
    marks = _levels(y_axis, 42)
    marks += [Label(x_axis.at(at), HEIGHT - FOOT + 4, x_axis.text(at), "middle", "faint") for at in x_axis.ticks]
    marks.append(Label(WIDTH, HEIGHT - 2, wording.title(across) or across, "end", "faint"))
    marks.append(Label(0, 2, wording.title(up) or up, style="faint"))
    if evidence.ranks in ("f1", "AP"):
        marks += _equal_f1(x_axis, y_axis)
    if "sweep" in tables and up == "precision":
        marks += _swept(tables["sweep"].table, names, x_axis, y_axis)
    texts = []
    for series, x, y in known:
        at, level = x_axis.at(x["estimate"]), y_axis.at(y["estimate"])
        texts.append(f"{names[series]}: {across} {_with_range(x)}, {up} {_with_range(y)}")
        marks += [_across(x_axis, level, x, series), _upright(y_axis, at, y, series)]
        marks.append(Dot(at, level, series, texts[-1], 6))
    title = f"The trade: {wording.title(up)} against {wording.title(across)}"
    return Picture("first-trade", title, WIDTH, HEIGHT, marks, "; ".join(texts))


def _equal_f1(x_axis: Axis, y_axis: Axis) -> list[Mark]:
    """Lines of equal F1 through the picture, in steps of 10 points; of 20 where it shows much."""
    marks: list[Mark] = []
    step = 0.1 if x_axis.high - x_axis.low < WIDE else 0.2
    recall = np.linspace(max(x_axis.low, 0.01), x_axis.high, 80)
    for f1 in np.arange(step, 0.99, step):
        with np.errstate(divide="ignore", invalid="ignore"):
            precision = f1 * recall / (2 * recall - f1)
        inside = (2 * recall > f1) & (precision >= y_axis.low) & (precision <= y_axis.high)
        if inside.sum() > 2:
            points = [(x_axis.at(r), y_axis.at(p)) for r, p in zip(recall[inside], precision[inside], strict=True)]
            marks.append(Path(points, "dashed"))
            x, y = points[-1]
            marks.append(Label(min(x, WIDTH - 14), y - 4, f"F1 {f1:.0%}", "end", "faint"))
    return marks


def _swept(curve: pd.DataFrame, names: Sequence[str], x_axis: Axis, y_axis: Axis) -> list[Mark]:
    """What each submission reaches at other thresholds of its score, as far as the picture goes."""
    marks: list[Mark] = []
    for series, name in enumerate(names):
        rows = curve[curve["submission"] == name].sort_values("score_threshold")
        inside = rows["recall"].between(x_axis.low, x_axis.high) & rows["precision"].between(y_axis.low, y_axis.high)
        places = rows[inside]
        points = [(x_axis.at(x), y_axis.at(y)) for x, y in zip(places["recall"], places["precision"], strict=True)]
        if len(points) > 1:
            marks.append(Path(points, "thin", series))
    return marks


def costs(evaluation: Evaluation, names: Sequence[str], tables: Mapping[str, Kept]) -> Picture | None:
    """What each kind of error costs, in points of the metric that ranks, as far as that is known."""
    of_ap = "precision_costs" in tables
    if not of_ap and "error_costs" not in tables:
        return None  # the page has no section that costs stand in
    table = tables["precision_costs" if of_ap else "error_costs"].table
    metric = next(name for name in (evaluation.headline[0], "AP", "f1") if f"{name}_gain" in table)
    rows = table[~table["kind"].isin(drawn_tables.TOGETHER)].assign(gain=table[f"{metric}_gain"])
    rows = rows[rows["gain"].notna() & rows["submission"].isin(names)]
    worst = rows.groupby("kind", observed=True, sort=False)["gain"].max().sort_values(ascending=False, kind="stable")
    worst = worst[worst > 0].head(MOST_KINDS)
    if not len(worst):
        return None
    left, right = 150, WIDTH - 44
    per_point = (right - left) / (100 * worst.iloc[0])
    high = (HEIGHT - 4) / len(worst)
    thick = min(11.0, (high - 6) / len(names))
    marks, texts = list[Mark](), list[str]()
    for place, kind in enumerate(worst.index):
        top = place * high + (high - thick * len(names)) / 2
        named = wording.KINDS_IN_SHORT.get(str(kind), display.words(str(kind)))
        marks.append(Label(0, place * high + high / 2 + 4, named))
        of_kind = rows[rows["kind"] == kind].set_index("submission")["gain"]
        for series, name in enumerate(names):
            if name not in of_kind.index:
                continue
            lost = 100 * float(of_kind[name])
            title = f"{name}: {named} ({display.words(str(kind))}) costs {lost:.1f} points of {wording.title(metric)}"
            marks.append(Bar(left, top + series * thick, max(lost, 0) * per_point, thick - 1, series, title))
            if thick > 8:
                x = left + max(lost, 0) * per_point + 5
                marks.append(Label(x, top + (series + 0.5) * thick + 4, f"{lost:.1f}", series=series, style="strong"))
            texts.append(title)
    title = f"What errors cost: points of {wording.title(metric)}"
    return Picture("first-costs", title, WIDTH, HEIGHT, marks, "; ".join(texts))


def where(evaluation: Evaluation, names: Sequence[str]) -> Picture | None:
    """Where objects are found: recall, of tracks by condition HOTA, by slices."""
    found = sliced(evaluation, names)
    if found is None:
        return None
    rows = [
        row for series in range(len(names)) for row in _slices(found.intervals[names[series]], found.slices, series)
    ]
    if not rows:
        return None
    y_axis = axis([row[bound] for _, _, row in rows for bound in BOUNDS], HEIGHT - FOOT - 14, 12)
    step = (WIDTH - 56) / len(found.slices)
    spread = min(9.0, step / (len(names) + 1))
    marks, texts = _levels(y_axis, 42), list[str]()
    for place, text in enumerate(found.shown):
        short = shortened(text, max(4, min(LONGEST_SLICE, int(step / CHARACTER))))
        marks.append(Label(50 + (place + 0.5) * step, HEIGHT - FOOT + 4, short, "middle", "faint"))
    places = {
        (series, place): (
            50 + (place + 0.5) * step + (series - (len(names) - 1) / 2) * spread,
            y_axis.at(row["estimate"]),
        )
        for series, place, row in rows
    }
    for series in range(len(names)):
        points = [at for (of, _), at in places.items() if of == series]
        marks += [Path(points, "thin", series)] if len(points) > 1 else []
    for series, place, row in rows:
        x, y = places[series, place]
        texts.append(
            f"{names[series]}: {found.metric} {_with_range(row)} where {found.column} is {found.slices[place]}"
        )
        marks.append(_upright(y_axis, x, row, series))
        marks.append(Dot(x, y, series, texts[-1], 4.5))
    marks.append(Label(WIDTH, HEIGHT - 2, found.column, "end", "faint"))
    title = f"Where: {wording.title(found.metric)} by {found.column}"
    return Picture("first-where", title, WIDTH, HEIGHT, marks, "; ".join(texts))


def _slices(table: pd.DataFrame, slices: Sequence[str], series: int) -> Iterator[tuple[int, int, pd.Series]]:
    """The submission, the place of the slice, and the row, of each slice whose metric is known."""
    rows = {str(row["slice"]): row for _, row in table.iterrows() if not np.isnan(row["estimate"])}
    for place, text in enumerate(slices):
        if text in rows:
            yield series, place, rows[text]
