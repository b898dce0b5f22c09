"""Evaluates parts on a Dask cluster: each part is a task, and the workers add up the results in a tree.

A task gives the same result wherever and however often it is done, and its files appear only when complete. So if a
worker dies, the scheduler repeats its tasks on other workers, and nothing is lost or counted twice.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from ..support.errors import InputError, first_line
from ..support.extras import check_extra
from .evaluation import Job, evaluate_part
from .parts import Part
from .results import Result, add_results, fold

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
