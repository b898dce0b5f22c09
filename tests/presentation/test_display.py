"""How tables read: null as a dash, shares in percent, numbers rounded; in Jupyter after `show_tables()`."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.pandas_versions import TEXT
from helpers.scenes import SCENES
from spotgeo_frames.presentation.drawing.display import as_html, texts
from spotgeo_frames.support import interval_text, number_text


@pytest.mark.parametrize(
    ("value", "share", "text"),
    [
        (np.nan, False, "–"),
        (np.nan, True, "–"),
        (0.873449, True, "87.34%"),
        (1.0, True, "100.00%"),
        (-0.5, True, "-50.00%"),
        (0.0, False, "0.00"),
        (1234.5, False, "1,234.50"),
        (0.9, False, "0.900"),
        (0.00012345, False, "0.00012"),
        (-0.25, False, "-0.250"),
        (np.inf, False, "inf"),
    ],
)
def test_numbers(value: float, share: bool, text: str) -> None:
    assert number_text(value, share) == text


@pytest.mark.parametrize(
    ("value", "share", "precision", "text"),
    [
        (0.873449, True, 6, "87.344900%"),
        (0.873449, True, 1, "87.3%"),
        (0.873449, True, 0, "87%"),
        (1234.5, False, 6, "1,234.500000"),
        (1234.5678, False, 1, "1,234.6"),
        (0.9, False, 6, "0.900000"),
        (0.934, False, 1, "0.9"),
        (0.0, False, 4, "0.0000"),
        (1.23456789e-9, False, 6, "1.23457e-09"),
        (0.04, False, 0, "0.04"),
        (np.nan, False, 6, "–"),
    ],
)
def test_numbers_with_a_precision(value: float, share: bool, precision: int, text: str) -> None:
    assert number_text(value, share, precision) == text


@pytest.mark.parametrize(
    ("estimate", "low", "high", "share", "text"),
    [
        (0.81938, 0.77651, 0.85464, True, "0.819 [0.777, 0.855]"),
        (0.82, 0.7, 0.94, True, "0.82 [0.70, 0.94]"),
        (0.5, 0.4004, 0.5996, True, "0.50 [0.40, 0.60]"),
        (2602.57, 2146.21, 3119.17, False, "2600 [2150, 3120]"),
        (35.42, 30.25, 41.24, False, "35.4 [30.2, 41.2]"),
        (-0.0004, -0.05, 0.05, True, "0.000 [-0.050, 0.050]"),
        (1.0, 1.0, 1.0, True, "1.0000 [1.0000, 1.0000]"),
        (1234.5, 1234.5, 1234.5, False, "1234.50 [1234.50, 1234.50]"),
        (25.1, np.nan, 36.3, False, "25 [–, 36]"),
        (0.72376, np.nan, np.nan, True, "0.7238"),
        (np.nan, 0.5, 0.6, True, "–"),
        (np.nan, np.nan, np.nan, False, "–"),
        (0.5, -np.inf, np.inf, False, "0.500 [-inf, inf]"),
    ],
)
def test_intervals(estimate: float, low: float, high: float, share: bool, text: str) -> None:
    assert interval_text(estimate, low, high, share) == text


@given(estimate=st.floats(-1e6, 1e6), half=st.floats(1e-9, 1e6))
def test_an_interval_is_rounded_by_less_than_a_tenth_of_its_half(estimate: float, half: float) -> None:
    words = re.split(r"[\[\], ]+", interval_text(estimate, estimate - half, estimate + half))[:3]
    for word, value in zip(words, (estimate, estimate - half, estimate + half), strict=True):
        assert abs(float(word) - value) <= half / 18 + 1e-9
    assert len({len(word.partition(".")[2]) for word in words}) == 1, "the same number of digits"


def test_shares_may_stay_fractions() -> None:
    assert number_text(0.81938, share=True, percent=False) == "0.8194"
    assert texts(pd.DataFrame({"f1": [0.5, np.nan], "mse": 2.0}), percent=False).to_numpy().tolist() == [
        ["0.5000", "2.00"],
        ["–", "2.00"],
    ]


def test_the_worked_example() -> None:
    matches = sf.match(*SCENES[0].sides())
    shown = texts(matches)
    assert shown["distance"].tolist() == ["2.00", "5.00", "–", "–", "–"]
    assert shown["truth_x"].tolist() == ["100", "200", "300", "–", "–"]
    assert shown["truth_object"].tolist() == ["0", "1", "2", "–", "–"]
    assert shown["outcome"].tolist() == ["TP", "TP", "FN", "FP", "FP"]
    assert shown.index.equals(matches.index)
    [row] = texts(sf.summarize(matches)).to_dict("records")
    assert (row["precision"], row["recall"], row["f1"], row["mse"]) == ("50.00%", "66.67%", "57.14%", "65.00")


def test_metrics_of_a_long_table_are_shown_each_by_its_kind() -> None:
    table = pd.DataFrame({"metric": ["f1", "mse"], "estimate": [0.5, 0.5], "low": [0.25, np.nan]})
    assert texts(table)["estimate"].tolist() == ["50.00%", "0.500"]
    assert texts(table)["low"].tolist() == ["25.00%", "–"]


def test_a_summary_on_its_side_reads_as_well() -> None:
    summary = sf.summarize(sf.match(*SCENES[0].sides()))
    names = ["tp", "precision", "f1", "kelvins_mse", "rmse"]
    assert texts(summary.T)[0][names].tolist() == texts(summary).iloc[0][names].tolist()


def test_what_is_made_of_shares_is_no_share() -> None:
    summary = sf.summarize(sf.match(*SCENES[0].sides()), by="truth_object")
    assert texts(summary[["recall"]] * 100)["recall"].tolist() == ["100.00", "100.00", "0.00"]
    assert texts(summary.describe())["recall"].iloc[0] == "3.00"
    indexed = pd.DataFrame({"metric": ["f1", "mse"], "low": [0.5, 2.0]}).set_index("metric")
    assert texts(indexed)["low"].tolist() == ["50.00%", "2.00"]
    assert texts(pd.DataFrame({"f1": [1 + 1e-15, 0.5]}))["f1"].tolist() == ["100.00%", "50.00%"]
    assert texts(pd.DataFrame({"truth_x": [-0.0, 2.0]}))["truth_x"].tolist() == ["0", "2"]
    board = pd.DataFrame({"f1": [0.5], "mse": [0.25]}, index=pd.Index(["recall"], name="name"))
    assert texts(board).iloc[0].tolist() == ["50.00%", "0.250"]


@pytest.mark.parametrize(("most", "least"), [(4, 10), (1, 10), (60, 10), (5, None), (None, 10)])
def test_long_tables_of_any_index_are_shown_as_pandas_would(most: int | None, least: int | None) -> None:
    table = pd.DataFrame({"a": np.repeat(range(50), 3), "b": list(range(3)) * 50, "n": range(150)})
    with pd.option_context("display.max_rows", most, "display.min_rows", least):
        for index in ([], ["a"], ["a", "b"]):
            shown = as_html(table.set_index(index) if index else table)
            n_rows = shown.count("<tr>")
            assert n_rows <= (151 if most is None else max(most, 2) + 2)
            assert len(set(re.findall(r"<td>(\d+)</td>\s*</tr>", shown))) >= 2


def test_what_names_something_has_no_commas() -> None:
    table = pd.DataFrame({"sequence": [1280], "truth_object": [4000], "n_truth": [11205]})
    assert texts(table).iloc[0].tolist() == ["1280", "4000", "11,205"]


def test_any_type_can_be_shown() -> None:
    table = pd.DataFrame(
        {
            "when": pd.to_datetime(["2020-01-02", None]),
            "flag": pd.array([True, None], dtype="boolean"),
            "bin": pd.cut(pd.Series([1.0, np.nan]), [0.5, 2.5]),
            "thing": [{"a": 1}, None],
            "name": pd.array(["x", None], dtype=TEXT),
        }
    )
    shown = texts(table)
    assert shown.iloc[1].tolist() == ["–"] * 5
    assert shown.iloc[0].tolist() == ["2020-01-02 00:00:00", "yes", "0.5 to 2.5", "{'a': 1}", "x"]


def test_long_tables_show_their_ends() -> None:
    table = pd.DataFrame({"n": range(1000)}, index=pd.Index(range(1000), name="row"))
    shown = as_html(table)
    assert shown.count("<tr") == 2 + 10 + 1  # pandas gives the index's name a row of its own
    assert "..." in shown
    assert "1,000 rows × 1 columns" in shown
    assert "<td>995</td>" in shown


def test_nothing_is_html() -> None:
    table = pd.DataFrame({"<b>": ["<script>alert(1)</script>"]}, index=pd.Index(["<i>"], name="<u>"))
    shown = as_html(table)
    assert not [tag for tag in ("<script", "<b>", "<i>", "<u>") if tag in shown]
    assert "&lt;script&gt;" in shown


@pytest.fixture
def html(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The HTML formatter of an IPython shell."""
    formatter = pytest.importorskip("IPython.core.formatters").HTMLFormatter()
    shell = SimpleNamespace(display_formatter=SimpleNamespace(formatters={"text/html": formatter}))
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    return formatter


