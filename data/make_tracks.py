"""Makes the sample in data/tracks: python data/make_tracks.py, from the project's root.

Two sequences of people walking through the image of a camera at a fixed place, as MOTChallenge folders: the plaza is
wide and they keep apart, at the crossing they walk past each other and hide each other, which `visibility` tells. Next
to the people to be evaluated there are a cyclist (a person on a vehicle) and a mirror image in a window (a reflection),
both of which a tracker may or may not report, and a parked car. One tracker looks at them: it misses who is hidden, is
less exact about who is hidden in part, now and then takes them for somebody else after that, and reports a few people
that are not there.

Seeded: the files come out the same each time.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import spotgeo_frames as sf
from spotgeo_frames.geometries.boxes import iou

FOLDER = Path(__file__).parent / "tracks"
N_FRAMES, WIDTH, HEIGHT = 90, 960, 540
PEDESTRIAN, ON_VEHICLE, CAR, REFLECTION = 1, 2, 3, 12
LANES = {"crossing": (250, 330), "plaza": (120, 420)}


def make_truth(sequence: str, n_walkers: int, random: np.random.Generator) -> pd.DataFrame:
    """Walkers in alternating directions between two lines of the image, then the other classes, on top of one line."""
    classes = np.array([PEDESTRIAN] * n_walkers + [ON_VEHICLE, REFLECTION, CAR])
    number = np.arange(len(classes))
    top = random.uniform(*LANES[sequence], len(classes))
    speed = np.where(number % 2, 1.0, -1.0) * random.uniform(5, 9, len(classes))
    speed[classes == ON_VEHICLE] *= 2
    speed[np.isin(classes, [REFLECTION, CAR])] = 0
    start = np.where(speed > 0, random.uniform(-200, 300, len(classes)), random.uniform(600, 1100, len(classes)))
    width = np.where(classes == CAR, 150.0, random.uniform(34, 52, len(classes))).round()
    frame, row = (part.ravel() for part in np.mgrid[1 : N_FRAMES + 1, 0 : len(classes)])
    x = start[row] + speed[row] * frame + 4 * np.sin(frame / 3 + row)
    y = top[row] + (random.uniform(-0.8, 0.8, len(classes)) * (speed != 0))[row] * frame
    table = pd.DataFrame({"sequence": sequence, "frame": frame, "object": row + 1, "x": x.round(), "y": y.round()})
    table = table.assign(w=width[row], h=np.where(classes == CAR, 90.0, 2.4 * width)[row].round())
    table = table.assign(considered=classes[row] == PEDESTRIAN, class_id=classes[row])
    return with_visibility(table[(table["x"] + table["w"] > 0) & (table["x"] < WIDTH)].reset_index(drop=True))


def with_visibility(table: pd.DataFrame) -> pd.DataFrame:
    """Adds the share of each box that no box further down in the image, and so nearer, covers; boxes as a whole."""
    pairs = table.reset_index().merge(table.reset_index(), on="frame", suffixes=("", "_other"))
    nearer = pairs[(pairs["y_other"] + pairs["h_other"]) > (pairs["y"] + pairs["h"])]
    boxes = [nearer[[f"{column}{side}" for column in "xywh"]].to_numpy().T for side in ("", "_other")]
    overlap = iou(*boxes)
    covered = pd.Series(overlap * (1 + overlap), index=nearer["index"]).groupby(level=0).max()
    return table.assign(visibility=(1 - covered.reindex(table.index).fillna(0)).clip(0, 1).round(3))


def make_tracker(truth: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
    """What the tracker reports: who is seen well enough, the less exactly the more is hidden."""
    people = truth[truth["class_id"].isin([PEDESTRIAN, ON_VEHICLE, REFLECTION])]
    found = people[random.random(len(people)) < 0.35 + 0.63 * people["visibility"] ** 2].copy()
    found["object"] = identities(found, random)
    blur = 0.03 + 0.1 * (1 - found["visibility"].to_numpy())[:, None] + 0.01 * (found["object"].to_numpy() % 7)[:, None]
    found[["x", "y", "w", "h"]] += (
        random.normal(0, 0.6, (len(found), 4)) * blur * found[["w", "h", "w", "h"]].to_numpy()
    )
    found["score"] = (0.5 + 0.5 * found["visibility"] * random.beta(8, 2, len(found))).round(3)
    alarms = truth.iloc[random.integers(0, len(truth), len(truth) // 40)].drop_duplicates("frame").copy()
    alarms = alarms.assign(object=900 + np.arange(len(alarms)) // 3, y=alarms["y"] - alarms["h"], score=0.4)
    columns = ["sequence", "frame", "object", "x", "y", "w", "h", "score"]
    claims = pd.concat([found, alarms])[columns].sort_values(["frame", "object"], ignore_index=True)
    return claims.round({"x": 2, "y": 2, "w": 2, "h": 2})


def identities(found: pd.DataFrame, random: np.random.Generator) -> list[int]:
    """The identity of each row: after a gap it may be a new one, or be traded with whoever is nearest."""
    names = {number: number for number in found["object"].unique()}
    last_seen: dict[int, int] = {}
    chosen = []
    for frame, rows in found.groupby("frame"):
        for number, x in zip(rows["object"], rows["x"], strict=True):
            if frame - last_seen.get(number, frame) > 3 and random.random() < 0.6:
                nearest = rows["object"].iloc[(rows["x"] - x).abs().argsort().iloc[: 1 + (len(rows) > 1)].iloc[-1]]
                if random.random() < 0.5:
                    names[number], names[nearest] = names[nearest], names[number]
                else:
                    names[number] = 1 + max(names.values())
            last_seen[number] = frame
        chosen += [names[number] for number in rows["object"]]
    return chosen


def main() -> None:
    random = np.random.default_rng(8)
    truth = pd.concat([make_truth("crossing", 9, random), make_truth("plaza", 6, random)], ignore_index=True)
    frame = np.arange(1, N_FRAMES + 1)
    frames = pd.DataFrame({"sequence": np.repeat(list(LANES), N_FRAMES), "frame": np.tile(frame, len(LANES))})
    sf.write_motchallenge(sf.Annotations(truth, frames), FOLDER / "truth", truth=True)
    tracker = [make_tracker(truth[truth["sequence"] == sequence], random) for sequence in LANES]
    sf.write_motchallenge(sf.Annotations(pd.concat(tracker, ignore_index=True), frames), FOLDER / "tracker")


if __name__ == "__main__":
    main()
