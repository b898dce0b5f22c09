"""Kinds of error, their costs, offsets, and objects through time."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.kinds import of_kind, plain
from helpers.problems import refused
from helpers.scenes import grid, objects, squares

Nearness = Callable[[pd.Series, pd.Series, str, str], bool]

# By hand, tau 10: (what is there, what is claimed, the kinds of the rows in order).
SCENES = {
    "a hit has no kind": ([(0, 0)], [(3, 0)], [None]),
    "nothing near": ([(0, 0)], [(90, 0)], ["lost", "background"]),
    "just within reach": ([(0, 0)], [(30, 0)], ["mislocated", "mislocated"]),
    "just beyond it": ([(0, 0)], [(30.5, 0)], ["lost", "background"]),
    "claimed twice": ([(0, 0)], [(1, 0), (2, 0)], [None, "duplicate"]),
    "two where one is seen": ([(0, 0), (4, 0)], [(1, 0)], [None, "taken"]),
    "nothing to find": ([], [(1, 0)], ["no_truth_in_frame"]),
    "a duplicate is not paired": ([(0, 0), (25, 0)], [(0, 0), (9, 0)], [None, "lost", "duplicate"]),
    "the nearest, and as many as possible": (
        [(0, 0), (20, 0)],
        [(40, 0), (-12, 0)],
        ["mislocated", "mislocated", "mislocated", "mislocated"],
    ),
    "one to one": ([(0, 0)], [(15, 0), (12, 0)], ["mislocated", "background", "mislocated"]),
}


def scene(name: str) -> pd.DataFrame:
    truth, claims, _ = SCENES[name]
    frames = pd.DataFrame({"sequence": [1], "frame": [1]})
    sides = [objects([(1, 1, float(x), float(y)) for x, y in some]) for some in (truth, claims)]
    return sf.match(sf.Annotations(sides[0], frames), sides[1])


@pytest.mark.parametrize("name", SCENES)
def test_kinds(name: str) -> None:
    diagnosed = sf.diagnose(scene(name))
    assert [None if pd.isna(kind) else kind for kind in diagnosed["kind"]] == SCENES[name][2]
    has_other = diagnosed["kind"].isin(["mislocated", "taken", "duplicate"]).tolist()
    assert diagnosed["pair_distance"].notna().tolist() == has_other
    assert diagnosed["pair_object"].notna().tolist() == has_other


def test_pair_distances() -> None:
    distances = sf.diagnose(scene("the nearest, and as many as possible"))["pair_distance"].tolist()
    assert distances == [12, 20, 20, 12]


def test_the_other_side_is_named() -> None:
    """Of two truths of other classes that a false alarm covers, the more similar one; by both kinds of matching."""
    truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [7, 8, 9], "x": [0.0, 2.0, 50.0], "y": 0.0, "w": 10.0})
    truth = truth.assign(h=10.0, category=["cat", "dog", "cat"])
    claims = truth.iloc[[0, 2]].assign(object=["p", "q"], x=[0.5, 51.0], category=["cow", "cat"], score=[0.9, 0.8])
    tables = [sf.diagnose(sf.match(truth, claims)), sf.diagnose(sf.average_precision(truth, claims))]
    for table in tables:
        rows = table[table["kind"] == "confused"]
        alarm = rows[rows["outcome"] == "FP"].iloc[0]
        assert (alarm["pair_object"], alarm["pair_category"]) == ("7", "cat")
        assert alarm["pair_similarity"] == pytest.approx(9.5 / 10.5)
        assert {*rows.loc[rows["outcome"] == "FN", "pair_category"].dropna()} == {"cow"}
        assert table.loc[table["outcome"] == "TP", "pair_object"].isna().all()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_classes_that_are_integers_stay_integers(kind: str) -> None:
    truth = squares((0, 3), (90, 2)).astype({"category": int})
    claims = squares((0, 5, 0.9), (90, 2, 0.8)).astype({"category": int})
    sides = of_kind((truth, claims), kind)
    of_matches = sf.diagnose(sf.match(*sides), similarity="iou", threshold=0.5)  # polars keeps no notes
    for table in (of_matches, sf.diagnose(sf.average_precision(*sides))):
        word, values = plain(table)["pair_category"]
        assert (word, [value for value in values if value is not None]) == ("integer", [5, 3])
    fractions = [side.assign(category=side["category"] + 0.5) for side in (truth, claims)]
    assert sf.diagnose(sf.match(*fractions))["pair_category"].dropna().tolist() == [5.5, 3.5]


# Boxes by IoU from 0.5 on, by hand: (truths, predictions, the kinds of the rows in order), each (x, width, category).
# A box of width 10 and another d px further right have an IoU of (10 - d) / (10 + d).
BOX_SCENES = {
    "a hit has no kind": ([(0, 10, "a")], [(1, 10, "a")], [None]),
    "of another category": ([(0, 10, "a")], [(1, 10, "b")], ["confused", "confused"]),
    "a second box": ([(0, 10, "a")], [(0, 10, "a"), (1, 10, "a")], [None, "duplicate"]),
    "a second box of another category": ([(0, 10, "a")], [(0, 10, "a"), (1, 10, "b")], [None, "confused"]),
    "taken goes before confused": (
        [(0, 10, "a"), (2, 10, "a")],
        [(0, 10, "a"), (2, 10, "b")],
        [None, "taken", "confused"],
    ),
    "IoU 0.25": ([(0, 10, "a")], [(6, 10, "a")], ["mislocated", "mislocated"]),
    "IoU 0.25 and another category": ([(0, 10, "a")], [(6, 10, "b")], ["confused_and_mislocated"] * 2),
    "its own category first": (
        [(0, 10, "a")],
        [(6, 10, "b"), (-6, 10, "a")],
        ["mislocated", "background", "mislocated"],
    ),
    "IoU 1/19": ([(0, 10, "a")], [(9, 10, "a")], ["lost", "background"]),
    "nothing to find": ([], [(0, 10, "a")], ["no_truth_in_frame"]),
}


def boxes(rows: list[tuple[float, float, str]]) -> pd.DataFrame:
    x, w, category = zip(*rows, strict=True) if rows else ((), (), ())
    sides = {
        "x": np.array(x, float),
        "y": 0.0,
        "w": np.array(w, float),
        "h": 10.0,
        "category": pd.array(category, "str"),
    }
    return pd.DataFrame({"sequence": 1, "frame": 1, "object": np.arange(len(rows))} | sides)


@pytest.mark.parametrize("name", BOX_SCENES)
def test_kinds_of_boxes(name: str) -> None:
    truth, predictions, wanted = BOX_SCENES[name]
    frames = pd.DataFrame({"sequence": [1], "frame": [1]})
    diagnosed = sf.diagnose(sf.match(sf.Annotations(boxes(truth), frames), boxes(predictions)))
    assert [None if pd.isna(kind) else kind for kind in diagnosed["kind"]] == wanted
    alone = diagnosed["kind"].isna() | diagnosed["kind"].isin(["lost", "background", "no_truth_in_frame"])
    assert diagnosed["pair_similarity"].isna().tolist() == alone.tolist()
    assert diagnosed["pair_object"].isna().tolist() == alone.tolist()


def test_how_far_mislocated_boxes_may_lie() -> None:
    far = sf.match(boxes([(0, 10, "a")]), boxes([(6, 10, "a")]))  # IoU 0.25
    assert sf.diagnose(far)["pair_similarity"].tolist() == [0.25, 0.25]
    assert sf.diagnose(far, least_similarity=0.3)["kind"].tolist() == ["lost", "background"]
    for wrong in ({"reach": 2}, {"least_similarity": 0}, {"least_similarity": 0.6}):
        with refused(next(iter(wrong)), error=ValueError):
            sf.diagnose(far, **wrong)
    with refused(("least_similarity", "reach"), error=ValueError):
        sf.diagnose(scene("nothing near"), least_similarity=0.1)


def test_kinds_of_whole_poses_by_hand() -> None:
    """Of three people one is found, twice; one is claimed 5000 px away; of one the joints lie 6 px off.

    Joints d px off have an OKS of exp(-d² / (2 * 400 * 0.2²)) = exp(-d² / 32): 0.97 for 1 px, 0.32 for 6 px.
    """
    pose = pd.DataFrame({"joint": ["hip", "knee"], "x": [0.0, 0.0], "y": [0.0, 20.0]})

    def people(*places: float) -> pd.DataFrame:
        parts = [pose.assign(object=number, x=pose["x"] + x) for number, x in enumerate(places)]
        return pd.concat(parts, ignore_index=True).assign(sequence=1, frame=1)

    truth = people(0, 200, 400).assign(area=400.0)
    matches = sf.match(truth, people(0, 1, 5200, 406), similarity="oks", sigmas={"hip": 0.1, "knee": 0.1})
    diagnosed = sf.diagnose(matches)
    kinds = [None if pd.isna(kind) else kind for kind in diagnosed["kind"]]
    assert kinds == [None, "lost", "mislocated", "duplicate", "background", "mislocated"]
    far, near = np.exp(-36 / 32), np.exp(-1 / 32)  # the second one is of the duplicate
    assert diagnosed["pair_similarity"].dropna().tolist() == pytest.approx([far, near, far])
    costs = sf.error_costs(diagnosed).set_index("kind")
    assert costs.loc["all", ["n_misses", "n_false_alarms", "f1"]].tolist() == [2, 3, 1]


def noses(*places: float, **columns: float) -> pd.DataFrame:
    """One nose a person, in a frame."""
    keys = {"sequence": 1, "frame": 1, "object": np.arange(len(places)), "joint": "nose"}
    return pd.DataFrame(keys | {"x": [float(x) for x in places]}).assign(**({"y": 0.0} | columns))


def test_kinds_of_joints_in_head_sizes_by_hand() -> None:
    """Heads of 10 px: joints match up to 5 px, and a mislocated one may lie 15 px away."""
    truth, claims = noses(0, 100, 200, 300, head_size=10.0), noses(4, 5, 106, 216)
    diagnosed = sf.diagnose(sf.pose(truth, claims).matches)
    kinds = [None if pd.isna(kind) else kind for kind in diagnosed["kind"]]
    assert kinds == [None, "mislocated", "lost", "lost", "duplicate", "mislocated", "background"]
    assert diagnosed["pair_head_sizes"].dropna().tolist() == pytest.approx([0.6, 0.5, 0.6])  # 0.5: of the duplicate
    assert (diagnosed.attrs["reach"], diagnosed.attrs["head_sizes"]) == (3.0, 0.5)
    farther = sf.diagnose(diagnosed, reach=3.2)
    assert farther["pair_head_sizes"].dropna().tolist() == pytest.approx([0.6, 1.6, 0.5, 0.6, 1.6])
    with refused(("least_similarity", "0.5 head sizes"), error=ValueError):
        sf.diagnose(diagnosed, least_similarity=0.1)


def reference_kinds(matches: pd.DataFrame, near: Nearness, categories: bool) -> list[str | None]:
    """The kinds without the pairs of mislocated objects, one row after the other, by the words of the definition."""
    kinds: list[str | None] = []
    for _, row in matches.iterrows():
        side, other = ("truth", "predicted") if row["outcome"] == "FN" else ("predicted", "truth")
        if row["outcome"] not in ("FN", "FP"):
            kinds.append(None)
            continue
        here = matches[(matches["sequence"] == row["sequence"]) & (matches["frame"] == row["frame"])]
        others = here[here[f"{other}_x"].notna()]
        close = [one for _, one in others.iterrows() if near(row, one, side, other)]
        alike = [one for one in close if not categories or one[f"{other}_category"] == row[f"{side}_category"]]
        if any(one["outcome"] == "TP" for one in alike):
            kinds.append("taken" if side == "truth" else "duplicate")
        elif len(alike) < len(close):
            kinds.append("confused")
        elif side == "predicted" and not len(others):
            kinds.append("no_truth_in_frame")
        else:
            kinds.append("left")
    return kinds


def near_points(row: pd.Series, one: pd.Series, side: str, other: str) -> bool:
    return bool(np.hypot(row[f"{side}_x"] - one[f"{other}_x"], row[f"{side}_y"] - one[f"{other}_y"]) <= 10)


def near_boxes(row: pd.Series, one: pd.Series, side: str, other: str) -> bool:
    (left, top, w, h), (left2, top2, w2, h2) = (
        [rows[f"{prefix}_{name}"] for name in "xywh"] for rows, prefix in ((row, side), (one, other))
    )
    width = max(min(left + w, left2 + w2) - max(left, left2), 0)
    height = max(min(top + h, top2 + h2) - max(top, top2), 0)
    return bool(width * height >= 0.5 * (w * h + w2 * h2 - width * height))


LEFT = {"left": {"lost", "mislocated", "confused_and_mislocated", "background"}}


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_kinds_add_up(seed: int, categories: bool, as_boxes: bool) -> None:
    random = np.random.default_rng(seed)
    sides = grid(random, 8, 6, 40)
    if categories:
        sides = tuple(side.assign(category=random.choice(["a", "b"], len(side))) for side in sides)
    if as_boxes:
        sides = tuple(side.assign(w=random.integers(5, 20, len(side)) * 1.0, h=10.0) for side in sides)
    matches = sf.match(*sides)
    diagnosed = sf.diagnose(matches)
    pd.testing.assert_frame_equal(diagnosed[matches.columns], matches)
    wanted = reference_kinds(matches, near_boxes if as_boxes else near_points, categories)
    for kind, reference in zip(diagnosed["kind"], wanted, strict=True):
        assert (None if pd.isna(kind) else kind) in LEFT.get(reference, {reference})
    costs = sf.error_costs(diagnosed).set_index("kind")
    [summary] = sf.summarize(matches).to_dict("records")
    if summary["tp"] + summary["fn"]:
        assert costs.loc["all", "f1"] == 1
    assert costs.loc["all", ["n_misses", "n_false_alarms"]].tolist() == [summary["fn"], summary["fp"]]
    kinds = costs.drop(index="all")
    assert kinds["n_misses"].sum() == summary["fn"]
    assert kinds["n_false_alarms"].sum() == summary["fp"]
    assert ("confused" in kinds.index) == categories
    for name in {"mislocated", "confused_and_mislocated"} & {*kinds.index}:
        assert kinds.loc[name, "n_misses"] == kinds.loc[name, "n_false_alarms"]
    assert ("mse" in costs) != as_boxes


def test_error_costs_by_hand() -> None:
    """Two hits, one of them 5 px away, a lost object, a duplicate and an object seen 20 px away."""
    truth = objects([(1, 1, 0.0, 0.0), (1, 1, 100.0, 0.0), (1, 1, 200.0, 0.0), (1, 1, 300.0, 0.0)])
    claims = objects([(1, 1, 0.0, 0.0), (1, 1, 105.0, 0.0), (1, 1, 1.0, 0.0), (1, 1, 320.0, 0.0)])
    costs = sf.error_costs(sf.diagnose(sf.match(truth, claims))).set_index("kind")
    # tp 2, fn 2, fp 2, errors 25 + 4 * 100
    assert costs.loc["lost", ["f1", "mse"]].tolist() == [6 / 9, 325 / 6]
    assert costs.loc["duplicate", ["f1", "mse"]].tolist() == [4 / 7, 325 / 5]
    assert costs.loc["mislocated", ["f1", "mse"]].tolist() == [6 / 8, 225 / 5]
    assert costs.loc["background", ["f1_gain", "mse_gain"]].tolist() == [0, 0]
    assert costs.loc["lost", "f1_gain"] == pytest.approx(6 / 9 - 4 / 8)
    assert costs.loc["lost", "mse_gain"] == pytest.approx(425 / 6 - 325 / 6)
    assert costs.loc["all", ["f1", "mse"]].tolist() == [1, 25 / 4]


def test_what_diagnose_refuses() -> None:
    matches = scene("nothing near")
    bare = pd.DataFrame(matches)
    bare.attrs = {}
    with refused(("match table", "give tau=")):
        sf.diagnose(bare)
    assert sf.diagnose(bare, tau=10)["kind"].tolist() == ["lost", "background"]
    with refused(("reach", "0"), error=ValueError):
        sf.diagnose(matches, reach=0)
    with refused(("reach", "'3'"), error=ValueError):
        sf.diagnose(matches, reach="3")
    with refused(("match table", "by distance", "leave out similarity")):
        sf.diagnose(matches, similarity="iou")
    with refused(("error_costs: column kind", "diagnose()")):
        sf.error_costs(matches)
    with refused(("error_costs: column kind", "taken, lost", "diagnose()")):
        sf.error_costs(matches.assign(kind="odd"))
    with refused("match table: column truth_x"):
        sf.diagnose(matches.drop(columns="truth_x"))
    assert len(sf.diagnose(matches.head(0))) == 0


def test_what_diagnose_refuses_of_boxes() -> None:
    boxes = objects([(1, 1, 0.0, 0.0)]).assign(w=8.0, h=8.0)
    matches = sf.match(boxes, boxes)
    with refused(("least_similarity", "'0.1'"), error=ValueError):
        sf.diagnose(matches, least_similarity="0.1")
    with refused(("match table: column truth_w", "truth_width")):
        sf.diagnose(matches.rename(columns={"truth_w": "truth_width"}))


def test_what_costs_nothing_gains_nothing() -> None:
    costs = sf.error_costs(sf.diagnose(scene("nothing near")))
    assert not np.signbit(costs["mse_gain"]).any()


def test_nobody_took_it() -> None:
    """A matcher that leaves out what is near: nobody took the truth, and nothing is a duplicate."""
    one = objects([(1, 1, 0.0, 0.0)])
    nothing = np.zeros(0, np.int64)
    matches = sf.match_frames(one, one.assign(x=4.0), lambda truth, claims: (nothing, nothing))
    assert sf.diagnose(matches)["kind"].tolist() == ["mislocated", "mislocated"]


def test_objects_through_time() -> None:
    truth = objects([(1, f, x, 0.0) for f in range(1, 6) for x in (0.0, 50.0, 100.0, 150.0, 200.0)])
    claims = truth[(truth["object"] * 10 + truth["frame"]).isin([*range(1, 6), 11, 12, 14, 15, 21, 22, 35])]
    found = sf.object_summary(sf.match(truth, claims.assign(x=claims["x"] + 2))).set_index("object")
    assert found["pattern"].tolist() == ["11111", "11011", "11000", "00001", "00000"]
    assert found["n_found"].tolist() == [5, 4, 2, 1, 0]
    assert found["longest_gap"].tolist() == [0, 1, 3, 4, 5]
    assert found["n_changes"].tolist() == [0, 2, 1, 1, 0]
    assert found["history"].tolist() == ["always found", "flickers", "found in part", "found in part", "never found"]
    assert found["mean_distance"].tolist() == pytest.approx([2, 2, 2, 2, np.nan], nan_ok=True)
    assert found["n_frames"].eq(5).all()


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_objects_as_a_loop_has_them(seed: int) -> None:
    truth, predictions = grid(np.random.default_rng(seed), 25, 4, 40)
    matches = sf.match(truth, predictions)
    summary = sf.object_summary(matches.sample(frac=1, random_state=seed))
    groups = matches[matches["outcome"].isin(["TP", "FN"])].sort_values("frame").groupby(["sequence", "truth_object"])
    assert summary["sequence"].tolist() == [key[0] for key, _ in groups]
    for (_, rows), row in zip(groups, summary.to_dict("records"), strict=True):
        pattern = "".join("1" if outcome == "TP" else "0" for outcome in rows["outcome"])
        assert row["pattern"] == pattern
        assert row["longest_gap"] == max(map(len, pattern.split("1")))
        assert row["n_changes"] == pattern.count("10") + pattern.count("01")
        assert row["found_share"] == pattern.count("1") / len(pattern)


@pytest.mark.filterwarnings("ignore:.*has rows of 1 frame twice")
def test_what_object_summary_refuses() -> None:
    matches = scene("a hit has no kind")
    with refused("object_summary: matches: column truth_object"):
        sf.object_summary(pd.concat([matches, matches]))
    with refused("object_summary: matches: column truth_object"):
        sf.object_summary(matches.drop(columns="truth_object"))
    assert len(sf.object_summary(matches.head(0))) == 0


def test_submissions_put_together_are_refused() -> None:
    """A miss of one would be explained by what the other claims."""
    matches = scene("nothing near")
    several = pd.concat({"a": matches, "b": matches}, names=["submission"])
    with refused("diagnose: there are 2 submissions in the"):
        sf.diagnose(several)
    assert sf.diagnose(several.loc[["a"]])["kind"].tolist() == ["lost", "background"]
