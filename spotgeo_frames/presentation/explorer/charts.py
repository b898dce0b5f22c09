"""What charts and patches of an explorer show: counts by two columns, points that a lasso chooses from, rows in order.

All of them are about the rows that count and pass the filter. A chart is named by its columns, so that a click on a
cell or a lasso means the same rows again, and nothing has to be remembered between two messages.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...analysis.errors import DETECTED_AS, DETECTION_OF, background_of, rows_of_other_classes
from ...matching import Rule, noted_rule, options_of_matches
from ...support import InputError, label
from ...tables import as_numbers, binning, messages, schema
from .contents import Contents, are_counted

# The most values of a column that have a row of their own, and the bins of a column of more numbers.
MOST_GROUPS, BINS = 16, 8

# The most classes that have a line and a column of their own.
MOST_CLASSES = 100

# The most points that are drawn of a scatter; a lasso chooses from all rows nevertheless.
MOST_POINTS = 20_000

# The most corners of a lasso.
MOST_CORNERS = 400

# The charts of classes taken for classes, beside those of columns, one for each match table.
CONFUSION = "confusion"

# What TP, FN and FP are called, in the order of their codes.
OUTCOMES = ["found", "missed", "false"]
NO_VALUE = "no value"

# What patches show.
LISTS = ("errors", "filter", "marked")


class Counts(NamedTuple):
    """Rows of match tables, counted by two things.

    Attributes
    ----------
    rows, columns
        What the lines and the columns are.
    row, column
        The line and the column of each of the N rows of match tables; -1 for one that is not counted.
    """

    rows: list[str]
    columns: list[str]
    row: np.ndarray
    column: np.ndarray

    def table(self) -> list[list[int]]:
        """The count of each cell."""
        counted = (self.row >= 0) & (self.column >= 0)
        cells = self.row[counted] * len(self.columns) + self.column[counted]
        counts = np.bincount(cells, minlength=len(self.rows) * len(self.columns))
        return counts.reshape(len(self.rows), len(self.columns)).tolist()

    def of_cell(self, row: int, column: int) -> np.ndarray:
        """Which rows of match tables a cell counts, as positions among all."""
        return np.flatnonzero((self.row == row) & (self.column == column))


class Points(NamedTuple):
    """The points of a scatter that are drawn: which rows of match tables, where, their outcomes, and of how many."""

    rows: np.ndarray
    places: np.ndarray
    outcome: np.ndarray
    n_rows: int


def column_names(contents: Contents) -> dict[str, list[str]]:
    """The columns of numbers, those to group by, and whether classes are known on both sides (`confusion`)."""
    tables = [one.matches for one in contents.given.values()]
    names = [str(name) for name in tables[0] if all(name in table for table in tables)]
    numbers = [name for name in names if all(_is_numeric(table[name]) for table in tables)]
    grouped = [name for name in names if name in numbers or all(_is_text(table[name]) for table in tables)]
    left_out = {"outcome", schema.FILE_ORDER, "ignored"}
    has_classes = all(f"{prefix}category" in names for prefix in schema.SIDE_PREFIXES)
    # Whether errors would match but for their classes is not known of a table that has lost its notes.
    all_known = all(DETECTED_AS in table or _rule_of(table) is not None for table in tables)
    return {
        "numbers": [name for name in numbers if name not in left_out],
        "groups": [name for name in grouped if name not in left_out],
        "confusion": [f"{CONFUSION} {place}" for place in range(len(tables))] if has_classes and all_known else [],
    }


def counts_of(contents: Contents, known: Mapping[str, list[str]], name: str, keeps: np.ndarray) -> Counts:
    """Counts the rows that `keeps` marks: by a column and by outcome and submission; or class by class.

    `known` are the column_names(). Raises InputError if there is no such chart.
    """
    if name in known["confusion"]:
        counts = _confusion(contents, known["confusion"].index(name))
    else:
        counts = _by_column(contents, _named(known, "groups", name))
    return counts._replace(row=np.where(keeps, counts.row, -1))


def _named(known: Mapping[str, list[str]], what: str, name: str) -> str:
    """The name of a column, checked."""
    if name not in known[what]:
        raise InputError(f"explore: there is no column {name!r} for this; there are {messages.listed(known[what])}")
    return name


def counted_rows(contents: Contents, passes: Sequence[np.ndarray] | None) -> np.ndarray:
    """Which rows count and pass the filter, (N,)."""
    keeps = _outcomes(contents) >= 0
    return keeps if passes is None else keeps & np.concatenate(passes)


def values_of(contents: Contents, name: str) -> pd.Series:
    """A column of all rows."""
    parts = [one.matches[name] for one in contents.given.values()]
    return pd.concat([_without_categories(part) for part in parts], ignore_index=True)


def _without_categories(values: pd.Series) -> pd.Series:
    """A column of plain values; integers with nulls become floats."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return values
    return pd.Series(values.array.categories.to_series().reindex(values.array).array)


