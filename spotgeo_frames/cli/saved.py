"""Submissions of `compare`, `gate` and `report`: files, and folders that `save` or `--out` wrote.

They are evaluated as detections, tracks or poses, or by average precision where metrics of that are asked for. A folder
that `ap --out` wrote has the predictions, too, which can be evaluated in any way.
"""

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import pandas as pd

from ..analysis.certainty import truth_differences
from ..geometries import pose_joints
from ..matching import noted_rule
from ..presentation.folders import MANIFEST, is_saved, load_as
from ..presentation.page import objects_of
from ..scoring import (
    AP_METRICS,
    AveragePrecision,
    Matched,
    average_precision,
    further_among,
    most_text,
    sequence_sums,
)
from ..support import InputError, addresses, work
from ..tables import (
    Annotations,
    By,
    Columns,
    as_annotations,
    dataframe_of,
    messages,
    provenance,
    selections,
    sides_of,
)
from ..tracking import Evaluated, PoseResult, TrackResult, conditions, evaluated, matches_of
from .arguments import How, names_to_exclude, read_submissions
from .printing import WrongUsage, wrong_usage
from .submissions import Submission, submission_names
from .text import rule_text

# The average recall that some number of detections reaches; of COCO's metrics, the one whose name may vary.
RECALL = re.compile(r"AR\d+")

# What a submission is evaluated to.
Result = Evaluated | AveragePrecision


class Saved(NamedTuple):
    """A saved submission: its folder's name and state, what was loaded there, and the match table of this.

    `result` is a match table, or what `track`, `pose` or `average_precision` returned; of the latter, `matches` has the
    truths alone.
    """

    name: str
    state: provenance.FileState | None
    result: Any
    matches: pd.DataFrame


class Given(NamedTuple):
    """The truth, the submissions by their names, how to evaluate them, and the sequences to leave out or None.

    `of_precision` are the arguments of average precision that a saved one was made with, or that are asked for.
    """

    truth: Annotations
    named: dict[str, Annotations | Saved]
    how: How
    exclude: list[int] | list[str] | None
    of_precision: Mapping[str, Any]


def precision_among(metrics: Iterable[str], how: How) -> list[str]:
    """The numbers of average precision among these metrics; those of tracks and poses are others.

    Raises WrongUsage if the options of the rule do not fit them.
    """
    names = list(metrics)
    found = [name for name in names if name in AP_METRICS or RECALL.fullmatch(name) or further_among([name])]
    found = [] if how.tracks else found
    if found:
        check_options(found[0], how, alone=len(found) == len(names))
    elif how.protocol is not None:
        other = f"{names[0]} is not part of it" if names else "tracks have none"
        raise WrongUsage(
            f"--protocol applies to average precision only, and {other}; leave it out, or use --metrics AP"
        )
    if len(how.distances) > 1 and (not found or len(found) < len(names)):
        other = next((f"{name} is" for name in names if name not in found), "other metrics are")
        raise WrongUsage(f"--tau: only average precision is of several distances, and {other} within one; give one")
    return found


def check_options(name: str, how: How, *, alone: bool) -> None:
    """Raises WrongUsage if the rule's options do not fit a number of average precision; `alone` if all are such."""
    options = how.options
    if options.similarity not in (None, "iou", "oks"):
        raise WrongUsage(f"{name}: average precision is by --similarity iou or oks, or within --tau; leave out others")
    if alone and options.threshold is not None:
        raise WrongUsage(f"--threshold: {name} is over thresholds of its own; leave it out")
    if options.assignment is not None:
        raise WrongUsage(f"--assignment: {name} has that of its protocol; leave it out")
    if how.frames != "truth":
        raise WrongUsage(f"--labelled: {name} is of the truth's frames; leave it out")


