"""sums() and combine(): what an evaluation adds up to as a small table that any engine can carry, and its metrics.

A table of sums has one row a sequence. Rows of different sequences, wherever they were made, make up one evaluation.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..scoring import (
    Sums,
    match_sums,
    one_sided,
    own_metrics,
    point_sets,
    registry,
    row_counts,
    sequence_sums,
    summary_of,
)
from ..support import InputError, bins_as_categories, pandas_tables
from ..tables import (
    By,
    Columns,
    Table,
    array_of,
    arrow,
    as_numbers,
    checks,
    columns_of,
    dataframe_of,
    messages,
    rows_with_null,
    schema,
    selections,
    table_kinds,
)
from ..tracking import (
    KEYS,
    ROWS_TOGETHER,
    PoseResult,
    TrackResult,
    columns_by,
    slice_columns,
    sums_among,
    sums_of_poses,
    sums_of_tracks,
    track_sums,
    track_tables,
    whole_poses,
    whole_tracks,
)
from .made_with import MADE_WITH, MadeWith, made_with, marked, noted_made_with, one_way

COUNTS = ["tp", "fn", "fp", "n_frames"]

# The sums of a match table, besides those of own metrics. Errors are there after matching by distance only.
OF_ERRORS = ["squared_error", "kelvins_error"]
BY_SIMILARITY = [*(name for name in sequence_sums.SUMS if name not in OF_ERRORS), "n_frames"]
OF_MATCHES = {"distance": [*BY_SIMILARITY, *OF_ERRORS], "similarity": BY_SIMILARITY}
# They are there only after matching with assignment="least".
OF_FRAMES = point_sets.POINT_SETS

# The columns that say how many misses, or false alarms, a sum of an own metric counts: these words, then its name.
COUNTING_ROWS = {schema.FN: "fn_rows:", schema.FP: "fp_rows:"}

# The column that says in its first row whether a column to group by may belong to one side: this, then its name.
DIFFERS = "differs:"

# What messages call the rows of all tables together.
CALLED = "combine: tables"


class SumColumns(NamedTuple):
    """The columns of a table of sums: keys and labels of its rows, their sums, and how they were made."""

    key: pd.DataFrame
    values: pd.DataFrame
    made: MadeWith


@table_kinds.same_kind_as("x")
def sums(x: Table | TrackResult | PoseResult, by: By | None = None) -> pd.DataFrame:
    """Returns what an evaluation adds up to in each sequence: a small table that any engine can carry.

    Evaluate parts of a dataset wherever they are, and give their tables to `combine`, which returns what one evaluation
    of everything would have. All rows of a sequence belong into one part.

    Parameters
    ----------
    x
        A match table, or what `track` or `pose` returned; of pandas, polars or pyarrow.
    by
        The groups that `combine` gives metrics of: what `summarize` takes, but for quantile bins, whose edges would
        differ from part to part. Give edges of your own instead, such as by={"truth_x": [0, 50, 100]}.

    Returns
    -------
    DataFrame of the kind of `x`, with one row a sequence, or a group in a sequence: `sequence`, the columns of `by`,
    the sums, and `made_with`, text that says what was evaluated and by which rule. Columns hold numbers and text only;
    bins are text such as `12 to 47`. Of joints and of `track(by="category")` there is a row for each joint or class,
    and of `track(by=...)` with conditions one for each slice, as if they were in `by`.

    The sums of a match table are `tp`, `fn`, `fp`, `n_frames`; `near` and `near_squared`, of the distances (px, px²) or
    similarities of the TP; after matching by distance `squared_error` (px²) and `kelvins_error`; with
    `assignment="least"` `gospa`, `ospa`, `localisation`, `missed` and `false`, over the frames; and those of your own
    metrics, `METRIC.SUM`, with how many misses (`fn_rows:METRIC.SUM`) and false alarms (`fp_rows:METRIC.SUM`) they
    count. Where the truth has crowds, the first row has their counts `crowds` and `explained` in the whole table. For
    each column of `by` it has `differs:COLUMN`: 1 if there are two values, as of `matches["truth_h"] > 50`, and differ
    between objects of a frame, so that `combine` finds out whether they belong to one side.

    The sums of tracks and poses are those of their table `sums`, and `rows_together` says how many rows the sequence
    has, so that `combine` notices sequences that were evaluated in pieces. Tables of polars have no place for the notes
    of the rule, so their `made_with` does not name it, and `combine` cannot notice that rules differ.

    Raises
    ------
    InputError: `x` is something else, such as average precision, which has no sums; `by` does not fit it; or a metric
        of your own fails.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": [1, 2], "frame": 1, "object": 1, "x": [10.0, 50.0], "y": 5.0})
    >>> found = truth.assign(x=[11.0, 90.0])
    >>> parts = [sf.sums(sf.match(truth[:1], found[:1])), sf.sums(sf.match(truth[1:], found[1:]))]
    >>> parts[0][["sequence", "tp", "fn", "fp", "n_frames"]]
       sequence  tp  fn  fp  n_frames
    0         1   1   0   0         1
    >>> sf.combine(parts)[["tp", "fn", "fp", "f1", "n_sequences"]]
       tp  fn  fp   f1  n_sequences
    0   1   1   1  0.5            2
    """
    key, values, made = _of_result(x, by) if isinstance(x, TrackResult | PoseResult) else _of_matches(x, by)
    taken = [name for name in key if name in values or name == MADE_WITH]
    if taken:
        raise InputError(f"by: {taken[0]} is the name of a column of sums; give it as a Series of another name")
    return marked(pd.concat([bins_as_categories(key), values], axis=1), made)


def _check_by(by: By | None, keys: Sequence[str]) -> None:
    """Raises InputError if `by` asks for quantile bins, or has a Series that is called like a key of the rows."""
    for key in selections.group_keys(by):
        if isinstance(key.bins, int):
            how = f"give edges of your own, such as by={{{key.name!r}: [0, 5, 10]}}"
            raise InputError(f"by: {key.name}: quantile bins of parts differ from those of the whole; {how}")
        if key.series is not None and key.name in keys:
            raise InputError(f"by: a Series is called {key.name}; rename it, or give the name of the column instead")


def _of_matches(x: Table, by: By | None) -> SumColumns:
    """The sums of a match table; warns if the table lacks rows of its frames, or has some twice."""
    _check_by(by, KEYS[:1])
    if sequence_sums.is_result(x):
        raise InputError("sums: x: average precision is no sum over sequences; give match tables, tracks or poses")
    table = checks.check_matches(x, "sums: x", by_groups=True)
    groups = match_sums.group_rows(table, by, dropna=False)
    own = own_metrics.own_row_sums(groups.table, registry.own_metrics(), ())
    counting = {
        f"{word}{name}": ((groups.table["outcome"] == outcome) & (rows != 0)).astype(np.float64)
        for name, rows in own.values.items()
        for outcome, word in COUNTING_ROWS.items()
    }
    found = match_sums.match_pieces(groups._replace(own=own._replace(values=own.values | counting)))
    for text in filter(None, (row_counts.rows_text(groups), own_metrics.lacking_text([own.lacking]))):
        warnings.warn(f"sums: {text}", stacklevel=table_kinds.CALLER + 1)
    measure = schema.measure_of(table)
    of_frames = [name for name in OF_FRAMES if name in found.values]
    values = {name: found.values[name] for name in [*OF_MATCHES[measure], *of_frames, *own.values, *counting]}
    values |= {name: values[name].astype(np.int64) for name in COUNTS}
    values |= {
        name: _at_first(table.attrs[name], len(found.group)) for name in schema.COUNTS_NOTED if name in table.attrs
    }
    values |= {
        f"{DIFFERS}{name}": _at_first(
            int(one_sided.tells_objects_apart(column, groups.everything.table)), len(found.group)
        )
        for name, column in groups.everything.columns.items()
    }
    labels = {name: column.take(found.group) for name, column in groups.labels.items()}
    key = dataframe_of(Columns({"sequence": found.sequence} | labels))
    return SumColumns(key, pd.DataFrame(values), made_with("matches", measure, KEYS[:1], labels, own.metrics, table))


def _at_first(count: int, n_rows: int) -> np.ndarray:
    """A count of a whole table as a column that adds up to it, (n_rows,)."""
    column = np.zeros(n_rows, np.int64)
    column[:1] = count
    return column


def _of_result(x: TrackResult | PoseResult, by: By | None) -> SumColumns:
    """The sums of tracks or of poses, which are those of their table `sums`."""
    _check_by(by, KEYS)
    of = sequence_sums.evaluable(x, "sums: x")
    table = of.table.reset_index(drop=True)
    of_poses = isinstance(x, PoseResult)
    on_request = [] if of_poses else sums_among(map(str, table))
    metrics = track_sums.POSES if of_poses else track_sums.tracks_with(on_request)
    names = track_sums.POSE_SUMS if of_poses else [*track_sums.TRACK_SUMS, *on_request]
    if "category" in table and not len(table) and len(of.matches):
        problem = "none of the sequences has an object, so there is no class that their frames could count for"
        raise InputError(f"sums: x: {problem}; evaluate them together with others")
    labels = columns_by(table, slice_columns(table) or None if by is None else by, metrics)
    keys = [name for name in KEYS if name in table]
    key = dataframe_of(Columns({name: table[name].array for name in keys} | labels, n_rows=len(table)))
    made = made_with("poses" if of_poses else "tracks", "similarity", keys, labels, (), of.table, on_request)
    together = table.groupby("sequence")["sequence"].transform("size").rename(ROWS_TOGETHER)
    return SumColumns(key, pd.concat([table[track_sums.sums_columns(names)], together], axis=1), made)


@table_kinds.same_kind_as("tables")
def combine(tables: Table | Sequence[Table]) -> pd.DataFrame:
    """Returns the metrics of sums that were made anywhere: those that one evaluation of everything would have.

    Parameters
    ----------
    tables
        A table that `sums` made, or a list of them; of pandas, polars or pyarrow, or as another engine returns it. The
        order of the rows does not matter, and columns that `sums` did not make are ignored.

    Returns
    -------
    DataFrame of the kind of the first table. Of match tables and poses it is what `summarize` returns; of tracks, the
    `summary` that `track` returns. With `by` in `sums`, it is what `summarize` returns with the same `by`; bins are
    text such as `12 to 47`, and where an engine has made text of categories, groups are sorted as text. Its `attrs` say
    by which rule the sums were made.

    The numbers are the same to the last bit, however the sequences were divided into parts. Rows of a match table with
    the same sequence and group are added: they are taken for parts of the sequence that share no frame. Counts are
    exact then, and errors may differ in the last digits. A frame that is in two parts counts twice.

    Define metrics of your own both where you call `sums` and where you call `combine`; one that is defined at only one
    of these places is left out with a warning.

    Raises
    ------
    InputError: a table is none of `sums`, or was changed; the tables were made by different rules or in different
        groups; no table has a row; or a sequence of tracks or poses is there in pieces.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": [1, 1, 2], "frame": [1, 2, 1], "object": 7, "x": [0.0, 5.0, 9.0], "y": 0.0})
    >>> found = truth.assign(object=[1, 2, 1])  # the identity changes in sequence 1
    >>> parts = [sf.sums(sf.track(truth[:2], found[:2])), sf.sums(sf.track(truth[2:], found[2:]))]
    >>> sf.combine(parts)[["sequence", "MOTA", "IDSW", "IDF1", "n_frames"]].round(3)
       sequence   MOTA  IDSW   IDF1  n_frames
    0         1  0.500     1  0.500         2
    1         2  1.000     0  1.000         1
    2      <NA>  0.667     1  0.667         3
    """
    table, made = _added(tables)
    combine_them = {"matches": _combined_matches, "tracks": _combined_tracks, "poses": _combined_poses}[made.of]
    combined = combine_them(table, made)
    belonging = _one_sided(table, made) if made.of == "matches" else {}
    about = [f"by: {one_sided.problem_text(name, outcome)}" for name, outcome in belonging.items()]
    for text in (*_left_out(made), *about):
        warnings.warn(f"combine: {text}", stacklevel=table_kinds.CALLER)
    return combined


def _added(tables: Table | Sequence[Table]) -> tuple[pd.DataFrame, MadeWith]:
    """The rows of all tables, those of one group in one sequence added, and how they were made."""
    given: list[Any] = list(tables) if isinstance(tables, list | tuple) else [tables]
    names = [CALLED] if len(given) == 1 else [f"{CALLED}[{position}]" for position in range(len(given))]
    read = [arrow.as_pandas(table, name).reset_index(drop=True) for table, name in zip(given, names, strict=True)]
    ways = [way for table, name in zip(read, names, strict=True) for way in noted_made_with(table, name)]
    if not ways:
        raise InputError(f"{CALLED}: there are no rows, so nothing tells what was evaluated; give a table with rows")
    made = one_way(ways)
    table = _joined([_checked(table, made, name) for table, name in zip(read, names, strict=True)], made)
    return (_added_rows(table, made) if made.of == "matches" else table), made


def _checked(table: pd.DataFrame, made: MadeWith, name: str) -> pd.DataFrame:
    """A table of sums with its columns in their types, and without other columns; raises InputError as `combine`."""
    lacking = [column for column in [*made.keys, *made.by] if column not in table]
    if lacking:
        raise InputError([messages.missing(name, column, (), "sums() makes it") for column in dict.fromkeys(lacking)])
    if made.of == "matches":
        starts = tuple(f"{word}{metric}." for word in ("", *COUNTING_ROWS.values()) for metric in made.own_metrics)
        own = [column for column in map(str, table) if column.startswith(starts)]
        counts = [column for column in schema.COUNTS_NOTED if column in table]
        of_frames = OF_FRAMES if made.rule.get("assignment") == "least" or "gospa" in table else ()
        expected = [*OF_MATCHES[made.measure], *of_frames, *own, *counts, *(f"{DIFFERS}{column}" for column in made.by)]
    else:
        names = [*track_sums.TRACK_SUMS, *made.on_request] if made.of == "tracks" else track_sums.POSE_SUMS
        track_sums.check_sums_columns(table, name, names)
        expected = [*track_sums.sums_columns(names), ROWS_TOGETHER]
    columns = dict.fromkeys([*made.keys, *made.by, *expected])
    return checks.check_sums(table, name, expected)[[*columns]]


def _joined(tables: Sequence[pd.DataFrame], made: MadeWith) -> pd.DataFrame:
    """The rows of all tables; raises InputError if a key is text in one table and a number in another."""
    filled = [table for table in tables if len(table)] or list(tables[:1])
    for name in made.keys:
        if len({selections.holds_text(table[name].dropna()) for table in filled}) > 1:
            raise InputError(f"{CALLED}: column {name} is text in one table and numbers in another; make them the same")
    # With pandas 2.3 text that is null throughout is objects, which concat warns of.
    text = [name for name in made.by if any(table[name].dtype == pandas_tables.TEXT for table in filled)]
    alike = [table.astype({name: pandas_tables.TEXT for name in text if table[name].isna().all()}) for table in filled]
    return pandas_tables.with_text(pd.concat(alike, ignore_index=True))


def _added_rows(table: pd.DataFrame, made: MadeWith) -> pd.DataFrame:
    """The sums of match tables, with one row for each group in each sequence, by group, then by sequence."""
    keys = [*made.by, *made.keys]
    row, first = selections.number_groups({name: array_of(table[name]) for name in keys}, len(table))
    values = {
        name: table[name].take(first).array
        if name in keys
        else sequence_sums.added(as_numbers(table[name]), row, len(first))
        for name in map(str, table)
    }
    return pd.DataFrame(values)


def _left_out(made: MadeWith) -> list[str]:
    """The texts of warnings of own metrics that the sums or this process do not know."""
    here = registry.own_metrics() if made.of == "matches" else []
    reasons = {
        "that have no sums in these tables": [name for name in here if name not in made.own_metrics],
        "that are not defined here": [name for name in made.own_metrics if name not in here],
    }
    return [
        f"metrics of your own {why} are left out: {messages.listed(names)}" for why, names in reasons.items() if names
    ]


def _combined_matches(table: pd.DataFrame, made: MadeWith) -> pd.DataFrame:
    """What `summarize` returns of a match table with these sums."""
    labels = {name: array_of(table[name]) for name in made.by}
    null = rows_with_null(labels, len(table))
    n_rows = {outcome: as_numbers(table[name]) for outcome, name in ((schema.FN, "fn"), (schema.FP, "fp"))}
    rows = {outcome: (int(n.sum()), int(n[null].sum())) for outcome, n in n_rows.items() if labels}
    rows |= {outcome: (rows[outcome][0],) * 2 for outcome in _one_sided(table, made).values()}
    values = {name: as_numbers(table[name]) for name in map(str, table) if name not in (*made.keys, *made.by)}
    for outcome in sequence_sums.unknown_outcomes(rows):
        counting = [name for name in values if name.startswith(COUNTING_ROWS[outcome]) and values[name].any()]
        values |= {name.partition(":")[2]: np.full(len(table), np.nan) for name in counting}
    kept = np.flatnonzero(~null)
    values = sequence_sums.row_at(dict.fromkeys(OF_ERRORS, np.full(len(table), np.nan)) | values, kept)
    labels = {name: column.take(kept) for name, column in labels.items()}
    group, first = selections.number_groups(labels, len(kept))
    of_groups = Columns(
        {name: column.take(first) for name, column in labels.items()}, n_rows=len(first) if labels else 1
    )
    notes = made.notes | {name: int(table[name].sum()) for name in schema.COUNTS_NOTED if name in table}
    names = [name for name in registry.own_metrics() if name in made.own_metrics]
    by_similarity = made.measure == "similarity"
    metrics = match_sums.match_metrics(by_similarity)
    return summary_of(
        match_sums.whole(Sums(metrics, of_groups, group, None, values, notes, rows, by_similarity, names))
    )


def _one_sided(table: pd.DataFrame, made: MadeWith) -> dict[str, int]:
    """The columns to group by that belong to one side, as `one_sided` finds, and the outcome that each lacks."""
    found: dict[str, int] = {}
    counted = (table[["tp", "fn", "fp"]] > 0).any(axis=1)
    for name in made.by:
        values = {
            outcome: table[name][table[column] > 0].unique()
            for outcome, column in ((schema.FN, "fn"), (schema.FP, "fp"))
        }
        outcome = one_sided.lacking(values) if table[name].nunique() == 2 and table[f"{DIFFERS}{name}"].any() else None
        if outcome is not None and table[name][counted].notna().all():
            found[name] = outcome
    return found


def _combined_tracks(table: pd.DataFrame, made: MadeWith) -> pd.DataFrame:
    """The `summary` of tracks with these sums; or by group, what `summarize` returns of them."""
    all_rows = whole_tracks(table, CALLED)
    if made.by:
        summary = summary_of(sums_of_tracks(all_rows, {name: array_of(all_rows[name]) for name in made.by}))
    else:
        summary = tracks_of_sums(all_rows, made.keys, made.on_request)
    summary.attrs = made.notes
    return summary


def tracks_of_sums(table: pd.DataFrame, keys: Sequence[str], on_request: Sequence[str] = ()) -> pd.DataFrame:
    """The `summary` that `track` returns, from the table `sums` of all sequences, sorted.

    `keys` are those of rows, and `on_request` the sums of metrics on request.
    """
    names = [*track_sums.TRACK_SUMS, *on_request]
    values, key = track_sums.sums_of_table(table, names), columns_of(table[list(keys)])
    entries = track_sums.TRACK_COLUMNS
    counts = [name for name in values if name in entries and entries[name].written == "count"]
    values |= {name: values[name].astype(np.int64) for name in counts}
    metrics = track_sums.tracks_with(names)
    return track_tables.track_summary(Sums(metrics, key, np.arange(len(key)), key["sequence"], values, {}))


def _combined_poses(table: pd.DataFrame, made: MadeWith) -> pd.DataFrame:
    """What `summarize` returns of poses with these sums."""
    all_rows = whole_poses(table, CALLED)
    summary = summary_of(sums_of_poses(all_rows, {name: array_of(all_rows[name]) for name in made.by}))
    summary.attrs = made.notes
    return summary
