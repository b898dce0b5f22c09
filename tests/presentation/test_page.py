"""The report: what the page holds, the folder of Parquet behind it, and what is refused."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import altair as alt
import duckdb
import numpy as np
import pandas as pd
import pytest
from jsonschema import ValidationError

import spotgeo_frames as sf
from helpers.pandas_versions import quantile_bins
from helpers.problems import refused, warned
from helpers.report_inputs import HOSTILE, QUOTED, Page, folder_of_pictures, many, many_boxes, many_poses, png
from helpers.scenes import SCENES, objects
from spotgeo_frames.presentation.drawing.charts.parts import short_names
from spotgeo_frames.presentation.page.sections import breakdown, shown_frames
from spotgeo_frames.support.texts import bins_as_text
from spotgeo_frames.tables.provenance import POSETRACK_FILES, sha256

ONE_SEQUENCE = "only one sequence"


def sample_sides(sample: Path) -> tuple[sf.Annotations, dict[str, sf.Annotations]]:
    submissions = {name: sf.read_objects(sample / f"{name}.parquet") for name in ("eager", "cautious")}
    return sf.read_spotgeo(sample / "truth.json"), submissions


def test_the_headline_is_that_of_summarize(sample: Path, tmp_path: Path) -> None:
    truth, submissions = sample_sides(sample)
    sf.report(truth, submissions, tmp_path / "report.html")
    page = Page(tmp_path / "report.html")
    board = sf.leaderboard({name: sf.match(truth, side) for name, side in submissions.items()})
    metrics = ["f1", "precision", "recall", "mse", "kelvins_mse", "det_a", "mean_distance", "rmse"]
    assert page.exact() == pytest.approx(board[metrics].T.to_numpy().ravel().tolist(), rel=1e-15)
    assert [one["name"] for one in page.data["view"]["submissions"]] == board["name"].tolist(), "the best first"
    differences = {row[2]: row[3:6] for row in page.data["tables"]["pairs"]["rows"]}
    for share in ("F1", "precision", "recall", "Jaccard index"):
        assert all(cell.endswith("%") for cell in differences[share]), "in points, as the text below the table says"
    assert not any(cell.endswith("%") for cell in differences["mse, px²"])
    assert {*page.data["charts"]} == {
        *("costs", "differences", "recall_map", "measures", "residuals", "by_threshold", "precision_by_recall"),
        *("slices-1", "slices-1-differences"),
    }


def test_one_submission_is_called_as_its_file_and_needs_no_dict(sample: Path, tmp_path: Path) -> None:
    sf.report(sf.read_spotgeo(sample / "truth.json"), sf.read_spotgeo(sample / "eager.json"), tmp_path / "report.html")
    page = Page(tmp_path / "report.html")
    assert "How good is eager?" in page.text
    made = {"costs", "recall_map", "measures", "residuals", "slices-1"}
    assert {*page.data["charts"]} == made, "no scores, nothing to compare"
    digest = sha256(sample / "eager.json")
    assert f"eager.json, SHA-256 {digest}" in page.text
    assert {"10 px", "3 px"} <= {*page.text}


def test_slices_are_drawn_with_the_intervals_of_intervals(sample: Path, tmp_path: Path) -> None:
    """Recall by columns of truths, F1 by others; sequences, and more slices than a chart shows, are a table only."""
    _, submissions = sample_sides(sample)
    truth = sf.read_objects(sample / "truth.parquet", frames=sample / "frames.parquet")
    by: list[Any] = ["frame", {"truth_brightness": 4}, {"truth_x": 60}]
    sf.report(truth, submissions, tmp_path / "report.html", by=by)
    page = Page(tmp_path / "report.html")
    charts = {name: chart for name, chart in page.data["charts"].items() if name.startswith("slices-")}
    drawn = ["slices-1", "slices-2", "slices-3"]
    assert [*charts] == [name for slices in drawn for name in (slices, f"{slices}-differences")]
    for name, column, metric in (("slices-2", "frame", "f1"), ("slices-3", {"truth_brightness": 4}, "recall")):
        expected = [sf.intervals(sf.match(truth, submissions[of]), column, [metric]) for of in ("eager", "cautious")]
        rows = charts[name]["datasets"]["slices"]
        for bound in ("estimate", "low", "high"):
            assert [row[bound] for row in rows] == pd.concat(expected)[bound].tolist()


def test_slices_are_those_of_summarize(sample: Path, tmp_path: Path) -> None:
    truth = sf.read_objects(sample / "truth.parquet", frames=sample / "frames.parquet")
    predictions = sf.read_objects(sample / "eager.parquet")
    sf.report(truth, predictions, tmp_path / "report.html", by={"truth_brightness": 4, "frame": None})
    page = Page(tmp_path / "report.html")
    tables = page.data["tables"]
    matches = sf.match(truth, predictions)
    by_sequence = sf.summarize(matches, by="sequence").astype({"fn": "int64", "fp": "int64"})
    errors = by_sequence["fn"] + by_sequence["fp"]
    worst = by_sequence.iloc[np.argsort(-errors.to_numpy(), kind="stable")]
    assert [row[0] for row in tables["slice-0"]["rows"]] == worst["sequence"].astype("str").tolist()
    assert [row[3] for row in tables["slice-0"]["rows"]] == worst["fn"].astype("str").tolist()
    assert [row[1] for row in tables["slice-0"]["rows"]] == np.sort(errors)[::-1].astype("str").tolist()
    brightness = tables["slice-2"]
    expected = sf.summarize(matches, by=quantile_bins(matches["truth_brightness"], 4))
    assert [row[0] for row in brightness["rows"]] == bins_as_text(expected)["truth_brightness"].tolist()
    assert [row[4] for row in brightness["rows"]] == ["–"] * 4, "precision cannot be known"
    assert brightness["kinds"][0] == "position", "bins do not sort as text"
    by_count = sf.summarize(matches, by="frame_n_truth")["n_sequences"]
    assert [row[-2] for row in tables["slice-1"]["rows"]] == [f"{n} (few)" if n < 20 else f"{n}" for n in by_count]
    assert "few: fewer than 20 sequences, so little is known" in page.text
    assert len(tables["slice-3"]["rows"]) == matches["frame"].nunique()


def test_crossed_slices_are_those_of_summarize(sample: Path, tmp_path: Path) -> None:
    truth, predictions = (sf.read_objects(sample / f"{name}.parquet") for name in ("truth", "eager"))
    by = ["frame", {"frame_n_truth": None, "truth_brightness": 3}, ["frame", "frame_n_truth"]]
    sf.report(truth, predictions, tmp_path / "report.html", by=by)
    page = Page(tmp_path / "report.html")
    tables = [page.data["tables"][f"slice-{place}"] for place in range(5)]
    matches = sf.match(truth, predictions)
    for columns, table in zip((["frame"], by[1], by[2]), tables[2:], strict=True):
        expected = bins_as_text(sf.summarize(matches, by=columns))[[*columns, "tp"]]
        assert [row[: len(columns) + 1] for row in table["rows"]] == expected.astype("str").to_numpy().tolist()
    assert tables[3]["kinds"][:2] == ["number", "position"]
    brightness = [row[1] for row in tables[3]["rows"]]
    assert [*dict(sorted(zip(tables[3]["positions"]["1"], brightness, strict=True))).values()] == sorted(
        {*brightness}, key=lambda text: float(text.split(" to ")[0])
    )
    assert "By frame_n_truth and truth_brightness" in page.text


def test_charts_are_what_vega_lite_takes(sample: Path, tracks: Path, tmp_path: Path) -> None:
    truth, submissions = sample_sides(sample)
    sf.report(truth, submissions, tmp_path / "points.html")
    objects, predicted = sf.read_motchallenge(tracks / "truth", tracks / "tracker")
    scored = predicted.objects.assign(score=np.linspace(0, 1, len(predicted.objects)))
    sf.report(objects, sf.Annotations(scored), tmp_path / "tracks.html", tracks=True)
    boxes, found = many_boxes(24)
    sf.report(boxes, {"all": found, "few": found[found["object"] > 0]}, tmp_path / "boxes.html")
    of_kind = {"points": "residuals", "tracks": "curve_HOTA", "boxes": "precision_curve"}
    for name, chart in of_kind.items():
        charts = Page(tmp_path / f"{name}.html").data["charts"]
        assert {"by_threshold", chart} <= {*charts}
        for spec in charts.values():
            alt.Root.validate(spec)
        with pytest.raises(ValidationError):  # to find out takes longer, so one chart is enough
            alt.Root.validate(charts["by_threshold"] | {"width": "no width"})


def test_charts_show_what_the_tables_say(sample: Path, tmp_path: Path) -> None:
    truth, submissions = sample_sides(sample)
    sf.report(truth, submissions, tmp_path / "report.html")
    charts = Page(tmp_path / "report.html").data["charts"]
    for name, side in submissions.items():
        matches = sf.match(truth, side)
        [numbers] = sf.summarize(matches).to_dict("records")

        def total(chart: str, data: str, field: str, name: str = name) -> float:
            rows = charts[chart]["datasets"][data]
            return sum(row[field] for row in rows if row["submission"] == f"\u200b{name}")

        assert total("measures", "hits", "n") == total("residuals", "cells", "n") == numbers["tp"]
        assert (total("recall_map", "places", "found"), total("recall_map", "places", "truths")) == (
            numbers["tp"],
            numbers["n_truth"],
        )
        costs = sf.error_costs(sf.diagnose(matches))
        assert total("costs", "costs", "gain") == pytest.approx(costs.loc[costs["kind"] != "all", "f1_gain"].sum())
        lowest = min(row["score_threshold"] for row in charts["by_threshold"]["datasets"]["sweep"])
        assert lowest == min(one.objects["score"].min() for one in submissions.values())


def test_the_page_holds_every_row_of_its_sequences_worst_first(sample: Path, tmp_path: Path) -> None:
    truth, submissions = sample_sides(sample)
    sf.report(truth, submissions, tmp_path / "report.html")
    view = Page(tmp_path / "report.html").view()
    names = view["sequences"]["name"]
    frames = [
        (int(names[int(at)]), frame)
        for at, frame in zip(view["frames"]["sequence"], view["frames"]["frame"], strict=True)
    ]
    errors = pd.Series(0.0, pd.Index(map(int, names)))
    for name, side in submissions.items():
        counts = sf.summarize(sf.match(truth, side), by=["sequence", "frame"]).set_index(["sequence", "frame"])
        of_frames = counts.loc[frames]
        held_of = view["submissions"][name]
        assert held_of["frames"]["n_predicted"] == (of_frames["tp"] + of_frames["fp"]).tolist()
        assert view["frames"]["n_truth"] == (of_frames["tp"] + of_frames["fn"]).tolist()
        assert sum(place >= 0 for place in held_of["pairs"]["pair"]) == of_frames["tp"].sum()
        errors += (counts["fn"] + counts["fp"]).groupby("sequence").sum()
    assert errors.idxmax() == int(names[0])


def test_a_large_page_holds_the_worst_and_a_sample_and_says_so(tmp_path: Path) -> None:
    truth, predictions = many(5120)
    sf.report(truth, {"one": predictions}, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 5_000_000
    page = Page(tmp_path / "report.html")
    assert any(
        re.match(r"[\d,]+ of 5,120 sequences are here: as many as there is room for, the worst", text)
        for text in page.text
    )
    held_sequences = page.view()["sequences"]["name"]
    summary = sf.summarize(sf.match(truth, predictions), by="sequence")
    errors = (summary["fn"] + summary["fp"]).astype("int64").to_numpy()
    held_errors = errors[[int(name) - 1 for name in held_sequences]]
    assert (held_errors[:100] == np.sort(errors)[::-1][:100]).all()
    assert held_errors[-1] < np.sort(errors)[-200], "some are of the sample"
    assert len(page.data["tables"]["slice-0"]["rows"]) == 5120, "the table has them all"


def test_of_each_submission_the_worst_are_held(tmp_path: Path) -> None:
    truth, many_errors = many(1000)
    few_errors = truth.objects[truth.objects["sequence"] != 777]
    sf.report(truth, {"many": many_errors, "few": few_errors}, tmp_path / "report.html")
    assert "777" in Page(tmp_path / "report.html").view()["sequences"]["name"][:2]


def test_of_a_long_sequence_the_frames_with_most_errors_are_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown_frames, "MOST_ROWS", 1000)
    truth, predictions = many(2, n_frames=400, n_objects=3)
    bad = predictions["frame"].between(301, 340) & (predictions["sequence"] == 2)
    sf.report(truth, predictions[~bad], tmp_path / "report.html")
    page = Page(tmp_path / "report.html")
    view = page.view()
    second = view["sequences"]["name"].index("2")
    frames = [
        int(frame)
        for frame, at in zip(view["frames"]["frame"], view["frames"]["sequence"], strict=True)
        if at == second
    ]
    assert len(frames) == shown_frames.FRAMES_CHOSEN
    assert frames == list(range(frames[0], frames[0] + len(frames)))
    assert frames[0] <= 301
    assert frames[-1] >= 340
    assert any("are left out" in text and "700" in text for text in page.text)


def run_queries(folder: Path) -> list[pd.DataFrame]:
    """What the README's queries give, run as they are written there."""
    readme = (folder / "README.md").read_text("utf-8")
    [sql], [python] = (re.findall(rf"```{kind}\n(.*?)```", readme, re.DOTALL) for kind in ("sql", "python"))
    script = f"import duckdb\n{python}\nheadline.to_pickle('pandas.pkl')\n"
    script += f"duckdb.sql({sql!r}).df().to_pickle('duckdb.pkl')\n"
    subprocess.run([sys.executable, "-c", script], cwd=folder, check=True, timeout=120)
    return [pd.read_pickle(folder / f"{name}.pkl") for name in ("duckdb", "pandas")]


