"""The sentence with which the page begins: who is better, at what, by how much and how sure.

It is made of the comparison's own numbers. What it says is shown: each difference that it calls one has an adjusted
p-value of at most 0.05. What is not shown, it says so; what has no number, why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ....tables import messages
from ...drawing import wording
from ..evaluation import COMBINED, CONFIDENCE, Evaluation, rows_of

# Up to this adjusted p-value a difference is called one, as in the leaderboard.
LEVEL = 1 - CONFIDENCE

# What recall and precision are of where average precision ranks.
OF_ALL_SCORES = "Recall and precision are of all detections, whatever their scores."

# Up to so many submissions are named where there is nothing to find.
FEW_NAMES = 3

# Parts of a sentence: texts, each with the position of the submission that it names, or None.
Sentence = list[tuple[str, int | None]]


class Evidence(NamedTuple):
    """What the first screen knows.

    Attributes
    ----------
    ranks
        The metric that ranks the submissions.
    sides
        Its two sides, with what it means to have more of each.
    intervals
        The headline metrics and both sides of each submission, with intervals, as `intervals` returns them.
    pairs
        Their differences between submissions, as `compare` returns them; None with one submission.
    """

    ranks: str
    sides: Mapping[str, str]
    intervals: pd.DataFrame
    pairs: pd.DataFrame | None


def evidence_of(evaluation: Evaluation) -> Evidence:
    """What the comparison says of the metric that ranks, and of its two sides."""
    sides = wording.SIDES_OF_TRACKS if evaluation.tracks else wording.SIDES_OF_MATCHES
    pairs = None if evaluation.compared is None else rows_of(evaluation.compared.pairs, COMBINED)
    return Evidence(evaluation.headline[0], sides, rows_of(evaluation.intervals, COMBINED), pairs)


class Difference(NamedTuple):
    """The difference between the first submission and another in a metric, in shares of 1; null is NaN."""

    estimate: float
    low: float
    high: float
    p_adjusted: float
    reason: str

    @property
    def is_sure(self) -> bool:
        """Whether it is called a difference."""
        return self.p_adjusted <= LEVEL

    @property
    def is_none(self) -> bool:
        """Whether the rows of both are the same: chance does nothing to it."""
        return self.estimate == self.low == self.high == 0

    @property
    def turned(self) -> Difference:
        """The same, of the other submission minus the first."""
        return self._replace(estimate=-self.estimate, low=-self.high, high=-self.low)

    @property
    def points(self) -> str:
        """How large it is, such as "4.3 points"; whole points from ten on."""
        size = 100 * abs(self.estimate)
        shown = f"{size:.0f}" if size >= 9.95 else f"{size:.1f}"
        return f"{shown} point{'' if shown == '1.0' else 's'}"

    @property
    def range(self) -> str:
        """The difference with its interval, such as "+0.7 points, −4.6 to +7.1", or with the reason why it has none."""
        if np.isnan(self.estimate):
            return f"unknown: {self.reason}"
        if np.isnan(self.low) or np.isnan(self.high):
            return f"{_signed(self.estimate)} points, no interval: {self.reason}"
        shown = f"{_signed(self.estimate)} points, {_signed(self.low)} to {_signed(self.high)}"
        alone = self.low > 0 or self.high < 0  # what one comparison shows, several by chance
        return f"{shown}; adjusted p-value {self.p_adjusted:.2g}" if alone and not self.is_sure else shown


def _signed(share: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    return f"{100 * share:+.1f}".replace("-", "−")


def difference(evidence: Evidence, metric: str, first: str, second: str) -> Difference:
    """What is known of the difference of two submissions in a metric, whichever comes first in the pair."""
    assert evidence.pairs is not None
    pairs = evidence.pairs[evidence.pairs["metric"] == metric]
    rows = pairs[pairs["a"].isin([first, second]) & pairs["b"].isin([first, second])]
    if not len(rows):
        return Difference(np.nan, np.nan, np.nan, np.nan, "it is not known for both")
    row = rows.iloc[0]
    reason = "" if pd.isna(row["reason"]) else str(row["reason"])
    found = Difference(row["estimate"], row["low"], row["high"], row["p_adjusted"], reason)
    return found if row["a"] == first else found.turned


def sentence(evaluation: Evaluation, evidence: Evidence) -> Sentence:
    """What a person would say of the submissions, in one sentence."""
    if not evaluation.summary["n_truth"].any():
        return _of_nothing(evaluation)
    if not evaluation.summary["n_predicted"].any():
        return _of_no_predictions(evaluation)
    if len(evaluation.names) == 1:
        return _of_one(evaluation, evidence)
    if len(evaluation.names) == 2:
        return _of_two(evaluation, evidence)
    return _of_several(evaluation, evidence)


def _of_one(evaluation: Evaluation, evidence: Evidence) -> Sentence:
    """How good the only submission is."""
    name = evaluation.names[0]
    texts = shares(evidence, name)
    ranks = wording.first_title(evidence.ranks, evaluation.rule)
    first, second = (texts.get(side) for side in evidence.sides)
    if evidence.ranks in ("f1", "AP") and first and second:
        ap = f" reaches an {ranks} of {texts[evidence.ranks]}:" if evidence.ranks == "AP" and "AP" in texts else ""
        it = " it" if ap else ""
        return [
            (name, 0),
            (f"{ap}{it} finds {first} of the {noun_of(evaluation)}s and is right {second} of the time.", None),
        ]
    if evidence.ranks in texts:
        parts = ", ".join(f"{side} {texts[side]}" for side in evidence.sides if side in texts)
        return [(name, 0), (f" reaches {ranks} {texts[evidence.ranks]}{f': {parts}' if parts else ''}.", None)]
    return [(name, 0), (f": {ranks} is not defined here.", None)]


def _of_nothing(evaluation: Evaluation) -> Sentence:
    """How many false alarms there are where there is nothing to find."""
    counts = evaluation.summary["fp"].astype("int64").tolist()
    order = sorted(range(len(counts)), key=counts.__getitem__)
    shown = order if len(order) <= FEW_NAMES else [order[0], order[-1]]
    answer: Sentence = [("There is nothing to find: ", None)]
    for place, position in enumerate(shown):
        alarms = f" has {messages.several(counts[position], 'false alarm')}"
        answer += [(", " if place else "", None), (evaluation.names[position], position), (alarms, None)]
    return [*answer, ("." if len(shown) == len(order) else f", the other {len(order) - 2} lie between.", None)]


def _of_no_predictions(evaluation: Evaluation) -> Sentence:
    """That nothing is found, since nothing was predicted, or nothing that counts."""
    found = f"none of {messages.several(int(evaluation.summary['n_truth'].iloc[0]), noun_of(evaluation))}"
    if len(evaluation.names) == 1:
        return [(evaluation.names[0], 0), (f" finds {found}: it has no prediction that counts.", None)]
    return [(f"All {len(evaluation.names)} find {found}: they have no prediction that counts.", None)]


def noun_of(evaluation: Evaluation) -> str:
    """What one truth is called."""
    return "joint" if evaluation.rule.geometry.name == "joints" else "object"


def shares(evidence: Evidence, name: str) -> dict[str, str]:
    """The metrics of a submission that are known shares, in percent."""
    rows = evidence.intervals[evidence.intervals["submission"] == name]
    known = zip(rows["metric"], rows["estimate"], strict=True)
    return {metric: percent(value) for metric, value in known if wording.is_share(metric) and not np.isnan(value)}


def percent(share: float) -> str:
    """A share in percent; 0% and 100% are exact."""
    if 0.9995 <= share < 1:
        return "over 99.9%"
    if 0 < share < 0.0005:
        return "under 0.1%"
    return f"{share:.1%}"


def _of_two(evaluation: Evaluation, evidence: Evidence) -> Sentence:
    """Which of two submissions is better, and at what."""
    first, second = evaluation.names
    ranks = difference(evidence, evidence.ranks, first, second)
    of_sides = {side: difference(evidence, side, first, second) for side in evidence.sides}
    noun = f"{noun_of(evaluation)}s"
    gains = [
        (int(of.estimate < 0), evidence.sides[side].format(of.points, noun=noun))
        for side, of in of_sides.items()
        if of.is_sure
    ]
    title = wording.first_title(evidence.ranks, evaluation.rule)
    better = int(ranks.estimate < 0)
    if len(gains) == 2 and gains[0][0] != gains[1][0]:
        (one, what), (other, too) = gains
        return [
            (evaluation.names[one], one),
            (f" {what}, ", None),
            (evaluation.names[other], other),
            (f" {too}.", None),
        ]
    if gains and ranks.is_sure and gains[0][0] != better:
        [(one, what), *_] = gains  # what ranks says otherwise
        higher: Sentence = [(evaluation.names[better], better), (f" has the higher {title}, by {ranks.points}; ", None)]
        return [*higher, (evaluation.names[one], one), (f" {what}.", None)]
    if gains:
        one = gains[0][0]
        return [(evaluation.names[one], one), (f" {' and '.join(what for _, what in gains)}.", None)]
    if ranks.is_sure:
        return [(evaluation.names[better], better), (f" is better: its {title} is {ranks.points} higher.", None)]
    known = {name: of for name, of in {title: ranks, **of_sides}.items() if not np.isnan(of.estimate)}
    pair: Sentence = [(first, 0), (" and ", None), (second, 1)]
    if not known:
        return [*pair, (" cannot be compared.", None)]
    if all(of.is_none for of in known.values()):
        return [*pair, (" are equally good.", None)]
    return [*pair, (f" are not shown to differ in {_either([*known])}.", None)]


def _either(names: Sequence[str]) -> str:
    """Names as a choice, such as "F1, recall or precision"."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _of_several(evaluation: Evaluation, evidence: Evidence) -> Sentence:
    """Which submissions lead, and by how much."""
    first, *others = evaluation.names
    title = wording.first_title(evidence.ranks, evaluation.rule)
    apart = {name: difference(evidence, evidence.ranks, first, name) for name in others}
    alike = [name for name, of in apart.items() if not of.is_sure]
    behind = [name for name in others if name not in alike]
    named: Sentence = [(first, 0)]
    if not alike:
        after = apart[others[0]].points
        best = f" is the best of {len(evaluation.names)}: its {title} is {after} above that of "
        return [*named, (best, None), (others[0], 1), (".", None)]
    if all(of.is_none for of in apart.values()):
        return [(f"All {len(evaluation.names)} are equally good: their {title} is the same.", None)]
    if not behind:
        start = f"None of the {len(evaluation.names)} is shown to be the best; "
        return [(start, None), *named, (f" has the highest {title}.", None)]
    if alike == [evaluation.names[1]]:
        lower = behind[0] if len(behind) == 1 else f"{len(behind)} others"
        named += [(" and ", None), (alike[0], evaluation.names.index(alike[0]))]
        return [*named, (f" are not shown to differ; {title} is lower for {lower}.", None)]
    worse = f"{behind[0]} is" if len(behind) == 1 else f"{len(behind)} others are"
    many = " and ".join(alike) if len(alike) <= 2 else f"{len(alike)} others"
    are = "is" if len(alike) == 1 else "are"
    return [*named, (f" has the highest {title}; {many} {are} not shown to be worse, {worse}.", None)]


