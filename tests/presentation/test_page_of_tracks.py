"""The report of tracks and poses: HOTA, MOTA and IDF1 come first, and all else follows from their match tables."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.commands import complaints, run_here
from helpers.report_inputs import Page, many
from spotgeo_frames.presentation.drawing.charts.of_tables import METRICS
from spotgeo_frames.presentation.drawing.display import texts, words
from spotgeo_frames.presentation.page.sections import breakdown, by_sequence, shown_frames

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
    headline = ["HOTA", "DetA", "AssA", *(["MOTA", "IDF1"] if of_tracks else ["mota"])]
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
    assert "No interval of HOTA, DetA, AssA" in text, "the numbers say why they have none"
    assert re.search(r"HOTA rests on \S+( \(good\), \S+ \(bad\))? effective sequences: so many of equal", text)
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
        assert len(rows) == min((breaks[name]["break"] == of_kind).sum(), shown_frames.MOST_BREAKS // 2)
    assert {*listed[kind]} == {"switch", "gap"}
    kept = pd.read_parquet(made["folder"] / "tables" / "identity_breaks.parquet").astype({"submission": "str"})
    for name, table in breaks.items():
        assert kept[kept["submission"] == name]["gap"].tolist() == table["gap"].tolist()


def test_each_sequence_and_joint_has_its_numbers(made: dict[str, Any]) -> None:
    """Those of the summary, all sequences together first in the charts, with the interval of the numbers."""
    page, of_tracks = Page(made["folder"] / "report.html"), "IDF1" in made["headline"]
    kept = pd.read_parquet(made["folder"] / "tables" / "track_summary.parquet").astype({"submission": "str"})
    for name, result in made["results"].items():
        of_name = kept[kept["submission"] == name].drop(columns="submission").reset_index(drop=True)
        pd.testing.assert_frame_equal(of_name[[*result.summary]], result.summary, check_dtype=False)
    shown = by_sequence.SHOWN if of_tracks else by_sequence.SHOWN_OF_POSES
    each = kept[kept["sequence"].notna()]
    each = each if of_tracks else each[each["joint"].isna()]
    expected = texts(each[["submission", "sequence", *shown]]).to_numpy().tolist()
    assert page.data["tables"]["tracks-by-sequence"]["rows"] == expected
    together = [row[1:] for row in page.data["tables"]["tracks-together"]["rows"]]
    assert (
        together == texts(pd.DataFrame([x.summary.iloc[-1][shown] for x in made["results"].values()])).values.tolist()
    )
    for metric in made["headline"]:
        drawn = pd.DataFrame(page.data["charts"][f"sequences-{metric}"]["datasets"]["slices"])
        drawn["slice"] = drawn["slice"].str.strip("\u200b")
        assert {*drawn["slice"]} == {"all sequences", *each["sequence"]}
        assert sorted(drawn["estimate"]) == pytest.approx(
            sorted([*each[metric], *(x.summary[metric].iloc[-1] for x in made["results"].values())])
        )
        assert drawn.loc[drawn["slice"] != "all sequences", "low"].isna().all()
    assert page.says("a single sequence has no interval")


def test_each_joint_is_drawn_with_its_interval(made: dict[str, Any]) -> None:
    page = Page(made["folder"] / "report.html")
    assert ("joints" in page.data["tables"]) == ("mota" in made["headline"])
    if "joints" not in page.data["tables"]:
        return
    kept = pd.read_parquet(made["folder"] / "tables" / "joints.parquet").astype({"submission": "str"})
    for name, result in made["results"].items():
        of_joints = result.summary[result.summary["sequence"].isna() & result.summary["joint"].notna()]
        rows = [row for row in page.data["tables"]["joints"]["rows"] if row[0] == name]
        assert [row[1:] for row in rows] == texts(of_joints[["joint", *by_sequence.SHOWN_OF_POSES]]).to_numpy().tolist()
        expected = sf.intervals(result, by="joint", metrics=["AssA"]).query("aggregate == 'combined'")
        found = kept[(kept["submission"] == name) & (kept["metric"] == "AssA")].set_index("joint")
        assert found.index.tolist() == of_joints["joint"].tolist(), "in the order of the kit"
        for column in ("estimate", "low", "high"):
            wanted = expected.set_index("joint").loc[found.index, column].tolist()
            assert found[column].tolist() == pytest.approx(wanted, nan_ok=True)
    assert page.says("Hollow dots: fewer than 20 sequences.")


def test_causes_of_breaks_add_up_and_lead_to_their_frames(made: dict[str, Any]) -> None:
    """Each row of breaks leads to its frame with the truth selected; each cause to its rows in the viewer."""
    page, of_tracks = Page(made["folder"] / "report.html"), "IDF1" in made["headline"]
    tables, view = page.data["tables"], page.view()
    causes = pd.read_parquet(made["folder"] / "tables" / "identity_causes.parquet").astype({"submission": "str"})
    assert tables["causes"]["rows"] == texts(causes).astype("str").to_numpy().tolist()
    assert [*tables["causes"]["filters"].values()] == ["submission", "cause"]
    for name, result in made["results"].items():
        breaks = sf.identity_breaks(result)
        of_name = causes[causes["submission"] == name]
        by_break = of_name.groupby("break", observed=True)["n_breaks"].sum().to_dict()
        assert by_break == breaks["break"].value_counts().to_dict()
        if of_tracks:
            assert by_break["switch"] == result.summary["IDSW"].iloc[-1]
        counts = of_name.set_index("cause")["n_breaks"]
        switches = breaks[breaks["break"] == "switch"]
        assert counts.get("identity went to another truth", 0) == switches["taken_by"].notna().sum()
        matches = sf.diagnose(result)
        keys = [key for key in ("sequence", "frame", "joint", "truth_object") if key in breaks]
        first_misses = breaks[breaks["break"] == "gap"][keys].merge(matches, on=keys)["kind"].value_counts()
        assert counts.filter(like="missed: ").to_dict() == {
            f"missed: {words(kind)}": count for kind, count in first_misses.items() if count
        }
        submission = view["submissions"][name]
        marked = pd.Series(submission["pairs"]["cause"]).dropna().value_counts()
        assert marked.to_dict() == counts.to_dict()
    [(place, links)] = tables["breaks"]["links"].items()
    assert len(links) == len(tables["breaks"]["rows"])
    row, words_of_link = tables["breaks"]["rows"][0], dict(parse_qsl(links[0].partition("?")[2]))
    assert row[int(place)] == words_of_link["frame"]
    assert [words_of_link[word] for word in ("submission", "sequence")] == row[:2]
    assert words_of_link["truth"] == row[3 if of_tracks else 4]
    assert words_of_link["trail"] == "10"


def test_a_large_page_has_the_frames_around_each_break_that_it_lists(
    tracks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And lists no other break; what it takes is bounded."""
    truth, found = sf.read_motchallenge(tracks / "truth", tracks / "tracker")
    for name, most in (("MOST_ROWS", 100), ("ROWS_CHOSEN", 100), ("ROWS_AROUND", 700)):
        monkeypatch.setattr(shown_frames, name, most)
    sf.report(truth, worse(found), tmp_path / "report.html", tracks=True)
    page = Page(tmp_path / "report.html")
    view = page.view()
    names = view["sequences"]["name"]
    packed = {
        (names[int(sequence)], int(frame))
        for sequence, frame in zip(view["frames"]["sequence"], view["frames"]["frame"], strict=True)
    }
    matches = sf.track(truth, worse(found)).matches
    frames = {(row.sequence, row.frame) for row in matches[["sequence", "frame"]].itertuples()}
    rows, n_breaks = page.data["tables"]["breaks"]["rows"], len(sf.identity_breaks(sf.track(truth, worse(found))))
    assert 1 < len(rows) < n_breaks
    assert len({row[4] for row in rows}) > 2, "of each cause in turn"
    for row in rows:
        around = {(row[0], int(row[1]) + step) for step in range(-10, 11)} & frames
        assert around <= packed
    kept = matches[[key in packed for key in zip(matches["sequence"], matches["frame"], strict=True)]]
    assert len(kept) <= 700 + 200
    assert page.says(f"Breaks of tracks, the longest gaps first: {len(rows)} of {n_breaks}")


