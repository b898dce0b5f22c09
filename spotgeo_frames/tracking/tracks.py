"""track(): HOTA, CLEAR and Identity of tracks, with the tables behind the sums.

The numbers are those of trackeval 1.3.0, fill values included; the modules in `metrics` say how each is defined and
where it comes from. Identities belong to their sequence. Known differences from the official evaluator

    - Similarities of points are max(0, 1 - distance / (2 tau)), so that tau is where CLEAR and Identity begin to count;
      trackeval's own default of 2.0 for the distance of similarity 0 is in metres, of MOT15-3D.
    - With `category` on both sides only equal categories are similar; trackeval evaluates one class at a time.
    - Identities may be strings, or negative numbers, which trackeval takes for positions from the end.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..matching.alignment import Aligned, FrameRule, Side, align
from ..matching.layout import match_table, with_events
from ..matching.pairs import SIMILAR_AT_ONCE, Pairs, frame_chunks, join_pairs
from ..matching.rule import Rule
from ..matching.similar_pairs import flat_boxes
from ..matching.similarity import Measure
from ..matching.words import asked_of_tracks, geometry_of, track_rule
from ..scoring.group_sums import Sums, with_total
from ..support.errors import InputError
from ..support.keys import distinct
from ..support.named_tables import as_html, as_text, headline
from ..support.progress import progress
from ..tables.annotations import Annotations, as_annotations
from ..tables.arrow import Table
from ..tables.schema import TP
from .identities import Identities, Tracks, identify
from .metrics.clear import (
    LEAST_SIMILARITY,
    THRESHOLD,
    ClearPairs,
    clear_numbers,
    clear_pairs,
    clear_parts,
    coverage,
    tracked_share,
)
from .metrics.hota import ALPHAS, HOTA_COUNTS, hota_numbers, hota_pairs, hota_parts
from .metrics.identity import identity_numbers, identity_parts
from .registry import TRACK_METRICS

# Similar pairs that are kept, 24 bytes each.
MOST_KEPT = 1 << 25
COVERAGE_TYPE = pd.CategoricalDtype(["MT", "PT", "ML"])
NUMBERS = list(TRACK_METRICS)
SIZES = ["n_frames", "n_truth", "n_predicted", "n_truth_objects", "n_predicted_objects"]


class TrackResult(NamedTuple):
    """What `track` returns: five plain tables; its docstring says what they hold."""

    summary: pd.DataFrame
    curve: pd.DataFrame
    matches: pd.DataFrame
    truth_objects: pd.DataFrame
    predicted_objects: pd.DataFrame

    def __repr__(self) -> str:
        return as_text(self, self._headline())

    def _repr_html_(self) -> str | None:
        return as_html(self, self._headline())

    def _headline(self) -> list[str]:
        return headline(self.summary, ["HOTA", "MOTA", "IDF1"], null=["sequence"])


def track(
    truth: Annotations | Table,
    predictions: Annotations | Table,
    similarity: str | Measure | None = None,
    identity: str = "object",
    *,
    tau: float | None = None,
    frames: FrameRule = "truth",
) -> TrackResult:
    """Evaluates tracks: HOTA, CLEAR and Identity.

    Parameters
    ----------
    truth, predictions
        Annotations, or tables of objects, as for `match`; boxes have `x`, `y` (top left), `w` and `h` in pixels.
    similarity
        "iou" for boxes; "point" for max(0, 1 - distance / (2 tau)), of boxes by their centres; or a function that gets
        two DataFrames of equal length, rows of truth and of predictions that are pairs, and returns a similarity for
        each, 0 to 1. Without it, boxes (`w` and `h` on both sides) are compared by IoU and all else as points.
    identity
        The column that names an object through its sequence, on each side that has it; `object` on a side that has not.
        Where `object` is only a row number within its frame, track metrics mean nothing.
    tau
        Distance (px) from which on CLEAR and Identity no longer count points, 10 by default. With boxes it says that
        their centres are compared.
    frames
        Which frames count, as for `match`.

    Returns
    -------
    TrackResult of five DataFrames, with trackeval's fill values: shares with nothing to divide by are 0, LocA is 1.

    summary: one row a sequence and a last one of all combined, its `sequence` null (so `summary.iloc[-1]`, and the
        sequences alone are `summary.dropna(subset="sequence")`): `HOTA`, `DetA`, `AssA`, `DetRe`,
        `DetPr`, `AssRe`, `AssPr`, `LocA` (means over alpha), `MOTA`, `MOTP`, `MODA`, `IDSW`, `Frag`, `MT`, `PT`, `ML`,
        `TP`, `FN`, `FP` (of CLEAR), `IDF1`, `IDP`, `IDR`, `IDTP`, `IDFN`, `IDFP`, `n_frames`, `n_truth`,
        `n_predicted`, `n_truth_objects`, `n_predicted_objects`.
    curve: one row a sequence (null: combined) and `alpha`, with the eight numbers of HOTA and `TP`, `FN`, `FP` there.
    matches: the match table of CLEAR, by `similarity`, with `event` ("match", "switch", "miss", "false positive") and
        `fragmentation` (whether a truth is matched again after a gap) after `outcome`.
    truth_objects: one row a true object: `sequence`, `object` (its `identity`), `n_frames`, `n_matched` (of them),
        `tracked_share`, `n_switches`, `n_fragmentations`, `coverage` ("MT", "PT", "ML").
    predicted_objects: one row a predicted object: `sequence`, `object`, `n_frames`, `n_matched`, `matched_share`,
        `n_truth_objects` (how many it was matched with), `n_switches` (times it took over a truth from another).

    Raises
    ------
    InputError: a table is not right, boxes are on one side only, an identity is twice in a frame, the sides share no
        sequence, or their frames do not agree.
    ValueError: similarity or tau out of range, or a tau with a similarity that has none.

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
    """
    words = asked_of_tracks(tau, similarity)
    given = as_annotations(truth, "truth"), as_annotations(predictions, "predictions")
    geometries = (geometry_of(side.objects, name) for side, name in zip(given, ("truth", "predictions"), strict=True))
    rule = track_rule(words, *geometries, threshold=THRESHOLD, identity=identity)
    tracks, found, sums = evaluate_tracks(align(*given, frames), rule)
    warning = flat_boxes(given[0].objects, given[1].objects) if rule.name == "iou" else None
    if warning is not None:
        warnings.warn(warning, stacklevel=2)
    tables = TrackResult(
        track_summary(sums),
        _curve(sums),
        track_matches(tracks, found, rule),
        _truth_objects(tracks, found),
        _predicted_objects(tracks, found),
    )
    for table in tables:
        table.attrs = rule.notes
    return tables


def evaluate_tracks(aligned: Aligned, rule: Rule) -> tuple[Tracks, ClearPairs, Sums]:
    """The identities, CLEAR's pairs and the sums by sequence of aligned sides; raises as `track` does."""
    if "joint" in aligned.frames:
        raise InputError("truth and predictions have a column joint; tracks are of whole objects, pose() of joints")
    tracks = identify(aligned, rule.identity or "object")
    chunks = _Chunks(aligned, rule.near(aligned, least=0.0))
    near = join_pairs([chunk.take(np.flatnonzero(chunk.measure >= LEAST_SIMILARITY)) for chunk in chunks])
    found = clear_pairs(tracks, near)
    hota = hota_parts(tracks, hota_pairs(tracks, chunks))
    values = hota | clear_parts(tracks, found) | identity_parts(tracks, near) | _sizes(tracks)
    labels = pd.DataFrame({"sequence": tracks.sequence_names.array})
    return tracks, found, Sums(labels, values, {}, True, {})


