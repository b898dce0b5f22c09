"""Times the evaluation of Parquet datasets, from 1 to 100 million truth rows, against reading them and near-joins.

    python benchmarks/scale.py                              1, 10 and 100 million truth rows, in a temporary folder
    python benchmarks/scale.py --rows 1e6 1e7 --folder DIR  other sizes; datasets are made once and kept in DIR

The datasets are points, four in each of five frames of a sequence, seeded; one in ten is missed, one false alarm comes
for ten, and found ones lie a normal error of 2 px off. Each size is read by pyarrow (the same columns, batch by
batch), summed by one process and by two, written as a match table by two, and summed by a Dask LocalCluster of two;
each run is a process of its own, whose memory and whose children's is watched. A figure is printed once its run's
numbers agree with those of one process, up to a million rows with `match` and `summarize` in memory. Last come the
exponent of growth, and where the time goes in one process.

In the same rounds, polars (its streaming engine) and DuckDB join the points of equal frames that lie at most 10 px
apart, and keep the nearest prediction of each truth; both use all cores. That is less work, and another result. One
prediction may serve two truths, so there are no false alarms, no precision and no F1, and truths that have a
prediction near them are at least as many as true positives. Nothing is checked: no keys, no types, no order. No number
is made for each sequence, and frames do not count. The two have to agree with each other, and with the count of rows.
"""

import argparse
import cProfile
import json
import math
import pstats
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

import spotgeo_frames as sf

FILE_ROWS = 4_000_000
PER_FRAME, FRAMES = 4, 5

# What the processes that are timed run; they print the seconds and the numbers that everybody has to agree on. The
# first line of each loads its libraries, and is not timed: that takes as long for a thousand rows as for many.
RUNS = {
    "read": """
import pyarrow.parquet as pq
n_rows = 0
for folder in (truth, predictions):
    for file in sorted(Path(folder).glob("*.parquet")):
        for batch in pq.ParquetFile(file).iter_batches(1 << 16, columns=["sequence", "frame", "object", "x", "y"]):
            n_rows += len(batch)
numbers = {}
""",
    "polars": """
import polars as pl
key = ["sequence", "frame"]
sides = [pl.scan_parquet(f"{side}/*.parquet").select(*key, "object", "x", "y") for side in (truth, predictions)]
apart = ((pl.col("x") - pl.col("x_right")) ** 2 + (pl.col("y") - pl.col("y_right")) ** 2).sqrt()
near = sides[0].join(sides[1], on=key).with_columns(distance=apart).filter(pl.col("distance") <= 10)
nearest = near.group_by(*key, "object").agg(pl.col("distance").min())
error = pl.when(pl.col("distance") > 3).then(pl.col("distance") ** 2).otherwise(0.0).sum()
plans = [nearest.select(near=pl.len(), error=error), *(side.select(pl.len()) for side in sides)]
found, *counts = pl.collect_all(plans, engine="streaming")
numbers = found.row(0, named=True) | dict(zip(["n_truth", "n_predicted"], (count.item() for count in counts)))
""",
    "duckdb": """
import duckdb
duckdb.sql("SET enable_progress_bar = false")
apart = "sqrt((t.x - p.x) ** 2 + (t.y - p.y) ** 2)"
sides = [f"read_parquet('{side}/*.parquet')" for side in (truth, predictions)]
nearest = f"SELECT min({apart}) d FROM {sides[0]} t JOIN {sides[1]} p USING (sequence, frame) WHERE {apart} <= 10"
counts = ", ".join(f"(SELECT count(*) FROM {side})" for side in sides)
error = "sum(CASE WHEN d > 3 THEN d * d ELSE 0 END)"
query = f"SELECT count(*), {error}, {counts} FROM ({nearest} GROUP BY sequence, frame, t.object)"
numbers = dict(zip(["near", "error", "n_truth", "n_predicted"], duckdb.sql(query).fetchall()[0]))
""",
    "sums": """
sf.score_dataset; import pyarrow.fs, pyarrow.parquet
numbers = sf.score_dataset(truth, predictions, workers=workers)
""",
    "table": """
sf.score_dataset; import pyarrow.fs, pyarrow.parquet
numbers = sf.score_dataset(truth, predictions, out, workers=workers)
""",
    "dask": """
from distributed import Client, LocalCluster
cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
with cluster, Client(cluster) as client:
    client.wait_for_workers(workers)
    began = time.perf_counter()
    numbers = sf.score_dataset(truth, predictions, client=client)
    seconds = time.perf_counter() - began
""",
}

