"""KITTI's label files: images and videos, against trackeval's reader, and what is wrong with them."""

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from trackeval.datasets import Kitti2DBox

import spotgeo_frames as sf
from helpers.commands import answer_here
from helpers.label_files import folder_of
from helpers.problems import assert_places, refused

CAR = "Car 0.00 1 -1.57 10.5 20 40.5 35 1.5 1.6 3.9 1.8 1.5 8.4 -1.56"
WALKER = "Pedestrian 0.20 0 0.3 100 50 120 110 1.7 0.5 0.6 -2 1.4 9 0.1"
DONT_CARE = "DontCare -1 -1 -10 503.89 169.71 590.61 190.13 -1 -1 -1 -1000 -1000 -1000 -10"
FOUND = "Car -1 -1 -10 11 20 41 36 -1 -1 -1 -1000 -1000 -1000 -10 {}"


def test_objects_of_images(tmp_path: Path) -> None:
    read = sf.read_kitti(folder_of(tmp_path / "a", **{"000001": f"{CAR}\n{DONT_CARE}\n{WALKER}", "000000": "\n"}))
    objects = read.objects
    assert objects["sequence"].tolist() == ["000001"] * 3
    assert objects[["frame", "object"]].to_numpy().tolist() == [[1, 1], [1, 2], [1, 3]]
    np.testing.assert_allclose(
        objects[["x", "y", "w", "h"]], [[10.5, 20, 30, 15], [503.89, 169.71, 86.72, 20.42], [100, 50, 20, 60]]
    )
    assert objects["category"].isna().tolist() == [False, True, False]
    assert objects["category"].dropna().tolist() == ["Car", "Pedestrian"]
    assert objects["crowd"].tolist() == [False, True, False]
    for name, values in {
        "truncated": [0, 0.2],
        "occluded": [1, 0],
        "alpha": [-1.57, 0.3],
        "length_3d": [3.9, 0.6],
    }.items():
        assert objects[name].isna().tolist() == [False, True, False]
        assert objects[name].dropna().tolist() == values
    names = ["height_3d", "width_3d", "location_x", "location_y", "location_z", "rotation_y"]
    assert objects.loc[0, names].tolist() == [
        1.5, 1.6, 1.8, 1.5, 8.4, -1.56,
    ]  # fmt: skip
    assert read.frames is not None
    assert read.frames.to_dict("list") == {"sequence": ["000000", "000001"], "frame": [1, 1]}


def test_predictions_have_scores_and_nothing_unknown(tmp_path: Path) -> None:
    found = sf.read_kitti(folder_of(tmp_path / "a", **{"000000": FOUND.format(0.9), "000001": ""}))
    assert list(found.objects) == ["sequence", "frame", "object", "x", "y", "w", "h", "category", "score"]
    assert found.frames is not None
    truth = sf.read_kitti(folder_of(tmp_path / "b", **{"000000": CAR, "000001": WALKER}))
    assert sf.summarize(sf.match(truth, found))[["tp", "fn", "fp"]].to_numpy().tolist() == [[1, 1, 0]]


def tracks(path: Path) -> Path:
    lines = [f"0 0 {CAR}", f"0 -1 {DONT_CARE}", f"0 -1 {DONT_CARE}", f"2 -1 {DONT_CARE}", f"2 3 {WALKER}", f"1 0 {CAR}"]
    folder_of(path / "label_02", **{"0000": "\n".join(lines), "0001": ""})
    (path / "evaluate_tracking.seqmap.training").write_text("0000 empty 000000 000004\n0001 empty 000000 000002\n")
    return path


def test_tracks_of_videos(tmp_path: Path) -> None:
    read = sf.read_kitti(tracks(tmp_path))
    assert read.objects[["frame", "object"]].to_numpy().tolist() == [[0, 0], [0, -1], [0, -2], [1, 0], [2, -1], [2, 3]]
    assert read.objects["crowd"].tolist() == [False, True, True, False, True, False]
    assert read.frames is not None
    assert list(zip(read.frames["sequence"], read.frames["frame"], strict=True)) == [
        *(("0000", frame) for frame in range(4)),
        *(("0001", frame) for frame in range(2)),
    ]
    alone = sf.read_kitti(tmp_path / "label_02")
    assert alone.frames is None
    pd.testing.assert_frame_equal(alone.objects, read.objects)
    forced = sf.read_kitti(folder_of(tmp_path / "e", **{"0003": ""}), tracking=True)
    assert (len(forced.objects), forced.frames) == (0, None)


