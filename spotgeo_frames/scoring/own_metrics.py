"""metric(): the user's own metrics, which become entries of the registry beside the built-in ones.

Other installed packages add metrics, too, by entry points of the group `spotgeo_frames.metrics`: the name of an entry
point is that of the metric, and its object a dict of the other arguments of `metric()`.

An own metric has sums of its own: a number for each row of a match table, which adds up over any group of rows as the
built-in sums do. Among the sums of a table they are called METRIC.SUM, so metrics cannot take each other's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..support import InputError, first_line, packages
from ..tables import Columns, match_dataframe, messages, schema
from .registry import CURVE_METRICS, METRICS, Metric, own_metrics
from .sequence_sums import SUMS, NamedSums

if TYPE_CHECKING:
    import pandas as pd

RowSums = Callable[["pd.DataFrame"], Mapping[str, Any]]
Totals = Callable[[dict[str, np.ndarray]], Any]

# The sums that every metric may use.
BUILT_IN_SUMS = (*SUMS, "kelvins_mse", "n_sequences", "n_frames")

# Names that an own metric cannot have: columns of tables, and the metrics of tracks and of poses, which this room does
# not know.
TABLE_COLUMNS = """
    sequence frame joint object outcome distance similarity squared_error kelvins_error gospa_error category kind event
    change pair_distance pair_similarity pair_object pair_category metric estimate low high p_value p_adjusted rank
    name a b aggregate submission errors
    tau epsilon threshold score_threshold apart_from_next n_effective degrees_of_freedom
    largest_share margin passed reason power standard_error n_pilot
"""
TRACK_METRIC_NAMES = """
    HOTA DetA AssA DetRe DetPr AssRe AssPr LocA MOTA MOTP MODA IDSW Frag MT PT ML TP FN FP IDF1 IDP IDR IDTP IDFN IDFP
    OWTA HOTA(0) LocA(0) sMOTA MOTAL CLR_F1 CLR_Re CLR_Pr FP_per_frame MTR PTR MLR FragA FA-HOTA FA-RHOTA HOTALocA(0)
    RHOTA
    mota motp pre rec ap ap_pre ap_rec objects detections misses false_positives switches
    completeness ambiguity spuriousness positional_accuracy longest_track_segment rate_of_number_changes ATA SFDA IDEucl
