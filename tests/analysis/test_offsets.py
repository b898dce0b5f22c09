"""Offsets: of points, boxes, joints and whole poses, and what removing them gives."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.kinds import of_kind, plain
from helpers.problems import refused
from helpers.scenes import grid, objects

POINTS = ["dx", "dy", "f1", "mse", "f1_corrected", "mse_corrected"]
BOXES = ["dx", "dy", "width_ratio", "height_ratio", "f1", "loc_a", "f1_corrected", "loc_a_corrected"]
SIGMAS = {"nose": 0.05, "hip": 0.05, "knee": 0.05}


def boxes(rows: list[tuple[float, float, float, float]]) -> pd.DataFrame:
    """Boxes of one frame: left, top, width, height."""
    table = pd.DataFrame(rows, columns=["x", "y", "w", "h"], dtype="float64")
    return table.assign(sequence=1, frame=1, object=range(len(rows)))


def estimates(matches: pd.DataFrame, **words: object) -> pd.Series:
    return sf.bias(matches, **words).set_index("metric")["estimate"]


def test_points() -> None:
    random = np.random.default_rng(2)
    truth = objects([(s, f, *random.uniform(0, 600, 2)) for s in range(40) for f in range(5) for _ in range(3)])
    noise = random.normal(0, 0.5, (len(truth), 2))
    moved = truth.assign(x=truth["x"] + 4 + noise[:, 0], y=truth["y"] - 2 + noise[:, 1])
    matches = sf.match(truth, moved)
    found = sf.bias(matches).set_index("metric")
    assert found.index.tolist() == ["dx", "dy", "f1", "mse", "f1_corrected", "mse_corrected"]
    for axis, offset in (("dx", 4), ("dy", -2)):
        row = found.loc[axis]
        assert row["low"] < row["estimate"] < row["high"]
        assert row["estimate"] == pytest.approx(offset, abs=0.1)
    assert found.loc["mse", "estimate"] == pytest.approx(sf.summarize(matches)["mse"].iloc[0])
    assert found.loc["mse", "estimate"] > 15
    assert found.loc["mse_corrected", "estimate"] == 0, "within epsilon"
    back = moved.assign(x=moved["x"] - found.loc["dx", "estimate"], y=moved["y"] - found.loc["dy", "estimate"])
    again = sf.summarize(sf.match(truth, back))
    assert found.loc[["f1_corrected", "mse_corrected"], "estimate"].tolist() == again[["f1", "mse"]].iloc[0].tolist()


def test_truths_alone() -> None:
    """In slices that false alarms cannot be in, f1 and mse are not known, corrected or not."""
    truth, predictions = grid(np.random.default_rng(1), 60, 4, 30)
    matches = sf.match(truth, predictions)
    found = sf.bias(matches, by=pd.cut(matches["truth_x"], 2)).set_index("metric")["estimate"]
    assert found[["dx", "dy"]].notna().all()
    assert found[["f1", "mse", "f1_corrected", "mse_corrected"]].isna().all()
    with refused(("bias", "match table")):
        sf.bias(matches.head(0))
    bare = pd.DataFrame(matches)
    bare.attrs = {}
    with refused(("match table", "give tau=")):
        sf.bias(bare)
    pd.testing.assert_series_equal(sf.bias(bare, tau=10, epsilon=3)["estimate"], sf.bias(matches)["estimate"])


def test_groups() -> None:
    """Of two sensors, one is off by 12 px, which is beyond tau for most; of the other nothing changes."""
    random = np.random.default_rng(2)
    truth = objects([(s, f, *random.uniform(0, 600, 2)) for s in range(40) for f in range(5)])
    frames = truth[["sequence", "frame"]].assign(sensor=np.where(truth["sequence"] % 2, "a", "b"))
    off = (truth["sequence"] % 2) * random.uniform(4, 12, len(truth))
    matches = sf.match(sf.Annotations(truth, frames), truth.assign(x=truth["x"] + off))
    found = sf.bias(matches, by="frame_sensor").set_index(["frame_sensor", "metric"])["estimate"]
    assert found["b", "dx"] == 0
    assert found["b", "f1_corrected"] == found["b", "f1"] == 1
    assert found["a", "f1"] < found["a", "f1_corrected"] == 1
    by_truth = sf.bias(matches, by="truth_object").set_index("metric")
    assert by_truth.loc["f1_corrected", "estimate"] is np.nan or np.isnan(by_truth.loc["f1_corrected", "estimate"])
    nothing = sf.bias(sf.match(truth, truth.assign(x=truth["x"] + 1000)))
    assert nothing["estimate"].isna().tolist() == [True, True, False, False, True, True]


def test_categories_are_corrected_apart_within_a_frame() -> None:
    """Of two classes that share all frames, the boxes of one lie 6 of 10 px too far right: an IoU of 4 / 16."""
    truth = boxes([(0, 0, 10, 10), (100, 0, 10, 10)]).assign(category=["car", "bus"])
    claims = boxes([(6, 0, 10, 10), (100, 0, 10, 10)]).assign(category=["car", "bus"])
    found = sf.bias(sf.match(truth, claims, threshold=0.2), by="category")
    found = found.set_index(["category", "metric"])["estimate"]
    assert found["car", "dx"] == 6
    assert [found[name, "loc_a_corrected"] for name in ("bus", "car")] == [1, 1]
    assert found["car", "loc_a"] == 0.25


def test_boxes_by_hand() -> None:
    """Both are 2 px wider than the truth, about centres that lie 1 px too far right, so their IoU is 10 / 12."""
    truth = boxes([(0, 0, 10, 10), (100, 0, 10, 10)])
    found = estimates(sf.match(truth, truth.assign(w=12.0)))
    assert found.index.tolist() == BOXES
    assert found.tolist() == pytest.approx([1, 0, 1.2, 1, 1, 10 / 12, 1, 1])


def test_ratios_have_a_geometric_mean() -> None:
    """One box is a quarter wider, the other a fifth narrower; the arithmetic mean would say 1.025."""
    truth = boxes([(0, 0, 10, 10), (100, 0, 10, 10)])
    found = estimates(sf.match(truth, truth.assign(w=[12.5, 8.0])))
    assert found["width_ratio"] == pytest.approx(1)
    assert found["dx"] == pytest.approx((1.25 - 1) / 2)
    assert found["f1_corrected"] == 1


def test_boxes_that_were_missed_come_back() -> None:
    """An IoU of 8 / 12 is found at 0.5, one of 6 / 14 is not; without the mean offset of 2 px of the one, both are."""
    truth = boxes([(0, 0, 10, 10), (100, 0, 10, 10)])
    found = estimates(sf.match(truth, truth.assign(x=[2.0, 104.0])))
    assert found[["dx", "f1", "loc_a"]].tolist() == pytest.approx([2, 0.5, 8 / 12])
    assert found[["f1_corrected", "loc_a_corrected"]].tolist() == pytest.approx([1, (1 + 8 / 12) / 2])


def test_boxes_by_their_centres() -> None:
    """Flat boxes have a place, and no ratio; matching by distance has mse."""
    truth = boxes([(0, 0, 10, 0), (100, 0, 10, 0)])
    matches = sf.match(truth, truth.assign(y=4.0, w=5.0), tau=10, epsilon=1)
    found = estimates(matches)
    assert found.index.tolist() == ["dx", "dy", "width_ratio", "height_ratio", *POINTS[2:]]
    assert found[["dx", "dy", "width_ratio"]].tolist() == pytest.approx([-2.5, 4, 0.5])
    assert np.isnan(found["height_ratio"])
    assert found[["mse", "mse_corrected"]].tolist() == pytest.approx([2.5**2 + 4**2, 0])


def people(**offsets: tuple[float, float]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two people of three joints, 100 px apart, and a detector whose joints lie off by these offsets (px).

    The knee of the second person is not labelled.
    """
    rows = [(k, joint, 100.0 * k, 10.0 * y) for k in range(2) for y, joint in enumerate(SIGMAS)]
    truth = pd.DataFrame(rows, columns=["object", "joint", "x", "y"]).assign(sequence=1, frame=1, area=400.0)
    dx, dy = (truth["joint"].map({joint: offsets.get(joint, (0.0, 0.0))[k] for joint in SIGMAS}) for k in (0, 1))
    predictions = truth.drop(columns="area").assign(x=truth["x"] + dx, y=truth["y"] + dy)
    return truth.assign(visibility=[2, 2, 2, 2, 2, 0]), predictions


