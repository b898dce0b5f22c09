"""The command `gate`."""

import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ..analysis.gates import non_inferiority
from ..analysis.uncertainty import intervals
from ..scoring.evaluations import asked_table
from ..scoring.package_metrics import add_metrics_of_packages
from ..scoring.registry import Metric
from ..support.addresses import shown
from ..tables.selections import excluded_sequences, without_sequences
from ..tracking.evaluate import Evaluated, matches_of
from .arguments import How
from .as_json import formatted, plain_rows
from .printing import one_line, tell
from .problems import WrongUsage, problems_reported
from .saved import read_evaluated
from .text import rule_text
from .usage import no_such

# The exit status where a check is not passed.
NOT_PASSED = 3


class Wanted(NamedTuple):
    """A check that is asked for: the option, the metric, and the number that it is held against."""

    option: str
    metric: str
    number: float


class Check(NamedTuple):
    """A check: what `--json` prints of it, a sentence about it, and whether what would have to pass is unknown.

    Of --min and --max, `estimate`, `low` and `high` are the metric and its interval, and `bound` is the limit. Of
    --margin, `estimate` is the difference to the baseline, counted so that more is better, `low` its one-sided bound,
    and `bound`, which that has to be above, minus the margin.
    """

    metric: str
    estimate: float | None
    low: float | None
    high: float | None
    bound: float
    passed: bool
    sentence: str
    is_unknown: bool


def gate(
    truth: Path,
    submission: Path,
    baseline: Path | None,
    least: Sequence[str],
    most: Sequence[str],
    margin: Sequence[str],
    how: How,
    exclude: str,
    as_json: bool,
) -> None:
    """Checks a submission against limits and a baseline, and exits with status 3 where a check is not passed."""
    wanted = list(_wanted(least, most, margin))
    _check_asked(wanted, baseline)
    with problems_reported():
        paths = [submission] if baseline is None else [submission, baseline]
        _, _, results, left_out = read_evaluated(truth, paths, how, exclude)
        sides = _without(list(results.values()), left_out)
        checks = _checks(sides, wanted)
    passed = all(check.passed for check in checks)
    if as_json:
        tell(formatted({"passed": passed, "checks": [_plain(check) for check in checks]}))
        for check in checks:
            if check.is_unknown:
                tell(one_line(check.sentence), sys.stderr)
    else:
        against = "" if baseline is None else f", with the baseline {shown(baseline)}"
        tell(one_line(f"{shown(submission)} against {shown(truth)}{against}, {rule_text(matches_of(sides[0]).attrs)}"))
        tell(f"\n{_text(checks)}")
    if not passed:
        sys.exit(NOT_PASSED)


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


def _check_asked(wanted: Sequence[Wanted], baseline: Path | None) -> None:
    """Raises WrongUsage where there is nothing to check, or where --margin and --baseline are not together."""
    if not wanted:
        raise WrongUsage("nothing to check; give --min f1=0.9, --max mse=40, or --baseline with --margin f1=0.01")
    of_baseline = any(check.option == "--margin" for check in wanted)
    if of_baseline and baseline is None:
        raise WrongUsage("--margin: is how much worse than a baseline is still good enough; give --baseline, too")
    if baseline is not None and not of_baseline:
        raise WrongUsage("--baseline: is what --margin is about; give such as --margin f1=0.01, too")


def _without(sides: Sequence[Evaluated], exclude: Sequence[int] | Sequence[str] | None) -> list[Evaluated]:
    """The submissions without excluded sequences; a warning names those that none has."""
    left_out, unknown = excluded_sequences(exclude, [matches_of(side) for side in sides])
    if unknown is not None:
        warnings.warn(unknown, stacklevel=2)
    answer: list[Evaluated] = []
    for side in sides:
        if isinstance(side, pd.DataFrame):
            answer.append(without_sequences(side, left_out))
        else:
            kept = {name: without_sequences(getattr(side, name), left_out) for name in ("sums", "matches")}
            answer.append(side._replace(**kept))
    return answer


