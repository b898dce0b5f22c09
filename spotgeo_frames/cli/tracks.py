"""The command `track`."""

import warnings
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..formats import BENCHMARKS, known_format, read_numbered, read_side_columns, read_sides
from ..matching import Aligned, Rule, alignment, left_out
from ..scoring import official, slice_files, summarize
from ..support import addresses, reading, work
from ..tables import CheckedBins, Columns, columns_of, dataframe_of, joined, side_columns
from ..tracking import (
    TRACK_METRICS,
    TrackResult,
    conditions,
    counted_in_tracks,
    evaluate_tracks,
    families_of,
    metrics_on_request,
    rule_of_tracks,
    track_sums,
    track_tables,
)
from ..tracking import track as track_sides
from .answers import Answer, check_out, formatted, heading, keep, plain_rows, slices_json
from .arguments import PARENT, How, check_scheduler, slices_of
from .headlines import Headline, Headlines, first_of_parts, first_of_result, first_of_sums
from .printing import WrongUsage, one_line, wrong_usage
from .submissions import Submission
from .text import near_no_truth_text, rule_text, track_slices_text, track_text
from .videos import Videos

if TYPE_CHECKING:
    import pandas as pd


# The columns that are crossed to slices, with their bins.
Slicing = Mapping[str, CheckedBins]

# Of the numbers of a slice, the combined ones are the last row.
LAST = np.array([-1])


class Found(NamedTuple):
    """The names of the sequences, the metrics of each and then of all combined, and the notes of the rule.

    `headlines` has the first numbers with their intervals, for the text.
    `by_slice` has the conditions and the combined metrics of each slice, by the columns of each slicing, and
    `near_no_truth` is how many predictions no truth took, None where there is no slicing by truths. `class_average` has
    one row, the mean of the classes, where each is evaluated by itself; they are then the slices.
    """

    sequences: list[str]
    numbers: Columns
    notes: Mapping[Hashable, Any]
    headlines: Headlines
    by_slice: Mapping[tuple[str, ...], Columns] = {}
    near_no_truth: int | None = None
    class_average: Columns | None = None


def track(
    truth: str,
    tracker: Submission,
    how: How,
    identity: str,
    metrics: str | None,
    by: Sequence[str],
    out: str | None,
    dataset: bool,
    scheduler: str | None,
    videos: Videos,
) -> Answer:
    """Scores the tracks of folders or tables; the answer has the numbers of each sequence, of all, and of slices."""
    check_scheduler(scheduler, dataset)
    how = _with_metrics(how, metrics)
    slices = slices_of(by)
    if dataset:
        return _track_dataset(truth, tracker, how, identity, slices, out, scheduler)
    path, folder = Path(truth), None if out is None else Path(out)
    if how.layout == "posetrack":
        from .poses import answer_of_poses  # which folders of tracks need not load

        return answer_of_poses(path, tracker, folder, slices, videos)
    check_out(folder, [path, tracker.path])
    benchmark = how.benchmark or ("MOT17" if _is_of_sequences(path, how) else None)
    how.check_by(by)
    if folder is None and not how.by_class and not videos.asked:
        found = _numbers(path, tracker.path, how, identity, benchmark, slices)
    else:
        found = _saved(path, tracker.path, how, identity, benchmark, slices, folder, videos)
    own_rule = how.options.tau is not None or how.options.similarity not in (None, "iou")
    rules = rule_text(found.notes) if benchmark is None or own_rule else f"by the rules of {benchmark}"
    head = heading(tracker, truth, rules)

    def text() -> str:
        return _text(head, found, track_text(found.numbers, found.sequences, found.headlines()))

    return Answer(text, lambda: _answer(found))


def _with_metrics(how: How, metrics: str | None) -> How:
    """How tracks are evaluated, with the metrics on request; raises WrongUsage for an unknown one, or any of poses."""
    if metrics is None:
        return how
    with wrong_usage("--"):
        families = families_of(name.strip() for name in metrics.split(","))
    if how.layout == "posetrack":
        raise WrongUsage(f"--metrics: {families[0]} is of tracks, and this is a folder of poses; leave it out")
    return how._replace(on_request=families)


