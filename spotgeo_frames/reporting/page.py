"""The page: one HTML file that needs nothing else and asks nothing of any server.

Text gets into it in two ways only: through the template, which escapes it, and as JSON that the page's script puts
into the document as text. A content security policy allows the page's own scripts, by their digests, and nothing that
is loaded from anywhere.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

import jinja2
import msgspec
import numpy as np
import pandas as pd

from ..display import DASH, texts, words
from .charts import Spec
from .evaluation import HEADLINE, Evaluation

# Rows of a table that are shown at first.
ROWS_SHOWN = 25

# What the headline's numbers are called, and what they are.
MEANINGS = {
    "f1": ("F1", "2 TP / (2 TP + FP + FN); what ranks first"),
    "precision": ("precision", "TP / (TP + FP): predictions that are right"),
    "recall": ("recall", "TP / (TP + FN): truths that are found"),
    "mse": (
        "mse, px²",
        "by the metric document: the mean over TP, FN and FP of distance² (0 up to epsilon); tau² for an FN or FP",
    ),
    "kelvins_mse": (
        "kelvins mse",
        "by the competition's server: distance instead of its square, and the sum over sequences of each one's mean; "
        "what ranks second, and never compares slices",
    ),
    "det_a": ("accuracy", "TP / (TP + FN + FP)"),
    "mean_distance": ("mean distance, px", "of the true positives"),
    "rmse": ("rmse, px", "root mean squared distance of the true positives"),
}
TITLES = {
    "tp": "TP",
    "fn": "FN",
    "fp": "FP",
    "f1": "F1",
    "mse": "mse, px²",
    "mse_gain": "mse gained, px²",
    "f1_gain": "F1 gained",
    "kelvins_mse": "kelvins mse",
    "mean_distance": "mean distance, px",
    "tau": "tau, px",
    "f1_low": "F1 from",
    "f1_high": "F1 to",
    "f1_corrected": "F1 if corrected",
    "p_value": "p-value",
    "p_adjusted": "adjusted p-value",
    "low": "from",
    "high": "to",
    "estimate": "difference",
    "apart_from_next": "told apart from the next",
}
CAPTIONS = {"frame_n_truth": "frame_n_truth, the number of truths in a frame"}
SLICE_NUMBERS = ["tp", "fn", "fp", "precision", "recall", "f1", "mse", "mean_distance", "n_sequences", "n_frames"]
BOARD = ["rank", "name", "f1", "f1_low", "f1_high", "kelvins_mse", "mse", "chance_of_rank_1", "apart_from_next"]


class Table(NamedTuple):
    """A table of the page: `kinds` says how each column sorts: as "number", "text", or by "position"."""

    name: str
    caption: str
    titles: list[str]
    kinds: list[str]
    rows: list[list[str]]


def page(
    evaluation: Evaluation,
    specs: Mapping[str, Spec],
    browser: Mapping[str, Any],
    notes: Sequence[str],
    made_with: Sequence[tuple[str, str]],
    library: str,
) -> str:
    """The page's HTML. `browser` is what the frame browser holds, `notes` what to say of it; `made_with` is its foot;
    `library` is the script that draws the charts.
    """
    slices = [
        _slice_table(f"slice-{number}", column, summary, evaluation.names)
        for number, (column, summary) in enumerate(evaluation.slices.items())
    ]
    tables = {table.name: table for table in [*slices, *_other_tables(evaluation)]}
    embedded = {
        "dash": DASH,
        "rows_shown": ROWS_SHOWN,
        "tables": {table.name: {"kinds": table.kinds, "rows": table.rows} for table in tables.values()},
        "charts": specs,
        "browser": browser,
    }
    script = _asset("page.js")
    loader = jinja2.FunctionLoader(_asset)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("page.html").render(
        title=_heading(evaluation.names),
        names=evaluation.names,
        headline=_headline(evaluation),
        counts=_counted(evaluation),
        suspicions=None if evaluation.suspicions is None else texts(evaluation.suspicions).to_dict("records"),
        dash=DASH,
        rows_shown=ROWS_SHOWN,
        tables=tables,
        slices=[table.name for table in slices],
        charts=list(specs),
        notes=notes,
        made_with=made_with,
        style=_asset("page.css"),
        data=embedded_json(embedded),
        library=library,
        script=script,
        policy=_policy([library, script]),
    )


def embedded_json(data: Any) -> str:
    """JSON that no HTML parser takes for the end of the element it is in; msgspec writes NaN as null."""
    return msgspec.json.encode(data).decode().replace("<", "\\u003c")


def _asset(name: str) -> str:
    return (resources.files(__package__) / "assets" / name).read_text("utf-8")


def _heading(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"How good is {names[0]}?"
    return f"How good are {', '.join(names[:-1])} and {names[-1]}?"


def _policy(scripts: Sequence[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"


def _headline(evaluation: Evaluation) -> list[dict[str, Any]]:
    """A row a metric: its label and meaning, and of each submission the number, its interval and all its digits."""
    rows = []
    for metric in HEADLINE:
        found = evaluation.intervals[evaluation.intervals["metric"] == metric]  # in the order of the submissions
        cells = texts(found)[["estimate", "low", "high"]].assign(exact=found["estimate"].map(_exact))
        label, meaning = MEANINGS[metric]
        rows.append({"label": label, "meaning": meaning, "cells": cells.to_dict("records")})
    return rows


def _exact(value: float) -> str:
    return DASH if np.isnan(value) else repr(float(value))


def _counted(evaluation: Evaluation) -> list[tuple[str, list[str]]]:
    """Counts of each submission, by what they count."""
    shown = texts(evaluation.summary)
    labels = {"n_sequences": "sequences", "n_frames": "frames", "n_truth": "truths", "n_predicted": "predictions"}
    labels |= {"tp": "TP, found", "fn": "FN, missed", "fp": "FP, false"}
    return [(label, shown[name].tolist()) for name, label in labels.items()]


def _title(column: str) -> str:
    return TITLES.get(column, words(column.removeprefix("n_")))


def _kinds(table: pd.DataFrame) -> list[str]:
    return ["number" if pd.api.types.is_numeric_dtype(table[column].dtype) else "text" for column in table]


def _slice_table(name: str, column: str, summary: pd.DataFrame, names: Sequence[str]) -> Table:
    """A summary by a column; sequences with most errors first, other values in their order."""
    by = [column] if len(names) == 1 else ["submission", column]
    numbers = [number for number in SLICE_NUMBERS if column != "sequence" or number != "n_sequences"]
    table = summary[[*by, *numbers]]
    if column == "sequence":
        errors = (table["fn"].fillna(0) + table["fp"].fillna(0)).to_numpy()
        table = table.take(np.argsort(-errors, kind="stable"))
    kinds = _kinds(table)
    if isinstance(table[column].dtype, pd.CategoricalDtype):
        kinds[len(by) - 1] = "position"  # their order is not that of their text
    titles = [*by[:-1], column, *map(_title, numbers)]
    return Table(name, f"By {CAPTIONS.get(column, column)}", titles, kinds, _cells(table))


def _cells(table: pd.DataFrame) -> list[list[str]]:
    return texts(table).to_numpy().tolist()


def _table(name: str, caption: str, table: pd.DataFrame) -> Table:
    return Table(name, caption, [_title(str(column)) for column in table], _kinds(table), _cells(table))


def _other_tables(evaluation: Evaluation) -> list[Table]:
    whose = [] if len(evaluation.names) == 1 else ["submission"]
    costs = evaluation.costs.assign(kind=evaluation.costs["kind"].map(words))
    columns = ["kind", "n_misses", "n_false_alarms", "f1", "f1_gain", "mse", "mse_gain"]
    tables = [_table("costs", "Kinds of error and their cost", costs[[*whose, *columns]])]
    if evaluation.compared is not None:
        tables.append(_table("leaderboard", "Leaderboard", evaluation.compared.leaderboard[BOARD]))
        tables.append(_table("pairs", "Differences between submissions", evaluation.compared.pairs))
    if evaluation.sweep is not None:
        best = evaluation.sweep.best
        columns = [*whose, *(str(name) for name in best if name != "submission")]
        tables.append(_table("sweep", "The best threshold of the score", best[columns]))
    return tables
