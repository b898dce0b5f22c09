"""Tags of rows: one text a row, given in the view or set from a table."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...support.errors import InputError
from ...support.pandas_tables import TEXT
from ...tables.arrow import as_pandas
from ...tables.messages import counted, missing
from .contents import Contents
from .rows import keys_in, packed, row_keys_of

NAME = "explore: tags"


class Tags(NamedTuple):
    """The tags of rows of match tables.

    Attributes
    ----------
    of_rows
        The tag of each tagged row (in all tables).
    others
        A table of keys and tags of rows that the match tables do not have; None where there are none.
    """

    of_rows: Mapping[int, str]
    others: pd.DataFrame | None = None


def tags_table(contents: Contents, tags: Tags) -> pd.DataFrame:
    """The keys of tagged rows, in the order of the match tables, with their `tag`."""
    rows = sorted(tags.of_rows)
    table = row_keys_of(contents).take(rows).reset_index(drop=True)
    table["tag"] = pd.Series([tags.of_rows[row] for row in rows], dtype=TEXT)
    table.attrs = {}
    return table if tags.others is None else pd.concat([table, tags.others], ignore_index=True)


def tags_in(contents: Contents, given: Any) -> Tags:
    """The tags in a table of keys and `tag`; raises InputError if it is none.

    Of several tags of a row, the last counts. Rows that the match tables do not have are kept.
    """
    table = as_pandas(given, NAME)
    keys = row_keys_of(contents)
    if "tag" not in table:
        raise InputError(missing(NAME, "tag", table.columns, "each row needs one"))
    is_text = np.array([isinstance(tag, str) for tag in table["tag"].tolist()], bool)
    if not is_text.all():
        raise InputError(f"{NAME}: column tag: {counted(int((~is_text).sum()), 'row')} no text; leave these rows out")
    named = keys_in(table, keys, NAME)
    mine, others = packed([keys, named])
    order = np.argsort(mine, kind="stable")
    place = np.minimum(np.searchsorted(mine[order], others), len(mine) - 1)
    rows = order[place]
    is_known = mine[rows] == others
    texts = table["tag"].tolist()
    of_rows = {int(row): texts[at] for at, row in enumerate(rows) if is_known[at]}
    lost = named.assign(tag=pd.Series(texts, named.index, dtype=TEXT))[~is_known]
    return Tags(of_rows, lost if len(lost) else None)
