"""Causes that `check` finds by fitting, and mistakes of some sequences; each planted in sound submissions."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.detectors import Detector, boxes
from helpers.scenes import objects

Change = Callable[[pd.DataFrame], pd.DataFrame]


def moving(
    n_sequences: int = 24, share: float = 0.8, seed: int = 1, speed: float = 8.0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Five objects a sequence that move through six frames, and a detector that finds a share, with false alarms."""
    random = np.random.default_rng(seed)
    n = 5 * n_sequences
    start, step = random.uniform(60, 420, (n, 2)), random.normal(0, speed, (n, 2))
    rows = [(k // 5, frame, *(start[k] + frame * step[k])) for k in range(n) for frame in range(6)]
    truth = objects(sorted(rows, key=lambda row: row[:2]))
    found = truth[random.random(len(truth)) < share]
    found = found.assign(**{axis: found[axis] + random.normal(0, 1, len(found)) for axis in "xy"})
    alarms = truth.iloc[random.integers(0, len(truth), len(truth) // 5)]
    x, y = random.uniform(0, 480, (2, len(alarms)))
    alarms = alarms.assign(object=100 + np.arange(len(alarms)), x=x, y=y)
    return truth, pd.concat([found, alarms], ignore_index=True).assign(score=lambda o: random.random(len(o)))


def told(truth: Any, claims: pd.DataFrame, **words: object) -> list[str]:
    return sf.check(truth, claims, **words)["suspicion"].tolist()


def scaled(factor: float) -> Change:
    return lambda o: o.assign(x=o["x"] * factor, y=o["y"] * factor)


def off(x: float, y: float) -> Change:
    return lambda o: o.assign(x=o["x"] + x, y=o["y"] + y)


def late(n: int) -> Change:
    return lambda o: o.assign(frame=o["frame"] + n)


def in_half(change: Change) -> Change:
    """The change in every second sequence."""

    def changed(o: pd.DataFrame) -> pd.DataFrame:
        odd = o["sequence"] % 2 == 1
        return pd.concat([o[~odd], change(o[odd])], ignore_index=True)

    return changed


def called(names: dict[int, int]) -> Change:
    return lambda o: o.assign(sequence=o["sequence"].replace(names))


def found_again(o: pd.DataFrame) -> pd.DataFrame:
    """Each prediction twice, some a third time, a pixel or two off and with lower scores."""
    random = np.random.default_rng(5)
    parts = [o]
    for copy, share in ((1, 1.0), (2, 0.5)):
        again = o[random.random(len(o)) < share]
        place = {axis: again[axis] + random.normal(0, 1.5, len(again)) for axis in "xy"}
        parts.append(again.assign(object=again["object"] + 1000 * copy, score=again["score"] * 0.9, **place))
    return pd.concat(parts, ignore_index=True)


CAUSES: dict[str, Change] = {
    "frames are numbered too high by 2": late(2),
    "frames are numbered too low by 3": late(-3),
    "frames are numbered too high by 2 ": lambda o: late(2)(o)[lambda o: o["frame"] <= 5],
    "coordinates are 15.0 px off": off(12, 9),
    "coordinates are scaled by 1.05": scaled(1.05),
    "coordinates are scaled by 0.95": scaled(0.95),
    "coordinates are scaled by 1.5": scaled(1.5),
    "sequences are exchanged": called({3: 7, 7: 3, 9: 11, 11: 15, 15: 9}),
    "sequences are exchanged ": called(dict(zip(range(24), np.roll(range(24), 5).tolist(), strict=True))),
    "sequences are numbered too high by 3": lambda o: o.assign(sequence=o["sequence"] + 3),
    "predictions lack sequences of the truth": lambda o: o[~o["sequence"].isin([2, 5, 6, 11, 19])],
    "predictions lack sequences of the truth ": lambda o: o[o["sequence"] < 16],
    "objects are found several times": found_again,
    "coordinates are 15.0 px off in 12 of 24 sequences": in_half(off(12, 9)),
    "coordinates are 5.0 px off in 12 of 24 sequences": in_half(off(3, -4)),
    "frames are numbered too high by 2 in 12 of 24 sequences": in_half(late(2)),
    "x and y are swapped in 12 of 24 sequences": in_half(lambda o: o.assign(x=o["y"], y=o["x"])),
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("cause", CAUSES)
def test_the_cause_alone_is_told(cause: str, seed: int) -> None:
    """What it explains, such as a mean offset, is not told beside it."""
    truth, claims = moving(seed=seed)
    [suspicion] = told(truth, CAUSES[cause](claims))
    of_both = [re.findall(r"([\d.]+) px", text) for text in (suspicion, cause)]
    for found, planted in zip(*of_both, strict=True):
        assert float(found) == pytest.approx(float(planted), abs=0.3)
    assert re.sub(r"[\d.]+ px", "px", suspicion) == re.sub(r"[\d.]+ px", "px", cause.strip())


@pytest.mark.parametrize("share", [1.0, 0.6, 0.3])
@pytest.mark.parametrize("speed", [0.0, 3.0, 15.0])
def test_sound_sets_are_silent(share: float, speed: float) -> None:
    for n_sequences in (1, 3, 24):
        assert told(*moving(n_sequences, share, speed=speed)) == []


def test_slow_objects_are_nearer_in_the_right_frame() -> None:
    """They match in any frame, and their mean offset looks like one of the coordinates."""
    truth, claims = moving(speed=0.0)
    truth, claims = (o.assign(x=o["x"] + 2.5 * o["frame"]) for o in (truth, claims))
    assert told(truth, late(1)(claims)) == ["frames are numbered too high by 1"]
    assert told(truth, off(2.5, 0)(claims)) == ["coordinates are 2.5 px off"]
    assert told(truth, in_half(late(2))(claims)) == ["frames are numbered too high by 2 in 12 of 24 sequences"]


def test_a_pixel_in_sizes_that_scatter() -> None:
    """Their centres are half a pixel off, which is no offset."""
    random = np.random.default_rng(2)
    truth, claims = boxes(random, Detector(sequences=80, noise=0.0, found=0.9))
    for pixel, cause in ((1, "boxes are a pixel too large"), (-1, "boxes are a pixel too small")):
        size = {side: np.maximum(claims[side] + random.normal(pixel, 1.5, len(claims)), 1) for side in "wh"}
        assert told(truth, claims.assign(**size)) == [cause]
    percent = claims.assign(w=claims["w"] * 1.04, h=claims["h"] * 1.04)
    assert told(truth, percent) == []


@pytest.mark.parametrize("names", [{"car": "bus", "bus": "car"}, {"car": "bus", "bus": "man", "man": "car"}])
def test_exchanged_classes(names: dict[str, str]) -> None:
    truth, claims = boxes(np.random.default_rng(3), Detector(sequences=40))
    words = {1: "car", 2: "bus", 3: "man", 4: "cat"}
    truth = truth._replace(objects=truth.objects.assign(category=truth.objects["category"].map(words)))
    claims = claims.assign(category=claims["category"].map(words))
    assert told(truth, claims) == []
    [found] = sf.check(truth, claims.assign(category=claims["category"].replace(names))).to_dict("records")
    assert found["suspicion"] == "categories are exchanged"
    assert "what is car is called bus" in found["advice"]
    assert found["f1_corrected"] == sf.summarize(sf.match(truth, claims))["f1"].iloc[0]


def test_crowded_truths_are_not_found_several_times() -> None:
    """Pairs of objects lie 4 px apart in the truth, too."""
    truth, claims = moving()
    both = [pd.concat([side, side.assign(object=side["object"] + 5000, x=side["x"] + 4)]) for side in (truth, claims)]
    assert told(*both) == []


def test_a_detector_that_finds_little_lacks_no_sequence() -> None:
    """One object a sequence, of which it finds a third, so that most sequences have no prediction."""
    truth, claims = moving(60, 0.3)
    one = claims[(claims["object"] == 0) & (claims["frame"] == 0)]
    assert told(truth[(truth["object"] == 0) & (truth["frame"] == 0)], one) == []
