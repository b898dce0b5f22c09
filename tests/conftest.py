"""Folders of data: the project's samples, and what lies outside it; and how Hypothesis runs."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from helpers.own_metrics import remove_own_metrics
from helpers.reference import PROJECT, outside

# No test measures time: slow machines may take as long as they need for an example, and to make one up. Whether a
# change lands is no matter of luck, so there the examples are the same each time; elsewhere they are new ones.
settings.register_profile(
    "no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("no clock")


# What says how terminals show texts is no matter of the tests. The library readline, which pytest loads, sets COLUMNS
# where only processes see it that are started.
for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
    os.environ.pop(name, None)
    os.unsetenv(name)

# Where nothing compiled is kept, each process that a test starts compiles the package, and each of pytest's all tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_auto_num_workers() -> int:
    """A process more than there are cores: tests in a browser, and those of other processes, mostly wait."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    return len(cores) + 1


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
def sky() -> Path:
    """The sample of exposures of the sky, with injected stars."""
    return PROJECT / "data" / "sky"


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


@pytest.fixture
def bundled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's first report bundles its script, as that of a new process does."""
    monkeypatch.setattr("spotgeo_frames.presentation.page.html.vega.BUNDLED", {})
    monkeypatch.setattr("spotgeo_frames.presentation.page.html.vega._kept", lambda place: None)


@pytest.fixture(autouse=True)
def figures_closed() -> Iterator[None]:
    """Closes what a test has drawn: the open figures of all tests add up, and matplotlib warns of more than twenty."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(autouse=True)
def own_metrics_removed() -> Iterator[None]:
    """Takes back the metrics that a test has added, so that the next one has none of them."""
    yield
    remove_own_metrics()
