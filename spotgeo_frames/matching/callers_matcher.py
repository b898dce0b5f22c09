"""match_frames(): the match table by a function of the caller's, which is asked frame by frame."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..geometries import centres
from ..support import InputError, work
from ..tables import Annotations, Table, as_side_columns, dataframe_of, match_dataframe, table_kinds
from .alignment import Aligned, FrameRule, Side
from .crowds import without_crowds
from .left_out import left_out
from .matcher import counted_table
from .near_pairs import prepared_sides
from .options import match_options, rule_of_tables
from .pairs import Pairs, join_pairs, same_category
from .rule import Rule, check_by_distance, check_middles, compared

if TYPE_CHECKING:
    import pandas as pd

# A function of two arrays of coordinates, or of two tables, that returns the positions of the paired rows in both.
Matcher = Callable[[Any, Any], tuple[Any, Any]]


@table_kinds.same_kind_as("truth")
def match_frames(
    truth: Annotations | Table,
    predictions: Annotations | Table,
    matcher: Matcher,
    tau: float | None = None,
    epsilon: float | None = None,
    *,
    frames: FrameRule = "truth",
    tables: bool = False,
) -> pd.DataFrame:
    """Matches predictions with truth by a function of your own, called frame by frame; returns the match table.

    A progress bar appears on a terminal or in Jupyter after two seconds.

    Parameters
    ----------
    truth, predictions
        Annotations, or tables of objects: `sequence`, `frame`, `object`, `x`, `y` in pixels, and any other columns,
        which the match table carries along. Boxes (`w` and `h`, px) need an explicit `tau`. Truths whose `crowd` is
        true are left out, and so are predictions without a pair that lie within `tau` of one.
    matcher
        A function `matcher(truth_xy, predicted_xy)`. It gets two float64 arrays of shapes (N, 2) and (M, 2): x and y of
        the objects of one frame in file order, the centres for boxes; neither is empty. It returns a tuple of two
        integer arrays of equal length: the positions of the paired truths and those of their predictions. Pairs farther
        apart than `tau`, or of different categories, are dropped afterwards. Without `tables`, if both sides have a
        column `category`, the function is called once for each category of a frame. It can then choose another of two
        equally good answers than `match`, which solves a frame as a whole.
    tau, epsilon
        The largest distance of a true positive (10 by default) and the distance up to which its error is 0 (3 by
        default, and 0 for a tau of 3 or less), in pixels; 0 <= epsilon < tau.
    frames
        Which frames count. "truth": the rows of the truth's frames table; predictions in any other frame raise an
        InputError. If the truth has no frames table, the frames that occur on either side count, with a warning where
        predictions have whole sequences without truth. "union": all frames that either side has, in its objects or in
        its frames table. "labelled": the frames in which the truth has rows or that its frames table lists; predictions
        elsewhere are left out.
    tables
        Whether the matcher gets whole rows in place of coordinates: two DataFrames of the truth's kind with all columns
        of one frame's objects, in file order. It can then use boxes, scores and categories.

    Returns
    -------
    DataFrame of the truth's kind (polars or pyarrow; otherwise pandas), with a row for each true positive, false
    negative and false positive, and one for each frame without any: `sequence`, `frame`, (`joint`,) `outcome` (TP, FN,
    FP or `empty`), `distance` (px, null unless TP), `squared_error` (px²) and `kelvins_error` (both null for `empty`),
    then the `truth_`, `predicted_`, `frame_` and `sequence_` columns. Rows are sorted by sequence and frame; within a
    frame, truths come first in file order, then false positives in file order.

    Raises
    ------
    InputError: a column is missing or wrong, a key occurs twice, boxes come without a `tau`, the sides' frames do not
        agree, or the matcher returned anything but such positions (the message names the frame).
    ValueError: tau or epsilon is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> objects = pd.DataFrame({"sequence": 1, "frame": 1, "object": [0, 1], "x": [10.0, 90.0], "y": [5.0, 5.0]})
    >>> sf.match_frames(objects, objects, lambda truth_xy, predicted_xy: ([0], [0]))["outcome"].tolist()
    ['TP', 'FN', 'FP']
    >>> def surest(truth, predictions):
    ...     return [0], [predictions["score"].idxmax()]
    >>> scored = objects.assign(x=10.0, score=[0.1, 0.9])
    >>> sf.match_frames(objects, scored, surest, tables=True)["predicted_score"].tolist()
    [0.9, nan, 0.1]
    """
    options = match_options(tau, epsilon)
    sides = as_side_columns(truth, "truth"), as_side_columns(predictions, "predictions")
    rule = check_by_distance(rule_of_tables(options, *sides), "match_frames")
    both = compared(rule, *sides, frames)
    warning = left_out(both.aligned, rule)
    if warning is not None:
        warnings.warn(warning, stacklevel=table_kinds.CALLER)
    counting = without_crowds(both, rule)
    aligned = counting.sides.aligned
    if not tables:
        check_middles({"truth": aligned.truth.table, "predictions": aligned.predictions.table})
    given = [_rows_given(side, tables=tables) for side in (aligned.truth, aligned.predictions)]
    measure = rule.geometry.measure
    assert measure is not None  # a rule that was just made has one
    prepared = prepared_sides(rule.geometry, aligned)
    parts = []
    groups = list(_frame_groups(aligned, by_category=not tables))
    for frame, *rows in work.progress(groups, "matching", "frame"):
        answer = matcher(*(of_side(of_frame) for of_side, of_frame in zip(given, rows, strict=True)))
        try:
            positions = _checked_answer(answer, *map(len, rows))
        except ValueError as error:
            raise InputError(f"{aligned.names_from(frame)(0)}: the matcher returned {error}") from None
        pairs = rows[0][positions[0]], rows[1][positions[1]]
        if len(pairs[0]):
            parts.append(_near(aligned, *pairs, measure(prepared[0], prepared[1], *pairs), rule))
    return match_dataframe(counted_table(counting, join_pairs(parts), rule))


def _rows_given(side: Side, *, tables: bool) -> Callable[[np.ndarray], Any]:
    """A function from rows of a side to what the matcher gets of them: whole rows, or x and y (N, 2)."""
    if not tables:
        return np.column_stack(centres(side.table)).__getitem__
    whole = dataframe_of(side.table)
    return lambda rows: whole.take(rows).reset_index(drop=True)


def _near(
    aligned: Aligned, truth_rows: np.ndarray, predicted_rows: np.ndarray, distance: np.ndarray, rule: Rule
) -> Pairs:
    """The pairs of these rows, without those that are too far apart or of different categories."""
    near = (distance <= rule.largest_cost) & same_category(aligned, predicted_rows, truth_rows)
    return Pairs(predicted_rows, truth_rows, distance).take(near)


def _frame_groups(aligned: Aligned, *, by_category: bool) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yields the frame, its truth rows and its prediction rows, for every frame (or frame and category) with both."""
    truth, predictions = aligned.truth, aligned.predictions
    for frame in np.flatnonzero((truth.counts > 0) & (predictions.counts > 0)).tolist():
        rows = [np.arange(*side.starts[[frame, frame + 1]]) for side in (truth, predictions)]
        if not by_category or truth.category is None or predictions.category is None:
            yield frame, rows[0], rows[1]
            continue
        labels = truth.category[rows[0]], predictions.category[rows[1]]
        for label in np.intersect1d(*labels):
            yield frame, rows[0][labels[0] == label], rows[1][labels[1] == label]


def _checked_answer(answer: Any, n_truth: int, n_predicted: int) -> tuple[np.ndarray, np.ndarray]:
    """The matcher's two arrays of positions; a ValueError's message continues "the matcher returned"."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise ValueError(f"a {type(answer).__name__}; a tuple of two arrays of positions is needed")
    arrays = []
    for name, positions, count in zip(("truth", "predicted"), answer, (n_truth, n_predicted), strict=True):
        array = np.asarray(positions)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise ValueError(f"{name} positions of shape {array.shape} and type {array.dtype}; integers are needed")
        array = array.astype(np.int64)
        if array.size and not (array.min() >= 0 and array.max() < count):
            raise ValueError(f"a {name} position outside 0 to {count - 1}")
        if len(np.unique(array)) < array.size:
            raise ValueError(f"a {name} position twice; each may be in one pair only")
        arrays.append(array)
    if len(arrays[0]) != len(arrays[1]):
        raise ValueError(
            f"{len(arrays[0])} truth and {len(arrays[1])} predicted positions; equally many of both are needed"
        )
    return arrays[0], arrays[1]
