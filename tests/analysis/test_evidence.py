"""How much evidence `check` asks for: each sign is told from the least count on, and not with one less."""

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.detectors import Detector, people
from helpers.scenes import objects


def told(truth: pd.DataFrame, claims: pd.DataFrame, **words: object) -> list[str]:
    return sf.check(truth, claims, **words)["suspicion"].tolist()


def in_a_row(n: int) -> pd.DataFrame:
    """Objects at 100, 300; 150, 300; 200, 300 ...: one a sequence, so that swapping x and y makes no pair."""
    return objects([(s, 1, 100.0 + 50 * (s % 3), 300.0 + 7 * s) for s in range(n)])


@pytest.mark.parametrize(("n", "expected"), [(5, ["x and y are swapped"]), (4, [])])
def test_five_objects_gain_a_hit(n: int, expected: list[str]) -> None:
    truth = in_a_row(n)
    assert told(truth, truth.assign(x=truth["y"], y=truth["x"])) == expected


@pytest.mark.parametrize(("n_lost", "expected"), [(0, ["frames are numbered too low by 1"]), (2, [])])
def test_objects_that_lose_their_hit_count_against(n_lost: int, expected: list[str]) -> None:
    """Six objects would gain one; of two others of the same sequences the frame is right, so four are gained net."""
    gained = in_a_row(6)
    lost = gained.head(n_lost).assign(frame=9, object=7)
    claims = pd.concat([gained.assign(frame=0), lost], ignore_index=True)
    assert told(pd.concat([gained, lost], ignore_index=True), claims) == expected


@pytest.mark.parametrize(("n", "expected"), [(5, ["left and right joints are swapped"]), (4, [])])
def test_a_person_is_one_piece_of_evidence(n: int, expected: list[str]) -> None:
    """A person has 16 joints with a side; half of the truth's joints are not labelled."""
    truth, _ = people(np.random.default_rng(2), Detector(sequences=40, most=1, frames=1))
    known = truth.objects[truth.objects["sequence"].isin(truth.objects["sequence"].unique()[:n])]
    sides = {"left": "right", "right": "left"}
    swapped = known["joint"].str.replace("left|right", lambda side: sides[side.group()], regex=True)
    claims = known.assign(joint=swapped).drop(columns="visibility")
    claims = claims[known["visibility"] > 0]
    assert told(known, claims, tau=2.0, epsilon=1.0) == expected


@pytest.mark.parametrize(("n", "expected"), [(20, ["truth and predictions are exchanged"]), (19, [])])
def test_twenty_sequences_are_exchanged(n: int, expected: list[str]) -> None:
    truth = in_a_row(n)
    assert told(truth.assign(score=0.5), truth) == expected


@pytest.mark.parametrize(("of_each", "expected"), [("own", ["truth and predictions are exchanged"]), ("four", [])])
def test_a_detector_that_always_gives_its_best_four(of_each: str, expected: list[str]) -> None:
    """Of 30 sequences of two frames with three objects, or one, the predictions have as many in both frames."""
    truth = objects([(s, f, 100.0 * k, 50.0) for s in range(30) for f in (1, 2) for k in range(1 + 2 * ((s + f) % 2))])
    counts = {"own": lambda s: 1 + s % 3, "four": lambda s: 4}[of_each]
    claims = objects([(s, f, 100.0 * k, 50.0) for s in range(30) for f in (1, 2) for k in range(counts(s))])
    assert told(truth, claims) == expected


@pytest.mark.parametrize(("n", "expected"), [(5, ["the same objects are listed twice"]), (4, [])])
def test_five_objects_are_listed_twice(n: int, expected: list[str]) -> None:
    truth = in_a_row(10)
    claims = pd.concat([truth, truth.head(n).assign(object=99)], ignore_index=True)
    assert told(truth, claims) == expected


def one_object(n_sequences: int, step: float) -> pd.DataFrame:
    """One object a sequence, for forty frames."""
    return objects([(s, f, 10.0 + step * f, 50.0) for s in range(n_sequences) for f in range(40)]).assign(object=1)


def test_a_tracker_that_loses_a_single_object_is_no_mistake_in_the_truth() -> None:
    """Two objects, each under four identities: eight are followed by two, at the speed of an object."""
    truth = one_object(2, 3.0)
    broken = truth.assign(object=truth["frame"] // 10)
    assert told(truth, broken, tracks=True) == told(broken, truth, tracks=True) == []


@pytest.mark.parametrize(("n_leaps", "expected"), [(6, ["predictions"]), (5, [])])
def test_an_identity_that_leaps(n_leaps: int, expected: list[str]) -> None:
    """Every five frames another object takes over, 100 px away."""
    truth = one_object(1, 1.0)
    nth = np.minimum(truth["frame"] // 5, n_leaps)
    truth = truth.assign(object=nth, x=truth["x"] + 100.0 * nth)
    expected = [f"identities of the {side} are the same for all objects of a sequence" for side in expected]
    assert told(truth, truth.assign(object=1), tracks=True) == expected