def _by_column(contents: Contents, name: str) -> Counts:
    rows, row = _groups(values_of(contents, name))
    tables = list(contents.given)
    columns = [f"{table}: {word}" if len(tables) > 1 else word for table in tables for word in OUTCOMES]
    outcome = _outcomes(contents)
    return Counts(rows, columns, row, np.where(outcome < 0, -1, outcome + len(OUTCOMES) * _table_of_row(contents)))


def _confusion(contents: Contents, position: int) -> Counts:
    """True classes of a match table by what they were detected as; background is nothing.

    Of average precision, what a truth was detected as may be another class than the one it was matched in; then the
    false alarm of that class is not counted a second time. Of other tables, errors are paired as by `confusion`.
    """
    table = list(contents.given.values())[position].matches
    truth, predicted = (
        _without_categories(table[f"{prefix}category"]).map(label, na_action="ignore").astype(object)
        for prefix in schema.SIDE_PREFIXES
    )
    often = pd.concat([truth, predicted]).value_counts()
    names = sorted(often.index[:MOST_CLASSES])
    if len(often) > MOST_CLASSES:
        others = f"{len(often) - MOST_CLASSES:,} others"
        truth, predicted = (text.where(text.isna() | text.isin(names), others) for text in (truth, predicted))
        names.append(others)
    is_false = table["outcome"].array.codes == schema.FP
    detected, left_out = predicted, np.zeros(len(table), bool)
    if DETECTED_AS in table:
        found_as, of = (_without_categories(table[name]) for name in (DETECTED_AS, DETECTION_OF))
        detected = found_as.where(found_as.isin(names)).where(~is_false, predicted)
        left_out = is_false & of.isin(names).to_numpy()
    elif (rule := _rule_of(table)) is not None:
        missed, false = rows_of_other_classes(table, rule)
        detected = predicted.copy()
        detected.iloc[missed], left_out[false] = predicted.iloc[false].to_numpy(), True
    codes = [pd.Categorical(text, names).codes.astype(np.int64) for text in (truth, detected)]
    own, column = (np.where(of < 0, len(names), of) for of in codes)
    row = np.full(contents.first_row[-1], -1)
    begin, end = contents.first_row[position : position + 2]
    row[begin:end] = np.where(left_out, -1, own)
    columns = np.full(len(row), -1)
    columns[begin:end] = column
    background = background_of(names)
    return Counts([*names, background], [*names, background], row, columns)


def _rule_of(table: pd.DataFrame) -> Rule | None:
    """The rule in the notes of a match table; None where it is not known."""
    try:
        return noted_rule.noted_rule(table, options_of_matches(None, None, None, None, None, None))
    except (InputError, ValueError):
        return None


