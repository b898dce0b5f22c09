"""Slices of average precision: by attributes of frames and sequences, by category, and by attributes of truths.

Frames are picked by their weights, so matches stay as they are. Truths that lack a value are ignored, as COCO ignores
those outside an area range, and a detection without a match is wrong only if the predictions have the column, too, with
that value. A false alarm whose value no truth has is of no slice. If no false alarm has a value, or only values of
another kind (text where the truths have numbers), nothing is known of them, so precision is null and recall stands.

Numbers of slices are those for any weights of the frames, each computed once and only where a number needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...matching import alignment
from ...support import InputError, SliceError, arrays, is_binned
from ...tables import (
    By,
    CheckedBins,
    Columns,
    array_of,
    binning,
    dataframe_of,
    messages,
    rows_with_null,
    schema,
    selections,
)
from .curves import averages_of
from .detections import Detections
from .evaluate import Matched
from .numbers import ByCategory, areas_of, combined, computed
from .scopes import Matches, Scope, matcher_of
from .tables import COUNTS, FRAME_COUNTS, is_ignored, noted_summary

if TYPE_CHECKING:
    import pandas as pd

CALLED = "average precision"

# How many results are kept: those of leaving out each of 100 groups of frames, in all area ranges, or fewer if they are
# of more categories together. And how many scopes of slices have their matches in memory at once: those of all area
# ranges of one slice.
RESULTS_KEPT, CATEGORIES_KEPT, SCOPES_KEPT = 512, 1 << 22, 4


class Parts(NamedTuple):
    """What B slices, or N rows, are parts of: frames, categories and truths with the same values; -1 where of none.

    Where `by` does not ask for one of them, all are part 0.
    """

    frame: np.ndarray
    category: np.ndarray
    truth: np.ndarray

    def take(self, rows: np.ndarray) -> Parts:
        """The parts at these positions."""
        return Parts(*(part[rows] for part in self))


class Slices(NamedTuple):
    """B slices, sorted by their labels.

    Attributes
    ----------
    labels
        For each column of `by`, the value of each slice, (B,).
    parts
        The parts that each slice is made of, (B,).
    frame
        The part of each frame, (frames,); -1 for those that are left out.
    category
        The part of each category, (K,).
    truth, detection
        The part of each truth, (G,), and of each detection, (D,).
    by_frame
        Whether `by` has a column of frames or of sequences.
    by_truth
        Whether `by` has a column of truths.
    knows_alarms
        Whether it is known which false alarms belong to a slice.
    warning
        The text of a warning if predictions have values and share none with the truths; otherwise None.
    """

    labels: dict[str, Any]
    parts: Parts
    frame: np.ndarray
    category: np.ndarray
    truth: np.ndarray
    detection: np.ndarray
    by_frame: bool
    by_truth: bool
    knows_alarms: bool
    warning: str | None

    def __len__(self) -> int:
        return len(self.parts.frame)

    def frames(self, position: int) -> np.ndarray:
        """Marks the frames of a slice."""
        return self.frame == self.parts.frame[position]

    def scope(self, part: int, area: Scope) -> Scope:
        """What counts of an area range in a part of the truths."""
        return Scope(area.counts & (self.truth == part), area.within & (self.detection == part))

    def of_rows(self, rows: Parts) -> np.ndarray:
        """The slice that rows of these parts are of, or -1."""
        keys = _keys(self.parts, rows)
        values, first = arrays.distinct(keys[0])
        found = arrays.locate(values, keys[1])
        return np.where(found >= 0, first[found], -1) if len(first) else found


def _keys(*several: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Keys of the rows of several sets of parts, whose numbers begin with -1; equal where all parts are."""
    spans = [int(max(part.max(initial=0) for part in parts)) + 2 for parts in zip(*several, strict=True)]
    return [arrays.pack([part + 1 for part in parts], spans) for parts in several]


