"""Names and values as files can hold them."""

import math
import os
import re
from pathlib import Path, PureWindowsPath
from typing import Any

import pandas as pd

from .labels import label


def stem(path: Path) -> str:
    """A file's name without the endings that say of what kind it is."""
    return re.sub(r"(\.(json|parquet|csv|arrow|feather|txt))?(\.(gz|zip))?$", "", path.name, flags=re.I) or path.name


def is_file_name(name: str) -> bool:
    """Whether a name can be that of a file in a folder, on any system."""
    path = PureWindowsPath(name)  # knows both kinds of separators, drives, and what Windows keeps for itself
    plain = name == path.name != "" and name.isprintable() and not set(name) & set('<>:"|?*')
    return plain and not path.is_reserved() and not name.startswith(".") and not name.endswith((".", " "))


def is_text(name: str) -> bool:
    """Whether a name that the system gave is text; on some it may be any bytes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain_value(value: Any) -> Any:
    """A value that JSON and Parquet know: null for what is missing, `12 to 47` for bins, text for times and so on."""
    if isinstance(value, pd.Interval):
        return label(value)
    if pd.isna(value):
        return None
    if hasattr(value, "item"):
        value = value.item()
    known = isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    return value if known else str(value)


def text_name(path: Path) -> str:
    """A file's name as text, which on disk it need not be."""
    return os.fsencode(path.name).decode("utf-8", "replace")
