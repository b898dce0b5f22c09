"""Makes the sample in data/streets: python data/make_streets.py, from the project's root.

Twenty-four short videos of streets, twelve by day and twelve by night. People walk at different depths, so they are
tall or short in the image, slow or fast, and hide each other, which `visibility` tells. Two trackers look at them:

- `keen` sees the small ones, too, but gives people another identity after they were hidden, and reports some who are
  not there;
- `calm` misses most of who is shorter than 55 px, keeps identities through gaps, and sees less by night.

Seeded: the files come out the same each time.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from spotgeo_frames.geometries.boxes import iou

FOLDER = Path(__file__).parent / "streets"
N_SEQUENCES, N_FRAMES, WIDTH = 24, 30, 1280
COLUMNS = ["sequence", "frame", "object", "x", "y", "w", "h"]


def make_truth(sequence: int, random: np.random.Generator) -> pd.DataFrame:
    """People of one video, whose feet are the lower in the image the nearer, and so the taller, they are."""
    n_people = int(random.integers(4, 15))
    height = np.exp(random.uniform(np.log(40), np.log(240), n_people))
    pace = random.choice([-1, 1], n_people) * random.uniform(0.01, 0.08, n_people)  # heights a frame
    start = random.uniform(0.1, 0.9, n_people) * WIDTH
    frame, person = (part.ravel() for part in np.mgrid[1 : N_FRAMES + 1, 0:n_people])
    h, speed = height[person], (pace * height)[person]
    x, feet = start[person] + speed * frame, 320 + 1.5 * h + 2 * np.sin(frame / 3 + person)
    table = pd.DataFrame({"sequence": sequence, "frame": frame, "object": person + 1, "x": x, "y": feet - h})
    table = table.assign(w=0.4 * h, h=h).round({"x": 1, "y": 1, "w": 1, "h": 1})
    table["speed"] = np.abs(speed).round(1)
    inside = (table["x"] + table["w"] > 0) & (table["x"] < WIDTH)
    return with_visibility(table[inside].reset_index(drop=True))


def with_visibility(table: pd.DataFrame) -> pd.DataFrame:
    """Adds the share of each box that no box of somebody nearer covers."""
    pairs = table.reset_index().merge(table.reset_index(), on="frame", suffixes=("", "_other"))
    nearer = pairs[pairs["h_other"] > pairs["h"]]
    own, other = (nearer[[f"{column}{side}" for column in "xywh"]].to_numpy().T for side in ("", "_other"))
    overlap = iou(own, other)
    both = overlap * (own[2] * own[3] + other[2] * other[3]) / (1 + overlap)
    covered = pd.Series(both / (own[2] * own[3]), index=nearer["index"]).groupby(level=0).max()
    return table.assign(visibility=(1 - covered.reindex(table.index).fillna(0)).clip(0, 1).round(2))


def make_tracker(truth: pd.DataFrame, seen: np.ndarray, forgets: float, random: np.random.Generator) -> pd.DataFrame:
    """What a tracker reports: whom it sees with these chances, under a new identity after gaps if it forgets."""
    found = truth[random.random(len(truth)) < seen].copy()
    by_person = found.groupby(["sequence", "object"])["frame"]
    forgotten = (by_person.diff() > 1) & (random.random(len(found)) < forgets)
    found["object"] += 100 * forgotten.groupby([found["sequence"], found["object"]]).cumsum()
    found[["x", "y", "w", "h"]] += random.normal(0, 0.04, (len(found), 4)) * found[["w", "h", "w", "h"]].to_numpy()
    return found[COLUMNS]


def false_alarms(truth: pd.DataFrame, share: float, random: np.random.Generator) -> pd.DataFrame:
    """Reports of people who are not there, each for three frames: above somebody who is."""
    rows = truth[(truth["frame"] < N_FRAMES - 1) & (random.random(len(truth)) < share)]
    number = 10_000 + np.arange(len(rows))
    parts = [rows.assign(frame=rows["frame"] + later, object=number, y=rows["y"] - 2 * rows["h"]) for later in range(3)]
    return pd.concat(parts)[COLUMNS]


def main() -> None:
    random = np.random.default_rng(20261128)
    truth = pd.concat([make_truth(sequence, random) for sequence in range(1, N_SEQUENCES + 1)], ignore_index=True)
    sequences = pd.DataFrame({"sequence": range(1, N_SEQUENCES + 1)})
    sequences["light"] = np.where(sequences["sequence"] % 2, "day", "night")
    at_night = (truth["sequence"] % 2 == 0).to_numpy()
    visibility, height = truth["visibility"].to_numpy(), truth["h"].to_numpy()
    tall = 1 / (1 + np.exp(-(height - 55) / 6))
    chances = {
        "keen": (0.1 + 0.85 * visibility, 0.55, 0.012),
        "calm": ((0.45 + 0.52 * visibility) * tall * np.where(at_night, 0.9, 1), 0.05, 0.003),
    }
    FOLDER.mkdir(exist_ok=True)
    truth.to_parquet(FOLDER / "truth.parquet", index=False)
    sequences.to_parquet(FOLDER / "sequences.parquet", index=False)
    for name, (seen, forgets, share) in chances.items():
        claims = [make_tracker(truth, seen, forgets, random), false_alarms(truth, share, random)]
        table = pd.concat(claims).sort_values(["sequence", "frame", "object"], ignore_index=True)
        table.round({"x": 1, "y": 1, "w": 1, "h": 1}).to_parquet(FOLDER / f"{name}.parquet", index=False)


if __name__ == "__main__":
    main()
