"""The slices of the tracks of a dataset: the values that columns of the truth have anywhere in it.

Every part has to evaluate all of them: where no truth has a value, its false alarms still count in that slice.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..matching import crowds
from ..scoring import Sums
from ..support import InputError
from ..tables import By, CheckedBins, Columns, Edges, array_of, columns_of, selections
from ..tracking import conditions, track_tables
from .contents import Contents
from .quantiles import NO_EDGES, bin_codes, bins_of_codes, column_tables, dataset_bin_edges


class TrackSlices(NamedTuple):
    """The columns of the truth that are conditions with their bins, the edges of these, and a row of values a slice.

    In `labels`, a column with edges has the positions of its bins.
    """

    columns: Mapping[str, CheckedBins]
    edges: Mapping[str, Edges]
    labels: pd.DataFrame

    def summary(self, sums: Sums) -> pd.DataFrame:
        """The summary of sums that are labelled by sequence and slice."""
        key = {name: array_of(sums.labels[name]) for name in self.columns}
        of_row, _ = selections.number_groups(key, len(sums.labels))
        tables, labels = [], []
        for position in range(len(self.labels)):
            rows = np.flatnonzero(of_row == position)
            own = sums.labels.take(rows)
            values = {name: values[rows] for name, values in sums.values.items()}
            alone = sums._replace(labels=own.select(["sequence"]), group=np.arange(len(rows)), values=values)
            tables.append([track_tables.track_summary(alone)])
            labels.append(self._with_bins(own.select([*self.columns]).take(np.array([0]))))
        return conditions.joined_slices(tables, ["summary"], labels)[0]

    def _with_bins(self, labels: Columns) -> Columns:
        """The values of a slice with its bins in place of their positions."""
        bins = {name: array_of(bins_of_codes(pd.Series(labels[name]), edges)) for name, edges in self.edges.items()}
        return conditions.named_bins(labels.arrays | bins)


def slices_of_dataset(
    contents: Mapping[str, Contents], by: By | None, exclude: Sequence[int | str], on_error: str
) -> TrackSlices | None:
    """The slices of a dataset; None where nothing is asked for.

    Raises InputError if `by` names anything but columns of the truth, if these have no value or more than MOST_SLICES,
    or if quantile bins are asked for where files may be skipped.
    """
    columns = selections.column_bins(by)
    if not columns:
        return None
    truth = contents["truth"]
    named = {f"{conditions.OF_TRUTH}{name}": pd.Series(dtype=float) for name in truth.schema.names}
    for column, bins in columns.items():
        if not column.startswith(conditions.OF_TRUTH):
            raise InputError(f"by: {column}: slices of the tracks of a dataset are those of columns such as truth_size")
        selections.check_column(pd.DataFrame(named), column, "by")
        if isinstance(bins, int) and on_error == "skip":
            raise InputError("by: quantile bins are not possible where files may be skipped (on_error='skip')")
    edges = {
        column: dataset_bin_edges(contents, named[column].rename(column), bins, exclude)
        for column, bins in columns.items()
        if bins is not None
    }
    return TrackSlices(columns, edges, _labels(truth, [*columns], edges, exclude))


def _labels(
    truth: Contents, columns: Sequence[str], edges: Mapping[str, Edges], exclude: Sequence[int | str]
) -> pd.DataFrame:
    """The distinct values of the columns among truths that count, sorted, with positions in place of bins."""
    names = [column.removeprefix(conditions.OF_TRUTH) for column in columns]
    marks = [mark for mark in crowds.MARKS if mark in truth.schema.names]
    found = list[pd.DataFrame]()
    for table in column_tables(truth, [*names, *marks], exclude):
        counting = table[~table[marks].eq(1).any(axis=1)] if marks else table
        values = {
            column: bin_codes(counting[name].rename(column), edges.get(column, NO_EDGES))
            for column, name in zip(columns, names, strict=True)
        }
        distinct = pd.DataFrame(values).dropna().drop_duplicates()
        found = [pd.concat([*found, distinct], ignore_index=True).drop_duplicates()]
        if len(found[0]) > conditions.MOST_SLICES:
            break
    labels = columns_of(found[0]) if found else Columns({}, n_rows=0)
    conditions.check_count(columns, len(labels))
    _, first = selections.number_groups(labels.arrays, len(labels))
    return found[0].iloc[first].reset_index(drop=True)
