"""sample_size: how many sequences see a difference, from a pilot that knows its own standard error roughly."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import spotgeo_frames as sf
from helpers.counted import counted
from helpers.problems import refused

N = 10
RANGE = ["n_sequences", "n_sequences_low", "n_sequences_high"]


def recall_table(found: np.ndarray | list[int], n_truth: int = 10) -> pd.DataFrame:
    """As many truths in each sequence, so many of which are found."""
    return counted(found, n_truth - np.asarray(found), [0] * len(found))


OLD, NEW = recall_table([8, 7, 9, 6, 8, 7, 8, 9, 7, 6]), recall_table([8, 8, 9, 6, 7, 7, 9, 9, 7, 7])
APART = np.array([0, 1, 0, 0, -1, 0, 1, 0, 0, 1]) / 10


def smallest(error: float, margin: float, power: float = 0.8) -> int:
    """How many sequences see the margin by a t test, if one sequence has this standard error."""
    n = np.arange(6, 5000)
    reach = stats.t.ppf(0.975, n - 1) + stats.t.ppf(power, n - 1)
    return int(n[reach * error / np.sqrt(n) <= margin][0])


def test_the_plan_allows_for_what_the_pilot_does_not_know() -> None:
    row = sf.sample_size(NEW, "recall", 0.02, baseline=OLD).iloc[0]
    assert row["standard_error"] == pytest.approx(APART.std(ddof=1) / np.sqrt(N))
    assert row["n_pilot"] == N
    assert pd.isna(row["reason"])
    apart = APART - APART.mean()
    freedom = min(N - 1, 2 / ((apart**4).sum() / (apart**2).sum() ** 2 - 1 / N))
    upper = APART.std(ddof=1) * np.sqrt(freedom / stats.chi2.ppf(0.08, freedom))
    assert row["n_sequences"] == smallest(upper, 0.02)
    naive = smallest(APART.std(ddof=1), 0.02)
    assert row["n_sequences_low"] < naive < row["n_sequences"] < row["n_sequences_high"]


def test_more_power_and_smaller_margins_ask_for_more() -> None:
    def planned(margin: float, power: float = 0.8) -> int:
        return int(sf.sample_size(NEW, "recall", margin, baseline=OLD, power=power)["n_sequences"].iloc[0])

    assert planned(0.02, 0.95) > planned(0.02) > planned(0.04)
    assert planned(0.9) == planned(0.9, 0.001) == 6, "fewer cannot be tested"


def test_without_a_baseline_two_are_taken_to_be_as_variable_as_the_pilot() -> None:
    found = np.array([8, 8, 9, 6, 7, 7, 9, 9, 7, 7]) / 10
    row = sf.sample_size(NEW, "recall", 0.02).iloc[0]
    assert row["standard_error"] == pytest.approx(np.sqrt(2) * found.std(ddof=1) / np.sqrt(N))
    assert row["n_sequences"] > 0


@pytest.mark.parametrize(
    ("x", "baseline", "reason"),
    [
        (NEW[NEW["sequence"] == 0], None, "only one sequence"),
        (recall_table([10] * 20), None, "only 0 of 20 sequences differ"),
        (recall_table([10] * 18 + [3, 5]), recall_table([10] * 20), "only 2 of 20 sequences differ"),
        (NEW, NEW.sample(frac=1, random_state=2), "the same rows"),
        (counted([0] * N, [10] * N, [0] * N), None, "the metric is not defined"),
    ],
    ids=["one sequence", "no error", "two differ", "same rows", "undefined"],
)
def test_a_pilot_that_does_not_tell_says_why(x: pd.DataFrame, baseline: pd.DataFrame | None, reason: str) -> None:
    metric = "precision" if "defined" in reason else "recall"
    row = sf.sample_size(x, metric, 0.02, baseline=baseline).iloc[0]
    assert row[RANGE].isna().all()
    assert reason in row["reason"]


def test_more_sequences_than_anybody_has() -> None:
    row = sf.sample_size(NEW, "recall", 1e-9, baseline=OLD).iloc[0]
    assert row[RANGE].isna().all()
    assert "1,000,000,000,000" in row["reason"]


def test_what_plans_refuse() -> None:
    for wrong in ({"margin": 0}, {"margin": 0.1, "power": 1.0}):
        with refused([*wrong][-1], error=ValueError):
            sf.sample_size(NEW, "recall", **wrong)  # type: ignore[arg-type]


def test_four_of_five_pilots_plan_enough() -> None:
    """Pilots of 12 sequences whose differences have a standard deviation of 0.1: 104 are needed to see 0.02792."""
    random, margin = np.random.default_rng(6), 0.02792
    assert smallest(0.1, margin) == 103
    plans = []
    for _ in range(100):
        apart = np.round(100 * random.normal(0, 0.1, 12)).astype(int)
        pair = [recall_table(found, 200) for found in (100 + 2 * apart, np.full(12, 100))]
        plans.append(sf.sample_size(pair[0], "recall", margin, baseline=pair[1]).iloc[0])
    table = pd.DataFrame(plans)
    assert (table["n_sequences"] >= 103).mean() >= 0.8
    assert ((table["n_sequences_low"] <= 103) & (table["n_sequences_high"] >= 103)).mean() >= 0.9


def test_as_many_sequences_as_were_planned_see_the_difference() -> None:
    random, seen = np.random.default_rng(6), 0
    n = int(sf.sample_size(NEW, "recall", 0.06, baseline=OLD)["n_sequences"].iloc[0])
    steps = np.array([0, 1, 0, 0, -1, 0, 1, 0, 0, 1]) - 0.2  # as in the pilot, but with a mean of 0
    for seed in range(40):
        old = np.full(n, 50)
        new = np.round(old + 10 * (random.choice(steps, n) + 0.6)).astype(int)
        tables = {"new": recall_table(new, 100), "old": recall_table(old, 100)}
        seen += sf.compare(tables, metrics=["recall"], resamples=500, seed=seed).pairs["p_value"].iloc[0] <= 0.05
    assert seen / 40 >= 0.8
