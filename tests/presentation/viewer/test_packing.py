"""Columns come back from their bytes as they were."""

import json
import zlib
from base64 import b64decode
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers.packed import Values, read_table
from spotgeo_frames.presentation.viewer.packing import Text, column_of, compressed, packed_table, same, taken, used

FLOATS = st.one_of(
    st.floats(),
    st.floats(width=32),
    st.integers(-(10**9), 10**9).map(lambda whole: whole / 1000),
    st.integers(-200, 200).map(float),
    st.sampled_from([np.nan, np.inf, -np.inf, 0.0, 127.0, 128.0, 32768.0, 2.0**31, 1e-310, 1e300]),
)
TEXTS = st.one_of(st.none(), st.text(max_size=3), st.sampled_from(["__proto__", "constructor", "\ud800", "</script>"]))


def packed(values: Any, decimals: int | None = None) -> dict[str, Any]:
    """How a column is packed: its form, its decimals and its values as they are read."""
    column = column_of(pd.Series(values))
    assert column is not None
    content = bytearray(b"12345678")  # something came before
    table = packed_table({"x": column}, content, {} if decimals is None else {"x": decimals})
    json.dumps(table, allow_nan=False).encode()
    [described] = table["columns"]
    assert len(content) % 8 == 0
    return described | {"read": read_table(table, bytes(content))["x"]}


def assert_near(read: Values, values: np.ndarray, rtol: float, atol: float = 0) -> None:
    np.testing.assert_allclose(np.array(read, np.float64), values, rtol, atol)


@given(arrays(np.float64, st.integers(0, 30), elements=FLOATS))
def test_numbers_come_back(values: np.ndarray) -> None:
    column = packed(values)
    assert_near(column["read"], values, 1e-7 if column["form"] == "float32" else 0)


@given(arrays(np.float64, st.integers(0, 30), elements=FLOATS), st.integers(0, 15))
def test_rounded_numbers_come_back(values: np.ndarray, decimals: int) -> None:
    column = packed(values, decimals)
    if column["form"].startswith("int"):
        assert column["decimals"] == decimals
        assert_near(column["read"], values, 1e-12, 0.5 * 10.0**-decimals)
    else:
        assert_near(column["read"], values, 1e-7)


@given(st.lists(TEXTS, max_size=20))
def test_texts_come_back(values: list[str | None]) -> None:
    column = packed(pd.Series(values, dtype=object))
    expected = [None if value is None else value.replace("\ud800", "\\ud800") for value in values]
    assert column["read"] == expected
    assert {*column["values"]} == {*expected} - {None}


@pytest.mark.parametrize(
    ("values", "form", "decimals"),
    [
        ([1, 2, 127], "int8", 0),
        ([1, 2, 128], "int16", 0),
        ([1, np.nan, -128], "int16", 0),  # -128 stands for null
        ([1.5, 0.25], "int16", 2),
        ([1.5, 400.25], "int32", 2),
        ([2**31], "float64", None),
        ([2**53], "float64", None),
        ([0.1234567], "float32", None),
        ([0.1234567, 1e300], "float64", None),
        ([0.1234567, 1e-300], "float64", None),
        ([0.5, np.inf], "float32", None),
        ([np.nan], "int8", 0),
        ([], "int8", 0),
    ],
)
def test_numbers_take_the_shortest_form(values: list[float], form: str, decimals: int | None) -> None:
    column = packed(pd.Series(values, dtype="float64"))
    assert (column["form"], column.get("decimals")) == (form, decimals)


MOMENT = pd.Timestamp("2024-05-06 07:08:09")


@pytest.mark.parametrize(
    ("values", "read"),
    [
        (pd.Series([True, False]), ["True", "False"]),
        (pd.Series([True, None], dtype="boolean"), ["True", None]),
        (pd.Series([1, None], dtype="Int64"), [1, None]),
        (pd.Series([2**53 + 1, 5]), [str(2**53 + 1), "5"]),
        (pd.Series([2**64 - 1], dtype="uint64"), [str(2**64 - 1)]),
        (pd.Series([-(2**60), None], dtype="Int64"), [str(-(2**60)), None]),
        (pd.Series(["b", "a", None], dtype="category"), ["b", "a", None]),
        (pd.Series([3, 1], dtype="category"), ["3", "1"]),
        (pd.cut(pd.Series([1.0, 5.0]), [0, 2, 10]), ["0 to 2", "2 to 10"]),
        (pd.qcut(pd.Series([12, 30, 47, 60]), 2), ["12 to 38.5"] * 2 + ["38.5 to 60"] * 2),
        (pd.Series([MOMENT, None]), ["2024-05-06 07:08:09", None]),
        (pd.Series([MOMENT - pd.Timestamp("2024-05-06")]), ["0 days 07:08:09"]),
        (pd.Series([1, "a", None], dtype=object), ["1", "a", None]),
        (pd.Series([1.5, None], dtype=pd.ArrowDtype(pa.float64())), [1.5, None]),
    ],
    ids=lambda given: str(getattr(given, "dtype", "")),
)
def test_columns_of_every_type(values: pd.Series, read: Values) -> None:
    assert packed(values)["read"] == read


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([[1, 2], [3]]),
        pd.Series([{"a": 1}]),
        pd.Series([(1, 2)]),
        pd.Series([[1], [2]], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
        pd.Series([{"a": 1}], dtype=pd.ArrowDtype(pa.struct([("a", pa.int64())]))),
    ],
    ids=["list", "dict", "tuple", "arrow list", "arrow struct"],
)
def test_nested_columns_cannot_be_shown(values: pd.Series) -> None:
    assert column_of(values) is None


def test_bytes_lie_plane_by_plane() -> None:
    content = bytearray()
    table = packed_table({"x": np.array([1.0, 256.0, 515.0])}, content, {})
    assert table == {"n": 3, "columns": [{"name": "x", "form": "int16", "offset": 0, "decimals": 0}]}
    assert content == bytes([1, 0, 3, 0, 1, 2, 0, 0])


def test_columns_have_one_length() -> None:
    with pytest.raises(ValueError, match="unpack"):
        packed_table({"x": np.zeros(2), "y": np.zeros(3)}, bytearray(), {})


def test_rows_of_no_place_are_null() -> None:
    text = taken(Text(np.array([0, 1]), ["a", "b"]), np.array([1, -1]))
    assert isinstance(text, Text)
    assert text.codes.tolist() == [1, -1]
    assert used(text) == Text(pytest.approx([0, -1]), ["b"])
    numbers = taken(np.array([5.0, 6.0]), np.array([-1, 0]))
    assert same(numbers, np.array([np.nan, 5.0]))
    assert not same(text, Text(np.array([0, -1]), text.values))


def test_content_is_compressed() -> None:
    content = bytes(1000)
    assert zlib.decompress(b64decode(compressed(content))) == content
    assert len(compressed(content)) < 100
