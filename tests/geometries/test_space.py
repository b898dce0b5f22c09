"""Points in space: x, y and z on both sides make distances three-dimensional."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused, warned


def cloud(n: int = 200, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Points of 10 sequences, and predictions that are 1, 2 and -2 off along x, y and z."""
    random = np.random.default_rng(seed)
    truth = pd.DataFrame(random.uniform(0, 100, (n, 3)), columns=["x", "y", "z"])
    truth = truth.assign(sequence=np.arange(n) // 20, frame=1, object=np.arange(n))
    return truth, truth.assign(x=truth["x"] + 1, y=truth["y"] + 2, z=truth["z"] - 2, score=0.5)


def test_distances_have_three_dimensions() -> None:
    matches = sf.match(*cloud())
    assert (matches["outcome"] == "TP").all()
    np.testing.assert_allclose(matches["distance"], 3)
    assert matches.attrs["rule"] == "distance"
    assert matches.attrs["geometry"] == "space"
    assert (matches.attrs["tau"], matches.attrs["epsilon"]) == (10.0, 3.0)
    assert (sf.match(*cloud(), tau=2.9)["outcome"] != "TP").any()


def test_bias_has_a_third_offset() -> None:
    offsets = sf.bias(sf.match(*cloud())).set_index("metric")["estimate"]
    np.testing.assert_allclose(offsets[["dx", "dy", "dz"]], [1, 2, -2])
    assert offsets["mse_corrected"] == pytest.approx(0, abs=1e-9)


def test_points_above_each_other_are_apart() -> None:
    truth, _ = cloud()
    truth = truth.drop_duplicates("sequence")
    assert (sf.match(truth, truth.assign(z=truth["z"] + 11))["outcome"] != "TP").all()


def test_tracks_are_measured_in_space() -> None:
    truth, predictions = cloud()
    result = sf.track(truth, predictions, similarity="point")
    np.testing.assert_allclose(result.matches["similarity"].dropna(), 1 - 3 / 20)
    assert result.summary["MOTA"].iloc[-1] == 1


def test_z_on_one_side() -> None:
    truth, predictions = cloud()
    flat = predictions.drop(columns="z")
    for sides in ((truth, flat), (flat, truth)):
        with pytest.raises(
            sf.InputError, match=r"column z is of points in space, and there are points in .*; give tau"
        ):
            sf.match(*sides)
    with warned(("truth: column z plays no part", "x and y")):
        matches = sf.match(truth, flat, tau=10.0)
    np.testing.assert_allclose(matches["distance"], np.sqrt(5))


def test_boxes_with_z_are_no_points() -> None:
    truth, predictions = (side.assign(w=5.0, h=5.0) for side in cloud())
    with refused(("truth: column z", "w and h"), ("predictions: column z", "w and h")):
        sf.match(truth, predictions)


def test_check_finds_swapped_axes() -> None:
    truth, _ = cloud()
    assert not len(sf.check(truth, truth))
    wrong = truth.assign(y=truth["z"], z=truth["y"])
    assert sf.check(truth, wrong)["suspicion"].tolist() == ["y and z are swapped"]


@pytest.mark.parametrize(
    ("factors", "suspicion", "advice"),
    [
        ((2.0, 2.0, 2.0), "coordinates are doubled", "multiply x, y and z by 0.5"),
        ((3.3, 3.3, 3.3), "coordinates are scaled by 3.3", "divide x, y and z by 3.3"),
        ((3.3, 1.7, 1.0), "coordinates are scaled by 3.3 in x and by 1.7 in y", "divide x by 3.3 and y by 1.7"),
    ],
)
def test_check_finds_scales(factors: tuple[float, ...], suspicion: str, advice: str) -> None:
    """The third coordinate has no width or height of an image, so it is scaled only where the others share a factor."""
    random = np.random.default_rng(0)
    truth = pd.DataFrame(random.uniform(0, 500, (200, 3)), columns=["x", "y", "z"])
    truth = truth.assign(sequence=1, frame=np.arange(200) // 5, object=np.arange(200) % 5)
    found = sf.check(truth, truth.assign(**{axis: truth[axis] * by for axis, by in zip("xyz", factors, strict=True)}))
    assert found["suspicion"].tolist() == [suspicion]
    assert found["f1_corrected"].tolist() == [1.0]
    assert advice in found["advice"][0]


@pytest.mark.parametrize("axes", [("x", "z"), ("z", "y"), ["y", "z"]])
def test_plots_choose_two_axes(axes: tuple[str, str]) -> None:
    truth, predictions = cloud()
    matches = sf.match(truth, predictions)
    offset = dict(zip("xyz", (1, 2, -2), strict=True))
    ax = sf.plots.residuals(matches, axes=axes)
    assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(f"predicted − true {axis}, px" for axis in axes)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), [[offset[axis] for axis in axes]] * len(truth))
    panels = [
        ax,
        sf.plots.recall_map(matches, axes=axes),
        sf.plots.frame(matches, 3, 1, axes=axes),
        *sf.plots.sequence(matches, 3, axes=axes),
        *sf.plots.gallery(matches, [(3, 1)], axes=axes),
    ]
    for panel in panels:
        assert axes[1] in panel.get_ylabel()
        assert panel.yaxis_inverted() == (axes[1] == "y")
    assert all(f"true {axis}, px" in sf.charts.residuals(matches, axes=axes).to_json() for axis in axes)
    assert f"Recall over {axes[0]} and {axes[1]}" in sf.charts.recall_map(matches, axes=axes).to_json()
    plt.close("all")


@pytest.mark.parametrize("axes", [("x",), ("x", "x"), ("x", "w"), "xz", 3])
def test_axes_that_are_none(axes: Any) -> None:
    matches = sf.match(*cloud())
    with refused(("plots: axes is", "x, y, z")):
        sf.plots.residuals(matches, axes=axes)
    with refused(("charts: axes is", "x, y, z")):
        sf.charts.residuals(matches, axes=axes)


def test_axes_of_what_has_two() -> None:
    flat = [side.drop(columns="z") for side in cloud()]
    with refused(("plots: axes chooses", "z")):
        sf.plots.frame(sf.match(*flat), 3, 1, axes=("x", "z"))
    with refused(("plots: a picture shows x", "x, z")):
        sf.plots.frame(sf.match(*cloud()), 3, 1, axes=("x", "z"), picture=np.zeros((9, 9)))
