"""The sums of tracks, of poses and of single joints: their names, the table `sums`, and the metrics that follow.

A sum that there is for each alpha of HOTA has a column for each in the table, such as `hota_tp_0.05`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..matching import Aligned, alignment
from ..scoring import MetricSet, NamedSums, PerSequence, Sums
from ..support import InputError
from ..tables import Columns, dataframe_of, messages, schema
from .metrics.clear import clear_numbers
from .metrics.hota import ALPHAS, HOTA_COUNTS, HOTA_WEIGHTED, hota_numbers
from .metrics.identity import identity_numbers
from .metrics.keypoint_clear import keypoint_clear_numbers
from .on_request import requested_numbers, with_requested
from .registry import (
    FRAGMENTATION_METRICS,
    HOTA_METRICS,
    KEYPOINT_HOTA_METRICS,
    OTHER_TRACK_METRICS,
    POSEVAL_COUNTS,
    POSEVAL_METRICS,
    RECALL_METRICS,
    TRACK_METRICS,
    TRACK_SIZES,
)

if TYPE_CHECKING:
    import pandas as pd

# All columns of the summary of `track` and of `pose`, in their order.
TRACK_COLUMNS = TRACK_METRICS | OTHER_TRACK_METRICS | TRACK_SIZES
POSE_COLUMNS = KEYPOINT_HOTA_METRICS | POSEVAL_METRICS | POSEVAL_COUNTS

# The metrics of poses that come from predictions sorted by score, and those that follow from added sums.
OF_SORTED_SCORES = ("ap", "ap_pre", "ap_rec")
ADDED = {name: metric for name, metric in POSE_COLUMNS.items() if name not in OF_SORTED_SCORES}

# The sums of `track` and of `pose`, in the order of the table `sums`.
HOTA_SUMS = [*HOTA_COUNTS, *HOTA_WEIGHTED]
CLEAR_SUMS = ["TP", "FN", "FP", "IDSW", "Frag", "MT", "PT", "ML", "similarity", "clear_frames"]
TRACK_SUMS = [*HOTA_SUMS, *CLEAR_SUMS, "IDTP", "IDFN", "IDFP", *TRACK_SIZES]
POSEVAL_SUMS = [*POSEVAL_COUNTS, "distance"]
POSE_SUMS = [*HOTA_SUMS, *POSEVAL_SUMS]

# The columns of each sum that there is for each alpha.
AT_ALPHAS = {name: [f"{name}_{alpha:.2f}" for alpha in ALPHAS] for name in [*HOTA_COUNTS, *HOTA_WEIGHTED]}

# The metrics of HOTA at its first alpha, by those that they are of.
AT_FIRST_ALPHA = {"HOTA(0)": "HOTA", "LocA(0)": "LocA", "HOTALocA(0)": "HOTALocA"}

# The metrics of HOTA at each alpha, of tracks and of poses, in the order of the columns of the table `curve`.
TRACK_CURVES = [*HOTA_METRICS, "OWTA", *FRAGMENTATION_METRICS]
POSE_CURVES = [*HOTA_METRICS, *RECALL_METRICS, *FRAGMENTATION_METRICS]
OF_HOTA = {*TRACK_CURVES, *POSE_CURVES, *AT_FIRST_ALPHA}


def sums_columns(names: Iterable[str]) -> list[str]:
    """The columns that these sums have in a table `sums`."""
    return [column for name in names for column in AT_ALPHAS.get(name, [name])]


def check_sums_columns(table: pd.DataFrame, name: str, names: Iterable[str]) -> None:
    """Raises InputError, which calls the table `name`, if a table `sums` lacks columns of the named sums."""
    lacking = [column for column in sums_columns(names) if column not in table]
    if lacking:
        why = "track() and pose() make it; if an earlier version did not, evaluate again with this one"
        raise InputError(messages.missing(name, lacking[0], (), why))


def sums_table(aligned: Aligned, labels: Columns, values: NamedSums) -> pd.DataFrame:
    """The table `sums` of these sums (rows,) or (rows, alphas).

    `labels` have the key of each row, `sequence` and perhaps `joint` or `category`, sorted by sequence, to which the
    attributes of the sequences and the categories are added.
    """
    import pandas as pd

    attributes = alignment.sequence_attributes(aligned, labels["sequence"])
    key = labels.assign({f"{schema.PREFIXES['sequences']}{name}": rows for name, rows in attributes.items()})
    if "category" in labels:
        attributes = alignment.category_attributes(aligned, labels["category"])
        key = key.assign({f"{schema.CATEGORY_PREFIX}{name}": rows for name, rows in attributes.items()})
    matrix = np.column_stack([np.asarray(rows, np.float64) for rows in values.values()])
    return pd.concat([dataframe_of(key), pd.DataFrame(matrix, columns=sums_columns(values), copy=False)], axis=1)


def sums_of_table(table: pd.DataFrame, names: Iterable[str]) -> dict[str, np.ndarray]:
    """The named sums of a table `sums`, each (rows,) or (rows, alphas)."""
    # Sums are rounded by the order in which memory holds them, so it is the same whatever a table is made of.
    return {name: np.ascontiguousarray(table[AT_ALPHAS.get(name, name)].to_numpy(np.float64)) for name in names}


def _means(sums: NamedSums, names: Sequence[str]) -> dict[str, np.ndarray]:
    """HOTA's metrics as means over alpha, and those at its first alpha; none if none is among the names."""
    return {} if OF_HOTA.isdisjoint(names) else means_over_alpha(hota_numbers(sums))


