"""read(): the format is told by the content, and the reader of that format is the one that reads."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyarrow.fs import LocalFileSystem

import spotgeo_frames as sf
from helpers.problems import refused
from helpers.reference import PROJECT
from spotgeo_frames.formats.any_file import known_format
from spotgeo_frames.formats.recognition import format_of, is_plainly_told

DATA = PROJECT / "data"

KITTI = "Car 0.00 1 -1.57 10 20 40 35 1.5 1.6 3.9 1.8 1.5 8.4 -1.56\n"
CVAT = """<?xml version="1.0"?><!-- <annotation> --><annotations><meta><task><name>a</name><size>1</size></task></meta>
</annotations>"""

VOC = "<annotation><object><name>a</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox>"
VOC += "</object></annotation>"

# Files by what they hold, whatever they are called, and the names of their formats.
FILES = {
    "kitti": ("a.txt", KITTI),
    "kitti tracking": ("0001.txt", f"0 1 {KITTI}"),
    "cvat": ("a.xml", CVAT),
    "cvat called otherwise": ("a.data", CVAT),
    "voc": ("a.xml", VOC),
    "visdrone": ("a.txt", "684,8,273,116,0,0,0,0\n"),
    "bdd100k": ("a.json", json.dumps([{"name": "a.jpg", "labels": []}])),
    "label_studio": ("a.json", json.dumps([{"id": 1, "data": {"image": "a"}, "annotations": [{"result": []}]}])),
    "via": ("a.json", json.dumps({"a.jpg1": {"filename": "a.jpg", "regions": []}})),
    "dota": ("a.txt", "imagesource:GoogleEarth\ngsd:null\n1 2 3 2 3 4 1 4 ship 0\n"),
    "dota without a head": ("a.txt", "1 2 3 2 3 4 1 4 ship\n"),
    "dota without objects": ("a.txt", "imagesource:GoogleEarth\ngsd:0.1\n"),
    "dota results": ("Task1_ship.txt", "7 0.5 1 2 3 2 3 4 1 4\n"),
    "uavdt": ("M1_gt_whole.txt", "1,1,1,2,3,4,1,1,1\n"),
}


def written(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("case", FILES)
def test_the_content_tells_the_format(tmp_path: Path, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, *FILES[case])
    name = case.split()[0]
    assert format_of(path) == name
    read = sf.read(path)
    expected = getattr(sf, f"read_{name}")(path)
    for table, other in zip(read, expected, strict=True):
        assert (table is None) == (other is None)
        if table is not None:
            pd.testing.assert_frame_equal(table, other)
    told = capsys.readouterr().out
    assert told.startswith(f"{path}: read as ")
    assert told.endswith(f"(read_{name})\n")
    assert told.count("\n") == 1


@pytest.mark.parametrize("case", FILES)
def test_files_with_the_line_ends_of_windows_say_the_same(tmp_path: Path, case: str) -> None:
    name, text = FILES[case]
    sides = []
    for folder, ending in (("ours", "\n"), ("theirs", "\r\n")):
        path = tmp_path / folder / name
        path.parent.mkdir()
        path.write_bytes(text.replace("\n", ending).encode())
        sides.append(sf.read(path))
    for table, other in zip(*sides, strict=True):
        assert (table is None) == (other is None)
        if table is not None:
            pd.testing.assert_frame_equal(table, other)


@pytest.mark.parametrize("folder", ["tracks", "poses", "sample"])
def test_folders_with_the_line_ends_of_windows_say_the_same(tmp_path: Path, folder: str) -> None:
    for path in (DATA / folder).rglob("*"):
        copy = tmp_path / path.relative_to(DATA / folder)
        if path.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            content = path.read_bytes()
            is_text = path.suffix in (".txt", ".ini", ".json", ".csv")
            copy.write_bytes(content.replace(b"\n", b"\r\n") if is_text else content)
    read = {
        "tracks": lambda place: sf.read_motchallenge(place / "truth", place / "tracker"),
        "poses": lambda place: sf.read_posetrack(place / "truth", place / "tracker"),
        "sample": lambda place: [sf.read_spotgeo(place / "truth.json")],
    }[folder]
    for ours, theirs in zip(read(DATA / folder), read(tmp_path), strict=True):
        pd.testing.assert_frame_equal(ours.objects, theirs.objects)
        if ours.frames is not None:
            pd.testing.assert_frame_equal(ours.frames, theirs.frames)


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
@pytest.mark.parametrize("case", FILES)
def test_every_format_gives_the_kind_of_table_that_is_asked_for(
    tmp_path: Path, case: str, kind: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    if kind == "polars":
        pytest.importorskip("polars")
    path = written(tmp_path, *FILES[case])
    read, expected = sf.read(path, table=kind), sf.read(path)
    for table, other in zip(read, expected, strict=True):
        if table is not None:
            assert type(table).__module__.startswith(kind)
            again = table.to_pandas()
            assert [*again] == [*other]
            assert again.isna().sum().tolist() == other.isna().sum().tolist()
    capsys.readouterr()


@pytest.mark.parametrize(
    ("path", "function"),
    [
        ("sample/truth.json", "read_spotgeo"),
        ("sample/truth.parquet", "read_objects"),
        ("coco/annotations.json", "read_coco"),
        ("tracks/truth", "read_motchallenge"),
        ("poses/truth", "read_posetrack"),
    ],
)
def test_the_samples_are_told(path: str, function: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(sf.read(DATA / path).objects)
    assert capsys.readouterr().out.endswith(f"({function})\n")


def test_tables_and_packed_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "a.csv", "sequence,frame,object,x,y\n1,1,1,2,3\n")
    assert sf.read(path).objects["x"].tolist() == [2]
    with gzip.open(tmp_path / "truth.json.gz", "wb") as stream:
        stream.write((DATA / "sample/truth.json").read_bytes())
    assert len(sf.read(tmp_path / "truth.json.gz", table="pyarrow").frames) == 300
    assert "read_spotgeo" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["sample/truth.json", "coco/annotations.json", "coco/precise.json"])
def test_large_files_that_the_commands_read_by_name_are_not_looked_through(name: str) -> None:
    assert is_plainly_told(DATA / name)


@pytest.mark.parametrize("case", FILES)
def test_files_of_other_formats_are_looked_through(tmp_path: Path, case: str) -> None:
    assert not is_plainly_told(written(tmp_path, *FILES[case]))


def test_what_needs_more_is_told(tmp_path: Path) -> None:
    results = written(
        tmp_path, "r.json", json.dumps([{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 1}])
    )
    with refused((str(results), "read_coco")):
        sf.read(results)
    labels = written(tmp_path, "a.txt", "0 0.5 0.5 0.1 0.2\n")
    with refused((str(labels), "read_yolo")):
        sf.read(labels)
    with refused((str(tmp_path), "read_yolo")):
        sf.read(tmp_path)
    turned = written(tmp_path, "b.txt", "0 0.1 0.1 0.2 0.1 0.2 0.2 0.1 0.2\n")
    with refused((str(turned), "read_yolo", "turned=True")):
        sf.read(turned)
    with refused((str(DATA / "tracks/tracker"), "read_motchallenge")):
        sf.read(DATA / "tracks/tracker")


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", "[1]", '{"a": 1}', "[[", "<a/>", "<", "some words\n", "\0", "{" * 9999]
)
def test_what_nothing_tells_is_refused(tmp_path: Path, content: str) -> None:
    path = written(tmp_path, "a.txt", content)
    with refused(str(path)):
        sf.read(path)
    assert known_format(path) is None


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with refused(str(tmp_path / "no.json")):
        sf.read(tmp_path / "no.json")
    (tmp_path / "empty").mkdir()
    with refused(str(tmp_path / "empty")):
        sf.read(tmp_path / "empty")
    no_paths: list[Any] = [None, 5, b"labels", ["a.json"], pd.DataFrame()]
    for no_path in no_paths:
        with refused("read: path"):
            sf.read(no_path)
    with pytest.raises(ValueError, match="table"):
        sf.read("nowhere", table="list")  # type: ignore[arg-type]


@pytest.mark.parametrize("case", [case for case in FILES if case.split()[-1] not in ("cvat", "otherwise")])
def test_folders_and_files_of_other_file_systems(tmp_path: Path, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What a file system gives is fetched first, so messages and results name what the caller wrote."""
    name = case.split()[0]
    (tmp_path / "labels").mkdir()
    path = written(tmp_path / "labels", *FILES[case])
    given = path if name in ("label_studio", "via") else path.parent
    expected = sf.read(given).objects
    read = sf.read(str(given), filesystem=LocalFileSystem())
    pd.testing.assert_frame_equal(read.objects, expected)
    assert str(given) in capsys.readouterr().out
    path.write_text("\0")
    with pytest.raises(sf.InputError, match=re.escape(str(given))):
        getattr(sf, f"read_{name}")(str(given), filesystem=LocalFileSystem())
