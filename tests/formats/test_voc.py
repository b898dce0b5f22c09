"""Pascal VOC's XML: boxes whose last pixel counts, marks, attributes, and what is wrong with them."""

import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image

import spotgeo_frames as sf
from helpers.commands import answer_here
from helpers.problems import assert_places, refused
from spotgeo_frames.formats.recognition import format_of

# As the challenge's own files have it, shortened.
HEAD = """<annotation>
  <folder>VOC2007</folder>
  <filename>{name}.jpg</filename>
  <source><database>The VOC2007 Database</database></source>
  <owner><name>?</name></owner>
  <size><width>500</width><height>375</height><depth>3</depth></size>
  <segmented>0</segmented>
"""


def entry(box: Any = (10, 5, 19, 24), name: str = "chair", inner: str = "<difficult>0</difficult>") -> str:
    """An object; its first line is the one that problems name."""
    corners = "".join(
        f"<{key}>{value}</{key}>" for key, value in zip(("xmin", "ymin", "xmax", "ymax"), box, strict=True)
    )
    return f"  <object>\n    <name>{name}</name>\n    {inner}\n    <bndbox>{corners}</bndbox>\n  </object>\n"


def written(path: Path, *parts: str, head: str = HEAD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join([head.format(name=path.stem), *parts, "</annotation>\n"]))
    return path


def test_objects_marks_and_sizes(tmp_path: Path) -> None:
    marks = "<pose>Left</pose><truncated>1</truncated><occluded>0</occluded><difficult>1</difficult>"
    part = "<part><name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part>"
    written(tmp_path / "Annotations" / "000005.xml", entry(inner=marks + part), entry((1, 1, 500, 375), "dog"))
    written(tmp_path / "Annotations" / "000004.xml")
    (tmp_path / "ImageSets").mkdir()
    (tmp_path / "ImageSets" / "train.txt").write_text("000005")
    (tmp_path / "readme.txt").write_text("VOC 2007")
    for path in (tmp_path, tmp_path / "Annotations"):
        assert format_of(path) == "voc"
        read = sf.read_voc(path)
        assert read.objects.drop(columns=["truncated", "occluded", "pose"]).to_dict("list") == {
            "sequence": ["000005"] * 2,
            "frame": [1, 1],
            "object": [1, 2],
            "x": [10.0, 1.0],
            "y": [5.0, 1.0],
            "w": [10.0, 500.0],
            "h": [20.0, 375.0],
            "category": ["chair", "dog"],
            "ignore": [True, False],
        }
        for name, value in {"truncated": True, "occluded": False, "pose": "Left"}.items():
            assert read.objects[name].tolist()[0] == value
            assert read.objects[name].isna().tolist() == [False, True]
        assert read.frames is not None
        assert read.frames.to_dict("list") == {
            "sequence": ["000004", "000005"],
            "frame": [1, 1],
            "width": [500, 500],
            "height": [375, 375],
            "file_name": ["000004.jpg", "000005.jpg"],
        }
    assert sf.read_voc(tmp_path, last_pixel=False).objects["w"].tolist() == [9, 499]


def test_files_of_folders_below_keep_their_paths(tmp_path: Path) -> None:
    written(tmp_path / "day" / "1.xml", entry())
    written(tmp_path / "night" / "1.xml", entry())
    assert sf.read_voc(tmp_path).objects["sequence"].tolist() == ["day/1", "night/1"]


def test_what_other_tools_write(tmp_path: Path) -> None:
    """Unspecified marks, sizes of 0, coordinates with decimals, attributes of CVAT, no head at all."""
    inner = (
        "<pose>Unspecified</pose><truncated>Unspecified</truncated><difficult>false</difficult>"
        "<attributes><attribute><name>colour</name><value>red</value></attribute>"
        "<attribute><name>score</name><value>7</value></attribute></attributes>"
    )
    sizes = "<annotation><size><width>0</width><height>0</height></size>"
    written(tmp_path / "a.xml", entry((0.5, 1.25, 3, 4), inner=inner), head=sizes)
    written(tmp_path / "b.xml", entry(inner=""), head="\ufeff<annotation>")
    read = sf.read_voc(tmp_path)
    assert read.objects[["x", "w", "h"]].to_numpy().tolist() == [[0.5, 3.5, 3.75], [10, 10, 20]]
    assert read.objects["ignore"].tolist() == [False, False]
    assert "truncated" not in read.objects
    assert read.objects["colour"].tolist()[0] == "red"
    assert read.objects["attribute_score"].tolist()[0] == "7"
    assert read.frames is not None
    assert list(read.frames) == ["sequence", "frame"]


