"""The submissions that `compare` is given: whether they are of one truth, and what they add up to by groups.

Two submissions that claim the very same, row by row, are one detector as far as anybody can see.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype, is_string_dtype

from ...scoring import AveragePrecision, Evaluable, Sums, sequence_sums
from ...support import InputError, arrays, pandas_tables
from ...tables import By, CheckedBins, Table, checks, messages, schema, selections
from .estimates import clustered, tau_of, units_of

# What tells a submission from others in tables of several, and the places of rows in a file.
NAMES = ("submission", schema.FILE_ORDER)

# Why the same truths may differ in two match tables.
_NUMBERED = (
    "where the truth has no column object, its rows are numbered within their frame and their order counts; give it a "
    "column object, or all match tables the same order"
)

# The names of single predictions, which count only where they are followed through a sequence.
IDENTITIES = ("object", "predicted_object")


def submissions(
    matches: Mapping[str, Table | NamedTuple | AveragePrecision],
    baseline: str | None,
    exclude: Iterable[int] | Iterable[str] | None,
    by: By | None,
    cluster: str | None,
    own: Sequence[str],
    function: str = "compare",
) -> tuple[dict[str, Sums], dict[str, float], str | None]:
    """The sums of submissions to the same truth, without excluded sequences, their tau, and a warning's text.

    `own` names the own metrics that are needed. Raises InputError if they are not comparable, or if `by` or `exclude`
    does not fit them; it names the function.
    """
    given, unknown = _checked(matches, baseline, exclude, function)
    columns = selections.column_bins(by)
    cuts: Mapping[str, Any] = dict.fromkeys(given, columns)
    if next(iter(given.values())).in_groups:
        given = _in_same_groups(given, cluster)
    else:
        cuts = _cuts(given, columns)
    sums = {name: clustered(of.evaluate(of.table, cuts[name] or None, own), of, cluster) for name, of in given.items()}
    return sums, {name: tau_of(of.matches) for name, of in given.items()}, unknown


def _checked(
    matches: Mapping[str, Table | NamedTuple | AveragePrecision],
    baseline: str | None,
    exclude: Iterable[int] | Iterable[str] | None,
    function: str,
) -> tuple[dict[str, Evaluable], str | None]:
    """Checks that all have the same truth; returns them without excluded sequences, and a warning's text."""
    if not isinstance(matches, Mapping):
        needed = "a dict of names and match tables is needed, such as {'a': matches, 'b': others}"
        raise InputError(f"{function}: matches is of type {type(matches).__name__}; {needed}")
    if len(matches) < 2:
        raise InputError(f"{function}: {messages.counted(len(matches), 'match table')} given; two or more are needed")
    if baseline is not None and baseline not in matches:
        known = ", ".join(map(str, matches))
        raise InputError(f"{function}: baseline: no match table has the name {baseline!r}; the names are {known}")
    given = {name: sequence_sums.evaluable(x, f"{function}: matches: {name}") for name, x in matches.items()}
    alone = [name for name, of in given.items() if of.in_groups]
    if 0 < len(alone) < len(given):
        odd = next(name for name in given if name not in alone)
        raise InputError(f"{function}: {alone[0]} is of average precision, and {odd} is not; give results of one kind")
    left_out, unknown = selections.excluded_sequences(exclude, [of.table for of in given.values()])
    given = {name: of.without(left_out) for name, of in given.items()}
    first, *others = given
    if not len(given[first].table):
        raise InputError(f"{function}: the match table of {first} has no rows")
    problems = [
        problem
        for name in others
        for problem in truth_differences(function, {first: given[first].matches, name: given[name].matches})
    ]
    if problems:
        raise InputError(problems)
    return given, unknown


def _in_same_groups(given: Mapping[str, Evaluable], cluster: str | None) -> dict[str, Evaluable]:
    """The same, with the sequences of all in the same groups, also those that only some of them have."""
    units = pd.concat([units_of(of.table, cluster) for of in given.values()])
    units = units[~units.index.duplicated()].sort_index()
    return {name: of._replace(evaluate=partial(of.evaluate, units=units)) for name, of in given.items()}


def _cuts(given: Mapping[str, Evaluable], columns: Mapping[str, CheckedBins]) -> dict[str, list[pd.Series]]:
    """The values to group the table of each submission by; all submissions share their bins.

    Raises InputError for columns of the predictions, by which the submissions have different groups.
    """
    of_predictions = [
        name for name in columns if name.startswith(schema.SIDE_PREFIXES[1]) or name == "frame_n_predicted"
    ]
    if of_predictions:
        problem = "differs between submissions; give a column of the truth, the frames or the sequences"
        raise InputError(f"compare: by: {of_predictions[0]} {problem}")
    for of in given.values():
        for column in columns:
            selections.check_column(of.table[of.columns], column, of.called)
    return selections.binned_together({name: of.table for name, of in given.items()}, columns)


