"""Evaluates all parts of two datasets: resumes finished parts, distributes the others, and checks for lost rows.

Parts are given to several processes of this machine, or to a Dask cluster, whose workers add up the results in a tree.
A task gives the same result wherever and however often it is done, and its files appear only when complete. So if a
worker of the cluster dies, the scheduler repeats its tasks on other workers, and nothing is lost or counted twice.
"""

import hashlib
import os
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from ..matching import FrameRule, Rule
from ..support import InputError, Place, first_line, packages, stores, work, writing
from .blocks import Source, empty_sides
from .contents import Contents, check_outside
from .evaluation import Job, Method, evaluate_part, no_result
from .files import check_unchanged, gap_text
from .folder import RunFolder
from .journal import begun, check_written
from .parts import Part, joined
from .planning import RunOptions, is_moderate, planned
from .results import Result, add_results, added, fold, whole_result

# Seconds after which a process without work ends by itself.
IDLE = 10

# What needs the extra `parallel`, in messages.
PROCESSES = "several processes (workers=1 needs none)"


def evaluated_here(
    parts: Sequence[Part], job: Job, workers: int | None, finished: Mapping[int, Result], done: Callable[[Part], None]
) -> Result:
    """The result of all parts: those that are evaluated here, and those that are finished already.

    `workers` is how many processes to use; None means as many as there are cores. `done` is called with each part that
    is evaluated. Raises InputError if rows are wrong, a file cannot be read or written, or a process dies, and
    ImportError if more than one process is to work and the extra `parallel` is not installed.
    """
    if workers is None:
        packages.check_extra("parallel", PROCESSES)
        from loky import cpu_count  # imported only here: it takes a while, and small datasets need none

        workers = cpu_count()
    workers = min(workers, len(parts))
    one_by_one = (evaluate_part(part, job) for part in parts)
    with closing(one_by_one if workers < 2 else _in_processes(parts, job, workers)) as evaluated:
        return added(_in_order(parts, evaluated, finished, done))


def _in_order(
    parts: Sequence[Part], evaluated: Iterator[Result], finished: Mapping[int, Result], done: Callable[[Part], None]
) -> Iterator[Result]:
    """The results of the parts, as they are evaluated, and those that are finished, in the order of all parts."""
    waiting = dict(finished)
    for part in parts:
        yield from (waiting.pop(number) for number in sorted(waiting) if number < part.number)
        yield next(evaluated)
        done(part)
    yield from (waiting.pop(number) for number in sorted(waiting))


def _in_processes(parts: Sequence[Part], job: Job, workers: int) -> Generator[Result, None, None]:
    """The results of the parts, in their order, which processes evaluate."""
    packages.check_extra("parallel", PROCESSES)
    # loky needs no guard around the caller's main module, and it notices if a process dies.
    from loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

    # Each process has one core, so numerical libraries should start no threads.
    env = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    pool = ProcessPoolExecutor(workers, timeout=IDLE, env=env, initializer=work.end_with, initargs=(os.getpid(),))
    try:
        futures = deque(pool.submit(evaluate_part, part, job) for part in parts)
        while futures:
            yield futures.popleft().result()  # which nothing else keeps
    except BrokenProcessPool as error:
        raise InputError(f"a worker process died, perhaps for want of memory: {first_line(error)}") from None
    finally:
        pool.shutdown(kill_workers=True)


# Seconds to wait for a scheduler.
PATIENCE = 5

# A task, and what it results in.
Task = TypeVar("Task")
T = TypeVar("T")


def connected(address: str) -> Any:
    """A client of the scheduler at an address, such as tcp://host:8786.

    Raises InputError if no scheduler answers there, and ImportError if Dask is not installed.
    """
    packages.check_extra("dask", "a Dask cluster")
    from distributed import Client

    try:
        return Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"{address}: no Dask scheduler answers there: {first_line(error)}") from None


def check_client(client: Any) -> None:
    """Raises ValueError unless this is a Dask client, and ImportError if Dask is not installed."""
    if not hasattr(client, "submit"):
        raise ValueError(f"client is of type {type(client).__name__}; a distributed.Client is needed")
    packages.check_extra("dask", "a Dask cluster")


@contextmanager
def _failures() -> Iterator[None]:
    """A context of work on a cluster; raises InputError if workers died again and again, or the scheduler went away."""
    from distributed import CancelledError, KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise InputError(f"workers died again and again, perhaps for want of memory: {first_line(error)}") from None
    except (CancelledError, ConnectionError, TimeoutError) as error:
        raise InputError(f"the Dask scheduler went away: {first_line(error)}") from None