def read_given(
    truth: Path,
    submissions: Sequence[Submission],
    how: How,
    exclude: str,
    frames: Path | None = None,
    *,
    of_precision: Sequence[str] = (),
) -> Given:
    """The truth and the submissions; JSON is COCO's where numbers of average precision are asked for.

    Where no rule is said, it is that of folders that `ap --out` wrote. Raises InputError where one is not right, and
    WrongUsage where two have the same name.
    """
    names, paths = submission_names(submissions), [submission.path for submission in submissions]
    of_path: dict[Path, Annotations | Saved] = {path: _loaded(path) for path in paths if _is_saved(path)}
    saved = [side.result.matched for side in of_path.values() if is_of_precision(side)]
    options = how.options
    rules = [matched.rule for matched in saved if matched.rule.is_official]  # others are functions
    if rules and options.similarity is None and options.tau is None and not how.tracks:
        how = how._replace(options=options._replace(similarity=rules[0].name, sigmas=rules[0].sigmas))
    files = [path for path in paths if path not in of_path]
    similarity = how.told or ("iou" if of_precision else None)
    known, sides = read_submissions(truth, files, how, frames, similarity)
    of_path |= dict(zip(files, sides, strict=True))
    named = dict(zip(names, [of_path[path] for path in paths], strict=True))
    tables = [known, *(side for side in named.values() if isinstance(side, Annotations))]
    arguments = saved[0].protocol.arguments if saved else _asked(how, of_precision)
    return Given(known, named, how, names_to_exclude(exclude, tables), arguments)


def _asked(how: How, numbers: Sequence[str]) -> dict[str, Any]:
    """The arguments of average precision that the options and the numbers ask for."""
    further = further_among(numbers) or None
    given = {"protocol": how.protocol, "tau": how.distances or None, "metrics": further}
    return {name: value for name, value in given.items() if value is not None}


def is_of_precision(side: Annotations | Saved) -> TypeGuard[Saved]:
    """Whether a submission is a folder that `ap --out` wrote."""
    return isinstance(side, Saved) and isinstance(side.result, AveragePrecision)


def results_of(given: Given, *, of_precision: bool, by: By | None = None) -> dict[str, Result]:
    """What the submissions are evaluated to, by their names: with `of_precision`, their average precision.

    Saved results are as they were evaluated; of a saved average precision, the predictions are evaluated where others
    are asked for. Tracks are evaluated `by` conditions. Raises InputError where a submission does not fit the truth,
    the rule or the conditions.
    """
    anew = not of_precision and not given.how.tracks
    sides = {
        name: predictions_of(side) if anew and is_of_precision(side) else side for name, side in given.named.items()
    }
    saved = {name: side for name, side in sides.items() if isinstance(side, Saved)}
    check_saved(given, list(saved.values()), of_precision=of_precision)
    files = [(name, side) for name, side in sides.items() if isinstance(side, Annotations)]
    results: dict[str, Result] = {
        name: _evaluated(given, side, of_precision, by=by)
        for name, side in work.progress(files, "matching", "submission")
    }
    check_conditions(saved, by)
    results |= {name: side.result for name, side in saved.items()}
    return {name: results[name] for name in sides}


def check_conditions(saved: Mapping[str, Saved], by: By | None) -> None:
    """Raises InputError if saved tracks were evaluated by other conditions than are asked for."""
    asked = [*selections.column_bins(by)]
    for side in saved.values():
        noted = conditions.labels_of(side.matches)
        if noted != asked:
            told = [f"by {' and '.join(names)}" if names else "as a whole" for names in (noted, asked)]
            how = "give the tracker's files instead, which are evaluated anew"
            raise InputError(f"{side.name}: was evaluated {told[0]}, and {told[1]} is asked for; {how}")


def _evaluated(
    given: Given, side: Annotations, of_precision: bool, identity: str = "object", by: By | None = None
) -> Result:
    """What a submission is evaluated to."""
    options, truth = given.how.options, given.truth
    if of_precision:
        with wrong_usage():
            return average_precision(truth, side, options.similarity, sigmas=options.sigmas, **given.of_precision)
    how = given.how
    how.check_by(selections.column_bins(by))
    if how.by_class:
        by = "category"
    return evaluated(truth, side, options, how.tracks, identity, how.frames, by, metrics=how.on_request)


def _is_saved(path: Path) -> bool:
    """Whether a submission is a folder that was saved."""
    with addresses.local_copy(path) as copy:
        return is_saved(copy.path)


def _loaded(path: Path) -> Annotations | Saved:
    """The submission in a folder that was saved."""
    with addresses.local_copy(path) as copy:
        state = provenance.copy_state(copy, (MANIFEST,))
        result, name = load_as(copy.path, "pandas"), copy.name
    if isinstance(result, AveragePrecision):
        return Saved(name, state, result, sequence_sums.evaluable(result, name).matches)
    if isinstance(result, Annotations) or (not isinstance(result, tuple) and "outcome" not in [*result.columns]):
        return as_annotations(result, name)
    if isinstance(result, tuple) and not isinstance(result, TrackResult | PoseResult):
        needed = "a match table, the result of track, pose or average_precision, or predictions are needed"
        raise InputError(f"{name}: holds a result of type {type(result).__name__}; {needed}")
    return Saved(name, state, result, sequence_sums.evaluable(result, name).matches)