def _track_dataset(
    truth: str,
    tracker: Submission,
    how: How,
    identity: str,
    slices: Sequence[Slicing],
    out: str | None,
    scheduler: str | None,
) -> Answer:
    """Scores Parquet of any size; the text has only the numbers of all combined, since sequences may be millions."""
    from ..support import stores
    from .datasets import track_datasets

    if how.layout is not None:
        raise WrongUsage(f"--dataset: is for Parquet, and {addresses.shown(truth)} is a folder of files; leave it out")
    summary, by_slice = track_datasets(truth, tracker.given, how, identity, slices, out, scheduler)
    sequences = [str(name) for name in summary["sequence"].tolist()[:-1]]
    combined = {columns: columns_of(table[table["sequence"].isna()]) for columns, table in by_slice.items()}
    near_no_truth = [table.attrs[conditions.NEAR_NO_TRUTH] for table in by_slice.values()]
    numbers = columns_of(summary)
    of_all = numbers.take(LAST)

    def headlines() -> list[Headline]:
        return first_of_parts(of_all.records()[0], track_sums.TRACKS.default)

    near = near_no_truth[0] if near_no_truth else None
    found = Found(sequences, numbers, summary.attrs, headlines, combined, near)
    if out is not None:
        stores.write_all(stores.place_of(out).inside("track.json"), f"{_answer(found)}\n".encode())
    head = heading(tracker, truth, rule_text(found.notes))
    return Answer(lambda: _text(head, found, track_text(of_all, [], headlines())), lambda: _answer(found))


def _text(head: str, found: Found, numbers: str) -> str:
    """The text of an answer: its head, the numbers of sequences and of all, and those of slices."""
    parts = [head, numbers]
    parts += [track_slices_text(table, columns) for columns, table in found.by_slice.items()]
    if found.class_average is not None:
        average = found.class_average.assign({"": np.array(["mean of the classes"])})
        parts.append(track_slices_text(average, [""]))
    if found.near_no_truth is not None:
        parts.append(one_line(near_no_truth_text(found.near_no_truth)))
    return "\n\n".join(parts)


def _is_of_sequences(truth: Path, how: How) -> bool:
    """Whether the truth has MOTChallenge's layout, or is a folder without tables; that reader says what it lacks."""
    with reading.readable(truth):
        if how.layout is not None or known_format(truth) is not None:
            return how.layout is not None
        return truth.is_dir() and not reading.files_below(truth, ".parquet")


def _numbers(
    truth: Path, tracker: Path, how: How, identity: str, benchmark: str | None, slices: Sequence[Slicing]
) -> Found:
    """The numbers alone, without the tables behind them."""
    names = None
    with work.step("reading"):
        if benchmark is None:
            known, found = read_side_columns(truth, [tracker], needed=how.needed)
        elif BENCHMARKS[benchmark].files == "motchallenge":
            known, found, names, _ = read_numbered(truth, tracker, benchmark)
        else:
            known, found = map(side_columns, read_sides(truth, [tracker], benchmark=benchmark))
    rule = rule_of_tracks(how.options, known, found, identity)
    with work.step("matching"):
        aligned = alignment.align(known, found, how.frames)
        warning = left_out.left_out(aligned, rule)
        _, _, sums = evaluate_tracks(counted_in_tracks(aligned, rule), rule, how.on_request)
    if warning is not None:
        warnings.warn(warning, stacklevel=2)
    labels = sums.labels["sequence"].tolist()
    sequences = [str(label) if names is None else names[label] for label in labels]
    with work.step("slicing"):
        sliced = _by_slice(aligned, rule, slices, how.on_request)
    notes = {**rule.notes, **sums.attrs, **conditions.classes_together(aligned, rule)}
    numbers = track_tables.track_columns(sums)
    return Found(sequences, numbers, notes, lambda: first_of_sums(track_sums.of_all_sequences(sums)), *sliced)


def _by_slice(
    aligned: Aligned, rule: Rule, slices: Sequence[Slicing], families: Sequence[str]
) -> tuple[dict[tuple[str, ...], Columns], int | None]:
    """The conditions and the combined metrics of each slice, and how many predictions no truth took, or None."""
    by_slice, near_no_truth = dict[tuple[str, ...], Columns](), None
    for columns in slices:
        found = conditions.sliced(aligned, rule, columns, None)
        sums = [evaluate_tracks(part.aligned, rule, families)[2] for part in found.slices]
        rows = [
            part.labels.assign(track_tables.track_columns(of).take(LAST).arrays)
            for part, of in zip(found.slices, sums, strict=True)
        ]
        by_slice[(*columns,)] = Columns({name: joined([row[name] for row in rows]) for name in rows[0]})
        near_no_truth = found.notes.get(conditions.NEAR_NO_TRUTH, near_no_truth)
    return by_slice, near_no_truth


