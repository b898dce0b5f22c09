"""Slices of two values that belong to truths, or to predictions, although they are nowhere null."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.kinds import of_kind
from helpers.problems import refused, warned
from helpers.scenes import objects

RANDOM = np.random.default_rng(5)
ROWS = [(s, f, *map(float, p)) for s in range(22) for f in range(3) for p in RANDOM.uniform(0, 900, (4, 2))]
TRUTH = objects(ROWS, bright=RANDOM.uniform(1, 99, len(ROWS)).round(1).tolist()).assign(
    category=[["car", "person"][row % 2] for row in range(len(ROWS))]
)
SEEN = TRUTH[RANDOM.random(len(TRUTH)) < TRUTH["bright"] / 60].drop(columns="bright")
FALSE = objects([(s, f, 1500.0, 40.0 * k) for s in range(22) for f in range(3) for k in range(2)])
FOUND = pd.concat([SEEN, FALSE.assign(object=FALSE["object"] + 50, category="person")], ignore_index=True)
FOUND["score"] = RANDOM.random(len(FOUND)).round(3)
MATCHES = sf.match(TRUTH, FOUND)
BRIGHT = MATCHES["truth_bright"] > 50
NEEDS_ALARMS = ["fp", "precision", "f1", "mse", "kelvins_mse", "det_a", "n_predicted"]
NEEDS_MISSES = ["fn", "recall", "f1", "mse", "kelvins_mse", "det_a", "n_truth"]


@pytest.mark.parametrize(
    "by",
    [
        BRIGHT,
        ~BRIGHT,
        MATCHES["truth_bright"] <= 50,
        BRIGHT.astype("boolean"),
        BRIGHT.astype(object),
        BRIGHT.astype(int),
        BRIGHT.astype(float),
        BRIGHT.astype("category"),
        pd.Series(np.where(BRIGHT, "bright", "dim"), name="light"),
        pd.Series(np.where(BRIGHT, "bright", "dim"), name="light").astype("category"),
    ],
    ids=lambda by: f"{by.name} {by.dtype} {by.iloc[0]}",
)
def test_two_values_that_belong_to_truths(by: pd.Series) -> None:
    with warned((f"summarize: by: {by.name}", "truths", 'by={"truth_bright": [0, 50, inf]}')):
        found = sf.summarize(MATCHES, by=by)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        edges = sf.summarize(MATCHES, by={"truth_bright": [0, 50, np.inf]})
    assert found[NEEDS_ALARMS].isna().all(axis=None)
    assert sorted(found["recall"]) == sorted(edges["recall"])
    assert found["tp"].sum() == edges["tp"].sum() == len(SEEN)
    assert edges[NEEDS_ALARMS].isna().all(axis=None)


@pytest.mark.parametrize("by", [MATCHES["predicted_score"] > 0.5, (MATCHES["predicted_score"] > 0.5).astype("Int64")])
def test_two_values_that_belong_to_predictions(by: pd.Series) -> None:
    with warned(("summarize: by: predicted_score", "predictions", 'by={"predicted_score": [0, 0.5, inf]}')):
        found = sf.summarize(MATCHES, by=by)
    assert found[NEEDS_MISSES].isna().all(axis=None)
    assert found["precision"].notna().all()


def test_what_the_values_were_made_of_is_named_where_it_is_known() -> None:
    named = MATCHES.assign(light=BRIGHT)
    with warned(("summarize: by: light", 'by={"truth_bright": [0, 50, inf]}')):
        sf.summarize(named, by="light")
    several = BRIGHT & (MATCHES["truth_x"] < 500)
    with warned(("summarize: by: by", 'by={"truth_h": [0, 50, inf]}', "truth_object")):
        sf.summarize(MATCHES, by=several.rename(None))
    below = MATCHES.assign(truth_bright=MATCHES["truth_bright"] - 60)
    with warned(("summarize: by: truth_bright", 'by={"truth_bright": [-inf, -10, inf]}')):
        sf.summarize(below, by=below["truth_bright"] >= -10)


@pytest.mark.parametrize(
    "by",
    [
        MATCHES["sequence"] % 2 == 0,  # of frames, as their attributes are
        MATCHES["frame"] > 1,
        MATCHES["frame_n_predicted"] > 4,
        "category",  # on both sides
        MATCHES["category"] == "car",
        MATCHES["category"].map({"car": 0, "person": 1}),
        MATCHES["truth_bright"].notna(),  # there is no other value on misses
        MATCHES["outcome"] == "TP",
        pd.Series(np.where(MATCHES["outcome"] == "FP", np.nan, BRIGHT), name="bright"),  # null, as in carried columns
        pd.Series(pd.cut(MATCHES["truth_bright"], [0, 50, 100])),
        pd.Series(np.where(BRIGHT, "bright", np.where(MATCHES["truth_x"] < 500, "left", "right")), name="three"),
        MATCHES["truth_x"].fillna(MATCHES["predicted_x"]).gt(1510).rename("far"),
        pd.Series([[1], [2]] * (len(MATCHES) // 2) + [[1]] * (len(MATCHES) % 2), name="lists").map(len),
    ],
    ids=str,
)
def test_what_both_sides_have_is_known(by: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sf.summarize(MATCHES, by=by)


def test_submissions_of_which_one_has_no_false_alarm_are_known() -> None:
    """The same truths have both values, so that these tell tables apart."""
    careful = sf.match(TRUTH, SEEN)
    together = pd.concat([MATCHES.assign(submission="eager"), careful.assign(submission="careful")])
    minimal = together[["sequence", "frame", "outcome", "distance", "squared_error", "kelvins_error", "submission"]]
    for table in (together, minimal):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = sf.summarize(table, by="submission").set_index("submission")
        assert found.loc["careful", "precision"] == 1.0
        assert found.loc["eager", "precision"] < 1.0


@pytest.mark.parametrize(
    ("call", "place"),
    [
        (lambda m, by: sf.summarize(m, by=by, dropna=False), "summarize"),
        (lambda m, by: sf.summarize(m, by=[by, "category"]), "summarize"),
        (lambda m, by: sf.summarize(m, by=["frame", by], exclude=[3]), "summarize"),
        (lambda m, by: sf.intervals(m, by=by, metrics=["precision", "f1"]), "intervals"),
        (lambda m, by: sf.combine(sf.sums(m, by=by)), "combine"),
        (lambda m, by: sf.summarize(of_kind(m.assign(light=by), "polars"), by=pl.col("light")), "summarize"),
        (lambda m, by: sf.summarize(of_kind(m.assign(light=by), "pyarrow"), by="light"), "summarize"),
        (
            lambda m, by: sf.compare({"a": m.assign(light=by), "b": m.assign(light=by)}, by="light", resamples=10)[0],
            "compare: a",
        ),
    ],
)
def test_every_function_by_such_values_has_no_precision(call: Callable[..., Any], place: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call(MATCHES, BRIGHT)
    texts = [str(warning.message) for warning in caught if "belongs to truths" in str(warning.message)]
    assert texts[0].startswith(f"{place}: by: ")
    found = found if isinstance(found, pd.DataFrame) else pd.DataFrame(found.to_pandas())
    columns = ["estimate"] if "estimate" in found else ["precision", "f1"]
    assert found[columns].isna().all(axis=None)


def test_own_metrics_that_count_false_alarms_are_null() -> None:
    sf.metric("alarms_a_frame", lambda rows: {}, lambda s: s["fp"] / s["n_frames"], higher_is_better=False)
    sf.metric("far", lambda rows: {"far": rows["distance"].fillna(0.0)}, lambda s: s["far"] / s["tp"])
    try:
        with warned("summarize: by: truth_bright"):
            found = sf.summarize(MATCHES, by=BRIGHT)
        assert found["alarms_a_frame"].isna().all()
        assert found["far"].notna().all()
    finally:
        for name in ("alarms_a_frame", "far"):
            sf.metric(name, None, None)


def test_offsets_have_no_corrected_f1_there() -> None:
    with warned(("bias: by: truth_bright", "truths")):
        found = sf.bias(MATCHES, by=BRIGHT)
    assert found.loc[found["metric"].isin(["f1", "mse"]), "estimate"].isna().all()
    assert found.loc[found["metric"] == "dx", "estimate"].notna().all()


def test_recall_by_values_of_predictions_is_refused() -> None:
    with refused(("by: predicted_score", "the same on every missed truth")):
        sf.detection_limit(MATCHES, "truth_bright", by=MATCHES["predicted_score"] > 0.5)


@given(threshold=st.floats(1, 99), seed=st.integers(0, 50))
def test_no_slice_of_a_truths_column_has_a_precision(threshold: float, seed: int) -> None:
    """Whatever the threshold, the slices say what those by edges say, or have no misses of one side."""
    mixed = MATCHES.sample(frac=1, random_state=seed, ignore_index=True)
    by = mixed["truth_bright"] > threshold
    missed = by[mixed["outcome"] == "FN"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sf.summarize(mixed, by=by)
        edges = sf.summarize(mixed, by={"truth_bright": [0, threshold, np.inf]})
    if missed.nunique() == 2:
        assert found["precision"].isna().all()
        assert found["recall"].tolist() == edges["recall"].tolist()
