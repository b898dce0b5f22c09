"""Detections that torchvision and supervision hold in memory."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused

CORNERS = [[10.0, 10.0, 30.0, 20.0], [0.0, 0.0, 5.0, 5.0]]
VIDEO = pd.DataFrame({"sequence": "plaza", "frame": [1, 2]})


def image(**others: Any) -> dict[str, Any]:
    return {"boxes": np.array(CORNERS), "labels": np.array([1, 2]), "scores": np.array([0.9, 0.4])} | others


def detections(**others: Any) -> SimpleNamespace:
    """An object with the attributes of supervision's Detections."""
    given = {"xyxy": np.array(CORNERS), "confidence": np.array([0.9, 0.4]), "class_id": np.array([1, 2])}
    return SimpleNamespace(**(given | {"tracker_id": None, "data": {}} | others))


def test_dicts_of_torchvision() -> None:
    empty = {"boxes": np.zeros((0, 4)), "labels": np.zeros(0, int), "scores": np.zeros(0)}
    read = sf.from_torchvision([image(), empty], names={1: "car", 2: "van"})
    assert read.objects.to_dict("list") == {
        "sequence": [1, 1],
        "frame": [1, 1],
        "object": [1, 2],
        "x": [10.0, 0.0],
        "y": [10.0, 0.0],
        "w": [20.0, 5.0],
        "h": [10.0, 5.0],
        "score": [0.9, 0.4],
        "category": ["car", "van"],
    }
    assert read.frames is not None
    assert read.frames.to_dict("list") == {"sequence": [1, 2], "frame": [1, 1]}


def test_targets_of_torchvision_have_areas_and_crowds() -> None:
    target = {"boxes": CORNERS, "labels": [1, 2], "area": [200, 25], "iscrowd": [0, 1], "image_id": 7, "masks": None}
    truth = sf.from_torchvision([target, target], VIDEO.assign(night=3))
    assert truth.objects["crowd"].tolist() == [False, True] * 2
    assert truth.objects["area"].tolist() == [200, 25] * 2
    assert truth.objects["frame"].tolist() == [1, 1, 2, 2]
    assert truth.frames is not None
    assert truth.frames["night"].tolist() == [3, 3]
    matches = sf.match(truth, sf.from_torchvision([image(), image()], VIDEO))
    assert sf.summarize(matches).loc[0, ["tp", "fp"]].tolist() == [2, 0]


def test_detections_of_supervision() -> None:
    named = detections(data={"class_name": np.array(["car", "van"])}, tracker_id=np.array([7, 3]))
    nothing = detections(xyxy=np.zeros((0, 4)), confidence=None, class_id=None, tracker_id=None)
    read = sf.from_supervision([named, nothing], VIDEO)
    assert read.objects["object"].tolist() == [7, 3]
    assert read.objects["category"].tolist() == ["car", "van"]
    assert read.objects["score"].tolist() == [0.9, 0.4]
    assert read.frames is not None
    assert len(read.frames) == 2
    by_number = sf.from_supervision([detections()])
    assert by_number.objects["category"].tolist() == [1, 2]
    assert sf.from_supervision([detections()], names=["", "car", "van"]).objects["category"].tolist() == ["car", "van"]
    bare = sf.from_supervision([detections(class_id=None, confidence=None)])
    assert bare.objects.columns.tolist() == ["sequence", "frame", "object", "x", "y", "w", "h"]


FOUR_CORNERS = np.array([[[10, 20], [50, 20], [50, 30], [10, 30]], [[100, 100], [130, 140], [122, 146], [92, 106]]])


def test_turned_boxes_of_supervision() -> None:
    turned = detections(data={"xyxyxyxy": FOUR_CORNERS})
    none = detections(xyxy=np.zeros((0, 4)), confidence=None, class_id=None)
    read = sf.from_supervision([turned, none]).objects
    assert [*read] == ["sequence", "frame", "object", "cx", "cy", "w", "h", "angle", "score", "category"]
    np.testing.assert_allclose(read[["cx", "cy", "w", "h"]], [[30, 25, 40, 10], [111, 123, 50, 10]])
    np.testing.assert_allclose(read["angle"], [0, np.degrees(np.arctan2(4, 3))])
    nothing = detections(xyxy=np.zeros((0, 4)), confidence=None, class_id=None, data={"xyxyxyxy": np.zeros((0, 4, 2))})
    assert "angle" in sf.from_supervision([nothing]).objects
    assert sf.summarize(sf.match(read, read)).loc[0, "tp"] == 2


