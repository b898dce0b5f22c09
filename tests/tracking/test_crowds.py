"""Crowds of tracks and poses: they count nowhere, nor do the predictions that KITTI's kit finds in them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from trackeval.datasets._base_dataset import _BaseDataset

import spotgeo_frames as sf
from helpers.boxes import box_matrix, boxes
from helpers.commands import answer_here
from helpers.problems import refused
from helpers.scenes import objects

EPSILON = np.finfo(float).eps
SIZES = dict.fromkeys("xywh", "float64")
FRAMES = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3]})

# Object 1 is followed; object 9 is a crowd from x = 100 on, in which prediction 7 moves; prediction 8 is half in it.
TRUTH = boxes([(1, 1, 1, 0, 0), (1, 2, 1, 0, 0), (1, 1, 9, 100, 0), (1, 2, 9, 100, 0)]).assign(crowd=[0, 0, 1, 1])
TRUTH.loc[2:, ["w", "h"]] = 50.0
PREDICTIONS = boxes([(1, 1, 4, 0, 0), (1, 2, 4, 0, 0), (1, 1, 7, 110, 0), (1, 2, 7, 120, 0), (1, 1, 8, 95, 0)])


def without_crowds(truth: pd.DataFrame, predictions: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both sides without what counts nowhere: a loop over frames and classes, as in trackeval's kitti_2d_box.py."""
    explained = np.zeros(len(predictions), bool)
    key = ["sequence", "frame", "category"]
    for name, rows in predictions.groupby(key).indices.items():
        of_frame = truth[(truth[key] == list(name)).all(axis=1)]
        counting, crowds = of_frame[of_frame["crowd"] == 0], of_frame[of_frame["crowd"] == 1]
        similarity = box_matrix(counting.astype(SIZES), predictions.iloc[rows])
        similarity[similarity < 0.5 - EPSILON] = 0
        truths, found = linear_sum_assignment(-similarity)
        left = np.delete(np.arange(len(rows)), found[similarity[truths, found] > EPSILON])
        sides = (predictions.iloc[rows].iloc[left], crowds)
        covered = _BaseDataset._calculate_box_ious(
            *(side[["x", "y", "w", "h"]].to_numpy() for side in sides), do_ioa=True
        )
        explained[rows[left[(covered > 0.5 + EPSILON).any(axis=1)]]] = True
    return truth[truth["crowd"] == 0].drop(columns="crowd"), predictions[~explained]


def assert_alike(found: sf.TrackResult, expected: sf.TrackResult) -> None:
    for name in ("summary", "curve", "matches", "truth_objects", "predicted_objects"):
        tables = (getattr(result, name) for result in (found, expected))
        carried = ["predicted_file_order", "truth_crowd"]
        left, right = (table.drop(columns=carried, errors="ignore") for table in tables)
        pd.testing.assert_frame_equal(left, right, check_dtype=False)


def test_a_crowd_is_no_object() -> None:
    result = sf.track(TRUTH, PREDICTIONS)
    [combined] = result.summary.tail(1).to_dict("records")
    assert (combined["TP"], combined["FN"], combined["FP"], combined["IDSW"]) == (2, 0, 1, 0)
    assert (combined["n_truth"], combined["n_predicted"], combined["n_truth_objects"]) == (2, 3, 1)
    assert result.summary.attrs["crowds"] == 2
    assert result.summary.attrs["explained"] == 2
    assert set(result.matches["truth_object"].dropna()) == {1}
    assert_alike(result, sf.track(TRUTH[:2].drop(columns="crowd"), PREDICTIONS.drop(index=[2, 3])))


def test_no_crowds() -> None:
    plain = TRUTH[:2].drop(columns="crowd")
    result = sf.track(plain.assign(crowd=False), PREDICTIONS)
    assert (result.summary.attrs["crowds"], result.summary.attrs["explained"]) == (0, 0)
    assert_alike(result, sf.track(plain, PREDICTIONS))