def groups_of(several: Mapping[str, Sums]) -> Iterator[tuple[dict[str, Any], dict[str, Sums]]]:
    """The labels of each group that all have, each in an array of one value, and the sums of this group."""
    keys = {
        name: list(zip(*of.labels.arrays.values(), strict=True)) if of.labels.columns else [()]
        for name, of in several.items()
    }
    first = next(iter(several.values()))
    positions = {name: {key: position for position, key in enumerate(of)} for name, of in keys.items()}
    shared = [key for key in next(iter(keys.values())) if all(key in of for of in positions.values())]
    if not shared:
        raise InputError("compare: by: no group has rows in every match table")
    for key in shared:
        at = {name: of[key] for name, of in positions.items()}
        labels = first.labels.take(np.array([next(iter(at.values()))])).arrays
        yield labels, {name: of.of_group(at[name]) for name, of in several.items()}


def labelled(table: pd.DataFrame, labels: Mapping[str, Any]) -> pd.DataFrame:
    """The table with the labels of its group as first columns; each label is an array of one value."""
    answer = table.assign(
        **{name: pd.Series(value).array.take(np.zeros(len(table), np.int64)) for name, value in labels.items()}
    )
    return answer[[*labels, *table]]


def truth_differences(function: str, tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Lists the differences between the truths of two match tables, one text each; empty where they are the same.

    `tables` has the two checked tables by name. Texts begin with the name of the calling `function`.
    """
    (name, table), (other_name, other) = tables.items()
    key = schema.frame_columns(table)
    if key != schema.frame_columns(other):
        return [f"{function}: {name} and {other_name}: only one of the tables has a column joint"]
    if schema.measure_of(table) != schema.measure_of(other):
        return [f"{function}: {name} and {other_name}: one was matched by distance, the other by similarity"]
    with_category = [label for label, matches in tables.items() if "category" in matches]
    if len(with_category) == 1 and all(_could_have_category(matches) for matches in tables.values()):
        problem = f"only {with_category[0]} was matched by category; give all predictions a column category, or none"
        return [f"{function}: {name} and {other_name}: {problem}"]
    geometry = [f"truth_{column}" for column in ("object", "x", "y", "w", "h")]
    columns = [*key, *(column for column in geometry if column in table and column in other)]
    if _are_equal(table, other, columns):
        return []
    truths = [_plain(side, columns) for side in (table, other)]
    # Mostly they come in the same order, and sorting takes most of the time.
    if truths[0].equals(truths[1]) or not any(map(len, truths)):
        return []
    truths = [side.sort_values(columns, ignore_index=True) for side in truths]
    if truths[0].equals(truths[1]):
        return []
    if not all(map(len, truths)):
        odd = pd.concat(truths)
    else:
        texts = [[is_string_dtype(side[column].dtype) for column in columns] for side in truths]
        for column, is_text, is_other_text in zip(columns, *texts, strict=True):
            if is_text != is_other_text:
                text, plain = (name, other_name) if is_text else (other_name, name)
                return [f"{function}: {text}: column {column} is text, and in {plain} it is not; make them the same"]
        # Truths without identities may be equal, so that equal ones are told apart by their count.
        of_each = [side.assign(copy=side.groupby(columns, dropna=False).cumcount()) for side in truths]
        together = of_each[0].merge(of_each[1], how="outer", indicator=True)
        odd = together.loc[together["_merge"] != "both", columns]
    problem = messages.counted(len(odd), "truth") + f" in only one of {name} and {other_name}"
    which = messages.first_keys(odd.convert_dtypes(), np.ones(len(odd), bool), columns)
    why = f"; {_NUMBERED}" if _are_numbered(tables.values(), truths) else ""
    return [f"{function}: {problem}: {which}{why}"]


def _are_numbered(tables: Iterable[pd.DataFrame], truths: Sequence[pd.DataFrame]) -> bool:
    """Whether truths differ by what their rows were numbered: by the tables' notes, or since all else is the same.

    Tables of polars keep no notes. `truths` are those of both tables, sorted.
    """
    if any(table.attrs.get(schema.NUMBERED) for table in tables):
        return True
    if "truth_object" not in truths[0] or len(truths[0]) != len(truths[1]):
        return False
    places = [side.drop(columns="truth_object") for side in truths]
    places = [side.sort_values([*side], ignore_index=True) for side in places]
    return bool(places[0].equals(places[1]))


def _could_have_category(table: pd.DataFrame) -> bool:
    """Whether truths have a category here, and there are predictions, which may have one."""
    return "truth_category" in table and bool(np.isin(table["outcome"].array.codes, [schema.TP, schema.FP]).any())


def _are_equal(table: pd.DataFrame, other: pd.DataFrame, columns: Sequence[str]) -> bool:
    """Whether the truths have the same values of the same data types in the same order, which is known much sooner."""
    sides = [(side, _of_truths(side)) for side in (table, other)]
    for column in columns:
        a, b = (side[column].array.take(rows) for side, rows in sides)
        if a.dtype != b.dtype or not pd.Series(a, copy=False).equals(pd.Series(b, copy=False)):
            return False
    return True


def _of_truths(table: pd.DataFrame) -> np.ndarray:
    """The positions of the rows of truths in a match table."""
    return np.flatnonzero(np.isin(table["outcome"].array.codes, [schema.TP, schema.FN]))


def _plain(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The truths of a match table, with data types that are the same for every kind of table and file."""
    rows = table[[*columns]].take(_of_truths(table)).reset_index(drop=True)
    return pd.DataFrame({column: _plain_column(rows[column]) for column in columns})


def _plain_column(values: pd.Series) -> Any:
    """Converts a column to int64, float64 or text, so that columns of different origin can be compared.

    Key columns of whole values become int64, also where a file or a merge made them float64. Integer keys never pass
    through float64, which cannot tell integers beyond 2**53 apart. Other numeric columns become float64, all else text.
    """
    values = checks.decoded(values).infer_objects()
    if not is_numeric_dtype(values.dtype):
        return values.astype(pandas_tables.TEXT).array
    is_key = values.name in (*schema.FRAME_KEY, "joint", "truth_object")
    if is_key and pd.api.types.is_integer_dtype(values.dtype) and not values.isna().any():
        return values.to_numpy(np.int64)
    floats = values.to_numpy(np.float64, na_value=np.nan)
    are_whole = is_key and np.all((floats % 1 == 0) & (np.abs(floats) < 1 << 63))
    return floats.astype(np.int64) if are_whole else floats


def same_rows(
    a: Table | NamedTuple | AveragePrecision,
    b: Table | NamedTuple | AveragePrecision,
    exclude: Sequence[int | str] | None = None,
) -> bool:
    """Whether two submissions to the same truth have the same rows, whatever their order.

    `a` and `b` are match tables, or what `track`, `pose` or `average_precision` returned; `exclude` are checked
    sequences to leave out. All columns count, but for a column `submission` and the order of files; of detections also
    but for the names of predicted objects. Raises InputError if one is neither.
    """
    return all(
        _are_same(selections.without_sequences(of_a, exclude), selections.without_sequences(of_b, exclude))
        for of_a, of_b in zip(_tables(a), _tables(b), strict=True)
    )


def _tables(x: Any) -> list[pd.DataFrame]:
    """What a submission claims, and about what: its match table, or the two sides of an average precision."""
    if isinstance(x, AveragePrecision):
        aligned = x.matched.detections.aligned
        sides = aligned.truth.table, aligned.predictions.table
        return [_counting(pd.DataFrame(side.arrays, copy=False), IDENTITIES) for side in sides]
    return [_counting(sequence_sums.evaluable(x, "rows").matches, () if sequence_sums.is_result(x) else IDENTITIES)]


def _counting(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The columns of a table that count."""
    return table.drop(columns=[*NAMES, *names], errors="ignore")


def _are_same(a: pd.DataFrame, b: pd.DataFrame) -> bool:
    """Whether two tables have the same columns and rows, whatever their order."""
    if len(a) != len(b) or {*a.columns} != {*b.columns}:
        return False
    b = b[a.columns]
    return bool(a.reset_index(drop=True).equals(b.reset_index(drop=True))) or _are_same_sorted(a, b)


def _are_same_sorted(a: pd.DataFrame, b: pd.DataFrame) -> bool:
    """The same of equally long tables with the same columns, whose rows are numbered and sorted."""
    codes, spans = [], []
    for name in a:
        sides = [_numbers_or_text(of[name]) for of in (a, b)]
        if sides[0].dtype != sides[1].dtype and not all(is_numeric_dtype(side.dtype) for side in sides):
            return False
        of_sides, span = arrays.ordinals(sides)
        if not _are_permuted(*of_sides):  # mostly the first columns tell
            return False
        codes.append(np.concatenate(of_sides))
        spans.append(span)
    return not codes or _are_permuted(*np.split(arrays.pack(codes, spans), 2))


def _numbers_or_text(values: pd.Series) -> pd.Series:
    """A column of numbers, or of text for everything else."""
    plain = checks.decoded(values).infer_objects()
    return plain if is_numeric_dtype(plain.dtype) else plain.astype(pandas_tables.TEXT)


def _are_permuted(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have the same values, each as often."""
    return bool(np.array_equal(np.sort(a), np.sort(b)))
