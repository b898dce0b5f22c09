"""Functions of the caller's that measure pairs: distances with tau and epsilon in any unit."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.boxes import boxes
from helpers.distances import euclidean, great_circle, on_a_grid, on_the_sky
from helpers.problems import Place, refused
from spotgeo_frames.matching import pairs

POINT = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1], "x": [0.0], "y": [0.0]})


def east(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
    return np.abs(predictions["x"] - truth["x"]).to_numpy()


def vectors(table: pd.DataFrame) -> np.ndarray:
    ra, dec = np.radians(table[["x", "y"]].to_numpy()).T
    return np.stack([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)], axis=1)


def test_great_circles_are_angles_between_vectors() -> None:
    truth, found = on_the_sky()
    matches = sf.match(truth, found, distance=great_circle, tau=2, unit="arcsec")
    assert matches.attrs["rule"] == "great_circle"
    assert {name: matches.attrs[name] for name in ("tau", "epsilon", "unit")} == {
        "tau": 2.0,
        "epsilon": 0.0,
        "unit": "arcsec",
    }
    hits = matches[matches["outcome"] == "TP"]
    assert len(hits) > 150
    sides = [
        vectors(hits[[f"{side}_x", f"{side}_y"]].set_axis(["x", "y"], axis=1).astype(float))
        for side in ("truth", "predicted")
    ]
    cross = np.linalg.norm(np.cross(*sides), axis=1)
    angle = np.degrees(np.arctan2(cross, np.sum(sides[0] * sides[1], axis=1))) * 3600
    np.testing.assert_allclose(hits["distance"], angle, atol=1e-8)
    assert (hits["truth_object"] == hits["predicted_object"]).all()


def test_errors_are_kept_in_the_unit_of_the_function() -> None:
    truth, found = on_the_sky()
    matches = sf.match(truth, found, distance=great_circle, tau=2, epsilon=0.5, unit="arcsec")
    hits, missed = matches[matches["outcome"] == "TP"], matches[matches["outcome"] != "TP"]
    distance = hits["distance"].to_numpy()
    np.testing.assert_array_equal(hits["squared_error"], np.where(distance > 0.5, distance**2, 0))
    np.testing.assert_array_equal(hits["kelvins_error"], np.where(distance >= 0.5, distance, 0))
    assert (missed[["squared_error", "kelvins_error"]] == 4).all(axis=None)
    [summary] = sf.summarize(matches).to_dict("records")
    assert summary["mean_distance"] == pytest.approx(distance.mean())
    assert summary["rmse"] == pytest.approx(np.sqrt((distance**2).mean()))
    assert summary["mse"] == pytest.approx(matches["squared_error"].mean())


def test_three_dimensions() -> None:
    def in_space(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
        axes = ["x", "y", "z"]
        return np.linalg.norm(truth[axes].to_numpy() - predictions[axes].to_numpy(), axis=1)

    truth = pd.concat([POINT.assign(z=10.0), POINT.assign(object=2, z=30.0)], ignore_index=True)
    found = truth.assign(z=[14.0, 29.0], x=[3.0, 0.0])
    matches = sf.match(truth, found, distance=in_space, tau=5, unit="m")
    assert matches[["distance", "squared_error"]].to_numpy().tolist() == [[5.0, 25.0], [1.0, 1.0]]
    assert matches[["outcome", "truth_z", "predicted_z"]].to_numpy().tolist() == [
        ["TP", 10.0, 14.0],
        ["TP", 30.0, 29.0],
    ]


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        (2.0, ("TP", 0.0, 2.0)),  # at epsilon
        (np.nextafter(2.0, 3), ("TP", np.nextafter(2.0, 3) ** 2, np.nextafter(2.0, 3))),
        (5.0, ("TP", 25.0, 0.0)),  # at tau
        (np.nextafter(5.0, 6), ("FN", 25.0, 25.0)),
        (np.inf, ("FN", 25.0, 25.0)),
        (0.0, ("TP", 0.0, 0.0)),
    ],
)
def test_tau_and_epsilon_at_their_edges(distance: float, expected: tuple[str, float, float]) -> None:
    rule: dict[str, Any] = {"tau": 5, "epsilon": 2, "distance": lambda t, p: np.full(len(t), distance)}
    first = sf.match(POINT, POINT, **rule).iloc[0]
    assert (first["outcome"], first["squared_error"], first["kelvins_error"]) == expected


@pytest.mark.parametrize(
    ("words", "epsilon"),
    [
        ({}, 3.0),
        ({"tau": 3.5}, 3.0),
        ({"tau": 3}, 0.0),
        ({"tau": 2}, 0.0),
        ({"tau": 2, "epsilon": 1}, 1.0),
        ({"tau": 10, "distance": east}, 3.0),
        ({"tau": 10, "distance": east, "unit": "px"}, 3.0),
        ({"tau": 3, "distance": east, "unit": "px"}, 0.0),
        ({"tau": 10, "distance": east, "unit": "m"}, 0.0),
        ({"tau": 10, "epsilon": 3, "distance": east, "unit": "m"}, 3.0),
    ],
)
def test_epsilon_where_it_is_not_said(words: dict[str, Any], epsilon: float) -> None:
    assert sf.match(POINT, POINT, **words).attrs["epsilon"] == epsilon


@pytest.mark.parametrize("at_once", [1, 7, pairs.PAIRS_AT_ONCE])
@settings(max_examples=20)
@given(st.integers(0, 100_000), st.integers(1, 150), st.integers(2, 30), st.integers(1, 3))
def test_the_distance_of_points_as_a_function_is_the_built_in_one(
    at_once: int, seed: int, n: int, size: int, categories: int
) -> None:
    truth, predictions = on_a_grid(seed, n, size, categories)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "PAIRS_AT_ONCE", at_once)
        built_in = sf.match(truth, predictions, tau=4, epsilon=1)
        own = sf.match(truth, predictions, tau=4, epsilon=1, distance=euclidean)
        pd.testing.assert_frame_equal(own, built_in, check_exact=True)
        of_points, of_function = (
            sf.track(truth, predictions, tau=4),
            sf.track(truth, predictions, tau=4, distance=euclidean),
        )
        for one, other in zip(of_function, of_points, strict=True):
            pd.testing.assert_frame_equal(one, other, check_exact=True)


def test_only_pairs_of_a_category_are_measured() -> None:
    truth, predictions = on_a_grid(3)
    truth = truth.drop(columns="crowd")
    measured = []

    def counting(truths: pd.DataFrame, claims: pd.DataFrame) -> np.ndarray:
        assert (truths["category"] == claims["category"]).all()
        assert len(truths)
        measured.append(len(truths))
        return euclidean(truths, claims)

    sf.match(truth, predictions, tau=4, distance=counting)
    key = ["sequence", "frame", "category"]
    assert sum(measured) == len(truth[key].merge(predictions[key]))


def test_boxes_are_measured_by_their_columns() -> None:
    truth = boxes([(1, 1, 0, 0, 0), (1, 1, 1, 50, 0)])
    matches = sf.match(
        truth, truth.assign(w=12.0), tau=5, distance=lambda t, p: np.abs(t["w"] - p["w"]) + np.abs(t["x"] - p["x"])
    )
    assert matches["distance"].tolist() == [2.0, 2.0]
    one_sided = sf.match(truth, truth.drop(columns=["w", "h"]), tau=5, distance=east)
    assert one_sided["distance"].tolist() == [0.0, 0.0]


def test_joints_are_measured_one_by_one() -> None:
    joints = pd.concat([POINT.assign(joint="nose"), POINT.assign(joint="ear", x=1.0)], ignore_index=True)
    matches = sf.match(joints, joints.assign(x=[0.5, 1.0]), tau=1, distance=east)
    assert matches[["joint", "distance"]].to_numpy().tolist() == [["ear", 0.0], ["nose", 0.5]]


@pytest.mark.parametrize("kind", [pl.DataFrame, pa.Table])
def test_the_function_gets_tables_of_the_truths_kind(kind: Any) -> None:
    truth, predictions = on_a_grid(1)
    given = [
        pl.from_pandas(side) if kind is pl.DataFrame else pa.Table.from_pandas(side) for side in (truth, predictions)
    ]
    seen = []

    def of_kind(truths: Any, claims: Any) -> Any:
        seen.append((type(truths), type(claims)))
        return euclidean(truths.to_pandas(), claims.to_pandas())

    matches = sf.match(*given, tau=4, distance=of_kind)
    assert isinstance(matches, kind)
    assert {*seen} == {(kind, kind)}
    assert matches["outcome"].to_pylist() if kind is pa.Table else matches["outcome"].to_list()
    sf.track(*given, tau=4, distance=of_kind)
    assert {*seen} == {(kind, kind)}


@pytest.mark.parametrize(
    ("returned", "named"),
    [
        (lambda n: np.zeros(n + 2), ("shape (3,)", "float64", "1 pairs", "object 1")),
        (lambda n: np.zeros((n, 1)), ("shape (1, 1)", "1 pairs")),
        (lambda n: 1.0, "shape ()"),
        (lambda n: ["a"] * n, ("shape (1,)", "<U1")),
        (lambda n: [None] * n, ("shape (1,)", "object")),
        (lambda n: np.full(n, np.nan), ("NaN", "0 or more", "sequence 1, frame 1, object 1")),
        (lambda n: np.full(n, -0.5), ("-0.5", "0 or more", "sequence 1, frame 1, object 1")),
    ],
)
@pytest.mark.parametrize("function", [sf.match, sf.track, sf.check])
def test_a_distance_that_is_none(function: Any, returned: Any, named: Place) -> None:
    def metres(truth: pd.DataFrame, predictions: pd.DataFrame) -> Any:
        return returned(len(truth))

    named = (named,) if isinstance(named, str) else named
    with refused(("distance: the function metres returned", *named)):
        function(POINT, POINT, distance=metres, tau=5)


def test_the_first_wrong_pair_is_named() -> None:
    truth, predictions = on_a_grid(5, categories=1)

    def wrong(truths: pd.DataFrame, claims: pd.DataFrame) -> np.ndarray:
        return np.where((truths["object"] == 1000) & (truths["sequence"] == 4), -1.0, euclidean(truths, claims))

    with refused(
        ("distance: the function wrong returned -1", "truth of sequence 4", "object 1000", "prediction of sequence 4")
    ):
        sf.match(truth.drop(columns="crowd"), predictions, distance=wrong, tau=5)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ({"distance": east}, ("distance", "east", "tau")),
        ({"distance": east, "epsilon": 1}, ("distance", "east", "tau")),
        ({"distance": "east", "tau": 5}, ("distance", "'east'", "function")),
        ({"distance": east, "tau": 5, "similarity": "point"}, ("similarity", "east")),
        ({"distance": east, "tau": 5, "similarity": east}, ("similarity", "east")),
        ({"distance": east, "tau": 5, "threshold": 0.5}, ("threshold", "east")),
        ({"distance": east, "tau": 5, "sigmas": {"nose": 1.0}}, "sigmas"),
        ({"distance": east, "tau": 0, "unit": "m"}, ("tau", "in m")),
        ({"distance": east, "tau": 5, "epsilon": 5, "unit": "m"}, ("tau", "epsilon 5", "in m")),
        ({"distance": east, "tau": np.inf}, ("tau", "inf")),
        ({"distance": east, "tau": 5, "unit": 3}, ("unit", "3")),
        ({"distance": east, "tau": 5, "unit": "a\nb"}, "unit"),
        ({"unit": "m"}, ("unit", "'m'", "distance")),
        ({"tau": 5, "unit": "m"}, ("unit", "'m'", "distance")),
    ],
)
@pytest.mark.parametrize(
    "function",
    [
        sf.match,
        sf.sweep,
        sf.check,
        lambda *sides, **words: sf.Accumulator(**words),
        partial(sf.report, path="never.html"),
    ],
    ids=["match", "sweep", "check", "Accumulator", "report"],
)
def test_words_that_do_not_fit_a_distance(function: Any, words: dict[str, Any], place: Place) -> None:
    with refused(place, error=ValueError):
        function(POINT, POINT, **words)


def test_a_function_by_the_name_of_a_rule_is_told_apart() -> None:
    def distance(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
        return east(truth, predictions)

    matches = sf.match(POINT, POINT, distance=distance, tau=5)
    assert matches.attrs["rule"] == "function distance"
    with refused(("match table", "function distance", "distance=")):
        sf.diagnose(matches)


def test_columns_that_a_function_knows_are_no_riddle() -> None:
    deep = POINT.assign(z=1.0, ra=3.0, angle=5.0)
    assert sf.match(deep, deep, distance=east, tau=5)["distance"].tolist() == [0.0]
