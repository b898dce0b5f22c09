"""save() and load(): any result in a folder, and back.

A folder holds one result: its tables as Parquet, and a JSON, MANIFEST, that says what they are and proves them. It has
the version of this format and of the package, the kind of the result, the form and the SHA-256 of each table, and the
names and digests of the inputs. Other files may lie beside the tables, such as summaries for people; the manifest lists
them, too, and nothing else may be in the folder. All files change together, the manifest last, so a folder that does
not fit its manifest was cut short or changed by somebody else.

Both functions stand in this room because it is the lowest one over all results: those of `tables`, `tracking` and
`analysis`.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path, PureWindowsPath
from types import ModuleType
from typing import Any, NamedTuple

import msgspec
import pandas as pd

from ... import analysis, scoring, tables, tracking
from ...support import InputError, Write, __version__, documents, reading, writing
from ...tables import (
    ArrowStream,
    Columns,
    Input,
    LazyTable,
    Table,
    TableKind,
    is_scanned,
    parquet_form,
    provenance,
    schema,
)

MANIFEST = "spotgeo_frames.json"

# The version of the folder's form, which changes when older versions of the package could no longer read it.
FORMAT = 1

# The most bytes of a manifest that are read: categories of a million names take less.
LARGEST_MANIFEST = 1 << 26

# What files of a result end in, besides the manifest.
ENDINGS = (".parquet", ".json")

AGAIN = "save the result again, in another folder"

# The results of several tables, each with the room that exports it.
RESULTS: dict[str, ModuleType] = {
    "Annotations": tables,
    "AveragePrecision": scoring,
    "TrackResult": tracking,
    "PoseResult": tracking,
    "ReidentifiedPoses": tracking,
    "Comparison": analysis,
    "Sweep": analysis,
    "NonInferiority": analysis,
    "DetectionLimit": analysis,
    "Calibration": analysis,
}

# The results that are one table, each with the name of that table.
SINGLE = {"match table": "matches", "table": "table"}


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
    tables: dict[str, parquet_form.TableForm]
    files: dict[str, str]
    made_from: dict[str, str]


def is_saved(path: Path) -> bool:
    """Whether a path is a folder that a result was saved to; raises InputError if it cannot be looked at."""
    with reading.readable(path):
        return (path / MANIFEST).is_file()


def write_folder(
    folder: Path,
    kind: str,
    tables: Mapping[str, tuple[pd.DataFrame, parquet_form.TableForm]],
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
    made_from = provenance.input_notes(inputs) | dict(notes)
    written = writing.table_files(
        {name: table for name, (table, _) in tables.items()} | dict(beside), folder, made_from
    )
    written |= {folder / name: writing.text_file(text) for name, text in texts.items()}
    writing.check_inputs_kept(folder, [file.path for file in inputs], [path.name for path in written])
    forms = {name: form for name, (_, form) in tables.items()}
    manifest = Manifest(FORMAT, __version__, kind, forms, {}, made_from)
    outdated: dict[Path, Write | None] = {folder / name: None for name in earlier_files(folder) if name != MANIFEST}
    files = {path: None if write is None else _digested(path.name, write, manifest) for path, write in written.items()}
    writing.write_together(outdated | files | {folder / MANIFEST: partial(_write_manifest, manifest)})


def _digested(name: str, write: Write, manifest: Manifest) -> Write:
    """What writes a file and notes its digest in the manifest."""

    def write_and_digest(path: Path) -> None:
        write(path)
        manifest.files[name] = provenance.sha256(path)

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
        with reading.readable(path):
            is_there = os.path.lexists(path)
        if not is_there:
            raise InputError(f"{path}: is missing, so the result is not whole; {AGAIN}")
        content = reading.read_bytes(path)
        if hashlib.sha256(content).hexdigest() != digest:
            raise InputError(f"{path}: is not as it was saved (its SHA-256 differs); {AGAIN}")
        if path.suffix == ".parquet" and path.stem in manifest.tables:
            form = manifest.tables[path.stem]
            tables[path.stem] = parquet_form.table_of(content, form, path, kind or form.kind)
    return manifest, {name: tables[name] for name in manifest.tables}


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder; raises InputError if there is none, or if it is damaged or of another version."""
    path = folder / MANIFEST
    with reading.readable(folder):
        if not folder.is_dir():
            raise InputError(f"{folder}: is no folder; give one that save or --out wrote")
        if not path.is_file():
            is_run = (folder / "plan.json").exists()
            hint = "; of a dataset's results read summary.parquet, or the Parquet files in matches" if is_run else ""
            raise InputError(f"{folder}: holds no result that save or --out wrote: {MANIFEST} is missing{hint}")
        if path.stat().st_size > LARGEST_MANIFEST:
            raise InputError(f"{path}: has more than {LARGEST_MANIFEST >> 20} MiB; no result has such a manifest")
    content = reading.read_bytes(path)
    head = documents.decode(content, Head, str(path))
    if head.format != FORMAT:
        problem = f"is of format {head.format}, by spotgeo_frames {head.version}; {__version__} reads format {FORMAT}"
        raise InputError(f"{path}: {problem}; load it with that version, or save the result again with this one")
    manifest = documents.decode(content, Manifest, str(path))
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


