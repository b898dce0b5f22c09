"""check(): searches a submission for common mistakes, mostly by correcting each one and computing F1 again.

A mistake of coordinates, numbering or joints is suspected if its correction raises F1 by at least GAIN, and by at least
a quarter of the distance to the highest F1 that as many objects can have, or to twice its value, and if enough objects
gain hits (`evidence` has the least counts). Chance does not gain that much. Of these mistakes only the one that gains
most is told (`searches`). Others show in the tables or have signs of their own:

    named differently          a category or joint is not the truth's, but would be with other case or without spaces
    categories exchanged       most predictions of one lie where objects of another are, and the reverse
    visibility is misread      many joints of the truth are at 0, 0 and count, or its visibility goes below 0
    half a pixel or one off    the mean offset of the true positives is at least 0.35 px, and its interval excludes 0
    an offset in the sky       it is a twentieth of tau or more, makes half of the mean squared distance, and is sure
    a scale, some sequences    these explain the offsets better
    frames too low or high     predictions are far nearer to the truths of another frame, and F1 is as high there
    a pixel too large          the errors of widths and heights are 1 px on average, surely not 0, and rather the same
                               for all boxes than a share of their size
    exchanged                  only the truth has scores; or nearly every sequence has its own count of predictions, the
                               same in all its frames, as real objects do, while the counts of truths vary
    listed twice               several predictions of a frame lie at the same place
    found several times        far more predictions lie near another one than farther off, which is not so of truths
    capped                     most frames with more truths than any frame has predictions have exactly the largest
                               count of predictions
    crowded frames             as many pairs as possible are clearly more than those of the least sum of distances, so
                               F1 and GOSPA depend on the assignment
    sequences without truth    the predictions have whole sequences in which the truth has nothing
    sequences missing          so many sequences without predictions are no chance
    no class is the truth's    both sides have categories, and none in common
    no frame with both         sequences are shared, and no frame has both truths and predictions
    marked predictions         predictions are crowds or ignored, which only truths can be
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...geometries import Measure, geometry_of
from ...matching import Assignment, FrameRule, alignment, match_options, matcher, options_with_tracks, rule_of_tables
from ...support import InputError, pandas_tables
from ...tables import Annotations, Table, as_annotations, match_dataframe, table_kinds
from ..thresholds import rule_with_identities
from .assignment_signs import assignments_differ
from .corrections import GAIN
from .identity_signs import identity_mistakes
from .offset_signs import larger, late, offset, offset_in_unit
from .scores import Case, Suspicion, score
from .searches import corrected_mistakes
from .signs import (
    capped,
    exchanged,
    lacking,
    marked,
    no_class_shared,
    nothing_shared,
    several_times,
    twice,
    without_truth,
)


@table_kinds.same_kind_as("truth")
def check(
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
    tracks: bool = False,
) -> pd.DataFrame:
    """Searches a submission for common mistakes.

    The mistakes are: x and y swapped, an axis counted from the other edge, frames or sequences numbered too low or too
    high, coordinates halved, doubled, scaled by another factor or normalised to 0 to 1, an offset, truth and
    predictions exchanged, sequences exchanged with each other, named differently, missing or without any truth, no
    frame that both sides have, predictions marked as `crowd` or `ignore`, objects listed twice or found several times,
    and a cap on the count of predictions in a frame. Of boxes also: the centre instead of the top left corner, the far
    corner instead of the size, width and height swapped, and sizes that are a pixel too large or too small. Of masks:
    an image that is stored row by row, transposed, upside down, mirrored, of another size than the truth's, or with
    `mask_h` and `mask_w` swapped. Of oriented boxes: an angle in radians, that turns the other way or is counted from
    the y axis, corners or half sizes in place of middles and sizes, and two columns swapped. Of the sky: ra and dec
    swapped, in radians, ra in hours, growing to the west or multiplied by the cosine of dec, dec with the other sign,
    and an offset. Of joints also: left and right swapped, an order shifted by one, and a visibility that is misread. Of
    categories: numbers one too low or too high, names with other case or spaces, names exchanged with each other, and
    none that both sides have. Of tracks also: identities, of either side, that are new in every frame, that only count
    the rows of each frame, or that are the same for all objects of a sequence. Whether identities begin anew in each
    sequence or not is no mistake, since an identity belongs to its sequence.

    Where several corrections raise F1, the one that raises it most is told; one that is fitted, such as an offset, has
    to raise it more than one that is not. What F1 loses by a mistake that is told is no sign of another one. A mistake
    of some sequences only is told with their count, if F1 is far lower in them, or their offset or frames differ.

    Where frames are crowded, it also tells how much the assignments "most" and "least" differ, which is no mistake.

    Few objects are little evidence: a correction has to gain hits for five objects (people, of joints), and exchanged
    sides or an offset show in 20 sequences or more.

    Frames and sequences of the two sides need not agree. A mistake that may be the consequence of another one is
    searched for only if the other one is not suspected.

    Parameters
    ----------
    truth, predictions
        Annotations, or tables of objects, boxes or keypoints: `sequence`, `frame`, `object`, `x`, `y` in pixels, and
        the columns that the rule needs.
    tau, epsilon, similarity, threshold, sigmas, distance, unit, assignment, power
        The rule to match by, as `match` takes it. Without any, points and joints are matched by distance with tau
        10 and epsilon 3 (px), and boxes from an IoU of 0.5 on. With a `distance` of yours, unless its `unit` is
        "px", the mistakes that are told by pixels are not searched for: a mean offset, sizes a pixel off, and objects
        listed twice.
    frames
        "labelled" leaves out predictions that lie in no frame of the truth: where the truth has no rows, and its frames
        table does not list the frame. "truth" and "union" leave out none here.
    tracks
        Whether `object` is an identity that follows an object through its sequence. Then `similarity` or `distance`,
        and `tau`, are all that apply, as in `track`; joints match as in `pose`, and none applies.

    Returns
    -------
    DataFrame of the truth's kind with one row for each suspected mistake, the one with the largest loss of f1 first:
    `suspicion` (text), `f1` as it is, `f1_corrected` after the mistake is corrected (null where that cannot be
    computed), and `advice` (text). No rows where nothing is suspicious. Mistakes of identities do not change f1; their
    advice says what shows them.

    Raises
    ------
    InputError: a table lacks a column or has invalid values, the options do not fit the tables, or `sequence` is of
        different types on the two sides.
    ValueError: a word of the rule is out of range or does not fit another.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_spotgeo("data/sample/truth.json")
    >>> swapped = truth.objects.rename(columns={"x": "y", "y": "x"})
    >>> sf.check(truth, swapped)["suspicion"].tolist()
    ['x and y are swapped']
    """
    options = (options_with_tracks if tracks else match_options)(
        tau, epsilon, similarity, threshold, sigmas, distance, unit, assignment, power
    )
    known, found = as_annotations(truth, "truth"), as_annotations(predictions, "predictions")
    alignment.check_frame_rule(frames)
    rule = (rule_with_identities if tracks else rule_of_tables)(options, known, Annotations(found.objects))
    if len(known.objects) and len(found.objects) and known.objects["sequence"].dtype != found.objects["sequence"].dtype:
        kinds = [side.objects["sequence"].dtype for side in (found, known)]
        raise InputError(
            f"check: column sequence is {kinds[0]} in the predictions and {kinds[1]} in the truth; make them the same"
        )
    predictions = (alignment.labelled_only(known, found)[0] if frames == "labelled" else found).objects
    case = Case(known, predictions, rule, tracks, score(known, predictions, rule))
    searched = len(known.objects) and len(predictions)
    suspicions = list(corrected_mistakes(case)) if searched else []
    # Wrong coordinates, wrong numbering and an exchange also show the signs of the mistakes further down.
    for sign in (nothing_shared, exchanged, no_class_shared):
        suspicions = suspicions or list(sign(case))
    if not suspicions:
        suspicions = [*without_truth(case), *lacking(case), *marked(case)]
        suspicions += [*(identity_mistakes(case) if tracks else ()), *_small_signs(case)]
    suspicions.sort(key=lambda row: row.f1 - np.nan_to_num(row.f1_corrected, nan=row.f1))
    answer = pd.DataFrame(suspicions, columns=list(Suspicion._fields))
    answer = answer.astype(
        {"suspicion": pandas_tables.TEXT, "f1": "float64", "f1_corrected": "float64", "advice": pandas_tables.TEXT}
    )
    answer.attrs = rule.notes
    return answer


def _small_signs(case: Case) -> Iterator[Suspicion]:
    """The mistakes that leave most of F1: of a pixel or less, of objects listed twice and of a cap."""
    rule, now = case.rule, case.now
    # Of a caller's distance, only its unit tells whether x and y are pixels.
    in_pixels = rule.unit in (None, "px")
    geometry = geometry_of(case.predictions)
    if now.f1 >= GAIN and geometry.can_move and (in_pixels or geometry.unit == rule.unit):
        matches = match_dataframe(matcher.counted_table(now.counting, now.pairs, rule))
        if in_pixels:
            yield from list(larger(case, matches)) or list(late(case)) or offset(case, matches)
        else:
            yield from offset_in_unit(case, matches)
    if in_pixels:
        yield from list(twice(case)) or several_times(case)
    yield from capped(case)
    yield from assignments_differ(case)