class _Chunks:
    """The similar pairs of one run of frames after the other, again and again: each chunk is a Pairs.

    They are found once and kept, until those that are kept are MOST_KEPT; the others are found anew each time.
    """

    def __init__(self, aligned: Aligned, similar: Callable[[int, int], Pairs]):
        self.runs = list(frame_chunks(aligned.truth, aligned.predictions, SIMILAR_AT_ONCE))
        self.similar, self.kept, self.n_kept = similar, dict[tuple[int, int], Pairs](), 0

    def __iter__(self) -> Iterator[Pairs]:
        for run in progress(self.runs, "comparing", "part"):
            chunk = self.kept.get(run)
            if chunk is None:
                chunk = self.similar(*run)
                if self.n_kept + len(chunk.truth) <= MOST_KEPT:
                    self.kept[run] = chunk
                    self.n_kept += len(chunk.truth)
            yield chunk


def _sizes(tracks: Tracks) -> dict[str, np.ndarray]:
    """What there is in each sequence."""
    objects = {"truth": tracks.truth, "predicted": tracks.predictions}
    return {
        "n_frames": np.bincount(tracks.frame_sequence, minlength=tracks.n_sequences),
        "n_truth": tracks.n_truth,
        "n_predicted": tracks.n_predicted,
        **{
            f"n_{side}_objects": np.bincount(identities.sequence, minlength=tracks.n_sequences)
            for side, identities in objects.items()
        },
    }


