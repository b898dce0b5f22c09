"""The commands `track` and `pose`."""

import warnings
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..formats import BENCHMARKS, known_format, read_numbered, read_side_columns, read_sides
from ..geometries import JOINTS
from ..matching import Aligned, Rule, alignment, left_out
from ..scoring import official, slice_files, summarize
from ..support import addresses, plain_value, reading
from ..tables import CheckedBins, Columns, columns_of, dataframe_of, joined, schema, side_columns
from ..tracking import (
    TRACK_METRICS,
    TrackResult,
    conditions,
    counted_in_tracks,
    evaluate_tracks,
    families_of,
    metrics_on_request,
    rule_of_tracks,
    track_tables,
)
from ..tracking import track as track_sides
from .answers import Answer, check_out, formatted, heading, keep, plain_rows, slices_json
from .arguments import How, check_scheduler, slices_of
from .printing import WrongUsage, one_line, wrong_usage
from .submissions import Submission
from .text import pose_text, rule_text, track_slices_text, track_text
from .videos import Videos

if TYPE_CHECKING:
    import pandas as pd

    from ..tracking import PoseResult

# The joints of PoseTrack by the names of its two evaluation kits, in the order of each kit.
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


# The columns that are crossed to slices, with their bins.
Slicing = Mapping[str, CheckedBins]

# The column of the classes of classes that benchmarks have.
PARENT = f"{schema.CATEGORY_PREFIX}parent"

# Of the numbers of a slice, the combined ones are the last row.
LAST = np.array([-1])


class Found(NamedTuple):
    """The names of the sequences, the metrics of each and then of all combined, and the notes of the rule.

    `by_slice` has the conditions and the combined metrics of each slice, by the columns of each slicing, and
    `near_no_truth` is how many predictions no truth took, None where there is no slicing by truths. `class_average` has
    one row, the mean of the classes, where each is evaluated by itself; they are then the slices.
    """

    sequences: list[str]
    numbers: Columns
    notes: Mapping[Hashable, Any]
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
        return _poses(path, tracker, folder, slices, videos)
    check_out(folder, [path, tracker.path])
    benchmark = how.benchmark or ("MOT17" if _is_of_sequences(path, how) else None)
    how.check_by(slices)
    if folder is None and not how.by_class and not videos.asked:
        found = _numbers(path, tracker.path, how, identity, benchmark, slices)
    else:
        found = _saved(path, tracker.path, how, identity, benchmark, slices, folder, videos)
    own_rule = how.options.tau is not None or how.options.similarity not in (None, "iou")
    rules = rule_text(found.notes) if benchmark is None or own_rule else f"by the rules of {benchmark}"
    head = heading(tracker, truth, rules)

    def text() -> str:
        return _text(head, found, track_text(dataframe_of(found.numbers), found.sequences))

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
    found = Found(sequences, columns_of(summary), summary.attrs, combined, near_no_truth[0] if near_no_truth else None)
    if out is not None:
        stores.write_all(stores.place_of(out).inside("track.json"), f"{_answer(found)}\n".encode())
    head = heading(tracker, truth, rule_text(found.notes))
    return Answer(lambda: _text(head, found, track_text(summary.iloc[-1:], [])), lambda: _answer(found))


def _text(head: str, found: Found, numbers: str) -> str:
    """The text of an answer: its head, the numbers of sequences and of all, and those of slices."""
    parts = [head, numbers]
    parts += [track_slices_text(dataframe_of(table), columns) for columns, table in found.by_slice.items()]
    if found.class_average is not None:
        average = dataframe_of(found.class_average)
        average.insert(0, "", "mean of the classes")
        parts.append(track_slices_text(average, [""]))
    if found.near_no_truth is not None:
        parts.append(one_line(_near_no_truth_text(found.near_no_truth)))
    return "\n\n".join(parts)


def _is_of_sequences(truth: Path, how: How) -> bool:
    """Whether the truth has MOTChallenge's layout, or is a folder without tables; that reader says what it lacks."""
    with reading.readable(truth):
        if how.layout is not None or known_format(truth) is not None:
            return how.layout is not None
        return truth.is_dir() and not reading.files_below(truth, ".parquet")


def _near_no_truth_text(n: int) -> str:
    """How many predictions no truth took, in words."""
    which = "1 prediction that no truth took counts" if n == 1 else f"{n:,} predictions that no truth took count"
    return f"{which} in every slice of truths that has their frame"


