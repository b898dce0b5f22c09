"""average_precision(): every number, precision, recall and score is that of pycocotools."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers import coco_scenes
from helpers.coco_scenes import Document, official
from helpers.commands import answer_here
from helpers.problems import refused, warned
from spotgeo_frames.scoring.ap.evaluate import curves_by_area
from spotgeo_frames.scoring.ap.numbers import BOX_NUMBERS, POSE_NUMBERS

SCENES = {"bbox": coco_scenes.boxes, "keypoints": coco_scenes.poses}


def written(folder: Path, truth: Document, results: list[Document]) -> tuple[Path, Path]:
    paths = folder / "truth.json", folder / "results.json"
    for path, content in zip(paths, (truth, results), strict=True):
        path.write_text(json.dumps(content))
    return paths


@pytest.mark.filterwarnings("ignore:average_precision")
@pytest.mark.parametrize(
    ("kind", "seed", "n_classes"), [*(("bbox", seed, 250) for seed in range(4)), ("keypoints", 9, 80)]
)
def test_every_array_is_pycocotools(kind: str, seed: int, n_classes: int, tmp_path: Path) -> None:
    """A thousand scenes of boxes and 80 of poses, each a class of three images: equal to the last bit."""
    truth, results = SCENES[kind](seed, n_classes)
    wanted = official(truth, results, kind)
    result = sf.average_precision(*sf.read_coco(*written(tmp_path, truth, results), boxes=kind == "bbox"))
    curves = curves_by_area(result.matched)
    for area, of_area in enumerate(curves.values()):
        unknown = np.isnan(of_area.precision)
        assert np.array_equal(np.where(unknown, -1, of_area.precision).transpose(0, 2, 1), wanted.precision[..., area])
        # pycocotools has 0 for the score of a recall that is not reached.
        scores = np.where(unknown, -1, np.nan_to_num(of_area.score))
        assert np.array_equal(scores.transpose(0, 2, 1), wanted.scores[..., area])
        assert np.array_equal(np.nan_to_num(of_area.recall, nan=-1), wanted.recall[:, :, area])
    numbers = BOX_NUMBERS if kind == "bbox" else POSE_NUMBERS
    assert np.array_equal(result.summary[[*numbers]].iloc[0].to_numpy(), wanted.stats)
    assert result.provenance == f"COCO {kind} AP as pycocotools 2.0.11 computes it, bit for bit"


@pytest.mark.filterwarnings("ignore:average_precision")
@pytest.mark.parametrize("seed", range(12))
def test_plain_tables_with_numbers_of_classes_in_any_order_are_pycocotools(seed: int) -> None:
    """Means over classes add up in the order of their numbers, whatever order the tables have."""
    truth, results = coco_scenes.boxes(seed, 8)
    ids = [
        one["id"] for one in truth["categories"] if any(of["category_id"] == one["id"] for of in truth["annotations"])
    ]
    truth["categories"] = [one for one in truth["categories"] if one["id"] in ids]
    results = [one for one in results if one["category_id"] in ids]
    known, found = (pd.DataFrame(rows).assign(frame=1) for rows in (truth["annotations"], results))
    known = known.assign(crowd=known["iscrowd"], object=known["id"])
    found = found.assign(object=range(len(found)))
    known, found = (
        side.join(pd.DataFrame(side["bbox"].tolist(), side.index, columns=["x", "y", "w", "h"], dtype=float))
        .drop(columns=["bbox", "iscrowd", "id"], errors="ignore")
        .rename(columns={"image_id": "sequence", "category_id": "category"})
        for side in (known, found)
    )
    frames = pd.DataFrame({"sequence": [image["id"] for image in truth["images"]], "frame": 1})
    # Of equally similar truths pycocotools takes the last in the file.
    for objects in (known, known.sort_values("category", ascending=False, kind="stable")):
        result = sf.average_precision(sf.Annotations(objects, frames), found)
        assert result.categories["category"].tolist() == sorted(ids)
        own = result.summary[[*BOX_NUMBERS]].iloc[0].to_numpy(float)
        assert np.array_equal(np.nan_to_num(own, nan=-1), official(truth, results, "bbox").stats)


# Tiny scenes. Boxes are squares of ten pixels, named by their left edge; one at 10 + d overlaps that at 10 by
# (10 - d) / (10 + d): 1 px off has an IoU of 0.818, 2 px 0.667, 3 px 0.538.


def squares(*rows: tuple[float, ...], names: tuple[str, ...] = ()) -> pd.DataFrame:
    """Boxes of one image, each by its left edge and the values of the named columns."""
    table = pd.DataFrame(rows, columns=["x", *names], dtype=float)
    return table.assign(sequence=1, frame=1, object=range(1, len(rows) + 1), y=0.0, w=10.0, h=10.0)


def scored(*rows: tuple[float, float]) -> pd.DataFrame:
    return squares(*rows, names=("score",))


def outcomes(result: sf.AveragePrecision) -> list[tuple[Any, ...]]:
    """The rows of `matches`: outcome, whether it is ignored, and the objects of both sides."""
    columns = ["outcome", "ignored", "truth_object", "predicted_object"]
    return [tuple(None if pd.isna(value) else value for value in row) for row in result.matches[columns].to_numpy()]


def test_precision_and_recall_by_hand() -> None:
    """Found, false alarm, found: precision 1 up to a recall of a half, then 2/3; a third truth is missed."""
    found = scored((10, 0.9), (500, 0.8), (100, 0.7))
    result = sf.average_precision(squares((10,), (100,), (200,)), found, thresholds=[0.5])
    curve = result.curve[(result.curve["area"] == "all") & (result.curve["threshold"] == 0.5)]
    assert curve["recall"].tolist() == pytest.approx([k / 100 for k in range(101)])
    assert curve["precision"].tolist() == pytest.approx([1.0] * 34 + [2 / 3] * 33 + [0.0] * 34)
    assert curve["score"].iloc[[0, 33, 34, 66]].tolist() == [0.9, 0.9, 0.7, 0.7]
    assert curve["score"].iloc[67:].isna().all()
    row = result.summary.iloc[0]
    assert row[["AP", "AP50"]].tolist() == pytest.approx([(34 + 33 * 2 / 3) / 101] * 2)
    assert (row["AR1"], row["AR10"], row["AR100"]) == pytest.approx((1 / 3, 2 / 3, 2 / 3))
    assert row[["APs", "APm", "APl"]].isna().tolist() == [False, True, True]
    assert row[["n_frames", "n_truth", "n_predicted"]].tolist() == [1, 3, 3]
    assert outcomes(result) == [
        ("TP", False, 1, 1),
        ("TP", False, 2, 3),
        ("FN", False, 3, None),
        ("FP", False, None, 2),
    ]


def test_the_surest_chooses_first_and_of_equal_scores_the_first_in_file_order() -> None:
    """Both overlap both truths. The surer takes the better one, and the other what is left, or nothing."""
    truth = squares((10,), (12,))
    assert outcomes(sf.average_precision(truth, scored((12, 0.5), (11.5, 0.9)), thresholds=[0.5])) == [
        ("TP", False, 1, 1),
        ("TP", False, 2, 2),
    ]
    alone = sf.average_precision(truth[:1], scored((11, 0.5), (10, 0.5)), thresholds=[0.5])
    assert outcomes(alone) == [("TP", False, 1, 1), ("FP", False, None, 2)]


def test_of_equal_overlaps_the_last_truth_in_file_order_is_taken() -> None:
    result = sf.average_precision(squares((9,), (11,)), scored((10, 0.9)), thresholds=[0.5])
    assert outcomes(result) == [("FN", False, 1, None), ("TP", False, 2, 1)]


def test_a_crowd_takes_any_number_of_detections_and_counts_nowhere() -> None:
    """A detection within the crowd is ignored; one that also finds a truth takes that."""
    truth = squares((10, 0), (100, 1), names=("crowd",))
    truth.loc[1, "w"] = 200.0
    result = sf.average_precision(truth, scored((10, 0.9), (110, 0.8), (150, 0.7), (500, 0.6)), thresholds=[0.5])
    assert outcomes(result) == [
        ("TP", False, 1, 1),
        ("FN", True, 2, None),
        ("FP", True, None, 2),
        ("FP", True, None, 3),
        ("FP", False, None, 4),
    ]
    assert result.summary["AP50"].iloc[0] == pytest.approx(1.0)
    assert result.summary["n_truth"].iloc[0] == 1
    counted = sf.summarize(result.matches)
    assert counted[["tp", "fn", "fp"]].iloc[0].tolist() == [1, 0, 1]


def test_area_ranges_have_both_their_ends() -> None:
    """An area of 32² is small and medium; what is matched with a truth of another size counts nowhere."""
    truth = squares((10, 1024.0), (100, 1025.0), names=("area",))
    row = sf.average_precision(truth, scored((10, 0.9), (100, 0.8), (500, 0.7))).summary.iloc[0]
    # The false alarm has an area of 100 px², so it is wrong among small ones only, after all truths are found.
    assert row[["AP", "APs", "APm"]].tolist() == pytest.approx([1.0, 1.0, 1.0])
    assert np.isnan(row["APl"])
    row = sf.average_precision(truth, scored((10, 0.9), (100, 0.8), (500, 0.95))).summary.iloc[0]
    assert row[["AP", "APs", "APm"]].tolist() == pytest.approx([2 / 3, 0.5, 1.0])


def test_at_most_a_hundred_detections_of_an_image_and_class_count() -> None:
    flood = scored(*((500, 1 - k / 1000) for k in range(100)), (10, 0.1))
    with warned(("average_precision", "1 detection is left out")):
        assert sf.average_precision(squares((10,)), flood).summary["AR100"].iloc[0] == 0.0
    row = sf.average_precision(squares((10,)), flood[1:]).summary.iloc[0]
    assert (row["AR100"], row["AP50"]) == (1.0, pytest.approx(0.01))


def test_detections_beyond_the_most_are_counted_in_a_warning_and_max_detections_takes_them() -> None:
    """Three frames of 300, 150 and 100 flawless detections: of the first two, 200 and 50 are left out."""
    sizes = (300, 150, 100)
    truth = pd.concat([squares(*((20.0 * k,) for k in range(n))).assign(frame=f) for f, n in enumerate(sizes)])
    found = truth.assign(score=0.5)
    with warned(("average_precision", "250 detections in 2 frames are left out, beyond the 100", "max_detections=")):
        result = sf.average_precision(truth, found)
    assert result.summary["AR100"].iloc[0] == pytest.approx(300 / 550)
    assert result.summary["n_predicted"].iloc[0] == 300
    assert result.summary.attrs["max_detections"] == 100
    assert result.summary.attrs["beyond_max_detections"] == 250
    assert "left out: 250 detections" in str(result)
    with warned():
        every = sf.average_precision(truth, found, max_detections=300)
    row = every.summary.iloc[0]
    assert row[["AP", "APs", "AR300", "ARs"]].tolist() == pytest.approx([1.0] * 4)
    assert row[["AR1", "AR10", "AR100"]].tolist() == pytest.approx([3 / 550, 30 / 550, 300 / 550])
    assert every.summary.attrs["beyond_max_detections"] == 0
    assert "left out" not in str(every)
    with warned():
        sf.average_precision(truth[truth["frame"] == 2], found[found["frame"] == 2])


def test_the_most_poses_of_an_image_are_twenty() -> None:
    joints = {"sequence": 1, "frame": 1, "joint": "nose", "y": 0.0, "area": 1.0, "category": "person"}
    truth = pd.DataFrame([joints | {"object": k, "x": 10.0 * k} for k in range(25)])
    with warned(("average_precision", "5 detections in 1 frame are left out, beyond the 20")):
        result = sf.average_precision(truth, truth.assign(score=0.5))
    assert result.summary["AR"].iloc[0] == pytest.approx(20 / 25)
    with warned():
        every = sf.average_precision(truth, truth.assign(score=0.5), max_detections=25)
    assert [*every.summary][:10] == [*POSE_NUMBERS]
    assert every.summary[["AP", "AR"]].iloc[0].tolist() == pytest.approx([1.0, 1.0])


@pytest.mark.filterwarnings("ignore:average_precision")
@pytest.mark.parametrize("most", [1, 5, 50, 150])
def test_max_detections_are_those_of_pycocotools(most: int, tmp_path: Path) -> None:
    """AR1, AR10 and AR100 stay as far as fewer detections count for them, and AR of the most follows."""
    truth, results = coco_scenes.boxes(5, 120)
    limits = [*(limit for limit in (1, 10, 100) if limit < most), most]
    wanted = official(truth, results, "bbox", maxDets=[0] * (3 - len(limits)) + limits)
    read = sf.read_coco(*written(tmp_path, truth, results), boxes=True)
    result = sf.average_precision(*read, max_detections=most)
    assert [name for name in result.summary if name[2:].isdecimal()] == [
        *("AP50", "AP75"),
        *(f"AR{limit}" for limit in limits),
    ]
    known = wanted.precision > -1
    means = {"AP": wanted.precision[..., 0][known[..., 0]].mean()}
    means |= {"APs": wanted.precision[..., 1][known[..., 1]].mean()}
    for position, limit in enumerate(limits, -len(limits)):
        recall = wanted.recall[..., 0, position]
        means[f"AR{limit}"] = recall[recall > -1].mean()
    assert result.summary[[*means]].iloc[0].tolist() == pytest.approx([*means.values()], abs=1e-12)
    n_counted = result.summary["n_predicted"].iloc[0]
    assert n_counted + result.summary.attrs["beyond_max_detections"] == len(results)


@pytest.mark.filterwarnings("ignore:average_precision")
@pytest.mark.parametrize("kind", ["bbox", "keypoints"])
@pytest.mark.parametrize("thresholds", [[0.5], [0.75], [0.9, 0.5, 0.6]])
def test_numbers_are_means_over_the_thresholds_given(kind: str, thresholds: list[float], tmp_path: Path) -> None:
    """As pycocotools has it with these iouThrs; a number of another threshold is null where it has -1."""
    truth, results = SCENES[kind](6, 60)
    wanted = official(truth, results, kind, iouThrs=np.sort(thresholds)).stats
    read = sf.read_coco(*written(tmp_path, truth, results), boxes=kind == "bbox")
    result = sf.average_precision(*read, thresholds=thresholds)
    names = [*(BOX_NUMBERS if kind == "bbox" else POSE_NUMBERS)]
    assert np.nan_to_num(result.summary[names].iloc[0].to_numpy(float), nan=-1) == pytest.approx(wanted, abs=1e-12)
    assert result.summary.attrs["thresholds"] == sorted(thresholds)
    assert result.summary["thresholds"].tolist() == [", ".join(f"{value:.2f}" for value in sorted(thresholds))]
    assert f"mean over similarity {result.summary['thresholds'][0]}" in str(result)
    assert result.curve["threshold"].unique().tolist() == pytest.approx(sorted(thresholds))
    of_all = result.curve[result.curve["area"] == "all"]
    assert of_all.groupby("category")["precision"].mean().mean() == pytest.approx(wanted[0])
    assert result.matches["threshold"].unique().tolist() == pytest.approx(sorted(thresholds))


def test_all_ten_thresholds_are_those_without_a_word() -> None:
    truth, found = squares((10,), (100,)), scored((10, 0.9), (101, 0.8))
    every = sf.average_precision(truth, found, thresholds=np.arange(0.5, 1, 0.05))
    pd.testing.assert_frame_equal(every.summary, sf.average_precision(truth, found).summary)


def test_an_object_may_be_called_0() -> None:
    """pycocotools takes annotation 0 for no match, and would count its detection as a false alarm."""
    truth = {
        "images": [{"id": 1}],
        "categories": [{"id": 1, "name": "a"}],
        "annotations": [
            {"id": k, "image_id": 1, "category_id": 1, "bbox": [x, 0, 10, 10], "area": 100, "iscrowd": 0}
            for k, x in enumerate((10, 100))
        ],
    }
    results = [{"image_id": 1, "category_id": 1, "bbox": [x, 0, 10, 10], "score": 0.9} for x in (10, 100)]
    assert official(truth, results, "bbox").stats[0] < 0.6
    named = squares((10,), (100,)).assign(object=[0, 1])
    assert sf.average_precision(named, scored((10, 0.9), (100, 0.9))).summary["AP"].iloc[0] == pytest.approx(1.0)


def test_categories_of_one_side_are_told() -> None:
    """A class without truths has no AP; one without detections has 0; a class that nobody has is listed."""
    kind = pd.CategoricalDtype(["cat", "dog", "emu"])
    truth = squares((10,), (100,)).assign(category=pd.Categorical(["cat", "dog"], dtype=kind))
    found = scored((10, 0.9), (100, 0.8)).assign(category=["cat", "fox"])
    with warned(("average_precision", "1 category has no truths", "fox", "1 category has no predictions", "dog")):
        result = sf.average_precision(truth, found)
    assert result.categories["category"].tolist() == ["cat", "dog", "emu", "fox"]
    assert result.categories["AP"].tolist() == pytest.approx([1.0, 0.0, np.nan, np.nan], nan_ok=True)
    assert result.summary["AP"].iloc[0] == pytest.approx(0.5)


def test_no_detections_and_no_truths() -> None:
    nobody = sf.average_precision(squares((10,)), scored()).summary.iloc[0]
    assert nobody[["AP", "AR1", "n_predicted"]].tolist() == [0, 0, 0]
    nothing = sf.average_precision(squares(), scored((10, 0.9))).summary.iloc[0]
    assert nothing[["AP", "AR100"]].isna().all()
    assert nothing["n_predicted"] == 1
    neither = sf.average_precision(squares(), scored(), thresholds=[0.75])
    assert len(neither.matches) == 0
    assert np.isnan(neither.summary["AP"].iloc[0])


def test_what_cannot_be_evaluated_is_refused() -> None:
    truth, found = squares((10,)), scored((10, 0.9))
    points = truth.drop(columns=["w", "h"]), found.drop(columns=["w", "h"])
    with refused(("average_precision", "points match within a distance", "tau=")):
        sf.average_precision(*points)
    with refused(("predictions", "score")):
        sf.average_precision(truth, found.drop(columns="score"))
    with refused(("predictions", "score", "1 row is null")):
        sf.average_precision(truth, found.assign(score=np.nan))
    with refused(("truth", "area", "null", "without the column")):
        sf.average_precision(truth.assign(area=np.nan), found)
    with refused(("truth", "crowd")):
        sf.average_precision(truth.assign(crowd=2), found)
    for wrong in (0, -1, 1.5, "100", True, [1, 10, 300]):
        with refused(("max_detections is", "1 or more"), error=ValueError):
            sf.average_precision(truth, found, max_detections=wrong)  # type: ignore[arg-type]
    for wrong in (0.5, "0.5", [], [None], [True], [0], [1.1], {"car": 2}, {"car": 0.7}):
        with pytest.raises(ValueError, match=r"thresholds"):
            sf.average_precision(truth, found, thresholds=wrong)


def test_a_function_is_a_similarity() -> None:
    """Points by a function of the caller's; they have no areas, so the numbers of area ranges are null."""
    truth = squares((10,), (100,)).drop(columns=["w", "h"])
    found = scored((11, 0.9), (104, 0.8)).drop(columns=["w", "h"])

    def near(truth: pd.DataFrame, found: pd.DataFrame) -> np.ndarray:
        return np.maximum(0.0, 1 - np.abs(truth["x"].to_numpy() - found["x"].to_numpy()) / 10)

    row = sf.average_precision(truth, found, near).summary.iloc[0]
    assert (row["AP50"], row["AP75"]) == pytest.approx((1.0, 51 / 101))
    assert row[["APs", "APm", "APl"]].isna().all()


