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

from .pairs import Pairs, join_pairs


def preferred_order(pairs: Pairs, ignored: np.ndarray, *, first_truth: bool = False) -> np.ndarray:
    """The order that sorts pairs by prediction, and those of a prediction as it prefers them.

    Predictions are numbered from the surest on. `ignored` marks the truths that do not count. Of equally similar
    truths, a prediction prefers the last in file order, or the `first_truth`.
    """
    truth = pairs.truth if first_truth else -pairs.truth
    return np.lexsort((truth, -pairs.measure, ignored[pairs.truth], pairs.prediction))


class Wishes(NamedTuple):
    """What predictions wish for, as pairs in rising order of predictions, at most one each.

    `truths` are pairs with the most similar truth that is no crowd, `crowds` with the crowd in which a prediction lies
    most.
    """

    truths: Pairs
    crowds: Pairs


def wishes_of(pairs: Pairs, is_crowd: np.ndarray, *, first_truth: bool = False) -> Wishes:
    """What predictions wish for: the most similar truth of all, whether or not it counts or is taken.

    Of equally similar ones it is the last in file order, or the `first_truth`.
    """
    pairs = pairs.take(preferred_order(pairs, is_crowd, first_truth=first_truth))
    in_crowd = is_crowd[pairs.truth]
    truths, crowds = (pairs.take(np.flatnonzero(marked)) for marked in (~in_crowd, in_crowd))
    return Wishes(*(of.take(_firsts(of.prediction)) for of in (truths, crowds)))


def held_pairs(wishes: Wishes, ignored: np.ndarray) -> Pairs:
    """The pairs of predictions that get what they wish for, in rising order of predictions.

    A truth that counts goes to the surest prediction that wishes for it. An ignored truth goes to every prediction that
    wishes for it. A prediction that gets no truth gets its crowd, if it has one, as Open Images takes its groups.
    """
    truths = wishes.truths
    surest = np.full(len(ignored), -1)
    surest[truths.truth[::-1]] = truths.prediction[::-1]
    held = truths.take(np.flatnonzero(ignored[truths.truth] | (surest[truths.truth] == truths.prediction)))
    if not len(wishes.crowds.truth):
        return held
    fallen = wishes.crowds.take(np.flatnonzero(~np.isin(wishes.crowds.prediction, held.prediction)))
    joined = join_pairs([held, fallen])
    return joined.take(np.argsort(joined.prediction, kind="stable"))


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
