"""The commands `compare` and `gate`: submissions held against each other, against limits and against a baseline."""

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .. import analysis
from ..analysis.certainty import inferiority, interval_table
from ..presentation.drawing import escaped, markdown_of, wording
from ..scoring import AP_METRICS, AveragePrecision, Metric, held_in, own_metrics, sequence_sums
from ..support import addresses, bins_as_text, work, writing
from ..tables import match_columns, selections
from ..tracking import conditions, families_among, matches_of
from . import saved
from .answers import Answer, check_out, check_written, formatted, keep, plain_rows
from .arguments import How, slices_of
from .layout import sentence
from .printing import WrongUsage, one_line, wrong_usage
from .submissions import Submission
from .terminal import styled
from .text import comparison_text, held_text
from .usage import no_such

# The exit status where a check is not passed, and the words before checks.
NOT_PASSED = 3
PASSED, NOT = "passed", "NOT PASSED"


def compare(
    truth: Path,
    submissions: Sequence[Submission],
    how: How,
    metrics: str | None,
    by: str | None,
    exclude: str,
    out: Path | None,
) -> Answer:
    """Compares submissions; the answer has their leaderboard and their differences."""
    if len(submissions) < 2:
        raise WrongUsage("give two submissions or more")
    [slices] = list[Any](slices_of([by])) if by is not None else [None]
    names = None if metrics is None else [name.strip() for name in metrics.split(",")]
    asked = ["AP"] if names is None and how.protocol is not None else names or []
    numbers = saved.precision_among(asked, how)
    of_precision, others = bool(numbers), [name for name in asked if name not in numbers]
    if of_precision and others:
        raise WrongUsage(f"--metrics: {others[0]} is none of average precision, as others are; compare it by itself")
    check_out(out, [truth, *(submission.path for submission in submissions)])
    how = how._replace(on_request=families_among(others))
    given = saved.read_given(truth, submissions, how, exclude, of_precision=numbers)
    if names is None and not how.tracks and any(map(saved.is_of_precision, given.named.values())):
        of_precision = True
        saved.check_options("AP", how, alone=True)
    if how.tracks and slices and any(name.startswith((conditions.OF_TRUTH, conditions.OF_FRAMES)) for name in slices):
        results, slices = saved.results_of(given, of_precision=False, by=slices), [*slices]
    else:
        results = saved.results_of(given, of_precision=of_precision)
    with wrong_usage("--"), work.step("comparing"):  # no such metric is wrong usage
        compared = analysis.compare(results, names, slices, exclude=given.exclude)
    shown = {"leaderboard": compared.leaderboard, "pairs": compared.pairs}
    answer = formatted({name: plain_rows(bins_as_text(table)) for name, table in shown.items()})
    sources = {f"submission {name}": saved.source_of(side) for name, side in given.named.items()}
    keep(out, "compare", compared, answer, {"truth": given.truth.objects} | sources, exclude=exclude)

    def text() -> str:
        first = next(iter(results.values()))  # all have the same truth
        heading = f"{len(submissions)} submissions against {addresses.shown(truth)}, {saved.result_text(first)}"
        parts = [sentence(one_line(heading)), comparison_text(compared.leaderboard, compared.pairs)]
        held = None if isinstance(first, AveragePrecision) else held_in(match_columns(matches_of(first)), ".2f")
        return "\n\n".join([*parts, *([held_text(held)] if held else [])])

    return Answer(text, lambda: answer)


class Wanted(NamedTuple):
    """A check that is asked for: the option, the metric, and the number that it is held against."""

    option: str
    metric: str
    number: float


class Sides(NamedTuple):
    """The submission and its baseline, if there is one, as evaluated for some of the checks.

    `entries` are those of the metrics that there are, and `others` are names of metrics that these would have if they
    were evaluated otherwise; `exclude` are checked sequences to leave out; `always_valid` says which bound is held
    against the margin.
    """

    results: list[saved.Result]
    entries: Mapping[str, Metric]
    others: Sequence[str]
    exclude: Sequence[int | str] | None
    always_valid: bool


class Check(NamedTuple):
    """A check: what `--json` prints of it, a sentence about it, and whether what would have to pass is unknown.

    Of --min and --max, `estimate`, `low` and `high` are the metric and its interval, `bound` is the limit, and `reason`
    says why there is no interval. Of --margin, `estimate` is the difference to the baseline, counted so that more is
    better, `low` its one-sided bound, `bound`, which that has to be above, minus the margin, and `reason` says why it
    is not.
    """

    row: dict[str, Any]
    sentence: str
    is_unknown: bool


