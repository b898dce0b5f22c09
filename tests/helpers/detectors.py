"""Made-up truths of every kind, and sound detectors of them: noise, misses, false alarms and confused classes.

Images are 640 x 480. A side of points or boxes has a row an object, one of people a row a joint.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

import spotgeo_frames as sf
from spotgeo_frames.geometries.joints import COCO_SIGMAS

WIDTH, HEIGHT = 640.0, 480.0
JOINTS = list(COCO_SIGMAS)

# Where the joints are, in heights of the person: to the image's right if it is the left one, and down.
PLACES = {"nose": (0, 0.08), "eye": (0.03, 0.06), "ear": (0.06, 0.07), "shoulder": (0.13, 0.2), "elbow": (0.2, 0.35)}
PLACES |= {"wrist": (0.22, 0.5), "hip": (0.09, 0.52), "knee": (0.1, 0.75), "ankle": (0.1, 0.97)}
SIDES = np.array([(-1 if "right" in name else 1, 1) for name in JOINTS])
FIGURE = np.array([PLACES[name.split("_")[-1]] for name in JOINTS]) * SIDES


class Detector(NamedTuple):
    """How much there is, and how good the detector is."""

    sequences: int = 30
    frames: int = 2
    most: int = 5  # objects in a frame
    found: float = 0.8  # the share of objects
    alarms: float = 0.2  # false ones for each object
    noise: float = 0.03  # of a person's or a box's size


Sides = tuple[sf.Annotations, pd.DataFrame]


def _keys(random: np.random.Generator, size: Detector) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The keys of true objects, at least one, and the table of frames."""
    rows = [(s, f) for s in range(1, size.sequences + 1) for f in range(1, size.frames + 1)]
    frames = pd.DataFrame(rows, columns=["sequence", "frame"])
    counts = random.integers(0, size.most + 1, len(frames))
    counts[0] = max(counts[0], 1)
    keys = frames.loc[frames.index.repeat(counts)].reset_index(drop=True)
    return keys.assign(object=keys.groupby(["sequence", "frame"]).cumcount()), frames


def _alarms(random: np.random.Generator, keys: pd.DataFrame, size: Detector) -> pd.DataFrame:
    """The keys of false alarms, in frames that have objects."""
    alarms = keys.iloc[random.integers(0, len(keys), random.poisson(size.alarms * len(keys)))]
    return alarms[["sequence", "frame"]].assign(object=np.arange(len(alarms)) + 1000).reset_index(drop=True)


def points(random: np.random.Generator, size: Detector) -> Sides:
    """Points, seen about 1.5 px off."""
    keys, frames = _keys(random, size)

    def placed(objects: pd.DataFrame) -> pd.DataFrame:
        x, y = random.uniform(0, 1, (2, len(objects)))
        return objects.assign(x=x * WIDTH, y=y * HEIGHT)

    truth = placed(keys)
    seen = truth[random.random(len(truth)) < size.found]
    seen = seen.assign(**{axis: seen[axis] + random.normal(0, 1.5, len(seen)) for axis in "xy"})
    return sf.Annotations(truth, frames), pd.concat([seen, placed(_alarms(random, keys, size))], ignore_index=True)


def boxes(random: np.random.Generator, size: Detector) -> Sides:
    """Boxes of 12 to 200 px and of four classes, one in ten of which is confused."""
    keys, frames = _keys(random, size)

    def placed(objects: pd.DataFrame) -> pd.DataFrame:
        n = len(objects)
        w = np.exp(random.uniform(np.log(12), np.log(200), n))
        h = np.minimum(w * np.exp(random.normal(0, 0.5, n)), HEIGHT * 0.9)
        x, y = random.uniform(0, 1, (2, n)) * (WIDTH - w, HEIGHT - h)
        return objects.assign(x=x, y=y, w=w, h=h, category=random.integers(1, 5, n))

    truth = placed(keys)
    seen = truth[random.random(len(truth)) < size.found]
    dx, dy, dw, dh = random.normal(0, size.noise, (4, len(seen)))
    geometry = {"x": seen["x"] + dx * seen["w"], "y": seen["y"] + dy * seen["h"]}
    geometry |= {"w": seen["w"] * np.exp(dw), "h": seen["h"] * np.exp(dh)}
    category = np.where(random.random(len(seen)) < 0.1, random.integers(1, 5, len(seen)), seen["category"])
    claims = pd.concat([seen.assign(**geometry, category=category), placed(_alarms(random, keys, size))])
    return sf.Annotations(truth, frames), claims.assign(score=random.random(len(claims))).reset_index(drop=True)


def people(random: np.random.Generator, size: Detector) -> Sides:
    """People seen from all sides, of whom a fifth of the joints is not labelled: at 0, 0 with visibility 0."""
    keys, frames = _keys(random, size)

    def joints(n: int) -> tuple[np.ndarray, np.ndarray]:
        height = np.exp(random.uniform(np.log(60), np.log(300), n))[:, None]
        x, y = random.uniform(60, WIDTH - 60, (n, 1)), random.uniform(0, 1, (n, 1)) * (HEIGHT - height)
        facing = random.choice([1, -1, 0.3, -0.3], (n, 1))
        figures = np.stack([x + FIGURE[:, 0] * height * facing, y + FIGURE[:, 1] * height], axis=2)
        return height, figures + random.normal(0, 0.03, figures.shape) * height[:, :, None]

    height, places = joints(len(keys))
    visibility = random.choice([0, 1, 2], places.shape[:2], p=[0.2, 0.2, 0.6])
    truth = _long(keys.assign(area=height[:, 0] ** 2 * 0.35), np.where(visibility[..., None] > 0, places, 0))
    seen = random.random(len(keys)) < size.found
    noise = random.normal(0, size.noise, places[seen].shape) * height[seen][:, :, None]
    alarms = _alarms(random, keys, size)
    claims = pd.concat([keys[seen], alarms]), np.concatenate([places[seen] + noise, joints(len(alarms))[1]])
    return sf.Annotations(truth.assign(visibility=visibility.ravel()), frames), _long(*claims)


def _long(people: pd.DataFrame, places: np.ndarray) -> pd.DataFrame:
    """One row a joint; the places are (people, joints, 2)."""
    long = people.iloc[np.repeat(np.arange(len(people)), len(JOINTS))].reset_index(drop=True)
    x, y = places.reshape(-1, 2).T
    return long.assign(joint=np.tile(JOINTS, len(people)), x=x, y=y)
