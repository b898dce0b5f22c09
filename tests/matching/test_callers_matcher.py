"""match_frames(tables=True): a matcher of the caller's that gets whole rows."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from helpers.reference import reference_matcher
from helpers.scenes import grid, objects
from spotgeo_frames.support.pandas_tables import with_text

TRUTH = objects([(1, 2, 0, 0), (1, 1, 0, 0), (1, 1, 6, 0)], category=["car", "car", "bus"])
PREDICTIONS = objects(
    [(1, 1, 5, 0), (1, 1, 1, 0), (1, 2, 1, 0)],
    category=["bus", "car", "car"],
    score=[0.2, 0.9, 0.5],
    note=["p", "q", "r"],
)


def nothing(truth: Any, predictions: Any) -> tuple[list[int], list[int]]:
    return [], []


def test_whole_rows_of_one_frame_in_file_order() -> None:
    seen: list[tuple[pd.DataFrame, pd.DataFrame]] = []

    def matcher(truth: pd.DataFrame, predictions: pd.DataFrame) -> tuple[list[int], list[int]]:
        seen.append((truth, predictions))
        return [0], [len(predictions) - 1]

    matches = sf.match_frames(TRUTH, PREDICTIONS, matcher, tables=True)
    assert [len(truth) for truth, _ in seen] == [2, 1], "once a frame, whatever the categories"
    pd.testing.assert_frame_equal(seen[0][0], with_text(TRUTH.iloc[1:].reset_index(drop=True)))
    pd.testing.assert_frame_equal(seen[0][1], with_text(PREDICTIONS.iloc[:2].reset_index(drop=True)))
    assert matches["outcome"].tolist() == ["TP", "FN", "FP", "TP"]
    assert matches["predicted_note"].fillna("-").tolist() == ["q", "-", "p", "r"]


@pytest.mark.filterwarnings("ignore:categories are not compared:UserWarning")
def test_scores_decide_where_the_matcher_asks_for_them() -> None:
    def surest_first(truth: pd.DataFrame, predictions: pd.DataFrame) -> tuple[list[int], list[int]]:
        return [0], [int(predictions["score"].to_numpy().argmax())]

    truth = TRUTH.tail(1).drop(columns="category")
    matches = sf.match_frames(truth, PREDICTIONS.head(2), surest_first, tables=True)
    assert matches["predicted_score"].tolist() == [0.9, 0.2]
    assert matches["distance"].tolist()[0] == 5


def test_pairs_of_different_categories_and_far_pairs_are_dropped() -> None:
    crossed = sf.match_frames(TRUTH, PREDICTIONS, lambda t, p: ([0], [0]), tables=True)
    assert crossed["outcome"].tolist() == ["FN", "FN", "FP", "FP", "TP"]
    near = sf.match_frames(TRUTH, PREDICTIONS, lambda t, p: ([0], [len(p) - 1]), tau=0.5, epsilon=0, tables=True)
    assert (near["outcome"] != "TP").all()


def test_boxes() -> None:
    boxes = TRUTH.drop(columns="category").assign(w=4.0, h=[2.0, 4.0, 6.0])
    widest = sf.match_frames(boxes, boxes, lambda t, p: ([t["h"].idxmax()], [p["h"].idxmin()]), tau=10, tables=True)
    assert widest["truth_h"].dropna().tolist() == [4, 6, 2]
    assert widest["distance"].tolist()[1] == pytest.approx(np.hypot(6, 1)), "of the centres"
    with refused(("match_frames", "tau")):
        sf.match_frames(boxes, boxes, nothing, tables=True)


@pytest.mark.parametrize(
    ("convert", "kind"),
    [(pl.from_pandas, pl.DataFrame), (lambda t: pa.Table.from_pandas(t, preserve_index=False), pa.Table)],
)
def test_tables_of_the_callers_kind(convert: Any, kind: type) -> None:
    kinds = set()

    def matcher(truth: Any, predictions: Any) -> tuple[list[int], list[int]]:
        kinds.update({type(truth), type(predictions)})
        return [0], [0]

    matches = sf.match_frames(convert(TRUTH), PREDICTIONS, matcher, tables=True)
    assert kinds == {kind}
    assert type(matches) is kind
    kinds.clear()
    sf.match_frames(convert(TRUTH), PREDICTIONS, matcher)
    assert kinds == {np.ndarray}


def test_the_matchers_tables_are_its_own() -> None:
    def vandal(truth: pd.DataFrame, predictions: pd.DataFrame) -> tuple[list[int], list[int]]:
        predictions["x"] = truth["x"] = -1e9
        return nothing(truth, predictions)

    truth, predictions = TRUTH.copy(), PREDICTIONS.copy()
    matches = sf.match_frames(truth, predictions, vandal, tables=True)
    pd.testing.assert_frame_equal(truth, TRUTH)
    assert matches["truth_x"].dropna().tolist() == [0, 6, 0]


def test_crowds_and_empty_sides() -> None:
    crowd = TRUTH.drop(columns="category").assign(crowd=[0, 1, 0])
    sizes = []
    predictions = PREDICTIONS.drop(columns="category")
    matches = sf.match_frames(crowd, predictions, lambda t, p: sizes.append((len(t), len(p))) or ([], []), tables=True)
    assert sizes == [(1, 2), (1, 1)]
    assert matches["outcome"].tolist() == ["FN", "FN", "FP"]
    assert len(sf.match_frames(TRUTH.head(0), PREDICTIONS.head(0), nothing, tables=True)) == 0
    assert sf.match_frames(TRUTH, PREDICTIONS.head(0), nothing, tables=True)["outcome"].tolist() == ["FN"] * 3


@pytest.mark.parametrize("answer", [None, ([0],), ([0, 0], [0, 1]), ([5], [0]), ([0.5], [0])])
def test_answers_are_checked(answer: Any) -> None:
    with refused("sequence 1, frame 1"):
        sf.match_frames(TRUTH, PREDICTIONS, lambda truth, predictions: answer, tables=True)


def test_equals_the_matcher_of_coordinates() -> None:
    truth, predictions = grid(np.random.default_rng(4), n_frames=60, most=6, size=14)
    by_xy = reference_matcher()

    def by_rows(known: pd.DataFrame, claimed: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        return by_xy(known[["x", "y"]].to_numpy(), claimed[["x", "y"]].to_numpy())

    whole = sf.match_frames(truth, predictions, by_rows, tables=True)
    pd.testing.assert_frame_equal(whole, sf.match_frames(truth, predictions, by_xy))
