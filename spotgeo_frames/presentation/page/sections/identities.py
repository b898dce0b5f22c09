"""The section of where the identities of tracks broke: how often, and a list of the longest breaks."""

import pandas as pd

from ....analysis.errors.identity_changes import identity_breaks
from ...drawing.drawn_tables import together
from ..evaluation import Evaluation
from ..html.blocks import Block, Kept, Section, Text, having, table_of

ABOUT = (
    "A switch: the truth is matched with another predicted identity than before. A gap: the truth is missed between "
    "two frames in which it is matched; a gap that ends in another identity is a switch, too. “Gap, frames” counts the "
    "frames that were missed in between; “taken by” is the truth that has the earlier identity in the frame of the "
    "break."
)
CAPTION = "Breaks of tracks, the longest gaps first"
CUT = ": the first {most:,} switches and {most:,} gaps of each submission"
SHOWN = ["sequence", "frame", "joint", "truth_object", "break", "gap"]
SHOWN += ["predicted_before", "predicted_after", "taken_by", "nearest_truth"]
FILTERS = {name: name for name in ("submission", "sequence", "frame", "joint", "truth_object")}
TABLES = {
    "identity_counts": "How often tracks of true objects broke.",
    "identity_breaks": "Each switch to another predicted identity, and each gap, of the tracks of true objects.",
}

# The most switches, and the most gaps, that the page lists, of all submissions together.
MOST_BREAKS = 1_000


def section(evaluation: Evaluation) -> Section | None:
    """Makes the section; None where identities do not count."""
    results = evaluation.tracked
    if not results:
        return None
    names = evaluation.names
    whose = [] if len(names) == 1 else ["submission"]
    breaks = together({name: identity_breaks(result) for name, result in results.items()})
    counts = _counts(breaks)
    blocks: list[Block] = [table_of("identities", "Breaks of tracks", counts, {"submission": "submission"})]
    if len(breaks):
        most = max(MOST_BREAKS // len(names), 1)
        longest = breaks.sort_values("gap", ascending=False, kind="stable")
        longest = longest[longest.groupby(["submission", "break"], observed=True).cumcount() < most]
        cut = "" if len(longest) == len(breaks) else CUT.format(most=most)
        shown = having(longest, [*whose, *SHOWN])
        blocks += [Text(ABOUT, "note"), table_of("breaks", CAPTION + cut, shown, FILTERS)]
    kept = {"identity_counts": counts, "identity_breaks": breaks}
    tables = {name: Kept(table, TABLES[name]) for name, table in kept.items()}
    return Section("identities", "Identities", "Identities", blocks, tables)


def _counts(breaks: pd.DataFrame) -> pd.DataFrame:
    """How many switches and gaps each submission has, how many frames are missed in its gaps, and its longest gap."""
    is_gap = breaks["break"] == "gap"
    columns = {"n_switches": ~is_gap, "n_gaps": is_gap, "n_missed_in_gaps": breaks["gap"].where(is_gap, 0)}
    table = breaks[["submission"]].assign(**columns, longest_gap=columns["n_missed_in_gaps"])
    how = dict.fromkeys(columns, "sum") | {"longest_gap": "max"}
    counts = table.groupby("submission", observed=False).agg(how)
    return counts.fillna(0).astype("int64").reset_index()
