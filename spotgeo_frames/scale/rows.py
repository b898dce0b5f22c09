"""The rows of row groups as Arrow tables: read, with the types of the dataset, some left out, and put in order.

Any number of rows is sorted by sequence with bounded memory. A sample of the sequences decides how to divide them into
ranges. The rows go to a temporary file for each range. Then each range is sorted in memory and written; a range that is
still too large is divided again. The rows of a sequence are in the order of their frames, and those of a frame keep
their order.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial, reduce
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..support import InputError, Place, check_memory, first_line, memory, stores, work
from ..tables import arrow, key_values
from .contents import BATCH_ROWS, Contents
from .files import FIRST, Gap, OpenedFiles, RowGroup, check_unchanged

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
    try:
        names, decoded, texts = files.choice(group.file, schema)
        for batch in files.batches(group.file, group.order[1], names, at_once, texts):
            for piece in _pieces(batch, decoded):
                yield _conformed(piece, schema, group)
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:  # a store that fsspec reaches may raise any of these
        check_memory(error, group.file.place.name)
        raise UnreadableError(group, f"cannot be read: {first_line(error)}") from None


def _pieces(batch: pa.RecordBatch, decoded: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """A batch in pieces whose text, in these columns, takes at most PIECE_BYTES each without a dictionary."""
    columns = [batch.column(name) for name in decoded]
    if len(batch) > 1 and sum(map(arrow.text_bytes, columns)) > PIECE_BYTES:
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
        memory.check_at_hand(name, "to sort rows in memory", 2 * n_bytes, SHORTER)
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


def _conformed(batch: pa.RecordBatch, schema: pa.Schema, group: RowGroup) -> pa.Table:
    """The rows with the columns and types of the schema; hive partitions repeat, missing columns are null."""
    if not group.file.partition and batch.schema.equals(schema) and not batch.column("sequence").null_count:
        return pa.Table.from_batches([batch], schema)  # as most rows are
    rows = pa.Table.from_batches([batch])
    columns = []
    positions = {name: position for position, name in enumerate(rows.schema.names)}
    for column in schema:
        if column.name in group.file.partition:
            columns.append(pa.repeat(pa.scalar(group.file.partition[column.name], column.type), len(rows)))
        elif column.name in positions:
            values = rows.column(positions[column.name])
            try:
                columns.append(values if values.type == column.type else key_values.arrow_key(values, column.type))
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


# The most ranges to which rows are dealt out at once, each with an open file.
MOST_RANGES = 256

# About how many rows the sample has that decides the ranges.
SAMPLE = 1 << 16
Advance = Callable[[int], object]
Batches = Callable[[], Iterable[pa.Table]]
Numbered = Callable[[int], Place]


def write_sorted(contents: Contents, scratch: Path, folder: Place) -> list[Place]:
    """Writes the rows of a dataset, sorted by sequence, to files in a folder; returns the files in their order."""
    schema, n_rows = contents.schema, contents.n_rows
    batches = partial(batches_of, contents.groups, schema)
    with work.progress_bar(2 * n_rows, "sorting", "row") as advance:
        files = written_ranges(
            batches, n_rows, schema, scratch, lambda number: folder.inside(part_name(number)), advance
        )
    check_unchanged(contents.files)
    return files


def written_ranges(
    batches: Batches, n_rows: int, schema: pa.Schema, scratch: Path, numbered: Numbered, advance: Advance = bool
) -> list[Place]:
    """Writes rows, sorted, to a file for each range of sequences, which `numbered` gives; returns the files."""
    files: list[Place] = []
    for rows in sorted_ranges(batches, n_rows, most_sorted([schema]), scratch, advance, keys_of(schema)):
        files.append(numbered(len(files)))
        write_rows(rows, schema, files[-1], advance)
    return files


def part_name(number: int) -> str:
    """The name of a file of a sorted dataset."""
    return f"part-{number:05}.parquet"


def batches_of(groups: Iterable[RowGroup], schema: pa.Schema) -> Iterator[pa.Table]:
    """The columns of a schema of all rows of row groups, in their order, a fraction of what is sorted at a time."""
    files = OpenedFiles()
    for group in groups:
        yield from row_group_batches(files, group, schema, most_sorted([schema]) // 4)


def sorted_ranges(
    batches: Batches, n_rows: int, most: int, scratch: Path, advance: Advance, keys: Sequence[str]
) -> Iterator[Iterable[pa.Table]]:
    """Yields the rows of each range of sequences, sorted; `batches` gives all rows from the beginning at each call.

    The ranges are of values of the first of `keys`, and their rows are sorted by all of them.
    """
    if n_rows <= most:
        yield [in_key_order(pa.concat_tables(gathered(batches(), "the dataset")))]
        return
    key, *others = keys
    cuts = cuts_of([sampled(batches(), n_rows, key)], n_rows, most)
    if not cuts:  # they are all of one sequence: its rows are sorted by frame if there are frames, and stay together
        quiet = partial(sorted_ranges, batches, n_rows, most, scratch, lambda more: None)
        yield chain.from_iterable(quiet(others)) if others else batches()
        return
    with TemporaryDirectory(dir=scratch) as name:
        files = [Path(name) / f"{position}.arrow" for position in range(len(cuts) + 1)]
        n_dealt = _deal(batches(), cuts, files, advance, key)
        for file, n_in_file in zip(files, n_dealt, strict=True):
            if n_in_file:
                yield from sorted_ranges(partial(_read, file), n_in_file, most, scratch, lambda more: None, keys)
            file.unlink()


def sampled(batches: Iterable[pa.Table], n_rows: int, key: str) -> pa.Array:
    """A sample of the sequences (or frames, which `key` says) of some rows, with the least and the greatest.

    `n_rows` is the count of all rows.
    """
    step = max(1, n_rows // SAMPLE)
    skip, samples = 0, []
    for rows in batches:
        values = _filled(rows[key])
        ends = pc.min_max(values)
        samples += [
            values.take(pa.array(range(skip, len(rows), step), pa.int64())),
            pa.array([ends["min"], ends["max"]], values.type),
        ]
        skip = (skip - len(rows)) % step
    return pa.concat_arrays(samples)


def _filled(values: pa.ChunkedArray) -> pa.Array:
    """The values of a key; a frame that is null, which evaluation refuses, comes before all others."""
    whole = values.combine_chunks()
    return pc.fill_null(whole, FIRST) if whole.null_count else whole


def cuts_of(samples: Sequence[pa.Array], n_rows: int, most: int) -> list[Any]:
    """The first sequence (or frame) of each range but the first, from samples; empty if all rows are of one."""
    sample = pa.concat_arrays(samples)
    sample = sample.take(pc.sort_indices(sample))
    n_ranges = min(MOST_RANGES, -(-2 * n_rows // most))  # ranges of half the most rows, since a sample is inexact
    positions = np.arange(1, n_ranges) * len(sample) // n_ranges
    cuts = pc.unique(sample.take(pa.array(positions))).to_pylist()
    # If there is no such cut, the least sequence at least is separated from all others.
    distinct = pc.unique(sample).to_pylist()
    return [cut for cut in cuts if cut > distinct[0]] or distinct[1:2]


def by_range(rows: pa.Table, cuts: Sequence[Any], key: str = "sequence") -> tuple[pa.Table, np.ndarray]:
    """The rows by their range of the key, in their order within it, and how many each range has."""
    encoded = _filled(rows[key]).dictionary_encode()
    values = encoded.dictionary.to_pylist()
    of_value = np.searchsorted(np.array(cuts, object), np.array(values, object), side="right")
    range_ = of_value[encoded.indices.to_numpy()]
    order = np.argsort(range_, kind="stable")
    return rows.take(pa.array(order)), np.bincount(range_, minlength=len(cuts) + 1)


def _deal(batches: Iterable[pa.Table], cuts: list[Any], files: list[Path], advance: Advance, key: str) -> list[int]:
    """Writes each row to the file of its range; returns how many rows each file has got."""
    n_dealt = np.zeros(len(files), np.int64)
    with ExitStack() as stack:
        writers: dict[int, Any] = {}
        for rows in batches:
            rows, counts = by_range(rows, cuts, key)
            starts = np.cumsum(counts) - counts
            for position in np.flatnonzero(counts).tolist():
                if position not in writers:
                    stream = stack.enter_context(pa.OSFile(str(files[position]), "wb"))
                    writers[position] = stack.enter_context(pa.ipc.new_stream(stream, rows.schema))
                writers[position].write_table(rows.slice(starts[position], counts[position]))
            n_dealt += counts
            advance(len(rows))
    return n_dealt.tolist()


def _read(file: Path) -> Iterator[pa.Table]:
    """The rows of a temporary file, batch by batch."""
    with pa.OSFile(str(file)) as source, pa.ipc.open_stream(source) as stream:
        for batch in stream:
            yield pa.Table.from_batches([batch])


def write_rows(batches: Iterable[pa.Table], schema: pa.Schema, place: Place, advance: Advance) -> None:
    """Writes rows as one file, each batch as a row group."""
    import pyarrow.parquet as pq

    with stores.written(place) as stream, pq.ParquetWriter(stream, schema, write_page_checksum=True) as writer:
        for rows in batches:
            writer.write_table(rows)
            advance(len(rows))
