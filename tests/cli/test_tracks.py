"""Commands on tracks and poses: folders of MOTChallenge and PoseTrack, and tables whose identities count."""

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers import datasets
from helpers.commands import answer_here, complaints, refused_here, run_here
from helpers.problems import assert_places
from helpers.reference import PROJECT
from helpers.scenes import objects

# One object in three frames; the tracker renames it in the last.
TRUTH = [("a", frame, 10.0 * frame, 5.0) for frame in (1, 2, 3)]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """A truth and a tracker as tables, whose column `track` is the identity and whose `object` counts rows."""
    paths = [tmp_path / "truth.csv", tmp_path / "found.csv"]
    objects(TRUTH).assign(object=7, track=7).to_csv(paths[0], index=False)
    objects(TRUTH).assign(object=[0, 1, 2], track=[4, 4, 9], score=[0.9, 0.8, 0.7]).to_csv(paths[1], index=False)
    return paths


@pytest.fixture
def folders(tracks: Path, tmp_path: Path) -> list[Path]:
    """The truth, the sample's tracker, and the same with a new identity every 30 frames."""
    _, found = sf.read_motchallenge(tracks / "truth", tracks / "tracker", preprocess=False)
    cut = found.objects.assign(object=lambda rows: rows["object"] + 1000 * (rows["frame"] // 30))
    sf.write_motchallenge(cut, tmp_path / "cut")
    return [tracks / "truth", tracks / "tracker", tmp_path / "cut"]


def test_track_takes_tables(files: list[Path], tmp_path: Path) -> None:
    got = answer_here("track", *files, "--similarity", "point", "--identity", "track")
    assert list(got["sequences"]) == ["a"]
    names = ("IDSW", "MOTA", "IDF1", "TP")
    assert [got["combined"][name] for name in names] == pytest.approx([1, 2 / 3, 2 / 3, 3])
    assert answer_here("track", *files, "--tracks")["combined"]["IDSW"] == 2  # `object` changes twice
    kept = answer_here("track", *files, "--identity", "track", "--tau", 2, "--out", tmp_path / "out")
    assert kept == answer_here("track", *files, "--identity", "track", "--tau", 2)
    assert json.loads((tmp_path / "out" / "track.json").read_text()) == kept
    assert pd.read_parquet(tmp_path / "out" / "matches.parquet").attrs["tau"] == 2


def test_track_takes_competition_files(sample: Path, tmp_path: Path) -> None:
    sides = [sf.read_spotgeo(sample / name) for name in ("truth.json", "eager.json")]
    got = answer_here("track", sample / "truth.json", sample / "eager.json")
    expected = sf.track(*sides).summary
    assert list(got["sequences"]) == [str(name) for name in expected["sequence"][:-1]]
    assert got["combined"]["HOTA"] == pytest.approx(expected["HOTA"].iloc[-1])
    done = run_here("track", sample / "truth.json", sample / "eager.json")
    assert done.out.splitlines()[0].endswith("similarity point, tau 10 px, threshold 0.5")


def test_track_evaluates_folders_of_poses_as_pose_does(poses: Path) -> None:
    folders = poses / "truth", poses / "tracker"
    assert answer_here("track", *folders) == answer_here("pose", *folders)
    said = refused_here("track", *folders, "--tau", 5, status=2)
    assert "--tau" in said[-1]


def test_track_refuses_what_tracks_have_not(files: list[Path], tracks: Path, tmp_path: Path) -> None:
    for option in ("--epsilon", "--threshold"):
        said = refused_here("track", *files, option, 0.5, status=2)[-1]
        assert said.startswith(f"Error: {option[2:]} does not apply to tracks")
    assert "MOTChallenge" in refused_here("track", *files, "--benchmark", "MOT17", status=2)[-1]
    assert_places(refused_here("track", *files, "--identity", "trak"), ("identity", "trak"))
    assert_places(refused_here("track", tmp_path, tracks / "tracker"), (f"{tmp_path}", "SEQUENCE/gt/gt.txt"))
    assert_places(refused_here("track", tmp_path / "no", tmp_path / "no"), f"{tmp_path / 'no'}")
    (tmp_path / "joints.csv").write_text("sequence,frame,object,joint,x,y\na,1,1,nose,1,1\n")
    assert_places(
        refused_here("track", tmp_path / "joints.csv", tmp_path / "joints.csv"),
        ("truth and predictions have a column joint", "pose()"),
    )


def test_compare_ranks_trackers_by_hota(folders: list[Path]) -> None:
    got = answer_here("compare", *folders)
    assert [row["name"] for row in got["leaderboard"]] == ["tracker", "cut"]
    results = {path.name: sf.track(*sf.read_motchallenge(folders[0], path)) for path in folders[1:]}
    board, pairs, _ = sf.compare(results)
    for name in ("rank", "HOTA", "MOTA", "IDF1"):
        assert [row[name] for row in got["leaderboard"]] == pytest.approx(board[name].tolist())
    assert list(got["pairs"][0]) == [
        "a",
        "b",
        "aggregate",
        "metric",
        "estimate",
        "low",
        "high",
        "p_value",
        "p_adjusted",
        "reason",
    ]
    assert [row["estimate"] for row in got["pairs"]] == pytest.approx(pairs["estimate"].tolist())
    itself = answer_here("compare", folders[0], folders[1], folders[1])
    assert {(row["estimate"], row["p_value"]) for row in itself["pairs"]} == {(0, 1)}
    assert {row["aggregate"] for row in itself["pairs"]} == {"combined", "macro"}


def test_compare_of_trackers_in_words(folders: list[Path]) -> None:
    done = run_here("compare", *folders, "--metrics", "IDF1,HOTA", "--by", "sequence")
    assert (done.status, complaints(done.err)) == (0, [])
    lines = done.out.splitlines()
    assert lines[2].split()[:8] == ["sequence", "rank", "name", "HOTA", "from", "to", "MOTA", "IDF1"]
    assert [line.split()[:3] for line in lines[3:7]] == [
        *[["crossing", "1", "tracker"], ["crossing", "2", "cut"]],
        *[["plaza", "1", "tracker"], ["plaza", "2", "cut"]],
    ]
    for row in (9, 13):
        names = [["combined", "IDF1"], ["combined", "HOTA"], ["macro", "IDF1"], ["macro", "HOTA"]]
        assert [line.split()[3:5] for line in lines[row : row + 4]] == names
    assert "macro: the mean over sequences" in done.out
    assert lines[-1].startswith("no interval: 1 sequence is too few")
    assert "apart from next: by HOTA" in done.out
    assert "nan" not in done.out


def test_compare_by_columns_and_metrics_of_detections(sample: Path) -> None:
    given = ["compare", *(sample / f"{name}.parquet" for name in ("truth", "eager", "cautious"))]
    got = answer_here(*given, "--metrics", "recall, f1", "--by", "truth_brightness:3")
    assert len(got["leaderboard"]) == 3 * 2
    assert [row["metric"] for row in got["pairs"]] == ["recall", "f1"] * 3
    said = [
        refused_here(*given, *options, status=2)[-1].removeprefix("Error: ")
        for options in (["--metrics", "HOTA"], ["--by", "truth_nothing"], ["--by", "frame:1"])
    ]
    assert_places(said, ("--metrics", "HOTA"), ("--by", "truth_nothing"), ("--by", "frame"))


def test_compare_of_poses(poses: Path, tmp_path: Path) -> None:
    got = answer_here("compare", poses / "truth", poses / "tracker", poses / "tracker", "--metrics", "HOTA,mota")
    result = sf.pose(*sf.read_posetrack(poses / "truth", poses / "tracker")).summary.iloc[-1]
    for row in got["leaderboard"]:
        assert (row["HOTA"], row["mota"]) == pytest.approx((result["HOTA"], result["mota"]))
    done = run_here("compare", poses / "truth", poses / "tracker", poses / "tracker")
    assert f"{result['mota'] / 100:.4f}" in done.out.splitlines()[3]  # as a share, as all others are


def test_compare_of_tables_whose_identities_count(files: list[Path], tmp_path: Path) -> None:
    pd.read_csv(files[0]).to_csv(tmp_path / "right.csv", index=False)
    got = answer_here("compare", *files, tmp_path / "right.csv", "--tracks", "--metrics", "HOTA")
    assert [(row["name"], row["IDSW"]) for row in got["leaderboard"]] == [("right", 0), ("found", 2)]
    assert "f1" in answer_here("compare", *files, tmp_path / "right.csv")["leaderboard"][0]
    said = refused_here("compare", *files, tmp_path / "right.csv", "--tracks", "--threshold", 0.5, status=2)
    assert "threshold" in said[-1]


def test_sequences_of_unknown_length_have_the_frames_of_all_trackers(tmp_path: Path) -> None:
    """Without a seqinfo.ini the last row of either side ends a sequence, and one tracker may go on for longer."""
    for name, last in (("truth", 2), ("short", 2), ("long", 5)):
        (tmp_path / name).mkdir()
        lines = [f"{frame},1,10,10,20,20,1,1,1" for frame in range(1, last + 1)]
        (tmp_path / name / "a.txt").write_text("\n".join(lines))
    got = answer_here("compare", tmp_path / "truth", tmp_path / "short", tmp_path / "long", "--metrics", "HOTA")
    assert [(row["name"], row["n_frames"], row["FP"]) for row in got["leaderboard"]] == [
        ("short", 5, 0),
        ("long", 5, 3),
    ]


def test_folders_may_be_packed(folders: list[Path], tmp_path: Path) -> None:
    truth = tmp_path / "truth.zip"
    with zipfile.ZipFile(truth, "w") as archive:
        for path in folders[0].glob("*/gt/gt.txt"):
            archive.write(path, f"{path.parent.parent.name}.txt")
    got = answer_here("compare", truth, *folders[1:], "--metrics", "HOTA")
    assert [row["name"] for row in got["leaderboard"]] == ["tracker", "cut"]


@pytest.mark.parametrize("command", ["check", "sweep", "diagnose"])
def test_folders_and_their_mistakes(command: str, folders: list[Path], tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    assert_places(refused_here(command, folders[0], tmp_path / "bad"), f"{tmp_path / 'bad'}")
    assert "MOT99" in refused_here(command, *folders[:2], "--benchmark", "MOT99", status=2)[-1]


def test_diagnose_tells_what_switches_cost(folders: list[Path], tmp_path: Path) -> None:
    got = answer_here("diagnose", folders[0], folders[2], "--out", tmp_path / "out")
    kinds = {row["kind"]: row for row in got["kinds"]}
    assert kinds["switch"]["HOTA_gain"] > 0.05
    assert kinds["all"]["f1"] == 1
    assert (got["similarity"], got["threshold"]) == ("iou", 0.5)
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"matches.parquet", "error_costs.parquet"}
    assert "HOTA gained" in run_here("diagnose", *folders[:2]).out


def test_diagnose_of_poses(poses: Path) -> None:
    kinds = {row["kind"]: row for row in answer_here("diagnose", poses / "truth", poses / "tracker")["kinds"]}
    assert kinds["switch"]["HOTA_gain"] > 0


def test_sweep_finds_the_threshold_of_the_highest_hota(files: list[Path]) -> None:
    got = answer_here("sweep", *files, "--tracks")
    assert [row["score_threshold"] for row in got["curve"]] == [0.7, 0.8, 0.9]
    expected = sf.sweep(*map(sf.read_objects, files), tracks=True)
    assert [row["HOTA"] for row in got["curve"]] == pytest.approx(expected.curve["HOTA"].tolist())
    assert got["best"][0]["HOTA"] == max(row["HOTA"] for row in got["curve"])
    assert "HOTA" in run_here("sweep", *files, "--tracks").out.splitlines()[4].split()


def test_check_of_tracks(folders: list[Path], tmp_path: Path) -> None:
    assert answer_here("check", *folders[:2]) == {"suspicions": []}
    _, found = sf.read_motchallenge(*folders[:2], preprocess=False)
    anew = found.objects.assign(object=range(1, len(found.objects) + 1))  # each row has an identity of its own
    sf.write_motchallenge(anew, tmp_path / "anew")
    assert len(answer_here("check", folders[0], tmp_path / "anew")["suspicions"]) > 0


def test_score_names_the_command_for_tracks(files: list[Path], folders: list[Path]) -> None:
    for given in ([*files, "--tracks"], folders[:2]):
        assert "give the same files to track" in refused_here("score", *given, status=2)[-1]


def test_track_takes_datasets(tmp_path: Path) -> None:
    paths = [tmp_path / "truth.parquet", tmp_path / "found.parquet"]
    for table, path in zip(datasets.tracks(6), paths, strict=True):
        table.to_parquet(path, index=False)
    expected = answer_here("track", *paths, "--tau", 4)
    out = tmp_path / "out"
    assert answer_here("track", *paths, "--tau", 4, "--dataset", "--out", out) == expected
    assert json.loads((out / "track.json").read_text()) == expected
    assert pd.read_parquet(out / "summary.parquet")["HOTA"].iloc[-1] == expected["combined"]["HOTA"]
    heading, first, table, _ = run_here("track", *paths, "--tau", 4, "--dataset").out.split("\n\n")
    assert heading.endswith("similarity point, tau 4 px, threshold 0.5")
    assert [line.split()[0] for line in first.splitlines()[:4]] == ["HOTA", "DetA", "AssA", "no"]
    # No row for each of a million sequences.
    assert [line.split()[0] for line in table.splitlines()] == ["HOTA", "combined"]


def test_track_refuses_what_is_no_dataset(files: list[Path], tracks: Path, tmp_path: Path) -> None:
    for pair in (
        [tracks / "truth", tracks / "tracker"],
        [PROJECT / "data/poses/truth", PROJECT / "data/poses/tracker"],
    ):
        said = refused_here("track", *pair, "--dataset", status=2)[-1]
        assert "--dataset" in said
        assert str(pair[0]) in said
    assert "--scheduler" in refused_here("track", *files, "--scheduler", "tcp://localhost:1", status=2)[-1]
    assert_places(refused_here("track", tmp_path / "no", files[1], "--dataset"), f"{tmp_path / 'no'}", f"{files[1]}")
