"""Keys of text: whatever type their column has, rows get the same numbers and matches are the same."""

from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spotgeo_frames as sf
from spotgeo_frames.support import coded_text as numbering
from spotgeo_frames.support.pandas_tables import TEXT
from spotgeo_frames.tables import plain as plain_tables
from spotgeo_frames.tables.key_text import key_text
from spotgeo_frames.tables.plain import plain_dataframe

NAMES = st.text(st.characters(codec="utf-8"), max_size=20)
AS_TYPE: dict[str, Any] = {
    "text": TEXT,
    "objects": object,
    "categories": "category",
    "Arrow": pd.ArrowDtype(pa.string()),
}


@given(st.lists(NAMES, min_size=1, max_size=12), st.integers(1, 8), st.sampled_from(sorted(AS_TYPE)))
def test_rows_are_numbered_in_the_order_of_their_text(names: list[str], times: int, kind: str) -> None:
    values = pd.Series(np.repeat(names, times).tolist(), dtype=TEXT).astype(AS_TYPE[kind])
    with mock.patch.object(numbering, "LONG", 8), mock.patch.object(numbering, "REPEATED", 4096):
        found = key_text(values)
    assert found is not None
    assert found.codes is not None
    assert found.values.tolist() == values.tolist()
    assert found.values.dtype == TEXT
    ordered = found.codes.names.to_pylist()
    assert ordered == sorted({*ordered})
    assert [ordered[code] for code in found.codes.codes] == values.tolist()


@given(st.lists(NAMES, min_size=1))
def test_text_sorted_by_its_bytes(names: list[str]) -> None:
    text = pa.array(["before", *names], pa.large_string())[1:]
    codes = numbering.codes_by_bytes(text)
    if codes is not None:
        assert [sorted({*names})[code] for code in codes] == names
    else:
        assert any("\0" in name or len(name.encode()) > numbering.SORTED_BYTES for name in names)


@pytest.fixture
def _long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes tables of a few rows for long ones, whose names are numbered at once."""
    monkeypatch.setattr(plain_tables, "LONG", 1)


def table(kind: str, *, shuffled: bool) -> pd.DataFrame:
    rows = np.arange(24)
    names = {
        "sequence": [f"night {row // 6}" for row in rows],
        "object": [f"satellite {row % 3}" for row in rows],
        "category": ["bright" if row % 2 else "dim" for row in rows],
    }
    columns = {name: pd.Series(values, dtype=TEXT).astype(AS_TYPE[kind]) for name, values in names.items()}
    places = {"frame": rows // 3 % 2, "x": rows * 7.0, "y": rows % 5 * 3.0}
    made = pd.DataFrame({"sequence": columns["sequence"], **places, **columns})
    return made.sample(frac=1, random_state=4) if shuffled else made


@pytest.mark.usefixtures("_long")
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("kind", ["objects", "categories", "Arrow"])
def test_matches_are_those_of_text(kind: str, shuffled: bool) -> None:
    found = [sf.match(table(of, shuffled=shuffled), table(of, shuffled=False).iloc[5:]) for of in ("text", kind)]
    carried = ["category", "truth_category", "predicted_category"]  # in the type that they come in
    for matches in found:
        matches[carried] = matches[carried].astype(object).fillna("")
    pd.testing.assert_frame_equal(*found)


@pytest.mark.usefixtures("_long")
@pytest.mark.parametrize("kind", ["text", "objects", "categories"])
def test_plain_text_needs_no_closer_look(kind: str) -> None:
    given_table = table(kind, shuffled=True)
    if kind == "objects":  # of which only keys are made text
        given_table["category"] = given_table["category"].astype(TEXT)
    plain = plain_dataframe(given_table)
    assert plain is not None
    assert {"sequence", "object"} <= {*plain.text_codes}
    checked = sf.tables.checks.check_objects(given_table, "table")
    for name in checked:
        assert plain[name].dtype == checked[name].dtype
        assert plain[name].tolist() == checked[name].tolist()


@pytest.mark.parametrize("wrong", [None, 1, b"night 1", "\ud800"])
def test_what_is_no_text_takes_a_closer_look(wrong: Any) -> None:
    values = pd.Series(["night 1", wrong, "night 1"], dtype=object)
    assert key_text(values) is None


@pytest.mark.usefixtures("_long")
def test_repeated_keys_take_a_closer_look() -> None:
    twice = pd.concat([table("text", shuffled=False)] * 2)
    assert plain_dataframe(twice) is None
    with pytest.raises(sf.InputError, match="the same"):
        sf.match(twice, table("text", shuffled=False))


@pytest.mark.usefixtures("_long")
@pytest.mark.parametrize("kind", ["string", pd.StringDtype("python", na_value=np.nan), pd.ArrowDtype(pa.string())])
def test_categories_keep_their_type_in_long_tables(kind: Any) -> None:
    given_table = table("text", shuffled=False)
    given_table["category"] = given_table["category"].astype(kind)
    assert sf.match(given_table, given_table)["truth_category"].dtype == given_table["category"].dtype
