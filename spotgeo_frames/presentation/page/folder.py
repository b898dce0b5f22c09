"""The folder of Parquet behind a page: the tables of all sections, and a README that explains every column.

The README has queries that compute the headline metrics from `matches.parquet` alone, by DuckDB and by pandas.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from ...matching import Rule
from ...scoring import slice_files
from ...support import InputError, Write, __version__, in_markdown, reading, writing
from ..drawing import wording
from .evaluation import CONFIDENCE
from .folder_queries import QUERIES
from .html.blocks import Kept

TITLE = "# The tables behind a report"

# What the names of tables of tracks by condition begin with.
OF_TRACKS = "tracks_"

# What the names of tables of differences by slices begin with.
DIFFERENCES = "differences_"

# What a row of each table is; {} is what a section adds.
TABLES = {
    "suspicions": "Common mistakes that a submission seems to have; no rows where nothing is suspicious.",
    "matches": "A row for each hit, miss and false alarm, and for each empty frame; all metrics follow from it.",
    "summary": "The headline metrics.",
    "intervals": "The headline metrics with their confidence intervals, from leaving out one sequence at a time.",
    "leaderboard": "The submissions in the competition's order, or by AP or HOTA.",
    "pairs": "Differences between submissions (`a` minus `b`), with intervals and p-values.",
    "changes": "How many truths and false alarms change from the best submission to each other one.",
    "precision_curve": "Precision over recall: the mean over categories, at each threshold of the similarity.",
    "precision_by_category": "The numbers of average precision of each category.",
    "classes": "The numbers of each class.",
    "class_curves": "Precision over recall of each class, at the thresholds of the similarity that the page draws.",
    "confusion": "How often truths of each class are detected as each class, or not at all; null is background.",
    "label_suspects": "Labels that may be wrong, the most suspect first.",
    "precision_costs": "What each kind of error of TIDE costs in average precision, if this kind alone were corrected.",
    "track_summary": "The metrics of tracks of each sequence{}, and of all together, where `sequence` is null.",
    "joints": "The metrics of poses by joint, of all sequences together, with intervals.",
    "hota_curve": "HOTA and its parts at each alpha, of all sequences{} together.",
    "diagnosis": "Each miss and each false alarm with its kind.",
    "error_costs": "The cost of each kind of error: the metrics if this kind alone were corrected.",
    "identity_counts": "How often tracks of true objects broke.",
    "identity_causes": "How many switches and gaps have which cause.",
    "identity_breaks": "Each switch to another predicted identity, and each gap, of the tracks of true objects.",
    "worst_slices": "The slices in which recall or precision is lower than in the rest by more than chance explains.",
    "sweep": "The metrics at score thresholds, matched anew at each.",
    "sweep_best": "The best score threshold, and what to expect of it on new sequences, with its interval.",
}
OF_CONDITIONS = "The headline metrics of tracks by `{}`, with all other truths as distractors, with intervals."
OF_SLICES = "The headline metrics by `{}`; null where they are unknown."
OF_DIFFERENCES = "Differences between submissions (`a` minus `b`) by `{}`, with intervals and p-values."

# The meanings of columns that belong to no metric; {px} is the unit of distances.
COLUMNS = {
    "submission": "the name of the submission",
    "sequence": "the sequence",
    "detected_as": "the class of the detection that a truth has where detections choose truths of any class, or "
    "background",
    "detection_of": "the class of the truth that a detection has there, or background",
    "truth_category": "the class of the truth",
    "predicted_category": "the class of the prediction; in `confusion`, what the truth was detected as",
    "truth_object": "the name of the truth within its frame",
    "other_truth_object": "the name of the second truth, where two may be one object",
    "look_at": "what to look at, in words",
    "frame": "the number of the frame within its sequence",
    "joint": "the joint of a pose",
    "outcome": "`TP` (found), `FN` (missed), `FP` (false alarm), or `empty` for a frame with none of them",
    "distance": "{px}, of a TP: between truth and prediction, at most tau; null otherwise",
    "similarity": "0 to 1, of a TP: of truth and prediction, at least the threshold; null otherwise",
    "squared_error": "{px}², by the metric document: distance² of a TP (0 up to epsilon), tau² of an FN or FP; null "
    "after matching by similarity",
    "kelvins_error": "by the competition's server: distance of a TP from epsilon to tau, or 0; tau² of an FN or FP; "
    "null after matching by similarity",
    "gospa_error": 'what assignment="least" makes small: distance^power of a TP, and tau^power / 2 of an FN or FP',
    "category": "the category of the truth, or else of the prediction",
    "area": "the range of areas of objects, as COCO has them",
    "alpha": "the least similarity of a pair that counts",
    "change": "the two submissions, and what became of an object from the first to the second",
    "count": "how many objects",
    "break": "`switch` (to another predicted identity) or `gap` (the truth is missed for a while)",
    "cause": "of a switch, where the earlier identity went, or that the truth was missed or away before; of a gap, the "
    "kind of its first miss",
    "gap": "in how many frames between the two matches the truth is missed",
    "predicted_before": "the predicted identity of the match before the break",
    "predicted_after": "the predicted identity of the match after the break",
    "taken_by": "the truth that is matched with predicted_before in the frame of the break; null if there is none",
    "nearest_truth": "px, from the truth to the nearest other one in the frame of the break; null if there is none",
    "n_switches": "switches to another predicted identity",
    "n_gaps": "gaps in which a truth is missed",
    "n_missed_in_gaps": "frames in which truths are missed within gaps",
    "longest_gap": "frames, the longest of these gaps",
    "n_breaks": "switches or gaps of the kind, or of the cause",
    "dAP": "percentage points, the gain as tidecv has it",
    "kind": (
        "the kind of an error. Misses: taken (a prediction is near, but matched with another truth), confused (a "
        "prediction of another category is near), mislocated (detected in the wrong place), confused_and_mislocated, "
        "lost (no prediction is near). False alarms: no_truth_in_frame, duplicate (of a truth that is found), "
        "confused, mislocated, confused_and_mislocated, background (no truth is near). In `error_costs` also all, and "
        "of tracks switch and gap. In `precision_costs` the kinds of TIDE, with all_misses, all_false_alarms and all"
    ),
    "pair_object": (
        "the object that explains an error: the truth that a false alarm is near, or the prediction that is near a "
        "miss; null where there is none"
    ),
    "pair_category": "the category of that object",
    "pair_distance": "{px}, between an error and the object that explains it",
    "pair_head_sizes": "in head sizes of the truth, between an error and the joint that explains it",
    "pair_similarity": "0 to 1, of an error and the object that explains it",
    "predicted_file_order": "the position of the prediction in its frame, in the order of the file",
    "event": "what happened to a track: match, switch (to another predicted track), miss or false positive",
    "fragmentation": "whether a truth is matched again after a gap",
    "frame_n_truth": "truths in the frame",
    "frame_n_predicted": "predictions in the frame",
    "metric": "the name of the metric, as the columns of `summary`",
    "estimate": "the value of the metric; in `pairs` and differences, that of `a` minus that of `b`; in "
    "`worst_slices`, by how much the slice differs from the rest",
    "low": "lower bound of the interval",
    "high": "upper bound of the interval",
    "n_misses": "misses of the kind",
    "n_false_alarms": "false alarms of the kind",
    "suspicion": "the suspected mistake",
    "advice": "how to correct it",
    "tau": "{px}, largest distance of a TP",
    "threshold": "the least similarity of a TP",
    "score_threshold": "the least score of a prediction that counts; in `sweep_best` that of the highest f1 or HOTA",
    "rank": "place on the leaderboard: highest f1, then lowest kelvins_mse; where scores are ranked, highest AP; of "
    "tracks and poses highest HOTA",
    "apart_from_next": "whether its f1, AP or HOTA is shown to differ from that of the next row: p_adjusted below 0.05",
    "a": "the first submission",
    "b": "the second submission",
    "p_value": "of a test that swaps whole sequences between the two, by which the interval is, too; in "
    "`worst_slices`, of one that flips the signs of whole sequences",
    "p_adjusted": "p_value adjusted over all pairs and metrics together; of slices, over all slices together",
    "aggregate": "`combined` (all sequences together), `macro` (the mean over sequences) or `without` a sequence",
    "n_effective": "so many sequences of equal size would have weights in the metric as even as these",
    "columns": "the columns that make slices",
    "slice": "the slice, its values in these columns",
    "contrast": "`within sequences` (compared with other rows of the same sequence) or `between sequences`",
    "n_rows": "truths in the slice, or predictions where the metric is precision",
    "value": "the metric in the slice",
    "rest": "the metric in all other rows",
    "selected": "whether the slice was chosen because it stands out; the interval allows for that",
    "degrees_of_freedom": "how many sequences the standard error rests on; of the t distribution",
    "largest_share": "the greatest share that one sequence has of all weights",
}
GEOMETRY = {
    "object": "the name, within the frame,",
    "x": "px, across, from the left,",
    "y": "px, down, from the top,",
    "w": "px, the width",
    "h": "px, the height",
    "score": "the score",
}

# The tables and the files that a report may write to its folder, as patterns of names.
PATTERNS = ["by_*", f"{OF_TRACKS}*", f"{DIFFERENCES}by_*", *TABLES]
WRITTEN = ("README.md", *(f"{name}.parquet" for name in PATTERNS))


def readme_of(tables: Mapping[str, Kept], rule: Rule, notes: Mapping[str, str]) -> str:
    """The text of the README of tables by their names; `notes` are what the report was made with."""
    unit = None if rule.unit is None else in_markdown(rule.unit)
    files = "\n\n".join(_section(name, kept, unit) for name, kept in tables.items())
    contents = "\n".join(
        f"| `{in_markdown(name)}.parquet` | {len(kept.table):,} | {kept.meaning} |" for name, kept in tables.items()
    )
    made_from = "\n".join(f"- {in_markdown(key)}: `{in_markdown(value)}`" for key, value in notes.items())
    sql, pandas = QUERIES["distance" if rule.by_distance else "similarity"]
    return f"""{TITLE}

