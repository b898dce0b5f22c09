"""The categories of both sides, and what the truth's table of categories says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...matching import Aligned, alignment
from ...support import InputError
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


def with_parents(aligned: Aligned) -> Aligned:
    """The same sides, where each truth also stands in every category that its own is a kind of, once each.

    These are the parents in the truth's table of categories, and theirs. Raises InputError where a category is its own
    ancestor. Without a column `parent` nothing changes.
    """
    import pandas as pd

    table, truth = aligned.categories, aligned.truth
    if table is None or "parent" not in table or "category" not in truth.table:
        return aligned
    parents = dict(zip(checks.decoded(pd.Series(table["category"])), array_of(table["parent"]), strict=True))
    category = checks.decoded(pd.Series(truth.table["category"]))
    above = {name: _ancestors(name, parents) for name in category.dropna().unique()}
    if not any(above.values()):
        return aligned
    several = [[name, *above.get(name, ())] for name in category]
    row = np.repeat(np.arange(len(several)), [len(one) for one in several])
    names = pd.Series([name for one in several for name in one], dtype=category.dtype)
    return alignment.with_truths(aligned, row, names.array)


def _ancestors(name: Any, parents: Mapping[Any, Any]) -> list[Any]:
    """The categories that one is a kind of, the nearest first."""
    found: dict[Any, None] = {}
    waiting = [*_parents_of(name, parents)]
    while waiting:
        one = waiting.pop(0)
        if one == name:
            raise InputError(f"truth categories: column parent: {name!r} is its own ancestor")
        if one not in found:
            found[one] = None
            waiting += _parents_of(one, parents)
    return [*found]


def _parents_of(name: Any, parents: Mapping[Any, Any]) -> Sequence[Any]:
    """The parents of a category: one, or a list of several."""
    import pandas as pd

    given = parents.get(name)
    if isinstance(given, list | tuple | np.ndarray):
        return [*given]
    return () if pd.isna(given) else (given,)
