"""The rows of tables that plots and charts draw, and what both refuse. Messages begin with who draws.

The tables of several submissions are put together as one, with a column `submission`.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from ...geometries import centres, offsets, with_places
from ...matching import Rule, noted_rule
from ...scoring import AveragePrecision, match_tables, protocol_entries, registry, row_counts, sequence_sums
from ...support import InputError, bins_as_text, label, pandas_tables
from ...tables import Table, TableKind, arrow, check_coordinates, checks, messages, schema, table_kinds
from .wording import unit_of_distances

Who = Literal["plots", "charts"]

# The rows of costs that are of several kinds together.
TOGETHER = ("all", "all_misses", "all_false_alarms")

# The rows of results that have intervals.
WITH_INTERVALS = ("combined", "macro")

# The metrics over alpha that are drawn.
HOTA_PARTS = ["HOTA", "DetA", "AssA", "LocA"]

# The thresholds of the similarity whose precision over recall is drawn.
THRESHOLDS = (0.5, 0.75)

# Of average precision, the match table at this threshold is shown frame by frame, if it has one.
THRESHOLD = 0.5

# The most bins along an axis, and the most frames of a gallery: more are no picture, and may take all memory.
MOST = 1_000


class Estimates(NamedTuple):
    """The rows of a metric in a table of intervals, the columns that name its slices, and the metric."""

    rows: pd.DataFrame
    by: list[str]
    metric: str


class Curve(NamedTuple):
    """A table of a sweep, the metric that it is about, and the column whose values have a line each, if any."""

    table: pd.DataFrame
    metric: str
    limit: str | None
    unit: str


def matches_to_draw(matches: Table | Mapping[str, Table], who: Who, stacklevel: int) -> pd.DataFrame:
    """The match table to draw, checked; those of several submissions by their names become one.

    Warns if it has rows twice in one submission.
    """
    if isinstance(matches, Mapping):
        check_any(matches, "matches", "match tables", who)
        return together({str(name): matches_to_draw(of, who, stacklevel + 2) for name, of in matches.items()})
    table = checks.check_matches(matches)
    row_counts.warn_of_doubled(table, who, stacklevel + 1)
    return table


def given_matches(x: Any, name: str) -> tuple[pd.DataFrame, TableKind]:
    """The match table of a table or of a result, and the kind that it was given as; messages call it `name`.

    Of average precision, it is that at a threshold of 0.5, or at its first one.
    """
    if isinstance(x, AveragePrecision):
        threshold = THRESHOLD if THRESHOLD in x.thresholds else x.thresholds[0]
        return match_tables(x.matched, [threshold]), x.kind
    given = x.matches if sequence_sums.is_result(x) else x
    table = arrow.as_pandas(given, name)
    return pandas_tables.own_copy(table) if table is given else table, table_kinds.kind_of(given)


def places_to_draw(matches: Table | Mapping[str, Table], who: Who, stacklevel: int, axes: Any = None) -> pd.DataFrame:
    """The same with the places of its rows, of points in space along two `axes`."""
    return with_places(matches_to_draw(matches, who, stacklevel + 1), axes, who)


def table_to_draw(
    given: Any, name: str, columns: Sequence[str], needed: str, field: str = "", who: Who = "plots"
) -> pd.DataFrame:
    """The table to draw, checked for these columns; those of several submissions by their names become one.

    Messages say which one is `needed`. `field` is the field of results that has it, if any. Raises InputError if
    another object is given, such as the whole result, or if columns are missing.
    """
    if isinstance(given, Mapping):
        check_any(given, name, needed, who)
        return together({str(of): table_to_draw(given[of], str(of), columns, needed, field, who) for of in given})
    if hasattr(type(given), "_asdict"):
        is_there = hasattr(given, field) and {*columns} <= {*arrow.as_pandas(getattr(given, field), name).columns}
        raise InputError(f"{who}: {name} is {described(given)}; give {f'its field {field}' if is_there else needed}")
    table = arrow.as_pandas(given, name)
    check_columns(table, columns, needed, who)
    return table


def check_any(given: Mapping[Any, Any], name: str, needed: str, who: Who) -> None:
    """Raises InputError if a dict has no table."""
    if not given:
        raise InputError(f"{who}: {name}: there are no submissions; give {needed} of one or more")


def check_one_submission(table: pd.DataFrame, name: str, how: str) -> None:
    """Raises InputError if a table that a plot draws of one submission is of several; `how` says what to do."""
    if (n := row_counts.count_of_submissions(table)) > 1:
        raise InputError(f"plots: {name} draws one submission, and there are {n}; {how}")


def check_columns(table: pd.DataFrame, names: Sequence[str], needed: str, who: Who = "plots") -> None:
    """Raises InputError, saying which table is needed, if columns are missing."""
    missing = [name for name in names if name not in table]
    if missing:
        raise InputError([f"{who}: column {name} is missing; pass {needed}" for name in missing])


def count_to_draw(count: Any, name: str, who: Who) -> int:
    """A count of bins or of frames, called `name`; raises InputError if it is no whole number from 1 to MOST."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= MOST:
        raise InputError(f"{who}: {name} is {count!r}; a whole number from 1 to {MOST:,} is needed")
    return int(count)


