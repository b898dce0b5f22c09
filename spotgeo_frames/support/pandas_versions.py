"""What pandas 2.3 and pandas 3 do differently: the type of text, and when tables share memory.

pandas 3 gives text a type of its own, "str". pandas 2.3 has that type, too, but by default it keeps text as Python
objects and takes "str" to mean such objects, among which a null becomes the text "nan". So this package never asks for
"str" by name, and columns of objects that are all text get the type TEXT where tables come in.
"""

import numpy as np
import pandas as pd

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
    if values.dtype != object or pd.api.types.infer_dtype(values, skipna=True) != "string":
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
