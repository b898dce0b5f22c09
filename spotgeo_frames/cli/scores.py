"""The command `score`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..formats import read_side_columns
from ..matching import matcher
from ..scoring import held_in, match_sums, metric_columns, registry, summary_of
from ..support import work
from ..tables import CheckedBins, Columns, columns_of, match_dataframe, selections
from .answers import Answer, check_out, heading, keep, summary_json
from .arguments import How, check_scheduler, names_to_exclude, slices_of
from .headlines import first_of_parts, first_of_sums
from .printing import WrongUsage, one_line
from .submissions import Submission
from .text import held_text, overview, rule_text, slice_text
from .videos import Videos

if TYPE_CHECKING:
    import pandas as pd

    from ..scoring import Sums


def score(
    truth: str,
    submission: Submission,
    by: Sequence[str],
    how: How,
    exclude: str,
    frames: str | None,
    out: str | None,
    dataset: bool,
    scheduler: str | None,
    videos: Videos,
) -> Answer:
    """Scores a submission; the text has its summary and a summary for each slicing."""
    if how.tracks:
        raise WrongUsage("score evaluates detections; give the same files to track, which evaluates identities")
    slices = slices_of(by)
    check_scheduler(scheduler, dataset)
    summary: pd.DataFrame | Columns
    sums, held = None, None
    if dataset:
        from .datasets import score_datasets  # what evaluates in parts is imported only here

        summary, by_slice = score_datasets(truth, submission.given, frames, slices, how, exclude, out, scheduler)
    else:
        sums, by_slice, held = _score_files(truth, submission.given, frames, slices, how, exclude, out, videos)
        summary = metric_columns(sums)

    def text() -> str:
        head = heading(submission, truth, rule_text(summary.attrs))
        [row] = columns_of(summary).records()
        headlines = first_of_parts(row, registry.DEFAULT) if sums is None else first_of_sums(sums)
        parts = [
            f"{head}\n{overview(row, headlines, summary.attrs.get('unit'))}",
            held and held_text(held),
        ]
        for columns, table in by_slice.items():
            empty = one_line(f"{' or '.join(columns)} is null in every row")
            parts.append(slice_text(table, columns) if len(table) else empty)
        return "\n\n".join(filter(None, parts))

    return Answer(text, lambda: summary_json(summary, by_slice))


def _score_files(
    truth: str,
    submission: str,
    frames: str | None,
    slices: Sequence[Mapping[str, CheckedBins]],
    how: How,
    exclude: str,
    out: str | None,
    videos: Videos,
) -> tuple[Sums, dict[tuple[str, ...], pd.DataFrame], str | None]:
    """Scores files that fit into memory; returns the sums by sequence, and a summary for each slicing by its columns.

    The last says which sequences hold most of the true objects, if any do.
    """
    folder = None if out is None else Path(out)
    given = [Path(path) for path in (truth, submission, frames) if path is not None]
    check_out(folder, given)
    with work.step("reading"):
        sides = read_side_columns(truth, [submission], frames, how.told, how.needed)
    names = names_to_exclude(exclude, sides)
    videos = videos.in_truth(sides[0], names)
    carried = None if slices or out is not None or videos.asked else ()
    with work.step("matching"):
        matches, warning = matcher.matched(sides[0], sides[1], how.options, how.frames, carried)
    left_out, unknown = selections.excluded_sequences(names, [matches])
    for text in filter(None, (warning, unknown)):
        warnings.warn(text, stacklevel=2)
    matches = selections.without_sequences(matches, left_out)
    sums = match_sums.match_sums(match_sums.group_rows(matches, None))
    by_slice = {tuple(columns): summary_of(match_sums.summary_sums(matches, columns)) for columns in slices}
    if folder is not None:
        from ..scoring import slice_files

        beside = {"summary": summary_of(sums)} | slice_files(by_slice)
        read = {"truth": sides[0].objects, "frames": sides[0].frames, "submission": sides[1].objects}
        answer = summary_json(metric_columns(sums), by_slice)
        keep(folder, "score", match_dataframe(matches), answer, read, beside, exclude=exclude)
    if videos.asked:
        videos.draw(match_dataframe(matches))
    return sums, by_slice, held_in(matches, ".2f")
