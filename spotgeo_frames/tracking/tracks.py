"""track(): HOTA, CLEAR and Identity of tracks, with the tables behind the sums.

The values are those of trackeval 1.3.0, fill values included. An identity belongs to its sequence: the same name in two
sequences means two objects. Known differences from the official evaluator

    - The similarity of points, and by a distance of the caller's, is max(0, 1 - distance / (2 tau)), so tau is the
      largest distance that CLEAR and Identity count. In trackeval, the similarity falls to 0 at 2.0 by default, in
      metres, for MOT15-3D.
    - If both sides have a column `category`, only objects of equal categories are similar, and all classes are
      evaluated together. trackeval evaluates one class at a time, as `by="category"` does.
    - The classes are those that occur on either side, and those that the truth's table of categories lists. trackeval
      averages all classes of a benchmark; `read_benchmark` lists them.
    - Identities may be strings or negative integers. trackeval takes negative ones for positions from the end.

Metrics iterate over the similar pairs several times, chunk by chunk.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..geometries import Measure
from ..matching import (
    SIMILAR_AT_ONCE,
    Aligned,
    FrameRule,
    MatchOptions,
    Pairs,
    Rule,
    alignment,
    frame_chunks,
    header_of,
    join_pairs,
    left_out,
    track_options,
    track_rule,
)
from ..scoring import Evaluable, Sums, official, sequence_sums
from ..support import InputError, memory, work
from ..tables import (
    Annotations,
    By,
    SideColumns,
    Table,
    as_side_columns,
    messages,
    provenance,
    table_kinds,
)
from . import conditions
from .identities import Tracks, identify
from .metrics.clear import LEAST_SIMILARITY, THRESHOLD, ClearPairs, clear_pairs, clear_parts
from .metrics.hota import hota_pairs, hota_parts
from .metrics.identity import identity_parts
from .on_request import families_of, parts_of
from .registry import TRACK_METRICS, headlines
from .track_sums import TRACKS, sums_table, tracks_with
from .track_tables import predicted_objects, track_curve, track_matches, track_summary, truth_objects

if TYPE_CHECKING:
    import pandas as pd

# The metrics that a notebook shows of a result before all others.
FIRST = ("HOTA", "DetA", "AssA", "MOTA", "IDF1", "IDSW", "TP", "FN", "FP")

# Similar pairs that are kept, 24 bytes each.
MOST_KEPT = 1 << 25

# The memory that a similar pair takes in addition while its tracks are evaluated, measured where all pairs of a frame
# are similar (bytes).
PAIR_BYTES = 220


class TrackResult(NamedTuple):
    """The result of `track`: six DataFrames, each a field of this NamedTuple.

    Attributes
    ----------
    summary
        One row a sequence with the metrics of HOTA, CLEAR and Identity; in the last row, of all, `sequence` is null.
        With `by="category"`, one row a sequence and class, then one row a class, then two of all classes; by condition,
        one row a sequence and slice, then one row a slice.
    curve
        One row a sequence (null: all) and `alpha`: HOTA's metrics, and `TP`, `FN`, `FP` at this threshold.
    matches
        The match table of CLEAR, with the columns `event` and `fragmentation`.
    truth_objects
        One row a true object: how much of it was tracked.
    predicted_objects
        One row a predicted object: how much of it was right.
    sums
        One row a sequence: its sums, from which all metrics follow, and which add up over sequences.

    Shown as text, it begins with the combined HOTA, MOTA and IDF1.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> result = sf.track(*sf.read_motchallenge("data/tracks/truth", "data/tracks/tracker"))
    >>> str(result).splitlines()[1].strip()
    'HOTA 0.7238, MOTA 0.878, IDF1 0.8445'
    >>> result.truth_objects["tracked_share"].min().round(2)
    np.float64(0.79)
    """

    summary: pd.DataFrame
    curve: pd.DataFrame
    matches: pd.DataFrame
    truth_objects: pd.DataFrame
    predicted_objects: pd.DataFrame
    sums: pd.DataFrame

    @property
    def provenance(self) -> str:
        """Which official numbers these are, or what keeps them from being official."""
        from ..tables import arrow  # imported here, because it needs pandas

        # The match table notes what the numbers of the summary do not: classes that were evaluated together.
        return official.of_tracks(arrow.notes_of(self.matches) if arrow.notes_of(self.summary) else {})

    def __repr__(self) -> str:
        from ..support import result_views

        return result_views.result_as_text(self, self._headline())

    def _repr_html_(self) -> str | None:
        from ..support import result_views
        from .track_tables import hota_over_alpha

        slices = conditions.labels_of(self.matches)
        columns = ["average", *slices, "category", "sequence", *FIRST]
        front = result_views.Front("summary", columns, ["category", "sequence"], TRACK_METRICS.get)
        return result_views.result_as_html(self, self._headline(), [front], hota_over_alpha(self.curve))

    def _headline(self) -> list[str]:
        from ..support import result_views

        null = ["sequence", "category"]
        names = ["average", *conditions.labels_of(self.matches), *headlines([TRACK_METRICS])]
        return [*result_views.headline(self.summary, names, null=null), *official.lines(self.provenance)]


@sequence_sums.evaluable.register(TrackResult)
def _(x: TrackResult, name: str) -> Evaluable:
    from .results import evaluable_tracks  # imported here, because track() needs no pandas before it makes tables

    return evaluable_tracks(x.sums, x.matches, name)


@table_kinds.same_kind_as("truth")
def track(
    truth: Annotations | Table,
    predictions: Annotations | Table,
    similarity: str | Measure | None = None,
    identity: str = "object",
    *,
    tau: float | None = None,
    distance: Measure | None = None,
    unit: str | None = None,
    by: By | None = None,
    where: Mapping[str, Any] | None = None,
    frames: FrameRule = "truth",
    metrics: str | Iterable[str] | None = None,
) -> TrackResult:
    """Evaluates tracks: HOTA, CLEAR and Identity.

    Parameters
    ----------
    truth, predictions
        Annotations, or tables of objects (of pandas, polars or pyarrow, or what exports an Arrow stream): `sequence`,
        `frame`, `object`, `x`, `y` in pixels, and any other columns. Boxes also have `w` and `h` in pixels, and their
        `x` and `y` are the top left corner. If both sides have a column `category`, only objects of equal categories
        match. Truths whose `crowd` is true count nowhere, nor do predictions without a truth of which more than half
        lies in one, as in KITTI's kit (points: that lie within tau of one). Truths whose `ignore` is true are matched
        with the rest, from a similarity of 0.5 on, and then count nowhere, nor do the predictions that they took, as
        distractors in MOTChallenge's kit.
    similarity
        "iou" for boxes; "point" for max(0, 1 - distance / (2 tau)), with the distance of points or of the centres of
        boxes; or a function that gets two DataFrames of equal length, of the truth's kind, whose rows k are a truth and
        a prediction, and returns a similarity from 0 to 1 for each such pair. By default "iou" if both sides have `w`
        and `h`, and otherwise "point".
    identity
        The column that names an object through its sequence. A side that lacks the column uses `object`. Do not use
        `object` if it only counts the rows within each frame: the metrics would mean nothing.
    tau
        The largest distance (px) at which CLEAR and Identity count a pair of points, 10 by default. Given for boxes, it
        means that their centres are compared.
    distance, unit
        A distance of your own instead of that of x and y, for the similarity max(0, 1 - distance / (2 tau)): a function
        that gets two DataFrames as a similarity does, and returns a distance of 0 or more for each pair. It needs a
        `tau`, which is in its unit. `unit` is a word for texts and plots, such as "arcsec".
    by
        None, "category", or conditions. "category": each class is evaluated by itself, as trackeval does, and then the
        classes are averaged. Both sides need a column `category`. An object whose category changes is an object of
        each.

        Conditions are names of columns as match tables have them: `truth_<column>`, `frame_<column>`,
        `frame_n_truth`, `frame_n_predicted` or `sequence_<column>`. Give one, a list of them, which are crossed, or a
        dict from names to a count of quantile bins, to the edges of bins, or to None for the values as they are. For
        each value of a column of the truth, all other truths are ignored, as distractors in MOTChallenge's kit: they
        are matched with the rest, from a similarity of 0.5 on, and leave with the predictions that they took.
        Predictions near no truth count in every slice; the note `near_no_truth` says how many there are. A value of
        frames or sequences leaves these frames alone. Truths without a value are in no slice. After `where`,
        `frame_n_truth` counts the truths that are left.
    where
        A dict from such columns to a value, a list of values, or a `pandas.Interval`: this one condition is evaluated,
        as {"truth_size": "tall"} or {"truth_h": pd.Interval(50, math.inf)}. `by` then divides what is left. A warning
        says so if nothing meets it.
    frames
        Which frames count. "truth": the rows of the truth's frames table; predictions in any other frame raise an
        InputError. If the truth has no frames table, the frames that occur on either side count, with a warning where
        predictions have whole sequences without truth. "union": all frames that either side has. "labelled": the frames
        in which the truth has rows or that its frames table lists; predictions elsewhere are left out.
    metrics
        Further metrics, which take extra time; None for none. They are columns of the summary, and `summarize`,
        `intervals`, `compare` and `leaderboard` know them. Each of these names brings its whole family, and so does the
        name of any metric of it:

        - "siap": `completeness`, `ambiguity`, `spuriousness`, `positional_accuracy` (px; only where distances are
          compared), `longest_track_segment` and `rate_of_number_changes`, as Stone Soup defines them. In each frame, a
          prediction is associated with the truth that is nearest to it within tau (of boxes, most similar, from an IoU
          of 0.5 on). Null where there is nothing to divide by.
        - "vace": `ATA` and `SFDA`, as trackeval has them; null without tracks, and without objects.
        - "ideucl": `IDEucl`, as trackeval has it. It is the mean over sequences, and 0 for those without truths or
          without predictions.
        - "ospa2_10": `ospa2_10`, OSPA(2) over windows of 10 frames, or of any other count, by orders of 1 and with tau
          as the cutoff (px); only where distances are compared.

    Returns
    -------
    TrackResult of six DataFrames of the truth's kind (polars or pyarrow; otherwise pandas), with trackeval's fill
    values: shares with nothing to divide by are 0, LocA is 1.

    summary: one row a sequence, then a row of all combined, whose `sequence` is null. `summary.iloc[-1]` is the
        combined row; `summary.dropna(subset="sequence")` are the others. Columns: `HOTA`, `DetA`, `AssA`, `DetRe`,
        `DetPr`, `AssRe`, `AssPr`, `LocA` (means over alpha = 0.05, 0.10 ... 0.95); of CLEAR `MOTA`, `MOTP`, `MODA`,
        `IDSW`, `Frag`, `MT`, `PT`, `ML`, `TP`, `FN`, `FP`; `IDF1`, `IDP`, `IDR`, `IDTP`, `IDFN`, `IDFP`; the other
        columns of trackeval, `OWTA`, `HOTA(0)`, `LocA(0)` (at alpha 0.05), `sMOTA`, `MOTAL`, `CLR_F1`, `CLR_Re`,
        `CLR_Pr`, `FP_per_frame`, `MTR`, `PTR`, `MLR`; of the PoseTrack21 kit, `FragA`, `FA-HOTA`, `FA-RHOTA`, which
        fall further where a truth goes to another track and back, and `HOTALocA(0)`; and `n_frames`, `n_truth`,
        `n_predicted`, `n_truth_objects`, `n_predicted_objects`. Those of `metrics` follow.
    curve: one row a sequence (null: combined) and `alpha`: HOTA's metrics, `OWTA`, `FragA`, `FA-HOTA` and `FA-RHOTA`,
        and `TP`, `FN`, `FP` there.
    matches: the match table of CLEAR, by `similarity`. After `outcome` it has `event` ("match", "switch", "miss" or
        "false positive") and `fragmentation` (whether a truth is matched again after a gap).
    truth_objects: one row a true object: `sequence`, `object` (its `identity`), `n_frames`, `n_matched` (in how many of
        these it is matched), `tracked_share`, `n_switches`, `n_fragmentations`, `coverage` ("MT", "PT" or "ML").
    predicted_objects: one row a predicted object: `sequence`, `object`, `n_frames`, `n_matched`, `matched_share`,
        `n_truth_objects` (with how many true objects it is matched), `n_switches` (how often it takes over a truth from
        another predicted object).
    sums: one row a sequence, also called `sequence`, with the attributes of the sequence (`sequence_<column>`): counts
        and other sums, from which all metrics follow; HOTA's have a column for each alpha, such as `hota_tp_0.05`.
        `summarize`, `intervals`, `compare` and `leaderboard` add them up.

    With `by="category"`, all tables have a column `category`. summary, curve and sums have a row a sequence and class,
    for every class that occurs on either side in any sequence, or that the truth's `categories` list; `sums` has their
    attributes (`category_<column>`), by which `summarize` groups classes. In a sequence without the class, metrics have
    their fill values. In summary and curve, the row of each class over all sequences follows (`sequence` null), and
    then two rows of all classes, whose `category` is null, too. Their column `average`, null in all other rows, says
    how the classes are combined:

    - "class": metrics are the mean of those of the classes (trackeval's `combine_classes_class_averaged`); counts are
      added;
    - "detection", the last row: metrics follow from the added sums of the classes (`combine_classes_det_averaged`), so
      a class weighs as much as it has detections.

    `n_frames` counts all frames of the sequences, also those without the class, and in the two rows of all classes each
    frame once a class. `summarize`, `intervals` and `compare` take `by="category"` of such a result; without it, they
    give what is in the last row.

    With conditions, all tables have their columns, after `sequence`: a row a sequence and slice where there was one
    row a sequence, then one row a slice for all sequences together (`sequence` null). In `matches` they are called
    `by_<condition>`, such as `by_truth_size`, and its own columns stay as they are. Slices share predictions, so there
    is no row of all slices, and `summarize`, `intervals` and `compare` of such a result need all conditions in `by`.

    Raises
    ------
    InputError: a column is missing or wrong, only one side has boxes and no `tau` is given, an identity occurs twice in
        a frame, the sides share no sequence, their frames do not agree, `by` names a column that is no condition or has
        no value, or a family of `metrics` does not fit what is compared.
    ValueError: similarity, tau, distance or unit is out of range or does not fit another argument, or `metrics` has an
        unknown name.

    Notes
    -----
    HOTA: Luiten et al., IJCV 2021, doi:10.1007/s11263-020-01375-2; at each alpha, HOTA = sqrt(DetA AssA). CLEAR:
    Bernardin and Stiefelhagen 2008, doi:10.1155/2008/246309; MOTA = 1 - (FN + FP + IDSW) / (TP + FN). Identity: Ristani
    et al. 2016, doi:10.1007/978-3-319-48881-3_2; IDF1 = 2 IDTP / (2 IDTP + IDFN + IDFP). SIAP: Votruba et al., "Single
    Integrated Air Picture (SIAP) Metrics Implementation", 2001. VACE: Manohar et al. 2006, doi:10.1007/11612704_16.
    OSPA(2): Beard, Vo and Vo 2020, IEEE Trans. Signal Process. 68, 2754-2769.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3], "object": 7, "x": [0.0, 5.0, 9.0], "y": 0.0})
    >>> predictions = truth.assign(object=[1, 1, 2])  # the identity changes in the last frame
    >>> result = sf.track(truth, predictions)
    >>> result.summary[["sequence", "MOTA", "IDSW", "IDF1", "n_frames"]].round(3)
       sequence   MOTA  IDSW   IDF1  n_frames
    0         1  0.667     1  0.667         3
    1      <NA>  0.667     1  0.667         3

    Further metrics: the truth needs two predicted tracks, and the longer one is with it for 1 of 2 frames.

    >>> further = sf.track(truth, predictions, metrics=["siap", "vace"]).summary
    >>> further[["completeness", "longest_track_segment", "ATA"]].iloc[-1].round(3).to_dict()
    {'completeness': 1.0, 'longest_track_segment': 0.5, 'ATA': 0.444}

    By class: the car above, and a bus that nobody predicts. By detections, the bus weighs a quarter.

    >>> cars = truth.assign(category="car")
    >>> objects = pd.concat([cars, cars[:1].assign(object=8, category="bus")])
    >>> sf.track(objects, cars, by="category").summary[["sequence", "category", "average", "MOTA", "FN"]]
       sequence category    average  MOTA  FN
    0         1      bus        NaN  0.00   1
    1         1      car        NaN  1.00   0
    2      <NA>      bus        NaN  0.00   1
    3      <NA>      car        NaN  1.00   0
    4      <NA>      NaN      class  0.50   1
    5      <NA>      NaN  detection  0.75   1

    By condition: is the car followed as well by night? The row of all sequences has no sequence.

    >>> lit = truth.assign(light=["day", "day", "night"])
    >>> by_light = sf.track(lit, predictions, by="truth_light").summary
    >>> by_light.loc[by_light["sequence"].isna(), ["truth_light", "MOTA", "AssA", "FP"]].round(3)
      truth_light  MOTA  AssA  FP
    2         day   1.0   1.0   0
    3       night   1.0   1.0   0
    """
    options, families = track_options(tau, similarity, distance, unit), families_of(metrics)
    given = as_side_columns(truth, "truth"), as_side_columns(predictions, "predictions")
    by_class, wanted = conditions.asked_for(by)
    _check_class(by_class, *given)
    rule = replace(rule_of_tracks(options, *given, identity), by=by_class)
    aligned = alignment.align(*given, frames)
    warning = left_out.left_out(aligned, rule)
    slices = conditions.sliced(aligned, rule, wanted, where)
    parts = [_tables(part.aligned, rule, families) for part in slices.slices]
    for text in filter(None, (warning, slices.warning)):
        warnings.warn(text, stacklevel=table_kinds.CALLER)
    tables = (
        parts[0]
        if slices.is_whole
        else TrackResult(*conditions.joined_slices(parts, TrackResult._fields, slices.labels))
    )
    for table in tables:
        table.attrs = {**rule.notes, **slices.slices[0].aligned.notes, **slices.notes}
    tables.matches.attrs.update(conditions.classes_together(aligned, rule))
    return tables


def _tables(aligned: Aligned, rule: Rule, families: Sequence[str]) -> TrackResult:
    """The tables of two aligned sides that count, without notes."""
    tracks, found, sums = evaluate_tracks(aligned, rule, families)
    return TrackResult(
        track_summary(sums),
        track_curve(sums),
        track_matches(aligned, tracks, found, rule),
        truth_objects(tracks, found),
        predicted_objects(tracks, found),
        sums_table(tracks.aligned, sums.labels, sums.values),
    )


def _check_class(by: str | None, truth: SideColumns, predictions: SideColumns) -> None:
    """Raises InputError unless `by` is None, or both sides have that column."""
    if by is None:
        return
    why = "by='category' needs it on both sides; without by, all objects are evaluated together"
    problems = [
        messages.missing(provenance.source(side.objects, name), by, side.objects.columns, why)
        for name, side in (("truth", truth), ("predictions", predictions))
        if by not in side.objects
    ]
    if problems:
        raise InputError(problems)


def rule_of_tracks(
    options: MatchOptions, truth: SideColumns, predictions: SideColumns, identity: str = "object"
) -> Rule:
    """The rule of tracks by these options; raises InputError as `track` does."""
    geometries = header_of(truth.objects, "truth"), header_of(predictions.objects, "predictions")
    return track_rule(options, *geometries, threshold=THRESHOLD, identity=identity)


def evaluate_tracks(aligned: Aligned, rule: Rule, families: Sequence[str] = ()) -> tuple[Tracks, ClearPairs, Sums]:
    """The identities, CLEAR's pairs and the sums by sequence of two aligned sides; by class if the rule says so.

    `families` are those of metrics on request, as `families_of` returns them. Raises InputError if the sides have
    joints, if an identity is null or occurs twice in a frame, or if a family does not fit the rule.
    """
    tracks = identify_whole(aligned, rule)
    chunks = similar_chunks(tracks.aligned, rule)
    found, sums = sums_of_similar(tracks, chunks)
    requested = parts_of(families, aligned, tracks, chunks, rule)
    return tracks, found, sums._replace(metrics=tracks_with(requested), values=sums.values | requested)


def identify_whole(aligned: Aligned, rule: Rule) -> Tracks:
    """The identities of two sides of whole objects, by the rule's column; raises InputError as `track` does."""
    if "joint" in aligned.frames:
        raise InputError("truth and predictions have a column joint; track() needs whole objects, pose() takes joints")
    return identify(aligned, rule.identity or "object", rule.by)


