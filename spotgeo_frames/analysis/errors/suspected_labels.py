"""label_suspects(): labels of the truth that may be wrong, for people who relabel.

A detector that is sure and wrong is sometimes right: the label is what is wrong. The suspects are rows of the match
table, each with what to look at.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...geometries import Measure
from ...matching import Rule, alignment, noted_rule, options_of_matches, same_category
from ...scoring import AveragePrecision
from ...support import InputError, arrays, pandas_tables
from ...tables import Table, array_of, checks, schema, sides_of, table_kinds
from .error_kinds import diagnose
from .named_pairs import with_named_pairs

SUSPICIONS = ["unlabelled", "other_class", "twice", "never_found"]
SUSPICION_TYPE = pd.CategoricalDtype(SUSPICIONS)

LOOK_AT = {
    "unlabelled": "A sure detection has no label near it. Is a label missing?",
    "other_class": "A sure detection and the label say different classes. Which is right?",
    "twice": "Two labels of one class are where one would do. Is one of them too many?",
    "never_found": "No submission finds this label. Is it right, and can it be seen?",
}

# The columns of places that a suspect may have, by what the geometry of its side has.
PLACES = [*dict.fromkeys(["x", "y", "w", "h", *(name for names in schema.GEOMETRY_COLUMNS.values() for name in names)])]


# The columns that name a suspect, and the object of the other side.
KEY = (*schema.FRAME_KEY, "truth_object", "predicted_object", "truth_category", "predicted_category", "score")
PAIR = ("pair_object", "pair_category")

# What of its frame a suspect has, and how it is called there; tools for labelling need it.
FRAMES = {"frame_file_name": "file_name", "frame_width": "width", "frame_height": "height"}


class Looked(NamedTuple):
    """A match table with the kinds of its errors, the rule by which it was made, and its score threshold or None."""

    table: pd.DataFrame
    rule: Rule
    least: float | None


@table_kinds.same_kind_as("x")
def label_suspects(
    x: Table | AveragePrecision | Mapping[str, Table | AveragePrecision],
    score_threshold: float | None = None,
    *,
    tau: float | None = None,
    similarity: str | Measure | None = None,
    threshold: float | None = None,
    sigmas: Mapping[Any, float] | None = None,
    distance: Measure | None = None,
) -> pd.DataFrame:
    """Lists labels of the truth that may be wrong: missing, of another class, there twice, or found by nobody.

    Parameters
    ----------
    x
        A match table, or what `average_precision` returned (its first threshold); or a dict by name of several with the
        same truth.
    score_threshold
        From which score on a detection is sure enough to doubt the label. Without it, that is the median score of the
        true positives, of each submission by itself. Where there are no scores, every detection is.
    tau, similarity, threshold, sigmas, distance
        The rule of match tables that have lost their notes, or whose measure is a function, as `diagnose` takes it.

    Returns
    -------
    DataFrame of the same kind, one row a suspect, each a row of the match table: `submission` where `x` is a dict;
    `suspicion`; the key, `sequence`, `frame`, `truth_object` and `predicted_object`; `truth_category`,
    `predicted_category` and `score`, as far as there are these; `pair_object` and `pair_category`, the label that a
    detection of another class covers, or the other one of two labels; the places of the detection, or else of the
    label, such as `x`, `y`, `w`, `h`, in the units of the tables; and `look_at`, what to look at, as a sentence.
    Suspicions come in this order, and the surest detections first:

    unlabelled: a sure detection has no truth near it.
    other_class: a sure detection is near a truth of another category alone.
    twice: two truths of one category are as near to each other as a match.
    never_found: no submission has a detection near this truth.

    `to_csv` writes it for a spreadsheet, `write_suspects` for Label Studio or FiftyOne. In a notebook,
    `explore(matches).tags = suspects.rename(columns={"suspicion": "tag"})` shows them in the viewer.

    Raises
    ------
    InputError: `x` is nothing of that kind, is empty, or pairs were measured by a function that is needed again.
    ValueError: `score_threshold` is no number.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> matches = sf.match(truth, sf.read_objects("data/boxes/v1.parquet"))
    >>> suspects = sf.label_suspects(matches)
    >>> suspects["suspicion"].value_counts(sort=False).to_dict()
    {'unlabelled': 0, 'other_class': 5, 'twice': 5, 'never_found': 380}
    >>> suspects[["sequence", "frame", "predicted_category", "score", "pair_category"]].head(1)
       sequence  frame predicted_category  score pair_category
    0         8      2                car    0.8           bus
    """
    if score_threshold is not None and (not isinstance(score_threshold, Real) or np.isnan(score_threshold)):
        raise ValueError(f"score_threshold is {score_threshold!r}; a number is needed")
    several = dict(x) if isinstance(x, Mapping) else {"": x}
    if not several:
        raise InputError("label_suspects: x is empty; give a match table, or a dict of several")
    words = {"tau": tau, "similarity": similarity, "threshold": threshold, "sigmas": sigmas, "distance": distance}
    looked = {name: _looked(of, score_threshold, words) for name, of in several.items()}
    parts = []
    for name, of in looked.items():
        for suspicion, (rows, other) in _of_detections(of).items():
            parts.append(_rows(of, suspicion, rows, other).assign(submission=name))
    first = next(iter(looked.values()))
    twice, others = _twice(first)
    lost = np.setdiff1d(_never_found([*looked.values()]), twice)
    parts.append(_rows(first, "twice", twice, others).assign(submission=None))
    parts.append(_rows(first, "never_found", lost).assign(submission=None))
    answer = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    answer = answer.astype({"suspicion": SUSPICION_TYPE})
    order = ["suspicion", *(["score"] if "score" in answer else [])]
    answer = answer.sort_values(order, ascending=[True, False][: len(order)], kind="stable", ignore_index=True)
    first_names = ["submission"] if isinstance(x, Mapping) else []
    names = [name for name in (*first_names, "suspicion", *KEY, *PAIR, *PLACES, *FRAMES.values()) if name in answer]
    answer = answer[names].assign(look_at=answer["suspicion"].astype(object).map(LOOK_AT).astype(pandas_tables.TEXT))
    answer.attrs = noted_rule.shared_notes(first.table)
    return answer


def _looked(x: Any, score_threshold: float | None, words: Mapping[str, Any]) -> Looked:
    """A result with the kinds of its errors; `words` are those of the rule of a match table."""
    if isinstance(x, AveragePrecision):
        table, rule = diagnose(x), x.matched.rule
    else:
        table = diagnose(checks.check_matches(x, "label_suspects: x"), **words)
        rule = noted_rule.noted_rule(table, options_of_matches(epsilon=None, **words))
    least = score_threshold
    if "predicted_score" not in table:
        least = None
    elif least is None:
        scores = table.loc[table["outcome"] == "TP", "predicted_score"].dropna()
        least = float(scores.median()) if len(scores) else -np.inf
    return Looked(table.reset_index(drop=True), rule, least)


def _of_detections(of: Looked) -> dict[str, tuple[np.ndarray, None]]:
    """The rows of false alarms that are sure, by suspicion."""
    table = of.table
    is_sure = (table["outcome"] == "FP").to_numpy()
    if of.least is not None:
        is_sure = is_sure & (table["predicted_score"].to_numpy(np.float64, na_value=np.nan) >= of.least)
    kinds = {"unlabelled": ["background", "no_truth_in_frame"], "other_class": ["confused"]}
    return {name: (np.flatnonzero(is_sure & table["kind"].isin(of_kind)), None) for name, of_kind in kinds.items()}


def _twice(of: Looked) -> tuple[np.ndarray, np.ndarray]:
    """The rows of truths that are as near as a match to an earlier one of their category, and the row of that."""
    if of.rule.geometry.measure is None:
        raise InputError(f"label_suspects: pairs were measured by {of.rule.name}, which is needed again; match again")
    sides = sides_of(of.table, of.rule.measured_columns)
    aligned = alignment.align(sides.truth, sides.truth)
    near = of.rule.near_pairs(aligned)
    alike = same_category(aligned, near.prediction, near.truth) & (near.prediction > near.truth)
    rows = sides.truth_rows[aligned.truth.row]
    # A label may be near several; the first of these is named.
    order = np.lexsort((near.truth[alike], near.prediction[alike]))
    later, earlier = near.prediction[alike][order], near.truth[alike][order]
    firsts = np.flatnonzero(np.diff(later, prepend=-1))
    return rows[later[firsts]], rows[earlier[firsts]]


def _never_found(looked: list[Looked]) -> np.ndarray:
    """The rows of the first table whose truths are lost in all tables."""
    tables = [of.table for of in looked]
    key = [*schema.FRAME_KEY, "truth_object"]
    lost = [table[(table["outcome"] == "FN") & (table["kind"] == "lost")] for table in tables]
    rows = lost[0].index.to_numpy()
    for other in lost[1:]:
        keys = [{name: array_of(table[name]) for name in key} for table in (tables[0].loc[rows], other)]
        together = {name: pd.concat([pd.Series(of[name]) for of in keys], ignore_index=True) for name in key}
        codes = arrays.row_keys(pd.DataFrame(together), key)
        rows = rows[np.isin(codes[: len(rows)], codes[len(rows) :])]
    return rows


def _rows(of: Looked, suspicion: str, rows: np.ndarray, other: np.ndarray | None = None) -> pd.DataFrame:
    """The columns of suspects that are these rows; `other` are the rows of the truths beside them."""
    table = of.table
    prefix = schema.PREFIXES["predictions" if suspicion in ("unlabelled", "other_class") else "truth"]
    if other is not None:  # named as the truth of a false alarm is
        pair = np.full(len(table), -1)
        pair[rows] = other
        table = with_named_pairs(table.assign(outcome=pd.Categorical(["FP"] * len(table), schema.OUTCOMES)), pair)
    chosen = table.iloc[rows]
    columns = {name: chosen[name].array for name in (*KEY, *PAIR) if name in chosen}
    columns |= {"score": chosen["predicted_score"].array} if "predicted_score" in chosen else {}
    columns |= {name: chosen[f"{prefix}{name}"].array for name in PLACES if f"{prefix}{name}" in chosen}
    columns |= {name: chosen[column].array for column, name in FRAMES.items() if column in chosen}
    return pd.DataFrame({"suspicion": pd.Series([suspicion] * len(rows), dtype=object)} | columns)