def test_the_queries_of_the_readme_give_the_headline(sample: Path, tmp_path: Path) -> None:
    truth, submissions = sample_sides(sample)
    sf.report(truth, submissions, tmp_path / "report.html", tables=tmp_path / "tables")
    summary = pd.read_parquet(tmp_path / "tables" / "summary.parquet").astype({"submission": "str"})
    for headline in run_queries(tmp_path / "tables"):
        assert {"mse", "kelvins_mse", "f1", "rmse"} <= {*headline}
        expected = summary.sort_values("submission", ignore_index=True)[headline.columns]
        pd.testing.assert_frame_equal(headline, expected, check_dtype=False, rtol=1e-12)


def test_the_queries_hold_where_there_is_nothing(tmp_path: Path) -> None:
    truth = sf.Annotations(objects([]), pd.DataFrame({"sequence": [1, 1], "frame": [1, 2]}))
    with warned(ONE_SEQUENCE):
        sf.report(truth, {"none": objects([])}, tmp_path / "report.html", tables=tmp_path / "tables")
    for headline in run_queries(tmp_path / "tables"):
        [row] = headline.astype("object").where(headline.notna(), None).to_dict("records")
        assert (row["tp"], row["f1"], row["mse"], row["kelvins_mse"], row["rmse"]) == (0, None, 0, 0, None)


