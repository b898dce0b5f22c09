"""VIA's rectangles: JSON and CSV of version 2, projects of version 3, and what is wrong with them."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.commands import answer_here
from helpers.problems import assert_places, refused


def region(box: Any = (10, 5, 20, 30), kind: str = "rect", **attributes: Any) -> dict[str, Any]:
    shape = {"name": kind} | dict(zip(("x", "y", "width", "height"), box, strict=True))
    return {"shape_attributes": shape, "region_attributes": attributes or {"class": "car"}}


def image(name: str = "a.jpg", *regions: Any, **attributes: Any) -> dict[str, Any]:
    return {"filename": name, "size": 1024, "regions": list(regions), "file_attributes": attributes}


def document(*images: dict[str, Any]) -> dict[str, Any]:
    return {f"{one['filename']}1024": one for one in images}


def written(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def as_csv(*images: dict[str, Any], first: str = "filename") -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    columns = ["file_size", "file_attributes", "region_count", "region_id"]
    writer.writerow([first, *columns, "region_shape_attributes", "region_attributes"])
    for one in images:
        head = [one["filename"], 1024, json.dumps(one["file_attributes"]), len(one["regions"])]
        for position, of in enumerate(one["regions"]):
            shape, attributes = (json.dumps(of[f"{kind}_attributes"]) for kind in ("shape", "region"))
            writer.writerow([*head, position, shape, attributes])
        if not one["regions"]:
            writer.writerow([*head, 0, "{}", "{}"])
    return text.getvalue()


IMAGES = (
    image("day/a.jpg", region(), region((0, 0, 1.5, 2), **{"class": "bus", "hidden": "yes"}), weather="rain"),
    image("b.png"),
)


def project(**changes: Any) -> dict[str, Any]:
    """A project of version 3 of two images, with an attribute of options, one of text and one of images."""
    options = {"0": "car", "1": "bus"}
    return {
        "project": {"pid": "__VIA_PROJECT_ID__", "pname": "mine", "vid_list": ["1", "2"]},
        "config": {},
        "attribute": {
            "1": {"aname": "class", "anchor_id": "FILE1_Z0_XY1", "type": 4, "options": options},
            "2": {"aname": "note", "anchor_id": "FILE1_Z0_XY1", "type": 1, "options": {}},
            "3": {"aname": "seen", "anchor_id": "FILE1_Z0_XY0", "type": 2, "options": {"0": "sun", "1": "rain"}},
        },
        "file": {
            "1": {"fid": "1", "fname": "a.jpg", "type": 2, "loc": 1, "src": ""},
            "2": {"fid": "2", "fname": "b.jpg", "type": 2, "loc": 1, "src": ""},
        },
        "metadata": {
            "1_x": {"vid": "1", "flg": 0, "z": [], "xy": [2, 10, 5, 20, 30], "av": {"1": "0", "2": "far"}},
            "1_y": {"vid": "1", "flg": 0, "z": [], "xy": [2, 1, 1, 2, 2], "av": {"1": "1"}},
            "1_z": {"vid": "1", "flg": 0, "z": [], "xy": [], "av": {"3": "0,1"}},
        },
        "view": {"1": {"fid_list": ["1"]}, "2": {"fid_list": ["2"]}},
    } | changes


def test_every_form_of_version_2_gives_the_same(tmp_path: Path) -> None:
    """Older versions number the regions by keys, and begin the CSV with #filename."""
    keyed = [one | {"regions": {str(at): of for at, of in enumerate(one["regions"])}} for one in IMAGES]
    forms = {
        "a.json": document(*IMAGES),
        "b.json": {"_via_settings": {"ui": {}}, "_via_img_metadata": document(*IMAGES), "_via_attributes": {}},
        "c.json": document(*keyed),
        "d.csv": as_csv(*IMAGES),
        "e.csv": "\ufeff" + as_csv(*IMAGES, first="#filename").replace("\r\n", "\n"),
    }
    for name, content in forms.items():
        read = sf.read_via(written(tmp_path / name, content))
        assert read.objects.drop(columns="hidden").to_dict("list") == {
            "sequence": ["day/a"] * 2,
            "frame": [1, 1],
            "object": [1, 2],
            "x": [10, 0],
            "y": [5, 0],
            "w": [20, 1.5],
            "h": [30, 2],
            "category": ["car", "bus"],
        }
        assert read.objects["hidden"].tolist()[1] == "yes"
        assert read.frames is not None
        assert read.frames["sequence"].tolist() == ["day/a", "b"]
        assert read.frames["file_name"].tolist() == ["day/a.jpg", "b.png"]
        assert read.frames["weather"].tolist()[0] == "rain"


