"""COCO's results, KITTI's and YOLO's label files: what is written is read back, by the readers and by official kits."""

import json
import zipfile
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from trackeval.datasets import Kitti2DBox

import spotgeo_frames as sf
from helpers.problems import refused
from helpers.reference import PROJECT

COCO_DATA = PROJECT / "data" / "coco"


def boxes(n_rows: int = 3, **columns: Any) -> pd.DataFrame:
    """Boxes of one sequence, an object more in each frame."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "sequence": "a",
            "frame": np.arange(n_rows) + 1,
            "object": np.arange(n_rows),
            **dict(zip(("x", "y", "w", "h"), rng.uniform(1, 50, (4, n_rows)), strict=True)),
            "category": ["car", "bus", "car"][:n_rows],
        }
    )
    return table.assign(**columns)


def official(results: Path) -> np.ndarray:
    with redirect_stdout(StringIO()):
        truth = COCO(COCO_DATA / "annotations.json")
        evaluated = COCOeval(truth, truth.loadRes(str(results)), "bbox")
        evaluated.evaluate()
        evaluated.accumulate()
        evaluated.summarize()
    return evaluated.stats


def test_results_of_coco_are_what_pycocotools_takes(tmp_path: Path) -> None:
    truth, found = sf.read_coco(COCO_DATA / "annotations.json", COCO_DATA / "precise.json", boxes=True)
    path = tmp_path / "results.json"
    sf.write_coco_results(found, path, COCO_DATA / "annotations.json")
    np.testing.assert_array_equal(official(path), official(COCO_DATA / "precise.json"))
    again = sf.read_coco(COCO_DATA / "annotations.json", path, boxes=True)[1]
    pd.testing.assert_frame_equal(
        again.objects, found.objects.drop(columns=[c for c in found.objects if c not in again.objects])
    )
    names = dict(
        zip(
            *zip(
                *((c["name"], c["id"]) for c in json.loads((COCO_DATA / "annotations.json").read_text())["categories"]),
                strict=True,
            ),
            strict=True,
        )
    )
    sf.write_coco_results(found.objects, tmp_path / "b.json.gz", categories=names)
    pd.testing.assert_frame_equal(
        sf.read_coco(COCO_DATA / "annotations.json", tmp_path / "b.json.gz", boxes=True)[1].objects, again.objects
    )
    assert truth.frames is not None


def annotations_of(path: Path, *images: tuple[Any, str]) -> Path:
    listed = [{"id": one, "file_name": name, "width": 9, "height": 9} for one, name in images]
    path.write_text(json.dumps({"images": listed, "annotations": [], "categories": [{"id": 5, "name": "car"}]}))
    return path


def test_images_of_coco_by_their_names(tmp_path: Path) -> None:
    truth = annotations_of(tmp_path / "t.json", (7, "day/a.jpg"), (8, "b.jpg"), (9, "8.jpg"))
    for name, expected in {"day/a": 7, "day/a.jpg": 7, "b.jpg": 8, "7": 7}.items():
        sf.write_coco_results(boxes(1, sequence=name, score=0.5), tmp_path / "r.json", truth)
        [row] = json.loads((tmp_path / "r.json").read_text())
        assert (row["image_id"], row["category_id"], row["score"]) == (expected, 5, 0.5)
    sf.write_coco_results(boxes(1, sequence=8, score=0.5), tmp_path / "r.json", truth)
    assert json.loads((tmp_path / "r.json").read_text())[0]["image_id"] == 8
    with refused(("annotations: sequence '8'", "id")):
        sf.write_coco_results(boxes(1, sequence="8", score=0.5), tmp_path / "r.json", truth)
    with refused(("annotations: image", "c")):
        sf.write_coco_results(boxes(1, sequence="c", score=0.5), tmp_path / "r.json", truth)
    with refused(("annotations: category", "bus")):
        sf.write_coco_results(boxes(1, sequence="b", score=0.5, category="bus"), tmp_path / "r.json", truth)


def test_what_results_of_coco_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    with refused("annotations: column score"):
        sf.write_coco_results(boxes(1), path, categories={"car": 1})
    with refused("annotations: column w", "annotations: column h"):
        sf.write_coco_results(boxes(1, score=1.0).drop(columns=["w", "h"]), path, categories={"car": 1})
    with refused(("annotations: sequence a", "frames")):
        sf.write_coco_results(boxes(score=1.0), path, categories={"car": 1, "bus": 2})
    with refused("write_coco_results: categories"):
        sf.write_coco_results(boxes(1, score=1.0), path)
    with refused("write_coco_results: the column category"):
        sf.write_coco_results(boxes(1, score=1.0).drop(columns="category"), path, categories={"car": 1})
    with refused("write_coco_results: truth_path"):
        sf.write_coco_results(boxes(1, score=1.0), path, COCO_DATA / "annotations.json", categories={"car": 1})
    assert not path.exists()


def test_ids_of_categories_in_results_of_coco(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    given = boxes(1, score=1.0)
    sf.write_coco_results(given, path, categories={"car": np.int64(7)})  # type: ignore[dict-item]
    assert json.loads(path.read_text())[0]["category_id"] == 7
    path.unlink()
    ids: list[Any] = ["7", 2.5, None, True, 1 << 99, "x" * 10_000]
    for wrong in (["car"], "car", 5, *({"car": one} for one in ids)):
        with refused("write_coco_results: categories"):
            sf.write_coco_results(given, path, categories=wrong)
    assert not path.exists()


def test_kitti_of_images(tmp_path: Path) -> None:
    table = boxes(1, occluded=2.0, truncated=np.nan, location_x=-1.25, sequence="000007")
    crowd = boxes(1, crowd=True, category=None, object=9, sequence="000007")
    given = pd.concat([table.assign(crowd=False), crowd])
    frames = pd.DataFrame({"sequence": ["000007", "000008"], "frame": 1})
    sf.write_kitti(sf.Annotations(given, frames), tmp_path / "a")
    again = sf.read_kitti(tmp_path / "a")
    assert again.frames is not None
    assert again.frames["sequence"].tolist() == ["000007", "000008"]
    assert again.objects["crowd"].tolist() == [False, True]
    np.testing.assert_allclose(again.objects[["x", "y", "w", "h"]], given[["x", "y", "w", "h"]])
    assert again.objects["occluded"].tolist()[0] == 2
    assert again.objects["location_x"].tolist()[0] == -1.25
    assert "truncated" not in again.objects
    assert (tmp_path / "a" / "000007.txt").read_text().splitlines()[1].startswith("DontCare -1 -1 -10 ")
    sf.write_kitti(boxes(1, score=0.125), tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.namelist() == ["a.txt"]
    assert sf.read_kitti(tmp_path / "a.zip").objects["score"].tolist() == [0.125]


def test_tracks_of_kitti_are_those_that_trackeval_reads(tmp_path: Path) -> None:
    table = pd.concat([boxes(), boxes(1, object=7), boxes(1, object=8, crowd=True, category=None)]).fillna(
        {"crowd": False}
    )
    table = table.astype({"crowd": bool}).replace({"category": {"car": "Car", "bus": "Van"}})
    sf.write_kitti(table, tmp_path / "label_02", tracking=True)
    sf.write_kitti(table[~table["crowd"]].assign(score=0.5), tmp_path / "mine" / "data", tracking=True)
    (tmp_path / "evaluate_tracking.seqmap.training").write_text("a empty 000000 000004\nb empty 0 1")
    (tmp_path / "label_02" / "b.txt").write_text("")
    (tmp_path / "mine" / "data" / "b.txt").write_text("")
    config = {
        "GT_FOLDER": str(tmp_path),
        "TRACKERS_FOLDER": str(tmp_path),
        "TRACKERS_TO_EVAL": ["mine"],
        "PRINT_CONFIG": False,
    }
    raw = Kitti2DBox(config).get_raw_seq_data("mine", "a")
    assert [len(ids) for ids in raw["tracker_ids"]] == [0, 2, 1, 1]
    assert len(raw["gt_crowd_ignore_regions"][1]) == 1
    again = sf.read_kitti(tmp_path / "label_02").objects
    assert again[["frame", "object"]].to_numpy().tolist() == [[1, 0], [1, 7], [1, -1], [2, 1], [3, 2]]


def test_what_kitti_cannot_tell(tmp_path: Path) -> None:
    for category in ("traffic light", None, ""):
        with refused("annotations: column category"):
            sf.write_kitti(boxes(1, category=category), tmp_path / "a")
    with refused("annotations: column category"):
        sf.write_kitti(boxes(1).drop(columns="category"), tmp_path / "a")
    with refused(("annotations: sequence a", "frames")):
        sf.write_kitti(boxes(), tmp_path / "a")
    with refused("annotations: sequence '../a'"):
        sf.write_kitti(boxes(1, sequence="../a"), tmp_path / "a")
    with refused("annotations: column object"):
        sf.write_kitti(boxes(1, object="x"), tmp_path / "a", tracking=True)
    with refused("annotations: column occluded"):
        sf.write_kitti(boxes(1, occluded="much"), tmp_path / "a")
    with refused("annotations: frames"):
        sf.write_kitti(boxes(1, frame=-1), tmp_path / "a", tracking=True)
    with refused("annotations: there are no frames"):
        sf.write_kitti(boxes(0), tmp_path / "a")
    assert not (tmp_path / "a").exists()


def write_kitti(table: pd.DataFrame, folder: Path) -> None:
    sf.write_kitti(table, folder, tracking=True)


def write_yolo(table: pd.DataFrame, folder: Path) -> None:
    sf.write_yolo(table, folder, image_size=(100, 100), videos=True)


def write_coco_results(table: pd.DataFrame, folder: Path) -> None:
    images = table.assign(sequence=np.where(table["frame"] == 1, "a", table["frame"].astype(str)), frame=1, score=0.5)
    sf.write_coco_results(images, folder, categories={"car": 1, "bus": 2})


def write_tracker(table: pd.DataFrame, folder: Path) -> None:
    sf.write_motchallenge(table, folder)


@pytest.mark.parametrize("write", [write_kitti, write_yolo, write_coco_results, write_tracker])
def test_marks_that_files_cannot_tell(tmp_path: Path, write: Callable[[pd.DataFrame, Path], None]) -> None:
    some = [True, False, True]
    for mark in ("crowd", "ignore"):
        for values in (some, np.array(some, float), pd.array(some, "boolean"), np.array(some, object)):
            with refused((f"annotations: column {mark}", "2 rows", "sequence a, frame 1, object 0")):
                write(boxes(**{mark: values}), tmp_path / "a")
        for wrong in ("no", None, 2):
            with refused((f"annotations: column {mark}", "3 rows")):
                write(boxes(**{mark: wrong}), tmp_path / "a")
        with refused((f"annotations: column {mark}", "1 row")):
            write(boxes(**{mark: pd.array([False, None, False], "boolean")}), tmp_path / "a")
        assert not (tmp_path / "a").exists()
        write(boxes(**{mark: pd.array([False] * 3, "boolean")}), tmp_path / mark)
    assert (tmp_path / "crowd").exists()
    with refused("annotations: column crowd", "annotations: column ignore"):
        write(boxes(crowd=[True, False, False], ignore=some), tmp_path / "a")


def test_crowds_of_kitti_are_regions_whatever_marks_they_are_of(tmp_path: Path) -> None:
    """Whether a crowd is ignored is no matter, so that may be null."""
    crowd = boxes(2, crowd=pd.array([True, False], "boolean"), category=[None, "Car"], ignore=[None, False])
    sf.write_kitti(crowd, tmp_path, tracking=True)
    assert sf.read_kitti(tmp_path).objects["crowd"].tolist() == [True, False]
    sf.write_kitti(crowd.assign(category=["DontCare", "Car"]), tmp_path, tracking=True)
    assert sf.read_kitti(tmp_path).objects["crowd"].tolist() == [True, False]


@pytest.mark.parametrize("identities", [False, True])
def test_yolo_of_videos(tmp_path: Path, identities: bool) -> None:
    frames = pd.DataFrame({"sequence": "a", "frame": [1, 2, 3, 4], "width": 640.0, "height": [480.0, 360, 480, 480]})
    given = boxes(score=[0.5, 0.25, 1])
    sf.write_yolo(sf.Annotations(given, frames), tmp_path / "a", videos=True, identities=identities)
    again = sf.read_yolo(tmp_path / "a", frames=frames, videos=True, identities=identities)
    np.testing.assert_allclose(again.objects[["x", "y", "w", "h", "score"]], given[["x", "y", "w", "h", "score"]])
    assert again.objects["category"].tolist() == ["car", "bus", "car"]
    assert again.objects["object"].tolist() == ([0, 1, 2] if identities else [1, 1, 1])
    assert (tmp_path / "a" / "classes.txt").read_text() == "bus\ncar\n"
    assert (tmp_path / "a" / "a" / "000004.txt").read_text() == ""


def test_yolo_of_images(tmp_path: Path) -> None:
    given = boxes(1, sequence="street/b")
    sf.write_yolo(given, tmp_path / "a", ["person", "car"], image_size=(100, 200))
    assert (tmp_path / "a" / "street" / "b.txt").read_text().startswith("1 ")
    again = sf.read_yolo(tmp_path / "a", image_size=(100, 200))
    np.testing.assert_allclose(again.objects[["x", "y", "w", "h"]], given[["x", "y", "w", "h"]])
    assert again.objects[["sequence", "category"]].to_numpy().tolist() == [["street/b", "car"]]
    sf.write_yolo(given, tmp_path / "b", {3: "car"}, image_size=(100, 200))
    assert not (tmp_path / "b" / "classes.txt").exists()


@pytest.mark.parametrize("kind", ["int64", "Int64", "category", "float64", "object"])
def test_classes_that_are_numbers_stay_the_same_in_yolo(tmp_path: Path, kind: str) -> None:
    given = boxes(category=pd.Series([3, 7, 3]).astype(kind))
    write_yolo(given, tmp_path)
    again = sf.read_yolo(tmp_path, image_size=(100, 100), videos=True)
    assert again.objects["category"].tolist() == [3, 7, 3]
    assert not (tmp_path / "classes.txt").exists()
    sf.write_yolo(boxes(1, category=0), tmp_path / "b", image_size=(100, 100))
    assert [file.name for file in (tmp_path / "b").iterdir()] == ["a.txt"]


def test_classes_that_yolo_cannot_have(tmp_path: Path) -> None:
    for values in ([-1, 3, 3], [2.5, 3, 3], [1e300, 3, 3], np.array([3, "car", "car"], object)):
        with refused("annotations: column category"):
            write_yolo(boxes(category=values), tmp_path / "a")
    with refused(("annotations: category", "names")):
        write_yolo(boxes(category=pd.array([3, None, 3], "Int64")), tmp_path / "a")
    for name in ("a\nb", "car\n", "a\u2028b", "", " "):
        with refused("annotations: column category"):
            write_yolo(boxes(category=name), tmp_path / "a")
        with refused("write_yolo: names"):
            sf.write_yolo(boxes(1), tmp_path / "a", ["car", name], image_size=(100, 100))
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("identities", [False, True])
def test_tracks_need_identities(tmp_path: Path, identities: bool) -> None:
    """Rows that were numbered follow no object; a column that could be one is named."""
    bare = boxes().drop(columns="object")
    given = bare.assign(track_id=7) if identities else bare
    place = ("annotations: column object is missing", *(["tidy"] if identities else []))
    with refused(place):
        sf.write_kitti(given, tmp_path / "a", tracking=True)
    with refused(place):
        sf.write_yolo(given, tmp_path / "a", image_size=(100, 100), videos=True, identities=True)
    for truth in (False, True):
        with refused(place):
            sf.write_motchallenge(given, tmp_path / "a", truth=truth)
    assert not (tmp_path / "a").exists()
    write_yolo(given, tmp_path / "a")
    sf.write_kitti(given.iloc[:1], tmp_path / "b")


def test_what_yolo_cannot_tell(tmp_path: Path) -> None:
    size: dict[str, Any] = {"image_size": (100, 100)}
    with refused(("annotations: category", "names")):
        sf.write_yolo(boxes(1), tmp_path / "a", ["person"], **size)
    with refused(("annotations: category", "names")):
        sf.write_yolo(boxes(1, category=None), tmp_path / "a", **size)
    with refused(("annotations: column crowd", "1 row", "sequence a, frame 1, object 0")):
        sf.write_yolo(boxes(1, crowd=True), tmp_path / "a", **size)
    with refused("write_yolo"):
        sf.write_yolo(boxes(1), tmp_path / "a")
    with refused("write_yolo: image_size"):
        sf.write_yolo(boxes(1), tmp_path / "a", image_size=(0, 1))
    with refused("annotations: column object"):
        sf.write_yolo(boxes(1, object="x"), tmp_path / "a", identities=True, **size)
    with refused("annotations: sequence 'classes'"):
        sf.write_yolo(boxes(1, sequence="classes"), tmp_path / "a", **size)
    with refused("annotations: column category"):
        sf.write_yolo(boxes(1).drop(columns="category"), tmp_path / "a", **size)
    frames = pd.DataFrame({"sequence": ["b"], "frame": [1], "width": [9.0], "height": [9.0]})
    with refused("annotations: frame 1"):
        sf.write_yolo(sf.Annotations(boxes(1), frames), tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_other_kinds_of_tables(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    sf.write_kitti(pl.from_pandas(boxes(1)), tmp_path / "a")
    assert len(sf.read_kitti(tmp_path / "a", table="polars").objects) == 1
