"""What writers of label files share: whether a table has identities, and what a form cannot tell of its rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..matching import crowds
from ..tables import columns_of, messages, other_words, provenance, schema


def without_identities(objects: pd.DataFrame) -> list[str]:
    """The problem of a checked table whose rows were numbered because it has no column `object`, so they are no tracks.

    The sentence is that of `track`.
    """
    if not objects.attrs.get(schema.NUMBERED):
        return []
    names = [name for name in map(str, objects) if name != "object"]
    why = "tracks need a number or a name that follows an object from frame to frame"
    hint = other_words.way_out(f"{why}; there are {messages.listed(names)}", names, "object")
    return [messages.missing("annotations", "object", names, hint)]


def marks(objects: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Which objects are crowds, and which others are ignored, as a match reads these marks."""
    columns = columns_of(objects)
    provenance.name_source(columns, "annotations")
    is_crowd, is_ignored = (np.zeros(len(objects), bool) if of is None else of for of in crowds.marks(columns))
    return is_crowd, is_ignored


def untold(objects: pd.DataFrame, wrong: np.ndarray, column: str, what: str) -> list[str]:
    """The problem of the marked rows, of which a form cannot tell what `column` says; `what` has the remedy, too."""
    if not wrong.any():
        return []
    keys = messages.first_keys(objects, wrong, schema.OBJECT_KEY)
    return [f"annotations: column {column}: {messages.counted(int(wrong.sum()), 'row')} {what}: {keys}"]


def unmarkable(objects: pd.DataFrame, remedy: str) -> list[str]:
    """The problems of crowds and of ignored objects, of which a form can tell neither; `remedy` ends both."""
    is_crowd, is_ignored = marks(objects)
    problems = untold(objects, is_crowd, "crowd", f"a crowd, {remedy}")
    return problems + untold(objects, is_ignored, "ignore", f"ignored, {remedy}")