def test_the_folder_has_every_table_and_describes_every_column(sample: Path, tmp_path: Path) -> None:
    truth = sf.read_objects(sample / "truth.parquet", frames=sample / "frames.parquet")
    _, submissions = sample_sides(sample)
    folder = tmp_path / "tables"
    sf.report(truth, submissions, tmp_path / "report.html", by={"truth_brightness": 3}, tables=folder)
    names = {path.stem for path in folder.glob("*.parquet")}
    always = {"matches", "summary", "intervals", "diagnosis", "error_costs", "suspicions", "by_sequence"}
    of_two = {"leaderboard", "pairs", "changes", "differences_by_frame_n_truth", "differences_by_truth_brightness"}
    assert names == always | of_two | {"worst_slices"} | {
        "by_frame_n_truth",
        "by_truth_brightness",
        "sweep",
        "sweep_best",
    }
    readme = (folder / "README.md").read_text("utf-8")
    for path in folder.glob("*.parquet"):
        section = readme.partition(f"## {path.stem}.parquet\n")[2].partition("\n## ")[0]
        assert section, path.stem
        for column in pd.read_parquet(path).columns:
            assert re.search(rf"^\| `{re.escape(column)}` \| \S+ \| \S.*\|$", section, re.MULTILINE), (
                path.stem,
                column,
            )
    matches = pd.read_parquet(folder / "matches.parquet")
    summary = pd.read_parquet(folder / "summary.parquet")
    pd.testing.assert_series_equal(sf.summarize(matches, by="submission")["f1"], summary["f1"])
    kinds = pd.read_parquet(folder / "diagnosis.parquet")
    assert kinds["kind"].notna().all()
    assert len(kinds) == matches["outcome"].isin(["FN", "FP"]).sum()
    assert matches.attrs["truth"] == "truth.parquet"
    assert matches.attrs["frames"] == "frames.parquet"
    assert matches.attrs["submission eager_sha256"] == sha256(sample / "eager.parquet")
    by_duckdb = duckdb.sql(f"SELECT count(*) FROM '{folder / 'matches.parquet'}'").fetchall()
    assert by_duckdb == [(len(matches),)]


def test_nothing_of_the_user_becomes_html(tmp_path: Path) -> None:
    truth, predictions = many(4)
    names = {1: HOSTILE, 2: QUOTED, 3: "</script><script>alert(3)</script>", 4: "{{ 7 * 7 }}<!--"}
    sides = [
        side.assign(
            sequence=side["sequence"].map(names).astype("str"),
            object=(QUOTED + side["object"].astype("str")).astype("str"),
            **{HOSTILE: side["x"], "a|b`c": HOSTILE},
        )
        for side in (truth.objects, predictions)
    ]
    by = [f"truth_{HOSTILE}", "truth_a|b`c"]
    submissions = {QUOTED: sides[1], "</title><script>alert(4)</script>": sides[1].iloc[::2]}
    sf.report(sides[0], submissions, tmp_path / "report.html", by={by[0]: 3, by[1]: None}, tables=tmp_path / "tables")
    page = Page(tmp_path / "report.html")
    assert [attrs for tag, attrs in page.elements if tag == "script"] == [
        {"type": "application/json", "id": "data"},
        {"type": "application/octet-stream", "id": "content"},
        {},
        {},
    ]
    assert "img" not in {tag for tag, _ in page.elements}
    assert not [attrs for _, attrs in page.elements if any(name.startswith("on") for name in attrs)]
    assert {HOSTILE, QUOTED, names[3], names[4]} <= {*page.text}
    assert {*page.view()["sequences"]["name"]} == {*names.values()}
    readme = (tmp_path / "tables" / "README.md").read_text("utf-8")
    assert "`truth_a\\|b'c`" in readme
    run_queries(tmp_path / "tables")


def test_only_our_scripts_may_run_and_nothing_may_be_loaded(sample: Path, tmp_path: Path) -> None:
    sf.report(sf.read_spotgeo(sample / "truth.json"), sf.read_spotgeo(sample / "eager.json"), tmp_path / "report.html")
    page = Page(tmp_path / "report.html")
    [policy] = [a["content"] for tag, a in page.elements if tag == "meta" and "http-equiv" in a]
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert policy.endswith("style-src 'unsafe-inline'; img-src data:")
    assert "unsafe-eval" not in policy
    assert [attrs for _, attrs in page.elements if attrs.get("src")] == []
    [icon] = [str(attrs["href"]) for tag, attrs in page.elements if tag == "link"]
    assert ElementTree.fromstring(unquote(icon.removeprefix("data:image/svg+xml,"))).get("viewBox") == "0 0 32 32"


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_every_scene_can_be_reported(scene: Any, tmp_path: Path) -> None:
    truth, predictions = scene.sides()
    sf.report(truth, predictions, tmp_path / "report.html")
    [numbers] = sf.summarize(sf.match(truth, predictions)).to_dict("records")
    assert Page(tmp_path / "report.html").exact()[0] == pytest.approx(numbers["f1"], nan_ok=True)


