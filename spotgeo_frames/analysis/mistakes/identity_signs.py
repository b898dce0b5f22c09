"""Signs of mistakes in the identities of tracks, for `check(tracks=True)`.

Identities do not change F1. What tells is whether they follow objects: a truth that is matched in two frames one after
the other either keeps its predicted identity or does not. Each function yields the mistake that it finds, F1 unchanged.

    new in every frame     no identity occurs twice, although matched objects go on
    rows of the frame      the identities of every frame are 0, 1, 2 ... or 1, 2, 3 ..., and objects linked to the
                           nearest one of the frame before would keep their identities far more often
    one for all            a sequence has one object a frame, and one identity, which leaps from object to object faster
                           than any of them moves

An identity belongs to its sequence, so identities may as well be unique across sequences, or begin anew in each.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...geometries import centres
from ...matching import Aligned, Pairs, Rule, Side, compared, matcher
from ...tables import Annotations, dataframe_of, null_rows, schema
from ...tracking import Identities, identify
from .evidence import enough, of_one_joint
from .scores import Case, Suspicion

# By what share of the steps that break an identity others have to be better.
SHARE_MENDED = 0.25

# Identities that follow objects in at least this share of their steps need more evidence than being 0, 1, 2 ...
FOLLOWS = 0.5

# An object that moves this many times as fast as objects do is another one.
FASTER = 2.0


class Followed(NamedTuple):
    """One side, followed along the objects of the other side.

    `before` and `after` are rows that are matched with the same object of the other side, in two frames one after the
    other. `of_other` is the identity of `others`, the other side, that each row is matched with, or -1. `sequence` is
    the position of each frame's sequence. `objects` is the table with all joints; the sides have one of them.
    """

    name: str
    objects: pd.DataFrame
    side: Side
    identities: Identities
    before: np.ndarray
    after: np.ndarray
    others: Side
    of_other: np.ndarray
    sequence: np.ndarray

    def kept(self, label: np.ndarray) -> int:
        """In how many steps a label of rows stays the same."""
        return int(np.count_nonzero(label[self.before] == label[self.after]))


def identity_mistakes(case: Case) -> Iterator[Suspicion]:
    """Reports identities of either side that do not follow objects."""
    truth, now = case.truth, case.now
    tables = {"truth": truth.objects, "predictions": case.predictions}
    sides = [Annotations(of_one_joint(table, truth.objects)) for table in tables.values()]
    both = compared(case.rule, sides[0], sides[1], "union", may_be_disjoint=True)
    same_rows = "joint" not in truth.objects and now.counting.all_count
    for followed in _followed(tables, both.aligned, now.pairs if same_rows else matcher.assigned(both, case.rule)):
        for found in (_new_in_every_frame(followed), _rows_of_the_frame(followed), _one_for_all(followed)):
            if found is not None:
                yield case.suspicion(*found, now.f1)
                break


def _followed(tables: Mapping[str, pd.DataFrame], aligned: Aligned, pairs: Pairs) -> list[Followed]:
    """The predictions along the truths, and the truths along the predictions."""
    tracks = identify(aligned, "object")
    sides = (
        ("predictions", aligned.predictions, tracks.predictions, pairs.prediction),
        ("truth", aligned.truth, tracks.truth, pairs.truth),
    )
    answer = []
    for (name, side, identities, rows), (_, other, others, other_rows) in (sides, sides[::-1]):
        of_other = np.full(len(side.frame), -1)
        of_other[rows] = others.of_row[other_rows]
        order = rows[np.lexsort((side.frame[rows], of_other[rows]))]
        before, after = order[:-1], order[1:]
        step = (of_other[before] == of_other[after]) & (np.diff(side.frame[order]) == 1)
        steps, sequence = (before[step], after[step]), tracks.frame_sequence
        answer.append(Followed(name, tables[name], side, identities, *steps, other, of_other, sequence))
    return answer


def _new_in_every_frame(followed: Followed) -> tuple[str, str] | None:
    """The mistake that no identity occurs in two frames."""
    if not enough("steps", len(followed.before)) or followed.identities.n_identities < len(followed.side.frame):
        return None
    where = _column_that_follows(followed)
    advice = f"give an object the same identity in all its frames{where}: no identity occurs twice in a sequence"
    return f"identities of the {followed.name} are new in every frame", advice


def _rows_of_the_frame(followed: Followed) -> tuple[str, str] | None:
    """The mistake that identities only count the rows of each frame."""
    n_steps, numbers = len(followed.before), followed.side.table["object"]
    if not enough("steps", n_steps) or not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "iu":
        return None
    objects = followed.objects
    if "joint" in objects:
        objects = objects.drop_duplicates(schema.OBJECT_KEY)
    elif not 0 <= numbers.min() <= 1 or numbers.max() > followed.side.counts.max():
        return None  # so of most, without grouping their rows
    frames = objects.groupby(schema.FRAME_KEY)["object"].agg(["min", "max", "size"])
    first, size = frames["min"], frames["size"]
    if first.min() not in (0, 1) or (first != first.min()).any() or not (frames["max"] - first + 1 == size).all():
        return None
    kept, n_changes = followed.kept(numbers), int((size.groupby("sequence").diff().fillna(0) != 0).sum())
    telling = enough("mended steps", n_changes) or kept < FOLLOWS * n_steps
    if not telling or not enough("mended steps", n_steps - kept):
        return None  # so of most that follow objects, without linking their rows
    linked = int(np.count_nonzero(_links(followed)[followed.after] == followed.before))
    if not enough("mended steps", linked - kept) or linked - kept < SHARE_MENDED * (n_steps - kept):
        return None
    reason = (
        f"they stay the same in {kept:,} of {n_steps:,} steps of matched objects; those of the nearest in {linked:,}"
    )
    advice = f"give an object the same identity in all its frames{_column_that_follows(followed)}: {reason}"
    return f"identities of the {followed.name} only count the rows of each frame", advice


def _links(followed: Followed) -> np.ndarray:
    """For each row of the side, the row of the frame before that is nearest, one to one, or -1."""
    side, rows = followed.side, np.arange(len(followed.side.frame))
    x, y = centres(side.table)
    here = pd.DataFrame(
        {"sequence": followed.sequence[side.frame], "frame": side.frame, "object": rows, "x": x, "y": y}
    )
    rule = Rule("distance", float(np.ptp(x) + np.ptp(y)) + 1.0, 0.0)
    before = Annotations(here.assign(frame=here["frame"] + 1))
    both = compared(rule, before, Annotations(here), "union", may_be_disjoint=True)
    pairs = matcher.assigned(both, rule)
    link = np.full(len(rows), -1)
    link[both.aligned.predictions.table["object"][pairs.prediction]] = both.aligned.truth.table["object"][pairs.truth]
    return link


def _column_that_follows(followed: Followed) -> str:
    """Names another column whose values are unique in each frame and follow objects, if there is one."""
    table = dataframe_of(followed.side.table)
    for name in table.columns.difference([*schema.OBJECT_KEY, "x", "y", "w", "h", "score"], sort=False):
        values = table[name]
        named = pd.api.types.is_integer_dtype(values.dtype) or pd.api.types.is_string_dtype(values.dtype)
        if not named or null_rows(values.array).any() or table[[*schema.FRAME_KEY, name]].duplicated().any():
            continue
        if followed.kept(pd.factorize(values)[0]) > FOLLOWS * len(followed.before):
            return f", such as in its column {name}"
    return ""


def _one_for_all(followed: Followed) -> tuple[str, str] | None:
    """The mistake that a sequence with one object a frame has one identity for all of them."""
    counts = [followed.side.counts, followed.others.counts]
    n_sequences = len(np.unique(followed.identities.sequence))
    if max(count.max(initial=0) for count in counts) != 1 or followed.identities.n_identities > n_sequences:
        return None
    if not enough("mended steps", _leaps(followed)):
        return None
    n_others = len(np.unique(followed.of_other[followed.of_other >= 0]))
    advice = f"give each object an identity of its own: {n_others:,} objects have {n_sequences:,} identities"
    return f"identities of the {followed.name} are the same for all objects of a sequence", advice


def _leaps(followed: Followed) -> int:
    """How often the one object goes from one of the others to the next at more than FASTER times their speed.

    One object that the other side follows under several identities does not leap.
    """
    rows = np.flatnonzero(followed.of_other >= 0)
    rows = rows[np.argsort(followed.side.frame[rows], kind="stable")]
    x, y = centres(followed.side.table)

    def speed(before: np.ndarray, after: np.ndarray) -> np.ndarray:
        frames = followed.side.frame[after] - followed.side.frame[before]
        return np.hypot(x[after] - x[before], y[after] - y[before]) / frames

    before, after = rows[:-1], rows[1:]
    same = followed.identities.of_row[before] == followed.identities.of_row[after]
    goes_on = same & (followed.of_other[before] != followed.of_other[after])
    usual = speed(followed.before, followed.after).max(initial=0.0)
    return int((speed(before[goes_on], after[goes_on]) > FASTER * usual).sum())
