"""The command `track`."""

import warnings
from collections.abc import Sequence
from pathlib import Path

from ..formats.motchallenge.benchmarks import BENCHMARKS
from ..formats.motchallenge.preprocessing import read_motchallenge, read_numbered
from ..matching.alignment import align
from ..matching.words import asked_of_tracks
from ..tables.columns import Columns, columns_of, dataframe_of
from ..tracking.registry import TRACK_METRICS
from ..tracking.track_tables import track_columns
from ..tracking.tracks import evaluate_tracks, rule_of_tracks
from ..tracking.tracks import track as track_sides
from .as_json import formatted, plain_rows
from .outputs import check_out, keep
from .printing import one_line, tell
from .problems import WrongUsage, problems_reported
from .text import track_text


def track(truth: Path, tracker: Path, benchmark: str, as_json: bool, out: Path | None) -> None:
    """Scores the tracks of a folder, and prints the numbers of every sequence and of all combined."""
    if benchmark not in BENCHMARKS:
        raise WrongUsage(f"--benchmark: {benchmark!r} is none of {', '.join(BENCHMARKS)}")
    with problems_reported():
        check_out(out, [truth, tracker])
        if out is None:
            sequences, numbers = _numbers(truth, tracker, benchmark)
        else:
            sequences, numbers = _saved(truth, tracker, benchmark, out)
    if as_json:
        tell(_answer(sequences, numbers))
    else:
        heading = one_line(f"{tracker} against {truth}, by the rules of {benchmark}")
        tell(f"{heading}\n\n{track_text(dataframe_of(numbers), sequences)}")


def _numbers(truth: Path, tracker: Path, benchmark: str) -> tuple[list[str], Columns]:
    """Returns the names of the sequences, and the metrics of each and of all combined."""
    read = read_numbered(truth, tracker, benchmark)
    rule, warning = rule_of_tracks(asked_of_tracks(None, None), read.truth, read.predictions)
    _, _, sums = evaluate_tracks(align(read.truth, read.predictions), rule)
    if warning is not None:
        warnings.warn(warning, stacklevel=2)
    return [read.names[position] for position in sums.labels["sequence"].tolist()], track_columns(sums)


def _saved(truth: Path, tracker: Path, benchmark: str, out: Path) -> tuple[list[str], Columns]:
    """Writes the tables behind the numbers to the folder `out`, and returns what `_numbers` does."""
    sides = read_motchallenge(truth, tracker, benchmark)
    result = track_sides(*sides)
    sequences, numbers = result.summary["sequence"].tolist()[:-1], columns_of(result.summary)
    read = {"truth": sides[0].objects, "tracker": sides[1].objects}
    keep(out, "track", result, _answer(sequences, numbers), read, benchmark=benchmark)
    return sequences, numbers


def _answer(sequences: Sequence[str], numbers: Columns) -> str:
    """Formats the numbers of all sequences combined and of each as JSON."""
    *by_sequence, combined = plain_rows(numbers.select(list(TRACK_METRICS)))
    return formatted({"combined": combined, "sequences": dict(zip(sequences, by_sequence, strict=True))})