def _groups(values: pd.Series) -> tuple[list[str], np.ndarray]:
    """What the groups of a column are called, and the group of each row: its values, bins of numbers, or the others."""
    if _is_numeric(values) and values.nunique() > MOST_GROUPS:
        finite = values.where(np.isfinite(as_numbers(values)))
        edges = binning.quantile_edges(finite, BINS)
        values = values if edges is None else binning.in_bins(finite, edges)
    grouped = pd.Categorical(values)
    names, codes = [label(name) for name in grouped.categories], grouped.codes.astype(np.int64)
    if len(names) > MOST_GROUPS:
        often = np.argsort(-np.bincount(codes[codes >= 0], minlength=len(names)), kind="stable")
        place = np.full(len(names), MOST_GROUPS - 1)
        place[often[: MOST_GROUPS - 1]] = np.arange(MOST_GROUPS - 1)
        n_others = len(names) - MOST_GROUPS + 1
        names, codes = [names[at] for at in often[: MOST_GROUPS - 1]], np.where(codes < 0, -1, place[codes])
        names.append(f"{n_others:,} others")
    if (codes < 0).any():
        named = NO_VALUE if NO_VALUE not in names else f"({NO_VALUE})"
        names, codes = [*names, named], np.where(codes < 0, len(names), codes)
    return names, codes


def _outcomes(contents: Contents) -> np.ndarray:
    """The position in OUTCOMES of each row; -1 for rows of empty frames and ignored ones."""
    tables = [one.matches for one in contents.given.values()]
    codes = np.concatenate([table["outcome"].array.codes for table in tables]).astype(np.int64)
    return np.where(np.concatenate([are_counted(table) for table in tables]) & (codes != schema.EMPTY), codes, -1)


def _table_of_row(contents: Contents) -> np.ndarray:
    """The position of the match table of each row."""
    return np.repeat(np.arange(len(contents.given)), np.diff(contents.first_row))


def _is_numeric(values: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype)


def _is_text(values: pd.Series) -> bool:
    """Whether a column has values that can be groups: texts, truths, or categories."""
    if values.dtype == object:
        return all(isinstance(value, str | bool) for value in values.dropna())
    return isinstance(values.dtype, pd.CategoricalDtype | pd.StringDtype) or pd.api.types.is_bool_dtype(values.dtype)


def places_of(contents: Contents, known: Mapping[str, list[str]], x: str, y: str) -> np.ndarray:
    """Two columns of numbers as points, (N, 2); raises InputError if a name is of no column of numbers."""
    columns = [as_numbers(values_of(contents, _named(known, "numbers", name))) for name in (x, y)]
    return np.stack(columns, axis=1)


def drawn_points(contents: Contents, places: np.ndarray, keeps: np.ndarray) -> Points:
    """The points of the rows that `keeps` marks, evenly chosen where there are too many."""
    rows = np.flatnonzero(keeps & np.isfinite(places).all(axis=1))
    drawn = rows[:: max(-(-len(rows) // MOST_POINTS), 1)]
    return Points(drawn, places[drawn], _outcomes(contents)[drawn], len(rows))


def within(places: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Which of N places lie within a polygon of K corners (K, 2), by the even-odd rule, (N,)."""
    near = np.flatnonzero(((places >= corners.min(axis=0)) & (places <= corners.max(axis=0))).all(axis=1))
    x, y = places[near].T
    inside = np.zeros(len(near), bool)
    for (x1, y1), (x2, y2) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if y1 != y2:  # an edge along x is crossed by none of the lines along x
            inside ^= ((y1 > y) != (y2 > y)) & (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1)
    answer = np.zeros(len(places), bool)
    answer[near[inside]] = True
    return answer


def listed_rows(
    contents: Contents, known: Mapping[str, list[str]], keeps: np.ndarray, by: str, rising: bool
) -> np.ndarray:
    """The rows that `keeps` marks, by frame, or sorted by a column of numbers; those without a number come last."""
    rows = contents.in_order[keeps[contents.in_order]]
    if not by:
        return rows
    values = as_numbers(values_of(contents, _named(known, "numbers", by)))[rows]
    return rows[np.argsort(values if rising else -values, kind="stable")]


def are_errors(contents: Contents) -> np.ndarray:
    """Which rows are misses or false alarms, (N,)."""
    return _outcomes(contents) > schema.TP
