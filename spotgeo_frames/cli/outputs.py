"""What `--out` keeps: tables as Parquet and the JSON of the command, all written before any is moved into place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..support.targets import check_inputs_kept
from ..support.writing import check_folder_writable, write_tables
from ..tables.inputs import input_notes, inputs_of

if TYPE_CHECKING:
    import pandas as pd

    from ..tables.columns import Columns


def check_out(out: Path | None, command: str, inputs: Iterable[Path], tables: Iterable[str]) -> None:
    """Raises InputError if the folder cannot be written to, or if a file in it that is an input would be replaced.

    `tables` are the names of the tables to come, or patterns of them, such as by_*. Nothing is checked without a
    folder.
    """
    if out is not None:
        check_folder_writable(out)
        check_inputs_kept(out, inputs, [_document(command), *(f"{name}.parquet" for name in tables)])


def keep(
    out: Path | None,
    command: str,
    tables: Mapping[str, pd.DataFrame],
    answer: str,
    read: Mapping[str, pd.DataFrame | Columns | None],
    **notes: str,
) -> None:
    """Writes tables and the answer, the JSON that `--json` prints, to the folder; does nothing without a folder.

    `read` are the tables that were read, by their roles, such as truth. The names and digests of their files go into
    the metadata of each table, and so do those of the `notes` that are not empty. Raises InputError if a file cannot be
    written.
    """
    if out is not None:
        metadata = input_notes(inputs_of(read)) | {name: note for name, note in notes.items() if note}
        write_tables(tables, out, metadata, {_document(command): f"{answer}\n"})


def _document(command: str) -> str:
    """The name of the file that holds a command's JSON."""
    return f"{command}.json"
