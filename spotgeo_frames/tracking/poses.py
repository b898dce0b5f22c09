"""pose(): keypoint HOTA and poseval's MOTA and AP, joint by joint, with the match table behind them.

The values are those of the PoseTrack21 evaluation kit (keypoint HOTA) and of poseval (MOTA and AP), with their oddities
and fill values. Two joints are near up to 0.5 head sizes of the truth. Known differences from both kits

    - A person exists in a frame only if a joint does. The kits also know people without any joint, and count a frame
      with such a person as annotated; `read_posetrack` keeps that in the frames' column `n_annotated`.
    - The joints that are evaluated are PoseTrack's fifteen, also those that never occur. If the tables have any other
      joint, they are those that occur.
    - If both sides have a column `category`, only joints of equal categories are near.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..geometries import JOINTS, ZERO_HEAD_SIZES
from ..matching import (
    HEAD_SIZES,
    Aligned,
    FrameRule,
    Pairs,
    Rule,
    alignment,
    check_columns,
    frame_chunks,
    header_of,
    join_pairs,
    layout,
    left_out,
    match_options,
)
from ..scoring import Evaluable, official, sequence_sums
from ..support import InputError, pandas_tables, result_views, work
from ..tables import (
    Annotations,
    By,
    Columns,
    Table,
    arrow,
    as_annotations,
    as_numbers,
    match_dataframe,
    number_checks,
    provenance,
    table_kinds,
)
from . import conditions
from .identities import Keypoints, number_keypoints, with_nulls
from .metrics.hota import ALPHAS
from .metrics.keypoint_ap import keypoint_ap
from .metrics.keypoint_clear import KeypointClear, keypoint_clear, keypoint_clear_numbers, keypoint_clear_parts
from .metrics.keypoint_hota import COUNTS, keypoint_hota, keypoint_hota_parts, keypoint_hota_totals
from .registry import KEYPOINT_HOTA_METRICS, POSEVAL_COUNTS, POSEVAL_METRICS
from .track_sums import HOTA_SUMS, POSE_CURVES, POSEVAL_SUMS, mean_of_known, means_over_alpha, sums_table

ENTRIES = KEYPOINT_HOTA_METRICS | POSEVAL_METRICS | POSEVAL_COUNTS
HOTA_NUMBERS = list(KEYPOINT_HOTA_METRICS)
POSEVAL_NUMBERS = list(POSEVAL_METRICS)
CLEAR_COUNTS = list(POSEVAL_COUNTS)

# The metrics that a notebook shows of a result before all others.
FIRST = ("HOTA", "DetA", "AssA", "mota", "motp", "pre", "rec", "ap", "switches")


class PoseResult(NamedTuple):
    """The result of `pose`: four DataFrames, each a field of this NamedTuple.

    Attributes
    ----------
    summary
        One row a sequence and joint, with rows of all joints (`joint` null) and of all sequences (`sequence` null); the
        last row is of all. Columns: keypoint HOTA's metrics (0 to 1), poseval's (percent) and the counts behind them.
    curve
        One row a sequence, joint and `alpha`: HOTA's metrics and `TP`, `FN`, `FP` at this threshold.
    matches
        The match table of poseval's tracks, one row a matched, missed or falsely predicted joint, with `event`.
    sums
        One row a sequence and joint (null: all joints): sums, from which all metrics but ap, ap_pre and ap_rec follow,
        and which add up over sequences.

    Shown as text, it begins with the combined HOTA, mota and ap.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> result = sf.pose(*sf.read_posetrack("data/poses/truth", "data/poses/tracker"))
    >>> str(result).splitlines()[1].strip()
    'HOTA 0.3374, mota 65.94, ap 76.9'
    >>> result.matches["event"].value_counts().to_dict()
    {'match': 3738, 'miss': 817, 'false positive': 647, 'switch': 104}
    """

    summary: pd.DataFrame
    curve: pd.DataFrame
    matches: pd.DataFrame
    sums: pd.DataFrame

    @property
    def provenance(self) -> str:
        """Which official numbers these are, or what keeps them from being official."""
        return official.of_poses(arrow.notes_of(self.summary))

    def __repr__(self) -> str:
        return result_views.result_as_text(self, self._headline())

    def _repr_html_(self) -> str | None:
        from .track_tables import hota_over_alpha

        columns = [*conditions.labels_of(self.matches), "sequence", "joint", *FIRST]
        front = result_views.Front("summary", columns, ["sequence", "joint"], ENTRIES.get)
        return result_views.result_as_html(self, self._headline(), [front], hota_over_alpha(self.curve))

    def _headline(self) -> list[str]:
        names = [*conditions.labels_of(self.matches), "HOTA", "mota", "ap"]
        numbers = result_views.headline(self.summary, names, null=["sequence", "joint"])
        return [*numbers, *official.lines(self.provenance)]


class EvaluatedPoses(NamedTuple):
    """Two sides of keypoints and what they add up to.

    `near` are the pairs of joints at most HEAD_SIZES head sizes apart, `evaluated` marks the images in which somebody
    is annotated, and `matched` are poseval's matches. `parts` are HOTA's sums by sequence and joint, `totals` those of
    all joints, and `clear` poseval's sums by sequence and joint.
    """

    keypoints: Keypoints
    near: Pairs
    evaluated: np.ndarray
    matched: KeypointClear
    parts: dict[str, np.ndarray]
    totals: dict[str, np.ndarray]
    clear: dict[str, np.ndarray]


@sequence_sums.evaluable.register(PoseResult)
def _(x: PoseResult, name: str) -> Evaluable:
    from .results import evaluable_poses

    return evaluable_poses(x.sums, x.matches, name)


@table_kinds.same_kind_as("truth")
def pose(
    truth: Annotations | Table,
    predictions: Annotations | Table,
    identity: str = "object",
    *,
    by: By | None = None,
    where: Mapping[str, Any] | None = None,
    frames: FrameRule = "truth",
) -> PoseResult:
    """Evaluates poses and their tracks joint by joint: keypoint HOTA, and poseval's MOTA and AP.

    Parameters
    ----------
    truth, predictions
        Annotations, or tables of keypoints, one row a joint: `sequence`, `frame`, `object`, `joint`, `x`, `y` (px).
        The truth needs `head_size` (px), and AP uses the predictions' `score`. `read_posetrack` returns such tables.
        poseval evaluates only frames in which somebody is annotated: those whose `n_annotated` in the truth's frames
        table is above 0, and those in which the truth has a joint. Truths whose `crowd` is true count nowhere, nor do
        joints without a truth that lie within half a head size of one. Truths whose `ignore` is true count nowhere, nor
        do the joints that they are matched with, within half a head size.
    identity
        The column that names an object through its sequence. A side that lacks the column uses `object`.
    by
        Conditions, as names of columns that match tables have: `truth_<column>`, `frame_<column>`, `frame_n_truth`,
        `frame_n_predicted` (of joints, those of the joint) or `sequence_<column>`. Give one, a list of them, which are
        crossed, or a dict from names to a count of quantile bins, to the edges of bins, or to None for the values as
        they are. For each value of a column of the truth, all other joints of the truth are ignored: they are matched
        with the rest, within half a head size, and leave with the joints that they took. Predicted joints near no truth
        count in every slice; the note `near_no_truth` says how many there are. A value of frames or sequences leaves
        these frames alone. Joints without a value are in no slice.
    where
        A dict from such columns to a value, a list of values, or a `pandas.Interval`: this one condition is evaluated,
        as {"truth_group": "runner"}. `by` then divides what is left. A warning says so if nothing meets it.
    frames
        Which frames count. "truth": the rows of the truth's frames table; predictions in any other frame raise an
        InputError. If the truth has no frames table, the frames that occur on either side count, with a warning where
        predictions have whole sequences without truth. "union": all frames that either side has. "labelled": the frames
        in which the truth has rows or that its frames table lists; predictions elsewhere are left out.

    Returns
    -------
    PoseResult of four DataFrames of the truth's kind (pandas, polars or pyarrow). In the first two, a null `joint`
    means all joints together and a null `sequence` all sequences together; both are null in the last row. The value of
    all joints is the mean over the joints, or, for poseval, over those whose value is not null; counts are added.
    Keypoint HOTA combines all joints of all sequences in another way: AssA, AssRe, AssPr, FragA and LocA are means of
    the sequences' values, weighted by their TP; DetA, DetRe and DetPr follow from added counts, and all others from
    these at each alpha, such as HOTA = sqrt(DetA AssA).

    summary: one row a sequence and joint: keypoint HOTA's `HOTA`, `DetA`, `AssA`, `DetRe`, `DetPr`, `AssRe`, `AssPr`,
        `LocA`, `RHOTA` (sqrt(DetRe AssA)), the fragmentation-aware `FragA`, `FA-HOTA`, `FA-RHOTA` (0 to 1, means over
        alpha = 0.05, 0.10 ... 0.95), `HOTA(0)`, `LocA(0)` and their product `HOTALocA(0)` (at alpha 0.05); poseval's
        `mota`, `motp`, `pre`, `rec` of tracks and `ap`, `ap_pre`, `ap_rec` of poses (percent); and the counts of tracks
        `objects`, `detections`, `misses`, `false_positives`, `switches`.
    curve: one row a sequence, joint and `alpha`: HOTA's metrics up to `FA-RHOTA`, and `TP`, `FN`, `FP` there.
    matches: the match table of poseval's tracks, in all frames, also the last of each sequence, which poseval leaves
        out of its metrics. `similarity` is 1 - d / 0.5001 for a distance of d head sizes, and `event` is "match",
        "switch", "miss" or "false positive".
    sums: one row a sequence and joint (null: all joints), with the attributes of the sequence (`sequence_<column>`):
        counts and other sums, from which all metrics but AP's follow; HOTA's have a column for each alpha, such as
        `hota_tp_0.05`. `summarize`, `intervals`, `compare` and `leaderboard` add them up.

    With conditions, all tables have their columns, after `sequence`, and rows of each slice where there were rows of
    all. In `matches` they are called `by_<condition>`, and its own columns stay as they are. Slices share predictions,
    so there is no row of all slices, and `summarize`, `intervals` and `compare` of such a result need all conditions in
    `by`.

    Raises
    ------
    InputError: a column is missing or wrong, an identity occurs twice in a frame, the sides share no sequence, their
        frames do not agree, or `by` names a column that is no condition or has no
        value.

    Notes
    -----
    Keypoint HOTA: Doering et al., CVPR 2022, doi:10.1109/CVPR52688.2022.02029. MOTA and AP: poseval,
    github.com/leonid-pishchulin/poseval.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth, predictions = sf.read_posetrack("data/poses/truth", "data/poses/tracker")
    >>> result = sf.pose(truth, predictions)
    >>> result.summary.iloc[-1][["HOTA", "mota", "ap"]].astype(float).round(3).to_dict()
    {'HOTA': 0.337, 'mota': 65.939, 'ap': 76.903}
    """
    sides = as_annotations(truth, "truth"), as_annotations(predictions, "predictions")
    check_keypoints(*sides)
    rule = Rule("keypoint", head_sizes=HEAD_SIZES, identity=identity)
    by_class, wanted = conditions.asked_for(by)
    if by_class is not None:
        raise InputError("by: poses are not evaluated by class; by='truth_category' is a condition")
    aligned = alignment.align(*sides, frames)
    warning = left_out.left_out(aligned, rule)
    joints = joints_of(aligned)  # of all slices the same
    slices = conditions.sliced(aligned, rule, wanted, where)
    parts = [_tables(part.aligned, rule, joints, aligned) for part in slices.slices]
    for text in filter(None, (warning, slices.warning)):
        warnings.warn(text, stacklevel=table_kinds.CALLER)
    tables = (
        parts[0] if slices.is_whole else PoseResult(*conditions.joined_slices(parts, PoseResult._fields, slices.labels))
    )
    for table in tables:
        table.attrs = {**rule.notes, **slices.slices[0].aligned.notes, **slices.notes}
    return tables


def _tables(aligned: Aligned, rule: Rule, joints: Sequence[Any], everybody: Aligned) -> PoseResult:
    """The tables of two aligned sides that count, without notes; `everybody` are also those who do not count."""
    found = evaluate_poses(aligned, near_joints(aligned), rule.identity or "object", joints, everybody)
    keypoints, near, evaluated = found.keypoints, found.near, found.evaluated
    hota = keypoint_hota(found.parts, found.totals)
    clear = {name: sequence_sums.with_total(counts) for name, counts in found.clear.items()}
    percentages = keypoint_clear_numbers(clear) | keypoint_ap(keypoints, near, evaluated)
    return PoseResult(
        _summary(keypoints, hota, percentages, clear),
        _curve(keypoints, hota),
        pose_matches(aligned, found.matched, rule),
        pose_sums(keypoints, found.parts, found.totals, found.clear),
    )


def evaluate_poses(
    aligned: Aligned,
    similar: Pairs,
    identity: str,
    joints: Sequence[Any] | None = None,
    everybody: Aligned | None = None,
) -> EvaluatedPoses:
    """What two aligned sides add up to, average precision aside; `similar` are the pairs that `near_joints` returns.

    `joints` are those that are evaluated, PoseTrack's or those that occur without it. `everybody` are the sides with
    those who do not count, which still tell in which images there is somebody. Raises InputError if an identity is null
    or occurs twice in a frame.
    """
    joints = joints_of(aligned) if joints is None else joints
    keypoints = number_keypoints(aligned, identity, list(joints), everybody)
    parts = keypoint_hota_parts(keypoints, similar)
    near = similar.take(np.flatnonzero(similar.measure <= HEAD_SIZES))
    evaluated = _evaluated_images(keypoints)
    matched = keypoint_clear(keypoints, near)
    clear = keypoint_clear_parts(keypoints, near, matched, evaluated)
    return EvaluatedPoses(keypoints, near, evaluated, matched, parts, keypoint_hota_totals(parts), clear)


def check_keypoints(truth: Annotations, predictions: Annotations) -> None:
    """Raises InputError if a side has no column `joint`, or the truth no valid head sizes."""
    named = ("truth", truth), ("predictions", predictions)
    problems = [
        f"{provenance.source(side.objects, name)}: column joint is missing; poses have one row a joint"
        for name, side in named
        if "joint" not in side.objects
    ]
    why = "poses need the size of each head, px, to measure distances (match(similarity='oks') needs area instead)"
    problems += number_checks.size_problems(truth.objects, "head_size", provenance.source(truth.objects, "truth"), why)
    if truth.frames is not None and "n_annotated" in truth.frames:
        dtype = truth.frames["n_annotated"].dtype
        if not pd.api.types.is_any_real_numeric_dtype(dtype):
            name = provenance.source(truth.objects, "truth")
            problems.append(f"{name} frames: column n_annotated is of type {dtype}; numbers are needed")
    if problems:
        raise InputError(problems)
    check_columns(match_options(), *(header_of(side.objects, name) for name, side in named))


def joints_of(aligned: Aligned) -> list[Any]:
    """PoseTrack's fifteen joints; if any other joint occurs, all that occur."""
    occurring = sorted(pd.Series(aligned.frames["joint"]).dropna().unique().tolist())
    return list(JOINTS) if {*occurring} <= {*JOINTS} else occurring