def frame_table(matched: Matched) -> pd.DataFrame:
    """The columns of frames in a match table: `sequence`, `frame`, the attributes of both, and counts; one row a frame.

    The counts are of what counts at the loosest threshold, so that they are the same for all.
    """
    detections, aligned = matched.detections, matched.detections.aligned
    frames = aligned.frames
    of_sequences = alignment.sequence_attributes(aligned, frames["sequence"])
    columns = {name: frames[name] for name in schema.FRAME_KEY}
    columns |= {f"{schema.PREFIXES['frames']}{name}": frames[name] for name in frames if name not in schema.FRAME_KEY}
    columns |= {f"{schema.PREFIXES['sequences']}{name}": values for name, values in of_sequences.items()}
    frames_of = aligned.truth.frame[matched.scopes["all"].counts], detections.frame[~is_ignored(matched, 0)]
    columns |= {name: np.bincount(of, minlength=len(frames)) for name, of in zip(FRAME_COUNTS, frames_of, strict=True)}
    return dataframe_of(Columns(columns))


def slices_of(matched: Matched, by: By | None, kept: np.ndarray) -> Slices:
    """The slices of the frames that are `kept`, by the columns of `by`; without it everything is one slice.

    Raises InputError if `by` is or holds a Series, or anything but columns of frames, of sequences and of truths, and
    `category`.
    """
    by_column, detections = selections.column_bins(by), matched.detections
    tables = frame_table(matched), _truth_table(detections)
    _check(by_column, *tables, detections.has_categories)
    frames, truths = ([name for name in by_column if name in table] for table in tables)
    labels = {name: array_of(selections.binned(tables[0][kept], name, by_column[name])) for name in frames}
    frame = np.full(len(kept), -1)
    frame[kept] = _numbered(labels, int(kept.sum()))
    at_truth = kept[detections.aligned.truth.frame]
    columns = _truth_columns(detections, tables[1], {name: by_column[name] for name in truths}, at_truth)
    truth, detection = _parts_of_truths(columns, at_truth, len(detections.row))
    by_category = "category" in by_column
    category = np.arange(len(detections.categories)) if by_category else np.zeros(len(detections.categories), np.int64)
    rows = _rows(detections, kept, bool(truths), by_category, bool(frames))
    place = np.cumsum(kept) - 1, np.cumsum(at_truth) - 1
    named = {name: values.take(place[0][rows.frame]) for name, values in labels.items()}
    named |= {name: of.labels.take(place[1][rows.truth]) for name, of in columns.items()}
    if by_category:
        named["category"] = detections.category_column.take(rows.category)
    none = np.zeros(len(rows.frame), np.int64)
    of_categories = category[rows.category] if by_category else none  # there may be no categories
    parts = Parts(frame[rows.frame] if frames else none, of_categories, truth[rows.truth] if truths else none)
    filled = np.flatnonzero(~rows_with_null(named, len(rows.frame)))
    named = {name: named[name].take(filled) for name in by_column}
    _, first = selections.number_groups(named, len(filled)) if by_column else (None, np.zeros(1, np.int64))
    labels = {name: values.take(first) for name, values in named.items()}
    of_slices = parts.take(filled[first]) if by_column else Parts(*np.zeros((3, 1), np.int64))
    knows = all(_knows_alarms(matched, of.has_value) for of in columns.values())
    warning = "; ".join(filter(None, (of.warning for of in columns.values()))) or None
    return Slices(labels, of_slices, frame, category, truth, detection, bool(frames), bool(truths), knows, warning)


def _knows_alarms(matched: Matched, has_value: np.ndarray) -> bool:
    """Whether at each threshold a false alarm has a value in a column of truths, or there is none."""
    for position in range(len(matched.thresholds)):
        is_alarm = np.ones(len(has_value), bool)
        is_alarm[matched.matches["all"].at(position).prediction] = False
        if is_alarm.any() and not (is_alarm & has_value).any():
            return False
    return True


