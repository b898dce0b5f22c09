"""Times one to four workers on the same dataset, and what the model of a thousand in docs/scale.md is made of.

    python benchmarks/scaling.py                           10 million truth rows, in a temporary folder
    python benchmarks/scaling.py --rows 1e6 --folder DIR   another size; the dataset is made once and kept in DIR

The dataset and the runs are those of scale.py: the sums, by processes of this package and by a Dask LocalCluster whose
workers have a thread each. Workers beyond the cores of the machine share them. Each run is a process of its own, and
its numbers have to be those of one process. Seconds of processors count those of all processes, also what they take
to start. Last come the costs that the client of a cluster has for each row group, part and task.
"""

import argparse
import pickle
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow.parquet as pq

import scale
import spotgeo_frames as sf
from spotgeo_frames.scale import contents, parts, results, run

WORKERS = (1, 2, 3, 4)


def workers(truth: Path, predictions: Path, folder: Path, rounds: int) -> None:
    """Prints the median seconds of each number of workers, and how many times as fast as one they are."""
    runs = [(what, number) for what in ("sums", "dask") for number in WORKERS]
    scale.run("read", truth, predictions, 1, folder)  # from here on the files are in the system's cache
    found = [[scale.run(what, truth, predictions, number, folder) for what, number in runs] for _ in range(rounds)]
    medians = {}
    for place, (what, number) in enumerate(runs):
        rounds_of_it = [some[place] for some in found]
        for result in rounds_of_it:
            scale.check_equal(f"{what}, {number}", found[0][0]["numbers"], result["numbers"])
        seconds, cpu = (float(np.median([result[key] for result in rounds_of_it])) for key in ("seconds", "cpu"))
        medians[what, number] = seconds
        times, spread = medians[what, 1] / seconds, [f"{result['seconds']:.2f}" for result in rounds_of_it]
        print(
            f"  {what}, {number}  {seconds:6.2f} s ({', '.join(spread)})  {times:4.2f} times one  {cpu:6.2f} s of CPU"
        )


def median_cpu(work: Callable[[], object], rounds: int) -> float:
    """The median processor seconds of this process that a call takes."""
    taken = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return float(np.median(taken))


def planning(folder: Path, rounds: int, n_groups: int = 20_000) -> None:
    """Prints what a client takes to read the footers of many row groups, and to plan the parts of them."""
    tables = scale.scene(0, n_groups, np.random.default_rng(0))
    paths = [folder / f"many-{position}.parquet" for position in range(2)]
    for path, table in zip(paths, tables, strict=True):
        pq.write_table(table, path, row_group_size=scale.PER_FRAME * scale.FRAMES)
    read: dict[str, contents.Contents] = {}

    def read_both() -> None:
        for side, path in zip(("truth", "predictions"), paths, strict=True):
            read[side] = contents.contents_of(path, ["sequence", "frame", "object", "x", "y"])

    footers = median_cpu(read_both, rounds) / n_groups * 1e6
    plan = median_cpu(lambda: parts.parts_of(read), rounds) / n_groups * 1e6
    print(f"  a pair of row groups: {footers:.0f} µs of CPU for their footers, {plan:.0f} µs to plan parts")


def one_task(truth: Path, predictions: Path) -> tuple[Any, Any, Any]:
    """A part, the job and the result of the first task of an evaluation."""
    found: list[tuple[Any, Any, Any]] = []
    evaluate = run.evaluate_part

    def kept(part: Any, job: Any) -> Any:
        found.append((part, job, evaluate(part, job)))
        return found[-1][-1]

    run.evaluate_part = kept
    try:
        sf.score_dataset(truth, predictions, workers=1)
    finally:
        run.evaluate_part = evaluate
    return found[0]


def nothing(part: Any, job: Any) -> int:
    """A task that takes no time."""
    return 0


def tasks(truth: Path, predictions: Path, rounds: int, n_tasks: int = 1000) -> None:
    """Prints what a client takes to send a task and to add a result, and how large both are."""
    from distributed import Client, LocalCluster

    part, job, result = one_task(truth, predictions)
    n_added = 100 * results.FOLDED
    add = median_cpu(lambda: results.fold([result] * n_added, results.add_results), rounds) / n_added * 1e6
    sizes = [len(pickle.dumps(what)) for what in ((part, job), result)]
    print(f"  a task has {sizes[0]:,} bytes, its result {sizes[1]:,}, which {add:.0f} µs of CPU add to others")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.wait_for_workers(2)

        def send() -> None:
            run.on_cluster(client, partial(nothing, job=job), [part] * n_tasks)

        send()
        began = time.perf_counter()
        cpu = median_cpu(send, rounds)
        seconds = (time.perf_counter() - began) / rounds
    cpu, seconds = (1e3 * spent / n_tasks for spent in (cpu, seconds))
    print(f"  a task of Dask: {cpu:.2f} ms of CPU of client and scheduler together, {seconds:.2f} ms until it is done")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e7, help="truth rows of the dataset")
    parser.add_argument("--folder", type=Path, help="where the dataset is made and kept")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(f"spotgeo_frames {sf.__version__}, {psutil.cpu_count()} cores, {int(given.rows):,} truth rows")
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        sides = scale.make(int(given.rows), folder)
        workers(*sides, folder, given.rounds)
        planning(Path(temporary), given.rounds)
        tasks(*sides, given.rounds)


if __name__ == "__main__":
    main()