PROGRAM = """
import json, os, sys, time
from pathlib import Path
import spotgeo_frames as sf
truth, predictions, out, workers = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
def used():  # seconds of processors, exact for this process; those of ended ones come in hundredths
    return time.process_time() + sum(os.times()[2:4])
def main():
{loading}
    seconds, cpu = None, used()
    began = time.perf_counter()
{code}
    seconds = seconds or time.perf_counter() - began
    numbers = numbers if isinstance(numbers, dict) else dict(numbers.iloc[0].astype(float))
    print(json.dumps({{"seconds": seconds, "cpu": used() - cpu, "numbers": numbers}}))
if __name__ == "__main__":
    main()
"""


def make(n_truth: int, folder: Path) -> tuple[Path, Path]:
    """Datasets of about so many truth rows, in files of FILE_ROWS; those that are there are taken as they are."""
    sides = folder / f"{n_truth}" / "truth", folder / f"{n_truth}" / "predictions"
    if (folder / f"{n_truth}" / "done").exists():
        return sides
    for side in sides:
        shutil.rmtree(side, ignore_errors=True)
        side.mkdir(parents=True)
    n_sequences = n_truth // (PER_FRAME * FRAMES)
    at_once = FILE_ROWS // (PER_FRAME * FRAMES)
    for number, first in enumerate(range(0, n_sequences, at_once)):
        tables = scene(first, min(at_once, n_sequences - first), np.random.default_rng([7, number]))
        for side, table in zip(sides, tables, strict=True):
            pq.write_table(table, side / f"part-{number:03}.parquet")
    (folder / f"{n_truth}" / "done").touch()
    return sides


def scene(first: int, n_sequences: int, random: np.random.Generator) -> tuple[pa.Table, pa.Table]:
    """Truth and predictions of so many sequences, from `first`."""
    n_rows = n_sequences * FRAMES * PER_FRAME
    frame = np.repeat(np.arange(n_sequences * FRAMES), PER_FRAME)
    xy = random.uniform(0, [640, 480], (n_rows, 2))
    found, false = np.flatnonzero(random.random(n_rows) < 0.9), np.flatnonzero(random.random(n_rows) < 0.1)
    rows = np.concatenate([found, false])
    object_ = np.concatenate([found % PER_FRAME, PER_FRAME + false % PER_FRAME])
    predicted = np.concatenate(
        [xy[found] + random.normal(0, 2, (len(found), 2)), random.uniform(0, 480, (len(false), 2))]
    )
    order = np.argsort(frame[rows], kind="stable")
    return (
        table_of(first, frame, np.arange(n_rows) % PER_FRAME, xy),
        table_of(first, frame[rows[order]], object_[order], predicted[order]),
    )


