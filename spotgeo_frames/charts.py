"""Interactive charts of the tables of this package, made with Altair.

Every function draws one table in one line, and those that `plots` has under the same name draw the same table. Of
several submissions, give a dict from their names to their tables, or one table with a column `submission`: each has a
colour, or the reader picks one.

What they return is a chart of Altair: `chart.properties(width=600)` changes it, `|` and `&` join several, and
`chart.save("chart.html")` writes it. A pointer on a mark shows its numbers; a click on a name in a legend makes the
others pale; where an axis can be moved, drag it, and turn the wheel with Ctrl to zoom. Colours stand out from white and
from black, so `alt.theme.enable("dark")` is all that a dark notebook needs. JupyterLab, Jupyter Notebook and VS Code
draw charts with scripts of their own, without a network; what cannot draw them, such as a page of nbconvert or GitHub,
shows the picture that an executed notebook keeps. So do charts that you join, if a chart of this module comes first:
`charts.recall_map(matches) | other`. A renderer of Altair that you have chosen, or given options, stays.

A chart holds at most 5,000 rows: match tables are counted in bins, and of long curves evenly spaced points are drawn.
Each function raises InputError where a table has more to draw, where a whole result is given instead of its table, and
where the submission of a row is null. Charts need the extra `charts`; without it, they raise an ImportError that says
what to install.
"""

from __future__ import annotations  # Altair is an extra, so its types cannot be looked up when charts are imported

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .support import packages
from .tables import Table

if TYPE_CHECKING:
    from types import ModuleType

    from altair.typing import ChartType

    from .analysis import Calibration, DetectionLimit

__all__ = [
    "calibration",
    "confusion",
    "detection_limit",
    "distances",
    "error_costs",
    "forest",
    "gospa",
    "hota_curve",
    "metric_by_slice",
    "precision_recall",
    "protocols",
    "recall_map",
    "residuals",
    "sweep_curves",
]


def __dir__() -> list[str]:
    """Charts alone, so that completion shows nothing else."""
    return __all__


def recall_map(matches: Table | Mapping[str, Table], bins: int = 12, axes: tuple[str, str] | None = None) -> ChartType:
    """Charts recall over the image plane (px).

    Parameters
    ----------
    matches
        A match table with `truth_x` and `truth_y`, or a dict from the names of submissions to such tables, of which the
        reader picks the one to see.
    bins
        The count of columns of the map. There are as many rows as make its cells square.
    axes
        Which two of `x`, `y` and `z` are drawn of points in space; x and y without a word.

    Returns
    -------
    The chart. Cells without truths are grey.

    Raises
    ------
    InputError: `matches` is no match table, the coordinates of truths are missing, `bins` is not 1 to 1,000, or more
        than 5,000 cells have truths.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> matches = sf.match(truth, sf.read_objects("data/sample/eager.parquet"))
    >>> sf.charts.recall_map(matches).title
    'Recall over the image'
    """
    return _charts().recall_map(matches, bins, axes)


def distances(matches: Table | Mapping[str, Table], bins: int = 40) -> ChartType:
    """Charts how many true positives there are by their distance (px), or by their similarity.

    Parameters
    ----------
    matches
        A match table, or a dict from the names of submissions to match tables, of which the reader picks the one to
        see. Where its notes have them, epsilon and tau, or the threshold of the similarity, are marked.
    bins
        The count of bars.

    Returns
    -------
    The chart, which says so if there are no true positives.

    Raises
    ------
    InputError: `matches` is no match table, the tables of a dict differ in tau, epsilon or threshold, or `bins` is not
        1 to 1,000.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> matches = sf.match(truth, sf.read_objects("data/sample/eager.parquet"))
    >>> sf.charts.distances(matches).title
    'Distance of true positives'
    """
    return _charts().distances(matches, bins)


def residuals(
    matches: Table | Mapping[str, Table], tau: float | None = None, axes: tuple[str, str] | None = None
) -> ChartType:
    """Charts predicted minus true coordinates of the true positives (px), counted in bins.

    Parameters
    ----------
    matches
        A match table by distance, with the coordinates of truths and predictions, or a dict from the names of
        submissions to such tables, of which the reader picks the one to see. They have one tau.
    tau
        The largest distance of a true positive (px). Needed only where the match table has lost its own.
    axes
        Which two of `x`, `y` and `z` are drawn of points in space; x and y without a word.

    Returns
    -------
    The chart, with the mean as a cross and tau as a circle; it says so if there are no true positives.

    Raises
    ------
    InputError: `matches` is no match table by distance, coordinates are missing, tau is not known, or true positives
        are farther away than tau.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> matches = sf.match(truth, sf.read_objects("data/sample/eager.parquet"))
    >>> sf.charts.residuals(matches).title
    'Predicted minus true coordinates of true positives'
    """
    return _charts().residuals(matches, tau, axes)


