"""Poses: PoseTrack folders, keypoint HOTA, and poseval's MOTA and AP."""

import copy
import json
from pathlib import Path
from typing import Any

import motmetrics
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers import pose_official
from helpers.problems import refused
from helpers.reference import outside
from spotgeo_frames.geometries.joints import JOINTS, RAW_JOINTS
from spotgeo_frames.tracking.poses import HOTA_NUMBERS, POSEVAL_NUMBERS
from spotgeo_frames.tracking.track_sums import POSE_CURVES

POSEVAL_ORDER = [14, 12, 10, 9, 11, 13, 8, 6, 4, 3, 5, 7, 1, 0, 2, 15]  # of our joints and the total, in poseval's
HEAD = [0.0, 0.0, 30.0, 40.0]  # a diagonal of 50 px, so that a head has 30 px


def raw(x: float, y: float, step: float = 40) -> list[float]:
    """Seventeen joints in a row, `step` px apart; no ears."""
    return [n for k, name in enumerate(RAW_JOINTS) for n in ((0, 0, 0) if "ear" in name else (x + step * k, y, 1))]


def image(number: int, labelled: bool | int = True, *regions: list[tuple[float, float]]) -> dict[str, Any]:
    sides = {
        f"ignore_regions_{axis}": [[corner[k] for corner in region] for region in regions]
        for k, axis in enumerate("xy")
    }
    return {"id": number, "is_labeled": labelled, "file_name": f"{number}.jpg", **sides}


def truth_of(number: int, identity: int, keypoints: list[float], head: list[float] = HEAD) -> dict[str, Any]:
    return {"image_id": number, "track_id": identity, "keypoints": keypoints, "bbox_head": list(head)}


def claim(number: int, identity: int, keypoints: list[float], score: float | None = 0.5) -> dict[str, Any]:
    scores = {} if score is None else {"scores": [score] * 17}
    return {"image_id": number, "track_id": identity, "keypoints": keypoints, **scores}


def document(images: list[dict[str, Any]], annotations: list[dict[str, Any]]) -> dict[str, Any]:
    return {"images": images, "annotations": annotations, "categories": [{"name": "person", "keypoints": RAW_JOINTS}]}


Documents = dict[str, tuple[dict[str, Any], dict[str, Any]]]


def written(folder: Path, documents: Documents) -> tuple[Path, Path]:
    sides = folder / "truth", folder / "predictions"
    for number, side in enumerate(sides):
        side.mkdir(exist_ok=True, parents=True)
        for name, pair in documents.items():
            (side / f"{name}.json").write_text(json.dumps(pair[number]))
    return sides


def same(folders: tuple[Path, Path], result: sf.PoseResult | None = None) -> None:
    """`pose` against the loops, for every sequence and for all."""
    result = sf.pose(*sf.read_posetrack(*folders)) if result is None else result
    names = sorted(path.stem for path in folders[0].glob("*.json"))
    frames = [pose_official.read_frames(*(folder / f"{name}.json" for folder in folders)) for name in names]
    names, frames = (
        [name for name, some in zip(names, frames, strict=True) if some],
        [some for some in frames if some],
    )
    hota, events = ([loop(some) for some in frames] for loop in (pose_official.hota, pose_official.events))
    wanted = [(name, one, [some], [found]) for name, one, some, found in zip(names, hota, frames, events, strict=True)]
    wanted.append((None, pose_official.combined_hota(hota), frames, events))
    for name, numbers, some, found in wanted:
        of = [table["sequence"].isna() if name is None else table["sequence"] == name for table in result[:2]]
        rows, curve = result.summary[of[0]], result.curve[of[1]]
        for number in HOTA_NUMBERS:
            of = pose_official.AT_FIRST.get(number)
            value = numbers[number].mean(axis=0) if of is None else numbers[of][0]
            np.testing.assert_allclose(rows[number], value, rtol=1e-9, atol=1e-12, err_msg=f"{name} {number}")
        for number in POSE_CURVES:
            np.testing.assert_allclose(curve[number], numbers[number].T.ravel(), rtol=1e-9, atol=1e-12)
        for count in ("TP", "FN", "FP"):
            assert curve[count].tolist() == numbers[count].T.ravel().tolist(), (name, count)
        for number, values in (pose_official.clear(found) | pose_official.average_precision(some)).items():
            np.testing.assert_allclose(rows[number], values, rtol=1e-9, atol=1e-9, err_msg=f"{name} {number}")


