"""The metrics of tracks on request: how they are asked for, and every road from their sums to numbers."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import spotgeo_frames as sf
from helpers.boxes import boxes, crowd
from helpers.commands import answer_here, refused_here, run_process
from helpers.datasets import in_files
from helpers.problems import refused
from spotgeo_frames.scoring import sequence_sums
from spotgeo_frames.tracking.on_request import FAMILIES
from spotgeo_frames.tracking.track_sums import TRACK_COLUMNS, tracks_with

ASKED = ["siap", "vace", "ideucl", "ospa2_3"]
NAMES = [*(name for metrics in FAMILIES.values() for name in metrics), "ospa2_3"]

pytestmark = pytest.mark.filterwarnings("ignore:.*fewer than", "ignore:.*only one")


def sides(n_sequences: int = 6) -> tuple[sf.Annotations, pd.DataFrame]:
    """A crowd of boxes that wander in each sequence."""
    trios = [crowd(np.random.default_rng(seed), 8, 7, 60) for seed in range(n_sequences)]
    truth, predictions, frames = (
        pd.concat([table.assign(sequence=number) for number, table in enumerate(of)], ignore_index=True)
        for of in zip(*trios, strict=True)
    )
    sequences = pd.DataFrame({"sequence": range(n_sequences), "weather": ["rain", "sun"] * (n_sequences // 2)})
    return sf.Annotations(truth, frames, sequences), predictions


TRUTH, PREDICTIONS = sides()
RESULT = sf.track(TRUTH, PREDICTIONS, tau=5.0, metrics=ASKED)
WORSE = sf.track(TRUTH, PREDICTIONS[PREDICTIONS["object"] % 3 > 0], tau=5.0, metrics=ASKED)


def test_without_a_word_nothing_changes() -> None:
    plain = sf.track(TRUTH, PREDICTIONS, tau=5.0)
    assert list(plain.summary) == ["sequence", *TRACK_COLUMNS]
    assert list(RESULT.summary) == ["sequence", *TRACK_COLUMNS, *NAMES]
    for got, wanted in zip(RESULT, plain, strict=True):
        pd.testing.assert_frame_equal(got[wanted.columns], wanted, check_exact=True)
    assert repr(RESULT).splitlines()[1] == repr(plain).splitlines()[1]


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_metric_brings_its_family(name: str) -> None:
    found = sf.track(TRUTH, PREDICTIONS, tau=5.0, metrics=name).summary
    family = next((list(metrics) for metrics in FAMILIES.values() if name in metrics), [name])
    assert list(found)[-len(family) :] == family
    pd.testing.assert_series_equal(found[name], RESULT.summary[name], check_exact=True)


@pytest.mark.parametrize("metrics", ["gospa", "HOTA", ["siap", "ospa2"], "ospa2_0", "ospa2_x", [3]])
def test_unknown_names(metrics: Any) -> None:
    with refused(("metrics:", "is no metric of tracks on request", "'ospa2_10'"), error=ValueError):
        sf.track(TRUTH, PREDICTIONS, metrics=metrics)


def test_boxes_by_their_overlap_have_no_accuracy() -> None:
    found = sf.track(TRUTH, PREDICTIONS, metrics="positional_accuracy")
    assert "positional_accuracy" not in found.summary
    assert found.summary["completeness"].notna().all()
    # Boxes are associated with those that they overlap most: here the second truth, though the first begins nearer.
    truth, predictions = boxes([(1, 1, 1, 0, 0), (1, 1, 2, 6, 0)]), boxes([(1, 1, 7, 5, 0)])
    got = sf.track(truth, predictions, metrics="siap").summary.iloc[-1]
    assert got[["completeness", "ambiguity", "spuriousness"]].tolist() == [1 / 2, 1, 0]


def test_numbers_of_groups_follow_from_sums() -> None:
    rain = sf.Annotations(*(table[table["sequence"] % 2 == 0] for table in TRUTH[:3]))
    alone = sf.track(rain, PREDICTIONS[PREDICTIONS["sequence"] % 2 == 0], tau=5.0, metrics=ASKED).summary.iloc[-1]
    by_weather = sf.summarize(RESULT, by="sequence_weather").set_index("sequence_weather")
    np.testing.assert_allclose(by_weather.loc["rain", NAMES].astype(float), alone[NAMES].astype(float))
    by_sequence = sf.summarize(RESULT, by="sequence")
    pd.testing.assert_frame_equal(by_sequence[NAMES], RESULT.summary[NAMES].iloc[:-1], check_exact=True)


def test_intervals_and_comparisons() -> None:
    sure = sf.intervals(RESULT, metrics=NAMES)
    estimates = sure[sure["aggregate"] == "combined"].set_index("metric")["estimate"]
    np.testing.assert_allclose(estimates[NAMES], RESULT.summary.iloc[-1][NAMES].astype(float))
    of_means = sure[sure["aggregate"] == "macro"].set_index("metric")
    assert (of_means["low"] <= of_means["high"]).all()
    pairs = sf.compare({"a": RESULT, "b": WORSE}, metrics=NAMES).pairs
    wanted = RESULT.summary.iloc[-1][NAMES].astype(float) - WORSE.summary.iloc[-1][NAMES].astype(float)
    got = pairs[pairs["aggregate"] == "combined"].set_index("metric")["estimate"]
    np.testing.assert_allclose(got[NAMES] * np.where(pairs["a"].iloc[0] == "a", 1, -1), wanted, atol=1e-12)
    assert {*NAMES} <= {*sf.leaderboard({"a": RESULT, "b": WORSE})}


def test_a_result_that_was_not_asked() -> None:
    plain = sf.track(TRUTH, PREDICTIONS, tau=5.0)
    with refused(("metrics: 'ATA'", "track(..., metrics=['ATA'])"), error=ValueError):
        sf.intervals(plain, metrics="ATA")
    for pair in ({"a": RESULT, "b": plain}, {"a": plain, "b": RESULT}):
        with refused(("metrics: 'ATA'", "of each submission"), error=ValueError):
            sf.compare(pair, metrics="ATA")
        assert len(sf.compare(pair).pairs)
    with refused(("combine", "sums on request", "different ways")):
        sf.combine([sf.sums(RESULT), sf.sums(plain)])


def test_polars_files_and_other_processes(tmp_path: Path) -> None:
    tables = [pl.from_pandas(side) for side in (TRUTH.objects, PREDICTIONS)]
    found = sf.track(sf.Annotations(tables[0], pl.from_pandas(TRUTH.frames)), tables[1], tau=5.0, metrics=ASKED)
    np.testing.assert_array_equal(found.summary[NAMES].to_numpy(), RESULT.summary[NAMES].to_numpy(np.float64))
    assert sf.intervals(found, metrics="SFDA")["estimate"][0] == RESULT.summary["SFDA"].iloc[-1]
    sf.save(RESULT, tmp_path / "saved")
    pd.testing.assert_frame_equal(sf.load(tmp_path / "saved").summary, RESULT.summary)
    metrics = tracks_with(sequence_sums.evaluable(RESULT, "x").table)
    assert list(pickle.loads(pickle.dumps(metrics)).entries) == [*TRACK_COLUMNS, *NAMES]


def test_datasets(tmp_path: Path) -> None:
    folders = [in_files(side, tmp_path / name) for name, side in (("t", TRUTH.objects), ("p", PREDICTIONS))]
    words: dict[str, Any] = {"tau": 5.0, "out": tmp_path / "out"}
    whole = sf.track(TRUTH.objects, PREDICTIONS, tau=5.0, metrics=ASKED).summary
    for _ in range(2):  # the second time from what was kept
        found = sf.track_dataset(*folders, metrics=ASKED, **words)
        np.testing.assert_allclose(found[NAMES], whole[NAMES], rtol=1e-12)
    with pytest.raises(sf.InputError, match="metrics differ"):
        sf.track_dataset(*folders, **words)


SIDED = TRUTH.objects.assign(side=np.where(TRUTH.objects["x"] < 30, "left", "right"))


def test_datasets_by_condition(tmp_path: Path) -> None:
    folders = [in_files(side, tmp_path / name) for name, side in (("t", SIDED), ("p", PREDICTIONS))]
    words: dict[str, Any] = {"tau": 5.0, "by": "truth_side", "metrics": ASKED}
    found, whole = sf.track_dataset(*folders, **words), sf.track(SIDED, PREDICTIONS, **words).summary
    assert found["truth_side"].tolist() == whole["truth_side"].tolist()
    np.testing.assert_allclose(found[NAMES], whole[NAMES], rtol=1e-12)


def test_conditions() -> None:
    sized = TRUTH._replace(objects=SIDED)
    found = sf.track(sized, PREDICTIONS, tau=5.0, by="truth_side", metrics=ASKED).summary
    combined = found[found["sequence"].isna()].set_index("truth_side")
    for name in ("left", "right"):
        alone = sf.track(sized, PREDICTIONS, tau=5.0, where={"truth_side": name}, metrics=ASKED).summary
        np.testing.assert_array_equal(combined.loc[name, NAMES].astype(float), alone.iloc[-1][NAMES].astype(float))


def test_commands(tracks: Path) -> None:
    folders = tracks / "truth", tracks / "tracker"
    done = run_process("track", *folders, "--metrics", "siap,ATA")
    wanted = sf.track(*sf.read_motchallenge(*folders), metrics=["siap", "vace"]).summary.iloc[-1]
    assert done.status == 0
    assert f"{wanted['completeness']:.4f}" in done.out
    assert f"{wanted['rate_of_number_changes']:.4f}" in done.out
    answer = answer_here("track", *folders, "--metrics", "siap,ATA")
    assert answer["combined"]["ATA"] == wanted["ATA"]
    compared = answer_here("compare", *folders, f"again={folders[1]}", "--metrics", "ATA,completeness")
    assert {row["metric"] for row in compared["pairs"]} == {"ATA", "completeness"}
    passed = answer_here("gate", *folders, "--min", "ATA=0.5")
    assert [check["estimate"] for check in passed["checks"]] == [wanted["ATA"]]
    [problem] = refused_here("track", *folders, "--metrics", "siap,nope", status=2)[-1:]
    assert "'nope' is no metric of tracks on request" in problem
