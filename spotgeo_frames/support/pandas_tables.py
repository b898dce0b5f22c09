"""Tables of pandas: what its versions do differently, and how results of several tables show as text and as HTML.

pandas 3 gives text a type of its own, "str". pandas 2.3 has that type, too, but by default it keeps text as Python
objects and takes "str" to mean such objects, among which a null becomes the text "nan". So this package never asks for
"str" by name, and columns of objects that are all text get the type TEXT where tables come in.

IPython, and so Jupyter, shows HTML of a table; it is never imported unless it runs already.
"""

import sys
from collections.abc import Sequence
from html import escape
from typing import Any, Protocol

import numpy as np
import pandas as pd

from .texts import DASH

# Whether pandas copies shared memory before it changes a table. With pandas 2.3, a table that shares its memory with
# another would change it, too, and one that shares it with Arrow could not be changed. (A user may switch copying on
# there, but also off again.)
COPIES_ON_WRITE = int(pd.__version__.partition(".")[0]) >= 3

TEXT = pd.StringDtype(na_value=np.nan)


def own_copy(table: pd.DataFrame) -> pd.DataFrame:
    """A copy of a table that does not change with it, and that takes memory only where it has to."""
    return table.copy(deep=not COPIES_ON_WRITE)


def as_text(values: pd.Series) -> pd.Series:
    """A column of Python objects that are text or null, at least one of them text, as text; any other as it is.

    >>> str(as_text(pd.Series(["a", None], dtype=object)).dtype), str(as_text(pd.Series([1, "a"], dtype=object)).dtype)
    ('str', 'object')
    """
    if values.dtype != object or (len(values) and isinstance(values.iloc[0], list | tuple | dict | np.ndarray)):
        return values  # without a look at each cell
    if pd.api.types.infer_dtype(values, skipna=True) != "string":
        return values
    try:
        return values.astype(TEXT)
    except UnicodeEncodeError:  # half a surrogate pair, which is no text and which the type cannot hold
        return values


def with_text(table: pd.DataFrame) -> pd.DataFrame:
    """A table with its columns of Python objects that are text as text; the table itself where there are none."""
    kinds = zip(table.columns, table.dtypes, strict=True)  # which is much faster than to look at each column
    columns = {name: as_text(table[name]) for name, kind in kinds if isinstance(kind, np.dtype) and kind.hasobject}
    changed = {name: values for name, values in columns.items() if values.dtype == TEXT}
    return table.assign(**changed) if changed else table


def html_formatter() -> Any | None:
    """IPython's registry of functions that write objects as HTML; None outside IPython."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython  # it is loaded already

    shell = get_ipython()
    return shell.display_formatter.formatters["text/html"] if shell and shell.display_formatter else None


def html_of(table: Any) -> str | None:
    """The HTML of a table as a notebook shows it; None if pandas' options or the table's type give none."""
    formatter = html_formatter()
    if formatter is not None:
        try:
            return formatter.lookup(table)(table)
        except KeyError:  # no function is registered for this type of table
            pass
    written = getattr(table, "_repr_html_", None)
    return None if written is None else written()


# The most rows of a headline.
MOST_ROWS = 3


class Tables(Protocol):
    """A result of several tables, such as a NamedTuple of them."""

    def _asdict(self) -> dict[str, Any]: ...


def headline(table: Any, names: Sequence[str], null: Sequence[str] = ()) -> list[str]:
    """The first rows of a table as lines such as `HOTA 0.7238, MOTA 0.878`.

    `names` are the columns to show if the table has them. Only rows count in which the columns `null` are null. There
    are no lines if it is no table.
    """
    if not isinstance(table, pd.DataFrame):
        if not hasattr(table, "__arrow_c_stream__"):
            return []
        import pyarrow as pa  # it is loaded already, since the table is not of pandas

        arrow = pa.table(table)
        table = arrow.select([name for name in dict.fromkeys([*names, *null]) if name in arrow.column_names])
        table = table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    rows = table[table[[name for name in null if name in table]].isna().all(axis=1)]
    known = [name for name in names if name in table]
    records = rows[known].head(MOST_ROWS).to_dict("records") if known else []
    return [", ".join(f"{name} {_short(value)}" for name, value in row.items()) for row in records]


def result_as_text(result: Tables, lines: Sequence[str] = ()) -> str:
    """The name of the result, the lines of its headline, and a line for each table with its name and size."""
    tables = result._asdict()
    width = max(map(len, tables))
    sizes = [f"{name:<{width}}  {_size(table)}" for name, table in tables.items()]
    return "\n  ".join([type(result).__name__, *lines, *sizes])


def result_as_html(result: Tables, lines: Sequence[str] = ()) -> str | None:
    """The name of the result, its headline, and the HTML of each table under its name.

    None if a table has no HTML, for example because the option `display.notebook_repr_html` of pandas is off. A
    notebook then shows the text.
    """
    blocks = ["<br>".join([f"<b>{type(result).__name__}</b>", *map(escape, lines)])]
    for name, table in result._asdict().items():
        shown = f"<p>{_size(table)}</p>" if table is None else html_of(table)
        if shown is None:
            return None
        blocks.append(f"<p><b>{name}</b></p>\n{shown}")
    return "<div>\n" + "\n".join(blocks) + "\n</div>"


def _size(table: Any) -> str:
    """The size of a table as text, such as `3 rows × 5 columns`; `none` for None."""
    if table is None:
        return "none"
    shape = getattr(table, "shape", None)
    return type(table).__name__ if shape is None else f"{shape[0]:,} rows × {shape[1]:,} columns"


def _short(value: Any) -> str:
    """A value with at most four digits; a dash for null."""
    if pd.isna(value):
        return DASH
    return f"{value:.4g}" if isinstance(value, float) else str(value)
