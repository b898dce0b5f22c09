"""What each kind of error costs in tracks and poses, by evaluating them again with that kind mended."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...geometries import Measure, centres, geometry_of
from ...matching import MatchOptions, Rule, noted_rule, options_of_matches, similarity_rule, track_options
from ...support import InputError, pandas_tables, work
from ...tables import Annotations, MatchSides, arrow, checks, schema, sides_of
from ...tracking import THRESHOLD, PoseResult, TrackResult, conditions, pose, track
from .error_kinds import KINDS, kinds_of_errors, possible_kinds
from .track_repairs import (
    Mended,
    TrackRows,
    mended_all,
    mended_errors,
    mended_gaps,
    mended_sides,
    mended_switches,
    track_rows,
)

COSTED = ["f1", "HOTA", "IDF1", "MOTA"]
SWITCH, GAP, ALL = "switch", "gap", "all"

# The attribute of frames by which poseval knows those in which somebody is annotated.
ANNOTATED = "n_annotated"


class Repair(NamedTuple):
    """The errors of one kind: its name, the rows of the match table that are such, how many breaks, and all mended."""

    kind: str
    errors: np.ndarray
    n_breaks: int
    mended: Mended


def track_costs(
    x: TrackResult | PoseResult,
    identity: str | None,
    tau: float | None,
    similarity: str | Measure | None,
    distance: Measure | None,
) -> pd.DataFrame:
    """The costs of each kind of error of what `track` or `pose` returned; raises as `error_costs` does."""
    sliced = conditions.labels_of(x.matches)
    if sliced:
        how = f"evaluate one value by itself, as in track(..., where={{{sliced[0]!r}: value}})"
        raise InputError(f"error_costs: x: is by {' and '.join(sliced)}, and its slices share predictions; {how}")
    table = checks.check_matches(x.matches)
    rule = _rule(table, tau, similarity, distance)
    rows = track_rows(table, identity)
    sides = _sides(table, rule)
    repairs = _repairs(table, rows, rule)
    now = _numbers(arrow.as_pandas(x.summary, "summary"), rows.outcome)
    numbers = [
        _evaluated(sides, rows, repair.mended, rule) if _changes(rows, repair.mended) else now
        for repair in work.progress(repairs, "evaluating again", "kind")
    ]
    counts = [
        [int((repair.errors & (rows.outcome == missed)).sum()) for repair in repairs]
        for missed in (schema.FN, schema.FP)
    ]
    columns = {"n_misses": counts[0], "n_false_alarms": counts[1], "n_breaks": [repair.n_breaks for repair in repairs]}
    answer = pd.DataFrame({"kind": [repair.kind for repair in repairs]} | columns).astype({"kind": pandas_tables.TEXT})
    after = np.array(numbers)
    for name, values, before in zip(COSTED, after.T, now, strict=True):
        answer[name], answer[f"{name}_gain"] = values, values - before + 0.0  # no -0.0
    answer.attrs = table.attrs
    return answer


def _rule(table: pd.DataFrame, tau: float | None, similarity: str | Measure | None, distance: Measure | None) -> Rule:
    """The rule of the result.

    Raises InputError if the rule is not known, ValueError if a word does not agree with the notes of the result.
    """
    if distance is None:
        options = track_options(tau, similarity)
        if tau is not None and similarity is None:
            if noted_rule.noted_geometry(table, options) is not None:
                return _agreeing(table, options)
            options = options._replace(similarity="point")
    else:  # the notes may know its tau
        options = options_of_matches(tau, similarity=similarity, distance=distance)
    measure, word = (options.similarity, "similarity") if distance is None else ("point", "distance")
    if noted_rule.is_of_poses(table):
        if measure is not None:
            raise ValueError(f"pose() measures joints in head sizes; leave out {word} and tau")
        return noted_rule.noted_rule(table, options)
    if measure is not None:
        _check_noted(table, {word: similarity_rule(measure, options, THRESHOLD).name, "tau": options.tau}, word)
    return _noted(table, options)


def _agreeing(table: pd.DataFrame, options: MatchOptions) -> Rule:
    """The rule of a result of a geometry with columns of its own, whose tau the notes may have, too."""
    _check_noted(table, {"tau": options.tau}, "similarity")
    tau = options.tau if table.attrs.get("tau") is None else None
    return _noted(table, options._replace(tau=tau))


def _noted(table: pd.DataFrame, options: MatchOptions) -> Rule:
    """The rule that the notes and the options tell."""
    return replace(noted_rule.noted_rule(table, options._replace(threshold=THRESHOLD)), by=table.attrs.get("by"))


def _check_noted(table: pd.DataFrame, given: Mapping[str, Any], word: str) -> None:
    """Raises ValueError if what is given does not agree with the notes of the result."""
    for name, value in given.items():
        noted = table.attrs.get("tau" if name == "tau" else "rule")
        if None not in (value, noted) and value != noted:
            problem = f"{name} is {value!r}, and the result was made with {noted!r}"
            raise ValueError(f"{problem}; leave out {word} and tau")


def _sides(table: pd.DataFrame, rule: Rule) -> MatchSides:
    """Truth and predictions of the match table, with what it takes to evaluate them again."""
    sides = sides_of(table, rule.measured_columns)
    truth, predictions = sides.truth.objects, sides.predictions.objects
    lacking = [name for name in geometry_of(predictions).columns if name not in truth]
    if rule.measure is not None and lacking:
        has = f"predictions have {' and '.join(lacking)} and truths have not"
        raise InputError(f"error_costs: {has}, so no truth can stand for a prediction")
    if rule.name == "point" and rule.of_geometry is None:
        truth, predictions = _centres(truth), _centres(predictions)
    annotated = f"{schema.PREFIXES['frames']}{ANNOTATED}"
    frames = table[[*schema.FRAME_KEY, *([annotated] if annotated in table else [])]].drop_duplicates(schema.FRAME_KEY)
    frames = frames.rename(columns={annotated: ANNOTATED}).reset_index(drop=True)
    return sides._replace(truth=Annotations(truth, frames), predictions=Annotations(predictions))


def _centres(objects: pd.DataFrame) -> pd.DataFrame:
    """Boxes as points in their centres, so that a truth of either kind can stand for a prediction of either."""
    x, y = centres(objects)
    others = [name for name in geometry_of(objects).columns if name not in ("x", "y")]
    return objects.assign(x=x, y=y).drop(columns=others)


def _repairs(table: pd.DataFrame, rows: TrackRows, rule: Rule) -> list[Repair]:
    """The repairs of each kind of error, in the order of the result."""
    kinds = kinds_of_errors(table, rule)
    of_kinds = {name: kinds.kind == KINDS.index(name) for name in possible_kinds(table)}
    repairs = [Repair(name, marked, 0, mended_errors(rows, marked, kinds.partner)) for name, marked in of_kinds.items()]
    n_switches, n_gaps = int(rows.switches.sum()), rows.n_gaps
    return [
        *repairs,
        Repair(SWITCH, np.zeros(len(table), bool), n_switches, mended_switches(rows)),
        Repair(GAP, rows.in_gaps, n_gaps, mended_gaps(rows)),
        Repair(ALL, kinds.kind >= 0, n_switches + n_gaps, mended_all(rows)),
    ]


def _changes(rows: TrackRows, mended: Mended) -> bool:
    """Whether there is anything to mend; otherwise everything stays as it is, to the last digit."""
    return bool(np.any(mended.place >= 0) or not np.array_equal(mended.identity, rows.predicted))


def _evaluated(sides: MatchSides, rows: TrackRows, mended: Mended, rule: Rule) -> list[float]:
    """The metrics COSTED of mended tracks or poses."""
    truth, predictions = mended_sides(sides, rows, mended)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whatever there is to warn of was told when the result was made
        again = (
            pose(truth, predictions)
            if rule.by_head_sizes
            else track(truth, predictions, **rule.options_of_tracks, by=rule.by)
        )
    return _numbers(again.summary, again.matches["outcome"].array.codes)


def _numbers(summary: pd.DataFrame, outcome: np.ndarray) -> list[float]:
    """The metrics COSTED from the combined row of a summary and from the match table; null with nothing to count."""
    tp, fn, fp = (int(np.count_nonzero(outcome == kind)) for kind in (schema.TP, schema.FN, schema.FP))
    last: dict[Any, Any] = summary.iloc[-1].to_dict()
    mota = last["MOTA"] if "MOTA" in last else last["mota"] / 100
    values = [2 * tp / max(2 * tp + fn + fp, 1), last["HOTA"], last.get("IDF1", np.nan)]
    return [*(float(value) if tp + fn + fp else np.nan for value in values), float(mota) if tp + fn else np.nan]
