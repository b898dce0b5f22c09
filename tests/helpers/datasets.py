"""Datasets on disk for tests: made, written in many files, evaluated by processes that die, and compared."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from helpers.scenes import objects

COUNTS = ["tp", "fn", "fp", "n_sequences", "n_frames", "n_truth", "n_predicted"]


def assert_same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Counts to the bit, the rest to 1e-12, columns, types and order alike."""
    counts = [name for name in COUNTS if name in expected]
    pd.testing.assert_frame_equal(found[counts], expected[counts])
    pd.testing.assert_frame_equal(found, expected, rtol=1e-12, atol=0)


def write(table: pd.DataFrame, folder: Path, sizes: list[int], group_rows: int, names: list[int] | None = None) -> Path:
    """The table as files of `sizes` rows, in row groups of so many; `names` are the files' numbers."""
    folder.mkdir(parents=True)
    ends = np.cumsum(sizes)
    for number, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        name = number if names is None else names[number]
        rows = pa.Table.from_pandas(table.iloc[end - size : end], preserve_index=False)
        pq.write_table(rows, folder / f"part-{name:03}.parquet", row_group_size=group_rows)
    return folder


def in_files(table: pd.DataFrame, folder: Path, n_files: int = 3, group_rows: int = 7) -> Path:
    """The table as so many files of about the same size, in row groups of so many rows."""
    edges = np.linspace(0, len(table), n_files + 1).astype(int)
    return write(table, folder, np.diff(edges).tolist(), group_rows)


def file_of_row(folder: Path, row: int) -> Path:
    """The file of a folder that holds the row at this position of all its rows."""
    files = sorted(folder.iterdir())
    ends = np.cumsum([pq.read_metadata(file).num_rows for file in files])
    return files[int(np.searchsorted(ends, row, side="right"))]


def points(n_sequences: int, seed: int = 0, kind: str = "int64") -> tuple[pd.DataFrame, pd.DataFrame]:
    """Truth with a brightness and a label, predictions with a score; five frames a sequence, some on one side only."""
    random = np.random.default_rng(seed)

    def side(per_frame: float, **columns: object) -> pd.DataFrame:
        frame = np.repeat(np.arange(5 * n_sequences), random.poisson(per_frame, 5 * n_sequences))
        xy = np.round(random.uniform(0, 60, (len(frame), 2)), 1)
        table = objects([(int(f // 5), int(f % 5) + 1, *map(float, p)) for f, p in zip(frame, xy, strict=True)])
        return table.assign(**{name: make(random, len(frame)) for name, make in columns.items()})  # type: ignore[operator]

    truth = side(
        1.5,
        brightness=lambda r, n: r.integers(0, 4, n).astype(float),
        label=lambda r, n: r.choice(["faint", "bright"], n),
    )
    predictions = side(1.2, score=lambda r, n: r.random(n))
    if kind == "str":
        truth, predictions = (t.assign(sequence=t["sequence"].map("s{:04}".format)) for t in (truth, predictions))
    return truth, predictions


def states(folder: Path) -> dict[str, tuple[int, int, int]]:
    """What would show that a file was written again."""
    return {
        str(path.relative_to(folder)): (path.stat().st_ino, path.stat().st_mtime_ns, path.stat().st_size)
        for path in folder.rglob("*.*")
        if path.is_file()
    }


def tracks(n_sequences: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Points that walk, and a tracker that loses, swaps and invents some."""
    random = np.random.default_rng(4)
    rows = [(s, f, o) for s in range(n_sequences) for f in range(8) for o in range(4)]
    table = pd.DataFrame(rows, columns=["sequence", "frame", "object"])
    truth = table.assign(x=table["object"] * 15.0 + table["frame"], y=table["sequence"] + 0.5 * table["frame"])
    seen = truth[random.random(len(truth)) < 0.85]
    swapped = (seen["frame"] > 4) & (seen["object"] < 2)
    predictions = seen.assign(object=seen["object"].where(~swapped, 1 - seen["object"]))
    return truth, predictions.assign(x=predictions["x"] + random.normal(0, 3, len(predictions)))


def once_deadly(marker: Path) -> Callable[[pd.DataFrame, pd.DataFrame], np.ndarray]:
    """A measure whose first call, of whichever process, kills it, as the system does for want of memory."""

    def measure(truth: pd.DataFrame, predicted: pd.DataFrame) -> np.ndarray:
        with suppress(FileExistsError):
            marker.touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
        return np.exp(-np.abs(truth["x"].to_numpy() - predicted["x"].to_numpy()))

    return measure
