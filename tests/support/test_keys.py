"""Key columns as integers: order and equality survive, whatever the values span."""

from itertools import pairwise
from unittest import mock

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from spotgeo_frames.support.arrays import (
    SHORT,
    added_at,
    ascend,
    distinct,
    locate,
    ordinals,
    pack,
    positions,
    row_keys,
)
from spotgeo_frames.support.pandas_tables import TEXT

ANY = st.one_of(st.integers(-5, 5), st.integers(-(2**63), 2**63 - 1))
INTEGERS = st.lists(ANY, min_size=1, max_size=30)


@given(st.lists(st.tuples(ANY, ANY, ANY), min_size=1))
def test_keys_sort_as_the_columns_do(rows: list[tuple[int, int, int]]) -> None:
    keys = row_keys(pd.DataFrame(rows, columns=list("abc"), dtype="int64"), list("abc"))
    order = sorted(range(len(rows)), key=lambda row: rows[row])
    for one, next_one in pairwise(order):
        assert (keys[one] < keys[next_one]) == (rows[one] < rows[next_one])
        assert (keys[one] == keys[next_one]) == (rows[one] == rows[next_one])


@given(st.lists(st.tuples(st.integers(-1, 1), ANY, st.integers(0, 1)), max_size=4))
def test_rows_that_ascend(rows: list[tuple[int, int, int]]) -> None:
    table = pd.DataFrame(rows, columns=list("abc"), dtype="int64")
    assert ascend([table[name] for name in "abc"]) == all(one < other for one, other in pairwise(rows))
    assert not ascend([table["a"].astype(TEXT), table["b"]])


def test_columns_too_wide_for_one_integer_are_numbered_first() -> None:
    widest = (1 << 31) - 1
    codes = [np.array([widest - 1, 0, widest - 1, 5]) for _ in range(3)]
    packed = pack(codes, [widest] * 3)
    assert packed[0] == packed[2] > packed[3] > packed[1]


def test_keys_beyond_63_bits_are_numbered_in_order() -> None:
    codes, span = ordinals([np.array([2**63 + 1, 2**63], np.uint64), np.array([2**63 - 1], np.uint64)])
    assert [part.tolist() for part in codes] == [[2, 1], [0]]
    assert span == 3
    [above], _ = ordinals([np.array([2**64 - 1, 2**63], np.uint64)])
    assert above[0] > above[1]
    [far], _ = ordinals([np.array([2**63 + 7, 2**63 + 5], np.uint64)])
    assert far.tolist() == [2, 0]


@given(INTEGERS, INTEGERS)
def test_tables_share_their_numbers(left: list[int], right: list[int]) -> None:
    codes, span = ordinals([pd.Series(left, dtype="int64"), pd.Series(right, dtype="int64")])
    together = np.concatenate(codes)
    assert 0 <= together.min() <= together.max() < span
    values = left + right
    assert (together < together[0]).tolist() == [value < values[0] for value in values]


@given(st.lists(st.sampled_from(["b", "a", "c", None]), min_size=1, max_size=6))
def test_runs_of_text_are_numbered_as_single_values_are(values: list[str | None]) -> None:
    long = pd.Series(np.repeat(values, 10).tolist(), dtype=TEXT)
    with mock.patch("spotgeo_frames.support.arrays.SHORT", 0):
        with mock.patch("spotgeo_frames.support.coded_text.LONG", 1):
            [codes], span = ordinals([long])
        [expected], expected_span = ordinals([long])  # too short to be searched for runs
    assert codes.tolist() == expected.tolist()
    assert span == expected_span


@given(INTEGERS, INTEGERS)
def test_distinct_keys_and_where_they_are(keys: list[int], others: list[int]) -> None:
    # What row_keys gives spans less than an int64 can, so that differences fit.
    array, wanted = (np.array([number // 4 for number in numbers]) for numbers in (keys, others))
    values, first = distinct(array)
    assert values.tolist() == sorted(set(array.tolist()))
    assert [array.tolist().index(value) for value in values] == first.tolist()
    assert values[positions(array, values, first)].tolist() == array.tolist()
    known = {value: position for position, value in enumerate(values.tolist())}
    assert locate(values, wanted).tolist() == [known.get(value, -1) for value in wanted.tolist()]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-5, 5))))
def test_values_add_up_to_floats_also_where_there_are_none(rows: list[tuple[int, int]]) -> None:
    position, values = np.array(rows, np.int64).reshape(-1, 2).T
    added = added_at(position, values, 5)
    assert added.dtype == np.float64
    assert added.tolist() == [sum(value for of, value in rows if of == place) for place in range(5)]


@given(st.lists(st.lists(st.sampled_from(["b", "a", "ab", "", "é", None]), max_size=6), min_size=1, max_size=3))
def test_text_in_few_rows_is_numbered_as_in_many(columns: list[list[str | None]]) -> None:
    few = [pd.array(column, dtype=TEXT) for column in columns]
    codes, span = ordinals(few)
    many = pd.array([value for column in columns for value in column] * (SHORT + 1), dtype=TEXT)
    [expected], expected_span = ordinals([many])
    assert np.concatenate(codes).tolist() == expected[: sum(map(len, columns))].tolist()
    assert span == expected_span
