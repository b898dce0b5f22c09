"""Attributes of COCO's images: a column each, in time and memory that the file justifies."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from spotgeo_frames.formats import coco_attributes
from spotgeo_frames.support.pandas_tables import TEXT


def frames_of(folder: Path, images: list[dict[str, Any]]) -> pd.DataFrame:
    document = {"images": images, "annotations": [], "categories": [{"id": 1, "name": "car"}]}
    (folder / "truth.json").write_text(json.dumps(document))
    (folder / "results.json").write_text("[]")
    frames = sf.read_coco(folder / "truth.json", folder / "results.json", boxes=True)[0].frames
    assert frames is not None
    return frames


def test_each_attribute_is_a_column_of_its_type(tmp_path: Path) -> None:
    images = [
        {"id": 1, "night": True, "rain": False, "speed": 3, "place": "a", "mixed": 1, "tags": ["x"], "nothing": None},
        {"id": 2, "night": False, "speed": None, "mixed": "b", "joint": "left", "huge": 10**400},
        {"id": 3, "night": True, "speed": 2.5, "place": "c", "mixed": True, "tags": "y", "huge": -(10**400)},
    ]
    frames = frames_of(tmp_path, images)
    wanted = pd.DataFrame(
        {
            "night": [True, False, True],
            "rain": pd.array([False, None, None], dtype="boolean"),
            "speed": [3.0, np.nan, 2.5],
            "place": ["a", None, "c"],
            "mixed": ["1", "b", "True"],
            "image_joint": [None, "left", None],
            "huge": [np.nan, np.inf, -np.inf],
        }
    ).astype(dict.fromkeys(["place", "mixed", "image_joint"], TEXT))
    pd.testing.assert_frame_equal(frames.drop(columns=["sequence", "frame", "width", "height", "file_name"]), wanted)


def test_an_attribute_of_its_own_for_each_image_is_read_at_once(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    """pandas warns of columns that are added one after another, which takes it ever longer."""
    frames = frames_of(tmp_path, [{"id": i, f"own_{i}": i, f"text_{i}": "t"} for i in range(600)])
    assert frames.shape == (600, 1205)
    assert frames["own_599"].tolist()[-2:] == pytest.approx([np.nan, 599], nan_ok=True)
    assert frames["text_7"].notna().sum() == 1
    assert not recwarn.list


def test_more_empty_cells_than_anyone_needs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coco_attributes, "MOST_CELLS", 10_000)
    place = f"{tmp_path / 'truth.json'}: images"
    assert frames_of(tmp_path, [{"id": i, f"own_{i % 100}": i} for i in range(200)]).shape == (200, 105)
    with refused((place, "300", "90,000")):
        frames_of(tmp_path, [{"id": i, f"own_{i}": i} for i in range(300)])
    monkeypatch.setattr(coco_attributes, "MOST_ATTRIBUTES", 99)
    with refused((place, "100", "200")):
        frames_of(tmp_path, [{"id": i, f"own_{i % 100}": i} for i in range(200)])
