"""summarize(): the metrics of a match table, for all its rows or for each slice.

In a slice, a metric may be unknown. If all false positives are null in the `by` columns, these columns describe truths,
so no false positive belongs to any slice, and every metric that counts false positives is null. If all misses are null
in them, the columns describe predictions, and every metric that counts misses is null. Columns of two values, such as
`matches["truth_h"] > 50`, belong to one side without being null; `one_sided` finds them.

Where a summary rests on few sequences, displayed tables and warnings say so in the words that stand here.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..support import arrays, bins_as_text, plain_value
from ..tables import By, Columns, Table, dataframe_of, match_columns, schema, selections, table_kinds
from .match_sums import Groups, group_rows, known, match_sums, together
from .own_metrics import lacking_text
from .registry import METRICS, Metric, own_metrics, summary_columns
from .row_counts import group_texts
from .sequence_sums import Sums, is_result, summary_of_result

if TYPE_CHECKING:
    import pandas as pd

# Below this count of sequences little is known of how others differ.
FEW_SEQUENCES = 20

OF_FEW = f"fewer than {FEW_SEQUENCES} sequences"
LITTLE_KNOWN = "little is known"

# The word that marks counts of few sequences in displayed tables, and the note below these tables.
FEW = "few"
FEW_NOTE = f"{FEW}: {OF_FEW}, so {LITTLE_KNOWN}"

# The least share of the true objects that makes one sequence, or two of them together, decide a combined number.
MUCH_IN_ONE, MUCH_IN_TWO = 0.4, 0.6


@table_kinds.same_kind_as("matches")
def summarize(
    matches: Table,
    by: By | None = None,
    exclude: Iterable[int] | Iterable[str] | None = None,
    *,
    dropna: bool = True,
) -> pd.DataFrame:
    """Computes the metrics of a match table: one row for the whole table, or one for each group.

    For the metrics of classes and slices, pass the whole table and `by`. A table that you filtered yourself may have
    lost its false alarms or its misses: a warning says so where the rows of a frame no longer add up to `frame_n_truth`
    or `frame_n_predicted`. Rows that a merge or a concat doubled count twice, and a warning says so, too.

    Parameters
    ----------
    matches
        A match table, as `match` makes it or as it comes back from a file; of pandas, polars or pyarrow. Or what
        `track` or `pose` returned: then the columns are the metrics of its `summary` (without poseval's `ap`, `ap_pre`
        and `ap_rec`, which do not follow from sums of sequences), and `by` takes columns of its `sums`: `sequence`,
        its attributes (`sequence_<column>`), `joint` of poses, and `category` of `track(by="category")`. Or what
        `average_precision` returned: then this is its `summary`, and `by` takes what its own `by` does.
    by
        The groups: the name of a column of the match table; a Series with a value for each row (of pandas, with the
        table's index, such as a `pd.cut` of a column, or of polars); where the match table is of polars, an expression
        such as `pl.col("truth_x") > 100`; a list of these, whose values are crossed; or a dict from names of columns,
        which are crossed, to a count of quantile bins (2 to 1000, those of `pandas.qcut` of the rows that are neither
        null nor excluded), to the edges of bins, or to None for the values as they are. Each becomes a column of the
        result. Groups without rows are not listed.

        Columns of numbers and of times have bins. Edges rise, such as `[0, 50, float("inf")]`, and those of times are
        Timestamps or text such as "2024-06-01". A value on an edge is in the bin below it, one on the lowest edge in
        the first bin, and one beyond all edges in none, so its row is left out as those that are null.
    exclude
        Sequences to leave out, a list of strings or of integers like the table's. The competition's server left
        sequences out, too. A warning names those that the table does not have.
    dropna
        Whether to leave out rows that are null in `by`; of a match table only.

    Returns
    -------
    DataFrame of the match table's kind, sorted by group: the `by` columns (bins as text such as `12 to 47` in polars
    and pyarrow), then

    tp, fn, fp: truths matched with a prediction (found), truths without a match (missed), and predictions without a
        match (false alarms).
    precision, recall: TP / (TP + FP) and TP / (TP + FN).
    f1: 2 TP / (2 TP + FP + FN).
    mse: px², mean of squared_error over TP, FN and FP, by the metric document (eqs. 10 to 17); 0 without any.
    kelvins_mse: sum over sequences of each sequence's mean of kelvins_error, by the competition's server. It grows with
        the number of sequences, so it compares submissions, never slices.
    det_a: TP / (TP + FN + FP).
    mean_distance, rmse: px, mean distance of the TP and root of the mean squared distance of the TP.
    n_sequences, n_frames: all sequences, also those without objects; all frames, also those without objects. Of fewer
        than 20 sequences little is known; displayed tables mark them as few. Also in summaries of tracks and poses.
    n_truth, n_predicted: TP + FN and TP + FP.
    loc_a: mean similarity of the TP; a column only where matching was by similarity.
    gospa, ospa, localisation, missed, false: columns only after matching with `assignment="least"`. A frame without
        objects is 0 and counts; in groups, a frame is its rows in the group, and frames without one do not count.
    localisation: mean over frames of the sum of distance^power of the TP.
    missed, false: mean over frames of tau^power / 2 for each FN; mean over frames of tau^power / 2 for each FP.
    gospa: px, mean over frames of (localisation + missed + false)^(1 / power), the three being those of the frame. This
        is GOSPA with alpha = 2 (Rahmathullah et al. 2017, doi:10.23919/ICIF.2017.8009645).
    ospa: px, mean over frames of (mean of min(distance, tau)^power over the objects of the larger side)^(1 / power), an
        object without a partner is tau away (Schuhmacher et al. 2008, doi:10.1109/TSP.2008.920469).
    Then your own metrics, which `metric()` added. One that asks for a column which the table lacks is left out, and a
        warning names it.

    The columns `squared_error` and `kelvins_error` of the match table hold the error of each row. Ratios whose
    denominator is 0 are null. After matching by similarity `mse`, `kelvins_mse`, `mean_distance` and `rmse` are null.
    Where all FP are null in the `by` columns, every metric that counts FP is null (`fp`, `precision`, `f1`, `mse` and
    so on); where all FN are null in them, every metric that counts FN is null. So it is, with a warning, for a column
    of two values that is the same on all FP and differs on FN, as `matches["truth_h"] > 50` is: FP have no height, and
    so they are False. Give `by={"truth_h": [0, 50, float("inf")]}` instead.

    Raises
    ------
    InputError: `matches` is no match table, a column of `by` is missing, a Series of `by` does not fit the table, a
        count of bins is out of range, `exclude` is no list of the sequences' type, or a metric of your own fails.
    ValueError: `dropna` is False for what `track`, `pose` or `average_precision` returned.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [10.0, 50.0], "y": [10.0, 50.0]})
    >>> predictions = truth.assign(x=[14.0, 90.0])
    >>> sf.summarize(sf.match(truth, predictions))[["tp", "fn", "fp", "f1", "mse"]]
       tp  fn  fp   f1   mse
    0   1   1   1  0.5  72.0
    """
    from ..tables import checks

    if is_result(matches):
        if not dropna:
            raise ValueError("dropna=False goes with match tables; what is null in by is left out of results")
        answer, texts = summary_of_result(matches, by, exclude)
        for text in texts:
            warnings.warn(f"summarize: {text}", stacklevel=table_kinds.CALLER)
        return answer
    table = checks.check_matches(matches, by_groups=True)
    left_out, unknown = selections.excluded_sequences(exclude, [table])
    rows = match_columns(table) if by is None else table  # whose columns `by` may name, or its index
    answer, texts = summarized(group_rows(rows, by, left_out, dropna=dropna, own=own_metrics()))
    for text in filter(None, (unknown, *texts)):
        warnings.warn(f"summarize: {text}", stacklevel=table_kinds.CALLER)
    return answer


def summarized(groups: Groups) -> tuple[pd.DataFrame, list[str]]:
    """The summary of a match table, and the texts of warnings about its rows, its slices, and columns that it lacks."""
    texts = [*group_texts(groups), lacking_text([groups.own.lacking])]
    return summary_of(match_sums(groups)), [text for text in texts if text]


def summary_of(sums: Sums) -> pd.DataFrame:
    """The summary that `summarize` returns, which follows from the sums of match tables."""
    if sums.summary is not None:
        return sums.summary
    import pandas as pd

    columns = metric_columns(sums)
    nullable = {
        name: pd.arrays.IntegerArray(np.nan_to_num(columns[name]).astype(np.int64), np.isnan(columns[name]))
        for name in columns
        if name in METRICS and METRICS[name].written == "count" and METRICS[name].needs
    }
    return dataframe_of(columns.assign(nullable))


def metric_columns(sums: Sums) -> Columns:
    """The columns of the summary, computed from sums: labels, then metrics; NaN where a metric is null."""
    columns_of = summary_columns(sums.by_similarity, sums.assignment)
    names = [name for name in columns_of if name in sums.own_metrics or not METRICS[name].sums]
    metrics = sums.metrics.compute(known(together(sums)).values, names)
    columns = {
        name: _column(METRICS[name], values, not sums.unknown.isdisjoint(METRICS[name].needs))
        for name, values in metrics.items()
    }
    return Columns(sums.labels.arrays | columns, sums.attrs, len(sums.labels))


def _column(metric: Metric, values: np.ndarray, unknown: bool) -> np.ndarray:
    """Makes the column of a metric: null if `unknown`, and counts as integers."""
    if unknown:
        return np.full(values.shape, np.nan)
    return values.astype(np.int64 if metric.written == "count" else np.float64)


def held_by_few(sequences: Sequence[Any], n_truth: np.ndarray, written: str = ".0%") -> str | None:
    """Says which one or two sequences hold most of the true objects; None where none do.

    `sequences` are the names of S sequences, and `n_truth` (S,) their counts of true objects. Of two sequences one
    always holds half, and of three two hold most, so these are not worth a word.
    """
    largest = np.argsort(-n_truth, kind="stable")[:2]
    total = n_truth.sum()
    for names, least, fewest in ((largest[:1], MUCH_IN_ONE, 3), (largest, MUCH_IN_TWO, 4)):
        held = n_truth[names].sum()
        if len(n_truth) >= fewest and total and held >= least * total:
            named = " and ".join(str(sequences[int(at)]) for at in names)
            which = f"sequence {named} holds" if len(names) == 1 else f"sequences {named} hold"
            return f"{which} {held / total:{written}} of the true objects, and so much of every combined number"
    return None


def held_in(matches: Columns, written: str = ".0%") -> str | None:
    """Says which one or two sequences hold most of the true objects of a match table; None where none do."""
    of_row, first = arrays.grouped(arrays.row_keys(matches, ["sequence"]))
    is_true = np.isin(matches["outcome"], [schema.TP, schema.FN])
    return held_by_few(matches["sequence"][first].tolist(), arrays.added_at(of_row, is_true, len(first)), written)


def rests_on_few(table: pd.DataFrame) -> np.ndarray:
    """Whether the `n_sequences` of each row are few; nowhere in a table without them, or with a row a sequence."""
    if "n_sequences" not in table or "sequence" in table:
        return np.zeros(len(table), bool)
    return table["n_sequences"].lt(FEW_SEQUENCES).to_numpy(bool, na_value=False)


def few_marked(texts: pd.DataFrame, table: pd.DataFrame) -> tuple[pd.DataFrame, bool]:
    """The texts of a table's cells with few sequences marked, such as `7 (few)`; and whether there are any."""
    few = rests_on_few(table)
    if not few.any():
        return texts, False
    marked = [f"{text} ({FEW})" if is_few else text for text, is_few in zip(texts["n_sequences"], few, strict=True)]
    return texts.assign(n_sequences=marked), True


def slice_files(by_slice: Mapping[tuple[str, ...], pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Names a file for each summary; the summaries come by the columns that they are sliced by.

    Returns the tables by file name, without the suffix, with bins as text.
    """
    return dict(slice_file(columns, table) for columns, table in by_slice.items())


def slice_file(columns: Sequence[str], table: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Names the file for a summary by the given columns, and returns the table with bins as text.

    Readers of Parquet other than pandas do not know intervals, so bins are written as text, such as `12 to 47`.
    """
    import pandas as pd

    table = bins_as_text(table)
    not_numeric = [column for column in columns if not pd.api.types.is_any_real_numeric_dtype(table[column].dtype)]
    name = "_".join(["by", *map(_file_name, columns)])
    return name, table.assign(**{column: table[column].map(plain_value) for column in not_numeric})


def _file_name(column: str) -> str:
    """Escapes characters that file names may not hold as %XX, so that different columns have different files."""
    return re.sub(r'[\x00-\x1f/\\:*?"<>|%]', lambda character: f"%{ord(character[0]):02x}", column)
