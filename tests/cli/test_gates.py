"""The command `gate`: its checks, what it says of them, and its exit status."""

import json
from pathlib import Path

import pytest

import spotgeo_frames as sf
from helpers.commands import answer_here, complaints, refused_here, run_here, run_process
from helpers.problems import assert_places, warned
from helpers.reference import outside
from helpers.scenes import objects

KEYS = ["metric", "estimate", "low", "high", "bound", "passed", "reason"]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Eight sequences with one truth each; `half` finds the first four, `most` the first seven."""
    rows = [(f"night {number}", 1, 10.0, 5.0) for number in range(8)]
    paths = {}
    for name, n_found in (("truth", 8), ("most", 7), ("half", 4)):
        paths[name] = tmp_path / f"{name}.csv"
        objects(rows[:n_found]).to_csv(paths[name], index=False)
    return paths


def test_the_exit_status_says_whether_all_passed(files: dict[str, Path], tmp_path: Path) -> None:
    pair = files["truth"], files["half"]
    assert run_process("gate", *pair, "--min", "recall=0.5").status == 0
    assert run_process("gate", *pair, "--min", "recall=0.5", "--max", "fn=3").status == 3
    assert run_here("gate", *pair).status == 2
    refused_here("gate", files["truth"], tmp_path / "none.csv", "--min", "f1=0.5")


def test_limits_hold_the_estimate(files: dict[str, Path]) -> None:
    done = run_here(
        "gate", files["truth"], files["half"], "--min", "recall=0.5", "--max=fn=3", "--max", "recall=0.4", "--json"
    )
    got = json.loads(done.out)
    assert (done.status, got["passed"]) == (3, False)
    assert [list(check) for check in got["checks"]] == [KEYS] * 3
    rows = [[check[name] for name in ("metric", "estimate", "bound", "passed")] for check in got["checks"]]
    assert rows == [["recall", 0.5, 0.5, True], ["fn", 4, 3, False], ["recall", 0.5, 0.4, False]]
    with pytest.warns(UserWarning, match="fewer than 20 sequences"):
        row = sf.intervals(sf.match(*map(sf.read_objects, (files["truth"], files["half"]))), metrics=["recall"]).iloc[0]
    assert [got["checks"][0][name] for name in ("low", "high")] == pytest.approx([row["low"], row["high"]])
    assert "fewer than 20 sequences" in done.err
    assert "warning: --max recall: more is better; did you mean --min?" in done.err.splitlines()


def test_margins_hold_the_bound_of_the_difference(sample: Path) -> None:
    paths = [sample / f"{name}.json" for name in ("truth", "eager", "cautious")]
    options = ["--margin", "f1=0.01", "--margin", "recall=0", "--margin", "mse=20"]
    done = run_here("gate", paths[0], paths[1], "--baseline", paths[2], *options, "--json")
    got = json.loads(done.out)
    truth, *sides = map(sf.read_spotgeo, paths)
    matched = [sf.match(truth, side) for side in sides]
    for check, (metric, margin) in zip(got["checks"], [("f1", 0.01), ("recall", 0), ("mse", 20)], strict=True):
        answer = sf.non_inferiority(*matched, metric, margin)
        row = answer.table.iloc[0]
        assert check == {
            "metric": metric,
            "estimate": pytest.approx(row["estimate"]),
            "low": pytest.approx(row["low"]),
            "high": None,
            "bound": -margin,
            "passed": answer.passed,
            "reason": None if answer.passed else row["reason"],
        }
    assert [check["passed"] for check in got["checks"]] == [False, True, True]
    assert (done.status, done.err) == (3, "")
    assert run_here("gate", paths[0], paths[1], "--baseline", paths[2], *options[2:]).status == 0


def test_an_unknown_bound_does_not_pass_and_says_why(files: dict[str, Path]) -> None:
    given = ["gate", files["truth"], files["half"], "--baseline", files["most"], "--margin", "recall=0.9"]
    few = [*given, "--exclude", ",".join(f"night {number}" for number in range(4)), "--json"]
    done = run_here(*few)
    [check] = json.loads(done.out)["checks"]
    assert (done.status, check["low"], check["passed"]) == (3, None, False)
    assert check["reason"] in done.err
    assert "4 sequences" in check["reason"]
    nothing = run_here("gate", files["truth"], files["half"], "--min", "loc_a=0")
    assert nothing.status == 3
    assert "NOT PASSED  localisation is not defined here; at least 0 is asked" in nothing.out.splitlines()


def test_a_submission_passes_against_itself(files: dict[str, Path], tmp_path: Path) -> None:
    """At every margin, with few sequences, and whatever the order of its rows."""
    mixed = tmp_path / "mixed.csv"
    lines = files["half"].read_text().splitlines(keepends=True)
    mixed.write_text("".join([lines[0], *reversed(lines[1:])]))
    for options in ([], ["--always-valid"], ["--exclude", "night 0,night 1,night 2,night 3,night 4"]):
        given = [files["truth"], files["half"], "--baseline", mixed, "--margin", "recall=0", *options]
        [check] = answer_here("gate", *given)["checks"]
        assert [check[name] for name in ("estimate", "low", "passed", "reason")] == [0, 0, True, None]
    text = run_here("gate", *given).out
    assert "passed      recall equals the baseline's, as all rows do; 0 worse is allowed" in text.splitlines()


def test_always_valid_bounds_are_wider(sample: Path) -> None:
    paths = [sample / f"{name}.json" for name in ("truth", "eager", "cautious")]
    given = ["gate", paths[0], paths[1], "--baseline", paths[2], "--margin", "recall=0.02"]
    once, always = (json.loads(run_here(*given, "--json", *more).out)["checks"][0] for more in ([], ["--always-valid"]))
    truth, *sides = map(sf.read_spotgeo, paths)
    pair = [sf.match(truth, side) for side in sides]
    row = sf.non_inferiority(*pair, "recall", 0.02, always_valid=True).table.iloc[0]
    assert always["low"] == pytest.approx(row["low"])
    assert always["low"] < once["low"]
    assert always["estimate"] == once["estimate"]


def test_why_there_is_no_interval(files: dict[str, Path], tracks: Path) -> None:
    one = ["gate", files["truth"], files["half"], "--exclude", ",".join(f"night {n}" for n in range(1, 8))]
    [of_one] = answer_here(*one, "--min", "recall=0.5")["checks"]
    [undefined] = json.loads(run_here("gate", *list(files.values())[::2], "--min", "loc_a=0", "--json").out)["checks"]
    [of_tracks] = answer_here("gate", tracks / "truth", tracks / "tracker", "--min", "HOTA=0.1")["checks"]
    [known] = answer_here("gate", files["truth"], files["half"], "--min", "recall=0.1")["checks"]
    assert [check["low"] for check in (of_one, undefined, of_tracks)] == [None] * 3
    assert all(check["reason"] for check in (of_one, undefined, of_tracks))
    assert known["low"] is not None
    assert known["reason"] is None


def test_in_words_there_is_a_line_for_each_check(sample: Path) -> None:
    paths = [sample / f"{name}.json" for name in ("truth", "eager", "cautious")]
    options = ["--min", "f1=0.8", "--max", "mse=30", "--margin", "f1=0.01", "--margin", "recall=0.02"]
    done = run_here("gate", paths[0], paths[1], "--baseline", paths[2], *options)
    assert (done.status, done.err) == (3, "")
    heading, _, *lines, _, last = done.out.splitlines()
    assert heading.endswith("tau 10 px, epsilon 3 px")
    assert lines[0].startswith("passed      F1 is 0.8194 (95% interval 0.7765 to 0.8546); at least 0.8 is asked")
    assert lines[1].startswith("NOT PASSED  mse is 35.4226 px² (95% interval ")
    assert lines[2].startswith("NOT PASSED  F1 is 0.0067 better than the baseline's, but may be 0.0463 worse; 0.01")
    assert lines[3].startswith("passed      recall is 0.1946 better than the baseline's, surely 0.1")
    assert last == "2 of 4 checks passed"


def test_tracks_and_poses(tracks: Path, poses: Path) -> None:
    pair = tracks / "truth", tracks / "tracker"
    hota = sf.track(*sf.read_motchallenge(*pair)).summary["HOTA"].iloc[-1]
    done = run_here("gate", *pair, "--min", f"HOTA={hota - 0.01}", "--max", "IDSW=10", "--json")
    [of_hota, of_switches] = json.loads(done.out)["checks"]
    assert of_hota["estimate"] == pytest.approx(hota)
    assert (done.status, of_hota["low"], of_switches["estimate"]) == (0, None, 10)
    assert "no interval" in done.err
    assert run_here("gate", poses / "truth", poses / "tracker", "--max", "mota=1").status == 3


def test_average_precision_is_gated_by_name(coco: Path, tmp_path: Path) -> None:
    """From COCO's JSON and from folders of ap --out, alone and beside metrics of match tables."""
    truth, fast, precise = (coco / f"{name}.json" for name in ("annotations", "fast", "precise"))
    known, found = sf.read_coco(truth, fast, boxes=True)
    results = [sf.average_precision(known, sf.read_coco(truth, path, boxes=True)[1]) for path in (fast, precise)]
    summary, f1 = results[0].summary.iloc[0], sf.summarize(sf.match(known, found))["f1"].iloc[0]
    margin = sf.non_inferiority(*results, "AP50", 0.2).table.iloc[0]
    assert run_here("ap", truth, fast, "--out", tmp_path / "june").status == 0
    options = ["--min", "AP=0.3", "--min", "f1=0.6", "--max", "APs=0.9", "--margin", "AP50=0.2", "--json"]
    for submission in (fast, tmp_path / "june"):
        done = run_here("gate", truth, submission, "--baseline", precise, *options)
        checks = {check["metric"]: check for check in json.loads(done.out)["checks"]}
        assert [*checks] == ["AP", "f1", "APs", "AP50"]
        for metric, wanted in [("AP", summary["AP"]), ("f1", f1), ("APs", summary["APs"])]:
            assert checks[metric]["estimate"] == pytest.approx(wanted)
        assert [checks["AP50"][name] for name in ("estimate", "low")] == pytest.approx(
            list(margin[["estimate", "low"]])
        )
        row = sf.intervals(results[0], metrics=["AP"]).iloc[0]
        assert [checks["AP"][name] for name in ("low", "high")] == pytest.approx([row["low"], row["high"]])
        assert done.status == 0
    done = run_here("gate", truth, tmp_path / "june", "--min", "AP=0.9", "--exclude", "1-30")
    rule = "protocol coco, mean over similarity 0.50 to 0.95; at most 100 detections a frame and category"
    assert done.out.splitlines()[0].endswith(rule)
    assert done.status == 3
    left = sf.leaderboard({"june": results[0]}, exclude=range(1, 31))["AP"].iloc[0]
    assert f"AP is {left:.4f} " in done.out


