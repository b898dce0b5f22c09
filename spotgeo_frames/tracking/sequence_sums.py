"""The table `sums` of a result: what each sequence adds up to, a column a sum.

A sum that there is for each alpha of HOTA has a column for each, such as `hota_tp_0.05`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..matching.alignment import Aligned, sequence_attributes
from ..scoring.match_sums import NamedSums
from ..tables.columns import Columns, dataframe_of
from ..tables.schema import PREFIXES
from .metrics.hota import ALPHAS, HOTA_COUNTS, HOTA_WEIGHTED

if TYPE_CHECKING:
    import pandas as pd

# The columns of each sum that there is for each alpha.
AT_ALPHAS = {name: [f"{name}_{alpha:.2f}" for alpha in ALPHAS] for name in [*HOTA_COUNTS, *HOTA_WEIGHTED]}


def sums_columns(names: Iterable[str]) -> list[str]:
    """The columns that these sums have in a table `sums`."""
    return [column for name in names for column in AT_ALPHAS.get(name, [name])]


def sums_table(aligned: Aligned, labels: Columns, values: NamedSums) -> pd.DataFrame:
    """The table `sums` of these sums (rows,) or (rows, alphas).

    `labels` have the key of each row, `sequence` and perhaps `joint` or `category`, sorted by sequence, to which the
    attributes of the sequences are added.
    """
    import pandas as pd

    attributes = sequence_attributes(aligned, labels["sequence"])
    key = labels.assign({f"{PREFIXES['sequences']}{name}": rows for name, rows in attributes.items()})
    matrix = np.column_stack([np.asarray(rows, np.float64) for rows in values.values()])
    return pd.concat([dataframe_of(key), pd.DataFrame(matrix, columns=sums_columns(values), copy=False)], axis=1)


def group_totals(sums: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """The sums (rows, ...) added up by group, (groups, ...), in the order of the rows."""
    if n_groups == 1:
        return sums.sum(axis=0, keepdims=True)
    totals = np.zeros((n_groups, *sums.shape[1:]), sums.dtype)
    np.add.at(totals, group, sums)
    return totals


def sums_of_table(table: pd.DataFrame, names: Iterable[str]) -> dict[str, np.ndarray]:
    """The named sums of a table `sums`, each (rows,) or (rows, alphas)."""
    # Sums are rounded by the order in which memory holds them, so it is the same whatever a table is made of.
    return {name: np.ascontiguousarray(table[AT_ALPHAS.get(name, name)].to_numpy(np.float64)) for name in names}