def names_of_rows(table: pd.DataFrame, who: str) -> pd.Series:
    """The name of each row's submission as text; raises InputError, which begins with `who`, if one is null."""
    if n_null := int(table["submission"].isna().sum()):
        raise InputError(f"{who}: column submission: {messages.counted(n_null, 'row')} null; name each submission")
    return table["submission"].map(label).astype(object)


def of_each(table: pd.DataFrame, who: Who) -> dict[str, pd.DataFrame]:
    """The rows of each submission by its name; of a table of one, all under an empty name."""
    if "submission" not in table:
        return {"": table}
    of = names_of_rows(table, who)
    return {str(name): table[of == name] for name in dict.fromkeys(of)}


def check_offsets(matches: pd.DataFrame, who: Who) -> None:
    """Raises InputError if a match table lacks the coordinates of truths or of predictions."""
    plain = [prefix for prefix in schema.SIDE_PREFIXES if schema.geometry_name(matches, prefix) is None]
    columns = [f"{prefix}{axis}" for prefix in plain for axis in "xy"]
    check_columns(matches, columns, "a match table with coordinates", who)


def described(given: Any) -> str:
    """What was given, for messages."""
    kind = type(given).__name__
    return f"{given!r}, of type {kind}" if isinstance(given, str | int | float) else f"of type {kind}"


def intervals_to_draw(intervals: Table | Mapping[str, Table], metric: str | None, who: Who) -> Estimates:
    """The rows of a metric in the table that `intervals` returned, or in those of several submissions by their names.

    Those of its first metric without one.
    """
    columns, needed = ["metric", "estimate", "low", "high"], "the table that intervals() returned"
    table = table_to_draw(intervals, "intervals", columns, needed, who=who)
    metric = _metric_to_draw(table, metric)
    rows = table[table["metric"] == metric]
    by = list(table.columns[: list(table.columns).index("metric")])
    if "aggregate" in by:  # of results; numbers without a sequence have no intervals
        rows = rows[rows["aggregate"].isin(WITH_INTERVALS)]
        by = by if len(rows["aggregate"].unique()) > 1 else [name for name in by if name != "aggregate"]
    return Estimates(rows, by, metric)


def slice_names(rows: pd.DataFrame, by: Sequence[str]) -> list[str]:
    """The name of the slice of each row: its values in the columns `by`, or "all" without any."""
    if not by:
        return ["all"] * len(rows)
    values = bins_as_text(rows[list(by)]).itertuples(index=False, name=None)
    return [", ".join(map(label, of_row)) for of_row in values]


def costs_to_draw(costs: Table | Mapping[str, Table], who: Who) -> tuple[pd.DataFrame, str]:
    """The kinds of error of the table that `error_costs` returned, and the metric whose gain is drawn."""
    needed = "the table that error_costs() returned"
    table = table_to_draw(costs, "costs", [], needed, who=who)
    metric = next((name for name in ("HOTA", "AP") if f"{name}_gain" in table), "f1")
    check_columns(table, ["kind", "n_misses", "n_false_alarms", f"{metric}_gain"], needed, who)
    return table[~table["kind"].isin(TOGETHER)], metric


def sweep_to_draw(curve: Table | Mapping[str, Table], who: Who) -> Curve:
    """The table `curve` that `sweep` returned."""
    needed = "the curve that sweep() returned"
    table = table_to_draw(curve, "curve", ["score_threshold", "precision", "recall", "f1"], needed, "curve", who)
    if "HOTA" in table and "tau" not in table:
        return Curve(table, "HOTA", None, "")
    limit, unit = ("threshold", "") if "threshold" in table else ("tau", unit_of_distances(table.attrs.get("unit")))
    check_columns(table, [limit], needed, who)
    return Curve(table, "HOTA" if "HOTA" in table else "f1", limit, f" {unit}".rstrip())


