"""Bootstrap resampling of whole sequences: the sums of each resample, and the metrics computed from them.

Sequences are drawn, not frames or objects, because frames and objects of one sequence depend on each other, while
sequences are independent. The sums of a resample are the sums of its sequences, each counted as often as it was drawn,
so the sums of all resamples are a matrix of draw counts times the matrix of the sequences' sums.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...scoring import NamedSums, Sums, own_metrics, registry
from ...support import InputError, arrays
from ...tables import Columns, checks
from ...tracking import on_request_text, track_sums

# Metrics are equal up to this share of them, because resampling and swapping change the order of additions.
BLUR = 1e-9

# The count of drawn sequences that are in memory at once, 12 bytes each.
DRAWN_AT_ONCE = 1 << 18

# Up to this many sums per sequence, adding the drawn rows one by one is faster than counting draws first.
MOST_GATHERED = 32

# Where more than this share of the sums is not 0, BLAS multiplies them all faster than a sparse product multiplies few.
MOST_NONZERO = 0.6

# A function from drawn sequences (resamples, sequences) to their sums (resamples, sums).
BatchSums = Callable[[np.ndarray], np.ndarray]


def names_of(metrics: Any) -> Any:
    """The caller's metrics as a list if they are one name, or any iterable of names; None, and what is none, as it is.

    Metrics that are not known are looked for among those of the field and in other installed packages, so call it
    before anything is evaluated.
    """
    if metrics is None or not isinstance(metrics, Iterable):
        return metrics
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    own_metrics.add_named_metrics(names)
    return names


def check_metrics(metrics: Any, several: Sequence[Sums]) -> list[str]:
    """Returns the metrics without repetition, the default ones for None.

    `metrics` are what `names_of` returned, and the sums are of one kind; of tracks, not all need to have the metrics on
    request. Raises ValueError for an unknown metric, and InputError for one of the user's own that asks for a column
    which a table lacks.
    """
    default = several[0].metrics.default
    entries = [name for name in several[0].metrics.entries if all(name in of.metrics.entries for of in several)]
    if metrics is None:
        return [name for name in default if name in entries]
    known = ", ".join(entries)
    if not isinstance(metrics, list) or not metrics:
        raise ValueError(f"metrics is {metrics!r}; a list is needed, of {known}")
    not_added = [name for name in metrics if name in track_sums.OF_SORTED_SCORES]
    if not_added:
        raise ValueError(f"metrics: {not_added[0]} does not follow from sums of sequences; leave it out")
    unknown = [name for name in metrics if name not in entries]
    if unknown:
        on_request = on_request_text(unknown[0]) if "MOTA" in entries else ""
        raise ValueError(f"metrics: {unknown[0]!r} is none of those that there are here: {known}{on_request}")
    for sums in several:
        own_metrics.check_none_lacking(metrics, sums.lacking)
    return list(dict.fromkeys(metrics))


def check_options(resamples: int, confidence: float, seed: int) -> None:
    """Raises ValueError where the count of resamples, the confidence or the seed is out of range."""
    if not isinstance(resamples, int | np.integer) or resamples < 1:
        raise ValueError(f"resamples is {resamples!r}; an integer is needed, 1 or more")
    check_confidence(confidence)
    check_seed(seed)


def check_confidence(confidence: float) -> None:
    """Raises ValueError where the confidence is no share between 0 and 1."""
    if not isinstance(confidence, int | float | np.number) or not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence!r}; a share between 0 and 1 is needed")


def check_seed(seed: int) -> None:
    """Raises ValueError where the seed is no integer from 0 on."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed is {seed!r}; an integer is needed, 0 or more")


def check_labels(labels: Iterable[str]) -> None:
    """Raises InputError where a column to group by has the name of a column that the result has itself."""
    own = [
        "aggregate",
        "metric",
        "estimate",
        "low",
        "high",
        "n_sequences",
        "n_effective",
        "degrees_of_freedom",
        "largest_share",
        "reason",
    ]
    taken = [name for name in labels if name in own]
    if taken:
        raise InputError(f"by: {taken[0]} is a column of the result itself; rename the Series or the column")


def number_sequences(table: pd.DataFrame | Columns) -> tuple[np.ndarray, int]:
    """Numbers the sequences from 0; returns the number of each row's sequence, and the count of sequences."""
    of_row, first = arrays.grouped(arrays.row_keys(table, ["sequence"]))
    return of_row, len(first)


def own_among(metrics: Any) -> list[str]:
    """The own metrics among what `names_of` returned."""
    return [name for name in registry.own_metrics() if isinstance(metrics, list) and name in metrics]


