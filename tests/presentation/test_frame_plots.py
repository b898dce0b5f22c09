"""Plots of frames: what they draw of each kind, the pictures behind them, and which frames a gallery has."""

import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from PIL import Image

import spotgeo_frames as sf
from helpers.kinds import of_kind
from helpers.problems import refused

mpl.use("Agg")

from spotgeo_frames import plots
from spotgeo_frames.presentation.drawing import pictures


@pytest.fixture(scope="module")
def matches(sample: Path) -> pd.DataFrame:
    truth = sf.read_objects(sample / "truth.parquet", sample / "frames.parquet")
    return sf.match(truth, sf.read_objects(sample / "eager.parquet"))


def drawn(axes: Any) -> None:
    """Draws all of it, as saving does, and fails on any warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.ravel(axes)[0].figure.canvas.draw()


def legend_texts(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def saved(path: Path, width: int = 64, height: int = 48, value: int = 100) -> Path:
    """Saves a grey picture."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((height, width), value, np.uint8)).save(path)
    return path


def points(frames: dict[tuple[Any, int], int]) -> pd.DataFrame:
    """A match table in which each frame has one hit, and so many misses."""
    rows = [
        {"sequence": sequence, "frame": frame, "object": place, "x": 10.0 * place, "y": 5.0 * place}
        for (sequence, frame), n_missed in frames.items()
        for place in range(n_missed + 1)
    ]
    truth = pd.DataFrame(rows)
    return sf.match(truth, truth[truth["object"] == 0])


def test_a_frame_and_a_sequence(matches: pd.DataFrame) -> None:
    row = matches[matches["outcome"] == "TP"].iloc[0]
    ax = plots.frame(matches, row["sequence"], row["frame"])
    some = matches[(matches["sequence"] == row["sequence"]) & (matches["frame"] == row["frame"])]
    assert f"{(some['outcome'] == 'TP').sum()} found" in ax.get_title()
    assert legend_texts(ax) == ["truth, found", "truth, missed", "prediction, right", "prediction, false"]
    drawn(ax)
    panels = plots.sequence(matches, row["sequence"])
    assert len(panels) == 5
    assert panels[0].yaxis_inverted()
    assert len({(ax.get_xlim(), ax.get_ylim()) for ax in panels}) == 1
    drawn(panels[0])
    with refused(("plots", "sequence 999, frame 1")):
        plots.frame(matches, 999, 1)
    with refused(("plots", "sequence 999")):
        plots.sequence(matches, 999)


def lines_of(ax: Axes) -> list[np.ndarray]:
    """The places of each line of a plot (N, 2), without gaps."""
    drawn = [np.column_stack([np.ravel(line.get_xdata()), np.ravel(line.get_ydata())]) for line in ax.lines]
    return [places[~np.isnan(places).any(axis=1)] for places in drawn]


def test_a_box_is_drawn_from_corner_to_corner_with_its_mark_at_the_centre() -> None:
    truth = pd.DataFrame(
        {"sequence": 1, "frame": 1, "object": [1, 2], "x": [10.0, 100.0], "y": 20.0, "w": 8.0, "h": 4.0}
    )
    ax = plots.frame(sf.match(truth, truth.iloc[[0]]), 1, 1)
    corners = [[10, 20], [18, 20], [18, 24], [10, 24], [10, 20]]
    styles = {
        line.get_linestyle() for line, places in zip(ax.lines, lines_of(ax), strict=True) if places.tolist() == corners
    }
    assert styles == {"-", "--"}, "of the truth and of the prediction"
    assert [[14, 22]] in [places.tolist() for places in lines_of(ax)]
    assert [[104, 22]] in [places.tolist() for places in lines_of(ax)], "the missed one"
    assert ax.get_title().endswith("1 found, 1 missed, 0 false")
    centres = plots.frame(sf.match(truth, truth[["sequence", "frame", "object", "x", "y"]], tau=10), 1, 1)
    boxes = [places for places in lines_of(centres) if len(places) == 10 or len(places) == 5]
    assert len(boxes) == 1, "only the truth has boxes"


def test_a_pose_is_drawn_with_its_joints_and_its_box() -> None:
    key = {"sequence": 1, "frame": 1, "object": 1}
    truth = pd.DataFrame({**key, "joint": ["nose", "left_eye"], "x": [10.0, 14.0], "y": [20.0, 22.0], "area": 50.0})
    matches = sf.match(truth, truth.assign(x=truth["x"] + 1).drop(columns="area"), similarity="oks", threshold=0.1)
    drawn = [places.tolist() for places in lines_of(plots.frame(matches, 1, 1))]
    assert [[10, 20], [14, 22]] in drawn
    assert [[11, 20], [15, 22]] in drawn
    assert [[10, 20], [14, 20], [14, 22], [10, 22], [10, 20]] in drawn
    matches.attrs = {}
    assert [places.tolist() for places in lines_of(plots.frame(matches, 1, 1))] == drawn, "without notes, too"


