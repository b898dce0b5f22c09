"""The command `track`."""

from pathlib import Path

from ..formats.motchallenge.benchmarks import BENCHMARKS
from ..formats.motchallenge.preprocessing import read_motchallenge
from ..support.names import plain_value
from ..support.writing import check_folder_writable, write_tables
from ..tables.inputs import input_notes, inputs_of
from ..tracking import tracks as tracking
from .as_json import formatted
from .problems import WrongUsage, one_line, problems_reported
from .text import track_text


def track(truth: Path, tracker: Path, benchmark: str, as_json: bool, out: Path | None) -> None:
    """Scores the tracks of a folder, and prints the numbers of every sequence and of all combined."""
    if benchmark not in BENCHMARKS:
        raise WrongUsage(f"--benchmark: {benchmark!r} is none of {', '.join(BENCHMARKS)}")
    with problems_reported():
        if out is not None:
            check_folder_writable(out)
        sides = read_motchallenge(truth, tracker, benchmark)
        result = tracking.track(*sides)
        if out is not None:
            inputs = inputs_of({"truth": sides[0].objects, "tracker": sides[1].objects})
            write_tables(result._asdict(), out, input_notes(inputs) | {"benchmark": benchmark})
    rows = result.summary.to_dict("records")
    if as_json:
        *by_sequence, combined = [{name: plain_value(row[name]) for name in tracking.NUMBERS} for row in rows]
        sequences = dict(zip(result.summary["sequence"][:-1], by_sequence, strict=True))
        print(formatted({"combined": combined, "sequences": sequences}))
    else:
        print(one_line(f"{tracker} against {truth}, by the rules of {benchmark}"), end="\n\n")
        print(track_text(result.summary))
