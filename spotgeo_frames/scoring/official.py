"""Which official numbers those of match tables, tracks and poses are, or what keeps them from being official.

Everything is told from the notes of a table: the rule that it was made by, and what it left out. Average precision
tells it from its protocol (`ap/attribution.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

# The distances of the spotGEO challenge, px.
SPOTGEO = {"tau": 10.0, "epsilon": 3.0}

# The metrics of match tables that are the challenge's own.
OF_SPOTGEO = ("f1", "kelvins_mse", "mse")

NO_LEADERBOARD = "comparable with no leaderboard"
LOST = "the table has lost the notes that tell it"
TRACKEVAL = "HOTA, CLEAR and Identity as trackeval 1.3.0 computes them"

# What tracks leave out as kits do, by the note that counts it.
BY_KITS = {
    "crowds": "crowds taken out as KITTI's kit takes DontCare regions",
    "ignored": "ignored truths taken out as MOTChallenge's kit takes distractors",
}


# The note of several classes that were evaluated as one, which trackeval never does: how many there are.
CLASSES_TOGETHER = "classes_together"


def of_matches(notes: Mapping[Hashable, Any]) -> str:
    """The provenance of the numbers of a match table with these notes."""
    if "rule" not in notes:
        return LOST
    left_out = _left_out(notes)
    if notes.get("rule") != "distance" or notes.get("unit") not in (None, "px"):
        chosen = ", in the order of their scores" if notes.get("assignment") == "score" else ""
        matched = f"objects were matched one to one by {_rule(notes)}{chosen}{_with(left_out)}"
        return f"no official number: {matched}; {NO_LEADERBOARD}"
    if notes.get("assignment") == "least" and not left_out:
        words = f"c = {notes['tau']:g} px, p = {notes['power']:g}"
        return f"gospa (alpha = 2) and ospa of each frame as Stone Soup computes them ({words}); {NO_LEADERBOARD}"
    assignment = [f'assignment="{notes["assignment"]}"'] if "assignment" in notes else []
    changed = [f"{name}={notes[name]:g}" for name, value in SPOTGEO.items() if notes.get(name, value) != value]
    deviations = [*changed, *assignment, *left_out]
    if deviations:
        return f"the spotGEO challenge's rule with {'; '.join(deviations)}: {NO_LEADERBOARD}"
    server = "f1 and kelvins_mse as the spotGEO challenge's server computes them"
    return f"{server}, mse as its metric document defines it (tau 10 px, epsilon 3 px)"


def of_tracks(notes: Mapping[Hashable, Any]) -> str:
    """The provenance of the numbers of tracks whose tables have these notes."""
    if "rule" not in notes:
        return LOST
    left_out, slices = _left_out(notes), _slices(notes)
    if notes.get("rule") not in ("iou", "masks"):
        return f"trackeval's rule with objects similar by {_rule(notes)}{_with([*left_out, *slices])}: {NO_LEADERBOARD}"
    if CLASSES_TOGETHER in notes:
        return f'trackeval\'s rule with all classes evaluated together (by="category" has each): {NO_LEADERBOARD}'
    if unlabelled := _left_out({"unlabelled": notes.get("unlabelled")}):
        return f"trackeval's rule with {_and([*unlabelled, *slices])}: {NO_LEADERBOARD}"
    told = [f"{notes[name]:,} {words}" for name, words in BY_KITS.items() if notes.get(name)]
    return f"{TRACKEVAL}{f', {_and([*told, *slices])}' if told or slices else ''}"


def of_poses(notes: Mapping[Hashable, Any]) -> str:
    """The provenance of the numbers of poses whose tables have these notes."""
    if "rule" not in notes:
        return LOST
    deviations = [*_left_out(notes), *_slices(notes)]
    if deviations:
        return f"the rules of the PoseTrack21 kit and of poseval with {_and(deviations)}: {NO_LEADERBOARD}"
    return "keypoint HOTA as the PoseTrack21 kit computes it, MOTA and AP as poseval computes them"


def of_reidentified(notes: Mapping[Hashable, Any]) -> str:
    """The provenance of the numbers of people across sequences whose tables have these notes."""
    if "rule" not in notes:
        return LOST
    left_out = _left_out(notes)
    if left_out:
        return f"the rule of the PoseTrack21 kit for re-identification with {_and(left_out)}: {NO_LEADERBOARD}"
    return "keypoint HOTA across sequences as the PoseTrack21 kit computes it for re-identification"


def is_official(provenance: str) -> bool:
    """Whether a provenance names an official number."""
    return provenance != LOST and NO_LEADERBOARD not in provenance


def lines(provenance: str) -> list[str]:
    """The provenance as a line of a result's text; none where nothing tells it."""
    return [] if provenance == LOST else [provenance]


def _rule(notes: Mapping[Hashable, Any]) -> str:
    """The rule of a table in a few words."""
    name, unit = notes["rule"], notes.get("unit", "px")
    if notes.get("threshold") is not None and name != "point":
        return f"{name} from {notes['threshold']:g} on"
    return f"{name} within {notes['tau']:g} {unit}" if notes.get("tau") is not None else name


def _left_out(notes: Mapping[Hashable, Any]) -> list[str]:
    """What the official evaluators do not leave out, in words."""
    named = {
        "crowds": "crowds",
        "ignored": "ignored truths",
        "unlabelled": "predictions in frames that are not labelled",
    }
    return [f"{notes[name]:,} {words} left out" for name, words in named.items() if notes.get(name)]


def _slices(notes: Mapping[Hashable, Any]) -> list[str]:
    """What results by condition count, in words."""
    where = [f"only {notes['where']}"] if "where" in notes else []
    by = [f"each {notes['by']} by itself"] if notes.get("by", "category") != "category" else []
    if "near_no_truth" not in notes:
        return [*where, *by]
    taken = "other truths taken out as MOTChallenge's kit takes distractors"
    return [f"{'; '.join([*where, *by])} ({taken}; {near_no_truth_text(notes)})"]


def near_no_truth_text(notes: Mapping[Hashable, Any]) -> str:
    """How many predictions of results by condition no truth took, and where they count."""
    n, columns = notes["near_no_truth"], notes.get("by", "").split(", ")
    in_frames = any(column and not column.startswith("truth_") for column in columns)
    where = " in each slice" if columns != [""] else ""
    where += " that has their frame" if in_frames else ""
    return (
        f"{n:,} predictions that no truth took count{where}"
        if n != 1
        else f"1 prediction that no truth took counts{where}"
    )


def _with(deviations: list[str]) -> str:
    return f", with {_and(deviations)}" if deviations else ""


def _and(texts: list[str]) -> str:
    return ", and ".join(texts)
