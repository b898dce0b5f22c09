"""The XML of CVAT for video; CVAT itself cannot be installed, so files are laid out as its exporter writes them."""

import os
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.commands import answer_here, run_here
from helpers.problems import assert_places, refused

# What the exporter writes at the head of a task (cvat/apps/dataset_manager/bindings.py), shortened.
HEAD = """<?xml version="1.0" encoding="utf-8"?>
<annotations>
  <version>1.1</version>
  <meta>
    <task>
      <id>3</id>
      <name>plaza</name>
      <size>{size}</size>
      <mode>interpolation</mode>
      <start_frame>{start}</start_frame>
      <stop_frame>99</stop_frame>
      <frame_filter>{step}</frame_filter>
      <labels><label><name>car</name><attributes/></label></labels>
      <original_size><width>640</width><height>480</height></original_size>
    </task>
    <dumped>2024-01-01 00:00:00</dumped>
  </meta>
"""


def head(size: Any = 6, start: Any = 0, step: str = "") -> str:
    return HEAD.format(size=size, start=start, step=step)


def box(frame: Any, x: Any = 10, outside: int = 0, inner: str = "", **others: Any) -> str:
    """A box of 20 by 30 px."""
    given = {"frame": frame, "keyframe": 0, "outside": outside, "occluded": 0, "xtl": x, "ytl": "5.00"}
    given |= {"xbr": x + 20 if isinstance(x, int) else 30, "ybr": "35.00", "z_order": 0} | others
    attributes = " ".join(f'{name}="{value}"' for name, value in given.items())
    return f"    <box {attributes}>{inner}\n    </box>\n"


def track(identity: Any, *boxes: str, label: str = "car") -> str:
    return f'  <track id="{identity}" label="{label}" source="manual">\n{"".join(boxes)}  </track>\n'


def written(path: Path, *parts: str, start: str | None = None) -> Path:
    path.write_text("".join([head() if start is None else start, *parts, "</annotations>\n"]))
    return path


def assert_refused(path: Path) -> None:
    """The file is refused, and every problem begins with its name, whether a line follows or not."""
    with pytest.raises(sf.InputError) as caught:
        sf.read_cvat(path)
    assert all(problem.startswith((f"{path}: ", f"{path}, line ")) for problem in caught.value.problems), caught.value
    assert len(str(caught.value)) < len(str(path)) + 300


def test_tracks_frames_and_sizes(tmp_path: Path) -> None:
    first = track(0, box(0), box(1, 12, occluded=1, keyframe=1), box(2, outside=1), box(4, 18), box(5, 20, outside=1))
    path = written(tmp_path / "a.xml", first, track(1, box(1, 100), label="van"))
    read = sf.read_cvat(path)
    assert read.objects.to_dict("list") == {
        "sequence": ["plaza"] * 4,
        "frame": [0, 1, 1, 4],
        "object": [0, 0, 1, 0],
        "x": [10.0, 12.0, 100.0, 18.0],
        "y": [5.0] * 4,
        "w": [20.0] * 4,
        "h": [30.0] * 4,
        "category": ["car", "car", "van", "car"],
        "occluded": [False, True, False, False],
        "keyframe": [False, True, False, False],
    }
    assert read.frames is not None
    assert read.frames["frame"].tolist() == [0, 1, 2, 3, 4, 5]
    assert read.frames.loc[0].to_dict() == {"sequence": "plaza", "frame": 0, "width": 640, "height": 480}
    assert sf.track(read, read).summary["HOTA"].tolist() == [1, 1]


def test_frames_of_a_task_that_skips_some(tmp_path: Path) -> None:
    path = written(tmp_path / "a.xml", track(0, box(100), box(105), box(110)), start=head(4, 100, "step=5"))
    read = sf.read_cvat(path, "mine")
    assert read.frames is not None
    assert read.frames["frame"].tolist() == [100, 105, 110, 115]
    assert {*read.frames["sequence"]} == {*read.objects["sequence"]} == {"mine"}


def test_frames_of_a_job(tmp_path: Path) -> None:
    """The head of a job has the first frame of the job, as a number of the video, and no name."""
    start = head(3, 110, "step=5").replace("task>", "job>").replace("<name>plaza</name>", "")
    path = written(tmp_path / "a.xml", track(0, box(110), box(115)), start=start)
    read = sf.read_cvat(path, "plaza")
    assert read.frames is not None
    assert read.frames["frame"].tolist() == [110, 115, 120]


def test_attributes_become_columns(tmp_path: Path) -> None:
    inner = '<attribute name="colour">red</attribute><attribute name="score">7</attribute>'
    path = written(tmp_path / "a.xml", track(0, box(0, inner=inner), box(1)))
    read = sf.read_cvat(path).objects
    assert read["colour"].iloc[0] == "red"
    assert read["attribute_score"].iloc[0] == "7"
    assert read[["colour", "attribute_score"]].iloc[1].isna().all()


def test_the_archive_that_cvat_exports(tmp_path: Path) -> None:
    path = written(tmp_path / "a.xml", track(0, box(0)))
    with zipfile.ZipFile(tmp_path / "task.zip", "w") as archive:
        archive.write(path, "annotations.xml")
        archive.writestr("images/frame_000000.PNG", b"")
    pd.testing.assert_frame_equal(sf.read_cvat(tmp_path / "task.zip").objects, sf.read_cvat(path).objects)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.write(path, "other.xml")
    with refused(str(tmp_path / "other.zip")):
        sf.read_cvat(tmp_path / "other.zip")