@pytest.fixture(scope="module")
def matches(sample: Path) -> pd.DataFrame:
    return sf.match(sf.read_spotgeo(sample / "truth.json"), sf.read_spotgeo(sample / "eager.json"))


def test_show_tables_shows_our_tables_so_and_others_as_pandas_does(html: Any, matches: pd.DataFrame) -> None:
    summary = sf.summarize(matches)
    assert html(summary) == summary._repr_html_(), "not before it is asked for"
    sf.show_tables()
    assert "%" in html(summary)
    assert "–" in html(matches)
    assert len(html(matches)) < 20_000
    pivoted = matches.pivot_table(index="sequence", columns=["outcome", "frame"], values="truth_x", aggfunc="count")
    for other in (pd.DataFrame({"f1": [0.5]}), pivoted):
        assert html(other) == other._repr_html_()


def test_show_tables_follows_the_options_of_pandas(html: Any, matches: pd.DataFrame) -> None:
    sf.show_tables()
    summary = sf.summarize(matches)
    f1, mse = summary["f1"].iloc[0], summary["mse"].iloc[0]
    for precision in (0, 1, 4, 6, 9):
        with pd.option_context("display.precision", precision):
            assert f"<td>{f1:.{precision}%}</td>" in html(summary)
            assert f"<td>{mse:.{precision}f}</td>" in html(summary)
            assert texts(summary).loc[0, "f1"] == f"{f1:.2%}", "the page reads the same for everybody"
    with pd.option_context("display.max_columns", 4):
        assert html(summary).count("<td>") == 5, "four and an ellipsis"
    with pd.option_context("display.notebook_repr_html", False):
        assert html(summary) is None


