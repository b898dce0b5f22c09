"""Folders of data: the project's samples, and what lies outside it; how Hypothesis runs; and a script made once."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from helpers.reference import PROJECT, outside
from spotgeo_frames.presentation.page.html import vega

# No test measures time: slow machines may take as long as they need for an example, and to make one up. Whether a
# change lands is no matter of luck, so there the examples are the same each time; elsewhere they are new ones.
settings.register_profile(
    "no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("no clock")


@pytest.fixture(scope="session")
def challenge() -> Path:
    """The challenge's real annotations with expected numbers."""
    return outside("SPOTGEO_DATA", "spotgeo")


@pytest.fixture(scope="session")
def mot17() -> Path:
    """The seven MOT17 training sequences, a tracker's output, and what trackeval says of it."""
    return outside("MOT17_DATA", "mot17")


@pytest.fixture(scope="session")
def sample() -> Path:
    return PROJECT / "data" / "sample"


@pytest.fixture(scope="session")
def boxes() -> Path:
    """The sample of boxes by class, with two versions of a detector."""
    return PROJECT / "data" / "boxes"


@pytest.fixture(scope="session")
def coco() -> Path:
    """The sample of COCO's files, with the results of two detectors."""
    return PROJECT / "data" / "coco"


@pytest.fixture(scope="session")
def poses() -> Path:
    """The sample's folder of poses and of a tracker's."""
    return PROJECT / "data" / "poses"


@pytest.fixture(scope="session")
def tracks() -> Path:
    """The sample's folder of truth and of a tracker."""
    return PROJECT / "data" / "tracks"


@pytest.fixture(scope="session", autouse=True)
def bundling() -> Iterator[Callable[..., Any]]:
    """Bundles the charts' script, which is the same on each page, for the first report only; yields what bundles it.

    It takes a second and a half of a processor, of all tests of reports more than all else. Commands in processes of
    their own still bundle it.
    """
    bundled, scripts = vega.vega_script, []

    @contextmanager
    def once() -> Iterator[Callable[[], str]]:
        if not scripts:
            with bundled() as script:
                scripts.append(script())
        yield lambda: scripts[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vega, "vega_script", once)
        yield bundled


@pytest.fixture
def bundled_anew(bundling: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each report bundles its script, as outside the tests."""
    monkeypatch.setattr(vega, "vega_script", bundling)


@pytest.fixture(autouse=True)
def figures_closed() -> Iterator[None]:
    """Closes what a test has drawn: the open figures of all tests add up, and matplotlib warns of more than twenty."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