def test_nothing_is_known_of_regions(tmp_path: Path) -> None:
    """The tracking benchmark's own files end them in -1000 -1000 -1000 -10 -1 -1 -1, in no order of columns."""
    region = "DontCare -1 -1 -10 219.31 188.49 245.50 218.56 -1000 -1000 -1000 -10 -1 -1 -1"
    videos = sf.read_kitti(folder_of(tmp_path / "a", **{"0000": f"0 -1 {region}\n0 0 {CAR}\n"})).objects
    images = sf.read_kitti(folder_of(tmp_path / "b", **{"0000": f"{region}\n{CAR}\n"})).objects
    for objects in (videos, images):
        others = objects.columns.difference(["sequence", "frame", "object", "x", "y", "w", "h", "category", "crowd"])
        assert len(others) == 10
        assert objects.loc[objects["crowd"], others].isna().all(axis=None)
        assert objects.loc[~objects["crowd"], others].notna().all(axis=None)
    alone = sf.read_kitti(folder_of(tmp_path / "c", **{"0000": f"0 -1 {region}\n"})).objects
    assert list(alone) == ["sequence", "frame", "object", "x", "y", "w", "h", "category", "crowd"]


def test_tracks_are_those_that_trackeval_reads(tmp_path: Path) -> None:
    config = {"GT_FOLDER": str(tracks(tmp_path)), "TRACKERS_FOLDER": str(tmp_path), "PRINT_CONFIG": False}
    folder_of(tmp_path / "mine" / "data", **{"0000": f"1 7 {FOUND.format(0.5)}", "0001": f"0 8 {FOUND.format(-3)}"})
    raw = Kitti2DBox(config | {"TRACKERS_TO_EVAL": ["mine"]}).get_raw_seq_data("mine", "0000")
    objects = sf.read_kitti(tmp_path).objects
    for frame in range(4):
        there = objects[(objects["frame"] == frame) & ~objects["crowd"]]
        named = np.flatnonzero(raw["gt_classes"][frame] != 9)
        assert sorted(there["object"]) == sorted(raw["gt_ids"][frame][named])
        corners = there[["x", "y"]].assign(right=there["x"] + there["w"], bottom=there["y"] + there["h"])
        np.testing.assert_allclose(np.sort(corners, axis=0), np.sort(raw["gt_dets"][frame][named], axis=0))
        crowds = objects[(objects["frame"] == frame) & objects["crowd"]]
        assert len(crowds) == len(raw["gt_crowd_ignore_regions"][frame])
    found = sf.read_kitti(tmp_path / "mine" / "data").objects
    assert found["score"].tolist() == [0.5, -3]
    assert found["object"].tolist()[0] == raw["tracker_ids"][1][0]


@pytest.mark.parametrize("change", [
    lambda text: text.replace("\n", "\r\n"),
    lambda text: "\ufeff" + text,
    lambda text: text.replace(" ", "\t  "),
    lambda text: f"\n{text}\n\n",
])  # fmt: skip
def test_odd_but_legal_text(tmp_path: Path, change) -> None:
    plain = sf.read_kitti(folder_of(tmp_path / "a", **{"000000": f"{CAR}\n{WALKER}\n"}))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "000000.txt").write_bytes(change(f"{CAR}\n{WALKER}\n").encode())
    pd.testing.assert_frame_equal(sf.read_kitti(tmp_path / "b").objects, plain.objects)


def test_an_archive_and_the_folder_above(tmp_path: Path) -> None:
    folder_of(tmp_path / "training" / "calib", **{"000000": "P0: 1 2 3"})
    plain = sf.read_kitti(folder_of(tmp_path / "training" / "label_2", **{"000000": CAR}))
    pd.testing.assert_frame_equal(sf.read_kitti(tmp_path / "training").objects, plain.objects)
    pd.testing.assert_frame_equal(sf.read(tmp_path / "training").objects, plain.objects)
    assert answer_here("score", tmp_path / "training", tmp_path / "training" / "label_2")["f1"] == 1
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("label_2/000000.txt", CAR)
        archive.writestr("__MACOSX/._000000.txt", "x")
    pd.testing.assert_frame_equal(sf.read_kitti(tmp_path / "a.zip").objects, plain.objects)


