"""Ways to swap sequences between two submissions: all that there are, drawn ones, or a group of them.

A way gives each sequence a sign: 1 leaves it as it is, and -1 swaps what both submissions made of it.

Of many sequences the ways are a group: two of them, one after the other, are again one of them. Submissions that can be
exchanged for each other can be so in every way, so a p-value from all ways of a group is as exact as one from all ways
that there are (Koning and Hemerik, 2024, doi:10.1093/biomet/asad050). Ways are numbered from 0, which swaps nothing.
Each sequence has a code, which chance deals out, and a way swaps it if its number and the code have an odd count of
bits in common. That makes each sequence's signs a column of a Hadamard matrix, so that

- of two sequences with different codes, a way swaps one, the other, both or neither, each in a quarter of the ways: the
  mean square of a swapped sum is the sum of the squares, just as over all ways that there are;
- the sums of all ways are one Hadamard transform, whose time hardly depends on how many sequences there are, and which
  is rounded alike on all processors.

Sequences beyond the count of codes share them, and are swapped together.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ...support import arrays

# Up to this many sequences are swapped in all ways.
MOST_EXACT = 12

# Up to this many sequences are swapped in drawn ways; of more, a group of ways is much faster.
MOST_DRAWN = 1000

# A function from a range of ways [first, last) to the sums over sequences, with their signs, of several sets of
# columns, (ways, columns) each.
SumsOfWays = Callable[[int, int], list[np.ndarray]]

# Sets of columns, each of a value for every sequence that differs.
Columns = Sequence[Iterable[np.ndarray]]


class Listed(NamedTuple):
    """Ways with all their signs, int8 (ways, sequences that differ); the first are all 1."""

    of_ways: np.ndarray

    @property
    def n_ways(self) -> int:
        """How many ways there are."""
        return len(self.of_ways)

    @property
    def n_signs(self) -> int:
        """How many signs of a way are in memory where it is summed."""
        return self.of_ways.shape[1]

    def signs(self, first: int, last: int) -> np.ndarray:
        """The signs of ways [first, last), float64 (ways, sequences that differ)."""
        return self.of_ways[first:last].astype(np.float64)

    def adder(self, columns: Columns) -> SumsOfWays:
        """A function from ways to the sums of these columns."""
        matrices = [np.stack([*of], axis=1) for of in columns]

        def added(first: int, last: int) -> list[np.ndarray]:
            signs = self.signs(first, last)
            return [signs @ matrix for matrix in matrices]

        return added


class Group(NamedTuple):
    """A group of `n_ways`, a power of two, by the codes (sequences that differ,) from 1 to n_ways - 1."""

    n_ways: int
    codes: np.ndarray

    @property
    def n_signs(self) -> int:
        """How many signs of a way are in memory where it is summed: none."""
        return 0

    def signs(self, first: int, last: int) -> np.ndarray:
        """The signs of ways [first, last), float64 (ways, sequences that differ)."""
        shared = np.bitwise_count(np.arange(first, last)[:, None] & self.codes)
        return 1.0 - 2.0 * (shared & 1)

    def adder(self, columns: Columns) -> SumsOfWays:
        """A function from ways to the sums of these columns."""
        sums = [self._sums(of) for of in columns]
        return lambda first, last: [np.ascontiguousarray(of[:, first:last].T) for of in sums]

    def _sums(self, columns: Iterable[np.ndarray]) -> np.ndarray:
        """The sums of each column in all ways, (columns, ways)."""
        return np.stack([hadamard_sums(arrays.added_at(self.codes, column, self.n_ways)) for column in columns])


def ways_of(differs: np.ndarray, n_swaps: int, seed: int) -> Listed | Group:
    """The ways to swap the sequences that differ, (sequences,), of which the first swaps nothing.

    All ways of up to MOST_EXACT sequences, otherwise `n_swaps`, rounded up to a power of two for a group. A sequence
    has the same signs whichever others differ: which do depends on the metrics, and what is found for one metric must
    not depend on the others.
    """
    n_sequences, place = len(differs), np.flatnonzero(differs)
    if n_sequences <= MOST_EXACT:
        return Listed(1 - 2 * (np.arange(1 << len(place))[:, None] >> np.arange(len(place)) & 1).astype(np.int8))
    random = np.random.default_rng([seed, 1])
    if n_sequences > MOST_DRAWN:
        n_ways = 1 << max((n_swaps - 1).bit_length(), 1)
        n_rounds = -(-n_sequences // (n_ways - 1))
        codes = np.concatenate([1 + random.permutation(n_ways - 1) for _ in range(n_rounds)])
        return Group(n_ways, codes[place])
    drawn = random.integers(0, 256, (n_swaps, -(-n_sequences // 8)), np.uint8)
    signs = 1 - 2 * (drawn[:, place // 8] >> (7 - place % 8).astype(np.uint8) & 1).astype(np.int8)
    signs[0] = 1
    return Listed(signs)


def hadamard_sums(values: np.ndarray) -> np.ndarray:
    """The sums of values (N,), each with -1 where its position and that of the sum share an odd count of bits, (N,).

    N is a power of two. Each step adds and subtracts neighbours, and so turns the last bit of positions into the first.

    >>> hadamard_sums(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [10.0, -2.0, -4.0, 0.0]
    """
    for _ in range((len(values) - 1).bit_length()):
        even, odd = values[::2], values[1::2]
        values = np.concatenate([even + odd, even - odd])
    return values
