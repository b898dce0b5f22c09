"""The view of every kind of table has all that its match table has."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.packed import Values, read_view
from helpers.reference import PROJECT
from helpers.report_inputs import many_poses
from spotgeo_frames.geometries.poses import pose_joints
from spotgeo_frames.presentation.viewer.view import view_of
from spotgeo_frames.tables.schema import FILE_ORDER

DATA = PROJECT / "data"


def points() -> pd.DataFrame:
    truth = sf.read_objects(DATA / "sample/truth.parquet", frames=DATA / "sample/frames.parquet")
    return sf.match(truth, sf.read_objects(DATA / "sample/eager.parquet"))


def boxes() -> pd.DataFrame:
    truth = sf.read_objects(DATA / "boxes/truth.parquet", frames=DATA / "boxes/frames.parquet")
    return sf.diagnose(sf.match(truth, sf.read_objects(DATA / "boxes/v1.parquet")))


def poses() -> pd.DataFrame:
    return sf.match(*many_poses(2), similarity="oks")


def precision() -> pd.DataFrame:
    sides = sf.read_coco(DATA / "coco/annotations.json", DATA / "coco/fast.json", boxes=True)
    matches = sf.average_precision(*sides).matches
    return matches[matches["threshold"] == 0.5]


def joints() -> pd.DataFrame:
    return sf.match(*sf.read_posetrack(DATA / "poses/truth", DATA / "poses/tracker"))


def joint_tracks() -> pd.DataFrame:
    return sf.pose(*sf.read_posetrack(DATA / "poses/truth", DATA / "poses/tracker")).matches


def box_tracks() -> pd.DataFrame:
    return sf.track(*sf.read_motchallenge(DATA / "tracks/truth", DATA / "tracks/tracker")).matches


def stars() -> pd.DataFrame:
    truth = sf.read_objects(DATA / "sky/truth.parquet", frames=DATA / "sky/exposures.parquet")
    return sf.match(truth, sf.read_objects(DATA / "sky/detections.parquet"), tau=1.5)


def turned() -> pd.DataFrame:
    truth = sf.read_objects(DATA / "boxes/truth.parquet").objects.rename(columns={"x": "cx", "y": "cy"})
    return sf.match(truth.assign(angle=30.0), truth.assign(angle=32.0))


KINDS = {
    points: ("points", False),
    stars: ("points", False),
    turned: ("boxes", False),
    boxes: ("boxes", False),
    precision: ("boxes", False),
    poses: ("poses", False),
    joints: ("joints", False),
    joint_tracks: ("joints", True),
    box_tracks: ("boxes", True),
}


def plain(values: pd.Series) -> Values:
    """The values of a column as the viewer has them: numbers, text, None for null."""
    is_number = pd.api.types.is_any_real_numeric_dtype(values.dtype)
    return [None if pd.isna(value) else value if is_number else str(value) for value in values.tolist()]


def assert_equal(read: Values, expected: Values, places: float, name: str) -> None:
    if any(isinstance(value, str) for value in expected):
        assert read == expected, name
    else:
        found, known = (np.array(values, np.float64) for values in (read, expected))
        np.testing.assert_allclose(found, known, rtol=1e-7, atol=places, err_msg=name)


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_every_column_is_there(make: Any) -> None:
    matches = make()
    matches = matches.assign(submission=pd.Categorical(["one"] * len(matches)))
    packed = view_of(matches, "measure", None)
    view = read_view(packed)
    assert (view["kind"], view["identities"]) == KINDS[make]
    assert packed.left_out == []
    assert view["joints"] == (sorted(matches["joint"].unique()) if "joint" in matches else pose_joints(matches))
    [one] = view["submissions"].values()
    outcomes = {"truth_": ["TP", "FN"], "predicted_": ["TP", "FP"]}
    for (prefix, listed), table in zip(outcomes.items(), (view["truth"], one["predicted"]), strict=True):
        rows = matches[matches["outcome"].isin(listed)]
        if prefix == "predicted_":
            rows = rows.sort_values([name for name in ("sequence", "frame", "joint", FILE_ORDER) if name in rows])
        own = [name for name in rows if name.startswith(prefix) and name != FILE_ORDER]
        assert {name.removeprefix(prefix) for name in own} <= {*table}
        for name in own:
            place = 0.5001 * 10.0 ** -view["decimals"]
            assert_equal(table[name.removeprefix(prefix)], plain(rows[name]), place, name)
    truths = matches[matches["outcome"].isin(["TP", "FN"])]
    for name in ("kind", "event"):
        if name in matches:
            assert one["pairs"][name] == plain(truths[name])
    measure = "similarity" if "similarity" in matches else "distance"
    assert_equal(one["pairs"]["measure"], plain(truths[measure]), 0.00051 if measure == "similarity" else 0.1, measure)
    frames = matches.drop_duplicates(["sequence", "frame"])
    assert view["frames"]["frame"] == frames["frame"].tolist()
    for name in frames:
        if name.startswith("frame_") and not name.startswith("frame_n_"):
            assert_equal(view["frames"][name], plain(frames[name]), 0, name)
    assert [view["sequences"]["name"][int(place)] for place in view["frames"]["sequence"]] == [
        str(name) for name in frames["sequence"]
    ]
