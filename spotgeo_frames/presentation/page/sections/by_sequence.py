"""The section of tracks and poses: their metrics by sequence, of poses also by joint."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from ....support import label
from ....tracking import PoseResult, TrackResult
from ...drawing import drawn_tables
from ..evaluation import COMBINED, Evaluation, intervals_of, rows_of
from ..folder import kept
from ..html.blocks import Block, Kept, Section, Text, having, table_of
from .multiples import METRICS_OF_TRACKS, small_multiples

# The metrics of tables, of tracks and of poses.
SHOWN = ["HOTA", "DetA", "AssA", "MOTA", "IDF1", "IDSW", "Frag", "MT", "PT", "ML"]
SHOWN_OF_POSES = ["HOTA", "DetA", "AssA", "LocA", "mota", "motp", "pre", "rec", "ap"]

# The most sequences that a chart has room for.
MOST_DRAWN = 40

TOGETHER = "all sequences"
NO_INTERVALS = (
    "How much sequences differ tells how sure a number is. So a single sequence has no interval here; all sequences "
    "together have theirs, or the reason why not, among the numbers."
)
WORST = "The charts show the {most} sequences of which {name} has the lowest HOTA; the table has all {n:,}."


def tracks(evaluation: Evaluation) -> Section | None:
    """Makes the section; None where identities do not count."""
    results = evaluation.tracked
    if not results:
        return None
    of_poses = any(isinstance(x, PoseResult) for x in results.values())
    summary = drawn_tables.together({name: x.summary for name, x in results.items()})
    tables = {"track_summary": summary}
    shown = SHOWN_OF_POSES if of_poses else SHOWN
    blocks: list[Block] = [table_of("tracks-together", "All sequences together", _together(evaluation, summary, shown))]
    blocks += _by_sequence(evaluation, _of_all_joints(summary), shown)
    if of_poses:
        tables["joints"] = _joints(results)
        blocks += _by_joint(evaluation, summary, tables["joints"])
    title = "Poses by sequence and joint" if of_poses else "Tracks by sequence"
    return Section("tracks", title, "Poses" if of_poses else "Tracks", blocks, _kept(tables, of_poses))


def _kept(tables: Mapping[str, pd.DataFrame], of_poses: bool) -> dict[str, Kept]:
    """The tables for the folder, with what a row is."""
    return kept(tables, " and joint" if of_poses else "")


def _of_all_joints(summary: pd.DataFrame) -> pd.DataFrame:
    """The rows of a summary that are of all joints together."""
    return summary[summary["joint"].isna()] if "joint" in summary else summary


def _together(evaluation: Evaluation, summary: pd.DataFrame, shown: Sequence[str]) -> pd.DataFrame:
    """The numbers of all sequences together, a row a submission."""
    rows = _of_all_joints(summary)
    return having(rows[rows["sequence"].isna()], [*evaluation.whose, *shown])


def _by_sequence(evaluation: Evaluation, summary: pd.DataFrame, shown: Sequence[str]) -> list[Block]:
    """The charts and the table of each sequence; nothing where there is but one."""
    names, metrics = evaluation.names, [name for name in METRICS_OF_TRACKS if name in summary]
    each = summary[summary["sequence"].notna()]
    worst = _worst_first(each, names[0])
    if len(worst) < 2:
        return []
    blocks: list[Block] = [Text(NO_INTERVALS, "note")]
    if len(worst) > MOST_DRAWN:
        blocks.append(Text(WORST.format(most=MOST_DRAWN, name=names[0], n=len(worst)), "note"))
    drawn = _drawn(evaluation, each, worst[:MOST_DRAWN], metrics)
    blocks += small_multiples("sequences", drawn, metrics, names, ["sequence"])
    table = having(each, [*evaluation.whose, "sequence", *shown])
    return [*blocks, table_of("tracks-by-sequence", "Each sequence", table, ["submission", "sequence"])]


def _worst_first(each: pd.DataFrame, name: str) -> list[object]:
    """The sequences, those of which a submission has the lowest HOTA first."""
    of_name = each[each["submission"] == name].sort_values("HOTA", kind="stable")
    return list(dict.fromkeys([*of_name["sequence"], *each["sequence"]]))


def _drawn(
    evaluation: Evaluation, each: pd.DataFrame, sequences: Sequence[object], metrics: Sequence[str]
) -> pd.DataFrame:
    """What charts by sequence draw, as a table of intervals: all sequences together with their intervals, then each."""
    known = rows_of(evaluation.intervals, COMBINED)
    known = known[known["metric"].isin(metrics)][["submission", "metric", "estimate", "low", "high"]]
    place = {sequence: position for position, sequence in enumerate(sequences)}
    rows = each[each["sequence"].isin(sequences)]
    rows = rows.iloc[rows["sequence"].map(place).argsort(kind="stable")]
    long = rows.melt(["submission", "sequence"], list(metrics), "metric", "estimate")
    together = known.assign(sequence=_unlike(TOGETHER, map(label, each["sequence"])))
    answer = pd.concat([together, long.assign(low=float("nan"), high=float("nan"))], ignore_index=True)
    return answer.astype({"submission": each["submission"].dtype})


def _unlike(text: str, names: Iterable[str]) -> str:
    """A text that is none of these names: in brackets, where one is called like it."""
    taken = {*names}
    while text in taken:
        text = f"({text})"
    return text


def _joints(results: Mapping[str, TrackResult | PoseResult]) -> pd.DataFrame:
    """The combined metrics of each joint with their intervals."""
    metrics = [name for name in METRICS_OF_TRACKS if all(name in x.summary for x in results.values())]
    return drawn_tables.together({name: _joints_of(x, metrics) for name, x in results.items()})


def _joints_of(x: TrackResult | PoseResult, metrics: Sequence[str]) -> pd.DataFrame:
    """The metrics of each joint with their intervals, in the order of the summary."""
    table = intervals_of(x, "joint", metrics)
    place = {joint: position for position, joint in enumerate(x.summary["joint"].dropna().unique())}
    return table.iloc[table["joint"].map(place).argsort(kind="stable")]


def _by_joint(evaluation: Evaluation, summary: pd.DataFrame, joints: pd.DataFrame) -> list[Block]:
    """The charts and the table of each joint."""
    rows = summary[summary["sequence"].isna() & summary["joint"].notna()]
    blocks = small_multiples("joints", joints, METRICS_OF_TRACKS, evaluation.names, ["joint"])
    table = having(rows, [*evaluation.whose, "joint", *SHOWN_OF_POSES])
    return [*blocks, table_of("joints", "Each joint, of all sequences", table, ["submission", "joint"])]
