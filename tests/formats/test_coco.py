"""COCO files, and OKS as pycocotools has it."""

import copy
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

import spotgeo_frames as sf
from helpers.problems import refused
from helpers.reference import outside
from spotgeo_frames.geometries.joints import COCO_SIGMAS
from spotgeo_frames.geometries.poses import whole_poses
from spotgeo_frames.matching.alignment import align
from spotgeo_frames.matching.rule import Rule
from spotgeo_frames.support import documents
from spotgeo_frames.tables import as_side_columns

JOINTS = list(COCO_SIGMAS)


def keypoints(x: float, y: float, third: float = 2, n: int = 17) -> list[float]:
    """Joints in a row to the right of (x, y), ten pixels apart."""
    return [number for joint in range(n) for number in (x + 10 * joint, y, third)]


def annotation(number: int, image: int, points: list[float], **others: Any) -> dict[str, Any]:
    box = [min(points[::3]), min(points[1::3]), 160, 40]
    fields = {"id": number, "image_id": image, "category_id": 1, "keypoints": points, "area": 6000.0, "bbox": box}
    return fields | {"num_keypoints": sum(third > 0 for third in points[2::3]), "iscrowd": 0} | others


def result(image: int, points: list[float], score: float = 0.5, **others: Any) -> dict[str, Any]:
    return {"image_id": image, "category_id": 1, "keypoints": points, "score": score} | others


TRUTH: dict[str, Any] = {
    "images": [{"id": 7, "width": 640, "height": 480, "file_name": "7.jpg"}, {"id": 3}, {"id": 9}],
    "annotations": [
        annotation(70, 7, keypoints(100, 100)),
        annotation(71, 7, keypoints(0, 0, 0), area=900.0, bbox=[300, 300, 40, 20], iscrowd=1),
        annotation(30, 3, [*keypoints(50, 50)[:-3], 0, 0, 0]),
    ],
    "categories": [{"id": 1, "name": "person", "keypoints": JOINTS}],
}
RESULTS = [result(7, keypoints(104, 97, 0.9)), result(7, keypoints(290, 310), 0.8), result(9, keypoints(1, 1))]


def written(folder: Path, truth: Any = TRUTH, results: Any = RESULTS) -> tuple[Path, Path]:
    paths = folder / "truth.json", folder / "results.json"
    for path, document in zip(paths, (truth, results), strict=True):
        path.write_text(json.dumps(document))
    return paths


def official_oks(truth: dict[str, Any], results: list[dict[str, Any]]) -> dict[tuple[int, int], float]:
    """By (id of annotation, number of result), what pycocotools says."""
    coco = COCO()
    coco.dataset = copy.deepcopy(truth)
    coco.createIndex()
    evaluation = COCOeval(coco, coco.loadRes(copy.deepcopy(results)), "keypoints")
    evaluation.params.maxDets = [len(results)]
    evaluation._prepare()
    answer = {}
    for image in truth["images"]:
        found = list(evaluation._dts[image["id"], 1])
        order = np.argsort([-one["score"] for one in found], kind="mergesort")
        table = evaluation.computeOks(image["id"], 1)
        for row, position in zip(table, order, strict=False):
            for annotated, value in zip(evaluation._gts[image["id"], 1], row, strict=True):
                answer[annotated["id"], found[position]["id"]] = value
    return answer


def our_oks(truth: sf.Annotations, predictions: sf.Annotations) -> dict[tuple[int, int], float]:
    """The same by ours, of the pairs of an image whose similarity is above 0."""
    poses = whole_poses(as_side_columns(truth, "truth"), as_side_columns(predictions, "predictions"), COCO_SIGMAS)
    sides = align(poses[0], poses[1])
    pairs = Rule("oks").near_pairs(sides, 0.0)
    names = sides.truth.table["object"][pairs.truth], sides.predictions.table["object"][pairs.prediction]
    return dict(zip(zip(*(name.tolist() for name in names), strict=True), pairs.measure, strict=True))


