"""Assignments: `match` with `assignment="least"` and "score" against "most".

    python benchmarks/assignments.py [TRUTH SUBMISSION...] [--rows 60000] [--sizes 3 20 200 2000]

Files are those of the competition. Without any, points are made up as `crowded.py` makes them, the same number spread
over fewer and fewer frames. "score" is measured where predictions have scores, as made-up ones do. All are timed in
turn, and the medians of processor time count, as do the medians of the ratios of the rounds. Before that, no table may
have a smaller sum of what "least" makes small than "least" itself. It is to take at most 1.5 times as long as "most" on
the challenge's data.
"""

import argparse
import statistics
from pathlib import Path

import numpy as np
import pandas as pd
from crowded import scene, seconds

import spotgeo_frames as sf

N_ROWS, SIZES = 60_000, (3, 20, 200, 2000)
TAU, ROUNDS = 10.0, 15


def least_sum(matches: pd.DataFrame) -> float:
    """What "least" makes small, of the pairs of any match table."""
    found = matches["outcome"] == "TP"
    left_over = matches["outcome"].isin(["FN", "FP"])
    return float((matches["distance"][found] ** 2).sum() + TAU * TAU / 2 * left_over.sum())


def measure(name: str, truth: sf.Annotations | pd.DataFrame, predictions: sf.Annotations | pd.DataFrame) -> None:
    """Prints a line of what each assignment takes; ends the benchmark if one has a smaller sum than "least"."""
    objects = predictions.objects if isinstance(predictions, sf.Annotations) else predictions
    words = ["most", "least", *(["score"] if "score" in objects else [])]
    sums = {word: least_sum(sf.match(truth, predictions, TAU, assignment=word)) for word in words}
    if min(sums.values()) < sums["least"] * (1 - 1e-12):
        raise SystemExit(f'{name}: "least" is not the least: {sums}')

    def once(word: str) -> float:
        return seconds(lambda: sf.match(truth, predictions, TAU, assignment=word))

    rounds = [[once(word) for word in words] for _ in range(ROUNDS)]
    times = [1000 * statistics.median(taken) for taken in zip(*rounds, strict=True)]
    ratios = [statistics.median(of[at] / of[0] for of in rounds) for at in range(1, len(words))]
    told = "".join(f"{time:10.1f} ms{ratio:7.2f}" for time, ratio in zip(times[1:], ratios, strict=True))
    print(f"{name:24}{times[0]:10.1f} ms{told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", nargs="?", type=Path, help="the competition's annotations")
    parser.add_argument("submissions", nargs="*", type=Path)
    parser.add_argument("--rows", type=int, default=N_ROWS, help="truths of all frames together")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="truths a frame")
    given = parser.parse_args()
    print(f"spotgeo_frames {sf.__version__}, processor time, and how many times that of most")
    print(f"{'':24}{'most':>13}{'least':>20}{'score':>20}")
    if given.truth is not None:
        for path in given.submissions:
            measure(path.stem, sf.read_spotgeo(given.truth), sf.read_spotgeo(path))
        return
    random = np.random.default_rng(5)
    for in_frame in given.sizes:
        truth, claimed = scene("xy", given.rows, in_frame)
        measure(f"{in_frame:,} a frame", truth, claimed.assign(score=random.random(len(claimed))))


if __name__ == "__main__":
    main()
