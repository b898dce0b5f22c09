"""Label files of YOLO, as people label them and as Ultralytics writes them."""

import math
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFile

import spotgeo_frames as sf
from helpers.problems import refused, warned
from spotgeo_frames.formats import yolo

# Files in which no names are found: of another form, cut short, deep, of values that are none, and references, of which
# a few can stand for any number of values.
BAD_YAML = {
    "list.yaml": "- car\n",
    "bad.yaml": "names: [car\n",
    "deep.yaml": "names: " + "[" * 5000,
    "date.yaml": "date: 2001-99-99\nnames: [car]\n",
    "number.yaml": "names: [!!int x]\n",
    "truth.yaml": "names: [yes, 3]\n",
    "digits.yaml": "names: " + "1" * 5000,
    "tag.yaml": "names: !!python/object/apply:os.getcwd []\n",
    "bomb.yaml": "a: &a [x, x]\nb: &b [*a, *a]\nnames: [*b, *b]\n",
    "merge.yaml": "a: &a {x: 1}\nb: {<<: [*a, *a]}\nnames: [car]\n",
}

CAR = "0 0.5 0.5 0.2 0.4"
SIZE = (100, 50)
BOX = {"x": 40.0, "y": 15.0, "w": 20.0, "h": 20.0}


def folder_of(parent: Path, files: dict[str, str | bytes], name: str = "labels") -> Path:
    """A folder of these files, by their paths in it."""
    folder = parent / name
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def images_of(parent: Path, sizes: dict[str, tuple[int, int]]) -> Path:
    """A folder of black images of these sizes."""
    for path, size in sizes.items():
        (parent / "images" / path).parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", size).save(parent / "images" / path)
    return parent / "images"


def keys(table: pd.DataFrame) -> list[tuple[str, int]]:
    return list(table[["sequence", "frame"]].itertuples(index=False, name=None))


def test_boxes_in_pixels_by_the_size_of_their_image(tmp_path: Path) -> None:
    labels = folder_of(tmp_path, {"a.txt": f"{CAR}\n1 0.01 0.02 0.02 0.04\n", "street/b.txt": CAR})
    images = images_of(tmp_path, {"a.png": SIZE, "street/b.jpg": (200, 100), "c.JPG": (10, 10)})
    read = sf.read_yolo(labels, images, ["car", "van"])
    assert read.objects.columns.tolist() == ["sequence", "frame", "object", "x", "y", "w", "h", "category"]
    first, second, third = read.objects.to_dict("records")
    assert first == {"sequence": "a", "frame": 1, "object": 1, **BOX, "category": "car"}
    assert second == {"sequence": "a", "frame": 1, "object": 2, "x": 0, "y": 0, "w": 2, "h": 2, "category": "van"}
    far = {"x": 80, "y": 30, "w": 40, "h": 40}
    assert third == {"sequence": "street/b", "frame": 1, "object": 1, **far, "category": "car"}
    assert read.frames is not None
    assert read.frames.to_dict("list") == {
        "sequence": ["a", "c", "street/b"],  # c has no label file, so it is an empty frame
        "frame": [1, 1, 1],
        "width": [100, 10, 200],
        "height": [50, 10, 100],
        "file_name": ["a.png", "c.JPG", "street/b.jpg"],
    }
    assert sf.summarize(sf.match(read, read)).loc[0, ["tp", "fp", "n_frames"]].tolist() == [3, 0, 3]


def test_lines_that_are_there_twice_are_two_objects(tmp_path: Path) -> None:
    read = sf.read_yolo(folder_of(tmp_path, {"a.txt": f"{CAR}\n{CAR}\n"}), image_size=SIZE)
    assert read.objects["object"].tolist() == [1, 2]


