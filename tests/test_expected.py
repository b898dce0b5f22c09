"""The expected numbers of the challenge's real data; skipped where the data is not."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers import official
from helpers.reference import reference_matcher

SUBMISSIONS = ["alpha", "beta", "gamma"]


@pytest.fixture(scope="module", params=SUBMISSIONS)
def submission(request: pytest.FixtureRequest, challenge: Path) -> tuple[str, pd.DataFrame]:
    truth = sf.read_spotgeo(challenge / "train_anno.json")
    predictions = sf.read_spotgeo(challenge / "submissions" / f"{request.param}.json")
    return request.param, sf.match(truth, predictions)


def test_summary(challenge: Path, submission: tuple[str, pd.DataFrame]) -> None:
    name, matches = submission
    expected = json.loads((challenge / "expected.json").read_text())[name]
    [row] = sf.summarize(matches).to_dict("records")
    for key in ("tp", "fn", "fp"):
        assert row[key] == expected[key]
    for key, theirs in [("mse", "mse_document"), ("kelvins_mse", "mse_kelvins")]:
        assert row[key] == pytest.approx(expected[theirs], rel=1e-9)
    for key in ("precision", "recall", "f1"):
        assert row[key] == pytest.approx(expected[key], rel=1e-9)


def test_by_sequence(challenge: Path, submission: tuple[str, pd.DataFrame]) -> None:
    name, matches = submission
    expected = pd.read_parquet(challenge / f"expected_{name}_by_sequence.parquet")
    ours = sf.summarize(matches, by="sequence")
    assert ours["sequence"].tolist() == expected["sequence"].tolist()
    for key in ("tp", "fn", "fp"):
        assert ours[key].tolist() == expected[key].tolist()
    for key, theirs in [("mse", "mse_document"), ("kelvins_mse", "mse_kelvins")]:
        np.testing.assert_allclose(ours[key], expected[theirs], rtol=1e-9, atol=1e-9)


def test_equals_the_loop(challenge: Path, submission: tuple[str, pd.DataFrame]) -> None:
    name, matches = submission
    truth = sf.read_spotgeo(challenge / "train_anno.json")
    predictions = sf.read_spotgeo(challenge / "submissions" / f"{name}.json")
    pd.testing.assert_frame_equal(matches, sf.match_frames(truth, predictions, reference_matcher()))


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_parquet_is_the_same_submission(challenge: Path, name: str) -> None:
    truth = sf.read_spotgeo(challenge / "train_anno.json")
    table = sf.read_objects(challenge / "submissions" / f"{name}.parquet")
    json_file = sf.read_spotgeo(challenge / "submissions" / f"{name}.json")
    pd.testing.assert_frame_equal(table.objects[json_file.objects.columns], json_file.objects)
    ours = sf.summarize(sf.match(truth, table))
    pd.testing.assert_frame_equal(ours, sf.summarize(sf.match(truth, json_file)))


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_submissions_are_valid(challenge: Path, name: str) -> None:
    path = challenge / "submissions" / f"{name}.json"
    assert len(sf.validate_spotgeo(path, sequences=range(1, 1281))) == 0


def test_tracks_of_points(challenge: Path) -> None:
    """An object keeps its place in the truth's list; the submission's table names its tracks."""
    truth = sf.read_spotgeo(challenge / "train_anno.json")
    claims = sf.read_objects(challenge / "submissions" / "beta.parquet").objects
    some = truth.frames["sequence"].unique()[:60]
    frames, objects, claims = (t[t["sequence"].isin(some)] for t in (truth.frames, truth.objects, claims))

    def similarity(truths: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
        xy = [side[["x", "y"]].to_numpy() for side in (truths, predictions)]
        return np.maximum(0, 1 - np.linalg.norm(xy[0][:, None] - xy[1][None], axis=2) / 20)

    wanted = official.evaluate(objects, claims.assign(object=claims["track"]), similarity, frames)
    official.same(sf.track(sf.Annotations(objects, frames), claims, similarity="point", identity="track"), wanted)