def check_saved(given: Given, saved: Sequence[Saved], *, of_precision: bool) -> None:
    """Raises InputError if saved submissions were evaluated in another way than this, or with another truth.

    Sequences that are left out do not count.
    """
    problems = []
    for submission in saved:
        of_nothing = _of_nothing(given, of_precision, submission.matches.attrs.get("identity", "object"))
        kind, needed = _kind(submission.result), _kind(of_nothing)
        if kind != needed:
            problems.append(f"{submission.name}: holds {kind}, and {_hint(kind, needed)}")
            continue
        noted, now = _noted_rule(submission.result), _noted_rule(of_nothing)
        if noted and noted != now:
            rules = f"was evaluated by {result_text(submission.result)}, and the rule is {result_text(of_nothing)} now"
            problems.append(f"{submission.name}: {rules}; give the same rule, or evaluate the submission again")
            continue
        sides = {
            "TRUTH": sequence_sums.evaluable(of_nothing, submission.name).matches,
            "this folder": submission.matches,
        }
        tables = {name: selections.without_sequences(side, given.exclude) for name, side in sides.items()}
        problems += truth_differences(submission.name, tables)
    if problems:
        raise InputError(problems)


def _of_nothing(given: Given, of_precision: bool, identity: str) -> Result:
    """What a submission without predictions is evaluated to, of which nobody needs the warnings."""
    nothing = given.truth.objects.iloc[:0].assign(score=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _evaluated(given, Annotations(nothing), of_precision, identity)


def _noted_rule(result: Result) -> dict[Any, Any]:
    """The notes of a result that say by which rule it was evaluated.

    That a result is by class is no matter of the rule; `compare` sees to it that all are, or none.
    """
    table = (
        sequence_sums.evaluable(result, "result").table if isinstance(result, AveragePrecision) else matches_of(result)
    )
    return {key: note for key, note in noted_rule.rule_notes(table).items() if key != "by"}


def _kind(result: Any) -> str:
    """What a result is of."""
    kinds = {TrackResult: "tracks", PoseResult: "poses", AveragePrecision: "average precision"}
    return kinds.get(type(result), "detections")


def _hint(kind: str, needed: str) -> str:
    """What is said of a saved submission of one kind where another is needed."""
    if needed == "average precision":
        return "average precision needs all predictions; give their file, or a folder that ap --out wrote"
    hint = "; give --tracks" if (kind, needed) == ("tracks", "detections") else ""
    return f"{needed} are evaluated here{hint}"


def predictions_of(submission: Annotations | Saved) -> Annotations:
    """The predictions of a submission; those of a saved one come out of its tables, in the order of their file.

    Raises InputError if it has no coordinates, or if some of them may be missing.
    """
    if isinstance(submission, Annotations):
        return submission
    if isinstance(submission.result, AveragePrecision):
        matched = submission.result.matched
        _check_complete(matched, submission.name)
        table = matched.detections.aligned.predictions.table
        found = dataframe_of(Columns(table.arrays, n_rows=len(table)))
        joints: Sequence[Any] = matched.rule.joints
    else:
        found, joints = sides_of(submission.matches, None).predictions.objects, pose_joints(submission.matches)
    side = as_annotations(objects_of(found, joints), submission.name)
    provenance.note_source(side.objects, submission.name, submission.state)
    return side


def _check_complete(matched: Matched, name: str) -> None:
    """Raises InputError if a saved average precision lacks predictions, which do not count in it."""
    n = matched.detections.left_out.beyond
    if n:
        kept = f"has {most_text(matched.protocol)}, as average precision counts them"
        raise InputError(
            f"{name}: {kept}, and {messages.counted(n, 'detection')} missing; give the file of the predictions"
        )


def result_text(result: Result) -> str:
    """By which rule a result was evaluated, in words."""
    if not isinstance(result, AveragePrecision):
        return rule_text(matches_of(result).attrs)
    return f"average precision by {result.matched.rule.name}, {result.over}"


def source_of(submission: Annotations | Saved) -> pd.DataFrame:
    """A table that is noted as read from the file or folder of a submission."""
    if isinstance(submission, Annotations):
        return submission.objects
    noted = pd.DataFrame()
    provenance.note_source(noted, submission.name, submission.state)
    return noted