def on_cluster(
    client: Any, function: Callable[[Task], T], tasks: Sequence[Task], done: Callable[[Task], object] = bool
) -> list[T]:
    """What a function returns of each task, where the client's workers call it; `done` is called with what is done.

    Raises what the function raises, and InputError if workers died again and again, or the scheduler went away. Tasks
    are not `pure`: Dask must not reuse results of earlier ones, since files may have changed.
    """
    futures = {client.submit(function, task, pure=False): task for task in tasks}
    try:
        with _failures():
            _wait_for(futures, done)
            return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()


def _wait_for(futures: Mapping[Any, Task], done: Callable[[Task], object]) -> None:
    """Waits until the workers have done all tasks; `done` is called with each. Raises what a task raises."""
    from distributed import as_completed

    for future in as_completed(futures):
        if future.status != "finished":
            future.result()  # raises what went wrong
        done(futures[future])


def evaluated_on_cluster(
    client: Any, parts: Sequence[Part], job: Job, finished: Mapping[int, Result], done: Callable[[Part], None]
) -> Result:
    """The result of all parts: those that the client's workers evaluate, and those that are finished already.

    `done` is called with each part that is evaluated. Raises InputError if rows are wrong, a file cannot be read or
    written, workers died again and again, or the scheduler went away.
    """
    from distributed import Future

    futures = {client.submit(evaluate_part, part, job, pure=False): part for part in parts}
    leaves = dict(finished) | {part.number: future for future, part in futures.items()}
    in_order = [leaves[number] for number in sorted(leaves)]
    if not futures:
        return fold(in_order, add_results)
    whole = fold(in_order, lambda results: client.submit(add_results, results, pure=False))
    try:
        with _failures():
            _wait_for(futures, done)
            return whole.result() if isinstance(whole, Future) else whole
    finally:
        # Releasing is enough. Cancelling would also cancel sums that depend on these futures.
        for future in futures:
            future.release()


# The files of a run that could be an input, in its folder.
WRITTEN = ["summary.parquet", "by_*.parquet", "matches/*", "sums/*"]

# With fewer rows, both sides together, starting processes takes longer than it saves. A row of which more than sums are
# made, or of tracks, takes several times as long.
FEW_ROWS, FEW_SLOW_ROWS = 1 << 25, 1 << 23


def sources_of(
    contents: Mapping[str, Contents], columns: Mapping[str, Sequence[str]] | None = None, coded: Collection[str] = ()
) -> dict[str, Source]:
    """Each side with the columns to read; all of them if `columns` is None.

    Text of the `coded` columns is read as categories, since only whether it is equal matters.
    """
    categories = pa.dictionary(pa.int32(), pa.string())

    def field(schema: pa.Schema, name: str) -> pa.Field:
        plain = schema.field(name)
        return plain.with_type(categories) if name in coded and pa.types.is_string(plain.type) else plain

    named = {side: (columns or {}).get(side, dataset.schema.names) for side, dataset in contents.items()}
    return {
        side: Source(dataset.name, pa.schema([field(dataset.schema, name) for name in named[side]]))
        for side, dataset in contents.items()
    }


def described(rule: Rule, frames: FrameRule) -> dict[str, Any]:
    """A description that differs for different rules, and for other frames; with the digest of a caller's function."""
    description = {str(key): value for key, value in rule.notes.items()} | {"frames": frames}
    description["sigmas"] = None if rule.sigmas is None else dict(rule.sigmas)
    if rule.measure is None:
        return description
    packages.check_extra("parallel", "a similarity or distance that is a function", "cloudpickle")
    import cloudpickle

    return description | {"measure": hashlib.sha256(cloudpickle.dumps(rule.measure)).hexdigest()}