def near_joints(aligned: Aligned) -> Pairs:
    """All pairs of joints that are at most ZERO_HEAD_SIZES head sizes apart, sorted by truth."""
    chunks = list(frame_chunks(aligned.truth, aligned.predictions))
    near = Rule("keypoint").near(aligned, ZERO_HEAD_SIZES)
    return join_pairs([near(*chunk) for chunk in work.progress(chunks, "comparing", "part")])


def _evaluated_images(keypoints: Keypoints) -> np.ndarray:
    """Marks the images in which somebody is annotated, including people that preprocessing has taken out."""
    frames, has_truth = keypoints.tracks.aligned.frames, keypoints.has_truth
    if "n_annotated" not in frames:
        return has_truth
    first = np.flatnonzero(np.diff(keypoints.image, prepend=-1))
    return has_truth | (as_numbers(frames["n_annotated"].take(first)) > 0)


def _summary(
    keypoints: Keypoints,
    hota: Mapping[str, np.ndarray],
    percentages: Mapping[str, np.ndarray],
    counts: Mapping[str, np.ndarray],
) -> pd.DataFrame:
    """The table `summary`: one row a sequence and joint, with rows of all joints and of all sequences."""
    means = means_over_alpha(hota)
    columns = {name: means[name] for name in HOTA_NUMBERS}
    for name in POSEVAL_NUMBERS:
        columns[name] = np.column_stack([percentages[name], mean_of_known(percentages[name])])
    for name in CLEAR_COUNTS:
        columns[name] = np.column_stack([counts[name], counts[name].sum(axis=1)]).astype(np.int64)
    return pd.DataFrame(_keys(keypoints) | {name: values.ravel() for name, values in columns.items()})


