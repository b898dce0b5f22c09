"""readable(): tables as people read them, with units, intervals beside their numbers, and footnotes for nulls."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ...scoring import AveragePrecision
from ...support import DASH, InputError, interval_text, label, pandas_tables
from ...tables import Table, arrow, table_kinds
from . import display, wording
from .drawn_confusion import is_square

# The note, in the `attrs` of a readable table, of what its marks mean; only readable tables have it.
FOOTNOTES = "footnotes"

# The marks of footnotes in their order; more of them are doubled.
MARKS = "†‡§¶"

# What a table of intervals has beside the values of its groups, and what no other table has.
OF_INTERVALS = {"metric", "estimate", "low", "high"}
OF_OTHERS = {"a", "p_value", "margin", "rest"}

# Columns that are null in the rows of all sequences, classes or joints, and what stands there then.
OF_ALL = ("sequence", "category", "joint")
ALL = "all"

# The titles that these columns have on pages only.
ON_PAGES = ("estimate", "score_threshold", "low", "high")


@table_kinds.same_kind_as("table")
def readable(table: Table) -> pd.DataFrame:
    """Writes a table as people read it: headings with units, rounded numbers, and intervals beside their numbers.

    - A number with its bounds becomes one text, such as `0.819 [0.777, 0.855]`: `estimate` with `low` and `high`, and
      any column `f1` with `f1_low` and `f1_high`. All three have so many digits that half the width of the interval has
      two. Other shares of 1 have four decimals; they stay fractions.
    - What `intervals` returns, and `single` of what `compare` returns, gets a row a metric and slice, and a column a
      submission.
    - Metrics are called by their labels with their units, such as `mse (px²)`. The notes of a table (`attrs`) tell the
      unit of its distances. Where they are lost, such units are left out.
    - Null is a dash. Where the table says why (`reason`), a mark leads to a footnote.
    - Metrics that are null in all rows are left out.

    Parameters
    ----------
    table
        A table of this package: what `summarize`, `leaderboard` or `intervals` returns, or one table of a result, such
        as `compare(...).pairs`. Select the columns and rows you want before you call this.

    Returns
    -------
    A DataFrame of texts, its headings texts, too. `attrs["footnotes"]` is a dict from each mark to its meaning. A
    readable table comes back as it is. polars has no place for footnotes, so give its tables to `to_markdown` and
    `to_latex` as they are.

    Raises
    ------
    InputError: it is no table, such as a result of several tables, or its columns have several levels.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> matches = sf.match(truth, sf.read_objects("data/sample/eager.parquet"))
    >>> sf.readable(sf.intervals(matches, metrics=["f1", "mse"]))
          metric              estimate
    0         F1  0.819 [0.777, 0.855]
    1  mse (px²)     35.4 [30.2, 41.2]
    """
    return as_texts(table)


def as_texts(table: Table) -> pd.DataFrame:
    """What `readable` returns, as a DataFrame whatever kind of table was given."""
    if isinstance(table, tuple | AveragePrecision) and hasattr(table, "_asdict"):
        fields = ", ".join(f".{name}" for name in table._asdict())
        raise InputError(f"table: is a result of several tables; give one of them: {fields}")
    frame = arrow.as_pandas(table, "table")
    if FOOTNOTES in frame.attrs:
        # Numbers among them are of columns that were added since.
        return _noted(frame.map(label), {mark: reason for reason, mark in frame.attrs[FOOTNOTES].items()})
    unit = frame.attrs.get("unit") if frame.attrs else ""
    if is_square(frame):  # whose columns are called by classes
        return _noted(display.texts(frame).rename(columns={frame.columns[0]: _heading(frame.columns[0], unit)}), {})
    if {*frame.columns} >= OF_INTERVALS and not OF_OTHERS & {*frame.columns}:
        return _of_intervals(frame, unit)
    return _wide(frame, unit)


def _wide(frame: pd.DataFrame, unit: str | None) -> pd.DataFrame:
    """A table with its rows as they are, and bounds beside their numbers."""
    marks = _marks(frame)
    plain, groups = display.texts(frame, percent=False), _groups(frame)
    columns: dict[str, Sequence[str]] = {}
    for name in map(str, frame):
        bounds = _bounds(name, frame)
        is_number = pd.api.types.is_float_dtype(frame[name].dtype)
        if name == "reason" or _is_bound(name, frame) or (is_number and frame[name].isna().all() and _metric(name)):
            continue
        if name == "metric":
            texts = [_heading(metric, unit) for metric in frame["metric"]]
        else:
            texts = plain[name].tolist() if bounds is None else _with_bounds(frame, name, bounds)
            if name in groups:
                texts = _of_groups(frame[name])
            if name in OF_ALL and "outcome" not in frame:  # in match tables, null is what a frame without objects has
                texts = [ALL if is_null else text for text, is_null in zip(texts, frame[name].isna(), strict=True)]
        missing = frame[name].isna() if bounds is None else frame[bounds[0]].isna() | frame[name].isna()
        # Where a table has intervals, its reasons are about these.
        explained = bounds is not None or (is_number and not _has_bounds(frame))
        columns[name] = _marked(texts, missing.to_numpy(bool), frame, marks) if explained else texts
    titles = {"estimate": wording.TITLES["estimate"]} if "a" in frame else {}
    heads = [titles.get(name) or _heading(name, unit) for name in columns]
    answer = pd.DataFrame(dict(enumerate(columns.values())), index=frame.index, dtype="object")
    answer.columns = pd.Index(heads)
    return _noted(answer, marks)


def _of_intervals(frame: pd.DataFrame, unit: str | None) -> pd.DataFrame:
    """A table of intervals with a row a metric and group, and a column a submission."""
    marks = _marks(frame)
    missing = (frame["low"].isna() | frame["estimate"].isna()).to_numpy(bool)
    values = _marked(_with_bounds(frame, "estimate", ("low", "high")), missing, frame, marks)
    before = list(map(str, frame.columns[: list(frame.columns).index("metric")]))
    # What `intervals` returns, whose notes have its method, is of one submission; there a `name` is of a slice.
    is_named = "name" in before and "method" not in frame.attrs
    names = frame["name"].map(str).tolist() if is_named else ["estimate"] * len(frame)
    groups = [name for name in before if name != "name" or not is_named]
    # Values as they are tell rows apart, since texts are rounded; what is there twice has rows of its own.
    places = pd.DataFrame({"key": frame.groupby([*groups, "metric"], sort=False, dropna=False, observed=True).ngroup()})
    places["turn"] = places.assign(name=names).groupby(["key", "name"], sort=False).cumcount()
    rows: dict[tuple[int, int], dict[str, str]] = {}
    for place, name, value in zip(places.itertuples(index=False, name=None), names, values, strict=True):
        rows.setdefault(place, {})[name] = value
    first = frame[~places.duplicated().to_numpy()]
    keys = [_of_groups(first[name]) for name in groups] + [[_heading(name, unit) for name in first["metric"]]]
    heads = [*(_heading(name, unit) for name in groups), "metric"]
    cells = [
        [*key, *(row.get(name, DASH) for name in dict.fromkeys(names))]
        for key, row in zip(zip(*keys, strict=True), rows.values(), strict=True)
    ]
    return _noted(pd.DataFrame(cells, columns=pd.Index([*heads, *dict.fromkeys(names)]), dtype="object"), marks)


def _groups(frame: pd.DataFrame) -> list[str]:
    """The columns whose values tell the rows of a summary apart: those before its first metric."""
    names = list(map(str, frame))
    return names[: names.index("tp")] if "tp" in names and "outcome" not in names else []


def _of_groups(values: pd.Series) -> list[str]:
    """Values that tell rows apart as texts: numbers with all their digits, as rounded ones may be equal."""
    if pd.api.types.is_float_dtype(values.dtype):
        return [label(value) for value in values]
    return display.texts(values.to_frame()).iloc[:, 0].tolist()


def _heading(name: str, unit: str | None) -> str:
    """The label of a metric with its unit, or the name of another column in words."""
    known = wording.reading(name)
    if known is not None:
        text, own = f"{known.metric.label}{wording.SUFFIXES[known.suffix][0]}", known.metric.unit_in(unit)
        return f"{text} ({own})" if own else text
    if name == "tau" and unit != "":
        return f"tau ({wording.unit_of_distances(unit)})"
    title = None if name in ON_PAGES else wording.TITLES.get(name)
    return title or display.words(name.removeprefix("n_"))


def _metric(name: str) -> bool:
    return wording.reading(name) is not None


def _bounds(name: str, frame: pd.DataFrame) -> tuple[str, str] | None:
    """The columns of the bounds of a number, if it has both; those of a count, which is not rounded, stay columns."""
    known = wording.reading(name)
    if known is not None and known.metric.written == "count":
        return None
    low, high = ("low", "high") if name == "estimate" else (f"{name}_low", f"{name}_high")
    return (low, high) if low in frame and high in frame else None


def _is_bound(name: str, frame: pd.DataFrame) -> bool:
    """Whether a column is a bound that stands beside its number."""
    base, _, end = name.rpartition("_")
    return end in ("low", "high") and (base or "estimate") in frame and _bounds(base or "estimate", frame) is not None


def _has_bounds(frame: pd.DataFrame) -> bool:
    return any(_bounds(str(name), frame) is not None for name in frame)


def _with_bounds(frame: pd.DataFrame, name: str, bounds: tuple[str, str]) -> list[str]:
    """The numbers of a column with their intervals."""
    metrics = frame["metric"] if name == "estimate" and "metric" in frame else [name] * len(frame)
    shares = [display.is_share(metric) for metric in metrics]
    numbers = (frame[column].to_numpy(np.float64, na_value=np.nan).tolist() for column in (name, *bounds))
    return [interval_text(*row) for row in zip(*numbers, shares, strict=True)]


def _marks(frame: pd.DataFrame) -> dict[str, str]:
    """The mark of each reason in a table, by the reason."""
    reasons = dict.fromkeys(map(str, frame["reason"].dropna())) if "reason" in frame else {}
    return {reason: MARKS[place % len(MARKS)] * (place // len(MARKS) + 1) for place, reason in enumerate(reasons)}


def _marked(texts: Sequence[str], missing: np.ndarray, frame: pd.DataFrame, marks: Mapping[str, str]) -> list[str]:
    """Texts with the marks of the reasons why something is missing."""
    if not marks:
        return list(texts)
    of_rows = [marks.get(str(reason), "") for reason in frame["reason"]]
    rows = zip(texts, of_rows, missing, strict=True)
    return [f"{text} {mark}" if is_missing and mark else text for text, mark, is_missing in rows]


def _noted(answer: pd.DataFrame, marks: Mapping[str, str]) -> pd.DataFrame:
    """A readable table, its cells as text, with those footnotes that its cells lead to."""
    # Columns may have the same heading, so they are taken by their places.
    columns = {str(place): pandas_tables.as_text(answer.iloc[:, place]) for place in range(answer.shape[1])}
    texts = pd.DataFrame(columns, index=answer.index).set_axis(answer.columns, axis="columns")
    used = {text.rpartition(" ")[2] for column in columns.values() for text in column}
    texts.attrs = {FOOTNOTES: {mark: reason for reason, mark in marks.items() if mark in used}}
    return texts