def test_whole_poses_by_hand() -> None:
    """Of five labelled joints two are noses, 2 px off; the unlabelled knee counts nowhere."""
    matches = sf.match(*people(nose=(2, -1), knee=(0, 5)), similarity="oks", sigmas=SIGMAS, threshold=0.3)
    found = estimates(matches)
    assert found.index.tolist() == ["dx", "dy", "f1", "loc_a", "f1_corrected", "loc_a_corrected"]
    assert found[["dx", "dy", "f1"]].tolist() == pytest.approx([4 / 5, (5 - 2) / 5, 1])
    by_joint = sf.bias(matches, by="joint")
    assert by_joint.columns.tolist() == ["joint", "metric", "estimate", "low", "high", "reason"]
    table = by_joint.pivot_table("estimate", "joint", "metric").loc[list(SIGMAS)]
    assert table["dx"].tolist() == [2, 0, 0]
    assert table["dy"].tolist() == [-1, 0, 5]
    # d² is 5 of a nose and 25 of a knee; 2 s² k² = 2 * 400 * 0.1² = 8.
    nose, knee = np.exp(-5 / 8), np.exp(-25 / 8)
    assert table["loc_a"].tolist() == pytest.approx([((nose + 1 + knee) / 3 + (nose + 1) / 2) / 2] * 3)
    assert table["loc_a_corrected"].tolist() == pytest.approx(
        [((2 + knee) / 3 + 1) / 2, table["loc_a"].iloc[0], ((nose + 2) / 3 + (nose + 1) / 2) / 2]
    )


