"""A progress bar that appears only where work takes long and somebody can see it."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")

# Seconds after which a bar appears.
PATIENCE = 2.0

# Counts from here on are shown in thousands or millions: 1.2M.
MANY = 10_000


def progress(items: Sequence[Item], description: str, unit: str) -> Iterator[Item]:
    """The items, with a bar on standard error after PATIENCE, on a terminal or in Jupyter only."""
    with progress_bar(len(items), description, unit) as advance:
        for item in items:
            yield item
            advance(1)


@contextmanager
def progress_bar(total: int, description: str, unit: str, done: int = 0) -> Iterator[Callable[[int], object]]:
    """A function to call with how much more of `total` is done; the bar appears as that of `progress` does.

    `done` is what an earlier run did; the bar begins there, and its speed is that of the rest alone.
    """
    if not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield lambda more: None
        return
    from tqdm import tqdm  # imported only here, since most processes write to files and show no bar

    scaled = total >= MANY
    with tqdm(total=total, initial=done, desc=description, unit=unit, unit_scale=scaled, delay=PATIENCE) as bar:
        yield bar.update