@pytest.mark.parametrize("text", ["1e-400", "1.00000000000000000001", "9007199254740993.0"])
def test_numbers_that_only_rounding_makes_whole_are_no_integers(tmp_path: Path, text: str) -> None:
    truth, results = written(tmp_path)
    results.write_text(re.sub(r'"image_id": \d+', f'"image_id": {text}', results.read_text(), count=1))
    with refused((f"{results}: [0].image_id", text, "no whole number")):
        sf.read_coco(truth, results)


def named_anew(document: Any, named: Any, keys: tuple[str, ...]) -> Any:
    """The document with other values under these keys, as `named` makes them of those that are there."""
    if isinstance(document, list):
        return [named_anew(item, named, keys) for item in document]
    if not isinstance(document, dict):
        return document
    return {
        key: named(value) if key in keys else value if key == "keypoints" else named_anew(value, named, keys)
        for key, value in document.items()
    }


IDS = ("id", "image_id", "category_id")


@pytest.mark.parametrize(
    ("named", "keys"),
    [(float, (*IDS, "iscrowd", "num_keypoints")), ("id_{:05}".format, IDS), (bool, ("iscrowd",)), (lambda _: None, ())],
    ids=["floats", "text", "flags", "as they are"],
)
def test_ids_and_flags_in_other_words(tmp_path: Path, named: Any, keys: tuple[str, ...]) -> None:
    """Whatever ids are called and however flags are written, the numbers are the same."""
    expected = sf.average_precision(*sf.read_coco(*written(tmp_path)), similarity="oks").summary
    truth, results = (named_anew(document, named, keys) for document in (TRUTH, RESULTS))
    known, found = sf.read_coco(*written(tmp_path, truth, results))
    pd.testing.assert_frame_equal(sf.average_precision(known, found, similarity="oks").summary, expected)
    names = [named(image["id"]) if "id" in keys else image["id"] for image in TRUTH["images"]]
    assert known.frames["sequence"].tolist() == names
    assert known.objects["crowd"].sum() == len(JOINTS)
    matches = sf.match(known, found, similarity="oks")
    assert {*matches["sequence"]} <= {*names}
    assert sf.read_coco(*written(tmp_path, truth, []))[1].objects["sequence"].dtype == known.frames["sequence"].dtype


def test_ids_that_do_not_fit_are_named(tmp_path: Path) -> None:
    texts, numbers = ({"image_id": "7"}, "'7'"), ({"image_id": 7}, "7")
    for changed, name in (texts, ({"image_id": "img_7"}, "'img_7'")):
        truth, results = written(tmp_path, TRUTH, [RESULTS[0] | changed])
        named = ("file_name is 7",) if changed == texts[0] else ("numbers", "such as")
        with refused((f"{results}: [0].image_id", f"there is no image {name}", *named)):
            sf.read_coco(truth, results)
    of_text = named_anew(TRUTH, str, IDS)
    truth, results = written(tmp_path, of_text, [RESULTS[0] | numbers[0] | {"category_id": "1"}])
    with refused((f"{results}: [0].image_id", "there is no image 7", "text")):
        sf.read_coco(truth, results)
    truth, results = written(tmp_path, TRUTH, [RESULTS[0], RESULTS[0] | texts[0]])
    with refused((f"{results}: [1].image_id", "'7' is text", "others are numbers")):
        sf.read_coco(truth, results)
    images = [*TRUTH["images"], {"id": 1.5}]
    truth, results = written(tmp_path, TRUTH | {"images": images})
    with refused((f"{truth}: images[3].id", "1.5 is no whole number")):
        sf.read_coco(truth, results)
    images[-1] = {"id": 3.0}
    truth, results = written(tmp_path, TRUTH | {"images": images})
    with refused((f"{truth}: images[3].id", "3 is there already")):
        sf.read_coco(truth, results)


@pytest.mark.parametrize("flag", ["yes", [1]])
def test_flags_that_are_none(tmp_path: Path, flag: Any) -> None:
    truth, results = written(tmp_path, TRUTH | {"annotations": [TRUTH["annotations"][0] | {"iscrowd": flag}]})
    with refused(f"{truth}: annotations[0].iscrowd"):
        sf.read_coco(truth, results)


