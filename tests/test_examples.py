"""The examples in docstrings run and print what they say."""

import doctest
from importlib import import_module

import pytest

from helpers.reference import PROJECT

PACKAGE = PROJECT / "spotgeo_frames"
WITH_EXAMPLES = sorted(path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text())


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.stem)
def test_examples(path) -> None:
    module = import_module(".".join(path.relative_to(PROJECT).with_suffix("").parts))
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed
