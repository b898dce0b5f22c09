"""Names of files that hold the summary of each slice of a match table."""

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from ..support.texts import bins_as_text, plain_value


def slice_files(by_slice: Mapping[tuple[str, ...], pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Names a file for each summary; the summaries come by the columns that they are sliced by.

    Returns the tables by file name, without the suffix, with bins as text.
    """
    return dict(slice_file(columns, table) for columns, table in by_slice.items())


def slice_file(columns: Sequence[str], table: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Names the file for a summary by the given columns, and returns the table with bins as text.

    Readers of Parquet other than pandas do not know intervals, so bins are written as text, such as `12 to 47`.
    """
    table = bins_as_text(table)
    not_numeric = [column for column in columns if not pd.api.types.is_any_real_numeric_dtype(table[column].dtype)]
    name = "_".join(["by", *map(_file_name, columns)])
    return name, table.assign(**{column: table[column].map(plain_value) for column in not_numeric})


def _file_name(column: str) -> str:
    """Escapes characters that file names may not hold as %XX, so that different columns have different files."""
    return re.sub(r'[\x00-\x1f/\\:*?"<>|%]', lambda character: f"%{ord(character[0]):02x}", column)
