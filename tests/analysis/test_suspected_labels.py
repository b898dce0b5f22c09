"""label_suspects(): labels that may be wrong, and files of them for tools in which people label."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.explorers import Browser
from helpers.problems import refused
from helpers.scenes import objects, squares
from spotgeo_frames.support.run_lengths import encoded, runs_of_images

pytestmark = pytest.mark.filterwarnings("ignore:average_precision")


def told(suspects: Any, *columns: str) -> list[tuple[Any, ...]]:
    """The suspicion and some columns of each suspect, None for null."""
    table = suspects if isinstance(suspects, pd.DataFrame) else suspects.to_pandas()
    rows = table[["suspicion", *columns]].astype(object)
    return list(rows.where(rows.notna(), None).itertuples(index=False, name=None))


LABELS = ("truth_object", "other_truth_object", "predicted_object")

# Squares of width 10 by IoU from 0.5 on: (truths, detections with scores, what is suspected with the objects).
SCENES: dict[str, tuple[list[Any], list[Any], list[Any]]] = {
    "all is well": ([(0, "cat")], [(1, "cat", 0.9)], []),
    "a label is missing": (
        [(0, "cat")],
        [(0, "cat", 0.9), (50, "cat", 0.8)],
        [("unlabelled", None, None, 2)],
    ),
    "the score is too low": ([(0, "cat")], [(0, "cat", 0.9), (50, "cat", 0.4)], []),
    "the score is just high enough": (
        [(0, "cat")],
        [(0, "cat", 0.9), (50, "cat", 0.5)],
        [("unlabelled", None, None, 2)],
    ),
    "the class is another": ([(0, "cat")], [(1, "dog", 0.9)], [("other_class", 1, None, 1)]),
    "the class is another, unsurely": ([(0, "cat")], [(1, "dog", 0.4)], []),
    "nothing was found": ([(0, "cat")], [(50, "cat", 0.4)], [("never_found", 1, None, None)]),
    "found with a low score": ([(0, "cat")], [(0, "cat", 0.1)], []),
    "labelled twice": (
        [(0, "cat"), (2, "cat")],
        [(0, "cat", 0.9)],
        [("twice", 1, 2, None)],
    ),
    "labelled twice by two classes": ([(0, "cat"), (2, "dog")], [(0, "cat", 0.9), (2, "dog", 0.8)], []),
    "labels side by side": ([(0, "cat"), (5, "cat")], [(0, "cat", 0.9), (5, "cat", 0.8)], []),
    "three labels of one object are three pairs": (
        [(0, "cat"), (1, "cat"), (3, "cat")],
        [(0, "cat", 0.9)],
        [("twice", 1, 2, None), ("twice", 2, 3, None), ("twice", 1, 3, None)],
    ),
    "the highest score first, and kinds in their order": (
        [(0, "cat"), (100, "cat"), (101, "cat"), (200, "cat")],
        [(50, "cat", 0.6), (0, "dog", 0.9), (60, "cat", 0.7), (100, "cat", 0.8)],
        [
            ("unlabelled", None, None, 3),
            ("unlabelled", None, None, 1),
            ("other_class", 1, None, 2),
            ("twice", 2, 3, None),
            ("never_found", 4, None, None),
        ],
    ),
}


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("evaluate", [sf.match, sf.average_precision])
def test_boxes_by_hand(name: str, evaluate: Any) -> None:
    truth, found, expected = SCENES[name]
    suspects = sf.label_suspects(evaluate(squares(*truth), squares(*found)), score_threshold=0.5)
    assert told(suspects, *LABELS) == expected
    assert suspects["look_at"].str.endswith("?").all()


def test_columns_and_sentences() -> None:
    truth, found, _ = SCENES["the highest score first, and kinds in their order"]
    suspects = sf.label_suspects(sf.match(squares(*truth), squares(*found)), score_threshold=0.5)
    assert [*suspects] == [
        *("suspicion", "sequence", "frame", "truth_object", "truth_category", "other_truth_object"),
        *("predicted_object", "predicted_category", "score", "similarity", "x", "y", "w", "h", "look_at"),
    ]
    assert suspects["x"].tolist() == [60, 50, 0, 100, 200]
    assert suspects["similarity"].fillna(-1).tolist() == pytest.approx([-1, -1, 1, 9 / 11, -1])
    assert suspects["look_at"].tolist() == [
        "A detection of cat (score 0.70) has no label near it: is one missing?",
        "A detection of cat (score 0.60) has no label near it: is one missing?",
        "Label 1 says cat, and a detection on it says dog (score 0.90): which is right?",
        "Labels 2 and 3 of cat would match each other (similarity 0.818): are they one object?",
        "No detection is near label 4 of cat: is there an object?",
    ]
    assert suspects.attrs["score_threshold"] == 0.5
    assert suspects.attrs["rule"] == "iou"


@pytest.mark.filterwarnings("ignore:.*at no score are 90%:UserWarning")
@pytest.mark.parametrize("evaluate", [sf.match, sf.average_precision])
def test_classes_that_are_integers_stay_integers(evaluate: Any) -> None:
    sides = [squares(*rows).astype({"category": int}) for rows in ([(0, 3), (90, 2)], [(0, 5, 0.9)])]
    suspects = sf.label_suspects(evaluate(*sides))
    assert told(suspects, "truth_category", "predicted_category") == [("other_class", 3, 5), ("never_found", 2, None)]
    assert suspects["look_at"].tolist() == [
        "Label 1 says 3, and a detection on it says 5 (score 0.90): which is right?",
        "No detection is near label 2 of 2: is there an object?",
    ]


def test_thresholds_of_average_precision() -> None:
    """Squares 2 px apart have an IoU of 8 / 12."""
    result = sf.average_precision(squares((0, "cat"), (2, "cat")), squares((0, "cat", 0.9)))
    assert len(sf.label_suspects(result)) == 1
    assert told(sf.label_suspects(result, 0.7)) == [("never_found",)]
    with refused("threshold", error=ValueError):
        sf.label_suspects(result, 0.51)


def scored(*rows: tuple[float, float]) -> pd.DataFrame:
    """Detections of cats at these places with these scores, beside truths at 0, 100, 200 ... 900."""
    return squares(*((x, "cat", score) for x, score in rows))


TEN = squares(*((100.0 * place, "cat") for place in range(10)))


def test_confident_detections_are_mostly_right() -> None:
    """Nine hits and a false alarm are right enough, nine hits and two are not; equal scores are above it together."""
    hits = [(100.0 * place, 0.9) for place in range(9)]
    suspects = sf.label_suspects(sf.match(TEN, scored(*hits, (50, 0.8), (150, 0.7))))
    assert suspects.attrs["score_threshold"] == 0.8
    assert told(suspects, "x") == [("unlabelled", 50), ("never_found", 900)]
    suspects = sf.label_suspects(sf.match(TEN, scored(*hits, (50, 0.8), (150, 0.8))))
    assert suspects.attrs["score_threshold"] == 0.9
    assert told(suspects) == [("never_found",)]


def test_where_no_score_is_good_enough_all_are_taken() -> None:
    with pytest.warns(UserWarning, match=r"label_suspects: x: at no score are 90% .* score_threshold="):
        suspects = sf.label_suspects(sf.match(TEN, scored((50, 0.8), (0, 0.7))))
    assert suspects.attrs["score_threshold"] is None
    assert told(suspects, "x")[0] == ("unlabelled", 50)


def test_without_scores_all_detections_are_taken() -> None:
    matches = sf.match(TEN, scored((50, 0.8)).drop(columns="score"))
    suspects = sf.label_suspects(matches)
    assert told(suspects, "x", "score")[0] == ("unlabelled", 50, None)
    assert suspects["look_at"][0] == "A detection of cat has no label near it: is one missing?"
    with refused(("label_suspects: x", "predicted_score", "score_threshold")):
        sf.label_suspects(matches, score_threshold=0.5)


def test_never_found_means_by_no_submission() -> None:
    truth = squares((0, "cat"), (50, "cat"), (100, "cat"), (102, "cat"))
    one = squares((0, "cat", 0.9), (200, "cat", 0.6), (102, "cat", 0.5))
    other = squares((300, "cat", 0.7), (2, "dog", 0.1), (102, "cat", 0.5))
    for evaluate in (sf.match, sf.average_precision):
        suspects = sf.label_suspects(
            {"one": evaluate(truth, one), "other": evaluate(truth.iloc[::-1], other)}, score_threshold=0.5
        )
        assert told(suspects, "submission", "truth_object", "x") == [
            ("unlabelled", "other", None, 300),
            ("unlabelled", "one", None, 200),
            ("twice", None, 3, 100),
            ("never_found", None, 2, 50),
        ]
        assert suspects.attrs["score_threshold"] == {"one": 0.5, "other": 0.5}


def test_points_by_distance() -> None:
    truth = objects([(1, 1, 0.0, 0.0), (1, 1, 6.0, 8.0), (1, 2, 0.0, 0.0), (1, 1, 500.0, 0.0)])
    found = objects([(1, 1, 0.0, 0.0), (1, 2, 300.0, 0.0)]).assign(score=0.9)
    suspects = sf.label_suspects(sf.match(truth, found, tau=10), score_threshold=0.5)
    assert told(suspects, "frame", "truth_object", "distance", "x", "y") == [
        ("unlabelled", 2, None, None, 300, 0),
        ("twice", 1, 0, 10, 0, 0),
        ("never_found", 1, 2, None, 500, 0),
        ("never_found", 2, 0, None, 0, 0),
    ]
    assert suspects["look_at"][1] == "Labels 0 and 1 would match each other (distance 10): are they one object?"
    assert "truth_category" not in suspects


def of_sky(*places: float) -> pd.DataFrame:
    return pd.DataFrame({"ra": places, "dec": 0.0})


def of_oriented(*places: float) -> pd.DataFrame:
    return pd.DataFrame({"cx": places, "cy": 0.0, "w": 10.0, "h": 4.0, "angle": 30.0})


def of_masks(*places: float) -> pd.DataFrame:
    """Masks 10 pixels wide in an image of 10 by 100 pixels."""
    images = [np.zeros((10, 100), bool) for _ in places]
    for image, x in zip(images, places, strict=True):
        image[:, int(x) : int(x) + 10] = True
    return pd.DataFrame({"mask": encoded(runs_of_images(images)), "mask_h": 10, "mask_w": 100})


# A table of each geometry from places, places of two truths of one object and of another one, and of a detection.
GEOMETRIES: dict[str, tuple[Any, list[float], float, dict[str, Any]]] = {
    "space": (lambda *x: pd.DataFrame({"x": x, "y": 0.0, "z": 0.0}), [0.0, 1.0, 50.0], 90.0, {"tau": 5}),
    "sky": (of_sky, [10.0, 10.0001, 20.0], 30.0, {"tau": 1}),
    "oriented boxes": (of_oriented, [0.0, 1.0, 50.0], 90.0, {}),
    "masks": (of_masks, [0.0, 1.0, 50.0], 80.0, {}),
    "boxes by their middles": (
        lambda *x: pd.DataFrame({"x": x, "y": 0.0, "w": 4.0, "h": 4.0}),
        [0.0, 1.0, 50.0],
        90.0,
        {"tau": 5},
    ),
}


@pytest.mark.parametrize("name", GEOMETRIES)
def test_other_geometries(name: str) -> None:
    make, places, alarm, options = GEOMETRIES[name]
    truth = make(*places).assign(sequence=1, frame=1, object=[1, 2, 3])
    found = make(places[0], alarm).assign(sequence=1, frame=1, object=[1, 2], score=[0.9, 0.8])
    suspects = sf.label_suspects(sf.match(truth, found, **options), score_threshold=0.5)
    assert told(suspects, *LABELS) == [
        ("unlabelled", None, None, 2),
        ("twice", 1, 2, None),
        ("never_found", 3, None, None),
    ]
    columns = [*make(0.0)]
    assert [*suspects][-len(columns) - 1 : -1] == columns
    assert suspects[columns[0]].tolist() == make(alarm, places[0], places[2])[columns[0]].tolist()


def test_poses() -> None:
    pose = pd.DataFrame({"joint": ["hip", "knee"], "x": [0.0, 0.0], "y": [0.0, 20.0]})

    def people(*places: float, **columns: Any) -> pd.DataFrame:
        parts = [pose.assign(object=number, x=pose["x"] + x) for number, x in enumerate(places)]
        return pd.concat(parts, ignore_index=True).assign(sequence=1, frame=1, **columns)

    sigmas = {"hip": 0.1, "knee": 0.1}
    truth, found = people(0, 1, 400, area=400.0), people(0, 900, score=0.9)
    for evaluate in (sf.match, sf.average_precision):
        result = evaluate(truth, found, similarity="oks", sigmas=sigmas)
        suspects = sf.label_suspects(result, score_threshold=0.5)
        assert told(suspects, *LABELS) == [
            ("unlabelled", None, None, 1),
            ("twice", 0, 1, None),
            ("never_found", 2, None, None),
        ]
        assert suspects["x_hip"].tolist() == [900, 0, 400]
    with refused(("label_suspects: x", "joint", "oks")):
        sf.label_suspects(sf.match(truth, found))


def test_a_function_of_the_caller() -> None:
    """It is asked for again, and need not be symmetric: the nearer of both ways counts."""

    def similar(truth: pd.DataFrame, found: pd.DataFrame) -> np.ndarray:
        far = found["x"].to_numpy() - truth["x"].to_numpy()
        return np.where(far >= 0, 1 - far / 10, 0).clip(0)

    truth = squares((3, "cat"), (0, "cat"), (50, "cat"))
    matches = sf.match(truth, squares((50, "cat", 0.9)), similarity=similar, threshold=0.5)
    suspects = sf.label_suspects(matches, similarity=similar)
    assert told(suspects, *LABELS, "similarity")[0] == ("twice", 1, 2, None, pytest.approx(0.7))
    with refused(("match table", "similar", "similarity=")):
        sf.label_suspects(matches)


def test_a_registered_geometry() -> None:
    sf.geometry("onsets", ["onset"], distance=lambda truth, found: np.abs(truth["onset"] - found["onset"]))
    try:
        truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "onset": [0.0, 1.0]})
        found = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1], "onset": [90.0], "score": 0.9})
        suspects = sf.label_suspects(sf.match(truth, found, tau=5), score_threshold=0.5)
    finally:
        sf.geometry("onsets", None)
    assert told(suspects, "onset") == [("unlabelled", 90), ("twice", 0), ("never_found", 0), ("never_found", 1)]


def test_frames_of_tracks() -> None:
    """Tracks have the suspects of each frame."""
    truth = pd.concat([squares((0, "cat"), (1, "cat")).assign(frame=frame) for frame in (1, 2)])
    result = sf.track(truth, squares((0, "cat", 0.9)))
    for x in (result, result.matches):
        suspects = sf.label_suspects(x, similarity="iou", threshold=0.5)
        assert told(suspects, "frame") == [("twice", 1), ("twice", 2), ("never_found", 2), ("never_found", 2)]


def test_crowds_and_ignored_truths_are_no_suspects() -> None:
    truth = squares((0, "cat"), (1, "cat"), (50, "cat"), (51, "cat"), (100, "cat"))
    truth = truth.assign(crowd=[True, True, False, False, False], ignore=[False, False, True, True, False])
    for evaluate in (sf.match, sf.average_precision):
        assert told(sf.label_suspects(evaluate(truth, squares((100, "cat", 0.9))))) == []


@pytest.mark.parametrize("evaluate", [sf.match, sf.average_precision])
def test_nothing_there(evaluate: Any) -> None:
    """Without truths, without detections, and without either."""
    frames = pd.DataFrame({"sequence": [1], "frame": [1]})
    nothing = squares((0, "cat", 0.5)).head(0)
    truth, found = squares((0, "cat")), squares((0, "cat", 0.9))
    labels = sf.Annotations(truth.head(0), frames)
    assert told(sf.label_suspects(evaluate(truth, nothing))) == [("never_found",)]
    assert told(sf.label_suspects(evaluate(labels, found), score_threshold=0)) == [("unlabelled",)]
    assert len(sf.label_suspects(evaluate(labels, nothing))) == 0


def test_what_it_cannot_take() -> None:
    truth, found = squares((0, "cat")), squares((0, "cat", 0.9))
    matches, result = sf.match(truth, found), sf.average_precision(truth, found)
    with refused(("label_suspects: x", "outcome")):
        sf.label_suspects(matches.drop(columns="outcome"))
    with refused(("label_suspects", "no submission")):
        sf.label_suspects({})
    with refused(("label_suspects", "only one of a and b")):
        sf.label_suspects({"a": matches, "b": sf.match(squares((5, "cat")), found)})
    with refused(("label_suspects", "threshold 0.5", "threshold 0.6")):
        sf.label_suspects({"a": matches, "b": sf.match(truth, found, threshold=0.6)})
    with refused(("label_suspects: x", "instead of its matches")):
        sf.label_suspects(result.matches)
    with refused("tau", error=ValueError):
        sf.label_suspects(result, tau=3)
    with refused("score_threshold", error=ValueError):
        sf.label_suspects(matches, score_threshold=np.nan)
    with refused(("label_suspects: x", "predicted_score", "1 row is null")):
        sf.label_suspects(matches.assign(predicted_score=np.nan))
    with refused(("label_suspects: x", "predicted_score", "numbers")):
        sf.label_suspects(matches.assign(predicted_score="high"))
    with refused(("label_suspects: x", "similarity")):
        sf.label_suspects(sf.average_precision(truth, found, tau=5))


def test_the_same_kind_of_table_comes_back() -> None:
    truth, found, expected = SCENES["the highest score first, and kinds in their order"]
    sides = squares(*truth), squares(*found)
    for kind, convert in ((pl.DataFrame, pl.from_pandas), (pa.Table, pa.Table.from_pandas)):
        matches = sf.match(*map(convert, sides))
        rule = {"similarity": "iou", "threshold": 0.5} if kind is pl.DataFrame else {}
        suspects = sf.label_suspects(matches, score_threshold=0.5, **rule)
        assert isinstance(suspects, kind)
        assert told(suspects, *LABELS) == expected
        assert isinstance(sf.label_suspects({"a": matches}, score_threshold=0.5, **rule), kind)
        assert isinstance(sf.label_suspects(sf.average_precision(*map(convert, sides)), score_threshold=0.5), kind)


BOX = st.tuples(st.integers(0, 60), st.sampled_from("ab"))


@settings(max_examples=60, deadline=None)
@given(
    truth=st.lists(BOX, min_size=1, max_size=8),
    found=st.lists(st.tuples(BOX, st.integers(0, 9)), max_size=8),
    least=st.integers(0, 9),
)
def test_any_boxes_are_as_one_object_after_another(truth: Any, found: Any, least: int) -> None:
    """The suspects are those that plain loops over all pairs find, whatever the assignment was."""
    labels = squares(*truth)
    claims = squares(*((x, category, score / 10) for (x, category), score in found))
    frames = pd.DataFrame({"sequence": [1], "frame": [1]})
    matches = sf.match(sf.Annotations(labels, frames), claims)
    suspects = sf.label_suspects(matches, score_threshold=least / 10)

    def iou(one: Any, other: Any) -> float:
        shared = max(0.0, 10 - abs(one.x - other.x))
        return shared / (20 - shared)

    rows, alarms = [*labels.itertuples()], matches.loc[matches["outcome"] == "FP", "predicted_object"].tolist()
    twice = {
        (one.object, other.object)
        for place, one in enumerate(rows)
        for other in rows[place + 1 :]
        if one.category == other.category and iou(one, other) >= 0.5
    }
    is_twice = suspects["suspicion"] == "twice"
    assert {*zip(*(suspects.loc[is_twice, name] for name in LABELS[:2]), strict=True)} == twice
    sure = [row for row in claims.itertuples() if row.object in alarms and row.score >= least / 10]
    # `diagnose` has a kind `duplicate` before `confused`, where a truth of the own category is near as well.
    of_others = {
        row.object
        for row in sure
        if any(iou(row, other) >= 0.5 for other in rows if other.category != row.category)
        and not any(iou(row, other) >= 0.5 for other in rows if other.category == row.category)
    }
    assert {*suspects.loc[suspects["suspicion"] == "other_class", "predicted_object"]} == of_others
    never = {*suspects.loc[suspects["suspicion"] == "never_found", "truth_object"]}
    assert not any(iou(row, claim) >= 0.5 for row in rows if row.object in never for claim in claims.itertuples())
    unlabelled = {*suspects.loc[suspects["suspicion"] == "unlabelled", "predicted_object"]}
    assert unlabelled <= {row.object for row in sure if not any(iou(row, other) >= 0.5 for other in rows)}


FRAMES = pd.DataFrame(
    {"sequence": 1, "frame": [1, 2], "width": 400.0, "height": 100.0, "file_name": ["a/1.jpg", "a/2.jpg"]}
)


def written(suspects: Any, path: Path, form: str, frames: Any = FRAMES) -> Path:
    sf.write_suspects(suspects, path, frames, form=form)
    return path


def of_scene() -> pd.DataFrame:
    truth, found, _ = SCENES["the highest score first, and kinds in their order"]
    return sf.label_suspects(sf.match(squares(*truth), squares(*found)), score_threshold=0.5)


def test_label_studio_reads_back(tmp_path: Path) -> None:
    suspects = of_scene()
    path = written(suspects, tmp_path / "tasks.json", "label_studio")
    again = sf.read_label_studio(path, predictions=True)
    assert again.objects[[*"xywh"]].to_numpy() == pytest.approx(suspects[[*"xywh"]].to_numpy())
    assert again.objects["category"].tolist() == ["cat", "cat", "dog", "cat", "cat"]
    assert again.objects["score"].tolist() == [0.7, 0.6, 0.9, 0, 0]
    assert again.frames["file_name"].tolist() == ["a/1.jpg"]
    assert again.frames["suspicions"].tolist() == ["unlabelled, other_class, twice, never_found"]
    [task] = json.loads(path.read_text())
    assert [region["meta"]["text"] for region in task["predictions"][0]["result"]] == [
        [sentence] for sentence in suspects["look_at"]
    ]


@pytest.mark.parametrize("name", ["export", "export.zip"])
def test_fiftyone_reads_back(tmp_path: Path, name: str) -> None:
    suspects = of_scene()
    again = sf.read_fiftyone(written(pl.from_pandas(suspects), tmp_path / name, "fiftyone", pl.from_pandas(FRAMES)))
    assert again.objects[[*"xywh"]].to_numpy() == pytest.approx(suspects[[*"xywh"]].to_numpy())
    assert again.objects["suspicion"].tolist() == suspects["suspicion"].tolist()
    assert again.objects["look_at"].tolist() == suspects["look_at"].tolist()
    assert again.objects["category"].tolist() == ["cat", "cat", "dog", "cat", "cat"]
    assert again.frames["file_name"].tolist() == ["a/1.jpg"]


def test_points_in_files(tmp_path: Path) -> None:
    truth, found = objects([(1, 2, 40.0, 50.0)]), objects([(1, 1, 300.0, 10.0)])
    suspects = sf.label_suspects(sf.match(truth, found))
    tasks = json.loads(written(suspects, tmp_path / "tasks.json", "label_studio").read_text())
    assert [task["data"]["image"] for task in tasks] == ["a/1.jpg", "a/2.jpg"]
    [region] = tasks[0]["predictions"][0]["result"]
    assert region["type"] == "keypointlabels"
    assert region["value"] == {"x": 75.0, "y": 10.0, "width": 1.0, "keypointlabels": ["unlabelled"]}
    assert "score" not in region
    samples = json.loads((written(suspects, tmp_path / "export", "fiftyone") / "samples.json").read_text())["samples"]
    [label] = samples[1]["suspects"]["keypoints"]
    assert (label["points"], label["tags"]) == ([[0.1, 0.5]], ["never_found"])


def test_csv_reads_back(tmp_path: Path) -> None:
    suspects = of_scene()
    suspects.to_csv(tmp_path / "suspects.csv", index=False)
    again = pd.read_csv(tmp_path / "suspects.csv")
    assert told(again, *LABELS, "look_at") == told(suspects, *LABELS, "look_at")
    written(again, tmp_path / "tasks.json", "label_studio")


def test_no_suspects_are_written_too(tmp_path: Path) -> None:
    assert written(of_scene().head(0), tmp_path / "tasks.json", "label_studio").read_text() == "[]"


def test_what_cannot_be_written(tmp_path: Path) -> None:
    suspects, path = of_scene(), tmp_path / "tasks.json"
    with refused("form", error=ValueError):
        sf.write_suspects(suspects, path, FRAMES, form="csv")  # type: ignore[arg-type]
    oriented = suspects.rename(columns={"x": "cx", "y": "cy"}).assign(angle=0.0)
    for lacking, frames, place in (
        (oriented, FRAMES, ("write_suspects: suspects", "oriented boxes", "suspects.to_csv")),
        (suspects.drop(columns="look_at"), FRAMES, ("write_suspects: suspects", "look_at")),
        (suspects.drop(columns="x"), FRAMES, ("write_suspects: suspects", "points", "suspects.to_csv")),
        (suspects, FRAMES.drop(columns="width"), ("write_suspects: frames", "width")),
        (suspects, FRAMES.drop(columns="file_name"), ("write_suspects: frames", "file_name")),
        (suspects, FRAMES.tail(1), ("write_suspects: frames", "frame 1 of sequence 1")),
        (suspects, sf.Annotations(suspects), ("write_suspects: frames", "no frames table")),
        (suspects.assign(x=np.nan), FRAMES, ("write_suspects: suspects", "finite")),
    ):
        with refused(place):
            sf.write_suspects(lacking, path, frames, form="label_studio")
        assert not path.exists()


def test_the_viewer_shows_the_suspects() -> None:
    """The rows of the labels and of the detections pass, whatever else is in their row."""
    pytest.importorskip("anywidget")
    truth, found, _ = SCENES["the highest score first, and kinds in their order"]
    matches = sf.match(squares(*truth), squares(*found))
    browser = Browser(sf.explore(matches))
    suspects = sf.label_suspects(matches, score_threshold=0.65)
    for chosen, passing in (
        (suspects[suspects["suspicion"] == "unlabelled"], [3]),
        (suspects[suspects["suspicion"] == "other_class"], [1, 2]),
        (suspects[suspects["suspicion"] == "never_found"], [4]),
        (pl.from_pandas(suspects[suspects["suspicion"] == "twice"]), [2, 3]),
    ):
        browser.widget.filter = chosen
        content, _ = browser.told("filter")
        assert content["text"] == "chosen rows"
        rows = matches[browser.widget._passes[0]]
        named = {*rows["truth_object"].dropna(), *rows.loc[rows["outcome"] == "FP", "predicted_object"]}
        assert named == {*passing}


def test_the_viewer_shows_the_suspects_of_several() -> None:
    pytest.importorskip("anywidget")
    truth = squares((0, "cat"), (50, "cat"))
    of_each = {
        "a": sf.match(truth, squares((0, "cat", 0.9), (200, "cat", 0.6))),
        "b": sf.match(truth, squares((0, "cat", 0.9), (0, "dog", 0.2))),
    }
    widget = sf.explore(of_each)
    widget.filter = sf.label_suspects(of_each, score_threshold=0.5)
    of_a, of_b = (table[passes] for table, passes in zip(of_each.values(), widget._passes, strict=True))
    assert of_a[["truth_object", "predicted_object"]].fillna(0).to_numpy().tolist() == [[2, 0], [0, 2]]
    assert of_b["truth_object"].tolist() == [2]
    with refused(("explore: filter", "'a'", "matches")):
        sf.explore(of_each["a"]).filter = sf.label_suspects(of_each, score_threshold=0.5)