def best_of(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The row of the highest metric; of several equal ones, the last; no row if it is null everywhere."""
    if not rows[metric].notna().any():
        return rows.head(0)
    place = len(rows) - 1 - int(rows[metric][::-1].argmax())
    return rows.iloc[[place]]


def pairs_to_draw(pairs: Table | Mapping[str, Table], metric: str | None, who: Who) -> tuple[pd.DataFrame, str]:
    """The rows of a metric in the table `pairs` that `compare` returned, as far as they have intervals, and the metric.

    It is the first one of the table without one.
    """
    columns = ["a", "b", "metric", "estimate", "low", "high", "p_adjusted"]
    table = table_to_draw(pairs, "pairs", columns, "the pairs that compare() returned", "pairs", who)
    metric = _metric_to_draw(table, metric)
    rows = table[table["metric"] == metric]
    return rows[rows["aggregate"].isin(WITH_INTERVALS)] if "aggregate" in rows else rows, metric


def pair_names(pairs: pd.DataFrame) -> list[str]:
    """The name of each pair: its submissions, which mean is compared, and the slice, if there are any."""
    by = [name for name in map(str, pairs.columns[: list(pairs.columns).index("a")]) if name != "submission"]
    slices = [f", {name}" for name in slice_names(pairs, by)] if by else [""] * len(pairs)
    sides = (pairs[side].map(label) for side in "ab")
    return [f"{a} − {b}{of}{where}" for a, b, of, where in zip(*sides, mean_names(pairs), slices, strict=True)]


def mean_names(pairs: pd.DataFrame) -> list[str]:
    """What follows the names of each pair: ", macro" where it compares macro means, else nothing."""
    of = pairs["aggregate"] if "aggregate" in pairs else ["combined"] * len(pairs)
    return [", macro" if name == "macro" else "" for name in of]


def _metric_to_draw(table: pd.DataFrame, metric: str | None) -> str:
    """The metric that was asked for, or else the first one of a table with a column `metric`."""
    if metric is not None:
        return metric
    return str(table["metric"].iloc[0]) if len(table) else "any metric"


def hota_to_draw(curve: Table | Mapping[str, Table], who: Who) -> pd.DataFrame:
    """The combined rows of the table `curve` that `track` or `pose` returned: of all sequences, joints and classes.

    Slices by condition are called submissions, since they have a line each, too.
    """
    needed = "the curve that track() or pose() returned"
    table = table_to_draw(curve, "curve", ["sequence", "alpha", *HOTA_PARTS], needed, "curve", who)
    rows = table[table["sequence"].isna()]
    rows = rows[rows["joint"].isna()] if "joint" in rows else rows
    conditions = [name for name in map(str, rows) if name.startswith((*schema.PREFIXES.values(),))]
    if conditions:
        by = [name for name in ("submission", *conditions) if name in rows]
        names = slice_names(rows, by)
        rows = rows.assign(submission=pd.Categorical(names, categories=list(dict.fromkeys(names))))
    key = [name for name in ("submission", "alpha") if name in rows]
    return rows.drop_duplicates(key, keep="last")  # combined rows of classes come before that of all


def precision_to_draw(curve: Table | Mapping[str, Table], who: Who) -> pd.DataFrame:
    """The rows of the table `curve` of average precision that are of objects of all areas and of a truth."""
    columns = ["category", "area", "threshold", "recall", "precision"]
    needed = "the curve of what average_precision() returned"
    table = table_to_draw(curve, "curve", columns, needed, "curve", who)
    return table[(table["area"] == "all") & table["precision"].notna()]


def averages_points(notes: Mapping[Hashable, Any]) -> bool:
    """Whether average precision is the mean over the recall points of a curve with these notes, by its protocol."""
    entry = protocol_entries.PROTOCOLS[notes.get("protocol", "coco")]
    changed = {"interpolation", "min_recall", "min_precision"} & {*notes.get("fields", {})}
    return entry.averages_points and not changed


def mean_lines(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """Precision by recall as means over categories: at two thresholds, as far as there are these, and of all."""
    there = np.sort(rows["threshold"].unique())
    drawn = THRESHOLDS if len(there) > 1 else there
    named = {f"threshold {threshold:.2f}": rows[np.isclose(rows["threshold"], threshold)] for threshold in drawn}
    named = {name: of for name, of in named.items() if len(of)}
    if len(there) > 1:
        named[f"mean of {there[0]:.2f} {'to' if len(there) > 2 else 'and'} {there[-1]:.2f}"] = rows
    return {name: of.groupby("recall")["precision"].mean() for name, of in named.items()}


def category_lines(rows: pd.DataFrame, threshold: float, who: Who) -> dict[str, pd.Series]:
    """Precision by recall of each category at a threshold, that with the lowest average precision first.

    Raises InputError if there is no such threshold.
    """
    is_number = isinstance(threshold, int | float | np.number) and not isinstance(threshold, bool)
    chosen = rows[np.isclose(rows["threshold"], threshold if is_number else np.nan)]
    if not len(chosen):
        there = ", ".join(f"{value:.2f}" for value in rows["threshold"].unique())
        raise InputError(f"{who}: the curve has no threshold {threshold!r}; there are {there}")
    lines = {
        "all" if pd.isna(name) else label(name): of.set_index("recall")["precision"]
        for name, of in chosen.groupby("category", observed=True, sort=False, dropna=False)
    }
    return dict(sorted(lines.items(), key=lambda item: item[1].mean()))


def together(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Concatenates the tables of submissions, with `submission` as the first column."""
    names = list(tables)
    if twice := [name for name, table in tables.items() if "submission" in table]:
        raise InputError(
            f"{twice[0]}: the table has a column submission already, so it needs no name; give it as it is"
        )
    # A column may be numeric in one submission and text in another; then it becomes text.
    mixed = [
        column
        for column in dict.fromkeys(str(column) for table in tables.values() for column in table)
        if len({table[column].dtype for table in tables.values() if column in table}) > 1
    ]
    parts = [
        table.assign(**{column: table[column].astype(pandas_tables.TEXT) for column in mixed if column in table})
        for table in tables.values()
    ]
    answer = pd.concat(parts, ignore_index=True)
    codes = np.arange(len(names)).repeat([len(part) for part in parts])
    named = pd.Categorical.from_codes(codes, categories=pd.Index(names, dtype=pandas_tables.TEXT))
    answer.insert(0, "submission", pd.Series(named, index=answer.index))
    answer.attrs = noted_rule.shared_notes(next(iter(tables.values())))
    return answer


class RecallGrid(NamedTuple):
    """Counts in the cells of a grid over the image.

    Attributes
    ----------
    x_edges, y_edges
        The edges of the columns and of the rows (px), (columns + 1,) and (rows + 1,).
    n_truth, n_found
        The count of truths in each cell, and of those that are found, (columns, rows).
    """

    x_edges: np.ndarray
    y_edges: np.ndarray
    n_truth: np.ndarray
    n_found: np.ndarray

    @property
    def recall(self) -> np.ndarray:
        """The share of truths that are found, (columns, rows); null where there is no truth."""
        return registry.values_of({"tp": self.n_found, "fn": self.n_truth - self.n_found}, ["recall"])["recall"]


def recall_grid(table: pd.DataFrame, columns: int) -> RecallGrid | None:
    """Counts the truths of a checked match table in a grid of square cells, `columns` wide; None without truths.

    Boxes count where their centres are. Truths with null or infinite coordinates have no place, so they do not count.
    Raises InputError where the table has no coordinates of truths (`truth_x`, `truth_y`).
    """
    check_coordinates(table, ["truth"])
    outcome = table["outcome"].array.codes
    x, y = centres(table, schema.PREFIXES["truth"])
    rows = np.isin(outcome, [schema.TP, schema.FN]) & np.isfinite(x) & np.isfinite(y)
    x, y = x[rows], y[rows]
    if not len(x):
        return None
    width, height = max(np.ptp(x), 1e-9), max(np.ptp(y), 1e-9)
    n_rows = int(np.clip(round(columns * height / width), 1, 4 * columns))
    n_truth, x_edges, y_edges = np.histogram2d(x, y, bins=[columns, n_rows])
    found = outcome[rows] == schema.TP
    n_found, _, _ = np.histogram2d(x[found], y[found], bins=[x_edges, y_edges])
    return RecallGrid(x_edges, y_edges, n_truth, n_found)


def offset_reach(matches: pd.DataFrame, rule: Rule) -> float:
    """How far predicted minus true coordinates are drawn: tau (px), or the farthest where a caller's distance measures.

    The rule is by distance.
    """
    if not rule.named_distance:
        return rule.largest_cost
    dx, dy = offsets(matches)
    return float(np.nanmax(np.abs([dx, dy]), initial=0.0)) or 1.0