def test_oks_is_pycocotools(tmp_path: Path) -> None:
    wanted = official_oks(TRUTH, RESULTS)
    ours = our_oks(*sf.read_coco(*written(tmp_path)))
    assert dict.fromkeys(wanted, 0.0) | ours == pytest.approx(wanted, rel=1e-12)
    assert set(wanted) == {(70, 1), (70, 2), (71, 1), (71, 2)}
    assert 0 < wanted[71, 2] < 1, "an annotation without a labelled joint is compared by its box"


number = st.one_of(st.integers(0, 30).map(float), st.floats(-50, 700))
poses = st.lists(st.tuples(number, number, st.integers(0, 2)), min_size=17, max_size=17)
areas = st.one_of(st.just(0.0), st.floats(1, 1e5))


@settings(max_examples=50)
@given(
    st.lists(st.tuples(poses, areas, st.booleans()), min_size=1, max_size=4), st.lists(poses, min_size=1, max_size=4)
)
def test_any_oks_is_pycocotools(annotated: list, found: list) -> None:
    annotations = []
    for position, (points, area, labelled) in enumerate(annotated):
        flat = [part for x, y, third in points for part in (x, y, third * labelled)]
        annotations.append(annotation(position + 1, 7, flat, area=area))
    truth = TRUTH | {"annotations": annotations}
    results = [result(7, [part for point in points for part in point], 1 / (k + 1)) for k, points in enumerate(found)]
    ours = our_oks(truth_table(annotations), results_table(results))
    wanted = official_oks(truth, results)
    assert dict.fromkeys(wanted, 0.0) | ours == pytest.approx(wanted, rel=1e-9, abs=1e-300)


def truth_table(annotations: list[dict[str, Any]]) -> pd.DataFrame:
    """Made without the reader: the table is what counts."""
    rows = [
        (7, 1, one["id"], joint, *one["keypoints"][3 * number : 3 * number + 3], one["area"], *one["bbox"])
        for one in annotations
        for number, joint in enumerate(JOINTS)
    ]
    names = ["sequence", "frame", "object", "joint", "x", "y", "visibility", "area", "box_x", "box_y", "box_w", "box_h"]
    return pd.DataFrame(rows, columns=names)


def results_table(results: list[dict[str, Any]]) -> pd.DataFrame:
    rows = [
        (7, 1, number + 1, joint, *one["keypoints"][3 * place : 3 * place + 2], one["score"])
        for number, one in enumerate(results)
        for place, joint in enumerate(JOINTS)
    ]
    return pd.DataFrame(rows, columns=["sequence", "frame", "object", "joint", "x", "y", "score"])


def test_expected_oks() -> None:
    folder = outside("COCO_DATA", "coco_keypoints")
    expected = json.loads((folder / "expected_oks.json").read_text())["oks"]
    ours = our_oks(*sf.read_coco(folder / "gt.json", folder / "dt.json"))
    for _, result_id, annotation_id, oks in expected:
        assert ours.get((annotation_id, result_id), 0.0) == pytest.approx(oks, rel=1e-9, abs=1e-9)


def test_keypoints_read(tmp_path: Path) -> None:
    truth, predictions = sf.read_coco(*written(tmp_path))
    assert truth.frames["sequence"].tolist() == [7, 3, 9]
    assert truth.objects.shape == (51, 15)
    first = truth.objects.iloc[0]
    assert first[["sequence", "frame", "object", "joint", "x", "y", "visibility"]].tolist() == [
        7,
        1,
        70,
        "nose",
        100,
        100,
        2,
    ]
    assert first[["category", "area", "crowd", "box_w"]].tolist() == ["person", 6000, False, 160]
    last = predictions.objects.iloc[-1]
    assert last[["sequence", "object", "joint", "x", "score"]].tolist() == [9, 3, "right_ankle", 161, 0.5]
    assert predictions.objects["joint_score"].iloc[0] == 0.9


def test_boxes_read(tmp_path: Path) -> None:
    results = [result(7, [], bbox=[102, 101, 150, 40]), result(3, [], bbox=[0, 0, 9, 9])]
    truth, predictions = sf.read_coco(*written(tmp_path, results=results), boxes=True)
    assert truth.objects[["object", "x", "y", "w", "h"]].iloc[1].tolist() == [71, 300, 300, 40, 20]
    matches = sf.match(truth, predictions, similarity="iou")
    assert matches["outcome"].tolist() == ["FN", "FP", "TP", "empty"], "a crowd is not missed"
    assert "joint" not in matches