@pytest.mark.parametrize("missing", ["truth", "predictions"])
def test_one_side_may_be_empty(missing: str, tmp_path: Path) -> None:
    truth, predictions = many(3)
    if missing == "truth":
        truth = sf.Annotations(truth.objects.iloc[:0], truth.frames)
    else:
        predictions = predictions.iloc[:0]
    sf.report(truth, predictions, tmp_path / "report.html", tables=tmp_path / "tables")
    assert "There are no true positives to measure." in Page(tmp_path / "report.html").text


def nearness(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
    """1 where they coincide, 0 from 20 px on."""
    distance = np.hypot(truth["x"] - predictions["x"], truth["y"] - predictions["y"])
    return np.clip(1 - distance.to_numpy() / 20, 0, 1)


SIMILARITIES: dict[str, tuple[Any, dict[str, Any], str, str]] = {
    "iou": (many_boxes, {"threshold": 0.6}, "IoU", "0.6"),
    "oks": (many_poses, {"similarity": "oks"}, "OKS", "0.5"),
    "function": (many, {"similarity": nearness}, "nearness", "0.5"),
}


@pytest.mark.parametrize("name", list(SIMILARITIES))
def test_a_report_by_similarity_has_the_metrics_of_its_rule_only(name: str, tmp_path: Path) -> None:
    make, words, measure, threshold = SIMILARITIES[name]
    truth, predictions = make(6)
    predictions = predictions.drop(columns="score")  # by which AP would come first
    few = predictions[predictions["object"] > 0]
    tables = tmp_path / "tables"
    sf.report(truth, {"all": predictions, "few": few}, tmp_path / "report.html", tables=tables, **words)
    page = Page(tmp_path / "report.html")
    board = sf.leaderboard({"all": sf.match(truth, predictions, **words), "few": sf.match(truth, few, **words)})
    metrics = ["f1", "precision", "recall", "det_a", "loc_a"]
    assert page.exact() == pytest.approx(board[metrics].T.to_numpy().ravel().tolist(), rel=1e-15)
    [best, *_] = board.to_dict("records")
    assert page.says(f"{best['name']} is first with an F1 at {measure} {threshold} of {best['f1']:.2%} (95% interval ")
    assert page.says(f"with matches of {measure} {threshold} or more.")
    assert {measure, threshold} <= {*page.text}, "the footer names the rule"
    for path in tables.glob("*.parquet"):
        table = pd.read_parquet(path)
        assert not {"mse", "kelvins_mse", "kelvins_mse_low", "mean_distance", "rmse", "mse_gain"} & {*table}, path
    assert {*pd.read_parquet(tables / "intervals.parquet")["metric"]} == {*metrics}
    summary = pd.read_parquet(tables / "summary.parquet").astype({"submission": "str"})
    expected = summary.sort_values("submission", ignore_index=True)
    for headline in run_queries(tables):
        pd.testing.assert_frame_equal(headline, expected[headline.columns], check_dtype=False, rtol=1e-12)
        assert {*metrics} <= {*headline}
    hits = page.data["charts"]["measures"]["datasets"]["hits"]
    assert sum(row["n"] for row in hits) == summary["tp"].sum()
    assert (hits[0]["from"], hits[-1]["to"]) == (pytest.approx(float(threshold)), 1)
    assert (
        f"a miss with a prediction of {measure} {threshold} or more, which was matched with another truth" in page.text
    )


def test_kinds_of_errors_are_told_by_the_rule(tmp_path: Path) -> None:
    truth, predictions = many(3)
    sides = [side.assign(category=side["object"] % 2) for side in (truth.objects, predictions)]
    sf.report(*sides, tmp_path / "report.html", tau=5)
    page = Page(tmp_path / "report.html")
    assert "a miss and a false alarm within 3 times tau of each other: detected, but in the wrong place" in page.text
    assert "a miss or a false alarm with an object of another category within tau" in page.text


def test_the_page_has_boxes_and_joints(tmp_path: Path) -> None:
    truth, predictions = many_boxes(2)
    sf.report(truth, predictions, tmp_path / "boxes.html")
    matches = sf.match(truth, predictions)
    view = Page(tmp_path / "boxes.html").view()
    assert (view["kind"], view["measure"]["title"]) == ("boxes", "IoU")
    for column in ("x", "w"):
        assert sorted(view["truth"][column]) == pytest.approx(sorted(matches[f"truth_{column}"].dropna()), abs=0.01)
    truth, predictions = many_poses(2)
    sf.report(truth, predictions, tmp_path / "poses.html", similarity="oks")
    view = Page(tmp_path / "poses.html").view()
    assert (view["kind"], view["joints"][:2]) == ("poses", ["nose", "left_eye"])
    assert len(view["truth"]["x_nose"]) == truth.objects.groupby(["sequence", "frame", "object"]).ngroups


def test_crowds_are_shown_as_what_does_not_count(tmp_path: Path) -> None:
    truth, predictions = many_boxes(3)
    crowded = truth._replace(objects=truth.objects.assign(crowd=truth.objects["object"] == 0))
    sf.report(crowded, predictions, tmp_path / "report.html")
    view = Page(tmp_path / "report.html").view()
    assert view["truth"]["ignored"].count("True") == (truth.objects["object"] == 0).sum()
    [side] = view["submissions"].values()
    assert len(side["predicted"]["x"]) == len(predictions), "also those that a crowd explains"


def test_a_sweep_needs_a_score_of_each_pose_and_scores_that_differ(tmp_path: Path) -> None:
    truth, predictions = many_poses(3)
    of_poses = predictions["sequence"] / 3
    scores = {"of poses": of_poses, "of joints": np.linspace(0, 1, len(predictions)), "one for all": 0.5}
    for name, score in scores.items():
        claims = predictions.assign(score=score)
        sf.report(truth, claims, tmp_path / f"{name}.html", tables=tmp_path / name, similarity="oks")
    assert [(tmp_path / name / "sweep.parquet").exists() for name in scores] == [True, False, False]


def test_boxes_of_any_scale_are_drawn(tmp_path: Path) -> None:
    truth, predictions = many_boxes(2)
    scaled = [side.assign(**{name: side[name] * 1e-6 for name in "xywh"}) for side in (truth.objects, predictions)]
    sf.report(*scaled, tmp_path / "report.html")
    view = Page(tmp_path / "report.html").view()
    assert view["sequences"]["right"][0] - view["sequences"]["left"][0] < 2e-3
    assert len({*view["truth"]["x"]}) > 20


def test_what_does_not_fit_the_geometry_is_refused(tmp_path: Path) -> None:
    (truth, predictions), points = many_boxes(2), many(2)[1]
    with refused(("truth", "give tau")):
        sf.report(truth, points, tmp_path / "report.html")
    with refused("threshold"):
        sf.report(points, points, tmp_path / "report.html", threshold=0.5)
    missing = "column joint is missing"
    with refused(f"truth: {missing}", f"predictions: {missing}", "truth: column area is missing"):
        sf.report(truth, predictions, tmp_path / "report.html", similarity="oks")
    with refused(f"truth: {missing}", f"predictions: {missing}", "truth: column area is missing"):
        sf.report(truth, predictions, tmp_path / "report.html", sigmas={"nose": 0.1})
    with refused("sigmas", error=ValueError):
        sf.report(truth, predictions, tmp_path / "report.html", similarity="iou", sigmas={"nose": 0.1})
    assert not [*tmp_path.iterdir()]


def test_joints_are_reported_with_their_names(tmp_path: Path) -> None:
    truth, predictions = many(3)
    sides = [
        side.assign(joint="nose", object=side["object"] % 2 + side["frame"] * 2, w=30.0, h=20.0)
        for side in (truth.objects, predictions)
    ]
    sides = [side.drop_duplicates(["sequence", "frame", "object", "joint"]) for side in sides]
    sf.report(sides[0], sides[1], tmp_path / "report.html", by=["joint"])
    view = Page(tmp_path / "report.html").view()
    assert view["kind"] == "joints"
    assert {*view["truth"]["joint"]} == {"nose"}


def test_suspicions_are_told(tmp_path: Path) -> None:
    truth, predictions = many(40)
    swapped = predictions.assign(x=predictions["y"], y=predictions["x"])
    sf.report(truth, {"good": predictions, "swapped": swapped}, tmp_path / "report.html")
    assert "swapped: x and y are swapped" in Page(tmp_path / "report.html").text


def test_excluded_sequences_are_in_no_number(sample: Path, tmp_path: Path) -> None:
    truth, submissions = sample_sides(sample)
    sf.report(truth, submissions["eager"], tmp_path / "report.html", exclude=[1, 2])
    page = Page(tmp_path / "report.html")
    [numbers] = sf.summarize(sf.match(truth, submissions["eager"]), exclude=[1, 2]).to_dict("records")
    assert page.exact()[0] == numbers["f1"]
    assert not {"1", "2"} & {*page.view()["sequences"]["name"]}
    assert "1, 2" in page.text


def test_submissions_with_other_columns_and_types_go_together(tmp_path: Path) -> None:
    truth, predictions = many(5)
    named = predictions.drop(columns="score").assign(object="p" + predictions["object"].astype("str"), flag=True)
    sf.report(truth, {"numbers": predictions, "names": named}, tmp_path / "report.html", tables=tmp_path / "tables")
    matches = pd.read_parquet(tmp_path / "tables" / "matches.parquet")
    assert {"predicted_score", "predicted_flag"} <= {*matches}
    assert {"p0", "0"} <= {*matches["predicted_object"].dropna()}
    sweep = pd.read_parquet(tmp_path / "tables" / "sweep.parquet")
    assert {*sweep["submission"].astype("str")} == {"numbers"}


def test_pictures_lie_behind_their_frames_and_others_are_told_once(tmp_path: Path) -> None:
    truth, predictions = many(3)
    for sequence in (1, 2, 3):
        (tmp_path / "images" / str(sequence)).mkdir(parents=True)
        for frame in range(1, 6):
            (tmp_path / "images" / str(sequence) / f"{frame}.png").write_bytes(png(640, 480, deep=sequence == 3))
    (tmp_path / "images" / "1" / "1.png").unlink()
    (tmp_path / "images" / "1" / "2.png").write_bytes(png(64, 48))
    (tmp_path / "images" / "2" / "3.png").write_bytes(png(640, 480)[:200])
    (tmp_path / "images" / "2" / "4.png").write_bytes(b"GIF89a, it is no PNG")
    (tmp_path / "images" / "2" / "5.png").unlink()
    (tmp_path / "images" / "2" / "5.png").mkdir()
    with warned("fewer than 20 sequences", ("images: 5 of 15 frames", f"{tmp_path / 'images'}")):
        sf.report(truth, predictions, tmp_path / "report.html", images=tmp_path / "images")
    page = Page(tmp_path / "report.html")
    view = page.view()
    frames = [
        (int(view["sequences"]["name"][int(at)]), frame)
        for at, frame in zip(view["frames"]["sequence"], view["frames"]["frame"], strict=True)
    ]
    behind = {frames[place]: picture for place, picture in page.data["pictures"]}
    assert {*behind} == {(s, f) for s in (1, 2, 3) for f in range(1, 6)} - {(1, 1), (1, 2), (2, 3), (2, 4), (2, 5)}
    for picture in behind.values():
        assert picture.pop("url").startswith("data:image/webp;base64,")
        assert picture == {"left": -0.5, "right": 639.5, "top": -0.5, "bottom": 479.5}
    assert "10 of 15 frames have their picture behind them." in page.text


def test_marks_of_direction_are_shown_and_do_nothing(tmp_path: Path) -> None:
    marks = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    shown = "".join(f"[U+{ord(mark):04X}]" for mark in marks)
    truth, predictions = many(3)
    names = {1: f"a{marks}b", 2: "c", 3: "שלום"}
    sides = [side.assign(sequence=side["sequence"].map(names)) for side in (truth.objects, predictions)]
    sides[0].to_parquet(tmp_path / f"truth{marks}.parquet")
    known = sf.read_objects(tmp_path / f"truth{marks}.parquet")
    known.objects[f"x{marks}"] = [f"y{marks}", "z"] * (len(known.objects) // 2)
    submissions = {f"one{marks}": sides[1], "two": sides[1].iloc[::2]}
    sf.report(known, submissions, tmp_path / "report.html", by=f"truth_x{marks}")
    page = Page(tmp_path / "report.html")
    assert {*page.raw} & {*marks} == set()
    assert f"How good are one{shown} and two?" in page.text
    assert f"By truth_x{shown}" in page.text
    assert {*page.view()["sequences"]["name"]} == {f"a{shown}b", "c", "שלום"}
    assert f"x{shown}" in page.view()["truth"]
    assert [row for row in page.data["tables"]["slice-0"]["rows"] if row[:2] == [f"one{shown}", f"a{shown}b"]]
    sf.report(sf.read_objects(tmp_path / f"truth{marks}.parquet"), sides[1], tmp_path / "other.html")
    assert f"truth{shown}.parquet" in Page(tmp_path / "other.html").raw


def test_pictures_too_small_for_the_truths_are_left_out(tmp_path: Path) -> None:
    truth, predictions = many(1)
    images = folder_of_pictures(tmp_path / "images", content=png(64, 48))
    with warned(ONE_SEQUENCE, ("images: 5 of 5 frames", f"{images / '1'}", "64 x 48 px")):
        sf.report(truth, predictions, tmp_path / "report.html", images=images)


def test_a_page_has_room_for_so_many_pictures_and_says_how_many_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, predictions = many(1)
    images = folder_of_pictures(tmp_path / "images")
    monkeypatch.setattr(shown_frames, "MOST_BYTES", 1)
    with warned(ONE_SEQUENCE):
        sf.report(truth, predictions, tmp_path / "report.html", images=images)
    page = Page(tmp_path / "report.html")
    assert "1 of 5 frames have their picture behind them." in page.text
    assert "4 pictures more would make the page too large to send; they are left out." in page.text


def test_no_picture_outside_the_folder_is_read(tmp_path: Path) -> None:
    truth, predictions = many(1)
    (tmp_path / "images").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "1.png").write_bytes(png(640, 480))
    sides = [side.assign(sequence="../secret") for side in (truth.objects, predictions)]
    with warned(ONE_SEQUENCE, ("images: 5 of 5 frames", "'../secret/3.png'")):
        sf.report(sides[0], sides[1], tmp_path / "report.html", images=tmp_path / "images")
    assert Page(tmp_path / "report.html").data["pictures"] == []


def test_a_submission_may_be_called_truth(sample: Path, tmp_path: Path) -> None:
    truth, submissions = sample_sides(sample)
    named = {"truth": submissions["eager"], "frames": submissions["cautious"]}
    sf.report(truth, named, tmp_path / "report.html", tables=tmp_path / "tables")
    attrs = pd.read_parquet(tmp_path / "tables" / "matches.parquet").attrs
    assert (attrs["truth"], attrs["submission truth"]) == ("truth.json", "eager.parquet")


def test_suspicions_are_those_of_the_reports_thresholds(tmp_path: Path) -> None:
    truth, predictions = many(30)
    swapped = predictions.assign(x=predictions["y"], y=predictions["x"])
    sf.report(truth, swapped, tmp_path / "report.html", tau=4, epsilon=1, tables=tmp_path / "tables")
    told = pd.read_parquet(tmp_path / "tables" / "suspicions.parquet")
    expected = sf.check(truth, swapped, 4, 1)
    assert told["f1_corrected"].tolist() == expected["f1_corrected"].tolist()
    assert (told.attrs["tau"], told.attrs["epsilon"]) == (4, 1)


def test_bins_of_sequences_do_not_change_the_browser(tmp_path: Path) -> None:
    truth, predictions = many(9)
    for by in ({}, {"sequence": 3}):
        sf.report(truth, predictions, tmp_path / f"{len(by)}.html", by=by)
    plain, binned = (Page(tmp_path / f"{number}.html").view() for number in (0, 1))
    assert plain == binned


def test_a_submission_need_not_have_every_sequence(tmp_path: Path) -> None:
    truth, predictions = many(4)
    elsewhere = pd.concat([predictions, predictions.assign(sequence=predictions["sequence"] + 100)])
    sf.report(truth.objects, {"a": predictions, "b": elsewhere}, tmp_path / "report.html")
    view = Page(tmp_path / "report.html").view()
    sequences = [view["sequences"]["name"][int(at)] for at in view["frames"]["sequence"]]
    names = {
        name: {sequence for sequence, n in zip(sequences, side["frames"]["n_predicted"], strict=True) if n >= 0}
        for name, side in view["submissions"].items()
    }
    assert names["b"] - names["a"] == {"101", "102", "103", "104"}


def test_names_of_submissions_leave_what_tables_were_made_with_alone(tmp_path: Path) -> None:
    truth, predictions = many(3)
    predictions.to_parquet(tmp_path / "p.parquet")
    side = sf.read_objects(tmp_path / "p.parquet")
    folder = tmp_path / "tables"
    sf.report(truth, {"tau": side, "ARROW:schema": side, "rule": side}, tmp_path / "report.html", tables=folder)
    matches = pd.read_parquet(folder / "matches.parquet")
    assert (matches.attrs["tau"], matches.attrs["rule"]) == (10, "distance")
    assert matches.attrs["submission tau"] == "p.parquet"


def test_the_foot_tells_of_the_files_as_they_were_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, predictions = many(3)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    predictions.to_parquet(tmp_path / "one" / "p.parquet")
    predictions.iloc[1:].to_parquet(tmp_path / "two" / "p.parquet")
    monkeypatch.chdir(tmp_path / "one")
    side = sf.read_objects("p.parquet")
    digest = sha256(Path("p.parquet"))
    monkeypatch.chdir(tmp_path / "two")
    sf.report(truth, side, tmp_path / "report.html")
    assert f"p.parquet, SHA-256 {digest}" in Page(tmp_path / "report.html").text
    part = side.objects.iloc[: len(side.objects) // 2]
    sf.report(truth, part, tmp_path / "report.html")
    told = f"p.parquet, of which {len(part)} of {len(side.objects)} rows, SHA-256 {digest}"
    assert told in Page(tmp_path / "report.html").text
    predictions.iloc[2:].to_parquet(tmp_path / "one" / "p.parquet")
    sf.report(truth, side, tmp_path / "report.html")
    assert "p.parquet, changed since it was read" in Page(tmp_path / "report.html").text
    (tmp_path / "one" / "p.parquet").unlink()
    sf.report(truth, side, tmp_path / "report.html")
    assert "p.parquet, no longer there" in Page(tmp_path / "report.html").text


def test_a_folder_that_has_changed_is_noticed(tmp_path: Path, poses: Path) -> None:
    truth, predictions = many(3)
    (tmp_path / "p").mkdir()
    predictions.to_parquet(tmp_path / "p" / "a.parquet")
    side = sf.read_objects(tmp_path / "p")
    predictions.iloc[3:].to_parquet(tmp_path / "p" / "a.parquet")
    sf.report(truth, side, tmp_path / "report.html")
    assert "p, changed since it was read" in Page(tmp_path / "report.html").text
    assert sha256(poses / "truth", POSETRACK_FILES) != sha256(poses / "tracker", POSETRACK_FILES)


def test_a_note_that_is_none_of_ours_is_passed_over(tmp_path: Path) -> None:
    truth, predictions = many(2)
    predictions.attrs["spotgeo_frames_source_state"] = None
    sf.report(truth, predictions, tmp_path / "report.html")
    assert "tables in memory" in Page(tmp_path / "report.html").text


def test_slices_of_one_submission_do_not_depend_on_another(tmp_path: Path) -> None:
    truth, predictions = many(5)
    group = truth.objects.assign(group=truth.objects["object"] % 2)
    perfect = group.drop(columns="group").iloc[::2]
    extra = predictions.assign(x=predictions["x"] + 300)
    sf.report(group, {"perfect": perfect, "bad": extra}, tmp_path / "report.html", by=["truth_group"])
    rows = Page(tmp_path / "report.html").data["tables"]["slice-2"]["rows"]
    shown = {(row[0], row[1]): row[5] for row in rows}
    expected = sf.summarize(sf.match(group, perfect), by="truth_group")["precision"]
    assert expected.notna().any()
    assert [shown["perfect", name] for name in ("0", "1")] == [
        "–" if np.isnan(value) else f"{value:.2%}" for value in expected
    ]
    assert shown["bad", "0"] == "–"


def test_values_that_are_not_the_same_are_not_shown_so(tmp_path: Path) -> None:
    truth, predictions = many(2)
    scored = predictions.assign(score=np.arange(len(predictions)) / 1e6, year=2021)
    sf.report(truth, scored, tmp_path / "report.html", by=["predicted_score", "predicted_year"])
    tables = Page(tmp_path / "report.html").data["tables"]
    assert len({row[0] for row in tables["slice-2"]["rows"]}) == len(scored)
    assert [row[0] for row in tables["slice-3"]["rows"]] == ["2021"]


def test_frames_and_coordinates_of_any_size_are_told_as_they_are(tmp_path: Path) -> None:
    truth, predictions = many(2)
    sides = [
        side.assign(frame=side["frame"] + 2**60, x=side["x"] / 1e6, y=side["y"] / 1e6)
        for side in (truth.objects, predictions.drop(columns="score"))
    ]
    sf.report(*sides, tmp_path / "report.html", tau=1e-5, epsilon=1e-6)
    view = Page(tmp_path / "report.html").view()
    assert view["frames"]["frame"][0] == str(2**60 + 1)
    [side] = view["submissions"].values()
    assert len({*side["pairs"]["measure"]}) > 10
    assert view["sequences"]["right"][0] - view["sequences"]["left"][0] < 1e-3
    far = [side.assign(x=1e17) for side in (truth.objects, predictions)]
    sf.report(*far, tmp_path / "report.html")
    sequences = Page(tmp_path / "report.html").view()["sequences"]
    assert sequences["left"][0] < sequences["right"][0]


def test_a_prediction_at_the_edge_of_numbers_is_reported(tmp_path: Path) -> None:
    truth, predictions = many(2)
    predictions.loc[predictions.index[0], "x"] = 1e149
    sf.report(truth, predictions, tmp_path / "report.html")
    assert Page(tmp_path / "report.html").exact()[0] > 0.5


def test_what_tables_leave_out_is_told(tmp_path: Path) -> None:
    truth, predictions = many(4)
    folder = tmp_path / "tables"
    sf.report(truth, predictions, tmp_path / "report.html", exclude=[2, 3], tables=folder)
    assert pd.read_parquet(folder / "matches.parquet").attrs["exclude"] == "2, 3"
    assert "- exclude: `2, 3`" in (folder / "README.md").read_text("utf-8")


def test_a_folder_has_the_tables_of_one_report_only(tmp_path: Path) -> None:
    truth, predictions = many(4)
    folder = tmp_path / "tables"
    submissions = {"a": predictions, "b": predictions.iloc[::2]}
    sf.report(truth, submissions, tmp_path / "report.html", by=["truth_x"], tables=folder)
    for name in ("mine", "by_hand"):
        (folder / f"{name}.parquet").write_bytes(b"")
    (folder / "sweep.parquet").unlink()
    (folder / "sweep.parquet").mkdir()
    sf.report(truth, predictions.drop(columns="score"), tmp_path / "report.html", tables=folder)
    assert not {"leaderboard", "pairs", "sweep_best", "by_truth_x"} & {path.stem for path in folder.iterdir()}
    assert {"mine", "by_hand"} <= {path.stem for path in folder.iterdir()}


def test_nothing_of_the_users_is_replaced(tmp_path: Path) -> None:
    truth, predictions = many(2)
    truth.objects.to_parquet(tmp_path / "matches.parquet")
    known = sf.read_objects(tmp_path / "matches.parquet")
    before = (tmp_path / "matches.parquet").read_bytes()
    with refused((f"{tmp_path / 'matches.parquet'}: cannot be written", f"{tmp_path / 'matches.parquet'}")):
        sf.report(known, predictions, tmp_path / "matches.parquet")
    with refused((f"{tmp_path}", f"{tmp_path / 'matches.parquet'}")):
        sf.report(known, predictions, tmp_path / "report.html", tables=tmp_path)
    assert (tmp_path / "matches.parquet").read_bytes() == before
    whole = sf.read_objects(tmp_path)
    with refused((f"{tmp_path / 'page.html'}: cannot be written", f"{tmp_path}")):
        sf.report(whole, predictions, tmp_path / "page.html")
    with refused((f"{tmp_path / 'below'}", f"{tmp_path}")):
        sf.report(whole, predictions, tmp_path.with_suffix(".html"), tables=tmp_path / "below")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "summary.parquet").symlink_to(tmp_path / "matches.parquet")
    linked = sf.read_objects(tmp_path / "linked" / "summary.parquet")
    with refused((f"{tmp_path / 'linked'}", f"{tmp_path / 'linked' / 'summary.parquet'}")):
        sf.report(linked, predictions, tmp_path / "report.html", tables=tmp_path / "linked")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "README.md").write_text("# Mine")
    with refused(f"{tmp_path / 'own' / 'README.md'}"):
        sf.report(truth, predictions, tmp_path / "report.html", tables=tmp_path / "own")
    for page, tables in (("same", "same"), ("same", "same/t"), ("t/README.md", "t"), ("t/pairs.parquet", "t")):
        with refused((f"{tmp_path / tables}: cannot be written", f"{tmp_path / page}")):
            sf.report(truth, predictions, tmp_path / page, tables=tmp_path / tables)
    os.mkfifo(tmp_path / "pipe")
    with refused(f"{tmp_path / 'pipe'}: cannot be written"):
        sf.report(truth, predictions, tmp_path / "pipe")
    assert not (tmp_path / "report.html").exists()


