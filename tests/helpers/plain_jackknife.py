"""Intervals and tests by leaving out one sequence at a time, in the words of the formulas."""

import numpy as np
from scipy import stats

Bounds = tuple[float, float]

# The numerators and denominators of sequences.
Parts = tuple[np.ndarray, np.ndarray]


def plain_freedom(w: np.ndarray) -> float:
    """tr(A)² / tr(A²) of Bell and McCaffrey, with the matrices written out."""
    w = w[w > 0]
    n, found = len(w), []
    for working in (np.ones(n), 1 / w):
        residuals = np.eye(n) - np.outer(np.ones(n), w) / w.sum()
        weights = np.diag((w / (w.sum() - w)) ** 2)
        a = np.diag(working**0.5) @ residuals.T @ weights @ residuals @ np.diag(working**0.5)
        found.append(np.trace(a) ** 2 / np.trace(a @ a))
    return float(np.clip(np.mean(found), 1, n - 1))


def plain_error(changes: np.ndarray) -> float:
    n = len(changes)
    return float(np.sqrt((n - 1) / n * sum(d**2 for d in changes)))


def plain_skewness(changes: np.ndarray, freedom: float) -> float:
    squares, most = sum(d**2 for d in changes), 0.8 / stats.t.ppf(0.975, freedom)
    return float(np.clip(-sum(d**3 for d in changes) / squares**1.5, -most, most)) if squares > 0 else 0.0


def plain_reach(x: float, k: float) -> float:
    """The t whose transformation is x, by halving an interval."""
    low, high = -1e3, 1e3
    for _ in range(200):
        t = (low + high) / 2
        low, high = (t, high) if t + k * t**2 / 3 + k**2 * t**3 / 27 + k / 6 < x else (low, t)
    return low


def plain_most(share: float, n_units: float) -> float:
    """The largest share of n units that Clopper and Pearson allow for where there is this one."""
    return float(stats.beta.ppf(0.975, share * n_units + 1, (1 - share) * n_units)) if share < 1 else 1.0


def plain_share(y: np.ndarray, w: np.ndarray, greatest: float = 1.0) -> Bounds:
    """The bounds of a ratio of sums between 0 and `greatest`."""
    n, share = len(w), y.sum() / w.sum() / greatest
    changes = np.array([(y.sum() - y[i]) / (w.sum() - w[i]) / greatest - share for i in range(n)])
    freedom = plain_freedom(w)
    quantile, k = stats.t.ppf(0.975, freedom), plain_skewness(changes, freedom)
    slope = plain_error(changes) / (share * (1 - share))

    def moved(deviations: float) -> float:
        return float(1 / (1 + np.exp(-(np.log(share / (1 - share)) + deviations * slope))))

    n_effective = w.sum() ** 2 / (w**2).sum()
    at_top, at_bottom = (np.isclose(y, end * w, rtol=0, atol=1e-9 * greatest) for end in (greatest, 0))
    least = 1 - plain_most(w[~at_top].sum() / w.sum(), n_effective)
    most = plain_most(w[~at_bottom].sum() / w.sum(), n_effective)
    low = min(moved(-quantile), max(moved(-plain_reach(quantile, k)), least))
    high = max(moved(quantile), min(moved(-plain_reach(-quantile, k)), most))
    return low * greatest, high * greatest


def plain_difference(a: Parts, b: Parts) -> tuple[float, float, float]:
    """The bounds of the difference of two ratios of sums between 0 and 1, and the p-value that it is 0."""
    (ya, wa), (yb, wb) = a, b
    n, of_a, of_b = len(ya), ya.sum() / wa.sum(), yb.sum() / wb.sum()
    estimate = of_a - of_b
    changes = np.array(
        [
            (ya.sum() - ya[i]) / (wa.sum() - wa[i]) - of_a - (yb.sum() - yb[i]) / (wb.sum() - wb[i]) + of_b
            for i in range(n)
        ]
    )
    shares = (wa / wa.sum() + wb / wb.sum()) / 2
    freedom, error = plain_freedom(shares), plain_error(changes)
    k, quantile = plain_skewness(changes, freedom), stats.t.ppf(0.975, freedom)
    low, high = (estimate - plain_reach(side * quantile, k) * error for side in (1, -1))
    with np.errstate(divide="ignore", invalid="ignore"):  # of submissions that differ nowhere, or by one amount
        t = estimate / error
    x = t + k * t**2 / 3 + k**2 * t**3 / 27 + k / 6
    p_value = 1.0 if estimate == 0 else 2 * stats.t.sf(abs(x), freedom)
    for y, w, sign in ((ya, wa, 1), (yb, wb, -1)):
        value, other, n_units = y.sum() / w.sum(), (of_b if sign == 1 else of_a), w.sum() ** 2 / (w**2).sum()
        for end in (0, 1):
            off = (w > 0) & (np.abs(y - end * w) > 1e-9)
            if off.sum() >= min(4, (w > 0).sum()):
                continue
            share = w[off].sum() / w.sum()
            most = plain_most(share, n_units)
            shift = sign * (max(most - value, 0) if end == 0 else -max(value - (1 - most), 0))
            low, high = min(low, estimate + min(shift, 0)), max(high, estimate + max(shift, 0))
            if sign * estimate * (1 if end else -1) > 0:
                n_off = share * n_units
                tail = stats.beta.sf(abs(other - end), n_off + 1, n_units - n_off) if n_off < n_units else 1.0
                p_value = max(p_value, min(2 * tail, 1.0))
    differs = (ya != yb) | (wa != wb)
    if 2.0 ** (1 - differs.sum()) > 0.05:
        n_units = 1 / (shares**2).sum()
        own = ya / wa - yb / wb
        ahead, behind = (shares[differs & ~(side * own > 1e-9)].sum() for side in (-1, 1))
        low, high = min(low, -plain_most(behind, n_units)), max(high, plain_most(ahead, n_units))
    return max(low, -1.0), min(high, 1.0), max(p_value, 2.0 ** (1 - differs.sum()))
