"""VisDrone's and UAVDT's label files: images and videos, regions, marks, and what is wrong with them."""

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.commands import answer_here
from helpers.label_files import folder_of
from helpers.problems import assert_places, refused, warned
from spotgeo_frames.formats import text_lines

# As in the benchmark: a region, a car that counts, a van that does not, and a comma at the end, as some lines have.
IMAGE = "684,8,273,116,0,0,0,0\n406,119,265,70,1,4,0,1,\n255,22,119,128,0,5,1,2\n1,2,3,4,0,11,0,0\n"
FOUND = "400,119,265,70,0.75,4,-1,-1\n1,2,3,4,0.5,0,-1,-1\n"
VIDEO = "1,0,593,43,174,190,0,0,0,0\n1,0,10,10,20,20,0,0,0,0\n2,7,100,50,20,30,1,1,0,0\n1,7,99,50,20,30,1,1,0,2\n"


def test_truth_of_images(tmp_path: Path) -> None:
    read = sf.read_visdrone(folder_of(tmp_path / "annotations", a=IMAGE, b=""))
    assert read.objects.drop(columns="category").to_dict("list") == {
        "sequence": ["a"] * 4,
        "frame": [1] * 4,
        "object": [1, 2, 3, 4],
        "x": [684, 406, 255, 1],
        "y": [8, 119, 22, 2],
        "w": [273, 265, 119, 3],
        "h": [116, 70, 128, 4],
        "ignore": [False, False, True, True],
        "crowd": [True, False, False, False],
        "truncation": [0, 0, 1, 0],
        "occlusion": [0, 1, 2, 0],
    }
    assert read.objects["category"].isna().tolist() == [True, False, False, False]
    assert read.objects["category"].dropna().tolist() == ["car", "van", "others"]
    assert read.frames is not None
    assert read.frames.to_dict("list") == {"sequence": ["a", "b"], "frame": [1, 1]}
    pd.testing.assert_frame_equal(sf.read_visdrone(tmp_path).objects, read.objects)


def test_predictions_of_images(tmp_path: Path) -> None:
    found = sf.read_visdrone(folder_of(tmp_path / "found", a=FOUND, b=""))
    assert list(found.objects) == ["sequence", "frame", "object", "x", "y", "w", "h", "category", "score"]
    assert found.objects["score"].tolist() == [0.75, 0.5]
    assert found.objects["category"].tolist() == ["car", "ignored regions"]
    said = sf.read_visdrone(folder_of(tmp_path / "a", a="1,2,3,4,1,4,-1,-1\n"), True).objects
    assert said["ignore"].tolist() == [False]
    assert "truncation" not in said


def test_videos(tmp_path: Path) -> None:
    read = sf.read_visdrone(folder_of(tmp_path / "annotations", v=VIDEO, w="", u="3,1,1,2,3,4,1,9,0,0\n"))
    assert read.frames is None
    assert read.objects[["sequence", "frame", "object"]].to_numpy().tolist() == [
        ["u", 3, 1],
        ["v", 1, -1],
        ["v", 1, -2],
        ["v", 1, 7],
        ["v", 2, 7],
    ]
    assert read.objects["crowd"].tolist() == [False, True, True, False, False]
    detections = sf.read_visdrone(folder_of(tmp_path / "d", v="1,-1,1,2,3,4,0.5,4,-1,-1\n1,-1,5,6,7,8,0.4,4,-1,-1\n"))
    assert detections.objects["object"].tolist() == [-1, -2]
    moved = detections.objects.assign(object=[7, 8], category="pedestrian")
    assert len(sf.track(read.objects[~read.objects["crowd"]], moved.assign(sequence="v")).summary)


def test_the_fast_road_reads_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = [
        f"{frame},{target},{rng.integers(0, 900)},{rng.integers(0, 900)},{rng.integers(1, 99)},{rng.integers(1, 99)},"
        f"1,{rng.integers(1, 11)},{rng.integers(0, 2)},{rng.integers(0, 3)}"
        for frame in range(1, 200)
        for target in range(20)
    ]
    path = folder_of(tmp_path / "a", v="\n".join(rows)) / "v.txt"
    assert path.stat().st_size > text_lines.LARGE
    fast = sf.read_visdrone(path).objects
    for change in (lambda text: text.replace("\n", ",\n") + ",", lambda text: text.replace("\n", "\r\n")):
        path.write_bytes(change("\n".join(rows)).encode())
        pd.testing.assert_frame_equal(sf.read_visdrone(path).objects, fast)
    path.write_text("\n".join([*rows, "1,1,1,1,1,x,1,1,1,1"]))
    with refused((f"{path}, line {len(rows) + 1}", "field 6")):
        sf.read_visdrone(path)
    path.write_text("\n".join([*rows, "", "1,99,1,1,1,-1,1,1,1,1"]))
    with refused(f"{path}, line {len(rows) + 2}"):
        sf.read_visdrone(path)
    path.write_text("\n".join(rows))
    monkeypatch.setattr(text_lines, "LARGE", 1 << 40)
    pd.testing.assert_frame_equal(sf.read_visdrone(path).objects, fast)


