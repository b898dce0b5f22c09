"""Two sides laid out for tracks: which object, joint and pose each row is of, and what counts as a sequence.

An identity belongs to one sequence: the same name in two sequences means two objects. Each object gets an integer, so
that its rows can be followed from frame to frame.

Each sequence, each of its joints, or each of its classes is evaluated as a sequence of its own. A class has only the
frames in which a side has an object of the class, since no other frame changes a pair or a sum. How many frames the
sequence has is known beside them.

Crowds of tracks and poses count nowhere, nor do the predictions that they explain. Tracks follow what KITTI's kit does
with its DontCare regions (trackeval 1.3.0, datasets/kitti_2d_box.py). First, truths that are no crowds and predictions
are matched with the greatest sum of similarities, from 0.5 on. Then a prediction that is left leaves if more than half
of its own area lies in a crowd of an equal category. Points and what a function of the caller's compares leave where
they are similar enough to a crowd to match it, and joints where they are within the kit's distance of one.

Ignored truths leave as MOTChallenge's kit takes out its distractors (trackeval 1.3.0,
datasets/mot_challenge_2d_box.py): the same matching has them with all other truths, and they take along what they were
matched with.

An aligned frame of joints belongs to one joint: it is a (sequence, frame, joint). An image is a (sequence, frame) with
all its joints, and a pose is one object in an image.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..geometries import ROUNDING
from ..matching import Aligned, Compared, Entries, Pairs, Rule, Side, alignment, assignment, crowds, layout
from ..support import InputError, arrays
from ..tables import Columns, array_of, messages, null_rows, other_words, provenance, schema

# The least similarity of a match, and the share of a box's own area of which more has to lie in a crowd.
LEAST_SIMILARITY, COVERED_SHARE = 0.5 - ROUNDING, 0.5 + ROUNDING


class Identities(NamedTuple):
    """The identities of one side, counted from 0 in the order of sequence and name.

    `of_row` is the identity of each row. For each identity, `sequence` is the position of its sequence, `first_row` its
    first row, and `n_rows` how many rows it has. Its name is in the column `column` of the side's table.
    """

    column: str
    of_row: np.ndarray
    sequence: np.ndarray
    first_row: np.ndarray
    n_rows: np.ndarray

    @property
    def n_identities(self) -> int:
        """How many identities there are."""
        return len(self.n_rows)


class Tracks(NamedTuple):
    """Two aligned sides with their identities.

    `labels` has one row a sequence, in order, with its name in the column `sequence`. If it also has a column `joint`
    or `category`, each joint or class of a sequence counts as a sequence of its own. `n_frames` is how many frames each
    has, and `frame_sequence` the position of each aligned frame's sequence.
    """

    aligned: Aligned
    labels: Columns
    n_frames: np.ndarray
    frame_sequence: np.ndarray
    truth: Identities
    predictions: Identities

    @property
    def n_sequences(self) -> int:
        return len(self.labels)

    @property
    def n_truth(self) -> np.ndarray:
        """How many rows of truth each sequence has."""
        return self._rows(self.aligned.truth)

    @property
    def n_predicted(self) -> np.ndarray:
        """How many rows of predictions each sequence has."""
        return self._rows(self.aligned.predictions)

    def _rows(self, side: Side) -> np.ndarray:
        return arrays.added_at(self.frame_sequence, side.counts, self.n_sequences).astype(np.int64)

    def per_sequence(self, frames: np.ndarray) -> np.ndarray:
        """How often each sequence occurs among the sequences of the given frames, which may repeat."""
        return np.bincount(self.frame_sequence[frames], minlength=self.n_sequences)

    def joint_keys(self, truth_rows: np.ndarray, prediction_rows: np.ndarray) -> np.ndarray:
        """One integer for each pair of rows, which stands for both identities and sorts as they do."""
        keys = self.truth.of_row.take(truth_rows)
        keys *= self.predictions.n_identities
        keys += self.predictions.of_row.take(prediction_rows)
        return keys

    def split_keys(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The identities of truth and of predictions that keys of `joint_keys` stand for."""
        truth, prediction = np.divmod(keys, max(self.predictions.n_identities, 1))
        return truth, prediction


