"""A progress bar that appears only where something takes long, and somebody looks on."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")

# Seconds after which a bar appears.
PATIENCE = 2.0

# Numbers as large as this are shown as 1.2M.
MANY = 10_000


def progress(items: Sequence[Item], description: str, unit: str) -> Iterator[Item]:
    """The items, with a bar on standard error once PATIENCE is over; none where that is a file."""
    with progress_bar(len(items), description, unit) as advance:
        for item in items:
            yield item
            advance(1)


@contextmanager
def progress_bar(total: int, description: str, unit: str, done: int = 0) -> Iterator[Callable[[int], None]]:
    """A function to call with how much more is done of `total`; the bar is as that of `progress`.

    `done` is what was done before, which says nothing of how fast the rest goes.
    """
    shown = sys.stderr.isatty() or "ipykernel" in sys.modules
    began, bar = time.monotonic(), None

    def advance(more: int) -> None:
        nonlocal bar, done
        if shown and bar is None and time.monotonic() - began > PATIENCE:
            from tqdm import tqdm  # takes longer to import than most inputs to evaluate

            bar = tqdm(total=total, initial=done, desc=description, unit=unit, unit_scale=total >= MANY)
        done += more
        if bar is not None:
            bar.update(more)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.close()
