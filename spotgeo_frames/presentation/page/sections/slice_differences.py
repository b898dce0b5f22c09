"""How much submissions differ in each slice: of two the difference, of more that of each from the first."""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from ....analysis.certainty import compare
from ....support import DASH
from ....tables import schema
from ...drawing import display, drawn_tables, shortened, wording
from ...drawing.charts import of_slices
from ..evaluation import CONFIDENCE, Evaluation, matches_of_name
from ..html.blocks import Block, Figure, Text

# How often the sequences of a slice are swapped: more often would take longer than the rest of the page.
RESAMPLES = 2_000

# The most sequences, times slices, times pairs of submissions, whose differences a page tests.
MOST_SWAPPED = 200_000

TOO_MANY = (
    "Differences by {columns} are left out, since they take long for so many sequences and slices; compare(by=...) "
    "tells them."
)
OF_PREDICTIONS = "Predictions differ between submissions, so slices by {columns} have no differences."
ABOUT_DIFFERENCES = (
    f"Differences by slice are tested by up to {RESAMPLES:,} swaps of whole sequences; p-values are adjusted over all "
    "slices of a chart. Its marks are filled where they are below 0.05."
)


# The longest name of a submission in a heading, in characters.
LONGEST_NAME = 40


class Differences(NamedTuple):
    """The differences of a metric by slices.

    Attributes
    ----------
    table
        The rows of `compare` with the columns that make slices; None where there are none.
    block
        The chart, or a text that says why there is none; None where there is nothing to say.
    told
        The slice that differs most in words, or an empty text.
    """

    table: pd.DataFrame | None = None
    block: Block | None = None
    told: str = ""


def differences_by_slice(
    evaluation: Evaluation, columns: Sequence[str], names: Sequence[str], n_slices: int, metric: str, name: str
) -> Differences:
    """The differences of a metric between these submissions in each slice by some columns; `name` is the chart's."""
    if len(names) < 2:
        return Differences()
    shown = " and ".join(columns)
    if any(column.startswith(schema.SIDE_PREFIXES[1]) or column == "frame_n_predicted" for column in columns):
        return Differences(block=Text(OF_PREDICTIONS.format(columns=shown), "note"))
    if int(evaluation.summary["n_sequences"].max()) * n_slices * (len(names) - 1) > MOST_SWAPPED:
        return Differences(block=Text(TOO_MANY.format(columns=shown), "note"))
    table = _compared(evaluation, columns, names, metric)
    slices = drawn_tables.slice_names(table, columns)
    drawing = of_slices.differences(table, names, slices, ", ".join(columns), metric, CONFIDENCE)
    if drawing is None:
        return Differences(table)
    first, second = (shortened(of, LONGEST_NAME) for of in names[:2])
    pair = f"{first} − {second}" if len(names) == 2 else f"each minus {first}"
    heading = f"{titled(metric)} by {shown}, {pair}"
    return Differences(table, Figure(name, heading, drawing), _told(table, slices, shown, metric))


def _compared(evaluation: Evaluation, columns: Sequence[str], names: Sequence[str], metric: str) -> pd.DataFrame:
    """The difference of the first two submissions, or of each other one from the first, in each slice.

    Columns of slices are numbered for `compare`, since those that hold bins have other values than the match table's.
    """
    cuts = {name: evaluation.cuts[tuple(columns)][name] for name in names}
    numbered = {f"slice_{position}": column for position, column in enumerate(columns)}
    tables = {
        name: matches_of_name(evaluation, name).assign(**dict(zip(numbered, of, strict=True)))
        for name, of in cuts.items()
    }
    first, second = names[:2]
    with warnings.catch_warnings(action="ignore"):  # those of few sequences, as the comparison has them
        compared = compare(
            tables,
            [metric],
            [*numbered],
            baseline=second if len(names) == 2 else first,
            resamples=RESAMPLES,
            confidence=CONFIDENCE,
        )
    return compared.pairs.rename(columns=numbered)


def _told(table: pd.DataFrame, slices: Sequence[str], columns: str, metric: str) -> str:
    """The slice whose difference is largest, of those that differ by more than chance explains; empty without any."""
    sure = table.assign(slice=[*slices])[table["p_adjusted"].lt(1 - CONFIDENCE).to_numpy(bool)]
    if not len(sure):
        return ""
    largest = sure.loc[[sure["estimate"].abs().idxmax()]]
    row = largest.iloc[0]
    a, b = (row["a"], row["b"]) if row["estimate"] > 0 else (row["b"], row["a"])
    turned = (
        largest
        if row["estimate"] > 0
        else largest.assign(estimate=-largest["estimate"], low=-largest["high"], high=-largest["low"])
    )
    [shown] = display.texts(turned[["metric", "estimate", "low", "high"]]).to_dict("records")
    size, low, high = (shown[name].removesuffix("%") for name in ("estimate", "low", "high"))
    known = "" if low == DASH else f", {low} to {high}"
    where, p_value = f"{columns} is {row['slice']}", f"adjusted p-value {row['p_adjusted']:.2g}"
    return (
        f"{titled(metric)} differs most where {where}: {a} is {size} points above {b}{known} ({p_value}). "
        f"{len(sure):,} of {len(table):,} differences are larger than chance explains."
    )


def titled(metric: str) -> str:
    """The title of a metric as the first word of a sentence."""
    title = wording.title(metric) or metric
    return title[:1].upper() + title[1:]
