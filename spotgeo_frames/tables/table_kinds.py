"""The same kind of table out as in: pandas, polars or pyarrow.

Functions work on pandas tables. `same_kind_as` stands over those that return tables: it converts what they return to
the kind of the argument that it names. The conversion goes through Arrow and keeps identities, categories and nulls;
NaN becomes null, and bins become text such as `12 to 47`. A pyarrow Table keeps the notes (`attrs`) in its metadata;
polars has no place for them.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial, update_wrapper, wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, get_args

from ..support import InputError, bins_as_text, check_memory, first_line, writing
from .provenance import SOURCE
from .schema import PREFIXES
from .table import collected, is_polars, is_scanned

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

TableKind = Literal["pandas", "polars", "pyarrow"]

# The `stacklevel` of a warning in a function under `same_kind_as`, which is called by the decorator: 3, not 2.
CALLER = 3

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def check_kind(table: object) -> TableKind:
    """The kind that the argument `table` of a reader names.

    Raises ValueError if there is no such kind, ImportError if it is polars and polars is not installed.
    """
    kinds: dict[object, TableKind] = {kind: kind for kind in get_args(TableKind)}
    if not isinstance(table, str) or table not in kinds:
        raise ValueError(f"table is {table!r}; 'pandas', 'polars' or 'pyarrow' is needed")
    if table == "polars":
        try:
            import polars  # noqa: F401
        except ImportError as error:
            raise ImportError(f"table='polars': polars cannot be imported ({error}); pip install polars") from None
    return kinds[table]


def kind_of(given: Any) -> TableKind:
    """The kind of a table; of a tuple, list or dict of tables, such as Annotations, that of the first.

    What only exports an Arrow stream, such as a relation of DuckDB, and what is no table at all count as pandas.
    """
    if _is_late(given):
        kind: TableKind = given.kind
        return kind
    if isinstance(given, tuple | list | Mapping) and given:
        return kind_of(next(iter(given.values())) if isinstance(given, Mapping) else given[0])
    if "pyarrow" in sys.modules:  # otherwise nothing can be of it
        import pyarrow as pa

        if isinstance(given, pa.Table | pa.RecordBatch | pa.RecordBatchReader) or is_scanned(given):
            return "pyarrow"
    return "polars" if is_polars(given) or is_polars(given, "LazyFrame") else "pandas"


def _is_late(given: object) -> bool:
    """Whether this is a result that makes some of its tables only when they are asked for.

    Such a result has a method `in_kind`, and knows its `kind` and its `categorical` columns. The class is asked, since
    a DataFrame has its columns as attributes.
    """
    return hasattr(type(given), "in_kind")


def as_kind(result: Any, kind: TableKind, categorical: Collection[str] = ()) -> Any:
    """Pandas tables, also within results, as tables of `kind`; anything else as it is.

    In polars, categories become an Enum in their order; the columns `categorical` become Categorical. Raises InputError
    if a column holds what Arrow does not know.
    """
    if kind == "pandas":
        return result
    import pandas as pd

    if isinstance(result, pd.DataFrame):
        table = _pyarrow_table(result)
        return table if kind == "pyarrow" else _polars_table(table, result, categorical)
    if _is_late(result):
        return result.in_kind(kind, categorical)
    if isinstance(result, tuple):
        parts = [as_kind(part, kind, categorical) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    return result


def _pyarrow_table(frame: pd.DataFrame) -> pa.Table:
    """A pandas table as a pyarrow Table, with its notes in the metadata but for the file that it was read from."""
    import pyarrow as pa

    notes = {key: value for key, value in frame.attrs.items() if key != SOURCE}
    try:
        return writing.as_arrow(bins_as_text(frame), notes)
    except pa.ArrowException as error:
        check_memory(error, "the result")
        reason = error.args[-1] if error.args else error  # the last of several names the column
        hint = "give tables without that column, or all of them as pandas"
        raise InputError(f"the result cannot be an Arrow table: {reason}; {hint}") from None


def _polars_table(table: pa.Table, frame: pd.DataFrame, categorical: Collection[str]) -> Any:
    """A pyarrow Table, made of `frame`, as a DataFrame of polars."""
    import polars as pl
    import pyarrow as pa

    types: dict[str, Any] = {}
    for position, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(position, field.name, table.column(position).cast(field.type.value_type))
            if _is_text(field.type.value_type):  # polars knows categories of text only
                is_enum = field.name not in categorical
                types[field.name] = pl.Enum(list(frame[field.name].cat.categories)) if is_enum else pl.Categorical
    made = pl.from_arrow(table)
    return made.cast(types) if types else made  # type: ignore[arg-type]


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


# The arguments that are functions of the caller's from two tables to a measure of each pair of their rows.
MEASURES = ["similarity", "distance"]


def same_kind_as(name: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """A decorator of functions whose tables come back as the kind of the argument `name`.

    Tables may be those of Annotations, or the values of a dict, of which the first decides. Type checkers see what the
    function is annotated with.
    """

    def decorated(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        signature = inspect.signature(function)
        prepared = partial(_prepared, signature, list(signature.parameters).index(name), name)
        finished = as_kind

        def same_kind(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            kind, args, kwargs, categorical = prepared(args, kwargs)  # type: ignore[assignment]
            return finished(function(*args, **kwargs), kind, categorical)

        # A copy with the globals of the function's module, because doctest looks only at functions that have those. So
        # `same_kind` uses no global name of this module.
        own: Any = FunctionType(same_kind.__code__, function.__globals__, None, None, same_kind.__closure__)
        return update_wrapper(own, function)

    return decorated


def _prepared(
    signature: inspect.Signature, position: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[TableKind, tuple[Any, ...], dict[str, Any], Collection[str]]:
    """The kind of the argument `name`, the arguments to call with, and the columns that are Categorical in polars.

    LazyFrames are collected, expressions in `by` evaluated, and a `similarity` or `distance` that is a function gets
    tables of the kind, as a `matcher` does that takes `tables`.
    """
    kind = kind_of(args[position] if position < len(args) else kwargs.get(name))
    if kind == "pandas":
        return kind, args, kwargs, ()
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:  # the call itself will say what is wrong with it
        return "pandas", args, kwargs, ()
    given = bound.arguments
    if kind == "polars":
        given |= {key: _collected(value, key) for key, value in given.items()}
        if given.get("by") is not None:
            given["by"] = _evaluated(given["by"], given[name])
    for argument in (*MEASURES, *(["matcher"] if "matcher" in given and given.get("tables") else [])):
        if callable(given.get(argument)):
            given[argument] = taking_kind(given[argument], kind)
    return kind, bound.args, bound.kwargs, {*_categorical(list(given.values()))} if kind == "polars" else ()


def _collected(given: Any, name: str) -> Any:
    """LazyFrames, also within tuples and dicts, as DataFrames; anything else as it is."""
    if isinstance(given, Mapping):
        return {key: _collected(value, f"{name}: {key}") for key, value in given.items()}
    if isinstance(given, tuple) and hasattr(given, "_fields"):
        fields = zip(given._fields, given, strict=True)
        return type(given)(*(_collected(value, f"{name} {field}") for field, value in fields))
    return collected(given, name)


def _evaluated(by: Any, table: Any) -> Any:
    """`by` with polars expressions, alone or in a list, as Series with a value for each row of `table`.

    Raises InputError if an expression fails, gives several columns, or gives another count of values than rows.
    """
    if isinstance(by, list | tuple):
        return [_evaluated(key, table) for key in by]
    if not is_polars(by, "Expr"):
        return by
    if not is_polars(table):
        raise InputError(f"by: {by} is an expression; here names of columns are needed")
    try:
        columns = table.select(by).get_columns()
    except Exception as error:  # of polars, or of functions of the caller's within the expression
        check_memory(error, "by")
        raise InputError(f"by: the expression {by} fails on the table: {first_line(error)}") from None
    if len(columns) != 1:
        names = ", ".join(column.name for column in columns) or "none"
        raise InputError(f"by: the expression {by} gives {len(columns)} columns ({names}); one is needed, give each")
    if len(columns[0]) != len(table):
        problem = f"gives {len(columns[0]):,} values; the table has {len(table):,} rows, and each needs one"
        raise InputError(f"by: the expression {by} {problem}")
    return columns[0]


def taking_kind(measure: Callable[..., Any], kind: TableKind) -> Callable[..., Any]:
    """A similarity, a distance or a matcher of the caller's that gets its rows as tables of `kind`."""

    @wraps(measure)
    def converted(truth: pd.DataFrame, predictions: pd.DataFrame) -> Any:
        return measure(as_kind(truth, kind), as_kind(predictions, kind))

    converted.__name__ = getattr(measure, "__name__", type(measure).__name__)
    return converted


def of_kind(measure: Any, kind: TableKind) -> Any:
    """A similarity or a distance that gets its rows as tables of `kind` if it is a function; a name stays as it is."""
    return taking_kind(measure, kind) if callable(measure) and kind != "pandas" else measure


def _categorical(given: Any) -> Iterator[str]:
    """The names that Categorical columns of polars, wherever they are in `given`, have in a result."""
    import polars as pl

    if isinstance(given, list | tuple | Mapping):
        for part in given.values() if isinstance(given, Mapping) else given:
            yield from _categorical(part)
    elif _is_late(given):
        yield from given.categorical
    elif isinstance(given, pl.Series):
        yield from [given.name] if given.dtype == pl.Categorical else []
    elif isinstance(given, pl.DataFrame):
        for name, kind in given.schema.items():
            yield from [name, *(f"{prefix}{name}" for prefix in PREFIXES.values())] if kind == pl.Categorical else []


def categorical_columns(*given: Any) -> Collection[str]:
    """The names of the Categorical columns of these tables, those that are of polars."""
    return {*_categorical(given)} if kind_of(given) == "polars" else ()
