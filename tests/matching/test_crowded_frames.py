"""A frame that would need more memory than there is is refused by its name before its work starts; others are not.

Large frames are searched and solved in parts, with the same answers.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from spotgeo_frames.matching import assignment, near_pairs
from spotgeo_frames.support import memory
from spotgeo_frames.tracking import tracks

# More pairs than are searched at once, so that the frame is a chunk of its own.
N = 1500
CROWD = ("sequence 7, frame 3", f"{N:,} truths", f"{N:,} predictions", "GiB", "fewer")


def scene(n_crowded: int, spacing: float) -> pd.DataFrame:
    """Two small frames, and one of `n_crowded` objects on a line, `spacing` px apart."""
    few = pd.DataFrame({"sequence": 7, "frame": [1, 2], "object": 0, "x": 0.0})
    many = pd.DataFrame(
        {"sequence": 7, "frame": 3, "object": np.arange(n_crowded), "x": np.arange(n_crowded) * spacing}
    )
    return pd.concat([few, many], ignore_index=True).assign(y=0.0, w=50.0, h=50.0, score=0.5)


@pytest.fixture
def at_hand(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """A function that says how much memory there is (bytes); all work is checked, be it small."""
    monkeypatch.setattr(memory, "LEAST_CHECKED", 0)
    monkeypatch.setattr(tracks, "SIMILAR_AT_ONCE", 1 << 16)
    return lambda n_bytes: monkeypatch.setattr(memory, "memory_at_hand", lambda: n_bytes)


def like(truth: pd.DataFrame, predicted: pd.DataFrame) -> np.ndarray:
    return np.exp(-np.abs(truth["x"].to_numpy() - predicted["x"].to_numpy()))


WAYS = {
    "points": lambda table: sf.match(table, table, tau=10),
    "boxes": lambda table: sf.match(table, table),
    "similarity": lambda table: sf.match(table, table, similarity=like, threshold=1e-9),
    "tracks of points": lambda table: sf.track(table, table, tau=10),
    "tracks of boxes": lambda table: sf.track(table, table),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_crowded_frame_is_refused(way: str, at_hand: Callable[[int | None], None]) -> None:
    table = scene(N, 0.01)
    at_hand(1_000_000)
    with refused(CROWD):
        WAYS[way](table)
    for enough in (1_000_000_000, None):
        at_hand(enough)
        WAYS[way](table)


@pytest.mark.parametrize("way", WAYS)
def test_a_large_frame_of_objects_far_apart_is_not(way: str, at_hand: Callable[[int | None], None]) -> None:
    at_hand(1_000_000)
    WAYS[way](scene(N, 300.0))


def test_tracks_need_more_than_pairs(at_hand: Callable[[int | None], None]) -> None:
    at_hand(N * N * 150)
    sf.match(scene(N, 0.01), scene(N, 0.01), tau=10)
    with refused(("sequence 7, frame 3", f"{N * N:,} similar pairs", "GiB")):
        sf.track(scene(N, 0.01), scene(N, 0.01), tau=10)


def test_the_matrix_of_a_frame(at_hand: Callable[[int | None], None]) -> None:
    n = 1100  # the least matrix that is checked has 2**20 cells
    table = scene(n, 300.0)
    at_hand(n * n * 8)
    assert (sf.match(table, table, tau=10)["outcome"] == "TP").all()  # which needs no matrix
    rivals = table.assign(x=table["x"].where((table["frame"] < 3) | (table["object"] > 1), 4.0))
    with refused(("sequence 7, frame 3", f"{n:,} objects", "GiB")):
        sf.match(rivals, rivals, tau=10)
    at_hand(n * n * 10)
    assert (sf.match(rivals, rivals, tau=10)["outcome"] == "TP").all()
    one_more = pd.concat([rivals, rivals.tail(1).assign(object=n, x=1e9)])
    with refused(("sequence 7, frame 3", f"{n + 1:,} objects", "GiB")):  # of which the solver makes a copy
        sf.match(rivals, one_more, tau=10)


def test_frames_of_datasets_are_not_skipped(at_hand: Callable[[int | None], None], tmp_path: Path) -> None:
    scene(N, 0.01).to_parquet(tmp_path / "table.parquet")
    at_hand(1_000_000)
    for on_error in ("raise", "skip"):
        with refused(CROWD):
            sf.score_dataset(*[tmp_path / "table.parquet"] * 2, tau=10, on_error=on_error, workers=1)


@pytest.mark.parametrize("size", [0.0, 4.0])
def test_deep_columns_are_looked_up_by_their_tops(size: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """One frame of many rows: those of a column are looked up by y, and no pair is lost."""
    random = np.random.default_rng(7)
    n = 6000
    sides = []
    for _ in range(2):
        x, y = random.uniform(0, 500, (2, n)).round(random.integers(0, 3))
        table = pd.DataFrame({"sequence": 1, "frame": 1, "object": np.arange(n), "x": x, "y": y})
        sides.append(table.assign(w=size, h=random.uniform(0.5, 2, n) * size) if size else table)
    words: dict[str, Any] = {"similarity": "iou", "threshold": 0.2} if size else {"tau": 3.0}
    found = sf.match(*sides, **words)
    monkeypatch.setattr(near_pairs, "DEEP", np.inf)
    pd.testing.assert_frame_equal(found, sf.match(*sides, **words))
    monkeypatch.setattr(near_pairs, "CROWDED", np.inf)
    monkeypatch.setattr(near_pairs, "CROWDED_SIZES", np.inf)
    pd.testing.assert_frame_equal(found, sf.match(*sides, **words))


def test_huge_frames_are_solved_by_component(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame whose matrix is too large gets the answer of the whole matrix, where that is the only best one."""
    random = np.random.default_rng(8)
    n = 400
    truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": np.arange(n)})
    truth = truth.assign(x=random.uniform(0, 150, n), y=random.uniform(0, 150, n))
    found = truth.assign(x=truth["x"] + random.normal(0, 4, n), y=truth["y"] + random.normal(0, 4, n))
    whole = sf.match(truth, found)
    monkeypatch.setattr(assignment, "MOST_CHOSEN", 0)  # nothing is shown of any component
    monkeypatch.setattr(assignment, "LARGEST_MATRIX", 1)
    solved: list[int] = []
    solve = assignment.solve

    def counted(near: assignment.Entries, far: np.ndarray) -> np.ndarray:
        solved.append(int((np.diff(near.row_starts) * np.diff(near.column_starts)).max(initial=0)))
        return solve(near, far)

    monkeypatch.setattr(assignment, "solve", counted)
    pd.testing.assert_frame_equal(whole, sf.match(truth, found))
    assert solved
    assert max(solved[:1]) < n * n