def more(evaluation: Evaluation, evidence: Evidence) -> str:
    """What the sentence leaves open: the metric that ranks, with its interval or the reason why it has none."""
    title, names = wording.first_title(evidence.ranks, evaluation.rule), evaluation.names
    if not evaluation.summary["n_truth"].any() or not evaluation.summary["n_predicted"].any():
        return ""
    of_ap = [OF_ALL_SCORES] if evidence.ranks == "AP" else []
    if len(names) == 1:
        return " ".join(of_ap)
    first, second, *others = names
    ranks = difference(evidence, evidence.ranks, first, second)
    if others:
        return f"{title}: {first} minus {second} is {ranks.range}."
    texts = [_of_ranks(title, ranks, names)]
    of_sides = {side: difference(evidence, side, first, second) for side in evidence.sides}
    if any(of.is_sure for of in of_sides.values()):
        open_sides = {side: of for side, of in of_sides.items() if not of.is_sure and not np.isnan(of.estimate)}
        texts += [f"In {side} they are not shown to differ ({of.range})." for side, of in open_sides.items()]
    elif not ranks.is_sure:
        texts += _others_that_differ(evidence)
    return " ".join([*texts, *of_ap])


def _others_that_differ(evidence: Evidence) -> list[str]:
    """The other headline metrics in which two submissions differ, as a sentence; none where there is none."""
    assert evidence.pairs is not None
    pairs = evidence.pairs[~evidence.pairs["metric"].isin([evidence.ranks, *evidence.sides])]
    sure = pairs.loc[pairs["p_adjusted"] <= LEVEL, "metric"].drop_duplicates().tolist()
    named = [wording.title(str(metric), "") or str(metric) for metric in sure]
    return [f"They differ in {', '.join(named)}."] if named else []


def _of_ranks(title: str, ranks: Difference, names: Sequence[str]) -> str:
    """What the metric that ranks says of two submissions."""
    if np.isnan(ranks.estimate):
        return f"The difference in {title} is {ranks.range}."
    if ranks.is_none:
        return f"{title} is the same."
    if ranks.is_sure:
        better, difference_of_it = (names[1], ranks.turned) if ranks.estimate < 0 else (names[0], ranks)
        return f"{title} is higher for {better} ({difference_of_it.range})."
    if np.isnan(ranks.low) or np.isnan(ranks.high):
        return f"{title} differs by {ranks.range}."
    return f"{title} cannot tell them apart ({ranks.range})."