def test_further_numbers_and_metrics_of_the_field_are_gated_by_name(coco: Path) -> None:
    truth, fast, precise = (coco / f"{name}.json" for name in ("annotations", "fast", "precise"))
    known, found = sf.read_coco(truth, fast, boxes=True)
    names = ["oLRP", "best_f1", "precision_at_recall_0.5"]
    wanted = sf.average_precision(known, found, metrics=names).summary.iloc[0][[*names, "best_f1_score"]].to_dict()
    matches = sf.match(known, found)
    wanted |= {row["metric"]: row["estimate"] for row in sf.intervals(matches, metrics=["pq", "f2"]).to_dict("records")}
    done = run_here("gate", truth, fast, *(word for name in wanted for word in ("--max", f"{name}=1")), "--json")
    checks = {check["metric"]: check["estimate"] for check in json.loads(done.out)["checks"]}
    assert checks == pytest.approx(wanted)
    for metrics, rule in ((["oLRP", "best_f1"], []), (["pq", "lrp", "f0_5"], ["--similarity", "iou"])):
        done = run_here("compare", truth, fast, precise, "--metrics", ",".join(metrics), *rule, "--json")
        assert {pair["metric"] for pair in json.loads(done.out)["pairs"]} == {*metrics}
    done = run_here("gate", truth, fast, "--min", "precision_at_recall_2=0.5", "--similarity", "iou")
    assert done.status == 2
    for name in ("pq", "f2", "lrp", "f0_5"):
        sf.metric(name, None, None)


