"""The pieces of one long sequence, for intervals by batch means.

Frames that follow each other are alike, so they are no independent units. Means over a few long pieces nearly are
(Ibragimov and Mueller, 2010, doi:10.1198/jbes.2009.08046, who take their mean and its t interval). The pieces are left
out one at a time instead, as sequences are, because the interval of the logit holds more often than the plain t, in
simulations of all lengths and autocorrelations; so do six pieces more often than eight (docs/uncertainty.md).
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..scoring.evaluations import Asked, Evaluation
from ..support.errors import InputError
from ..support.keys import grouped, row_keys
from ..tables.match_tables import match_columns
from ..tables.schema import FRAME_KEY
from ..tables.selections import By
from .estimates import finer

# How many pieces a sequence is cut into.
N_PIECES = 6

# The column of the pieces while they are evaluated.
PIECE = "piece of the sequence"


def batches(evaluation: Evaluation, asked: Asked, by: By | None, own: Sequence[str]) -> Evaluation:
    """The evaluation with the pieces of each group's sequence as cells; `own` names the own metrics that are needed.

    Raises InputError if a group has several sequences or one with too few frames, or if the table is no match table.
    """
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
    pieces = table.assign(**{PIECE: _pieces(table)})
    cut, group = finer(asked._replace(table=pieces), by, PIECE, own)
    return evaluation._replace(sums=cut.sums, group=group[cut.group], sequence=cut.sequence)


def _pieces(table: pd.DataFrame) -> np.ndarray:
    """The piece of each row, counted from 0 in each sequence: as many frames each, but for one."""
    frame, first = grouped(row_keys(match_columns(table), FRAME_KEY))  # sorted by sequence
    sequence, _ = grouped(row_keys(match_columns(table.take(first)), ["sequence"]))
    n_frames = np.bincount(sequence)
    short = np.flatnonzero(n_frames < N_PIECES)
    if len(short):
        name = table["sequence"].iloc[first[np.searchsorted(sequence, short[0])]]
        problem = f"needs {N_PIECES} frames or more; sequence {name} has {n_frames[short[0]]}"
        raise InputError(f"intervals: method='batch_means' {problem}")
    position = np.arange(len(first)) - np.searchsorted(sequence, sequence)
    return (position * N_PIECES // n_frames[sequence])[frame]