def test_nothing_found() -> None:
    """Of nothing there is no offset; F1 is 0, and nothing would correct it."""
    truth, predictions = people()
    sides = (truth, predictions.assign(x=predictions["x"] + 1e4)), (truth, predictions.head(0))
    for matches in (sf.match(*both, similarity="oks", sigmas=SIGMAS) for both in sides):
        found = estimates(matches)
        assert found["f1"] == 0
        assert found.drop("f1").isna().all()
        assert len(sf.bias(matches, by="joint")) == 3 * 6


def test_joints_of_groups() -> None:
    """A joint has an offset in each group; of the noses in sequence 2 all are off."""
    sides = [pd.concat([side, side.assign(sequence=2)], ignore_index=True) for side in people()]
    off = (sides[1]["sequence"] == 2) & (sides[1]["joint"] == "nose")
    matches = sf.match(sides[0], sides[1].assign(x=sides[1]["x"] + off), similarity="oks", sigmas=SIGMAS)
    for by in (["joint", "sequence"], {"sequence": None, "joint": None}):
        found = sf.bias(matches, by=by)
        dx = found[found["metric"] == "dx"].set_index(["sequence", "joint"])["estimate"]
        assert dx.to_dict() == {(s, joint): float(s == 2 and joint == "nose") for s in (1, 2) for joint in SIGMAS}


def test_joints_one_by_one_are_points() -> None:
    """A column of joints is a column like any other; w and h that people carry do not move their joints."""
    truth, predictions = people(nose=(2, 0), hip=(0, 1))
    matches = sf.match(truth.assign(w=50.0, h=80.0), predictions.assign(w=10.0, h=10.0), epsilon=0)
    found = sf.bias(matches, by="joint")
    assert found["metric"].tolist() == POINTS * 3
    assert found[found["metric"] == "dx"].set_index("joint")["estimate"].to_dict() == {"hip": 0, "knee": 0, "nose": 2}
    assert found[found["metric"] == "mse_corrected"]["estimate"].tolist() == [0, 50, 0], "of two knees one is not there"