def _check(
    by_column: Mapping[str, CheckedBins], frames: pd.DataFrame, truths: pd.DataFrame, has_categories: bool
) -> None:
    """Raises InputError for columns that there are none of, or that cannot make slices."""
    for name in by_column:
        if name.startswith(schema.PREFIXES["predictions"]):
            which = "average precision can be sliced by columns of frames, sequences and truths, and by category"
            raise InputError(f"by: {name} is a column of predictions; {which}")
        if name == "category" and not has_categories:
            raise SliceError(f"{CALLED}: there is no column category; it takes one on both sides")
        names = [*frames, *truths, "category"] if has_categories else [*frames, *truths]
        selections.check_column(Columns(dict.fromkeys(names, ()), n_rows=0), name, CALLED)
        if name == "category" and by_column[name] is not None:
            raise InputError("by: category: classes cannot be binned; give None instead of bins")


def _truth_table(detections: Detections) -> pd.DataFrame:
    """The columns of truths in a match table; `truth_area` is what area ranges take, also where it is w * h."""
    table = detections.aligned.truth.table
    columns = {f"{schema.PREFIXES['truth']}{name}": table[name] for name in table if name not in schema.FRAME_KEY}
    return dataframe_of(
        Columns(columns | {f"{schema.PREFIXES['truth']}area": detections.truth_area}, n_rows=len(table))
    )


class _TruthColumn(NamedTuple):
    """A column of truths that slices are asked by.

    `labels` are those of the kept truths; `truth` and `detection` are codes of the values of kept truths and of all
    detections, -1 for those of no slice; `has_value` marks the detections of which a value is known, (D,).
    """

    labels: Any
    truth: np.ndarray
    detection: np.ndarray
    has_value: np.ndarray
    warning: str | None = None


def _truth_columns(
    detections: Detections, table: pd.DataFrame, by_column: Mapping[str, CheckedBins], kept: np.ndarray
) -> dict[str, _TruthColumn]:
    """The columns of truths that are asked for, by name."""
    claimed = {name: _claimed(detections, name.removeprefix(schema.PREFIXES["truth"])) for name in by_column}
    return {name: _coded(table[kept], name, bins, claimed[name]) for name, bins in by_column.items()}


def _parts_of_truths(
    columns: Mapping[str, _TruthColumn], kept: np.ndarray, n_detections: int
) -> tuple[np.ndarray, np.ndarray]:
    """The part of each truth, (G,), and of each detection, (D,)."""
    if not columns:
        return np.zeros(len(kept), np.int64), np.zeros(n_detections, np.int64)
    of_truths = [of.truth for of in columns.values()]
    keys = _keys(of_truths, [of.detection for of in columns.values()])
    known = (np.stack(of_truths) >= 0).all(axis=0)
    combinations, _ = arrays.distinct(keys[0][known])
    truth = np.full(len(kept), -1)
    truth[kept] = np.where(known, arrays.locate(combinations, keys[0]), -1)
    return truth, arrays.locate(combinations, keys[1])


def _claimed(detections: Detections, column: str) -> pd.Series:
    """A column of the predictions in the order of the detections; null if they lack it."""
    import pandas as pd

    if column == "area":
        return pd.Series(detections.area)
    table = detections.aligned.predictions.table
    if column not in table:
        return pd.Series(np.full(len(detections.row), np.nan))
    return pd.Series(table[column].take(detections.row))