def test_expected_numbers() -> None:
    folder = outside("POSETRACK_DATA", "posetrack")
    result = sf.pose(*sf.read_posetrack(folder / "gt", folder / "trackers" / "walker" / "sequences"))
    hota = json.loads((folder / "expected_hota.json").read_text())
    for key, wanted in [(None, hota["combined"])] + [
        (name.removesuffix(".json"), one) for name, one in hota["sequences"].items()
    ]:
        of = [table["sequence"].isna() if key is None else table["sequence"] == key for table in result[:2]]
        summary, rows = result.summary[of[0]], result.curve[of[1]]
        for number in HOTA_NUMBERS:
            value = wanted[number] if number in pose_official.AT_FIRST else np.mean(wanted[number], axis=0)
            np.testing.assert_allclose(summary[number], value, rtol=1e-9, atol=1e-9)
        for number in POSE_CURVES:
            np.testing.assert_allclose(rows[number], np.array(wanted[number]).T.ravel(), rtol=1e-9, atol=1e-9)
        for count in ("TP", "FN", "FP"):
            assert rows[count].tolist() == np.array(wanted[f"HOTA_{count}"]).T.ravel().tolist()
    rows = result.summary[result.summary["sequence"].isna()].iloc[POSEVAL_ORDER]
    mot, ap = (json.loads((folder / f"expected_poseval_{kind}.json").read_text()) for kind in ("mot", "ap"))
    wanted = {name: mot[name] for name in ("mota", "motp", "pre", "rec")}
    wanted |= {name: ap[theirs] for name, theirs in (("ap", "ap"), ("ap_pre", "pre"), ("ap_rec", "rec"))}
    assert list(wanted) == POSEVAL_NUMBERS
    for name, values in wanted.items():
        np.testing.assert_allclose(rows[name], values, rtol=1e-9, atol=1e-9)


