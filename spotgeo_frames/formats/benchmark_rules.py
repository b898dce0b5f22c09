"""What the kits of benchmarks take out before they evaluate: see `benchmarks` for what each has.

This follows trackeval 1.3.0 (datasets/kitti_2d_box.py, kitti_mots.py, mots_challenge.py, bdd100k.py), and for VisDrone
its own toolkit (VisDrone2018-MOT-toolkit, eval/dropObjects.m), without its rounding to pixels; UAVDT has the same
rule. A class is matched by
itself, since which of two equally good assignments is found depends on what else there is in the frame.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from ..geometries import ROUNDING
from ..matching import Aligned, Entries, Rule, alignment, assignment, header_of, track_options, track_rule
from ..support import InputError, arrays, pandas_tables
from ..tables import Annotations, Columns, SideColumns, messages, provenance, schema, side_columns
from .benchmarks import Benchmark
from .box_tables import text_column

# The least similarity of a match, and the share of a prediction's own area of which more has to lie in a region.
LEAST_SIMILARITY, COVERED_SHARE = 0.5 - ROUNDING, 0.5 + ROUNDING

# The most regions that an object may meet, and the most cells in memory at once of the grids that these make.
MOST_REGIONS, CELLS_AT_ONCE = 1000, 1 << 22

# Columns that say what does not count, none of which is left.
MARKS = ["crowd", "ignore"]


class _Classed(NamedTuple):
    """The objects of one side: the class that each is taken for, by its position, -1 for none; and its marks, (N,)."""

    of_class: np.ndarray
    is_distractor: np.ndarray
    is_region: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """Marks the objects of a class that is evaluated, (N,)."""
        return (self.of_class >= 0) & ~self.is_distractor


def as_evaluated(
    truth: Annotations, predictions: Annotations, benchmark: str, rules: Benchmark
) -> tuple[Annotations, Annotations]:
    """Both sides without what the benchmark does not evaluate; the truth's `categories` are the classes.

    Raises InputError if a class is none that the benchmark knows, if predictions lie in other frames, or if objects
    overlap that may not.
    """
    known, found = (
        _classed(side.objects, benchmark, rules, name)
        for side, name in ((truth, "truth"), (predictions, "predictions"))
    )
    sides = _plain(truth), _plain(predictions)
    aligned = alignment.align(*sides)
    if rules.disjoint:
        for side, name in zip(sides, ("truth", "predictions"), strict=True):
            _check_disjoint(side, name)
    ignored = known.is_distractor | _hidden(truth.objects, rules)
    if rules.regions_first:
        ignored |= _in_all_regions(alignment.align(sides[0], sides[0]), known.is_region)
        gone = _in_all_regions(aligned, known.is_region)
    else:
        gone = _taken(aligned, known, found, ignored, rules)
    kept = known.counts & ~known.is_region & ~ignored, found.counts & ~gone
    objects = [
        _of_classes(side.objects, of.of_class, stays, rules)
        for side, of, stays in zip((truth, predictions), (known, found), kept, strict=True)
    ]
    return truth._replace(objects=objects[0], categories=_classes(rules)), predictions._replace(objects=objects[1])


def _classed(objects: pd.DataFrame, benchmark: str, rules: Benchmark, name: str) -> _Classed:
    """The classes of one side; raises InputError with the first objects of a class that nobody knows."""
    classes = {name: position for position, name in enumerate(rules.classes)}
    taken_for = classes | {name: classes[of] for name, of in rules.distractors.items()}
    known = [*taken_for, *rules.regions, *rules.others]
    column = objects["category"].cat
    given = [rules.aliases.get(name.lower(), name.lower()) for name in column.categories]
    codes = column.codes.to_numpy()  # -1 of null, which finds the last of what follows
    unknown = np.array([*(name not in known for name in given), False], bool)[codes]
    if unknown.any():
        keys = messages.first_keys(side_columns(Annotations(objects)).objects, unknown, schema.OBJECT_KEY)
        what = f"category {objects['category'][unknown].iloc[0]!r}; {benchmark} knows {', '.join(known)}"
        n_unknown = messages.counted(int(unknown.sum()), "object")
        raise InputError(f"{provenance.source(objects, name)}: {n_unknown} of {what}: {keys}")
    of_class = np.array([*(taken_for.get(name, -1) for name in given), -1], np.int64)[codes]
    is_region = np.array([*(name in rules.regions for name in given), False], bool)[codes]
    if "crowd" in objects:
        is_region = is_region | objects["crowd"].to_numpy(bool)
    return _Classed(of_class, np.array([*(name in rules.distractors for name in given), False], bool)[codes], is_region)


def _plain(side: Annotations) -> SideColumns:
    """A side without its classes, since regions cover all of them, and without marks."""
    columns = side_columns(side)
    left = [name for name in columns.objects if name not in ("category", *MARKS)]
    return columns._replace(objects=columns.objects.select(left))


def _hidden(objects: pd.DataFrame, rules: Benchmark) -> np.ndarray:
    """Marks the truths that are too much truncated or covered to count; what is not known is none."""
    hidden = np.zeros(len(objects), bool)
    for name, most in rules.hidden_above.items():
        if name in objects:
            hidden |= np.trunc(objects[name].to_numpy(np.float64)) > most
    return hidden


def _taken(aligned: Aligned, known: _Classed, found: _Classed, ignored: np.ndarray, rules: Benchmark) -> np.ndarray:
    """Marks the predictions that the kit takes out, in the order of their table."""
    rule = _rule(aligned)
    truths, claims = aligned.truth.row, aligned.predictions.row
    may_leave = _in_regions(aligned, known.is_region[truths], rule, rules.disjoint)
    if rules.least_height is not None:
        may_leave |= aligned.predictions.table["h"] <= rules.least_height
    gone = np.zeros(len(claims), bool)
    for number in range(len(rules.classes)):
        of_truth = ~known.is_region[truths] & (known.of_class[truths] == number)
        of_claims = found.counts[claims] & (found.of_class[claims] == number)
        truth, claim = _matched(alignment.select_rows(aligned, of_truth, of_claims), rule)
        truth, claim = np.flatnonzero(of_truth)[truth], np.flatnonzero(of_claims)[claim]
        may_leave[claim] = ignored[truths[truth]]
        gone |= may_leave & of_claims
    in_table = np.zeros(len(claims), bool)
    in_table[claims] = gone
    return in_table


def _rule(aligned: Aligned) -> Rule:
    """The rule by which rows are similar: the IoU of boxes or of masks."""
    headers = header_of(aligned.truth.table, "truth"), header_of(aligned.predictions.table, "predictions")
    return track_rule(track_options(None, None), *headers, threshold=0.5, identity="object")


def _matched(aligned: Aligned, rule: Rule) -> tuple[np.ndarray, np.ndarray]:
    """The truths and the predictions of the assignment with the greatest sum of similarities."""
    near = rule.near_pairs(aligned, LEAST_SIMILARITY)
    starts = aligned.truth.starts, aligned.predictions.starts
    entries = Entries(near.truth, near.prediction, near.measure, *starts, aligned.names_from(0))
    chosen = assignment.heaviest(entries)
    return near.truth[chosen], near.prediction[chosen]


def _in_regions(aligned: Aligned, is_region: np.ndarray, rule: Rule, together: bool) -> np.ndarray:
    """Marks the predictions, in the order of their side, of which enough lies in a region, or in all `together`."""
    n_claims = len(aligned.predictions.row)
    if not is_region.any():
        return np.zeros(n_claims, bool)
    regions = alignment.select_rows(aligned, is_region, np.ones(n_claims, bool))
    pairs = rule.covering_pairs(regions, 0.0 if together else LEAST_SIMILARITY)
    share = np.zeros(n_claims)
    (np.add if together else np.maximum).at(share, pairs.prediction, pairs.measure)
    return share > COVERED_SHARE


def _in_all_regions(aligned: Aligned, is_region: np.ndarray) -> np.ndarray:
    """Marks the predictions, in the order of their table, of which half or more lies in the regions of their frame."""
    claims = aligned.predictions
    inside = np.zeros(len(claims.row), bool)
    marked = is_region[aligned.truth.row]
    if not marked.any():
        return inside
    regions = alignment.select_rows(aligned, marked, np.ones(len(inside), bool))
    pairs = _rule(aligned).covering_pairs(regions, 0.0)
    order = np.argsort(pairs.prediction, kind="stable")
    corners = [
        _corners(of.table)[rows[order]] for of, rows in ((regions.truth, pairs.truth), (claims, pairs.prediction))
    ]
    area = _covered_areas(pairs.prediction[order], *corners)
    size = claims.table["w"] * claims.table["h"]
    known = np.flatnonzero(size > 0)
    inside[claims.row[known]] = np.append(area, np.zeros(len(size) - len(area)))[known] / size[known] >= 0.5
    return inside


def _corners(table: Columns) -> np.ndarray:
    """Left, top, right and bottom of boxes (N, 4)."""
    x, y, w, h = (table[name] for name in schema.BOX)
    return np.column_stack([x, y, x + w, y + h])


def _covered_areas(claim: np.ndarray, regions: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """The area of each box that lies in any of its regions, by the position of the box; pairs are in its order.

    `claim` is the box of each pair, and both have corners (P, 4). All edges of a box's regions make a grid, of whose
    cells each is either in a region or not. Raises InputError where a box meets too many regions.
    """
    n_boxes = int(claim.max(initial=-1)) + 1
    counts = np.bincount(claim, minlength=n_boxes)
    starts = np.cumsum(counts) - counts
    clipped = np.hstack([np.maximum(regions[:, :2], boxes[:, :2]), np.minimum(regions[:, 2:], boxes[:, 2:])])
    if counts.max(initial=0) > MOST_REGIONS:
        raise InputError(f"an object lies in {counts.max():,} regions of its frame; {MOST_REGIONS:,} are possible")
    areas = np.zeros(n_boxes)
    for count in np.unique(counts[counts > 0]).tolist():  # few: how many regions a box meets
        of_boxes = np.flatnonzero(counts == count)
        for first, last in arrays.chunks(np.full(len(of_boxes), 4 * count**2), CELLS_AT_ONCE):
            part = of_boxes[first:last]
            parts = clipped[starts[part][:, None] + np.arange(count)]  # (boxes, regions, 4)
            edges = [np.sort(parts[..., side::2].reshape(len(part), -1), axis=1) for side in (0, 1)]
            across, down = (
                (parts[..., side, None] <= of[:, None, :-1]) & (of[:, None, 1:] <= parts[..., side + 2, None])
                for side, of in enumerate(edges)
            )
            covered = across.transpose(0, 2, 1).astype(np.float32) @ down.astype(np.float32) > 0
            widths, heights = (np.diff(of, axis=1) for of in edges)
            areas[part] = np.einsum("bx,bxy,by->b", widths, covered, heights)
    return areas


def _check_disjoint(side: SideColumns, name: str) -> None:
    """Raises InputError with the first objects of a frame that overlap."""
    objects = side.objects
    aligned = alignment.align(side, side)
    pairs = _rule(aligned).near_pairs(aligned, 0.0)
    rows = aligned.truth.row[pairs.truth], aligned.predictions.row[pairs.prediction]
    overlaps = rows[0] < rows[1]
    if not overlaps.any():
        return
    marked = np.zeros(len(objects), bool)
    marked[rows[1][overlaps]] = True
    what = f"{messages.counted(int(marked.sum()), 'object')} on top of another of its frame, and none may overlap"
    keys = messages.first_keys(objects, marked, schema.OBJECT_KEY)
    raise InputError(f"{provenance.source(objects, name)}: {what}: {keys}")


def _of_classes(objects: pd.DataFrame, of_class: np.ndarray, stays: np.ndarray, rules: Benchmark) -> pd.DataFrame:
    """The objects that stay, each of one of the benchmark's classes."""
    kind = pd.CategoricalDtype(pd.Index(list(rules.classes), dtype=pandas_tables.TEXT))
    left = objects.drop(columns=MARKS, errors="ignore")
    left["category"] = pd.Categorical.from_codes(of_class, dtype=kind)
    return left if stays.all() else left[stays].reset_index(drop=True)


def _classes(rules: Benchmark) -> pd.DataFrame:
    """The table of the benchmark's classes, and the class that each is a kind of, where there are such."""
    parents = {"parent": text_column([rules.parents.get(name) for name in rules.classes])} if rules.parents else {}
    return pd.DataFrame({"category": text_column(rules.classes), **parents})
