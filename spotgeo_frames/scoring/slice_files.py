"""The names of files for summaries by column."""

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from ..support.labels import bins_as_text
from ..support.names import plain_value


def slice_files(by_slice: Mapping[tuple[str, ...], pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The names of files for summaries by columns, and the tables, as `slice_file` has them."""
    return dict(slice_file(columns, table) for columns, table in by_slice.items())


def slice_file(columns: Sequence[str], table: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """The name of a file for a summary by columns, and the table; bins as text, which every reader understands."""
    table = bins_as_text(table)
    odd = [column for column in columns if not pd.api.types.is_any_real_numeric_dtype(table[column].dtype)]
    name = "_".join(["by", *map(_file_name, columns)])
    return name, table.assign(**{column: table[column].map(plain_value) for column in odd})


def _file_name(column: str) -> str:
    """The column's name with what no file's name may hold as %XX, so that no two columns share one."""
    return re.sub(r'[\x00-\x1f/\\:*?"<>|%]', lambda found: f"%{ord(found[0]):02x}", column)
