"""Detection limits: curves worked out by hand, intervals against their definition, and what cannot be told."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import t as student

import spotgeo_frames as sf
from helpers.problems import refused, warned
from helpers.reference import PROJECT
from spotgeo_frames.tables.schema import OUTCOMES


def table(rows: list[tuple[Any, float | None, int]], **columns: Any) -> pd.DataFrame:
    """A match table with a truth a row: its sequence, its value, and 1 where it was found, 0 where it was missed."""
    made = pd.DataFrame(rows, columns=["sequence", "truth_value", "found"])
    outcome = pd.Categorical(np.where(made.pop("found") == 1, "TP", "FN"), OUTCOMES)
    made = made.assign(frame=1, outcome=outcome, distance=np.nan, squared_error=0.0, kelvins_error=0.0)
    return made.astype({"truth_value": "float64"}).assign(**columns)


def drawn(seed: int, n_sequences: int = 30, slope: float = 1.5) -> pd.DataFrame:
    """Truths of sequences of different size and difficulty; recall is 50% at a value of about 0."""
    random = np.random.default_rng(seed)
    sequence = np.repeat(np.arange(n_sequences), 2 + random.poisson(12 * np.exp(random.normal(0, 0.6, n_sequences))))
    value, difficulty = random.normal(0, 2, len(sequence)), random.normal(0, 0.7, n_sequences)
    found = random.random(len(sequence)) < expit(slope * value - difficulty[sequence])
    return table(list(zip(sequence.tolist(), value.tolist(), found.astype(int).tolist(), strict=True)))


def limits(matches: pd.DataFrame, *arguments: Any, **options: Any) -> pd.DataFrame:
    """The table `limits` of a column truth_value, without the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sf.detection_limit(matches, "truth_value", *arguments, **options).limits


# How many truths of each value there are, and how many were found: the logit is (value - 2) * log 3 exactly.
LADDER = {0: (60, 6), 1: (60, 15), 2: (60, 30), 3: (60, 45), 4: (60, 54), 5: (84, 81)}


def ladder(n_sequences: int = 1) -> pd.DataFrame:
    """The truths of LADDER, dealt out to sequences."""
    truths = [(float(value), int(k < found)) for value, (n, found) in LADDER.items() for k in range(n)]
    return table([(k % n_sequences, *truth) for k, truth in enumerate(truths)])


def test_a_curve_worked_out_by_hand() -> None:
    """Recall is 1/10, 1/4, 1/2, 3/4, 9/10 and 27/28: in odds, each step multiplies by 3."""
    found = limits(ladder(24))
    assert found["recall"].tolist() == [0.5, 0.9]
    assert found["estimate"].tolist() == pytest.approx([2, 4])
    assert found["slope"].tolist() == pytest.approx([np.log(3)] * 2)
    assert found["intercept"].tolist() == pytest.approx([-2 * np.log(3)] * 2)
    assert (found["low"] < found["estimate"]).all()
    assert (found["estimate"] < found["high"]).all()
    assert found["n_truth"].tolist() == [384, 384]
    assert found["n_sequences"].tolist() == [24, 24]
    assert found["reason"].isna().all()


def test_recall_that_falls() -> None:
    rising, falling = limits(ladder(24)), limits(ladder(24).assign(truth_value=-ladder(24)["truth_value"]))
    assert falling["estimate"].tolist() == pytest.approx([-2, -4])
    assert falling["low"].tolist() == pytest.approx((-rising["high"]).tolist())
    assert falling["bend_p_value"].tolist() == pytest.approx(rising["bend_p_value"].tolist())


def test_bins_have_the_recall_of_summaries_and_intervals() -> None:
    matches = drawn(1)
    bins = sf.detection_limit(matches, "truth_value").bins
    expected = sf.intervals(matches, {"truth_value": 8}, metrics=["recall"])
    assert bins["truth_value"].tolist() == expected["truth_value"].tolist()
    for column, other in (("recall", "estimate"), ("recall_low", "low"), ("recall_high", "high")):
        assert bins[column].tolist() == pytest.approx(expected[other].tolist())
    assert bins["n_sequences"].tolist() == expected["n_sequences"].tolist()
    inside = pd.Series([row["mean"] in row["truth_value"] for _, row in bins.iterrows()])
    assert inside.all()
    # The likelihood equations: over all truths, the curve finds as many as were found.
    found = (bins["recall_of_curve"] * bins["n_truth"]).sum()
    assert found == pytest.approx((matches["outcome"] == "TP").sum())


