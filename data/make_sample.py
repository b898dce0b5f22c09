"""Makes the sample in data/sample: python data/make_sample.py, from the project's root.

Sixty five-frame sequences in the manner of the spotGEO challenge, ten of them without objects: satellites cross the
image together, each with a brightness that changes little from frame to frame, under a sky of its own in each frame.
Two detectors look at them. The cautious one claims only what it is sure of; the eager one finds more, and more that is
not there. Whether an object is found, and how precisely, depends on how far it outshines the sky.

Seeded: the files come out the same each time. Written are the truth and both submissions as competition JSON, and as
tables of Parquet, which also carry `brightness`, `sky` and `score`.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import spotgeo_frames as sf
from spotgeo_frames.support.writing import table_files, write_together

FOLDER = Path(__file__).parent / "sample"
N_SEQUENCES, N_FRAMES, WIDTH, HEIGHT = 60, 5, 640, 480


def make_frames(random: np.random.Generator) -> pd.DataFrame:
    """`sequence`, `frame` and `sky`, the background in counts, which drifts within a sequence."""
    level = np.repeat(random.uniform(20, 60, N_SEQUENCES), N_FRAMES)
    return pd.DataFrame(
        {
            "sequence": np.repeat(np.arange(1, N_SEQUENCES + 1), N_FRAMES),
            "frame": np.tile(np.arange(1, N_FRAMES + 1), N_SEQUENCES),
            "sky": (level + random.normal(0, 1, len(level))).round(1),
        }
    )


def make_truth(random: np.random.Generator) -> pd.DataFrame:
    """Objects with `brightness` in counts; the objects of a sequence move by the same step from frame to frame."""
    rows = []
    for sequence in range(1, N_SEQUENCES + 1):
        n_objects = 0 if sequence % 6 == 0 else int(random.integers(1, 6))
        step = random.normal(0, 14, 2)
        start = random.uniform([60, 60], [WIDTH - 60, HEIGHT - 60], (n_objects, 2))
        if n_objects > 2:  # two that fly close together, which makes matching worth its name
            start[1] = start[0] + random.normal(0, 7, 2)
        brightness = random.lognormal(4.2, 0.5, n_objects)
        for frame in range(1, N_FRAMES + 1):
            xy = start + step * (frame - 1)
            inside = np.flatnonzero(((xy > 0) & (xy < [WIDTH - 1, HEIGHT - 1])).all(axis=1))
            flicker = brightness[inside] * random.normal(1, 0.05, len(inside))
            rows += [
                (sequence, frame, position, *xy[number].round(3), round(float(bright), 1))
                for position, (number, bright) in enumerate(zip(inside, flicker, strict=True))
            ]
    return pd.DataFrame(rows, columns=["sequence", "frame", "object", "x", "y", "brightness"])


def make_submission(
    truth: pd.DataFrame, frames: pd.DataFrame, random: np.random.Generator, threshold: float, alarms: float
) -> pd.DataFrame:
    """What a detector claims that takes whatever scores over `threshold`, with `alarms` false ones a frame."""
    seen = truth.merge(frames, on=["sequence", "frame"])
    signal = (seen["brightness"] / seen["sky"]).to_numpy()
    score = 1 / (1 + np.exp(-2.5 * (np.log(signal) + random.normal(0, 0.35, len(seen)))))
    error = random.normal(0, 1, (len(seen), 2)) * (1.2 + 2.5 / (1 + signal))[:, None]
    found = seen.assign(x=seen["x"] + error[:, 0], y=seen["y"] + error[:, 1], score=score)[score > threshold]

    alarm = frames.loc[frames.index.repeat(random.poisson(alarms, len(frames)))]
    places = random.uniform([0, 0], [WIDTH - 1, HEIGHT - 1], (len(alarm), 2))
    sure = threshold + (1 - threshold) * random.beta(1, 4, len(alarm))
    alarm = alarm.assign(x=places[:, 0], y=places[:, 1], score=sure)

    claims = pd.concat([found, alarm]).sample(frac=1, random_state=1)
    claims = claims.sort_values(["sequence", "frame"], kind="stable", ignore_index=True)
    claims["object"] = claims.groupby(["sequence", "frame"]).cumcount()
    claims = claims.assign(
        x=claims["x"].clip(-0.5, WIDTH - 0.5).round(3),
        y=claims["y"].clip(-0.5, HEIGHT - 0.5).round(3),
        score=claims["score"].round(4),
    )
    return claims[["sequence", "frame", "object", "x", "y", "score"]]


def main() -> None:
    random = np.random.default_rng(5)
    frames, truth = make_frames(random), make_truth(random)
    tables = {
        "truth": truth,
        "cautious": make_submission(truth, frames, random, threshold=0.6, alarms=0.05),
        "eager": make_submission(truth, frames, random, threshold=0.3, alarms=0.6),
    }
    for name, table in tables.items():
        sf.write_spotgeo(sf.Annotations(table, frames), FOLDER / f"{name}.json")
    write_together(table_files(tables | {"frames": frames}, FOLDER, notes={}))


if __name__ == "__main__":
    main()
