"""check() tells where frames are so crowded that the choice of pairs matters, and only there."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf

CROWDED = "frames are so crowded that the choice of pairs matters"


def scattered(seed: int, n: int, size: float = 100.0) -> pd.DataFrame:
    """Points anywhere in square frames of 30 sequences."""
    random = np.random.default_rng(seed)
    sequence, frame = random.integers(0, 30, n), random.integers(0, 4, n)
    table = pd.DataFrame({"sequence": sequence, "frame": frame, "x": random.uniform(0, size, n), "y": 0.0})
    table["y"] = random.uniform(0, size, n)
    return table.assign(object=table.groupby(["sequence", "frame"]).cumcount(), score=random.random(n))


@pytest.mark.parametrize("words", [{}, {"assignment": "least"}, {"assignment": "least", "power": 1}])
def test_crowded_frames_are_told(words: dict[str, Any]) -> None:
    truth, predictions = scattered(1, 6000), scattered(2, 6000)
    [found] = sf.check(truth, predictions, **words).to_dict("records")
    assert found["suspicion"] == CROWDED
    power = words.get("power", 2)
    most, least = (sf.match(truth, predictions, **of) for of in ({}, {"assignment": "least", "power": power}))
    for name, matches in (("most", most), ("least", least)):
        numbers = sf.summarize(matches).iloc[0]
        assert f'"{name}" finds {numbers["tp"]:,.0f} pairs (F1 {numbers["f1"]:.3f}, GOSPA ' in found["advice"]
    assert f"GOSPA {sf.summarize(least)['gospa'].item():.3f})" in found["advice"]
    assert found["f1"] == pytest.approx(sf.summarize(sf.match(truth, predictions, **words))["f1"].item())
    assert np.isnan(found["f1_corrected"])


def test_elsewhere_nothing_is_told() -> None:
    truth = scattered(1, 6000)
    near = truth.assign(x=truth["x"] + 1, y=truth["y"] + 0.1 * np.arange(6000) % 3)
    assert CROWDED not in sf.check(truth, near)["suspicion"].tolist()
    assert len(sf.check(scattered(1, 2000), scattered(2, 2000))) == 0
    assert len(sf.check(truth, scattered(2, 6000), assignment="score")) == 0
    boxes = [side.assign(w=10.0, h=10.0) for side in (truth, scattered(2, 6000))]
    assert CROWDED not in sf.check(*boxes)["suspicion"].tolist()
    within = sf.check(truth, scattered(2, 6000), similarity="point")
    assert CROWDED not in within["suspicion"].tolist()
