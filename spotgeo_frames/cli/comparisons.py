"""The command `compare`."""

from collections.abc import Sequence
from pathlib import Path

from ..analysis import comparison
from ..support.addresses import shown
from ..support.errors import InputError
from ..support.labels import bins_as_text
from .arguments import How, slices_of
from .as_json import formatted, plain_rows
from .outputs import check_out, keep
from .printing import one_line, tell
from .problems import WrongUsage, problems_reported
from .saved import read_evaluated, source_of
from .text import comparison_text, rule_text


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
        check_out(out, [truth, *submissions])
        known, named, results, left_out = read_evaluated(truth, submissions, how, exclude)
        try:
            compared = comparison.compare(results, names, slices, exclude=left_out)
        except InputError:
            raise
        except ValueError as error:  # no such metric
            raise WrongUsage(f"--{error}") from None
        answer = formatted({name: plain_rows(bins_as_text(table)) for name, table in compared._asdict().items()})
        read = {"truth": known.objects} | {f"submission {name}": source_of(side) for name, side in named.items()}
        keep(out, "compare", compared, answer, read, exclude=exclude)
    if as_json:
        tell(answer)
    else:
        heading = f"{len(submissions)} submissions against {shown(truth)}, {rule_text(compared.leaderboard.attrs)}"
        tell(f"{one_line(heading)}\n\n{comparison_text(*compared)}")
