"""pose(): keypoint HOTA and poseval's MOTA and AP, joint by joint, with the match table behind them.

The numbers are those of the PoseTrack21 evaluation kit and of poseval, oddities and fill values included; the modules
`metrics/keypoint_hota.py`, `keypoint_clear.py` and `keypoint_ap.py` say how each is defined and list what is odd, and
`formats/posetrack/preprocessing.py` what is taken out before. Known differences from both

    - A pose is there where one of its joints is. The kits know people without any joint; see there.
    - Any joints are evaluated: PoseTrack's fifteen, also those that never occur, or else, where the tables have a joint
      that is not among these, all that occur.
    - With `category` on both sides only equal categories are near.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..matching.alignment import Aligned, FrameRule, align
from ..matching.layout import match_table, with_events
from ..matching.near_points import near_keypoints
from ..matching.pairs import Pairs, frame_chunks, join_pairs
from ..matching.rule import Rule
from ..scoring.group_sums import with_total
from ..support.errors import InputError
from ..support.named_tables import as_html, as_text, headline
from ..support.progress import progress
from ..tables.annotations import Annotations, as_annotations
from ..tables.arrow import Table
from ..tables.inputs import source
from ..tables.joints import JOINTS
from ..tables.schema import size_problems
from .keypoints import Keypoints, number_keypoints
from .metrics.hota import ALPHAS
from .metrics.keypoint_ap import keypoint_ap
from .metrics.keypoint_clear import NEAR, KeypointClear, keypoint_clear, keypoint_clear_numbers, keypoint_clear_parts
from .metrics.keypoint_hota import COUNTS, ZERO_DISTANCE, keypoint_hota, keypoint_similarity
from .registry import HOTA_METRICS, POSEVAL_COUNTS, POSEVAL_METRICS

HOTA_NUMBERS = list(HOTA_METRICS)
POSEVAL_NUMBERS = list(POSEVAL_METRICS)
CLEAR_COUNTS = list(POSEVAL_COUNTS)


class PoseResult(NamedTuple):
    """What `pose` returns: three plain tables; its docstring says what they hold."""

    summary: pd.DataFrame
    curve: pd.DataFrame
    matches: pd.DataFrame

    def __repr__(self) -> str:
        return as_text(self, self._headline())

    def _repr_html_(self) -> str | None:
        return as_html(self, self._headline())

    def _headline(self) -> list[str]:
        return headline(self.summary, ["HOTA", "mota", "ap"], null=["sequence", "joint"])


def pose(
    truth: Annotations | Table,
    predictions: Annotations | Table,
    identity: str = "object",
    *,
    frames: FrameRule = "truth",
) -> PoseResult:
    """Evaluates poses and their tracks joint by joint: keypoint HOTA, and poseval's MOTA and AP.

    Parameters
    ----------
    truth, predictions
        Annotations, or tables of keypoints, one row a joint: `sequence`, `frame`, `object`, `joint`, `x`, `y` (px),
        and the truth's `head_size` (px), the predictions' `score`. `read_posetrack` makes such. Where the truth's
        frames have `n_annotated`, poseval leaves out those in which it is 0, else those in which the truth has no
        joint.
    identity
        The column that names an object through its sequence, on each side that has it; `object` on a side that has not.
    frames
        Which frames count, as for `match`.

    Returns
    -------
    PoseResult of three DataFrames. A null `joint` is all joints together, a null `sequence` all sequences; the last row
    of the first two tables is of all. How the kits put them together is not always by a mean; the modules say it.

    summary: one row a sequence and joint: keypoint HOTA's `HOTA`, `DetA`, `AssA`, `DetRe`, `DetPr`, `AssRe`, `AssPr`,
        `LocA` (0 to 1, means over alpha); poseval's `mota`, `motp`, `pre`, `rec` of tracks and `ap`, `ap_pre`, `ap_rec`
        of poses (percent); and the counts behind the tracks', `objects`, `detections`, `misses`, `false_positives`,
        `switches`.
    curve: one row a sequence, joint and `alpha`: the eight numbers of HOTA and `TP`, `FN`, `FP` there.
    matches: the match table of poseval's tracks, in all frames, the last of each sequence included; `similarity` is
        1 - d / 0.5001, d being the distance in head sizes, and `event` is "match", "switch", "miss" or "false
        positive".

    Raises
    ------
    InputError: a table is not right, an identity is twice in a frame, the sides share no sequence, or their frames do
        not agree.
    """
    sides = as_annotations(truth, "truth"), as_annotations(predictions, "predictions")
    _check_keypoints(*sides)
    aligned = align(*sides, frames)
    keypoints = number_keypoints(aligned, identity, _joints(aligned))
    similar = near_joints(aligned)
    hota = keypoint_hota(keypoints, similar)
    near = similar.take(np.flatnonzero(similar.measure <= NEAR))
    evaluated = _evaluated(keypoints)
    found = keypoint_clear(keypoints, near)
    clear = with_total(keypoint_clear_parts(keypoints, near, found, evaluated))
    percentages = keypoint_clear_numbers(clear) | keypoint_ap(keypoints, near, evaluated)
    rule = Rule("keypoint", head_sizes=NEAR, identity=identity)
    tables = PoseResult(
        _summary(keypoints, hota, percentages, clear), _curve(keypoints, hota), _matches(aligned, found, rule)
    )
    for table in tables:
        table.attrs = rule.notes
    return tables


def _check_keypoints(truth: Annotations, predictions: Annotations) -> None:
    """Raises InputError where a side has no joints, or the truth no sizes of heads."""
    problems = [
        f"{source(side.objects, name)}: column joint is missing; poses have one row a joint"
        for name, side in (("truth", truth), ("predictions", predictions))
        if "joint" not in side.objects
    ]
    why = "distances are measured in sizes of the head, px (match(similarity='oks') compares poses by their area)"
    problems += size_problems(truth.objects, "head_size", source(truth.objects, "truth"), why)
    if truth.frames is not None and "n_annotated" in truth.frames:
        kind = truth.frames["n_annotated"].dtype
        if not pd.api.types.is_any_real_numeric_dtype(kind):
            problems.append(
                f"{source(truth.objects, 'truth')} frames: column n_annotated is of type {kind}; numbers are needed"
            )
    if problems:
        raise InputError(problems)


def _joints(aligned: Aligned) -> list[Any]:
    """PoseTrack's fifteen, also those that never occur; all that occur where one is not among these."""
    occurring = sorted(aligned.frames["joint"].dropna().unique().tolist())
    return list(JOINTS) if {*occurring} <= {*JOINTS} else occurring


