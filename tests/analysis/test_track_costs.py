"""What each kind of error costs in tracks and poses, evaluated again with that kind mended."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.problems import refused
from spotgeo_frames.analysis.errors.track_repairs import (
    mended_all,
    mended_errors,
    mended_gaps,
    mended_switches,
    track_rows,
)

Row = tuple[int, str, float]  # frame, identity, x


def tracks(*rows: Row, sequence: int = 1) -> pd.DataFrame:
    frame, identity, x = zip(*rows, strict=True) if rows else ((), (), ())
    columns = {"sequence": sequence, "frame": np.array(frame, np.int64), "object": pd.array(identity, "str")}
    return pd.DataFrame(columns | {"x": np.array(x, float), "y": 0.0})


def walk(identity: str, x: float, frames: str) -> list[Row]:
    """An object that stands at x, in the frames 1, 2, 3 ... that are not marked with a dot."""
    return [(number, identity, x) for number, mark in enumerate(frames, 1) if mark != "."]


def tracked(identities: str, x: float) -> list[Row]:
    """Predictions at x in the frames 1, 2, 3 ..., each under the identity of its letter; a dot is none."""
    return [(number, identity, x) for number, identity in enumerate(identities, 1) if identity != "."]


def costs_of(truth: list[Row], predictions: list[Row]) -> pd.DataFrame:
    return sf.error_costs(sf.track(tracks(*truth), tracks(*predictions))).set_index("kind")


# By hand: the identities found at two true objects, A at 0 px and B at 500 px (and what is predicted elsewhere); then
# the counts of switches and gaps, and MOTA, IDF1 and HOTA once the switches, and once the gaps are mended.
SCENES = {
    "nothing is wrong": (["aaaa", "bbbb"], [], (0, 0), (1, 1, 1), (1, 1, 1)),
    "exchanged and kept so": (["aabb", "bbaa"], [], (2, 0), (1, 1, 1), (0.75, 0.5, (1 / 3) ** 0.5)),
    "exchanged and back": (["aaba", "bbab"], [], (4, 0), (1, 1, 1), (0.5, 0.75, ((9 / 5 + 1 / 7) / 4) ** 0.5)),
    "a new identity": (["aacc", "bbbb"], [], (1, 0), (1, 1, 1), (7 / 8, 3 / 4, 0.75**0.5)),
    # The gap of A gets an a, which makes it whole.
    "a gap": (["a.aa", "bbbb"], [], (0, 1), (7 / 8, 14 / 15, (7 / 8 * (9 / 4 + 4) / 7) ** 0.5), (1, 1, 1)),
    # Somebody else is a in the gap, so it gets the c that comes after it: a c c c.
    "the identity before is taken": (
        ["a.cc", "bbbb"],
        [(2, "a", 900.0)],
        (1, 1),
        (6 / 8, 14 / 16, (7 / 9 * (9 / 5 + 4) / 7) ** 0.5),
        (6 / 8, 14 / 17, (8 / 9 * (1 / 5 + 9 / 4 + 4) / 8) ** 0.5),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENES)
def test_switches_and_gaps_by_hand(name: str) -> None:
    found, elsewhere, breaks, *expected = SCENES[name]
    truth = walk("A", 0, "1111") + walk("B", 500, "1111")
    predictions = [row for identities, x in zip(found, (0.0, 500.0), strict=True) for row in tracked(identities, x)]
    costs = costs_of(truth, predictions + elsewhere)
    assert tuple(costs.loc[["switch", "gap"], "n_breaks"]) == breaks
    got = costs.loc[["switch", "gap"], ["MOTA", "IDF1", "HOTA"]].to_numpy()
    np.testing.assert_allclose(got, np.array(expected), rtol=0, atol=1e-12)
    assert costs.loc["all", ["f1", "HOTA", "IDF1", "MOTA"]].tolist() == [1, 1, 1, 1]
    assert costs.loc["all", "n_breaks"] == sum(breaks)


def test_a_gap_stays_where_both_identities_are_taken() -> None:
    both = [(2, "a", 900.0), (2, "c", 950.0)]
    costs = costs_of(walk("A", 0, "111"), [*tracked("a.c", 0), *both])
    assert costs.loc["gap", ["n_misses", "n_breaks", "f1_gain", "HOTA_gain"]].tolist() == [1, 1, 0, 0]
    # As a lost object it gets an identity of its own.
    assert costs.loc["lost", ["n_misses", "f1"]].tolist() == [1, 6 / 8]


def test_a_truth_that_is_not_there_makes_no_gap() -> None:
    costs = costs_of(walk("A", 0, "11.1"), tracked("aa.a", 0))
    assert costs.loc["gap", ["n_misses", "n_breaks"]].tolist() == [0, 0]


def test_misses_are_mended_under_the_identity_before_else_after() -> None:
    """A is missed at the beginning, in the middle and at the end; C is never found."""
    truth = walk("A", 0, "1111111") + walk("C", 500, "1111111")
    costs = costs_of(truth, tracked(".aa.bb.", 0))
    # A is then a a a a b b b: one switch, and C an own identity.
    row = costs.loc["lost"]
    assert row[["n_misses", "n_false_alarms", "n_breaks", "f1"]].tolist() == [10, 0, 0, 1]
    assert row["MOTA"] == 13 / 14
    assert row["IDF1"] == 2 * 11 / (2 * 11 + 3 + 3)
    assert row["HOTA"] == pytest.approx(((4 * 4 / 7 + 3 * 3 / 7 + 7) / 14) ** 0.5)
    assert costs.loc["gap", "n_misses"] == 1


def test_a_mislocated_prediction_moves_and_keeps_its_identity() -> None:
    """Points are matched up to 10 px; at 15 px the similarity is still 0.25."""
    predictions = [(1, "a", 0.0), (2, "a", 15.0), (3, "a", 0.0)]
    costs = costs_of(walk("A", 0, "111"), predictions)
    assert costs.loc["mislocated", ["n_misses", "n_false_alarms", "f1", "HOTA", "IDF1", "MOTA"]].tolist() == [1] * 6
    assert costs.loc["mislocated", "MOTA_gain"] == pytest.approx(2 / 3)


def test_false_alarms_are_removed() -> None:
    costs = costs_of(walk("A", 0, "11"), [*tracked("aa", 0), (1, "x", 300.0), (2, "d", 1.0)])
    assert costs.loc["background", ["n_false_alarms", "MOTA"]].tolist() == [1, 0.5]
    assert costs.loc["duplicate", ["n_false_alarms", "MOTA"]].tolist() == [1, 0.5]
    assert costs.loc["all", "n_false_alarms"] == 2


def test_what_is_undefined_stays_null() -> None:
    nothing, some = tracks(), tracks(*walk("A", 0, "11"))
    costs = sf.error_costs(sf.track(nothing, some)).set_index("kind")
    assert costs["MOTA"].isna().all()
    assert costs.loc["lost", ["f1", "HOTA", "IDF1"]].tolist() == [0, 0, 0]
    assert costs.loc["all", ["f1", "HOTA", "IDF1"]].isna().all()  # nothing is left to count
    missed = sf.error_costs(sf.track(some, nothing)).set_index("kind")
    assert missed.loc["all", ["f1", "HOTA", "IDF1", "MOTA"]].tolist() == [1, 1, 1, 1]
    empty = sf.error_costs(sf.track(nothing, nothing))
    assert empty.drop(columns=["kind", "n_misses", "n_false_alarms", "n_breaks"]).isna().all(axis=None)


def random_sides(seed: int, n_frames: int = 8) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two sequences of three objects, found under identities that change, are lost, and turn up elsewhere."""
    random = np.random.default_rng(seed)
    sides: tuple[list[pd.DataFrame], list[pd.DataFrame]] = ([], [])
    for sequence in (1, 2):
        truth, predictions = [], []
        for frame in range(1, n_frames + 1):
            names = random.permutation(list("abcde")[: random.integers(3, 6)])
            for place, name in enumerate(names):
                if place < 3 and random.random() < 0.8:
                    truth.append((frame, "ABC"[place], 12.0 * place))
                if random.random() < 0.7:
                    predictions.append((frame, str(name), 12.0 * place + random.integers(-6, 7)))
        for side, rows in zip(sides, (truth, predictions), strict=True):
            side.append(tracks(*rows, sequence=sequence))
    return pd.concat(sides[0], ignore_index=True), pd.concat(sides[1], ignore_index=True)


