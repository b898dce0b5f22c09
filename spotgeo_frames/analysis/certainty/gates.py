"""non_inferiority(): whether a submission is surely no worse than a baseline by more than a margin.

The always-valid bound holds at all times together, however often one looks while data are still coming. It is that of
the sequential t test with a normal mixture: for n equal observations of a normal distribution with unknown variance,
the Bayes factor

    B = sqrt(r) ((1 + r t² / v) / (1 + t² / v))^(-n / 2),    v = n - 1,    r = PRIOR / (PRIOR + n)

of t is a martingale where the mean is t = 0, so it exceeds K at any time with a chance of at most 1 / K (Ville). It has
its solution in closed form (Lindon, Ham, Tingley and Bojinov, 2022, arXiv:2210.08589; Wang and Ramdas, 2023,
arXiv:2310.03722; after Lai, 1976, doi:10.1214/aos/1176343406). For large n it is the normal mixture of Robbins (1970),
two-sided, as the package confseq has it (Howard, Ramdas, McAuliffe and Sekhon, 2021, doi:10.1214/20-AOS1991). Half of
the two-sided error lies on each side.
"""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...scoring import AveragePrecision, Metric, own_metrics, summary_of
from ...support import arrays, pandas_tables
from ...tables import Table, arrow, table_kinds
from .contributions import FEWEST_DIFFERING, Pair, contributions_of, is_worse, pair_of, pair_sign
from .estimates import estimates_of
from .jackknife import reaches
from .pair_tables import n_units, pair_table
from .reasons import NOT_DEFINED, NOT_DEFINED_WITHOUT_ONE
from .submissions import same_rows

# The confidence of one-sided bounds. One look has the end of the 95% interval that `compare` gives.
ONE_SIDED = 0.975

# How often sequences are swapped where there are too many for all ways.
SWAPS = 10_000

# How many observations the prior of the mean is worth: about the narrowest from 20 to 200 observations.
PRIOR = 3.0


class Bound(NamedTuple):
    """A difference and its bounds, counted so that more is better, and why they are null, or what `low` allows for.

    A bound that holds at all times is a lower one alone, so `high` is null.
    """

    estimate: float
    low: float
    text: str | None = None
    high: float = np.nan


class NonInferiority(NamedTuple):
    """The result of `non_inferiority`; its text says why, so `assert non_inferiority(...).passed` fails readably.

    Attributes
    ----------
    table
        One row: `metric`, `estimate`, `low`, `margin`, `passed` and `reason`.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> eager, cautious = (sf.match(truth, sf.read_objects(f"data/sample/{n}.parquet")) for n in ("eager", "cautious"))
    >>> result = sf.non_inferiority(eager, cautious, "recall", margin=0.02)
    >>> result
    NonInferiority in recall: passed (estimate 0.1946, low 0.1337, margin 0.02)
    >>> result.passed
    True
    """

    table: pd.DataFrame

    @property
    def passed(self) -> bool:
        """Whether the submission is surely no worse than the baseline by more than the margin."""
        return bool(self._row()["passed"])

    def __repr__(self) -> str:
        row = self._row()
        verdict = "passed" if self.passed else f"not passed: {row['reason']}"
        numbers = ", ".join(
            f"{name} {row[name]:.4g}" for name in ("estimate", "low", "margin") if row[name] is not None
        )
        return f"NonInferiority in {row['metric']}: {verdict} ({numbers})"

    def _row(self) -> dict[str, Any]:
        """The row of the table, whatever kind of table it is."""
        return {
            str(name): column.iloc[0] for name, column in arrow.as_pandas(self.table, "table").astype(object).items()
        }


class Held(NamedTuple):
    """A submission held against its baseline.

    Attributes
    ----------
    answer
        What `non_inferiority` returns.
    texts
        Those of warnings.
    entry
        That of the metric.
    values
        The metric of the submission and of the baseline.
    high
        The upper end of the interval of the difference, counted so that more is better; null where there is none.
    """

    answer: NonInferiority
    texts: list[str]
    entry: Metric
    values: tuple[float, float]
    high: float


