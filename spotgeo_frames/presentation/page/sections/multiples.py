"""Small multiples: charts of several metrics by the same slices, in the same order and on one range, side by side."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ....scoring import OF_FEW, rests_on_few
from ...drawing import drawn_tables, wording
from ...drawing.charts import of_tables, shown_name
from ..html.blocks import Block, Figure, Figures, Text

# The metrics of tracks and poses that they show.
METRICS_OF_TRACKS = ["HOTA", "DetA", "AssA", "MOTA", "IDF1", "mota"]

# How much room there is beside the least and the greatest value, as a share of the range.
ROOM = 0.04

FEW = f"Hollow dots: {OF_FEW}."
NO_INTERVAL = "No interval{where}: {reason}."
# The most slices that a sentence names.
MOST_NAMED = 5


def small_multiples(
    name: str, table: pd.DataFrame, metrics: Sequence[str], names: Sequence[str], columns: Sequence[str]
) -> list[Block]:
    """The charts of these metrics of a table of intervals by slices; nothing where there is no number.

    `names` are the submissions, and `columns` make the slices, which are the same of every metric. Shares have one
    range; a metric in another unit has a range of its own.
    """
    known = {metric: table[table["metric"] == metric] for metric in metrics}
    known = {metric: rows for metric, rows in known.items() if rows["estimate"].notna().any()}
    if not known:
        return []
    shares = [rows for metric, rows in known.items() if wording.is_share(metric)]
    of_shares = _range(pd.concat(shares), 0.0, 1.0) if shares else None
    figures = []
    for metric, rows in known.items():
        slices = [shown_name(of) for of in drawn_tables.slice_names(rows, columns)]
        domain = of_shares if wording.is_share(metric) else _range(rows)
        drawing = of_tables.estimates_by_slice(rows, names, slices, "", metric, domain)
        figures.append(Figure(f"{name}-{metric}", f"{wording.title(metric)} by {' and '.join(columns)}", drawing))
    few = [Text(FEW, "note")] if any(rests_on_few(rows).any() for rows in known.values()) else []
    return [Figures(figures, are_small=True), *few, *without_interval(pd.concat(known.values()), names, columns)]


def without_interval(rows: pd.DataFrame, names: Sequence[str], columns: Sequence[str]) -> list[Text]:
    """Which slices of a table have a number and no interval, a sentence for each reason; none where none has any."""
    if "reason" not in rows:
        return []
    lacks = rows["estimate"].notna() & rows["low"].isna() & rows["reason"].notna()
    slices = pd.Series(drawn_tables.slice_names(rows, columns), rows.index)
    n_slices = slices[rows["estimate"].notna()].nunique()
    answer = []
    for reason, of in slices[lacks].groupby(rows["reason"][lacks], sort=False):
        lacking = rows.loc[of.index, "submission"].groupby(of, sort=False).unique()
        texts = [name if len(who) == len(names) else f"{name} ({', '.join(who)})" for name, who in lacking.items()]
        more = len(texts) - MOST_NAMED
        named = ", ".join(texts[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        is_everywhere = len(texts) == n_slices and all(len(who) == len(names) for who in lacking)
        where = "" if is_everywhere else f" where {' and '.join(columns)} is {named}"
        answer.append(Text(NO_INTERVAL.format(where=where, reason=reason), "note"))
    return answer


def _range(rows: pd.DataFrame, least: float = -np.inf, greatest: float = np.inf) -> tuple[float, float]:
    """The range of all estimates and bounds, with a little room that stays within these limits."""
    values = rows[["estimate", "low", "high"]].to_numpy(np.float64)
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    room = ROOM * (high - low) or ROOM
    return max(low - room, min(low, least)), min(high + room, max(high, greatest))