@contextmanager
def run(
    contents: Mapping[str, Contents],
    sources: dict[str, Source],
    method: Method,
    plan: Mapping[str, Any],
    options: RunOptions,
    *,
    cut_frames: bool,
) -> Iterator[tuple[Result, RunFolder | None]]:
    """A context that gives the result of all parts by `method`, and the run's folder, which it holds until its end.

    Parts that an earlier evaluation of the same has finished are not done again. `plan` describes the method, so that
    an earlier evaluation by another one is recognised. `cut_frames` says that the method needs only whole frames, so
    that long sequences may be cut between them. Raises InputError if rows are wrong or lost, a file cannot be
    read or written or has changed, or the sides share no sequence; ValueError if an option is out of range.
    """
    if options.workers is not None and options.workers < 1:
        raise ValueError(f"workers is {options.workers}; 1 or more is needed")
    if options.client is not None:
        check_client(options.client)
    excluded = options.excluded(contents)
    with ExitStack() as stack:
        parts = stack.enter_context(planned(contents, sources, options, cut_frames))
        folder, finished, remarks = None, dict[int, Result](), list[str]()
        if options.out is not None:
            plan = {**plan, "exclude": excluded, "on_error": options.on_error}
            folder, finished, remarks = stack.enter_context(begun(options.out, contents, plan, len(parts)))
        job = Job(sources, method, excluded, options.on_error == "skip", folder, options.client is not None)
        left = [part for part in parts if part.number not in finished]
        few_rows = FEW_ROWS if cut_frames and folder is None else FEW_SLOW_ROWS
        result = whole_result(_evaluated(left, job, finished, contents["truth"].n_rows, options, few_rows))
        check_unchanged(file for dataset in contents.values() for file in dataset.files)
        if folder is not None:
            check_written(folder, result.files)
        _check_whole(result, contents, options)
        if not result.sums:
            # The sums of no rows still have their columns, and without a grouping a row of zeros.
            result = result._replace(sums=method(*empty_sides(sources), ())[1])
        gaps = [gap_text(gap) for dataset in contents.values() for gap in dataset.gaps]
        yield result._replace(skipped=[*gaps, *result.skipped], remarks=tuple(remarks)), folder


def _evaluated(
    parts: Sequence[Part], job: Job, finished: Mapping[int, Result], n_truth: int, options: RunOptions, few_rows: int
) -> Result:
    """The result of the parts and of those that are finished, on this machine or a cluster, with a progress bar.

    One process evaluates `few_rows`, unless the options say how many do.
    """
    if not parts and not finished:
        return no_result(job.sources)
    n_done = sum(result.n_rows["truth"] for result in finished.values())
    workers = options.workers
    if options.client is None:
        parts, workers = _shared_out(parts, job, workers, few_rows)
    n_read = sum(part.n_rows for part in parts)
    with work.progress_bar(n_truth, "evaluating", "row", n_done) as advance:

        def done(part: Part) -> None:
            # The part's share of all rows read, since row groups at its ends are read for its neighbours, too.
            advance(round((n_truth - n_done) * part.n_rows / n_read))

        if options.client is not None:
            return evaluated_on_cluster(options.client, parts, job, finished, done)
        return evaluated_here(parts, job, workers, finished, done)


def _shared_out(
    parts: Sequence[Part], job: Job, workers: int | None, few_rows: int
) -> tuple[Sequence[Part], int | None]:
    """The parts for this machine, and how many processes evaluate them (None: as many as there are cores).

    One process reads neighbours together, unless each has files of its own in the job's folder.
    """
    if workers not in (None, 1):
        return parts, workers
    together = parts if job.folder is not None else joined(parts, partial(is_moderate, sources=job.sources))
    if workers == 1 or sum(part.n_rows for part in together) < few_rows:
        return together, 1
    return parts, None


def check_out(out: Place | None, contents: Mapping[str, Contents]) -> None:
    """Raises InputError if the folder cannot be written to, lies in an input, or would replace files of one."""
    if out is None:
        return
    here = stores.local_paths([out])
    for folder in here:
        writing.check_folder_writable(folder)
    for dataset in contents.values():
        for folder in here:
            writing.check_inputs_kept(folder, stores.local_paths(dataset.places), WRITTEN)
        if not here:
            check_outside(out, dataset)


def _check_whole(result: Result, contents: Mapping[str, Contents], options: RunOptions) -> None:
    """Raises InputError if rows were lost because statistics are wrong, or if the sides share no sequence."""
    for side, dataset in contents.items():
        if options.on_error == "raise" and result.n_rows[side] != dataset.n_rows:
            problem = f"{result.n_rows[side]:,} of its {dataset.n_rows:,} rows were found"
            reason = "the statistics of its files are wrong; write them anew"
            raise InputError(f"{dataset.name}: {problem}: {reason}")
    with_rows = [dataset for side, dataset in contents.items() if dataset.n_rows and side != "frames"]
    n_only = [count for count, _ in result.one_sided.values()]
    if len(with_rows) == 2 and not result.n_shared and all(n_only) and options.exclude is None:
        raise InputError(f"{contents['predictions'].name}: shares no sequence with the truth")
