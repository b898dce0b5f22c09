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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..matching.matcher import match_annotations
from ..matching.rule import Rule
from ..matching.similarity import Measure
from ..matching.words import Geometry, Words, asked, asked_of_tracks, rule_for, track_rule
from ..scoring.group_sums import Sums
from ..scoring.slice_files import slice_file
from ..scoring.summary import summary_of
from ..support.errors import InputError
from ..support.storage import Place, place_of, written
from ..support.writing import as_arrow
from ..tables.selections import By, check_column, column_bins, listed_sequences, unknown_text
from ..tracking.metrics.clear import THRESHOLD
from ..tracking.tracks import track_summary
from .columns import check_alike, columns_to_read, required_columns
from .contents import ON_ERROR, Contents, contents_of
from .evaluation import empty_sides, score_block, track_block
from .quantiles import bins_of_codes, dataset_bin_edges
from .results import Result
from .run import RunOptions, run, sources_of


def score_dataset(
    truth: Any,
    predictions: Any,
    out: str | Path | None = None,
    by: By | None = None,
    client: Any = None,
    *,
    tau: float | None = None,
    epsilon: float | None = None,
    similarity: str | Measure | None = None,
    threshold: float | None = None,
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
        Columns of the match table to group by, crossed: one, a list of them, or a dict that gives each a number of
        quantile bins (2 to 1000, those of `pandas.qcut`) or None for its values as they are. Columns of truths and of
        predictions can be binned.
    client
        A `dask.distributed.Client`: the work is done on its cluster, whose workers have to reach the files by the
        same names.
    tau, epsilon, similarity, threshold, sigmas
        As for `match`.
    frames
        The truth's frames, a dataset like the others: `sequence`, `frame`, and any attributes.
    exclude
        Sequences to leave out, strings or integers. A warning names those that the datasets do not have.
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
    words = asked(tau, epsilon, similarity, threshold, sigmas)
    left_out = None if exclude is None else listed_sequences(exclude)
    how = RunOptions(None if out is None else place_of(out), client, left_out, on_error, workers)
    contents = opened(truth, predictions, frames, similarity, on_error)
    [table], texts = summaries(contents, [column_bins(by)], dataset_rule(words, contents), how)
    for text in texts:
        warnings.warn(text, stacklevel=2)
    return table


def summaries(
    contents: Mapping[str, Contents],
    groupings: Sequence[Mapping[str, int | None]],
    rule: Rule,
    how: RunOptions,
) -> tuple[list[pd.DataFrame], list[str]]:
    """What `score_dataset` returns for each of several groupings, of one run, and texts to warn of.

    `contents` are what `opened` gives; a grouping is columns, crossed, with their numbers of bins (None: as they are),
    or empty; the rule is what `dataset_rule` gives. Raises as `score_dataset` does.
    """
    names = [list(grouping) for grouping in groupings]
    wanted = [name for some in names for name in some]
    # A table without rows has all columns that the match table will have.
    empty = match_annotations(*empty_sides(sources_of(contents)), rule, may_be_disjoint=True)
    for name in wanted:
        check_column(empty, name)
    wanted_bins = {*((name, count) for grouping in groupings for name, count in grouping.items())}
    if len(wanted_bins) > len({name for name, _ in wanted_bins}):
        raise InputError("by: a column is there with several numbers of bins, which a dataset cannot take; give one")
    bins = {name: count for name, count in wanted_bins if count is not None}
    if bins and (rule.name == "oks" or how.on_error == "skip"):
        raise InputError(
            "by: bins are possible neither for whole poses nor where files are skipped; give plain columns"
        )
    edges = {name: dataset_bin_edges(contents, name, count, how.excluded(contents)) for name, count in bins.items()}
    keep = how.out is not None
    method = partial(score_block, groupings=names, edges=edges, rule=rule, keep=keep)
    sources = sources_of(contents, None if keep else columns_to_read(contents, wanted, rule))
    what = {
        "groupings": [list(grouping.items()) for grouping in groupings],
        **_told_apart(rule),
    }
    result = run(contents, sources, method, what, how)
    tables = [_noted(summary_of(_with_bins(sums, edges)), result) for sums in result.sums]
    if how.out is not None:
        for some, table in zip(names, tables, strict=True):
            name, plain = slice_file(some, table) if some else ("summary", table)
            _write_table(plain, how.out.inside(f"{name}.parquet"), contents)
    return tables, _warnings_of(result, how.exclude)


def _with_bins(sums: Sums, edges: Mapping[Any, np.ndarray]) -> Sums:
    """The sums by bins instead of by their positions."""
    bins = {str(name): bins_of_codes(sums.labels[name], edges[name]) for name in sums.labels if name in edges}
    return sums._replace(labels=sums.labels.assign(**bins))


def track_dataset(
    truth: Any,
    predictions: Any,
    out: str | Path | None = None,
    client: Any = None,
    *,
    similarity: str | Measure | None = None,
    identity: str = "object",
    tau: float | None = None,
    frames: Any = None,
    exclude: Iterable[int] | Iterable[str] | None = None,
    on_error: str = "raise",
    workers: int | None = None,
) -> pd.DataFrame:
    """Evaluates the tracks of two Parquet datasets, of any size, and returns the table `track` calls `summary`.

    `similarity`, `identity` and `tau` are as for `track`; everything else, and what is raised, as for `score_dataset`.
    With `out` the match table of CLEAR is kept. Memory grows by about 1.5 kB a sequence.
    """
    words = asked_of_tracks(tau, similarity)
    left_out = None if exclude is None else listed_sequences(exclude)
    how = RunOptions(None if out is None else place_of(out), client, left_out, on_error, workers)
    contents = opened(truth, predictions, frames, similarity, on_error)
    rule = track_rule(words, *_geometries(contents), threshold=THRESHOLD, identity=identity)
    keep = how.out is not None
    method = partial(track_block, rule=rule, keep=keep)
    columns = columns_to_read(contents, [f"truth_{identity}", f"predicted_{identity}"], rule)
    what = _told_apart(rule)
    result = run(contents, sources_of(contents, None if keep else columns), method, what, how)
    summary = track_summary(result.sums[0])
    summary.attrs = rule.notes
    summary = _noted(summary, result)
    if how.out is not None:
        _write_table(summary, how.out.inside("summary.parquet"), contents)
    for text in _warnings_of(result, how.exclude):
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


def _warnings_of(result: Result, exclude: Sequence[int | str] | None) -> list[str]:
    """What to warn of: what was skipped, sequences on one side only, and names to leave out that no sequence has."""
    texts = [f"skipped: {text}" for text in result.skipped]
    meaning = {"truth": "their objects count as missed", "predictions": "theirs count as false alarms"}
    for side, (count, names) in result.one_sided.items():
        if count:
            listed = ", ".join([*map(str, names[:5]), *(["..."] if count > 5 else [])])
            which = "1 sequence is" if count == 1 else f"{count:,} sequences are"
            texts.append(f"{which} in the {side} only ({meaning[side]}): {listed}")
    if exclude and not result.skipped:  # what was skipped may be what is left out
        unknown = unknown_text(exclude, {*result.excluded})
        texts += [] if unknown is None else [unknown]
    return texts


def _noted(table: pd.DataFrame, result: Result) -> pd.DataFrame:
    """The table with what was noticed in its attrs."""
    for side, (number, names) in result.one_sided.items():
        table.attrs[f"n_{side}_only"], table.attrs[f"{side}_only"] = number, names
    table.attrs["skipped"] = result.skipped
    return table


def dataset_rule(words: Words, contents: Mapping[str, Contents]) -> Rule:
    """The rule for datasets, whose columns tell the geometry; raises InputError as `rule_for` does."""
    return rule_for(words, *_geometries(contents))


def _geometries(contents: Mapping[str, Contents]) -> Iterator[Geometry]:
    for side in ("truth", "predictions"):
        held = contents[side]
        yield Geometry(held.name, held.schema.names, held.n_rows)


def _told_apart(rule: Rule) -> dict[str, Any]:
    """What tells a rule from others; of the caller's function, what it is made of."""
    told = {str(key): value for key, value in rule.notes.items()}
    told["sigmas"] = None if rule.sigmas is None else dict(rule.sigmas)
    if rule.measure is None:
        return told
    import cloudpickle

    return told | {"measure": hashlib.sha256(cloudpickle.dumps(rule.measure)).hexdigest()}


def _write_table(table: pd.DataFrame, place: Place, contents: Mapping[str, Contents]) -> None:
    """Writes a table as Parquet, with what it was made from and how in its metadata."""
    import pyarrow.parquet as pq

    with written(place) as stream:
        pq.write_table(as_arrow(table, {side: held.name for side, held in contents.items()} | table.attrs), stream)
