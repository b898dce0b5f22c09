"""Coordinates and sizes whose squares leave float64 are refused wherever tables come in."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused

BOXES = pd.DataFrame({"sequence": 1, "frame": 1, "object": [0, 1], "x": 10.0, "y": 5.0, "w": 4.0, "h": 4.0})
FAR = [1e150, -1e200, 1e308]


def with_far(column: str, far: float) -> pd.DataFrame:
    return BOXES.assign(**{column: [1.0, far]})


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("column", ["x", "y", "w", "h"])
def test_of_tables(column: str, far: float, tmp_path: Path) -> None:
    table = with_far(column, far)
    with refused((f"truth: column {column}", "1 row", "1e+149 px", "sequence 1, frame 1, object 1")):
        sf.match(table, BOXES)
    table.to_parquet(tmp_path / "some.parquet")
    with refused((f"{tmp_path / 'some.parquet'}: column {column}", "1 row")):
        sf.read_objects(tmp_path / "some.parquet")
    with refused((f"{tmp_path / 'some.parquet'}: column {column}", "1 row")):
        sf.score_dataset(tmp_path / "some.parquet", tmp_path / "some.parquet")


@pytest.mark.parametrize("far", FAR)
def test_of_batches(far: float) -> None:
    keys = {"sequence": np.array([1]), "frame": np.array([1])}
    near, gone = ({**keys, "boxes": np.array([[0.0, 0.0, width, 4.0]])} for width in (4.0, far))
    accumulator = sf.Accumulator()
    with refused(("predictions: column w", "1 row")):
        accumulator.update(near, gone)


def test_of_joints() -> None:
    joints = BOXES.drop(columns=["w", "h"]).assign(joint=["nose", "ear"], head_size=9.0, x=[0.0, 1e150])
    with refused(("truth: column x", "joint ear")):
        sf.match(joints, joints)
    joints = joints.assign(x=0.0, head_size=[9.0, 1e150])
    with refused(("truth: column head_size", "1 row", "1e+149")):
        sf.pose(joints, joints)


def test_of_areas() -> None:
    areas = BOXES.assign(area=[1e298, 1e299])
    with refused(("truth: column area", "1 row", "1e+298")):
        sf.average_precision(areas, BOXES.assign(score=1.0))


def test_of_the_competition(tmp_path: Path) -> None:
    entry = {"sequence_id": 1, "frame": 1, "num_objects": 1, "object_coords": [[1e150, 0]]}
    (tmp_path / "some.json").write_text(json.dumps([entry]))
    with refused((f"{tmp_path / 'some.json'}: [0].object_coords[0][0]", "too large")):
        sf.read_spotgeo(tmp_path / "some.json")


@pytest.mark.parametrize("boxes", [True, False])
def test_of_coco(tmp_path: Path, boxes: bool) -> None:
    geometry: dict[str, Any] = (
        {"bbox": [0, 0, 1e150, 1]} if boxes else {"keypoints": [1e150, 0, 2], "bbox": [0, 0, 1, 1]}
    )
    annotation = {"id": 7, "image_id": 3, "category_id": 1, "area": 1, **geometry}
    category = {"id": 1, "name": "person", "keypoints": ["nose"]}
    truth = {"images": [{"id": 3}], "annotations": [annotation], "categories": [category]}
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "results.json").write_text("[]")
    with refused(
        (f"{tmp_path / 'truth.json'}: column {'w' if boxes else 'x'}", "1 row", "sequence 3, frame 1, object 7")
    ):
        sf.read_coco(tmp_path / "truth.json", tmp_path / "results.json", boxes)


def test_of_tracks(tmp_path: Path) -> None:
    for folder in ("truth", "tracker"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "A.txt").write_text("1,1,1e150,2,3,4,1,1,1\n")
    files = [tmp_path / side / "A.txt" for side in ("truth", "tracker")]
    with refused(*((f"{file}, line 1", "x", "too large") for file in files)):
        sf.read_motchallenge(tmp_path / "truth", tmp_path / "tracker")


@pytest.mark.parametrize(
    "words", [{"tau": 1e150}, {"tau": 1e150, "similarity": "point"}, {"epsilon": 1e150, "tau": 1e151}]
)
def test_of_tau(words: dict[str, Any]) -> None:
    with refused(("tau is", "1e+149"), error=ValueError):
        sf.match(BOXES, BOXES, **words)
    sf.match(BOXES, BOXES, tau=1e149)
