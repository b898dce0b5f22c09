"""The worst slices in words: where each submission misses most, and where it is wrong most often.

`worst_slices` tests all slices of a submission together, so what is named here stands out by more than chance. Its
interval allows for the choice of the slice, which the interval of that slice alone does not.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ....analysis.certainty import worst_slices
from ....scoring import FEW_SEQUENCES, OF_FEW
from ....support import pandas_tables
from ....tables import messages
from ...drawing import display, drawn_tables
from ..evaluation import CONFIDENCE, Evaluation, matches_of_name
from ..folder import kept
from ..html.blocks import Kept, Text

# What the numbers of a slice say, by their metric.
WORST = {
    "recall": "{who} misses most where {where}: it finds {value} of {n} truths there, and {rest} of all others",
    "precision": "{who} is wrong most often where {where}: {value} of {n} predictions there are right, and {rest} of "
    "all others",
}
TESTED = "{contrast}, that is {estimate} points less (interval {low} to {high}, adjusted p-value {p})"
ABOUT_WORST = (
    f"These slices stand out by more than chance explains. Their {CONFIDENCE:.0%} intervals and p-values allow for the "
    "choice among all slices of a submission."
)
CONTRASTS = {"within sequences": "Within the same sequences", "between sequences": "Between sequences"}
NOTHING = "{who}: no slice is shown to be worse than the rest, in {n} of recall or precision."
ONLY_WITHIN = (
    "{who}: slices are worse than the rest of the same sequences, but over all sequences none has a lower number than "
    "all others; worst_slices() lists them."
)
NONE_TESTED = "{who}: no slice is named as the worst, since none was tested. {reasons}."
NOT_TESTED = "{who}: not tested: {reasons}."
TOO_MANY = "The worst slices are not named here: that takes long for so many sequences; worst_slices() finds them."

# A slice is tested in this many sequences or more, as `worst_slices` has it without a word.
LEAST_SEQUENCES = 10

# The most sequences whose signs a page flips.
MOST_SEQUENCES = 20_000

# The columns of the table that is kept, before those of `worst_slices`.
SLICE = ["columns", "slice"]


def worst_in_words(evaluation: Evaluation) -> tuple[list[Text], dict[str, Kept]]:
    """The worst slices of each submission in words, or why none is named; and their table for the folder."""
    n_sequences = int(evaluation.summary["n_sequences"].max())
    if n_sequences > MOST_SEQUENCES:
        return [Text(TOO_MANY, "note")], {}
    if n_sequences < LEAST_SEQUENCES:
        why = f"a slice is tested in {LEAST_SEQUENCES} sequences or more, and there are {n_sequences:,}"
        return [Text(f"No slice is named as the worst: {why}.", "note")], {}
    found = {name: _worst(evaluation, name) for name in evaluation.names}
    told = dict.fromkeys(text for name, table in found.items() for text in _told(name, table))
    about = [Text(ABOUT_WORST, "note")] if any(len(_lower(table)) for table in found.values()) else []
    return [*map(Text, told), *about], kept({"worst_slices": drawn_tables.together(found)})


def _worst(evaluation: Evaluation, name: str) -> pd.DataFrame:
    """The slices of a submission that are worse than the rest, the columns and values of each in columns of their own.

    Slicings are numbered, as their columns may have any name.
    """
    matches = matches_of_name(evaluation, name)
    cuts = {columns: of[name] for columns, of in evaluation.cuts.items() if name in of and columns != ("sequence",)}
    texts = {f"{position}": _slice_of_rows(matches, series) for position, series in enumerate(cuts.values())}
    with warnings.catch_warnings(action="ignore"):  # what was not tested stands in the notes
        answer = worst_slices(matches.assign(**texts), [*texts], 1, LEAST_SEQUENCES, confidence=CONFIDENCE)
    joined = {f"{position}": " and ".join(columns) for position, columns in enumerate(cuts)}
    parts = [text.split(" = ", 1) for text in answer["slice"].tolist()]
    columns, values = [joined[position] for position, _ in parts], [value for _, value in parts]
    named = answer.assign(columns=pd.array(columns, pandas_tables.TEXT), slice=pd.array(values, pandas_tables.TEXT))
    not_tested = {joined[position]: reason for position, reason in answer.attrs["not_tested"].items()}
    named.attrs = answer.attrs | {"not_tested": not_tested}
    return named[[*SLICE, *answer.columns.drop("slice")]]


def _slice_of_rows(matches: pd.DataFrame, series: Sequence[pd.Series]) -> pd.Series:
    """The slice of each row of a match table as text; null where one of its values is.

    Where there is no truth every prediction is wrong, which says nothing of a detector, so frames without a truth are
    no slice of their count.
    """
    values = pd.concat(series, axis=1)
    known = values.notna().all(axis=1)
    if [*values] == ["frame_n_truth"]:
        known &= matches["frame_n_truth"] > 0
    named = drawn_tables.slice_names(values[known], [*values])
    return pd.Series(named, values.index[known], dtype=pandas_tables.TEXT).reindex(values.index)


def _told(name: str, table: pd.DataFrame) -> list[str]:
    """What the table of the worst slices of a submission says: one sentence for each metric, or that there is none."""
    n_tests, not_tested = table.attrs["n_tests"], table.attrs["not_tested"]
    reasons = "; ".join(f"{columns}: {reason}" for columns, reason in not_tested.items())
    if not n_tests:
        return [NONE_TESTED.format(who=name, reasons=reasons)]
    lower = _lower(table)
    sentences = []
    for metric in WORST:
        rows = lower[lower["metric"] == metric].sort_values("value", kind="stable").iloc[:1]
        sentences += [_sentence(name, rows, row) for row in rows.to_dict("records")]
    if not sentences:
        sentences = [(ONLY_WITHIN if len(table) else NOTHING).format(who=name, n=messages.several(n_tests, "test"))]
    return sentences if not reasons else [*sentences, NOT_TESTED.format(who=name, reasons=reasons)]


def _lower(table: pd.DataFrame) -> pd.DataFrame:
    """The slices whose number is lower than that of all others, which the sentence about them says."""
    return table[table["value"] < table["rest"]]


def _sentence(name: str, rows: pd.DataFrame, row: Mapping[Any, Any]) -> str:
    """What is known of one slice, the only one of `rows`."""
    less = rows.assign(estimate=-rows["estimate"], low=-rows["high"], high=-rows["low"])
    [shown] = display.texts(less).to_dict("records")
    points = {of: shown[of].removesuffix("%") for of in ("estimate", "low", "high")}
    where = f"{row['columns']} is {row['slice']}"
    said = WORST[row["metric"]].format(
        who=name, where=where, value=shown["value"], n=shown["n_rows"], rest=shown["rest"]
    )
    tested = TESTED.format(
        contrast=CONTRASTS[row["contrast"]],
        **points,
        p=f"{row['p_adjusted']:.2g}",
    )
    few = f" The slice rests on {OF_FEW} ({row['n_sequences']:,})." if row["n_sequences"] < FEW_SEQUENCES else ""
    return f"{said}. {tested}.{few}"
