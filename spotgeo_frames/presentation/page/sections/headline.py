"""The top of the page: its heading, suspected mistakes, headline numbers with intervals, and comparisons.

The foot of the page is here, too: the files that were read, with digests, the rule, and the versions of packages.
"""

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd

from ....analysis.errors import changes
from ....analysis.mistakes import check
from ....matching import Rule
from ....scoring import held_in, registry
from ....support import DASH, __version__, name_as_text
from ....tables import Annotations, Input, match_columns, messages
from ....tracking import PoseResult
from ...drawing import display, drawn_tables, wording
from ...drawing.charts import of_tables
from ..evaluation import COMBINED, CONFIDENCE, MACRO, RESAMPLES, Evaluation, matches_of_name, rows_of
from ..folder import kept
from ..html.blocks import Block, Figure, Items, Numbers, Section, Text, having, table_of

CAPTION = "With 95% intervals, by leaving out one sequence at a time; ↑ more is better, ↓ less is better"
NOTHING = (
    "Nothing is suspicious. Axes, numbering, scale, offset, repetitions, caps, and the forms of boxes and the names of "
    "joints and classes were checked."
)
ABOUT = "The intervals answer what the metric of many more sequences like these would be, each weighted by its size."

OF_ALL = "first minus second, with the 95% interval of each pair by itself"
OF_NEIGHBOURS = "each submission minus the next one on the leaderboard, with the 95% interval of each pair by itself"
ABOUT_PAIRS = (
    "A difference is the value of the first submission minus that of the second; differences of shares are in "
    "percentage points. Intervals and p-values come from two tests, of which the more careful one counts: one swaps "
    "whole sequences between the two ({resamples:,} times, or in all ways if those are fewer), the other leaves out "
    "one sequence at a time. Adjusted p-values are over all pairs and metrics together. “Differs from the next” is yes "
    "where the adjusted p-value of {metric} is below 0.05; otherwise the two are not shown to differ."
)
ABOUT_MACRO = " “Macro” is the mean over sequences, by leaving out one at a time."
ABOUT_CHANGES = (
    "Two false alarms are the same if they match each other by the rule of the evaluation, as if one of them were a "
    "truth."
)

# The longest list of names in a heading, in characters; with longer ones the heading counts the submissions.
LONGEST_HEADING = 60

# What an interval rests on, by its column, in a sentence; the metric and the values of all submissions are filled in.
RESTS_ON = {
    "n_effective": "{metric} rests on {values} effective sequences: so many of equal size would have weights as even.",
    "largest_share": "The largest share that one sequence has of all weights is {values}.",
    "degrees_of_freedom": "There are {values} degrees of freedom: the fewer, the less is known of how much sequences "
    "differ.",
}
NO_INTERVAL = "No interval{of}: {reason}."
OF_SIDES = (
    " Those of recall and precision, which follow from the match tables as AP does not, are adjusted by themselves."
)


def heading(names: Sequence[str]) -> str:
    """The heading of the page."""
    if len(names) == 1:
        return f"How good is {names[0]}?"
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return f"How good are {listed}?" if len(listed) <= LONGEST_HEADING else f"{len(names)} submissions compared"


def lead(evaluation: Evaluation) -> list[str]:
    """The sentences before the numbers: which submission is best, how surely, and on how much data."""
    shown = display.texts(evaluation.summary).to_dict("records")[0]
    sizes = evaluation.summary[["n_sequences", "n_frames", "n_truth"]].iloc[0]
    nouns = {name: registry.METRICS[name].label.removesuffix("s") for name in sizes.index}
    data = ", ".join(messages.several(int(count), nouns[name]) for name, count in sizes.items())
    sentences = [f"Evaluated on {data}, with {wording.rule_text(evaluation.rule)}."]
    metric = evaluation.headline[0]
    name = wording.first_title(metric, evaluation.rule)
    if held := held_in(match_columns(matches_of_name(evaluation, evaluation.names[0]))):
        sentences.append(f"{held[0].upper()}{held[1:]}.")
    if shown[metric] == DASH:  # that of the best submission, so nobody has one
        return [f"{name} is not known{'' if evaluation.compared is None else ' of any submission'}.", *sentences]
    value = _with_interval(evaluation, shown[metric])
    if evaluation.compared is None:
        return [f"{name} is {value}.", *sentences]
    first, second, *_ = evaluation.names
    article = "an" if metric in ("f1", "AP") else "a"
    pairs = rows_of(evaluation.compared.pairs, COMBINED)
    [p] = pairs.loc[(pairs["a"] == first) & (pairs["b"] == second) & (pairs["metric"] == metric), "p_adjusted"]
    surely = bool(evaluation.compared.leaderboard["apart_from_next"].fillna(False).iloc[0])
    sure = "by more than chance explains" if surely else "but not shown to differ"
    known = "" if pd.isna(p) else f", {sure} (adjusted p-value {p:.2g})"
    return [f"{first} is first with {article} {name} of {value}, before {second}{known}.", *sentences]


