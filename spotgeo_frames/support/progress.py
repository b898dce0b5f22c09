"""A progress bar that appears only if the work takes long, on a terminal or in Jupyter."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")

# Seconds after which a bar appears.
PATIENCE = 2.0

# Counts of this size or more are shown in thousands or millions, such as 1.2M.
MANY = 10_000


def progress(items: Sequence[Item], description: str, unit: str) -> Iterator[Item]:
    """Yields the items, with a bar on standard error after PATIENCE seconds, on a terminal or in Jupyter only."""
    with progress_bar(len(items), description, unit) as advance:
        for item in items:
            yield item
            advance(1)


@contextmanager
def progress_bar(total: int, description: str, unit: str, done: int = 0) -> Iterator[Callable[[int], object]]:
    """A context that gives a function to call with how much more of `total` is done.

    The bar appears on standard error after PATIENCE seconds, on a terminal or in Jupyter only. It begins at `done`, the
    amount that an earlier attempt has finished, which does not count for its speed.
    """
    if not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield lambda more: None
        return
    from tqdm import tqdm  # imported only here, since most processes write to files and show no bar

    scaled = total >= MANY
    with tqdm(total=total, initial=done, desc=description, unit=unit, unit_scale=scaled, delay=PATIENCE) as bar:
        yield bar.update
