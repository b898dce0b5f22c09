"""Sorts a dataset by sequence on a Dask cluster, on storage that all workers reach.

First, each task reads some row groups and writes their rows to a file, divided into ranges of sequences. Then a task
for each range reads its rows from all these files, sorts them and writes them. A task that is done again, because its
worker died, writes the same.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..support.errors import InputError
from ..support.progress import progress_bar
from ..support.reading import readable
from ..support.storage import Place, is_local, make_folder, written
from .contents import Contents
from .dask import on_cluster
from .files import check_unchanged
from .row_groups import RowGroup
from .rows import keys_of, most_sorted, sequence_schema
from .sorting import batches_of, by_range, cuts_of, part_name, sampled, sorted_ranges, write_rows


class Sorting(NamedTuple):
    """What the tasks share: the columns, and the folder to write to."""

    schema: pa.Schema
    scratch: Place


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
    sorting, n_rows, most = Sorting(contents.schema, scratch), contents.n_rows, most_sorted([contents.schema])
    tasks = list(enumerate(_divided(contents.groups, most)))
    make_folder(scratch.inside("sorted"))
    with progress_bar(2 * n_rows, "sorting", "row") as advance:
        samples = on_cluster(client, partial(_sampled, n_rows=n_rows), tasks) if n_rows > most else []
        cuts = cuts_of(samples, n_rows, most) if samples else []
        dealt = on_cluster(
            client,
            partial(_dealt, cuts=cuts, sorting=sorting),
            tasks,
            lambda task: advance(sum(group.n_rows for group in task[1])),
        )
        ranges = [[section for of_task in dealt for section in of_task[range_]] for range_ in range(len(cuts) + 1)]
        files = on_cluster(
            client,
            partial(_sorted, sorting=sorting),
            [(number, sections) for number, sections in enumerate(ranges) if sections],
            lambda task: advance(sum(section.n_rows for section in task[1])),
        )
    check_unchanged(contents.files)
    return [place for of_range in files for place in of_range]


def _divided(groups: Iterable[RowGroup], most: int) -> list[list[RowGroup]]:
    """The row groups by task: as many as have at most `most` rows, or a single one that has more."""
    tasks: list[list[RowGroup]] = []
    n_rows = most
    for group in groups:
        if n_rows + group.n_rows > most:
            tasks.append([])
            n_rows = 0
        tasks[-1].append(group)
        n_rows += group.n_rows
    return tasks


def _sampled(task: tuple[int, list[RowGroup]], n_rows: int) -> pa.Array:
    """A sample of the sequences in the row groups of a task, of which all tasks have `n_rows` rows."""
    _, groups = task
    with _unchanged(groups):
        schema = sequence_schema(groups[0])
        return sampled(batches_of(groups, schema, most_sorted([schema]) // 4), n_rows, "sequence")


@contextmanager
def _unchanged(groups: Iterable[RowGroup]) -> Iterator[None]:
    """A context in which row groups are read; if that fails because files have changed or are not there, it says so."""
    try:
        yield
    except InputError:
        check_unchanged(group.file for group in groups)
        raise


def _check_shared(sorting: Sorting) -> None:
    """Raises InputError if a worker does not see the folder to write to."""
    if is_local(sorting.scratch) and not os.path.isdir(sorting.scratch.path):
        advice = "let workers share it, by the same name, or give the address of a store"
        raise InputError(f"{sorting.scratch.name}: a worker does not see its disk; {advice}")


def _dealt(task: tuple[int, list[RowGroup]], cuts: Sequence[Any], sorting: Sorting) -> list[list[Section]]:
    """Writes the rows of a task to a file, divided into ranges; returns where those of each range are."""
    number, groups = task
    _check_shared(sorting)
    place, start, most = sorting.scratch.inside(f"rows-{number:05}.arrow"), 0, most_sorted([sorting.schema])
    sections: list[list[Section]] = [[] for _ in range(len(cuts) + 1)]
    with written(place) as stream, _unchanged(groups):
        for together in _together(batches_of(groups, sorting.schema, most // 4), most):
            rows, counts = by_range(together, cuts)
            ends = np.cumsum(counts)
            for range_ in np.flatnonzero(counts).tolist():
                content = _packed(rows.slice(ends[range_] - counts[range_], counts[range_]))
                stream.write(content)
                sections[range_].append(Section(place, start, content.size, int(counts[range_])))
                start += content.size
    return sections


def _together(batches: Iterable[pa.Table], n_rows: int) -> Iterator[pa.Table]:
    """The rows of batches, at least `n_rows` at a time but for the last."""
    waiting: list[pa.Table] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= n_rows:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)


def _packed(rows: pa.Table) -> pa.Buffer:
    """Rows as a stream of Arrow."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return sink.getvalue()


def _unpacked(sections: Iterable[Section]) -> Iterator[pa.Table]:
    """The rows of sections, in their order; raises InputError if they are not what was written."""
    for section in sections:
        with readable(section.place.name):
            with section.place.filesystem.open_input_file(section.place.path) as source:
                content = source.read_at(section.size, section.start)
            with pa.ipc.open_stream(content) as stream:
                rows = stream.read_all()
        if len(rows) != section.n_rows:
            raise InputError(f"{section.place.name}: is not what was written")
        yield rows


def _sorted(task: tuple[int, list[Section]], sorting: Sorting) -> list[Place]:
    """Writes the rows of a range, sorted; returns the files in their order, one unless there are too many rows."""
    number, sections = task
    _check_shared(sorting)
    n_rows, files = sum(section.n_rows for section in sections), list[Place]()
    with TemporaryDirectory() as name:
        batches, most = partial(_unpacked, sections), most_sorted([sorting.schema])
        keys = keys_of(sorting.schema)
        for rows in sorted_ranges(batches, n_rows, most, Path(name), lambda n_more: None, keys):
            files.append(sorting.scratch.inside("sorted", f"{number:05}-{part_name(len(files))}"))
            write_rows(rows, sorting.schema, files[-1], lambda n_more: None)
    return files
