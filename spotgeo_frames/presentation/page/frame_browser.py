"""What the frame browser of the page holds: the rows of the worst sequences and of a sample, as plain lists.

A page that held every sequence of a survey would be too large to open, so it holds at most SEQUENCES_HELD of them, and
about ROWS_HELD rows: half of them the worst of each submission in turn, by misses and false alarms, and half drawn from
all others. Of a long sequence it holds the FRAMES_HELD frames after one another that have most errors.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...support.keys import distinct, positions, row_keys
from ...tables.schema import FN, FP, FRAME_KEY, TP
from ..display import words

SEQUENCES_HELD = 200
FRAMES_HELD = 50
ROWS_HELD = 24_000

# Coordinates are held to so many digits behind the first of tau, more than any screen shows.
DIGITS = 3


class Held(NamedTuple):
    """What the browser holds.

    `sequences` are the names of those held, worst first; `rows` their rows of the match tables, with `held`, the
    position of each row's sequence; `extent` is left, right, top and bottom (px) of what is drawn; `n_sequences` is
    how many there are in all, and `n_cut` how many frames of those that are held are left out.
    """

    sequences: list[Any]
    rows: pd.DataFrame
    extent: tuple[float, float, float, float]
    n_sequences: int
    n_cut: int


def hold(matches: pd.DataFrame) -> Held:
    """Chooses the sequences and frames of the frame browser; `matches` have the columns `submission` and `kind`."""
    keys = row_keys(matches, FRAME_KEY)
    values, first = distinct(keys)
    frame = positions(keys, values, first)
    outcome = matches["outcome"].array.codes
    wrong = (outcome == FN) | (outcome == FP)
    sizes = np.bincount(frame, minlength=len(first))
    sequences = row_keys(matches.take(first), ["sequence"])
    values, first_frame = distinct(sequences)
    sequence = positions(sequences, values, first_frame)
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
    return Held(names, rows, _extent(matches, matches.attrs["tau"]), len(first_frame), n_cut)


def _in_worst_window(errors: np.ndarray, sequence: np.ndarray, first: np.ndarray, n_shown: int) -> np.ndarray:
    """Marks the frames to show: of each sequence the `n_shown` after one another with most errors, the first such.

    Frames are sorted by their sequence; `first` is the first frame of each.
    """
    sums = np.concatenate([[0], np.cumsum(errors)])
    ends = np.append(first[1:], len(errors))[sequence]
    place = np.arange(len(errors))
    window = sums[np.minimum(place + n_shown, ends)] - sums[place]
    best = np.lexsort([place, -window, sequence])[first]
    begin = np.minimum(best, np.maximum(np.append(first[1:], len(errors)) - n_shown, first))[sequence]
    return (place >= begin) & (place < begin + n_shown)


def _chosen(errors: np.ndarray, sizes: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """The sequences to hold, worst first: as many as there is room for, half of it for the worst of each submission.

    `errors` are counts (sequences, submissions), `sizes` rows of each sequence.
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
    """The first of an order whose sizes add up to no more than there is room for; one at least, where `most` allows."""
    fits = np.cumsum(sizes[order]) <= room
    return order[: min(max(int(fits.sum()), 1), most)]


