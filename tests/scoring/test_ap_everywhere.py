"""Whoever is asked for an average precision gives the number that `average_precision` gave, and says the same of it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.detectors import Detector, boxes
from helpers.problems import refused

pytestmark = [
    pytest.mark.filterwarnings("ignore:average_precision"),
    pytest.mark.filterwarnings("ignore:intervals"),
    pytest.mark.filterwarnings("ignore:compare"),
]

THRESHOLDS = [0.6, 0.9]
TRUTH, CLAIMS = boxes(np.random.default_rng(7), Detector())
with pytest.warns(UserWarning, match="detections in . frames are left out"):
    RESULT = sf.average_precision(TRUTH, CLAIMS, thresholds=THRESHOLDS, max_detections=3)
AP = RESULT.summary["AP"][0]


def test_every_function_has_the_same_number(tmp_path: Path) -> None:
    assert sf.average_precision(TRUTH, CLAIMS).summary["AP"][0] != AP
    assert sf.flat(RESULT)["AP"] == AP
    assert sf.summarize(RESULT)["AP"][0] == AP
    assert sf.intervals(RESULT, metrics=["AP"])["estimate"][0] == AP
    assert sf.leaderboard({"a": RESULT})["AP"][0] == AP
    compared = sf.compare({"a": RESULT, "b": RESULT}, resamples=20)
    assert compared.leaderboard["AP"].tolist() == [AP, AP]
    costs = sf.error_costs(RESULT)
    assert (costs["AP"] - costs["AP_gain"]).to_numpy() == pytest.approx(np.full(len(costs), AP))
    sf.save(RESULT, tmp_path)
    loaded = sf.load(tmp_path)
    pd.testing.assert_frame_equal(loaded.summary, RESULT.summary)
    assert loaded.summary.attrs == RESULT.summary.attrs
    assert sf.summarize(loaded).attrs == RESULT.summary.attrs
    assert str(loaded).splitlines()[:4] == str(RESULT).splitlines()[:4]
    assert sf.intervals(loaded, metrics=["AP"])["estimate"][0] == AP
    pd.testing.assert_frame_equal(sf.error_costs(loaded), costs)
    pd.testing.assert_frame_equal(loaded.matches, RESULT.matches)


def test_plots_have_the_same_number() -> None:
    texts = [text.get_text() for text in sf.plots.precision_recall(RESULT.curve).get_legend().get_texts()]
    assert texts == [f"mean of 0.60 and 0.90, AP {AP:.2f}"]
    alone = sf.average_precision(TRUTH, CLAIMS, thresholds=[0.75])
    texts = [text.get_text() for text in sf.plots.precision_recall(alone.curve).get_legend().get_texts()]
    assert texts == [f"threshold 0.75, AP {alone.summary['AP'][0]:.2f}"]


def test_numbers_of_other_thresholds_are_null_and_nobody_is_asked_for_them() -> None:
    assert RESULT.summary[["AP50", "AP75"]].isna().all(axis=None)
    assert sf.intervals(RESULT)["metric"].unique().tolist() == ["AP"]
    assert sf.compare({"a": RESULT, "b": RESULT}, resamples=20).pairs["metric"].unique().tolist() == ["AP"]
    with refused(("metrics", "'AP50' is none of those that there are here: AP, APs"), error=ValueError):
        sf.intervals(RESULT, metrics=["AP50"])
    costs = sf.error_costs(RESULT)
    assert costs[["AP50", "AP50_gain"]].isna().all(axis=None)


def test_a_threshold_is_one_of_those_of_the_result_and_by_default_the_lowest() -> None:
    """So nothing is said of another threshold than AP is."""
    counts = RESULT.matches.groupby("threshold")["outcome"].apply(lambda outcome: (outcome == "TP").sum())
    assert (sf.diagnose(RESULT)["outcome"] == "TP").sum() == counts.iloc[0]
    assert sf.diagnose(RESULT).attrs["threshold"] == pytest.approx(0.6)
    assert (sf.diagnose(RESULT, threshold=0.9)["outcome"] == "TP").sum() == counts.iloc[1]
    assert sf.operating_point(RESULT, recall=0.1).attrs["threshold"] == pytest.approx(0.6)
    for function in (sf.diagnose, sf.calibration):
        with refused(("threshold is 0.5", "one of 0.60, 0.90 is needed"), error=ValueError):
            function(RESULT, threshold=0.5)


def test_results_over_other_thresholds_or_of_other_limits_are_not_compared() -> None:
    for other in ({"thresholds": [0.6]}, {"max_detections": 4}):
        words = {"thresholds": THRESHOLDS, "max_detections": 3} | other
        result = sf.average_precision(TRUTH, CLAIMS, **words)
        with refused(("compare", "not made with the same rule", next(iter(other)))):
            sf.compare({"a": RESULT, "b": result}, resamples=20)
        with refused(("leaderboard", next(iter(other)))):
            sf.leaderboard({"a": RESULT, "b": result})


def test_folders_that_earlier_versions_saved_have_all_ten_thresholds(tmp_path: Path) -> None:
    """They noted only the thresholds of `matches`."""
    kept = sf.average_precision(TRUTH, CLAIMS).kept()
    pairs = kept["pairs"]
    pairs.attrs = {key: pairs.attrs[key] for key in ("rule", "threshold", "version")} | {"thresholds": [0.5, 0.75]}
    again = sf.AveragePrecision.of_kept(kept)
    assert sf.summarize(again)["AP"][0] == kept["summary"]["AP"][0]
    assert again.matches["threshold"].unique().tolist() == [0.5, 0.75]


def test_the_counts_add_up_to_the_file() -> None:
    """Of every detection it is known whether it counts, is explained by a crowd, or is beyond the most."""
    crowd = TRUTH.objects.assign(crowd=TRUTH.objects["object"] % 3 == 0)
    truth = TRUTH._replace(objects=crowd)
    result = sf.average_precision(truth, CLAIMS, max_detections=3)
    notes, row = result.summary.attrs, result.summary.iloc[0]
    assert row["n_predicted"] + notes["beyond_max_detections"] == len(CLAIMS)
    assert row["n_truth"] + notes["crowds"] == len(crowd)
    assert min(notes["beyond_max_detections"], notes["crowds"]) > 0
    diagnosed = sf.diagnose(result)
    at_half = result.matches[result.matches["threshold"] == 0.5]
    for table in (diagnosed, sf.summarize(diagnosed), sf.summarize(at_half), sf.operating_point(result, recall=0.1)):
        left_out = table.attrs["explained"] + table.attrs["beyond_max_detections"]
        counted = sf.summarize(diagnosed)["n_predicted"][0]
        assert counted + left_out == len(CLAIMS)
        assert table.attrs["crowds"] == notes["crowds"]
        assert table.attrs["explained"] > 0
    counts = sf.confusion(result, wide=False)
    detections = counts.loc[counts["predicted_category"].notna(), "count"].sum()
    assert detections + counts.attrs["explained"] + counts.attrs["beyond_max_detections"] == len(CLAIMS)
