"""The masks that a view has: the texts of all rows that there is room for, and in no column."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.masks import corner, corners, masked
from helpers.packed import read_masks, read_view
from spotgeo_frames.presentation.page.sections.shown_frames import choose_frames, looks_of
from spotgeo_frames.presentation.viewer import masks as viewer_masks
from spotgeo_frames.presentation.viewer.view import View, view_of


def seen(matches: pd.DataFrame, **words: Any) -> View:
    return view_of(matches.assign(submission=pd.Categorical(["one"] * len(matches))), "IoU", None, **words)


def test_each_row_has_the_text_of_its_mask_and_no_column_has_it() -> None:
    truth, predictions = corners()
    view = seen(sf.match(truth, predictions))
    read = read_masks(view)
    assert read["truth"] == truth["mask"].tolist()
    assert read["one"] == predictions["mask"].tolist()
    assert view.about["filled"]
    assert (view.n_masked, view.n_boxed) == (2, 0)
    tables = read_view(view)
    for table in (tables["truth"], tables["submissions"]["one"]["predicted"]):
        assert {"mask_h", "mask_w"} <= {*table}
        assert "mask" not in table
    assert view.left_out == []


def test_other_tables_have_no_masks() -> None:
    points = pd.DataFrame({"sequence": [1], "frame": [1], "object": [1], "x": [1.0], "y": [2.0], "mask": ["231U13"]})
    view = seen(sf.match(points, points, tau=5))
    assert read_masks(view) == {"truth": None, "one": None}
    assert "filled" not in view.about


def test_of_masks_and_points_only_one_side_is_filled() -> None:
    truth, _ = corners(1)
    points = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [50.0, 300.0], "y": [50.0, 9.0]})
    read = read_masks(seen(sf.match(truth, points, tau=10)))
    assert read == {"truth": truth["mask"].tolist(), "one": None}


def test_the_worst_frame_of_every_sequence_has_room_before_others() -> None:
    rows = [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    truth = masked((*row, name, corner(20 * name, 20)) for row in rows for name in (1, 6))
    # All is missed in the frames a 2 and b 2.
    matches = sf.match(truth, truth[truth["frame"] == 1].assign(score=1.0))
    size = int(truth["mask"].str.len()[:2].sum())
    for most, shown in ((2 * size, [False, True, False, True]), (2 * size - 1, [False, True, False, False])):
        view = seen(matches, most_of_masks=most)
        assert [text is not None for text in read_masks(view)["truth"]][::2] == shown
        assert (view.n_masked, view.n_boxed) == (4, 4 - sum(shown))


def test_a_frame_that_is_too_large_leaves_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = np.random.default_rng(0).random((240, 320)) < 0.5
    truth = masked([(1, 1, 1, noise), (1, 2, 1, corner(20, 20))])
    monkeypatch.setattr(viewer_masks, "MOST_OF_FRAME", 1000)
    view = seen(sf.match(truth, truth))
    assert read_masks(view)["truth"] == [None, truth["mask"].iloc[1]]
    assert (view.n_masked, view.n_boxed) == (2, 1)


def test_rows_without_a_mask_have_none_and_need_no_room() -> None:
    truth, predictions = corners(1)
    matches = sf.match(truth, predictions)
    matches.loc[matches["outcome"] == "FN", ["truth_mask", "truth_mask_h", "truth_mask_w"]] = None
    view = seen(matches)
    assert read_masks(view)["truth"] == [truth["mask"].iloc[0], ""]
    assert view.n_boxed == 0


def test_the_pictures_of_the_first_screen_come_first() -> None:
    truth, predictions = corners(3)
    right = (predictions["object"] == 1) & (predictions["frame"] != 2)
    matches = sf.match(truth, predictions[right])
    chosen = choose_frames(matches.assign(submission=pd.Categorical(["one"] * len(matches))))
    [look, *_] = looks_of(chosen.rows, "one")
    view = view_of(chosen.rows, "IoU", None, chosen.sequences, most_of_masks=int(truth["mask"].str.len()[:2].sum()))
    shown = [text is not None for text in read_masks(view)["truth"]]
    assert look.frame == "2"
    assert shown == [False, False, True, True, False, False]
