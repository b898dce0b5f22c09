"""changes(): what differs between two submissions to the same truth.

A truth differs if only one of the submissions found it. False alarms of the two submissions are matched with each
other by the rule of the match tables, as if those of the first were truths: as many pairs as possible, and among those
the nearest. A false alarm that is in no such pair differs. OKS needs the area of a person, which a false alarm does
not have: it takes the area of the frame's nearest truth, or in a frame without truths that of the convex hull of its
joints. Joints of pose() take the head size of the frame's nearest truth, or in a frame without truths the median.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from ...geometries import Measure, Rows
from ...matching import Compared, Rule, alignment, matcher, noted_rule, options_of_matches
from ...scoring import row_counts, sequence_sums
from ...support import InputError, arrays
from ...tables import Annotations, Table, as_numbers, checks, messages, schema, sides_of, table_kinds
from ..certainty import truth_differences

CHANGES = ["gained", "lost", "new false alarm", "false alarm gone"]
GAINED, LOST, NEW, GONE = range(len(CHANGES))


@table_kinds.same_kind_as("before")
def changes(
    before: Table | NamedTuple,
    after: Table | NamedTuple,
    *,
    tau: float | None = None,
    similarity: str | Measure | None = None,
    threshold: float | None = None,
    sigmas: Mapping[Any, float] | None = None,
    distance: Measure | None = None,
) -> pd.DataFrame:
    """Lists what differs between two submissions to the same truth, such as two versions of a detector.

    Parameters
    ----------
    before, after
        The match tables of the two submissions, or what `track` or `pose` returned of them, made by the same rule.
    tau, similarity, threshold, sigmas, distance
        The rule of the tables, as `match` takes it. Needed only where the tables have lost their notes; a
        similarity or distance that is a function is needed always.

    Returns
    -------
    DataFrame of the kind of `before`: the rows of the match tables that only one of the submissions has, with all
    columns of the table that they come from, and after `outcome` the column `change`, which is categorical:

    gained: a truth that only the second submission found; the row is the true positive of `after`.
    lost: a truth that only the first submission found; the row is the true positive of `before`.
    new false alarm: a false positive of `after` for which `before` has none.
    false alarm gone: a false positive of `before` for which `after` has none.

    Two false positives of a frame are the same if they match by the rule of the tables (as many as possible, and among
    those the nearest) or lie at the same place, for "oks" with the area of the frame's nearest truth, or in a frame
    without truths that of the convex hull of the joints; for tables of `pose` with the head size of the frame's nearest
    truth, or in a frame without truths the median of all. Rows are sorted by sequence and frame; in a frame, truths
    come first in file order, then the false alarms that are gone, then the new ones.

    Raises
    ------
    InputError: a table is no match table, the tables have different truths (the message names one) or rules, a column
        that the rule needs is missing, or the rule is not known.
    ValueError: `tau`, `similarity`, `threshold`, `sigmas` or `distance` is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [10.0, 90.0], "y": 5.0})
    >>> before = sf.match(truth, truth.assign(x=[11.0, 60.0]))
    >>> after = sf.match(truth, truth.assign(x=[40.0, 91.0]))
    >>> sf.changes(before, after)[["change", "truth_object", "predicted_x"]]
                 change  truth_object  predicted_x
    0              lost             1         11.0
    1            gained             2         91.0
    2  false alarm gone          <NA>         60.0
    3   new false alarm          <NA>         40.0
    """
    tables = {}
    for name, given in (("before", before), ("after", after)):
        called = f"changes: {name}"
        tables[name] = checks.check_matches(sequence_sums.match_table_of(given, called), called)
        checks.check_one_slice(tables[name], called)
    problems = [*truth_differences("changes", tables), *rule_differences("changes", tables)]
    if problems:
        raise InputError(problems)
    first, second = tables.values()
    options = options_of_matches(tau, None, similarity, threshold, sigmas, distance)
    noted = "before" if noted_rule.rule_notes(first) else "after"  # either may have lost its notes in another library
    rule = noted_rule.noted_rule(tables[noted], options, name=f"changes: {noted}")
    for name, table in tables.items():
        noted_rule.check_measured(table, rule, f"changes: {name}")
        row_counts.warn_of_doubled(table, f"changes: {name}")
    truths = truth_rows("changes", first, second)
    found = [
        table["outcome"].array.codes[rows] == schema.TP for table, rows in zip(tables.values(), truths, strict=True)
    ]
    gained, lost = np.flatnonzero(found[1] & ~found[0]), np.flatnonzero(found[0] & ~found[1])
    gone, new = _unmatched_alarms(first, second, rule)
    rows = [truths[1][gained], truths[0][lost], new, gone]
    parts = [table.take(taken) for table, taken in zip((second, first, second, first), rows, strict=True)]
    change = np.repeat([GAINED, LOST, NEW, GONE], list(map(len, rows)))
    # In a frame: truths in the order of `before`, then each submission's false alarms in their order.
    place = np.concatenate([truths[0][gained], truths[0][lost], new, gone])
    together = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    kinds = pd.Categorical.from_codes(change, dtype=pd.CategoricalDtype(CHANGES))
    names = [name for name in together if name != "change"]
    at = names.index("outcome") + 1
    together = together.assign(change=kinds)[[*names[:at], "change", *names[at:]]]
    group = np.array([0, 0, 2, 1])[change]
    order = np.lexsort(
        [place, group, *(arrays.ordinals([together[name]])[0][0] for name in schema.frame_columns(first)[::-1])]
    )
    answer = together.take(order).reset_index(drop=True)
    answer.attrs = noted_rule.shared_notes(tables[noted])
    return answer


def rule_differences(function: str, tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """A text, which begins with the function, if the notes of two tables tell their rules, and these differ."""
    notes = [noted_rule.rule_notes(table) for table in tables.values()]
    if not all(notes) or notes[0] == notes[1]:
        return []
    told = (", ".join(f"{name} {value}" for name, value in noted.items()) for noted in notes)
    return [f"{function}: the match tables were not made with the same rule: {' and '.join(told)}"]


def truth_rows(function: str, before: pd.DataFrame, after: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the truths in `before`, in its order, and the rows of the same truths in `after`.

    Raises InputError, which begins with the function, if a table does not name its truths.
    """
    tables = before, after
    for table in tables:
        if "truth_object" not in table:
            name = f"{function}: match table"
            raise InputError(messages.missing(name, "truth_object", table.columns, "match() adds it"))
    rows = [np.flatnonzero(np.isin(table["outcome"].array.codes, [schema.TP, schema.FN])) for table in tables]
    key = [*schema.frame_columns(before), "truth_object"]
    numbered = [
        arrays.ordinals([checks.decoded(table[name]).take(taken) for table, taken in zip(tables, rows, strict=True)])
        for name in key
    ]
    keys = [arrays.pack([codes[side] for codes, _ in numbered], [span for _, span in numbered]) for side in (0, 1)]
    order = np.argsort(keys[1], kind="stable")
    return rows[0], rows[1][order[arrays.locate(keys[1][order], keys[0])]]


