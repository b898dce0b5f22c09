"""Submissions that claim the very same, row by row, in whatever order."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import spotgeo_frames as sf
from helpers.counted import counted, tracked
from helpers.scenes import objects
from spotgeo_frames.analysis.certainty.submissions import same_rows

TRUTH = objects([(sequence, 1, 10.0 * place, 5.0) for sequence in range(3) for place in range(4)])


def shuffled(table: pd.DataFrame) -> pd.DataFrame:
    """The rows in another order."""
    mixed = table.sample(frac=1, random_state=3)
    mixed.attrs = table.attrs
    return mixed


def without(*rows: int) -> pd.DataFrame:
    """The match table of a detector that misses these rows of the truth."""
    return sf.match(TRUTH, TRUTH.drop(index=list(rows)))


def test_rows_are_the_same_in_any_order_and_kind_of_table() -> None:
    one = without(2)
    assert same_rows(one, one)
    assert same_rows(one, shuffled(one))
    assert same_rows(one, one[one.columns[::-1]])
    assert same_rows(one, pl.from_pandas(shuffled(one)))
    assert same_rows(one, one.assign(submission="june"))


def test_the_order_of_a_file_and_names_of_detections_do_not_count() -> None:
    found = TRUTH.drop(index=2)
    renumbered = shuffled(found).assign(object=range(len(found)))
    assert same_rows(sf.match(TRUTH, found), sf.match(TRUTH, renumbered))


@pytest.mark.parametrize(
    "other",
    [
        without(3),  # equal sums, another object
        without(2, 3),
        without(2).assign(predicted_score=0.5),
        sf.match(TRUTH, TRUTH.drop(index=2).assign(x=lambda of: of["x"].where(of.index != 5, 41.0))),
    ],
    ids=["another object", "fewer", "another column", "moved"],
)
def test_other_rows_are_not_the_same(other: pd.DataFrame) -> None:
    assert not same_rows(without(2), other)
    assert not same_rows(other, without(2))


def test_equal_columns_do_not_make_equal_rows() -> None:
    table = without(2).assign(truth_a=np.arange(12) % 2, truth_b=np.arange(12) // 2 % 2)
    assert not same_rows(table, table.assign(truth_b=table["truth_b"].to_numpy()[::-1]))


def test_rows_may_differ_in_excluded_sequences_only() -> None:
    one, other = counted([3, 2, 4], [1, 2, 0], [0, 0, 1]), counted([3, 2, 3], [1, 2, 1], [0, 0, 1])
    assert not same_rows(one, other)
    assert same_rows(one, shuffled(other), exclude=[2])


def test_identities_count_in_tracks() -> None:
    one = tracked([2, 0, 1])
    assert same_rows(one, one._replace(matches=shuffled(one.matches)))
    assert not same_rows(one, tracked([0, 2, 1]))
    exchanged = one.matches.assign(predicted_object=1 - one.matches["predicted_object"])
    assert not same_rows(one, one._replace(matches=exchanged))


def test_average_precision_has_the_same_rows_too(coco: Path) -> None:
    truth, found = sf.read_coco(coco / "annotations.json", coco / "fast.json", boxes=True)
    one = sf.average_precision(truth, found)
    assert same_rows(one, sf.average_precision(truth, found._replace(objects=shuffled(found.objects))))
    scored = found.objects.assign(score=found.objects["score"].where(found.objects.index != 7, 0.123))
    assert not same_rows(one, sf.average_precision(truth, found._replace(objects=scored)))
