"""combine(): the metrics of tables of sums, wherever these were made."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..scoring.group_sums import Cells, Sums, totals
from ..scoring.one_sided import lacking, problem_text
from ..scoring.registry import own_metrics
from ..scoring.row_groups import unknown_outcomes
from ..scoring.summary import summary_of
from ..support.arrays import added_at
from ..support.errors import InputError
from ..support.pandas_tables import TEXT, with_text
from ..tables.arrow import as_pandas
from ..tables.checks import check_sums
from ..tables.columns import Columns, array_of, as_numbers, columns_of, rows_with_null
from ..tables.kinds import CALLER, same_kind_as
from ..tables.messages import listed, missing
from ..tables.schema import COUNTS_NOTED, FN, FP
from ..tables.selections import holds_text, number_groups
from ..tables.table import Table
from ..tracking.families import POSE_SUMS, TRACK_COLUMNS, TRACK_SUMS
from ..tracking.results import evaluated_poses, evaluated_tracks
from ..tracking.sequence_sums import sums_columns, sums_of_table
from ..tracking.track_tables import track_summary
from ..tracking.whole_tables import ROWS_TOGETHER, whole_poses, whole_tracks
from .made_with import MadeWith, marked, noted_made_with, one_way
from .sum_tables import COUNTING_ROWS, COUNTS, DIFFERS, OF_ERRORS, OF_MATCHES

# What messages call the rows of all tables together.
CALLED = "combine: tables"


@same_kind_as("tables")
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
    combined = {"matches": _of_matches, "tracks": _of_tracks, "poses": _of_poses}[made.of](table, made)
    belonging = _one_sided(table, made) if made.of == "matches" else {}
    about = [f"by: {problem_text(name, outcome)}" for name, outcome in belonging.items()]
    for text in (*_left_out(made), *about):
        warnings.warn(f"combine: {text}", stacklevel=CALLER)
    return combined


def added_sums(tables: Table | Sequence[Table]) -> pd.DataFrame:
    """One table of the sums in several: what `combine` takes, with a row for each group in each sequence.

    Rows of match tables with the same sequence and group are added; those of tracks and poses stay as they are. Raises
    InputError as `combine` does.
    """
    table, made = _added(tables)
    if made.of == "matches":
        counts = (*COUNTS, *COUNTS_NOTED, *(f"{DIFFERS}{name}" for name in made.by))
        table = table.astype({name: np.int64 for name in counts if name in table})
    return marked(table, made)


def _added(tables: Table | Sequence[Table]) -> tuple[pd.DataFrame, MadeWith]:
    """The rows of all tables, those of one group in one sequence added, and how they were made."""
    given: list[Any] = list(tables) if isinstance(tables, list | tuple) else [tables]
    names = [CALLED] if len(given) == 1 else [f"{CALLED}[{position}]" for position in range(len(given))]
    read = [as_pandas(table, name).reset_index(drop=True) for table, name in zip(given, names, strict=True)]
    ways = [way for table, name in zip(read, names, strict=True) for way in noted_made_with(table, name)]
    if not ways:
        raise InputError(f"{CALLED}: there are no rows, so nothing tells what was evaluated; give a table with rows")
    made = one_way(ways)
    table = _joined([_checked(table, made, name) for table, name in zip(read, names, strict=True)], made)
    return (_cells(table, made) if made.of == "matches" else table), made


def _checked(table: pd.DataFrame, made: MadeWith, name: str) -> pd.DataFrame:
    """A table of sums with its columns in their types, and without other columns; raises InputError as `combine`."""
    lacking = [column for column in [*made.keys, *made.by] if column not in table]
    if lacking:
        raise InputError([missing(name, column, (), "sums() makes it") for column in dict.fromkeys(lacking)])
    if made.of == "matches":
        starts = tuple(f"{word}{metric}." for word in ("", *COUNTING_ROWS.values()) for metric in made.own_metrics)
        own = [column for column in map(str, table) if column.startswith(starts)]
        counts = [column for column in COUNTS_NOTED if column in table]
        expected = [*OF_MATCHES[made.measure], *own, *counts, *(f"{DIFFERS}{column}" for column in made.by)]
    else:
        expected = [*sums_columns(TRACK_SUMS if made.of == "tracks" else POSE_SUMS), ROWS_TOGETHER]
    columns = dict.fromkeys([*made.keys, *made.by, *expected])
    return check_sums(table, name, expected)[[*columns]]


def _joined(tables: Sequence[pd.DataFrame], made: MadeWith) -> pd.DataFrame:
    """The rows of all tables; raises InputError if a key is text in one table and a number in another."""
    filled = [table for table in tables if len(table)] or list(tables[:1])
    for name in made.keys:
        if len({holds_text(table[name].dropna()) for table in filled}) > 1:
            raise InputError(f"{CALLED}: column {name} is text in one table and numbers in another; make them the same")
    # With pandas 2.3 text that is null throughout is objects, which concat warns of.
    text = [name for name in made.by if any(table[name].dtype == TEXT for table in filled)]
    alike = [table.astype({name: TEXT for name in text if table[name].isna().all()}) for table in filled]
    return with_text(pd.concat(alike, ignore_index=True))


def _cells(table: pd.DataFrame, made: MadeWith) -> pd.DataFrame:
    """The sums of match tables, with one row for each group in each sequence, by group, then by sequence."""
    keys = [*made.by, *made.keys]
    cell, first = number_groups({name: array_of(table[name]) for name in keys}, len(table))
    values = {
        name: table[name].take(first).array if name in keys else added_at(cell, as_numbers(table[name]), len(first))
        for name in map(str, table)
    }
    return pd.DataFrame(values)


def _left_out(made: MadeWith) -> list[str]:
    """The texts of warnings of own metrics that the sums or this process do not know."""
    here = own_metrics() if made.of == "matches" else []
    reasons = {
        "that have no sums in these tables": [name for name in here if name not in made.own_metrics],
        "that are not defined here": [name for name in made.own_metrics if name not in here],
    }
    return [f"metrics of your own {why} are left out: {listed(names)}" for why, names in reasons.items() if names]


def _of_matches(table: pd.DataFrame, made: MadeWith) -> pd.DataFrame:
    """What `summarize` returns of a match table with these sums."""
    labels = {name: array_of(table[name]) for name in made.by}
    null = rows_with_null(labels, len(table))
    n_rows = {outcome: as_numbers(table[name]) for outcome, name in ((FN, "fn"), (FP, "fp"))}
    rows = {outcome: (int(n.sum()), int(n[null].sum())) for outcome, n in n_rows.items() if labels}
    rows |= {outcome: (rows[outcome][0],) * 2 for outcome in _one_sided(table, made).values()}
    kept = np.flatnonzero(~null)
    of_groups, values = _sums_of_groups(
        table.take(kept), {name: column.take(kept) for name, column in labels.items()}, made
    )
    for outcome in unknown_outcomes(rows):
        counting = [name for name in map(str, table) if name.startswith(COUNTING_ROWS[outcome]) and table[name].any()]
        values |= {name.partition(":")[2]: np.full(len(of_groups), np.nan) for name in counting}
    names = [name for name in own_metrics() if name in made.own_metrics]
    counts = {name: int(table[name].sum()) for name in COUNTS_NOTED if name in table}
    return summary_of(Sums(of_groups, values, rows, made.measure == "similarity", made.notes | counts, names))


def _one_sided(table: pd.DataFrame, made: MadeWith) -> dict[str, int]:
    """The columns to group by that belong to one side, as `one_sided` finds, and the outcome that each lacks."""
    found: dict[str, int] = {}
    counted = (table[["tp", "fn", "fp"]] > 0).any(axis=1)
    for name in made.by:
        values = {outcome: table[name][table[column] > 0].unique() for outcome, column in ((FN, "fn"), (FP, "fp"))}
        outcome = lacking(values) if table[name].nunique() == 2 and table[f"{DIFFERS}{name}"].any() else None
        if outcome is not None and table[name][counted].notna().all():
            found[name] = outcome
    return found


def _sums_of_groups(
    table: pd.DataFrame, labels: Mapping[str, Any], made: MadeWith
) -> tuple[Columns, dict[str, np.ndarray]]:
    """The labels of each group and its sums, by name, from those of each group in each sequence."""
    of_row, first = number_groups(labels, len(table))
    n_groups = len(first) if labels else 1
    values = {name: as_numbers(table[name]) for name in map(str, table) if name not in (*made.keys, *made.by)}
    cells = Cells(of_row, None, dict.fromkeys(OF_ERRORS, np.full(len(table), np.nan)) | values)
    of_groups = Columns({name: column.take(first) for name, column in labels.items()}, n_rows=n_groups)
    return of_groups, totals(cells, n_groups)


def _of_tracks(table: pd.DataFrame, made: MadeWith) -> pd.DataFrame:
    """The `summary` of tracks with these sums; or by group, what `summarize` returns of them."""
    whole = whole_tracks(table, CALLED)
    if made.by:
        summary = evaluated_tracks(whole, {name: array_of(whole[name]) for name in made.by}).summary
    else:
        values = sums_of_table(whole, TRACK_SUMS)
        counts = [name for name in values if name in TRACK_COLUMNS and TRACK_COLUMNS[name].written == "count"]
        values |= {name: values[name].astype(np.int64) for name in counts}
        summary = track_summary(Sums(columns_of(whole[made.keys]), values, {}, True, {}))
    summary.attrs = made.notes
    return summary


def _of_poses(table: pd.DataFrame, made: MadeWith) -> pd.DataFrame:
    """What `summarize` returns of poses with these sums."""
    whole = whole_poses(table, CALLED)
    summary = evaluated_poses(whole, {name: array_of(whole[name]) for name in made.by}).summary
    summary.attrs = made.notes
    return summary
