"""add_metrics(): panoptic quality, LRP and F-beta, by hand and where other metrics are."""

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused, warned
from helpers.scenes import objects

# All are added in each test, also in those whose matches lack what one of them asks for.
pytestmark = pytest.mark.filterwarnings("ignore:.*metric (pq|d_ece) is left out", "ignore:.*low and high of d_ece")

NAMES = ("pq", "lrp", "d_ece", "f2", "f0_5")


@pytest.fixture(autouse=True)
def added() -> Iterator[None]:
    sf.add_metrics(*NAMES)
    yield
    for name in NAMES:
        sf.metric(name, None, None)


def boxes() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two hits with IoU of 9/11 and 7/13, a miss and two false alarms, of which one sequence has one hit alone."""
    truth = pd.DataFrame({"sequence": [1, 2, 2], "frame": 1, "object": [1, 1, 2], "x": [0.0, 0.0, 100.0], "y": 0.0})
    found = truth.assign(x=[1.0, 3.0, 300.0])
    more = found.tail(1).assign(object=9, x=400.0)
    return tuple(side.assign(w=10.0, h=10.0) for side in (truth, pd.concat([found, more], ignore_index=True)))  # type: ignore[return-value]


def test_by_hand() -> None:
    row = sf.summarize(sf.match(*boxes())).iloc[0]
    near = [9 / 11, 7 / 13]
    assert row["pq"] == pytest.approx(sum(near) / (2 + 1 / 2 + 2 / 2))
    assert row["pq"] == pytest.approx(row["f1"] * row["loc_a"])
    assert row["lrp"] == pytest.approx((sum((1 - one) / 0.5 for one in near) + 1 + 2) / 5)
    assert row["f2"] == pytest.approx(5 * 2 / (5 * 2 + 4 * 1 + 2))
    assert row["f0_5"] == pytest.approx(1.25 * 2 / (1.25 * 2 + 0.25 * 1 + 2))


def test_slices_and_intervals() -> None:
    matches = sf.match(*boxes())
    assert sf.summarize(matches, "sequence")["lrp"].tolist() == pytest.approx([2 * 2 / 11, (2 * 6 / 13 + 3) / 4])
    assert sf.summarize(matches, "sequence")["pq"][0] == pytest.approx(9 / 11)
    rows = sf.intervals(matches, metrics=["pq", "lrp"])
    assert rows["estimate"].tolist() == pytest.approx(sf.summarize(matches)[["pq", "lrp"]].iloc[0].tolist())


def test_points_have_errors_by_tau_and_no_panoptic_quality() -> None:
    matches = sf.match(objects([(1, 1, 10.0, 5.0)]), objects([(1, 1, 14.0, 5.0)]), tau=8, epsilon=0)
    with warned(("summarize", "metric pq is left out", "similarity")):
        row = sf.summarize(matches).iloc[0]
    assert row["lrp"] == pytest.approx(0.5)
    assert "pq" not in row


def test_nothing_to_count_is_null() -> None:
    truth, found = boxes()
    frames = truth[["sequence", "frame"]].drop_duplicates()
    row = sf.summarize(sf.match(sf.Annotations(truth.head(0), frames), found.head(0))).iloc[0]
    assert np.isnan(row[["lrp", "f2"]].to_numpy(float)).all()


@pytest.mark.parametrize("name", ["f0", "fb", "PQ", 2])
def test_unknown_metrics(name: object) -> None:
    with refused(("add_metrics", "no metric that is known", "pq", "'f2'")):
        sf.add_metrics(name)  # type: ignore[arg-type]


def test_vernier_has_the_same_panoptic_quality() -> None:
    """Things that are rectangles in cells of their own, before a background that fills the rest of each image."""
    panoptic = pytest.importorskip("vernier.panoptic")
    random, size, cell = np.random.default_rng(3), 80, 20
    rows: list[list[dict[str, object]]] = [[], []]
    maps: list[dict[int, np.ndarray]] = [{}, {}]
    said: list[dict[int, list[dict[str, object]]]] = [{}, {}]
    for image in range(1, 7):
        drawn = [np.ones((size, size), np.uint32) for _ in rows]
        segments = [[{"id": 1, "category_id": 9, "iscrowd": 0}] for _ in rows]
        for place in range((size // cell) ** 2):
            x, y = place % (size // cell) * cell, place // (size // cell) * cell
            for side in (0, 1):
                if random.random() < 0.25:
                    continue
                w, h = (int(value) for value in random.integers(9, 19, 2))
                category, number = int(random.integers(1, 3)), 2 + place
                drawn[side][y : y + h, x : x + w] = number
                segments[side].append({"id": number, "category_id": category, "iscrowd": 0})
                box = {"x": float(x), "y": float(y), "w": float(w), "h": float(h)}
                rows[side].append({"sequence": image, "frame": 1, "object": number, "category": category, **box})
        for side in (0, 1):
            of_side = [segment | {"area": int((drawn[side] == segment["id"]).sum())} for segment in segments[side]]
            maps[side][image] = drawn[side]
            said[side][image] = of_side
    classes = [{"id": one, "name": str(one), "isthing": int(one < 9)} for one in (1, 2, 9)]
    infos = [json.dumps(of_side).encode() for of_side in said]
    known = panoptic.Dataset.from_arrays(maps[0], infos[0], json.dumps(classes).encode())
    found = panoptic.Predictions.from_arrays(maps[1], infos[1])
    stats = panoptic.Evaluator().evaluate(known, found)
    table = sf.summarize(sf.match(*(pd.DataFrame(of_side) for of_side in rows)), "category")
    assert table["pq"].mean() == pytest.approx(stats.pq_things, abs=1e-12)


def test_intervals_and_comparisons_know_them_by_name() -> None:
    """Nothing has to be added before a metric of the field is asked for by its name."""
    for name in NAMES:
        sf.metric(name, None, None)
    matches = sf.match(*boxes())
    rows = sf.intervals(matches, metrics=["f2", "lrp"])
    assert rows["metric"].tolist() == ["f2", "lrp"]
    assert rows["estimate"][0] == pytest.approx(5 * 2 / (5 * 2 + 4 * 1 + 2))
    sf.add_metrics(*NAMES)


def scored(n_sequences: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A detector whose scores are the chances of being right."""
    random = np.random.default_rng(0)
    rows = [(sequence, 1, 100.0 * number, 5.0) for sequence in range(1, n_sequences + 1) for number in range(6)]
    truth = objects(rows)
    score = random.random(len(rows))
    off = np.where(random.random(len(rows)) < score, 0.0, 50.0)
    return truth, truth.assign(x=truth["x"] + off, score=score)


