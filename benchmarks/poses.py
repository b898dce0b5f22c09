"""Poses: keypoint HOTA and all that `pose` gives, against reading the files, and against the rule as a loop.

    python benchmarks/poses.py [TRUTH_DIR PREDICTION_DIR]

Without folders it makes a dataset of its own in PoseTrack's layout: 100 sequences of 75 frames with 8 people, which are
60,000 poses of 15 joints. The loop goes through frames and joints as the official kit does, up to the true positives;
it has to agree on the first sequences before anything is timed, and is timed on them only.
"""

import argparse
import json
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

import spotgeo_frames as sf
from spotgeo_frames.geometries.joints import EARS, JOINTS, RAW_JOINTS, keypoint_similarity
from spotgeo_frames.matching.alignment import align
from spotgeo_frames.tables.annotations import as_annotations
from spotgeo_frames.tracking.identities import number_keypoints
from spotgeo_frames.tracking.metrics.hota import ALPHAS, LEAST_SIMILARITIES
from spotgeo_frames.tracking.metrics.keypoint_hota import keypoint_hota, keypoint_hota_parts, keypoint_hota_totals
from spotgeo_frames.tracking.poses import near_joints

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
    counts = np.zeros((len(JOINTS), len(ALPHAS)), np.int64)
    key = ["sequence", "frame", "joint"]
    claims = dict(list(predictions.groupby(key)))
    for name, rows in truth.groupby(key):
        if name in claims:
            xy = [side[["x", "y"]].to_numpy() for side in (rows, claims[name])]
            distance = np.linalg.norm(xy[0][:, None] - xy[1][None], axis=2) / rows["head_size"].to_numpy()[:, None]
            similarity = keypoint_similarity(distance)
            chosen = similarity[linear_sum_assignment(-similarity)]
            counts[JOINTS.index(name[2])] += (chosen[:, None] >= LEAST_SIMILARITIES).sum(axis=0)
    return counts


def hota_alone(truth: sf.Annotations, predictions: sf.Annotations) -> dict[str, np.ndarray]:
    """Keypoint HOTA from tables, without the rest of what `pose` gives."""
    sides = [as_annotations(side, "") for side in (truth, predictions)]
    aligned = align(sides[0], sides[1])
    parts = keypoint_hota_parts(number_keypoints(aligned, "object", JOINTS), near_joints(aligned))
    return keypoint_hota(parts, keypoint_hota_totals(parts))


def load_json(folders: Sequence[Path]) -> None:
    """What the standard library takes for the same files, and no more than that."""
    for folder in folders:
        for path in folder.glob("*.json"):
            json.loads(path.read_bytes())


def timed(function: Callable[..., object], *arguments: object) -> float:
    began = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - began


def first_sequences(side: sf.Annotations, names: Sequence[str]) -> sf.Annotations:
    tables = (None if table is None else table[table["sequence"].isin(names)].reset_index(drop=True) for table in side)
    return sf.Annotations(*tables)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="TRUTH_DIR PREDICTION_DIR")
    given = parser.parse_args().folders
    if len(given) not in (0, 2):
        parser.error("give both folders, or none")
    with tempfile.TemporaryDirectory() as scratch:
        folders = given or make_folders(Path(scratch))
        sides = sf.read_posetrack(*folders)
        names = sides[0].frames["sequence"].unique()[:LOOPED_SEQUENCES].tolist()
        some = [first_sequences(side, names) for side in sides]
        curve = sf.pose(*some).curve
        ours = curve[curve["sequence"].isna() & curve["joint"].notna()]["TP"].to_numpy().reshape(len(JOINTS), -1)
        if not np.array_equal(loop(some[0].objects, some[1].objects), ours):
            raise SystemExit("the loop finds other true positives")
        steps: dict[str, tuple[Callable[..., object], tuple[Any, ...]]] = {
            "json.loads alone": (load_json, (folders,)),
            "read_posetrack": (sf.read_posetrack, folders),
            "keypoint HOTA": (hota_alone, sides),
            "pose, all of it": (sf.pose, sides),
            f"pose, {len(names)} sequences": (sf.pose, some),
            f"loop, {len(names)} sequences": (loop, (some[0].objects, some[1].objects)),
        }
        times = {
            name: [timed(function, *arguments) for _ in range(ROUNDS)] for name, (function, arguments) in steps.items()
        }
    poses = sides[0].objects[["sequence", "frame", "object"]].drop_duplicates()
    print(f"spotgeo_frames {sf.__version__}, {len(poses):,} poses and {len(sides[0].objects):,} joints of truth")
    reading = statistics.median(times["read_posetrack"])
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:24}{1000 * median:8.0f} ms  {median / reading:6.2f} times reading")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MiB, the making of the data included")


if __name__ == "__main__":
    main()