def test_what_a_folder_counts_others_count_too(coco: Path, tmp_path: Path) -> None:
    """A submission in a file is evaluated as the one in a folder of ap --out was."""
    truth, fast, precise = (coco / f"{name}.json" for name in ("annotations", "fast", "precise"))
    known, found = sf.read_coco(truth, fast, boxes=True)
    with warned(("average_precision: 302 detections in 58 frames", "max_detections=")):
        few = sf.average_precision(known, found, thresholds=[0.5, 0.9], max_detections=2)
    sf.save(few, tmp_path / "few")
    done = run_here(
        "gate", truth, fast, "--baseline", tmp_path / "few", "--min", "AR2=0.1", "--margin", "AP=0", "--json"
    )
    checks = json.loads(done.out)["checks"]
    assert [check["estimate"] for check in checks] == pytest.approx([few.summary["AR2"].iloc[0], 0.0])
    assert run_here("ap", truth, precise, "--out", tmp_path / "all").status == 0
    [problem] = complaints(refused_here("compare", truth, tmp_path / "few", tmp_path / "all"))
    assert_places(
        [problem],
        (f"{tmp_path / 'all'}: was evaluated by average precision by iou, protocol coco, mean", "give the same rule"),
    )
    assert refused_here("report", truth, tmp_path / "few", "--out", tmp_path / "r.html")
    assert "AP75" in refused_here("gate", truth, tmp_path / "few", "--min", "AP75=0.1", status=2)[-1]