def test_sizes_of_all_images_or_of_the_truths_frames(tmp_path: Path) -> None:
    labels = folder_of(tmp_path, {"a.txt": CAR, "b.txt": "\n"})
    read = sf.read_yolo(labels, image_size=SIZE)
    assert read.objects.to_dict("records") == [{"sequence": "a", "frame": 1, "object": 1, **BOX, "category": 0}]
    assert read.frames is not None
    assert keys(read.frames) == [("a", 1), ("b", 1)]
    frames = pd.DataFrame(
        {"sequence": ["b", "a", "c"], "frame": 1, "width": [1, 100, 1], "height": [1, 50, 1], "night": 7}
    )
    known = sf.read_yolo(labels, frames=frames)
    pd.testing.assert_frame_equal(known.objects, read.objects)
    assert known.frames is not None
    assert known.frames["night"].tolist() == [7, 7, 7]
    sized = sf.read_yolo(labels, frames=frames[["sequence", "frame"]], image_size=SIZE)
    pd.testing.assert_frame_equal(sized.objects, read.objects)


@pytest.mark.parametrize("ending", ["jpg", "png", "tif", "webp"])
def test_a_photo_that_lies_on_its_side_is_turned(tmp_path: Path, ending: str) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    exif = Image.Exif()
    exif[274] = 6
    Image.new("L", (50, 100)).save(folder / f"a.{ending}", exif=exif)
    read = sf.read_yolo(folder_of(tmp_path, {"a.txt": CAR}), folder)
    assert read.objects.loc[0, ["x", "y", "w", "h"]].to_dict() == BOX


def test_pictures_are_not_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = folder_of(tmp_path, {"a.txt": CAR, "b.txt": CAR})
    images = images_of(tmp_path, {"a.png": SIZE, "b.jpg": SIZE})
    content = (images / "a.png").read_bytes()
    (images / "a.png").write_bytes(content[: content.find(b"IDAT") + 6])  # the size comes before

    def refuse(*_: object) -> None:
        raise AssertionError("decoded")

    monkeypatch.setattr(ImageFile.ImageFile, "load", refuse)
    assert sf.read_yolo(labels, images).objects["x"].tolist() == [BOX["x"]] * 2


@pytest.mark.parametrize("behind", [False, True])
def test_a_png_is_turned_by_exif_wherever_it_lies(tmp_path: Path, behind: bool) -> None:
    images = images_of(tmp_path, {"a.png": (50, 100)})
    content, exif = (images / "a.png").read_bytes(), Image.Exif()
    exif[274] = 6
    data = b"eXIf" + exif.tobytes().removeprefix(b"Exif\x00\x00")
    chunk = struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))
    at = content.find(b"IEND" if behind else b"IDAT") - 4
    (images / "a.png").write_bytes(content[:at] + chunk + content[at:])
    read = sf.read_yolo(folder_of(tmp_path, {"a.txt": CAR}), images)
    assert read.objects.loc[0, ["x", "y", "w", "h"]].to_dict() == BOX


@pytest.mark.parametrize("ending", ["jpg", "png"])
def test_other_files_are_no_images_whatever_they_are_called(tmp_path: Path, ending: str) -> None:
    """Pillow reads many formats; one of them is a language of programs."""
    script = "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 20\n%%EndComments\n"
    images = folder_of(tmp_path, {f"a.{ending}": script}, "images")
    with refused((str(images / f"a.{ending}"), "no image", "image_size=")):
        sf.read_yolo(folder_of(tmp_path, {"a.txt": CAR}), images)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    labels, images = folder_of(tmp_path, {"a.txt": CAR}), tmp_path / "images"
    images.mkdir()
    os.mkfifo(images / "a.png")
    with refused((str(images / "a.png"), "no regular file")):
        sf.read_yolo(labels, images)


def test_frames_of_videos_by_their_names(tmp_path: Path) -> None:
    files = dict.fromkeys(["plaza_000012.txt", "plaza_9.txt", "7.txt", "north/img_3.txt", "north/000004.txt"], CAR)
    read = sf.read_yolo(folder_of(tmp_path, files), image_size=SIZE, videos=True)
    expected = [("north", 3), ("north", 4), ("plaza", 9), ("plaza", 12), ("video", 7)]
    assert keys(read.objects) == expected


