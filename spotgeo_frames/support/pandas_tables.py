"""Tables of pandas: what its versions do differently, and how IPython shows them.

pandas 3 gives text a type of its own, "str". pandas 2.3 has that type, too, but by default it keeps text as Python
objects and takes "str" to mean such objects, among which a null becomes the text "nan". So this package never asks for
"str" by name, and columns of objects that are all text get the type TEXT where tables come in.

IPython, and so Jupyter, shows HTML of a table; it is never imported unless it runs already.
"""

import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

try:  # pandas 3 offers it to other libraries; pyarrow makes its tables by it
    from pandas.api.internals import create_dataframe_from_blocks  # type: ignore[import-not-found]
except ImportError:
    create_dataframe_from_blocks = None

# Whether pandas copies shared memory before it changes a table. With pandas 2.3, a table that shares its memory with
# another would change it, too, and one that shares it with Arrow could not be changed. (A user may switch copying on
# there, but also off again.)
COPIES_ON_WRITE = int(pd.__version__.partition(".")[0]) >= 3

TEXT = pd.StringDtype(na_value=np.nan)

# The kinds of NumPy types whose values are kept in NumPy's own arrays: flags, numbers, and Python objects.
NUMPY_KINDS = "biufO"


def own_copy(table: pd.DataFrame) -> pd.DataFrame:
    """A copy of a table that does not change with it, and that takes memory only where it has to."""
    return table.copy(deep=not COPIES_ON_WRITE)


def column_arrays(table: pd.DataFrame) -> list[Any]:
    """The arrays of a table's columns, which share its memory: flags, numbers and objects of NumPy, others of pandas.

    A Series of each column would take ten times as long, which is most of the time of a small evaluation.
    """
    if not hasattr(table, "_iter_column_arrays"):  # pandas does not document it
        return [values.to_numpy() if is_numpy(values.dtype) else values.array for _, values in table.items()]
    return [_given_out(values) for values in _stored(table)]


def _given_out(values: Any) -> Any:
    """An array as pandas gives it out: where it copies before it changes a table, nobody else may write to it."""
    view = values.view() if COPIES_ON_WRITE else values
    if isinstance(view, np.ndarray):
        if COPIES_ON_WRITE:
            view.flags.writeable = False
        return view if view.dtype.kind in NUMPY_KINDS else pd.arrays.NumpyExtensionArray(view)
    if COPIES_ON_WRITE:
        view._readonly = True
    return view


def is_numpy(kind: Any) -> bool:
    """Whether values of a type are kept in NumPy's own arrays."""
    return isinstance(kind, np.dtype) and kind.kind in NUMPY_KINDS


def names_of(table: pd.DataFrame) -> list[Any]:
    """The names of a table's columns, a list; of text several times faster than pandas makes one."""
    columns: Any = table.columns
    is_text = columns.dtype == TEXT and not columns.hasnans
    names: list[Any] = columns.array.__arrow_array__().to_pylist() if is_text else columns.tolist()
    return names


def kinds_of(table: pd.DataFrame) -> dict[Any, Any]:
    """The type of each column by its name, found out faster than by `dtypes`, which is a Series."""
    names = names_of(table)
    if not hasattr(table, "_iter_column_arrays"):
        return dict(zip(names, table.dtypes.tolist(), strict=True))
    return dict(zip(names, (values.dtype for values in _stored(table)), strict=True))


def _stored(table: Any) -> Iterator[Any]:
    """The arrays of a table's columns as pandas stores them."""
    arrays: Iterator[Any] = table._iter_column_arrays()
    return arrays


def table_of_arrays(arrays: Mapping[str, Any], n_rows: int, *, copy: bool = False) -> pd.DataFrame:
    """A table of one-dimensional arrays of NumPy and of pandas, sharing their memory unless they are to be copied."""
    if create_dataframe_from_blocks is not None and arrays and not copy and all(map(_is_block, arrays.values())):
        blocks = [
            (values[None] if isinstance(values, np.ndarray) else values, np.array([place]))
            for place, values in enumerate(arrays.values())
        ]
        # A view, since whoever gives the index of the columns a name would name that of all tables.
        names = _index_of(tuple(arrays)).view()
        return create_dataframe_from_blocks(blocks, index=pd.RangeIndex(n_rows), columns=names)
    index = pd.RangeIndex(n_rows)
    # With its type given, pandas 3 does not make text of objects that happen to be text in these rows. A Series of any
    # other column would take ten times as long as its array.
    columns = {
        name: pd.Series(values, index, object, copy=False) if values.dtype == object else values
        for name, values in arrays.items()
    }
    return pd.DataFrame(columns, index, copy=copy)


def _is_block(values: Any) -> bool:
    """Whether pandas keeps an array in a table as it is."""
    if isinstance(values, np.ndarray):
        return is_numpy(values.dtype) and type(values) is np.ndarray
    return isinstance(values, pd.api.extensions.ExtensionArray) and not isinstance(
        values, pd.arrays.NumpyExtensionArray
    )


@lru_cache(maxsize=256)
def _index_of(names: tuple[str, ...]) -> pd.Index:
    """The index of columns of these names; kept, because pandas takes longer to make it than all columns.

    Its type is named, since options of pandas, which may change, would decide it otherwise.
    """
    return pd.Index(list(names), dtype=TEXT)


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
    kinds = kinds_of(table).items()  # much faster than a look at each column
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
