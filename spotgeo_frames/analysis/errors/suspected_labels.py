"""label_suspects(): labels that may be wrong, for people who look at them again.

What detectors and labels disagree about is mostly the detectors' fault. The labels are suspected where the disagreement
is of a kind that wrong labels make:

    unlabelled    a confident detection with no truth near it; a label may be missing
    other_class   a confident detection that is near a truth of another category; its class may be wrong
    twice         two truths of a frame and category that are so near each other that they would match
    never_found   a truth with no detection near it, of whatever score; it may not be there

The kinds of errors behind them are those of `diagnose`, and the rule is the one by which pairs matched.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...geometries import Measure, geometry_of
from ...matching import MatchOptions, Rule, alignment, noted_rule, options_of_matches
from ...scoring import AveragePrecision, row_counts, sequence_sums, shown_position, similar_of_any_category
from ...support import InputError, pandas_tables
from ...tables import Table, as_numbers, checks, messages, schema, sides_of, table_kinds
from ..certainty import truth_differences
from . import detection_errors
from .differences import rule_differences, truth_rows
from .error_kinds import KINDS, kinds_of_errors
from .named_pairs import as_categories

SUSPICIONS = ["unlabelled", "other_class", "twice", "never_found"]
UNLABELLED, OTHER_CLASS, TWICE, NEVER_FOUND = range(len(SUSPICIONS))

# Detections are confident from the lowest score on at and above which at least this share of them is right.
PRECISION = 0.9

SCORE = "predicted_score"

# Options that only a match table may need, because a result knows its own rule.
OF_TABLES = ("tau", "similarity", "sigmas", "distance")


class _Submission(NamedTuple):
    """The N rows of a match table that count, the rule, and what is wrong with them.

    `kind` (N,) has the names of `diagnose`, empty for none. `other` (N,) is the row of the other side that makes it, or
    -1, and `measure` (N,) is that of the two. `is_near` (N,) marks truths that have a detection near them although
    their kind does not say so.
    """

    table: pd.DataFrame
    rule: Rule
    kind: np.ndarray
    other: np.ndarray
    measure: np.ndarray
    is_near: np.ndarray


class _Found(NamedTuple):
    """S suspects of one suspicion: the rows of a table with the truth, another truth and the detection, -1 for none."""

    suspicion: int
    truth: np.ndarray
    other: np.ndarray
    predicted: np.ndarray
    measure: np.ndarray


@table_kinds.same_kind_as("x")
def label_suspects(
    x: Table | NamedTuple | AveragePrecision | Mapping[str, Table | NamedTuple | AveragePrecision],
    threshold: float | None = None,
    *,
    score_threshold: float | None = None,
    tau: float | None = None,
    similarity: str | Measure | None = None,
    sigmas: Mapping[Any, float] | None = None,
    distance: Measure | None = None,
) -> pd.DataFrame:
    """Lists labels that may be wrong, the most probable mistakes first, for people who look at them again.

    Parameters
    ----------
    x
        What `match` or `track` returned of objects of any geometry, or of whole poses; what `average_precision`
        returned, by similarity; or a dict from the names of submissions to such tables or results of the same truth.
    threshold
        Of average precision, the threshold whose matches are looked at, by default its lowest. Of a match table, the
        least similarity of a match, needed only where it has lost its notes.
    score_threshold
        Detections with at least this score are confident. By default it is the lowest score at and above which 90% of
        a submission's detections are right, as the labels are now; if there is none, all detections are taken and a
        warning says so. Where there are no scores, all are taken, too. Many missing labels make it too high; give one
        then.
    tau, similarity, sigmas, distance
        The rule of a match table, as `match` takes it. Needed only where the table has lost its notes, as a table of
        polars has; a function is needed always.

    Returns
    -------
    DataFrame (of the kind that `x` has), one row a suspect. The first column, `suspicion`, is categorical:

    unlabelled: a confident detection whose kind is `background` or `no_truth_in_frame` in `diagnose`. A label may be
        missing.
    other_class: a confident detection that is near a truth of another category, which is `confused` in `diagnose`. The
        class of the label may be wrong.
    twice: two truths of a frame and category that are near each other by the rule. One object may be labelled twice.
    never_found: a truth that is `lost` in `diagnose` and has no detection near it, whatever its score; of several
        submissions, in all of them. It may not be there.

    Then come `sequence` and `frame`; `submission`, if `x` is a dict; `truth_object` and `truth_category`, the label;
    `other_truth_object`, the second of two that are one object; `predicted_object` and `predicted_category`, the
    detection; `score`; `distance` (in the unit of the rule) or `similarity` of the pair; the coordinates to look at,
    such as `x`, `y`, `w`, `h`, those of the detection or, where there is none, of the label; and `look_at`, a sentence
    that says what to look at. What a suspect does not have is null, and categories are there if their side has them.
    Suspicions come in the order above; within each, the highest scores come first, then the nearest pairs. The note
    `score_threshold` (`attrs`) is the one that was used; of a dict, by name. Crowds and ignored truths are no suspects.

    Raises
    ------
    InputError: `x` is nothing of that, has joints one by one, or tables of different truths or rules; a score is null
        or no number, or there is none though `score_threshold` was given; or the rule is not known.
    ValueError: an option is out of range, or does not go with `x`.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2, 3], "x": [0.0, 30, 60], "y": 0.0})
    >>> truth = truth.assign(w=20.0, h=20.0, category=["cat", "cat", "dog"])
    >>> found = truth.assign(x=[0.0, 30, 90], category=["cat", "dog", "dog"], score=[0.9, 0.8, 0.7])
    >>> suspects = sf.label_suspects(sf.match(truth, found), score_threshold=0.5)
    >>> suspects[["suspicion", "truth_object", "predicted_object", "x"]]
         suspicion  truth_object  predicted_object     x
    0   unlabelled          <NA>                 3  90.0
    1  other_class             2                 2  30.0
    2  never_found             3              <NA>  60.0
    >>> suspects["look_at"][1]
    'Label 2 says cat, and a detection on it says dog (score 0.80): which is right?'
    """
    if score_threshold is not None and (not isinstance(score_threshold, Real) or np.isnan(score_threshold)):
        raise ValueError(f"score_threshold is {score_threshold!r}; a number is needed")
    several = isinstance(x, Mapping)
    given = dict(x) if isinstance(x, Mapping) else {"x": x}
    if not given:
        raise InputError("label_suspects: x has no submission; give one or several")
    options = options_of_matches(tau, None, similarity, threshold, sigmas, distance)
    submissions: dict[str, _Submission] = {}
    for key, one in given.items():
        submissions[str(key)] = _submission(one, options, threshold, f"label_suspects: {key}")
    if len(submissions) < len(given):
        raise InputError("label_suspects: x: two of its names are the same as text; give each submission another")
    _check_same_truth(submissions)
    found, least = [], {}
    for key, of in submissions.items():
        least[key] = _least_score(of.table, score_threshold, f"label_suspects: {key}")
        found += [_suspects(of, one, key if several else None) for one in _of_detections(of, least[key])]
    first = next(iter(submissions.values()))
    found += [_suspects(first, one, None) for one in (_repeated(first), _never_found(submissions))]
    columns = [*dict.fromkeys(str(column) for table in found for column in table)]
    answer = _sorted(found, [name for name in columns if several or name != "submission"], first.rule)
    notes = least if several else least["x"]
    answer.attrs = noted_rule.shared_notes(first.table) | {"score_threshold": notes}
    return answer


def _submission(x: Any, options: MatchOptions, threshold: float | None, name: str) -> _Submission:
    """What is wrong with a submission; messages begin with `name`."""
    if isinstance(x, AveragePrecision):
        return _of_precision(x, options, threshold, name)
    table = checks.check_matches(sequence_sums.match_table_of(x, name), name, by_groups=True)
    if schema.is_of_precision(table.columns):
        raise InputError(f"{name}: give what average_precision() returned, instead of its matches")
    if "joint" in table:
        raise InputError(f"{name}: has a column joint; match whole poses, by similarity='oks'")
    row_counts.warn_of_doubled(table, "label_suspects", table_kinds.CALLER + 2)
    rule = noted_rule.noted_rule(table, options, name=name)
    table = table.reset_index(drop=True)
    kinds = kinds_of_errors(table, rule)
    kind = np.array([*KINDS, ""])[kinds.kind]
    return _Submission(table, rule, kind, kinds.other, kinds.measure, np.zeros(len(table), bool))


def _of_precision(x: AveragePrecision, options: MatchOptions, threshold: float | None, name: str) -> _Submission:
    """What is wrong with a result of average precision, without what is ignored."""
    given = [option for option in OF_TABLES if getattr(options, option) is not None]
    if given:
        raise ValueError(f"{given[0]} does not go with what average_precision() returned; leave it out")
    matched = x.matched
    detection_errors.check_by_similarity(matched, name)
    position = shown_position(matched.thresholds, threshold)
    least = float(matched.thresholds[position])
    errors = detection_errors.errors_of_rows(matched, position, min(detection_errors.LEAST_SIMILARITY, least))
    truths = np.flatnonzero(np.isin(errors.table["outcome"].array.codes, [schema.TP, schema.FN]))
    is_near = np.zeros(len(errors.table), bool)
    # TIDE calls a missed truth lost, too, if the detection near it has found another truth.
    is_near[truths[similar_of_any_category(matched.detections, matched.rule, least).truth]] = True
    counts = ~errors.table["ignored"].to_numpy(bool)
    place = np.append(np.cumsum(counts) - 1, -1)
    table = errors.table[counts].reset_index(drop=True)
    table.attrs = errors.table.attrs | {"threshold": least}
    kind = np.array([*detection_errors.KINDS, ""])[errors.kind][counts]
    other, rule = place[errors.other[counts]], replace(matched.rule, threshold=least)
    return _Submission(table, rule, kind, other, errors.similarity[counts], is_near[counts])


def _check_same_truth(submissions: Mapping[str, _Submission]) -> None:
    """Raises InputError if submissions are of different truths or rules."""
    (first, of_first), *others = submissions.items()
    problems = []
    for name, of in others:
        tables = {first: of_first.table, name: of.table}
        problems += truth_differences("label_suspects", tables) + rule_differences("label_suspects", tables)
    if problems:
        raise InputError(problems)


def _least_score(table: pd.DataFrame, given: float | None, name: str) -> float | None:
    """The score from which on detections are confident; None where all are."""
    outcome = table["outcome"].array.codes
    rows = np.flatnonzero(np.isin(outcome, [schema.TP, schema.FP]))
    if SCORE not in table:
        if given is not None and len(rows):
            raise InputError(messages.missing(name, SCORE, table.columns, "score_threshold needs it"))
        return None
    scores = table[SCORE].take(rows)
    if not pd.api.types.is_numeric_dtype(scores.dtype) and len(rows):
        raise InputError(f"{name}: column {SCORE} is of type {scores.dtype}; numbers are needed")
    null = scores.isna().to_numpy()
    if null.any():
        where = messages.first_keys(table.take(rows), null, [*schema.FRAME_KEY, "predicted_object"])
        raise InputError(f"{name}: column {SCORE}: {messages.counted(int(null.sum()), 'row')} null: {where}")
    if given is not None or not len(rows):
        return None if given is None else float(given)
    order = np.argsort(-as_numbers(scores), kind="stable")
    score, is_right = as_numbers(scores)[order], outcome[rows[order]] == schema.TP
    # Detections of equal scores are above a threshold together.
    is_last = np.append(score[1:] != score[:-1], True)
    reached = np.flatnonzero(is_last & (np.cumsum(is_right) / np.arange(1, len(rows) + 1) >= PRECISION))
    if len(reached):
        return float(score[reached[-1]])
    advice = "give score_threshold= to take fewer"
    text = f"at no score are {PRECISION:.0%} of the detections right, so all of them count as confident; {advice}"
    warnings.warn(f"{name}: {text}", stacklevel=table_kinds.CALLER + 1)
    return None


def _of_detections(of: _Submission, least: float | None) -> list[_Found]:
    """The suspects that confident detections tell of."""
    is_confident = of.table["outcome"].array.codes == schema.FP
    if least is not None:
        is_confident &= as_numbers(of.table[SCORE]) >= least
    alone = np.flatnonzero(is_confident & np.isin(of.kind, ["background", "no_truth_in_frame"]))
    confused = np.flatnonzero(is_confident & (of.kind == "confused"))
    nothing = np.full(len(alone), -1)
    return [
        _Found(UNLABELLED, nothing, nothing, alone, np.full(len(alone), np.nan)),
        _Found(OTHER_CLASS, of.other[confused], np.full(len(confused), -1), confused, of.measure[confused]),
    ]


def _repeated(of: _Submission) -> _Found:
    """The truths of a frame and category that are near each other, each pair once."""
    sides = sides_of(of.table, of.rule.measured_columns)
    pairs = None
    if len(sides.truth.objects):
        aligned = alignment.align(sides.truth, sides.truth, may_be_disjoint=True)
        pairs = of.rule.near_pairs(aligned)
        pairs = pairs.take(pairs.truth != pairs.prediction)
    if pairs is None or not len(pairs.truth):
        nothing = np.zeros(0, np.int64)
        return _Found(TWICE, nothing, nothing, nothing, np.zeros(0))
    rows = sides.truth_rows[aligned.truth.row]
    one, other = np.minimum(pairs.truth, pairs.prediction), np.maximum(pairs.truth, pairs.prediction)
    # A measure may depend on which of the two is the truth, as OKS does; the nearer way counts.
    order = np.lexsort((of.rule.cost(pairs.measure), other, one))
    one, other, measure = one[order], other[order], pairs.measure[order]
    is_first = np.append(True, (np.diff(one) != 0) | (np.diff(other) != 0))
    one, other, measure = one[is_first], other[is_first], measure[is_first]
    return _Found(TWICE, rows[one], rows[other], np.full(len(one), -1), measure)


def _never_found(submissions: Mapping[str, _Submission]) -> _Found:
    """The truths that are lost in all submissions and have no detection near them; rows are those of the first."""
    first, *others = submissions.values()
    rows = np.flatnonzero(_is_lost(first))
    for of in others:
        here, there = truth_rows("label_suspects", first.table, of.table)
        rows = np.intersect1d(rows, here[_is_lost(of)[there]])
    nothing = np.full(len(rows), -1)
    return _Found(NEVER_FOUND, rows, nothing, nothing, np.full(len(rows), np.nan))


def _is_lost(of: _Submission) -> np.ndarray:
    """Marks the truths that no detection is near, (N,)."""
    return (of.kind == "lost") & ~of.is_near


def _suspects(of: _Submission, found: _Found, submission: str | None) -> pd.DataFrame:
    """The rows of suspects of one suspicion."""
    place = np.where(found.predicted >= 0, found.predicted, found.truth)
    columns: dict[str, Any] = {"suspicion": np.full(len(place), found.suspicion)}
    columns |= {name: _taken(of.table[name], place) for name in schema.FRAME_KEY}
    columns["submission"] = pd.array([submission] * len(place), dtype=pandas_tables.TEXT)
    for name, source, rows in (
        ("truth_object", "truth_object", found.truth),
        ("truth_category", "truth_category", found.truth),
        ("other_truth_object", "truth_object", found.other),
        ("predicted_object", "predicted_object", found.predicted),
        ("predicted_category", "predicted_category", found.predicted),
    ):
        if source in of.table:
            columns[name] = as_categories(_taken(of.table[source], rows), of.table)
    scores = as_numbers(of.table[SCORE]) if SCORE in of.table else np.full(len(of.table), np.nan)
    columns["score"] = np.append(scores, np.nan)[found.predicted]
    columns[of.rule.pair_measure] = found.measure
    suspects = pd.DataFrame(columns)
    look_at = _sentences(suspects, found.suspicion, of.rule.pair_measure)
    is_of_truth = found.suspicion in (TWICE, NEVER_FOUND)
    places = {name: _coordinate(of.table, name, place, is_of_truth) for name in _coordinates(of)}
    return suspects.assign(**places, look_at=look_at)


def _taken(values: pd.Series, rows: np.ndarray) -> pd.Series:
    """The values of these rows, null where a row is -1; integers stay integers."""
    plain = checks.decoded(values).reset_index(drop=True)
    if isinstance(plain.dtype, np.dtype) and plain.dtype.kind in "iu" and (rows < 0).any():
        plain = plain.astype("Int64")
    return plain.reindex(rows).reset_index(drop=True)


def _coordinates(of: _Submission) -> list[str]:
    """The columns that say where objects lie, of either side."""
    names = [name for prefix in schema.SIDE_PREFIXES for name in geometry_of(of.table, prefix).columns]
    there = [f"{prefix}{name}" for prefix in schema.SIDE_PREFIXES for name in (*names, *of.rule.geometry.columns)]
    kept = {name for name in there if name in of.table}
    return [
        name
        for name in dict.fromkeys([*names, *of.rule.geometry.columns])
        if any(f"{prefix}{name}" in kept for prefix in schema.SIDE_PREFIXES)
    ]


def _coordinate(table: pd.DataFrame, name: str, place: np.ndarray, is_of_truth: bool) -> pd.Series:
    """A column of places, of the truths or else of the predictions; null where this side lacks it."""
    source = f"{schema.SIDE_PREFIXES[0 if is_of_truth else 1]}{name}"
    return _taken(table[source], place) if source in table else pd.Series(np.full(len(place), np.nan))


def _sentences(suspects: pd.DataFrame, suspicion: int, measure: str) -> pd.Series:
    """What to look at, as a sentence a row."""
    text = pandas_tables.TEXT
    score = pd.Series(np.char.mod(" (score %.2f)", suspects["score"].to_numpy()), dtype=text)
    score = score.where(suspects["score"].notna(), "")
    truth, other = (suspects[name].astype(text).fillna("?") for name in ("truth_object", "other_truth_object"))
    is_of, says = _of_category(suspects, "truth_category"), _of_category(suspects, "predicted_category")
    if suspicion == UNLABELLED:
        sentence = "A detection" + says + score + " has no label near it: is one missing?"
    elif suspicion == OTHER_CLASS:
        truth_says, found_says = (of.str.removeprefix(" of ") for of in (is_of, says))
        sentence = "Label " + truth + " says " + truth_says + ", and a detection on it says " + found_says
        sentence = sentence + score + ": which is right?"
    elif suspicion == TWICE:
        value = pd.Series(np.char.mod(f" ({measure} %.3g)", suspects[measure].to_numpy()), dtype=text)
        sentence = (
            "Labels " + truth + " and " + other + is_of + " would match each other" + value + ": are they one object?"
        )
    else:
        sentence = "No detection is near label " + truth + is_of + ": is there an object?"
    return sentence.astype(text)


def _of_category(suspects: pd.DataFrame, name: str) -> pd.Series:
    """` of car` for each category, and nothing where there is none."""
    if name not in suspects:
        return pd.Series("", suspects.index, dtype=pandas_tables.TEXT)
    return (" of " + suspects[name].astype(pandas_tables.TEXT)).fillna("")


def _sorted(found: list[pd.DataFrame], columns: list[str], rule: Rule) -> pd.DataFrame:
    """All suspects: by suspicion, then the highest scores, then the nearest pairs."""
    filled = [table for table in found if len(table)] or found[:1]
    together = pd.concat(filled, ignore_index=True).reindex(columns=columns)
    measure, score = together[rule.pair_measure].to_numpy(), together["score"].to_numpy()
    order = np.lexsort((rule.cost(measure), -score, together["suspicion"].to_numpy()))
    together = together.take(order).reset_index(drop=True)
    kinds = pd.CategoricalDtype(SUSPICIONS)
    return together.assign(suspicion=pd.Categorical.from_codes(together["suspicion"].to_numpy(), dtype=kinds))