def test_detections_of_supervision_have_areas_crowds_and_ignored_ones() -> None:
    """Its mean average precision reads these from `data`, so they count here, too."""
    told = detections(data={"area": np.array([200, 25]), "iscrowd": np.array([0, 1]), "ignore": [1, 0]})
    truth = sf.from_supervision([told])
    assert truth.objects["area"].tolist() == [200.0, 25.0]
    assert truth.objects["crowd"].tolist() == [False, True]
    assert truth.objects["ignore"].tolist() == [True, False]
    with refused(("from_supervision: detections[0].data['iscrowd']", "shape (1,)")):
        sf.from_supervision([detections(data={"iscrowd": np.array([1])})])


def test_nothing_at_all() -> None:
    for read in (sf.from_torchvision([]), sf.from_supervision([])):
        assert len(read.objects) == 0
        assert read.frames is not None
        assert len(read.frames) == 0


@pytest.mark.parametrize(
    ("item", "place"),
    [
        ({"boxes": CORNERS}, ("from_torchvision: detections[1]", "labels")),
        ([1, 2], ("from_torchvision: detections[1]", "list")),
        (image(boxes=[1, 2, 3, 4]), "from_torchvision: detections[1]['boxes']"),
        (image(boxes=[[1, 2, 3]]), "from_torchvision: detections[1]['boxes']"),
        (image(boxes=[[1, 2, 3], [1]]), "from_torchvision: detections[1]['boxes']"),
        (image(boxes=[["a"] * 4] * 2), "from_torchvision: detections[1]['boxes']"),
        (image(boxes=[[0, 0, np.nan, 1]] * 2), ("from_torchvision: detections[1]", "finite")),
        (image(boxes=[[10, 10, 5, 20]] * 2), ("from_torchvision: detections[1]", "negative")),  # x, y, w, h
        (image(labels=[1]), "from_torchvision: detections[1]['labels']"),
        (image(labels=[1, 1.5]), "from_torchvision: detections[1]['labels']"),
        (image(labels=[1, 9]), ("from_torchvision", "9")),
        (image(scores=[0.1, np.inf]), "from_torchvision: detections[1]['scores']"),
        (image(labels=[1, 2**60 + 1]), ("from_torchvision: detections[1]['labels']", "too large")),
        (image(boxes=[[-1e308, 0, 1e308, 1]] * 2), ("from_torchvision: detections[1]", "too large")),
    ],
)
def test_wrong_dicts_are_refused_with_their_position(item: Any, place: Any) -> None:
    with refused(place):
        sf.from_torchvision([image(), item], names={1: "car", 2: "van"})


@pytest.mark.parametrize(
    ("item", "place"),
    [
        (detections(xyxy=[[1, 2, 3]]), "from_supervision: detections[1].xyxy"),
        (detections(xyxy=[[0, 0, np.inf, 1]] * 2), ("from_supervision: detections[1]", "finite")),
        (detections(confidence=[0.5]), "from_supervision: detections[1].confidence"),
        (detections(confidence=None, tracker_id=[1, 2]), ("from_supervision: detections[1]", "scores")),
        (detections(tracker_id=None), ("from_supervision: detections[1]", "identities")),
        (detections(tracker_id=[3, 3]), "from_supervision: detections[1].tracker_id"),
        (detections(tracker_id=[3, -1]), "from_supervision: detections[1].tracker_id"),
        (detections(tracker_id=np.array([3, 2**60 + 1])), "from_supervision: detections[1].tracker_id"),
        (detections(tracker_id=[3, np.nan]), "from_supervision: detections[1].tracker_id"),
        (detections(class_id=None, tracker_id=[1, 2]), ("from_supervision", "classes")),
        ({"xyxy": CORNERS}, ("from_supervision: detections[1]", "dict")),
        (
            detections(tracker_id=[1, 2], data={"xyxyxyxy": FOUR_CORNERS}),
            ("from_supervision: detections[0]", "four corners"),
        ),
        (detections(data={"xyxyxyxy": FOUR_CORNERS[:1]}), "from_supervision: detections[1].data['xyxyxyxy']"),
        (detections(data={"xyxyxyxy": FOUR_CORNERS * np.nan}), "from_supervision: detections[1].data['xyxyxyxy']"),
    ],
)
def test_wrong_detections_are_refused_with_their_position(item: Any, place: Any) -> None:
    with refused(place):
        sf.from_supervision([detections(tracker_id=[1, 2]), item], VIDEO)


def test_lists_and_frames_that_do_not_fit() -> None:
    for call, place in [
        (lambda: sf.from_torchvision(image()), "from_torchvision: detections"),
        (lambda: sf.from_supervision(detections()), "from_supervision: detections"),
        (lambda: sf.from_supervision(7), "from_supervision: detections"),  # type: ignore[arg-type]
        (lambda: sf.from_torchvision([image()], VIDEO), "from_torchvision: frames"),
        (lambda: sf.from_torchvision([image()] * 2, VIDEO.assign(frame=1)), "from_torchvision: frames"),
        (lambda: sf.from_supervision([detections(tracker_id=[1, 2])]), "from_supervision"),  # of which video?
    ]:
        with refused(place):
            call()


