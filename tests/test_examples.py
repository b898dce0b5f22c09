"""The examples in docstrings run, print what they say and give no warning, and every public name has one."""

import doctest
import inspect
import warnings
from importlib import import_module

import pytest

import spotgeo_frames as sf
from helpers.reference import PROJECT

PACKAGE = PROJECT / "spotgeo_frames"
PUBLIC = {name: getattr(sf, name) for name in sf.__all__}
PUBLIC |= {
    f"{module}.{name}": getattr(PUBLIC[module], name)
    for module in ("plots", "charts")
    for name in PUBLIC[module].__all__
}
WITH_EXAMPLES = sorted(path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text())


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.stem)
def test_examples(path) -> None:
    module = import_module(".".join(path.relative_to(PROJECT).with_suffix("").parts))
    with warnings.catch_warnings(record=True) as given:
        found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed
    assert [str(one.message) for one in given if issubclass(one.category, UserWarning)] == []


def test_every_public_function_and_class_has_an_example() -> None:
    assert [name for name, value in PUBLIC.items() if callable(value) and ">>> " not in inspect.getdoc(value)] == []
