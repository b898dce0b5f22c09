"""The categories of both sides, and what the truth's table of categories says of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...matching import Aligned
from ...tables import array_of, checks


class Named(NamedTuple):
    """The category of each truth (G,) and of each prediction (P,), as positions in the K names.

    The names are a single null where a side has no categories.
    """

    of_truth: np.ndarray
    of_predictions: np.ndarray
    names: Any


def categories_of(aligned: Aligned) -> Named:
    """The categories of aligned sides.

    If the truth's categories are of a categorical type, the names are all of that type, in its order, then others.
    """
    import pandas as pd

    from ...support import pandas_tables

    sides, unnamed = (aligned.truth, aligned.predictions), array_of(pd.Series([None], dtype=pandas_tables.TEXT))
    if aligned.truth.category is None or aligned.predictions.category is None:
        alone = [np.zeros(len(side.frame), np.int64) for side in sides]
        return Named(alone[0], alone[1], unnamed)
    columns = [pd.Series(side.table["category"], copy=False) for side in sides]
    listed = getattr(columns[0].dtype, "categories", pd.Index([]))
    plain = [checks.decoded(column) for column in columns]
    filled = [column for column in plain if len(column)] or plain[:1]
    others = pd.Index(pd.concat(filled, ignore_index=True).dropna().unique()).difference(listed)
    names = listed.append(others) if len(listed) else others
    if not len(names):  # there are only crowds of any category
        return Named(np.zeros(len(plain[0]), np.int64), np.zeros(0, np.int64), unnamed)
    of_truth, of_predictions = (names.get_indexer(pd.Index(column)) for column in plain)
    of_truth = np.maximum(of_truth, 0)  # a crowd of any category counts in none
    return Named(of_truth, of_predictions, array_of(pandas_tables.as_text(names.to_series())))


def attribute_of(aligned: Aligned, names: Any, column: str) -> np.ndarray | None:
    """A column of the truth's table of categories, (K,), null for categories that it does not list; None without it."""
    import pandas as pd

    table = aligned.categories
    if table is None or column not in table:
        return None
    listed = pd.Series(array_of(table[column]), pd.Index(checks.decoded(pd.Series(table["category"]))))
    return listed.reindex(pd.Index(names)).to_numpy(object)
