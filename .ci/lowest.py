"""Prints a pip constraint for the lowest version of every package that users install, as pyproject.toml has it."""

import tomllib
from pathlib import Path

# What is not for users may be of any version.
DEVELOPMENT = {"test", "test-lowest", "engines", "others", "notebooks", "docs", "bench", "release", "lint"}

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
needed = [text for name, texts in extras.items() if name not in DEVELOPMENT for text in texts]
for text in [*project["dependencies"], *needed]:
    if "[" not in text:  # of the package's own extras
        name, lowest = text.split(">=")
        print(f"{name}=={lowest}")
