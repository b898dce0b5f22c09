"""How often `check` suspects sound submissions, and how often it finds a mistake that was planted, by simulation.

    python benchmarks/mistakes.py [--replicates 22]

Each set is drawn anew: its kind, how many sequences, frames and objects it has, how good the detector is, whether
places lie on whole pixels, and whether the counts of a frame are constant. A sound set has no mistake, so that anything
suspected is a false alarm. A planted mistake is found if it is told by its name. Seeded: the shares come out the same
each time. docs/uncertainty.md has them.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import spotgeo_frames as sf
from spotgeo_frames.geometries.joints import COCO_SIGMAS

WIDTH, HEIGHT = 640.0, 480.0  # of the largest image (px)
FRAME, OBJECT = ["sequence", "frame"], ["sequence", "frame", "object"]
SEQUENCES = (1, 2, 3, 5, 10, 20, 60)
HITS = (0, 5, 10, 20, 50, 100, np.inf)
MOST_OBJECTS = 1500  # of all frames, so that no set takes long

JOINTS = list(COCO_SIGMAS)
# Where joints are, in heights of the person from its centre: to the image's right if it is the left one, and down.
PLACES = {"nose": (0, -0.42), "eye": (0.03, -0.44), "ear": (0.06, -0.43), "shoulder": (0.13, -0.3)}
PLACES |= {"elbow": (0.2, -0.15), "wrist": (0.22, 0.0), "hip": (0.09, 0.02), "knee": (0.1, 0.25), "ankle": (0.1, 0.47)}
FIGURE = np.array([PLACES[name.split("_")[-1]] for name in JOINTS])
FIGURE[:, 0] *= [-1 if "right" in name else 1 for name in JOINTS]

Sides = tuple[pd.DataFrame, pd.DataFrame]


class Setting(NamedTuple):
    """What a set is like. Rates of alarms and switches are for each object of a frame."""

    sequences: int
    frames: int = 5
    objects: int = 5  # the most in a frame
    found: float = 0.8
    alarms: float = 0.2
    switches: float = 0.02
    noise: float = 1.0  # px of points, and twice the percent of the size of boxes and people
    grid: bool = False  # whole pixels on both sides
    width: float = 640.0  # of the image (px); in a small one much is near by chance
    counts: str = (
        "free"  # or constant in the truth's sequences, or in all frames of the predictions; or "one at a time"
    )
    listed: bool = True  # whether there is a table of frames


def drawn(random: np.random.Generator, sequences: int) -> Setting:
    """A setting at random; large ones have fewer frames."""
    frames, objects = (int(random.choice(of)) for of in ([1, 2, 5, 30], [1, 2, 5, 20]))
    return Setting(
        sequences,
        max(1, min(frames, MOST_OBJECTS // (objects * sequences))),
        objects,
        *(
            float(random.choice(of))
            for of in ([0.1, 0.4, 0.8, 1.0], [0.0, 0.2, 1.0, 4.0], [0.0, 0.05, 0.5], [0.5, 1, 2])
        ),
        grid=bool(random.random() < 0.3),
        width=float(random.choice([640, 160, 64])),
        counts=str(random.choice(["free", "free", "truth", "predictions", "one at a time"])),
        listed=bool(random.random() < 0.5),
    )


def tracks(random: np.random.Generator, setting: Setting) -> tuple[Sides, pd.DataFrame]:
    """Centres and sizes of objects that move through the frames, those that a detector claims, and all frames."""
    n, length = setting.sequences, setting.frames
    frames = pd.DataFrame({"sequence": np.repeat(np.arange(n), length) + 1, "frame": np.tile(np.arange(length), n) + 1})
    alone = setting.counts == "one at a time"
    counts = random.integers(1, setting.objects + 1, n) if setting.counts != "predictions" else setting.objects
    sequence = np.repeat(np.arange(n), counts)
    ends = np.sort(random.integers(0, length + 1, (len(sequence), 2)), axis=1)
    ends[random.random(len(ends)) < (1.0 if setting.counts == "truth" else 0.3)] = 0, length
    rank = np.arange(len(sequence)) - np.searchsorted(sequence, sequence)
    if alone:  # one object follows the other
        ends = np.stack([rank, rank + 1], axis=1) * length // np.bincount(sequence)[sequence][:, None]
    ends[0] = 0, max(1, ends[0, 1])
    scale = setting.width / WIDTH
    size = np.exp(random.uniform(np.log(12), np.log(120), len(sequence))) * scale
    start, speed = random.uniform(0.1, 0.9, (len(sequence), 2)), random.normal(0, 3 * scale, (len(sequence), 2))
    track = np.repeat(np.arange(len(sequence)), ends[:, 1] - ends[:, 0])
    frame = np.arange(len(track)) - np.searchsorted(track, track) + ends[track, 0]
    place = start[track] * (setting.width, 0.75 * setting.width) + speed[track] * frame[:, None]
    truth = pd.DataFrame(
        {"sequence": sequence[track] + 1, "frame": frame + 1, "object": rank[track] + 1, "track": track}
    )
    truth = truth.assign(x=place[:, 0], y=place[:, 1], size=size[track], category=track % 4 + 1)
    return (truth, claimed(random, setting, truth, frames)), frames


def claimed(random: np.random.Generator, setting: Setting, truth: pd.DataFrame, frames: pd.DataFrame) -> pd.DataFrame:
    """What a detector claims: objects that it finds, with switches of identity, and false alarms."""
    lives = truth.groupby("track")["x"].transform(lambda x: np.cumsum(random.random(len(x)) < setting.switches))
    claims = truth.assign(object=pd.factorize(truth["track"] * 1000 + lives)[0])
    is_found = random.random(len(claims)) < setting.found
    is_found[0] = True
    claims = claims[is_found].copy()
    confused = random.random(len(claims)) < 0.1
    claims["category"] = np.where(confused, random.integers(1, 5, len(claims)), claims["category"])
    n_alarms = random.poisson(setting.alarms * len(truth))
    in_frame = random.integers(0, len(frames), n_alarms)
    if setting.counts == "predictions":  # alarms make up for what is missed
        in_frame = np.repeat(np.arange(len(frames)), setting.objects)
    if setting.counts == "one at a time":
        in_frame = in_frame[:0]
    place = random.uniform(0, setting.width, (2, len(in_frame)))
    alarms = frames.iloc[in_frame].assign(
        object=100_000 + np.arange(len(in_frame)),
        track=-1,
        x=place[0],
        y=0.75 * place[1],
        size=np.exp(random.uniform(np.log(12), np.log(120), len(in_frame))) * setting.width / WIDTH,
        category=random.integers(1, 5, len(in_frame)),
    )
    claims = pd.concat([claims, alarms], ignore_index=True)
    if setting.counts == "predictions":
        claims = claims[claims.groupby(FRAME).cumcount() < setting.objects]
    return claims.reset_index(drop=True)


def points(random: np.random.Generator, setting: Setting, sides: Sides) -> Sides:
    truth, claims = (side.drop(columns=["size", "category", "track"]) for side in sides)
    noise = np.where(sides[1]["track"] >= 0, setting.noise, 0) * random.normal(0, 1, (2, len(claims)))
    return truth, claims.assign(x=claims["x"] + noise[0], y=claims["y"] + noise[1])


def boxes(random: np.random.Generator, setting: Setting, sides: Sides) -> Sides:
    form = np.exp(0.4 * np.sin(7.0 * sides[0]["track"].to_numpy())), np.exp(random.normal(0, 0.4, len(sides[1])))
    form[1][:] = np.where(sides[1]["track"] >= 0, np.exp(0.4 * np.sin(7.0 * sides[1]["track"])), form[1])
    answer = []
    for side, stretch, noise in zip(sides, form, (0.0, 0.02 * setting.noise), strict=True):
        error = noise * random.normal(0, 1, (4, len(side)))
        w, h = side["size"] * stretch * np.exp(error[2]), side["size"] / stretch * np.exp(error[3])
        place = {"x": side["x"] - w / 2 + error[0] * w, "y": side["y"] - h / 2 + error[1] * h, "w": w, "h": h}
        answer.append(side[[*OBJECT, "category"]].assign(**place))
    return answer[0], answer[1]


def people(random: np.random.Generator, setting: Setting, sides: Sides) -> Sides:
    answer = []
    for side, noise in zip(sides, (0.0, 0.02 * setting.noise), strict=True):
        track, height = side["track"].to_numpy(), 60 * setting.width / WIDTH + 2 * side["size"].to_numpy()
        facing = np.where(np.where(track >= 0, track % 3, random.integers(0, 3, len(side))) > 0, 1.0, -1.0)
        figure = FIGURE * np.stack([facing, np.ones(len(side))], axis=1)[:, None]
        swing = 0.03 * np.sin(np.arange(2 * len(JOINTS)).reshape(1, -1, 2) + track[:, None, None])
        place = side[["x", "y"]].to_numpy()[:, None] + (figure + swing) * height[:, None, None]
        place += noise * height[:, None, None] * random.normal(0, 1, place.shape)
        long = side[OBJECT].assign(area=0.35 * height**2, head_size=0.15 * height)
        long = long.iloc[np.repeat(np.arange(len(side)), len(JOINTS))].reset_index(drop=True)
        x, y = place.reshape(-1, 2).T
        answer.append(long.assign(joint=np.tile(JOINTS, len(side)), x=x, y=y))
    seen = random.random(len(answer[0])) > 0.15
    seen[:3] = True
    truth = answer[0].assign(visibility=seen.astype("int64"), **{axis: answer[0][axis].where(seen, 0) for axis in "xy"})
    return truth, answer[1].drop(columns=["area", "head_size"])


# Kind: its geometry, and the words for `check`.
KINDS: Mapping[str, tuple[Callable[..., Sides], dict[str, Any]]] = {
    "points": (points, {}),
    "boxes": (boxes, {"similarity": "iou"}),
    "joints": (people, {"tau": 8.0, "epsilon": 1.0}),
    "poses": (people, {"similarity": "oks"}),
    "point tracks": (points, {"tracks": True}),
    "box tracks": (boxes, {"tracks": True}),
    "pose tracks": (people, {"tracks": True}),
}


def submission(kind: str, random: np.random.Generator, setting: Setting) -> tuple[sf.Annotations, pd.DataFrame]:
    """A truth and what a sound detector claims of it."""
    geometry, words = KINDS[kind]
    sides, frames = tracks(random, setting)
    truth, claims = geometry(random, setting, sides)
    if setting.grid:
        whole = [name for name in ("x", "y", "w", "h") if name in truth]
        truth, claims = (side.assign(**side[whole].round()) for side in (truth, claims))
        truth, claims = (side.assign(**side[whole[2:]].clip(lower=1)) for side in (truth, claims))
    if words.get("tracks") and "category" in truth:
        truth, claims = (side.drop(columns="category") for side in (truth, claims))
    truth = truth.sort_values(FRAME, kind="stable", ignore_index=True)
    has_empty = truth["sequence"].nunique() < setting.sequences  # otherwise they would have no truth at all
    listed = frames if setting.listed or has_empty else None
    return sf.Annotations(truth, listed), claims.sort_values(FRAME, kind="stable", ignore_index=True)


# --- mistakes ---

Change = Callable[[pd.DataFrame], pd.DataFrame]


def set_to(**columns: Callable[[pd.DataFrame], Any]) -> Change:
    return lambda o: o.assign(**{name: of(o) for name, of in columns.items()})


def scaled(width: float, height: float) -> Change:
    factors = {"x": width, "w": width, "y": height, "h": height}
    return lambda o: o.assign(**{name: o[name] * factor for name, factor in factors.items() if name in o})


def joints_named(names: list[str]) -> Change:
    return set_to(joint=lambda o: o["joint"].map(dict(zip(JOINTS, names, strict=True))))


SWAP = set_to(x=lambda o: o["y"], y=lambda o: o["x"])
TURN = set_to(w=lambda o: o["h"], h=lambda o: o["w"])
CENTRES = set_to(x=lambda o: o["x"] + o["w"] / 2, y=lambda o: o["y"] + o["h"] / 2)
CORNERS = set_to(w=lambda o: o["x"] + o["w"], h=lambda o: o["y"] + o["h"])
NORMALISED = scaled(1 / WIDTH, 1 / HEIGHT)
OTHER_SIDES = [name.replace("left", "?").replace("right", "left").replace("?", "right") for name in JOINTS]
ROWS = set_to(object=lambda o: o.groupby(FRAME)["object"].rank(method="dense").astype("int64"))
NOWHERE = set_to(**{axis: lambda o, axis=axis: o[axis].where(np.arange(len(o)) % 10 > 2, 0) for axis in "xy"})
NEW = set_to(object=lambda o: o["object"] + 1_000_000 * o["frame"])


def capped(o: pd.DataFrame) -> pd.DataFrame:
    return o[o.groupby(FRAME)["object"].rank(method="dense") <= 2]


def some_of(names: np.ndarray) -> np.ndarray:
    """Every second of the sequences, in an order by chance that is the same each time."""
    return np.random.default_rng(7).permutation(np.sort(names))[: (len(names) + 1) // 2]


def in_half(change: Change) -> Change:
    """The change in half of the sequences."""

    def changed(o: pd.DataFrame) -> pd.DataFrame:
        is_changed = o["sequence"].isin(some_of(o["sequence"].unique()))
        return pd.concat([o[~is_changed], change(o[is_changed])], ignore_index=True)

    return changed


def exchanged_sequences(o: pd.DataFrame) -> pd.DataFrame:
    """Half of the sequences, or at least two, have the predictions of each other."""
    names = o["sequence"].unique()
    some = some_of(names) if len(names) > 3 else names
    return o.assign(sequence=o["sequence"].replace(dict(zip(some, np.roll(some, 1), strict=True))))


def without_some_sequences(o: pd.DataFrame) -> pd.DataFrame:
    return o[~o["sequence"].isin(some_of(o["sequence"].unique())[::2])]


def found_again(o: pd.DataFrame) -> pd.DataFrame:
    """Each object two or three times, a little off, as without suppression; all joints of a person move alike."""
    random, parts = np.random.default_rng(8), [o]
    for copy, share in ((1, 0.9), (2, 0.5)):
        person = o.groupby(OBJECT).ngroup().to_numpy()
        n = person.max() + 1
        off, is_kept = random.normal(0, 1.5, (2, n))[:, person], (random.random(n) < share)[person]
        size = o["w"] / 30 if "w" in o else 1.0
        again = o.assign(object=o["object"] + copy * 10_000_000, x=o["x"] + off[0] * size, y=o["y"] + off[1] * size)
        parts.append(again[is_kept])
    return pd.concat(parts, ignore_index=True)


def noisy_pixel(o: pd.DataFrame) -> pd.DataFrame:
    error = np.random.default_rng(9).normal(1, 1, (2, len(o)))
    return o.assign(w=np.maximum(o["w"] + error[0], 1), h=np.maximum(o["h"] + error[1], 1))


ALL, BOXES, PEOPLE = {*KINDS}, {"boxes", "box tracks"}, {"joints", "poses", "pose tracks"}
TRACKS = {kind for kind in KINDS if "tracks" in kind}
UNTRACKED = ALL - TRACKS


def in_predictions(change: Change) -> Callable[..., tuple[Any, Any]]:
    return lambda truth, claims: (truth, change(claims))


def in_truth(change: Change) -> Callable[..., tuple[Any, Any]]:
    return lambda truth, claims: (truth._replace(objects=change(truth.objects)), claims)


def exchanged(truth: sf.Annotations, claims: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    return claims.assign(score=0.5), truth.objects


def exchanged_without_scores(truth: sf.Annotations, claims: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    return claims, truth.objects


# The beginning of what is told, with a note that is not, the kinds that can have the mistake, and what the predictions
# then are.
PREDICTIONS: list[tuple[str, set[str], Change]] = [
    ("x and y are swapped", ALL, SWAP),
    ("x is counted from the right edge", ALL, set_to(x=lambda o: WIDTH - o["x"] - o.get("w", 0))),
    ("y is counted from the bottom edge", ALL, set_to(y=lambda o: HEIGHT - o["y"] - o.get("h", 0))),
    ("coordinates are halved", ALL, scaled(0.5, 0.5)),
    ("coordinates are doubled", ALL, scaled(2, 2)),
    ("coordinates are normalised to 0 to 1", ALL, NORMALISED),
    ("sequences are numbered too low by 1", ALL, set_to(sequence=lambda o: o["sequence"] - 1)),
    ("frames are numbered too high by 1", ALL, set_to(frame=lambda o: o["frame"] + 1)),
    ("frames are numbered too high by 100", TRACKS, set_to(frame=lambda o: o["frame"] + 100)),
    ("x and y are the centre of the box", BOXES, CENTRES),
    ("w and h are the far corner of the box", BOXES, CORNERS),
    ("coordinates are normalised to 0 to 1, and x and y are", BOXES, lambda o: NORMALISED(CENTRES(o))),
    ("coordinates are normalised to 0 to 1, and w and h are", BOXES, lambda o: NORMALISED(CORNERS(o))),
    ("width and height are swapped", BOXES, TURN),
    ("x and y, width and height are swapped", BOXES, lambda o: TURN(SWAP(o))),
    ("boxes are a pixel too large", BOXES, set_to(w=lambda o: o["w"] + 1, h=lambda o: o["h"] + 1)),
    ("categories are numbered too low by 1", {"boxes"}, set_to(category=lambda o: o["category"] - 1)),
    ("left and right joints are swapped", PEOPLE, joints_named(OTHER_SIDES)),
    ("the order of joints is shifted by 1", PEOPLE, joints_named([*JOINTS[1:], JOINTS[0]])),
    ("joints are named with other case", PEOPLE - {"poses"}, set_to(joint=lambda o: o["joint"].str.upper())),
    ("visibility is misread in the predictions", {"joints"}, NOWHERE),
    ("coordinates are half a pixel off", ALL - PEOPLE, set_to(x=lambda o: o["x"] + 0.5, y=lambda o: o["y"] + 0.5)),
    ("frames are numbered too high by 2", ALL, set_to(frame=lambda o: o["frame"] + 2)),
    ("frames are numbered too low by 3", ALL, set_to(frame=lambda o: o["frame"] - 3)),
    ("coordinates are 1", ALL, set_to(x=lambda o: o["x"] + 12, y=lambda o: o["y"] - 9)),
    ("coordinates are scaled by 1.05", ALL, scaled(1.05, 1.05)),
    ("coordinates are scaled by 1.5", ALL, scaled(1.5, 1.5)),
    ("boxes are a pixel too large (scattered)", BOXES, noisy_pixel),
    ("objects are found several times", ALL - PEOPLE, found_again),
    ("sequences are exchanged", ALL, exchanged_sequences),
    ("predictions lack sequences of the truth", ALL, without_some_sequences),
    ("coordinates are 1 (in half)", ALL, in_half(set_to(x=lambda o: o["x"] + 12, y=lambda o: o["y"] - 9))),
    ("frames are numbered too high by 2 (in half)", ALL, in_half(set_to(frame=lambda o: o["frame"] + 2))),
    ("categories are exchanged", {"boxes"}, set_to(category=lambda o: o["category"].map({1: 2, 2: 1, 3: 3, 4: 4}))),
    ("the same objects are listed twice", ALL, lambda o: pd.concat([o, o.assign(object=o["object"] + 10_000_000)])),
    ("the number of predictions in a frame is capped", ALL, capped),
    ("no sequence is the truth's", ALL, set_to(sequence=lambda o: o["sequence"] + 1000)),
    ("identities of the predictions are new in every", TRACKS, NEW),
    ("identities of the predictions only count the rows", TRACKS, ROWS),
]  # fmt: skip
PLANTED = [(name, kinds, in_predictions(change)) for name, kinds, change in PREDICTIONS] + [
    ("identities of the truth are new in every", TRACKS, in_truth(NEW)),
    ("identities of the truth only count the rows", TRACKS, in_truth(ROWS)),
    ("visibility is misread in the truth", PEOPLE, in_truth(lambda o: o.drop(columns="visibility"))),
    ("truth and predictions are exchanged", UNTRACKED - PEOPLE, exchanged),
    ("truth and predictions are exchanged (no scores)", UNTRACKED - PEOPLE, exchanged_without_scores),
    ("identities of the predictions are the same for all", TRACKS, in_predictions(set_to(object=lambda o: 1))),
]  # fmt: skip
# Mistakes that only such sets can have.
NEEDED = {"truth and predictions are exchanged (no scores)": {"counts": "truth"}}
NEEDED["identities of the predictions are the same for all"] = {"counts": "one at a time", "frames": 30}


def hits_of(kind: str, truth: sf.Annotations, claims: pd.DataFrame) -> float:
    """How many objects (people, of joints) a set has matched."""
    words = {"tau": 8.0} if "joint" in claims and kind != "poses" else KINDS[kind][1]
    found = sf.summarize(sf.match(truth, claims, frames="union", **{k: v for k, v in words.items() if k != "tracks"}))
    return float(found["tp"].iloc[0]) / (len(JOINTS) if kind in ("joints", "pose tracks") else 1)


def told_of(truth: sf.Annotations, claims: pd.DataFrame, kind: str) -> list[str]:
    return sf.check(truth, claims, **KINDS[kind][1])["suspicion"].tolist()


def sound(replicates: int) -> Iterator[dict[str, Any]]:
    """A row for each sound set: what it is like, and what is told."""
    for (of_kind, kind), n, seed in product(enumerate(KINDS), SEQUENCES, range(replicates)):
        random = np.random.default_rng([1, of_kind, n, seed])
        setting = drawn(random, n)
        yield {"kind": kind, **setting._asdict(), "told": "; ".join(told_of(*submission(kind, random, setting), kind))}


def planted(replicates: int) -> Iterator[dict[str, Any]]:
    """A row for each set with a mistake, of a detector that finds at least 40%."""
    for of_mistake, (name, kinds, plant) in enumerate(PLANTED):
        for (of_kind, kind), n, seed in product(enumerate(KINDS), SEQUENCES, range(replicates)):
            if kind not in kinds:
                continue
            random = np.random.default_rng([2, of_mistake, of_kind, n, seed])
            setting = drawn(random, n)
            good = {"found": max(0.4, setting.found), "alarms": min(1.0, setting.alarms), "counts": "free"}
            setting = setting._replace(**(good | NEEDED.get(name, {})))
            sides = submission(kind, random, setting)
            told, hits = told_of(*plant(*sides), kind), hits_of(kind, *sides)
            beginning, ending = name.split(" (")[0], " sequences" if "(in half)" in name else ""
            is_named = any(text.startswith(beginning) and text.endswith(ending) for text in told)
            yield {"kind": kind, **setting._asdict(), "mistake": name, "hits": hits, "is_named": is_named}


def print_alarms(rows: pd.DataFrame) -> None:
    alarm = rows["told"] != ""
    print(f"{len(rows):,} sound sets, {alarm.sum()} of which are suspected ({alarm.mean():.1%})")
    for column in ("kind", "sequences"):
        print("  " + ", ".join(f"{value}: {share:.1%}" for value, share in alarm.groupby(rows[column]).mean().items()))
    print(rows.loc[alarm, "told"].value_counts().to_string())


def print_found(rows: pd.DataFrame) -> None:
    hits = pd.cut(rows["hits"], HITS, right=False, labels=[f"{low} or more" for low in HITS[:-1]])
    print(f"mistakes found in {len(rows):,} sets, by the hits that the set has without the mistake")
    rows = rows.assign(hits=hits, is_named=rows["is_named"].astype("int64"))
    n_found, n = (
        rows.pivot_table("is_named", "mistake", "hits", aggfunc=of, observed=True, margins=True)
        for of in ("sum", "count")
    )
    print((n_found.map("{:.0f}".format) + " of " + n.map("{:.0f}".format)).to_string())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--replicates", type=int, default=22, help="sound sets of each kind and size; 1/22 of it planted"
    )
    replicates = parser.parse_args().replicates
    warnings.simplefilter("ignore")
    print_alarms(pd.DataFrame(sound(replicates)))
    print_found(pd.DataFrame(planted(max(1, replicates // 22))))
