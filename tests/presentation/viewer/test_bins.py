"""Rounded numbers stay in the bins in which charts count them."""

from typing import Any

import numpy as np
import pytest

from spotgeo_frames.presentation.viewer.places import rounded_in_bins

EDGES = {"measure": np.linspace(0, 1, 41), "x": np.linspace(0, 99, 17), "offset": np.linspace(-1, 1, 42)}


def columns(rng: np.random.Generator, n: int, **sizes: float) -> dict[str, Any]:
    sides = {f"{side}_{axis}": rng.uniform(0, 99, n) for side in ("truth", "predicted") for axis in "xy"}
    sides |= {f"predicted_{axis}": sides[f"truth_{axis}"] + rng.uniform(-1, 1, n) for axis in "xy"}
    return sides | {f"{side}_{size}": rng.uniform(1, 9, n) for size in sizes for side in ("truth", "predicted")}


def in_bin(values: np.ndarray, name: str) -> np.ndarray:
    return np.searchsorted(EDGES[name], values, side="right")


@pytest.mark.parametrize("sizes", [{}, {"w": 1.0, "h": 1.0}])
def test_what_is_rounded_stays_in_its_bin(sizes: dict[str, float]) -> None:
    exact = columns(np.random.default_rng(0), 20_000, **sizes) | {"distance": np.random.default_rng(1).random(20_000)}
    digits = dict.fromkeys(["x", "y", "w", "h"], 2) | {"measure": 3}
    rounded = rounded_in_bins(exact, EDGES, "distance", digits)
    half = {side: exact.get(f"{side}_w", np.zeros(1)) / 2 for side in ("truth", "predicted")}
    shown = {side: np.rint(2 * one * 100) / 100 / 2 for side, one in half.items()}
    assert (in_bin(rounded["distance"], "measure") == in_bin(exact["distance"], "measure")).all()
    assert (np.rint(exact["distance"] * 1000) / 1000 != rounded["distance"]).any(), "some would leave their bins"
    centres = [rounded["truth_x"] + shown["truth"], exact["truth_x"] + half["truth"]]
    assert (in_bin(centres[0], "x") == in_bin(centres[1], "x")).all()
    offsets = [
        rounded["predicted_x"] + shown["predicted"] - centres[0],
        exact["predicted_x"] + half["predicted"] - centres[1],
    ]
    assert (in_bin(offsets[0], "offset") == in_bin(offsets[1], "offset")).all()
    assert np.abs(rounded["predicted_x"] - exact["predicted_x"]).max() < 0.035
    assert np.array_equal(np.rint(rounded["predicted_x"] * 100) / 100, rounded["predicted_x"])


def test_null_stays_null() -> None:
    exact = columns(np.random.default_rng(0), 3) | {"distance": np.array([np.nan, 0.5, np.nan])}
    rounded = rounded_in_bins(exact, EDGES, "distance", {"x": 2, "y": 2, "measure": 3})
    assert np.isnan(rounded["distance"]).tolist() == [True, False, True]
    assert rounded_in_bins(exact, {}, "distance", {"x": 2, "y": 2, "measure": 3}) == {}
