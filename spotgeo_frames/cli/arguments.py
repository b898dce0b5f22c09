"""Arguments and options, and the values that their texts stand for."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from ..matching.words import Words, asked
from ..support.names import stem
from ..tables.annotations import Annotations

TruthFile = Annotated[
    Path, typer.Argument(metavar="TRUTH", help="Competition JSON (.json, .gz, .zip), Parquet (a folder, too) or CSV")
]
SubmissionFile = Annotated[
    Path, typer.Argument(metavar="SUBMISSION", help="Competition JSON, Parquet (a folder, too) or CSV")
]
By = Annotated[
    list[str], typer.Option(metavar="COLUMN[:BINS]", help="Slice by a column of the match table; repeat for more")
]
Tau = Annotated[float | None, typer.Option(help="Largest distance of a true positive, px; 10 by default")]
Epsilon = Annotated[float | None, typer.Option(help="Distance up to which the error is 0, px; 3 by default")]
Similarity = Annotated[
    str | None, typer.Option(metavar="iou|oks|point", help="Match by similarity; boxes are matched by iou anyway")
]
Threshold = Annotated[float | None, typer.Option(help="Least similarity of a true positive; 0.5 by default")]
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

# More sequences than this in one list are a slip of the keyboard.
MOST_SEQUENCES = 10_000_000


def address_of(path: Path) -> str:
    """A path, or the URI such as s3://bucket/folder that it was before it was taken for one."""
    return re.sub(r"^([a-z][a-z0-9+.-]+):/+", r"\1://", str(path)).replace("file://", "file:///")


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


def excluded_sequences(text: str, sides: Sequence[Annotations]) -> list[int] | list[str]:
    """The sequences to leave out, of the type that the sequences have."""
    columns = [table["sequence"] for side in sides for table in side if table is not None and len(table)]
    names = sequence_names(text, not columns or pd.api.types.is_integer_dtype(columns[0].dtype))
    unknown = [name for name in names if isinstance(name, str) and not any(column.eq(name).any() for column in columns)]
    if unknown:
        raise typer.BadParameter(f"--exclude: no sequence is called {unknown[0]!r}")
    return names


def sequence_names(text: str, numbers: bool) -> list[int] | list[str]:
    """The sequences that --exclude lists."""
    return sequence_numbers(text, "--exclude") if numbers else [name.strip() for name in text.split(",")]


def slices_of(by: list[str]) -> dict[str, int | None]:
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