def test_no_python_of_the_current_folder_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bundled_anew: None
) -> None:
    truth, predictions = many(2)
    (tmp_path / "vl_convert.py").write_text("open('run', 'w'); raise ImportError('not this one')")
    monkeypatch.chdir(tmp_path)
    sf.report(truth, predictions, "report.html")
    assert not Path("run").exists()


@pytest.mark.parametrize("name", ["z" * 300 + ".html", "a\0b.html"])
def test_names_that_no_file_can_have_are_refused(name: str, tmp_path: Path) -> None:
    truth, predictions = many(2)
    for arguments in ({"path": tmp_path / name}, {"path": tmp_path / "r.html", "tables": tmp_path / name}):
        with refused(f"{tmp_path / name}: cannot be written"):
            sf.report(truth, predictions, **arguments)
    with refused((f"{tmp_path / name}", "images")):
        sf.report(truth, predictions, tmp_path / "r.html", images=tmp_path / name)
    sf.report(truth, predictions, tmp_path / ("z" * 240 + ".html"))


@pytest.mark.parametrize("by", [3, [3], {"truth_x": 1}, {"truth_x": True}, {"truth_x": 2.5}])
def test_slices_that_cannot_be_are_refused(by: Any, tmp_path: Path) -> None:
    truth, predictions = many(2)
    with refused(("by: truth_x", str(by["truth_x"])) if isinstance(by, dict) else ("by", "int")):
        sf.report(truth, predictions, tmp_path / "report.html", by=by)
    with refused("submission"):
        sf.report(truth, predictions, tmp_path / "report.html", by=["frame", ["submission"]])
    with refused(("by: frame", "twice")):
        sf.report(truth, predictions, tmp_path / "report.html", by=["frame", {"frame": 3}])
    with refused(("match table", "column nothing")):
        sf.report(truth, predictions, tmp_path / "report.html", by=[["frame", "nothing"]])


