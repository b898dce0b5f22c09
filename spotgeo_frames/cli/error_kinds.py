"""The command `diagnose`."""

from pathlib import Path

from ..analysis import error_kinds
from ..formats.any_file import read_sides
from ..matching.matcher import match
from ..matching.words import Words
from .as_json import formatted, plain_rows, rule_words
from .outputs import check_out, keep
from .printing import one_line, tell
from .problems import problems_reported
from .text import costs_text, rule_text


def diagnose(
    truth: Path,
    submission: Path,
    words: Words,
    as_json: bool,
    out: Path | None,
) -> None:
    """Finds the kind of each error of a submission, and prints what each kind costs."""
    with problems_reported():
        check_out(out, [truth, submission])
        known, found = read_sides(truth, [submission], similarity=words.similarity)
        diagnosed = error_kinds.diagnose(match(known, found, **words._asdict()))
        costs = error_kinds.error_costs(diagnosed)
        answer = formatted({"kinds": plain_rows(costs)} | rule_words(diagnosed.attrs))
        read = {"truth": known.objects, "submission": found.objects}
        keep(out, "diagnose", diagnosed, answer, read, {"error_costs": costs})
    if as_json:
        tell(answer)
    else:
        tell(one_line(f"{submission} against {truth}, {rule_text(diagnosed.attrs)}"))
        tell(f"\n{costs_text(costs)}")