"""
STARTS = tuple(schema.PREFIXES.values())
ENDS = ("_low", "_high", "_gain", "_corrected", "_cross_validated")


# A name in quotes, as messages have those of columns.
QUOTED = re.compile(r"""(['"])(.+?)\1""")


# The group of the entry points of packages, and what such a metric is a dict of.
GROUP = "spotgeo_frames.metrics"
ARGUMENTS = ("sums", "value", "unit", "higher_is_better")

# What comes before the list of all columns, or sums, in messages.
LISTING = "; there are "


class OwnSums(NamedTuple):
    """What own metrics add to their sums in each of N rows.

    Attributes
    ----------
    values
        Arrays (N,) by METRIC.SUM; null where that is unknown in slices.
    metrics
        The metrics whose sums these are.
    lacking
        For each of the other metrics, by name, what it asks for that the table lacks, as in `asks for the column ...`.
    """

    values: dict[str, np.ndarray]
    metrics: Sequence[str]
    lacking: Mapping[str, str]


class MissingColumn(Exception):
    """The function of an own metric asks for a column that the rows lack; its text says which."""


def metric(
    name: str, sums: RowSums | None, value: Totals | None, unit: str = "", higher_is_better: bool = True
) -> None:
    """Adds a metric of your own, which then is in summaries, intervals, comparisons, leaderboards and reports.

    The metric stays until the Python process ends. Calling again with the same name replaces it, and
    `metric(name, None, None)` takes it out. `score_dataset` and the command line do not compute own metrics. A table
    that lacks a column which `sums` asks for has no such metric: a warning says so once a call, and where the metric
    was named, as in `intervals(matches, metrics=[...])`, an error names the column.

    Parameters
    ----------
    name
        The name of the metric and of its column: letters, digits and underscores. Built-in metrics cannot be replaced.
    sums
        A function that gets the rows of a match table, N of them, as a pandas DataFrame (whatever kind of table you
        use), and returns a dict from names to arrays (N,): what each row adds to each sum, finite numbers or flags.
        Each number must follow from its own row alone, because tables are sliced and concatenated. It may use any
        column; where one is missing, it is called once more with that column null, to be sure of the cause. Return an
        empty dict if the built-in sums are enough.
    value
        A function that gets a dict of totals, arrays (G,) by name, and returns the metric for each of them, (G,): a
        formula such as `sums["fn"] / sums["n_frames"]`. The totals are those of your sums and the built-in ones: `tp`,
        `fn`, `fp`, `squared_error` (px²), `near` (distances in px, or similarities, of the TP), `near_squared`,
        `kelvins_mse`, `n_sequences` and `n_frames`. NaN and infinite values become null, so a ratio with nothing to
        divide by is null.
    unit
        The unit, such as "px", for labels; "" for none.
    higher_is_better
        Whether a higher value is better.

    Returns
    -------
    None. In slices by a column that is null on all false positives (or on all misses), nothing is known of these. There
    the metric is null if it uses a sum that counts any of them: `fp` and `squared_error` (or `fn`), or a sum of your
    own that is not 0 in all their rows.

    Raises
    ------
    InputError: the name is none, or is taken by a built-in metric or a column of tables; `sums` or `value` is no
        function; `unit` is no text or `higher_is_better` no bool; or there is no own metric to take out. Whoever
        computes the metric (`summarize` and so on) raises InputError if `sums` or `value` fails, asks for a sum that is
        not there, or returns anything but what is needed.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2, 3], "x": [10.0, 50.0, 90.0], "y": 5.0})
    >>> matches = sf.match(truth.assign(brightness=[9.0, 4.0, 2.0]), truth.head(1))
    >>> sf.metric("f2", lambda rows: {}, lambda s: 5 * s["tp"] / (5 * s["tp"] + 4 * s["fn"] + s["fp"]))
    >>> def brightness(rows):
    ...     return {"brightness": rows["truth_brightness"].where(rows["outcome"] == "FN", 0.0)}
    >>> sf.metric("missed_brightness", brightness, lambda s: s["brightness"] / s["fn"], higher_is_better=False)
    >>> sf.summarize(matches)[["recall", "f2", "missed_brightness"]].round(3)
       recall     f2  missed_brightness
    0   0.333  0.385                3.0
    >>> for name in ("f2", "missed_brightness"):
    ...     sf.metric(name, None, None)
    """
    _check_name(name)
    if sums is None and value is None:
        if name not in own_metrics():
            raise InputError(
                f"metric: there is no own metric {name} to take out; there are {messages.listed(own_metrics())}"
            )
        del METRICS[name]
        return
    arguments = [
        ("sums", sums, callable(sums), "a function of the rows of a match table is needed"),
        ("value", value, callable(value), "a function of a dict of totals is needed"),
        ("unit", unit, isinstance(unit, str), 'text is needed, "" for no unit'),
        ("higher_is_better", higher_is_better, isinstance(higher_is_better, bool), "True or False is needed"),
    ]
    wrong = [(argument, given, needed) for argument, given, good, needed in arguments if not good]
    if wrong or sums is None or value is None:
        raise InputError([f"metric: {name}: {argument} is {given!r}; {needed}" for argument, given, needed in wrong])
    METRICS[name] = Metric(
        name,
        label=name.replace("_", " "),
        formula="a metric of your own",
        value=partial(_value, name, value),
        unit=unit,
        higher_is_better=higher_is_better,
        low=-np.inf,
        sums=partial(_row_sums, name, sums),
    )


def _check_name(name: Any) -> None:
    """Raises InputError if this can be no name of an own metric."""
    if not isinstance(name, str) or not name.isidentifier():
        raise InputError(f"metric: {name!r} is no name; use letters, digits and underscores, such as 'f2'")
    if name in known_metrics() - {*own_metrics()}:
        raise InputError(f"metric: {name} is a built-in metric; give yours another name")
    if name in TABLE_COLUMNS.split() or name.startswith(STARTS) or name.endswith(ENDS):
        raise InputError(f"metric: {name} is, or may become, another column of tables; give the metric another name")


def known_metrics() -> set[str]:
    """The names of all metrics: of match tables (own ones too), average precision, tracks and poses."""
    from .ap.numbers import AP_METRICS  # imported here, because it needs the matching, and own metrics need none

    return {*METRICS, *CURVE_METRICS, *AP_METRICS, *TRACK_METRIC_NAMES.split()}


def own_row_sums(table: Columns, names: Iterable[str], unknown: Collection[int]) -> OwnSums:
    """What each row of a match table adds to the sums of the named own metrics.

    Metrics are left out that ask for a column which the table lacks. Sums that count any row of an `unknown` outcome
    are null throughout. Raises InputError if a function of the user's fails for another reason, or returns anything but
    finite numbers, one for each row.
    """
    answer: dict[str, np.ndarray] = {}
    lacking: dict[str, str] = {}
    names = [name for name in names if METRICS[name].sums is not None]
    for name in names:
        compute = METRICS[name].sums
        try:
            answer |= {} if compute is None else compute(match_dataframe(table))
        except MissingColumn as error:
            lacking[name] = str(error)
    for outcome in unknown:
        rows = np.flatnonzero(table["outcome"] == outcome)
        answer |= {key: np.full(len(values), np.nan) for key, values in answer.items() if values[rows].any()}
    return OwnSums(answer, tuple(name for name in names if name not in lacking), lacking)


def check_none_lacking(names: Iterable[str], lacking: Mapping[str, str]) -> None:
    """Raises InputError if one of these metrics, which the caller named, asks for a column that the table lacks."""
    problems = [f"metric {name}: sums {lacking[name]}" for name in names if name in lacking]
    if problems:
        raise InputError(problems)


def lacking_text(lacking: Iterable[Mapping[str, str]]) -> str | None:
    """The text of a warning of own metrics that nobody named and that some tables lack a column for, or None."""
    # The list of all columns is for whoever asked for the metric.
    wanted = dict.fromkeys(
        (name, text.partition(LISTING)[0]) for of_table in lacking for name, text in of_table.items()
    )
    return "; ".join(f"metric {name} is left out: it {text}" for name, text in wanted) or None


def _row_sums(name: str, function: RowSums, rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """The checked answer of the user's `sums`, by METRIC.SUM."""
    from ..support import pandas_tables

    place = f"metric {name}: sums"
    try:
        answer = function(pandas_tables.own_copy(rows))  # what it does to its rows must not reach the user's table
    except Exception as error:
        column = _missing_column(error, function, rows)
        if column is not None:
            raise MissingColumn(_asks_for("column", column, rows.columns)) from error
        raise _failure(place, error) from error
    if not isinstance(answer, Mapping):
        raise InputError(f"{place} returned a {type(answer).__name__}; a dict from names to arrays is needed")
    wrong = [key for key in answer if not isinstance(key, str) or key in BUILT_IN_SUMS]
    if wrong:
        problem = "is a sum that every metric has; give yours another name"
        raise InputError(f"{place}: {wrong[0]!r} {problem if isinstance(wrong[0], str) else 'is no name; use text'}")
    return {f"{name}.{key}": _row_numbers(f"{place}: {key}", values, rows) for key, values in answer.items()}


def _row_numbers(place: str, values: Any, rows: pd.DataFrame) -> np.ndarray:
    """What each row adds to a sum, as float64; raises InputError unless it is a finite number for each row."""
    import pandas as pd
    from pandas.api.types import is_any_real_numeric_dtype, is_bool_dtype

    needed = f"one number for each of the {len(rows):,} rows is needed"
    if _shape(values) != (len(rows),):
        raise InputError(f"{place} has the shape {_shape(values)}; {needed}")
    if isinstance(values, pd.Series) and not values.index.equals(rows.index):
        raise InputError(f"{place} is a Series whose index is not that of the rows; keep their order and index")
    series = pd.Series(values)
    if len(rows) and not (is_any_real_numeric_dtype(series.dtype) or is_bool_dtype(series.dtype)):
        raise InputError(f"{place} is of type {series.dtype}; {needed}")
    numbers = series.to_numpy(np.float64, na_value=np.nan)
    bad = ~np.isfinite(numbers)
    if bad.any():
        keys = messages.first_keys(
            rows, bad, [*schema.FRAME_KEY, "joint", "outcome", "truth_object", "predicted_object"]
        )
        problem = f"{messages.counted(int(bad.sum()), 'row')} not finite; give 0 where a row does not count"
        raise InputError(f"{place}: {problem}: row {int(np.argmax(bad))} first ({keys})")
    return numbers


def _value(name: str, function: Totals, sums: NamedSums) -> np.ndarray:
    """The metric of sums (arrays of one shape), checked; null where it is not finite, or uses a sum that is unknown."""
    place, shape = f"metric {name}: value", np.shape(sums["tp"])
    # Copies, one-dimensional, so that the function may change them and needs no care for shapes.
    totals = {
        key.removeprefix(f"{name}."): np.array(rows, np.float64).ravel()
        for key, rows in sums.items()
        if "." not in key or key.startswith(f"{name}.")
    }
    unknown = [key for key, rows in totals.items() if len(rows) and np.isnan(rows).all()]
    known = {key: rows for key, rows in totals.items() if key not in unknown}
    n_totals = len(totals["tp"])
    try:
        with np.errstate(all="ignore"):
            answer = function(known)
    except KeyError as error:
        wanted = error.args[0] if error.args else None
        if wanted in unknown:
            return np.full(shape, np.nan)
        if isinstance(wanted, str) and wanted not in totals:
            raise InputError(f"{place} {_asks_for('sum', wanted, totals)}") from error
        raise _failure(place, error) from error
    except Exception as error:
        raise _failure(place, error) from error
    if _shape(answer) != (n_totals,):
        problem = f"one number for each of the {n_totals:,} totals is needed"
        raise InputError(f"{place} returned the shape {_shape(answer)}; {problem}")
    values = np.asarray(answer)
    if values.dtype.kind not in "buif":
        raise InputError(f"{place} returned values of type {values.dtype}; numbers are needed, NaN where undefined")
    numbers = values.astype(np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan).reshape(shape)


def _shape(values: Any) -> tuple[int | None, ...]:
    """The shape of an array, a Series or a list; () for a single value. Lists of unequal lengths have none."""
    try:
        return np.shape(values)
    except ValueError:
        return len(values), None


def _missing_column(error: Exception, function: RowSums, rows: pd.DataFrame) -> str | None:
    """The column that the rows lack and a function of the user's failed for; None if it failed for another reason.

    A key of a dict of the function's own fails in the same words, so the function is called once more, with the column:
    if it then fails for the same name, that is no column.
    """
    from ..support import pandas_tables

    for name in _names_in(error):
        if name in rows:
            continue
        try:
            function(pandas_tables.own_copy(rows).assign(**{name: np.nan}))
        except Exception as again:
            if name in _names_in(again):
                continue
        return name
    return None


def _names_in(error: Exception) -> list[str]:
    """The names that an error may be about: the missing key, and what its message has in quotes."""
    texts = [text for text in error.args if isinstance(text, str)] or [str(error)]
    quoted = [name for text in texts for _, name in QUOTED.findall(text)]
    return list(dict.fromkeys([*quoted, *(texts if isinstance(error, KeyError) else [])]))


def _asks_for(noun: str, wanted: str, known: Iterable[Any]) -> str:
    """What is said of a function that asks for a column or a sum that is not there."""
    import difflib

    names = [str(name) for name in known]
    near = difflib.get_close_matches(wanted, names, cutoff=0.75)
    hint = f"; did you mean {' or '.join(near)}?" if near else f"{LISTING}{messages.listed(names)}"
    return f"asks for the {noun} {wanted!r}, which is not there{hint}"


def _failure(place: str, error: Exception) -> InputError:
    """The error for a function of the user's that failed."""
    return InputError(f"{place} failed: {type(error).__name__}: {first_line(error)}")


def add_named_metrics(names: Iterable[Any]) -> None:
    """Adds those of the named metrics that are not known yet: `add_metrics` has them, or an installed package.

    Raises InputError, naming the package, if it is not right; a name that nobody has is left to the caller.
    """
    from . import field_metrics  # imported here, because it is made of own metrics

    known = known_metrics()
    for name in names:
        if isinstance(name, str) and name.isidentifier() and name not in known:
            add = field_metrics.add_metrics if field_metrics.is_known(name) else _add_of_package
            add(name)


def _add_of_package(name: str) -> None:
    """Adds the metric of this name if a package has it."""
    added = packages.entry_point(GROUP, name)
    if added is None:
        return
    place = f"package {added.package}: {GROUP}: {name}"
    given = added.value
    if not isinstance(given, Mapping) or not {"sums", "value"} <= given.keys() <= {*ARGUMENTS}:
        raise InputError(f"{place} has to be a dict of the arguments of metric(): {', '.join(ARGUMENTS)}")
    try:
        metric(name, **given)
    except InputError as error:
        raise InputError([f"package {added.package}: {problem}" for problem in error.problems]) from None
    except Exception as error:
        raise packages.package_failure(added.package, f"{GROUP}: {name}", error) from error
