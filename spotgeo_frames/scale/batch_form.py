"""The form of batches: what all of them must have in common to be evaluated as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..matching.rule import Rule
from ..matching.words import Header, Words, rule_for
from ..support.errors import InputError
from ..tables.messages import listed
from ..tables.schema import BOX

# The columns of each side that decide how rows are matched; all batches have the same of them.
DECIDING = {
    "truth": frozenset(["joint", "w", "h", "category", "crowd"]),
    "predictions": frozenset(["joint", "w", "h", "category"]),
}


class Form(NamedTuple):
    """The columns of each side that decide how rows are matched, and whether `sequence` and `category` are text.

    What has no rows tells nothing, and is not there.
    """

    columns: Mapping[str, frozenset[str]]
    text: Mapping[str, bool]


NO_FORM = Form({}, {})


def form_of(side: str, columns: Any, others: Sequence[str], frames: Any) -> Form:
    """The form of one side of a batch: of its columns by name, of the names of `others`, and of its frames or None."""
    if not len(columns["sequence"]):
        told = frames is not None and len(frames["sequence"])
        return _form(None, (), is_text(frames["sequence"]), None) if told else NO_FORM
    classes = is_text(columns["category"]) if "category" in columns else None
    return _form(side, (*columns, *others), is_text(columns["sequence"]), classes)


@lru_cache(maxsize=64)
def _form(side: str | None, names: tuple[str, ...], sequences: bool, classes: bool | None) -> Form:
    """The form of these columns, the same object for all batches that have it; `side` is None without rows."""
    text = {"sequence": sequences} | ({} if classes is None else {"category": classes})
    return Form({} if side is None else {side: DECIDING[side].intersection(names)}, text)


def is_text(values: Any) -> bool:
    """Whether a column that holds text or numbers holds text."""
    categories = getattr(values.dtype, "categories", None)
    return (values if categories is None else categories).dtype.kind in "OUM"  # dates become text


def common_form(name: str, known: Form, *others: Form) -> Form:
    """The form that is common to all, the known one itself if there is nothing new in the others.

    Raises InputError if they differ, and calls the others `name`.
    """
    for new in others:
        problems = _differences(name, known, new)
        if problems:
            raise InputError(problems)
        both = Form({**known.columns, **new.columns}, {**known.text, **new.text})
        known = known if both == known else both
    return known


def _differences(name: str, known: Form, new: Form) -> list[str]:
    """The problems of a form that differs from the known one."""
    problems = [
        f"{name}: column {column} is {_kind(new.text[column])}, and {_kind(text)} elsewhere; make them the same"
        for column, text in known.text.items()
        if new.text.get(column, text) != text
    ]
    for side, columns in known.columns.items():
        others = new.columns.get(side, columns)
        problems += [
            f"{name}: {side}: it {verb} {listed(sorted(differing))}, unlike earlier batches; give all the same columns"
            for verb, differing in (("lacks", columns - others), ("has", others - columns))
            if differing
        ]
    return problems


def _kind(text: bool) -> str:
    return "text" if text else "numbers"


def rule_of_form(words: Words, form: Form) -> Rule:
    """The rule that the words and the form make; raises InputError if they do not fit each other.

    While nothing has rows, a threshold alone is that of boxes.
    """
    unknown = BOX if words.threshold is not None and not form.columns else ()
    sides = (Header(side, form.columns.get(side, unknown), side in form.columns) for side in DECIDING)
    return rule_for(words, *sides)
