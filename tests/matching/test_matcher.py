"""match(): the scenes, the layout of the table, and properties that hold for any input."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.problems import refused
from helpers.reference import match_rows, reference_matcher
from helpers.scenes import SCENES, Scene, grid, objects

COORDINATE = st.floats(-40, 40, allow_nan=False).map(lambda value: round(value, 3))
WHOLE = st.integers(0, 14).map(float)


def rows(coordinate: st.SearchStrategy[float], most: int) -> st.SearchStrategy:
    return st.lists(st.tuples(st.integers(1, 2), st.integers(1, 2), coordinate, coordinate), max_size=most)


def crowd(most: int) -> st.SearchStrategy:
    """One frame of some objects on a small grid, so that nearly all of them contend, and many distances are equal."""
    pixel = st.integers(0, 8).map(lambda value: 2.0 * value)
    return st.lists(st.tuples(st.just(1), st.just(1), pixel, pixel), min_size=2, max_size=most)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_scene(scene: Scene) -> None:
    assert match_rows(sf.match(*scene.sides())) == scene.outcomes


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_scene_by_frames(scene: Scene) -> None:
    truth, predictions = scene.sides()
    by_frames = sf.match_frames(truth, predictions, reference_matcher())
    pd.testing.assert_frame_equal(sf.match(truth, predictions), by_frames)


def test_layout() -> None:
    truth = objects([(1, 1, 0, 0), (1, 3, 9, 9)], brightness=[5, 7], bright=[True, False], name=["a", "b"])
    predictions = objects([(1, 1, 1, 0), (1, 2, 5, 5)], score=[0.5, 0.25])
    frames = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3, 4], "sky": [1, 2, 3, 4], "site": ["x", "x", "y", "y"]})
    matches = sf.match(sf.Annotations(truth, frames), predictions)
    assert matches.dtypes.astype(str).to_dict() == {
        "sequence": "int64",
        "frame": "int64",
        "outcome": "category",
        "distance": "float64",
        "squared_error": "float64",
        "kelvins_error": "float64",
        "truth_object": "Int64",
        "truth_x": "float64",
        "truth_y": "float64",
        "truth_brightness": "float64",
        "truth_bright": "boolean",
        "truth_name": "str",
        "predicted_object": "Int64",
        "predicted_x": "float64",
        "predicted_y": "float64",
        "predicted_score": "float64",
        "predicted_file_order": "Int64",
        "frame_n_truth": "int64",
        "frame_n_predicted": "int64",
        "frame_sky": "float64",
        "frame_site": "str",
    }
    assert matches["outcome"].tolist() == ["TP", "FP", "FN", "empty"]
    assert matches["frame_sky"].tolist() == [1, 2, 3, 4]
    assert matches["frame_n_truth"].tolist() == [1, 0, 1, 0]
    assert matches["truth_name"].isna().tolist() == [False, True, False, True]
    assert matches["distance"].isna().tolist() == [False, True, True, True]
    assert matches.attrs == {"tau": 10.0, "epsilon": 3.0, "rule": "distance", "version": sf.__version__}
    assert isinstance(matches.index, pd.RangeIndex)


def test_types_do_not_depend_on_the_rows() -> None:
    truth = objects([(1, 1, 0, 0), (2, 1, 5, 5)], brightness=[5, 7], bright=[True, False], name=["a", "b"])
    predictions = objects([(1, 1, 0, 0), (2, 1, 80, 80)], score=[1, 0])
    parts = [sf.match(truth[truth["sequence"] == k], predictions[predictions["sequence"] == k]) for k in (1, 2)]
    assert parts[0].dtypes.equals(parts[1].dtypes)
    whole = pd.concat(parts, ignore_index=True)
    pd.testing.assert_frame_equal(whole.sort_values("sequence"), sf.match(truth, predictions))


def test_inputs_are_left_alone() -> None:
    truth, predictions = objects([(1, 2, 0, 0), (1, 1, 0, 0)]), objects([(1, 1, 0, 0)])
    copies = truth.copy(), predictions.copy()
    sf.match(truth, predictions)
    pd.testing.assert_frame_equal(truth, copies[0])
    pd.testing.assert_frame_equal(predictions, copies[1])


@pytest.mark.filterwarnings("ignore:categories are not compared")
def test_only_equal_categories_match() -> None:
    truth = objects([(1, 1, 0, 0), (1, 1, 5, 0)], category=["satellite", "debris"])
    predictions = objects([(1, 1, 5, 0), (1, 1, 0, 1)], category=["satellite", "debris"])
    matches = sf.match(truth, predictions)
    assert matches["truth_category"].tolist() == matches["predicted_category"].tolist() == ["satellite", "debris"]
    assert matches["distance"].tolist() == pytest.approx([5, np.sqrt(26)])
    by_frames = sf.match_frames(truth, predictions, reference_matcher())
    pd.testing.assert_frame_equal(matches, by_frames)
    one_sided = sf.match(truth, predictions.drop(columns="category"))
    assert one_sided["distance"].tolist() == [1, 0]


def test_each_joint_is_matched_by_itself() -> None:
    truth = objects([(1, 1, 0, 0), (1, 1, 20, 0), (1, 2, 0, 0)]).assign(object=0, joint=["nose", "hand", "nose"])
    predictions = objects([(1, 1, 20, 0), (1, 1, 60, 60)]).assign(object=7, joint=["nose", "hand"])
    frames = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3]})
    matches = sf.match(sf.Annotations(truth, frames), predictions)
    assert matches[["frame", "outcome"]].to_numpy().tolist() == [
        [1, "FN"],
        [1, "FP"],
        [1, "FN"],
        [1, "FP"],
        [2, "FN"],
        [3, "empty"],
    ]
    assert matches["joint"].fillna("-").tolist() == ["hand", "hand", "nose", "nose", "nose", "-"]
    moved = predictions.assign(x=predictions["x"].where(predictions["joint"] == "hand", 1.0))
    by_joint = sf.summarize(sf.match(sf.Annotations(truth, frames), moved), by="joint")
    assert by_joint["joint"].tolist() == ["hand", "nose"]
    assert by_joint["tp"].tolist() == [0, 1]


def test_far_pairs_never_cost_less_than_the_near_ones_save() -> None:
    # A chain of 201 truths and predictions 9.9 px apart: 201 long pairs, or 200 at the same place and one left over.
    # At a cost of 1000 for the one far pair the 200 short ones would win, and a hit would be lost.
    n = 201
    truth = objects([(1, 1, 9.9 * k, 0) for k in range(n)])
    predictions = objects([(1, 1, 9.9 * (k + 1), 0) for k in range(n)])
    assert sf.summarize(sf.match(truth, predictions))["tp"].item() == n


def test_distances_that_only_rounding_tells_apart() -> None:
    # Two predictions on one truth, equally far but for the last bits: what the solver says, counts.
    random = np.random.default_rng(8)
    angles = random.uniform(0, 2 * np.pi, (300, 2))
    predictions = objects([(1, k, 5 * np.cos(a), 5 * np.sin(a)) for k, some in enumerate(angles) for a in some])
    truth = objects([(1, k, 0, 0) for k in range(300)])
    by_frames = sf.match_frames(truth, predictions, reference_matcher())
    pd.testing.assert_frame_equal(sf.match(truth, predictions), by_frames)


def test_a_frame_of_many_objects() -> None:
    # More pairs than are looked at in one step, and several steps in one frame.
    random = np.random.default_rng(3)
    xy = random.uniform(0, 60_000, (3000, 2))
    truth = objects([(1, 1, x, y) for x, y in xy])
    predictions = objects([(1, 1, x, y) for x, y in xy[::-1] + random.normal(0, 0.5, xy.shape)])
    matches = sf.match(truth, predictions)
    assert (matches["outcome"] == "TP").all()
    assert matches["predicted_object"].tolist() == list(range(2999, -1, -1))


@pytest.mark.parametrize(("most", "size"), [(3, 40), (6, 12), (30, 25)])
@pytest.mark.parametrize("tau", [10.0, 5.0])
def test_equals_the_loop_on_pixel_grids(most: int, size: int, tau: float) -> None:
    truth, predictions = grid(np.random.default_rng(most), n_frames=400, most=most, size=size)
    matches = sf.match(truth, predictions, tau=tau, epsilon=2)
    by_frames = sf.match_frames(truth, predictions, reference_matcher(tau), tau=tau, epsilon=2)
    pd.testing.assert_frame_equal(matches, by_frames)


@settings(max_examples=200)
@given(rows(st.one_of(COORDINATE, WHOLE), 14), rows(st.one_of(COORDINATE, WHOLE), 14))
def test_equals_the_loop_on_anything(truth_rows, predicted_rows) -> None:
    truth, predictions = sides(truth_rows, predicted_rows)
    pd.testing.assert_frame_equal(
        sf.match(truth, predictions), sf.match_frames(truth, predictions, reference_matcher())
    )


@settings(max_examples=200)
@given(crowd(6), crowd(6))
def test_as_many_pairs_as_brute_force_and_no_longer(truth_rows, predicted_rows) -> None:
    truth, predictions = objects(truth_rows), objects(predicted_rows)
    matches = sf.match(truth, predictions)
    n_pairs, length = brute_force(truth, predictions)
    assert (matches["outcome"] == "TP").sum() == n_pairs
    assert matches["distance"].sum() == pytest.approx(length)


@settings(max_examples=100)
@given(rows(COORDINATE, 12), rows(COORDINATE, 12), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter_without_ties(truth_rows, predicted_rows, random) -> None:
    truth, predictions = sides(jitter(truth_rows, 1), jitter(predicted_rows, 2))
    order = [random.sample(range(len(table)), len(table)) for table in (truth, predictions)]
    shuffled = sf.match(truth.iloc[order[0]], predictions.iloc[order[1]])
    assert summary_of(shuffled) == pytest.approx(summary_of(sf.match(truth, predictions)), nan_ok=True)


@settings(max_examples=100)
@given(rows(WHOLE, 12), rows(WHOLE, 12), st.integers(-500, 500), st.integers(-500, 500))
def test_moving_everything_moves_nothing(truth_rows, predicted_rows, dx, dy) -> None:
    truth, predictions = sides(truth_rows, predicted_rows)
    moved = [table.assign(x=table["x"] + dx, y=table["y"] + dy) for table in (truth, predictions)]
    left, right = sf.match(truth, predictions), sf.match(*moved)
    assert match_rows(left) == match_rows(right)


@settings(max_examples=100)
@given(rows(COORDINATE, 12), rows(COORDINATE, 12))
def test_swapping_the_sides_swaps_misses_and_false_alarms(truth_rows, predicted_rows) -> None:
    truth, predictions = sides(jitter(truth_rows, 1), jitter(predicted_rows, 2))
    there, back = summary_of(sf.match(truth, predictions)), summary_of(sf.match(predictions, truth))
    back["fn"], back["fp"] = back["fp"], back["fn"]
    back["precision"], back["recall"] = back["recall"], back["precision"]
    back["n_truth"], back["n_predicted"] = back["n_predicted"], back["n_truth"]
    assert there == pytest.approx(back, nan_ok=True)


def sides(truth_rows: list, predicted_rows: list) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two tables that share a sequence, as match() demands, far away from everything else."""
    return objects([*truth_rows, (1, 1, 9e3, 9e3)]), objects([*predicted_rows, (1, 1, -9e3, -9e3)])