def test_projects_of_version_3(tmp_path: Path) -> None:
    read = sf.read_via(written(tmp_path / "a.json", project()))
    assert read.objects[["sequence", "x", "w", "category"]].to_numpy().tolist() == [
        ["a", 10, 20, "car"],
        ["a", 1, 2, "bus"],
    ]
    assert read.objects["note"].tolist()[0] == "far"
    assert read.frames is not None
    assert read.frames["sequence"].tolist() == ["a", "b"]
    assert read.frames["seen"].tolist()[0] == "sun, rain"


def test_the_category(tmp_path: Path) -> None:
    one = document(image("a.jpg", region(kind_of_car="van")))
    assert sf.read_via(written(tmp_path / "a.json", one)).objects["category"].tolist() == ["van"]
    two = written(tmp_path / "a.json", document(image("a.jpg", region(model="x", make="y"))))
    with refused((str(two), "category=", "'model'", "'make'")):
        sf.read_via(two)
    assert sf.read_via(two, "make").objects[["category", "model"]].to_numpy().tolist() == [["y", "x"]]
    with refused((str(two), "'colour'")):
        sf.read_via(two, "colour")
    several = document(image("a.jpg", region(types={"car": True, "red": True, "old": False})))
    assert sf.read_via(written(tmp_path / "a.json", several)).objects["category"].tolist() == ["car, red"]
    none = document(image("a.jpg", {**region(), "region_attributes": {}}))
    assert "category" not in sf.read_via(written(tmp_path / "a.json", none)).objects
    some = document(image("a.jpg", region(), {**region(), "region_attributes": {"class": ""}}))
    with refused((f"{tmp_path / 'a.json'}: 'a.jpg1024'.regions[1]", "'class'")):
        sf.read_via(written(tmp_path / "a.json", some))


@pytest.mark.parametrize("name", ["identity", "names", "box", "columns", "self"])
def test_attributes_are_nothing_but_columns(name: str, tmp_path: Path) -> None:
    regions = [region() | {"region_attributes": {"class": "car", name: of}} for of in ("red", "blue")]
    wet = image("a.jpg", *regions) | {"file_attributes": {name: "wet"}}
    read = sf.read_via(written(tmp_path / "via.json", document(wet)), "class")
    assert read.objects[name].tolist() == ["red", "blue"]
    assert read.objects["object"].tolist() == [1, 2]
    assert read.frames is not None
    assert read.frames[name].tolist() == ["wet"]
    assert read.frames["sequence"].tolist() == ["a"]


