"""Computes what all sections of a report share, from truth and submissions: matches, ranking, intervals.

Tables with rows of several submissions have a categorical column `submission`, best first.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ...analysis.certainty import Comparison, compare, interval_table
from ...analysis.errors import Confused, diagnose, with_confused
from ...geometries import with_places
from ...matching import MatchOptions, Rule
from ...scoring import (
    LITTLE_KNOWN,
    OF_FEW,
    AveragePrecision,
    average_precision,
    match_sums,
    official,
    own_metrics,
    registry,
    summary_of,
)
from ...support import InputError, SliceError, work
from ...tables import Annotations, By, CheckedBins, match_columns, selections
from ...tracking import Evaluated, PoseResult, TrackResult, conditions, evaluated, matches_of
from ..drawing import drawn_tables, wording
from .breaks import breaks_of

# How often a report swaps and draws sequences, and the confidence of its intervals.
RESAMPLES, CONFIDENCE = 10_000, 0.95

# The slicings that every page has, by which tracks are not evaluated anew.
EVERY_PAGE: list[dict[str, CheckedBins]] = [{"sequence": None}, {"frame_n_truth": None}]

# The most slices of tracks that a page shows.
MOST_CONDITIONS = 40

# The rows of intervals and pairs with numbers of all sequences together, and with means over sequences.
COMBINED, MACRO = "combined", "macro"

# What ranks submissions: their match tables, or results that are asked the same.
Ranked = Evaluated | AveragePrecision

# The texts of warnings, each with the submissions that it is about.
Said = dict[str, set[str]]


class Evaluation(NamedTuple):
    """What a report is made of.

    Attributes
    ----------
    truth, submissions
        The checked Annotations of the truth, and of the submissions by name, best first.
    options, rule, tracks
        The caller's options on the rule, what they mean for these tables, and whether identities count.
    results
        What each submission was evaluated to: a match table, or what `track` or `pose` returns.
    precisions
        The average precision of each submission; empty unless boxes or poses without identities have scores.
    matches
        The match tables of all submissions, concatenated, with the `kind` of each error. Where `confused` is there,
        they tell as which class each truth was detected, and of which class each detection is.
    confused
        How often each class is detected as which; None without average precision of classes, or for too many objects.
    cuts
        For each slicing, by its columns, the columns to slice the match table of each submission by.
    by_condition
        Of tracks and poses, what each submission was evaluated to with all other truths as distractors, for each
        slicing that was asked for whose columns are conditions. `no_condition` says why others are not among them.
    summary, intervals
        The metrics of each submission, and the headline metrics with confidence intervals, those of average precision
        or tracks first. No table has columns or rows of metrics that are not defined for the rule. With these metrics
        there is a column `aggregate`, as `intervals` returns it; so it is in the pairs of their comparison.
    compared
        The comparison of submissions; None if there is only one. Where average precision ranks, its pairs end with
        those of recall and precision, which follow from the match tables.
    breaks
        Where tracks of true objects broke, as breaks.py has it; None where identities do not count.
    warnings, about_pairs
        The texts of warnings about the numbers, and about the comparison, that the page shows and `report` raises.
    images
        The folder of pictures of frames; None if there is none.
    """

    truth: Annotations
    submissions: Mapping[str, Annotations]
    options: MatchOptions
    rule: Rule
    tracks: bool
    results: Mapping[str, Evaluated]
    precisions: Mapping[str, AveragePrecision]
    matches: pd.DataFrame
    confused: Confused | None
    cuts: Mapping[tuple[str, ...], Mapping[str, list[pd.Series]]]
    by_condition: Mapping[tuple[str, ...], Mapping[str, TrackResult | PoseResult]]
    no_condition: list[str]
    summary: pd.DataFrame
    intervals: pd.DataFrame
    compared: Comparison | None
    breaks: pd.DataFrame | None
    warnings: list[str]
    about_pairs: list[str]
    images: Path | None

    @property
    def provenance(self) -> str:
        """Which official numbers these are, or what keeps them from being official, in sentences."""
        told = {*map(_provenance_of, self.results.values()), *(of.provenance for of in self.precisions.values())}
        return "; ".join(sorted(told))

    @property
    def names(self) -> list[str]:
        """The submissions, best first."""
        return [str(name) for name in self.matches["submission"].cat.categories]

    @property
    def whose(self) -> list[str]:
        """The column that tables begin with where there are several submissions."""
        return [] if len(self.names) == 1 else ["submission"]

    @property
    def matched(self) -> dict[str, pd.DataFrame]:
        """The match table of each submission, best first, without the kinds of its errors."""
        return {name: matches_of(self.results[name]) for name in self.names}

    @property
    def tracked(self) -> dict[str, TrackResult | PoseResult]:
        """What `track` or `pose` returned for each submission, best first; empty where identities do not count."""
        return _tracked(self.results, self.names)

    @property
    def headline(self) -> list[str]:
        """The headline metrics that are defined for the rule, first that which ranks the submissions."""
        return self.intervals["metric"].drop_duplicates().tolist()

    @property
    def own_metrics(self) -> list[str]:
        """The user's own metrics that all match tables have the columns for."""
        return [name for name in registry.own_metrics() if name in self.headline]


