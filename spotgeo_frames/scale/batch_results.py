"""What batches of frames give: their sums, and their match tables as one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..matching import FrameRule, Rule, compared, crowds, left_out, matcher
from ..scoring import Sums, match_sums
from ..support import arrays
from ..tables import SideColumns, match_dataframe, schema


class Evaluated(NamedTuple):
    """What two sides give: the sums of each sequence, a match table or None, and the text of a warning or None."""

    sums: Sums
    matches: pd.DataFrame | None
    warning: str | None


def evaluate(
    truth: SideColumns, predictions: SideColumns, rule: Rule, frames: FrameRule, own: Sequence[str], *, keep: bool
) -> Evaluated:
    """Matches two checked sides, one of which may have sequences that the other has not.

    The match table is made where it is to be kept, or where own metrics need it. Raises InputError as `match` does.
    """
    both = compared(rule, truth, predictions, frames, may_be_disjoint=True)
    counting = crowds.without_crowds(both, rule)
    pairs, warning = matcher.assigned(counting.sides, rule), left_out.left_out(both.aligned, rule, of_part=True)
    if not keep and not own:
        return Evaluated(match_sums.pair_sums(counting, pairs, rule), None, warning)
    table = matcher.counted_table(counting, pairs, rule)
    sums = match_sums.match_pieces(match_sums.group_rows(table, None, own=own))
    return Evaluated(sums, match_dataframe(table) if keep else None, warning)


def joined_matches(tables: Sequence[pd.DataFrame], rule: Rule) -> pd.DataFrame:
    """The match tables of batches as one, in the order of the frames.

    Until a batch had objects, the rule was not known, so tables of empty frames may lack the measure of the rule.
    """
    measure, other = ("distance", "similarity") if rule.by_distance else ("similarity", "distance")
    tables = [table for table in tables if len(table)] or tables[:1]
    table = joined_tables([of if measure in of else of.rename(columns={other: measure}) for of in tables])
    return table.take(np.argsort(arrays.row_keys(table, schema.FRAME_KEY), kind="stable")).reset_index(drop=True)


def joined_tables(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """One or more tables below each other, with all columns that any of them has.

    A column that is null throughout a table, or has no rows there, does not decide of which type it is.
    """
    tables = [table for table in tables if len(table)] or tables[:1]
    types: dict[Hashable, set[Any]] = {}
    for name, kind in (item for table in tables for item in table.dtypes.items()):
        types.setdefault(name, set()).add(kind)
    differing = {name for name, kinds in types.items() if len(kinds) > 1}
    alike = [
        table.drop(columns=[name for name in table if name in differing and table[name].isna().all()])
        for table in tables
    ]
    return pd.concat(alike, ignore_index=True).reindex(columns=list(types))