def test_of_many_sequences_the_worst_are_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(by_sequence, "MOST_DRAWN", 3)
    truth, found = many(6)
    sf.report(truth, found, tmp_path / "report.html", tracks=True)
    page = Page(tmp_path / "report.html")
    summary = sf.track(truth, found).summary.iloc[:-1]
    slices = [row["slice"].strip("\u200b") for row in page.data["charts"]["sequences-HOTA"]["datasets"]["slices"]]
    assert slices == ["all sequences", *map(str, summary.sort_values("HOTA", kind="stable")["sequence"].head(3))]
    assert page.says("The charts show the 3 sequences of which submission has the lowest HOTA; the table has all 6.")
    assert len(page.data["tables"]["tracks-by-sequence"]["rows"]) == 6


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
    assert (label in text) == ("mota" in made["headline"])
    if label in text:
        values = [f"{result.summary['ap'].iloc[-1]:.2f}" for result in made["results"].values()]
        assert text[text.index(label) + 1 :][:2] == values


def test_of_many_breaks_the_longest_are_listed(tracks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_frames, "MOST_BREAKS", 6)
    truth, found = sf.read_motchallenge(tracks / "truth", tracks / "tracker")
    result = sf.track(truth, worse(found))
    sf.report(truth, worse(found), tmp_path / "report.html", tracks=True)
    page = Page(tmp_path / "report.html")
    breaks = sf.identity_breaks(result).sort_values("gap", ascending=False)
    longest = pd.concat([breaks[breaks["break"] == kind].head(6) for kind in ("switch", "gap")])
    shown = page.data["tables"]["breaks"]["rows"]
    assert sorted(int(row[5]) for row in shown) == sorted(longest["gap"])
    assert f"Breaks of tracks, the longest gaps first: 12 of {len(breaks)}, as many as there is room for" in page.text


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
    charts = {name: chart for name, chart in page.data["charts"].items() if name.startswith("tracks-1-")}
    assert [*charts] == [f"tracks-1-{metric}" for metric in ("HOTA", "DetA", "AssA", "MOTA", "IDF1")]
    for name, chart in charts.items():
        slices, metric = chart["datasets"]["slices"], name.rpartition("-")[2]
        drawn = [row["estimate"] for row in slices]
        assert drawn == pytest.approx([value for x in expected.values() for value in x.summary[metric].tail(2)])
        assert [row["slice"] for row in slices] == [
            row["slice"] for row in charts["tracks-1-HOTA"]["datasets"]["slices"]
        ]
    assert len({str(ranges_of(chart)) for chart in charts.values()}) == 1, "they share an axis"
    n = {name: result.summary.attrs["near_no_truth"] for name, result in expected.items()}
    assert f"{n['good']:,} of good, {n['bad']:,} of bad" in " ".join(page.text)
    table = pd.read_parquet(tmp_path / "tables" / "tracks_by_truth_visibility.parquet")
    assert {"submission", "truth_visibility", "metric", "estimate", "low", "high"} <= {*table}
    assert "tracks_by_truth_visibility.parquet" in (tmp_path / "tables" / "README.md").read_text()