def sums_of_similar(tracks: Tracks, chunks: Iterable[Pairs]) -> tuple[ClearPairs, Sums]:
    """CLEAR's pairs and the sums by sequence, from the chunks that `similar_chunks` returns."""
    near = join_pairs([chunk.take(np.flatnonzero(chunk.measure >= LEAST_SIMILARITY)) for chunk in chunks])
    found = clear_pairs(tracks, near)
    hota = hota_parts(tracks, hota_pairs(tracks, chunks))
    values = hota | clear_parts(tracks, found) | identity_parts(tracks, near) | _sizes(tracks)
    notes = dict(tracks.aligned.notes)
    return found, Sums(TRACKS, tracks.labels, np.arange(len(tracks.labels)), tracks.labels["sequence"], values, notes)


def _sizes(tracks: Tracks) -> dict[str, np.ndarray]:
    """How many frames, rows and identities each sequence has."""
    objects = {"truth": tracks.truth, "predicted": tracks.predictions}
    return {
        "n_frames": tracks.n_frames,
        "n_truth": tracks.n_truth,
        "n_predicted": tracks.n_predicted,
        **{
            f"n_{side}_objects": np.bincount(identities.sequence, minlength=tracks.n_sequences)
            for side, identities in objects.items()
        },
    }


def similar_chunks(aligned: Aligned, rule: Rule) -> Iterable[Pairs]:
    """All pairs with a similarity above 0, chunk by chunk in the order of frames, to be iterated over several times."""
    return _Chunks(aligned, rule.near(aligned, 0.0))


class _Chunks:
    """The similar pairs of all frames, chunk by chunk, for iterating over them several times; each chunk is a Pairs.

    Chunks are kept in memory up to MOST_KEPT pairs. The other chunks are computed again in each iteration.
    """

    def __init__(self, aligned: Aligned, similar: Callable[[int, int], Pairs]):
        self.ranges = list(frame_chunks(aligned.truth, aligned.predictions, SIMILAR_AT_ONCE))
        self.similar, self.kept, self.n_kept = similar, dict[tuple[int, int], Pairs](), 0
        self.name = aligned.names_from(0)

    def __iter__(self) -> Iterator[Pairs]:
        for frames in work.progress(self.ranges, "comparing", "part"):
            chunk = self.kept.get(frames)
            if chunk is None:
                chunk = self.similar(*frames)
                if frames[1] - frames[0] == 1:
                    purpose = f"evaluating the tracks of {len(chunk.truth):,} similar pairs"
                    memory.check_at_hand(self.name(frames[0]), purpose, len(chunk.truth) * PAIR_BYTES)
                if self.n_kept + len(chunk.truth) <= MOST_KEPT:
                    self.kept[frames] = chunk
                    self.n_kept += len(chunk.truth)
            yield chunk
