"""Evaluates parts on this machine, in as many processes as there are cores."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed

from ..errors import InputError
from .evaluation import Job, evaluate_part
from .parts import Part
from .results import Result, fold

# Seconds after which a process that hears nothing any more ends by itself.
IDLE = 10


def evaluated_here(
    parts: Sequence[Part], job: Job, workers: int, finished: Mapping[int, Result], done: Callable[[Part], None]
) -> Result:
    """What comes of the parts and of those that are finished; `done` is called with each part.

    Raises InputError as `evaluate_part` does, and where a process dies.
    """
    results = dict(finished)
    if workers < 2:
        for part in parts:
            results[part.number] = evaluate_part(part, job)
            done(part)
    else:
        _in_processes(parts, job, workers, results, done)
    return fold([results[number] for number in sorted(results)])


def _in_processes(
    parts: Sequence[Part], job: Job, workers: int, results: dict[int, Result], done: Callable[[Part], None]
) -> None:
    # Its processes need no guard around the caller's main module, and the death of one is noticed.
    from loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

    # Each process has one core, so what it calls need not start threads.
    pool = ProcessPoolExecutor(workers, timeout=IDLE, env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    try:
        futures = {pool.submit(evaluate_part, part, job): part for part in parts}
        for future in as_completed(futures):
            part = futures[future]
            results[part.number] = future.result()
            done(part)
    except BrokenProcessPool as error:
        why = str(error).splitlines()[0]
        raise InputError(f"a worker process died, perhaps for want of memory: {why}") from None
    finally:
        pool.shutdown(kill_workers=True)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
