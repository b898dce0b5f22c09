"""Submissions of `compare`, `gate` and `report`: files, and folders that `save` or `--out` wrote."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ..analysis.same_truth import truth_differences
from ..matching.noted_rule import rule_notes
from ..presentation.saved_folder import MANIFEST, is_saved
from ..presentation.saving import load_as
from ..scoring.evaluations import asked_table
from ..support.copies import local_copy
from ..support.errors import InputError
from ..support.progress import progress
from ..tables.annotations import Annotations, as_annotations
from ..tables.inputs import FileState, copy_state, note_source
from ..tables.match_sides import sides_of
from ..tables.schema import FILE_ORDER, PREFIXES, pose_columns, pose_joints
from ..tables.selections import without_sequences
from ..tracking.evaluate import Evaluated, evaluated, matches_of
from ..tracking.poses import PoseResult
from ..tracking.tracks import TrackResult
from .arguments import How, names_to_exclude, read_submissions, submission_names
from .text import rule_text


class Saved(NamedTuple):
    """A saved submission: its folder's name and state, what was loaded there, and the match table of this.

    `result` is a match table, or what `track` or `pose` returned.
    """

    name: str
    state: FileState | None
    result: Any
    matches: pd.DataFrame


def read_named(
    truth: Path, submissions: Sequence[Path], how: How, frames: Path | None = None
) -> tuple[Annotations, dict[str, Annotations | Saved]]:
    """The truth, and the submissions by their names; raises InputError where one cannot be accepted."""
    of_path: dict[Path, Annotations | Saved] = {path: _loaded(path) for path in submissions if _is_saved(path)}
    files = [path for path in submissions if path not in of_path]
    known, sides = read_submissions(truth, files, how, frames)
    of_path |= dict(zip(files, sides, strict=True))
    return known, dict(zip(submission_names(submissions), [of_path[path] for path in submissions], strict=True))


def read_evaluated(
    truth: Path, submissions: Sequence[Path], how: How, exclude: str
) -> tuple[Annotations, dict[str, Annotations | Saved], dict[str, Evaluated], list[int] | list[str] | None]:
    """The truth, the submissions and what they are evaluated to, by their names, and the sequences to leave out.

    Saved submissions are as they were evaluated. Raises InputError where one cannot be accepted.
    """
    known, named = read_named(truth, submissions, how)
    sides = {name: side for name, side in named.items() if isinstance(side, Annotations)}
    saved = {name: side for name, side in named.items() if isinstance(side, Saved)}
    left_out = names_to_exclude(exclude, [known, *sides.values()])
    check_saved(known, list(saved.values()), how, left_out)
    results = {
        name: evaluated(known, side, how.words, how.tracks, frames=how.frames)
        for name, side in progress(list(sides.items()), "matching", "submission")
    } | {name: side.result for name, side in saved.items()}
    return known, named, {name: results[name] for name in named}, left_out


def _is_saved(path: Path) -> bool:
    """Whether a submission is a folder that was saved."""
    with local_copy(path) as copy:
        return is_saved(copy.path)


def _loaded(path: Path) -> Annotations | Saved:
    """The submission in a folder that was saved."""
    with local_copy(path) as copy:
        state = copy_state(copy, (MANIFEST,))
        result, name = load_as(copy.path, "pandas"), copy.name
    if isinstance(result, Annotations) or (not isinstance(result, tuple) and "outcome" not in [*result.columns]):
        return as_annotations(result, name)
    if isinstance(result, tuple) and not isinstance(result, TrackResult | PoseResult):
        needed = "a match table, the result of track or pose, or predictions are needed"
        raise InputError(f"{name}: holds a result of type {type(result).__name__}; {needed}")
    return Saved(name, state, result, asked_table(result, name).matches)


def check_saved(
    truth: Annotations, saved: Sequence[Saved], how: How, exclude: Sequence[int] | Sequence[str] | None
) -> None:
    """Raises InputError if saved submissions were evaluated in another way than this, or with another truth.

    Sequences of `exclude` do not count.
    """
    problems = []
    for submission in saved:
        matches = submission.matches
        identity = matches.attrs.get("identity", "object")
        of_nothing = evaluated(truth, Annotations(truth.objects.iloc[:0]), how.words, how.tracks, identity)
        kind, needed = _kind(submission.result), _kind(of_nothing)
        if kind != needed:
            hint = "; give --tracks" if kind == "tracks" and not how.tracks else ""
            problems.append(f"{submission.name}: holds {kind}, and {needed} are evaluated here{hint}")
            continue
        without = matches_of(of_nothing)
        # That a result is by class is no matter of the rule; `compare` sees to it that all are, or none.
        noted, now = ({key: note for key, note in rule_notes(of).items() if key != "by"} for of in (matches, without))
        if noted and noted != now:
            rules = f"was evaluated by {rule_text(matches.attrs)}, and the rule is {rule_text(without.attrs)} now"
            problems.append(f"{submission.name}: {rules}; give the same rule, or evaluate the submission again")
            continue
        tables = {"TRUTH": without_sequences(without, exclude), "this folder": without_sequences(matches, exclude)}
        problems += truth_differences(submission.name, tables)
    if problems:
        raise InputError(problems)


def _kind(result: Any) -> str:
    """What a result is of."""
    return {TrackResult: "tracks", PoseResult: "poses"}.get(type(result), "detections")


def predictions_of(submission: Annotations | Saved) -> Annotations:
    """The predictions of a submission; those of a saved one come out of its match table, in the order of their file.

    Raises InputError if it has no coordinates.
    """
    if isinstance(submission, Annotations):
        return submission
    matches = submission.matches
    found = sides_of(matches, None).predictions.objects
    joints = pose_joints(matches)
    if joints:
        found = _joint_by_joint(found, joints)
    position = FILE_ORDER.removeprefix(PREFIXES["predictions"])
    side = as_annotations(found.drop(columns=position, errors="ignore"), submission.name)
    note_source(side.objects, submission.name, submission.state)
    return side


def source_of(submission: Annotations | Saved) -> pd.DataFrame:
    """A table that is noted as read from the file or folder of a submission."""
    if isinstance(submission, Annotations):
        return submission.objects
    noted = pd.DataFrame()
    note_source(noted, submission.name, submission.state)
    return noted


def _joint_by_joint(people: pd.DataFrame, joints: Sequence[Any]) -> pd.DataFrame:
    """The joints, one row each, of a table of whole poses, whose columns are such as x_nose."""
    others = people.drop(columns=pose_columns(joints))
    parts = []
    for joint in joints:
        named = others.assign(joint=joint, x=people[f"x_{joint}"], y=people[f"y_{joint}"])
        parts.append(named[named["x"].notna()])
    return pd.concat(parts).sort_index(kind="stable", ignore_index=True)
