"""Sweeps: every point is the ordinary summary of the predictions that are left."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.problems import refused, warned
from helpers.scenes import grid, objects
from spotgeo_frames.analysis.thresholds.sweeps import area_under_precision_recall

NUMBERS = ["n_predicted", "tp", "fn", "fp", "precision", "recall", "f1", "mse", "kelvins_mse", "loc_a"]
SIGMAS = {"head": 0.1, "hand": 0.2}


def scored(seed: int, n_frames: int = 40, levels: int = 6) -> tuple[sf.Annotations, pd.DataFrame]:
    random = np.random.default_rng(seed)
    truth, predictions = grid(random, n_frames, 5, 25)
    frames = pd.DataFrame({"sequence": np.arange(n_frames) // 5, "frame": np.arange(n_frames) % 5})
    return sf.Annotations(truth, frames), predictions.assign(
        score=random.integers(0, levels, len(predictions)) / levels
    )


def of_kind(kind: str, seed: int, whole: bool) -> tuple[sf.Annotations, pd.DataFrame]:
    """Truth and scored predictions: on whole pixels, where equal costs abound, or beside them; scores are tied, too."""
    random = np.random.default_rng(seed)
    truth, predictions = grid(random, 8, int(random.integers(1, 8)), int(random.integers(4, 12)))
    predictions["score"] = random.integers(0, 5, len(predictions)) / 5
    if not whole:
        predictions[["x", "y"]] += random.normal(0, 0.2, (len(predictions), 2))
    sides = [truth, predictions]
    if "boxes" in kind:
        sides = [side.assign(w=random.integers(3, 6, len(side)), h=4.0) for side in sides]
    if "crowds" in kind:
        sides[0]["crowd"] = random.random(len(truth)) < 0.3
    if "categories" in kind:
        sides = [side.assign(category=random.choice(["a", "b"], len(side))) for side in sides]
    if kind in ("joints", "poses"):
        sides = [
            pd.concat([side.assign(joint="head"), side.assign(joint="hand", x=side["x"] + 1)], ignore_index=True)
            for side in sides
        ]
        sides[0]["area"] = 30.0
    if kind == "joints":
        sides[1]["score"] = random.integers(0, 5, len(sides[1])) / 5
    frames = pd.DataFrame({"sequence": np.arange(8) // 5, "frame": np.arange(8) % 5})
    return sf.Annotations(sides[0], frames), sides[1]


def closeness(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
    return 1 / (1 + (truth["x"] - predictions["x"]).abs().to_numpy() + (truth["y"] - predictions["y"]).abs().to_numpy())


RULES: dict[str, list[dict[str, Any]]] = {
    "points": [{"tau": [2, 5], "epsilon": 1}, {"similarity": "point", "tau": 4, "threshold": [0.5, 0.7]}],
    "points with categories": [{"tau": [3, 4], "epsilon": 2}, {"similarity": closeness, "threshold": [0.2, 0.4]}],
    "boxes": [{"threshold": [0.2, 0.5]}, {"tau": 3, "epsilon": 1}],
    "boxes with categories and crowds": [{"threshold": [0.2, 0.5]}],
    "points with crowds": [{"tau": [2, 4], "epsilon": 1}],
    "joints": [{"tau": 3, "epsilon": 1}],
    "poses": [{"similarity": "oks", "sigmas": SIGMAS, "threshold": [0.3, 0.6]}],
}


@pytest.mark.parametrize("kind", RULES)
@settings(max_examples=8)
@given(st.integers(0, 10_000), st.booleans())
def test_every_point_is_a_match_of_its_own(kind: str, seed: int, whole: bool) -> None:
    truth, predictions = of_kind(kind, seed, whole)
    for words in RULES[kind]:
        curve, _ = sf.sweep(truth, predictions, **words)
        assert curve["score_threshold"].unique().tolist() == sorted(predictions["score"].unique())
        for row in curve.to_dict("records"):
            limit = {name: row[name] for name in ("tau", "threshold") if name in row}
            left = predictions[predictions["score"] >= row["score_threshold"]]
            matches = sf.match(truth, left, **words | limit)
            [wanted] = sf.summarize(matches).to_dict("records")
            for name in (name for name in NUMBERS if name in row):
                assert row[name] == pytest.approx(wanted[name], nan_ok=True), name


def test_best_threshold() -> None:
    """True predictions score high, false ones low."""
    random = np.random.default_rng(1)
    truth = objects([(s, f, *random.uniform(0, 600, 2)) for s in range(30) for f in range(5) for _ in range(3)])
    false = objects([(s, f, *random.uniform(0, 600, 2)) for s in range(30) for f in range(5) for _ in range(4)])
    found = truth.assign(score=random.beta(6, 2, len(truth)))
    wrong = false.assign(object=false["object"] + 100, score=random.beta(2, 6, len(false)))
    curve, best = sf.sweep(truth, pd.concat([found, wrong]))
    [row] = best.to_dict("records")
    assert len(curve) == 200, "of evenly spaced ranks"
    assert row["f1"] == curve["f1"].max()
    assert curve.loc[curve["f1"].idxmax(), "score_threshold"] == row["score_threshold"]
    assert 0.3 < row["score_threshold"] < 0.7
    assert row["f1_cross_validated_low"] < row["f1_cross_validated"] < row["f1"] < row["f1_cross_validated_high"]
    assert 0.9 < row["average_precision"] < 1
    assert curve["recall"].is_monotonic_decreasing


def box(x: float, score: float | None = None, **columns: Any) -> dict[str, Any]:
    row = {"sequence": 1, "frame": 1, "object": int(10 * x), "x": x, "y": 0.0, "w": 10.0, "h": 10.0}
    return row | ({} if score is None else {"score": score}) | columns


def test_boxes_by_hand() -> None:
    """IoU of squares of 10 that are 2 apart is 8/12, and 5 apart 5/15; the sure prediction is the worse one."""
    truth = pd.DataFrame([box(0), box(100)])
    predictions = pd.DataFrame([box(2, 0.3), box(5, 0.8), box(100, 0.5), box(200, 0.3)])
    curve, best = sf.sweep(truth, predictions, threshold=[0.5, 0.25])
    assert curve.columns.tolist() == ["threshold", "score_threshold", *(n for n in NUMBERS if "mse" not in n)]
    rows = curve[["threshold", "score_threshold", "tp", "fn", "fp", "loc_a"]].round(3).values.tolist()
    assert rows == [
        [0.25, 0.3, 2, 0, 2, 0.833],
        [0.25, 0.5, 2, 0, 0, 0.667],
        [0.25, 0.8, 1, 1, 0, 0.333],
        [0.5, 0.3, 2, 0, 2, 0.833],
        [0.5, 0.5, 1, 1, 1, 1.0],
        [0.5, 0.8, 0, 2, 1, pytest.approx(np.nan, nan_ok=True)],
    ]
    assert best[["threshold", "score_threshold", "f1"]].round(3).values.tolist() == [[0.25, 0.5, 1], [0.5, 0.3, 0.667]]
    assert curve.attrs["rule"] == "iou"
    assert "threshold" not in curve.attrs


def test_whole_poses_have_one_score() -> None:
    pose = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 1, 2, 2], "joint": ["head", "hand"] * 2})
    pose = pose.assign(x=[0.0, 1, 50, 51], y=0.0)
    predictions = pose.assign(score=[0.9, 0.9, 0.2, 0.2])
    words: dict[str, Any] = {"similarity": "oks", "sigmas": SIGMAS}
    curve, _ = sf.sweep(pose.assign(area=30.0), predictions, **words)
    assert curve[["score_threshold", "n_predicted", "tp"]].values.tolist() == [[0.2, 2, 2], [0.9, 1, 1]]
    with refused(("predictions: column score", "1 pose", "sequence 1, frame 1, object 2")):
        sf.sweep(pose.assign(area=30.0), predictions.assign(score=[0.9, 0.9, 0.2, 0.3]), **words)


def test_average_precision_by_hand() -> None:
    points = pd.DataFrame({"recall": [0.8, 0.6, 0.2], "precision": [0.5, 0.9, 0.6]})
    assert area_under_precision_recall(points) == pytest.approx(0.2 * 0.9 + 0.4 * 0.9 + 0.2 * 0.5)


def test_given_thresholds() -> None:
    truth, predictions = scored(3)
    curve, best = sf.sweep(truth, predictions, score=[2.0, 0.5, -1], tau=10)
    assert curve["score_threshold"].tolist() == [-1, 0.5, 2]
    assert curve["n_predicted"].tolist()[::2] == [len(predictions), 0]
    assert np.isnan(curve["precision"].iloc[-1])
    assert len(best) == 1


def test_what_a_sweep_refuses() -> None:
    truth, predictions = scored(4)
    with refused("predictions: column score"):
        sf.sweep(truth, predictions.drop(columns="score"))
    with refused(("predictions: column score", "1 row", "sequence 0, frame 1, object 2")):
        sf.sweep(truth, predictions.assign(score=predictions["score"].where(predictions.index != 3)))
    with refused(("tau", "2", "epsilon 3"), error=ValueError):
        sf.sweep(truth, predictions, tau=[2, 10], epsilon=3)
    with refused("score", error=ValueError):
        sf.sweep(truth, predictions, score=[])
    with refused(("tau", "a list of thresholds"), error=ValueError):
        sf.sweep(truth, predictions, tau=[5, 10], similarity="point")
    with refused("tau", error=ValueError):
        sf.sweep(truth, predictions, tau=[5, 10], threshold=[0.5, 0.7], similarity="point")
    with refused("threshold belongs", error=ValueError):
        sf.sweep(truth, predictions, tau=[5, 10], threshold=[0.5, 0.7])
    with refused("threshold belongs"):
        sf.sweep(truth, predictions, threshold=[0.5, 0.7])
    with refused("predictions: has boxes (w and h), and truth has none"):
        sf.sweep(truth, predictions.assign(w=1.0, h=1.0))


@pytest.mark.filterwarnings("ignore:sweep. categories are not compared")
def test_a_class_on_one_side_only() -> None:
    truth = pd.DataFrame([box(0, category="car"), box(100, category="car")])
    predictions = pd.DataFrame([box(0, 0.5, category="bus"), box(100, 0.6, category="car")])
    curve, _ = sf.sweep(truth, predictions)
    assert curve[["tp", "fn", "fp"]].values.tolist() == [[1, 1, 1], [1, 1, 0]]
    same, _ = sf.sweep(truth.drop(columns="category"), predictions)
    assert same["tp"].tolist() == [2, 1], "classes on one side only do not count"


@pytest.mark.parametrize("tau", [[5, None], [True, 10], ["10"], [], [[5, 10]]])
def test_a_list_of_taus_holds_numbers(tau: list[Any]) -> None:
    with refused("tau", error=ValueError):
        sf.sweep(*scored(4), tau=tau, epsilon=0.5)


@pytest.mark.parametrize("threshold", [[0.5, None], [True, 0.5], ["0.5"], "0.5", [], [[0.5]], [0, 0.5], [0.5, 1.1]])
def test_a_list_of_similarities_holds_similarities(threshold: list[Any]) -> None:
    truth = pd.DataFrame([box(0, 0.5)])
    with refused("threshold", error=ValueError):
        sf.sweep(truth, truth, threshold=threshold)


@pytest.mark.parametrize("score", [[0.1, "a"], ["0.5"], "0.5", [True], [None, 0.5]])
def test_a_list_of_scores_holds_numbers(score: Any) -> None:
    with refused("score", error=ValueError):
        sf.sweep(*scored(4), score=score)


def test_a_sweep_of_nothing() -> None:
    truth, predictions = scored(5)
    curve, best = sf.sweep(truth, predictions.head(0))
    assert len(curve) == 0
    assert best["score_threshold"].isna().all()
    assert best["average_precision"].tolist() == [0]
    nothing = sf.sweep(truth.objects.head(0), predictions.head(0))
    assert nothing.best["average_precision"].isna().all()
    _, best = sf.sweep(truth.objects.head(0), predictions)
    assert best["average_precision"].isna().all()


VALIDATED = ["f1_cross_validated", "f1_cross_validated_low", "f1_cross_validated_high"]
ONE_SEQUENCE = "sweep: only one sequence has objects, and no other can try its threshold, so f1_cross_validated is null"

# Of each sequence the scores of hits, and of false alarms; every truth is found at the lowest score.
THREE = {"a": ([0.8, 0.3], []), "b": ([0.8], [0.3, 0.3]), "c": ([0.8], [0.3])}


@pytest.mark.parametrize("kind", ["points", "boxes", "poses"])
def test_all_predictions_cover_a_crowd(kind: str, tmp_path: Path) -> None:
    """Each has a truth beside the crowd, so that no prediction may become a false alarm and no crowd explains any."""
    truth, _ = of_kind(kind, 0, whole=True)
    truth = truth.objects.assign(crowd=False)
    crowds = truth.assign(object=truth["object"] + 1000, crowd=True)
    exact = truth.drop(columns=["crowd", "area"], errors="ignore").assign(score=0.5)
    rule: dict[str, Any] = {"similarity": "oks", "sigmas": SIGMAS} if kind == "poses" else {}
    both = pd.concat([truth, crowds], ignore_index=True)
    curve, best = sf.sweep(both, exact, **rule)
    summary = sf.summarize(sf.match(both, exact, **rule))
    assert curve[["tp", "fn", "fp"]].values.tolist() == summary[["tp", "fn", "fp"]].values.tolist()
    assert best["f1"].tolist() == [1.0]
    sf.report(both, {"exact": exact}, tmp_path / "page.html", **rule)
    assert (tmp_path / "page.html").exists()


def of_scores(sequences: dict[str, tuple[list[float], list[float]]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    rows = [(s, 1, 100.0 * k, 0.0, score) for s, (hits, _) in sequences.items() for k, score in enumerate(hits)]
    others = [(s, 1, 100.0 * k, 500.0, score) for s, (_, false) in sequences.items() for k, score in enumerate(false)]
    truth, predictions = (objects([row[:4] for row in of]) for of in (rows, rows + others))
    return truth, predictions.assign(score=[row[4] for row in rows + others])


def test_other_sequences_choose_the_threshold() -> None:
    """By hand. All three choose 0.8, with 3 TP and 1 FN. Those beside b choose 0.3, where b has 2 FP.

    Without a, f1 is 4/7 at 0.3 and 1 at 0.8; without b 6/7 and 4/5; without c 6/8 and 4/5.
    """
    _, best = sf.sweep(*of_scores(THREE))
    assert best.columns.tolist() == ["tau", "average_precision", "score_threshold", "f1", *VALIDATED]
    [row] = best.to_dict("records")
    assert row["score_threshold"] == 0.8
    assert row["f1"] == pytest.approx(6 / 7)
    assert row["f1_cross_validated"] == pytest.approx(6 / 9)
    assert 0 < row["f1_cross_validated_low"] < 6 / 9 < row["f1_cross_validated_high"] < 1
    assert "f1 0.8571, f1_cross_validated 0.6667" in repr(sf.sweep(*of_scores(THREE)))


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(2, 9))
def test_below_ten_sequences_each_is_left_out(seed: int, n_sequences: int) -> None:
    """Against sweeps of all sequences but one, and matches of that one."""
    random = np.random.default_rng(seed)
    truth, predictions = grid(random, n_sequences, 4, 12)
    sides = [side.assign(sequence=side["frame"] + 5 * side["sequence"], frame=1) for side in (truth, predictions)]
    levels = [0.2, 0.4, 0.6]
    sides[1]["score"] = random.choice(levels, len(sides[1]))
    names = sorted({*sides[0]["sequence"], *sides[1]["sequence"]})
    if len(names) < 2 or len({*sides[0]["sequence"]} & {*sides[1]["sequence"]}) < 3:
        return
    added = np.zeros(3)
    for name in names:
        others = sf.sweep(*(side[side["sequence"] != name] for side in sides), score=levels).best
        truth, predictions = (side[side["sequence"] == name] for side in sides)
        left = predictions[predictions["score"] >= others["score_threshold"].iloc[0]]
        both = sf.Annotations(truth, pd.DataFrame({"sequence": [name], "frame": [1]}))
        added += sf.summarize(sf.match(both, left)).loc[0, ["tp", "fn", "fp"]].to_numpy(float)
    expected = 2 * added[0] / (2 * added[0] + added[1] + added[2])
    assert sf.sweep(*sides, score=levels).best["f1_cross_validated"].iloc[0] == pytest.approx(expected)


def test_ten_folds_depend_on_the_seed_alone() -> None:
    random = np.random.default_rng(8)
    truth, predictions = of_scores(
        {s: (list(random.normal(1, 1, 5)), list(random.normal(-1, 1, 5))) for s in range(30)}
    )
    [first, shuffled, other] = (
        sf.sweep(truth, table, seed=seed).best
        for table, seed in ((predictions, 1), (predictions.sample(frac=1, random_state=2), 1), (predictions, 2))
    )
    pd.testing.assert_frame_equal(first, shuffled)
    assert first["f1_cross_validated"].iloc[0] != other["f1_cross_validated"].iloc[0]
    assert first["f1"].equals(other["f1"])


@pytest.mark.parametrize("n_frames", [15, 55, 200])
def test_where_nothing_is_chosen_the_interval_is_the_ordinary_one(n_frames: int) -> None:
    """All scores are equal, so there is one threshold, and it is not too good."""
    truth, predictions = scored(9, n_frames)
    [best] = sf.sweep(truth, predictions.assign(score=0.5), confidence=0.9).best.to_dict("records")
    with warnings.catch_warnings(action="ignore"):
        ordinary = sf.intervals(sf.match(truth, predictions), metrics=["f1"], confidence=0.9)
    assert [best[name] for name in VALIDATED] == pytest.approx(ordinary[["estimate", "low", "high"]].iloc[0].tolist())
    assert best["f1"] == best["f1_cross_validated"]


def test_one_sequence_has_no_other_to_try_its_threshold() -> None:
    truth, predictions = of_scores({"a": ([0.8, 0.3], [0.5])})
    listed = pd.DataFrame({"sequence": ["a", "empty"], "frame": 1})
    for side in (truth, sf.Annotations(truth, listed)):
        with warned(ONE_SEQUENCE):
            _, best = sf.sweep(side, predictions, tau=[5, 10])
        assert best["f1"].notna().all()
        assert best[VALIDATED].isna().all(axis=None)


def test_a_sequence_without_objects_at_the_threshold() -> None:
    """The other sequence has false alarms alone, all of them below the threshold; nothing tells how others differ."""
    truth, predictions = of_scores({"a": ([0.8], []), "b": ([], [0.3])})
    few = ("sweep", "only one sequence has objects at the threshold", "f1_cross_validated has no interval")
    with warned(("sweep", "1 sequence of the predictions (b)"), few):
        _, best = sf.sweep(truth, predictions)
    assert best[["f1", "f1_cross_validated"]].iloc[0].tolist() == [1, 1]


def test_cross_validation_without_truths() -> None:
    truth, predictions = scored(5)
    [row] = sf.sweep(truth._replace(objects=truth.objects.head(0)), predictions).best.to_dict("records")
    assert (row["f1"], row["f1_cross_validated"], row["f1_cross_validated_low"]) == (0, 0, 0)
    assert sf.sweep(truth, predictions.head(0)).best[["f1", *VALIDATED]].isna().all(axis=None)


def test_the_notes_count_crowds() -> None:
    """The curve's lowest threshold keeps all predictions but those that crowds explain, as `match` does."""
    truth, predictions = of_kind("boxes with crowds", 3, whole=True)
    swept = sf.sweep(truth, predictions)
    matches = sf.match(truth, predictions)
    assert swept.curve.attrs["crowds"] == swept.best.attrs["crowds"] == matches.attrs["crowds"] > 0
    assert swept.curve["n_predicted"].iloc[0] + matches.attrs["explained"] == len(predictions)