Made by spotgeo_frames {__version__} with {wording.rule_text(rule)}, from

{made_from or "- tables in memory"}

The metadata of each file has the same notes. Shares are of 1, undefined values are null, and intervals have
{CONFIDENCE:.0%} confidence.

| file | rows | meaning |
| --- | ---: | --- |
{contents}

These queries compute the headline metrics from `matches.parquet` alone. Run them in this folder.

With DuckDB:

```sql
{sql}
```

With pandas:

```python
{pandas}
```

{files}
"""


def _section(name: str, kept: Kept, unit: str | None) -> str:
    """The section of the README about one table; `unit` is that of distances, None for px."""
    table = kept.table
    lines = [
        f"| `{in_markdown(column)}` | {table[column].dtype} | {_meaning(column, unit)} |" for column in map(str, table)
    ]
    head = ["| column | type | meaning |", "| --- | --- | --- |"]
    return "\n".join([f"## {in_markdown(name)}.parquet", "", kept.meaning, "", *head, *lines])


def _meaning(column: str, unit: str | None) -> str:
    """The meaning of a column, for the README; `unit` is that of distances, None for px."""
    known = COLUMNS.get(column) or wording.meaning(column, unit)
    if known is not None:
        return known.replace("{px}", wording.unit_of_distances(unit) or "the unit of distances")
    side, _, name = column.partition("_")
    nouns = {"truth": "truth", "predicted": "prediction", "frame": "frame", "sequence": "sequence"}
    of = f"the {nouns.get(side, 'input')}"
    if side in ("truth", "predicted") and name in GEOMETRY:
        return f"{GEOMETRY[name]} of {of}"
    return f"the column `{in_markdown(name)}` of {of}, or a bin of it"


def kept(tables: Mapping[str, pd.DataFrame], added: str = "") -> dict[str, Kept]:
    """Tables for the folder by their names, with what a row of each is."""
    return {name: Kept(table, TABLES[name].format(added)) for name, table in tables.items()}


def kept_slices(
    by_slice: Mapping[tuple[str, ...], pd.DataFrame], meaning: str = OF_SLICES, prefix: str = ""
) -> dict[str, Kept]:
    """Summaries by slices for the folder, by the names of their files; they come by the columns that make slices."""
    named = zip(by_slice, slice_files(by_slice).items(), strict=True)
    return {
        f"{prefix}{name}": Kept(table, meaning.format(in_markdown("*".join(columns))))
        for columns, (name, table) in named
    }


def earlier_tables(folder: Path) -> list[str]:
    """The names of the tables that an earlier report has written to a folder, by the README there.

    Raises InputError if there is a README that no report wrote.
    """
    readme = folder / "README.md"
    with reading.readable(readme):
        if not readme.exists():
            return []
        lines = [] if readme.is_symlink() else readme.read_text("utf-8", "replace").splitlines()
    if lines[:1] != [TITLE]:
        raise InputError(f"{readme}: no report wrote this file; give the tables a folder of their own")
    return [name[1] for line in lines if (name := re.fullmatch(r"## (.+)\.parquet", line))]


def files(kept: Mapping[str, Kept], rule: Rule, folder: Path, notes: Mapping[str, str]) -> dict[Path, Write | None]:
    """What writes each file of a folder, for `write_together`: these tables by their names, and their README.

    Tables of an earlier report that this one lacks are removed. `notes` go into the metadata of each table.
    """
    outdated = (folder / f"{name}.parquet" for name in earlier_tables(folder) if name not in kept)
    return {
        **dict.fromkeys(path for path in outdated if path.parent == folder and path.is_file()),
        **writing.table_files({name: table for name, (table, _) in kept.items()}, folder, notes),
        folder / "README.md": writing.text_file(readme_of(kept, rule, notes)),
    }
