"""GOSPA, OSPA and their parts: how far apart two sets of points are, as means over frames.

A frame's value is a root of what its rows add up to, so it is formed before frames are added. With c = tau, p = the
power of the rule, and N truths and M predictions in the frame:

`localisation`, `missed`, `false`
    the sum of d^p of the true positives, and c^p / 2 for each miss and for each false alarm
`gospa`
    (localisation + missed + false)^(1/p); GOSPA with alpha = 2 (Rahmathullah et al. 2017,
    doi:10.23919/ICIF.2017.8009645)
`ospa`
    ((localisation + c^p (max(N, M) - TP)) / max(N, M))^(1/p) (Schuhmacher et al. 2008, doi:10.1109/TSP.2008.920469)

One assignment, "least", is the best of both. A frame without objects is 0 and counts.
"""

from __future__ import annotations

import numpy as np

from ..matching import Aligned, Pairs, Rule, power_of
from ..support import arrays
from ..tables import Columns, as_numbers, schema
from .sequence_sums import share

# The sums of a sequence, each of the values of its frames. The metrics are called the same.
POINT_SETS = ("gospa", "ospa", "localisation", "missed", "false")


def frame_values(
    tp: np.ndarray, fn: np.ndarray, fp: np.ndarray, localisation: np.ndarray, left_over: float, power: float
) -> dict[str, np.ndarray]:
    """The value of each of POINT_SETS in frames with these counts, arrays of one shape.

    `localisation` is what the true positives of each add up to, and `left_over` what an object without a partner costs.
    """
    missed, false, unpaired = fn * left_over, fp * left_over, np.maximum(fn, fp)
    mean = share(localisation + 2.0 * left_over * unpaired, tp + unpaired, nothing=0.0)
    roots = {"gospa": localisation + missed + false, "ospa": mean}
    # The square root is the nearest number to the true one, which other powers need not be.
    roots = {name: np.sqrt(of) if power == 2 else of ** (1.0 / power) for name, of in roots.items()}
    return {**roots, "localisation": localisation, "missed": missed, "false": false}


def table_sums(table: Columns, frame: np.ndarray, row: np.ndarray, n_rows: int) -> dict[str, np.ndarray]:
    """What the frames of a match table with a column `gospa_error` add up to in each row of sums.

    `frame` is the frame of each row of the table, from 0 on, and `row` (frames,) the row of the sums of each frame.
    Nothing where the table lost its notes and its errors do not tell the power.
    """
    power = power_of(table)
    if power is None:
        return {}
    outcome, error = table["outcome"], as_numbers(table["gospa_error"])
    cells = np.bincount(frame * 4 + outcome, minlength=4 * len(row)).reshape(-1, 4).astype(np.float64)
    tp, fn, fp = (cells[:, of] for of in (schema.TP, schema.FN, schema.FP))
    matched, left = (np.flatnonzero(np.isin(outcome, of)) for of in ([schema.TP], [schema.FN, schema.FP]))
    localisation = arrays.added_at(frame[matched], error[matched], len(row))
    values = frame_values(tp, fn, fp, localisation, float(error[left[0]]) if len(left) else 0.0, power)
    return {name: arrays.added_at(row, of, n_rows) for name, of in values.items()}


def frames_of(aligned: Aligned) -> tuple[np.ndarray, np.ndarray]:
    """The frame of each row of the aligned frames, from 0 on, and the first row of each; each joint of one is a row."""
    if "joint" in aligned.frames:
        return arrays.grouped(arrays.row_keys(aligned.frames, schema.FRAME_KEY))
    return np.arange(len(aligned.frames)), np.arange(len(aligned.frames))


def pairs_sums(aligned: Aligned, pairs: Pairs, rule: Rule, row: np.ndarray, n_rows: int) -> dict[str, np.ndarray]:
    """The same of these pairs; `row` (units,) is the row of the sums of each row of the aligned frames."""
    if rule.power is None:
        return {}
    truth, predictions = aligned.truth, aligned.predictions
    unit, first = frames_of(aligned)
    of_pair = unit.take(predictions.frame.take(pairs.prediction))
    # In the order of the match table's rows, so that sums round alike.
    order = np.argsort(pairs.truth, kind="stable")
    localisation = arrays.added_at(of_pair[order], rule.cost(pairs.measure[order]), len(first))
    tp = arrays.added_at(of_pair, None, len(first))
    fn, fp = (arrays.added_at(unit, side.counts, len(first)) - tp for side in (truth, predictions))
    values = frame_values(tp, fn, fp, localisation, rule.left_over_cost, rule.power)
    return {name: arrays.added_at(row[first], of, n_rows) for name, of in values.items()}