def gate(
    truth: Path,
    submission: Submission,
    baseline: Submission | None,
    least: Sequence[str],
    most: Sequence[str],
    margin: Sequence[str],
    always_valid: bool,
    how: How,
    exclude: str,
    markdown: Path | None,
) -> Answer:
    """Checks a submission against limits and a baseline; the exit status is 3 where a check is not passed."""
    wanted = list(_wanted(least, most, margin))
    _check_asked(wanted, baseline, always_valid=always_valid)
    own_metrics.add_named_metrics(check.metric for check in wanted)
    paths = [submission] if baseline is None else [submission, baseline]
    check_written(markdown, [truth, *(side.path for side in paths)])
    of_precision = saved.precision_among((check.metric for check in wanted), how)
    kinds = [check.metric in of_precision for check in wanted]
    how = how._replace(on_request=families_among(check.metric for check in wanted))
    given = saved.read_given(truth, paths, how, exclude, of_precision=of_precision)
    sides = {kind: _sides(given, of_precision=kind, always_valid=always_valid) for kind in dict.fromkeys(kinds)}
    found = {
        kind: iter(_checks(of, [check for check, its in zip(wanted, kinds, strict=True) if its == kind]))
        for kind, of in sides.items()
    }
    checks = [next(found[kind]) for kind in kinds]
    passed = all(check.row["passed"] for check in checks)
    against = "" if baseline is None else f", with the baseline {baseline.shown}"
    rules = ", and ".join(saved.result_text(of.results[0]) for of in sides.values())
    head = one_line(f"{submission.shown} against {addresses.shown(truth)}{against}, {rules}")
    if markdown is not None:
        writing.write_bytes(markdown, _markdown(head, checks).encode("utf-8", "replace"))
    return Answer(
        text=lambda: f"{sentence(head)}\n\n{_text(checks)}",
        json=lambda: formatted({"passed": passed, "checks": [check.row for check in checks]}),
        complaints=[check.sentence for check in checks if check.is_unknown],
        status=0 if passed else NOT_PASSED,
    )


def _wanted(least: Sequence[str], most: Sequence[str], margin: Sequence[str]) -> Iterator[Wanted]:
    """Parses the options; raises WrongUsage where one is no METRIC=NUMBER."""
    for option, texts in (("--min", least), ("--max", most), ("--margin", margin)):
        for text in texts:
            metric, _, written = text.partition("=")
            try:
                number = float(written)
            except ValueError:
                number = math.nan
            if not metric or not math.isfinite(number):
                raise WrongUsage(f"{option}: {text!r} is no METRIC=NUMBER; give one such as f1=0.9")
            if option == "--margin" and number < 0:
                raise WrongUsage(f"{option}: {text!r} is below 0; give how much worse is still good enough")
            yield Wanted(option, metric.strip(), number)


def _check_asked(wanted: Sequence[Wanted], baseline: Submission | None, *, always_valid: bool) -> None:
    """Raises WrongUsage where there is nothing to check, or where --margin and what belongs to it are not together."""
    if not wanted:
        raise WrongUsage("nothing to check; give --min f1=0.9, --max mse=40, or --baseline with --margin f1=0.01")
    of_baseline = any(check.option == "--margin" for check in wanted)
    if of_baseline and baseline is None:
        raise WrongUsage("--margin: is how much worse than a baseline is still good enough; give --baseline, too")
    if baseline is not None and not of_baseline:
        raise WrongUsage("--baseline: is what --margin is about; give such as --margin f1=0.01, too")
    if always_valid and not of_baseline:
        raise WrongUsage("--always-valid: is about the bound of --margin; give --margin and --baseline, too")


def _sides(given: saved.Given, *, of_precision: bool, always_valid: bool) -> Sides:
    """The submission and its baseline as they are evaluated; a warning names excluded sequences that neither has."""
    results = list(saved.results_of(given, of_precision=of_precision).values())
    evaluated = [sequence_sums.evaluable(result, "gate") for result in results]
    left_out, unknown = selections.excluded_sequences(given.exclude, [of.table for of in evaluated])
    if unknown is not None:
        warnings.warn(unknown, stacklevel=2)
    unit = evaluated[0].table.attrs.get("unit")
    entries = evaluated[0].evaluate(evaluated[0].table, None, ()).metrics.entries
    entries = {name: entry._replace(unit=entry.unit_in(unit)) for name, entry in entries.items()}
    others = [] if given.how.tracks else [*AP_METRICS]
    return Sides(results, entries, others, left_out, always_valid)


def _checks(sides: Sides, wanted: Sequence[Wanted]) -> list[Check]:
    """The checks of the submission in the order in which they are wanted."""
    entries = sides.entries
    for check in wanted:
        if check.metric not in entries:
            problem = no_such("metric", check.metric, list(dict.fromkeys([*entries, *sides.others])))
            raise WrongUsage(f"{check.option}: {problem[0].lower()}{problem[1:]}")
        if check.option == "--margin" and entries[check.metric].higher_is_better is None:
            raise WrongUsage(f"--margin: of {check.metric} neither more nor less is better; give another metric")
    of_numbers = list(dict.fromkeys(check.metric for check in wanted if check.option != "--margin"))
    rows = _numbers(sides, of_numbers) if of_numbers else {}
    return [
        _against_baseline(sides, check, entries[check.metric])
        if check.option == "--margin"
        else _of_number(rows[check.metric], check, entries[check.metric])
        for check in wanted
    ]


