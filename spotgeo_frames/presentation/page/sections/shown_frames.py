"""The section of the frames: which are shown, the viewer with its filter, patches and gallery, and the pictures.

The page shows everything where there are at most MOST_ROWS rows, of whole poses as many as their joints, and at most
MOST_SEQUENCES sequences. A page with every sequence of a larger survey would be too large to open. It therefore shows
about ROWS_CHOSEN rows: one half of the sequences are those with the most misses and false alarms, of each submission in
turn, and the other half are drawn at random from all other sequences. Of a long sequence it shows the FRAMES_CHOSEN
consecutive frames with the most errors. Of tracks it also shows the frames around each break that the page lists.

The pictures behind the frames are PNG and JPEG files of a folder, made small enough for a page. Every picture is
decoded and encoded again, so that only the pixels of a file get into the page, no metadata.
"""

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ....analysis.errors import track_rows
from ....geometries import pose_joints
from ....support import arrays, work
from ....tables import as_numbers, schema
from ...drawing import NoPicture, Size, display, pictures, wording
from ...drawing.charts import of_places
from ...viewer import Frames, View, frames_of, packing, view_of, with_ignored, worst_first
from ..evaluation import Evaluation, matches_of_name
from ..html.blocks import Look, Section, Text, Viewer
from .breakdown import bins_of

MOST_ROWS = 300_000
MOST_SEQUENCES = 1000
ROWS_CHOSEN = 24_000
FRAMES_CHOSEN = 50

# The most switches, and the most gaps, that a page lists, of all submissions together; how many frames before and after
# each a page has, and how many rows of a large page these take at most.
MOST_BREAKS = 1_000
AROUND = 10
ROWS_AROUND = 100_000

# The largest size of all encoded pictures of a page together, in bytes; further pictures are left out.
MOST_BYTES = 12 << 20

# How many frames the first screen shows.
LOOKS = 3

OF_ERRORS = "the frames with most errors"
ABOUT = "Bars and cells of charts, and underlined cells of tables, lead here: a click shows the frames that they count."


class ChosenFrames(NamedTuple):
    """The sequences and rows that the page shows.

    Attributes
    ----------
    sequences
        The names of its sequences, worst first.
    rows
        Their rows of the match tables.
    n_sequences
        The count of all sequences of the report.
    n_cut
        The count of frames that were left out because their sequence is long.
    """

    sequences: list[Any]
    rows: pd.DataFrame
    n_sequences: int
    n_cut: int


