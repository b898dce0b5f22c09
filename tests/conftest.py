"""Folders of data: the project's samples, and what lies outside it; and how Hypothesis runs."""

from pathlib import Path

import pytest
from hypothesis import settings

from helpers.reference import PROJECT, outside

# No test measures time: slow machines may take as long as they need for an example.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


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
def poses() -> Path:
    """The sample's folder of poses and of a tracker's."""
    return PROJECT / "data" / "poses"


@pytest.fixture(scope="session")
def tracks() -> Path:
    """The sample's folder of truth and of a tracker."""
    return PROJECT / "data" / "tracks"
