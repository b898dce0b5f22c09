"""The solver that is loaded without scipy.optimize: the public function's answers, and the public function otherwise.

Every test has a process of its own, because here other tests have imported scipy.optimize long ago.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent

# Few places for many objects, so that nearly every frame has ties.
TABLES = """
import sys
import numpy as np
import pandas as pd
import spotgeo_frames as sf
from helpers.scenes import grid

def crowd(seed):
    random = np.random.default_rng(seed)
    n_frames, n_objects = 40, 12
    frame, number = (part.ravel() for part in np.mgrid[1 : n_frames + 1, 0:n_objects])
    table = pd.DataFrame({"sequence": frame % 3, "frame": frame, "object": number})
    corners = {name: random.integers(0, 6, len(table)).astype(float) for name in "xy"}
    return table.assign(**corners, w=6.0, h=6.0).sample(frac=0.8, random_state=seed)

def public():
    return [name for name in sys.modules if name.startswith("scipy.optimize") or name.startswith("scipy.sparse")]
"""

EQUAL_ANSWERS = """
from spotgeo_frames.matching.solver import assignment_solver
scenes = [(n_frames, most, size, tau) for n_frames, most, size in [(3000, 4, 8), (1500, 7, 14), (300, 30, 25)]
          for tau in (10.0, 5.0)]
tables = [grid(np.random.default_rng(most), n_frames, most, size) for n_frames, most, size, _ in scenes]
found = [sf.match(*sides, tau=tau, epsilon=2) for sides, (*_, tau) in zip(tables, scenes, strict=True)]
tracks = [sf.track(crowd(seed), crowd(seed + 1)) for seed in range(4)]
assert not public(), public()

from helpers.reference import linear_sum_assignment, reference_matcher
assert public()
solver = assignment_solver()
for sides, matches, (*_, tau) in zip(tables, found, scenes, strict=True):
    by_frames = sf.match_frames(*sides, reference_matcher(tau), tau=tau, epsilon=2)
    pd.testing.assert_frame_equal(matches, by_frames)
random = np.random.default_rng(0)
for _ in range(5000):
    costs = random.integers(0, 4, random.integers(1, 9, 2)) * random.choice([1.0, 0.1, 1000.0])
    for ours, theirs in zip(solver(costs), linear_sum_assignment(costs), strict=True):
        np.testing.assert_array_equal(ours, theirs)
assignment_solver.cache_clear()
assert assignment_solver() is linear_sum_assignment
for seed, result in enumerate(tracks):
    for ours, theirs in zip(result, sf.track(crowd(seed), crowd(seed + 1)), strict=True):
        pd.testing.assert_frame_equal(ours, theirs)
"""

# What stands where SciPy's extension should be.
FALLS_BACK = """
from pathlib import Path
from types import SimpleNamespace
import spotgeo_frames.matching.solver as solver

folder, case = Path(sys.argv[1]), sys.argv[2]
(folder / "optimize").mkdir()
file = folder / "optimize" / ("_lsap" + solver.EXTENSION_SUFFIXES[0])
match case:
    case "no package":
        solver.find_spec = lambda name: None
    case "no file":
        solver.find_spec = lambda name: SimpleNamespace(submodule_search_locations=[str(folder)])
    case "damaged file":
        file.write_bytes(b"no extension")
        solver.find_spec = lambda name: SimpleNamespace(submodule_search_locations=[str(folder)])
    case "another module":
        import msgspec._core
        file.write_bytes(Path(msgspec._core.__file__).read_bytes())
        solver.find_spec = lambda name: SimpleNamespace(submodule_search_locations=[str(folder)])
    case "other answers":
        solver.KNOWN_ANSWERS = solver.KNOWN_ANSWERS[::-1]
truth, predictions = grid(np.random.default_rng(0), 50, 6, 12)
assert not public()
matches = sf.match(truth, predictions)
assert public()
from helpers.reference import linear_sum_assignment, reference_matcher
assert solver.assignment_solver() is linear_sum_assignment
pd.testing.assert_frame_equal(matches, sf.match_frames(truth, predictions, reference_matcher()))
"""

BESIDE_SCIPY = """
from concurrent.futures import ThreadPoolExecutor
from spotgeo_frames.matching.solver import EXTENSION, assignment_solver

def public_import():
    import scipy.optimize
    return scipy.optimize

with ThreadPoolExecutor(8) as threads:
    solvers = [threads.submit(assignment_solver) for _ in range(7)]
    optimize = threads.submit(public_import).result()
costs = np.array([[2.0, 1.0], [3.0, 1.5]])
for solve in [optimize.linear_sum_assignment, *(future.result() for future in solvers)]:
    assert solve(costs)[1].tolist() == [0, 1]
assert sys.modules[EXTENSION] is optimize._lsap
assert optimize.minimize(lambda x: (x[0] - 2) ** 2, [0.0]).x.round(3).tolist() == [2]
"""


def run(code: str, *arguments: str) -> None:
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", TABLES + code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths})
    assert done.returncode == 0, done.stderr


def test_answers_are_those_of_the_public_function() -> None:
    run(EQUAL_ANSWERS)


@pytest.mark.parametrize("case", ["no package", "no file", "damaged file", "another module", "other answers"])
def test_falls_back_on_the_public_import(case: str, tmp_path: Path) -> None:
    run(FALLS_BACK, str(tmp_path), case)


def test_beside_an_import_of_scipy_in_another_thread() -> None:
    run(BESIDE_SCIPY)
