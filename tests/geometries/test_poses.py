"""Whole poses: joints keep the names that their sigmas give them."""

from typing import Any

import pandas as pd
import pytest

import spotgeo_frames as sf


@pytest.mark.parametrize("first", [0.0, False, 0])
def test_joints_that_equal_those_of_another_call_keep_their_own_names(first: Any) -> None:
    joints = pd.DataFrame({"sequence": 1, "frame": 1, "object": 1, "joint": [0, 1], "x": [0.0, 9.0], "y": 0.0})
    joints["area"] = 100.0
    for names in ([first, first + 1], [0, 1]):
        matches = sf.match(joints, joints, similarity="oks", sigmas=dict.fromkeys(names, 0.05))
        assert f"truth_x_{names[0]}" in matches