def test_average_precision_of_poses(tmp_path: Path) -> None:
    folder = outside("COCO_DATA", "coco_keypoints")
    pair = folder / "gt.json", folder / "dt.json"
    with warned(("average_precision: 108 detections in 1 frame", "max_detections=")):
        ap = sf.average_precision(*sf.read_coco(*pair), similarity="oks").summary["AR"].iloc[0]
    assert run_here("ap", *pair, "--keypoints", "--out", tmp_path / "june").status == 0
    for arguments in ([*pair, "--similarity", "oks"], [pair[0], tmp_path / "june"]):
        [check] = json.loads(run_here("gate", *arguments, "--min", "AR=0.1", "--json").out)["checks"]
        assert check["estimate"] == pytest.approx(ap)
    assert "AR100" in refused_here("gate", pair[0], tmp_path / "june", "--min", "AR100=0.1", status=2)[-1]


def test_wrong_words_for_average_precision(coco: Path) -> None:
    pair = ["gate", coco / "annotations.json", coco / "fast.json"]
    for options, names in [
        (["--min", "AP=0.1", "--protocol", "voc"], ("protocol", "voc2007")),
        (["--margin", "AP50=0.1", "--baseline", pair[2], "--similarity", "point"], ("AP50", "--similarity")),
        (["--min", "AP60=0.1", "--similarity", "iou"], ("--min", "AP60", "AP50")),
        (["--min", "AP=0.1", "--threshold", "0.7"], ("--threshold", "AP")),
        (["--min", "AP=0.1", "--min", "f1=0.1", "--labelled"], ("--labelled", "AP")),
    ]:
        problem = refused_here(*pair, *options, status=2)[-1]
        assert all(name in problem for name in names), problem


def test_tables_whose_identities_count(files: dict[str, Path]) -> None:
    got = run_here("gate", files["truth"], files["half"], "--tracks", "--min", "IDF1=0.6", "--json")
    [check] = json.loads(got.out)["checks"]
    assert check["estimate"] == pytest.approx(2 / 3)  # IDTP 4, IDFN 4
    assert "f1" in refused_here("gate", files["truth"], files["half"], "--tracks", "--min", "f1=0.6", status=2)[-1]


def test_excluded_sequences_do_not_count(files: dict[str, Path]) -> None:
    given = ["gate", files["truth"], files["most"], "--exclude", "night 7, night 9"]
    done = run_here(*given, "--min", "recall=1")
    assert done.status == 0
    assert "night 9" in done.err


