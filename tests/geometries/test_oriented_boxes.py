"""Oriented boxes: the IoU of the rectangles themselves, held against shapely, in every function that boxes have."""

import contextlib
import io
import math
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pycocotools.cocoeval import COCOeval

import spotgeo_frames as sf
from helpers.official import evaluate
from helpers.problems import refused
from spotgeo_frames.geometries import oriented_boxes as of_oriented_boxes
from spotgeo_frames.geometries.boxes import iou
from spotgeo_frames.geometries.facts import Rows
from spotgeo_frames.geometries.oriented_boxes import (
    COLUMNS,
    ORIENTED_BOXES,
    oriented_boxes,
    oriented_iou,
    oriented_share,
    outline,
)
from spotgeo_frames.matching import Rule, alignment
from spotgeo_frames.tables import columns_of

Box = tuple[float, float, float, float, float]
PLACES, SIZES, ANGLES = st.floats(-50, 50), st.floats(0.1, 60), st.floats(-720, 720)
BOXES = st.tuples(PLACES, PLACES, SIZES, SIZES, ANGLES)


def overlap(one: Box, other: Box) -> float:
    return float(oriented_iou(*(oriented_boxes(*np.array([box]).T) for box in (one, other)))[0])


def polygon(box: Box) -> shapely.Polygon:
    return shapely.Polygon(outline(Rows(pd.DataFrame([box], columns=COLUMNS)))[0])


def in_other_words(x: float, y: float, w: float, h: float, angle: float) -> list[Box]:
    return [(x, y, h, w, angle + 90), (x, y, h, w, angle - 90), (x, y, w, h, angle + 180), (x, y, w, h, angle - 360)]


