"""Which categories somebody has looked for in a frame, and which of them were labelled in part only.

LVIS and Open Images label only some categories in an image. A category is verified in a frame where it has truths, or
where the frame's list `negative_categories` names it: there are none. Detections of other categories do not count,
since nobody knows. Of the categories in the list `not_exhaustive_categories` only some truths are labelled, so a
detection without a match is no false alarm (lvis 0.5.3, eval.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...matching import Aligned
from ...support import InputError, label
from ...tables import Annotations, Columns, SideColumns, array_of, messages, null_rows, provenance
from .categories import Named
from .protocol_entries import Protocol

# The lists in tables of frames, and what they come from.
NEGATIVE, NOT_EXHAUSTIVE = "negative_categories", "not_exhaustive_categories"
COME_FROM = {
    NEGATIVE: "a list of the categories of which somebody has made sure that the frame has none: neg_category_ids of "
    "LVIS's images, the labels of confidence 0 of Open Images",
    NOT_EXHAUSTIVE: "a list of the categories of which not every object in the frame is labelled: "
    "not_exhaustive_category_ids of LVIS's images",
}


def check_needed(protocol: Protocol, truth: Annotations | SideColumns) -> None:
    """Raises InputError with every column that the protocol needs and the truth does not have."""
    name, frames, categories = provenance.source(truth.objects, "truth"), truth.frames, truth.categories
    wanted = [NEGATIVE] * protocol.verified + [NOT_EXHAUSTIVE] * protocol.needs_not_exhaustive
    problems = []
    for column in wanted:
        if frames is None or column not in frames:
            where = "there is no table of frames" if frames is None else "its table of frames lacks it"
            problems.append(f"{name}: protocol {protocol.name} needs the column {column}, {COME_FROM[column]}; {where}")
    if protocol.frequencies and (categories is None or "frequency" not in categories):
        where = "there is no table of categories" if categories is None else "its table of categories lacks it"
        what = "the column frequency (r, c or f), as LVIS's file of annotations has it for each category"
        problems.append(f"{name}: protocol {protocol.name} needs {what}; {where}")
    elif protocol.frequencies and categories is not None:
        problems += _frequency_problems(truth, name)
    if protocol.verified and "category" not in truth.objects:
        problems.append(f"{name}: protocol {protocol.name} needs the column category")
    if problems:
        if frames is None or categories is None:
            problems[-1] += "; give the tables as Annotations(objects, frames, None, categories)"
        raise InputError(problems)


def _frequency_problems(truth: Annotations | SideColumns, name: str) -> list[str]:
    """What is wrong with the frequencies in the truth's table of categories."""
    table = truth.categories
    assert table is not None
    named = [one for one in array_of(table["frequency"]) if not null_rows([one])[0]]  # null is as if it were not listed
    wrong = [
        *dict.fromkeys(repr(one) if isinstance(one, str) else label(one) for one in named if one not in ("r", "c", "f"))
    ]
    is_are = "is" if len(wrong) == 1 else "are"
    listed = messages.first_listed(wrong)
    return [f"{name} categories: column frequency: {listed} {is_are} none of r, c and f"] if wrong else []


class Labelled(NamedTuple):
    """Marks the predictions whose category is verified in their frame, and those of which only some are labelled, (P,).

    Only some truths are labelled where a category is not labelled exhaustively.
    """

    verified: np.ndarray
    in_part: np.ndarray


def labelled_of(aligned: Aligned, named: Named) -> Labelled:
    """What of the categories of predictions is labelled in their frames."""
    n_categories = len(named.names)
    claimed = aligned.predictions.frame * n_categories + named.of_predictions
    positive = aligned.truth.frame * n_categories + named.of_truth
    verified = np.concatenate([positive, _listed(aligned.frames, NEGATIVE, named.names)])
    in_part = _listed(aligned.frames, NOT_EXHAUSTIVE, named.names)
    return Labelled(np.isin(claimed, verified), np.isin(claimed, in_part))


def _listed(frames: Columns, column: str, names: Any) -> np.ndarray:
    """The frame and category of each entry in a column of lists, packed in one number; unknown ones are left out."""
    import pandas as pd

    if column not in frames:
        return np.zeros(0, np.int64)
    lists = [_entries(one, column) for one in array_of(frames[column])]
    frame = np.repeat(np.arange(len(lists)), [len(one) for one in lists])
    flat = [name for one in lists for name in one]
    category = pd.Index(names).get_indexer(pd.Index(flat, dtype=object)) if flat else np.zeros(0, np.int64)
    known = category >= 0
    return frame[known] * len(names) + category[known]


def _entries(given: Any, column: str) -> Sequence[Any]:
    """The entries of a cell of lists; none for null."""
    import pandas as pd

    if isinstance(given, list | tuple | np.ndarray):
        return [*given]
    if pd.api.types.is_scalar(given) and pd.isna(given):
        return ()
    raise InputError(f"truth frames: column {column}: {given!r:.60} is no list of categories")