def test_flags_that_are_neither_true_nor_false() -> None:
    with refused(("truth: column crowd", "1 row", "'maybe'")):
        sf.track(TRUTH.assign(crowd=["no" != "no", False, True, "maybe"]), PREDICTIONS)


cells = st.tuples(
    *(st.integers(*ends) for ends in [(1, 3), (0, 6), (0, 4), (0, 2), (0, 9)]), st.sampled_from("ab"), st.booleans()
)


def table(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    """Boxes of whole pixels, of two sizes; crowds are larger."""
    rows = [*{row[:2]: row for row in rows}.values()]
    given = pd.DataFrame(rows, columns=["frame", "object", "x", "y", "size", "category", "crowd"])
    side = np.where(given["crowd"], 9.0, 3.0) + given["size"] % 2
    placed = given.assign(sequence=1, x=given["x"] * 2.0, y=given["y"] * 1.0, w=side, h=side).drop(columns="size")
    types = {"frame": "int64", "object": "int64", "sequence": "int64", "category": "str", "crowd": "bool"}
    return placed.astype({**types, **SIZES})


@settings(max_examples=60)
@given(st.lists(cells, max_size=14), st.lists(cells, max_size=14))
def test_any_crowds_as_in_kittis_kit(truth: list[tuple], predictions: list[tuple]) -> None:
    known, found = table(truth), table(predictions).drop(columns="crowd")
    expected = without_crowds(known, found)
    result = sf.track(sf.Annotations(known, FRAMES), found)
    assert_alike(result, sf.track(sf.Annotations(expected[0], FRAMES), expected[1]))
    by_class = sf.track(sf.Annotations(known, FRAMES), found, by="category")
    without = sf.track(sf.Annotations(expected[0], FRAMES), expected[1], by="category")
    # pandas 2.3 cannot tell that a column without rows is text.
    pd.testing.assert_frame_equal(by_class.summary, without.summary, check_dtype=False)


def test_points_near_a_crowd() -> None:
    truth = objects([(1, 1, 0, 0), (1, 1, 100, 0), (1, 2, 0, 0)], crowd=[0, 1, 0])
    predictions = objects([(1, 1, 2, 0), (1, 1, 108, 0), (1, 1, 112, 0), (1, 2, 0, 0)])
    [combined] = sf.track(truth, predictions, tau=10).summary.tail(1).to_dict("records")
    assert (combined["TP"], combined["FN"], combined["FP"]) == (2, 0, 1)


def test_joints_near_a_crowd() -> None:
    """Joints of a crowd, and those that lie within half a head size of one, count nowhere."""
    rows = [(1, 1, person, joint, 10.0 * person, 20.0 * joint) for person in (1, 2) for joint in range(3)]
    truth = pd.DataFrame(rows, columns=["sequence", "frame", "object", "joint", "x", "y"])
    predictions = truth.assign(score=1.0)
    expected = sf.pose(truth[truth["object"] == 1].assign(head_size=8.0), predictions[predictions["object"] == 1])
    result = sf.pose(truth.assign(head_size=8.0, crowd=truth["object"] == 2), predictions)
    pd.testing.assert_frame_equal(result.summary, expected.summary)
    assert (result.summary.attrs["crowds"], result.summary.attrs["explained"]) == (3, 3)


def test_every_way_of_evaluating_tracks(tmp_path: Path) -> None:
    expected = sf.track(TRUTH, PREDICTIONS).summary
    for name, side in (("truth", TRUTH), ("predictions", PREDICTIONS)):
        side.to_parquet(tmp_path / f"{name}.parquet")
    paths = tmp_path / "truth.parquet", tmp_path / "predictions.parquet"
    pd.testing.assert_frame_equal(sf.track_dataset(*paths), expected, check_dtype=False)
    combined = answer_here("track", *paths)["combined"]
    assert (combined["TP"], combined["FP"]) == (2, 1)
    curve = sf.sweep(TRUTH, PREDICTIONS.assign(score=0.5), tracks=True).curve
    assert curve["HOTA"].tolist() == pytest.approx(expected["HOTA"].tail(1).tolist())
