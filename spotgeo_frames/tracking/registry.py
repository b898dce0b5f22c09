"""The metrics of tracks and poses: label, formula, unit, direction and range of each, as entries of the registry.

The functions in the package `metrics` compute their values, so the entries have no function of sums. Those that are
computed on request only (ON_REQUEST, and `ospa2_metric`) have one.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from ..scoring import AP_METRICS, Metric, NamedSums, registry, sequence_sums


def _truths(sums: NamedSums) -> np.ndarray:
    """How many truths there are, from HOTA's sums at its first alpha."""
    return sums["hota_tp"][..., 0] + sums["hota_fn"][..., 0]


def _predictions(sums: NamedSums) -> np.ndarray:
    """How many predictions there are."""
    return sums["hota_tp"][..., 0] + sums["hota_fp"][..., 0]


def _pairs(sums: NamedSums) -> np.ndarray:
    """How many pairs there are at HOTA's first alpha."""
    return sums["hota_tp"][..., 0]


def _true_tracks(sums: NamedSums) -> np.ndarray:
    """How many true tracks there are."""
    return sums["n_truth_objects"]


def _share(name: str, formula: str, note: str = "", **facts: Any) -> Metric:
    """The entry of a share that is called by its name."""
    return registry.share_of(name, name, formula, note=note, **facts)


def _percent(name: str, formula: str, **facts: Any) -> Metric:
    """The entry of a metric of poseval in percent, where higher is better."""
    note = "by poseval; the total is the mean over the joints whose value is not null"
    return Metric(name, name, formula, note=note, unit="%", higher_is_better=True, high=100.0, **facts)


def _all_tracks(sums: NamedSums) -> np.ndarray:
    """How many tracks there are on both sides."""
    return sums["n_truth_objects"] + sums["n_predicted_objects"]


# HOTA at each alpha, or its mean over all alphas; also of keypoints.
HOTA_METRICS = registry.by_name(
    _share("HOTA", "sqrt(DetA AssA)", "mean over alpha = 0.05, 0.10 ... 0.95", headline=True),
    _share("DetA", "TP / (TP + FN + FP)", "mean over alpha"),
    _share(
        "AssA",
        "mean over TP of c / (t + p - c)",
        "c: TP that join the same two tracks; t, p: the tracks' lengths",
        weight=_pairs,
    ),
    _share("DetRe", "TP / (TP + FN)", "mean over alpha", weight=_truths),
    _share("DetPr", "TP / (TP + FP)", "mean over alpha", weight=_predictions),
    _share(
        "AssRe",
        "mean over TP of c / t",
        "c: TP that join the same two tracks; t: the true track's length",
        weight=_pairs,
    ),
    _share(
        "AssPr",
        "mean over TP of c / p",
        "c: TP that join the same two tracks; p: the predicted track's length",
        weight=_pairs,
    ),
    _share("LocA", "mean similarity of the TP", "mean over alpha; 1 without TP", weight=_pairs),
)

# What the PoseTrack21 kit adds to HOTA: numbers that fall further where a truth goes to another track and back.
FRAGMENTATION_METRICS = registry.by_name(
    _share(
        "FragA",
        "mean over TP of f / (t + p - c)",
        "f: TP of the same two tracks with no TP of another track between; t, p, c: as in AssA",
        weight=_pairs,
    ),
    _share("FA-HOTA", "sqrt(DetA sqrt(AssA FragA))", "mean over alpha"),
    _share("FA-RHOTA", "sqrt(DetRe sqrt(AssA FragA))", "mean over alpha"),
)

FIRST_ALPHA_METRICS = registry.by_name(
    _share("HOTA(0)", "sqrt(DetA AssA)", "at alpha 0.05"),
    _share("LocA(0)", "mean similarity of the TP", "at alpha 0.05; 1 without TP", weight=_pairs),
)
LOCALISED_METRICS = registry.by_name(_share("HOTALocA(0)", "HOTA(0) LocA(0)", "at alpha 0.05"))

# The kit's name of what trackeval calls OWTA.
RECALL_METRICS = registry.by_name(_share("RHOTA", "sqrt(DetRe AssA)", "mean over alpha; tracks call it OWTA"))

# In the order of the columns of the summary of `pose`.
KEYPOINT_HOTA_METRICS = HOTA_METRICS | RECALL_METRICS | FRAGMENTATION_METRICS | FIRST_ALPHA_METRICS | LOCALISED_METRICS

