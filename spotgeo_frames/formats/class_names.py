"""The names of classes: a list or dict of the caller's, data.yaml of Ultralytics, or a text file with a name a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..support.copies import local_copy
from ..support.errors import InputError, first_line
from ..support.extras import check_extra
from ..support.pandas_versions import TEXT
from ..support.reading import check_no_nul, read_bytes, readable

# What names, as `read_yolo` and others take them.
Names = str | Path | Sequence[str] | Mapping[int, str]

# Files of names have a few kilobytes; a larger one is something else.
LARGEST_FILE = 1 << 20


def class_names(names: Names | None, wanted_by: str) -> dict[int, str] | None:
    """The name of each class by its number; None for None. Messages about a list or dict begin with `wanted_by`.

    Raises InputError if a file cannot be read or holds no names, or if a class has no text for a name, or two classes
    have the same.
    """
    if names is None:
        return None
    place, given = f"{wanted_by}: names", names
    if isinstance(given, str | Path):
        place = str(given)
        with local_copy(given) as copy:
            given = _names_of_file(copy.path, place)
    by_class = dict(given) if isinstance(given, Mapping) else dict(enumerate(given))
    for number, name in by_class.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 0 or not isinstance(name, str):
            raise InputError(f"{place}: {number!r}: {name!r}: a number from 0 on and its name, a text, are needed")
    if not by_class:
        raise InputError(f"{place}: has no names of classes")
    twice = [name for name, times in Counter(by_class.values()).items() if times > 1]
    if twice:
        raise InputError(f"{place}: two classes are called {twice[0]!r}; give them different names")
    return by_class


def _names_of_file(path: Path, place: str) -> Sequence[Any] | Mapping[Any, Any]:
    """What a file says of names, unchecked."""
    with readable(path):
        if path.is_file() and path.stat().st_size > LARGEST_FILE:
            raise InputError(f"{place}: has more than {LARGEST_FILE >> 20} MiB; data.yaml or a name a line is needed")
    content = read_bytes(path)
    check_no_nul(content, place)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{place}: is no text in UTF-8; data.yaml or a name a line is needed") from None
    if path.suffix.lower() not in (".yaml", ".yml"):
        return [line.strip() for line in text.splitlines() if line.strip()]
    check_extra("yolo", f"{place}: YAML", "yaml")
    import yaml

    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{place}: is no YAML: {first_line(error)}") from None
    names = document.get("names") if isinstance(document, dict) else None
    if not isinstance(names, list | dict):
        raise InputError(f"{place}: has no `names`, a list or a mapping of the names of classes")
    return names


def categories(class_id: np.ndarray, names: Mapping[int, str] | None) -> Any:
    """The category of each class (N,): its name, or without names its number."""
    if names is None:
        return class_id
    ordered = sorted(names)
    kind = pd.CategoricalDtype(pd.Index([names[number] for number in ordered], dtype=TEXT))
    return pd.Categorical.from_codes(np.searchsorted(ordered, class_id), dtype=kind)
