"""Threads that evaluate at the same time share nothing: each has the numbers that it has alone.

Where Python has no global lock (3.14t), it must not bring it back either.
"""

import gc
import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.reference import PROJECT
from spotgeo_frames.support import documents

DATA = PROJECT / "data"
THREADS = 4


def points() -> pd.DataFrame:
    sides = sf.read_spotgeo(DATA / "sample/truth.json"), sf.read_spotgeo(DATA / "sample/eager.json")
    return sf.summarize(sf.match(*sides), by="sequence")


def tracks() -> pd.DataFrame:
    sides = sf.read_motchallenge(DATA / "tracks/truth", DATA / "tracks/tracker")
    return sf.track(*sides, similarity="iou").summary


def poses() -> pd.DataFrame:
    return sf.pose(*sf.read_posetrack(DATA / "poses/truth", DATA / "poses/tracker")).summary


def precision() -> pd.DataFrame:
    random = np.random.default_rng(3)
    keys = {"sequence": np.repeat(np.arange(40), 10), "frame": 1, "object": np.tile(np.arange(10), 40)}
    truth = pd.DataFrame(keys | {"category": random.choice(["car", "van"], 400), "w": 20.0, "h": 20.0})
    truth[["x", "y"]] = random.uniform(0, 300, (400, 2))
    found = truth.assign(x=truth["x"] + random.normal(0, 4, 400), score=random.uniform(size=400))
    return sf.average_precision(truth, found).summary


def comparison() -> pd.DataFrame:
    truth = sf.read_spotgeo(DATA / "sample/truth.json")
    sides = {name: sf.read_spotgeo(DATA / f"sample/{name}.json") for name in ("eager", "cautious")}
    return sf.compare({name: sf.match(truth, side) for name, side in sides.items()}).pairs


@pytest.mark.parametrize("evaluate", [points, tracks, poses, precision, comparison])
@pytest.mark.filterwarnings("ignore")
def test_threads_have_the_numbers_that_they_have_alone(evaluate: Callable[[], pd.DataFrame]) -> None:
    alone = evaluate()
    together = Barrier(THREADS)

    def begun(_: int) -> pd.DataFrame:
        together.wait()
        return evaluate()

    with ThreadPoolExecutor(THREADS) as pool:
        for found in pool.map(begun, range(THREADS)):
            pd.testing.assert_frame_equal(found, alone)
    if "free-threading" in sys.version:
        assert not sys._is_gil_enabled()


def test_garbage_is_collected_again_after_the_last_thread_has_decoded() -> None:
    assert gc.isenabled()
    with documents.collector_paused():
        with documents.collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()  # another thread still decodes
    assert gc.isenabled()


def test_who_collects_no_garbage_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "truth.json"
    file.write_text(json.dumps([{"sequence_id": 1, "frame": 1, "num_objects": 0, "object_coords": []}]))
    gc.disable()
    try:
        sf.read_spotgeo(file)
        assert not gc.isenabled()
    finally:
        gc.enable()
