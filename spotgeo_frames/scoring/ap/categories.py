"""The categories of both sides, and what the truth's table of categories says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...matching import Aligned, alignment
from ...support import InputError, arrays
from ...tables import DeferredText, array_of


class Named(NamedTuple):
    """The category of each truth (G,) and of each prediction (P,), as positions in the K names.

    The names are a single null where a side has no categories.
    """

    of_truth: np.ndarray
    of_predictions: np.ndarray
    names: Any


def categories_of(aligned: Aligned) -> Named:
    """The categories of aligned sides, sorted, as pycocotools sorts its ids: the order in which means add up.

    If the truth's categories are of a categorical type, the names are all of that type, in its order, then others.
    """
    sides, unnamed = (aligned.truth, aligned.predictions), np.array([None], object)
    if aligned.truth.category is None or aligned.predictions.category is None:
        alone = [np.zeros(len(side.frame), np.int64) for side in sides]
        return Named(alone[0], alone[1], unnamed)
    # Rows of equal numbers are of one category, so a single one of them tells its name: rows are many, and names text.
    numbered = [arrays.grouped(side.category) for side in sides if side.category is not None]
    firsts = [side.table.stored["category"].take(first) for side, (_, first) in zip(sides, numbered, strict=True)]
    alike = _plain_names(firsts[0], firsts[1])
    if alike is not None:
        of_truth, of_predictions = (place.take(of) for place, (of, _) in zip(alike[:2], numbered, strict=True))
        return Named(of_truth, of_predictions, alike.names)
    import pandas as pd

    from ...support import pandas_tables
    from ...tables import checks

    columns = [
        pd.Series(side.table["category"], copy=False).iloc[first]
        for side, (_, first) in zip(sides, numbered, strict=True)
    ]
    listed = getattr(columns[0].dtype, "categories", pd.Index([]))
    plain = [checks.decoded(column) for column in columns]
    appear = [column.iloc[np.argsort(first)] for column, (_, first) in zip(plain, numbered, strict=True)]
    filled = [column for column in appear if len(column)] or appear[:1]
    others = pd.Index(pd.concat(filled, ignore_index=True).dropna().unique()).difference(listed, sort=False)
    others = others.take(_sorted(others))
    names = listed.append(others) if len(listed) else others
    if not len(names):  # there are only crowds of any category
        return Named(np.zeros(len(numbered[0][0]), np.int64), np.zeros(0, np.int64), unnamed)
    of_truth, of_predictions = (
        names.get_indexer(pd.Index(column)).take(number) for column, (number, _) in zip(plain, numbered, strict=True)
    )
    of_truth = np.maximum(of_truth, 0)  # a crowd of any category counts in none
    return Named(of_truth, of_predictions, array_of(pandas_tables.as_text(names.to_series())))


def _plain_names(truth: Any, predictions: Any) -> Named | None:
    """The names of both sides where all are whole numbers, or all text without nulls; None elsewhere."""
    sides = truth, predictions
    if all(isinstance(values, np.ndarray) and values.dtype == np.int64 for values in sides):
        known = np.unique(np.concatenate([truth, predictions]))
        return Named(np.searchsorted(known, truth), np.searchsorted(known, predictions), known) if len(known) else None
    texts = [of for values in sides if (of := _texts(values)) is not None]
    if len(texts) < len(sides):
        return None
    listed, occurring = _listed_names(truth), {*texts[0], *texts[1]}
    names = sorted(occurring - {-1}) if listed is None else listed
    place = {name: position for position, name in enumerate(names)}
    if not names or not all(name in place for name in occurring):
        return None
    of_truth, of_predictions = (np.array([place[name] for name in of], np.int64) for of in texts)
    return Named(of_truth, of_predictions, np.array(names, object))


def _listed_names(values: Any) -> list[str] | None:
    """The categories that a column of text lists, in their order; None where it lists none."""
    if isinstance(values, DeferredText):
        return None if values.names is None else [*values.names]
    listed = getattr(values.dtype, "categories", None)
    return None if listed is None else listed.tolist()


def _texts(values: Any) -> list[Any] | None:
    """The values of a column of text, or of categories of text; -1 for null. None for all other columns."""
    if isinstance(values, DeferredText):
        return [-1 if one is None else one for one in values.tolist()]
    from ...support import pandas_tables

    listed = getattr(values.dtype, "categories", None)
    if (values.dtype if listed is None else listed.dtype) != pandas_tables.TEXT:
        return None
    if listed is not None:
        return [listed[code] if code >= 0 else -1 for code in values.codes.tolist()]
    return [one if isinstance(one, str) else -1 for one in values]


def column_of(names: Any) -> Any:
    """The names of categories as a column of `Columns`; text is deferred."""
    is_text = isinstance(names, np.ndarray) and all(name is None or isinstance(name, str) for name in names)
    return DeferredText(names) if is_text and len(names) else names


def _sorted(names: Any) -> list[int]:
    """The positions of names in their order: numbers, then text."""
    return sorted(range(len(names)), key=lambda place: (isinstance(names[place], str), names[place]))


def attribute_of(aligned: Aligned, names: Any, column: str) -> np.ndarray | None:
    """A column of the truth's table of categories, (K,), null for categories that it does not list; None without it."""
    table = aligned.categories
    if table is None or column not in table:
        return None
    import pandas as pd

    from ...tables import checks

    listed = pd.Series(array_of(table[column]), pd.Index(checks.decoded(pd.Series(table["category"]))))
    return listed.reindex(pd.Index(names)).to_numpy(object)


def with_parents(aligned: Aligned) -> Aligned:
    """The same sides, where each truth also stands in every category that its own is a kind of, once each.

    These are the parents in the truth's table of categories, and theirs. Raises InputError where a category is its own
    ancestor. Without a column `parent` nothing changes.
    """
    table, truth = aligned.categories, aligned.truth
    if table is None or "parent" not in table or "category" not in truth.table:
        return aligned
    import pandas as pd

    from ...tables import checks

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
