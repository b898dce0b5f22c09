"""The command `compare`."""

from collections.abc import Sequence
from pathlib import Path

from ..analysis.certainty import comparison
from ..scoring.ap.result import AveragePrecision
from ..scoring.summary import held_in
from ..support.addresses import shown
from ..support.errors import InputError
from ..support.texts import bins_as_text
from ..tables.match_tables import match_columns
from ..tracking.results import matches_of
from .answers import Answer, check_out, formatted, keep, plain_rows
from .arguments import How, slices_of
from .printing import WrongUsage, one_line
from .saved import check_words, is_of_precision, precision_among, read_given, result_text, results_of, source_of
from .submissions import Submission
from .text import comparison_text, held_text


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
    [slices] = slices_of([by]) if by is not None else [None]
    names = None if metrics is None else [name.strip() for name in metrics.split(",")]
    numbers = precision_among(names or [], how)
    of_precision, others = bool(numbers), [name for name in names or [] if name not in numbers]
    if of_precision and others:
        raise WrongUsage(f"--metrics: {others[0]} is none of average precision, as others are; compare it by itself")
    check_out(out, [truth, *(submission.path for submission in submissions)])
    given = read_given(truth, submissions, how, exclude, of_precision=of_precision)
    if names is None and not how.tracks and any(map(is_of_precision, given.named.values())):
        of_precision = True
        check_words("AP", how, alone=True)
    results = results_of(given, of_precision=of_precision)
    try:
        compared = comparison.compare(results, names, slices, exclude=given.exclude)
    except InputError:
        raise
    except ValueError as error:  # no such metric
        raise WrongUsage(f"--{error}") from None
    answer = formatted({name: plain_rows(bins_as_text(table)) for name, table in compared._asdict().items()})
    sources = {f"submission {name}": source_of(side) for name, side in given.named.items()}
    keep(out, "compare", compared, answer, {"truth": given.truth.objects} | sources, exclude=exclude)

    def text() -> str:
        first = next(iter(results.values()))  # all have the same truth
        heading = f"{len(submissions)} submissions against {shown(truth)}, {result_text(first)}"
        parts = [one_line(heading), comparison_text(*compared)]
        held = None if isinstance(first, AveragePrecision) else held_in(match_columns(matches_of(first)))
        return "\n\n".join([*parts, *([held_text(held)] if held else [])])

    return Answer(text, lambda: answer)
