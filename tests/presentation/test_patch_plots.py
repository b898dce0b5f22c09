"""Patches: which rows they show, in which order, how large their surroundings are, and what is cut out of pictures."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from PIL import Image

import spotgeo_frames as sf
from helpers.detectors import Detector, people
from helpers.problems import refused

mpl.use("Agg")


def boxes() -> pd.DataFrame:
    """A match table of three boxes in two frames: one found, one false alarm of another class, one missed."""
    truth = pd.DataFrame(
        {
            "sequence": "street",
            "frame": [1, 2],
            "object": [1, 1],
            "x": [100.0, 40.0],
            "y": [50.0, 30.0],
            "w": [20.0, 8.0],
            "h": [10.0, 6.0],
            "category": ["car", "a $100 car"],
        }
    )
    found = truth.iloc[[0]].assign(score=0.75, x=102.0)
    false = found.assign(object=2, x=300.0, category="van", score=0.98765)
    return sf.match(truth, pd.concat([found, false]), similarity="iou")


def test_rows_are_drawn_in_their_order_with_what_they_are() -> None:
    matches = boxes().sort_values("outcome", ascending=False, key=lambda column: column.astype(str))
    panels = sf.plots.patches(matches)
    assert [ax.get_title() for ax in panels] == [
        "found, score 0.75, IoU\n0.818, car\nstreet, frame 1",
        "false, score 0.988, van\nstreet, frame 1",
        "missed, a \\$100 car\nstreet, frame 2",
    ]
    panels[0].figure.canvas.draw()


def test_a_patch_is_twice_as_wide_as_its_object() -> None:
    found, _, missed = sf.plots.patches(
        boxes().sort_values("outcome", key=lambda of: of.map({"TP": 0, "FP": 1, "FN": 2}))
    )
    assert found.get_xlim() == (111 - 22, 111 + 22)  # both boxes together reach from 100 to 122
    assert found.get_ylim() == (55 + 22, 55 - 22)
    assert missed.get_xlim() == (44 - 8, 44 + 8)
    assert missed.get_xlabel() == "16 px wide"


def test_patches_of_points_reach_beyond_tau() -> None:
    truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [10.0, 90.0], "y": [10.0, 90.0]})
    matches = sf.match(truth, truth.iloc[[0]].assign(x=12.0), tau=5)
    found, missed = sf.plots.patches(matches)
    assert found.get_xlim() == (11 - 10, 11 + 10)
    assert missed.get_xlim() == (90 - 10, 90 + 10)


def test_pictures_are_cut_with_all_of_their_pixels(tmp_path: Path) -> None:
    """The picture is larger than what is drawn of whole frames, and one bright pixel lies in the middle of the box."""
    pixels = np.zeros((400, 3000), np.uint8)
    pixels[55, 110] = 255
    (tmp_path / "street").mkdir()
    Image.fromarray(pixels).save(tmp_path / "street" / "1.png")
    matches = boxes()
    found = matches[matches["outcome"] == "TP"]
    [ax] = sf.plots.patches(found, images=tmp_path)
    [image] = ax.images
    cut = np.asarray(image.get_array())
    [[row, column]] = np.argwhere(cut == 255).tolist()
    left, _, _, top = image.get_extent()
    assert (left + 0.5 + column, top + 0.5 + row) == (110, 55)
    assert cut.shape == (45, 45)  # from 89 to 133, which pixels 89 to 133 touch
    with pytest.warns(UserWarning, match="1 of 2 frames are drawn without a picture"):
        sf.plots.patches(matches, images=tmp_path)


def test_only_so_many_rows_are_drawn() -> None:
    panels = sf.plots.patches(boxes(), most=2)
    assert len(panels) == 2
    assert panels[0].figure.get_suptitle() == "2 of 3 rows"


def test_nothing_to_draw() -> None:
    [ax] = sf.plots.patches(boxes().iloc[:0])
    assert [text.get_text() for text in ax.texts] == ["no rows"]


def test_what_is_no_match_table_is_refused() -> None:
    with refused("match table: column outcome"):
        sf.plots.patches(boxes().drop(columns="outcome"))
    with refused("plots: images: 'nowhere' is no folder of pictures"):
        sf.plots.patches(boxes(), images="nowhere")


@pytest.mark.parametrize("geometry", ["sky", "poses", "joints", "masks"])
def test_every_geometry(geometry: str) -> None:
    match geometry:
        case "sky":
            matches = sf.match(
                pd.read_parquet("data/sky/truth.parquet"), pd.read_parquet("data/sky/detections.parquet"), tau=2
            )
        case "poses":
            matches = sf.match(*people(np.random.default_rng(0), Detector(sequences=2, frames=3)), similarity="oks")
        case "joints":
            matches = sf.match(*sf.read_posetrack("data/poses/truth", "data/poses/tracker"))
        case _:
            truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1], "mask": "231U13"})
            truth = truth.assign(mask_h=1.0, mask_w=50.0)
            matches = sf.match(truth, truth)
    rows = matches[matches["outcome"] != "empty"].head(6)
    panels = sf.plots.patches(rows)
    assert len(panels) == len(rows)
    panels[0].figure.canvas.draw()
    for ax in panels:
        left, right = ax.get_xlim()
        assert np.isfinite([left, right]).all()
        assert left < right