@pytest.mark.filterwarnings("ignore:average_precision")
def test_results_of_poses_with_boxes_have_their_areas(tmp_path: Path) -> None:
    """The boxes make the detections large, so those that find nobody are wrong among large ones."""
    truth, results = coco_scenes.poses(3, 5)
    boxed = [result | {"bbox": [0.0, 0.0, 100.0, 100.0 * (1 + k % 2)]} for k, result in enumerate(results)]
    for found in (results, boxed):
        read = sf.read_coco(*written(tmp_path, truth, found))
        assert ("area" in read[1].objects) == (found is boxed)
        wanted = official(truth, found, "keypoints").stats
        numbers = sf.average_precision(*read).summary[[*POSE_NUMBERS]].iloc[0].to_numpy()
        assert np.nan_to_num(numbers, nan=-1) == pytest.approx(wanted, abs=1e-12)
    assert official(truth, results, "keypoints").stats.tolist() != wanted.tolist()


def test_pose_of_several_scores_is_refused() -> None:
    joints = {"sequence": 1, "frame": 1, "object": 1, "joint": ["left_eye", "right_eye"], "x": [0.0, 9.0], "y": 0.0}
    truth = pd.DataFrame(joints).assign(area=400.0)
    with refused(("predictions", "score", "1 pose is listed with several scores")):
        sf.average_precision(truth, pd.DataFrame(joints).assign(score=[0.5, 0.6]))