def identify(aligned: Aligned, identity: str, by: str | None = None) -> Tracks:
    """The identities of both sides, from the column `identity` if a side has it, and otherwise from `object`.

    With `by`, which can only be "category", an identity belongs to one class of its sequence.

    Raises InputError if neither side has such a column, or if an identity is null or occurs twice in a frame.
    """
    if identity in (*schema.FRAME_KEY, "joint"):
        raise InputError(f"identity: {identity} does not name an object")
    if identity != "object" and identity not in aligned.truth.table and identity not in aligned.predictions.table:
        raise InputError(f"identity: neither truth nor predictions have a column {identity}")
    laid = by_sequence(aligned) if by is None else by_class(aligned)
    sides = {"truth": laid.aligned.truth, "predictions": laid.aligned.predictions}
    named = [_identities(side, identity, laid, name) for name, side in sides.items()]
    return Tracks(*laid, *named)


def with_predictions(tracks: Tracks, kept: np.ndarray) -> Tracks:
    """The same frames and truths with only the marked predictions."""
    everything, whole = np.ones(len(tracks.aligned.truth.frame), bool), tracks.predictions
    of_row, first = arrays.grouped(whole.of_row[kept])
    sequence = whole.sequence[whole.of_row[kept][first]]
    left = Identities(whole.column, of_row, sequence, first, np.bincount(of_row, minlength=len(first)))
    return tracks._replace(aligned=alignment.select_rows(tracks.aligned, everything, kept), predictions=left)


def _identities(side: Side, identity: str, laid: Sequences, name: str) -> Identities:
    """The identities of one side; `name` names it in messages if it was not read from a file."""
    column = identity if identity in side.table else "object"
    if column == "object" and side.table.attrs.get(schema.NUMBERED):
        names = [own for own in side.table if own != "object"]
        why = "tracks need a number or a name that follows an object from frame to frame"
        hint = other_words.way_out(f"{why}; there are {messages.listed(names)}", names, "object")
        raise InputError(messages.missing(provenance.source(side.table, name), "object", names, hint))
    codes, span = _codes(side.table, column, provenance.source(side.table, name))
    sequence = laid.frame_sequence[side.frame]
    of_row, first = arrays.grouped(arrays.pack([sequence, codes], [len(laid.labels), span]))
    if column != "object":
        from ..tables import checks

        # `object` needs no check, because every table of objects is refused where it is not unique in its frame.
        key = [*dict.fromkeys([*schema.FRAME_KEY, *laid.labels, column])]
        problems = checks.repetitions(side.table, key, provenance.source(side.table, name))
        if problems:
            raise InputError(problems)
    return Identities(column, of_row, sequence[first], first, np.bincount(of_row, minlength=len(first)))


def _codes(table: Columns, column: str, name: str) -> tuple[np.ndarray, int]:
    """The identities as integers of the same order, and their exclusive upper bound."""
    values = table[column]
    null = null_rows(values)
    if null.any():
        keys = messages.first_keys(table, null, schema.OBJECT_KEY)
        raise InputError(f"{name}: column {column}: {messages.counted(int(null.sum()), 'row')} null: {keys}")
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        [codes], span = arrays.ordinals([values])
        return codes, span
    import pandas as pd

    from ..tables import checks

    try:
        [codes], span = arrays.ordinals([checks.decoded(pd.Series(values, dtype=values.dtype, copy=False))])
    except TypeError as error:
        raise InputError(f"{name}: column {column}: its values cannot be identities: {error}") from None
    return codes, span


def with_nulls(values: Any, n_rows: int) -> Any:
    """The values, nullable, then nulls, `n_rows` in all; a null stands for all of them together."""
    import pandas as pd

    n_names = len(values)
    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        names = np.append(values, np.zeros(n_rows - n_names, np.int64))
        return pd.arrays.IntegerArray(names, np.arange(n_rows) >= n_names)
    return pd.Series(values, copy=False).reindex(range(n_rows)).array


class Sequences(NamedTuple):
    """Two aligned sides, whose frames are those of N sequences, in order.

    `labels` has the key of each sequence: `sequence`, and `joint` or `category` where each of these counts as a
    sequence. `n_frames` is how many frames each has, and `frame_sequence` the position of each aligned frame's
    sequence.
    """

    aligned: Aligned
    labels: Columns
    n_frames: np.ndarray
    frame_sequence: np.ndarray


def by_sequence(aligned: Aligned) -> Sequences:
    """The sequences as they are; each joint of a sequence where there are joints."""
    key = [column for column in ("sequence", "joint") if column in aligned.frames]
    frame_sequence, first = arrays.grouped(arrays.row_keys(aligned.frames, key))
    labels = aligned.frames.select(key).take(first)
    return Sequences(aligned, labels, np.bincount(frame_sequence, minlength=len(first)), frame_sequence)


