"""Calibration: bins and errors worked out by hand, what chance explains, and what cannot be told."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.kinds import of_kind
from helpers.problems import refused, warned
from helpers.reference import PROJECT
from spotgeo_frames.tables.schema import OUTCOMES


def table(rows: list[tuple[Any, float, int]]) -> pd.DataFrame:
    """A match table with a detection a row: its sequence, its score, and 1 where it is right, 0 where it is wrong."""
    made = pd.DataFrame(rows, columns=["sequence", "predicted_score", "right"])
    outcome = pd.Categorical(np.where(made.pop("right") == 1, "TP", "FP"), OUTCOMES)
    made = made.assign(frame=1, outcome=outcome, distance=np.nan, squared_error=0.0, kelvins_error=0.0)
    return made.astype({"predicted_score": "float64"})


# Of two detections with a score of 0.2, one is right; of two with 0.8, both are.
FOUR = [(1, 0.2, 0), (2, 0.2, 1), (1, 0.8, 1), (2, 0.8, 1)]


def test_worked_out_by_hand() -> None:
    """Precision is 0.5 where scores are 0.2, and 1 where they are 0.8: the error is (0.3 + 0.2) / 2."""
    found = sf.calibration(table(FOUR), bins=2)
    assert found.bins["mean_score"].tolist() == pytest.approx([0.2, 0.8])
    assert found.bins["precision"].tolist() == [0.5, 1.0]
    assert found.bins["n_predicted"].tolist() == [2, 2]
    assert found.bins["n_sequences"].tolist() == [2, 2]
    [summary] = found.summary.to_dict("records")
    assert summary["expected_calibration_error"] == pytest.approx(0.25)
    # Without sequence 1 or 2 the low bin has 1 or 0: an error of 0.5 in its precision. The other has none.
    assert summary["by_chance"] == pytest.approx(0.5 * 0.5 * np.sqrt(2 / np.pi))
    assert (summary["low"], summary["n_predicted"], summary["n_sequences"]) == (0, 4, 2)
    assert summary["high"] > 0.25
    assert str(found).startswith("Calibration\n  expected_calibration_error 0.25, low 0")


def test_bins_are_those_of_intervals() -> None:
    truth, found = (sf.read_objects(PROJECT / f"data/boxes/{name}.parquet") for name in ("truth", "v1"))
    matches = sf.match(truth, found)
    bins = sf.calibration(matches, bins=7, confidence=0.9).bins
    expected = sf.intervals(matches, {"predicted_score": 7}, metrics=["precision"], confidence=0.9)
    assert bins["predicted_score"].tolist() == expected["predicted_score"].tolist()
    for column, other in (("precision", "estimate"), ("precision_low", "low"), ("precision_high", "high")):
        assert bins[column].tolist() == pytest.approx(expected[other].tolist())
    assert bins["n_sequences"].tolist() == expected["n_sequences"].tolist()


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(2, 12))
def test_the_error_against_its_definition(seed: int, n_bins: int) -> None:
    random = np.random.default_rng(seed)
    rows = list(zip(random.integers(0, 9, 80), random.random(80).round(2), random.integers(0, 2, 80), strict=True))
    matches = table(rows)
    found = sf.calibration(matches, bins=n_bins)
    in_bins = matches.groupby(pd.qcut(matches["predicted_score"], n_bins, duplicates="drop"), observed=True)
    right = in_bins["outcome"].apply(lambda of: (of == "TP").mean())
    apart = (right - in_bins["predicted_score"].mean()).abs()
    expected = np.average(apart, weights=in_bins.size())
    [summary] = found.summary.to_dict("records")
    assert summary["expected_calibration_error"] == pytest.approx(expected)
    assert found.bins["precision"].tolist() == pytest.approx(right.tolist())
    assert found.bins["n_predicted"].sum() == summary["n_predicted"] == 80
    if not np.isnan(summary["low"]):
        assert 0 <= summary["low"] <= expected <= summary["high"] <= 1


@pytest.mark.filterwarnings("ignore:calibration. low and high are null")
@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_bins_of_equal_width_are_those_of_d_ece(seed: int) -> None:
    """Scores of one digit lie on the edges, which belong to the bin above, and 1 to the last one."""
    random = np.random.default_rng(seed)
    scores = np.where(random.random(60) < 0.5, random.random(60).round(1), random.random(60))
    matches = table(list(zip(random.integers(0, 9, 60), scores, random.integers(0, 2, 60), strict=True)))
    found = sf.calibration(matches, bins="equal")
    sf.add_metrics("d_ece")
    try:
        expected = sf.summarize(matches)["d_ece"][0]
    finally:
        sf.metric("d_ece", None, None)
    assert found.summary["expected_calibration_error"][0] == pytest.approx(expected)
    counts, _ = np.histogram(scores, np.arange(11) / 10)
    assert found.bins["n_predicted"].tolist() == counts[counts > 0].tolist()
    assert [bin.left for bin in found.bins["predicted_score"]] == (np.flatnonzero(counts) / 10).tolist()


def drawn(seed: int, n_sequences: int, sharpness: float) -> pd.DataFrame:
    """Ten detections a sequence, calibrated if `sharpness` is 1."""
    random = np.random.default_rng(seed)
    logit = random.normal(0, 1.5, 10 * n_sequences)
    right = random.random(len(logit)) < 1 / (1 + np.exp(-logit))
    score = 1 / (1 + np.exp(-sharpness * logit))
    return table(list(zip(np.repeat(np.arange(n_sequences), 10), score, right.astype(int), strict=True)))


def test_a_calibrated_detector_has_the_error_of_chance() -> None:
    summaries = pd.concat([sf.calibration(drawn(seed, 40, 1.0)).summary for seed in range(30)])
    ratio = summaries["expected_calibration_error"].mean() / summaries["by_chance"].mean()
    assert ratio == pytest.approx(1, abs=0.1)
    assert (summaries["low"] == 0).mean() > 0.9


def test_scores_that_are_too_sure() -> None:
    found = sf.calibration(drawn(1, 200, 3.0))
    below = found.bins["precision"] < found.bins["mean_score"]
    assert below.tolist() == [False] * 5 + [True] * 5
    assert found.summary["low"][0] > 0.05


def test_average_precision_is_asked_at_a_threshold() -> None:
    """The detection with IoU 2/3 is right at 0.5 and wrong at 0.75; what a crowd explains is left out."""
    truth = pd.DataFrame({"sequence": [1, 2, 1], "frame": 1, "object": [1, 1, 2], "x": [0.0, 0.0, 200.0], "y": 0.0})
    truth = truth.assign(w=10.0, h=10.0, crowd=[False, False, True])
    result = sf.average_precision(truth, truth.drop(columns="crowd").assign(x=[0.0, 2.0, 200.0], score=0.9))
    at_half, higher = sf.calibration(result), sf.calibration(result, threshold=0.75)
    assert at_half.bins[["precision", "n_predicted"]].to_numpy().tolist() == [[1.0, 2]]
    assert higher.bins["precision"].tolist() == [0.5]
    assert (at_half.bins.attrs["threshold"], higher.summary.attrs["threshold"]) == (0.5, 0.75)
    of_rows = sf.calibration(result.matches[result.matches["threshold"] == 0.5])
    pd.testing.assert_frame_equal(of_rows.bins, at_half.bins)
    with refused(("calibration: x", "several thresholds")):
        sf.calibration(result.matches)


def test_little_data() -> None:
    with warned():
        nothing = sf.calibration(table([]))
    assert (len(nothing.bins), nothing.summary["n_predicted"].tolist()) == (0, [0])
    assert nothing.summary.iloc[0, :4].isna().all()
    with warned(("calibration: fewer than 20 sequences",), ("calibration: low and high are null", "fewer bins")):
        assert sf.calibration(table([(1, 0.5, 1), (2, 0.9, 1)]), bins=2).summary["low"].isna().all()
    with warned(("calibration: only one sequence", "low and high are null")):
        alone = sf.calibration(table([(1, 0.5, 1), (1, 0.9, 1)]), bins=2).summary
    assert alone["expected_calibration_error"][0] == pytest.approx(0.3)
    assert alone[["low", "high", "by_chance"]].isna().all(axis=None)
    with warned(("calibration: fewer than 20 sequences",)):
        same = sf.calibration(table([(name, 1.0, 1) for name in "abc"])).summary
    assert same["expected_calibration_error"][0] == same["low"][0] == 0
    assert same["high"][0] == pytest.approx(1 - 0.025 ** (1 / 3)), "three sequences without a mistake, no more"


def test_what_is_refused() -> None:
    with refused(("calibration: x", "column predicted_score", "0 to 1", "1.5")):
        sf.calibration(table([(1, 1.5, 1)]))
    with refused(("calibration: x", "predicted_score", "1 detection", "sequence 7, frame 1")):
        sf.calibration(table([(7, np.nan, 1), (1, 0.5, 0)]))
    with refused(("calibration: x", "predicted_score is missing", "score")):
        sf.calibration(table(FOUR).drop(columns="predicted_score"))
    with refused(("calibration: x", "predicted_score", "numbers are needed")):
        sf.calibration(table(FOUR).assign(predicted_score="high"))
    with refused(("calibration: x", "Calibration")):
        sf.calibration(sf.calibration(table(FOUR)))  # type: ignore[arg-type]
    for bins in (1, 2.0, True, 1001, "wide"):
        with refused(("bins is", repr(bins), "2 to 1000", "equal"), error=ValueError):
            sf.calibration(table(FOUR), bins)  # type: ignore[arg-type]
    with refused(("threshold", "leave it out"), error=ValueError):
        sf.calibration(table(FOUR), threshold=0.5)
    boxes = pd.DataFrame({"sequence": [1], "frame": 1, "object": 1, "x": 0.0, "y": 0.0, "w": 5.0, "h": 5.0})
    with refused(("threshold is 0.6001", "0.50"), error=ValueError):
        sf.calibration(sf.average_precision(boxes, boxes.assign(score=0.5)), threshold=0.6001)


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_an_average_precision_of_another_kind(kind: str) -> None:
    boxes = pd.DataFrame({"sequence": [1, 2], "frame": 1, "object": 1, "x": 0.0, "y": 0.0, "w": 5.0, "h": 5.0})
    result = sf.average_precision(*of_kind((boxes, boxes.assign(score=0.5)), kind))
    for got in (*sf.calibration(result), sf.operating_point(result, recall=0.5)):
        assert type(got) is type(result.summary)