def save(x: Table | NamedTuple, folder: str | Path) -> None:
    """Saves a table or a result to a folder, from which `load` gives it back.

    Parameters
    ----------
    x
        A match table or any other table, of pandas, polars or pyarrow; or an Annotations, a TrackResult, a PoseResult,
        a ReidentifiedPoses, a Comparison, a Sweep, a NonInferiority, a DetectionLimit or a Calibration.
    folder
        A folder, which is made if it is not there, and its parents, too. An earlier result in it is replaced; other
        files stay. It gets one Parquet file a table, and spotgeo_frames.json, which says what they are.

    Rows are numbered anew, bins become text such as `12 to 47`, lists in cells of pandas become arrays, and what
    exports an Arrow stream becomes a table of pandas. Nothing is left half written after an error: either all files
    change or none.

    Returns
    -------
    None.

    Raises
    ------
    InputError: `x` is neither a table nor a result; a column or a note (attrs) holds what Parquet or JSON would not
        give back; files that `x` was read from would be replaced; or the folder cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import spotgeo_frames as sf
    >>> truth, eager = (sf.read_spotgeo(f"data/sample/{name}.json") for name in ("truth", "eager"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sf.save(sf.match(truth, eager), f"{folder}/june")
    ...     june = sf.load(f"{folder}/june")
    >>> sf.compare({"june": june, "july": sf.match(truth, eager)}).pairs["estimate"].iloc[0]
    np.float64(0.0)
    """
    folder = Path(folder)
    of_files = x._asdict() if isinstance(x, tables.Annotations) else {}
    read = {name: table for name, table in of_files.items() if isinstance(table, pd.DataFrame)}
    check_target(folder, [file.path for file in provenance.inputs_of(read)])
    save_result(x, folder, read)


def check_target(folder: Path, inputs: list[Path]) -> None:
    """Raises InputError if a result cannot be saved to a folder: it cannot be written, or has inputs to be replaced.

    Nothing is written yet.
    """
    writing.check_folder_writable(folder)
    writing.check_inputs_kept(folder, inputs, earlier_files(folder))


def save_result(
    x: Any,
    folder: Path,
    read: Mapping[str, pd.DataFrame | Columns | None],
    beside: Mapping[str, pd.DataFrame] | None = None,
    texts: Mapping[str, str] | None = None,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Saves a result with what lies beside it: further tables, and texts by the names of their files.

    `read` are the tables that were read, by their roles, such as truth; the folder gets the names and digests of their
    files, and the `notes`. Raises InputError as `save` does.
    """
    kind, parts = _parts(x, f"{folder}: cannot be written")
    write_folder(folder, kind, parts, beside or {}, texts or {}, provenance.inputs_of(read), notes or {})


def _parts(x: Any, problem: str) -> tuple[str, dict[str, tuple[pd.DataFrame, parquet_form.TableForm]]]:
    """The kind of a result, and its tables with their forms, by name; messages begin with `problem`."""
    kind = type(x).__name__
    if kind in RESULTS and isinstance(x, getattr(RESULTS[kind], kind)):
        given = x.kept() if hasattr(x, "kept") else _given(x)
        return kind, {name: parquet_form.table_and_form(table, f"{problem}: {name}") for name, table in given.items()}
    if isinstance(x, pd.Series) or not (isinstance(x, pd.DataFrame | ArrowStream | LazyTable) or is_scanned(x)):
        raise InputError(f"save: x is of type {kind}; a table is needed, or one of {', '.join(RESULTS)}")
    table, form = parquet_form.table_and_form(x, problem)
    kind = "match table" if {*schema.MATCH_COLUMNS} <= {*table} else "table"
    return kind, {SINGLE[kind]: (table, form)}


def _given(x: Any) -> dict[str, Any]:
    """The tables of a NamedTuple, without those that are optional and None."""
    return {name: table for name, table in x._asdict().items() if table is not None or name not in x._field_defaults}


def load(folder: str | Path) -> Any:
    """Loads what `save`, or a command with --out, has saved to a folder.

    Parameters
    ----------
    folder
        The folder.

    Returns
    -------
    What was saved: the same kind of table or result, with the same values, types, categories and notes (attrs). Of
    `score` and `diagnose` that is the match table, of the other commands what the function of that name returns.

    Raises
    ------
    InputError: the folder is not there or holds no saved result; a file of it is missing, damaged or not as it was
        saved; another version of the format wrote it.
    ImportError: tables of polars were saved, and polars is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import spotgeo_frames as sf
    >>> truth, predictions = sf.read_motchallenge("data/tracks/truth", "data/tracks/tracker")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sf.save(sf.track(truth, predictions), f"{folder}/june")
    ...     june = sf.load(f"{folder}/june")
    >>> june
    TrackResult
      HOTA 0.7238, MOTA 0.878, IDF1 0.8445
      HOTA, CLEAR and Identity as trackeval 1.3.0 computes them
      summary            3 rows × 47 columns
      curve              57 rows × 17 columns
      matches            1,314 rows × 23 columns
      truth_objects      15 rows × 8 columns
      predicted_objects  30 rows × 7 columns
      sums               2 rows × 171 columns
    """
    return load_as(Path(folder), None)


def load_as(folder: Path, table: TableKind | None) -> Any:
    """What `load` returns, with tables of the kind `table` whatever was saved, unless that is None."""
    manifest, parts = read_folder(folder, table)
    kind, path = manifest.kind, folder / MANIFEST
    if kind not in SINGLE and kind not in RESULTS:
        raise InputError(f"{path}: kind: {kind!r} is none that spotgeo_frames {__version__} knows")
    of_result = None if kind in SINGLE else getattr(RESULTS[kind], kind)
    if of_result is None:
        names, optional = (SINGLE[kind],), ()
    else:
        names, optional = (of_result._fields, of_result._field_defaults)
    if not {*names} - {*optional} <= {*parts} <= {*names}:
        raise InputError(f"{path}: tables: {', '.join(parts)}; a {kind} has {', '.join(names)}")
    if of_result is None:
        return parts[SINGLE[kind]]
    return of_result.of_kept(parts) if hasattr(of_result, "of_kept") else of_result(**parts)
