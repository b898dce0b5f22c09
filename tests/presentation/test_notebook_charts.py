"""The charts of `sf.charts`: drawn by Vega, and what they hold, join and refuse."""

import json
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import pytest
import vl_convert

import spotgeo_frames as sf
from helpers.kinds import of_kind
from helpers.plotted import every_plot
from helpers.problems import refused
from helpers.reference import PROJECT
from helpers.scenes import squares
from spotgeo_frames import charts, plots
from spotgeo_frames.presentation.drawing.charts.in_notebooks import MOST_ROWS
from spotgeo_frames.presentation.drawing.charts.parts import INK, SERIES

HOSTILE = ["datum['x']; alert(1)", "__proto__", "constructor", "a.b[0]['c']", "</script><b>&\"'\\", "signal", ""]
NAMES = ["eager", "cautious"]


@pytest.fixture(scope="module")
def tables(sample: Path) -> dict[str, dict[str, Any]]:
    """By the name of a chart, the table that it draws of each of two submissions."""
    truth = sf.read_objects(sample / "truth.parquet", sample / "frames.parquet")
    sides = {name: sf.read_objects(sample / f"{name}.parquet") for name in NAMES}
    matches = {name: sf.match(truth, side) for name, side in sides.items()}
    boxes, tracked = sf.read_motchallenge(PROJECT / "data/tracks/truth", PROJECT / "data/tracks/tracker")
    fewer = tracked._replace(objects=tracked.objects.iloc[::2])
    tracks = dict(zip(NAMES, (sf.track(boxes, side) for side in (tracked, fewer)), strict=True))
    cars = sf.read_objects(PROJECT / "data/boxes/truth.parquet")
    detected = [sf.read_objects(PROJECT / f"data/boxes/{version}.parquet") for version in ("v1", "v2")]
    return {
        "recall_map": matches,
        "distances": matches,
        "residuals": matches,
        "metric_by_slice": {
            name: sf.intervals(x, by="frame_n_truth", metrics=["recall"]) for name, x in matches.items()
        },
        "error_costs": {name: sf.error_costs(sf.diagnose(x)) for name, x in matches.items()},
        "sweep_curves": {
            name: sf.sweep(truth, side, [0.2, 0.5, 0.8], tau=[5, 10]).curve for name, side in sides.items()
        },
        "hota_curve": {name: x.curve for name, x in tracks.items()},
        "precision_recall": {
            name: sf.average_precision(cars, side).curve for name, side in zip(NAMES, detected, strict=True)
        },
        "confusion": {
            name: sf.confusion(sf.average_precision(cars, side), wide=False)
            for name, side in zip(NAMES, detected, strict=True)
        },
        "forest": {"pairs": sf.compare(matches, metrics=["f1", "mse"], resamples=100).pairs},
    }


EVERY = [
    "recall_map",
    "distances",
    "residuals",
    "confusion",
    "metric_by_slice",
    "error_costs",
    "sweep_curves",
    "hota_curve",
    "precision_recall",
    "forest",
]
OF_RESULTS = ["calibration", "detection_limit", "gospa", "protocols"]  # not all of them draw a table
OF_SUBMISSIONS = EVERY[:-1]
OF_MATCHES = EVERY[:3]
PICKED = EVERY[:4]  # one submission at a time


def together(tables: dict[str, pd.DataFrame], names: list[str] = NAMES) -> pd.DataFrame:
    """The tables of submissions as one, under these names."""
    return pd.concat(dict(zip(names, tables.values(), strict=True)), names=["submission"])


def drawn(chart: Any) -> str:
    """The chart as Vega draws it."""
    return vl_convert.vegalite_to_svg(chart.to_dict())


def texts(chart: Any) -> list[str]:
    """The texts of a chart as drawn, without the space of no width that names begin with."""
    return [text.replace("\u200b", "") for text in re.findall(r">([^<>]+)</text>", drawn(chart))]


def rows_in(chart: Any) -> list[dict[str, Any]]:
    """All rows that a chart holds."""
    return [row for rows in chart.to_dict().get("datasets", {}).values() for row in rows]


