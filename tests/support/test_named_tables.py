"""Results, which are NamedTuples of tables: a few lines as text, and their tables under their names as HTML."""

import pickle
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from spotgeo_frames.support import interval_text, number_text


@pytest.fixture(scope="module")
def results(sample: Path, tracks: Path, poses: Path) -> dict[str, Any]:
    truth = sf.read_objects(sample / "truth.parquet", sample / "frames.parquet")
    sides = {name: sf.read_objects(sample / f"{name}.parquet") for name in ("eager", "cautious")}
    found = [
        truth._replace(
            sequences=truth.frames[["sequence"]].drop_duplicates(), categories=pd.DataFrame({"category": ["satellite"]})
        ),
        sf.compare({name: sf.match(truth, side) for name, side in sides.items()}, resamples=20),
        sf.sweep(truth, sides["eager"], score=[0.4, 0.5], tau=[5, 10]),
        sf.track(*sf.read_motchallenge(tracks / "truth", tracks / "tracker")),
        sf.pose(*sf.read_posetrack(poses / "truth", poses / "tracker")),
    ]
    return {type(result).__name__: result for result in found}


NAMES = ["Annotations", "Comparison", "Sweep", "TrackResult", "PoseResult"]


@pytest.mark.parametrize("name", NAMES)
def test_the_text_names_each_table_and_its_size(results: dict[str, Any], name: str) -> None:
    result = results[name]
    first, *lines = repr(result).splitlines()
    assert first == name
    assert len(lines) <= len(result) + 3
    for table, line in zip(result._fields, lines[-len(result) :], strict=True):
        rows, columns = getattr(result, table).shape
        assert line.split() == [table, f"{rows:,}", "rows", "×", f"{columns:,}", "columns"]


@pytest.mark.parametrize(
    ("name", "table", "columns"),
    [
        ("Comparison", "leaderboard", ["f1", "kelvins_mse"]),
        ("Sweep", "best", ["tau", "score_threshold", "f1"]),
        ("TrackResult", "summary", ["HOTA", "MOTA", "IDF1"]),
        ("PoseResult", "summary", ["HOTA", "mota", "ap"]),
    ],
)
def test_the_text_has_the_headline_numbers(results: dict[str, Any], name: str, table: str, columns: list[str]) -> None:
    result = results[name]
    row = getattr(result, table).iloc[-1 if name in ("TrackResult", "PoseResult") else 0]
    line = repr(result).splitlines()[1]
    for column in columns:
        assert f"{column} {row[column]:.4g}" in line


@pytest.mark.parametrize("name", NAMES)
def test_results_stay_tuples(results: dict[str, Any], name: str) -> None:
    result = results[name]
    assert isinstance(result, tuple)
    assert [*result._asdict()] == [*result._fields]
    copy = pickle.loads(pickle.dumps(result))
    assert type(copy) is type(result)
    assert repr(copy) == repr(result)
    bare = result._replace(**{result._fields[0]: pd.DataFrame()})
    assert "0 rows × 0 columns" in repr(bare)


def test_what_is_not_given_is_none(results: dict[str, Any]) -> None:
    bare = sf.Annotations(results["Annotations"].objects)
    names = ("frames", "sequences", "categories")
    assert [line.split() for line in repr(bare).splitlines()[-3:]] == [[name, "none"] for name in names]
    assert "none" in str(bare._repr_html_())


@pytest.mark.parametrize("name", NAMES)
def test_the_html_folds_each_table_under_its_name(results: dict[str, Any], name: str) -> None:
    shown = results[name]._repr_html_()
    for table, rows in results[name]._asdict().items():
        size = f"{rows.shape[0]:,} rows × {rows.shape[1]:,} columns"
        assert f"<summary><code>.{table}</code>: {size}</summary>" in shown
        assert rows.head(5)._repr_html_() in shown
        assert ", ".join(rows.columns[:60]) in shown
    with pd.option_context("display.notebook_repr_html", False):
        assert results[name]._repr_html_() is None


