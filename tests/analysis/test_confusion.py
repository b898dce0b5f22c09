"""confusion(): which category of truths is detected as which."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

import spotgeo_frames as sf
from helpers.kinds import of_kind
from helpers.problems import refused
from helpers.scenes import squares

pytestmark = pytest.mark.filterwarnings("ignore:average_precision")


def confused(truth: pd.DataFrame, predictions: pd.DataFrame, **words: Any) -> dict[tuple[str, str], int]:
    """The counts above 0, by the true and the predicted category; background is a dash."""
    table = sf.confusion(sf.average_precision(truth, predictions), **words, wide=False)
    assert [*table] == ["truth_category", "predicted_category", "count"]
    table = table[table["count"] > 0].fillna("-")
    return dict(
        zip(zip(table["truth_category"], table["predicted_category"], strict=True), table["count"], strict=True)
    )


TRUTH = squares((0, "cat"), (50, "cat"), (100, "dog"), (150, "dog"))


def test_by_hand() -> None:
    found = squares((0, "cat", 0.9), (50, "dog", 0.8), (100, "dog", 0.7), (101, "cat", 0.6), (300, "cow", 0.5))
    expected = {
        ("cat", "cat"): 1,
        ("cat", "dog"): 1,
        ("dog", "dog"): 1,
        ("dog", "-"): 1,
        ("-", "cat"): 1,
        ("-", "cow"): 1,
    }
    assert confused(TRUTH, found) == expected


def test_the_highest_score_chooses_first_whatever_its_category() -> None:
    assert confused(squares((0, "cat")), squares((0, "cat", 0.5), (1, "dog", 0.6))) == {
        ("cat", "dog"): 1,
        ("-", "cat"): 1,
    }


def test_of_equal_scores_the_first_in_the_file_chooses_first() -> None:
    found = squares((1, "dog", 0.5), (0, "cat", 0.5))
    assert confused(squares((0, "cat")), found) == {("cat", "dog"): 1, ("-", "cat"): 1}


def test_each_takes_the_most_similar_free_truth() -> None:
    truth, found = squares((0, "cat"), (3, "dog")), squares((2, "cat", 0.9), (3, "cat", 0.8))
    assert confused(truth, found, threshold=0.3) == {("dog", "cat"): 1, ("cat", "cat"): 1}


def test_thresholds_of_similarity_and_score() -> None:
    truth, found = squares((0, "cat")), squares((5, "cat", 0.9), (0, "dog", 0.4))
    assert confused(truth, found, threshold=1 / 3) == {("cat", "cat"): 1, ("-", "dog"): 1}
    assert confused(truth, found) == {("cat", "dog"): 1, ("-", "cat"): 1}
    assert confused(truth, found, score_threshold=0.4) == confused(truth, found)
    assert confused(truth, found, score_threshold=0.41) == {("cat", "-"): 1, ("-", "cat"): 1}


def test_crowds_are_there_for_their_own_category() -> None:
    truth = squares((0, "cat"), (50, "cat")).assign(crowd=[False, True])
    found = squares((50, "cat", 0.9), (51, "cat", 0.8), (52, "dog", 0.7))
    assert confused(truth, found) == {("cat", "-"): 1, ("-", "dog"): 1}


def reference(truth: pd.DataFrame, found: pd.DataFrame, threshold: float) -> dict[tuple[str, str], int]:
    """One detection after another, as FiftyOne does with classwise=False; without crowds."""
    counts: dict[tuple[str, str], int] = {}
    free = {*truth.index}
    for row in found.sort_values("score", ascending=False, kind="stable").itertuples():
        side = truth.loc[[index for index in sorted(free) if truth["sequence"][index] == row.sequence]]
        across = (np.minimum(side["x"] + side["w"], row.x + row.w) - np.maximum(side["x"], row.x)).clip(lower=0)
        down = (np.minimum(side["y"] + side["h"], row.y + row.h) - np.maximum(side["y"], row.y)).clip(lower=0)
        iou = across * down / (side["w"] * side["h"] + row.w * row.h - across * down)
        found_one = len(iou) and iou.max() >= threshold
        pair = (side["category"][iou.idxmax()] if found_one else "-", row.category)
        free -= {iou.idxmax()} if found_one else set()
        counts[pair] = counts.get(pair, 0) + 1
    for index in free:
        counts[truth["category"][index], "-"] = counts.get((truth["category"][index], "-"), 0) + 1
    return counts


@pytest.mark.parametrize("seed", range(20))
def test_any_boxes_are_as_one_detection_after_another(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sides = []
    for size in rng.integers(1, 40, 2):
        side = pd.DataFrame(
            np.hstack([rng.uniform(0, 60, (size, 2)), rng.uniform(15, 40, (size, 2))]), columns=[*"xywh"]
        )
        names = {"sequence": rng.integers(0, 3, size), "category": rng.choice([*"abc"], size)}
        sides.append(side.assign(**names, frame=1, object=range(size)))
    truth, found = sides[0], sides[1].assign(score=rng.integers(0, 9, len(sides[1])) / 10)
    frames = pd.DataFrame({"sequence": range(3), "frame": 1})
    threshold = float(rng.choice([0.2, 0.5]))
    order = found.sort_values("sequence", kind="stable")
    assert confused(sf.Annotations(truth, frames), order, threshold=threshold) == reference(truth, order, threshold)
    table = sf.confusion(sf.average_precision(sf.Annotations(truth, frames), found), threshold, wide=False)
    for side, column in ((truth, "truth_category"), (found, "predicted_category")):
        added = table.groupby(column)["count"].sum()
        assert added[added > 0].to_dict() == side["category"].value_counts().to_dict()


def test_poses() -> None:
    joints = pd.DataFrame({"joint": ["a", "b"], "x": [0.0, 50.0], "y": 0.0}).assign(sequence=1, frame=1, area=400.0)
    truth = pd.concat([joints.assign(object=1, category="adult"), joints.assign(object=2, category="child", y=100.0)])
    found = truth.assign(category="adult", score=0.5)
    table = sf.confusion(sf.average_precision(truth, found, "oks", sigmas={"a": 0.1, "b": 0.1}), wide=False)
    assert table.loc[table["predicted_category"] == "adult", "count"].tolist() == [1, 1, 0]
    assert table["count"].sum() == 2


@pytest.mark.parametrize("names", [["cat", "dog"], [7, 8]])
def test_categories_keep_their_type_and_order(names: list[Any]) -> None:
    listed = pd.CategoricalDtype([names[1], names[0]])
    truth = squares((0, names[0])).astype({"category": listed})
    table = sf.confusion(sf.average_precision(truth, squares((0, names[0], 0.9))), wide=False)
    assert table["truth_category"].dropna().tolist() == [names[1]] * 3 + [names[0]] * 3
    assert table["count"].sum() == table["count"][4] == 1


def test_one_side_is_empty() -> None:
    found = squares((0, "cat", 0.9))
    assert confused(TRUTH, found.iloc[:0]) == {("cat", "-"): 2, ("dog", "-"): 2}
    assert confused(TRUTH.iloc[:0], found) == {("-", "cat"): 1}


def test_bad_input() -> None:
    found = squares((0, "cat", 0.9))
    result = sf.average_precision(TRUTH, found)
    with refused(("confusion", "average_precision()", "matches")):
        sf.confusion(result.matches)
    with refused(("confusion", "category")):
        sf.confusion(sf.average_precision(TRUTH.drop(columns="category"), found))
    for threshold in (0, 1.1, np.nan, "0.5"):
        with refused(f"threshold is {threshold!r}", error=ValueError):
            sf.confusion(result, threshold)
    for score_threshold in (np.nan, "0.5"):
        with refused(f"score_threshold is {score_threshold!r}", error=ValueError):
            sf.confusion(result, score_threshold=score_threshold)
    with refused("tau does not go with what average_precision() returned", error=ValueError):
        sf.confusion(result, tau=3)
    sliced = sf.track(TRUTH.assign(size=["s", "s", "l", "l"]), found, by="truth_size")
    with refused("confusion: x: has several slices"):
        sf.confusion(sliced)
    matches = sf.match(TRUTH, found)
    with refused("confusion: x: there are 2"):
        sf.confusion(pd.concat({"a": matches, "b": matches}, names=["submission"]))
    with refused("score_threshold goes with what average_precision() returned", error=ValueError):
        sf.confusion(matches, score_threshold=0.5)
    with refused(("confusion: x: column truth_category", "category"), ("confusion: x: column predicted_category",)):
        sf.confusion(matches.drop(columns=["truth_category", "predicted_category"]))


def test_a_row_a_class_of_the_truth_and_a_column_a_class_of_the_predictions() -> None:
    found = squares((0, "cat", 0.9), (50, "dog", 0.8), (300, "cow", 0.5))
    table = sf.confusion(sf.average_precision(TRUTH, found))
    assert list(table) == ["truth_category", "cat", "cow", "dog", "background"]
    assert table["truth_category"].tolist() == ["cat", "cow", "dog", "background"]
    assert table.set_index("truth_category").loc["cat"].tolist() == [1, 0, 1, 0]
    assert table.set_index("truth_category").loc["dog"].tolist() == [0, 0, 0, 2]
    assert table.set_index("truth_category").loc["background"].tolist() == [0, 1, 0, 0]
    assert table.attrs["threshold"] == 0.5


def test_a_class_may_be_called_as_the_table_calls_its_own() -> None:
    names = ["background", "truth_category"]
    truth = squares((0, names[0]), (50, names[1]))
    table = sf.confusion(sf.match(truth, truth.assign(score=1.0)))
    assert list(table) == ["truth_category", "background", "(truth_category)", "(background)"]
    assert table["truth_category"].tolist() == [*names, "(background)"]
    assert table.iloc[:, 1:].to_numpy().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_of_match_tables_the_errors_that_are_left_are_paired() -> None:
    """A dog on a cat is taken for it; the match of the right class comes first; a far one is background."""
    found = squares((0, "cat", 0.9), (1, "dog", 0.99), (50, "dog", 0.8), (300, "cow", 0.5))
    table = sf.confusion(sf.match(TRUTH, found)).set_index("truth_category")
    assert table.loc["cat"].to_dict() == {"cat": 1, "cow": 0, "dog": 1, "background": 0}
    assert table.loc["background"].to_dict() == {"cat": 0, "cow": 1, "dog": 1, "background": 0}
    tracks = sf.confusion(sf.track(TRUTH, found)).set_index("truth_category")
    assert tracks.to_dict() == table.to_dict()


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_it_comes_back_as_the_kind_that_was_given(kind: str) -> None:
    found = squares((0, "cat", 0.9), (50, "dog", 0.8))
    matches = sf.match(TRUTH, found)
    table = sf.confusion(of_kind(matches, kind), similarity="iou", threshold=0.5)
    assert type(table).__module__.startswith(kind)
    expected = sf.confusion(matches)
    assert table["dog"].to_pylist() if kind == "pyarrow" else table["dog"].to_list() == expected["dog"].tolist()


@pytest.mark.parametrize("seed", range(6))
def test_of_match_tables_as_many_as_possible_are_paired(seed: int) -> None:
    """The sums are those of both sides, the diagonal the pairs; the rest is the largest matching that SciPy finds."""
    rng = np.random.default_rng(seed)
    sides = []
    for size in (40, 50):
        places = rng.uniform(0, 60, (size, 2))
        side = pd.DataFrame({"sequence": 1, "frame": rng.integers(0, 3, size), "object": range(size)})
        sides.append(side.assign(x=places[:, 0], y=places[:, 1], category=rng.choice([*"abc"], size)))
    matches = sf.match(*sides)
    names = [*"abc", "background"]
    table = sf.confusion(matches).set_index("truth_category").loc[names, names]
    assert table.iloc[:-1].sum(axis=1).to_dict() == sides[0]["category"].value_counts().to_dict()
    assert table.iloc[:, :-1].sum().to_dict() == sides[1]["category"].value_counts().to_dict()
    pairs = matches[matches["outcome"] == "TP"].groupby("truth_category").size()
    assert np.diag(table)[:-1].tolist() == pairs.reindex([*"abc"], fill_value=0).tolist()
    n_paired = 0
    for _, rows in matches.groupby("frame"):
        missed, false = rows[rows["outcome"] == "FN"], rows[rows["outcome"] == "FP"]
        apart = missed[["truth_x", "truth_y"]].to_numpy()[:, None] - false[["predicted_x", "predicted_y"]].to_numpy()
        near = csr_array(np.hypot(*np.moveaxis(apart, -1, 0)) <= 10)
        n_paired += int((maximum_bipartite_matching(near) >= 0).sum())
    between = table.iloc[:-1, :-1].to_numpy()
    assert n_paired > 3
    assert between.sum() - np.trace(between) == n_paired


def test_classes_that_are_numbers_stay_whole() -> None:
    truth = squares((0, 1), (50, 2))
    table = sf.confusion(sf.match(truth, squares((0, 1, 0.9))), wide=False)
    assert table["truth_category"].dtype == "Int64"
    assert sf.confusion(sf.match(truth, truth))["truth_category"].tolist() == ["1", "2", "background"]
