"""Functions say so where rows of frames are missing or there twice, and are silent wherever all may be there once."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.datasets import points
from helpers.problems import warned

TRUTH, PREDICTIONS = points(20)
MATCHES = sf.match(TRUTH, PREDICTIONS, frames="union")


@contextmanager
def silent() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def joints(seed: int = 0) -> pd.DataFrame:
    """Matches of two joints, of which one is predicted more often than the other."""
    truth, predictions = (
        pd.concat([table.assign(joint=joint, y=table["y"] + down) for joint, down in (("head", 0), ("hip", 90))])
        for table in points(6, seed=seed)
    )
    return sf.match(truth, predictions.query("joint == 'hip' or x < 30"), frames="union")


@pytest.mark.parametrize(
    "some",
    [
        lambda m: m[m["truth_label"] == "faint"],
        lambda m: m[m["truth_label"] == "faint"].drop(columns="frame_n_predicted"),
        lambda m: m[m["predicted_score"] > 0.5],
        lambda m: m[m["outcome"] == "TP"],
        lambda m: m[m["outcome"] != "FP"].drop(columns="frame_n_truth"),
        lambda m: m[m["outcome"] == "FP"].drop(columns="frame_n_predicted"),
        lambda m: pd.concat([m[m["truth_label"] == "faint"], m]),
        lambda m: m[m["truth_label"] == "faint"].sample(frac=1, random_state=0),
    ],
)
def test_a_filtered_table_is_warned_of_once_where_it_is_called(some: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    with warned(("summarize", "by=")) as caught:
        sf.summarize(some(MATCHES))
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]


def no_joints() -> pd.DataFrame:
    """Matches of frames in which there is no joint at all, so that the column `joint` is null."""
    nothing = TRUTH.head(0).assign(joint=0)
    return sf.match(sf.Annotations(nothing, TRUTH[["sequence", "frame"]].drop_duplicates()), nothing)


@pytest.mark.parametrize(
    "some",
    [
        lambda m: m,
        lambda m: no_joints(),
        lambda m: m.head(0),
        lambda m: m.sample(frac=1, random_state=0),
        lambda m: m[m["sequence"] > 7],
        lambda m: m[m["frame"] != 2],
        lambda m: m.drop(columns=["frame_n_truth", "frame_n_predicted"])[m["outcome"] == "TP"],
        lambda m: m.assign(frame_n_truth=None, frame_n_predicted=pd.NA)[m["outcome"] == "TP"],
        lambda m: m.assign(frame_n_truth=m["frame_n_truth"].astype("Int64").where(m["frame"] != 1)),
        lambda m: m.astype({"frame_n_truth": "Int64", "sequence": "str"}),
        lambda m: m.drop(columns="frame_n_truth"),
    ],
)
def test_a_table_that_may_be_whole_is_not_warned_of(some: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    with silent():
        sf.summarize(some(MATCHES))
        sf.summarize(some(MATCHES), by="frame")


def test_how_many_frames_lack_rows_is_said() -> None:
    truth = pd.DataFrame(
        {"sequence": 1, "frame": [1, 1, 2, 3, 3], "object": [1, 2, 1, 1, 2], "x": 0.0, "y": [0.0, 50] * 2 + [0]}
    )
    matches = sf.match(truth, truth)
    with warned(("summarize", "2 frames")):
        sf.summarize(matches[matches["truth_object"] == 1])


def test_submissions_below_each_other_are_whole() -> None:
    others = [sf.match(TRUTH, PREDICTIONS.query(f"score > {least}"), frames="union") for least in (0, 0.3, 0.6)]
    together = pd.concat([table.assign(submission=name) for name, table in zip("abc", others, strict=True)])
    with silent():
        sf.summarize(together, by="submission")
    with warned(("intervals", "20 sequences")):
        sf.intervals(together, by="submission")
    with warned(("summarize", "by=")):
        sf.summarize(together[together["truth_label"] == "faint"], by="submission")


def test_joints_have_counts_of_their_own() -> None:
    matches = joints()
    with silent():
        sf.summarize(matches, by="joint")
        sf.summarize(matches[matches["joint"] == "hip"])  # whole, since frames are those of a joint
        sf.summarize(matches.drop(columns="joint"))
    with warned(("summarize", "by=")):
        sf.summarize(matches[matches["truth_x"] < 30])


def test_matches_of_tracks_are_whole() -> None:
    with silent():
        sf.summarize(sf.track(TRUTH, PREDICTIONS, "point", frames="union").matches)


def test_what_is_excluded_is_not_looked_at() -> None:
    odd = MATCHES[(MATCHES["sequence"] != 3) | (MATCHES["outcome"] == "TP")]
    with warned(("summarize", "by=")):
        sf.summarize(odd)
    with silent():
        sf.summarize(odd, exclude=iter([3]))


@pytest.mark.parametrize(
    ("call", "place"),
    [
        (lambda m: sf.intervals(m, resamples=10), "intervals"),
        (lambda m: sf.leaderboard({"a": m, "b": m}), "leaderboard: a"),
        (lambda m: sf.compare({"a": m, "b": m}, resamples=10), "compare: a"),
    ],
)
def test_other_numbers_of_a_filtered_table_are_warned_of_once(
    call: Callable[[pd.DataFrame], object], place: str
) -> None:
    with warned((place, "by=")) as caught:
        call(MATCHES[MATCHES["truth_label"] == "faint"])
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]


# --- rows that are there twice ---

TAGS = pd.DataFrame({"truth_object": pd.array([1, 1], "Int64"), "tag": ["a", "b"]})
MERGED = MATCHES.merge(TAGS, on="truth_object", how="left")
MERGED.attrs = MATCHES.attrs


@pytest.mark.parametrize(
    "doubled",
    [
        MERGED,
        pd.concat([MATCHES, MATCHES]),
        pd.concat([MATCHES, MATCHES.query("sequence == 3")]),
        pd.concat([MATCHES, MATCHES[MATCHES["outcome"] == "FP"].head(1)]),
        MATCHES.loc[MATCHES.index.repeat(3)],
        MERGED.sample(frac=1, random_state=0),
        MERGED.drop(columns=["truth_object", "predicted_object"]),
        MERGED.drop(columns="frame_n_truth"),
        MERGED.astype({"sequence": "str"}),
    ],
    ids=["merge", "concat", "a sequence", "a false alarm", "repeat", "shuffled", "no objects", "one count", "text"],
)
def test_rows_that_are_there_twice_are_warned_of(doubled: pd.DataFrame) -> None:
    for by in (None, "truth_label", {"truth_x": [0, 20, 60]}):
        with warned(("summarize: the match table has rows of", "twice", "frame_n_truth", "merge", "concat")) as caught:
            sf.summarize(doubled, by=by)
        assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]


def test_how_many_frames_have_rows_twice_is_said() -> None:
    twice = MATCHES[MATCHES["sequence"].eq(3) & MATCHES["frame"].isin([1, 2])]
    with warned(("summarize", "2 frames")):
        sf.summarize(pd.concat([MATCHES, twice]))


@pytest.mark.parametrize(
    ("call", "place"),
    [
        (lambda m: sf.intervals(m), "intervals"),
        (lambda m: sf.sums(m), "sums"),
        (lambda m: sf.leaderboard({"a": m, "b": m}), "leaderboard: a"),
        (lambda m: sf.compare({"a": m, "b": m}, resamples=10), "compare: a"),
        (lambda m: sf.non_inferiority(m, m, "recall", 0.1), "non_inferiority: x"),
        (lambda m: sf.sample_size(m, "recall", 0.1), "sample_size: x"),
        (sf.bias, "bias"),
        (lambda m: sf.detection_limit(m, "truth_brightness"), "detection_limit"),
        (lambda m: sf.diagnose(m), "diagnose"),
        (lambda m: sf.error_costs(m.assign(kind=sf.diagnose(MATCHES)["kind"].iloc[0])), "error_costs"),
        (lambda m: sf.worst_slices(m, ["truth_x"]), "worst_slices"),
        (lambda m: sf.calibration(m), "calibration"),
        (lambda m: sf.operating_point(m, recall=0.5), "operating_point"),
        (lambda m: sf.changes(m, m), "changes: before"),
        (lambda m: sf.plots.recall_map(m), "plots"),
        (lambda m: sf.charts.distances(m), "charts"),
    ],
)
def test_every_function_that_counts_rows_warns_of_them_where_it_is_called(
    call: Callable[[pd.DataFrame], object], place: str
) -> None:
    doubled = pd.concat([MATCHES, MATCHES.query("sequence == 3")], ignore_index=True)
    doubled.attrs = MATCHES.attrs
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(doubled)
    found = [warning for warning in caught if "twice" in str(warning.message)]
    assert str(found[0].message).startswith(f"{place}: the match table has rows of")
    assert Path(found[0].filename).name == Path(__file__).name
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(MATCHES)
    assert not [warning for warning in caught if "twice" in str(warning.message)]


def test_copies_that_are_told_apart_are_no_doubles() -> None:
    """Each submission has each truth once; those that are grouped together have it twice."""
    together = pd.concat([MATCHES.assign(submission=name, night=1) for name in "ab"])
    with silent():
        sf.summarize(together, by=["submission", "truth_label"])
        sf.summarize(MATCHES.drop(columns=["frame_n_truth", "frame_n_predicted"]))
        sf.object_summary(together.query("submission == 'a'"))
    with warned(("summarize", "twice", "by=")):
        sf.summarize(together, by="night")
