"""Two-valued slices that belong to one side, although no false alarm, or no miss, is null in them.

`matches["truth_h"] > 50` is a Series of pandas without nulls: false alarms have no height, and are False. The slice
True has no false alarm then, whatever the predictions are, so its precision would be 1. Such a column has no null, one
single value on all false alarms, and two on misses. So may a column that both sides have; it is told by being an
attribute of frames, of categories or of joints, or by telling several match tables in one apart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..support import arrays, label
from ..tables import Columns, schema

# About how many rows, spread over all, show at once that a column has more than two values.
SAMPLE = 1000

# How rows of an outcome, the side that they lack, and rows that a column of the other side differs on, are called.
WORDS = {schema.FP: ("false alarm", "truths", "misses"), schema.FN: ("miss", "predictions", "false alarms")}


class OneSided(NamedTuple):
    """A column that belongs to one side: rows of `outcome` know nothing of it.

    `codes` say which of its two values each row has, 0 or 1; rows of empty frames may be -1, which is null.
    """

    outcome: int
    codes: np.ndarray


def one_sided(columns: Mapping[str, Any], table: Columns) -> dict[str, OneSided]:
    """Those of the columns to group by that belong to one side, though they are not null on the other."""
    outcome = table["outcome"]
    rows = {lacks: np.flatnonzero(outcome == lacks) for lacks in (schema.FN, schema.FP)}
    if not (len(rows[schema.FN]) and len(rows[schema.FP])):
        return {}
    found = {}
    for name, values in columns.items():
        codes = _two_values(values, outcome)
        lacks = None if codes is None else lacking({of: np.unique(codes[at]) for of, at in rows.items()})
        if codes is not None and lacks is not None and not _is_of_both_sides(codes, table):
            found[name] = OneSided(lacks, codes)
    return found


def lacking(values: Mapping[int, Collection[Any]]) -> int | None:
    """The outcome that a column of two values knows nothing of, from its distinct values on misses and false alarms."""
    n_values = {outcome: len(of) for outcome, of in values.items()}
    return next(
        (
            of
            for of, other in ((schema.FP, schema.FN), (schema.FN, schema.FP))
            if n_values[of] == 1 and n_values[other] == 2
        ),
        None,
    )


def tells_objects_apart(values: Any, table: Columns) -> bool:
    """Whether a column has two values and no null, and differs within what both sides have.

    If so, it may belong to one side of the whole table that these rows of a match table are a part of.
    """
    codes = _two_values(values, table["outcome"])
    return codes is not None and not _is_of_both_sides(codes, table)


def _two_values(values: Any, outcome: np.ndarray) -> np.ndarray | None:
    """Which of its two values each row of a column has; None if it has others, or null outside of empty frames."""
    import pandas as pd

    try:
        if len(pd.factorize(values[:: max(1, len(values) // SAMPLE)])[1]) > 2:
            return None
        codes, distinct = pd.factorize(values)
    except TypeError:  # lists and other values that are no keys
        return None
    is_known = len(distinct) == 2 and not (codes[outcome != schema.EMPTY] < 0).any()
    return np.asarray(codes) if is_known else None


def _is_of_both_sides(codes: np.ndarray, table: Columns) -> bool:
    """Whether two values tell frames, categories, joints, or several tables in one apart, rather than objects."""
    known = np.flatnonzero(table["outcome"] != schema.EMPTY)
    for key in (schema.FRAME_KEY, ["category"], ["joint"]):
        if {*key} <= {*table} and not _differ_within(codes[known], arrays.row_keys(table.select(key).take(known), key)):
            return True
    truths = known[np.isin(table["outcome"][known], [schema.TP, schema.FN])]
    if "truth_object" in table:
        key = [*schema.frame_columns(table), "truth_object"]
        return _differ_within(codes[truths], arrays.row_keys(table.select(key).take(truths), key))
    frame, first = arrays.grouped(arrays.row_keys(table.select(schema.FRAME_KEY).take(truths), schema.FRAME_KEY))
    counts = np.bincount(2 * frame + codes[truths], minlength=2 * len(first)).reshape(-1, 2)
    return bool((counts[:, 0] == counts[:, 1]).all())


def _differ_within(codes: np.ndarray, keys: np.ndarray) -> bool:
    """Whether rows with the same key have different codes."""
    group, first = arrays.grouped(keys)
    return bool((codes[first][group] != codes).any())


def one_sided_text(found: Mapping[str, OneSided], table: Columns) -> str | None:
    """The text of a warning that names columns which belong to one side, and what to give instead; None without any."""
    texts = [f"{problem_text(name, of.outcome)}; {_advice(name, of, table)}" for name, of in found.items()]
    return f"by: {'; '.join(texts)}" if texts else None


def problem_text(name: str, outcome: int) -> str:
    """Says that a column knows nothing of an outcome, and what is null therefore."""
    row, side, others = WORDS[outcome]
    problem = f"{name} has one single value on every {row} and two on {others}, so it belongs to {side}"
    return f"{problem}, and what needs {'false alarms' if outcome == schema.FP else 'misses'} is null in its slices"


def _advice(name: str, of: OneSided, table: Columns) -> str:
    """What to group by instead: a column of one side with edges, which are known if the two values follow from it."""
    edges = next(_edges(name, of, table), None)
    if edges is not None:
        return f"give by={edges}"
    prefix = schema.SIDE_PREFIXES[of.outcome == schema.FN]
    null = f"make it null there, such as series.where(matches[{f'{prefix}object'!r}].notna())"
    example = 'truth_h": [0, 50, inf]' if of.outcome == schema.FP else 'predicted_score": [0, 0.5, inf]'
    return f'give the column that it was made of, such as by={{"{example}}}, or {null}'


def _edges(name: str, of: OneSided, table: Columns) -> Iterator[str]:
    """The dict from a column to the edges that make the same two slices: the column of that name, or the only one."""
    prefix = schema.SIDE_PREFIXES[of.outcome == schema.FN]
    sided = [column for column in table if column.startswith(prefix)]
    found = {column: text for column in sided if (text := _edges_of(table[column], of, table["outcome"])) is not None}
    if name in found:
        yield f'{{"{name}": {found[name]}}}'
    elif len(found) == 1:
        [(column, text)] = found.items()
        yield f'{{"{column}": {text}}}'


def _edges_of(values: Any, of: OneSided, outcome: np.ndarray) -> str | None:
    """Edges of a column of float64 that make the same two slices, as text; None if no edge does."""
    if values.dtype != np.float64:
        return None
    known = (outcome != of.outcome) & (outcome != schema.EMPTY) & ~np.isnan(values)
    sides = [values[known & (of.codes == code)] for code in (0, 1)]
    if not all(map(len, sides)):
        return None
    below, above = sorted(sides, key=np.min)
    if below.max() >= above.min():
        return None
    least = 0 if below.min() >= 0 else -np.inf
    return f"[{label(float(least))}, {label(_roundest(float(below.max()), float(above.min())))}, inf]"


def _roundest(low: float, high: float) -> float:
    """The number with the fewest digits from `low` up to below `high`."""
    for digits in range(-15, 16):
        edge = float(np.ceil(low * 10.0**digits) / 10.0**digits)
        if low <= edge < high:
            return edge
    return low
