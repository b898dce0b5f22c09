"""Prints a pip constraint for the lowest version of every package that users install, as pyproject.toml has it.

These are what the package needs, and what its extra `all` brings; all else may be of any version.
"""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
extras = project["optional-dependencies"]
[brought] = re.findall(r"\[(.*)\]", " ".join(extras["all"]))
needed = [*project["dependencies"], *(text for extra in brought.split(",") for text in extras[extra])]
for text in dict.fromkeys(needed):
    name, lowest = text.split(">=")
    print(f"{name}=={lowest}")