@pytest.mark.parametrize("seed", range(4))
def test_thresholds_and_areas_together_are_those_alone(seed: int) -> None:
    random, n = np.random.default_rng(seed), 400  # in three frames, so that most detections have a choice
    box = {name: random.integers(0, 12, n) * 2.0 for name in "xy"} | {"w": 10.0, "h": random.integers(3, 7, n) * 2.0}
    key = {"sequence": 1, "frame": random.integers(1, 4, n), "object": np.arange(n)}
    rows = pd.DataFrame(key | box | {"category": random.choice(["a", "b"], n)})
    truth, found = (
        rows[:90].assign(crowd=random.random(90) < 0.1),
        rows[90:].assign(score=random.integers(0, 9, 310) / 9),
    )
    areas, thresholds = {"low": (0.0, 80.0), "high": (80.0, 1e5)}, [0.3, 0.5, 0.6, 0.8]
    together = sf.average_precision(truth, found, areas=areas, thresholds=thresholds, max_detections=400)
    for threshold in thresholds:
        of_matches = together.matches[together.matches["threshold"] == threshold].reset_index(drop=True)
        for area, bounds in areas.items():
            asked: Any = {"areas": {area: bounds}, "thresholds": [threshold], "max_detections": 400}
            alone = sf.average_precision(truth, found, **asked)
            of_area = (together.curve["area"] == area) & (together.curve["threshold"] == threshold)
            wanted = alone.curve.loc[alone.curve["area"] == area, "precision"].to_numpy()
            np.testing.assert_array_equal(together.curve.loc[of_area, "precision"].to_numpy(), wanted)
            pd.testing.assert_frame_equal(of_matches, alone.matches)