@pytest.mark.parametrize(
    ("text", "line", "named"),
    [
        (f"{CAR}\nCar 0 1", 2, "3 fields"),
        (CAR.replace("1.57", "1.5x"), 1, "field 4"),
        (CAR.replace("0.00", "nan"), 1, "field 2"),
        (CAR.replace("0.00", "1e999"), 1, "field 2"),
        (CAR.replace("0.00", "1e300"), 1, "field 2"),
        (CAR.replace("0.00", "9" * 10_000), 1, "field 2"),
        (CAR.replace("0.00", "1_0"), 1, "field 2"),
        (CAR.replace("40.5", "4"), 1, "negative"),
        (f"{CAR} 0.5\n{CAR}", 2, "15 fields"),
        (f"0 1 {CAR}\n0 1 {CAR}", 2, "already"),
        (f"0.5 1 {CAR}", 1, "frame 0.5"),
        (f"-1 1 {CAR}", 1, "frame -1"),
        (f"0 -1 {CAR}", 1, "track id -1"),
        (f"0 1.5 {CAR}", 1, "track id 1.5"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, line: int, named: str) -> None:
    path = folder_of(tmp_path / "a", **{"000000": text}) / "000000.txt"
    with pytest.raises(sf.InputError) as caught:
        sf.read_kitti(path)
    assert_places(caught.value.problems, f"{path}, line {line}")
    assert named in caught.value.problems[0]
    assert len(caught.value.problems[0]) < len(str(path)) + 300


def test_problems_of_all_files_are_told_together(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "a", **{"000000": "x", "000001": CAR, "000002": f"{CAR} 1 2\nz"})
    places = [
        f"{folder / '000000.txt'}, line 1",
        f"{folder / '000002.txt'}, line 1",
        f"{folder / '000002.txt'}, line 2",
    ]
    with refused(*places):
        sf.read_kitti(folder)
    with refused(str(tmp_path / "b" / "000000.txt")):
        sf.read_kitti(folder_of(tmp_path / "b", **{"000000": CAR, "000002": f"{CAR} 0.5"}))


@pytest.mark.parametrize("content", [b"\0", b"Car \xff 1", b"\xff\xfeC\0a\0r\0", b"<xml/>", b"PK\3\4"])
def test_other_files_are_refused_by_their_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "000000.txt"
    path.write_bytes(content)
    with pytest.raises(sf.InputError) as caught:
        sf.read_kitti(path)
    assert all(problem.startswith(str(path)) for problem in caught.value.problems)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "no.txt", tmp_path / "no"):
        with refused(str(path)):
            sf.read_kitti(path)
    with refused(str(tmp_path)):
        sf.read_kitti(tmp_path)
    folder_of(tmp_path / "one", a=CAR)
    folder_of(tmp_path / "two", a=CAR)
    with refused(str(tmp_path)):
        sf.read_kitti(tmp_path)
    seqmap = tracks(tmp_path / "t") / "evaluate_tracking.seqmap.training"
    seqmap.write_text("0000 empty 0 99999999\n")
    with refused(f"{seqmap}, line 1"):
        sf.read_kitti(tmp_path / "t")


def test_commands_take_it(tmp_path: Path) -> None:
    truth = folder_of(tmp_path / "truth", **{"000000": f"{CAR}\n{WALKER}", "000001": ""})
    found = folder_of(tmp_path / "found", **{"000000": FOUND.format(0.9), "000001": ""})
    answer = answer_here("score", truth, found)
    assert (answer["tp"], answer["fn"], answer["fp"], answer["n_frames"]) == (1, 1, 0, 2)
    videos = folder_of(tmp_path / "videos", **{"0000": f"0 0 {CAR}\n1 0 {CAR}"})
    assert answer_here("track", videos, videos)["combined"]["HOTA"] == 1
