"""Which file the rows of a table were read from, whether they still are that file's rows, and the file's digest.

Readers note in a table's attrs which file it is from, and keep the table as they read it. pandas copies attrs to most
tables that are made from another, so a note alone proves nothing. `confirmed` compares a table with what was read, and
drops the note unless every row is still a row of the file. `as_annotations` does so wherever tables come in.

A digest is made when a result is written, so it is that of the file by then. It counts only if the file's state (names,
sizes, times) was the same before it was read, before the digest was made, and after.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..support import Copy, name_as_text, reading
from .columns import Columns, columns_of, dataframe_of, is_wide
from .schema import NUMBERED

if TYPE_CHECKING:
    import pandas as pd

# The files that readers of each kind read in a folder: those of the first pattern that matches any.
PARQUET_FILES = ("**/*.parquet",)
MOTCHALLENGE_FILES = ("*/gt/gt.txt", "*.txt")
POSETRACK_FILES = ("*.json",)
YOLO_FILES = ("**/*.txt",)
FLAT_TEXT_FILES = ("*.txt",)
XML_FILES = ("**/*.xml",)
JSON_FILES = ("*.json",)

# The key in a table's attrs under which readers note which file it is from.
SOURCE = "spotgeo_frames_source"


def sha256(path: Path, patterns: Sequence[str] = ()) -> str:
    """SHA-256 of a file; of a folder, that of the names and digests of the files that are read there, in order."""
    if path.is_dir():
        inner = (f"{file.relative_to(path).as_posix()} {sha256(file)}\n" for file in _read_files(path, patterns))
        return hashlib.sha256("".join(inner).encode("utf-8", "surrogateescape")).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read_files(folder: Path, patterns: Sequence[str]) -> list[Path]:
    """The files of a folder that a reader of these patterns reads, in order."""
    files = next((files for pattern in patterns if (files := _matching(folder, pattern))), [])
    return sorted(files + _matching(folder, "*/seqinfo.ini") + _matching(folder, "*/image_info.json"))


def _matching(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder that match a pattern; those of all folders below it are found as their readers do."""
    anywhere = pattern.startswith("**/*")
    files = reading.files_below(folder, pattern.removeprefix("**/*")) if anywhere else folder.glob(pattern)
    return [file for file in files if file.is_file()]


class FileState(NamedTuple):
    """The state of a file, or of the files in a folder that a reader of these patterns reads.

    `files` has the path, the size (bytes) and the times (ns) at which the content and anything else was changed of each
    file. The last cannot be set, so it tells of a file that was rewritten with the size and time that it had. `sha256`
    is the digest of what was fetched from elsewhere, which proves itself.
    """

    path: Path  # absolute, or an address
    patterns: tuple[str, ...]
    files: tuple[tuple[Path, int, int, int], ...]
    sha256: str | None = None


def file_state(path: str | Path, patterns: tuple[str, ...] = ()) -> FileState | None:
    """The present state of a file or folder; None if it cannot be looked at. Readers call it before they read."""
    path = Path(path).absolute()
    try:
        files = _read_files(path, patterns) if path.is_dir() else [path]
        states = [file.stat() for file in files]
    except (OSError, ValueError):  # it is gone, or there can be none of such a name
        return None
    times = (
        (file, state.st_size, state.st_mtime_ns, state.st_ctime_ns) for file, state in zip(files, states, strict=True)
    )
    return FileState(path, patterns, tuple(times))


def copy_state(copy: Copy, patterns: tuple[str, ...] = ()) -> FileState | None:
    """The present state of a file or folder to read; of one that was fetched, what was fetched and its digest."""
    if copy.temporary:
        return FileState(Path(copy.name), patterns, (), sha256(copy.path, patterns))
    return file_state(copy.path, patterns)


class Origin(str):
    """The path of the file that a table was read from, with the table as it was read.

    It is a string so that pandas can write it to Parquet with the other attrs. Copies of a table share one Origin.
    `table` shares its memory with the table that the reader returned; when that one is changed, pandas changes a copy.
    With pandas 2.3, which would change both, it has memory of its own. Nothing changes Columns, so their arrays are
    kept. `n_rows` is how many rows the file has. A pickled Origin becomes a plain string, which proves nothing.
    """

    state: FileState
    table: pd.DataFrame | Columns
    n_rows: int

    def __deepcopy__(self, _memo: dict[int, Any]) -> Origin:
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str.__str__(self),)


def note_source(
    table: pd.DataFrame | Columns, path: str | Path, state: FileState | None, n_rows: int | None = None
) -> None:
    """Notes in a table's attrs which file it was read from; `state` is the file's, from before it was read.

    Call it last: a table that is changed later is no longer the file's. `n_rows` is how many rows the file has, where
    the reader left some out.
    """
    table.attrs.pop(SOURCE, None)
    if state is None:
        return
    origin = Origin(path)
    origin.state = state
    if isinstance(table, Columns):
        origin.table = Columns(table.stored, n_rows=len(table))  # itself would never be freed, being in its own notes
    else:
        from ..support import pandas_tables

        origin.table = pandas_tables.own_copy(table)
    origin.n_rows = len(table) if n_rows is None else n_rows
    table.attrs[SOURCE] = origin


def name_source(table: pd.DataFrame | Columns, name: str) -> None:
    """Notes in a table's attrs what messages call it; unlike `note_source`, that claims nothing about its rows."""
    table.attrs[SOURCE] = name