def test_infinite_scores_are_kept(tmp_path: Path) -> None:
    truth, predictions = many(3)
    predictions.loc[predictions.index[0], "score"] = np.inf
    sf.report(truth, predictions, tmp_path / "report.html", by=["predicted_score"], tables=tmp_path / "tables")
    kept = pd.read_parquet(tmp_path / "tables" / "by_predicted_score.parquet")["predicted_score"]
    assert np.isinf(kept).sum() == 1


def test_a_report_needs_no_altair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    sf.report(*many(2), tmp_path / "report.html")
    assert Page(tmp_path / "report.html").data["charts"]


def test_a_submission_without_anything_is_named(tmp_path: Path) -> None:
    nothing, predictions = objects([]), many(2)[1]
    for submissions in ({"none": nothing, "some": predictions}, {"some": predictions, "none": nothing}):
        with refused("report: none"):
            sf.report(nothing, submissions, tmp_path / "report.html")


def test_a_table_too_long_for_a_page_is_cut_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breakdown, "MOST_ROWS", 30)
    truth, predictions = many(40)
    sf.report(truth, predictions, tmp_path / "report.html")
    page = Page(tmp_path / "report.html")
    assert len(page.data["tables"]["slice-0"]["rows"]) == 30
    assert any(text.startswith("The first 30; the page has no room for 10 more.") for text in page.text)