def attributes(**values: str) -> str:
    """Attributes of an object as CVAT writes them."""
    each = (f"<attribute><name>{name}</name><value>{value}</value></attribute>" for name, value in values.items())
    return f"<attributes>{''.join(each)}</attributes>"


def test_boxes_of_cvat_are_not_turned(tmp_path: Path) -> None:
    written(tmp_path / "a" / "a.xml", entry(inner=attributes(rotation="0.0", colour="red")), entry(inner=""))
    read = sf.read_voc(tmp_path / "a")
    assert "rotation" not in read.objects
    assert read.objects["colour"].tolist()[0] == "red"
    assert sf.summarize(sf.match(read, read, similarity="iou"))["tp"].tolist() == [2]
    for turned in ("30.0", "much", "nan"):
        path = written(tmp_path / "b" / "a.xml", entry(), entry(inner=attributes(rotation=turned)))
        with refused((f"{path}, line 13: rotation", turned)):
            sf.read_voc(path)
    path = written(tmp_path / "b" / "a.xml", entry(inner="<rotation>5</rotation>"))
    with refused(f"{path}, line 8: rotation"):
        sf.read_voc(path)


def test_other_elements_of_the_same_names(tmp_path: Path) -> None:
    """What comes before <name> and <bndbox> and is called as they or their corners are is neither."""
    named = attributes(name="x", xmin="1", ymax="2", bndbox="3", w="4", truncated="1")
    box = "<bndbox><xmin>10</xmin><ymin>5</ymin><xmax>19</xmax><ymax>24</ymax></bndbox>"
    written(tmp_path / "a.xml", f"<object>{named}<xmin>7</xmin><name>chair</name>{box}</object>")
    objects = sf.read_voc(tmp_path).objects
    assert objects[["x", "y", "w", "h", "category", "truncated"]].to_numpy().tolist() == [
        [10, 5, 10, 20, "chair", True]
    ]
    assert objects[["attribute_name", "attribute_xmin", "attribute_ymax", "attribute_w"]].to_numpy().tolist() == [
        ["x", "1", "2", "4"]
    ]
    path = written(tmp_path / "b.xml", f"<object>{named}<xmin>7</xmin></object>")
    with pytest.raises(sf.InputError) as caught:
        sf.read_voc(path)
    assert_places(caught.value.problems, (f"{path}, line 8", "name"), (f"{path}, line 8", "xmin"))


def test_an_archive(tmp_path: Path) -> None:
    path = written(tmp_path / "a.xml", entry())
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(path, "VOC/Annotations/a.xml")
        archive.writestr("VOC/JPEGImages/a.jpg", b"")
    pd.testing.assert_frame_equal(sf.read_voc(tmp_path / "a.zip").objects, sf.read_voc(path).objects)


