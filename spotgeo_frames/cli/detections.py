"""The commands for detections: validate, score, compare, check, report, repartition."""

import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from ..analysis import comparison
from ..analysis import mistakes as suspicions
from ..formats.any_file import read_annotations
from ..formats.spotgeo import problem_lines, validate_spotgeo
from ..matching.matcher import match
from ..presentation.page.build import check_beforehand
from ..presentation.page.build import report as write_report
from ..scale.dask import connected
from ..scale.repartition import repartition_by_sequence
from ..scale.run import RunOptions
from ..scale.stream import opened, summaries
from ..scoring.group_sums import summary_sums
from ..scoring.slice_files import slice_files
from ..scoring.summary import summary_of
from ..support.errors import InputError
from ..support.progress import progress
from ..support.storage import place_of
from ..support.writing import check_folder_writable, write_tables
from ..tables.inputs import input_notes
from ..tables.selections import binned, without
from .arguments import (
    By,
    Epsilon,
    Exclude,
    FramesFile,
    SubmissionFile,
    Tau,
    TruthFile,
    address_of,
    check_distances,
    excluded_sequences,
    sequence_names,
    sequence_numbers,
    slices_of,
    submission_names,
)
from .as_json import formatted, plain_row, summary_json
from .problems import both, problems_reported
from .text import comparison_text, number_text, overview, slice_text


def validate(
    submission: SubmissionFile,
    truth: Annotated[Path | None, typer.Option(help="The truth whose frames the submission has to cover")] = None,
    sequences: Annotated[str | None, typer.Option(help="The sequences it has to cover, such as 1-5120")] = None,
) -> None:
    """Lists everything that is wrong with a submission: types, bounds, counts, frames missing or not wanted."""
    if truth is not None and sequences is not None:
        raise typer.BadParameter("give --truth or --sequences, not both")
    with problems_reported():
        known = None if truth is None else read_annotations(truth)
        wanted = None if sequences is None else sequence_numbers(sequences, "--sequences")
        problems = validate_spotgeo(submission, known, wanted)
        if len(problems):
            raise InputError(problem_lines(submission, zip(problems["place"], problems["problem"], strict=True)))
    typer.echo(f"{submission}: nothing is wrong")


def score(
    truth: TruthFile,
    submission: SubmissionFile,
    by: By = [],  # noqa: B006 - typer reads the default, nothing changes it
    tau: Tau = 10.0,
    epsilon: Epsilon = 3.0,
    exclude: Exclude = "",
    frames: FramesFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the match table and the summaries, as Parquet")] = None,
    dataset: Annotated[
        bool, typer.Option("--dataset", help="Parquet of any size, by sequence: evaluated part by part, on all cores")
    ] = False,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Evaluate a --dataset on the Dask cluster there")
    ] = None,
) -> None:
    """Scores a submission by the metric document and by the competition's server, overall and by slice."""
    check_distances(tau, epsilon)
    slices = slices_of(by)
    if scheduler is not None and not dataset:
        raise typer.BadParameter("--scheduler: is for a --dataset")
    score_them = partial(_score_dataset, scheduler=scheduler) if dataset else _score_files
    with problems_reported():
        summary, by_slice = score_them(truth, submission, frames, slices, tau, epsilon, exclude, out)
    if as_json:
        typer.echo(summary_json(summary, by_slice))
    else:
        typer.echo(f"{submission} against {truth}, tau {tau:g} px, epsilon {epsilon:g} px")
        typer.echo(overview(summary.to_dict("records")[0]))
        for column, table in by_slice.items():
            typer.echo(f"\n{slice_text(table) if len(table) else f'{column} is null in every row'}")


def _score_files(
    truth: Path,
    submission: Path,
    frames: Path | None,
    slices: Mapping[str, int | None],
    tau: float,
    epsilon: float,
    exclude: str,
    out: Path | None,
) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """The summary, and those by slice, of files that fit the memory."""
    if out is not None:
        check_folder_writable(out)
    sides = both(lambda: read_annotations(truth, frames), lambda: read_annotations(submission))
    matches = match(sides[0], sides[1], tau, epsilon)
    if exclude:
        matches = without(matches, excluded_sequences(exclude, sides))
        matches.attrs["exclude"] = exclude
    summary = summary_of(summary_sums(matches))  # all rows are there: nothing to warn of
    by_slice = {
        column: summary_of(summary_sums(matches, binned(matches, column, bins))) for column, bins in slices.items()
    }
    if out is not None:
        inputs = {"truth": truth, "submission": submission} | ({} if frames is None else {"frames": frames})
        write_tables({"matches": matches, "summary": summary} | slice_files(by_slice), out, input_notes(inputs))
    return summary, by_slice


