"""The interval of a metric in one long sequence, from its pieces in time.

Frames that follow each other are alike, so they are no independent units, and neither are pieces of a few frames. What
each piece contributes to a metric, the change when it is left out, is a series whose correlation is part of the
interval. Below 1,500 frames, or where frames stay alike for a large part of the sequence, no method tells how much a
sequence ten times as long would differ, and the interval is null (docs/uncertainty.md).

The terms, what each piece of a sequence contributes to a metric, are taken for noise plus a part that changes slowly,
as an autoregressive process of the first order does. How long that part stays alike, and how large it is, the series
tells badly: what changes hardly at all within the sequence looks like no change. So no values are chosen. A grid of
them is weighted by their likelihoods, and the distribution of the error is the mixture of Student's t distributions
that belong to them (Mueller and Watson, 2016, doi:10.1093/restud/rdw014). The likelihood is that of the cosine
transforms of low frequency, which are nearly independent whatever the autocorrelation; their squares, divided by their
expected ratios, tell the scale.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...scoring import Evaluable, Sums, sequence_sums
from ...support import InputError, arrays, special_functions
from ...tables import By, match_columns, schema
from .estimates import OF_ERRORS, finer, functions_of
from .jackknife import ROUNDING, Intervals, bounds, without_each
from .reasons import NOT_DEFINED_HERE, UNKNOWN_TAU

# How many pieces a sequence is cut into.
N_PIECES = 120

# Fewer frames do not tell for how long frames stay alike: 60 that change slowly look like 60 independent ones.
FEWEST_FRAMES = 1500

# Of a sequence, the longest share for which frames may stay alike; and how many times as long it has to be.
LONGEST_MEMORY = 0.3
N_MEMORIES = 6

# The column of the pieces while they are evaluated.
PIECE = "piece of the sequence"

# The lowest frequencies, of a half to 15 periods in the sequence; quicker changes add up to noise.
N_COSINES = 30

# The memory of the slow part, as a share of the sequence: the distance at which its autocorrelation is 1 / e.
MEMORIES = (1 / 80, 1 / 40, 1 / 20, 1 / 10, 1 / 5, 1 / 2.5, 1.0, 2.5)

# How much larger than the noise the slow part is where it is slowest, in variance.
RATIOS = (1, 3, 10, 30, 100, 300, 1000)

# The weight of no slow part, in combinations of the above; lower ones make intervals of independent frames too wide.
NOISE_ALONE = 100

# How often the bracket of a quantile is halved; it ends 1e-10 of its first width apart.
HALVINGS = 34


class Pieces(NamedTuple):
    """The pieces of the sequence of each of G groups.

    Attributes
    ----------
    sums
        Those of the groups, with pieces as rows.
    piece
        The piece of each row, counted from 0.
    n_frames
        How many frames the sequence of each group has, (G,).
    """

    sums: Sums
    piece: np.ndarray
    n_frames: np.ndarray


def batch_means(
    sums: Sums,
    of: Evaluable,
    by: By | None,
    own: Sequence[str],
    names: Sequence[str],
    tau: float,
    confidence: float,
) -> Intervals:
    """The intervals of the named metrics of each group, (groups, metrics), with the reasons of those that are null.

    `own` names the own metrics that are needed. Raises InputError if a group has several sequences, or if the table is
    no match table.
    """
    pieces = _pieces(sums, of, by, own)
    functions = functions_of(sums, names, tau)
    estimate = functions.values(sums.totals())
    terms = _contributions(pieces, estimate, names, tau)  # (groups, metrics, pieces)
    # Of sequences that are too short, which have another count of pieces, what this tells is not used.
    told = slow_changes(terms[..., :N_PIECES].reshape(-1, N_PIECES), confidence, LONGEST_MEMORY)
    told = SlowChanges(*(values.reshape(estimate.shape) for values in told))
    reasons = _reasons(pieces, terms, told, estimate, functions.greatest - functions.least)
    if np.isnan(tau):
        reasons[:, [sums.metrics.entries[name].tau_power == OF_ERRORS for name in names]] = UNKNOWN_TAU

    special = special_functions()
    error, unknown = told.reach / special.stdtrit(N_COSINES, (1 + confidence) / 2), np.full_like(estimate, np.nan)
    many = np.full_like(estimate, N_PIECES)
    freedom = np.full_like(estimate, N_COSINES)
    with np.errstate(all="ignore"):
        low, high = bounds(estimate, error, freedom, many, functions.least, functions.greatest, confidence)
    is_null = pd.notna(reasons)
    low, high = np.where(is_null, np.nan, low), np.where(is_null, np.nan, high)
    of_one = np.ones_like(estimate)
    return Intervals(estimate, low, high, error, of_one, unknown, unknown, unknown, unknown, reasons)


def null_texts(reasons: np.ndarray, names: Sequence[str]) -> list[str]:
    """The text of a warning that bounds are null, with the reason of the first; none if there are no reasons."""
    is_null = pd.notna(reasons)
    if not is_null.any():
        return []
    lost = ", ".join(name for name, of_metric in zip(names, is_null.T, strict=True) if of_metric.any())
    groups = f"{is_null.any(axis=1).sum():,} of {len(reasons):,} groups have " if len(reasons) > 1 else ""
    return [f"{groups}null low and high of {lost}: {reasons[is_null][0]}"]


def _pieces(sums: Sums, of: Evaluable, by: By | None, own: Sequence[str]) -> Pieces:
    """The sums cut into pieces; raises InputError as `batch_means` does."""
    table = of.table
    if of.in_groups:
        problem = "average precision ranks the detections of all frames together; leave it out"
        raise InputError(f"intervals: method='batch_means': {problem}")
    if of.matches is not table:
        problem = "identities go on from piece to piece, so their numbers cannot be cut; give the result's .matches"
        raise InputError(f"intervals: method='batch_means': {problem}")
    most = int(np.bincount(sums.group).max(initial=0))
    if most > 1:
        problem = f"is for one long sequence, and there are {most:,}; leave it out, or give by='sequence'"
        raise InputError(f"intervals: method='batch_means' {problem}")
    piece, n_frames = _cut(table)
    cut, group = finer(of._replace(table=table.assign(**{PIECE: piece})), by, PIECE, own)
    order = np.argsort(group[cut.group], kind="stable")
    of_groups = np.zeros(sums.n_groups, np.int64)
    of_groups[sums.group] = n_frames.reindex(pd.Index(sums.sequence)).to_numpy()
    of_pieces = sums._replace(
        values=sequence_sums.row_at(cut.values, order), group=group[cut.group][order], sequence=cut.sequence
    )
    return Pieces(of_pieces, np.asarray(cut.labels[PIECE])[cut.group][order], of_groups)


def _cut(table: pd.DataFrame) -> tuple[np.ndarray, pd.Series]:
    """The piece of each row, counted from 0 in each sequence, and the count of frames by the name of the sequence.

    Pieces have as many frames each, but for one. Sequences that are too short for intervals are cut into their frames,
    whose correlation tells why.
    """
    frame, first = arrays.grouped(arrays.row_keys(match_columns(table), schema.FRAME_KEY))  # sorted by sequence
    sequence, first_of = arrays.grouped(arrays.row_keys(match_columns(table.take(first)), ["sequence"]))
    n_frames = np.bincount(sequence)
    n_pieces = np.where(n_frames < FEWEST_FRAMES, n_frames, N_PIECES)
    position = np.arange(len(first)) - np.searchsorted(sequence, sequence)
    names = table["sequence"].take(first[first_of])
    return (position * n_pieces[sequence] // n_frames[sequence])[frame], pd.Series(n_frames, pd.Index(names))


def _contributions(pieces: Pieces, estimate: np.ndarray, names: Sequence[str], tau: float) -> np.ndarray:
    """What each piece contributes to the metrics of its group, (groups, metrics, pieces): 0 where it has no rows."""
    sums = pieces.sums
    functions = functions_of(sums, names, tau)
    group, n_groups = sums.group, sums.n_groups
    # A total is to be that of the whole sequence, also where it adds up means of sequences, here of pieces.
    n_pieces = np.bincount(group, minlength=n_groups)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        whole, changes, _ = without_each(sums.values, group, n_groups, functions)
        scale = np.where(functions.totals, (n_pieces - 1) / n_pieces * (estimate / whole), 1.0)
    change = np.nan_to_num(-changes * scale[group])
    terms = np.zeros((n_groups, len(names), max(N_PIECES, int(pieces.piece.max(initial=0)) + 1)))
    terms[group, :, pieces.piece] = change
    return terms


def _reasons(
    pieces: Pieces, terms: np.ndarray, told: SlowChanges, estimate: np.ndarray, width: np.ndarray
) -> np.ndarray:
    """Why intervals are null, (groups, metrics); None where they are not."""
    reasons = np.full(estimate.shape, None, dtype=object)
    reasons[np.isnan(estimate)] = NOT_DEFINED_HERE
    size = np.abs(terms).sum(axis=2)
    for at in zip(*np.nonzero(~np.isnan(estimate)), strict=True):
        n_frames, scale = int(pieces.n_frames[at[0]]), width[at[1]]
        if size[at] <= ROUNDING * (scale if np.isfinite(scale) else np.abs(estimate[at])):
            reasons[at] = "all frames agree, so nothing tells for how long frames stay alike"
        elif n_frames < FEWEST_FRAMES:
            few = (
                f"{n_frames:,} frames, and at least {FEWEST_FRAMES:,} are needed to tell for how long frames stay alike"
            )
            reasons[at] = f"{few}; neighbouring frames correlate by {_correlation(terms[at][:n_frames]):.2f}"
        elif told.share_long[at] > 0.5:
            memory = told.memory[at] * n_frames
            alike = f"frames stay alike over about {memory:,.0f} frames (autocorrelation {np.exp(-1 / memory):.3f})"
            reasons[at] = f"{n_frames:,} frames, and about {_rounded(N_MEMORIES * memory):,} are needed: {alike}"
    return reasons


def _correlation(terms: np.ndarray) -> float:
    """The correlation of neighbouring terms."""
    apart = terms - terms.mean()
    return float((apart[1:] * apart[:-1]).sum() / (apart**2).sum())


def _rounded(frames: float) -> int:
    """A count of frames in two digits."""
    return int(float(f"{frames:.1e}"))


class SlowChanges(NamedTuple):
    """What S series tell of their sums, each array (S,).

    Attributes
    ----------
    reach
        Half the width of the interval of the sum.
    memory
        The memory of the slow part, as a share of the series; null where it is all noise.
    share_long
        The share of the sum's variance that comes from slow parts with a memory of at least the `longest` asked for.
    """

    reach: np.ndarray
    memory: np.ndarray
    share_long: np.ndarray


def slow_changes(terms: np.ndarray, confidence: float, longest: float) -> SlowChanges:
    """What series (S, B) tell of their sums; `longest` is a memory, as a share of the series."""
    special = special_functions()
    cosines, expected, inflation, memory = _model(terms.shape[1])
    power = (terms @ cosines) ** 2 @ (1 / expected)  # (S, models)
    with np.errstate(divide="ignore", invalid="ignore"):
        fit = -arrays.log(expected).sum(axis=0) / 2 - N_COSINES / 2 * arrays.log(power)
        weights = arrays.exp(fit - fit.max(axis=1, keepdims=True)) * np.where(memory > 0, 1, NOISE_ALONE)
        weights /= weights.sum(axis=1, keepdims=True)
        scale = np.sqrt(inflation * terms.shape[1] * power / N_COSINES)
        low, high = np.zeros(len(terms)), scale.max(axis=1) * 1000
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            within = (weights * (2 * special.stdtr(N_COSINES, middle[:, None] / scale) - 1)).sum(axis=1)
            low, high = np.where(within < confidence, middle, low), np.where(within < confidence, high, middle)
        slow = weights * (1 - 1 / inflation)
        log_memory = arrays.log(np.where(memory > 0, memory, 1.0))
        return SlowChanges(
            high, arrays.exp(slow @ log_memory / slow.sum(axis=1)), (slow * (memory >= longest)).sum(axis=1)
        )


@functools.cache
def _model(n_terms: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The cosines (B, K), and of each of M models, the first of which is noise: the expected squares of the transforms
    (K, M), the variance of the sum (M,), both as multiples of those of noise, and the memory (M,).
    """
    at = np.arange(n_terms)
    cosines = np.cos(np.pi * (at[:, None] + 0.5) * np.arange(1, N_COSINES + 1) / n_terms) * np.sqrt(2 / n_terms)
    expected, inflation, memories = [np.ones(N_COSINES)], [1.0], [0.0]
    for memory in MEMORIES:
        decay = math.exp(-1 / (memory * n_terms))
        alike = arrays.exp(-np.abs(at[:, None] - at) / (memory * n_terms))
        alike *= (1 - decay) / (1 + decay)  # 1 at the lowest frequency, as noise
        of_cosines = np.einsum("ik,ij,jk->k", cosines, alike, cosines, optimize=True)
        for ratio in RATIOS:
            expected.append(1 + ratio * of_cosines)
            inflation.append(1 + ratio * alike.sum() / n_terms)
            memories.append(memory)
    return cosines, np.stack(expected, axis=1), np.array(inflation), np.array(memories)