def ranges_of(chart: dict[str, Any]) -> list[Any]:
    """The ranges of the axes across of a chart's layers."""
    return [layer["encoding"]["x"]["scale"]["domain"] for layer in chart["layer"] if "scale" in layer["encoding"]["x"]]


def test_columns_of_many_values_have_no_slices_of_tracks(tmp_path: Path, tracks: Path) -> None:
    truth, found = sf.read_motchallenge(tracks / "truth", tracks / "tracker")
    sf.report(truth, found, tmp_path / "page.html", "truth_x", tracks=True)
    text = " ".join(Page(tmp_path / "page.html").text)
    assert "Left out here: truth_x: " in text
    assert "up to 40 have a slice here; give bins" in text


def test_a_truth_that_was_away_is_not_said_to_have_been_in_view(tmp_path: Path) -> None:
    """One is away for three frames, one missed for one, one renamed in view, and two exchange their identities."""
    columns = ["sequence", "frame", "object", "x", "y", "w", "h"]
    rows = [("s", frame, name, 200.0 * name, 10.0, 20.0, 20.0) for frame in range(1, 10) for name in range(1, 6)]
    truth = pd.DataFrame(rows, columns=columns)
    truth = truth[(truth["object"] != 1) | ~truth["frame"].isin([4, 5, 6])]
    found = truth[(truth["object"] != 2) | (truth["frame"] != 6)]
    later = found["frame"] >= 7
    found = found.assign(object=found["object"].where(~later, found["object"].map({1: 11, 2: 12, 3: 13, 4: 5, 5: 4})))
    sf.report(truth, found, tmp_path / "report.html", tracks=True, sections=["identities"], tables=tmp_path / "tables")
    breaks = pd.read_parquet(tmp_path / "tables" / "identity_breaks.parquet")
    switches = breaks[breaks["break"] == "switch"].set_index("truth_object")["cause"]
    assert switches.to_dict() == {
        1: "back in view under another identity",
        2: "found again under another identity",
        3: "renamed while in view",
        4: "identity went to another truth",
        5: "identity went to another truth",
    }