def test_packed_files_are_read(tmp_path: Path) -> None:
    truth, results = written(tmp_path)
    packed = tmp_path / "truth.json.gz"
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + truth.read_bytes()))
    pd.testing.assert_frame_equal(sf.read_coco(packed, results)[0].objects, sf.read_coco(truth, results)[0].objects)


def test_poses_match_as_wholes(tmp_path: Path) -> None:
    one_by_one = copy.deepcopy(TRUTH)
    one_by_one["annotations"][1]["iscrowd"] = 0
    matches = sf.match(*sf.read_coco(*written(tmp_path, one_by_one)), similarity="oks", threshold=0.3)
    rows = matches[["sequence", "outcome", "truth_object", "predicted_object"]].astype("object")
    assert rows.where(rows.notna(), None).to_numpy().tolist() == [
        [3, "FN", 30, None],
        [7, "TP", 70, 1],
        [7, "TP", 71, 2],
        [9, "FP", None, 3],
    ]
    assert matches["truth_x"].tolist()[1:3] == [100, 300], "the box of a pose"
    assert matches["predicted_w"].iloc[1] == 160, "around its joints where nobody told"
    assert matches["predicted_score"].tolist()[1] == 0.5
    assert matches.attrs["rule"] == "oks"
    with_crowd = sf.match(*sf.read_coco(*written(tmp_path)), similarity="oks", threshold=0.3)
    assert with_crowd["outcome"].tolist() == ["FN", "TP", "FP"], "the crowd 71 explains the result 2"
    assert sf.summarize(matches)["loc_a"].iloc[0] == pytest.approx(matches["similarity"].mean())


def test_joints_match_one_by_one(tmp_path: Path) -> None:
    """What is not labelled is not there: nobody misses it, and nothing matches it."""
    matches = sf.match(*sf.read_coco(*written(tmp_path)), tau=6)
    by_joint = sf.summarize(matches, by="joint").set_index("joint")
    assert by_joint.loc["nose", ["tp", "fn", "fp"]].tolist() == [1, 1, 2]
    assert by_joint.loc["right_ankle", ["tp", "fn", "fp"]].tolist() == [1, 0, 2]
    assert by_joint["mean_distance"].unique().tolist() == [5]


