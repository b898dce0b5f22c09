"""The arguments and options of the commands, and the functions that parse their texts."""

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

TRUTH = typer.Argument(metavar="TRUTH", help="Competition JSON (.json, .gz, .zip), Parquet (file or folder) or CSV")
SUBMISSION = typer.Argument(
    metavar="SUBMISSION", help="Competition JSON (.json, .gz, .zip), Parquet (file or folder) or CSV"
)
FRAMES = typer.Option(help="Parquet or CSV with the columns sequence and frame: lists all frames, also empty ones")
TruthFile = Annotated[Path, TRUTH]
SubmissionFile = Annotated[Path, SUBMISSION]
FramesFile = Annotated[Path | None, FRAMES]
# These also accept a URI such as s3://bucket/folder, which a Path would damage.
TruthAddress = Annotated[str, TRUTH]
SubmissionAddress = Annotated[str, SUBMISSION]
FramesAddress = Annotated[str | None, FRAMES]
By = Annotated[
    list[str],
    typer.Option(
        metavar="COLUMN[:BINS]",
        help="Slice by a column of the match table: by its values, or in 2 to 1000 quantile bins; may be repeated",
    ),
]
Tau = Annotated[float | None, typer.Option(help="Largest distance of a true positive (px); 10 by default")]
Epsilon = Annotated[
    float | None,
    typer.Option(help="Distance up to which the error is 0 (px); 3 by default, below tau"),
]
Similarity = Annotated[
    str | None, typer.Option(metavar="iou|oks|point", help="Match by similarity; boxes use iou by default")
]
Threshold = Annotated[float | None, typer.Option(help="Least similarity of a true positive; 0.5 by default")]
Exclude = Annotated[str, typer.Option(help="Sequences to leave out, such as 5,9-12; a warning names unknown ones")]
TruthFolder = Annotated[
    Path,
    typer.Argument(
        metavar="TRUTH_DIR",
        readable=False,  # the reader itself reports files that it cannot read, with more detail
        help="MOTChallenge folder of SEQUENCE/gt/gt.txt (and seqinfo.ini) or of SEQUENCE.txt, or a .zip of the latter",
    ),
]
TrackerFolder = Annotated[
    Path, typer.Argument(metavar="TRACKER_DIR", readable=False, help="Folder of SEQUENCE.txt, or a .zip of one")
]
PoseTruthFolder = Annotated[
    Path,
    typer.Argument(metavar="TRUTH_DIR", readable=False, help="Folder of SEQUENCE.json (PoseTrack), or a .zip of one"),
]
PosePredictionFolder = Annotated[
    Path,
    typer.Argument(
        metavar="PREDICTION_DIR", readable=False, help="Folder of SEQUENCE.json by the tracker, or a .zip of one"
    ),
]

# Longer ranges of sequences are refused as typing errors.
MOST_SEQUENCES = 10_000_000


def words_of(
    tau: float | None, epsilon: float | None, similarity: str | None = None, threshold: float | None = None
) -> Words:
    """Collects the options of the rule; raises BadParameter if they do not fit each other."""
    try:
        return asked(tau, epsilon, similarity, threshold)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def submission_names(paths: Sequence[Path]) -> list[str]:
    """Names files: by their stems if these differ, otherwise with endings, and otherwise with folders.

    A file that is given several times gets a number.
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
    """Parses a list of sequences such as 5,9-12."""
    sequences: list[int] = []
    for item in text.split(","):
        ends = re.fullmatch(r"\s*(-?\d{1,18})(?:-(\d{1,18}))?\s*", item)
        if not ends:
            raise typer.BadParameter(f"{option}: {item!r} is neither a number nor a range such as 9-12")
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if last < first or last - first >= MOST_SEQUENCES:
            raise typer.BadParameter(f"{option}: {item!r} is not a range of 1 to {MOST_SEQUENCES:,} sequences")
        sequences.extend(range(first, last + 1))
    return sequences


def sequence_names(text: str, is_integer: bool) -> list[int] | list[str] | None:
    """Parses --exclude to integers or texts, like the data's sequences; None if the option is not given."""
    if not text:
        return None
    return sequence_numbers(text, "--exclude") if is_integer else [name.strip() for name in text.split(",")]


def names_to_exclude(text: str, sides: Sequence[Annotations]) -> list[int] | list[str] | None:
    """Parses --exclude to integers or texts, like the sequences of these tables; None if it is not given."""
    columns = [table["sequence"] for side in sides for table in side if table is not None and len(table)]
    return sequence_names(text, not columns or pd.api.types.is_integer_dtype(columns[0].dtype))


def slices_of(by: Sequence[str]) -> list[dict[str, int | None]]:
    """Parses each --by, such as COLUMN, COLUMN:BINS or A*B (crossed), to columns with their counts of bins."""
    slices: list[dict[str, int | None]] = []
    for text in by:
        crossed = [re.fullmatch(r"(.*?)(?::(\d*))?", column, re.DOTALL) for column in text.split("*")]
        bins = {column[1]: None if column[2] is None else int(column[2] or 0) for column in crossed if column}
        if len(bins) < len(crossed) or any([*bins] == [*other] for other in slices):
            raise typer.BadParameter(f"--by: {text!r}: a column is given twice")
        try:
            slices.append(column_bins(bins))
        except InputError as error:
            raise typer.BadParameter(f"--{error}") from None
    return slices


def columns_of(by: Sequence[str]) -> dict[str, int | None]:
    """Parses each --by, for commands that do not cross columns, to columns with their counts of bins."""
    slices = slices_of(by)
    crossed = [text for text, columns in zip(by, slices, strict=True) if len(columns) > 1]
    if crossed:
        raise typer.BadParameter(f"--by: {crossed[0]!r}: only score crosses columns; give them one by one")
    return {column: bins for columns in slices for column, bins in columns.items()}
