"""The command `compare`."""

from collections.abc import Sequence
from pathlib import Path

from ..analysis import comparison
from ..formats.any_file import read_sides
from ..matching.matcher import match
from ..matching.words import Words
from ..support.progress import progress
from .arguments import names_to_exclude, submission_names
from .as_json import formatted, plain_rows
from .outputs import check_out, keep
from .printing import one_line, tell
from .problems import WrongUsage, problems_reported
from .text import comparison_text, rule_text


def compare(
    truth: Path,
    submissions: Sequence[Path],
    words: Words,
    exclude: str,
    as_json: bool,
    out: Path | None,
) -> None:
    """Compares submissions, and prints their leaderboard and their differences."""
    if len(submissions) < 2:
        raise WrongUsage("give two submissions or more")
    with problems_reported():
        check_out(out, [truth, *submissions])
        sides = read_sides(truth, submissions, similarity=words.similarity)
        named = dict(zip(submission_names(submissions), sides[1:], strict=True))
        matches = {
            name: match(sides[0], side, **words._asdict())
            for name, side in progress(list(named.items()), "matching", "submission")
        }
        compared = comparison.compare(matches, exclude=names_to_exclude(exclude, sides))
        answer = formatted({name: plain_rows(table) for name, table in compared._asdict().items()})
        read = {"truth": sides[0].objects} | {f"submission {name}": side.objects for name, side in named.items()}
        keep(out, "compare", compared, answer, read, exclude=exclude)
    if as_json:
        tell(answer)
    else:
        heading = f"{len(submissions)} submissions against {truth}, {rule_text(compared.leaderboard.attrs)}"
        tell(f"{one_line(heading)}\n\n{comparison_text(*compared)}")
