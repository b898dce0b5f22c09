"""The best one-to-one assignment at every level: what `assign` gives for the rows that are left at that level.

A row exists at the levels from 0 up to its own, so near pairs only vanish from one level to the next. A near pair that
shares no end with another is chosen as long as it exists. All others are settled by component: the pairs that hang
together by shared ends. A component changes only at the levels of its own rows, so it is settled once for each of
these. Where it has equally good answers, its frame is solved whole at each level at which the frame changes, because
the solver's choice between equal answers depends on all rows of the frame.
"""

from typing import NamedTuple

import numpy as np

from ..support import arrays
from .assignment import BLUR, Entries, FarCosts, assign, components_of, numbered, only_answers, plain

# How many pairs, rows and columns, counted once a level, are settled at once, unless a frame has more at one level.
SETTLED_AT_ONCE = 1 << 20


class Spans(NamedTuple):
    """Pairs that are chosen at all levels from `first` to `last`; `pair` is the position of each in a list of pairs."""

    pair: np.ndarray
    first: np.ndarray
    last: np.ndarray

    def take(self, chosen: np.ndarray) -> "Spans":
        """The spans that are marked, or whose positions are given."""
        return Spans(*(column[chosen] for column in self))


class _Units(NamedTuple):
    """The ranges of levels, `first` to `last`, in which nothing changes in a group: a component or a frame.

    They are sorted by `key`, which is group * n_levels + last. So the unit of a group and a level is the first one
    whose key is at least group * n_levels + level.
    """

    key: np.ndarray
    group: np.ndarray
    first: np.ndarray
    last: np.ndarray

    def take(self, chosen: np.ndarray) -> "_Units":
        """The units that are marked, or whose positions are given."""
        return _Units(*(column[chosen] for column in self))


class _Leveled(NamedTuple):
    """Near pairs of whole frames, with the frame and the level of each row; a row of a level below 0 does not exist."""

    near: Entries
    frame: np.ndarray
    level: np.ndarray
    n_levels: int

    def row_keys(self) -> np.ndarray:
        """frame * n_levels + level of all rows that exist, sorted."""
        return np.sort((self.frame * self.n_levels + self.level)[self.level >= 0])

    def frames(self, first: int, last: int, pairs: slice) -> "_Leveled":
        """The frames [first, last), whose rows and columns are then counted from 0; `pairs` are theirs."""
        near = self.near
        rows, columns = near.row_starts[first : last + 1], near.column_starts[first : last + 1]
        ends = near.row[pairs] - rows[0], near.column[pairs] - columns[0]
        starts = rows - rows[0], columns - columns[0]
        part = Entries(*ends, near.value[pairs], *starts, lambda position: near.name(first + position))
        of_rows = slice(rows[0], rows[-1])
        return _Leveled(part, self.frame[of_rows] - first, self.level[of_rows], self.n_levels)

    def levels(self, low: int, high: int) -> "_Leveled":
        """The levels [low, high), which are then counted from 0."""
        return self._replace(level=np.minimum(self.level, high - 1) - low, n_levels=high - low)


