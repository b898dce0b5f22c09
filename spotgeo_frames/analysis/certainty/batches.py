"""The interval of a metric in one long sequence, from its pieces in time.

Frames that follow each other are alike, so they are no independent units, and neither are pieces of a few frames. What
each piece contributes to a metric, the change when it is left out, is a series whose correlation is part of the
interval (see `slow_changes.py`). Below 1,500 frames, or where frames stay alike for a large part of the sequence, no
method tells how much a sequence ten times as long would differ, and the interval is null (docs/uncertainty.md).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...scoring.evaluations import Asked, Evaluation
from ...support.arrays import grouped, row_keys
from ...support.errors import InputError
from ...tables.match_tables import match_columns
from ...tables.schema import FRAME_KEY
from ...tables.selections import By
from .estimates import OF_ERRORS, finer, functions_of
from .interval_tables import UNDEFINED
from .jackknife import ROUNDING, Intervals, added_rows, bounds, without_each
from .slow_changes import N_COSINES, SlowChanges, slow_changes

# How many pieces a sequence is cut into.
N_PIECES = 120

# Fewer frames do not tell for how long frames stay alike: 60 that change slowly look like 60 independent ones.
FEWEST_FRAMES = 1500

# Of a sequence, the longest share for which frames may stay alike; and how many times as long it has to be.
LONGEST_MEMORY = 0.3
N_MEMORIES = 6

UNKNOWN_TAU = "tau is unknown because the table lost its notes"

# The column of the pieces while they are evaluated.
PIECE = "piece of the sequence"


class Pieces(NamedTuple):
    """The pieces of the sequence of each of G groups.

    Attributes
    ----------
    evaluation
        That of the groups, with pieces as cells.
    piece
        The piece of each cell, counted from 0.
    n_frames
        How many frames the sequence of each group has, (G,).
    """

    evaluation: Evaluation
    piece: np.ndarray
    n_frames: np.ndarray


def batch_means(
    evaluation: Evaluation,
    asked: Asked,
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
    pieces = _pieces(evaluation, asked, by, own)
    functions = functions_of(evaluation, names, tau)
    estimate = functions.values(
        {name: added_rows(rows, evaluation.group, evaluation.n_groups) for name, rows in evaluation.sums.items()}
    )
    terms = _contributions(pieces, estimate, names, tau)  # (groups, metrics, pieces)
    # Of sequences that are too short, which have another count of pieces, what this tells is not used.
    told = slow_changes(terms[..., :N_PIECES].reshape(-1, N_PIECES), confidence, LONGEST_MEMORY)
    told = SlowChanges(*(values.reshape(estimate.shape) for values in told))
    reasons = _reasons(pieces, terms, told, estimate, functions.greatest - functions.least)
    if np.isnan(tau):
        reasons[:, [evaluation.family.metrics[name].tau_power == OF_ERRORS for name in names]] = UNKNOWN_TAU

    from scipy.special import stdtrit  # imported here, because it is slow to import

    error, unknown = told.reach / stdtrit(N_COSINES, (1 + confidence) / 2), np.full_like(estimate, np.nan)
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


def _pieces(evaluation: Evaluation, asked: Asked, by: By | None, own: Sequence[str]) -> Pieces:
    """The evaluation cut into pieces; raises InputError as `batch_means` does."""
    table = asked.table
    if asked.in_groups:
        problem = "average precision ranks the detections of all frames together; leave it out"
        raise InputError(f"intervals: method='batch_means': {problem}")
    if asked.matches is not table:
        problem = "identities go on from piece to piece, so their numbers cannot be cut; give the result's .matches"
        raise InputError(f"intervals: method='batch_means': {problem}")
    most = int(np.bincount(evaluation.group).max(initial=0))
    if most > 1:
        problem = f"is for one long sequence, and there are {most:,}; leave it out, or give by='sequence'"
        raise InputError(f"intervals: method='batch_means' {problem}")
    piece, n_frames = _cut(table)
    cut, group = finer(asked._replace(table=table.assign(**{PIECE: piece})), by, PIECE, own)
    order = np.argsort(group[cut.group], kind="stable")
    sums = {name: rows[order] for name, rows in cut.sums.items()}
    of_groups = np.zeros(evaluation.n_groups, np.int64)
    of_groups[evaluation.group] = n_frames.reindex(pd.Index(evaluation.sequence)).to_numpy()
    cells = evaluation._replace(sums=sums, group=group[cut.group][order], sequence=cut.sequence)
    return Pieces(cells, np.asarray(cut.labels[PIECE])[cut.group][order], of_groups)


def _cut(table: pd.DataFrame) -> tuple[np.ndarray, pd.Series]:
    """The piece of each row, counted from 0 in each sequence, and the count of frames by the name of the sequence.

    Pieces have as many frames each, but for one. Sequences that are too short for intervals are cut into their frames,
    whose correlation tells why.
    """
    frame, first = grouped(row_keys(match_columns(table), FRAME_KEY))  # sorted by sequence
    sequence, first_of = grouped(row_keys(match_columns(table.take(first)), ["sequence"]))
    n_frames = np.bincount(sequence)
    n_pieces = np.where(n_frames < FEWEST_FRAMES, n_frames, N_PIECES)
    position = np.arange(len(first)) - np.searchsorted(sequence, sequence)
    names = table["sequence"].take(first[first_of])
    return (position * n_pieces[sequence] // n_frames[sequence])[frame], pd.Series(n_frames, pd.Index(names))


def _contributions(pieces: Pieces, estimate: np.ndarray, names: Sequence[str], tau: float) -> np.ndarray:
    """What each piece contributes to the metrics of its group, (groups, metrics, pieces): 0 where it has no rows."""
    evaluation = pieces.evaluation
    functions = functions_of(evaluation, names, tau)
    group, n_groups = evaluation.group, evaluation.n_groups
    # A total is to be that of the whole sequence, also where it adds up means of sequences, here of pieces.
    n_pieces = np.bincount(group, minlength=n_groups)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        whole, changes, _ = without_each(evaluation.sums, group, n_groups, functions)
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
    reasons[np.isnan(estimate)] = UNDEFINED
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
