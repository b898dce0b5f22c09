"""Kinds of error in average precision and what they cost, equal to tidecv 1.0.1."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from helpers.scenes import squares

# How tidecv calls the rows of error_costs().
TIDE_NAMES = {
    "lost": "Miss",
    "mislocated": "Loc",
    "confused": "Cls",
    "confused_and_mislocated": "Both",
    "duplicate": "Dupe",
    "background": "Bkg",
    "all_misses": "FalseNeg",
    "all_false_alarms": "FalsePos",
}
pytestmark = pytest.mark.filterwarnings("ignore:average_precision")


def costs_of(truth: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    return sf.error_costs(sf.average_precision(truth, predictions)).set_index("kind")


# Boxes of 10 px; 5 px off, the IoU is 1/3.
TRUTH = squares((0, "cat"), (100, "cat"), (200, "dog"), (300, "dog"), (400, "cat"))
PREDICTIONS = squares(
    (900, "cat", 0.95),
    (0, "cat", 0.9),
    (1, "cat", 0.8),
    (105, "cat", 0.7),
    (200, "cat", 0.6),
    (305, "cat", 0.5),
)


def test_each_kind_once() -> None:
    diagnosed = sf.diagnose(sf.average_precision(TRUTH, PREDICTIONS))
    errors = diagnosed[diagnosed["outcome"] != "TP"]
    kinds = ["mislocated", "confused", "lost", "lost", "background", "duplicate", "mislocated", "confused"]
    assert [*zip(errors["outcome"], errors["kind"], strict=True)] == [
        *zip(["FN"] * 4 + ["FP"] * 5, [*kinds, "confused_and_mislocated"], strict=True)
    ]
    expected = [1 / 3, 1, None, None, None, 9 / 11, 1 / 3, 1, 1 / 3]
    assert errors["pair_similarity"].tolist() == pytest.approx(
        [np.nan if s is None else s for s in expected], nan_ok=True
    )
    assert diagnosed.loc[diagnosed["outcome"] == "TP", "kind"].isna().all()
    assert diagnosed.attrs["threshold"] == 0.5


def test_costs_by_hand() -> None:
    """Precision of cats is 1/2 up to the recall 1/3, at 34 of 101 points. So their AP50 is 17/101, that of dogs 0."""
    costs = costs_of(TRUTH, PREDICTIONS)
    now = 17
    after = {
        "lost": 51 / 2,  # one of two cats
        "mislocated": 67 / 2,  # two of three cats, one of them after two false alarms
        "confused": 17 + 51,  # one of two dogs
        "confused_and_mislocated": 17,
        "duplicate": 17,
        "background": 34,
        "all_misses": 101,  # all cats at 1/2; of dogs nothing is left, so only cats count
        "all_false_alarms": 34,
        "all": 202,
    }
    gains = {kind: (points - now) / 202 for kind, points in after.items()}
    assert costs["AP50_gain"].to_dict() == pytest.approx(gains, abs=1e-12)
    assert costs["dAP"].to_dict() == pytest.approx({kind: 100 * gain for kind, gain in gains.items()}, abs=1e-10)
    assert costs["AP50"].to_numpy() == pytest.approx(costs["AP50_gain"] + now / 202)
    assert costs["n_misses"].tolist() == [2, 1, 1, 0, 0, 0, 4, 0, 4]
    assert costs["n_false_alarms"].tolist() == [0, 1, 1, 1, 1, 1, 0, 5, 5]


def test_ap_corrects_the_errors_of_each_threshold() -> None:
    """One box at an IoU of 9/11: right at seven thresholds, mislocated at 0.85, 0.90 and 0.95."""
    costs = costs_of(squares((0, "cat")), squares((1, "cat", 0.5)))
    assert costs.loc["mislocated", ["n_misses", "AP50_gain"]].tolist() == [0, 0]
    assert costs.loc["mislocated", ["AP", "AP_gain"]].tolist() == pytest.approx([1, 0.3])
    diagnosed = sf.diagnose(sf.average_precision(squares((0, "cat")), squares((1, "cat", 0.5))), threshold=0.85)
    assert diagnosed["kind"].tolist() == ["mislocated"] * 2


def test_the_highest_score_stands_for_a_miss() -> None:
    """Two mislocated detections mean one truth. The other of them would be taken away."""
    truth, found = squares((0, "cat")), squares((5, "cat", 0.3), (-5, "cat", 0.4), (105, "cat", 0.35))
    diagnosed = sf.diagnose(sf.average_precision(truth, found))
    assert diagnosed["kind"].tolist() == ["mislocated", "mislocated", "mislocated", "background"]
    costs = costs_of(truth, found)
    assert costs.loc["mislocated", ["n_misses", "n_false_alarms", "AP50"]].tolist() == pytest.approx([1, 2, 1])


# --- tidecv ---


def tide_run(truth: pd.DataFrame, predictions: pd.DataFrame, most: int = 1000, similarity: Any = None) -> Any:
    """What tidecv makes of the tables, with `most` detections an image."""
    tidecv = pytest.importorskip("tidecv", reason="tidecv 1.0.1 is needed, from the extra test")
    from tidecv import quantify

    data, results = tidecv.Data("truth", max_dets=most), tidecv.Data("results")
    for row in truth.itertuples():
        add = data.add_ignore_region if getattr(row, "crowd", False) else data.add_ground_truth
        add(row.sequence, row.category, [row.x, row.y, row.w, row.h])
    for row in predictions.itertuples():
        data._make_default_image(row.sequence)
        results.add_detection(row.sequence, row.category, row.score, [row.x, row.y, row.w, row.h])
    with pytest.MonkeyPatch.context() as patch:
        if similarity is not None:
            patch.setattr(quantify, "mask_utils", SimpleNamespace(iou=similarity))
        return tidecv.TIDE().evaluate(data, results)


def tide_gains(run: Any) -> dict[str, float]:
    costs = run.fix_main_errors() | run.fix_special_errors()
    return {error.short_name: value for error, value in costs.items()}


def assert_is_tide(truth: pd.DataFrame, predictions: pd.DataFrame, run: Any, result: sf.AveragePrecision) -> None:
    costs = sf.error_costs(result).set_index("kind")
    gains = tide_gains(run)
    for kind, name in TIDE_NAMES.items():
        assert costs.loc[kind, "dAP"] == pytest.approx(gains[name], abs=1e-9), kind
    counts = {error.short_name: count for error, count in run.count_errors().items()}
    of_kinds = costs.loc[[kind for kind, name in TIDE_NAMES.items() if name in counts]]
    own = of_kinds["n_false_alarms"].where(of_kinds.index != "lost", of_kinds["n_misses"])
    assert own.rename(TIDE_NAMES).to_dict() == counts
    diagnosed = sf.diagnose(result)
    for outcome, column in (("FN", "n_misses"), ("FP", "n_false_alarms")):
        kinds = diagnosed.loc[diagnosed["outcome"] == outcome, "kind"].value_counts()
        assert kinds[kinds > 0].to_dict() == of_kinds.loc[of_kinds[column] > 0, column].to_dict()
    for number in ("AP50", "AP"):
        before = costs[number] - costs[f"{number}_gain"]
        assert before.to_numpy() == pytest.approx(result.summary[number][0], abs=1e-12)
        assert costs.loc["all", number] == pytest.approx(1)


def boxes_like(rng: np.random.Generator, boxes: np.ndarray, spread: float) -> np.ndarray:
    """Boxes (N, 4) moved and scaled by about `spread` of their size."""
    places = boxes[:, :2] + rng.normal(0, spread, (len(boxes), 2)) * boxes[:, 2:]
    return np.hstack([places, boxes[:, 2:] * np.exp(rng.normal(0, spread / 2, (len(boxes), 2)))])


def random_boxes(seed: int, most: int = 60) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Crowded boxes of three categories in a few images, and detections of four, which have no truths of the last."""
    rng = np.random.default_rng(seed)
    n_truths, n_images = rng.integers(1, 30), rng.integers(1, 6)
    boxes = np.hstack([rng.uniform(0, 150, (n_truths, 2)), rng.uniform(10, 60, (n_truths, 2))])
    truth = pd.DataFrame(boxes, columns=[*"xywh"])
    truth = truth.assign(sequence=rng.integers(0, n_images, n_truths), category=rng.choice([*"abc"], n_truths))
    source = rng.integers(0, n_truths, rng.integers(1, most + 1))
    found = np.vstack([boxes_like(rng, boxes[[row]], rng.choice([0.02, 0.2, 0.6])) for row in source])
    same = rng.random(len(source)) < 0.7
    category = np.where(same, truth["category"].to_numpy()[source], rng.choice([*"abcd"], len(source)))
    predictions = pd.DataFrame(found, columns=[*"xywh"])
    predictions = predictions.assign(sequence=truth["sequence"].to_numpy()[source], category=category)
    predictions["score"] = rng.random(len(source))
    return tuple(side.assign(frame=1, object=range(len(side))) for side in (truth, predictions))


