"""Checks that two match tables are of the same truth, whatever kind of table or file they come from."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype, is_string_dtype

from ...support.pandas_tables import TEXT
from ...tables.checks import decoded
from ...tables.messages import counted, first_keys
from ...tables.schema import FN, FP, FRAME_KEY, TP, frame_columns, measure_of


def truth_differences(function: str, tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Lists the differences between the truths of two match tables, one text each; empty where they are the same.

    `tables` has the two checked tables by name. Texts begin with the name of the calling `function`.
    """
    (name, table), (other_name, other) = tables.items()
    key = frame_columns(table)
    if key != frame_columns(other):
        return [f"{function}: {name} and {other_name}: only one of the tables has a column joint"]
    if measure_of(table) != measure_of(other):
        return [f"{function}: {name} and {other_name}: one was matched by distance, the other by similarity"]
    with_category = [label for label, matches in tables.items() if "category" in matches]
    if len(with_category) == 1 and all(_could_have_category(matches) for matches in tables.values()):
        problem = f"only {with_category[0]} was matched by category; give all predictions a column category, or none"
        return [f"{function}: {name} and {other_name}: {problem}"]
    geometry = [f"truth_{column}" for column in ("object", "x", "y", "w", "h")]
    columns = [*key, *(column for column in geometry if column in table and column in other)]
    truths = [_plain(side, columns) for side in (table, other)]
    # Mostly they come in the same order, and sorting takes most of the time.
    if truths[0].equals(truths[1]) or not any(map(len, truths)):
        return []
    truths = [side.sort_values(columns, ignore_index=True) for side in truths]
    if truths[0].equals(truths[1]):
        return []
    if not all(map(len, truths)):
        odd = pd.concat(truths)
    else:
        texts = [[is_string_dtype(side[column].dtype) for column in columns] for side in truths]
        for column, is_text, is_other_text in zip(columns, *texts, strict=True):
            if is_text != is_other_text:
                text, plain = (name, other_name) if is_text else (other_name, name)
                return [f"{function}: {text}: column {column} is text, and in {plain} it is not; make them the same"]
        # Truths without identities may be equal, so that equal ones are told apart by their count.
        of_each = [side.assign(copy=side.groupby(columns, dropna=False).cumcount()) for side in truths]
        together = of_each[0].merge(of_each[1], how="outer", indicator=True)
        odd = together.loc[together["_merge"] != "both", columns]
    problem = counted(len(odd), "truth") + f" in only one of {name} and {other_name}"
    return [f"{function}: {problem}: {first_keys(odd.convert_dtypes(), np.ones(len(odd), bool), columns)}"]


def _could_have_category(table: pd.DataFrame) -> bool:
    """Whether truths have a category here, and there are predictions, which may have one."""
    return "truth_category" in table and bool(np.isin(table["outcome"].array.codes, [TP, FP]).any())


def _plain(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The truths of a match table, with data types that are the same for every kind of table and file."""
    rows = table.loc[np.isin(table["outcome"].array.codes, [TP, FN]), columns].reset_index(drop=True)
    return pd.DataFrame({column: _plain_column(rows[column]) for column in columns})


def _plain_column(values: pd.Series) -> Any:
    """Converts a column to int64, float64 or text, so that columns of different origin can be compared.

    Key columns of whole values become int64, also where a file or a merge made them float64. Integer keys never pass
    through float64, which cannot tell integers beyond 2**53 apart. Other numeric columns become float64, all else text.
    """
    values = decoded(values).infer_objects()
    if not is_numeric_dtype(values.dtype):
        return values.astype(TEXT).array
    is_key = values.name in (*FRAME_KEY, "joint", "truth_object")
    if is_key and pd.api.types.is_integer_dtype(values.dtype) and not values.isna().any():
        return values.to_numpy(np.int64)
    floats = values.to_numpy(np.float64, na_value=np.nan)
    are_whole = is_key and np.all((floats % 1 == 0) & (np.abs(floats) < 1 << 63))
    return floats.astype(np.int64) if are_whole else floats
