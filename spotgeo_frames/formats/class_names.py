"""The names of classes: a list or dict of the caller's, data.yaml of Ultralytics, or a text file with a name a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..support import InputError, addresses, first_line, packages, pandas_tables, reading

# What names, as `read_yolo` and others take them.
Names = str | Path | Sequence[str] | Mapping[int, str]

# Files of names have a few kilobytes; a larger one is something else.
LARGEST_FILE = 1 << 20


def class_names(names: Names | None, wanted_by: str) -> dict[int, str] | None:
    """The name of each class by its number; None for None. Messages about a list or dict begin with `wanted_by`.

    Classes that share a name with others are left out, as if they had none: torchvision calls ten classes N/A, none of
    which is ever found. Raises InputError if a file cannot be read or holds no names, if a class has no text for a
    name, or if no class has a name of its own.
    """
    if names is None:
        return None
    place, given = f"{wanted_by}: names", names
    if isinstance(given, str | Path):
        place = str(given)
        with addresses.local_copy(given) as copy:
            given = _names_of_file(copy.path, place)
    if not isinstance(given, Iterable):
        raise InputError(f"{place} is of type {type(given).__name__}; a list, a dict or the path of a file is needed")
    by_class = dict(given) if isinstance(given, Mapping) else dict(enumerate(given))
    for number, name in by_class.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 0 or not isinstance(name, str):
            found = f"{number!r:.30}: {name!r:.30}"
            raise InputError(f"{place}: {found}: a number from 0 on and its name, a text, are needed")
    times = Counter(by_class.values())
    own = {number: name for number, name in by_class.items() if times[name] == 1}
    if not own:
        raise InputError(f"{place}: has no names of classes, or not one that differs from the others")
    return own


def without_name(class_id: float, names: Mapping[int, str]) -> str:
    """What messages say of a class that is not among the names."""
    return f"class {class_id:g} has no name of its own; names has {len(names)}, {min(names)} to {max(names)}"


def _names_of_file(path: Path, place: str) -> Sequence[Any] | Mapping[Any, Any]:
    """What a file says of names, unchecked."""
    needed = "data.yaml or a name a line"
    text = reading.utf8_text(reading.read_bytes(path, LARGEST_FILE, f"{needed} is needed"), place, needed)
    if path.suffix.lower() not in (".yaml", ".yml"):
        lines = [line.strip() for line in text.rstrip().splitlines()]
        if "" in lines:  # left out, it would give every class below it another name
            raise InputError(f"{place}, line {lines.index('') + 1}: is empty; a name a line is needed")
        return lines
    document = _yaml(text, place)
    names = document.get("names") if isinstance(document, dict) else None
    if not isinstance(names, list | dict):
        raise InputError(f"{place}: has no `names`, a list or a mapping of the names of classes")
    return names


def _yaml(text: str, place: str) -> Any:
    """The content of a YAML file, of plain values. References are refused: a few can stand for any number of values."""
    packages.check_extra("yolo", f"{place}: YAML", "yaml")
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise InputError(f"{place}: has references (*); write out what they stand for")
            return super().compose_node(parent, index)

    try:
        return yaml.load(text, Loader)
    except InputError:
        raise
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise InputError(f"{place}{line}: is no YAML: {getattr(error, 'problem', None) or first_line(error)}") from None


def categories(class_id: np.ndarray, names: Mapping[int, str] | None) -> Any:
    """The category of each class (N,): its name, or without names its number."""
    if names is None:
        return class_id
    ordered = sorted(names)
    kind = pd.CategoricalDtype(pd.Index([names[number] for number in ordered], dtype=pandas_tables.TEXT))
    return pd.Categorical.from_codes(np.searchsorted(ordered, class_id), dtype=kind)
