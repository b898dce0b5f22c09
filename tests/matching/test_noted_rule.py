"""The rule of a match table, read back from its notes or given again."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from spotgeo_frames.geometries.poses import pose_columns
from spotgeo_frames.matching.noted_rule import noted_rule
from spotgeo_frames.matching.options import MatchOptions

BOX = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1], "x": [0.0], "y": 0.0, "w": 10.0, "h": 10.0})
SIGMAS = {1: 0.05, 2: 0.1}


def two_people(shift: float = 0.0) -> pd.DataFrame:
    """Two people of two joints; the second joint of the second is not labelled."""
    keys = {"sequence": 1, "frame": 1, "object": [1, 1, 2, 2], "joint": [1, 2, 1, 2], "visibility": [2, 2, 2, 0]}
    return pd.DataFrame(keys | {"x": np.array([0.0, 10.0, 100.0, 0.0]) + shift, "y": 5.0, "area": 400.0})


def same_x(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
    return (truth["x"].to_numpy() == predictions["x"].to_numpy()).astype(float)


@pytest.mark.parametrize(
    "words",
    [{"tau": 5, "epsilon": 1}, {"threshold": 0.3}, {"similarity": "point", "tau": 4, "threshold": 0.7}],
)
def test_tables_know_their_rule(words: dict[str, float | str], tmp_path: Path) -> None:
    matches = sf.match(BOX, BOX.assign(x=1.0), **words)
    matches.to_parquet(tmp_path / "matches.parquet")
    rule = noted_rule(pd.read_parquet(tmp_path / "matches.parquet"), MatchOptions(), ("tau", "epsilon"))
    assert {name: getattr(rule, name) for name in words if name != "similarity"} == {
        name: value for name, value in words.items() if name != "similarity"
    }
    assert rule.name == words.get("similarity", "iou" if "threshold" in words else "distance")


def test_whole_poses_carry_their_joints_and_their_sigmas(tmp_path: Path) -> None:
    truth = two_people()
    matches = sf.match(truth, two_people(1.0).drop(columns="area"), similarity="oks", sigmas=SIGMAS)
    assert matches.attrs["sigmas"] == {"1": 0.05, "2": 0.1}
    assert pose_columns([1, 2]) == ["x_1", "y_1", "x_2", "y_2"]
    assert matches["truth_x_1"].tolist() == [0, 100]
    assert matches["truth_x_2"].fillna(-1).tolist() == [10, -1]  # not labelled
    assert matches["predicted_x_2"].tolist() == [11, 1]
    matches.to_parquet(tmp_path / "matches.parquet")
    again = sf.diagnose(pd.read_parquet(tmp_path / "matches.parquet"))
    pd.testing.assert_frame_equal(again, sf.diagnose(matches))
    assert dict(noted_rule(matches, MatchOptions()).joint_sigmas) == {"1": 0.05, "2": 0.1}


def test_a_function_is_given_again() -> None:
    matches = sf.match(BOX, BOX.assign(x=1.0), similarity=same_x)
    with refused(("match table", "same_x", "similarity=")):
        sf.diagnose(matches)
    assert sf.diagnose(matches, similarity=same_x)["kind"].tolist() == ["lost", "background"]


@pytest.mark.parametrize("name", ["distance", "iou", "oks", "point"])
def test_a_function_may_have_the_name_of_a_similarity(name: str) -> None:
    def similarity(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
        return same_x(truth, predictions)

    similarity.__name__ = name
    points = BOX.drop(columns=["w", "h"])
    matches = sf.match(points, points.assign(x=1.0), similarity=similarity)
    assert noted_rule(matches, MatchOptions(similarity=similarity)).notes == matches.attrs
    assert sf.diagnose(matches, similarity=similarity)["kind"].tolist() == ["lost", "background"]


def test_tables_of_pose_are_in_head_sizes(poses: Path) -> None:
    matches = sf.pose(*sf.read_posetrack(poses / "truth", poses / "tracker")).matches
    assert noted_rule(matches, MatchOptions()).notes.items() <= matches.attrs.items()
    with refused(("match table", "pose()", "head sizes", "leave out threshold")):
        sf.diagnose(matches, threshold=0.3)
    with refused(("match table", "has no tau")):
        sf.diagnose(matches, tau=3)
    with refused(("match table", "truth_head_size", "pose()")):
        sf.diagnose(matches.drop(columns="truth_head_size"))
    bare = matches.copy()
    bare.attrs = {}
    pd.testing.assert_frame_equal(sf.diagnose(bare), sf.diagnose(matches), check_flags=False)


def test_a_function_sees_the_names_of_objects() -> None:
    names: list[int] = []

    def similarity(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
        names.extend(truth["object"])
        return np.zeros(len(truth))

    sides = BOX.assign(object=7), BOX.assign(object=8)
    sf.diagnose(sf.match(*sides, similarity=similarity), similarity=similarity)
    assert set(names) == {7}


def test_tables_that_lost_their_notes() -> None:
    bare = sf.match(BOX, BOX.assign(x=4.0), threshold=0.3)  # IoU 6 / 14
    bare.attrs = {}
    with refused(("match table", "give similarity= and threshold=")):
        sf.diagnose(bare)
    with refused(("match table", "give threshold=")):
        sf.diagnose(bare, similarity="iou")
    assert sf.diagnose(bare, similarity="iou", threshold=0.3)["kind"].isna().all()
    with refused(("match table", "has no tau")):
        sf.diagnose(bare, tau=3)
    with refused(("similarity is 'jaccard'"), error=ValueError):
        sf.diagnose(bare, similarity="jaccard")


@pytest.mark.parametrize("tau", [0.0, -1.0, 1e200])
def test_a_note_or_an_argument_that_is_no_distance_is_refused(tau: float) -> None:
    points = BOX.drop(columns=["w", "h"])
    matches = sf.match(points, points.assign(x=1.0))
    with pytest.raises(ValueError, match=r"tau is .*; a distance above 0 and up to"):
        sf.diagnose(matches, tau=tau)
    matches.attrs["tau"] = tau
    with pytest.raises(ValueError, match=r"tau is .*; a distance above 0 and up to"):
        sf.diagnose(matches)


def test_a_note_of_a_tolerance_beyond_tau_is_refused() -> None:
    points = BOX.drop(columns=["w", "h"])
    matches = sf.match(points, points.assign(x=1.0), tau=5)
    matches.attrs["epsilon"] = 6.0
    with pytest.raises(ValueError, match="tau is 5 and epsilon 6; 0 <= epsilon < tau is needed"):
        noted_rule(matches, MatchOptions(), ("tau", "epsilon"))