def _with_interval(evaluation: Evaluation, value: str) -> str:
    """The first headline number of the best submission, which is known, with its interval or the reason why not."""
    rows = rows_of(evaluation.intervals, COMBINED)
    row = rows[rows["metric"] == evaluation.headline[0]].iloc[:1]
    [low, high] = display.texts(row[["metric", "estimate", "low", "high"]]).iloc[0][["low", "high"]]
    if low != DASH:
        return f"{value} ({CONFIDENCE:.0%} interval {low} to {high})"
    return f"{value} (no interval: {row['reason'].iloc[0]})"


def numbers(evaluation: Evaluation) -> Section:
    """Makes the section of the headline numbers with their intervals."""
    table = Numbers(CAPTION, evaluation.names, headline(evaluation), _below(evaluation))
    cautions = [Text(f"Caution: {text}.", "note") for text in evaluation.warnings]
    told = [Text(text) for text in lead(evaluation)]
    notes = [Text(text, "note") for text in (ABOUT, *_reasons(evaluation), *_rests_on(evaluation))]
    blocks: list[Block] = [*told, table, *notes, *_left_out(evaluation), *cautions]
    return Section("numbers", "Numbers", "Numbers", blocks)


def _left_out(evaluation: Evaluation) -> list[Text]:
    """How many crowds and ignored truths there are, and how many predictions of each submission they explain."""
    notes = {name: matches_of_name(evaluation, name).attrs for name in evaluation.names}
    first = next(iter(notes.values()))
    nouns = {"crowds": ("crowd", "crowds"), "ignored": ("ignored truth", "ignored truths")}
    truths = [f"{first[name]:,} {nouns[name][first[name] > 1]}" for name in nouns if first.get(name)]
    if not truths:
        return []
    explained = ", ".join(f"{of['explained']:,} of {name}" for name, of in notes.items())
    return [Text(f"Left out are {' and '.join(truths)}, and the predictions that they explain: {explained}.", "note")]


def headline(evaluation: Evaluation) -> list[dict[str, Any]]:
    """One row for each metric: its label and meaning, and for each submission its value, interval and all digits.

    Where the combined number has no interval, the mean over sequences and its interval stand in, if there is one.
    """
    rows = []
    tables = [
        rows_of(evaluation.intervals, of)[["metric", "estimate", "low", "high"]].reset_index(drop=True)
        for of in (COMBINED, MACRO)
    ]
    combined, macro = (display.texts(table).assign(exact=table["estimate"].map(_exact)) for table in tables)
    for metric in evaluation.headline:
        # Submission by submission, in their order.
        cells, means = (table[table["metric"] == metric].to_dict("records") for table in (combined, macro))
        named = [
            {"estimate": cell["estimate"], "exact": cell["exact"], "interval": _interval(cell, mean)}
            for cell, mean in zip_longest(cells, means)
        ]
        known = wording.reading(metric)
        assert known is not None  # the metrics of intervals are in a registry
        head = {
            "label": wording.title(metric, evaluation.rule.unit),
            "better": wording.arrow(known.metric),
            "meaning": wording.definition(known.metric),
        }
        rows.append(head | {"cells": named})
    return rows


def _interval(cell: Mapping[Any, str], mean: Mapping[Any, str] | None) -> str:
    """The interval of a number as text; `mean` is the mean over sequences with its interval."""
    if cell["low"] != DASH:
        return f"{cell['low']} to {cell['high']}"
    if mean is None or mean["low"] == DASH:
        return "no interval"
    return f"no interval; mean of sequences {mean['estimate']}: {mean['low']} to {mean['high']}"


