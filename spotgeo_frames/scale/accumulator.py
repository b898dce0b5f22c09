"""Accumulator: the metrics of batches that come one by one, as in a training loop.

Every metric follows from sums, and sums of different frames add up. So an accumulator keeps the frames seen and a row
of sums for each sequence, whose frames may come in several batches. Plain batches wait until they are many rows, and
are matched together. Batches of tracks are kept by `track_batches.py`.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..geometries import Measure
from ..matching import Assignment, Rule, check_columns, match_options, options_with_tracks
from ..scoring import (
    AveragePrecision,
    Sums,
    match_sums,
    own_metrics,
    parts,
    point_sets,
    registry,
    result_of,
    sequence_sums,
    summary_of,
)
from ..support import InputError
from ..tables import Columns, SideColumns, TableKind, messages, schema, table_kinds
from .batch_results import Evaluated, evaluate, joined_matches
from .batches import (
    NO_FORM,
    Codes,
    Form,
    FrameCode,
    Given,
    PlainSide,
    SeenSides,
    coded_keys,
    common_form,
    frame_code,
    joined_sides,
    read_batch,
    rule_of_form,
    sequence_and_frame,
)
from .track_batches import TrackBatches

# Plain batches wait until both sides together have so many rows, or until so many batches wait: each takes about 2 kB,
# even without a row.
WAITING_ROWS = 1 << 18
WAITING_BATCHES = 1 << 13

# The similarity from which on pairs are kept for average precision, unless the rule's is less: the least of protocols.
KEPT_THRESHOLD = 0.5

# Parts of fewer detections are joined as soon as there are so many of them.
LARGE_PART, WAITING_PARTS = 1 << 16, 1 << 8

# What two accumulators that are merged have in common, and what messages call it.
MADE_WITH = {"_options": "rule", "_with_tracks": "tracks", "_keep": "keep", "_own": "list of metrics of your own"}

# Sums of batches that wait to be added up.
WAITING_SUMS = 1 << 10

# The sums of no sequence.
NOTHING = dict.fromkeys([*sequence_sums.SUMS, "kelvins_error", "n_frames"], np.zeros(0))
NO_FRAMES = dict.fromkeys(point_sets.POINT_SETS, np.zeros(0))  # there only with assignment="least"


class Accumulator:
    """Adds up the metrics of batches that come one by one, as in a training loop.

    It keeps a row of sums for each sequence, the frames seen, and up to 260,000 rows, or 8,000 batches, that wait to be
    matched together. The counts equal those of one evaluation of everything, whatever the batches were and in whatever
    order they came. Sums of errors may differ in the last digits, because they are added in another order.

    With `tracks=True`, `object` is an identity, and batches are evaluated as `track` does, those of joints as `pose`
    does. Identities go through a whole sequence, so give each sequence in one batch, or say `more=True` in all of its
    batches but the last. An accumulator then keeps a row of sums (1.5 kB) for each sequence that has ended, 16 for one
    of joints, and all rows of the sequences that go on, as long as they do. All numbers are equal to the last bit to
    those of one evaluation of everything.

    An accumulator can be pickled, so processes can send theirs to one that merges them. A copy goes its own way.
    Metrics of your own are those that `metric()` had added when the accumulator was made; they take longer, since the
    match table of each batch is made for them. One that asks for a column which the match table of a batch lacks is
    left out, and `compute` warns of it.

    Parameters
    ----------
    tau, epsilon, similarity, threshold, sigmas, distance, unit, assignment, power
        How to match: what `match` takes. Without any, boxes match from an IoU of 0.5 on, and points and keypoints by
        distance with tau 10 px and epsilon 3 px. Of tracks `similarity`, or `tau` and `distance`, as `track` takes
        them; of joints none, since `pose` has a rule of its own.
    tracks
        Whether identities count.
    keep
        "matches" also keeps the match table of all batches, which is then in `matches`. "scores" also keeps what
        average precision needs: about 70 bytes a detection or truth besides text, and 24 bytes a similar pair; see
        `precision`. Pairs are kept from a similarity of 0.5 on, or of `threshold` if that is less, or up to `tau`.

    Attributes
    ----------
    matches
        With `keep="matches"`, the match table of all batches so far, as `match` would make it of everything; of tracks
        that of `track` or `pose`.

    Raises
    ------
    ValueError: a word of the rule is out of range or does not fit another, or `keep` is something else.

    Examples
    --------
    >>> import numpy as np
    >>> import spotgeo_frames as sf
    >>> scores = sf.Accumulator(tau=5, epsilon=1)
    >>> for frame in range(3):
    ...     truth = {"sequence": "night", "frame": frame, "xy": np.array([[10.0, 20.0], [40.0, 60.0]])}
    ...     found = {"sequence": "night", "frame": frame, "xy": np.array([[12.0, 20.0]])}
    ...     scores = scores.update(truth, found)
    >>> scores.compute()[["tp", "fn", "fp", "recall", "n_frames"]]
       tp  fn  fp  recall  n_frames
    0   3   3   0     0.5         3
    """

    def __init__(
        self,
        tau: float | None = None,
        epsilon: float | None = None,
        *,
        similarity: str | Measure | None = None,
        threshold: float | None = None,
        sigmas: Mapping[Any, float] | None = None,
        distance: Measure | None = None,
        unit: str | None = None,
        assignment: Assignment | None = None,
        power: float | None = None,
        tracks: bool = False,
        keep: Literal["matches", "scores"] | None = None,
    ) -> None:
        if keep not in (None, "matches", "scores"):
            raise ValueError(f"keep is {keep!r}; 'matches', 'scores' or None is needed")
        if tracks and keep == "scores":
            raise ValueError("keep='scores' is for average precision, which knows no identities; leave out tracks=True")
        given = tau, epsilon, similarity, threshold, sigmas, distance, unit, assignment, power
        self._options = options_with_tracks(*given) if tracks else match_options(*given)
        self._with_tracks, self._keep = tracks, keep
        self.reset()

    def reset(self) -> Accumulator:
        """Forgets all batches, as at the start of an epoch; returns itself."""
        self._tracked = TrackBatches(self._options, keep=self._keep == "matches") if self._with_tracks else None
        self._own = [] if self._with_tracks else registry.own_metrics()
        self._sequences, self._categories = Codes(), Codes()
        self._form = NO_FORM
        self._rule: Rule | None = None
        self._last_forms: tuple[Form, Form] | None = None
        self._kind: TableKind | None = None
        self._seen: set[FrameCode] = set()
        self._sides = SeenSides()
        self._place: dict[int, int] = {}
        self._pieces: list[Sums] = []
        self._matches: list[pd.DataFrame] = []
        self._parts: list[parts.Part] = []
        self._waiting: list[tuple[PlainSide, PlainSide]] = []
        self._n_waiting = 0
        return self

    def update(
        self, truth: Given, predictions: Given, *, more: bool | Collection[int] | Collection[str] = False
    ) -> Accumulator:
        """Adds a batch, whole frames of which none was in an earlier batch, and returns itself.

        Parameters
        ----------
        truth, predictions
            What `match` takes: a table of objects, or Annotations; of pandas, polars or pyarrow. Or a dict of arrays
            (NumPy arrays, lists, or tensors on any device), one row an object:

            - `sequence` (n,), integers or text, and `frame` (n,), integers. A single value is that of all rows. Where
              both are single values, the frame counts even if it has no objects;
            - one of `xy` (n, 2), points in px; `boxes` (n, 4): x, y, w, h in px, where x, y is the top left corner; or
              `boxes_xyxy` (n, 4): left, top, right, bottom in px, as torchvision and Ultralytics have them;
            - if you like, `classes` (n,), numbers or text: if both sides have them, only equal classes match; `scores`
              (n,); `object` (n,), otherwise rows are numbered; and any other column (n,), such as `crowd` or `ignore`.

            To list the frames of a batch, so that empty ones count, give `Annotations(objects, frames)`. Both may be
            dicts of arrays: `frames` has `sequence` and `frame`, one row a frame. Without, the frames are those that
            occur on either side.

        more
            With `tracks=True`, whether the sequences of this batch go on in later ones: False, they end here; True, all
            go on; or a list of those that do. A sequence that has ended is refused when it comes again.

        A batch that is refused changes nothing. One side of a batch may have sequences that the other has not.

        Raises
        ------
        InputError: a table, a key or a shape is wrong; a tensor requires a gradient; values are masked; a frame was in
            an earlier batch; columns such as `category`, or the types of keys, are not those of earlier batches; or of
            tracks a sequence has ended, `object` is missing, or `more` names a sequence that the batch has not.
        ValueError: `more` is given without `tracks=True`, where sequences may always go on.

        Examples
        --------
        >>> import spotgeo_frames as sf
        >>> frames = {"sequence": 1, "frame": [1, 2, 3]}
        >>> truth = {"sequence": 1, "frame": [1, 2], "boxes": [[10, 10, 20, 20], [30, 10, 20, 20]], "classes": [4, 4]}
        >>> found = {"sequence": 1, "frame": [1], "boxes_xyxy": [[11, 10, 31, 30]], "classes": [4], "scores": [0.9]}
        >>> scores = sf.Accumulator().update(sf.Annotations(truth, frames), found)
        >>> scores.compute()[["tp", "fn", "n_frames"]]
           tp  fn  n_frames
        0   1   1         3
        """
        if self._tracked is not None:
            return self._warned(self._tracked.add(truth, predictions, more))
        if more is not False:
            raise ValueError("more is for tracks=True; without it, a sequence may always come in several batches")
        built_in = self._options.distance is None and self._options.similarity in (None, "iou", "point")
        by_score = self._options.assignment == "score"  # the scores of what waits are not kept
        may_wait = self._keep is None and not self._own and built_in and not by_score
        batch = read_batch(truth, predictions, self._sequences, self._categories, may_wait=may_wait)
        form = self._form if batch.forms == self._last_forms else common_form("this batch", self._form, *batch.forms)
        check_columns(self._options, *batch.geometries)
        self._check_new(batch.frames, form, "this batch")
        rule = self._known_rule() if form is self._form else rule_of_form(self._options, form)
        kind = table_kinds.kind_of(truth) if self._kind is None else self._kind
        warning = None
        if batch.checked is not None:
            part = self._part(*batch.checked, rule, kind) if self._keep == "scores" else None
            warning = self._add(self._evaluated(*batch.checked, rule, kind))
            self._keep_part(part)
        elif batch.plain is not None:
            too_many = self._n_waiting > WAITING_ROWS or len(self._waiting) > WAITING_BATCHES
            warning = self._settle() if too_many else None
            self._waiting.append(batch.plain)
            self._n_waiting += sum(len(side.frame) for side in batch.plain)
        self._form, self._rule, self._kind, self._last_forms = form, rule, kind, batch.forms
        self._seen |= batch.frames
        if batch.plain is not None:
            self._sides.add_plain(*batch.plain, self._categories)
        elif batch.checked is not None:
            self._sides.add_checked(*batch.checked, self._sequences)
        return self._warned(warning)

    def merge(self, other: Accumulator) -> Accumulator:
        """Adds what another accumulator has of other frames, as that of another process; returns itself.

        The other one is not changed.

        Raises
        ------
        InputError: `other` is no Accumulator or is this one, was made with another rule, another `keep` or other
            metrics of your own, or has a frame that is here, too; or columns such as `category`, or the types of keys,
            are not those of the batches here.

        Examples
        --------
        >>> import spotgeo_frames as sf
        >>> parts = [sf.Accumulator(tau=5), sf.Accumulator(tau=5)]
        >>> for frame, part in enumerate(parts):
        ...     batch = {"sequence": "night", "frame": frame, "xy": [[10.0, 20.0]]}
        ...     part = part.update(batch, batch)
        >>> parts[0].merge(parts[1]).compute()[["tp", "n_sequences", "n_frames"]]
           tp  n_sequences  n_frames
        0   2            1         2
        """
        if not isinstance(other, Accumulator) or other is self:
            what = "this accumulator itself" if other is self else f"of type {type(other).__name__}"
            raise InputError(f"merge: other is {what}; another Accumulator is needed")
        differ = [name for name in MADE_WITH if getattr(self, name) != getattr(other, name)]
        if differ:
            names = messages.listed(MADE_WITH[name] for name in differ)
            raise InputError(f"merge: other was made with another {names}; make both with the same")
        if self._tracked is not None and other._tracked is not None:
            self._tracked.merge(other._tracked)
            return self
        form = common_form("merge: other", self._form, other._form)
        rule = self._rule if form is self._form else rule_of_form(self._options, form)
        warnings_of_both = [self._settle(), other._settle()]
        code = self._codes_of(other)
        frames = other._seen
        if code:
            frames = {frame_code(code[sequence], frame) for sequence, frame in map(sequence_and_frame, frames)}
        self._check_new(frames, form, "merge: other")
        self._form, self._rule, self._kind = form, rule, self._kind or other._kind
        self._seen |= frames
        self._sides.add(other._sides, code)
        pieces = other._added()
        if pieces is not None:
            self._add_sums(pieces, [code.get(sequence, sequence) for sequence in other._place])
        self._matches += other._matches
        self._parts += other._parts
        return self._warned("; ".join(filter(None, warnings_of_both)) or None)

    def compute(self) -> pd.DataFrame:
        """Returns the metrics of all batches so far: what `summarize` returns of the match table of all of them.

        With `tracks=True`, it is the `summary` that `track` returns of all of them, or that `pose` returns, without
        `ap`, `ap_pre` and `ap_rec`, which do not follow from sums. Sequences that go on count as if they ended here.

        More batches may follow. The table is of the kind of the first batch's truth: pandas for arrays.

        Raises
        ------
        InputError: with `tracks=True`, there is no batch yet.

        Examples
        --------
        >>> import spotgeo_frames as sf
        >>> batch = {"sequence": 1, "frame": 1, "xy": [[10.0, 20.0], [30.0, 40.0]]}
        >>> sf.Accumulator().update(batch, batch).compute()[["tp", "fn", "fp", "f1"]]
           tp  fn  fp   f1
        0   2   0   0  1.0

        A sequence of tracks that comes in two batches, between which an identity changes:

        >>> scores = sf.Accumulator(tracks=True)
        >>> for frame, name in enumerate(["a", "b"]):
        ...     truth = {"sequence": 1, "frame": frame, "object": ["me"], "xy": [[10.0 + frame, 20.0]]}
        ...     scores = scores.update(truth, truth | {"object": [name]}, more=frame == 0)
        >>> scores.compute()[["sequence", "MOTA", "IDSW", "n_frames"]]
           sequence  MOTA  IDSW  n_frames
        0         1   0.5     1         2
        1      <NA>   0.5     1         2
        """
        if self._tracked is not None:
            summary, warning = self._tracked.summary()
            self._warned(warning)
            return table_kinds.as_kind(summary, self._tracked.kind or "pandas")
        names = self._sequences.names if self._form.text.get("sequence") else {}
        settled = self._settle()
        pieces = self._added()
        of_frames = NO_FRAMES if self._options.assignment == "least" else {}
        values = NOTHING | of_frames if pieces is None else pieces.values
        fitting = self._sides.warning([*self._place], values["tp"] + values["fp"], names)
        lacking = own_metrics.lacking_text([] if pieces is None else [pieces.lacking])
        self._warned("; ".join(filter(None, (settled, fitting, lacking))) or None)
        named = sorted(self._place, key=lambda sequence: names.get(sequence, sequence))
        order = np.array([self._place[sequence] for sequence in named], np.int64)
        counts = {} if pieces is None else pieces.attrs
        sums = match_sums.whole(match_sums.ungrouped(sequence_sums.row_at(values, order), self._known_rule(), counts))
        known = [] if pieces is None else [name for name in self._own if name not in pieces.lacking]
        own = [name for name in registry.own_metrics() if name in known]
        return table_kinds.as_kind(summary_of(sums._replace(own_metrics=own)), self._kind or "pandas")

    def precision(self, protocol: str = "coco", **fields: Any) -> AveragePrecision:
        """Returns the average precision of all batches so far, as `average_precision` gives it of everything.

        With `keep="scores"`. The numbers are equal to the last bit, whatever the batches were, in whatever order they
        came and however they were merged. More batches may follow.

        Parameters
        ----------
        protocol, fields
            The protocol, and other arguments that change one of its decisions: `thresholds`, `tau`, `max_detections`
            and so on, as `average_precision` takes them, and `metrics`, such as ["best_f1"], the highest F1 with its
            score threshold. Points need no `tau`: it is the accumulator's.

        Raises
        ------
        InputError: the scores were not kept, there is no batch yet, a looser threshold is asked for than that from
            which on pairs were kept, or the protocol needs what the batches lack, such as pairs of classes of classes.
        ValueError: as `average_precision` raises it.

        Examples
        --------
        >>> import spotgeo_frames as sf
        >>> scores = sf.Accumulator(keep="scores")
        >>> for image in range(4):
        ...     key = {"sequence": image, "frame": 1}
        ...     truth = key | {"boxes": [[10, 10, 20, 20], [50, 10, 20, 20]]}
        ...     found = key | {"boxes": [[10, 10, 20, 20 + image]], "scores": [0.9 - image / 10]}
        ...     scores = scores.update(truth, found)
        >>> scores.precision().summary[["AP", "AP50", "AR100"]].round(3)
              AP   AP50  AR100
        0  0.467  0.505  0.462
        """
        if self._keep != "scores":
            raise InputError('precision: the scores were not kept; make the Accumulator with keep="scores"')
        if not self._parts:
            raise InputError("precision: there is no batch yet; update() adds one")
        rules, rule = parts.asked_for(protocol, fields, self._known_rule())
        matched = parts.matched_part(parts.join_parts(self._parts), rule, rules)
        result = result_of(matched, called="Accumulator", stacklevel=3)
        return table_kinds.as_kind(result, self._kind or "pandas")

    @property
    def matches(self) -> pd.DataFrame:
        """The match table of all batches so far, of the kind of the first batch's truth."""
        if self._keep != "matches":
            raise InputError('matches: the match tables were not kept; make the Accumulator with keep="matches"')
        if self._tracked is not None:
            return table_kinds.as_kind(self._tracked.match_table(), self._tracked.kind or "pandas")
        if not self._matches:
            raise InputError("matches: there is no batch yet; update() adds one")
        rule = self._known_rule()
        table = joined_matches(self._matches, rule)
        pieces = self._added()
        numbered = any(of.attrs.get(schema.NUMBERED) for of in self._matches)
        table.attrs = (
            rule.notes | ({} if pieces is None else pieces.attrs) | ({schema.NUMBERED: True} if numbered else {})
        )
        return table_kinds.as_kind(table, self._kind or "pandas")

    def __repr__(self) -> str:
        return f"<Accumulator of {self._tracked or f'{len(self._seen):,} frames'}>"

    def __copy__(self) -> Accumulator:
        return copy.deepcopy(self)  # two that share their sets of frames would disturb each other

    def __getstate__(self) -> dict[str, Any]:
        self._warned(self._settle())  # sums take less than rows
        return self.__dict__

    def _warned(self, text: str | None) -> Accumulator:
        """Warns its caller's caller of what a match left out of account; returns itself."""
        if text is not None:
            warnings.warn(f"Accumulator: {text}", stacklevel=3)
        return self

    def _known_rule(self) -> Rule:
        return rule_of_form(self._options, self._form) if self._rule is None else self._rule

    def _codes_of(self, other: Accumulator) -> dict[int, int]:
        """The codes here of the sequences of another accumulator, by its codes; integers have none."""
        if not other._form.text.get("sequence"):
            return {}
        codes = self._sequences.coded([*other._sequences.of_text])
        return dict(enumerate([] if codes is None else codes.tolist()))

    def _check_new(self, frames: set[FrameCode], form: Form, name: str) -> None:
        """Raises InputError if an earlier batch has one of the frames; calls what has them now `name`."""
        if not self._seen.isdisjoint(frames):
            names = self._sequences.names if form.text.get("sequence") else {}
            repeated = [sequence_and_frame(code) for code in self._seen & frames]
            sequence, frame = min((names.get(sequence, sequence), frame) for sequence, frame in repeated)
            others = f" and {len(repeated) - 1:,} more" if len(repeated) > 1 else ""
            raise InputError(
                f"{name}: sequence {sequence}, frame {frame}{others}: an earlier batch has this frame, too, so it "
                "would count twice; give each frame once, and call reset() before the next epoch"
            )

    def _evaluated(self, truth: SideColumns, predictions: SideColumns, rule: Rule, kind: TableKind) -> Evaluated:
        """What checked tables give; a function of the caller's gets tables of the kind that it was given."""
        if rule.measure is not None:
            rule = replace(rule, measure=table_kinds.taking_kind(rule.measure, kind))
        own = [name for name in registry.own_metrics() if name in self._own]  # another process may not know them all
        return evaluate(truth, predictions, rule, "truth", own, keep=self._keep == "matches")

    def _keep_part(self, part: parts.Part | None) -> None:
        """Keeps what average precision needs of a batch; small parts are joined."""
        self._parts += [] if part is None else [part]
        n_small = sum(1 for kept in self._parts if len(kept.predictions) < LARGE_PART)
        if n_small > WAITING_PARTS:
            large = [kept for kept in self._parts if len(kept.predictions) >= LARGE_PART]
            small = [kept for kept in self._parts if len(kept.predictions) < LARGE_PART]
            self._parts = [*large, parts.join_parts(small)]

    def _part(self, truth: SideColumns, predictions: SideColumns, rule: Rule, kind: TableKind) -> parts.Part:
        """What average precision needs of checked tables."""
        if rule.measure is not None:
            rule = replace(rule, measure=table_kinds.taking_kind(rule.measure, kind))
        if not rule.by_distance:
            rule = replace(rule, threshold=min(KEPT_THRESHOLD, rule.threshold or 0.0))
        return parts.part_of(truth, predictions, rule)

    def _settle(self) -> str | None:
        """Matches the batches that wait; returns the text of a warning or None."""
        if not self._waiting:
            return None
        truth, predictions = joined_sides(self._waiting)
        found = evaluate(truth, predictions, self._known_rule(), "union", (), keep=False)
        self._waiting, self._n_waiting = [], 0
        self._add_sums(found.sums, found.sums.sequence.tolist())
        return found.warning

    def _add(self, found: Evaluated) -> str | None:
        """Adds what a batch of checked tables gave; returns the text of its warning or None."""
        sequences = coded_keys(found.sums.sequence, self._sequences)
        self._add_sums(found.sums, [] if sequences is None else sequences.tolist())
        self._matches += [] if found.matches is None else [found.matches]
        return found.warning

    def _add_sums(self, sums: Sums, sequences: Sequence[int]) -> None:
        """Adds sums of some sequences, each of which occurs once; they may have other frames elsewhere."""
        places = [self._place.setdefault(sequence, len(self._place)) for sequence in sequences]
        labels = Columns({match_sums.PIECE: np.array(places, np.int64)})
        counts: dict[Hashable, Any] = {name: sums.attrs[name] for name in schema.COUNTS_NOTED if name in sums.attrs}
        group = np.arange(len(labels))
        self._pieces.append(sums._replace(labels=labels, group=group, sequence=None, attrs=counts))
        if len(self._pieces) > WAITING_SUMS:
            self._added()

    def _added(self) -> Sums | None:
        """The sums of all batches added up, in the order in which sequences came first; None without a batch."""
        if len(self._pieces) > 1:
            self._pieces = [sequence_sums.add_sums(self._pieces)]
        return self._pieces[0] if self._pieces else None