class Matrix(NamedTuple):
    """Named sums side by side: `values` (..., sums), and the shape of each sum by its name."""

    values: np.ndarray
    shapes: Mapping[str, tuple[int, ...]]

    def named(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Values (..., sums), such as added rows, as named sums (..., shape of the sum)."""
        widths = [int(np.prod(shape, dtype=np.int64)) for shape in self.shapes.values()]
        parts = np.split(values, np.cumsum(widths)[:-1], axis=-1)
        return {
            name: part.reshape((*values.shape[:-1], *shape))
            for (name, shape), part in zip(self.shapes.items(), parts, strict=True)
        }


def matrix_of(sums: NamedSums, n_rows: int) -> Matrix:
    """The sums (rows, ...) as one matrix (rows, sums)."""
    shapes = {name: rows.shape[1:] for name, rows in sums.items()}
    flat = [rows.reshape(n_rows, int(np.prod(rows.shape[1:], dtype=np.int64))) for rows in sums.values()]
    return Matrix(np.concatenate(flat, axis=1), shapes)


def aligned_sums(several: Mapping[str, Sums]) -> Matrix:
    """The sums of every sequence that any of M submissions, each of one group, has: values (sequences, M, sums).

    Raises InputError if the submissions have sums of different shapes.
    """
    codes, _ = arrays.ordinals([checks.decoded(pd.Series(of.sequence, copy=False)) for of in several.values()])
    known, _ = arrays.distinct(np.sort(np.concatenate(codes)))
    shapes = {name: rows.shape[1:] for of in several.values() for name, rows in of.values.items()}
    aligned = []
    for of, code in zip(several.values(), codes, strict=True):
        n_rows = len(code)
        values = {name: of.values.get(name, np.zeros((n_rows, *shape))) for name, shape in shapes.items()}
        matrix = matrix_of(values, n_rows)
        if matrix.shapes != shapes:
            raise InputError("compare: the results have different joints; give all of them the same joints")
        of_all = np.zeros((len(known), matrix.values.shape[1]))
        of_all[arrays.locate(known, code)] = matrix.values
        aligned.append(of_all)
    return Matrix(np.stack(aligned, axis=1), shapes)


def only_used(
    sums: Matrix, function: Callable[[NamedSums], Sequence[np.ndarray]], own: Sequence[str] = ()
) -> tuple[Matrix, Callable[[NamedSums], Sequence[np.ndarray]]]:
    """The sums (sequences, submissions, sums) on which a function of sums depends, and the function of these alone.

    `own` are the own metrics among what the function computes: each may read its own sums and the built-in ones in any
    way. Sums of which nothing is known are none that anything depends on: what reads them is null.
    """
    totals = sums.named(sums.values.sum(axis=0))
    # What is 0 or 1 with the sums at hand may not change if one of them is doubled, so others are tried, too. Own
    # metrics are not asked: they may refuse sums that do not fit each other, and what they read is kept anyway.
    others_too = [] if own else [{name: of + 1.0 + at for at, (name, of) in enumerate(totals.items())}]
    with np.errstate(all="ignore"):
        tried = [(of, function(of)) for of in (totals, *others_too)]

    def matters(name: str) -> bool:
        if np.isnan(totals[name]).any():
            return False
        if own and ("." not in name or name.partition(".")[0] in own):
            return True
        return any(
            not np.array_equal(a, b, equal_nan=True)
            for of, wanted in tried
            for a, b in zip(function({**of, name: 2 * of[name]}), wanted, strict=True)
        )

    with np.errstate(all="ignore"):
        used = [name for name in sums.shapes if matters(name)] or list(sums.shapes)[:1]
    named = sums.named(sums.values)
    flat = [named[name].reshape(*sums.values.shape[:-1], -1) for name in used]
    # Added, so that what is not known of one submission is known of none.
    others = {name: totals[name].sum(axis=0) for name in sums.shapes if name not in used}

    def of_used(known: NamedSums) -> Sequence[np.ndarray]:
        leading = known[used[0]].shape[: known[used[0]].ndim - len(sums.shapes[used[0]])]
        return function({name: np.broadcast_to(of, leading + of.shape) for name, of in others.items()} | dict(known))

    return Matrix(np.concatenate(flat, axis=-1), {name: sums.shapes[name] for name in used}), of_used


def draw(n_sequences: int, n_resamples: int, seed: int, batch: int) -> np.ndarray:
    """Draws the sequences of one batch of resamples, (n_resamples, n_sequences), as positions of sequences.

    The draws depend only on `seed` and on `batch`, the position of the batch.
    """
    integer_type = np.uint16 if n_sequences < 1 << 16 else np.uint32  # narrower integers are drawn faster
    return np.random.default_rng([seed, batch]).integers(0, n_sequences, (n_resamples, n_sequences), dtype=integer_type)


def resampled_sums(sums: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Computes the sums of each resample, (resamples, ...), from the sums of each sequence, (sequences, ...)."""
    from concurrent.futures import ThreadPoolExecutor  # imported here, because summaries do not need it

    if not sums.size:
        return np.zeros((resamples, *sums.shape[1:]))
    flat = np.ascontiguousarray(sums.reshape(len(sums), -1))
    ranges = list(enumerate(arrays.chunks(np.full(resamples, len(sums)), DRAWN_AT_ONCE)))
    batch_sums = _gathered(flat) if flat.shape[1] <= MOST_GATHERED else _weighted(flat)
    with ThreadPoolExecutor(2) as threads:  # NumPy and SciPy release the interpreter lock most of the time
        batches = list(threads.map(partial(_batch, len(flat), seed, batch_sums), ranges))
    return np.concatenate(batches).reshape(resamples, *sums.shape[1:])


def _batch(n_sequences: int, seed: int, batch_sums: BatchSums, batch: tuple[int, tuple[int, int]]) -> np.ndarray:
    """Computes the sums of one batch of resamples, (resamples, sums); `batch` is its position and its range."""
    position, (first, last) = batch
    return batch_sums(draw(n_sequences, last - first, seed, position))


def _gathered(sums: np.ndarray) -> BatchSums:
    """A function from drawn sequences to their sums, which adds up the rows of the drawn sequences."""
    from scipy.sparse import csr_array  # imported here, because it is slow to import and summaries do not need it

    ones = np.ones(max(DRAWN_AT_ONCE, len(sums)))  # shared by all batches, because allocating it is slow

    def batch_sums(drawn: np.ndarray) -> np.ndarray:
        starts = np.arange(0, drawn.size + 1, len(sums), dtype=np.int32)
        return csr_array((ones[: drawn.size], drawn.ravel().astype(np.int32), starts), shape=drawn.shape) @ sums

    return batch_sums


def _weighted(sums: np.ndarray) -> BatchSums:
    """A function from drawn sequences to their sums, which first counts how often each sequence was drawn."""
    # Whole numbers up to 2**24 are exact in float32, which is twice as fast.
    exact = len(sums) * np.abs(sums).max() <= 1 << 24 and np.array_equal(sums, np.rint(sums))
    by_sum: np.ndarray = sums.T.astype(np.float32 if exact else np.float64, order="C")
    factor: Any = by_sum
    if np.count_nonzero(sums) <= MOST_NONZERO * sums.size:
        from scipy.sparse import csr_array

        factor = csr_array(by_sum)

    def batch_sums(drawn: np.ndarray) -> np.ndarray:
        cell = drawn.astype(np.int64)
        cell *= len(drawn)
        cell += np.arange(len(drawn))[:, None]
        weights = np.bincount(cell.ravel(), minlength=len(sums) * len(drawn)).reshape(len(sums), len(drawn))
        return (factor @ weights.astype(by_sum.dtype)).T.astype(np.float64)

    return batch_sums


def tails(confidence: float, shape: Sequence[int]) -> np.ndarray:
    """The two quantile levels of a central interval, (2, *shape), the same everywhere in the shape."""
    levels = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    return np.broadcast_to(levels.reshape(2, *[1] * len(shape)), (2, *shape))


def bounds(samples: np.ndarray, confidence: float) -> np.ndarray:
    """The lower and upper bounds (2, ...) of samples (N, ...); null samples are ignored."""
    return quantiles(samples, tails(confidence, samples.shape[1:]))


def quantiles(samples: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """The quantiles (levels, ...) of samples (N, ...), by linear interpolation; null samples are ignored.

    `levels` (levels, ...) may differ from one column of samples to the next.
    """
    ordered = np.sort(samples, axis=0)  # null last
    n_known = np.count_nonzero(~np.isnan(samples), axis=0)
    place = np.clip(levels, 0, 1) * np.maximum(n_known - 1, 0)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(n_known - 1, 0))
    lower, upper = (np.take_along_axis(ordered, rows, axis=0) for rows in (below, above))
    weight = place - below
    # Infinite samples, such as ratios of sizes, have no difference.
    differ = (weight > 0) & (upper != lower) & ~np.isinf(lower)
    return lower + np.subtract(upper, lower, out=np.zeros_like(lower), where=differ) * weight