def random_documents(random: np.random.Generator) -> Documents:
    """Sequences of a few frames, people on a coarse grid so that distances tie, with all that is odd now and then."""
    documents = {}
    step = random.choice([3.0, 7.5])
    for number in range(random.integers(1, 4)):
        images, sides = [], ([], [])
        most = random.integers(1, 5)
        scored = random.random() < 0.8
        for frame in range(random.integers(1, 7)):
            region = [(0, 0), (60, 0), (60, 60), (0, 60)]
            wide = [(-5, -5), (500, -5), (500, 500), (-5, 500)]
            chosen = random.choice(4, p=[0.5, 0.3, 0.1, 0.1])
            images.append(
                image(
                    100 + frame,
                    number + frame == 0 or random.random() < 0.85,
                    *[[], [region], [wide], [region, region[::-1]]][chosen],
                )
            )
            for side, people in enumerate(sides):
                for identity in random.permutation(6)[: random.integers(0, most + 1)].tolist():
                    joints = step * random.integers(0, 14, (17, 3))
                    joints[random.random(17) < 0.3] = 0
                    joints[random.random(17) < 0.05, 0] = -3
                    if not (joints[[0, 1, 2, *range(5, 17)], :2] > 0).all(axis=1).any():
                        joints[0] = 30  # nobody is without joints
                    flat = joints.ravel().tolist()
                    if side:
                        people.append(claim(100 + frame, identity, flat, None))
                        if scored:
                            people[-1]["scores"] = (random.integers(0, 5, 17) / 4).tolist()
                    else:
                        size = float(random.choice([0, 20, 30, 60], p=[0.05, 0.3, 0.3, 0.35]))
                        people.append(truth_of(100 + frame, identity, flat, [1.5, 2.0, 0.8 * size / 0.6, size]))
        documents[f"s{number}"] = document(images, sides[0]), document(images, sides[1])
    return documents


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_any_poses_are_as_the_kits_have_them(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    folders = written(tmp_path_factory.mktemp("poses"), random_documents(np.random.default_rng(seed)))
    try:
        same(folders)
    except sf.InputError as error:
        raise AssertionError(error.problems) from error


def one_person(n_frames: int) -> Documents:
    """Somebody standing still, found 3 px (a tenth of a head) to the right, in each frame."""
    images = [image(100 + number) for number in range(n_frames)]
    truth = [truth_of(100 + number, 7, raw(50, 50)) for number in range(n_frames)]
    claims = [claim(100 + number, 3, raw(53, 50)) for number in range(n_frames)]
    return {"walk": (document(images, truth), document(copy.deepcopy(images), claims))}


def combined(folders: tuple[Path, Path]) -> pd.Series:
    """The numbers of all joints in all sequences."""
    return sf.pose(*sf.read_posetrack(*folders)).summary.iloc[-1]


def test_found_in_each_frame(tmp_path: Path) -> None:
    result = sf.pose(*sf.read_posetrack(*written(tmp_path, one_person(4))))
    last = result.summary.iloc[-1]
    assert last[["HOTA", "DetA", "AssA"]].tolist() == pytest.approx([16 / 19] * 3), "alphas up to 0.8"
    assert last[["mota", "pre", "rec", "ap", "ap_pre", "ap_rec"]].tolist() == [100] * 6
    assert last["LocA"] == pytest.approx((16 * (1 - 0.1 / 0.5001) + 3) / 19)
    assert last["motp"] == pytest.approx(100 * (1 - 2 * 0.1)), "each distance is added up twice"
    assert last["objects"] == 3 * 15, "the last frame is left out"
    assert result.summary["joint"].tolist() == [*JOINTS, np.nan] * 2
    assert result.summary["sequence"].isna().tolist() == [False] * 16 + [True] * 16
    assert result.matches["event"].value_counts()["match"] == 4 * 15
    assert result.curve.shape == (2 * 16 * 19, 18)
    pd.testing.assert_series_equal(
        sf.summarize(result.matches, by="joint")["loc_a"], pd.Series([1 - 0.1 / 0.5001] * 15, name="loc_a")
    )


def test_frames_without_predictions(tmp_path: Path) -> None:
    """HOTA counts all joints of the sequence as missed, poseval one miss and one false positive a joint."""
    documents = one_person(5)
    del documents["walk"][1]["annotations"][1:3]
    folders = written(tmp_path, documents)
    same(folders)
    result = sf.pose(*sf.read_posetrack(*folders))
    nose = result.curve[result.curve["joint"] == "nose"].iloc[0]
    assert nose[["TP", "FN", "FP"]].tolist() == [3, 2 * 5, 0]
    row = result.summary.iloc[0]
    assert row[["objects", "detections", "misses", "false_positives"]].tolist() == [4, 2, 2, 2]
    assert row["mota"] == pytest.approx(100 * (1 - 4 / 4))


def test_frames_without_truth(tmp_path: Path) -> None:
    """Those in which nobody is annotated are no frames to poseval; those emptied by a region are."""
    documents = one_person(4)
    truth, claims = documents["walk"]
    del truth["annotations"][1]
    truth["images"][2] = image(102, True, [(0, 0), (900, 0), (900, 900), (0, 900)])
    claims["annotations"].append(claim(102, 9, raw(1000, 1000)))
    folders = written(tmp_path, documents)
    same(folders)
    result = sf.pose(*sf.read_posetrack(*folders))
    nose = result.curve[result.curve["joint"] == "nose"].iloc[0]
    assert nose[["TP", "FN", "FP"]].tolist() == [2, 0, 2 * 4], "two frames without truth, four joints predicted in all"
    assert result.summary.iloc[0][["objects", "detections", "misses", "false_positives"]].tolist() == [2, 1, 1, 1]
    assert result.summary.iloc[0]["ap_pre"] == pytest.approx(100 * 2 / 3), "of three frames; the second is none"


def test_one_side_has_nobody(tmp_path: Path) -> None:
    documents = one_person(3) | {"other": one_person(3)["walk"]}
    documents["walk"][1]["annotations"].clear()
    folders = written(tmp_path, documents)
    same(folders)
    rows = sf.pose(*sf.read_posetrack(*folders)).curve
    assert rows.loc[rows["sequence"] == "walk", ["FN", "FP"]].drop_duplicates().to_numpy().tolist() == [[3, 0], [45, 0]]
    documents["walk"][0]["annotations"].clear()
    same(written(tmp_path, documents))
    alone = written(tmp_path / "alone", {"walk": documents["walk"]})
    last = combined(alone)
    assert last[["HOTA", "LocA", "motp", "ap"]].tolist() == [0, 1, 0, 0]
    assert last[["mota", "pre", "rec"]].isna().all(), "there is nothing to divide by"


def test_nothing_is_labelled(tmp_path: Path) -> None:
    documents = one_person(3)
    for one in documents["walk"][0]["images"]:
        one["is_labeled"] = False
    result = sf.pose(*sf.read_posetrack(*written(tmp_path, documents)))
    assert len(result.summary) == 16
    assert result.summary["HOTA"].eq(0).all()
    assert len(result.matches) == 0


def test_two_truths_want_the_same_prediction(tmp_path: Path) -> None:
    """Both were last matched with it: the first in the file keeps it, whatever the identities."""
    images = [image(100 + number) for number in range(5)]
    near, far = raw(50, 50), raw(500, 500)
    truth = [[(9, near)], [(2, near)], [(9, raw(52, 50)), (2, raw(49, 50))], [(2, near)], [(2, near)]]
    claims = [[(1, near)], [(1, near)], [(1, near)], [(4, near), (1, far)], [(1, near)]]
    annotations = [truth_of(100 + t, *one) for t, frame in enumerate(truth) for one in frame]
    claimed = [claim(100 + t, *one) for t, frame in enumerate(claims) for one in frame]
    folders = written(tmp_path, {"a": (document(images, annotations), document(images, claimed))})
    same(folders)
    events = sf.pose(*sf.read_posetrack(*folders)).matches.query("joint == 'nose'")
    assert events["event"].tolist() == ["match", "match", "match", "miss", "switch", "false positive", "switch"]


def noses(rows: list[list[tuple[int, float, float]]], **columns: Any) -> pd.DataFrame:
    """A table of noses: of each frame identity, x and y."""
    flat = [(1, frame, *row) for frame, some in enumerate(rows) for row in some]
    table = pd.DataFrame(flat, columns=["sequence", "frame", "object", "x", "y"]).astype({"x": float, "y": float})
    return table.assign(joint="nose", **columns)


def matched_by_motmetrics(truth: list[list[tuple]], claims: list[list[tuple]], head: float) -> list[set[tuple]]:
    """The pairs of identities of each frame."""
    accumulator = motmetrics.MOTAccumulator(auto_id=True)
    for people, others in zip(truth, claims, strict=True):
        xy = [np.array([row[1:] for row in side], float).reshape(-1, 2) for side in (people, others)]
        table = np.linalg.norm(xy[0][:, None] - xy[1][None], axis=2) / head
        accumulator.update(
            *([row[0] for row in side] for side in (people, others)), np.where(table <= 0.5, table, np.nan)
        )
    events = accumulator.events[accumulator.events["Type"].isin(["MATCH", "SWITCH"])]
    pairs: list[set[tuple]] = [set() for _ in truth]
    for frame, *pair in zip(events.index.get_level_values(0), events["OId"], events["HId"], strict=True):
        pairs[frame].add(tuple(pair))
    return pairs


def same_matches(truth: list[list[tuple]], claims: list[list[tuple]], head: float) -> None:
    matches = sf.pose(noses(truth, head_size=head), noses(claims)).matches
    matches = matches[matches["outcome"] == "TP"]
    wanted = matched_by_motmetrics(truth, claims, head)
    found: list[set[tuple]] = [set() for _ in truth]
    for frame, *pair in matches[["frame", "truth_object", "predicted_object"]].itertuples(index=False, name=None):
        found[frame].add(tuple(pair))
    assert found == wanted


def test_who_is_kept_is_not_in_the_matrix() -> None:
    """Also not where nobody contends for them: among equally good pairs the solver then takes others."""
    truth = [[(3, 50, 50)], [(0, 14, 10), (1, 10, 10), (2, 2, 16), (3, 50, 50)], [(0, 1, 1)]]
    claims = [[(0, 51, 50)], [(0, 51, 50), (1, 12, 12), (2, 4, 6)], [(0, 1, 1)]]
    assert matched_by_motmetrics(truth, claims, 10)[1] == {(3, 0), (1, 1)}
    same_matches(truth, claims, 10)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_crowds_are_matched_as_py_motmetrics_does(seed: int) -> None:
    """On a grid, so that many distances tie, with people who come and go and trade their identities."""
    random = np.random.default_rng(seed)

    def side(n_people: int) -> list[list[tuple]]:
        names, frames = random.permutation(n_people + 3), []
        for _ in range(25):
            if random.random() < 0.2:
                random.shuffle(names)
            there = random.permutation(names[:n_people])[: random.integers(0, n_people + 1)].tolist()
            frames.append([(name, *(2 * random.integers(1, 10, 2)).tolist()) for name in there])
        return frames

    same_matches(side(7), side(7), 12.0)


def test_border_of_a_region(tmp_path: Path) -> None:
    """A joint on the border is not within; the region is open."""
    documents = one_person(2)
    documents["walk"][0]["images"][0] = image(100, True, [(50, 50), (60, 40), (60, 60)])
    truth, predictions = sf.read_posetrack(*written(tmp_path, documents))
    assert len(truth.objects) == 30
    assert len(predictions.objects) == 29, "the nose, at (53, 50)"
    assert truth.frames.columns.tolist() == ["sequence", "frame", "image_id", "n_annotated"]


def test_head_and_joints_are_read(tmp_path: Path) -> None:
    truth, predictions = sf.read_posetrack(*written(tmp_path, one_person(2)))
    assert truth.objects.iloc[0].tolist() == ["walk", 0, 7, "nose", 50, 50, 30]
    assert predictions.objects.iloc[-1].tolist() == ["walk", 1, 3, "right_ankle", 53 + 40 * 16, 50, 0.5]
    assert truth.objects["joint"].head(15).tolist() == JOINTS


def test_people_without_joints(tmp_path: Path) -> None:
    """They add nothing and break nothing, as long as somebody is there."""
    documents = one_person(3)
    for side, one in zip(documents["walk"], (truth_of(101, 50, [0] * 51), claim(101, 60, [0] * 51)), strict=True):
        side["annotations"].append(one)
    expected = sf.pose(*sf.read_posetrack(*written(tmp_path / "without", one_person(3))))
    found = sf.pose(*sf.read_posetrack(*written(tmp_path / "with", documents)))
    pd.testing.assert_frame_equal(expected.summary, found.summary)


def test_no_scores(tmp_path: Path) -> None:
    documents = one_person(3)
    for number, one in enumerate(documents["walk"][1]["annotations"]):
        one["scores"] = []
        if number:
            del one["scores"]
    same(written(tmp_path, documents))
    truth, predictions = sf.read_posetrack(*written(tmp_path, documents))
    assert predictions.objects["score"].isna().all()
    without = predictions.objects.drop(columns="score")
    pd.testing.assert_frame_equal(sf.pose(truth, predictions).summary, sf.pose(truth, without).summary)


def test_tables_of_joints_of_any_kind() -> None:
    """Joints that PoseTrack does not have, as numbers, without a frames table, rows in any order, track in a column."""
    key = pd.MultiIndex.from_product(
        [["a", "b"], range(3), [1, 2], [0, 5]], names=["sequence", "frame", "object", "joint"]
    )
    truth = key.to_frame(index=False).sample(frac=1, random_state=3)
    truth = truth.assign(x=truth["object"] * 50.0 + truth["joint"], y=8.0, head_size=10.0)
    predictions = truth.drop(columns="head_size").assign(x=truth["x"] + 1, track="t" + truth["object"].astype("str"))
    result = sf.pose(
        truth, predictions.assign(object=predictions["object"] + 10 * predictions["frame"]), identity="track"
    )
    assert result.summary["joint"].dtype == "Int64"
    assert result.summary["joint"].fillna(-1).tolist() == [0, 5, -1] * 3
    last = result.summary.iloc[-1]
    assert last[["mota", "ap"]].tolist() == [100, 100]
    assert last["AssA"] == pytest.approx(16 / 19)
    assert last["switches"] == 0
    by_row = sf.pose(truth, predictions.assign(object=predictions["object"] + 10 * predictions["frame"])).summary.iloc[
        -1
    ]
    assert by_row["switches"] == 8, "without identities, one from the first to the second frame of each"


def test_slices_by_any_column(tmp_path: Path) -> None:
    matches = sf.match(*sf.read_posetrack(*written(tmp_path, one_person(2))), tau=5, epsilon=2)
    assert sf.summarize(matches, by="joint")["mean_distance"].tolist() == [3.0] * 15
    assert sf.summarize(matches, by=["sequence", "joint"])["f1"].tolist() == [1.0] * 15


def change(document: Any, path: list[Any], value: Any) -> None:
    """Makes what the path leads to another."""
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value


@pytest.mark.parametrize(
    ("path", "value", "place", "named"),
    [
        (["annotations", 1, "keypoints"], [1, 2, 3], "annotations[1].keypoints", ("3", "51")),
        (["annotations", 1, "keypoints", 9], None, "annotations[1].keypoints[9]", ("float", "null")),
        (["annotations", 1, "image_id"], 99, "annotations[1].image_id", ("99",)),
        (["annotations", 1, "image_id"], 100, "annotations[1].track_id", ("image 100", "annotations[0]")),
        (["annotations", 1, "track_id"], "7", "annotations[1].track_id", ("int", "str")),
        (["annotations"], None, "annotations", ("array", "null")),
        (["categories", 0, "keypoints"], RAW_JOINTS[::-1], "categories[0].keypoints", ("nose",)),
    ],
)
def test_what_is_wrong_with_either_side(
    tmp_path: Path, path: list[Any], value: Any, place: str, named: tuple[str, ...]
) -> None:
    for number, side in enumerate(("truth", "predictions")):
        documents = one_person(3)
        change(documents["walk"][number], path, value)
        with refused((f"{tmp_path / side / 'walk.json'}: {place}", *named)):
            sf.read_posetrack(*written(tmp_path, documents))


@pytest.mark.parametrize(
    ("path", "value", "place", "named"),
    [
        (["images", 1, "ignore_regions_x"], [[1, 2]], "images[1]", ("ignore_regions_x", "ignore_regions_y")),
        (["images", 0], image(100, True, [(1, 2), (3, 4)]), "images[0].ignore_regions_x[0]", ("2",)),
        (["annotations", 0, "bbox_head"], [1, 2, 3], "annotations[0].bbox_head", ("3", "4")),
        (["annotations", 0, "bbox_head", 1], -1e308, "annotations[0].bbox_head", ("-1e+308",)),
    ],
)
def test_what_is_wrong_with_truth(
    tmp_path: Path, path: list[Any], value: Any, place: str, named: tuple[str, ...]
) -> None:
    documents = one_person(3)
    change(documents["walk"][0], path, value)
    with refused((f"{tmp_path / 'truth' / 'walk.json'}: {place}", *named)):
        sf.read_posetrack(*written(tmp_path, documents))


def test_an_image_twice(tmp_path: Path) -> None:
    documents = one_person(3)
    documents["walk"][0]["images"][2]["id"] = 100
    truth, predictions = (tmp_path / side / "walk.json" for side in ("truth", "predictions"))
    with refused(
        (f"{truth}: images[2].id", "100", "[0]"),
        (f"{predictions}: images[2].id", "102"),
        (f"{truth}: annotations[2].image_id", "102"),
        (f"{predictions}: annotations[2].image_id", "102"),
    ):
        sf.read_posetrack(*written(tmp_path, documents))


def test_what_is_missing(tmp_path: Path) -> None:
    documents = one_person(3)
    del documents["walk"][0]["images"][1]["is_labeled"]
    truth, predictions = written(tmp_path, documents)
    with refused((f"{truth / 'walk.json'}: images[1]", "is_labeled")):
        sf.read_posetrack(truth, predictions)
    documents = one_person(3)
    del documents["walk"][0]["annotations"][1]["bbox_head"]
    del documents["walk"][1]["annotations"][2]["keypoints"]
    documents["walk"][1]["annotations"][0]["scores"] = [0.5]
    written(tmp_path, documents)
    with refused(
        f"{truth / 'walk.json'}: annotations[1].bbox_head",
        (f"{predictions / 'walk.json'}: annotations[0].scores", "1", "17"),
        (f"{predictions / 'walk.json'}: annotations[2]", "keypoints"),
    ):
        sf.read_posetrack(truth, predictions)
    documents = one_person(3)
    documents["walk"][1]["images"].append({"id": 101})
    written(tmp_path, documents)
    with refused((f"{predictions / 'walk.json'}: images[3].id", "101", "[1]")):
        sf.read_posetrack(truth, predictions)
    documents = one_person(3)
    documents["walk"][1]["images"][1]["id"] = 55
    documents["walk"][1]["annotations"].pop(1)
    written(tmp_path, documents)
    with refused(
        (f"{predictions / 'walk.json'}: images[1].id", "55"),
        (f"{predictions / 'walk.json'}: images", "1", "3", "101"),
    ):
        sf.read_posetrack(truth, predictions)
    (predictions / "walk.json").rename(predictions / "run.json")
    with refused((f"{predictions}", "walk.json"), (f"{predictions / 'run.json'}", "sequence run", f"{truth}")):
        sf.read_posetrack(truth, predictions)


def test_folders(tmp_path: Path) -> None:
    truth, predictions = written(tmp_path, one_person(2))
    with refused(f"{tmp_path / 'nowhere'}"):
        sf.read_posetrack(tmp_path / "nowhere", predictions)
    (tmp_path / "tracker").mkdir()
    with refused((f"{tmp_path / 'tracker'}", "SEQUENCE.json")):
        sf.read_posetrack(truth, tmp_path / "tracker")
    (truth / "walk.json").write_text("{")
    with refused(f"{truth / 'walk.json'}"):
        sf.read_posetrack(truth, predictions)


def test_an_archive(tmp_path: Path) -> None:
    import zipfile

    folders = written(tmp_path, one_person(2))
    packed = []
    for folder in folders:
        packed.append(folder.with_suffix(".zip"))
        with zipfile.ZipFile(packed[-1], "w") as archive:
            archive.write(folder / "walk.json", "some/where/walk.json")
    pd.testing.assert_frame_equal(sf.read_posetrack(*packed)[0].objects, sf.read_posetrack(*folders)[0].objects)


def test_frames_without_joints() -> None:
    """Joints that are numbers, frames that nobody is in, joints that are listed and not there."""
    frames = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3]})
    truth = pd.DataFrame({"sequence": 1, "frame": [1, 1, 2], "object": 1, "joint": [0, 5, 0], "x": 1.0, "y": 2.0})
    truth = truth.assign(head_size=3.0)
    result = sf.pose(sf.Annotations(truth, frames), truth.drop(columns="head_size"))
    assert result.matches["outcome"].tolist() == ["TP", "TP", "TP", "empty"]
    nobody = sf.pose(truth.assign(visibility=0), truth.assign(visibility=0))
    assert nobody.matches["outcome"].tolist() == ["empty", "empty"]
    assert nobody.summary["joint"].tolist() == [*JOINTS, np.nan] * 2, "as nothing says that there are others"
    empty = truth.head(0)
    assert len(sf.pose(sf.Annotations(empty, frames), empty).matches) == 3


