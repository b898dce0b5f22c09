"""What the viewer is given of match tables."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.packed import read_view
from helpers.problems import refused
from helpers.report_inputs import many, many_boxes, many_poses
from helpers.scenes import SCENES, objects
from spotgeo_frames.geometries.joints import COCO_SIGMAS
from spotgeo_frames.geometries.poses import whole_poses
from spotgeo_frames.presentation.viewer.rows import with_ignored
from spotgeo_frames.presentation.viewer.view import MOST_TEXTS, View, view_of
from spotgeo_frames.tables import dataframe_of, side_columns

DISTANCE = "distance, px"


def together(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Match tables of submissions, one after another."""
    answer = pd.concat(tables.values(), ignore_index=True)
    codes = np.repeat(np.arange(len(tables)), [len(table) for table in tables.values()])
    answer["submission"] = pd.Categorical.from_codes(codes, list(tables))
    answer.attrs = next(iter(tables.values())).attrs
    return answer


def seen(tables: dict[str, pd.DataFrame], tau: float | None = 10.0, sequences: list[Any] | None = None) -> Any:
    """The tables of the view of match tables, as they are read."""
    return read_view(view_of(together(tables), DISTANCE, tau, sequences))


def tiny() -> tuple[sf.Annotations, pd.DataFrame, pd.DataFrame]:
    """Three frames of two sequences, and two submissions; the second one lacks a sequence."""
    truth = objects(
        [("b", 1, 10, 20), ("b", 1, 50, 60), ("a", 7, 5, 5)],
        brightness=[0.5, 0.25, 1],
        kind=["star", "star", "planet"],
    )
    frames = pd.DataFrame({"sequence": ["a", "b", "b"], "frame": [7, 1, 2], "clouds": ["few", "many", None]})
    sequences = pd.DataFrame({"sequence": ["a", "b"], "exposure": [3, 4]})
    first = objects([("b", 1, 90, 90), ("b", 1, 51, 60), ("b", 2, 1, 2), ("a", 7, 5, 8)], score=[0.1, 0.2, 0.3, 0.4])
    second = objects([("b", 1, 10, 21)], score=[0.9])
    return sf.Annotations(truth, frames, sequences), first, second


def tiny_matches() -> dict[str, pd.DataFrame]:
    truth, first, second = tiny()
    tables = {"first": sf.diagnose(sf.match(truth, first)), "second": sf.diagnose(sf.match(truth, second))}
    lacking = tables["second"]["sequence"] == "a"
    return tables | {"second": tables["second"][~lacking]}


def test_a_tiny_scene() -> None:
    view = seen(tiny_matches(), sequences=["b", "a"])
    assert (view["kind"], view["identities"], view["joints"], view["bones"]) == ("points", False, [], [])
    assert view["measure"] == {"title": DISTANCE, "decimals": 2, "needed": 10.0}
    assert view["decimals"] == 2
    assert view["frames"] == {
        "sequence": [0, 0, 1],
        "frame": [1, 2, 7],
        "n_truth": [2, 0, 1],
        "frame_clouds": ["many", None, "few"],
    }
    assert view["sequences"]["name"] == ["b", "a"]
    assert view["sequences"]["sequence_exposure"] == [4, 3]
    assert view["truth"] == {
        "object": [0, 1, 0],
        "x": [10, 50, 5],
        "y": [20, 60, 5],
        "brightness": [0.5, 0.25, 1],
        "truth_kind": ["star", "star", "planet"],
    }
    assert view["submissions"]["first"] == {
        "frames": {"n_predicted": [2, 1, 1]},
        "predicted": {
            "object": [0, 1, 0, 0],
            "x": [90, 51, 1, 5],
            "y": [90, 60, 2, 8],
            "score": pytest.approx([0.1, 0.2, 0.3, 0.4]),
            "kind": ["background", None, "no_truth_in_frame", None],
        },
        "pairs": {"pair": [-1, 1, 0], "measure": [None, 1, 3], "kind": ["lost", None, None]},
    }
    second = view["submissions"]["second"]
    assert second["frames"] == {"n_predicted": [1, 0, -1]}
    assert second["pairs"]["pair"] == [0, -1, -1]
    assert second["predicted"]["x"] == [10]


