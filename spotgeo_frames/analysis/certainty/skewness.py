"""Student's t corrected for skewness: the cubic transformation of Hall (1992, J. R. Stat. Soc. B 54, 221-228).

Of a mean of n numbers with the standardised third moment g, t = (mean - true mean) / standard error is skewed the other
way. With k = g / sqrt(n), the transformed x = t + k t² / 3 + k² t³ / 27 + k / 6 nearly has Student's distribution. It
rises with t throughout, so bounds come from its inverse, t = 3 / k ((1 + k (x - k / 6))^(1/3) - 1).

k comes from the changes d when a sequence is left out: -(sum of d³) / (sum of d²)^1.5. Its size is at most MOST / t, t
being that of a 95% interval: beyond, the cube root takes reaches to many standard errors at once, and in simulations
intervals hold no more often.
"""

import numpy as np

# The largest size of the skewness that is corrected for, times the t of a 95% interval.
MOST = 0.8

# Below this size there is nothing to correct, and the formulas divide by it.
LEAST = 1e-8


def skewness_of(squares: np.ndarray, cubes: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """k from the sums of the squared and the cubed changes when a sequence is left out; 0 where nothing changes.

    >>> skewness_of(np.array([4.0, 0.0]), np.array([-2.0, 0.0]), np.array([20.0, 20.0])).tolist()
    [0.25, 0.0]
    """
    from scipy.special import stdtrit  # imported here, because it is slow to import

    with np.errstate(invalid="ignore", divide="ignore"):
        k, most = -cubes / (squares * np.sqrt(squares)), MOST / stdtrit(freedom, 0.975)
    return np.nan_to_num(np.clip(k, -most, most), posinf=0.0, neginf=0.0)


def reaches(quantile: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far the interval reaches below and above an estimate, in standard errors; `quantile` is that of Student's t.

    >>> below, above = reaches(np.array([2.0, 2.0]), np.array([0.0, 0.3]))
    >>> below.round(2).tolist(), above.round(2).tolist()
    ([2.0, 1.66], [2.0, 2.73])
    """
    return _inverse(quantile, k), -_inverse(-quantile, k)


def transformed(t: np.ndarray, k: np.ndarray) -> np.ndarray:
    """What t is where nothing is skewed.

    >>> transformed(np.array([2.0, 2.0]), np.array([0.0, 0.3])).round(2).tolist()
    [2.0, 2.48]
    """
    kt = k * t
    return t + t * kt / 3 + t * kt**2 / 27 + k / 6  # products, since powers of three round otherwise on some processors


def _inverse(x: np.ndarray, k: np.ndarray) -> np.ndarray:
    from scipy.special import cbrt  # which rounds alike on all processors, unlike that of NumPy

    small = np.abs(k) < LEAST
    divisor = np.where(small, 1.0, k)
    return np.where(small, x, 3 / divisor * (cbrt(1 + k * (x - k / 6)) - 1))
