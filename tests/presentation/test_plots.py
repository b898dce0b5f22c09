"""Pictures: what they draw, their labels, and what they say where there is nothing to draw."""

import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

import spotgeo_frames as sf
from helpers.kinds import of_kind
from helpers.problems import refused
from helpers.scenes import squares

mpl.use("Agg")

from spotgeo_frames import plots


@pytest.fixture(scope="module")
def sides(sample: Path) -> tuple[sf.Annotations, dict[str, sf.Annotations]]:
    truth = sf.read_objects(sample / "truth.parquet", sample / "frames.parquet")
    return truth, {name: sf.read_objects(sample / f"{name}.parquet") for name in ("eager", "cautious")}


@pytest.fixture(scope="module")
def matches(sides: tuple[sf.Annotations, dict[str, sf.Annotations]]) -> pd.DataFrame:
    return sf.match(sides[0], sides[1]["eager"])


def texts(ax: Axes) -> str:
    legend = ax.get_legend()
    parts = [ax.get_title(), ax.get_xlabel(), ax.get_ylabel(), *(text.get_text() for text in ax.texts)]
    return " | ".join([*parts, *([text.get_text() for text in legend.get_texts()] if legend else [])])


def names_beside(panels: np.ndarray) -> list[str]:
    """The names in the legend beside the last of several panels."""
    return [text.get_text() for text in panels[-1].get_legend().get_texts()]


def test_recall_map(matches: pd.DataFrame) -> None:
    ax = plots.recall_map(matches)
    shown = ax.collections[0].get_array()
    assert 0 <= np.nanmin(shown) < np.nanmax(shown) <= 1
    assert "x, px | y, px" in texts(ax)
    assert ax.yaxis_inverted()
    n_truth = matches["outcome"].isin(["TP", "FN"]).sum()
    assert f"{n_truth:,} truths" in ax.get_title()


def test_gospa(sides: tuple[sf.Annotations, dict[str, sf.Annotations]], matches: pd.DataFrame) -> None:
    least = sf.match(sides[0], sides[1]["eager"], assignment="least")
    ax = plots.gospa(least)
    by_frame = sf.summarize(least, by="frame")
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    np.testing.assert_allclose(lines["GOSPA"], by_frame["gospa"])
    np.testing.assert_allclose(lines["OSPA"], by_frame["ospa"])
    heights = [layer.get_datalim(ax.transData).y1 for layer in ax.collections]
    assert heights == sorted(heights)
    assert heights[-1] == pytest.approx(by_frame["gospa"].max())
    for words in ("GOSPA, px", "misses", "false alarms", "the mean of 60 sequences"):
        assert words in texts(ax)
    with refused(("plots", "assignment='least'")):
        plots.gospa(matches)
    assert "no frames" in texts(plots.gospa(least.head(0)))


def test_distances(matches: pd.DataFrame) -> None:
    ax = plots.distances(matches)
    heights = sum(patch.get_height() for patch in ax.patches)
    assert heights == matches["distance"].notna().sum()
    for mark in ("epsilon, 3 px", "tau, 10 px", "mean, ", "distance, px"):
        assert mark in texts(ax)
    bare = pd.DataFrame(matches)
    bare.attrs = {}
    assert "tau" not in texts(plots.distances(bare))


def test_residuals(matches: pd.DataFrame) -> None:
    ax = plots.residuals(matches)
    assert len(ax.collections[0].get_offsets()) == (matches["outcome"] == "TP").sum()
    assert ax.patches[0].get_radius() == 10
    assert "predicted − true x, px" in texts(ax)