def test_a_similarity_of_the_callers() -> None:
    """It is no note, so it is given again; it may ask for any column."""

    def alike(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
        distance = np.hypot(truth["x"] - predictions["x"], truth["y"] - predictions["y"])
        return np.maximum(0, 1 - distance / 10) * (truth["colour"].to_numpy() == predictions["colour"].to_numpy())

    truth = objects([(1, 1, 0.0, 0.0), (1, 1, 50.0, 0.0)], colour=["red", "blue"])
    matches = sf.match(truth, truth.assign(x=[3.0, 53.0]), similarity=alike)
    with refused(("match table", "matched by alike", "similarity=")):
        sf.bias(matches)
    found = estimates(matches, similarity=alike)
    assert found.tolist() == pytest.approx([3, 0, 1, 0.7, 1, 1])


@settings(max_examples=20)
@given(
    st.integers(0, 10_000),
    st.sampled_from([{}, {"tau": 6.0, "epsilon": 1.0}, {"similarity": "point", "tau": 6.0}]),
)
def test_correcting_is_moving_and_matching_again(seed: int, words: dict[str, object]) -> None:
    """By every rule, for boxes on a grid where equal answers abound."""
    random = np.random.default_rng(seed)
    truth, predictions = grid(random, 20, 4, 30)
    truth, predictions = (
        side.assign(w=random.integers(4, 12, len(side)).astype(float), h=8.0) for side in (truth, predictions)
    )
    matches = sf.match(truth, predictions, **words)
    found = estimates(matches)
    hits = matches[matches["outcome"] == "TP"]
    for axis, size in ("xw", "yh"):
        shift = hits[f"predicted_{axis}"] + hits[f"predicted_{size}"] / 2
        shift = shift - hits[f"truth_{axis}"] - hits[f"truth_{size}"] / 2
        assert found[f"d{axis}"] == pytest.approx(shift.mean(), nan_ok=True)
    w, h = predictions["w"] / found["width_ratio"], predictions["h"] / found["height_ratio"]
    x = predictions["x"] - found["dx"] - (w - predictions["w"]) / 2
    y = predictions["y"] - found["dy"] - (h - predictions["h"]) / 2
    if len(hits):
        moved = sf.match(truth, predictions.assign(x=x, y=y, w=w, h=h), **words)
        [again] = sf.summarize(moved).to_dict("records")  # in a row of pandas 2 a null number is not always NaN
    for name in ("f1", "mse" if "mse" in found else "loc_a"):
        assert found[f"{name}_corrected"] == pytest.approx(again[name] if len(hits) else np.nan, nan_ok=True)


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_other_kinds_of_tables(kind: str) -> None:
    """A table that comes from elsewhere has no notes, so the rule is given again."""
    truth, predictions = people(nose=(2, -1))
    of_poses = sf.match(truth, predictions, similarity="oks", sigmas=SIGMAS)
    of_boxes = sf.match(boxes([(0, 0, 10, 10)]), boxes([(1, 0, 11, 10)]))
    for matches, by, words in (
        (of_poses, "joint", {"similarity": "oks", "threshold": 0.5, "sigmas": SIGMAS}),
        (of_boxes, None, {"similarity": "iou", "threshold": 0.5}),
    ):
        expected = sf.bias(matches, by)
        assert plain(sf.bias(of_kind(matches, kind), by, **words)) == plain(expected)


def test_what_bias_refuses() -> None:
    matches = sf.match(*people(), similarity="oks", sigmas=SIGMAS)
    with refused(("match table: column predicted_x_hip",)):
        sf.bias(matches.drop(columns="predicted_x_hip"))
    for call in (sf.bias, sf.diagnose):
        with refused(("match table: column truth_area", "match()")):
            call(matches.drop(columns="truth_area"))
    with refused(("match table", "by similarity", "tau")):
        sf.bias(matches, tau=10)
    with refused(("match table", "column wrist")):
        sf.bias(matches, by=["joint", "wrist"])
    with refused(("match table", "column joint")):
        sf.bias(sf.match(*(boxes([(0, 0, 10, 10)]),) * 2), by="joint")
    bare = pd.DataFrame(matches)
    bare.attrs = {}
    with refused(("match table", "give similarity=")):
        sf.bias(bare)
    by_distance = sf.match(*(objects([(1, 1, 0.0, 0.0)]),) * 2)
    with refused(("match table", "by distance", "leave out similarity")):
        sf.bias(by_distance, similarity="iou")


def test_offsets_of_joints_in_head_sizes() -> None:
    """Two noses found 3 and 4 px to the right, in heads of 10 px: similarities 1 - 0.3 / 0.5001 and 1 - 0.4 / 0.5001.

    The last one, 8 px to the right, is found once predictions are moved back by the mean of the two found, 3.5 px.
    """
    keys = {"sequence": [1, 1, 2], "frame": 1, "object": [1, 2, 1], "joint": "nose", "y": 0.0}
    truth = pd.DataFrame(keys | {"x": [0.0, 100.0, 0.0]})
    found = truth.assign(x=[3.0, 104.0, 8.0])
    offset = sf.bias(sf.pose(truth.assign(head_size=10.0), found).matches)
    estimate = offset.set_index("metric")["estimate"]
    assert estimate.index.tolist() == ["dx", "dy", "f1", "loc_a", "f1_corrected", "loc_a_corrected"]
    assert estimate[["dx", "dy", "f1", "f1_corrected"]].tolist() == [3.5, 0.0, 2 / 3, 1.0]
    assert estimate["loc_a"] == pytest.approx(1 - 0.35 / 0.5001)
    assert estimate["loc_a_corrected"] == pytest.approx(1 - (0.05 + 0.05 + 0.45) / 3 / 0.5001)


# --- intervals ---


def drawn(random: np.random.Generator, n: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A few sequences hold most points; each has an offset of its own, which is larger in larger ones."""
    size = 1 + random.poisson(10 * np.exp(random.normal(0, 0.6, n)))
    truth = objects([(s, 1, 1000.0 * k, 0.0) for s, of in enumerate(size) for k in range(of)])
    own = random.normal(0, 1, (2, n))[:, truth["sequence"]] + random.normal(0, 1, (2, len(truth)))
    return truth, truth.assign(x=truth["x"] + own[0], y=truth["y"] + own[1])


def test_intervals_hold() -> None:
    """Of 160 intervals of a true offset of 0, from five sequences each, 93 % and more hold it, but for chance."""
    random = np.random.default_rng(3)
    held = []
    for _ in range(80):
        found = sf.bias(sf.match(*drawn(random, 5), tau=20)).head(2)
        held += [*((found["low"] <= 0) & (found["high"] >= 0))]
    assert np.mean(held) >= 0.90


def test_reasons_of_nulls() -> None:
    truth = objects([(s, 1, 100.0 * k, 0.0) for s in range(3) for k in range(4)])
    all_agree = sf.bias(sf.match(truth, truth.assign(x=truth["x"] + 2.0))).set_index("metric")
    assert all_agree["low"].isna().all()
    assert "all sequences agree" in all_agree.loc["dx", "reason"]
    assert "intervals()" in all_agree.loc["f1", "reason"]
    one = truth[truth["sequence"] == 1]
    assert "only one sequence" in sf.bias(sf.match(one, one))["reason"].iloc[0]
    assert "no true positive" in sf.bias(sf.match(truth, truth.assign(x=9e5)))["reason"].iloc[0]
    split = sf.bias(sf.match(truth, truth), by="truth_object").set_index("metric")
    assert "different groups" in split.loc["f1_corrected", "reason"].iloc[0]
    told = sf.bias(sf.match(*drawn(np.random.default_rng(1), 9), tau=20)).set_index("metric")
    assert told.loc[["dx", "dy"], "reason"].isna().all()
    assert told["reason"].isna().tolist() == told["low"].notna().tolist()
