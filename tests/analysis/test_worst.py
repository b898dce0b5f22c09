"""Worst slices: planted ones are found, noise is not."""

import re

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from helpers.scenes import objects
from spotgeo_frames.analysis.worst import _p_values


def made_up(seed: int, worse: float = 0.0, n_sequences: int = 80) -> pd.DataFrame:
    """Objects of which dim ones at the left are found less often, by `worse`; everything else is noise."""
    random = np.random.default_rng(seed)
    truth = objects(
        [(s, f, *random.uniform(0, 600, 2)) for s in range(n_sequences) for f in range(5) for _ in range(4)],
    )
    truth = truth.assign(
        brightness=random.random(len(truth)),
        kind=random.choice(["a", "b", "c"], len(truth)),
        lens=truth["sequence"] % 3,
    )
    chance = np.clip(random.beta(6, 3, n_sequences)[truth["sequence"]], 0.05, 0.95)
    chance = chance - worse * ((truth["brightness"] < 0.25) & (truth["x"] < 300))
    seen = truth[random.random(len(truth)) < chance]
    wrong = objects([(s, f, *random.uniform(0, 600, 2)) for s in range(n_sequences) for f in range(5)])
    claims = pd.concat([seen, wrong.assign(object=wrong["object"] + 100)])[["sequence", "frame", "object", "x", "y"]]
    return sf.match(truth, claims.assign(score=random.random(len(claims))))


COLUMNS = ["truth_brightness", "truth_x", "truth_kind", "truth_lens", "predicted_score", "frame_n_truth"]


def test_a_planted_slice_is_found() -> None:
    found = sf.worst_slices(made_up(1, worse=0.35), COLUMNS)
    names = [
        "slice",
        "metric",
        "n_rows",
        "n_sequences",
        "value",
        "rest",
        "estimate",
        "low",
        "high",
        "p_value",
        "p_adjusted",
    ]
    assert found.columns.tolist() == names
    worst = found.iloc[0]
    assert re.fullmatch(r"truth_brightness [\d.]+ to [\d.]+ and truth_x [\d.]+ to [\d.]+", worst["slice"])
    assert worst["metric"] == "recall"
    assert worst["low"] < worst["estimate"] < worst["high"] < 0
    assert worst["value"] < worst["rest"]
    assert (found["p_adjusted"] <= 0.05).all()
    assert found["estimate"].is_monotonic_increasing
    assert not found["slice"].str.contains("kind|lens|score").iloc[0]


def test_noise_is_not_reported() -> None:
    """At a rate of 0.05, of twenty data sets without a bad slice one may have a finding."""
    findings = [len(sf.worst_slices(made_up(seed), COLUMNS)) > 0 for seed in range(20)]
    assert sum(findings) <= 2


def test_all_slices() -> None:
    matches = made_up(2)
    found = sf.worst_slices(matches, ["truth_kind", "predicted_score", "frame_n_truth"], rate=1)
    assert sorted(found["slice"]) == sorted(
        [f"truth_kind = {kind}" for kind in "abc"] + found.loc[found["metric"] == "precision", "slice"].tolist()
    ), "of truths recall, of predictions precision; all frames have as many truths, so that there is no slice"
    assert found["metric"].value_counts().to_dict() == {"precision": 4, "recall": 3}
    row = found[found["slice"] == "truth_kind = a"].iloc[0]
    summary = sf.summarize(matches, by="truth_kind").set_index("truth_kind")
    assert row["value"] == pytest.approx(summary.loc["a", "recall"])
    assert row["n_rows"] == summary.loc["a", "n_truth"]
    rest = summary.loc[["b", "c"], ["tp", "n_truth"]].sum()
    assert row["rest"] == pytest.approx(rest["tp"] / rest["n_truth"])


def test_slices_of_whole_sequences() -> None:
    """No sequence has both, so that the rates are compared as they are."""
    random = np.random.default_rng(3)
    truth = objects([(s, f, *random.uniform(0, 600, 2)) for s in range(90) for f in range(5) for _ in range(3)])
    night = np.where(truth["sequence"] % 3 == 0, "cloudy", "clear")
    seen = truth[random.random(len(truth)) < np.where(night == "cloudy", 0.5, 0.8)]
    matches = sf.match(truth.assign(night=night), seen)
    [row] = sf.worst_slices(matches, ["truth_night"]).to_dict("records")
    assert row["slice"] == "truth_night = cloudy"
    assert row["estimate"] == pytest.approx(row["value"] - row["rest"])
    assert row["n_sequences"] == 30
    assert row["low"] < row["estimate"] < row["high"] < -0.1


def test_paired_within_sequences() -> None:
    """A slice that occurs mostly in easy sequences looks better than it is; compared within them it is worse."""
    random = np.random.default_rng(4)
    rows, kinds, chances = [], [], []
    for s in range(60):
        for f in range(5):
            for k in range(6):
                odd = k < (5 if s % 2 else 1)
                rows.append((s, f, *random.uniform(0, 600, 2)))
                kinds.append("odd" if odd else "even")
                chances.append((0.9 if s % 2 else 0.4) - 0.2 * odd)
    truth = objects(rows).assign(kind=kinds)
    matches = sf.match(truth, truth[random.random(len(truth)) < chances].drop(columns="kind"))
    [row] = sf.worst_slices(matches, ["truth_kind"]).to_dict("records")
    assert row["slice"] == "truth_kind = odd"
    assert row["value"] > row["rest"]
    assert row["estimate"] == pytest.approx(-0.2, abs=0.07)


def test_p_values_of_all_flips() -> None:
    random = np.random.default_rng(5)
    contributions = random.normal(0.3, 1, (10, 3))
    signs = np.array(np.meshgrid(*[[-1, 1]] * 10)).reshape(10, -1).T
    exact = (np.abs(signs @ contributions) >= np.abs(contributions.sum(axis=0)) - 1e-9).mean(axis=0)
    assert _p_values(contributions, 0) == pytest.approx(exact, abs=0.02)


def test_what_worst_slices_refuses() -> None:
    matches = made_up(6, n_sequences=12)
    with refused(("match table", "column truth_brightnes", "did you mean truth_brightness")):
        sf.worst_slices(matches, ["truth_brightnes"])
    with refused(("worst_slices", "1 sequence", "two")):
        sf.worst_slices(matches.query("sequence == 0"), ["truth_kind"])
    named = matches.assign(name=[f"n{k}" for k in range(len(matches))])
    with refused(("worst_slices: column name", "300", "bin it")):
        sf.worst_slices(named, ["name"])
    for wrong in ({"depth": 3}, {"rate": 0}, {"min_sequences": 1}, {"bins": 1}):
        [(argument, value)] = wrong.items()
        with refused((argument, str(value)), error=ValueError):
            sf.worst_slices(matches, ["truth_kind"], **wrong)
    with refused(("worst_slices: columns", "'truth_kind'", "['truth_kind']")):
        sf.worst_slices(matches, "truth_kind")
    assert len(sf.worst_slices(matches, ["truth_kind"], min_sequences=50)) == 0
