"""What each table is, and the checks that say precisely what is wrong with one.

Objects (truth and predictions alike)
    `sequence` (int64 or string), `frame` (int64), `object` (int64 or string), `joint` (int64 or string) for
    keypoints, and `x`, `y` (float64, pixels). Optional: `score`, `category`, and for keypoints `visibility`, which is 0
    where a joint is listed but not there; any other column is carried along.
    One row per key, no nulls in the key, finite coordinates. File order is row order within a (sequence, frame).

Frames
    `sequence`, `frame` and any attributes of a frame, one row a frame. It makes a frame without objects exist.

Match table
    `sequence`, `frame`, (`joint`,) `outcome`, `distance` or `similarity`, `squared_error`, `kelvins_error`, then
    `truth_*`, `predicted_*` and `frame_*` columns; `matching.match` says what they hold.

A table that is not right is refused with every problem in one `InputError`.
"""

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import pandas as pd
import pyarrow as pa

from .errors import InputError
from .files import file_state
from .keys import repeated, row_keys

FRAME_KEY = ["sequence", "frame"]

# Types that would otherwise follow from the values: flags get room for nulls whether or not there are any, and text is
# text even where all of it is null.
PANDAS_TYPES: dict[Any, Any] = {pa.bool_(): pd.BooleanDtype()}
PANDAS_TYPES |= dict.fromkeys([pa.string(), pa.large_string(), pa.string_view()], pd.StringDtype(na_value=np.nan))

OUTCOMES = ["TP", "FN", "FP", "empty"]
OUTCOME_TYPE = pd.CategoricalDtype(OUTCOMES)
TP, FN, FP, EMPTY = range(len(OUTCOMES))
MATCH_COLUMNS = ["sequence", "frame", "outcome", "squared_error", "kelvins_error"]

# Beyond this an integer is no longer exact as float64, which is what carried numbers become in a match table.
LARGEST_EXACT_INTEGER = 1 << 53


