"""reidentify(): keypoint HOTA of people who keep their identity across sequences.

This is the PoseTrack21 kit's evaluation of pose tracking with re-identification (trackeval/eval_reid.py,
metrics/hota_pose_reid.py). The numbers are those of keypoint HOTA, with these differences

    - An identity is the same person in all sequences, so that the counts of tracks and their true positives, of which
      AssA, AssRe, AssPr and FragA are made, go across sequences. Fragments follow one another in the order of names.
    - The pairs of a frame and joint are chosen at each alpha: as many as possible whose similarity is at least alpha,
      and among these the greatest sum of all similarities.
    - There are no numbers of single sequences. Those of all joints together are means over the joints.

Frames in which one side has nobody count as in keypoint HOTA, joints by the sequence of the frame.

Known difference: the kit stops with an error where one side has nobody in a whole sequence. Here the joints of the
other side count once, as in keypoint HOTA.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..geometries import ROUNDING, keypoint_similarity
from ..matching import HEAD_SIZES, FrameRule, Pairs, Rule, alignment, left_out
from ..scoring import NamedSums, official
from ..support import InputError, pandas_tables, result_views
from ..tables import Annotations, Table, arrow, as_annotations, messages, provenance, table_kinds
from .identities import Keypoints, Tracks, counted_in_tracks, identify, number_keypoints
from .metrics.hota import ALPHAS, HOTA_COUNTS, HOTA_WEIGHTED, hota_numbers, hota_parts
from .metrics.keypoint_hota import COUNTS, chosen_pairs, counted_joints
from .poses import HOTA_NUMBERS, check_keypoints, joints_of, near_joints
from .registry import KEYPOINT_HOTA_METRICS
from .track_sums import POSE_CURVES, means_over_alpha

# A pair that counts at an alpha outweighs all similarities of a frame, of which each is at most 1.
OF_A_PAIR = 1000.0


class ReidentifiedPoses(NamedTuple):
    """The result of `reidentify`: two DataFrames, each a field of this NamedTuple.

    Attributes
    ----------
    summary
        One row a joint, the last (`joint` null) of all joints: keypoint HOTA's metrics (0 to 1).
    curve
        One row a joint and `alpha`: HOTA's metrics and `TP`, `FN`, `FP` at this threshold.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> people = sf.read_posetrack("data/poses/truth", "data/poses/tracker")
    >>> result = sf.reidentify(*people, identity="object")
    >>> str(result).splitlines()[1].strip()
    'HOTA 0.2711'
    """

    summary: pd.DataFrame
    curve: pd.DataFrame

    @property
    def provenance(self) -> str:
        """Which official numbers these are, or what keeps them from being official."""
        return official.of_reidentified(arrow.notes_of(self.summary))

    @property
    def why_no_matches(self) -> str:
        """Why functions that take match tables refuse this result, and what to do."""
        why = "identities hold across sequences, so no sequence has numbers of its own"
        return f"{why}, and there are no intervals or comparisons; give what pose() returns, without re-identification"

    def __repr__(self) -> str:
        return result_views.result_as_text(self, self._headline())

    def _repr_html_(self) -> str | None:
        from .track_tables import hota_over_alpha

        front = result_views.Front("summary", keys=["joint"], known=KEYPOINT_HOTA_METRICS.get)
        return result_views.result_as_html(self, self._headline(), [front], hota_over_alpha(self.curve))

    def _headline(self) -> list[str]:
        numbers = result_views.headline(self.summary, ["HOTA"], null=["joint"])
        return [*numbers, *official.lines(self.provenance)]


@table_kinds.same_kind_as("truth")
def reidentify(
    truth: Annotations | Table,
    predictions: Annotations | Table,
    identity: str = "person_id",
    *,
    frames: FrameRule = "truth",
) -> ReidentifiedPoses:
    """Evaluates poses whose identities hold in all sequences: keypoint HOTA with association across sequences.

    A tracker that finds somebody again in another video needs one identity for both; `pose`, which evaluates each
    sequence by itself, does not see whether it has.

    Parameters
    ----------
    truth, predictions
        Annotations, or tables of keypoints, one row a joint: `sequence`, `frame`, `object`, `joint`, `x`, `y` (px), and
        the identity; the truth needs `head_size` (px). `read_posetrack` returns such tables, with a `person_id` where
        the files have it. Crowds and ignored truths count nowhere, as in `pose`.
    identity
        The column that names a person in all sequences. Both sides need it.
    frames
        Which frames count, as in `pose`: "truth", "union" or "labelled".

    Returns
    -------
    ReidentifiedPoses of two DataFrames of the truth's kind (pandas, polars or pyarrow). A null `joint` means all joints
    together, and is the mean over the joints; counts are added.

    summary: one row a joint: `HOTA`, `DetA`, `AssA`, `DetRe`, `DetPr`, `AssRe`, `AssPr`, `LocA`, `RHOTA`
        (sqrt(DetRe AssA)), the fragmentation-aware `FragA`, `FA-HOTA`, `FA-RHOTA` (0 to 1, means over alpha = 0.05,
        0.10 ... 0.95), and `HOTA(0)`, `LocA(0)`, `HOTALocA(0)` (at alpha 0.05). There are no intervals or comparisons,
        since no sequence has numbers of its own.
    curve: one row a joint and `alpha`: HOTA's metrics up to `FA-RHOTA`, and `TP`, `FN`, `FP` there.

    Raises
    ------
    InputError: a column is missing or wrong, an identity is null or occurs twice in a frame, the sides share no
        sequence, or their frames do not agree.

    Notes
    -----
    Doering et al., CVPR 2022, doi:10.1109/CVPR52688.2022.02029, and its evaluation kit.

    Examples
    --------
    One person in two videos. The tracker takes them for somebody else in the second:

    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> rows = {"sequence": ["a", "b"], "frame": 1, "object": 1, "joint": "nose", "x": 50.0, "y": 60.0}
    >>> truth = pd.DataFrame({**rows, "person_id": 7, "head_size": 20.0})
    >>> found = pd.DataFrame({**rows, "person_id": [3, 4]})
    >>> float(sf.reidentify(truth, found).summary["AssA"].iloc[0])
    0.5
    >>> float(sf.pose(truth, found).summary["AssA"].iloc[0])
    1.0
    """
    sides = as_annotations(truth, "truth"), as_annotations(predictions, "predictions")
    _check_identity(identity, sides)
    check_keypoints(*sides)
    rule = Rule("keypoint", head_sizes=HEAD_SIZES, identity=identity)
    aligned = alignment.align(*sides, frames)
    warning, joints = left_out.left_out(aligned, rule), joints_of(aligned)
    everybody, aligned = aligned, counted_in_tracks(aligned, rule)
    keypoints = number_keypoints(aligned, identity, joints, everybody)
    numbers = _with_mean(_parts(keypoints, near_joints(aligned), identity))
    if warning is not None:
        warnings.warn(warning, stacklevel=table_kinds.CALLER)
    result = ReidentifiedPoses(_summary(joints, numbers), _curve(joints, numbers))
    for table in result:
        table.attrs = {**rule.notes, **aligned.notes}
    return result


def _check_identity(identity: str, sides: tuple[Annotations, Annotations]) -> None:
    """Raises InputError for each side that has no such column."""
    hint = "a column that names a person in all sequences is needed; identity= says which"
    problems = [
        messages.missing(provenance.source(side.objects, name), identity, list(side.objects), hint)
        for name, side in zip(("truth", "predictions"), sides, strict=True)
        if identity not in side.objects and len(side.objects)  # one without rows tells nothing
    ]
    if problems:
        raise InputError(problems)


def _parts(keypoints: Keypoints, near: Pairs, identity: str) -> dict[str, np.ndarray]:
    """HOTA's sums by joint, each (joints, alphas), and the counts of the pairs at each alpha."""
    similar = near._replace(measure=keypoint_similarity(near.measure))
    similar = similar.take(np.flatnonzero(similar.measure > 0))
    tracks = _across(keypoints.tracks, identity)
    columns = []
    for number, alpha in enumerate(ALPHAS):
        weights = similar.measure + OF_A_PAIR * (similar.measure >= alpha)
        pairs = chosen_pairs(keypoints, similar, weights, similar.measure >= alpha - ROUNDING)
        columns.append({name: sums[:, number] for name, sums in hota_parts(tracks, pairs).items()})
    place = pd.Index(keypoints.joints).get_indexer(tracks.labels["joint"])  # -1 for null
    parts = {}
    for name in ("hota_tp", *HOTA_WEIGHTED):
        parts[name] = np.zeros((len(keypoints.joints), len(ALPHAS)))
        parts[name][place[place >= 0]] = np.column_stack([column[name] for column in columns])[place >= 0]
    n_truth, n_predicted = (counts.sum(axis=0) for counts in counted_joints(keypoints))
    return parts | {"hota_fn": n_truth - parts["hota_tp"], "hota_fp": n_predicted - parts["hota_tp"]}


