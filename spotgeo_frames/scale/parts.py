"""Cuts a dataset into parts: ranges of sequences, with the row groups that hold them, that can be evaluated apart.

Nothing is assumed about how the files are laid out. Row groups that lie one after the other make a chain, read in one
go; files that are interleaved, such as one for each camera, make as many chains, read side by side. A part's rows lie
anywhere in its row groups, so those at its ends are read for two parts; cuts are where that costs little.
"""

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..support.errors import InputError
from .contents import Contents, Gap, RowGroup

# Rows of a part, both sides together: a share of all, but neither so few that a part costs more by itself than by its
# rows, nor so many that much is lost with one that is interrupted.
PARTS, LEAST_ROWS, PART_ROWS = 64, 1 << 19, 1 << 24

# How many times all rows may be read because of row groups that reach over a cut.
MOST_READ = 1.3

# Chains that are read side by side, each with a file open.
MOST_CHAINS = 64


class Part(NamedTuple):
    """The sequences from `low` up to, but not with, `high` (None: no end), without those in `gaps`.

    `chains` are, of each side, the row groups that may hold them, those that follow each other in one list.
    """

    number: int
    low: Any
    high: Any
    chains: dict[str, list[list[RowGroup]]]
    gaps: list[Gap]

    @property
    def n_rows(self) -> int:
        """About how many rows it has: those of its row groups, of which some may be of its neighbours."""
        return sum(group.n_rows for chains in self.chains.values() for chain in chains for group in chain)


def parts_of(sides: Mapping[str, Contents]) -> list[Part]:
    """The parts of the sides, in the order of their sequences.

    Raises InputError where the rows are in no order, so that parts would have to read everything again and again.
    """
    groups = [(side, group) for side, contents in sides.items() for group in contents.groups]
    gaps = [gap for contents in sides.values() for gap in contents.gaps]
    if not groups:
        return []
    values = sorted({bound for _, group in groups for bound in (group.low, group.high)})
    number = {value: place for place, value in enumerate(values)}
    low = np.array([number[group.low] for _, group in groups])
    high = np.array([number[group.high] for _, group in groups])
    n_rows = np.array([group.n_rows for _, group in groups])
    starts = _starts(low, high, n_rows)
    parts = []
    for place, start in enumerate(starts):
        end = starts[place + 1] if place + 1 < len(starts) else len(values)
        inside = np.flatnonzero((low < end) & (high >= start))
        chains = {
            side: _chains([groups[i][1] for i in inside if groups[i][0] == side], contents)
            for side, contents in sides.items()
        }
        bounds = values[start] if place else None, values[end] if place + 1 < len(starts) else None
        parts.append(Part(place, *bounds, chains, gaps))
    return parts


def _starts(low: np.ndarray, high: np.ndarray, n_rows: np.ndarray) -> list[int]:
    """Where parts begin: so many that there is work for all, so few that hardly a row group is read twice.

    Sequences are numbers here, as they are in the result. `starts` are places in `possible`.
    """
    total = int(n_rows.sum())
    wanted = min(PART_ROWS, max(LEAST_ROWS, total // PARTS))
    possible = np.unique(low)
    # Rows of the groups that begin before each, and of those that end before it: the difference is cut in two.
    begun, ended = (
        np.concatenate([[0], np.cumsum(n_rows[np.argsort(bound)])])[np.searchsorted(np.sort(bound), possible)]
        for bound in (low, high)
    )
    while True:
        starts = [0]
        while begun[starts[-1]] + wanted < begun[-1]:
            near = begun[starts[-1]] + wanted * np.array([0.75, 1.25])
            first, last = np.searchsorted(begun, near)
            first = max(int(first), starts[-1] + 1)
            some = slice(first, max(int(last), first + 1))
            starts.append(first + int(np.argmin((begun - ended)[some])))
        begins = possible[starts]
        # A row group is read by all parts from that of its first sequence to that of its last.
        n_read = np.searchsorted(begins, high, side="right") - np.searchsorted(begins, low, side="right") + 1
        if len(starts) == 1 or (n_read * n_rows).sum() <= MOST_READ * total:
            return [int(begin) for begin in begins]
        wanted *= 2


def _chains(groups: Sequence[RowGroup], contents: Contents) -> list[list[RowGroup]]:
    """The row groups as chains in which each begins where the one before has ended.

    Raises InputError where there are too many: then the rows are in no order.
    """
    chains: list[list[RowGroup]] = []
    for group in sorted(groups, key=lambda group: (group.low, group.high, group.order)):
        open_chains = [chain for chain in chains if _follows(chain[-1], group)]
        if open_chains:
            # The one that ended last leaves the others to those that begin earlier.
            max(open_chains, key=lambda chain: chain[-1].high).append(group)
        else:
            chains.append([group])
        if len(chains) > MOST_CHAINS:
            raise out_of_order(contents.name, f"more than {MOST_CHAINS} row groups hold the same sequences")
    return chains


def _follows(last: RowGroup, group: RowGroup) -> bool:
    # What of a sequence is in two row groups has to come in their order.
    return bool(last.high < group.low or (last.high == group.low and last.order < group.order))


def out_of_order(name: str, why: str) -> InputError:
    """What to say of a dataset whose rows are in no order."""
    advice = "sort it first with repartition_by_sequence(dataset, folder)"
    if os.path.exists(name):
        command = ["spotgeo-frames", "repartition", name, f"{name.rstrip('/').removesuffix('.parquet')}_by_sequence"]
        advice = f"sort it first: {shlex.join(command)}"
    return InputError(f"{name}: its rows are in no order of sequences ({why}); {advice}")