def assign_at_levels(near: Entries, level: np.ndarray, n_levels: int, far_of: FarCosts) -> Spans:
    """The near pairs that `assign` chooses at each level.

    `near` has rows and columns that are counted from 0, and all other pairs cost what `far_of` says. `level` is the
    highest level, below `n_levels`, at which each row exists, or -1. A pair may have several spans, one after another.
    """
    exist = np.flatnonzero(level[near.row] >= 0)
    shared = np.zeros(len(near.row), bool)
    for end in (near.row[exist], near.column[exist]):
        shared[exist] |= (np.bincount(end) > 1)[end]
    alone = exist[~shared[exist]]
    parts = [Spans(alone, np.zeros_like(alone), level[near.row[alone]])]
    frame, n_rows = near.frame(), np.diff(near.row_starts)
    n_pairs, n_shared = (np.bincount(frames, minlength=len(n_rows)) for frames in (frame, frame[shared]))
    n_changes = np.where(n_shared > 0, np.minimum(n_rows, n_levels), 0)
    sizes = (n_pairs + n_rows + np.diff(near.column_starts)) * n_changes
    leveled = _Leveled(near, np.repeat(np.arange(len(n_rows)), n_rows), level, n_levels)
    for first, last in arrays.chunks(sizes, SETTLED_AT_ONCE):
        part = slice(*np.searchsorted(frame, [first, last]))
        of_frames = leveled.frames(first, last, part)
        # A single frame may be too large for all levels at once.
        for low, high in arrays.chunks(np.full(n_levels, sizes[first:last].sum() // max(n_levels, 1)), SETTLED_AT_ONCE):
            of_levels = of_frames.levels(low, high)
            pairs = np.flatnonzero(shared[part] & (of_levels.level[of_levels.near.row] >= 0))
            spans = _settled(of_levels, pairs, far_of)
            parts.append(Spans(spans.pair + part.start, spans.first + low, spans.last + low))
    return Spans(*map(np.concatenate, zip(*parts, strict=True)))


def _settled(leveled: _Leveled, pairs: np.ndarray, far_of: FarCosts) -> Spans:
    """The spans of the pairs at these positions, which are all that share an end with another."""
    if not len(pairs):
        return Spans(pairs, pairs, pairs)
    near, n_levels = leveled.near, leveled.n_levels
    row = near.row[pairs]
    component = components_of(row, near.column[pairs])
    units = _units(component * n_levels + leveled.level[row], n_levels)
    first_unit = np.searchsorted(units.key, component * n_levels)
    last_unit = np.searchsorted(units.key, component * n_levels + leveled.level[row])
    place, unit = arrays.ranges(first_unit, last_unit - first_unit + 1)
    frame = np.zeros(int(component.max()) + 1, np.int64)
    frame[component] = leveled.frame[row]
    frame = frame[units.group]
    far = far_of(_n_rows(leveled, frame, units.first), np.diff(near.column_starts)[frame])
    chosen, is_open = _by_component(near.take(pairs), component, units.group, place, unit, far)
    sure = np.flatnonzero(chosen & ~is_open[unit])
    spans = Spans(pairs[place[sure]], units.first[unit[sure]], units.last[unit[sure]])
    if not is_open.any():
        return spans
    solved = _by_frame(leveled, frame[is_open], units.take(is_open), far_of)
    # Of a frame that was solved only what belongs to an open component is new.
    component_of = np.full(len(near.row), -1)
    component_of[pairs] = component
    solved = solved.take(component_of[solved.pair] >= 0)
    solved = solved.take(is_open[np.searchsorted(units.key, component_of[solved.pair] * n_levels + solved.last)])
    return Spans(*map(np.concatenate, zip(spans, solved, strict=True)))


def _by_component(
    near: Entries, component: np.ndarray, group: np.ndarray, place: np.ndarray, unit: np.ndarray, far: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Marks the pairs that are chosen in units of components; also marks the units in which that leaves a choice open.

    `component` is that of each pair, and `group` that of each unit. Each `unit` is listed with each `place` of a pair
    that it has. `far` is what a pair of each unit costs that is not near.
    """
    rows, columns = (numbered(end, component, group) for end in (near.row, near.column))
    ends = rows.starts[unit] + rows.in_component[place], columns.starts[unit] + columns.in_component[place]
    entries = Entries(*ends, near.value[place], rows.starts, columns.starts)
    chosen, undecided = plain(entries, far[unit] * BLUR)
    is_open = np.zeros(len(group), bool)
    is_open[unit[undecided]] = True
    left = np.flatnonzero(is_open[unit])
    chosen[left], answered = only_answers(entries.take(left), far)
    return chosen, is_open & ~answered


def _by_frame(leveled: _Leveled, frame: np.ndarray, opened: _Units, far_of: FarCosts) -> Spans:
    """The spans of all pairs that `assign` chooses in the given frames, within the levels of the opened units."""
    near, n_levels = leveled.near, leveled.n_levels
    units = _units(leveled.row_keys(), n_levels)
    first_unit = np.searchsorted(units.key, frame * n_levels + opened.first)
    last_unit = np.searchsorted(units.key, frame * n_levels + opened.last)
    units = units.take(np.unique(arrays.ranges(first_unit, last_unit - first_unit + 1)[1]))
    of_row, row = arrays.ranges(near.row_starts[units.group], np.diff(near.row_starts)[units.group])
    kept = leveled.level[row] >= units.last[of_row]
    row_starts = np.concatenate([[0], np.cumsum(np.bincount(of_row[kept], minlength=len(units.key)))])
    column_starts = np.concatenate([[0], np.cumsum(np.diff(near.column_starts)[units.group])])
    pair_starts = np.searchsorted(near.frame(), np.arange(len(near.row_starts)))
    of_pair, pair = arrays.ranges(pair_starts[units.group], np.diff(pair_starts)[units.group])
    left = leveled.level[near.row[pair]] >= units.last[of_pair]
    of_pair, pair = of_pair[left], pair[left]
    # The place of each row of each unit among the rows that are kept, and where the rows of a unit begin in that list.
    place, begins = np.cumsum(kept) - 1, np.searchsorted(of_row, np.arange(len(units.key)))
    new_row = place[begins[of_pair] + near.row[pair] - near.row_starts[units.group[of_pair]]]
    new_column = column_starts[of_pair] + near.column[pair] - near.column_starts[units.group[of_pair]]
    entries = Entries(
        new_row, new_column, near.value[pair], row_starts, column_starts, lambda unit: near.name(int(units.group[unit]))
    )
    chosen = assign(entries, far_of)
    return Spans(pair[chosen], units.first[of_pair[chosen]], units.last[of_pair[chosen]])


def _units(keys: np.ndarray, n_levels: int) -> _Units:
    """The units of groups of rows; a key is group * n_levels + level."""
    key, _ = arrays.distinct(keys)
    group, last = np.divmod(key, n_levels)
    first = np.zeros_like(last)
    first[1:] = np.where(group[1:] == group[:-1], last[:-1] + 1, 0)
    return _Units(key, group, first, last)


def _n_rows(leveled: _Leveled, frame: np.ndarray, level: np.ndarray) -> np.ndarray:
    """How many rows exist in these frames at these levels."""
    keys, n_levels = leveled.row_keys(), leveled.n_levels
    return np.searchsorted(keys, (frame + 1) * n_levels) - np.searchsorted(keys, frame * n_levels + level)
