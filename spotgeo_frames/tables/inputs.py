"""Which file a table was read from, what that file was then, and whether it still is."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ..support.names import text_name
from .annotations import Annotations

# What readers read of a folder: the first of these that it has.
READ_IN_FOLDERS = ("*/gt/gt.txt", "*.txt", "**/*.parquet", "*.json")


def sha256(path: Path) -> str:
    """SHA-256 of a file; of a folder, that of the names and digests of the files that readers read, in order."""
    if path.is_dir():
        inner = (f"{file.relative_to(path).as_posix()} {sha256(file)}\n" for file in read_files(path))
        return hashlib.sha256("".join(inner).encode()).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_files(folder: Path) -> list[Path]:
    """The files of a folder that readers read, in order."""
    found = ([file for file in folder.glob(pattern) if file.is_file()] for pattern in READ_IN_FOLDERS)
    files = next((files for files in found if files), [])
    return sorted(files + [file for file in folder.glob("*/seqinfo.ini") if file.is_file()])


def file_state(path: Path) -> list[str | int]:
    """What tells a file, or what readers read of a folder, from others and from what it was.

    Its absolute path, when it was last changed (ns), its size and, of a folder, how many files it has.
    """
    states = [file.stat() for file in (read_files(path) if path.is_dir() else [path])]
    changed = max((state.st_mtime_ns for state in states), default=0)
    return [str(path.absolute()), changed, sum(state.st_size for state in states), len(states)]


def input_notes(inputs: Mapping[str, Path]) -> dict[str, str]:
    """The name and SHA-256 of each file that something was made from, as `write_tables` keeps them."""
    return {role: text_name(path) for role, path in inputs.items()} | {
        f"{role}_sha256": sha256(path) for role, path in inputs.items()
    }


# Where readers note in a table's attrs which file it is from.
SOURCE = "spotgeo_frames_source"

# Where they note what the file was when it was read, as `files.file_state` has it, and the rows of the table.
SOURCE_STATE = "spotgeo_frames_source_state"


def note_source(table: pd.DataFrame, path: Path) -> None:
    """Notes in a table's attrs which file it was read from."""
    table.attrs[SOURCE] = str(path)
    table.attrs[SOURCE_STATE] = [*file_state(path), len(table)]


def source(table: pd.DataFrame, name: str) -> str:
    """What messages call a table: the file it was read from, which readers note, or `name`."""
    return str(table.attrs.get(SOURCE, name))


class Input(NamedTuple):
    """A file that a table was read from: what it is to the report, its digest unless it has changed, and a remark."""

    role: str
    path: Path
    sha256: str | None
    remark: str

    def notes(self) -> list[tuple[str, str]]:
        """What Parquet files keep of it."""
        name = [(self.role, text_name(self.path))]
        return name if self.sha256 is None else [*name, (f"{self.role}_sha256", self.sha256)]


def inputs_of(truth: Annotations, submissions: Mapping[str, Annotations]) -> list[Input]:
    """The files that the tables were read from, where readers noted them."""
    tables = [("truth", truth.objects), ("frames", truth.frames)]
    for name, side in submissions.items():
        tables.append(("submission" if len(submissions) == 1 else f"submission {name}", side.objects))
    return [_input(role, table) for role, table in tables if table is not None and _has_state(table)]


def _has_state(table: pd.DataFrame) -> bool:
    """Whether readers noted where the table is from; attrs may come from anywhere."""
    noted = table.attrs.get(SOURCE_STATE)
    return isinstance(noted, list) and len(noted) == 5 and isinstance(noted[0], str) and isinstance(noted[4], int)


def _input(role: str, table: pd.DataFrame) -> Input:
    name, *state, n_rows = table.attrs[SOURCE_STATE]
    path = Path(name)
    of_all = "" if len(table) == n_rows else f", of which {len(table):,} of {n_rows:,} rows"
    try:
        if [name, *state] == file_state(path):
            return Input(role, path, sha256(path), of_all)
        return Input(role, path, None, f"{of_all}, changed since it was read")
    except OSError:
        return Input(role, path, None, f"{of_all}, no longer there")
