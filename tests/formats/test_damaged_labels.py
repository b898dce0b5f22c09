"""Files of annotation with random damage: a reader gives tables that are right, or says what is wrong."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import spotgeo_frames as sf
from spotgeo_frames.formats import known_format
from spotgeo_frames.tables import checks

KITTI = "Car 0.00 1 -1.57 10.5 20 40.5 35 1.5 1.6 3.9 1.8 1.5 8.4 -1.56\n"
KITTI += "DontCare -1 -1 -10 5 6 7 8 -1 -1 -1 -1000 -1000 -1000 -10\n"
BOX = {"x": 1, "y": 2, "width": 3, "height": 4}
CORNERS = {"x1": 1, "y1": 2, "x2": 3, "y2": 4}
SIZES = {"original_width": 100, "original_height": 50}
REGION = {"id": "a", "type": "rectanglelabels", "value": BOX | {"rotation": 0, "rectanglelabels": ["Car"]}} | SIZES
DETECTION = {
    "label": "car",
    "bounding_box": [0.1, 0.2, 0.3, 0.4],
    "confidence": 0.5,
    "attributes": {"o": {"value": True}},
}

# A sound file of each format: its name and content.
FILES: dict[str, tuple[str, Any]] = {
    "kitti": ("0.txt", KITTI),
    "kitti videos": ("0.txt", "".join(f"0 {at} {line}\n" for at, line in enumerate(KITTI.splitlines()))),
    "voc": (
        "a.xml",
        "<annotation><filename>a.jpg</filename><size><width>5</width><height>3</height></size><object><name>b</name>"
        "<pose>Left</pose><difficult>1</difficult><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax>"
        "</bndbox></object></annotation>",
    ),
    "visdrone": ("a.txt", "684,8,273,116,0,0,0,0\n406,119,265,70,1,4,0,1,\n"),
    "visdrone videos": ("a.txt", "1,0,593,43,174,190,0,0,0,0\n1,7,99,50,20,30,1,1,0,2\n"),
    "dota": ("a.txt", "imagesource:GoogleEarth\ngsd:0.1\n10 20 50 20 50 30 10 30 ship 0\n1 2 3 2 3 4 1 4 plane 1\n"),
    "dota results": ("Task1_ship.txt", "P1 0.9 10 20 50 20 50 30 10 30\nP2 0.5 1 2 3 2 3 4 1 4\n"),
    "uavdt": ("M1_gt_whole.txt", "1,1,141,147,106,45,1,1,1\n1,2,10,10,20,20,3,4,3\n"),
    "bdd100k": (
        "a.json",
        [
            {"name": "a.jpg", "videoName": "v", "frameIndex": 1, "attributes": {"weather": "rain"}}
            | {"labels": [{"id": "1", "category": "car", "attributes": {"crowd": False}, "box2d": CORNERS}]}
        ],
    ),
    "open_images": ("a.csv", "ImageID,LabelName,Score,XMin,XMax,YMin,YMax\n000a,/m/1,1,0.25,0.75,0.5,1\n"),
    "label_studio": ("a.json", [{"id": 1, "data": {"image": "a"}, "annotations": [{"result": [REGION]}]}]),
    "label_studio min": (
        "a.json",
        [{"image": "a", "id": 1, "label": [REGION["value"] | SIZES], "annotator": 1, "annotation_id": 2}],
    ),
    "via": (
        "a.json",
        {
            "a1": {
                "filename": "a.jpg",
                "regions": [{"shape_attributes": BOX | {"name": "rect"}, "region_attributes": {"b": "c"}}],
            }
        },
    ),
    "fiftyone": (
        "samples.json",
        {
            "samples": [
                {"filepath": "a.jpg", "metadata": {"width": 9, "height": 9}, "tags": ["x"]}
                | {"gt": {"_cls": "Detections", "detections": [DETECTION]}}
            ]
        },
    ),
}

# What damage puts into text, and in the place of values.
PIECES = [
    b"-1",
    b"nan",
    b"1e999",
    b"null",
    b"[]",
    b"{}",
    b"9" * 40,
    b"\0",
    b"\xff",
    b",",
    b" ",
    b"\n",
    b"1e300",
    b"<a>",
    b"\r",
]
VALUES = [None, True, -1, 1.5, 1e300, 10**40, "", "x", "\0", [], {}, [1], {"a": 1}, [[[]]], "9" * 50, "../..", "/", "."]
N_DAMAGES = 150


def places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Every value of a document, as what holds it and its key."""
    for key, value in [*document.items()] if isinstance(document, dict) else [*enumerate(document)]:
        yield document, key
        if isinstance(value, dict | list):
            yield from places(value)


def damaged(content: Any, chance: random.Random) -> bytes:
    """A file with one to three damages, of values or of bytes."""
    if not isinstance(content, str) and chance.random() < 0.7:
        document = json.loads(json.dumps(content))
        for _ in range(chance.randint(1, 3)):
            holder, key = chance.choice([*places([document])])
            if chance.random() < 0.2 and holder is not document:
                continue
            holder[key] = chance.choice(VALUES)
        return json.dumps(document).encode()
    text = bytearray((content if isinstance(content, str) else json.dumps(content)).encode())
    for _ in range(chance.randint(1, 3)):
        start = chance.randrange(len(text) + 1)
        text[start : start + chance.choice([0, 1, 3, 10])] = chance.choice(PIECES)
    return bytes(text)


@pytest.mark.parametrize("case", FILES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_damage_is_told_or_harmless(tmp_path: Path, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, content = FILES[case]
    path, chance = tmp_path / name, random.Random(case)
    reader = getattr(sf, f"read_{case.split()[0]}")
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    assert known_format(path) == case.split()[0]
    assert len(reader(path).objects)
    n_refused, unnamed = 0, list[str]()
    for _ in range(N_DAMAGES):
        path.write_bytes(damaged(content, chance))
        for read in (reader, sf.read):
            try:
                side = read(path)
            except sf.InputError as error:
                n_refused += 1
                unnamed += [problem for problem in error.problems if str(path) not in problem]
            else:
                checks.check_objects(side.objects, "read")
                if side.frames is not None:
                    checks.check_frames(side.frames, "read")
    assert n_refused
    assert unnamed == []
    capsys.readouterr()