def _numbers(
    truth: Path, tracker: Path, how: How, identity: str, benchmark: str | None, slices: Sequence[Slicing]
) -> Found:
    """The numbers alone, without the tables behind them."""
    names = None
    if benchmark is None:
        known, found = read_side_columns(truth, [tracker], needed=how.needed)
    elif BENCHMARKS[benchmark].files == "motchallenge":
        known, found, names, _ = read_numbered(truth, tracker, benchmark)
    else:
        known, found = map(side_columns, read_sides(truth, [tracker], benchmark=benchmark))
    rule = rule_of_tracks(how.options, known, found, identity)
    aligned = alignment.align(known, found, how.frames)
    warning = left_out.left_out(aligned, rule)
    _, _, sums = evaluate_tracks(counted_in_tracks(aligned, rule), rule, how.on_request)
    if warning is not None:
        warnings.warn(warning, stacklevel=2)
    labels = sums.labels["sequence"].tolist()
    sequences = [str(label) if names is None else names[label] for label in labels]
    sliced = _by_slice(aligned, rule, slices, how.on_request)
    notes = {**rule.notes, **sums.attrs, **conditions.classes_together(aligned, rule)}
    return Found(sequences, track_tables.track_columns(sums), notes, *sliced)


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
    known, found = read_sides(truth, [tracker], benchmark=benchmark, needed=how.needed)
    videos = videos.in_truth(known)
    tau, similarity = how.options.tau, how.options.similarity
    words: dict[str, Any] = {"tau": tau, "frames": how.frames, "metrics": how.on_request}
    words |= {"by": "category"} if how.by_class else {}
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
    answer = Found(sequences, columns_of(result.summary), result.matches.attrs, *sliced)
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
    return Found(sequences, numbers, result.matches.attrs, by_slice, class_average=average)


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


def pose(truth: Path, predictions: Submission, out: Path | None, videos: Videos) -> Answer:
    """Scores the poses of a folder; the answer has the numbers of every joint."""
    return _poses(truth, predictions, out, (), videos)


def _poses(truth: Path, predictions: Submission, out: Path | None, slices: Sequence[Slicing], videos: Videos) -> Answer:
    """The same, with the numbers of slices by condition."""
    from .. import tracking
    from ..formats import read_posetrack

    check_out(out, [truth, predictions.path])
    sides = read_posetrack(truth, predictions.path)
    videos = videos.in_truth(sides[0])
    result = tracking.pose(*sides)
    combined = result.summary[result.summary["sequence"].isna()]
    sliced = {(*columns,): tracking.pose(*sides, by=columns) for columns in slices}
    by_slice = {"*".join(columns): _poses_by_slice(of, [*columns]) for columns, of in sliced.items()}
    answer = _of_joints(combined) | {"provenance": result.provenance}
    if by_slice:
        answer["by"] = {
            name: [{"value": value, **_of_joints(rows)} for value, rows in of_slices]
            for name, of_slices in by_slice.items()
        }
    counts = [of.summary.attrs.get(conditions.NEAR_NO_TRUTH) for of in sliced.values()]
    near_no_truth = next((count for count in counts if count is not None), None)
    answer |= {} if near_no_truth is None else {conditions.NEAR_NO_TRUTH: near_no_truth}
    formed = formatted(answer)
    read = {"truth": sides[0].objects, "predictions": sides[1].objects}
    tables = {columns: of.summary[of.summary["sequence"].isna()] for columns, of in sliced.items()}
    keep(out, "pose", result, formed, read, slice_files(tables))
    videos.draw(result)
    head = heading(predictions, truth, "all sequences")

    def text() -> str:
        parts = [f"{head}\n\n{pose_text(combined)}"]
        for name, of_slices in by_slice.items():
            parts += [
                f"{one_line(f'{name} {value}')}\n{pose_text(rows, with_notes=False)}" for value, rows in of_slices
            ]
        parts += [] if near_no_truth is None else [one_line(_near_no_truth_text(near_no_truth))]
        return "\n\n".join(parts)

    return Answer(text, lambda: formed)


def _poses_by_slice(result: "PoseResult", columns: Sequence[str]) -> "list[tuple[Any, pd.DataFrame]]":
    """The values of each slice, and its combined rows, one a joint."""
    combined = result.summary[result.summary["sequence"].isna()]
    slices = combined.groupby(list(columns), sort=False, observed=True, dropna=False)
    values = [[plain_value(value) for value in key] for key, _ in slices]
    return [(value[0] if len(value) == 1 else value, rows) for value, (_, rows) in zip(values, slices, strict=True)]


def _of_joints(combined: "pd.DataFrame") -> dict[str, Any]:
    """The numbers of all joints for JSON, with joints in the names and the order of each kit."""
    import pandas as pd  # folders of tracks need none

    from ..tracking import HOTA_NUMBERS, POSEVAL_NUMBERS

    of_joint = combined.set_index("joint")
    kits = {"keypoint_hota": (HOTA_JOINTS, HOTA_NUMBERS), "poseval": (POSEVAL_JOINTS, POSEVAL_NUMBERS)}
    answer: dict[str, Any] = {}
    for kit, (joints, metrics) in kits.items():
        rows = of_joint.reindex(pd.Index([*joints.values(), None], dtype=of_joint.index.dtype))
        values = {name: [plain_value(value) for value in rows[name]] for name in metrics}
        answer[kit] = {"joints": [*joints, "total"], **values}
    return answer
