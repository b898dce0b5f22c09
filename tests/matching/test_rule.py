"""Which rule a call gets: the caller's words first, then the geometry of the tables; what does not fit is refused."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.detectors import Detector, people
from helpers.problems import Place, refused
from helpers.scenes import grid, objects
from spotgeo_frames.tables.match_sides import sides_of


def boxes(*rows: tuple[float, float, float, float]) -> pd.DataFrame:
    """Boxes of one frame: left, top, width and height."""
    table = objects([(1, 1, x, y) for x, y, _, _ in rows])
    return table.assign(w=[row[2] for row in rows], h=[row[3] for row in rows])


# The corners are 6 px apart and the centres coincide; the boxes have an IoU of 0.16.
LARGE, SMALL = boxes((0, 0, 20, 20)), boxes((6, 6, 8, 8))
POINT = objects([(1, 1, 10, 10)])
NO_POINTS = objects([])


def outcomes(matches: pd.DataFrame) -> list[str]:
    return matches["outcome"].tolist()


def test_boxes_are_matched_by_iou_without_a_word() -> None:
    matches = sf.match(LARGE, SMALL)
    assert outcomes(matches) == ["FN", "FP"]
    assert matches.attrs == {"rule": "iou", "threshold": 0.5, "version": sf.__version__}
    assert outcomes(sf.match(LARGE, LARGE)) == ["TP"]
    assert outcomes(sf.match(LARGE, SMALL, threshold=0.1)) == ["TP"]
    assert np.isnan(sf.summarize(matches)["mse"].iloc[0])


def test_a_tau_matches_the_centres_of_boxes() -> None:
    matches = sf.match(LARGE, SMALL, tau=2, epsilon=1)
    assert matches["distance"].tolist() == [0.0]
    assert matches.attrs["rule"] == "distance"
    assert matches["truth_x"].tolist() == [0.0]


def test_points_meet_the_centres_of_boxes_where_tau_is_given() -> None:
    for sides, place in (
        ((LARGE, POINT), ("truth", "w", "h", "predictions", "give tau")),
        ((POINT, LARGE), ("predictions", "w", "h", "truth", "give tau")),
    ):
        with refused(place):
            sf.match(*sides)
        assert sf.match(*sides, tau=1, epsilon=0)["distance"].tolist() == [0.0]
        assert sf.match(*sides, similarity="point", tau=1)["similarity"].tolist() == [1.0]


def test_the_similarity_of_points_is_that_of_the_centres_of_boxes() -> None:
    matches = sf.match(LARGE, SMALL.assign(x=8.0), similarity="point", tau=4)
    assert matches["similarity"].tolist() == [1 - 2 / 8]
    assert sf.track(LARGE, SMALL, "point").summary["MOTP"].iloc[-1] == 1.0
    assert sf.track(LARGE, SMALL, tau=3).matches["similarity"].tolist() == [1.0]


def test_a_side_without_rows_has_the_geometry_of_the_other() -> None:
    for sides, outcome in (((LARGE, NO_POINTS), "FN"), ((NO_POINTS, LARGE), "FP")):
        matches = sf.match(*sides)
        assert outcomes(matches) == [outcome]
        assert matches.attrs["rule"] == "iou"
    assert sf.match(POINT, LARGE.head(0)).attrs["rule"] == "distance"


def test_boxes_without_a_row_are_boxes() -> None:
    frames = pd.DataFrame({"sequence": 1, "frame": [1, 2]})
    for truth, predictions in ((LARGE, LARGE), (LARGE, NO_POINTS), (NO_POINTS, LARGE)):
        matches = sf.match(sf.Annotations(truth.head(0), frames), predictions.head(0))
        assert matches.attrs["rule"] == "iou"
        assert outcomes(matches) == ["empty", "empty"]
    assert sf.match(NO_POINTS, NO_POINTS).attrs["rule"] == "distance"


@pytest.mark.parametrize("words", [{"tau": 0}, {"tau": -1}, {"tau": np.inf}, {"tau": np.nan}, {"epsilon": -1}])
def test_other_words_are_asked_for_only_where_they_help(words: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"needed$"):
        sf.match(POINT, POINT, **words)
    with refused(("tau", "epsilon 12", "give tau"), error=ValueError):
        sf.match(POINT, POINT, epsilon=12)


def test_tracks_follow_the_geometry() -> None:
    assert sf.track(LARGE, LARGE).matches.attrs["rule"] == "iou"
    assert sf.track(POINT, POINT).matches.attrs["rule"] == "point"
    with refused(("truth", "w", "h", "predictions", "tau")):
        sf.track(LARGE, POINT)
    with refused("tau", error=ValueError):
        sf.track(LARGE, LARGE, "iou", tau=10)


def test_joints_with_a_size_are_points() -> None:
    joints = LARGE.assign(joint="nose")
    assert sf.match(joints, joints.assign(x=3.0))["distance"].tolist() == [3.0]


SCORED = {"truth": POINT, "predictions": POINT.assign(score=0.5)}


def report(truth: pd.DataFrame, predictions: pd.DataFrame, folder: Path, **words: Any) -> None:
    sf.report(truth, predictions, folder / "report.html", **words)


@pytest.mark.parametrize("function", [sf.match, sf.sweep, sf.check, report])
@pytest.mark.parametrize(
    ("words", "place"),
    [
        ({"threshold": 0.7}, "threshold"),
        ({"tau": 10, "similarity": "iou"}, "tau"),
        pytest.param({"tau": 10, "similarity": lambda t, p: np.ones(len(t))}, "tau", id="tau and a function"),
        ({"epsilon": 1, "similarity": "point"}, "epsilon"),
        ({"tau": 10, "threshold": 0.5}, "threshold"),
        ({"similarity": "iou", "threshold": 1.5}, "threshold"),
        ({"similarity": "nearest"}, ("similarity", "'nearest'")),
        ({"tau": "10"}, ("tau", "'10'")),
        ({"tau": True}, "tau"),
        ({"epsilon": -1}, ("tau", "epsilon -1")),
        ({"tau": 2, "epsilon": 3}, ("tau", "epsilon 3")),
        ({"epsilon": 12}, ("tau", "epsilon 12", "give tau")),
        ({"tau": np.inf}, ("tau", "inf")),
    ],
    ids=str,
)
def test_words_that_do_not_fit_are_refused(
    function: Callable[..., Any], words: dict[str, Any], place: Place, tmp_path: Path
) -> None:
    if function is report:
        function = partial(report, folder=tmp_path)
    with refused(place, error=ValueError):
        function(**SCORED, **words)


@pytest.mark.parametrize("function", [sf.match, sf.sweep, sf.check, report])
def test_boxes_need_no_word(function: Callable[..., Any], tmp_path: Path) -> None:
    if function is report:
        function = partial(report, folder=tmp_path)
    truth = pd.concat([LARGE, LARGE.assign(sequence=2)])
    function(truth, truth.assign(score=0.5))
    function(truth, truth.assign(score=0.5), tau=10)


def test_a_callers_matcher_gets_the_centres_of_boxes_and_only_where_tau_is_given() -> None:
    seen: list[np.ndarray] = []

    def matcher(truth_xy: np.ndarray, predicted_xy: np.ndarray) -> tuple[list[int], list[int]]:
        seen.extend([truth_xy, predicted_xy])
        return [0], [0]

    with refused(("match_frames", "IoU", "give tau")):
        sf.match_frames(LARGE, SMALL, matcher)
    assert outcomes(sf.match_frames(LARGE, SMALL, matcher, tau=10)) == ["TP"]
    assert [xy.tolist() for xy in seen] == [[[10.0, 10.0]], [[10.0, 10.0]]]


def test_datasets_follow_the_geometry(tmp_path: Path) -> None:
    for name, side in (("truth", LARGE), ("predictions", SMALL), ("point", POINT)):
        side.to_parquet(tmp_path / f"{name}.parquet")
    paths = tmp_path / "truth.parquet", tmp_path / "predictions.parquet"
    score = partial(sf.score_dataset, *paths)
    pd.testing.assert_frame_equal(score(), sf.summarize(sf.match(LARGE, SMALL)), check_flags=False)
    assert score(tau=2, epsilon=1)["tp"].tolist() == [1]
    assert score(threshold=0.1)["tp"].tolist() == [1]
    assert sf.track_dataset(*paths, tau=3)["TP"].tolist() == [1, 1]
    with refused("tau", error=ValueError):
        score(tau=2, similarity="iou")
    with refused((f"{tmp_path / 'truth.parquet'}", "w", "h", f"{tmp_path / 'point.parquet'}", "give tau")):
        sf.score_dataset(tmp_path / "truth.parquet", tmp_path / "point.parquet")


def test_offsets_of_boxes_are_those_of_their_centres() -> None:
    matches = sf.match(LARGE, SMALL.assign(x=6.5), tau=4, epsilon=0)
    found = sf.bias(matches).set_index("metric")["estimate"]
    assert found["dx"] == 0.5
    assert found["mse_corrected"] == 0.0


def test_matching_a_match_table_again_finds_the_same_pairs_where_distances_tie() -> None:
    without_order = []
    for seed in range(100):
        truth, predictions = grid(np.random.default_rng(seed), 5, 6, 5)
        matches = sf.match(truth, predictions, tau=3, epsilon=0)
        assert is_found_again(matches)
        without_order.append(is_found_again(matches.drop(columns="predicted_file_order")))
    assert not all(without_order)  # else no distances tied


def is_found_again(matches: pd.DataFrame) -> bool:
    """Whether the sides of a match table, whose objects are named by its rows, are paired as they were."""
    sides = sides_of(matches, ["x", "y"])
    truth = sides.truth._replace(objects=sides.truth.objects.assign(object=sides.truth_rows))
    again = sf.match(truth, sides.predictions.objects.assign(object=sides.predicted_rows), tau=3, epsilon=0)
    return bool((again["truth_object"] == again["predicted_object"])[again["outcome"] == "TP"].all())


@pytest.mark.parametrize("seed", range(20))
def test_the_file_order_of_predictions_is_carried(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = [(1, int(frame), float(x), 0.0) for frame, x in zip(*random.integers(0, 4, (2, 12)), strict=True)]
    predictions = objects(rows)
    matches = sf.match(objects(rows[::-1][:7]), predictions, tau=2, epsilon=0)
    found = matches.dropna(subset="predicted_object").sort_values(["frame", "predicted_file_order"])
    in_file = predictions.sort_values("frame", kind="stable")
    assert found["predicted_x"].tolist() == in_file["x"].tolist()
    assert found["predicted_object"].tolist() == in_file["object"].tolist()


POSES = people(np.random.default_rng(2), Detector(sequences=12, frames=2))
SIGMAS = dict.fromkeys(POSES[1]["joint"].unique(), 0.05)
SCORED_POSES = POSES[1].assign(score=POSES[1].groupby(["sequence", "frame", "object"])["x"].transform("mean") / 2000)


@pytest.mark.parametrize(
    "call",
    [
        lambda **words: sf.match(*POSES, **words),
        lambda **words: sf.average_precision(POSES[0], SCORED_POSES, **words).summary,
        lambda **words: sf.sweep(POSES[0], SCORED_POSES, **words).curve,
        lambda **words: sf.check(*POSES, **words),
        lambda **words: sf.diagnose(sf.match(*POSES, **words), **words),
        lambda **words: sf.bias(sf.match(*POSES, **words), **words),
        lambda **words: sf.Accumulator(**words).update(*POSES).compute(),
    ],
    ids=["match", "average_precision", "sweep", "check", "diagnose", "bias", "Accumulator"],
)
@pytest.mark.filterwarnings("ignore")
def test_sigmas_alone_mean_oks(call: Callable[..., Any]) -> None:
    expected = call(similarity="oks", sigmas=SIGMAS)
    pd.testing.assert_frame_equal(pd.DataFrame(call(sigmas=SIGMAS)), pd.DataFrame(expected))
    with refused(("sigmas", "similarity='oks'", "'iou'"), error=ValueError):
        call(similarity="iou", sigmas=SIGMAS)


def test_sigmas_alone_mean_oks_in_datasets(tmp_path: Path) -> None:
    paths = [tmp_path / "truth.parquet", tmp_path / "found.parquet"]
    for path, table in zip(paths, (POSES[0].objects, POSES[1]), strict=True):
        table.to_parquet(path)
    pd.testing.assert_frame_equal(
        sf.score_dataset(*paths, sigmas=SIGMAS), sf.score_dataset(*paths, similarity="oks", sigmas=SIGMAS)
    )
