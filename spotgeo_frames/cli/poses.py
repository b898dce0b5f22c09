"""The command `pose`."""

from pathlib import Path

import pandas as pd

from ..formats.posetrack.preprocessing import read_posetrack
from ..support.names import plain_value
from ..tables.joints import JOINTS
from ..tracking import poses
from .as_json import formatted
from .printing import one_line, tell
from .problems import problems_reported
from .text import pose_text

# The joints of PoseTrack by the names of its two evaluation kits, in the order of each kit.
HOTA_JOINTS = dict(
    zip(
        ["Nose", "Neck", "Head", "LS", "RS", "LE", "RE", "LW", "RW", "LH", "RH", "LK", "RK", "LA", "RA"],
        JOINTS,
        strict=True,
    )
)
POSEVAL_JOINTS = {
    name: name
    for name in [
        "right_ankle",
        "right_knee",
        "right_hip",
        "left_hip",
        "left_knee",
        "left_ankle",
        "right_wrist",
        "right_elbow",
        "right_shoulder",
        "left_shoulder",
        "left_elbow",
        "left_wrist",
    ]
} | {"neck": "head_bottom", "nose": "nose", "head_top": "head_top"}


def pose(truth: Path, predictions: Path, as_json: bool) -> None:
    """Scores the poses of a folder, and prints the numbers of every joint."""
    with problems_reported():
        summary = poses.pose(*read_posetrack(truth, predictions)).summary
    combined = summary[summary["sequence"].isna()].set_index("joint")
    if as_json:
        kits = {"keypoint_hota": (HOTA_JOINTS, poses.HOTA_NUMBERS), "poseval": (POSEVAL_JOINTS, poses.POSEVAL_NUMBERS)}
        answer = {}
        for kit, (joints, metrics) in kits.items():
            rows = combined.reindex(pd.Index([*joints.values(), None], dtype=combined.index.dtype))
            values = {name: [plain_value(value) for value in rows[name]] for name in metrics}
            answer[kit] = {"joints": [*joints, "total"], **values}
        tell(formatted(answer))
    else:
        heading = one_line(f"{predictions} against {truth}, all sequences")
        tell(f"{heading}\n\n{pose_text(combined.reset_index())}")