def scene(n: int = 300, seed: int = 0) -> pd.DataFrame:
    """Boxes of 15 sequences that overlap with few others."""
    random = np.random.default_rng(seed)
    x, y = random.uniform(0, 4000, (2, n))
    w, h, angle = random.uniform(20, 80, n), random.uniform(5, 15, n), random.uniform(5, 85, n)
    key = {"sequence": np.arange(n) // 20, "frame": 1, "object": np.arange(n)}
    return pd.DataFrame(key | dict(zip(COLUMNS, (x, y, w, h, angle), strict=True)))


def scaled(boxes: pd.DataFrame, factor: float) -> pd.DataFrame:
    """Boxes in an image of another size."""
    return boxes.assign(**{name: boxes[name] * factor for name in COLUMNS if name != "angle"})


def shared_by_shapely(one: Box, other: Box) -> float:
    """The area (px²) that two boxes share; without a grid, GEOS takes some that share an edge for apart."""
    return float(polygon(one).intersection(polygon(other), grid_size=1e-10).area)


@settings(deadline=None, max_examples=300)
@given(BOXES, BOXES)
@example((-16.0, 15.0, 38.2, 34.2, 38.2), (-16.0, 15.0, 19.1, 34.2, 38.2))
@example((0, 0, 10, 10, 30), (20, 0, 10, 10, 30))
def test_iou_is_that_of_the_polygons(one: Box, other: Box) -> None:
    shared, areas = shared_by_shapely(one, other), (one[2] * one[3], other[2] * other[3])
    assert overlap(one, other) == pytest.approx(shared / (sum(areas) - shared), abs=1e-7)
    assert overlap(one, other) == pytest.approx(overlap(other, one), abs=1e-12)
    share = oriented_share(*(oriented_boxes(*np.array([box]).T) for box in (one, other)))[0]
    assert share == pytest.approx(shared / areas[1], abs=1e-6)


@settings(deadline=None)
@given(BOXES, SIZES, st.sampled_from([0.0, 1e-13, -1e-9, 90.0, 90 - 1e-12, 180.0]))
def test_boxes_in_each_other_whose_edges_coincide(box: Box, height: float, turn: float) -> None:
    x, y, w, h, angle = box
    low, high = sorted((h, height))
    other = (x, y, high, w, angle + turn) if 45 < turn < 135 else (x, y, w, high, angle + turn)
    assert overlap((x, y, w, low, angle), other) == pytest.approx(low / high, abs=1e-7)


@settings(deadline=None)
@given(BOXES, st.floats(-100, 100), st.floats(-100, 100))
def test_the_place_does_not_count(box: Box, dx: float, dy: float) -> None:
    x, y, *rest = box
    near = (x + 3, y - 2, rest[0] * 1.1, rest[1], rest[2] + 20)
    moved = [(of[0] + dx, of[1] + dy, *of[2:]) for of in (box, near)]
    assert overlap(*moved) == pytest.approx(overlap(box, near), abs=1e-9)


@settings(deadline=None)
@given(BOXES, BOXES, st.integers(-40, 40), st.integers(-720, 720))
def test_whole_turns_change_no_bit(one: Box, other: Box, turns: int, angle: int) -> None:
    x, y, w, h, _ = other
    words = [(x, y, w, h, angle + 360 * turns), (x, y, w, h, angle + 180), (x, y, h, w, angle - 90)]
    assert {overlap(one, same) for same in words} == {overlap(one, (x, y, w, h, angle))}


@settings(deadline=None)
@given(BOXES, BOXES)
def test_the_same_rectangle_in_other_words_is_the_same_box(one: Box, other: Box) -> None:
    assert overlap(one, one) == 1
    for same in in_other_words(*one):
        assert overlap(one, same) == pytest.approx(1, abs=1e-9)
        assert overlap(same, other) == pytest.approx(overlap(one, other), abs=1e-9)


@settings(deadline=None)
@given(*(st.tuples(PLACES, PLACES, SIZES, SIZES) for _ in range(2)))
def test_upright_boxes_overlap_as_boxes_do(one: tuple[float, ...], other: tuple[float, ...]) -> None:
    sides = [np.array([[x - w / 2], [y - h / 2], [w], [h]]) for x, y, w, h in (one, other)]
    assert overlap((*one, 0.0), (*other, 0.0)) == pytest.approx(iou(*sides)[0], abs=1e-12)  # type: ignore[arg-type]


def test_the_share_of_a_prediction_in_a_crowd() -> None:
    crowd, claimed = (oriented_boxes(*np.array([box]).T) for box in ((0, 0, 20, 20, 45), (0, 0, 2, 2, 10)))
    assert oriented_share(crowd, claimed).tolist() == [1.0]
    assert oriented_share(claimed, crowd) == pytest.approx([0.01])


@pytest.mark.parametrize("wrong", [(0, 0, 0, 5, 3), (0, 0, -4, 5, 3), (0, 0, 1e149, 1e149, 3), (1e149, 0, 5, 5, 3)])
def test_boxes_that_overlap_with_nothing(wrong: Box) -> None:
    assert overlap((0, 0, 5, 5, 0), wrong) < 1e-290
    assert overlap(wrong, (0, 0, 5, 5, 0)) < 1e-290


def test_a_tiny_negative_angle_is_no_quarter_turn() -> None:
    assert overlap((0, 0, 40, 2, 0.0), (0, 0, 40, 2, -1e-300)) == 1
    assert overlap((0, 0, 40, 2, 90.0), (0, 0, 40, 2, 90 - 1e-14)) == pytest.approx(1)


@settings(deadline=None, max_examples=300)
@given(BOXES, st.floats(-1, 1), st.floats(-1, 1), st.floats(-45, 45), st.floats(0.5, 2), st.floats(0.5, 2))
def test_boxes_that_overlap_enough_are_within_reach(
    one: Box, dx: float, dy: float, turn: float, wider: float, higher: float
) -> None:
    x, y, w, h, angle = one
    other = (x + dx * w, y + dy * h, w * wider, h * higher, angle + turn)
    assert ORIENTED_BOXES.reach is not None
    sides = [oriented_boxes(*np.array([box]).T) for box in (one, other)]
    for least in (max(overlap(one, other), 1e-9), 0.05, 1e-6):
        extents = ORIENTED_BOXES.reach(*sides, least)
        touch = [
            abs(extents[0][axis] - extents[1][axis]) <= extents[0][axis + 2] + extents[1][axis + 2] for axis in (0, 1)
        ]
        assert all(touch) or overlap(one, other) < least


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.8])
def test_the_search_finds_all_pairs(threshold: float) -> None:
    truth = scene(400).assign(sequence=1)
    truth[["cx", "cy"]] /= 10
    random = np.random.default_rng(1)
    claimed = truth.assign(**{name: truth[name] + random.normal(0, 4, 400) for name in ("cx", "cy", "angle")})
    known = oriented_boxes(*(np.repeat(truth[name].to_numpy(), 400) for name in COLUMNS))
    found = oriented_boxes(*(np.tile(claimed[name].to_numpy(), 400) for name in COLUMNS))
    wanted = int((oriented_iou(known, found) >= threshold).sum())
    aligned = alignment.align(sf.Annotations(truth), sf.Annotations(claimed), "union")
    assert len(Rule("iou", threshold=threshold, of_geometry=ORIENTED_BOXES).near_pairs(aligned).truth) == wanted


