"""add_metrics(): metrics that the field knows and that summaries do not have without a word."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..support import InputError
from ..tables import binning, schema
from .own_metrics import RowSums, metric
from .registry import FEWEST_SIMULATED, METRICS
from .sequence_sums import share

if TYPE_CHECKING:
    import pandas as pd

# The names of F-beta: f2 is that of a beta of 2, f0_5 that of 0.5.
F_BETA = re.compile(r"f(\d+(?:_\d+)?)")


class Known(NamedTuple):
    """A metric of the field: what people read of it, what each row adds to its sums, and how it follows from them."""

    label: str
    formula: str
    note: str
    sums: RowSums
    value: Callable[[dict[str, np.ndarray]], Any]
    higher_is_better: bool = True
    no_interval: str = ""
    fewest: int = 0


def add_metrics(*names: str) -> None:
    """Adds metrics of the field, which then are in summaries, slices, intervals, comparisons, leaderboards and reports.

    They stay until the Python process ends, as those of `metric` do; `metric(name, None, None)` takes one out.

    Parameters
    ----------
    names
        "pq": panoptic quality of things, the product of recognition quality (f1) and segmentation quality (loc_a):
        the similarities of the TP / (TP + FP / 2 + FN / 2), after matching by similarity (Kirillov et al. 2019,
        arXiv:1801.00868).
        "lrp": localisation recall precision error: (the errors of the TP, each from 0 for exact to 1 at the threshold
        or at tau, + FP + FN) / (TP + FP + FN); lower is better (Oksuz et al. 2021, arXiv:2011.10772).
        "d_ece": detection expected calibration error, in ten equally wide bins of the score: the sum over the bins of
        |TP - sum of the scores of TP and FP|, / (TP + FP); lower is better (Küppers et al. 2020,
        doi:10.1109/CVPRW50498.2020.00171). It has no interval, since that of few detections is too high even if they
        are calibrated; `calibration(bins="equal")` has one that allows for it, and the bins.
        "f2", "f0_5" and so on: F-beta, (1 + beta²) TP / ((1 + beta²) TP + beta² FN + FP), with a beta of 2 or 0.5:
        recall counts beta times as much as precision (van Rijsbergen 1979).

    Raises
    ------
    InputError: there is no such metric.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> matches = sf.match(truth, sf.read_objects("data/boxes/v1.parquet"))
    >>> sf.add_metrics("pq", "lrp", "f2")
    >>> sf.summarize(matches)[["f1", "loc_a", "pq", "lrp", "f2"]].round(3)
          f1  loc_a     pq    lrp     f2
    0  0.691  0.877  0.606  0.602  0.681
    >>> for name in ("pq", "lrp", "f2"):
    ...     sf.metric(name, None, None)
    """
    for name, known in [(name, _known(name)) for name in names]:
        metric(name, known.sums, known.value, higher_is_better=known.higher_is_better)
        METRICS[name] = METRICS[name]._replace(
            label=known.label,
            formula=known.formula,
            note=known.note,
            low=0.0,
            high=1.0,
            written="share",
            no_interval=known.no_interval,
            fewest=known.fewest,
        )


def is_known(name: str) -> bool:
    """Whether `add_metrics` has a metric of this name."""
    return name in KNOWN or _beta(name) > 0


def _beta(name: str) -> float:
    """The beta in the name of an F-beta; 0 if it is none."""
    found = F_BETA.fullmatch(name)
    return float(found[1].replace("_", ".")) if found else 0.0


def _known(name: Any) -> Known:
    """The metric of a name; raises InputError if there is none."""
    if not isinstance(name, str) or not is_known(name):
        hint = "'f2' or 'f0_5', F-beta with that beta"
        raise InputError(f"add_metrics: {name!r} is no metric that is known; there are {', '.join(KNOWN)} and {hint}")
    return KNOWN[name] if name in KNOWN else _f_beta(_beta(name))


def _f_beta(beta: float) -> Known:
    squared = beta * beta

    def value(sums: dict[str, np.ndarray]) -> np.ndarray:
        found = (1 + squared) * sums["tp"]
        return share(found, found + squared * sums["fn"] + sums["fp"])

    formula = f"{1 + squared:g} TP / ({1 + squared:g} TP + {squared:g} FN + FP)"
    note = f"recall counts {beta:g} times as much as precision; null where there is nothing to count"
    return Known(f"F{beta:g}", formula, note, lambda rows: {}, value)


def _similarities(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """What each row adds to the similarities of the TP."""
    found = (rows["outcome"] == "TP").to_numpy()
    return {"similarity": np.where(found, rows["similarity"].to_numpy(np.float64, na_value=np.nan), 0.0)}


def _errors(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """What each row adds to the localisation errors of the TP, each 1 at the threshold or at tau."""
    by_distance, found = schema.measure_of(rows) == "distance", (rows["outcome"] == "TP").to_numpy()
    limit = rows.attrs.get("tau" if by_distance else "threshold")
    if limit is None:
        raise ValueError(f"the table does not tell its {'tau' if by_distance else 'threshold'}; match() notes it")
    measure = rows[schema.measure_of(rows)].to_numpy(np.float64, na_value=np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = measure / limit if by_distance else np.nan_to_num((1.0 - measure) / (1.0 - limit))
    return {"error": np.where(found, error, 0.0)}


def _score_bins(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """By how much each detection is more right than its score, 1 or 0 minus the score, in the bin of its score."""
    is_right = (rows["outcome"] == "TP").to_numpy()
    detected = is_right | (rows["outcome"] == "FP").to_numpy()
    score = rows["predicted_score"].to_numpy(np.float64, na_value=np.nan)
    if not ((score >= 0) & (score <= 1))[detected].all():
        raise ValueError(
            "column predicted_score: some are null or outside 0 to 1, and can be no chances of being right"
        )
    more = np.where(detected, is_right - np.where(detected, score, 0.0), 0.0)
    place = binning.equal_places(np.where(detected, score, 0.0))
    return {f"bin_{number}": np.where(place == number, more, 0.0) for number in range(binning.N_EQUAL)}


def _calibration_error(sums: dict[str, np.ndarray]) -> np.ndarray:
    off = np.sum([np.abs(sums[f"bin_{number}"]) for number in range(binning.N_EQUAL)], axis=0)
    return share(off, sums["tp"] + sums["fp"])


KNOWN = {
    "pq": Known(
        "PQ",
        "sum of the similarities of the TP / (TP + FP / 2 + FN / 2)",
        "panoptic quality of things: F1 (RQ) times localisation (SQ); null where there is nothing to count",
        _similarities,
        lambda sums: share(sums["similarity"], sums["tp"] + (sums["fp"] + sums["fn"]) / 2),
    ),
    "lrp": Known(
        "LRP",
        "(sum of the localisation errors of the TP + FP + FN) / (TP + FP + FN)",
        "an error is 0 where the TP is exact and 1 at the threshold or tau; null where there is nothing to count",
        _errors,
        lambda sums: share(sums["error"] + sums["fp"] + sums["fn"], sums["tp"] + sums["fp"] + sums["fn"]),
        higher_is_better=False,
        fewest=FEWEST_SIMULATED,
    ),
    "d_ece": Known(
        "D-ECE",
        "sum over ten bins of the score of |TP - sum of the scores| / (TP + FP)",
        "expected calibration error of detections; null without detections",
        _score_bins,
        _calibration_error,
        higher_is_better=False,
        no_interval="of few detections it is too high even if they are calibrated; calibration() allows for that",
    ),
}
