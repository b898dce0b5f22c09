"""What matching leaves out of account, in words: warnings of columns, rows and sequences that decide nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..support import InputError, plain_value
from ..tables import Columns, as_numbers, first_values, messages, null_rows, other_words, provenance
from .agreement import Unknown, flags
from .alignment import Aligned
from .options import Header, header_of
from .rule import Rule

# Distances below this are hardly meant in pixels, and degrees have such.
SMALL = 0.1

# The columns of marks, with what they make of truths.
MARKED = {"crowd": "crowds", "ignore": "ignored"}

# Frames are counted from 0 or 1; numbers from this on are rather times: microseconds or nanoseconds since some moment.
CLOCK = 1e9


def left_out(aligned: Aligned, rule: Rule, *, of_part: bool = False) -> str | None:
    """A warning of what matching two aligned sides by this rule leaves out of account, or None.

    A part of the data (`of_part`) may lack categories that others have, so there it is no matter if none is shared.
    """
    truth, predictions = aligned.truth.table, aligned.predictions.table
    texts = [_flat(truth, predictions)] if rule.geometry.covered is not None else []
    texts.append(_several_sizes(aligned, rule))
    texts.append(marked_text(marked(predictions)))
    if rule.measure is None and rule.of_geometry is None:
        texts += [
            text_of(side, provenance.source(side, name))
            for name, side in _named(aligned)
            for text_of in (other_words.third_left_out, other_words.sky_left_out)
        ]
    texts += [
        _degrees(aligned, rule),
        one_sided_categories(*(header_of(side, name) for name, side in _named(aligned))),
    ]
    apart = None if of_part else classes_apart(aligned)
    texts.append(None if apart is None else apart_text(apart))
    texts.append(None if aligned.unknown is None else unknown_text(aligned.unknown))
    texts.append(None if of_part else _clocks(aligned))
    return "; ".join(filter(None, texts)) or None


def _named(aligned: Aligned) -> tuple[tuple[str, Columns], ...]:
    """The tables of the two sides with their names."""
    return (("truth", aligned.truth.table), ("predictions", aligned.predictions.table))


def _flat(truth: Columns, predictions: Columns) -> str | None:
    """A warning of boxes of zero or negative size, which overlap with no box; None if there are none."""
    counts = {
        name: int(((table["w"] <= 0) | (table["h"] <= 0)).sum()) if {"w", "h"} <= {*table} else 0
        for name, table in (("truth", truth), ("predictions", predictions))
    }
    if not any(counts.values()):
        return None
    counted = " and ".join(f"{count} of the {name}" for name, count in counts.items() if count)
    return f"boxes of zero or negative size overlap with nothing: {counted}"


def marked(predictions: Columns) -> dict[str, np.ndarray | None]:
    """Which predictions are marked as crowds or as ignored, which only truths can be, by the column that says so.

    None where a column holds something else than marks; columns without a mark are left out.
    """
    found: dict[str, np.ndarray | None] = {}
    for column in MARKED:
        try:
            marks = flags(predictions, column)
        except InputError:
            if not null_rows(predictions[column]).all():
                found[column] = None
        else:
            if marks is not None and marks.any():
                found[column] = marks
    return found


def marked_text(found: Mapping[str, np.ndarray | None]) -> str | None:
    """The warning of predictions that are marked, by what `marked` returned; None without any."""
    if not found:
        return None
    texts = [
        f"column {column} plays no part, since only truths can be {MARKED[column]}"
        + ("" if marks is None else f", so the predictions that it marks count all the same ({int(marks.sum()):,})")
        for column, marks in found.items()
    ]
    return f"predictions: {'; '.join(texts)}; drop the rows that should not count"


def _several_sizes(aligned: Aligned, rule: Rule) -> str | None:
    """A warning of frames whose rows differ in what all should share, such as the size of the image; or None."""
    columns = rule.geometry.same_in_frame
    sides = [side for side in (aligned.truth, aligned.predictions) if len(side.frame)]
    if not columns or not sides:
        return None
    frame, several = np.concatenate([side.frame for side in sides]), np.zeros(len(aligned.frames), bool)
    for column in columns:
        values = np.concatenate([as_numbers(side.table[column]) for side in sides])
        least, most = np.full(len(several), np.inf), np.full(len(several), -np.inf)
        np.minimum.at(least, frame, values)
        np.maximum.at(most, frame, values)
        several |= least < most
    if not several.any():
        return None
    shared = f"{rule.geometry.called} of images of different sizes ({' and '.join(columns)}) overlap with nothing"
    return f"{shared}: {several.sum():,} of {len(several):,} frames"


def _clocks(aligned: Aligned) -> str | None:
    """A warning of frames that look like times and that no truth shares with a prediction; None for others."""
    sides = [np.asarray(side.table["frame"]) for side in (aligned.truth, aligned.predictions)]
    if not all(len(frames) and np.median(frames) >= CLOCK for frames in sides):
        return None
    if np.any((aligned.truth.counts > 0) & (aligned.predictions.counts > 0)):
        return None
    how = (
        "rename them to time, and align_times(truth, predictions, tolerance) gives predictions the frames of the truth"
    )
    return f"no frame has both truths and predictions, and frames look like times, such as {sides[1][0]}; {how}"


def _degrees(aligned: Aligned, rule: Rule) -> str | None:
    """A warning of coordinates that look like degrees and are measured as if the sky were flat; or None."""
    if rule.own_distance or rule.tau is None or rule.tau >= SMALL:
        return None
    tables = [side.table for side in (aligned.truth, aligned.predictions) if len(side.frame)]
    filled = [(table["x"], table["y"]) for table in tables if "x" in table and "y" in table]
    if not filled or not all(_are_degrees(x, y) for x, y in filled):
        return None
    how = "call them ra and dec if they are, to measure great circles"
    return f"x and y may be degrees, within 360 and 90, and tau is {rule.tau:g}; they are measured as flat; {how}"


def _are_degrees(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether coordinates may be longitudes and latitudes, in degrees, and not shares of an image."""
    within = bool(np.abs(x).max() <= 360 and np.abs(y).max() <= 90)
    return within and bool(x.min() < 0 or y.min() < 0 or x.max() > 1 or y.max() > 1)


