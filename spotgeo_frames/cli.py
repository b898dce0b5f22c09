"""The command line: parses, calls, prints.

Exit status 0; 1 for input that cannot be accepted, every problem a line on standard error; 2 for wrong usage.
"""

import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pandas as pd
import typer

from . import comparison, poses, suspicions, tracking
from .cli_text import comparison_text, number_text, one_line, overview, pose_text, slice_text, track_text
from .errors import InputError, SliceError
from .files import check_folder_writable, input_notes, plain_value, slice_files, stem, write_tables
from .matching import check_thresholds, match
from .pose_preprocessing import read_posetrack
from .preprocessing import BENCHMARKS, read_motchallenge
from .progress import progress
from .readers import read_annotations
from .readers.posetrack import JOINTS
from .readers.spotgeo import problem_lines, validate_spotgeo
from .reporting import report as write_report
from .reporting.report import check_beforehand
from .scale import repartition_by_sequence
from .scale.dask import connected
from .scale.run import RunOptions
from .scale.storage import place_of
from .scale.stream import opened, summaries
from .summary import binned, summarize, without
from .tables import Annotations

app = typer.Typer(
    help="Evaluates detectors and trackers: says how good a submission is, and where and why it fails.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

TruthFile = Annotated[
    Path, typer.Argument(metavar="TRUTH", help="Competition JSON (.json, .gz, .zip), Parquet (a folder, too) or CSV")
]
SubmissionFile = Annotated[
    Path, typer.Argument(metavar="SUBMISSION", help="Competition JSON, Parquet (a folder, too) or CSV")
]

By = Annotated[
    list[str], typer.Option(metavar="COLUMN[:BINS]", help="Slice by a column of the match table; repeat for more")
]
Tau = Annotated[float, typer.Option(help="Largest distance of a true positive, px")]
Epsilon = Annotated[float, typer.Option(help="Distance up to which the error is 0, px")]
Exclude = Annotated[str, typer.Option(help="Sequences to leave out, such as 5,9-12")]
FramesFile = Annotated[Path | None, typer.Option(help="Parquet or CSV of the truth's frames")]

TruthFolder = Annotated[
    Path,
    typer.Argument(
        metavar="TRUTH_DIR",
        readable=False,  # the reader says itself what it cannot read
        help="MOTChallenge folder of SEQUENCE/gt/gt.txt (and seqinfo.ini) or of SEQUENCE.txt, or a .zip of the latter",
    ),
]
TrackerFolder = Annotated[
    Path, typer.Argument(metavar="TRACKER_DIR", readable=False, help="Folder of SEQUENCE.txt, or a .zip of it")
]

PoseTruthFolder = Annotated[
    Path,
    typer.Argument(metavar="TRUTH_DIR", readable=False, help="Folder of PoseTrack's SEQUENCE.json, or a .zip of it"),
]
PosePredictionFolder = Annotated[
    Path, typer.Argument(metavar="PREDICTION_DIR", readable=False, help="The same, of what a tracker found")
]

# PoseTrack's joints as its two evaluation kits call them, in their order.
HOTA_JOINTS = dict(
    zip(
        ["Nose", "Neck", "Head", "LS", "RS", "LE", "RE", "LW", "RW", "LH", "RH", "LK", "RK", "LA", "RA"],
        JOINTS,
        strict=True,
    )
)
POSEVAL_JOINTS = {
    name: name
    for name in [
        "right_ankle",
        "right_knee",
        "right_hip",
        "left_hip",
        "left_knee",
        "left_ankle",
        "right_wrist",
        "right_elbow",
        "right_shoulder",
        "left_shoulder",
        "left_elbow",
        "left_wrist",
    ]
} | {"neck": "head_bottom", "nose": "nose", "head_top": "head_top"}

# More sequences than this in one list are a slip of the keyboard.
MOST_SEQUENCES = 10_000_000


def main() -> None:
    # Ended from outside, the run still takes away what it has begun to write.
    for ending in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(ending) is not signal.SIG_IGN:  # nohup wants the closing of a terminal ignored
            signal.signal(ending, lambda number, _: sys.exit(128 + number))
    app(prog_name="spotgeo-frames")


@app.command()
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
        wanted = None if sequences is None else _sequences(sequences, "--sequences")
        problems = validate_spotgeo(submission, known, wanted)
        if len(problems):
            raise InputError(problem_lines(submission, zip(problems["place"], problems["problem"], strict=True)))
    typer.echo(f"{submission}: nothing is wrong")


@app.command()
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
    _check_thresholds(tau, epsilon)
    slices = _slices(by)
    if scheduler is not None and not dataset:
        raise typer.BadParameter("--scheduler: is for a --dataset")
    score_them = partial(_score_dataset, scheduler=scheduler) if dataset else _score_files
    with problems_reported():
        summary, by_slice = score_them(truth, submission, frames, slices, tau, epsilon, exclude, out)
    if as_json:
        typer.echo(_json(summary, by_slice))
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
    sides = _both(lambda: read_annotations(truth, frames), lambda: read_annotations(submission))
    matches = match(sides[0], sides[1], tau, epsilon)
    if exclude:
        matches = without(matches, _excluded(exclude, sides))
        matches.attrs["exclude"] = exclude
    summary = summarize(matches)
    by_slice = {column: summarize(matches, by=binned(matches, column, bins)) for column, bins in slices.items()}
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
    contents = opened(_address(truth), _address(submission), None if frames is None else _address(frames))
    left_out = _names_or_numbers(exclude, contents["truth"].numbered) if exclude else None
    groupings = [{}, *({column: bins} for column, bins in slices.items())]
    options = {"tau": tau, "epsilon": epsilon, "similarity": None, "threshold": 0.5, "sigmas": None}
    how = RunOptions(None if out is None else place_of(_address(out)), client, left_out)
    tables = summaries(contents, groupings, options, how)
    return tables[0], dict(zip(slices, tables[1:], strict=True))


def _address(path: Path) -> str:
    """A path, or the URI such as s3://bucket/folder that it was before it was taken for one."""
    return re.sub(r"^([a-z][a-z0-9+.-]+):/+", r"\1://", str(path)).replace("file://", "file:///")


@app.command()
def repartition(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="Parquet, or a folder of it, in any order")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A folder that is not there yet")],
) -> None:
    """Writes a Parquet dataset anew, sorted by sequence, as score --dataset needs it."""
    with problems_reported():
        repartition_by_sequence(_address(dataset), _address(out))
    n_files = len(list(out.iterdir()))
    typer.echo(f"{out}: {n_files:,} {'file' if n_files == 1 else 'files'}, sorted by sequence")


