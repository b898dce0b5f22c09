"""The command `validate`."""

from pathlib import Path

from ..formats.any_file import read_annotations
from ..formats.spotgeo import problem_lines, validate_spotgeo
from ..support.errors import InputError
from .arguments import sequence_numbers
from .printing import one_line, tell
from .problems import WrongUsage, problems_reported
from .submissions import Submission


def validate(submission: Submission, truth: Path | None, sequences: str | None) -> None:
    """Reports every problem of a submission, or that there is none."""
    if truth is not None and sequences is not None:
        raise WrongUsage("give --truth or --sequences, not both")
    with problems_reported(most=None):
        known = None if truth is None else read_annotations(truth)
        wanted = None if sequences is None else sequence_numbers(sequences, "--sequences")
        problems = validate_spotgeo(submission.path, known, wanted)
        if len(problems):
            raise InputError(problem_lines(submission.path, zip(problems["place"], problems["problem"], strict=True)))
    tell(one_line(f"{submission.shown}: nothing is wrong"))
