"""Cuts a dataset into parts: ranges of sequences that are evaluated independently, with the row groups to read.

Files may be laid out in any way. Row groups whose sequences follow each other make a chain, which is read from its
beginning to its end. Interleaved files, such as one for each camera, make several chains, which are read side by side.
A row group at the end of a part may have rows of the next part, and is then read for both. Parts are cut where that
costs little, and a long sequence also between its frames.
"""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..support import InputError
from .contents import Contents
from .files import FIRST, LAST, Gap, Key, RowGroup

# A part has a PARTS-th of all rows, both sides together, but at least LEAST_ROWS, since each part has a fixed cost, and
# at most PART_ROWS, since an interruption loses the part's work.
PARTS, LEAST_ROWS, PART_ROWS = 64, 1 << 19, 1 << 24

# How often all rows may be read on average, since row groups across a cut are read twice or more; and how often where
# there would be fewer than FEW_PARTS parts, since a core without work costs more than reading.
MOST_READ, READ_OF_FEW, FEW_PARTS = 1.3, 1.75, 16

# The most chains to read side by side, each with an open file.
MOST_CHAINS = 64


class Part(NamedTuple):
    """The rows from the sequence and frame `low` on and before `high` (None: no bound), without those in `gaps`.

    `number` is the position of the part. `chains` are the row groups of each side that may have these rows, as one list
    for each chain. Sequences that are `long` may be cut between frames. The row groups of a `scattered` part have its
    sequences in any order, and no other part has them; they are read as a whole.
    """

    number: int
    low: Key | None
    high: Key | None
    chains: dict[str, list[list[RowGroup]]]
    gaps: list[Gap]
    long: frozenset[Any] = frozenset()
    scattered: bool = False

    @property
    def groups(self) -> list[tuple[str, RowGroup]]:
        """Its row groups with their sides."""
        return [(side, group) for side, chains in self.chains.items() for chain in chains for group in chain]

    @property
    def n_rows(self) -> int:
        """How many rows its row groups have, some of which may belong to its neighbours."""
        return sum(group.n_rows for _, group in self.groups)


def parts_of(
    sides: Mapping[str, Contents], long: frozenset[Any] = frozenset(), *, whole_sequences: bool = False
) -> list[Part]:
    """The parts of the sides, in the order of their sequences.

    Sequences that are `long` may be cut between frames; their row groups have to tell their frames. With
    `whole_sequences`, they are cut within a part only.
    """
    groups = [(side, group) for side, contents in sides.items() for group in contents.groups]
    gaps = [gap for contents in sides.values() for gap in contents.gaps]
    if not groups:
        return []
    begins = [(group.low, FIRST) if whole_sequences else group.begin for _, group in groups]
    values = sorted({*begins, *(group.end for _, group in groups)})
    rank = {value: position for position, value in enumerate(values)}
    low = np.array([rank[begin] for begin in begins])
    high = np.array([rank[group.end] for _, group in groups])
    n_rows = np.array([group.n_rows for _, group in groups])
    starts = _starts(low, high, n_rows)
    parts = []
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(values)
        inside = np.flatnonzero((low < end) & (high >= start))
        chains = {side: _chains([groups[i][1] for i in inside if groups[i][0] == side]) for side in sides}
        bounds = values[start] if number else None, values[end] if number + 1 < len(starts) else None
        parts.append(Part(number, *bounds, chains, gaps, long))
    return parts


def _starts(low: np.ndarray, high: np.ndarray, n_rows: np.ndarray) -> list[int]:
    """The ranks of the sequences and frames at which parts begin.

    There are enough parts to share the work, but so few that hardly a row group is read twice. `low` and `high` are the
    ranks at which each row group begins and ends.
    """
    total = int(n_rows.sum())
    wanted = min(PART_ROWS, max(LEAST_ROWS, total // PARTS))
    possible = np.unique(low)
    # For each possible start: the rows of groups that begin before it, and of those that end before it. A cut there
    # would split the groups in between.
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
            candidates = slice(first, max(int(last), first + 1))
            starts.append(first + int(np.argmin((begun - ended)[candidates])))
        begins = possible[starts]
        # A row group is read for all parts from the one of its first sequence to the one of its last.
        n_read = np.searchsorted(begins, high, side="right") - np.searchsorted(begins, low, side="right") + 1
        most_read = READ_OF_FEW if len(starts) < FEW_PARTS else MOST_READ
        if len(starts) == 1 or (n_read * n_rows).sum() <= max(most_read, MOST_READ) * total:
            return [int(begin) for begin in begins]
        wanted *= 2


def joined(parts: Sequence[Part], fits: Callable[[Part], bool]) -> list[Part]:
    """Neighbours as one part, as long as that has few rows: one process that does both reads no row group twice then.

    `fits` says whether a part can be read within bounded memory, whatever the order of its rows. The rows of parts that
    do not fit have to be in order; they are joined with each other only, so that no disorder elsewhere makes them be
    sorted in memory.
    """
    answer: list[Part] = []
    for part in parts:
        both = _together(answer[-1], part) if answer else None
        if both and both.n_rows <= PART_ROWS and (fits(both) or not (fits(answer[-1]) or fits(part))):
            answer[-1] = both
        else:
            answer.append(part)
    return answer


def _together(before: Part, after: Part) -> Part | None:
    """Two neighbours as one part; None where one has its row groups for itself."""
    if before.scattered or after.scattered:
        return None
    groups = {(side, group.order): group for side, group in before.groups + after.groups}
    chains = {side: _chains([group for (of, _), group in groups.items() if of == side]) for side in before.chains}
    return before._replace(high=after.high, chains=chains)


def _chains(groups: Sequence[RowGroup]) -> list[list[RowGroup]]:
    """The row groups as chains, in which each group begins where the one before ends.

    Where there would be more than MOST_CHAINS, each group is a chain of its own.
    """
    chains: list[list[RowGroup]] = []
    for group in sorted(groups, key=lambda group: (group.begin, group.end, group.order)):
        open_chains = [chain for chain in chains if _follows(chain[-1], group)]
        if open_chains:
            # Taking the chain that ended last keeps the others free for groups that begin earlier.
            max(open_chains, key=lambda chain: chain[-1].end).append(group)
        else:
            chains.append([group])
        if len(chains) > MOST_CHAINS:
            return [[group] for group in groups]
    return chains


def _follows(last: RowGroup, group: RowGroup) -> bool:
    """Whether a row group can come after the last one of a chain; what is in both is in file order."""
    unknown = (last.last_frame, group.first_frame) == (LAST, FIRST)
    shared = last.high == group.low and (unknown or last.last_frame == group.first_frame)
    return last.end < group.begin or (shared and last.order < group.order)


def out_of_order(name: str, why: str) -> InputError:
    """The error of a dataset whose rows are not sorted by sequence, with the command that sorts it."""
    advice = "sort it first with repartition_by_sequence(dataset, folder)"
    if os.path.exists(name):
        command = ["spotgeo-frames", "repartition", name, f"{name.rstrip('/').removesuffix('.parquet')}_by_sequence"]
        advice = f"sort it first: {shlex.join(command)}"
    return InputError(f"{name}: its rows are in no order of sequences ({why}); {advice}")
