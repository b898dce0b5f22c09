"""Names of files, and values in the form that files can store."""

import math
import os
import re
from pathlib import Path, PureWindowsPath
from typing import Any

from .labels import label

# What Windows takes for a device, whatever ending follows. Python's own list moved from pathlib to os.path with 3.13.
RESERVED = re.compile(r"(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[1-9¹²³]) *(\..*)?", re.IGNORECASE)


def stem(path: Path) -> str:
    """A file's name without the endings that tell its format and packing, such as `.json.gz`."""
    return re.sub(r"(\.(json|parquet|csv|arrow|feather|txt))?(\.(gz|zip))?$", "", path.name, flags=re.I) or path.name


def is_file_name(name: str) -> bool:
    """Whether a name can be that of a file in a folder, on any operating system."""
    path = PureWindowsPath(name)  # knows both kinds of separators, and drives
    plain = name == path.name != "" and name.isprintable() and not set(name) & set('<>:"|?*')
    return plain and not RESERVED.fullmatch(name) and not name.startswith(".") and not name.endswith((".", " "))


def is_text(name: str) -> bool:
    """Whether a file's name is valid text; on some systems it may be any bytes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain_value(value: Any) -> Any:
    """A value that JSON and Parquet know: None if it is missing, `12 to 47` for bins, text for times and the like."""
    if type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value)):
        return value
    if value is None or (isinstance(value, float) and value != value):  # NaN
        return None
    import pandas as pd

    if isinstance(value, pd.Interval):
        return label(value)
    if pd.isna(value):
        return None
    if hasattr(value, "item"):
        value = value.item()
    known = isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    return value if known else str(value)


def as_text(name: str | Path) -> str:
    """The name or path of a file as valid text; bytes that are not UTF-8 become \\xNN, so names stay different."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def in_markdown(text: str) -> str:
    """Escapes text so that it ends neither a cell nor code in Markdown, whatever the names of the user's columns."""
    return "".join(char if char.isprintable() else " " for char in text).replace("|", "\\|").replace("`", "'")
