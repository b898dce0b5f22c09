"""Sorting by digits gives the order of a stable sort."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spotgeo_frames.support import arrays


@given(st.lists(st.one_of(st.floats(allow_nan=False), st.sampled_from([0.0, -0.0, 0.5, 0.5, 1.0])), max_size=60))
def test_falling_numbers(values: list[float]) -> None:
    given = np.array(values, np.float64)
    assert arrays.falling_order(given).tolist() == np.argsort(-given, kind="stable").tolist()


@given(st.data(), st.sampled_from([1, 9, 1 << 16, (1 << 16) + 1, 1 << 20, 1 << 40, 1 << 62]))
def test_codes(data: st.DataObject, span: int) -> None:
    some = data.draw(st.lists(st.integers(0, span - 1), min_size=1, max_size=5))
    codes = np.array(data.draw(st.lists(st.sampled_from(some), max_size=60)), np.int64)
    assert arrays.stable_order(codes, span).tolist() == np.argsort(codes, kind="stable").tolist()
