"""match(): truth and predictions in, one row for every true positive, false negative and false positive out.

The rules are those of the spotGEO metric document (eqs. 1-13 and 17): per frame, predictions and truths are paired
one to one, as many pairs within `tau` as possible and among those the least sum of distances. The match table holds,
next to the outcome, two errors a row, so that both published scores are sums of it:

`squared_error` (px²), the document's
    0 for a true positive at most `epsilon` away, distance² for one beyond it, tau² for every miss and false alarm.
`kelvins_error`, the competition server's
    the plain distance of a true positive where epsilon <= distance < tau, else 0; tau² for every miss and false alarm.

Known differences from the official evaluators
    - The server's script (validation.py of the starter kit) adds distances where the document squares them, and the
      public leaderboard was ranked with it. Both are kept.
    - Eq. 10 of the document prints its last sum over TP; its worked example and text show that FP is meant.
    - The competition's web page counts distance = epsilon as distance², the document as 0. The document is followed.
    - The server's script puts far pairs at 1000. Here they cost max(1000, 2 * min(N, M) * tau), the same up to 50
      objects a frame at tau = 10, beyond which 1000 would no longer keep the number of pairs the first aim.
"""

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..support.errors import InputError
from ..support.progress import progress
from ..tables.annotations import Annotations, as_annotations
from ..tables.arrow import Table
from .alignment import Aligned, FrameRule, align, at_centres
from .assignment import Entries, assign
from .layout import match_table
from .pairs import Pairs, frame_chunks, join_pairs
from .rule import Compared, Rule, check_by_distance, compared
from .similar_pairs import flat_boxes
from .similarity import Measure, difference, point_distance
from .words import asked, rule_of_tables

Matcher = Callable[[np.ndarray, np.ndarray], tuple[Any, Any]]


def match(
    truth: Annotations | Table,
    predictions: Annotations | Table,
    tau: float | None = None,
    epsilon: float | None = None,
    *,
    similarity: str | Measure | None = None,
    threshold: float | None = None,
    sigmas: Mapping[Any, float] | None = None,
    frames: FrameRule = "truth",
) -> pd.DataFrame:
    """Matches predictions with truth, frame by frame, and returns the match table.

    Without a word on how, boxes (`w` and `h` on both sides) are matched by IoU from 0.5 on, and everything else by
    distance, with tau 10 and epsilon 3; keypoints joint by joint.

    Parameters
    ----------
    truth, predictions
        Annotations, or a table of objects (pandas, or anything that exports an Arrow stream): `sequence`, `frame`,
        `object`, `x`, `y` in pixels (`w`, `h` for boxes, `x` and `y` being the top left corner), and any other columns,
        which are carried along. With `category` on both sides only equal categories match; with `joint`, each joint is
        matched by itself, and those whose `visibility` is 0 are not there.
    tau, epsilon
        Match by distance: the largest distance of a true positive (10 by default), and the tolerance up to which its
        error is 0 (3 by default), in pixels; 0 <= epsilon < tau. The distance of boxes is that of their centres.
    similarity, threshold
        Match by similarity instead: as many pairs as possible whose similarity is `threshold` or more (above 0, up to
        1; 0.5 by default), and among those the greatest sum. "iou" is the intersection over union of boxes; "point" is
        max(0, 1 - distance / (2 tau)); "oks" is the object keypoint similarity of whole poses: rows are then objects,
        not joints, `x`, `y`, `w`, `h` their boxes, and truth needs `area` (px²). A function gets two DataFrames of
        equal length, rows of truth and of predictions that are pairs, at most some 100,000 at a time, and returns a
        similarity for each, 0 to 1.
    sigmas
        For "oks", a dict of joints and their deviations as shares of the object's size; COCO's seventeen are known.
    frames
        "truth": the frames are those of the truth's frames table, and predictions elsewhere are refused; without
        such a table they are those that occur on either side. "union": those that either side names.

    Returns
    -------
    DataFrame with `sequence`, `frame`, (`joint`,) `outcome` (TP, FN, FP, or `empty` for a frame without any),
    `distance` (px, null unless TP; `similarity` where matching was by that), `squared_error` (px²), `kelvins_error`
    (both null where matching was by similarity), then `truth_object`, `truth_x`, ..., `predicted_object`,
    `predicted_x`, ..., `predicted_file_order` (the prediction's position in its frame, in file order), `frame_n_truth`,
    `frame_n_predicted` and the frame's attributes. Sorted by sequence and frame, then truths in file order, then false
    positives in file order. Its `attrs` hold `rule` and `version`, `tau` and `epsilon` or `threshold` (for "point" also
    `tau`).

    Raises
    ------
    InputError: a table is not right, boxes are on one side only, a word does not fit the geometry, the sides share no
        sequence, or their frames do not agree.
    ValueError: tau, epsilon, similarity or threshold out of range, or one that does not fit another.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [0, 1], "x": [10.0, 90.0], "y": [5.0, 5.0]})
    >>> predictions = pd.DataFrame({"sequence": 1, "frame": 1, "object": [0], "x": [14.0], "y": [5.0]})
    >>> sf.match(truth, predictions)[["outcome", "distance", "squared_error"]]
      outcome  distance  squared_error
    0      TP       4.0           16.0
    1      FN       NaN          100.0
    """
    words = asked(tau, epsilon, similarity, threshold, sigmas)
    sides = as_annotations(truth, "truth"), as_annotations(predictions, "predictions")
    rule = rule_of_tables(words, *sides)
    matches = match_annotations(*sides, rule, frames)
    warning = flat_boxes(sides[0].objects, sides[1].objects) if rule.name == "iou" else None
    if warning is not None:
        warnings.warn(warning, stacklevel=2)
    return matches


