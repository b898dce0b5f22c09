"""What `spotgeo-frames` alone says: which files of this folder can be evaluated, and the commands that do so.

The commands read the files themselves and say what is wrong with one. Where it is not sure which files belong together,
fewer commands are better than wrong ones.
"""

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .entries import EXACT, MOST_ENTRIES, OF_PREDICTIONS, OF_TRUTH, Entry, entries_of, side_said, words_of
from .layout import note, prose
from .terminal import styled

# The most groups of files that commands are shown for, the most that are mentioned with one command each, and the most
# submissions of one command.
MOST_GROUPS = 2
MOST_MENTIONED = 4
MOST_SUBMISSIONS = 4

# What is said below the help where a folder has no files to evaluate.
NOTHING_HERE = "Found no truth with predictions next to it, judging by file names and first lines. To begin:"
BEGIN = [
    ("Files of points or boxes; with --json for programs:", "score TRUTH SUBMISSION"),
    ("Tracks:", "track TRUTH TRACKER"),
    ("Average precision of detections with scores:", "ap TRUTH RESULTS"),
    ("The files and options that a command takes:", "score --help"),
]


class Kind(NamedTuple):
    """The files of one kind: what they are, the command that gives their numbers, and options that commands need."""

    title: str
    command: str
    options: str = ""
    of_page: str = ""


CORNERS = " --box-format xyxy"
KINDS = {
    "spotgeo": Kind("JSON of the spotGEO challenge", "score"),
    "points": Kind("tables of points", "score"),
    "boxes": Kind("tables of boxes", "score"),
    "boxes by corners": Kind("tables of boxes by their corners", "score", CORNERS, CORNERS),
    "oriented boxes": Kind("tables of oriented boxes", "score"),
    "masks": Kind("tables of masks", "score"),
    "joints": Kind("tables of joints", "score"),
    "points in space": Kind("tables of points in space", "score"),
    # Both are in catalogues of pixels, whose x and y are compared once a tau says so.
    "points with places in the sky": Kind("tables of points, compared within 10 px", "score", " --tau 10", " --tau 10"),
    "sky": Kind("tables of places in the sky, compared within 2 arcsec", "score", " --tau 2", " --tau 2"),
    "coco": Kind("COCO JSON", "ap", "", " --similarity iou"),
    "coco masks": Kind("COCO JSON with masks", "ap", " --masks", " --masks"),
    "coco keypoints": Kind("COCO JSON with keypoints", "ap", " --keypoints", " --similarity oks"),
    "motchallenge": Kind("folders of tracks", "track"),
    "posetrack": Kind("folders of poses", "pose"),
}

# Tables whose objects `track` follows without a rule.
TRACKED = ("points", "boxes", "boxes by corners", "oriented boxes", "masks")


class Group(NamedTuple):
    """Files that belong together: their kind, the truth and its submissions."""

    kind: str
    truth: Entry
    submissions: Sequence[Entry]


def suggestions() -> str | None:
    """The files of the working folder that can be evaluated and the commands that do; None where there are none."""
    entries, are_more = entries_of(os.curdir)
    groups = [group for kind in KINDS for group in _groups(entries, kind)]
    if not groups:
        return None
    frames = [entry.name for entry in entries if entry.kind == "frames"]
    parts = [_commands(group, frames) for group in groups[:MOST_GROUPS]]
    for group in groups[MOST_GROUPS : MOST_GROUPS + MOST_MENTIONED]:
        [(_, command), *_] = _asked(group, frames)
        parts.append(f"{prose(f'This folder also has {KINDS[group.kind].title}:')}\n{_shown(command)}")
    parts += [_not_looked_at()] if are_more else []
    return "\n\n".join([*parts, prose("spotgeo-frames --help lists all commands, and COMMAND --help explains one.")])


def beginning() -> str:
    """How to begin in a folder that has no files to evaluate."""
    _, are_more = entries_of(os.curdir)
    parts = [_not_looked_at()] if are_more else []
    return "\n\n".join([*parts, prose(NOTHING_HERE), *(f"{what}\n{_shown(command)}" for what, command in BEGIN)])