@pytest.mark.parametrize("seed", range(4))
def test_intervals_against_their_definition(seed: int) -> None:
    """The curve, refitted by another method; and at both bounds, t is at the quantile of its degrees of freedom."""
    matches = drawn(seed)
    found = limits(matches, confidence=0.9)
    x = np.column_stack([np.ones(len(matches)), matches["truth_value"]])
    y = (matches["outcome"] == "TP").to_numpy(float)
    of = minimize(lambda c: np.logaddexp(0, x @ c).sum() - y @ x @ c, [0.0, 0.0], tol=1e-10).x
    assert found.loc[0, ["intercept", "slope"]].tolist() == pytest.approx(of, rel=1e-3)
    of = found.loc[0, ["intercept", "slope"]].to_numpy(float)
    p = expit(x @ of)
    total = (x * (p * (1 - p))[:, None]).T @ x
    changes = []
    for sequence in matches["sequence"].unique():
        own = (matches["sequence"] == sequence).to_numpy()
        left = total - (x[own] * (p * (1 - p))[own, None]).T @ x[own]
        changes.append(np.linalg.solve(left, x[own].T @ (y - p)[own]))
    n = len(changes)
    variance = (n - 1) / n * np.transpose(changes) @ changes
    for _, row in found.iterrows():
        for bound in (row["low"], row["high"]):
            at = np.array([1, bound])
            t = (at @ of - logit(row["recall"])) / np.sqrt(at @ variance @ at)
            assert abs(t) == pytest.approx(student.ppf(0.95, row["degrees_of_freedom"]))
        assert 1 <= row["degrees_of_freedom"] <= n - 1


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.floats(0.01, 1000), st.floats(-1e4, 1e4))
def test_another_scale_moves_limits_with_it(seed: int, factor: float, shift: float) -> None:
    matches = drawn(seed, n_sequences=12)
    found, moved = limits(matches), limits(matches.assign(truth_value=matches["truth_value"] * factor + shift))
    for name in ("estimate", "low", "high"):
        expected = found[name] * factor + shift
        assert moved[name].tolist() == pytest.approx(expected.tolist(), rel=1e-5, abs=1e-4 * factor, nan_ok=True)
    assert moved["bend_p_value"].tolist() == pytest.approx(found["bend_p_value"].tolist(), rel=1e-3, nan_ok=True)


def test_copies_of_truths_tell_nothing_new() -> None:
    """Ten times as many truths of the same sequences: what takes truths as independent would be three times as sure."""
    matches = drawn(5)
    once, often = limits(matches), limits(pd.concat([matches] * 10, ignore_index=True))
    compared = ["estimate", "low", "high", "bend_p_value", "degrees_of_freedom"]
    pd.testing.assert_frame_equal(once[compared], often[compared])


@settings(max_examples=5)
@given(st.lists(st.sampled_from("abc"), min_size=40, max_size=40), st.integers(0, 1000))
def test_a_group_has_the_limits_of_its_rows_alone(bands: list[str], seed: int) -> None:
    matches = drawn(seed, n_sequences=40)
    matches = matches.assign(band=[bands[sequence] for sequence in matches["sequence"]])
    found = limits(matches, by="band")
    for band in {*bands}:
        alone = limits(matches[matches["band"] == band].reset_index(drop=True))
        own = found[found["band"] == band].drop(columns="band").reset_index(drop=True)
        pd.testing.assert_frame_equal(own, alone)


def test_groups_by_bins_and_series() -> None:
    matches = drawn(6).assign(frame_sky=lambda rows: rows["sequence"] % 7)
    found = limits(matches, {"frame_sky": 2})
    assert found["frame_sky"].astype(str).tolist() == ["(-0.001, 3.0]"] * 2 + ["(3.0, 6.0]"] * 2
    assert limits(matches, (matches["sequence"] < 15).rename("early"))["early"].tolist() == [False] * 2 + [True] * 2
    little, unknown = ("detection_limit", "14 of 14 limits", "fewer than 20"), ("detection_limit", "7 of 14", "reason")
    with warned(little, unknown):
        bins = sf.detection_limit(matches, "truth_value", by="frame_sky").bins
    assert bins.columns[:2].tolist() == ["frame_sky", "truth_value"]
    assert bins["n_truth"].sum() == len(matches)


