"""repartition_by_sequence(): a dataset in any order, written anew in the order of its sequences, with little memory.

A sample of the sequences says where to cut them into ranges. The rows are dealt out to a file a range on disk, then
each is sorted and written; a range that is still too large is cut again. The rows of a sequence keep their order.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..support.errors import InputError, first_line
from ..support.progress import progress_bar
from ..support.writing import check_folder_writable
from .blocks import SORTED_BYTES, SORTED_ROWS, by_sequence, row_group_batches, rows_within
from .contents import Contents, contents_of

# Ranges that rows are dealt out to at once, each with a file open.
MOST_RANGES = 256

# Rows of which the sequence is looked at to find the ranges.
SAMPLE = 1 << 16
Advance = Callable[[int], object]
Batches = Callable[[], Iterable[pa.Table]]


def repartition_by_sequence(dataset: Any, out: str | Path) -> None:
    """Writes a Parquet dataset anew, sorted by sequence, so that it can be evaluated part by part.

    Parameters
    ----------
    dataset
        What `score_dataset` takes as truth or predictions; its rows may be in any order.
    out
        A folder that is not there yet, or empty. It gets files of about a million rows, part-00000.parquet and so on,
        none of which splits a sequence, and holds them only once they are all written. Beside it lie, meanwhile, all
        rows once more.

    Memory is bounded whatever the number of rows. Raises InputError where the dataset cannot be read or `out` cannot be
    written.
    """
    folder = Path(out)
    if "://" in str(out):
        raise InputError(f"{out}: only a folder of this machine can be written to")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is there already; give a folder that is not there, or empty")
    check_folder_writable(folder)
    contents = contents_of(dataset, ["sequence"])
    if not contents.n_rows:
        raise InputError(f"{contents.name}: has no rows")
    most = rows_within(SORTED_ROWS, SORTED_BYTES, [contents.schema])
    try:
        folder.absolute().parent.mkdir(parents=True, exist_ok=True)
        with (
            TemporaryDirectory(prefix=f".{folder.name[:40]}.", dir=folder.absolute().parent) as scratch,
            progress_bar(2 * contents.n_rows, "sorting", "row") as advance,
        ):
            done = Path(scratch) / "done"
            done.mkdir()
            numbers = count()
            for rows in _ranges(lambda: _batches(contents, most // 4), contents.n_rows, most, Path(scratch), advance):
                _write(rows, contents.schema, done / f"part-{next(numbers):05}.parquet", advance)
            done.replace(folder)  # an empty folder there gives way
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{folder}: cannot be written: {first_line(error)}") from None


def _batches(contents: Contents, at_once: int) -> Iterator[pa.Table]:
    """All rows of a dataset, in the order of its files."""
    for group in contents.groups:
        yield from row_group_batches(group, contents.schema, at_once)


def _ranges(batches: Batches, n_rows: int, most: int, scratch: Path, advance: Advance) -> Iterator[Iterable[pa.Table]]:
    """The rows in ranges of sequences, one after the other, each sorted; `batches` gives them again and again."""
    cuts = _cuts(batches(), n_rows, most) if n_rows > most else []
    if not cuts:
        # Either they fit the memory, or they are all of one sequence and need no sorting.
        yield [by_sequence(pa.concat_tables(batches()))] if n_rows <= most else batches()
        return
    with TemporaryDirectory(dir=scratch) as name:
        files = [Path(name) / f"{number}.arrow" for number in range(len(cuts) + 1)]
        n_dealt = _deal(batches(), cuts, files, advance)
        for file, number in zip(files, n_dealt, strict=True):
            if number:
                yield from _ranges(partial(_read, file), number, most, scratch, lambda more: None)
            file.unlink()


def _cuts(batches: Iterable[pa.Table], n_rows: int, most: int) -> list[Any]:
    """The first sequences of all ranges but the first; none where all rows are of one sequence."""
    step = max(1, n_rows // SAMPLE)
    skip, parts = 0, []
    for rows in batches:
        sequence = rows["sequence"].combine_chunks()
        ends = pc.min_max(sequence)
        parts += [
            sequence.take(pa.array(range(skip, len(rows), step), pa.int64())),
            pa.array([ends["min"], ends["max"]]),
        ]
        skip = (skip - len(rows)) % step
    sample = pa.concat_arrays(parts)
    sample = sample.take(pc.sort_indices(sample))
    n_ranges = min(MOST_RANGES, -(-2 * n_rows // most))  # half as large as may be, since a sample is only that
    places = np.arange(1, n_ranges) * len(sample) // n_ranges
    cuts = pc.unique(sample.take(pa.array(places))).to_pylist()
    # Whatever rows are not of the least sequence have a range of their own at least.
    values = pc.unique(sample).to_pylist()
    return [cut for cut in cuts if cut > values[0]] or values[1:2]


def _deal(batches: Iterable[pa.Table], cuts: list[Any], files: list[Path], advance: Advance) -> list[int]:
    """Writes each row to the file of its range; returns how many each has got."""
    n_dealt = np.zeros(len(files), np.int64)
    with ExitStack() as stack:
        writers: dict[int, Any] = {}
        for rows in batches:
            encoded = rows["sequence"].combine_chunks().dictionary_encode()
            values = encoded.dictionary.to_pylist()
            of_value = np.searchsorted(np.array(cuts, object), np.array(values, object), side="right")
            range_ = of_value[encoded.indices.to_numpy()]
            order = np.argsort(range_, kind="stable")
            rows, counts = rows.take(pa.array(order)), np.bincount(range_, minlength=len(files))
            starts = np.cumsum(counts) - counts
            for number in np.flatnonzero(counts).tolist():
                if number not in writers:
                    stream = stack.enter_context(pa.OSFile(str(files[number]), "wb"))
                    writers[number] = stack.enter_context(pa.ipc.new_stream(stream, rows.schema))
                writers[number].write_table(rows.slice(starts[number], counts[number]))
            n_dealt += counts
            advance(len(rows))
    return n_dealt.tolist()


def _read(file: Path) -> Iterator[pa.Table]:
    with pa.OSFile(str(file)) as source, pa.ipc.open_stream(source) as stream:
        for batch in stream:
            yield pa.Table.from_batches([batch])


def _write(batches: Iterable[pa.Table], schema: pa.Schema, path: Path, advance: Advance) -> None:
    """Writes rows as one file, each batch as a row group."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, schema) as writer:
        for rows in batches:
            writer.write_table(rows)
            advance(len(rows))
