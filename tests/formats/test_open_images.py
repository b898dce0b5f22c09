"""Open Images' CSV: boxes in shares of images, groups, marks, sizes, and what is wrong with them."""

import gzip
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.commands import run_here
from helpers.problems import assert_places, refused, warned

HEAD = "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside"
ROWS = [
    "000a,xclick,/m/1,1,0.25,0.75,0.5,1,0,-1,1,0,0",
    "000b,xclick,/m/2,1,0,1,0,1,1,0,0,-1,0",
    "000a,activemil,/m/2,1,0.1,0.2,0.1,0.3,0,1,0,0,0",
]


def written(path: Path, *rows: str, head: str = HEAD) -> Path:
    path.write_text("\n".join([head, *rows, ""]))
    return path


def test_truth(tmp_path: Path) -> None:
    read = sf.read_open_images(
        written(tmp_path / "a.csv", *ROWS), {"/m/1": "Tree", "/m/2": "Car"}, image_size=(200, 100)
    )
    objects = read.objects
    assert objects[["sequence", "frame", "object", "category", "source"]].to_numpy().tolist() == [
        ["000a", 1, 1, "Tree", "xclick"],
        ["000b", 1, 1, "Car", "xclick"],
        ["000a", 1, 2, "Car", "activemil"],
    ]
    assert objects[["x", "y", "w", "h"]].round(9).to_numpy().tolist() == [
        [50, 50, 100, 50],
        [0, 0, 200, 100],
        [20, 10, 20, 20],
    ]
    assert objects["crowd"].tolist() == [True, False, False]
    assert objects["occluded"].tolist() == [False, True, False]
    assert objects["truncated"].isna().tolist() == [True, False, False]
    assert objects["depiction"].isna().tolist() == [False, True, False]
    assert "score" not in objects
    assert read.frames is None


@pytest.mark.parametrize("name", ["Score", "Conf", "Confidence"])
def test_predictions_on_the_frames_of_the_truth(tmp_path: Path, name: str) -> None:
    head = f"ImageID,LabelName,{name},XMin,YMin,XMax,YMax"
    path = written(tmp_path / "a.csv", "7,/m/1,0.5,0,0,0.5,1.01", head=head)
    frames = pd.DataFrame({"sequence": ["7", "8"], "frame": 1, "width": [10, 20], "height": [30, 40]})
    read = sf.read_open_images(path, frames=frames)
    assert read.objects[["sequence", "x", "w", "h", "score"]].to_numpy().tolist() == [["7", 0, 5, 30.3, 0.5]]
    assert read.frames is not None
    assert read.frames["width"].tolist() == [10, 20]
    with refused((str(path), "'7'")):
        sf.read_open_images(path, frames=frames.iloc[1:])
    with refused("read_open_images: frames"):
        sf.read_open_images(path, frames=frames[["sequence", "frame"]])
    twice = pd.concat([frames, frames.assign(frame=2, width=99)])
    for size in (None, (10, 30)):
        with refused(("read_open_images: frames", "2 rows", "sequence 7, frame 2")):
            sf.read_open_images(path, frames=twice, image_size=size)
    with refused(("read_open_images: frames", "2 rows", "sequence 7, frame 0")):
        sf.read_open_images(path, frames=frames.assign(frame=0))


def test_sizes_of_images(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "images").mkdir()
    for name, size in {"000a": (200, 100), "000b": (50, 40), "000c": (5, 4)}.items():
        image.new("L", size).save(tmp_path / "images" / f"{name}.png")
    read = sf.read_open_images(written(tmp_path / "a.csv", *ROWS), images=tmp_path / "images")
    assert read.objects["w"].round(9).tolist() == [100, 50, 20]
    assert read.frames is not None
    assert read.frames["sequence"].tolist() == ["000a", "000b", "000c"]
    with refused("read_open_images: images"):
        sf.read_open_images(tmp_path / "a.csv", images=tmp_path / "images", image_size=(1, 2))


