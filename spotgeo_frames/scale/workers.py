"""Evaluates parts on this machine, in several processes."""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing

from ..support.errors import InputError, first_line
from ..support.extras import check_extra
from ..support.processes import end_with
from .evaluation import Job, evaluate_part
from .parts import Part
from .results import Result, added

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
