"""Intervals of one long sequence: they hold however alike its frames are, or are null and say why."""

import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, signal, special, stats

import spotgeo_frames as sf
from helpers.counted import counted, tracked
from helpers.problems import refused, warned
from spotgeo_frames.analysis.certainty.batches import slow_changes


def found_in(table: pd.DataFrame, metric: str) -> pd.Series:
    return sf.intervals(table, metrics=[metric], method="batch_means").iloc[0]


@pytest.fixture
def own_total() -> Iterator[None]:
    sf.metric("own", lambda rows: {}, lambda sums: sums["fp"] + 2 * sums["fn"])
    yield
    sf.metric("own", None, None)


def one_sequence(missed: np.ndarray) -> pd.DataFrame:
    """A sequence with four hits and so many misses in each frame."""
    table = counted([4] * len(missed), missed, [0] * len(missed))
    return table.assign(frame=table["sequence"], sequence=7)


def long_sequences(n: int, n_frames: int, rho: float) -> tuple[pd.DataFrame, float]:
    """Sequences whose recall changes slowly, with this autocorrelation from frame to frame; and their true recall."""
    random = np.random.default_rng([n_frames, int(1000 * rho)])
    step = random.normal(0, 1.2, (n, n_frames))
    step[:, 1:] *= np.sqrt(1 - rho**2)
    n_truth = 1 + random.poisson(2, n * n_frames)
    tp = random.binomial(n_truth, special.expit(1 + signal.lfilter([1], [1, -rho], step, axis=1)).ravel())
    table = counted(tp, n_truth - tp, 0 * tp)
    true = special.expit(1 + random.normal(0, 1.2, 1_000_000)).mean()
    return table.assign(sequence=table["sequence"] // n_frames, frame=table["sequence"] % n_frames), true


@pytest.mark.parametrize("rho", [0.0, 0.98])
def test_intervals_of_one_long_sequence_hold_however_alike_its_frames_are(rho: float) -> None:
    table, true = long_sequences(100, 1500, rho)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some are null
        found = sf.intervals(table, by="sequence", metrics=["recall"], method="batch_means")
    given = found.dropna(subset="low")
    assert len(given) >= 90
    assert ((given["low"] <= true) & (true <= given["high"])).mean() >= 0.93
    assert found["n_sequences"].eq(1).all()
    assert found[["n_effective", "degrees_of_freedom", "largest_share"]].isna().all(axis=None)


def test_independent_frames_have_nearly_the_interval_of_as_many_sequences() -> None:
    table, _ = long_sequences(30, 1500, 0.0)
    found = sf.intervals(table, by="sequence", metrics=["recall"], method="batch_means")
    alone = table.assign(sequence=table["sequence"] * 1500 + table["frame"])
    wanted = sf.intervals(alone, by=table["sequence"].rename("each"), metrics=["recall"])
    assert found["estimate"].tolist() == pytest.approx(wanted["estimate"].tolist())
    wider = (found["high"] - found["low"]) / (wanted["high"] - wanted["low"])
    assert 1 < wider.median() < 1.5


def test_one_sequence_that_is_too_short_has_no_interval_and_the_reason() -> None:
    random = np.random.default_rng(0)
    short, long = (one_sequence(random.integers(0, 3, n)) for n in (1499, 1500))
    with warned(("intervals: null low and high of recall", "1,499 frames", "at least 1,500", "correlate by ")):
        assert np.isnan(found_in(short, "recall")["low"])
    row = found_in(long, "recall")
    assert row["low"] < row["estimate"] < row["high"]
    both = pd.concat([long, short.assign(sequence=8)], ignore_index=True)
    with warned(("intervals: 1 of 2 groups have null low and high of recall", "1,499 frames")):
        found = sf.intervals(both, by="sequence", metrics=["recall"], method="batch_means")
    assert found["low"].tolist() == pytest.approx([row["low"], np.nan], nan_ok=True), "each by itself"


def test_one_sequence_that_changes_too_slowly_or_not_at_all_has_no_interval() -> None:
    rising = one_sequence(np.arange(1500) // 214)
    with warned(
        (
            "intervals: null low and high of recall",
            "1,500 frames, and about",
            "are needed: frames stay alike over about",
            "autocorrelation 0.998",
        )
    ):
        assert np.isnan(found_in(rising, "recall")["low"])
    with warned(("intervals: null low and high of recall", "all frames agree")):
        assert np.isnan(found_in(one_sequence(np.zeros(1500, int)), "recall")["high"])


def test_one_sequence_is_asked_for() -> None:
    table = one_sequence(np.arange(20) % 3)
    two = pd.concat([table, table.assign(sequence=8)], ignore_index=True)
    with refused(("intervals: method='batch_means'", "one long sequence", "there are 2", "by='sequence'")):
        sf.intervals(two, method="batch_means")


@pytest.mark.usefixtures("own_total")
def test_totals_of_one_long_sequence_are_those_of_the_sequence() -> None:
    """The total of a single sequence is its mean, so its interval is that of the mean."""
    table, _ = long_sequences(1, 1500, 0.5)
    row = found_in(table, "kelvins_mse")
    assert row["low"] < row["estimate"] < row["high"] < 2 * row["estimate"]
    row = found_in(table, "own")
    assert row["estimate"] == 2 * (table["outcome"] == "FN").sum()
    assert row["low"] < row["estimate"] < row["high"] < 2 * row["estimate"]


def test_identities_cannot_be_cut_into_batches() -> None:
    result = tracked([3])
    with refused(("intervals: method='batch_means': identities", ".matches")):
        sf.intervals(result, method="batch_means")
    with warned(("intervals: null low and high of recall", "10 frames")):
        assert np.isfinite(found_in(result.matches, "recall")["estimate"])


def test_neighbouring_frames_that_take_turns_correlate_by_nearly_minus_one() -> None:
    """Of 20 frames, 19 pairs of neighbours are as far apart as can be."""
    with warned(("intervals: null low and high of recall", "20 frames", "correlate by -0.95")):
        found_in(one_sequence(np.arange(20) % 2), "recall")


def plain_changes(series: np.ndarray, confidence: float) -> tuple[float, float, float]:
    """Half the width of the interval of a sum, the memory, and the share of a memory of 0.3 and more.

    A model after the other: noise, which weighs 100 times as much, and noise with a slow part, whose memory and ratio
    to the noise are those listed in the module, with the covariances written out.
    """
    n, n_cosines = len(series), 30
    at = np.arange(n)
    cosines = [np.cos(np.pi * k * (2 * at + 1) / (2 * n)) * np.sqrt(2 / n) for k in range(1, n_cosines + 1)]
    models = [(0.0, 100.0, np.eye(n))]
    for memory in (1 / 80, 1 / 40, 1 / 20, 1 / 10, 1 / 5, 2 / 5, 1, 5 / 2):
        rho = np.exp(-1 / (memory * n))
        slow = rho ** np.abs(at[:, None] - at) * (1 - rho) / (1 + rho)
        models += [(memory, 1.0, np.eye(n) + ratio * slow) for ratio in (1, 3, 10, 30, 100, 300, 1000)]
    weights, scales, slow_shares = [], [], []
    for _, weight, covariance in models:
        expected = np.array([c @ covariance @ c for c in cosines])
        square = float(np.mean([(c @ series) ** 2 / of for c, of in zip(cosines, expected, strict=True)]))
        weights.append(weight * float(np.prod(expected)) ** -0.5 * square ** (-n_cosines / 2))
        scales.append(np.sqrt(covariance.sum() * square))
        slow_shares.append(1 - n / covariance.sum())
    chances = np.array(weights) / sum(weights)

    def within(reach: float) -> float:
        return float(chances @ (2 * stats.t.cdf(reach / np.array(scales), n_cosines) - 1))

    reach = optimize.brentq(lambda x: within(x) - confidence, 0.0, 100 * max(scales), xtol=1e-12, rtol=1e-12)
    slow, memories = chances * slow_shares, np.array([memory for memory, *_ in models])
    memory = np.exp(slow[1:] @ np.log(memories[1:]) / slow.sum())
    return reach, float(memory), float(slow[memories >= 0.3].sum())


@pytest.mark.parametrize("rho", [0.0, 0.7, 0.95])
def test_what_a_series_tells_of_its_sum_is_that_of_all_models_one_after_the_other(rho: float) -> None:
    random = np.random.default_rng(int(100 * rho))
    series = signal.lfilter([1], [1, -rho], random.normal(size=60))
    for confidence in (0.5, 0.95):
        found = slow_changes(series[None], confidence, 0.3)
        assert [float(of[0]) for of in found] == pytest.approx(plain_changes(series, confidence), rel=1e-6)