def test_a_task_without_tracks(tmp_path: Path) -> None:
    read = sf.read_cvat(written(tmp_path / "a.xml"))
    assert len(read.objects) == 0
    assert read.frames is not None
    assert len(read.frames) == 6


def test_the_command_takes_it(tmp_path: Path) -> None:
    path = written(tmp_path / "a.xml", track(0, box(0), box(1)))
    with zipfile.ZipFile(tmp_path / "task.zip", "w") as archive:
        archive.write(path, "annotations.xml")
    for given in (path, tmp_path / "task.zip"):
        assert answer_here("score", given, given)["f1"] == 1
        assert answer_here("score", given, given, "--similarity", "iou")["f1"] == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_the_command_waits_for_no_pipe(tmp_path: Path) -> None:
    for name in ("task.xml", "task.zip"):
        os.mkfifo(tmp_path / name)
        assert "no regular file" in run_here("score", tmp_path / name, tmp_path / name).err


@pytest.mark.parametrize(
    ("parts", "line", "named"),
    [
        ([track(0, box(0, xtl="nan"))], 19, "xtl"),
        ([track(0, box(0, xbr=5))], 19, "negative"),
        ([track(0, box(0, rotation="30.00"))], 19, "upright"),
        ([track(0, box(0, outside=2))], 19, "outside"),
        ([track(0, box("x"))], 19, "frame"),
        ([track(0, box(-1))], 19, "frame"),
        ([track(0, box(0), box(0))], 21, "frame 0 is there already"),
        ([track(0, box(3), box(2))], 21, "frame 2 comes after frame 3"),
        ([track(0, box(0), box(3))], 21, "between are missing"),  # of a tool that writes keyframes alone
        ([track("a", box(0))], 18, "id"),
        (['  <track label="car">\n', box(0), "</track>"], 18, "id"),
        ([track(0, box(0)), track(0, box(1))], 22, "track 0 is there already"),
        ([track(0, '    <polygon frame="0" points="1,2;3,4"/>\n')], 19, "polygon"),
        ([track(0, '    <rectangle frame="0"/>\n')], 19, "rectangle"),
        (['  <annotations><track id="0" label="car"/></annotations>'], 18, "<annotations> is no part"),
        (["<meta><task/></meta>"], 18, "several tasks"),
        ([track(0, box(0, xtl="9" * 10_000))], 19, "xtl"),
        ([track(0, box(0, xtl=-1e308, xbr=1e308))], 19, "xtl"),
        ([track(0, box("9" * 10_000))], 19, "frame"),
        ([track(0, box(0, rotation="9" * 10_000))], 19, "turned"),
        (['  <image id="0" name="a.png" width="1" height="1"/>\n'], 18, "images"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, parts: list[str], line: int, named: str) -> None:
    path = written(tmp_path / "a.xml", *parts)
    with pytest.raises(sf.InputError) as caught:
        sf.read_cvat(path)
    assert_places(caught.value.problems, f"{path}, line {line}")
    assert named in caught.value.problems[0]
    assert len(caught.value.problems[0]) < len(str(path)) + 300


@pytest.mark.parametrize(
    "content",
    [
        "",
        "not xml",
        "<annotation><object/></annotation>",  # Pascal VOC
        "<annotations></annotations>",
        '{"images": []}',
        head() + track(0, box(0))[:60],  # cut short
        head("many") + "</annotations>",
        head(10**9) + "</annotations>",
        head(3) + track(0, box(7)) + "</annotations>",
        head().replace("<name>plaza</name>", "<name/>") + "</annotations>",
        head().replace("task>", "project>") + "</annotations>",
        '<!DOCTYPE a [<!ENTITY b "c">]>\n<annotations>&b;</annotations>',
        '<!DOCTYPE a SYSTEM "file:///etc/passwd">\n<annotations/>',
        "<annotations>" * 100,
        "<" + "a" * 10_000 + "/>",
        "<annotations>\0</annotations>",
        head() + "x" * (1 << 21) + "</annotations>",
    ],
)
def test_other_files_are_refused_by_their_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(content)
    assert_refused(path)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with refused(str(tmp_path / "no.xml")):
        sf.read_cvat(tmp_path / "no.xml")
    with refused("read_cvat: sequence"):
        sf.read_cvat(written(tmp_path / "a.xml"), 3)  # type: ignore[arg-type]
    with refused((str(tmp_path / "a.xml"), "read_cvat")):
        sf.read_objects(tmp_path / "a.xml")
    with pytest.raises(ValueError, match="table"):
        sf.read_cvat(written(tmp_path / "a.xml"), table="list")  # type: ignore[arg-type]


@pytest.mark.parametrize("cut", range(0, 2000, 97))
def test_a_file_cut_anywhere_is_refused_by_its_name(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path / "a.xml", track(0, *(box(frame) for frame in range(6))))
    content = path.read_bytes()
    path.write_bytes(content[: cut % (len(content) - 20)])
    assert_refused(path)
