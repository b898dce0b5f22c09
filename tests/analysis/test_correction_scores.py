"""Corrections are matched only as far as F1 can still become high enough, and the best one is found all the same."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from spotgeo_frames.analysis.mistakes.corrections import of_numbers, of_places
from spotgeo_frames.analysis.mistakes.scores import (
    best_correction,
    gained_objects,
    highest_f1,
    score,
)
from spotgeo_frames.matching import matcher
from spotgeo_frames.matching.rule import Rule

BOXES, POINTS = Rule("iou", threshold=0.5), Rule("distance", 10.0, 3.0)


def sides(seed: int, rule: Rule, crowds: bool) -> tuple[sf.Annotations, pd.DataFrame]:
    """Some truths, and predictions that find most of them, with x and y swapped in some frames."""
    random = np.random.default_rng(seed)
    frame = np.repeat(np.arange(12), 4)
    truth = pd.DataFrame({"sequence": 1, "frame": frame, "object": np.arange(48)})
    truth = truth.assign(x=random.uniform(0, 200, 48), y=random.uniform(0, 100, 48))
    if rule is BOXES:
        truth = truth.assign(w=random.uniform(20, 40, 48), h=random.uniform(20, 40, 48))
    claims = truth[random.random(48) < random.uniform(0.3, 1)]
    swapped = claims.assign(x=claims["y"], y=claims["x"])
    claims = claims.where(claims["frame"] < random.integers(13), swapped)
    if crowds:
        truth = truth.assign(crowd=random.random(48) < 0.3)
    return sf.Annotations(truth), claims


@pytest.fixture
def frame_by_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each frame is matched by itself."""
    monkeypatch.setattr(matcher, "frame_chunks", partial(matcher.frame_chunks, at_once=1))


@pytest.mark.parametrize("crowds", [False, True])
@pytest.mark.parametrize("rule", [BOXES, POINTS])
def test_the_best_correction_is_that_of_the_highest_f1(rule: Rule, crowds: bool, frame_by_frame: None) -> None:
    n_found = 0
    for seed in range(8):
        truth, claims = sides(seed, rule, crowds)
        now = score(truth, claims, rule)
        corrections = [*of_places(truth, claims, 10.0), *of_numbers(truth, claims, 10.0)]
        scores = [score(correction.truth, correction.predictions, rule).f1 for correction in corrections]
        assert max(scores) <= highest_f1(now, rule)
        for least in (0.0, now.f1, max(scores), np.nextafter(max(scores), 2)):
            best = best_correction(corrections, rule, now.f1, least)
            if max(scores) < least:
                assert best is None
            else:
                assert best is not None
                assert best[0] is corrections[int(np.argmax(scores))]
                assert best[1].f1 == max(scores)
                n_found += 1
    assert n_found >= 16


def test_matching_stops_where_f1_cannot_become_high_enough(
    frame_by_frame: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, _ = sides(0, POINTS, False)
    nowhere = truth.objects.assign(x=-1000.0)
    [swap, *_] = of_places(truth, nowhere, 10.0)
    n_solved, assign = [], matcher.assign
    monkeypatch.setattr(matcher, "assign", lambda *given: n_solved.append(1) or assign(*given))
    assert best_correction([swap], POINTS, 0.0, 0.7) is None
    assert len(n_solved) == 4, "of 12 frames; without their objects, F1 is at most 8 / 12"
    best = best_correction([swap, swap._replace(suspicion="the same again")], POINTS, 0.0, 0.0)
    assert best is not None
    assert best[0] is swap, "the first of equals"
    assert len(n_solved) == 4 + 12 + 12


def test_an_object_that_is_hit_after_the_correction_only_is_gained() -> None:
    truth, _ = sides(0, POINTS, False)
    rows = truth.objects
    swapped = rows.assign(x=rows["y"], y=rows["x"])
    before = score(truth, rows.where(rows["object"] < 10, swapped), POINTS)
    assert gained_objects(before, score(truth, rows, POINTS), POINTS) == (48 - len(before.pairs.truth), 0)
