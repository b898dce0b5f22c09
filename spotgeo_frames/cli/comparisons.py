"""The command `compare`."""

from collections.abc import Sequence
from pathlib import Path

from ..analysis import comparison
from ..support.errors import InputError
from ..support.progress import progress
from ..tables.annotations import Annotations
from ..tracking.evaluate import Evaluated, evaluated
from .arguments import How, names_to_exclude, read_named, slices_of
from .as_json import formatted, plain_rows
from .outputs import check_out, keep
from .printing import one_line, tell
from .problems import WrongUsage, problems_reported
from .text import comparison_text, rule_text


def read_evaluated(
    truth: Path, submissions: Sequence[Path], how: How
) -> tuple[Annotations, dict[str, Annotations], dict[str, Evaluated]]:
    """The truth, and by their names the submissions and what they are evaluated to."""
    known, named = read_named(truth, submissions, how)
    sides = progress(list(named.items()), "matching", "submission")
    return known, named, {name: evaluated(known, side, how.words, how.tracks) for name, side in sides}


def compare(
    truth: Path,
    submissions: Sequence[Path],
    how: How,
    metrics: str | None,
    by: str | None,
    exclude: str,
    as_json: bool,
    out: Path | None,
) -> None:
    """Compares submissions, and prints their leaderboard and their differences."""
    if len(submissions) < 2:
        raise WrongUsage("give two submissions or more")
    [slices] = slices_of([by]) if by is not None else [None]
    names = None if metrics is None else [name.strip() for name in metrics.split(",")]
    with problems_reported():
        check_out(out, "compare", [truth, *submissions], comparison.Comparison._fields)
        known, named, results = read_evaluated(truth, submissions, how)
        left_out = names_to_exclude(exclude, [known, *named.values()])
        try:
            compared = comparison.compare(results, names, slices, exclude=left_out)
        except InputError:
            raise
        except ValueError as error:  # no such metric
            raise WrongUsage(f"--{error}") from None
        tables = compared._asdict()
        answer = formatted({name: plain_rows(table) for name, table in tables.items()})
        read = {"truth": known.objects} | {f"submission {name}": side.objects for name, side in named.items()}
        keep(out, "compare", tables, answer, read, exclude=exclude)
    if as_json:
        tell(answer)
    else:
        heading = f"{len(submissions)} submissions against {truth}, {rule_text(compared.leaderboard.attrs)}"
        tell(f"{one_line(heading)}\n\n{comparison_text(*compared)}")
