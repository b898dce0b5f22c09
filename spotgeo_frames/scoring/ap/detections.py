"""The detections that count, sorted by score, and the pairs of detections and truths that are similar."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...geometries import Rows, geometry_of
from ...matching import Aligned, Pairs, Rule, alignment, crowds
from ...support import InputError, arrays
from ...tables import Columns, as_numbers, number_checks, provenance, schema
from . import verified
from .categories import Named, categories_of, column_of, with_parents
from .protocol_entries import Protocol

# What a threshold of 1 is lowered to (cocoeval.py, evaluateImg).
ALMOST_ONE = 1 - 1e-10


class LeftOut(NamedTuple):
    """How many detections do not count.

    `beyond` of them, in `beyond_frames` frames, come after the most that count of a frame and category, or of a frame;
    `unverified` more are of categories that nobody has looked for in their frame.
    """

    beyond: int = 0
    beyond_frames: int = 0
    unverified: int = 0


class Detections(NamedTuple):
    """The D detections that count, and the G truths, of K categories.

    Detections stand in the order in which they are counted: by category, and in each from the highest score down. Equal
    scores are in file order, or the other way round, as the protocol says. Truths stand in the order of their side.

    Attributes
    ----------
    aligned
        The two sides; that of the predictions has only those that count.
    row
        The row of each detection in the side of predictions, (D,).
    frame
        The position of each detection's frame, (D,).
    category, truth_category
        The category of each detection (D,) and of each truth (G,), as a position in `categories`.
    categories
        The names of the categories, (K,); a single null if there are none.
    score
        The score of each detection, (D,).
    rank
        How many detections of its frame and category come before each, (D,), or of its frame where the protocol limits
        these; None where the protocol limits neither.
    area, truth_area
        The areas of detections (D,) and of truths (G,), px²; null where they are not known.
    is_crowd
        Marks the truths that are crowds, (G,).
    is_ignored
        Marks the truths that never count, (G,): those that the column `ignore` marks, poses without a labelled joint,
        and crowds, unless the protocol counts them as groups.
    is_excused
        Marks the detections that are no false alarms without a match, (D,), because their category is labelled in part
        only in their frame; None where the protocol excuses none.
    pairs
        The pairs that are similar enough for the loosest threshold, with detections as positions in this order.
    left_out
        How many predictions do not count.
    """

    aligned: Aligned
    row: np.ndarray
    frame: np.ndarray
    category: np.ndarray
    truth_category: np.ndarray
    categories: Any
    score: np.ndarray
    rank: np.ndarray | None
    area: np.ndarray
    truth_area: np.ndarray
    is_crowd: np.ndarray
    is_ignored: np.ndarray
    is_excused: np.ndarray | None
    pairs: Pairs
    left_out: LeftOut

    @property
    def starts(self) -> np.ndarray:
        """The first detection of each category, and the end, (K + 1,)."""
        return np.searchsorted(self.category, np.arange(len(self.categories) + 1))

    @property
    def category_column(self) -> Any:
        """The names of the categories as a column of a table has them, (K,)."""
        return Columns({"category": column_of(self.categories)})["category"]

    @property
    def by_score(self) -> np.ndarray:
        """The detections of all categories together, the highest score first, then in file order, (D,)."""
        return np.lexsort((self.row, -self.score))

    @property
    def has_categories(self) -> bool:
        """Whether both sides have categories."""
        return self.aligned.truth.category is not None and self.aligned.predictions.category is not None


class Ready(NamedTuple):
    """What many protocols share of two aligned sides, so that it is computed once.

    Attributes
    ----------
    named
        The categories of both sides.
    by_score
        The predictions from the highest score down, of equal scores in file order, (P,).
    areas
        Those of truths (G,) and of predictions (P,), px²; null where they are not known.
    pairs
        The similar rows; None where nobody has looked for them yet.
    never_found
        Marks the truths that no prediction can find, (G,); None where the truth has still to tell.
    labelled
        What of the categories of predictions is labelled in their frames; None where no protocol has asked yet.
    """

    named: Named
    by_score: np.ndarray
    areas: tuple[np.ndarray, np.ndarray]
    pairs: Pairs | None = None
    never_found: np.ndarray | None = None
    labelled: verified.Labelled | None = None


def ready_sides(
    aligned: Aligned, pairs: Pairs | None = None, areas: tuple[np.ndarray, np.ndarray] | None = None
) -> Ready:
    """What protocols share of two aligned sides, whose areas may be known; raises InputError if areas are wrong."""
    truth, predictions = aligned.truth.table, aligned.predictions.table
    areas = (areas_of_rows(truth, "truth"), areas_of_rows(predictions, "predictions")) if areas is None else areas
    return Ready(categories_of(aligned), arrays.falling_order(as_numbers(predictions["score"])), areas, pairs)


def sorted_detections(
    aligned: Aligned, rule: Rule, protocol: Protocol, ready: Ready | None = None, like: Detections | None = None
) -> Detections:
    """Sorts the predictions of aligned sides that count by a protocol; `ready` is what was made ready of the sides.

    `like` are the detections of another protocol that sorts equal scores alike; where all predictions count by both,
    they are sorted once. Raises InputError if areas or flags of crowds are null or of the wrong type.
    """
    expanded = with_parents(aligned) if protocol.parents else aligned
    ready = ready if ready is not None and expanded is aligned else ready_sides(expanded)
    ready = with_labelled(expanded, ready, protocol)
    like = like if like is not None and like.aligned is expanded else None
    place = _place(expanded, ready, protocol, None if like is None else like.row)
    counts, left_out = _counting(expanded, ready, place, protocol)
    if not counts.all():
        expanded, ready, place = _only(expanded, ready, place, counts)
    elif like is not None:
        return _counted_anew(like, rule, protocol, ready, place, left_out)
    return _detections(expanded, rule, protocol, ready, place, left_out)


def with_labelled(aligned: Aligned, ready: Ready, protocol: Protocol) -> Ready:
    """What was made ready of aligned sides, with what of the categories is labelled if the protocol needs it."""
    if ready.labelled is not None or not protocol.verified:
        return ready
    return ready._replace(labelled=verified.labelled_of(aligned, ready.named))


def sorted_again(aligned: Aligned, rule: Rule, protocol: Protocol, pairs: Pairs, left_out: LeftOut) -> Detections:
    """Sorts predictions that were sorted before, and all count; the pairs of similar rows are known."""
    ready = with_labelled(aligned, ready_sides(aligned, pairs), protocol)
    return _detections(aligned, rule, protocol, ready, _place(aligned, ready, protocol), left_out)


class _Place(NamedTuple):
    """The order of the predictions by category and falling score, and, in that order, the rank of each in its frame.

    Both are (P,); the rank is None where a protocol has no limits.
    """

    order: np.ndarray
    rank: np.ndarray | None


def _place(aligned: Aligned, ready: Ready, protocol: Protocol, order: np.ndarray | None = None) -> _Place:
    """Where the predictions of aligned sides stand; their `order` may be known."""
    by_score, category, frame = ready.by_score, ready.named.of_predictions, aligned.predictions.frame
    if protocol.last_first:
        score = as_numbers(aligned.predictions.table["score"])
        by_score = len(score) - 1 - arrays.falling_order(score[::-1])
    if order is None:
        order = by_score[arrays.stable_order(category[by_score], len(ready.named.names))]
    if protocol.max_detections is None:
        return _Place(order, None)
    if protocol.max_detections_of == "frame":
        return _Place(order, _ranks(by_score, frame, len(aligned.frames)).take(order))
    key = category * len(aligned.frames) + frame
    return _Place(order, _ranks(by_score, key, len(ready.named.names) * len(aligned.frames)).take(order))


def _ranks(by_score: np.ndarray, key: np.ndarray, span: int) -> np.ndarray:
    """How many surer predictions of the same key, which is below `span`, there are of each prediction, (P,)."""
    order = by_score.take(arrays.stable_order(key.take(by_score), span))
    rank = np.empty(len(order), np.int64)
    rank[order] = arrays.ranks(key.take(order))
    return rank


def _counting(aligned: Aligned, ready: Ready, place: _Place, protocol: Protocol) -> tuple[np.ndarray, LeftOut]:
    """Marks the predictions that count, (P,), and says how many do not."""
    within = np.ones(len(place.order), bool)
    if place.rank is not None:
        within[place.order] = place.rank < protocol.max_detections
    crowded = np.bincount(aligned.predictions.frame[~within])
    counts = within & ready.labelled.verified if protocol.verified and ready.labelled is not None else within
    unverified = np.count_nonzero(within) - np.count_nonzero(counts)
    return counts, LeftOut(int(crowded.sum()), int(np.count_nonzero(crowded)), int(unverified))


def _only(aligned: Aligned, ready: Ready, place: _Place, counts: np.ndarray) -> tuple[Aligned, Ready, _Place]:
    """The sides with only the predictions that count, what was ready of them, and where they stand."""
    row, pairs = np.cumsum(counts) - 1, ready.pairs
    if pairs is not None:
        pairs = pairs.take(np.flatnonzero(counts[pairs.prediction]))
        pairs = pairs._replace(prediction=row[pairs.prediction])
    named = ready.named._replace(of_predictions=ready.named.of_predictions[counts])
    labelled = None if ready.labelled is None else verified.Labelled(*(of[counts] for of in ready.labelled))
    areas = ready.areas[0], ready.areas[1][counts]
    left = ready._replace(named=named, areas=areas, pairs=pairs, labelled=labelled)
    stays = counts[place.order]
    rank = None if place.rank is None else place.rank[stays]
    every_truth = np.ones(len(aligned.truth.frame), bool)
    return alignment.select_rows(aligned, every_truth, counts), left, _Place(row[place.order[stays]], rank)


def _detections(
    aligned: Aligned, rule: Rule, protocol: Protocol, ready: Ready, place: _Place, left_out: LeftOut
) -> Detections:
    """The detections of sides whose predictions all count."""
    order, named, predictions = place.order, ready.named, aligned.predictions
    is_crowd, is_ignored = _marks(aligned.truth.table, rule, ready, protocol)
    pairs = rule.pairs_of_precision(aligned, is_crowd, loosest_of(rule)) if ready.pairs is None else ready.pairs
    return Detections(
        aligned=aligned,
        row=order,
        frame=predictions.frame[order],
        category=named.of_predictions[order],
        truth_category=named.of_truth,
        categories=named.names,
        score=as_numbers(predictions.table["score"])[order],
        rank=place.rank,
        area=ready.areas[1][order],
        truth_area=ready.areas[0],
        is_crowd=is_crowd,
        is_ignored=is_ignored,
        is_excused=_excused(ready, order, protocol),
        pairs=_in_order(pairs, order),
        left_out=left_out,
    )


def _counted_anew(
    like: Detections, rule: Rule, protocol: Protocol, ready: Ready, place: _Place, left_out: LeftOut
) -> Detections:
    """The detections of another protocol, all of which count, as this protocol counts them."""
    _, is_ignored = _marks(like.aligned.truth.table, rule, ready, protocol)
    is_excused = _excused(ready, like.row, protocol)
    return like._replace(rank=place.rank, is_ignored=is_ignored, is_excused=is_excused, left_out=left_out)


def _excused(ready: Ready, order: np.ndarray, protocol: Protocol) -> np.ndarray | None:
    """Marks the detections that are no false alarms without a match, (D,); None where the protocol excuses none."""
    return ready.labelled.in_part[order] if protocol.verified and ready.labelled is not None else None


def loosest_of(rule: Rule) -> float:
    """The largest distance, or the least similarity, of the pairs that a rule finds."""
    return float((rule.tau if rule.by_distance else min(rule.threshold or 0.0, ALMOST_ONE)) or 0.0)


def _marks(truth: Columns, rule: Rule, ready: Ready, protocol: Protocol) -> tuple[np.ndarray, np.ndarray]:
    """Marks the truths that are crowds, and those that never count, (G,)."""
    is_crowd, is_ignored = (np.zeros(len(truth), bool) if of is None else of for of in crowds.marks(truth))
    if rule.geometry.never_found is not None:
        is_ignored = is_ignored | (rule.geometry.never_found(truth) if ready.never_found is None else ready.never_found)
    return is_crowd, is_ignored if protocol.groups else is_crowd | is_ignored


def similar_of_any_category(detections: Detections, rule: Rule, least: float) -> Pairs:
    """The pairs of detections, as positions, and truths of whatever category whose similarity is at least `least`.

    Raises InputError if similarity was measured by a function that the rule, which was read from files, has lost.
    """
    if rule.geometry.measure is None:
        raise InputError(f"the saved result knows its similarity, {rule.name}, by name only; evaluate again")
    aligned = alignment.without_categories(detections.aligned)
    return _in_order(rule.pairs_of_precision(aligned, detections.is_crowd, least), detections.row)


def _in_order(pairs: Pairs, order: np.ndarray) -> Pairs:
    """Pairs whose predictions are positions in `order`, instead of rows."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return pairs._replace(prediction=place[pairs.prediction])


def areas_of_rows(table: Columns, side: str) -> np.ndarray:
    """The column `area` (px²), or without one what their geometry knows, as of boxes; null where it knows none."""
    if "area" in table:
        name = provenance.source(table, side)
        problems = number_checks.size_problems(table.select([*schema.OBJECT_KEY, "area"]), "area", name, "")
        if problems:
            raise InputError([f"{problem}; without the column, areas are w * h" for problem in problems])
        return as_numbers(table["area"])
    size = geometry_of(table).size
    return np.full(len(table), np.nan) if size is None else size(Rows(table))
