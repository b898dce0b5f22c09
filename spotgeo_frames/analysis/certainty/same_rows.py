"""Whether two submissions claim the very same, row by row: they are then one detector as far as anybody can see."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from ...scoring.ap.result import AveragePrecision
from ...scoring.evaluations import asked_table, is_result
from ...support.arrays import ordinals, pack
from ...support.pandas_tables import TEXT
from ...tables.checks import decoded
from ...tables.schema import FILE_ORDER
from ...tables.selections import without_sequences
from ...tables.table import Table

# What tells a submission from others in tables of several, and the places of rows in a file.
NAMES = ("submission", FILE_ORDER)

# The names of single predictions, which count only where they are followed through a sequence.
IDENTITIES = ("object", "predicted_object")


def same_rows(
    a: Table | NamedTuple | AveragePrecision,
    b: Table | NamedTuple | AveragePrecision,
    exclude: Sequence[int | str] | None = None,
) -> bool:
    """Whether two submissions to the same truth have the same rows, whatever their order.

    `a` and `b` are match tables, or what `track`, `pose` or `average_precision` returned; `exclude` are checked
    sequences to leave out. All columns count, but for a column `submission` and the order of files; of detections also
    but for the names of predicted objects. Raises InputError if one is neither.
    """
    return all(
        _are_same(without_sequences(of_a, exclude), without_sequences(of_b, exclude))
        for of_a, of_b in zip(_tables(a), _tables(b), strict=True)
    )


def _tables(x: Any) -> list[pd.DataFrame]:
    """What a submission claims, and about what: its match table, or the two sides of an average precision."""
    if isinstance(x, AveragePrecision):
        aligned = x.matched.detections.aligned
        sides = aligned.truth.table, aligned.predictions.table
        return [_counting(pd.DataFrame(side.arrays, copy=False), IDENTITIES) for side in sides]
    return [_counting(asked_table(x, "rows").matches, () if is_result(x) else IDENTITIES)]


def _counting(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The columns of a table that count."""
    return table.drop(columns=[*NAMES, *names], errors="ignore")


def _are_same(a: pd.DataFrame, b: pd.DataFrame) -> bool:
    """Whether two tables have the same columns and rows, whatever their order."""
    if len(a) != len(b) or {*a.columns} != {*b.columns}:
        return False
    b = b[a.columns]
    return bool(a.reset_index(drop=True).equals(b.reset_index(drop=True))) or _are_same_sorted(a, b)


def _are_same_sorted(a: pd.DataFrame, b: pd.DataFrame) -> bool:
    """The same of equally long tables with the same columns, whose rows are numbered and sorted."""
    codes, spans = [], []
    for name in a:
        sides = [_plain(of[name]) for of in (a, b)]
        if sides[0].dtype != sides[1].dtype and not all(is_numeric_dtype(side.dtype) for side in sides):
            return False
        of_sides, span = ordinals(sides)
        if not _are_permuted(*of_sides):  # mostly the first columns tell
            return False
        codes.append(np.concatenate(of_sides))
        spans.append(span)
    return not codes or _are_permuted(*np.split(pack(codes, spans), 2))


def _plain(values: pd.Series) -> pd.Series:
    """A column of numbers, or of text for everything else."""
    plain = decoded(values).infer_objects()
    return plain if is_numeric_dtype(plain.dtype) else plain.astype(TEXT)


def _are_permuted(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have the same values, each as often."""
    return bool(np.array_equal(np.sort(a), np.sort(b)))