def _numbers(sides: Sides, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The metrics of the submission with their intervals, by name."""
    table, texts = interval_table(sides.results[0], None, names, exclude=sides.exclude)
    for text in texts:
        warnings.warn(f"intervals: {text}", stacklevel=2)
    # Of results, the first row of a metric is the combined number.
    return {row["metric"]: row for row in plain_rows(table.drop_duplicates("metric"))}


def _of_number(row: Mapping[str, Any], wanted: Wanted, entry: Metric) -> Check:
    """A check of --min or --max, from the metric's row of intervals."""
    estimate, is_least = row["estimate"], wanted.option == "--min"
    if entry.higher_is_better not in (None, is_least):
        better, other = ("more", "--min") if entry.higher_is_better else ("less", "--max")
        warnings.warn(f"{wanted.option} {wanted.metric}: {better} is better; did you mean {other}?", stacklevel=2)
    asked = f"at {'least' if is_least else 'most'} {wording.written(wanted.number, entry, 'g')} is asked"
    if estimate is None:
        sentence, passed = f"{entry.label} is not defined here; {asked}", False
    else:
        low, high = (wording.written(row[name], entry) for name in ("low", "high"))
        interval = "no interval" if row["low"] is None else f"95% interval {low} to {high}"
        sentence = f"{entry.label} is {wording.written(estimate, entry)} ({interval}); {asked}"
        passed = estimate >= wanted.number if is_least else estimate <= wanted.number
    numbers = {name: row[name] for name in ("metric", "estimate", "low", "high")}
    answer = numbers | {"bound": wanted.number, "passed": passed, "reason": row["reason"]}
    return Check(answer, sentence, estimate is None)


def _against_baseline(sides: Sides, wanted: Wanted, entry: Metric) -> Check:
    """A check of --margin."""
    x, baseline = sides.results
    answer = inferiority(
        x, baseline, wanted.metric, wanted.number, exclude=sides.exclude, always_valid=sides.always_valid
    ).answer
    [row] = plain_rows(answer.table)
    estimate, low = row["estimate"], row["low"]
    parts = []
    if estimate == 0:
        parts.append(f"{entry.label} equals the baseline's" + (", as all rows do" if low == 0 else ""))
    elif estimate is not None:
        better = "better" if estimate > 0 else "worse"
        parts.append(f"{entry.label} is {wording.written(abs(estimate), entry)} {better} than the baseline's")
    if low is None:
        parts.append(f"but {row['reason']}" if parts else f"{entry.label} is not defined here")
    elif low > 0:
        parts.append(f"surely {wording.written(low, entry)} better")
    elif low < 0:
        parts.append(f"{'and' if estimate < 0 else 'but'} may be {wording.written(-low, entry)} worse")
    allowed = f"{wording.written(wanted.number, entry, 'g')} worse is allowed"
    remark = (row["reason"] or "").partition("; ")[2] if low is not None else ""  # what the bound allows for
    sentence = "; ".join(filter(None, [", ".join(parts), allowed, remark]))
    numbers = {"metric": wanted.metric, "estimate": estimate, "low": low, "high": None, "bound": 0.0 - wanted.number}
    return Check(numbers | {"passed": answer.passed, "reason": row["reason"]}, sentence, low is None)


def _text(checks: Sequence[Check]) -> str:
    """One line for each check, and a line that counts them."""
    lines = [sentence(one_line(check.sentence), f"{_word(check):<10}  ") for check in checks]
    styles = ["green" if check.row["passed"] else "red" for check in checks]
    words = [(_word(check), style) for check, style in zip(checks, styles, strict=True)]
    lines = [
        f"{styled(word, style)}{line.removeprefix(word)}" for line, (word, style) in zip(lines, words, strict=True)
    ]
    return "\n".join([*lines, "", _counted(checks)])


def _markdown(head: str, checks: Sequence[Check]) -> str:
    """The same as Markdown: the count, a row for each check, and what was held against what."""
    rows = [[_word(check), check.sentence] for check in checks]
    table = markdown_of(["result", "check"], rows)
    return f"**{_counted(checks)}**\n\n{table}\n\n{escaped(head)}\n"


def _word(check: Check) -> str:
    """The word before a check."""
    return PASSED if check.row["passed"] else NOT


def _counted(checks: Sequence[Check]) -> str:
    """How many checks are passed."""
    n_passed = sum(check.row["passed"] for check in checks)
    return f"{n_passed} of {len(checks)} {'check' if len(checks) == 1 else 'checks'} passed"