@table_kinds.same_kind_as("x")
def non_inferiority(
    x: Table | NamedTuple | AveragePrecision,
    baseline: Table | NamedTuple | AveragePrecision,
    metric: str,
    margin: float,
    *,
    always_valid: bool = False,
    seed: int = 0,
) -> NonInferiority:
    """Says whether a submission is surely no worse than a baseline by more than a margin.

    Parameters
    ----------
    x, baseline
        Match tables, or what `track`, `pose` or `average_precision` returned, of the same truth.
    metric
        A metric that says which way is better, such as "f1", "mse" (px²), "HOTA" or "AP50".
    margin
        How much worse is still good enough, in the unit of the metric; 0 or more.
    always_valid
        Whether the bound may be looked at again and again while sequences are added, as nightly checks do. If you look
        after each of ten batches, the bound is too good at some look in one of ten series, or in half of them where
        failures are rare. With `always_valid`, it is in at most one of forty. The price: the bound is about 1.6 times
        as far from the estimate with 20 to 200 equal sequences, and 1.95 times with 10; farther with fewer, or where
        differences are skewed.
    seed
        Equal seeds give equal results.

    Returns
    -------
    NonInferiority. `passed` is True where the lower end of the 95% interval of the difference, counted so that more is
    better, lies above minus the margin (Schuirmann, 1987, doi:10.1007/BF01068419). `compare` gives the same interval.
    Its lower end is a one-sided bound of 97.5%. It needs at least six sequences. With `always_valid` it comes from a
    sequential t test (Lindon et al., 2022, arXiv:2210.08589) with Hall's (1992) correction for skewness, and needs at
    least seven sequences of equal size. If `x` is then worse in fewer than four sequences, the bound allows for worse
    ones that were not seen. Submissions with the same rows, in whatever order, differ by 0, so `low` is 0 and every
    margin is passed.
    `table` has one row: `metric`; `estimate`, the difference of x minus the baseline, with its sign changed where less
    is better; `low`, its bound, null where the data do not tell; `margin`; `passed`; and `reason`, why the gate is not
    passed, otherwise null.

    Raises
    ------
    InputError: `x` or `baseline` is no match table, or they have different truths or rules.
    ValueError: an unknown metric or one without a better direction, or a margin below 0.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_spotgeo("data/sample/truth.json")
    >>> new, old = (sf.match(truth, sf.read_spotgeo(f"data/sample/{name}.json")) for name in ("eager", "cautious"))
    >>> sf.non_inferiority(new, old, "recall", margin=0.02).passed
    True
    """
    held = inferiority(x, baseline, metric, margin, seed, always_valid=always_valid)
    for text in held.texts:
        warnings.warn(f"non_inferiority: {text}", stacklevel=table_kinds.CALLER)
    return held.answer


def inferiority(
    x: Any,
    baseline: Any,
    metric: str,
    margin: float,
    seed: int = 0,
    exclude: Sequence[int | str] | None = None,
    *,
    always_valid: bool,
) -> Held:
    """A submission held against its baseline, without the sequences of `exclude`.

    Raises what `non_inferiority` does.
    """
    if isinstance(margin, bool) or not isinstance(margin, int | float | np.number) or not margin >= 0:
        raise ValueError(f"margin is {margin!r}; a number is needed, 0 or more, in the unit of {metric}")
    own_metrics.add_named_metrics([metric])
    pair = pair_of(x, baseline, metric, "non_inferiority", exclude)
    bound = _one_look(pair, seed)
    is_same = bound.estimate == 0 and same_rows(x, baseline, exclude)
    if is_same:
        bound = Bound(0.0, 0.0, high=0.0)
    elif always_valid and not np.isnan(bound.estimate) and n_units(pair.group) > 1:
        at_all_times = bound_at_all_times(pair, bound.estimate)
        bound = at_all_times._replace(low=float(np.minimum(at_all_times.low, np.nan_to_num(bound.low, nan=np.inf))))
    passed = is_same or bool(bound.low > -margin)
    reason = None if passed else _reason(bound, margin)
    table = pd.DataFrame(
        {
            "metric": pd.array([metric], dtype=pandas_tables.TEXT),
            "estimate": [bound.estimate],
            "low": [bound.low],
            "margin": [float(margin)],
            "passed": [passed],
            "reason": pd.array([reason], dtype=pandas_tables.TEXT),
        }
    )
    values = [float(estimates_of(summary_of(of), [metric])[0, 0]) for of in pair.group.sums.values()]
    return Held(NonInferiority(table), pair.texts, pair.entry, (values[0], values[1]), bound.high)


