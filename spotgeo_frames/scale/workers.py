"""Evaluates parts in several processes of this machine, or on a Dask cluster, whose workers add up results in a tree.

A task gives the same result wherever and however often it is done, and its files appear only when complete. So if a
worker of the cluster dies, the scheduler repeats its tasks on other workers, and nothing is lost or counted twice.
"""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, TypeVar

from ..support.errors import InputError, first_line
from ..support.packages import check_extra
from ..support.work import end_with
from .evaluation import Job, evaluate_part
from .parts import Part
from .results import Result, add_results, added, fold

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
        check_extra("parallel", PROCESSES)
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
    check_extra("parallel", PROCESSES)
    # loky needs no guard around the caller's main module, and it notices if a process dies.
    from loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

    # Each process has one core, so numerical libraries should start no threads.
    env = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    pool = ProcessPoolExecutor(workers, timeout=IDLE, env=env, initializer=end_with, initargs=(os.getpid(),))
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
    check_extra("dask", "a Dask cluster")
    from distributed import Client

    try:
        return Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"{address}: no Dask scheduler answers there: {first_line(error)}") from None


def check_client(client: Any) -> None:
    """Raises ValueError unless this is a Dask client, and ImportError if Dask is not installed."""
    if not hasattr(client, "submit"):
        raise ValueError(f"client is of type {type(client).__name__}; a distributed.Client is needed")
    check_extra("dask", "a Dask cluster")


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

    Raises what the function raises, and InputError if workers died again and again, or the scheduler went away.
    """
    from distributed import as_completed

    # pure=False: Dask must not reuse results of earlier tasks, since files may have changed.
    futures = [client.submit(function, task, pure=False) for task in tasks]
    numbers = {future: number for number, future in enumerate(futures)}
    results: dict[int, T] = {}
    try:
        with _failures():
            for future in as_completed(futures):
                number = numbers[future]
                results[number] = future.result()
                done(tasks[number])
    finally:
        for future in futures:
            future.cancel()
    return [results[number] for number in range(len(tasks))]


def _sum_on_cluster(client: Any, results: Sequence[Any]) -> Any:
    """A future of the sum of several results."""
    return client.submit(add_results, results, pure=False)


def evaluated_on_cluster(
    client: Any, parts: Sequence[Part], job: Job, finished: Mapping[int, Result], done: Callable[[Part], None]
) -> Result:
    """The result of all parts: those that the client's workers evaluate, and those that are finished already.

    `done` is called with each part that is evaluated. Raises InputError if rows are wrong, a file cannot be read or
    written, workers died again and again, or the scheduler went away.
    """
    from distributed import Future, as_completed

    # pure=False: Dask must not reuse results of earlier tasks, since files may have changed.
    futures = {client.submit(evaluate_part, part, job, pure=False): part for part in parts}
    leaves = dict(finished) | {part.number: future for future, part in futures.items()}
    in_order = [leaves[number] for number in sorted(leaves)]
    if not futures:
        return fold(in_order, add_results)
    whole = fold(in_order, partial(_sum_on_cluster, client))
    try:
        with _failures():
            for future in as_completed(futures):
                if future.status != "finished":
                    future.result()  # raises what went wrong
                done(futures[future])
            return whole.result() if isinstance(whole, Future) else whole
    finally:
        # Releasing is enough. Cancelling would also cancel sums that depend on these futures.
        for future in futures:
            future.release()
