"""geometry(): a geometry of one's own is asked whatever points are asked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from spotgeo_frames import plots

COLUMNS = ["x1", "y1", "x2", "y2"]
WITHIN = {"tau": 5.0, "epsilon": 0.0}


def ends_apart(truth: Any, predictions: Any) -> np.ndarray:
    """How far the farther end is off, px; a streak has no direction."""

    def apart(end: int, other: int) -> np.ndarray:
        dx, dy = (predictions[f"{axis}{other}"] - truth[f"{axis}{end}"] for axis in "xy")
        return np.hypot(dx, dy)

    forth, back = np.maximum(apart(1, 1), apart(2, 2)), np.maximum(apart(1, 2), apart(2, 1))
    return np.minimum(forth, back)


def likeness(truth: Any, predictions: Any) -> np.ndarray:
    return np.maximum(0.0, 1.0 - ends_apart(truth, predictions) / 10)


def length(rows: Any) -> np.ndarray:
    return np.hypot(rows["x2"] - rows["x1"], rows["y2"] - rows["y1"])


def edges(rows: Any) -> list[np.ndarray]:
    pairs = (rows["x1"], rows["x2"]), (rows["y1"], rows["y2"])
    return [of(*pair) for of in (np.minimum, np.maximum) for pair in pairs]


KNOWN: dict[str, Any] = {
    "unit": "px",
    "bounds": edges,
    "centre": lambda rows: ((rows["x1"] + rows["x2"]) / 2, (rows["y1"] + rows["y2"]) / 2),
    "outline": lambda rows: np.stack([np.stack([rows[f"{a}{end}"] for a in "xy"], axis=1) for end in (1, 2)], axis=1),
    "size": lambda rows: 3 * length(rows),
    "offsets": {"longer": (lambda truth, predictions: length(predictions) - length(truth), "px")},
}


@pytest.fixture(params=["distance", "similarity"])
def words(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """The words of a rule of streaks, which are registered as long as the test runs."""
    by_distance = request.param == "distance"
    sf.geometry("streaks", COLUMNS, **{request.param: ends_apart if by_distance else likeness}, **KNOWN)
    yield WITHIN if by_distance else {}
    sf.geometry("streaks", None)


def streaks(seed: int = 0, n_sequences: int = 12, n_frames: int = 4, n_objects: int = 5) -> pd.DataFrame:
    """Streaks that move along, 10 px a frame."""
    random = np.random.default_rng(seed)
    index = pd.MultiIndex.from_product([range(n_sequences), range(n_frames), range(n_objects)])
    table = index.to_frame(index=False, name=["sequence", "frame", "object"])
    x, y = (random.uniform(0, 500, (n_sequences, 1, n_objects)) for _ in "xy")
    x = np.broadcast_to(x + 10 * np.arange(n_frames)[:, None], (n_sequences, n_frames, n_objects)).ravel()
    y = np.broadcast_to(y, (n_sequences, n_frames, n_objects)).ravel()
    angle, half = random.uniform(0, np.pi, len(x)), random.uniform(10, 20, len(x))
    dx, dy = half * np.cos(angle), half * np.sin(angle)
    return table.assign(x1=x - dx, y1=y - dy, x2=x + dx, y2=y + dy, bright=np.repeat([1, 2, 3], len(x) // 3))


def found(truth: pd.DataFrame, far: float, seed: int = 1) -> pd.DataFrame:
    """Scored predictions of streaks; each end is off by 1 px, and this share of them lies elsewhere."""
    random = np.random.default_rng(seed)
    moved = truth.drop(columns="bright")
    moved[COLUMNS] += random.normal(0, 0.7, (len(truth), 4))
    elsewhere = random.random(len(truth)) < far
    moved.loc[elsewhere, COLUMNS] += 3000
    return moved.assign(
        score=np.where(elsewhere, random.uniform(0, 0.6, len(truth)), random.uniform(0.4, 1, len(truth)))
    )


TRUTH = streaks()
GOOD, WORSE = found(TRUTH, 0.05), found(TRUTH, 0.3)


def test_pairs_are_those_of_every_pair_measured(words: dict[str, Any]) -> None:
    matches = sf.match(TRUTH, GOOD, **words)
    given = {"distance": ends_apart, "tau": 5.0, "epsilon": 0.0} if words else {"similarity": likeness}
    sf.geometry("streaks", None)  # the fixture takes it out once more
    plain = [side.assign(x=side["x1"], y=side["y1"]) for side in (TRUTH, GOOD)]
    wanted = sf.match(*plain, **given)
    sf.geometry(
        "streaks", COLUMNS, **{"distance" if words else "similarity": ends_apart if words else likeness}, **KNOWN
    )
    columns = ["outcome", "distance" if words else "similarity", "truth_object", "predicted_object", "truth_x2"]
    pd.testing.assert_frame_equal(matches[columns], wanted[columns])
    assert matches.attrs["rule"] == "streaks"


def test_streaks_are_asked_what_points_are_asked(words: dict[str, Any], tmp_path: Path) -> None:
    good, worse = (sf.match(TRUTH, side, **words) for side in (GOOD, WORSE))
    f1 = sf.summarize(good)["f1"].item()
    assert 0.9 < f1 < 1
    assert sf.summarize(good, by="truth_bright")["tp"].sum() == sf.summarize(good)["tp"].item()
    interval = sf.intervals(good, metrics=["f1"]).iloc[0]
    assert interval["low"] < f1 < interval["high"]
    compared = sf.compare({"good": good, "worse": worse}, metrics=["f1"])
    assert compared.leaderboard["name"].tolist() == ["good", "worse"]
    assert compared.pairs["p_value"].item() < 0.05
    kinds = sf.diagnose(worse)
    assert kinds["kind"].notna().sum() == (worse["outcome"] != "TP").sum()
    assert sf.error_costs(kinds).set_index("kind").loc["all", "f1"] == 1
    assert sf.object_summary(good)["n_found"].sum() == (good["outcome"] == "TP").sum()
    assert set(sf.worst_slices(worse, ["truth_object"], min_sequences=5).columns) >= {"slice", "p_value"}
    assert (sf.changes(good, worse)["change"] == "lost").any()
    curve = sf.sweep(TRUTH, GOOD, score=[0.2, 0.5], **words).curve.set_index("score_threshold")
    left = sf.match(TRUTH, GOOD[GOOD["score"] >= 0.5], **words)
    assert curve.loc[0.5, "f1"] == sf.summarize(left)["f1"].item()
    sf.save(good, tmp_path / "kept")
    pd.testing.assert_frame_equal(sf.summarize(sf.load(tmp_path / "kept")), sf.summarize(good))
    assert sf.combine([sf.sums(good)])["f1"].item() == f1
    accumulator = sf.Accumulator(**words)
    for names in (range(5), range(5, 12)):
        accumulator.update(*(side[side["sequence"].isin(names)] for side in (TRUTH, GOOD)))
    assert accumulator.compute()["f1"].item() == f1
    answer = sf.summarize(sf.match(pl.from_pandas(TRUTH), pl.from_pandas(GOOD), **words))
    assert answer["f1"].item() == f1


def test_offsets_are_those_of_the_middle_and_ones_own(words: dict[str, Any]) -> None:
    moved = TRUTH.drop(columns="bright").assign(x1=TRUTH["x1"] + 2, x2=TRUTH["x2"] + 2)
    rows = sf.bias(sf.match(TRUTH, moved, **words)).set_index("metric")
    np.testing.assert_allclose(rows.loc[["dx", "dy", "longer"], "estimate"].astype(float), [2, 0, 0], atol=1e-9)
    assert rows.loc["f1_corrected", "reason"] == "nothing tells how streaks are moved"


def test_slips_of_the_pen(words: dict[str, Any]) -> None:
    assert sf.check(TRUTH, GOOD, **words).empty
    swapped = GOOD.rename(columns={"x1": "y1", "y1": "x1"})
    assert sf.check(TRUTH, swapped, **words)["suspicion"].tolist() == ["x1 and y1 are swapped"]
    later = GOOD.assign(frame=GOOD["frame"] + 1)
    assert "frames are numbered too high by 1" in sf.check(TRUTH, later, **words)["suspicion"].tolist()


def test_tracks(words: dict[str, Any]) -> None:
    tau = {"tau": 5.0} if words else {}
    result = sf.track(TRUTH, GOOD, **tau)
    assert 0.5 < result.summary["HOTA"].iloc[-1] < 1
    assert result.matches.attrs["rule"] == "streaks"
    assert sf.error_costs(result).set_index("kind").loc["all", "MOTA"] == 1
    swept = sf.sweep(TRUTH, GOOD, score=[0.1], tracks=True, **tau).curve
    assert swept["HOTA"].item() == sf.track(TRUTH, GOOD[GOOD["score"] >= 0.1], **tau).summary["HOTA"].iloc[-1]


def test_datasets_and_their_workers(words: dict[str, Any], tmp_path: Path) -> None:
    for name, side in (("truth", TRUTH), ("predictions", GOOD)):
        side.to_parquet(tmp_path / f"{name}.parquet", index=False, row_group_size=60)
    paths = tmp_path / "truth.parquet", tmp_path / "predictions.parquet"
    wanted = sf.summarize(sf.match(TRUTH, GOOD, **words))
    for workers in (1, 2):
        summary = sf.score_dataset(*paths, workers=workers, **words)
        assert summary["f1"].item() == wanted["f1"].item()
    tau = {"tau": 5.0} if words else {}
    assert sf.track_dataset(*paths, **tau)["TP"].iloc[-1] == sf.track(TRUTH, GOOD, **tau).summary["TP"].iloc[-1]


def test_average_precision_has_areas() -> None:
    sf.geometry("streaks", COLUMNS, similarity=likeness, **KNOWN)
    try:
        result = sf.average_precision(TRUTH, GOOD)
        assert 0.3 < result.summary["AP"].item() < 1
        assert np.isnan(result.summary["APl"].item()), "no streak has an area of 96 * 96"
        assert result.summary["APs"].item() > 0
    finally:
        sf.geometry("streaks", None)


def test_pictures(words: dict[str, Any], tmp_path: Path) -> None:
    matches = sf.match(TRUTH, GOOD, **words)
    axes = plots.frame(matches, 0, 0)
    ends = {tuple(point) for line in axes.get_lines() for point in np.round(line.get_xydata(), 6)}
    one = TRUTH.iloc[0]
    assert {(round(one["x1"], 6), round(one["y1"], 6)), (round(one["x2"], 6), round(one["y2"], 6))} <= ends
    sf.report(TRUTH, {"good": GOOD, "worse": WORSE}, tmp_path / "report.html", **words)
    assert "streaks" in (tmp_path / "report.html").read_text("utf-8")
    assert sf.explore(matches) is not None


def test_without_a_centre_nothing_is_drawn_and_offsets_are_null(tmp_path: Path) -> None:
    sf.geometry("streaks", COLUMNS, similarity=likeness)
    try:
        matches = sf.match(TRUTH, GOOD)
        rows = sf.bias(matches).set_index("metric")
        assert rows.loc[["dx", "dy"], "estimate"].isna().all()
        assert rows.loc["dx", "reason"] == "streaks have no centre"
        with refused(("match table", "streaks have no centre")):
            plots.frame(matches, 0, 0)
        sf.report(TRUTH, GOOD, tmp_path / "report.html")
        assert sf.check(TRUTH, GOOD).empty
    finally:
        sf.geometry("streaks", None)


EVENTS = pd.DataFrame({"sequence": 1, "frame": 1, "object": [0, 1], "start": [0.0, 50.0], "end": [4.0, 60.0]})
HEARD = EVENTS.assign(start=[1.0, 50.5], end=[4.0, 60.0])


def apart(truth: Any, predictions: Any) -> np.ndarray:
    return np.abs(truth["start"] - predictions["start"]) + np.abs(truth["end"] - predictions["end"])


@pytest.fixture
def events() -> Iterator[Any]:
    """Registers events with the given words, and takes them out after the test."""

    def registered(**words: Any) -> None:
        sf.geometry("events", ["start", "end"], distance=apart, unit="s", **words)

    yield registered
    sf.geometry("events", None)


def test_bounds_of_one_axis_may_be_infinite_or_one_number(events: Any) -> None:
    events(bounds=lambda rows: (rows["start"], -np.inf, rows["end"], np.inf))
    assert (sf.match(EVENTS, HEARD, tau=2)["outcome"] == "TP").all()
    nothing = pd.DataFrame({"sequence": [], "frame": [], "object": [], "x": [], "y": []})
    assert sf.match(EVENTS, nothing, tau=2)["outcome"].tolist() == ["FN", "FN"]


def test_answers_that_are_no_bounds_are_refused(events: Any) -> None:
    events(bounds=lambda rows: (rows["end"], 0, rows["start"], 0))
    with refused(("geometry events", "left <= right", "object 0")):
        sf.match(EVENTS, HEARD, tau=2)


def test_middles_meet_points(events: Any) -> None:
    events(centre=lambda rows: ((rows["start"] + rows["end"]) / 2, 0))
    points = HEARD.assign(x=[2.0, 55.0], y=0.0).drop(columns=["start", "end"])
    assert sf.match(EVENTS, points, tau=2)["distance"].tolist() == [0, 0]
    assert sf.match(EVENTS, HEARD, similarity="point", tau=2)["similarity"].tolist() == [0.875, 0.9375]


def test_without_middles_there_is_no_distance_of_points(events: Any) -> None:
    events()
    with refused(("truth", "events have no centre"), ("predictions", "events have no centre")):
        sf.match(EVENTS, HEARD, similarity="point")
    with refused(("truth", "events have no centre"), ("predictions", "events have no centre")):
        sf.match_frames(EVENTS, HEARD, lambda truth, predictions: ([0], [0]), tau=2)


def test_a_matcher_of_ones_own_is_measured_by_the_geometry(events: Any) -> None:
    events(centre=lambda rows: (rows["start"], 0))
    matches = sf.match_frames(EVENTS, HEARD, lambda truth, predictions: ([0, 1], [0, 1]), tau=2)
    assert matches["distance"].tolist() == [1.0, 0.5]


def test_batches_of_arrays(events: Any) -> None:
    events()
    accumulator = sf.Accumulator(tau=2, epsilon=0)
    batch = [{"sequence": 1, "frame": 1, **side[["start", "end"]].to_dict("list")} for side in (EVENTS, HEARD)]
    accumulator.update(*batch)
    assert accumulator.compute()["tp"].item() == 2


def test_joints_are_of_no_registered_geometry(words: dict[str, Any]) -> None:
    joints = TRUTH.head(20).assign(joint="nose", x=TRUTH["x1"], y=TRUTH["y1"])
    assert sf.match(joints, joints, tau=5).attrs["rule"] == "distance"


def test_registering_again(words: dict[str, Any]) -> None:
    measure = {"distance" if words else "similarity": ends_apart if words else likeness}
    sf.geometry("streaks", COLUMNS, **measure, **KNOWN)  # the very same
    with refused(("geometry", "another streaks")):
        sf.geometry("streaks", COLUMNS, **measure)
    with refused(("geometry", "streaks has these columns already")):
        sf.geometry("lines", COLUMNS, **measure)
    for name, columns, more in (
        ("boxes", ["a"], {}),
        ("a b", ["a"], {}),
        ("lines", ["outcome"], {}),
        ("lines", ["a"], {"offsets": {"dx": (ends_apart, "px")}}),
    ):
        with pytest.raises(sf.InputError):
            sf.geometry(name, columns, **measure, **more)


def test_built_in_rules_take_rows_for_what_they_measure() -> None:
    boxes = TRUTH.assign(x=TRUTH["x1"], y=TRUTH["y1"], w=20.0, h=10.0)
    sf.geometry("streaks", COLUMNS, similarity=likeness, **KNOWN)
    try:
        rows = sf.bias(sf.match(boxes, boxes.assign(w=22.0), similarity="iou")).set_index("metric")["estimate"]
    finally:
        sf.geometry("streaks", None)
    assert rows["width_ratio"] == pytest.approx(1.1)


@pytest.mark.parametrize("place", [0.0, 5e6])
@pytest.mark.parametrize("tall", [False, True])
def test_crowded_frames_far_away_and_tall(place: float, tall: bool) -> None:
    """Pairs are those of all pairs, wherever the crowd is, and with one row far from it."""
    random = np.random.default_rng(3)
    truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": range(300)})
    spread = (3, 400) if tall else (400, 3)
    truth = truth.assign(x=place + random.integers(0, spread[0], 300), y=place + random.integers(0, spread[1], 300))
    truth.loc[0, "x"] = 1e9
    found = truth.assign(x=truth["x"] + random.integers(-2, 3, 300), y=truth["y"] + random.integers(-2, 3, 300))
    plain = sf.match(truth, found, tau=3, epsilon=0, distance=lambda a, b: np.hypot(a["x"] - b["x"], a["y"] - b["y"]))
    pd.testing.assert_series_equal(
        sf.match(truth, found, tau=3, epsilon=0)["predicted_object"], plain["predicted_object"]
    )
