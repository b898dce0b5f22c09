"""The detections, sorted by score, and the truths that each of them is similar to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...geometries import Rows, geometry_of
from ...matching import Aligned, Pairs, Rule, alignment, crowds
from ...support import InputError, arrays
from ...tables import Columns, array_of, as_numbers, checks, dataframe_of, provenance, schema


class Beyond(NamedTuple):
    """How many detections are beyond the most of a frame and category, and in how many frames."""

    n_detections: int = 0
    n_frames: int = 0


class Detections(NamedTuple):
    """Detections in the order in which they are counted: by category, the highest score first, then in file order.

    Attributes
    ----------
    aligned
        The two sides, with the predictions that count: the highest scores of each frame and category.
    row
        The row of each of the D detections in the side of predictions, (D,).
    frame
        The position of each detection's frame, (D,).
    category, truth_category
        The category of each detection (D,) and of each of the G truths (G,), as a position in `categories`.
    categories
        The names of the K categories; a single null if there are none.
    score
        The score of each detection, (D,).
    rank
        The position of each detection among those of its frame and category, (D,).
    area, truth_area
        The areas of detections (D,) and of truths (G,), px²; null where they are not known.
    is_crowd, is_ignored
        Marks the truths that are crowds, and those that never count: crowds, those that the column `ignore` marks, and
        poses without a labelled joint, (G,).
    pairs
        The detections, as positions in this order, and the truths that are similar enough for the lowest threshold.
    beyond
        The detections that do not count, since there are more of their frame and category.
    """

    aligned: Aligned
    row: np.ndarray
    frame: np.ndarray
    category: np.ndarray
    truth_category: np.ndarray
    categories: Any
    score: np.ndarray
    rank: np.ndarray
    area: np.ndarray
    truth_area: np.ndarray
    is_crowd: np.ndarray
    is_ignored: np.ndarray
    pairs: Pairs
    beyond: Beyond

    @property
    def starts(self) -> np.ndarray:
        """The first detection of each category, and the end, (K + 1,)."""
        return np.searchsorted(self.category, np.arange(len(self.categories) + 1))

    @property
    def by_score(self) -> np.ndarray:
        """The detections of all categories together, the highest score first, then in file order, (D,)."""
        return np.lexsort((self.row, -self.score))

    @property
    def has_categories(self) -> bool:
        """Whether both sides have categories."""
        return self.aligned.truth.category is not None and self.aligned.predictions.category is not None


def sorted_detections(
    aligned: Aligned, rule: Rule, most: int, least: float, kept: tuple[Pairs, Beyond] | None = None
) -> Detections:
    """Sorts the predictions of aligned sides; of each frame and category, the `most` with the highest scores count.

    Rows are similar from `least` on. `kept` are the similar rows and what was beyond the most, where both are known
    already: the predictions are then those that count.
    Raises InputError if areas or flags of crowds are null or of the wrong type.
    """
    truth_category, category, names = _categories(aligned)
    order, rank = _order(aligned, category)
    beyond = Beyond() if kept is None else kept[1]
    if np.any(rank >= most):
        crowded = np.bincount(aligned.predictions.frame[order[rank >= most]])
        beyond = Beyond(int(crowded.sum()), int(np.count_nonzero(crowded)))
        counting = np.zeros(len(order), bool)
        counting[order[rank < most]] = True
        aligned = alignment.select_rows(aligned, np.ones(len(aligned.truth.frame), bool), counting)
        category = category[counting]
        order, rank = _order(aligned, category)
    truth, predictions = aligned.truth.table, aligned.predictions
    marked = crowds.marks(truth)
    is_crowd, ignored = (np.zeros(len(truth), bool) if of is None else of for of in marked)
    never_found = rule.geometry.never_found
    is_ignored = is_crowd | ignored if never_found is None else is_crowd | ignored | never_found(truth)
    pairs = rule.pairs_of_precision(aligned, is_crowd, least) if kept is None else kept[0]
    return Detections(
        aligned,
        order,
        predictions.frame[order],
        category[order],
        truth_category,
        names,
        as_numbers(predictions.table["score"])[order],
        rank,
        _areas(predictions.table, "predictions")[order],
        _areas(truth, "truth"),
        is_crowd,
        is_ignored,
        _in_order(pairs, order),
        beyond,
    )


def similar_of_any_category(detections: Detections, rule: Rule, least: float) -> Pairs:
    """The pairs of detections, as positions, and truths of whatever category whose similarity is at least `least`.

    Raises InputError if similarity was measured by a function that the rule, which was read from files, has lost.
    """
    if rule.geometry.measure is None:
        raise InputError(f"the saved result knows its similarity, {rule.name}, by name only; evaluate again")
    aligned = alignment.without_categories(detections.aligned)
    return _in_order(rule.pairs_of_precision(aligned, detections.is_crowd, least), detections.row)


def _categories(aligned: Aligned) -> tuple[np.ndarray, np.ndarray, Any]:
    """The category of each truth and of each prediction, as positions in the names, and the names.

    If the truth's categories are of a categorical type, the names are all of that type, in its order, then others.
    """
    import pandas as pd

    from ...support import pandas_tables

    sides, unnamed = (aligned.truth, aligned.predictions), array_of(pd.Series([None], dtype=pandas_tables.TEXT))
    if aligned.truth.category is None or aligned.predictions.category is None:
        alone = [np.zeros(len(side.frame), np.int64) for side in sides]
        return alone[0], alone[1], unnamed
    columns = [pd.Series(side.table["category"], copy=False) for side in sides]
    listed = getattr(columns[0].dtype, "categories", pd.Index([]))
    plain = [checks.decoded(column) for column in columns]
    filled = [column for column in plain if len(column)] or plain[:1]
    others = pd.Index(pd.concat(filled, ignore_index=True).dropna().unique()).difference(listed)
    names = listed.append(others) if len(listed) else others
    if not len(names):  # there are only crowds of any category
        return np.zeros(len(plain[0]), np.int64), np.zeros(0, np.int64), unnamed
    of_truth, of_predictions = (names.get_indexer(pd.Index(column)) for column in plain)
    of_truth = np.maximum(of_truth, 0)  # a crowd of any category counts in none
    return of_truth, of_predictions, array_of(pandas_tables.as_text(names.to_series()))


def _order(aligned: Aligned, category: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The order of the predictions by category and falling score, and, in that order, each one's rank in its frame."""
    side = aligned.predictions
    order = np.lexsort((-as_numbers(side.table["score"]), category))
    return order, arrays.ranks(category[order] * len(aligned.frames) + side.frame[order])


def _in_order(pairs: Pairs, order: np.ndarray) -> Pairs:
    """Pairs whose predictions are positions in `order`, instead of rows."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return pairs._replace(prediction=place[pairs.prediction])


def _areas(table: Columns, side: str) -> np.ndarray:
    """The column `area` (px²), or without one what their geometry knows, as of boxes; null where it knows none."""
    if "area" in table:
        name = provenance.source(table, side)
        problems = checks.size_problems(dataframe_of(table.select([*schema.OBJECT_KEY, "area"])), "area", name, "")
        if problems:
            raise InputError([f"{problem}; without the column, areas are w * h" for problem in problems])
        return as_numbers(table["area"])
    size = geometry_of(table).size
    return np.full(len(table), np.nan) if size is None else size(Rows(table))
