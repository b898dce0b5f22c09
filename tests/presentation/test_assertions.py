"""assert_not_worse: the gate as an assertion, what its message says, and the page that it writes."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import spotgeo_frames as sf
from helpers.counted import counted, tracked
from helpers.problems import refused

N_FOUND = [8, 7, 9, 6, 8, 7, 8, 9, 7, 6]


def recall_table(found: list[int]) -> pd.DataFrame:
    """Ten truths in each sequence, so many of which are found."""
    return counted(found, [10 - n for n in found], [0] * len(found))


OLD, NEW, BAD = recall_table(N_FOUND), recall_table([9, 8, 9, 8, 9, 8, 9, 9, 8, 9]), recall_table([2] * 9 + [3])


def message(*arguments: object, **words: object) -> list[str]:
    """The lines of the message of a failed assertion."""
    with pytest.raises(AssertionError) as raised:
        sf.assert_not_worse(*arguments, **words)  # type: ignore[arg-type]
    return str(raised.value).splitlines()


def numbers(lines: list[str]) -> dict[str, str]:
    """What each label of a message says."""
    parts = [line.split(maxsplit=1) for line in lines[1:]]
    return {label: said for label, said in parts if label}


@pytest.mark.parametrize("margin", [0.0, 0.02, 0.2, 0.6, 0.9])
@pytest.mark.parametrize("always_valid", [False, True])
@pytest.mark.parametrize("new", [NEW, OLD, BAD], ids=["better", "same", "worse"])
def test_it_passes_where_the_gate_does(new: pd.DataFrame, margin: float, always_valid: bool) -> None:
    found = sf.non_inferiority(new, OLD, "recall", margin, always_valid=always_valid)
    if found.passed:
        sf.assert_not_worse(new, OLD, metric="recall", margin=margin, always_valid=always_valid)
    else:
        assert found.table["reason"].iloc[0] in message(new, OLD, "recall", margin, always_valid=always_valid)[-1]


def test_the_message_has_both_numbers_the_interval_and_the_margin() -> None:
    lines = message(BAD, OLD, "recall", 0.05)
    pair = sf.compare({"new": BAD, "old": OLD}, metrics=["recall"], baseline="old").pairs.iloc[0]
    assert lines[0] == "recall: new is worse than old by more than the margin"
    said = numbers(lines)
    assert (said["new"], said["old"], said["margin"]) == ("0.2100", "0.7500", "0.05")
    interval = f"95% interval {pair['low']:.4f} to {pair['high']:.4f}"
    assert said["difference"] == f"-0.5400, {interval}; more is better"
    assert said["verdict"].startswith("not passed: it may be worse by 0.")


def test_less_may_be_better() -> None:
    lines = message(BAD, OLD, "mse", 5)
    pair = sf.compare({"new": BAD, "old": OLD}, metrics=["mse"], baseline="old").pairs.iloc[0]
    said = numbers(lines)
    assert said["difference"] == (
        f"54.0000 px², 95% interval {pair['low']:.4f} px² to {pair['high']:.4f} px²; less is better"
    )
    assert (said["new"], said["margin"]) == ("79.0000 px²", "5 px²")


def test_what_may_be_worse_is_not_called_worse() -> None:
    mixed = recall_table([8, 8, 9, 6, 7, 7, 9, 9, 7, 7])
    assert message(mixed, OLD, "recall", 0.0)[0] == "recall: new may be worse than old by more than the margin"


def test_a_bound_that_holds_at_all_looks_is_called_so() -> None:
    for metric, side in (("recall", "above -"), ("mse", "below ")):
        lines = message(BAD, OLD, metric, 0.0, always_valid=True)
        assert f"at all looks together {side}" in numbers(lines)["difference"]


def test_too_few_sequences_fail_and_say_that_nothing_can_be_said() -> None:
    lines = message(recall_table([9, 9, 8]), recall_table([3, 2, 4]), "recall", 0.9)
    assert lines[0] == "recall: nothing can be said of whether new is worse than old"
    assert "no interval" in numbers(lines)["difference"]
    assert "3 sequences are too few" in lines[-1]


def test_an_undefined_metric_fails() -> None:
    lines = message(counted([0] * 10, [10] * 10, [0] * 10), OLD, "precision", 1.0)
    assert numbers(lines)["new"] == "-"
    assert numbers(lines)["difference"] == "not defined; more is better"


def test_results_and_other_kinds_of_tables() -> None:
    new, old = tracked([0, 1, 2, 3, 1, 0]), tracked([2, 4, 3, 6, 5, 3])
    sf.assert_not_worse(new, old, metric="MOTA", margin=0.1)
    assert message(old, new, "MOTA", 0.0)[0].startswith("MOTA: new is worse than old")
    of_polars = [pl.from_pandas(table) for table in (NEW, OLD)]
    sf.assert_not_worse(*of_polars, metric="recall", margin=0.02)
    sf.assert_not_worse(*(table.lazy() for table in of_polars), metric="recall", margin=0.02)


def test_what_the_gate_refuses_is_refused() -> None:
    with refused(("margin", "-0.01"), error=ValueError):
        sf.assert_not_worse(NEW, OLD, "recall", -0.01)
    with refused(("metric", "'tp'"), error=ValueError):
        sf.assert_not_worse(NEW, OLD, "tp", 1)
    with refused(("non_inferiority: 20 truths", "x", "baseline")):
        sf.assert_not_worse(NEW, OLD.assign(frame=OLD["frame"].mask(OLD["sequence"] == 3, 2)), "recall", 0.1)


@pytest.fixture
def pair(sample: Path) -> list[pd.DataFrame]:
    """The match tables of eager and cautious; the latter has predictions in other frames, too."""
    truth, *sides = (sf.read_objects(sample / f"{name}.parquet") for name in ("truth", "eager", "cautious"))
    return [sf.match(truth, side, tau=8, epsilon=2) for side in sides]


def test_the_page_has_the_verdict_and_the_numbers_of_the_match_tables(pair, tmp_path: Path) -> None:
    """Whether it holds or not; in Markdown by the name of the file."""
    eager, cautious = pair
    sf.assert_not_worse(eager, cautious, metric="recall", margin=0.02, report=tmp_path / "good.md")
    lines = message(cautious, eager, "f1", 0.02, report=tmp_path / "bad.md")
    good, bad = ((tmp_path / f"{name}.md").read_text("utf-8") for name in ("good", "bad"))
    assert "recall: new is not worse than old by more than the margin" in good
    assert lines[0] in bad
    assert "tau 8 px and epsilon 2 px" in bad
    for table in pair:
        assert f"{sf.summarize(table)['f1'].iloc[0]:.2%}" in bad


def test_the_page_is_html_otherwise(pair, tmp_path: Path) -> None:
    message(pair[1], pair[0], "f1", 0.02, report=str(tmp_path / "page.html"))
    text = (tmp_path / "page.html").read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "F1: new may be worse than old by more than the margin" in text


def test_tracks_poses_and_boxes_have_a_page(tracks: Path, poses: Path, boxes: Path, tmp_path: Path) -> None:
    tracked = sf.track(*sf.read_motchallenge(tracks / "truth", tracks / "tracker"))
    posed = sf.pose(*sf.read_posetrack(poses / "truth", poses / "tracker"))
    found = sf.match(*(sf.read_objects(boxes / f"{name}.parquet") for name in ("truth", "v1")), threshold=0.6)
    for result, metric in ((tracked, "HOTA"), (posed, "HOTA"), (found, "f1")):
        sf.assert_not_worse(result, result, metric=metric, margin=0, report=tmp_path / "page.md")
        text = (tmp_path / "page.md").read_text("utf-8")
        table = sf.summarize(found) if result is found else result.summary
        assert f"{table[metric].iloc[-1]:.2%}" in text, metric


def test_whole_poses_have_a_page(tmp_path: Path) -> None:
    rows = [(sequence, 1, person, joint) for sequence in range(6) for person in (1, 2) for joint in ("nose", "eye")]
    truth = pd.DataFrame(rows, columns=["sequence", "frame", "object", "joint"])
    truth = truth.assign(x=100.0 * truth["object"] + 10 * (truth["joint"] == "nose"), y=5.0, area=900.0)
    found = truth[truth["sequence"] != 3].drop(columns="area")
    matches = sf.match(truth, found, similarity="oks", sigmas={"nose": 0.03, "eye": 0.02})
    sf.assert_not_worse(matches, matches, metric="f1", margin=0, report=tmp_path / "page.md")
    assert f"{10 / 11:.2%}" in (tmp_path / "page.md").read_text("utf-8")


def test_what_has_no_page_says_so(pair, tmp_path: Path) -> None:
    def near(truth, predictions):
        return np.hypot(truth["x"] - predictions["x"], truth["y"] - predictions["y"])

    page = tmp_path / "page.md"
    with refused(("assert_not_worse: report: new", "truth_x", "call report")):
        sf.assert_not_worse(NEW, OLD, metric="recall", margin=0.5, report=page)
    rows = pd.DataFrame({"sequence": range(6), "frame": 1, "object": 1, "x": 1.0, "y": 2.0})
    own = sf.match(rows, rows, distance=near, tau=3)
    with refused(("assert_not_worse: report: new", "near", "call report")):
        sf.assert_not_worse(own, own, metric="recall", margin=0.5, report=page)
    with refused((f"{tmp_path}: cannot be written", "folder")):
        sf.assert_not_worse(own, own, metric="recall", margin=0.5, report=tmp_path)
    precision = sf.average_precision(rows.assign(w=3.0, h=3.0), rows.assign(w=3.0, h=3.0, score=0.5))
    with refused(("assert_not_worse: report: new", "average precision", "call report")):
        sf.assert_not_worse(precision, precision, metric="AP", margin=0.5, report=page)
    assert not page.exists()
