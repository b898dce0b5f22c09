"""Label Studio's JSON: percent of images, several annotations, predictions, questions, and what is wrong with it."""

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.commands import answer_here
from helpers.problems import assert_places, refused


def region(name: str = "a1", label: Any = ("Car",), box: Any = (10, 20, 50, 25), **others: Any) -> dict[str, Any]:
    value = dict(zip(("x", "y", "width", "height"), box, strict=True)) | {"rotation": 0, "rectanglelabels": list(label)}
    value |= others.pop("value", {})
    given = {"id": name, "type": "rectanglelabels", "from_name": "label", "to_name": "image", "image_rotation": 0}
    return given | {"original_width": 200, "original_height": 100, "value": value} | others


def answer(*regions: Any, **others: Any) -> dict[str, Any]:
    return {"id": 1, "result": list(regions), "was_cancelled": False, "ground_truth": False, "completed_by": 5} | others


def task(number: Any, *annotations: Any, **others: Any) -> dict[str, Any]:
    return {"id": number, "data": {"image": f"/data/upload/1/{number}.jpg"}, "annotations": list(annotations)} | others


def written(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document))
    return path


def asked(name: str, kind: str, said: Any, question: str = "state") -> dict[str, Any]:
    return {"id": name, "type": kind, "from_name": question, "value": {kind: said}}


def test_rectangles_sizes_and_questions(tmp_path: Path) -> None:
    first = answer(
        region("a1"),
        region("a2", ("Bus",), (0, 0, 100, 100)),
        asked("a1", "choices", ["hidden"]),
        asked("a2", "rating", 4, "quality"),
        asked("i", "choices", ["rain"], "weather"),
        {"type": "relation", "from_id": "a1", "to_id": "a2"},
    )
    tasks = [task(7, first), task(3, answer()), task(9), task(10, answer(was_cancelled=True))]
    tasks[0]["data"] |= {"camera": "left", "frame": 12}
    read = sf.read_label_studio(written(tmp_path / "a.json", tasks))
    assert read.objects.drop(columns=["state", "quality"]).to_dict("list") == {
        "sequence": [7, 7],
        "frame": [1, 1],
        "object": [1, 2],
        "x": [20, 0],
        "y": [20, 0],
        "w": [100, 200],
        "h": [25, 100],
        "category": ["Car", "Bus"],
        "region": ["a1", "a2"],
    }
    assert read.objects["state"].tolist()[0] == "hidden"
    assert read.objects["quality"].tolist()[1] == 4
    assert read.frames is not None
    assert read.frames["sequence"].tolist() == [7, 3]
    assert read.frames.loc[0].to_dict() == {
        "sequence": 7, "frame": 1, "width": 200, "height": 100, "file_name": "/data/upload/1/7.jpg", "camera": "left",
        "attribute_frame": 12, "weather": "rain",
    }  # fmt: skip
    assert read.frames.loc[1, ["width", "weather"]].isna().all()


def test_several_annotations(tmp_path: Path) -> None:
    mine = answer(region(box=(0, 0, 1, 1)), completed_by={"id": 8, "email": "a@b.c"})
    path = written(tmp_path / "a.json", [task(1, answer(region()), mine), task(2, answer(region()))])
    with refused((f"{path}: [0]", "annotator=")):
        sf.read_label_studio(path)
    assert sf.read_label_studio(path, annotator=5).objects["w"].tolist() == [100, 100]
    for annotator in (8, "a@b.c"):
        read = sf.read_label_studio(path, annotator=annotator)
        assert read.objects["w"].tolist() == [2]
        assert read.frames is not None
        assert len(read.frames) == 1
    path = written(tmp_path / "a.json", [task(1, answer(region()), mine | {"ground_truth": True})])
    assert sf.read_label_studio(path).objects["w"].tolist() == [2]
    old = task(1) | {"annotations": None, "completions": [answer(region())]}
    assert len(sf.read_label_studio(written(tmp_path / "a.json", [old])).objects) == 1


def test_predictions(tmp_path: Path) -> None:
    first = {"result": [region(score=0.25), region("b")], "score": 0.5, "model_version": "one"}
    tasks = [task(1, answer(region()), predictions=[first]), task(2, answer(), predictions=[{"result": []}])]
    path = written(tmp_path / "a.json", tasks)
    found = sf.read_label_studio(path, True)
    assert found.objects["score"].tolist() == [0.25, 0.5]
    assert sf.summarize(sf.match(sf.read_label_studio(path), found))[["tp", "fn", "fp"]].to_numpy().tolist() == [
        [1, 0, 1]
    ]
    tasks[0]["predictions"].append(first | {"model_version": "two", "result": []})
    path = written(tmp_path / "a.json", tasks)
    with refused((f"{path}: [0]", "model_version=")):
        sf.read_label_studio(path, True)
    assert len(sf.read_label_studio(path, True, model_version="one").objects) == 2


def test_labels_of_their_own(tmp_path: Path) -> None:
    """A control of rectangles and one of labels give two results with the same id."""
    value = {"x": 10, "y": 20, "width": 50, "height": 25, "rotation": 0}
    sizes = {"original_width": 200, "original_height": 100}
    plain = {"id": "a", "type": "rectangle", "value": value} | sizes
    path = written(tmp_path / "a.json", [task(1, answer(plain, asked("a", "labels", ["Car"])))])
    assert sf.read_label_studio(path).objects["category"].tolist() == ["Car"]
    both = {"id": "a", "type": "labels", "value": value | {"labels": ["Bus"]}} | sizes
    for told in ([plain, both], [both, plain], [both]):
        path = written(tmp_path / "a.json", [task(1, answer(*told))])
        assert sf.read_label_studio(path).objects["category"].tolist() == ["Bus"]
    path = written(tmp_path / "a.json", [task(1, answer(plain))])
    assert "category" not in sf.read_label_studio(path).objects