def _checks(sides: Sequence[Evaluated], wanted: Sequence[Wanted]) -> list[Check]:
    """The checks of the submission, the first side, in the order in which they are wanted."""
    add_metrics_of_packages(check.metric for check in wanted)
    asked = asked_table(sides[0], "gate")
    entries = asked.evaluate(asked.table, None, ()).family.metrics
    for check in wanted:
        if check.metric not in entries:
            problem = no_such("metric", check.metric, [*entries])
            raise WrongUsage(f"{check.option}: {problem[0].lower()}{problem[1:]}")
        if check.option == "--margin" and entries[check.metric].higher_is_better is None:
            raise WrongUsage(f"--margin: of {check.metric} neither more nor less is better; give another metric")
    of_numbers = list(dict.fromkeys(check.metric for check in wanted if check.option != "--margin"))
    # Of tracks, the first row of a metric is the combined number.
    found = intervals(sides[0], metrics=of_numbers).drop_duplicates("metric") if of_numbers else pd.DataFrame()
    rows = {row["metric"]: row for row in plain_rows(found)}
    return [
        _against_baseline(sides, check, entries[check.metric])
        if check.option == "--margin"
        else _of_number(rows[check.metric], check, entries[check.metric])
        for check in wanted
    ]


def _of_number(row: Mapping[str, Any], wanted: Wanted, entry: Metric) -> Check:
    """A check of --min or --max, from the metric's row of intervals."""
    estimate, is_least = row["estimate"], wanted.option == "--min"
    if entry.higher_is_better not in (None, is_least):
        better, other = ("more", "--min") if entry.higher_is_better else ("less", "--max")
        warnings.warn(f"{wanted.option} {wanted.metric}: {better} is better; did you mean {other}?", stacklevel=2)
    asked = f"at {'least' if is_least else 'most'} {_written(wanted.number, entry, 'g')} is asked"
    if estimate is None:
        sentence, passed = f"{entry.label} is not defined here; {asked}", False
    else:
        low, high = (_written(row[name], entry) for name in ("low", "high"))
        interval = "no interval" if row["low"] is None else f"95% interval {low} to {high}"
        sentence = f"{entry.label} is {_written(estimate, entry)} ({interval}); {asked}"
        passed = estimate >= wanted.number if is_least else estimate <= wanted.number
    return Check(wanted.metric, estimate, row["low"], row["high"], wanted.number, passed, sentence, estimate is None)


def _against_baseline(sides: Sequence[Evaluated], wanted: Wanted, entry: Metric) -> Check:
    """A check of --margin."""
    answer = non_inferiority(sides[0], sides[1], wanted.metric, wanted.number)
    [row] = plain_rows(answer.table)
    estimate, low = row["estimate"], row["low"]
    parts = []
    if estimate == 0:
        parts.append(f"{entry.label} equals the baseline's")
    elif estimate is not None:
        better = "better" if estimate > 0 else "worse"
        parts.append(f"{entry.label} is {_written(abs(estimate), entry)} {better} than the baseline's")
    if low is None:
        parts.append(f"but {row['reason']}" if parts else f"{entry.label} is not defined here")
    elif low > 0:
        parts.append(f"surely {_written(low, entry)} better")
    else:
        parts.append(f"{'and' if estimate < 0 else 'but'} may be {_written(-low, entry)} worse")
    allowed = f"{_written(wanted.number, entry, 'g')} worse is allowed"
    sentence = f"{', '.join(parts)}; {allowed}"
    return Check(wanted.metric, estimate, low, None, -wanted.number, answer.passed, sentence, low is None)


def _plain(check: Check) -> dict[str, Any]:
    """What `--json` prints of a check."""
    return {name: getattr(check, name) for name in ("metric", "estimate", "low", "high", "bound", "passed")}


def _written(value: float | None, entry: Metric, form: str = "") -> str:
    """A value of a metric with its unit; with four decimals unless a form is given, and counts without."""
    if value is None:
        return "-"
    number = f"{value:{form or (',.0f' if entry.written == 'count' else ',.4f')}}"
    return f"{number} {entry.unit}" if entry.unit else number


def _text(checks: Sequence[Check]) -> str:
    """One line for each check, and a line that counts them."""
    lines = [f"{'passed' if check.passed else 'NOT PASSED':<10}  {one_line(check.sentence)}" for check in checks]
    n_passed = sum(check.passed for check in checks)
    counted = f"{n_passed} of {len(checks)} {'check' if len(checks) == 1 else 'checks'} passed"
    return "\n".join([*lines, "", counted])
