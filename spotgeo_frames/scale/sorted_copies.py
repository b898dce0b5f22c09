"""repartition_by_sequence(): a copy of a dataset that is sorted by sequence, which appears when it is complete.

A Dask cluster sorts on storage that all workers reach. First, each task reads some row groups and writes their rows to
a file, divided into ranges of sequences. Then a task for each range reads its rows from all these files, sorts them and
writes them. A task that is done again, because its worker died, writes the same.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..support import InputError, Place, Storage, addresses, arrays, reading, stores, temporary, work, writing
from .contents import Contents, check_outside, contents_of
from .files import RowGroup, check_unchanged
from .listing import Dataset, in_files, together
from .rows import (
    batches_of,
    by_range,
    cuts_of,
    most_sorted,
    part_name,
    sampled,
    sequence_schema,
    write_sorted,
    written_ranges,
)
from .run import check_client, on_cluster


class Section(NamedTuple):
    """Where rows of a range are: in a file, `size` bytes from `start` on; and how many rows."""

    place: Place
    start: int
    size: int
    n_rows: int


def sorted_on_cluster(client: Any, contents: Contents, scratch: Place) -> list[Place]:
    """Writes the rows of a dataset, sorted by sequence, to files in the folder `scratch`; returns them in their order.

    Messages call that folder by its name, which may be that of the folder which the files are for. Raises InputError
    if the dataset cannot be read or changes, a worker does not reach the files, or workers die again and again.
    """
    schema, groups, n_rows, most = contents.schema, contents.groups, contents.n_rows, most_sorted([contents.schema])
    # As many row groups as have at most `most` rows, or a single one that has more.
    divided = arrays.chunks(np.array([group.n_rows for group in groups]), most)
    tasks = [(number, groups[first:last]) for number, (first, last) in enumerate(divided)]
    stores.make_folder(scratch.inside("sorted"))
    with work.progress_bar(2 * n_rows, "sorting", "row") as advance:
        samples = on_cluster(client, partial(_sampled, n_rows=n_rows), tasks) if n_rows > most else []
        cuts = cuts_of(samples, n_rows, most) if samples else []
        dealt = on_cluster(
            client,
            partial(_dealt, cuts=cuts, schema=schema, scratch=scratch),
            tasks,
            lambda task: advance(sum(group.n_rows for group in task[1])),
        )
        ranges = [[section for of_task in dealt for section in of_task[range_]] for range_ in range(len(cuts) + 1)]
        files = on_cluster(
            client,
            partial(_sorted, schema=schema, scratch=scratch),
            [(number, sections) for number, sections in enumerate(ranges) if sections],
            lambda task: advance(sum(section.n_rows for section in task[1])),
        )
    check_unchanged(contents.files)
    return [place for of_range in files for place in of_range]


def _sampled(task: tuple[int, list[RowGroup]], n_rows: int) -> pa.Array:
    """A sample of the sequences in the row groups of a task, of which all tasks have `n_rows` rows."""
    _, groups = task
    with _unchanged(groups):
        schema = sequence_schema(groups[0])
        return sampled(batches_of(groups, schema), n_rows, "sequence")


@contextmanager
def _unchanged(groups: Iterable[RowGroup]) -> Iterator[None]:
    """A context in which row groups are read; if that fails because files have changed or are not there, it says so."""
    try:
        yield
    except InputError:
        check_unchanged(group.file for group in groups)
        raise


def _check_shared(scratch: Place) -> None:
    """Raises InputError if a worker does not see the folder to write to."""
    if stores.is_local(scratch) and not os.path.isdir(scratch.path):
        advice = "let workers share it, by the same name, or give the address of a store"
        raise InputError(f"{scratch.name}: a worker does not see its disk; {advice}")


def _dealt(
    task: tuple[int, list[RowGroup]], cuts: Sequence[Any], schema: pa.Schema, scratch: Place
) -> list[list[Section]]:
    """Writes the rows of a task to a file, divided into ranges; returns where those of each range are."""
    number, groups = task
    _check_shared(scratch)
    place, start = scratch.inside(f"rows-{number:05}.arrow"), 0
    sections: list[list[Section]] = [[] for _ in range(len(cuts) + 1)]
    with stores.written(place) as stream, _unchanged(groups):
        for rows_of_task in together(batches_of(groups, schema), most_sorted([schema])):
            rows, counts = by_range(rows_of_task, cuts)
            ends = np.cumsum(counts)
            for range_ in np.flatnonzero(counts).tolist():
                content = _packed(rows.slice(ends[range_] - counts[range_], counts[range_]))
                stream.write(content)
                sections[range_].append(Section(place, start, content.size, int(counts[range_])))
                start += content.size
    return sections


def _packed(rows: pa.Table) -> pa.Buffer:
    """Rows as a stream of Arrow."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return sink.getvalue()