@runtime_checkable
class ArrowStream(Protocol):
    """Anything that exports an Arrow stream: polars, pyarrow, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Table = pd.DataFrame | ArrowStream


# Where readers note in a table's attrs which file it is from.
SOURCE = "spotgeo_frames_source"

# Where they note what the file was when it was read, as `files.file_state` has it, and the rows of the table.
SOURCE_STATE = "spotgeo_frames_source_state"


class Annotations(NamedTuple):
    """Objects and the frames they lie in. `frames` is None where nobody said which frames there are."""

    objects: pd.DataFrame
    frames: pd.DataFrame | None = None


def as_pandas(table: Table, name: str) -> pd.DataFrame:
    """A DataFrame of `table` with its columns as columns; raises InputError where it is no table.

    Index levels that are named like a column that is missing become columns.
    """
    if isinstance(table, pd.DataFrame):
        frame = table
        levels = [level for level in table.index.names if level is not None and level not in table.columns]
        if levels:
            frame = table.reset_index(levels)
    elif isinstance(table, ArrowStream) and not isinstance(table, pd.Series):
        try:
            arrow = pa.table(table)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise InputError(f"{name}: is no table that Arrow can read: {error}") from None
        frame = arrow_to_pandas(arrow, name)
    else:
        raise InputError(
            f"{name}: is a {type(table).__name__}; a pandas DataFrame or an Arrow table (polars, DuckDB) is needed"
        )
    odd = [column for column in frame.columns if not isinstance(column, str)]
    if odd:
        raise InputError([f"{name}: column {column!r}: its name has to be a string" for column in odd])
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()].unique()
        raise InputError([f"{name}: column {column} is there more than once" for column in twice])
    return frame


def arrow_to_pandas(table: pa.Table, name: str) -> pd.DataFrame:
    """An Arrow table as pandas: decimals become int64 or float64, and the columns of pandas' index go.

    Raises InputError with every column that cannot be held: text that is not UTF-8, times out of range, decimals that
    are too large.
    """
    columns: dict[str, pd.Series] = {}
    problems: list[str] = []
    for position, column in enumerate(table.columns):
        field = f"number {position + 1}"
        try:
            field = table.schema.field(position).name
            if field.startswith("__index_level_"):
                continue
            if field in columns:
                problems.append(f"{name}: column {field} is there more than once")
            if pa.types.is_decimal(column.type):
                column = column.cast(pa.int64() if column.type.scale == 0 else pa.float64())
            elif not pa.types.is_primitive(column.type):
                column.validate(full=True)  # text may hold what is not UTF-8, which would only show later
            columns[field] = column.to_pandas(types_mapper=PANDAS_TYPES.get)
        except (pa.ArrowException, ValueError, OverflowError) as error:
            problems.append(f"{name}: column {field}: cannot be read: {str(error).splitlines()[0]}")
    if problems:
        raise InputError(problems)
    return pd.DataFrame(columns, copy=False)


def as_annotations(data: Annotations | Table, name: str) -> Annotations:
    """Checks `data`, a table of objects or Annotations, and returns it in the types named above.

    Raises InputError with every problem of the objects and of the frames.
    """
    objects, frames = data if isinstance(data, Annotations) else (data, None)
    problems: list[str] = []
    checked_objects = checked_frames = None
    try:
        checked_objects = check_objects(objects, name)
    except InputError as error:
        problems += error.problems
    if frames is not None:
        try:
            checked_frames = check_frames(frames, f"{name} frames")
        except InputError as error:
            problems += error.problems
    if checked_objects is None or problems:
        raise InputError(problems)
    return Annotations(checked_objects, checked_frames)


def check_objects(table: Table, name: str) -> pd.DataFrame:
    """The objects table with its key and coordinates in their types, the other columns as they are.

    Raises InputError with every problem: the column, how many rows and the keys of the first few.
    """
    given = as_pandas(table, name)
    key = [*FRAME_KEY, "object", *(["joint"] if "joint" in given else [])]
    size = ["w", "h"] if "w" in given and "h" in given else []
    columns, problems = _checked(given, name, key, ["x", "y", *size])
    if "joint" in given and "visibility" in given:
        kind = given["visibility"].dtype
        if not (_is_number(given["visibility"]) or pd.api.types.is_bool_dtype(kind)):
            problems.append(f"{name}: column visibility is of type {kind}; numbers are needed")
    if "score" in given and not _is_number(given["score"]):
        if given["score"].isna().all():  # a column of nothing, or none at all, need not say its type
            columns["score"] = pd.Series(np.full(len(given), np.nan), index=given.index)
        else:
            problems.append(f"{name}: column score is of type {given['score'].dtype}; numbers are needed")
    return _finished(given, name, key, columns, problems)


def check_frames(table: Table, name: str) -> pd.DataFrame:
    """The frames table with its key in its types; raises InputError with every problem, as `check_objects` does."""
    given = as_pandas(table, name)
    columns, problems = _checked(given, name, FRAME_KEY, [])
    problems += [
        f"{name}: column {column} is a name of the match table itself; give it another"
        for column in ("n_truth", "n_predicted", "joint")
        if column in given
    ]
    return _finished(given, name, FRAME_KEY, columns, problems)


def check_matches(matches: Table) -> pd.DataFrame:
    """A match table as pandas, with `outcome` categorical; raises InputError where a column or an outcome is wrong."""
    table = as_pandas(matches, "match table")
    needed = [*MATCH_COLUMNS, measure_of(table)]
    missing = [column for column in needed if column not in table.columns]
    if missing:
        raise InputError([f"match table: column {column} is missing; match() makes such tables" for column in missing])
    wrong = [column for column in needed[3:] if not _is_number(table[column]) and table[column].notna().any()]
    if wrong:
        raise InputError([f"match table: column {c} is of type {table[c].dtype}; numbers are needed" for c in wrong])
    kind = table["outcome"].dtype
    if isinstance(kind, pd.CategoricalDtype) and list(kind.categories) == OUTCOMES:  # == would not mind their order
        if len(table) and table["outcome"].array.codes.min() < 0:
            raise InputError("match table: column outcome: some are null")
        return table
    outcome = table["outcome"].astype("object")
    unknown = outcome[~outcome.isin(OUTCOMES)]
    if len(unknown):
        what = f"{counted(len(unknown), 'row')} not TP, FN, FP or empty, such as {unknown.iloc[0]!r}"
        raise InputError(f"match table: column outcome: {what}")
    return table.assign(outcome=outcome.astype(OUTCOME_TYPE))


def labelled_joints(keypoints: pd.DataFrame) -> np.ndarray:
    """Marks the joints that are there: all but those whose `visibility`, where there is such a column, is 0 or less."""
    if "visibility" not in keypoints:
        return np.ones(len(keypoints), bool)
    return ~(keypoints["visibility"].to_numpy(np.float64, na_value=np.nan) <= 0)


def measure_of(matches: pd.DataFrame) -> str:
    """The name of the column that says how near the pairs of a match table are."""
    return "similarity" if "similarity" in matches and "distance" not in matches else "distance"


def _checked(
    given: pd.DataFrame, name: str, key: list[str], coordinates: list[str]
) -> tuple[dict[str, pd.Series], list[str]]:
    """The columns that pass, in their types, and the problems of those that do not."""
    columns: dict[str, pd.Series] = {}
    problems: list[str] = []
    for column in [*key, *coordinates]:
        if column not in given:
            problems.append(f"{name}: column {column} is missing; there are {_listed(given.columns)}")
            continue
        convert = _number_column if column in coordinates else _key_column
        try:
            columns[column] = convert(given, column, key)
        except ValueError as error:
            problems.append(f"{name}: column {column}{error}")
    return columns, problems


def _finished(
    given: pd.DataFrame, name: str, key: list[str], columns: dict[str, pd.Series], problems: list[str]
) -> pd.DataFrame:
    """Adds the checks of the other columns and of the whole key, raises what there is, and puts in what was changed."""
    for column in [column for column in given.columns if column not in key and column not in columns]:
        large = _too_large(given[column])
        if large.any():
            what = f"{counted(int(large.sum()), 'row')} beyond 2**53, which a match table cannot hold exactly"
            keys = _first_keys(given, large, key)
            problems.append(f"{name}: column {column}: {what}; make them strings: {keys}")
    if all(column in columns for column in key):
        problems += repetitions(columns, key, name)
    if problems:
        raise InputError(problems)
    types = given.dtypes
    changed = {column: values for column, values in columns.items() if values.dtype != types[column]}
    return given.assign(**changed) if changed else given


def repetitions(columns: pd.DataFrame | Mapping[str, pd.Series], key: list[str], name: str) -> list[str]:
    """What is wrong where rows have the same key, in one line; nothing where each is the only one."""
    twice = repeated(row_keys(columns, key))
    if not twice.any():
        return []
    rows = pd.DataFrame({column: columns[column][twice] for column in key})
    return [f"{name}: {counted(len(rows), 'row')} the same ({', '.join(key)}) as another: {key_text(rows)}"]


def size_problems(objects: pd.DataFrame, column: str, name: str, why: str) -> list[str]:
    """What makes a column no sizes: it is missing (`why` it is needed), not of numbers, null, negative or infinite."""
    if column not in objects:
        return [f"{name}: column {column} is missing; {why}"]
    if not _is_number(objects[column]):
        return [f"{name}: column {column} is of type {objects[column].dtype}; numbers are needed"]
    size = objects[column].to_numpy(np.float64, na_value=np.nan)
    wrong = ~((size >= 0) & (size < np.inf))
    if not wrong.any():
        return []
    keys = _first_keys(objects, wrong, [*FRAME_KEY, "object", "joint"])
    return [f"{name}: column {column}: {counted(int(wrong.sum()), 'row')} null, negative or infinite: {keys}"]


def _too_large(values: pd.Series) -> np.ndarray:
    """Marks integers that float64 cannot hold exactly."""
    if not pd.api.types.is_integer_dtype(values.dtype) or len(values) == 0:
        return np.zeros(len(values), bool)
    inside = values.between(-LARGEST_EXACT_INTEGER, LARGEST_EXACT_INTEGER)
    return ~(inside | values.isna()).to_numpy(bool, na_value=True)


def _key_column(given: pd.DataFrame, column: str, key: list[str]) -> pd.Series:
    """A key column as int64 or `str`; the message of the ValueError follows "column NAME"."""
    values = given[column]
    if values.dtype == np.int64:  # the common case: nothing to convert, and no room for nulls
        return values
    null = values.isna().to_numpy()
    if null.any():
        raise ValueError(f": {counted(int(null.sum()), 'row')} null: {_first_keys(given, null, key)}")
    values = decoded(values)
    if len(values) == 0 and not isinstance(values.dtype, pd.StringDtype):
        return pd.Series(np.zeros(0, np.int64), index=values.index)  # an empty table does not say what its keys are
    if pd.api.types.is_integer_dtype(values.dtype):
        if pd.api.types.is_unsigned_integer_dtype(values.dtype) and int(values.max() or 0) >= 1 << 63:
            raise ValueError(": has integers of more than 63 bits; use strings")
        return values.astype("int64")
    strings = pd.api.types.infer_dtype(values, skipna=False) in ("string", "empty")
    if strings and column != "frame":
        return values.astype("str")
    wanted = "int64" if column == "frame" else "int64 or string"
    raise ValueError(f" is of type {values.dtype}; {wanted} is needed")


def decoded(values: pd.Series) -> pd.Series:
    """The values of a categorical column, which must have no nulls; any other column as it is."""
    return values.astype(values.cat.categories.dtype) if isinstance(values.dtype, pd.CategoricalDtype) else values


def _number_column(given: pd.DataFrame, column: str, key: list[str]) -> pd.Series:
    """A coordinate column as finite float64; the message of the ValueError follows "column NAME"."""
    values = given[column]
    numbers = values
    if values.dtype != np.float64:
        if len(values) and not _is_number(values):
            raise ValueError(f" is of type {values.dtype}; numbers are needed")
        numbers = pd.Series(values.to_numpy(np.float64, na_value=np.nan), index=values.index, copy=False)
    bad = ~np.isfinite(numbers.to_numpy())
    if bad.any():
        raise ValueError(f": {counted(int(bad.sum()), 'row')} not finite: {_first_keys(given, bad, key)}")
    return numbers


def _is_number(values: pd.Series) -> bool:
    return pd.api.types.is_any_real_numeric_dtype(values.dtype)


def counted(number: int, noun: str) -> str:
    """`1 row is` or `3 rows are`."""
    return f"1 {noun} is" if number == 1 else f"{number} {noun}s are"


def _listed(names: pd.Index) -> str:
    return ", ".join(map(str, names)) or "none"


def _first_keys(given: pd.DataFrame, marked: np.ndarray, key: list[str]) -> str:
    """The keys of the first few marked rows, as text."""
    return key_text(given.loc[marked, [column for column in key if column in given]])


def key_text(keys: pd.DataFrame, most: int = 3) -> str:
    """The first few rows of `keys` as text: `sequence 1, frame 2; sequence 1, frame 3; ...`."""
    rows = keys.head(most).to_dict("records")
    texts = [row_text(row) for row in rows]
    return "; ".join([*texts, "..."] if len(keys) > most else texts)


def row_text(row: Mapping[Hashable, Any]) -> str:
    """A key as text: `sequence 1, frame 2`."""
    return ", ".join(f"{column} {value}" for column, value in row.items())


def note_source(table: pd.DataFrame, path: Path) -> None:
    """Notes in a table's attrs which file it was read from."""
    table.attrs[SOURCE] = str(path)
    table.attrs[SOURCE_STATE] = [*file_state(path), len(table)]


def source(table: pd.DataFrame, name: str) -> str:
    """What messages call a table: the file it was read from, which readers note, or `name`."""
    return str(table.attrs.get(SOURCE, name))