def test_joints_have_no_boxes() -> None:
    key = {"sequence": 1, "frame": 1, "object": 1, "joint": ["nose", "left_eye"]}
    joints = pd.DataFrame(key | {"x": [10.0, 14.0], "y": 20.0, "w": 300.0, "h": 200.0})
    places = np.concatenate(lines_of(plots.frame(sf.match(joints, joints), 1, 1)))
    assert places.max() == 20, "w and h are columns of the user's"


def test_columns_of_the_users_are_no_joints() -> None:
    box = {
        "sequence": 1,
        "frame": 1,
        "object": 1,
        "x": 10.0,
        "y": 20.0,
        "w": 8.0,
        "h": 4.0,
        "x_raw": 900.0,
        "y_raw": 900.0,
    }
    boxes = pd.DataFrame([box])
    for words in ({}, {"tau": 5}):
        drawn = np.concatenate(lines_of(plots.frame(sf.match(boxes, boxes, **words), 1, 1)))
        assert drawn.max() < 100


def test_a_frame_that_is_text_is_refused() -> None:
    truth = pd.DataFrame({"sequence": [1], "frame": [1], "object": [1], "x": [5.0], "y": [5.0]})
    with pytest.raises(sf.InputError, match=r"frame is '1', .* integers"):
        sf.plots.frame(sf.match(truth, truth), 1, "1")  # type: ignore[arg-type]


@pytest.mark.parametrize("draw", [lambda matches, name: sf.plots.frame(matches, name, 1), sf.plots.sequence])
def test_a_sequence_of_the_wrong_type_is_refused(draw) -> None:
    truth = pd.DataFrame({"sequence": [1], "frame": [1], "object": [1], "x": [5.0], "y": [5.0]})
    matches = sf.match(truth, truth)
    with refused(("plots: sequence", "'1'", "integers")):
        draw(matches, "1")
    as_texts = matches.assign(sequence=matches["sequence"].astype("str"))
    with refused(("plots: sequence", "1", "strings")):
        draw(as_texts, 1)


def test_whole_poses_have_skeletons_of_the_joints_that_are_known() -> None:
    key = {"sequence": 1, "frame": 1, "object": 1, "area": 5000.0}
    joints = ["left_hip", "left_knee", "left_ankle", "tail"]
    truth = pd.DataFrame({**key, "joint": joints, "x": [10.0, 20.0, 30.0, 90.0], "y": [10.0, 40.0, 80.0, 90.0]})
    away = truth.assign(x=truth["x"] + 1).drop(columns="area")
    sigmas = dict.fromkeys(joints, 0.1)
    ax = plots.frame(sf.match(truth, away, similarity="oks", threshold=0.1, sigmas=sigmas), 1, 1)
    bones = {tuple(map(tuple, places)) for places in lines_of(ax)}
    assert ((10, 10), (20, 40), (20, 40), (30, 80)) in bones
    assert ((11, 10), (21, 40), (21, 40), (31, 80)) in bones


def test_joints_of_an_object_have_a_skeleton_which_shows_what_is_missed_whole() -> None:
    names = ["left_hip", "left_knee", "left_ankle"]
    one = pd.DataFrame(
        {"sequence": 1, "frame": 1, "object": 1, "joint": names, "x": [0.0, 1.0, 2.0], "y": [0.0, 9.0, 18.0]}
    )
    truth = pd.concat([one, one.assign(object=2, x=one["x"] + 100)])
    found = one.drop(index=2)
    ax = plots.frame(sf.match(truth, found), 1, 1)
    styles = {
        tuple(map(tuple, places)): (line.get_color(), line.get_linestyle())
        for line, places in zip(ax.lines, lines_of(ax), strict=True)
        if line.get_linestyle() != "None" and len(places)
    }
    colors = {text: line.get_color() for text, line in zip(legend_texts(ax), ax.get_legend().get_lines(), strict=True)}
    hit, missed = ((0, 0), (1, 9), (1, 9), (2, 18)), ((100, 0), (101, 9), (101, 9), (102, 18))
    assert styles[hit] == (colors["truth, found"], "-"), "one end of its last bone is missed, the other is not"
    assert styles[missed] == (colors["truth, missed"], "-")
    assert styles[hit[:2]] == (colors["prediction, right"], "--")
    drawn(ax)


