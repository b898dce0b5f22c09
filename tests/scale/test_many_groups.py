"""Grouping by a column of many values: results are added up as they come, or refused before memory ends."""

from pathlib import Path

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.datasets import assert_same, in_files, points
from helpers.problems import refused
from spotgeo_frames.scale import blocks, parts, results
from spotgeo_frames.scale.results import GROUP_BYTES
from spotgeo_frames.support import memory

pytestmark = pytest.mark.filterwarnings("ignore:.* in the (truth|predictions) only:UserWarning")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "LEAST_ROWS", 40)
    monkeypatch.setattr(parts, "MOST_READ", 3.0)
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 16)
    monkeypatch.setattr(results, "MANY_GROUPS", 4)


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    truth, predictions = points(60)
    named = truth.assign(name=[f"star {number % 70}" for number in range(len(truth))])
    return in_files(named, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")


def in_memory(paths: tuple[Path, Path], by: str) -> pd.DataFrame:
    return sf.summarize(sf.match(*map(sf.read_objects, paths)), by=by)


@pytest.mark.parametrize("by", ["sequence", "truth_name", "truth_brightness"])
@pytest.mark.parametrize("workers", [1, 2])
def test_as_in_memory(by: str, workers: int, paths: tuple[Path, Path]) -> None:
    assert_same(sf.score_dataset(*paths, by=by, workers=workers), in_memory(paths, by))


def test_finished_parts_are_added_in_their_places(paths: tuple[Path, Path], tmp_path: Path) -> None:
    whole = sf.score_dataset(*paths, tmp_path / "out", by="truth_name", workers=1)
    sums = sorted((tmp_path / "out" / "sums").iterdir())
    assert len(sums) > 4
    for path in sums[1::2]:
        path.unlink()
    again = sf.score_dataset(*paths, tmp_path / "out", by="truth_name", workers=1)
    pd.testing.assert_frame_equal(again, whole, check_exact=True)


def test_as_few_results_as_possible_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are added up as soon as they have more groups than MANY_GROUPS and than the first, which may be a sum."""
    monkeypatch.setattr(results, "add_results", sum)
    monkeypatch.setattr(results, "_n_groups", lambda result: result)
    waiting, seen = list[int](), []
    for n_groups in [2, 1, 1, 1, 9, 9, 30]:
        waiting = results.few([*waiting, n_groups])  # type: ignore[list-item]
        seen.append([*waiting])
    assert seen == [[2], [2, 1], [2, 1, 1], [2, 1, 1, 1], [14], [14, 9], [53]]


@pytest.mark.parametrize("enough", [True, False])
def test_more_groups_than_memory_are_refused(
    enough: bool, paths: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = in_memory(paths, "sequence")
    most = len(expected)  # each sequence is a group, in one result only, and all are added up at the end
    monkeypatch.setattr(memory, "LEAST_CHECKED", 0)
    monkeypatch.setattr(memory, "memory_at_hand", lambda: (most if enough else most - 1) * GROUP_BYTES)
    if enough:
        assert_same(sf.score_dataset(*paths, by="sequence", workers=1), expected)
        return
    with refused(("sums by sequence", "adding up", "GiB", "columns of fewer values", "DuckDB")):
        sf.score_dataset(*paths, by="sequence", workers=1)
