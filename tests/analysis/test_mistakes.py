"""Common mistakes: each planted in sound submissions, and found; sound ones are not suspected."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from helpers.scenes import objects

Change = Callable[[pd.DataFrame], pd.DataFrame]

PLANTED: dict[str, Change] = {
    "x and y are swapped": lambda o: o.assign(x=o["y"], y=o["x"]),
    "y is counted from the bottom edge": lambda o: o.assign(y=479 - o["y"]),
    "x is counted from the right edge": lambda o: o.assign(x=639 - o["x"]),
    "coordinates are half a pixel off": lambda o: o.assign(x=o["x"] + 0.5, y=o["y"] + 0.5),
    "coordinates are a pixel off": lambda o: o.assign(x=o["x"] - 1, y=o["y"] - 1),
    "coordinates are 5.0 px off": lambda o: o.assign(x=o["x"] - 3, y=o["y"] + 4),
    "frames are numbered too low by 1": lambda o: o.assign(frame=o["frame"] - 1),
    "frames are numbered too high by 1": lambda o: o.assign(frame=o["frame"] + 1),
    "sequences are numbered too low by 1": lambda o: o.assign(sequence=o["sequence"] - 1),
    "coordinates are normalised to 0 to 1": lambda o: o.assign(x=o["x"] / 640, y=o["y"] / 480),
    "coordinates are halved": lambda o: o.assign(x=o["x"] / 2, y=o["y"] / 2),
    "coordinates are doubled": lambda o: o.assign(x=o["x"] * 2, y=o["y"] * 2),
    "the same objects are listed twice": lambda o: pd.concat([o, o.assign(object=o["object"] + 1000)]),
    "the number of predictions in a frame is capped": lambda o: o[o.groupby(["sequence", "frame"]).cumcount() < 2],
}


def made_up(share: float, seed: int = 4) -> tuple[sf.Annotations, pd.DataFrame]:
    """Objects that keep their number through the five frames of a sequence, and a detector that finds some of them."""
    random = np.random.default_rng(seed)
    rows = [
        (sequence, frame, float(x + 8 * frame), float(y))
        for sequence in range(1, 81)
        for x, y in zip(*random.uniform([[20], [20]], [[590], [460]], (2, random.integers(1, 7))), strict=True)
        for frame in range(1, 6)
    ]
    truth = objects(sorted(rows, key=lambda row: row[:2]))
    frames = pd.DataFrame([(s, f) for s in range(1, 81) for f in range(1, 6)], columns=["sequence", "frame"])
    found = truth[random.random(len(truth)) < share]
    found = found.assign(**{axis: found[axis] + random.normal(0, 1, len(found)) for axis in "xy"})
    wrong = objects(
        [(*frames.iloc[k], *random.uniform(0, 480, 2)) for k in random.integers(0, len(frames), len(truth) // 5)]
    )
    claims = pd.concat([found, wrong.assign(object=wrong["object"] + 100)], ignore_index=True)
    return sf.Annotations(truth, frames), claims


@pytest.mark.parametrize("share", [0.95, 0.6, 0.35])
def test_sound_submissions_are_not_suspected(share: float) -> None:
    found = sf.check(*made_up(share))
    assert found.columns.tolist() == ["suspicion", "f1", "f1_corrected", "advice"]
    assert len(found) == 0


@pytest.mark.parametrize("share", [0.95, 0.6])
@pytest.mark.parametrize("mistake", PLANTED)
def test_planted_mistakes_are_found(mistake: str, share: float) -> None:
    truth, claims = made_up(share)
    now = sf.summarize(sf.match(truth, claims))["f1"].iloc[0]
    [found] = sf.check(truth, PLANTED[mistake](claims)).to_dict("records")
    assert found["suspicion"] == mistake
    if "capped" in mistake:
        assert np.isnan(found["f1_corrected"])
    else:
        assert found["f1_corrected"] == pytest.approx(now, abs=0.02)
    assert found["f1"] <= found["f1_corrected"] or np.isnan(found["f1_corrected"])


def test_exchanged_files() -> None:
    truth, claims = made_up(0.7)
    assert sf.check(claims, truth.objects)["suspicion"].tolist() == ["truth and predictions are exchanged"]
    scored = claims.head(40).assign(score=0.5)
    assert "truth and predictions are exchanged" in sf.check(scored, truth.objects)["suspicion"].tolist()
    assert len(sf.check(truth, claims.assign(score=0.5))) == 0


def test_two_mistakes_at_once() -> None:
    """The one that costs most comes first."""
    truth, claims = made_up(0.95)
    both = PLANTED["the same objects are listed twice"](claims).assign(x=lambda o: o["x"] + 0.5)
    found = sf.check(truth, both)["suspicion"].tolist()
    assert found == ["the same objects are listed twice", "coordinates are half a pixel off"]


def test_nothing_to_check() -> None:
    truth, claims = made_up(0.9)
    assert sf.check(truth, claims.head(0))["suspicion"].tolist() == ["there are no predictions"]
    assert len(sf.check(truth.objects.head(0), claims)) == 0
    elsewhere = claims.assign(sequence=claims["sequence"] + 5000)
    assert sf.check(truth, elsewhere)["suspicion"].tolist() == ["no sequence is the truth's"]
    with refused(("check: column sequence", "str", "predictions", "int64", "truth")):
        sf.check(truth, claims.assign(sequence=claims["sequence"].astype("str")))
    with refused(("check", "column joint")):
        sf.check(truth.objects.assign(joint="nose"), claims)
    with refused(("tau", "0", "epsilon 3"), error=ValueError):
        sf.check(truth, claims, tau=0)


@pytest.mark.parametrize("name", ["alpha", "beta", "gamma"])
def test_the_challenges_submissions(challenge: Path, name: str) -> None:
    truth = sf.read_spotgeo(challenge / "train_anno.json")
    found = sf.read_spotgeo(challenge / "submissions" / f"{name}.json")
    assert len(sf.check(truth, found)) == 0
    for mistake, change in PLANTED.items():
        told = sf.check(truth, change(found.objects))["suspicion"].tolist()
        assert told == [mistake] or ("5.0" in mistake and "px off" in told[0]), (mistake, told)
    assert sf.check(found, truth)["suspicion"].tolist() == ["truth and predictions are exchanged"]


def test_coordinates_that_cannot_be_doubled_are_only_those_of_one_trial() -> None:
    truth = pd.DataFrame({"sequence": 1, "frame": range(30), "object": 0, "x": 10.0, "y": 20.0})
    predictions = truth.assign(x=[1e308, *[10.0] * 29])
    assert sf.check(truth, predictions).empty
