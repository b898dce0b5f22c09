"""Videos: every frame of a sequence is there, and shows what plots show."""

import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageSequence

import spotgeo_frames as sf
from helpers.problems import refused
from helpers.videos import frames_of, walkers

mpl.use("Agg")

from spotgeo_frames.presentation.drawing import videos
from spotgeo_frames.presentation.theme import LIGHT

pytest.importorskip("av")

RED = tuple(int(LIGHT.outcomes["missed"][place : place + 2], 16) for place in (1, 3, 5))


def where(picture: np.ndarray, color: tuple[int, ...]) -> np.ndarray:
    """The rows and columns of the pixels of the plane that nearly have a colour; the legend has all colours."""
    plane = picture[: -videos.LEGEND].astype(int)
    return np.argwhere(np.abs(plane - color).max(axis=2) < 60)


@pytest.mark.parametrize("ending", [".mp4", ".gif"])
def test_each_frame_shows_its_boxes(tmp_path: Path, ending: str) -> None:
    """The decoded frames: the miss of the last one is red there, and red nowhere else."""
    path = tmp_path / f"hall{ending}"
    sf.video(sf.match(*walkers()), "hall", path, frames_per_second=5)
    pictures = frames_of(path)
    assert len(pictures) == 5
    *found, missed = (where(picture, RED) for picture in pictures)
    assert not any(map(len, found))
    low, high = missed.min(axis=0), missed.max(axis=0)
    height, width = high - low
    assert height / width == pytest.approx(2, rel=0.1), "a box of 40 by 80 px"
    assert {path.name for path in tmp_path.iterdir()} == {path.name}, "nothing else is left"


def test_trails_show_where_objects_came_from(tmp_path: Path) -> None:
    """Left of the walker there is a trail in a video of tracks, and none where identities do not count."""
    truth, found = walkers()
    for name, x in {"tracks": sf.track(truth, found), "matches": sf.match(truth, found)}.items():
        sf.video(x, "hall", tmp_path / f"{name}.mp4")
    tracks, matches = (frames_of(tmp_path / f"{name}.mp4")[3] for name in ("tracks", "matches"))
    # What has any colour is a box: a video changes the colours of thin lines, so none is looked for by its own.
    colored = np.argwhere(np.ptp(matches[: -videos.LEGEND], axis=2) > 40)
    box = colored[colored[:, 1] < matches.shape[1] / 2]  # the walker's; the other one stands in the right half
    beside = np.s_[box[:, 0].min() : box[:, 0].max(), 10 : box[:, 1].min() - 10]
    assert (matches[beside] > 240).all()
    assert (tracks[beside] < 200).any()


def test_pictures_are_behind_the_frames(tmp_path: Path) -> None:
    folder = tmp_path / "images" / "hall"
    folder.mkdir(parents=True)
    for frame in range(1, 5):
        Image.fromarray(np.full((480, 700), 40 * frame, np.uint8)).save(folder / f"{frame}.png")
    with pytest.warns(UserWarning, match=r"video: images: 1 of 5 frames are drawn without a picture: .*5"):
        sf.video(sf.match(*walkers()), "hall", tmp_path / "hall.mp4", tmp_path / "images")
    shades = [int(np.median(picture[: -videos.LEGEND])) for picture in frames_of(tmp_path / "hall.mp4")]
    assert shades[:4] == pytest.approx([40, 80, 120, 160], abs=4)
    assert shades[4] > 250


def test_results_have_videos(tmp_path: Path) -> None:
    truth, found = walkers(2)
    sf.video(sf.average_precision(truth, found), "hall", tmp_path / "ap.gif")
    assert len(frames_of(tmp_path / "ap.gif")) == 2


def test_what_cannot_be_drawn_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    matches = sf.match(*walkers())
    with pytest.raises(ValueError, match=re.escape("a name that ends in .mp4 or .gif is needed")):
        sf.video(matches, "hall", tmp_path / "hall.avi")
    with pytest.raises(ValueError, match=r"frames_per_second is 0; a number from 0\.1 to 120 is needed for \.mp4"):
        sf.video(matches, "hall", tmp_path / "hall.mp4", frames_per_second=0)
    with refused("video: there is no sequence street in the match table"):
        sf.video(matches, "street", tmp_path / "hall.mp4")
    with refused("video: images: 'nowhere' is no folder of pictures"):
        sf.video(matches, "hall", tmp_path / "hall.mp4", "nowhere")
    with refused(f"{tmp_path}/hall.mp4: cannot be written"):
        (tmp_path / "hall.mp4").mkdir()
        sf.video(matches, "hall", tmp_path / "hall.mp4")
    assert [path.name for path in tmp_path.iterdir()] == ["hall.mp4"]


def test_long_sequences_are_refused_as_gif(tmp_path: Path) -> None:
    truth = pd.DataFrame({"sequence": 1, "frame": range(1001), "object": 1, "x": 1.0, "y": 1.0})
    with refused(("video: sequence 1", "1,001 frames", "write an .mp4")):
        sf.video(sf.match(truth, truth), 1, tmp_path / "long.gif")


@pytest.mark.parametrize("speed", [0.5, 10, 30, 40, 50])
def test_a_gif_keeps_its_speed(tmp_path: Path, speed: float) -> None:
    matches = sf.match(*walkers())
    sf.video(matches, "hall", tmp_path / "hall.gif", frames_per_second=speed)
    with Image.open(tmp_path / "hall.gif") as image:
        total = sum(frame.info["duration"] for frame in ImageSequence.Iterator(image))
        n_frames = matches["frame"].nunique()
        assert abs(total - 1000 * n_frames / speed) <= 10
    with pytest.raises(ValueError, match=r"frames_per_second is 60; a number from 0\.1 to 50 is needed for \.gif"):
        sf.video(matches, "hall", tmp_path / "hall.gif", frames_per_second=60)
