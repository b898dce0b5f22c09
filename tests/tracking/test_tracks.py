"""track() against trackeval, against scenes worked out by hand, and what it says where something is not right."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trackeval.datasets._base_dataset import _BaseDataset

import spotgeo_frames as sf
from helpers import official
from helpers.boxes import NONE, box_matrix, boxes, crowd
from helpers.problems import refused, warned
from spotgeo_frames.tracking.metrics import clear
from spotgeo_frames.tracking.metrics import ordered_sums as sums
from spotgeo_frames.tracking.registry import TRACK_METRICS


def point_matrix(tau: float) -> Callable[..., np.ndarray]:
    def matrix(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
        xy = [side[["x", "y"]].to_numpy() + side[["w", "h"]].to_numpy() / 2 for side in (truth, predictions)]
        return _BaseDataset._calculate_euclidean_similarity(*xy, zero_distance=2 * tau)

    return matrix


def check(truth: pd.DataFrame, predictions: pd.DataFrame, frames: pd.DataFrame, tau: float = 10.0) -> None:
    """Points and boxes of the same tables are evaluated as trackeval does."""
    given = sf.Annotations(truth, frames), predictions
    official.same(sf.track(*given, "point", tau=tau), official.evaluate(truth, predictions, point_matrix(tau), frames))
    official.same(sf.track(*given), official.evaluate(truth, predictions, box_matrix, frames))


@pytest.mark.parametrize("seed", range(12))
def test_small_crowds(seed: int) -> None:
    random = np.random.default_rng(seed)
    tables = [crowd(random, 9, int(random.integers(1, 14)), 14, whole=seed % 3 > 0) for _ in range(3)]
    parts = [[table.assign(sequence=number) for table in trio] for number, trio in enumerate(tables)]
    check(*(pd.concat(side, ignore_index=True) for side in zip(*parts, strict=True)), tau=[2.0, 10.0][seed % 2])


@pytest.mark.parametrize(("n_objects", "size"), [(40, 15), (170, 40)])
def test_dense_crowd_with_ties(n_objects: int, size: int) -> None:
    """Rows of more than 128 values, which NumPy adds up by halves, and more rivals than rounds can settle."""
    check(*crowd(np.random.default_rng(n_objects), 12, n_objects, size), tau=2.0)


objects = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3), st.integers(0, 7), st.integers(0, 3)), max_size=18)


@settings(max_examples=40)
@given(objects, objects)
def test_any_points_on_a_grid(truth: list[tuple[int, ...]], predictions: list[tuple[int, ...]]) -> None:
    sides = [boxes([(1, *row) for row in {row[:2]: row for row in rows}.values()]) for rows in (truth, predictions)]
    check(*sides, pd.DataFrame({"sequence": 1, "frame": range(1, 5)}), tau=2.0)


@settings(max_examples=200)
@given(st.integers(1, 5), st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_sums_of_rows_are_numpys_to_the_bit(height: int, width: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    dense = random.random((height, width)) * (random.random((height, width)) < 0.6)
    row, column = np.nonzero(dense)
    got = sums.row_sums(row, column, np.full(len(row), width), dense[row, column])
    assert np.array_equal(got, dense.sum(axis=1)[row])


# Sequence, frame, object, x, y of truth and of predictions; and what has to come out, worked out by hand.
SCENES = {
    "perfect": (
        [(1, f, o, 50 * o, 0) for f in (1, 2) for o in (1, 2)],
        [(1, f, o + 6, 50 * o, 0) for f in (1, 2) for o in (1, 2)],
        {"HOTA": 1, "MOTA": 1, "IDF1": 1, "IDSW": 0, "Frag": 0, "MT": 2, "PT": 0, "ML": 0, "TP": 4, "LocA": 1},
    ),
    "two trade their identities": (
        [(1, f, o, 50 * o, 0) for f in (1, 2, 3, 4) for o in (1, 2)],
        [(1, f, o if f < 3 else 3 - o, 50 * o, 0) for f in (1, 2, 3, 4) for o in (1, 2)],
        # Each truth spends 2 of 4 frames with either: AssA = 2 / (4 + 4 - 2).
        {"IDSW": 2, "MOTA": 1 - 2 / 8, "IDTP": 4, "IDF1": 0.5, "DetA": 1, "AssA": 1 / 3, "Frag": 0, "MT": 2},
    ),
    "lost and found again": (
        [(1, f, 1, 0, 0) for f in range(1, 6)] + [(1, f, 2, 90, 0) for f in range(1, 6)],
        [(1, f, 1, 0, 0) for f in (1, 2, 4, 5)] + [(1, f, 2, 90, 0) for f in range(1, 6)],
        {"IDSW": 0, "Frag": 1, "FN": 1, "FP": 0, "MT": 1, "PT": 1, "ML": 0, "IDTP": 9, "DetA": 0.9},
    ),
    # The frame without predictions is no step, so nothing is resumed after it.
    "a frame that the tracker skipped": (
        [(1, f, 1, 0, 0) for f in (1, 2, 3)],
        [(1, f, 1, 0, 0) for f in (1, 3)],
        {"Frag": 0, "FN": 1, "TP": 2, "PT": 1},
    ),
    # Each of the three matches is a fragment: FragA is the mean of 1/3, 1/3 and 1/3, AssA that of 2/3, 1/3 and 2/3.
    "another track for one frame": (
        [(1, f, 1, 0, 0) for f in (1, 2, 3)],
        [(1, 1, 7, 0, 0), (1, 2, 8, 0, 0), (1, 3, 7, 0, 0)],
        {"FragA": 1 / 3, "AssA": 5 / 9, "DetA": 1, "FA-HOTA": (5 / 27) ** 0.25, "FA-RHOTA": (5 / 27) ** 0.25},
    ),
    # A miss ends no fragment: two matches of one fragment, each 2 / (3 + 2 - 2). DetA = 2 / 3 = DetRe.
    "no track for one frame": (
        [(1, f, 1, 0, 0) for f in (1, 2, 3)],
        [(1, 1, 7, 0, 0), (1, 3, 7, 0, 0)],
        {"FragA": 2 / 3, "AssA": 2 / 3, "FA-HOTA": 2 / 3, "FA-RHOTA": 2 / 3, "OWTA": 2 / 3, "HOTALocA(0)": 2 / 3},
    ),
    # The identity of frame 1 is kept in frame 2, though the other prediction lies nearer.
    "continues with the worse one": (
        [(1, 1, 1, 0, 0), (1, 2, 1, 0, 0)],
        [(1, 1, 7, 0, 0), (1, 2, 7, 2, 0), (1, 2, 8, 0, 0)],
        {"IDSW": 0, "TP": 2, "FP": 1, "MOTP": (1 + 8 / 12) / 2},
    ),
    "only false alarms": ([(2, 1, 1, 0, 0)], [(1, 1, 1, 0, 0), (2, 1, 1, 0, 0)], {"TP": 1, "FP": 1, "MOTA": 0}),
}


@pytest.mark.parametrize("name", SCENES)
def test_scenes(name: str) -> None:
    truth, predictions, wanted = SCENES[name]
    got = sf.track(boxes(truth), boxes(predictions)).summary.iloc[-1]
    assert {field: got[field] for field in wanted} == pytest.approx(wanted)
    frames = pd.DataFrame({row[:2] for row in truth + predictions}, columns=["sequence", "frame"])
    check(boxes(truth), boxes(predictions), frames)


def test_sequences_with_one_side_or_none() -> None:
    """Sequences without truth, without predictions, without either, and one of a single frame."""
    frames = pd.DataFrame({"sequence": [1, 1, 2, 2, 3, 3, 4], "frame": [1, 2, 1, 2, 1, 2, 1]})
    truth = boxes([(2, 1, 1, 0, 0), (2, 2, 1, 0, 0), (4, 1, 5, 0, 0)])
    predictions = boxes([(1, 1, 1, 0, 0), (1, 2, 1, 0, 0), (4, 1, 9, 1, 0)])
    check(truth, predictions, frames)
    check(truth, NONE, frames)
    check(NONE, predictions, frames)
    check(NONE, NONE, frames)
    assert sf.track(sf.Annotations(truth, frames), predictions).summary["n_frames"].tolist() == [2, 2, 2, 1, 7]


def test_names_may_be_strings() -> None:
    truth, predictions, _ = crowd(np.random.default_rng(4), 8, 9, 14)
    plain = sf.track(truth, predictions)
    names = {
        "sequence": lambda t: "s" + t["sequence"].astype(str),
        "object": lambda t: t["object"].map("{:05d}".format),
    }
    named = sf.track(truth.assign(**names), predictions.assign(**names))
    pd.testing.assert_frame_equal(plain.summary[list(TRACK_METRICS)], named.summary[list(TRACK_METRICS)])
    assert named.summary["sequence"].tolist()[0] == "s3"
    assert named.truth_objects["object"].tolist()[0] == "00000"


def test_order_of_rows_and_of_sequences_does_not_matter() -> None:
    truth, predictions, _ = crowd(np.random.default_rng(5), 8, 9, 14, whole=False)
    both = [pd.concat([side, side.assign(sequence=1)], ignore_index=True) for side in (truth, predictions)]
    once, mixed = sf.track(*both), sf.track(*(side.sample(frac=1, random_state=0) for side in both))
    pd.testing.assert_frame_equal(once.summary, mixed.summary)
    alone = sf.track(truth, predictions).summary
    for field in ("TP", "FN", "FP", "IDSW", "Frag", "IDTP", "n_truth", "n_predicted_objects"):
        assert once.summary[field].tolist() == [alone[field][0]] * 2 + [2 * alone[field][0]]
    for field in ("HOTA", "MOTA", "IDF1", "LocA"):
        np.testing.assert_allclose(once.summary[field], alone[field][0])


@pytest.fixture(scope="module")
def result() -> sf.TrackResult:
    truth, predictions, _ = crowd(np.random.default_rng(11), 20, 12, 40)
    return sf.track(truth.assign(brightness=truth["object"] % 3), predictions, similarity="point", tau=4)


def test_match_table_holds_the_counts(result: sf.TrackResult) -> None:
    matches, total = result.matches, result.summary.iloc[-1]
    assert list(matches.columns[:8]) == [
        *("sequence", "frame", "outcome", "event", "fragmentation", "similarity", "squared_error", "kelvins_error")
    ]
    counts = matches["event"].value_counts()
    assert counts["switch"] == total["IDSW"] > 0
    assert counts["match"] + counts["switch"] == total["TP"]
    assert (counts["miss"], counts["false positive"]) == (total["FN"], total["FP"])
    assert matches["fragmentation"].sum() == total["Frag"] > 0
    [numbers] = sf.summarize(matches).to_dict("records")
    assert (numbers["tp"], numbers["fn"], numbers["fp"]) == (total["TP"], total["FN"], total["FP"])
    assert numbers["loc_a"] == pytest.approx(total["MOTP"])
    assert all(np.isnan(numbers[name]) for name in ("mse", "kelvins_mse", "mean_distance", "rmse"))


def test_switches_are_sliced_by_what_the_truth_carries(result: sf.TrackResult) -> None:
    switches = result.matches["event"].eq("switch").groupby(result.matches["truth_brightness"]).sum()
    assert switches.sum() == result.summary["IDSW"].iloc[-1]
    slices = sf.summarize(result.matches, by="truth_brightness")
    assert slices["recall"].notna().all()
    assert slices["precision"].isna().all()


def test_objects_add_up_to_the_summary(result: sf.TrackResult) -> None:
    total, truths, predicted = result.summary.iloc[-1], result.truth_objects, result.predicted_objects
    assert truths["coverage"].value_counts().to_dict() == {kind: total[kind] for kind in ("MT", "PT", "ML")}
    assert truths["n_switches"].sum() == predicted["n_switches"].sum() == total["IDSW"]
    assert truths["n_fragmentations"].sum() == total["Frag"]
    assert truths["n_matched"].sum() == predicted["n_matched"].sum() == total["TP"]
    assert truths["n_frames"].sum() == total["n_truth"]
    assert predicted["n_frames"].sum() == total["n_predicted"]
    matched = result.matches[result.matches["outcome"] == "TP"]
    pairs = matched.groupby(["sequence", "predicted_object"])["truth_object"].nunique()
    named = predicted.set_index(["sequence", "object"])["n_truth_objects"]
    assert named[named > 0].to_dict() == pairs.to_dict()


def test_curve_is_what_the_summary_means(result: sf.TrackResult) -> None:
    assert len(result.curve) == 19 * len(result.summary)
    combined = result.curve[result.curve["sequence"].isna()]
    assert combined["alpha"].tolist() == [round(0.05 * step, 2) for step in range(1, 20)]
    assert combined["HOTA"].mean() == pytest.approx(result.summary["HOTA"].iloc[-1])
    assert (combined["TP"] + combined["FN"]).unique().tolist() == [result.summary["n_truth"].iloc[-1]]


def test_results_say_what_they_were_made_with(result: sf.TrackResult) -> None:
    for table in result:
        assert table.attrs == {
            **{"rule": "point", "threshold": 0.5, "identity": "object", "tau": 4, "version": sf.__version__}
        }


@pytest.mark.parametrize("seed", [2, 6])
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("tracking.tracks.SIMILAR_AT_ONCE", 1),
        ("matching.near_pairs.TOUCHING_AT_ONCE", 1),
        ("matching.near_pairs.CROWDED", 0),
        ("matching.near_pairs.CROWDED", 1 << 40),
        ("matching.assignment.CELLS_AT_ONCE", 1),
        ("tracking.metrics.identity.MOST_CELLS", 0),
        ("tracking.metrics.hota.LARGEST_SPACE", 0),
        ("tracking.tracks.MOST_KEPT", 0),
    ],
)
def test_pieces_make_no_difference(setting: str, value: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, predictions, _ = crowd(np.random.default_rng(seed), 20, 12, 14)
    whole = sf.track(truth, predictions)
    monkeypatch.setattr(f"spotgeo_frames.{setting}", value)
    for one, other in zip(whole, sf.track(truth, predictions), strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_walking_and_rounds_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, predictions, _ = crowd(np.random.default_rng(3), 30, 30, 20)
    whole = sf.track(truth, predictions, similarity="point", tau=2)
    monkeypatch.setattr(clear, "LEAST_DECIDED", 2.0)  # never satisfied: everything is walked through
    walked = sf.track(truth, predictions, similarity="point", tau=2)
    pd.testing.assert_frame_equal(whole.matches, walked.matches)


def test_identity_may_be_another_column() -> None:
    truth = boxes([(1, f, 0, 0, 0) for f in (1, 2, 3)])
    predictions = boxes([(1, f, 0, 0, 0) for f in (1, 2, 3)]).assign(track=["a", "a", "b"])
    assert sf.track(truth, predictions).summary["IDSW"].iloc[-1] == 0
    by_track = sf.track(truth, predictions, identity="track")
    assert by_track.summary["IDSW"].iloc[-1] == 1
    assert by_track.predicted_objects["object"].tolist() == ["a", "b"]
    assert by_track.truth_objects["object"].tolist() == [0]
    with refused(("identity", "column person")):
        sf.track(truth, predictions, identity="person")
    with refused(("predictions: column track", "1 row", "sequence 1, frame 3, object 0")):
        sf.track(truth, predictions.assign(track=["a", "a", None]), identity="track")
    twice = boxes([(1, 1, 0, 0, 0), (1, 1, 1, 50, 0)]).assign(track="a")
    with refused(("predictions: 2 rows", "(sequence, frame, track)", "sequence 1, frame 1, track a")):
        sf.track(truth, twice, identity="track")


def test_an_identity_twice_in_a_frame_is_refused() -> None:
    truth = boxes([(1, 1, 0, 0, 0)])
    twice = boxes([(1, 1, 4, 0, 0), (1, 1, 4, 50, 0)])
    with refused(("predictions: 2 rows", "(sequence, frame, object)", "sequence 1, frame 1, object 4")):
        sf.track(truth, twice)


def test_boxes_without_area_are_counted_once() -> None:
    truth = boxes([(1, f, o, 50 * o, 0) for f in (1, 2) for o in (1, 2)])
    flat = truth.assign(w=[10.0, 0.0, -3.0, 10.0])
    with warned(("boxes", "2 of the truth")) as caught:
        result = sf.track(flat, truth)
    assert caught[0].filename == __file__
    assert result.summary["TP"].iloc[-1] == 2


def test_tables_that_track_cannot_take() -> None:
    points = boxes([(1, 1, 0, 0, 0)]).drop(columns=["w", "h"])
    with refused(*(f"{side}: column {column}" for side in ("truth", "predictions") for column in ("w", "h"))):
        sf.track(points, points, "iou")
    with refused(("truth and predictions", "column joint")):
        sf.track(points.assign(joint=1), points.assign(joint=1), "point")
    with refused(("similarity", "'oku'"), error=ValueError):
        sf.track(points, points, "oku")
    with refused(("tau", "0.0"), error=ValueError):
        sf.track(points, points, "point", tau=0)
    with refused(("predictions", "sequence", "2", "1")):
        sf.track(points, points.assign(sequence=2), "point")


def test_categories_are_kept_apart() -> None:
    truth = boxes([(1, 1, 0, 0, 0), (1, 1, 1, 3, 0)]).assign(category=["car", "bus"])
    predictions = boxes([(1, 1, 0, 0, 0), (1, 1, 1, 3, 0)]).assign(category=["bus", "car"])
    result = sf.track(truth, predictions)
    assert result.summary["TP"].iloc[-1] == 2
    assert result.matches["similarity"].tolist() == pytest.approx([7 / 13, 7 / 13])