def _curve(keypoints: Keypoints, hota: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """The table `curve`: one row a sequence, joint and alpha."""
    keys = _keys(keypoints, repeat=len(ALPHAS))
    alphas = np.tile(np.round(ALPHAS, 2), len(keys["sequence"]) // len(ALPHAS))
    counts = {name: hota[name].ravel().astype(np.int64) for name in COUNTS}
    return pd.DataFrame(keys | {"alpha": alphas, **{name: hota[name].ravel() for name in POSE_CURVES}, **counts})


def pose_sums(
    keypoints: Keypoints,
    parts: Mapping[str, np.ndarray],
    totals: Mapping[str, np.ndarray],
    clear: Mapping[str, np.ndarray],
) -> pd.DataFrame:
    """The table `sums`: one row a sequence and joint, the row of all joints last."""
    hota = {name: np.concatenate([parts[name], totals[name][:, None]], axis=1) for name in HOTA_SUMS}
    counts = {name: np.column_stack([clear[name], clear[name].sum(axis=1)]) for name in POSEVAL_SUMS}
    keys = _keys(keypoints)
    n_rows = keypoints.n_sequences * (len(keypoints.joints) + 1)
    sequence = keypoints.sequence_names.take(np.arange(keypoints.n_sequences).repeat(len(keypoints.joints) + 1))
    labels = Columns({"sequence": sequence, "joint": keys["joint"][:n_rows]})
    values = {name: rows.reshape(n_rows, *rows.shape[2:]) for name, rows in (hota | counts).items()}
    return sums_table(keypoints.tracks.aligned, labels, values)


def _keys(keypoints: Keypoints, repeat: int = 1) -> dict[str, Any]:
    """Sequence and joint of each row, null for all of them together; each row `repeat` times."""
    n_rows, n_columns = keypoints.n_sequences + 1, len(keypoints.joints) + 1
    sequence = np.repeat(np.arange(n_rows), n_columns * repeat)
    joints = pd.Series(keypoints.joints)
    joints = joints.astype("Int64" if joints.dtype == np.int64 else pandas_tables.TEXT)
    joint = np.tile(np.repeat(np.arange(n_columns), repeat), n_rows)
    names = with_nulls(keypoints.sequence_names, n_rows)
    return {"sequence": names.take(sequence), "joint": joints.reindex(joint).array}


def pose_matches(aligned: Aligned, matched: KeypointClear, rule: Rule) -> pd.DataFrame:
    """The table `matches`: the match table of joints, with events."""
    table = layout.match_table(aligned, matched.pairs, rule)
    return match_dataframe(layout.with_events(table, matched.switch))
