"""Resampling: what a match table adds up to a sequence, drawn again and again, and the numbers that follow.

The sequence is the unit: frames and objects of one sequence are not independent of each other, sequences are. Numbers
follow from sums (see match_sums.py), so those of a resample follow from the weighted sums of its sequences: a matrix of
weights, how often each sequence was drawn, times the sums of the sequences.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from .keys import distinct, positions, row_keys
from .match_sums import SUMS, group_sums, match_sums, numbers_of, share
from .runs import runs
from .tables import EMPTY

METRICS = ("f1", "precision", "recall", "mse", "det_a", "rmse")
KNOWN = (*METRICS, "one_minus_f1", "mean_distance", "loc_a", "kelvins_mse")

# What is summed of each sequence. kelvins_mse, which is itself a sum over sequences, is among it.
ALL_SUMS = (*SUMS, "kelvins_mse")

# Weights that are made at once, 8 bytes each: they fit the processor's cache.
WEIGHTS_AT_ONCE = 1 << 18


def check_options(metrics: Sequence[str], resamples: int, confidence: float) -> None:
    unknown = [name for name in metrics if name not in KNOWN]
    if isinstance(metrics, str) or unknown or not metrics:
        raise ValueError(f"metrics is {metrics!r}; a list of some of {', '.join(KNOWN)} is needed")
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; 1 or more are needed")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; a share between 0 and 1 is needed")


def number_sequences(table: pd.DataFrame) -> tuple[np.ndarray, int]:
    """The number of each row's sequence, and how many there are."""
    keys = row_keys(table, ["sequence"])
    values, first = distinct(keys)
    return positions(keys, values, first), len(values)


def sequence_sums(table: pd.DataFrame, cell: np.ndarray, n_cells: int) -> np.ndarray:
    """ALL_SUMS of each cell, (cells, sums); a cell is of one sequence."""
    sums = match_sums(table, cell, n_cells)
    n_counted = sums["tp"] + sums["fn"] + sums["fp"]
    rows = np.flatnonzero(table["outcome"].array.codes != EMPTY)
    kelvins = group_sums(table["kelvins_error"].to_numpy(np.float64)[rows], cell[rows], n_cells)
    return np.column_stack([*(sums[name] for name in SUMS), share(kelvins, n_counted, nothing=0.0)])


def metrics_of(sums: np.ndarray, metrics: Sequence[str], by_similarity: bool) -> np.ndarray:
    """The metrics of sums, whose last axis they replace."""
    named = dict(zip(ALL_SUMS, np.moveaxis(sums, -1, 0), strict=True))
    numbers = numbers_of(named, by_similarity)
    numbers["kelvins_mse"] = np.full(sums.shape[:-1], np.nan) if by_similarity else named["kelvins_mse"]
    return np.stack([numbers[name] for name in metrics], axis=-1)


def draw_weights(n_sequences: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """How often each sequence is drawn in each resample, (resamples, sequences), so many resamples at a time."""
    random = np.random.default_rng(seed)
    kind = np.uint16 if n_sequences < 1 << 16 else np.uint32  # short numbers are drawn faster
    for first, last in runs(np.full(resamples, n_sequences), WEIGHTS_AT_ONCE):
        weights = np.empty((last - first, n_sequences))
        for row, drawn in enumerate(random.integers(0, n_sequences, weights.shape, dtype=kind)):
            weights[row] = np.bincount(drawn, minlength=n_sequences)
        yield weights


def resampled(
    sums: np.ndarray, metrics: Sequence[str], by_similarity: bool, weights: Iterator[np.ndarray]
) -> np.ndarray:
    """The metrics of resampled sums (sequences, groups, sums): (resamples, groups, metrics)."""
    flat = sums.reshape(len(sums), -1)
    parts = [(some @ flat).reshape(len(some), *sums.shape[1:]) for some in weights]
    return np.concatenate([metrics_of(part, metrics, by_similarity) for part in parts])


def quantiles(samples: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """The quantiles (levels, ...) of samples (N, ...), each of its own, without those that are null."""
    ordered = np.sort(samples, axis=0)  # null last
    n_known = np.count_nonzero(~np.isnan(samples), axis=0)
    place = np.clip(levels, 0, 1) * np.maximum(n_known - 1, 0)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(n_known - 1, 0))
    lower, upper = (np.take_along_axis(ordered, rows, axis=0) for rows in (below, above))
    return lower + (upper - lower) * (place - below)
