"""Columns: a table taken apart and put together again is the same table, whatever it holds."""

from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import spotgeo_frames as sf
from helpers.pandas_versions import TEXT
from helpers.problems import refused
from spotgeo_frames.matching.matcher import matched
from spotgeo_frames.matching.options import match_options
from spotgeo_frames.scoring.match_sums import summary_sums
from spotgeo_frames.scoring.summary import metric_columns
from spotgeo_frames.support.pandas_tables import COPIES_ON_WRITE
from spotgeo_frames.tables.annotations import side_columns
from spotgeo_frames.tables.columns import (
    Columns,
    among,
    as_numbers,
    columns_of,
    dataframe_of,
    first_values,
    joined,
    null_rows,
)
from spotgeo_frames.tables.match_tables import match_columns, match_dataframe
from spotgeo_frames.tables.provenance import SOURCE, confirmed

TABLE = pd.DataFrame(
    {
        "whole": [3, 1, 2],
        "number": [0.5, np.nan, -1.0],
        "small": np.array([1, 2, 3], np.int8),
        "flag": [True, False, True],
        "text": pd.array(["b", None, "a"], dtype=TEXT),
        "nullable": pd.array([1, None, 3], dtype="Int64"),
        "kind": pd.Categorical(["x", None, "y"], categories=["y", "x"]),
        "time": pd.to_datetime(["2026-01-01", None, "2026-01-03"]),
        "bins": pd.cut([1.0, 5.0, 9.0], 2),
        "object": pd.Series([{"a": 1}, None, [2]], dtype=object),
    }
)
NUMPY = ["whole", "number", "small", "flag", "object"]


def test_a_table_comes_back_as_it_was() -> None:
    table = TABLE.copy()
    table.attrs = {"rule": "distance", "tau": 10.0}
    again = dataframe_of(columns_of(table))
    pd.testing.assert_frame_equal(again, table)
    assert again.attrs == table.attrs


def test_objects_stay_objects_whatever_rows_are_left() -> None:
    mixed = pd.DataFrame({"name": pd.Series(["a", "b", 3], dtype=object)})
    assert dataframe_of(columns_of(mixed).take(np.array([0, 1])))["name"].dtype == object


def test_objects_that_cannot_be_text_are_carried() -> None:
    table = pd.DataFrame({"sequence": 1, "frame": 1, "object": range(2), "x": [0.0, 50.0], "y": 0.0})
    table["name"] = pd.Series(["a\ud800", "b"], dtype=object)
    matches = sf.match(table, table)
    assert matches["truth_name"].tolist() == ["a\ud800", "b"]
    assert sf.summarize(matches, by="truth_name")["tp"].tolist() == [1, 1]
    assert len(sf.track(table, table, identity="name").truth_objects) == 2


@pytest.mark.parametrize("kind", ["objects", "categories"])
@pytest.mark.parametrize("column", ["sequence", "object", "category"])
def test_names_that_are_no_text_are_refused(column: str, kind: str) -> None:
    """A file's name in another encoding than UTF-8 comes as half of a surrogate pair."""
    names = {"sequence": ["a", "b"], "frame": 1, "object": ["p", "q"], "category": "c"}
    table = pd.DataFrame(names | {"x": 0.0, "y": 0.0})
    known = ["fine", "bad\ud800"]
    coded = pd.Categorical.from_codes([0, 1], pd.Index(known, dtype=object))
    table[column] = pd.Series(known, dtype=object) if kind == "objects" else coded
    name = "sequence b" if column == "category" else r"bad\ud800"  # written so that every terminal can show it
    with refused((f"truth: column {column}: 1 row", "UTF-8", name)):
        sf.match(table, table)
    if column == "category":
        with refused((f"truth categories: column {column}: 1 row", "UTF-8", r"bad\ud800")):
            sf.match(sf.Annotations(table.assign(category="fine"), categories=table[[column]]), table)


def test_rows_are_taken_as_pandas_takes_them() -> None:
    rows = np.array([2, 0, 0])
    pd.testing.assert_frame_equal(dataframe_of(columns_of(TABLE).take(rows)), TABLE.take(rows).reset_index(drop=True))


@pytest.mark.parametrize("name", TABLE.columns)
def test_the_arrays_of_a_column_know_nulls_and_names(name: str) -> None:
    values = columns_of(TABLE)[name]
    assert isinstance(values, np.ndarray) == (name in NUMPY)
    assert null_rows(values).tolist() == TABLE[name].isna().tolist()
    pd.testing.assert_series_equal(
        pd.Series(joined([values, values])), pd.concat([TABLE[name]] * 2, ignore_index=True), check_names=False
    )
    if name != "object":  # its values cannot be hashed
        some = TABLE[name].tolist()[:1]
        assert among(values, some).tolist() == TABLE[name].isin(some).tolist()


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_large_integers_are_among_those_that_equal_them(kind: type) -> None:
    values = np.array([2**60, 2**60 + 1, 5], kind)
    assert among(values, [2**60 + 1, 2**64, -1, -(2**70)]).tolist() == [False, True, False]
    assert among(np.array([2**63 + 1, 2**63 + 2], np.uint64), [2**63 + 2, 1]).tolist() == [False, True]


