"""sums(): what an evaluation adds up to, as a small table that any engine can carry.

A table of sums has one row a sequence. Rows of different sequences, wherever they were made, make up one evaluation.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..scoring.evaluations import asked_table, is_result
from ..scoring.group_sums import cells_of
from ..scoring.match_sums import SUMS
from ..scoring.one_sided import tells_objects_apart
from ..scoring.own_metrics import lacking_text, own_row_sums
from ..scoring.registry import own_metrics
from ..scoring.row_counts import rows_text
from ..scoring.row_groups import group_rows
from ..support.errors import InputError
from ..support.texts import bins_as_text, is_binned
from ..tables.checks import check_matches
from ..tables.columns import Columns, dataframe_of
from ..tables.kinds import CALLER, same_kind_as
from ..tables.schema import COUNTS_NOTED, FN, FP, measure_of
from ..tables.selections import By, group_keys
from ..tables.table import Table
from ..tracking.families import POSE_SUMS, POSES, TRACK_SUMS, TRACKS
from ..tracking.poses import PoseResult
from ..tracking.results import KEYS, columns_by
from ..tracking.sequence_sums import sums_columns
from ..tracking.tracks import TrackResult
from ..tracking.whole_tables import ROWS_TOGETHER
from .made_with import MADE_WITH, MadeWith, made_with, marked

COUNTS = ["tp", "fn", "fp", "n_frames"]

# The sums of a match table, besides those of own metrics. Errors are there after matching by distance only.
OF_ERRORS = ["squared_error", "kelvins_error"]
BY_SIMILARITY = [*(name for name in SUMS if name not in OF_ERRORS), "n_frames"]
OF_MATCHES = {"distance": [*BY_SIMILARITY, *OF_ERRORS], "similarity": BY_SIMILARITY}

# The columns that say how many misses, or false alarms, a sum of an own metric counts: these words, then its name.
COUNTING_ROWS = {FN: "fn_rows:", FP: "fp_rows:"}

# The column that says in its first row whether a column to group by may belong to one side: this, then its name.
DIFFERS = "differs:"


class SumColumns(NamedTuple):
    """The columns of a table of sums: keys and labels of its rows, their sums, and how they were made."""

    key: pd.DataFrame
    values: pd.DataFrame
    made: MadeWith


@same_kind_as("x")
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
    bins are text such as `12 to 47`. Of joints and of `track(by="category")` there is a row for each joint or class.

    The sums of a match table are `tp`, `fn`, `fp`, `n_frames`; `near` and `near_squared`, of the distances (px, px²) or
    similarities of the TP; after matching by distance `squared_error` (px²) and `kelvins_error`; and those of your own
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
    return marked(pd.concat([_plain(key), values], axis=1), made)


def _check_by(by: By | None, keys: Sequence[str]) -> None:
    """Raises InputError if `by` asks for quantile bins, or has a Series that is called like a key of the rows."""
    for key in group_keys(by):
        if isinstance(key.bins, int):
            how = f"give edges of your own, such as by={{{key.name!r}: [0, 5, 10]}}"
            raise InputError(f"by: {key.name}: quantile bins of parts differ from those of the whole; {how}")
        if key.series is not None and key.name in keys:
            raise InputError(f"by: a Series is called {key.name}; rename it, or give the name of the column instead")


def _plain(key: pd.DataFrame) -> pd.DataFrame:
    """Keys and labels with bins as text, whose categories keep the order of the bins."""
    for name in [name for name in map(str, key) if is_binned(key[name])]:
        values = key[name].astype("category")
        bins = pd.Series(values.cat.categories).astype(values.dtype).rename(name)
        key = key.assign(**{name: values.cat.rename_categories(bins_as_text(bins.to_frame())[name].tolist())})
    return key


def _of_matches(x: Table, by: By | None) -> SumColumns:
    """The sums of a match table; warns if the table lacks rows of its frames, or has some twice."""
    _check_by(by, KEYS[:1])
    if is_result(x):
        raise InputError("sums: x: average precision is no sum over sequences; give match tables, tracks or poses")
    table = check_matches(x, "sums: x", by_groups=True)
    groups = group_rows(table, by, dropna=False)
    own = own_row_sums(groups.table, own_metrics(), ())
    counting = {
        f"{word}{name}": ((groups.table["outcome"] == outcome) & (rows != 0)).astype(np.float64)
        for name, rows in own.values.items()
        for outcome, word in COUNTING_ROWS.items()
    }
    cells = cells_of(groups._replace(own=own._replace(values=own.values | counting)))
    for text in filter(None, (rows_text(groups), lacking_text([own.lacking]))):
        warnings.warn(f"sums: {text}", stacklevel=CALLER + 1)
    measure = measure_of(table)
    values = {name: cells.values[name] for name in [*OF_MATCHES[measure], *own.values, *counting]}
    values |= {name: values[name].astype(np.int64) for name in COUNTS}
    values |= {name: _at_first(table.attrs[name], len(cells.group)) for name in COUNTS_NOTED if name in table.attrs}
    values |= {
        f"{DIFFERS}{name}": _at_first(int(tells_objects_apart(column, groups.everything.table)), len(cells.group))
        for name, column in groups.everything.columns.items()
    }
    labels = {name: column.take(cells.group) for name, column in groups.labels.items()}
    key = dataframe_of(Columns({"sequence": cells.sequence} | labels))
    return SumColumns(key, pd.DataFrame(values), made_with("matches", measure, KEYS[:1], labels, own.metrics, table))


def _at_first(count: int, n_rows: int) -> np.ndarray:
    """A count of a whole table as a column that adds up to it, (n_rows,)."""
    column = np.zeros(n_rows, np.int64)
    column[:1] = count
    return column


def _of_result(x: TrackResult | PoseResult, by: By | None) -> SumColumns:
    """The sums of tracks or of poses, which are those of their table `sums`."""
    _check_by(by, KEYS)
    asked = asked_table(x, "sums: x")
    table = asked.table.reset_index(drop=True)
    family, names = (POSES, POSE_SUMS) if isinstance(x, PoseResult) else (TRACKS, TRACK_SUMS)
    if "category" in table and not len(table) and len(asked.matches):
        problem = "none of the sequences has an object, so there is no class that their frames could count for"
        raise InputError(f"sums: x: {problem}; evaluate them together with others")
    labels = columns_by(table, by, family)
    keys = [name for name in KEYS if name in table]
    key = dataframe_of(Columns({name: table[name].array for name in keys} | labels, n_rows=len(table)))
    made = made_with("poses" if family is POSES else "tracks", "similarity", keys, labels, (), asked.table)
    together = table.groupby("sequence")["sequence"].transform("size").rename(ROWS_TOGETHER)
    return SumColumns(key, pd.concat([table[sums_columns(names)], together], axis=1), made)
