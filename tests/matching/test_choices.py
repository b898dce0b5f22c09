"""How pairs are chosen: as many as possible, the least sum of GOSPA and OSPA, or by score; and what notes tell."""

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import spotgeo_frames as sf
from helpers.problems import refused
from helpers.scenes import grid, objects, squares
from spotgeo_frames.matching import MatchOptions, assignment, noted_rule, power_of

TAU = 10.0

# As many pairs as possible are two of 7 and 9 px; the least sum of squares is one of 1 px and two objects left over.
CROWDED = objects([(1, 1, 0, 0), (1, 1, 8, 0)]), objects([(1, 1, 7, 0), (1, 1, 17, 0)])


def pairs_of(matches: pd.DataFrame) -> list[tuple[Any, ...]]:
    """The pairs of a match table: sequence, frame, truth and prediction."""
    found = matches[matches["outcome"] == "TP"]
    return list(found[["sequence", "frame", "truth_object", "predicted_object"]].itertuples(index=False, name=None))


def least_sum(truth: np.ndarray, predictions: np.ndarray, power: float) -> float:
    """The least sum of all one-to-one assignments of two sets of points, (N, 2) and (M, 2)."""
    distance = np.hypot(*(truth[:, None] - predictions[None]).T).T
    left_over = TAU**power / 2
    best = left_over * (len(truth) + len(predictions))
    for n in range(1, min(distance.shape) + 1):
        for rows in combinations(range(len(truth)), n):
            for columns in permutations(range(len(predictions)), n):
                paired = np.minimum(distance[rows, columns], TAU) ** power
                best = min(best, paired.sum() + left_over * (len(truth) + len(predictions) - 2 * n))
    return best


def test_most_and_least_differ_in_crowded_frames() -> None:
    assert pairs_of(sf.match(*CROWDED)) == [(1, 1, 0, 0), (1, 1, 1, 1)]
    assert pairs_of(sf.match(*CROWDED, assignment="most")) == [(1, 1, 0, 0), (1, 1, 1, 1)]
    least = sf.match(*CROWDED, assignment="least")
    assert pairs_of(least) == [(1, 1, 1, 0)]
    assert least["gospa_error"].tolist() == [50.0, 1.0, 50.0]


def test_at_tau_a_pair_is_a_miss_and_a_false_alarm() -> None:
    sides = objects([(1, 1, 0, 0)]), objects([(1, 1, TAU, 0)])
    assert sf.match(*sides)["outcome"].tolist() == ["TP"]
    assert sf.match(*sides, assignment="least")["outcome"].tolist() == ["FN", "FP"]
    just_below = objects([(1, 1, np.nextafter(TAU, 0), 0)])
    assert sf.match(sides[0], just_below, assignment="least")["outcome"].tolist() == ["TP"]


def test_empty_frames_add_nothing() -> None:
    truth = sf.Annotations(objects([(1, 1, 0, 0)]), pd.DataFrame({"sequence": 1, "frame": [1, 2]}))
    matches = sf.match(truth, objects([]), assignment="least")
    assert matches["outcome"].tolist() == ["FN", "empty"]
    assert matches["gospa_error"].fillna(-1).tolist() == [50.0, -1.0]


@pytest.mark.parametrize("power", [1.0, 2.0, 3.5])
@pytest.mark.parametrize("spared", [1, assignment.LEAST_SPARED])
@settings(max_examples=60)
@given(st.integers(0, 100_000), st.integers(3, 30), st.booleans())
def test_least_is_the_least_of_all_assignments(power: float, spared: int, seed: int, size: int, moved: bool) -> None:
    random = np.random.default_rng(seed)
    truth, predictions = grid(random, 4, 4, size)
    if moved:
        predictions = predictions.assign(x=predictions["x"] + random.normal(0, 1, len(predictions)))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(assignment, "LEAST_SPARED", spared)
        patched.setattr(assignment, "CELLS_A_PAIR", -1 if spared == 1 else assignment.CELLS_A_PAIR)
        matches = sf.match(truth, predictions, TAU, assignment="least", power=power)
    assert not (matches["distance"] >= TAU).any()
    for key, rows in matches.groupby(["sequence", "frame"]):
        sides = [
            side[(side["sequence"] == key[0]) & (side["frame"] == key[1])][["x", "y"]].to_numpy()
            for side in (truth, predictions)
        ]
        assert rows["gospa_error"].sum() == pytest.approx(least_sum(*sides, power))


@pytest.mark.parametrize("power", [1.0, 2.0])
@pytest.mark.parametrize(("n_frames", "most", "size"), [(40, 60, 60), (4, 400, 300), (2, 900, 120)])
def test_least_of_large_frames_is_that_of_the_whole_matrix(power: float, n_frames: int, most: int, size: int) -> None:
    truth, predictions = grid(np.random.default_rng(most), n_frames, most, size)
    matches = sf.match(truth, predictions, TAU, assignment="least", power=power)
    for key, rows in matches.groupby(["sequence", "frame"]):
        one, other = (
            side[(side["sequence"] == key[0]) & (side["frame"] == key[1])][["x", "y"]].to_numpy()
            for side in (truth, predictions)
        )
        costs = np.minimum(np.hypot(*(one[:, None] - other[None]).T).T, TAU) ** power
        left_over = abs(len(one) - len(other)) * TAU**power / 2
        assert rows["gospa_error"].sum() == pytest.approx(costs[linear_sum_assignment(costs)].sum() + left_over)


