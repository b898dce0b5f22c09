"""tidy(): tables in other words as tables of this package."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.problems import refused

TABLE = pd.DataFrame(
    {
        "image_id": [7, 7],
        "video": ["a", "a"],
        "track_id": [1, 2],
        "label": ["car", "bus"],
        "xmin": [10.0, 0.0],
        "ymin": [20, 5],
        "xmax": [40.0, 2.5],
        "ymax": [25, 5],
        "note": ["", "far"],
    }
)
NAMES = {"sequence": "video", "frame": "image_id", "object": "track_id", "category": "label"}
CORNERS = ["xmin", "ymin", "xmax", "ymax"]


def test_names_and_corners() -> None:
    before = TABLE.copy()
    tidied = sf.tidy(TABLE, **NAMES, box=CORNERS, box_format="xyxy")
    assert [*tidied] == ["frame", "sequence", "object", "category", "x", "y", "w", "h", "note"]
    assert tidied[["x", "y", "w", "h"]].to_numpy().tolist() == [[10, 20, 30, 5], [0, 5, 2.5, 0]]
    assert tidied["note"].tolist() == ["", "far"]
    pd.testing.assert_frame_equal(TABLE, before)


@pytest.mark.parametrize(
    ("box_format", "values"),
    [("xywh", [10, 20, 30, 5]), ("xyxy", [10, 20, 40, 25]), ("cxcywh", [25, 22.5, 30, 5])],
)
def test_formats_of_boxes(box_format: Any, values: list[float]) -> None:
    table = pd.DataFrame([values], columns=["a", "b", "c", "d"])
    tidied = sf.tidy(table, box=["a", "b", "c", "d"], box_format=box_format)
    assert tidied.iloc[0].to_dict() == {"x": 10, "y": 20, "w": 30, "h": 5}


def test_columns_that_change_places() -> None:
    swapped = sf.tidy(pd.DataFrame({"x": [1.0], "y": [2.0]}), x="y", y="x")
    assert swapped.to_dict("list") == {"y": [1.0], "x": [2.0]}


def test_boxes_whose_corner_is_called_like_a_centre() -> None:
    """x and y are replaced where the box names them, whatever they were."""
    table = pd.DataFrame({"x": [25.0], "y": [22.5], "width": [30.0], "height": [5.0]})
    tidied = sf.tidy(table, box=["x", "y", "width", "height"], box_format="cxcywh")
    assert tidied.to_dict("list") == {"x": [10.0], "y": [20.0], "w": [30.0], "h": [5.0]}


def test_what_is_wrong() -> None:
    with refused(("tidy: table: column vidoe is missing", "sequence", "video")):
        sf.tidy(TABLE, sequence="vidoe")
    with refused(("tidy: table: column video is named more than once",)):
        sf.tidy(TABLE, sequence="video", category="video")
    with refused(("tidy: table: column label is to be category, and there is a column category already", "drop")):
        sf.tidy(TABLE.assign(category=1), category="label")
    with refused(("tidy: table: column label", "numbers")):
        sf.tidy(TABLE, box=["label", "ymin", "xmax", "ymax"])
    for wrong in (["xmin", "ymin"], 4):
        with refused(("tidy: box is", "4 columns"), error=ValueError):
            sf.tidy(TABLE, box=wrong)
    for numbers in ("xmin", ["xmin"]):
        with refused(("tidy: table: column xmin", "lists of 4 numbers")):
            sf.tidy(TABLE, box=numbers)
    with refused(("tidy: box_format is 'ltrb'", "'xyxy'"), error=ValueError):
        sf.tidy(TABLE, box=CORNERS, box_format="ltrb")
    with refused(("tidy: x and box", "one of them"), error=ValueError):
        sf.tidy(TABLE, x="xmin", box=CORNERS)


def test_a_table_that_is_tidy_stays_as_it_is() -> None:
    tidy = sf.tidy(TABLE, **NAMES, box=CORNERS, box_format="xyxy")
    pd.testing.assert_frame_equal(sf.tidy(tidy), tidy)
    pd.testing.assert_frame_equal(sf.tidy(tidy, sequence="sequence", box=["x", "y", "w", "h"]), tidy)


numbers = st.floats(-1e6, 1e6).map(lambda value: round(value * 8) / 8)


@pytest.mark.filterwarnings("ignore:.*all boxes lie between 0 and 1:UserWarning")
@given(st.lists(st.tuples(numbers, numbers, numbers, numbers), min_size=1))
def test_all_formats_of_the_same_boxes(boxes: list[tuple[float, float, float, float]]) -> None:
    expected = pd.DataFrame(boxes, columns=["x", "y", "w", "h"])
    x, y, w, h = (expected[name] for name in ("x", "y", "w", "h"))
    corners = pd.DataFrame({"l": x, "t": y, "r": x + w, "b": y + h})
    centres = pd.DataFrame({"cx": x + w / 2, "cy": y + h / 2, "w": w, "h": h})
    found = [
        sf.tidy(corners, box=["l", "t", "r", "b"], box_format="xyxy"),
        sf.tidy(centres, box=["cx", "cy", "w", "h"], box_format="cxcywh"),
    ]
    for table in found:
        pd.testing.assert_frame_equal(table, expected)


def test_masks_of_any_form_become_run_lengths() -> None:
    square = [[1.0, 1.0, 5.0, 1.0, 5.0, 4.0, 1.0, 4.0]]
    of_polygons = sf.tidy(objects_of(outline=[square]), mask="outline", size=(8, 6))
    text = of_polygons["mask"].iloc[0]
    assert of_polygons[["mask_h", "mask_w"]].to_numpy().tolist() == [[6, 8]]
    counts = [7, 3, 3, 3, 3, 3, 3, 3, 20]  # down the columns of an image of 6 rows
    for rle in (
        {"size": [6, 8], "counts": text},
        {"size": [6, 8], "counts": text.encode()},
        {"size": [6, 8], "counts": counts},
    ):
        pd.testing.assert_frame_equal(sf.tidy(objects_of(rle=[rle]), mask="rle"), of_polygons)
    named = objects_of(rle=[text], width=[8], height=[6], x=[1.0], y=[1.0], w=[4.0], h=[3.0])
    found = sf.tidy(named, mask="rle", size=("width", "height"))
    assert list(found) == ["sequence", "frame", "object", "width", "height", "mask", "mask_h", "mask_w"]
    assert sf.match(found, of_polygons)["similarity"].tolist() == [1.0]


def test_masks_as_single_polygons_points_and_arrays() -> None:
    square = [1.0, 1.0, 5.0, 1.0, 5.0, 4.0, 1.0, 4.0]
    expected = sf.tidy(objects_of(outline=[[square]]), mask="outline", size=(8, 6))
    inside = np.zeros((6, 8), bool)
    inside[1:4, 1:5] = True
    points = [square[at : at + 2] for at in range(0, 8, 2)]
    for form in (square, points, np.array(square), inside, inside.astype(np.uint8)):
        pd.testing.assert_frame_equal(sf.tidy(objects_of(outline=[form]), mask="outline", size=(8, 6)), expected)
    pd.testing.assert_frame_equal(sf.tidy(objects_of(outline=[inside]), mask="outline"), expected)
    with refused(("tidy: table: column outline: row 0", "the array is 6 x 8", "the image 8 x 6")):
        sf.tidy(objects_of(outline=[inside]), mask="outline", size=(6, 8))


def objects_of(**columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame({"sequence": 1, "frame": 1, "object": [1], **columns})


@pytest.mark.parametrize(
    ("mask", "words", "problem"),
    [
        ([[1.0, 1.0, 5.0, 1.0, 5.0, 4.0]], {}, "height and width.*give size="),
        ([[0.1, 0.1, 0.5, 0.1, 0.5, 0.4]], {"size": (8, 6)}, "no polygon reaches beyond 1 px"),
        ([[1.0, 1.0, None, 1.0, 5.0, 4.0]], {"size": (8, 6)}, "row 0: something in it is no number"),
        ({"size": [6, 8], "counts": ["a"]}, {}, "row 0: something in it is no number"),
        ("abc", {}, "needs size="),
        ("abc", {"size": (8, 6)}, "row 0: "),
        (7, {"size": (8, 6)}, "polygons, or a dict"),
        ({"counts": [48]}, {}, "size"),
        ({"size": [6, 8], "counts": [1, 2]}, {}, "as many pixels"),
    ],
)
def test_masks_that_are_none(mask: object, words: dict[str, object], problem: str) -> None:
    with pytest.raises(sf.InputError, match=f"tidy: table: column outline.*{problem}"):
        sf.tidy(objects_of(outline=[mask]), mask="outline", **words)  # type: ignore[arg-type]


def test_catalogues_of_the_sky_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    table = objects_of(RAJ2000=[10.0], DEJ2000=[-5.0], magnitude=[20.0])
    assert list(sf.tidy(table)) == ["sequence", "frame", "object", "ra", "dec", "magnitude"]
    assert "ra from RAJ2000, dec from DEJ2000" in capsys.readouterr().out
    named = sf.tidy(objects_of(lon=[10.0], lat=[-5.0]), ra="lon", dec="lat")
    assert sf.match(named, named, tau=1.0)["distance"].tolist() == [0.0]
    with pytest.raises(sf.InputError) as caught:
        sf.match(table, table, tau=1.0)
    assert 'tidy(table, ra="RAJ2000", dec="DEJ2000")' in caught.value.problems[0]
    pixels = objects_of(x=[1.0], y=[2.0], RAJ2000=[10.0], DEJ2000=[-5.0])
    assert list(sf.tidy(pixels)) == list(pixels)