def test_tracks_with_and_without_scores(tmp_path: Path) -> None:
    both = folder_of(tmp_path, {"v_1.txt": f"{CAR} 0.9 7\n{CAR} 0.8 3\n", "v_2.txt": f"{CAR} 0.7 7\n"}, "both")
    read = sf.read_yolo(both, image_size=SIZE, identities=True).objects
    assert keys(read) == [("v", 1), ("v", 1), ("v", 2)]
    assert read["object"].tolist() == [7, 3, 7]
    assert read["score"].tolist() == [0.9, 0.8, 0.7]
    alone = folder_of(tmp_path, {"v_1.txt": f"{CAR} 7\n{CAR} 1e+06\n"}, "alone")
    read = sf.read_yolo(alone, image_size=SIZE, identities=True).objects
    assert read["object"].tolist() == [7, 1_000_000]
    assert "score" not in read


def test_a_tracker_that_found_nothing(tmp_path: Path) -> None:
    read = sf.read_yolo(folder_of(tmp_path, {"v_1.txt": "", "v_2.txt": ""}), image_size=SIZE, identities=True)
    assert len(read.objects) == 0
    assert read.frames is not None
    assert len(read.frames) == 2


def test_detections_in_no_track_are_left_out_with_a_warning(tmp_path: Path) -> None:
    labels = folder_of(tmp_path, {"v_1.txt": f"{CAR} 0.9\n", "v_2.txt": f"{CAR} 0.7 7\n{CAR} 0.6\n"})
    with warned(("read_yolo", "2")):
        read = sf.read_yolo(labels, image_size=SIZE, identities=True)
    assert read.objects[["frame", "object", "score"]].to_dict("records") == [{"frame": 2, "object": 7, "score": 0.7}]
    assert read.frames is not None
    assert keys(read.frames) == [("v", 1), ("v", 2)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data.yaml", "path: .\nnames: [car, van]\n"),
        ("data.yml", "names:\n  0: car\n  1: 'van'\n"),
        ("obj.names", "car\nvan\n\n"),
    ],
)
def test_names_of_classes_from_files(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    labels = folder_of(tmp_path, {"a.txt": CAR.replace("0", "1", 1)})
    read = sf.read_yolo(labels, names=tmp_path / name, image_size=SIZE).objects
    assert read["category"].tolist() == ["van"]
    assert read["category"].cat.categories.tolist() == ["car", "van"]


def test_classes_that_share_a_name_have_none(tmp_path: Path) -> None:
    labels = folder_of(tmp_path, {"a.txt": f"{CAR}\n", "b.txt": CAR.replace("0", "1", 1)})
    with refused((f"{labels / 'b.txt'}, line 1", "class 1 has no name of its own")):
        sf.read_yolo(labels, names=["car", "N/A", "N/A"], image_size=SIZE)


def test_names_beside_the_labels(tmp_path: Path) -> None:
    read = sf.read_yolo(folder_of(tmp_path, {"a.txt": CAR, "classes.txt": "car\n"}), image_size=SIZE)
    assert read.objects["category"].tolist() == ["car"]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("0 0.5 0.5 0.2", ("4 fields",)),  # cut short
        ("0 0.5 0.5 0.2 0.", ()),  # a cut that leaves a number cannot be seen
        ("0 0.1 0.1 0.2 0.2 0.3 0.3 0.4 0.4", ("more than 7 fields", "segment")),
        ("0 0.5 0.5 0.2 0.4 0.3 0.2 2 0.1 0.1 2", ("more than 7 fields", "pose")),
        ("car 0.5 0.5 0.2 0.4", ("car",)),
        ("1,1,10,20,30,40,1,-1,-1,-1", ("1 fields",)),  # MOTChallenge
        ('{"images": []}', ("2 fields",)),
        ("0 nan 0.5 0.2 0.4", ("finite",)),
        ("0 0.5 0.5 inf 0.4", ("finite",)),
        ("0 0.5 0.5 -0.2 0.4", ("negative",)),
        ("0 320 240 64 64", ("pixels",)),
        ("-1 0.5 0.5 0.2 0.4", ("class -1",)),
        ("0.5 0.5 0.5 0.2 0.4", ("class 0.5",)),
        ("2 0.5 0.5 0.2 0.4", ("class 2", "0 to 1")),
        (f"{CAR} 7", ("score 7", "identities=True")),
        (f"{CAR} 0.5 7", ("identity", "identities=True")),
        (f"{CAR} 7 0.5", ("score 7",)),
        (f"{CAR} 0.5 7.5", ("identity 7.5",)),
        (f"{CAR} 0.5 -1", ("identity -1",)),
        ("0 1_0 0.5 0.2 0.4", ("'1_0'",)),
        ("0 \u0661 0.5 0.2 0.4", ("no number",)),  # a digit, though not of ASCII
        ("0 1e400 0.5 0.2 0.4", ("finite",)),
        ("0 0.5\x00 0.5 0.2 0.4", ("NUL",)),
    ],
)
def test_a_bad_line_is_refused_with_its_file_and_number(tmp_path: Path, line: str, named: tuple[str, ...]) -> None:
    labels = folder_of(tmp_path, {"a.txt": f"{CAR}\n\n{line}\n"})
    if not named:
        assert len(sf.read_yolo(labels, names=["car", "van"], image_size=SIZE).objects) == 2
        return
    with pytest.raises(sf.InputError) as caught:
        sf.read_yolo(labels, names=["car", "van"], image_size=SIZE)
    [problem] = caught.value.problems
    assert problem.startswith(f"{labels / 'a.txt'}, line 3:")
    assert all(text in problem for text in named), problem


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (f"{CAR} 0.9 7\n{CAR} 0.8 7\n", "identity 7 is there already, in line 1"),
        (f"{CAR} 0.9\n", "identity 0.9 is no whole number"),
        (f"{CAR}\n", "no line has an identity"),
    ],
)
def test_identities_that_name_no_tracks(tmp_path: Path, content: str, named: str) -> None:
    labels = folder_of(tmp_path, {"v_1.txt": content})
    with pytest.raises(sf.InputError, match=named):
        sf.read_yolo(labels, image_size=SIZE, identities=True)