def _below(evaluation: Evaluation) -> list[tuple[str, list[str]]]:
    """What stands below the numbers with intervals: labels with the values of all submissions."""
    return [*_of_poseval(evaluation), *_counts(evaluation)]


def _of_poseval(evaluation: Evaluation) -> list[tuple[str, list[str]]]:
    """Poseval's average precision of poses with scores; it follows from no sums of sequences, so has no interval."""
    totals = pd.DataFrame([x.summary.iloc[-1] for x in evaluation.results.values() if isinstance(x, PoseResult)])
    if not len(totals) or totals["ap"].isna().all():
        return []
    return [(f"{wording.title('ap')}: by poseval, without an interval", display.texts(totals)["ap"].tolist())]


def _reasons(evaluation: Evaluation) -> list[str]:
    """Why numbers have no interval, a sentence for each reason, with the metrics that it is about."""
    rows = rows_of(evaluation.intervals, COMBINED)
    without = rows[rows["low"].isna() & rows["reason"].notna()]
    by_reason = {str(reason): of["metric"].drop_duplicates().tolist() for reason, of in without.groupby("reason")}
    titles = {name: wording.title(name, "") for name in evaluation.headline}
    return [
        NO_INTERVAL.format(
            of="" if names == evaluation.headline else f" of {', '.join(str(titles[name]) for name in names)}",
            reason=reason,
        )
        for reason, names in by_reason.items()
    ]


def _rests_on(evaluation: Evaluation) -> list[str]:
    """What the interval of the metric that ranks rests on, as a paragraph; none where there is nothing to count."""
    rows = rows_of(evaluation.intervals, COMBINED)
    shown = display.texts(rows[rows["metric"] == evaluation.headline[0]])
    ranks = wording.title(evaluation.headline[0], "")
    sentences = []
    for column, text in RESTS_ON.items():
        values = dict(zip(evaluation.names, shown[column], strict=True))
        alike = len({*values.values()}) == 1
        known = [value if alike else f"{value} ({name})" for name, value in values.items() if value != DASH]
        sentences += [text.format(metric=ranks, values=known[0] if alike else ", ".join(known))] if known else []
    return [" ".join(sentences)] if sentences else []


def _counts(evaluation: Evaluation) -> list[tuple[str, list[str]]]:
    """The label of each count with its values for all submissions."""
    shown = display.texts(evaluation.summary)
    of_counts = [metric for metric in registry.METRICS.values() if metric.written == "count"]
    return [(f"{metric.label}: {metric.formula}", shown[metric.name].tolist()) for metric in of_counts]


def _exact(value: float) -> str:
    """A number with all its digits."""
    return DASH if np.isnan(value) else repr(float(value))


def suspicions(evaluation: Evaluation) -> Section:
    """Makes the section of suspected mistakes in submissions, such as swapped axes."""
    options = evaluation.options._asdict()
    found = drawn_tables.together(
        {
            name: check(evaluation.truth, side, **options, tracks=evaluation.tracks)
            for name, side in evaluation.submissions.items()
        }
    )
    items = []
    for row in display.texts(found).to_dict("records"):
        whose = f"{row['submission']}: " if evaluation.whose else ""
        corrected = "" if row["f1_corrected"] == DASH else f", {row['f1_corrected']} if corrected"
        items.append((f"{whose}{row['suspicion']}", f" (F1 {row['f1']}{corrected}): {row['advice']}"))
    block = Items(items) if items else Text(NOTHING)
    return Section("suspicions", "Suspicions", "Suspicions", [block], kept({"suspicions": found}))


