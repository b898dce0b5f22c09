"""repartition_by_sequence(): a copy of a dataset that is sorted by sequence, which appears when it is complete."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..support.addresses import Storage, is_address
from ..support.errors import InputError
from ..support.fetching import AT_ONCE
from ..support.storage import READ_BYTES, Place, is_local, local_paths, make_folder, place_of, sizes, written
from ..support.targets import check_inputs_kept, check_new_folder
from ..support.temporary import move_folder, synchronise_folder, temporary_folder_beside, temporary_name
from ..support.writing import writable
from .cluster_sorting import sorted_on_cluster
from .contents import Contents, check_outside, contents_of
from .dask import check_client
from .sorting import part_name, write_sorted
from .streams import in_files


def repartition_by_sequence(
    dataset: Any,
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
    repartitioned(dataset, out, client, storage_options, filesystem)


def repartitioned(
    dataset: Any,
    out: str | Path,
    client: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> int:
    """Does what `repartition_by_sequence` does, and returns how many files it has written."""
    if client is not None:
        check_client(client)
    storage = Storage(storage_options, filesystem)
    target = place_of(out, storage)
    folder = Path(target.path if is_address(out) else os.path.expanduser(out))
    if is_local(target):
        check_new_folder(folder)
        if isinstance(dataset, str | Path):
            check_inputs_kept(folder, local_paths([place_of(dataset, storage)]), ())
    with in_files({"dataset": dataset}) as files:
        contents = contents_of(files["dataset"], ["sequence"], storage=storage)
        if not contents.n_rows:
            raise InputError(f"{contents.name}: has no rows")
        if is_local(target):
            return _to_folder(contents, folder, client)
        check_outside(target, contents)
        if sizes(target):
            raise InputError(f"{target.name}: is there already; give a folder that is not there, or empty")
        return _to_store_by_cluster(contents, target, client) if client is not None else _to_store(contents, target)


def _to_folder(contents: Contents, folder: Path, client: Any) -> int:
    """Sorts a dataset to a folder of this machine, and returns how many files there are."""
    with writable(folder):
        name, folder = os.fspath(folder), folder.absolute()
        folder.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder_beside(folder) as scratch:
            done = scratch / "done"
            done.mkdir()
            if client is None:
                files = write_sorted(contents, scratch, place_of(done)._replace(name=name))
            else:
                files = sorted_on_cluster(client, contents, place_of(scratch)._replace(name=name))
                for number, file in enumerate(files):
                    Path(file.path).replace(done / part_name(number))
            synchronise_folder(done)
            move_folder(done, folder)
            try:
                synchronise_folder(folder.parent)
            except BaseException:  # so that whatever ends in an error leaves nothing
                folder.replace(done)
                raise
    return len(files)


def _to_store(contents: Contents, target: Place) -> int:
    """Sorts a dataset into a temporary folder of this machine, then copies its files to a folder on a store.

    Returns how many files there are. If copying fails, none is left there.
    """

    def copy(file: Place, to: Place) -> None:
        with written(to) as stream, open(file.path, "rb") as source:
            shutil.copyfileobj(source, stream, READ_BYTES)

    with TemporaryDirectory() as name:
        done = Path(name) / "done"
        with writable(done):
            done.mkdir()
            files = write_sorted(contents, Path(name), place_of(done))
        _all_or_none(files, target, copy)
    return len(files)


def _to_store_by_cluster(contents: Contents, target: Place, client: Any) -> int:
    """Sorts a dataset on a cluster into a temporary folder beside that on the store, then moves its files there.

    Returns how many files there are. If moving fails, none is left there.
    """

    def move(file: Place, to: Place) -> None:
        with writable(to.name):
            file.filesystem.move(file.path, to.path)

    above, _, name = target.path.rstrip("/").rpartition("/")
    if not above:
        raise InputError(f"{target.name}: is a whole bucket; give a folder in it")
    path = f"{above}/{temporary_name(name)}"
    scratch = Place(target.filesystem, path, target.name)
    with writable(target.name):
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
    make_folder(target)
    there = [target.inside(part_name(number)) for number in range(len(files))]
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(put, files, there))
    except BaseException:
        for place in there:
            with suppress(OSError):  # it is not there, or the store is gone
                place.filesystem.delete_file(place.path)
        raise
