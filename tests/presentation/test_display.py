"""How tables read: null as a dash, shares in percent, numbers rounded; and in Jupyter without being asked."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.scenes import SCENES
from spotgeo_frames.presentation.display import as_html, number_text, texts


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
            "name": pd.array(["x", None], dtype="str"),
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


def test_jupyter_shows_our_tables_so_and_others_as_pandas_does(sample: Path) -> None:
    pytest.importorskip("IPython")
    code = f"""
import pandas as pd
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
import spotgeo_frames as sf
shown = lambda table: shell.display_formatter.format(table)[0]["text/html"]
matches = sf.match(sf.read_spotgeo({str(sample / "truth.json")!r}), sf.read_spotgeo({str(sample / "eager.json")!r}))
print("%" in shown(sf.summarize(matches)), "–" in shown(matches), len(shown(matches)) < 20_000)
other = pd.DataFrame({{"f1": [0.5]}})
pivoted = matches.pivot_table(index="sequence", columns=["outcome", "frame"], values="truth_x", aggfunc="count")
print(shown(other) == other._repr_html_(), shown(pivoted) == pivoted._repr_html_())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["True"] * 5, done.stderr


def test_importing_does_not_bring_ipython_or_the_extra() -> None:
    code = "import sys, spotgeo_frames; print({'IPython', 'altair', 'jinja2', 'vl_convert', 'PIL'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "set()"