def test_joints_of_ones_own() -> None:
    """Two joints of a kind COCO does not know, and a prediction that lacks one of them."""
    key = {"sequence": 1, "frame": 1, "object": 1}
    truth = pd.DataFrame(
        [key | {"joint": j, "x": x, "y": 0.0, "area": 100.0} for j, x in (("fin", 0.0), ("tail", 9.0))]
    )
    predictions = truth.drop(columns="area").head(1)
    matches = sf.match(truth, predictions, similarity="oks", sigmas={"fin": 0.1, "tail": 0.2})
    assert matches["similarity"].tolist() == [0.5]
    pd.testing.assert_frame_equal(sf.match(truth, predictions, sigmas={"fin": 0.1, "tail": 0.2}), matches)
    with refused(("truth", "fin, tail", "sigmas="), ("predictions", "fin", "sigmas=")):
        sf.match(truth, predictions, similarity="oks")
    with refused("truth: column area"):
        sf.match(predictions, predictions, similarity="oks", sigmas={"fin": 0.1})
    with refused(("sigmas", "above 0"), error=ValueError):
        sf.match(truth, predictions, similarity="oks", sigmas={"fin": 0.1, "tail": 0.0})
    for similarity in ("iou", "point", lambda truth, predictions: 1.0):
        with refused(("sigmas", "similarity='oks'"), error=ValueError):
            sf.match(truth, predictions, similarity=similarity, sigmas={"fin": 0.1})
    with refused(("tau", "'oks'"), error=ValueError):
        sf.match(truth, predictions, tau=5, sigmas={"fin": 0.1})
    sigmas = {"fin": 0.1, "tail": 0.2}
    with refused(("truth: column area", "1 object", "sequence 1, frame 1, object 1")):
        sf.match(truth.assign(area=[1.0, 2.0]), predictions, similarity="oks", sigmas=sigmas)
    for area in ([-1.0, 1.0], [np.nan, 1.0]):
        with refused(("truth: column area", "1 row", "sequence 1, frame 1, object 1, joint fin")):
            sf.match(truth.assign(area=area), predictions, similarity="oks", sigmas=sigmas)
    with refused(("sigmas", "list", "dict"), error=ValueError):
        sf.match(truth, predictions, similarity="oks", sigmas=[0.1, 0.2])
    with refused(("similarity", "'OKS'", "'iou', 'oks', 'point', 'boundary_iou'"), error=ValueError):
        sf.match(truth, predictions, similarity="OKS", sigmas=None)
    with refused(("truth: column box_x", "str")):
        sf.match(truth.assign(box_x="a"), predictions, similarity="oks", sigmas=sigmas)
    with refused(("truth: column visibility", "str")):
        sf.match(truth.assign(visibility="a"), predictions)
    lists = sf.match(truth.assign(note=[[1], [2]]), predictions, similarity="oks", sigmas=sigmas)
    assert lists["truth_note"].isna().all(), "who can say whether they are the same"
    far = truth.assign(x=[1e149, -1e149])
    assert sf.match(far, truth, similarity="oks", sigmas=sigmas)["outcome"].tolist() == ["FN", "FP"]
    unlabelled = truth.assign(visibility=[2, -1], x=[0.0, 50.0])
    assert sf.match(unlabelled, truth, similarity="oks", sigmas=sigmas)["similarity"].tolist() == [1.0]
    whole = truth.drop(columns="joint").head(1)
    with refused("truth: column joint", "predictions: column joint"):
        sf.match(whole, whole, similarity="oks")


def changed(document: Any, path: list[Any], value: Any) -> Any:
    """A copy in which what the path leads to is another."""
    copied = copy.deepcopy(document)
    inner = copied
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return copied


@pytest.mark.parametrize(
    ("path", "value", "place", "named"),
    [
        (["annotations", 1, "keypoints"], keypoints(0, 0)[:50], "annotations[1].keypoints", ("50", "51")),
        (["annotations", 1, "keypoints", 3], "x", "annotations[1].keypoints[3]", ("float", "str")),
        (["annotations", 0, "image_id"], 8, "annotations[0].image_id", ("image 8",)),
        (["annotations", 0, "category_id"], 2, "annotations[0].category_id", ("category 2",)),
        (["annotations", 1, "id"], 70, "annotations[1].id", ("70", "[0]")),
        (["annotations", 2, "bbox"], [1, 2, 3], "annotations[2].bbox", ("3", "4")),
        (["annotations", 0, "keypoints"], None, "annotations[0]", ("keypoints", "boxes=True")),
        (["images", 0, "id"], 1 << 60, "images[0].id", (str(1 << 53),)),
        (["categories", 0, "keypoints", 1], "nose", "categories[0].keypoints", ("twice",)),
        (["categories"], 3, "categories", ("array", "int")),
    ],
)
def test_what_is_wrong_with_truth(
    tmp_path: Path, path: list[Any], value: Any, place: str, named: tuple[str, ...]
) -> None:
    with refused((f"{tmp_path / 'truth.json'}: {place}", *named)):
        sf.read_coco(*written(tmp_path, changed(TRUTH, path, value)))


def test_an_image_twice(tmp_path: Path) -> None:
    """It takes the place of another, which the results know."""
    truth, results = written(tmp_path, changed(TRUTH, ["images", 2, "id"], 7))
    with refused((f"{truth}: images[2].id", "7", "[0]"), (f"{results}: [2].image_id", "image 9")):
        sf.read_coco(truth, results)


@pytest.mark.parametrize(
    ("path", "value", "place", "named"),
    [
        ([1, "keypoints"], keypoints(0, 0)[:50], "[1].keypoints", ("50", "51")),
        ([2, "image_id"], 8, "[2].image_id", ("image 8",)),
        ([0, "category_id"], 5, "[0].category_id", ("category 5",)),
        ([0], 5, "[0]", ("object", "int")),
    ],
)
def test_what_is_wrong_with_results(
    tmp_path: Path, path: list[Any], value: Any, place: str, named: tuple[str, ...]
) -> None:
    with refused((f"{tmp_path / 'results.json'}: {place}", *named)):
        sf.read_coco(*written(tmp_path, results=changed(RESULTS, path, value)))