def by_pycocotools(truth: pd.DataFrame, claimed: pd.DataFrame) -> np.ndarray:
    """The twelve numbers of pycocotools, with the overlaps of shapely."""

    class Turned(COCOeval):
        def computeIoU(self, image: int, category: int) -> Any:  # as it is called there
            known, found = self._gts[image, category], self._dts[image, category]
            if not (known and found):
                return []
            found = [found[at] for at in np.argsort([-one["score"] for one in found], kind="mergesort")]
            found = found[: self.params.maxDets[-1]]
            shared = np.array([[shared_by_shapely(one["turned"], other["turned"]) for other in known] for one in found])
            areas, own = (np.array([[one["area"] for one in side]]) for side in (known, found))
            crowds = np.array([[one["iscrowd"] for one in known]], bool)
            return shared / np.where(crowds, own.T, areas + own.T - shared)

    sides = []
    for table in (truth, claimed):
        rows = table.assign(area=table["w"] * table["h"], bbox=[[0.0, 0.0, 1.0, 1.0]] * len(table))
        rows = rows.assign(turned=[*table[[*COLUMNS]].itertuples(index=False, name=None)])
        rows = rows.rename(columns={"sequence": "image_id", "category": "category_id", "crowd": "iscrowd"})
        sides.append(rows.assign(id=np.arange(1, len(rows) + 1)).to_dict("records"))
    evaluation = Turned(iouType="bbox")
    for side, kept in zip(sides, (evaluation._gts, evaluation._dts), strict=True):
        for row in side:
            kept[row["image_id"], row["category_id"]].append(row | {"ignore": row.get("iscrowd", 0)})
    evaluation.params.imgIds, evaluation.params.catIds = sorted({*truth["sequence"]}), sorted({*truth["category"]})
    evaluation._prepare = lambda: None
    with contextlib.redirect_stdout(io.StringIO()):
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return np.asarray(evaluation.stats)


def test_average_precision_is_that_of_pycocotools() -> None:
    random = np.random.default_rng(7)
    truth = scene(160)
    truth[["cx", "cy"]] = random.uniform(0, 250, (160, 2))
    truth[["w", "h"]] *= random.choice([0.5, 1.0, 4.0], (160, 1))
    truth["category"], truth["crowd"] = random.integers(1, 4, 160), random.uniform(size=160) < 0.1
    claimed = pd.concat([truth, truth.sample(60, random_state=1)], ignore_index=True).drop(columns="crowd")
    claimed = claimed.assign(object=np.arange(220), score=random.uniform(size=220))
    noise = {"cx": 3, "cy": 3, "w": 2, "h": 1, "angle": 4}
    claimed = claimed.assign(**{name: claimed[name] + random.normal(0, by, 220) for name, by in noise.items()})
    claimed["w"], claimed["h"] = claimed["w"].clip(1), claimed["h"].clip(1)
    result = sf.average_precision(truth, claimed)
    found = result.summary[[*result.matched.numbers]].to_numpy(np.float64)[0]
    assert 0.2 < found[0] < 0.8
    np.testing.assert_allclose(found, by_pycocotools(truth, claimed), atol=1e-9)


