"""BDD100K's JSON: images and videos, in the forms of its releases, against trackeval's reader, and what is wrong."""

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from trackeval.datasets import BDD100K

import spotgeo_frames as sf
from helpers.commands import answer_here
from helpers.problems import assert_places, refused


def label(number: Any = 1, box: Any = (10, 5, 30, 25), category: str | None = "car", **others: Any) -> dict[str, Any]:
    given = {"id": number, "category": category, "box2d": dict(zip(("x1", "y1", "x2", "y2"), box, strict=True))}
    return given | others


def frame(name: str = "a.jpg", *labels: Any, **others: Any) -> dict[str, Any]:
    return {"name": name, "labels": list(labels)} | others


def written(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


def test_images(tmp_path: Path) -> None:
    lane = {
        "id": 3,
        "category": "lane/road curb",
        "poly2d": [{"vertices": [[1, 2], [3, 4]], "types": "LL", "closed": False}],
    }
    marked = label("0", attributes={"occluded": False, "truncated": True, "trafficLightColor": "none", "lines": [1]})
    weather = {"weather": "rainy", "scene": "city street", "timeofday": "night", "frame": 3}
    first = frame("b/0001.jpg", marked, lane, label("2", category="bus"), attributes=weather, timestamp=10000)
    read = sf.read_bdd100k(written(tmp_path / "det.json", [first, {"name": "a.jpg", "labels": None}]))
    assert read.objects.drop(columns=["occluded", "truncated", "trafficLightColor"]).to_dict("list") == {
        "sequence": ["b/0001"] * 2,
        "frame": [1, 1],
        "object": [0, 2],
        "x": [10, 10],
        "y": [5, 5],
        "w": [20, 20],
        "h": [20, 20],
        "category": ["car", "bus"],
    }
    assert read.objects["truncated"].tolist() == [True, pd.NA]
    assert read.frames is not None
    assert read.frames["sequence"].tolist() == ["b/0001", "a"]
    assert read.frames.loc[0].drop("sequence").to_dict() == {
        "frame": 1, "file_name": "b/0001.jpg", "timestamp": 10000, "weather": "rainy", "scene": "city street",
        "timeofday": "night", "attribute_frame": 3,
    }  # fmt: skip
    assert sf.read_bdd100k(tmp_path / "det.json", True).objects["w"].tolist() == [21, 21]


def test_the_first_release_has_a_file_for_each_image(tmp_path: Path) -> None:
    document = {
        "name": "0000f77c",
        "attributes": {"weather": "clear"},
        "frames": [{"timestamp": 10000, "objects": [label(7)]}],
    }
    written(tmp_path / "a" / "0000f77c.json", document)
    written(tmp_path / "a" / "0000f77d.json", document | {"name": "0000f77d", "frames": [{"timestamp": 1}]})
    read = sf.read_bdd100k(tmp_path / "a")
    assert read.objects[["sequence", "object"]].to_numpy().tolist() == [["0000f77c", 7]]
    assert read.frames is not None
    assert read.frames[["sequence", "weather"]].to_numpy().tolist() == [["0000f77c", "clear"], ["0000f77d", "clear"]]


def test_videos_crowds_and_sizes(tmp_path: Path) -> None:
    """Frames in any order; ids that are text stay text; a document with a config."""
    second = frame(
        "v-2.jpg",
        label("x", attributes={"crowd": True}),
        label("7", attributes={"ignored": True}),
        videoName="v",
        frameIndex=2,
    )
    first = frame("v-1.jpg", label("x"), videoName="v", frameIndex=1, size={"width": 64, "height": 48})
    config = {"imageSize": {"width": 1280, "height": 720}, "categories": [{"name": "car"}]}
    read = sf.read_bdd100k(written(tmp_path / "v.json", {"frames": [second, first], "config": config}))
    assert read.objects[["sequence", "frame", "object", "crowd", "ignore"]].to_numpy().tolist() == [
        ["v", 1, "x", False, False],
        ["v", 2, "x", True, False],
        ["v", 2, "7", False, True],
    ]
    assert read.frames is not None
    assert read.frames[["frame", "width", "height"]].to_numpy().tolist() == [[2, 1280, 720], [1, 64, 48]]
    plain = read.objects.drop(columns=["crowd", "ignore"])
    assert set(sf.track(plain, plain).summary["HOTA"]) == {1}


def test_predictions(tmp_path: Path) -> None:
    found = [frame("a.jpg", {**label(score=0.5), "id": None}, {**label(score=0.25), "id": None}), frame("b.jpg")]
    read = sf.read_bdd100k(written(tmp_path / "a.json", found))
    assert read.objects[["object", "score"]].to_numpy().tolist() == [[1, 0.5], [2, 0.25]]
    truth = sf.read_bdd100k(written(tmp_path / "t.json", [frame("a.jpg", label(9)), frame("b.jpg", label(8))]))
    assert sf.summarize(sf.match(truth, read))[["tp", "fn", "fp"]].to_numpy().tolist() == [[1, 1, 1]]


def test_tracks_are_those_that_trackeval_reads(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frames = [
        frame(f"v-{at}.jpg", *(
            label(str(one), np.sort(rng.uniform(0, 99, (2, 2)), axis=0).reshape(-1).tolist(), "pedestrian",
                  attributes={"Crowd": bool(one == 3), "Occluded": True, "Truncated": False})
            for one in rng.permutation(5)[: at + 1].tolist()
        ), videoName="v", index=at) for at in range(4)
    ]  # fmt: skip
    written(tmp_path / "gt" / "v.json", frames)
    written(tmp_path / "trackers" / "mine" / "data" / "v.json", frames)
    config = {"GT_FOLDER": str(tmp_path / "gt"), "TRACKERS_FOLDER": str(tmp_path / "trackers"), "PRINT_CONFIG": False}
    raw = BDD100K(config).get_raw_seq_data("mine", "v")
    objects = sf.read_bdd100k(tmp_path / "gt").objects
    assert {"occluded", "truncated"} < {*objects}
    for at in range(4):
        there = objects[(objects["frame"] == at) & ~objects["crowd"]]
        assert there["object"].tolist() == raw["gt_ids"][at].tolist() or len(there) == 0
        corners = there[["x", "y"]].assign(right=there["x"] + there["w"], bottom=there["y"] + there["h"])
        np.testing.assert_allclose(corners, raw["gt_dets"][at])
        crowds = objects[(objects["frame"] == at) & objects["crowd"]]
        assert len(crowds) == len(raw["gt_crowd_ignore_regions"][at])


def test_packed_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "det.json", [frame("a.jpg", label())])
    plain = sf.read_bdd100k(path).objects
    with gzip.open(tmp_path / "det.json.gz", "wb") as stream:
        stream.write(b"\xef\xbb\xbf" + path.read_bytes())
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(path, "labels/det.json")
    for name in ("det.json.gz", "a.zip"):
        pd.testing.assert_frame_equal(sf.read_bdd100k(tmp_path / name).objects, plain)
        pd.testing.assert_frame_equal(sf.read(tmp_path / name).objects, plain)
        assert answer_here("score", tmp_path / name, path, "--similarity", "iou")["f1"] == 1
    assert "read_bdd100k" in capsys.readouterr().out
    video = frame("v-1.jpg", label(), videoName="v", frameIndex=1)
    written(tmp_path / "tracks" / "v.json", [video])
    assert answer_here("track", tmp_path / "tracks", tmp_path / "tracks")["combined"]["HOTA"] == 1


@pytest.mark.parametrize(
    ("document", "place", "named"),
    [
        ([frame("a", label(box=(10, 5, 7, 25)))], "[0].labels[0].box2d", "negative"),
        ([frame("a", label(box=(10, 5, 1e300, 25)))], "[0].labels[0].box2d.x2", "large"),
        ([frame("a", label(), label(category=None))], "[0].labels[1]", "category"),
        ([frame("a", label(box=("x", 5, 7, 25)))], "[0].labels[0].box2d.x1", "str"),
        ([frame("a", label(number=1.5))], "[0].labels[0].id", "float"),
        ([frame("a", label(number=1 << 60))], "[0].labels[0].id", "9007199254740992"),
        ([frame("a"), 3], "[1]", "int"),
        ({"frames": [frame("a", label(), 7)]}, "frames[0].labels[1]", "int"),
        ([frame("", labels=[label()])], None, None),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, document: Any, place: str | None, named: str | None
) -> None:
    path = written(tmp_path / "a.json", document)
    if place is None or named is None:  # the file's name stands for that of the image
        assert sf.read_bdd100k(path).objects["sequence"].tolist() == ["a"]
        return
    with pytest.raises(sf.InputError) as caught:
        sf.read_bdd100k(path)
    assert_places(caught.value.problems, f"{path}: {place}")
    assert named in caught.value.problems[0]
    assert len(caught.value.problems[0]) < len(str(path)) + 300


def test_all_problems_are_told_together(tmp_path: Path) -> None:
    first = written(tmp_path / "a" / "a.json", [frame("a", label(category=""), label(box=(9, 9, 1, 1)))])
    second = written(tmp_path / "a" / "b.json", [frame("b", 3)])
    with refused(f"{second}: [0].labels[0]", f"{first}: [0].labels[0]", f"{first}: [0].labels[1].box2d"):
        sf.read_bdd100k(tmp_path / "a")
    path = written(tmp_path / "c.json", [frame("a", label(score=1), label(2))])
    with refused((str(path), "score")):
        sf.read_bdd100k(path)
    path = written(tmp_path / "c.json", [frame("a", label(), label()), frame("b")])
    with refused(f"{path}: 2 rows"):
        sf.read_bdd100k(path)
    path = written(tmp_path / "c.json", [frame("a"), frame("a.png")])
    with refused(f"{path}: frames: 2 rows"):
        sf.read_bdd100k(path)
    many = {f"a{position}": 1 for position in range(101)}
    path = written(tmp_path / "c.json", [frame("a", label(attributes=many))])
    with refused((str(path), "101")):
        sf.read_bdd100k(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"3", b"[", b"[[]]", b"\0", b"\xff\xfe[\0", b"[" * 100_000, b'{"frames": ' * 5000, b'[{"name": NaN}]',
     b'[{"labels": [{"box2d": {"x1": 1e999, "y1": 1, "x2": 2, "y2": 3}}]}]', b'[{"name": "\xff"}]'],
)  # fmt: skip
def test_other_files_are_refused_by_their_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(sf.InputError) as caught:
        sf.read_bdd100k(path)
    assert all(problem.startswith(f"{path}: ") for problem in caught.value.problems), caught.value


def test_what_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "no.json", tmp_path):
        with refused(str(path)):
            sf.read_bdd100k(path)
    assert len(sf.read_bdd100k(written(tmp_path / "a.json", [])).objects) == 0
