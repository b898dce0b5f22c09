"""Reads a part as blocks of whole frames; memory holds little more than one block, however large the part is.

Each chain of row groups is read batch by batch, in the order of sequences. A block has the rows of all sequences that
are complete: no chain can bring more of their rows. A long sequence is cut between frames: then a block has all frames
of it that are complete. The rows within a row group need not be in order. If some are not, the caller reads the part
again, and each row group is sorted in memory.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, count, zip_longest
from operator import attrgetter
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ..support import InputError, arrays, memory
from ..tables import Columns, SideColumns, arrow, checks, columns_of, plain_objects, provenance
from .files import FIRST, Expected, Key, OpenedFiles, RowGroup
from .parts import Part
from .rows import SHORTER, gathered, in_key_order, kept_rows, row_group_batches, rows_within

# The most rows of a block, both sides together, and their most bytes if there are many columns. Smaller blocks would
# waste time, since each block has a fixed cost.
BLOCK_ROWS, BLOCK_BYTES = 1 << 19, 1 << 26

# The most bytes that the rows of a block turn out to take, where text is longer than estimated.
MEASURED_BYTES = 4 * BLOCK_BYTES

# Batches that make up a block.
BATCHES = 8


class Source(NamedTuple):
    """One side: its name in messages, and the columns to read, with their types."""

    name: str
    schema: pa.Schema


class Block(NamedTuple):
    """Rows of one side, in file order within a frame, and the name of their file, or of the dataset."""

    rows: pa.Table
    name: str


class OutOfOrderError(Exception):
    """The rows of a row group are not in the order of their sequences, or of the frames of a long sequence."""


class _Piece(NamedTuple):
    """Rows of a row group that follow each other there, and whether they have been found in order.

    In pieces sorted by `order`, the rows of a frame are in the files' order. `continues` says that other rows of the
    row group come before. Without a row group, the rows are of several, which have been sorted.
    """

    order: tuple[int, ...]
    names: frozenset[str]
    rows: pa.Table
    group: RowGroup | None
    continues: bool = False
    checked: bool = False


@dataclass(eq=False)
class _Chain:
    """A chain that is being read: its waiting rows, and the least key that may still come (None: it has ended).

    `n_rows` and `n_bytes` say how many rows wait, and how many bytes these take, which is slow to ask again and again.
    `width` is the bytes of a row, None if they differ. `last` is the key of the last row that was found in order.
    """

    pieces: Iterator[tuple[_Piece, Key | None]]
    frontier: Key | None
    long: frozenset[Any]
    width: int | None
    waiting: list[_Piece] = field(default_factory=list)
    n_rows: int = 0
    n_bytes: int = 0
    last: Key | None = None

    def read(self) -> None:
        """Reads one more piece, unless there is none."""
        piece, self.frontier = next(self.pieces, (None, None))
        if piece is not None:
            self._wait(piece)

    def _wait(self, piece: _Piece) -> None:
        self.waiting.append(piece)
        self.n_rows += len(piece.rows)
        self.n_bytes += piece.rows.nbytes if self.width is None else self.width * len(piece.rows)

    def take(self, cut: Key | None) -> list[_Piece]:
        """Takes out the waiting rows before `cut`, all of them if it is None, once all that wait are in order.

        To look at them all together takes little longer than at one small piece.
        """
        self.last = _checked([piece for piece in self.waiting if not piece.checked], self.long, self.last)
        waiting, self.waiting, self.n_rows, self.n_bytes = self.waiting, [], 0, 0
        taken = []
        for piece in waiting:
            n_before = _n_of_piece_before(piece, cut)
            if n_before == len(piece.rows):
                taken.append(piece)
                continue
            if n_before:
                taken.append(piece._replace(rows=piece.rows.slice(0, n_before)))
            self._wait(piece._replace(rows=piece.rows.slice(n_before), checked=True))
        return taken


def _n_of_piece_before(piece: _Piece, cut: Key | None) -> int:
    """How many rows of a checked piece come before `cut` (None: all); of most pieces the statistics tell it."""
    if cut is None or (piece.group is not None and piece.group.end < cut):
        return len(piece.rows)
    return _n_before(piece.rows, cut)


def _width(schema: pa.Schema) -> int | None:
    """About how many bytes a row takes; None if some have text, of which it takes longer to know than to read a few."""
    return 8 * len(schema) if all(map(pa.types.is_primitive, schema.types)) else None


def read_blocks(
    part: Part, sources: Mapping[str, Source], *, in_memory: bool = False
) -> Iterator[tuple[dict[str, Block], frozenset[Any]]]:
    """Yields the rows of each side, in blocks that never split a frame; a side may have no rows in a block.

    With each block of both sides come those of its sequences that have frames in other blocks, too.

    Only long sequences are split. The frontier of a chain is the least sequence, or frame of a long sequence, that it
    may still bring; what comes before all frontiers is complete. A row group is read to its end even if only its
    beginning belongs to the part, to check that it is in order and intact. `in_memory` sorts each row group. Raises
    OutOfOrderError if that is needed, and UnreadableError if a row group cannot be read.
    """
    n_rows = block_rows([source.schema for source in sources.values()])
    chains = _opened(part, sources, in_memory, n_rows)
    every = [chain for of_side in chains.values() for chain in of_side]
    begin = part.low
    while True:
        unfinished = [chain for chain in every if chain.frontier is not None]
        while unfinished and not _are_many(every, n_rows):
            chain = _furthest_back(unfinished)
            chain.read()
            if chain.frontier is None:
                unfinished.remove(chain)
        cut = _furthest_back(unfinished).frontier if unfinished else None
        taken = {side: [piece for chain in of_side for piece in chain.take(cut)] for side, of_side in chains.items()}
        if any(taken.values()):
            blocks = {side: _block(pieces, sources[side]) for side, pieces in taken.items()}
            del taken  # so that the caller can free the blocks
            # The frontier may lie beyond the part, in a row group that has rows of the next part, too.
            end = min((key for key in (cut, part.high) if key is not None), default=None)
            yield blocks, frozenset(key[0] for key in (begin, end) if key is not None and key[1] > FIRST)
            begin = end
            del blocks
        elif unfinished:  # a sequence of more rows than a block
            _furthest_back(unfinished).read()
            work = "the rows of a frame (or of a sequence, if it is not long)"
            memory.check_at_hand(next(iter(sources.values())).name, work, 3 * _waiting_bytes(every), SHORTER)
        else:
            return


def _are_many(chains: Sequence[_Chain], n_rows: int) -> bool:
    """Whether the waiting rows are as many, or take as many bytes, as a block may have."""
    return sum(chain.n_rows for chain in chains) >= n_rows or _waiting_bytes(chains) >= MEASURED_BYTES


def _waiting_bytes(chains: Sequence[_Chain]) -> int:
    """How many bytes the waiting rows take."""
    return sum(chain.n_bytes for chain in chains)


def _opened(part: Part, sources: Mapping[str, Source], in_memory: bool, n_rows: int) -> dict[str, list[_Chain]]:
    """The chains of a part, to be read; all of them together have batches of about a block's rows at a time."""
    n_chains = sum(map(len, part.chains.values()))
    at_once = max(n_rows // max(BATCHES, n_chains), 1)
    opened: dict[str, list[_Chain]] = {}
    for side, source in sources.items():
        chains = part.chains[side]
        if part.scattered and chains:
            [groups] = chains
            files = OpenedFiles(len(sources))
            pieces, begin = _sorted_pieces(files, groups, source, part, at_once), min(g.begin for g in groups)
            opened[side] = [_Chain(pieces, begin, part.long, _width(source.schema))]
            continue
        # A frame may be in several chains, and its rows have to stay in the order of the files.
        in_files = len(chains) > 1
        opened[side] = [
            _Chain(pieces, chain[0].begin, part.long, _width(source.schema))
            for chain in chains
            for pieces in [_pieces(chain, source.schema, part, in_memory, at_once, n_chains, in_files)]
        ]
    return opened


def _furthest_back(chains: Sequence[_Chain]) -> _Chain:
    """The chain with the least frontier, of those that have not ended."""
    return min(chains, key=attrgetter("frontier"))


def _block(pieces: Sequence[_Piece], source: Source) -> Block:
    """The pieces as one table, in the order of the files."""
    if not pieces:
        return Block(source.schema.empty_table(), source.name)
    rows = pa.concat_tables([piece.rows for piece in sorted(pieces, key=lambda piece: piece.order)])
    rows = rows.combine_chunks()  # pandas takes contiguous columns as they are, and is slower to combine others
    names = frozenset[str]().union(*(piece.names for piece in pieces))
    return Block(rows, next(iter(names)) if len(names) == 1 else source.name)


def _pieces(
    chain: Sequence[RowGroup],
    schema: pa.Schema,
    part: Part,
    in_memory: bool,
    at_once: int,
    n_chains: int,
    in_files: bool,
) -> Iterator[tuple[_Piece, Key | None]]:
    """The rows of a chain that belong to the part, piece by piece, and the least key that may come after each.

    Pieces of a row group that lies in the part have yet to be checked. They are ordered as they come, or by their files
    if `in_files`.
    """
    files = OpenedFiles(n_chains)
    small = [group for group in chain if group.n_rows <= at_once]
    files.expect([Expected(group.file, group.order[1], schema.names, at_once) for group in small])
    number, last = count(), None
    for group, following in zip_longest(chain, chain[1:]):
        n_left, names, inside = group.n_rows, frozenset([group.file.place.name]), _is_inside(group, part)
        for position, rows in enumerate(_read(files, group, schema, in_memory, at_once)):
            n_left -= len(rows)
            after = None if following is None else following.begin
            frontier = _keys(rows, [len(rows) - 1], part.long)[0] if n_left else after
            order = (*group.order, position) if in_files else (next(number),)
            piece = _Piece(order, names, rows, group, continues=position > 0)
            if not inside:
                last = _checked([piece], part.long, last)
                begin, end = _bounds(rows, part)
                piece = piece._replace(rows=rows.slice(begin, end - begin), checked=True)
            if len(piece.rows):
                yield piece, frontier


def _is_inside(group: RowGroup, part: Part) -> bool:
    """Whether all rows of a row group belong to a part."""
    return (part.low is None or part.low <= group.begin) and (part.high is None or group.end < part.high)


def _checked(pieces: Sequence[_Piece], long: Collection[Any], last: Key | None) -> Key | None:
    """The key of the last row of pieces of a chain, which follow each other, after `last`; `last` if there is none.

    Raises OutOfOrderError if their rows are not in order, and InputError if they are not what statistics say.
    """
    for run in _runs(pieces, long):
        tables = pa.concat_tables([piece.rows for piece in run])
        names = ["sequence", "frame"] if long else ["sequence"]
        rows = tables.select(names).combine_chunks()
        ends = [*accumulate(len(piece.rows) for piece in run)]
        firsts, lasts = _keys(rows, [0, *ends[:-1]], long), _keys(rows, [end - 1 for end in ends], long)
        for piece, low, high in zip(run, firsts, lasts, strict=True):
            if piece.group is not None and (_is_before(low, piece.group.begin) or high > piece.group.end):
                # Skipping the row group would not help: its rows may belong to other parts, which would lack them.
                raise wrong_statistics(piece.group)
        if not _in_order(rows, long) or (run[0].continues and last is not None and _is_before(firsts[0], last)):
            raise OutOfOrderError
        last = lasts[-1]
    return last


def _is_before(key: Key, other: Key) -> bool:
    """Whether a key comes before another; by its sequence alone where it has no frame, which may be null."""
    return key < other if key[1] > FIRST else bool(key[0] < other[0])


def _runs(pieces: Sequence[_Piece], long: Collection[Any]) -> Iterator[list[_Piece]]:
    """The pieces of a chain, those together that are in order if their rows are what statistics say.

    They are not where a long sequence is in several row groups, and nothing tells its frames.
    """
    run: list[_Piece] = []
    for piece in pieces:
        before, group = run[-1].group if run else None, piece.group
        if before and group and before is not group and before.high in long and before.end > group.begin:
            yield run
            run = []
        run.append(piece)
    if run:
        yield run


def wrong_statistics(group: RowGroup) -> InputError:
    """The error of a row group that has other rows than the footer of its file says."""
    problem = "holds other sequences or frames than its statistics say; write the file anew"
    return InputError(f"{group.file.place.name}: {problem}")


def _sorted_pieces(
    files: OpenedFiles, groups: Sequence[RowGroup], source: Source, part: Part, at_once: int
) -> Iterator[tuple[_Piece, Key | None]]:
    """The rows of row groups in any order, which are sorted in memory, in pieces with the key that comes next."""
    batches = (rows for group in groups for rows in row_group_batches(files, group, source.schema, at_once))
    tables = gathered(batches, source.name)
    rows = in_key_order(pa.concat_tables(tables)) if tables else source.schema.empty_table()
    del tables
    begin, end = _bounds(rows, part)
    names = frozenset(group.file.place.name for group in groups)
    for position, first in enumerate(range(begin, end, at_once)):
        after = min(first + at_once, end)
        frontier = _keys(rows, [after], part.long)[0] if after < end else None
        yield _Piece((position,), names, rows.slice(first, after - first), None, checked=True), frontier


def _read(files: OpenedFiles, group: RowGroup, schema: pa.Schema, in_memory: bool, at_once: int) -> Iterator[pa.Table]:
    """The rows of a row group in batches, sorted by sequence and frame if `in_memory`."""
    batches = row_group_batches(files, group, schema, at_once)
    if not in_memory:
        yield from batches
        return
    whole = in_key_order(pa.concat_tables(gathered(batches, group.file.place.name)))
    for first in range(0, len(whole), at_once):
        yield whole.slice(first, at_once)


def block_rows(schemas: Sequence[pa.Schema]) -> int:
    """How many rows a block has, all sides together, with the columns of these schemas."""
    return rows_within(BLOCK_ROWS, BLOCK_BYTES, schemas)


def _keys(rows: pa.Table, positions: Sequence[int], long: Collection[Any]) -> list[Key]:
    """The sequences and frames of rows; FIRST for the frame unless the sequence is long."""
    places = pa.array(positions, pa.int64())
    sequences = rows["sequence"].take(places).to_pylist()
    frames = rows["frame"].take(places).to_pylist() if long else [None] * len(sequences)
    return [
        # A frame that is null is reported later.
        (sequence, FIRST if frame is None or sequence not in long else frame)
        for sequence, frame in zip(sequences, frames, strict=True)
    ]


def _in_order(rows: pa.Table, long: Collection[Any]) -> bool:
    """Whether no sequence is less than the one before, and no frame of a long sequence."""
    sequence = rows["sequence"]
    if not _ascend(sequence):
        return False
    low, high = sequence[0].as_py(), sequence[-1].as_py()
    there = [name for name in long if low <= name <= high]
    return all(_ascend(rows["frame"].filter(pc.equal(sequence, pa.scalar(name, sequence.type)))) for name in there)


def _ascend(values: pa.ChunkedArray) -> bool:
    """Whether no value is less than the one before."""
    if pa.types.is_integer(values.type) and not values.null_count:  # NumPy takes half the time
        return arrays.in_order(values.to_numpy())
    return pc.all(pc.less_equal(values[:-1], values[1:])).as_py() is not False


def _bounds(rows: pa.Table, part: Part) -> tuple[int, int]:
    """Where those of the rows begin and end that belong to a part; the rows are in order."""
    begin = 0 if part.low is None else _n_before(rows, part.low)
    return begin, len(rows) if part.high is None else _n_before(rows, part.high)


def _n_before(rows: pa.Table, key: Key) -> int:
    """How many of the rows, which are in order, come before a sequence and frame."""
    sequence = rows["sequence"]
    name, frame = key
    if not len(sequence) or (sequence[0].as_py(), FIRST) >= key:
        return 0
    if sequence[-1].as_py() < name:  # the usual case
        return len(sequence)
    before = pc.less(sequence, name)
    if frame > FIRST:
        before = pc.or_(before, pc.and_(pc.equal(sequence, name), pc.less(rows["frame"], frame)))
    return pc.sum(before).as_py() or 0


# Truth and predictions.
Sides = tuple[SideColumns, SideColumns]


def checked_blocks(
    part: Part, sources: Mapping[str, Source], exclude: Sequence[Any], *, in_memory: bool
) -> Iterator[tuple[dict[str, int], list[Any], Sides | None, Collection[Any]]]:
    """The blocks of a part as `read_blocks` yields them, checked, without the sequences to leave out.

    Each comes as how many rows each side has, the excluded sequences among them, both sides without what is left out,
    or None if nothing else is there, and those of its sequences that have frames in other blocks.

    Raises InputError if rows are wrong, and what `read_blocks` raises.
    """
    for blocks, cut in read_blocks(part, sources, in_memory=in_memory):
        n_rows = {side: len(block.rows) for side, block in blocks.items()}
        kept = {side: block._replace(rows=kept_rows(block.rows, exclude, part.gaps)) for side, block in blocks.items()}
        sides = _sides(kept) if any(len(block.rows) for block in kept.values()) else None
        yield n_rows, _excluded(blocks, exclude), sides, cut
        del blocks, kept, sides  # before the next ones are read


def empty_sides(sources: Mapping[str, Source]) -> Sides:
    """Both sides without rows, with the types of their columns."""
    return _sides({side: Block(source.schema.empty_table(), source.name) for side, source in sources.items()})


def _sides(blocks: Mapping[str, Block]) -> Sides:
    """Both sides, checked; messages call them by their files."""
    tables = {side: _columns(side, block) for side, block in blocks.items()}
    for side, table in tables.items():
        provenance.name_source(table, blocks[side].name)
    return SideColumns(tables["truth"], tables.get("frames")), SideColumns(tables["predictions"])


def _columns(side: str, block: Block) -> Columns:
    """The columns of a block, checked."""
    if side == "frames":
        return columns_of(checks.check_frames(arrow.arrow_to_pandas(block.rows, block.name), block.name))
    plain = plain_objects(block.rows)
    return (
        columns_of(checks.check_objects(arrow.arrow_to_pandas(block.rows, block.name), block.name))
        if plain is None
        else plain
    )


def _excluded(blocks: Mapping[str, Block], exclude: Sequence[Any]) -> list[Any]:
    """The sequences to exclude that occur in the blocks, sorted."""
    if not exclude:
        return []
    occurring = {name for block in blocks.values() for name in block.rows["sequence"].unique().to_pylist()}
    return sorted(occurring.intersection(exclude))
