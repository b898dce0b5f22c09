"""Where tracks of true objects broke, and by what cause.

An identity is switched because another truth has the earlier one now, because the truth was missed for a while, because
it was away for a while, or while it was in view. Of a gap the cause is the kind of its first miss.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...analysis.errors import identity_breaks
from ...support import arrays
from ...tables import schema
from ...tracking import PoseResult, TrackResult
from ..drawing import display, drawn_tables

TO_ANOTHER = "identity went to another truth"
AFTER_A_GAP = "found again under another identity"
AFTER_AWAY = "back in view under another identity"
IN_VIEW = "renamed while in view"
FIRST_MISS = "missed: {kind}"


def breaks_of(results: Mapping[str, TrackResult | PoseResult], matches: pd.DataFrame) -> pd.DataFrame:
    """The breaks of all submissions, as `identity_breaks` returns them, with their `cause`.

    `matches` are the diagnosed match tables of all submissions, and `row` is the row of theirs in which a break is.
    """
    breaks = drawn_tables.together({name: identity_breaks(x) for name, x in results.items()})
    row = _rows(breaks, matches)
    first_miss = matches["kind"].array.take(row).rename_categories(_of_first_miss)
    cases = {
        TO_ANOTHER: breaks["taken_by"].notna(),
        AFTER_A_GAP: breaks["gap"] > 0,
        AFTER_AWAY: _were_away(matches)[row],
    }
    of_switch = np.select([*cases.values()], [*cases], IN_VIEW)
    cause = np.where(breaks["break"] == "gap", first_miss.astype(object), of_switch)
    return breaks.assign(cause=pd.Series(cause, breaks.index, dtype="str"), row=row)


def _were_away(matches: pd.DataFrame) -> np.ndarray:
    """Whether the truth of each row was in an earlier frame of its sequence, and not in the frame before (N,)."""
    frame, _ = arrays.grouped(arrays.row_keys(matches[schema.FRAME_KEY], schema.FRAME_KEY))
    keys = [name for name in ("submission", "sequence", "joint", "truth_object") if name in matches]
    place = np.flatnonzero(matches["truth_object"].notna())
    place = place[np.argsort(frame[place], kind="stable")]
    groups = matches[keys].take(place).assign(frame=frame[place]).groupby(keys, observed=True, sort=False)
    away = np.zeros(len(matches), bool)
    away[place] = groups["frame"].diff() > 1
    return away


def _of_first_miss(kind: str) -> str:
    """The cause of a gap whose first miss is of this kind."""
    return FIRST_MISS.format(kind=display.words(kind))


def _rows(breaks: pd.DataFrame, matches: pd.DataFrame) -> np.ndarray:
    """The position in `matches` of the truth of each break in the frame of the break."""
    keys = ["submission", *schema.frame_columns(matches), "truth_object"]
    places = matches[keys].assign(row=np.arange(len(matches)))
    found = breaks[keys].merge(places[places["truth_object"].notna()], how="left", on=keys)
    return found["row"].to_numpy(np.int64)
