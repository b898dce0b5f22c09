"""Scores a submission as one would without this project, in plain Python: `benchmarks/start.py` runs it as a process.

    python benchmarks/plain_loop.py TRUTH SUBMISSION

Reads both competition files with `json`, and takes `cdist` and `linear_sum_assignment` frame by frame. Prints tp, fn,
fp, f1 and mse as JSON.
"""

import json
import sys

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

TAU, EPSILON = 10.0, 3.0


def read(path: str) -> dict[tuple[int, int], list[list[float]]]:
    with open(path) as file:
        return {(entry["sequence_id"], entry["frame"]): entry["object_coords"] for entry in json.load(file)}


def main() -> None:
    truth, submission = (read(path) for path in sys.argv[1:3])
    tp = fn = fp = 0
    squared = 0.0
    for key, truths in truth.items():
        predictions = submission[key]
        distances = np.zeros(0)
        if truths and predictions:
            costs = cdist(predictions, truths)
            costs[costs > TAU] = max(1000, 2 * min(costs.shape) * TAU)
            pairs = costs[linear_sum_assignment(costs)]
            distances = pairs[pairs <= TAU]
        tp += len(distances)
        fn += len(truths) - len(distances)
        fp += len(predictions) - len(distances)
        squared += (distances[distances > EPSILON] ** 2).sum()
    mse = (squared + (fn + fp) * TAU**2) / (tp + fn + fp)
    print(json.dumps({"tp": tp, "fn": fn, "fp": fp, "f1": 2 * tp / (2 * tp + fn + fp), "mse": float(mse)}))


if __name__ == "__main__":
    main()
