"""Makes the sample in data/boxes: python data/make_boxes.py, from the project's root.

Sixty cameras (`sequence`) look at streets, by day or at dusk, and each takes five images (`frame`) of persons,
bicycles, cars and buses. Two versions of a detector look at them. The first one misses small objects, often reports
half a bicycle, takes buses for cars, and reports large objects twice. The second one sees smaller persons and reports
nothing twice, but loses bicycles at dusk and takes reflections at dusk for cars. Both take some posts for persons.

How hard an object is to see is the same for both versions, so most of what the first one finds the second one finds,
too. Seeded: the files come out the same each time. Written are the truth, its frames with their `light`, and both
versions, as tables of Parquet.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from spotgeo_frames.support.writing import table_files, write_together

FOLDER = Path(__file__).parent / "boxes"
N_SEQUENCES, N_FRAMES, WIDTH, HEIGHT = 60, 5, 960, 540

# Width, height and largest step between images, in metres, and how many of six objects are of the class.
CLASSES = {
    "person": (0.6, 1.7, 0.5, 2),
    "bicycle": (1.7, 1.1, 0.8, 1),
    "car": (4.2, 1.5, 1.5, 2),
    "bus": (9.0, 3.0, 1.0, 1),
}


class Version(NamedTuple):
    """How a version of the detector sees.

    `person_height` is the height (px) at which it finds half of all persons, `dusk_bicycles` the share of the found
    bicycles that it still finds at dusk, `twice` the share of large objects that it reports twice, and `reflections`
    the share of reflections that it takes for cars.
    """

    person_height: float
    dusk_bicycles: float
    twice: float
    reflections: float


VERSIONS = {"v1": Version(34, 0.9, 0.25, 0.1), "v2": Version(22, 0.35, 0.02, 0.6)}
HALF_BICYCLES, BUSES_AS_CARS, POSTS = 0.3, 0.3, 0.5


def make_frames() -> pd.DataFrame:
    """`sequence`, `frame` and `light`; every third camera looks at dusk."""
    sequence = np.repeat(np.arange(1, N_SEQUENCES + 1), N_FRAMES)
    frame = np.tile(np.arange(1, N_FRAMES + 1), N_SEQUENCES)
    return pd.DataFrame({"sequence": sequence, "frame": frame, "light": np.where(sequence % 3 == 0, "dusk", "day")})


def make_truth(random: np.random.Generator) -> pd.DataFrame:
    """Objects with their `category`, in every frame in which they are within the image."""
    rows = []
    names = [name for name, (*_, share) in CLASSES.items() for _ in range(share)]
    for sequence in range(1, N_SEQUENCES + 1):
        for number in range(random.integers(3, 9)):
            category = str(random.choice(names))
            width, height, step, _ = CLASSES[category]
            scale = random.uniform(9, 42)  # px a metre: the nearer, the larger and the further down
            w, h = random.uniform(0.9, 1.1, 2) * scale * (width, height)
            x, y = random.uniform(0, WIDTH - w), 130 + 8.5 * scale - h
            dx = random.uniform(-step, step) * scale
            places = [(frame, x + dx * (frame - 1)) for frame in range(1, N_FRAMES + 1)]
            rows += [
                (sequence, frame, number, left, y, w, h, category) for frame, left in places if 0 <= left <= WIDTH - w
            ]
    return pd.DataFrame(rows, columns=["sequence", "frame", "object", "x", "y", "w", "h", "category"])


def make_background(frames: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
    """Posts that look like persons, one at most cameras, and at dusk reflections that look like cars."""
    parts = []
    for _, images in frames.groupby("sequence"):
        kinds = ["post", "reflection"] if images["light"].iloc[0] == "dusk" else ["post"]
        for kind in kinds:
            w, h = (14.0, 60.0) if kind == "post" else (70.0, 26.0)
            x, y = random.uniform([0, 260], [WIDTH - w, HEIGHT - h])
            parts.append(images.drop(columns="light").assign(kind=kind, x=x, y=y, w=w, h=h, luck=random.random()))
    return pd.concat(parts, ignore_index=True)


def seen(truth: pd.DataFrame, light: pd.Series, luck: np.ndarray, version: Version) -> np.ndarray:
    """Marks the truths that a version finds; `luck` is 0 to 1, the same for all versions."""
    half = np.where(truth["category"] == "person", version.person_height, 18.0)
    share = 0.97 / (1 + np.exp(-(truth["h"] - half) / 5))
    dark = (light == "dusk") & (truth["category"] == "bicycle")
    return luck < np.where(dark, share * version.dusk_bicycles, share)


def detections(truth: pd.DataFrame, lucks: np.ndarray, version: Version, random: np.random.Generator) -> pd.DataFrame:
    """What a version reports of the truths that it sees; `lucks` (N, 4) decide what goes wrong, 0 to 1."""
    half_bicycle = (truth["category"] == "bicycle") & (lucks[:, 1] < HALF_BICYCLES)
    as_car = (truth["category"] == "bus") & (lucks[:, 2] < BUSES_AS_CARS)
    jitter = random.normal(0, 0.035, (len(truth), 4)) * truth[["w", "h", "w", "h"]].to_numpy()
    found = truth.assign(
        category=truth["category"].mask(as_car, "car"),
        **dict(zip("xywh", (truth[list("xywh")].to_numpy() + jitter).T, strict=True)),
        score=np.clip(random.normal(0.78 - 0.2 * (half_bicycle | as_car), 0.1), 0.05, 0.99),
    )
    found["w"] = found["w"].where(~half_bicycle, found["w"] * 0.42)
    again = found[(truth["w"] > 90) & (lucks[:, 3] < version.twice)]
    again = again.assign(x=again["x"] + 0.12 * again["w"], score=again["score"] - 0.15)
    return pd.concat([found, again], ignore_index=True)


def alarms(background: pd.DataFrame, version: Version, random: np.random.Generator) -> pd.DataFrame:
    """What a version reports of the background."""
    is_post = background["kind"] == "post"
    taken = background[background["luck"] < np.where(is_post, POSTS, version.reflections)]
    jitter = random.normal(0, 1.0, (len(taken), 2))
    category = np.where(taken["kind"] == "post", "person", "car")
    score = np.clip(random.normal(0.45, 0.12, len(taken)), 0.05, 0.99)
    taken = taken.assign(x=taken["x"] + jitter[:, 0], y=taken["y"] + jitter[:, 1], category=category, score=score)
    return taken.drop(columns=["kind", "luck"])


def main() -> None:
    random = np.random.default_rng(18)
    frames, truth = make_frames(), make_truth(random)
    background = make_background(frames, random)
    light = truth.merge(frames)["light"]
    lucks = random.random((len(truth), 4))
    tables = {"truth": truth, "frames": frames}
    for name, version in VERSIONS.items():
        found = seen(truth, light, lucks[:, 0], version)
        claims = [detections(truth[found], lucks[found], version, random), alarms(background, version, random)]
        table = pd.concat(claims, ignore_index=True).sort_values(
            ["sequence", "frame"], kind="stable", ignore_index=True
        )
        tables[name] = table.assign(object=table.groupby(["sequence", "frame"]).cumcount())
    write_together(table_files({name: table.round(2) for name, table in tables.items()}, FOLDER, {}))


if __name__ == "__main__":
    main()
