"""Measures the evaluation of the same rows in different layouts, as engines write them: processor time, and memory.

    python benchmarks/layouts.py                           10 million truth rows, in a temporary folder
    python benchmarks/layouts.py --rows 1e6 --folder DIR   another size; the dataset is made once and kept in DIR

The rows are those of benchmarks/scale.py. Each layout is evaluated in a process of its own, by one process without a
match table; counts and errors have to be those of the sorted rows. Processor time is compared with that of the sorted
files, which are evaluated before and after each layout.
"""

import argparse
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import scale

Numbers = np.ndarray


class Layout(NamedTuple):
    """How the rows of a side lie: in which file each is, in which order, and what the sequences are.

    `files` gives the number of the file of each row, from its sequence and the count of sequences. Rows are "sorted",
    "shuffled", or sorted by sequence only, with the frames of each "in no order".
    """

    files: Callable[[Numbers, int], Numbers]
    order: str = "sorted"
    sequences: Callable[[Numbers, Numbers, int], tuple[Numbers, Numbers]] = lambda sequence, frame, n: (sequence, frame)


def one_file(sequence: Numbers, n: int) -> Numbers:
    return np.zeros(len(sequence), np.int64)


def by_hash(n_files: int) -> Callable[[Numbers, int], Numbers]:
    return lambda sequence, n: sequence * 2654435761 % (1 << 32) % n_files


def by_place(n_files: int) -> Callable[[Numbers, int], Numbers]:
    """Ranges of sequences, in the order of a permutation, so that neighbouring files have others in between."""
    return lambda sequence, n: np.random.default_rng(5).permutation(n_files)[sequence * n_files // n]


def giant(sequence: Numbers, frame: Numbers, n: int) -> tuple[Numbers, Numbers]:
    """The sequences in the middle, half of all, become one whose frames follow each other."""
    inside = (sequence >= n // 4) & (sequence < n - n // 4)
    later = frame + scale.FRAMES * (sequence - n // 4)
    return np.where(inside, n // 4, sequence), np.where(inside, later, frame)


def longer(sequence: Numbers, frame: Numbers, n: int) -> tuple[Numbers, Numbers]:
    """5,000 sequences, of several each."""
    together = max(n // 5000, 1)
    return sequence // together, frame + scale.FRAMES * (sequence % together)


# The layouts of the truth and of the predictions.
SORTED, HASH = Layout(one_file), Layout(by_hash(200), "shuffled")
LAYOUTS = {
    "sorted by sequence": (SORTED, SORTED),
    "sorted, half of all rows in one sequence": (Layout(one_file, "sorted", giant),) * 2,
    "the same, its frames in no order": (Layout(one_file, "in no order", giant),) * 2,
    "30 interleaved files, each sorted": (Layout(lambda sequence, n: sequence % 30),) * 2,
    "truth sorted, predictions in 200 files by hash": (SORTED, HASH),
    "200 files by hash": (HASH, HASH),
    "30 files by day": (Layout(by_hash(30), "shuffled"),) * 2,
    "720 files by hour": (Layout(by_hash(720), "shuffled"),) * 2,
    "5,000 sequences, a sorted file for each": (Layout(by_place(5000), "sorted", longer),) * 2,
    "5,000 files by hash": (Layout(by_hash(5000), "shuffled"),) * 2,
    "shuffled, one file": (Layout(one_file, "shuffled"),) * 2,
}


def write(rows: pa.Table, layout: Layout, folder: Path) -> Path:
    """Writes the rows of a side in a layout, each file in row groups of a million rows."""
    sequence, frame = rows["sequence"].to_numpy(), rows["frame"].to_numpy()
    n_sequences = int(sequence.max()) + 1
    files = layout.files(sequence, n_sequences)
    order = np.arange(len(rows)) if layout.order == "sorted" else np.random.default_rng(3).permutation(len(rows))
    sequence, frame = layout.sequences(sequence, frame, n_sequences)
    if layout.order == "in no order":
        order = order[np.argsort(sequence[order], kind="stable")]
    order = order[np.argsort(files[order], kind="stable")]
    rows = rows.set_column(0, "sequence", pa.array(sequence)).set_column(1, "frame", pa.array(frame))
    rows = rows.combine_chunks().take(pa.array(order)).combine_chunks()
    ends = np.cumsum(np.bincount(files))
    folder.mkdir(parents=True)
    for number, (begin, end) in enumerate(zip([0, *ends.tolist()], ends.tolist(), strict=False)):
        pq.write_table(rows.slice(begin, end - begin), folder / f"part-{number:05}.parquet", row_group_size=1 << 20)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e7, help="truth rows")
    parser.add_argument("--folder", type=Path, help="where the sorted dataset is made and kept")
    parser.add_argument("--only", default="", help="only layouts whose names have this text")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        sides = scale.make(int(given.rows), given.folder or Path(temporary))
        scratch = Path(temporary) / "layout"
        print(f"{'both sides':48} {'CPU':>7} {'seconds':>8} {'sorted = 1':>10} {'peak, MiB':>9}")
        for name, layouts in LAYOUTS.items():
            if given.only not in name:
                continue
            paths = [
                write(pq.read_table(side), layout, scratch / f"{number}")
                for number, (side, layout) in enumerate(zip(sides, layouts, strict=True))
            ]
            before = scale.run("sums", *sides, 1, scratch)
            found = scale.run("sums", *paths, 1, scratch)
            after = scale.run("sums", *sides, 1, scratch)
            there = {key: before["numbers"][key] for key in ("tp", "fn", "fp", "mse", "n_frames")}
            scale.check_equal(name, there, found["numbers"])
            ratio = 2 * found["cpu"] / (before["cpu"] + after["cpu"])
            print(
                f"{name:48} {found['cpu']:7.2f} {found['seconds']:8.2f} {ratio:10.1f} {found['one']:9.0f}", flush=True
            )
            shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