@pytest.mark.parametrize("before", [None, lambda table: "<p>as before</p>"])
def test_show_tables_can_be_called_twice_and_taken_back(html: Any, matches: pd.DataFrame, before: Any) -> None:
    html.for_type(pd.DataFrame, before)
    other = pd.DataFrame({"f1": [0.5]})
    sf.show_tables(False)
    first, others = html(matches), html(other)
    sf.show_tables()
    sf.show_tables()
    assert html(matches) != first
    assert html(other) == others
    sf.show_tables(False)
    assert html.type_printers.get(pd.DataFrame) is before
    assert html(matches) == first


def test_show_tables_leaves_what_was_registered_after_it(html: Any) -> None:
    sf.show_tables()
    html.for_type(pd.DataFrame, str)
    sf.show_tables(False)
    assert html.type_printers[pd.DataFrame] is str


def test_importing_changes_nothing_in_ipython_and_elsewhere_show_tables_does_nothing() -> None:
    pytest.importorskip("IPython")
    code = """
import sys
import spotgeo_frames as sf
sf.show_tables()
assert "IPython" not in sys.modules
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
import pandas as pd
registered = shell.display_formatter.formatters["text/html"].type_printers
before = dict(registered)
for name in sf.__all__:
    getattr(sf, name)
print(registered == before)
sf.show_tables()
print(pd.DataFrame in registered)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["True", "True"], done.stderr


def test_importing_does_not_bring_ipython_or_the_extra() -> None:
    code = "import sys, spotgeo_frames; print({'IPython', 'altair', 'jinja2', 'vl_convert', 'PIL'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "set()"


def test_identities_are_no_counts() -> None:
    truth = pd.DataFrame({"sequence": 1, "frame": [1, 2], "object": 1001, "x": 5.0, "y": 5.0})
    both = pd.concat([truth, truth.assign(object=1002, x=90.0)])
    swapped = both.assign(object=[1003, 1004, 1004, 1003])
    shown = texts(sf.identity_breaks(sf.track(both, swapped)))
    assert shown["predicted_before"].tolist() == ["1003", "1004"]
    assert shown["taken_by"].tolist() == ["1002", "1001"]
