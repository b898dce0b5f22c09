"""Tables for people: readable(), to_markdown() and to_latex(), and names that stay text whatever they are."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import spotgeo_frames as sf
from spotgeo_frames.presentation.drawing.table_markup import escaped, in_latex
from spotgeo_frames.tables.table_kinds import as_kind

HOSTILE = [
    "<script>alert(1)</script>",
    "a | b",
    "\\| c",
    "$x$ and \\(y\\)",
    "100 % & #1 of_it ^ ~ {braces}",
    "\\input{secret}",
    "[x](http://example.org) ![y](z) `code` *bold*",
    "@somebody #12 GH-3",
    "-- ''quoted'' ,,low,, \"straight\" `back`",
    "[2pt] begins a row",
    "* too",
    "- a list",
    "[1](2)",
    "\u202eturned around",
    "new\nline",
]


@pytest.fixture(scope="module")
def matches(sample: Path) -> dict[str, pd.DataFrame]:
    truth = sf.read_objects(sample / "truth.parquet", sample / "frames.parquet")
    return {name: sf.match(truth, sf.read_objects(sample / f"{name}.parquet")) for name in ("eager", "cautious")}


@pytest.fixture(scope="module")
def compared(matches: dict[str, pd.DataFrame]) -> sf.Comparison:
    return sf.compare(matches, metrics=["f1", "mse"], resamples=20)


def cells_of_markdown(text: str) -> list[list[str]]:
    """The cells of the tables of a Markdown text as a reader of Markdown sees them, row by row."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append("".join(child.content for child in token.children or []))
    return rows


def cells_of_latex(text: str) -> list[list[str]]:
    """The cells of a tabular, row by row, taken apart as LaTeX does: by & and by a double backslash."""
    body = text.partition("\\toprule\n")[2].partition("\\bottomrule")[0].replace("\\midrule\n", "")
    return [re.split(r"(?<!\\) & ", row) for row in body.split(" \\\\\n") if row]


def test_intervals_of_submissions_have_a_row_a_metric_and_a_column_a_submission(compared: sf.Comparison) -> None:
    table = sf.readable(compared.single)
    assert list(table) == ["metric", "eager", "cautious"]
    assert table["metric"].tolist() == ["F1", "mse (px²)"]
    first = compared.single.iloc[0]
    assert table["eager"].iloc[0] == f"{first['estimate']:.3f} [{first['low']:.3f}, {first['high']:.3f}]"


def test_slices_have_a_row_each(matches: dict[str, pd.DataFrame]) -> None:
    table = sf.readable(sf.intervals(matches["eager"], by={"truth_brightness": 2}, metrics=["recall", "f1"]))
    assert list(table) == ["truth brightness", "metric", "estimate"]
    assert table["metric"].tolist() == ["recall", "F1"] * 2
    assert table["estimate"].iloc[1] == "– †"
    assert table.attrs["footnotes"] == {"†": "the metric is not defined here"}


@pytest.mark.parametrize("name", ["n_moons", "name", "sequence_exposure"])
def test_no_slice_is_lost_whatever_it_is_called(matches: dict[str, pd.DataFrame], name: str) -> None:
    table = matches["eager"]
    by = pd.Series(np.where(table["frame"] % 2 == 0, 0.12341, 0.12339), table.index, name=name)
    for found in (sf.intervals(table, by=by, metrics=["recall", "f1"]), sf.summarize(table, by=by)):
        shown = sf.readable(found)
        assert len(shown) == len(found)
        assert {*shown.iloc[:, 0]} == {"0.12339", "0.12341"}


def test_rows_that_are_there_twice_stay(matches: dict[str, pd.DataFrame]) -> None:
    found = sf.intervals(matches["eager"], metrics=["recall", "f1"])
    twice = pd.concat([found, found.assign(estimate=0.5)])
    twice.attrs = found.attrs
    assert sf.readable(twice)["metric"].tolist() == ["recall", "F1"] * 2


def test_differences_and_leaderboards_have_their_intervals_beside_the_numbers(compared: sf.Comparison) -> None:
    pairs, board = sf.readable(compared.pairs), sf.readable(compared.leaderboard)
    assert list(pairs) == ["submission", "minus", "metric", "difference", "p-value", "adjusted p-value"]
    assert re.fullmatch(r"0\.007 \[-0\.\d{3}, 0\.\d{3}\]", pairs["difference"].iloc[0])
    assert re.fullmatch(r"0\.819 \[0\.\d{3}, 0\.\d{3}\]", board["F1"].iloc[0])
    assert not [name for name in board if ("from" in name and name != "differs from the next") or "reason" in name]


