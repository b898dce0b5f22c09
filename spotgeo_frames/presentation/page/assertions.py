"""assert_not_worse(): the gate as an assertion of a test, with a page about what it saw."""

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...analysis.certainty import Held, inferiority
from ...scoring import AveragePrecision, Metric, sequence_sums
from ...tables import Table
from ..drawing import escaped, markdown_of, wording
from .build import check_beforehand, report
from .of_matches import evaluated_again

# What both sides are called in messages and on the page.
NEW, OLD = "new", "old"


class Verdict(NamedTuple):
    """Whether the gate is passed, in a line, and the numbers behind it: labels and values."""

    line: str
    rows: list[tuple[str, str]]

    def as_text(self) -> str:
        """The line, then each number on a line of its own."""
        width = max(len(label) for label, _ in self.rows)
        return "\n".join([self.line, *(f"  {label:<{width}}  {value}" for label, value in self.rows)])

    def as_markdown(self) -> str:
        """The same for the note of a page."""
        return f"**{escaped(self.line)}**\n\n{markdown_of(['', 'value'], self.rows)}"


def assert_not_worse(
    new: Table | NamedTuple | AveragePrecision,
    old: Table | NamedTuple | AveragePrecision,
    metric: str,
    margin: float,
    *,
    always_valid: bool = False,
    report: str | Path | None = None,
) -> None:
    """Fails a test unless a new submission is surely no worse than the old one by more than a margin.

    It asks `non_inferiority`, as the command `gate` does, and passes and fails with them. So it also fails where
    nothing can be said, such as with fewer than six sequences, and the message then says so. A new submission with the
    same rows as the old one passes at every margin.

    Parameters
    ----------
    new, old
        Match tables, or what `track`, `pose` or `average_precision` returned, of the same truth.
    metric
        A metric that says which way is better, such as "f1", "mse" (px²), "HOTA" or "AP50".
    margin
        How much worse is still good enough, in the unit of the metric; 0 or more.
    always_valid
        Whether the bound may be looked at again and again while sequences are added, as nightly tests do. It is then
        about 1.6 times as far from the difference.
    report
        A page to write, whether the assertion holds or not, for the artifacts of a run: an HTML file, or Markdown if
        its name ends in .md. It has what the page of `sf.report` has of the truth and both submissions, which are taken
        out of the match tables, below the verdict. It needs the extra `report`. Average precision has no page, since it
        keeps only the detections that it counts.

    Returns
    -------
    None.

    Raises
    ------
    AssertionError: it is not shown to be so. The message has the metric of both, their difference with its 95%
        interval, the margin, and whether the new one is surely worse, may be worse, or nothing can be said.
    InputError: `new` or `old` is no match table, or they have different truths or rules; or the page cannot be made of
        them, or not be written.
    ValueError: an unknown metric or one without a better direction, or a margin below 0.
    ImportError: there is to be a page, and the extra `report` is not installed.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> eager, cautious = (sf.match(truth, sf.read_objects(f"data/sample/{n}.parquet")) for n in ("eager", "cautious"))
    >>> sf.assert_not_worse(eager, cautious, metric="recall", margin=0.02)
    >>> sf.assert_not_worse(cautious, eager, metric="f1", margin=0.02)
    Traceback (most recent call last):
    AssertionError: F1: new may be worse than old by more than the margin
      new         0.8127
      old         0.8194
      difference  -0.0067, 95% interval -0.0714 to 0.0463; more is better
      margin      0.02
      verdict     not passed: it may be worse by 0.07142, more than the margin of 0.02
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    path = None if report is None else Path(report)
    if path is not None:
        check_beforehand(path, None, None)
    held = inferiority(new, old, metric, margin, always_valid=always_valid)
    for text in held.texts:
        warnings.warn(f"assert_not_worse: {text}", stacklevel=2)
    verdict = _verdict(held, margin, sequence_sums.evaluable(new, NEW).table.attrs.get("unit"))
    if path is not None:
        _write_page(new, old, verdict, path)
    if not held.answer.passed:
        raise AssertionError(verdict.as_text())


def _verdict(held: Held, margin: float, unit: str | None) -> Verdict:
    """The verdict on a submission; `unit` is that of distances, None for px."""
    entry = held.entry._replace(unit=held.entry.unit_in(unit))
    [row] = held.answer.table.to_dict("records")
    if held.answer.passed:
        line = "new is not worse than old by more than the margin"
    elif np.isnan(row["low"]):
        line = "nothing can be said of whether new is worse than old"
    else:
        line = f"new {'is' if held.high < -margin else 'may be'} worse than old by more than the margin"
    sides = zip((NEW, OLD), held.values, strict=True)
    rows = [(name, wording.written(None if np.isnan(value) else value, entry)) for name, value in sides]
    rows.append(("difference", _difference(row["estimate"], row["low"], held.high, entry)))
    rows.append(("margin", wording.written(margin, entry, "g")))
    rows.append(("verdict", "passed" if held.answer.passed else f"not passed: {row['reason']}"))
    return Verdict(f"{entry.label}: {line}", rows)


def _difference(estimate: float, low: float, high: float, entry: Metric) -> str:
    """The difference new minus old with its bounds, in words; all three are counted so that more is better."""
    more_is_better = bool(entry.higher_is_better)
    better = "more is better" if more_is_better else "less is better"
    if np.isnan(estimate):
        return f"not defined; {better}"
    low, estimate, high = (value if more_is_better else 0.0 - value for value in (low, estimate, high))
    least, most = (low, high) if more_is_better else (high, low)
    if np.isnan(low):
        interval = "no interval"
    elif np.isnan(high):
        interval = f"at all looks together {'above' if more_is_better else 'below'} {wording.written(low, entry)}"
    else:
        interval = f"95% interval {wording.written(least, entry)} to {wording.written(most, entry)}"
    return f"{wording.written(estimate, entry)}, {interval}; {better}"


def _write_page(new: Any, old: Any, verdict: Verdict, path: Path) -> None:
    """Writes the page about both submissions, with the verdict as its title and its note."""
    sides = {name: evaluated_again(x, f"assert_not_worse: report: {name}") for name, x in ((NEW, new), (OLD, old))}
    truth, words = sides[NEW].truth, sides[NEW].words
    # Each match table has the frames of the truth and of its own predictions.
    frames = pd.concat([side.truth.frames for side in sides.values()]).drop_duplicates(ignore_index=True)
    named = {name: side.predictions for name, side in sides.items()}
    report(truth._replace(frames=frames), named, path, **words, title=verdict.line, note=verdict.as_markdown())