# In the order of the columns of the summary of `track`.
TRACK_METRICS = HOTA_METRICS | registry.by_name(
    _share("MOTA", "1 - (FN + FP + IDSW) / (TP + FN)", "0 without truths", low=-np.inf, weight=_truths, headline=True),
    _share("MOTP", "mean similarity of the TP", "at a similarity of 0.5 or more; 0 without TP", weight=_pairs),
    _share("MODA", "1 - (FN + FP) / (TP + FN)", "0 without truths", low=-np.inf, weight=_truths),
    registry.count("IDSW", "IDSW", "TP whose truth was last matched with another predicted track", None),
    registry.count("Frag", "Frag", "times a truth is matched again after a gap", None),
    registry.count("MT", "MT", "true tracks matched in more than 80% of their frames", None),
    registry.count("PT", "PT", "true tracks matched in 20% to 80% of their frames", None),
    registry.count("ML", "ML", "true tracks matched in less than 20% of their frames", None),
    registry.count("TP", "TP", "truths matched with a prediction, by CLEAR", None),
    registry.count("FN", "FN", "truths without a match, by CLEAR", None),
    registry.count("FP", "FP", "predictions without a match, by CLEAR", None),
    _share("IDF1", "2 IDTP / (2 IDTP + IDFN + IDFP)", "0 where there is nothing to divide by", headline=True),
    _share("IDP", "IDTP / (IDTP + IDFP)", "0 where there is nothing to divide by", weight=_predictions),
    _share("IDR", "IDTP / (IDTP + IDFN)", "0 where there is nothing to divide by", weight=_truths),
    registry.count("IDTP", "IDTP", "truths matched by the best assignment of whole tracks", None),
    registry.count("IDFN", "IDFN", "truths without a match by that assignment", None),
    registry.count("IDFP", "IDFP", "predictions without a match by that assignment", None),
)

# The other columns that trackeval prints, and the PoseTrack21 kit's copy of it, from the same sums.
OTHER_TRACK_METRICS = registry.by_name(
    _share("OWTA", "sqrt(DetRe AssA)", "mean over alpha; poses call it RHOTA"),
    *FIRST_ALPHA_METRICS.values(),
    _share(
        "sMOTA",
        "(sum of the similarities of the TP - FP - IDSW) / (TP + FN)",
        "0 without truths",
        low=-np.inf,
        weight=_truths,
    ),
    _share(
        "MOTAL",
        "(TP - FP - log10 IDSW) / (TP + FN)",
        "log10 0 counts as 0; 0 without truths",
        low=-np.inf,
        weight=_truths,
    ),
    _share("CLR_F1", "2 TP / (2 TP + FN + FP)", "by CLEAR; 0 where there is nothing to divide by"),
    _share("CLR_Re", "TP / (TP + FN)", "by CLEAR; 0 without truths", weight=_truths),
    _share("CLR_Pr", "TP / (TP + FP)", "by CLEAR; 0 without predictions", weight=_predictions),
    Metric(
        "FP_per_frame",
        "FP per frame",
        "FP / frames, by CLEAR",
        note="of sequences with objects on both sides; 0 for a sequence without truths",
        higher_is_better=False,
        weight=lambda sums: sums["clear_frames"],
    ),
    _share("MTR", "MT / true tracks", "0 without truths", weight=_true_tracks),
    _share("PTR", "PT / true tracks", "0 without truths", weight=_true_tracks),
    Metric(
        "MLR",
        "MLR",
        "ML / true tracks",
        note="1 for a sequence without truths",
        higher_is_better=False,
        weight=_true_tracks,
        high=1.0,
        written="share",
    ),
    *FRAGMENTATION_METRICS.values(),
    *LOCALISED_METRICS.values(),
)

# How much there is of what is evaluated; the last columns of the summary of `track`.
TRACK_SIZES = registry.by_name(
    *(registry.METRICS[name] for name in ("n_frames", "n_truth", "n_predicted")),
    registry.count("n_truth_objects", "true objects", "identities of the truth", None),
    registry.count("n_predicted_objects", "predicted objects", "identities of the predictions", None),
)


def _quotient(name: str, label: str, formula: str, part: str, whole: str, **facts: Any) -> Metric:
    """The entry of a metric that is one sum divided by another, and null where that is 0."""
    return Metric(
        name,
        label,
        formula,
        lambda sums: sequence_sums.share(sums[part], sums[whole]),
        weight=lambda sums: sums[whole],
        **facts,
    )


def _lacking(sums: NamedSums) -> np.ndarray:
    """The share of predictions without a truth."""
    return sequence_sums.share(sums["n_predicted"] - sums["siap_predictions"], sums["n_predicted"])


