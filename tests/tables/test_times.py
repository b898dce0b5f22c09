"""align_times(): predictions with times get the frames of the truth, nearest or as they had arrived."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.problems import refused

TRUTH = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3], "time": [0.0, 0.1, 0.2], "x": 1.0, "y": 0.0})


def found(times: list[Any], **columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"sequence": 1, "time": times, "x": 1.0, "y": 0.0} | columns)


def test_the_nearest_frame() -> None:
    aligned = sf.align_times(TRUTH, found([0.02, 0.09, 0.16, 0.26]), 0.05)
    assert aligned.predictions[["frame", "time"]].to_numpy().tolist() == [[1, 0.02], [2, 0.09], [3, 0.16]]
    assert aligned.predictions["time_difference"].tolist() == pytest.approx([0.02, -0.01, -0.04])
    assert aligned.unpaired[["time", "reason"]].to_numpy().tolist() == [[0.26, "no frame within the tolerance"]]
    assert sf.match(TRUTH, aligned.predictions)["outcome"].tolist() == ["TP"] * 3


def test_of_two_times_the_nearer_one_gets_the_frame() -> None:
    aligned = sf.align_times(TRUTH, found([0.08, 0.11, 0.11, 0.13]), 0.05)
    assert aligned.predictions[["frame", "time"]].to_numpy().tolist() == [[2, 0.11], [2, 0.11]]
    assert aligned.unpaired["reason"].tolist() == ["another time is nearer to the frame"] * 2


def test_what_had_arrived_by_then() -> None:
    """A detector that takes 0.15 s: frame 3 is compared with what it said of an earlier moment."""
    aligned = sf.align_times(TRUTH, found([-0.5, 0.0, 0.15, 0.3], score=[1, 2, 3, 4]), 1.0, "backward")
    assert aligned.predictions[["frame", "score"]].to_numpy().tolist() == [[1, 2], [2, 2], [3, 3]]
    assert aligned.unpaired[["score", "reason"]].to_numpy().tolist() == [
        [1, "a newer prediction replaced it before the next frame"],
        [4, "no frame within the tolerance"],
    ]
    assert sf.align_times(TRUTH, found([-0.5]), 0.1, "backward").predictions.empty


def test_datetimes_and_time_zones() -> None:
    start = pd.Timestamp("2024-01-01", tz="UTC")
    truth = TRUTH.assign(time=start + pd.to_timedelta(TRUTH["time"], unit="s"))
    late = found([start + pd.Timedelta("20ms"), start + pd.Timedelta("1s")])
    aligned = sf.align_times(truth, late, pd.Timedelta("50ms"))
    assert aligned.predictions["frame"].tolist() == [1]
    assert aligned.predictions["time_difference"].tolist() == [pd.Timedelta("20ms")]
    with refused(("align_times", "column time is", "both datetimes of one zone")):
        sf.align_times(truth, late.assign(time=late["time"].dt.tz_localize(None)), pd.Timedelta("50ms"))
    with refused(("align_times", "column time is float64", "both numbers")):
        sf.align_times(TRUTH, late, 0.1)
    with refused(("align_times", "tolerance is 0.05"), error=ValueError):
        sf.align_times(truth, late, 0.05)


def test_nanoseconds_keep_their_last_digit() -> None:
    since = 1_700_000_000_000_000_000
    truth = TRUTH.assign(time=[since, since + 10, since + 20])
    aligned = sf.align_times(truth, found([since + 11]), 5)
    assert aligned.predictions[["frame", "time_difference"]].to_numpy().tolist() == [[2, 1]]


def test_times_of_frames() -> None:
    truth = sf.Annotations(TRUTH.drop(columns="time"), TRUTH[["sequence", "frame", "time"]])
    own = pd.DataFrame({"sequence": 1, "frame": [70, 71], "time": [0.1, 0.21]})
    claims = pd.DataFrame({"sequence": 1, "frame": [70, 71, 71], "x": [1.0, 2.0, 3.0], "y": 0.0})
    aligned = sf.align_times(truth, sf.Annotations(claims, own), 0.05)
    assert aligned.predictions[["frame", "x"]].to_numpy().tolist() == [[2, 1], [3, 2], [3, 3]]


def test_kinds_of_tables() -> None:
    aligned = sf.align_times(pl.from_pandas(TRUTH), pl.from_pandas(found([0.02, 9.0])), 0.05)
    assert isinstance(aligned.predictions, pl.DataFrame)
    assert isinstance(aligned.unpaired, pl.DataFrame)
    assert "predictions" in str(aligned)


def test_what_is_wrong() -> None:
    with refused(("align_times: truth", "column time is missing")):
        sf.align_times(TRUTH.drop(columns="time"), found([0.0]), 1)
    with refused(("align_times: predictions", "column time", "1 rows are null", "sequence 1")):
        sf.align_times(TRUTH, found([None, 0.0]), 1)
    with refused(("align_times: truth", "2 times of frames that have several", "sequence 1, frame 2")):
        sf.align_times(TRUTH.assign(frame=[1, 2, 2]), found([0.0]), 1)
    with refused(("align_times", "column sequence is int64 in the truth")):
        sf.align_times(TRUTH, found([0.0]).assign(sequence="a"), 1)
    with refused(("align_times", "direction is 'forward'"), error=ValueError):
        sf.align_times(TRUTH, found([0.0]), 1, "forward")  # type: ignore[arg-type]
    with refused(("align_times", "tolerance is -1"), error=ValueError):
        sf.align_times(TRUTH, found([0.0]), -1)
    assert sf.align_times(TRUTH, found([]).astype({"time": float}), 1).predictions.empty


TIMES = st.lists(st.tuples(st.integers(1, 2), st.integers(0, 40)), min_size=1, max_size=12, unique=True)


@settings(max_examples=60, deadline=None)
@given(TIMES, TIMES, st.integers(0, 6))
def test_any_times_as_a_plain_loop_has_them(truth: Any, claims: Any, tolerance: int) -> None:
    known = pd.DataFrame(truth, columns=["sequence", "time"]).sort_values(["sequence", "time"])
    known["frame"] = known.groupby("sequence").cumcount() * 3
    scans = pd.DataFrame(claims, columns=["sequence", "time"]).assign(name=np.arange(len(claims)))
    for direction in ("nearest", "backward"):
        aligned = sf.align_times(known, scans, tolerance, direction)  # type: ignore[arg-type]
        pairs = {
            (of["sequence"], of["frame"]): abs(of["time_difference"]) for of in aligned.predictions.to_dict("records")
        }
        assert len(pairs) == len(aligned.predictions)
        assert {*aligned.predictions["name"]}.isdisjoint(aligned.unpaired["name"])
        assert {*aligned.predictions["name"], *aligned.unpaired["name"]} == {*scans["name"]}
        for frame in known.to_dict("records"):
            near = [of for of in scans.to_dict("records") if of["sequence"] == frame["sequence"]]
            if direction == "backward":
                gaps = [frame["time"] - of["time"] for of in near if 0 <= frame["time"] - of["time"] <= tolerance]
                assert pairs.get((frame["sequence"], frame["frame"])) == min(gaps, default=None)
            elif (frame["sequence"], frame["frame"]) in pairs:
                assert pairs[frame["sequence"], frame["frame"]] <= tolerance
        if direction == "nearest":
            for scan in scans.to_dict("records"):
                others = known[known["sequence"] == scan["sequence"]]["time"]
                gap = (others - scan["time"]).abs().min()
                if gap <= tolerance and scan["name"] in {*aligned.predictions["name"]}:
                    row = aligned.predictions.set_index("name").loc[scan["name"]]
                    assert abs(row["time_difference"]) == gap


def test_what_would_be_answered_about_something_else() -> None:
    times = found([0.0])
    for frame in ([1.2, 1.5, 2.0], [1, None, 2]):
        with refused(("align_times: truth", "column frame")):
            sf.align_times(TRUTH.assign(frame=frame), times, 1)
    with refused(("align_times: predictions", "column sequence", "1 row is null")):
        sf.align_times(TRUTH, times.assign(sequence=pd.array([None], "Int64")), 1)
    with refused(("align_times: truth", "2 frames have the time of another")):
        sf.align_times(TRUTH.assign(time=[0.0, 0.0, 0.2]), times, 1)
    with refused(("align_times: predictions", "column reason is a name of the result")):
        sf.align_times(TRUTH, times.assign(reason="x"), 1)
    own = pd.DataFrame({"sequence": 1, "frame": [7, 7], "time": [0.0, 0.1]})
    with refused(("align_times: predictions frames", "2 rows are the same")):
        sf.align_times(TRUTH, sf.Annotations(times.drop(columns="time").assign(frame=7), own), 1)
    large = TRUTH.assign(time=[2**60, 2**60 + 100, 2**60 + 200])
    with refused(("align_times: truth", "whole numbers that its type or that of the other side cannot hold")):
        sf.align_times(large, found([float(2**60)]), 1)
    for tolerance in (None, True, np.nan, np.inf, "x"):
        with refused(("align_times", "tolerance is"), error=ValueError):
            sf.align_times(TRUTH, times, tolerance)


def test_types_that_other_functions_take() -> None:
    names = TRUTH.assign(sequence=pd.Categorical(["a"] * 3))
    for sequence in (pd.Categorical(["a"], categories=["b", "a"]), ["a"]):
        assert len(sf.align_times(names, found([0.1]).assign(sequence=sequence), 0.01).predictions) == 1
    whole = TRUTH.assign(time=[0, 10, 20], sequence=np.int32(1))
    assert sf.align_times(whole, found([14]), 5.0).predictions["frame"].tolist() == [2]
    start = np.datetime64("2024-01-01")
    moments = TRUTH.assign(time=start + np.array([0, 1, 2], "timedelta64[s]"))
    assert len(sf.align_times(moments, found([start]), np.timedelta64(1, "ms")).predictions) == 1


def test_what_is_missing_names_the_call() -> None:
    truth = pd.DataFrame({"video": 1, "frame": [1, 2], "time": [0.0, 0.1]})
    with refused(("align_times: truth: column sequence", 'tidy(table, sequence="video") makes it')):
        sf.align_times(truth, truth, 0.1)
    named = truth.rename(columns={"video": "sequence", "time": "timestamp"})
    with refused(("align_times: truth: column time", 'table.rename(columns={"timestamp": "time"}) makes it')):
        sf.align_times(named, named, 0.1)
