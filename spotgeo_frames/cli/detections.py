"""The commands for detections: validate, score, compare, check, report, repartition."""

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from ..analysis import comparison, mistakes
from ..formats.any_file import read_annotations, read_sides
from ..formats.spotgeo import problem_lines, validate_spotgeo
from ..matching.matcher import match
from ..matching.words import Words
from ..presentation.page.build import check_beforehand
from ..presentation.page.build import report as write_report
from ..scale.columns import dataset_rule, opened
from ..scale.dask import connected
from ..scale.repartition import repartition_by_sequence
from ..scale.run import RunOptions
from ..scale.stream import summaries
from ..scoring.slice_files import slice_files
from ..scoring.summary import summarize
from ..support.errors import InputError
from ..support.progress import progress
from ..support.storage import place_of, sizes
from ..support.writing import check_folder_writable, write_tables
from ..tables.inputs import input_notes, inputs_of
from ..tables.selections import excluded_sequences, without_sequences
from .arguments import (
    By,
    Epsilon,
    Exclude,
    FramesAddress,
    FramesFile,
    Similarity,
    SubmissionAddress,
    SubmissionFile,
    Tau,
    Threshold,
    TruthAddress,
    TruthFile,
    columns_of,
    names_to_exclude,
    sequence_names,
    sequence_numbers,
    slices_of,
    submission_names,
    words_of,
)
from .as_json import formatted, plain_rows, summary_json
from .problems import problems_reported
from .text import comparison_text, number_text, overview, rule_text, slice_text


def validate(
    submission: SubmissionFile,
    truth: Annotated[Path | None, typer.Option(help="The truth, whose frames the submission has to cover")] = None,
    sequences: Annotated[
        str | None, typer.Option(help="The sequences that the submission has to cover, such as 1-5120")
    ] = None,
) -> None:
    """Lists every problem of a submission: types, bounds, counts, missing and extra frames."""
    if truth is not None and sequences is not None:
        raise typer.BadParameter("give --truth or --sequences, not both")
    with problems_reported(most=None):
        known = None if truth is None else read_annotations(truth)
        wanted = None if sequences is None else sequence_numbers(sequences, "--sequences")
        problems = validate_spotgeo(submission, known, wanted)
        if len(problems):
            raise InputError(problem_lines(submission, zip(problems["place"], problems["problem"], strict=True)))
    typer.echo(f"{submission}: nothing is wrong")


def score(
    truth: TruthAddress,
    submission: SubmissionAddress,
    by: By = [],  # noqa: B006 - typer reads the default, nothing changes it
    tau: Tau = None,
    epsilon: Epsilon = None,
    similarity: Similarity = None,
    threshold: Threshold = None,
    exclude: Exclude = "",
    frames: FramesAddress = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs")] = False,
    out: Annotated[str | None, typer.Option(help="Folder for the match table and the summaries, as Parquet")] = None,
    dataset: Annotated[
        bool,
        typer.Option(
            "--dataset", help="Evaluate Parquet of any size in parts, on all cores; it has to be sorted by sequence"
        ),
    ] = False,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Evaluate a --dataset on the Dask cluster at this address")
    ] = None,
) -> None:
    """Scores a submission by the metric document and by the competition's server, for all data and for slices."""
    words = words_of(tau, epsilon, similarity, threshold)
    slices = slices_of(by)
    if scheduler is not None and not dataset:
        raise typer.BadParameter("--scheduler: is for a --dataset; give both")
    score_them = partial(_score_dataset, scheduler=scheduler) if dataset else _score_files
    with problems_reported():
        summary, by_slice = score_them(truth, submission, frames, slices, words, exclude, out)
    if as_json:
        typer.echo(summary_json(summary, by_slice))
    else:
        typer.echo(f"{submission} against {truth}, {rule_text(summary.attrs)}")
        typer.echo(overview(summary.to_dict("records")[0]))
        for columns, table in by_slice.items():
            empty = f"{' or '.join(columns)} is null in every row"
            typer.echo(f"\n{slice_text(table, columns) if len(table) else empty}")


def _score_files(
    truth: str,
    submission: str,
    frames: str | None,
    slices: Sequence[Mapping[str, int | None]],
    words: Words,
    exclude: str,
    out: str | None,
) -> tuple[pd.DataFrame, dict[tuple[str, ...], pd.DataFrame]]:
    """Scores files that fit into memory; returns the summary, and a summary for each slicing by its columns."""
    if out is not None:
        check_folder_writable(Path(out))
    sides = read_sides(truth, [submission], frames, None if words.similarity is None else str(words.similarity))
    matches = match(sides[0], sides[1], **words._asdict())
    left_out, unknown = excluded_sequences(names_to_exclude(exclude, sides), [matches])
    if unknown:
        warnings.warn(unknown, stacklevel=2)
    if left_out is not None:
        matches = without_sequences(matches, left_out)
    summary = summarize(matches)
    by_slice = {tuple(columns): summarize(matches, by=columns) for columns in slices}
    if out is not None:
        tables = {"matches": matches, "summary": summary} | slice_files(by_slice)
        read = {"truth": sides[0].objects, "frames": sides[0].frames, "submission": sides[1].objects}
        write_tables(tables, Path(out), input_notes(inputs_of(read)) | ({"exclude": exclude} if exclude else {}))
    return summary, by_slice