@pytest.mark.parametrize("seeds", [range(start, start + 8) for start in (0, 8, 16)])
def test_boxes_are_as_tide_has_them(seeds: range) -> None:
    for seed in seeds:
        truth, predictions = random_boxes(seed)
        assert_is_tide(truth, predictions, tide_run(truth, predictions), sf.average_precision(truth, predictions))


def test_poses_are_as_tide_has_them() -> None:
    """tidecv knows boxes and masks. It gets OKS in place of their IoU, and each pose as a box that holds its number."""
    sigmas = {"a": 0.1, "b": 0.1}
    for seed in range(8):
        truth, predictions = random_boxes(seed, most=20)  # more poses an image and category do not count
        joints = []
        for side in (truth, predictions):
            long = side.loc[side.index.repeat(2)].assign(joint=[*"ab"] * len(side)).reset_index(drop=True)
            long["x"] += np.where(long["joint"] == "b", long["w"], 0)
            joints.append(long.drop(columns=["w", "h"]).assign(area=long["w"] * long["h"]))
        both = sf.average_precision(*joints, "oks", sigmas=sigmas)
        corners = [side[["x", "y"]].to_numpy().reshape(-1, 2, 2) for side in joints]
        area = (truth["w"] * truth["h"]).to_numpy()

        def oks(found: list[list[float]], true: list[list[float]], crowd: list[bool]) -> np.ndarray:
            places, of_truth = ([int(box[0]) for box in side] for side in (found, true))
            squared = ((corners[1][places][:, None] - corners[0][of_truth]) ** 2).sum(axis=-1)  # noqa: B023
            exponent = squared / 0.2**2 / (area[of_truth][:, None] + np.spacing(1)) / 2  # noqa: B023
            return np.exp(-exponent).mean(axis=-1)

        numbered = [side.assign(x=range(len(side))) for side in (truth, predictions)]
        assert_is_tide(truth, predictions, tide_run(*numbered, similarity=oks), both)


