"""The pictures behind the frames of a page."""

import base64
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import spotgeo_frames as sf
from helpers.report_inputs import png
from helpers.scenes import objects
from spotgeo_frames.presentation.drawing import pictures as drawn_pictures
from spotgeo_frames.presentation.page.sections import shown_frames
from spotgeo_frames.presentation.page.sections.shown_frames import (
    ChosenFrames,
    Pictures,
    choose_frames,
    chosen_pictures,
)


def chosen(rows: list[tuple[Any, int]], **columns: list[Any]) -> ChosenFrames:
    """A page with a truth in each of these frames, which is missed."""
    truth = objects([(sequence, frame, 30.0, 20.0) for sequence, frame in rows], **columns)
    matches = sf.match(truth, truth.iloc[:0])
    return choose_frames(matches.assign(submission=pd.Categorical(["one"] * len(matches))))


def written(folder: Path, name: str, width: int = 64, height: int = 48, kind: str = "PNG") -> Path:
    """A file with a picture."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (width, height), (200, 100, 50)).save(path, kind)
    return path


def size_of(picture: dict[str, Any]) -> tuple[int, int]:
    start, _, encoded = picture["url"].partition(",")
    assert start == "data:image/webp;base64"
    return Image.open(io.BytesIO(base64.b64decode(encoded)), formats=["WEBP"]).size


def test_every_picture_covers_its_own_pixels(tmp_path: Path) -> None:
    written(tmp_path, "1/1.png", 64, 48)
    written(tmp_path, "1/2.jpg", 100, 50, "JPEG")
    written(tmp_path, "2/1.jpeg", 40, 30, "JPEG")
    written(tmp_path, "2/2.png", 2560, 100)
    found = chosen_pictures(tmp_path, chosen([(1, 1), (1, 2), (2, 1), (2, 2)]))
    assert (found.n_left_out, found.warning) == (0, None)
    assert sorted(found.of_frames) == [0, 1, 2, 3]
    sides = {at: [one[side] for side in ("left", "right", "top", "bottom")] for at, one in found.of_frames.items()}
    assert sides[0] == [-0.5, 63.5, -0.5, 47.5]
    assert sides[1] == [-0.5, 99.5, -0.5, 49.5]
    assert sides[2] == [-0.5, 39.5, -0.5, 29.5]
    assert sides[3] == [-0.5, 2559.5, -0.5, 99.5], "it is made smaller, but covers its pixels"
    assert [size_of(found.of_frames[at]) for at in range(4)] == [(64, 48), (100, 50), (40, 30), (1280, 50)]


@pytest.mark.parametrize("column", ["file_name", "of a frame"])
def test_a_column_names_pictures(column: str, tmp_path: Path) -> None:
    written(tmp_path, "train2017/0001.jpg", kind="JPEG")
    written(tmp_path, "7/2.png")
    names = ["train2017/0001.jpg", "gone.jpg", "train2017/gone.jpg"]
    if column == "file_name":
        page = chosen([(7, 1), (7, 2), (7, 3)], file_name=names)
    else:
        page = chosen([(7, 1), (7, 2), (7, 3)])
        page.rows["frame_file_name"] = names
        page.rows["truth_file_name"] = "7/2.png"  # the frame's own name comes first
    found = chosen_pictures(tmp_path, page)
    assert sorted(found.of_frames) == [0, 1], "without the file that is named, SEQUENCE/FRAME.png is taken"
    missing = tmp_path / "train2017" / "gone.jpg"
    assert found.warning == f"images: 1 of 3 frames are drawn without a picture: {missing}: there is no such file"


def linked(folder: Path) -> str:
    written(folder.parent, "secret/1.png")
    os.symlink(folder.parent / "secret", folder / "link")
    return "link/1.png"


OUTSIDE: dict[str, Callable[[Path], str]] = {
    "absolute": lambda folder: str(written(folder.parent, "secret/1.png")),
    "above": lambda folder: f"../{written(folder.parent, 'secret/1.png').parent.name}/1.png",
    "backslashes": lambda folder: "..\\secret\\1.png",
    "a drive": lambda folder: "C:/1.png",
    "a link": linked,
    "nothing": lambda folder: "",
    "a null byte": lambda folder: "1\0.png",
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_picture_outside_the_folder_is_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_pictures, "_opened", lambda path: pytest.fail(f"{path} is opened"))
    folder = tmp_path / "images"
    folder.mkdir()
    found = chosen_pictures(folder, chosen([(1, 1)], file_name=[OUTSIDE[name](folder)]))
    assert found.of_frames == {}
    assert found.warning is not None
    assert found.warning.startswith("images: 1 of 1 frames are drawn without a picture: ")
    if name not in ("a link",):
        assert "can be no file of a folder" in found.warning
    else:
        assert f"lies outside of {folder}" in found.warning


@pytest.mark.parametrize(
    ("name", "seqinfo"),
    [
        ("a/img1/000001.jpg", None),
        ("a/img1/000001.png", None),
        ("a/img1/00000001.jpg", None),
        ("a/frames/000001.png", "[Sequence]\nimDir=frames\nimExt=.png\n"),
        ("a/img1/000001.JPG", "[Sequence]\nname=a\nimExt=.JPG\n"),
        ("a/img1/000001.jpg", "[Sequence]\nimDir=../b\nimExt=.jpg/../x\n"),
        ("a/img1/000001.jpg", "no .ini"),
    ],
)
def test_pictures_of_a_folder_of_motchallenge(tmp_path: Path, name: str, seqinfo: str | None) -> None:
    written(tmp_path, name, 64, 48, "PNG" if name.endswith("png") else "JPEG")
    if seqinfo is not None:
        (tmp_path / "a" / "seqinfo.ini").write_text(seqinfo)
    found = chosen_pictures(tmp_path, chosen([("a", 1), ("a", 2)]))
    assert [*found.of_frames] == [0]
    assert "1 of 2 frames" in str(found.warning)
    written(tmp_path, "a/1.png", 100, 50)
    assert size_of(chosen_pictures(tmp_path, chosen([("a", 1)])).of_frames[0]) == (100, 50)


def test_a_seqinfo_outside_of_the_folder_is_not_read(tmp_path: Path) -> None:
    written(tmp_path / "images", "a/frames/000001.png")
    outside = tmp_path / "seqinfo.ini"
    outside.write_text("[Sequence]\nimDir=frames\nimExt=.png\n")
    (tmp_path / "images" / "a" / "seqinfo.ini").symlink_to(outside)
    (tmp_path / "images" / "b").mkdir()
    for sequence in ("a", "..", str(tmp_path)):
        assert chosen_pictures(tmp_path / "images", chosen([(sequence, 1)])).of_frames == {}


def test_names_of_sequences_that_lead_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    written(tmp_path, "secret/1.png")
    folder = tmp_path / "images"
    folder.mkdir()
    os.symlink(tmp_path / "secret", folder / "linked")
    found = chosen_pictures(folder, chosen([("../secret", 1), ("linked", 1)]))
    assert found.of_frames == {}
    assert str(found.warning).startswith("images: 2 of 2 frames are drawn without a picture: ")


def test_missing_damaged_and_small_pictures_are_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_pictures, "MOST_PIXELS", 100_000)
    written(tmp_path, "1/1.png")
    (tmp_path / "1" / "2.png").write_bytes(png(640, 480)[:200])
    (tmp_path / "1" / "3.png").write_bytes(b"GIF89a, it is no PNG")
    (tmp_path / "1" / "4.png").mkdir()
    written(tmp_path, "1/5.png", 28, 48)
    written(tmp_path, "1/6.png", 1000, 1000)
    (tmp_path / "1" / "7.png").write_bytes(png(64, 48, deep=True))
    written(tmp_path, "1/8.png", 29, 20)  # the truth lies at 30, 20, hardly outside
    found = chosen_pictures(tmp_path, chosen([(1, frame) for frame in range(1, 10)]))
    assert sorted(found.of_frames) == [0, 6, 7]
    assert found.warning is not None
    assert found.warning.startswith("images: 6 of 9 frames are drawn without a picture: ")
    assert found.warning.endswith("; ...")


@pytest.mark.parametrize(
    ("name", "text"),
    [("small", "is 28 x 48 px, too small for its truths"), ("large", "has 1000 x 1000 pixels, too many to draw")],
)
def test_the_warning_says_what_is_wrong(name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_pictures, "MOST_PIXELS", 100_000)
    monkeypatch.setattr(drawn_pictures, "small_picture", lambda path: pytest.fail(f"{path} is unpacked"))
    path = written(tmp_path, "1/1.png", *((28, 48) if name == "small" else (1000, 1000)))
    warning = f"images: 1 of 1 frames are drawn without a picture: {path}: {text}"
    assert chosen_pictures(tmp_path, chosen([(1, 1)])) == Pictures({}, 0, warning)


def test_every_sequence_has_pictures_of_its_worst_frames_where_not_all_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = [(1, 1), (1, 2), (1, 2), (1, 2), (1, 3), (1, 3), (2, 1), (2, 2), (2, 2)]
    for sequence, frame in frames:
        written(tmp_path, f"{sequence}/{frame}.png")
    page = chosen(frames)
    assert page.sequences == [1, 2]
    [size] = {len(one["url"]) for one in chosen_pictures(tmp_path, page).of_frames.values()}
    for room, expected in ((1, [1]), (2, [1, 4]), (3, [1, 2, 4]), (4, [1, 2, 3, 4])):
        monkeypatch.setattr(shown_frames, "MOST_BYTES", room * size)
        found = chosen_pictures(tmp_path, page)
        assert (sorted(found.of_frames), found.n_left_out, found.warning) == (expected, 5 - room, None)


def test_frames_without_truths_take_any_picture(tmp_path: Path) -> None:
    written(tmp_path, "1/1.png", 2, 2)
    claims = objects([(1, 1, 100.0, 100.0)])
    matches = sf.match(sf.Annotations(claims.iloc[:0], claims[["sequence", "frame"]]), claims)
    page = choose_frames(matches.assign(submission=pd.Categorical(["one"])))
    assert list(chosen_pictures(tmp_path, page).of_frames) == [0]


def test_deep_pictures_are_stretched(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "1.png").write_bytes(png(64, 48, deep=True))
    [picture] = chosen_pictures(tmp_path, chosen([(1, 1)])).of_frames.values()
    content = base64.b64decode(str(picture["url"]).partition(",")[2])
    shades = np.asarray(Image.open(io.BytesIO(content), formats=["WEBP"]))
    assert shades.min() < 20
    assert shades.max() > 235
