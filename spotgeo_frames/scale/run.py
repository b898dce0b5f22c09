"""A run over all parts of two datasets: what was finished before, who does the rest, and whether nothing was lost."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from ..support.errors import InputError
from ..support.progress import progress_bar
from ..support.storage import Place
from ..support.writing import check_folder_writable
from ..tables.selections import check_names
from .blocks import Source
from .contents import Contents, gap_text
from .dask import evaluated_on_cluster
from .evaluation import Job, Method, empty_sides, no_result
from .journal import resumed, tidy
from .parts import Part, parts_of
from .results import Result
from .workers import evaluated_here

# Rows, of both sides, below which starting processes takes longer than they save.
FEW_ROWS = 1 << 20


class RunOptions(NamedTuple):
    """How a run is done, as `score_dataset` says."""

    out: Place | None = None
    client: Any = None
    exclude: Sequence[int | str] | None = None
    on_error: str = "raise"
    workers: int | None = None

    def excluded(self, contents: Mapping[str, Contents]) -> list[int | str]:
        """The sequences to leave out; raises InputError where they are not of the type that sequences have."""
        names = self.exclude or []
        filled = [side for side in contents.values() if side.n_rows] or [contents["truth"]]
        check_names(names, filled[0].numbered)
        # No sequence is beyond 64 bits, and Arrow could not hold what is.
        return [name for name in names if isinstance(name, str) or -(1 << 63) <= name < 1 << 63]


def sources_of(
    contents: Mapping[str, Contents], columns: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Source]:
    """The sides with the columns to read of each, or all."""
    return {
        side: Source(
            held.name, pa.schema([held.schema.field(name) for name in (columns or {}).get(side, held.schema.names)])
        )
        for side, held in contents.items()
    }


def run(
    contents: Mapping[str, Contents],
    sources: dict[str, Source],
    method: Method,
    what: Mapping[str, Any],
    how: RunOptions,
) -> Result:
    """What `method` makes of all parts, those that an earlier run of the same has finished included.

    `what` tells what the method does, so that runs can be told apart.
    """
    if how.workers is not None and how.workers < 1:
        raise ValueError(f"workers is {how.workers}; 1 or more is needed")
    if how.client is not None and not hasattr(how.client, "submit"):
        raise ValueError(f"client is a {type(how.client).__name__}; a distributed.Client is needed")
    excluded = how.excluded(contents)
    parts = parts_of(contents)
    finished: dict[int, Result] = {}
    if how.out is not None:
        _check_out(how.out, contents)
        what = {**what, "exclude": excluded, "on_error": how.on_error}
        finished = resumed(how.out, contents, what, len(parts))
    job = Job(sources, method, excluded, how.on_error == "skip", how.out)
    left = [part for part in parts if part.number not in finished]
    result = _evaluated(left, job, finished, contents["truth"].n_rows, how)
    if how.out is not None:
        tidy(how.out)
    _check_whole(result, contents, how)
    if not result.sums:
        # The sums of no rows still have their columns, and a row of zeros where nothing is grouped.
        result = result._replace(sums=method(*empty_sides(sources))[1])
    gaps = [gap_text(gap) for held in contents.values() for gap in held.gaps]
    return result._replace(skipped=[*gaps, *result.skipped])


def _evaluated(
    parts: Sequence[Part], job: Job, finished: Mapping[int, Result], n_truth: int, how: RunOptions
) -> Result:
    """What comes of the parts and of those that are finished, on this machine or a cluster, with a progress bar."""
    if not parts and not finished:
        return no_result(job.sources)
    n_done = sum(result.n_rows["truth"] for result in finished.values())
    n_read = sum(part.n_rows for part in parts)
    with progress_bar(n_truth, "evaluating", "row", n_done) as advance:

        def done(part: Part) -> None:
            # A part's share of all that is read, since what is at its ends is read for its neighbours, too.
            advance(round((n_truth - n_done) * part.n_rows / n_read))

        if how.client is not None:
            return evaluated_on_cluster(how.client, parts, job, finished, done)
        workers = 1 if how.workers is None and n_read < FEW_ROWS else how.workers
        return evaluated_here(parts, job, workers, finished, done)


def _check_out(out: Place, contents: Mapping[str, Contents]) -> None:
    """Raises InputError where the folder could not be written to, or what is written would be read as input."""
    if "://" not in out.name:
        check_folder_writable(Path(out.path))
    for held in contents.values():
        if held.folder is not None and f"{out.path}/".startswith(f"{held.folder.rstrip('/')}/"):
            raise InputError(f"{out.name}: is in the folder of {held.name}; give one elsewhere")


def _check_whole(result: Result, contents: Mapping[str, Contents], how: RunOptions) -> None:
    """Raises InputError where rows were lost, since statistics are wrong, or the sides share no sequence."""
    for side, held in contents.items():
        if how.on_error == "raise" and result.n_rows[side] != held.n_rows:
            what = f"{result.n_rows[side]:,} of its {held.n_rows:,} rows were found"
            why = "the statistics of its files are wrong, or they were changed meanwhile"
            raise InputError(f"{held.name}: {what}: {why}")
    there = [held for side, held in contents.items() if held.n_rows and side != "frames"]
    n_only = [number for number, _ in result.one_sided.values()]
    if len(there) == 2 and not result.n_shared and all(n_only) and how.exclude is None:
        raise InputError(f"{contents['predictions'].name}: shares no sequence with the truth")
