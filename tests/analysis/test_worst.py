"""Worst slices: planted ones are found, noise is not."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.problems import refused, warned
from helpers.scenes import objects
from spotgeo_frames.analysis.certainty.worst import flip_tests
from spotgeo_frames.tables.schema import OUTCOMES


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


COLUMNS = ["truth_brightness", "truth_x", "truth_kind", "truth_lens", "predicted_score"]


def test_a_planted_slice_is_found() -> None:
    found = sf.worst_slices(made_up(1, worse=0.35), COLUMNS)
    names = [
        "slice",
        "metric",
        "contrast",
        "n_rows",
        "n_sequences",
        "value",
        "rest",
        "estimate",
        "low",
        "high",
        "p_value",
        "p_adjusted",
        "selected",
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
    """At a rate of 0.05, of ten data sets without a bad slice one may have a finding."""
    findings = [len(sf.worst_slices(made_up(seed), COLUMNS)) > 0 for seed in range(10)]
    assert sum(findings) <= 1


def test_all_slices() -> None:
    matches = made_up(2)
    found = sf.worst_slices(matches, ["truth_kind", "predicted_score"], rate=1)
    assert set(found["slice"]) == {f"truth_kind = {kind}" for kind in "abc"} | {
        *found["slice"][found["metric"] == "precision"]
    }, "of truths recall, of predictions precision; all frames have as many truths, so that there is no slice"
    counts = found[["metric", "contrast"]].value_counts().to_dict()
    assert counts == {
        (m, f"{c} sequences"): n for m, n in (("precision", 4), ("recall", 3)) for c in ("within", "between")
    }
    assert not found["selected"].any()
    row = found[found["slice"] == "truth_kind = a"].iloc[0]
    summary = sf.summarize(matches, by="truth_kind").set_index("truth_kind")
    assert row["value"] == pytest.approx(summary.loc["a", "recall"])
    assert row["n_rows"] == summary.loc["a", "n_truth"]
    rest = summary.loc[["b", "c"], ["tp", "n_truth"]].sum()
    assert row["rest"] == pytest.approx(rest["tp"] / rest["n_truth"])


def test_all_crossings_of_two_columns_have_the_numbers_of_summaries() -> None:
    matches = made_up(2)
    found = sf.worst_slices(matches, ["truth_kind", "truth_lens"], rate=1)
    summary = sf.summarize(matches, by=["truth_kind", "truth_lens"])
    names = (
        "truth_kind = " + summary["truth_kind"].astype(str) + " and truth_lens = " + summary["truth_lens"].astype(str)
    )
    crossed = found[found["slice"].str.contains(" and ")].drop_duplicates("slice").set_index("slice")
    assert {*crossed.index} == {*names}
    assert len(names) == 9
    assert crossed.loc[names, "value"].tolist() == pytest.approx(summary["recall"].tolist())
    assert crossed.loc[names, "n_rows"].tolist() == summary["n_truth"].tolist()


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
    found = sf.worst_slices(matches, ["truth_kind"])
    assert found[["slice", "contrast"]].to_numpy().tolist() == [
        ["truth_kind = even", "between sequences"],
        ["truth_kind = odd", "within sequences"],
    ], "even ones are worse only because they are many in hard sequences"
    row = found.iloc[1]
    assert row["value"] > row["rest"]
    assert row["estimate"] == pytest.approx(-0.2, abs=0.07)


def table_of(rows: list[tuple[int, str, str]]) -> pd.DataFrame:
    """A match table of (sequence, outcome, kind)."""
    table = pd.DataFrame(rows, columns=["sequence", "outcome", "kind"])
    table = table.assign(frame=1, outcome=pd.Categorical(table["outcome"], OUTCOMES))
    return table.assign(distance=np.nan, squared_error=0.0, kelvins_error=0.0)


def test_both_contrasts_by_hand() -> None:
    """Sequence 1 finds 1 of 2 a and 2 of 2 b; 2 finds 0 of 1 a and 1 of 1 b; 3 and 4 have 1 b each, found.

    Within: weights 2 * 2 / 4 = 1 and 1 * 1 / 2, differences -1/2 and -1: (-1/2 - 1/2) / (3/2) = -2/3.
    Between: a counts as its sequences do, (2 * 3/4 + 1 * 1/2) / 3 = 2/3; b (2 * 3/4 + 1/2 + 1 + 1) / 5 = 4/5.
    """
    rows = [(1, "TP", "a"), (1, "FN", "a"), (1, "TP", "b"), (1, "TP", "b"), (2, "FN", "a"), (2, "TP", "b")]
    matches = table_of([*rows, (3, "TP", "b"), (4, "TP", "b")])
    found = sf.worst_slices(matches, ["kind"], rate=1, min_sequences=2)
    found = found[found["slice"] == "kind = a"].set_index("contrast")
    assert found["estimate"].to_dict() == pytest.approx(
        {"within sequences": -2 / 3, "between sequences": 2 / 3 - 4 / 5}
    )
    assert found["value"].tolist() == pytest.approx([1 / 3, 1 / 3])
    assert found["rest"].tolist() == pytest.approx([1.0, 1.0])
    assert found["n_sequences"].tolist() == [2, 2]


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["TP", "FN"]), st.sampled_from("ab")), min_size=2))
def test_the_two_contrasts_make_up_the_difference(rows: list[tuple[int, str, str]]) -> None:
    matches = table_of([*rows, *[(s, o, k) for s, o, k in ((0, "TP", "a"), (1, "FN", "b"))]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sf.worst_slices(matches, ["kind"], rate=1, min_sequences=2)
    for _, both in found[found["slice"] == "kind = a"].groupby("slice"):
        is_a, hit = matches["kind"] == "a", matches["outcome"] == "TP"
        rate = hit.groupby(matches["sequence"]).transform("mean")
        between = rate[is_a].mean() - rate[~is_a].mean()
        in_slice, rest = (side.groupby(matches["sequence"]).sum() for side in (is_a, ~is_a))
        if ((in_slice > 0) & (rest > 0)).sum() < 2:  # not tested within sequences
            assert both["estimate"].tolist() == pytest.approx([hit[is_a].mean() - hit[~is_a].mean()])
            continue
        weight = (in_slice * rest / (in_slice + rest)).sum()
        n, r = in_slice.sum(), rest.sum()
        within = (hit[is_a].mean() - hit[~is_a].mean() - between) / (weight * (1 / n + 1 / r)) if weight else 0
        expected = {"within sequences": within, "between sequences": between}
        for contrast, estimate in both.set_index("contrast")["estimate"].items():
            assert estimate == pytest.approx(expected[contrast], abs=1e-9)


def test_an_effect_between_sequences_does_not_vanish_where_they_straddle_a_bin() -> None:
    random = np.random.default_rng(8)
    sequence = np.repeat(np.arange(60), 20)
    cloud = random.permutation(60)[sequence] / 60
    hit = random.random(len(sequence)) < np.where(cloud < 0.25, 0.3, 0.7)
    matches = table_of(list(zip(sequence, np.where(hit, "TP", "FN"), ["a"] * len(hit), strict=True)))
    for jitter in (0.0, 0.1, 0.3):
        table = matches.assign(cloud=cloud + jitter * random.normal(size=len(cloud)))
        worst = sf.worst_slices(table, ["cloud"]).iloc[0]
        assert worst["contrast"] == "between sequences"
        assert worst["slice"].startswith("cloud ")


def test_what_was_not_looked_at_is_said_once() -> None:
    matches = made_up(6, n_sequences=12)
    names = [f"n{k}" for k in range(len(matches))]
    matches = matches.assign(one=1, unknown=np.nan, name=names, half=matches["sequence"] < 6)
    matches["most"] = np.where(matches.index < 12, matches.index, 0.0)
    columns = ["truth_kind", "one", "unknown", "name", "most", "half"]
    with warned(("worst_slices: some columns were not looked at", "one", "unknown", "name", "half", "200", "12")):
        found = sf.worst_slices(matches, columns, rate=1)
    assert set(found.attrs["not_tested"]) == {"one", "unknown", "name", "most", "half"}
    assert found.attrs["not_tested"]["one"] == "it has a single value, which leaves no rows to compare with"
    assert found.attrs["not_tested"]["unknown"] == "it has no values, which leaves no rows to compare with"
    assert found.attrs["not_tested"]["most"] == "it has a single bin, which leaves no rows to compare with"
    assert found.attrs["not_tested"]["name"] == "it has 300 values, and at most 200 are possible; bin it first"
    assert found["slice"].str.startswith("truth_kind").all()
    assert found.attrs["n_tests"] == len(found) == 3


def test_seven_sequences() -> None:
    with warned(("worst_slices: no slice was tested", "truth_kind", "7 sequences", "a slice needs 10 (min_sequences)")):
        found = sf.worst_slices(made_up(6, n_sequences=7), ["truth_kind"])
    assert len(found) == 0
    assert {"contrast", "low", "p_adjusted", "selected"} <= set(found.columns)


def test_nothing_is_missed() -> None:
    matches = table_of([(s, "TP", kind) for s in range(12) for kind in "ab"])
    with warned(("worst_slices: no slice was tested", "kind", "no miss and no false alarm")):
        assert len(sf.worst_slices(matches, ["kind"])) == 0


def test_an_interval_excludes_0_just_where_the_p_value_says() -> None:
    found = sf.worst_slices(made_up(1, worse=0.2), COLUMNS, rate=1)
    excludes = (found["low"] > 0) | (found["high"] < 0)
    assert (excludes == (found["p_adjusted"] <= 0.05)).all()
    assert excludes.any()
    assert not excludes.all()
    assert (found["p_value"] <= found["p_adjusted"]).all()


def test_p_values_of_all_flips() -> None:
    random = np.random.default_rng(5)
    contributions = random.normal(0.3, 1, (12, 3)) * [1, 10, 0.1]
    signs = np.array(np.meshgrid(*[[-1, 1]] * 12)).reshape(12, -1).T
    scale = np.quantile(np.abs(signs @ contributions), 0.999, axis=0)
    flipped, observed = np.abs(signs @ contributions) / scale, np.abs(contributions.sum(axis=0)) / scale
    tests = flip_tests(contributions, 0.9, 0)
    assert tests.p_value == pytest.approx((flipped >= observed - 1e-9).mean(axis=0), abs=0.02)
    largest = flipped.max(axis=1)
    assert tests.p_adjusted == pytest.approx([(largest >= t - 1e-9).mean() for t in observed], abs=0.02)
    assert tests.reach == pytest.approx(np.quantile(largest, 0.9) * scale, rel=0.03)


def test_a_sum_of_three_sequences_hides_no_other() -> None:
    """The three agree in a quarter of the flips; if that counted as far, nothing else could be significant."""
    contributions = np.zeros((40, 2))
    contributions[:, 0] = np.where(np.arange(40) < 28, -1.0, 1.0)  # 28 of 40 agree, 1.7% of flips go as far
    contributions[:3, 1] = -1.0
    alone, both = flip_tests(contributions[:, :1], 0.95, 0), flip_tests(contributions, 0.95, 0)
    assert alone.p_adjusted[0] == alone.p_value[0] == pytest.approx(0.0166, abs=0.005)
    assert both.p_adjusted[0] < 0.05
    assert both.p_adjusted[1] > 0.2


def test_nothing_is_contributed() -> None:
    tests = flip_tests(np.zeros((12, 1)), 0.95, 0)
    assert (tests.p_value[0], tests.p_adjusted[0]) == (1.0, 1.0)
    assert np.isnan(tests.reach[0])


def test_what_worst_slices_refuses() -> None:
    matches = made_up(6, n_sequences=12)
    with refused(("match table", "column truth_brightnes", "did you mean truth_brightness")):
        sf.worst_slices(matches, ["truth_brightnes"])
    with refused(("worst_slices", "1 sequence", "two")):
        sf.worst_slices(matches.query("sequence == 0"), ["truth_kind"])
    for wrong in ({"depth": 3}, {"rate": 0}, {"min_sequences": 1}, {"bins": 1}):
        [(argument, value)] = wrong.items()
        with refused((argument, str(value)), error=ValueError):
            sf.worst_slices(matches, ["truth_kind"], **wrong)
    with refused(("worst_slices: columns", "'truth_kind'", "['truth_kind']")):
        sf.worst_slices(matches, "truth_kind")
    with refused(("worst_slices: columns", "['truth_x']")):
        sf.worst_slices(matches, {"truth_x": 4})  # type: ignore[arg-type]
    with refused("worst_slices: columns is empty"):
        sf.worst_slices(matches, [])


@pytest.mark.parametrize("values", [[1, 2, 3], [0.1, 0.2, 0.3], [0.1, 0.3, 1.0]], ids=str)
def test_few_values_are_slices_of_their_own_whole_or_not(values: list[float]) -> None:
    """Only objects of the middle value are missed, and no bin blames another value for that."""
    random = np.random.default_rng(7)
    truth = objects([(s, f, *random.uniform(0, 600, 2)) for s in range(40) for f in range(4) for _ in range(6)])
    truth = truth.assign(band=random.choice(values, len(truth)))
    seen = truth[(truth["band"] != values[1]) | (random.random(len(truth)) < 0.4)]
    matches = sf.match(truth, seen.drop(columns="band"))
    found = sf.worst_slices(matches, ["truth_band"])
    assert {*found["slice"]} == {f"truth_band = {float(values[1])}"}
    assert {*sf.worst_slices(matches, ["truth_band"], rate=1)["slice"]} == {f"truth_band = {float(v)}" for v in values}


def test_more_values_than_ten_are_binned() -> None:
    matches = made_up(3)
    tenths = matches.assign(truth_tenth=(matches["truth_brightness"] * 10).round() / 10)
    assert tenths["truth_tenth"].nunique() == 11
    slices = sf.worst_slices(tenths, ["truth_tenth"], rate=1)["slice"]
    assert slices.str.contains(" to ").all()