def _coded(table: pd.DataFrame, name: str, bins: CheckedBins, claimed: pd.Series) -> _TruthColumn:
    """A column of the kept truths, and what the detections claim of it.

    Quantile bins are those of the truths, and predictions beyond them are in the outermost ones.
    """
    import pandas as pd

    from ...tables import checks

    labels = selections.binned(table, name, bins, CALLED)
    if bins is not None and is_binned(labels):
        edges = binning.quantile_edges(table[name], bins) if isinstance(bins, int) else bins
        assert edges is not None  # there are bins
        if binning.as_times(table[name]) is None:
            claimed = pd.to_numeric(claimed, errors="coerce").astype(np.float64)
        elif binning.as_times(claimed) is None:  # the predictions lack the column
            claimed = pd.Series(pd.NaT, claimed.index).astype(edges.dtype)
        if isinstance(bins, int):
            claimed = claimed.clip(edges[0], edges[-1])
        codes = binning.in_bins(claimed, edges).cat.codes.to_numpy()
        return _TruthColumn(array_of(labels), labels.cat.codes.to_numpy(), codes, claimed.notna().to_numpy())
    truths, claims = checks.decoded(labels), checks.decoded(claimed)
    try:
        known, told = [pd.Index(values.dropna().unique()) for values in (truths, claims)]
    except TypeError as error:  # lists and other values that are no keys
        raise SliceError(f"by: {name} cannot be grouped by: {error}") from None
    codes, has_value, warning = known.get_indexer(pd.Index(claims)), claims.notna().to_numpy(), None
    if len(known) and has_value.any() and not (codes >= 0).any():
        of_truths, others = (messages.first_listed(map(repr, values.tolist())) for values in (known, told))
        warning = f"by: {name}: the truths have {of_truths}, the predictions {others}, so no false alarm is in a slice"
        # Values of another kind, such as text where the truths have numbers, tell nothing.
        numeric = [pd.api.types.is_numeric_dtype(values.dtype) for values in (truths, claims)]
        has_value = has_value & (numeric[0] == numeric[1])
    return _TruthColumn(array_of(labels), known.get_indexer(pd.Index(truths)), codes, has_value, warning)


def _rows(detections: Detections, kept: np.ndarray, by_truth: bool, by_category: bool, by_frame: bool) -> Parts:
    """What may have a slice, as positions of frames, categories and truths: truths, objects, categories or frames."""
    truth = detections.aligned.truth
    if by_truth:
        rows = np.flatnonzero(kept[truth.frame])
        return Parts(truth.frame[rows], detections.truth_category[rows], rows)
    if by_category and by_frame:
        frame = np.concatenate([truth.frame, detections.frame])
        category = np.concatenate([detections.truth_category, detections.category])
        rows = np.flatnonzero(kept[frame])
        return Parts(frame[rows], category[rows], np.zeros(len(rows), np.int64))
    rows = np.arange(len(detections.categories)) if by_category else np.flatnonzero(kept)
    none = np.zeros(len(rows), np.int64)
    return Parts(none, rows, none) if by_category else Parts(rows, none, none)


def _numbered(columns: Mapping[str, Any], n_rows: int) -> np.ndarray:
    """The part of each row, by its values in the columns; -1 where one is null."""
    part = np.zeros(n_rows, np.int64)
    if columns:
        null = rows_with_null(columns, n_rows)
        part[null] = -1
        rows = np.flatnonzero(~null)
        part[rows], _ = selections.number_groups(
            {name: values.take(rows) for name, values in columns.items()}, len(rows)
        )
    return part