def by_class(aligned: Aligned) -> Sequences:
    """Every class of every sequence, by sequence, then class; both sides must have categories.

    The classes are those that occur on either side in any sequence, and those that the truth's table of them lists.
    """
    whole = by_sequence(aligned)
    sides = aligned.truth, aligned.predictions
    category, first = arrays.grouped(np.concatenate([side.category for side in sides if side.category is not None]))
    names = array_of(layout.joined_categories([side.table["category"] for side in sides])).take(first)
    if aligned.categories is not None:
        names, category = _with_listed(names, category, aligned.categories["category"])
    sequence, of_class = np.divmod(np.arange(len(whole.labels) * len(names)), max(len(names), 1))
    labels = whole.labels.take(sequence).assign({"category": names.take(of_class)})

    # A frame of a class is numbered by its sequence, then its class, then the frame.
    frame = np.concatenate([side.frame for side in sides])
    keys = (whole.frame_sequence[frame] * len(names) + category) * len(aligned.frames) + frame
    listed, _ = arrays.distinct(keys)
    frame_sequence, original = np.divmod(listed, max(len(aligned.frames), 1))
    truth, predictions = (
        alignment.side_of(side.table, side.row, position, None, len(listed))
        for side, position in zip(sides, np.split(arrays.locate(listed, keys), [len(aligned.truth.frame)]), strict=True)
    )
    frames = aligned.frames.select(schema.FRAME_KEY).take(original)
    laid = aligned._replace(frames=frames, truth=truth, predictions=predictions)
    return Sequences(laid, labels, whole.n_frames[sequence], frame_sequence)


def _with_listed(names: Any, category: np.ndarray, listed: Any) -> tuple[Any, np.ndarray]:
    """The names of classes with those that a table lists, and the position of each row's class among them."""
    every = layout.joined_categories([names, listed])
    [codes], _ = arrays.ordinals([every])
    position, first = arrays.grouped(codes)
    return array_of(every).take(first), position[: len(names)][category]


def rows_in(aligned: Aligned, laid: Aligned) -> tuple[np.ndarray, np.ndarray]:
    """For each row of the truth and of the predictions as they are laid out, its position in `aligned`."""
    sides = (aligned.truth, laid.truth), (aligned.predictions, laid.predictions)
    truth, predictions = (_places(side.row)[other.row] for side, other in sides)
    return truth, predictions


def _places(row: np.ndarray) -> np.ndarray:
    """The position of each row of a table among those that are left, some of which may be left out."""
    places = np.zeros(row.max(initial=-1) + 1, np.int64)
    places[row] = np.arange(len(row))
    return places


class Taken(NamedTuple):
    """Two aligned sides whose truths all count, and the truth that took each prediction, as a row, or -1."""

    aligned: Aligned
    by_truth: np.ndarray


def counted_in_tracks(aligned: Aligned, rule: Rule) -> Aligned:
    """The sides without crowds, ignored truths and the predictions that these take; notes say how many there are.

    Raises InputError if a value of the truth's columns `crowd` and `ignore` is neither true nor false.
    """
    if not any(mark in aligned.truth.table for mark in crowds.MARKS):
        return aligned
    return _counted(aligned, rule, all_pairs=False)[0]


def counted_with_taken(aligned: Aligned, rule: Rule) -> Taken:
    """The same, with the truth that took each of the predictions that are left, by the same assignment."""
    counted, pairs = _counted(aligned, rule, all_pairs=True)
    by_truth = np.full(len(counted.predictions.frame), -1)
    by_truth[pairs.prediction] = pairs.truth
    return Taken(counted, by_truth)


def _counted(aligned: Aligned, rule: Rule, *, all_pairs: bool) -> tuple[Aligned, Pairs]:
    """The sides that count and their pairs, which may be missing where all count, unless `all_pairs` are wanted."""
    least = LEAST_SIMILARITY if rule.pair_measure == "similarity" else None
    counting = crowds.without_crowds(Compared(aligned, rule.near(aligned)), rule, least)
    if rule.geometry.covered is not None:
        counting = counting._replace(covering=counting.covering.take(counting.covering.measure > COVERED_SHARE))
    needs_pairs = all_pairs or len(counting.covering.truth) or not counting.counts.all()
    pairs = _matched(counting.sides.aligned, rule, least) if needs_pairs else counting.covering
    left, pairs, notes = crowds.without_uncounted(counting, pairs)
    return left._replace(notes={**left.notes, **notes}), pairs


def _matched(aligned: Aligned, rule: Rule, least: float | None) -> Pairs:
    """The pairs of the assignment with the greatest sum of similarities."""
    near = rule.near_pairs(aligned, least)
    similarity = rule.in_table(near.measure)
    starts = aligned.truth.starts, aligned.predictions.starts
    order = np.lexsort((near.prediction, near.truth))
    near = near.take(order)
    return near.take(
        assignment.heaviest(Entries(near.truth, near.prediction, similarity[order], *starts, aligned.names_from(0)))
    )


