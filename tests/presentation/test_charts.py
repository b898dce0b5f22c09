"""The page's charts as a reader sees them: drawn by Vega, the labels of their axes are read back."""

import re

import pytest
import vl_convert

from spotgeo_frames.analysis.error_kinds import KINDS
from spotgeo_frames.presentation.page import charts
from spotgeo_frames.presentation.page.encodings import Spec

EXTENTS = [1.0, 0.3, 0.05, 0.02, 0.011, 0.004, 1e-3, 1.3e-5]


def percents(spec: Spec) -> list[str]:
    """The labels of the chart's axes that are percents."""
    drawn = vl_convert.vegalite_to_svg(spec | {"width": 560})
    return re.findall(r">([^<>]*%)</text>", drawn)


@pytest.mark.parametrize("extent", EXTENTS)
@pytest.mark.parametrize("lowest", [-0.8, 0.25])
def test_labels_of_differences_are_distinct(extent: float, lowest: float) -> None:
    pair = {"pair": "a − b", "sure": "no", "estimate": extent / 2, "low": lowest * extent, "high": extent, "p": 0.2}
    labels = percents(charts.differences([pair], "F1"))
    assert len({*labels}) == len(labels) > 2


@pytest.mark.parametrize("extent", EXTENTS)
def test_labels_of_error_costs_are_distinct(extent: float) -> None:
    costs = [
        {"submission": "a", "kind": kind, "gain": extent / size, "misses": 1, "alarms": 2, "mse": 0.1}
        for size, kind in enumerate(KINDS, 1)
    ]
    labels = percents(charts.error_costs(costs, ["a"]))
    assert len({*labels}) == len(labels) > 2


def test_wide_differences_have_no_decimals() -> None:
    pair = {"pair": "a − b", "sure": "yes", "estimate": 0.2, "low": 0.1, "high": 0.3, "p": 0.01}
    assert percents(charts.differences([pair], "F1"))[:2] == ["+0%", "+5%"]