def test_reasons_are_footnotes(tracks: Path) -> None:
    result = sf.track(*sf.read_motchallenge(tracks / "truth", tracks / "tracker"))
    table = sf.intervals(result, metrics=["HOTA"])
    assert sf.readable(table)["estimate"].tolist()[0] == "0.7238 †"
    markdown, latex = sf.to_markdown(table), sf.to_latex(table)
    assert markdown.endswith("\n\n† fewer than 20 sequences, and a single large one may decide the combined number")
    assert "0.7238 \\dag{} \\\\" in latex
    assert "{\\footnotesize \\dag{} fewer than 20 sequences" in latex


def test_units_are_those_of_the_notes(matches: dict[str, pd.DataFrame], sky: Path, poses: Path) -> None:
    summary = sf.summarize(matches["eager"])
    assert "mse (px²)" in sf.readable(summary)
    stars = sf.match(sf.read_objects(sky / "truth.parquet"), sf.read_objects(sky / "detections.parquet"), tau=2)
    assert "mse (arcsec²)" in sf.readable(sf.summarize(stars))
    assert "mse (arcsec$^2$)" in sf.to_latex(sf.summarize(stars))
    lost = summary.copy()
    lost.attrs = {}
    assert "mse" in sf.readable(lost), "nothing tells the unit"
    posed = sf.pose(*sf.read_posetrack(poses / "truth", poses / "tracker")).summary
    assert "mota (\\%)" in sf.to_latex(posed[["sequence", "joint", "HOTA", "mota"]].tail(1))


def test_rows_of_all_say_so_and_metrics_without_a_value_go(tracks: Path, boxes: Path) -> None:
    summary = sf.track(*sf.read_motchallenge(tracks / "truth", tracks / "tracker")).summary
    assert sf.readable(summary[["sequence", "HOTA"]])["sequence"].tolist() == ["crossing", "plaza", "all"]
    found = sf.match(sf.read_objects(boxes / "truth.parquet"), sf.read_objects(boxes / "v1.parquet"))
    assert not [name for name in sf.readable(sf.summarize(found)) if "mse" in name]


def test_classes_keep_their_names() -> None:
    truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [0, 1], "x": [0.0, 50.0], "y": 0.0, "w": 9.0, "h": 9.0})
    truth["category"] = ["f1", "traffic_light"]
    found = sf.match(truth, truth.assign(score=0.5))
    table = sf.readable(sf.confusion(found))
    assert list(table) == ["truth category", "f1", "traffic_light", "background"]
    assert table["f1"].tolist() == ["1", "0", "0"]


def test_a_readable_table_comes_back_as_it_is(compared: sf.Comparison) -> None:
    table = sf.readable(compared.single)
    pd.testing.assert_frame_equal(sf.readable(table), table)
    assert sf.to_latex(table) == sf.to_latex(compared.single)
    assert "| 0.5 |" in sf.to_markdown(table.assign(more=[0.5, None]).rename(columns={"more": "a\nb"}))
    assert sf.to_markdown(table) == sf.to_markdown(compared.single)


def test_a_count_is_not_rounded(matches: dict[str, pd.DataFrame]) -> None:
    plan = sf.sample_size(matches["eager"], "f1", margin=0.02)
    assert sf.readable(plan)["sequences"].tolist() == [f"{plan['n_sequences'].iloc[0]:,}"]


@pytest.mark.parametrize("function", [sf.readable, sf.to_markdown, sf.to_latex])
def test_what_is_no_table_is_refused_with_what_to_give(compared: sf.Comparison, function: Any) -> None:
    with pytest.raises(sf.InputError, match=r"table: .*\.leaderboard, \.pairs, \.single"):
        function(compared)
    with pytest.raises(sf.InputError, match="table"):
        function(3)
    pivoted = compared.pairs.pivot_table(index="a", columns=["b", "metric"], values="estimate")
    with pytest.raises(sf.InputError, match="table"):
        function(pivoted)


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_tables_of_other_kinds_are_taken(compared: sf.Comparison, kind: str) -> None:
    pytest.importorskip(kind)
    table = as_kind(compared.pairs, kind, ())
    shown = sf.readable(table)
    assert type(shown) is type(table)
    assert "0.007 [" in sf.to_markdown(table)
    assert ("mse (px²)" in sf.to_markdown(table)) == (kind == "pyarrow"), "polars keeps no notes"
    assert sf.to_markdown(shown).splitlines()[2:] == sf.to_markdown(table).splitlines()[2:]


