"""Operating points: thresholds worked out by hand, ties, categories, and what is not reached."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.problems import refused
from spotgeo_frames.tables.schema import OUTCOMES


def table(rows: list[tuple[str, float | None]], **columns: list[str]) -> pd.DataFrame:
    """A match table of outcomes and scores."""
    made = pd.DataFrame(rows, columns=["outcome", "predicted_score"]).astype({"predicted_score": "float64"})
    made = made.assign(sequence=1, frame=1, outcome=pd.Categorical(made["outcome"], OUTCOMES), distance=np.nan)
    return made.assign(squared_error=0.0, kelvins_error=0.0, **columns)


# From the highest score: precision 1, 1/2, 2/3, 3/4, 3/5; recall 1/4, 1/4, 1/2, 3/4, 3/4.
LADDER = [("TP", 0.9), ("FP", 0.8), ("TP", 0.7), ("TP", 0.6), ("FP", 0.5), ("FN", None)]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"precision": 1.0}, [0.9, 1.0, 0.25]),
        ({"precision": 0.7}, [0.6, 0.75, 0.75]),
        ({"precision": 0.75}, [0.6, 0.75, 0.75]),
        ({"precision": 0.01}, [0.6, 0.75, 0.75]),  # a lower threshold finds no more
        ({"recall": 0.25}, [0.9, 1.0, 0.25]),
        ({"recall": 0.3}, [0.6, 0.75, 0.75]),  # the recall of 1/2 has a lower precision
        ({"recall": 0.75}, [0.6, 0.75, 0.75]),
        ({"recall": 0.8}, [np.nan] * 3),
    ],
)
def test_thresholds_by_hand(asked: dict[str, float], expected: list[float]) -> None:
    found = sf.operating_point(table(LADDER), **asked)
    assert found.iloc[0, :3].tolist() == pytest.approx(expected, nan_ok=True)
    assert found[["n_truth", "n_predicted"]].to_numpy().tolist() == [[4, 5]]
    assert list(found) == ["score_threshold", "precision", "recall", "n_truth", "n_predicted"]


def test_equal_scores_are_above_a_threshold_together() -> None:
    found = sf.operating_point(table([("TP", 0.5), ("FP", 0.5), ("TP", 0.4)]), precision=0.6)
    assert found.iloc[0, :3].tolist() == pytest.approx([0.4, 2 / 3, 1.0])
    assert sf.operating_point(table([("TP", 0.5), ("FP", 0.5)]), precision=0.6)["score_threshold"].isna().all()


def test_categories_and_all_together() -> None:
    rows = [("TP", 0.9), ("FP", 0.8), ("FP", 0.7), ("FN", None), ("TP", 0.3), ("empty", None)]
    found = sf.operating_point(table(rows, category=["cat", "dog", "cow", "hen", "dog", None]), recall=0.5)
    assert found["category"].tolist()[:-1] == ["cat", "cow", "dog", "hen"]
    assert found["category"].isna().tolist() == [False] * 4 + [True]
    assert found["score_threshold"].tolist() == pytest.approx([0.9, np.nan, 0.3, np.nan, 0.3], nan_ok=True)
    assert found["precision"].tolist() == pytest.approx([1, np.nan, 0.5, np.nan, 0.5], nan_ok=True)
    assert found["n_truth"].tolist() == [1, 0, 1, 1, 3]
    assert found["n_predicted"].tolist() == [1, 1, 2, 0, 4]


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.sampled_from(OUTCOMES[:3]), st.integers(-3, 3)), max_size=15),
    st.sampled_from(["precision", "recall"]),
    st.floats(0.01, 1),
)
def test_no_other_threshold_is_better(rows: list[tuple[str, int]], name: str, least: float) -> None:
    matches = table([(outcome, None if outcome == "FN" else float(score)) for outcome, score in rows])
    other = "recall" if name == "precision" else "precision"
    possible = []
    n_truth = matches["outcome"].isin(["TP", "FN"]).sum()
    for score in matches["predicted_score"].dropna().unique():
        above = matches["outcome"][matches["predicted_score"] >= score]
        tp = (above == "TP").sum()
        shares = {"precision": tp / len(above), "recall": tp / n_truth if n_truth else np.nan}
        possible += [(shares[other], score, shares[name])] if shares[name] >= least else []
    found = sf.operating_point(matches, **{name: least}).iloc[0]
    if not possible:
        assert found[["score_threshold", "precision", "recall"]].isna().all()
        return
    best = max(possible)
    assert found[[other, "score_threshold", name]].tolist() == pytest.approx(list(best))


def test_average_precision_needs_no_new_matching(coco: Path) -> None:
    """What the detections above the threshold reach, evaluated again by themselves."""
    truth, found = sf.read_coco(coco / "annotations.json", coco / "fast.json", boxes=True)
    result = sf.average_precision(truth, found)
    point = sf.operating_point(result, precision=0.8, threshold=0.6).iloc[-1]
    above = found.objects[found.objects["score"] >= point["score_threshold"]]
    again = sf.average_precision(truth, above, thresholds=[0.6])
    summary = sf.summarize(again.matches).iloc[0]
    assert point[["precision", "recall"]].tolist() == pytest.approx(summary[["precision", "recall"]].tolist())
    assert point["precision"] >= 0.8


def test_what_is_refused() -> None:
    for asked in ({}, {"precision": 0.5, "recall": 0.5}):
        with refused("precision or recall is needed, one of the two", error=ValueError):
            sf.operating_point(table(LADDER), **asked)
    for value in (0, 1.1, "0.9", True, float("nan")):
        with refused(("recall is", repr(value), "above 0 and at most 1"), error=ValueError):
            sf.operating_point(table(LADDER), recall=value)  # type: ignore[arg-type]
    with refused(("operating_point: x", "predicted_score is missing")):
        sf.operating_point(table(LADDER).drop(columns="predicted_score"), recall=0.5)
    assert sf.operating_point(table([]), recall=0.5)["score_threshold"].isna().tolist() == [True]