def track_matches() -> pd.DataFrame:
    """Truth 7 is found as 1, then as 2; truth 8 is missed, and 9 is a false alarm."""
    truth = pd.DataFrame({"sequence": 1, "frame": [1, 2], "object": 7, "x": [50.0, 51.0], "y": 30.0})
    missed = truth.assign(object=8, x=10.0)
    false = truth.assign(object=9, x=90.0)
    return sf.track(pd.concat([truth, missed]), pd.concat([truth.assign(object=[1, 2]), false]), tau=5).matches


def test_tracks_have_identities_and_a_switch_is_marked() -> None:
    matches = track_matches()
    first, second = plots.frame(matches, 1, 1), plots.frame(matches, 1, 2)
    assert {text.get_text() for text in first.texts} == {"7 → 1", "8 → –", "– → 9"}
    assert {text.get_text(): text.get_weight() for text in second.texts}["7 → 2"] == "bold"
    assert second.get_title().endswith("1 found, 1 missed, 1 false, 1 switched")
    diamonds = [[line.get_xydata().tolist() for line in ax.lines if line.get_marker() == "D"] for ax in (first, second)]
    assert diamonds == [[[]], [[[51, 30]]]]
    assert legend_texts(second)[-2:] == ["switch of identity", "truth → prediction"]
    panels = plots.gallery(matches, [(1, 1), (1, 2)])
    assert [[text.get_text() for text in ax.texts] for ax in panels] == [[], ["7 → 2"]], "a panel is small"


def test_a_frame_without_objects_has_no_marks_and_no_labels() -> None:
    objects = pd.DataFrame({"sequence": 1, "frame": [1], "object": [1], "x": [5.0], "y": [5.0]})
    frames = pd.DataFrame({"sequence": 1, "frame": [1, 2]})
    truth = sf.Annotations(objects, frames)
    for matches in (sf.match(truth, objects), sf.track(truth, objects, tau=5).matches):
        ax = plots.frame(matches, 1, 2)
        assert [places.tolist() for places in lines_of(ax) if len(places)] == []
        assert not ax.texts
        drawn(ax)
        drawn(plots.gallery(matches, [(1, 2)]))


def test_identities_are_those_that_tracks_were_evaluated_with() -> None:
    truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1], "track": ["car"], "x": [5.0], "y": [5.0]})
    result = sf.track(truth, truth.assign(track="a name that is too long"), identity="track", tau=5)
    assert [text.get_text() for text in plots.frame(result.matches, 1, 1).texts] == ["car → a nam…o long"]


def test_joints_of_tracks_have_one_label_for_each_object() -> None:
    names = ["left_hip", "left_knee"]
    one = pd.DataFrame({"sequence": "s", "frame": 1, "object": 1, "joint": names, "x": [10.0, 10.0], "y": [20.0, 10.0]})
    one = one.assign(head_size=10.0)
    other = one.assign(object=[4, 5]).drop(columns="head_size")
    [label] = plots.frame(sf.pose(one, other).matches, "s", 1).texts
    assert label.get_text() == "1 → 4, 5"
    assert label.xy == (10, 10), "the topmost joint"


def test_a_picture_lies_at_its_own_coordinates(matches: pd.DataFrame, tmp_path: Path) -> None:
    path = saved(tmp_path / "sky.png", 640, 480)
    grey = np.full((480, 640), 7, np.uint8)
    for picture in (path, str(path), grey, grey.astype(np.uint16), grey / 255.0, np.stack([grey] * 4, 2)):
        ax = plots.frame(matches, 1, 1, picture=picture)
        [image] = ax.images
        assert list(image.get_extent()) == [-0.5, 639.5, 479.5, -0.5]
        assert (ax.get_xlim(), ax.get_ylim()) == ((-0.5, 639.5), (479.5, -0.5))
        assert image.get_array().dtype == np.uint8
        drawn(ax)
        assert all(line.get_path_effects() for line in ax.lines), "a rim makes marks visible on any picture"
    assert not plots.frame(matches, 1, 1).lines[0].get_path_effects()
    colors = np.broadcast_to([0, 128, 300], (480, 640, 3))
    assert plots.frame(matches, 1, 1, picture=colors).images[0].get_array()[0, 0].tolist() == [0, 128, 255]
    assert plots.frame(matches, 1, 1, picture=grey > 3).images[0].get_array().max() == 255
    deep = np.linspace(1000, 60000, 480 * 640).reshape(480, 640)
    shown = plots.frame(matches, 1, 1, picture=deep.astype(np.uint16)).images[0].get_array()
    assert (shown.min(), shown.max()) == (0, 255)


