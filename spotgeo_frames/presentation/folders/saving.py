"""save() and load(): any result in a folder, and back.

Both stand in this room because it is the lowest one over all results: those of `tables`, `tracking` and `analysis`.
"""

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pandas as pd

from ... import analysis, scoring, tables, tracking
from ...support.errors import InputError
from ...support.packages import __version__
from ...support.writing import check_folder_writable, check_inputs_kept
from ...tables.columns import Columns
from ...tables.inputs import inputs_of
from ...tables.kinds import TableKind
from ...tables.parquet_form import TableForm, table_and_form
from ...tables.schema import MATCH_COLUMNS
from ...tables.table import ArrowStream, LazyTable, Table, is_scanned
from .saved_folder import MANIFEST, earlier_files, read_folder, write_folder

# The results of several tables, each with the room that exports it.
RESULTS: dict[str, ModuleType] = {
    "Annotations": tables,
    "AveragePrecision": scoring,
    "TrackResult": tracking,
    "PoseResult": tracking,
    "Comparison": analysis,
    "Sweep": analysis,
    "NonInferiority": analysis,
    "DetectionLimit": analysis,
    "Calibration": analysis,
}

# The results that are one table, each with the name of that table.
SINGLE = {"match table": "matches", "table": "table"}


def save(x: Table | NamedTuple, folder: str | Path) -> None:
    """Saves a table or a result to a folder, from which `load` gives it back.

    Parameters
    ----------
    x
        A match table or any other table, of pandas, polars or pyarrow; or an Annotations, a TrackResult, a PoseResult,
        a Comparison, a Sweep, a NonInferiority, a DetectionLimit or a Calibration.
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
    check_target(folder, [file.path for file in inputs_of(read)])
    save_result(x, folder, read)


def check_target(folder: Path, inputs: list[Path]) -> None:
    """Raises InputError if a result cannot be saved to a folder: it cannot be written, or has inputs to be replaced.

    Nothing is written yet.
    """
    check_folder_writable(folder)
    check_inputs_kept(folder, inputs, earlier_files(folder))


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
    write_folder(folder, kind, parts, beside or {}, texts or {}, inputs_of(read), notes or {})


def _parts(x: Any, problem: str) -> tuple[str, dict[str, tuple[pd.DataFrame, TableForm]]]:
    """The kind of a result, and its tables with their forms, by name; messages begin with `problem`."""
    kind = type(x).__name__
    if kind in RESULTS and isinstance(x, getattr(RESULTS[kind], kind)):
        given = x.kept() if hasattr(x, "kept") else _given(x)
        return kind, {name: table_and_form(table, f"{problem}: {name}") for name, table in given.items()}
    if isinstance(x, pd.Series) or not (isinstance(x, pd.DataFrame | ArrowStream | LazyTable) or is_scanned(x)):
        raise InputError(f"save: x is of type {kind}; a table is needed, or one of {', '.join(RESULTS)}")
    table, form = table_and_form(x, problem)
    kind = "match table" if {*MATCH_COLUMNS} <= {*table} else "table"
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
      summary            3 rows × 43 columns
      curve              57 rows × 14 columns
      matches            1,314 rows × 23 columns
      truth_objects      15 rows × 8 columns
      predicted_objects  30 rows × 7 columns
      sums               2 rows × 152 columns
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
