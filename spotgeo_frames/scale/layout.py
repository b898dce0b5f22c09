"""Finds how the rows lie in row groups whose footers do not tell: in which order, and which share sequences."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..support.fetching import AT_ONCE
from ..support.keys import distinct
from ..support.storage import is_local
from .blocks import wrong_statistics
from .contents import BATCH_ROWS, Contents
from .files import OpenedFiles
from .row_groups import FIRST, LAST, RowGroup
from .rows import UnreadableError, row_group_batches

# About how many sequences are compared at a time to find the row groups that share some.
AT_A_TIME = 1 << 18


class Layout(NamedTuple):
    """How the rows of a row group lie, which their columns `sequence` and `frame` show.

    `in_order` is whether they are in the order of their sequences, and `frames_in_order` whether those of a sequence
    are in the order of their frames, too. `large` are the sequences of many rows. `sequences` are all of them, sorted,
    once each, as integers; for text these are hashes.
    """

    in_order: bool
    frames_in_order: bool
    large: list[Any]
    sequences: np.ndarray


def known_rows(sides: Iterable[Contents]) -> dict[Any, int]:
    """How many rows of all sides are in row groups with a single sequence, by sequence; it may have more in others."""
    counts: dict[Any, int] = {}
    for dataset in sides:
        for group in dataset.groups:
            if group.low == group.high:
                counts[group.low] = counts.get(group.low, 0) + group.n_rows
    return counts


def with_frames(dataset: Contents, long: Collection[Any]) -> Contents:
    """The dataset, whose row groups tell their first and last frame where these are of a long sequence, and only there.

    Statistics tell the frames of row groups with a single sequence; of others, the frames are read.
    """
    groups = [_with_frames(group, dataset.schema, long) for group in dataset.groups]
    return dataset._replace(groups=groups)


def _with_frames(group: RowGroup, schema: pa.Schema, long: Collection[Any]) -> RowGroup:
    """A row group with its first frame if its least sequence is long, and its last frame if its greatest is."""
    if group.low not in long and group.high not in long:
        return group._replace(first_frame=FIRST, last_frame=LAST)
    if group.low == group.high and group.first_frame > FIRST:
        return group
    first, last = LAST, FIRST
    with suppress(UnreadableError):  # which reading all of the row group shows
        for rows in row_group_batches(OpenedFiles(), group, _key_schema(schema), BATCH_ROWS):
            for name in {group.low, group.high}.intersection(long):
                frames = pc.min_max(rows["frame"].filter(pc.equal(rows["sequence"], name)))
                if name == group.low and frames["min"].is_valid:
                    first = min(first, frames["min"].as_py())
                if name == group.high and frames["max"].is_valid:
                    last = max(last, frames["max"].as_py())
    return group._replace(
        first_frame=first if group.low in long and first < LAST else FIRST,
        last_frame=last if group.high in long and last > FIRST else LAST,
    )


def _key_schema(schema: pa.Schema) -> pa.Schema:
    """The columns that the rows of a dataset are in the order of."""
    return pa.schema([schema.field("sequence"), schema.field("frame")])


def layouts_of(sides: Mapping[str, Contents], groups: Sequence[tuple[str, RowGroup]], n_rows: int) -> list[Layout]:
    """The layout of each of the row groups, which come with their sides; a sequence of over `n_rows` rows is large.

    Several are read at once: as many as there are cores, since each takes memory, and more of a store, which keeps
    them waiting.
    """
    local = all(is_local(group.file.place) for _, group in groups)
    with ThreadPoolExecutor(os.cpu_count() if local else AT_ONCE) as pool:
        return list(pool.map(lambda item: _layout(item[1], _key_schema(sides[item[0]].schema), n_rows), groups))


def _layout(group: RowGroup, schema: pa.Schema, n_rows: int) -> Layout:
    """The layout of a row group; raises InputError if its statistics are wrong, UnreadableError if it is damaged."""
    in_order = frames_in_order = True
    last, found, often = None, list[_Counts](), {}
    for rows in row_group_batches(OpenedFiles(), group, schema, BATCH_ROWS):
        sequence, frame = rows["sequence"].combine_chunks(), rows["frame"].combine_chunks()
        above, same = pc.less(sequence[:-1], sequence[1:]), pc.equal(sequence[:-1], sequence[1:])
        later = pc.less_equal(frame[:-1], frame[1:])
        first = sequence[0].as_py(), frame[0].as_py() or 0
        in_order &= _all(pc.or_(above, same)) and (last is None or last[0] <= first[0])
        frames_in_order &= _all(pc.or_(above, pc.and_(same, later))) and (last is None or last <= first)
        last = sequence[-1].as_py(), frame[-1].as_py() or 0
        ends = pc.min_max(sequence)
        if ends["min"].as_py() < group.low or ends["max"].as_py() > group.high:
            raise wrong_statistics(group)
        integers = _as_integers(sequence)
        found.append(_added([_Counts(integers, np.ones(len(integers), np.int64))]))
        # A sequence of more than `n_rows` of the group's rows has at least its share of them in one of the batches.
        for name in found[-1].names[found[-1].counts * (group.n_rows / BATCH_ROWS + 1) > n_rows].tolist():
            often[name] = sequence[int(np.argmax(integers == name))].as_py()
        if sum(len(each.names) for each in found) > 2 * len(found[0].names) + 2 * BATCH_ROWS:
            found = [_added(found)]
    whole = _added(found)
    large = [often[name] for name in whole.names[whole.counts > n_rows].tolist() if name in often]
    return Layout(in_order, frames_in_order, large, whole.names)


class _Counts(NamedTuple):
    """Sequences as integers, and how many rows each has."""

    names: np.ndarray
    counts: np.ndarray


def _added(pieces: Sequence[_Counts]) -> _Counts:
    """The sequences of all pieces, sorted, once each."""
    names, counts = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    order = np.argsort(names)
    names, counts = names[order], counts[order]
    _, first = distinct(names)
    return _Counts(names[first], np.add.reduceat(counts, first))


def _all(values: pa.Array) -> bool:
    """Whether all values are true, or null."""
    return pc.all(values).as_py() is not False


def _as_integers(sequence: pa.Array) -> np.ndarray:
    """Sequences as integers: themselves, or of text 64-bit hashes."""
    if pa.types.is_integer(sequence.type):
        return sequence.to_numpy()
    from pandas.util import hash_array

    encoded = sequence.dictionary_encode()
    names = encoded.dictionary.to_numpy(zero_copy_only=False)
    return hash_array(names).view(np.int64)[encoded.indices.to_numpy()]


def components(sequences: Sequence[np.ndarray]) -> np.ndarray:
    """A number for each row group, the same for all that share sequences, directly or by way of others.

    `sequences` are those of each row group, sorted, once each. If two sequences have the same hash, more row groups
    have the same number, which does no harm. They are looked at in ranges, so that this takes little memory besides.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    number = np.arange(len(sequences))
    for pieces in _ranges(sequences):
        name, of_piece = np.concatenate(pieces), np.repeat(number, [len(piece) for piece in pieces])
        order = np.argsort(name)
        name, of_piece = name[order], of_piece[order]
        shared = name[1:] == name[:-1]
        n_numbers = int(number.max()) + 1
        pairs = distinct(np.sort(of_piece[:-1][shared] * n_numbers + of_piece[1:][shared]))[0]
        links = coo_array((np.ones(len(pairs)), np.divmod(pairs, n_numbers)), (n_numbers, n_numbers))
        number = connected_components(links, directed=False)[1].astype(np.int64)[number]
        if not number.any():  # all belong together already
            break
    return number


def _ranges(sequences: Sequence[np.ndarray]) -> Iterator[list[np.ndarray]]:
    """What of each array lies in one range after another; in each range about AT_A_TIME values of all arrays."""
    step = 64
    sample = np.sort(np.concatenate([names[::step] for names in sequences]))
    cuts = distinct(sample[AT_A_TIME // step :: AT_A_TIME // step])[0]
    ends = [[0, *np.searchsorted(names, cuts).tolist(), len(names)] for names in sequences]
    for number in range(len(cuts) + 1):
        yield [names[end[number] : end[number + 1]] for names, end in zip(sequences, ends, strict=True)]
