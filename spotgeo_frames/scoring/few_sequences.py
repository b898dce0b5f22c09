"""Where numbers rest on few sequences: how many are few, or hold most objects, and the words that say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..support.arrays import added_at, grouped, row_keys
from ..tables.schema import FN, TP

if TYPE_CHECKING:
    import pandas as pd

    from ..tables.columns import Columns

# Below this count of sequences little is known of how others differ.
FEW_SEQUENCES = 20

OF_FEW = f"fewer than {FEW_SEQUENCES} sequences"
LITTLE_KNOWN = "little is known"

# The word that marks counts of few sequences in displayed tables, and the note below these tables.
FEW = "few"
FEW_NOTE = f"{FEW}: {OF_FEW}, so {LITTLE_KNOWN}"

# The least share of the true objects that makes one sequence, or two of them together, decide a combined number.
MUCH_IN_ONE, MUCH_IN_TWO = 0.4, 0.6


def held_by_few(sequences: Sequence[Any], n_truth: np.ndarray) -> str | None:
    """Says which one or two sequences hold most of the true objects; None where none do.

    `sequences` are the names of S sequences, and `n_truth` (S,) their counts of true objects. Of two sequences one
    always holds half, and of three two hold most, so these are not worth a word.
    """
    largest = np.argsort(-n_truth, kind="stable")[:2]
    total = n_truth.sum()
    for names, least, fewest in ((largest[:1], MUCH_IN_ONE, 3), (largest, MUCH_IN_TWO, 4)):
        held = n_truth[names].sum()
        if len(n_truth) >= fewest and total and held >= least * total:
            named = " and ".join(str(sequences[int(at)]) for at in names)
            which = f"sequence {named} holds" if len(names) == 1 else f"sequences {named} hold"
            return f"{which} {held / total:.0%} of the true objects, and so much of every combined number"
    return None


def held_in(matches: Columns) -> str | None:
    """Says which one or two sequences hold most of the true objects of a match table; None where none do."""
    of_row, first = grouped(row_keys(matches, ["sequence"]))
    is_true = np.isin(matches["outcome"], [TP, FN])
    return held_by_few(matches["sequence"][first].tolist(), added_at(of_row, is_true, len(first)))


def rests_on_few(table: pd.DataFrame) -> np.ndarray:
    """Whether the `n_sequences` of each row are few; nowhere in a table without them, or with a row a sequence."""
    if "n_sequences" not in table or "sequence" in table:
        return np.zeros(len(table), bool)
    return table["n_sequences"].lt(FEW_SEQUENCES).to_numpy(bool, na_value=False)


def few_marked(texts: pd.DataFrame, table: pd.DataFrame) -> tuple[pd.DataFrame, bool]:
    """The texts of a table's cells with few sequences marked, such as `7 (few)`; and whether there are any."""
    few = rests_on_few(table)
    if not few.any():
        return texts, False
    marked = [f"{text} ({FEW})" if is_few else text for text, is_few in zip(texts["n_sequences"], few, strict=True)]
    return texts.assign(n_sequences=marked), True
