"""Decides how the rows of datasets are read, however they lie.

Row groups in the order of their sequences, or several chains of such, are read as they are. Where the ranges of their
sequences overlap so much that this would take too much memory, their columns `sequence` and `frame` are read once. They
show which row groups share sequences: those that do, with few rows, are read and sorted in memory together, as
partitions of an engine by hash or by day are. What is left, such as shuffled rows, is sorted into a temporary folder
first.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..support.errors import InputError
from ..support.keys import added_at
from ..support.memory import check_at_hand
from ..support.storage import place_of
from . import parts
from .blocks import Source, block_rows
from .contents import CANNOT_SKIP, Contents, contents_of
from .layout import Layout, components, known_rows, layouts_of, with_frames
from .parts import Part, out_of_order, parts_of
from .row_groups import RowGroup
from .rows import UnreadableError, most_sorted
from .sorting import write_sorted

# About how many bytes of memory the tracks of a sequence need for each of its rows, of both sides together.
TRACKED_BYTES = 250

# What is said of a row group that was to be skipped, although it is needed to put the rows in order.
CANNOT_SKIP_IN_DISORDER = "it cannot be skipped, since the rows of the dataset are in no order; take it out, or mend it"

# The layouts of row groups, by their side and order.
Layouts = dict[tuple[str, tuple[int, int]], Layout]


@contextmanager
def planned(
    contents: Mapping[str, Contents],
    sources: Mapping[str, Source],
    exclude: Sequence[Any],
    *,
    cut_frames: bool,
    skip: bool,
    on_cluster: bool,
) -> Iterator[list[Part]]:
    """A context that gives the parts of the datasets, and holds the temporary folder of those that had to be sorted.

    The parts depend only on the datasets and on the columns to read. `cut_frames` allows to cut long sequences between
    their frames; without it, each sequence, but for those in `exclude`, has to fit in memory. Raises InputError if one
    does not; if a row group cannot be read, or has other rows than its footer says; if a file of unknown sequences is
    to be left out, as `skip` asks; or if rows have to be sorted first `on_cluster`, whose workers would not see the
    temporary folder.
    """
    if not cut_frames and not on_cluster:
        _check_memory(contents, exclude)
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
        check_at_hand(f"{contents['truth'].name}: sequence {name}", work, counts[name] * TRACKED_BYTES, advice)


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
    n_rows = added_at(component, [group.n_rows for _, group in groups])
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
    write_sorted(dataset._replace(schema=source.schema), folder.parent, place_of(folder))
    found = contents_of(folder, ["sequence"])
    files = {file.place.path: file._replace(place=file.place._replace(name=dataset.name)) for file in found.files}
    groups = [group._replace(file=files[group.file.place.path]) for group in found.groups]
    return dataset._replace(files=list(files.values()), schema=found.schema, groups=groups)