def test_categories_may_mix_text_and_numbers() -> None:
    names = pd.Series(["a", 2, 1, 2], dtype=object)
    truth = squares((10,), (100,), (10,), (100,)).assign(frame=[1, 1, 2, 2], object=[1, 2, 1, 2], category=names)
    result = sf.average_precision(truth, truth.assign(score=0.5))
    assert result.categories["category"].tolist() == [1, 2, "a"]
    assert result.summary["AP50"][0] == pytest.approx(1.0)


def test_what_lies_in_no_frame_of_the_truth_is_left_out_where_that_is_asked_for(tmp_path: Path) -> None:
    truth = squares((10,), (100,))
    found = pd.concat([scored((10, 0.9), (100, 0.8)), scored((10, 0.95)).assign(sequence=7)])
    with warned(("average_precision", "no truth at all", 'frames="labelled"')):
        assert sf.average_precision(truth, found).summary["AP"][0] < 0.9
    result = sf.average_precision(truth, found, frames="labelled")
    assert result.summary["AP"][0] == pytest.approx(1.0)
    assert (result.summary.attrs["unlabelled"], result.summary["n_predicted"][0]) == (1, 2)
    assert "1 prediction left out of frames that are not labelled" in result.provenance
    assert "1 prediction" not in sf.average_precision(truth, found[:2], frames="labelled").provenance
    sf.save(result, f"{tmp_path}/kept")
    assert sf.load(f"{tmp_path}/kept").summary.equals(result.summary)
    for name, side in (("truth", truth), ("found", found)):
        side.to_parquet(tmp_path / f"{name}.parquet")
    files = tmp_path / "truth.parquet", tmp_path / "found.parquet"
    assert answer_here("ap", *files, "--labelled")["AP"] == pytest.approx(1.0)
    with pytest.raises(ValueError, match="frames is 'all'"):
        sf.average_precision(truth, found, frames="all")  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:average_precision")