class PoseNumbers(NamedTuple):
    """The poses of one side, counted in the order of images and, within an image, of the file.

    `of_row` is the pose of each row. For each image, `counts` is how many poses it has and `starts`, which is one
    longer, the first of them.
    """

    of_row: np.ndarray
    counts: np.ndarray
    starts: np.ndarray


class Keypoints(NamedTuple):
    """Two aligned sides of keypoints.

    `joints` are the names of all joints in their order. `image` is the position of each aligned frame's image, and
    `image_sequence` that of each image's sequence. Each sequence of `tracks` is of a single joint: `track_sequence` is
    the position of its real sequence, and `track_joint` that of its joint, or -1 for frames without any joint.
    `has_truth` and `has_predictions` mark the images in which a side has anybody, also if they do not count.
    """

    tracks: Tracks
    joints: list[Any]
    image: np.ndarray
    image_sequence: np.ndarray
    track_sequence: np.ndarray
    track_joint: np.ndarray
    truth: PoseNumbers
    predictions: PoseNumbers
    has_truth: np.ndarray
    has_predictions: np.ndarray

    @property
    def n_sequences(self) -> int:
        return int(self.track_sequence.max(initial=-1)) + 1

    @property
    def sequence_names(self) -> Any:
        """The names of the real sequences, in order."""
        first = np.flatnonzero(np.diff(self.track_sequence, prepend=-1))
        return self.tracks.labels["sequence"].take(first)

    def grid(self, values: np.ndarray) -> np.ndarray:
        """Values of each sequence of `tracks` as an array by sequence and joint, (sequences, joints, ...)."""
        grid = np.zeros((self.n_sequences, len(self.joints), *values.shape[1:]), values.dtype)
        of_joints = np.flatnonzero(self.track_joint >= 0)
        grid[self.track_sequence[of_joints], self.track_joint[of_joints]] = values[of_joints]
        return grid

    def per_frame(self, values: np.ndarray) -> np.ndarray:
        """The sums, by sequence and joint, of values of each aligned frame."""
        return self.grid(arrays.added_at(self.tracks.frame_sequence, values, self.tracks.n_sequences))


def number_keypoints(aligned: Aligned, identity: str, joints: list[Any], everybody: Aligned | None = None) -> Keypoints:
    """The images, joints and poses of two aligned sides of keypoints.

    `everybody` are the sides with those who do not count: ignored truths, or those outside a slice.
    """
    import pandas as pd

    tracks = identify(aligned, identity)
    image, first = arrays.grouped(arrays.frame_keys([aligned.frames])[0])
    [codes], _ = arrays.ordinals([tracks.labels["sequence"]])
    track_sequence = arrays.grouped(codes)[0]
    track_joint = pd.Index(joints).get_indexer(tracks.labels["joint"])  # -1 for null
    image_sequence = track_sequence[tracks.frame_sequence[first]]
    truth, predictions = (_poses(side, image, len(first)) for side in (aligned.truth, aligned.predictions))
    numbered = tracks, joints, image, image_sequence, track_sequence, track_joint, truth, predictions
    return Keypoints(*numbered, *_present(aligned.frames.take(first), aligned if everybody is None else everybody))


def _present(images: Columns, everybody: Aligned) -> tuple[np.ndarray, np.ndarray]:
    """Marks the images in which the truth, and those in which the predictions, have anybody."""
    wanted, known = arrays.frame_keys([images, everybody.frames])

    def marked(side: Side) -> np.ndarray:
        return arrays.locate(arrays.distinct(np.sort(known[side.counts > 0]))[0], wanted) >= 0

    return marked(everybody.truth), marked(everybody.predictions)


def _poses(side: Side, image: np.ndarray, n_images: int) -> PoseNumbers:
    """The poses of one side; `image` is the position of each aligned frame's image."""
    of_image = image[side.frame]
    [codes], span = arrays.ordinals([side.table["object"]])
    pose, first = arrays.grouped(arrays.pack([of_image, codes], [n_images, span]))
    # Within an image, poses are counted in the order of their first rows in the file.
    in_file = np.full(len(first), np.iinfo(np.int64).max)
    np.minimum.at(in_file, pose, side.row)
    order = np.lexsort((in_file, of_image[first]))
    counts = np.bincount(of_image[first], minlength=n_images)
    return PoseNumbers(np.argsort(order)[pose], counts, np.concatenate([[0], np.cumsum(counts)]))