def _saved(
    truth: Path,
    tracker: Path,
    how: How,
    identity: str,
    benchmark: str | None,
    slices: Sequence[Slicing],
    out: Path | None,
    videos: Videos,
) -> Found:
    """Returns the numbers; writes the tables behind them to the folder `out` if there is one, and the videos."""
    with work.step("reading"):
        known, found = read_sides(truth, [tracker], benchmark=benchmark, needed=how.needed)
    videos = videos.in_truth(known)
    tau, similarity = how.options.tau, how.options.similarity
    words: dict[str, Any] = {"tau": tau, "frames": how.frames, "metrics": how.on_request}
    words |= {"by": "category"} if how.by_class else {}
    with work.step("matching"):
        result = track_sides(known, found, similarity, identity, **words)
    read = {"truth": known.objects, "tracker": found.objects}
    if how.by_class:
        of_classes = _of_classes(result)
        if out is not None:
            keep(out, "track", result, _answer(of_classes), read, benchmark=benchmark or "")
        videos.draw(result)
        return of_classes
    sequences = [str(name) for name in result.summary["sequence"].tolist()[:-1]]
    given = side_columns(known), side_columns(found)
    rule = rule_of_tracks(how.options, *given, identity)
    sliced = _by_slice(alignment.align(*given, how.frames), rule, slices, how.on_request) if slices else ({}, None)
    numbers, notes = columns_of(result.summary), result.matches.attrs
    answer = Found(sequences, numbers, notes, lambda: first_of_result(result), *sliced)
    beside = slice_files({columns: dataframe_of(table) for columns, table in sliced[0].items()})
    if out is not None:
        keep(out, "track", result, _answer(answer), read, beside, benchmark=benchmark or "")
    videos.draw(result)
    return answer


def _of_classes(result: TrackResult) -> Found:
    """The numbers of sequences and of all, in which detections weigh equally, and those of each class.

    Where the benchmark has classes of classes, their numbers are there, too.
    """
    of_all = result.summary[result.summary["sequence"].isna()]
    whole: Any = result  # tables are what summarize() names, and it takes results, too
    by_sequence = summarize(whole, by="sequence")
    metrics = [*TRACK_METRICS, *metrics_on_request(map(str, of_all))]
    rows = [columns_of(table[metrics]) for table in (by_sequence, of_all.tail(1))]
    numbers = Columns({name: np.concatenate([row[name] for row in rows]) for name in metrics})
    tables: dict[tuple[str, ...], pd.DataFrame] = {("category",): of_all[of_all["category"].notna()]}
    if PARENT in result.sums:
        tables[PARENT,] = summarize(whole, by=PARENT)
    by_slice = {columns: columns_of(table[[*columns, *metrics]]) for columns, table in tables.items()}
    average = columns_of(of_all[of_all["average"] == "class"][metrics])
    sequences = [str(name) for name in by_sequence["sequence"]]
    notes = result.matches.attrs
    return Found(sequences, numbers, notes, lambda: first_of_result(result), by_slice, class_average=average)


def _answer(found: Found) -> str:
    """Formats the numbers of all sequences combined and of each as JSON."""
    names = [*TRACK_METRICS, *metrics_on_request(found.numbers)]
    *by_sequence, combined = plain_rows(found.numbers.select(names))
    sequences = dict(zip(found.sequences, by_sequence, strict=True))
    answer: dict[str, Any] = {
        "combined": combined,
        "sequences": sequences,
        "provenance": official.of_tracks(found.notes),
    }
    if found.by_slice:
        shown = {columns: table.select([*columns, *names]) for columns, table in found.by_slice.items()}
        answer["by"] = slices_json(shown)
    if found.class_average is not None:
        [answer["class_average"]] = plain_rows(found.class_average.select(names))
    if found.near_no_truth is not None:
        answer[conditions.NEAR_NO_TRUTH] = found.near_no_truth
    return formatted(answer)