def _one_look(pair: Pair, seed: int) -> Bound:
    """The bound of `compare`, for data that are looked at once."""
    row = pair_table([pair.group], [pair.metric], SWAPS, 2 * ONE_SIDED - 1, seed).iloc[0]
    sign = pair_sign(pair)
    estimate = sign * row["estimate"] + 0.0
    low, high = (row["low"], row["high"]) if sign > 0 else (-row["high"], -row["low"])
    if np.isnan(estimate):
        return Bound(estimate, np.nan, NOT_DEFINED)
    if not np.isnan(low):
        return Bound(estimate, low, high=high)
    return Bound(estimate, low, None if pd.isna(row["reason"]) else row["reason"])


def bound_at_all_times(pair: Pair, estimate: float) -> Bound:
    """The bound that holds however often it is looked at; `estimate` is the difference, more being better.

    Where `x` was worse in hardly any sequence, nothing tells how much worse others are. One is then added in which it
    is as bad as can be, or a part of that: all with no worse sequence, a quarter with three, none with four.
    """
    found = contributions_of(pair)
    values, freedom = pair_sign(pair) * found.values, found.degrees_of_freedom
    if np.isnan(values).any():
        return Bound(estimate, np.nan, NOT_DEFINED_WITHOUT_ONE)
    values += estimate - values.mean()
    n, n_worse = len(values), int(is_worse(pair, found.alone).sum())
    low, text = always_valid_low(values, freedom, 1 - ONE_SIDED), None
    if n_worse < FEWEST_DIFFERING:
        text = f"worse in only {n_worse} of {n} sequences"
        if not np.isfinite(found.worst):
            return Bound(estimate, np.nan, f"{text}: too few to say how bad others may be")
        text += ", so the bound allows for worse ones that were not seen"
        added = estimate + (1 - n_worse / FEWEST_DIFFERING) * found.worst
        low = float(np.fmin(low, always_valid_low(np.append(values, added), freedom, 1 - ONE_SIDED)))
    if np.isnan(low) or low <= estimate + found.worst:  # such a bound would say nothing
        few = f"{n} sequences, which count as {freedom + 1:.1f} of equal size, are too few for an always-valid bound"
        return Bound(estimate, np.nan, "; ".join(filter(None, [few, text and text.partition(",")[0]])))
    return Bound(estimate, low, text)


def _reason(bound: Bound, margin: float) -> str:
    """Why a gate is not passed."""
    if np.isnan(bound.low):
        return bound.text or "the data do not tell"
    text = f"it may be worse by {-bound.low + 0.0:.4g}, more than the margin of {margin:.4g}"
    return f"{text}; {bound.text}" if bound.text else text


def always_valid_reach(n: np.ndarray | float, error: float) -> np.ndarray:
    """How many standard errors below the mean the bound of each count n of observations is, as an array of n's shape.

    The bound is ever above the true mean with a chance of at most `error`. Infinite where n is too small for any bound,
    below six for an error of 0.05, and up to six for one of 0.025. n may be broken: of sequences of uneven size, as
    many equal ones.
    """
    n = np.asarray(n, np.float64)
    with np.errstate(all="ignore"):
        share = PRIOR / (PRIOR + n)
        grown = arrays.exp(-arrays.log(2 * error * np.sqrt(share)) * 2 / n)
        return np.where(grown * share < 1, np.sqrt((n - 1) * (grown - 1) / (1 - grown * share)), np.inf)


def skewed_reach(reach: float, skewness: float) -> float:
    """The reach in standard errors that allows for a long tail below; never less than `reach`.

    `skewness` is k of `jackknife.py`, as large as it is: the sum of the cubes of centred values over the root of the
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
