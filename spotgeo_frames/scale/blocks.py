"""Reads a part as blocks of whole sequences, with memory for little more than one block however large the part is.

Each chain of row groups is read batch by batch, in the order of sequences; a block has the rows of all sequences of
which no chain has more to come. Within a row group rows need not be in order: the first that is not makes the part be
read again, with whole row groups that are sorted as they come, as long as these are of a moderate size.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import zip_longest
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ..support.errors import InputError, first_line
from .contents import Gap, RowGroup
from .files import File, open_parquet
from .parts import Part, out_of_order

# Rows of a block, both sides together, and the bytes they may have where columns are many: enough to be worth what a
# block costs by itself.
BLOCK_ROWS, BLOCK_BYTES = 1 << 19, 1 << 26

# Rows that are read at once, as a share of a block's.
BATCHES = 8

# Rows of row groups that are sorted in memory at the same time, and their bytes.
SORTED_ROWS, SORTED_BYTES = 1 << 21, 1 << 27

# What a value of text is taken to need.
TEXT_BYTES = 32


class Source(NamedTuple):
    """One side: its name in messages, and the columns to read, in the types to read them as."""

    name: str
    schema: pa.Schema


class Block(NamedTuple):
    """Rows of one side, in file order within a sequence, and the name of the file they are from, or the dataset's."""

    rows: pa.Table
    name: str


class OutOfOrderError(Exception):
    """Rows of a row group are not in the order of their sequences."""


class UnreadableError(InputError):
    """A row group cannot be read, or is not what its footer says."""

    def __init__(self, group: RowGroup, why: str):
        super().__init__(f"{group.file.place.name}: row group {group.order[1]}: {why}")
        self.group, self.why = group, why

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.group, self.why)


class _Batch(NamedTuple):
    """Rows in the order of sequences, and their place in the order of the files."""

    order: tuple[int, ...]
    file: File
    rows: pa.Table