def confirmed(table: pd.DataFrame) -> pd.DataFrame:
    """The table itself if its rows are those of the file in its note, and otherwise the table without that note."""
    if SOURCE not in table.attrs or _origin(table) is not None:
        return table
    changed = table.copy(deep=False)
    changed.attrs = {key: value for key, value in table.attrs.items() if key != SOURCE}
    return changed


def source(table: pd.DataFrame | Columns, name: str) -> str:
    """The name of a table in messages: the file that it was read from, or otherwise `name`."""
    return str(table.attrs.get(SOURCE, name))


def _origin(table: pd.DataFrame | Columns) -> Origin | None:
    """The origin of a table's rows, or None if the note in its attrs does not prove one."""
    origin = table.attrs.get(SOURCE)
    if not isinstance(origin, Origin):
        return None
    if table.attrs.get(NUMBERED) and "object" not in origin.table:  # the numbers of rows are nobody's
        if isinstance(table, Columns):
            table = table.select([name for name in table if name != "object"])
        else:
            table = table.drop(columns="object")
    return origin if _holds(origin.table, table) else None


def _holds(read: pd.DataFrame | Columns, table: pd.DataFrame | Columns) -> bool:
    """Whether every row of `table` is a row of `read`, in the same order and with the same columns.

    The index tells which row of `read` each one was, since pandas keeps the index when rows are selected.
    """
    if isinstance(read, Columns) and isinstance(table, Columns) and read.columns == table.columns:
        same = all(read[name] is table[name] for name in read)
        if same:  # found without pandas
            return True
    read, table = dataframe_of(read), dataframe_of(table)
    if not table.columns.equals(read.columns):
        return False
    if len(table) != len(read):
        rows = table.index.to_numpy()
        inside = rows.dtype.kind in "iu" and np.all(np.diff(rows) > 0) and np.all((rows >= 0) & (rows < len(read)))
        if not inside:
            return False
        read = read.take(rows)
    if is_wide(read.columns, len(read)):
        return read.reset_index(drop=True).equals(table.reset_index(drop=True))
    pairs = zip(columns_of(read).arrays.values(), columns_of(table).arrays.values(), strict=True)
    return all(_equal(values, others) for values, others in pairs)


def _equal(values: Any, others: Any) -> bool:
    """Whether two columns have the same type and values; columns that share their memory need no comparison."""
    if values.dtype != others.dtype:
        return False
    if _share_memory(values, others):  # pandas shares memory only until one of the columns is changed
        return True
    import pandas as pd

    return pd.Series(values, dtype=values.dtype, copy=False).equals(pd.Series(others, dtype=others.dtype, copy=False))


def _share_memory(values: Any, others: Any) -> bool:
    """Whether two columns of one type are surely the same memory."""
    if isinstance(values, np.ndarray):
        layouts = [column.__array_interface__ for column in (values, others)]
        return all(layouts[0][key] == layouts[1][key] for key in ("data", "shape", "strides"))
    if hasattr(values, "categories"):  # types are equal whatever the order of their categories
        return bool(values.categories.equals(others.categories)) and _share_memory(values.codes, others.codes)
    if getattr(values.dtype, "storage", "") == "pyarrow":
        return values.__arrow_array__() is others.__arrow_array__()
    return False


class Input(NamedTuple):
    """A file that a table was read from.

    `role` is what the table is to the result, such as "truth". `sha256` is None if the file has changed since or is
    gone. `remark` says so, and how many of the file's rows the table has if not all.
    """

    role: str
    path: Path
    sha256: str | None
    remark: str


def inputs_of(tables: Mapping[str, pd.DataFrame | Columns | None]) -> list[Input]:
    """The files that tables were read from, by the tables' roles; a table whose rows are no file's has none."""
    origins = {role: None if table is None else _origin(table) for role, table in tables.items()}
    return [
        _input(role, origin, len(table))
        for (role, origin), table in zip(origins.items(), tables.values(), strict=True)
        if origin is not None and table is not None
    ]


def _input(role: str, origin: Origin, n_rows: int) -> Input:
    """The input of a table of `n_rows` rows, with the digest of its file as it is now."""
    path, patterns, _, fetched = state = origin.state
    of_all = "" if n_rows == origin.n_rows else f", of which {n_rows:,} of {origin.n_rows:,} rows"
    if fetched is not None:
        return Input(role, path, fetched, of_all)
    try:
        digest = sha256(path, patterns) if file_state(path, patterns) == state else None
    except OSError:
        digest = None
    now = file_state(path, patterns)
    if digest is not None and now == state:
        return Input(role, path, digest, of_all)
    return Input(role, path, None, f"{of_all}, {'no longer there' if now is None else 'changed since it was read'}")


def input_notes(inputs: Sequence[Input]) -> dict[str, str]:
    """The name and SHA-256 of each file that a result was made from, as text for the metadata of a Parquet file.

    A file that has changed since it was read has a remark instead of a digest.
    """
    names = {file.role: name_as_text(file.path.name) for file in inputs}
    digests = {f"{file.role}_sha256": file.sha256 for file in inputs if file.sha256 is not None}
    remarks = {f"{file.role}_remark": file.remark.removeprefix(", ") for file in inputs if file.sha256 is None}
    return names | digests | remarks