# --- what cannot be told ---

STEPS = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]

# Truths, each in 6 sequences; then the reasons at 50% and 90%. All values are null where a reason is the same at both.
UNKNOWN: dict[str, tuple[list[tuple[Any, float | None, int]], str]] = {
    "no truths": ([], "no truth has a value"),
    "all null": ([(s, None, s % 2) for s in range(6)], "no truth has a value"),
    "all found": ([(s, x, 1) for s in range(6) for x in STEPS], "all truths were found"),
    "all missed": ([(s, x, 0) for s in range(6) for x in STEPS], "all truths were missed"),
    "one value": ([(s, 3.0, s % 2) for s in range(6)], "there are fewer than three values"),
    "two values": ([(s, x, s % 2) for s in range(6) for x in (0.0, 1.0)], "there are fewer than three values"),
    "apart": (
        [(s, x, int(x > 2)) for s in range(6) for x in STEPS],
        "all truths up to 2 were missed, and all from 3 on were found",
    ),
    "apart, falling": (
        [(s, x, int(x < 2.5)) for s in range(6) for x in STEPS],
        "all truths up to 2 were found, and all from 3 on were missed",
    ),
    "apart, touching": (
        [(s, x, int(x > 2 or (x == 2 and s > 2))) for s in range(6) for x in STEPS],
        "all truths up to 2 were missed, and all from 2 on were found",
    ),
    "flat": (
        [(s, x, int((s + x) % 2)) for s in range(6) for x in STEPS],
        "6 sequences do not tell the slope from 0",
    ),
    "one value is far away": (
        [(s, x, int((s + x) % 3 > 0)) for s in range(6) for x in STEPS] + [(6, 1e300, 1)],
        "the curve cannot be fitted, because a few values are far from all others",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.filterwarnings("ignore:.*fewer than 20 sequences", "ignore:.*left out")
def test_what_cannot_be_told_is_null_with_its_reason(name: str) -> None:
    rows, reason = UNKNOWN[name]
    with pytest.warns(UserWarning, match=reason):
        found = sf.detection_limit(table(rows), "truth_value").limits
    assert found[["estimate", "low", "high"]].isna().all(axis=None)
    assert found["reason"].str.startswith(reason).all()
    assert found["recall"].tolist() == [0.5, 0.9]


def test_limits_outside_the_values_are_null() -> None:
    """Of 3, 4 and 5 alone, recall is 3/4, 9/10 and 27/28, so the curve is above 50% everywhere."""
    matches = ladder(24)
    found = limits(matches[matches["truth_value"] >= 3].reset_index(drop=True))
    assert found["estimate"][0] != found["estimate"][0]
    assert found["reason"][0] == "the curve is above 50% at all values, which go from 3 to 5"
    assert found["estimate"][1] == pytest.approx(4)
    low = matches[matches["truth_value"] <= 3].reset_index(drop=True)
    assert limits(low)["reason"][1] == "the curve is below 90% at all values, which go from 0 to 3"
    falling = low.assign(truth_value=7 - low["truth_value"])
    assert limits(falling)["reason"][1] == "the curve is below 90% at all values, which go from 4 to 7"


def test_bounds_outside_the_values_are_null() -> None:
    found = limits(ladder(24).query("truth_value <= 4").reset_index(drop=True), confidence=0.999)
    assert found["estimate"].tolist()[0] == pytest.approx(2)
    assert found["low"][1] > 2
    assert np.isnan(found["high"][1])
    assert "high" in found["reason"][1]


def test_one_sequence_has_limits_without_intervals() -> None:
    with warned(("detection_limit: recall of 50% and 90%", "only one sequence")):
        found = sf.detection_limit(ladder(), "truth_value").limits
    assert found["estimate"].tolist() == pytest.approx([2, 4])
    assert found[["low", "high"]].isna().all(axis=None)
    by_sequence = limits(ladder(2), "sequence")
    assert by_sequence["n_sequences"].tolist() == [1] * 4


def test_few_sequences() -> None:
    with warned(("detection_limit: fewer than 20 sequences or 5 degrees of freedom", "little is known")):
        sf.detection_limit(ladder(18), "truth_value")
    for n in (2, 3, 4):
        found = limits(ladder(n))
        assert (found["low"].isna() | (found["low"] < found["estimate"])).all()


def test_sequences_that_agree() -> None:
    """They are alike to the last truth, so the jackknife has no error; that is no proof that all others are alike."""
    matches = pd.concat([ladder().assign(sequence=k) for k in range(30)], ignore_index=True)
    with warned(("detection_limit: recall of 50% and 90%", "all sequences agree")):
        found = sf.detection_limit(matches, "truth_value").limits
    assert found["estimate"].tolist() == pytest.approx([2, 4])
    assert found[["low", "high"]].isna().all(axis=None)


def test_values_that_are_left_out() -> None:
    matches = ladder(24)
    extra = table([(0, None, 0), (1, np.inf, 0), (2, -np.inf, 1)])
    with warned(("detection_limit", "3 truths are left out", "2 of them missed", "truth_value", "null or infinite")):
        found = sf.detection_limit(pd.concat([matches, extra], ignore_index=True), "truth_value").limits
    pd.testing.assert_frame_equal(found, limits(matches))


def test_only_truths_count() -> None:
    """False alarms and empty frames have values of their frame, and are no truths."""
    matches = ladder(24)
    others = matches.head(40).assign(outcome=pd.Categorical(["FP", "empty"] * 20, OUTCOMES))
    pd.testing.assert_frame_equal(limits(pd.concat([matches, others], ignore_index=True)), limits(matches))


# --- whether the curve is logistic ---


def test_a_curve_that_is_logistic_only_in_the_logarithm() -> None:
    matches = drawn(7, n_sequences=150, slope=2.0)
    flux = matches.assign(truth_value=np.exp(matches["truth_value"]))
    with warned(("detection_limit: recall is no logistic curve of truth_value", "bend_p_value", "bins", "logarithm")):
        sf.detection_limit(flux, "truth_value")
    with warned():
        sf.detection_limit(flux.assign(truth_log=np.log(flux["truth_value"])), "truth_log")


def test_bends_of_groups_allow_for_their_count() -> None:
    """Of 20 groups without a bend, one has a p-value below 0.05 more often than not."""
    matches = pd.concat([drawn(seed).assign(band=seed) for seed in range(20)], ignore_index=True)
    p_values = limits(matches, "band")["bend_p_value"]
    assert (p_values <= 0.05).any()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sf.detection_limit(matches, "truth_value", by="band")
    assert not any("logistic" in str(warning.message) for warning in caught)


# --- bad input ---


def test_what_is_refused() -> None:
    matches = ladder(24).assign(
        truth_band="a", truth_flag=True, truth_day=pd.Timestamp("2020-01-01"), predicted_score=0.5, recall=1
    )
    matches.loc[matches["outcome"] == "FN", "predicted_score"] = np.nan
    with refused(("match table", "no column truth_valu", "did you mean truth_value")):
        sf.detection_limit(matches, "truth_valu")
    for column, kind in (("truth_flag", "bool"), ("truth_day", "datetime64"), ("truth_band", "str|object")):
        with pytest.raises(sf.InputError, match=f"column {column} is of type {kind}.*numbers are needed; intervals"):
            sf.detection_limit(matches, column)
    with refused(("detection_limit: column squared_error", "follows from the outcome", "truth_x")):
        sf.detection_limit(matches, "squared_error")
    with refused(("detection_limit: column predicted_score", "null on every missed truth", "truth_x")):
        sf.detection_limit(matches, "predicted_score")
    with refused(("detection_limit: column", "['truth_value']", "the name of a column")):
        sf.detection_limit(matches, ["truth_value"])  # type: ignore[arg-type]
    with refused(("by: predicted_score", "null on every missed truth")):
        sf.detection_limit(matches, "truth_value", by="predicted_score")
    with refused(("by: truth_value", "column of the result")):
        sf.detection_limit(matches, "truth_value", by={"truth_value": 2})
    with refused(("by: slope", "column of the result")):
        sf.detection_limit(matches, "truth_value", by=matches["recall"].rename("slope"))
    with refused(("confidence", "1"), error=ValueError):
        sf.detection_limit(matches, "truth_value", confidence=1)
    with refused(("detection_limit: matches", "dict")):
        sf.detection_limit({}, "truth_value")  # type: ignore[arg-type]


def test_a_table_without_rows() -> None:
    empty = ladder().head(0)
    assert limits(empty)["reason"].tolist() == ["no truth has a value"] * 2
    assert len(limits(empty, by="sequence")) == 0


def test_a_table_that_was_filtered_by_predictions_says_so() -> None:
    truth = sf.read_objects(PROJECT / "data/sample/truth.parquet")
    matches = sf.match(truth, sf.read_objects(PROJECT / "data/sample/eager.parquet"))
    with warned(("detection_limit: recall of 50% and 90%", "found"), ("detection_limit", "lacks rows of")):
        sf.detection_limit(matches[matches["predicted_score"] > 0.3], "truth_brightness")


# --- every kind of objects ---


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_kind_of_objects() -> None:
    boxes = sf.read_motchallenge(PROJECT / "data/tracks/truth", PROJECT / "data/tracks/tracker")
    poses = sf.read_posetrack(PROJECT / "data/poses/truth", PROJECT / "data/poses/tracker")
    made = {
        "boxes": sf.match(*boxes),
        "tracks": sf.track(*boxes).matches,
        "joints": sf.match(*poses, tau=10),
        "poses": sf.pose(*poses).matches,
    }
    for name, matches in made.items():
        column = "truth_x" if "truth_x" in matches else next(c for c in matches if c.startswith("truth_x"))
        found = sf.detection_limit(matches, column, by="joint" if "joint" in matches else None)
        known = matches[column].notna() & matches["outcome"].isin(["TP", "FN"])
        assert found.bins["n_truth"].sum() == known.sum(), name


def test_how_it_shows_itself() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sf.detection_limit(ladder(24), "truth_value")
        by_band = sf.detection_limit(ladder(24).assign(band="a"), "truth_value", by="band")
    lines = str(found).splitlines()
    assert lines[0] == "DetectionLimit"
    assert lines[1].startswith("  recall 0.5, estimate 2, low ")
    assert str(by_band).splitlines()[1].startswith("  band a, recall 0.5, estimate 2, low ")


# --- ceilings ---


def levelling_off(height: float, n_sequences: int = 60, seed: int = 3) -> pd.DataFrame:
    """Truths whose recall rises with the value up to `height` and stays there."""
    random = np.random.default_rng(seed)
    sequence, value = np.repeat(np.arange(n_sequences), 15), random.normal(0, 1, 15 * n_sequences)
    found = random.random(len(value)) < height * expit(1 + 3 * value)
    return table(list(zip(sequence.tolist(), value.tolist(), found.astype(int).tolist(), strict=True)))


def test_a_recall_that_is_never_reached() -> None:
    """Recall stays at 85 %, where a curve that goes on rising would have 90 % at some value."""
    half, ninety = limits(levelling_off(0.85)).to_dict("records")
    assert half["reason"] is None or pd.isna(half["reason"])
    assert half["low"] < half["estimate"] < half["high"]
    assert np.isnan([ninety[name] for name in ("estimate", "low", "high")]).all()
    assert "recall does not go beyond about 8" in ninety["reason"]
    assert "90%" in ninety["reason"]
    reached = limits(levelling_off(1.0))
    assert reached["reason"].isna().all()


def test_the_order_of_rows_does_not_decide_on_a_ceiling() -> None:
    matches = levelling_off(0.85).assign(truth_value=lambda m: m["truth_value"].round())
    pd.testing.assert_frame_equal(limits(matches), limits(matches.sample(frac=1, random_state=1)), rtol=1e-6)


def test_curves_that_rise_have_no_ceiling() -> None:
    """Of 100 logistic curves of 20 sequences, at most five are said to level off."""
    tables = [drawn(seed, 20).assign(replicate=seed) for seed in range(100)]
    together = pd.concat([t.assign(sequence=t["sequence"] + 100 * k) for k, t in enumerate(tables)], ignore_index=True)
    reason = limits(together, by="replicate")["reason"]
    assert reason.str.contains("does not go beyond").fillna(False).sum() <= 5