@pytest.mark.parametrize("identities", [False, True])
def test_scores_of_some_lines_alone_are_refused(tmp_path: Path, identities: bool) -> None:
    scored = f"{CAR} 0.9 7" if identities else f"{CAR} 0.9"
    labels = folder_of(tmp_path, {"v_1.txt": f"{scored}\n{CAR}\n", "v_2.txt": f"\n{CAR}\n"})
    with refused((f"{labels / 'v_1.txt'}, line 2", "no score"), (f"{labels / 'v_2.txt'}, line 2", "no score")):
        sf.read_yolo(labels, image_size=SIZE, identities=identities)


@pytest.mark.parametrize(
    "content", ["0 5e-1 5.E-1 .2 +0.4", "\ufeff0 0.5 0.5 0.2 0.4", "0.0\t.5 .5 .2 .4  \r\n\r\n", "-0 0.5 0.5 2E-01 0.4"]
)
def test_ways_to_write_the_same_line(tmp_path: Path, content: str) -> None:
    read = sf.read_yolo(folder_of(tmp_path, {"a.txt": content}), image_size=SIZE)
    assert read.objects.to_dict("records") == [{"sequence": "a", "frame": 1, "object": 1, **BOX, "category": 0}]


def test_files_that_are_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yolo, "LARGEST_FILE", 100)
    labels = folder_of(tmp_path, {"a.txt": f"{CAR}\n" * 10})
    with refused((str(labels / "a.txt"), "more than")):
        sf.read_yolo(labels, image_size=SIZE)


