"""Measures `match` of the same rows by keys of other types, and `score_dataset` of many small files: processor time.

    python benchmarks/keys.py                 a million truth rows, and 5,000 files a side
    python benchmarks/keys.py --rows 1e5      fewer

The rows are those of benchmarks/scale.py, whose sequences, or sequences and objects, become categories, text or objects
of Python; matches have to be those of integers but for these names. Then each frame is a sequence of its own, with
names in no order. Last come the rows of 5,000 sequences, in one file and in a file for each. Figures are medians of
five rounds in turn.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import layouts
import numpy as np
import pandas as pd
import pyarrow.parquet as pq

import scale
import spotgeo_frames as sf

Sides = Sequence[pd.DataFrame]
KINDS: dict[str, Any] = {"integers": None, "categorical": "category", "text": "str", "object": object}
ROUNDS = 5


def named(sides: Sides, columns: Sequence[str], kind: Any) -> Sides:
    """The sides with the integers of these columns as names of a type, which sort as the integers do."""
    if kind is None:
        return sides
    answer = []
    for side in sides:
        names = {column: pd.Series([f"{column}-{n:07}" for n in range(side[column].max() + 1)]) for column in columns}
        taken = {name: values.take(side[name]).reset_index(drop=True) for name, values in names.items()}
        answer.append(side.assign(**{name: values.astype(kind) for name, values in taken.items()}))
    return answer


def million(sides: Sides, kind: Any) -> Sides:
    """A frame for each row of the truth, which is a sequence of its own; the names are in no order."""
    truth = sides[0].assign(sequence=np.random.default_rng(1).permutation(len(sides[0])), frame=1, object=1)
    return named([truth, truth], ["sequence"], kind)


def measure(title: str, runs: dict[str, Callable[[], pd.DataFrame]]) -> None:
    """Prints the median time of each run, and how many times that of the first it is, once results are equal."""
    numbers = ["distance", "squared_error"]
    results = {name: run() for name, run in runs.items()}
    first = next(iter(results.values()))
    common = numbers if {*numbers} <= {*first} else ["tp", "fn", "fp", "n_frames"]
    for name, result in results.items():
        if not first[common].equals(result[common]):
            raise SystemExit(f"{title}, {name}: other results")
    spent: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            began = time.process_time()
            run()
            spent[name].append(time.process_time() - began)
    medians = {name: float(np.median(times)) for name, times in spent.items()}
    for name, seconds in medians.items():
        ratio = seconds / next(iter(medians.values()))
        print(f"{title:28} {name:14} {seconds:8.3f} s {ratio:7.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e6, help="truth rows")
    n_rows = int(parser.parse_args().rows)
    tables = scale.scene(0, n_rows // (scale.PER_FRAME * scale.FRAMES), np.random.default_rng(7))
    sides = [table.to_pandas() for table in tables]
    for columns in (["sequence"], ["sequence", "object"]):
        made = {name: named(sides, columns, kind) for name, kind in KINDS.items()}
        measure(f"names of {' and '.join(columns)}", {name: lambda of=of: sf.match(*of) for name, of in made.items()})
    made = {name: million(sides, KINDS[name]) for name in ("integers", "text")}
    measure(f"{n_rows:,} sequences", {name: lambda of=of: sf.match(*of) for name, of in made.items()})
    with tempfile.TemporaryDirectory() as temporary:
        datasets = scale.make(n_rows, Path(temporary))
        [many, _] = layouts.LAYOUTS["5,000 sequences, a sorted file for each"]
        of_layout = {"one file": many._replace(files=layouts.one_file), "5,000 files": many}
        folders = {
            name: [
                layouts.write(pq.read_table(side), layout, Path(temporary) / name / str(number))
                for number, (side, layout) in enumerate(zip(datasets, [layout] * 2, strict=True))
            ]
            for name, layout in of_layout.items()
        }
        measure(
            "5,000 sequences",
            {name: lambda of=of: sf.score_dataset(*of, workers=1) for name, of in folders.items()},
        )


if __name__ == "__main__":
    main()
