"""Operating points: thresholds worked out by hand, ties, categories, and what is not reached."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

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
    validated = [f"{name}_cross_validated{end}" for name in ("precision", "recall") for end in ("", "_low", "_high")]
    assert list(found) == ["score_threshold", "precision", "recall", *validated, "n_truth", "n_predicted", "reason"]


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


def scored(outcomes: list[list[str]]) -> pd.DataFrame:
    """A match table with a list of outcomes for each sequence, whose detections have falling scores."""
    tables = [
        table([(outcome, None if outcome == "FN" else 0.9 - 0.1 * at) for at, outcome in enumerate(of_sequence)])
        for of_sequence in outcomes
    ]
    return pd.concat([of.assign(sequence=at) for at, of in enumerate(tables)], ignore_index=True)


def test_each_sequence_gets_the_threshold_that_the_others_choose() -> None:
    """Without one of four good sequences the others choose 0.8, too; without the bad one they choose 0.7."""
    good, bad = ["TP", "TP", "TP", "FN"], ["TP", "TP", "FP", "FP"]
    found = sf.operating_point(scored([good] * 4 + [bad]), precision=0.95).iloc[0]
    assert found[["score_threshold", "precision", "recall"]].tolist() == pytest.approx([0.8, 1.0, 10 / 18])
    # Of the good, 2 of 4 truths are found each; of the bad, 2 of 2 and a false alarm.
    assert found["recall_cross_validated"] == pytest.approx(10 / 18)
    # At 0.8 there are 10 detections, at 0.7 15: those of a lower threshold count for less.
    assert found["precision_cross_validated"] == pytest.approx((8 / 10 + 2 / 15) / (8 / 10 + 3 / 15))
    assert 0 < found["precision_cross_validated_low"] < found["precision_cross_validated"]
    assert found["precision_cross_validated_high"] <= 1
    assert pd.isna(found["reason"])


def test_reasons_say_why_nothing_is_told_of_new_data() -> None:
    one, four = scored([["TP", "FP"]]), scored([["TP", "FP"]] * 4)
    for matches, words in ((one, "1 sequence: fewer than 5"), (four, "4 sequences: fewer than 5")):
        found = sf.operating_point(matches, precision=0.9).iloc[0]
        assert found["reason"].startswith(words)
        assert found[[name for name in found.index if "cross" in name]].isna().all()
    # Recall 0.5 is reached only together with the first sequence, in which all is found.
    lucky = scored([["TP"] * 5] + [["FN"]] * 5)
    assert sf.operating_point(lucky, recall=0.5)["reason"].tolist() == [
        "without some of the sequences, no threshold reaches it"
    ]
    assert sf.operating_point(lucky, recall=0.9)["reason"].tolist() == ["no threshold reaches it"]


def test_cross_validated_precision_is_right_on_average() -> None:
    """The apparent precision is too high for new data; each replicate is a category of ten sequences."""
    random, n, replicates = np.random.default_rng(3), 10, 300
    sequence = np.repeat(np.arange(n * replicates), 8)
    right = random.random(len(sequence)) < 0.5
    score = right + random.normal(0, 1, len(sequence))
    outcome = pd.Categorical.from_codes(np.where(right, OUTCOMES.index("TP"), OUTCOMES.index("FP")), OUTCOMES)
    matches = pd.DataFrame({"sequence": sequence, "frame": 1, "outcome": outcome, "predicted_score": score})
    matches = matches.assign(distance=np.nan, squared_error=0.0, kelvins_error=0.0, category=sequence // n)
    found = sf.operating_point(matches, precision=0.8).iloc[:-1].dropna(subset="precision_cross_validated")
    above = [1 - norm.cdf(found["score_threshold"], mean) for mean in (1, 0)]
    true = above[0] / (above[0] + above[1])
    assert (found["precision"] - true).mean() > 0.01
    assert abs((found["precision_cross_validated"] - true).mean()) < 0.007
    low, high = (found[f"precision_cross_validated_{end}"] for end in ("low", "high"))
    assert ((low <= true) & (true <= high)).mean() >= 0.93