def test_endings_in_capital_letters(tmp_path: Path) -> None:
    labels, images = folder_of(tmp_path, {"a.TXT": CAR}), images_of(tmp_path, {"a.Jpg": SIZE, "b.Png": SIZE})
    read = sf.read_yolo(labels, images)
    assert keys(read.objects) == [("a", 1)]
    assert read.frames is not None
    assert keys(read.frames) == [("a", 1), ("b", 1)]


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_links_to_folders_are_followed_once(tmp_path: Path) -> None:
    labels, elsewhere = folder_of(tmp_path, {"a.txt": CAR}), folder_of(tmp_path, {"b.txt": CAR}, "elsewhere")
    (labels / "more").symlink_to(elsewhere, target_is_directory=True)
    assert keys(sf.read_yolo(labels, image_size=SIZE).objects) == [("a", 1), ("more/b", 1)]
    (elsewhere / "back").symlink_to(labels, target_is_directory=True)
    with refused((str(labels / "more" / "back"), "same folder")):
        sf.read_yolo(labels, image_size=SIZE)


def test_problems_of_all_files_are_told(tmp_path: Path) -> None:
    labels = folder_of(tmp_path, {"a.txt": "x", "b.txt": CAR, "c.txt": b"\xff\xfe0"})
    with refused(f"{labels / 'a.txt'}, line 1", str(labels / "c.txt")):
        sf.read_yolo(labels, image_size=SIZE)