def evaluated(part: Any, key: str = "") -> Iterator[str]:
    """The texts of a specification of Vega that are code."""
    if isinstance(part, dict):
        for name, value in part.items():
            yield from evaluated(value, name) if name != "data" else evaluated_in_data(value)
    elif isinstance(part, list):
        for value in part:
            yield from evaluated(value, key)
    elif isinstance(part, str) and key in ("signal", "expr", "test", "update", "init", "events"):
        yield part


def evaluated_in_data(data: Any) -> Iterator[str]:
    """The code of the data of a specification, besides the rows themselves."""
    for one in data if isinstance(data, list) else [data]:
        yield from evaluated(
            {name: value for name, value in one.items() if name != "values"} if isinstance(one, dict) else one
        )


def test_charts_have_the_names_of_plots() -> None:
    """The plots of frames have none: the viewer of the page and of notebooks shows frames."""
    assert {*plots.__all__} - {*charts.__all__} == {"frame", "gallery", "patches", "sequence", "strip"}
    assert {*charts.__all__} <= {*plots.__all__}
    assert sorted(charts.__all__) == sorted([*EVERY, *OF_RESULTS])


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", EVERY)
def test_charts_of_one_submission_are_drawn(name: str, kind: str, tables: dict[str, dict[str, Any]]) -> None:
    table = of_kind(next(iter(tables[name].values())), kind)
    given = {"tau": 10} if name == "residuals" and kind != "pandas" else {}  # the notes are lost on the way
    chart = getattr(charts, name)(table, **given)
    assert drawn(chart).count("<path") > 10
    assert 0 < len(rows_in(chart)) <= MOST_ROWS
    assert "submission" not in texts(chart)


@pytest.mark.parametrize("name", OF_SUBMISSIONS)
def test_charts_of_several_submissions_name_them(name: str, tables: dict[str, dict[str, Any]]) -> None:
    chart = getattr(charts, name)(together(tables[name]))
    made = chart.to_dict()
    if name in PICKED:
        [picked] = [param for param in made["params"] if param["name"] == "picked"]
        assert [option.strip("\u200b") for option in picked["bind"]["options"]] == NAMES
        return
    assert all(any(text.startswith(submission[:7]) for text in texts(chart)) for submission in NAMES)
    [chosen] = [param for param in made["params"] if param["name"] == "highlighted"]
    assert chosen["bind"] == "legend"
    assert chosen["select"] == {"type": "point", "fields": ["submission"]}


@pytest.mark.parametrize("name", OF_SUBMISSIONS)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_names_never_reach_what_vega_evaluates(name: str, hostile: str, tables: dict[str, dict[str, Any]]) -> None:
    names = [hostile, f"{hostile}'"]
    chart = getattr(charts, name)(together(tables[name], names))
    made = vl_convert.vegalite_to_vega(chart.to_dict())
    code = " ".join(evaluated(made))
    assert not [word for word in ("alert", "proto__", "constructor", "a.b[0]", "script", "eager") if word in code]
    assert "<b>" not in vl_convert.vega_to_svg(made)
    assert {row["submission"][:1] for row in rows_in(chart) if "submission" in row} == {"\u200b"}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_names_of_slices_pairs_and_kinds_are_only_shown(hostile: str, tables: dict[str, dict[str, Any]]) -> None:
    slices = tables["metric_by_slice"]["eager"].rename(columns={"frame_n_truth": hostile}).astype({hostile: object})
    slices[hostile] = [f"{hostile}{place}" for place in range(len(slices))]
    pairs = tables["forest"]["pairs"].assign(a=hostile, b="b")
    costs = tables["error_costs"]["eager"]
    kinds = costs.assign(kind=[f"{hostile}{place}" for place in range(len(costs))])
    named = [
        charts.metric_by_slice(slices.assign(metric=hostile)),
        charts.forest(pairs.assign(metric=hostile), hostile),
        charts.error_costs(kinds),
    ]
    for chart in named:
        code = " ".join(evaluated(vl_convert.vegalite_to_vega(chart.to_dict())))
        assert not [word for word in ("alert", "proto__", "constructor", "a.b[0]", "script") if word in code]
        assert drawn(chart).count("<path") > 3