def test_an_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("annotations/a.txt", "\ufeff" + IMAGE.replace("\n", "\r\n"))
    plain = sf.read_visdrone(folder_of(tmp_path / "a", a=IMAGE)).objects
    pd.testing.assert_frame_equal(sf.read_visdrone(tmp_path / "a.zip").objects, plain)


@pytest.mark.parametrize(
    ("text", "line", "named"),
    [
        ("1,2,3,4,1,4,0", 1, "7 fields"),
        ("1,2,3,4,1,4,0,0\n1,2,3,4,1,4,0,0,0,0", 2, "10 fields"),
        ("1,2,,4,1,4,0,0", 1, "field 3"),
        ("1,2,nan,4,1,4,0,0", 1, "field 3"),
        ("1,2,1e999,4,1,4,0,0", 1, "field 3"),
        ("1,2,0x1,4,1,4,0,0", 1, "field 3"),
        ("1,2,3,-4,1,4,0,0", 1, "negative"),
        ("1,2,3,4,1,12,0,0", 1, "category 12"),
        ("1,2,3,4,1,1.5,0,0", 1, "category 1.5"),
        ("1,2,3,4,0.5,4,0,0", 1, "score 0.5"),
        ("1,2,3,4,1,4,2,0", 1, "truncation 2"),
        ("1,2,3,4,1,4,0,7", 1, "occlusion 7"),
        ("0.5,1,1,2,3,4,1,4,0,0", 1, "frame 0.5"),
        ("1,-2,1,2,3,4,1,4,0,0", 1, "target id -2"),
        ("1,2,1,2,3,4,1,4,0,0\n1,2,1,2,3,4,1,4,0,0", 2, "already"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, line: int, named: str) -> None:
    folder_of(tmp_path / "a", a="1,1,9,9,9,9,1,1,0,0" if text.count(",") % 9 == 0 else "9,9,9,9,1,1,0,0")
    path = folder_of(tmp_path / "a", b=text) / "b.txt"
    with pytest.raises(sf.InputError) as caught:
        sf.read_visdrone(tmp_path / "a")
    assert_places(caught.value.problems, f"{path}, line {line}")
    assert named in caught.value.problems[0]


def test_what_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "no.txt", tmp_path):
        with refused(str(path)):
            sf.read_visdrone(path)
        with refused(str(path)):
            sf.read_uavdt(path)
    folder = folder_of(tmp_path / "a", a=IMAGE, v=VIDEO)
    with refused(str(folder / "a.txt"), str(folder / "v.txt")):
        sf.read_visdrone(folder)
    (tmp_path / "b.txt").write_bytes(b"1,2,\xff,4,1,4,0,0")
    with refused(str(tmp_path / "b.txt")):
        sf.read_visdrone(tmp_path / "b.txt")
    with refused("read_uavdt: sequence"):
        sf.read_uavdt(folder, 3)  # type: ignore[arg-type]
    with refused((str(folder), "M9")):
        sf.read_uavdt(folder_of(tmp_path / "a", M1_gt="1,1,1,2,3,4,1,1,-1"), "M9")


WHOLE = "1,1,141,147,106,45,1,1,1\n1,2,10,10,20,20,3,4,3\n2,1,142,147,106,45,1,2,1\n"


def test_uavdt(tmp_path: Path) -> None:
    """A box of SEQUENCE_gt.txt counts only where the same box is in no other file."""
    folder = folder_of(
        tmp_path / "GT",
        M0101_gt_whole=WHOLE,
        M0101_gt="1,1,141,147,106,45,1,1,-1\n",
        M0101_gt_ignore="1,1,0,0,300,60,1,1,-1\n1,2,0,0,30,60,1,1,-1\n",
        M0203_gt="5,1,1,2,3,4,1,1,-1\n",
    )
    read = sf.read_uavdt(folder)
    assert read.frames is None
    assert read.objects[["sequence", "frame", "object", "w", "crowd"]].to_numpy().tolist() == [
        ["M0101", 1, 1, 106, False],
        ["M0101", 1, 2, 20, False],
        ["M0101", 1, -1, 300, True],
        ["M0101", 1, -2, 30, True],
        ["M0101", 2, 1, 106, False],
        ["M0203", 5, 1, 3, False],
    ]
    assert read.objects["category"].astype(object).where(read.objects["category"].notna(), None).tolist() == [
        "car", "bus", None, None, "car", None,
    ]  # fmt: skip
    assert read.objects["occlusion"].dropna().tolist() == [1, 4, 2]
    assert read.objects["out_of_view"].dropna().tolist() == [1, 3, 1]
    assert len(sf.read_uavdt(folder, "M0203").objects) == 1
    assert len(sf.read_uavdt(folder / "M0101_gt_whole.txt").objects) == 3


def test_uavdt_without_categories(tmp_path: Path) -> None:
    """SEQUENCE_gt.txt alone has none, and boxes without them are matched with those of any."""
    plain = "1,1,141,147,106,45,1,1,-1\n"
    truth = sf.read_uavdt(folder_of(tmp_path / "a", M0101_gt=plain, M0101_gt_ignore="1,1,0,0,300,60,1,1,-1\n"))
    assert list(truth.objects) == ["sequence", "frame", "object", "x", "y", "w", "h", "crowd"]
    found = sf.read_uavdt(folder_of(tmp_path / "b", M0101_gt_whole=plain.replace("-1", "1"))).objects
    with warned(("categories", "predictions", "category")):
        matches = sf.match(truth, found, similarity="iou")
    assert sf.summarize(matches)["tp"].tolist() == [1]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("1,1,1,2,3,4,1,1,4", "category 4"),
        ("1,1,1,2,3,4,9,1,1", "out_of_view 9"),
        ("1,1,1,2,3,4,1,5,1", "occlusion 5"),
        ("1,1,1,2,3,-4,1,1,1", "negative"),
        ("1,1,1,2,3,4,1,1", "8 fields"),
        ("1,1.5,1,2,3,4,1,1,1", "target id 1.5"),
    ],
)
def test_what_is_wrong_in_uavdt(tmp_path: Path, text: str, named: str) -> None:
    path = folder_of(tmp_path / "a", M0101_gt_whole=WHOLE, M0102_gt_whole=text) / "M0102_gt_whole.txt"
    with pytest.raises(sf.InputError) as caught:
        sf.read_uavdt(tmp_path / "a")
    assert_places(caught.value.problems, f"{path}, line 1")
    assert named in caught.value.problems[0]