def test_categories_are_those_that_the_truth_lists_and_those_that_are_claimed() -> None:
    """Also where the only truth is a crowd without a category, so that no truth has one of them."""
    box = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1], "x": 0.0, "y": 0.0, "w": 8.0, "h": 8.0})
    listed = pd.Categorical([None], categories=pd.Index(["car"]))
    result = sf.average_precision(box.assign(crowd=True, category=listed), box.assign(score=0.5, category="bus"))
    assert result.categories["category"].tolist() == ["car", "bus"]
    assert result.categories["n_truth"].tolist() == [0, 0]
    assert result.categories["AP"].isna().all()


def test_notebooks_show_the_numbers_of_all_and_of_each_category(coco: Path) -> None:
    result = sf.average_precision(*sf.read_coco(coco / "annotations.json", coco / "fast.json", boxes=True))
    unfolded = str(result._repr_html_()).split("<details>")[0]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", unfolded)
    numbers = list(BOX_NUMBERS)
    assert cells[: len(numbers)] == [f"{value:.4f}" for value in result.summary[numbers].iloc[0]]
    first = result.categories.iloc[0]
    assert cells[len(numbers) :][:2] == [first["category"], f"{first['AP']:.4f}"]


@pytest.mark.parametrize(("off", "ap"), [(1e-11, 1.0), (1e-9, 0.0)])
def test_a_threshold_of_1_leaves_room_for_rounding(off: float, ap: float) -> None:
    box = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1], "x": 0.0, "y": 0.0, "w": 8.0, "h": 8.0})

    def nearly(truth: pd.DataFrame, found: pd.DataFrame) -> np.ndarray:
        return np.full(len(truth), 1 - off)

    for thresholds in ([1.0], [0.5, 1.0]):
        result = sf.average_precision(box, box.assign(score=0.5), similarity=nearly, thresholds=thresholds)
        assert result.curve.query("threshold == 1 and area == 'all'")["precision"].mean() == pytest.approx(ap)
