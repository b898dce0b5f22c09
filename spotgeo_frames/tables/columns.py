"""Columns: a table as equally long arrays by name, which matching and scoring work on.

DataFrames are taken apart where tables come in (`columns_of`), and made where tables leave (`dataframe_of`). So
reading, matching and scoring files needs no pandas, which takes longer to import than most evaluations take.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from ..support import coded_text


class DeferredText:
    """A column of text that becomes an array of pandas only where somebody asks for it, since that imports pandas.

    `values` (N,) are text of Python, None for null. Where there are `names`, all of them distinct, they are positions
    among these, -1 for null, and the array is a categorical one. Tables that share the column share its array, too.
    """

    __slots__ = ("made", "names", "values")

    def __init__(self, values: np.ndarray, names: tuple[str, ...] | None = None):
        self.values = values
        self.names = names
        self.made: Any = None

    @classmethod
    def of(cls, values: Sequence[str | None]) -> DeferredText:
        """A column of this text, None for null."""
        column = np.empty(len(values), object)
        column[:] = values
        return cls(column)

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: np.ndarray) -> DeferredText:
        """The text of the rows at these positions."""
        return DeferredText(self.values.take(rows), self.names)

    def tolist(self) -> list[str | None]:
        """The text of each row, None for null."""
        if self.names is None:
            return list(self.values)
        return [None if code < 0 else self.names[code] for code in self.values.tolist()]

    def array(self) -> Any:
        """The text as an array of pandas."""
        if self.made is None:
            import pandas as pd

            from ..support import pandas_tables

            if self.names is None:
                self.made = pd.array(self.values, dtype=pandas_tables.TEXT)
            else:
                kind = pd.CategoricalDtype(pd.Index(list(self.names), dtype=pandas_tables.TEXT))
                self.made = pd.Categorical.from_codes(self.values, dtype=kind, validate=False)
        return self.made


class Columns:
    """Equally long arrays by name, with the notes of a table in `attrs`.

    Flags, numbers and Python objects are NumPy arrays. Everything else (strings, categories, times, integers with
    nulls) is an array of pandas; text may be a `DeferredText` until somebody asks for it. `text_codes` are the numbers
    of those columns of text that have been numbered already, in the order of the text, and `numbers` those in the order
    of the rows; they are dropped where rows are taken.
    """

    __slots__ = ("attrs", "n_rows", "numbers", "stored", "text_codes")

    def __init__(
        self,
        arrays: Mapping[str, Any],
        attrs: Mapping[Hashable, Any] | None = None,
        n_rows: int | None = None,
        text_codes: Mapping[str, coded_text.TextCodes] | None = None,
    ):
        self.stored = dict(arrays)
        self.attrs = {} if attrs is None else dict(attrs)
        self.text_codes = {} if text_codes is None else dict(text_codes)
        self.n_rows = len(next(iter(self.stored.values()))) if n_rows is None else n_rows
        self.numbers: dict[str, tuple[np.ndarray, Any]] = {}

    def __len__(self) -> int:
        return self.n_rows

    def __iter__(self) -> Iterator[str]:
        return iter(self.stored)

    def __contains__(self, name: object) -> bool:
        return name in self.stored

    def __getitem__(self, name: str) -> Any:
        values = self.stored[name]
        if isinstance(values, DeferredText):
            values = self.stored[name] = values.array()
        return values

    @property
    def arrays(self) -> dict[str, Any]:
        """The columns by name, with all text as arrays of pandas."""
        return {name: self[name] for name in self.stored}

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.stored)

    def numbered(self, name: str) -> tuple[np.ndarray, Any]:
        """A column's values as positions (N,) among the distinct ones, in the order they appear; -1 for null.

        `numbers` keeps them, so that a column is numbered once.
        """
        if name not in self.numbers:
            import pandas as pd

            self.numbers[name] = pd.factorize(self[name])
        return self.numbers[name]

    def take(self, rows: np.ndarray) -> Columns:
        """The rows at these positions."""
        return Columns({name: values.take(rows) for name, values in self.stored.items()}, self.attrs, len(rows))

    def filter(self, marked: np.ndarray) -> Columns:
        """The marked rows; the table itself where all rows are marked."""
        return self if marked.all() else self.take(np.flatnonzero(marked))

    def select(self, names: Sequence[str]) -> Columns:
        """The table with only these columns."""
        codes = {name: codes for name, codes in self.text_codes.items() if name in names}
        return Columns({name: self.stored[name] for name in names}, self.attrs, self.n_rows, codes)

    def assign(self, arrays: Mapping[str, Any]) -> Columns:
        """The table with these columns added, or in place of those of the same name."""
        codes = {name: codes for name, codes in self.text_codes.items() if name not in arrays}
        return Columns(self.stored | dict(arrays), self.attrs, self.n_rows, codes)

    def records(self) -> list[dict[str, Any]]:
        """The rows as dicts of plain values; null is None, NaN or what pandas has for it."""
        values = [column.tolist() for column in self.stored.values()]
        return [dict(zip(self.stored, row, strict=True)) for row in zip(*values, strict=True)]


def columns_of(table: pd.DataFrame | Columns) -> Columns:
    """The columns of a DataFrame, which share its memory unless it is wide; Columns are returned as they are."""
    if isinstance(table, Columns):
        return table
    from ..support import pandas_tables

    if is_wide(table.columns, len(table)):
        return Columns(_of_wide(table), table.attrs, len(table))
    names, arrays = map(str, pandas_tables.names_of(table)), pandas_tables.column_arrays(table)
    return Columns(dict(zip(names, arrays, strict=True)), table.attrs, len(table))


def _of_wide(table: pd.DataFrame) -> dict[str, Any]:
    """The arrays of a wide table by name."""
    bare = table.copy(deep=False)
    bare.attrs = {}  # of which pandas would make a copy for each column
    arrays = _numbers_side_by_side(bare)
    others = bare[[name for name in bare.columns if name not in arrays]] if arrays else bare
    arrays |= {str(name): array_of(values) for name, values in others.items()}
    return {str(name): arrays[name] for name in bare.columns}


def _numbers_side_by_side(table: pd.DataFrame) -> dict[str, np.ndarray]:
    """The flags and numbers of a wide table: pandas gives those of one type together in no time, and one by one not."""
    names, kinds = table.columns.to_numpy(object), table.dtypes.to_numpy()
    arrays: dict[str, np.ndarray] = {}
    for kind in {kind for kind in kinds if isinstance(kind, np.dtype) and kind.kind in "biuf"}:
        of_kind = np.array([other == kind for other in kinds])
        together = np.ascontiguousarray(table.loc[:, of_kind].to_numpy().T)
        arrays |= dict(zip(map(str, names[of_kind]), together, strict=True))
    return arrays


def array_of(values: Any) -> Any:
    """A Series as the array that Columns hold; an array is returned as it is."""
    if isinstance(values, np.ndarray) or not hasattr(values, "array"):
        return values
    from ..support import pandas_tables

    return values.to_numpy() if pandas_tables.is_numpy(values.dtype) else values.array


def is_wide(columns: Collection[str], n_rows: int) -> bool:
    """Whether a table has more columns than rows; pandas handles it faster once it has copied them side by side."""
    return len(columns) > max(n_rows, 100)


def dataframe_of(columns: pd.DataFrame | Columns) -> pd.DataFrame:
    """A DataFrame with these columns, sharing their memory unless it is wide; a DataFrame is returned as it is."""
    if not isinstance(columns, Columns):
        return columns
    from ..support import pandas_tables

    frame = pandas_tables.table_of_arrays(columns.arrays, len(columns), copy=is_wide(columns.arrays, len(columns)))
    frame.attrs = columns.attrs
    return frame


def coded(codes: np.ndarray, names: Sequence[str]) -> pd.Categorical:
    """A categorical column of these names; its codes are positions among them, or -1 for null."""
    import pandas as pd

    return pd.Categorical.from_codes(codes, dtype=_categories(tuple(names)), validate=False)


@cache
def _categories(names: tuple[str, ...]) -> pd.CategoricalDtype:
    """The type of such columns; kept, because pandas takes longer to make it than a small evaluation takes."""
    import pandas as pd

    return pd.CategoricalDtype(list(names))


def as_numbers(values: Any) -> np.ndarray:
    """A column of numbers (an array, or a Series) as float64, null as NaN."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        return values.astype(np.float64, copy=False)
    import pandas as pd

    return pd.Series(values, copy=False).to_numpy(np.float64, na_value=np.nan)