def test_an_empty_table_has_its_head_only(matches: dict[str, pd.DataFrame]) -> None:
    nothing = sf.summarize(matches["eager"], by="sequence").iloc[:0][["sequence", "tp"]]
    assert sf.to_markdown(nothing) == "| sequence | TP |\n| --- | --- |"
    assert "\\midrule\n\\bottomrule" in sf.to_latex(nothing)


def test_markdown_aligns_numbers_and_latex_has_rules(matches: dict[str, pd.DataFrame]) -> None:
    summary = sf.summarize(matches["eager"])[["tp", "f1", "mse"]]
    table = summary.assign(name="a_b")[["name", "tp", "f1", "mse"]]
    assert sf.to_markdown(table).splitlines()[1] == "| --- | ---: | ---: | ---: |"
    assert sf.to_latex(table) == "\n".join(
        [
            r"\begin{tabular}{lrrr}",
            r"\toprule",
            r"name & TP & F1 & mse (px$^2$) \\",
            r"\midrule",
            r"a\_b & 558 & 0.8194 & 35.42 \\",
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def test_hostile_names_stay_text() -> None:
    table = pd.DataFrame({"name": HOSTILE, **dict.fromkeys(HOSTILE, 1)})
    markdown = sf.to_markdown(table)
    rows = cells_of_markdown(markdown)
    assert len(rows) == len(HOSTILE) + 1
    assert {len(row) for row in rows} == {len(HOSTILE) + 1}
    plain = [name.replace("\n", " ").replace("\u202e", "[U+202E]") for name in HOSTILE]
    assert [row[0].replace("\u200b", "") for row in rows[1:]] == plain
    assert "<script" not in MarkdownIt().enable("table").render(markdown)
    latex = cells_of_latex(sf.to_latex(table))
    assert len(latex) == len(HOSTILE) + 1
    assert {len(row) for row in latex} == {len(HOSTILE) + 1}


# What LaTeX does with a cell: groups, commands that write a sign, and signs with a meaning.
TOKEN = re.compile(
    r"\\(textbackslash|textasciicircum|textasciitilde|textless|textgreater|textbar|dag|ddag|S|P)\{\}|\\`\{\}|"
    r"\\symbol\{34\}|\\[&%$#_{}]|\{\}|\{[\[*]\}|\$(\^[23]|\^\\circ|\\(times|pm|mu|leq|geq|rightarrow)|-)\$|[^\\&%$#_{}^~]"
)


@given(st.text(max_size=30))
def test_no_text_is_a_command_of_latex(text: str) -> None:
    written = in_latex(text)
    assert TOKEN.sub("", written) == ""
    assert not re.search(r"--(?!$)|''|,,", written) or "–" in text
    assert not written.startswith(("[", "*"))


@given(st.text(max_size=30))
def test_no_text_ends_a_cell_of_markdown(text: str) -> None:
    rows = cells_of_markdown(sf.to_markdown(pd.DataFrame({"name": [text, "last"]})))
    assert [len(row) for row in rows] == [1, 1, 1]
    assert "<" not in escaped(text)


def test_numbers_have_a_minus_and_names_a_hyphen() -> None:
    assert in_latex("-0.05 [-0.10, 0.02]") == "$-$0.05 [$-$0.10, 0.02]"
    assert in_latex("2024-01-31") == "2024-01-31"
    assert in_latex("a--b") == "a-{}-b"


def test_neither_needs_jinja_or_tabulate() -> None:
    code = """
import sys
import pandas as pd
import spotgeo_frames as sf
from spotgeo_frames.tables.table_kinds import as_kind
table = pd.DataFrame({"name": ["a"], "f1": [0.5]})
sf.to_latex(table), sf.to_markdown(table)
print({"jinja2", "tabulate", "altair", "matplotlib"} & {*sys.modules})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "set()"


def test_more_reasons_than_marks_have_marks_of_their_own() -> None:
    reasons = [f"reason {place}" for place in range(6)]
    table = pd.DataFrame({"metric": ["f1"] * 6, "estimate": 0.5, "low": np.nan, "high": np.nan, "reason": reasons})
    shown = sf.readable(table.assign(slice=range(6)))
    assert list(shown.attrs["footnotes"]) == ["†", "‡", "§", "¶", "††", "‡‡"]
    assert sf.to_latex(shown).count("\\footnotesize") == 6
