"""average_precision(): COCO's AP and AR, with the tables behind them.

The numbers are those of pycocotools 2.0.11 to the last digits, with null where it has -1. Known differences

    - An annotation may have the id 0, or a string. pycocotools takes 0 for "not matched", and so counts a detection
      that finds annotation 0 as a false alarm.
    - The frames are those of the truth's frames table; without one, those in which either side has objects.
    - Without a column `area`, the area of a box is w * h; pycocotools needs areas.
    - Detections beyond the most of a frame and category are left out, as there, and a warning counts them.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...geometries import Measure
from ...matching import left_out, match_options, rule_of_tables
from ...support import InputError
from ...tables import Annotations, By, Table, TableKind, as_annotations, checks, messages, provenance, table_kinds
from ..sequence_sums import Evaluable, evaluable
from .evaluate import (
    KEPT,
    OPTIONAL,
    Matched,
    averages_by_area,
    kept_tables,
    matched_again,
    matched_sides,
    thresholds_kept,
)
from .numbers import DEFAULT, checked_thresholds, thresholds_text
from .slices import sliced
from .tables import category_table, curve_table, match_tables, summary_table

if TYPE_CHECKING:
    import pandas as pd

# The notes of what is left out, and what they count.
LEFT_OUT = {
    "crowds": "crowds",
    "ignored": "ignored truths",
    "beyond_max_detections": "detections beyond the most",
}


@dataclass(frozen=True, repr=False, eq=False)
class AveragePrecision:
    """The result of `average_precision`.

    Attributes
    ----------
    summary
        One row, or one a slice: the official numbers, and how many frames, truths and detections count.
    categories
        One row a category, with the same numbers.
    curve
        One row a category, area range, threshold and recall point, with the precision, and the score that reaches it.
        It is made when it is first asked for, and so is `matches`.
    matches
        The match tables at all thresholds, or at those asked for, one after another.
    matched
        What the tables are made from: the detections in the order of their scores, and their matches.

    Shown as text, it begins with AP, AP50 and AP75.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> result = sf.average_precision(truth, sf.read_objects("data/boxes/v1.parquet"))
    >>> str(result).splitlines()[1].strip()
    'AP 0.4796, AP50 0.6387, AP75 0.6172'
    >>> result.categories[["category", "AP"]].round(2).values.tolist()
    [['bicycle', 0.39], ['car', 0.63], ['person', 0.43], ['bus', 0.48]]
    """

    # The tables that it is kept as, as a NamedTuple names its fields.
    _fields: ClassVar = ("summary", "categories", "curve", "matches", *KEPT, *OPTIONAL)
    _field_defaults: ClassVar = dict.fromkeys(OPTIONAL)

    summary: pd.DataFrame
    categories: pd.DataFrame
    matched: Matched
    thresholds: Sequence[float]  # of `matches`
    kind: TableKind = "pandas"
    categorical: Collection[str] = field(default=())

    @cached_property
    def curve(self) -> pd.DataFrame:
        """Precision over recall."""
        return table_kinds.as_kind(curve_table(self.matched), self.kind, self.categorical)

    @cached_property
    def matches(self) -> pd.DataFrame:
        """The match tables."""
        return table_kinds.as_kind(match_tables(self.matched, self.thresholds), self.kind, self.categorical)

    def kept(self) -> dict[str, Any]:
        """The tables that it is kept as: its own, and those from which `of_kept` makes it again."""
        own = self._asdict() | {"curve": self.curve, "matches": self.matches}
        return own | kept_tables(self.matched, self.thresholds)

    @classmethod
    def of_kept(cls, tables: Mapping[str, Any]) -> AveragePrecision:
        """The result that was kept as these tables."""
        summary, categories = tables["summary"], tables["categories"]
        _, of_matches = thresholds_kept(tables["pairs"].attrs)
        categorical = table_kinds.categorical_columns(categories, tables["matches"])
        return cls(
            summary, categories, matched_again(tables), of_matches.tolist(), table_kinds.kind_of(summary), categorical
        )

    def in_kind(self, kind: TableKind, categorical: Collection[str]) -> AveragePrecision:
        """The same result with tables of another kind."""
        summary, categories = (
            table_kinds.as_kind(table, kind, categorical) for table in (self.summary, self.categories)
        )
        return AveragePrecision(summary, categories, self.matched, self.thresholds, kind, categorical)

    def __repr__(self) -> str:
        from ...support import pandas_tables

        return pandas_tables.result_as_text(self, self._headline())

    def _repr_html_(self) -> str | None:
        from ...support import pandas_tables

        return pandas_tables.result_as_html(self, self._headline())

    def _asdict(self) -> dict[str, Any]:
        """The tables that are made already."""
        return {"summary": self.summary, "categories": self.categories}

    def _headline(self) -> list[str]:
        from ...support import pandas_tables

        return [*pandas_tables.headline(self.summary, DEFAULT), *self._counted()]

    def _counted(self) -> list[str]:
        """What the numbers are means over, and what they leave out, as lines."""
        notes = self.matched.notes
        over = f"mean over similarity {thresholds_text(self.matched.thresholds)}"
        left = [f"{notes[key]:,} {text}" for key, text in LEFT_OUT.items() if notes.get(key)]
        most = f"at most {notes['max_detections']:,} detections a frame and category"
        return [f"{over}; {most}", *([f"left out: {', '.join(left)}"] if left else [])]


@evaluable.register(AveragePrecision)
def _(x: AveragePrecision, name: str) -> Evaluable:
    from .evaluable import (
        evaluable_precision,  # imported here, because average_precision() needs no pandas before its tables
    )

    return evaluable_precision(x.matched)


@table_kinds.same_kind_as("truth")
def average_precision(
    truth: Annotations | Table,
    predictions: Annotations | Table,
    similarity: str | Measure | None = None,
    by: By | None = None,
    *,
    sigmas: Mapping[Any, float] | None = None,
    thresholds: Sequence[float] | None = None,
    max_detections: int | None = None,
) -> AveragePrecision:
    """Computes COCO's average precision of boxes or poses, as pycocotools 2.0.11 does.

    Of each frame and category the 100 detections with the highest scores count (poses: 20). At each of ten thresholds
    (0.50, 0.55 ... 0.95) they choose truths, the highest score first: the most similar truth that is free and counts,
    or else an ignored one. Precision is then taken at 101 recall points, as the highest precision at that recall or
    beyond. AP is the mean over recall points, thresholds and categories (Lin et al. 2014,
    doi:10.1007/978-3-319-10602-1_48; cocodataset.org/#detection-eval).

    Parameters
    ----------
    truth, predictions
        Annotations, or tables of objects (of pandas, polars or pyarrow, or what exports an Arrow stream): `sequence`,
        `frame`, `object`, `x`, `y` in pixels, for boxes `w` and `h`, for poses `joint`, one row a joint. Predictions
        need a `score`, where higher means surer. Where both sides have a `category`, categories are evaluated one by
        one; if the truth's is of a categorical type, all its categories are listed. Truths whose `crowd` is true are
        ignored, and may be matched again and again; poses without a labelled joint are ignored. `area` (px²) is the
        size of an object: that of its mask, if there is one. Boxes without it have w * h, and the poses of a detector
        the area of the box around their joints.
    similarity
        "iou" for boxes, "oks" for poses, or a function, as in `match`. By default "oks" if there are joints, and "iou"
        if both sides have `w` and `h`.
    by
        Slices, for each of which `summary` has a row: a column of frames or sequences as in `matches` (`sequence`,
        `frame_<column>`, `sequence_<column>`); `category`, for the numbers of each class; a column of truths
        (`truth_<column>`): other truths are ignored, as those outside an area range are, and so are detections without
        a match that do not have the same value in that column; one whose value no truth has is in no slice. If the
        predictions lack the column, or no false alarm has a value in it, precision is null. A list of columns, whose
        values are crossed; or a dict from columns to a count of quantile bins (2 to 1000), edges of bins, or None. Rows
        that are null in a column are in no slice.
    sigmas
        For "oks", which they mean alone, too: a dict from joint to its sigma; by default those of COCO's seventeen
        joints.
    thresholds
        The thresholds that all numbers are means over, some of the ten; by default all.
    max_detections
        The most detections of a frame and category that count, those with the highest scores; by default 100, and 20
        of poses, as COCO has it. A warning counts those that are left out.

    Returns
    -------
    AveragePrecision, whose tables are of the truth's kind (polars or pyarrow; otherwise pandas):

    summary: one row. Boxes have `AP` (mean over the thresholds), `AP50`, `AP75`, `APs`, `APm`, `APl` (area up to 32²
        px², 32² to 96², from 96² on), `AR1`, `AR10`, `AR100` (the recall that 1, 10 or 100 detections a frame and
        category reach), `ARs`, `ARm`, `ARl`. Poses have `AP`, `AP50`, `AP75`, `APm`, `APl`, `AR`, `AR50`, `AR75`,
        `ARm`, `ARl`. With `max_detections=300` all are of 300 detections but for AR1, AR10 and AR100, which stay, and
        `AR300` follows; of `AR1`, `AR10` and `AR100` only those of fewer than `max_detections` are there. Numbers are
        null where no truth counts, and those of a threshold that is not among `thresholds`. Then `n_frames`, `n_truth`
        and `n_predicted`, how many count, and with `thresholds`, unless they are all ten, a text that names them. With
        `by` one row a slice, which begins with the columns of `by`. The notes (`attrs`) have `thresholds`,
        `max_detections`, and how much is left out: `crowds`, `ignored` truths (those that `ignore` marks, and poses
        without a labelled joint), and detections `beyond_max_detections`.
    categories: one row a category, `category` (null if there are none) and the same numbers but for `n_frames`. A
        category without truths has nulls, and is left out of the means.
    curve: one row a category, `area` ("all", "small", "medium", "large"), `threshold` (those given) and `recall` (0 to
        1 in steps of 0.01): `precision`, 0 where the recall is not reached, and `score`, that of the detection that
        reaches it.
    matches: the match tables of all areas, one for each `threshold` given, with a row for each detection and for each
        truth that it misses. `ignored` marks rows that count nowhere: ignored truths and the detections matched with
        them. All functions that take a match table leave these rows out, count them in the note `explained`, and take
        the rows of one threshold, or group by `threshold`; so keep both columns. A detection matched with a crowd has
        no `truth_*` values.

    Raises
    ------
    InputError: a table lacks a column or has invalid values, `score` is missing or null, `by` is or holds a Series or a
        column that there is not, the options do not fit the tables, the sides share no sequence, or predictions lie in
        frames that the truth does not have.
    ValueError: `similarity`, `sigmas` or `max_detections` is not possible, or `thresholds` has one that is none of the
        ten.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": [1, 2], "frame": 1, "object": 1, "x": 10.0, "y": 5.0, "w": 40.0, "h": 40.0})
    >>> found = truth.assign(x=[10.0, 15.0], score=[0.9, 0.8])
    >>> result = sf.average_precision(truth, found, thresholds=[0.5, 0.95])
    >>> result.summary[["AP", "AP50", "AP75", "APm", "APl"]].round(3)
          AP  AP50  AP75    APm  APl
    0  0.752   1.0   NaN  0.752  NaN
    >>> result.matches[["threshold", "sequence", "outcome", "similarity"]].round(3)
       threshold  sequence outcome  similarity
    0       0.50         1      TP       1.000
    1       0.50         2      TP       0.778
    2       0.95         1      TP       1.000
    3       0.95         2      FN         NaN
    4       0.95         2      FP         NaN
    """
    options, chosen = match_options(similarity=similarity, sigmas=sigmas), checked_thresholds(thresholds)
    most = _checked_most(max_detections)
    sides = as_annotations(truth, "truth"), as_annotations(predictions, "predictions")
    if options.similarity is None and all("joint" in side.objects for side in sides):
        options = options._replace(similarity="oks")
    rule = rule_of_tables(options, *sides)
    if rule.pair_measure != "similarity" or rule.tau is not None:
        how = "give similarity= a function; sweep() has an average precision by distance"
        raise InputError(f"average_precision: COCO's rules are for boxes and poses, and these are points; {how}")
    checks.check_scores(sides[1].objects, provenance.source(sides[1].objects, "predictions"), "average_precision")
    matched = matched_sides(*sides, replace(rule, threshold=float(chosen[0])), chosen, most)
    categories = category_table(matched, averages_by_area(matched))
    summary, of_slices = (summary_table(matched, categories), None) if by is None else sliced(matched, by)
    texts = [
        left_out.left_out(matched.detections.aligned, rule),
        _beyond_text(matched),
        _one_sided(categories),
        of_slices,
    ]
    for text in filter(None, texts):
        warnings.warn(f"average_precision: {text}", stacklevel=table_kinds.CALLER)
    return AveragePrecision(summary, categories, matched, chosen.tolist())


def _checked_most(given: Any) -> int | None:
    """The most detections of a frame and category that are asked for; raises ValueError unless it is an integer."""
    if given is None:
        return None
    if not isinstance(given, int | np.integer) or isinstance(given, bool) or given < 1:
        raise ValueError(f"max_detections is {given!r}; an integer is needed, 1 or more")
    return int(given)


def _beyond_text(matched: Matched) -> str | None:
    """A warning of detections that do not count because there are too many of their frame and category, or None."""
    beyond = matched.detections.beyond
    if not beyond.n_detections:
        return None
    n, n_frames = beyond
    which = f"{n:,} detections in {n_frames:,} frame{'s' * (n_frames > 1)} are" if n > 1 else "1 detection is"
    most = f"beyond the {matched.notes['max_detections']:,} with the highest scores of a frame and category"
    return f"{which} left out, {most}; max_detections= of average_precision(), or ap --max-detections, takes more"


def _one_sided(categories: pd.DataFrame) -> str | None:
    """A warning of categories that only one side has, or None."""
    has_truths, has_predictions = (categories[name].to_numpy() > 0 for name in ("n_truth", "n_predicted"))
    effects = {
        ("has no truths and is left out of the means", "have no truths and are left out of the means"): (
            has_predictions & ~has_truths
        ),
        ("has no predictions, so its AP is 0", "have no predictions, so their AP is 0"): has_truths & ~has_predictions,
    }
    texts = [_named(categories["category"][marked], effect) for effect, marked in effects.items() if marked.any()]
    return "; ".join(texts) if texts and categories["category"].notna().all() else None


def _named(names: pd.Series, effect: tuple[str, str]) -> str:
    """How many categories these are, what that means for one or for several, and the names of the first few."""
    which = f"1 category {effect[0]}" if len(names) == 1 else f"{len(names):,} categories {effect[1]}"
    return f"{which}: {messages.first_listed(names)}"
