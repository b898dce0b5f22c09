"""Match tables as Columns, in which `outcome` holds codes (TP, FN, FP or EMPTY), and as DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .columns import Columns, coded, columns_of, dataframe_of
from .schema import OUTCOMES

if TYPE_CHECKING:
    import pandas as pd


def match_columns(table: pd.DataFrame | Columns) -> Columns:
    """The columns of a match table that `check_matches` returned; Columns are returned as they are."""
    if isinstance(table, Columns):
        return table
    columns = columns_of(table)
    return columns.assign({"outcome": columns["outcome"].codes})


def match_dataframe(columns: Columns) -> pd.DataFrame:
    """A match table as a DataFrame, in which `outcome` is categorical."""
    return dataframe_of(columns.assign({"outcome": coded(columns["outcome"], OUTCOMES)}))
