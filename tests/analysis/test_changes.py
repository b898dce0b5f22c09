"""What differs between two submissions to the same truth."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.problems import refused
from helpers.scenes import grid, objects

TRUTH = objects([(1, 1, 0.0, 0.0), (1, 1, 100.0, 0.0), (1, 2, 0.0, 0.0)])


def at(*places: tuple[int, float]) -> pd.DataFrame:
    """Predictions of sequence 1, as (frame, x)."""
    return objects([(1, frame, x, 0.0) for frame, x in places])


def told(before: pd.DataFrame, after: pd.DataFrame) -> list[tuple[str, float]]:
    """The changes of two submissions to TRUTH, and where the prediction of each lies."""
    rows = sf.changes(sf.match(TRUTH, before), sf.match(TRUTH, after))
    return list(zip(rows["change"], rows["predicted_x"], strict=True))


def test_changes_by_hand() -> None:
    assert told(at((1, 1), (1, 50)), at((1, 101), (1, 55), (2, 60))) == [
        ("lost", 1),
        ("gained", 101),
        ("new false alarm", 60),
    ]  # the false alarms at 50 and 55 are one
    assert told(at((1, 50)), at((1, 61))) == [("false alarm gone", 50), ("new false alarm", 61)]
    assert told(at((1, 1)), at((1, 2))) == []


def test_rows_come_from_the_submission_that_has_them() -> None:
    before = sf.match(TRUTH, at((1, 1), (1, 50)).assign(score=0.5))
    after = sf.match(TRUTH, at((1, 101)).assign(score=0.9, model="new"))
    rows = sf.changes(before, after)
    assert rows.columns.tolist()[:5] == ["sequence", "frame", "outcome", "change", "distance"]
    assert rows["outcome"].tolist() == ["TP", "TP", "FP"]
    assert rows["predicted_score"].tolist() == [0.5, 0.9, 0.5]
    assert rows["predicted_model"].fillna("none").tolist() == ["none", "new", "none"]
    assert rows.attrs == before.attrs
    assert rows["change"].cat.categories.tolist() == ["gained", "lost", "new false alarm", "false alarm gone"]
    assert rows.groupby("change", observed=True).size().to_dict() == {"gained": 1, "lost": 1, "false alarm gone": 1}


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_changes_add_up(seed: int, categories: bool, as_boxes: bool) -> None:
    random = np.random.default_rng(seed)
    sides = [*grid(random, 8, 5, 40), grid(random, 8, 5, 40)[0]]
    if categories:
        sides = [side.assign(category=random.choice(["a", "b"], len(side))) for side in sides]
    if as_boxes:
        sides = [side.assign(w=random.integers(5, 20, len(side)) * 1.0, h=10.0) for side in sides]
    truth = sf.Annotations(sides[0], sides[0][["sequence", "frame"]].drop_duplicates())
    words = {"frames": "union"}
    before, after = (sf.match(truth, side, **words) for side in sides[1:])
    rows = sf.changes(before, after)
    assert len(sf.changes(before, before)) == 0
    counts = {name: int((rows["change"] == name).sum()) for name in rows["change"].cat.categories}
    tp, fp = (int((after["outcome"] == name).sum() - (before["outcome"] == name).sum()) for name in ("TP", "FP"))
    assert counts["gained"] - counts["lost"] == tp
    assert counts["new false alarm"] - counts["false alarm gone"] == fp
    key = ["sequence", "frame", "truth_object"]
    found = [set(map(tuple, table.loc[table["outcome"] == "TP", key].to_numpy())) for table in (before, after)]
    for name, wanted in (("gained", found[1] - found[0]), ("lost", found[0] - found[1])):
        assert set(map(tuple, rows.loc[rows["change"] == name, key].to_numpy())) == wanted
    # No false alarm that is gone lies near a new one, since the two would have been matched.
    gone, new = (rows[rows["change"] == name] for name in ("false alarm gone", "new false alarm"))
    if len(gone) and len(new):
        again = sf.match(*(false_alarms(part) for part in (gone, new)), frames="union") if shared(gone, new) else None
        assert again is None or not (again["outcome"] == "TP").any()
    swapped = sf.changes(after, before)["change"].value_counts()
    assert [swapped["lost"], swapped["new false alarm"]] == [counts["gained"], counts["false alarm gone"]]


def shared(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    return bool(one["sequence"].isin(other["sequence"]).any())


def false_alarms(rows: pd.DataFrame) -> pd.DataFrame:
    """The predictions of these rows as a table of objects."""
    named = {name: name.removeprefix("predicted_") for name in rows if str(name).startswith("predicted_")}
    return rows[["sequence", "frame", *named]].rename(columns=named).reset_index(drop=True)


def pose(person: int, x: float, *, area: float | None = None) -> pd.DataFrame:
    """Three joints, the corners of a triangle of 50 px² with its left corner at x."""
    keys = {"sequence": 1, "frame": 1, "object": person, "joint": [1, 2, 3]}
    table = pd.DataFrame(keys | {"x": [x, x + 10, x], "y": [0.0, 0.0, 10.0]})
    return table if area is None else table.assign(area=area)


@pytest.mark.parametrize(
    ("areas", "same"),
    [((1e4, 1.0), True), ((1.0, 1e4), False), (None, False)],
)
def test_false_poses_have_the_area_of_the_nearest_truth(areas: tuple[float, float] | None, same: bool) -> None:
    """With sigmas of 0.1, joints 5 px apart have an OKS of exp(-25 / (0.08 area)): 0.97 for 1e4, and 0.002 for 50."""
    frames = pd.DataFrame({"sequence": 1, "frame": [1]})
    near = [] if areas is None else [pose(1, 300, area=areas[0]), pose(2, 900, area=areas[1])]
    truth = pd.concat([pose(1, 0, area=1.0).iloc[:0], *near]).astype({"object": "int64", "joint": "int64"})
    rule = {"similarity": "oks", "sigmas": {1: 0.1, 2: 0.1, 3: 0.1}}
    first, second = (sf.match(sf.Annotations(truth, frames), pose(9, x), **rule) for x in (400, 405))
    wanted = [] if same else ["false alarm gone", "new false alarm"]
    assert sf.changes(first, second)["change"].tolist() == wanted


def test_the_nearest_truth_of_a_false_pose_may_be_of_another_category() -> None:
    frames = pd.DataFrame({"sequence": 1, "frame": [1]})
    truth = sf.Annotations(pose(1, 300, area=1e4).assign(category="rider"), frames)
    rule = {"similarity": "oks", "sigmas": {1: 0.1, 2: 0.1, 3: 0.1}}
    first, second = (sf.match(truth, pose(9, x).assign(category="walker"), **rule) for x in (400, 405))
    assert len(sf.changes(first, second)) == 0


@pytest.mark.parametrize(("column", "hint"), [("predicted_x_2", ()), ("predicted_w", ("predicted_width",))])
def test_changes_names_the_table_that_lacks_a_column_of_poses(column: str, hint: tuple[str, ...]) -> None:
    rule = {"similarity": "oks", "sigmas": {1: 0.1, 2: 0.1, 3: 0.1}}
    matches = sf.match(pose(1, 0, area=1e4), pose(1, 300), **rule)
    lacking = matches.rename(columns={column: "predicted_width"})
    for tables, name in (((lacking, matches), "before"), ((matches, lacking), "after")):
        with refused((f"changes: {name}: column {column}", *hint)):
            sf.changes(*tables)


def test_changes_of_polars() -> None:
    before, after = (sf.match(pl.from_pandas(TRUTH), side) for side in (at((1, 1)), at((1, 101))))
    with refused(("match table", "give tau=")):
        sf.changes(before, after)
    rows = sf.changes(before, after, tau=10)
    assert isinstance(rows, pl.DataFrame)
    assert rows["change"].to_list() == ["lost", "gained"]


def test_either_table_may_tell_the_rule() -> None:
    truth = TRUTH.assign(crowd=[False, True, False])
    before, after = sf.match(truth, at((1, 1), (1, 101))), sf.match(truth, at((1, 2), (1, 50)))
    bare = pd.DataFrame(before)
    bare.attrs = {}
    rows = sf.changes(bare, after)
    assert rows["change"].tolist() == ["new false alarm"]
    assert rows.attrs["tau"] == 10
    assert "explained" not in sf.changes(before, after).attrs  # what one submission had explained is not the other's


def test_what_changes_refuses() -> None:
    before = sf.match(TRUTH, at((1, 1)))
    with refused(("changes", "1 truth", "before", "after")):
        sf.changes(before, sf.match(TRUTH.iloc[:2], at((1, 1))))
    with refused(("changes", "not made with the same rule", "tau 10.0", "tau 5.0")):
        sf.changes(before, sf.match(TRUTH, at((1, 1)), tau=5))
    with refused("changes: after: column distance"):
        sf.changes(before, before.drop(columns="distance"))
    with refused(("changes", "truth_object")):
        sf.changes(before.drop(columns="truth_object"), before.drop(columns="truth_object"))
    with refused("match table: column predicted_x"):
        sf.changes(before.drop(columns="predicted_x"), before)
    empty = sf.match(TRUTH.iloc[:0], at().astype({"sequence": "int64"}))
    assert len(sf.changes(empty, empty)) == 0


def test_false_joints_are_compared_in_head_sizes() -> None:
    """A false joint has the head size of the frame's nearest truth, 10 or 40 px, and without truths their median, 25.

    The false alarms move by 8 px: farther than half a head of 10 px, and nearer than half of 25 and of 40.
    """
    keys = {"sequence": 1, "object": 1, "joint": "nose", "y": 0.0}
    truth = pd.DataFrame(keys | {"frame": [1, 2], "x": [0.0, 0.0], "head_size": [10.0, 40.0]})
    frames = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3]})
    claims = pd.DataFrame(keys | {"frame": [1, 2, 3], "x": 500.0})
    tables = [
        sf.pose(sf.Annotations(truth, frames), side).matches for side in (claims, claims.assign(x=claims["x"] + 8))
    ]
    rows = sf.changes(*tables)
    assert list(zip(rows["frame"], rows["change"], strict=True)) == [(1, "false alarm gone"), (1, "new false alarm")]
    none = [sf.pose(sf.Annotations(truth[:0], frames), claims).matches] * 2
    with refused(("changes", "no truth", "head size")):
        sf.changes(*none)


FLAT = pd.DataFrame({"sequence": 1, "frame": [1, 1, 1, 2], "object": range(4), "x": [5.0, 5.0, 9.0, 5.0], "y": 5.0})


@pytest.mark.parametrize(
    "rule", [{}, {"similarity": lambda truth, predictions: np.zeros(len(truth))}], ids=["iou", "own"]
)
def test_false_alarms_that_are_near_nothing_are_no_changes_of_themselves(rule: dict) -> None:
    """Boxes without area overlap nothing, not even themselves."""
    flat = FLAT.assign(w=0.0, h=[10.0, 10.0, 0.0, 10.0])
    truth = flat.head(1).assign(x=90.0, w=10.0)
    before = sf.match(sf.Annotations(truth, flat[["sequence", "frame"]].drop_duplicates()), flat, **rule)
    assert len(sf.changes(before, before, **rule)) == 0
    fewer = sf.match(sf.Annotations(truth, flat[["sequence", "frame"]].drop_duplicates()), flat[1:], **rule)
    assert sf.changes(before, fewer, **rule)["change"].tolist() == ["false alarm gone"]
    moved = flat.assign(x=[5.0, 6.0, 9.0, 5.0])
    after = sf.match(sf.Annotations(truth, flat[["sequence", "frame"]].drop_duplicates()), moved, **rule)
    assert sf.changes(before, after, **rule)["change"].tolist() == ["false alarm gone", "new false alarm"]


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(1, 2), *[st.integers(0, 2)] * 4), max_size=8),
    st.lists(st.tuples(st.integers(1, 2), *[st.integers(0, 2)] * 4), min_size=1, max_size=8),
    st.booleans(),
)
def test_nothing_changes_from_a_table_to_itself(truth: list, claims: list, categories: bool) -> None:
    sides = []
    for rows in (truth, claims):
        table = pd.DataFrame(rows, columns=["frame", "x", "y", "w", "h"]).astype(dict.fromkeys("xywh", float))
        table = table.assign(sequence=1, object=range(len(table))).astype({"frame": "int64", "sequence": "int64"})
        sides.append(table.assign(category=table["x"].gt(0).map({True: "a", False: "b"})) if categories else table)
    matches = sf.match(*sides)
    assert len(sf.changes(matches, matches)) == 0
    assert len(sf.changes(matches, matches.assign(predicted_file_order=matches["predicted_file_order"]))) == 0
