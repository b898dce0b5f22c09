"""The checks that say precisely what is wrong with a table: one `InputError` with all its problems."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..support import InputError, arrays, memory, pandas_tables
from .arrow import as_pandas
from .columns import Columns, array_of, columns_of
from .key_values import dates_as_text, fractions, holds_text
from .messages import counted, first_keys, listed, missing, no_text, several_thresholds
from .number_checks import far_text, is_number
from .other_words import missing_columns, names_without_blanks
from .schema import (
    FRAME_KEY,
    LARGEST_COORDINATE,
    LARGEST_EXACT_INTEGER,
    MATCH_COLUMNS,
    NUMBERED,
    OUTCOMES,
    TAKEN_OF_FRAMES,
    coordinates_of,
    is_of_precision,
    measure_of,
    ranges_of,
    slice_columns,
)
from .table import Table


def check_objects(table: Table, name: str, *, numbered: bool = True) -> pd.DataFrame:
    """The table of objects with its key and coordinates in their types, and the other columns as they are.

    Without a column `object`, rows are numbered within their frame if they are to be `numbered`, but for joints, which
    belong to an object.

    Raises InputError with every problem: the column, how many rows, and the keys of the first few. Messages call the
    table `name`.
    """
    given = _with_plain_names(table, name)
    if numbered and "object" not in given and "joint" not in given:
        given = _numbered(given, name)
    own = ["object", "joint"] if "joint" in given else ["object"] if "object" in given else []
    key = [*FRAME_KEY, *own]
    columns, problems = _checked(given, name, key, coordinates_of(given.columns))
    if "joint" in given and "visibility" in given:
        kind = given["visibility"].dtype
        if not (is_number(given["visibility"]) or pd.api.types.is_bool_dtype(kind)):
            problems.append(f"{name}: column visibility is of type {kind}; numbers are needed")
    if "score" in given and not is_number(given["score"]):
        if given["score"].isna().all():  # a column without values may have any type
            columns["score"] = pd.Series(np.full(len(given), np.nan), index=given.index)
        else:
            problems.append(f"{name}: column score is of type {given['score'].dtype}; numbers are needed")
    if "category" in given and not holds_text(given["category"]):
        problems.append(f"{name}: column category: {no_text(given, 'category', key)}")
    return _finished(given, name, key, columns, problems, is_key="object" in key)


def _numbered(given: pd.DataFrame, name: str) -> pd.DataFrame:
    """The table with its rows numbered within their frame, where their keys are right."""
    columns, problems = _checked(given, name, FRAME_KEY, [])
    if problems:  # which are told with all others
        return given
    number = arrays.ranks(arrays.row_keys(columns, FRAME_KEY))
    names = [*FRAME_KEY, "object", *(column for column in given if column not in FRAME_KEY)]
    numbered = given.assign(object=number)[names]
    numbered.attrs = given.attrs | {NUMBERED: True}
    return numbered


def check_frames(table: Table, name: str) -> pd.DataFrame:
    """The table of frames with its key in its types; raises InputError with every problem and its place."""
    given = _with_plain_names(table, name)
    columns, problems = _checked(given, name, FRAME_KEY, [])
    problems += [
        f"{name}: column {column} is a name of the match table itself; give it another"
        for column in TAKEN_OF_FRAMES
        if column in given
    ]
    return _finished(given, name, FRAME_KEY, columns, problems)


def check_sequences(table: Table, name: str) -> pd.DataFrame:
    """The table of sequences with its key in its type; raises InputError with every problem and its place."""
    given = _with_plain_names(table, name)
    columns, problems = _checked(given, name, ["sequence"], [])
    return _finished(given, name, ["sequence"], columns, problems)


def check_categories(table: Table, name: str) -> pd.DataFrame:
    """The table of categories; raises InputError if it has no column `category`, or null or repeated names in it."""
    given = _with_plain_names(table, name)
    if "category" not in given:
        why = f"there are {listed(given.columns)}"
        raise InputError(missing(name, "category", given.columns, why))
    null = given["category"].isna().to_numpy()
    if null.any():
        raise InputError(f"{name}: column category: {counted(int(null.sum()), 'row')} null")
    if not holds_text(given["category"]):
        raise InputError(f"{name}: column category: {no_text(given, 'category', ['category'])}")
    problems = repetitions({"category": decoded(given["category"])}, ["category"], name)
    if problems:
        raise InputError(problems)
    return given


def _with_plain_names(table: Table, name: str) -> pd.DataFrame:
    """A table as a DataFrame, without the blanks around names of columns that a CSV may have after its commas."""
    given = as_pandas(table, name)
    names = names_without_blanks(list(given.columns))
    return given if names == list(given.columns) else given.set_axis(names, axis="columns")


def check_sums(table: pd.DataFrame, name: str, sums: Sequence[str]) -> pd.DataFrame:
    """A table of sums with its sequences in their type, and these columns as finite float64.

    Raises InputError with every problem and its place.
    """
    columns, problems = _checked(table, name, ["sequence"], list(sums), np.inf)
    if problems:
        raise InputError(problems)
    return table.assign(**columns)


def check_one_slice(table: pd.DataFrame, name: str) -> None:
    """Raises InputError, which calls the table `name`, if a match table has several slices of tracks by condition.

    A prediction that no truth took would be there several times.
    """
    slices = slice_columns(table)
    if slices and len(table[slices].drop_duplicates()) > 1:
        problem = f"has several slices by {' and '.join(slices)}, which share predictions"
        raise InputError(f"{name}: {problem}; take the rows of one, such as x[x[{slices[0]!r}] == value]")


def check_matches(matches: Table, name: str = "match table", *, by_groups: bool = False) -> pd.DataFrame:
    """A match table as pandas, with `outcome` categorical; of average precision, the rows that are not ignored.

    Average precision has match tables of several thresholds in one, which would count each object several times. They
    are refused, unless they will be divided `by_groups`, which `group_rows` looks at. Raises InputError if it is not a
    table, or if a column or an outcome is wrong; messages begin with `name`.
    """
    table = as_pandas(matches, name)
    # A column is looked at by its type where that will do: a Series of it would copy the notes of the table.
    kinds = pandas_tables.kinds_of(table)
    needed = [*MATCH_COLUMNS, measure_of(kinds)]
    lacking = [column for column in needed if column not in kinds]
    if lacking:
        raise InputError([missing(name, column, table.columns, "match() makes such tables") for column in lacking])
    others = [column for column in needed[3:] if not pd.api.types.is_any_real_numeric_dtype(kinds[column])]
    wrong = [column for column in others if table[column].notna().any()]
    if wrong:
        raise InputError([f"{name}: column {c} is of type {kinds[c]}; numbers are needed" for c in wrong])
    kind = kinds["outcome"]
    if isinstance(kind, pd.CategoricalDtype) and list(kind.categories) == OUTCOMES:  # == would not mind their order
        if len(table) and table["outcome"].array.codes.min() < 0:
            raise InputError(f"{name}: column outcome: some are null")
        return _counting(table, name, by_groups)
    outcome = table["outcome"].astype("object")
    unknown = outcome[~outcome.isin(OUTCOMES)]
    if len(unknown):
        problem = f"{counted(len(unknown), 'row')} not TP, FN, FP or empty, such as {unknown.iloc[0]!r}"
        raise InputError(f"{name}: column outcome: {problem}")
    return _counting(table.assign(outcome=outcome.astype(pd.CategoricalDtype(OUTCOMES))), name, by_groups)


def _counting(matches: pd.DataFrame, name: str, by_groups: bool) -> pd.DataFrame:
    """The rows of a match table that count; that of `average_precision` also has rows that are ignored."""
    if not is_of_precision(matches.columns):
        return matches
    marks = matches["ignored"]
    if not pd.api.types.is_bool_dtype(marks.dtype) and len(marks):
        raise InputError(f"{name}: column ignored is of type {marks.dtype}; true or false is needed")
    thresholds = matches["threshold"].unique()
    if not by_groups and len(thresholds) > 1:
        raise InputError(several_thresholds(name, "give the rows of one"))
    is_ignored = marks.to_numpy(bool, na_value=False)
    counting = matches[~is_ignored]
    if len(thresholds) == 1:  # it is part of the rule then
        n_explained = int((is_ignored & (matches["outcome"] != "FN").to_numpy()).sum())
        explained = matches.attrs.get("explained", 0) + n_explained
        limit = "tau" if measure_of(matches) == "distance" else "threshold"
        counting.attrs = matches.attrs | {limit: thresholds.tolist()[0], "explained": explained}
    return counting


def _checked(
    given: pd.DataFrame, name: str, key: list[str], coordinates: list[str], largest: float = LARGEST_COORDINATE
) -> tuple[dict[str, pd.Series], list[str]]:
    """The columns that pass, in their types, and the problems of those that do not; `largest` is for coordinates."""
    columns: dict[str, pd.Series] = {}
    wanted = [*key, *coordinates]
    problems = missing_columns(name, [column for column in wanted if column not in given], given.columns, key)
    ranges = ranges_of(given.columns)
    for column in filter(given.columns.__contains__, wanted):
        try:
            if column in coordinates:
                known = ranges.get(column)
                columns[column] = _number_column(given, column, key, largest if known is None else np.inf)
                _check_range(given, columns[column], key, known)
            else:
                columns[column] = _key_column(given, column, key)
        except InputError as error:  # of memory, which names the column
            problems += [f"{name}: {problem}" for problem in error.problems]
        except UnicodeEncodeError:
            problems.append(f"{name}: column {column}: {no_text(given, column, key)}")
        except ValueError as error:
            problems.append(f"{name}: column {column}{error}")
    return columns, problems


def _finished(
    given: pd.DataFrame,
    name: str,
    key: list[str],
    columns: dict[str, pd.Series],
    problems: list[str],
    *,
    is_key: bool = True,
) -> pd.DataFrame:
    """The table with its converted columns, after checking its other columns and, if it `is_key`, the whole key.

    Raises InputError with these problems and those found before.
    """
    types = given.dtypes
    whole = [column for column, kind in types.items() if pd.api.types.is_integer_dtype(kind)]
    whole = [column for column in whole if column not in key and column not in columns]
    for column, values in columns_of(given[whole]).arrays.items():
        large = _too_large(values)
        if large.any():
            problem = f"{counted(int(large.sum()), 'row')} beyond 2**53, which a match table cannot hold exactly"
            keys = first_keys(given, large, key)
            problems.append(f"{name}: column {column}: {problem}; make them strings: {keys}")
    if is_key and all(column in columns for column in key):
        problems += repetitions(columns, key, name)
    if problems:
        raise InputError(problems)
    changed = {column: values for column, values in columns.items() if values.dtype != types[column]}
    return given.assign(**changed) if changed else given


def repetitions(columns: pd.DataFrame | Columns | Mapping[str, pd.Series], key: list[str], name: str) -> list[str]:
    """A problem in one line if rows share a key; nothing if every key is unique."""
    if arrays.ascend([columns[column] for column in key]):  # as most tables do
        return []
    twice = arrays.repeated(arrays.row_keys(columns, key))
    if not twice.any():
        return []
    keys = first_keys(Columns({column: array_of(columns[column]) for column in key}), twice, key)
    return [f"{name}: {counted(int(twice.sum()), 'row')} the same ({', '.join(key)}) as another: {keys}"]


def _too_large(values: Any) -> np.ndarray:
    """Marks those of an array of integers, null or not, that float64 cannot hold exactly."""
    if len(values) == 0 or (isinstance(values, np.ndarray) and values.dtype.itemsize < 8):
        return np.zeros(len(values), bool)
    if not isinstance(values, np.ndarray):
        inside = pd.Series(values, copy=False).between(-LARGEST_EXACT_INTEGER, LARGEST_EXACT_INTEGER)
        return ~(inside | pd.isna(values)).to_numpy(bool, na_value=True)
    return (values < -LARGEST_EXACT_INTEGER) | (values > LARGEST_EXACT_INTEGER)


def _key_column(given: pd.DataFrame, column: str, key: list[str]) -> pd.Series:
    """A key column as int64 or text, also where it has whole floats or dates.

    The message of a ValueError continues "column NAME".
    """
    values = given[column]
    if values.dtype == np.int64:  # the common case: nothing to convert, and no nulls possible
        return values
    null = values.isna().to_numpy()
    if null.any():
        raise ValueError(f": {counted(int(null.sum()), 'row')} null: {first_keys(given, null, key)}")
    values = decoded(values)
    if len(values) == 0 and not isinstance(values.dtype, pd.StringDtype):
        return pd.Series(np.zeros(0, np.int64), index=values.index)  # the keys of an empty table may have any type
    if pd.api.types.is_integer_dtype(values.dtype):
        if pd.api.types.is_unsigned_integer_dtype(values.dtype) and int(values.max() or 0) >= 1 << 63:
            raise ValueError(": has integers of more than 63 bits; use strings")
        return values.astype("int64")
    fraction = fractions(values)
    if fraction is not None:
        if fraction.any():
            problem = f"{counted(int(fraction.sum()), 'row')} no whole number that this type holds exactly"
            advice = "integers are needed" if column == "frame" else "integers or text are needed"
            raise ValueError(f" is of type {values.dtype}: {problem}: {first_keys(given, fraction, key)}; {advice}")
        return values.astype("int64")
    values = values if column == "frame" else dates_as_text(values)
    strings = pd.api.types.infer_dtype(values, skipna=False) in ("string", "empty")
    if strings and column != "frame":
        return values.astype(pandas_tables.TEXT)
    wanted = "int64" if column == "frame" else "int64 or string"
    names = "; where images have names, let sequence be the name and frame be 1" if strings else ""
    raise ValueError(f" is of type {values.dtype}; {wanted} is needed{names}")


def decoded(values: pd.Series) -> pd.Series:
    """A categorical column without nulls as a column of its values; any other column as it is.

    Raises InputError if they are text that would not fit into the memory once for each row.
    """
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return values
    categories = pandas_tables.as_text(values.cat.categories.to_series())
    if isinstance(categories.dtype, pd.StringDtype) and len(values) and len(categories):
        lengths = categories.str.len().to_numpy(np.float64)
        if lengths.max() * len(values) >= memory.LEAST_CHECKED:
            n_bytes = 2 * float(lengths[values.cat.codes].sum())
            advice = "give it shorter names"
            memory.check_at_hand(
                f"column {values.name or 'of categories'}", "its text, written out for each row,", n_bytes, advice
            )
    codes = values.cat.codes.to_numpy()
    if len(codes) and codes.min() < 0:
        return values.astype(values.cat.categories.dtype)
    # Taking each row's category is ten times as fast as what pandas does.
    kind = values.cat.categories.dtype
    return pd.Series(values.cat.categories.array.take(codes), values.index, kind, values.name, copy=False)


def _number_column(given: pd.DataFrame, column: str, key: list[str], largest: float = LARGEST_COORDINATE) -> pd.Series:
    """A column of coordinates or sizes as float64; the message of a ValueError continues "column NAME"."""
    values = given[column]
    numbers = values
    if values.dtype != np.float64:
        if len(values) and not is_number(values):
            raise ValueError(f" is of type {values.dtype}; numbers are needed")
        numbers = pd.Series(values.to_numpy(np.float64, na_value=np.nan), index=values.index, copy=False)
    problem = far_text(numbers.to_numpy(), given, key, largest)
    if problem is not None:
        raise ValueError(problem)
    return numbers


def _check_range(given: pd.DataFrame, numbers: pd.Series, key: list[str], known: tuple[float, str] | None) -> None:
    """Raises ValueError, whose message continues "column NAME", if numbers lie beyond the range of their column."""
    if known is None:
        return
    largest, unit = known
    beyond = np.abs(numbers.to_numpy()) > largest
    if beyond.any():
        problem = f"{counted(int(beyond.sum()), 'row')} beyond -{largest:g} to {largest:g} {unit}"
        raise ValueError(f": {problem}: {first_keys(given, beyond, key)}")
