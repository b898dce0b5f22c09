"""The special functions that are loaded without `scipy.special`: those of SciPy, and the public ones otherwise.

Every test has a process of its own, because here other tests have imported `scipy.special` long ago.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent

SAME_FUNCTIONS = """
import sys
from spotgeo_frames.support import scipy_special, special_functions

functions = special_functions()
assert "scipy.special" not in sys.modules and functions.__name__ == scipy_special.FUNCTIONS
import scipy.special, scipy.stats
assert scipy.special is sys.modules["scipy.special"]
for name in scipy_special.KNOWN:
    assert getattr(functions, name) is getattr(scipy.special, name), name
"""

FALLS_BACK = """
import sys
from spotgeo_frames.support import scipy_special, special_functions

if sys.argv[1] == "no package":
    scipy_special.find_spec = lambda name: None
elif sys.argv[1] == "imported meanwhile":
    find_spec = scipy_special.find_spec
    scipy_special.find_spec = lambda name: (__import__("scipy.special"), find_spec(name))[1]
elif sys.argv[1] == "other values":
    scipy_special.KNOWN["expit"] = ((0.0,), 0.6)
else:
    import scipy.special
functions = special_functions()
assert functions is sys.modules["scipy.special"] and functions.expit(0.0) == 0.5
import scipy.stats
"""

ANOTHER_THREAD = """
import sys
from threading import Thread
from spotgeo_frames.support import scipy_special, special_functions

imported, load = [], scipy_special.import_module

def importing(name):
    if name == scipy_special.FUNCTIONS and not imported:
        import scipy.special as package
        imported.append(package)
        thread = Thread(target=lambda: imported.append(package.gammaln(1.0)))
        imported.append(thread)
        thread.start()
    return load(name)

scipy_special.import_module = importing
special_functions()
imported[1].join()
assert imported[2] == 0.0
"""


def run(code: str, *arguments: str) -> None:
    environment = os.environ | {"PYTHONPATH": str(TESTS)}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment, cwd=TESTS.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_they_are_those_of_scipy() -> None:
    run(SAME_FUNCTIONS)


@pytest.mark.parametrize("case", ["no package", "other values", "imported before", "imported meanwhile"])
def test_without_them_the_public_ones_are_used(case: str) -> None:
    run(FALLS_BACK, case)


def test_another_thread_gets_the_package_meanwhile() -> None:
    run(ANOTHER_THREAD)
