"""The similar pairs of tracks, chunk by chunk, which metrics iterate over several times."""

from collections.abc import Callable, Iterable, Iterator

from ..matching.alignment import Aligned
from ..matching.pairs import SIMILAR_AT_ONCE, Pairs, frame_chunks
from ..matching.rule import Rule
from ..support.memory import check_at_hand
from ..support.work import progress

# Similar pairs that are kept, 24 bytes each.
MOST_KEPT = 1 << 25

# The memory that a similar pair takes in addition while its tracks are evaluated, measured where all pairs of a frame
# are similar (bytes).
PAIR_BYTES = 220


def similar_chunks(aligned: Aligned, rule: Rule) -> Iterable[Pairs]:
    """All pairs with a similarity above 0, chunk by chunk in the order of frames, to be iterated over several times."""
    return _Chunks(aligned, rule.near(aligned, 0.0))


class _Chunks:
    """The similar pairs of all frames, chunk by chunk, for iterating over them several times; each chunk is a Pairs.

    Chunks are kept in memory up to MOST_KEPT pairs. The other chunks are computed again in each iteration.
    """

    def __init__(self, aligned: Aligned, similar: Callable[[int, int], Pairs]):
        self.ranges = list(frame_chunks(aligned.truth, aligned.predictions, SIMILAR_AT_ONCE))
        self.similar, self.kept, self.n_kept = similar, dict[tuple[int, int], Pairs](), 0
        self.name = aligned.names_from(0)

    def __iter__(self) -> Iterator[Pairs]:
        for frames in progress(self.ranges, "comparing", "part"):
            chunk = self.kept.get(frames)
            if chunk is None:
                chunk = self.similar(*frames)
                if frames[1] - frames[0] == 1:
                    work = f"evaluating the tracks of {len(chunk.truth):,} similar pairs"
                    check_at_hand(self.name(frames[0]), work, len(chunk.truth) * PAIR_BYTES)
                if self.n_kept + len(chunk.truth) <= MOST_KEPT:
                    self.kept[frames] = chunk
                    self.n_kept += len(chunk.truth)
            yield chunk