def track_summary(sums: Sums) -> pd.DataFrame:
    """One row of numbers a sequence and a last one of all of them."""
    values, names = with_total(sums.values), _with_null(sums.labels["sequence"])
    combined = np.arange(len(names)) == len(names) - 1
    numbers = {name: curve.mean(axis=1) for name, curve in hota_numbers(values).items()}
    numbers |= clear_numbers(values, combined) | identity_numbers(values) | values
    return pd.DataFrame({"sequence": names, **{name: numbers[name] for name in [*NUMBERS, *SIZES]}})


def _curve(sums: Sums) -> pd.DataFrame:
    """HOTA's numbers at every alpha, by sequence, the combined last."""
    values, names = with_total(sums.values), _with_null(sums.labels["sequence"])
    counts = {name: values[of] for name, of in zip(["TP", "FN", "FP"], HOTA_COUNTS, strict=True)}
    columns = hota_numbers(values) | counts
    return pd.DataFrame(
        {
            "sequence": names.repeat(len(ALPHAS)).array,
            "alpha": np.tile(np.round(ALPHAS, 2), len(names)),
            **{name: column.ravel() for name, column in columns.items()},
        }
    )


def _with_null(sequences: pd.Series) -> pd.Series:
    """The names of the sequences and, last, a null, which stands for all of them."""
    return sequences.reindex(range(len(sequences) + 1))


def track_matches(tracks: Tracks, found: ClearPairs, rule: Rule) -> pd.DataFrame:
    """The match table with what happened to the identities."""
    table = with_events(match_table(tracks.aligned, found.pairs, rule), found.switch)
    fragmentation = np.zeros(len(table), bool)
    fragmentation[np.flatnonzero(table["outcome"].array.codes == TP)[found.fragmentation]] = True
    table.insert(table.columns.to_list().index("event") + 1, "fragmentation", fragmentation)
    return table


def _truth_objects(tracks: Tracks, found: ClearPairs) -> pd.DataFrame:
    """One row a truth: how much of it was tracked."""
    of_pair = tracks.truth.of_row[found.pairs.truth]
    table = _objects(tracks.aligned, tracks.aligned.truth, tracks.truth, of_pair)
    share = tracked_share(tracks, found)
    return table.assign(
        tracked_share=share,
        n_switches=np.bincount(of_pair[found.switch], minlength=len(table)),
        n_fragmentations=np.bincount(of_pair[found.fragmentation], minlength=len(table)),
        coverage=pd.Categorical(coverage(share), dtype=COVERAGE_TYPE),
    )


def _predicted_objects(tracks: Tracks, found: ClearPairs) -> pd.DataFrame:
    """One row a predicted object: how much of it was right, and of how many truths."""
    of_pair = tracks.predictions.of_row[found.pairs.prediction]
    table = _objects(tracks.aligned, tracks.aligned.predictions, tracks.predictions, of_pair)
    together, _ = distinct(np.sort(tracks.joint_keys(found.pairs.truth, found.pairs.prediction)))
    return table.assign(
        matched_share=table["n_matched"] / table["n_frames"],
        n_truth_objects=np.bincount(tracks.split_keys(together)[1], minlength=len(table)),
        n_switches=np.bincount(of_pair[found.switch], minlength=len(table)),
    )


def _objects(aligned: Aligned, side: Side, identities: Identities, of_pair: np.ndarray) -> pd.DataFrame:
    """One row an identity of a side: its sequence and name, its frames, and in how many it is matched."""
    return pd.DataFrame(
        {
            "sequence": aligned.frames["sequence"].array.take(side.frame[identities.first_row]),
            "object": side.table[identities.column].array.take(identities.first_row),
            "n_frames": identities.n_rows,
            "n_matched": np.bincount(of_pair, minlength=len(identities.n_rows)),
        }
    )
