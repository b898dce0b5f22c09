"""More than forty shapes of tables, from the documentation of the tools that make them: tidy() takes each."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import spotgeo_frames as sf
from helpers.problems import refused, warned

# Two frames with three boxes, px, in an image of 200 x 100.
BOXES = np.array([[10.0, 20, 30, 40], [100, 10, 20, 20], [0, 0, 50, 25]])
KEY = {"sequence": 1, "frame": [1, 1, 2]}
EACH_KEY = {"sequence": [1, 1, 1], "frame": [1, 1, 2]}  # for those that repeat no value
EXPECTED = pd.DataFrame(KEY | dict(zip("xywh", BOXES.T, strict=True)) | {"category": ["car", "bus", "car"]})
SIZE = (200, 100)

x, y, w, h = BOXES.T
XYXY = np.column_stack([x, y, x + w, y + h])
CXCYWH = np.column_stack([x + w / 2, y + h / 2, w, h])
CLASSES = ["car", "bus", "car"]
SHARES = np.array([200.0, 100, 200, 100])


def columns(names: list[str], values: np.ndarray, **others: Any) -> pd.DataFrame:
    return pd.DataFrame(KEY | dict(zip(names, values.T, strict=True)) | others)


def lists(name: str, values: np.ndarray, **others: Any) -> pd.DataFrame:
    return pd.DataFrame(KEY | {name: values.tolist()} | others)


def dicts(names: list[str], values: np.ndarray) -> list[dict[str, float]]:
    return [dict(zip(names, row, strict=True)) for row in values.tolist()]


# The shape, and the arguments of tidy() that it takes.
SHAPES: dict[str, tuple[Any, dict[str, Any]]] = {
    "COCO results": (
        lists("bbox", BOXES, category_id=CLASSES, score=0.5).rename(columns={"frame": "image_id"}),
        {"box": "bbox"},
    ),
    "COCO annotations": (
        lists("bbox", BOXES, id=[1, 2, 3], category_id=CLASSES, area=1.0, iscrowd=0).rename(
            columns={"frame": "image_id"}
        ),
        {"box": "bbox"},
    ),
    "torchvision": (lists("boxes", XYXY, labels=CLASSES, scores=0.5), {"box": "boxes", "box_format": "xyxy"}),
    "torchvision, arrays in cells": (
        pd.DataFrame(KEY | {"boxes": list(XYXY), "labels": CLASSES}),
        {"box": "boxes", "box_format": "xyxy"},
    ),
    "supervision, CSVSink": (
        columns(["x_min", "y_min", "x_max", "y_max"], XYXY, class_id=CLASSES, confidence=0.5, tracker_id=[1, 2, 3]),
        {},
    ),
    "supervision, an array called xyxy": (lists("xyxy", XYXY, class_id=CLASSES, tracker_id=[1, 2, 3]), {}),
    "Ultralytics, to_df": (
        pd.DataFrame(
            KEY
            | {
                "class": CLASSES,
                "box": dicts(["x1", "y1", "x2", "y2"], XYXY),
            }
        ),
        {},
    ),
    "Ultralytics, to_csv": (
        columns(["box.x1", "box.y1", "box.x2", "box.y2"], XYXY, **{"class": CLASSES}),
        {},
    ),
    "YOLO labels": (
        columns(["x_center", "y_center", "width", "height"], CXCYWH / SHARES, class_id=CLASSES, conf=0.5),
        {"size": SIZE},
    ),
    "YOLO labels with the size of each image": (
        columns(["x_center", "y_center", "width", "height"], CXCYWH / SHARES, cls=CLASSES, image_w=200, image_h=100),
        {"size": ("image_w", "image_h")},
    ),
    "Detectron2": (lists("bbox", XYXY, category_id=CLASSES), {"box": "bbox", "box_format": "xyxy"}),
    "MMDetection": (lists("bboxes", XYXY, labels=CLASSES, scores=0.1), {"box": "bboxes", "box_format": "xyxy"}),
    "DETR": (lists("boxes", CXCYWH / SHARES, labels=CLASSES), {"box": "boxes", "box_format": "cxcywh", "size": SIZE}),
    "KITTI": (
        columns(["left", "top", "right", "bottom"], XYXY, type=CLASSES, truncated=0, occluded=1, track_id=[4, 5, 4]),
        {},
    ),
    "Label Studio, percent": (
        columns(["x", "y", "width", "height"], BOXES / SHARES * 100, label=CLASSES),
        {"size": (2.0, 1.0)},
    ),
    "FiftyOne": (lists("bounding_box", BOXES / SHARES, label=CLASSES), {"box": "bounding_box", "size": SIZE}),
    "Pascal VOC": (columns(["xmin", "ymin", "xmax", "ymax"], XYXY, label=CLASSES, difficult=0), {}),
    "TensorFlow, CSV with the images' sizes": (
        columns(["xmin", "ymin", "xmax", "ymax"], XYXY, width=200, height=100, **{"class": CLASSES}),
        {},
    ),
    "motmetrics": (
        columns(["X", "Y", "Width", "Height"], BOXES, Id=[1, 2, 1], ClassId=CLASSES, Visibility=1.0),
        {},
    ),
    "MOTChallenge": (
        columns(["bb_left", "bb_top", "bb_width", "bb_height"], BOXES, id=[1, 2, 1], conf=1, label=CLASSES),
        {},
    ),
    "BDD100K, flattened": (columns(["box2d.x1", "box2d.y1", "box2d.x2", "box2d.y2"], XYXY, category=CLASSES), {}),
    "Open Images": (
        columns(["XMin", "YMin", "XMax", "YMax"], XYXY / SHARES, LabelName=CLASSES, Confidence=1).rename(
            columns={"frame": "ImageID"}
        ),
        {"size": SIZE},
    ),
    "VisDrone": (
        columns(["bbox_left", "bbox_top", "bbox_width", "bbox_height"], BOXES, score=1, object_category=CLASSES),
        {},
    ),
    "RetinaNet CSV": (columns(["x1", "y1", "x2", "y2"], XYXY, class_name=CLASSES), {}),
    "ByteTrack": (lists("tlwh", BOXES, track_id=[1, 2, 1], cls=CLASSES), {}),
    "SORT": (lists("tlbr", XYXY, track_id=[1, 2, 1], cls=CLASSES), {}),
    "CVAT": (columns(["xtl", "ytl", "xbr", "ybr"], XYXY, label=CLASSES), {}),
    "names of one's own": (
        columns(["a", "b", "c", "d"], XYXY, what=CLASSES),
        {"box": ["a", "b", "c", "d"], "box_format": "xyxy", "category": "what"},
    ),
    "polars with lists": (pl.DataFrame(lists("tlwh", BOXES, cls=CLASSES)), {}),
    "pyarrow with lists": (pa.Table.from_pandas(lists("xyxy", XYXY, cls=CLASSES)), {}),
    "polars with structs": (pl.DataFrame(KEY | {"box": dicts(list("xywh"), BOXES), "cls": CLASSES}), {}),
    "polars with structs of corners": (
        pl.DataFrame(KEY | {"bbox": dicts(["xmin", "ymin", "xmax", "ymax"], XYXY), "cls": CLASSES}),
        {"box": "bbox"},
    ),
    "pyarrow with structs": (pa.table(EACH_KEY | {"box": dicts(["x1", "y1", "x2", "y2"], XYXY), "cls": CLASSES}), {}),
    "pandas with structs of Arrow": (
        pa.table(EACH_KEY | {"box": dicts(list("xywh"), BOXES), "cls": CLASSES}).to_pandas(types_mapper=pd.ArrowDtype),
        {},
    ),
    "dicts of centres": (
        pd.DataFrame(KEY | {"box": dicts(["x", "y", "width", "height"], CXCYWH), "cls": CLASSES}),
        {"box": "box", "box_format": "cxcywh"},
    ),
    "xmin to ymax, class and conf": (
        columns(["xmin", "ymin", "xmax", "ymax"], XYXY, conf=0.5, **{"class": CLASSES}),
        {},
    ),
    "OpenCV, start and end": (columns(["startX", "startY", "endX", "endY"], XYXY, label=CLASSES), {}),
    "corners with a prefix": (
        columns([f"bbox_{of}" for of in ("xmin", "ymin", "xmax", "ymax")], XYXY, cls=CLASSES),
        {},
    ),
    "Pascal VOC, flattened": (
        columns([f"bndbox.{of}" for of in ("xmin", "ymin", "xmax", "ymax")], XYXY, name="x", label=CLASSES),
        {},
    ),
    "edges with a prefix": (
        columns([f"boundingBox_{of}" for of in ("left", "top", "right", "bottom")], XYXY, label=CLASSES),
        {},
    ),
    "corners in words": (
        columns(["topleft_x", "topleft_y", "bottomright_x", "bottomright_y"], XYXY, label=CLASSES),
        {},
    ),
    "Rekognition": (
        pd.DataFrame(
            KEY
            | {
                "BoundingBox": dicts(["Width", "Height", "Left", "Top"], (BOXES / SHARES)[:, [2, 3, 0, 1]]),
                "Label": CLASSES,
            }
        ),
        {"size": SIZE},
    ),
    "Ultralytics, xyxyn": (lists("xyxyn", XYXY / SHARES, cls=CLASSES), {"size": SIZE}),
    "Ultralytics, xywhn": (lists("xywhn", CXCYWH / SHARES, cls=CLASSES), {"size": SIZE}),
    "COCO boxes in a CSV": (
        pd.DataFrame(KEY | {"bbox": [str(row) for row in BOXES.tolist()], "category_id": CLASSES}),
        {"box": "bbox"},
    ),
    "tuples in a CSV": (
        pd.DataFrame(KEY | {"box": [str(tuple(row)) for row in XYXY.tolist()], "label": CLASSES}),
        {"box_format": "xyxy"},
    ),
    "pairs of points, as of Labelme": (
        pd.DataFrame(KEY | {"points": XYXY.reshape(-1, 2, 2).tolist(), "label": CLASSES}),
        {"box": "points", "box_format": "xyxy"},
    ),
    "small floats in cells": (
        pd.DataFrame(KEY | {"tlbr": list(XYXY.astype("float32")), "label": CLASSES}),
        {},
    ),
    "an index of frames and objects, as of motmetrics": (
        columns(["X", "Y", "Width", "Height"], BOXES, Id=[1, 2, 1], label=CLASSES).set_index(["frame", "Id"]),
        {},
    ),
    "fields of an array of NumPy": (
        pd.DataFrame(
            np.array(
                [(*key, *row) for key, row in zip([(1, 1), (1, 1), (1, 2)], XYXY, strict=True)],
                dtype=[(name, "f4") for name in ("sequence", "frame", "x1", "y1", "x2", "y2")],
            )
        ).assign(label=CLASSES),
        {},
    ),
    "tidy already": (EXPECTED, {}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_gives_the_same_numbers(shape: str) -> None:
    table, words = SHAPES[shape]
    tidied = sf.tidy(table, **words)
    assert type(tidied) is type(table)
    matches = sf.match(EXPECTED, tidied)
    kept = pd.DataFrame({name: list(matches[name]) for name in ("outcome", "similarity", "category", "truth_x")})
    assert kept["outcome"].tolist() == ["TP"] * 3
    assert kept["similarity"].tolist() == pytest.approx([1.0] * 3)
    assert kept["category"].tolist() == CLASSES


def test_points() -> None:
    for names in (["POSITION_X", "POSITION_Y"], ["X_IMAGE", "Y_IMAGE"], ["xcentroid", "ycentroid"], ["x_px", "y_px"]):
        tidied = sf.tidy(columns(names, BOXES[:, :2]))
        assert tidied[["x", "y"]].to_numpy().tolist() == BOXES[:, :2].tolist()
    of_rows = sf.tidy(columns(["centroid-0", "centroid-1"], BOXES[:, 1::-1]))  # skimage: row, then column
    assert of_rows[["x", "y"]].to_numpy().tolist() == BOXES[:, :2].tolist()


def test_corners_of_turned_boxes() -> None:
    angle = np.radians(30.0)
    across, down = np.array([np.cos(angle), np.sin(angle)]) * 20, np.array([-np.sin(angle), np.cos(angle)]) * 5
    middle = np.array([50.0, 60.0])
    corners = middle + np.array([-across - down, across - down, across + down, down - across])
    table = pd.DataFrame(KEY | {"poly": [corners.ravel().tolist()] * 3})
    nested = pd.DataFrame(KEY | {"poly": [corners.tolist()] * 3})
    rounded = pd.DataFrame(KEY | {"poly": [corners.round().ravel().tolist()] * 3})
    expected = [50, 60, 40, 10, 30]
    names = ["cx", "cy", "w", "h", "angle"]
    for given, within in ((table, 1e-9), (nested, 1e-9), (rounded, 2.0)):
        tidied = sf.tidy(given, box="poly", box_format="corners")
        assert tidied.iloc[0][names].tolist() == pytest.approx(expected, abs=within)
    odd = table.assign(poly=[*table["poly"][:2], [0, 0, 90, 0, 50, 50, 10, 90]])
    with refused(("tidy: table", "1 row has corners of no rectangle", "row 2")):
        sf.tidy(odd, box="poly", box_format="corners")
    turned = sf.tidy(pd.DataFrame(KEY | {"obb": [expected] * 3}), box="obb", box_format="cxcywha")
    assert turned.iloc[0][names].tolist() == expected


def test_keypoints() -> None:
    numbers = np.arange(51.0).reshape(17, 3)
    table = pd.DataFrame({"sequence": 1, "image_id": [1, 2], "id": [5, 6], "bbox": [[0, 0, 9, 9]] * 2})
    tidied = sf.tidy(table.assign(keypoints=[numbers.ravel().tolist()] * 2), keypoints="keypoints", box="bbox")
    assert len(tidied) == 34
    assert tidied["joint"].tolist()[:2] == ["nose", "left_eye"]
    assert tidied.iloc[18][["frame", "object", "x", "y", "visibility", "box_w"]].tolist() == [2, 6, 3, 4, 5, 9]
    two = pd.DataFrame(KEY | {"object": [1, 2, 3], "kp": [[1, 2, 2, 3, 4, 2]] * 3})
    assert sf.tidy(two, keypoints="kp", joints=["a", "b"])["joint"].tolist() == ["a", "b"] * 3
    assert sf.tidy(two, keypoints="kp")["joint"].tolist() == [0, 1] * 3
    with refused(("tidy: table", "column kp", "4 numbers")):
        sf.tidy(pd.DataFrame(KEY | {"kp": [[1, 2, 2, 3]] * 3}), keypoints="kp")
    with refused(("tidy", "joints has 1 names"), error=ValueError):
        sf.tidy(two, keypoints="kp", joints=["a"])


def test_what_is_taken_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    table, _ = SHAPES["supervision, CSVSink"]
    sf.tidy(table)
    assert capsys.readouterr().out == (
        "tidy took object from tracker_id, score from confidence, category from class_id, "
        "box (xyxy) from x_min, y_min, x_max, y_max\n"
    )
    sf.tidy(EXPECTED)
    sf.tidy(columns(["l", "t", "r", "b"], XYXY), box=["l", "t", "r", "b"], box_format="xyxy")
    assert capsys.readouterr().out == ""
    sf.tidy(EXPECTED.rename(columns={"category": "Label"}).assign(**{"track\x1b[31m_id": 1}))
    assert "\x1b" not in capsys.readouterr().out


def test_four_corners_are_no_opposite_ones() -> None:
    corners = np.column_stack([x, y, x + w, y, x + w, y + h, x, y + h])
    expected = np.column_stack([x + w / 2, y + h / 2, w, h, np.zeros(3)]).tolist()
    named = columns([f"{axis}{n}" for n in (1, 2, 3, 4) for axis in "xy"], corners)
    names = ["cx", "cy", "w", "h", "angle"]
    assert sf.tidy(named)[names].to_numpy().tolist() == expected
    shares = lists("corners", corners / np.tile(SHARES[:2], 4))
    tidied = sf.tidy(shares, box="corners", box_format="corners", size=SIZE)
    assert tidied[names].to_numpy() == pytest.approx(np.array(expected))


def test_angles_in_degrees_are_taken() -> None:
    table = columns(["x_center", "y_center", "width", "height"], CXCYWH, angle=30.0)
    assert sf.tidy(table).iloc[0][["cx", "cy", "w", "h", "angle"]].tolist() == [25, 40, 30, 40, 30]
    with refused(
        *[("truth: column x", 'box_format="cxcywha") makes it'), ("truth: column y", "the same tidy() call makes it")]
    ):
        sf.match(table, EXPECTED)


@pytest.mark.parametrize("angle", ["theta", "rotation", "yaw"])
def test_angles_that_may_be_in_radians_are_asked_for(angle: str) -> None:
    table = columns(["cx", "cy", "w", "h"], CXCYWH, **{angle: 0.5})
    with refused(("tidy: table", f"column {angle} may say how boxes are turned", "cxcywha", "cxcywh")):
        sf.tidy(table)
    assert sf.tidy(table.assign(**{angle: 0}))["x"].tolist() == x.tolist()
    with refused(("tidy: table", "column xywhr", "radians", "cxcywha")):
        sf.tidy(lists("xywhr", np.column_stack([CXCYWH, [0.1, 0.2, 0.3]])))


def test_boxes_that_are_shares_are_warned_about() -> None:
    shares = columns(["left", "top", "width", "height"], BOXES / SHARES)
    with warned(("tidy: table", "between 0 and 1", "size=(width, height)")):
        sf.tidy(shares)
    with warned():
        sf.tidy(shares, size=SIZE)


@pytest.mark.parametrize(
    "names", [["bbox_0", "bbox_1", "bbox_2", "bbox_3"], ["xmin_px", "ymin_px", "xmax_px", "ymax_px"]]
)
def test_places_under_unknown_names_are_warned_about(names: list[str]) -> None:
    with warned(("tidy: table", *names, "may say where objects are", "box_format=")):
        sf.tidy(columns(names, XYXY))


def test_lists_whose_first_is_null_are_warned_about() -> None:
    with warned(("tidy: table", "column tlwh may say where objects are")):
        sf.tidy(pd.DataFrame(KEY | {"tlwh": [None, [1, 2, 3, 4], None]}))


def test_shapes_have_bounds() -> None:
    shapely = pytest.importorskip("shapely")
    table = pd.DataFrame(KEY | {"geometry": [shapely.box(*corners) for corners in XYXY]})
    with warned(("tidy: table", "column geometry", "bounds of shapes")):
        sf.tidy(table)
    bounds = pd.DataFrame([shape.bounds for shape in table["geometry"]], columns=["minx", "miny", "maxx", "maxy"])
    assert sf.tidy(table.join(bounds))["w"].tolist() == w.tolist()


class Tensor:
    """What NumPy takes as an array, as tensors are."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.values.astype(dtype)


