"""Where the first screen looks: the slices that say most of what makes objects hard to find."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ....geometries import Rows
from ....support import bins_as_text, is_binned, label
from ....tables import schema, selections
from ...drawing import display, wording
from ..evaluation import EVERY_PAGE, Evaluation, Ranked, intervals_of, matches_of_name

# The most slices that a picture has room for, and the bins of a column that is cut here.
MOST_SLICES, BINS = 10, 5

# The digits that edges of bins may have in a picture.
DIGITS = (2, 3, 4, 5, 6)

# From so much on, edges are written in such units; years, for instance, stay as they are.
SCALES = ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k"))

# The column of the size of truths, and what columns whose names are no words are called.
SIZE = "size"
NAMES = {"frame_n_truth": "truths in a frame", "truth_h": "height, px", "truth_w": "width, px"}


class Sliced(NamedTuple):
    """A metric by slices.

    Attributes
    ----------
    metric, column
        The metric, and the column that is sliced by, in words.
    slices, shown
        The slices as text, in their order; and in fewer digits, as far as that tells them apart.
    intervals
        For each submission the metric with its interval, a row a slice, with its text in the column `slice`.
    """

    metric: str
    column: str
    slices: list[str]
    shown: list[str]
    intervals: dict[str, pd.DataFrame]


def sliced(evaluation: Evaluation, names: Sequence[str]) -> Sliced | None:
    """The first of the possible slicings that has as many slices as a picture can show; None if none has.

    The columns that were asked for come first, then a measured attribute of the truths, such as a brightness, then
    their size, and then how many truths a frame has. Tracks by condition have HOTA, everything else recall.
    """
    return next((made for made in _possible(evaluation, names) if 1 < len(made.slices) <= MOST_SLICES), None)


def _possible(evaluation: Evaluation, names: Sequence[str]) -> Iterator[Sliced]:
    """The slicings from which one is chosen, each made only if those before were not."""
    every = [tuple(columns) for columns in EVERY_PAGE]
    asked = [columns for columns in evaluation.cuts if columns not in every and len(columns) == 1]
    for columns in asked:
        results = evaluation.by_condition.get(columns)
        if results is not None:
            yield _made("HOTA", columns[0], {name: _intervals(results[name], [*columns], "HOTA") for name in names})
    matches = {name: matches_of_name(evaluation, name) for name in names}
    for columns in asked:
        if {*names} <= evaluation.cuts[columns].keys():
            yield from _of_recall(columns[0], matches, evaluation.cuts[columns])
    for column in _measured(evaluation)[:1]:
        yield from _of_recall(column, matches, selections.binned_together(matches, {column: BINS}))
    measure = evaluation.rule.geometry.size
    if measure is not None:
        size = wording.with_unit(SIZE, wording.unit_of_distances(evaluation.rule.unit))
        sized = {name: table.assign(**{size: _sides(table, measure)}) for name, table in matches.items()}
        yield from _of_recall(size, sized, selections.binned_together(sized, {size: BINS}))
    column = "frame_n_truth"
    yield from _of_recall(column, matches, evaluation.cuts[column,])
    yield from _of_recall(column, matches, selections.binned_together(matches, {column: BINS}))


def _sides(table: pd.DataFrame, measure: Callable[[Rows], np.ndarray]) -> np.ndarray:
    """The side of a square as large as each truth of a match table; null where there is none."""
    with np.errstate(invalid="ignore"):
        return np.sqrt(measure(Rows(table, schema.SIDE_PREFIXES[0])))


def _of_recall(
    column: str, matches: Mapping[str, pd.DataFrame], cuts: Mapping[str, Sequence[pd.Series]]
) -> Iterator[Sliced]:
    """Recall by the slices that a column is cut into; nothing where too many have truths."""
    name, table = next(iter(matches.items()))
    if cuts[name][0][table["outcome"].isin(["TP", "FN"])].nunique() <= MOST_SLICES:
        yield _made("recall", column, {name: _intervals(x, [*cuts[name]], "recall") for name, x in matches.items()})


def _measured(evaluation: Evaluation) -> list[str]:
    """The columns of match tables that are measured attributes of truths: neither keys, nor places, nor names."""
    used = {*schema.OBJECT_KEY, *evaluation.rule.geometry.columns, *schema.BOX, "z", "score"}
    truth = evaluation.truth.objects
    return [
        f"{schema.SIDE_PREFIXES[0]}{name}"
        for name in truth
        if name not in used
        and pd.api.types.is_float_dtype(truth[name].dtype)
        and truth[name].nunique() > BINS
        and not np.isinf(truth[name].to_numpy(np.float64, na_value=np.nan)).any()
    ]


def _intervals(x: Ranked, by: Sequence[Any], metric: str) -> pd.DataFrame:
    """The metric by slices, with intervals and a column `slice` of texts."""
    rows = intervals_of(x, by, [metric])
    column = next(str(name) for name in rows)
    return rows.assign(slice=bins_as_text(rows[[column]])[column].map(label), is_bin=is_binned(rows[column]))


def _in_short(bins: Sequence[str]) -> list[str]:
    """Bins such as "12.25 to 43.8" with as few digits as tell their edges apart; those of times as they are."""
    try:
        edges = [[float(edge) for edge in text.split(" to ")] for text in bins]
    except ValueError:
        return [*bins]
    distinct = {edge for of in edges for edge in of}
    dash = " to " if min(distinct) < 0 else "–"
    for digits in DIGITS:
        texts = {edge: _edge(edge, digits) for edge in distinct}
        if len({*texts.values()}) == len(distinct):
            return [dash.join(texts[edge] for edge in of) for of in edges]
    return [*bins]


def _edge(edge: float, digits: int) -> str:
    """The edge of a bin in so many digits, or more where the number is whole: 0.12, 1064, 12k."""
    unit, sign = next(((unit, sign) for least, unit, sign in SCALES if least <= abs(edge) < np.inf), (1, ""))
    edge /= unit
    return f"{edge:.0f}{sign}" if 10.0**digits <= abs(edge) < np.inf else f"{edge:.{digits}g}{sign}"


def _made(metric: str, column: str, tables: dict[str, pd.DataFrame]) -> Sliced:
    """The same with the slices of all submissions in their order, those that have a number."""
    known = [table[table["estimate"].notna()] for table in tables.values()]
    slices = [*dict.fromkeys(name for table in known for name in table["slice"])]
    are_bins = any(table["is_bin"].any() for table in known)
    named = NAMES.get(column) or display.words(column.removeprefix(schema.SIDE_PREFIXES[0]))
    return Sliced(metric, named, slices, _in_short(slices) if are_bins and slices else slices, tables)
