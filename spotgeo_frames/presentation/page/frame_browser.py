"""The data of the page's frame browser: rows of the worst sequences and of a sample of the others, as plain lists.

A page with every sequence of a survey would be too large to open. The browser therefore has at most SEQUENCES_HELD
sequences and about ROWS_HELD rows, of whole poses as many joints: one half are the sequences with the most misses and
false alarms, of each submission in turn, and the other half are drawn at random from all other sequences. Of a long
sequence it has the FRAMES_HELD consecutive frames with the most errors.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...support.keys import grouped, row_keys
from ...tables.schema import BOX, FN, FP, FRAME_KEY, SIDE_PREFIXES, TP, has_boxes, measure_of, pose_columns, pose_joints
from ..display import words

SEQUENCES_HELD = 200
FRAMES_HELD = 50
ROWS_HELD = 24_000

# Coordinates are rounded this many digits after the first digit of tau, which is finer than any screen. After matching
# by similarity there is no tau; then a length is taken that is this share of the width of what is drawn.
DIGITS = 3
SEEN = 0.02

SIZES = {"x": "w", "y": "h"}


class Held(NamedTuple):
    """The sequences and rows that the frame browser has.

    Attributes
    ----------
    sequences
        The names of its sequences, worst first.
    rows
        Their rows of the match tables; the column `held` is the position of each row's sequence in `sequences`.
    extent
        The left, right, top and bottom (px) of the drawn area.
    n_sequences
        The count of all sequences of the report.
    n_cut
        The count of frames that were left out because their sequence is long.
    """

    sequences: list[Any]
    rows: pd.DataFrame
    extent: tuple[float, float, float, float]
    n_sequences: int
    n_cut: int


def hold(matches: pd.DataFrame, tau: float | None) -> Held:
    """Chooses the sequences and frames of the frame browser from `matches` with `submission` and `kind`.

    `tau` is the largest distance of a true positive (px), None after matching by similarity.
    """
    frame, first = grouped(row_keys(matches, FRAME_KEY))
    outcome = matches["outcome"].array.codes
    wrong = (outcome == FN) | (outcome == FP)
    sizes = np.bincount(frame, minlength=len(first)) * max(len(pose_joints(matches)), 1)
    sequence, first_frame = grouped(row_keys(matches.take(first), ["sequence"]))
    n_shown = int(np.clip(ROWS_HELD // 2 // max(sizes.max(initial=1), 1), 1, FRAMES_HELD))
    shown = _in_worst_window(np.bincount(frame, wrong, len(first)), sequence, first_frame, n_shown)
    submission = matches["submission"].cat
    n_submissions = len(submission.categories)
    cell = sequence[frame] * n_submissions + submission.codes.to_numpy()
    errors = np.bincount(cell, wrong, len(first_frame) * n_submissions)
    chosen = _chosen(
        errors.reshape(len(first_frame), -1), np.bincount(sequence, sizes * shown), np.random.default_rng(0)
    )
    place = np.full(len(first_frame), -1)
    place[chosen] = np.arange(len(chosen))
    of_frame = place[sequence]
    shown &= of_frame >= 0
    held = np.flatnonzero(shown[frame])
    names = matches["sequence"].take(first[first_frame[chosen]]).tolist()
    rows = matches.take(held).assign(held=of_frame[frame[held]]).reset_index(drop=True)
    n_cut = int(np.count_nonzero(of_frame >= 0) - np.count_nonzero(shown))
    return Held(names, rows, _extent(matches, tau or 0.0), len(first_frame), n_cut)


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


def _chosen(errors: np.ndarray, sizes: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Chooses as many sequences as there is room for, worst first; half of them are the worst of each submission.

    `errors` are counts (sequences, submissions), and `sizes` are the counts of rows of each sequence.
    """
    rank = np.argsort(np.argsort(-errors, axis=0, kind="stable"), axis=0)
    worst = np.lexsort([-errors.sum(axis=1), rank.min(axis=1)])
    if len(worst) <= SEQUENCES_HELD and sizes.sum() <= ROWS_HELD:
        return worst
    first = _fitting(worst, sizes, SEQUENCES_HELD // 2, ROWS_HELD // 2)
    others = random.permutation(np.setdiff1d(worst, first))
    room = ROWS_HELD - int(sizes[first].sum())
    sampled = _fitting(others, sizes, SEQUENCES_HELD - len(first), room) if room > 0 else others[:0]
    return worst[np.isin(worst, [*first, *sampled])]


def _fitting(order: np.ndarray, sizes: np.ndarray, most: int, room: int) -> np.ndarray:
    """The first sequences of an order whose sizes fit into `room`: at least one, and no more than `most`."""
    fits = np.cumsum(sizes[order]) <= room
    return order[: min(max(int(fits.sum()), 1), most)]


def _extent(matches: pd.DataFrame, tau: float) -> tuple[float, float, float, float]:
    """The left, right, top and bottom (px) of truths and of predictions that are not far outside, with a margin."""
    bounds: list[float] = []
    for axis in "xy":
        truth, predicted = (_places(matches, prefix, axis) for prefix in SIDE_PREFIXES)
        known = truth if len(truth) else predicted
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        margin = max(0.25 * (high - low), tau)
        near = predicted[(predicted >= low - margin) & (predicted <= high + margin)]
        if len(near):
            low, high = min(low, float(near.min())), max(high, float(near.max()))
        # The area keeps a visible size, however large the coordinates are.
        room = max(0.02 * (high - low), 0.2 * tau, 1e-6 * abs(low), 1e-6 * abs(high)) or 1.0
        bounds += [low - room, high + room]
    left, right, top, bottom = bounds
    return left, right, top, bottom


def _places(matches: pd.DataFrame, prefix: str, axis: str) -> np.ndarray:
    """The coordinates (px) along an axis of all that is drawn of one side: points, both edges of boxes, joints."""
    near = matches[f"{prefix}{axis}"]
    size = f"{prefix}{SIZES[axis]}"
    joints = [matches[f"{prefix}{axis}_{joint}"] for joint in pose_joints(matches)]
    places = [near, *([near + matches[size]] if has_boxes(matches, prefix) else []), *joints]
    return np.concatenate([values.dropna().to_numpy(np.float64) for values in places])


def decimals(length: float) -> int:
    """The count of decimals to which coordinates are rounded, where `length` (px) can surely be seen."""
    return int(np.clip(DIGITS - np.floor(np.log10(length)), 0, 15))


def packed(held: Held, submissions: list[str], by_sequence: pd.DataFrame, tau: float | None) -> dict[str, Any]:
    """Makes the data of the frame browser as plain lists for the page's script.

    Each submission has `order`, the positions of its sequences, worst first; `labels`, a text for each sequence; and
    `frames`, a list for each sequence with one entry for each frame: its number as text (JavaScript cannot represent
    large integers), its first row, the row after its last, and its counts of TP, FN and FP. `rows` has the columns of
    all rows, sorted by submission, sequence and frame. `by_sequence` is the summary by submission and sequence. `tau`
    is the largest distance of a true positive (px), None after matching by similarity.
    """
    submission = held.rows["submission"].cat.codes.to_numpy()
    places, frames = (held.rows[column].to_numpy(np.int64) for column in ("held", "frame"))
    order = np.lexsort([np.arange(len(held.rows)), frames, places, submission])
    rows = held.rows.take(order).assign(submission_code=submission[order])
    listed: list[dict[str, Any]] = [
        _labelled(name, by_sequence[by_sequence["submission"] == name], held.sequences)
        | {"frames": [[] for _ in held.sequences]}
        for name in submissions
    ]
    for (code, place, frame), first, last, counts in _frames(rows):
        listed[code]["frames"][place].append([str(frame), first, last, *counts])
    for entry in listed:  # a submission may lack some sequences
        entry["order"] = [place for place in entry["order"] if entry["frames"][place]]
    names = [str(name) for name in held.sequences]
    left, right, _, _ = held.extent
    n_decimals = decimals(SEEN * (right - left) if tau is None else tau)
    n_digits = DIGITS if measure_of(rows) == "similarity" else n_decimals
    return {
        "submissions": listed,
        "rows": _columns(rows, n_decimals, n_digits),
        "sequences": names,
        "decimals": n_decimals,
        "measureDecimals": n_digits,
    }


def _labelled(name: str, summary: pd.DataFrame, sequences: list[Any]) -> dict[str, Any]:
    """The name, `order` and `labels` of a submission, from its summary by sequence."""
    by_name = summary.set_index("sequence")
    misses, alarms = (by_name[column].reindex(sequences).fillna(0).to_numpy(np.int64) for column in ("fn", "fp"))
    labels = [
        f"{sequence}: {n_misses:,} missed, {n_alarms:,} false"
        for sequence, n_misses, n_alarms in zip(sequences, misses, alarms, strict=True)
    ]
    order = np.lexsort([np.arange(len(misses)), -(misses + alarms)])
    return {"name": name, "order": order.tolist(), "labels": labels}


def _frames(rows: pd.DataFrame) -> Iterator[tuple[list[int], int, int, list[int]]]:
    """For each frame: its submission, sequence and number; its first row; the row after its last; TP, FN and FP."""
    keys = rows[["submission_code", "held", "frame"]].to_numpy(np.int64)
    first = np.flatnonzero(np.any(np.diff(keys, axis=0, prepend=keys[:1] - 1) != 0, axis=1))
    outcome = rows["outcome"].cat.codes.to_numpy()
    frame = np.repeat(np.arange(len(first)), np.diff(first, append=len(rows)))
    counts = np.bincount(frame * 4 + outcome, minlength=4 * len(first)).reshape(-1, 4)[:, [TP, FN, FP]]
    return zip(keys[first].tolist(), first.tolist(), [*first[1:].tolist(), len(rows)], counts.tolist(), strict=True)


def _columns(rows: pd.DataFrame, n_decimals: int, n_digits: int) -> dict[str, list[Any]]:
    """The columns of the rows as plain lists: coordinates to `n_decimals`, distances or similarities to `n_digits`."""
    columns: dict[str, list[Any]] = {
        "outcome": rows["outcome"].cat.codes.tolist(),
        "kind": [None if pd.isna(kind) else words(kind) for kind in rows["kind"]],
        "measure": rows[measure_of(rows)].to_numpy(np.float64).round(n_digits).tolist(),
    }
    for prefix in SIDE_PREFIXES:
        geometry = [f"{prefix}{name}" for name in (BOX if has_boxes(rows, prefix) else ("x", "y"))]
        columns |= {name: rows[name].to_numpy(np.float64).round(n_decimals).tolist() for name in geometry}
        if joints := pose_joints(rows):
            places = rows[[f"{prefix}{name}" for name in pose_columns(joints)]].to_numpy(np.float64).round(n_decimals)
            columns[f"{prefix}joints"] = [row[~np.isnan(row)].tolist() for row in places]
    if "predicted_score" in rows:
        columns["score"] = rows["predicted_score"].tolist()
    joint = rows["joint"].tolist() if "joint" in rows else None
    for prefix in SIDE_PREFIXES:
        names = [None if pd.isna(name) else str(name) for name in rows[f"{prefix}object"]]
        if joint is not None:
            names = [None if name is None else f"{name}, {of}" for name, of in zip(names, joint, strict=True)]
        columns[f"{prefix}object"] = names
    return columns
