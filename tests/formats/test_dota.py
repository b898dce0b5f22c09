"""DOTA's labels and results: oriented boxes of four corners."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import spotgeo_frames as sf
from helpers.commands import answer_here
from helpers.label_files import folder_of
from helpers.problems import assert_places
from spotgeo_frames.formats.rectangles import smallest_rectangles

SIZES = ["cx", "cy", "w", "h", "angle"]
HEAD = "imagesource:GoogleEarth\ngsd:0.146\n"
SHIP = "10 20 50 20 50 30 10 30 ship 0"
TURNED = "100 100 130 140 122 146 92 106 large-vehicle 1"


def test_labels(tmp_path: Path) -> None:
    read = sf.read_dota(folder_of(tmp_path / "labelTxt", P0001=f"{HEAD}{SHIP}\n{TURNED}\n", P0002=HEAD))
    np.testing.assert_allclose(
        read.objects[["cx", "cy", "w", "h", "angle"]],
        [[30, 25, 40, 10, 0], [111, 123, 50, 10, np.degrees(np.arctan2(4, 3))]],
    )
    assert read.objects["category"].tolist() == ["ship", "large-vehicle"]
    assert read.objects["ignore"].tolist() == [False, True]
    assert read.objects[["sequence", "frame", "object"]].to_numpy().tolist() == [["P0001", 1, 1], ["P0001", 1, 2]]
    assert read.frames is not None
    assert read.frames["sequence"].tolist() == ["P0001", "P0002"]
    assert sf.read_dota(tmp_path).objects.equals(read.objects)  # the folder above


def test_results_match_labels(tmp_path: Path) -> None:
    truth = sf.read_dota(folder_of(tmp_path / "a", P0001=f"{HEAD}{SHIP}\n{TURNED}\n"))
    ship, vehicle = "P0001 0.9 50 30 10 30 10 20 50 20", "P0001 0.5 92 106 100 100 130 140 122 146"
    found = sf.read_dota(folder_of(tmp_path / "b", **{"Task1_ship": ship, "Task1_large-vehicle": vehicle}))
    assert found.objects["score"].tolist() == [0.5, 0.9]  # by the names of the files
    matches = sf.match(truth, found)
    assert matches["outcome"].tolist() == ["TP"]
    assert matches["similarity"].tolist() == [1.0]
    assert matches.attrs["ignored"] == 1


def test_labels_without_difficult_and_in_a_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "labels.zip", "w") as packed:
        packed.writestr("P1.txt", SHIP.removesuffix(" 0"))
        packed.writestr("P2.txt", TURNED)
    assert sf.read_dota(tmp_path / "labels.zip").objects["ignore"].tolist() == [False, True]


def test_the_commands_take_folders_of_labels_and_of_results(tmp_path: Path) -> None:
    truth = folder_of(tmp_path / "data/labelTxt", P1=f"{HEAD}{SHIP}\n", P2=HEAD).parent
    found = folder_of(tmp_path / "results", Task1_ship="P1 0.9 11 20 51 20 51 30 11 30\nP2 0.5 1 2 3 2 3 4 1 4")
    told = answer_here("score", truth, found)
    assert [told[name] for name in ("tp", "fn", "fp")] == [1, 0, 1]
    assert answer_here("ap", truth, found)["AP50"] == pytest.approx(1)


def test_quadrilaterals_become_the_smallest_rectangles_around_them(tmp_path: Path) -> None:
    """DOTA_devkit measures them as they are drawn."""
    [box] = sf.read_dota(folder_of(tmp_path / "a", P1="0 0 40 0 30 10 0 10 ship 0")).objects[SIZES].to_numpy().tolist()
    assert box == pytest.approx([20, 5, 40, 10, 0])


def test_difficult_of_any_kind_is_ignored(tmp_path: Path) -> None:
    """DOTA_devkit takes whatever is not 0 for difficult."""
    lines = "\n".join(SHIP.removesuffix("0") + flag for flag in ("0", "1", "2"))
    assert sf.read_dota(folder_of(tmp_path / "a", P1=lines)).objects["ignore"].tolist() == [False, True, True]


def test_a_second_claim_of_a_truth_may_take_another_one(tmp_path: Path) -> None:
    """DOTA_devkit counts it as false: it only looks at the truth that overlaps most."""
    near = "12 20 52 20 52 30 12 30 ship 0"
    truth = sf.read_dota(folder_of(tmp_path / "a", P1=f"{SHIP}\n{near}"))
    claims = "P1 0.9 10 20 50 20 50 30 10 30\nP1 0.8 10 20 50 20 50 30 10 30"
    found = sf.read_dota(folder_of(tmp_path / "b", Task1_ship=claims))
    assert sf.average_precision(truth, found).matches.query("threshold == 0.5")["outcome"].tolist() == ["TP", "TP"]


@given(arrays(np.float64, (4, 2), elements=st.integers(-50, 50).map(float)))
def test_the_smallest_rectangle_is_that_of_shapely(corners: np.ndarray) -> None:
    hull = shapely.MultiPoint(corners)
    [[_, _, width, height, _]] = smallest_rectangles(corners[None])
    assert width * height == pytest.approx(hull.minimum_rotated_rectangle.area, abs=1e-6)


@pytest.mark.parametrize(
    ("line", "place", "problem"),
    [
        ("10 20 50 20 50 30 10 30", "P0001.txt, line 3", "a label has"),
        ("10 20 50 20 50 30 10 x ship 0", "P0001.txt, line 3", "x"),
        ("10 20 50 20 50 30 10 nan ship 0", "P0001.txt, line 3", "nan"),
        ("10 20 50 20 50 30 10 1e300 ship 0", "P0001.txt, line 3", "1e300"),
        ("10 20 50 20 50 30 10 30 ship 7", "P0001.txt, line 3", "difficult is 7"),
    ],
)
def test_lines_that_are_wrong(line: str, place: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(sf.InputError) as caught:
        sf.read_dota(folder_of(tmp_path / "a", P0001=HEAD + line))
    assert_places([text.removeprefix(f"{tmp_path / 'a'}/") for text in caught.value.problems], place)
    assert problem in caught.value.problems[0]


def test_labels_and_results_are_two_folders(tmp_path: Path) -> None:
    with pytest.raises(sf.InputError, match="labels and results"):
        sf.read_dota(folder_of(tmp_path / "a", P0001=SHIP, Task1_ship="P0001 0.9 50 30 10 30 10 20 50 20"))
