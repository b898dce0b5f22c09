"""The detections, sorted by score, and the truths that each of them is similar to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...geometries import Rows, geometry_of
from ...matching import Aligned, Pairs, Rule, alignment, crowds, join_pairs
from ...support import InputError, arrays
from ...tables import Columns, as_numbers, checks, dataframe_of, provenance, schema
from . import verified
from .categories import Named, categories_of
from .protocol_entries import Protocol


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
        The position of each detection among those of its frame and category, or of its frame, (D,).
    area, truth_area
        The areas of detections (D,) and of truths (G,), px²; null where they are not known.
    is_crowd, is_ignored
        Marks the truths that are crowds, and those that never count: crowds, those that the column `ignore` marks, and
        poses without a labelled joint, (G,).
    is_excused
        Marks the detections that are not wrong without a match, since not all truths of their category are labelled in
        their frame, (D,).
    pairs
        The detections, as positions in this order, and the truths that are similar enough for the lowest threshold.
    beyond
        The detections that do not count, since there are more of their frame and category, or of their frame.
    n_unverified
        How many detections do not count, since nobody has looked for their category in their frame.
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
    is_excused: np.ndarray
    pairs: Pairs
    beyond: Beyond
    n_unverified: int = 0

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


class Kept(NamedTuple):
    """What is known of detections that were sorted before: the similar rows, and what does not count."""

    pairs: Pairs
    beyond: Beyond
    n_unverified: int


class Ready(NamedTuple):
    """What of two aligned sides is the same for many protocols.

    `named` are their categories, `by_score` (P,) the predictions from the highest score down, of equal scores in file
    order, `areas` those of truths (G,) and of predictions (P,), px², null where they are not known, and `pairs` the
    similar rows, and `never_found` marks the truths that no prediction can find, each None where that is not known.
    """

    named: Named
    by_score: np.ndarray
    areas: tuple[np.ndarray, np.ndarray]
    pairs: Pairs | None = None
    never_found: np.ndarray | None = None


def ready_sides(
    aligned: Aligned, pairs: Pairs | None = None, areas: tuple[np.ndarray, np.ndarray] | None = None
) -> Ready:
    """What protocols share of two aligned sides, whose areas may be known; raises InputError if areas are wrong."""
    truth, predictions = aligned.truth.table, aligned.predictions.table
    areas = (areas_of_rows(truth, "truth"), areas_of_rows(predictions, "predictions")) if areas is None else areas
    return Ready(categories_of(aligned), np.argsort(-as_numbers(predictions["score"]), kind="stable"), areas, pairs)


def sorted_detections(
    aligned: Aligned, rule: Rule, protocol: Protocol, kept: Kept | None = None, ready: Ready | None = None
) -> Detections:
    """Sorts the predictions of aligned sides; those with the highest scores of each frame (and category) count.

    `kept` is what is known already; the predictions are then those that count. `ready` is what was made ready before.
    Raises InputError if areas or flags of crowds are null or of the wrong type, or if the protocol needs columns that
    the truth does not have.
    """
    if protocol.parents and kept is None:
        expanded = verified.with_parents(aligned)
        aligned, ready = expanded, ready if expanded is aligned else None
    ready = ready_sides(aligned) if ready is None else ready
    if protocol.last_first:
        score = as_numbers(aligned.predictions.table["score"])
        ready = ready._replace(by_score=np.lexsort((-np.arange(len(score)), -score)))
    order, rank = _order(aligned, ready, protocol)
    if kept is None:
        counting, kept = _counting(aligned, ready.named, order, rank, protocol)
        if not counting.all():
            aligned, ready = _left(aligned, ready, counting)
            order, rank = _order(aligned, ready, protocol)
    else:
        ready = ready._replace(pairs=kept.pairs)
    named, pairs = ready.named, ready.pairs
    truth, predictions = aligned.truth.table, aligned.predictions
    is_crowd, ignored = (np.zeros(len(truth), bool) if of is None else of for of in crowds.marks(truth))
    never_found, is_never_found = rule.geometry.never_found, ready.never_found
    if never_found is not None:
        ignored = ignored | (never_found(truth) if is_never_found is None else is_never_found)
    is_excused = verified.is_not_exhaustive(aligned, named) if protocol.verified else np.zeros(len(order), bool)
    pairs = rule.pairs_of_precision(aligned, is_crowd, protocol.loosest) if pairs is None else pairs
    return Detections(
        aligned,
        order,
        predictions.frame[order],
        named.of_predictions[order],
        named.of_truth,
        named.names,
        as_numbers(predictions.table["score"])[order],
        rank,
        ready.areas[1][order],
        ready.areas[0],
        is_crowd,
        ignored if protocol.groups else is_crowd | ignored,
        is_excused[order],
        _in_order(pairs, order),
        kept.beyond,
        kept.n_unverified,
    )


def _counting(
    aligned: Aligned, named: Named, order: np.ndarray, rank: np.ndarray, protocol: Protocol
) -> tuple[np.ndarray, Kept]:
    """Marks the predictions that count, and says how many do not: beyond the most, or of unverified categories."""
    is_beyond = np.zeros(len(order), bool)
    if protocol.max_detections is not None:
        is_beyond[order] = rank >= protocol.max_detections
    crowded = np.bincount(aligned.predictions.frame[is_beyond])
    beyond = Beyond(int(crowded.sum()), int(np.count_nonzero(crowded)))
    is_known = verified.is_verified(aligned, named) if protocol.verified else np.ones(len(order), bool)
    return ~is_beyond & is_known, Kept(join_pairs([]), beyond, int((~is_beyond & ~is_known).sum()))


def _left(aligned: Aligned, ready: Ready, counting: np.ndarray) -> tuple[Aligned, Ready]:
    """The sides with only the predictions that count, and what was ready of them."""
    place, (named, by_score, areas, pairs, _) = np.cumsum(counting) - 1, ready
    if pairs is not None:
        pairs = pairs.take(np.flatnonzero(counting[pairs.prediction]))
        pairs = pairs._replace(prediction=place[pairs.prediction])
    named = named._replace(of_predictions=named.of_predictions[counting])
    left = alignment.select_rows(aligned, np.ones(len(aligned.truth.frame), bool), counting)
    by_score = place[by_score[counting[by_score]]]
    return left, Ready(named, by_score, (areas[0], areas[1][counting]), pairs, ready.never_found)


def similar_of_any_category(detections: Detections, rule: Rule, least: float) -> Pairs:
    """The pairs of detections, as positions, and truths of whatever category whose similarity is at least `least`.

    Raises InputError if similarity was measured by a function that the rule, which was read from files, has lost.
    """
    if rule.geometry.measure is None:
        raise InputError(f"the saved result knows its similarity, {rule.name}, by name only; evaluate again")
    aligned = alignment.without_categories(detections.aligned)
    return _in_order(rule.pairs_of_precision(aligned, detections.is_crowd, least), detections.row)


def _order(aligned: Aligned, ready: Ready, protocol: Protocol) -> tuple[np.ndarray, np.ndarray]:
    """The order of the predictions by category and falling score, and, in that order, each one's rank in its frame."""
    by_score, category, frame = ready.by_score, ready.named.of_predictions, aligned.predictions.frame
    order = by_score[arrays.stable_order(category[by_score], len(ready.named.names))]
    if protocol.max_detections is None:
        return order, np.zeros(len(order), np.int64)  # nobody asks
    if protocol.max_detections_of == "frame":
        rank = np.empty(len(order), np.int64)
        rank[by_score] = arrays.ranks(frame[by_score])
        return order, rank[order]
    return order, arrays.ranks(category[order] * len(aligned.frames) + frame[order])


def _in_order(pairs: Pairs, order: np.ndarray) -> Pairs:
    """Pairs whose predictions are positions in `order`, instead of rows."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return pairs._replace(prediction=place[pairs.prediction])


def areas_of_rows(table: Columns, side: str) -> np.ndarray:
    """The column `area` (px²), or without one what their geometry knows, as of boxes; null where it knows none."""
    if "area" in table:
        name = provenance.source(table, side)
        problems = checks.size_problems(dataframe_of(table.select([*schema.OBJECT_KEY, "area"])), "area", name, "")
        if problems:
            raise InputError([f"{problem}; without the column, areas are w * h" for problem in problems])
        return as_numbers(table["area"])
    size = geometry_of(table).size
    return np.full(len(table), np.nan) if size is None else size(Rows(table))
