"""Batches of tracks: the sums of sequences that have ended, and the rows of those that go on.

Identities go through a whole sequence, so a sequence is evaluated when its last batch is there, and until then its rows
are kept. What it adds up to does not depend on other sequences, so batches, processes and their order change no bit.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..matching import Header, MatchOptions, Rule, header_of
from ..scoring import summary_of
from ..support import InputError, arrays
from ..tables import (
    Annotations,
    TableKind,
    array_of,
    as_annotations,
    as_numbers,
    messages,
    schema,
    side_columns,
    table_kinds,
)
from ..tracking import sequences, sums_of_poses, whole_poses, whole_tracks
from .batch_arrays import as_tables
from .batch_results import joined_matches, joined_tables
from .batches import DECIDING, NO_FORM, Codes, Form, Given, SeenSides, common_form, form_of, is_text
from .sum_tables import tracks_of_sums

# Tables of sums of sequences that have ended, and batches of one that goes on, are joined as soon as there are so many.
WAITING_TABLES = 1 << 6

# What messages call all batches together.
CALLED = "Accumulator: batches"


class Sides(NamedTuple):
    """Two checked sides, of whole frames."""

    truth: Annotations
    predictions: Annotations

    @property
    def frames(self) -> pd.DataFrame:
        """The frames of both sides, those that are listed and those that occur; some may be there repeatedly."""
        tables = [table for side in self for table in side[:2] if table is not None]
        return pd.concat([table[schema.FRAME_KEY] for table in _filled(tables)])

    @property
    def frames_of(self) -> dict[Any, set[int]]:
        """The frames of each sequence."""
        found: dict[Any, set[int]] = {}
        for table in (table for side in self for table in side[:2] if table is not None and len(table)):
            codes, names = pd.factorize(table["sequence"])
            order = arrays.stable_order(codes, len(names))
            ends = np.cumsum(np.bincount(codes, minlength=len(names)))
            frames = np.split(table["frame"].to_numpy()[order], ends[:-1])
            for name, of_name in zip(names.tolist(), frames, strict=True):
                found.setdefault(name, set()).update(of_name.tolist())
        return found

    def of(self, names: Collection[Any]) -> Sides:
        """The rows of these sequences."""
        truth, predictions = (
            side._replace(objects=_rows_of(side.objects, names), frames=_rows_of(side.frames, names)) for side in self
        )
        return Sides(truth, predictions)


class OpenSequence(NamedTuple):
    """A sequence that goes on.

    `batches` are its last ones, and `joined` those before, many together, so that neither are there many tables, nor
    are rows copied again and again. `is_text` says for each side with rows whether its objects have names.
    """

    joined: list[Sides]
    batches: list[Sides]
    frames: set[int]
    is_text: dict[str, bool]

    @property
    def parts(self) -> list[Sides]:
        """All of its rows."""
        return [*self.joined, *self.batches]

    @property
    def copied(self) -> OpenSequence:
        """The same, to which others can be added."""
        return OpenSequence([*self.joined], [*self.batches], {*self.frames}, {**self.is_text})


def _are_text(batch: Sides) -> dict[str, bool]:
    """Whether the names of the objects of each side are text; what has no rows tells nothing."""
    sides = zip(DECIDING, batch, strict=True)
    return {side: is_text(of_side.objects["object"]) for side, of_side in sides if len(of_side.objects)}


def _filled(tables: Iterable[pd.DataFrame]) -> list[pd.DataFrame]:
    """The tables that have rows, of which there may be none; then the first, without rows."""
    given = list(tables)
    return [table for table in given if len(table)] or given[:1]


def _rows_of(table: Any, names: Collection[Any]) -> Any:
    """The rows of a table that are of these sequences; None if there is no table."""
    return None if table is None else table[table["sequence"].isin(list(names))].reset_index(drop=True)


def _joined(parts: list[Sides]) -> Sides:
    """Batches of the same sequences as one; the frames are listed if any of them lists its own."""
    if len(parts) == 1:
        return parts[0]
    truths, predictions = (list(sides) for sides in zip(*parts, strict=True))
    frames = None
    if any(side.frames is not None for side in truths):
        listed = [part.frames if part.truth.frames is None else part.truth.frames for part in parts]
        frames = joined_tables(listed).drop_duplicates(schema.FRAME_KEY, ignore_index=True)
    attributes = [
        joined_tables(tables).drop_duplicates(key, keep="last", ignore_index=True) if tables else None
        for key, tables in (
            ("sequence", [side.sequences for side in truths if side.sequences is not None]),
            ("category", [side.categories for side in truths if side.categories is not None]),
        )
    ]
    truth = Annotations(joined_tables([side.objects for side in truths]), frames, *attributes)
    return Sides(truth, Annotations(joined_tables([side.objects for side in predictions])))


class TrackBatches:
    """What `Accumulator(tracks=True)` keeps: a row of sums a sequence that has ended, and the rows of the others.

    `options` are those of tracks. The match table is made only to `keep` it.
    """

    def __init__(self, options: MatchOptions, *, keep: bool) -> None:
        self.options, self.keep = options, keep
        self.form: Form = NO_FORM
        self.kind: TableKind | None = None
        self.of_joints = False
        self.ended: set[Any] = set()
        self.open: dict[Any, OpenSequence] = {}
        self.sums: list[pd.DataFrame] = []
        self.matches: list[pd.DataFrame] = []
        self.counts: dict[Hashable, int] = {}
        self.seen, self.codes = SeenSides(), Codes()

    def add(self, truth: Given, predictions: Given, more: bool | Collection[Any]) -> str | None:
        """Adds a batch, of which the sequences `more` go on; returns the text of a warning or None.

        A batch that is refused changes nothing. Raises InputError as `Accumulator.update` does.
        """
        batch = Sides(*_with_joints(_checked(truth, "truth"), _checked(predictions, "predictions")))
        kind = table_kinds.kind_of(truth) if self.kind is None else self.kind
        headers = header_of(batch.truth.objects, "truth"), header_of(batch.predictions.objects, "predictions")
        form = self.form
        for side, of_side in zip(DECIDING, batch, strict=True):
            form = common_form("this batch", form, form_of(side, of_side.objects, (), of_side.frames))
        if any(header.n_rows for header in headers):
            sequences.rule_of_headers(self.options, *headers)  # which looks at all columns
        frames = batch.frames_of
        names = {*frames}
        going = _going_on(more, names)
        self._check_new(batch, frames)
        of_joints = self.of_joints or any("joint" in side.objects for side in batch)
        rule = self._rule(form, kind, of_joints)
        of_going = batch if going == names else batch.of(going)
        if going:
            sequences.check_tracked(*of_going, rule)
        whole = self._whole(batch, names, names - going)
        result = None if whole is None else sequences.whole_sequences(*whole, rule, keep=self.keep)
        self.form, self.kind, self.of_joints = form, kind, of_joints
        self.seen.add_checked(side_columns(batch.truth), side_columns(batch.predictions), self.codes)
        if result is not None:
            self._keep(result, names - going)
        for name in going:
            self._hold(name, of_going if len(going) == 1 else of_going.of([name]), frames[name])
        return None if result is None else result.warning

    def merge(self, other: TrackBatches) -> None:
        """Adds what another one has of other sequences, which is not changed; raises InputError as `merge` does."""
        form = common_form("merge: other", self.form, other.form)
        both = [*(({*self.ended} | {*self.open}) & ({*other.ended} | {*other.open}))]
        if both:
            why = "identities go through a whole sequence, so let one process have all of it"
            raise InputError(f"merge: other: {_named(both)} here, too; {why}")
        codes = {
            code: int(self.codes.coded([name])[0])  # type: ignore[index]  # they are text
            for name, code in other.codes.of_text.items()
        }
        self.form, self.kind = form, self.kind or other.kind
        self.of_joints = self.of_joints or other.of_joints
        self.seen.add(other.seen, codes)
        self.ended |= other.ended
        self.open |= {name: of.copied for name, of in other.open.items()}
        self.sums, self.matches = [*self.sums, *other.sums], [*self.matches, *other.matches]
        self.counts = _added(self.counts, other.counts)

    def summary(self) -> tuple[pd.DataFrame, str | None]:
        """The summary of all batches so far, sequences that go on included, and the text of a warning or None."""
        rule, so_far = self._so_far("compute")
        by_joint = rule.by_head_sizes
        table = (whole_poses if by_joint else whole_tracks)(joined_tables([*self.sums, *so_far.sums]), CALLED)
        summary = _summary_of_poses(table) if by_joint else tracks_of_sums(table, ["sequence"])
        summary.attrs = {**rule.notes, **_added(self.counts, so_far.counts)}
        return summary, self._fitting(table, by_joint)

    def match_table(self) -> pd.DataFrame:
        """The match table of all batches so far, sequences that go on included."""
        rule, so_far = self._so_far("matches")
        table = joined_matches([*self.matches, *so_far.matches], rule)
        table.attrs = {**rule.notes, **_added(self.counts, so_far.counts)}
        return table

    def __repr__(self) -> str:
        return f"{len(self.ended):,} ended sequences" + (f", {len(self.open):,} that go on" if self.open else "")

    def _rule(self, form: Form, kind: TableKind, of_joints: bool) -> Rule:
        """The rule that the options and the form make; a function of the caller's gets tables of the kind.

        While nothing has rows, the columns say whether it is joints: `of_joints`.
        """
        # A side without rows as yet has the geometry of the other.
        known = next(iter(form.columns.values()), {*schema.BOX[:2], *(["joint"] if of_joints else [])})
        sides = (Header(side, form.columns.get(side, known), int(side in form.columns)) for side in DECIDING)
        rule = sequences.rule_of_headers(self.options, *sides)
        measure = rule.measure
        return rule if measure is None else replace(rule, measure=table_kinds.taking_kind(measure, kind))

    def _check_new(self, batch: Sides, frames: Mapping[Any, set[int]]) -> None:
        """Raises InputError if a sequence has ended, or one that goes on has a frame of this batch, or other names."""
        again = [name for name in frames if name in self.ended]
        if again:
            way_out = "say more=True in all of its batches but the last, and call reset() before the next epoch"
            raise InputError(f"this batch: {_named(again)} in an earlier batch, which ended it; {way_out}")
        for name in (name for name in frames if name in self.open):
            held, here = self.open[name], batch if len(frames) == 1 else batch.of([name])
            twice = held.frames & frames[name]
            if twice:
                others = f" and {len(twice) - 1:,} more" if len(twice) > 1 else ""
                where = f"this batch: sequence {name}, frame {min(twice)}{others}"
                raise InputError(
                    f"{where}: an earlier batch has this frame, too, so it would count twice; give each frame once"
                )
            for side, of_side in _are_text(here).items():
                if held.is_text.get(side, of_side) != of_side:
                    problem = "column object is text in one of its batches and numbers in another"
                    raise InputError(f"this batch: {side}: sequence {name}: {problem}; make them the same")

    def _whole(self, batch: Sides, names: set[Any], ending: set[Any]) -> Sides | None:
        """All rows of the sequences, of those that it has, that end with this batch; None if none does."""
        if not ending:
            return None if names else batch  # without a frame it may still be wrong
        before = [part for name in ending & {*self.open} for part in self.open[name].parts]
        ends = batch if ending == names else batch.of(ending)
        if not before:
            return ends
        joined = _joined([*before, ends])
        return Sides(as_annotations(joined.truth, "truth"), as_annotations(joined.predictions, "predictions"))

    def _keep(self, result: sequences.WholeSequences, names: set[Any]) -> None:
        """Keeps what sequences that have ended add up to; small tables are joined."""
        self.ended |= names
        for name in names:
            self.open.pop(name, None)
        self.sums.append(result.sums)
        if len(self.sums) > WAITING_TABLES:
            self.sums = [joined_tables(self.sums)]
        self.matches += [] if result.matches is None else [result.matches]
        self.counts = _added(self.counts, result.notes)

    def _hold(self, name: Any, part: Sides, frames: set[int]) -> None:
        """Keeps the rows of a sequence that goes on, which are of these frames."""
        held = self.open.setdefault(name, OpenSequence([], [], set(), {}))
        # The caller may fill the same tables anew for the next batch.
        objects, *others = part.truth
        truth = Annotations(objects.copy(), *(None if table is None else table.copy() for table in others))
        held.batches.append(Sides(truth, Annotations(part.predictions.objects.copy())))
        if len(held.batches) > WAITING_TABLES:
            held.joined.append(_joined(held.batches))
            held.batches.clear()
        held.frames.update(frames)
        held.is_text.update(_are_text(part))

    def _so_far(self, function: str) -> tuple[Rule, TrackBatches]:
        """The rule, and what the sequences that go on add up to as if they ended here."""
        if self.kind is None or not (self.open or self.ended):
            raise InputError(f"{function}: there is no batch yet; update() adds one")
        rule, so_far = self._rule(self.form, self.kind, self.of_joints), TrackBatches(self.options, keep=self.keep)
        if self.open:
            sides = _joined([part for held in self.open.values() for part in held.parts])
            so_far._keep(sequences.whole_sequences(*sides, rule, keep=self.keep), set())
        return rule, so_far

    def _fitting(self, table: pd.DataFrame, by_joint: bool) -> str | None:
        """The text of a warning of sides that hardly fit each other, or None, from the table of all sums."""
        counted = as_numbers(table["detections" if by_joint else "n_predicted"])
        [of_row], _ = arrays.ordinals([array_of(table["sequence"])])
        row, first = arrays.grouped(of_row)
        names = table["sequence"].take(first).tolist()
        coded = self.codes.coded(names) if self.form.text.get("sequence") else None
        codes = names if coded is None else coded.tolist()
        n_predicted = arrays.added_at(row, counted, len(first))
        return self.seen.warning(codes, n_predicted, self.codes.names)


def _checked(given: Given, name: str) -> Annotations:
    """One side of a batch as checked tables; raises InputError if a dict of arrays has rows without identities."""
    side = as_annotations(as_tables(given, name), name)
    objects = given.objects if isinstance(given, Annotations) else given
    if isinstance(objects, Mapping) and "object" not in objects and len(side.objects):
        why = "tracks need a number or a name that follows an object from frame to frame"
        raise InputError(f"{name}: key object is missing; {why}")
    return side


def _with_joints(truth: Annotations, predictions: Annotations) -> tuple[Annotations, Annotations]:
    """Both sides, of which one without rows, as that of a dict without any, has the columns of the other."""
    sides = truth, predictions
    for side, other in ((0, 1), (1, 0)):
        lacks = "joint" in sides[other].objects and "joint" not in sides[side].objects
        if lacks and not len(sides[side].objects):
            empty = sides[side]._replace(objects=sides[other].objects.head(0))
            return (empty, predictions) if side == 0 else (truth, empty)
    return sides


def _going_on(more: bool | Collection[Any], names: set[Any]) -> set[Any]:
    """The sequences of a batch that go on in later ones; raises InputError if `more` names one that is not in it."""
    if isinstance(more, bool | np.bool_):
        return {*names} if more else set()
    if isinstance(more, str) or not isinstance(more, Collection):
        raise InputError(f"more is {more!r}; True, False or a list of sequences is needed")
    unknown = [name for name in more if name not in names]
    if unknown:
        raise InputError(f"more: this batch has no sequence {messages.listed(unknown)}")
    return {*more}


def _named(sequences: list[Any]) -> str:
    """The first of several sequences, with a verb, for messages."""
    others = f" and {len(sequences) - 1:,} more are" if len(sequences) > 1 else " is"
    return f"sequence {min(sequences)}{others}"


def _added(counts: Mapping[Hashable, Any], others: Mapping[Hashable, Any]) -> dict[Hashable, int]:
    """The counts of crowds and ignored objects of both."""
    return {
        name: counts.get(name, 0) + others.get(name, 0)
        for name in schema.COUNTS_NOTED
        if name in counts or name in others
    }


def _summary_of_poses(table: pd.DataFrame) -> pd.DataFrame:
    """The `summary` that `pose` returns, but for average precision, from the table `sums` of all rows, sorted."""
    keys = {name: array_of(table[name]) for name in ("sequence", "joint")}
    groupings: list[list[str]] = [["sequence", "joint"], ["sequence"], ["joint"], []]
    found = [summary_of(sums_of_poses(table, {name: keys[name] for name in names})) for names in groupings]
    values = pd.concat([of.drop(columns=[*names, "n_sequences"]) for of, names in zip(found, groupings, strict=True)])
    n_sequences, n_joints = len(found[1]), len(found[2])
    joint = table["joint"].iloc[:n_joints]
    place = np.argsort(np.argsort(joint.to_numpy(object)))  # groups are sorted by name, and rows as the kit has them
    of_sequence = np.arange(n_sequences)[:, None]
    rows = np.hstack([of_sequence * n_joints + place, n_sequences * n_joints + of_sequence])
    of_all = n_sequences * (n_joints + 1) + np.append(place, n_joints)
    names = table["sequence"].iloc[:: n_joints + 1].reset_index(drop=True)
    names = names.astype("Int64") if names.dtype == np.int64 else names
    key = {
        "sequence": names.reindex(np.arange(n_sequences + 1).repeat(n_joints + 1)).array,
        "joint": joint.reset_index(drop=True).reindex(np.tile(np.arange(n_joints + 1), n_sequences + 1)).array,
    }
    ordered = values.take(np.append(rows.ravel(), of_all)).reset_index(drop=True)
    return pd.concat([pd.DataFrame(key), ordered], axis=1)