def test_the_first_distinct_values_of_a_column() -> None:
    assert first_values(columns_of(TABLE)["bins"], 2) == ["(0.992, 5.0]", "(5.0, 9.0]"]
    assert first_values(np.array([3, 3, 1, 2]), 2) == ["3", "1"]


@pytest.mark.parametrize("name", ["whole", "number", "small", "flag", "nullable"])
def test_numbers_are_float64_and_null_is_nan(name: str) -> None:
    wanted = TABLE[name].to_numpy(np.float64, na_value=np.nan)
    for values in (columns_of(TABLE)[name], TABLE[name], TABLE[name].astype(object)):
        np.testing.assert_array_equal(as_numbers(values), wanted)


def test_a_table_without_columns_has_its_rows() -> None:
    nothing = Columns({}, n_rows=3)
    assert len(nothing) == len(dataframe_of(nothing)) == 3
    assert len(nothing.take(np.array([1]))) == 1


POINTS = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(1, 3), st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=30
)


@settings(max_examples=50)
@given(POINTS, POINTS)
def test_scoring_columns_is_scoring_tables(truth: list[tuple], predictions: list[tuple]) -> None:
    sides = []
    for rows in (truth, predictions):
        table = pd.DataFrame(rows, columns=["sequence", "frame", "x", "y"])
        table.insert(2, "object", table.groupby(["sequence", "frame"]).cumcount())
        sides.append(table.astype({"x": float, "y": float}))
    sides = [pd.concat([sides[0], sides[1].head(1)]).drop_duplicates(["sequence", "frame", "object"]), sides[1]]
    matches = sf.match(*sides)
    columns, warning = matched(*(side_columns(sf.Annotations(side)) for side in sides), match_options())
    known, claimed = ({*side["sequence"]} for side in sides)
    assert (warning is None) == (claimed <= known)
    pd.testing.assert_frame_equal(match_dataframe(columns), matches)
    assert match_columns(matches)["outcome"].tolist() == columns["outcome"].tolist()
    summary = sf.summarize(matches)
    bare, _ = matched(*(side_columns(sf.Annotations(side)) for side in sides), match_options(), carried=())
    for row in (metric_columns(summary_sums(columns)), metric_columns(summary_sums(bare))):
        pd.testing.assert_frame_equal(dataframe_of(row), summary, check_dtype=False)


def test_a_wide_table_is_taken_apart_and_put_together_alike() -> None:
    """More columns than rows go side by side, in the order and types that they had."""
    parts = [TABLE.add_suffix(f"_{number}") for number in range(20)]
    wide = pd.concat(parts, axis=1)
    wide.attrs = {"note": 1}
    apart = columns_of(wide)
    assert apart.columns == [*wide.columns]
    assert all(not isinstance(apart[name], np.ndarray) or apart[name].ndim == 1 for name in apart)
    pd.testing.assert_frame_equal(dataframe_of(apart), wide)
    assert dataframe_of(apart).attrs == wide.attrs


def test_a_wide_table_that_was_read_and_changed_is_no_longer_the_files(tmp_path: Path) -> None:
    columns = {name: [1, 2] for name in ("sequence", "frame", "object")} | {"x": [1.0, 2.0], "y": [1.0, 2.0]}
    path = tmp_path / "wide.parquet"
    pd.DataFrame(columns | {f"feature_{number}": [0.0, np.nan] for number in range(200)}).to_parquet(path)
    read = sf.read_objects(path).objects
    assert confirmed(read) is read
    assert SOURCE in confirmed(read.iloc[1:]).attrs
    read.loc[1, "feature_7"] = 1.0
    assert SOURCE not in confirmed(read).attrs


def test_arrays_of_columns_are_those_of_pandas_and_not_to_be_written_to() -> None:
    arrays = columns_of(TABLE).arrays
    for name, values in TABLE.items():
        pd.testing.assert_series_equal(pd.Series(arrays[str(name)], dtype=values.dtype, name=name), values)
        if COPIES_ON_WRITE:
            with pytest.raises(ValueError, match="read-only"):
                arrays[str(name)][0] = values[1]


def test_columns_as_a_whole_have_a_name_in_one_table_only() -> None:
    columns = Columns({"x": np.array([1.0])})
    named = dataframe_of(columns)
    named.columns.name = "axis"
    assert dataframe_of(columns).columns.name is None


def test_wide_tables_lie_side_by_side() -> None:
    """Otherwise pandas warns of whoever adds a column, and takes several times as long for all else."""
    own = pd.DataFrame({f"own {number}": np.arange(6.0) for number in range(120)})
    rows = pd.DataFrame({"sequence": 1, "frame": 1, "object": range(6), "x": 0.0, "y": 0.0}).join(own)
    assert len(sf.match(rows, rows)._mgr.blocks) < 20
