"""Reads a part as blocks of whole sequences; memory holds little more than one block, however large the part is.

Each chain of row groups is read batch by batch, in the order of sequences. A block has the rows of all sequences that
are complete: no chain can bring more of their rows. The rows within a row group need not be in order. If some are not,
the caller reads the part again, and each row group is sorted in memory, unless it is too large for that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import zip_longest
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ..support.errors import InputError, check_memory, first_line
from .contents import Gap, RowGroup
from .files import Expected, File, OpenedFiles
from .parts import Part, out_of_order

# The most rows of a block, both sides together, and their most bytes if there are many columns. Smaller blocks would
# waste time, since each block has a fixed cost.
BLOCK_ROWS, BLOCK_BYTES = 1 << 19, 1 << 26

# Batches that make up a block.
BATCHES = 8

# The most rows, and their most bytes, that are sorted in memory at the same time.
SORTED_ROWS, SORTED_BYTES = 1 << 21, 1 << 27

# The estimated size of a text value.
TEXT_BYTES = 32


class Source(NamedTuple):
    """One side: its name in messages, and the columns to read, with their types."""

    name: str
    schema: pa.Schema


class Block(NamedTuple):
    """Rows of one side, in file order within a sequence, and the name of their file, or of the dataset."""

    rows: pa.Table
    name: str


class OutOfOrderError(Exception):
    """The rows of a row group are not in the order of their sequences."""


class UnreadableError(InputError):
    """A row group cannot be read, or does not agree with its footer."""

    def __init__(self, group: RowGroup, why: str):
        super().__init__(f"{group.file.place.name}: row group {group.order[1]}: {why}")
        self.group, self.why = group, why

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.group, self.why)


class _Batch(NamedTuple):
    """Rows in the order of sequences; batches sorted by `order` are in the order of the files."""

    order: tuple[int, ...]
    file: File
    rows: pa.Table


@dataclass
class _Chain:
    """A chain that is being read: its waiting rows, and the least sequence that may still come (None: it has ended)."""

    batches: Iterator[tuple[_Batch, Any]]
    frontier: Any
    waiting: list[_Batch] = field(default_factory=list)

    def read(self) -> int:
        """Reads one more batch; returns how many rows it has."""
        batch, self.frontier = next(self.batches, (None, None))
        if batch is None:
            return 0
        self.waiting.append(batch)
        return len(batch.rows)

    def take(self, cut: Any) -> list[_Batch]:
        """Takes out the waiting rows of sequences before `cut`; all of them if `cut` is None."""
        waiting, self.waiting = self.waiting, []
        if cut is None:
            return waiting
        taken = []
        for batch in waiting:
            n_before = _n_before(batch.rows["sequence"], cut)
            if n_before:
                taken.append(batch._replace(rows=batch.rows.slice(0, n_before)))
            if n_before < len(batch.rows):
                self.waiting.append(batch._replace(rows=batch.rows.slice(n_before)))
        return taken


def read_blocks(part: Part, sources: Mapping[str, Source], *, in_memory: bool = False) -> Iterator[dict[str, Block]]:
    """Yields the rows of each side, in blocks that never split a sequence; a side may have no rows in a block.

    The frontier of a chain is the least sequence that it may still bring. Sequences before all frontiers are complete.
    A row group is read to its end even if only its beginning belongs to the part, to check that it is in order and
    intact. `in_memory` sorts each row group. Raises OutOfOrderError if that is needed, UnreadableError if a row group
    cannot be read, and InputError if the rows cannot be put in order with bounded memory.
    """
    if in_memory:
        _check_moderate(part, sources)
    block_rows = rows_within(BLOCK_ROWS, BLOCK_BYTES, [source.schema for source in sources.values()])
    n_chains = sum(map(len, part.chains.values()))
    chains = {
        side: [
            _Chain(
                _batches(chain, sources[side].schema, part, in_memory, max(block_rows // BATCHES, 1), n_chains),
                chain[0].low,
            )
            for chain in part.chains[side]
        ]
        for side in sources
    }
    every = [chain for of_side in chains.values() for chain in of_side]
    n_waiting = 0
    while True:
        unfinished = [chain for chain in every if chain.frontier is not None]
        while unfinished and n_waiting < block_rows:
            n_waiting += _furthest_back(unfinished).read()
            unfinished = [chain for chain in every if chain.frontier is not None]
        cut = _furthest_back(unfinished).frontier if unfinished else None
        taken = {side: [batch for chain in of_side for batch in chain.take(cut)] for side, of_side in chains.items()}
        n_taken = sum(len(batch.rows) for batches in taken.values() for batch in batches)
        n_waiting -= n_taken
        if n_taken:
            blocks = {side: _block(batches, sources[side]) for side, batches in taken.items()}
            del taken  # so that the caller can free the blocks
            yield blocks
            del blocks
        elif unfinished:  # a sequence of more rows than a block
            n_waiting += _furthest_back(unfinished).read()
        else:
            return


def _furthest_back(chains: Sequence[_Chain]) -> _Chain:
    """The chain with the least frontier."""
    return min(chains, key=lambda chain: chain.frontier)


def _check_moderate(part: Part, sources: Mapping[str, Source]) -> None:
    """Raises InputError if sorting row groups would take too much memory."""
    for side, source in sources.items():
        n_rows = sum(max(group.n_rows for group in chain) for chain in part.chains[side])
        if n_rows > rows_within(SORTED_ROWS, SORTED_BYTES, [source.schema]):
            raise out_of_order(source.name, f"{n_rows:,} of them would have to be sorted at once")


def _block(batches: Sequence[_Batch], source: Source) -> Block:
    """The batches as one table, in the order of the files."""
    if not batches:
        return Block(source.schema.empty_table(), source.name)
    files = {batch.file.place.name for batch in batches}
    rows = pa.concat_tables([batch.rows for batch in sorted(batches, key=lambda batch: batch.order)])
    rows = rows.combine_chunks()  # pandas takes contiguous columns as they are, and is slower to combine pieces
    return Block(rows, files.pop() if len(files) == 1 else source.name)


def _batches(
    chain: Sequence[RowGroup], schema: pa.Schema, part: Part, in_memory: bool, at_once: int, n_chains: int
) -> Iterator[tuple[_Batch, Any]]:
    """The rows of a chain that belong to the part, batch by batch, and the least sequence that may come after each."""
    files = OpenedFiles(n_chains)
    small = [group for group in chain if group.n_rows <= at_once]
    files.expect([Expected(group.file, group.order[1], schema.names, at_once) for group in small])
    for group, after in zip_longest(chain, chain[1:]):
        n_left, last = group.n_rows, group.low
        for position, rows in enumerate(_read(files, group, schema, in_memory, at_once)):
            sequence = rows["sequence"]
            first, n_left = sequence[0].as_py(), n_left - len(rows)
            if not _in_order(sequence) or (position and first < last):
                raise OutOfOrderError
            last = sequence[-1].as_py()
            if first < group.low or last > group.high:
                # Skipping the row group would not help: its rows may belong to other parts, which would lack them.
                name = group.file.place.name
                raise InputError(f"{name}: holds other sequences than its statistics say; write the file anew")
            begin = 0 if part.low is None else _n_before(sequence, part.low)
            end = len(rows) if part.high is None else _n_before(sequence, part.high)
            if begin < end:
                frontier = last if n_left else None if after is None else after.low
                yield _Batch((*group.order, position), group.file, rows.slice(begin, end - begin)), frontier


def _read(files: OpenedFiles, group: RowGroup, schema: pa.Schema, in_memory: bool, at_once: int) -> Iterator[pa.Table]:
    """The rows of a row group in batches, sorted by sequence if `in_memory`."""
    batches = row_group_batches(files, group, schema, at_once)
    if not in_memory:
        yield from batches
        return
    whole = by_sequence(pa.concat_tables(batches))
    for first in range(0, len(whole), at_once):
        yield whole.slice(first, at_once)


def by_sequence(rows: pa.Table) -> pa.Table:
    """The rows sorted by sequence; rows of the same sequence stay in their order."""
    return rows.take(pc.sort_indices(rows["sequence"]))  # which is stable


def row_group_batches(files: OpenedFiles, group: RowGroup, schema: pa.Schema, at_once: int) -> Iterator[pa.Table]:
    """The rows of a row group in batches, in their order, with the columns of the schema; no batch is empty.

    Raises UnreadableError if they cannot be read.
    """
    names = [name for name in schema.names if name not in group.file.partition]
    try:
        there = {*files.footer(group.file).schema.names}
        names = [name for name in names if name in there]
        for batch in files.batches(group.file, group.order[1], names, at_once):
            if len(batch):
                yield _conformed(pa.Table.from_batches([batch]), schema, group)
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:  # a store that fsspec reaches may raise any of these
        check_memory(error, group.file.place.name)
        raise UnreadableError(group, f"cannot be read: {first_line(error)}") from None


def kept_rows(rows: pa.Table, exclude: Sequence[int | str], gaps: Sequence[Gap] = ()) -> pa.Table:
    """The rows of the sequences that are neither excluded nor in a gap."""
    if not len(rows) or not (exclude or gaps):
        return rows
    sequence = rows["sequence"]
    out = [pc.is_in(sequence, pa.array(exclude, sequence.type))] if exclude else []
    for gap in gaps:
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


def _conformed(rows: pa.Table, schema: pa.Schema, group: RowGroup) -> pa.Table:
    """The rows with the columns and types of the schema; hive partitions repeat, missing columns are null."""
    columns = []
    positions = {name: position for position, name in enumerate(rows.schema.names)}
    for column in schema:
        if column.name in group.file.partition:
            columns.append(pa.repeat(pa.scalar(group.file.partition[column.name], column.type), len(rows)))
        elif column.name in positions:
            try:
                columns.append(rows.column(positions[column.name]).cast(column.type))
            except pa.ArrowException as error:
                check_memory(error, group.file.place.name)
                raise UnreadableError(group, f"column {column.name}: cannot be read: {first_line(error)}") from None
        else:
            columns.append(pa.nulls(len(rows), column.type))
    conformed = pa.table(columns, schema=schema)
    if conformed["sequence"].null_count:
        raise UnreadableError(group, "column sequence: some rows are null")
    return conformed


def _in_order(sequence: pa.ChunkedArray) -> bool:
    """Whether no sequence is less than the one before."""
    return pc.all(pc.less_equal(sequence[:-1], sequence[1:])).as_py() is not False


def _n_before(sequence: pa.ChunkedArray, cut: Any) -> int:
    """How many of the sorted sequences come before `cut`."""
    if not len(sequence) or sequence[0].as_py() >= cut:
        return 0
    if sequence[-1].as_py() < cut:  # the usual case
        return len(sequence)
    return pc.sum(pc.less(sequence, cut)).as_py()
