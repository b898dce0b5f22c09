"""Every function that draws by chance says which seeds it takes."""

from typing import Any

import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from helpers.scenes import objects

TRUTH = objects([(s, 1, 10.0, 5.0) for s in range(3)])
FOUND = TRUTH.assign(score=0.5)
MATCHES = sf.match(TRUTH, FOUND)

DRAWN = {
    "compare": lambda seed: sf.compare({"a": MATCHES, "b": MATCHES}, seed=seed),
    "intervals": lambda seed: sf.intervals(MATCHES, seed=seed),
    "sweep": lambda seed: sf.sweep(TRUTH, FOUND, seed=seed),
    "worst_slices": lambda seed: sf.worst_slices(MATCHES, ["truth_x"], seed=seed),
}


@pytest.mark.parametrize("seed", [-1, 1.5, "a", None])
@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_a_seed_is_an_integer_from_0_on(draw: Any, seed: Any) -> None:
    with refused(("seed", "integer"), error=ValueError):
        draw(seed)