def test_the_area_of_a_sequence_holds_its_truths_and_what_is_near() -> None:
    truth = objects([(1, 1, 0, 0), (1, 1, 100, 50), (2, 1, 40, 40), (3, 1, 0, 0)])
    claims = objects([(1, 1, 110, 0), (2, 1, 60, 40), (2, 1, 1e6, 40)])
    area = seen({"one": sf.match(truth, claims)})["sequences"]
    assert area["left"] == [-2.2, 37.8, -5.5], "2% of all, and at least a tenth of all is drawn"
    assert area["right"] == [112.2, 62.2, 5.5]
    assert area["top"] == [-2, 37.5, -2.5]
    assert area["bottom"] == [52, 42.5, 2.5]


def test_nothing_has_an_area() -> None:
    truth = sf.Annotations(objects([]), pd.DataFrame({"sequence": [1], "frame": [1]}))
    view = seen({"one": sf.match(truth, objects([]))})
    assert view["sequences"] == {"name": ["1"], "left": [-2], "right": [3], "top": [-2], "bottom": [3]}
    assert view["frames"]["n_truth"] == [0]
    none = sf.match(truth, objects([])).iloc[:0]
    assert seen({"one": none})["frames"] == {"sequence": [], "frame": [], "n_truth": []}


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_counts_are_those_of_summarize(scene: Any) -> None:
    matches = sf.match(*scene.sides())
    view = seen({"one": matches})
    [numbers] = sf.summarize(matches).to_dict("records")
    pairs = view["submissions"]["one"]["pairs"]["pair"]
    assert sum(place >= 0 for place in pairs) == numbers["tp"]
    assert sum(place < 0 for place in pairs) == numbers["fn"]
    assert sum(view["submissions"]["one"]["frames"]["n_predicted"]) == numbers["tp"] + numbers["fp"]


def test_every_pair_is_found_in_its_frame() -> None:
    truth, predictions = many_boxes(6)
    predictions = predictions.sample(frac=1, random_state=0)  # file order is not that of names
    matches = sf.match(truth, predictions)
    view = seen({"all": matches, "few": sf.match(truth, predictions.iloc[::2])}, None)
    assert view["kind"] == "boxes"
    one = view["submissions"]["all"]
    begins = np.cumsum([0, *one["frames"]["n_predicted"]]).astype(int)
    of_truth = np.repeat(np.arange(len(begins) - 1), np.array(view["frames"]["n_truth"], int))
    partner = [
        None if place < 0 else one["predicted"]["object"][begins[frame] + int(place)]
        for frame, place in zip(of_truth, one["pairs"]["pair"], strict=True)
    ]
    rows = matches[matches["outcome"].isin(["TP", "FN"])]
    assert partner == [None if pd.isna(name) else name for name in rows["predicted_object"]]
    assert view["truth"]["w"] == [40] * len(rows)
    assert one["pairs"]["measure"] == [None if pd.isna(value) else round(value, 3) for value in rows["similarity"]]
    in_file_order = predictions.sort_values(["sequence", "frame"], kind="stable")
    assert one["predicted"]["object"] == in_file_order["object"].tolist()


def test_joints_and_poses_have_bones() -> None:
    truth, predictions = many_poses(2)
    poses = sf.match(truth, predictions, similarity="oks")
    view = seen({"one": poses}, None)
    assert (view["kind"], view["joints"]) == ("poses", list(COCO_SIGMAS))
    names = [{view["joints"][one], view["joints"][other]} for one, other in view["bones"]]
    assert {"nose", "left_eye"} in names
    assert {"left_hip", "left_knee"} in names
    assert {name for bone in names for name in bone} == {*COCO_SIGMAS}, "one skeleton"
    rows = poses[poses["outcome"].isin(["TP", "FN"])]
    assert view["truth"]["x_left_eye"] == pytest.approx(rows["truth_x_left_eye"].round(view["decimals"]).tolist())
    joints = sf.match(truth, predictions)
    view = seen({"one": joints})
    assert (view["kind"], view["joints"]) == ("joints", ["left_eye", "nose", "right_eye"])
    assert sorted(map(tuple, view["bones"])) == [(0, 2), (1, 0), (1, 2)]
    assert sum(view["frames"]["n_truth"]) == len(truth.objects) == len(view["truth"]["joint"])
    assert {*view["submissions"]["one"]["predicted"]["joint"]} == {*view["joints"]}
    numbered = [
        side.assign(joint=side["joint"].map({"nose": 0, "left_eye": 2, "right_eye": 10}))
        for side in (truth.objects, predictions)
    ]
    assert seen({"one": sf.match(*numbered)})["joints"] == ["0", "2", "10"]