def test_json_min(tmp_path: Path) -> None:
    value = {"x": 10, "y": 20, "width": 50, "height": 25, "rotation": 0, "rectanglelabels": ["Car"]}
    value |= {"original_width": 200, "original_height": 100}
    row = {"image": "/1.jpg", "id": 7, "label": [value], "annotator": 1, "annotation_id": 3, "lead_time": 1.5}
    read = sf.read_label_studio(
        written(tmp_path / "a.json", [row, {"image": "/2.jpg", "id": 8, "annotator": 1, "annotation_id": 4}])
    )
    assert read.objects[["sequence", "x", "w", "category"]].to_numpy().tolist() == [[7, 20, 100, "Car"]]
    assert read.frames is not None
    assert read.frames["file_name"].tolist() == ["/1.jpg", "/2.jpg"]


def test_packed_files_commands_and_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "a.json", [task("t", answer(region()))])
    plain = sf.read_label_studio(path)
    assert plain.objects["sequence"].tolist() == ["t"]
    with gzip.open(tmp_path / "b.json.gz", "wb") as stream:
        stream.write(b"\xef\xbb\xbf" + path.read_bytes())
    pd.testing.assert_frame_equal(sf.read(tmp_path / "b.json.gz").objects, plain.objects)
    assert answer_here("score", path, tmp_path / "b.json.gz")["f1"] == 1
    assert "read_label_studio" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "place", "named"),
    [
        (region(value={"rotation": 30}), ".rotation", "turned"),
        (region(image_rotation=90), ".image_rotation", "turned"),
        (region(type="polygonlabels", value={"points": [[1, 2]]}), "", "rectangle"),
        (region(type="videorectangle"), "", "rectangle"),
        ({"id": "a", "type": "brushlabels", "value": {"rle": [1]}}, "", "rectangle"),
        ({"id": "a"}, "", "rectangle"),
        (region(original_width=None), "", "original_width"),
        (region(original_height=0), "", "original_width"),
        (region(box=(10, 20, -5, 5)), ".value", "negative"),
        (region(box=("x", 20, 5, 5)), ".value.x", "'x'"),
        (region(box=(1e300, 20, 5, 5)), ".value.x", "1e+300"),
        (region(box=(None, 20, 5, 5)), ".value.x", "None"),
        (region(label=("Car", "Bus")), "", "one is needed"),
        (region(score="high"), ".score", "str"),
        (7, "", "int"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, wrong: Any, place: str, named: str) -> None:
    path = written(tmp_path / "a.json", [task(1, answer(region())), task(2, answer(region(), wrong))])
    with pytest.raises(sf.InputError) as caught:
        sf.read_label_studio(path)
    where = f"{path}: [1].annotations[0].result[1]" if named in ("str", "int") else f"{path}: [1].result[1]"
    assert_places(caught.value.problems, f"{where}{place}")
    assert named in caught.value.problems[0]
    assert len(caught.value.problems[0]) < len(str(path)) + 300


def test_all_or_none(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", [task(1, answer(region(), region("b", ())))])
    with refused((str(path), "label")):
        sf.read_label_studio(path)
    found = {"result": [region(), region("b", score=0.5)]}
    path = written(tmp_path / "a.json", [task(1, predictions=[found])])
    with refused((str(path), "score")):
        sf.read_label_studio(path, True)
    path = written(tmp_path / "a.json", [task(1, answer()), task(1, answer())])
    with refused(f"{path}: frames: 2 rows"):
        sf.read_label_studio(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"3", b"[", b"[[]]", b"\0", b"[" * 100_000, b'[{"data": ' * 5000, b'[{"data": {}, "id": 1.5}]',
     b'[{"data": {}, "annotations": [1]}]', b'[{"data": {"a": "\xff"}}]'],
)  # fmt: skip
def test_other_files_are_refused_by_their_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(sf.InputError) as caught:
        sf.read_label_studio(path)
    assert all(problem.startswith(f"{path}: ") for problem in caught.value.problems), caught.value


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with refused(str(tmp_path / "no.json")):
        sf.read_label_studio(tmp_path / "no.json")
    assert len(sf.read_label_studio(written(tmp_path / "a.json", [])).objects) == 0


def test_boxes_are_those_of_label_studios_own_converter(tmp_path: Path) -> None:
    converter = pytest.importorskip("label_studio_sdk.converter", reason="needs `pip install label-studio-sdk`")
    boxes = [(10.3, 20.7, 50.1, 25.9), (0, 0, 100, 100), (33.3, 66.6, 11.1, 22.2)]
    regions = [region(f"a{row}", ("Car", "Bus")[row % 2 :][:1], box) for row, box in enumerate(boxes)]
    path = written(tmp_path / "a.json", [task(7, answer(*regions[:2])), task(3, answer(regions[2]))])
    labels = "".join(f'<Label value="{name}"/>' for name in ("Car", "Bus"))
    config = (
        f'<Image name="image" value="$image"/><RectangleLabels name="label" toName="image">{labels}</RectangleLabels>'
    )
    made = converter.Converter(f"<View>{config}</View>", str(tmp_path))
    made.convert_to_coco(str(path), str(tmp_path / "coco"), is_dir=False)
    written_by_it = json.loads((tmp_path / "coco" / "result.json").read_text())
    names = {one["id"]: one["name"] for one in written_by_it["categories"]}
    ours = sf.read_label_studio(path).objects
    assert ours[["x", "y", "w", "h"]].to_numpy().tolist() == [one["bbox"] for one in written_by_it["annotations"]]
    assert ours["category"].tolist() == [names[one["category_id"]] for one in written_by_it["annotations"]]
