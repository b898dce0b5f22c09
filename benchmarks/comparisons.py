"""`compare` of two submissions of 200,000 points, against the `match` of one of them.

    python benchmarks/comparisons.py [--rows 200000] [--sequences 200 1000 8000 20000 40000]

The same points are spread over more and more sequences of five frames, since what sequences contribute is what
`compare` swaps and leaves out. All are called with their defaults. `compare` gets the match tables; its differences
have to be those of the summaries before anything is timed. The functions are called in turn, and the medians of the
ratios of the rounds count, of processor time and of time by the clock. `compare` is to take at most five times as long
as `match`; `intervals` and `worst_slices` of one match table are there for comparison.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

import spotgeo_frames as sf

N_ROWS, SEQUENCES = 200_000, (200, 1000, 8000, 20_000, 40_000)
FRAMES, WIDTH, HEIGHT = 5, 640, 480
ROUNDS = 5


def scene(n_rows: int, n_sequences: int) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Truths and two submissions, one of which finds 80% of them and the other 82%."""
    random = np.random.default_rng(47)
    truth = points(random, n_rows, n_sequences).assign(bright=random.random(n_rows))
    submissions = {}
    for name, share in (("a", 0.80), ("b", 0.82)):
        found = truth[random.random(n_rows) < share].drop(columns="bright")
        found = found.assign(x=found["x"] + random.normal(0, 2, len(found)))
        both = pd.concat([found, points(random, n_rows // 10, n_sequences)])
        both = both.sort_values(["sequence", "frame"], kind="stable", ignore_index=True)
        submissions[name] = both.assign(object=np.arange(len(both)))
    return truth, submissions


def points(random: np.random.Generator, n_rows: int, n_sequences: int) -> pd.DataFrame:
    """Points anywhere in frames chosen by chance, sorted by these."""
    frame = np.sort(random.integers(FRAMES * n_sequences, size=n_rows))
    keys = {"sequence": frame // FRAMES, "frame": frame % FRAMES + 1, "object": np.arange(n_rows)}
    return pd.DataFrame(keys | {"x": random.uniform(0, WIDTH, n_rows), "y": random.uniform(0, HEIGHT, n_rows)})


def check(matches: dict[str, pd.DataFrame]) -> None:
    """Ends the benchmark if the differences of `compare` are not those of the summaries."""
    pairs = sf.compare(matches).pairs
    of_sides = {name: sf.summarize(table).iloc[0] for name, table in matches.items()}
    for a, b, metric, estimate in zip(pairs["a"], pairs["b"], pairs["metric"], pairs["estimate"], strict=True):
        if not np.isclose(estimate, of_sides[a][metric] - of_sides[b][metric]):
            raise SystemExit(f"{metric}: compare has {estimate}, which is not the difference of the summaries")


def seconds(function: Callable[[], object]) -> tuple[float, float]:
    """Processor time, and time by the clock."""
    began = time.process_time(), time.perf_counter()
    function()
    return time.process_time() - began[0], time.perf_counter() - began[1]


def measure(n_rows: int, n_sequences: int) -> None:
    """Prints a line of what `match` takes, and how many times that the others take."""
    truth, submissions = scene(n_rows, n_sequences)
    matches = {name: sf.match(truth, side) for name, side in submissions.items()}
    check(matches)
    calls: dict[str, Callable[[], object]] = {
        "match": lambda: sf.match(truth, submissions["a"]),
        "compare": lambda: sf.compare(matches),
        "intervals": lambda: sf.intervals(matches["a"]),
        "worst_slices": lambda: sf.worst_slices(matches["a"], ["truth_bright"]),
    }
    rounds = [{name: seconds(call) for name, call in calls.items()} for _ in range(ROUNDS)]
    line = f"{n_sequences:12,}{1000 * statistics.median(taken['match'][0] for taken in rounds):9.0f} ms"
    for name in [*calls][1:]:
        cpu, clock = (statistics.median(taken[name][of] / taken["match"][of] for taken in rounds) for of in (0, 1))
        line += f"{cpu:9.2f} ({clock:.2f})"
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=N_ROWS, help="truths")
    parser.add_argument("--sequences", type=int, nargs="+", default=SEQUENCES)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"spotgeo_frames {sf.__version__}, {given.rows:,} truths; times of match: processor (clock)")
    print(f"{'sequences':>12}{'match':>12}{'compare':>16}{'intervals':>16}{'worst_slices':>16}")
    for n_sequences in given.sequences:
        measure(given.rows, n_sequences)


if __name__ == "__main__":
    main()