def evaluate(
    truth: Annotations,
    submissions: Mapping[str, Annotations],
    by: Sequence[Mapping[str, CheckedBins]],
    options: MatchOptions,
    rule: Rule,
    tracks: bool,
    images: Path | None = None,
) -> Evaluation:
    """Computes what all sections of a report share from checked Annotations.

    `options` are the caller's options on the rule, `rule` is what they mean for these tables, and `tracks` says whether
    identities count. Each entry of `by` maps columns of the match table, which are crossed, to a count of quantile
    bins, or to None for the values as they are. Raises InputError if the sides do not fit each other, if a submission
    and the truth have neither a frame nor an object, or if no match table has the columns of an entry.
    """
    results, said = _evaluated(truth, submissions, options, tracks)
    matched = {name: matches_of(x) for name, x in results.items()}
    empty = [name for name, table in matched.items() if not len(table)]
    if empty:
        raise InputError(f"report: {empty[0]}: there is neither a frame nor an object to report on")
    cuts = _cuts(matched, by)
    by_condition, no_condition = _by_condition(truth, submissions, by, cuts, options, said) if tracks else ({}, [])
    precisions = {} if tracks else _precisions(truth, submissions, matched, options, rule, said)
    own, lacking = _own_metrics(matched)
    said |= {lacking: {*matched}} if lacking else {}
    of_matches = registry.defined([*registry.HEADLINE, *own], not rule.by_distance, rule.assignment)
    ranked: Mapping[str, Ranked] = precisions or results
    first = next(iter(ranked.values()))
    of_results = _of_results(first)
    compared, about_pairs = None, list[str]()
    if len(ranked) > 1:
        compared, about_pairs = _compared(ranked, of_results or of_matches, lacking)
        if precisions:
            of_sides = _compared(results, [*wording.SIDES_OF_MATCHES], lacking)[0]
            compared = compared._replace(pairs=_with_combined([compared.pairs, of_sides.pairs]))
    names = list(matched) if compared is None else compared.leaderboard["name"].tolist()
    matches = with_places(drawn_tables.together({name: diagnose(matched[name], **rule.callers) for name in names}))
    of_names = {name: precisions[name] for name in names if name in precisions}
    matches, confused = with_confused(matches, of_names, rule.threshold)
    kinds: list[tuple[Mapping[str, Ranked], list[str]]] = [({name: matched[name] for name in names}, of_matches)]
    if of_results:
        kinds.insert(0, ({name: ranked[name] for name in names}, of_results))
    headline, texts = _intervals(kinds, said)
    summary = summary_by(matches, "submission", rule, own)
    if compared is not None:
        # The leaderboard of results lacks the F1 of the match tables; both have the same order.
        board = compared.leaderboard
        board = board if "f1" in board else board.assign(f1=summary["f1"].to_numpy())
        compared = compared._replace(leaderboard=_known(board, rule))
    return Evaluation(
        truth=truth,
        submissions={name: submissions[name] for name in names},
        options=options,
        rule=rule,
        tracks=tracks,
        results={name: results[name] for name in names},
        precisions={name: precisions[name] for name in names if name in precisions},
        matches=matches,
        confused=confused,
        cuts=cuts,
        by_condition={columns: {name: of[name] for name in names} for columns, of in by_condition.items()},
        no_condition=no_condition,
        summary=_with_estimates(summary, headline, of_results),
        intervals=headline,
        compared=compared,
        breaks=None if not tracks else breaks_of(_tracked(results, names), matches),
        warnings=texts,
        about_pairs=about_pairs,
        images=images,
    )


def _tracked(results: Mapping[str, Evaluated], names: Sequence[str]) -> dict[str, TrackResult | PoseResult]:
    """What `track` or `pose` returned for these submissions."""
    return {name: x for name in names if isinstance(x := results[name], TrackResult | PoseResult)}