@app.command()
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
    _check_thresholds(tau, epsilon)
    if len(submissions) < 2:
        raise typer.BadParameter("give two submissions or more")
    with problems_reported():
        sides = _both(*(partial(read_annotations, path) for path in (truth, *submissions)))
        matches = {
            name: match(sides[0], side, tau, epsilon)
            for name, side in zip(_names(submissions), progress(sides[1:], "matching", "submission"), strict=True)
        }
        left_out = _excluded(exclude, sides) if exclude else None
        compared = comparison.compare(matches, exclude=left_out)
    if as_json:
        answer = {
            name: [_plain_row(row) for row in table.to_dict("records")] for name, table in compared._asdict().items()
        }
        typer.echo(_formatted(answer))
    else:
        typer.echo(f"{len(submissions)} submissions against {truth}, tau {tau:g} px, epsilon {epsilon:g} px\n")
        typer.echo(comparison_text(compared))


@app.command()
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
    _check_thresholds(tau, epsilon)
    slices = _slices(by)
    with problems_reported():
        check_beforehand(out, tables, images)
        sides = _both(
            partial(read_annotations, truth, frames), *(partial(read_annotations, path) for path in submissions)
        )
        left_out = _excluded(exclude, sides) if exclude else None
        named = dict(zip(_names(submissions), sides[1:], strict=True))
        write_report(sides[0], named, out, slices, tau, epsilon, exclude=left_out, images=images, tables=tables)
    typer.echo(f"{out}: {out.stat().st_size / 1e6:.1f} MB" + ("" if tables is None else f"; {tables}: the tables"))


