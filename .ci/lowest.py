"""Prints a pip constraint for the lowest version of every package that users install, as pyproject.toml has it.

These are what the package needs, and what its extra `all` brings; all else may be of any version. A marker says from
which Python on a version is the lowest; those that hold for the Python that runs this count.
"""

import re
import sys
import tomllib
from pathlib import Path

NEEDED = re.compile(r'(?P<name>[\w-]+)>=(?P<version>[\d.]+)(; python_version >= "3\.(?P<minor>\d+)")?')

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
extras = project["optional-dependencies"]
[brought] = re.findall(r"\[(.*)\]", " ".join(extras["all"]))
lowest: dict[str, tuple[int, ...]] = {}
for text in [*project["dependencies"], *(text for extra in brought.split(",") for text in extras[extra])]:
    needed = NEEDED.fullmatch(text)
    if needed is None:
        sys.exit(f'pyproject.toml: {text}: is neither NAME>=VERSION nor NAME>=VERSION; python_version >= "3.MINOR"')
    if int(needed["minor"] or 0) <= sys.version_info.minor:
        version = tuple(map(int, needed["version"].split(".")))
        lowest[needed["name"]] = max(version, lowest.get(needed["name"], (0,)))
for name, version in lowest.items():
    print(f"{name}=={'.'.join(map(str, version))}")
