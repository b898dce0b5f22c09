"""The charts as a reader sees them: drawn by Vega, the labels of their axes are read back."""

import re

import pandas as pd
import pytest
import vl_convert

from spotgeo_frames.analysis.errors.error_kinds import KINDS
from spotgeo_frames.presentation.drawing.charts.of_tables import differences, error_costs
from spotgeo_frames.presentation.drawing.charts.parts import Drawing, page_spec

EXTENTS = [1.0, 0.3, 0.05, 0.02, 0.011, 0.004, 1e-3, 1.3e-5]


def percents(drawing: Drawing | None) -> list[str]:
    """The labels of the chart's axes that are percents."""
    assert drawing is not None
    drawn = vl_convert.vegalite_to_svg(page_spec(drawing) | {"width": 560})
    return re.findall(r">([^<>]*%)</text>", drawn)


def of_pair(estimate: float, low: float, high: float) -> Drawing | None:
    """The chart of the difference of F1 between two submissions."""
    pair = {"a": "a", "b": "b", "metric": "f1", "estimate": estimate, "low": low, "high": high, "p_adjusted": 0.02}
    return differences(pd.DataFrame([pair]), ["a", "b"], "f1", 0.95)


@pytest.mark.parametrize("extent", EXTENTS)
@pytest.mark.parametrize("lowest", [-0.8, 0.25])
def test_labels_of_differences_are_distinct(extent: float, lowest: float) -> None:
    labels = percents(of_pair(extent / 2, lowest * extent, extent))
    assert len({*labels}) == len(labels) > 2


@pytest.mark.parametrize("extent", EXTENTS)
def test_labels_of_error_costs_are_distinct(extent: float) -> None:
    costs = pd.DataFrame(
        {"submission": pd.Categorical(["a"]), "kind": kind, "f1_gain": extent / size, "n_misses": 1, "mse_gain": 0.1}
        for size, kind in enumerate(KINDS, 1)
    )
    costs = costs.assign(submission=pd.Categorical(["a"] * len(costs)), n_false_alarms=2)
    labels = percents(error_costs(costs, ["a"]))
    assert len({*labels}) == len(labels) > 2


def test_wide_differences_have_no_decimals() -> None:
    assert percents(of_pair(0.2, 0.1, 0.3))[:2] == ["+0%", "+5%"]