@contextmanager
def _noted(said: Said, name: str, speaker: str = "") -> Iterator[None]:
    """Adds the texts of all warnings that are given meanwhile, without their `speaker`, as about a submission."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        said.setdefault(str(warning.message).removeprefix(speaker), set()).add(name)


def _evaluated(
    truth: Annotations, submissions: Mapping[str, Annotations], options: MatchOptions, tracks: bool
) -> tuple[dict[str, Evaluated], Said]:
    """What each submission is evaluated to, and the warnings of that."""
    results, said = dict[str, Evaluated](), Said()
    for name, side in work.progress(list(submissions.items()), "matching", "submission"):
        with _noted(said, name):
            results[name] = evaluated(truth, side, options, tracks)
    return results, said


def _precisions(
    truth: Annotations,
    submissions: Mapping[str, Annotations],
    matched: Mapping[str, pd.DataFrame],
    options: MatchOptions,
    rule: Rule,
    said: Said,
) -> dict[str, AveragePrecision]:
    """The average precision of each submission, whose warnings are added to those that are `said`.

    There is none unless all submissions have scores and are matched by the similarity of their geometry.
    """
    if not rule.is_official or not all(has_scores(submissions[name], matched[name]) for name in matched):
        return {}
    answer = {}
    for name, side in submissions.items():
        with _noted(said, name, "average_precision: "):
            answer[name] = average_precision(truth, side, rule.name, sigmas=options.sigmas)
    return answer


def has_scores(submission: Annotations, matches: pd.DataFrame) -> bool:
    """Whether each prediction has a score; a whole pose whose joints have different ones has none."""
    predicted = matches["outcome"].isin(["TP", "FP"])
    return (
        "score" in submission.objects
        and bool(submission.objects["score"].notna().all())
        and bool(matches.loc[predicted, "predicted_score"].notna().all())
    )


def _provenance_of(result: Evaluated) -> str:
    """The provenance of a match table, or of what `track` or `pose` returned."""
    return official.of_matches(result.attrs) if isinstance(result, pd.DataFrame) else result.provenance


def _own_metrics(matched: Mapping[str, pd.DataFrame]) -> tuple[list[str], str | None]:
    """The own metrics that all match tables have the columns for, and the text of a warning of the others or None."""
    found = [own_metrics.own_row_sums(match_columns(table), registry.own_metrics(), ()) for table in matched.values()]
    known = [name for name in registry.own_metrics() if all(name in of.metrics for of in found)]
    return known, own_metrics.lacking_text(of.lacking for of in found)


def _compared(results: Mapping[str, Ranked], metrics: Sequence[str], said: str | None) -> tuple[Comparison, list[str]]:
    """The comparison of submissions, and the texts of its warnings but for what is `said` already.

    That is the warning of few sequences, too, as intervals have it.
    """
    heard = Said()
    with _noted(heard, "", "compare: "):
        answer = compare(results, metrics, resamples=RESAMPLES, confidence=CONFIDENCE)
    texts = [text.removeprefix(f"{OF_FEW}: {LITTLE_KNOWN}").removeprefix("; ") for text in heard]
    return answer, [text for text in texts if text and text != said]


def _of_results(x: Ranked) -> list[str]:
    """The headline metrics of a result, of tracks and poses with the two sides of HOTA; none of a match table."""
    if isinstance(x, pd.DataFrame):
        return []
    first, *others = (name for name in wording.RESULT_HEADLINE if name in x.summary)
    return [first, *(name for name in wording.SIDES_OF_TRACKS if name in x.summary), *others]


def _with_combined(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables of results and of match tables as one; all numbers of the latter are combined ones."""
    answer = pd.concat(tables, ignore_index=True)
    if "aggregate" in answer:
        answer["aggregate"] = answer["aggregate"].fillna(COMBINED)
    answer.attrs = tables[-1].attrs
    return answer


def _intervals(
    kinds: Sequence[tuple[Mapping[str, Ranked], Sequence[str]]], said: Said
) -> tuple[pd.DataFrame, list[str]]:
    """The metrics of submissions with confidence intervals, and the texts of warnings, each once.

    `kinds` are what submissions were evaluated to, and the metrics of that: of results first, then of match tables.
    `said` are earlier texts with the submissions that they are about.
    """
    tables, texts = [], {text: {*names} for text, names in said.items()}
    for sides, metrics in kinds:
        found = {name: interval_table(x, None, metrics, confidence=CONFIDENCE) for name, x in sides.items()}
        tables.append(drawn_tables.together({name: table for name, (table, _) in found.items()}))
        for name, (_, of_name) in found.items():
            for text in of_name:
                texts.setdefault(text, set()).add(name)
    # That there are few sequences may be said in more words, too.
    longest = [text for text in texts if not any(other != text and other.startswith(text) for other in texts)]
    of_all = len(kinds[0][0])
    return _with_combined(tables), [
        text if len(texts[text]) == of_all else f"{', '.join(sorted(texts[text]))}: {text}" for text in longest
    ]