SIAP_METRICS = registry.by_name(
    _quotient(
        "completeness",
        "completeness",
        "truths with a prediction / truths",
        "siap_truths",
        "n_truth",
        note="of SIAP; a prediction belongs to the truth that is nearest within tau; null without truths",
        higher_is_better=True,
        high=1.0,
        written="share",
    ),
    _quotient(
        "ambiguity",
        "ambiguity",
        "predictions with a truth / truths with a prediction",
        "siap_predictions",
        "siap_truths",
        note="of SIAP; 1 is best; null where no prediction has a truth",
        higher_is_better=False,
        low=1.0,
    ),
    Metric(
        "spuriousness",
        "spuriousness",
        "predictions without a truth / predictions",
        _lacking,
        note="of SIAP; null without predictions",
        higher_is_better=False,
        high=1.0,
        written="share",
        weight=lambda sums: sums["n_predicted"],
    ),
    _quotient(
        "positional_accuracy",
        "positional accuracy",
        "mean distance of the predictions to their truths",
        "siap_distance",
        "siap_predictions",
        note="of SIAP; only after matching by distance; null where no prediction has a truth",
        unit="px",
        higher_is_better=False,
        tau_power=1,
    ),
    _quotient(
        "longest_track_segment",
        "longest track segment",
        "longest time that one predicted track has a true one / time of the true one, both added over true tracks",
        "siap_longest",
        "siap_lifetime",
        note="of SIAP; null where no true track has two frames",
        higher_is_better=True,
        high=1.0,
        written="share",
    ),
    _quotient(
        "rate_of_number_changes",
        "track number changes per frame",
        "(predicted tracks that a true one needs - 1) / frames in which it has one, both added over true tracks",
        "siap_changes",
        "siap_tracked",
        note="of SIAP; null where no true track has a predicted one from a frame to the next",
        higher_is_better=False,
    ),
)

VACE_METRICS = registry.by_name(
    Metric(
        "ATA",
        "ATA",
        "greatest sum over pairs of tracks of (frames in which both are similar / in which either is there) / "
        "half of the count of all tracks",
        lambda sums: sequence_sums.share(sums["STDA"], 0.5 * _all_tracks(sums)),
        note="average tracking accuracy of VACE; null without any track",
        higher_is_better=True,
        high=1.0,
        written="share",
        weight=_all_tracks,
    ),
    _quotient(
        "SFDA",
        "SFDA",
        "mean over frames of the greatest sum of similarities / half of the count of all objects",
        "FDA",
        "vace_frames",
        note="sequence frame detection accuracy of VACE; null without any object",
        higher_is_better=True,
        high=1.0,
        written="share",
    ),
)

IDEUCL_METRICS = registry.by_name(
    _quotient(
        "IDEucl",
        "IDEucl",
        "way of the true tracks that predicted tracks, one each, go along with / way of all true tracks",
        "ideucl",
        "ideucl_sequences",
        note="the mean over sequences; 0 for a sequence in which nothing moves or a side has no object",
        higher_is_better=True,
        high=1.0,
        written="share",
    )
)

# The metrics of tracks that cost extra time, so `track` computes them on request only. OSPA(2) also has a window.
ON_REQUEST = SIAP_METRICS | VACE_METRICS | IDEUCL_METRICS
OSPA2 = re.compile(r"ospa2_([1-9]\d{0,8})")


@cache
def ospa2_metric(name: str) -> Metric:
    """The entry of OSPA(2) over windows of as many frames as its name says, such as ospa2_10."""
    size = name.removeprefix("ospa2_")
    return _quotient(
        name,
        f"OSPA(2), {size} frames",
        f"mean over windows of {size} frames of the OSPA of tracks, whose distance is the mean of min(distance, tau)",
        name,
        "n_frames",
        note="a window without tracks is 0 and counts",
        unit="px",
        higher_is_better=False,
        tau_power=1,
    )


POSEVAL_METRICS = registry.by_name(
    _percent(
        "mota", "100 (1 - (misses + switches + false_positives) / objects)", low=-np.inf, weight=_truths, headline=True
    ),
    _percent("motp", "100 (1 - D / detections), D: distances of all events in head sizes", low=-np.inf, weight=_truths),
    _percent("pre", "100 detections / (detections + false_positives)", weight=_predictions),
    _percent("rec", "100 detections / objects", weight=_truths),
    _percent("ap", "area under the curve of precision over recall, precision made non-increasing"),
    _percent("ap_pre", "precision at the end of that curve"),
    _percent("ap_rec", "recall at the end of that curve"),
)
POSEVAL_COUNTS = registry.by_name(
    registry.count("objects", "objects", "joints of the truth", None),
    registry.count("detections", "detections", "matched joints", None),
    registry.count("misses", "misses", "joints of the truth without a match", None),
    registry.count("false_positives", "false positives", "predicted joints without a match", None),
    registry.count("switches", "switches", "joints matched with another track than before", None),
)


# All metrics: of match tables, tracks and poses, average precision, and score thresholds.
TRACKS_AND_POSES = (
    TRACK_METRICS,
    OTHER_TRACK_METRICS,
    TRACK_SIZES,
    RECALL_METRICS,
    POSEVAL_METRICS,
    POSEVAL_COUNTS,
    ON_REQUEST,
)
REGISTRIES = registry.METRICS, *TRACKS_AND_POSES, AP_METRICS, registry.CURVE_METRICS


def known_metric(name: str) -> Metric | None:
    """The entry of a metric of match tables, score thresholds, average precision, tracks or poses; otherwise None."""
    if OSPA2.fullmatch(name):
        return ospa2_metric(name)
    return next((registry[name] for registry in REGISTRIES if name in registry), None)


def headlines(registries: Iterable[Mapping[str, Metric]] = REGISTRIES) -> list[str]:
    """The metrics that people see first, in the order of the registries."""
    return [name for registry in registries for name, metric in registry.items() if metric.headline]
