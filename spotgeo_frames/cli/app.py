"""The entry point of the command line: registers every command, in the order in which the help lists them.

The exit status is 0 for success; 1 for input that cannot be accepted, with each problem on a line of standard error;
and 2 for wrong usage.
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
    """Runs the command line."""
    # A command that is terminated from outside still removes its unfinished files.
    for ending in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(ending) is not signal.SIG_IGN:  # under nohup, the closing of a terminal stays ignored
            signal.signal(ending, lambda signal_code, _: sys.exit(128 + signal_code))
    app(prog_name="spotgeo-frames")
