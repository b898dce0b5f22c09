"""Arguments and options, and the values that their texts stand for."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from ..matching.words import Words, asked
from ..support.errors import InputError
from ..support.names import stem
from ..tables.annotations import Annotations
from ..tables.selections import column_bins

TRUTH = typer.Argument(metavar="TRUTH", help="Competition JSON (.json, .gz, .zip), Parquet (a folder, too) or CSV")
SUBMISSION = typer.Argument(metavar="SUBMISSION", help="Competition JSON, Parquet (a folder, too) or CSV")
FRAMES = typer.Option(help="Parquet or CSV of the truth's frames")
TruthFile = Annotated[Path, TRUTH]
SubmissionFile = Annotated[Path, SUBMISSION]
FramesFile = Annotated[Path | None, FRAMES]
# The same where a URI may be given, such as s3://bucket/folder, which is no path.
TruthAddress = Annotated[str, TRUTH]
SubmissionAddress = Annotated[str, SUBMISSION]
FramesAddress = Annotated[str | None, FRAMES]
By = Annotated[
    list[str],
    typer.Option(
        metavar="COLUMN[:BINS]",
        help="Slice by a column of the match table, in 2 to 1000 quantile bins or by its values; repeat for more",
    ),
]
Tau = Annotated[float | None, typer.Option(help="Largest distance of a true positive, px; 10 by default")]
Epsilon = Annotated[float | None, typer.Option(help="Distance up to which the error is 0, px; 3 by default")]
Similarity = Annotated[
    str | None, typer.Option(metavar="iou|oks|point", help="Match by similarity; boxes are matched by iou anyway")
]
Threshold = Annotated[float | None, typer.Option(help="Least similarity of a true positive; 0.5 by default")]
Exclude = Annotated[str, typer.Option(help="Sequences to leave out, such as 5,9-12; unknown ones give a warning")]
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

# More sequences than this in one list are a slip of the keyboard.
MOST_SEQUENCES = 10_000_000


def words_of(
    tau: float | None, epsilon: float | None, similarity: str | None = None, threshold: float | None = None
) -> Words:
    """What the options say of the rule; wrong usage where they do not fit each other."""
    try:
        return asked(tau, epsilon, similarity, threshold)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def submission_names(paths: Sequence[Path]) -> list[str]:
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


def sequence_numbers(text: str, option: str) -> list[int]:
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


def sequence_names(text: str, is_integer: bool) -> list[int] | list[str] | None:
    """The sequences that --exclude lists, of the type that the sequences have; None where it is not given."""
    if not text:
        return None
    return sequence_numbers(text, "--exclude") if is_integer else [name.strip() for name in text.split(",")]


def names_to_exclude(text: str, sides: Sequence[Annotations]) -> list[int] | list[str] | None:
    """The same, of the type that the sequences of these tables have."""
    columns = [table["sequence"] for side in sides for table in side if table is not None and len(table)]
    return sequence_names(text, not columns or pd.api.types.is_integer_dtype(columns[0].dtype))


def slices_of(by: Sequence[str]) -> list[dict[str, int | None]]:
    """The columns of each slicing with their numbers of bins, from COLUMN, COLUMN:BINS, or several crossed by `*`."""
    slices: list[dict[str, int | None]] = []
    for text in by:
        parts = [re.fullmatch(r"(.*?)(?::(\d*))?", part, re.DOTALL) for part in text.split("*")]
        bins = {part[1]: None if part[2] is None else int(part[2] or 0) for part in parts if part}
        if len(bins) < len(parts) or any([*bins] == [*other] for other in slices):
            raise typer.BadParameter(f"--by: {text!r}: a column is given twice")
        try:
            slices.append(column_bins(bins))
        except InputError as error:
            raise typer.BadParameter(f"--{error}") from None
    return slices


def columns_of(by: Sequence[str]) -> dict[str, int | None]:
    """The same where each slicing is by one column alone."""
    slices = slices_of(by)
    crossed = [text for text, columns in zip(by, slices, strict=True) if len(columns) > 1]
    if crossed:
        raise typer.BadParameter(f"--by: {crossed[0]!r}: columns are crossed by score only; give them one by one")
    return {column: bins for columns in slices for column, bins in columns.items()}
