"""The report of tracks and poses: HOTA, MOTA and IDF1 come first, and all else follows from their match tables."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.commands import complaints, run_here
from helpers.report_inputs import Page, many

Sides = tuple[sf.Annotations, sf.Annotations]


def worse(found: sf.Annotations) -> sf.Annotations:
    """A tracker that misses every third object and renames all of them in each tenth frame."""
    rows = found.objects[found.objects["object"] % 3 > 0]
    return sf.Annotations(rows.assign(object=rows["object"] + 1000 * (rows["frame"] // 10)))


@pytest.fixture(scope="module", params=["tracks", "poses"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A report of two trackers of the sample, and what it has to say."""
    root = request.getfixturevalue(request.param)
    of_tracks = request.param == "tracks"
    read, evaluate = (sf.read_motchallenge, sf.track) if of_tracks else (sf.read_posetrack, sf.pose)
    truth, found = read(root / "truth", root / "tracker")
    folder = tmp_path_factory.mktemp(request.param)
    submissions = {"bad": worse(found), "good": found}
    sf.report(truth, submissions, folder / "report.html", tracks=True, tables=folder / "tables")
    results = {name: evaluate(truth, submissions[name]) for name in ("good", "bad")}
    headline = ["HOTA", "MOTA", "IDF1"] if of_tracks else ["HOTA", "mota"]
    return {"folder": folder, "results": results, "headline": headline}


def test_hota_comes_first_and_ranks(made: dict[str, Any]) -> None:
    page = Page(made["folder"] / "report.html")
    summaries = {name: result.summary.iloc[-1] for name, result in made["results"].items()}
    of_tracks = [summaries[name][metric] for metric in made["headline"] for name in ("good", "bad")]
    of_matches = [sf.summarize(result.matches)["f1"].iloc[0] for result in made["results"].values()]
    assert page.exact()[: len(of_tracks) + 2] == pytest.approx(of_tracks + of_matches)
    assert page.text[2].startswith(f"good is first with a HOTA of {summaries['good']['HOTA']:.2%}, before bad")
    assert "Differences of HOTA," in page.text
    [pair] = page.data["charts"]["differences"]["datasets"]["pairs"]
    assert pair["estimate"] == pytest.approx(summaries["good"]["HOTA"] - summaries["bad"]["HOTA"])
    best = page.data["charts"]["by_threshold"]["datasets"]["best"]
    assert [row["HOTA"] >= summaries[row["submission"].strip("\u200b")]["HOTA"] for row in best] == [True, True]
    assert sum(row["n"] for row in page.data["charts"]["measures"]["datasets"]["hits"]) == sum(
        (result.matches["outcome"] == "TP").sum() for result in made["results"].values()
    )


def test_the_mean_over_sequences_stands_in_where_there_is_no_interval(made: dict[str, Any]) -> None:
    text = " ".join(Page(made["folder"] / "report.html").text)
    for result in made["results"].values():
        macro = sf.intervals(result, metrics=["HOTA"]).query("of == 'macro'").iloc[0]
        shown = f"mean of sequences {macro['estimate']:.2%}: {macro['low']:.2%} to {macro['high']:.2%}"
        assert f"no interval; {shown}" in text
    assert text.count("combined numbers, which one large sequence may decide, have no interval") == 1
    assert text.count("no p-value can be below") == 1
    assert "effective sequences: of equal size, as even; for HOTA" in text
    assert "without " not in "".join(
        row[2] for row in Page(made["folder"] / "report.html").data["tables"]["pairs"]["rows"]
    )


def test_the_tables_have_them_too_and_every_column_is_described(made: dict[str, Any]) -> None:
    tables = made["folder"] / "tables"
    read = {path.stem: pd.read_parquet(path) for path in tables.glob("*.parquet")}
    for name, expected in (("summary", "good"), ("leaderboard", "good")):
        first = read[name].iloc[0]
        for metric in made["headline"]:
            assert first[metric] == pytest.approx(made["results"][expected].summary.iloc[-1][metric]), (name, metric)
    rows = read["intervals"].query("metric == 'HOTA' and submission == 'good'")
    expected = sf.intervals(made["results"]["good"], metrics=["HOTA"])
    for name in ("of", "estimate", "low", "high", "n_effective"):
        assert rows[name].tolist() == pytest.approx(expected[name].tolist(), nan_ok=True), name
    assert {"combined", "macro"} < {*read["pairs"]["of"]}
    assert {*read["pairs"]["metric"]} == {*made["headline"]}
    readme = (tables / "README.md").read_text("utf-8")
    for name, table in read.items():
        section = readme.partition(f"## {name}.parquet\n")[2].partition("\n## ")[0]
        for column in table:
            assert re.search(rf"^\| `{re.escape(column)}` \| \S+ \| \S.*\|$", section, re.MULTILINE), (name, column)


def test_the_command_line_makes_the_same_of_folders(tracks: Path, tmp_path: Path) -> None:
    done = run_here("report", tracks / "truth", tracks / "tracker", "--out", tmp_path / "report.html")
    assert (done.status, complaints(done.err)) == (0, [])
    assert len(done.err.splitlines()) == 1, "that there are few sequences is said once"
    hota = sf.track(*sf.read_motchallenge(tracks / "truth", tracks / "tracker")).summary["HOTA"].iloc[-1]
    page = Page(tmp_path / "report.html")
    assert page.exact()[0] == pytest.approx(hota)
    assert page.text[2] == f"HOTA is {hota:.2%}."


def test_points_are_tracked_by_point_similarity(tmp_path: Path) -> None:
    truth, found = many(3)
    sf.report(truth, found, tmp_path / "report.html", tracks=True, tau=5)
    page = Page(tmp_path / "report.html")
    assert page.exact()[0] == pytest.approx(sf.track(truth, found, tau=5).summary["HOTA"].iloc[-1])
    assert "with matches of point similarity 0.5 or more and tau 5 px." in page.text[3]


def test_words_that_tracks_have_not_are_refused(tmp_path: Path) -> None:
    truth, found = many(1)
    for word in ("epsilon", "threshold"):
        with pytest.raises(ValueError, match=word):
            sf.report(truth, found, tmp_path / "report.html", tracks=True, **{word: 0.5})
    joints = {"joint": "nose", "head_size": 20.0}
    sides = truth._replace(objects=truth.objects.assign(**joints)), found.assign(joint="nose")
    with pytest.raises(sf.InputError, match="head sizes"):
        sf.report(*sides, tmp_path / "report.html", tracks=True, tau=5)
    assert list(tmp_path.iterdir()) == []