def null_rows(values: Any) -> np.ndarray:
    """Marks the null values of an array of NumPy or pandas, or of a Series."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
    import pandas as pd

    return np.asarray(pd.isna(values))


def rows_with_null(columns: Mapping[str, Any], n_rows: int) -> np.ndarray:
    """Marks the rows that are null in any of the columns, (n_rows,)."""
    null = np.zeros(n_rows, bool)
    for values in columns.values():
        null |= null_rows(values)
    return null


def joined(parts: Sequence[Any]) -> Any:
    """The values of several columns of one type, one column after the other, as an array."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    import pandas as pd

    return array_of(pd.concat([pd.Series(part, copy=False) for part in parts], ignore_index=True))


def among(values: Any, names: Collection[Any]) -> np.ndarray:
    """Marks the values of a column that are among the names."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and all(isinstance(name, int) for name in names):
        known = np.iinfo(values.dtype)  # of another type, NumPy may compare both as float64
        return np.isin(values, np.array([name for name in names if known.min <= name <= known.max], values.dtype))
    import pandas as pd

    return pd.Series(values, copy=False).isin(list(names)).to_numpy(bool)


def first_values(values: Iterable[Any], most: int) -> list[str]:
    """The first few distinct values of a column, as text."""
    found: dict[str, None] = {}
    for value in values:
        found[str(value)] = None
        if len(found) == most:
            break
    return list(found)
