"""The registry of metrics: properties that every entry has, and that one entry is all that a new metric takes."""

import doctest
import inspect
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.metric_scenes import random_sums, summaries
from helpers.problems import refused
from helpers.scenes import SCENES, objects
from spotgeo_frames.matching.options import MatchOptions
from spotgeo_frames.matching.rule import Rule
from spotgeo_frames.presentation.drawing import wording
from spotgeo_frames.presentation.drawing.display import texts
from spotgeo_frames.presentation.page.evaluation import evaluate
from spotgeo_frames.presentation.page.folder import files
from spotgeo_frames.presentation.page.html.blocks import Numbers
from spotgeo_frames.presentation.page.sections import sections_of, tables_behind
from spotgeo_frames.scoring import registry, sequence_sums, summary
from spotgeo_frames.scoring.ap.numbers import AP_METRICS
from spotgeo_frames.scoring.registry import (
    CURVE_METRICS,
    METRICS,
    Metric,
    summary_columns,
    values_of,
)
from spotgeo_frames.scoring.sequence_sums import share
from spotgeo_frames.support.writing import write_together
from spotgeo_frames.tables.schema import FN, FP, TP
from spotgeo_frames.tracking.registry import (
    ON_REQUEST,
    OTHER_TRACK_METRICS,
    POSEVAL_COUNTS,
    POSEVAL_METRICS,
    RECALL_METRICS,
    TRACK_METRICS,
    known_metric,
    ospa2_metric,
)

mpl.use("Agg")

ALL = {
    **METRICS,
    **CURVE_METRICS,
    **AP_METRICS,
    **TRACK_METRICS,
    **OTHER_TRACK_METRICS,
    **RECALL_METRICS,
    **POSEVAL_METRICS,
    **POSEVAL_COUNTS,
    **ON_REQUEST,
    "ospa2_2": ospa2_metric("ospa2_2"),
}
SCENE_VALUES = [
    pytest.param(name, found[name], value, id=name) for found, wanted in summaries() for name, value in wanted.items()
]
COUNTS = {name for name, metric in METRICS.items() if metric.written == "count"}

# 0, not null, where there is nothing to count, as the competition has it.
ZERO_OF_NOTHING = {"mse", "kelvins_mse", *COUNTS}

# How near the TP are: one more of them, farther than the others, may make these worse.
OF_HITS_ALONE = {"mean_distance", "rmse", "loc_a", "localisation"}

SUMS = random_sums(np.random.default_rng(7), 500)


@pytest.mark.parametrize(("name", "found", "value"), SCENE_VALUES)
def test_values_by_hand(name: str, found: float, value: float) -> None:
    assert found == pytest.approx(value)


def test_every_metric_has_a_scene() -> None:
    assert {param.values[0] for param in SCENE_VALUES} == {*ALL}


@pytest.mark.parametrize("name", ALL)
def test_every_entry_is_complete(name: str) -> None:
    metric = ALL[name]
    assert metric.name == name
    assert known_metric(name) is metric
    assert metric.label
    assert metric.formula
    assert metric.low < metric.high
    assert (metric.higher_is_better is None) == (metric.written == "count")
    assert metric.written != "share" or (metric.high == 1 and not metric.unit)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("by_similarity", [False, True])
def test_values_are_in_their_range(name: str, by_similarity: bool) -> None:
    metric = METRICS[name]
    values = values_of(SUMS, [name], by_similarity)[name]
    assert values.shape == (500,)
    defined = metric.by_similarity if by_similarity else metric.by_distance
    assert np.isnan(values).all() != defined
    known = values[~np.isnan(values)]
    assert np.all((known >= metric.low) & (known <= metric.high))


@pytest.mark.parametrize("name", METRICS)
def test_what_is_undefined_is_null(name: str) -> None:
    nothing = {key: np.zeros(1) for key in SUMS}
    [value] = values_of(nothing, [name], by_similarity=not METRICS[name].by_distance)[name]
    assert value == 0 if name in ZERO_OF_NOTHING else np.isnan(value)


@pytest.mark.parametrize("name", METRICS)
def test_sums_of_any_shape(name: str) -> None:
    folded = {key: values.reshape(5, 100) for key, values in SUMS.items()}
    np.testing.assert_array_equal(values_of(folded, [name])[name].ravel(), values_of(SUMS, [name])[name])


@pytest.mark.parametrize("name", [name for name in METRICS if name not in {*COUNTS, *OF_HITS_ALONE}])
def test_a_hit_in_the_place_of_a_miss_makes_nothing_worse(name: str) -> None:
    some = SUMS["fn"] > 0
    before = {key: values[some] for key, values in SUMS.items()}
    gained = {"tp": 1.0, "fn": -1.0, "squared_error": -100.0, "kelvins_mse": -100.0, "near": 0.5, "near_squared": 0.25}
    after = {key: values + gained.get(key, 0.0) for key, values in before.items()}
    parts = {"localisation": 0.25, "missed": -50.0}
    after |= {name: after[name] + gained for name, gained in parts.items()}
    after["gospa"] = np.sqrt(after["localisation"] + after["missed"] + after["false"])
    larger = np.maximum(after["fn"], after["fp"])
    after["ospa"] = np.sqrt((after["localisation"] + 100 * larger) / (after["tp"] + larger))
    change = values_of(after, [name])[name] - values_of(before, [name])[name]
    worse = change < -1e-12 if METRICS[name].higher_is_better else change > 1e-12
    assert not worse.any()