def _not_looked_at() -> str:
    return note(f"Only the first {MOST_ENTRIES} files and folders were looked at, those named as truths before others.")


def _groups(entries: Sequence[Entry], kind: str) -> Iterator[Group]:
    """The truths of a kind, each with the submissions that share the most words with its name.

    Those without a shared word go to a truth that is called just so, or else to the first.
    """
    of_kind = [entry for entry in entries if entry.kind == kind]
    boxes = [entry for entry in entries if entry.kind == "coco" and entry.side == "truth"]  # which may have masks, too
    known = [*of_kind, *boxes] if kind == "coco masks" else of_kind
    truths = sorted((entry for entry in known if _side(entry) == "truth"), key=lambda entry: not _is_exact(entry.name))
    others = [entry for entry in of_kind if entry not in truths]
    of_truth: dict[Entry, list[Entry]] = {truth: [] for truth in truths}
    for submission in sorted(others, key=lambda entry: _side(entry) != "predictions") if truths else ():
        of_truth[max(truths, key=lambda truth: _n_shared(truth, submission))].append(submission)
    yield from (Group(kind, truth, submissions) for truth, submissions in of_truth.items() if submissions)


def _side(entry: Entry) -> str:
    return entry.side or side_said(entry.name)


def _is_exact(name: str) -> bool:
    return words_of(name) - {"ground"} <= EXACT


def _n_shared(truth: Entry, submission: Entry) -> int:
    """How many words two names share beyond those that tell the side."""
    return len((words_of(truth.name) & words_of(submission.name)) - OF_TRUTH - OF_PREDICTIONS)


def _commands(group: Group, frames: Sequence[str]) -> str:
    """The commands for a truth and its submissions, each with what it answers."""
    title = KINDS[group.kind].title
    lines = [note(f"{title[0].upper()}{title[1:]}: {group.truth.name} looks like the truth.")]
    for question, command in _asked(group, frames):
        lines += ["", prose(question), _shown(command)]
    return "\n".join(lines)


def _asked(group: Group, frames: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Questions about files, the first of which asks for their numbers, and the commands that answer them.

    Where frames are listed, those commands that cannot take the list would count others, and are left out.
    """
    of, truth, first = KINDS[group.kind], group.truth.name, group.submissions[0].name
    several = _words([truth, *(entry.name for entry in group.submissions[:MOST_SUBMISSIONS])])
    pair = _words([truth, first])
    is_table = of.title.startswith("tables")
    may_list = is_table and bool(frames)
    listed = f" --frames {_words(frames)}" if may_list and len(frames) == 1 else ""  # of several, any may be meant
    yield f"How good is {first}?", f"{of.command} {pair}{of.options}{listed}"
    may_be_tracks = all(entry.may_be_tracks for entry in (group.truth, *group.submissions))
    if group.kind in TRACKED and may_be_tracks and not may_list:
        yield "How good are its tracks, if object names the same object in all frames?", f"track {pair}{of.of_page}"
    if len(group.submissions) > 1 and not may_list:
        yield "Which is better, and is the difference real?", f"compare {several}{of.of_page}"
    page = f"report {several} --out report.html{of.of_page}{listed}"
    yield "Why? A page with the errors, slices and frames:", page
    if group.kind == "spotgeo":
        yield "Would the competition take it?", f"validate {_words([first])}"
    elif is_table and not may_list:
        yield "Are there common mistakes, such as exchanged axes?", f"check {pair}{of.of_page}"


def _shown(command: str) -> str:
    """A command on one line, to be pasted."""
    return f"  {styled(f'spotgeo-frames {command}', 'bold')}"


def _words(names: Sequence[str]) -> str:
    """Names as arguments of a shell, none of which is an option."""
    return shlex.join(os.path.join(os.curdir, name) if name.startswith("-") else name for name in names)
