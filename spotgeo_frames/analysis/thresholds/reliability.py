"""calibration(): whether scores are the chances of being right.

The detections are put into bins of the score with equally many in each, or of equal width. In a bin of a calibrated
detector, the share that is right (precision) is the mean score (Guo et al. 2017, arXiv:1706.04599; of detectors Küppers
et al. 2020, doi:10.1109/CVPRW50498.2020.00171). The expected calibration error (ECE) is the mean distance of the two,
over all detections.

Few detections have an ECE above 0 even if they are perfectly calibrated, because distances do not cancel out: by
sqrt(2 / pi) standard errors in each bin, if these are normal. Where bins are off the mark, it is less. So the interval
of the ECE leaves out that much below, and nothing above.
"""

import warnings
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from ...scoring import FEW_SEQUENCES, LITTLE_KNOWN, OF_FEW, AveragePrecision, NamedSums, sequence_sums
from ...support import InputError, arrays, result_views, special_functions
from ...tables import Table, array_of, as_numbers, binning, messages, schema, selections, table_kinds
from ...tracking import known_metric
from ..certainty import QUESTION, Functions, Intervals, jackknife, reasons, resampling
from .operating_points import SCORE, is_detection, scored_matches


class Calibration(NamedTuple):
    """The result of `calibration`: two DataFrames.

    Attributes
    ----------
    bins
        One row for each bin of the score: the mean score, and precision.
    summary
        One row: the expected calibration error, with its interval.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> result = sf.calibration(sf.match(truth, sf.read_objects("data/sample/eager.parquet")))
    >>> result
    Calibration
      expected_calibration_error 0.1031, low 0.05704, high 0.1253
      bins     10 rows × 7 columns
      summary  1 rows × 6 columns
    >>> result.bins[["mean_score", "precision"]].round(2).tail(2)
       mean_score  precision
    8        0.95        1.0
    9        0.99        1.0
    """

    bins: pd.DataFrame
    summary: pd.DataFrame

    def __repr__(self) -> str:
        return result_views.result_as_text(self, self._headline())

    def _repr_html_(self) -> str | None:
        fronts = [result_views.Front("bins", known=known_metric)]
        return result_views.result_as_html(self, self._headline(), fronts)

    def _headline(self) -> list[str]:
        return result_views.headline(self.summary, ["expected_calibration_error", "low", "high"])


class _Detections(NamedTuple):
    """N detections: the score of each, 1 or 0 for right or wrong, and the numbers of its bin and its sequence, (N,)."""

    score: np.ndarray
    is_right: np.ndarray
    bin: np.ndarray
    sequence: np.ndarray
    n_bins: int
    n_sequences: int


