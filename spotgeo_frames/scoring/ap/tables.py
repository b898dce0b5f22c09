"""The tables of a result: its numbers by category, its curves, and its matches at each threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...matching import Pairs, layout
from ...support import memory
from ...tables import Columns, DeferredText, array_of, dataframe_of, match_dataframe, schema
from .categories import column_of
from .curves import is_right
from .evaluate import Matched, curves_by_area
from .interpolation import CURVES
from .numbers import ByCategory, threshold_position
from .texts import thresholds_text

if TYPE_CHECKING:
    import pandas as pd

    from .curves import Averages
    from .detections import Detections
    from .scopes import Scope

# The columns of counts in `summary` and `categories`, which are of the area range "all".
COUNTS = ("n_truth", "n_predicted")

# How many bytes a row of the table of curves takes while it is made.
ROW_BYTES = 120

# Marks what is ignored on its way into the match table. The space keeps it apart from the user's own columns.
MARK = " ignored"

# Notes of the thresholds, which are a column of match tables.
OF_COLUMNS = ("threshold", "thresholds")

# The columns of match tables that would count each frame's objects once a threshold, with those that are ignored.
FRAME_COUNTS = ("frame_n_truth", "frame_n_predicted")


def summary_table(matched: Matched, numbers: ByCategory, categories: Columns) -> Columns:
    """One row: the numbers of the categories together, and how many frames, truths and detections count."""
    counts = {"n_frames": len(matched.detections.aligned.frames)} | {name: categories[name].sum() for name in COUNTS}
    columns = {name: np.array([value], np.float64) for name, value in numbers.combined.items()}
    columns |= {name: np.array([value], np.int64) for name, value in counts.items()}
    return noted_summary(Columns(columns), matched)


def noted_summary(summary: Columns, matched: Matched) -> Columns:
    """A summary with its notes, and with a last column that names the thresholds unless they are the protocol's."""
    protocol = matched.protocol
    if protocol.thresholds != protocol.entry.thresholds:
        text = thresholds_text(matched.thresholds, by_distance=protocol.by_distance)
        summary = summary.assign({"thresholds": DeferredText.of([text] * len(summary))})
    summary.attrs = matched.notes
    return summary


def category_columns(matched: Matched, numbers: ByCategory, averages: Mapping[str, Averages]) -> Columns:
    """One row a category: its numbers, and how many truths and detections count."""
    own = matched.protocol.by_category
    names = matched.detections.categories
    columns: dict[str, Any] = {"category": column_of(names)}
    if own:
        columns["threshold"] = np.array([own.get(name, matched.thresholds[0]) for name in names])
    counts = {name: getattr(averages["all"], name).astype(np.int64) for name in COUNTS}
    return Columns(columns | numbers.values | counts, matched.notes)


def curve_table(matched: Matched) -> pd.DataFrame:
    """One row a category, area range, threshold and recall point: `precision`, and the `score` that reaches it."""
    import pandas as pd

    names, n_areas, recalls = (
        matched.detections.category_column,
        len(matched.scopes),
        CURVES[matched.protocol.interpolation].recalls,
    )
    n_rows = len(names) * n_areas * len(matched.thresholds) * len(recalls)
    advice = "evaluate fewer categories, or give fewer thresholds="
    memory.check_at_hand("curve", f"the curves of {len(names):,} categories", ROW_BYTES * n_rows, advice)
    curves = curves_by_area(matched)
    shape = len(names), n_areas, len(matched.thresholds), len(recalls)
    places = np.indices(shape).reshape(len(shape), -1)
    keys = {
        "category": names.take(places[0]),
        "area": np.array([*curves], object).take(places[1]),
        "threshold": matched.thresholds.take(places[2]),
        "recall": recalls.take(places[3]),
    }
    values = {
        name: np.stack([getattr(of, name) for of in curves.values()]).transpose(2, 0, 1, 3).ravel()
        for name in ("precision", "score")
    }
    columns = Columns({name: array_of(of) for name, of in (keys | values).items()}, matched.notes)
    return dataframe_of(columns).astype({"area": pd.CategoricalDtype([*curves])})


def match_tables(matched: Matched, thresholds: Sequence[float]) -> pd.DataFrame:
    """The match tables of objects of all areas at these thresholds, one after another."""
    import pandas as pd

    positions = [threshold_position(threshold, among=matched.thresholds) for threshold in thresholds]
    tables = [_match_table(matched, position) for position in positions]
    matches = pd.concat(tables, ignore_index=True) if len(tables) > 1 else tables[0]
    matches.attrs = {key: value for key, value in matched.notes.items() if key not in OF_COLUMNS}
    return matches


def _match_table(matched: Matched, position: int) -> pd.DataFrame:
    """The match table at the threshold in this position. What is ignored has rows, too, and is marked."""
    detections, scope, pairs = matched.detections, matched.scopes["all"], matched.matches["all"].at(position)
    of_prediction = np.empty(len(detections.row), bool)
    of_prediction[detections.row] = is_ignored(matched, position)
    # A truth that several detections may have is a row of one; the others have rows of their own.
    pairs = pairs.take(np.flatnonzero(shares_row(detections, scope, pairs)))
    pairs = pairs._replace(prediction=detections.row[pairs.prediction])
    aligned = detections.aligned
    sides = [
        side._replace(table=side.table.assign({MARK: marked}))
        for side, marked in ((aligned.truth, ~scope.counts), (aligned.predictions, of_prediction))
    ]
    rule = replace(matched.rule, tau=matched.thresholds[position]) if matched.rule.by_distance else matched.rule
    table = layout.match_table(aligned._replace(truth=sides[0], predictions=sides[1]), pairs, rule)
    marks = [np.asarray(table[side + MARK].fillna(False), bool) for side in schema.SIDE_PREFIXES]
    names = [name for name in table if name not in FRAME_COUNTS and not name.endswith(MARK)]
    place = names.index("outcome")
    columns = {name: table[name] for name in names}
    added = {"threshold": np.full(len(table), matched.thresholds[position]), "ignored": marks[0] | marks[1]}
    ordered = [*names[:place], "threshold", "outcome", "ignored", *names[place + 1 :]]
    return match_dataframe(Columns(columns | added, table.attrs).select(ordered))


def is_ignored(matched: Matched, position: int) -> np.ndarray:
    """Marks the detections that are neither right nor wrong at the threshold in this position, (D,)."""
    scope, pairs = matched.scopes["all"], matched.matches["all"].at(position)
    ignored = ~scope.within
    ignored[pairs.prediction] = ~is_right(matched.detections, scope, pairs)
    return ignored


def shares_row(detections: Detections, scope: Scope, pairs: Pairs) -> np.ndarray:
    """Marks the matched pairs that share a row of the match table.

    A truth that several detections may have shares the row of one: a group that of the right one, other crowds none.
    """
    shares = is_right(detections, scope, pairs) | ~detections.is_crowd[pairs.truth]
    _, first = np.unique(pairs.truth, return_index=True)
    is_first = np.zeros(len(shares), bool)
    is_first[first] = True
    return shares & is_first
