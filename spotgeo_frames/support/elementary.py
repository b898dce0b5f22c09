"""Exponentials and logarithms whose last bit is the same on processors with AVX-512 and without.

NumPy has code of its own for float64 on processors with AVX-512, and elsewhere calls the C library, which rounds
differently: of a million exponentials, one in twenty differs in the last bit. It calls the C library everywhere for
complex numbers, and so does Python.
"""

import math

import numpy as np

_log10 = np.frompyfunc(math.log10, 1, 1)


def exp(values: np.ndarray) -> np.ndarray:
    """The exponential of each value; infinite where it is too large.

    >>> exp(np.array([-np.inf, 0.0, 1000.0])).tolist()
    [0.0, 1.0, inf]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return np.exp(values.astype(np.complex128)).real


def log(values: np.ndarray) -> np.ndarray:
    """The natural logarithm of each value, all of which are positive.

    >>> log(np.array([1.0])).tolist()
    [0.0]
    """
    return np.log(values.astype(np.complex128)).real


def log10(values: np.ndarray) -> np.ndarray:
    """The decimal logarithm of each value, all of which are positive; exact for powers of ten, and slower than `log`.

    >>> log10(np.array([0.1, 1000.0])).tolist()
    [-1.0, 3.0]
    """
    return np.asarray(_log10(values), np.float64)
