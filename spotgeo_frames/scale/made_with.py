"""The column `made_with` of a table of sums: what was evaluated and by which rule, as text.

Other engines carry columns, but lose the notes of a table. So each row says how it was made.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal

import msgspec
import pandas as pd

from ..matching import noted_rule
from ..support import InputError, pandas_tables, plain_value
from ..tables import messages

# The column, and the note of a table of sums without rows, which has no other place for it.
MADE_WITH = "made_with"


class MadeWith(msgspec.Struct):
    """How sums were made.

    `of` is what they are sums of, and `measure` says by what it was matched. `keys` are the columns that say what a row
    is evaluated of, `by` those that were grouped by, and `own_metrics` the metrics of `metric()` whose sums are there.
    `rule` are the notes of the rule; none where another library has lost them. `version` is that of this package.
    `on_request` are the sums of metrics of tracks on request.
    """

    of: Literal["matches", "tracks", "poses"]
    measure: str
    keys: list[str]
    by: list[str]
    own_metrics: list[str]
    rule: dict[str, Any]
    version: str | None = None
    on_request: list[str] = []

    @property
    def text(self) -> str:
        """All of it as JSON."""
        # Notes that a user set may be numbers of NumPy.
        return msgspec.json.encode(self, enc_hook=plain_value).decode()

    @property
    def notes(self) -> dict[Hashable, Any]:
        """The notes of a table that is made of the sums."""
        notes = self.rule if self.version is None else self.rule | {"version": self.version}
        return dict(notes.items())


def made_with(
    of: Literal["matches", "tracks", "poses"],
    measure: str,
    keys: Sequence[str],
    by: Iterable[str],
    own_metrics: Sequence[str],
    table: pd.DataFrame,
    on_request: Sequence[str] = (),
) -> MadeWith:
    """How sums of a table were made, whose notes have the rule."""
    rule = {str(key): value for key, value in noted_rule.rule_notes(table).items()}
    return MadeWith(
        of, measure, list(keys), list(by), list(own_metrics), rule, table.attrs.get("version"), list(on_request)
    )


def marked(table: pd.DataFrame, made: MadeWith) -> pd.DataFrame:
    """A table of sums with the column that says how they were made, and with the notes of the rule."""
    # Hundreds of sums may be a block each, and pandas warns of one more that is inserted there.
    noted = pd.concat([table, pd.Series(made.text, table.index, pandas_tables.TEXT, MADE_WITH)], axis=1)
    noted.attrs = made.notes | {MADE_WITH: made.text}
    return noted


def noted_made_with(table: pd.DataFrame, name: str) -> list[tuple[MadeWith, str]]:
    """How the rows of a table of sums were made: each way that there is, with the place of its first row.

    A table without rows has it in its notes, or not at all. Raises InputError if the column is missing, or holds
    anything else; messages call the table `name`.
    """
    lacking = [column for column in ("sequence", MADE_WITH) if column not in table]
    if lacking:
        raise InputError([messages.missing(name, column, (), "sums() makes tables that have it") for column in lacking])
    texts = table[MADE_WITH].drop_duplicates()
    places = [f"{name}: sequence {table['sequence'].loc[row]}" for row in texts.index]
    if not len(table) and MADE_WITH in table.attrs:
        texts, places = pd.Series([table.attrs[MADE_WITH]]), [name]
    try:
        return [(msgspec.json.decode(text, type=MadeWith), place) for text, place in zip(texts, places, strict=True)]
    except (msgspec.MsgspecError, TypeError):
        raise InputError(f"{name}: column {MADE_WITH}: holds other text than sums() writes; keep it as it is") from None


def one_way(ways: Sequence[tuple[MadeWith, str]]) -> MadeWith:
    """The one way in which sums were made; raises InputError where they were made in several.

    Rules that another library has lost are not compared.
    """
    known = [way for way in ways if way[0].rule]
    first, place = (known or ways)[0]
    for made, other in ways:
        told = [_told(way, with_rule=bool(made.rule)) for way in (first, made)]
        if told[0] != told[1]:
            what = f"has sums of {told[0]}; {other} has sums of {told[1]}"
            raise InputError(f"{place} {what}; sums that were made in different ways cannot be added")
    return first


def _told(made: MadeWith, with_rule: bool) -> str:
    """How sums were made, in words."""
    words = [f"{made.of} by {made.measure}, one row a {' and '.join(dict.fromkeys([*made.keys, *made.by]))}"]
    words += [f"own metrics {messages.listed(made.own_metrics)}"] if made.own_metrics else []
    words += [f"sums on request {messages.listed(made.on_request)}"] if made.on_request else []
    words += [f"{key} {value}" for key, value in made.rule.items()] if with_rule else []
    return ", ".join(words)
