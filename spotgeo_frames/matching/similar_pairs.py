"""Finds the similar truths and predictions of a frame: by IoU, by OKS, by distance, or by the caller's function."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..support.errors import InputError
from ..tables.columns import Columns, as_numbers
from ..tables.inputs import source
from ..tables.messages import missing
from ..tables.other_words import way_out
from ..tables.schema import BOX, pose_columns
from .alignment import Aligned, select_rows
from .callers_measure import called
from .near_boxes import overlapping
from .near_points import near_points
from .pairs import SIMILAR_AT_ONCE, Pairs, all_pairs, frame_chunks, gathered, join_pairs, same_category
from .similarity import Measure, coco_iou, covered_share, oks, point_similarity

# A function from rows of truth and rows of predictions to the similarity of each pair.
RowMeasure = Callable[[np.ndarray, np.ndarray], np.ndarray]

# A function that finds the pairs of the frames [first, last) that are at most so far apart.
NearWithin = Callable[[int, int, float], Pairs]


def check_boxes(aligned: Aligned) -> None:
    """Raises InputError if a side that has rows lacks a column of boxes."""
    sides = {"truth": aligned.truth.table, "predictions": aligned.predictions.table}
    why = "boxes need w and h (similarity='point' compares points, 'oks' poses)"
    problems = [
        missing(source(table, name), column, table.columns, way_out(why, table.columns))
        for name, table in sides.items()
        for column in ("w", "h")
        if column not in table and len(table)
    ]
    if problems:
        raise InputError(problems)


def flat_boxes(truth: Columns, predictions: Columns) -> str | None:
    """A warning of boxes of zero or negative size, which overlap with no box; None if there are none."""
    counts = {
        name: int(((table["w"] <= 0) | (table["h"] <= 0)).sum()) if {"w", "h"} <= {*table} else 0
        for name, table in (("truth", truth), ("predictions", predictions))
    }
    if not any(counts.values()):
        return None
    counted = " and ".join(f"{count} of the {name}" for name, count in counts.items() if count)
    return f"boxes of zero or negative size overlap with nothing: {counted}"


def similar_pairs(
    aligned: Aligned,
    similarity: str | Measure,
    tau: float = np.nan,
    least: float = 0.0,
    sigmas: Mapping[Any, float] | None = None,
) -> Callable[[int, int], Pairs]:
    """A function that finds the pairs of the frames [first, last) whose similarity is above 0, and at least `least`.

    The pairs are sorted by truth, then prediction. `similarity` is "iou" for boxes, "point" for
    max(0, 1 - distance / (2 tau)), "oks" for whole poses, whose joints have `sigmas`, or a function of the caller. If
    both sides have categories, only objects of equal categories are similar. The returned function raises InputError if
    the caller's function returns anything but similarities.
    """
    if similarity == "iou":
        truth_boxes, predicted_boxes = _boxes(aligned)
        return partial(overlapping, aligned, truth_boxes, predicted_boxes, least)
    if callable(similarity):
        measure = partial(called, aligned, similarity, word="similarity", largest=1.0)
        return partial(_measured_pairs, aligned, measure, least)
    if similarity == "oks":
        return partial(_measured_pairs, aligned, partial(_similar_poses, aligned, sigmas or {}), least)
    return partial(similar_by_distance, partial(near_points, aligned), tau, least)


def covering_boxes(crowds: Aligned, least: float) -> Callable[[int, int], Pairs]:
    """A function that finds the pairs of a box and a crowd that has at least the share `least` of the box's own area.

    The truths are the crowds; only those of the box's category count. The measure of a pair is the share.
    """
    truth, predictions = _boxes(crowds)

    def covering(first: int, last: int) -> Pairs:
        pairs = overlapping(crowds, truth, predictions, 0.0, first, last)
        pairs = pairs._replace(measure=covered_share(truth[:, pairs.truth], predictions[:, pairs.prediction]))
        return pairs.take(pairs.measure >= least)

    return covering


def coco_boxes(aligned: Aligned, is_crowd: np.ndarray, least: float) -> Pairs:
    """The pairs of boxes of all frames whose IoU is at least `least`, as pycocotools computes it.

    Only boxes of equal categories make a pair. For truths that are crowds, the union is the prediction's own area.
    """
    found = []
    for crowd in (False, True):
        rows = np.flatnonzero(is_crowd == crowd)
        sides = select_rows(aligned, is_crowd == crowd, np.ones(len(aligned.predictions.frame), bool))
        truth, predictions = _boxes(sides)
        # What a prediction shares with a crowd may be much of its own area and little of the union.
        near, measure = 0.0 if crowd else least, partial(coco_iou, is_crowd=crowd)
        chunks = frame_chunks(sides.truth, sides.predictions, SIMILAR_AT_ONCE) if len(rows) else ()
        pairs = join_pairs([overlapping(sides, truth, predictions, near, *chunk, measure) for chunk in chunks])
        pairs = pairs.take(pairs.measure >= least)
        found.append(pairs._replace(truth=rows[pairs.truth]))
    return join_pairs(found)


def _boxes(aligned: Aligned) -> list[np.ndarray]:
    """The boxes of both sides, arrays (4, N): left, top, width and height (px)."""
    return [np.stack([_column(side.table, name) for name in BOX]) for side in (aligned.truth, aligned.predictions)]


def _column(boxes: Columns, name: str) -> np.ndarray:
    """A column of boxes, empty if the table lacks it, which only a table without rows may."""
    return boxes[name] if name in boxes else np.zeros(0)


def similar_by_distance(near: NearWithin, tau: float, least: float, first: int, last: int) -> Pairs:
    """The pairs of the frames [first, last) that are similar by max(0, 1 - distance / (2 tau)), as `similar_pairs`."""
    pairs = near(first, last, 2.0 * tau)
    return _in_order(_similar(pairs._replace(measure=point_similarity(pairs.measure, 2.0 * tau)), least))


def _measured_pairs(aligned: Aligned, measure: RowMeasure, least: float, first: int, last: int) -> Pairs:
    """The pairs of the frames [first, last) that are similar by a measure of rows, sorted by truth, then prediction.

    Their similarity is above 0 and at least `least`; categories, if both sides have them, are equal.
    """

    def parts() -> Iterator[tuple[int, Pairs]]:
        for of_chunk, n_pairs, truth_rows in all_pairs(aligned, first, last):
            prediction_rows = np.repeat(of_chunk, n_pairs)
            same = same_category(aligned, prediction_rows, truth_rows)
            pairs = Pairs(prediction_rows, truth_rows, measure(truth_rows, prediction_rows) * same)
            yield len(truth_rows), _similar(pairs, least)

    return _in_order(gathered(aligned, first, last, parts()))


def _similar_poses(
    aligned: Aligned, sigmas: Mapping[Any, float], truth_rows: np.ndarray, prediction_rows: np.ndarray
) -> np.ndarray:
    """OKS of pairs of rows, whose tables hold whole poses."""
    truth, predictions = aligned.truth.table, aligned.predictions.table
    boxes = [truth[side].take(truth_rows) for side in BOX]
    area = as_numbers(truth["area"])[truth_rows]
    joints, predicted = (
        np.stack([as_numbers(table[name])[rows] for name in pose_columns(sigmas)]).reshape(len(sigmas), 2, -1)
        for table, rows in ((truth, truth_rows), (predictions, prediction_rows))
    )
    joints, predicted = joints.transpose(2, 0, 1), predicted.transpose(2, 0, 1)
    labelled = ~np.isnan(joints).any(axis=2)
    return oks(joints, labelled, area, boxes, predicted, np.array([*sigmas.values()]))


def _similar(pairs: Pairs, least: float) -> Pairs:
    """The pairs whose similarity is above 0, and at least `least`."""
    return pairs.take((pairs.measure > 0) & (pairs.measure >= least))


def _in_order(pairs: Pairs) -> Pairs:
    """The pairs sorted by truth, then prediction; they come sorted by prediction, then truth."""
    return pairs.take(np.argsort(pairs.truth, kind="stable"))
