"""The command `pose`, and `track` of folders of poses."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from .. import tracking
from ..formats import read_posetrack
from ..geometries import JOINTS
from ..scoring import slice_files
from ..support import plain_value, work
from ..tables import CheckedBins
from ..tracking import HOTA_NUMBERS, POSEVAL_NUMBERS, PoseResult, conditions
from .answers import Answer, check_out, formatted, heading, keep
from .headlines import first_of_result
from .printing import one_line
from .submissions import Submission
from .text import near_no_truth_text, pose_text
from .videos import Videos

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


def pose(truth: Path, predictions: Submission, out: Path | None, videos: Videos) -> Answer:
    """Scores the poses of a folder; the answer has the numbers of every joint."""
    return answer_of_poses(truth, predictions, out, (), videos)


def answer_of_poses(
    truth: Path, predictions: Submission, out: Path | None, slices: Sequence[Mapping[str, CheckedBins]], videos: Videos
) -> Answer:
    """The same, with the numbers of slices by condition."""
    check_out(out, [truth, predictions.path])
    with work.step("reading"):
        sides = read_posetrack(truth, predictions.path)
    videos = videos.in_truth(sides[0])
    with work.step("matching"):
        result = tracking.pose(*sides)
    combined = result.summary[result.summary["sequence"].isna()]
    with work.step("slicing"):
        sliced = {(*columns,): tracking.pose(*sides, by=columns) for columns in slices}
    by_slice = {"*".join(columns): _poses_by_slice(of, [*columns]) for columns, of in sliced.items()}
    answer = _of_joints(combined) | {"provenance": result.provenance}
    if by_slice:
        answer["by"] = {
            name: [{"value": value, **_of_joints(rows)} for value, rows in of_slices]
            for name, of_slices in by_slice.items()
        }
    counts = [of.summary.attrs.get(conditions.NEAR_NO_TRUTH) for of in sliced.values()]
    near_no_truth = next((count for count in counts if count is not None), None)
    answer |= {} if near_no_truth is None else {conditions.NEAR_NO_TRUTH: near_no_truth}
    formed = formatted(answer)
    read = {"truth": sides[0].objects, "predictions": sides[1].objects}
    tables = {columns: of.summary[of.summary["sequence"].isna()] for columns, of in sliced.items()}
    keep(out, "pose", result, formed, read, slice_files(tables))
    videos.draw(result)
    head = heading(predictions, truth, "all sequences")

    def text() -> str:
        parts = [f"{head}\n\n{pose_text(combined, first_of_result(result))}"]
        for name, of_slices in by_slice.items():
            parts += [f"{one_line(f'{name} {value}')}\n{pose_text(rows)}" for value, rows in of_slices]
        parts += [] if near_no_truth is None else [one_line(near_no_truth_text(near_no_truth))]
        return "\n\n".join(parts)

    return Answer(text, lambda: formed)


def _poses_by_slice(result: PoseResult, columns: Sequence[str]) -> list[tuple[Any, pd.DataFrame]]:
    """The values of each slice, and its combined rows, one a joint."""
    combined = result.summary[result.summary["sequence"].isna()]
    slices = combined.groupby(list(columns), sort=False, observed=True, dropna=False)
    values = [[plain_value(value) for value in key] for key, _ in slices]
    return [(value[0] if len(value) == 1 else value, rows) for value, (_, rows) in zip(values, slices, strict=True)]


def _of_joints(combined: pd.DataFrame) -> dict[str, Any]:
    """The numbers of all joints for JSON, with joints in the names and the order of each kit."""
    of_joint = combined.set_index("joint")
    kits = {"keypoint_hota": (HOTA_JOINTS, HOTA_NUMBERS), "poseval": (POSEVAL_JOINTS, POSEVAL_NUMBERS)}
    answer: dict[str, Any] = {}
    for kit, (joints, metrics) in kits.items():
        rows = of_joint.reindex(pd.Index([*joints.values(), None], dtype=of_joint.index.dtype))
        values = {name: [plain_value(value) for value in rows[name]] for name in metrics}
        answer[kit] = {"joints": [*joints, "total"], **values}
    return answer
