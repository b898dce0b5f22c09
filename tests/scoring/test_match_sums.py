"""Sums of pairs: equal to those of the match table that is not made."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers import detectors
from helpers.scenes import grid, objects
from spotgeo_frames.matching.crowds import without_crowds
from spotgeo_frames.matching.matcher import assigned, match_sides
from spotgeo_frames.matching.options import match_options, rule_of_tables
from spotgeo_frames.matching.rule import compared
from spotgeo_frames.scoring.match_sums import pair_sums, summary_sums, together, whole
from spotgeo_frames.tables.annotations import as_side_columns

RANDOM = np.random.default_rng(5)
SIZE = detectors.Detector(sequences=12)
POINTS, BOXES, PEOPLE = detectors.points(RANDOM, SIZE), detectors.boxes(RANDOM, SIZE), detectors.people(RANDOM, SIZE)
NOTHING = objects([])
EMPTY = sf.Annotations(NOTHING, pd.DataFrame({"sequence": [1, 1, 3], "frame": 1}).drop(0))


def with_crowds(sides: Any) -> Any:
    truth, predictions = sides
    crowd = truth.objects["object"] % 3 == 0
    return truth._replace(objects=truth.objects.assign(crowd=crowd)), predictions


CASES = {
    "points": (POINTS, {}),
    "points on a grid": (grid(RANDOM, 40, 5, 12), {}),
    "text": ([table.astype({"sequence": str}) for table in grid(RANDOM, 40, 5, 12)], {"tau": 4, "epsilon": 0}),
    "point": (POINTS, {"similarity": "point"}),
    "crowds of points": (with_crowds(POINTS), {"tau": 40}),
    "boxes": (BOXES, {}),
    "centres": (BOXES, {"tau": 20}),
    "crowds of boxes": (with_crowds(BOXES), {}),
    "joints": (PEOPLE, {}),
    "poses": (PEOPLE, {"similarity": "oks"}),
    "no predictions": ((POINTS[0], NOTHING), {}),
    "no truth": ((NOTHING, POINTS[1]), {}),
    "nothing": ((NOTHING, NOTHING), {}),
    "nothing by similarity": ((NOTHING, NOTHING), {"similarity": "point"}),
    "empty frames": ((EMPTY, NOTHING), {}),
    "empty frames by similarity": ((EMPTY, NOTHING), {"similarity": "point"}),
}


@pytest.mark.parametrize("case", CASES)
def test_equal_the_sums_of_the_match_table(case: str) -> None:
    tables, words = CASES[case]
    sides = [as_side_columns(table, name) for table, name in zip(tables, ("truth", "predictions"), strict=True)]
    rule = rule_of_tables(
        match_options(*(words.get(name) for name in ("tau", "epsilon", "similarity")), None, None), *sides
    )
    expected = summary_sums(match_sides(*sides, rule, may_be_disjoint=True))
    counting = without_crowds(compared(rule, *sides, may_be_disjoint=True), rule)
    found = together(whole(pair_sums(counting, assigned(counting.sides, rule), rule)))
    for field in ("attrs", "rows", "by_similarity", "own_metrics", "texts"):
        assert getattr(found, field) == getattr(expected, field), field
    assert (found.labels.columns, len(found.labels)) == (expected.labels.columns, len(expected.labels))
    assert list(found.values) == list(expected.values)
    for name, rows in expected.values.items():
        assert found.values[name].dtype == rows.dtype
        exactly = name in ("tp", "fn", "fp", "n_frames", "n_sequences")
        np.testing.assert_allclose(found.values[name], rows, rtol=0 if exactly else 1e-12, err_msg=name)