def test_tracks_are_those_of_trackeval() -> None:
    random = np.random.default_rng(3)
    truth = pd.concat([scene(24).assign(frame=frame) for frame in range(1, 11)], ignore_index=True)
    truth[["cx", "cy"]] /= 15
    for name, by in {"cx": 4, "cy": 4, "angle": 6}.items():
        truth[name] += random.normal(0, by, len(truth))
    claimed = truth.sample(frac=0.9, random_state=1).sort_index(ignore_index=True)
    claimed = claimed.assign(cx=claimed["cx"] + random.normal(0, 2, len(claimed)), angle=claimed["angle"] + 90)
    claimed[["w", "h"]] = claimed[["h", "w"]].to_numpy()
    claimed["object"] += 100 * (random.uniform(size=len(claimed)) < 0.1)

    def similarities(true: pd.DataFrame, found: pd.DataFrame) -> np.ndarray:
        sides = np.repeat(true[[*COLUMNS]], len(found), 0), np.tile(found[[*COLUMNS]], (len(true), 1))
        return oriented_iou(*(oriented_boxes(*side.T) for side in sides)).reshape(len(true), len(found))

    wanted = evaluate(truth, claimed, similarities, truth[["sequence", "frame"]].drop_duplicates())[None]
    told = sf.track(truth, claimed).summary.iloc[-1]
    for name in ("HOTA", "DetA", "AssA", "LocA", "MOTA", "MOTP", "IDSW", "IDF1"):
        assert told[name] == pytest.approx(np.mean(wanted[name]), abs=1e-12), name


def test_large_tables_are_measured_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_oriented_boxes, "PAIRS_AT_ONCE", 7)
    truth = scene(60)
    prepared = ORIENTED_BOXES.prepare(columns_of(truth))
    rows = np.arange(60)
    assert ORIENTED_BOXES.measure is not None
    assert (ORIENTED_BOXES.measure(prepared, prepared, rows, rows) == 1).all()
    none = ORIENTED_BOXES.measure(prepared, prepared, rows[:0], rows[:0])
    assert none.shape == (0,)


@pytest.mark.parametrize("angle", [1e9, -1e9, 1e-300])
def test_bias_of_angles_out_of_all_proportion(angle: float) -> None:
    truth = scene(20).assign(angle=angle)
    claimed = truth.assign(angle=math.fmod(angle, 360) + 3)
    told = sf.bias(sf.match(truth, claimed)).set_index("metric")["estimate"]
    assert told["angle"] == pytest.approx(3)


def test_a_box_without_an_area_is_missed() -> None:
    truth = scene(40)
    flat = truth["object"] < 10
    with pytest.warns(UserWarning, match="zero or negative size"):
        matches = sf.match(truth, truth.assign(w=truth["w"].where(~flat, 0.0)))
    assert matches["outcome"].value_counts().to_dict() == {"TP": 30, "FN": 10, "FP": 10, "empty": 0}


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e300])
@pytest.mark.parametrize("column", COLUMNS)
def test_numbers_that_are_none(column: str, value: float) -> None:
    truth = scene(20)
    wrong = truth.assign(**{column: truth[column].where(truth["object"] != 3, value)})
    with refused((f"predictions: column {column}", "object 3")):
        sf.match(truth, wrong)


def test_bias_tells_sizes_and_angles_of_any_words() -> None:
    truth = scene()
    claimed = truth.assign(cx=truth["cx"] + 0.5, w=truth["w"] * 1.1, angle=truth["angle"] + 2)
    odd = truth["object"] % 2 == 1
    turned = claimed.assign(w=claimed["w"].where(odd, claimed["h"]), h=claimed["h"].where(odd, claimed["w"]))
    turned["angle"] = claimed["angle"] + np.where(odd, 180, -90)
    offsets = sf.bias(sf.match(truth, turned)).set_index("metric")["estimate"]
    told = offsets[["dx", "dy", "width_ratio", "height_ratio", "angle"]]
    np.testing.assert_allclose(told, [0.5, 0, 1.1, 1, 2], atol=1e-9)


def test_the_rule_is_told_and_read_again() -> None:
    truth = scene()
    matches = sf.match(truth, truth.assign(cx=truth["cx"] + 1))
    assert {"rule": "iou", "geometry": "oriented boxes", "threshold": 0.5}.items() <= matches.attrs.items()
    bare = matches.copy()
    bare.attrs = {}
    again = sf.bias(bare, similarity="iou", threshold=0.5)
    pd.testing.assert_frame_equal(again, sf.bias(matches))


def test_centres_meet_by_tau() -> None:
    truth = scene()
    matches = sf.match(truth, truth.assign(cx=truth["cx"] + 3, cy=truth["cy"] - 4), tau=6)
    np.testing.assert_allclose(matches["distance"], 5)


