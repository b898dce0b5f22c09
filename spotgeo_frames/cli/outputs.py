"""What `--out` keeps: a result as `save` saves it, with the JSON of the command and further tables beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from ..tables.columns import Columns


def check_out(out: Path | None, inputs: Iterable[Path]) -> None:
    """Raises InputError if the folder cannot be written to, or holds an input or anything but an earlier result.

    Nothing is checked without a folder.
    """
    if out is not None:
        from ..presentation.folders.saving import check_target

        check_target(out, [*inputs])


def keep(
    out: Path | None,
    command: str,
    result: Any,
    answer: str,
    read: Mapping[str, pd.DataFrame | Columns | None],
    beside: Mapping[str, pd.DataFrame] | None = None,
    **notes: str,
) -> None:
    """Saves a result to the folder, with the answer, the JSON that `--json` prints; does nothing without a folder.

    `beside` are further tables. `read` are the tables that were read, by their roles, such as truth. The names and
    digests of their files go into the metadata of each table, and so do those of the `notes` that are not empty. Raises
    InputError if a file cannot be written.
    """
    if out is not None:
        from ..presentation.folders.saving import save_result

        known = {name: note for name, note in notes.items() if note}
        save_result(result, out, read, beside, {f"{command}.json": f"{answer}\n"}, known)
