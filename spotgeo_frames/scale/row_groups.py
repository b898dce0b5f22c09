"""What is known of a row group before it is read, and of sequences that are left out."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from .files import File

# The frames of a row group whose frames are not known: all 64-bit integers.
FIRST, LAST = -(1 << 63), (1 << 63) - 1

# A sequence and a frame, by which rows are in order.
Key = tuple[Any, int]


class RowGroup(NamedTuple):
    """A row group of a dataset.

    `order` is the position of its file and its own position in the file. It has `n_rows` rows, whose sequences lie
    between `low` and `high`, both included. Its rows of sequence `low` are of `first_frame` or later, and those of
    `high` of `last_frame` or earlier.
    """

    order: tuple[int, int]
    file: File
    n_rows: int
    low: Any
    high: Any
    first_frame: int = FIRST
    last_frame: int = LAST

    @property
    def begin(self) -> Key:
        """No row of the group comes before this sequence and frame."""
        return self.low, self.first_frame

    @property
    def end(self) -> Key:
        """No row of the group comes after this sequence and frame."""
        return self.high, self.last_frame


class Gap(NamedTuple):
    """Sequences that are left out, from `low` to `high` (None: no end), and why.

    `listed` are the sequences if not all between the two are left out.
    """

    low: Any
    high: Any
    problem: str
    listed: Sequence[Any] | None = None


def gap_text(gap: Gap) -> str:
    """A gap as text: the problem, and the sequences that are left out because of it."""
    if gap.listed is not None and gap.low != gap.high:
        return f"{gap.problem}; {len(gap.listed):,} sequences from {gap.low} to {gap.high} are left out"
    if gap.low == gap.high and gap.low is not None:
        return f"{gap.problem}; sequence {gap.low} is left out"
    low, high = ("the first" if gap.low is None else gap.low), ("the last" if gap.high is None else gap.high)
    return f"{gap.problem}; sequences {low} to {high} are left out"
