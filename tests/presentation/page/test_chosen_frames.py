"""Which sequences and frames a page shows."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.report_inputs import many, many_poses
from spotgeo_frames.presentation.page.sections import shown_frames
from spotgeo_frames.presentation.page.sections.shown_frames import choose_frames


def together(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    named = [table.assign(submission=name) for name, table in tables.items()]
    matches = pd.concat(named, ignore_index=True).astype({"submission": pd.CategoricalDtype(list(tables))})
    matches.attrs = next(iter(tables.values())).attrs
    return matches


def errors_of(matches: pd.DataFrame) -> pd.Series:
    return matches["outcome"].isin(["FN", "FP"]).groupby(matches["sequence"]).sum()


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page with room for 200 sequences and 24,000 rows."""
    monkeypatch.setattr(shown_frames, "MOST_SEQUENCES", 200)
    monkeypatch.setattr(shown_frames, "MOST_ROWS", 24_000)


def test_everything_is_chosen_where_it_fits() -> None:
    matches = together({"one": sf.match(*many(3, n_frames=400))})
    page = choose_frames(matches)
    assert page.rows is matches
    assert page.sequences == errors_of(matches).sort_values(ascending=False, kind="stable").index.tolist()
    assert (page.n_sequences, page.n_cut) == (3, 0)
    nothing = choose_frames(matches.iloc[:0])
    assert (nothing.sequences, len(nothing.rows), nothing.n_sequences, nothing.n_cut) == ([], 0, 0, 0)


@pytest.mark.usefixtures("little_room")
def test_the_worst_and_a_sample_are_chosen_with_all_their_rows() -> None:
    matches = together({"one": sf.match(*many(1000))})
    page = choose_frames(matches)
    assert len(page.sequences) == page.rows["sequence"].nunique() == 200
    assert page.n_sequences == 1000
    errors = errors_of(matches)
    chosen_errors = errors[page.sequences].to_numpy()
    worst = np.sort(errors)[::-1]
    assert (chosen_errors[:100] == worst[:100]).all()
    assert chosen_errors[-1] < worst[200], "some are of the sample"
    pd.testing.assert_frame_equal(page.rows, matches[matches["sequence"].isin(page.sequences)].reset_index(drop=True))


@pytest.mark.usefixtures("little_room")
def test_of_each_submission_the_worst_are_chosen() -> None:
    truth, bad = many(1000)
    good = truth.objects[truth.objects["sequence"] != 777]
    page = choose_frames(together({"bad": sf.match(truth, bad), "good": sf.match(truth, good)}))
    assert 777 in page.sequences[:2]


def test_of_a_long_sequence_the_frames_with_most_errors_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_frames, "MOST_ROWS", 2000)
    truth, predictions = many(2, n_frames=400, n_objects=3)
    bad = predictions["frame"].between(301, 340) & (predictions["sequence"] == 2)
    page = choose_frames(together({"one": sf.match(truth, predictions[~bad])}))
    frames = page.rows.loc[page.rows["sequence"] == 2, "frame"].unique()
    assert frames.tolist() == list(range(frames[0], frames[0] + shown_frames.FRAMES_CHOSEN))
    assert frames[0] <= 301
    assert frames[-1] >= 340
    assert page.n_cut == 2 * (400 - shown_frames.FRAMES_CHOSEN)


def test_fewer_poses_than_points_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_frames, "MOST_ROWS", 1000)
    monkeypatch.setattr(shown_frames, "ROWS_CHOSEN", 1000)
    points, poses = (
        choose_frames(together({"one": sf.match(*make(24), **words)}))
        for make, words in ((many, {}), (many_poses, {"similarity": "oks"}))
    )
    assert len(points.sequences) == 24
    assert len(poses.sequences) < 15, "a pose counts as its joints"
