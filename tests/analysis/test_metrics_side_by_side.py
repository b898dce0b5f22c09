"""What is found for a metric does not depend on which others are asked for beside it, own metrics included."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.counted import counted
from helpers.own_metrics import remove_own_metrics
from helpers.problems import warned
from helpers.scenes import grid

NUMBERS = ["estimate", "low", "high", "p_value"]
BUILT_IN = ["f1", "precision", "recall", "mse", "det_a", "rmse", "mean_distance", "tp", "kelvins_mse"]
SLICES: list[Any] = [None, {"truth_x": 2}, "truth_size", ["truth_size", "sequence_night"]]


def add_own_metrics() -> list[str]:
    """A formula of what is known everywhere, one of false alarms, and one with sums of its own."""
    sf.metric("miss", lambda rows: {}, lambda s: s["fn"] / (s["tp"] + s["fn"]), higher_is_better=False)
    sf.metric("alarms", lambda rows: {}, lambda s: s["fp"] / s["n_frames"], higher_is_better=False)
    sf.metric(
        "missed_size",
        lambda rows: {"size": rows["truth_size"].where(rows["outcome"] == "FN", 0.0)},
        lambda s: s["size"] / s["fn"],
    )
    return ["miss", "alarms", "missed_size"]


def submissions(seed: int, n_sequences: int) -> dict[str, pd.DataFrame]:
    """Two submissions that differ in few sequences, and in some of them by distances alone."""
    random = np.random.default_rng(seed)
    truth, predictions = grid(random, 5 * n_sequences, 3, 30)
    truth = truth.assign(size=random.integers(0, 2, len(truth)).astype(float))
    nights = pd.DataFrame({"sequence": np.arange(n_sequences)}).assign(night=lambda table: table["sequence"] % 2)
    known = sf.Annotations(truth, sequences=nights[nights["sequence"].isin(truth["sequence"])])
    moved = predictions.assign(x=predictions["x"] + (predictions["sequence"] % 3 == 0))
    lost = (moved["sequence"] % 4 == 0) & (random.random(len(moved)) < 0.5)
    return {"a": sf.match(known, predictions), "b": sf.match(known, moved[~lost])}


def assert_alone(ask: Callable[[list[str]], pd.DataFrame], names: list[str]) -> None:
    """What is found for each metric alone is found for it beside the others."""
    together = ask(names)
    for name in names:
        alone, beside = ask([name]), together[together["metric"] == name].reset_index(drop=True)
        for column in (column for column in NUMBERS if column in alone):
            found, wanted = beside[column].to_numpy(float), alone[column].to_numpy(float)
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9, err_msg=f"{name} {column}")


@pytest.mark.parametrize("by", SLICES, ids=str)
@settings(max_examples=3)
@given(st.integers(0, 10_000), st.sampled_from([8, 30]))
def test_match_tables(by: Any, seed: int, n_sequences: int) -> None:
    sides = submissions(seed, n_sequences)
    try:
        names = [*BUILT_IN, *add_own_metrics()]
        assert_alone(lambda some: sf.compare(sides, some, by, resamples=200).pairs, names)
        assert_alone(lambda some: sf.intervals(sides["a"], by, some), names)
        assert_alone(lambda some: sf.intervals(sides["a"], by, some, "percentile", resamples=200), names)
    finally:
        remove_own_metrics()


def test_numbers_of_own_metrics_are_those_of_built_in_ones() -> None:
    """Where false alarms belong to no slice, a metric that does not count them is known as recall is."""
    sides = submissions(1, 30)
    sf.metric("again", lambda rows: {}, lambda s: s["tp"] / (s["tp"] + s["fn"]))
    with warned():
        compared = sf.compare(sides, ["recall", "again"], {"truth_x": 2}).pairs
        found = sf.intervals(sides["a"], {"truth_x": 2}, ["recall", "again"])
    of_recall, of_again = (compared[compared["metric"] == name] for name in ("recall", "again"))
    known = ["estimate", "p_value"]
    np.testing.assert_allclose(of_again[known], of_recall[known], rtol=1e-6, atol=1e-9)
    assert np.isfinite(of_recall[NUMBERS]).all(axis=None)
    assert of_again["low"].isna().all()
    assert of_again["reason"].str.contains("only 3 of 30 sequences differ").any(), "and again has no range"
    assert np.isfinite(found.loc[found["metric"] == "again", ["low", "high", "n_effective"]]).all(axis=None)


def tracked(random: np.random.Generator, truth: pd.DataFrame) -> pd.DataFrame:
    left = truth[random.random(len(truth)) < 0.9]
    return left.assign(x=left["x"] + random.normal(0, 1, len(left)), score=random.random(len(left)))


@pytest.mark.parametrize(
    ("evaluate", "names"),
    [
        (sf.track, ["HOTA", "MOTA", "IDF1", "IDSW", "DetA"]),
        (sf.average_precision, ["AP", "AP50", "AP75", "AR100"]),
    ],
    ids=["tracks", "average precision"],
)
def test_results(evaluate: Callable[..., Any], names: list[str]) -> None:
    random = np.random.default_rng(5)
    row = np.arange(22 * 3 * 4)
    truth = pd.DataFrame({"sequence": row // 12, "frame": row // 4 % 3, "object": row % 4, "x": row % 4 * 40.0})
    truth = truth.assign(y=5.0, w=10.0, h=10.0)
    found = tracked(random, truth)
    sides = {"a": evaluate(truth, found), "b": evaluate(truth, found.assign(x=found["x"] + (found["sequence"] > 15)))}
    assert_alone(lambda some: sf.compare(sides, some, resamples=200).pairs, names)
    assert_alone(lambda some: sf.intervals(sides["a"], metrics=some), names)


def test_an_own_metric_of_0_or_1_reads_all_built_in_sums() -> None:
    """Doubling one of them does not change it here, and swaps of sequences do: counted by a loop over all 256."""
    sf.metric("mostly", lambda rows: {}, lambda sums: np.where(sums["tp"] + 0.5 > 2 * sums["fp"], 1.0, 0.0))
    tp, fp = (
        np.array([[9, 8, 9, 7, 9, 8, 9, 9], [3, 2, 4, 1, 3, 2, 1, 3]]),
        np.array([[1, 2, 1, 1, 0, 1, 2, 3], [9] * 8]),
    )
    sides = [counted(*of) for of in zip(tp, 10 - tp, fp, strict=True)]
    row = sf.compare(dict(zip("ab", sides, strict=True)), metrics=["mostly"], baseline="b").pairs.iloc[0]
    apart = 0
    for swapped in product((0, 1), repeat=8):
        first, second = np.array(swapped), 1 - np.array(swapped)
        values = [tp[of, np.arange(8)].sum() + 0.5 > 2 * fp[of, np.arange(8)].sum() for of in (first, second)]
        apart += values[0] != values[1]
    assert row["estimate"] == 1
    assert row["p_value"] == apart / 256
