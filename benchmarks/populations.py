"""Populations of sequences whose true numbers are known, for the simulations of intervals and p-values.

A population draws, for each sequence, tp, fn, fp and the scale (px) of its distances; a pair draws these of two
detectors on the same sequences.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial

import numpy as np
from scipy.optimize import brentq
from scipy.signal import lfilter
from scipy.special import expit

# tp, fn, fp of sequences, and the scale (px) of their distances.
Counts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def even(random: np.random.Generator, n: int) -> Counts:
    """As many objects everywhere; sequences differ in how hard they are."""
    n_truth = random.poisson(10, n)
    tp = random.binomial(n_truth, random.beta(5, 2, n))
    return tp, n_truth - tp, random.poisson(random.gamma(2.0, 1.0, n)), np.exp(random.normal(0, 0.3, n))


def uneven(random: np.random.Generator, n: int) -> Counts:
    """A few sequences have most objects, and are easier."""
    size = random.normal(0, 1.2, n)
    n_truth = 1 + random.poisson(12 * np.exp(size))
    tp = random.binomial(n_truth, expit(1 + 0.4 * size + random.normal(0, 0.7, n)))
    fp = random.poisson(0.15 * n_truth * np.exp(random.normal(0, 0.7, n)))
    return tp, n_truth - tp, fp, np.exp(random.normal(0, 0.4, n))


def rare(random: np.random.Generator, n: int) -> Counts:
    """One sequence in twenty has errors at all."""
    n_truth = 1 + random.poisson(7, n)
    is_bad = random.random(n) < 0.05
    tp = np.where(is_bad, random.binomial(n_truth, random.beta(2, 3, n)), n_truth)
    return tp, n_truth - tp, np.where(is_bad, random.poisson(2, n), 0), np.exp(random.normal(0, 0.3, n))


def harder(random: np.random.Generator, n: int, spread: float = 0.8) -> Counts:
    """Sizes differ by a factor of ten, and large sequences are harder, as crowded ones are."""
    size = random.normal(0, spread, n)
    n_truth = np.maximum(1, (14 * np.exp(size)).astype(int))
    tp = random.binomial(n_truth, expit(1.1 - 0.8 * size + random.normal(0, 0.6, n)))
    fp = random.poisson(0.2 * n_truth * np.exp(0.4 * size + random.normal(0, 0.6, n)))
    return tp, n_truth - tp, fp, np.exp(0.2 * size + random.normal(0, 0.3, n))


def wider(random: np.random.Generator, n: int) -> Counts:
    """The same with sizes that differ by more."""
    return harder(random, n, 1.1)


def bursts(random: np.random.Generator, n: int) -> Counts:
    """In three sequences of a hundred there are more false alarms than objects in all others."""
    tp, fn, fp, scale = even(random, n)
    return tp, fn, fp + np.where(random.random(n) < 0.03, random.poisson(200, n), 0), scale


def heavy(random: np.random.Generator, n: int) -> Counts:
    """One sequence in ten has distances four times as large."""
    tp, fn, fp, scale = even(random, n)
    return tp, fn, fp, scale * np.where(random.random(n) < 0.1, 4.0, 1.0)


POPULATIONS: Mapping[str, Callable[[np.random.Generator, int], Counts]] = {
    "even": even,
    "uneven": uneven,
    "rare": rare,
    "heavy": heavy,
    "harder": harder,
    "wider": wider,
    "bursts": bursts,
}


# Pairs of detectors that are equally good in a metric, as sums (sequences, 2 detectors) of each name.
def equal_detectors(random: np.random.Generator, n: int) -> tuple[Counts, Counts]:
    """Two runs of one detector."""
    n_truth, chance = random.poisson(10, n), random.beta(5, 2, n)
    found = [random.binomial(n_truth, chance) for _ in range(2)]
    return tuple((tp, n_truth - tp, random.poisson(1.5, n), tp) for tp in found)  # type: ignore[return-value]


def unequal_numbers(precision: float, ratio: float, spread: float) -> Callable[..., tuple[Counts, Counts]]:
    """Two detectors with the same precision, one with `ratio` times as many predictions.

    The chance to be right has a standard deviation of `spread` between sequences.
    """

    def pair(random: np.random.Generator, n: int) -> tuple[Counts, Counts]:
        n_truth, sides = 1 + random.poisson(8, n), []
        both = precision * (1 - precision) / spread**2 - 1 if spread else 0.0
        for rate in (0.9 / ratio, 0.9):
            n_predicted = random.binomial(n_truth, rate)
            chance = random.beta(both * precision, both * (1 - precision), n) if spread else precision
            tp = random.binomial(n_predicted, chance)
            sides.append((tp, np.maximum(n_truth - tp, 0), n_predicted - tp, tp))
        return tuple(sides)  # type: ignore[return-value]

    return pair


def better(random: np.random.Generator, n: int) -> tuple[Counts, Counts]:
    """Two detectors, the second of which finds 8% more."""
    n_truth, chance = random.poisson(10, n), random.beta(5, 2, n)
    found = [random.binomial(n_truth, np.minimum(chance + more, 1)) for more in (0.0, 0.08)]
    return tuple((tp, n_truth - tp, random.poisson(1.5, n), tp) for tp in found)  # type: ignore[return-value]


def long_and_short(random: np.random.Generator, n: int) -> tuple[Counts, Counts]:
    """One finds more in long sequences, the other in short ones; both have a recall of 0.75 over all objects."""
    size = random.normal(0, 1.0, n)
    n_truth, sides = np.maximum(1, (15 * np.exp(size)).astype(int)), []
    for slope in (0.6, -0.6):
        chance = expit(_middle(slope) + slope * size + random.normal(0, 0.5, n))
        tp = random.binomial(n_truth, chance)
        sides.append((tp, n_truth - tp, random.poisson(0.2 * n_truth), tp))
    return tuple(sides)  # type: ignore[return-value]


@cache
def _middle(slope: float) -> float:
    """The intercept at which three objects in four are found, over sequences of all sizes."""
    random = np.random.default_rng(5)
    size, own = random.normal(0, 1.0, 400_000), random.normal(0, 0.5, 400_000)
    n_truth = np.maximum(1, (15 * np.exp(size)).astype(int))
    return float(brentq(lambda x: np.average(expit(x + slope * size + own), weights=n_truth) - 0.75, -3, 5))


def other_points(random: np.random.Generator, n: int) -> tuple[Counts, Counts]:
    """Equal f1 at other operating points: one finds 60% with few false alarms, one 85% with bursts of them."""
    n_truth = np.maximum(1, (15 * np.exp(random.normal(0, 0.8, n))).astype(int))
    of_one, of_other = (random.binomial(n_truth, rate) for rate in (0.6, 0.85))
    alarms = random.poisson(0.1 * n_truth), random.poisson(_alarms() * n_truth * np.exp(random.normal(0, 1, n)))
    return tuple(  # type: ignore[return-value]
        (tp, n_truth - tp, fp, tp) for tp, fp in zip((of_one, of_other), alarms, strict=True)
    )


def _alarms() -> float:
    """The false alarms for each object at which both have the same f1, 2 r / (1 + r + a)."""
    f1 = 2 * 0.6 / (1 + 0.6 + 0.1)
    return float((2 * 0.85 / f1 - 1 - 0.85) / np.exp(0.5))  # the mean of exp of a normal deviate is exp(1 / 2)


def anywhere_and_wholly(random: np.random.Generator, n: int) -> tuple[Counts, Counts]:
    """Both miss 3%: one objects anywhere, the other whole sequences."""
    n_truth = 1 + random.poisson(8, n)
    found = random.binomial(n_truth, 0.97), np.where(random.random(n) < 0.03, 0, n_truth)
    return tuple((tp, n_truth - tp, random.poisson(0.3, n), tp) for tp in found)  # type: ignore[return-value]


def newer(lost_wholly: float, lost: float) -> Callable[..., tuple[Counts, Counts]]:
    """Two versions of one detector: the newer loses all of a share of sequences, or a share of all that was found."""

    def pair(random: np.random.Generator, n: int) -> tuple[Counts, Counts]:
        n_truth = 1 + random.poisson(10, n)
        tp, fp = random.binomial(n_truth, random.beta(4, 2, n)), random.poisson(1.0, n)
        left = tp - np.where(random.random(n) < lost_wholly, tp, random.binomial(tp, lost))
        return (tp, n_truth - tp, fp, tp), (left, n_truth - left, fp, left)

    return pair


PAIRS: Mapping[str, tuple[Callable[..., tuple[Counts, Counts]], str]] = {
    "two runs of one detector": (equal_detectors, "f1"),
    "6 times as many predictions": (unequal_numbers(0.7, 6, 0), "precision"),
    "the same, sequences differ": (unequal_numbers(0.7, 6, 0.17), "precision"),
    "6 times, rare false alarms": (unequal_numbers(0.95, 6, 0), "precision"),
    "the same, sequences differ more": (unequal_numbers(0.95, 6, 0.08), "precision"),
    "1.5 times, rare, sequences differ": (unequal_numbers(0.95, 1.5, 0.08), "precision"),
    "one better on long, one on short": (long_and_short, "recall"),
    "other operating points, bursts": (other_points, "f1"),
    "one misses anywhere, one wholly": (anywhere_and_wholly, "recall"),
    "8% more found (power)": (better, "recall"),
    "fails wholly in 8% of sequences": (newer(0.08, 0.0), "recall"),
    "loses 3% of what the other found": (newer(0.0, 0.03), "recall"),
}


def five_alike(random: np.random.Generator, n: int) -> list[Counts]:
    """Five runs of one detector."""
    n_truth, chance = 1 + random.poisson(10, n), random.beta(4, 2, n)
    found = [random.binomial(n_truth, chance) for _ in range(5)]
    return [(tp, n_truth - tp, random.poisson(1.5, n), tp) for tp in found]


def five_that_miss(random: np.random.Generator, n: int) -> list[Counts]:
    """Five detectors that miss 3%: two of them objects anywhere, three whole sequences."""
    n_truth = 1 + random.poisson(8, n)
    found = [random.binomial(n_truth, 0.97) for _ in range(2)]
    found += [np.where(random.random(n) < 0.03, 0, n_truth) for _ in range(3)]
    return [(tp, n_truth - tp, random.poisson(0.3, n), tp) for tp in found]


# The chance of a truth to be found in each frame of sequences, (sequences, frames), is alike in neighbouring frames.
def waves(random: np.random.Generator, n: int, n_frames: int, rho: float, height: float = 1.2) -> np.ndarray:
    """The logit follows an autoregressive process whose standard deviation is `height`."""
    step = random.normal(size=(n, n_frames))
    step[:, 1:] *= np.sqrt(1 - rho**2)
    return expit(1 + height * lfilter([1], [1, -rho], step, axis=1))


def hard_stretches(random: np.random.Generator, n: int, n_frames: int, rho: float) -> np.ndarray:
    """A fifth of all frames are hard; with a chance of rho, a frame is as the one before it."""
    is_new = random.random((n, n_frames)) >= rho
    is_new[:, 0] = True
    drawn = np.maximum.accumulate(np.where(is_new, np.arange(n_frames), 0), axis=1)
    return np.where(np.take_along_axis(random.random((n, n_frames)) < 0.2, drawn, axis=1), 0.4, 0.9)


DIFFICULTIES: Mapping[str, Callable[..., np.ndarray]] = {
    "waves": waves,
    "low waves": partial(waves, height=0.4),
    "bursts": hard_stretches,
}
