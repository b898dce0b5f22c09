"""The commands `validate`, `check`, `sweep`, `diagnose` and `ap`. Each imports only what does its own work."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..formats import Needed, read_annotations, read_side_columns, read_sides, sequence_layout
from ..support import InputError, bins_as_text, plain_value, work
from ..tables import CheckedBins, Columns, SideColumns, columns_of, side_columns
from . import terminal
from .answers import Answer, check_out, formatted, heading, keep, plain_rows, rule_words
from .arguments import How, check_tables, read_pair, sequence_numbers, slices_of, tidy_arguments
from .headlines import first_of_result, headline_text
from .layout import sentence
from .printing import WrongUsage, one_line, problems_reported, wrong_usage
from .submissions import Submission
from .text import costs_text, number_text, rule_text, sweep_text, table_text
from .videos import Videos

if TYPE_CHECKING:
    import pandas as pd

    from ..scoring import AveragePrecision, Number

# The numbers of each category that JSON has.
OF_CATEGORIES = ("AP", "AP50", "AP75", "CPM")

# The thresholds of the match tables that `ap --out` keeps; all ten would take ten times the space.
KEPT_THRESHOLDS = (0.5, 0.75)


def validate(submission: Submission, truth: Path | None, sequences: str | None) -> Answer:
    """Reports every problem of a submission, or that there is none."""
    from ..formats import problem_lines, validate_spotgeo

    if truth is not None and sequences is not None:
        raise WrongUsage("give --truth or --sequences, not both")
    with problems_reported(most=None):
        known = None if truth is None else read_annotations(truth)
        wanted = None if sequences is None else sequence_numbers(sequences, "--sequences")
        with work.step("reading"):
            problems = validate_spotgeo(submission.path, known, wanted)
        if len(problems):
            raise InputError(problem_lines(submission.path, zip(problems["place"], problems["problem"], strict=True)))
    return Answer(lambda: one_line(f"{submission.shown}: nothing is wrong"))


def check(truth: Path, submission: Submission, how: How) -> Answer:
    """Searches for common mistakes of a submission; the text has those that are suspected."""
    from .. import analysis

    known, found = read_pair(truth, submission, how)
    with work.step("looking for mistakes"):
        suspicions = analysis.check(known, found, **how.options._asdict(), tracks=how.tracks, frames=how.frames)

    def text() -> str:
        lines = [
            f"{sentence(_suspicion(row))}\n{sentence(one_line(row['advice']), '    ')}"
            for row in suspicions.to_dict("records")
        ]
        return "\n".join(lines) or one_line(f"{submission.shown}: nothing is suspicious")

    return Answer(text, lambda: formatted({"suspicions": plain_rows(suspicions)}))


def _suspicion(row: Mapping[Any, Any]) -> str:
    """A suspected mistake, with F1 as it is and as it would be."""
    f1 = f"F1 {number_text(row['f1'])}, corrected {number_text(row['f1_corrected'])}"
    return f"{one_line(row['suspicion'])} ({f1})"


def sweep(truth: Path, submission: Submission, how: How, out: Path | None) -> Answer:
    """Evaluates a submission at the thresholds of its scores; the text has the best threshold and the curve."""
    from .. import analysis

    check_out(out, [truth, submission.path])
    known, found = read_pair(truth, submission, how)
    how.warn_of_classes("sweep")
    with work.step("sweeping"):
        swept = analysis.sweep(known, found, **how.options._asdict(), tracks=how.tracks, frames=how.frames)
    answer = formatted({name: plain_rows(table) for name, table in swept._asdict().items()})
    keep(out, "sweep", swept, answer, {"truth": known.objects, "submission": found.objects})
    head = heading(submission, truth, rule_text(swept.best.attrs))
    return Answer(lambda: f"{head}\n\n{sweep_text(*swept)}", lambda: answer)


def diagnose(truth: Path, submission: Submission, how: How, out: Path | None) -> Answer:
    """Finds the kind of each error of a submission, and what each kind costs."""
    from .. import analysis
    from ..tracking import evaluated, matches_of

    check_out(out, [truth, submission.path])
    known, found = read_pair(truth, submission, how)
    by = "category" if how.by_class else None
    with work.step("matching"):
        result = evaluated(known, found, how.options, how.tracks, frames=how.frames, by=by)
    with work.step("explaining errors"):
        diagnosed = analysis.diagnose(matches_of(result))
        costed = analysis.error_costs(result if how.tracks else diagnosed)
    answer = formatted({"kinds": plain_rows(costed)} | rule_words(diagnosed.attrs))
    read = {"truth": known.objects, "submission": found.objects}
    keep(out, "diagnose", diagnosed, answer, read, {"error_costs": costed})
    head = heading(submission, truth, rule_text(diagnosed.attrs))
    return Answer(lambda: f"{head}\n\n{costs_text(costed)}", lambda: answer)


def ap(
    truth: Path,
    results: Submission,
    keypoints: bool,
    masks: bool,
    protocol: str | None,
    tau: list[float] | None,
    thresholds: Any,
    max_detections: int | None,
    metrics: str | None,
    by: list[str],
    frames: Path | None,
    labelled: bool,
    columns: str | None,
    box_format: str | None,
    categories: Path | None,
    out: Path | None,
    videos: Videos,
) -> Answer:
    """The numbers of detections by the protocol of a benchmark."""
    from ..scoring import average_precision

    if keypoints and masks:
        raise WrongUsage("--keypoints and --masks: give one of them")
    check_out(out, [truth, results.path])
    slices = slices_of(by)
    named = [name for of in slices for name in of]
    needed = Needed(named, out is not None or bool(videos.asked), tidy_arguments(columns, box_format))
    if needed.tidy:
        check_tables(truth, [truth, results.path])
    content = "masks" if masks else "oks" if keypoints else "iou"
    with work.step("reading"):
        known, found = _sides(truth, results.path, frames, content, needed)
    videos = videos.in_truth(known)
    if categories is not None:
        from ..formats import read_categories

        known = known._replace(categories=columns_of(read_categories(categories)))
    rules: dict[str, Any] = {
        "protocol": protocol or "coco",
        "tau": tau,
        "thresholds": _as_categories(thresholds, known.objects),
        "max_detections": max_detections,
        "metrics": None if metrics is None else [name.strip() for name in metrics.split(",")],
        "frames": "labelled" if labelled else "truth",
    }
    sides: tuple[Any, Any] = known, found  # checked columns, which it takes as they are
    with wrong_usage(), work.step("matching"):
        result = average_precision(*sides, "oks" if keypoints else None, **rules)
    with work.step("slicing"):
        by_slice = {"*".join(of): _of_slices(result, of) for of in slices}
    as_json = formatted(_numbers(result, by_slice))
    kept = replace(result, thresholds=_kept_thresholds(result))
    keep(out, "ap", kept, as_json, {"truth": known.objects, "results": found.objects})
    videos.draw(result)
    head = heading(results, truth, result.over)
    return Answer(lambda: f"{head}\n\n{_ap_text(result, slices, by_slice)}", lambda: as_json)


def _sides(truth: Path, results: Path, frames: Path | None, content: str, needed: Needed) -> list[SideColumns]:
    """The columns of both sides: of files, or of folders with a file for each sequence."""
    if sequence_layout(truth) is None:
        return read_side_columns(truth, [results], frames, content, needed)
    return [*map(side_columns, read_sides(truth, [results], frames, content, needed=needed))]


def _numbers(result: AveragePrecision, by_slice: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """What the JSON of a result has: its numbers, those of each category, whose they are, and those of slices."""
    row = _first_row(result)
    answer = {name: row[name] for name in result.matched.numbers}
    answer |= {"categories": _by_category(result), "protocol": result.matched.protocol.name}
    answer |= {"provenance": result.provenance}
    return answer | ({"by": {name: plain_rows(table) for name, table in by_slice.items()}} if by_slice else {})


def _ap_text(
    result: AveragePrecision, slices: Sequence[Mapping[str, CheckedBins]], by_slice: Mapping[str, pd.DataFrame]
) -> str:
    """A result as text: its first numbers, a line for each other, whose they are, and a table for each --by."""
    row, numbers, first = _first_row(result), result.matched.numbers, first_of_result(result)
    others = numbers.keys() - {headline.name for headline in first}
    lines = [_line(name, number, row[name], result) for name, number in numbers.items() if name in others]
    shown = [*[name for name in OF_CATEGORIES if name in numbers], "n_truth", "n_predicted"]
    tables = [table_text(by_slice["*".join(columns)][[*columns, *shown]], len(columns)) for columns in slices]
    provenance = sentence(one_line(result.provenance))
    return "\n\n".join([headline_text(first), "\n".join([*lines, provenance]), *tables])


def _as_categories(thresholds: Any, objects: Columns) -> Any:
    """Thresholds by class, whose names are numbers where the truth's classes are."""
    if not isinstance(thresholds, dict) or "category" not in objects:
        return thresholds
    import pandas as pd

    if not pd.api.types.is_integer_dtype(objects["category"].dtype):
        return thresholds
    return {int(name) if name and name.isdecimal() else name: value for name, value in thresholds.items()}