def test_slices_that_cannot_know_are_null_where_a_metric_needs_it() -> None:
    matches = sf.match(*SCENES[0].sides())
    for by, outcome in (("truth_object", FP), ("predicted_object", FN)):
        slices = sf.summarize(matches, by=by)
        for name in summary_columns(by_similarity=False):
            assert slices[name].isna().all() == (outcome in METRICS[name].needs), (by, name)


def test_types_of_columns() -> None:
    found = sf.summarize(sf.match(*SCENES[0].sides())).dtypes
    for name in summary_columns(by_similarity=False):
        integer = "Int64" if METRICS[name].needs else "int64"
        assert str(found[name]) == (integer if METRICS[name].written == "count" else "float64"), name


def test_which_metrics_are_known_is_what_the_message_lists() -> None:
    with refused(("metrics", "'f_2'", ", ".join(METRICS)), error=ValueError):
        sf.intervals(sf.match(*SCENES[0].sides()), metrics=["f_2"])


def test_the_docstring_of_summarize_has_every_column_and_formula() -> None:
    said = " ".join(str(sf.summarize.__doc__).split())
    for name, metric in METRICS.items():
        assert name in said
        assert metric.formula in said, name


@pytest.mark.parametrize("module", [registry, sequence_sums, summary], ids=lambda module: module.__name__)
def test_examples_run(module) -> None:
    assert doctest.testmod(module) == doctest.TestResults(failed=0, attempted=inspect.getsource(module).count(">>> "))


def test_columns_derived_from_a_metric() -> None:
    assert wording.title("mse") == "mse, px²"
    assert wording.title("mse_gain") == "mse gained, px²"
    assert wording.title("f1_low") == "F1 from"
    assert wording.meaning("kelvins_mse_high") == "upper bound of kelvins_mse"
    assert wording.title("truth_objects") is wording.meaning("score_threshold_low") is None
    assert [wording.arrow(METRICS[name]) for name in ("f1", "mse", "tp")] == ["↑", "↓", ""]


def test_a_new_metric_takes_one_entry(monkeypatch: pytest.MonkeyPatch, sample: Path) -> None:
    entry = Metric(
        "miss_rate",
        "misses of truths",
        "FN / (TP + FN)",
        lambda sums: share(sums["fn"], sums["tp"] + sums["fn"]),
        higher_is_better=False,
        high=1.0,
        written="share",
        needs=(TP, FN),
    )
    monkeypatch.setitem(METRICS, "miss_rate", entry)
    truth, predictions = sf.read_spotgeo(sample / "truth.json"), sf.read_spotgeo(sample / "eager.json")
    matches = sf.match(truth, predictions)
    found = sf.summarize(matches)
    assert found["miss_rate"].item() == pytest.approx(1 - found["recall"].item())
    assert sf.summarize(matches, by="predicted_x")["miss_rate"].isna().all()
    assert texts(found)["miss_rate"].item() == f"{found['miss_rate'].item():.2%}"
    sure = sf.intervals(matches, metrics=["miss_rate"], resamples=50)
    assert sure["low"].item() < sure["estimate"].item() < sure["high"].item()
    assert texts(sure)["estimate"].item().endswith("%")
    pairs = sf.compare({"a": matches, "b": sf.match(truth, truth)}, metrics=["miss_rate"], resamples=50).pairs
    assert sf.plots.metric_by_slice(sure).get_xlabel() == "misses of truths"
    assert sf.plots.forest(pairs, metric="miss_rate").get_xlabel() == "difference of misses of truths, points"
    with refused("by: miss_rate"):
        sf.summarize(matches, by=pd.Series(1, index=matches.index, name="miss_rate"))


def test_the_report_describes_a_new_metric(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    entry = METRICS["recall"]._replace(name="found_part", label="part that is found", formula="as recall", note="")
    monkeypatch.setitem(METRICS, "found_part", entry)
    truth = sf.Annotations(objects([(1, 1, 0, 0), (2, 1, 0, 0)]))
    evaluation = evaluate(
        truth, {"a": truth}, [{"sequence": None}], MatchOptions(), Rule("distance", 10.0, 3.0), tracks=False
    )
    sections = sections_of(evaluation)
    write_together(files(tables_behind(evaluation, sections), evaluation.rule, tmp_path, {}))
    readme = (tmp_path / "README.md").read_text("utf-8")
    assert "| `found_part` | float64 | as recall |" in readme
    [numbers] = [block for section in sections for block in section.blocks if isinstance(block, Numbers)]
    assert numbers.counts[0] == ("TP: truths matched with a prediction (found)", ["2"])


def test_totals_are_the_metrics_that_double_where_each_sequence_is_there_twice() -> None:
    sides = [objects([(1, 1, x, 0.0) for x in (0.0, 50.0, 100.0)]), objects([(1, 1, 4.0, 0.0), (1, 1, 200.0, 0.0)])]
    twice = [pd.concat([side, side.assign(sequence=2)], ignore_index=True) for side in sides]
    for assignment in ("most", "least"):
        once, doubled = (sf.summarize(sf.match(*of, assignment=assignment)).iloc[0] for of in (sides, twice))
        for name in [name for name in METRICS if name in once]:
            assert once[name] > 0, name
            assert doubled[name] == pytest.approx(once[name] * (2 if METRICS[name].is_total else 1)), name
