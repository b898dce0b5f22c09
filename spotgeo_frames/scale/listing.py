"""The files of a Parquet dataset, with the columns that the names of their folders (hive partitions) add.

A table that is no Parquet file, such as a relation of DuckDB, is written to temporary files first, batch by batch. A
dataset is read several times and in several places at once, which a stream of rows does not allow.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from ..support import InputError, Listed, Place, Storage, check_memory, first_line, stores, without_secrets
from ..tables import ArrowStream, Table, as_stream, collected
from .files import File, FileState

# How a dataset may be given: by a path or an address, by several, or as a table, which a pyarrow.dataset is, too.
Dataset = str | Path | Sequence[str | Path] | Table


def is_of_files(source: Any) -> bool:
    """Whether a dataset is given by paths, or as a dataset of pyarrow that has all rows of Parquet files."""
    if isinstance(source, list | tuple):
        return all(isinstance(path, str | Path) for path in source)
    if not (hasattr(source, "get_fragments") and hasattr(source, "filesystem")):
        return isinstance(source, str | Path)
    # What filters a dataset, pyarrow has no public way to see.
    return source.format.default_extname == "parquet" and not source._scan_options


def files_of(source: Any, storage: Storage | None = None) -> tuple[str, str | None, list[File]]:
    """The name of a dataset, the path of its folder (None if it is given as files), and its files in order.

    Hive partitions are those of the folder or of the pyarrow dataset. Raises InputError if there are no such files, or
    if they are not Parquet on one file system.
    """
    if isinstance(source, str | Path):
        place = stores.place_of(source, storage)
        folder, files = stores.found_at(place, (".parquet",))
        if folder is None:
            return place.name, None, _described(files, [{}])
        if not files:
            raise InputError(f"{folder.name}: is a folder without Parquet files")
        partitions = _partitions([file.place.path[len(folder.path) :] for file in files])
        return place.name, folder.path, _described(files, partitions, folder)
    if isinstance(source, list | tuple) and source and all(isinstance(path, str | Path) for path in source):
        places = [stores.place_of(path, storage) for path in source]
        return f"{places[0].name} and others", None, _described(_asked(places), [{} for _ in places])
    if isinstance(source, Place):
        return source.name, None, _described(_asked([source]), [{}])
    if hasattr(source, "get_fragments") and hasattr(source, "filesystem"):
        return _fragments(source)
    kinds = "a path or URI of a Parquet file or a folder, a list of files, a pyarrow dataset, or a table (DuckDB)"
    raise InputError(f"a dataset is needed: {kinds}; this is of type {type(source).__name__}")


def _fragments(dataset: Any) -> tuple[str, None, list[File]]:
    """A name for a pyarrow dataset, and its files with their partitions."""
    import pyarrow.dataset as ds

    fragments = list(dataset.get_fragments())
    if not fragments:
        raise InputError("the dataset has no files")
    places = [Place(dataset.filesystem, fragment.path, without_secrets(fragment.path)) for fragment in fragments]
    partitions = [ds.get_partition_keys(fragment.partition_expression) for fragment in fragments]
    return f"the dataset of {places[0].name}", None, _described(_asked(places), partitions)


def _asked(places: Sequence[Place]) -> list[Listed]:
    """What the file system says of files that were asked for by their names; they must be on one file system."""
    if any(place.filesystem != places[0].filesystem for place in places):
        raise InputError(f"{places[0].name} and others: are on several file systems; one is needed")
    return [file or Listed(place, 0, 0) for place, file in zip(places, stores.listed(places), strict=True)]


def _described(
    files: Sequence[Listed], partitions: Sequence[dict[str, Any]], folder: Place | None = None
) -> list[File]:
    """The files with their state, of which the footer is not read yet, and their partition."""
    return [
        File(file.place, FileState(file.size, file.changed, ""), partition, folder)
        for file, partition in zip(files, partitions, strict=True)
    ]


def _partitions(paths: Sequence[str]) -> list[dict[str, Any]]:
    """The values in the names of folders such as night=3/camera=a; integers if all values of a key are integers.

    Where two of them are one number, as 007 and 07 are, they are names, and stay text.
    """
    folders = [[folder for folder in path.split("/")[:-1] if "=" in folder] for path in paths]
    names = list(dict.fromkeys(folder.partition("=")[0] for of_path in folders for folder in of_path))
    if not names:
        return [{} for _ in paths]
    import pyarrow.dataset as ds  # imported only here: it takes a while

    hive = ds.HivePartitioning(pa.schema([(name, pa.string()) for name in names]))
    values = [ds.get_partition_keys(hive.parse("/".join(of_path) + "/")) for of_path in folders]
    texts = {name: {text for of_file in values if (text := of_file.get(name)) is not None} for name in names}
    whole = {name for name, of in texts.items() if all(map(_is_integer, of)) and len({*map(int, of)}) == len(of)}
    return [
        {name: int(text) if name in whole and text is not None else text for name, text in of_file.items()}
        for of_file in values
    ]


def _is_integer(text: str) -> bool:
    """Whether pyarrow takes a value of a partition for an integer."""
    return re.fullmatch(r"-?\d{1,10}", text, re.ASCII) is not None and abs(int(text)) < 1 << 31


# How many rows a row group has. The batches of a stream may be a few thousand rows, whose footers would be many.
GROUP_ROWS = 1 << 17


@contextmanager
def in_files(datasets: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A context that gives datasets by their names, those that are tables as temporary files, which messages name so.

    Raises InputError if a table cannot be read, or be written as Parquet.
    """
    streams = {name: given for name, given in datasets.items() if not is_of_files(given)}
    if not streams:
        yield dict(datasets)
        return
    with TemporaryDirectory(prefix="spotgeo_frames-") as folder:
        written = {name: _written(given, name, Path(folder, f"{name}.parquet")) for name, given in streams.items()}
        yield {**datasets, **written}


def _written(given: Any, name: str, path: Path) -> Any:
    """The file at `path` with the rows of a table; what is no table as it is, which is refused where datasets are."""
    table = as_stream(collected(given, name))
    if not isinstance(table, ArrowStream):
        return given
    try:
        _write(pa.RecordBatchReader.from_stream(table), path)
    except Exception as error:  # what the caller's own query raises, and what Parquet cannot hold
        check_memory(error, name)
        raise InputError(f"{name}: its rows cannot be kept in {path.parent} as Parquet: {first_line(error)}") from None
    return Place(stores.place_of(path).filesystem, str(path), name)


def _write(reader: pa.RecordBatchReader, path: Path) -> None:
    """Writes the batches of a reader to a file; memory holds a row group at a time."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, reader.schema, write_page_checksum=True) as writer:
        for rows in together((pa.Table.from_batches([batch], reader.schema) for batch in reader), GROUP_ROWS):
            writer.write_table(rows, row_group_size=GROUP_ROWS)


def together(batches: Iterable[pa.Table], n_rows: int) -> Iterator[pa.Table]:
    """The rows of batches, at least `n_rows` at a time but for the last."""
    waiting: list[pa.Table] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= n_rows:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)
