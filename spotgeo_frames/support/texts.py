"""Values and names as texts: numbers, intervals, bins as `12 to 47`, null as a dash; names that files can have."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

DASH = "–"

# Decimals to which pandas may round the edges of bins. It takes the fewest that keep all edges distinct.
EDGE_DECIMALS = range(3, 20)


# The most decimals of an interval; smaller numbers are written with their power of ten.
MOST_DECIMALS = 15


# The marks that set the direction of text, with the text that stands for each, such as [U+202E].
DIRECTION_MARKS = {
    code: f"[U+{code:04X}]" for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}

# Finds any of them, in a twentieth of the time that str.translate takes over a text of megabytes.
SOME_MARK = re.compile(f"[{''.join(map(chr, DIRECTION_MARKS))}]")


def label(value: Any) -> str:
    """A value as text: a number with up to 15 digits, an interval as `12 to 47`, null as a dash.

    >>> import pandas as pd
    >>> label(0.1), label(pd.Interval(12.0, 47.5)), label(None)
    ('0.1', '12 to 47.5', '–')
    """
    if not isinstance(value, str | int | float):
        import pandas as pd

        if isinstance(value, pd.Interval):
            return f"{label(value.left)} to {label(value.right)}"
        if pd.api.types.is_scalar(value) and pd.isna(value):
            return DASH
    if isinstance(value, float) and value != value:  # NaN
        return DASH
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def number_text(value: float, share: bool = False, precision: int | None = None, *, percent: bool = True) -> str:
    """Formats a number: `87.34%` for a share, `1,234.50`, `0.123`, `0.00012`, or a dash for null.

    `precision` is the count of decimals. By default there are two, or three if the number is below 1 and is no share. A
    number that would round to 0 is written with its first nonzero digits instead. Without `percent` a share is written
    as a fraction with as many digits, such as `0.8734`.
    """
    if math.isnan(value):
        return DASH
    decimals = 2 if precision is None else precision
    if share:
        return f"{value:z.{decimals}%}" if percent else f"{value:z.{decimals + 2}f}"
    size = abs(value)
    if size >= 1e15:
        return f"{value:.6g}"
    if precision is None and 0 < size < 1:
        decimals = 3
    return f"{value:z,.{decimals}f}" if size == 0 or size >= 10.0**-decimals else f"{value:.{precision or 2}g}"


def interval_text(estimate: float, low: float, high: float, share: bool = False) -> str:
    """A number with its interval, such as `0.819 [0.777, 0.855]`, all three with the same number of digits.

    There are so many digits that half the width of the interval has two. A bound that is null is a dash, and a number
    without both bounds is written alone.

    >>> interval_text(0.81938, 0.77651, 0.85464), interval_text(2602.57, 2146.21, 3119.17)
    ('0.819 [0.777, 0.855]', '2600 [2150, 3120]')
    """
    known = [bound for bound in (low, high) if not math.isnan(bound)]
    if math.isnan(estimate) or not known:
        return number_text(estimate, share, percent=False)
    half = (high - low) / 2 if len(known) == 2 else abs(estimate - known[0])
    texts = [_to_two_digits(value, half, share) for value in (estimate, low, high)]
    return f"{texts[0]} [{texts[1]}, {texts[2]}]"


def _to_two_digits(value: float, half: float, share: bool) -> str:
    """A number with two significant digits of half the width of its interval; a dash for null."""
    if math.isnan(value):
        return DASH
    if not math.isfinite(half) or half == 0:
        return number_text(value, share, percent=False).replace(",", "")  # which commas between bounds would confuse
    decimals = 1 - int(f"{half:.1e}".partition("e")[2])
    if decimals > MOST_DECIMALS:
        return f"{value:.2g}"
    return f"{round(value, decimals):z.{max(decimals, 0)}f}"


def is_binned(values: pd.Series) -> bool:
    """Whether a column holds bins: intervals, as categories or by themselves."""
    import pandas as pd

    kind = values.dtype.categories.dtype if isinstance(values.dtype, pd.CategoricalDtype) else values.dtype
    return isinstance(kind, pd.IntervalDtype)


def bins_as_text(table: pd.DataFrame) -> pd.DataFrame:
    """A table with its bins as text such as `12 to 47`, or null; other columns as they are.

    pandas moves the lower edge of the first bin down a little, so that the bin contains its least value. The text has
    the edge before it was moved.

    >>> import pandas as pd
    >>> bins_as_text(pd.qcut(pd.Series([12, 30, 47, 60]), 2).to_frame("x"))["x"].tolist()
    ['12 to 38.5', '12 to 38.5', '38.5 to 60', '38.5 to 60']
    """
    columns = {name: _as_text(table[name]) for name in table.columns if is_binned(table[name])}
    return table.assign(**columns) if columns else table


def bins_as_categories(table: pd.DataFrame) -> pd.DataFrame:
    """A table with its bins as text, as categories that keep the order of the bins; other columns as they are.

    >>> import pandas as pd
    >>> bins_as_categories(pd.cut(pd.Series([5, 200]), [0, 50, 1000]).to_frame("x"))["x"].tolist()
    ['0 to 50', '50 to 1000']
    """
    import pandas as pd

    for name in [name for name in map(str, table) if is_binned(table[name])]:
        values = table[name].astype("category")
        bins = pd.Series(values.cat.categories).astype(values.dtype).rename(name)
        table = table.assign(**{name: values.cat.rename_categories(bins_as_text(bins.to_frame())[name].tolist())})
    return table


def _as_text(values: pd.Series) -> pd.Series:
    """A column of bins as text."""
    import pandas as pd

    from .pandas_tables import TEXT

    texts = {interval: label(interval) for interval in values.dropna().unique()}
    if isinstance(values.dtype, pd.CategoricalDtype) and len(values.cat.categories):
        bins = values.cat.categories
        texts[bins[0]] = f"{label(_first_edge(bins))} to {label(bins[0].right)}"
    return pd.Series([texts.get(value) for value in values], values.index, dtype=TEXT, name=values.name)


def _first_edge(bins: Any) -> Any:
    """The lower edge of the first bin before pandas moved it down; a moved edge shows by its many digits."""
    edge = bins[0].left
    if not isinstance(edge, float) or not math.isfinite(edge):
        return edge
    edges = [value for value in bins.right if math.isfinite(value)]
    decimals = next((n for n in EDGE_DECIMALS if len({_rounded(value, n) for value in edges}) == len(edges)), 3)
    moved_back = float(f"{edge + 10.0**-decimals:.15g}")
    return moved_back if len(label(moved_back)) < len(label(edge)) else edge


def _rounded(edge: float, decimals: int) -> float:
    """An edge as pandas rounds it: to so many decimals, or to so many digits if it is less than 1."""
    return float(f"{edge:.{decimals}g}") if abs(edge) < 1 else round(edge, decimals)


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
    """Whether UTF-8 can hold a name.

    On some systems the name of a file may be any bytes. Python then has halves of surrogate pairs in it, which UTF-8
    cannot hold.
    """
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


def name_as_text(name: str | Path) -> str:
    """The name or path of a file as valid text; bytes that are not UTF-8 become \\xNN, so names stay different."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def in_markdown(text: str) -> str:
    """Escapes text so that it ends neither a cell nor code in Markdown, whatever the names of the user's columns."""
    return "".join(char if char.isprintable() else " " for char in text).replace("|", "\\|").replace("`", "'")


def without_direction_marks(text: str) -> str:
    """Text with its marks of direction as codes, such as [U+202E], so that it cannot turn what follows around."""
    return SOME_MARK.sub(lambda mark: DIRECTION_MARKS[ord(mark.group())], text)
