"""Makes the sample in data/poses: python data/make_poses.py, from the project's root.

Two sequences of people who walk past each other, as PoseTrack folders: at the corner few, in the street more. Who walks
further away is smaller, and where somebody nearer is in front, joints are not annotated. The crowd at the back of the
street is an ignore region; every tenth frame is not labelled. One tracker looks at them: arms and legs, which swing, it
places less exactly than head and trunk; who walks behind somebody it may lose, and take for somebody else when they
come out again; and now and then it sees a person in the crowd, or where nobody is.

Seeded: the files come out the same each time.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from spotgeo_frames.geometries.joints import EARS, RAW_JOINTS

FOLDER = Path(__file__).parent / "poses"
N_FRAMES, WIDTH = 50, 960
SEQUENCES = {"corner": 3, "street": 5}
CROWD = [[20, 300, 300, 20], [40, 40, 120, 120]]  # x, then y of its corners

# Joints of somebody standing, x and y in shares of the height from the middle of the hips; and how far each swings.
BODY = {
    "nose": (0.02, -0.42, 0.0),
    "head_bottom": (0.0, -0.34, 0.0),
    "head_top": (0.0, -0.5, 0.0),
    "shoulder": (0.1, -0.31, 0.01),
    "elbow": (0.12, -0.16, 0.05),
    "wrist": (0.12, -0.01, 0.11),
    "hip": (0.06, 0.0, 0.01),
    "knee": (0.06, 0.25, 0.07),
    "ankle": (0.06, 0.48, 0.14),
}
HEAD = (0.07, 0.14)  # width and height


def body(height: float, phase: float) -> np.ndarray:
    """The joints (17, 2) of a walker, from the middle of the hips, px."""
    joints = []
    for name in RAW_JOINTS:
        side, _, joint = name.partition("_") if name.startswith(("left", "right")) else ("", "", name)
        x, y, swing = BODY.get(joint or name, (0.0, 0.0, 0.0))
        turn = {"left": 1, "right": -1}.get(side, 0)
        # An arm swings against the leg of its side.
        forward = np.sin(phase + (np.pi if joint in ("elbow", "wrist") else 0)) * turn
        joints.append((turn * x * 0.6 + forward * swing, y))
    return height * np.array(joints)


def make_truth(n_walkers: int, random: np.random.Generator) -> list[list[dict[str, Any]]]:
    """The people of each frame, the nearest last: `identity`, `joints` (17, 2), `seen` (17), `height`."""
    height = np.sort(random.uniform(110, 260, n_walkers))
    speed = np.where(np.arange(n_walkers) % 2, 1, -1) * random.uniform(0.05, 0.09, n_walkers) * height
    start = np.where(speed > 0, random.uniform(60, 300, n_walkers), random.uniform(600, 900, n_walkers))
    frames = []
    for t in range(N_FRAMES):
        people = []
        for k in range(n_walkers):
            middle = np.array([start[k] + speed[k] * t, 190 + 0.55 * height[k]])
            joints = middle + body(height[k], 0.5 * t + 2 * k)
            people.append({"identity": k, "joints": joints, "height": height[k], "middle": middle})
        for k, person in enumerate(people):
            front = [
                abs(person["joints"][:, 0] - other["middle"][0]) < 0.13 * other["height"] for other in people[k + 1 :]
            ]
            person["seen"] = ~np.any(front, axis=0) if front else np.ones(len(RAW_JOINTS), bool)
            person["seen"][list(EARS)] = False
            person["seen"] &= (person["joints"][:, 0] > 0) & (person["joints"][:, 0] < WIDTH)
        frames.append([person for person in people if person["seen"].sum() > 2])
    return frames


def keypoints(joints: np.ndarray, seen: np.ndarray) -> list[float]:
    """As the format has them: x, y and 1, or three zeros."""
    return np.column_stack([np.where(seen[:, None], joints.round(1), 0.0), seen]).ravel().tolist()


def box(joints: np.ndarray) -> list[float]:
    """Left, top, width and height of a person, seen or not."""
    body_joints = np.delete(joints, list(EARS), axis=0)
    low, high = body_joints.min(axis=0), body_joints.max(axis=0)
    return [*low.round(1).tolist(), *(high - low).round(1).tolist()]


def annotated(person: dict[str, Any]) -> dict[str, Any]:
    size = person["height"] * np.array(HEAD)
    corner = person["joints"][RAW_JOINTS.index("head_top")] - [size[0] / 2, 0]
    head = [*corner.round(1).tolist(), *size.round(1).tolist()]
    joints = keypoints(person["joints"], person["seen"])
    return {"track_id": person["identity"], "keypoints": joints, "bbox": box(person["joints"]), "bbox_head": head}


def tracked(identity: int, joints: np.ndarray, seen: np.ndarray, scores: np.ndarray) -> dict[str, Any]:
    sides = {"keypoints": keypoints(joints, seen), "bbox": box(joints)}
    return {"track_id": identity, **sides, "scores": scores.tolist()}


def make_tracker(truth: list[list[dict[str, Any]]], random: np.random.Generator) -> list[list[dict[str, Any]]]:
    """What the tracker reports in each frame."""
    swing = np.array([BODY.get(name.split("_")[-1], BODY.get(name, (0, 0, 0)))[2] for name in RAW_JOINTS])
    names, lost, newest, frames = dict[int, int](), dict[int, int](), 0, []
    for t, people in enumerate(truth):
        found = []
        for person in people:
            who, share = person["identity"], person["seen"].sum() / 15
            if random.random() > 0.15 + 0.83 * share:
                lost[who] = lost.get(who, 0) + 1
                continue
            if who not in names or (lost.pop(who, 0) > 0 and random.random() < 0.6):
                newest += 1
                names[who] = newest
            blur = person["height"] * (0.012 + 0.14 * swing + 0.02 * (1 - share))
            joints = person["joints"] + random.normal(0, 1, (len(RAW_JOINTS), 2)) * blur[:, None]
            there = person["seen"] & (random.random(len(RAW_JOINTS)) < 0.97 - 0.6 * swing)
            scores = np.clip(random.normal(0.9 - 2 * swing, 0.08), 0.05, 1).round(2)
            found.append(tracked(names[who], joints, there, scores))
        if random.random() < 0.25:
            newest += 1
            x, y = (
                random.uniform([40, 70], [280, 90]) if random.random() < 0.5 else random.uniform([100, 250], [860, 320])
            )
            ghost = np.array([x, y]) + body(60, t)
            scores = random.uniform(0.1, 0.6, len(RAW_JOINTS)).round(2)
            seen = np.isin(np.arange(len(RAW_JOINTS)), EARS, invert=True)
            found.append(tracked(newest, ghost, seen, scores))
        frames.append(found)
    return frames


def write(path: Path, images: list[dict[str, Any]], frames: list[list[dict[str, Any]]]) -> None:
    """A file of the format, an annotation a line."""
    people = [{"image_id": one["id"], **person} for one, some in zip(images, frames, strict=True) for person in some]
    categories = [{"id": 1, "name": "person", "keypoints": RAW_JOINTS}]
    lists = {"images": images, "annotations": people, "categories": categories}
    parts = [f'"{name}": [\n' + ",\n".join(map(json.dumps, entries)) + "\n]" for name, entries in lists.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{" + ",\n".join(parts) + "}\n")


def main() -> None:
    random = np.random.default_rng(21)
    for number, (name, n_walkers) in enumerate(SEQUENCES.items()):
        regions = CROWD if name == "street" else None
        images = [
            {
                "id": 10_000 * (number + 1) + t,
                "is_labeled": t % 10 != 9,
                "ignore_regions_x": [regions[0]] if regions else [],
                "ignore_regions_y": [regions[1]] if regions else [],
            }
            for t in range(N_FRAMES)
        ]
        truth = make_truth(n_walkers, random)
        labelled = [
            [annotated(person) for person in people] if one["is_labeled"] else []
            for one, people in zip(images, truth, strict=True)
        ]
        write(FOLDER / "truth" / f"{name}.json", images, labelled)
        write(FOLDER / "tracker" / f"{name}.json", images, make_tracker(truth, random))


if __name__ == "__main__":
    main()