def test_without_sizes_boxes_stay_shares(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", *ROWS)
    with warned("read_open_images"):
        shares = sf.read_open_images(path)
    assert shares.objects["x"].tolist() == [0.25, 0, 0.1]
    pixels = sf.read_open_images(path, image_size=(640, 480)).objects
    moved = pixels.assign(x=pixels["x"] + 6.4).drop(columns="crowd")
    moved_shares = shares.objects.assign(x=shares.objects["x"] + 0.01).drop(columns="crowd")
    similar = [sf.match(*sides)["similarity"] for sides in ((pixels, moved), (shares.objects, moved_shares))]
    pd.testing.assert_series_equal(*similar)


def test_names_of_classes_in_a_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", *ROWS)
    names = tmp_path / "class-descriptions-boxable.csv"
    names.write_text('/m/1,"Tree, tall"\n/m/2,Car\n\n')
    read = sf.read_open_images(path, names, image_size=(1, 1))
    assert read.objects["category"].tolist() == ["Tree, tall", "Car", "Car"]
    names.write_text("/m/1,Tree\n")
    with refused((str(path), "'/m/2'")):
        sf.read_open_images(path, names, image_size=(1, 1))
    names.write_text("/m/1,Tree\n/m/2\n")
    with refused(f"{names}, row 2"):
        sf.read_open_images(path, names, image_size=(1, 1))
    with refused("read_open_images: names"):
        sf.read_open_images(path, {1: "Tree"}, image_size=(1, 1))  # type: ignore[dict-item]


def test_odd_but_legal_files(tmp_path: Path) -> None:
    expected = sf.read_open_images(written(tmp_path / "a.csv", *ROWS), image_size=(20, 10)).objects
    text = (tmp_path / "a.csv").read_text()
    (tmp_path / "b.csv").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    written(tmp_path / "c.csv", *(f"{row},1,2" for row in ROWS), head=f"{HEAD},XClick1X,XClick2X")
    with gzip.open(tmp_path / "d.csv.gz", "wb") as stream:
        stream.write(text.encode())
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.write(tmp_path / "a.csv", "a.csv")
    for name in ("b.csv", "c.csv", "d.csv.gz", "e.zip"):
        pd.testing.assert_frame_equal(sf.read_open_images(tmp_path / name, image_size=(20, 10)).objects, expected)
    assert len(sf.read_open_images(written(tmp_path / "f.csv"), image_size=(1, 1)).objects) == 0


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ("000a,x,/m/1,1,0.8,0.75,0.5,1,0,0,0,0,0", "negative"),
        ("000a,x,/m/1,1,nan,0.75,0.5,1,0,0,0,0,0", "xmin"),
        ("000a,x,/m/1,1,,0.75,0.5,1,0,0,0,0,0", "xmin"),
        ("000a,x,/m/1,1,0.2,1e999,0.5,1,0,0,0,0,0", "xmax"),
        ("000a,x,/m/1,1,0.2,75,0.5,1,0,0,0,0,0", "pixels"),
        ("000a,x,/m/1,1,0.2,seven,0.5,1,0,0,0,0,0", "XMax"),
        ("000a,x,/m/1,1,0.2,0.5,0.5,1,2,0,0,0,0", "isoccluded"),
        ("000a,x,/m/1,inf,0.2,0.5,0.5,1,1,0,0,0,0", "confidence"),
        (",x,/m/1,1,0.2,0.5,0.5,1,1,0,0,0,0", "imageid"),
        ("000a,x,,1,0.2,0.5,0.5,1,1,0,0,0,0", "labelname"),
    ],
)
def test_what_is_wrong_is_told_with_its_row(tmp_path: Path, row: str, named: str) -> None:
    path = written(tmp_path / "a.csv", *ROWS, row)
    with pytest.raises(sf.InputError) as caught:
        sf.read_open_images(path, image_size=(1, 1))
    assert_places(caught.value.problems, f"{path}, row 4")
    assert named in caught.value.problems[0]


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"ImageID,LabelName\n1,2\n", HEAD.encode() + b"\n1,2\n", HEAD.encode() + b"\n\0", b"{}",
     b"\xff\xfeI\0",
     HEAD.encode() + b"\n\xff,x,/m/1,1,0.2,0.5,0.5,1,1,0,0,0,0\n", b'"' * 10_000],
)  # fmt: skip
def test_other_files_are_refused_by_their_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(sf.InputError) as caught:
        sf.read_open_images(path, image_size=(1, 1))
    assert all(problem.startswith(str(path)) for problem in caught.value.problems), caught.value
    assert len(str(caught.value)) < len(str(path)) + 400


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with refused(str(tmp_path / "no.csv")):
        sf.read_open_images(tmp_path / "no.csv")
    with refused("read_open_images: image_size"):
        sf.read_open_images(written(tmp_path / "a.csv", *ROWS), image_size=(0, 1))


def test_commands_and_read_take_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "a.csv", ROWS[1])
    done = run_here("score", path, path, "--json")
    assert done.status == 0
    assert "in shares of their image" in done.err
    with warned("read_open_images"):
        assert len(sf.read(path).objects) == 1
    assert "read_open_images" in capsys.readouterr().out