def _score_dataset(
    truth: Path,
    submission: Path,
    frames: Path | None,
    slices: Mapping[str, int | None],
    tau: float,
    epsilon: float,
    exclude: str,
    out: Path | None,
    scheduler: str | None,
) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """The same of datasets of any size, here or on a cluster."""
    client = None if scheduler is None else connected(scheduler)
    contents = opened(address_of(truth), address_of(submission), None if frames is None else address_of(frames))
    left_out = sequence_names(exclude, contents["truth"].numbered) if exclude else None
    groupings = [{}, *({column: bins} for column, bins in slices.items())]
    options = {"tau": tau, "epsilon": epsilon, "similarity": None, "threshold": 0.5, "sigmas": None}
    how = RunOptions(None if out is None else place_of(address_of(out)), client, left_out)
    tables, texts = summaries(contents, groupings, options, how)
    for text in texts:
        warnings.warn(text, stacklevel=2)
    return tables[0], dict(zip(slices, tables[1:], strict=True))


def repartition(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="Parquet, or a folder of it, in any order")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A folder that is not there yet")],
) -> None:
    """Writes a Parquet dataset anew, sorted by sequence, as score --dataset needs it."""
    with problems_reported():
        repartition_by_sequence(address_of(dataset), address_of(out))
    n_files = len(list(out.iterdir()))
    typer.echo(f"{out}: {n_files:,} {'file' if n_files == 1 else 'files'}, sorted by sequence")


def compare(
    truth: TruthFile,
    submissions: Annotated[
        list[Path], typer.Argument(metavar="SUBMISSION SUBMISSION...", help="Two or more, of any kind that score takes")
    ],
    tau: Tau = 10.0,
    epsilon: Epsilon = 3.0,
    exclude: Exclude = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs")] = False,
) -> None:
    """Compares submissions: which is better, by how much, and whether that is more than chance."""
    check_distances(tau, epsilon)
    if len(submissions) < 2:
        raise typer.BadParameter("give two submissions or more")
    with problems_reported():
        sides = both(*(partial(read_annotations, path) for path in (truth, *submissions)))
        matches = {
            name: match(sides[0], side, tau, epsilon)
            for name, side in zip(
                submission_names(submissions), progress(sides[1:], "matching", "submission"), strict=True
            )
        }
        left_out = excluded_sequences(exclude, sides) if exclude else None
        compared = comparison.compare(matches, exclude=left_out)
    if as_json:
        answer = {
            name: [plain_row(row) for row in table.to_dict("records")] for name, table in compared._asdict().items()
        }
        typer.echo(formatted(answer))
    else:
        typer.echo(f"{len(submissions)} submissions against {truth}, tau {tau:g} px, epsilon {epsilon:g} px\n")
        typer.echo(comparison_text(compared))


def report(
    truth: TruthFile,
    submissions: Annotated[
        list[Path], typer.Argument(metavar="SUBMISSION...", help="One or more, of any kind that score takes")
    ],
    out: Annotated[Path, typer.Option(help="The page to write, such as report.html")],
    by: By = [],  # noqa: B006 - typer reads the default, nothing changes it
    tau: Tau = 10.0,
    epsilon: Epsilon = 3.0,
    exclude: Exclude = "",
    frames: FramesFile = None,
    images: Annotated[
        Path | None, typer.Option(help="Folder of the frames' pictures, SEQUENCE/FRAME.png, to draw behind them")
    ] = None,
    tables: Annotated[Path | None, typer.Option(help="Folder for the tables behind the page, as Parquet")] = None,
) -> None:
    """Writes an HTML page to send to people: numbers, suspicions, errors, slices, and the frames themselves."""
    check_distances(tau, epsilon)
    slices = slices_of(by)
    with problems_reported():
        check_beforehand(out, tables, images)
        sides = both(
            partial(read_annotations, truth, frames), *(partial(read_annotations, path) for path in submissions)
        )
        left_out = excluded_sequences(exclude, sides) if exclude else None
        named = dict(zip(submission_names(submissions), sides[1:], strict=True))
        write_report(sides[0], named, out, slices, tau, epsilon, exclude=left_out, images=images, tables=tables)
    typer.echo(f"{out}: {out.stat().st_size / 1e6:.1f} MB" + ("" if tables is None else f"; {tables}: the tables"))


def check(
    truth: TruthFile,
    submission: SubmissionFile,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs")] = False,
) -> None:
    """Looks for common mistakes: axes swapped or flipped, numbering from 0, scaled or shifted coordinates, and more."""
    with problems_reported():
        sides = both(partial(read_annotations, truth), partial(read_annotations, submission))
        found = suspicions.check(sides[0], sides[1])
    if as_json:
        typer.echo(formatted({"suspicions": [plain_row(row) for row in found.to_dict("records")]}))
    elif not len(found):
        typer.echo(f"{submission}: nothing is suspicious")
    else:
        for row in found.to_dict("records"):
            corrected = f" (F1 {number_text(row['f1'])}, corrected {number_text(row['f1_corrected'])})"
            typer.echo(f"{row['suspicion']}{corrected}\n    {row['advice']}")
