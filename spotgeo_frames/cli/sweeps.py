"""The command `sweep`."""

from pathlib import Path

from ..analysis.thresholds import sweeps
from ..support.addresses import shown
from .arguments import How, read_pair
from .as_json import formatted, plain_rows
from .outputs import check_out, keep
from .printing import one_line, tell
from .problems import problems_reported
from .submissions import Submission
from .text import rule_text, sweep_text


def sweep(
    truth: Path,
    submission: Submission,
    how: How,
    as_json: bool,
    out: Path | None,
) -> None:
    """Evaluates a submission at the thresholds of its scores, and prints the best threshold and the curve."""
    with problems_reported():
        check_out(out, [truth, submission.path])
        known, found = read_pair(truth, submission, how)
        swept = sweeps.sweep(known, found, **how.words._asdict(), tracks=how.tracks, frames=how.frames)
        answer = formatted({name: plain_rows(table) for name, table in swept._asdict().items()})
        keep(out, "sweep", swept, answer, {"truth": known.objects, "submission": found.objects})
    if as_json:
        tell(answer)
    else:
        tell(one_line(f"{submission.shown} against {shown(truth)}, {rule_text(swept.best.attrs)}"))
        tell(f"\n{sweep_text(*swept)}")