def _across(tracks: Tracks, identity: str) -> Tracks:
    """The same rows with all sequences as one, in their order, so that identities go across."""
    aligned = tracks.aligned
    one = aligned.frames.assign({"sequence": np.zeros(len(aligned.frames), np.int64)})
    return identify(aligned._replace(frames=one), identity)


def _with_mean(parts: NamedSums) -> dict[str, np.ndarray]:
    """The numbers of HOTA and the counts TP, FN, FP, each (joints + 1, alphas); last are those of all joints."""
    numbers = {name: np.vstack([values, values.mean(axis=0)]) for name, values in hota_numbers(parts).items()}
    counts = {name: parts[of] for name, of in zip(COUNTS, HOTA_COUNTS, strict=True)}
    return numbers | {name: np.vstack([values, values.sum(axis=0)]) for name, values in counts.items()}


def _summary(joints: list[Any], numbers: NamedSums) -> pd.DataFrame:
    """The table `summary`: one row a joint, that of all joints last."""
    means = means_over_alpha(numbers)
    return pd.DataFrame({"joint": _names(joints, 1), **{name: means[name] for name in HOTA_NUMBERS}})


def _curve(joints: list[Any], numbers: NamedSums) -> pd.DataFrame:
    """The table `curve`: one row a joint and alpha."""
    keys = {"joint": _names(joints, len(ALPHAS)), "alpha": np.tile(np.round(ALPHAS, 2), len(joints) + 1)}
    counts = {name: numbers[name].ravel().astype(np.int64) for name in COUNTS}
    return pd.DataFrame({**keys, **{name: numbers[name].ravel() for name in POSE_CURVES}, **counts})


def _names(joints: list[Any], repeat: int) -> Any:
    """The name of the joint of each row, null for all joints; each `repeat` times."""
    names = pd.Series(joints)
    names = names.astype("Int64" if names.dtype == np.int64 else pandas_tables.TEXT)
    return names.reindex(np.repeat(np.arange(len(joints) + 1), repeat)).array
