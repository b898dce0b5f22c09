"""IDEucl: how much of the way of the true objects one predicted track each follows.

The length of a way is the sum of the distances from each row of a track to its next one. Each true track is paired with
at most one predicted track for the whole sequence. The way that such a pair goes together leads through the rows of the
true track in which both are similar, by a similarity of 0.4 or more, straight over those in between.

    IDEucl of a sequence = greatest sum over the pairs of the way together / way of all true tracks
    IDEucl of several = mean of that of each

The metric is that of trackeval 1.3.0 (metrics/ideucl.py), fill values included: a sequence in which nothing moves, or
without truths or predictions, has 0. Known differences

    - trackeval fails for a sequence with objects on both sides of which no two are similar. Here it has 0.
    - trackeval knows boxes only. Whatever is measured by a distance goes that distance from row to row; masks, oriented
      boxes and the like go from middle to middle.
"""

from collections.abc import Iterable

import numpy as np

from ...geometries import Rows
from ...matching import Aligned, Pairs, Rule, join_pairs
from ...support import InputError, arrays
from ..identities import Tracks
from .identity import greatest_sums

# IDEucl tolerates no rounding at its threshold.
THRESHOLD = 0.4

IDEUCL_SUMS = ("ideucl", "ideucl_sequences")


def ideucl_parts(tracks: Tracks, chunks: Iterable[Pairs], rule: Rule) -> dict[str, np.ndarray]:
    """The sums IDEUCL_SUMS of each sequence: its IDEucl, and 1.

    `chunks` have all pairs with a similarity above 0, chunk by chunk. Raises InputError if nothing tells where objects
    are.
    """
    similar = join_pairs([chunk.take(chunk.measure >= THRESHOLD) for chunk in chunks])
    identities, n_sequences = tracks.truth, tracks.n_sequences
    order = arrays.stable_order(identities.of_row, identities.n_identities)
    whole = _way(tracks.aligned, rule, order, identities.of_row[order])
    of_all = arrays.added_at(identities.sequence[identities.of_row[order[1:]]], whole, n_sequences)
    keys = tracks.joint_keys(similar.truth, similar.prediction)
    order = np.lexsort((similar.truth, keys))
    keys, rows = keys[order], similar.truth[order]
    pair, first = arrays.distinct(keys)
    of_pair = arrays.positions(keys, pair, first)
    together = arrays.added_at(of_pair[1:], _way(tracks.aligned, rule, rows, of_pair), len(pair))
    moving = np.flatnonzero(together > 0)
    truth, prediction = tracks.split_keys(pair[moving])
    found = greatest_sums(truth, prediction, together[moving], identities.sequence[truth], n_sequences)
    share = np.divide(found, of_all, out=np.zeros(n_sequences), where=of_all > 0)
    return {"ideucl": share, "ideucl_sequences": np.ones(n_sequences)}


def _way(aligned: Aligned, rule: Rule, rows: np.ndarray, group: np.ndarray) -> np.ndarray:
    """How far each of N rows of the truth is from the row before it, (N - 1,); 0 where a group begins."""
    before, after = rows[:-1], rows[1:]
    within = np.flatnonzero(group[1:] == group[:-1])
    way = np.zeros(len(after))
    way[within] = _distances(aligned, rule, before[within], after[within])
    return way


def _distances(aligned: Aligned, rule: Rule, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """How far P pairs of rows of the truth are apart."""
    table, geometry = aligned.truth.table, rule.geometry
    if geometry.is_distance and geometry.measure is not None:
        side = geometry.prepare(table)
        return np.asarray(geometry.measure(side, side, before, after), np.float64)
    place = geometry.kit_place or geometry.place
    if place is None:
        raise InputError(f"metrics: ideucl needs to know where objects are, and {geometry.name} have no middles")
    x, y = place(Rows(table))
    return np.sqrt((x[after] - x[before]) ** 2 + (y[after] - y[before]) ** 2)