def near_joints(aligned: Aligned) -> Pairs:
    """All pairs of joints that are less than ZERO_DISTANCE apart, in head sizes."""
    head_size = aligned.truth.table["head_size"].to_numpy(np.float64)
    parts = list(frame_chunks(aligned.truth, aligned.predictions))
    near = partial(near_keypoints, aligned, head_size, ZERO_DISTANCE)
    return join_pairs([near(*part) for part in progress(parts, "comparing", "part")])


def _evaluated(keypoints: Keypoints) -> np.ndarray:
    """Marks the images in which somebody is annotated, be it that they are there or that they were taken out."""
    frames, there = keypoints.tracks.aligned.frames, keypoints.truth.counts > 0
    if "n_annotated" not in frames:
        return there
    first = np.flatnonzero(np.diff(keypoints.image, prepend=-1))
    return there | (frames["n_annotated"].take(first).to_numpy(np.float64, na_value=0.0) > 0)


def _summary(
    keypoints: Keypoints,
    hota: Mapping[str, np.ndarray],
    percentages: Mapping[str, np.ndarray],
    counts: Mapping[str, np.ndarray],
) -> pd.DataFrame:
    """One row a sequence and joint, with those of all joints and all sequences."""
    columns = {name: hota[name].mean(axis=2) for name in HOTA_NUMBERS}
    for name in POSEVAL_NUMBERS:
        columns[name] = np.column_stack([percentages[name], _mean_of_known(percentages[name])])
    for name in CLEAR_COUNTS:
        columns[name] = np.column_stack([counts[name], counts[name].sum(axis=1)]).astype(np.int64)
    return pd.DataFrame(_keys(keypoints) | {name: values.ravel() for name, values in columns.items()})


def _mean_of_known(values: np.ndarray) -> np.ndarray:
    """The mean of each row without its nulls; null where there is nothing else."""
    known = ~np.isnan(values)
    number = known.sum(axis=1)
    return np.where(known, values, 0).sum(axis=1) / np.where(number > 0, number, np.nan)


def _curve(keypoints: Keypoints, hota: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """One row a sequence, joint and alpha."""
    keys = _keys(keypoints, repeat=len(ALPHAS))
    alphas = np.tile(np.round(ALPHAS, 2), len(keys["sequence"]) // len(ALPHAS))
    counts = {name: hota[name].ravel().astype(np.int64) for name in COUNTS}
    return pd.DataFrame(keys | {"alpha": alphas, **{name: hota[name].ravel() for name in HOTA_NUMBERS}, **counts})


def _keys(keypoints: Keypoints, repeat: int = 1) -> dict[str, Any]:
    """Sequence and joint of each row, those of all null; each row `repeat` times."""
    n_rows, n_columns = keypoints.n_sequences + 1, len(keypoints.joints) + 1
    number = np.repeat(np.arange(n_rows), n_columns * repeat)
    first = np.append(np.flatnonzero(np.diff(keypoints.track_sequence, prepend=-1)), len(keypoints.track_sequence))
    joints = pd.Series(keypoints.joints)
    joints = joints.astype("Int64" if joints.dtype == np.int64 else "str")
    joint = np.tile(np.repeat(np.arange(n_columns), repeat), n_rows)
    names = keypoints.tracks.sequence_names.reindex(first).reset_index(drop=True)
    return {"sequence": names.take(number).array, "joint": joints.reindex(joint).array}


def _matches(aligned: Aligned, found: KeypointClear, rule: Rule) -> pd.DataFrame:
    """The match table of joints, with what happened to the identities."""
    similarity = keypoint_similarity(found.pairs.measure)
    return with_events(match_table(aligned, found.pairs._replace(measure=similarity), rule), found.switch)
