"""Bounds of a mean that hold at all times together."""

import numpy as np
import pytest

from spotgeo_frames.analysis.certainty.gates import always_valid_low, always_valid_reach, skewed_reach

# normal_mixture_bound(v, alpha=0.1, v_opt=18.986578815888713, alpha_opt=0.1, is_one_sided=False) of confseq 0.0.11,
# where v_opt makes its prior that of PRIOR = 3.
CONFSEQ = {20.0: 12.359902855796644, 200.0: 42.31326112345206, 1e4: 356.665296654615, 1e6: 4161.985514330164}


def test_with_many_observations_the_bound_is_that_of_a_known_variance() -> None:
    reach = {n: float(always_valid_reach(n, 0.05)) * np.sqrt(n) for n in CONFSEQ}
    assert reach[1e6] == pytest.approx(CONFSEQ[1e6], rel=1e-5)
    assert reach[1e4] == pytest.approx(CONFSEQ[1e4], rel=1e-3)
    assert reach[200] > CONFSEQ[200]
    assert reach[20] > 1.05 * CONFSEQ[20]


def test_few_observations_have_no_bound() -> None:
    assert np.isinf(always_valid_reach([2, 5], 0.05)).all()
    assert np.isfinite(always_valid_reach([6, 7], 0.05)).all()
    assert np.isnan(always_valid_low(np.arange(5.0), 4, 0.05))
    assert np.isnan(always_valid_low(np.ones(50), 49, 0.05))


def test_a_long_tail_below_moves_the_bound_and_one_above_does_not() -> None:
    assert skewed_reach(3.0, 0.5) == skewed_reach(3.0, 0.0) == 3
    assert 3 < skewed_reach(3.0, -0.1) < skewed_reach(3.0, -0.3) < 12
    assert skewed_reach(3.0, -1e-6) == pytest.approx(3, abs=1e-4)


@pytest.mark.parametrize("spread", ["normal", "skewed"])
def test_it_is_wrong_at_any_time_with_a_chance_of_at_most_5_percent(spread: str) -> None:
    random = np.random.default_rng(3)
    values = random.normal(size=(300, 60)) if spread == "normal" else 1 - random.exponential(size=(300, 60))
    looks = range(6, 61, 2)
    wrong = [any(always_valid_low(of[:n], n - 1, 0.05) > 0 for n in looks) for of in values]
    once = [any(of[:n].mean() / of[:n].std(ddof=1) * np.sqrt(n) > 1.7 for n in looks) for of in values]
    assert np.mean(wrong) <= 0.05
    assert np.mean(once) > 0.15
