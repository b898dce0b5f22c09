"""Tracks and poses by condition: which truths, predictions and frames each slice has.

A condition is a value, or a bin, of a column of the truth, of its frames or of its sequences. In the slice of a value
of truths all other truths are distractors, as MOTChallenge's kit has them (trackeval 1.3.0,
datasets/mot_challenge_2d_box.py): all truths are matched with all predictions once, by the greatest sum of similarities
from 0.5 on, and then the others leave with the predictions they took. A prediction that no truth took stays in every
slice. A value of frames or of sequences leaves these frames alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..matching import Aligned, Rule, alignment
from ..scoring import official
from ..support import InputError, arrays, bins_as_categories, label
from ..tables import (
    By,
    CheckedBins,
    Columns,
    array_of,
    columns_of,
    first_values,
    joined,
    messages,
    null_rows,
    rows_with_null,
    schema,
    selections,
)
from .identities import Taken, counted_in_tracks, counted_with_taken

if TYPE_CHECKING:
    import pandas as pd

CLASS = "category"

# Between the names of conditions in notes.
SEPARATOR = ", "

# The note that counts the predictions that are in every slice.
NEAR_NO_TRUTH = "near_no_truth"

# The most slices, each of which is evaluated by itself.
MOST_SLICES = 1_000

# The prefixes of the columns that are conditions, in their own tables.
OF_TRUTH, OF_FRAMES, OF_SEQUENCES = (schema.PREFIXES[name] for name in ("truth", "frames", "sequences"))

# The counts of a frame that a match table has.
FRAME_COUNTS = ("frame_n_truth", "frame_n_predicted")


class Slice(NamedTuple):
    """What is evaluated by itself: two sides, and their values in the columns of the conditions, one row."""

    labels: Columns
    aligned: Aligned


class Sliced(NamedTuple):
    """The slices in the order of their values, what the notes of their tables tell, and a warning or None."""

    slices: list[Slice]
    notes: dict[Hashable, Any]
    warning: str | None = None

    @property
    def labels(self) -> list[Columns]:
        """The values of each slice, one row each."""
        return [part.labels for part in self.slices]

    @property
    def is_whole(self) -> bool:
        """Whether there is one slice, which has no name."""
        return not self.slices[0].labels.columns


def asked_for(by: By | None) -> tuple[str | None, dict[str, CheckedBins]]:
    """What `by` asks for: "category" if each class is evaluated alone, and the conditions with their bins.

    Raises InputError if `by` names anything but columns, or crosses "category" with others.
    """
    columns = selections.column_bins(by)
    if CLASS not in columns:
        return None, columns
    if columns != {CLASS: None}:
        how = "name truth_category to cross it, as a condition in which all other truths are distractors"
        raise InputError(f"by: category evaluates each class alone, without other columns and without bins; {how}")
    return CLASS, {}


def classes_together(aligned: Aligned, rule: Rule) -> dict[Hashable, Any]:
    """The note of how many classes are evaluated as one; none where each is evaluated by itself.

    Only the table of matches has it: sums are added to those of other parts, which may have the same classes.
    """
    codes = [side.category for side in (aligned.truth, aligned.predictions) if side.category is not None]
    if rule.by is not None or not codes:
        return {}
    n_classes = int(np.count_nonzero(np.bincount(np.concatenate(codes) + 1)[1:]))  # -1 is of any class
    return {official.CLASSES_TOGETHER: n_classes} if n_classes > 1 else {}


def sliced(
    aligned: Aligned, rule: Rule, conditions: Mapping[str, CheckedBins], where: Mapping[str, Any] | None
) -> Sliced:
    """The slices of two aligned sides; a single one without a name where there are no conditions.

    Raises InputError if a column of the conditions or of `where` is missing, or if the conditions have no value or more
    than MOST_SLICES.
    """
    if not conditions and where is None:
        return Sliced([Slice(Columns({}, n_rows=1), counted_in_tracks(aligned, rule))], {})
    taken, notes, warning = counted_with_taken(aligned, rule), dict[Hashable, Any](), None
    if where is not None:
        truths, frames, warning = _where(taken.aligned, where)
        taken = _restricted(taken, truths, frames)
        notes[schema.WHERE] = ", ".join(f"{column} = {_text(value)}" for column, value in where.items())
    if conditions:
        notes["by"] = SEPARATOR.join(conditions)
    if any(_is_of_truth(column) for column in [*conditions, *(where or ())]):
        notes[NEAR_NO_TRUTH] = int(np.count_nonzero(taken.by_truth < 0))
    if not conditions:
        return Sliced([Slice(Columns({}, n_rows=1), taken.aligned)], notes, warning)
    of_frames, groups = _grouped(taken.aligned, conditions)
    if warning is not None and not len(groups.labels):
        raise InputError(warning)
    check_count([*conditions], len(groups.labels))
    slices = [_slice(taken, of_frames, groups, position) for position in range(len(groups.labels))]
    return Sliced(slices, notes, warning)


def may_be(columns: Iterable[str]) -> bool:
    """Whether columns of a match table are all such that may be conditions, and the same for all predictions."""
    of_predictions = FRAME_COUNTS[1]
    return all(name.startswith((OF_TRUTH, OF_FRAMES, OF_SEQUENCES)) and name != of_predictions for name in columns)


def labels_of(matches: Any) -> list[str]:
    """The conditions of the slices in a match table; none where there are no slices."""
    return [name.removeprefix(schema.OF_SLICE) for name in schema.slice_columns(matches)]


def slices_of_truths(taken: Taken, columns: Mapping[str, Any], labels: Columns) -> list[Aligned]:
    """The sides of the slice of each row of `labels`, whether or not a truth has its values in the `columns`.

    So parts of a dataset have the same slices. The columns have a value for each truth.
    """
    n, both = len(labels), {name: joined([labels[name], values]) for name, values in columns.items()}
    groups = _groups(both, n + len(taken.aligned.truth.frame))
    everywhere = np.ones(len(taken.aligned.frames), bool)
    return [_restricted(taken, groups.of_row[n:] == group, everywhere).aligned for group in groups.of_row[:n]]


class Groups(NamedTuple):
    """The group of each row (N,), -1 for none, the first row of each group, and the values of each."""

    of_row: np.ndarray
    first: np.ndarray
    labels: Columns


def _groups(columns: Mapping[str, Any], n_rows: int) -> Groups:
    """Rows by their values in the columns; a row that is null in one is in no group."""
    known = np.flatnonzero(~rows_with_null(columns, n_rows))
    kept = {name: values.take(known) for name, values in columns.items()}
    group, first = selections.number_groups(kept, len(known))
    of_row = np.full(n_rows, -1)
    of_row[known] = group
    return Groups(of_row, known[first], named_bins({name: values.take(first) for name, values in kept.items()}))


def named_bins(labels: Mapping[str, Any]) -> Columns:
    """The values of slices with bins as text, in categories that keep their order in any kind of table and file."""
    if not labels or all(isinstance(values, np.ndarray) for values in labels.values()):
        return Columns(labels)
    import pandas as pd

    return columns_of(bins_as_categories(pd.DataFrame(dict(labels))))


def _grouped(aligned: Aligned, conditions: Mapping[str, CheckedBins]) -> tuple[Groups | None, Groups]:
    """The frames by their conditions, None without any; and the truths by all, or the frames again without those."""
    columns = {column: _column(aligned, column, bins) for column, bins in conditions.items()}
    in_frames = {column: values for column, values in columns.items() if not _is_of_truth(column)}
    of_frames = _groups(in_frames, len(aligned.frames)) if in_frames else None
    if of_frames is not None and len(in_frames) == len(columns):
        groups = of_frames
    else:
        frame = aligned.truth.frame
        at_truths = {column: of.take(frame) if column in in_frames else of for column, of in columns.items()}
        groups = _groups(at_truths, len(frame))
    return of_frames, groups


def check_count(columns: Sequence[str], n_slices: int) -> None:
    """Raises InputError if conditions have no value, or so many that evaluating each by itself is hardly meant."""
    names = " and ".join(columns)
    if not n_slices:
        raise InputError(f"by: {names}: no row of the truth has a value")
    if n_slices > MOST_SLICES:
        how = f"each is evaluated by itself, up to {MOST_SLICES:,}; give bins, such as by={{{columns[0]!r}: 4}}"
        raise InputError(f"by: {names}: {n_slices:,} values; {how}")


def _slice(taken: Taken, of_frames: Groups | None, groups: Groups, position: int) -> Slice:
    """The slice of a group: its truths, or all of its frames."""
    aligned, labels = taken.aligned, groups.labels.take(np.array([position]))
    if groups is of_frames:
        in_frames = groups.of_row == position
        return Slice(labels, _restricted(taken, in_frames[aligned.truth.frame], in_frames).aligned)
    in_frames = np.ones(len(aligned.frames), bool)
    if of_frames is not None:
        in_frames = of_frames.of_row == of_frames.of_row[aligned.truth.frame[groups.first[position]]]
    return Slice(labels, _restricted(taken, groups.of_row == position, in_frames).aligned)


def _restricted(taken: Taken, truths: np.ndarray, frames: np.ndarray) -> Taken:
    """The marked frames with the marked truths in them, without the predictions that other truths took."""
    aligned = taken.aligned
    truths = truths & frames[aligned.truth.frame]
    found = taken.by_truth >= 0
    kept = frames[aligned.predictions.frame]
    kept[found] &= truths[taken.by_truth[found]]
    left = alignment.select_frames(alignment.select_rows(aligned, truths, kept), frames)
    by_truth = np.where(found, (np.cumsum(truths) - 1)[taken.by_truth], -1) if len(truths) else taken.by_truth
    return Taken(alignment.drop_empty_joints(left), by_truth[kept])


def _is_of_truth(column: str) -> bool:
    """Whether a condition is one of truths."""
    return column.startswith(OF_TRUTH)


def _names(aligned: Aligned) -> list[str]:
    """The columns that may be conditions."""
    return [
        *(f"{OF_TRUTH}{name}" for name in aligned.truth.table if name not in schema.FRAME_KEY),
        *(f"{OF_FRAMES}{name}" for name in aligned.frames if name not in (*schema.FRAME_KEY, "joint")),
        *FRAME_COUNTS,
        *(f"{OF_SEQUENCES}{name}" for name in aligned.sequences or () if name != "sequence"),
    ]


def _column(aligned: Aligned, column: str, bins: CheckedBins = None, word: str = "by") -> Any:
    """The values of a condition, in bins: one a truth, or one a frame.

    Raises SliceError if there is no such column; `word` is the argument that names it.
    """
    if column not in (names := _names(aligned)):
        if column.startswith(schema.PREFIXES["predictions"]):
            why = "predictions near no truth count in every slice, so a slice is one of truths, frames or sequences"
            raise InputError(f"{word}: {column}: {why}")
        if column == CLASS:
            raise InputError(f"{word}: {CLASS} is no condition; truth_category is, with other truths as distractors")
        selections.check_column(Columns(dict.fromkeys(names, ())), column, word)
    if _is_of_truth(column):
        return _binned(column, aligned.truth.table[column.removeprefix(OF_TRUTH)], bins)
    if column in FRAME_COUNTS:
        return _binned(column, (aligned.truth if column == FRAME_COUNTS[0] else aligned.predictions).counts, bins)
    # Bins are those of frames or of sequences, of which there are several rows here where frames have joints.
    is_of_frame = column.startswith(OF_FRAMES)
    of_row, first = arrays.grouped(arrays.row_keys(aligned.frames, schema.FRAME_KEY if is_of_frame else ["sequence"]))
    if is_of_frame:
        values = aligned.frames[column.removeprefix(OF_FRAMES)].take(first)
    else:
        attributes = alignment.sequence_attributes(aligned, aligned.frames["sequence"].take(first))
        values = attributes[column.removeprefix(OF_SEQUENCES)]
    return _binned(column, values, bins).take(of_row)


def _binned(column: str, values: Any, bins: CheckedBins) -> Any:
    """The values of a column in bins, or as they are."""
    if bins is None:
        return values
    import pandas as pd

    return array_of(selections.binned(pd.DataFrame({column: values}), column, bins))


def _where(aligned: Aligned, where: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, str | None]:
    """Marks the truths and the frames that meet all of `where`; and the text of a warning, or None, if nothing does."""
    if not isinstance(where, Mapping) or not where:
        needed = "a dict from columns to values is needed, such as {'truth_size': 'tall'}"
        raise InputError(f"where: is {where!r}; {needed}")
    truths, frames, texts = np.ones(len(aligned.truth.frame), bool), np.ones(len(aligned.frames), bool), list[str]()
    for column, wanted in where.items():
        values = _column(aligned, column, word="where")
        met = _met(column, values, wanted)
        if not met.any():
            known = values[~null_rows(values)]
            there = messages.first_listed(map(repr, first_values(known, messages.MOST_NAMED + 1)))
            texts.append(f"where: no {column} is {_text(wanted)}; there is {there or 'none'}")
        marked = truths if _is_of_truth(column) else frames
        marked &= met
    return truths, frames, "; ".join(texts) or None


def _met(column: str, values: Any, wanted: Any) -> np.ndarray:
    """Marks the values that are the wanted one, one of several, or within an interval."""
    import pandas as pd

    several = [*wanted] if pd.api.types.is_list_like(wanted) else [wanted]
    plain = [pd.api.types.is_scalar(value) and not (pd.isna(value) or callable(value)) for value in several]
    is_one = not pd.api.types.is_list_like(wanted)
    intervals = [isinstance(value, pd.Interval) for value in several]
    if isinstance(wanted, Mapping) or not all(plain) or not several or (any(intervals) and not is_one):
        raise InputError(f"where: {column}: is {wanted!r}; a value, a list of values or one pandas.Interval is needed")
    series = pd.Series(values, copy=False)
    if isinstance(wanted, pd.Interval):
        try:
            above = series >= wanted.left if wanted.closed_left else series > wanted.left
            met = above & (series <= wanted.right if wanted.closed_right else series < wanted.right)
        except TypeError:
            raise InputError(f"where: {column}: its values do not compare with {_text(wanted)}") from None
    elif pd.api.types.is_list_like(wanted):
        met = series.isin([*wanted])
    else:
        met = series == wanted
    return met.astype("boolean").fillna(False).to_numpy(bool)


def _text(wanted: Any) -> str:
    """A wanted value in words."""
    import pandas as pd

    return " or ".join(map(str, wanted)) if pd.api.types.is_list_like(wanted) else label(wanted)


def joined_slices(
    of_slices: Sequence[Sequence[pd.DataFrame]], names: Sequence[str], labels: Sequence[Columns]
) -> list[pd.DataFrame]:
    """The tables of all slices, by `names`: those of each name become one, with the columns of the conditions.

    `labels` are the values of each slice, one row each. Rows are sorted by sequence, then slice; those of all sequences
    together are last.
    """
    return [_joined(tables, name, labels) for name, tables in zip(names, zip(*of_slices, strict=True), strict=True)]


def _joined(tables: Sequence[pd.DataFrame], name: str, labels: Sequence[Columns]) -> pd.DataFrame:
    import pandas as pd

    prefix, marked = schema.OF_SLICE if name == "matches" else "", []
    for table, of in zip(tables, labels, strict=True):
        rows = np.zeros(len(table), np.int64)
        values = {f"{prefix}{column}": pd.Series(of[column].take(rows), table.index) for column in of}
        others = [column for column in table.columns if column not in values]
        at = len(others) if prefix else 1 + others.index("sequence")
        marked.append(table.assign(**values)[[*others[:at], *values, *others[at:]]])
    whole = pd.concat(marked, ignore_index=True)
    known = whole["sequence"].notna().to_numpy()
    position = np.full(len(whole), len(whole))
    [position[known]], _ = arrays.ordinals(
        [array_of(whole["sequence"][known].astype(tables[0]["sequence"].dropna().dtype))]
    )
    return whole.take(np.argsort(position, kind="stable")).reset_index(drop=True)
