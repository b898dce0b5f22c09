"""The section of the frames themselves: the viewer, and its pictures."""

from typing import Any

from ....scoring.group_sums import summary_sums
from ....scoring.summary import summary_of
from ....tables.schema import BOX, SIDE_PREFIXES
from ...rule_texts import measure_title
from ..evaluation import Evaluation
from ..frame_browser import Held, hold, packed
from ..frame_chart import frame_chart
from ..html.blocks import Section, Text, Viewer
from ..pictures import Pictures, pictures


def section(evaluation: Evaluation) -> Section:
    """Makes the section."""
    rule = evaluation.rule
    held = hold(evaluation.matches, rule.tau)
    behind = Pictures({}, None, 0) if evaluation.images is None else pictures(evaluation.images, held)
    by_sequence = summary_of(summary_sums(evaluation.matches, ["submission", "sequence"]))
    browser: dict[str, Any] = packed(held, evaluation.names, by_sequence, rule.tau)
    boxed = any(f"{prefix}w" in browser["rows"] for prefix in SIDE_PREFIXES)
    browser |= {
        "spec": frame_chart(held.extent, behind.box, measure_title(rule), boxed),
        "pictures": {"uris": behind.uris, "box": behind.box},
        "measureTitle": measure_title(rule),
        "geometry": [
            f"{side} {', '.join(name for name in BOX if f'{prefix}{name}' in browser['rows'])}, px"
            for prefix, side in zip(SIDE_PREFIXES, ("true", "predicted"), strict=True)
        ],
    }
    notes = [Text(note, "note") for note in _notes(held, behind)]
    warnings = [] if behind.warning is None else [behind.warning]
    return Section("frames", "Frames", "Frames", [*notes, Viewer(browser)], warnings=warnings)


def _notes(held: Held, behind: Pictures) -> list[str]:
    """Notes about sequences, frames and pictures that the page does not have."""
    n_held, n_frames = len(held.sequences), len(held.rows[["held", "frame"]].drop_duplicates())
    notes = [f"All {n_held:,} sequences are here, the one with most errors first."]
    if n_held < held.n_sequences:
        chosen = "as many as there is room for, the worst of each submission in turn and a sample of the others"
        notes = [f"{n_held:,} of {held.n_sequences:,} sequences are here: {chosen}."]
    if held.n_cut:
        notes.append(f"Of long sequences only the frames with most errors are here: {held.n_cut:,} are left out.")
    if behind.box is not None:
        n_pictures = sum(map(len, behind.uris.values()))
        notes.append(f"{n_pictures:,} of {n_frames:,} frames have their picture behind them.")
    if behind.n_left_out:
        notes.append(f"{behind.n_left_out:,} pictures more would make the page too large to send; they are left out.")
    return notes
