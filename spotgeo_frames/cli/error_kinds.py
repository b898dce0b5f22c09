"""The command `diagnose`."""

from pathlib import Path

from ..analysis.errors import costs, error_kinds
from ..support.addresses import shown
from ..tracking.results import evaluated, matches_of
from .arguments import How, read_pair
from .as_json import formatted, plain_rows, rule_words
from .outputs import check_out, keep
from .printing import one_line, tell
from .problems import problems_reported
from .submissions import Submission
from .text import costs_text, rule_text


def diagnose(
    truth: Path,
    submission: Submission,
    how: How,
    as_json: bool,
    out: Path | None,
) -> None:
    """Finds the kind of each error of a submission, and prints what each kind costs."""
    with problems_reported():
        check_out(out, [truth, submission.path])
        known, found = read_pair(truth, submission, how)
        result = evaluated(known, found, how.words, how.tracks, frames=how.frames)
        diagnosed = error_kinds.diagnose(matches_of(result))
        costed = costs.error_costs(result if how.tracks else diagnosed)
        answer = formatted({"kinds": plain_rows(costed)} | rule_words(diagnosed.attrs))
        read = {"truth": known.objects, "submission": found.objects}
        keep(out, "diagnose", diagnosed, answer, read, {"error_costs": costed})
    if as_json:
        tell(answer)
    else:
        tell(one_line(f"{submission.shown} against {shown(truth)}, {rule_text(diagnosed.attrs)}"))
        tell(f"\n{costs_text(costed)}")
