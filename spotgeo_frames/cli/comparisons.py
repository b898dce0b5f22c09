"""The command `compare`."""

from collections.abc import Sequence
from pathlib import Path

from ..analysis import comparison
from ..matching.matcher import match
from ..matching.words import Words
from ..support.progress import progress
from ..tables.annotations import Annotations
from .arguments import names_to_exclude
from .as_json import formatted, plain_rows
from .outputs import check_out, keep
from .printing import one_line, tell
from .problems import WrongUsage, problems_reported
from .saved import Saved, check_saved, read_named, source_of
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
        known, named = read_named(truth, submissions, words)
        sides = {name: side for name, side in named.items() if isinstance(side, Annotations)}
        saved = {name: side for name, side in named.items() if isinstance(side, Saved)}
        left_out = names_to_exclude(exclude, [known, *sides.values()])
        check_saved(known, list(saved.values()), words, left_out)
        matches = {
            name: match(known, side, **words._asdict())
            for name, side in progress(list(sides.items()), "matching", "submission")
        } | {name: side.result for name, side in saved.items()}
        compared = comparison.compare({name: matches[name] for name in named}, exclude=left_out)
        answer = formatted({name: plain_rows(table) for name, table in compared._asdict().items()})
        read = {"truth": known.objects} | {f"submission {name}": source_of(side) for name, side in named.items()}
        keep(out, "compare", compared, answer, read, exclude=exclude)
    if as_json:
        tell(answer)
    else:
        heading = f"{len(submissions)} submissions against {truth}, {rule_text(compared.leaderboard.attrs)}"
        tell(f"{one_line(heading)}\n\n{comparison_text(*compared)}")
