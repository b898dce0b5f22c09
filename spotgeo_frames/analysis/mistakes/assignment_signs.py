"""A sign of crowded frames, for `check`: two ways of choosing pairs, of which GOSPA needs one, choose different ones.

Where objects lie closer together than tau, as many pairs as possible are more than those with the least sum of
distances: "most" rather makes two pairs with long distances than one with a short one. F1 is then higher by "most", and
GOSPA higher than it is by "least". No correction helps, so F1 after one is null.
"""

from collections.abc import Iterator
from dataclasses import replace

from ...matching import Compared, Rule, WithoutCrowds, matcher, with_assignment
from ...scoring import match_sums, registry
from ...support import InputError
from .evidence import enough
from .scores import Case, Suspicion

# The least difference of F1 that is told.
LEAST_DIFFERENCE = 0.01


def assignments_differ(case: Case) -> Iterator[Suspicion]:
    """Tells how much "most" and "least" differ, if F1 differs by LEAST_DIFFERENCE and by enough pairs."""
    if case.tracks or case.rule.assignment == "score" or not case.rule.by_distance:
        return
    try:
        least = with_assignment(case.rule, "least", case.rule.power)
    except (InputError, ValueError):  # tau to the power is beyond what can be added
        return
    most = replace(case.rule, assignment="most", power=None)
    numbers = {rule.assignment: _numbers(case.now.counting, rule, least) for rule in (most, least)}
    by_most, by_least = numbers["most"], numbers["least"]
    if by_most["f1"] - by_least["f1"] < LEAST_DIFFERENCE or not enough("pairs", by_most["tp"] - by_least["tp"]):
        return
    told = [
        f'"{name}" finds {of["tp"]:,.0f} pairs (F1 {of["f1"]:.3f}, GOSPA {of["gospa"]:.3f})'
        for name, of in numbers.items()
    ]
    advice = f'{" and ".join(told)}; say assignment="least" where GOSPA or OSPA is asked for, and say which it was'
    yield case.suspicion("frames are so crowded that the choice of pairs matters", advice)


def _numbers(counting: WithoutCrowds, rule: Rule, least: Rule) -> dict[str, float]:
    """The hits, F1 and GOSPA of the pairs that the rule chooses, whose costs are those of `least`."""
    aligned = counting.sides.aligned
    pairs = matcher.assigned(Compared(aligned, rule.near(aligned)), rule)
    sums = match_sums.together(match_sums.whole(match_sums.pair_sums(counting, pairs, least)))
    return {name: float(of[0]) for name, of in registry.values_of(sums.values, ["tp", "f1", "gospa"]).items()}