def test_tensors_with_gradients_are_refused() -> None:
    """A stand-in for a tensor, where torch is not installed."""
    tensor = SimpleNamespace(detach=None, requires_grad=True)
    with refused(("from_torchvision: detections[0]['boxes']", "gradient")):
        sf.from_torchvision([image(boxes=tensor)])


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_other_kinds_of_tables(kind) -> None:
    pytest.importorskip(kind)
    for read in (sf.from_torchvision([image()], table=kind), sf.from_supervision([detections()], table=kind)):
        assert type(read.objects).__module__.partition(".")[0] == kind


def test_what_torchvision_detects() -> None:
    """A model of torchvision with random weights: its detections, with and without gradients, on its own types."""
    reason = "needs `pip install torchvision`"
    torch = pytest.importorskip("torch", reason=reason)
    models = pytest.importorskip("torchvision.models.detection", reason=reason)
    torch.manual_seed(0)
    model = models.fasterrcnn_mobilenet_v3_large_320_fpn(
        weights=None, weights_backbone=None, num_classes=3, box_score_thresh=0
    ).eval()
    images = [torch.rand(3, 60, 80), torch.rand(3, 60, 80)]
    with pytest.raises(sf.InputError, match="gradient"):
        sf.from_torchvision(model(images))
    with torch.no_grad():
        found = model(images)
    read = sf.from_torchvision(found, names=["__background__", "car", "van"])
    assert len(read.objects) == sum(len(item["boxes"]) for item in found) > 0
    first = found[0]["boxes"][0].double().numpy()
    assert read.objects.loc[0, ["x", "y", "w", "h"]].tolist() == [*first[:2], *(first[2:] - first[:2])]
    names = models.FasterRCNN_MobileNet_V3_Large_320_FPN_Weights.DEFAULT.meta["categories"]
    categories = sf.from_torchvision(found, names=names).objects["category"]
    assert categories.tolist() == [names[number] for item in found for number in item["labels"]]
    half = [item | {"boxes": item["boxes"].bfloat16()} for item in found]
    assert len(sf.from_torchvision(half).objects) == len(read.objects)


def test_boxes_of_torchvision_that_are_no_corners() -> None:
    """Its transforms keep boxes with the name of their form."""
    reason = "needs `pip install torchvision`"
    tv_tensors = pytest.importorskip("torchvision.tv_tensors", reason=reason)
    corners = tv_tensors.BoundingBoxes(CORNERS, format="XYXY", canvas_size=(100, 100))
    assert sf.from_torchvision([image(boxes=corners)]).objects["w"].tolist() == [20, 5]
    sizes = tv_tensors.BoundingBoxes(CORNERS, format="XYWH", canvas_size=(100, 100))
    with refused(("from_torchvision: detections[0]['boxes']", "XYWH", "torchvision.ops.box_convert")):
        sf.from_torchvision([image(boxes=sizes)])


def test_what_supervision_holds() -> None:
    """Its own Detections, filtered, with identities and names; an empty one, and those it makes of Ultralytics."""
    sv = pytest.importorskip("supervision", reason="needs `pip install supervision`")
    given = sv.Detections(
        np.array([*CORNERS, [7.0, 7.0, 9.0, 9.0]]),
        confidence=np.array([0.9, 0.8, 0.1]),
        class_id=np.array([0, 1, 0]),
        tracker_id=np.array([7, 3, -1]),
        data={"class_name": np.array(["car", "van", "car"])},
    )
    read = sf.from_supervision([given[given.tracker_id >= 0], sv.Detections.empty()], VIDEO)
    assert read.objects[["frame", "object"]].to_numpy().tolist() == [[1, 7], [1, 3]]
    assert read.objects["score"].tolist() == [0.9, 0.8]
    assert read.objects["category"].tolist() == ["car", "van"]
    torch = pytest.importorskip("torch", reason="the rest needs `pip install ultralytics`")
    results = pytest.importorskip("ultralytics.engine.results", reason="the rest needs `pip install ultralytics`")
    boxes = torch.tensor([[10, 10, 30, 20, 0.5, 1]])
    result = results.Results(np.zeros((40, 60, 3), np.uint8), "a.jpg", {0: "car", 1: "van"}, boxes=boxes)
    made = sf.from_supervision([sv.Detections.from_ultralytics(result)]).objects
    assert made[["x", "y", "w", "h", "score"]].to_numpy().tolist() == [[10, 10, 20, 10, 0.5]]
    assert made["category"].tolist() == ["van"]
