"""A progress bar that appears only where something takes long, and somebody looks on."""

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")

# Seconds after which a bar appears.
PATIENCE = 2.0


def progress(items: Sequence[Item], description: str, unit: str) -> Iterator[Item]:
    """The items, with a bar on standard error once PATIENCE is over; none where that is a file."""
    if not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield from items
        return
    began, bar = time.monotonic(), None
    try:
        for done, item in enumerate(items):
            if bar is None and time.monotonic() - began > PATIENCE:
                from tqdm import tqdm  # takes longer to import than most inputs to evaluate

                bar = tqdm(total=len(items), initial=done, desc=description, unit=unit)
            yield item
            if bar is not None:
                bar.update()
    finally:
        if bar is not None:
            bar.close()