def _score_dataset(
    truth: str,
    submission: str,
    frames: str | None,
    slices: Sequence[Mapping[str, int | None]],
    words: Words,
    exclude: str,
    out: str | None,
    scheduler: str | None,
) -> tuple[pd.DataFrame, dict[tuple[str, ...], pd.DataFrame]]:
    """Scores datasets of any size, here or on a cluster; returns the summary, and one for each slicing."""
    client = None if scheduler is None else connected(scheduler)
    contents = opened(truth, submission, frames, words.similarity)
    left_out = sequence_names(exclude, contents["truth"].numbered)
    how = RunOptions(None if out is None else place_of(out), client, left_out)
    tables, texts = summaries(contents, [{}, *slices], dataset_rule(words, contents), how)
    for text in texts:
        warnings.warn(text, stacklevel=2)
    return tables[0], {tuple(columns): table for columns, table in zip(slices, tables[1:], strict=True)}


def repartition(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="Parquet file, or a folder of them, in any order")],
    out: Annotated[str, typer.Argument(metavar="OUT", help="A folder that does not exist yet")],
) -> None:
    """Writes a copy of a Parquet dataset that is sorted by sequence, as score --dataset needs it."""
    with problems_reported():
        repartition_by_sequence(dataset, out)
        n_files = len(sizes(place_of(out)))
    typer.echo(f"{out}: {n_files:,} {'file' if n_files == 1 else 'files'}, sorted by sequence")


def compare(
    truth: TruthFile,
    submissions: Annotated[
        list[Path],
        typer.Argument(metavar="SUBMISSION SUBMISSION...", help="Two or more files of any kind that score accepts"),
    ],
    tau: Tau = None,
    epsilon: Epsilon = None,
    similarity: Similarity = None,
    threshold: Threshold = None,
    exclude: Exclude = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs")] = False,
) -> None:
    """Compares submissions: which is better, by how much, and whether the difference is more than chance."""
    words = words_of(tau, epsilon, similarity, threshold)
    if len(submissions) < 2:
        raise typer.BadParameter("give two submissions or more")
    with problems_reported():
        sides = read_sides(truth, submissions, similarity=similarity)
        matches = {
            name: match(sides[0], side, **words._asdict())
            for name, side in zip(
                submission_names(submissions), progress(sides[1:], "matching", "submission"), strict=True
            )
        }
        compared = comparison.compare(matches, exclude=names_to_exclude(exclude, sides))
    if as_json:
        typer.echo(formatted({name: plain_rows(table) for name, table in compared._asdict().items()}))
    else:
        typer.echo(f"{len(submissions)} submissions against {truth}, {rule_text(compared.leaderboard.attrs)}\n")
        typer.echo(comparison_text(compared))


def report(
    truth: TruthFile,
    submissions: Annotated[
        list[Path], typer.Argument(metavar="SUBMISSION...", help="One or more files of any kind that score accepts")
    ],
    out: Annotated[Path, typer.Option(help="The page to write, such as report.html")],
    by: By = [],  # noqa: B006 - typer reads the default, nothing changes it
    tau: Tau = None,
    epsilon: Epsilon = None,
    similarity: Similarity = None,
    threshold: Threshold = None,
    exclude: Exclude = "",
    frames: FramesFile = None,
    images: Annotated[
        Path | None, typer.Option(help="Folder of pictures, SEQUENCE/FRAME.png, to draw behind the frames")
    ] = None,
    tables: Annotated[Path | None, typer.Option(help="Folder for the tables behind the page, as Parquet")] = None,
) -> None:
    """Writes an HTML page to send to people: metrics, suspected mistakes, kinds of error, slices, and the frames."""
    words_of(tau, epsilon, similarity, threshold)
    columns = columns_of(by)
    with problems_reported():
        above = out.absolute().parent.parent
        if not above.exists():  # most likely a typing error
            raise InputError(f"{out}: cannot be written: there is no folder {above}; make it first, or give another")
        check_beforehand(out, tables, images)
        sides = read_sides(truth, submissions, frames, similarity)
        left_out = names_to_exclude(exclude, sides)
        named = dict(zip(submission_names(submissions), sides[1:], strict=True))
        write_report(
            sides[0],
            named,
            out,
            columns,
            tau,
            epsilon,
            similarity=similarity,
            threshold=threshold,
            exclude=left_out,
            images=images,
            tables=tables,
        )
    typer.echo(f"{out}: {out.stat().st_size / 1e6:.1f} MB" + ("" if tables is None else f"; {tables}: the tables"))


def check(
    truth: TruthFile,
    submission: SubmissionFile,
    tau: Tau = None,
    epsilon: Epsilon = None,
    similarity: Similarity = None,
    threshold: Threshold = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs")] = False,
) -> None:
    """Searches for common mistakes: swapped or flipped axes, wrong numbering, scaled or shifted coordinates."""
    words_of(tau, epsilon, similarity, threshold)
    with problems_reported():
        sides = read_sides(truth, [submission], similarity=similarity)
        suspicions = mistakes.check(sides[0], sides[1], tau, epsilon, similarity=similarity, threshold=threshold)
    if as_json:
        typer.echo(formatted({"suspicions": plain_rows(suspicions)}))
    elif not len(suspicions):
        typer.echo(f"{submission}: nothing is suspicious")
    else:
        for row in suspicions.to_dict("records"):
            corrected = f" (F1 {number_text(row['f1'])}, corrected {number_text(row['f1_corrected'])})"
            typer.echo(f"{row['suspicion']}{corrected}\n    {row['advice']}")
