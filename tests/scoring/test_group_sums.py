"""Sums by group or by sequence: they add up, and weights of their rows make totals and resamples."""

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.datasets import points
from helpers.problems import refused
from spotgeo_frames.matching.alignment import align
from spotgeo_frames.matching.rule import Rule
from spotgeo_frames.scoring.group_sums import Sums, add_sums, summary_sums, weighted_sums, with_total
from spotgeo_frames.tables.annotations import as_annotations
from spotgeo_frames.tables.columns import dataframe_of
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
def test_weights_of_ones_give_the_total(sums_of) -> None:
    sums = sums_of()
    weighted = weighted_sums(sums, np.ones((1, len(sums.labels))))
    for name, values in with_total(sums.values).items():
        np.testing.assert_allclose(weighted[name][0], values[-1], rtol=1e-12)


@KINDS
def test_a_row_is_taken_as_often_as_its_weight_says(sums_of) -> None:
    sums = sums_of()
    drawn = np.random.default_rng(0).integers(0, len(sums.labels), (4, len(sums.labels)))
    weights = np.stack([np.bincount(rows, minlength=len(sums.labels)) for rows in drawn])
    for name, values in weighted_sums(sums, weights).items():
        np.testing.assert_allclose(values, sums.values[name][drawn].sum(axis=1), rtol=1e-12)


@KINDS
def test_without_rows_all_weighted_sums_are_zero(sums_of) -> None:
    sums = sums_of()
    nothing = sums._replace(
        labels=sums.labels.take(np.arange(0)), values={name: rows[:0] for name, rows in sums.values.items()}
    )
    for name, values in weighted_sums(nothing, np.ones((2, 0))).items():
        np.testing.assert_array_equal(values, np.zeros((2, *sums.values[name].shape[1:])))


def test_weights_of_another_shape_are_refused() -> None:
    with refused(("weights", "(3, 4)"), error=ValueError):
        weighted_sums(of_matches(), np.ones((3, 4)))