@table_kinds.same_kind_as("x")
def calibration(
    x: Table | NamedTuple | AveragePrecision,
    bins: int | Literal["equal"] = 10,
    threshold: float | None = None,
    *,
    confidence: float = 0.95,
) -> Calibration:
    """Compares the scores of detections with how often they are right.

    A detector is calibrated if, of the detections with a score of about 0.8, 80% are right. The intervals take
    sequences as independent of each other; frames and objects of one sequence need not be.

    Parameters
    ----------
    x
        A match table whose predictions had a `score` from 0 to 1, of any kind of objects, or what `track`, `pose` or
        `average_precision` returned. To look at some detections alone, such as a class, give these rows of the match
        table.
    bins
        How many bins of the score there are, 2 to 1000, with equally many detections in each; fewer where many have the
        same score. Or "equal": those of the ten bins [0, 0.1), [0.1, 0.2) to [0.9, 1] that have detections. These are
        D-ECE's own, and the error is then the metric `d_ece` of `add_metrics` (Küppers et al. 2020,
        doi:10.1109/CVPRW50498.2020.00171).
    threshold
        Of average precision, the similarity from which on a detection is right, one of those that it is the mean over:
        the lowest by default, which is 0.5 unless `thresholds` said otherwise.
    confidence
        The share of intervals that contain the true value, between 0 and 1.

    Returns
    -------
    Calibration of two DataFrames of the kind that `x` has (polars or pyarrow; otherwise pandas). Rows that are ignored
    in average precision are left out.

    bins: one row for each bin, from the lowest scores up: `predicted_score`, the bin; `mean_score`; `n_predicted` and
        `n_sequences`, how many detections it has, and from how many sequences; `precision`, the share of them that are
        right, with its jackknife interval, `precision_low` and `precision_high`, as `intervals` has it. A precision
        below the mean score means that the detector is too sure.
    summary: one row: `expected_calibration_error`, the mean distance of precision and mean score over the bins,
        weighted by their detections (Guo et al. 2017, arXiv:1706.04599), with its interval from `low` to `high`;
        `by_chance`, the error that so many detections of a perfectly calibrated detector would have; `n_predicted` and
        `n_sequences`. With few detections the error is too high, by up to `by_chance`; the interval allows for that.
        It is null without detections, and `by_chance`, `low` and `high` where a bin has detections from one sequence
        only. Warnings say so, and where there are fewer than 20 sequences.

    Raises
    ------
    InputError: `x` is no match table, holds those of several thresholds, or has no scores, or some outside 0 to 1.
    ValueError: `bins`, `threshold` or `confidence` is out of range, or `threshold` is given with a match table.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> found = sf.calibration(sf.match(truth, sf.read_objects("data/boxes/v1.parquet")), bins=3)
    >>> found.bins[["predicted_score", "mean_score", "precision", "precision_low", "precision_high"]].round(2)
      predicted_score  mean_score  precision  precision_low  precision_high
    0   (0.129, 0.67]        0.54       0.30           0.26            0.34
    1    (0.67, 0.79]        0.74       0.86           0.83            0.89
    2    (0.79, 0.99]        0.86       0.98           0.95            0.99
    >>> found.summary[["expected_calibration_error", "low", "high", "by_chance"]].round(3)
       expected_calibration_error    low   high  by_chance
    0                        0.16  0.131  0.177      0.011
    """
    is_count = isinstance(bins, int | np.integer) and not isinstance(bins, bool) and 2 <= bins <= binning.MOST_BINS
    if bins != "equal" and not is_count:
        raise ValueError(f'bins is {bins!r}; an integer from 2 to {binning.MOST_BINS} or "equal" is needed')
    resampling.check_confidence(confidence)
    table = scored_matches(x, threshold, "calibration")
    table = table[is_detection(table)].reset_index(drop=True)
    _check_range(table)
    score = as_numbers(table[SCORE])
    in_bins = array_of(binning.in_equal_bins(score) if bins == "equal" else selections.binned(table, SCORE, int(bins)))
    bin_of_row, first = selections.number_groups({SCORE: in_bins}, len(table))
    sequence, n_sequences = resampling.number_sequences(table)
    is_right = (table["outcome"].array.codes == schema.TP).astype(np.float64)
    detections = _Detections(score, is_right, bin_of_row, sequence, len(first), n_sequences)
    of_bins = _bin_table(detections, confidence)
    of_bins.insert(0, SCORE, in_bins.take(first))
    summary = _summary(detections, confidence)
    of_bins.attrs = summary.attrs = table.attrs | {
        "question": QUESTION,
        "bins": bins if bins == "equal" else int(bins),
        "confidence": confidence,
    }
    for text in _warning_texts(summary):
        warnings.warn(f"calibration: {text}", stacklevel=table_kinds.CALLER)
    return Calibration(of_bins, summary)


def _warning_texts(summary: pd.DataFrame) -> list[str]:
    """The texts of warnings: why the interval is null, and where little is known."""
    [row] = summary.to_dict("records")
    if row["n_sequences"] == 1:
        return [f"{reasons.OF_ONE}, so low and high are null"]
    texts = []
    if 1 < row["n_sequences"] < FEW_SEQUENCES:
        texts.append(f"{OF_FEW}: {LITTLE_KNOWN}")
    if row["n_predicted"] and np.isnan(row["low"]):
        texts.append("low and high are null: a bin has detections from one sequence only; take fewer bins")
    return texts


def _check_range(table: pd.DataFrame) -> None:
    """Raises InputError unless all scores can be chances."""
    outside = ~table[SCORE].between(0, 1).to_numpy(bool)
    if outside.any():
        such = (
            f"{messages.counted(int(outside.sum()), 'score')} outside 0 to 1, such as {table[SCORE][outside].iloc[0]:g}"
        )
        raise InputError(
            f"calibration: x: column {SCORE}: {such}; only scores from 0 to 1 can be chances of being right"
        )


