"""What plots and charts draw of limits of detection, calibrations, protocols and GOSPA, and the titles of both.

Messages begin with who draws. A title of a plot may have a count, which a chart of several submissions has not.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from ...analysis import Calibration, DetectionLimit
from ...matching import Rule, noted_rule
from ...scoring import OF_FEW, match_sums, sequence_sums
from ...support import InputError, bins_as_text, label
from ...tables import Table, arrow, schema
from . import wording
from .drawn_tables import Who, check_any, matches_to_draw, of_each, table_to_draw

# The marker of each number of protocols besides AP, which is a bar.
MARKERS = {"AP50": "o", "AP75": "D"}

# The units of the columns of objects that have one.
UNITS = {"x": "px", "y": "px", "w": "px", "h": "px", "area": "px²"}

# What a histogram of distances or similarities ends at and marks.
OF_MEASURES = ("tau", "epsilon", "threshold")

# The count of points of a curve.
POINTS = 200

# The parts of GOSPA, from the lowest layer up: their names, and what their colours are in a palette.
LAYERS = {
    "localisation": ("places of hits", "right"),
    "missed": ("misses", "missed"),
    "false": ("false alarms", "false"),
}

Result = TypeVar("Result", Calibration, DetectionLimit)


class Limits(NamedTuple):
    """Recall by a column: a line each for groups and submissions.

    Attributes
    ----------
    bins, limits
        The rows of each line by its name: those of its bins, and where it is 50% and 90%.
    column, title
        The column, and the title of its axis, with its unit.
    """

    bins: dict[str, pd.DataFrame]
    limits: dict[str, pd.DataFrame]
    column: str
    title: str

    @property
    def heights(self) -> str:
        """The heights of recall whose places are known, in words."""
        known = next(iter(self.limits.values()))
        return " and ".join(f"{recall:.0%}" for recall in known["recall"].unique())


def _results(found: Any, kind: type[Result], maker: str, who: Who) -> dict[str, Result]:
    """What a function returned, by the names of submissions; raises InputError if it is something else."""
    if isinstance(found, Mapping):
        check_any(found, "found", f"what {maker} returned", who)
    given = found if isinstance(found, Mapping) else {"": found}
    for one in given.values():
        if not isinstance(one, kind):
            raise InputError(f"{who}: found is of type {type(one).__name__}; pass what {maker} returned")
    return {str(name): one for name, one in given.items()}


def limits_to_draw(found: DetectionLimit | Mapping[str, DetectionLimit], who: Who) -> Limits:
    """What `detection_limit` returned, of one submission or of several by their names.

    Raises InputError if it is something else, or of several columns.
    """
    of_bins: dict[str, pd.DataFrame] = {}
    of_limits: dict[str, pd.DataFrame] = {}
    columns = []
    for submission, one in _results(found, DetectionLimit, "detection_limit()", who).items():
        limits, bins = (bins_as_text(arrow.as_pandas(table, "found")) for table in one)
        by = list(limits.columns[: list(limits.columns).index("recall")])
        columns.append(str(bins.columns[len(by)]))
        for values, rows in _groups(bins, by).items():
            name = ", ".join([*([submission] if submission else []), *map(label, values)])
            of_bins[name], of_limits[name] = rows, _groups(limits, by)[values]
    if len({*columns}) > 1:
        raise InputError(f"{who}: found are limits of {' and '.join(dict.fromkeys(columns))}; give those of one column")
    unit = UNITS.get(columns[0].removeprefix(schema.PREFIXES["truth"]), "")
    return Limits(of_bins, of_limits, columns[0], wording.with_unit(columns[0], unit))


def _groups(table: pd.DataFrame, by: list[str]) -> dict[tuple[Any, ...], pd.DataFrame]:
    """The rows of each group, by its values in the columns `by`; one group without columns."""
    if not by:
        return {(): table}
    return dict(list(table.groupby(by, observed=True, sort=False)))


def told(limits: pd.DataFrame) -> pd.DataFrame:
    """The limits that are known."""
    return limits[limits["estimate"].notna()]


def logistic(bins: pd.DataFrame, limits: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Points of the logistic curve of recall, over the bins and the limits that are known."""
    known = told(limits)
    ends = pd.concat([bins["mean"], *(known[bound] for bound in ("estimate", "low", "high"))])
    value = np.linspace(ends.min(), ends.max(), POINTS)
    logit = limits["intercept"].iloc[0] + limits["slope"].iloc[0] * value
    with np.errstate(over="ignore"):  # far below the limit, where recall is 0
        return value, 1 / (1 + np.exp(-logit))


def calibrations_to_draw(
    found: Calibration | Mapping[str, Calibration], who: Who
) -> dict[str, tuple[pd.DataFrame, dict[Hashable, Any]]]:
    """The bins and the summary of what `calibration` returned, by the names of submissions."""
    return {
        name: (arrow.as_pandas(one.bins, "bins"), arrow.as_pandas(one.summary, "summary").to_dict("records")[0])
        for name, one in _results(found, Calibration, "calibration()", who).items()
    }


def calibration_error(summary: Mapping[Hashable, Any]) -> str:
    """The expected calibration error and its interval, in words."""
    error = f"expected calibration error {summary['expected_calibration_error']:.3f}"
    return error if pd.isna(summary["low"]) else f"{error} ({summary['low']:.3f} to {summary['high']:.3f})"


def calibration_title(of_each: Mapping[str, tuple[pd.DataFrame, Mapping[Hashable, Any]]]) -> str:
    """What is drawn of calibrations, in words; of one without a name with its error."""
    n_predicted = sum(summary["n_predicted"] for _, summary in of_each.values())
    about = f"Calibration of {n_predicted:,} detections"
    return f"{about}: {calibration_error(of_each[''][1])}" if "" in of_each else about