def by_hand(truth: pd.DataFrame, predictions: pd.DataFrame) -> list[tuple[Any, ...]]:
    """What predictions choose, one after another: the nearest truth left, of equally near ones the last."""
    taken: set[tuple[Any, ...]] = set()
    pairs = []
    for claim in predictions.iloc[np.argsort(-predictions["score"].to_numpy(), kind="stable")].itertuples():
        of_frame = truth[(truth["sequence"] == claim.sequence) & (truth["frame"] == claim.frame)]
        near = []
        for known in of_frame.itertuples():
            distance = np.sqrt((claim.x - known.x) ** 2 + (claim.y - known.y) ** 2)
            if distance <= TAU and (known.sequence, known.frame, known.object) not in taken:
                near.append((distance, -known.object, known.object))
        if near:
            key = (claim.sequence, claim.frame, min(near)[2])
            taken.add(key)
            pairs.append((*key, claim.object))
    return pairs


@settings(max_examples=60)
@given(st.integers(0, 100_000), st.integers(3, 30))
def test_by_score_each_takes_the_nearest_that_is_left(seed: int, size: int) -> None:
    random = np.random.default_rng(seed)
    truth, predictions = grid(random, 6, 6, size)
    predictions["score"] = random.integers(0, 4, len(predictions)) / 4
    matches = sf.match(truth, predictions, TAU, assignment="score")
    assert sorted(pairs_of(matches)) == sorted(by_hand(truth, predictions))


def test_by_score_a_table_has_the_pairs_behind_an_average_precision() -> None:
    random = np.random.default_rng(3)
    truth = squares(*((x, "car") for x in random.uniform(0, 60, 12)))
    found = squares(*((x, "car", score) for x, score in zip(random.uniform(0, 60, 20), random.random(20), strict=True)))
    matches = sf.match(truth, found, similarity="iou", threshold=0.5, assignment="score")
    precision = sf.average_precision(truth, found, thresholds=[0.5]).matches
    assert sorted(pairs_of(matches)) == sorted(pairs_of(precision))
    assert pairs_of(matches) != pairs_of(sf.match(truth, found, similarity="iou", threshold=0.5))


def test_by_score_an_ignored_truth_comes_last() -> None:
    truth = objects([(1, 1, 0, 0), (1, 1, 5, 0)], ignore=[True, False])
    matches = sf.match(truth, objects([(1, 1, 0, 0)], score=[0.5]), assignment="score")
    assert pairs_of(matches) == [(1, 1, 1, 0)]


@pytest.mark.parametrize(
    "words", [{"assignment": "least"}, {"assignment": "least", "power": 1}, {"assignment": "score"}]
)
def test_the_notes_tell_the_assignment_and_what_matches_again_follows_it(words: dict[str, Any], tmp_path: Any) -> None:
    truth, predictions = CROWDED[0], CROWDED[1].assign(score=[0.1, 0.9])
    matches = sf.match(truth, predictions, **words)
    expected = {"power": 2.0} | words if words["assignment"] == "least" else words
    assert {name: matches.attrs[name] for name in ("assignment", "power") if name in matches.attrs} == expected
    matches.to_parquet(tmp_path / "matches.parquet")
    assert pd.read_parquet(tmp_path / "matches.parquet").attrs == matches.attrs
    rule = noted_rule.noted_rule(sf.match(truth, predictions, **words), MatchOptions())
    assert (rule.assignment, rule.power) == (expected["assignment"], expected.get("power"))


def test_notes_that_polars_has_lost_are_told_by_the_errors() -> None:
    bare = sf.match(*CROWDED, assignment="least")
    bare.attrs = {}
    rule = noted_rule.noted_rule(bare, MatchOptions(TAU))
    assert (rule.assignment, rule.power, power_of(bare)) == ("least", 2.0, 2.0)
    cubes = sf.match(*CROWDED, assignment="least", power=3)
    cubes.attrs = {}
    assert "gospa" not in sf.summarize(cubes)
    with refused(("match table", "power")):
        noted_rule.noted_rule(cubes, MatchOptions(TAU))


def test_notes_do_not_name_the_usual_assignment() -> None:
    assert sf.match(*CROWDED, assignment="most").attrs == sf.match(*CROWDED).attrs


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ({"assignment": "fewest"}, "assignment is 'fewest'"),
        ({"power": 2}, "power"),
        ({"assignment": "score", "power": 2}, "power"),
        ({"assignment": "least", "power": 0.5}, "power is 0.5"),
        ({"assignment": "least", "power": float("inf")}, "power is inf"),
        ({"assignment": "least", "power": True}, "power is True"),
        ({"assignment": "least", "power": 1000}, "tau is 10 and power 1000"),
        ({"assignment": "least", "similarity": "point"}, "similarity"),
        ({"assignment": "least", "threshold": 0.5}, "threshold"),
    ],
)
def test_words_that_do_not_fit_are_refused(words: dict[str, Any], named: str) -> None:
    with refused(named, error=ValueError):
        sf.match(*CROWDED, **words)


def test_tables_that_do_not_fit_are_refused() -> None:
    truth, predictions = CROWDED
    boxes = squares((0.0, "a"))
    with refused("assignment='least'"):
        sf.match(boxes, boxes, assignment="least")
    assert len(sf.match(boxes, boxes, TAU, assignment="least"))
    with refused(("predictions: column score", "assignment='score'")):
        sf.match(truth, predictions, assignment="score")
    with refused(("predictions: column score", "null")):
        sf.match(truth, predictions.assign(score=[0.5, np.nan]), assignment="score")
    with refused("assignment does not apply with tracks=True", error=ValueError):
        sf.check(truth, predictions, assignment="least", tracks=True)
