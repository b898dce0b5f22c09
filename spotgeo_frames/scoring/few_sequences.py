"""Where numbers rest on few sequences: below how many, and the words that warnings and displayed tables say it with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

# Below this count of sequences little is known of how others differ.
FEW_SEQUENCES = 20

OF_FEW = f"fewer than {FEW_SEQUENCES} sequences"
LITTLE_KNOWN = "little is known"

# The word that marks counts of few sequences in displayed tables, and the note below these tables.
FEW = "few"
FEW_NOTE = f"{FEW}: {OF_FEW}, so {LITTLE_KNOWN}"


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
