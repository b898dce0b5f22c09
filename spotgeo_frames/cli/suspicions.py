"""The command `check`."""

from pathlib import Path

from ..analysis.mistakes import checking as mistakes
from .arguments import How, read_pair
from .as_json import formatted, plain_rows
from .printing import one_line, tell
from .problems import problems_reported
from .submissions import Submission
from .text import number_text


def check(
    truth: Path,
    submission: Submission,
    how: How,
    as_json: bool,
) -> None:
    """Searches for common mistakes of a submission, and prints those that are suspected."""
    with problems_reported():
        known, found = read_pair(truth, submission, how)
        suspicions = mistakes.check(known, found, **how.words._asdict(), tracks=how.tracks, frames=how.frames)
    if as_json:
        tell(formatted({"suspicions": plain_rows(suspicions)}))
    elif not len(suspicions):
        tell(one_line(f"{submission.shown}: nothing is suspicious"))
    else:
        for row in suspicions.to_dict("records"):
            corrected = f" (F1 {number_text(row['f1'])}, corrected {number_text(row['f1_corrected'])})"
            tell(f"{one_line(row['suspicion'])}{corrected}\n    {one_line(row['advice'])}")
