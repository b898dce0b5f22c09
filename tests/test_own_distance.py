"""A distance of the caller's in every function that matches, or that matches again what a table says."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import spotgeo_frames as sf
from tests.helpers.datasets import assert_same
from tests.helpers.distances import euclidean, great_circle, on_a_grid, on_the_sky
from tests.helpers.problems import refused

OF_POINTS: dict[str, Any] = {"tau": 4, "epsilon": 1}
OF_FUNCTION = OF_POINTS | {"distance": euclidean}
SKY: dict[str, Any] = {"distance": great_circle, "tau": 2, "unit": "arcsec"}
NOTED = {"rule": "great_circle", "tau": 2.0, "epsilon": 0.0, "unit": "arcsec"}


def same(one: Any, other: Any) -> None:
    """Tables, or NamedTuples of tables, that are equal to the last bit."""
    for got, wanted in zip(*([x] if isinstance(x, pd.DataFrame) else x for x in (one, other)), strict=True):
        pd.testing.assert_frame_equal(got, wanted, check_exact=True)


@pytest.fixture(scope="module")
def sky() -> tuple[pd.DataFrame, pd.DataFrame]:
    return on_the_sky()


@pytest.mark.parametrize("seed", range(5))
def test_the_distance_of_points_as_a_function_gives_what_is_built_in(seed: int) -> None:
    truth, predictions = on_a_grid(seed, n=200)
    later = predictions.assign(x=predictions["x"] + 1)
    built_in, own = (sf.match(truth, predictions, **rule) for rule in (OF_POINTS, OF_FUNCTION))
    same(sf.summarize(own, by="sequence"), sf.summarize(built_in, by="sequence"))
    same(sf.intervals(own, resamples=20), sf.intervals(built_in, resamples=20))
    again = {"distance": euclidean}
    same(sf.diagnose(own, **again), sf.diagnose(built_in))
    same(sf.error_costs(sf.diagnose(own, **again)), sf.error_costs(sf.diagnose(built_in)))
    same(sf.bias(own, **again), sf.bias(built_in))
    changed = [sf.match(truth, later, **rule) for rule in (OF_POINTS, OF_FUNCTION)]
    same(sf.changes(own, changed[1], **again), sf.changes(built_in, changed[0]))
    same(
        sf.compare({"a": own, "b": changed[1]}, resamples=20),
        sf.compare({"a": built_in, "b": changed[0]}, resamples=20),
    )
    same(sf.sweep(truth, predictions, **OF_FUNCTION), sf.sweep(truth, predictions, **OF_POINTS))
    taus = {"tau": [2, 4, 9]}
    same(sf.sweep(truth, predictions, **taus, **again), sf.sweep(truth, predictions, **taus))
    in_px = OF_FUNCTION | {"unit": "px"}
    same(sf.check(truth, later, **in_px), sf.check(truth, later, **OF_POINTS))


def test_tracks_by_the_distance_of_points_are_tracks_of_points() -> None:
    truth, predictions = on_a_grid(2, n=300)
    built_in, own = (sf.track(truth, predictions, tau=4, **word) for word in ({}, {"distance": euclidean, "unit": "m"}))
    same(own, built_in)
    assert own.summary.attrs["rule"] == "euclidean"
    assert {name: own.matches.attrs[name] for name in ("tau", "threshold", "unit")} == {
        "tau": 4.0,
        "threshold": 0.5,
        "unit": "m",
    }
    same(sf.error_costs(own, distance=euclidean), sf.error_costs(built_in))
    same(sf.diagnose(own.matches, distance=euclidean), sf.diagnose(built_in.matches))
    swept = (sf.sweep(truth, predictions, tau=4, tracks=True, **word) for word in ({}, {"distance": euclidean}))
    same(*swept)
    checked = (
        sf.check(truth, predictions, tau=4, tracks=True, **word) for word in ({}, {"distance": euclidean, "unit": "px"})
    )
    same(*checked)
    with refused(("distance", "great_circle", "euclidean"), error=ValueError):
        sf.error_costs(own, distance=great_circle)
    with refused(("match table", "euclidean", "distance=")):
        sf.error_costs(own)


def test_batches_give_what_one_match_gives(sky: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    truth, found = sky
    matches = sf.match(truth, found, **SKY)
    for keep in (None, "matches"):
        scores = sf.Accumulator(**SKY, keep=keep)
        for sequence in truth["sequence"].unique():
            scores.update(*(side[side["sequence"] == sequence].reset_index(drop=True) for side in sky))
        pd.testing.assert_frame_equal(scores.compute(), sf.summarize(matches))
        assert scores.compute().attrs.items() >= NOTED.items()
    pd.testing.assert_frame_equal(scores.matches, matches)
    arrays = [{"sequence": side["sequence"], "frame": 1, "xy": side[["x", "y"]].to_numpy()} for side in sky]
    pd.testing.assert_frame_equal(sf.Accumulator(**SKY).update(*arrays).compute(), sf.summarize(matches))
    with refused(("merge", "rule")):
        scores.merge(sf.Accumulator(distance=great_circle, tau=3, unit="arcsec", keep="matches"))


@pytest.mark.parametrize("workers", [1, 2])
def test_datasets_give_what_one_match_gives(
    workers: int, sky: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    for name, side in zip(("truth", "found"), sky, strict=True):
        side.to_parquet(tmp_path / f"{name}.parquet")
    paths = tmp_path / "truth.parquet", tmp_path / "found.parquet"
    summary = sf.score_dataset(*paths, tmp_path / "out", workers=workers, **SKY)
    matches = sf.match(*sky, **SKY)
    assert_same(summary, sf.summarize(matches))
    assert summary.attrs.items() >= NOTED.items()
    written = pq.read_schema(tmp_path / "out" / "summary.parquet").metadata
    assert (written[b"rule"], written[b"unit"]) == (b"great_circle", b"arcsec")
    tracks = sf.track_dataset(*paths, workers=workers, **SKY)
    assert_same(tracks, sf.track(*sky, **SKY).summary)
    with refused(str(tmp_path / "out")):
        sf.score_dataset(*paths, tmp_path / "out", **(SKY | {"distance": euclidean}))


def test_notes_keep_the_rule_and_ask_for_the_function(sky: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path) -> None:
    matches = sf.match(*sky, **SKY)
    sf.save(matches, tmp_path / "saved")
    loaded = sf.load(tmp_path / "saved")
    assert loaded.attrs.items() >= NOTED.items()
    for function in (sf.diagnose, sf.bias, lambda table: sf.changes(table, table)):
        with refused(("match table", "great_circle", "distance=")):
            function(loaded)
    assert not len(sf.changes(loaded, matches, distance=great_circle))
    with refused("distance", error=ValueError):
        sf.diagnose(sf.average_precision(*on_boxes()), distance=great_circle)
    with refused(("match table", "by distance")):
        sf.diagnose(matches, similarity=great_circle)


def on_boxes() -> tuple[pd.DataFrame, pd.DataFrame]:
    box = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1], "x": [0.0], "y": [0.0], "w": [5.0], "h": [5.0]})
    return box, box.assign(score=0.5)


def test_tables_of_polars_are_told_the_rule_again(sky: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    def of_polars(truth: pl.DataFrame, predictions: pl.DataFrame) -> np.ndarray:
        return great_circle(truth.to_pandas(), predictions.to_pandas())

    rule = SKY | {"distance": of_polars}
    sides = [pl.from_pandas(side) for side in sky]
    matches = sf.match(*sides, **rule)
    assert matches["distance"].to_list() == sf.match(*sky, **SKY)["distance"].fillna(-1).replace(-1, None).to_list()
    assert isinstance(sf.diagnose(matches, tau=2, distance=of_polars), pl.DataFrame)
    assert isinstance(sf.bias(matches, tau=2, epsilon=0, distance=of_polars), pl.DataFrame)
    assert isinstance(sf.sweep(*sides, **rule).curve, pl.DataFrame)


def test_the_report_names_the_unit(sky: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path) -> None:
    truth, found = sky
    submissions = {"all": found, "fewer": found.head(100)}
    sf.report(truth, submissions, tmp_path / "page.html", by=["truth_x"], tables=tmp_path / "tables", **SKY)
    page = (tmp_path / "page.html").read_text()
    for named in (
        "mse, arcsec²",
        "mean distance, arcsec",
        "distance, arcsec",
        "tau, 2 arcsec",
        "distance by great_circle",
    ):
        assert named in page
    for wrong in (
        "mse, px²",
        "mean distance, px",
        "distance, px",
        "tau, px",
        "mse gained, px²",
        "predicted − true x, px",
    ):
        assert wrong not in page
    readme = (tmp_path / "tables" / "README.md").read_text()
    assert "| arcsec, of a TP" in readme
    assert "arcsec²" in readme
    assert "distances by great_circle, tau 2 arcsec and epsilon 0 arcsec" in readme
    sf.report(truth, submissions, tmp_path / "tracks.html", tracks=True, **SKY)
    rule = SKY | {"unit": "a|b"}
    sf.report(truth, found, tmp_path / "page.html", tables=tmp_path / "tables", **rule)
    rows = [row for row in (tmp_path / "tables" / "README.md").read_text().splitlines() if row.startswith("| `m")]
    assert all(row.replace("\\|", "").count("|") == 4 for row in rows), rows  # no unit ends a cell
    assert "similarity by great_circle" in (tmp_path / "tracks.html").read_text()


def test_the_report_gives_the_function_tables_of_the_truths_kind(
    sky: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    kinds = set()

    def of_polars(truth: Any, predictions: Any) -> np.ndarray:
        kinds.add(type(truth))
        return great_circle(truth.to_pandas(), predictions.to_pandas())

    sides = [pl.from_pandas(side) for side in sky]
    sf.report(*sides, tmp_path / "page.html", distance=of_polars, tau=2)
    assert kinds == {pl.DataFrame}


def test_plots_and_charts_name_the_unit(sky: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    matches = sf.match(*sky, **SKY)
    ax = sf.plots.distances(matches)
    assert ax.get_xlabel() == "distance, arcsec"
    assert ax.get_legend().get_texts()[1].get_text() == "tau, 2 arcsec"
    ax = sf.plots.residuals(matches)
    assert ax.get_xlabel() == "predicted − true x"
    assert not ax.patches  # tau is no circle of x and y
    assert ax.get_xlim()[1] >= max(abs(value) for value in ax.collections[0].get_offsets().data.ravel())
    slices = sf.intervals(matches, by="frame", metrics=["mse"], resamples=10)
    assert sf.plots.metric_by_slice(slices).get_xlabel() == "mse, arcsec²"
    for chart in (sf.charts.distances(matches), sf.charts.residuals(matches), sf.charts.metric_by_slice(slices)):
        assert "px" not in json.dumps(chart.to_dict(), ensure_ascii=False)
    without = sf.match(*sky, distance=great_circle, tau=2)
    assert sf.plots.distances(without).get_xlabel() == "distance"
    swept = sf.sweep(*sky, [0.5], tau=[2, 3], distance=great_circle, unit="arcsec")
    labels = [line.get_label() for line in sf.plots.sweep_curves(swept.curve)[1].get_lines()]
    assert labels[0] == "tau 2 arcsec"


def test_check_looks_for_no_signs_of_pixels_on_the_sky(sky: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    truth, found = sky
    assert not len(sf.check(truth, found, **SKY))
    swapped = found.rename(columns={"x": "y", "y": "x"})
    # A declination beyond 90 degrees, as a guess may have it, is refused by functions such as astropy's.

    def strict(truths: pd.DataFrame, claims: pd.DataFrame) -> np.ndarray:
        if claims["y"].abs().max() > 90:
            raise ValueError("a declination lies within 90 degrees")
        return great_circle(truths, claims)

    assert not len(sf.check(truth, found, **(SKY | {"distance": strict})))
    assert sf.check(truth, swapped, **SKY)["suspicion"].tolist() == ["x and y are swapped"]


def test_a_sweep_has_the_epsilon_of_match_at_each_tau() -> None:
    truth, predictions = on_a_grid(7)
    swept = sf.sweep(truth, predictions, [0.0], tau=[2, 4])
    expected = [sf.summarize(sf.match(truth, predictions, tau=tau))["mse"].iloc[0] for tau in (2, 4)]
    assert swept.curve["mse"].tolist() == pytest.approx(expected)
    assert "epsilon" not in swept.curve.attrs
    assert sf.sweep(truth, predictions, [0.0], tau=[4, 5]).curve.attrs["epsilon"] == 3
