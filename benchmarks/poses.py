"""Poses: from JSON files to keypoint HOTA, against reading the files, and against the rule as a loop.

    python benchmarks/poses.py [TRUTH_DIR PREDICTION_DIR]

Without folders it makes a dataset of its own, PoseTrack21's layout: 100 sequences of 75 frames with 8 people, which are
60,000 poses of 15 joints a side. The loop, frame by frame and joint by joint as the official kit works, is timed on the
first sequences only, and has to agree there before anything is timed.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

import spotgeo_frames as sf
from spotgeo_frames.metrics.hota import ALPHAS
from spotgeo_frames.readers.posetrack import EARS, JOINTS, RAW_JOINTS

N_SEQUENCES, N_FRAMES, N_PEOPLE = 100, 75, 8
LOOPED_SEQUENCES = 3
ROUNDS = 5


def make_folders(folder: Path) -> tuple[Path, Path]:
    """Walkers whose joints a tracker finds with an error of some pixels, who are missed, and who change identities."""
    random = np.random.default_rng(20)
    sides = folder / "truth", folder / "predictions"
    for side in sides:
        side.mkdir()
    skeleton = random.uniform([-25, 0], [25, 120], (len(RAW_JOINTS), 2))
    for number in range(N_SEQUENCES):
        images = [
            {"id": 1000 * number + t, "is_labeled": True, "ignore_regions_x": [], "ignore_regions_y": []}
            for t in range(N_FRAMES)
        ]
        start, step = random.uniform([50, 50], [1200, 500], (N_PEOPLE, 2)), random.uniform(-4, 4, (N_PEOPLE, 2))
        truth, claims = [], []
        for t in range(N_FRAMES):
            for identity in range(N_PEOPLE):
                joints = np.abs(start[identity] + t * step[identity] + skeleton) + 1
                there = random.random(len(joints)) < 0.9
                there[list(EARS)] = False
                key = {"image_id": images[t]["id"], "track_id": identity}
                truth.append(key | {"keypoints": flat(joints, there), "bbox_head": [*joints[0].tolist(), 18.0, 26.0]})
                if random.random() < 0.95:
                    found = joints + random.normal(0, 4, joints.shape)
                    key["track_id"] += 10 * int(t // 25 + random.random() < 0.1)
                    claims.append(key | {"keypoints": flat(found, there), "scores": random.random(17).tolist()})
        seen = {(claim["image_id"], claim["track_id"]): claim for claim in claims}
        for side, annotations in zip(sides, (truth, list(seen.values())), strict=True):
            document = {"images": images, "annotations": annotations, "categories": [{"keypoints": RAW_JOINTS}]}
            (side / f"{number:03}.json").write_text(json.dumps(document))
    return sides


def flat(joints: np.ndarray, there: np.ndarray) -> list[float]:
    """Keypoints as the format has them: x, y and 1, or three zeros where there is none."""
    return np.column_stack([np.where(there[:, None], joints, 0.0), there]).ravel().tolist()


def loop(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
    """True positives by joint and alpha, one frame and joint after the other."""
    counts = np.zeros((len(JOINTS), len(ALPHAS)))
    claims = dict(list(predictions.groupby(["sequence", "frame", "joint"])))
    for key, rows in truth.groupby(["sequence", "frame", "joint"]):
        if key in claims:
            xy = [side[["x", "y"]].to_numpy() for side in (rows, claims[key])]
            distance = np.linalg.norm(xy[0][:, None] - xy[1][None], axis=2) / rows["head_size"].to_numpy()[:, None]
            similarity = np.maximum(0, 1 - distance / 0.5001)
            chosen = similarity[linear_sum_assignment(-similarity)]
            counts[JOINTS.index(key[2])] += (chosen[:, None] >= ALPHAS - np.finfo(float).eps).sum(axis=0)
    return counts


def timed(function: Callable[[], object]) -> float:
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def check(truth, predictions):
    pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    with tempfile.TemporaryDirectory() as scratch:
        folders = parser.parse_args().folders or make_folders(Path(scratch))
        truth, predictions = sf.read_posetrack(*folders)
        check(truth, predictions)
        print(f"{truth.objects.groupby(['sequence', 'frame', 'object']).ngroups:,} poses of truth")
        times = {"reading": [], "pose": []}
        for _ in range(ROUNDS):
            times["reading"].append(timed(lambda: sf.read_posetrack(*folders)))
            times["pose"].append(timed(lambda: sf.pose(truth, predictions)))
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, seconds in medians.items():
        print(f"{name:10} {1000 * seconds:8.0f} ms")
    print(medians)


main()
