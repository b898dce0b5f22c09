"""match(): truth and predictions in, one row for every true positive, miss and false alarm out.

Matching follows the spotGEO metric document (eqs. 1-13 and 17). In each frame, predictions and truths are paired one to
one: as many pairs within `tau` as possible, and among those the pairs with the least sum of distances. Each row of the
match table has an outcome and two errors, so that both published scores are sums over the table:

`squared_error` (px²), of the document
    0 for a true positive at most `epsilon` away, distance² for one beyond it, tau² for every miss and false alarm.
`kelvins_error`, of the competition's server
    the plain distance of a true positive where epsilon <= distance < tau, else 0; tau² for every miss and false alarm.

Known differences between the official sources
    - The server's script (validation.py of the starter kit) adds distances where the document adds their squares, and
      the public leaderboard was ranked with it. The match table has both errors.
    - Eq. 10 of the document prints its last sum over TP. Its worked example and its text show that FP is meant.
    - The competition's web page counts distance = epsilon as distance², the document as 0. This project follows the
      document.
    - In the server's script a pair beyond tau costs 1000. Here it costs max(1000, 2 * min(N, M) * tau), which is the
      same up to 50 objects a frame at tau = 10. Beyond that, a cost of 1000 could prefer fewer pairs.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..geometries import Measure
from ..support import InputError
from ..tables import (
    Annotations,
    Columns,
    SideColumns,
    Table,
    as_numbers,
    as_side_columns,
    match_dataframe,
    messages,
    provenance,
    table_kinds,
)
from .alignment import Aligned, FrameRule
from .assignment import Entries, assign
from .choices import Assignment
from .crowds import WithoutCrowds, marks, without_crowds, without_uncounted
from .greedy import surest_first
from .layout import match_table
from .left_out import left_out
from .options import MatchOptions, match_options, rule_of_tables
from .pairs import Pairs, frame_chunks, join_pairs
from .rule import Compared, Rule, compared

if TYPE_CHECKING:
    import pandas as pd


@table_kinds.same_kind_as("truth")
def match(
    truth: Annotations | Table,
    predictions: Annotations | Table,
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
    frames: FrameRule = "truth",
) -> pd.DataFrame:
    """Matches predictions with truth, frame by frame, and returns the match table.

    If you give no tau, epsilon, similarity or threshold, the tables decide: boxes (`w` and `h` on both sides) match
    from an IoU of 0.5 on; points match by distance with tau 10 and epsilon 3; so do keypoints, each joint by itself.

    Parameters
    ----------
    truth, predictions
        Annotations, or a table of objects: of pandas, polars or pyarrow, or anything that exports an Arrow stream. Its
        columns are `sequence`, `frame`, `object`, and `x` and `y` in pixels. Boxes also have `w` and `h` in pixels, and
        their `x` and `y` are the top left corner. Keypoints have one row a joint, with a column `joint`; a joint whose
        `visibility` is 0 counts as absent. If both sides have a column `category`, only objects of equal categories
        match. Truths whose `crowd` is true count nowhere, nor do predictions without a pair that cover one: boxes with
        at least `threshold` of their own area in it, anything else near it by the rule; a crowd whose category is null
        covers every category. Truths whose `ignore` is true are matched with the rest, and then count nowhere, nor do
        the predictions that they took. The match table carries all other columns along.
    tau, epsilon
        Match by distance, in pixels, with 0 <= epsilon < tau. `tau` is the largest distance of a true positive (10 by
        default), `epsilon` the distance up to which its error is 0 (3 by default; 0 where `tau` is at most 3, or where
        `unit` is another one than "px"). Given for boxes, the distance is that of their centres.
    similarity, threshold
        Match by similarity instead: as many pairs as possible whose similarity is at least `threshold` (above 0, up to
        1; 0.5 by default), and among those the greatest sum of similarities. `similarity` is one of

        - "iou": the intersection over union of boxes, oriented boxes or masks;
        - "boundary_iou": that of the pixels of masks near their outlines (Cheng et al. 2021, Boundary IoU, CVPR);
        - "point": max(0, 1 - distance / (2 tau)), with the distance of points or of the centres of boxes;
        - "oks": the object keypoint similarity of whole poses. The truth then needs a column `area` (px²), and the
          match table has a row a pose instead of a row a joint, whose `x`, `y`, `w`, `h` are the box of the pose;
        - a function that gets two DataFrames of equal length, of the truth's kind, whose rows k are a truth and a
          prediction, and returns a similarity from 0 to 1 for each such pair. It is called with up to about 100,000
          pairs at a time.
    sigmas
        For "oks", which they mean alone, too: a dict from joint to the standard deviation of its labelled place, as a
        share of the object's size (the square root of its area). By default those of COCO's seventeen joints.
    distance, unit
        Match by a distance of your own instead of that of x and y, such as a great circle: a function that gets two
        DataFrames as a similarity does, with all columns of the truths and of the predictions, and returns a distance
        of 0 or more for each pair. It needs a `tau`; `tau` and `epsilon` are in its unit, and all columns of errors are
        as they are with pixels. A pair that cannot match has the distance infinity. `unit` is a word for texts and
        plots, such as "arcsec" or "m"; without one they name no unit.
    assignment, power
        How the pairs of a frame are chosen from those that are near:

        - "most", without a word: as many as possible, and among those the least sum of distances (or the greatest of
          similarities);
        - "least": the least sum of min(distance, tau)^power over all objects, where one without a partner costs
          tau^power / 2. GOSPA and OSPA are defined so (Rahmathullah et al. 2017, doi:10.23919/ICIF.2017.8009645;
          Schuhmacher et al. 2008, doi:10.1109/TSP.2008.920469), and come out too large of "most". A pair is then found
          only where its distance is below tau. It needs distances. `power` is 1 or more, 2 by default, and belongs to
          it. Summaries then have the columns `gospa`, `ospa`, `localisation`, `missed` and `false`;
        - "score": predictions choose in the order of their scores (equal ones in file order), each the nearest or most
          similar truth that is left, as the evaluators of COCO do; of equally near ones the last in file order, and an
          ignored truth only if no other is near. The predictions need a column `score`.
    frames
        Which frames count. "truth": the rows of the truth's frames table; predictions in any other frame raise an
        InputError. If the truth has no frames table, the frames that occur on either side count, with a warning where
        predictions have whole sequences without truth. "union": all frames that either side has, in its objects or in
        its frames table. "labelled": the frames in which the truth has rows or that its frames table lists; predictions
        elsewhere are left out.

    Returns
    -------
    DataFrame of the truth's kind (polars or pyarrow; otherwise pandas), with a row for each true positive, false
    negative and false positive, and one for each frame without any. Rows are sorted by sequence and frame; within a
    frame, truths come first in file order, then false positives in file order. The columns:

    - `sequence`, `frame`, and `joint` for keypoints;
    - `outcome`: categorical, TP, FN, FP, or `empty` for a frame without objects;
    - `distance` (px, or the `unit`), or `similarity` if you match by similarity; null unless TP;
    - `squared_error` (px², or the square of the `unit`) and `kelvins_error`: null for `empty`, and null everywhere
      if you match by similarity;
    - `gospa_error` with `assignment="least"`: the distance to the `power` for a TP, tau^power / 2 for a miss and for a
      false alarm, null for `empty`;
    - `category`, if both sides have categories: the truth's or else the prediction's, so `by="category"` gives every
      metric of every class;
    - `truth_object`, `truth_x`, ... and `predicted_object`, `predicted_x`, ...: the columns of both tables;
    - `predicted_file_order`: the position of the prediction within its frame, in file order, from 0;
    - `frame_n_truth`, `frame_n_predicted`: how many objects each side has in the frame; then the frame's attributes,
      and as `sequence_...` those of its sequence.

    Its notes hold `rule`, `version`, what the rule has of `tau`, `epsilon`, `unit`, `threshold`, `power` and, unless it
    is "most", `assignment`; if the truth has a column `crowd` or `ignore`, how many `crowds` and `ignored` truths were
    left out, and how many predictions they `explained`; with `frames="labelled"`, how many predictions were left out
    (`unlabelled`). Notes are the `attrs` of pandas, or the metadata of pyarrow. polars has no place for them, so
    functions that need tau then ask for it.

    Raises
    ------
    InputError: a column is missing or wrong, a key occurs twice, only one side has boxes and no `tau` is given, an
        argument does not fit the tables, the predictions lack the scores that they choose by, the sides share no
        sequence, or their frames do not agree.
    ValueError: tau, epsilon, similarity, threshold, distance, unit, assignment or power is out of range or does not fit
        another argument.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [0, 1], "x": [10.0, 90.0], "y": [5.0, 5.0]})
    >>> predictions = pd.DataFrame({"sequence": 1, "frame": 1, "object": [0], "x": [14.0], "y": [5.0]})
    >>> sf.match(truth, predictions)[["outcome", "distance", "squared_error"]]
      outcome  distance  squared_error
    0      TP       4.0           16.0
    1      FN       NaN          100.0

    Stars on the sky, by their great-circle distance. At a declination of 60 degrees, a degree of x is half as long:

    >>> def great_circle(truth, predictions):
    ...     (ra, dec), (ra2, dec2) = (np.radians(side[["x", "y"]].to_numpy()).T for side in (truth, predictions))
    ...     north, east = np.sin((dec2 - dec) / 2), np.sin((ra2 - ra) / 2)
    ...     return np.degrees(2 * np.arcsin(np.sqrt(north**2 + np.cos(dec) * np.cos(dec2) * east**2))) * 3600
    >>> star = pd.DataFrame({"sequence": 1, "frame": 1, "object": [0], "x": [359.9999], "y": [60.0]})
    >>> matches = sf.match(star, star.assign(x=0.0001), distance=great_circle, tau=1, unit="arcsec")
    >>> matches[["outcome", "distance", "squared_error"]].round(4)
      outcome  distance  squared_error
    0      TP      0.36         0.1296
    """
    options = match_options(tau, epsilon, similarity, threshold, sigmas, distance, unit, assignment, power)
    matches, warning = matched(truth, predictions, options, frames)
    if warning is not None:
        warnings.warn(warning, stacklevel=table_kinds.CALLER)
    return match_dataframe(matches)


def matched(
    truth: Annotations | SideColumns | Table,
    predictions: Annotations | SideColumns | Table,
    options: MatchOptions,
    frames: FrameRule = "truth",
    carried: Collection[str] | None = None,
) -> tuple[Columns, str | None]:
    """The columns of the match table by these options, and the text of a warning or None.

    `carried` names the columns to make besides the key, the outcome and the errors; None makes all. Raises InputError
    as `match` does.
    """
    sides = as_side_columns(truth, "truth"), as_side_columns(predictions, "predictions")
    return matched_by(*sides, rule_of_tables(options, *sides), frames, carried)


def matched_by(
    truth: Annotations | SideColumns,
    predictions: Annotations | SideColumns,
    rule: Rule,
    frames: FrameRule = "truth",
    carried: Collection[str] | None = None,
) -> tuple[Columns, str | None]:
    """What `matched` returns, of two checked sides by a rule that fits them."""
    sides = compared(rule, truth, predictions, frames)
    counting = without_crowds(sides, rule)
    return counted_table(counting, assigned(counting.sides, rule), rule, carried), left_out(sides.aligned, rule)


def match_sides(
    truth: Annotations | SideColumns,
    predictions: Annotations | SideColumns,
    rule: Rule,
    frames: FrameRule = "truth",
    *,
    may_be_disjoint: bool = False,
    carried: Collection[str] | None = None,
) -> Columns:
    """The columns of the match table of two checked sides, by a rule that fits them.

    A part of a dataset may have sequences of one side only; `may_be_disjoint` allows that. If you need only sums of the
    table, `carried` names the columns to make besides the key, the outcome and the errors.
    """
    counting = without_crowds(compared(rule, truth, predictions, frames, may_be_disjoint=may_be_disjoint), rule)
    return counted_table(counting, assigned(counting.sides, rule), rule, carried)


def counted_table(counting: WithoutCrowds, pairs: Pairs, rule: Rule, carried: Collection[str] | None = None) -> Columns:
    """The match table of these pairs, without what does not count."""
    aligned, pairs, notes = without_uncounted(counting, pairs)
    table = match_table(aligned, pairs, rule, carried)
    table.attrs.update(notes)
    return table


def assigned(sides: Compared, rule: Rule) -> Pairs:
    """The pairs of all frames that the assignment of least cost chooses from the near ones."""
    return join_pairs([pairs for _, _, pairs in assigned_chunks(sides, rule)])


def assigned_chunks(sides: Compared, rule: Rule) -> Iterator[tuple[int, int, Pairs]]:
    """Yields ranges of frames [first, last), one after the other, with the pairs that are chosen in each."""
    aligned = sides.aligned
    scores = scores_of(aligned) if rule.assignment == "score" else None
    for first, last in frame_chunks(aligned.truth, aligned.predictions):
        pairs = sides.near(first, last)
        rows, columns = (side.starts[first : last + 1] for side in (aligned.predictions, aligned.truth))
        if scores is not None:
            yield first, last, pairs.take(_by_score(pairs, rule, scores, (rows, columns)))
            continue
        cost, name = rule.cost(pairs.measure), aligned.names_from(first)
        entries = Entries(pairs.prediction, pairs.truth, cost, rows, columns, name)
        yield first, last, pairs.take(assign(entries, rule.far_of))


class Scores(NamedTuple):
    """The score of each prediction, and which truths are ignored."""

    score: np.ndarray
    ignored: np.ndarray


def scores_of(aligned: Aligned) -> Scores:
    """The scores that predictions choose by; raises InputError where one has none."""
    table = aligned.predictions.table
    name = provenance.source(table, "predictions")
    if "score" not in table and len(table):
        why = "assignment='score' lets predictions choose in the order of their scores"
        raise InputError(messages.missing(name, "score", table.columns, why))
    score = as_numbers(table["score"]) if len(table) else np.zeros(0)
    if np.isnan(score).any():
        counted = f"{np.count_nonzero(np.isnan(score)):,} null"
        raise InputError(f"{name}: column score: {counted}; give each prediction a score, or leave it out")
    ignored = marks(aligned.truth.table)[1]
    return Scores(score, np.zeros(len(aligned.truth.frame), bool) if ignored is None else ignored)


def _by_score(pairs: Pairs, rule: Rule, scores: Scores, starts: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Marks the pairs of some frames that predictions choose, whose rows and columns begin at `starts`."""
    (row, row_end), (column, column_end) = ((int(of[0]), int(of[-1])) for of in starts)
    counted_from = pairs._replace(prediction=pairs.prediction - row, truth=pairs.truth - column)
    of_rows, of_columns = scores.score[row:row_end], scores.ignored[column:column_end]
    return surest_first(counted_from, rule.cost(pairs.measure), of_rows, of_columns)