@pytest.fixture(scope="module")
def plain_rows(tables: dict[str, dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """By the name of a chart, the rows that it holds of the first submission."""
    return {name: rows_in(getattr(charts, name)(tables[name]["eager"])) for name in OF_SUBMISSIONS}


@pytest.mark.parametrize("column", HOSTILE)
def test_columns_of_any_name_change_nothing(
    column: str, tables: dict[str, dict[str, Any]], plain_rows: dict[str, list[dict[str, Any]]]
) -> None:
    for name in OF_SUBMISSIONS:
        table = tables[name]["eager"]
        odd = table.assign(**{column: 1}) if column not in table else table
        odd.attrs = table.attrs
        assert rows_in(getattr(charts, name)(odd)) == plain_rows[name]


@pytest.mark.filterwarnings("ignore:Automatically deduplicated")  # so Altair says that they share a choice
def test_joined_charts_keep_their_scales_and_share_what_is_picked(tables: dict[str, dict[str, Any]]) -> None:
    recall, residuals = (getattr(charts, name)(together(tables[name])) for name in ("recall_map", "residuals"))
    costs, curves = (getattr(charts, name)(together(tables[name])) for name in ("error_costs", "sweep_curves"))
    joined = (recall | residuals) & (costs | curves)
    params = [param["name"] for param in joined.to_dict()["params"]]
    assert params.count("picked") == params.count("highlighted") == 1
    alone = {*re.findall(r'fill="(rgb[^"]*)"', drawn(residuals))}
    assert alone <= {*re.findall(r'fill="(rgb[^"]*)"', drawn(joined))}, "the scale of recall would end at 1 hit"
    assert {"100%", "true positives", "F1 gained, points"} <= {*texts(joined)}


@pytest.mark.filterwarnings("error:Automatically deduplicated")
def test_maps_of_different_things_zoom_by_themselves(tables: dict[str, dict[str, Any]]) -> None:
    recall, residuals = (getattr(charts, name)(tables[name]["eager"]) for name in ("recall_map", "residuals"))
    params = (recall | residuals).to_dict()["params"]
    assert len({param["name"] for param in params}) == len(params) == 2


def test_long_names_can_be_told_apart(tables: dict[str, dict[str, Any]]) -> None:
    names = [f"a long name of a submission by a team of many people, version {name}" for name in NAMES]
    pairs = tables["forest"]["pairs"].replace(dict(zip(NAMES, names, strict=True)))
    [pair] = [text for text in texts(charts.forest(pairs)) if " − " in text]
    assert all(pair.count(name) == 1 for name in NAMES), pair
    lines = texts(charts.precision_recall(together(tables["precision_recall"], names)))
    assert {f"…{name}" for name in NAMES} <= {*lines}


@pytest.mark.parametrize("name", OF_MATCHES)
def test_the_title_names_the_submission_that_is_picked(name: str, tables: dict[str, dict[str, Any]]) -> None:
    both = together(tables[name])
    alone = getattr(charts, name)(tables[name]["eager"]).title
    assert f"{alone}: eager" in texts(getattr(charts, name)(both))


def test_a_theme_holds_for_charts(tables: dict[str, dict[str, Any]]) -> None:
    chart = charts.error_costs(tables["error_costs"]["eager"])
    light = drawn(chart)
    with alt.theme.enable("dark"):
        dark = drawn(chart)
    assert 'fill="#333"' in dark
    assert 'fill="#333"' not in light


def test_the_colours_stand_out_from_white_and_from_dark() -> None:
    def luminance(color: str) -> float:
        parts = np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)]) / 255
        return float(
            np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]
        )

    for color in [*SERIES, INK]:
        for back in ("#ffffff", "#333333", "#111111"):
            high, low = sorted((luminance(color), luminance(back)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 3, (color, back)


def test_match_tables_are_counted(tables: dict[str, dict[str, Any]]) -> None:
    matches = tables["distances"]["eager"]
    n_hits = (matches["outcome"] == "TP").sum()
    for name in ("distances", "residuals"):
        assert sum(row.get("n", 0) for row in rows_in(getattr(charts, name)(matches))) == n_hits
    recall = rows_in(charts.recall_map(matches))
    assert sum(row["truths"] for row in recall) == matches["outcome"].isin(["TP", "FN"]).sum()
    assert sum(row["found"] for row in recall) == n_hits


def test_many_submissions_and_long_curves_stay_within_the_limit(tables: dict[str, dict[str, Any]]) -> None:
    matches = tables["residuals"]["eager"]
    names = [f"n{place}" for place in range(20)]
    chart = charts.residuals(together(dict.fromkeys(names, matches), names))
    assert len(rows_in(chart)) <= MOST_ROWS
    scores = np.linspace(0, 1, 7_000)
    curve = pd.DataFrame({"tau": 5.0, "score_threshold": scores, "precision": scores, "recall": 1 - scores})
    curve["f1"] = -((scores - 0.4321) ** 2)
    rows = rows_in(charts.sweep_curves(curve))
    assert len(rows) <= MOST_ROWS + 1
    best = curve.loc[curve["f1"].idxmax(), "score_threshold"]
    assert best in [row["score_threshold"] for row in rows if row["score_threshold"] is not None]
    slices = pd.DataFrame({"at": range(5_001), "metric": "f1", "estimate": 0.5, "low": 0.4, "high": 0.6})
    with refused(("charts: 5,001 marks", "5,000")):
        charts.metric_by_slice(slices)


def test_the_best_threshold_is_the_last_of_equal_ones(tables: dict[str, dict[str, Any]]) -> None:
    curve = tables["sweep_curves"]["eager"]
    marked = charts.sweep_curves(curve[curve["tau"] == 10]).hconcat[0].layer[0].layer[1].data.values
    of_tau = curve[curve["tau"] == 10]
    expected = of_tau.loc[of_tau["f1"] == of_tau["f1"].max(), "score_threshold"].max()
    assert [row["score_threshold"] for row in marked] == [expected]


def test_lines_of_categories_begin_with_the_worst(tables: dict[str, dict[str, Any]]) -> None:
    curve = tables["precision_recall"]["eager"]
    chart = charts.precision_recall(curve, 0.75)
    of_category = curve[(curve["area"] == "all") & np.isclose(curve["threshold"], 0.75)].groupby("category")
    means = of_category["precision"].mean().sort_values()
    names = [text for text in texts(chart) if ", AP " in text]
    assert names == [f"{name}, AP {mean:.2f}" for name, mean in means.items()]


def test_the_first_metric_is_drawn_without_a_word(tables: dict[str, dict[str, Any]]) -> None:
    pairs = tables["forest"]["pairs"]
    of_mse = pairs[pairs["metric"] == "mse"]
    assert charts.forest(of_mse).title == "Differences of mse between submissions"
    assert plots.forest(of_mse).get_title() == "Differences of mse between submissions"
    assert charts.forest(pairs).title == "Differences of F1 between submissions"


def test_intervals_that_are_not_known_are_left_out(tables: dict[str, dict[str, Any]]) -> None:
    slices = tables["metric_by_slice"]["eager"].assign(low=np.nan, high=np.nan)
    chart = charts.metric_by_slice(slices)
    json.dumps(chart.to_dict(), allow_nan=False)
    assert "no values of recall" in texts(charts.metric_by_slice(slices.assign(estimate=np.nan)))


NOTHING: dict[str, tuple[Callable[[dict[str, dict[str, Any]]], Any], str]] = {
    "recall_map": (lambda of: charts.recall_map(of["recall_map"]["eager"].head(0)), "no truths"),
    "distances": (lambda of: charts.distances(of["distances"]["eager"].head(0)), "no true positives"),
    "residuals": (lambda of: charts.residuals(of["residuals"]["eager"].head(0)), "no true positives"),
    "metric_by_slice": (lambda of: charts.metric_by_slice(of["metric_by_slice"]["eager"], "f2"), "no rows of f2"),
    "error_costs": (lambda of: charts.error_costs(of["error_costs"]["eager"].head(0)), "no gain in F1 is known"),
    "sweep_curves": (lambda of: charts.sweep_curves(of["sweep_curves"]["eager"].head(0)), "no score thresholds"),
    "hota_curve": (lambda of: charts.hota_curve(of["hota_curve"]["eager"].head(0)), "nothing was tracked"),
    "precision_recall": (lambda of: charts.precision_recall(of["precision_recall"]["eager"].head(0)), "no truths"),
    "confusion": (lambda of: charts.confusion(of["confusion"]["eager"].assign(count=0)), "no truths and no detections"),
    "forest": (lambda of: charts.forest(of["forest"]["pairs"], "f2"), "no rows of f2"),
}


@pytest.mark.parametrize("name", EVERY)
def test_charts_of_nothing_say_so(name: str, tables: dict[str, dict[str, Any]]) -> None:
    made, why = NOTHING[name]
    assert texts(made(tables)) == [why]


@pytest.mark.parametrize(
    "name", ["metric_by_slice", "error_costs", "sweep_curves", "forest", "hota_curve", "precision_recall", "confusion"]
)
def test_charts_refuse_what_plots_refuse(name: str, tables: dict[str, dict[str, Any]]) -> None:
    table = next(iter(tables[name].values())).iloc[:, :1]
    with pytest.raises(sf.InputError) as of_plots:
        getattr(plots, name)(table)
    with pytest.raises(sf.InputError) as of_charts:
        getattr(charts, name)(table)
    said = [problem.removeprefix("charts: ") for problem in of_charts.value.problems]
    assert said == [problem.removeprefix("plots: ") for problem in of_plots.value.problems]
    assert all(problem.startswith("charts: ") for problem in of_charts.value.problems)


def test_squares_of_classes_are_drawn_as_their_long_tables() -> None:
    """Submissions may have different classes; a dict of tables and tables put together are the same."""
    truth = squares((0, "cat"), (50, "dog"))
    found = {"a": squares((0, "cat", 0.9)), "b": squares((0, "cow", 0.9))}
    wide, long = (
        {name: sf.confusion(sf.match(truth, side), wide=is_wide) for name, side in found.items()}
        for is_wide in (True, False)
    )
    expected = rows_in(charts.confusion(long))
    assert [row["count"] for row in expected] == [1, 1, 1, 1]
    assert rows_in(charts.confusion(wide)) == rows_in(charts.confusion(together(wide, [*"ab"]))) == expected
    assert {"cat", "dog", "background", "1"} <= {*texts(charts.confusion(wide["a"]))}


def test_a_square_of_many_classes_is_drawn() -> None:
    """Of 90 classes, only cells that count anything are marks; names are in the order of the square."""
    names = [f"c{place:02}" for place in range(90)]
    truth = squares(*((50 * place, name) for place, name in enumerate(names)))
    chart = charts.confusion(sf.confusion(sf.match(truth, truth.assign(score=0.5))))
    assert len(rows_in(chart)) == 90
    assert [text for text in texts(chart) if text in names][:90] == names


@pytest.mark.parametrize("bins", [0, -3, 2.5, "auto", True, None, 10**12])
@pytest.mark.parametrize("name", ["recall_map", "distances"])
def test_bins_are_a_count(name: str, bins: Any, tables: dict[str, dict[str, Any]]) -> None:
    for module, who in ((charts, "charts"), (plots, "plots")):
        with refused((f"{who}: bins", "1")):
            getattr(module, name)(tables[name]["eager"], bins=bins)


def test_a_tau_that_true_positives_exceed_is_refused(tables: dict[str, dict[str, Any]]) -> None:
    matches = tables["residuals"]["eager"]
    with refused(("charts", "tau is 1", f"{matches['distance'].max():.4g}")):
        charts.residuals(matches, tau=1)


def test_truths_without_a_place_are_in_no_cell(tables: dict[str, dict[str, Any]]) -> None:
    matches = tables["recall_map"]["eager"]
    placed = matches["truth_x"].where(np.arange(len(matches)) % 3 > 0)
    some = matches.assign(truth_x=placed.where(np.arange(len(matches)) % 3 > 1, np.inf))
    n_placed = (np.isfinite(some["truth_x"]) & matches["outcome"].isin(["TP", "FN"])).sum()
    assert sum(row["truths"] for row in rows_in(charts.recall_map(some))) == n_placed > 0
    assert plots.recall_map(some).get_title()


def test_bad_input_is_refused(tables: dict[str, dict[str, Any]]) -> None:
    matches = tables["residuals"]["eager"]
    with refused(("charts: curve", "Sweep", "its field curve")):
        charts.sweep_curves(sf.Sweep(tables["sweep_curves"]["eager"], pd.DataFrame()))
    with refused(("charts: column submission", "null")):
        charts.error_costs(tables["error_costs"]["eager"].assign(submission=None))
    with refused(("charts: column predicted_x", "coordinates"), ("charts: column predicted_y", "coordinates")):
        charts.residuals(matches.drop(columns=["predicted_x", "predicted_y"]))
    with refused(("charts: the curve", "0.51", "0.50, 0.55")):
        charts.precision_recall(tables["precision_recall"]["eager"], 0.51)
    with refused(("match table", "similarity")):
        boxes = sf.read_objects(PROJECT / "data/boxes/truth.parquet")
        charts.residuals(sf.match(boxes, boxes))
    with refused(*(("match table: column", name) for name in ("sequence", "frame", "outcome")), error=sf.InputError):
        charts.recall_map(pd.DataFrame({"distance": [1.0], "squared_error": 1.0, "kelvins_error": 1.0}))


def test_notebooks_get_a_specification_and_a_picture(tables: dict[str, dict[str, Any]]) -> None:
    """Of every chart, and of those that it is joined to; a renderer that the user has chosen stays chosen."""
    recall, distances = (getattr(charts, name)(tables[name]["eager"]) for name in ("recall_map", "distances"))
    joined = (recall | distances) & charts.recall_map(tables["recall_map"]["eager"].head(0)).properties(width=100)
    assert alt.renderers.active == "default"
    for chart in (recall, joined):
        shown = chart._repr_mimebundle_()
        assert list(shown) == ["application/vnd.vegalite.v5+json", "text/plain", "image/svg+xml"]
        assert ">Recall over the image</text>" in shown["image/svg+xml"]
        assert shown["application/vnd.vegalite.v5+json"]["$schema"].endswith("/v5.json")
        json.dumps(shown, allow_nan=False)
    with alt.renderers.enable("json"):
        assert "application/json" in recall._repr_mimebundle_()[0]


def test_a_choice_stands_in_one_view_of_each_chart_that_is_joined(tables: dict[str, dict[str, Any]]) -> None:
    shown = charts.sweep_curves(together(tables["sweep_curves"]))._repr_mimebundle_()
    specification = shown["application/vnd.vegalite.v5+json"]
    assert "params" not in specification
    choices = [re.findall(r'"name": "highlighted"', json.dumps(chart)) for chart in specification["hconcat"]]
    assert [len(found) for found in choices] == [1, 1]


@pytest.mark.parametrize("name", OF_RESULTS)
def test_charts_of_results_are_drawn(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = every_plot()[name].given
    chart = getattr(charts, name)
    of_one, of_two = chart(first), chart({NAMES[0]: first, HOSTILE[0]: second})
    assert drawn(of_one).count("<path") > 10
    assert getattr(plots, name)(first).get_title().replace("\n", ": ") in " ".join(texts(of_one))
    assert NAMES[0] in texts(of_two)
    assert not any("alert" in code for code in evaluated(of_two.to_dict()))
    assert 0 < len(rows_in(of_two)) <= MOST_ROWS
    with refused(
        (f"charts: {'found' if name in ('calibration', 'detection_limit') else WHAT[name]}", "no submissions")
    ):
        chart({})


WHAT = {"gospa": "matches", "protocols": "table"}


def test_charts_of_results_tell_the_numbers_of_their_tables() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = {name: every_plot()[name].given[0] for name in OF_RESULTS}
    found = given["calibration"]
    rows = [row for row in rows_in(charts.calibration(found)) if "detections" in row]
    assert [row["precision"] for row in rows] == found.bins["precision"].tolist()
    limits = [row for row in rows_in(charts.detection_limit(given["detection_limit"])) if "start" in row]
    assert [row["value"] for row in limits] == given["detection_limit"].limits["estimate"].tolist()
    layers = pd.DataFrame([row for row in rows_in(charts.gospa(given["gospa"])) if "layer" in row])
    expected = sf.summarize(given["gospa"], by="frame")["gospa"].tolist()
    assert layers.groupby("frame")["value"].sum().tolist() == pytest.approx(expected)
    bars = [row for row in rows_in(charts.protocols(given["protocols"])) if "place" in row]
    assert [row["AP"] for row in bars] == given["protocols"]["AP"].tolist()