def match_annotations(
    truth: Annotations,
    predictions: Annotations,
    rule: Rule,
    frames: FrameRule = "truth",
    *,
    may_be_disjoint: bool = False,
    carried: Collection[str] | None = None,
) -> pd.DataFrame:
    """What `match` returns, of checked sides and by a rule that fits them.

    A part of a dataset may be disjoint: it has sequences of one side only. Where only sums are wanted of the table, its
    columns can be restricted to those that are `carried`, besides the key, the outcome and the errors.
    """
    found = compared(rule, truth, predictions, frames, may_be_disjoint=may_be_disjoint)
    return match_table(found.aligned, _assigned(found, rule), rule, carried)


def _assigned(found: Compared, rule: Rule) -> Pairs:
    """The assigned ones of the near pairs of all frames, by the least cost of their measures."""
    aligned = found.aligned
    parts = []
    for first, last in frame_chunks(aligned.truth, aligned.predictions):
        pairs = found.near(first, last)
        starts = (side.starts[first : last + 1] for side in (aligned.predictions, aligned.truth))
        entries = Entries(pairs.prediction, pairs.truth, rule.cost(pairs.measure), *starts)
        parts.append(pairs.take(assign(entries, rule.largest_cost)))
    return join_pairs(parts)


def match_frames(
    truth: Annotations | Table,
    predictions: Annotations | Table,
    matcher: Matcher,
    tau: float | None = None,
    epsilon: float | None = None,
    *,
    frames: FrameRule = "truth",
) -> pd.DataFrame:
    """The match table from the caller's own matcher, called frame by frame.

    `matcher(truth_xy, predicted_xy)` gets two float64 arrays (N, 2) and (M, 2) of one frame in file order, neither
    empty, and returns two integer arrays of equal length: the positions of the paired truths and of their
    predictions. Pairs farther apart than `tau` are dropped afterwards. Where both sides have categories it is called
    for each category of a frame; between equally good answers it can then take another than `match`, which solves the
    frame as a whole. Boxes need an explicit `tau`, and the matcher gets their centres. A progress bar appears when it
    takes more than two seconds.

    Parameters
    ----------
    truth, predictions
        Annotations, or tables of objects: `sequence`, `frame`, `object`, `x`, `y` in pixels, and any other columns.
    matcher
        The function to call.
    tau, epsilon
        The largest distance of a true positive (10 by default), and the tolerance up to which its error is 0 (3 by
        default), in pixels.
    frames
        "truth": the frames are those of the truth's frames table, or else those that occur on either side; "union":
        those that either side names.

    Returns
    -------
    DataFrame with the columns and the order of rows of a match table by distance.

    Raises
    ------
    InputError: a table is not right, boxes without a `tau`, or the matcher returned anything else than such positions
        (the message names the frame).
    ValueError: tau or epsilon out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> objects = pd.DataFrame({"sequence": 1, "frame": 1, "object": [0, 1], "x": [10.0, 90.0], "y": [5.0, 5.0]})
    >>> sf.match_frames(objects, objects, lambda truth_xy, predicted_xy: ([0], [0]))["outcome"].tolist()
    ['TP', 'FN', 'FP']
    """
    words = asked(tau, epsilon)
    sides = as_annotations(truth, "truth"), as_annotations(predictions, "predictions")
    rule = check_by_distance(rule_of_tables(words, *sides), "match_frames")
    aligned = at_centres(align(*sides, frames))
    truth_xy, predicted_xy = (np.column_stack(side.xy) for side in (aligned.truth, aligned.predictions))
    parts = []
    groups = list(_frame_groups(aligned))
    for frame, truth_rows, predicted_rows in progress(groups, "matching", "frame"):
        answer = matcher(truth_xy[truth_rows], predicted_xy[predicted_rows])
        try:
            positions = _checked_answer(answer, len(truth_rows), len(predicted_rows))
        except ValueError as error:
            sequence, number = aligned.frames.loc[frame, ["sequence", "frame"]]
            raise InputError(f"sequence {sequence}, frame {number}: the matcher returned {error}") from None
        rows = truth_rows[positions[0]], predicted_rows[positions[1]]
        distance = point_distance(*difference(predicted_xy[rows[1]], truth_xy[rows[0]]).T)
        parts.append(Pairs(rows[1], rows[0], distance).take(distance <= rule.largest_cost))
    return match_table(aligned, join_pairs(parts), rule)


def _frame_groups(aligned: Aligned) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Frame, truth rows and prediction rows of every frame, or frame and category, that has both."""
    truth, predictions = aligned.truth, aligned.predictions
    for frame in np.flatnonzero((truth.counts > 0) & (predictions.counts > 0)).tolist():
        rows = [np.arange(*side.starts[[frame, frame + 1]]) for side in (truth, predictions)]
        if truth.category is None or predictions.category is None:
            yield frame, rows[0], rows[1]
            continue
        labels = truth.category[rows[0]], predictions.category[rows[1]]
        for label in np.intersect1d(*labels):
            yield frame, rows[0][labels[0] == label], rows[1][labels[1] == label]


def _checked_answer(answer: Any, n_truth: int, n_predicted: int) -> tuple[np.ndarray, np.ndarray]:
    """The matcher's two arrays; the message of the ValueError says what it returned instead."""
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
            raise ValueError(f"a {name} position twice; pairs have to be one to one")
        arrays.append(array)
    if len(arrays[0]) != len(arrays[1]):
        raise ValueError(f"{len(arrays[0])} truth and {len(arrays[1])} predicted positions; as many are needed")
    return arrays[0], arrays[1]
