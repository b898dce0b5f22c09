"""Decides how the rows of datasets are read, however they lie.

Row groups in the order of their sequences, or several chains of such, are read as they are. Where the ranges of their
sequences overlap so much that this would take too much memory, their columns `sequence` and `frame` are read once. They
show which row groups share sequences: those that do, with few rows, are read and sorted in memory together, as
partitions of an engine by hash or by day are. What is left, such as shuffled rows, is sorted into a temporary folder
first.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..support import InputError, Place, arrays, memory, stores, work
from ..tables import selections
from . import parts
from .blocks import Source, block_rows, wrong_statistics
from .contents import BATCH_ROWS, CANNOT_SKIP, Contents, contents_of
from .files import FIRST, LAST, OpenedFiles, RowGroup
from .parts import Part, out_of_order, parts_of
from .rows import UnreadableError, most_sorted, row_group_batches, write_sorted

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
    local = all(stores.is_local(group.file.place) for _, group in groups)
    with ThreadPoolExecutor(os.cpu_count() if local else work.AT_ONCE) as pool:
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
    names, counts = (np.concatenate(listed) for listed in zip(*pieces, strict=True))
    order = np.argsort(names)
    names, counts = names[order], counts[order]
    _, first = arrays.distinct(names)
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
        pairs = arrays.distinct(np.sort(of_piece[:-1][shared] * n_numbers + of_piece[1:][shared]))[0]
        links = coo_array((np.ones(len(pairs)), np.divmod(pairs, n_numbers)), (n_numbers, n_numbers))
        number = connected_components(links, directed=False)[1].astype(np.int64)[number]
        if not number.any():  # all belong together already
            break
    return number


def _ranges(sequences: Sequence[np.ndarray]) -> Iterator[list[np.ndarray]]:
    """What of each array lies in one range after another; in each range about AT_A_TIME values of all arrays."""
    step = 64
    sample = np.sort(np.concatenate([names[::step] for names in sequences]))
    cuts = arrays.distinct(sample[AT_A_TIME // step :: AT_A_TIME // step])[0]
    ends = [[0, *np.searchsorted(names, cuts).tolist(), len(names)] for names in sequences]
    for number in range(len(cuts) + 1):
        yield [names[end[number] : end[number + 1]] for names, end in zip(sequences, ends, strict=True)]


# About how many bytes of memory the tracks of a sequence need for each of its rows, of both sides together.
TRACKED_BYTES = 250

# What is said of a row group that was to be skipped, although it is needed to put the rows in order.
CANNOT_SKIP_IN_DISORDER = "it cannot be skipped, since the rows of the dataset are in no order; take it out, or mend it"

# The layouts of row groups, by their side and order.
Layouts = dict[tuple[str, tuple[int, int]], Layout]


class RunOptions(NamedTuple):
    """The options of an evaluation, besides the rule and the groupings.

    `out` is the folder for results and `client` a Dask client (None: neither). `exclude` are sequences to leave out.
    `on_error` is "raise" or "skip". `workers` is how many processes to use on this machine (None: as many as help).
    """

    out: Place | None = None
    client: Any = None
    exclude: Sequence[int | str] | None = None
    on_error: str = "raise"
    workers: int | None = None

    def excluded(self, contents: Mapping[str, Contents]) -> list[int | str]:
        """The sequences to leave out; raises InputError if they are not of the type of the sequences."""
        names = self.exclude or []
        filled = [side for side in contents.values() if side.n_rows] or [contents["truth"]]
        selections.check_names(names, filled[0].numbered)
        # Sequences have at most 64 bits, so a larger integer is none, and Arrow could not store it.
        return [name for name in names if isinstance(name, str) or -(1 << 63) <= name < 1 << 63]


@contextmanager
def planned(
    contents: Mapping[str, Contents], sources: Mapping[str, Source], options: RunOptions, cut_frames: bool
) -> Iterator[list[Part]]:
    """A context that gives the parts of the datasets, and holds the temporary folder of those that had to be sorted.

    The parts depend only on the datasets and on the columns to read. `cut_frames` allows to cut long sequences between
    their frames; without it, each sequence that is not left out has to fit in memory. Raises InputError if one does
    not; if a row group cannot be read, or has other rows than its footer says; if a file of unknown sequences is to be
    skipped; or if rows have to be sorted first for a cluster, whose workers would not see the temporary folder.
    """
    on_cluster, skip = options.client is not None, options.on_error == "skip"
    if not cut_frames and not on_cluster:
        _check_memory(contents, options.excluded(contents))
    with ExitStack() as stack:
        try:
            found, to_sort = _parts(contents, sources, cut_frames, skip)
            if to_sort or any(part.scattered for part in found):
                _check_gaps(contents)
            if to_sort and on_cluster:
                side, why = next(iter(to_sort.items()))
                raise out_of_order(contents[side].name, f"{why}; workers would not see a temporary folder")
            if to_sort:
                folder = Path(stack.enter_context(TemporaryDirectory()))
                in_order = {side: _sorted(contents[side], sources[side], folder / side) for side in to_sort}
                found, _ = _parts({**contents, **in_order}, sources, cut_frames, skip)
        except UnreadableError as error:
            advice = f"; {CANNOT_SKIP_IN_DISORDER}" if skip else ""
            raise InputError(f"{error.problems[0]}{advice}") from None
        yield found


def _check_memory(contents: Mapping[str, Contents], exclude: Collection[Any]) -> None:
    """Raises InputError if a whole sequence would need more memory than this machine has."""
    left_out = {*exclude}
    counts = {name: n_rows for name, n_rows in known_rows(contents.values()).items() if name not in left_out}
    name = max(counts, key=lambda name: counts[name], default=None)
    if name is not None:
        work = f"evaluating its {counts[name]:,} rows or more of both sides at once"
        advice = "divide it into several, leave it out with exclude="
        memory.check_at_hand(f"{contents['truth'].name}: sequence {name}", work, counts[name] * TRACKED_BYTES, advice)


def _check_gaps(contents: Mapping[str, Contents]) -> None:
    """Raises InputError if a file is to be skipped of which only the range of sequences is known.

    Where ranges overlap, most of the sequences in it lie in other files.
    """
    gaps = [gap for dataset in contents.values() for gap in dataset.gaps if gap.low is None or gap.low != gap.high]
    if gaps:
        raise InputError([f"{gap.problem}; {CANNOT_SKIP}" for gap in gaps])


def _parts(
    datasets: Mapping[str, Contents], sources: Mapping[str, Source], cut_frames: bool, skip: bool
) -> tuple[list[Part], dict[str, str]]:
    """The parts of the datasets; and the sides that have to be sorted first, with the reason."""
    long_rows = block_rows([source.schema for source in sources.values()]) // 2
    counts = known_rows(datasets.values()) if cut_frames else {}
    long = frozenset(name for name, count in counts.items() if count > long_rows)
    layouts: Layouts = {}
    while True:
        framed = {side: with_frames(dataset, long) for side, dataset in datasets.items()}
        # What is skipped of a sequence is found out in one part, and must be left out everywhere.
        ranges = parts_of(framed, long, whole_sequences=skip)
        doubtful = [part for part in ranges if not is_moderate(part, sources)]
        asked = {(side, group.order): (side, group) for part in doubtful for side, group in part.groups}
        new = [item for key, item in asked.items() if key not in layouts]
        found = layouts_of(datasets, new, long_rows)
        layouts |= {(side, group.order): layout for (side, group), layout in zip(new, found, strict=True)}
        larger = long.union(*(layout.large for layout in found)) if cut_frames else long
        if larger == long:
            break
        long = larger
    divided, to_sort = list[Part](), dict[str, str]()
    for part in ranges:
        parts_of_it, sides = _divided(part, layouts, sources) if part in doubtful else ([part], {})
        divided += parts_of_it
        to_sort |= sides
    return [part._replace(number=number) for number, part in enumerate(divided)], to_sort


def is_moderate(part: Part, sources: Mapping[str, Source]) -> bool:
    """Whether a part can be read within bounded memory, even if the rows in each row group are in no order."""
    for side, chains in part.chains.items():
        most = most_sorted([sources[side].schema])
        if len(chains) > parts.MOST_CHAINS or sum(max(group.n_rows for group in chain) for chain in chains) > most:
            return False
    return True


def _divided(part: Part, layouts: Layouts, sources: Mapping[str, Source]) -> tuple[list[Part], dict[str, str]]:
    """A part as several whose row groups share no sequences; and the sides that have to be sorted, with the reason.

    It stays as it is if row groups that share sequences have too many rows, but are in order.
    """
    groups = sorted(part.groups, key=lambda item: (item[1].begin, item[1].end))
    component = components([layouts[side, group.order].sequences for side, group in groups])
    n_rows = arrays.added_at(component, [group.n_rows for _, group in groups])
    most = most_sorted([source.schema for source in sources.values()])
    if n_rows.max() <= most:
        return _scattered(part, groups, component, n_rows, most), {}
    to_sort = {}
    for side, chains in part.chains.items():
        of_side = [group for name, group in groups if name == side]
        disorder = [group for group in of_side if not _in_order(group, layouts[side, group.order], part)]
        if len(chains) > parts.MOST_CHAINS:
            to_sort[side] = f"more than {parts.MOST_CHAINS} row groups hold the same sequences"
        elif disorder:
            to_sort[side] = f"{sum(group.n_rows for group in disorder):,} of them would have to be sorted at once"
    return [part], to_sort


def _in_order(group: RowGroup, layout: Layout, part: Part) -> bool:
    """Whether the rows of a row group are in order, also by frame if a long sequence may be among them."""
    has_long = any(group.low <= name <= group.high for name in part.long)
    return layout.frames_in_order if has_long else layout.in_order


def _scattered(
    part: Part, groups: Sequence[tuple[str, RowGroup]], component: np.ndarray, n_rows: np.ndarray, most: int
) -> list[Part]:
    """Parts of whole components, neighbours together as long as they have few rows."""
    _, first, of_group = np.unique(component, return_index=True, return_inverse=True)
    order = np.argsort(first)  # components in the order of their first row groups
    sizes = n_rows[order]
    wanted = min(max(parts.LEAST_ROWS, int(sizes.sum()) // parts.PARTS), most)
    number = np.empty(len(order), np.int64)
    number[order] = (np.cumsum(sizes) - sizes) // wanted
    divided: list[dict[str, list[RowGroup]]] = [{side: [] for side in part.chains} for _ in np.unique(number)]
    places = np.unique(number, return_inverse=True)[1][of_group]
    for (side, group), place in zip(groups, places.tolist(), strict=True):
        divided[place][side].append(group)
    in_files = partial(sorted, key=attrgetter("order"))
    return [
        part._replace(
            chains={side: [in_files(chain)] if chain else [] for side, chain in of_sides.items()}, scattered=True
        )
        for of_sides in divided
    ]


def _sorted(dataset: Contents, source: Source, folder: Path) -> Contents:
    """The columns of a dataset that are read, sorted into files in a folder, which messages call by the dataset."""
    folder.mkdir()
    write_sorted(dataset._replace(schema=source.schema), folder.parent, stores.place_of(folder))
    found = contents_of(folder, ["sequence"])
    files = {file.place.path: file._replace(place=file.place._replace(name=dataset.name)) for file in found.files}
    groups = [group._replace(file=files[group.file.place.path]) for group in found.groups]
    return dataset._replace(files=list(files.values()), schema=found.schema, groups=groups)