def _unmatched_alarms(before: pd.DataFrame, after: pd.DataFrame, rule: Rule) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the false alarms of each table that match none of the other."""
    sides = [sides_of(table, rule.measured_columns) for table in (before, after)]
    false = [
        table["outcome"].array.codes[side.predicted_rows] == schema.FP
        for table, side in zip((before, after), sides, strict=True)
    ]
    rows = [side.predicted_rows[alarms] for side, alarms in zip(sides, false, strict=True)]
    alarms = [
        side.predictions.objects[marked].reset_index(drop=True) for side, marked in zip(sides, false, strict=True)
    ]
    truths = sides[0].truth.objects
    borrowed = {column: _borrowed(column, alarms[0], truths, rule) for column in rule.geometry.columns_of_truth}
    alarms[0] = alarms[0].assign(**borrowed)
    aligned = alignment.align(Annotations(alarms[0]), Annotations(alarms[1]), may_be_disjoint=True)
    pairs = matcher.assigned(Compared(aligned, rule.near(aligned)), rule)
    matched = rows[0][aligned.truth.row[pairs.truth]], rows[1][aligned.predictions.row[pairs.prediction]]
    gone, new = (np.setdiff1d(of_side, taken) for of_side, taken in zip(rows, matched, strict=True))
    return _without_same((before, after), (gone, new), rule)


def _without_same(
    tables: tuple[pd.DataFrame, pd.DataFrame], rows: tuple[np.ndarray, np.ndarray], rule: Rule
) -> tuple[np.ndarray, np.ndarray]:
    """The rows of false alarms of each table without those that are in both: boxes without area overlap nothing."""
    prefix = schema.SIDE_PREFIXES[1]
    shared = [str(name) for name in tables[0] if name in tables[1] and str(name).startswith(prefix)]
    if rule.measured_columns is None:
        apart = {f"{prefix}object", f"{prefix}score", schema.FILE_ORDER}
        columns = [name for name in shared if name not in apart and is_numeric_dtype(tables[0][name].dtype)]
    else:
        columns = [name for name in shared if name.removeprefix(prefix) in rule.measured_columns]
    key = [*schema.frame_columns(tables[0]), *columns]
    sides = [table[key].take(of_table) for table, of_table in zip(tables, rows, strict=True)]
    numbered = [arrays.ordinals([checks.decoded(side[name]) for side in sides]) for name in key]
    codes = [arrays.pack([of_side[at] for of_side, _ in numbered], [span for _, span in numbered]) for at in (0, 1)]
    # Of several that are the same, as many are left out as the other table has.
    times = [pd.MultiIndex.from_arrays([of, pd.Series(of).groupby(of).cumcount()]) for of in codes]
    return rows[0][~times[0].isin(times[1])], rows[1][~times[1].isin(times[0])]


def _borrowed(column: str, alarms: pd.DataFrame, truths: pd.DataFrame, rule: Rule) -> np.ndarray:
    """What false alarms have for a column of the truth (px or px²): the value of the frame's nearest truth.

    In frames without truth, an area is the geometry's own, and any other column is the median of all truths. Raises
    InputError if there are no truths for that.
    """
    of_any_joint = [side.drop(columns="joint", errors="ignore") for side in (alarms, truths)]
    values, own = _of_nearest(of_any_joint[0], of_any_joint[1], column), None
    unknown = np.isnan(values)
    if column == "area" and rule.geometry.size is not None:
        own = rule.geometry.size(Rows(alarms[unknown]))
    elif len(alarms) and not len(truths):
        lack = column.replace("_", " ")
        raise InputError(f"changes: the match tables have no truth, and so no {lack} to compare false alarms by")
    values[unknown] = truths[column].median() if own is None else own
    return values


def _of_nearest(alarms: pd.DataFrame, truths: pd.DataFrame, column: str) -> np.ndarray:
    """The value that the nearest truth of its frame has in a column, for each false alarm; null without any."""
    aligned = alignment.align(Annotations(truths), Annotations(alarms), may_be_disjoint=True)
    pairs = Rule("distance", np.inf).near_pairs(alignment.without_categories(aligned))
    pairs = pairs.take(np.lexsort([pairs.measure, pairs.prediction]))
    nearest = pairs.take(np.flatnonzero(np.diff(pairs.prediction, prepend=-1)))
    values = np.full(len(alarms), np.nan)
    values[aligned.predictions.row[nearest.prediction]] = as_numbers(aligned.truth.table[column])[nearest.truth]
    return values