def protocols_to_draw(table: Table | Mapping[str, Table], who: Who) -> pd.DataFrame:
    """The table that `protocols` returned."""
    return table_to_draw(table, "table", ["protocol", "AP", *MARKERS], "the table that protocols() returned", who=who)


class PointSets(NamedTuple):
    """GOSPA by frame: of each submission, the unit of distances, and how many sequences there are."""

    of_each: dict[str, pd.DataFrame]
    unit: str
    n_sequences: int

    @property
    def title(self) -> str:
        """What is drawn, in words."""
        whose = "1 sequence" if self.n_sequences == 1 else f"{self.n_sequences:,} sequences"
        return f"GOSPA by frame, the mean of {whose}"


def check_one_rule(matches: Table | Mapping[str, Table], limits: Sequence[str], who: Who) -> None:
    """Raises InputError if the notes of the match tables in a dict tell of different `limits`, such as tau."""
    if not isinstance(matches, Mapping):
        return
    notes = {str(name): arrow.as_pandas(of, str(name)).attrs for name, of in matches.items()}
    for limit in limits:
        known = {name: of[limit] for name, of in notes.items() if of.get(limit) is not None}
        if len({*known.values()}) > 1:
            told = ", ".join(f"{value:g} ({name})" for name, value in known.items())
            raise InputError(
                f"{who}: matches are of different {limit}: {told}; give those of one, or draw each by itself"
            )


def rule_to_draw(table: pd.DataFrame) -> Rule:
    """The rule of a match table as far as its notes tell it."""
    if schema.measure_of(table) == "distance":
        return noted_rule.distance_rule(table, needs=())
    notes = table.attrs
    # Where the threshold was lost, the pairs show from where on to draw.
    threshold = notes.get("threshold", float(np.floor(table["similarity"].min() * 20) / 20))
    name, own_distance = str(notes.get("rule", "similarity")), "unit" in notes and "geometry" not in notes
    return Rule(name, threshold=threshold, head_sizes=notes.get("head_sizes"), own_distance=own_distance)


def measure_ends(rule: Rule, values: pd.Series) -> tuple[float, float]:
    """The ends of a histogram of the distances or similarities of true positives: those of the rule, if it is known."""
    known = rule.tau if rule.by_distance else 1.0
    return wording.measure_range(rule) if known else (0.0, float(values.max()))


def gospa_to_draw(matches: Table | Mapping[str, Table], who: Who, stacklevel: int) -> PointSets:
    """The means over sequences of GOSPA, its layers and OSPA, a row a frame number, of each submission.

    Raises InputError if a match table has none.
    """
    check_one_rule(matches, ["tau", "power"], who)
    table = matches_to_draw(matches, who, stacklevel + 1)
    frames = {name: _by_frame(rows, who) for name, rows in of_each(table, who).items()}
    unit = wording.unit_of_distances(noted_rule.distance_rule(table, needs=()).unit)
    return PointSets(frames, unit, table["sequence"].nunique())


def _by_frame(table: pd.DataFrame, who: Who) -> pd.DataFrame:
    """The means of GOSPA, its layers and OSPA over sequences, a row a frame number."""
    sums = match_sums.summary_sums(table, ["sequence", "frame"])
    if "gospa" not in sums.values:
        raise InputError(f"{who}: the match table has no gospa; make it by match(..., assignment='least')")
    values = {name: sums.values[name] for name in ("gospa", "ospa")}
    total = np.sum([sums.values[name] for name in LAYERS], axis=0)
    of_layers = {name: values["gospa"] * sequence_sums.share(sums.values[name], total, 0.0) for name in LAYERS}
    frames = pd.DataFrame(values | of_layers).groupby(np.asarray(sums.labels["frame"])).mean()
    return frames.rename_axis("frame")


def recall_title(plane: wording.Plane, n_truth: int | None = None) -> str:
    """The title of a map of recall."""
    return f"Recall over {plane.words}" + ("" if n_truth is None else f", {n_truth:,} truths")


def measures_title(measure: str, n_hits: int | None = None) -> str:
    """The title of a histogram of what pairs are measured by."""
    return f"{wording.capital(measure)} of {_hits(n_hits)}"


def residuals_title(n_hits: int | None = None) -> str:
    """The title of a map of offsets."""
    return f"Predicted minus true coordinates of {_hits(n_hits)}"


def _hits(n_hits: int | None) -> str:
    return "true positives" if n_hits is None else f"{n_hits:,} true positives"


def slices_title(metric: str, has_bars: bool, has_few: bool) -> str:
    """The title of a metric, by its label, of each slice."""
    of_bars, of_few = ", with intervals" if has_bars else "", f"; hollow: {OF_FEW}" if has_few else ""
    return f"{wording.capital(metric)} by slice{of_bars}{of_few}"


def differences_title(metric: str) -> str:
    """The title of the differences of a metric, by its label."""
    return f"Differences of {metric} between submissions"


def costs_title(metric: str) -> str:
    """The title of what kinds of error cost of a metric, by its label."""
    return f"{metric} gained if one kind of error alone were corrected"


def sweep_titles(metric: str) -> tuple[str, str]:
    """The titles of the two parts of a sweep of a metric, by its label."""
    return f"{metric} by score threshold", "Precision over recall"


def precision_title(threshold: float | None, by_category: bool = False) -> str:
    """The title of precision over recall, of all thresholds or of one."""
    at = "" if threshold is None else f" at {threshold:.2f}"
    return f"Precision over recall{at}, {'by category' if by_category else 'the mean over categories'}"
