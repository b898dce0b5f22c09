"""The metrics of tracks, of poses and of single joints, as functions of added sums."""

from collections.abc import Sequence

import numpy as np

from ..scoring.match_sums import NamedSums
from .metrics.clear import clear_numbers
from .metrics.hota import hota_numbers
from .metrics.identity import identity_numbers
from .metrics.keypoint_clear import keypoint_clear_numbers


def track_numbers(sums: NamedSums, names: Sequence[str], combined: np.ndarray | bool = True) -> dict[str, np.ndarray]:
    """The named metrics of tracks from sums; `combined` marks sums of several sequences together."""
    numbers = {name: curve.mean(axis=-1) for name, curve in hota_numbers(sums).items()}
    numbers |= clear_numbers(sums, np.asarray(combined)) | identity_numbers(sums)
    return {name: numbers[name] if name in numbers else sums[name] for name in names}


def pose_numbers(sums: NamedSums, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The named metrics of all joints together, from HOTA's sums of all joints and poseval's by joint, (..., joints)."""
    percentages = {name: mean_of_known(values) for name, values in keypoint_clear_numbers(sums).items()}
    numbers = {name: curve.mean(axis=-1) for name, curve in hota_numbers(sums).items()} | percentages
    return {name: numbers[name] for name in names}


def mean_of_known(values: np.ndarray) -> np.ndarray:
    """The mean over the last axis without nulls; null if all values are."""
    known = ~np.isnan(values)
    n_known = known.sum(axis=-1)
    return np.where(known, values, 0).sum(axis=-1) / np.where(n_known > 0, n_known, np.nan)
