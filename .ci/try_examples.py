"""Runs the examples in the docstrings of the installed package, in a folder that has the project's data/.

It needs nothing but the package and its extras, and exits with 1 where an example does not print what it says.
"""

import doctest
import pkgutil
import sys
from importlib import import_module
from pathlib import Path

import spotgeo_frames


def main() -> None:
    found = pkgutil.walk_packages(spotgeo_frames.__path__, f"{spotgeo_frames.__name__}.")
    names = [one.name for one in found if not one.name.endswith("__main__")]
    results = [doctest.testmod(import_module(name)) for name in names]
    attempted, failed = sum(one.attempted for one in results), sum(one.failed for one in results)
    place = Path(spotgeo_frames.__file__).parent
    print(f"{attempted} lines of examples in {len(names)} modules of {place.name}, {failed} failed")
    sys.exit(bool(failed or not attempted))


if __name__ == "__main__":
    main()
