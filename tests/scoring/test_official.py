"""Which official number a result is, in one sentence."""

import pandas as pd

import spotgeo_frames as sf
from helpers.scenes import objects
from spotgeo_frames.scoring import official

POINTS = objects([(1, 1, 10.0, 5.0), (1, 2, 30.0, 5.0)]), objects([(1, 1, 11.0, 5.0)])


def test_scores() -> None:
    server = "f1 and kelvins_mse as the spotGEO challenge's server computes them"
    assert official.of_matches(sf.match(*POINTS).attrs).startswith(server)
    changed = official.of_matches(sf.match(*POINTS, tau=5, epsilon=1).attrs)
    assert changed == "the spotGEO challenge's rule with tau=5; epsilon=1: comparable with no leaderboard"
    marked = POINTS[0].assign(ignore=[True, False])
    assert "1 ignored truths left out" in official.of_matches(sf.match(marked, POINTS[1]).attrs)
    boxes = [side.assign(w=10.0, h=10.0) for side in POINTS]
    assert "matched one to one by iou from 0.5 on" in official.of_matches(sf.match(*boxes).attrs)
    scored = [side.assign(score=0.5) for side in (*POINTS, *boxes)]
    by_score = [official.of_matches(sf.match(*both, assignment="score").attrs) for both in (scored[:2], scored[2:])]
    assert 'rule with assignment="score": comparable with no leaderboard' in by_score[0]
    assert "iou from 0.5 on, in the order of their scores" in by_score[1]
    least = official.of_matches(sf.match(*POINTS, assignment="least", power=1).attrs)
    assert least.startswith("gospa (alpha = 2) and ospa of each frame as Stone Soup computes them (c = 10 px, p = 1)")
    assert official.of_matches({}) == official.LOST


def test_tracks() -> None:
    boxes = [side.assign(w=10.0, h=10.0) for side in POINTS]
    assert sf.track(*boxes).provenance == official.TRACKEVAL
    marked = boxes[0].assign(ignore=[True, False])
    assert sf.track(marked, boxes[1]).provenance == (
        f"{official.TRACKEVAL}, 1 ignored truths taken out as MOTChallenge's kit takes distractors"
    )
    within = sf.track(*POINTS, tau=7).provenance
    assert within == "trackeval's rule with objects similar by point within 7 px: comparable with no leaderboard"


def test_the_text_of_a_result_has_the_line() -> None:
    boxes = [side.assign(w=10.0, h=10.0) for side in POINTS]
    result = sf.track(*boxes)
    assert result.provenance in repr(result)
    bare = result._replace(summary=pd.DataFrame({"sequence": [None]}))
    assert bare.provenance == official.LOST
    assert official.LOST not in repr(bare)
