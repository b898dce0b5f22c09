"""sample_size(): how many sequences are needed to see a difference.

A pilot knows its own standard error only roughly, so half of all plans that take it as it is are too small. The plan
takes the upper bound of the variance instead (after Browne, 1995, Statistics in Medicine 14, 1933-1940, and Kieser and
Wassmer, 1996, Biometrical Journal 38, 941-949): s² v / chi²(v), with the degrees of freedom v that match the variance
of s², from the fourth powers of what the sequences contribute.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...scoring import AveragePrecision, own_metrics
from ...support import pandas_tables, special_functions
from ...tables import Table, table_kinds
from .contributions import FEWEST_DIFFERING, Contributions, Pair, contributions_of, pair_of
from .pair_tables import n_units
from .reasons import NOT_DEFINED, NOT_DEFINED_WITHOUT_ONE, OF_ONE
from .resampling import BLUR
from .submissions import same_rows

# With fewer sequences no p-value is below 0.05.
FEWEST_TESTED = 6

# The share of pilots whose plan would be too small if contributions were normal; it leaves room for those that are not,
# so that no more than one plan in five is, as benchmarks/gates.py simulates.
TOO_SMALL = 0.08

# The share of pilots whose range may end too low, and begin too high. The latter is small, because a few sequences that
# differ are most often seen where there are more of them than usual: in simulations, 4% begin too high at worst.
ENDS_TOO_LOW, BEGINS_TOO_HIGH = 0.01, 0.001

# Plans are given up to this many sequences.
MOST_PLANNED = 10**12


class Pilot(NamedTuple):
    """What a pilot tells of the standard error.

    Attributes
    ----------
    values
        What its sequences contribute to the difference, (n,).
    error
        The standard error of the difference.
    n_sequences
        How many sequences it has.
    degrees_of_freedom
        Those of the standard error if sequences differed by chance alike.
    """

    values: np.ndarray
    error: float
    n_sequences: int
    degrees_of_freedom: float


@table_kinds.same_kind_as("x")
def sample_size(
    x: Table | NamedTuple | AveragePrecision,
    metric: str,
    margin: float,
    baseline: Table | NamedTuple | AveragePrecision | None = None,
    power: float = 0.8,
) -> pd.DataFrame:
    """Plans how many sequences are needed to see a difference, from a pilot.

    Parameters
    ----------
    x
        The pilot: a match table, or what `track`, `pose` or `average_precision` returned.
    metric
        The metric, such as "f1".
    margin
        The difference to be seen, in the unit of the metric; above 0.
    baseline
        The pilot of the other detector on the same truth. Without it, both are taken for independent of each other and
        as variable as `x`, which asks for more sequences than are needed where both find the same sequences hard.
    power
        The chance to see the difference if it is there, between 0 and 1.

    Returns
    -------
    DataFrame of the kind of `x` with one row: `metric`, `margin`, `power`, `standard_error` (of the difference in the
    pilot), `n_pilot` (its sequences), and `n_sequences`, how many such sequences a two-sided test at 5% needs to see
    the margin with this power. A pilot knows its standard error only roughly; in four of five pilots and more,
    `n_sequences` is enough. What is really needed lies between `n_sequences_low` and `n_sequences_high` (in 94% and
    more of simulated pilots). All three are null where the pilot does not tell, and `reason` says why: where fewer than
    four sequences differ, for instance.

    Raises
    ------
    InputError: `x` or `baseline` is no match table, or they have different truths or rules.
    ValueError: an unknown metric, a margin that is not above 0, or `power` not between 0 and 1.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_spotgeo("data/sample/truth.json")
    >>> new, old = (sf.match(truth, sf.read_spotgeo(f"data/sample/{name}.json")) for name in ("eager", "cautious"))
    >>> sf.sample_size(new, "f1", margin=0.02, baseline=old)[["metric", "n_pilot"]]
      metric  n_pilot
    0     f1       60
    """
    if isinstance(margin, bool) or not isinstance(margin, int | float | np.number) or not margin > 0:
        raise ValueError(f"margin is {margin!r}; a number above 0 is needed, in the unit of {metric}")
    if isinstance(power, bool) or not isinstance(power, float | np.number) or not 0 < power < 1:
        raise ValueError(f"power is {power!r}; a share between 0 and 1 is needed")
    own_metrics.add_named_metrics([metric])
    pair = pair_of(x, x if baseline is None else baseline, metric, "sample_size")
    for text in pair.texts:
        warnings.warn(f"sample_size: {text}", stacklevel=table_kinds.CALLER)
    found = contributions_of(pair)
    pilot = _pilot(pair, found, of_one=baseline is None)
    is_same = baseline is not None and found.estimate == 0 and same_rows(x, baseline)
    reason = _why_none(pilot, found, is_same=is_same, of_one=baseline is None)
    planned = [None] * 3 if reason else [_needed(pilot, ratio, margin, power) for ratio in _ratios(pilot)]
    if None in planned and not reason:
        reason = f"more than {MOST_PLANNED:,} sequences"
        planned = [None] * 3
    row = {"margin": float(margin), "power": float(power), "standard_error": pilot.error, "n_pilot": pilot.n_sequences}
    columns: dict[str, Any] = {"metric": pd.array([metric], dtype=pandas_tables.TEXT)} | {
        name: [value] for name, value in row.items()
    }
    names = ["n_sequences", "n_sequences_low", "n_sequences_high"]
    columns |= {name: pd.array([n], dtype="Int64") for name, n in zip(names, planned, strict=True)}
    return pd.DataFrame(columns | {"reason": pd.array([reason], dtype=pandas_tables.TEXT)})


def _pilot(pair: Pair, found: Contributions, *, of_one: bool) -> Pilot:
    """The pilot of a pair; `of_one`: of two submissions as variable as the first."""
    values = np.sqrt(2) * found.of_sides[:, 0] if of_one else found.values
    n = len(values)
    error = float(np.sqrt((values**2).sum() / (n * (n - 1)))) if n > 1 else np.nan
    sums = pair.group.sums["x"]
    n_sequences = int(sums.n_sequences[0]) if sums.in_groups else n_units(pair.group)
    return Pilot(values, error, n_sequences, found.degrees_of_freedom)


def _why_none(pilot: Pilot, found: Contributions, *, is_same: bool, of_one: bool) -> str | None:
    """Why the pilot does not tell how many sequences are needed; None where it does."""
    n, n_differ = len(pilot.values), int((_unlike(found.alone[:, 0]) if of_one else found.differ).sum())
    if np.isnan(found.estimate):
        return NOT_DEFINED
    if is_same:
        return "both have the same rows, so there is no difference to see"
    if n < 2:
        return OF_ONE
    if np.isnan(pilot.error):
        return NOT_DEFINED_WITHOUT_ONE
    if n_differ < FEWEST_DIFFERING:
        return f"only {n_differ} of {n} sequences differ: too few to say how others do"
    return None


def _unlike(alone: np.ndarray) -> np.ndarray:
    """Whether the metric of each sequence by itself is known and unlike the most frequent value."""
    known = ~np.isnan(alone)
    values, counts = np.unique(alone[known].round(12), return_counts=True)
    return known & ~np.isclose(alone, values[counts.argmax()], rtol=BLUR, atol=0) if len(values) else known


def _ratios(pilot: Pilot) -> tuple[float, float, float]:
    """How many times as large as in the pilot the variance is taken to plan with, and may be at least and at most."""
    special = special_functions()
    squares, n = pilot.values**2, len(pilot.values)
    spread = (squares**2).sum() - squares.sum() ** 2 / n
    rests_on = 2 * squares.sum() ** 2 / spread if spread > 0 else np.inf
    freedom = min(rests_on, pilot.degrees_of_freedom)
    # Where few sequences differ, tests see the difference with fewer sequences than if all did by chance alike.
    at_least = min(rests_on / 2, pilot.degrees_of_freedom)
    planned, most = (freedom / special.chdtri(freedom, 1 - share) for share in (TOO_SMALL, ENDS_TOO_LOW))
    return float(planned), float(at_least / special.chdtri(at_least, BEGINS_TOO_HIGH)), float(most)


def _needed(pilot: Pilot, ratio: float, margin: float, power: float) -> int | None:
    """How many sequences see the margin if the variance is `ratio` times the pilot's; None where they are too many."""
    special = special_functions()
    variance = ratio * pilot.n_sequences * pilot.error**2
    even = (pilot.degrees_of_freedom + 1) / len(pilot.values)  # the count of equal sequences that one counts as

    def is_enough(n: int) -> bool:
        freedom = max(even * n - 1, 1.0)
        reach = max(special.stdtrit(freedom, 0.975) + special.stdtrit(freedom, power), 0.0)
        return bool(variance * (reach / margin) ** 2 <= n)

    few, many = FEWEST_TESTED - 1, FEWEST_TESTED
    while not is_enough(many):
        few, many = many, 2 * many
        if many > MOST_PLANNED:
            return None
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if is_enough(middle) else (middle, many)
    return many
