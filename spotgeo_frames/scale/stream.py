"""score_dataset() and track_dataset(): Parquet datasets of any size, evaluated part by part.

The numbers are those of `match` and `summarize`, or of `track`, on the same rows: a part is a range of sequences, whole
ones only, and sums over sequences add up. Counts are the same to the bit however the data is laid out and whoever does
the work; sums of errors may differ in the last digits, as additions in another order do.

Known differences from evaluating the tables in memory
    - Sequences that one side only has count as they do in memory, and a warning names them. That no sequence is on both
      sides is known, and refused, only at the end, unless their ranges tell.
    - Columns that Parquet keeps as a dictionary (categories of pandas) are read as the values they stand for, so
      slices by them are in the order of these.
"""

import hashlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..matching.matcher import match_annotations
from ..matching.rule import check_options
from ..matching.similar_pairs import check_measure
from ..matching.similarity import Measure
from ..scoring.group_sums import Sums
from ..scoring.slice_files import slice_file
from ..scoring.summary import summary_of
from ..support.errors import InputError
from ..support.storage import Place, place_of, written
from ..support.writing import as_arrow
from ..tables.selections import check_column, listed_sequences
from ..tracking.tracks import track_notes, track_summary
from .columns import check_alike, columns_to_read, required_columns
from .contents import ON_ERROR, Contents, contents_of
from .evaluation import empty_sides, score_block, track_block
from .quantiles import bin_edges, numbered_bins
from .results import Result
from .run import RunOptions, run, sources_of

By = str | Sequence[str] | Mapping[str, int | None] | None


def score_dataset(
    truth: Any,
    predictions: Any,
    out: str | Path | None = None,
    by: By = None,
    client: Any = None,
    *,
    tau: float = 10.0,
    epsilon: float = 3.0,
    similarity: str | Measure | None = None,
    threshold: float = 0.5,
    sigmas: Mapping[Any, float] | None = None,
    frames: Any = None,
    exclude: Iterable[int] | Iterable[str] | None = None,
    on_error: str = "raise",
    workers: int | None = None,
) -> pd.DataFrame:
    """Matches two Parquet datasets of objects, of any size, and returns the rows that `summarize` gives.

    Parameters
    ----------
    truth, predictions
        Parquet datasets of objects, as `match` takes them as tables: a path or URI of a file or of a folder (hive
        partitions become columns), a list of files, or a `pyarrow.dataset` of them. Sorted by sequence, or in files
        of whole sequences; otherwise `repartition_by_sequence` has to come first.
    out
        A folder, on any file system that pyarrow reaches, for the match table (`matches/`, one file a part), the
        summary, and what makes a run that was interrupted go on where it was.
    by
        Columns of the match table to group by, crossed; or a dict of them, with the number of quantile bins that the
        numbers of a column of truths or of predictions are put into (None: as they are), as `pandas.qcut` does.
    client
        A `dask.distributed.Client`: the work is done on its cluster, whose workers have to reach the files by the
        same names.
    tau, epsilon, similarity, threshold, sigmas
        As for `match`.
    frames
        The truth's frames, a dataset like the others: `sequence`, `frame`, and any attributes.
    exclude
        Sequences to leave out.
    on_error
        "raise" stops at a file that cannot be read; "skip" leaves out the sequences that it holds, on both sides, and
        warns which.
    workers
        How many processes of this machine work; by default one for few rows, and else as many as there are cores.

    Returns
    -------
    DataFrame as of `summarize`. Its `attrs` also have `truth_only` and `predictions_only`, the first thousand sequences
    that one side only has, `n_truth_only` and `n_predictions_only`, and `skipped`, what was left out and why.

    Raises
    ------
    InputError: a dataset, a file or its rows are not right, the rows are in no order, `out` belongs to another run or
        cannot be written, or workers died. ImportError: `client` without the extra `dask`.
    ValueError: an option is out of range.
    """
    check_options(tau, epsilon, similarity, threshold, sigmas)
    thresholds = {"tau": float(tau), "epsilon": float(epsilon), "threshold": float(threshold)}
    options = {**thresholds, "similarity": similarity, "sigmas": sigmas}
    how = RunOptions(None if out is None else place_of(out), client, _listed(exclude), on_error, workers)
    contents = opened(truth, predictions, frames, similarity, on_error)
    [table], texts = summaries(contents, [_grouping(by)], options, how)
    for text in texts:
        warnings.warn(text, stacklevel=2)
    return table


def _listed(exclude: Iterable[int] | Iterable[str] | None) -> list[int | str] | None:
    return None if exclude is None else listed_sequences(exclude)


def _grouping(by: By) -> dict[str, int | None]:
    """The columns to group by and their numbers of bins; raises InputError where they are none, or one is twice."""
    names = [] if by is None else [by] if isinstance(by, str) else list(by)
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise InputError(f"by: is or holds a {type(odd[0]).__name__}; names of columns are needed")
    if len({*names}) < len(names):
        raise InputError(f"by: {', '.join(names)}: a name is there twice")
    grouping = dict(by) if isinstance(by, Mapping) else dict.fromkeys(names)
    for name, bins in grouping.items():
        if bins is not None and (not isinstance(bins, int) or bins < 2):
            raise InputError(f"by: {name}: {bins!r} bins; 2 or more are needed")
    return grouping