def test_tracks_have_events() -> None:
    boxes = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3], "object": 1, "x": 0.0, "y": 0.0, "w": 9.0, "h": 9.0})
    matches = sf.track(boxes, boxes.assign(object=[1, 2, 2])).matches
    view = seen({"one": matches}, None)
    assert view["identities"]
    assert view["submissions"]["one"]["pairs"]["event"] == ["match", "switch", "match"]
    assert view["submissions"]["one"]["predicted"]["event"] == ["match", "switch", "match"]


def test_what_average_precision_ignores_is_marked() -> None:
    box = {"sequence": 1, "frame": 1, "y": 0.0, "w": 10.0, "h": 10.0, "category": "a"}
    truth = pd.DataFrame({"object": [1, 2], "x": [0.0, 50.0], "crowd": [False, True]}).assign(**box)
    claims = pd.DataFrame({"object": [1, 2, 3], "x": [0.0, 50.0, 90.0], "score": [0.9, 0.8, 0.7]}).assign(**box)
    matches = sf.average_precision(truth, claims).matches
    view = seen({"one": matches[matches["threshold"] == 0.5]}, None)
    assert view["truth"]["ignored"] == ["False", "True"]
    assert view["submissions"]["one"]["predicted"]["ignored"] == ["False", "True", "False"]
    counted = matches[(matches["threshold"] == 0.5) & ~matches["ignored"]]
    assert "ignored" not in seen({"one": counted}, None)["truth"]


def test_crowds_and_what_they_explain_are_added_to_their_frames() -> None:
    box = {"sequence": 1, "y": 0.0, "w": 10.0, "h": 10.0}
    truth = pd.DataFrame({"frame": [1, 1, 2, 9], "object": [1, 2, 1, 1], "x": [0.0, 50.0, 9.0, 0.0]}).assign(
        crowd=[False, True, True, True], **box
    )
    claims = pd.DataFrame({"frame": [1, 1], "object": [1, 2], "x": [0.0, 50.0], "score": [0.9, 0.8]}).assign(**box)
    matches = sf.match(truth, claims)
    assert matches.attrs["explained"] == 1
    tables = {"one": matches[matches["frame"] != 9], "two": matches[matches["frame"] == 1]}
    added = with_ignored(together(tables), truth, {"one": claims, "two": claims.iloc[:1]})
    view = read_view(view_of(added, "IoU", None))
    assert view["frames"]["frame"] == [1, 2], "frame 9 is not held"
    assert view["truth"]["object"] == [1, 2, 1]
    assert view["truth"]["ignored"] == ["False", "True", "True"]
    assert view["truth"]["crowd"] == ["False", "True", "True"]
    assert view["submissions"]["one"]["predicted"]["ignored"] == ["False", "True"]
    assert view["submissions"]["one"]["predicted"]["score"] == [0.9, 0.8]
    assert view["submissions"]["one"]["frames"]["n_predicted"] == [2, 0]
    assert "ignored" not in view["submissions"]["two"]["predicted"]
    assert view["submissions"]["two"]["frames"]["n_predicted"] == [1, -1]
    without = with_ignored(together(tables), truth.drop(columns="crowd"), {"one": claims, "two": claims})
    pd.testing.assert_frame_equal(without, together(tables))


def test_crowds_of_coco_are_added_as_often_as_they_are_noted(coco: Path) -> None:
    truth, claims = sf.read_coco(coco / "annotations.json", coco / "fast.json", boxes=True)
    matches = sf.match(truth, claims)
    added = with_ignored(together({"one": matches}), truth.objects, {"one": claims.objects})
    counts = added.loc[added["ignored"], "outcome"].value_counts()
    assert (counts["FN"], counts["FP"]) == (matches.attrs["crowds"], matches.attrs["explained"])
    assert counts["FP"] > 0
    assert added["truth_object"].dtype == matches["truth_object"].dtype
    assert read_view(view_of(added, "IoU", None))["truth"]["ignored"].count("True") == matches.attrs["crowds"]


