"""What a report was made with: the files its tables came from, as they were when they were read, and all else."""

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ..display import label
from ..files import file_state, sha256, text_name
from ..tables import SOURCE_STATE, Annotations
from ..version import __version__


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


def made_with(
    inputs: Sequence[Input], tau: float, epsilon: float, exclude: Sequence[int] | Sequence[str], truth: Annotations
) -> list[tuple[str, str]]:
    """Labels and values of the page's foot."""
    from importlib import metadata  # takes a while, and nothing else needs it

    files = [
        (one.role, f"{text_name(one.path)}{one.remark}" + ("" if one.sha256 is None else f", SHA-256 {one.sha256}"))
        for one in inputs
    ]
    packages = ("numpy", "pandas", "scipy", "pyarrow", "altair")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
    return [
        *(files or [("inputs", "tables in memory")]),
        ("tau", f"{label(tau)} px"),
        ("epsilon", f"{label(epsilon)} px"),
        ("left out", ", ".join(map(str, exclude)) or "no sequence"),
        (
            "frames that count",
            "all that the truth lists" if truth.frames is not None else "all in which there is something",
        ),
        ("versions", f"spotgeo_frames {__version__}, Python {platform.python_version()}, {versions}"),
        ("date", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
    ]
