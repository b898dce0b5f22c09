"""Evaluates parts on a Dask cluster: parts are tasks, and what comes of them is put together as a tree, by the workers.

A task gives the same wherever and however often it runs, and writes its files whole, so a worker that dies takes
nothing with it: the scheduler has its tasks done elsewhere, and nothing is counted twice.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..support.errors import InputError, first_line
from .evaluation import Job, evaluate_part
from .parts import Part
from .results import Result, add_results, fold

# Seconds to wait for a scheduler.
PATIENCE = 5
MISSING = "Dask is not installed: pip install 'spotgeo_frames[dask]'"


def connected(address: str) -> Any:
    """A client of the scheduler at an address, such as tcp://host:8786.

    Raises InputError where none answers, ImportError without the extra `dask`.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ImportError(MISSING) from None
    try:
        return Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"{address}: no Dask scheduler answers there: {first_line(error)}") from None


def evaluated_on_cluster(
    client: Any, parts: Sequence[Part], job: Job, finished: Mapping[int, Result], done: Callable[[Part], None]
) -> Result:
    """What comes of the parts, evaluated by the client's workers, and of those that are finished.

    `done` is called with each part. Raises InputError as `evaluate_part` does, and where workers died again and again;
    ImportError without the extra `dask`.
    """
    try:
        from distributed import CancelledError, Future, KilledWorker, as_completed
    except ImportError:
        raise ImportError(MISSING) from None
    # pure=False: nothing is taken for a task of an earlier run.
    futures = {client.submit(evaluate_part, part, job, pure=False): part for part in parts}
    leaves = dict(finished) | {part.number: future for future, part in futures.items()}
    in_order = [leaves[number] for number in sorted(leaves)]
    if not futures:
        return fold(in_order, add_results)
    whole = fold(in_order, lambda some: client.submit(add_results, some, pure=False))
    try:
        for future in as_completed(futures):
            if future.status != "finished":
                future.result()  # raises what went wrong
            done(futures[future])
        return whole.result() if isinstance(whole, Future) else whole
    except KilledWorker as error:
        raise InputError(f"workers died again and again, perhaps for want of memory: {first_line(error)}") from None
    except (CancelledError, ConnectionError, TimeoutError) as error:
        raise InputError(f"the Dask scheduler went away: {first_line(error)}") from None
    finally:
        # To cancel would also cancel sums that depend on these, which nobody holds any more.
        for future in futures:
            future.release()
