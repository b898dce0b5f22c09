"""Average precision of many categories: computed in parts, in memory that hardly grows with their count."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from spotgeo_frames.scoring.ap import attribution, curves, interpolation


def sides(n_categories: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    number = np.arange(n_categories)
    columns = {"sequence": number // 100, "frame": 1, "object": number, "x": number % 100 * 50.0, "y": 0.0}
    truth = pd.DataFrame({**columns, "w": 20.0, "h": 20.0, "category": number})
    return truth, truth.assign(score=np.linspace(0, 1, n_categories), x=truth["x"] + number % 7)


def test_memory_hardly_grows_with_the_categories() -> None:
    truth, found = sides(5000)  # whose curves take 16 kB each, at all thresholds, in each area range
    sf.average_precision(*sides(10))  # what is imported does not count
    tracemalloc.start()
    result = sf.average_precision(truth, found)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 << 20
    assert len(result.categories) == 5000


def test_curves_that_do_not_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    result = sf.average_precision(*sides(1000))
    monkeypatch.setattr("spotgeo_frames.support.memory.memory_at_hand", lambda: 1 << 28)
    with refused(("curve", "1,000 categories")):
        _ = result.curve


@pytest.mark.filterwarnings("ignore:average_precision")
@pytest.mark.parametrize("part", [1, 3, 1000])
def test_parts_do_not_matter(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, found = sides(40)
    truth = truth.assign(category=truth["category"] % 13)[truth["category"] % 13 != 4]
    found = found.assign(category=found["category"] % 12)
    whole = sf.average_precision(truth, found)
    curve = whole.curve
    monkeypatch.setattr(interpolation, "PART", part)
    again = sf.average_precision(truth, found)
    pd.testing.assert_frame_equal(again.categories, whole.categories, check_exact=True)
    pd.testing.assert_frame_equal(again.curve, curve, check_exact=True)


def test_as_many_categories_as_are_kept_together_have_the_last_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more, the mean of each is taken first, which rounds otherwise, and the provenance says so."""
    truth, found = sides(40)
    truth, found = (side.assign(category=side["category"] % 13, area=400.0) for side in (truth, found))
    whole = sf.average_precision(truth, found)
    numbers, said = [], []
    for most in (13, 12):
        for module in (curves, attribution):
            monkeypatch.setattr(module, "MOST_TOGETHER", most)
        answer = sf.average_precision(truth, found)
        numbers.append(answer.summary["AP"][0])
        said.append("bit for bit" in answer.provenance)
    assert numbers[0] == whole.summary["AP"][0] != numbers[1]
    assert numbers[1] == pytest.approx(numbers[0], abs=1e-12)
    assert said == [True, False]