def metric_by_slice(intervals: Table | Mapping[str, Table], metric: str | None = None) -> ChartType:
    """Charts a metric of each slice as a point, with its confidence interval as a bar.

    Parameters
    ----------
    intervals
        The table that `intervals(matches, by=...)` returned, or a dict from the names of submissions to such tables;
        several submissions have a bar each.
    metric
        The name of the metric to draw; the first one of the table without it.

    Returns
    -------
    The chart, which says so if the table has no rows of the metric. Points of slices of fewer than 20 sequences are
    hollow. Of tracks, poses and average precision the combined number and the mean over sequences (macro) are drawn.

    Raises
    ------
    InputError: the table lacks `metric`, `estimate`, `low` or `high`.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> matches = sf.match(truth, sf.read_objects("data/sample/eager.parquet"))
    >>> slices = sf.intervals(matches, by="frame", metrics=["recall"])
    >>> sf.charts.metric_by_slice(slices).title
    'Recall by slice, with intervals'
    """
    return _charts().metric_by_slice(intervals, metric)


def error_costs(costs: Table | Mapping[str, Table]) -> ChartType:
    """Charts how much F1, HOTA of tracks and poses, or AP would gain if each kind of error alone were corrected.

    Parameters
    ----------
    costs
        The table that `error_costs` returned, or a dict from the names of submissions to such tables, which have a bar
        each.

    Returns
    -------
    The chart; its tooltips have the counts of misses, of false alarms and of breaks.

    Raises
    ------
    InputError: the table lacks `kind`, `n_misses`, `n_false_alarms`, or all of `f1_gain`, `HOTA_gain`, `AP_gain`.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> matches = sf.match(truth, sf.read_objects("data/sample/eager.parquet"))
    >>> sf.charts.error_costs(sf.error_costs(sf.diagnose(matches))).title
    'F1 gained if one kind of error alone were corrected'
    """
    return _charts().error_costs(costs)


def sweep_curves(curve: Table | Mapping[str, Table]) -> ChartType:
    """Charts F1 (of tracks, HOTA) over the score threshold, and precision over recall, side by side.

    Parameters
    ----------
    curve
        The table `curve` that `sweep` returned, or a dict from the names of submissions to such tables. Each
        submission, and each tau or similarity threshold, has a line.

    Returns
    -------
    The two charts. The highest F1, or HOTA, is marked; of several equal ones, the one at the highest threshold.

    Raises
    ------
    InputError: the table lacks `score_threshold`, `precision`, `recall` or `f1`, or all of `tau`, `threshold`,
        `HOTA`.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> swept = sf.sweep(truth, sf.read_objects("data/sample/eager.parquet"), score=[0.2, 0.5, 0.8])
    >>> [chart.title for chart in sf.charts.sweep_curves(swept.curve).hconcat]
    ['F1 by score threshold', 'Precision over recall']
    """
    return _charts().sweep_curves(curve)


def forest(pairs: Table | Mapping[str, Table], metric: str | None = None) -> ChartType:
    """Charts the difference of a metric for each pair of submissions, with its interval.

    Parameters
    ----------
    pairs
        The table `pairs` that `compare` returned, or a dict from names to such tables, such as one of each rule.
    metric
        The name of the metric to draw; the first one of the table without it.

    Returns
    -------
    The chart, which says so if the table has no rows of the metric. Points are filled where the adjusted p-value is
    below 0.05. Of tracks and poses the combined number and the mean over sequences (macro) are drawn.

    Raises
    ------
    InputError: the table lacks `a`, `b`, `metric`, `estimate`, `low`, `high` or `p_adjusted`.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_spotgeo("data/sample/truth.json")
    >>> names = ["eager", "cautious"]
    >>> matches = {name: sf.match(truth, sf.read_spotgeo(f"data/sample/{name}.json")) for name in names}
    >>> sf.charts.forest(sf.compare(matches, resamples=100).pairs).title
    'Differences of F1 between submissions'
    """
    return _charts().forest(pairs, metric)


def hota_curve(curve: Table | Mapping[str, Table]) -> ChartType:
    """Charts HOTA, DetA, AssA and LocA over alpha, for all sequences combined, and all classes if there are any.

    Parameters
    ----------
    curve
        The table `curve` that `track` or `pose` returned, or a dict from the names of submissions to such tables, of
        which HOTA, DetA and AssA are three charts side by side.

    Returns
    -------
    The chart, with a line for each metric and its mean over alpha in the legend.

    Raises
    ------
    InputError: the table lacks `sequence`, `alpha` or one of the metrics.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> boxes = sf.read_motchallenge("data/tracks/truth", "data/tracks/tracker")
    >>> sf.charts.hota_curve(sf.track(*boxes).curve).title
    'HOTA and its parts by alpha'
    """
    return _charts().hota_curve(curve)


