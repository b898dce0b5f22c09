"""The command `track`."""

import warnings
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..formats.any_file import read_side_columns, read_sides
from ..formats.motchallenge.preprocessing import read_motchallenge, read_numbered
from ..matching.alignment import align
from ..matching.left_out import left_out
from ..support.addresses import shown
from ..support.reading import files_below, readable
from ..tables.columns import Columns, columns_of, dataframe_of
from ..tracking.identities import without_crowds_of_tracks
from ..tracking.registry import TRACK_METRICS
from ..tracking.track_tables import track_columns
from ..tracking.tracks import evaluate_tracks, rule_of_tracks
from ..tracking.tracks import track as track_sides
from .arguments import How
from .as_json import formatted, plain_rows
from .outputs import check_out, keep
from .printing import one_line, tell
from .problems import WrongUsage, problems_reported
from .submissions import Submission
from .text import rule_text, track_text


class Found(NamedTuple):
    """The names of the sequences, the metrics of each and then of all combined, and the notes of the rule."""

    sequences: list[str]
    numbers: Columns
    notes: Mapping[Hashable, Any]


def track(
    truth: str,
    tracker: Submission,
    how: How,
    identity: str,
    as_json: bool,
    out: str | None,
    dataset: bool,
    scheduler: str | None,
) -> None:
    """Scores the tracks of folders or tables, and prints the numbers of every sequence and of all combined."""
    if scheduler is not None and not dataset:
        raise WrongUsage("--scheduler: is for a --dataset; give both")
    if dataset:
        _track_dataset(truth, tracker, how, identity, as_json, out, scheduler)
    else:
        _track_files(Path(truth), tracker, how, identity, as_json, None if out is None else Path(out))


def _track_dataset(
    truth: str, tracker: Submission, how: How, identity: str, as_json: bool, out: str | None, scheduler: str | None
) -> None:
    """Scores Parquet of any size; the text has only the numbers of all combined, since sequences may be millions."""
    if how.layout is not None:
        raise WrongUsage(f"--dataset: is for Parquet, and {shown(truth)} is a folder of files; leave it out")
    with problems_reported():
        from ..support.storage import place_of, write_all  # imported only here, as is what evaluates in parts
        from .datasets import track_datasets

        summary = track_datasets(truth, tracker.given, how, identity, out, scheduler)
        sequences = [str(name) for name in summary["sequence"].tolist()[:-1]]
        found = Found(sequences, columns_of(summary), summary.attrs)
        if out is not None:
            write_all(place_of(out).inside("track.json"), f"{_answer(found)}\n".encode())
    if as_json:
        tell(_answer(found))
    else:
        heading = f"{tracker.shown} against {shown(truth)}, {rule_text(found.notes)}"
        tell(f"{one_line(heading)}\n\n{track_text(summary.iloc[-1:], [])}")


def _track_files(truth: Path, tracker: Submission, how: How, identity: str, as_json: bool, out: Path | None) -> None:
    """Scores folders or tables that fit into memory."""
    if how.layout == "posetrack":
        from .poses import pose  # what evaluates poses is imported only here

        pose(truth, tracker, as_json, out)
        return
    with problems_reported():
        check_out(out, [truth, tracker.path])
        benchmark = how.benchmark or "MOT17" if _is_of_sequences(truth, how) else None
        if out is None:
            found = _numbers(truth, tracker.path, how, identity, benchmark)
        else:
            found = _saved(truth, tracker.path, how, identity, benchmark, out)
    if as_json:
        tell(_answer(found))
    else:
        rules = rule_text(found.notes) if benchmark is None else f"by the rules of {benchmark}"
        heading = one_line(f"{tracker.shown} against {shown(truth)}, {rules}")
        tell(f"{heading}\n\n{track_text(dataframe_of(found.numbers), found.sequences)}")


def _is_of_sequences(truth: Path, how: How) -> bool:
    """Whether the truth has MOTChallenge's layout, or is a folder without tables; that reader says what it lacks."""
    with readable(truth):
        return how.layout is not None or (truth.is_dir() and not files_below(truth, ".parquet"))


def _numbers(truth: Path, tracker: Path, how: How, identity: str, benchmark: str | None) -> Found:
    """The numbers alone, without the tables behind them."""
    if benchmark is None:
        known, found = read_side_columns(truth, [tracker], needed=how.needed)
    else:
        known, found, names, _ = read_numbered(truth, tracker, benchmark)
    rule = rule_of_tracks(how.words, known, found, identity)
    aligned = align(known, found, how.frames)
    warning = left_out(aligned, rule)
    _, _, sums = evaluate_tracks(without_crowds_of_tracks(aligned, rule), rule)
    if warning is not None:
        warnings.warn(warning, stacklevel=2)
    labels = sums.labels["sequence"].tolist()
    sequences = [str(label) if benchmark is None else names[label] for label in labels]
    return Found(sequences, track_columns(sums), rule.notes)


def _saved(truth: Path, tracker: Path, how: How, identity: str, benchmark: str | None, out: Path) -> Found:
    """Writes the tables behind the numbers to the folder `out`, and returns the numbers."""
    if benchmark is None:
        known, found = read_sides(truth, [tracker], needed=how.needed)
    else:
        known, found = read_motchallenge(truth, tracker, benchmark)
    result = track_sides(known, found, how.words.similarity, identity, tau=how.words.tau, frames=how.frames)
    sequences = [str(name) for name in result.summary["sequence"].tolist()[:-1]]
    answer = Found(sequences, columns_of(result.summary), result.summary.attrs)
    read = {"truth": known.objects, "tracker": found.objects}
    keep(out, "track", result, _answer(answer), read, benchmark=benchmark or "")
    return answer


def _answer(found: Found) -> str:
    """Formats the numbers of all sequences combined and of each as JSON."""
    *by_sequence, combined = plain_rows(found.numbers.select(list(TRACK_METRICS)))
    return formatted({"combined": combined, "sequences": dict(zip(found.sequences, by_sequence, strict=True))})
