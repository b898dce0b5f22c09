"""The command `pose`."""

from pathlib import Path

import pandas as pd

from ..formats.posetrack import read_posetrack
from ..geometries.joints import JOINTS
from ..support.addresses import shown
from ..support.texts import plain_value
from ..tracking import poses
from .as_json import formatted
from .outputs import check_out, keep
from .printing import one_line, tell
from .problems import problems_reported
from .submissions import Submission
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


def pose(truth: Path, predictions: Submission, as_json: bool, out: Path | None) -> None:
    """Scores the poses of a folder, and prints the numbers of every joint."""
    with problems_reported():
        check_out(out, [truth, predictions.path])
        sides = read_posetrack(truth, predictions.path)
        result = poses.pose(*sides)
        combined = result.summary[result.summary["sequence"].isna()]
        answer = _answer(combined)
        read = {"truth": sides[0].objects, "predictions": sides[1].objects}
        keep(out, "pose", result, answer, read)
    if as_json:
        tell(answer)
    else:
        heading = one_line(f"{predictions.shown} against {shown(truth)}, all sequences")
        tell(f"{heading}\n\n{pose_text(combined)}")


def _answer(combined: pd.DataFrame) -> str:
    """Formats the numbers of all joints as JSON, with joints in the names and the order of each kit."""
    of_joint = combined.set_index("joint")
    kits = {"keypoint_hota": (HOTA_JOINTS, poses.HOTA_NUMBERS), "poseval": (POSEVAL_JOINTS, poses.POSEVAL_NUMBERS)}
    answer = {}
    for kit, (joints, metrics) in kits.items():
        rows = of_joint.reindex(pd.Index([*joints.values(), None], dtype=of_joint.index.dtype))
        values = {name: [plain_value(value) for value in rows[name]] for name in metrics}
        answer[kit] = {"joints": [*joints, "total"], **values}
    return formatted(answer)
