"""score_dataset() and track_dataset(): Parquet datasets of any size, evaluated part by part.

The numbers are those of `match` and `summarize`, or of `track`, on the same rows: a part is a range of sequences, whole
ones only, and sums over sequences add up. Counts are the same to the bit however the data is laid out and whoever does
the work; sums of errors may differ in the last digits, as additions in another order do.

Known differences from evaluating the tables in memory
    - Sequences that one side only has count as missed or as false alarms, with a warning that names them, as in memory;
      that no sequence is on both sides is known, and refused, only at the end, unless their ranges tell.
    - Columns that Parquet keeps as a dictionary (categories of pandas) are read as the values they stand for, so
      slices by them are in the order of these.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from ..errors import InputError
from ..files import as_arrow, check_folder_writable, plain_value
from ..matching import check_options
from ..progress import progress_bar
from ..similarity import Measure
from ..summary import listed_sequences, summary_of
from ..tracking import track_notes, track_summary
from .blocks import Source
from .columns import check_alike, check_groups, columns_to_read, required_columns
from .contents import ON_ERROR, Contents, contents_of
from .dask import evaluated_on_cluster
from .evaluation import Job, Method, gap_text, no_result, nothing, score_block, track_block
from .journal import resumed, tidy
from .parts import Part, parts_of
from .quantiles import bin_edges, numbered_bins
from .results import Result, track_sums
from .storage import Place, place_of, written
from .workers import cores, evaluated_here

# Rows, of both sides, below which starting processes takes longer than they save.
FEW_ROWS = 1 << 20


def score_dataset(
    truth: Any,
    predictions: Any,
    out: str | Path | None = None,
    by: str | Sequence[str] | Mapping[str, int | None] | None = None,
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
        numbers of a column of truths or of predictions are put into (None: as they are).
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
        How many processes of this machine work; by default as many as there are cores.

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
    options = {"tau": tau, "epsilon": epsilon, "similarity": similarity, "threshold": threshold, "sigmas": sigmas}
    check_options(tau, epsilon, similarity, threshold, sigmas)
    contents = opened(truth, predictions, frames, similarity, on_error)
    [table] = summaries(
        contents, [_grouping(by)], options, out, client, exclude=exclude, on_error=on_error, workers=workers
    )
    return table


def _grouping(by: str | Sequence[str] | Mapping[str, int | None] | None) -> dict[str, int | None]:
    """The columns to group by and their numbers of bins; raises InputError where they are no names, or one is twice."""
    if isinstance(by, Mapping):
        return dict(by)
    names = [] if by is None else [by] if isinstance(by, str) else list(by)
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise InputError(f"by: is or holds a {type(odd[0]).__name__}; names of columns are needed")
    if len({*names}) < len(names):
        raise InputError(f"by: {', '.join(names)}: a name is there twice")
    return dict.fromkeys(names)


def summaries(
    contents: Mapping[str, Contents],
    groupings: Sequence[Mapping[str, int | None]],
    options: Mapping[str, Any],
    out: str | Path | None = None,
    client: Any = None,
    *,
    exclude: Iterable[int] | Iterable[str] | None = None,
    on_error: str = "raise",
    workers: int | None = None,
) -> list[pd.DataFrame]:
    """What `score_dataset` returns for each of several groupings, of one run; it says what is taken and raised.

    `contents` are what `opened` gives; a grouping is columns, crossed, with their numbers of bins (None: as they are),
    or empty; `options` are those of `match`.
    """
    similarity = options["similarity"]
    for grouping in groupings:
        check_groups(list(grouping), contents, similarity)
    excluded = _excluded(exclude, contents)
    edges = {
        name: bin_edges(contents, name, bins, excluded)
        for grouping in groupings
        for name, bins in grouping.items()
        if bins is not None
    }
    names = [list(grouping) for grouping in groupings]
    method = partial(score_block, groupings=names, edges=edges, options=dict(options), keep=out is not None)
    wanted = [name for some in names for name in some]
    columns = columns_to_read(contents, wanted, similarity, everything=out is not None)
    what = {"groupings": groupings, "options": dict(options) | {"similarity": _named(similarity)}}
    result = _run(contents, columns, method, what, out, client, excluded, on_error, workers)
    _warn_of(result, stacklevel=4)
    tables = []
    for sums, some in zip(result.sums, names, strict=True):
        labels = {name: numbered_bins(sums.labels[name], edges[name]) for name in some if name in edges}
        table = _noted(summary_of(sums._replace(labels=sums.labels.assign(**labels))), result)
        tables.append(table)
        if out is not None:
            # Parquet knows no intervals.
            plain = table.assign(**{name: table[name].map(plain_value) for name in labels})
            _write_table(
                plain, place_of(out).inside(f"{'_'.join(['by', *some]) if some else 'summary'}.parquet"), contents
            )
    return tables


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
    if callable(similarity) or similarity in ("iou", "point"):
        check_options(tau, 0.0, similarity, 0.5)
    else:
        raise ValueError(f"similarity is {similarity!r}; 'iou', 'point' or a function is needed")
    contents = opened(truth, predictions, frames, similarity, on_error)
    wanted = [f"truth_{identity}", f"predicted_{identity}"]
    columns = columns_to_read(contents, wanted, similarity, everything=out is not None)
    method = partial(track_block, similarity=similarity, identity=identity, tau=tau, keep=out is not None)
    what = {"similarity": _named(similarity), "identity": identity, "tau": tau}
    excluded = _excluded(exclude, contents)
    result = _run(contents, columns, method, what, out, client, excluded, on_error, workers)
    summary = track_summary(track_sums(result.sums[0]))
    summary.attrs = track_notes(similarity, identity, tau)
    _warn_of(result, stacklevel=3)
    summary = _noted(summary, result)
    if out is not None:
        _write_table(summary, place_of(out).inside("summary.parquet"), contents)
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


def _run(
    contents: Mapping[str, Contents],
    columns: Mapping[str, Sequence[str]],
    method: Method,
    what: Mapping[str, Any],
    out: str | Path | None,
    client: Any,
    excluded: list[int | str],
    on_error: str,
    workers: int | None,
) -> Result:
    """What comes of all parts, those that an earlier run has finished included."""
    if workers is not None and workers < 1:
        raise ValueError(f"workers is {workers}; 1 or more is needed")
    sources = {
        side: Source(held.name, pa.schema([held.schema.field(name) for name in columns[side]]))
        for side, held in contents.items()
    }
    parts = parts_of(contents)
    place = None if out is None else place_of(out)
    job = Job(sources, method, excluded, on_error == "skip", place)
    finished: dict[int, Result] = {}
    if place is not None:
        if "://" not in str(out):
            check_folder_writable(Path(place.path))
        finished = resumed(place, contents, dict(what) | {"exclude": excluded, "on_error": on_error}, len(parts))
    left = [part for part in parts if part.number not in finished]
    result = _evaluated(left, job, finished, contents["truth"].n_rows, client, workers)
    if place is not None:
        tidy(place)
    _check_whole(result, contents, on_error)
    if not result.sums:  # nothing is left, or nothing was there
        _, sums = method(*nothing(sources))
        result = result._replace(sums=sums)
    gaps = [gap_text(gap) for held in contents.values() for gap in held.gaps]
    return result._replace(skipped=[*gaps, *result.skipped])


def _evaluated(
    parts: Sequence[Part], job: Job, finished: Mapping[int, Result], n_truth: int, client: Any, workers: int | None
) -> Result:
    """What comes of the parts and of those that are finished, on this machine or a cluster, with a progress bar."""
    if not parts and not finished:
        return no_result(job)
    n_done = sum(result.n_rows["truth"] for result in finished.values())
    n_read = sum(part.n_rows for part in parts)
    with progress_bar(n_truth, "evaluating", "row", n_done) as advance:

        def done(part: Part) -> None:
            advance(round((n_truth - n_done) * part.n_rows / n_read))

        if client is not None:
            return evaluated_on_cluster(client, parts, job, finished, done)
        workers = 1 if n_read < FEW_ROWS else cores() if workers is None else workers
        return evaluated_here(parts, job, min(workers, len(parts)), finished, done)


def _check_whole(result: Result, contents: Mapping[str, Contents], on_error: str) -> None:
    """Raises InputError where rows were lost, since statistics are wrong, or the sides share no sequence."""
    for side, held in contents.items():
        if on_error == "raise" and result.n_rows[side] != held.n_rows:
            what = f"{result.n_rows[side]:,} of its {held.n_rows:,} rows were found"
            raise InputError(
                f"{held.name}: {what}: the statistics of its files are wrong, or they were changed meanwhile"
            )
    there = [held for side, held in contents.items() if held.n_rows and side != "frames"]
    n_only = [number for number, _ in result.one_sided.values()]
    if len(there) == 2 and not result.n_shared and all(n_only):
        raise InputError(f"{contents['predictions'].name}: no sequence is the truth's")


def _warn_of(result: Result, stacklevel: int) -> None:
    """Warns of what was skipped, and of sequences that one side only has."""
    for text in result.skipped:
        warnings.warn(f"skipped: {text}", stacklevel=stacklevel)
    meaning = {"truth": "their objects count as missed", "predictions": "theirs count as false alarms"}
    for side, (number, names) in result.one_sided.items():
        if number:
            listed = ", ".join([*map(str, names[:5]), *(["..."] if number > 5 else [])])
            which = "1 sequence is" if number == 1 else f"{number:,} sequences are"
            warnings.warn(f"{which} in the {side} only ({meaning[side]}): {listed}", stacklevel=stacklevel)


def _noted(table: pd.DataFrame, result: Result) -> pd.DataFrame:
    """The table with what was noticed in its attrs."""
    for side, (number, names) in result.one_sided.items():
        table.attrs[f"n_{side}_only"], table.attrs[f"{side}_only"] = number, names
    table.attrs["skipped"] = result.skipped
    return table


def _excluded(exclude: Iterable[int] | Iterable[str] | None, contents: Mapping[str, Contents]) -> list[int | str]:
    """The sequences to leave out; raises InputError where they are not of the type that sequences have."""
    names = [] if exclude is None else listed_sequences(exclude)
    wrong = [name for name in names if isinstance(name, str) == contents["truth"].numbered]
    if wrong:
        kind = "integers" if contents["truth"].numbered else "strings"
        raise InputError(f"exclude: {wrong[0]!r} is a {type(wrong[0]).__name__}; the sequences here are {kind}")
    return [name if isinstance(name, str) else int(name) for name in names]


def _named(similarity: str | Measure | None) -> str | None:
    return getattr(similarity, "__name__", type(similarity).__name__) if callable(similarity) else similarity


def _write_table(table: pd.DataFrame, place: Place, contents: Mapping[str, Contents]) -> None:
    """Writes a table as Parquet, with what it was made from and how in its metadata."""
    import pyarrow.parquet as pq

    notes = {side: held.name for side, held in contents.items()}
    with written(place) as stream:
        pq.write_table(as_arrow(table, {**notes, **{str(key): value for key, value in table.attrs.items()}}), stream)