def test_commands_and_read_take_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = "406,119,265,70,1,4,0,1\n"
    truth, found = folder_of(tmp_path / "t", a=plain, b=""), folder_of(tmp_path / "f", a=FOUND.splitlines()[0], b="")
    answer = answer_here("score", truth, found)
    assert (answer["tp"], answer["fn"], answer["fp"], answer["n_frames"]) == (1, 0, 0, 2)
    videos = folder_of(tmp_path / "v", v="2,7,100,50,20,30,1,1,0,0\n1,7,99,50,20,30,1,1,0,2\n")
    assert answer_here("track", videos, videos)["combined"]["HOTA"] == 1
    pd.testing.assert_frame_equal(sf.read(videos).objects, sf.read_visdrone(videos).objects)
    folder = folder_of(tmp_path / "u", M0101_gt_whole=WHOLE)
    pd.testing.assert_frame_equal(sf.read(folder).objects, sf.read_uavdt(folder).objects)
    told = capsys.readouterr().out
    assert "read_visdrone" in told
    assert "read_uavdt" in told


def test_motchallenge_is_not_taken_for_visdrone(tmp_path: Path) -> None:
    """Trackers' lines have ten fields, too, the last three -1; with a flat folder of truth there are nine."""
    truth = folder_of(tmp_path / "truth", a="1,1,10,10,20,20,1,1,1\n")
    found = folder_of(tmp_path / "found", a="1,1,10,10,20,20,0.9,-1,-1,-1\n")
    assert answer_here("track", truth, found)["combined"]["HOTA"] == 1
