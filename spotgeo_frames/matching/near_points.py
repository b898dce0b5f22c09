"""Finds the truths and predictions of a frame that lie near each other: points, joints, or by a caller's distance."""

from collections.abc import Iterator

import numpy as np

from .alignment import Aligned
from .callers_measure import called
from .pairs import ROOM, Pairs, all_pairs, gathered, same_category
from .similarity import Measure, difference, point_distance


def near_points(aligned: Aligned, first: int, last: int, tau: float | np.ndarray) -> Pairs:
    """The pairs of the frames [first, last) that are at most `tau` pixels apart, sorted by prediction, then truth.

    `tau` is one value or one for each row of truth. The distance itself is compared, not its square, since rounding
    differs. If both sides have categories, only objects of equal categories are near.
    """
    return gathered(aligned, first, last, _near_parts(aligned, first, last, tau))


def _near_parts(aligned: Aligned, first: int, last: int, tau: float | np.ndarray) -> Iterator[tuple[int, Pairs]]:
    """The pairs of `near_points` chunk by chunk, each with how many pairs were searched for it."""
    truth, predictions = aligned.truth, aligned.predictions

    def reach(truth_rows: np.ndarray) -> float | np.ndarray:
        return tau[truth_rows] if isinstance(tau, np.ndarray) else tau

    for of_chunk, n_pairs, truths_of_chunk in all_pairs(aligned, first, last):
        dx = difference(np.repeat(predictions.xy[0].take(of_chunk), n_pairs), truth.xy[0].take(truths_of_chunk))
        # |dx| > tau alone is too far (rounding keeps order), so most pairs need no second coordinate.
        maybe = np.flatnonzero(np.abs(dx) <= reach(truths_of_chunk))
        rows, truth_rows = np.repeat(of_chunk, n_pairs).take(maybe), truths_of_chunk.take(maybe)
        distance = point_distance(
            dx.take(maybe), difference(predictions.xy[1].take(rows), truth.xy[1].take(truth_rows))
        )
        close = (distance <= reach(truth_rows)) & same_category(aligned, rows, truth_rows)
        yield len(truths_of_chunk), Pairs(rows, truth_rows, distance).take(close)


def near_keypoints(aligned: Aligned, head_size: np.ndarray, most: float, first: int, last: int) -> Pairs:
    """The pairs of joints in the frames [first, last) that are at most `most` head sizes apart, sorted by truth.

    The measure of a pair is its distance in head sizes. `head_size` (px) is that of each row of truth.
    """
    near = near_points(aligned, first, last, head_size * (most * (1 + ROOM)))
    with np.errstate(divide="ignore", invalid="ignore"):  # a head of size 0 gives inf or NaN, which is never near
        distance = near.measure / head_size[near.truth]
    pairs = near._replace(measure=distance).take(distance <= most)
    return pairs.take(np.argsort(pairs.truth, kind="stable"))


def near_measured(aligned: Aligned, distance: Measure, first: int, last: int, farthest: float) -> Pairs:
    """The pairs of the frames [first, last) that are at most `farthest` apart by the caller's function of distances.

    They are sorted by prediction, then truth. All pairs of a frame are measured, with categories on both sides those of
    equal categories. Raises InputError if the function returns anything but distances.
    """

    def parts() -> Iterator[tuple[int, Pairs]]:
        for of_chunk, n_pairs, truths_of_chunk in all_pairs(aligned, first, last):
            rows = np.repeat(of_chunk, n_pairs)
            pairs = Pairs(rows, truths_of_chunk, np.zeros(len(rows)))
            pairs = pairs.take(np.flatnonzero(same_category(aligned, rows, truths_of_chunk) & np.ones(len(rows), bool)))
            if len(pairs.truth):  # a function may not know what to do with tables without rows
                measure = called(aligned, distance, pairs.truth, pairs.prediction, "distance", np.inf)
                pairs = pairs._replace(measure=measure).take(measure <= farthest)
            yield len(truths_of_chunk), pairs

    return gathered(aligned, first, last, parts())