@app.command()
def check(
    truth: TruthFile,
    submission: SubmissionFile,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs")] = False,
) -> None:
    """Looks for common mistakes: axes swapped or flipped, numbering from 0, scaled or shifted coordinates, and more."""
    with problems_reported():
        sides = _both(partial(read_annotations, truth), partial(read_annotations, submission))
        found = suspicions.check(sides[0], sides[1])
    if as_json:
        typer.echo(_formatted({"suspicions": [_plain_row(row) for row in found.to_dict("records")]}))
    elif not len(found):
        typer.echo(f"{submission}: nothing is suspicious")
    else:
        for row in found.to_dict("records"):
            corrected = f" (F1 {number_text(row['f1'])}, corrected {number_text(row['f1_corrected'])})"
            typer.echo(f"{row['suspicion']}{corrected}\n    {row['advice']}")


@app.command()
def track(
    truth: TruthFolder,
    tracker: TrackerFolder,
    benchmark: Annotated[str, typer.Option(help=f"Whose rules: {', '.join(BENCHMARKS)}")] = "MOT17",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the tables behind the numbers, as Parquet")] = None,
) -> None:
    """Scores the tracks of a MOTChallenge folder by HOTA, CLEAR (MOTA) and Identity (IDF1), by sequence and combined.

    A line of a file is frame, identity, left, top, width, height, then the score, or for truth the mark, the class and
    the visibility; frames count from 1, boxes are in pixels.
    """
    if benchmark not in BENCHMARKS:
        raise typer.BadParameter(f"--benchmark: {benchmark!r} is none of {', '.join(BENCHMARKS)}")
    with problems_reported():
        if out is not None:
            check_folder_writable(out)
        result = tracking.track(*read_motchallenge(truth, tracker, benchmark))
        if out is not None:
            for table in result:
                table.attrs["benchmark"] = benchmark
            write_tables(result._asdict(), out, input_notes({"truth": truth, "tracker": tracker}))
    rows = result.summary.to_dict("records")
    if as_json:
        *numbers, combined = [{name: plain_value(row[name]) for name in tracking.NUMBERS} for row in rows]
        sequences = dict(zip(result.summary["sequence"][:-1], numbers, strict=True))
        typer.echo(_formatted({"combined": combined, "sequences": sequences}))
    else:
        typer.echo(f"{tracker} against {truth}, by the rules of {benchmark}\n")
        typer.echo(track_text(result.summary))


@app.command(name="pose")
def pose_command(
    truth: PoseTruthFolder,
    predictions: PosePredictionFolder,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON for programs, joints as the two kits name and order them")
    ] = False,
) -> None:
    """Scores the poses of a PoseTrack folder joint by joint, by keypoint HOTA and by poseval's MOTA and AP."""
    with problems_reported():
        summary = poses.pose(*read_posetrack(truth, predictions)).summary
    combined = summary[summary["sequence"].isna()].set_index("joint")
    if as_json:
        kits = {"keypoint_hota": (HOTA_JOINTS, poses.HOTA_NUMBERS), "poseval": (POSEVAL_JOINTS, poses.POSEVAL_NUMBERS)}
        answer = {}
        for kit, (joints, numbers) in kits.items():
            rows = combined.reindex([*joints.values(), None])
            values = {name: [plain_value(value) for value in rows[name]] for name in numbers}
            answer[kit] = {"joints": [*joints, "total"], **values}
        typer.echo(_formatted(answer))
    else:
        typer.echo(f"{predictions} against {truth}, all sequences\n")
        typer.echo(pose_text(combined.reset_index()))


def _check_thresholds(tau: float, epsilon: float) -> None:
    try:
        check_thresholds(tau, epsilon)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


