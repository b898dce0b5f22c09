"""Tables that are no Parquet files, such as a relation of DuckDB: written to temporary files, batch by batch.

A dataset is read several times and in several places at once, which a stream of rows does not allow.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from ..support.errors import InputError, check_memory, first_line
from ..support.storage import Place, place_of
from ..tables.table import ArrowStream, as_stream, collected
from .listing import is_of_files

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
    return Place(place_of(path).filesystem, str(path), name)


def _write(reader: pa.RecordBatchReader, path: Path) -> None:
    """Writes the batches of a reader to a file; memory holds a row group at a time."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, reader.schema, write_page_checksum=True) as writer:

        def write() -> None:
            writer.write_table(pa.Table.from_batches(waiting, reader.schema), row_group_size=GROUP_ROWS)

        waiting: list[pa.RecordBatch] = []
        n_waiting = 0
        for batch in reader:
            waiting.append(batch)
            n_waiting += len(batch)
            if n_waiting >= GROUP_ROWS:
                write()
                waiting, n_waiting = [], 0
        write()