def test_long_names_are_short_in_charts_and_tell_apart(tmp_path: Path) -> None:
    truth, predictions = many(3)
    names = [f"a_rather_long_name_of_epoch_{number}_with_an_end" for number in range(6)]
    submissions = {name: predictions.iloc[number:] for number, name in enumerate(names)}
    sf.report(truth, submissions, tmp_path / "report.html")
    page = Page(tmp_path / "report.html")
    assert "6 submissions compared" in page.text
    picks = page.data["short_names"]
    assert len({*picks}) == 6
    assert max(map(len, picks)) <= 24
    assert short_names(["net_long_name_epoch007", "net_long_name_epoch008"]) == [
        "\u200b…epoch007",
        "\u200b…epoch008",
    ]
    assert short_names(["a", "b"]) == ["\u200ba", "\u200bb"]
    assert len(page.data["charts"]["differences"]["datasets"]["pairs"]) == 5, "neighbours only"
    assert {row["submission"] for row in page.data["charts"]["costs"]["datasets"]["costs"]} == {*picks}


def test_what_is_refused_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, predictions = many(2)
    (tmp_path / "file").write_text("")
    for path, place in ((tmp_path, tmp_path), (tmp_path / "file" / "report.html", tmp_path / "file")):
        with refused(f"{place}: cannot be written"):
            sf.report("no table", "none either", path)  # type: ignore[arg-type]
    with refused((f"{tmp_path / 'none'}", "images")):
        sf.report(truth, predictions, tmp_path / "report.html", images=tmp_path / "none")
    with refused(f"{tmp_path / 'file'}: cannot be written"):
        sf.report(truth, predictions, tmp_path / "report.html", tables=tmp_path / "file")
    with refused(("match table", "column truth_brightness", "did you mean")):
        sf.report(truth, predictions, tmp_path / "report.html", by=["truth_brightness"])
    for wrong, place in (
        ([predictions["x"]], ("by", "Series x")),
        ({"truth_x": 1}, ("by: truth_x", "1")),
        (5, ("by", "int")),
    ):
        with refused(place):
            sf.report(truth, predictions, tmp_path / "report.html", by=wrong)
    with refused(("exclude", "5")):
        sf.report(truth, predictions, tmp_path / "report.html", exclude=5)  # type: ignore[arg-type]
    with refused(("report", "''")):
        sf.report(truth, {"": predictions}, tmp_path / "report.html")
    with refused(("report", "no submissions")):
        sf.report(truth, {}, tmp_path / "report.html")
    with refused(("tau", "3", "epsilon 3"), error=ValueError):
        sf.report(truth, predictions, tmp_path / "report.html", tau=3, epsilon=3)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with refused(("report: jinja2", "pip install 'spotgeo_frames[report]'"), error=ImportError):
        sf.report(truth, predictions, tmp_path / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_for_the_page_is_made(tmp_path: Path) -> None:
    truth, predictions = many(2)
    sf.report(truth, predictions, tmp_path / "new" / "folder" / "report.html")
    assert [path.name for path in (tmp_path / "new" / "folder").iterdir()] == ["report.html"]
