"""Mistakes of tracks: each planted in sound trackers, and found; sound ones are not suspected."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused

Change = Callable[[pd.DataFrame], pd.DataFrame]
KEY = ["sequence", "frame"]


def tracker(
    seed: int = 0, n_sequences: int = 8, *, miss: float = 0.1, switch: float = 0.02, false: float = 0.2
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Walkers who come and go, and a tracker that misses some, gives some a new identity, and makes some up."""
    random = np.random.default_rng(seed)
    walkers = [
        (s, f, o, *(start + speed * f))
        for s in range(n_sequences)
        for o in range(6)
        for start, speed, ends in [
            (random.uniform(50, 600, 2), random.normal(0, 3, 2), np.sort(random.integers(0, 31, 2)))
        ]
        for f in range(*ends)
    ]
    truth = pd.DataFrame(walkers, columns=["sequence", "frame", "object", "x", "y"])
    truth = truth.sort_values(KEY, kind="stable", ignore_index=True).assign(frame=lambda t: t["frame"] + 1)
    # An identity ends wherever a switch begins a new one.
    follows = truth.groupby(["sequence", "object"])["x"].transform(lambda x: np.cumsum(random.random(len(x)) < switch))
    named = pd.factorize(pd.MultiIndex.from_arrays([truth["sequence"], truth["object"], follows]))[0]
    found = truth.assign(object=named)[random.random(len(truth)) >= miss]
    found = found.assign(**{axis: found[axis] + random.normal(0, 1, len(found)) for axis in "xy"})
    wrong = truth[KEY].drop_duplicates()
    wrong = wrong[random.random(len(wrong)) < false]
    wrong = wrong.assign(
        object=10_000 + np.arange(len(wrong)) // 3,
        **dict(zip("xy", random.uniform(0, 650, (2, len(wrong))), strict=True)),
    )
    return truth, pd.concat([found, wrong], ignore_index=True)


def as_boxes(*sides: pd.DataFrame) -> list[pd.DataFrame]:
    return [side.assign(w=30.0, h=60.0) for side in sides]


def as_joints(*sides: pd.DataFrame) -> list[pd.DataFrame]:
    joints = {"nose": 0.0, "head_top": -20.0, "left_knee": 60.0, "right_knee": 63.0}
    return [
        pd.concat([side.assign(joint=name, y=side["y"] + dy) for name, dy in joints.items()], ignore_index=True)
        for side in (side.assign(head_size=20.0) for side in sides)
    ]


KINDS = {"points": lambda *sides: list(sides), "boxes": as_boxes, "joints": as_joints}

