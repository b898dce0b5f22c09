"""The README of the tables: every file, every column, and queries that compute the headline from the matches alone."""

from collections.abc import Mapping

from ....matching.rule import Rule
from ....support.packages import __version__
from ....support.texts import in_markdown
from ...drawing.metric_text import meaning
from ...drawing.rule_texts import rule_text, unit_of_distances
from ..evaluation import CONFIDENCE
from ..html.blocks import Kept
from .queries import QUERIES

TITLE = "# The tables behind a report"
# The meanings of columns that belong to no metric; {px} is the unit of distances.
COLUMNS = {
    "submission": "the name of the submission",
    "sequence": "the sequence",
    "frame": "the number of the frame within its sequence",
    "joint": "the joint of a pose",
    "outcome": "`TP` (found), `FN` (missed), `FP` (false alarm), or `empty` for a frame with none of them",
    "distance": "{px}, of a TP: between truth and prediction, at most tau; null otherwise",
    "similarity": "0 to 1, of a TP: of truth and prediction, at least the threshold; null otherwise",
    "squared_error": "{px}², by the metric document: distance² of a TP (0 up to epsilon), tau² of an FN or FP; null "
    "after matching by similarity",
    "kelvins_error": "by the competition's server: distance of a TP from epsilon to tau, or 0; tau² of an FN or FP; "
    "null after matching by similarity",
    "category": "the category of the truth, or else of the prediction",
    "area": "the range of areas of objects, as COCO has them",
    "alpha": "the least similarity of a pair that counts",
    "change": "the two submissions, and what became of an object from the first to the second",
    "count": "how many objects",
    "break": "`switch` (to another predicted identity) or `gap` (the truth is missed for a while)",
    "gap": "in how many frames between the two matches the truth is missed",
    "predicted_before": "the predicted identity of the match before the break",
    "predicted_after": "the predicted identity of the match after the break",
    "taken_by": "the truth that is matched with predicted_before in the frame of the break; null if there is none",
    "nearest_truth": "px, from the truth to the nearest other one in the frame of the break; null if there is none",
    "n_switches": "switches to another predicted identity",
    "n_gaps": "gaps in which a truth is missed",
    "n_missed_in_gaps": "frames in which truths are missed within gaps",
    "longest_gap": "frames, the longest of these gaps",
    "n_breaks": "switches or gaps of the kind",
    "dAP": "percentage points, the gain as tidecv has it",
    "kind": (
        "the kind of an error. Misses: taken (a prediction is near, but matched with another truth), confused (a "
        "prediction of another category is near), mislocated (detected in the wrong place), confused_and_mislocated, "
        "lost (no prediction is near). False alarms: no_truth_in_frame, duplicate (of a truth that is found), "
        "confused, mislocated, confused_and_mislocated, background (no truth is near). In `error_costs` also all, and "
        "of tracks switch and gap. In `precision_costs` the kinds of TIDE, with all_misses, all_false_alarms and all"
    ),
    "pair_distance": "{px}, between a mislocated miss and its false alarm; null otherwise",
    "pair_head_sizes": "in head sizes of the truth, between a mislocated miss and its false alarm; null otherwise",
    "pair_similarity": "0 to 1, of a mislocated miss and its false alarm; null otherwise",
    "predicted_file_order": "the position of the prediction in its frame, in the order of the file",
    "event": "what happened to a track: match, switch (to another predicted track), miss or false positive",
    "fragmentation": "whether a truth is matched again after a gap",
    "frame_n_truth": "truths in the frame",
    "frame_n_predicted": "predictions in the frame",
    "metric": "the name of the metric, as the columns of `summary`",
    "estimate": "the value of the metric; in `pairs`, that of `a` minus that of `b`",
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
    "p_value": "of a test that swaps whole sequences between the two, by which the interval is, too",
    "p_adjusted": "p_value adjusted over all pairs and metrics together",
    "of": "`combined` (all sequences together), `macro` (the mean over sequences) or `without` a sequence",
    "n_effective": "so many sequences of equal size would have weights in the metric as even as these",
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

Made by spotgeo_frames {__version__} with {rule_text(rule)}, from

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
    known = COLUMNS.get(column) or meaning(column, unit)
    if known is not None:
        return known.replace("{px}", unit_of_distances(unit) or "the unit of distances")
    side, _, name = column.partition("_")
    nouns = {"truth": "truth", "predicted": "prediction", "frame": "frame", "sequence": "sequence"}
    of = f"the {nouns.get(side, 'input')}"
    if side in ("truth", "predicted") and name in GEOMETRY:
        return f"{GEOMETRY[name]} of {of}"
    return f"the column `{in_markdown(name)}` of {of}, or a bin of it"
