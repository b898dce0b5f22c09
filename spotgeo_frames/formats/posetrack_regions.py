"""The regions of PoseTrack that are not evaluated: polygons in frames, and what lies in them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..support import arrays, packages


class Regions(NamedTuple):
    """Polygons to be ignored: `frame` (its row in the table of frames) and the corners (N, 2), px, of each."""

    frame: list[int]
    corners: list[np.ndarray]


def polygon_problems(xs: Sequence[Sequence[float]], ys: Sequence[Sequence[float]], place: str) -> list[str]:
    """What is wrong with the polygons of a frame, whose corners are at `xs` and `ys` (px); `place` names the frame."""
    problems = []
    if len(xs) != len(ys):
        problems.append(f"{place}: ignore_regions_x has {len(xs)} polygons and ignore_regions_y {len(ys)}")
    for region, (x, y) in enumerate(zip(xs, ys, strict=False)):
        if len(x) != len(y):
            problems.append(f"{place}.ignore_regions_x[{region}]: {len(x)} corners, and {len(y)} in ignore_regions_y")
        elif 0 < len(x) < 3:
            problems.append(f"{place}.ignore_regions_x[{region}]: {len(x)} corners; a polygon has three or more")
    return problems


def regions_of(polygons: Sequence[tuple[Sequence[Sequence[float]], Sequence[Sequence[float]]]]) -> Regions:
    """The regions of the x and the y of the polygons of each frame; polygons without corners are none."""
    known = [
        (row, np.column_stack([x, y]))
        for row, sides in enumerate(polygons)
        for x, y in zip(*sides, strict=True)
        if len(x)
    ]
    return Regions([row for row, _ in known], [corners for _, corners in known])


def within(x: np.ndarray, y: np.ndarray, frame: np.ndarray, regions: Regions) -> np.ndarray:
    """Marks the points (N,) that lie within a region of their frame; `frame` is that of each point, in order."""
    marked = np.zeros(len(frame), bool)
    if not regions.frame:
        return marked
    polygons, bounds = _polygons(regions)
    region, point = _in_one_frame(regions, frame)
    left, top, right, bottom = bounds[region].T
    perhaps = (x[point] > left) & (x[point] < right) & (y[point] > top) & (y[point] < bottom)
    region, point = region[perhaps], point[perhaps]  # the others need no closer look
    import shapely

    with np.errstate(all="ignore"):  # of polygons larger than numbers
        inside = shapely.contains_xy(polygons[region], x[point], y[point])
    marked[point[inside]] = True
    return marked


def overlapping(boxes: np.ndarray, frame: np.ndarray, regions: Regions, least: float) -> np.ndarray:
    """Marks the boxes (N,) whose IoU with a region of their frame is more than `least`.

    `boxes` (N, 4) are left, top, width, height (px), and `frame` is that of each, in order. A polygon that crosses
    itself is taken apart, as the kit does by a buffer of 0: its union with a box is the sum of those of its parts.
    """
    marked = np.zeros(len(boxes), bool)
    if not regions.frame:
        return marked
    polygons, bounds = _polygons(regions)
    region, box = _in_one_frame(regions, frame)
    ends = np.sort(np.stack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]]), axis=0)
    (x1, y1), (x2, y2) = ends[0].T, ends[1].T
    left, top, right, bottom = bounds[region].T
    near = (x1[box] < right) & (x2[box] > left) & (y1[box] < bottom) & (y2[box] > top)
    near &= (x1 < x2)[box] & (y1 < y2)[box]
    region, box = region[near], box[near]
    import shapely

    with np.errstate(all="ignore"):  # of polygons larger than numbers, or without an area
        parts, of_region = shapely.get_parts(_sound(polygons), return_index=True)
        first, last = (np.searchsorted(of_region, region, side=side) for side in ("left", "right"))
        pair, part = arrays.ranges(first, last - first)
        rectangles = shapely.box(x1, y1, x2, y2)[box[pair]]
        shared, whole = (
            arrays.added_at(pair, shapely.area(areas(parts[part], rectangles)), len(box))
            for areas in (shapely.intersection, shapely.union)
        )
        marked[box[shared / whole > least]] = True
    return marked


def _polygons(regions: Regions) -> tuple[np.ndarray, np.ndarray]:
    """The regions as polygons of shapely (N,), and their bounds (N, 4): left, top, right, bottom (px)."""
    packages.check_extra("posetrack", "read_posetrack (regions to ignore)")
    import shapely  # takes a while, and is needed here only

    sizes = [len(corners) for corners in regions.corners]
    rings = shapely.linearrings(np.concatenate(regions.corners), indices=np.repeat(np.arange(len(sizes)), sizes))
    return shapely.polygons(rings), shapely.bounds(rings)


def _in_one_frame(regions: Regions, frame: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each region with every row of its frame: positions of regions and of rows, whose frames are in order."""
    first, last = (np.searchsorted(frame, regions.frame, side=side) for side in ("left", "right"))
    return arrays.ranges(first, last - first)


def _sound(polygons: np.ndarray) -> np.ndarray:
    """The polygons, and what a buffer of 0 makes of those that cross themselves."""
    import shapely

    sound = polygons.copy()
    crossed = ~shapely.is_valid(polygons)
    sound[crossed] = shapely.buffer(polygons[crossed], 0)
    return sound
