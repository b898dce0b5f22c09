"""Matching by similarity: IoU, points, and measures of the caller's own."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import spotgeo_frames as sf
from helpers.boxes import box_matrix, boxes, crowd
from helpers.problems import refused
from spotgeo_frames.geometries.boxes import iou

edge = st.one_of(st.integers(-3, 6), st.floats(-5, 5), st.sampled_from([0.0, 1e-9, 1e6, -1e6]))
box_lists = st.lists(st.tuples(edge, edge, edge, edge), max_size=7)


def table(rows: list[tuple[float, ...]]) -> pd.DataFrame:
    given = np.array(rows, float).reshape(-1, 4)
    frame = pd.DataFrame({"sequence": 1, "frame": 1, "object": np.arange(len(given))})
    return frame.assign(**dict(zip("xywh", given.T, strict=True)))


@settings(max_examples=150)
@given(box_lists, box_lists)
def test_overlaps_are_trackevals_to_the_bit(truth: list, predictions: list) -> None:
    sides = table(truth), table(predictions)
    wanted = box_matrix(*sides)
    rows = [grid.ravel() for grid in np.mgrid[0 : len(truth), 0 : len(predictions)]]
    pairs = [side[["x", "y", "w", "h"]].to_numpy()[row].T for side, row in zip(sides, rows, strict=True)]
    assert np.array_equal(iou(*pairs), wanted.ravel())
    if truth and predictions:
        for threshold in (*{float(wanted[wanted > 0].min(initial=1.0)), float(wanted.max()) or 1.0}, 0.05, 0.5):
            matches = sf.match(*sides, similarity="iou", threshold=threshold)
            found = matches.loc[matches["outcome"] == "TP", "similarity"].sum()
            assert found == pytest.approx(sum(row[-1] for row in looped(*sides, threshold)))


def looped(truth: pd.DataFrame, predictions: pd.DataFrame, threshold: float) -> list[tuple]:
    """The rule as it is written: predictions are rows, cost 1 - similarity, far pairs cost too much."""
    found = []
    for frame, truths in truth.groupby("frame"):
        claims = predictions[predictions["frame"] == frame]
        overlap = box_matrix(truths, claims).T
        costs = np.where(overlap >= threshold, 1 - overlap, max(1000.0, 2 * min(overlap.shape)))
        for row, column in zip(*linear_sum_assignment(costs), strict=True):
            if overlap[row, column] >= threshold:
                names = truths["object"].iloc[column], claims["object"].iloc[row]
                found.append((frame, *names, overlap[row, column]))
    return sorted(found)


@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.75])
def test_boxes_are_matched_as_the_rule_is_written(threshold: float) -> None:
    truth, predictions, _ = crowd(np.random.default_rng(7), 15, 25, 20)
    matches = sf.match(truth, predictions, similarity="iou", threshold=threshold)
    matched = matches[matches["outcome"] == "TP"]
    columns = matched[["frame", "truth_object", "predicted_object", "similarity"]]
    assert sorted(columns.itertuples(index=False, name=None)) == looped(truth, predictions, threshold)


def test_match_table_of_boxes() -> None:
    truth = boxes([(1, 1, 0, 0, 0), (1, 2, 0, 0, 0)])
    matches = sf.match(truth, boxes([(1, 1, 5, 2, 0), (1, 1, 6, 90, 0)]), similarity="iou")
    assert matches["outcome"].tolist() == ["TP", "FP", "FN"]
    assert matches["similarity"].tolist() == pytest.approx([8 / 12, np.nan, np.nan], nan_ok=True)
    assert "distance" not in matches
    assert matches[["squared_error", "kelvins_error"]].isna().all(axis=None)
    assert {"truth_w", "truth_h", "predicted_w", "predicted_h"} <= {*matches}
    assert matches.attrs == {"rule": "iou", "threshold": 0.5, "version": sf.__version__}
    [numbers] = sf.summarize(matches).to_dict("records")
    assert numbers["loc_a"] == pytest.approx(8 / 12)
    assert list(numbers)[-1] == "loc_a"
    assert np.isnan(numbers["mse"])
    board = sf.leaderboard({"a": matches, "b": matches})
    assert board["rank"].tolist() == [1, 1]
    with refused(("leaderboard", "a with rule iou, threshold 0.5", "b with rule iou, threshold 0.6")):
        sf.leaderboard({"a": matches, "b": sf.match(truth, truth, similarity="iou", threshold=0.6)})


def test_points_by_similarity_are_points_by_distance() -> None:
    truth, predictions, _ = crowd(np.random.default_rng(8), 15, 25, 40, whole=False)
    truth["x"] += np.linspace(0, 0.1, len(truth))  # so that no two are at the same place, and the answer is one
    by_distance = sf.match(truth, predictions, tau=4)
    by_similarity = sf.match(truth, predictions, tau=4, similarity="point")
    pd.testing.assert_series_equal(by_distance["predicted_object"], by_similarity["predicted_object"])
    np.testing.assert_allclose(by_similarity["similarity"], 1 - by_distance["distance"] / 8)


def test_tables_that_cannot_be_compared() -> None:
    truth, predictions, _ = crowd(np.random.default_rng(8), 5, 9, 14)
    near, far = (sf.match(truth, predictions, tau, similarity="point") for tau in (2, 20))
    rules = [f"{name} with rule point, threshold 0.5, tau {tau}" for name, tau in (("a", 2.0), ("b", 20.0))]
    with refused(("leaderboard", *rules)):
        sf.leaderboard({"a": near, "b": far})
    tracked = sf.track(truth, predictions, "point", tau=2).matches
    with refused(("leaderboard", "b with rule point", "identity object")):
        sf.leaderboard({"a": near, "b": tracked})


def test_a_measure_of_ones_own() -> None:
    truth, predictions, _ = crowd(np.random.default_rng(9), 15, 25, 20)
    truth, predictions = truth.assign(w=6.0), predictions.assign(w=6.0)
    sizes = []

    def overlap(truths: pd.DataFrame, claims: pd.DataFrame) -> np.ndarray:
        assert truths["frame"].equals(claims["frame"])
        sizes.append(len(truths))
        return iou(*(side[["x", "y", "w", "h"]].to_numpy().T for side in (truths, claims)))

    ours, theirs = (sf.match(truth, predictions, similarity=measure) for measure in ("iou", overlap))
    pd.testing.assert_frame_equal(ours, theirs)
    assert theirs.attrs["rule"] == "overlap"
    assert sum(sizes) == sum(len(t) * (predictions["frame"] == f).sum() for f, t in truth.groupby("frame"))
    for one, other in zip(sf.track(truth, predictions), sf.track(truth, predictions, overlap), strict=True):
        pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize(
    ("measure", "named"),
    [
        (lambda t, p: np.zeros(3), ("shape (3,)", "float64", "1 pairs")),
        (lambda t, p: ["a"] * len(t), ("shape (1,)", "<U1")),
        (lambda t, p: np.full(len(t), 1.5), ("0 to 1",)),
        (lambda t, p: np.full(len(t), np.nan), ("0 to 1", "NaN")),
    ],
)
def test_a_measure_that_returns_something_else(measure, named: tuple[str, ...]) -> None:
    truth = boxes([(1, 1, 0, 0, 0)])
    with refused(("similarity", *named)):
        sf.match(truth, truth, similarity=measure)


@pytest.mark.parametrize("threshold", [0.0, -1, 1.01, np.nan])
def test_thresholds_out_of_range(threshold: float) -> None:
    truth = boxes([(1, 1, 0, 0, 0)])
    with refused(("threshold", str(float(threshold))), error=ValueError):
        sf.match(truth, truth, similarity="iou", threshold=threshold)


@pytest.mark.parametrize("threshold", [0.5, 0.999, 1.0])
def test_boxes_far_away_are_found_at_any_threshold(threshold: float) -> None:
    far = table([(0, 1e15, 1e6, 4), (1e13, 0, 3, 3), (-1e11, 5, 1, 1)])
    assert (sf.match(far, far, similarity="iou", threshold=threshold)["outcome"] == "TP").all()


def test_enormous_boxes_do_not_break_the_search() -> None:
    truth = table([(0, 0, 1e149, 1e149), (5, 5, 10, 10), (-1e149, 0, 1e149, 4)])
    assert sf.match(truth, truth, similarity="iou")["outcome"].tolist() == ["TP"] * 3
