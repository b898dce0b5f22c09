"""The commands for tracks and poses."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from ..formats.motchallenge.preprocessing import BENCHMARKS, read_motchallenge
from ..formats.posetrack.preprocessing import read_posetrack
from ..support.names import plain_value
from ..support.writing import check_folder_writable, write_tables
from ..tables.inputs import input_notes, inputs_of
from ..tables.joints import JOINTS
from ..tracking import poses
from ..tracking import tracks as tracking
from .arguments import PosePredictionFolder, PoseTruthFolder, TrackerFolder, TruthFolder
from .as_json import formatted
from .problems import problems_reported
from .text import pose_text, track_text

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


def track(
    truth: TruthFolder,
    tracker: TrackerFolder,
    benchmark: Annotated[str, typer.Option(help=f"The benchmark whose rules apply: {', '.join(BENCHMARKS)}")] = "MOT17",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the tables behind the numbers, as Parquet")] = None,
) -> None:
    """Scores the tracks of a MOTChallenge folder by HOTA, CLEAR (MOTA) and Identity (IDF1), by sequence and combined.

    Each line of a file has frame, identity, left, top, width and height. In a tracker's file the score follows; in the
    truth's file the mark, the class and the visibility follow. Frames are numbered from 1, and boxes are in pixels.
    """
    if benchmark not in BENCHMARKS:
        raise typer.BadParameter(f"--benchmark: {benchmark!r} is none of {', '.join(BENCHMARKS)}")
    with problems_reported():
        if out is not None:
            check_folder_writable(out)
        sides = read_motchallenge(truth, tracker, benchmark)
        result = tracking.track(*sides)
        if out is not None:
            inputs = inputs_of({"truth": sides[0].objects, "tracker": sides[1].objects})
            write_tables(result._asdict(), out, input_notes(inputs) | {"benchmark": benchmark})
    rows = result.summary.to_dict("records")
    if as_json:
        *by_sequence, combined = [{name: plain_value(row[name]) for name in tracking.NUMBERS} for row in rows]
        sequences = dict(zip(result.summary["sequence"][:-1], by_sequence, strict=True))
        typer.echo(formatted({"combined": combined, "sequences": sequences}))
    else:
        typer.echo(f"{tracker} against {truth}, by the rules of {benchmark}\n")
        typer.echo(track_text(result.summary))


def pose(
    truth: PoseTruthFolder,
    predictions: PosePredictionFolder,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON for programs, with joints in the names and order of each kit")
    ] = False,
) -> None:
    """Scores the poses of a PoseTrack folder joint by joint, by keypoint HOTA and by poseval's MOTA and AP."""
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
        typer.echo(formatted(answer))
    else:
        typer.echo(f"{predictions} against {truth}, all sequences\n")
        typer.echo(pose_text(combined.reset_index()))