def jitter(some_rows: list, seed: int) -> list:
    """The rows a little apart, so that no two distances are the same."""
    noise = np.random.default_rng(seed).uniform(-1e-3, 1e-3, (len(some_rows), 2))
    return [(s, f, x + dx, y + dy) for (s, f, x, y), (dx, dy) in zip(some_rows, noise, strict=True)]


def summary_of(matches: pd.DataFrame) -> dict[str, float]:
    return {
        name: float("nan") if pd.isna(value) else float(value) for name, value in sf.summarize(matches).loc[0].items()
    }


def brute_force(truth: pd.DataFrame, predictions: pd.DataFrame) -> tuple[int, float]:
    """The most near pairs there can be, and the least sum of distances among those, over all assignments."""
    total, length = 0, 0.0
    grouped = dict(list(predictions.groupby(["sequence", "frame"])))
    for key, some in truth.groupby(["sequence", "frame"]):
        if key not in grouped:
            continue
        a, b = (np.array(side[["x", "y"]]) for side in (some, grouped[key]))
        a, b = (a, b) if len(a) <= len(b) else (b, a)
        distances = np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))
        best = (0, 0.0)
        for choice in permutations(range(len(b)), len(a)):
            chosen = [d for d in distances[range(len(a)), choice] if d <= 10]
            best = min(best, (-len(chosen), sum(chosen)))
        total, length = total - best[0], length + best[1]
    return total, length