# Where it deliberately differs; docs/quirks.md has the reasons.


def test_categories_without_truths_have_no_ap() -> None:
    truth, found = squares((0, "cat")), squares((0, "cat", 0.9), (50, "dog", 0.5))
    run, costs = tide_run(truth, found), costs_of(truth, found)
    assert run.ap == pytest.approx(50)
    assert tide_gains(run)["Bkg"] == pytest.approx(50)
    assert costs.loc["background", ["dAP", "AP50_gain", "AP50"]].tolist() == pytest.approx([50, 0, 1])


def test_recall_points_are_those_of_pycocotools() -> None:
    """7 of 20 truths are a recall of 0.35; pycocotools' point there is 0.35000000000000003."""
    places = [(50 * number, "cat") for number in range(20)]
    truth, found = squares(*places), squares(*((*place, 0.5) for place in places[:7]))
    costs = costs_of(truth, found)
    assert costs.loc["all", "AP50_gain"] == pytest.approx(1 - 35 / 101)
    assert costs.loc["all", "dAP"] == pytest.approx(100 - 3600 / 101)
    assert tide_run(truth, found).ap == pytest.approx(3600 / 101)


def test_detections_in_crowds_are_no_errors() -> None:
    """The detection lies in the crowd of cats, and 5 px from another cat."""
    truth = squares((0, "cat"), (5, "cat")).assign(crowd=[False, True])
    found = squares((5, "cat", 0.9))
    costs = costs_of(truth, found)
    assert costs.loc[["lost", "mislocated"], "n_misses"].tolist() == [1, 0]
    assert costs.loc["all", "n_false_alarms"] == 0
    counts = {error.short_name: count for error, count in tide_run(truth, found).count_errors().items()}
    assert (counts["Miss"], counts["Loc"]) == (0, 1)


def test_a_hundred_detections_of_each_category_count() -> None:
    truth = squares((0, "cat"), (50, "dog"))
    found = squares(*((100 + 20 * number, "cat", 0.9) for number in range(100)), (50, "dog", 0.5))
    assert tide_run(truth, found, most=100).ap == pytest.approx(0)
    assert sf.average_precision(truth, found).summary["AP50"][0] == pytest.approx(0.5)


def test_equal_scores_stay_in_file_order() -> None:
    """Once anything is mended, tidecv counts all false alarms of a score before its true positives."""
    truth, found = squares((0, "cat")), squares((0, "cat", 0.5), (1, "cat", 0.5), (50, "cat", 0.9))
    run, costs = tide_run(truth, found), costs_of(truth, found)
    assert tide_gains(run)["Bkg"] == pytest.approx(0)
    assert costs.loc["background", "dAP"] == pytest.approx(50)


