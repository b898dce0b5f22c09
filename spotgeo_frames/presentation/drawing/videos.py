"""Videos of sequences: the drawing of plots, frame by frame, with the trails of tracks."""

from __future__ import annotations  # the extras are imported where they are needed

import warnings
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from ...analysis.errors import identity_columns
from ...geometries import centres
from ...support import InputError, packages, work, writing
from ...tables import Table, schema
from ..theme import LIGHT
from .drawn_tables import given_matches
from .frame_marks import draw_frame, frame_legend, is_tracked, tally
from .frame_plots import Area, areas_of, check_image, check_key, checked, show_picture
from .pictures import Behind, NoPicture, missing_pictures, picture_folder, picture_of_frame
from .plot_parts import plain, shortened
from .wording import in_unit, plane_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg

# The kinds of files that are written, by the ending of their names.
ENDINGS = (".mp4", ".gif")

# More frames are refused: they would fill the disk, or the memory where a GIF is put together.
MOST_FRAMES = {".mp4": 20_000, ".gif": 1_000}

# The longest side of the drawn plane, its least width and height, and the heights of the title and of the legend, px.
LONGEST = {".mp4": 1280, ".gif": 640}
NARROWEST, FLATTEST = 640, 120
TITLE, LEGEND = 36, 56

# Dots per inch: with so many, texts and marks have the sizes that they have in plots.
DOTS = 100

# A trail shows where an object was in so many frames before.
TRAIL = 10

# How many frames are shown in a second without a word.
USUAL_SPEED = 10.0

# The least and the most frames a second. Programs that show GIFs slow down those with more than 50.
SLOWEST, FASTEST = 0.1, {".mp4": 120.0, ".gif": 50.0}


def video(
    x: Table | NamedTuple,
    sequence: Hashable,
    path: str | Path,
    images: str | Path | None = None,
    *,
    frames_per_second: float = USUAL_SPEED,
) -> None:
    """Writes a video of a sequence: each frame as `plots.frame` draws it, and behind each track where it came from.

    A bar shows the progress. The file is written beside `path`, and then moved into place.

    Parameters
    ----------
    x
        A match table with the coordinates of truths and predictions, or what `track`, `pose` or `average_precision`
        returned. Of average precision, matches at a threshold of 0.5 are drawn, or at its first one.
    sequence
        The sequence, of the type that the table's sequences have.
    path
        The file: its name ends in .mp4 (H.264, up to 20,000 frames) or .gif (up to 1,000 frames).
    images
        A folder of pictures to draw behind the frames, as `plots.gallery` finds them. A warning tells of frames whose
        picture is missing, damaged, or too small for the truths.
    frames_per_second
        How many frames are shown in a second, from 0.1 to 120, in a GIF to 50.

    Raises
    ------
    InputError: `x` has no match table, coordinates are missing, there is no such sequence, the sequence has too many
        frames, `images` is no folder, or the file cannot be written.
    ValueError: `path` has another ending, or `frames_per_second` is out of range.
    ImportError: the extra `video` is not installed; the message says how.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> matches = sf.match(sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json"))
    >>> sf.video(matches, 1, "out/sequence_1.mp4", frames_per_second=2)
    """
    path = Path(path)
    check_video(path, frames_per_second)
    table = checked(given_matches(x, "video: x")[0])
    if images is not None:
        check_image(plane_of(table))
    check_key(table, "sequence", sequence)
    rows = table[table["sequence"] == sequence]
    if not len(rows):
        raise InputError(f"video: there is no sequence {sequence} in the match table")
    n_frames = rows["frame"].nunique()
    check_length(sequence, n_frames, path)
    ending = path.suffix.lower()
    folder, wrong = None if images is None else picture_folder(images, "video"), list[str]()
    n_pixels = LONGEST[ending]

    def write(temporary: Path) -> None:
        pictures = _pictures(rows, folder, n_pixels, wrong)
        (_write_mp4 if ending == ".mp4" else _write_gif)(temporary, pictures, frames_per_second)

    writing.write_together({path: write})
    warning = missing_pictures(wrong, n_frames)
    if warning is not None:
        warnings.warn(f"video: {warning}", stacklevel=2)