def _extent(matches: pd.DataFrame, tau: float) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of the truths with a margin, and of the predictions that are not far outside."""
    bounds: list[float] = []
    for axis in "xy":
        truth, predicted = (matches[f"{side}_{axis}"].dropna().to_numpy(np.float64) for side in ("truth", "predicted"))
        known = truth if len(truth) else predicted
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        margin = max(0.25 * (high - low), tau)
        near = predicted[(predicted >= low - margin) & (predicted <= high + margin)]
        if len(near):
            low, high = min(low, float(near.min())), max(high, float(near.max()))
        # Something remains to be seen, however large the numbers are.
        room = max(0.02 * (high - low), 0.2 * tau, 1e-6 * abs(low), 1e-6 * abs(high))
        bounds += [low - room, high + room]
    left, right, top, bottom = bounds
    return left, right, top, bottom


def decimals(tau: float) -> int:
    """How many decimals coordinates (px) are held and shown to."""
    return int(np.clip(DIGITS - np.floor(np.log10(tau)), 0, 15))


def packed(held: Held, submissions: list[str], by_sequence: pd.DataFrame, tau: float) -> dict[str, Any]:
    """What the page's script needs, as plain lists.

    Of each submission: `order`, the held sequences, worst first; `labels`, what to call them; and `frames`, of each
    sequence its frames: number (text, since a script knows no large integers), first and last row (exclusive), counts
    of TP, FN and FP. `rows` has the columns of the rows, in that order. `by_sequence` is the summary by submission and
    sequence.
    """
    submission = held.rows["submission"].cat.codes.to_numpy()
    places, frames = (held.rows[column].to_numpy(np.int64) for column in ("held", "frame"))
    order = np.lexsort([np.arange(len(held.rows)), frames, places, submission])
    rows = held.rows.take(order).assign(number=submission[order])
    listed: list[dict[str, Any]] = [
        _labelled(name, by_sequence[by_sequence["submission"] == name], held.sequences)
        | {"frames": [[] for _ in held.sequences]}
        for name in submissions
    ]
    for (number, place, frame), first, last, counts in _frames(rows):
        listed[number]["frames"][place].append([str(frame), first, last, *counts])
    for one in listed:  # a submission need not have all sequences
        one["order"] = [place for place in one["order"] if one["frames"][place]]
    names = [str(name) for name in held.sequences]
    n_decimals = decimals(tau)
    return {"submissions": listed, "rows": _columns(rows, n_decimals), "sequences": names, "decimals": n_decimals}


def _labelled(name: str, numbers: pd.DataFrame, sequences: list[Any]) -> dict[str, Any]:
    """A submission with its name, `order` and `labels`; `numbers` is its summary by sequence."""
    found = numbers.set_index("sequence")
    misses, alarms = (found[column].reindex(sequences).fillna(0).to_numpy(np.int64) for column in ("fn", "fp"))
    labels = [
        f"{sequence}: {n_misses:,} missed, {n_alarms:,} false"
        for sequence, n_misses, n_alarms in zip(sequences, misses, alarms, strict=True)
    ]
    order = np.lexsort([np.arange(len(misses)), -(misses + alarms)])
    return {"name": name, "order": order.tolist(), "labels": labels}


def _frames(rows: pd.DataFrame) -> Iterator[tuple[list[int], int, int, list[int]]]:
    """Submission, held sequence and frame; its rows [first, last); its TP, FN and FP."""
    keys = rows[["number", "held", "frame"]].to_numpy(np.int64)
    first = np.flatnonzero(np.any(np.diff(keys, axis=0, prepend=keys[:1] - 1) != 0, axis=1))
    outcome = rows["outcome"].cat.codes.to_numpy()
    frame = np.repeat(np.arange(len(first)), np.diff(first, append=len(rows)))
    counts = np.bincount(frame * 4 + outcome, minlength=4 * len(first)).reshape(-1, 4)[:, [TP, FN, FP]]
    return zip(keys[first].tolist(), first.tolist(), [*first[1:].tolist(), len(rows)], counts.tolist(), strict=True)


def _columns(rows: pd.DataFrame, n_decimals: int) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        "outcome": rows["outcome"].cat.codes.tolist(),
        "kind": [None if pd.isna(kind) else words(kind) for kind in rows["kind"]],
    }
    for name in ("truth_x", "truth_y", "predicted_x", "predicted_y", "distance"):
        columns[name] = rows[name].to_numpy(np.float64).round(n_decimals).tolist()
    if "predicted_score" in rows:
        columns["score"] = rows["predicted_score"].tolist()
    joints = rows["joint"].tolist() if "joint" in rows else None
    for side in ("truth", "predicted"):
        names = [None if pd.isna(name) else str(name) for name in rows[f"{side}_object"]]
        if joints is not None:
            names = [None if name is None else f"{name}, {joint}" for name, joint in zip(names, joints, strict=True)]
        columns[f"{side}_object"] = names
    return columns
