"""Resampling: the sums of each sequence of a match table, drawn again and again, and the metrics of each draw.

The sequence is the unit, because frames and objects of one sequence depend on each other, and sequences do not. Metrics
follow from sums, and those of a resample from the sums of the sequences that were drawn, each as often as it was: a
matrix of weights times the sums of the sequences.
"""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from ..scoring.match_sums import SUMS, group_sums, match_sums, share
from ..scoring.registry import resampled_metrics, values_of
from ..support.chunks import chunks
from ..support.errors import InputError
from ..support.keys import distinct, positions, row_keys
from ..tables.schema import EMPTY

# What `intervals` and `compare` compute where the caller names no metrics.
METRICS = ("f1", "precision", "recall", "mse", "det_a", "rmse")

# What is summed of each sequence. kelvins_mse, which is itself a sum over sequences, is among it.
ALL_SUMS = (*SUMS, "kelvins_mse")

# Sequences that are drawn at once, 12 bytes each.
DRAWN_AT_ONCE = 1 << 18

# Up to so many sums a sequence it is faster to gather them as they are drawn than to count how often each was drawn.
MOST_GATHERED = 32


def check_options(metrics: Iterable[str], resamples: int, confidence: float) -> list[str]:
    """The metrics, each once; raises ValueError where one is unknown, or resamples or confidence cannot be."""
    known = resampled_metrics()
    names = [metrics] if isinstance(metrics, str) or not isinstance(metrics, Iterable) else list(metrics)
    if isinstance(metrics, str) or not names or any(name not in known for name in names):
        raise ValueError(f"metrics is {metrics!r}; a list of some of {', '.join(known)} is needed")
    if not isinstance(resamples, int | np.integer) or resamples < 1:
        raise ValueError(f"resamples is {resamples!r}; an integer is needed, 1 or more")
    if not isinstance(confidence, int | float | np.number) or not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence!r}; a share between 0 and 1 is needed")
    return list(dict.fromkeys(names))


def check_labels(labels: Iterable[str]) -> None:
    """Raises InputError where a column to group by is called as one of a long table's own."""
    taken = [name for name in labels if name in ("metric", "estimate", "low", "high", "n_sequences")]
    if taken:
        raise InputError(f"by: {taken[0]} is a column of the answer itself; rename the Series or the column")


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
    """The metrics (..., metrics) of sums (..., ALL_SUMS); all are null where there is no TP, FN or FP."""
    named = dict(zip(ALL_SUMS, np.moveaxis(sums, -1, 0), strict=True))
    found = np.stack(list(values_of(named, metrics, by_similarity).values()), axis=-1)
    found[named["tp"] + named["fn"] + named["fp"] == 0] = np.nan
    return found


def draw(n_sequences: int, n_resamples: int, seed: int, part: int) -> np.ndarray:
    """The sequences that are drawn in some resamples, (resamples, sequences); equal seeds and parts draw the same."""
    kind = np.uint16 if n_sequences < 1 << 16 else np.uint32  # short numbers are drawn faster
    return np.random.default_rng([seed, part]).integers(0, n_sequences, (n_resamples, n_sequences), dtype=kind)


def resampled_sums(sums: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """The sums of each resample, (resamples, ...), from those of each sequence, (sequences, ...)."""
    from concurrent.futures import ThreadPoolExecutor  # what else is there does without

    if not sums.size:
        return np.zeros((resamples, *sums.shape[1:]))
    flat = np.ascontiguousarray(sums.reshape(len(sums), -1))
    parts = list(enumerate(chunks(np.full(resamples, len(sums)), DRAWN_AT_ONCE)))
    ones = np.ones(max(DRAWN_AT_ONCE, len(sums)))  # made once: to get fresh memory costs as much as to fill it
    with ThreadPoolExecutor(2) as threads:  # most of it does not hold the interpreter
        found = list(threads.map(partial(_drawn_sums, flat, seed, ones), parts))
    return np.concatenate(found).reshape(resamples, *sums.shape[1:])


def _drawn_sums(sums: np.ndarray, seed: int, ones: np.ndarray, part: tuple[int, tuple[int, int]]) -> np.ndarray:
    number, (first, last) = part
    drawn = draw(len(sums), last - first, seed, number)
    if sums.shape[1] > MOST_GATHERED:
        weights = np.empty(drawn.shape)
        for row, some in enumerate(drawn):
            weights[row] = np.bincount(some, minlength=len(sums))
        return weights @ sums
    from scipy.sparse import csr_array  # takes a while, and summaries do without

    starts = np.arange(0, drawn.size + 1, len(sums), dtype=np.int32)
    return csr_array((ones[: drawn.size], drawn.ravel().astype(np.int32), starts), shape=drawn.shape) @ sums


def tails(confidence: float, shape: Sequence[int]) -> np.ndarray:
    """The levels (2, ...) that leave as much below as above, the same for all of a shape."""
    levels = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    return np.broadcast_to(levels.reshape(2, *[1] * len(shape)), (2, *shape))


def bounds(samples: np.ndarray, confidence: float) -> np.ndarray:
    """Lower and upper bounds (2, ...) of samples (N, ...), without those that are null."""
    return quantiles(samples, tails(confidence, samples.shape[1:]))


def quantiles(samples: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """The quantiles (levels, ...) of samples (N, ...), each of its own, without those that are null."""
    ordered = np.sort(samples, axis=0)  # null last
    n_known = np.count_nonzero(~np.isnan(samples), axis=0)
    place = np.clip(levels, 0, 1) * np.maximum(n_known - 1, 0)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(n_known - 1, 0))
    lower, upper = (np.take_along_axis(ordered, rows, axis=0) for rows in (below, above))
    return lower + (upper - lower) * (place - below)