def test_a_picture_that_cannot_be_drawn_is_refused(matches: pd.DataFrame, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.png"
    damaged.write_bytes(saved(tmp_path / "whole.png", 640, 480).read_bytes()[:90])
    other = tmp_path / "a.gif"
    Image.new("L", (640, 480)).save(other)
    wrong = {
        "missing.png": tmp_path / "missing.png",
        "cannot be read": damaged,
        "a.gif": other,
        "64 x 48 px, too small": saved(tmp_path / "small.png"),
        "9000 x 8000 pixels, too many": np.zeros((8000, 9000), np.uint8),
        "(3,)": np.zeros(3),
        "(480, 640, 2)": np.zeros((480, 640, 2)),
        "type int": 5,
        "complex128": np.zeros((480, 640), complex),
    }
    for told, picture in wrong.items():
        with pytest.raises(sf.InputError) as caught:
            plots.frame(matches, 1, 1, picture=picture)
        [problem] = caught.value.problems
        assert problem.startswith("plots: picture: ")
        assert told in problem


def test_a_huge_picture_is_not_decoded(matches: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path / "sky.jpg", 640, 480)
    monkeypatch.setattr(pictures, "MOST_PIXELS", 1000)
    monkeypatch.setattr(pictures, "decoded_picture", lambda path: pytest.fail("it was decoded"))
    with pytest.raises(sf.InputError, match="640 x 480 pixels, too many"):
        plots.frame(matches, 1, 1, picture=path)


def test_frames_with_a_noted_size_show_all_of_it(coco: Path) -> None:
    matches = sf.match(*sf.read_coco(coco / "annotations.json", coco / "fast.json", boxes=True))
    row = matches.iloc[0]
    ax = plots.frame(matches, row["sequence"], row["frame"])
    assert ax.get_xlim() == (-0.5, row["frame_width"] - 0.5)
    assert ax.get_ylim() == (row["frame_height"] - 0.5, -0.5)
    [panel] = plots.gallery(matches, [(row["sequence"], row["frame"])])
    assert (panel.get_xlim(), panel.get_ylim()) == (ax.get_xlim(), ax.get_ylim())
    unknown = matches.assign(frame_width=np.nan)
    assert plots.frame(unknown, row["sequence"], row["frame"]).get_xlim() != ax.get_xlim()


def test_a_gallery_has_the_worst_frames() -> None:
    matches = points({("a", 1): 1, ("a", 2): 0, ("b", 1): 3, ("b", 7): 1})
    panels = plots.gallery(matches)
    titles = [ax.get_title().partition("\n")[0] for ax in panels]
    assert titles == ["b, frame 1", "a, frame 1", "b, frame 7"], "without errors a frame is not among them"
    assert len({(ax.get_xlim(), ax.get_ylim()) for ax in panels}) == 1, "one scale"
    [legend] = panels[0].figure.legends
    drawn(panels[0])
    bottom = min(ax.get_tightbbox().y0 for ax in panels)
    assert legend.get_window_extent().y1 <= bottom, "outside of the data"
    fewer = plots.gallery(matches, most=2)
    assert len(fewer) == 2
    assert fewer[0].figure.get_suptitle() == "The worst 2 of 3 frames with errors"
    [empty] = plots.gallery(matches[matches["outcome"] == "TP"])
    assert empty.texts[0].get_text() == "no misses and no false alarms"


def test_a_gallery_of_given_frames() -> None:
    matches = points({("a", 1): 1, ("a", 2): 0, ("b", 1): 3})
    given = [("a", 2), ("b", 1), ("a", 2)]
    expected = ["a, frame 2\n1 found, 0 missed, 0 false", "b, frame 1\n1 found, 3 missed, 0 false"]
    asked = pd.DataFrame(given, columns=["sequence", "frame"])
    for frames in (given, asked, of_kind(asked, "polars"), of_kind(asked, "pyarrow")):
        assert [ax.get_title() for ax in plots.gallery(matches, frames)] == expected
    for kind in ("polars", "pyarrow"):
        assert [ax.get_title() for ax in plots.gallery(of_kind(matches, kind), given)] == expected
    assert plots.gallery(matches, given, most=1)[0].figure.get_suptitle() == "1 of 2 frames"
    with refused(("plots", "sequence a, frame 9")):
        plots.gallery(matches, [("a", 9)])
    with refused(("plots: frames", "'a'", "pair")):
        plots.gallery(matches, ["a"])  # type: ignore[list-item]
    with refused(("plots: frames: column frame",)):
        plots.gallery(matches, asked[["sequence"]])
    with refused(("plots: most", "0", "1 to 1,000")):
        plots.gallery(matches, most=0)
    with refused(("match table", "truth_x")):
        plots.gallery(matches.drop(columns="truth_x"))


def test_a_gallery_has_pictures_of_a_folder_and_tells_of_those_that_it_lacks(tmp_path: Path) -> None:
    matches = points({("a", 1): 1, ("a", 2): 1, ("b", 1): 1, ("c", 1): 1, ("..", 1): 1})
    saved(tmp_path / "a" / "1.png")
    saved(tmp_path / "a" / "2.jpg", 32, 24)
    saved(tmp_path / "c" / "1.png", 4, 4)
    named = matches.assign(frame_file_name=matches["sequence"].map({"b": "deep/down.jpeg"}))
    saved(tmp_path / "deep" / "down.jpeg", 640, 480)
    with pytest.warns(UserWarning, match="2 of 5 frames are drawn without a picture") as caught:
        panels = plots.gallery(named, [("a", 1), ("a", 2), ("b", 1), ("c", 1), ("..", 1)], images=tmp_path)
    assert len(caught) == 1
    assert "too small" in str(caught[0].message)
    assert caught[0].filename == __file__
    sizes = [tuple(ax.images[0].get_extent()[1::-1]) if ax.images else None for ax in panels]
    assert sizes == [(63.5, -0.5), (31.5, -0.5), (639.5, -0.5), None, None]
    assert [ax.get_xlim()[::-1] for ax in panels[:3]] == sizes[:3]
    drawn(panels[0])
    with refused(("plots: images", "nowhere", "SEQUENCE/FRAME.png")):
        plots.gallery(matches, images=tmp_path / "nowhere")


def test_pictures_of_panels_are_small(tmp_path: Path) -> None:
    saved(tmp_path / "a" / "1.png", 3000, 1000)
    [ax] = plots.gallery(points({("a", 1): 1}), images=tmp_path)
    assert ax.images[0].get_array().shape == (427, 1280)
    assert list(ax.images[0].get_extent()) == [-0.5, 2999.5, 999.5, -0.5]


def test_names_are_no_formulas() -> None:
    name = "$\\frac$ <b>" + "x" * 80
    matches = points({(name, 1): 2})
    for shown in (plots.frame(matches, name, 1), plots.sequence(matches, name), plots.gallery(matches)):
        drawn(shown)


def test_what_is_no_axes_and_no_figure_is_refused(matches: pd.DataFrame) -> None:
    several = plt.subplots(2)[1]
    for wrong in (4, several):
        for draw in (plots.recall_map, lambda table, ax: plots.frame(table, 1, 1, ax)):
            with refused(("plots: ax", "type", "Axes")):
                draw(matches, wrong)
    for draw_panels in (plots.gallery, lambda table, ax: plots.sequence(table, 1, ax)):
        with refused(("plots: ax", "type", "Axes")):
            draw_panels(matches, ax=4)
        with refused(("plots: ax has", "2 Axes", "panels are drawn")):
            draw_panels(matches, ax=several)
    free = plt.figure().add_axes((0, 0, 1, 1))
    with refused(("plots: ax", "plt.subplots()")):
        plots.sequence(matches, 1, free)


def test_a_strip_has_the_frames_around_one() -> None:
    """Those that the table has; the frame in the middle stands out."""
    matches = points({(1, 1): 0, (1, 2): 1, (1, 5): 0, (1, 9): 2, (1, 10): 0, (2, 6): 0})
    panels = plots.strip(matches, 1, 5, around=1)
    assert [ax.get_title() for ax in panels] == [
        "1, frame 2\n1 found, 1 missed, 0 false",
        "1, frame 5\n1 found, 0 missed, 0 false",
        "1, frame 9\n1 found, 2 missed, 0 false",
    ]
    widths = [ax.spines["left"].get_linewidth() for ax in panels]
    assert widths[1] > widths[0] == widths[2]
    assert len({ax.get_xlim() for ax in panels}) == 1, "one scale"
    drawn(panels[0])
    assert len(plots.strip(matches, 1, 1)) == 3, "nothing comes before the first"
    with refused("plots: there is no sequence 1, frame 3 in the match table"):
        plots.strip(matches, 1, 3)


def test_a_strip_has_pictures_behind_it(tmp_path: Path) -> None:
    for frame in (1, 2):
        saved(tmp_path / "1" / f"{frame}.png")
    panels = plots.strip(points({(1, 1): 0, (1, 2): 0}), 1, 2, images=tmp_path)
    assert [len(ax.images) for ax in panels] == [1, 1]
