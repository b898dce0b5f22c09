"""What batches add up to: a row of sums for each sequence, whose frames may come in several batches."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..matching.alignment import FrameRule
from ..matching.crowds import without_crowds
from ..matching.left_out import left_out
from ..matching.matcher import assigned, counted_table
from ..matching.rule import Rule, compared
from ..scoring.group_sums import Cells, Sums, cells_of, totals
from ..scoring.match_sums import SUMS
from ..scoring.pair_sums import pair_cells
from ..scoring.registry import own_metrics
from ..scoring.row_groups import group_rows
from ..scoring.summary import summary_of
from ..support.arrays import row_keys
from ..tables.annotations import SideColumns
from ..tables.columns import Columns
from ..tables.match_tables import match_dataframe
from ..tables.schema import COUNTS_NOTED, FRAME_KEY

# The sums of no sequence.
NOTHING = dict.fromkeys([*SUMS, "kelvins_error", "n_frames"], np.zeros(0))


class Evaluated(NamedTuple):
    """What two sides give: the sums of each sequence, the counts of crowds, a match table or None, and a warning.

    `lacking` are the own metrics that are left out, each with what it asks for that the match table lacks.
    """

    cells: Cells
    counts: dict[Hashable, int]
    matches: pd.DataFrame | None
    warning: str | None
    lacking: Mapping[str, str]


def evaluate(
    truth: SideColumns, predictions: SideColumns, rule: Rule, frames: FrameRule, own: Sequence[str], *, keep: bool
) -> Evaluated:
    """Matches two checked sides, one of which may have sequences that the other has not.

    The match table is made where it is to be kept, or where own metrics need it. Raises InputError as `match` does.
    """
    both = compared(rule, truth, predictions, frames, may_be_disjoint=True)
    counting = without_crowds(both, rule)
    pairs, warning = assigned(counting.sides, rule), left_out(both.aligned, rule, of_part=True)
    if not keep and not own:
        return Evaluated(*pair_cells(counting, pairs, rule), None, warning, {})
    table = counted_table(counting, pairs, rule)
    counts: dict[Hashable, int] = {name: table.attrs[name] for name in COUNTS_NOTED if name in table.attrs}
    groups = group_rows(table, None, own=own)
    return Evaluated(cells_of(groups), counts, match_dataframe(table) if keep else None, warning, groups.own.lacking)


def joined_matches(tables: Sequence[pd.DataFrame], rule: Rule) -> pd.DataFrame:
    """The match tables of batches as one, in the order of the frames.

    Until a batch had objects, the rule was not known, so tables of empty frames may lack the measure of the rule. And a
    column that is null throughout a table does not decide of which type it is.
    """
    measure, other = ("distance", "similarity") if rule.by_distance else ("similarity", "distance")
    tables = [table for table in tables if len(table)] or tables[:1]  # columns without rows may be of any type
    tables = [table if measure in table else table.rename(columns={other: measure}) for table in tables]
    types: dict[Hashable, set[Any]] = {}
    for name, kind in (item for table in tables for item in table.dtypes.items()):
        types.setdefault(name, set()).add(kind)
    differing = {name for name, kinds in types.items() if len(kinds) > 1}
    tables = [
        table.drop(columns=[name for name in table if name in differing and table[name].isna().all()])
        for table in tables
    ]
    table = pd.concat(tables, ignore_index=True).reindex(columns=list(types))
    return table.take(np.argsort(row_keys(table, FRAME_KEY), kind="stable")).reset_index(drop=True)


class BatchSums:
    """A row of sums for each of N sequences.

    `place` has the row of each sequence by its name or code, `values` the sums by name, (N or more,), since they grow
    by doubling, `counts` how many crowds were left out, and `lacking` the own metrics that are left out, each with what
    it asks for that the match table of a batch lacks.
    """

    def __init__(self) -> None:
        self.place: dict[int, int] = {}
        self.values: dict[str, np.ndarray] = {}
        self.counts: dict[Hashable, int] = {}
        self.lacking: dict[str, str] = {}

    def add(
        self,
        sequences: Sequence[int],
        values: Mapping[str, np.ndarray],
        counts: Mapping[Hashable, int],
        lacking: Mapping[str, str],
    ) -> None:
        """Adds sums of some sequences, each of which occurs once; sums of own metrics stay only if both have them."""
        if not values:  # those of an accumulator without batches
            return
        rows = [self.place.setdefault(sequence, len(self.place)) for sequence in sequences]
        before = self.values or dict.fromkeys(values, np.zeros(0))
        self.values = {name: _grown(before[name], len(self.place)) for name in values if name in before}
        for name, sums in self.values.items():
            sums[rows] += values[name][: len(rows)]
        self.lacking = {**lacking, **self.lacking}
        self.counts = {name: self.counts.get(name, 0) + counts.get(name, 0) for name in {**self.counts, **counts}}

    def n_predicted(self) -> np.ndarray:
        """How many predictions each sequence has, those that count, in the order of `place`."""
        counts = [self.values[name][: len(self.place)] for name in ("tp", "fp") if name in self.values]
        return np.sum(counts, axis=0) if counts else np.zeros(0)

    def summary(self, names: Mapping[int, Any], rule: Rule, own: Sequence[str]) -> pd.DataFrame:
        """What `summarize` returns of all of them, added in the order of the sequences.

        `names` are those of sequences that have codes.
        """
        named = sorted(self.place, key=lambda sequence: names.get(sequence, sequence))
        order = [self.place[sequence] for sequence in named]
        values = {name: rows[order] for name, rows in self.values.items()}
        cells = Cells(np.zeros(len(order), np.int64), None, values or NOTHING)
        own = [name for name in own_metrics() if name in own and values and name not in self.lacking]
        notes: dict[Hashable, Any] = rule.notes | self.counts
        return summary_of(Sums(Columns({}, n_rows=1), totals(cells, 1), {}, not rule.by_distance, notes, own))

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"values": {name: sums[: len(self.place)] for name, sums in self.values.items()}}


def _grown(sums: np.ndarray, n_sequences: int) -> np.ndarray:
    """The sums with a row for each of so many sequences, and zeros beyond: sequences that come one by one are many."""
    if len(sums) >= n_sequences:
        return sums
    return np.concatenate([sums, np.zeros(max(n_sequences, 2 * len(sums)) - len(sums))])