@contextmanager
def problems_reported() -> Iterator[None]:
    """Puts what cannot be accepted on standard error, a line each, with exit status 1; warnings, too, without it.

    A column that cannot be sliced by is wrong usage.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            yield
        except SliceError as error:
            raise typer.BadParameter(f"--by: {error}") from None
        except InputError as error:
            for problem in error.problems:
                typer.echo(one_line(problem), err=True)
            raise typer.Exit(1) from None
        except ImportError as error:  # of an extra
            typer.echo(one_line(str(error)), err=True)
            raise typer.Exit(1) from None
        except MemoryError as error:
            typer.echo(one_line(f"there is not enough memory: {error}"), err=True)
            raise typer.Exit(1) from None
        finally:
            for warning in caught:
                typer.echo(one_line(f"warning: {warning.message}"), err=True)


def _both(*readers: Callable[[], Annotations]) -> list[Annotations]:
    """What the readers return; the problems of all of them where any fails."""
    read, problems = [], []
    for reader in readers:
        try:
            read.append(reader())
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return read


def _names(paths: Sequence[Path]) -> list[str]:
    """What to call files: without their endings, with them, or with the folders, whatever first tells them apart.

    A file that is given again is numbered.
    """
    resolved = [path.resolve() for path in paths]
    shared = os.path.commonpath([path.parent for path in resolved])
    ways = [
        [stem(path) for path in paths],
        [path.name for path in paths],
        [(path.parent / stem(path)).relative_to(shared).as_posix() for path in resolved],
        [path.relative_to(shared).as_posix() for path in resolved],
    ]
    names = next(names for names in ways if len({*names}) >= len({*resolved}))
    times = [names[:place].count(name) for place, name in enumerate(names)]
    return [f"{name} ({time + 1})" if time else name for name, time in zip(names, times, strict=True)]


def _sequences(text: str, option: str) -> list[int]:
    """The numbers of a list such as 5,9-12."""
    numbers: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(-?\d{1,18})(?:-(\d{1,18}))?\s*", part)
        if not found:
            raise typer.BadParameter(f"{option}: {part!r} is neither a number nor a range such as 9-12")
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first or last - first >= MOST_SEQUENCES:
            raise typer.BadParameter(f"{option}: {part!r} is not a range of 1 to {MOST_SEQUENCES:,} sequences")
        numbers.extend(range(first, last + 1))
    return numbers


def _excluded(text: str, sides: Sequence[Annotations]) -> list[int] | list[str]:
    """The sequences to leave out, of the type that the sequences have."""
    columns = [table["sequence"] for side in sides for table in side if table is not None and len(table)]
    names = _names_or_numbers(text, not columns or pd.api.types.is_integer_dtype(columns[0].dtype))
    unknown = [name for name in names if isinstance(name, str) and not any(column.eq(name).any() for column in columns)]
    if unknown:
        raise typer.BadParameter(f"--exclude: no sequence is called {unknown[0]!r}")
    return names


def _names_or_numbers(text: str, numbers: bool) -> list[int] | list[str]:
    """The sequences that --exclude lists."""
    return _sequences(text, "--exclude") if numbers else [name.strip() for name in text.split(",")]


def _slices(by: list[str]) -> dict[str, int | None]:
    """Columns and their numbers of bins, from COLUMN or COLUMN:BINS."""
    slices: dict[str, int | None] = {}
    for text in by:
        column, colon, bins = text.rpartition(":") if re.search(r":\d*$", text) else (text, "", "")
        if colon and not (bins.isdigit() and 2 <= int(bins) <= 1000):
            raise typer.BadParameter(f"--by: {text!r} wants {bins or 'no'} bins; 2 to 1000 are possible")
        if column in slices:
            raise typer.BadParameter(f"--by: column {column} is given twice")
        slices[column] = int(bins) if colon else None
    return slices


def _plain_row(row: Mapping[Hashable, Any]) -> dict[str, Any]:
    return {str(name): plain_value(value) for name, value in row.items()}


def _json(summary: pd.DataFrame, by_slice: Mapping[str, pd.DataFrame]) -> str:
    """The summary, and under `by` the slices, as JSON."""
    thresholds = {key: summary.attrs[key] for key in ("tau", "epsilon")}

    def records(table: pd.DataFrame) -> list[dict[str, Any]]:
        rows = table.to_dict("records")
        return [_plain_row(row) | thresholds for row in rows]

    [answer] = records(summary)
    if by_slice:
        answer["by"] = {column: records(t.rename(columns={column: "value"})) for column, t in by_slice.items()}
    return _formatted(answer)


def _formatted(answer: Mapping[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(answer), indent=2).decode()