def test_the_html_follows_show_tables(results: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    formatter = pytest.importorskip("IPython.core.formatters").HTMLFormatter()
    shell = SimpleNamespace(display_formatter=SimpleNamespace(formatters={"text/html": formatter}))
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    result = results["TrackResult"]
    plain = result._repr_html_()
    sf.show_tables()
    unfolded, folded = result._repr_html_().split("<details>", 1)
    assert "<td>72.37" in unfolded
    assert "%</td>" in unfolded
    assert formatter(result.summary) in folded
    sf.show_tables(False)
    assert result._repr_html_() == plain


def test_combined_rows_stand_first_with_the_digits_of_their_metrics(results: dict[str, Any]) -> None:
    unfolded = results["TrackResult"]._repr_html_().split("<details>")[0]
    rows = re.findall(r"<td[^>]*>(.*?)</td>", unfolded)
    assert rows[:4] == ["<i>all</i>", "0.7238", "0.7644", "0.6869"]
    assert rows[7] == "1,168"
    assert "37 more columns in <code>.summary</code>" in unfolded
    assert "HOTA over alpha: 0.83 at 0.05" in unfolded
    joints = results["PoseResult"]._repr_html_().split("<details>")[0]
    assert re.findall(r"<td[^>]*>(.*?)</td>", joints)[:3] == ["<i>all</i>", "<i>all</i>", "0.3374"]
    assert "42 more rows and 18 more columns" in joints


def test_bounds_stand_beside_their_numbers_and_null_says_why(results: dict[str, Any]) -> None:
    compared = results["Comparison"]
    row = compared.leaderboard.iloc[0]
    unfolded = compared._repr_html_().split("<details>")[0]
    assert f"{row['f1']:.3f} [{row['f1_low']:.3f}, {row['f1_high']:.3f}]</td>" in unfolded
    nothing = compared.pairs.assign(low=np.nan, high=np.nan, reason='"too" <few>')
    unfolded = compared._replace(pairs=nothing)._repr_html_().split("<details>")[0]
    assert unfolded.count('title="&quot;too&quot; &lt;few&gt;"') == 6


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_results_of_other_kinds_of_tables_show_as_well(tracks: Path, kind: str) -> None:
    pytest.importorskip(kind)
    result = sf.track(*sf.read_motchallenge(tracks / "truth", tracks / "tracker", table=kind))
    assert "HOTA 0.7238" in repr(result)
    shown = result._repr_html_()
    assert (shown is None) == (kind == "pyarrow"), "pyarrow has no HTML of its tables, so notebooks show the text"
    if shown is not None:
        assert "<i>all</i>" in shown


def test_names_are_no_html(results: dict[str, Any]) -> None:
    board = results["Comparison"].leaderboard.assign(name="<script>", **{"<script>": 1})
    assert "<script>" not in results["Comparison"]._replace(leaderboard=board)._repr_html_()
    objects = pd.DataFrame({"<script>": ["</td><script>"], "x" * 50: ["<script>" * 40]})
    assert "<script>" not in str(sf.Annotations(objects)._repr_html_())


OBJECTS = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": 1.0, "y": [2.0, 3.0]})


@pytest.mark.parametrize(
    "objects",
    [
        OBJECTS.assign(risk="a", risk_low="b"),
        OBJECTS.assign(risk="a", risk_low=1.0),
        pd.concat([OBJECTS, OBJECTS[["x"]]], axis="columns"),
        OBJECTS.rename(columns={"y": 7}),
        OBJECTS.set_axis(pd.MultiIndex.from_product([["a"], OBJECTS.columns]), axis="columns"),
    ],
)
def test_tables_with_any_columns_show(objects: pd.DataFrame) -> None:
    shown = sf.Annotations(objects)._repr_html_()
    assert shown is not None
    assert ".objects" in shown
    assert sf.Annotations([1, 2])._repr_html_() is None  # type: ignore[arg-type]


def test_columns_of_the_user_are_no_bounds() -> None:
    shown = sf.Annotations(OBJECTS.assign(x_low=0.5, reason="r"))._repr_html_()
    assert shown is not None
    assert "0.5" in shown
    assert "[" not in shown.partition("<details>")[0]
    wide = sf.Annotations(OBJECTS.assign(none=None, **{f"n{i}": 1 for i in range(9)}))._repr_html_()
    assert wide is not None
    assert "4 more columns" in wide  # of 15, with one that is empty among the first twelve


def test_small_numbers_keep_their_digits() -> None:
    assert interval_text(1e-20, 5e-21, 2e-20) == "1e-20 [5e-21, 2e-20]"
    assert number_text(-0.0) == "0.00"
    assert number_text(-1e-9, share=True) == "0.00%"


def test_null_is_a_dash() -> None:
    summary = pd.DataFrame({"sequence": [None], "HOTA": [np.nan], "MOTA": [0.5]})
    tables = [pd.DataFrame()] * 5
    assert repr(sf.TrackResult(summary, *tables)).splitlines()[1].strip() == "HOTA –, MOTA 0.5"