def test_wrong_usage(files: dict[str, Path]) -> None:
    pair = ["gate", files["truth"], files["half"]]
    baseline = ["--baseline", files["most"]]
    cases = [
        ([], ("nothing to check", "--min", "--max", "--margin")),
        (["--margin", "f1=0.1"], ("--margin", "--baseline")),
        (["--min", "f1=0.1", "--always-valid"], ("--always-valid", "--margin")),
        ([*baseline, "--min", "f1=0.1"], ("--baseline", "--margin")),
        (["--min", "F1_=0.1"], ("--min", "'F1_'")),
        (["--max", "f1"], ("--max", "'f1'", "METRIC=NUMBER")),
        (["--min", "f1=high"], ("--min", "'f1=high'")),
        (["--min", "f1=nan"], ("--min", "'f1=nan'")),
        (["--min", "=0.5"], ("--min", "'=0.5'")),
        (["--min", "f1=0.1,recall=0.2"], ("--min", "METRIC=NUMBER")),
        ([*baseline, "--margin", "f1=-0.1"], ("--margin", "below 0")),
        ([*baseline, "--margin", "tp=1"], ("--margin", "tp", "neither more nor less")),
    ]
    for options, words in cases:
        assert_places([refused_here(*pair, *options, status=2)[-1].removeprefix("Error: ")], words)


def test_a_check_may_be_asked_twice(sample: Path) -> None:
    got = answer_here("gate", sample / "truth.json", sample / "eager.json", "--min", "f1=0.1", "--min", "f1=0.2")
    assert [check["bound"] for check in got["checks"]] == [0.1, 0.2]


def test_saved_folders_are_submissions_too(files: dict[str, Path], tmp_path: Path) -> None:
    options = ["--min", "recall=0.5", "--margin", "recall=0.9", "--json"]
    given = run_here("gate", files["truth"], files["half"], "--baseline", files["most"], *options)
    assert run_here("score", files["truth"], files["half"], "--out", tmp_path / "out").status == 0
    sf.save(sf.match(*(sf.read_objects(files[name]) for name in ("truth", "most"))), tmp_path / "saved")
    kept = run_here("gate", files["truth"], tmp_path / "out", "--baseline", tmp_path / "saved", *options)
    assert (kept.status, kept.out) == (given.status, given.out)


def test_the_checks_are_also_written_as_markdown(sample: Path, tmp_path: Path) -> None:
    """Whether they are passed or not; names of files stay text."""
    paths = [sample / f"{name}.json" for name in ("truth", "eager", "cautious")]
    file, odd = tmp_path / "gate.md", tmp_path / "a_b|<b>@all.json"
    odd.write_bytes(paths[1].read_bytes())
    options = ["--min", "f1=0.8", "--max", "mse=30", "--margin", "f1=0.01"]
    done = run_here("gate", paths[0], odd, "--baseline", paths[2], *options, "--markdown", file)
    plain = run_here("gate", paths[0], odd, "--baseline", paths[2], *options)
    assert (done.status, done.out) == (3, plain.out)
    counted, _, *table, _, head = file.read_text("utf-8").splitlines()
    assert counted == "**1 of 3 checks passed**"
    assert table[:2] == ["| result | check |", "| --- | --- |"]
    sentences = [line[12:] for line in plain.out.splitlines() if line.startswith(("passed  ", "NOT PASSED  "))]
    words = [(word.strip(), said.strip()) for word, said in (row.strip("| ").split(" | ") for row in table[2:])]
    assert words == list(zip(["passed", "NOT PASSED", "NOT PASSED"], sentences, strict=True))
    assert "a\\_b\\|&lt;b&gt;@" in head
    assert "@all" not in head
    refused_here("gate", *paths[:2], "--min", "f1=0.8", "--markdown", paths[1])
    refused_here("gate", *paths[:2], "--min", "f1=0.8", "--markdown", tmp_path / "none" / "gate.md")
    assert run_here("gate", *paths[:2], "--min", "f1=0.8", "--markdown", file).status == 0
    assert file.read_text("utf-8").startswith("**1 of 1 check passed**")
