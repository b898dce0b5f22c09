"""Charts and patches of the explorer: what they count, which rows a cell or a lasso means, and the order of rows."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.path import Path

import spotgeo_frames as sf
from helpers.explorers import Browser
from helpers.reference import PROJECT
from helpers.report_inputs import many
from helpers.scenes import squares
from spotgeo_frames.presentation.explorer import charts

pytest.importorskip("anywidget")

OUTCOMES = {"TP": "found", "FN": "missed", "FP": "false"}


@pytest.fixture
def matches() -> pd.DataFrame:
    """Points of four sequences, some of them missed, with two false alarms, each row with an integer and a text."""
    truth, found = many(4)
    false = found.head(2).assign(object=[98, 99], x=1e4, score=0.05)
    table = sf.match(truth, pd.concat([found, false]))
    colors = np.where(np.arange(len(table)) % 3, "red", "blue").astype(object)
    return table.assign(truth_size=np.arange(len(table)) % 40, truth_color=colors)


def counts(browser: Browser, by: str) -> pd.DataFrame:
    content, _ = browser.ask("counts", by=by)
    return pd.DataFrame(content["counts"], content["rows"], content["columns"])


def test_counts_are_those_of_pandas(matches: pd.DataFrame) -> None:
    matches.loc[::7, "truth_color"] = None
    browser = Browser(sf.explore(matches))
    expected = pd.crosstab(matches["truth_color"].fillna("no value"), matches["outcome"].map(OUTCOMES))
    found = counts(browser, "truth_color").loc[expected.index, expected.columns]
    assert found.to_numpy().tolist() == expected.to_numpy().tolist()
    assert counts(browser, "truth_size").to_numpy().sum() == len(matches)
    assert len(counts(browser, "truth_size")) == charts.BINS


def test_a_cell_is_the_rows_that_it_counts(matches: pd.DataFrame) -> None:
    browser = Browser(sf.explore(matches))
    table = counts(browser, "truth_size")
    for row, column in np.argwhere(table.to_numpy() > 0):
        browser.send(ask="choose", by="truth_size", row=int(row), column=int(column))
        chosen = browser.widget.selection
        assert len(chosen) == table.iloc[row, column]
        assert {OUTCOMES[outcome] for outcome in chosen["outcome"]} == {table.columns[column]}
    browser.send(ask="choose", by="truth_size", row=0, column=0, more=True)
    assert len(browser.widget.selection) == len(chosen) + table.iloc[0, 0]


def test_a_filter_narrows_charts_and_patches(matches: pd.DataFrame) -> None:
    browser = Browser(sf.explore(matches))
    browser.widget.filter = "sequence == 1"
    kept = matches[matches["sequence"] == 1]
    assert counts(browser, "sequence").to_numpy().sum() == len(kept)
    assert browser.ask("points", x="truth_x", y="truth_y")[0]["n_rows"] == kept["truth_x"].notna().sum()
    assert browser.ask("patches", of="filter", by="", rising=False, n=3)[0]["n_rows"] == len(kept)


def test_the_marked_rows_become_the_filter(matches: pd.DataFrame) -> None:
    browser = Browser(sf.explore(matches))
    browser.send(ask="choose", by="sequence", row=1, column=0)
    marked = browser.widget.selection
    browser.send(ask="only", on=True)
    assert browser.told("filter")[0]["n_rows"] == len(marked)
    browser.send(ask="only", on=False)
    assert browser.widget.filter is None


def test_values_that_are_seldom_are_counted_together(matches: pd.DataFrame) -> None:
    names = np.array([f"c{i}" for i in range(20)])
    browser = Browser(sf.explore(matches.assign(truth_color=names[np.arange(len(matches)) % 20])))
    table = counts(browser, "truth_color")
    assert len(table) == charts.MOST_GROUPS
    assert table.index[-1] == "5 others"
    assert table.to_numpy().sum() == len(matches)


def test_classes_are_counted_as_confusion_does() -> None:
    of = sf.average_precision(
        *sf.read_coco(PROJECT / "data/coco/annotations.json", PROJECT / "data/coco/fast.json", boxes=True)
    )
    found = counts(Browser(sf.explore(of)), "confusion 0")
    expected = sf.confusion(of, wide=False).fillna("background")
    expected = expected.pivot_table("count", "truth_category", "predicted_category")
    assert found.to_numpy().tolist() == expected.loc[found.index, found.columns].to_numpy().tolist()


def test_of_match_tables_classes_are_counted_as_confusion_does() -> None:
    """Of each match table by itself; a cell marks its rows."""
    truth = squares((0, "a"), (50, "a"), (100, "b"))
    found = {"one": squares((0, "a", 0.9), (50, "b", 0.8), (300, "b", 0.7)), "two": squares((0, "b", 0.9))}
    tables = {name: sf.match(truth, side) for name, side in found.items()}
    browser = Browser(sf.explore(tables))
    for place, table in enumerate(tables.values()):
        expected = sf.confusion(table).set_index("truth_category")
        counted = counts(browser, f"confusion {place}")
        assert counted.loc[expected.index, expected.columns].equals(expected.rename_axis(None))
    browser.send(ask="choose", by="confusion 0", row=0, column=1)
    assert browser.widget.selection[["submission", "truth_object", "outcome"]].to_numpy().tolist() == [["one", 2, "FN"]]


def test_categories_that_are_numbers_with_nulls_can_be_counted(matches: pd.DataFrame) -> None:
    kinds = pd.Categorical([None, 3, 7] * (len(matches) // 3) + [None] * (len(matches) % 3))
    browser = Browser(sf.explore(matches.assign(truth_kind=kinds)))
    table = counts(browser, "truth_kind")
    assert list(table.index) == ["3", "7", "no value"]
    assert table.to_numpy().sum() == len(matches)


def test_several_tables_have_columns_of_their_own(matches: pd.DataFrame) -> None:
    browser = Browser(sf.explore({"one": matches, "two": matches}))
    table = counts(browser, "sequence")
    assert list(table) == [f"{name}: {word}" for name in ("one", "two") for word in OUTCOMES.values()]
    browser.send(ask="choose", by="sequence", row=0, column=3)
    assert browser.widget.selection["submission"].unique().tolist() == ["two"]


@given(corners=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=3, max_size=12))
def test_a_lasso_holds_what_matplotlib_says(corners: list[tuple[int, int]]) -> None:
    """Places that lie on no line through two corners, which might count either way; lines that cross count evenly."""
    places = np.stack(np.meshgrid(np.arange(-1, 41, 5**0.5), np.arange(-1, 41, 7**0.5) - 0.1), axis=-1).reshape(-1, 2)
    polygon = np.array(corners, float)
    winding = [_winding(place, polygon) for place in places]
    assert charts.within(places, polygon).tolist() == [count % 2 == 1 for count in winding]
    if np.ptp(winding) <= 1:
        assert charts.within(places, polygon).tolist() == Path(polygon).contains_points(places).tolist()


def _winding(place: np.ndarray, polygon: np.ndarray) -> int:
    """How often a ray from a place crosses a polygon, by loops in plain Python."""
    crossed = 0
    for one, other in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        if (one[1] > place[1]) != (other[1] > place[1]):
            share = (place[1] - one[1]) / (other[1] - one[1])
            crossed += int(one[0] + share * (other[0] - one[0]) > place[0])
    return crossed


@pytest.mark.parametrize("rising", [True, False])
def test_patches_are_sorted(matches: pd.DataFrame, rising: bool) -> None:
    browser = Browser(sf.explore(matches))
    content, _ = browser.ask("patches", of="errors", by="truth_size", rising=rising, n=120)
    errors = matches[matches["outcome"].isin(["FN", "FP"])]
    assert content["n_rows"] == len(errors) == len(content["patches"])
    expected = errors["truth_size"].sort_values(ascending=rising).tolist()
    sizes = [row_of(browser, patch)["truth_size"] for patch in content["patches"]]
    assert sizes == expected
    first = browser.ask("patches", of="errors", by="", rising=False, n=2)[0]["patches"]
    assert [patch[0] for patch in first] == sorted(patch[0] for patch in content["patches"])[:2]


def row_of(browser: Browser, patch: list[Any]) -> pd.Series:
    """The row of a patch, as a click on it marks it."""
    browser.send(ask="mark", object=patch[1:])
    return browser.widget.selection.iloc[0]


def test_a_scatter_of_many_rows_is_thinned(matches: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "MOST_POINTS", 10)
    browser = Browser(sf.explore(matches))
    browser.send(ask="choose", x="truth_x", y="truth_y", corners=[[-1, -1], [9999, -1], [9999, 9999], [-1, 9999]])
    n_rows = int(matches["truth_x"].notna().sum())
    assert len(browser.widget.selection) == n_rows
    content, (x, y, outcome, marked) = browser.ask("points", x="truth_x", y="truth_y")
    assert content["n_rows"] == n_rows
    assert len(x) == len(y) == 8 * len(outcome)
    assert 5 <= len(outcome) <= 10
    assert set(marked) == {1}


def test_a_table_that_has_lost_its_rule_has_no_count_of_classes() -> None:
    """Whether errors would match but for their classes is not known of it."""
    truth = squares((0, "a"), (50, "b"))
    table = sf.match(truth, truth.assign(score=0.5))
    assert Browser(sf.explore(table)).outline["columns"]["confusion"] == ["confusion 0"]
    table.attrs = {}
    assert Browser(sf.explore(table)).outline["columns"]["confusion"] == []


def test_of_very_many_classes_the_most_frequent_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "MOST_CLASSES", 2)
    truth = squares((0, "a"), (50, "a"), (100, "b"), (150, "b"), (200, "c"), (250, "d"))
    table = counts(Browser(sf.explore(sf.match(truth, truth.assign(score=0.5)))), "confusion 0")
    assert list(table) == ["a", "b", "2 others", "background"]
    assert np.diag(table).tolist() == [2, 2, 2, 0]
