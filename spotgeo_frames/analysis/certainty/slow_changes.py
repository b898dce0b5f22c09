"""How surely the sum of a long series is known, whose terms change slowly: for intervals of one long sequence.

The terms, what each piece of a sequence contributes to a metric, are taken for noise plus a part that changes slowly,
as an autoregressive process of the first order does. How long that part stays alike, and how large it is, the series
tells badly: what changes hardly at all within the sequence looks like no change. So no values are chosen. A grid of
them is weighted by their likelihoods, and the distribution of the error is the mixture of Student's t distributions
that belong to them (Mueller and Watson, 2016, doi:10.1093/restud/rdw014). The likelihood is that of the cosine
transforms of low frequency, which are nearly independent whatever the autocorrelation; their squares, divided by their
expected ratios, tell the scale.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from ...support.arrays import exp, log

# The lowest frequencies, of a half to 15 periods in the sequence; quicker changes add up to noise.
N_COSINES = 30

# The memory of the slow part, as a share of the sequence: the distance at which its autocorrelation is 1 / e.
MEMORIES = (1 / 80, 1 / 40, 1 / 20, 1 / 10, 1 / 5, 1 / 2.5, 1.0, 2.5)

# How much larger than the noise the slow part is where it is slowest, in variance.
RATIOS = (1, 3, 10, 30, 100, 300, 1000)

# The weight of no slow part, in combinations of the above; lower ones make intervals of independent frames too wide.
NOISE_ALONE = 100

# How often the bracket of a quantile is halved; it ends 1e-10 of its first width apart.
HALVINGS = 34


class SlowChanges(NamedTuple):
    """What S series tell of their sums, each array (S,).

    Attributes
    ----------
    reach
        Half the width of the interval of the sum.
    memory
        The memory of the slow part, as a share of the series; null where it is all noise.
    share_long
        The share of the sum's variance that comes from slow parts with a memory of at least the `longest` asked for.
    """

    reach: np.ndarray
    memory: np.ndarray
    share_long: np.ndarray


def slow_changes(terms: np.ndarray, confidence: float, longest: float) -> SlowChanges:
    """What series (S, B) tell of their sums; `longest` is a memory, as a share of the series."""
    from scipy.special import stdtr  # imported here, because it is slow to import

    cosines, expected, inflation, memory = _model(terms.shape[1])
    power = (terms @ cosines) ** 2 @ (1 / expected)  # (S, models)
    with np.errstate(divide="ignore", invalid="ignore"):
        fit = -log(expected).sum(axis=0) / 2 - N_COSINES / 2 * log(power)
        weights = exp(fit - fit.max(axis=1, keepdims=True)) * np.where(memory > 0, 1, NOISE_ALONE)
        weights /= weights.sum(axis=1, keepdims=True)
        scale = np.sqrt(inflation * terms.shape[1] * power / N_COSINES)
        low, high = np.zeros(len(terms)), scale.max(axis=1) * 1000
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            within = (weights * (2 * stdtr(N_COSINES, middle[:, None] / scale) - 1)).sum(axis=1)
            low, high = np.where(within < confidence, middle, low), np.where(within < confidence, high, middle)
        slow = weights * (1 - 1 / inflation)
        log_memory = log(np.where(memory > 0, memory, 1.0))
        return SlowChanges(high, exp(slow @ log_memory / slow.sum(axis=1)), (slow * (memory >= longest)).sum(axis=1))


@functools.cache
def _model(n_terms: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The cosines (B, K), and of each of M models, the first of which is noise: the expected squares of the transforms
    (K, M), the variance of the sum (M,), both as multiples of those of noise, and the memory (M,).
    """
    at = np.arange(n_terms)
    cosines = np.cos(np.pi * (at[:, None] + 0.5) * np.arange(1, N_COSINES + 1) / n_terms) * np.sqrt(2 / n_terms)
    expected, inflation, memories = [np.ones(N_COSINES)], [1.0], [0.0]
    for memory in MEMORIES:
        decay = math.exp(-1 / (memory * n_terms))
        alike = exp(-np.abs(at[:, None] - at) / (memory * n_terms))
        alike *= (1 - decay) / (1 + decay)  # 1 at the lowest frequency, as noise
        of_cosines = np.einsum("ik,ij,jk->k", cosines, alike, cosines, optimize=True)
        for ratio in RATIOS:
            expected.append(1 + ratio * of_cosines)
            inflation.append(1 + ratio * alike.sum() / n_terms)
            memories.append(memory)
    return cosines, np.stack(expected, axis=1), np.array(inflation), np.array(memories)
