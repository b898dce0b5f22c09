"""Whether two sides fit each other: the types of their keys, their sequences, their frames and their categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..support import InputError, arrays, plain_value
from ..tables import Columns, DeferredText, SideColumns, as_numbers, first_values, messages, provenance, schema

if TYPE_CHECKING:
    import pandas as pd


class Unknown(NamedTuple):
    """Sequences of predictions that have no truth: how many there are and the first ones, and their predictions."""

    n_sequences: int
    first: list[str]
    n_predictions: int


def category_codes(truth: Columns, predictions: Columns) -> list[np.ndarray | None]:
    """The category of each row as an integer, if both sides have categories; else None for both.

    A crowd may have a null category, which is -1: it covers predictions of every category.
    """
    if "category" not in truth or "category" not in predictions:
        return [None, None]
    coded = [side.text_codes.get("category") for side in (truth, predictions)]
    if all(coded):
        return [*arrays.ordinals(coded)[0]]
    named = _named_categories(truth, predictions)
    if named is not None:
        return named
    numbered = _plain_categories(truth["category"], predictions["category"])
    if numbered is not None:
        return numbered
    import pandas as pd

    columns = [pd.Series(side["category"], copy=False) for side in (truth, predictions)]
    null = [column.isna().to_numpy() for column in columns]
    is_crowd = flags(truth, "crowd") if null[0].any() else None
    of_any = np.zeros(len(truth), bool) if is_crowd is None else null[0] & is_crowd
    problems = [
        f"{provenance.source(table, name)}: column category: {messages.counted(int(wrong.sum()), 'row')} null"
        for name, table, wrong in zip(
            ("truth", "predictions"), (truth, predictions), (null[0] & ~of_any, null[1]), strict=True
        )
        if wrong.any()
    ]
    if problems:
        raise InputError(problems)
    columns[0] = columns[0][~of_any]
    # Categories are numbered, not the rows that have them: their text may be long.
    categorical = [isinstance(column.dtype, pd.CategoricalDtype) for column in columns]
    plain = [
        column.cat.categories.to_series().iloc[: None if len(column) else 0] if own else column
        for column, own in zip(columns, categorical, strict=True)
    ]
    check_no_bytes(plain, truth, predictions)
    kinds = {pd.api.types.is_numeric_dtype(column.dtype) for column in plain if len(column)}
    if len(kinds) == 2:
        raise InputError(types_differ("category", truth, predictions, plain))
    try:
        codes, _ = arrays.ordinals(plain)
    except TypeError as error:
        raise InputError(f"column category: its values cannot be compared: {error}") from None
    known, predicted = (
        code[column.cat.codes] if own else code for code, column, own in zip(codes, columns, categorical, strict=True)
    )
    of_truth = np.full(len(of_any), -1, np.int64)
    of_truth[~of_any] = known
    return [of_truth, predicted]


def _named_categories(truth: Columns, predictions: Columns) -> list[np.ndarray | None] | None:
    """The same where the categories of both sides are deferred text of the same names, none of them null; else None.

    As elsewhere, they are numbered in the order of the text.
    """
    sides = truth.stored["category"], predictions.stored["category"]
    if not all(isinstance(of, DeferredText) and of.names == sides[0].names for of in sides) or not sides[0].names:
        return None
    if any(of.values.min(initial=0) < 0 for of in sides):
        return None
    names = sides[0].names
    place = np.empty(len(names), np.int64)
    place[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return [place.take(of.values) for of in sides]


def _plain_categories(truth: Any, predictions: Any) -> list[np.ndarray | None] | None:
    """The same where both sides have whole numbers, or text without nulls, or such categories; None elsewhere."""
    sides = truth, predictions
    if all(isinstance(values, np.ndarray) and values.dtype.kind in "iu" for values in sides):
        return [*arrays.ordinals(sides)[0]]
    from ..support import pandas_tables

    own = [getattr(values.dtype, "categories", None) for values in sides]
    named = [values if of is None else of.array for values, of in zip(sides, own, strict=True)]
    codes = [None if of is None else values.codes for values, of in zip(sides, own, strict=True)]
    if not all(of.dtype == pandas_tables.TEXT for of in named):
        return None
    if any(
        values.isna().any() if of is None else of.min(initial=0) < 0 for values, of in zip(sides, codes, strict=True)
    ):
        return None
    numbers, _ = arrays.ordinals([of if len(side) else of[:0] for of, side in zip(named, sides, strict=True)])
    return [number if code is None else number.take(code) for number, code in zip(numbers, codes, strict=True)]


def check_no_bytes(values: Sequence[pd.Series], truth: Columns, predictions: Columns) -> None:
    """Raises InputError if categories are bytes, which equal no text."""
    problem = "its values are bytes; make them text (decode them) or numbers"
    problems = [
        f"{provenance.source(rows, name)}: column category: {problem}"
        for name, rows, column in zip(("truth", "predictions"), (truth, predictions), values, strict=True)
        if holds_bytes(column)
    ]
    if problems:
        raise InputError(problems)


def holds_bytes(values: pd.Series) -> bool:
    """Whether any value of a column is bytes."""
    import pandas as pd

    if isinstance(values.dtype, pd.ArrowDtype):
        return values.dtype.kind == "S" or "binary" in str(values.dtype.pyarrow_dtype)
    if values.dtype != object:
        return False
    kind = pd.api.types.infer_dtype(values, skipna=True)
    return kind == "bytes" or (kind == "mixed" and any(isinstance(value, bytes | bytearray) for value in values))


def types_differ(column: str, truth: Columns, predictions: Columns, values: Sequence[Any]) -> str:
    """The problem of a column whose values are of other types on the two sides; names such as 007 are a cause."""
    problem = (
        f"{provenance.source(predictions, 'predictions')}: column {column} is {values[1].dtype}, and in "
        f"{provenance.source(truth, 'truth')} it is {values[0].dtype}; make them the same"
    )
    names = [_zero_led(of) for of in values]
    if (names[0] is None) == (names[1] is None):
        return problem
    name, side = (names[0], "truth") if names[1] is None else (names[1], "predictions")
    return f"{problem}: in the {side}, {name!r} begins with a zero, as names do and numbers do not, so it is text"


def _zero_led(values: Any) -> str | None:
    """The first value of a column of text that would lose a leading zero as a number; None without any."""
    import pandas as pd

    column = pd.Series(values, copy=False)
    if not pd.api.types.is_string_dtype(column):  # of the values too, since objects may be anything
        return None
    found = column[column.str.fullmatch(r"[-+]?0\d+").fillna(False).astype(bool)]
    return None if found.empty else str(found.iloc[0])


def _telling(side: SideColumns, column: str) -> Columns:
    """The table of a side that tells the type of a key column, which an empty table does not."""
    tables = side.of_sequences if column == "sequence" else (side.objects,)
    return next((table for table in tables if table is not None and len(table)), side.objects)


def check_types(truth: SideColumns, predictions: SideColumns) -> None:
    """Raises InputError if keys are integers in one table and strings in another, or if only one side has joints."""
    if ("joint" in truth.objects) != ("joint" in predictions.objects):
        raise InputError("column joint is on one side only; keypoints are matched with keypoints")
    problems = []
    for column in ("sequence", "joint"):
        if column in truth.objects:
            values = [_telling(side, column)[column] for side in (truth, predictions)]
            if len(values[0]) and len(values[1]) and values[0].dtype != values[1].dtype:
                problems.append(types_differ(column, truth.objects, predictions.objects, values))
    for name, side in (("truth", truth), ("predictions", predictions)):
        told = _telling(side, "sequence")["sequence"].dtype
        for noun, table in (("frames", side.frames), ("sequences", side.sequences)):
            if table is not None and len(table) and table["sequence"].dtype != told:
                problem = f"column sequence is {told}, and in its {noun} table {table['sequence'].dtype}"
                problems.append(f"{provenance.source(side.objects, name)}: {problem}")
    named, objects = truth.categories, truth.objects
    if named is not None and "category" in objects and len(named) and len(objects):
        kinds = ["numbers" if _has_numbers(table, "category") else "text" for table in (objects, named)]
        if kinds[0] != kinds[1]:
            problem = f"column category is {kinds[0]}, and in its categories table {kinds[1]}; make them the same"
            problems.append(f"{provenance.source(objects, 'truth')}: {problem}")
    if problems:
        raise InputError(problems)


def check_sequences(truth: SideColumns, predictions: SideColumns) -> None:
    """Raises InputError if the sides share no sequence, since they are then not about the same data."""
    have = [(side.objects if side.frames is None else side.frames)["sequence"] for side in (truth, predictions)]
    if not (len(have[0]) and len(have[1])) or have[0][0] == have[1][0]:
        return
    codes, _ = arrays.ordinals(have)
    values = [arrays.distinct(code)[0] for code in codes]
    if np.all(arrays.locate(values[0], values[1]) < 0):
        names = [first_values(column, 4) for column in have]
        listed = [", ".join([*first[:3], "..."] if len(first) > 3 else first) for first in names]
        raise InputError(
            f"{provenance.source(predictions.objects, 'predictions')}: shares no sequence with the truth; "
            f"it has {listed[1]} and the truth has {listed[0]}"
        )


def check_coverage(tables: Mapping[str, Columns], keys: Mapping[str, np.ndarray]) -> None:
    """Raises InputError if objects lie outside the frames tables, or predictions do not cover the truth's frames."""
    problems: list[str] = []
    names = {side: provenance.source(tables[side], side) for side in ("truth", "predictions")}
    listed = {name: arrays.distinct(keys[name])[0] for name in ("truth frames", "predictions frames") if name in keys}

    def refuse(side: str, table: str, within: str, noun: str, problem: str) -> None:
        outside = arrays.locate(listed[within], keys[table]) < 0
        if outside.any():
            text = messages.first_keys(tables[table], outside, schema.FRAME_KEY)
            problems.append(f"{names[side]}: {messages.counted(int(outside.sum()), noun)} {problem}: {text}")

    for side in names:
        if f"{side} frames" in listed:
            refuse(side, side, f"{side} frames", "object", "in frames that its frames table does not have")
    if len(listed) == 2:
        if not np.array_equal(listed["truth frames"], listed["predictions frames"]):
            refuse("predictions", "truth frames", "predictions frames", "frame", "missing")
            refuse("predictions", "predictions frames", "truth frames", "frame", "not in the truth")
    elif "truth frames" in listed:
        how = 'list them in its frames table, or give frames="union" to functions that take it'
        problem = f"in frames that the truth does not have ({how})"
        refuse("predictions", "predictions", "truth frames", "object", problem)
    elif "predictions frames" in listed:
        problem = "in frames that are missing from its frames"
        refuse("predictions", "truth", "predictions frames", "object of the truth", problem)
    if problems:
        raise InputError(problems)


