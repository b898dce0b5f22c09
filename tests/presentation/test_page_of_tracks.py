"""The report of tracks and poses: HOTA, MOTA and IDF1 come first, and all else follows from their match tables."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.commands import complaints, run_here
from helpers.report_inputs import Page, many
from spotgeo_frames.presentation.drawing.charts.of_tables import METRICS
from spotgeo_frames.presentation.page.sections import breakdown

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
    results = {name: evaluate(truth, submissions[name]) for name in ("good", "bad")}  # the best first
    headline = ["HOTA", "MOTA", "IDF1"] if of_tracks else ["HOTA", "mota"]
    return {"folder": folder, "results": results, "headline": headline}


def test_hota_comes_first_and_ranks(made: dict[str, Any]) -> None:
    page = Page(made["folder"] / "report.html")
    summaries = {name: result.summary.iloc[-1] for name, result in made["results"].items()}
    of_tracks = [summaries[name][metric] for metric in made["headline"] for name in ("good", "bad")]
    of_matches = [sf.summarize(result.matches)["f1"].iloc[0] for result in made["results"].values()]
    assert page.exact()[: len(of_tracks) + 2] == pytest.approx(of_tracks + of_matches)
    assert page.says(
        f"good is first with a HOTA of {summaries['good']['HOTA']:.2%} (no interval: fewer than 20 sequences"
    )
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
        macro = sf.intervals(result, metrics=["HOTA"]).query("aggregate == 'macro'").iloc[0]
        shown = f"mean of sequences {macro['estimate']:.2%}: {macro['low']:.2%} to {macro['high']:.2%}"
        assert f"no interval; {shown}" in text
    assert "HOTA from" not in text, "the leaderboard has no columns of bounds that are not known"
    assert text.count("combined numbers, which one large sequence may decide, have no interval") == 1
    assert text.count("no p-value can be below") == 1
    assert "effective sequences for HOTA: so many of equal size would have weights as even" in text
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
    for name in ("aggregate", "estimate", "low", "high", "n_effective"):
        assert rows[name].tolist() == pytest.approx(expected[name].tolist(), nan_ok=True), name
    assert {"combined", "macro"} == {*read["pairs"]["aggregate"]}
    assert {*read["pairs"]["metric"]} == {*made["headline"]}
    readme = (tables / "README.md").read_text("utf-8")
    for name, table in read.items():
        section = readme.partition(f"## {name}.parquet\n")[2].partition("\n## ")[0]
        for column in table:
            assert re.search(rf"^\| `{re.escape(column)}` \| \S+ \| \S.*\|$", section, re.MULTILINE), (name, column)


def test_the_curve_is_that_of_all_sequences_and_joints(made: dict[str, Any]) -> None:
    charts = Page(made["folder"] / "report.html").data["charts"]
    rows = pd.DataFrame(charts["curve_HOTA"]["datasets"]["curve"])
    kept = pd.read_parquet(made["folder"] / "tables" / "hota_curve.parquet").astype({"submission": "str"})
    assert [charts[f"curve_{name}"]["encoding"]["y"]["field"] for name in METRICS] == METRICS
    for name, result in made["results"].items():
        for table in (rows[rows["submission"] == f"\u200b{name}"], kept[kept["submission"] == name]):
            assert len(table) == 19
            assert table[METRICS].mean().tolist() == pytest.approx(result.summary.iloc[-1][METRICS].tolist())


def test_broken_identities_are_counted_and_listed(made: dict[str, Any]) -> None:
    tables = Page(made["folder"] / "report.html").data["tables"]
    breaks = {name: sf.identity_breaks(result) for name, result in made["results"].items()}
    expected = []
    for name, table in breaks.items():
        gaps = table[table["break"] == "gap"]["gap"]
        counts = [(table["break"] == "switch").sum(), len(gaps), gaps.sum(), gaps.max()]
        expected.append([name, *(f"{count:,}" for count in counts)])
    assert tables["identities"]["rows"] == expected
    listed = pd.DataFrame(tables["breaks"]["rows"])
    kind = 4 if "IDF1" in made["headline"] else 5  # after the joint
    for (name, of_kind), rows in listed.groupby([0, kind]):
        assert len(rows) == min((breaks[name]["break"] == of_kind).sum(), breakdown.MOST_BREAKS // 2)
    assert {*listed[kind]} == {"switch", "gap"}
    assert [*tables["breaks"]["filters"].values()][:3] == ["submission", "sequence", "frame"]
    assert "truth_object" in tables["breaks"]["filters"].values()
    kept = pd.read_parquet(made["folder"] / "tables" / "identity_breaks.parquet").astype({"submission": "str"})
    for name, table in breaks.items():
        assert kept[kept["submission"] == name]["gap"].tolist() == table["gap"].tolist()


def test_the_cost_of_a_kind_is_what_hota_gains(made: dict[str, Any]) -> None:
    page = Page(made["folder"] / "report.html")
    drawn = pd.DataFrame(page.data["charts"]["costs"]["datasets"]["costs"])
    assert page.data["charts"]["costs"]["encoding"]["x"]["title"] == "HOTA gained, points"
    kept = pd.read_parquet(made["folder"] / "tables" / "error_costs.parquet").astype({"submission": "str"})
    for name, result in made["results"].items():
        costs = sf.error_costs(result)
        gains = drawn[drawn["submission"] == f"\u200b{name}"].set_index("kind")["gain"]
        assert {"switch", "gap"} <= {*gains.index}
        assert gains.tolist() == pytest.approx(costs["HOTA_gain"].tolist()[:-1])
        assert kept[kept["submission"] == name]["MOTA_gain"].tolist() == pytest.approx(costs["MOTA_gain"].tolist())
    assert ("IDF1 gained" in page.text) == ("IDF1" in made["headline"])


def test_changes_are_those_between_the_best_and_the_other(made: dict[str, Any]) -> None:
    rows = dict(Page(made["folder"] / "report.html").data["tables"]["changes"]["rows"])
    good, bad = (made["results"][name].matches for name in ("good", "bad"))
    changed = sf.changes(good, bad)["change"].value_counts()
    assert rows["good → bad: found → missed"] == f"{changed['lost']:,}"
    assert rows["good → bad: missed → found"] == f"{changed['gained']:,}"
    assert rows["good → bad: new false alarm"] == f"{changed['new false alarm']:,}"
    counts = {name: int(text.replace(",", "")) for name, text in rows.items()}
    for table, ends in ((good, "found → "), (bad, " → found")):
        is_found = [count for name, count in counts.items() if ends in f"{name.partition(':')[2]}"]
        assert sum(is_found) == (table["outcome"] == "TP").sum()


def test_poseval_has_an_average_precision(made: dict[str, Any]) -> None:
    text = Page(made["folder"] / "report.html").text
    label = "ap, %: by poseval, without an interval"
    assert (label in text) == (made["headline"] == ["HOTA", "mota"])
    if label in text:
        values = [f"{result.summary['ap'].iloc[-1]:.2f}" for result in made["results"].values()]
        assert text[text.index(label) + 1 :][:2] == values


def test_of_many_breaks_the_longest_are_listed(tracks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breakdown, "MOST_BREAKS", 6)
    truth, found = sf.read_motchallenge(tracks / "truth", tracks / "tracker")
    result = sf.track(truth, worse(found))
    sf.report(truth, worse(found), tmp_path / "report.html", tracks=True)
    page = Page(tmp_path / "report.html")
    breaks = sf.identity_breaks(result).sort_values("gap", ascending=False)
    longest = pd.concat([breaks[breaks["break"] == kind].head(6) for kind in ("switch", "gap")])
    shown = page.data["tables"]["breaks"]["rows"]
    assert sorted(int(row[4]) for row in shown) == sorted(longest["gap"])
    assert "Breaks of tracks, the longest gaps first: the first 6 switches and 6 gaps of each submission" in page.text


def test_many_tracks_are_not_evaluated_again_for_each_kind(
    tracks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breakdown, "MOST_EVALUATED", 10)
    truth, found = sf.read_motchallenge(tracks / "truth", tracks / "tracker")
    sf.report(truth, found, tmp_path / "report.html", tracks=True)
    page = Page(tmp_path / "report.html")
    assert any("What the kinds cost in HOTA is left out" in text for text in page.text)
    rows = page.data["charts"]["costs"]["datasets"]["costs"]
    costs = sf.error_costs(sf.diagnose(sf.track(truth, found).matches))
    assert [row["gain"] for row in rows] == costs["f1_gain"].tolist()[:-1]


@pytest.mark.parametrize("missing", ["truth", "predictions"])
def test_one_side_may_be_empty(missing: str, tmp_path: Path) -> None:
    truth, found = many(6)
    if missing == "truth":
        truth = truth._replace(objects=truth.objects.iloc[:0])
    else:
        found = found.iloc[:0]
    sf.report(truth, {"a": found, "b": found}, tmp_path / "report.html", tracks=True, tables=tmp_path / "tables")
    page = Page(tmp_path / "report.html")
    assert page.data["tables"]["identities"]["rows"] == [["a", "0", "0", "0", "0"], ["b", "0", "0", "0", "0"]]
    assert "breaks" not in page.data["tables"]


def test_tracks_by_a_similarity_of_the_callers_have_costs_and_changes(tmp_path: Path) -> None:
    truth, found = many(6)

    def nearness(truth: pd.DataFrame, predictions: pd.DataFrame) -> Any:
        return (1 - (truth["x"] - predictions["x"]).abs() / 20).clip(0).to_numpy()

    submissions = {"all": found, "few": found[found["object"] > 0]}
    sf.report(truth, submissions, tmp_path / "report.html", tracks=True, similarity=nearness)
    page = Page(tmp_path / "report.html")
    costs = sf.error_costs(sf.track(truth, found, nearness), similarity=nearness)
    gains = [row["gain"] for row in page.data["charts"]["costs"]["datasets"]["costs"]]
    assert costs["HOTA_gain"].tolist()[:-1] == pytest.approx(gains[: len(costs) - 1])
    assert len(page.data["tables"]["changes"]["rows"]) == 7


def test_the_command_line_makes_the_same_of_folders(tracks: Path, tmp_path: Path) -> None:
    done = run_here("report", tracks / "truth", tracks / "tracker", "--out", tmp_path / "report.html")
    assert (done.status, complaints(done.err)) == (0, [])
    assert len(done.err.splitlines()) == 1, "that there are few sequences is said once"
    hota = sf.track(*sf.read_motchallenge(tracks / "truth", tracks / "tracker")).summary["HOTA"].iloc[-1]
    page = Page(tmp_path / "report.html")
    assert page.exact()[0] == pytest.approx(hota)
    few = "no interval: fewer than 20 sequences, and a single large one may decide the combined number"
    assert f"HOTA is {hota:.2%} ({few})." in page.text


def test_points_are_tracked_by_point_similarity(tmp_path: Path) -> None:
    truth, found = many(3)
    sf.report(truth, found, tmp_path / "report.html", tracks=True, tau=5)
    page = Page(tmp_path / "report.html")
    assert page.exact()[0] == pytest.approx(sf.track(truth, found, tau=5).summary["HOTA"].iloc[-1])
    assert page.says("with matches of point similarity 0.5 or more and tau 5 px.")


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


def test_a_page_by_condition(tmp_path: Path, tracks: Path) -> None:
    truth, found = sf.read_motchallenge(tracks / "truth", tracks / "tracker")
    by = {"truth_visibility": [0, 0.5, 1]}
    sides = {"good": found, "bad": worse(found)}
    sf.report(truth, sides, tmp_path / "page.html", by, tracks=True, tables=tmp_path / "tables")
    page = Page(tmp_path / "page.html")
    assert "Tracks by condition" in page.text
    expected = {name: sf.track(truth, side, by=by) for name, side in sides.items()}
    slices = page.data["charts"]["tracks-1"]["datasets"]["slices"]
    drawn = [row["estimate"] for row in slices]
    assert drawn == pytest.approx([value for x in expected.values() for value in x.summary["HOTA"].tail(2)])
    n = {name: result.summary.attrs["near_no_truth"] for name, result in expected.items()}
    assert f"{n['good']:,} of good, {n['bad']:,} of bad" in " ".join(page.text)
    table = pd.read_parquet(tmp_path / "tables" / "tracks_by_truth_visibility.parquet")
    assert {"submission", "truth_visibility", "metric", "estimate", "low", "high"} <= {*table}
    assert "tracks_by_truth_visibility.parquet" in (tmp_path / "tables" / "README.md").read_text()


def test_columns_of_many_values_have_no_slices_of_tracks(tmp_path: Path, tracks: Path) -> None:
    truth, found = sf.read_motchallenge(tracks / "truth", tracks / "tracker")
    sf.report(truth, found, tmp_path / "page.html", "truth_x", tracks=True)
    text = " ".join(Page(tmp_path / "page.html").text)
    assert "Left out here: truth_x: " in text
    assert "up to 40 have a slice here; give bins" in text
