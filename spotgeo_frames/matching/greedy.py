"""Greedy matching: predictions choose one after another, the surest first, and never give back what they have.

This is how pycocotools 2.0.11 matches (cocoeval.py, evaluateImg). A prediction takes the most similar truth that is
free and counts; of equal ones, the last in file order. Only if there is none, it takes an ignored truth in the same
way. A crowd is ignored, and free however often it was taken.

All frames and categories are matched at once: each prediction asks for its best truth, each truth keeps the surest
that has asked, and those that are turned away ask for their next best. Since all truths prefer the surer prediction,
the outcome is that of choosing one after another, in any order of asking.
"""

import numpy as np

from .pairs import Pairs


def preferred_order(pairs: Pairs, ignored: np.ndarray) -> np.ndarray:
    """The order that sorts pairs by prediction, and those of a prediction as it prefers them.

    Predictions are numbered from the surest on. `ignored` marks the truths that do not count.
    """
    return np.lexsort((-pairs.truth, -pairs.measure, ignored[pairs.truth], pairs.prediction))


def greedy_pairs(pairs: Pairs, is_crowd: np.ndarray) -> np.ndarray:
    """The positions of the matched pairs, in rising order of predictions; `pairs` are in the preferred order.

    `is_crowd` marks the truths that may be taken several times.
    """
    prediction, truth = pairs.prediction, pairs.truth
    starts = np.flatnonzero(np.diff(prediction, prepend=-1))
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
        turned_away = np.unique(np.concatenate([refused, displaced]))
        asked[turned_away] += 1
        asking = turned_away[asked[turned_away] < ends[turned_away]]
    return asked[asked < ends]