def summaries(
    contents: Mapping[str, Contents],
    groupings: Sequence[Mapping[str, int | None]],
    options: Mapping[str, Any],
    how: RunOptions,
) -> tuple[list[pd.DataFrame], list[str]]:
    """What `score_dataset` returns for each of several groupings, of one run, and texts to warn of.

    `contents` are what `opened` gives; a grouping is columns, crossed, with their numbers of bins (None: as they are),
    or empty; `options` are all those of `match` but `frames`. Raises as `score_dataset` does.
    """
    names = [list(grouping) for grouping in groupings]
    wanted = [name for some in names for name in some]
    similarity = options["similarity"]
    # A table without rows has all columns that the match table will have.
    empty = match_annotations(*empty_sides(sources_of(contents)), **options, may_be_disjoint=True)
    for name in wanted:
        check_column(empty, name)
    bins = {name: number for grouping in groupings for name, number in grouping.items() if number is not None}
    if bins and (similarity == "oks" or how.on_error == "skip"):
        raise InputError(
            "by: bins are possible neither for whole poses nor where files are skipped; give plain columns"
        )
    edges = {name: bin_edges(contents, name, number, how.excluded(contents)) for name, number in bins.items()}
    keep = how.out is not None
    method = partial(score_block, groupings=names, edges=edges, options=dict(options), keep=keep)
    sources = sources_of(contents, None if keep else columns_to_read(contents, wanted, similarity))
    what = {
        "groupings": [list(grouping.items()) for grouping in groupings],
        "options": dict(options) | {"similarity": _told_apart(similarity)},
    }
    result = run(contents, sources, method, what, how)
    tables = [_noted(summary_of(_with_bins(sums, edges)), result) for sums in result.sums]
    if how.out is not None:
        for some, table in zip(names, tables, strict=True):
            name, plain = slice_file(some, table) if some else ("summary", table)
            _write_table(plain, how.out.inside(f"{name}.parquet"), contents)
    return tables, _warnings_of(result)


def _with_bins(sums: Sums, edges: Mapping[Any, np.ndarray]) -> Sums:
    """The sums by bins instead of by their numbers."""
    bins = {str(name): numbered_bins(sums.labels[name], edges[name]) for name in sums.labels if name in edges}
    return sums._replace(labels=sums.labels.assign(**bins))


def track_dataset(
    truth: Any,
    predictions: Any,
    out: str | Path | None = None,
    client: Any = None,
    *,
    similarity: str | Measure = "iou",
    identity: str = "object",
    tau: float = 10.0,
    frames: Any = None,
    exclude: Iterable[int] | Iterable[str] | None = None,
    on_error: str = "raise",
    workers: int | None = None,
) -> pd.DataFrame:
    """Evaluates the tracks of two Parquet datasets, of any size, and returns the table `track` calls `summary`.

    `similarity`, `identity` and `tau` are as for `track`; everything else, and what is raised, as for `score_dataset`.
    With `out` the match table of CLEAR is kept. Memory grows by about 1.5 kB a sequence.
    """
    check_measure(similarity, tau)
    how = RunOptions(None if out is None else place_of(out), client, _listed(exclude), on_error, workers)
    contents = opened(truth, predictions, frames, similarity, on_error)
    keep = how.out is not None
    method = partial(track_block, similarity=similarity, identity=identity, tau=tau, keep=keep)
    columns = columns_to_read(contents, [f"truth_{identity}", f"predicted_{identity}"], similarity)
    what = {"similarity": _told_apart(similarity), "identity": identity, "tau": float(tau)}
    result = run(contents, sources_of(contents, None if keep else columns), method, what, how)
    summary = track_summary(result.sums[0])
    summary.attrs = track_notes(similarity, identity, tau)
    summary = _noted(summary, result)
    if how.out is not None:
        _write_table(summary, how.out.inside("summary.parquet"), contents)
    for text in _warnings_of(result):
        warnings.warn(text, stacklevel=2)
    return summary


def opened(
    truth: Any, predictions: Any, frames: Any, similarity: str | Measure | None = None, on_error: str = "raise"
) -> dict[str, Contents]:
    """What the datasets hold, by side; every problem of any of them at once."""
    if on_error not in ON_ERROR:
        raise ValueError(f"on_error is {on_error!r}; {' or '.join(map(repr, ON_ERROR))} is needed")
    datasets = {"truth": truth, "predictions": predictions} | ({} if frames is None else {"frames": frames})
    required = required_columns(similarity)
    contents, problems = {}, []
    for side, dataset in datasets.items():
        try:
            contents[side] = contents_of(dataset, required[side], on_error)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    check_alike(contents)
    return contents


def _warnings_of(result: Result) -> list[str]:
    """What to warn of: what was skipped, and sequences that one side only has."""
    texts = [f"skipped: {text}" for text in result.skipped]
    meaning = {"truth": "their objects count as missed", "predictions": "theirs count as false alarms"}
    for side, (number, names) in result.one_sided.items():
        if number:
            listed = ", ".join([*map(str, names[:5]), *(["..."] if number > 5 else [])])
            which = "1 sequence is" if number == 1 else f"{number:,} sequences are"
            texts.append(f"{which} in the {side} only ({meaning[side]}): {listed}")
    return texts


def _noted(table: pd.DataFrame, result: Result) -> pd.DataFrame:
    """The table with what was noticed in its attrs."""
    for side, (number, names) in result.one_sided.items():
        table.attrs[f"n_{side}_only"], table.attrs[f"{side}_only"] = number, names
    table.attrs["skipped"] = result.skipped
    return table


def _told_apart(similarity: str | Measure | None) -> str | None:
    """What tells a similarity from others; of a function, what it is made of."""
    if not callable(similarity):
        return similarity
    import cloudpickle

    return hashlib.sha256(cloudpickle.dumps(similarity)).hexdigest()


def _write_table(table: pd.DataFrame, place: Place, contents: Mapping[str, Contents]) -> None:
    """Writes a table as Parquet, with what it was made from and how in its metadata."""
    import pyarrow.parquet as pq

    with written(place) as stream:
        pq.write_table(as_arrow(table, {side: held.name for side, held in contents.items()} | table.attrs), stream)
