"""Extreme values that are accepted: no warning of NumPy reaches the user, whatever is computed of them."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings

import spotgeo_frames as sf

LARGEST = 1e149
COORDINATES = st.sampled_from([0.0, 1.0, 2.0, 30.0, LARGEST, -LARGEST, 5e-324, 1e-160])
SIZES = st.sampled_from([0.0, 3.0, 4.0, LARGEST, 5e-324, 1e-160])
SCORES = st.sampled_from([0.1, 0.5, np.inf, -np.inf, 1e308, -1e308, 0.0, 5e-324])
ATTRIBUTES = st.sampled_from([0.0, 1.0, 2.0, np.nan, 1e308, -1e308, 5e-324, 1e-300])


@st.composite
def sides(draw: st.DrawFn, boxes: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A truth and predictions of up to three sequences; each column has few values, as extremes seldom come alone."""

    def side(name: str) -> pd.DataFrame:
        n_sequences, n_objects = draw(st.integers(1, 3)), draw(st.integers(0 if name == "predictions" else 1, 3))
        key = pd.MultiIndex.from_product([range(n_sequences), range(2), range(n_objects)])
        table = key.to_frame(index=False, name=["sequence", "frame", "object"]).astype(np.int64)
        columns = {"x": COORDINATES, "y": COORDINATES} | ({"w": SIZES, "h": SIZES} if boxes else {})
        columns |= {"attribute": ATTRIBUTES, "score": SCORES}
        for column, values in columns.items():
            few = draw(st.lists(values, min_size=1, max_size=3))
            table[column] = np.resize(np.array(few), len(table))
        return table.drop(columns="score") if name == "truth" else table

    return side("truth"), side("predictions")


def of_matches(matches: pd.DataFrame) -> list[Callable[[], Any]]:
    return [
        lambda: sf.summarize(matches, by="sequence"),
        lambda: sf.summarize(matches, by={"truth_x": 2}),
        lambda: sf.summarize(matches, by={"truth_attribute": 3}),
        lambda: sf.combine([sf.sums(matches)]),
        lambda: sf.intervals(matches),
        lambda: sf.intervals(matches, method="percentile", resamples=50),
        lambda: sf.compare({"a": matches, "b": matches}, resamples=50),
        lambda: sf.leaderboard({"a": matches}),
        lambda: sf.error_costs(sf.diagnose(matches)),
        lambda: sf.bias(matches, by="sequence"),
        lambda: sf.object_summary(matches),
        lambda: sf.changes(matches, matches),
        lambda: sf.calibration(matches),
        lambda: sf.operating_point(matches, recall=0.5),
        lambda: sf.detection_limit(matches, "truth_attribute"),
        lambda: sf.detection_limit(matches, "truth_x"),
        lambda: sf.worst_slices(matches, ["truth_x", "truth_attribute"], min_sequences=2),
    ]


def of_sides(truth: pd.DataFrame, predictions: pd.DataFrame, boxes: bool) -> list[Callable[[], Any]]:
    def batches() -> Any:
        accumulator = sf.Accumulator()
        accumulator.update(truth, predictions)
        return accumulator.compute()

    def tracked() -> Any:
        return sf.intervals(sf.track(truth, predictions))

    of_boxes = [
        lambda: sf.average_precision(truth, predictions).curve,
        lambda: sf.intervals(sf.average_precision(truth, predictions)),
        lambda: sf.average_precision(truth, predictions, by={"truth_attribute": 2}),
    ]
    return [
        batches,
        tracked,
        lambda: sf.check(truth, predictions),
        lambda: sf.check(truth, predictions, tracks=True),
        lambda: sf.sweep(truth, predictions),
        *(of_boxes if boxes else []),
    ]


def assert_quiet(ask: Callable[[], Any]) -> Any:
    """What is computed without a warning of NumPy; None where it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return ask()
        except sf.InputError:
            return None


@pytest.mark.parametrize("boxes", [False, True], ids=["points", "boxes"])
# Without shrinking, which takes minutes: each example asks for some sixty results.
@settings(max_examples=12, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(data=st.data())
def test_no_warning_of_numpy_reaches_the_user(boxes: bool, data: st.DataObject) -> None:
    truth, predictions = data.draw(sides(boxes))
    rules: list[dict[str, Any]] = [{}, {"tau": LARGEST}, {"tau": 1e-160, "epsilon": 0.0}]
    for words in rules:
        matches = assert_quiet(partial(sf.match, truth, predictions, **words))
        if matches is not None:
            for ask in of_matches(matches):
                assert_quiet(ask)
    for ask in of_sides(truth, predictions, boxes):
        assert_quiet(ask)


@pytest.mark.parametrize("edge", [1e308, 1e149, 5e-324, 1e-300, 3.0])
def test_values_that_pandas_cannot_round_have_bins(edge: float) -> None:
    truth = pd.DataFrame({"sequence": 1, "frame": range(4), "object": 0, "x": 1.0, "y": 1.0})
    truth["depth"] = [-edge, -edge, edge, edge]
    summary = assert_quiet(lambda: sf.summarize(sf.match(truth, truth), by={"truth_depth": 2}))
    assert summary["tp"].tolist() == [2, 2]
    bins = summary["truth_depth"].tolist()
    assert all(np.isfinite([interval.left, interval.right]).all() for interval in bins)
    assert bins[-1].right == edge


def test_equal_scores_without_end_are_one_threshold() -> None:
    """Two detections share the highest score, so no threshold takes one of them alone."""
    truth = pd.DataFrame({"sequence": 1, "frame": range(4), "object": 0, "x": 1.0, "y": 1.0})
    found = truth.assign(score=[np.inf, np.inf, 0.5, 0.5], x=[1.0, 90.0, 1.0, 1.0])
    point = sf.operating_point(sf.match(truth, found), precision=0.9)
    assert assert_quiet(lambda: sf.operating_point(sf.match(truth, found), precision=0.6)) is not None
    assert point["score_threshold"].isna().all()


def test_sums_beyond_coordinates_are_combined() -> None:
    truth = pd.DataFrame({"sequence": [1, 2], "frame": 1, "object": 0, "x": [0.0, 1.0], "y": 0.0})
    matches = sf.match(truth, truth.assign(x=LARGEST / 2), tau=LARGEST)
    pd.testing.assert_frame_equal(sf.combine([sf.sums(matches)]), sf.summarize(matches))