def _bin_table(detections: _Detections, confidence: float) -> pd.DataFrame:
    """The table `bins` of a Calibration, without the bins themselves."""
    cell, first = arrays.grouped(detections.bin * detections.n_sequences + detections.sequence)
    of_cell, n_bins = detections.bin[first], detections.n_bins
    sums = {"tp": arrays.added_at(cell, detections.is_right), "n": np.bincount(cell).astype(np.float64)}
    functions = jackknife.single_share(lambda sums: sequence_sums.share(sums["tp"], sums["n"]), lambda sums: sums["n"])
    found = jackknife.jackknife(sums, of_cell, n_bins, functions, confidence)
    n = np.bincount(detections.bin, minlength=n_bins)
    columns = {
        "mean_score": arrays.added_at(detections.bin, detections.score, n_bins) / n,
        "n_predicted": n,
        "n_sequences": np.bincount(of_cell, minlength=n_bins),
        "precision": found.estimate[:, 0],
        "precision_low": found.low[:, 0],
        "precision_high": found.high[:, 0],
    }
    return pd.DataFrame(columns)


def _summary(detections: _Detections, confidence: float) -> pd.DataFrame:
    """The table `summary` of a Calibration."""
    shape = detections.n_sequences, detections.n_bins
    cell = detections.sequence * detections.n_bins + detections.bin
    sums = {
        "excess": arrays.added_at(cell, detections.is_right - detections.score, shape[0] * shape[1]).reshape(shape),
        "n": np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64),
    }
    columns = dict.fromkeys(["expected_calibration_error", "low", "high", "by_chance"], np.nan)
    if shape[0]:
        group = np.zeros(shape[0], np.int64)
        of_bins = jackknife.jackknife(sums, group, 1, _distances(shape[1]), confidence)
        of_all = jackknife.jackknife(sums, group, 1, _error(), confidence)
        weights = sums["n"].sum(axis=0) / sums["n"].sum()
        by_chance = float(np.sqrt(2 / np.pi) * np.sum(weights * of_bins.error[0]))
        low, high = _bounds(of_all, by_chance, confidence)
        estimate = of_all.estimate[0, 0]
        columns = {"expected_calibration_error": estimate, "low": low, "high": high, "by_chance": by_chance}
    counts = {"n_predicted": len(detections.score), "n_sequences": detections.n_sequences}
    return pd.DataFrame([columns | counts])


def _distances(n_bins: int) -> Functions:
    """How far precision is above the mean score, in each bin."""
    unlimited = np.full(n_bins, np.inf)
    return Functions(
        lambda sums: sequence_sums.share(sums["excess"], sums["n"]),
        lambda sums: sums["n"],
        -unlimited,
        unlimited,
        np.zeros(n_bins, bool),
    )


def _error() -> Functions:
    """The expected calibration error."""

    def values(sums: NamedSums) -> np.ndarray:
        return sequence_sums.share(np.abs(sums["excess"]).sum(axis=-1), sums["n"].sum(axis=-1))[..., None]

    unlimited = np.full(1, np.inf)
    return Functions(values, lambda sums: sums["n"].sum(axis=-1)[..., None], -unlimited, unlimited, np.zeros(1, bool))


def _bounds(found: Intervals, by_chance: float, confidence: float) -> tuple[float, float]:
    """The interval of the expected calibration error."""
    special = special_functions()
    estimate, error = found.estimate[0, 0], found.error[0, 0]
    if np.isnan(estimate + error + by_chance):
        return np.nan, np.nan
    reach = special.stdtrit(found.degrees_of_freedom[0, 0], (1 + confidence) / 2) * error
    low, high = max(estimate - by_chance - reach, 0.0), min(estimate + reach, 1.0)
    if error <= jackknife.ROUNDING:  # all sequences agree: the bounds of a share of as many units
        low, high = (
            float(bound[0, 0]) for bound in jackknife.clopper_pearson(found.estimate, found.n_weighted, confidence)
        )
    return low, high