def check_video(path: Path, frames_per_second: float = USUAL_SPEED) -> None:
    """Checks all that can be checked of a video before there is anything to draw.

    Raises ValueError if `path` has another ending or `frames_per_second` is out of range, ImportError if the extra is
    not installed, and InputError if the file cannot be written.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"video: path is {path}; a name that ends in {' or '.join(ENDINGS)} is needed")
    if not SLOWEST <= frames_per_second <= FASTEST[ending]:
        needed = f"a number from {SLOWEST:g} to {FASTEST[ending]:g} is needed for {ending}"
        raise ValueError(f"video: frames_per_second is {frames_per_second!r}; {needed}")
    packages.check_extra("video", "video")
    writing.check_file_writable(path)


def check_length(sequence: Any, n_frames: int, path: Path) -> None:
    """Raises InputError if a sequence has more frames than a video with the ending of `path` may have."""
    ending = path.suffix.lower()
    if n_frames > MOST_FRAMES[ending]:
        other = "give fewer frames" if ending == ".mp4" else "give fewer frames, or write an .mp4"
        raise InputError(
            f"video: sequence {sequence} has {n_frames:,} frames, more than {MOST_FRAMES[ending]:,}; {other}"
        )


def _pictures(rows: pd.DataFrame, folder: Path | None, longest: int, wrong: list[str]) -> Iterator[np.ndarray]:
    """The drawn frames of a sequence, one after the other, (height, width, 3) of 8 bits, all of one size.

    `longest` is the length (px) of the longest side of the plane; what is wrong with pictures goes to `wrong`.
    """
    frames = [table for _, table in rows.groupby("frame", sort=True)]
    area = areas_of(rows, frames[:1], [_behind(folder, frames[0], [])])[0]
    width, height = _size(area, longest)
    share = height / (height + TITLE)
    canvas, legend = _canvas(width, height + TITLE), _legend(rows, width)
    ax = canvas.figure.add_axes((0, 0, 1, share))
    title = canvas.figure.text(0.5, (1 + share) / 2, "", ha="center", va="center", fontsize="medium")
    trails = [_trail(rows, prefix) for prefix in schema.SIDE_PREFIXES] if is_tracked(rows) else []
    for of_frame in work.progress(frames, "drawing", "frame"):
        for artist in (*ax.lines, *ax.collections, *ax.patches, *ax.texts, *ax.images):
            artist.remove()  # ax.clear() takes as long as to draw everything
        _draw(ax, of_frame, _behind(folder, of_frame, wrong), trails, area)
        title.set_text(_title(of_frame, area))
        yield np.concatenate([_pixels(canvas), legend])


def _canvas(width: int, height: int) -> FigureCanvasAgg:
    """Something to draw on, of this size (px)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    return FigureCanvasAgg(Figure((width / DOTS, height / DOTS), dpi=DOTS))


def _legend(rows: pd.DataFrame, width: int) -> np.ndarray:
    """The drawn legend, (LEGEND, width, 3): all frames have the same."""
    canvas = _canvas(width, LEGEND)
    canvas.figure.legend(handles=frame_legend(rows), loc="center", ncols=3, frameon=False, fontsize="small")
    return _pixels(canvas)


def _pixels(canvas: Any) -> np.ndarray:
    """What is drawn on something, as (height, width, 3) of 8 bits."""
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def _behind(folder: Path | None, rows: pd.DataFrame, wrong: list[str]) -> Behind | None:
    """The picture behind a frame; None without a folder, or where it has none, which is told in `wrong`."""
    if folder is None:
        return None
    try:
        picture, size = picture_of_frame(folder, rows)
    except NoPicture as error:
        wrong.append(str(error))
        return None
    return Behind(np.asarray(picture), size)


