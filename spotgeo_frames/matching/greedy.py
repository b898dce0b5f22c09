"""Greedy matching, in two ways: predictions choose one after another, the surest first, and keep what they have.

`greedy_pairs` matches as pycocotools 2.0.11 does (cocoeval.py, evaluateImg). A prediction takes the most similar truth
that is free and counts; of equal ones, the last in file order. Only if there is none, it takes an ignored truth in the
same way. A crowd is ignored, and free however often it was taken.

`held_pairs` matches as Pascal VOC's kit does (VOCevaldet.m). A prediction wishes for the most similar truth of all.
If a surer prediction has that, it gets none.

All frames and categories are matched at once. In the first way, each prediction asks for its best truth, each truth
keeps the surest that has asked, and those that are turned away ask for their next best. Since all truths prefer the
surer prediction, the outcome is that of choosing one after another, in any order of asking.
"""

from typing import NamedTuple

import numpy as np

from ..support import arrays
from .pairs import Pairs

# Contested pairs that are matched at several thresholds at once.
MATCHED_AT_ONCE = 1 << 20


def preferred_order(pairs: Pairs, ignored: np.ndarray, *, first_truth: bool = False) -> np.ndarray:
    """The order that sorts pairs by prediction, and those of a prediction as it prefers them.

    Predictions are numbered from the surest on. `ignored` marks the truths that do not count. Of equally similar
    truths, a prediction prefers the last in file order, or the `first_truth`.
    """
    order = arrays.stable_order(pairs.prediction, int(pairs.prediction.max(initial=-1)) + 1)
    prediction = pairs.prediction.take(order)
    # Most predictions are near one truth only, and have nothing to prefer.
    again = prediction[1:] == prediction[:-1]
    places = np.flatnonzero(np.append(again, False) | np.append(False, again))
    rows = order.take(places)
    truth = pairs.truth.take(rows)
    keys = (truth if first_truth else -truth, -pairs.measure.take(rows), ignored.take(truth), prediction.take(places))
    order[places] = rows.take(np.lexsort(keys))
    return order


class Candidates(NamedTuple):
    """Pairs that may match at T thresholds, each stricter than the one before: sorted once, whatever counts.

    Attributes
    ----------
    order
        The positions of the N pairs that are near at any threshold, in their preferred order if all truths count, (N,).
    settled
        Marks the pairs whose match at each threshold does not depend on which truths are ignored, (T, N), because every
        prediction near their truth is near that truth only. Crowds can be matched any number of times.
    contested
        The positions in `order` of all other pairs, (C,).
    near
        The contested pairs: their predictions, their truths, numbered without gaps, and at how many thresholds they are
        near.
    truths
        The truths of the contested pairs, as these number them.
    """

    order: np.ndarray
    settled: np.ndarray
    contested: np.ndarray
    near: Pairs
    truths: np.ndarray


def candidates_of(
    pairs: Pairs, n_near: np.ndarray, n_thresholds: int, is_crowd: np.ndarray, *, first_truth: bool = False
) -> Candidates:
    """Sorts pairs for `greedy_matches`; each is near at the first `n_near` thresholds."""
    order = preferred_order(pairs, np.zeros(len(is_crowd), bool), first_truth=first_truth)
    order = order.take(np.flatnonzero(n_near.take(order)))
    prediction, truth, n_near = (values.take(order) for values in (pairs.prediction, pairs.truth, n_near))
    has_choice = np.bincount(prediction).take(prediction) > 1
    wanted_by_choosers = np.zeros(len(is_crowd), bool)
    wanted_by_choosers[truth[has_choice]] = True
    is_contested = has_choice | (wanted_by_choosers & ~is_crowd).take(truth)
    from_threshold = np.where(is_crowd.take(truth), 0, _taken_before(truth, n_near, n_thresholds))
    at = np.arange(n_thresholds)[:, None]
    settled = (at >= np.where(is_contested, n_thresholds, from_threshold)) & (at < n_near)
    contested = np.flatnonzero(is_contested)
    truths, numbered = np.unique(truth.take(contested), return_inverse=True)
    near = Pairs(prediction.take(contested), numbered, n_near.take(contested))
    return Candidates(order, settled, contested, near, truths)


def _taken_before(truth: np.ndarray, n_near: np.ndarray, n_thresholds: int) -> np.ndarray:
    """At how many thresholds a surer prediction is near the truth of each pair; pairs are in the order of predictions.

    As thresholds become stricter, the surest prediction that is still near takes the truth.
    """
    order = arrays.stable_order(truth, int(truth.max(initial=-1)) + 1)
    begins = truth.take(order) * (n_thresholds + 1)
    # The numbers of a truth are greater than all of the truths before it, so the maximum begins anew at each.
    reached = np.maximum.accumulate(begins + n_near.take(order))
    taken = np.zeros(len(truth), np.int64)
    taken[order[1:]] = np.maximum(reached[:-1] - begins[1:], 0)
    return taken


