"""repartition_by_sequence(): sorts a dataset in any order by sequence, with bounded memory.

A sample of the sequences decides how to divide them into ranges. The rows go to a temporary file for each range. Then
each range is sorted in memory and written; a range that is still too large is divided again. The rows of a sequence
are in the order of their frames, and those of a frame keep their order.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..support.addresses import Storage, is_address
from ..support.errors import InputError
from ..support.progress import progress_bar
from ..support.storage import BLOCK, Place, is_local, local_paths, make_folder, place_of, sizes, written
from ..support.targets import check_inputs_kept, check_new_folder
from ..support.temporary import synchronise_folder, temporary_folder_beside
from ..support.writing import writable
from .blocks import SORTED_BYTES, SORTED_ROWS
from .contents import Contents, check_outside, contents_of
from .files import OpenedFiles, check_unchanged
from .row_groups import FIRST
from .rows import in_key_order, keys_of, row_group_batches, rows_within

# The most ranges to which rows are dealt out at once, each with an open file.
MOST_RANGES = 256

# About how many rows the sample has that decides the ranges.
SAMPLE = 1 << 16
Advance = Callable[[int], object]
Batches = Callable[[], Iterable[pa.Table]]


def repartition_by_sequence(
    dataset: Any,
    out: str | Path,
    *,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> None:
    """Writes a copy of a Parquet dataset that is sorted by sequence, so that it can be evaluated part by part.

    Memory is bounded, however many rows there are. The rows of a sequence are sorted by `frame`, if there is such a
    column of integers, and rows of the same frame keep their order. A progress bar appears on a terminal or in Jupyter
    after two seconds.

    Parameters
    ----------
    dataset
        A Parquet dataset with a column `sequence`, in any order: the path or URI of a file or of a folder (hive
        partitions become columns), also with wildcards, a list of files, or a `pyarrow.dataset`.
    out
        The path or address of a folder, outside of the dataset, that does not exist yet or is empty. It gets the files
        part-00000.parquet and so on, of about a million rows each, which never split a sequence. They appear once all
        are written. In the meantime, a temporary folder beside it needs the space of all rows twice; for an address,
        that is a folder of this machine (TMPDIR), and the files appear one after the other at the end.
    storage_options, filesystem
        How to reach addresses: the options of their file system, with fsspec's names (`key`, `secret`, `token`,
        `endpoint_url` for S3), or the file system itself, pyarrow's or fsspec's, on which both paths are then.

    Raises
    ------
    InputError: the dataset cannot be read or is changed meanwhile, has no column `sequence` or no rows, or `out` cannot
        be written, is not empty, is a link or the working directory, or lies in the dataset.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> shuffled = pd.read_parquet("data/sample/truth.parquet").sample(frac=1, random_state=0)
    >>> shuffled.to_parquet(folder / "shuffled.parquet")
    >>> sf.repartition_by_sequence(folder / "shuffled.parquet", folder / "sorted")
    >>> pd.read_parquet(folder / "sorted")["sequence"].is_monotonic_increasing
    True
    """
    repartitioned(dataset, out, storage_options, filesystem)


def repartitioned(
    dataset: Any, out: str | Path, storage_options: Mapping[str, Any] | None = None, filesystem: Any = None
) -> int:
    """Does what `repartition_by_sequence` does, and returns how many files it has written."""
    storage = Storage(storage_options, filesystem)
    target = place_of(out, storage)
    if not is_local(target):
        return _to_store(contents_of(dataset, ["sequence"], storage=storage), target)
    folder = Path(target.path if is_address(out) else os.path.expanduser(out))
    check_new_folder(folder)
    if isinstance(dataset, str | Path):
        check_inputs_kept(folder, local_paths([place_of(dataset, storage)]), ())
    contents = contents_of(dataset, ["sequence"], storage=storage)
    _check_rows(contents)
    with writable(folder):
        folder = folder.absolute()
        folder.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder_beside(folder) as scratch:
            done = scratch / "done"
            done.mkdir()
            n_files = write_sorted(contents, scratch, done)
            synchronise_folder(done)
            done.replace(folder)  # an empty folder there gives way
            try:
                synchronise_folder(folder.parent)
            except BaseException:  # so that whatever ends in an error leaves nothing
                folder.replace(done)
                raise
    return n_files


def _check_rows(contents: Contents) -> None:
    """Raises InputError if a dataset has no rows."""
    if not contents.n_rows:
        raise InputError(f"{contents.name}: has no rows")


def _to_store(contents: Contents, target: Place) -> int:
    """Sorts a dataset into a temporary folder of this machine, then copies its files to a folder on a store.

    Returns how many files there are. Raises InputError if the folder has files; if copying fails, none is left there.
    """
    _check_rows(contents)
    check_outside(target, contents)
    if sizes(target):
        raise InputError(f"{target.name}: is there already; give a folder that is not there, or empty")
    with TemporaryDirectory() as name:
        scratch = Path(name)
        done = scratch / "done"
        with writable(done):
            done.mkdir()
            write_sorted(contents, scratch, done)
        make_folder(target)
        copied: list[Place] = []
        try:
            for file in sorted(done.iterdir()):
                with written(target.inside(file.name)) as stream, file.open("rb") as source:
                    shutil.copyfileobj(source, stream, BLOCK)
                copied.append(target.inside(file.name))
        except BaseException:
            for place in copied:
                with suppress(OSError):  # the store is gone
                    place.filesystem.delete_file(place.path)
            raise
    return len(copied)


def write_sorted(contents: Contents, scratch: Path, folder: Path) -> int:
    """Writes the rows of a dataset, sorted by sequence, to files in a folder; returns how many files there are."""
    most = rows_within(SORTED_ROWS, SORTED_BYTES, [contents.schema])
    n_files = 0
    with progress_bar(2 * contents.n_rows, "sorting", "row") as advance:
        batches = partial(_batches, contents, most // 4)
        for rows in _ranges(batches, contents.n_rows, most, scratch, advance, keys_of(contents.schema)):
            _write(rows, contents.schema, folder / f"part-{n_files:05}.parquet", advance)
            n_files += 1
    check_unchanged(contents.files)
    return n_files


def _batches(contents: Contents, at_once: int) -> Iterator[pa.Table]:
    """All rows of a dataset, in the order of its files."""
    files = OpenedFiles()
    for group in contents.groups:
        yield from row_group_batches(files, group, contents.schema, at_once)


def _ranges(
    batches: Batches, n_rows: int, most: int, scratch: Path, advance: Advance, keys: Sequence[str]
) -> Iterator[Iterable[pa.Table]]:
    """Yields the rows of each range of sequences, sorted; `batches` gives all rows from the beginning at each call.

    The rows have different values of the first of `keys`, and are sorted by all of them.
    """
    if n_rows <= most:
        yield [in_key_order(pa.concat_tables(batches()))]
        return
    key, *others = keys
    cuts = _cuts(batches(), n_rows, most, key)
    if not cuts:  # they are all of one sequence: its rows are sorted by frame if there are frames, and stay together
        quiet = partial(_ranges, batches, n_rows, most, scratch, lambda more: None)
        yield chain.from_iterable(quiet(others)) if others else batches()
        return
    with TemporaryDirectory(dir=scratch) as name:
        files = [Path(name) / f"{position}.arrow" for position in range(len(cuts) + 1)]
        n_dealt = _deal(batches(), cuts, files, advance, key)
        for file, n_in_file in zip(files, n_dealt, strict=True):
            if n_in_file:
                yield from _ranges(partial(_read, file), n_in_file, most, scratch, lambda more: None, keys)
            file.unlink()


def _cuts(batches: Iterable[pa.Table], n_rows: int, most: int, key: str) -> list[Any]:
    """The first sequence (or frame, which `key` says) of each range but the first; empty if all rows are of one."""
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
    sample = pa.concat_arrays(samples)
    sample = sample.take(pc.sort_indices(sample))
    n_ranges = min(MOST_RANGES, -(-2 * n_rows // most))  # ranges of half the most rows, since a sample is inexact
    positions = np.arange(1, n_ranges) * len(sample) // n_ranges
    cuts = pc.unique(sample.take(pa.array(positions))).to_pylist()
    # If there is no such cut, the least sequence at least is separated from all others.
    distinct = pc.unique(sample).to_pylist()
    return [cut for cut in cuts if cut > distinct[0]] or distinct[1:2]


def _filled(values: pa.ChunkedArray) -> pa.Array:
    """The values of a key; a frame that is null, which evaluation refuses, comes before all others."""
    whole = values.combine_chunks()
    return pc.fill_null(whole, FIRST) if whole.null_count else whole


def _deal(batches: Iterable[pa.Table], cuts: list[Any], files: list[Path], advance: Advance, key: str) -> list[int]:
    """Writes each row to the file of its range; returns how many rows each file has got."""
    n_dealt = np.zeros(len(files), np.int64)
    with ExitStack() as stack:
        writers: dict[int, Any] = {}
        for rows in batches:
            encoded = _filled(rows[key]).dictionary_encode()
            values = encoded.dictionary.to_pylist()
            of_value = np.searchsorted(np.array(cuts, object), np.array(values, object), side="right")
            range_ = of_value[encoded.indices.to_numpy()]
            order = np.argsort(range_, kind="stable")
            rows, counts = rows.take(pa.array(order)), np.bincount(range_, minlength=len(files))
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


def _write(batches: Iterable[pa.Table], schema: pa.Schema, path: Path, advance: Advance) -> None:
    """Writes rows as one file, each batch as a row group."""
    import pyarrow.parquet as pq

    with path.open("wb") as stream:
        with pq.ParquetWriter(stream, schema, write_page_checksum=True) as writer:
            for rows in batches:
                writer.write_table(rows)
                advance(len(rows))
        stream.flush()
        os.fsync(stream.fileno())
