"""The section of classes: the numbers of each with its curve, which is taken for which, and suspect labels."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ....support import label
from ...drawing import display, drawn_tables
from ..evaluation import Evaluation, matches_of_name, summary_by
from ..folder import kept
from ..html.blocks import Block, Section, Text, having, table_of
from ..html.marks import MOST_SERIES
from ..html.matrices import Curve, CurveLine
from .class_matrices import matrices
from .suspects import suspects

# The numbers of a class: those of average precision, then those of the match tables.
AVERAGES = ["AP", "AP50", "AP75", "AR100", "AR", "APs", "APm", "APl"]
COUNTS = ["n_truth", "tp", "fn", "fp", "precision", "recall", "f1"]

ABOUT_CLASSES = 'The numbers of classes have no intervals here; intervals(x, by="category") computes them.'
ABOUT_AP = (
    " AP and AR are COCO's; the other numbers follow from the match tables, in which only a prediction of its own "
    "class finds a truth. A button beside a class unfolds its precision over recall."
)
# The most curves of classes that a page has room for.
MOST_CURVES = 1_200


def classes(evaluation: Evaluation) -> Section | None:
    """Makes the section; None where objects have no classes."""
    if "category" not in evaluation.matches or not evaluation.matches["category"].notna().any():
        return None
    table = _by_class(evaluation)
    tables = {"classes": table}
    blocks: list[Block] = [Text(ABOUT_CLASSES + (ABOUT_AP if evaluation.precisions else ""), "note")]
    curves = _curves(evaluation)
    tables |= {"class_curves": curves} if len(curves) else {}
    blocks += [*_class_table(evaluation, table, curves), *matrices(evaluation)]
    if evaluation.confused is not None:
        tables["confusion"] = drawn_tables.together(evaluation.confused.counts)
    found, of_suspects = suspects(evaluation)
    return Section("classes", "Classes", "Classes", [*blocks, *found], kept(tables | of_suspects))


def _by_class(evaluation: Evaluation) -> pd.DataFrame:
    """The numbers of each class of each submission."""
    own = evaluation.own_metrics
    parts = {}
    for name in evaluation.names:
        of_matches = summary_by(matches_of_name(evaluation, name), "category", evaluation.rule, own)
        known = [column for column in ("category", *COUNTS, *own) if column in of_matches]
        table = of_matches[known]
        if name in evaluation.precisions:
            of_precision = having(evaluation.precisions[name].categories, ["category", *AVERAGES])
            counts = dict.fromkeys(("n_truth", "tp", "fn", "fp"), "Int64")  # a class may have no row
            table = of_precision.merge(table.astype(counts), "outer", "category")
        parts[name] = table
    return drawn_tables.together(parts)


def _class_table(evaluation: Evaluation, table: pd.DataFrame, curves: pd.DataFrame) -> list[Block]:
    """The table of classes, each with its curve as far as the page has room."""
    own = evaluation.own_metrics
    shown = having(table, [*evaluation.whose, "category", *AVERAGES[:3], *COUNTS, *AVERAGES[3:], *own])
    made = table_of("classes", "Numbers by class", shown, ["submission", "category"])
    drawn = _drawn_curves(evaluation, table, curves)
    place = {name: position for position, name in enumerate(drawn)}
    of_row = [place.get(name, -1) for name in table["category"].map(label)]
    n_left_out = len({*curves["category"].map(label)}) - len(drawn) if len(curves) else 0
    lack = "class has no curve here, that" if n_left_out == 1 else "classes have no curve here, those"
    texts = [Text(f"{n_left_out:,} {lack} with the fewest truths.", "note")] if n_left_out else []
    return [made._replace(curves=[*drawn.values()], curve_of_row=of_row), *texts]


def _curves(evaluation: Evaluation) -> pd.DataFrame:
    """Precision over recall of each class at the thresholds that are drawn."""
    parts = {}
    for name, of in evaluation.precisions.items():
        curve = of.curve
        is_drawn = (curve["area"] == "all") & curve["threshold"].isin(drawn_tables.THRESHOLDS)
        kept_rows = curve[is_drawn & curve["precision"].notna() & curve["category"].notna()]
        parts[name] = kept_rows[["category", "threshold", "recall", "precision"]]
    return drawn_tables.together(parts) if parts else pd.DataFrame({"category": []})


def _drawn_curves(evaluation: Evaluation, table: pd.DataFrame, curves: pd.DataFrame) -> dict[str, Curve]:
    """The curves of classes by their names as text, those with the most truths first, as far as the page has room."""
    if not len(curves):
        return {}
    names, texts = evaluation.names[:MOST_SERIES], _averages_in_words(table)
    n_truth = table.groupby(table["category"].map(label), sort=False)["n_truth"].max()
    order = n_truth.sort_values(ascending=False, kind="stable").index[: MOST_CURVES // len(names)]
    lines = _lines(curves, names)
    return {
        category: Curve(
            f"Precision over recall of {category}",
            [(series, texts.get((name, category), name)) for series, name in enumerate(names)],
            lines[category],
        )
        for category in order
        if category in lines
    }


def _averages_in_words(table: pd.DataFrame) -> dict[tuple[str, str], str]:
    """What curves add up to, by the submission and the class."""
    shown = display.texts(having(table, ["category", "AP50", "AP75"]))
    rows = zip(table["submission"], table["category"], shown["AP50"], shown["AP75"], strict=True)
    return {
        (submission, label(category)): f"{submission}: AP50 {first}, AP75 {second}"
        for submission, category, first, second in rows
    }


def _lines(curves: pd.DataFrame, names: Sequence[str]) -> dict[str, list[CurveLine]]:
    """The lines of the curves of these submissions, by the class."""
    answer: dict[str, list[CurveLine]] = {}
    named = curves.assign(category=curves["category"].map(label), precision=np.rint(1000 * curves["precision"]))
    of_lines = named.groupby(["submission", "category", "threshold"], sort=False, observed=True)["precision"]
    for (submission, category, threshold), of in of_lines:
        if submission in names:
            is_dashed = bool(threshold != drawn_tables.THRESHOLDS[0])
            line = CurveLine(names.index(submission), is_dashed, of.astype("int64").tolist())
            answer.setdefault(str(category), []).append(line)
    return answer