PLANTED: dict[str, Change] = {
    "identities of the predictions are new in every frame": lambda o: o.assign(
        object=o["object"] + 100_000 * o["frame"]
    ),
    "identities of the predictions only count the rows of each frame": lambda o: o.assign(
        object=o.groupby(KEY)["object"].rank(method="dense").astype("int64") - 1
    ),
    "frames are numbered too low by 1": lambda o: o.assign(frame=o["frame"] - 1),
    "frames are numbered too high by 1": lambda o: o.assign(frame=o["frame"] + 1),
    "frames are numbered too high by 100": lambda o: o.assign(frame=o["frame"] + 100),
    "x and y are swapped": lambda o: o.assign(x=o["y"], y=o["x"]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mistake", PLANTED)
def test_planted_mistakes_are_found(mistake: str, kind: str) -> None:
    truth, claims = KINDS[kind](*tracker())
    [row] = sf.check(truth, PLANTED[mistake](claims), tracks=True).to_dict("records")
    assert row["suspicion"] == mistake
    if "identities" in mistake:
        assert row["f1"] == row["f1_corrected"]
    else:
        assert row["f1_corrected"] > row["f1"]


@pytest.mark.parametrize("kind", KINDS)
def test_sound_trackers_are_not_suspected(kind: str) -> None:
    for seed in range(6):
        options = {"miss": [0, 0.3][seed % 2], "switch": [0, 0.1, 0.5][seed % 3], "false": [0, 1][seed // 3]}
        truth, claims = KINDS[kind](*tracker(seed, [1, 4, 12][seed % 3], **options))
        assert sf.check(truth, claims, tracks=True).empty, options


@pytest.mark.parametrize("kind", KINDS)
def test_identities_may_begin_anew_in_each_sequence(kind: str) -> None:
    truth, claims = KINDS[kind](*tracker(1))
    own = claims.assign(object=claims.groupby("sequence")["object"].rank(method="dense").astype("int64"))
    assert sf.check(truth, own, tracks=True).empty
    assert sf.check(truth, own.assign(object="walker " + own["object"].astype("str")), tracks=True).empty
    assert sf.check(truth, truth, tracks=True).empty


def test_identities_of_the_truth() -> None:
    truth, claims = tracker(2)
    new = truth.assign(object=np.arange(len(truth)))
    assert sf.check(new, claims, tracks=True)["suspicion"].tolist() == [
        "identities of the truth are new in every frame"
    ]
    rows = truth.assign(object=truth.groupby(KEY).cumcount())
    [found] = sf.check(rows, claims, tracks=True)["suspicion"]
    assert found == "identities of the truth only count the rows of each frame"


def test_a_column_that_follows_is_named() -> None:
    truth, claims = tracker(3)
    rows = claims.assign(track=claims["object"], object=np.arange(len(claims)), noise=np.arange(len(claims))[::-1])
    [advice] = sf.check(truth, rows, tracks=True)["advice"]
    assert "such as in its column track" in advice


def test_one_identity_for_all() -> None:
    """In each of three sequences four objects come one after the other, ten frames each."""
    rows = [(s, f, f // 10, 100.0 * (f // 10), 50.0) for s in range(3) for f in range(40)]
    truth = pd.DataFrame(rows, columns=["sequence", "frame", "object", "x", "y"])
    [row] = sf.check(truth, truth.assign(object=1), tracks=True).to_dict("records")
    assert row["suspicion"] == "identities of the predictions are the same for all objects of a sequence"
    assert "12 objects have 3 identities" in row["advice"]
    alone = truth.assign(object=1)
    assert sf.check(alone, alone, tracks=True).empty, "one object a sequence"


def test_boxes_that_hardly_move() -> None:
    """Frames from 0 cost little F1 where the boxes hardly move, but the truth has no frame 0."""
    truth, claims = as_boxes(*tracker(4, miss=0, false=0))
    still = [side.assign(x=60.0 * side["object"], y=side["sequence"] * 1.0) for side in (truth, truth)]
    frames = truth[KEY].drop_duplicates()
    frames = pd.DataFrame([(s, f) for s in frames["sequence"].unique() for f in range(1, 31)], columns=KEY)
    low = still[1].assign(frame=still[1]["frame"] - 1)
    outside = low["frame"].min() == 0
    assert outside
    found = sf.check(sf.Annotations(still[0], frames), low, tracks=True)
    assert found["suspicion"].tolist() == ["frames are numbered too low by 1"]
    assert len(claims)


def test_few_steps_are_no_evidence() -> None:
    """Two objects of five frames go on eight times; ten are needed."""
    truth = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3, 4, 5] * 2, "object": [1] * 5 + [2] * 5, "y": 0.0})
    truth = truth.assign(x=50.0 * truth["object"])
    assert sf.check(truth, truth.assign(object=range(10)), tracks=True).empty


def test_nothing_to_check() -> None:
    truth, claims = tracker()
    assert sf.check(truth, claims.head(0), tracks=True)["suspicion"].tolist() == ["there are no predictions"]
    assert sf.check(truth.head(0), claims, tracks=True).empty
    assert sf.check(truth.head(0), claims.head(0), tracks=True).empty
    assert sf.check(truth.head(1), claims.head(1), tracks=True).columns.tolist()[0] == "suspicion"
    with refused(("threshold", "does not apply with tracks=True"), error=ValueError):
        sf.check(truth, claims, threshold=0.5, tracks=True)
    with refused("similarity, distance and tau do not apply to joints"):
        sf.check(*as_joints(truth, claims), tau=5, tracks=True)
    with refused("column joint"):
        sf.check(truth, *as_joints(claims), tracks=True)
    with refused("column joint"):
        sf.check(*as_joints(truth), claims, tracks=True)
