"""The command `ap`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..formats.any_file import Needed, read_sides
from ..scoring.ap.numbers import Number
from ..scoring.ap.result import average_precision
from ..tables.columns import columns_of
from .as_json import formatted, plain_rows
from .outputs import check_out, keep
from .printing import tell
from .problems import problems_reported
from .submissions import Submission
from .text import number_text

if TYPE_CHECKING:
    import pandas as pd

# The thresholds of the match tables that --out keeps; all ten would take ten times the space.
KEPT_THRESHOLDS = (0.5, 0.75)

# The numbers of a category in JSON.
OF_CATEGORIES = ("AP", "AP50", "AP75")


def ap(
    truth: Path, results: Submission, keypoints: bool, max_detections: int | None, as_json: bool, out: Path | None
) -> None:
    """Prints the official numbers of detections."""
    similarity = "oks" if keypoints else "iou"
    with problems_reported():
        check_out(out, [truth, results.path])
        needed = Needed((), carried=out is not None)
        known, found = read_sides(truth, [results.path], similarity=similarity, needed=needed)
        result = average_precision(known, found, similarity=similarity, max_detections=max_detections)
        result, numbers = replace(result, thresholds=KEPT_THRESHOLDS), result.matched.numbers
        [row] = plain_rows(result.summary)
        answer = formatted({name: row[name] for name in numbers} | {"categories": _by_category(result.categories)})
        keep(out, "ap", result, answer, {"truth": known.objects, "results": found.objects})
    if as_json:
        tell(answer)
    else:
        tell("\n".join(official_line(number, row[name]) for name, number in numbers.items()))


def _by_category(categories: pd.DataFrame) -> dict[str, dict[str, float | None]]:
    """The numbers of each category by its name; nothing without categories, of which the table has a null one."""
    rows = plain_rows(columns_of(categories).select(["category", *OF_CATEGORIES]))
    named = [row for row in rows if row["category"] is not None]
    return {str(row["category"]): {name: row[name] for name in OF_CATEGORIES} for row in named}


def official_line(number: Number, value: float | None) -> str:
    """A line as pycocotools prints it, with a dash where it has -1."""
    title, kind = {"precision": ("Average Precision", "(AP)"), "recall": ("Average Recall", "(AR)")}[number.of]
    threshold = "0.50:0.95" if number.threshold is None else f"{number.threshold:.2f}"
    of = f"IoU={threshold:<9} | area={number.area:>6} | maxDets={number.limit:>3}"
    return f" {title:<18} {kind} @[ {of} ] = {number_text(value, '.3f')}"
