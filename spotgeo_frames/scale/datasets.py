"""score_dataset() and track_dataset(): evaluate Parquet datasets of any size part by part.

The metrics are those of `match` and `summarize`, or of `track`, on the same rows. A part is a range of whole sequences,
or of frames of a long one, and sums over these can be added. Counts are exactly the same, however the data is laid out
and wherever parts are evaluated. Sums of errors may differ in the last digits, since they are added in another order.

Known differences from evaluating the tables in memory
    - A warning names sequences that only one side has; they count as they do in memory. If the sides share no sequence,
      the error often comes only at the end, since only disjoint ranges of sequences show it earlier.
    - Columns that Parquet stores as a dictionary (categories of pandas) are read as their values, so slices by them are
      sorted by value.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from ..geometries import Measure
from ..matching import Assignment, FrameRule, Rule, match_options, matcher, track_options, track_rule
from ..scoring import Sums, registry, slice_file, summary_of
from ..support import InputError, Storage, stores
from ..tables import By, CheckedBins, Edges, binning, dataframe_of, selections
from ..tracking import THRESHOLD, conditions, families_of, track_tables
from .blocks import empty_sides
from .columns import columns_to_read, dataset_rule, geometries, opened
from .contents import Contents
from .dataset_slices import slices_of_dataset
from .evaluation import score_block, sliced_track_block, track_block
from .listing import Dataset
from .planning import RunOptions
from .quantiles import bins_of_codes, bins_of_columns, dataset_bin_edges
from .results import category_texts, noted, warnings_of, write_table
from .run import check_out, described, run, sources_of


def score_dataset(
    truth: Dataset,
    predictions: Dataset,
    out: str | Path | None = None,
    by: By | None = None,
    client: Any = None,
    *,
    tau: float | None = None,
    epsilon: float | None = None,
    similarity: str | Measure | None = None,
    threshold: float | None = None,
    sigmas: Mapping[Any, float] | None = None,
    distance: Measure | None = None,
    unit: str | None = None,
    assignment: Assignment | None = None,
    power: float | None = None,
    frames: Dataset | None = None,
    exclude: Iterable[int] | Iterable[str] | None = None,
    on_error: str = "raise",
    workers: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> pd.DataFrame:
    """Matches two Parquet datasets of objects of any size, and returns the summary of the match table.

    The files are read part by part, so memory stays bounded. A progress bar appears on a terminal or in Jupyter after
    two seconds.

    Parameters
    ----------
    truth, predictions
        Parquet datasets of objects: the path or address of a file or of a folder (hive partitions become columns), also
        with wildcards (s3://bucket/day=*/truth.parquet), a list of files, or a `pyarrow.dataset`. A relation of DuckDB,
        or any other table, is written to a temporary folder first (TMPDIR). Columns: `sequence`, `frame`, `object`,
        `x`, `y` (px), for boxes `w`, `h` (px), and any others. The rows may be in any order, which you need not
        declare; those that are sorted by sequence are evaluated fastest. If neither the rows are sorted nor the files
        hold whole sequences, they are sorted into that temporary folder, too.
    out
        A folder on any file system that pyarrow reaches, or None. It gets the match table (`matches/`, one file a
        part) and the summary (`summary.parquet`). If the evaluation is interrupted, the same call goes on where it
        stopped, unless a table was given; what is damaged by then is evaluated again, with a warning.
    by
        Columns of the match table to group by: one, a list of them (every combination is a group), or a dict from
        column to how many quantile bins it gets (2 to 1000, those of `pandas.qcut`), to the edges of bins, or to None
        for its values as they are. Only columns of truths can have quantile bins, and of predictions where the truth
        has no crowds.
    client
        A `dask.distributed.Client`, whose cluster then does the work. Its workers must reach the files by the same
        names.
    tau, epsilon
        Match by distance, in pixels: the largest distance of a true positive (10 by default), and the distance up to
        which its error is 0 (3 by default; 0 where `tau` is at most 3 or `unit` is not "px"). Given for boxes, the
        distance is that of their centres.
    similarity, threshold
        Match by similarity instead: pairs whose similarity is at least `threshold` (above 0, up to 1; 0.5 by default).
        "iou" is for boxes and is their default, "point" is max(0, 1 - distance / (2 tau)), "oks" is for whole poses; or
        a function of two DataFrames, whose rows k are a truth and a prediction, that returns 0 to 1 for each row.
    sigmas
        For "oks", which they mean alone, too: a dict from joint to the standard deviation of its labelled place, as a
        share of the object's size; by default COCO's.
    distance, unit
        A function that measures distances instead of pixels: it gets two DataFrames of equal length, whose rows k are a
        truth and a prediction, and returns a distance of 0 or more for each row. `tau`, which it needs, and `epsilon`
        are then in its unit, and `unit` is the word for that in texts and plots, such as "arcsec".
    assignment, power
        How pairs are chosen: "most" (the default), as many as possible; "least", the least sum of distances to the
        `power` (1 or more, 2 by default), where an object without a partner costs tau^power / 2, as GOSPA and OSPA
        define it; or "score", each prediction the nearest truth that is left, in the order of their scores.
    frames
        The truth's frames, a Parquet dataset with `sequence`, `frame`, and any attributes. By default the frames that
        occur on either side count. "labelled": those in which the truth has rows; predictions elsewhere are left out.
    exclude
        Sequences to leave out, strings or integers. A warning names those that no dataset has.
    on_error
        "raise" raises an InputError for a file that cannot be read; "skip" leaves out its sequences on both sides, and
        warns of them.
    workers
        How many processes to use on this machine. By default one for few rows, and otherwise as many as there are
        cores.
    storage_options, filesystem
        How to reach addresses: the options of their file system, with fsspec's names (`key`, `secret`, `token`,
        `endpoint_url` for S3), or the file system itself, pyarrow's or fsspec's, on which all paths are then. By
        default, the environment tells, such as AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL.

    Returns
    -------
    DataFrame of metrics, one row, or one row for each group with the columns of `by` first: `tp`, `fn`, `fp`,
    `precision`, `recall`, `f1`, `mse` (px²), `kelvins_mse` and so on, as `summarize` returns them for the match table.
    Its `attrs` have the rule's notes; `truth_only` and `predictions_only`, the names of up to 1000 sequences that only
    one side has; `n_truth_only` and `n_predictions_only`, how many there are; and `skipped`, texts on the files that
    were left out. Your own metrics, which `metric()` added, are left out with a warning.

    Raises
    ------
    InputError: a dataset, a file or a row is wrong, rows in no order are given to a `client`, the sides share no
        sequence, a file has changed meanwhile, `out` belongs to another evaluation or cannot be written, workers died,
        or `by` makes more groups than memory can take.
    ValueError: an argument is out of range, or does not fit another.
    ImportError: a client, several processes or a function that measures pairs need an extra that is not installed.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth, frames = "data/sample/truth.parquet", "data/sample/frames.parquet"
    >>> summary = sf.score_dataset(truth, "data/sample/eager.parquet", frames=frames)
    >>> summary[["tp", "fn", "fp", "recall"]].round(3)
        tp  fn   fp  recall
    0  558  69  177    0.89
    """
    options = match_options(tau, epsilon, similarity, threshold, sigmas, distance, unit, assignment, power)
    left_out = None if exclude is None else selections.listed_sequences(exclude)
    storage = Storage(storage_options, filesystem)
    run_options = RunOptions(
        None if out is None else stores.place_of(out, storage), client, left_out, on_error, workers
    )
    frames, ruling = _frames_given(frames)
    with opened(truth, predictions, frames, options.similarity, on_error, storage) as contents:
        [table], texts = summaries(
            contents, [selections.column_bins(by)], dataset_rule(options, contents), run_options, ruling
        )
    for text in texts:
        warnings.warn(text, stacklevel=2)
    return table


def summaries(
    contents: Mapping[str, Contents],
    groupings: Sequence[Mapping[str, CheckedBins]],
    rule: Rule,
    run_options: RunOptions,
    frames: FrameRule = "truth",
) -> tuple[list[pd.DataFrame], list[str]]:
    """The summaries by each of several groupings, from one pass over the datasets, and the texts of warnings.

    A grouping is a dict from column to its bins (None: its values as they are), or empty. `frames` says which frames
    count. Raises InputError if a grouping does not fit the datasets, a file or a row is wrong, or results cannot be
    written; ValueError if an option is out of range.
    """
    check_out(run_options.out, contents)
    names = [list(grouping) for grouping in groupings]
    wanted = [name for columns in names for name in columns]
    # The match table of no rows has all columns of the real one.
    empty = matcher.match_sides(*empty_sides(sources_of(contents)), rule, may_be_disjoint=True)
    for name in wanted:
        selections.check_column(empty, name)
    bins = bins_of_columns(groupings)
    if any(isinstance(of, int) for of in bins.values()) and (rule.joints or run_options.on_error == "skip"):
        raise InputError(
            "by: quantile bins are not possible for whole poses, nor where files may be skipped (on_error='skip'); "
            "give edges, or columns without bins"
        )
    excluded = run_options.excluded(contents)
    table = dataframe_of(empty)
    edges = {name: dataset_bin_edges(contents, table[name], of, excluded) for name, of in bins.items()}
    keep = run_options.out is not None
    method = partial(score_block, groupings=names, edges=edges, rule=rule, frames=frames, keep=keep)
    coded = () if keep or any(name.endswith("category") for name in wanted) else ("category",)
    sources = sources_of(contents, None if keep else columns_to_read(contents, wanted, rule), coded)
    plan = {
        "groupings": [[[name, binning.plain_bins(of)] for name, of in grouping.items()] for grouping in groupings],
        **described(rule, frames),
    }
    with run(contents, sources, method, plan, run_options, cut_frames=True) as (result, folder):
        tables = [noted(summary_of(_with_bins(sums, edges)), result) for sums in result.sums]
        for columns, table in zip(names, tables, strict=True):
            name, plain = slice_file(columns, table) if columns else ("summary", table)
            write_table(plain, name, folder, contents)
    texts = [*warnings_of(result, run_options.exclude, frames), *category_texts(contents, excluded, result)]
    return tables, [*texts, *_own_metrics_left_out()]


def _own_metrics_left_out() -> list[str]:
    """The text of a warning if there are own metrics, which the processes that evaluate parts do not know."""
    names, advice = ", ".join(registry.own_metrics()), "summarize the match tables that out= keeps"
    return [f"metrics of your own are not computed for datasets: {names}; {advice}"] if names else []


def _with_bins(sums: Sums, edges: Mapping[Any, Edges]) -> Sums:
    """The sums with bins in place of the positions of bins."""
    labels = sums.labels
    bins = {name: bins_of_codes(pd.Series(labels[name]), edges[name]).array for name in labels if name in edges}
    return sums._replace(labels=labels.assign(bins))


def track_dataset(
    truth: Dataset,
    predictions: Dataset,
    out: str | Path | None = None,
    client: Any = None,
    *,
    by: By | None = None,
    similarity: str | Measure | None = None,
    identity: str = "object",
    tau: float | None = None,
    distance: Measure | None = None,
    unit: str | None = None,
    frames: Dataset | None = None,
    exclude: Iterable[int] | Iterable[str] | None = None,
    on_error: str = "raise",
    workers: int | None = None,
    metrics: str | Iterable[str] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> pd.DataFrame:
    """Evaluates the tracks of two Parquet datasets of any size by HOTA, CLEAR and Identity.

    The files are read part by part. Memory holds the rows of a few whole sequences at a time, and about 5 kB of sums
    for each sequence. A progress bar appears on a terminal or in Jupyter after two seconds.

    Parameters
    ----------
    truth, predictions
        Parquet datasets of objects: the path or address of a file or of a folder (hive partitions become columns), also
        with wildcards (s3://bucket/day=*/truth.parquet), a list of files, or a `pyarrow.dataset`. A relation of DuckDB,
        or any other table, is written to a temporary folder first (TMPDIR). Columns: `sequence`, `frame`, `object`,
        `x`, `y` (px), for boxes `w`, `h` (px), and any others. The rows may be in any order; if neither the rows are
        sorted by sequence nor the files hold whole sequences, they are sorted into that folder, too. The rows of a
        sequence are evaluated at once, which takes about 250 bytes for each row of both sides; a sequence that would
        not fit in memory is refused before the work.
    out
        A folder on any file system that pyarrow reaches, or None. It gets the match table of CLEAR (`matches/`, one
        file a part) and the summary (`summary.parquet`). If the evaluation is interrupted, the same call goes on where
        it stopped, unless a table was given; what is damaged by then is evaluated again, with a warning.
    client
        A `dask.distributed.Client`, whose cluster then does the work. Its workers must reach the files by the same
        names.
    by
        Conditions: columns of truths as `truth_<column>`, one, a list of them (every combination that occurs is a
        slice), or a dict from column to how many quantile bins it gets, to the edges of bins, or to None for its values
        as they are. In the slice of a value, all other truths are distractors, as in `track(by=...)`.
    similarity
        "iou" for boxes; "point" for max(0, 1 - distance / (2 tau)); or a function that gets two DataFrames, whose rows
        k are a truth and a prediction, and returns a similarity from 0 to 1 for each row. By default "iou" if both
        sides have `w` and `h`, and otherwise "point".
    identity
        The column that names an object through its sequence. A side that lacks the column uses `object`.
    tau
        The largest distance (px) at which CLEAR and Identity count a pair of points, 10 by default. Given for boxes, it
        means that their centres are compared.
    distance, unit
        A function that measures distances instead of pixels, for the similarity max(0, 1 - distance / (2 tau)): it gets
        two DataFrames, whose rows k are a truth and a prediction, and returns a distance of 0 or more for each row.
        `tau`, which it needs, is then in its unit, and `unit` is the word for that in texts, such as "arcsec".
    frames
        The truth's frames, a Parquet dataset with `sequence`, `frame`, and any attributes. By default the frames that
        occur on either side count. "labelled": those in which the truth has rows; predictions elsewhere are left out.
    exclude
        Sequences to leave out, strings or integers. A warning names those that no dataset has.
    on_error
        "raise" raises an InputError for a file that cannot be read; "skip" leaves out its sequences on both sides, and
        warns of them.
    workers
        How many processes to use on this machine. By default one for few rows, and otherwise as many as there are
        cores.
    metrics
        Further metrics, which take extra time, as `track` has them: "siap", "vace", "ideucl", "ospa2_10".
    storage_options, filesystem
        How to reach addresses: the options of their file system, with fsspec's names (`key`, `secret`, `token`,
        `endpoint_url` for S3), or the file system itself, pyarrow's or fsspec's, on which all paths are then. By
        default, the environment tells, such as AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL.

    Returns
    -------
    DataFrame with one row a sequence, then a row of all combined, whose `sequence` is null: the metrics of HOTA, CLEAR
    and Identity, and the counts `n_frames`, `n_truth`, `n_predicted`, `n_truth_objects`, `n_predicted_objects`; then
    those of `metrics`. With `by`, there is a row for each sequence and slice, then one for each slice, as `track` has
    them. Its `attrs` have the rule's notes; `truth_only` and `predictions_only`, the names of up to 1000 sequences that
    only one side has; `n_truth_only` and `n_predictions_only`, how many there are; and `skipped`, texts on the files
    that were left out.

    Raises
    ------
    InputError: a dataset, a file or a row is wrong, only one side has boxes and no `tau` is given, an identity occurs
        twice in a frame, a sequence does not fit in memory, rows in no order are given to a `client`, the sides share
        no sequence, a file has changed meanwhile, `out` belongs to another evaluation or cannot be written, or workers
        died.
    ValueError: an argument is out of range, or does not fit another, or `metrics` has an unknown name.
    ImportError: a client, several processes or a function that measures pairs need an extra that is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> truth = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3], "object": 7, "x": [0.0, 5.0, 9.0], "y": 0.0})
    >>> truth.to_parquet(folder / "truth.parquet")
    >>> truth.assign(object=[1, 1, 2]).to_parquet(folder / "predictions.parquet")
    >>> summary = sf.track_dataset(folder / "truth.parquet", folder / "predictions.parquet")
    >>> summary[["sequence", "MOTA", "IDSW"]].round(3)
       sequence   MOTA  IDSW
    0         1  0.667     1
    1      <NA>  0.667     1
    """
    options, families = track_options(tau, similarity, distance, unit), families_of(metrics)
    left_out = None if exclude is None else selections.listed_sequences(exclude)
    storage = Storage(storage_options, filesystem)
    run_options = RunOptions(
        None if out is None else stores.place_of(out, storage), client, left_out, on_error, workers
    )
    frames, ruling = _frames_given(frames)
    with opened(truth, predictions, frames, options.similarity, on_error, storage) as contents:
        check_out(run_options.out, contents)
        rule = track_rule(options, *geometries(contents), threshold=THRESHOLD, identity=identity)
        keep, excluded = run_options.out is not None, run_options.excluded(contents)
        plan = described(rule, ruling) | {"metrics": families}
        of_block: dict[str, Any] = {"rule": rule, "frames": ruling, "keep": keep, "families": families}
        method = partial(track_block, **of_block)
        slices = slices_of_dataset(contents, by, excluded, on_error)
        of_columns = None if slices is None else slices.columns.items()
        plan["by"] = of_columns and [[name, binning.plain_bins(of)] for name, of in of_columns]
        if slices is not None:
            method = partial(sliced_track_block, labels=slices.labels, edges=slices.edges, **of_block)
        wanted = [f"truth_{identity}", f"predicted_{identity}", *(slices.columns if slices else ())]
        columns = columns_to_read(contents, wanted, rule)
        coded = () if keep or "truth_category" in wanted else ("category",)
        sources = sources_of(contents, None if keep else columns, coded)
        with run(contents, sources, method, plan, run_options, cut_frames=False) as (result, folder):
            summary = track_tables.track_summary(result.sums[0]) if slices is None else slices.summary(result.sums[0])
            by_slices = {} if slices is None else {"by": conditions.SEPARATOR.join(slices.columns)}
            summary.attrs = rule.notes | by_slices | result.sums[0].attrs
            summary = noted(summary, result)
            write_table(summary, "summary", folder, contents)
        texts = [*warnings_of(result, run_options.exclude, ruling), *category_texts(contents, excluded, result)]
    for text in texts:
        warnings.warn(text, stacklevel=2)
    return summary


def _frames_given(frames: Any) -> tuple[Any, FrameRule]:
    """The dataset of frames, or None, and which frames count, from the argument `frames`."""
    return (None, "labelled") if isinstance(frames, str) and frames == "labelled" else (frames, "truth")