def test_calibration_error_by_hand() -> None:
    """Two right and one wrong around 0.7, one wrong at 1, which belongs to the last bin, and one right at 0."""
    truth = objects([(1, 1, 0.0, 0.0), (1, 1, 100.0, 0.0), (1, 1, 700.0, 0.0), (1, 1, 900.0, 0.0)])
    found = objects([(1, 1, x, 0.0) for x in (0.0, 100.0, 300.0, 500.0, 700.0)])
    matches = sf.match(truth, found.assign(score=[0.75, 0.7, 0.79, 1.0, 0.0]))
    expected = (abs(2 - 0.75 - 0.7 - 0.79) + abs(0 - 1.0) + abs(1 - 0.0)) / 5
    assert sf.summarize(matches)["d_ece"][0] == pytest.approx(expected)
    nothing = sf.match(truth, found.head(0).assign(score=pd.Series(dtype=float)))
    assert np.isnan(sf.summarize(nothing)["d_ece"][0])


def test_calibration_error_against_plain_bins() -> None:
    matches = sf.match(*scored(40))
    detected = matches[matches["outcome"].isin(["TP", "FP"])]
    place = np.minimum((detected["predicted_score"] * 10).astype(int), 9)
    right = (detected["outcome"] == "TP").astype(float)
    groups = pd.DataFrame({"place": place, "right": right, "score": detected["predicted_score"]}).groupby("place")
    means, sizes = groups.mean(), groups.size()
    expected = ((means["right"] - means["score"]).abs() * sizes).sum() / sizes.sum()
    assert sf.summarize(matches)["d_ece"][0] == pytest.approx(expected)


def test_calibration_error_has_no_interval_and_says_why() -> None:
    """A calibrated detector has one above 0, so an interval around it would hardly ever hold the truth."""
    truth, found = scored(40)
    matches = {"a": sf.match(truth, found), "b": sf.match(truth, found[found["score"] > 0.2])}
    assert sf.summarize(matches["a"])["d_ece"][0] > 0
    for table in (
        sf.intervals(matches["a"], metrics=["d_ece", "f1"]),
        sf.compare(matches, metrics=["d_ece", "f1"]).pairs,
    ):
        row, other = table.iloc[0], table.iloc[1]
        assert np.isnan(row["low"])
        assert np.isnan(row["high"])
        assert not np.isnan(row["estimate"])
        assert "even if they are calibrated" in row["reason"]
        assert not np.isnan(other["low"])
    assert np.isnan(sf.compare(matches, metrics=["d_ece"]).pairs["p_value"][0])
    one = sf.match(truth.assign(sequence=1, frame=truth["sequence"]), found.assign(sequence=1, frame=found["sequence"]))
    assert np.isnan(sf.intervals(one, metrics=["d_ece"], method="batch_means")["low"][0])
    with refused(("sample_size", "d_ece has no interval")):
        sf.sample_size(matches["a"], "d_ece", margin=0.1)
    with refused(("non_inferiority", "d_ece has no interval")):
        sf.non_inferiority(matches["a"], matches["b"], "d_ece", margin=0.1)


def test_scores_that_are_no_chances_are_refused() -> None:
    truth, found = scored(3)
    for score in (7.0, -0.1):
        with refused(("metric d_ece", "outside 0 to 1")):
            sf.summarize(sf.match(truth, found.assign(score=score)))