def test_tensors_in_cells() -> None:
    table = pd.DataFrame(KEY | {"boxes": [Tensor(row) for row in XYXY]})
    assert sf.tidy(table, box="boxes", box_format="xyxy")["w"].tolist() == w.tolist()


@pytest.mark.parametrize(
    ("given", "way_out"),
    [
        ({"sequence": [1], "frame": [1]}, "pandas.DataFrame(...)"),
        ([{"sequence": 1, "frame": 1}], "pandas.DataFrame(...)"),
        (np.zeros(2, [("x", "f4"), ("y", "f4")]), "pandas.DataFrame(...)"),
        (BOXES, "pandas.DataFrame(..., columns=[...])"),
        (pd.Series([1]), "to_frame()"),
    ],
)
def test_what_is_no_table_can_be_made_one(given: Any, way_out: str) -> None:
    with refused(("tidy: table", "is of type", way_out)):
        sf.tidy(given)


@pytest.mark.parametrize("name", ["image_id", "file_name"])
def test_images_with_names_are_sequences(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As the readers of files of images have them."""
    table = columns(["xmin", "ymin", "xmax", "ymax"], XYXY, **{name: ["a.png", "a.png", "b.png"]})
    tidied = sf.tidy(table.drop(columns=["sequence", "frame"]))
    assert f"sequence from {name}, frame 1 in each sequence" in capsys.readouterr().out
    assert tidied[["sequence", "frame"]].to_numpy().tolist() == [["a.png", 1], ["a.png", 1], ["b.png", 1]]
    coded = table.drop(columns=["sequence", "frame"]).astype({name: "category"})
    assert sf.tidy(coded)["sequence"].tolist() == ["a.png", "a.png", "b.png"]
    assert [*sf.tidy(coded[:0].astype({name: "string"}))][:2] == [*tidied][:2]
    kept = sf.tidy(table.drop(columns="frame").rename(columns={name: "image"}))
    assert kept["frame"].tolist() == ["a.png", "a.png", "b.png"]
    with refused(("truth: column frame", "int64 is needed", "let sequence be the name")):
        sf.match(kept, kept)


def test_keypoints_and_masks_under_their_usual_names(capsys: pytest.CaptureFixture[str]) -> None:
    people = pd.DataFrame(KEY | {"id": [1, 2, 3], "keypoints": [[1, 2, 2] * 17] * 3})
    assert len(sf.tidy(people)) == 51
    assert "keypoints from keypoints" in capsys.readouterr().out
    runs = pd.DataFrame(KEY | {"segmentation": [{"size": [6, 8], "counts": [7, 3, 38]}] * 3})
    assert sf.tidy(runs)["mask_w"].tolist() == [8] * 3
    with refused(("tidy: table", "keypoints and segmentation may both say", "mask=")):
        sf.tidy(people.assign(segmentation=runs["segmentation"]))


def test_pairs_have_no_visibility() -> None:
    pairs = pd.DataFrame(KEY | {"kp": [[[1, 2], [3, 4], [5, 6]]] * 3})
    for table in (pairs, pl.DataFrame(pairs), pairs.assign(kp=pairs["kp"].astype(str))):
        tidied = sf.tidy(table, keypoints="kp")
        assert [*tidied.columns] == ["sequence", "frame", "joint", "x", "y"]
        assert list(tidied["x"]) == [1, 3, 5] * 3


AMBIGUOUS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "two classes": (
        columns(["x", "y", "w", "h"], BOXES, class_id=1, class_name="car"),
        ("tidy: table", "may both be category", "class_id", "class_name", "give category="),
    ),
    "lists of boxes": (lists("bbox", BOXES), ("tidy: table", "column bbox holds boxes", "COCO", "torchvision")),
    "two lists": (
        lists("xywh", BOXES, xyxy=XYXY.tolist()),
        ("tidy: table: columns xywh and xyxy may both hold", "give box="),
    ),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_what_may_mean_two_things_is_refused(name: str) -> None:
    table, places = AMBIGUOUS[name]
    with refused(places):
        sf.tidy(table)


DAMAGED: dict[str, tuple[Any, dict[str, Any], tuple[str, ...]]] = {
    "text of something else": (
        lists("bbox", BOXES).assign(bbox="10 20 30 40"),
        {"box": "bbox"},
        ("tidy: table", "column bbox", "lists of 4 numbers are needed", "the first is '10 20 30 40'"),
    ),
    "text of a shorter list": (
        lists("bbox", BOXES).assign(bbox=["[1, 2, 3, 4]", "[1, 2, 3]", "[1, 2, 3, 4]"]),
        {"box": "bbox"},
        ("tidy: table", "column bbox", "there is '[1, 2, 3]'", "sequence 1, frame 1"),
    ),
    "text that ends within a list": (
        lists("bbox", BOXES).assign(bbox=["[1, 2, 3, 4]", "[1, 2, 3, 4]", "[1, 2, x, 4]"]),
        {"box": "bbox"},
        ("tidy: table", "column bbox", "there is '[1, 2, x, 4]'", "sequence 1, frame 2"),
    ),
    "a dict that lacks a key": (
        pd.DataFrame(KEY | {"box": [*dicts(list("xywh"), BOXES[:2]), {"x": 1, "y": 2, "w": 3}]}),
        {"box": "box"},
        ("tidy: table", "column box", "has no h", "row 2"),
    ),
    "a word in a dict": (
        pd.DataFrame(KEY | {"box": [*dicts(list("xywh"), BOXES[:2]), {"x": 1, "y": 2, "w": 3, "h": "4"}]}),
        {"box": "box"},
        ("tidy: table", "column box", "numbers are needed as x, y, w, h", "row 2"),
    ),
    "points as a corner and a size": (
        pd.DataFrame(KEY | {"points": XYXY.reshape(-1, 2, 2).tolist()}),
        {"box": "points"},
        ("tidy: table", "column points holds lists of points", 'box_format="xyxy"'),
    ),
    "a list that is shorter": (
        pd.DataFrame(KEY | {"bbox": [[1, 2, 3, 4], [1, 2, 3], [1, 2, 3, 4]]}),
        {"box": "bbox"},
        ("tidy: table", "column bbox", "there is [1, 2, 3]", "sequence 1, frame 1"),
    ),
    "a null": (
        pd.DataFrame(KEY | {"bbox": [[1, 2, 3, 4], None, [1, 2, 3, 4]]}),
        {"box": "bbox"},
        ("tidy: table", "column bbox", "there is None"),
    ),
    "words in a list": (
        pd.DataFrame(KEY | {"bbox": [["a", 2, 3, 4]] * 3}),
        {"box": "bbox"},
        ("tidy: table", "column bbox", "lists of 4 numbers"),
    ),
    "dicts of something else": (
        pd.DataFrame(KEY | {"box": [{"radius": 1}] * 3}),
        {"box": "box"},
        ("tidy: table", "column box holds dicts of radius"),
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_columns_are_refused(name: str) -> None:
    table, words, places = DAMAGED[name]
    with refused(places):
        sf.tidy(table, **words)


def test_tables_of_frames_keep_their_columns() -> None:
    frames = pd.DataFrame({"video": [1], "image_id": [2], "width": [640], "height": [480], "weather": ["rain"]})
    assert [*sf.tidy(frames)] == ["sequence", "frame", "width", "height", "weather"]


def test_sizes_that_do_not_fit() -> None:
    with refused(("tidy", "size is 5"), error=ValueError):
        sf.tidy(EXPECTED, size=5)  # type: ignore[arg-type]
    with refused(("tidy", "size does not go with boxes that are turned"), error=ValueError):
        sf.tidy(pd.DataFrame(KEY | {"obb": [[1, 2, 3, 4, 5]] * 3}), box="obb", box_format="cxcywha", size=SIZE)


def one(**values: Any) -> pd.DataFrame:
    return pd.DataFrame({"sequence": 1, "frame": [1]} | {name: [value] for name, value in values.items()})


def test_the_columns_of_sizes_are_no_boxes() -> None:
    tidied = sf.tidy(one(x=0.5, y=0.5, width=100, height=50), size=("width", "height"))
    assert tidied.iloc[0][["x", "y", "width", "height"]].tolist() == [50, 25, 100, 50]
    assert "w" not in tidied


def test_keypoints_are_shares_too() -> None:
    both = one(kp=[0.5, 0.5, 2], bbox=[0.1, 0.1, 0.2, 0.2], wide=200, high=100)
    for size in ((200, 100), ("wide", "high"), np.array([200, 100])):
        tidied = sf.tidy(both, keypoints="kp", box="bbox", size=size)
        assert tidied.iloc[0][["x", "y", "box_w", "box_h"]].tolist() == pytest.approx([100, 50, 40, 20])


@pytest.mark.parametrize(
    "table",
    [
        one(x=10.0, y=10.0, w=4.0, h=2.0),
        one(x=10.0, y=10.0, width=4.0, height=2.0),
        one(bbox=[10.0, 10.0, 4.0, 2.0]),
    ],
)
def test_a_format_that_is_said_counts(table: pd.DataFrame) -> None:
    assert sf.tidy(table, box_format="cxcywh").iloc[0][list("xywh")].tolist() == [8, 9, 4, 2]


def test_a_format_of_no_box_is_refused() -> None:
    with refused(("tidy: table", "box_format='xyxy'")):
        sf.tidy(one(a=1.0), box_format="xyxy")
    with refused(("tidy", "x and box_format both say"), error=ValueError):
        sf.tidy(one(a=1.0, b=1.0), x="a", box_format="xyxy")


def test_small_integers_do_not_overflow() -> None:
    corners = one(xmin=20, ymin=0, xmax=10, ymax=200).astype(dict.fromkeys(("xmin", "ymin", "xmax", "ymax"), "uint8"))
    assert sf.tidy(corners).iloc[0][["w", "h"]].tolist() == [-10, 200]
    place = one(x=100, y=100).astype({"x": "uint8", "y": "uint8"})
    assert sf.tidy(place, size=(4, 4)).iloc[0][["x", "y"]].tolist() == [400, 400]


@pytest.mark.parametrize(
    "table",
    [
        one(xmin=1.0, ymin=1.0, xmax=2.0, ymax=2.0, x1=5.0, y1=5.0, x2=6.0, y2=6.0),
        one(x_px=1.0, y_px=1.0, xcentroid=5.0, ycentroid=5.0),
        one(X=1.0, Y=2.0, x=3.0),
    ],
)
def test_two_groups_of_coordinates_are_refused(table: pd.DataFrame) -> None:
    with refused(("tidy: table", "may say where objects are")):
        sf.tidy(table)


def test_tables_that_say_no_places_keep_what_may_mean_objects() -> None:
    frames = pd.DataFrame({"video": [1], "image_id": [2], "id": [9], "type": ["day"], "label": ["x"], "vis": [0.5]})
    assert [*sf.tidy(frames)] == ["sequence", "frame", "id", "type", "label", "vis"]


@pytest.mark.parametrize(
    ("table", "words", "column"),
    [
        (one(obb=[1, 2, 3, 4, 5], angle=7), {"box": "obb", "box_format": "cxcywha"}, "angle"),
        (one(kp=[1, 2, 2], joint="a"), {"keypoints": "kp"}, "joint"),
        (one(kp=[1, 2, 2], bbox=[1, 2, 3, 4], box_x=1), {"keypoints": "kp", "box": "bbox"}, "box_x"),
    ],
)
def test_no_column_is_overwritten(table: pd.DataFrame, words: dict[str, Any], column: str) -> None:
    with refused(("tidy: table", f"it gets a column {column}, and there is one already")):
        sf.tidy(table, **words)


def test_dicts_of_any_keys_that_are_boxes() -> None:
    assert sf.tidy(one(box={"x": 1, "y": 2, "w": 3, "h": 4})).iloc[0][list("xywh")].tolist() == [1, 2, 3, 4]
    with refused(("tidy: table", "column box: dicts are needed", "row 1")):
        sf.tidy(pd.DataFrame(KEY | {"box": [{"x": 1, "y": 2, "w": 3, "h": 4}, None, None]}), box="box")


def test_structs_that_are_no_boxes() -> None:
    whole, part = {"x": 1.0, "y": 2.0, "w": 3.0, "h": 4.0}, {"x": 1.0, "y": 2.0, "w": 3.0, "h": None}
    with refused(("tidy: table", "column box: dicts are needed, and there is None", "row 1")):
        sf.tidy(pa.table(EACH_KEY | {"box": [whole, None, whole]}))
    with refused(("tidy: table", "column box holds dicts of radius")):
        sf.tidy(pl.DataFrame(KEY | {"box": [{"radius": 1.0}] * 3}), box="box")
    with refused(("tidy: table", "column box", "numbers are needed as x, y, w, h", "row 0")):
        sf.tidy(pl.DataFrame(KEY | {"box": [whole | {"w": "wide"}] * 3}))
    lacking = sf.tidy(pa.table(EACH_KEY | {"box": [whole, part, whole]}))
    with refused(("truth", "column h")):
        sf.match(lacking, lacking)


@pytest.mark.parametrize("cell", [pl.List(pl.Float64), pl.Array(pl.Float64, 4), pl.List(pl.Int32)])
def test_lists_of_arrow(cell: Any) -> None:
    table = pl.DataFrame(KEY | {"box": pl.Series(BOXES.tolist()).cast(cell)})
    tidied = sf.tidy(table, box="box", box_format="xywh")
    assert tidied.select(list("xywh")).to_numpy().tolist() == BOXES.tolist()
    assert sf.tidy(table[1:], box="box", box_format="xywh")["x"].to_list() == [100.0, 0.0]


def test_nested_lists_of_arrow() -> None:
    corners = [[[10, 10], [30, 10], [30, 20], [10, 20]]] * 3
    for table in (pl.DataFrame(KEY | {"poly": corners}), pa.table(EACH_KEY | {"poly": corners})):
        tidied = sf.tidy(table, box="poly", box_format="corners")
        assert (
            pd.DataFrame({name: np.asarray(tidied[name]) for name in ("cx", "w")}).to_numpy().tolist() == [[20, 20]] * 3
        )


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        ([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]], "there is [1.0, 2.0, 3.0]"),
        ([[1.0, 2.0, 3.0, 4.0], None, [1.0, 2.0, 3.0, 4.0]], "there is <NA>: sequence 1, frame 1"),
        ([[1.0, 2.0, 3.0]] * 3, "the first is [1.0, 2.0, 3.0]"),
        ([["a", "b", "c", "d"]] * 3, "the first is ['a', 'b', 'c', 'd']"),
    ],
)
def test_damaged_lists_of_arrow(cells: Any, shown: str) -> None:
    with refused(("tidy: table", "column box", shown)):
        sf.tidy(pl.DataFrame(KEY | {"box": cells}), box="box", box_format="xywh")


def test_structs_without_rows() -> None:
    table = pl.DataFrame(KEY | {"box": dicts(list("xywh"), BOXES)})
    assert sf.tidy(table[:0]).columns == ["sequence", "frame", *"xywh"]


@pytest.mark.parametrize(
    "words",
    [
        {"sequence": 5},
        {"sequence": ["a"]},
        {"keypoints": ["a"]},
        {"box": [["a"], ["b"], ["c"], ["d"]]},
        {"joints": 5},
        {"joints": ["a", "a"]},
        {"size": (np.nan, 5)},
        {"size": (0, 5)},
    ],
)
def test_arguments_of_another_form_are_refused(words: dict[str, Any]) -> None:
    with refused(("tidy", *words), error=ValueError):
        sf.tidy(EXPECTED, **words)


def test_sizes_of_nothing_are_refused() -> None:
    with refused(("tidy: table", "size belongs to coordinates")):
        sf.tidy(one(a=1.0), size=(2, 2))
    with refused(("tidy: table", "column wide is missing")):
        sf.tidy(one(x=1.0, y=1.0, high=2), size=("wide", "high"))
    with refused(("tidy: table", "column kp", "0 numbers")):
        sf.tidy(one(kp=[]), keypoints="kp")
