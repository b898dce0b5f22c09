"""The match tables of average precision, asked what other match tables are asked."""

from typing import Any

import pandas as pd
import polars as pl
import pytest

import spotgeo_frames as sf
from helpers.problems import refused

# One square found exactly, one that is 2 px off (an IoU of 2 / 3), and one that is a crowd, in each of three frames.
TRUTH = pd.concat(
    [
        pd.DataFrame({"sequence": s, "frame": 1, "object": [1, 2, 3], "x": [0.0, 50.0, 90.0], "y": 0.0})
        for s in range(3)
    ],
    ignore_index=True,
).assign(w=10.0, h=10.0, crowd=lambda table: table["object"] == 3)
FOUND = TRUTH.drop(columns="crowd").assign(x=TRUTH["x"] + 2 * (TRUTH["object"] == 2), score=0.9)
RESULT = sf.average_precision(TRUTH, FOUND)


def at(threshold: float) -> pd.DataFrame:
    return RESULT.matches[RESULT.matches["threshold"] == threshold]


QUESTIONS = {
    "summarize": sf.summarize,
    "summarize by": lambda table: sf.summarize(table, by="sequence"),
    "intervals": sf.intervals,
    "leaderboard": lambda table: sf.leaderboard({"a": table}),
    "compare": lambda table: sf.compare({"a": table, "b": table}),
    "worst_slices": lambda table: sf.worst_slices(table, ["truth_x"]),
    "detection_limit": lambda table: sf.detection_limit(table, "truth_x"),
    "changes": lambda table: sf.changes(table, table),
    "bias": sf.bias,
    "object_summary": sf.object_summary,
    "calibration": sf.calibration,
    "operating_point": lambda table: sf.operating_point(table, recall=0.5),
    "plots.frame": lambda table: sf.plots.frame(table, 1, 1),
}


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_several_thresholds_are_refused(ask: Any) -> None:
    """Each object would count once a threshold."""
    with pytest.raises(sf.InputError, match=r"several thresholds.*the rows of one"):
        ask(RESULT.matches)


@pytest.mark.parametrize("to", [lambda table: table, pl.from_pandas])
def test_slices_by_threshold(to: Any) -> None:
    """The crowd counts nowhere; what is 2 px off is found up to a threshold of 0.65."""
    summary = pl.DataFrame(sf.summarize(to(RESULT.matches), by="threshold"))
    assert summary["tp"].to_list() == [6] * 4 + [3] * 6
    assert summary["fp"].to_list() == [0] * 4 + [3] * 6
    crossed = sf.summarize(RESULT.matches, by=["sequence", "threshold"])
    assert crossed["tp"].tolist() == ([2] * 4 + [1] * 6) * 3


def test_the_threshold_is_part_of_the_rule() -> None:
    """The rows of one threshold tell it, so no function asks for it, and those of two are not compared."""
    assert sf.summarize(at(0.5)).attrs["threshold"] == 0.5
    assert "threshold" not in sf.summarize(RESULT.matches, by="threshold").attrs
    assert "threshold" not in RESULT.matches.attrs
    assert not len(sf.changes(at(0.5), at(0.5)))
    with pytest.raises(sf.InputError, match="not made with the same rule"):
        sf.compare({"a": at(0.5), "b": at(0.75)})


def test_only_average_precision_ignores_rows() -> None:
    """A user's own column of that name is a column like any other, unless it has to be one of marks."""
    matches = sf.match(TRUTH, FOUND)
    pd.testing.assert_frame_equal(sf.summarize(matches.assign(ignored=True)), sf.summarize(matches))
    with refused(("match table: column ignored", "int64")):
        sf.summarize(at(0.5).assign(ignored=1))


def test_columns_of_the_user_are_carried_along() -> None:
    matches = sf.average_precision(TRUTH.assign(ignored="a"), FOUND.assign(ignored="b")).matches
    assert set(matches["truth_ignored"].dropna()) == {"a"}
    assert set(matches["predicted_ignored"].dropna()) == {"b"}
    pd.testing.assert_frame_equal(matches.drop(columns=["truth_ignored", "predicted_ignored"]), RESULT.matches)
