"""non_inferiority() and sample_size(): whether a submission is good enough, and how many sequences tell."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..scoring.ap.result import AveragePrecision
from ..scoring.evaluations import texts_of
from ..scoring.package_metrics import add_metrics_of_packages
from ..scoring.registry import Metric
from ..support.pandas_versions import TEXT
from ..tables.arrow import as_pandas
from ..tables.kinds import CALLER, same_kind_as
from ..tables.table import Table
from .estimates import linear
from .pair_tables import Group, n_cells, pair_table
from .resampling import aligned_sums, check_metrics, metrics_of, own_among
from .submissions import submissions

# A one-sided bound at this confidence is that of a two-sided interval of twice the error.
ONE_SIDED = 0.95

# With fewer sequences no p-value is below 0.05.
FEWEST_TESTED = 6

# How often sequences are swapped where there are too many for all ways.
SWAPS = 10_000


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
    NonInferiority in recall: passed (estimate 0.1946, low 0.1436, margin 0.02)
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
        return {str(name): column.iloc[0] for name, column in as_pandas(self.table, "table").astype(object).items()}


@same_kind_as("x")
def non_inferiority(
    x: Table | NamedTuple | AveragePrecision,
    baseline: Table | NamedTuple | AveragePrecision,
    metric: str,
    margin: float,
    *,
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
    seed
        Equal seeds give equal results.

    Returns
    -------
    NonInferiority. `passed` is True where the one-sided 95% bound of the difference, counted so that more is better,
    lies above minus the margin (Schuirmann, 1987, doi:10.1007/BF01068419). The bound comes from swapping sequences, as
    in `compare`, and needs five sequences. `table` has one row: `metric`; `estimate`, the difference of x minus the
    baseline, with its sign changed where less is better; `low`, its bound; `margin`; `passed`; and `reason`, why the
    gate is not passed, otherwise null.

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
    answer, texts = inferiority(x, baseline, metric, margin, seed)
    for text in texts:
        warnings.warn(f"non_inferiority: {text}", stacklevel=CALLER)
    return answer


def inferiority(
    x: Any, baseline: Any, metric: str, margin: float, seed: int = 0, exclude: Sequence[int | str] | None = None
) -> tuple[NonInferiority, list[str]]:
    """What `non_inferiority` returns, without the sequences of `exclude`, and the texts of warnings.

    Raises what `non_inferiority` does.
    """
    if isinstance(margin, bool) or not isinstance(margin, int | float | np.number) or not margin >= 0:
        raise ValueError(f"margin is {margin!r}; a number is needed, 0 or more, in the unit of {metric}")
    add_metrics_of_packages([metric])
    group, texts = _pair(x, baseline, metric, "non_inferiority", exclude)
    entry = _metric(group, metric)
    row = pair_table([group], [metric], SWAPS, 2 * ONE_SIDED - 1, seed).iloc[0]
    sign = 1.0 if entry.higher_is_better else -1.0
    estimate, low = sign * row["estimate"], row["low"] if sign > 0 else -row["high"]
    passed = bool(low > -margin)
    reason = None if passed else _reason(estimate, low, margin, n_cells(group))
    table = pd.DataFrame(
        {
            "metric": pd.array([metric], dtype=TEXT),
            "estimate": [estimate],
            "low": [low],
            "margin": [float(margin)],
            "passed": [passed],
            "reason": pd.array([reason], dtype=TEXT),
        }
    )
    return NonInferiority(table), texts


def _metric(group: Group, metric: str) -> Metric:
    """The entry of a metric; raises ValueError if it is unknown or has no better direction."""
    evaluations = [*group.evaluations.values()]
    [name] = check_metrics([metric], evaluations)
    entry = evaluations[0].family.metrics[name]
    if entry.higher_is_better is None:
        raise ValueError(f"metric is {metric!r}, of which neither more nor less is better")
    return entry


def _pair(x: Any, baseline: Any, metric: str, function: str, exclude: Any = None) -> tuple[Group, list[str]]:
    """The submission and its baseline as a group of one pair, with the sums of a metric, and the texts of warnings."""
    sides: Mapping[str, Any] = {"x": x, "baseline": baseline}
    evaluations, _, unknown = submissions(sides, None, exclude, None, None, own_among([metric]), function)
    return Group({}, evaluations, [("x", "baseline")]), [*filter(None, [unknown]), *texts_of(evaluations)]


def _reason(estimate: float, low: float, margin: float, n_sequences: int) -> str:
    """Why a gate is not passed."""
    if np.isnan(estimate):
        return "the metric is not defined"
    if np.isnan(low) and n_sequences >= FEWEST_TESTED:
        return "nothing tells how others differ"
    if np.isnan(low):
        return f"{n_sequences} sequences are too few for a bound; five are needed"
    return f"it may be worse by {-low:.4g}, more than the margin of {margin:.4g}"


@same_kind_as("x")
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
    pilot), `n_pilot` (its sequences), and `n_sequences`, how many sequences like them make a two-sided test at 5% see
    the margin; null where the pilot does not tell.

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
    add_metrics_of_packages([metric])
    group, texts = _pair(x, x if baseline is None else baseline, metric, "sample_size")
    _metric(group, metric)
    for text in texts:
        warnings.warn(f"sample_size: {text}", stacklevel=CALLER)
    error = _standard_error(group, metric, of_one=baseline is None)
    pilot = group.evaluations["x"]
    n_pilot = int(pilot.n_sequences[0]) if pilot.in_groups else n_cells(group)
    needed = _needed(error, n_pilot, margin, power)
    row = {"margin": float(margin), "power": float(power), "standard_error": error, "n_pilot": n_pilot}
    columns: dict[str, Any] = {"metric": pd.array([metric], dtype=TEXT)} | {
        name: [value] for name, value in row.items()
    }
    return pd.DataFrame(columns | {"n_sequences": pd.array([needed], dtype="Int64")})


def _standard_error(group: Group, metric: str, of_one: bool) -> float:
    """The jackknife standard error of the difference of a pair; `of_one`: of two as variable as the first."""
    evaluations = {name: linear(of, [metric]) for name, of in group.evaluations.items()}
    family = evaluations["x"].family
    sums = aligned_sums(evaluations)
    total, n = sums.values.sum(axis=0), len(sums.values)
    if n < 2:
        return np.nan
    left = metrics_of(sums.named(total - sums.values), [metric], family)[..., 0]  # (sequences, 2)
    changes = left - metrics_of(sums.named(total), [metric], family)[:, 0]
    if family.metrics[metric].is_total:  # without a sequence it is that of n - 1
        changes = changes + left / (n - 1)
    squares = 2 * changes[:, 0] ** 2 if of_one else (changes[:, 0] - changes[:, 1]) ** 2
    return float(np.sqrt((n - 1) / n * squares.sum()))


def _needed(error: float, n_pilot: int, margin: float, power: float) -> int | None:
    """How many sequences see the margin; None where the standard error is not known."""
    from scipy.special import stdtrit  # imported here, because it is slow to import

    if not np.isfinite(error):
        return None
    needed = FEWEST_TESTED
    for _ in range(100):
        reach = stdtrit(needed - 1.0, 0.975) + stdtrit(needed - 1.0, power)
        enough = max(FEWEST_TESTED, int(np.ceil(n_pilot * (error * reach / margin) ** 2)))
        if enough <= needed:
            break
        needed = needed + max(1, (enough - needed) // 2)
    return needed