@pytest.mark.parametrize(
    ("suspicion", "wrong"),
    [
        ("angle is in radians", lambda o: o.assign(angle=np.radians(o["angle"]))),
        ("angle turns the other way", lambda o: o.assign(angle=-o["angle"])),
        ("w and h are swapped", lambda o: o.assign(w=o["h"], h=o["w"])),
        ("cx and cy are swapped", lambda o: o.assign(cx=o["cy"], cy=o["cx"])),
        ("w and h are half the size", lambda o: o.assign(w=o["w"] / 2, h=o["h"] / 2)),
        ("angle is in radians and turns the other way", lambda o: o.assign(angle=-np.radians(o["angle"]))),
        (
            "cx and cy are the top left corner of the box before it is turned",
            lambda o: o.assign(cx=o["cx"] - o["w"] / 2, cy=o["cy"] - o["h"] / 2),
        ),
        (
            "cx, cy, w and h are two corners of the box before it is turned",
            lambda o: o.assign(
                cx=o["cx"] - o["w"] / 2, cy=o["cy"] - o["h"] / 2, w=o["cx"] + o["w"] / 2, h=o["cy"] + o["h"] / 2
            ),
        ),
        (
            "cx and cy are the corner of the turned box that is its top left one before it is turned",
            lambda o: o.assign(**dict(zip(("cx", "cy"), outline(Rows(o))[:, 0].T, strict=True))),
        ),
        ("angle is counted from the y axis towards the x axis", lambda o: o.assign(angle=90 - o["angle"])),
        (
            "x and y are swapped, and so angle is counted from the y axis",
            lambda o: o.assign(cx=o["cy"], cy=o["cx"], angle=90 - o["angle"]),
        ),
        ("cx is counted from the right edge", lambda o: o.assign(cx=4000 - o["cx"], angle=-o["angle"])),
        ("cy is counted from the bottom edge", lambda o: o.assign(cy=4000 - o["cy"], angle=180 - o["angle"])),
        ("coordinates are normalised to 0 to 1", lambda o: scaled(o, 1 / 4000)),
        (
            "coordinates are normalised to 0 to 1, and w and h are half the size",
            lambda o: scaled(o.assign(w=o["w"] / 2, h=o["h"] / 2), 1 / 4000),
        ),
        ("coordinates are halved", lambda o: scaled(o, 0.5)),
        ("coordinates are scaled by 1.7", lambda o: scaled(o, 1.7)),
    ],
)
def test_check_finds_slips(suspicion: str, wrong: object) -> None:
    truth = scene()
    assert not len(sf.check(truth, truth))
    assert sf.check(truth, wrong(truth))["suspicion"].tolist() == [suspicion]  # type: ignore[operator]


def test_check_finds_slips_among_many_false_alarms() -> None:
    """What is gained is held against the highest F1 that so many predictions can have."""
    truth = scene()
    off = np.random.default_rng(1).uniform(0, 4000, (2, 2 * len(truth)))
    false = pd.concat([truth, truth]).assign(cx=off[0], cy=off[1])
    found = pd.concat([truth.assign(angle=-truth["angle"]), false], ignore_index=True)
    found = found.assign(object=np.arange(len(found)))
    assert sf.check(truth, found)["suspicion"].tolist() == ["angle turns the other way"]


def test_upright_boxes_with_an_angle_are_refused() -> None:
    boxes = scene(20).rename(columns={"cx": "x", "cy": "y"})
    with pytest.raises(sf.InputError, match="angle says how boxes are turned"):
        sf.match(boxes, boxes)


def test_boxes_are_drawn_turned() -> None:
    truth = scene(20)
    matches = sf.match(truth, truth)
    ax = sf.plots.frame(matches, 0, 1)
    [line, *_] = [line for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 6 * 20]
    corners = np.column_stack([line.get_xdata(), line.get_ydata()])[:4]
    np.testing.assert_allclose(corners, outline(Rows(truth))[0])
    plt.close("all")


@pytest.mark.parametrize("column", ["w", "angle"])
def test_a_column_is_missing(column: str) -> None:
    truth = scene(5)
    lacking = truth.drop(columns=column)
    with refused(("predictions: column x", f"need {column}, too"), "predictions: column y"):
        sf.match(truth, lacking)