def precision_recall(curve: Table | Mapping[str, Table], threshold: float | None = None) -> ChartType:
    """Charts precision over recall as the mean over categories, or at one threshold for each category.

    Parameters
    ----------
    curve
        The table `curve` of what `average_precision` returned, or a dict from the names of submissions to such tables,
        which have lines each.
    threshold
        One of the table's thresholds, to draw a line for each category, at most the eight with the lowest average
        precision. Without it, the lines are means over categories: at the thresholds 0.50 and 0.75, and of all.

    Returns
    -------
    The chart, which says so if there are no truths. Of one submission, the legend has the area under each line, its
    average precision.

    Raises
    ------
    InputError: the table lacks `category`, `area`, `threshold`, `recall` or `precision`, or has no such threshold.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> result = sf.average_precision(truth, sf.read_objects("data/boxes/v1.parquet"))
    >>> sf.charts.precision_recall(result.curve).title
    'Precision over recall, the mean over categories'
    >>> sf.charts.precision_recall(result.curve, threshold=0.75).title
    'Precision over recall at 0.75, by category'
    """
    return _charts().precision_recall(curve, threshold)


def confusion(counts: Table | Mapping[str, Table]) -> ChartType:
    """Charts which category of truths is detected as which.

    Parameters
    ----------
    counts
        The table that `confusion` returned, wide or long, or a dict from the names of submissions to such tables; of
        several the reader picks the one to see.

    Returns
    -------
    The chart, which says so if nothing is counted. Each row is a category of truths, and its colours are shares of that
    row; tooltips have the counts. The last column are missed truths, and the last row are false alarms.

    Raises
    ------
    InputError: a table is none that `confusion` returned, or has more than 5,000 cells.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> result = sf.average_precision(truth, sf.read_objects("data/boxes/v1.parquet"))
    >>> sf.charts.confusion(sf.confusion(result)).title
    'What each category is detected as'
    """
    return _charts().confusion(counts)


def calibration(found: Calibration | Mapping[str, Calibration]) -> ChartType:
    """Charts precision over the mean score of each bin, with intervals, and the line of a calibrated detector.

    Parameters
    ----------
    found
        What `calibration` returned, or a dict from the names of submissions to such results.

    Returns
    -------
    The chart, which says so if there are no detections. Points below the dashed line are of scores that are too sure.

    Raises
    ------
    InputError: `found` is not what `calibration` returned.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> found = sf.calibration(sf.match(truth, sf.read_objects("data/boxes/v1.parquet")))
    >>> sf.charts.calibration(found).height
    440
    """
    return _charts().calibration(found)


def detection_limit(found: DetectionLimit | Mapping[str, DetectionLimit]) -> ChartType:
    """Charts recall in bins of a column, the logistic curve, and the values where it is 50% and 90%.

    Parameters
    ----------
    found
        What `detection_limit` returned, or a dict from the names of submissions to such results of one column.

    Returns
    -------
    The chart, which says so if there are no truths. At heights of 50% and 90% a bar goes from `low` to `high`, or to
    the end of the curve where a bound is null.

    Raises
    ------
    InputError: `found` is not what `detection_limit` returned.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> matches = sf.match(truth, sf.read_objects("data/sample/cautious.parquet"))
    >>> found = sf.detection_limit(matches.assign(depth=-matches["truth_brightness"]), "depth")
    >>> sf.charts.detection_limit(found).width
    440
    """
    return _charts().detection_limit(found)


def gospa(matches: Table | Mapping[str, Table]) -> ChartType:
    """Charts GOSPA by frame, the mean over sequences, as layers of what it is made of, and OSPA as a line.

    Parameters
    ----------
    matches
        A match table made with `assignment="least"`, or a dict from the names of submissions to such tables; several
        have a line of GOSPA each.

    Returns
    -------
    The chart, which says so if there are no frames. The layers add up to GOSPA (px, or the unit of the distance).

    Raises
    ------
    InputError: `matches` is no match table, or was not made with `assignment="least"`.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> sides = sf.read_spotgeo("data/sample/truth.json"), sf.read_spotgeo("data/sample/eager.json")
    >>> sf.charts.gospa(sf.match(*sides, assignment="least")).title
    'GOSPA by frame, the mean of 60 sequences'
    """
    return _charts().gospa(matches)


def protocols(table: Table | Mapping[str, Table]) -> ChartType:
    """Charts the average precision of the same predictions by each protocol.

    Parameters
    ----------
    table
        The table that `protocols` returned, or a dict from the names of submissions to such tables; several have a bar
        each.

    Returns
    -------
    The chart, with marks of AP50 and AP75 of one submission, where a protocol has them.

    Raises
    ------
    InputError: the table lacks `protocol`, `AP`, `AP50` or `AP75`.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> table = sf.protocols(truth, sf.read_objects("data/boxes/v1.parquet"), names=["coco", "voc2007"])
    >>> sf.charts.protocols(table).title
    'The same predictions by each protocol'
    """
    return _charts().protocols(table)


def _charts() -> ModuleType:
    """The module that makes the charts; raises ImportError if the extra `charts` is not installed."""
    packages.check_extra("charts", "charts")
    from .presentation.drawing.charts import in_notebooks

    return in_notebooks
