"""The section of slices: the metrics by sequence, by the count of truths in a frame, and by the columns asked for."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ....scoring.registry import SLICED, own_metrics
from ....scoring.summary import FEW_NOTE, few_marked, slice_files
from ....support.labels import bins_as_text, is_binned, label
from ....support.names import in_markdown
from ...drawing.display import texts
from ...drawing.submissions_together import together
from ..bins import binned_name
from ..evaluation import Evaluation, matches_of_name, summary_by
from ..html.blocks import Kept, Section, Table, Text
from ..html.cells import column_title, sorting

ABOUT = (
    "Click a heading to sort. A dash is an unknown value. For instance, in slices by a column that only truths have, "
    "false alarms belong to no slice."
)
MEANING = "The headline metrics by `{}`; null where they are unknown."
CAPTIONS = {"sequence": "By sequence", "frame_n_truth": "By the number of truths in a frame (frame_n_truth)"}

# The count of rows of a table that a page has room for.
MOST_ROWS = 16_000


def section(evaluation: Evaluation) -> Section:
    """Makes the section."""
    own = evaluation.own_metrics
    summaries = {
        columns: together(
            {
                name: summary_by(matches_of_name(evaluation, name), of_name[name], evaluation.rule, own)
                for name in evaluation.names
                if name in of_name
            }
        )
        for columns, of_name in evaluation.cuts.items()
    }
    tables = [
        slice_table(f"slice-{position}", columns, summary, evaluation.names)
        for position, (columns, summary) in enumerate(summaries.items())
    ]
    kept = {
        name: Kept(table, MEANING.format(in_markdown("*".join(columns))))
        for (name, table), columns in zip(slice_files(summaries).items(), summaries, strict=True)
    }
    return Section("slices", "Slices", "Slices", [Text(ABOUT, "note"), *tables], kept)


def slice_table(name: str, columns: Sequence[str], summary: pd.DataFrame, names: Sequence[str]) -> Table:
    """Makes the table of a summary by columns: its first MOST_ROWS rows, sequences with the most errors first."""
    by = [*columns] if len(names) == 1 else ["submission", *columns]
    binned = [by.index(column) for column in columns if isinstance(summary[column].dtype, pd.CategoricalDtype)]
    metrics = [metric for metric in [*SLICED, *own_metrics()] if metric in summary]
    table = summary
    if [*columns] == ["sequence"] and not binned:
        errors = (summary["fn"].fillna(0) + summary["fp"].fillna(0)).astype("int64")
        metrics = ["errors", *(metric for metric in metrics if metric != "n_sequences")]
        table = summary.assign(errors=errors).take(np.argsort(-errors.to_numpy(), kind="stable"))
    shown = table.head(MOST_ROWS)[[*by, *metrics]]
    # Bins as text would not sort by their bounds, and rounded texts could make different values look equal.
    kinds = ["position" if place in binned else kind for place, kind in enumerate(sorting(shown))]
    exact = bins_as_text(shown)[[*columns]].map(label).to_numpy().tolist()
    first, last = len(by) - len(columns), len(by)
    cells, any_few = few_marked(texts(shown), shown)
    rows = [[*row[:first], *values, *row[last:]] for row, values in zip(cells.to_numpy(), exact, strict=True)]
    return Table(
        name,
        CAPTIONS.get("*".join(columns), f"By {' and '.join(columns)}"),
        [*by, *(column_title(metric, summary.attrs.get("unit")) for metric in metrics)],
        kinds,
        rows,
        sorted_by=len(by) if "errors" in metrics else None,
        positions={place: shown[by[place]].cat.codes.tolist() for place in binned},
        n_left_out=len(table) - len(shown),
        note=FEW_NOTE if any_few else "",
        filters={place: binned_name(name) if is_binned(summary[name]) else name for place, name in enumerate(by)},
    )
