"""FiftyOne's exports and open datasets. FiftyOne needs a database, so a stand-in gives samples as its own do."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.commands import answer_here
from helpers.problems import assert_places, refused


def detection(box: Any = (0.1, 0.2, 0.5, 0.25), label: Any = "car", **others: Any) -> dict[str, Any]:
    own = {"_id": {"$oid": "1"}, "_cls": "Detection", "attributes": {}, "tags": [], "mask": None}
    return own | {"label": label, "bounding_box": list(box) if isinstance(box, tuple) else box} | others


def sample(path: str = "data/a.jpg", *detections: Any, field: str = "ground_truth", **others: Any) -> dict[str, Any]:
    metadata = {"_cls": "ImageMetadata", "size_bytes": 1, "width": 200, "height": 100, "num_channels": 3}
    own = {
        "_id": {"$oid": path},
        "filepath": path,
        "tags": [],
        "metadata": metadata,
        "_media_type": "image",
        "_rand": 0.5,
    }
    return own | {field: {"_cls": "Detections", "detections": list(detections)}} | others


def exported(folder: Path, *samples: Any, frames: list[Any] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "samples.json").write_text(json.dumps({"samples": list(samples)}))
    (folder / "metadata.json").write_text(json.dumps({"name": "mine", "media_type": "image", "sample_fields": []}))
    if frames is not None:
        (folder / "frames.json").write_text(json.dumps({"frames": frames}))
    return folder


class Sample:
    """What a sample of FiftyOne offers."""

    def __init__(self, fields: dict[str, Any]):
        self._fields = fields

    def to_dict(self, include_frames: bool = False) -> dict[str, Any]:
        kept = {key: value for key, value in self._fields.items() if not key.startswith("_")}
        return kept if include_frames else {key: value for key, value in kept.items() if key != "frames"}


class Dataset:
    """What a dataset or a view of FiftyOne offers."""

    name = "mine"

    def __init__(self, *samples: dict[str, Any], broken: bool = False):
        self._samples = samples
        self._broken = broken

    def iter_samples(self) -> Iterator[Sample]:
        yield from map(Sample, self._samples)
        if self._broken:
            raise OSError("the database is gone")


def test_images(tmp_path: Path) -> None:
    older = {"occluded": {"_cls": "BooleanAttribute", "value": True}}
    first = sample(
        "data/b/1.jpg", detection(attributes=older), detection((0, 0, 1, 1), "bus", iscrowd=1, area=7, size="big")
    )
    first |= {"tags": ["train", "night"], "weather": "rain", "frame": 3, "_private": 1, "uniqueness": None}
    empty = sample("data/c/1.jpg") | {"ground_truth": None}
    for source in (exported(tmp_path / "a", first, empty), tmp_path / "a" / "samples.json", Dataset(first, empty)):
        read = sf.read_fiftyone(source)
        assert read.objects[
            ["sequence", "frame", "object", "x", "y", "w", "h", "category", "crowd"]
        ].to_numpy().tolist() == [
            ["b/1", 1, 1, 20, 20, 100, 25, "car", False],
            ["b/1", 1, 2, 0, 0, 200, 100, "bus", True],
        ]
        assert read.objects["occluded"].tolist() == [True, pd.NA]
        assert read.objects["size"].tolist()[1] == "big"
        assert read.objects["attribute_area"].tolist()[1] == 7
        assert read.frames is not None
        assert read.frames["sequence"].tolist() == ["b/1", "c/1"]
        assert read.frames.loc[0].drop("sequence").to_dict() == {
            "frame": 1, "width": 200, "height": 100, "file_name": "data/b/1.jpg", "tags": "train, night",
            "weather": "rain", "attribute_frame": 3,
        }  # fmt: skip


def test_fields_and_scores(tmp_path: Path) -> None:
    both = sample("/x/a.jpg", detection()) | {
        "predictions": {
            "_cls": "Detections",
            "detections": [detection(confidence=0.5), detection((0, 0, 0.1, 0.1), confidence=0.25)],
        }
    }
    folder = exported(tmp_path / "a", both)
    with refused((str(folder / "samples.json"), "ground_truth", "predictions", "field=")):
        sf.read_fiftyone(folder)
    with refused((str(folder / "samples.json"), "'other'")):
        sf.read_fiftyone(folder, "other")
    truth, found = (sf.read_fiftyone(folder, name) for name in ("ground_truth", "predictions"))
    assert found.objects["score"].tolist() == [0.5, 0.25]
    assert sf.summarize(sf.match(truth, found))[["tp", "fn", "fp"]].to_numpy().tolist() == [[1, 0, 1]]
    single = sample(field="x") | {"x": detection()}
    assert len(sf.read_fiftyone(exported(tmp_path / "b", single)).objects) == 1


def video(*frames: dict[str, Any], total: Any = 3) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    metadata = {"_cls": "VideoMetadata", "frame_width": 200, "frame_height": 100, "total_frame_count": total}
    own = {"_id": {"$oid": "7"}, "filepath": "data/v.mp4", "metadata": metadata, "_media_type": "video"}
    return own, [{"_sample_id": {"$oid": "7"}} | frame for frame in frames]


def in_frame(number: int, *detections: Any) -> dict[str, Any]:
    return {"frame_number": number, "found": {"_cls": "Detections", "detections": list(detections)}}


def test_videos(tmp_path: Path) -> None:
    own, frames = video(in_frame(2, detection(index=5)), in_frame(1, detection(index=5), detection(index=4)))
    opened = own | {"media_type": "video", "frames": {str(one["frame_number"]): one for one in frames}}
    for source in (exported(tmp_path / "a", own, frames=frames), Dataset(opened)):
        read = sf.read_fiftyone(source)
        assert sf.read_fiftyone(source, "frames.found").objects.equals(read.objects)  # as FiftyOne calls it
        assert read.objects[["sequence", "frame", "object"]].to_numpy().tolist() == [
            ["v", 1, 5],
            ["v", 1, 4],
            ["v", 2, 5],
        ]
        assert read.frames is not None
        assert read.frames[["frame", "width"]].to_numpy().tolist() == [[1, 200], [2, 200], [3, 200]]
    assert sf.track(read, read).summary["HOTA"].tolist() == [1, 1]
    own, frames = video(in_frame(5, detection(index=5), detection()), total=None)
    read = sf.read_fiftyone(exported(tmp_path / "a", own, frames=frames))
    assert read.objects[["frame", "object"]].to_numpy().tolist() == [[5, 1], [5, 2]]
    assert read.frames is not None
    assert read.frames["frame"].tolist() == [5]


def test_an_archive_commands_and_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = exported(tmp_path / "a" / "export", sample("data/a.jpg", detection()))
    plain = sf.read_fiftyone(folder)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("samples.json", "metadata.json"):
            archive.write(folder / name, f"export/{name}")
    for path in (folder, tmp_path / "a", tmp_path / "a.zip"):
        pd.testing.assert_frame_equal(sf.read_fiftyone(path).objects, plain.objects)
        pd.testing.assert_frame_equal(sf.read(path).objects, plain.objects)
        assert answer_here("score", path, folder)["f1"] == 1
    assert capsys.readouterr().out.count("read_fiftyone") == 3


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (detection((0.1, 0.2, -0.5, 0.25)), "negative"),
        (detection((0.1, 0.2, 0.5)), "bounding_box"),
        (detection(None), "bounding_box"),
        (detection(("x", 0.2, 0.5, 0.25)), "bounding_box"),
        (detection((1e300, 0.2, 0.5, 0.25)), "bounding_box"),
        (detection(label=None), "label"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, wrong: Any, named: str) -> None:
    folder = exported(tmp_path / "a", sample("a.jpg"), sample("b.jpg", detection(), wrong))
    with pytest.raises(sf.InputError) as caught:
        sf.read_fiftyone(folder)
    assert_places(caught.value.problems, f"{folder / 'samples.json'}: samples[1].ground_truth[1]")
    assert named in caught.value.problems[0]
    with pytest.raises(sf.InputError) as caught:
        sf.read_fiftyone(Dataset(sample("a.jpg"), sample("b.jpg", detection(), wrong)))
    assert_places(caught.value.problems, "dataset mine: sample 1.ground_truth[1]")


def test_other_damage(tmp_path: Path) -> None:
    samples = tmp_path / "a" / "samples.json"
    cases: list[tuple[Any, str]] = [
        (sample() | {"filepath": None}, "filepath"),
        (sample("a.jpg", detection()) | {"metadata": None}, "compute_metadata"),
        (sample("a.jpg", detection(confidence=1), detection()), "confidence"),
        (sample("a.jpg") | {"ground_truth": {"_cls": "Detections", "detections": 3}}, "list"),
        (sample("a.jpg") | {"frames": "frames/a.json"}, "another file"),
    ]
    for one, named in cases:
        exported(tmp_path / "a", one)
        with pytest.raises(sf.InputError) as caught:
            sf.read_fiftyone(tmp_path / "a")
        assert all(problem.startswith(str(samples)) for problem in caught.value.problems)
        assert named in str(caught.value)
    exported(tmp_path / "a", sample("a.jpg", detection()), sample("b.jpg") | {"ground_truth": {"_cls": "Polylines"}})
    with refused(f"{samples}: samples[1].ground_truth"):
        sf.read_fiftyone(tmp_path / "a")
    exported(tmp_path / "a", sample("a.jpg"), sample("a.png"))
    with refused(f"{samples}: frames: 2 rows"):
        sf.read_fiftyone(tmp_path / "a")
    for number in (10**15, "x", None, 0):
        own, frames = video(in_frame(number))  # type: ignore[arg-type]
        exported(tmp_path / "v", own, frames=frames)
        with pytest.raises(sf.InputError) as caught:
            sf.read_fiftyone(tmp_path / "v")
        assert str(tmp_path / "v") in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b'{"samples": 3}', b'{"samples": [3]}', b'{"samples": ' + b"[" * 100_000, b"\0",
                b'{"classes": [], "labels": {}}', b'{"samples": [{"a": "\xff"}]}'],
)  # fmt: skip
def test_other_files_are_refused_by_their_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "samples.json"
    path.write_bytes(content)
    with pytest.raises(sf.InputError) as caught:
        sf.read_fiftyone(tmp_path)
    assert all(problem.startswith(f"{path}: ") for problem in caught.value.problems), caught.value


def test_what_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no"):
        with refused(str(path)):
            sf.read_fiftyone(path)
    with refused("read_fiftyone: source"):
        sf.read_fiftyone(3)  # type: ignore[arg-type]
    with refused(("dataset mine", "database")):
        sf.read_fiftyone(Dataset(sample(), broken=True))
    assert len(sf.read_fiftyone(Dataset()).objects) == 0
