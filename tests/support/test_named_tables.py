"""Results, which are NamedTuples of tables: a few lines as text, and their tables under their names as HTML."""

import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf


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
def test_the_html_joins_that_of_the_tables(results: dict[str, Any], name: str) -> None:
    shown = results[name]._repr_html_()
    for table, rows in results[name]._asdict().items():
        assert f"<b>{table}</b>" in shown
        assert rows._repr_html_() in shown
    with pd.option_context("display.notebook_repr_html", False):
        assert results[name]._repr_html_() is None


def test_the_html_follows_show_tables(results: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    formatter = pytest.importorskip("IPython.core.formatters").HTMLFormatter()
    shell = SimpleNamespace(display_formatter=SimpleNamespace(formatters={"text/html": formatter}))
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    result = results["TrackResult"]
    plain = result._repr_html_()
    sf.show_tables()
    assert "%</td>" in result._repr_html_()
    assert formatter(result.summary) in result._repr_html_()
    sf.show_tables(False)
    assert result._repr_html_() == plain


def test_names_are_no_html(results: dict[str, Any]) -> None:
    board = results["Comparison"].leaderboard.assign(name="<script>")
    assert "<script>" not in results["Comparison"]._replace(leaderboard=board)._repr_html_()


def test_null_is_a_dash() -> None:
    summary = pd.DataFrame({"sequence": [None], "HOTA": [np.nan], "MOTA": [0.5]})
    tables = [pd.DataFrame()] * 5
    assert repr(sf.TrackResult(summary, *tables)).splitlines()[1].strip() == "HOTA –, MOTA 0.5"
