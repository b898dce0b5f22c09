"""The rows of row groups as Arrow tables: read, with the types of the dataset, put in order, and some left out."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..support.errors import InputError, check_memory, first_line
from ..support.memory import check_at_hand
from ..tables.arrow import text_bytes
from ..tables.key_values import arrow_key
from .contents import BATCH_ROWS
from .files import Gap, OpenedFiles, RowGroup

# The most rows, and their most bytes, that are sorted in memory at the same time.
SORTED_ROWS, SORTED_BYTES = 1 << 21, 1 << 27

# The estimated size of a text value.
TEXT_BYTES = 32

# The most bytes of text that are taken out of their dictionary at once.
PIECE_BYTES = 1 << 23

# What to do where rows take too much memory.
SHORTER = "write shorter text, or fewer rows to a sequence"


class UnreadableError(InputError):
    """A row group cannot be read, or does not agree with its footer."""

    def __init__(self, group: RowGroup, why: str):
        super().__init__(f"{group.file.place.name}: row group {group.order[1]}: {why}")
        self.group, self.why = group, why

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.group, self.why)


def row_group_batches(files: OpenedFiles, group: RowGroup, schema: pa.Schema, at_once: int) -> Iterator[pa.Table]:
    """The rows of a row group in batches, in their order, with the columns of the schema; no batch is empty.

    Raises UnreadableError if they cannot be read.
    """
    names = [name for name in schema.names if name not in group.file.partition]
    try:
        there = {*files.footer(group.file).schema.names}
        names = [name for name in names if name in there]
        decoded = [name for name in names if pa.types.is_string(schema.field(name).type)]
        for batch in files.batches(group.file, group.order[1], names, at_once):
            for piece in _pieces(batch, decoded):
                yield _conformed(pa.Table.from_batches([piece]), schema, group)
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:  # a store that fsspec reaches may raise any of these
        check_memory(error, group.file.place.name)
        raise UnreadableError(group, f"cannot be read: {first_line(error)}") from None


def _pieces(batch: pa.RecordBatch, decoded: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """A batch in pieces whose text, in these columns, takes at most PIECE_BYTES each without a dictionary."""
    columns = [batch.column(name) for name in decoded]
    if len(batch) > 1 and sum(map(text_bytes, columns)) > PIECE_BYTES:
        half = len(batch) // 2
        yield from _pieces(batch.slice(0, half), decoded)
        yield from _pieces(batch.slice(half), decoded)
    elif len(batch):
        yield batch


def gathered(batches: Iterable[pa.Table], name: str) -> list[pa.Table]:
    """The batches, which are sorted in memory together; raises InputError, which `name` begins, if that is short."""
    tables: list[pa.Table] = []
    n_bytes = 0
    for rows in batches:
        tables.append(rows)
        n_bytes += rows.nbytes
        check_at_hand(name, "to sort rows in memory", 2 * n_bytes, SHORTER)
    return tables


def sequences_of(group: RowGroup) -> list[Any]:
    """The sequences of a row group, which are read; raises UnreadableError if they cannot be."""
    files, found = OpenedFiles(), set[Any]()
    for rows in row_group_batches(files, group, sequence_schema(group), BATCH_ROWS):
        found.update(rows["sequence"].unique().to_pylist())
    return sorted(found)


def sequence_schema(group: RowGroup) -> pa.Schema:
    """The column `sequence` of a row group, with the type to read it as."""
    return pa.schema([("sequence", pa.string() if isinstance(group.low, str) else pa.int64())])


def kept_rows(rows: pa.Table, exclude: Sequence[int | str], gaps: Sequence[Gap] = ()) -> pa.Table:
    """The rows of the sequences that are neither excluded nor in a gap."""
    if not len(rows) or not (exclude or gaps):
        return rows
    sequence = rows["sequence"]
    out = [pc.is_in(sequence, pa.array(exclude, sequence.type))] if exclude else []
    for gap in gaps:
        if gap.listed is not None:
            out.append(pc.is_in(sequence, pa.array(gap.listed, sequence.type)))
            continue
        above = None if gap.low is None else pc.greater_equal(sequence, gap.low)
        below = None if gap.high is None else pc.less_equal(sequence, gap.high)
        bounds = [bound for bound in (above, below) if bound is not None]
        out.append(reduce(pc.and_, bounds) if bounds else pa.repeat(True, len(sequence)))
    return rows.filter(pc.invert(reduce(pc.or_, out)))


def rows_within(n_rows: int, n_bytes: int, schemas: Sequence[pa.Schema]) -> int:
    """`n_rows`, or fewer if that many rows would take more than `n_bytes`, by the mean width of the sides' rows."""
    types = [field.type for schema in schemas for field in schema]
    width = sum(8 if pa.types.is_primitive(kind) else TEXT_BYTES for kind in types)
    return max(1, min(n_rows, n_bytes * len(schemas) // max(width, 1)))


def most_sorted(schemas: Sequence[pa.Schema]) -> int:
    """The most rows of the sides with these columns that are sorted in memory."""
    return rows_within(SORTED_ROWS, SORTED_BYTES, schemas)


def _conformed(rows: pa.Table, schema: pa.Schema, group: RowGroup) -> pa.Table:
    """The rows with the columns and types of the schema; hive partitions repeat, missing columns are null."""
    columns = []
    positions = {name: position for position, name in enumerate(rows.schema.names)}
    for column in schema:
        if column.name in group.file.partition:
            columns.append(pa.repeat(pa.scalar(group.file.partition[column.name], column.type), len(rows)))
        elif column.name in positions:
            values = rows.column(positions[column.name])
            try:
                columns.append(values if values.type == column.type else arrow_key(values, column.type))
            except pa.ArrowException as error:
                check_memory(error, group.file.place.name)
                raise UnreadableError(group, f"column {column.name}: cannot be read: {first_line(error)}") from None
        else:
            columns.append(pa.nulls(len(rows), column.type))
    conformed = pa.table(columns, schema=schema)
    if conformed["sequence"].null_count:
        raise UnreadableError(group, "column sequence: some rows are null")
    return conformed


def in_key_order(rows: pa.Table) -> pa.Table:
    """The rows sorted by sequence, and by frame where there is such a column; rows of a frame stay in their order."""
    keys = [(name, "ascending") for name in keys_of(rows.schema)]
    batches = rows.combine_chunks().to_batches()
    whole = batches[0] if len(batches) == 1 else rows  # a single batch is sorted, and taken, in half the time
    taken = whole.take(pc.sort_indices(whole, keys))  # which is stable
    return taken if isinstance(taken, pa.Table) else pa.Table.from_batches([taken])


def keys_of(schema: pa.Schema) -> list[str]:
    """The columns that rows are sorted by: `sequence`, and `frame` if it is there and of integers."""
    has_frames = "frame" in schema.names and pa.types.is_integer(schema.field("frame").type)
    return ["sequence", "frame"] if has_frames else ["sequence"]
