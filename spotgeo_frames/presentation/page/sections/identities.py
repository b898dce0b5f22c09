"""The section of identities: how often tracks of true objects broke, by cause, and the frames around each break."""

import pandas as pd

from ..evaluation import Evaluation
from ..folder import kept
from ..html.blocks import Block, Section, Text, having, table_of, view_address
from .shown_frames import AROUND, listed_breaks

ABOUT = (
    "A switch: the truth is matched with another predicted identity than before; IDSW counts them. A gap: the truth is "
    "missed between two frames in which it is matched; a gap that ends in another identity is a switch, too. The "
    "causes of switches: another truth has the earlier identity in the frame of the break; or else the truth was "
    "missed before, and found again; or else it was away before, in no truth of the frames between, and is back in "
    "view; or else it was in view all the time. The cause of a gap is the kind of its first miss."
)
ABOUT_OF_POSES = ABOUT.replace("; IDSW counts them", " (poseval leaves out those in the last annotated frame)")
ABOUT_BREAKS = (
    f"“Gap, frames” counts the frames that were missed in between; “taken by” is the truth that has the earlier "
    f"identity in the frame of the break. A click on a frame shows it with the truth that broke and the way of the "
    f"{AROUND} frames before. Steps go through the frames around it, at least {AROUND} before and {AROUND} after, "
    f"where the sequence has them."
)
BREAKS = "Breaks of tracks, the longest gaps first"
CUT = ": {n:,} of {of:,}, as many as there is room for"
SHOWN = ["sequence", "frame", "joint", "truth_object", "break", "cause", "gap"]
SHOWN += ["predicted_before", "predicted_after", "taken_by", "nearest_truth"]


def identities(evaluation: Evaluation) -> Section | None:
    """Makes the section; None where identities do not count."""
    breaks = evaluation.breaks
    if breaks is None:
        return None
    counts, causes = _counts(breaks), _causes(breaks)
    blocks: list[Block] = [table_of("identities", "Breaks of tracks", counts, ["submission"])]
    if len(breaks):
        shown = having(causes, [*evaluation.whose, *causes.columns.drop("submission")])
        blocks.append(Text(ABOUT_OF_POSES if "joint" in breaks else ABOUT, "note"))
        blocks.append(table_of("causes", "Breaks by cause", shown, ["submission", "cause"]))
        blocks += _listed(evaluation, breaks)
    tables = {"identity_counts": counts, "identity_causes": causes, "identity_breaks": breaks.drop(columns="row")}
    return Section("identities", "Identities", "Identities", blocks, kept(tables))


def _listed(evaluation: Evaluation, breaks: pd.DataFrame) -> list[Block]:
    """The breaks that the page lists; the frame of each leads to the viewer."""
    listed = listed_breaks(breaks, evaluation.matches)
    cut = "" if len(listed) == len(breaks) else CUT.format(n=len(listed), of=len(breaks))
    table = table_of("breaks", BREAKS + cut, having(listed, [*evaluation.whose, *SHOWN]))
    place = [*having(listed, [*evaluation.whose, *SHOWN])].index("frame")
    keys = [name for name in ("sequence", "frame", "submission", "truth_object", "joint") if name in listed]
    named = listed[keys].astype("str").rename(columns={"truth_object": "truth"}).to_dict("records")
    links = [view_address({str(key): str(value) for key, value in of.items()} | {"trail": str(AROUND)}) for of in named]
    return [Text(ABOUT_BREAKS, "note"), table._replace(links={place: links})]


def _counts(breaks: pd.DataFrame) -> pd.DataFrame:
    """How many switches and gaps each submission has, how many frames are missed in its gaps, and its longest gap."""
    is_gap = breaks["break"] == "gap"
    columns = {"n_switches": ~is_gap, "n_gaps": is_gap, "n_missed_in_gaps": breaks["gap"].where(is_gap, 0)}
    table = breaks[["submission"]].assign(**columns, longest_gap=columns["n_missed_in_gaps"])
    how = dict.fromkeys(columns, "sum") | {"longest_gap": "max"}
    counts = table.groupby("submission", observed=False).agg(how)
    return counts.fillna(0).astype("int64").reset_index()


def _causes(breaks: pd.DataFrame) -> pd.DataFrame:
    """How many breaks of each submission have which cause, the most frequent first."""
    counts = breaks.groupby(["submission", "break", "cause"], observed=True).size().rename("n_breaks").reset_index()
    return counts.sort_values(["submission", "break", "n_breaks"], ascending=[True, True, False], ignore_index=True)
