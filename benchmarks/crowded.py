"""Crowds: `match` of points and of boxes with 3 to 2,000 a frame, against a plain loop over arrays.

    python benchmarks/crowded.py [--rows 60000] [--sizes 3 5 20 60 200 2000]

The same number of truths is spread over fewer and fewer frames. A detector finds most of them, a little beside their
places, and claims some where nothing is. The loop is what one writes with NumPy and SciPy: it has sorted arrays, makes
the matrix of all distances or IoUs of a frame, and gives it to `linear_sum_assignment`. It counts TP, FN and FP, and
makes no match table. Both have to count the same before anything is timed. They are timed in turn, and the medians of
processor time count, as does the median of the ratios of the rounds. `match` is to be at least 1.5 times as fast as the
loop with 200 points a frame, and three times with 2,000.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

import spotgeo_frames as sf

N_ROWS, SIZES = 60_000, (3, 5, 20, 60, 200, 2000)
WIDTH, HEIGHT = 1920, 1080
TAU, LEAST_IOU = 10.0, 0.5
ROUNDS = 7

# What may not be a pair costs more than all pairs of a frame together.
FAR = 1e6


def scene(columns: str, n_rows: int, in_frame: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Truths and predictions, points (columns "xy") or boxes ("xywh"), with about so many a frame on each side."""
    random = np.random.default_rng(29)
    n_frames = n_rows // in_frame
    truth = objects(random, columns, np.sort(random.integers(n_frames, size=n_rows)))
    found = truth[random.random(n_rows) < 0.85]
    found = found.assign(**{name: found[name] + random.normal(0, 3, len(found)) for name in columns})
    false = objects(random, columns, random.integers(n_frames, size=n_rows - len(found)))
    claimed = pd.concat([found, false]).sort_values("frame", kind="stable", ignore_index=True)
    return truth, claimed.assign(object=np.arange(len(claimed)))


def objects(random: np.random.Generator, columns: str, frame: np.ndarray) -> pd.DataFrame:
    """Objects in these frames, anywhere in the image."""
    spans = {"x": (0, WIDTH), "y": (0, HEIGHT), "w": (30, 120), "h": (30, 120)}
    places = {name: random.uniform(*spans[name], len(frame)) for name in columns}
    return pd.DataFrame({"sequence": 0, "frame": frame, "object": np.arange(len(frame)), **places})


def loop(frames: list[np.ndarray], values: list[np.ndarray], costs: Callable[..., np.ndarray]) -> list[int]:
    """TP, FN and FP of a truth and predictions whose frames are sorted, one frame after the other."""
    n_frames = max(int(frame[-1]) for frame in frames) + 1
    starts = [np.searchsorted(frame, np.arange(n_frames + 1)).tolist() for frame in frames]
    tp = 0
    for number in range(n_frames):
        truth, claimed = (
            of_side[:, start[number] : start[number + 1]] for of_side, start in zip(values, starts, strict=True)
        )
        matrix = costs(truth[:, :, None], claimed[:, None, :])
        tp += int(np.count_nonzero(matrix[linear_sum_assignment(matrix)] < FAR))
    return [tp, values[0].shape[1] - tp, values[1].shape[1] - tp]


def distances(truth: np.ndarray, claimed: np.ndarray) -> np.ndarray:
    """The distances (px) of all pairs of points; those beyond TAU are far."""
    distance = np.sqrt((truth[0] - claimed[0]) ** 2 + (truth[1] - claimed[1]) ** 2)
    return np.where(distance <= TAU, distance, FAR)


def dissimilarities(truth: np.ndarray, claimed: np.ndarray) -> np.ndarray:
    """1 - IoU of all pairs of boxes; those with an IoU below LEAST_IOU are far."""
    (left, top, width, height), (left2, top2, width2, height2) = truth, claimed
    across = np.minimum(left + width, left2 + width2) - np.maximum(left, left2)
    down = np.minimum(top + height, top2 + height2) - np.maximum(top, top2)
    shared = np.maximum(across, 0) * np.maximum(down, 0)
    iou = shared / (width * height + width2 * height2 - shared)
    return np.where(iou >= LEAST_IOU, 1 - iou, FAR)


def counts(matches: pd.DataFrame) -> list[int]:
    found = matches["outcome"].value_counts()
    return [int(found[outcome]) for outcome in ("TP", "FN", "FP")]


def seconds(function: Callable[..., object], *arguments: object) -> float:
    began = time.process_time()
    function(*arguments)
    return time.process_time() - began


def measure(name: str, columns: str, costs: Callable[..., np.ndarray], n_rows: int, in_frame: int) -> None:
    """Prints a line of what both take; ends the benchmark if they count differently."""
    truth, claimed = scene(columns, n_rows, in_frame)
    frames = [side["frame"].to_numpy() for side in (truth, claimed)]
    values = [side[[*columns]].to_numpy().T.copy() for side in (truth, claimed)]
    both = counts(sf.match(truth, claimed)), loop(frames, values, costs)
    if both[0] != both[1]:
        raise SystemExit(f"{name}, {in_frame} a frame: match counts {both[0]} and the loop {both[1]}")
    times = [(seconds(sf.match, truth, claimed), seconds(loop, frames, values, costs)) for _ in range(ROUNDS)]
    ours, theirs = (1000 * statistics.median(taken) for taken in zip(*times, strict=True))
    ratio = statistics.median(of_loop / of_match for of_match, of_loop in times)
    print(f"{name:8}{in_frame:8,}{ours:10.1f} ms{theirs:10.1f} ms{ratio:8.2f} times as fast")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=N_ROWS, help="truths of all frames together")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="truths a frame")
    given = parser.parse_args()
    print(f"spotgeo_frames {sf.__version__}, {given.rows:,} truths and as many predictions, processor time")
    print(f"{'':8}{'a frame':>8}{'match':>13}{'loop':>13}")
    for name, columns, costs in (("points", "xy", distances), ("boxes", "xywh", dissimilarities)):
        for in_frame in given.sizes:
            measure(name, columns, costs, given.rows, in_frame)


if __name__ == "__main__":
    main()