def test_of_equal_truths_the_last_is_found() -> None:
    truth = squares((0, "cat"), (4, "cat"))
    found = squares((2, "cat", 0.9), (4, "cat", 0.8))
    assert tide_run(truth, found).ap == pytest.approx(100)
    diagnosed = sf.diagnose(sf.average_precision(truth, found))
    assert diagnosed["kind"].tolist()[:1] == ["lost"]
    assert diagnosed["kind"].tolist()[2:] == ["duplicate"]


def test_nothing_left_is_nothing_wrong() -> None:
    """tidecv divides by zero here."""
    truth, found = squares((0, "cat")), squares((50, "dog", 0.5)).iloc[:0]
    costs = costs_of(truth, found)
    assert costs.loc[["lost", "all_misses", "all"], "AP50_gain"].tolist() == [1, 1, 1]
    assert costs.loc[["mislocated", "background"], ["AP50_gain", "dAP"]].to_numpy().tolist() == [[0, 0], [0, 0]]
    run = tide_run(truth, squares((50, "dog", 0.5)).assign(sequence=2))
    with pytest.raises(ZeroDivisionError):
        run.fix_errors(lambda error: True).get_mAP()


# --- input ---


def test_without_truths_there_is_no_ap() -> None:
    costs = costs_of(squares((0, "cat")).iloc[:0], squares((0, "cat", 0.5)))
    assert costs.loc["background", ["n_misses", "n_false_alarms"]].tolist() == [0, 1]
    assert costs[["AP50", "AP50_gain", "AP", "dAP"]].isna().all(axis=None)


def test_without_anything() -> None:
    empty = squares((0, "cat", 0.5)).iloc[:0]
    result = sf.average_precision(empty, empty)
    assert len(sf.diagnose(result)) == 0
    assert (sf.error_costs(result)["n_misses"] == 0).all()


def test_without_categories_nothing_is_confused() -> None:
    truth, found = TRUTH.drop(columns="category"), PREDICTIONS.drop(columns="category")
    costs = costs_of(truth, found)
    assert [*costs.index] == ["lost", "mislocated", "duplicate", "background", "all_misses", "all_false_alarms", "all"]
    assert [*sf.diagnose(sf.average_precision(truth, found))["kind"].cat.categories] == [*costs.index[:4]]


def test_ignored_rows_are_left_out() -> None:
    truth = squares((0, "cat"), (50, "cat")).assign(crowd=[False, True])
    diagnosed = sf.diagnose(sf.average_precision(truth, squares((50, "cat", 0.9), (52, "cat", 0.8))))
    assert diagnosed["outcome"].tolist() == ["FN"]
    assert diagnosed.index.tolist() == [0]


def test_a_saved_result_has_the_same_errors(tmp_path: Path) -> None:
    result = sf.average_precision(TRUTH, PREDICTIONS)
    sf.save(result, tmp_path / "iou")
    loaded = sf.load(tmp_path / "iou")
    pd.testing.assert_frame_equal(sf.error_costs(loaded), sf.error_costs(result))
    pd.testing.assert_frame_equal(sf.diagnose(loaded), sf.diagnose(result))
    pd.testing.assert_frame_equal(sf.confusion(loaded), sf.confusion(result))

    def exact(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
        return (truth["x"].to_numpy() == predictions["x"].to_numpy()).astype(float)

    measured = sf.average_precision(TRUTH, PREDICTIONS, exact)
    assert sf.error_costs(measured).set_index("kind").loc["confused", ["n_misses", "n_false_alarms"]].tolist() == [1, 1]
    sf.save(measured, tmp_path / "own")
    with refused(("the saved result", "exact")):
        sf.error_costs(sf.load(tmp_path / "own"))


def test_bad_input() -> None:
    result = sf.average_precision(TRUTH, PREDICTIONS)
    with refused(("threshold is 0.52", "0.50", "0.95"), error=ValueError):
        sf.diagnose(result, threshold=0.52)
    with refused("threshold is 'high'", error=ValueError):
        sf.diagnose(result, threshold="high")
    with refused(("least_similarity is 0.6", "0.5"), error=ValueError):
        sf.diagnose(result, least_similarity=0.6)
    with refused(("tau", "average_precision()"), error=ValueError):
        sf.diagnose(result, tau=3)
    with refused("identity", error=ValueError):
        sf.error_costs(result, identity="object")
    with refused(("diagnose", "average_precision()", "matches")):
        sf.diagnose(result.matches, threshold=0.5)
