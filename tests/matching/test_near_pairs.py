"""The search in columns finds the pairs that looking at all pairs of a frame finds, in the same order."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotgeo_frames.matching import near_pairs
from spotgeo_frames.matching.alignment import Aligned, align
from spotgeo_frames.matching.pairs import Pairs
from spotgeo_frames.matching.rule import Rule
from spotgeo_frames.tables.annotations import as_annotations


def side(random: np.random.Generator, width: float, height: float, is_grid: bool) -> pd.DataFrame:
    """Boxes, some of zero or negative size and some very far away, in a few frames; on a grid, many edges are equal."""
    n_rows = int(random.integers(1, 120))
    spans = {"x": (0, width), "y": (0, height), "w": (0.5, 60), "h": (0.5, 60)}
    places = {name: random.uniform(*span, n_rows) for name, span in spans.items()}
    for name, odd in (("w", -1.0), ("h", 0.0), ("x", 1e9), ("y", -1e140)):
        places[name] = np.where(random.random(n_rows) < 0.05, odd * places[name], places[name])
    places = {name: values.round() for name, values in places.items()} if is_grid else places
    frame = np.append(0, np.sort(random.integers(0, 3, n_rows - 1)))
    return pd.DataFrame({"sequence": 0, "frame": frame, "object": np.arange(n_rows), **places})


def found(rule: Rule, limit: float, aligned: Aligned, crowded: float, at_once: int) -> Pairs:
    with pytest.MonkeyPatch.context() as patched:
        for name, value in (("CROWDED", crowded), ("CROWDED_SIZES", crowded), ("TOUCHING_AT_ONCE", at_once)):
            patched.setattr(near_pairs, name, value)
        return rule.near_pairs(aligned, limit)


@settings(max_examples=200)
@given(st.integers(0, 100_000), st.sampled_from([1.0, 300.0, 5000.0]), st.sampled_from([1.0, 300.0]), st.booleans())
def test_columns_leave_no_pair_out(seed: int, width: float, height: float, is_grid: bool) -> None:
    random = np.random.default_rng(seed)
    aligned = align(*(as_annotations(side(random, width, height, is_grid), "") for _ in "tp"), "union")
    for rule, limit in ((Rule("iou"), float(random.choice([0.0, 0.5, 1.0]))), (Rule("distance"), 20.0)):
        of_all = found(rule, limit, aligned, np.inf, 1)
        for at_once in (1, 50, near_pairs.TOUCHING_AT_ONCE):
            in_columns = found(rule, limit, aligned, -1.0, at_once)
            assert all(map(np.array_equal, in_columns, of_all))
