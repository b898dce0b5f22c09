"""Rows of match tables, found again by their keys: those that pass `widget.filter`, and those that have tags.

The keys are sequence, frame, joint, and the objects of both sides. Of a table of suspects among the labels, each row
names objects of either side, and the rows of these pass. A tag is one text a row, given in the view or set
from a table.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...support import InputError, arrays, pandas_tables
from ...tables import ArrowStream, LazyTable, arrow, as_numbers, messages, schema
from ..drawing import drawn_tables
from .conditions import NAME, passing_condition
from .contents import Contents
from .opening import OBJECTS, SUBMISSION, Given

TAGS = "explore: tags"

# The column that tells a table of suspects, which `label_suspects` made.
SUSPICION = "suspicion"

TAKEN = "a condition as text, a filtered table, a Series of true and false, or None is needed"


def row_keys_of(contents: Contents) -> pd.DataFrame:
    """The keys of all rows; with a column `submission` where there are several match tables."""
    tables = {name: one.matches[[*schema.frame_columns(one.matches), *OBJECTS]] for name, one in contents.given.items()}
    keys = drawn_tables.together(tables)
    return keys.drop(columns="submission") if len(tables) == 1 else keys


def keys_in(table: Any, keys: pd.DataFrame, name: str) -> pd.DataFrame:
    """The keys in a table, in the types of `keys`; raises InputError, which begins with `name`, if they do not fit."""
    given = arrow.as_pandas(table, name)
    lacking = [column for column in map(str, keys) if column not in given]
    if lacking:
        raise InputError([messages.missing(name, column, given.columns, "rows are found by it") for column in lacking])
    columns = {}
    for column in map(str, keys):
        kind = keys[column].dtype
        kind = kind.categories.dtype if isinstance(kind, pd.CategoricalDtype) else kind
        columns[column] = _as_type(given[column], kind)
        if columns[column] is None:
            problem = f"column {column} is of type {given[column].dtype}; that of the match table is {kind}"
            raise InputError(f"{name}: {problem}, which cannot hold its values")
    return pd.DataFrame(columns)


def _as_type(values: pd.Series, kind: Any) -> pd.Series | None:
    """A column as another type; None if that changes or cannot hold its values."""
    try:
        answer = values.astype(kind)
    except (ValueError, TypeError):
        return None
    if pd.api.types.is_float_dtype(values.dtype) and pd.api.types.is_integer_dtype(answer.dtype):
        return answer if np.array_equal(as_numbers(values), as_numbers(answer), equal_nan=True) else None
    return answer


def packed(tables: Sequence[pd.DataFrame]) -> list[np.ndarray]:
    """One integer for each row of several tables of keys; those of equal keys are equal, and nulls equal nulls."""
    columns, spans = [], []
    for column in tables[0]:
        sides = [table[column] for table in tables]
        sides = [side.astype(side.cat.categories.dtype) if hasattr(side, "cat") else side for side in sides]
        codes, span = arrays.ordinals(sides)
        columns.append(codes)
        spans.append(span)
    return [arrays.pack(codes, spans) for codes in zip(*columns, strict=True)]


class Tags(NamedTuple):
    """The tags of rows of match tables.

    Attributes
    ----------
    of_rows
        The tag of each tagged row (in all tables).
    others
        A table of keys and tags of rows that the match tables do not have; None where there are none.
    """

    of_rows: Mapping[int, str]
    others: pd.DataFrame | None = None


def tags_table(contents: Contents, tags: Tags) -> pd.DataFrame:
    """The keys of tagged rows, in the order of the match tables, with their `tag`."""
    rows = sorted(tags.of_rows)
    table = row_keys_of(contents).take(rows).reset_index(drop=True)
    table["tag"] = pd.Series([tags.of_rows[row] for row in rows], dtype=pandas_tables.TEXT)
    table.attrs = {}
    return table if tags.others is None else pd.concat([table, tags.others], ignore_index=True)


def tags_in(contents: Contents, given: Any) -> Tags:
    """The tags in a table of keys and `tag`; raises InputError if it is none.

    Of several tags of a row, the last counts. Rows that the match tables do not have are kept.
    """
    table = arrow.as_pandas(given, TAGS)
    keys = row_keys_of(contents)
    if "tag" not in table:
        raise InputError(messages.missing(TAGS, "tag", table.columns, "each row needs one"))
    is_text = np.array([isinstance(tag, str) for tag in table["tag"].tolist()], bool)
    if not is_text.all():
        raise InputError(
            f"{TAGS}: column tag: {messages.counted(int((~is_text).sum()), 'row')} no text; leave these rows out"
        )
    named = keys_in(table, keys, TAGS)
    mine, others = packed([keys, named])
    order = np.argsort(mine, kind="stable")
    place = np.minimum(np.searchsorted(mine[order], others), len(mine) - 1)
    rows = order[place]
    is_known = mine[rows] == others
    texts = table["tag"].tolist()
    of_rows = {int(row): texts[at] for at, row in enumerate(rows) if is_known[at]}
    lost = named.assign(tag=pd.Series(texts, named.index, dtype=pandas_tables.TEXT))[~is_known]
    return Tags(of_rows, lost if len(lost) else None)


def passing_rows(contents: Contents, given: Any) -> list[np.ndarray]:
    """For each match table, which of its rows pass a filter, (rows,) each.

    Raises InputError if the filter is of no known type, or does not fit the tables.
    """
    tables = contents.given
    if isinstance(given, str):
        return passing_condition(given, {name: one.matches for name, one in tables.items()})
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in tables]
        if unknown:
            raise InputError(
                f"{NAME}: no match table has the name {unknown[0]!r}; the names are {messages.listed(tables)}"
            )
        nothing = {name: np.zeros(len(one.matches), bool) for name, one in tables.items()}
        keys = row_keys_of(contents)
        each = {name: _of_table(contents, keys, name, of_name) for name, of_name in given.items()}
        return list((nothing | each).values())
    if _is_table(given):
        keys, table = row_keys_of(contents), arrow.as_pandas(given, NAME)
        if SUSPICION in table:
            return np.split(_of_suspects(contents, keys, table), contents.first_row[1:-1])
        mine, others = packed([keys, keys_in(table, keys, NAME)])
        return np.split(np.isin(mine, others), contents.first_row[1:-1])
    if len(tables) > 1:
        raise InputError(f"{NAME}: there are {len(tables)} match tables; give a dict with a Series for each name")
    return [_flags(given, next(iter(tables.values())))]


def filter_text(given: Any) -> str:
    """What the view says of a filter."""
    return given if isinstance(given, str) else "chosen rows"


def _is_table(given: Any) -> bool:
    """Whether this is a table, and no column."""
    if isinstance(given, pd.DataFrame | LazyTable):
        return True
    return isinstance(given, ArrowStream) and not isinstance(given, pd.Series) and hasattr(given, "columns")


def _of_suspects(contents: Contents, keys: pd.DataFrame, table: pd.DataFrame) -> np.ndarray:
    """Marks the rows of all match tables whose truth or prediction is in a table of suspects."""
    several = SUBMISSION in table
    if several:
        names = pandas_tables.as_text(table[SUBMISSION])
        unknown = [name for name in names.dropna().unique() if name not in contents.given]
        if unknown:
            known = messages.listed(contents.given)
            raise InputError(f"{NAME}: no match table has the name {unknown[0]!r}; the names are {known}")
        keys = keys.assign(**{SUBMISSION: keys.get(SUBMISSION, next(iter(contents.given)))})
    marked = np.zeros(len(keys), bool)
    for source in (*OBJECTS, f"other_{OBJECTS[0]}"):
        if source not in table:
            continue
        column = source.removeprefix("other_")
        # A truth is in all submissions.
        left_out = [*(name for name in OBJECTS if name != column), *([SUBMISSION] if column == OBJECTS[0] else [])]
        own = keys.drop(columns=left_out, errors="ignore")
        wanted = (
            table[table[source].notna()]
            .drop(columns=column if source != column else [])
            .rename(columns={source: column})
        )
        mine, others = packed([own, keys_in(wanted, own, NAME)])
        marked |= np.isin(mine, others)
    return marked


def _of_table(contents: Contents, keys: pd.DataFrame, name: str, given: Any) -> np.ndarray:
    """Which rows of one match table pass a filter of its own: a table or a Series."""
    place = list(contents.given).index(name)
    if not _is_table(given):
        return _flags(given, contents.given[name])
    own = keys.drop(columns="submission", errors="ignore").iloc[slice(*contents.first_row[place : place + 2])]
    mine, others = packed([own, keys_in(given, own, f"{NAME}: {name}")])
    return np.isin(mine, others)


def _flags(given: Any, of: Given) -> np.ndarray:
    """Which rows of a match table a column of true and false marks."""
    kind = type(given).__name__
    if isinstance(given, pd.Series) and not given.index.equals(of.table.index):
        raise InputError(f"{NAME}: the index of the Series is not that of the match table; make it from that table")
    try:
        values = given if isinstance(given, pd.Series) else pd.Series(given)
    except (TypeError, ValueError):
        raise InputError(f"{NAME}: is of type {kind}; {TAKEN}") from None
    if pd.api.types.infer_dtype(values, skipna=True) != "boolean" or kind == "bool":
        raise InputError(f"{NAME}: is of type {kind} with values of type {values.dtype}; {TAKEN}")
    if len(values) != len(of.matches):
        raise InputError(f"{NAME}: has {len(values):,} values; the match table has {len(of.matches):,} rows")
    return values.astype("boolean").to_numpy(bool, na_value=False)
