"""The command `score`."""

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from ..formats.any_file import read_sides
from ..matching.matcher import match
from ..matching.words import Words
from ..scoring.slice_files import slice_files
from ..scoring.summary import summarize
from ..support.writing import check_folder_writable, write_tables
from ..tables.inputs import input_notes, inputs_of
from ..tables.selections import excluded_sequences, without_sequences
from .arguments import names_to_exclude, slices_of, words_of
from .as_json import summary_json
from .problems import WrongUsage, one_line, problems_reported
from .text import overview, rule_text, slice_text


def score(
    truth: str,
    submission: str,
    by: Sequence[str],
    tau: float | None,
    epsilon: float | None,
    similarity: str | None,
    threshold: float | None,
    exclude: str,
    frames: str | None,
    as_json: bool,
    out: str | None,
    dataset: bool,
    scheduler: str | None,
) -> None:
    """Scores a submission, and prints its summary and a summary for each slicing."""
    words = words_of(tau, epsilon, similarity, threshold)
    slices = slices_of(by)
    if scheduler is not None and not dataset:
        raise WrongUsage("--scheduler: is for a --dataset; give both")
    score_them = _score_files
    if dataset:
        from .datasets import score_datasets  # what evaluates in parts is imported only here

        score_them = partial(score_datasets, scheduler=scheduler)
    with problems_reported():
        summary, by_slice = score_them(truth, submission, frames, slices, words, exclude, out)
    if as_json:
        print(summary_json(summary, by_slice))
    else:
        print(one_line(f"{submission} against {truth}, {rule_text(summary.attrs)}"))
        print(overview(summary.to_dict("records")[0]))
        for columns, table in by_slice.items():
            empty = one_line(f"{' or '.join(columns)} is null in every row")
            print(f"\n{slice_text(table, columns) if len(table) else empty}")


def _score_files(
    truth: str,
    submission: str,
    frames: str | None,
    slices: Sequence[Mapping[str, int | None]],
    words: Words,
    exclude: str,
    out: str | None,
) -> tuple[pd.DataFrame, dict[tuple[str, ...], pd.DataFrame]]:
    """Scores files that fit into memory; returns the summary, and a summary for each slicing by its columns."""
    if out is not None:
        check_folder_writable(Path(out))
    sides = read_sides(truth, [submission], frames, None if words.similarity is None else str(words.similarity))
    matches = match(sides[0], sides[1], **words._asdict())
    left_out, unknown = excluded_sequences(names_to_exclude(exclude, sides), [matches])
    if unknown:
        warnings.warn(unknown, stacklevel=2)
    if left_out is not None:
        matches = without_sequences(matches, left_out)
    summary = summarize(matches)
    by_slice = {tuple(columns): summarize(matches, by=columns) for columns in slices}
    if out is not None:
        tables = {"matches": matches, "summary": summary} | slice_files(by_slice)
        read = {"truth": sides[0].objects, "frames": sides[0].frames, "submission": sides[1].objects}
        write_tables(tables, Path(out), input_notes(inputs_of(read)) | ({"exclude": exclude} if exclude else {}))
    return summary, by_slice