def test_packed_files_commands_and_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "a.json", document(*IMAGES))
    with gzip.open(tmp_path / "b.json.gz", "wb") as stream:
        stream.write(path.read_bytes())
    paths = [
        path,
        tmp_path / "b.json.gz",
        written(tmp_path / "c.csv", as_csv(*IMAGES)),
        written(tmp_path / "d.json", project()),
    ]
    for one in paths:
        pd.testing.assert_frame_equal(sf.read(one).objects, sf.read_via(one).objects)
        assert answer_here("score", one, one)["f1"] == 1
    assert capsys.readouterr().out.count("read_via") == 4


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (region(kind="polygon"), "'polygon'"),
        (region(("x", 5, 20, 30)), "x is 'x'"),
        (region((1e300, 5, 20, 30)), "x is 1e+300"),
        (region((None, 5, 20, 30)), "x is None"),
        (region((1, 5, -20, 30)), "negative"),
        ({"shape_attributes": {"name": "rect", "x": 1}, "region_attributes": {"class": "car"}}, "y is None"),
        ({"shape_attributes": {"name": "circle"}, "region_attributes": {"class": "car"}}, "'circle'"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, wrong: Any, named: str) -> None:
    path = written(tmp_path / "a.json", document(image("a.jpg", region(), wrong)))
    with pytest.raises(sf.InputError) as caught:
        sf.read_via(path)
    assert_places(caught.value.problems[:1], f"{path}: 'a.jpg1024'.regions[1]")
    assert named in caught.value.problems[0]
    path = written(tmp_path / "a.csv", as_csv(image("a.jpg", region(), wrong)))
    with pytest.raises(sf.InputError) as caught:
        sf.read_via(path)
    assert_places(caught.value.problems[:1], f"{path}, line 3")


@pytest.mark.parametrize(
    ("changes", "place", "named"),
    [
        ({"metadata": {"m": {"vid": "1", "z": [0.9], "xy": [2, 1, 2, 3, 4], "av": {}}}}, "metadata.m", "video"),
        ({"metadata": {"m": {"vid": "1", "z": [], "xy": [7, 1, 2, 3, 4], "av": {}}}}, "metadata.m", "shape 7"),
        ({"metadata": {"m": {"vid": "1", "z": [], "xy": [2, 1, 2], "av": {}}}}, "metadata.m", "rectangle"),
        ({"metadata": {"m": {"vid": "9", "z": [], "xy": [2, 1, 2, 3, 4], "av": {}}}}, "metadata.m", "view"),
        ({"view": {"1": {"fid_list": ["1", "2"]}}}, "view.1", "2 files"),
        ({"view": {"1": {"fid_list": ["9"]}}}, "view.1", "listed"),
        ({"metadata": {"m": {"z": []}}}, "metadata[...]", "vid"),
    ],
)
def test_what_is_wrong_in_a_project_of_version_3(tmp_path: Path, changes: Any, place: str, named: str) -> None:
    path = written(tmp_path / "a.json", project(**changes))
    with pytest.raises(sf.InputError) as caught:
        sf.read_via(path)
    assert_places(caught.value.problems[:1], f"{path}: {place}")
    assert named in caught.value.problems[0]


def test_images_of_one_name(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", document(image("a.jpg"), image("a.png")))
    with refused((f"{path}: 'a.png1024'", "'a.jpg'")):
        sf.read_via(path)
    path = written(tmp_path / "a.json", document(image("")))
    with refused(f"{path}: '1024'"):
        sf.read_via(path)


@pytest.mark.parametrize(
    "content",
    ["", "3", "[", "[[]]", "{", '{"a": 1}', '{"a": {"filename": 3}}', "{" * 100_000, '{"a": ' * 5000,
     "filename,b\n1,2\n",
     as_csv(*IMAGES).replace("{", "[", 3), as_csv(*IMAGES) + "a,b\n", as_csv(*IMAGES)[:-30], "\0", '"' + "x" * 200_000],
)  # fmt: skip
def test_other_files_are_refused_by_their_name(tmp_path: Path, content: str) -> None:
    path = written(tmp_path / "a.json", content)
    with pytest.raises(sf.InputError) as caught:
        sf.read_via(path)
    assert all(problem.startswith(str(path)) for problem in caught.value.problems), caught.value
    assert len(str(caught.value)) < len(str(path)) + 400


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with refused(str(tmp_path / "no.json")):
        sf.read_via(tmp_path / "no.json")
    (tmp_path / "a.json").write_bytes(b'{"a": "\xff"}')
    with refused(str(tmp_path / "a.json")):
        sf.read_via(tmp_path / "a.json")
    assert len(sf.read_via(written(tmp_path / "a.json", {})).objects) == 0