def greedy_matches(candidates: Candidates, ignored: np.ndarray, is_crowd: np.ndarray) -> list[np.ndarray]:
    """The positions of the pairs that match at each threshold, in rising order of predictions.

    `ignored` marks the truths that do not count, `is_crowd` those that may be taken several times.
    """
    matched, (truths, near) = candidates.settled, (candidates.truths, candidates.near)
    if len(candidates.contested):
        matched = matched.copy()
        key = near.prediction * 2 + ignored.take(truths).take(near.truth)
        preferred = arrays.stable_order(key, int(key.max()) + 1)
        contested, near = candidates.contested.take(preferred), near.take(preferred)
        n_near_at = np.bincount(near.measure, minlength=len(matched) + 1)[::-1].cumsum()[-2::-1]
        for first, last in arrays.chunks(n_near_at, MATCHED_AT_ONCE):
            threshold, pair = np.nonzero(near.measure > np.arange(first, last)[:, None])
            chosen = _chosen_at(near.take(pair), threshold, is_crowd.take(truths), last - first)
            matched[first + threshold.take(chosen), contested.take(pair.take(chosen))] = True
    return [candidates.order.take(np.flatnonzero(of_threshold)) for of_threshold in matched]


def _chosen_at(near: Pairs, threshold: np.ndarray, is_crowd: np.ndarray, n_thresholds: int) -> np.ndarray:
    """The positions of the matched pairs of several thresholds, at each of which everyone begins anew."""
    n_predictions = int(near.prediction.max()) + 1
    prediction, truth = near.prediction + threshold * n_predictions, near.truth + threshold * len(is_crowd)
    return greedy_pairs(near._replace(prediction=prediction, truth=truth), np.tile(is_crowd, n_thresholds))


class Wishes(NamedTuple):
    """What predictions wish for, as positions of pairs in rising order of predictions, at most one each.

    `truths` are pairs with the most similar truth that is no crowd, `crowds` with the crowd in which a prediction lies
    most.
    """

    truths: np.ndarray
    crowds: np.ndarray


def wishes_of(pairs: Pairs, is_crowd: np.ndarray, *, first_truth: bool = False) -> Wishes:
    """What predictions wish for: the most similar truth of all, whether or not it counts or is taken.

    Of equally similar ones it is the last in file order, or the `first_truth`.
    """
    order = preferred_order(pairs, is_crowd, first_truth=first_truth)
    in_crowd = is_crowd.take(pairs.truth.take(order))
    truths, crowds = (order.take(np.flatnonzero(marked)) for marked in (~in_crowd, in_crowd))
    return Wishes(*(of.take(_firsts(pairs.prediction.take(of))) for of in (truths, crowds)))


def held_pairs(pairs: Pairs, wishes: Wishes, ignored: np.ndarray) -> np.ndarray:
    """The positions of the pairs of predictions that get what they wish for, in rising order of predictions.

    A truth that counts goes to the surest prediction that wishes for it. An ignored truth goes to every prediction that
    wishes for it. A prediction that gets no truth gets its crowd, if it has one, as Open Images takes its groups.
    """
    prediction, truth = pairs.prediction.take(wishes.truths), pairs.truth.take(wishes.truths)
    surest = np.full(len(ignored), -1)
    surest[truth[::-1]] = prediction[::-1]
    is_held = ignored.take(truth) | (surest.take(truth) == prediction)
    held = wishes.truths.take(np.flatnonzero(is_held))
    if not len(wishes.crowds):
        return held
    has_fallen = ~np.isin(pairs.prediction.take(wishes.crowds), prediction[is_held])
    joined = np.concatenate([held, wishes.crowds[has_fallen]])
    return joined.take(np.argsort(pairs.prediction.take(joined), kind="stable"))


def surest_first(pairs: Pairs, cost: np.ndarray, score: np.ndarray, ignored: np.ndarray) -> np.ndarray:
    """Marks the near pairs of predictions that choose in the order of their scores, each the nearest truth left.

    `cost` is that of each pair, `score` that of each prediction, and `ignored` marks the truths that do not count.
    Equal scores choose in file order.
    """
    rank = np.empty(len(score), np.int64)
    rank[np.argsort(-score, kind="stable")] = np.arange(len(score))
    ranked = Pairs(rank[pairs.prediction], pairs.truth, -cost)
    order = preferred_order(ranked, ignored)
    chosen = np.zeros(len(cost), bool)
    chosen[order[greedy_pairs(ranked.take(order), np.zeros(len(ignored), bool))]] = True
    return chosen


def _firsts(prediction: np.ndarray) -> np.ndarray:
    """The position of the first pair of each prediction; those of one stand together."""
    return np.flatnonzero(np.diff(prediction, prepend=-1))


def greedy_pairs(pairs: Pairs, is_crowd: np.ndarray) -> np.ndarray:
    """The positions of the matched pairs, in rising order of predictions; `pairs` are in the preferred order.

    `is_crowd` marks the truths that may be taken several times.
    """
    prediction, truth = pairs.prediction, pairs.truth
    starts = _firsts(prediction)
    ends = np.append(starts[1:], len(prediction))
    asked = starts.copy()  # each prediction's pair that it asks for
    holder = np.full(len(is_crowd), -1, np.int64)  # the prediction, as a position in starts, that has each truth
    asking = np.arange(len(starts))
    while len(asking):
        wanted = truth[asked[asking]]
        before = holder[wanted]
        # The surest comes first, and what is assigned last stays.
        holder[wanted[::-1]] = asking[::-1]
        kept = before >= 0
        holder[wanted[kept]] = np.minimum(holder[wanted[kept]], before[kept])
        refused = asking[(holder[wanted] != asking) & ~is_crowd[wanted]]
        displaced = before[kept & (holder[wanted] != before) & ~is_crowd[wanted]]
        turned_away = np.sort(np.concatenate([refused, displaced]))
        turned_away = turned_away[_firsts(turned_away)]  # np.unique hashes, which takes longer
        asked[turned_away] += 1
        asking = turned_away[asked[turned_away] < ends[turned_away]]
    return asked[asked < ends]
