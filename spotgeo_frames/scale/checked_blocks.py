"""The blocks of a part as checked sides, without the sequences to leave out."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..tables.annotations import SideColumns
from ..tables.arrow import arrow_to_pandas
from ..tables.checks import check_frames, check_objects, plain_objects
from ..tables.columns import Columns, columns_of
from ..tables.inputs import name_source
from .blocks import Block, Source, read_blocks
from .parts import Part
from .rows import kept_rows

# Truth and predictions.
Sides = tuple[SideColumns, SideColumns]


class Checked(NamedTuple):
    """A block whose rows are checked: how many rows each side has, and the excluded sequences among them.

    `sides` are both sides without what is left out, or None if nothing else is there. `cut` is that of the block.
    """

    n_rows: dict[str, int]
    excluded: list[Any]
    sides: Sides | None
    cut: Collection[Any]


def checked_blocks(
    part: Part, sources: Mapping[str, Source], exclude: Sequence[Any], *, in_memory: bool
) -> Iterator[Checked]:
    """The blocks of a part as `read_blocks` yields them, checked, without the sequences to leave out.

    Raises InputError if rows are wrong, and what `read_blocks` raises.
    """
    for blocks, cut in read_blocks(part, sources, in_memory=in_memory):
        n_rows = {side: len(block.rows) for side, block in blocks.items()}
        kept = {side: block._replace(rows=kept_rows(block.rows, exclude, part.gaps)) for side, block in blocks.items()}
        sides = _sides(kept) if any(len(block.rows) for block in kept.values()) else None
        yield Checked(n_rows, _excluded(blocks, exclude), sides, cut)
        del blocks, kept, sides  # before the next ones are read


def empty_sides(sources: Mapping[str, Source]) -> Sides:
    """Both sides without rows, with the types of their columns."""
    return _sides({side: Block(source.schema.empty_table(), source.name) for side, source in sources.items()})


def _sides(blocks: Mapping[str, Block]) -> Sides:
    """Both sides, checked; messages call them by their files."""
    tables = {side: _columns(side, block) for side, block in blocks.items()}
    for side, table in tables.items():
        name_source(table, blocks[side].name)
    return SideColumns(tables["truth"], tables.get("frames")), SideColumns(tables["predictions"])


def _columns(side: str, block: Block) -> Columns:
    """The columns of a block, checked."""
    if side == "frames":
        return columns_of(check_frames(arrow_to_pandas(block.rows, block.name), block.name))
    plain = plain_objects(block.rows)
    return columns_of(check_objects(arrow_to_pandas(block.rows, block.name), block.name)) if plain is None else plain


def _excluded(blocks: Mapping[str, Block], exclude: Sequence[Any]) -> list[Any]:
    """The sequences to exclude that occur in the blocks, sorted."""
    if not exclude:
        return []
    occurring = {name for block in blocks.values() for name in block.rows["sequence"].unique().to_pylist()}
    return sorted(occurring.intersection(exclude))
