"""Tables of objects from Parquet (a file, or a folder of files), CSV, Arrow files, and tables in memory."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..support.addresses import Storage
from ..support.copies import local_copy
from ..support.errors import InputError
from ..support.pandas_versions import own_copy
from ..support.reading import LARGEST_UNPACKED, check_no_nul, check_utf8, files_below, read_bytes, readable
from ..tables.annotations import Annotations
from ..tables.arrow import arrow_to_pandas
from ..tables.checks import check_frames, check_objects
from ..tables.columns import names_without_blanks
from ..tables.inputs import PARQUET_FILES, copy_state, note_source
from ..tables.kinds import TableKind, as_kind, categorical_columns, check_kind, kind_of
from ..tables.table import Table, collected

# How many times its size a Parquet file may unpack to once that is more than LARGEST_UNPACKED.
LARGEST_RATIO = 200


def read_objects(
    source: str | Path | Table,
    frames: str | Path | Table | None = None,
    *,
    table: TableKind | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Reads a table of objects, and one of frames where there is one, as checked Annotations.

    `source` and `frames` are tables in memory, or paths: .parquet, a folder of such files (hive partitions become
    columns), .csv, .csv.gz, .arrow or .feather. A path may have wildcards (day=*/*.parquet), or be an address such as
    s3://bucket/truth; `storage_options` are those of its file system, with fsspec's names (`key`, `secret`, `token`,
    `endpoint_url` for S3), and `filesystem` is that itself, pyarrow's or fsspec's. Without `frames` the frames that
    count are those in which either side of an evaluation has objects. `table` is the kind of both tables that come
    back: "pandas", "polars" or "pyarrow"; by default that of `source`, and pandas for a file. Raises InputError, naming
    the file, where it cannot be read or the table is not right, and ValueError for another kind.

    >>> truth = read_objects("data/sample/truth.parquet", frames="data/sample/frames.parquet")
    >>> len(truth.frames)
    300
    """
    kind = kind_of(source) if table is None else check_kind(table)
    source, frames = collected(source, "objects"), collected(frames, "frames")
    keep_types, storage = kind != "pandas", Storage(storage_options, filesystem)
    objects = _checked(source, check_objects, "objects", keep_types, storage)
    known = None if frames is None else _checked(frames, check_frames, "frames", keep_types, storage)
    return as_kind(Annotations(objects, known), kind, categorical_columns(source, frames))


def read_frames(source: str | Path | Table) -> pd.DataFrame:
    """A checked table of frames, from a table in memory or a path, as for `read_objects`."""
    return _checked(source, check_frames, "frames", False, Storage())


def _checked(
    source: str | Path | Table,
    check: Callable[[Table, str], pd.DataFrame],
    name: str,
    keep_types: bool,
    storage: Storage,
) -> pd.DataFrame:
    """A table in memory, called by this name, or the one in a file, checked; with a note of the file."""
    if not isinstance(source, str | Path):
        table = check(source, name)
        return own_copy(table) if table is source else table
    with local_copy(source, storage) as copy:
        state = copy_state(copy, PARQUET_FILES)
        table = check(_read(copy.path, keep_types), str(copy.path))
        note_source(table, copy.name, state)
    return table


def _read(path: Path, keep_types: bool) -> pd.DataFrame:
    """The table in a file or a folder, unchecked.

    With `keep_types` dates, lists and the like keep their Arrow type; otherwise they are objects of Python.
    """
    to_pandas = partial(arrow_to_pandas, name=str(path), keep_types=keep_types)
    with readable(path):
        if path.is_dir():
            return to_pandas(_folder(path))
        if not path.exists():
            raise InputError(f"{path}: there is no such file")
        match [suffix.lower() for suffix in path.suffixes[-2:]]:
            case [*_, ".parquet"]:
                return to_pandas(_parquet(path))
            case [*_, ".csv"] | [".csv", ".gz"]:
                return to_pandas(_csv(path))
            case [*_, ".arrow" | ".feather"]:
                with pa.memory_map(str(path)) as stream:
                    return to_pandas(pa.ipc.open_file(stream).read_all())
    if path.name.lower().endswith((".json", ".zip", ".gz")):
        what = "read_spotgeo reads the spotGEO challenge's JSON, read_coco and read_posetrack read those formats"
        raise InputError(f"{path}: is no table but JSON, plain or packed; {what}")
    if path.name.lower().endswith(".xml"):
        raise InputError(f"{path}: is no table but XML; read_cvat reads that of CVAT for video")
    kinds = ".json, .json.gz, .zip, .parquet, .csv, .csv.gz, .arrow, .xml or a folder of .parquet"
    raise InputError(f"{path}: is of no known kind; {kinds} is needed")


def _parquet(path: Path) -> pa.Table:
    import pyarrow.parquet as pq  # takes a while, and competition files never need it

    with pq.ParquetFile(path) as file:
        _check_unpacked(path, file.metadata.num_rows * file.metadata.num_columns, path.stat().st_size)
        return file.read()


def _folder(path: Path) -> pa.Table:
    """All Parquet files below a folder, in the order of their names."""
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    files = files_below(path, ".parquet")
    if not files:
        raise InputError(f"{path}: is a folder without Parquet files")
    footers = [pq.read_metadata(file) for file in files]
    for file, footer in zip(files, footers, strict=True):
        _check_unpacked(file, footer.num_rows * footer.num_columns, file.stat().st_size)
    open_files = partial(ds.dataset, [str(file) for file in files], partitioning="hive", partition_base_dir=str(path))
    # The first file's columns need not be all there are, nor its types wide enough for the others.
    dataset = open_files()
    schemas = [dataset.schema, *(fragment.physical_schema for fragment in dataset.get_fragments())]
    schema = pa.unify_schemas(schemas, promote_options="permissive")
    # Files of different columns make a table of all of them, null in most rows.
    n_values = sum(footer.num_rows for footer in footers) * len(schema.names)
    _check_unpacked(path, n_values, sum(file.stat().st_size for file in files))
    return open_files(schema=schema).to_table()


def _check_unpacked(path: Path, n_values: int, size: int) -> None:
    """Refuses what takes far more memory, for so many values, than any real table of its size (bytes) does."""
    unpacked = n_values * 8
    if unpacked > max(LARGEST_UNPACKED, LARGEST_RATIO * size):
        raise InputError(f"{path}: unpacks to {unpacked >> 20} MiB, more than {LARGEST_RATIO} times its size")


def _csv(path: Path) -> pa.Table:
    from pyarrow import csv

    content = read_bytes(path)
    check_no_nul(content, str(path))
    check_utf8(content, str(path))
    # A thread of pyarrow may let go of the text after the interpreter has ended, which aborts where Python owns it.
    arrows_own = pa.BufferOutputStream()
    arrows_own.write(content)
    return _without_blanks(csv.read_csv(pa.BufferReader(arrows_own.getvalue())))


def _without_blanks(table: pa.Table) -> pa.Table:
    """A table whose names of columns have no blanks around them, as after each comma; nor has the text below these."""
    names = names_without_blanks(table.column_names)
    for position, (name, given) in enumerate(zip(names, table.column_names, strict=True)):
        if name != given and pa.types.is_string(table.column(position).type):
            table = table.set_column(position, given, pc.utf8_trim_whitespace(table.column(position)))
    return table.rename_columns(names)
