"""Makes a result of `average_precision` answer what match tables answer: intervals, comparisons, slices.

Average precision does not follow from added sums. So each row of its sums stands for a group of sequences, up to 100 in
each slice, and says how often that group counts. Leaving out groups, or drawing them, gives their frames weights. The
numbers are then computed anew for these weights, from detections that are sorted and matched already.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ...matching import alignment, join_pairs, layout
from ...support import arrays
from ...tables import By, Columns, among, array_of, match_dataframe
from ..sequence_sums import Evaluable, MetricSet, NamedSums, Sums
from .evaluate import Matched
from .numbers import DEFAULT, RANKING, entries_of
from .slices import CALLED, Parts, Slices, Weighted, frame_table, slice_summary, slices_of

# The most groups of sequences, of which each is left out once.
MOST_GROUPS = 100

# Mixes the sequences before they are divided into groups, as neighbours in a file may be alike.
SEED = 0


def evaluable_precision(matched: Matched) -> Evaluable:
    """What an AveragePrecision is evaluated by: its frames, and its truths as a match table."""
    table = frame_table(matched)
    table.attrs = matched.notes
    return Evaluable(table, _truths(matched), partial(_sums, matched), list(table), CALLED, in_groups=True)


def _truths(matched: Matched) -> pd.DataFrame:
    """The truths as a match table in which nothing is found, to tell whether two results have the same ones."""
    aligned = matched.detections.aligned
    truths, nothing = np.ones(len(aligned.truth.frame), bool), np.zeros(len(aligned.predictions.frame), bool)
    alone, none = alignment.select_rows(aligned, truths, nothing), join_pairs([])
    columns = [f"truth_{name}" for name in ("object", "x", "y", "w", "h", "category")]
    return match_dataframe(layout.match_table(alone, none, matched.rule, ["category", *columns]))


def _sums(
    matched: Matched, table: pd.DataFrame, by: By | None, own: Sequence[str] = (), units: pd.Series | None = None
) -> Sums:
    """The sums of the table's sequences by slices; own metrics are those of match tables only.

    `units` says for each sequence, by name, with which others it is left out; by default each is left out alone.
    """
    detections = matched.detections
    sequences = detections.aligned.frames["sequence"]
    kept = among(sequences, table["sequence"].unique().tolist())
    slices = slices_of(matched, by, kept)
    weighted = Weighted(matched, slices)
    names = pd.Index(pd.Series(sequences[kept]).unique())
    units = pd.Series(array_of(pd.Series(names)), names) if units is None else units
    labels, of_sequence = _groups(units)
    group = np.full(len(kept), -1)
    group[kept] = of_sequence.reindex(pd.Index(sequences[kept])).to_numpy()
    sizes = _sizes(slices, group, sequences, of_sequence.to_numpy(), len(labels))
    position, of_row = np.nonzero(sizes)
    values = {
        "rows": np.ones(len(position)),
        "slice": position.astype(np.float64),
        "groups": np.eye(len(labels))[of_row],
    }
    metrics = MetricSet(
        entries_of(matched.numbers, matched.protocol, matched.thresholds),
        RANKING,
        DEFAULT,
        partial(_values, weighted, group),
        partial(_counted, _truths_in(weighted, group, len(labels))),
        lost=weighted.lost,
    )
    summary = slice_summary(weighted)
    return Sums(
        metrics,
        Columns(slices.labels, n_rows=len(summary)),
        position,
        labels.take(of_row),
        values,
        summary.attrs,
        texts=[slices.warning] if slices.warning else (),
        summary=summary,
        sizes=sizes[position, of_row],
    )


def _groups(units: pd.Series) -> tuple[Any, pd.Series]:
    """The names of the groups, and the group of each sequence; units are left out alone if they are not too many."""
    codes, known = pd.factorize(units, sort=True)
    if len(known) <= MOST_GROUPS:
        return array_of(pd.Series(known)), pd.Series(codes, units.index)
    mixed = np.random.default_rng(SEED).permutation(len(known)) % MOST_GROUPS
    return np.arange(MOST_GROUPS), pd.Series(mixed[codes], units.index)


def _sizes(slices: Slices, group: np.ndarray, sequences: Any, of_sequences: np.ndarray, n_groups: int) -> np.ndarray:
    """How many sequences each group has in each slice, (B, groups), from the group of each frame and sequence."""
    if not slices.by_frame:
        return np.tile(np.bincount(of_sequences, minlength=n_groups), (len(slices), 1))
    [sequence], span = arrays.ordinals([sequences])
    rows = np.flatnonzero(slices.frame >= 0)
    _, first = arrays.distinct(
        arrays.pack([slices.frame[rows], sequence[rows]], [int(slices.frame.max(initial=0)) + 1, span])
    )
    rows = rows[first]
    sizes = np.zeros((int(slices.frame.max(initial=0)) + 1, n_groups), np.int64)
    np.add.at(sizes, (slices.frame[rows], group[rows]), 1)
    return sizes[slices.parts.frame]


def _truths_in(weighted: Weighted, group: np.ndarray, n_groups: int) -> np.ndarray:
    """By how much each group counts in each slice, (B, groups): by its truths, or 1 if it has detections only."""
    slices, detections = weighted.slices, weighted.matched.detections
    of_truths = detections.aligned.truth.frame, detections.truth_category, slices.truth
    of_detections = detections.frame, detections.category, slices.detection
    counts = []
    for (frame, category, part), counting in zip(
        (of_truths, of_detections), weighted.matched.scopes["all"], strict=True
    ):
        position = slices.of_rows(Parts(slices.frame[frame], slices.category[category], part))
        rows = np.flatnonzero(counting & (position >= 0))
        cells = np.bincount(position[rows] * n_groups + group[frame[rows]], minlength=len(slices) * n_groups)
        counts.append(cells.reshape(len(slices), n_groups))
    return np.where(counts[0] > 0, counts[0], counts[1] > 0).astype(np.float64)


def _counted(truths: np.ndarray, sums: NamedSums) -> np.ndarray:
    """How many truths the slice of each row has, (...), each as often as its group counts."""
    return np.einsum("...g,...g->...", truths[_position(sums)], sums["groups"])


def _position(sums: NamedSums) -> np.ndarray:
    """The slice of each row; 0 if none of its groups is left."""
    return np.rint(sums["slice"] / np.maximum(sums["rows"], 1)).astype(np.int64)


def _values(weighted: Weighted, group: np.ndarray, sums: NamedSums, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The named numbers, (...), from sums that say how often each group of frames counts."""
    positions = _position(sums)
    of_groups = np.rint(sums["groups"])
    values = np.full((*positions.shape, len(names)), np.nan)
    for place in np.ndindex(positions.shape):
        of_frames = np.where(group >= 0, of_groups[place][group], 0.0)
        found = weighted.numbers(int(positions[place]), names, of_frames)
        values[place] = [found[name] for name in names]
    return {name: values[..., at] for at, name in enumerate(names)}