def intervals_of(x: Ranked, by: By | None, metrics: Sequence[str]) -> pd.DataFrame:
    """These metrics by slices, or of everything, with the intervals of the page."""
    return rows_of(interval_table(x, by, metrics, confidence=CONFIDENCE)[0], COMBINED)


def _with_estimates(summary: pd.DataFrame, intervals: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """A summary by submission that begins with these metrics, whose estimates are in a table of intervals."""
    rows = rows_of(intervals, COMBINED)
    columns = {name: rows.loc[rows["metric"] == name, "estimate"].to_numpy() for name in metrics}
    return summary.assign(**columns)[["submission", *columns, *summary.columns.drop("submission")]]


def matches_of_name(evaluation: Evaluation, name: str) -> pd.DataFrame:
    """The match table of a submission, without the kinds of its errors."""
    return matches_of(evaluation.results[name])


def rows_of(table: pd.DataFrame, of: str) -> pd.DataFrame:
    """The rows of combined numbers, or of macro means, which detections have none of."""
    return table[table["aggregate"] == of] if "aggregate" in table else table if of == COMBINED else table.iloc[:0]


def _cuts(
    matched: Mapping[str, pd.DataFrame], by: Sequence[Mapping[str, CheckedBins]]
) -> dict[tuple[str, ...], dict[str, list[pd.Series]]]:
    """For each slicing, the columns to slice the match table of each submission by; all submissions share their bins.

    A submission whose match table lacks a column is left out.
    """
    if any("submission" in columns for columns in by):
        raise SliceError("submission: every slice is one of a submission already; leave it out")
    cuts = {}
    for columns in by:
        having = {name: table for name, table in matched.items() if columns.keys() <= {*table}}
        if not having:
            for column in columns:
                selections.check_column(next(iter(matched.values())), column)
        cuts[tuple(columns)] = selections.binned_together(having, columns)
    return cuts


def _by_condition(
    truth: Annotations,
    submissions: Mapping[str, Annotations],
    by: Sequence[Mapping[str, CheckedBins]],
    cuts: Mapping[tuple[str, ...], Mapping[str, list[pd.Series]]],
    options: MatchOptions,
    said: Said,
) -> tuple[dict[tuple[str, ...], dict[str, TrackResult | PoseResult]], list[str]]:
    """What each submission is evaluated to by condition, for the slicings whose columns are conditions.

    The slicings of every page, and those of more slices than a page can show, are left out; texts say why others are.
    """
    answer, texts = dict[tuple[str, ...], dict[str, TrackResult | PoseResult]](), list[str]()
    for columns in by:
        if columns in EVERY_PAGE:
            continue
        named = " and ".join(columns)
        if not conditions.may_be(columns):
            texts.append(f"{named}: slices of tracks are those of truths, frames or sequences")
            continue
        values = pd.concat(next(iter(cuts[tuple(columns)].values())), axis=1).dropna().drop_duplicates()
        if not 0 < len(values) <= MOST_CONDITIONS:
            texts.append(f"{named}: {len(values):,} values, and up to {MOST_CONDITIONS} have a slice here; give bins")
            continue
        results = dict[str, TrackResult | PoseResult]()
        for name, side in work.progress(list(submissions.items()), f"by {' and '.join(columns)}", "submission"):
            with _noted(said, name):
                result = evaluated(truth, side, options, tracks=True, by=columns)
                assert not isinstance(result, pd.DataFrame)  # with tracks=True it never is
                results[name] = result
        answer[tuple(columns)] = results
    return answer, texts


def summary_by(matches: pd.DataFrame, by: By, rule: Rule, own: Sequence[str]) -> pd.DataFrame:
    """The metrics of a match table by slices, these own ones included, as far as they are defined for the rule."""
    return _known(summary_of(match_sums.summary_sums(matches, by, own)), rule)


def _known(table: pd.DataFrame, rule: Rule) -> pd.DataFrame:
    """A table without the columns of metrics that are not defined for the rule."""
    named = {column: wording.reading(str(column)) for column in table}
    return table[
        [
            column
            for column, known in named.items()
            if known is None or known.metric.is_defined(not rule.by_distance, rule.assignment)
        ]
    ]
