"""Text has one type, whatever pandas makes of it by itself."""

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.pandas_versions import TEXT
from spotgeo_frames.support.pandas_tables import as_text, with_text


@pytest.mark.parametrize("values", [["a", "b"], ["a", None], ["a", np.nan], [None, "a"]])
def test_text_among_objects_is_text_and_nulls_stay_nulls(values: list[object]) -> None:
    column = as_text(pd.Series(values, dtype=object, name="x"))
    assert column.dtype == TEXT
    assert column.isna().tolist() == pd.isna(pd.Series(values)).tolist()


@pytest.mark.parametrize("values", [["a", 1], [1, 2], [None, None], [], [b"a"], [["a"]], ["\ud800"]])
def test_other_objects_stay_as_they_are(values: list[object]) -> None:
    column = pd.Series(values, dtype=object)
    assert as_text(column) is column


def test_a_table_without_objects_is_not_copied() -> None:
    table = pd.DataFrame({"x": [1.0], "name": pd.array(["a"], dtype=TEXT)})
    assert with_text(table) is table


def test_tables_of_objects_give_the_same_match_table() -> None:
    texts = {"sequence": ["s", "s", "t"], "category": ["a", "b", "a"], "note": ["n", None, "m"]}
    numbers = {"frame": 1, "object": [0, 1, 0], "x": [1.0, 50.0, 3.0], "y": 2.0}
    tables = [
        pd.DataFrame({name: pd.Series(values, dtype=kind) for name, values in texts.items()} | numbers)
        for kind in (object, TEXT)
    ]
    of_objects, of_text = (sf.match(table, table) for table in tables)
    pd.testing.assert_frame_equal(of_objects, of_text)
    assert [of_text[name].dtype for name in ("sequence", "truth_category", "predicted_note")] == [TEXT] * 3
    objects = of_text.assign(**{name: of_text[name].astype(object) for name in ("sequence", "truth_note")})
    by = ["sequence", "truth_note"]
    pd.testing.assert_frame_equal(
        sf.summarize(objects, by=by, dropna=False), sf.summarize(of_text, by=by, dropna=False)
    )
    series = of_text["truth_note"].astype(object)
    pd.testing.assert_frame_equal(sf.summarize(of_text, by=series), sf.summarize(of_text, by="truth_note"))
