"""The results of parts: sums that can be added, and their files."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from ..scoring.group_sums import Sums, add_sums
from ..support.reading import readable
from ..support.storage import Place, written
from ..tables.arrow import PANDAS_TYPES
from ..tables.columns import Columns, columns_of, dataframe_of

# The most sequences of only one side that a result names.
MOST_LISTED = 1000

# Results that are added up at once.
FOLDED = 16


class Result(NamedTuple):
    """The result of one part or of several.

    `sums` are those by each grouping, empty if there were no rows. `n_rows` is how many rows each side has. `one_sided`
    is how many sequences only the truth, or only the predictions, have, with the names of the first. `n_shared` is how
    many sequences both have. `skipped` are texts on row groups that could not be read. `excluded` are the sequences
    that occurred and were left out as asked. `n_bytes` is the size of the part's match table (None: there is no file).
    """

    sums: list[Sums]
    n_rows: dict[str, int]
    one_sided: dict[str, tuple[int, list[Any]]]
    n_shared: int
    skipped: list[str]
    excluded: list[Any]
    n_bytes: int | None = None


class _Notes(msgspec.Struct):
    """The contents of a file of sums besides its tables."""

    n_rows: dict[str, int]
    one_sided: dict[str, tuple[int, list[int | str]]]
    n_shared: int
    skipped: list[str]
    excluded: list[int | str]
    n_bytes: int | None
    groupings: list[tuple[dict[int, tuple[int, int]], bool, dict[Hashable, Any]]]


def fold(results: Sequence[Any], add: Callable[[Sequence[Any]], Any]) -> Any:
    """The sum of all results by `add`, neighbours first.

    The tree of additions depends only on how many results there are, so rounding is the same on every machine. Results
    may also be futures of a cluster, if `add` takes these.
    """
    while len(results) > 1:
        results = [add(results[first : first + FOLDED]) for first in range(0, len(results), FOLDED)]
    return results[0]


def add_results(results: Sequence[Result]) -> Result:
    """The result of several parts together; they come in the order of their sequences."""
    filled = [result.sums for result in results if result.sums]
    return Result(
        [add_sums(same) for same in zip(*filled, strict=True)],
        {side: sum(result.n_rows[side] for result in results) for side in results[0].n_rows},
        {side: _listed([result.one_sided[side] for result in results]) for side in results[0].one_sided},
        sum(result.n_shared for result in results),
        list(dict.fromkeys(text for result in results for text in result.skipped)),
        list(dict.fromkeys(name for result in results for name in result.excluded)),
    )


def _listed(parts: Sequence[tuple[int, list[Any]]]) -> tuple[int, list[Any]]:
    """The count of sequences in all parts, and the names of the first."""
    return sum(count for count, _ in parts), [name for _, names in parts for name in names][:MOST_LISTED]


def write_result(place: Place, result: Result) -> None:
    """Writes a result as Arrow: a table of one row with the notes as JSON, then labels and values of each grouping."""
    groupings = [(sums.rows, sums.by_similarity, sums.attrs) for sums in result.sums]
    notes = _Notes(*result[1:], groupings)
    tables = [pa.table({"notes": [msgspec.json.encode(notes)]})]
    for sums in result.sums:
        tables += [pa.Table.from_pandas(dataframe_of(sums.labels), preserve_index=False), _values_table(sums.values)]
    with written(place) as stream:
        for table in tables:
            with pa.ipc.new_stream(stream, table.schema) as writer:
                writer.write_table(table)


def read_result(place: Place) -> Result:
    """Reads a result from its file; raises InputError if the file is damaged."""
    with readable(place.name), place.filesystem.open_input_file(place.path) as stream:
        notes = msgspec.json.decode(pa.ipc.open_stream(stream).read_all()["notes"][0].as_py(), type=_Notes)
        sums = []
        for rows, by_similarity, attrs in notes.groupings:
            labels = pa.ipc.open_stream(stream).read_all().to_pandas(types_mapper=PANDAS_TYPES.get)
            table = pa.ipc.open_stream(stream).read_all()
            labels = columns_of(labels) if len(labels.columns) else Columns({}, n_rows=table.num_rows)
            sums.append(Sums(labels, _values(table), rows, by_similarity, attrs))
    return Result(sums, notes.n_rows, notes.one_sided, notes.n_shared, notes.skipped, notes.excluded, notes.n_bytes)


def _values_table(values: Mapping[str, np.ndarray]) -> pa.Table:
    """Sums as a table with a column for each name; arrays of shape (N, K) become lists of K values."""
    columns = {}
    for name, array in values.items():
        column = pa.array(array.ravel())
        columns[name] = column if array.ndim == 1 else pa.FixedSizeListArray.from_arrays(column, array.shape[1])
    return pa.table(columns)


def _values(table: pa.Table) -> dict[str, np.ndarray]:
    """The sums in a table of `_values_table`, as writable arrays."""
    values = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        flat, shape = column.combine_chunks(), [table.num_rows]
        if pa.types.is_fixed_size_list(column.type):
            flat, shape = flat.flatten(), [*shape, column.type.list_size]
        values[name] = np.array(flat).reshape(shape)
    return values