@dataclass
class _Chain:
    """A chain that is being read: the rows that wait, and the least sequence still to come (None: no more)."""

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
        """The waiting rows of sequences before `cut`; all where there is none."""
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
    """The rows of each side, in blocks that never split a sequence; a side without rows in a block has an empty table.

    A chain's frontier is the least sequence that it may still bring; what lies before all frontiers is complete.
    Row groups are read to their end even where only their beginning is of the part: only then is it known that they are
    in order and whole. `in_memory` sorts row groups. Raises OutOfOrderError where that is needed,
    UnreadableError where a row group cannot be read, and InputError where the rows are in no order.
    """
    if in_memory:
        _check_moderate(part, sources)
    block_rows = rows_within(BLOCK_ROWS, BLOCK_BYTES, [source.schema for source in sources.values()])
    chains = {
        side: [
            _Chain(
                _batches(chain, sources[side].schema, part, in_memory, max(block_rows // BATCHES, 1)),
                chain[0].low,
            )
            for chain in part.chains[side]
        ]
        for side in sources
    }
    every = [chain for some in chains.values() for chain in some]
    n_waiting = 0
    while True:
        unfinished = [chain for chain in every if chain.frontier is not None]
        while unfinished and n_waiting < block_rows:
            n_waiting += _furthest_back(unfinished).read()
            unfinished = [chain for chain in every if chain.frontier is not None]
        cut = _furthest_back(unfinished).frontier if unfinished else None
        taken = {side: [batch for chain in some for batch in chain.take(cut)] for side, some in chains.items()}
        n_taken = sum(len(batch.rows) for batches in taken.values() for batch in batches)
        n_waiting -= n_taken
        if n_taken:
            blocks = {side: _block(batches, sources[side]) for side, batches in taken.items()}
            del taken  # whoever takes the blocks has them alone
            yield blocks
            del blocks
        elif unfinished:  # a sequence of more rows than a block
            n_waiting += _furthest_back(unfinished).read()
        else:
            return


def _furthest_back(chains: Sequence[_Chain]) -> _Chain:
    return min(chains, key=lambda chain: chain.frontier)


def _check_moderate(part: Part, sources: Mapping[str, Source]) -> None:
    """Raises InputError where sorting in memory would take too much of it."""
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
    rows = rows.combine_chunks()  # pandas takes whole columns as they are, and puts pieces together more slowly
    return Block(rows, files.pop() if len(files) == 1 else source.name)


def _batches(
    chain: Sequence[RowGroup], schema: pa.Schema, part: Part, in_memory: bool, at_once: int
) -> Iterator[tuple[_Batch, Any]]:
    """The rows of a chain that are of the part, batch by batch, and the least sequence that may come after each."""
    for group, after in zip_longest(chain, chain[1:]):
        n_left, last = group.n_rows, group.low
        for number, rows in enumerate(_read(group, schema, in_memory, at_once)):
            sequence = rows["sequence"]
            first, n_left = sequence[0].as_py(), n_left - len(rows)
            if not _in_order(sequence) or (number and first < last):
                raise OutOfOrderError
            last = sequence[-1].as_py()
            if first < group.low or last > group.high:
                # To skip it would not help: what of it lies elsewhere would be missing there.
                name = group.file.place.name
                raise InputError(f"{name}: holds other sequences than its statistics say; write it anew")
            begin = 0 if part.low is None else _n_before(sequence, part.low)
            end = len(rows) if part.high is None else _n_before(sequence, part.high)
            if begin < end:
                frontier = last if n_left else None if after is None else after.low
                yield _Batch((*group.order, number), group.file, rows.slice(begin, end - begin)), frontier


def _read(group: RowGroup, schema: pa.Schema, in_memory: bool, at_once: int) -> Iterator[pa.Table]:
    """The rows of a row group, in order where they are sorted `in_memory`."""
    batches = row_group_batches(group, schema, at_once)
    if not in_memory:
        yield from batches
        return
    whole = by_sequence(pa.concat_tables(batches))
    for first in range(0, len(whole), at_once):
        yield whole.slice(first, at_once)


def by_sequence(rows: pa.Table) -> pa.Table:
    """The rows sorted by sequence; those of a sequence stay in their order."""
    return rows.take(pc.sort_indices(rows["sequence"]))  # which is stable


def row_group_batches(group: RowGroup, schema: pa.Schema, at_once: int) -> Iterator[pa.Table]:
    """The rows of a row group in their order, with the columns of the schema; none of the batches is empty.

    Raises UnreadableError where they cannot be read.
    """
    names = [name for name in schema.names if name not in group.file.partition]
    try:
        with open_parquet(group.file) as opened:
            names = [name for name in names if name in opened.schema_arrow.names]
            for batch in opened.iter_batches(at_once, row_groups=[group.order[1]], columns=names, use_threads=False):
                if len(batch):
                    yield _conformed(pa.Table.from_batches([batch]), schema, group)
    except (pa.ArrowException, OSError) as error:
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
    """So many rows, or where columns are many as have so many bytes, by the mean width of the sides' rows."""
    types = [field.type for schema in schemas for field in schema]
    width = sum(8 if pa.types.is_primitive(kind) else TEXT_BYTES for kind in types)
    return max(1, min(n_rows, n_bytes * len(schemas) // max(width, 1)))


def _conformed(rows: pa.Table, schema: pa.Schema, group: RowGroup) -> pa.Table:
    """The rows with all columns of the schema, in its types: those of the partition repeated, missing ones null."""
    columns = []
    for column in schema:
        if column.name in group.file.partition:
            columns.append(pa.repeat(pa.scalar(group.file.partition[column.name], column.type), len(rows)))
        elif column.name in rows.schema.names:
            try:
                columns.append(rows[column.name].cast(column.type))
            except pa.ArrowException as error:
                raise UnreadableError(group, f"column {column.name}: cannot be read: {first_line(error)}") from None
        else:
            columns.append(pa.nulls(len(rows), column.type))
    conformed = pa.table(columns, schema=schema)
    if conformed["sequence"].null_count:
        raise UnreadableError(group, "column sequence: some rows are null")
    return conformed


def _in_order(sequence: pa.ChunkedArray) -> bool:
    return pc.all(pc.less_equal(sequence[:-1], sequence[1:])).as_py() is not False


def _n_before(sequence: pa.ChunkedArray, cut: Any) -> int:
    """How many of the sequences, which are in order, come before `cut`."""
    if not len(sequence) or sequence[0].as_py() >= cut:
        return 0
    if sequence[-1].as_py() < cut:  # mostly all of them do
        return len(sequence)
    return pc.sum(pc.less(sequence, cut)).as_py()
