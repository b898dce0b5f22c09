"""Writes the folder of Parquet behind a page, with a README that explains every column and has example queries."""

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from ...matching.rule import Rule
from ...scoring.slice_files import slice_files
from ...support.errors import InputError
from ...support.reading import readable
from ...support.version import __version__
from ...support.writing import Write, table_files, text_file
from ...tables.schema import BOX, FN, FP, SIDE_PREFIXES, frame_columns
from ..metric_text import meaning
from .evaluation import CONFIDENCE, Evaluation
from .queries import QUERIES
from .rule_texts import rule_text

TITLE = "# The tables behind a report"
FILES = {
    "matches": "A row for each hit, miss and false alarm, and for each empty frame; all metrics follow from it.",
    "summary": "The headline metrics.",
    "intervals": "The headline metrics with their confidence intervals, from leaving out one sequence at a time.",
    "diagnosis": "Each miss and each false alarm with its kind.",
    "error_costs": "The cost of each kind of error: the metrics if this kind alone were corrected.",
    "suspicions": "Common mistakes that a submission seems to have; no rows where nothing is suspicious.",
    "sweep": "The metrics at score thresholds, matched anew at each.",
    "sweep_best": "The best score threshold, and what to expect of it on new sequences, with its interval.",
    "leaderboard": "The submissions in the competition's order, or by HOTA.",
    "pairs": "Differences between submissions (`a` minus `b`), with intervals and p-values.",
}
# The meanings of columns that belong to no metric.
COLUMNS = {
    "submission": "the name of the submission",
    "sequence": "the sequence",
    "frame": "the number of the frame within its sequence",
    "joint": "the joint of a pose",
    "outcome": "`TP` (found), `FN` (missed), `FP` (false alarm), or `empty` for a frame with none of them",
    "distance": "px, of a TP: between truth and prediction, at most tau; null otherwise",
    "similarity": "0 to 1, of a TP: of truth and prediction, at least the threshold; null otherwise",
    "squared_error": "px², by the metric document: distance² of a TP (0 up to epsilon), tau² of an FN or FP; null "
    "after matching by similarity",
    "kelvins_error": "by the competition's server: distance of a TP from epsilon to tau, or 0; tau² of an FN or FP; "
    "null after matching by similarity",
    "category": "the category of the truth, or else of the prediction",
    "kind": (
        "the kind of an error. Misses: taken (a prediction is near, but matched with another truth), confused (a "
        "prediction of another category is near), mislocated (detected in the wrong place), confused_and_mislocated, "
        "lost (no prediction is near). False alarms: no_truth_in_frame, duplicate (of a truth that is found), "
        "confused, mislocated, confused_and_mislocated, background (no truth is near). In `error_costs` also all"
    ),
    "pair_distance": "px, between a mislocated miss and its false alarm; null otherwise",
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
    "tau": "px, largest distance of a TP",
    "threshold": "the least similarity of a TP",
    "score_threshold": "the least score of a prediction that counts; in `sweep_best` that of the highest f1 or HOTA",
    "rank": "place on the leaderboard: highest f1, then lowest kelvins_mse; of tracks and poses highest HOTA",
    "bootstrap_share_first": "the share of draws of sequences, with replacement, in which the submission is first",
    "apart_from_next": "whether its f1, or HOTA, is shown to differ from that of the next row: p_adjusted below 0.05",
    "a": "the first submission",
    "b": "the second submission",
    "p_value": "of a test that swaps whole sequences between the two, by which the interval is, too",
    "p_adjusted": "p_value adjusted over all pairs and metrics together",
    "of": "`combined` (all sequences together), `macro` (the mean over sequences) or `without` a sequence",
    "n_effective": "of as many sequences of equal size their weights in the metric would be as even",
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

# The files that a report may write to its folder of tables, as patterns of names.
WRITTEN = ("README.md", "by_*.parquet", *(f"{name}.parquet" for name in FILES))


def earlier_tables(folder: Path) -> list[str]:
    """The names of the tables that an earlier report has written to a folder, by the README there.

    Raises InputError if there is a README that no report wrote.
    """
    readme = folder / "README.md"
    with readable(readme):
        if not readme.exists():
            return []
        lines = [] if readme.is_symlink() else readme.read_text("utf-8", "replace").splitlines()
    if lines[:1] != [TITLE]:
        raise InputError(f"{readme}: no report wrote this file; give the tables a folder of their own")
    return [name[1] for line in lines if (name := re.fullmatch(r"## (.+)\.parquet", line))]


def files(evaluation: Evaluation, folder: Path, notes: Mapping[str, str]) -> dict[Path, Write | None]:
    """What writes each file of a folder, for `write_together`: all tables of a report, and their README.

    Tables of an earlier report that this one lacks are removed. `notes` go into the metadata of each table.
    """
    matches = evaluation.matches
    slices = slice_files(evaluation.slices)
    errors = matches[matches["outcome"].cat.codes.isin([FN, FP])]
    measures = [str(column) for column in matches if str(column).startswith("pair_")]
    diagnosed = ["submission", *frame_columns(matches), "outcome", "kind", *measures]
    diagnosed += ["truth_object", "predicted_object"]
    diagnosed += [column for column in (f"{side}{name}" for side in SIDE_PREFIXES for name in BOX) if column in matches]
    tables = {
        "matches": matches,
        "summary": evaluation.summary,
        "intervals": evaluation.intervals,
        **slices,
        "diagnosis": errors[diagnosed],
        "error_costs": evaluation.costs,
        "suspicions": evaluation.suspicions,
    }
    if evaluation.sweep is not None:
        tables |= {"sweep": evaluation.sweep.curve, "sweep_best": evaluation.sweep.best}
    if evaluation.compared is not None:
        board, pairs = evaluation.compared
        tables |= {"leaderboard": board.rename(columns={"name": "submission"}), "pairs": pairs}
    meanings = FILES | {
        name: f"The headline metrics by `{_in_markdown('*'.join(columns))}`; null where they are unknown."
        for name, columns in zip(slices, evaluation.slices, strict=True)
    }
    outdated = (folder / f"{name}.parquet" for name in earlier_tables(folder) if name not in tables)
    return {
        **dict.fromkeys(path for path in outdated if path.parent == folder and path.is_file()),
        **table_files(tables, folder, notes),
        folder / "README.md": text_file(_readme(tables, meanings, evaluation.rule, notes)),
    }


def _readme(
    tables: Mapping[str, pd.DataFrame], meanings: Mapping[str, str], rule: Rule, notes: Mapping[str, str]
) -> str:
    """The text of the README."""
    files = "\n\n".join(_section(name, meanings[name], table) for name, table in tables.items())
    contents = "\n".join(
        f"| `{_in_markdown(name)}.parquet` | {len(table):,} | {meanings[name]} |" for name, table in tables.items()
    )
    made_from = "\n".join(f"- {_in_markdown(key)}: `{_in_markdown(value)}`" for key, value in notes.items())
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


def _section(name: str, meaning_of_table: str, table: pd.DataFrame) -> str:
    """The section of the README about one table."""
    lines = [f"| `{_in_markdown(column)}` | {table[column].dtype} | {_meaning(column)} |" for column in map(str, table)]
    head = ["| column | type | meaning |", "| --- | --- | --- |"]
    return "\n".join([f"## {_in_markdown(name)}.parquet", "", meaning_of_table, "", *head, *lines])


def _meaning(column: str) -> str:
    """The meaning of a column, for the README."""
    known = COLUMNS.get(column) or meaning(column)
    if known is not None:
        return known
    side, _, name = column.partition("_")
    nouns = {"truth": "truth", "predicted": "prediction", "frame": "frame", "sequence": "sequence"}
    of = f"the {nouns.get(side, 'input')}"
    if side in ("truth", "predicted") and name in GEOMETRY:
        return f"{GEOMETRY[name]} of {of}"
    return f"the column `{_in_markdown(name)}` of {of}, or a bin of it"


def _in_markdown(text: str) -> str:
    """Escapes text so that it ends neither a cell nor code in Markdown, whatever the names of the user's columns."""
    return "".join(char if char.isprintable() else " " for char in text).replace("|", "\\|").replace("`", "'")
