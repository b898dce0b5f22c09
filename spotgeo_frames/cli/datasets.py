"""What the commands do with Parquet of any size: `score --dataset`, `track --dataset`, and `repartition`."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..scale import RunOptions, connected, dataset_rule, opened, repartitioned, summaries, track_dataset
from ..support import addresses, stores
from ..tables import CheckedBins
from .answers import Answer, summary_json
from .arguments import How, sequence_names
from .printing import one_line


def score_datasets(
    truth: str,
    submission: str,
    frames: str | None,
    slices: Sequence[Mapping[str, CheckedBins]],
    how: How,
    exclude: str,
    out: str | None,
    scheduler: str | None,
) -> tuple[pd.DataFrame, dict[tuple[str, ...], pd.DataFrame]]:
    """Scores datasets of any size, here or on a cluster; returns the summary, and one for each slicing."""
    client = None if scheduler is None else connected(scheduler)
    with opened(truth, submission, frames, how.options.similarity) as contents:
        left_out = sequence_names(exclude, contents["truth"].numbered)
        run_options = RunOptions(None if out is None else stores.place_of(out), client, left_out)
        tables, texts = summaries(contents, [{}, *slices], dataset_rule(how.options, contents), run_options, how.frames)
    for text in texts:
        warnings.warn(text, stacklevel=2)
    by_slice = {tuple(columns): table for columns, table in zip(slices, tables[1:], strict=True)}
    if run_options.out is not None:
        stores.write_all(run_options.out.inside("score.json"), f"{summary_json(tables[0], by_slice)}\n".encode())
    return tables[0], by_slice


def track_datasets(
    truth: str,
    tracker: str,
    how: How,
    identity: str,
    slices: Sequence[Mapping[str, CheckedBins]],
    out: str | None,
    scheduler: str | None,
) -> tuple[pd.DataFrame, dict[tuple[str, ...], pd.DataFrame]]:
    """Evaluates the tracks of datasets of any size, here or on a cluster; returns the summary, and one a slicing."""
    client, options = None if scheduler is None else connected(scheduler), how.options
    given: dict[str, Any] = {"similarity": options.similarity, "identity": identity, "tau": options.tau}
    given |= {"frames": "labelled" if how.frames == "labelled" else None, "metrics": how.on_request}
    summary = track_dataset(truth, tracker, out, client, **given)
    with warnings.catch_warnings():  # the summary has given them
        warnings.simplefilter("ignore")
        return summary, {
            (*columns,): track_dataset(truth, tracker, None, client, by=columns, **given) for columns in slices
        }


def repartition(dataset: str, out: str, scheduler: str | None) -> Answer:
    """Writes a copy of a dataset that is sorted by sequence; the answer is how many files it has."""
    n_files = repartitioned(dataset, out, None if scheduler is None else connected(scheduler))
    files = f"{n_files:,} {'file' if n_files == 1 else 'files'}"
    return Answer(lambda: one_line(f"{addresses.shown(out)}: {files}, sorted by sequence"))