def unknown_sequences(listed: Columns, has_truth: np.ndarray, n_predicted: np.ndarray) -> Unknown | None:
    """The sequences that have predictions and no truth at all; None if there are none.

    Of each listed frame, `has_truth` says whether the truth has rows there or lists it, and `n_predicted` how many
    predictions it has.
    """
    if has_truth[n_predicted > 0].all():  # as nearly always, and found out at once
        return None
    sequence, first = arrays.grouped(arrays.row_keys(listed, ["sequence"]))
    n_known, n_claimed = (arrays.added_at(sequence, counts, len(first)) for counts in (has_truth, n_predicted))
    alone = np.flatnonzero((n_known == 0) & (n_claimed > 0))
    if not len(alone):
        return None
    names = first_values(listed.take(first[alone])["sequence"], messages.MOST_NAMED + 1)
    return Unknown(len(alone), names, int(n_claimed[alone].sum()))


def flags(truth: Columns, column: str, why_null: str = "") -> np.ndarray | None:
    """A column of marks as booleans, None if there is none; raises InputError if a value is neither true nor false.

    1 and 0 will do. `why_null` is added to the message if such a value is null.
    """
    if column not in truth:
        return None
    values = truth[column]
    numbers = as_numbers(values) if _is_numeric(values) else np.array([_number(value) for value in values], np.float64)
    wrong = (numbers != 0) & (numbers != 1)
    if wrong.any():
        example = plain_value(values[np.flatnonzero(wrong)[0]])
        shown = f"null{why_null}" if example is None else repr(example)
        problem = f"{messages.counted(int(wrong.sum()), 'row')} neither true nor false (1 or 0), such as {shown}"
        keys = messages.first_keys(truth, wrong, [*schema.FRAME_KEY, "object", "joint"])
        raise InputError(f"{provenance.source(truth, 'truth')}: column {column}: {problem}: {keys}")
    return numbers == 1


def _has_numbers(table: Columns, column: str) -> bool:
    """Whether a column, or the categories that it is of, are flags or numbers by their type."""
    if isinstance(table.stored[column], DeferredText):
        return False
    return _is_numeric(getattr(table[column].dtype, "categories", table[column]))


def _is_numeric(values: Any) -> bool:
    """Whether the type of a column says that its values are flags or real numbers."""
    if isinstance(values.dtype, np.dtype):
        return values.dtype.kind in "biuf"
    from pandas.api.types import is_any_real_numeric_dtype, is_bool_dtype

    return is_bool_dtype(values.dtype) or is_any_real_numeric_dtype(values.dtype)


def _number(value: object) -> float:
    """A flag or a number as float; anything else as NaN."""
    return float(value) if isinstance(value, Real | np.bool_) else np.nan