def _unpacked(sections: Iterable[Section]) -> Iterator[pa.Table]:
    """The rows of sections, in their order; raises InputError if they are not what was written."""
    for section in sections:
        with reading.readable(section.place.name):
            with section.place.filesystem.open_input_file(section.place.path) as source:
                content = source.read_at(section.size, section.start)
            with pa.ipc.open_stream(content) as stream:
                rows = stream.read_all()
        if len(rows) != section.n_rows:
            raise InputError(f"{section.place.name}: is not what was written")
        yield rows


def _sorted(task: tuple[int, list[Section]], schema: pa.Schema, scratch: Place) -> list[Place]:
    """Writes the rows of a range, sorted; returns the files in their order, one unless there are too many rows."""
    number, sections = task
    _check_shared(scratch)
    batches, n_rows = partial(_unpacked, sections), sum(section.n_rows for section in sections)
    with TemporaryDirectory() as name:
        return written_ranges(
            batches, n_rows, schema, Path(name), lambda of: scratch.inside("sorted", f"{number:05}-{part_name(of)}")
        )


def repartition_by_sequence(
    dataset: Dataset,
    out: str | Path,
    *,
    client: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> None:
    """Writes a copy of a Parquet dataset that is sorted by sequence, which is evaluated fastest.

    `score_dataset` and `track_dataset` take rows in any order. But unless the files are sorted or hold whole sequences,
    they sort the rows at each call, and with a `client` they raise an error. A sorted copy saves that.

    Memory is bounded, however many rows there are. The rows of a sequence are sorted by `frame`, if there is such a
    column of integers, and rows of the same frame keep their order. A progress bar appears on a terminal or in Jupyter
    after two seconds.

    Parameters
    ----------
    dataset
        A Parquet dataset with a column `sequence`, in any order: the path or URI of a file or of a folder (hive
        partitions become columns), also with wildcards, a list of files, or a `pyarrow.dataset`. A relation of DuckDB,
        or any other table, is written to a temporary folder first.
    out
        The path or address of a folder, outside of the dataset, that does not exist yet or is empty. It gets the files
        part-00000.parquet and so on, of about a million rows each, which never split a sequence. They appear once all
        are written. In the meantime, a temporary folder beside it needs the space of all rows twice; for an address
        without `client`, that is a folder of this machine (TMPDIR). On a store, the files appear one after the other at
        the end.
    client
        A `distributed.Client`, to sort on a Dask cluster instead of in this process. All workers have to reach the
        dataset and the folder of `out` by the same names, on a shared disk or a store. The copy has the same rows in
        the same order.
    storage_options, filesystem
        How to reach addresses: the options of their file system, with fsspec's names (`key`, `secret`, `token`,
        `endpoint_url` for S3), or the file system itself, pyarrow's or fsspec's, on which both paths are then.

    Raises
    ------
    InputError: the dataset cannot be read or is changed meanwhile, has no column `sequence` or no rows, or `out` cannot
        be written, is not empty, is a link or the working directory, or lies in the dataset; a worker does not reach
        the files, or workers die again and again.
    ImportError: a `client` is given, and Dask is not installed.
    ValueError: `client` is something else than a Dask client.

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
    repartitioned(dataset, out, client, Storage(storage_options, filesystem))


def repartitioned(dataset: Any, out: str | Path, client: Any = None, storage: Storage | None = None) -> int:
    """Does what `repartition_by_sequence` does, and returns how many files it has written."""
    if client is not None:
        check_client(client)
    target = stores.place_of(out, storage)
    folder = Path(target.path if addresses.is_address(out) else os.path.expanduser(out))
    if stores.is_local(target):
        writing.check_new_folder(folder)
        if isinstance(dataset, str | Path):
            writing.check_inputs_kept(folder, stores.local_paths([stores.place_of(dataset, storage)]), ())
    with in_files({"dataset": dataset}) as files:
        contents = contents_of(files["dataset"], ["sequence"], storage=storage)
        if not contents.n_rows:
            raise InputError(f"{contents.name}: has no rows")
        if stores.is_local(target):
            return _to_folder(contents, folder, client)
        check_outside(target, contents)
        if stores.sizes(target):
            raise InputError(f"{target.name}: is there already; give a folder that is not there, or empty")
        return _to_store_by_cluster(contents, target, client) if client is not None else _to_store(contents, target)


def _to_folder(contents: Contents, folder: Path, client: Any) -> int:
    """Sorts a dataset to a folder of this machine, and returns how many files there are."""
    with writing.writable(folder):
        name, folder = os.fspath(folder), folder.absolute()
        folder.parent.mkdir(parents=True, exist_ok=True)
        with temporary.temporary_folder_beside(folder) as scratch:
            done = scratch / "done"
            done.mkdir()
            if client is None:
                files = write_sorted(contents, scratch, stores.place_of(done)._replace(name=name))
            else:
                files = sorted_on_cluster(client, contents, stores.place_of(scratch)._replace(name=name))
                for number, file in enumerate(files):
                    Path(file.path).replace(done / part_name(number))
            temporary.synchronise_folder(done)
            temporary.move_folder(done, folder)
            try:
                temporary.synchronise_folder(folder.parent)
            except BaseException:  # so that whatever ends in an error leaves nothing
                folder.replace(done)
                raise
    return len(files)


def _to_store(contents: Contents, target: Place) -> int:
    """Sorts a dataset into a temporary folder of this machine, then copies its files to a folder on a store.

    Returns how many files there are. If copying fails, none is left there.
    """

    def copy(file: Place, to: Place) -> None:
        with stores.written(to) as stream, open(file.path, "rb") as source:
            shutil.copyfileobj(source, stream, stores.READ_BYTES)

    with TemporaryDirectory() as name:
        done = Path(name) / "done"
        with writing.writable(done):
            done.mkdir()
            files = write_sorted(contents, Path(name), stores.place_of(done))
        _all_or_none(files, target, copy)
    return len(files)


def _to_store_by_cluster(contents: Contents, target: Place, client: Any) -> int:
    """Sorts a dataset on a cluster into a temporary folder beside that on the store, then moves its files there.

    Returns how many files there are. If moving fails, none is left there.
    """

    def move(file: Place, to: Place) -> None:
        with writing.writable(to.name):
            file.filesystem.move(file.path, to.path)

    above, _, name = target.path.rstrip("/").rpartition("/")
    if not above:
        raise InputError(f"{target.name}: is a whole bucket; give a folder in it")
    path = f"{above}/{temporary.temporary_name(name)}"
    scratch = Place(target.filesystem, path, target.name)
    with writing.writable(target.name):
        scratch.filesystem.create_dir(path)
    try:
        files = sorted_on_cluster(client, contents, scratch)
        _all_or_none(files, target, move)
    finally:
        with suppress(OSError):  # the store is gone
            scratch.filesystem.delete_dir(path)
    return len(files)


def _all_or_none(files: Sequence[Place], target: Place, put: Callable[[Place, Place], None]) -> None:
    """Puts files into a folder on a store, where they are numbered; removes all of them if one fails."""
    stores.make_folder(target)
    there = [target.inside(part_name(number)) for number in range(len(files))]
    try:
        with ThreadPoolExecutor(work.AT_ONCE) as pool:
            list(pool.map(put, files, there))
    except BaseException:
        for place in there:
            with suppress(OSError):  # it is not there, or the store is gone
                place.filesystem.delete_file(place.path)
        raise
