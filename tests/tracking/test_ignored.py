"""Ignored truths of tracks and poses: they leave as distractors do in MOTChallenge's kit."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.boxes import boxes
from helpers.commands import answer_here
from helpers.scenes import objects

# Object 1 is followed; object 9 is ignored, and prediction 7 follows it; prediction 8 follows nothing.
TRUTH = boxes([(1, 1, 1, 0, 0), (1, 2, 1, 0, 0), (1, 1, 9, 100, 0), (1, 2, 9, 100, 0)]).assign(ignore=[0, 0, 1, 1])
PREDICTIONS = boxes([(1, 1, 4, 0, 0), (1, 2, 4, 0, 0), (1, 1, 7, 100, 1), (1, 2, 7, 101, 0), (1, 1, 8, 300, 0)])


def test_what_is_ignored_leaves_with_what_it_took() -> None:
    result = sf.track(TRUTH, PREDICTIONS)
    [combined] = result.summary.tail(1).to_dict("records")
    assert (combined["TP"], combined["FN"], combined["FP"]) == (2, 0, 1)
    assert result.summary.attrs["ignored"] == result.matches.attrs["ignored"] == 2
    expected = sf.track(TRUTH[:2].drop(columns="ignore"), PREDICTIONS.drop(index=[2, 3]))
    pd.testing.assert_frame_equal(result.summary, expected.summary)
    pd.testing.assert_frame_equal(result.curve, expected.curve)


def random_files(random: np.random.Generator, root: Path) -> tuple[Path, Path, set[int]]:
    """Folders of MOTChallenge with pedestrians and distractors on a grid, and the identities of distractors."""
    lines, distractors = [list[str](), list[str]()], set[int]()
    for identity in range(1, 9):
        kind = int(random.choice([1, 7, 8]))
        distractors |= {identity} if kind != 1 else set()
        place = random.integers(0, 40, 2)
        for frame in range(1, 7):
            place = place + random.integers(-3, 4, 2)
            x, y, w, h = *place.tolist(), 16, 24
            if random.random() < 0.9:
                lines[0].append(f"{frame},{identity},{x},{y},{w},{h},1,{kind},1")
            if random.random() < 0.8:
                dx, dy = random.integers(-4, 5, 2).tolist()
                lines[1].append(f"{frame},{identity + 20},{x + dx},{y + dy},{w},{h},0.9,-1,-1,-1")
    (root / "truth" / "A" / "gt").mkdir(parents=True)
    (root / "tracker").mkdir()
    (root / "truth" / "A" / "gt" / "gt.txt").write_text("\n".join(lines[0]) + "\n")
    (root / "tracker" / "A.txt").write_text("\n".join(lines[1]) + "\n")
    return root / "truth", root / "tracker", distractors


@pytest.mark.parametrize("seed", range(25))
def test_distractors_as_in_motchallenges_kit(seed: int, tmp_path: Path) -> None:
    """`read_motchallenge` takes them out as trackeval does, which other tests hold."""
    truth, tracker, distractors = random_files(np.random.default_rng(seed), tmp_path)
    expected = sf.track(*sf.read_motchallenge(truth, tracker))
    everything, found = sf.read_motchallenge(truth, tracker, preprocess=False)
    marked = everything.objects.assign(ignore=everything.objects["object"].isin(distractors))
    result = sf.track(everything._replace(objects=marked.drop(columns=["considered", "class_id"])), found)
    pd.testing.assert_frame_equal(result.summary, expected.summary)
    pd.testing.assert_frame_equal(result.curve, expected.curve)


def test_points_within_tau() -> None:
    truth = objects([(1, 1, 0, 0), (1, 1, 100, 0), (1, 2, 0, 0)], ignore=[0, 1, 0])
    predictions = objects([(1, 1, 2, 0), (1, 1, 110, 0), (1, 1, 111, 0), (1, 2, 0, 0)])
    [combined] = sf.track(truth, predictions, tau=10).summary.tail(1).to_dict("records")
    assert (combined["TP"], combined["FN"], combined["FP"]) == (2, 0, 1)


def test_joints() -> None:
    rows = [(1, 1, person, joint, 10.0 * person, 20.0 * joint) for person in (1, 2) for joint in range(3)]
    truth = pd.DataFrame(rows, columns=["sequence", "frame", "object", "joint", "x", "y"])
    predictions = truth.assign(score=1.0)
    expected = sf.pose(truth[truth["object"] == 1].assign(head_size=8.0), predictions[predictions["object"] == 1])
    result = sf.pose(truth.assign(head_size=8.0, ignore=truth["object"] == 2), predictions)
    pd.testing.assert_frame_equal(result.summary, expected.summary)
    assert result.summary.attrs["ignored"] == 3


def test_every_way_of_evaluating_tracks(tmp_path: Path) -> None:
    expected = sf.track(TRUTH, PREDICTIONS).summary
    paths = tmp_path / "truth.parquet", tmp_path / "predictions.parquet"
    for path, side in zip(paths, (TRUTH, PREDICTIONS), strict=True):
        side.to_parquet(path)
    pd.testing.assert_frame_equal(sf.track_dataset(*paths), expected, check_dtype=False)
    combined = answer_here("track", *paths)["combined"]
    assert (combined["TP"], combined["FP"]) == (2, 1)
    curve = sf.sweep(TRUTH, PREDICTIONS.assign(score=0.5), tracks=True).curve
    assert curve["HOTA"].tolist() == pytest.approx(expected["HOTA"].tail(1).tolist())


def test_a_sweep_of_poses_matches_anew() -> None:
    rows = [(1, 1, person, joint, 10.0 * person, 20.0 * joint) for person in (1, 2) for joint in range(3)]
    truth = pd.DataFrame(rows, columns=["sequence", "frame", "object", "joint", "x", "y"]).assign(head_size=8.0)
    truth, predictions = truth.assign(ignore=truth["object"] == 2), truth.drop(columns="head_size").assign(score=0.5)
    curve = sf.sweep(truth, predictions, tracks=True).curve
    assert curve[["tp", "fn", "fp"]].to_numpy().tolist() == [[3, 0, 0]]
