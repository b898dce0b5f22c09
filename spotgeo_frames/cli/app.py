"""The command line: every command, registered in the order in which the help lists them.

Exit status 0; 1 for input that cannot be accepted, every problem a line on standard error; 2 for wrong usage.
"""

import signal
import sys

import typer

from .detections import check, compare, repartition, report, score, validate
from .tracks import pose, track

app = typer.Typer(
    help="Evaluates detectors and trackers: says how good a submission is, and where and why it fails.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (validate, score, repartition, compare, report, check, track, pose):
    app.command()(command)


def main() -> None:
    # Ended from outside, the run still takes away what it has begun to write.
    for ending in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(ending) is not signal.SIG_IGN:  # nohup wants the closing of a terminal ignored
            signal.signal(ending, lambda number, _: sys.exit(128 + number))
    app(prog_name="spotgeo-frames")