def _size(area: Area, longest: int) -> tuple[int, int]:
    """The width and height (px) of the drawn plane: even numbers, as H.264 needs them."""
    left, right, bottom, top = area
    width, height = abs(right - left), abs(top - bottom)
    scale = np.clip(max(width, height), NARROWEST, longest) / max(width, height)
    return max(2 * round(width * scale / 2), NARROWEST), max(2 * round(height * scale / 2), FLATTEST)


def _title(rows: pd.DataFrame, area: Area) -> str:
    """What stands above a frame: its name, its outcomes, and how wide the plane is."""
    sequence, frame = (rows[column].iloc[0] for column in schema.FRAME_KEY)
    wide = in_unit(float(f"{abs(area[1] - area[0]):.3g}"), plane_of(rows).unit)
    return f"{plain(shortened(sequence, 24))}, frame {frame}: {tally(rows)}; {plain(wide)} wide"


def _draw(ax: Axes, rows: pd.DataFrame, behind: Behind | None, trails: Sequence[pd.DataFrame], area: Area) -> None:
    """Draws a frame with the trails that end in it or shortly before."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    left, right, bottom, top = area
    show_picture(ax, rows, behind)
    frame = rows["frame"].iloc[0]
    for trail, color in zip(trails, (LIGHT.outcomes["found"], LIGHT.outcomes["right"]), strict=False):
        lines = trail[trail["frame"].between(frame - TRAIL, frame, inclusive="right")]
        ends = lines[["x_before", "y_before", "x", "y"]].to_numpy().reshape(-1, 2, 2)
        shades = [to_rgba(color, 0.7 * (1 - age / TRAIL)) for age in frame - lines["frame"]]
        ax.add_collection(LineCollection([*ends], colors=shades, linewidths=1.5), autolim=False)
    draw_frame(ax, rows, rim=behind is not None)
    y_limits = (top, bottom) if plane_of(rows).is_up else (bottom, top)
    ax.set(xlim=(left, right), ylim=y_limits, aspect="equal", xticks=[], yticks=[])


def _trail(rows: pd.DataFrame, prefix: str) -> pd.DataFrame:
    """The steps of the objects of a side: the `frame` to which each goes, and the x and y there and before (px).

    An object that was away for as long as a trail lasts makes no step over that gap.
    """
    identity = identity_columns(rows, None, "video")[schema.SIDE_PREFIXES.index(prefix)]
    x, y = centres(rows, prefix)
    keys = [identity, *(["joint"] if "joint" in rows else [])]
    places = rows[[*keys, "frame"]].assign(x=x, y=y).dropna().sort_values([*keys, "frame"], kind="stable")
    before = places.groupby(keys, observed=True, sort=False)[["frame", "x", "y"]].shift()
    steps = places.assign(x_before=before["x"], y_before=before["y"])
    return steps[places["frame"] - before["frame"] <= TRAIL]


def _write_mp4(path: Path, pictures: Iterator[np.ndarray], frames_per_second: float) -> None:
    """Writes pictures as H.264 in MP4, which browsers and players show."""
    import av

    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream("libx264", rate=Fraction(frames_per_second).limit_denominator(1000))
        stream.pix_fmt, first = "yuv420p", next(pictures)
        stream.height, stream.width = first.shape[:2]
        for picture in chain([first], pictures):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def _write_gif(path: Path, pictures: Iterator[np.ndarray], frames_per_second: float) -> None:
    """Writes pictures as a GIF that begins again at its end."""
    from PIL import Image

    # Median cut would leave no colours to the few pixels of the marks.
    images = (Image.fromarray(picture).quantize(method=Image.Quantize.FASTOCTREE) for picture in pictures)
    # A GIF counts in steps of 10 ms, so frames last one step more or less, such that together they keep the speed.
    ends = np.rint(np.arange(MOST_FRAMES[".gif"] + 1) * 100 / frames_per_second)
    durations = (10 * np.diff(ends)).astype(int).tolist()
    next(images).save(path, "GIF", save_all=True, append_images=images, duration=durations, loop=0)
