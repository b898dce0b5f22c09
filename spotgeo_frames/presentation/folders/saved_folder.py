"""A folder that holds one result: its tables as Parquet, and a JSON that says what they are and proves them.

The JSON, MANIFEST, has the version of this format and of the package, the kind of the result, the form and the SHA-256
of each table, and the names and digests of the inputs. Other files may lie beside the tables, such as summaries for
people; the manifest lists them, too, and nothing else may be in the folder. All files change together, the manifest
last, so a folder that does not fit its manifest was cut short or changed by somebody else.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path, PureWindowsPath
from typing import Any

import msgspec
import pandas as pd

from ...support.documents import decode
from ...support.errors import InputError
from ...support.packages import __version__
from ...support.reading import read_bytes, readable
from ...support.writing import Write, check_inputs_kept, table_files, text_file, write_together
from ...tables.inputs import Input, input_notes, sha256
from ...tables.kinds import TableKind
from ...tables.parquet_form import TableForm, table_of

MANIFEST = "spotgeo_frames.json"

# The version of the folder's form, which changes when older versions of the package could no longer read it.
FORMAT = 1

# The most bytes of a manifest that are read: categories of a million names take less.
LARGEST_MANIFEST = 1 << 26

# What files of a result end in, besides the manifest.
ENDINGS = (".parquet", ".json")

AGAIN = "save the result again, in another folder"


class Head(msgspec.Struct):
    """What the manifest of every version begins with."""

    format: int
    version: str


class Manifest(Head):
    """What the JSON of a folder says.

    `kind` is that of the result and `tables` are its tables by name, each the file NAME.parquet. `files` has the
    SHA-256 of every file, and `made_from` the names and digests of the inputs.
    """

    kind: str
    tables: dict[str, TableForm]
    files: dict[str, str]
    made_from: dict[str, str]


def is_saved(path: Path) -> bool:
    """Whether a path is a folder that a result was saved to; raises InputError if it cannot be looked at."""
    with readable(path):
        return (path / MANIFEST).is_file()


def write_folder(
    folder: Path,
    kind: str,
    tables: Mapping[str, tuple[pd.DataFrame, TableForm]],
    beside: Mapping[str, pd.DataFrame],
    texts: Mapping[str, str],
    inputs: Sequence[Input],
    notes: Mapping[str, str],
) -> None:
    """Writes a result, its tables with their forms, in place of an earlier one if there is one.

    `beside` are further tables, and `texts` further files by name. The metadata of all tables has the names and digests
    of the `inputs`, and the `notes`. Other files of the folder stay. Raises InputError if an input would be replaced,
    or if a file cannot be written.
    """
    made_from = input_notes(inputs) | dict(notes)
    written = table_files({name: table for name, (table, _) in tables.items()} | dict(beside), folder, made_from)
    written |= {folder / name: text_file(text) for name, text in texts.items()}
    check_inputs_kept(folder, [file.path for file in inputs], [path.name for path in written])
    forms = {name: form for name, (_, form) in tables.items()}
    manifest = Manifest(FORMAT, __version__, kind, forms, {}, made_from)
    outdated: dict[Path, Write | None] = {folder / name: None for name in earlier_files(folder) if name != MANIFEST}
    files = {path: None if write is None else _digested(path.name, write, manifest) for path, write in written.items()}
    write_together(outdated | files | {folder / MANIFEST: partial(_write_manifest, manifest)})


def _digested(name: str, write: Write, manifest: Manifest) -> Write:
    """What writes a file and notes its digest in the manifest."""

    def write_and_digest(path: Path) -> None:
        write(path)
        manifest.files[name] = sha256(path)

    return write_and_digest


def _write_manifest(manifest: Manifest, path: Path) -> None:
    """Writes the manifest; by then it has the digests of all files, since they are written in their order."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")


def earlier_files(folder: Path) -> list[str]:
    """The names of the files of the result in a folder; none if there is no result."""
    return [*read_manifest(folder).files, MANIFEST] if is_saved(folder) else []


def read_folder(folder: Path, kind: TableKind | None) -> tuple[Manifest, dict[str, Any]]:
    """The manifest of a folder, and its tables by name, of a kind, or for None of those that they were saved as.

    Raises InputError if there is none, or if any file is missing or not as it was saved.
    """
    manifest = read_manifest(folder)
    tables = {}
    for name, digest in manifest.files.items():
        path = folder / name
        with readable(path):
            is_there = os.path.lexists(path)
        if not is_there:
            raise InputError(f"{path}: is missing, so the result is not whole; {AGAIN}")
        content = read_bytes(path)
        if hashlib.sha256(content).hexdigest() != digest:
            raise InputError(f"{path}: is not as it was saved (its SHA-256 differs); {AGAIN}")
        if path.suffix == ".parquet" and path.stem in manifest.tables:
            form = manifest.tables[path.stem]
            tables[path.stem] = table_of(content, form, path, kind or form.kind)
    return manifest, {name: tables[name] for name in manifest.tables}


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder; raises InputError if there is none, or if it is damaged or of another version."""
    path = folder / MANIFEST
    with readable(folder):
        if not folder.is_dir():
            raise InputError(f"{folder}: is no folder; give one that save or --out wrote")
        if not path.is_file():
            is_run = (folder / "plan.json").exists()
            hint = "; of a dataset's results read summary.parquet, or the Parquet files in matches" if is_run else ""
            raise InputError(f"{folder}: holds no result that save or --out wrote: {MANIFEST} is missing{hint}")
        if path.stat().st_size > LARGEST_MANIFEST:
            raise InputError(f"{path}: has more than {LARGEST_MANIFEST >> 20} MiB; no result has such a manifest")
    content = read_bytes(path)
    head = decode(content, Head, str(path))
    if head.format != FORMAT:
        problem = f"is of format {head.format}, by spotgeo_frames {head.version}; {__version__} reads format {FORMAT}"
        raise InputError(f"{path}: {problem}; load it with that version, or save the result again with this one")
    manifest = decode(content, Manifest, str(path))
    needed = [f"{name}.parquet" for name in manifest.tables]
    odd = [name for name in (*manifest.files, *needed) if not _is_own_name(name)]
    if odd:
        raise InputError(f"{path}: files: {odd[0]!r} is no name of a file in this folder; {AGAIN}")
    lacking = [name for name in needed if name not in manifest.files]
    if lacking:
        raise InputError(f"{path}: files: {lacking[0]} is missing; {AGAIN}")
    return manifest


def _is_own_name(name: str) -> bool:
    """Whether a name can be that of a file that was written to the folder itself; none of these is hidden."""
    is_plain = PureWindowsPath(name).name == name and "\0" not in name and not name.startswith(".")
    return is_plain and name.endswith(ENDINGS) and name != MANIFEST
