"""The section of the frames themselves: the viewer with its filter and gallery, and the pictures behind the frames."""

import numpy as np
import pandas as pd

from ....analysis.errors.track_repairs import track_rows
from ...drawing.charts.of_places import bin_edges
from ...drawing.charts.parts import short_names
from ...drawing.display import words
from ...drawing.wording import measure_title
from ...viewer.packing import compressed
from ...viewer.rows import with_ignored
from ...viewer.view import View, view_of
from ..bins import bins_of
from ..chosen_frames import ChosenFrames, choose_frames
from ..evaluation import Evaluation, matches_of_name
from ..frame_pictures import Pictures, pictures
from ..html.blocks import Section, Text, Viewer

ABOUT = "Bars and cells of charts, and underlined cells of tables, lead here: a click shows the frames that they count."


def section(evaluation: Evaluation) -> Section:
    """Makes the section."""
    rule = evaluation.rule
    chosen = choose_frames(_with_gaps(evaluation).assign(**bins_of(evaluation)))
    edges = bin_edges(evaluation.matches, evaluation.names, rule)
    view = view_of(_shown(chosen, evaluation), measure_title(rule), rule.image_tau, chosen.sequences, edges)
    behind = Pictures({}, 0) if evaluation.images is None else pictures(evaluation.images, chosen)
    viewer = Viewer(view.about, compressed(view.content), behind.of_frames, short_names(evaluation.names))
    texts = [ABOUT, *_notes(chosen, view, behind, has_images=evaluation.images is not None)]
    notes = [Text(text, "note") for text in texts]
    warnings = [] if behind.warning is None else [behind.warning]
    return Section("frames", "Frames", "Frames", [*notes, viewer], warnings=warnings)


def _with_gaps(evaluation: Evaluation) -> pd.DataFrame:
    """The match tables of all submissions; of tracks, the `event` of a miss between two matches is a gap."""
    matches = evaluation.matches
    if "event" not in matches:
        return matches
    in_gaps = [track_rows(matches_of_name(evaluation, name)).in_gaps for name in evaluation.names]
    events = matches["event"].cat.add_categories(["gap"])
    return matches.assign(event=events.mask(np.concatenate(in_gaps), "gap"))


def _shown(chosen: ChosenFrames, evaluation: Evaluation) -> pd.DataFrame:
    """The rows that the page shows with their kinds of error in words, and with crowds and what these explain."""
    rows = chosen.rows.assign(kind=chosen.rows["kind"].cat.rename_categories(words))
    truth = evaluation.truth.objects
    if "crowd" not in truth or "joint" in truth:
        return rows
    return with_ignored(rows, truth, {name: side.objects for name, side in evaluation.submissions.items()})


def _notes(chosen: ChosenFrames, view: View, behind: Pictures, has_images: bool) -> list[str]:
    """Notes about sequences, frames, columns and pictures that the page does not have."""
    n_shown, n_frames = len(chosen.sequences), view.about["frames"]["n"]
    notes = [f"All {n_shown:,} sequences are here, the one with most errors first."]
    if n_shown < chosen.n_sequences:
        which = "as many as there is room for, the worst of each submission in turn and a sample of the others"
        notes = [f"{n_shown:,} of {chosen.n_sequences:,} sequences are here: {which}."]
    if chosen.n_cut:
        notes.append(f"Of long sequences only the frames with most errors are here: {chosen.n_cut:,} are left out.")
    if view.left_out:
        notes.append(f"Columns that are not shown here: {', '.join(view.left_out)}.")
    if has_images:
        notes.append(f"{len(behind.of_frames):,} of {n_frames:,} frames have their picture behind them.")
    if behind.n_left_out:
        notes.append(f"{behind.n_left_out:,} pictures more would make the page too large to send; they are left out.")
    return notes
