"""average_precision(): average precision by any protocol, with the tables behind it.

By COCO's protocol the numbers are bit for bit those of pycocotools 2.0.11, with null where it has -1; see `curves` for
very many categories. Known differences

    - An annotation may have the id 0, or a string. pycocotools takes 0 for "not matched", and so counts a detection
      that finds annotation 0 as a false alarm.
    - The frames are those of the truth's frames table; without one, those in which either side has objects.
    - Without a column `area`, the area of a box is w * h; pycocotools needs areas.
    - Detections beyond the most of a frame and category are left out, as there, and a warning counts them.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from ...geometries import Measure
from ...matching import FrameRule, left_out
from ...tables import (
    Annotations,
    By,
    Columns,
    Table,
    TableKind,
    as_side_columns,
    columns_of,
    dataframe_of,
    number_checks,
    provenance,
    table_kinds,
)
from ..registry import METRICS
from ..sequence_sums import Evaluable, evaluable
from . import verified
from .attribution import provenance_of
from .evaluate import (
    KEPT,
    OPTIONAL,
    Matched,
    averages_by_area,
    kept_tables,
    matched_again,
    matched_sides,
    thresholds_of_matches,
)
from .numbers import AP_METRICS, DEFAULT, computed
from .rules import fitted, options_of, protocol_of, rule_of
from .slices import sliced
from .tables import category_columns, curve_table, match_tables, summary_table
from .texts import beyond_text, left_out_lines, one_sided_text, over_text, unlisted_text

if TYPE_CHECKING:
    import pandas as pd


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
    matches
        The match tables at all thresholds, or at those asked for, one after another.
    made
        The first two tables as they were made, which become tables when they are asked for, as the others do.
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
    [['bicycle', 0.39], ['bus', 0.48], ['car', 0.63], ['person', 0.43]]
    """

    # The tables that it is kept as, as a NamedTuple names its fields.
    _fields: ClassVar = ("summary", "categories", "curve", "matches", *KEPT, *OPTIONAL)
    _field_defaults: ClassVar = dict.fromkeys(OPTIONAL)

    made: Mapping[str, Columns | pd.DataFrame]  # `summary` and `categories`
    matched: Matched
    thresholds: Sequence[float]  # of `matches`
    kind: TableKind = "pandas"
    categorical: Collection[str] = field(default=())

    @cached_property
    def summary(self) -> pd.DataFrame:
        """The numbers."""
        return self._made("summary")

    @cached_property
    def categories(self) -> pd.DataFrame:
        """The numbers of each category."""
        return self._made("categories")

    def _made(self, name: str) -> pd.DataFrame:
        """A table that is kept as columns until it is asked for."""
        made = self.made[name]
        if not isinstance(made, Columns):
            return made
        table: pd.DataFrame = table_kinds.as_kind(dataframe_of(made), self.kind, self.categorical)
        return table

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
        of_matches = thresholds_of_matches(tables["pairs"].attrs)
        categorical = table_kinds.categorical_columns(categories, tables["matches"])
        made = {"summary": summary, "categories": categories}
        return cls(made, matched_again(tables), of_matches, table_kinds.kind_of(summary), categorical)

    def in_kind(self, kind: TableKind, categorical: Collection[str]) -> AveragePrecision:
        """The same result with tables of another kind."""
        made = {name: table_kinds.as_kind(table, kind, categorical) for name, table in self._asdict().items()}
        return AveragePrecision(made, self.matched, self.thresholds, kind, categorical)

    def records(self, name: str) -> list[dict[str, Any]]:
        """The rows of the table `summary` or `categories`, of pandas, as dicts of plain values."""
        return columns_of(self.made[name]).records()

    def __repr__(self) -> str:
        from ...support import result_views

        return result_views.result_as_text(self, self._headline())

    def _repr_html_(self) -> str | None:
        from ...support import result_views

        known = (AP_METRICS | METRICS).get
        fronts = [result_views.Front(name, known=known) for name in ("summary", "categories")]
        return result_views.result_as_html(self, self._headline(), fronts)

    def _asdict(self) -> dict[str, Any]:
        """The tables that are made already."""
        return {"summary": self.summary, "categories": self.categories}

    def _headline(self) -> list[str]:
        from ...support import result_views

        return [*result_views.headline(self.summary, DEFAULT), *self._counted()]

    def _counted(self) -> list[str]:
        """What the numbers are means over, and what they leave out, as lines."""
        return [self.provenance, self.over, *left_out_lines(self.matched.notes)]

    @property
    def provenance(self) -> str:
        """Which official number this is, or by whose rule it is computed and what keeps it from being official."""
        return provenance_of(self.matched)

    @property
    def over(self) -> str:
        """What the numbers are means over, in words."""
        return over_text(self.matched)


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
    protocol: str = "coco",
    sigmas: Mapping[Any, float] | None = None,
    distance: Measure | None = None,
    unit: str | None = None,
    thresholds: Sequence[float] | Mapping[Any, float] | None = None,
    tau: float | Sequence[float] | None = None,
    max_detections: int | None = None,
    max_detections_of: str | None = None,
    areas: Mapping[str, tuple[float, float]] | None = None,
    assignment: str | None = None,
    interpolation: str | None = None,
    min_recall: float | None = None,
    min_precision: float | None = None,
    metrics: Sequence[str] | None = None,
    frames: FrameRule = "truth",
) -> AveragePrecision:
    """Computes average precision by the protocol of an official evaluator: COCO's, Pascal VOC's, LVIS's and others.

    By COCO's, of each frame and category the 100 detections with the highest scores count (poses: 20). At each of ten
    thresholds (0.50, 0.55 ... 0.95) they choose truths, the highest score first: the most similar truth that is free
    and counts, or else an ignored one. Precision is then taken at 101 recall points, as the highest precision at that
    recall or beyond. AP is the mean over recall points, thresholds and categories (Lin et al. 2014,
    doi:10.1007/978-3-319-10602-1_48; cocodataset.org/#detection-eval). What the other protocols do instead is in
    `docs/protocols.md`. Every field of a protocol can be changed alone, by the arguments from `thresholds` on.

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
        "iou" for boxes, "oks" for poses, or a function, as in `match`. By default that of the geometry that both sides
        have: "oks" if there are joints, "iou" if there are `w` and `h`, and so on.
    by
        Slices, for each of which `summary` has a row: a column of frames or sequences as in `matches` (`sequence`,
        `frame_<column>`, `sequence_<column>`); `frame_n_truth` or `frame_n_predicted`, how many objects that are not
        ignored the frame has at the loosest threshold; `category`, for the numbers of each class; a column of truths
        (`truth_<column>`): other truths are ignored, as those outside an area range are, and so are detections without
        a match that do not have the same value in that column; one whose value no truth has is in no slice. If the
        predictions lack the column, or no false alarm has a value in it, precision is null. A list of columns, whose
        values are crossed; or a dict from columns to a count of quantile bins (2 to 1000), edges of bins, or None. Rows
        that are null in a column are in no slice.
    sigmas
        For "oks", which they mean alone, too: a dict from joint to its sigma; by default those of COCO's seventeen
        joints.
    protocol
        "coco"; "voc2007" or "voc2010" (a detection goes to its best truth, taken or not; 11 recall points, or the area
        under the curve); "lvis" (categories that were verified in a frame, 300 detections a frame, means by frequency);
        "ultralytics" or "ultralytics_cut" (its trapezoids, up to 8.4.36 and since then); "nuscenes" (distances on the
        ground, in metres); "open_images" (groups, and classes of classes); "kitti" (40 recall points, thresholds by
        class).
    distance, unit
        A function that gives distances, and their unit, as in `match`; with `tau`.
    thresholds
        The similarities from which on pairs match, over which all numbers are means, in place of the protocol's. Or a
        dict from categories to a threshold each; the key None has that of all others.
    tau
        The same of distances: the largest distance of a match, or a list of them. Points and other things that are
        matched by distance need it; boxes are then matched by their centres.
    max_detections
        The most detections of a frame and category that count, those with the highest scores, in place of the
        protocol's (COCO: 100, and 20 of poses). A warning counts those that are left out.
    max_detections_of
        "category" or "frame": whether that is the most of a frame and category, or of a frame.
    areas
        Area ranges in place of the protocol's: a dict from a name to the least and largest area (px²), both included.
    assignment
        "free": a detection takes the most similar truth that is free. "best": it asks for the most similar of all, and
        is a false alarm if a surer detection has that.
    interpolation
        How the average follows from precision over recall: "101 points", "40 points", "11 points", "area" (under the
        highest precision at that recall or beyond), "linear" (nuScenes), "trapezoid" or "cut trapezoid" (Ultralytics).
    min_recall, min_precision
        Recall points up to the first do not count, and of precision only what is above the second, as a share of what
        it can be.
    metrics
        Further numbers, which are then in `summary` and `categories`, in slices, intervals and comparisons: "oLRP" (the
        least localisation recall precision error over all score thresholds), "best_f1" (the highest F1 over them, with
        `best_f1_score`, that threshold), "precision_at_recall_0.9" and "recall_at_precision_0.5" with any share. They
        are of the first threshold, and means over categories, each of which has its own best score threshold.
    frames
        Which frames count: "truth", "union" or "labelled", as in `match`. With "labelled" only those count in which the
        truth has rows or that its frames table lists; predictions elsewhere are left out, which the note `unlabelled`
        counts.

    Returns
    -------
    AveragePrecision, whose tables are of the truth's kind (polars or pyarrow; otherwise pandas):

    summary: one row. Boxes have `AP` (mean over the thresholds), `AP50`, `AP75`, `APs`, `APm`, `APl` (area up to 32²
        px², 32² to 96², from 96² on), `AR1`, `AR10`, `AR100` (the recall that 1, 10 or 100 detections a frame and
        category reach), `ARs`, `ARm`, `ARl`. Poses have `AP`, `AP50`, `AP75`, `APm`, `APl`, `AR`, `AR50`, `AR75`,
        `ARm`, `ARl`. Other protocols have `AP`, with several thresholds `AP50` and `AP75`, and LVIS's `APr`, `APc`,
        `APf` (rare, common, frequent categories). By distance there are `AP`, `CPM` and `sensitivity_0.125` to
        `sensitivity_8`: the share of truths found with at most so many false alarms a frame, empty frames counted, and
        the mean over these seven. With `max_detections=300` all are of 300 detections but for AR1, AR10 and AR100,
        which stay, and `AR300` follows; of `AR1`, `AR10` and `AR100` only those of fewer than `max_detections` are
        there. Numbers are null where no truth counts, and those of a threshold that is not among `thresholds`. Then
        `n_frames`, `n_truth` and `n_predicted`, how many count, and with other thresholds than the protocol's a text
        that names them. With `by` one row a slice, which begins with the columns of `by`. The notes (`attrs`) have
        `protocol`, `thresholds`, `max_detections`, and how much is left out: `crowds`, `ignored` truths (those that
        `ignore` marks, and poses without a labelled joint), detections `beyond_max_detections`, and `unverified` ones.
    categories: one row a category, `category` (null if there are none), its `threshold` where some have their own, and
        the same numbers but for `n_frames`. A category without truths has nulls, and is left out of the means.
    curve: one row a category, `area` ("all", "small", "medium", "large"), `threshold` (or tau, the largest distance)
        and `recall` (the protocol's points): `precision`, 0 where the recall is not reached, and `score`, that of the
        detection that reaches it.
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
    ValueError: an argument has a value that is not possible, or does not fit the protocol.

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
    fields = {
        "assignment": assignment,
        "interpolation": interpolation,
        "thresholds": thresholds,
        "areas": areas,
        "max_detections": max_detections,
        "max_detections_of": max_detections_of,
        "min_recall": min_recall,
        "min_precision": min_precision,
        "metrics": metrics,
    }
    rules = protocol_of(protocol, fields, tau)
    options = options_of(rules, similarity, sigmas, distance, unit)
    sides = as_side_columns(truth, "truth"), as_side_columns(predictions, "predictions")
    verified.check_needed(rules, sides[0])
    rule = rule_of(rules, options, sides)
    number_checks.check_scores(
        sides[1].objects, provenance.source(sides[1].objects, "predictions"), "average_precision"
    )
    matched = matched_sides(*sides, rule, fitted(rules, rule.geometry, fields), frames)
    return result_of(matched, by, stacklevel=table_kinds.CALLER + 1)


def result_of(
    matched: Matched, by: By | None = None, *, called: str = "average_precision", stacklevel: int
) -> AveragePrecision:
    """The result of matched detections; warns of what is left out, in the name of the function that was `called`."""
    averages = averages_by_area(matched)
    numbers = computed(matched.numbers, matched.thresholds, averages, matched.frequency)
    categories = category_columns(matched, numbers, averages)
    summary, of_slices = (summary_table(matched, numbers, categories), None) if by is None else sliced(matched, by)
    texts = [
        left_out.left_out(matched.detections.aligned, matched.rule),
        beyond_text(matched),
        one_sided_text(categories),
        unlisted_text(matched, categories),
        of_slices,
    ]
    for text in filter(None, texts):
        warnings.warn(f"{called}: {text}", stacklevel=stacklevel)
    return AveragePrecision({"summary": summary, "categories": categories}, matched, matched.thresholds.tolist())