def table_of(first: int, frame: np.ndarray, number: np.ndarray, xy: np.ndarray) -> pa.Table:
    columns = {"sequence": first + frame // FRAMES, "frame": frame % FRAMES + 1, "object": number}
    return pa.table(columns | {"x": xy[:, 0], "y": xy[:, 1]})


def run(what: str, truth: Path, predictions: Path, workers: int, folder: Path) -> dict[str, Any]:
    """Runs one of RUNS in a process of its own.

    Returns its numbers, the seconds it took and those of all processors together (also of processes that have ended),
    and the most memory (MiB) of one process and of all.
    """
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    loading, *lines = (f"    {line}" for line in RUNS[what].strip().splitlines())
    program = PROGRAM.format(loading=loading, code="\n".join(lines))
    command = [sys.executable, "-c", program, str(truth), str(predictions), str(out), str(workers)]
    one = together = 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            sizes: list[float] = []
            with suppress(psutil.NoSuchProcess):
                sizes.extend(each.memory_info().rss / 2**20 for each in [watched, *watched.children(recursive=True)])
            one, together = max(one, *sizes, 0.0), max(together, sum(sizes))
            time.sleep(0.02)
        said = json.loads(process.stdout.read()) if process.stdout and process.returncode == 0 else None
    if said is None:
        raise SystemExit(f"{what}: failed")
    shutil.rmtree(out, ignore_errors=True)
    return {**said, "one": one, "together": together}


def check_equal(name: str, numbers: dict[str, float], others: dict[str, float], rounding: float = 1e-12) -> None:
    """Ends the program if the two differ in a number that both have."""
    for key in [key for key in numbers if key in others]:
        if not math.isclose(numbers[key], others[key], rel_tol=rounding):
            raise SystemExit(f"{name}: {key} is {numbers[key]} and {others[key]}")


def check_near(name: str, numbers: dict[str, float], joined: dict[str, float], first: dict[str, float]) -> None:
    """Ends the program unless a near-join has as many rows as we, truths enough, and the numbers of the `first` one."""
    check_equal(name, numbers, joined)
    check_equal(name, joined, first, rounding=1e-9)  # engines add in an order of their own
    if joined["near"] < numbers["tp"]:
        raise SystemExit(f"{name}: {joined['near']:,} truths have a prediction near, and {numbers['tp']:,.0f} a pair")


def in_memory(truth: Path, predictions: Path) -> dict[str, float]:
    matches = sf.match(sf.read_objects(truth), sf.read_objects(predictions))
    return dict(sf.summarize(matches).iloc[0].astype(float))


def measure(n_truth: int, folder: Path, rounds: int) -> dict[str, float]:
    """Times every kind of run of a size in turn, prints them, and returns the median seconds of each."""
    truth, predictions = make(n_truth, folder)
    run("read", truth, predictions, 1, folder)  # from here on the files are in the system's cache
    runs = [("read", 0), ("polars", 0), ("duckdb", 0), ("sums", 1), ("sums", 2), ("table", 2), ("dask", 2)]
    found = [[run(what, truth, predictions, workers, folder) for what, workers in runs] for _ in range(rounds)]
    expected = in_memory(truth, predictions) if n_truth <= 1_000_000 else found[0][3]["numbers"]
    print(f"\n{n_truth:,} truth rows")
    medians = {}
    for place, (what, workers) in enumerate(runs):
        results = [some[place] for some in found]
        for result in results:
            if what in ("polars", "duckdb"):
                check_near(what, expected, result["numbers"], found[0][1]["numbers"])
            elif what != "read":
                check_equal(f"{what}, {workers}", expected, result["numbers"])
        seconds = float(np.median([result["seconds"] for result in results]))
        times, of_cpu = (float(np.median([some[place][k] / some[0][k] for some in found])) for k in ("seconds", "cpu"))
        one, together = (max(result[key] for result in results) for key in ("one", "together"))
        name = f"{what}, {workers} process{'es' if workers > 1 else ''}" if workers else f"{what}, all cores"
        speed = f"{n_truth / seconds / 1e6:6.2f} million rows/s  {times:5.1f} times reading ({of_cpu:4.1f} of CPU)"
        print(f"  {name:22} {seconds:7.2f} s  {speed}   peak {one:5.0f} MiB in one process, {together:5.0f} MiB in all")
        medians[name] = seconds
    return medians


def stages(truth: Path, predictions: Path) -> None:
    """Where the time goes in one process, as shares of the whole."""
    names = {
        "waiting for rows, which a thread reads and checks": ("support/work.py", "ahead"),
        "aligning": ("matching/alignment.py", "align"),
        "pairs and assignment": ("matching/matcher.py", "assigned"),
        "match table": ("matching/layout.py", "match_table"),
        "sums of the table": ("scoring/match_sums.py", "summary_sums"),
        "sums without one": ("scoring/match_sums.py", "pair_sums"),
        "writing": ("parquet/core.py", "write_table"),
    }
    for out in (None, "table"):
        with tempfile.TemporaryDirectory() as folder, cProfile.Profile() as profile:
            sf.score_dataset(truth, predictions, None if out is None else Path(folder) / out, workers=1)
        entries = pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
        whole = max(times[3] for _, times in entries)
        print(f"\nwhere the time goes, {'sums' if out is None else 'with the match table'}, one process")
        for name, (file, function) in names.items():
            spent = sum(times[3] for key, times in entries if key[0].endswith(file) and key[2] == function)
            print(f"  {name:50} {spent / whole:6.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", type=float, default=[1e6, 1e7, 1e8], help="truth rows of each dataset")
    parser.add_argument("--folder", type=Path, help="where datasets are made and kept")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(
        f"spotgeo_frames {sf.__version__}, {psutil.cpu_count()} cores, {psutil.virtual_memory().total / 2**30:.0f} GiB"
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        sizes = [int(rows) for rows in given.rows]
        seconds = [measure(size, folder, given.rounds) for size in sizes]
        if len(sizes) > 1:
            print(f"\ntime grows as rows to the power of (from {sizes[0]:,} to {sizes[-1]:,})")
            for name in seconds[0]:
                power = math.log(seconds[-1][name] / seconds[0][name]) / math.log(sizes[-1] / sizes[0])
                print(f"  {name:22} {power:5.2f}")
        stages(*make(sizes[0], folder))


if __name__ == "__main__":
    main()