def test_detection_limit(matches: pd.DataFrame) -> None:
    matches = matches.assign(contrast=matches["truth_brightness"] / matches["frame_sky"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sf.detection_limit(matches, "contrast")
        by_sky = sf.detection_limit(matches, "truth_x", by={"frame_sky": 2})
        nothing = sf.detection_limit(matches.head(0), "truth_x")
        of_kinds = [sf.detection_limit(of_kind(matches, kind), "contrast") for kind in ("polars", "pyarrow")]
    ax = plots.detection_limit(found)
    points, curve, marks = ax.lines
    assert points.get_ydata().tolist() == found.bins["recall"].tolist()
    assert marks.get_xdata().tolist() == found.limits["estimate"].tolist()
    at_marks = np.interp(marks.get_xdata(), curve.get_xdata(), curve.get_ydata())
    assert at_marks.tolist() == pytest.approx([0.5, 0.9], abs=0.01)
    [[_, (right, _)]] = [bar for bar in ax.collections[1].get_segments() if bar[0][1] == 0.9]
    assert right == found.limits["high"][1]
    assert "where it is 50% and 90% | contrast | recall" in texts(ax)
    of_groups = texts(plots.detection_limit(by_sky))
    assert "truth_x, px" in of_groups
    assert "19.2 to 40.7, in bins" in of_groups
    assert "no truth has a value of truth_x" in texts(plots.detection_limit(nothing))
    for same in of_kinds:
        assert texts(plots.detection_limit(same)) == texts(ax)
    with refused(("plots: found", "DataFrame", "detection_limit()")):
        plots.detection_limit(found.limits)  # type: ignore[arg-type]


def test_metric_by_slice(matches: pd.DataFrame) -> None:
    found = sf.intervals(matches, by="frame_n_truth", metrics=["recall", "mse"], resamples=200)
    ax = plots.metric_by_slice(found)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "1", "2", "3", "4", "5"]
    assert "frame_n_truth" in ax.get_ylabel()
    assert ax.get_xlabel() == "recall"
    assert plots.metric_by_slice(found, metric="mse").get_xlabel() == "mse, px²"
    assert (
        plots.metric_by_slice(sf.intervals(matches, resamples=50), metric="f1").get_yticklabels()[0].get_text() == "all"
    )
    assert "no rows of f2" in texts(plots.metric_by_slice(found, metric="f2"))


def test_slices_are_named_by_all_their_digits() -> None:
    found = pd.DataFrame({"near": [1 / 3, 1 / 3 + 1e-9, np.nan], "b": [1, 2, 3], "metric": "f1"})
    found = found.assign(estimate=0.5, low=0.4, high=0.6)
    labels = [text.get_text() for text in plots.metric_by_slice(found).get_yticklabels()]
    assert labels == ["0.333333333333333, 1", "0.333333334333333, 2", "–, 3"]
    curve = pd.DataFrame({"tau": [5.0, 5.0000001], "score_threshold": 0.5, "precision": 0.5, "recall": 0.5, "f1": 0.5})
    assert [name.partition(",")[0] for name in names_beside(plots.sweep_curves(curve))] == [
        "tau 5 px",
        "tau 5.0000001 px",
    ]


def test_error_costs(matches: pd.DataFrame) -> None:
    costs = sf.error_costs(sf.diagnose(matches))
    ax = plots.error_costs(costs)
    assert sorted(bar.get_width() for bar in ax.patches) == sorted(costs["f1_gain"].iloc[:-1])
    assert "F1 gained" in ax.get_xlabel()


def test_sweep_curves(sides: tuple[sf.Annotations, dict[str, sf.Annotations]]) -> None:
    panels = plots.sweep_curves(sf.sweep(sides[0], sides[1]["eager"], tau=[5, 10]).curve)
    left, right = panels
    assert "score threshold | F1" in texts(left)
    assert texts(right).startswith("Precision over recall | recall | precision")
    assert [name[:20] for name in names_beside(panels)] == ["tau 5 px, best F1 0.", "tau 10 px, best F1 0"]
    boxes = pd.DataFrame({"sequence": [1, 2], "frame": 1, "object": 1, "x": 0.0, "y": 0.0, "w": 5.0, "h": 5.0})
    curve = sf.sweep(boxes, boxes.assign(score=[0.5, 0.6]), threshold=[0.5, 0.7]).curve
    assert names_beside(plots.sweep_curves(curve)) == ["threshold 0.5, best F1 1.000", "threshold 0.7, best F1 1.000"]


def test_recall_of_boxes_is_mapped_at_their_centres() -> None:
    truth = pd.DataFrame(
        {
            "sequence": 1,
            "frame": 1,
            "object": [1, 2],
            "x": [0.0, 10.0],
            "y": [0.0, 10.0],
            "w": [10.0, 90.0],
            "h": [10.0, 90.0],
        }
    )
    ax = plots.recall_map(sf.match(truth, truth))
    assert ax.get_xlim() == (5, 55)


def test_forest(sides: tuple[sf.Annotations, dict[str, sf.Annotations]]) -> None:
    tables = {name: sf.match(sides[0], side) for name, side in sides[1].items()}
    pairs = sf.compare(tables, resamples=200).pairs
    ax = plots.forest(pairs)
    [label] = [label.get_text() for label in ax.get_yticklabels()]
    assert pairs["a"].iloc[0] in label
    assert "p " in label
    assert ax.get_xlabel() == "difference of F1, points"


@pytest.fixture(scope="module")
def precision(coco: Path) -> sf.AveragePrecision:
    return sf.average_precision(*sf.read_coco(coco / "annotations.json", coco / "fast.json", boxes=True))


def test_metric_by_slice_of_several_submissions(matches: pd.DataFrame) -> None:
    found = sf.intervals(matches, by="frame", metrics=["f1", "recall"])
    ax = plots.metric_by_slice({"first": found, "second": found})
    assert [text.get_text() for text in ax.get_yticklabels()] == [*map(str, range(1, 6))]
    assert {label.split(",")[0] for label in ax.get_legend_handles_labels()[1]} == {"first", "second"}
    points = [line.get_ydata()[0] for line in ax.lines if len(line.get_ydata()) == 5]
    assert points[0] < points[-1]  # one below the other
    with refused(("plots: intervals", "no submissions")):
        plots.metric_by_slice({})


def test_hota_curve_by_condition() -> None:
    truth, found = sf.read_motchallenge("data/tracks/truth", "data/tracks/tracker")
    curve = sf.track(truth, found, by={"truth_visibility": [0, 0.5, 1]}).curve
    ax = plots.hota_curve(curve)
    assert [label.split(",")[0] for label in ax.get_legend_handles_labels()[1]] == ["0 to 0.5", "0.5 to 1"]
    assert ax.get_ylabel() == "HOTA"
    assert len(ax.lines[0].get_xdata()) == 19


def test_metric_by_slice_of_average_precision(precision: sf.AveragePrecision) -> None:
    found = sf.intervals(precision, by="frame_night", metrics=["AP"])
    ax = plots.metric_by_slice(found)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["False", "True"]
    assert ax.get_ylabel() == "frame_night"
    without = found.assign(aggregate="without 3", low=np.nan, high=np.nan)
    assert texts(plots.metric_by_slice(pd.concat([found, without]))) == texts(ax)
    macro = plots.metric_by_slice(pd.concat([found, found.assign(aggregate="macro")]))
    assert len(macro.get_yticklabels()) == 4
    assert macro.get_ylabel() == "frame_night, aggregate"


def test_protocols(precision: sf.AveragePrecision) -> None:
    table = pd.DataFrame(
        {
            "protocol": ["coco", "voc2007", "lvis"],
            "AP": [0.4, 0.6, np.nan],
            "AP50": [0.62, np.nan, np.nan],
            "AP75": np.nan,
        }
    )
    ax = plots.protocols(table)
    np.testing.assert_array_equal([patch.get_width() for patch in ax.patches], [0.4, 0.6, np.nan])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["coco", "voc2007", "lvis"]
    for text in ("40.00%", "60.00%", "does not apply", "AP50", "average precision"):
        assert text in texts(ax)
    assert "AP75" not in texts(ax)
    assert "no protocols" in texts(plots.protocols(table.head(0)))
    with refused(("plots", "protocol", "the table that protocols() returned")):
        plots.protocols(table.drop(columns="protocol"))


def test_error_costs_of_average_precision(precision: sf.AveragePrecision) -> None:
    costs = sf.error_costs(precision).set_index("kind")["AP_gain"]
    ax = plots.error_costs(sf.error_costs(precision))
    kinds = ["lost", "mislocated", "confused", "confused_and_mislocated", "duplicate", "background"]
    assert sorted(bar.get_width() for bar in ax.patches) == sorted(costs[kinds])
    assert "AP gained" in ax.get_xlabel()


def test_precision_recall(precision: sf.AveragePrecision) -> None:
    ax = plots.precision_recall(precision.curve)
    whole, [at_half, at_075] = ax.lines[2], ax.lines[:2]
    areas = [line.get_ydata().mean() for line in (whole, at_half, at_075)]
    assert areas == pytest.approx(precision.summary[["AP", "AP50", "AP75"]].iloc[0].tolist())
    assert f"threshold 0.75, AP {areas[2]:.2f} | mean of 0.50 to 0.95, AP {areas[0]:.2f}" in texts(ax)
    ax = plots.precision_recall(precision.curve, threshold=0.75)
    expected = precision.categories.sort_values("AP75")
    assert [line.get_ydata().mean() for line in ax.lines] == pytest.approx(expected["AP75"].tolist())
    named = [f"{name}, AP {value:.2f}" for name, value in zip(expected["category"], expected["AP75"], strict=True)]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == named
    of_kinds = [plots.precision_recall(of_kind(precision.curve, kind)) for kind in ("polars", "pyarrow")]
    assert {texts(same) for same in of_kinds} == {texts(plots.precision_recall(precision.curve))}


def test_precision_recall_of_many_categories_of_one_and_of_none(precision: sf.AveragePrecision) -> None:
    curve = precision.curve[precision.curve["category"] == "car"]
    many = pd.concat([curve.assign(category=f"c{k}", precision=curve["precision"] * k / 9) for k in range(10)])
    ax = plots.precision_recall(many, threshold=0.5)
    assert len(ax.lines) == 10
    assert [text.get_text()[:2] for text in ax.get_legend().get_texts()] == [f"c{k}" for k in range(8)]
    assert "all, AP" in texts(plots.precision_recall(curve.assign(category=None), threshold=0.5))
    assert "no truths" in texts(plots.precision_recall(curve.assign(precision=np.nan)))
    with refused(("plots: the curve", "0.51", "0.50, 0.55")):
        plots.precision_recall(curve, threshold=0.51)
    with refused(("plots: the curve", "threshold 'a'", "0.50, 0.55")):
        plots.precision_recall(curve, threshold="a")  # type: ignore[arg-type]
    with refused(("plots: column area", "average_precision()")):
        plots.precision_recall(curve.drop(columns="area"))


def test_calibration(precision: sf.AveragePrecision) -> None:
    found = sf.calibration(precision, bins=5)
    ax = plots.calibration(found)
    calibrated, points = ax.lines
    assert list(calibrated.get_xdata()) == list(calibrated.get_ydata()) == [0, 1]
    assert points.get_xdata().tolist() == found.bins["mean_score"].tolist()
    assert points.get_ydata().tolist() == found.bins["precision"].tolist()
    bars = [[low, high] for (_, low), (_, high) in ax.collections[0].get_segments()]
    assert bars == found.bins[["precision_low", "precision_high"]].to_numpy().tolist()
    assert f"error {found.summary['expected_calibration_error'][0]:.3f} (" in texts(ax)
    for kind in ("polars", "pyarrow"):
        matches = of_kind(precision.matches.query("threshold == 0.5"), kind)
        assert texts(plots.calibration(sf.calibration(matches, bins=5))) == texts(ax)
    with refused(("plots: found", "DataFrame", "calibration()")):
        plots.calibration(found.bins)  # type: ignore[arg-type]


def test_confusion(precision: sf.AveragePrecision) -> None:
    counts = sf.confusion(precision, wide=False)
    ax = plots.confusion(sf.confusion(precision))
    assert texts(plots.confusion(counts)) == texts(ax)
    names = ["person", "bicycle", "car", "truck", "background"]
    assert [label.get_text() for label in ax.get_xticklabels()] == names
    assert [label.get_text() for label in ax.get_yticklabels()] == names
    shares = ax.images[0].get_array()
    assert shares.sum(axis=1).tolist() == pytest.approx([1] * 5)
    of_trucks = counts[counts["truth_category"] == "truck"].set_index("predicted_category")["count"]
    assert shares[3, 2] == of_trucks["car"] / of_trucks.sum()
    written = {tuple(map(int, text.get_position())): text.get_text() for text in ax.texts}
    assert written[2, 3] == str(of_trucks["car"])
    assert len(written) == (counts["count"] > 0).sum()
    assert {texts(plots.confusion(of_kind(counts, kind))) for kind in ("polars", "pyarrow")} == {texts(ax)}
    numbers = counts.assign(truth_category=pd.array([1, 2, None] * 8 + [1], "Int64"), predicted_category=None)
    assert plots.confusion(numbers).get_yticklabels()[0].get_text() == "1"
    assert "no truths" in texts(plots.confusion(counts.assign(count=0)))
    with refused(("plots: column count", "confusion()")):
        plots.confusion(counts.drop(columns="count"))
    with refused(("plots: counts are of 2 submissions", "charts.confusion")):
        plots.confusion({"a": counts, "b": counts})
    assert texts(plots.confusion({"a": counts})) == f"a: {texts(ax)}"
    named = squares((0, "submission"), (50, "cat"))
    drawn = plots.confusion(sf.confusion(sf.match(named, named.assign(score=0.5))))
    assert [label.get_text() for label in drawn.get_yticklabels()] == ["submission", "cat", "background"]


def test_hota_curve(tracks: Path, poses: Path) -> None:
    ax = plots.hota_curve(sf.track(*sf.read_motchallenge(tracks / "truth", tracks / "tracker")).curve)
    assert len(ax.lines) == 4
    assert len(ax.lines[0].get_xdata()) == 19
    ax = plots.hota_curve(sf.pose(*sf.read_posetrack(poses / "truth", poses / "tracker")).curve)
    assert len(ax.lines[0].get_xdata()) == 19, "all joints together"


def test_given_axes_are_drawn_into(matches: pd.DataFrame) -> None:
    _, ax = plt.subplots()
    before = plt.get_fignums()
    for draw in (plots.recall_map, plots.distances, plots.residuals):
        assert draw(matches, ax) is ax
        ax.clear()
    assert plt.get_fignums() == before


def test_nothing_to_draw(matches: pd.DataFrame) -> None:
    nothing = matches[matches["outcome"] == "FP"]
    assert "no truths" in texts(plots.recall_map(nothing))
    assert "no true positives" in texts(plots.distances(nothing))
    assert "no true positives" in texts(plots.residuals(nothing))
    with refused(*(f"plots: column {name}" for name in ("kind", "n_misses", "n_false_alarms", "f1_gain"))):
        plots.error_costs(matches)


def test_a_whole_result_given_for_a_table_is_told_which_field_to_give(
    sides: tuple[sf.Annotations, dict[str, sf.Annotations]], tracks: Path, precision: sf.AveragePrecision
) -> None:
    of_tracks = sf.track(*sf.read_motchallenge(tracks / "truth", tracks / "tracker"))
    swept = sf.sweep(sides[0], sides[1]["eager"], score=[0.5])
    for draw, result, field in (
        (plots.precision_recall, precision, "its field curve"),
        (plots.hota_curve, of_tracks, "its field curve"),
        (plots.sweep_curves, swept, "its field curve"),
        (plots.recall_map, of_tracks, "its field matches"),
        (plots.precision_recall, of_tracks, "average_precision()"),
        (plots.metric_by_slice, of_tracks, "the table that intervals() returned"),
        (plots.forest, of_tracks, "compare()"),
    ):
        with pytest.raises(sf.InputError) as caught:
            draw(result)  # type: ignore[operator]
        assert type(result).__name__ in str(caught.value)
        assert field in str(caught.value).partition("give ")[2]


def test_titles_begin_with_a_capital_and_legends_lie_outside_of_the_data(matches: pd.DataFrame) -> None:
    sliced = sf.intervals(matches, by="frame", metrics=["recall"], resamples=50)
    for ax in (plots.distances(matches), plots.residuals(matches), plots.metric_by_slice(sliced)):
        assert ax.get_title()[0].isupper()
        ax.figure.canvas.draw()
        if legend := ax.get_legend():
            assert legend.get_window_extent().x0 > ax.get_window_extent().x1
            assert legend.get_window_extent().x1 < ax.figure.bbox.x1, "nothing is cut off"


def test_the_legend_has_an_average_only_where_it_is_that_of_the_points() -> None:
    """The area under Pascal VOC's curve is not the mean of the points that are drawn."""
    truth = pd.DataFrame({"sequence": [1, 2], "frame": 1, "object": 1, "x": 0.0, "y": 0.0, "w": 10.0, "h": 10.0})
    found = truth.assign(x=[1.0, 90.0], score=[0.9, 0.8])
    legends = {}
    for protocol in ("voc2007", "voc2010"):
        curve = sf.average_precision(truth, found, protocol=protocol).curve
        legends[protocol] = texts(plots.precision_recall(curve))
    assert "AP 0.55" in legends["voc2007"]
    assert "AP 0" not in legends["voc2010"]


def test_several_submissions_are_told_apart(precision: sf.AveragePrecision) -> None:
    """A dict of tables and tables put together are the same; one alone in a dict has its name."""
    truth, sides = squares((0, "cat"), (50, "cat")), {"a": squares((0, "cat", 0.9)), "b": squares((300, "cat", 0.8))}
    matches = {name: sf.match(truth, side) for name, side in sides.items()}
    swept = {name: sf.sweep(truth, side, [0.5, 0.85], similarity="iou").curve for name, side in sides.items()}
    tables = {
        plots.distances: matches,
        plots.error_costs: {name: sf.error_costs(sf.diagnose(of)) for name, of in matches.items()},
        plots.precision_recall: {name: sf.average_precision(truth, side).curve for name, side in sides.items()},
        plots.hota_curve: {name: sf.track(truth, side).curve for name, side in sides.items()},
    }
    for plot, of_each in tables.items():
        of_dict = plot(of_each)
        named = [text.get_text().partition(",")[0] for text in of_dict.get_legend().get_texts()]
        assert named[:2] == ["a", "b"], plot
        assert texts(plot(pd.concat(of_each, names=["submission"]))) == texts(of_dict)
        assert plot({"a": of_each["a"]}).get_legend().get_texts()[0].get_text().startswith("a")
        with pytest.raises(sf.InputError, match="there are no submissions; give"):
            plot({})
    _, right = plots.sweep_curves(swept)
    lines = [line.get_label() for line in right.lines if not line.get_label().startswith("_")]
    assert lines == ["a, threshold 0.5", "b, threshold 0.5"]


def test_submissions_have_bars_of_their_own() -> None:
    truth = squares((0, "cat"), (50, "cat"), (100, "cat"))
    sides = {"a": squares((0, "cat", 0.9)), "b": squares((0, "cat", 0.9), (50, "cat", 0.9))}
    costs = {name: sf.error_costs(sf.diagnose(sf.match(truth, side))) for name, side in sides.items()}
    ax = plots.error_costs(costs)
    kinds = [label.get_text() for label in ax.get_yticklabels()]
    for bars, of in zip(ax.containers, costs.values(), strict=True):
        lost = of.loc[of["kind"] == "lost", "f1_gain"].item()
        assert bars[kinds.index("lost")].get_width() == pytest.approx(lost)


def test_what_draws_one_submission_refuses_several() -> None:
    truth = squares((0, "cat"), (50, "cat")).drop(columns=["w", "h"])
    matches = {name: sf.match(truth, truth.assign(score=0.5), assignment="least", tau=5) for name in "ab"}
    several = pd.concat(matches, names=["submission"])
    with refused("plots: recall_map draws one"):
        plots.recall_map(several)
    for plot in (plots.gallery, plots.patches):
        with refused("plots: a picture of frames draws one"):
            plot(several)


def test_completion_shows_plots_and_charts_alone() -> None:
    assert dir(plots) == sorted(plots.__all__)
    assert dir(sf.charts) == sorted(sf.charts.__all__)
