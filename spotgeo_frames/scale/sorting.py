"""Sorts rows in any order by sequence, with bounded memory.

A sample of the sequences decides how to divide them into ranges. The rows go to a temporary file for each range. Then
each range is sorted in memory and written; a range that is still too large is divided again. The rows of a sequence
are in the order of their frames, and those of a frame keep their order.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..support.storage import Place, written
from ..support.work import progress_bar
from .contents import Contents
from .files import FIRST, OpenedFiles, RowGroup, check_unchanged
from .rows import gathered, in_key_order, keys_of, most_sorted, row_group_batches

# The most ranges to which rows are dealt out at once, each with an open file.
MOST_RANGES = 256

# About how many rows the sample has that decides the ranges.
SAMPLE = 1 << 16
Advance = Callable[[int], object]
Batches = Callable[[], Iterable[pa.Table]]


def write_sorted(contents: Contents, scratch: Path, folder: Place) -> list[Place]:
    """Writes the rows of a dataset, sorted by sequence, to files in a folder; returns the files in their order."""
    most, files = most_sorted([contents.schema]), list[Place]()
    batches = partial(batches_of, contents.groups, contents.schema, most // 4)
    with progress_bar(2 * contents.n_rows, "sorting", "row") as advance:
        for rows in sorted_ranges(batches, contents.n_rows, most, scratch, advance, keys_of(contents.schema)):
            files.append(folder.inside(part_name(len(files))))
            write_rows(rows, contents.schema, files[-1], advance)
    check_unchanged(contents.files)
    return files


def part_name(number: int) -> str:
    """The name of a file of a sorted dataset."""
    return f"part-{number:05}.parquet"


def batches_of(groups: Iterable[RowGroup], schema: pa.Schema, at_once: int) -> Iterator[pa.Table]:
    """The columns of a schema of all rows of row groups, in their order, at most `at_once` rows at a time."""
    files = OpenedFiles()
    for group in groups:
        yield from row_group_batches(files, group, schema, at_once)


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

    with written(place) as stream, pq.ParquetWriter(stream, schema, write_page_checksum=True) as writer:
        for rows in batches:
            writer.write_table(rows)
            advance(len(rows))
