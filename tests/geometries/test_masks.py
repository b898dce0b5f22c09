"""Masks: run lengths and overlaps as pycocotools has them, to the last bit, in every function that boxes have."""

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pycocotools import mask as coder

import spotgeo_frames as sf
from helpers.commands import run_here
from helpers.problems import refused, warned
from spotgeo_frames.geometries import Rows
from spotgeo_frames.geometries.mask_boundaries import MASK_BOUNDARIES, boundaries
from spotgeo_frames.geometries.masks import MASKS, Masks, image_of, masks_of
from spotgeo_frames.support.run_lengths import encoded, encoded_mask, laid_anew, runs_of, runs_of_images
from spotgeo_frames.tables import columns_of

HEIGHT, WIDTH = 40, 60
IMAGES = st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(lambda size: arrays(bool, size))


def encode(image: np.ndarray) -> dict[str, Any]:
    return dict(coder.encode(np.asfortranarray(image.astype(np.uint8))))


def text(image: np.ndarray) -> str:
    return str(encode(image)["counts"].decode())


def masks(images: list[np.ndarray]) -> Masks:
    height, width = np.array([image.shape for image in images], np.float64).reshape(-1, 2).T
    return masks_of(runs_of([text(image) for image in images], height, width, str))


def blob(random: np.random.Generator) -> np.ndarray:
    """An ellipse, some with a hole, some with noise."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    far = ((y - random.uniform(5, HEIGHT - 5)) / random.uniform(3, 9)) ** 2
    far += ((x - random.uniform(5, WIDTH - 5)) / random.uniform(3, 12)) ** 2
    image = (far < 1) & (far > random.choice([-1, 0.2]))
    return image | (random.random(image.shape) < random.choice([0, 0.01]))


def table(n_sequences: int = 12, n: int = 4, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    rows = [
        {"sequence": s, "frame": 1, "object": k, "mask": text(blob(random)), "mask_h": HEIGHT, "mask_w": WIDTH}
        for s in range(n_sequences)
        for k in range(n)
    ]
    return pd.DataFrame(rows)


# pycocotools writes beyond its memory where counts take more than five characters; it has room for six of each.
@given(st.lists(st.integers(0, (1 << 24) - 1), min_size=1, max_size=9))
def test_counts_are_written_as_pycocotools_writes_them(counts: list[int]) -> None:
    known = coder.frPyObjects({"size": [sum(counts) or 1, 1], "counts": counts}, sum(counts) or 1, 1)
    assert encoded_mask(counts) == known["counts"].decode()


@given(st.lists(IMAGES, max_size=5))
def test_masks_are_taken_apart(images: list[np.ndarray]) -> None:
    found = masks(images)
    assert encoded(runs_of_images(images)) == [text(image) for image in images]
    for position, image in enumerate(images):
        of_image = encode(image)
        left, top, width, height = coder.toBbox(of_image)
        edges = found.left[position], found.top[position], found.right[position], found.bottom[position]
        assert edges == (left, top, left + width, top + height)
        assert found.area[position] == coder.area(of_image)
        np.testing.assert_array_equal(image_of(found, position), image[edges[1] : edges[3], edges[0] : edges[2]])


@settings(deadline=None)
@given(st.integers(0, 1 << 32), st.integers(1, 6), st.integers(1, 6))
def test_overlaps_are_those_of_pycocotools(seed: int, n: int, m: int) -> None:
    random = np.random.default_rng(seed)
    known, found = ([blob(random) for _ in range(count)] for count in (n, m))
    found[0] = known[0].copy()
    rows, others = (of.ravel() for of in np.mgrid[:n, :m])
    for crowd, measure in ((0, MASKS.measure), (1, MASKS.covered)):
        assert measure is not None
        wanted = coder.iou([encode(one) for one in found], [encode(one) for one in known], [crowd] * n).T
        np.testing.assert_array_equal(measure(masks(known), masks(found), rows, others).reshape(n, m), wanted)


def test_masks_of_other_sizes_overlap_with_nothing() -> None:
    image = np.ones((4, 6), bool)
    sides = masks([image]), masks([image.T])
    assert MASKS.measure is not None
    assert MASKS.measure(*sides, np.array([0]), np.array([0])).tolist() == [0.0]


def test_masks_of_other_sizes_are_warned_about() -> None:
    truth = table(3)
    wrong = truth.assign(mask_h=truth["mask_w"], mask_w=truth["mask_h"])
    with warned(("masks of images of different sizes", "mask_h", "mask_w", "3 of 3 frames")):
        assert (sf.match(truth, wrong)["outcome"] != "TP").all()
    assert (
        "mask_h and mask_w are swapped"
        in sf.check(table(), table().assign(mask_h=WIDTH, mask_w=HEIGHT))["suspicion"].tolist()
    )


@pytest.mark.parametrize(
    ("mask", "size", "problem"),
    [
        ("", (4, 6), "not as many pixels"),
        ("T", (4, 6), "end within a number"),
        ("oooooooo0", (4, 6), "too large"),
        ("h\x7f", (4, 6), "no such characters"),
        ("ä", (4, 6), "no such characters"),
        (encoded_mask([3, 4]), (4, 6), "not as many pixels"),
        (encoded_mask([20, 20]), (4, 6), "not as many pixels"),
        ("H", (4, 6), "below 0"),
        (None, (4, 6), "null"),
        (encoded_mask([24]), (4.5, 6), "whole numbers"),
        (encoded_mask([24]), (-4, -6), "whole numbers"),
        (encoded_mask([24]), (1e9, 1e9), "whole numbers"),
    ],
)
def test_masks_that_are_none(mask: Any, size: tuple[float, float], problem: str) -> None:
    truth = table(2)
    wrong = truth.assign(mask=truth["mask"].astype(object), mask_h=1.0 * truth["mask_h"], mask_w=1.0 * truth["mask_w"])
    wrong.loc[5, ["mask", "mask_h", "mask_w"]] = [mask, *size]
    with pytest.raises(sf.InputError, match=f"column mask: sequence 1, frame 1, object 1: .*{problem}"):
        sf.match(truth, wrong)


def test_masks_that_are_no_text() -> None:
    truth = table(2)
    with pytest.raises(sf.InputError, match="run lengths"):
        sf.match(truth, truth.assign(mask=1))


def test_a_whole_evaluation(tmp_path: Path) -> None:
    truth = table()
    matches = sf.match(truth, truth.assign(score=0.5))
    assert {"rule": "iou", "geometry": "masks", "threshold": 0.5}.items() <= matches.attrs.items()
    assert (matches["similarity"] == 1).all()
    assert sf.track(truth, truth).summary["HOTA"].iloc[-1] == 1
    sf.save(matches, tmp_path / "kept")
    pd.testing.assert_frame_equal(sf.summarize(sf.load(tmp_path / "kept")), sf.summarize(matches))


def test_bias_is_of_centroids_and_areas() -> None:
    image = np.zeros((HEIGHT, WIDTH), bool)
    image[5:15, 10:30] = True
    moved = np.zeros_like(image)
    moved[7:17, 11:33] = True  # ten percent wider
    truth = table(3, 1).assign(mask=text(image))
    offsets = sf.bias(sf.match(truth, truth.assign(mask=text(moved)))).set_index("metric")["estimate"]
    np.testing.assert_allclose(offsets[["dx", "dy", "area_ratio"]], [2, 2, 1.1])


def test_outlines_go_around_pixels() -> None:
    image = np.zeros((6, 7), bool)
    image[1:5, 1:5] = True
    image[2, 2] = image[3, 3] = False  # two holes that meet in a corner
    image[5, 5] = True  # which meets the rest in a corner
    rows = Rows(pd.DataFrame({"mask": [text(image), None], "mask_h": [6, None], "mask_w": [7, None]}))
    assert MASKS.outline is not None
    corners = MASKS.outline(rows)
    assert np.isnan(corners[1]).all()
    rings = np.split(corners[0], np.flatnonzero(np.isnan(corners[0]).any(axis=1)))
    areas = []
    for ring in rings:
        x, y = ring[~np.isnan(ring).any(axis=1)].T
        areas.append(float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]) / 2) if len(x) else 0.0)
    assert sum(areas) == image.sum()
    assert sorted(filter(None, areas)) == [-2, 1, 16]


def test_masks_are_filled_in_plots() -> None:
    matches = sf.match(table(2), table(2))
    ax = sf.plots.frame(matches, 0, 1)
    assert len(ax.patches) == 2  # truths and predictions, all found
    plt.close("all")


def changed(masks: pd.DataFrame, change: Any) -> pd.DataFrame:
    """The masks with the image of each changed."""
    images = [
        change(coder.decode({"size": [int(h), int(w)], "counts": mask}))
        for mask, h, w in zip(masks["mask"], masks["mask_h"], masks["mask_w"], strict=True)
    ]
    height, width = np.transpose([image.shape for image in images])
    return masks.assign(mask=[text(image) for image in images], mask_h=height, mask_w=width)


@pytest.mark.parametrize(
    ("suspicion", "wrong"),
    [
        ("masks are stored row by row", lambda image: image.ravel().reshape(image.shape, order="F")),
        ("the columns of masks are taken for their rows", lambda image: image.ravel("F").reshape(image.shape)),
        ("masks are transposed", np.transpose),
        ("masks are upside down", np.flipud),
        ("masks are mirrored", np.fliplr),
        ("masks are of images that are scaled", lambda image: image.repeat(2, axis=0).repeat(2, axis=1)),
        ("masks are of images that are cut or padded", lambda image: np.pad(image, ((0, 24), (0, 4)))),
    ],
)
def test_check_finds_slips(suspicion: str, wrong: Any) -> None:
    truth = table()
    assert not len(sf.check(truth, truth))
    found = sf.check(truth, changed(truth, wrong))
    assert found["suspicion"].tolist() == [suspicion]
    assert found["f1_corrected"].tolist() == [1.0]


def test_check_finds_masks_that_are_a_pixel_off() -> None:
    truth = table(40)
    random = np.random.default_rng(1)

    def jittered(image: np.ndarray, off: int) -> np.ndarray:
        down, right = random.integers(-1, 2, 2) + off
        return np.roll(image, (down, right), axis=(0, 1))

    assert not len(sf.check(truth, changed(truth, lambda image: jittered(image, 0))))
    off = changed(truth, lambda image: jittered(image, 1))
    [row] = sf.check(truth, off).itertuples()
    assert row.suspicion.startswith("coordinates are")
    assert row.suspicion.endswith("off")
    assert row.f1_corrected > row.f1


def test_bias_moves_masks_by_whole_pixels() -> None:
    truth = table(25)
    moved = changed(truth, lambda image: np.pad(image, ((2, 0), (0, 3)))[:-2, 3:])
    offsets = sf.bias(sf.match(truth, moved)).set_index("metric")["estimate"]
    assert offsets["loc_a"] < 0.9
    assert offsets["loc_a_corrected"] > 0.95  # what left the image is cut


@given(st.lists(IMAGES, max_size=4), st.integers(-4, 4), st.integers(-4, 4), st.integers(1, 12), st.integers(1, 12))
def test_masks_are_laid_anew(images: list[np.ndarray], right: int, down: int, height: int, width: int) -> None:
    runs = runs_of_images(images)
    expected, resized = [], []
    for image in images:
        there = np.pad(image, 4)
        there = there[4 - down : 4 - down + image.shape[0], 4 - right : 4 - right + image.shape[1]]
        expected.append(text(there))
        rows, columns = (
            np.floor((np.arange(to) + 0.5) * of / to).astype(int)
            for of, to in zip(image.shape, (height, width), strict=True)
        )
        resized.append(text(image[rows][:, columns]))
    assert encoded(laid_anew(runs, runs.height, runs.width, (1, 1), (right, down))) == expected
    assert encoded(laid_anew(runs, height, width, (width / runs.width, height / runs.height))) == resized


def coco(tmp_path: Path, segmentations: list[Any], results: list[Any], **image: Any) -> tuple[Path, Path]:
    """A file of annotations of one image, and one of results."""
    annotations = [
        {"id": k + 1, "image_id": 1, "category_id": 1, "segmentation": one, "iscrowd": 0, "area": 100.0}
        for k, one in enumerate(segmentations)
    ]
    truth = {
        "images": [{"id": 1, "height": HEIGHT, "width": WIDTH, **image}],
        "annotations": annotations,
        "categories": [{"id": 1, "name": "thing"}],
    }
    found = [{"image_id": 1, "category_id": 1, "score": 0.5, "segmentation": one} for one in results]
    paths = tmp_path / "truth.json", tmp_path / "results.json"
    for path, content in zip(paths, (truth, found), strict=True):
        path.write_text(json.dumps(content))
    return paths


POLYGONS = [[5.5, 5.0, 30.2, 6.1, 25.0, 33.3], [40.0, 10.0, 55.0, 10.0, 55.0, 30.0, 40.0, 30.0]]


def test_cocos_segmentations_are_read(tmp_path: Path) -> None:
    merged = coder.merge(coder.frPyObjects(POLYGONS, HEIGHT, WIDTH))
    image = coder.decode(merged).astype(bool)
    places = np.flatnonzero(np.diff(image.ravel("F"))) + 1  # the first pixel is outside
    as_counts = {"size": [HEIGHT, WIDTH], "counts": np.diff(places, prepend=0, append=image.size).tolist()}
    as_text = {"size": [HEIGHT, WIDTH], "counts": text(image)}
    truth, found = sf.read_coco(*coco(tmp_path, [POLYGONS, as_counts, as_text], [as_text]), masks=True)
    assert truth.objects["mask"].tolist() == [text(image)] * 3
    assert truth.objects[["mask_h", "mask_w"]].to_numpy().tolist() == [[HEIGHT, WIDTH]] * 3
    assert {"crowd", "area", "category"} <= {*truth.objects}
    assert not {"x", "w"} & {*truth.objects}
    assert sf.match(truth, found)["outcome"].tolist() == ["TP", "FN", "FN"]
    done = run_here("score", tmp_path / "truth.json", tmp_path / "results.json", "--masks", "--json")
    assert json.loads(done.out)["tp"] == 1
    done = run_here("ap", tmp_path / "truth.json", tmp_path / "results.json", "--masks", "--keypoints")
    assert done.status == 2


@pytest.mark.parametrize(
    ("segmentation", "image", "problem"),
    [
        (None, {}, "is missing"),
        ([], {}, "is missing"),
        ([[1.0, 2.0, 3.0, 4.0]], {}, "4 numbers"),
        ([[1.0, 2.0, 3.0, 4.0, 5.0]], {}, "5 numbers"),
        ([[1.0, 2.0, 3.0, 4.0, 5.0, 1e300]], {}, "far out"),
        ({"size": [9, 9], "counts": "Q"}, {}, "size is"),
        ({"size": [HEIGHT, WIDTH], "counts": "Q"}, {}, "within a number"),
        ({"size": [HEIGHT, WIDTH], "counts": [-1, 5]}, {}, "0 or more"),
        ({"size": [HEIGHT, WIDTH], "counts": [10, 20]}, {}, "as many pixels"),
        (POLYGONS, {"height": None}, "height and width"),
        (POLYGONS, {"height": 1e9}, "1000000000"),
    ],
)
def test_damaged_segmentations(segmentation: Any, image: dict[str, Any], problem: str, tmp_path: Path) -> None:
    good = {"size": [HEIGHT, WIDTH], "counts": encoded_mask([HEIGHT * WIDTH])}
    results = [] if image else [good]
    with pytest.raises(sf.InputError, match=r"truth\.json: annotations\[0\]\.segmentation.*" + problem):
        sf.read_coco(*coco(tmp_path, [segmentation], results, **image), masks=True)


def test_boxes_and_masks_are_one_too_many(tmp_path: Path) -> None:
    with refused("boxes and masks", error=ValueError):
        sf.read_coco(*coco(tmp_path, [POLYGONS], []), boxes=True, masks=True)


def near_outline(image: np.ndarray, near: int) -> np.ndarray:
    """The pixels of a mask that have one outside of it, or of the image, so many rows and columns away."""
    padded = np.pad(image, near)
    found = np.zeros_like(image)
    for y, x in np.argwhere(image):
        found[y, x] = not padded[y : y + 2 * near + 1, x : x + 2 * near + 1].all()
    return found


def test_boundaries_are_those_of_erosion() -> None:
    random = np.random.default_rng(5)
    images = [*(blob(random) for _ in range(8)), np.ones((HEIGHT, WIDTH), bool), np.zeros((HEIGHT, WIDTH), bool)]
    expected = [near_outline(image, 1) for image in images]  # 2 percent of the diagonal are 1.4 px
    found = boundaries(masks(images))
    assert found.area.tolist() == [int(image.sum()) for image in expected]
    known, claimed = images[:4], images[4:8]
    rows, others = (of.ravel() for of in np.mgrid[:4, :4])
    boundary, either = MASK_BOUNDARIES.measure, MASK_BOUNDARIES.of_truths
    assert boundary is not None
    assert either is not None
    sides = [MASK_BOUNDARIES.prepare(columns_of(side_of(of))) for of in (known, claimed)]
    of_outlines = coder.iou([encode(of) for of in expected[4:8]], [encode(of) for of in expected[:4]], [0] * 4).T
    of_masks = coder.iou([encode(of) for of in claimed], [encode(of) for of in known], [0] * 4).T
    np.testing.assert_array_equal(boundary(*sides, rows, others), of_outlines.ravel())
    np.testing.assert_array_equal(either(*sides, rows, others), np.minimum(of_outlines, of_masks).ravel())


def side_of(images: list[np.ndarray]) -> pd.DataFrame:
    return pd.DataFrame({"mask": [text(image) for image in images], "mask_h": HEIGHT, "mask_w": WIDTH})


def test_boundary_iou_is_a_rule_of_masks() -> None:
    truth = table()
    matches = sf.match(truth, truth, similarity="boundary_iou")
    assert {"rule": "boundary_iou", "geometry": "masks"}.items() <= matches.attrs.items()
    assert sf.bias(matches).set_index("metric")["estimate"]["loc_a"] == 1
    with refused(("boundary_iou compares masks", "mask_h")):
        sf.match(*[truth.drop(columns="mask").assign(x=0.0, y=0.0, w=1.0, h=1.0)] * 2, similarity="boundary_iou")


@pytest.mark.parametrize("function", [sf.bias, lambda matches: sf.plots.frame(matches, 0, 1)])
def test_masks_that_would_not_fit_into_memory(function: Any) -> None:
    """One run in a row of two thousand million pixels is a few characters, and its columns are far more than fit."""
    size = (1 << 31) - 1
    row = pd.DataFrame({"sequence": [0], "frame": 1, "object": 0, "mask": encoded_mask([0, size])})
    matches = sf.match(*[row.assign(mask_h=1.0, mask_w=float(size))] * 2)
    with refused(("masks", "GiB")):
        function(matches)
    plt.close("all")


def test_boundaries_of_a_long_row() -> None:
    """The distance from the outline, a share of the diagonal, may be far more than the rows that there are."""
    row = pd.DataFrame({"sequence": [0], "frame": 1, "object": 0, "mask": encoded_mask([0, 10**6])})
    matches = sf.match(*[row.assign(mask_h=1.0, mask_w=1e6)] * 2, similarity="boundary_iou")
    assert matches["similarity"].tolist() == [1.0]