def means_over_alpha(curves: NamedSums) -> dict[str, np.ndarray]:
    """The means of HOTA's metrics (..., alphas) over alpha, and the metrics at its first alpha."""
    first = {name: curves[of][..., 0] for name, of in AT_FIRST_ALPHA.items()}
    return {name: curve.mean(axis=-1) for name, curve in curves.items()} | first


def _curves(sums: NamedSums, names: Sequence[str]) -> dict[str, np.ndarray]:
    """HOTA's metrics at each alpha; those at its first alpha are null at the others."""
    if OF_HOTA.isdisjoint(names):
        return {}
    curves = hota_numbers(sums)
    is_first = np.arange(next(iter(curves.values())).shape[-1]) == 0
    return curves | {name: np.where(is_first, curves[of], np.nan) for name, of in AT_FIRST_ALPHA.items()}


def track_curves(sums: NamedSums, names: Sequence[str]) -> dict[str, np.ndarray]:
    """What the metrics of `track_numbers` are means of, each (..., alphas) or (..., 1)."""
    curves, others = _curves(sums, names), [name for name in names if name not in OF_HOTA]
    return curves | {name: values[..., None] for name, values in track_numbers(sums, others).items()}


def pose_curves(sums: NamedSums, names: Sequence[str]) -> dict[str, np.ndarray]:
    """What the metrics of `pose_numbers` are means of, each (..., alphas) or (..., joints)."""
    n_joints = sums["objects"].shape[-1]
    counts = {name: n_joints * sums[name] for name in POSEVAL_COUNTS}
    return _curves(sums, names) | keypoint_clear_numbers(sums) | counts


def joint_curves(sums: NamedSums, names: Sequence[str]) -> dict[str, np.ndarray]:
    """What the metrics of `joint_numbers` are means of, each (..., alphas) or (..., 1)."""
    curves, others = _curves(sums, names), [name for name in names if name not in OF_HOTA]
    return curves | {name: values[..., None] for name, values in joint_numbers(sums, others).items()}


def track_numbers(sums: NamedSums, names: Sequence[str], combined: np.ndarray | bool = True) -> dict[str, np.ndarray]:
    """The named metrics of tracks from sums; `combined` marks sums of several sequences together."""
    numbers = _means(sums, names) | clear_numbers(sums, np.asarray(combined)) | identity_numbers(sums)
    numbers |= requested_numbers(sums, names)
    return {name: numbers[name] if name in numbers else sums[name] for name in names}


def pose_numbers(sums: NamedSums, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The named metrics of all joints together, from HOTA's sums of all joints and poseval's by joint, (..., joints).

    Those of poseval are means over the joints whose value is not null.
    """
    percentages = {name: mean_of_known(values) for name, values in keypoint_clear_numbers(sums).items()}
    numbers = _means(sums, names) | percentages | {name: sums[name].sum(axis=-1) for name in POSEVAL_COUNTS}
    return {name: numbers[name] for name in names}


def single_pose_numbers(sums: NamedSums, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The named metrics of all joints of a single sequence, from sums by joint: means over the joints."""
    hota = means_over_alpha({name: values.mean(axis=-2) for name, values in hota_numbers(sums).items()})
    numbers = pose_numbers(sums, [name for name in names if name not in hota]) | hota
    return {name: numbers[name] for name in names}


def joint_numbers(sums: NamedSums, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The named metrics of single joints from their sums."""
    numbers = _means(sums, names) | keypoint_clear_numbers(sums)
    return {name: numbers[name] if name in numbers else sums[name] for name in names}


def mean_of_known(values: np.ndarray) -> np.ndarray:
    """The mean over the last axis without nulls; null if all values are."""
    known = ~np.isnan(values)
    n_known = known.sum(axis=-1)
    return np.where(known, values, 0).sum(axis=-1) / np.where(n_known > 0, n_known, np.nan)


def _tracked(sums: NamedSums) -> np.ndarray:
    """How many objects there are on both sides."""
    return sums["n_truth"] + sums["n_predicted"]


def _posed(sums: NamedSums) -> np.ndarray:
    """How many joints there are on both sides, by HOTA's counts at its first alpha."""
    return np.sum([sums[name][..., 0] for name in HOTA_COUNTS], axis=0)


def of_all_sequences(sums: Sums) -> Sums:
    """The sums of sequences of tracks as one group, as intervals of the combined numbers need them."""
    n_rows = len(sums.group)
    alone = PerSequence(np.arange(n_rows), sums.sequence, {})
    return sums._replace(labels=Columns({}, n_rows=1), group=np.zeros(n_rows, np.int64), per_sequence=alone)


def tracks_with(sums: Iterable[str] = ()) -> MetricSet:
    """The metrics of tracks that follow from sums with these names, those on request included."""
    return with_requested(TRACKS, sums)


RANKING = ["HOTA"]
TRACKS = MetricSet(
    TRACK_COLUMNS,
    RANKING,
    ("HOTA", "DetA", "AssA", "MOTA", "IDF1"),
    track_numbers,
    _tracked,
    track_curves,
    again=(tracks_with, ()),
)
POSES = MetricSet(ADDED, RANKING, ("HOTA", "DetA", "AssA", "mota"), pose_numbers, _posed, pose_curves)
JOINTS = POSES._replace(compute=joint_numbers, curves=joint_curves)

# A single sequence of tracks has fill values of its own, and its poses have means over joints.
SINGLE_TRACKS = TRACKS._replace(compute=partial(track_numbers, combined=False), curves=None)
SINGLE_POSES = POSES._replace(
    entries={name: metric._replace(weight=None) for name, metric in ADDED.items()},
    compute=single_pose_numbers,
    curves=None,
    counted=lambda sums: _posed(sums).sum(axis=-1),
)
