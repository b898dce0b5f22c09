"""Bins of numbers and of times: quantile bins, or those between edges that the caller gives.

Edges are what bins are made with. Those of quantile bins of numbers are float64 arrays, whose labels `pandas.qcut`
rounds. Those that the caller gives, and those of times, are an Index, whose labels are exact. In both, a value on an
edge is in the bin below it, and one on the lowest edge in the first bin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from ..support import InputError, SliceError

if TYPE_CHECKING:
    import pandas as pd

# How a caller has a column cut: into a count of quantile bins, between edges, or not at all (its values as they are).
Bins = Union[int, Sequence[Any], "pd.Index", None]
# The same, checked.
CheckedBins = Union[int, "pd.Index", None]
Edges = Union[np.ndarray, "pd.Index"]

# More bins than this are most likely a typing mistake.
MOST_BINS = 1000

# How many equally wide bins of a share there are: those of D-ECE.
N_EQUAL = 10


def checked_bins(column: str, bins: Any) -> CheckedBins:
    """A count of bins, edges as numbers or times in an Index, or None.

    Raises InputError, which names the column, if the count is not 2 to 1000, or if edges are not two or more rising
    numbers or times.
    """
    if bins is None:
        return None
    if isinstance(bins, int | np.integer) and not isinstance(bins, bool):
        if not 2 <= bins <= MOST_BINS:
            raise InputError(f"by: {column}: {bins!r} bins are not possible; 2 to {MOST_BINS} are")
        return int(bins)
    if isinstance(bins, str | bytes) or not hasattr(bins, "__iter__"):
        needed = f"a count of bins (2 to {MOST_BINS}) or a list of edges, such as [0, 50, float('inf')], is needed"
        raise InputError(f"by: {column}: {bins!r} is neither; {needed}")
    edges = _as_edges(list(bins))
    if edges is None or len(edges) < 2 or edges.hasnans or not (edges.is_monotonic_increasing and edges.is_unique):
        needed = "two or more numbers or times are needed, each above the one before, such as [0, 50, float('inf')]"
        raise InputError(f"by: {column}: {list(bins)!r} are no edges of bins; {needed}")
    return edges


def _as_edges(given: list[Any]) -> pd.Index | None:
    """Edges as float64 numbers, as times, or as durations; None if they are nothing of these."""
    import pandas as pd

    edges = pd.Index(given)
    if pd.api.types.is_any_real_numeric_dtype(edges.dtype):
        return None if any(isinstance(edge, bool | np.bool_) for edge in given) else edges.astype(np.float64)
    if isinstance(edges, pd.DatetimeIndex | pd.TimedeltaIndex):
        return edges
    if pd.api.types.infer_dtype(edges, skipna=False) not in ("string", "date", "datetime", "timedelta"):
        return None
    try:
        return pd.to_datetime(edges, format="ISO8601")
    except (ValueError, TypeError, OverflowError):
        pass
    try:
        return pd.to_timedelta(edges)
    except (ValueError, TypeError, OverflowError):
        return None


def plain_bins(bins: CheckedBins) -> int | list[str] | None:
    """Bins as JSON can hold them."""
    return bins if bins is None or isinstance(bins, int) else [str(edge) for edge in bins]


def as_times(values: pd.Series) -> pd.Series | None:
    """A column of times, dates or durations as pandas counts them; None if it has others, or nothing but null."""
    import pandas as pd

    is_arrow = isinstance(values.dtype, pd.ArrowDtype)
    if values.dtype.kind in "mM" and not is_arrow:
        return values
    if values.dtype.kind not in ("mMO" if is_arrow else "O"):
        return None
    objects = values.astype(object)
    kind = pd.api.types.infer_dtype(objects, skipna=True)
    if kind not in ("date", "datetime", "timedelta"):
        return None
    try:
        return pd.to_timedelta(objects) if kind == "timedelta" else pd.to_datetime(objects)
    except (ValueError, TypeError, OverflowError):  # of several time zones, or beyond what pandas counts
        return None


def ordered_values(values: pd.Series) -> np.ndarray:
    """The values of a column that are not null, as finite float64, or of times as int64 in their unit.

    Raises SliceError if they are neither numbers nor times, or if one is infinite.
    """
    import pandas as pd

    times = as_times(values)
    if times is not None:
        return times.dropna().to_numpy(_counted_in(times)).view(np.int64)
    if not pd.api.types.is_any_real_numeric_dtype(values.dtype):
        raise SliceError(f"column {values.name} holds no numbers; it cannot be binned")
    numbers = values.to_numpy(np.float64, na_value=np.nan)
    if np.isinf(numbers).any():
        raise SliceError(f"column {values.name} holds infinite values; it cannot be binned")
    return numbers[~np.isnan(numbers)]


def _counted_in(times: pd.Series) -> str:
    """The type of NumPy that counts times in the unit of a column: datetime64[ns] of a column with a time zone."""
    return f"{times.dtype.kind}8[{times.dt.unit}]"


def quantile_edges(values: pd.Series, bins: int, ordered: np.ndarray | None = None) -> Edges | None:
    """The edges of quantile bins of a column, of its own values or of those that are `ordered`; None if all are equal.

    Raises SliceError as `ordered_values` does.
    """
    from .quantile_bins import bin_edges

    ordered = ordered_values(values) if ordered is None else ordered
    if not len(ordered) or ordered.min() == ordered.max():
        return None
    return edges_in_column(values, bin_edges(ordered, bins))


def edges_in_column(values: pd.Series, edges: np.ndarray) -> Edges:
    """The edges of quantile bins of a column as its times, if they are those of times; numbers as they are."""
    import pandas as pd

    times = as_times(values)
    if times is None or edges.dtype != np.int64:
        return edges
    in_unit = pd.Index(np.unique(edges).view(_counted_in(times)))
    zone = getattr(times.dt, "tz", None)
    return in_unit if zone is None else in_unit.tz_localize("UTC").tz_convert(zone)


def fitting_edges(values: pd.Series, edges: pd.Index) -> pd.Index:
    """Edges in an Index, as a column needs them: times without a zone become those of the column's zone.

    Raises SliceError if the column is of another kind than the edges; one of Python objects may be null throughout.
    """
    import pandas as pd

    if values.dtype == object and values.isna().all():
        return edges
    noun = {"f": "numbers", "M": "times", "m": "durations"}[edges.dtype.kind]
    times = as_times(values)
    is_numeric = times is None and pd.api.types.is_any_real_numeric_dtype(values.dtype)
    if not (is_numeric if noun == "numbers" else times is not None and times.dtype.kind == edges.dtype.kind):
        raise SliceError(f"column {values.name} holds no {noun}; it cannot be binned by edges that are {noun}")
    zone, given = (getattr(of.dtype, "tz", None) for of in (values if times is None else times, edges))
    if zone is None and given is not None:
        raise SliceError(f"column {values.name} has no time zone, and the edges have {given}; give edges without one")
    if zone is None or given is not None:
        return edges
    return pd.DatetimeIndex(edges).tz_localize(zone, np.ones(len(edges), bool), "shift_forward")


def in_bins(values: pd.Series, edges: Edges) -> pd.Series:
    """The bin of each value, as an ordered category of `pandas.Interval`; null for null and beyond the edges.

    Raises SliceError if the column is of another kind than edges in an Index.
    """
    import pandas as pd

    if isinstance(edges, np.ndarray):
        from .quantile_bins import binned_values

        return binned_values(values, edges)
    edges = fitting_edges(values, edges)
    known = np.flatnonzero(values.notna())
    codes = np.full(len(values), -1)
    if len(known):
        places, inside = _comparable(edges.to_series()), _comparable(values.take(known))
        codes[known] = np.where(inside == places[0], 0, np.searchsorted(places, inside, side="left") - 1)
    codes[codes > len(edges) - 2] = -1
    kind = pd.CategoricalDtype(pd.IntervalIndex.from_breaks(edges), ordered=True)
    return pd.Series(pd.Categorical.from_codes(codes, dtype=kind), values.index, name=values.name)


def equal_places(shares: np.ndarray) -> np.ndarray:
    """The equally wide bin of each number from 0 to 1; one on an edge is in the bin above it, as D-ECE has it."""
    return np.minimum(shares * N_EQUAL, N_EQUAL - 1).astype(np.int64)


def in_equal_bins(shares: np.ndarray) -> pd.Series:
    """The equally wide bins of numbers from 0 to 1, as an ordered category of `pandas.Interval`."""
    import pandas as pd

    edges = pd.IntervalIndex.from_breaks(np.arange(N_EQUAL + 1) / N_EQUAL, closed="left")
    kind = pd.CategoricalDtype(edges, ordered=True)
    return pd.Series(pd.Categorical.from_codes(equal_places(shares), dtype=kind))


def _comparable(values: pd.Series) -> np.ndarray:
    """Numbers or times without nulls, as NumPy compares them: float64, or times of UTC in any unit."""
    times = as_times(values)
    if times is None:
        return values.to_numpy(np.float64)
    zone = getattr(times.dtype, "tz", None)
    return (times if zone is None else times.dt.tz_convert(None)).to_numpy()