class Weighted:
    """The numbers of slices for weights of the frames, (frames,), integers of type float64.

    `lost` has the categories that had no truth left for some weights, which made numbers null.
    """

    def __init__(self, matched: Matched, slices: Slices):
        self.matched, self.slices = matched, slices
        self.lost: dict[Any, None] = {}
        n_kept = min(RESULTS_KEPT, CATEGORIES_KEPT // max(len(matched.detections.categories), 1))
        self._of_area = lru_cache(max(n_kept, len(matched.scopes)))(self._computed)
        self._matches = lru_cache(SCOPES_KEPT)(self._matched_within)

    def numbers(self, position: int, names: Sequence[str], weights: np.ndarray) -> dict[str, float]:
        """The named numbers of a slice; null where they are not known.

        They are means over the categories that have truths if each frame counts once. If the weights leave one of these
        without a truth, they are null.
        """
        whole = self.by_category(position, names, np.ones(len(weights))).values
        values, answer = self.by_category(position, names, weights)
        for name, found in values.items():
            lost = np.isnan(found) & ~np.isnan(whole[name])
            if lost.any():
                self.lost |= dict.fromkeys(self.matched.detections.categories[lost].tolist())
                answer[name] = np.nan
        return answer

    def by_category(self, position: int, names: Sequence[str], weights: np.ndarray) -> ByCategory:
        """The named numbers and counts of each category of a slice, null for those outside it, and of all together."""
        slices = self.slices
        of_slice = (weights * slices.frames(position)).tobytes()
        wanted = {name: number for name, number in self.matched.numbers.items() if name in names}
        areas = {*areas_of(wanted), *(["all"] if len(wanted) < len(names) else [])}
        found = [self._of_area(int(slices.parts.truth[position]), area, of_slice) for area in areas]
        values = {name: of.values[name] for of in found for name in names if name in of.values}
        outside = slices.category != slices.parts.category[position]
        if outside.any():
            values = {name: np.where(outside, np.nan, values[name]) for name in names}
            return ByCategory(values, combined(values))
        together = {name: of.combined[name] for of in found for name in names if name in of.combined}
        return ByCategory({name: values[name] for name in names}, {name: together[name] for name in wanted})

    def _computed(self, part: int, area: str, weights: bytes) -> ByCategory:
        """All numbers in an area range and a part of the truths; of "all", also the counts of each category."""
        matched = self.matched
        scope, matches = self._matches(part, area)
        numbers = {name: number for name, number in matched.numbers.items() if number.area == area}
        averages = averages_of(matched.detections, scope, matches, numbers, matched.protocol, np.frombuffer(weights))
        found = computed(numbers, matched.thresholds, {area: averages}, matched.frequency)
        of_alarms = [name for name, number in numbers.items() if number.of != "recall"]
        if area == "all":
            found.values.update({name: getattr(averages, name) for name in COUNTS})
            if self.slices.by_truth:
                found.values["n_predicted"] = self._within(scope, np.frombuffer(weights))
            of_alarms.append("n_predicted")
        for name in [] if self.slices.knows_alarms else of_alarms:
            found.values[name] = np.full(len(found.values[name]), np.nan)
            found.combined.update({name: np.nan} if name in numbers else {})
        return found

    def _within(self, scope: Scope, weights: np.ndarray) -> np.ndarray:
        """How many detections of each category are within a scope."""
        detections = self.matched.detections
        of_detections = weights[detections.frame] * scope.within
        return arrays.added_at(detections.category, of_detections, len(detections.categories))

    def _matched_within(self, part: int, area: str) -> tuple[Scope, Matches]:
        """What counts in an area range and a part of the truths, and who is matched with whom there."""
        matched = self.matched
        if not self.slices.by_truth:
            return matched.scopes[area], matched.matches[area]
        scope = self.slices.scope(part, matched.scopes[area])
        return scope, self._match(scope)

    @cached_property
    def _match(self) -> Callable[[Scope], Matches]:
        """Matches the detections within a scope."""
        return matcher_of(self.matched.detections, self.matched.protocol)


def sliced(matched: Matched, by: By | None) -> tuple[pd.DataFrame, str | None]:
    """The summary of the slices that `by` asks for, and the text of a warning or None."""
    everything = np.ones(len(matched.detections.aligned.frames), bool)
    slices = slices_of(matched, by, everything)
    return slice_summary(Weighted(matched, slices)), slices.warning


def slice_summary(weighted: Weighted) -> pd.DataFrame:
    """One row a slice: its labels, the official numbers, and how many frames, truths and detections count."""
    import pandas as pd

    matched, slices = weighted.matched, weighted.slices
    names = list(matched.numbers)
    once = np.ones(len(slices.frame))
    rows = [weighted.numbers(position, names, once) for position in range(len(slices))]
    columns: dict[str, Any] = {name: np.array([row[name] for row in rows]) for name in names}
    columns["n_frames"] = np.array([slices.frames(position).sum() for position in range(len(slices))], np.int64)
    for name in COUNTS:
        of_slices = [weighted.by_category(position, COUNTS, once).values[name] for position in range(len(slices))]
        counts = np.array([np.nansum(of) if not np.isnan(of).all() else np.nan for of in of_slices])
        whole = np.nan_to_num(counts).astype(np.int64)
        columns[name] = pd.arrays.IntegerArray(whole, np.isnan(counts)) if slices.labels else whole
    return dataframe_of(noted_summary(Columns({**slices.labels, **columns}), matched))
