"""The command `compare`."""

from collections.abc import Sequence
from pathlib import Path

from ..analysis import comparison
from ..formats.any_file import read_sides
from ..matching.matcher import match
from ..support.progress import progress
from .arguments import names_to_exclude, submission_names, words_of
from .as_json import formatted, plain_rows
from .printing import one_line, tell
from .problems import WrongUsage, problems_reported
from .text import comparison_text, rule_text


def compare(
    truth: Path,
    submissions: Sequence[Path],
    tau: float | None,
    epsilon: float | None,
    similarity: str | None,
    threshold: float | None,
    exclude: str,
    as_json: bool,
) -> None:
    """Compares submissions, and prints their leaderboard and their differences."""
    words = words_of(tau, epsilon, similarity, threshold)
    if len(submissions) < 2:
        raise WrongUsage("give two submissions or more")
    with problems_reported():
        sides = read_sides(truth, submissions, similarity=similarity)
        matches = {
            name: match(sides[0], side, **words._asdict())
            for name, side in zip(
                submission_names(submissions), progress(sides[1:], "matching", "submission"), strict=True
            )
        }
        compared = comparison.compare(matches, exclude=names_to_exclude(exclude, sides))
    if as_json:
        tell(formatted({name: plain_rows(table) for name, table in compared._asdict().items()}))
    else:
        heading = f"{len(submissions)} submissions against {truth}, {rule_text(compared.leaderboard.attrs)}"
        tell(f"{one_line(heading)}\n\n{comparison_text(*compared)}")