def one_sided_categories(truth: Header, predictions: Header) -> str | None:
    """A warning of categories that only one side has; or None."""
    sides = {"truth": truth, "predictions": predictions}
    has_category = {name: "category" in side.columns for name, side in sides.items() if side.n_rows}
    if len(has_category) < 2 or len({*has_category.values()}) < 2:
        return None
    has = next(name for name, category in has_category.items() if category)
    [lacks] = [name for name in sides if name != has]
    only = "truth has" if has == "truth" else "predictions have"
    text = f"categories are not compared, since only the {only} a column category"
    found = other_words.in_other_words("category", sides[lacks].columns)
    return f'{text}; if {found[0]} is that of the {lacks}, call tidy(table, category="{found[0]}")' if found else text


def apart_text(names: Sequence[str]) -> str:
    """The warning of sides that have no category in common, by the first ones of each."""
    return f"no category is on both sides, so nothing can match: the truth has {names[0]}; the predictions {names[1]}"


def apart_of_parts(truth: set[Any], predictions: set[Any]) -> str | None:
    """The warning of sides that have no category in common, by all categories that parts of them have; or None.

    Null, which crowds of the truth may have, is none.
    """
    truth = {name for name in truth if plain_value(name) is not None}
    if not truth or not predictions or not truth.isdisjoint(predictions):
        return None
    # Sets have no order of their own.
    return apart_text([messages.first_listed(map(repr, sorted(names, key=str))) for names in (truth, predictions)])


def classes_apart(aligned: Aligned) -> list[str] | None:
    """The first categories of the truth and of the predictions, if both have some and none in common; else None.

    A crowd without a category, -1, is of none.
    """
    codes = aligned.truth.category, aligned.predictions.category
    if codes[0] is None or codes[1] is None or not (len(codes[0]) and len(codes[1])):
        return None
    named = codes[0] >= 0
    if not named.any() or codes[0][0] == codes[1][0] or np.isin(codes[1], np.unique(codes[0])).any():
        return None
    columns = aligned.truth.table["category"][named], aligned.predictions.table["category"]
    return [messages.first_listed(map(repr, first_values(values, messages.MOST_NAMED + 1))) for values in columns]


def unknown_text(unknown: Unknown, *, labelled: bool = True) -> str:
    """The warning of sequences that have predictions and no truth; `labelled` says that `frames="labelled"` helps."""
    which = f"{unknown.n_sequences:,} sequences" if unknown.n_sequences > 1 else "1 sequence"
    how = 'frames="labelled" leaves out what lies in no frame of the truth'
    text = f"{which} of the predictions ({messages.first_listed(unknown.first)})"
    has = "have" if unknown.n_sequences > 1 else "has"
    count = f"{unknown.n_predictions:,} predictions there count" if unknown.n_predictions > 1 else "1 prediction counts"
    return f"{text} {has} no truth at all; {count} as false alarms" + (f"; {how}" if labelled else "")
