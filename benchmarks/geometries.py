"""The sky, oriented boxes and masks, each against what does the same work, checked equal first.

    python benchmarks/geometries.py [--stars 200000] [--boxes 200000] [--crowd 20000] [--images 500]

`match` of the sky makes the whole match table of one frame, and is held against one query of SciPy's k-d tree for the
nearest star within tau. Oriented boxes are pairs that overlap, and are held against the intersections of shapely; then
the pairs of one crowded frame with an IoU of at least 0.5 are found and measured, and held against a tree of shapely's
polygons. Masks are COCO's files with their results, from the files to the twelve numbers, and are held against
pycocotools. All are timed in turn, in processor time, and the medians count. `match` of the sky is to take less than
three times the query, 300,000 pairs of oriented boxes are to be measured in a second, and masks are to be at least
twice as fast as pycocotools.
"""

import argparse
import contextlib
import io
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import shapely
from pycocotools import mask as coder
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from scipy.spatial import cKDTree

import spotgeo_frames as sf
from spotgeo_frames.geometries.facts import Rows
from spotgeo_frames.geometries.oriented_boxes import COLUMNS, ORIENTED_BOXES, outline
from spotgeo_frames.matching import Rule, alignment
from spotgeo_frames.tables import columns_of

N_STARS, N_BOXES, N_CROWD, N_IMAGES = 200_000, 200_000, 20_000, 500
WIDTH, HEIGHT, TAU, ROUNDS = 640, 480, 2.0, 5


def timed(ours: Callable[[], object], others: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, float]:
    """The median seconds of processor time of two functions, called in turn."""
    taken: list[list[float]] = [[], []]
    for _ in range(rounds):
        for times, function in zip(taken, (ours, others), strict=True):
            start = time.process_time()
            function()
            times.append(time.process_time() - start)
    return statistics.median(taken[0]), statistics.median(taken[1])


