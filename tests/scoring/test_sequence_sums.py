"""Sums by group or by sequence: they add up, lose rows, and go to other processes."""

import pickle

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.datasets import points
from spotgeo_frames.matching.alignment import align
from spotgeo_frames.matching.rule import Rule
from spotgeo_frames.scoring.match_sums import summary_sums
from spotgeo_frames.scoring.sequence_sums import Sums, add_sums, with_total
from spotgeo_frames.tables.annotations import as_annotations
from spotgeo_frames.tables.columns import Columns, dataframe_of
from spotgeo_frames.tracking.tracks import evaluate_tracks

TRUTH, PREDICTIONS = points(12)


def of_matches(part: slice = slice(None)) -> Sums:
    """Sums of a match table by sequence, each an array (N,)."""
    matches = sf.match(TRUTH, PREDICTIONS, frames="union")
    return summary_sums(matches[matches["sequence"].isin(range(12)[part])], "sequence")


def of_tracks(part: slice = slice(None)) -> Sums:
    """Sums of tracks by sequence, those of HOTA arrays (N, 19)."""
    sides = [table[table["sequence"].isin(range(12)[part])] for table in (TRUTH, PREDICTIONS)]
    aligned = align(as_annotations(sides[0], "truth"), as_annotations(sides[1], "predictions"))
    return evaluate_tracks(aligned, Rule("point", tau=10.0, threshold=0.5))[2]


KINDS = pytest.mark.parametrize("sums_of", [of_matches, of_tracks])


@KINDS
def test_sums_of_disjoint_sequences_add_up_whatever_their_shape(sums_of) -> None:
    whole, added = sums_of(), add_sums([sums_of(slice(0, 5)), sums_of(slice(5, 12))])
    pd.testing.assert_frame_equal(dataframe_of(added.labels), dataframe_of(whole.labels))
    assert added.values.keys() == whole.values.keys()
    for name, values in whole.values.items():
        assert added.values[name].dtype == values.dtype
        np.testing.assert_array_equal(added.values[name], values)


@KINDS
def test_rows_with_equal_labels_become_one(sums_of) -> None:
    whole = sums_of()
    doubled = add_sums([whole, whole])
    pd.testing.assert_frame_equal(dataframe_of(doubled.labels), dataframe_of(whole.labels))
    for name, values in whole.values.items():
        np.testing.assert_array_equal(doubled.values[name], 2 * values)


@KINDS
def test_without_each_row_there_are_all_others(sums_of) -> None:
    sums = sums_of()._replace(labels=Columns({}, n_rows=1), group=np.zeros(12, np.int64))
    totals, left = sums.without_each()
    for name, values in sums.values.items():
        np.testing.assert_allclose(totals[name][0], values.sum(axis=0), rtol=1e-12)
        for row in range(len(values)):
            others = np.delete(values, row, axis=0).sum(axis=0)
            np.testing.assert_allclose(left[name][row], others, rtol=1e-9, atol=1e-6)
        np.testing.assert_array_equal(with_total(values)[-1], values.sum(axis=0))


@KINDS
def test_a_group_alone_has_its_rows(sums_of) -> None:
    group = np.repeat([0, 1], [5, 7])
    sums = sums_of()._replace(labels=Columns({"half": np.array(["a", "b"])}), group=group)
    alone = sums.of_group(1)
    assert alone.n_groups == 1
    assert len(alone.group) == 7
    for name, values in sums.values.items():
        np.testing.assert_array_equal(alone.values[name], values[5:])


@KINDS
def test_sums_go_to_other_processes(sums_of) -> None:
    sums = sums_of()
    again = pickle.loads(pickle.dumps(sums))
    assert again.metrics.entries == sums.metrics.entries
    for name, values in sums.values.items():
        np.testing.assert_array_equal(again.values[name], values)