@pytest.mark.parametrize(("tau", "epsilon"), [(3, 3), (10, -1), (float("nan"), 3), (float("inf"), 3), (0, 0)])
def test_thresholds_out_of_range(tau: float, epsilon: float) -> None:
    with refused(("tau", f"epsilon {epsilon}"), error=ValueError):
        sf.match(objects([]), objects([]), tau=tau, epsilon=epsilon)


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (None, ("NoneType",)),
        (([0], [0, 1]), ("1 truth", "2 predicted")),
        (([0, 0], [0, 1]), ("truth", "twice")),
        (([0], [2]), ("predicted", "outside 0 to 1")),
        (([-1], [0]), ("truth", "outside 0 to 1")),
        (([0.0], [1.0]), ("truth", "shape (1,)", "float64")),
    ],
)
def test_a_matcher_that_answers_nonsense(answer, named: tuple[str, ...]) -> None:
    table = objects([("a", 7, 0, 0), ("a", 7, 1, 1)])
    with refused(("sequence a, frame 7", *named)):
        sf.match_frames(table, table, lambda truth, predicted: answer)


def test_pairs_beyond_tau_are_dropped_and_a_matcher_may_match_nothing() -> None:
    truth, predictions = objects([(1, 1, 0, 0), (1, 1, 50, 0)]), objects([(1, 1, 0, 1), (1, 1, 0, 90)])
    greedy = sf.match_frames(truth, predictions, lambda t, p: ([0, 1], [0, 1]))
    assert greedy["outcome"].tolist() == ["TP", "FN", "FP"]
    nothing = sf.match_frames(truth, predictions, lambda t, p: ([], []))
    assert nothing["outcome"].tolist() == ["FN", "FN", "FP", "FP"]