def test_all_that_is_wrong_is_told(tmp_path: Path) -> None:
    changed_truth = changed(TRUTH, ["annotations", 0, "image_id"], 8)
    truth, results = written(tmp_path, changed_truth, changed(RESULTS, [0, "image_id"], 8))
    with refused((f"{truth}: annotations[0].image_id", "image 8"), (f"{results}: [0].image_id", "image 8")):
        sf.read_coco(truth, results)
    with refused((f"{truth}", "byte 12")):
        sf.read_coco(broken(tmp_path), results)
    with refused((f"{tmp_path / 'nothing.json'}", "no such file")):
        sf.read_coco(tmp_path / "nothing.json", results)


def broken(folder: Path) -> Path:
    path = folder / "truth.json"
    path.write_text('{"images": [}')
    return path


def test_nul_bytes(tmp_path: Path) -> None:
    truth, results = written(tmp_path, TRUTH | {"note": "?"})
    truth.write_bytes(truth.read_bytes().replace(b"?", b"\0"))
    with refused(f"{truth}: byte {truth.read_bytes().index(0)}"):
        sf.read_coco(truth, results)


def test_swapped_files_are_recognised(tmp_path: Path) -> None:
    truth, results = written(tmp_path)
    with refused((f"{results}", f"{truth}", "the other way round")):
        sf.read_coco(results, truth)


def test_coco_files_given_to_another_reader_are_recognised(tmp_path: Path) -> None:
    truth, results = written(tmp_path)
    for path in (truth, results):
        for read in (sf.read_spotgeo, sf.read_objects):
            with refused((f"{path}", "read_coco")):
                read(path)
        assert "read_coco" in sf.validate_spotgeo(path)["problem"].iloc[0]


def test_nothing_found(tmp_path: Path) -> None:
    truth, predictions = sf.read_coco(*written(tmp_path, results=[]))
    matches = sf.match(truth, predictions, similarity="oks")
    assert matches["outcome"].tolist() == ["FN", "FN", "empty"]
    assert sf.match(truth, predictions)["outcome"].value_counts()["FN"] == 33


def test_boxes_of_results_are_read_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '"}, {" and ]'  # where no block may end
    inner: Any = [{"a": 1}, {"b": {"c": [{}, {}]}}]
    results = [
        {"image_id": 7, "category_id": 1, "bbox": [k, 1.5, 2, 3], "score": k / 10, "note": text, "inner": inner}
        for k in range(9)
    ]
    paths = written(tmp_path, results=results)
    as_whole = sf.read_coco(*paths, boxes=True)[1].objects
    assert as_whole["object"].tolist() == [*range(1, 10)]
    for n_bytes in (1, 40, 150, 700):
        monkeypatch.setattr(documents, "BLOCK_BYTES", n_bytes)
        pd.testing.assert_frame_equal(sf.read_coco(*paths, boxes=True)[1].objects, as_whole)
    marked = b"\xef\xbb\xbf" + paths[1].read_bytes()
    paths[1].write_bytes(marked)
    packed = tmp_path / "results.json.gz"
    packed.write_bytes(gzip.compress(marked))
    for path in (paths[1], packed):
        pd.testing.assert_frame_equal(sf.read_coco(paths[0], path, boxes=True)[1].objects, as_whole)
    monkeypatch.setattr(documents, "BLOCK_BYTES", 1)
    plain = [{name: one[name] for name in ("image_id", "category_id", "bbox", "score")} for one in results]
    pd.testing.assert_frame_equal(sf.read_coco(*written(tmp_path, results=plain), boxes=True)[1].objects, as_whole)
    plain[7]["bbox"] = [1, 2, 3]
    with refused(f"{tmp_path / 'results.json'}: [7].bbox"):
        sf.read_coco(*written(tmp_path, results=plain), boxes=True)