def stars(random: np.random.Generator, n: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A field of one square degree that ra = 0 passes through, and detections half an arcsec off."""
    ra, dec = random.uniform(-0.5, 0.5, (2, n))
    truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": np.arange(n), "ra": ra % 360, "dec": dec})
    off = random.normal(0, 0.5 / 3600, (2, n))
    return truth, truth.assign(ra=(ra + off[0]) % 360, dec=dec + off[1])


def query(truth: pd.DataFrame, found: pd.DataFrame) -> np.ndarray:
    """How far the nearest truth is from each detection (arcsec), infinite beyond TAU."""
    sides = []
    for side in (truth, found):
        ra, dec = np.radians(side["ra"].to_numpy()), np.radians(side["dec"].to_numpy())
        sides.append(np.stack([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)], axis=1))
    chord, _ = cKDTree(sides[0]).query(sides[1], distance_upper_bound=2 * np.sin(np.radians(TAU / 3600) / 2))
    return np.degrees(2 * np.arcsin(np.minimum(chord / 2, 1))) * 3600


def sky(random: np.random.Generator, n: int) -> str:
    truth, found = stars(random, n)
    matches, nearest = sf.match(truth, found, tau=TAU), query(truth, found)
    hits = matches["distance"].dropna().sort_values().to_numpy()
    near = np.sort(nearest[nearest <= TAU])
    # All but a few stars are matched with the nearest one.
    assert abs(len(hits) - len(near)) < 1e-3 * n
    assert np.mean(np.isin(hits.round(4), near.round(4))) > 0.9
    ours, others = timed(lambda: sf.match(truth, found, tau=TAU), lambda: query(truth, found))
    return (
        f"sky       {n:>8,} a side  {ours:7.3f} s, {ours / others:.2f} times the query of a k-d tree ({others:.3f} s)"
    )


def boxes(random: np.random.Generator, n: int) -> str:
    x, y = random.uniform(0, 1000, (2, n))
    w, h, angle = random.uniform(20, 80, n), random.uniform(20, 40, n), random.uniform(0, 180, n)
    truth = pd.DataFrame(dict(zip(COLUMNS, (x, y, w, h, angle), strict=True)))
    claims = truth + random.normal(0, [3, 3, 2, 2, 5], (n, 5))
    of_shapely = [shapely.polygons(outline(Rows(side))) for side in (truth, claims)]
    prepared = [ORIENTED_BOXES.prepare(columns_of(side)) for side in (truth, claims)]
    rows = np.arange(n)

    def measured() -> np.ndarray:
        assert ORIENTED_BOXES.measure is not None
        return ORIENTED_BOXES.measure(*prepared, rows, rows)

    def intersected() -> np.ndarray:
        shared = shapely.area(shapely.intersection(*of_shapely))
        return shared / (sum(shapely.area(side) for side in of_shapely) - shared)

    np.testing.assert_allclose(measured(), intersected(), atol=1e-9)
    ours, others = timed(measured, intersected)
    told = f"{n / ours:,.0f} a second, {others / ours:.1f} times as fast as shapely"
    return f"oriented  {n:>8,} pairs   {ours:7.3f} s, {told}"


def crowd(random: np.random.Generator, n: int) -> str:
    x, y = random.uniform(0, 20 * np.sqrt(n), (2, n))
    w, h, angle = random.uniform(20, 150, n), random.uniform(10, 40, n), random.uniform(0, 180, n)
    truth = pd.DataFrame(dict(zip(COLUMNS, (x, y, w, h, angle), strict=True)))
    claims = truth + random.normal(0, [3, 3, 2, 2, 5], (n, 5))
    sides = [sf.Annotations(side.assign(sequence=1, frame=1, object=np.arange(n))) for side in (truth, claims)]
    aligned = alignment.align(sides[0], sides[1], "union")
    rule = Rule("iou", threshold=0.5, of_geometry=ORIENTED_BOXES)
    polygons = [shapely.polygons(outline(Rows(side))) for side in (truth, claims)]

    def found() -> np.ndarray:
        return np.sort(rule.near_pairs(aligned).measure)

    def by_tree() -> np.ndarray:
        at, other = shapely.STRtree(polygons[1]).query(polygons[0], predicate="intersects")
        shared = shapely.area(shapely.intersection(polygons[0][at], polygons[1][other]))
        union = shapely.area(polygons[0])[at] + shapely.area(polygons[1])[other] - shared
        return np.sort((shared / union)[shared / union >= 0.5])

    np.testing.assert_allclose(found(), by_tree(), atol=1e-9)
    ours, others = timed(found, by_tree)
    return f"crowd     {n:>8,} a side  {ours:7.3f} s, {others / ours:.1f} times as fast as a tree of shapely's polygons"


def polygon(random: np.random.Generator) -> np.ndarray:
    """The corners (K, 2) of a polygon about a place, px."""
    angle = np.sort(random.uniform(0, 2 * np.pi, 14))
    far = random.uniform(0.6, 1.0, 14) * random.uniform(10, 90)
    x, y = random.uniform(0, WIDTH), random.uniform(0, HEIGHT)
    corners = np.stack([x + far * np.cos(angle), y + far * np.sin(angle)], axis=1)
    return np.clip(corners, 0, [WIDTH, HEIGHT])


def coco_files(random: np.random.Generator, n_images: int, folder: Path) -> tuple[Path, Path]:
    """COCO's annotations of polygons, and results as run lengths, with 80 classes."""
    annotations, results = [], []
    for image in range(1, n_images + 1):
        for _ in range(random.poisson(7)):
            flat, category = polygon(random).ravel(), int(random.integers(1, 81))
            segmentation = [flat.round(2).tolist()]
            area = float(coder.area(coder.frPyObjects(segmentation, HEIGHT, WIDTH))[0])
            one = {"image_id": image, "category_id": category, "segmentation": segmentation, "area": area}
            annotations.append(one | {"id": len(annotations) + 1, "iscrowd": 0})
            for _ in range(random.poisson(8)):
                moved = flat + np.tile(random.normal(0, 6, 2), len(flat) // 2)
                mask = coder.frPyObjects([moved.tolist()], HEIGHT, WIDTH)[0]
                counts = {"size": [HEIGHT, WIDTH], "counts": mask["counts"].decode()}
                results.append(
                    {"image_id": image, "category_id": category, "segmentation": counts, "score": random.random()}
                )
    images = [{"id": image, "width": WIDTH, "height": HEIGHT} for image in range(1, n_images + 1)]
    categories = [{"id": category, "name": f"class {category}"} for category in range(1, 81)]
    truth = {"images": images, "annotations": annotations, "categories": categories}
    paths = folder / "truth.json", folder / "results.json"
    for path, content in zip(paths, (truth, results), strict=True):
        path.write_text(json.dumps(content))
    return paths


def by_pycocotools(truth: Path, results: Path) -> np.ndarray:
    """The twelve numbers of pycocotools."""
    with contextlib.redirect_stdout(io.StringIO()):
        known = COCO(str(truth))
        evaluation = COCOeval(known, known.loadRes(str(results)), "segm")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return np.asarray(evaluation.stats)


def by_tables(truth: Path, results: Path) -> np.ndarray:
    """The twelve numbers of `average_precision`."""
    result = sf.average_precision(*sf.read_coco(truth, results, masks=True), similarity="iou")
    return result.summary[[*result.matched.numbers]].to_numpy(np.float64)[0]


def masks(random: np.random.Generator, n_images: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        files = coco_files(random, n_images, Path(folder))
        np.testing.assert_allclose(by_tables(*files), by_pycocotools(*files), atol=1e-12)
        ours, others = timed(lambda: by_tables(*files), lambda: by_pycocotools(*files), 3)
    return f"masks     {n_images:>8,} images  {ours:7.3f} s, {others / ours:.1f} times as fast as pycocotools"


def main() -> None:
    parser = argparse.ArgumentParser(description="Times the sky, oriented boxes and masks.")
    parser.add_argument("--stars", type=int, default=N_STARS)
    parser.add_argument("--boxes", type=int, default=N_BOXES)
    parser.add_argument("--crowd", type=int, default=N_CROWD)
    parser.add_argument("--images", type=int, default=N_IMAGES)
    given = parser.parse_args()
    random = np.random.default_rng(5)
    print(f"spotgeo_frames {sf.__version__}, processor time", flush=True)
    for scene, size in ((sky, given.stars), (boxes, given.boxes), (crowd, given.crowd), (masks, given.images)):
        print(scene(random, size), flush=True)


if __name__ == "__main__":
    main()
