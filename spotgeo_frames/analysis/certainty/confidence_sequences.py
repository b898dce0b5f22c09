"""Bounds of a mean that hold at all times together, however often one looks while data are still coming.

The bound is that of the sequential t test with a normal mixture: for n equal observations of a normal distribution with
unknown variance, the Bayes factor

    B = sqrt(r) ((1 + r t² / v) / (1 + t² / v))^(-n / 2),    v = n - 1,    r = PRIOR / (PRIOR + n)

of t is a martingale where the mean is t = 0, so it exceeds K at any time with a chance of at most 1 / K (Ville). It has
its solution in closed form (Lindon, Ham, Tingley and Bojinov, 2022, arXiv:2210.08589; Wang and Ramdas, 2023,
arXiv:2310.03722; after Lai, 1976, doi:10.1214/aos/1176343406). For large n it is the normal mixture of Robbins (1970),
two-sided, as the package confseq has it (Howard, Ramdas, McAuliffe and Sekhon, 2021, doi:10.1214/20-AOS1991). Half of
the two-sided error lies on each side.
"""

import numpy as np

from ...support.arrays import exp, log
from .skewness import reaches

# How many observations the prior of the mean is worth: about the narrowest from 20 to 200 observations.
PRIOR = 3.0


def always_valid_reach(n: np.ndarray | float, error: float) -> np.ndarray:
    """How many standard errors below the mean the bound of each count n of observations is, as an array of n's shape.

    The bound is ever above the true mean with a chance of at most `error`. Infinite where n is too small for any bound,
    below six for an error of 0.05, and up to six for one of 0.025. n may be broken: of sequences of uneven size, as
    many equal ones.
    """
    n = np.asarray(n, np.float64)
    with np.errstate(all="ignore"):
        share = PRIOR / (PRIOR + n)
        grown = exp(-log(2 * error * np.sqrt(share)) * 2 / n)
        return np.where(grown * share < 1, np.sqrt((n - 1) * (grown - 1) / (1 - grown * share)), np.inf)


def skewed_reach(reach: float, skewness: float) -> float:
    """The reach in standard errors that allows for a long tail below; never less than `reach`.

    `skewness` is k of `skewness.py`, as large as it is: the sum of the cubes of centred values over the root of the
    cubed sum of their squares.
    """
    if not np.isfinite(reach):
        return reach
    below, _ = reaches(np.array(reach), np.array(skewness))
    return max(reach, float(below))


def always_valid_low(values: np.ndarray, degrees_of_freedom: float, error: float) -> float:
    """The bound of the mean of values (n,), which it is ever above with a chance of at most `error`; null without one.

    `degrees_of_freedom` are those of the standard error: of as many equal values, plus one.
    """
    n = len(values)
    reach = float(always_valid_reach(degrees_of_freedom + 1, error))
    apart = values - values.mean()
    squares = float((apart**2).sum())
    if n < 2 or not np.isfinite(reach) or not squares > 0:
        return np.nan
    skewness = float((apart**2 * apart).sum()) / squares**1.5
    return float(values.mean() - skewed_reach(reach, skewness) * np.sqrt(squares / (n * (n - 1))))
