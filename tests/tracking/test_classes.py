"""track(by="category"): each class as trackeval evaluates it, and the two ways in which it averages classes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers import official
from helpers.boxes import NONE, box_matrix, boxes, crowd
from helpers.problems import refused

pytestmark = pytest.mark.filterwarnings("ignore:boxes of zero")

FRAMES = pd.DataFrame({"sequence": np.repeat([1, 2, 3], 4), "frame": [1, 2, 3, 4] * 3})


def classed(rows: list[tuple]) -> pd.DataFrame:
    """Rows of sequence, frame, object, x, y and category."""
    table = boxes([row[:5] for row in rows])
    return table.assign(category=pd.Series([row[5] for row in rows], dtype="str"))


def check(truth: pd.DataFrame, predictions: pd.DataFrame, frames: pd.DataFrame) -> sf.TrackResult:
    got = sf.track(sf.Annotations(truth, frames), predictions, by="category")
    official.same_classes(got, official.evaluate_classes(truth, predictions, box_matrix, frames))
    return got


def crowds(seed: int, classes: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Three sequences; an object is of one class, which the tracker confuses now and then."""
    random = np.random.default_rng(seed)
    tables = [crowd(random, 9, int(random.integers(3, 14)), 14, whole=seed % 2 > 0) for _ in range(3)]
    truth, predictions, frames = (
        pd.concat([trio[side].assign(sequence=number) for number, trio in enumerate(tables)], ignore_index=True)
        for side in range(3)
    )
    truth["category"] = truth["object"] % classes
    confused = random.integers(0, classes, len(predictions)) * (random.random(len(predictions)) < 0.1)
    predictions["category"] = (predictions["object"] + confused) % classes
    return truth, predictions, frames


@pytest.mark.parametrize(("seed", "classes"), [(0, 2), (1, 3), (2, 5), (3, 1)])
def test_classes_that_some_objects_are_confused_with(seed: int, classes: int) -> None:
    check(*crowds(seed, classes))


@pytest.mark.parametrize("seed", range(4))
def test_classes_that_are_missing_on_a_side_or_in_a_sequence(seed: int) -> None:
    truth, predictions, frames = crowds(seed, 5)
    truth = truth[(truth["category"] != 0) & ~((truth["category"] == 2) & (truth["sequence"] == 1))]
    predictions = predictions[(predictions["category"] != 1) & ~(predictions["category"].eq(2) & predictions["sequence"].lt(2))]
    check(truth, predictions, frames)
    check(truth[truth["sequence"] != 2], predictions, frames)
    check(truth, predictions[:0], frames)
    check(truth[:0], predictions, frames)


objects = st.lists(st.tuples(*(st.integers(*ends) for ends in [(1, 3), (1, 4), (0, 3), (0, 7), (0, 3)]), st.sampled_from("abc")), max_size=18)


@settings(max_examples=60)
@given(objects, objects)
def test_any_boxes_of_three_classes(truth: list[tuple], predictions: list[tuple]) -> None:
    sides = [classed([*{row[:3]: row for row in rows}.values()]) for rows in (truth, predictions)]
    if any(map(len, sides)):
        check(*sides, FRAMES)