def made_with(
    inputs: Sequence[Input],
    rule: Rule,
    exclude: Sequence[int | str],
    truth: Annotations,
    unlabelled: Mapping[str, int],
) -> list[tuple[str, str]]:
    """The labels and values of the page's footer.

    `unlabelled` is how many predictions of each submission were left out since they lie in no frame of the truth; empty
    where all count.
    """
    from importlib import metadata  # imported here, because it is slow to import and only needed here

    files = [
        (
            file.role,
            name_as_text(file.path.name) + file.remark + ("" if file.sha256 is None else f", SHA-256 {file.sha256}"),
        )
        for file in inputs
    ]
    packages = ("numpy", "pandas", "scipy", "pyarrow")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
    return [
        *(files or [("inputs", "tables in memory")]),
        *wording.rule_fields(rule),
        ("left out", ", ".join(map(str, exclude)) or "no sequence"),
        ("frames that count", _frames_that_count(truth, unlabelled)),
        ("versions", f"spotgeo_frames {__version__}, Python {platform.python_version()}, {versions}"),
        ("date", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
    ]


def _frames_that_count(truth: Annotations, unlabelled: Mapping[str, int]) -> str:
    """Which frames count, and how many predictions that leaves out."""
    if not unlabelled:
        return "all that the truth lists" if truth.frames is not None else "all with a truth or a prediction"
    counts = ", ".join(f"{count:,} of {name}" for name, count in unlabelled.items())
    return f"all that the truth has; predictions left out in others: {counts}"


def comparison(evaluation: Evaluation) -> Section | None:
    """Makes the section of the leaderboard and of differences; None with one submission."""
    if evaluation.compared is None:
        return None
    metric = evaluation.headline[0]
    board, pairs = evaluation.compared.leaderboard, evaluation.compared.pairs
    bounds = [name for name in (f"{metric}_low", f"{metric}_high") if name in board and board[name].notna().any()]
    numbers = [column for name in wording.BOARD for column in (name, *(bounds if name == metric else []))]
    shown = having(board, ["rank", "name", *numbers, "mse", "loc_a", "apart_from_next"])
    blocks: list[Block] = [table_of("leaderboard", "Leaderboard", shown)]
    blocks += [Text(f"No interval in the leaderboard: {text}.", "note") for text in board["reason"].dropna().unique()]
    if drawing := of_tables.differences(rows_of(pairs, COMBINED), evaluation.names, metric, CONFIDENCE):
        note = OF_ALL if len(evaluation.names) <= of_tables.MOST_PAIRED else OF_NEIGHBOURS
        blocks.append(Figure("differences", f"Differences of {wording.title(metric)},", drawing, note))
    shown = pd.concat([rows_of(pairs, of) for of in (COMBINED, MACRO)])
    shown = shown.drop(columns="reason") if shown["reason"].isna().all() else shown
    blocks.append(table_of("pairs", "Differences between submissions", shown))
    blocks += [Text(f"Caution: {text}.", "note") for text in evaluation.about_pairs]
    about = ABOUT_PAIRS.format(resamples=RESAMPLES, metric=wording.title(metric))
    about += OF_SIDES if evaluation.precisions else ""
    about += ABOUT_MACRO if "aggregate" in shown else ""
    blocks.append(Text(about, "note"))
    tables = kept({"leaderboard": board.rename(columns={"name": "submission"}), "pairs": pairs})
    return Section("comparison", "Comparison", "Comparison", blocks, tables)


def changed(evaluation: Evaluation) -> Section | None:
    """Makes the section of the truths that only one found, and of their false alarms; None with one submission."""
    first, *others = evaluation.names
    if not others:
        return None
    counts = pd.concat([_changes(evaluation, first, other) for other in others], ignore_index=True)
    table = table_of("changes", f"Changes from {first}", counts, ["change"])
    blocks: list[Block] = [table, Text(ABOUT_CHANGES, "note")]
    return Section("changes", "What changed", "Changes", blocks, kept({"changes": counts}))


def _changes(evaluation: Evaluation, before: str, after: str) -> pd.DataFrame:
    """How many truths and false alarms change between two submissions, a row for each change."""
    tables = [matches_of_name(evaluation, name) for name in (before, after)]
    changed = changes(*tables, **evaluation.rule.callers)["change"].value_counts()
    outcomes = tables[0]["outcome"].value_counts()
    lost, gained, gone, new = (changed[name] for name in ("lost", "gained", "false alarm gone", "new false alarm"))
    counts = {
        "found → missed": lost,
        "missed → found": gained,
        "found → found": outcomes["TP"] - lost,
        "missed → missed": outcomes["FN"] - gained,
        "false alarm gone": gone,
        "new false alarm": new,
        "same false alarm": outcomes["FP"] - gone,
    }
    # The page's script, match_rows.js, filters changes of truths by the same words.
    named = [f"{before} → {after}: {change}" for change in counts]
    return pd.DataFrame({"change": named, "count": [int(count) for count in counts.values()]})
