"""Crowds: they count nowhere, nor do the predictions that they explain."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools import mask

import spotgeo_frames as sf
from helpers.commands import run_here
from helpers.datasets import assert_same, in_files
from helpers.problems import refused
from helpers.scenes import objects
from spotgeo_frames.geometries.boxes import covered_share
from spotgeo_frames.scale import blocks, parts
from spotgeo_frames.support.pandas_tables import with_text

Box = tuple[int, int, float, float, float, float]


def boxes(rows: list[Box], **columns: Any) -> pd.DataFrame:
    """Boxes of sequence 1; rows are frame, object, x, y, w, h."""
    table = pd.DataFrame(rows, columns=["frame", "object", "x", "y", "w", "h"])
    table.insert(0, "sequence", 1)
    types = {"frame": "int64", "object": "int64"} | dict.fromkeys("xywh", "float64")
    return table.astype(types).assign(**columns)


# Frame 1 has an object and a crowd from x = 100 to 200; frame 2 has nothing but a crowd.
TRUTH = boxes([(1, 1, 0, 0, 10, 10), (1, 2, 100, 0, 100, 100), (2, 1, 0, 0, 50, 50)], crowd=[0, 1, 1])
PREDICTIONS = boxes(
    [
        (1, 1, 2, 0, 10, 10),  # the object
        (1, 2, 110, 0, 20, 20),  # in the crowd
        (1, 3, 90, 0, 20, 20),  # half in the crowd
        (1, 4, 89, 0, 20, 20),  # less than half
        (1, 5, 0, 1, 10, 10),  # a second one of the object
        (2, 1, 10, 10, 5, 5),  # in the crowd
    ]
)


def rows_of(matches: Any) -> list[tuple]:
    """Frame, outcome, truth and prediction of each row, None for null."""
    names = ["frame", "outcome", "truth_object", "predicted_object"]
    rows = pd.DataFrame({name: list(matches[name].to_list()) for name in names}, dtype=object)
    return [tuple(None if pd.isna(value) else value for value in row) for row in rows.itertuples(index=False)]


def test_boxes() -> None:
    matches = sf.match(TRUTH, PREDICTIONS)
    assert rows_of(matches) == [(1, "TP", 1, 5), (1, "FP", None, 1), (1, "FP", None, 4), (2, "empty", None, None)]
    assert matches["frame_n_truth"].tolist() == [1, 1, 1, 0]
    assert matches["frame_n_predicted"].tolist() == [3, 3, 3, 0]
    assert (matches.attrs["crowds"], matches.attrs["explained"]) == (2, 3)
    assert rows_of(sf.match(TRUTH, PREDICTIONS, threshold=0.51))[2:4] == [(1, "FP", None, 3), (1, "FP", None, 4)]


@pytest.mark.parametrize("kind", ["bool", "boolean", "float64", "object", "UInt8"])
def test_any_kind_of_flag(kind: str) -> None:
    matches = sf.match(TRUTH.astype({"crowd": kind}), PREDICTIONS)
    assert rows_of(matches) == rows_of(sf.match(TRUTH, PREDICTIONS))


@pytest.mark.parametrize("convert", [pl.from_pandas, lambda table: pa.Table.from_pandas(table, preserve_index=False)])
def test_other_kinds_of_tables(convert) -> None:
    matches = sf.match(convert(TRUTH), convert(PREDICTIONS))
    found = matches.to_pandas()
    assert rows_of(found) == rows_of(sf.match(TRUTH, PREDICTIONS))


@pytest.mark.parametrize("value", [2, -1, 0.5, np.nan, None, "1", "yes"])
def test_what_is_neither_true_nor_false(value: Any) -> None:
    truth = TRUTH.assign(crowd=pd.Series([0, value, 1], dtype=object))
    with refused(("truth: column crowd", "1 row", "sequence 1, frame 1, object 2")):
        sf.match(truth, PREDICTIONS)


def test_no_crowds_in_the_column() -> None:
    none, bare = (sf.match(truth, PREDICTIONS) for truth in (TRUTH.assign(crowd=0), TRUTH.drop(columns="crowd")))
    assert rows_of(none) == rows_of(bare)
    assert (none.attrs["crowds"], none.attrs["explained"]) == (0, 0)
    assert "crowds" not in bare.attrs
    assert rows_of(sf.match(TRUTH.head(0), PREDICTIONS)) == rows_of(
        sf.match(TRUTH.head(0).drop(columns="crowd"), PREDICTIONS)
    )


def test_crowds_only_and_no_predictions() -> None:
    assert rows_of(sf.match(TRUTH.tail(1), PREDICTIONS.tail(1))) == [(2, "empty", None, None)]
    nothing = pd.DataFrame({column: [] for column in ["sequence", "frame", "object", "x", "y"]})
    assert rows_of(sf.match(TRUTH, nothing)) == [(1, "FN", 1, None), (2, "empty", None, None)]


def test_a_crowd_explains_only_its_category() -> None:
    truth = TRUTH.assign(category=["car", "person", "person"])
    matches = sf.match(truth, PREDICTIONS.assign(category=["car", "car", "person", "car", "car", "car"]))
    assert matches.attrs["explained"] == 1
    assert sf.summarize(matches, by="category")["category"].tolist() == ["car"]


def test_a_pair_stays_although_its_prediction_covers_a_crowd() -> None:
    truth = boxes([(1, 1, 0, 0, 10, 10), (1, 2, 0, 0, 100, 100)], crowd=[False, True])
    assert rows_of(sf.match(truth, boxes([(1, 1, 1, 0, 10, 10)]))) == [(1, "TP", 1, 1)]


def test_explained_predictions_take_part_in_the_assignment() -> None:
    # Two predictions at the same distance from the truth: the assignment takes the first, whatever the crowd explains.
    truth = objects([(1, 1, 0, 0), (1, 1, -9, 0)], crowd=[False, True])
    first = sf.match(truth, objects([(1, 1, -5, 0), (1, 1, 5, 0)]))
    assert rows_of(first) == [(1, "TP", 0, 0), (1, "FP", None, 1)]
    second = sf.match(truth, objects([(1, 1, 5, 0), (1, 1, -5, 0)]))
    assert rows_of(second) == [(1, "TP", 0, 0)]
    assert second.attrs["explained"] == 1


@pytest.mark.parametrize(
    "words",
    [{}, {"similarity": "point"}, {"similarity": lambda t, p: np.exp(-np.abs(t["x"] - p["x"]) / 20), "threshold": 0.6}],
    ids=["distance", "point", "function"],
)
def test_other_rules_explain_what_is_near(words: dict[str, Any]) -> None:
    truth = objects([(1, 1, 0, 0), (1, 1, 100, 0)], crowd=[False, True])
    predictions = objects([(1, 1, 0, 0), (1, 1, 92, 0), (1, 1, 85, 0)])
    assert rows_of(sf.match(truth, predictions, **words)) == [(1, "TP", 0, 0), (1, "FP", None, 2)]


def test_whole_poses() -> None:
    pose = objects([(1, 1, 0, 0), (1, 1, 9, 9)]).assign(joint=["a", "b"])
    truth = pd.concat([pose.assign(object=k, x=pose["x"] + 100 * k, crowd=k == 1) for k in (0, 1)]).assign(area=900.0)
    predictions = pd.concat([pose.assign(object=k, x=pose["x"] + 100 * k) for k in (0, 1, 2)])
    words = {"similarity": "oks", "sigmas": {"a": 0.1, "b": 0.1}}
    assert rows_of(sf.match(truth, predictions, **words)) == [(1, "TP", 0, 0), (1, "FP", None, 2)]
    torn = truth.assign(crowd=[False, True, True, True])
    with refused(("truth: column crowd", "1 row", "joints of a pose differ", "sequence 1, frame 1, object 0")):
        sf.match(torn, predictions, **words)


@pytest.mark.parametrize("name", [str, ord])
def test_joints_and_frames_of_which_nothing_is_left(name: Any) -> None:
    truth = objects([(1, 1, 0, 0), (1, 1, 40, 0), (1, 1, 80, 0), (1, 2, 0, 0), (1, 3, 0, 0), (1, 3, 0, 50)])
    truth = truth.assign(joint=[*map(name, "abcabc")], crowd=[0, 1, 1, 1, 1, 0])
    predictions = objects([(1, 1, 1, 0), (1, 1, 41, 0), (1, 1, 9, 9), (1, 2, 1, 1)]).assign(joint=[*map(name, "abca")])
    matches = sf.match(truth, predictions)
    left = matches[["frame", "joint", "outcome", "frame_n_truth", "frame_n_predicted"]].astype(object)
    assert left.where(left.notna(), None).to_numpy().tolist() == [
        [1, name("a"), "TP", 1, 1],
        [1, name("c"), "FP", 0, 1],
        [2, None, "empty", 0, 0],
        [3, name("c"), "FN", 1, 0],
    ]
    assert matches["joint"].dtype == sf.match(truth.drop(columns="crowd"), predictions)["joint"].dtype.name.replace(
        "int64", "Int64"
    )
    assert (matches.attrs["crowds"], matches.attrs["explained"]) == (4, 2)


COORDINATE = st.integers(0, 12).map(float)
ROWS = st.lists(
    st.tuples(st.integers(1, 2), COORDINATE, COORDINATE, st.sampled_from("ab"), st.booleans(), st.integers(4, 9)),
    max_size=9,
)


@settings(max_examples=60)
@given(ROWS, ROWS, st.sampled_from(["boxes", "points"]))
def test_equals_a_loop_over_unmatched_predictions(truth_rows: list, predicted_rows: list, kind: str) -> None:
    names = ["frame", "x", "y", "category", "crowd", "w"]
    sides = []
    for rows in (truth_rows, predicted_rows):
        side = pd.DataFrame([*rows, (1, 900.0, 0.0, "a", False, 5)], columns=names)  # so that the sides share a frame
        side = side.assign(sequence=1, object=np.arange(len(side)), w=side["w"].astype(float), h=8.0)
        sides.append(side if kind == "boxes" else side.drop(columns=["w", "h"]))
    truth, predictions = sides[0], sides[1].drop(columns="crowd")
    words: dict[str, Any] = {} if kind == "boxes" else {"tau": 3.0, "epsilon": 1.0}
    crowds = truth[truth["crowd"]]
    frames = pd.concat([truth, predictions])[["sequence", "frame"]].drop_duplicates()
    matches = sf.match(truth, predictions, **words)
    expected = sf.match(sf.Annotations(truth[~truth["crowd"]], frames), predictions, **words)
    explained = {
        row["predicted_object"]
        for row in expected[expected["outcome"] == "FP"].to_dict("records")
        if any(covers(row, crowd, kind) for crowd in crowds.to_dict("records"))
    }
    left = expected[~expected["predicted_object"].isin(explained)]
    assert [row for row in rows_of(matches) if row[1] != "empty"] == [row for row in rows_of(left) if row[1] != "empty"]
    assert set(matches["frame"]) == set(frames["frame"])
    assert (matches.attrs["crowds"], matches.attrs["explained"]) == (len(crowds), len(explained))


def covers(row: dict[str, Any], crowd: dict[str, Any], kind: str) -> bool:
    """Whether the prediction of a row of a match table covers a crowd."""
    if row["frame"] != crowd["frame"] or row["predicted_category"] != crowd["category"]:
        return False
    x, y = row["predicted_x"], row["predicted_y"]
    if kind == "points":
        return bool(np.hypot(x - crowd["x"], y - crowd["y"]) <= 3)
    w, h = row["predicted_w"], row["predicted_h"]
    width = min(x + w, crowd["x"] + crowd["w"]) - max(x, crowd["x"])
    height = min(y + h, crowd["y"] + crowd["h"]) - max(y, crowd["y"])
    return max(width, 0) * max(height, 0) >= 0.5 * w * h


def test_the_covered_share_is_that_of_pycocotools() -> None:
    random = np.random.default_rng(2)
    sides = [np.concatenate([random.uniform(0, 60, (2, 300)), random.uniform(0, 40, (2, 300))]) for _ in range(2)]
    theirs = [mask.iou(p[None], t[None], [1]).item() for t, p in zip(sides[0].T, sides[1].T, strict=True)]
    np.testing.assert_allclose(covered_share(*sides), theirs, atol=1e-12)
    flat = np.array([[5.0], [5.0], [0.0], [5.0]])
    assert covered_share(np.array([[0.0], [0.0], [9.0], [9.0]]), flat).tolist() == [0.0]


def test_the_matcher_of_the_caller_sees_no_crowds() -> None:
    truth, predictions = (side.drop(columns=["w", "h"]) for side in (TRUTH, PREDICTIONS))
    seen = []

    def matcher(truth_xy: np.ndarray, predicted_xy: np.ndarray) -> tuple[list[int], list[int]]:
        seen.append((len(truth_xy), len(predicted_xy)))
        return [0], [0]

    matches = sf.match_frames(truth, predictions, matcher, tau=11)
    assert seen == [(1, 5)]
    explained = [2, 3, 4]  # at most 11 px from (100, 0)
    assert rows_of(matches) == [(1, "TP", 1, 1), (1, "FP", None, 5), (2, "FP", None, 1)]
    assert matches.attrs["explained"] == len(explained)


def test_datasets_and_commands_count_as_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "LEAST_ROWS", 20)
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 8)
    truth = pd.concat([TRUTH.assign(sequence=k, category="a") for k in range(20)], ignore_index=True)
    predictions = pd.concat([PREDICTIONS.assign(sequence=k, category="a") for k in range(20)], ignore_index=True)
    sides = in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")
    matches = sf.match(truth, predictions)
    summary = sf.score_dataset(*sides, tmp_path / "out", by="category")
    assert_same(summary, sf.summarize(matches, by="category"))
    assert (summary.attrs["crowds"], summary.attrs["explained"]) == (40, 60)
    again = sf.score_dataset(*sides, tmp_path / "out", by="category")
    assert again.attrs == summary.attrs
    files = sorted((tmp_path / "out" / "matches").iterdir())
    tables = [pd.read_parquet(file) for file in files]
    assert len(tables) > 2
    pd.testing.assert_frame_equal(with_text(pd.concat(tables, ignore_index=True)), matches)
    for name in ("crowds", "explained"):
        assert sum(table.attrs[name] for table in tables) == matches.attrs[name]
        assert sum(int(pq.read_schema(file).metadata[name.encode()]) for file in files) == matches.attrs[name]
    assert_same(sf.score_dataset(*sides), sf.summarize(matches))  # which reads only the columns that it needs
    words = ["score", tmp_path / "truth", tmp_path / "predictions", "--json"]
    assert '"fp": 40' in run_here(*words).out.replace("\n", "").replace('"fp":40', '"fp": 40')
    assert '"fp": 40' in run_here(*words, "--dataset").out.replace("\n", "").replace('"fp":40', '"fp": 40')


def test_a_leaderboard_has_no_counts_of_one_submission() -> None:
    board = sf.leaderboard({"a": sf.match(TRUTH, PREDICTIONS), "b": sf.match(TRUTH, PREDICTIONS.head(1))})
    assert "explained" not in board.attrs
    assert sf.summarize(sf.match(TRUTH, PREDICTIONS)).attrs["explained"] == 3
