"""Average precision of frames that come in parts: what is kept of each part, and the result of all of them.

A part keeps its similar pairs, and of its rows what counting needs: their key, category, score and area, and whether
they count. Coordinates, masks and joints go. Everything else follows from these once all parts are there, so the result
is that of one evaluation of everything, to the last bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...geometries import check_pose_scores
from ...matching import Pairs, Rule, alignment, compared, crowds, join_pairs
from ...support import InputError
from ...tables import (
    Columns,
    SideColumns,
    array_of,
    columns_of,
    dataframe_of,
    joined,
    number_checks,
    provenance,
    schema,
)
from . import verified
from .categories import with_parents
from .detections import areas_of_rows, loosest_of, ready_sides, sorted_detections
from .evaluate import Matched, check_categories, matched_detections
from .protocol_entries import PROTOCOLS, Protocol
from .rules import fitted, protocol_of

# The columns that rows keep, as far as they have them.
KEPT_COLUMNS = (*schema.OBJECT_KEY, "category", "score", "area")


class Part(NamedTuple):
    """Some frames: the rows of both sides without what was measured, the frames, and the similar pairs as rows.

    `areas` are those of both sides (px²), null where they are not known. `never_found` marks the truths that no
    prediction can find, such as poses without a labelled joint. `least` is the similarity from which on pairs
    are there, or the largest distance; None where a side has no rows, so that there can be none. `categories` are the
    attributes of categories, or None.
    """

    truth: Columns
    predictions: Columns
    frames: Columns
    areas: tuple[np.ndarray, np.ndarray]
    pairs: Pairs
    never_found: np.ndarray
    least: float | None
    categories: Columns | None


def part_of(truth: SideColumns, predictions: SideColumns, rule: Rule) -> Part:
    """What is kept of two checked sides whose frames are all whole.

    Raises InputError if the sides do not fit the rule or each other, or predictions have no score.
    """
    name = provenance.source(predictions.objects, "predictions")
    if not len(predictions.objects):  # a detector that finds nothing has no scores
        predictions = predictions._replace(objects=predictions.objects.assign({"score": np.zeros(0)}))
    else:
        number_checks.check_scores(dataframe_of(predictions.objects), name, "Accumulator")
    aligned = compared(rule, truth, predictions, may_be_disjoint=True).aligned
    check_pose_scores(aligned.predictions.table, name)
    known, claimed = aligned.truth.table, aligned.predictions.table
    marks = {name: of for name, of in zip(crowds.MARKS, crowds.marks(known), strict=True) if of is not None}
    never_found, nothing = rule.geometry.never_found, np.zeros(len(known), bool)
    least = loosest_of(rule)
    return Part(
        _kept(known).assign(marks),
        _kept(claimed),
        aligned.frames,
        (areas_of_rows(known, "truth"), areas_of_rows(claimed, "predictions")),
        rule.pairs_of_precision(aligned, marks.get("crowd", nothing), least),
        nothing if never_found is None else never_found(known),
        least if len(known) and len(claimed) else None,
        truth.categories,
    )


def _kept(table: Columns) -> Columns:
    """The columns of a side that are kept."""
    return table.select([name for name in KEPT_COLUMNS if name in table])


def join_parts(parts: Sequence[Part]) -> Part:
    """Several parts, which share no frame, as one; small ones take 8 kB each besides their rows."""
    n_truth, n_predicted = ([len(getattr(part, side)) for part in parts] for side in ("truth", "predictions"))
    n_pairs = [len(part.pairs.truth) for part in parts]
    starts = [np.repeat(np.cumsum([0, *counts[:-1]]), n_pairs) for counts in (n_truth, n_predicted)]
    pairs = join_pairs([part.pairs for part in parts])
    pairs = pairs._replace(truth=pairs.truth + starts[0], prediction=pairs.prediction + starts[1])
    truth, predictions, frames = (
        _joined([getattr(part, name) for part in parts]) for name in ("truth", "predictions", "frames")
    )
    return Part(
        truth,
        predictions,
        frames,
        (np.concatenate([part.areas[0] for part in parts]), np.concatenate([part.areas[1] for part in parts])),
        pairs,
        np.concatenate([part.never_found for part in parts]),
        next((part.least for part in parts if part.least is not None), None),
        _all_categories([part.categories for part in parts if part.categories is not None]),
    )


def _all_categories(tables: Sequence[Columns]) -> Columns | None:
    """The rows of several tables of categories, equal ones once; None without a table."""
    import pandas as pd

    if not tables:
        return None
    frames = [pd.DataFrame({name: pd.Series(array_of(table[name]), copy=False) for name in table}) for table in tables]
    several = pd.concat(frames, ignore_index=True)
    as_text = several.astype(str)  # cells may be lists
    return columns_of(several[~as_text.duplicated()].reset_index(drop=True))


def asked_for(name: str, given: Mapping[str, Any], rule: Rule) -> tuple[Protocol, Rule]:
    """The protocol that is asked for, and the rule by which its pairs match, from that of the parts.

    Distances are the rule's where neither the protocol nor `tau` has others. Raises ValueError as `protocol_of` does.
    """
    fields = {field: value for field, value in given.items() if field != "tau"}
    entry = PROTOCOLS.get(name)
    of_rule = rule.tau if rule.by_distance and not (entry and entry.by_distance) else None
    protocol = fitted(protocol_of(name, fields, given.get("tau", of_rule)), rule.geometry, fields)
    if protocol.by_distance:
        return protocol, replace(rule, tau=protocol.loosest, epsilon=0.0, unit=protocol.unit or rule.unit)
    return protocol, replace(rule, threshold=protocol.loosest)


def _check_protocol(part: Part, rule: Rule, protocol: Protocol) -> None:
    """Raises InputError if the pairs of a part cannot be those of a protocol, or it lacks what the protocol needs."""
    made = "Accumulator: pairs were matched"
    if "joint" in part.frames:
        raise InputError(f'{made} joint by joint; poses need an Accumulator with similarity="oks"')
    if protocol.by_distance and not rule.by_distance:
        raise InputError(f"{made} by similarity; distances need an Accumulator with tau=")
    if rule.by_distance and not protocol.by_distance:
        raise InputError(f"{made} by distance; a protocol of similarities needs an Accumulator with similarity=")
    if protocol.unit is not None and (rule.name != "distance" or rule.geometry.name != "points"):
        what = f"{rule.geometry.name} were matched by {rule.name}"
        raise InputError(f"Accumulator: protocol {protocol.name} measures points on the ground, and {what}")
    verified.check_needed(protocol, _truth(part))
    names = [] if part.categories is None else array_of(part.categories["category"]).tolist()
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        how = "give all batches the same table of categories"
        raise InputError(f"Accumulator: batches say different things of category {twice[0]!r}; {how}")


def _truth(part: Part) -> SideColumns:
    return SideColumns(part.truth, part.frames, None, part.categories)


def matched_part(part: Part, rule: Rule, protocol: Protocol) -> Matched:
    """The detections of a part, matched by a protocol.

    Raises InputError if the pairs cannot be those of the protocol, or the part lacks what it needs.
    """
    _check_protocol(part, rule, protocol)
    least = part.least
    if least is not None and ((protocol.loosest > least) if protocol.by_distance else (protocol.loosest < least)):
        word, what = ("tau", "up to") if protocol.by_distance else ("threshold", "from")
        asked = f"{protocol.loosest:g} is asked for; make the Accumulator with {word}={protocol.loosest:g}"
        raise InputError(f"Accumulator: pairs {what} {least:g} were kept, and {asked}")
    aligned = alignment.align(_truth(part), SideColumns(part.predictions), may_be_disjoint=True)
    if protocol.parents and with_parents(aligned) is not aligned:
        lacking = f"protocol {protocol.name} counts truths in the categories that theirs are a kind of, too"
        raise InputError(f"Accumulator: {lacking}, and batches keep no pairs of these; use average_precision()")
    rows = aligned.truth.row, aligned.predictions.row
    places = [np.empty(len(row), np.int64) for row in rows]
    for place, row in zip(places, rows, strict=True):
        place[row] = np.arange(len(row))
    pairs = part.pairs._replace(truth=places[0][part.pairs.truth], prediction=places[1][part.pairs.prediction])
    ready = ready_sides(aligned, pairs, (part.areas[0][rows[0]], part.areas[1][rows[1]]))
    ready = ready._replace(never_found=part.never_found[rows[0]])
    detections = sorted_detections(aligned, rule, protocol, ready=ready)
    check_categories(protocol, detections)
    return matched_detections(detections, rule, protocol)


def _joined(tables: Sequence[Columns]) -> Columns:
    """The rows of several tables, with the columns that all have that have rows."""
    filled = [table for table in tables if len(table)] or tables[:1]
    names = [name for name in filled[0] if all(name in table for table in filled)]
    arrays: dict[str, Any] = {name: joined([table[name] for table in filled]) for name in names}
    return Columns(arrays, n_rows=sum(map(len, filled)))