def _of_slices(result: AveragePrecision, columns: Mapping[str, CheckedBins]) -> pd.DataFrame:
    """The summary by the columns of a --by, with bins as text."""
    from ..scoring import sequence_sums

    summary, texts = sequence_sums.summary_of_result(result, columns, None)
    for text in texts:
        warnings.warn(f"ap: {text}", stacklevel=2)
    return bins_as_text(summary)


def _kept_thresholds(result: AveragePrecision) -> list[float]:
    """The thresholds of the match tables that are kept, or all where these are not among them."""
    there = [float(one) for one in result.matched.thresholds]
    return [one for one in KEPT_THRESHOLDS if one in there] or there


def _by_category(result: AveragePrecision) -> dict[str, dict[str, float | None]]:
    """The numbers of each category by its name; nothing without categories, of which the table has a null one."""
    names = [name for name in OF_CATEGORIES if name in result.matched.numbers]
    rows = [{name: plain_value(row[name]) for name in ("category", *names)} for row in result.records("categories")]
    named = [row for row in rows if row["category"] is not None]
    return {str(row["category"]): {name: row[name] for name in names} for row in named}


def _first_row(result: AveragePrecision) -> dict[str, Any]:
    """The summary of a result, of plain values."""
    return {name: plain_value(value) for name, value in result.records("summary")[0].items()}


def _line(name: str, number: Number, value: float | None, result: AveragePrecision) -> str:
    """A line as pycocotools prints it where its words say all, with a dash where it has -1.

    Elsewhere, and on terminals too narrow for that, it has the name and the value.
    """
    protocol = result.matched.protocol
    short = f" {name:<18} {number_text(value, '.4f')}"
    is_told = (
        protocol.called_as_coco
        and not protocol.by_category
        and {"assignment", "interpolation"}.isdisjoint(protocol.noted_fields)
    )
    if not is_told or number.of not in ("precision", "recall"):
        return short
    title, kind = {"precision": ("Average Precision", "(AP)"), "recall": ("Average Recall", "(AR)")}[number.of]
    ends = [f"{protocol.thresholds[end]:.2f}" for end in (0, -1)]
    threshold = ":".join(dict.fromkeys(ends)) if number.threshold is None else f"{number.threshold:.2f}"
    of = f"IoU={threshold:<9} | area={number.area:>6} | maxDets={number.limit:>3}"
    line = f" {title:<18} {kind} @[ {of} ] = {number_text(value, '.3f')}"
    return short if len(line) > (terminal.width() or len(line)) else line