def test_crowds_of_poses_are_drawn_with_their_joints() -> None:
    truth, claims = many_poses(2)
    crowd = truth.objects["object"] == 0
    known = truth._replace(objects=truth.objects.assign(crowd=crowd))
    matches = sf.match(known, claims, similarity="oks")
    poses = whole_poses(side_columns(known), side_columns(sf.Annotations(claims)), COCO_SIGMAS)
    tables = [dataframe_of(side.objects) for side in poses]
    added = with_ignored(together({"one": matches}), tables[0], {"one": tables[1]})
    view = read_view(view_of(added, "OKS", None))
    marked = [value == "True" for value in view["truth"]["ignored"]]
    assert sum(marked) == matches.attrs["crowds"] > 0
    assert None not in view["truth"]["x_nose"]


def test_columns_that_cannot_be_shown_are_told() -> None:
    truth, predictions = many(1, 50, 110)
    matches = sf.match(truth, predictions).assign(
        truth_tags=lambda table: [["a"]] * len(table),
        truth_many=lambda table: [f"text {row}" for row in range(len(table))],
        **{"predicted___proto__": "p", "truth_constructor": 1.5, "truth_left": 0.12345, "predicted_kind": "mine"},
    )
    assert len(matches) > MOST_TEXTS
    view = view_of(together({"one": matches}), DISTANCE, 10.0)
    assert view.left_out == ["truth_tags", "truth_many"]
    tables = read_view(view)
    assert {"object", "x", "y", "constructor", "left"} == {*tables["truth"]}
    assert {*tables["truth"]["left"]} == {0.12345}, "only coordinates are rounded"
    assert {*tables["submissions"]["one"]["predicted"]} == {"object", "x", "y", "score", "__proto__", "predicted_kind"}


def test_names_may_be_text_and_large() -> None:
    truth = objects([("__proto__", 2**60 + 1, 5, 5)]).assign(object=["constructor"])
    claims = objects([("__proto__", 2**60 + 1, 5, 5)]).assign(object=[2**60 + 1])
    view = seen({"__proto__": sf.match(truth, claims)})
    assert view["sequences"]["name"] == ["__proto__"]
    assert view["frames"]["frame"] == [str(2**60 + 1)]
    assert view["truth"]["object"] == ["constructor"]
    assert view["submissions"]["__proto__"]["predicted"]["object"] == [str(2**60 + 1)]


def moved(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(truth_x=table["truth_x"] + 1)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (moved, ("other", "6 truths")),
        (lambda table: table.drop(index=1), ("other", "1 truth")),
        (lambda table: table[::-1], ("other", "another order")),
        (lambda table: table.assign(truth_object=9), ("other", "6 truths")),
    ],
    ids=["moved", "fewer", "turned around", "named otherwise"],
)
def test_tables_of_different_truths_are_refused(change: Any, place: tuple[str, str]) -> None:
    matches = sf.match(tiny()[0], tiny()[1])
    with refused(place):
        view_of(together({"one": matches, "other": change(matches)}), DISTANCE, 10.0)


def test_a_table_without_geometry_is_refused() -> None:
    matches = together({"one": sf.match(tiny()[0], tiny()[1])})
    with refused(*(f"match table: column {side}_{axis}" for side in ("truth", "predicted") for axis in "xy")):
        view_of(matches[["sequence", "frame", "outcome", "submission"]], DISTANCE, 10.0)


def test_the_measure_of_pairs_may_be_missing() -> None:
    view = seen({"one": sf.match(tiny()[0], tiny()[1]).drop(columns="distance")})
    assert [*view["submissions"]["one"]["pairs"]] == ["pair"]


def test_the_same_rows_in_another_order_give_the_same_view() -> None:
    truth, predictions = many(3)
    matches = together({"one": sf.match(truth, predictions)})
    order = np.lexsort([np.arange(len(matches)), -matches["sequence"].to_numpy()])
    one, other = (view_of(table, DISTANCE, 10.0) for table in (matches, matches.take(order)))
    assert isinstance(one, View)
    assert one == other


@pytest.mark.parametrize("tau", [1e-6, 1.0, 1e6])
def test_coordinates_of_any_scale_are_exact_enough(tau: float) -> None:
    truth, predictions = many(2)
    scaled = [side.assign(x=side["x"] * tau, y=side["y"] * tau) for side in (truth.objects, predictions)]
    with warnings.catch_warnings(action="ignore"):
        matches = sf.match(*scaled, tau=10 * tau, epsilon=3 * tau)
    view = seen({"one": matches}, 10 * tau)
    expected = matches["truth_x"].dropna().tolist()
    assert view["truth"]["x"] == pytest.approx(expected, abs=0.01 * tau)