class FramesOfRows(NamedTuple):
    """The frames of match tables, sorted by sequence.

    Attributes
    ----------
    of_row, first
        The frame of each row, and the first row of each frame.
    sizes
        The count of rows of each frame, of whole poses that of their joints.
    sequence, first_frame
        The sequence of each frame, and the first frame of each sequence.
    """

    of_row: np.ndarray
    first: np.ndarray
    sizes: np.ndarray
    sequence: np.ndarray
    first_frame: np.ndarray

    @property
    def are_many(self) -> bool:
        """Whether a page has no room for all of them."""
        return bool(self.sizes.sum() > MOST_ROWS) or len(self.first_frame) > MOST_SEQUENCES

    def around(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The frames up to AROUND before and after those of rows, within their sequences: of which row, and which."""
        frame, ends = self.of_row[rows], np.append(self.first_frame[1:], len(self.first))
        begin = np.maximum(frame - AROUND, self.first_frame[self.sequence[frame]])
        end = np.minimum(frame + AROUND + 1, ends[self.sequence[frame]])
        return arrays.ranges(begin, end - begin)


def frames_of_rows(matches: pd.DataFrame) -> FramesOfRows:
    """The frames of match tables."""
    keys = matches[schema.FRAME_KEY]
    frame, first = arrays.grouped(arrays.row_keys(keys, schema.FRAME_KEY))
    sizes = np.bincount(frame, minlength=len(first)) * max(len(pose_joints(matches)), 1)
    return FramesOfRows(frame, first, sizes, *arrays.grouped(arrays.row_keys(keys.take(first), ["sequence"])))


def listed_breaks(breaks: pd.DataFrame, matches: pd.DataFrame) -> pd.DataFrame:
    """The breaks that the page lists, the longest gaps first; of a large page those whose frames it has room for.

    There is room for the frames around the longest of each cause in turn. Whatever else broke within them is listed,
    too, if they have all frames around it.
    """
    most = max(MOST_BREAKS // max(breaks["submission"].nunique(), 1), 1)
    longest = breaks.sort_values("gap", ascending=False, kind="stable")
    longest = longest[longest.groupby(["submission", "break"], observed=True).cumcount() < most]
    frames = frames_of_rows(matches)
    if not len(longest) or not frames.are_many:
        return longest
    turn = longest.groupby(["submission", "break", "cause"], observed=True).cumcount().to_numpy()
    longest = longest.iloc[np.argsort(turn, kind="stable")]
    of_break, around = frames.around(longest["row"].to_numpy())
    distinct, place = np.unique(around, return_index=True)
    sizes = arrays.added_at(of_break[place], frames.sizes[distinct], len(longest))
    n_fitting = max(int((np.cumsum(sizes) <= ROWS_AROUND).sum()), 1)
    has_room = np.zeros(len(frames.first), bool)
    has_room[around[of_break < n_fitting]] = True
    n_lacking = arrays.added_at(of_break, ~has_room[around], len(longest))
    return longest[n_lacking == 0].sort_values("gap", ascending=False, kind="stable")


def choose_frames(matches: pd.DataFrame, broken: Sequence[int] = ()) -> ChosenFrames:
    """Chooses the sequences and frames that the page shows from match tables with a column `submission`.

    The frames around those of the rows `broken` are among them.
    """
    frame, first, sizes, sequence, first_frame = frames = frames_of_rows(matches)
    keys, outcome = matches[schema.FRAME_KEY], matches["outcome"].array.codes
    wrong = (outcome == schema.FN) | (outcome == schema.FP)
    submission = matches["submission"].cat
    n_submissions = len(submission.categories)
    cell = sequence[frame] * n_submissions + submission.codes.to_numpy()
    errors = arrays.added_at(cell, wrong, len(first_frame) * n_submissions).reshape(-1, n_submissions)
    shown = np.ones(len(first), bool)
    worst = chosen = _worst_first(errors)
    if frames.are_many:
        n_shown = int(np.clip(ROWS_CHOSEN // 2 // max(sizes.max(initial=1), 1), 1, FRAMES_CHOSEN))
        shown = _in_worst_window(arrays.added_at(frame, wrong, len(first)), sequence, first_frame, n_shown)
        chosen = _chosen(chosen, arrays.added_at(sequence, sizes * shown), np.random.default_rng(0))
        around = frames.around(np.asarray(broken, np.int64))[1]
        shown &= np.isin(sequence, chosen)
        shown[around] = True
        chosen = worst[np.isin(worst, sequence[shown])]
    is_kept = shown[frame]
    names = keys["sequence"].take(first[first_frame[chosen]]).tolist()
    rows = matches if is_kept.all() else matches.take(np.flatnonzero(is_kept)).reset_index(drop=True)
    return ChosenFrames(names, rows, len(first_frame), int(np.count_nonzero(np.isin(sequence, chosen) & ~shown)))


def _in_worst_window(errors: np.ndarray, sequence: np.ndarray, first: np.ndarray, n_shown: int) -> np.ndarray:
    """Marks, in each sequence, the `n_shown` consecutive frames with the most errors; the first of several equal ones.

    `errors` and `sequence` have one value for each frame, sorted by sequence; `first` is each sequence's first frame.
    """
    sums = np.concatenate([[0], np.cumsum(errors)])
    ends = np.append(first[1:], len(errors))[sequence]
    place = np.arange(len(errors))
    window = sums[np.minimum(place + n_shown, ends)] - sums[place]
    best = np.lexsort([place, -window, sequence])[first]
    begin = np.minimum(best, np.maximum(np.append(first[1:], len(errors)) - n_shown, first))[sequence]
    return (place >= begin) & (place < begin + n_shown)


def _worst_first(errors: np.ndarray) -> np.ndarray:
    """The sequences in an order in which the worst of each submission come in turn.

    `errors` are counts (sequences, submissions).
    """
    rank = np.argsort(np.argsort(-errors, axis=0, kind="stable"), axis=0)
    return np.lexsort([-errors.sum(axis=1), rank.min(axis=1)])


def _chosen(worst: np.ndarray, sizes: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Chooses as many sequences as there is room for, half of them the first of `worst`, and keeps their order.

    `sizes` are the counts of rows of each sequence.
    """
    if len(worst) <= MOST_SEQUENCES and sizes.sum() <= ROWS_CHOSEN:
        return worst
    first = _fitting(worst, sizes, MOST_SEQUENCES // 2, ROWS_CHOSEN // 2)
    others = random.permutation(np.setdiff1d(worst, first))
    room = ROWS_CHOSEN - int(sizes[first].sum())
    sampled = _fitting(others, sizes, MOST_SEQUENCES - len(first), room) if room > 0 else others[:0]
    return worst[np.isin(worst, [*first, *sampled])]


def _fitting(order: np.ndarray, sizes: np.ndarray, most: int, room: int) -> np.ndarray:
    """The first sequences of an order whose sizes fit into `room`: at least one, and no more than `most`."""
    fits = np.cumsum(sizes[order]) <= room
    return order[: min(max(int(fits.sum()), 1), most)]


class Pictures(NamedTuple):
    """The pictures of a page.

    Attributes
    ----------
    of_frames
        For the position of a frame in the viewer, its picture: the `url`, and the `left`, `right`, `top` and `bottom`
        (px) of the area that it covers. The centre of its first pixel is at 0, 0.
    n_left_out
        The count of suitable pictures that did not fit into the page.
    warning
        The text of a warning about pictures that are missing, damaged or too small.
    """

    of_frames: dict[int, dict[str, str | float]]
    n_left_out: int
    warning: str | None = None


def chosen_pictures(folder: Path, chosen: ChosenFrames) -> Pictures:
    """Reads the pictures of the frames that the page shows; of each sequence the worst frame first, then the next."""
    frames = frames_of(chosen.rows, chosen.sequences)
    suitable: dict[int, tuple[Path, Size]] = {}
    wrong = []
    for position, names, most_x, most_y in _wanted(folder, chosen.rows, frames):
        try:
            suitable[position] = pictures.suitable_picture(folder, names, most_x, most_y)
        except NoPicture as error:
            wrong.append(str(error))
    of_frames, n_left_out, broken = _encoded(suitable)
    return Pictures(of_frames, n_left_out, pictures.missing_pictures(wrong + broken, len(frames.first)))


def _wanted(folder: Path, rows: pd.DataFrame, frames: Frames) -> Iterator[tuple[int, list[str], float, float]]:
    """The position of each frame, the names its picture may have, and the greatest x and y (px) of its truths.

    The frames with the most errors of every sequence come first, the worst sequence's first of all.
    """
    n_frames = len(frames.first)
    farthest = []
    for axis in "xy":
        most = np.full(n_frames, -np.inf)
        np.fmax.at(most, frames.of_row, as_numbers(rows[f"truth_{axis}"]))
        farthest.append(most.tolist())
    named = _named(rows, frames)
    numbers = rows["frame"].take(frames.first).tolist()
    for position in worst_first(rows, frames).tolist():
        sequence = frames.sequences[frames.sequence[position]]
        names = pictures.picture_names(folder, sequence, numbers[position], named.get(position))
        yield position, names, farthest[0][position], farthest[1][position]


def _named(rows: pd.DataFrame, frames: Frames) -> dict[int, str]:
    """The names of pictures that columns have, by the position of the frame; of several in a frame the first."""
    named: dict[int, str] = {}
    for column in pictures.NAMING:
        if column in rows:
            known = np.flatnonzero(rows[column].notna())[::-1]  # the last to be written is the first row
            names = map(str, rows[column].take(known).tolist())
            named = dict(zip(frames.of_row[known].tolist(), names, strict=True)) | named
    return named


def _encoded(suitable: dict[int, tuple[Path, Size]]) -> tuple[dict[int, dict[str, str | float]], int, list[str]]:
    """Encodes pictures as data: URLs; returns these, the count of pictures left out, and texts about damaged ones."""
    answer: dict[int, dict[str, str | float]] = {}
    broken: list[str] = []
    left, n_left_out = MOST_BYTES, 0
    for position in work.progress(list(suitable), "reading images", "image"):
        if left <= 0:
            n_left_out += 1
            continue
        path, (width, height) = suitable[position]
        try:
            content = pictures.as_webp(pictures.small_picture(path))
        except NoPicture as error:
            broken.append(str(error))
            continue
        url = f"data:image/webp;base64,{base64.b64encode(content).decode()}"
        left -= len(url)
        answer[position] = {"url": url, "left": -0.5, "right": width - 0.5, "top": -0.5, "bottom": height - 0.5}
    return answer, n_left_out, broken


def frames(evaluation: Evaluation) -> Section:
    """Makes the section."""
    rule = evaluation.rule
    breaks = evaluation.breaks
    broken = [] if breaks is None else listed_breaks(breaks, evaluation.matches)["row"].tolist()
    chosen = choose_frames(_with_breaks(evaluation).assign(**bins_of(evaluation)), broken)
    edges = of_places.bin_edges(evaluation.matches, evaluation.names, rule)
    view = view_of(_shown(chosen, evaluation), wording.measure_title(rule), rule.image_tau, chosen.sequences, edges)
    behind = Pictures({}, 0) if evaluation.images is None else chosen_pictures(evaluation.images, chosen)
    content, looks = packing.compressed(view.content), looks_of(chosen.rows, evaluation.names[0])
    viewer = Viewer(view.about, content, behind.of_frames, looks)
    texts = [ABOUT, *_notes(chosen, view, behind, has_images=evaluation.images is not None)]
    notes = [Text(text, "note") for text in texts]
    warnings = [] if behind.warning is None else [behind.warning]
    return Section("frames", "Frames", "Frames", [*notes, viewer], warnings=warnings)


def looks_of(rows: pd.DataFrame, name: str) -> list[Look]:
    """The frames in which a submission errs most, of as many sequences as there are."""
    mine = rows[rows["submission"] == name]
    outcomes = mine.groupby(["sequence", "frame", "outcome"], observed=True).size().unstack(fill_value=0)  # noqa: PD010 - crosstab counts in Python
    counts = outcomes.reindex(columns=["TP", "FN", "FP"], fill_value=0)
    errors = (counts["FN"] + counts["FP"]).rename("errors").reset_index()
    worst = errors[errors["errors"] > 0].sort_values("errors", ascending=False, kind="stable")
    again = worst.groupby("sequence", observed=True).cumcount().to_numpy()
    chosen = worst.iloc[np.argsort(again, kind="stable")[:LOOKS]]
    looks = []
    for sequence, frame in zip(chosen["sequence"], chosen["frame"], strict=True):
        found, missed, wrong = counts.loc[(sequence, frame)].tolist()
        looks.append(Look(str(sequence), str(frame), name, f"{found} found, {missed} missed, {wrong} false"))
    return looks


def _with_breaks(evaluation: Evaluation) -> pd.DataFrame:
    """The match tables of all submissions; of tracks with causes of breaks, and misses between two matches are gaps."""
    matches = evaluation.matches
    if "event" not in matches:
        return matches
    in_gaps = [track_rows(matches_of_name(evaluation, name)).in_gaps for name in evaluation.names]
    events = matches["event"].cat.add_categories(["gap"])
    marked = matches.assign(event=events.mask(np.concatenate(in_gaps), "gap"))
    if evaluation.breaks is None or not len(evaluation.breaks):
        return marked
    causes = pd.Categorical(evaluation.breaks["cause"])
    of_rows = np.full(len(matches), -1)
    of_rows[evaluation.breaks["row"]] = causes.codes
    return marked.assign(cause=pd.Categorical.from_codes(of_rows, dtype=causes.dtype))


def _shown(chosen: ChosenFrames, evaluation: Evaluation) -> pd.DataFrame:
    """The rows that the page shows with their kinds of error in words, and with what does not count."""
    rows = chosen.rows.assign(kind=chosen.rows["kind"].cat.rename_categories(display.words))
    rows.attrs = evaluation.matches.attrs
    truth = evaluation.truth.objects
    if "joint" in truth:
        return rows
    return with_ignored(rows, truth, {name: side.objects for name, side in evaluation.submissions.items()})


def _notes(chosen: ChosenFrames, view: View, behind: Pictures, has_images: bool) -> list[str]:
    """Notes about sequences, frames, columns and pictures that the page does not have."""
    n_shown, n_frames = len(chosen.sequences), view.about["frames"]["n"]
    order = (
        "the worst of each submission in turn"
        if len(view.about["submissions"]) > 1
        else "the one with most errors first"
    )
    notes = [f"All {n_shown:,} sequences are here, {order}." if n_shown > 1 else "The only sequence is here."]
    if n_shown < chosen.n_sequences:
        which = "as many as there is room for, the worst of each submission in turn and a sample of the others"
        notes = [f"{n_shown:,} of {chosen.n_sequences:,} sequences are here: {which}."]
    if chosen.n_cut:
        which = f"{OF_ERRORS}, and those around breaks," if view.about["identities"] else OF_ERRORS
        notes.append(f"Of long sequences only {which} are here: {chosen.n_cut:,} are left out.")
    if view.left_out:
        notes.append(f"Columns that are not shown here: {', '.join(view.left_out)}.")
    if view.n_boxed:
        drawn = f"In {view.n_boxed:,} of {view.n_masked:,} frames with masks, the boxes around the masks are drawn"
        notes.append(f"{drawn}: the run lengths of all masks would make the page too large to send.")
    if has_images:
        notes.append(f"{len(behind.of_frames):,} of {n_frames:,} frames have their picture behind them.")
    if behind.n_left_out:
        notes.append(f"{behind.n_left_out:,} pictures more would make the page too large to send; they are left out.")
    return notes