def switched_by_loops(matches: pd.DataFrame) -> list[str | None]:
    """The identity of each row once every switch is mended: one exchange after the other, in all later rows."""
    rows = matches.to_dict("records")
    names = [None if row["outcome"] in ("FN", "empty") else row["predicted_object"] for row in rows]
    for position, row in enumerate(rows):
        if row["event"] != "switch":
            continue
        before = max(
            k
            for k, earlier in enumerate(rows[:position])
            if earlier["outcome"] == "TP"
            and (earlier["sequence"], earlier["truth_object"]) == (row["sequence"], row["truth_object"])
        )
        exchange = {names[before]: names[position], names[position]: names[before]}
        for k, later in enumerate(rows):
            if later["sequence"] == row["sequence"] and later["frame"] >= row["frame"]:
                names[k] = exchange.get(names[k], names[k])
    return names


@settings(max_examples=60)
@given(st.integers(0, 10_000))
def test_switches_are_mended_as_one_after_the_other(seed: int) -> None:
    matches = sf.track(*random_sides(seed)).matches
    rows = track_rows(matches)
    names = dict(zip(rows.predicted.tolist(), matches["predicted_object"], strict=True))
    got = [None if identity < 0 else names[identity] for identity in mended_switches(rows).identity.tolist()]
    assert got == switched_by_loops(matches)


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_mended_tables_are_sound(seed: int) -> None:
    result = sf.track(*random_sides(seed, 5))
    rows = track_rows(result.matches)
    wrong = rows.outcome > 0
    none = np.full(len(wrong), -1)
    for mended in (mended_errors(rows, wrong, none), mended_gaps(rows), mended_switches(rows), mended_all(rows)):
        there = np.flatnonzero(mended.identity >= 0)
        assert len({*zip(rows.frame[there], mended.identity[there], strict=True)}) == len(there)
    costs = sf.error_costs(result).set_index("kind")
    assert costs.loc["all", ["f1", "IDF1"]].tolist() == [1, 1]
    assert costs.loc["all", "HOTA_gain"] >= -1e-12
    summary = result.summary.iloc[-1]
    breaks = sf.identity_breaks(result)["break"].value_counts()
    assert costs.loc[["switch", "gap"], "n_breaks"].to_dict() == breaks.to_dict()
    assert costs.loc["switch", "n_breaks"] == summary["IDSW"]
    assert costs.loc["all", ["n_misses", "n_false_alarms"]].tolist() == [summary["FN"], summary["FP"]]
    now = (costs["HOTA"] - costs["HOTA_gain"]).to_numpy()
    np.testing.assert_allclose(now, summary["HOTA"], rtol=0, atol=1e-12)