def test_what_is_no_folder_of_labels(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text(CAR)
    for name in ("no", "empty", "file.txt"):
        with refused(str(tmp_path / name)):
            sf.read_yolo(tmp_path / name, image_size=SIZE)


def test_frames_that_are_not_known_or_twice(tmp_path: Path) -> None:
    labels = folder_of(tmp_path, {"a.txt": CAR, "b.txt": CAR})
    images = images_of(tmp_path, {"a.png": SIZE})
    with refused(str(labels / "b.txt")):
        sf.read_yolo(labels, images)
    with refused(str(labels / "b.txt")):
        sf.read_yolo(labels, frames=pd.DataFrame({"sequence": ["a"], "frame": 1}), image_size=SIZE)
    Image.new("L", SIZE).save(images / "a.jpg")
    with refused(str(images / "a.png")):
        sf.read_yolo(labels, images)
    stamp = "v_1403636579763555584.txt"
    twice = folder_of(tmp_path, {"v_1.txt": CAR, "v_01.txt": CAR, "v.txt": CAR, stamp: CAR}, "twice")
    with refused(str(twice / "v.txt"), str(twice / "v_1.txt"), str(twice / stamp)):
        sf.read_yolo(twice, image_size=SIZE, videos=True)


def test_sizes_that_are_not_known_or_wrong(tmp_path: Path) -> None:
    labels = folder_of(tmp_path, {"a.txt": CAR})
    frames = pd.DataFrame({"sequence": ["a"], "frame": 1, "width": 0.0, "height": math.nan})
    images = images_of(tmp_path, {"a.png": SIZE})
    for given_sizes, place in [
        ({}, "read_yolo"),
        ({"image_size": (0, 5)}, "read_yolo: image_size"),
        ({"image_size": 5}, "read_yolo: image_size"),
        ({"frames": frames}, "read_yolo: frames, row 0"),
        ({"frames": frames[["sequence", "frame"]]}, "read_yolo: frames"),
        ({"images": images, "image_size": SIZE}, "read_yolo"),
        ({"images": tmp_path / "no"}, str(tmp_path / "no")),
        ({"images": labels}, str(labels)),
    ]:
        with refused(place):
            sf.read_yolo(labels, **given_sizes)
    (images / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with refused(str(images / "a.png")):
        sf.read_yolo(labels, images)


@pytest.mark.parametrize(
    "names",
    [{}, {"a": "b"}, {-1: "b"}, ["a", "a"], [3], 7, "no.yaml", "gap.txt", "large.txt", *BAD_YAML],
)
def test_names_that_are_none(tmp_path: Path, names) -> None:
    for name, content in BAD_YAML.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "gap.txt").write_text("car\n\nvan\n")  # is van class 1 or 2?
    (tmp_path / "large.txt").write_text("x" * (1 << 21))
    labels = folder_of(tmp_path, {"a.txt": CAR})
    with pytest.raises(sf.InputError, match=names if isinstance(names, str) else "read_yolo: names"):
        sf.read_yolo(labels, names=tmp_path / names if isinstance(names, str) else names, image_size=SIZE)


@given(
    st.lists(st.tuples(*[st.floats(0, 1)] * 4), max_size=5),
    st.tuples(st.integers(1, 10_000), st.integers(1, 10_000)),
)
def test_boxes_come_back_from_shares(tmp_path_factory, boxes, size) -> None:
    lines = "".join(f"0 {' '.join(map(repr, box))}\n" for box in boxes)
    labels = folder_of(tmp_path_factory.mktemp("yolo"), {"a.txt": lines})
    read = sf.read_yolo(labels, image_size=size).objects
    shares = np.array(boxes).reshape(-1, 4) * np.array([*size, *size])
    np.testing.assert_allclose(read["x"] + read["w"] / 2, shares[:, 0], atol=1e-9)
    np.testing.assert_allclose(read["y"] + read["h"] / 2, shares[:, 1], atol=1e-9)
    np.testing.assert_array_equal(read[["w", "h"]], shares[:, 2:])


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_other_kinds_of_tables(tmp_path: Path, kind) -> None:
    pytest.importorskip(kind)
    read = sf.read_yolo(folder_of(tmp_path, {"a.txt": CAR}), names=["car"], image_size=SIZE, table=kind)
    assert type(read.objects).__module__.partition(".")[0] == kind
    assert sf.match(read, read).shape[0] == 1


def test_files_that_ultralytics_writes(tmp_path: Path) -> None:
    """Its order of fields, and its six digits; tracks, and frames in which the tracker found none."""
    torch = pytest.importorskip("torch", reason="needs `pip install ultralytics`")
    results = pytest.importorskip("ultralytics.engine.results", reason="needs `pip install ultralytics`")
    rng = np.random.default_rng(3)
    corner = rng.uniform(0, [500, 300], (4, 2))
    corners = np.hstack([corner, corner + rng.uniform(5, 100, (4, 2))]).astype(np.float32)
    score, class_id, identity = np.array([0.9, 0.8, 0.123456789, 0.5]), np.array([0, 1, 0, 2]), np.array([4, 1, 7, 12])
    names, image = {0: "car", 1: "van", 2: "bus"}, np.zeros((400, 640, 3), np.uint8)

    def write(folder: str, columns: list[np.ndarray], save_conf: bool) -> Path:
        boxes = torch.tensor(np.column_stack([corners, *columns]), dtype=torch.float32)
        result = results.Results(image, "plaza.mp4", names, boxes=boxes)
        result.save_txt(tmp_path / folder / "plaza_1.txt", save_conf=save_conf)
        return tmp_path / folder

    def check(read: pd.DataFrame, objects: np.ndarray) -> None:
        np.testing.assert_allclose(read[["x", "y"]], corners[:, :2], atol=2e-3)
        np.testing.assert_allclose(read[["w", "h"]], corners[:, 2:] - corners[:, :2], atol=2e-3)
        assert read["category"].tolist() == [names[number] for number in class_id]
        assert read["object"].tolist() == objects.tolist()

    labels = write("found", [score, class_id], True)
    found = sf.read_yolo(labels, names=names, image_size=(640, 400), videos=True).objects
    check(found, np.arange(1, 5))
    np.testing.assert_allclose(found["score"], score, rtol=1e-5)
    for folder, save_conf in (("both", True), ("alone", False)):
        labels = write(folder, [identity, score, class_id], save_conf)
        tracked = sf.read_yolo(labels, names=names, image_size=(640, 400), identities=True).objects
        check(tracked, identity)
        assert ("score" in tracked) is save_conf


def dataset_of(parent: Path) -> tuple[Path, Path, list[str]]:
    """The labels and images of a dataset of random boxes, some images on their sides, and the names of its classes."""
    rng, names = np.random.default_rng(5), ["car", "van", "bus"]
    labels, images = parent / "labels", parent / "images"
    labels.mkdir()
    images.mkdir()
    for number, ending in enumerate(["jpg", "png", "webp", "bmp"] * 3):
        exif = Image.Exif()
        exif[274] = 1 + number % 8
        of_format = {} if ending == "bmp" else {"exif": exif}
        Image.new("RGB", (100 + number, 300)).save(images / f"{number}.{ending}", **of_format)
        size = rng.uniform(0.01, 0.4, (number, 2))
        rows = np.column_stack([rng.integers(0, 3, number), rng.uniform(size / 2, 1 - size / 2), size])
        np.savetxt(labels / f"{number}.txt", rows, "%d %.6g %.6g %.6g %.6g")
    return labels, images, names


def corners_of(objects: pd.DataFrame, sequence: str) -> np.ndarray:
    of_image = objects[objects["sequence"] == sequence]
    return np.column_stack([of_image[["x", "y"]], of_image["x"] + of_image["w"], of_image["y"] + of_image["h"]])


def test_boxes_are_those_that_ultralytics_reads(tmp_path: Path) -> None:
    reason = "needs `pip install ultralytics`"
    utils = pytest.importorskip("ultralytics.data.utils", reason=reason)
    ops = pytest.importorskip("ultralytics.utils.ops", reason=reason)
    labels, images, names = dataset_of(tmp_path)
    read = sf.read_yolo(labels, images, names).objects
    for image in images.iterdir():
        asked = (str(image), str(labels / f"{image.stem}.txt"), "", False, len(names), 0, 0, False)
        _, rows, (height, width), *_ = utils.verify_image_label(asked)
        corners = ops.xywhn2xyxy(rows[:, 1:].astype(np.float64), width, height)
        ours = corners_of(read, image.stem)
        np.testing.assert_allclose(np.sort(ours, axis=0), np.sort(corners, axis=0), atol=1e-4)


def test_boxes_are_those_that_supervision_reads(tmp_path: Path) -> None:
    sv = pytest.importorskip("supervision", reason="needs `pip install supervision`")
    labels, images, names = dataset_of(tmp_path)
    (tmp_path / "data.yaml").write_text(f"names: {names}\n")
    read = sf.read_yolo(labels, images, tmp_path / "data.yaml").objects
    dataset = sv.DetectionDataset.from_yolo(str(images), str(labels), str(tmp_path / "data.yaml"))
    for path, _, detections in dataset:
        sequence = Path(path).stem
        np.testing.assert_allclose(corners_of(read, sequence), detections.xyxy.reshape(-1, 4), atol=1e-3)
        category = read.loc[read["sequence"] == sequence, "category"]
        assert category.tolist() == [names[number] for number in detections.class_id]


def test_turned_boxes(tmp_path: Path) -> None:
    corners = np.array([[0.2, 0.2], [0.6, 0.5], [0.54, 0.58], [0.14, 0.28]])  # of an image as wide as high
    fields = " ".join(f"{value:g}" for value in corners.ravel())
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "a.txt").write_text(f"1 {fields} 0.75\n0 {fields} 0.5\n")
    words: dict[str, Any] = {"names": ["ship", "plane"], "image_size": (100, 100)}
    read = sf.read_yolo(tmp_path / "labels", turned=True, **words).objects
    assert read["category"].tolist() == ["plane", "ship"]
    assert read["score"].tolist() == [0.75, 0.5]
    told = read.loc[0, ["cx", "cy", "w", "h", "angle"]].tolist()
    np.testing.assert_allclose(told, [37, 39, 50, 10, np.degrees(np.arctan2(3, 4))])
    assert sf.match(read, read)["similarity"].tolist() == [1.0, 1.0]
    with pytest.raises(sf.InputError, match="turned=True reads turned boxes"):
        sf.read_yolo(tmp_path / "labels", **words)
    (tmp_path / "labels" / "a.txt").write_text("1 -0.9 0.2 1.9 0.2 1.9 0.3 -0.9 0.3\n")
    assert sf.read_yolo(tmp_path / "labels", turned=True, **words).objects["w"].tolist() == [280]
    (tmp_path / "labels" / "a.txt").write_text("1 0.2 0.2 0.6 0.5 0.5 0.5 0.1 30\n")
    with pytest.raises(sf.InputError, match=r"a\.txt, line 1: .*are these pixels"):
        sf.read_yolo(tmp_path / "labels", turned=True, **words)