def test_encodings(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    expected = sf.read_voc(written(path, entry(name="Stühle"))).objects
    text = path.read_text().replace("\n", "\r\n")
    for encoding in ("utf-8-sig", "utf-16"):
        path.write_text(text, encoding)
        pd.testing.assert_frame_equal(sf.read_voc(path).objects, expected)


def test_commands_and_read_take_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "truth" / "a.xml", entry(), entry((100, 100, 120, 120))).parent
    written(tmp_path / "found" / "a.xml", entry())
    answer = answer_here("score", path, tmp_path / "found")
    assert (answer["tp"], answer["fn"], answer["fp"]) == (1, 1, 0)
    assert answer_here("score", path / "a.xml", path / "a.xml", "--similarity", "iou")["f1"] == 1
    pd.testing.assert_frame_equal(sf.read(path).objects, sf.read_voc(path).objects)
    assert "read_voc" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("parts", "line", "named"),
    [
        ([entry(("x", 5, 19, 24))], 8, "xmin is 'x'"),
        ([entry((10, "nan", 19, 24))], 8, "ymin"),
        ([entry((10, 5, "1e999", 24))], 8, "xmax"),
        ([entry((10, 5, 19, "9" * 10_000))], 8, "ymax"),
        ([entry((10, 5, 19, ""))], 8, "ymax"),
        ([entry((10, 5, "1_9", 24))], 8, "xmax"),
        ([entry(), entry((10, 5, 7, 24))], 13, "negative"),
        ([entry(name="")], 8, "name"),
        ([entry(inner="<difficult>2</difficult>")], 8, "difficult"),
        ([entry(inner="<truncated>maybe</truncated>")], 8, "truncated"),
        (["<object><name>a</name>\n<robndbox><cx>1</cx></robndbox></object>"], 9, "robndbox"),
        (["<object><name>a</name></object>"], 8, "xmin is None"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, parts: list[str], line: int, named: str) -> None:
    path = written(tmp_path / "a.xml", *parts)
    with pytest.raises(sf.InputError) as caught:
        sf.read_voc(path)
    assert_places(caught.value.problems[:1], f"{path}, line {line}")
    assert named in caught.value.problems[0]
    assert len(caught.value.problems[0]) < len(str(path)) + 300


def test_problems_of_all_files_are_told_together(tmp_path: Path) -> None:
    first, third = written(tmp_path / "a.xml", entry(("x", 1, 2, 3))), written(tmp_path / "c.xml", entry(name=""))
    written(tmp_path / "b.xml", entry())
    sizes = written(tmp_path / "d.xml", head=HEAD.replace("500", "many"))
    (tmp_path / "e.xml").write_text("<annotation>")
    with refused(f"{tmp_path / 'e.xml'}, line 1", f"{first}, line 8", f"{third}, line 8", str(sizes)):
        sf.read_voc(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "not xml",
        "<annotations></annotations>",
        '{"images": []}',
        HEAD + entry()[:60],
        '<!DOCTYPE a [<!ENTITY b "c">]>\n<annotation>&b;</annotation>',
        '<!DOCTYPE a SYSTEM "file:///etc/passwd">\n<annotation/>',
        "<annotation>" * 100,
        "<annotation>\0</annotation>",
        "<annotation>" + "x" * (1 << 21) + "</annotation>",
        HEAD
        + entry(
            inner="<attributes>"
            + "".join(f"<attribute><name>a{n}</name><value>1</value></attribute>" for n in range(101))
            + "</attributes>"
        )
        + "</annotation>",
    ],
)
def test_other_files_are_refused_by_their_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(content)
    with pytest.raises(sf.InputError) as caught:
        sf.read_voc(path)
    assert all(problem.startswith((f"{path}: ", f"{path}, line ")) for problem in caught.value.problems), caught.value


def test_what_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "no.xml", tmp_path):
        with refused(str(path)):
            sf.read_voc(path)
    with pytest.raises(ValueError, match="table"):
        sf.read_voc("nowhere", table="list")  # type: ignore[arg-type]


@pytest.mark.parametrize("cut", range(0, 700, 41))
def test_a_file_cut_anywhere_is_refused_by_its_name(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path / "a.xml", entry(), entry())
    content = path.read_bytes()
    path.write_bytes(content[: cut % (len(content) - 20)])
    with pytest.raises(sf.InputError) as caught:
        sf.read_voc(path)
    assert all(problem.startswith(str(path)) for problem in caught.value.problems)


def test_boxes_are_those_of_supervision_one_pixel_on(tmp_path: Path) -> None:
    """It reads the first pixel as 0, so its boxes are as large and begin one pixel earlier."""
    sv = pytest.importorskip("supervision", reason="needs `pip install supervision`")
    written(tmp_path / "marks" / "a.xml", entry(), entry((1, 1, 500, 375), "dog"))
    (tmp_path / "images").mkdir()
    Image.new("RGB", (500, 375)).save(tmp_path / "images" / "a.jpg")
    dataset = sv.DetectionDataset.from_pascal_voc(str(tmp_path / "images"), str(tmp_path / "marks"))
    [(_, detections)] = dataset.annotations.items()
    theirs = sf.from_supervision([detections], names=dataset.classes).objects
    ours = sf.read_voc(tmp_path / "marks").objects
    assert (ours[["x", "y"]] - 1).to_numpy().tolist() == theirs[["x", "y"]].to_numpy().tolist()
    assert ours[["w", "h"]].to_numpy().tolist() == theirs[["w", "h"]].to_numpy().tolist()
    assert ours["category"].tolist() == theirs["category"].tolist()