def cut(predictions: sf.Annotations) -> sf.Annotations:
    """The same tracker, whose identities end every 30 frames."""
    o = predictions.objects
    return predictions._replace(objects=o.assign(object=o["object"] * 1000 + (o["frame"] - 1) // 30))


def test_a_tracker_whose_identities_are_cut(mot17: Path) -> None:
    truth, predictions = sf.read_motchallenge(mot17 / "gt", mot17 / "trackers/tracker_a/data", benchmark="MOT17")
    whole = sf.track(truth, predictions).summary.iloc[-1]["HOTA"]
    costs = sf.error_costs(sf.track(truth, cut(predictions))).set_index("kind")
    assert costs.loc["switch", "HOTA"] >= whole - 0.01 > costs.loc["gap", "HOTA"]
    assert costs.loc["all", "f1"] == 1


# --- poses ---


def people(*rows: tuple[int, int, str, float], **columns: float) -> pd.DataFrame:
    """Joints as (frame, object, joint, x)."""
    frame, identity, joint, x = zip(*rows, strict=True)
    return pd.DataFrame({"sequence": 1, "frame": frame, "object": identity, "joint": joint, "x": x}).assign(
        **({"y": 0.0} | columns)
    )


def test_poses_are_mended_joint_by_joint() -> None:
    """The wrists of two people are exchanged in the last two of four frames; their noses never are."""
    truth = people(*[(f, p, j, 100.0 * p) for f in range(4) for p in (1, 2) for j in ("nose", "right_wrist")])
    wrong = (truth["joint"] == "right_wrist") & (truth["frame"] >= 2)
    predictions = truth.assign(object=truth["object"].where(~wrong, 3 - truth["object"]))
    result = sf.pose(truth.assign(head_size=10.0), predictions)
    costs = sf.error_costs(result).set_index("kind")
    assert costs["IDF1"].isna().all()
    assert costs.loc["switch", ["n_breaks", "MOTA", "f1"]].tolist() == [2, 1, 1]
    # poseval leaves out the last frame: of the six wrists before it, two are switches; the nose has none.
    assert costs.loc["switch", "MOTA_gain"] == pytest.approx(1 - (4 / 6 + 1) / 2)
    assert costs.loc["lost", "MOTA"] * 100 == result.summary.iloc[-1]["mota"]


def test_costs_of_the_sample(poses: Path) -> None:
    result = sf.pose(*sf.read_posetrack(poses / "truth", poses / "tracker"))
    costs = sf.error_costs(result).set_index("kind")
    [counts] = sf.summarize(result.matches)[["fn", "fp", "f1"]].to_dict("records")
    assert costs.loc["all", ["n_misses", "n_false_alarms", "f1"]].tolist() == [counts["fn"], counts["fp"], 1]
    assert (costs["f1"] >= counts["f1"]).all()
    assert costs.loc["all", "MOTA"] == 1


# --- what is given ---


def test_results_that_lost_their_notes() -> None:
    truth = pl.from_pandas(tracks(*walk("A", 0, "1111")))
    result = sf.track(truth, pl.from_pandas(tracks(*tracked("aabb", 0))))
    with refused(("match table", "similarity", "give similarity=")):
        sf.error_costs(result)
    with refused(("match table", "give tau=")):
        sf.error_costs(result, similarity="point")
    costs = sf.error_costs(result, tau=10)
    assert isinstance(costs, pl.DataFrame)
    assert costs.filter(pl.col("kind") == "switch")["HOTA"].to_list() == [1.0]


def test_another_column_may_name_the_objects() -> None:
    truth = tracks(*walk("A", 0, "1111")).assign(track="t")
    predictions = tracks(*tracked("pqrs", 0)).assign(track=["a", "a", "b", "b"])
    result = sf.track(truth, predictions, identity="track")
    assert sf.error_costs(result).set_index("kind").loc["switch", "n_breaks"] == 1
    for table in result:
        table.attrs.pop("identity")
    with refused(("error_costs: matches", "column event", "truth_object", "identity=")):
        sf.error_costs(result)
    assert sf.error_costs(result, identity="track").set_index("kind").loc["switch", "n_breaks"] == 1
    with refused(("error_costs: matches", "truth_no_such", "identity=")):
        sf.error_costs(result, identity="no_such")


def test_a_similarity_of_the_callers_is_given_again() -> None:
    def measure(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
        return np.maximum(0, 1 - np.abs(truth["x"].to_numpy() - predictions["x"].to_numpy()) / 20)

    result = sf.track(tracks(*walk("A", 0, "1111")), tracks(*tracked("aab.", 2)), similarity=measure)
    with refused(("match table", "measure", "similarity=")):
        sf.error_costs(result)
    costs = sf.error_costs(result, similarity=measure).set_index("kind")
    assert costs.loc["all", ["n_misses", "f1", "MOTA"]].tolist() == [1, 1, 1]


def test_centres_of_boxes_stand_for_points() -> None:
    points = tracks(*walk("A", 0, "1111"))
    boxes = points.assign(x=-20.0, y=-20.0, w=40.0, h=40.0)
    for truth, predictions in ((boxes, points[:2]), (points, boxes[:2])):
        costs = sf.error_costs(sf.track(truth, predictions, tau=5)).set_index("kind")
        assert costs.loc["lost", ["n_misses", "HOTA"]].tolist() == [2, 1]


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ({"similarity": "iou"}, ("similarity", "'iou'", "'point'", "leave out")),
        ({"tau": 5}, ("tau", "5.0", "10.0", "leave out")),
        ({"similarity": "oks"}, ("similarity", "'oks'", "tracks")),
    ],
)
def test_words_that_are_not_those_of_the_result(words: dict[str, object], parts: tuple[str, ...]) -> None:
    sides = tracks(*walk("A", 0, "11"))
    with refused(parts, error=ValueError):
        sf.error_costs(sf.track(sides, sides), **words)


def test_words_that_do_not_go_with_what_is_given(poses: Path) -> None:
    sides = tracks(*walk("A", 0, "11"))
    with refused(("tau", "track()"), error=ValueError):
        sf.error_costs(sf.diagnose(sf.match(sides, sides)), tau=3)
    with refused(("pose()", "similarity and tau"), error=ValueError):
        sf.error_costs(sf.pose(*sf.read_posetrack(poses / "truth", poses / "tracker")), tau=3)
    with refused(("error_costs: column kind", "track()")):
        sf.error_costs(sf.track(sides, sides).matches)