def test_scores_and_counts_of_any_type(tmp_path: Path) -> None:
    truth, predictions = sf.read_posetrack(*written(tmp_path, one_person(3)))
    wanted = sf.pose(truth, predictions.objects.assign(score=np.where(predictions.objects.index % 2, 1, np.nan)))
    scores = pd.array([None, 1], "UInt8").take(predictions.objects.index.to_numpy() % 2)
    pd.testing.assert_frame_equal(sf.pose(truth, predictions.objects.assign(score=scores)).summary, wanted.summary)
    for numbers in (pd.array([None, 0, 1], "Int64"), [0.0, np.nan, 1.0], [0, 0, 0]):
        counted = truth._replace(frames=truth.frames.assign(n_annotated=numbers))
        assert sf.pose(counted, predictions).summary["ap_rec"].iloc[-1] == 100, "whoever is there is annotated"
    with refused((f"{tmp_path / 'truth'} frames: column n_annotated", "str")):
        sf.pose(truth._replace(frames=truth.frames.assign(n_annotated="many")), predictions)


def test_regions_of_no_size(tmp_path: Path) -> None:
    """Without a corner a region holds nothing, and neither does one without an area."""
    documents = one_person(2)
    documents["walk"][0]["images"][0] = image(
        100, 1, [], [(50, 50), (50, 50), (50, 50)], [(-1e308, 0), (1e308, 0), (0, 1)]
    )
    truth, predictions = sf.read_posetrack(*written(tmp_path, documents))
    assert (len(truth.objects), len(predictions.objects)) == (30, 30)


def test_tables_that_are_not_right(tmp_path: Path) -> None:
    truth, predictions = sf.read_posetrack(*written(tmp_path, one_person(2)))
    objects = truth.objects
    with refused("truth: column head_size"):
        sf.pose(objects.drop(columns="head_size").assign(), predictions.objects)
    with refused("truth: column joint"):
        sf.pose(objects.query("joint == 'nose'").drop(columns="joint"), predictions)
    with refused(("truth: column head_size", "1 row", "sequence walk, frame 0, object 7")):
        sf.pose(objects.assign(head_size=[-1.0] + [1.0] * 29), predictions)
    with refused(("truth: column head_size", "str")):
        sf.pose(objects.assign(head_size="big"), predictions)
    with refused(("truth and predictions", "column joint", "pose()")):
        sf.track(truth, predictions, similarity="point")
    with refused(
        ("predictions: 15 rows", "(sequence, frame, joint, track)", "sequence walk, frame 0, joint nose, track 1")
    ):
        sf.pose(
            truth,
            predictions.objects.assign(track=1).query("frame == 0").assign(object=[1, *range(2, 16)], joint="nose"),
            identity="track",
        )
