"""`tidy` of a million rows in other words, against `match` of the same boxes, and against merely walking the cells.

    python benchmarks/tidy.py [--rows 1000000]

The boxes are four columns, lists or arrays in the cells of a column, dicts, and lists and structs of polars. All are to
become the same columns before anything is timed. `tidy` and `match` are timed in turn, and the median of the ratios of
the rounds counts. Columns, lists of polars and structs are to cost about a tenth of `match` or less. Lists and dicts of
Python cannot: to walk them, which takes each number of each cell in C and does nothing with it, takes longer.
"""

import argparse
import contextlib
import io
import statistics
import time
from collections import deque
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import spotgeo_frames as sf

N_ROWS, ROUNDS, IN_FRAME = 1_000_000, 5, 10


def boxes(n_rows: int) -> pd.DataFrame:
    """Boxes in an image of 1920 x 1080 px, ten in each frame."""
    random = np.random.default_rng(41)
    place = np.arange(n_rows) // IN_FRAME
    spans = {"x": (0, 1900), "y": (0, 1000), "w": (10, 60), "h": (10, 60)}
    columns = {name: random.uniform(*spans[name], n_rows) for name in spans}
    return pd.DataFrame({"sequence": place // 100, "frame": place % 100, **columns})


def shapes(table: pd.DataFrame) -> dict[str, tuple[Any, Callable[[], object] | None]]:
    """The same boxes in other words, with what merely walks their cells, if they are of Python."""
    key, numbers = table[["sequence", "frame"]], table[list("xywh")].to_numpy()
    rows = numbers.tolist()
    cells = [dict(zip(("left", "top", "width", "height"), row, strict=True)) for row in rows]
    corners = dict(
        zip(("xmin", "ymin", "xmax", "ymax"), (*numbers.T[:2], *(numbers.T[:2] + numbers.T[2:])), strict=True)
    )
    own = pl.from_pandas(key)
    return {
        "columns": (key.assign(**corners), None),
        "lists": (key.assign(tlwh=rows), lambda: deque(chain.from_iterable(rows), 0)),
        "arrays": (key.assign(tlwh=list(numbers)), None),
        "dicts": (key.assign(box=cells), lambda: deque(chain.from_iterable(map(dict.values, cells)), 0)),
        "lists of polars": (own.with_columns(tlwh=pl.Series(numbers).cast(pl.List(pl.Float64))), None),
        "structs of polars": (
            own.with_columns(box=pl.from_pandas(pd.DataFrame(numbers, columns=list("xywh"))).to_struct()),
            None,
        ),
    }


def quietly(table: Any) -> Any:
    """`tidy` without its line of text."""
    with contextlib.redirect_stdout(io.StringIO()):
        return sf.tidy(table)


def seconds(call: Callable[[], object]) -> float:
    """The processor time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=N_ROWS)
    truth = boxes(parser.parse_args().rows)
    found = truth.assign(x=truth["x"] + 2, score=0.5)
    for name, (table, walk) in shapes(truth).items():
        tidied = quietly(table)
        assert np.allclose(np.column_stack([tidied[column] for column in "xywh"]), truth[list("xywh")], atol=1e-9)
        rounds = [
            [
                seconds(lambda given=table: quietly(given)),
                seconds(lambda: sf.match(truth, found)),
                seconds(walk or list),
            ]
            for _ in range(ROUNDS)
        ]
        ratio, walked = (statistics.median(of[at] / of[1] for of in rounds) for at in (0, 2))
        took = statistics.median(of[0] for of in rounds)
        floor = f"; a walk of the cells {walked:.1%}" if walk else ""
        print(f"{name}: tidy takes {took * 1000:.0f} ms, {ratio:.1%} of match{floor}")


if __name__ == "__main__":
    main()
