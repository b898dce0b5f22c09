"""Ways to swap sequences: which there are, their sums against plain products, and p-values of groups of ways."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.counted import counted
from spotgeo_frames.analysis.certainty import ways
from spotgeo_frames.analysis.certainty.ways import Group, Listed, ways_of


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ways are groups as soon as they are not all that there are."""
    monkeypatch.setattr(ways, "MOST_DRAWN", ways.MOST_EXACT)


def group_of(n_sequences: int, n_swaps: int, seed: int = 0) -> Group:
    found = ways_of(np.ones(n_sequences, bool), n_swaps, seed)
    assert isinstance(found, Group)
    return found


def test_few_sequences_have_all_ways_more_have_drawn_ones_and_many_a_group() -> None:
    for n_sequences, n_ways in ((3, 8), (12, 4096), (13, 100), (1000, 100), (1001, 128)):
        found = ways_of(np.ones(n_sequences, bool), 100, 0)
        assert (found.n_ways, isinstance(found, Listed)) == (n_ways, n_sequences <= 1000)
        signs = found.signs(0, n_ways)
        assert signs.shape == (n_ways, n_sequences)
        assert {*np.unique(signs)} == {-1, 1}
        assert (signs[0] == 1).all()


@pytest.mark.parametrize("n_swaps", [1, 2, 5, 8])
def test_a_group_is_closed(n_swaps: int, groups: None) -> None:
    signs = group_of(20, n_swaps).signs(0, 8)
    known = {tuple(way) for way in signs}
    assert {tuple(a * b) for a in signs for b in signs} == known


def test_over_a_group_each_sequence_is_swapped_as_often_as_not_and_independently_of_any_other() -> None:
    signs = group_of(1500, 1501).signs(0, 2048)
    np.testing.assert_array_equal(signs.T @ signs, 2048 * np.eye(1500))
    assert (signs.sum(axis=0) == 0).all()


def test_sequences_share_codes_where_there_are_more_of_them() -> None:
    codes = group_of(1100, 100).codes
    assert len(codes) == 1100
    assert {*np.bincount(codes, minlength=128)[1:]} == {8, 9}
    assert codes.min() == 1


@given(st.integers(0, 1000), st.integers(1, 300), st.integers(0, 40))
def test_sums_are_those_of_signs(seed: int, n_swaps: int, first: int) -> None:
    random = np.random.default_rng(seed)
    differs = random.random(1001) < 0.5
    found = ways_of(differs, n_swaps, seed)
    values = random.normal(size=(3, differs.sum()))
    one, two = found.adder([values[:1], values[1:]])(first, first + 20)
    sums = found.signs(first, min(first + 20, found.n_ways)) @ values.T
    np.testing.assert_allclose(np.hstack([one, two]), sums, atol=1e-10)


@pytest.mark.parametrize("n_sequences", [13, 1001])
def test_a_sequence_has_the_same_signs_whichever_others_differ(n_sequences: int) -> None:
    every = ways_of(np.ones(n_sequences, bool), 64, 3).signs(0, 64)
    differs = np.arange(n_sequences) % 3 > 0
    np.testing.assert_array_equal(ways_of(differs, 64, 3).signs(0, 64), every[:, differs])


def p_value(counts: Sequence[np.ndarray], resamples: int) -> float:
    """Of the difference in recall, from tp, fn and fp (sequences, 3) of two submissions."""
    tables = {name: counted(*of.T) for name, of in zip("ab", counts, strict=True)}
    return sf.compare(tables, metrics=["recall"], resamples=resamples).pairs["p_value"].iloc[0]


def test_p_values_of_a_group_are_no_smaller_than_they_should_be(groups: None) -> None:
    """Whichever of its ways was observed: of 32, at most k have a p-value of k / 32, at every level."""
    random = np.random.default_rng(2)
    found = random.binomial(12, random.beta(6, 2, (20, 1)) * [0.9, 1.0])
    a, b = (np.column_stack([tp, 12 - tp, np.ones(20, int)]) for tp in found.T)
    swapped = group_of(20, 32).signs(0, 32)[:, :, None] < 0
    p_values = [p_value([np.where(way, b, a), np.where(way, a, b)], 32) for way in swapped]
    for k in range(1, 33):
        assert np.count_nonzero(np.array(p_values) <= k / 32 + 1e-9) <= k


def test_a_group_says_of_equal_detectors_what_drawn_ways_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 60 pairs, as many p-values are small, and each is about the same."""
    found: dict[int, list[float]] = {ways.MOST_EXACT: [], ways.MOST_DRAWN: []}
    for seed in range(60):
        random = np.random.default_rng(seed)
        truth, chance = 1 + random.poisson(8, 40), random.beta(4, 2, 40)
        tp = random.binomial(truth, chance, (2, 40))
        sides = [np.column_stack([of, truth - of, np.ones(40, int)]) for of in tp]
        for most, p_values in found.items():
            monkeypatch.setattr(ways, "MOST_DRAWN", most)
            p_values.append(p_value(sides, 1000))
    of_group, of_drawn = map(np.array, found.values())
    assert np.count_nonzero(of_group <= 0.05) <= 7
    np.testing.assert_allclose(of_group, of_drawn, atol=0.07)
