"""What comes of parts: sums that add up, and their files."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa

from ..scoring.group_sums import Sums, add_sums
from ..support.reading import readable
from ..support.storage import Place, written

# Sequences of one side only that are listed by name.
MOST_LISTED = 1000

# Results that are put together at once.
FOLDED = 16


class Result(NamedTuple):
    """What came of a part, or of several: sums by each grouping (none where nothing was there), and what was noticed.

    `n_rows` are the rows of each side, `one_sided` how many sequences only the truth or only the predictions have and
    the first of them, `n_shared` how many both have, `skipped` what could not be read, `excluded` the sequences that
    were there and left out as asked, and `n_bytes` the size of the part's match table (None: there is no file).
    """

    sums: list[Sums]
    n_rows: dict[str, int]
    one_sided: dict[str, tuple[int, list[Any]]]
    n_shared: int
    skipped: list[str]
    excluded: list[Any]
    n_bytes: int | None = None


class _Notes(msgspec.Struct):
    """What a file of sums says besides the tables."""

    n_rows: dict[str, int]
    one_sided: dict[str, tuple[int, list[int | str]]]
    n_shared: int
    skipped: list[str]
    excluded: list[int | str]
    n_bytes: int | None
    groupings: list[tuple[dict[int, tuple[int, int]], bool, dict[Hashable, Any]]]


def fold(results: Sequence[Any], add: Callable[[Sequence[Any]], Any]) -> Any:
    """All results put together by `add`, neighbours first: in the same tree, and so with the same sums, wherever.

    They are what `add_results` takes, or what a cluster has instead of them.
    """
    while len(results) > 1:
        results = [add(results[first : first + FOLDED]) for first in range(0, len(results), FOLDED)]
    return results[0]


def add_results(results: Sequence[Result]) -> Result:
    """What came of several parts, in the order of their sequences."""
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
    return sum(number for number, _ in parts), [name for _, names in parts for name in names][:MOST_LISTED]


def write_result(place: Place, result: Result) -> None:
    """Writes a result as Arrow: a table of one row with the notes as JSON, then labels and values of each grouping."""
    groupings = [(sums.rows, sums.by_similarity, sums.attrs) for sums in result.sums]
    notes = _Notes(*result[1:], groupings)
    tables = [pa.table({"notes": [msgspec.json.encode(notes)]})]
    for sums in result.sums:
        tables += [pa.Table.from_pandas(sums.labels, preserve_index=False), _values_table(sums.values)]
    with written(place) as stream:
        for table in tables:
            with pa.ipc.new_stream(stream, table.schema) as writer:
                writer.write_table(table)


def read_result(place: Place) -> Result:
    """Reads what `write_result` wrote; raises InputError where the file is damaged."""
    with readable(place.name), place.filesystem.open_input_file(place.path) as stream:
        notes = msgspec.json.decode(pa.ipc.open_stream(stream).read_all()["notes"][0].as_py(), type=_Notes)
        sums = []
        for rows, by_similarity, attrs in notes.groupings:
            labels = pa.ipc.open_stream(stream).read_all().to_pandas()
            table = pa.ipc.open_stream(stream).read_all()
            labels = labels if len(labels.columns) else pd.DataFrame(index=range(table.num_rows))
            sums.append(Sums(labels, _values(table), rows, by_similarity, attrs))
    return Result(sums, notes.n_rows, notes.one_sided, notes.n_shared, notes.skipped, notes.excluded, notes.n_bytes)


def _values_table(values: Mapping[str, np.ndarray]) -> pa.Table:
    """Sums as a table, a column a name; those of shape (N, K) are lists of K."""
    columns = {}
    for name, array in values.items():
        column = pa.array(array.ravel())
        columns[name] = column if array.ndim == 1 else pa.FixedSizeListArray.from_arrays(column, array.shape[1])
    return pa.table(columns)


def _values(table: pa.Table) -> dict[str, np.ndarray]:
    """The sums of a table that `_values_table` made, as arrays that can be written to."""
    values = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        flat, shape = column.combine_chunks(), [table.num_rows]
        if pa.types.is_fixed_size_list(column.type):
            flat, shape = flat.flatten(), [*shape, column.type.list_size]
        values[name] = np.array(flat).reshape(shape)
    return values
