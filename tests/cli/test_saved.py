"""Folders that `save` or `--out` wrote, as submissions of `compare` and `report`."""

import shutil
from pathlib import Path

import pytest

import spotgeo_frames as sf
from helpers.commands import answer_here, complaints, refused_here, run_here, run_process
from helpers.problems import assert_places
from helpers.scenes import objects

# For each command with `--out` that evaluates: its kind of folder below data/, a truth and a submission in it.
OF_COMMAND = {
    "score": ("sample", "truth.json", "eager.json"),
    "diagnose": ("boxes", "truth.parquet", "v1.parquet"),
    "track": ("tracks", "truth", "tracker"),
    "pose": ("poses", "truth", "tracker"),
    "ap": ("coco", "annotations.json", "fast.json"),
}


@pytest.fixture
def data(sample: Path) -> Path:
    return sample.parent


def kept(out: Path, command: str, *arguments: object) -> Path:
    """The folder that a command's `--out` wrote."""
    done = run_here(command, *arguments, "--out", out)
    assert (done.status, complaints(done.err)) == (0, [])
    return out


@pytest.mark.parametrize("command", OF_COMMAND)
def test_what_out_wrote_is_a_submission(command: str, data: Path, tmp_path: Path) -> None:
    folder, *names = OF_COMMAND[command]
    truth, found = (data / folder / name for name in names)
    june = kept(tmp_path / "june", command, truth, found)
    for submissions in ([june, found], [june, june]):  # the latter read nothing but the truth
        got = answer_here("compare", truth, *submissions)
        assert [row["a"] for row in got["pairs"][:1]] == ["june"]
        differences = [row["estimate"] for row in got["pairs"]]
        assert differences
        assert not any(differences)
    done = run_here("report", truth, june, "--out", tmp_path / "report.html")
    assert (done.status, complaints(done.err)) == (0, [])
    assert "june" in (tmp_path / "report.html").read_text()


def test_tracks_of_tables_need_the_option(data: Path, tmp_path: Path) -> None:
    truth, found = data / "sample/truth.json", data / "sample/eager.json"
    june = kept(tmp_path / "june", "track", truth, found)
    got = answer_here("compare", truth, june, found, "--tracks")
    assert {row["estimate"] for row in got["pairs"]} == {0}
    for command in (["compare", truth, june, found], ["report", truth, june, "--out", tmp_path / "r.html"]):
        assert_places(refused_here(*command), f"{june}: holds tracks, and detections are evaluated here; give --tracks")
    score = kept(tmp_path / "score", "score", truth, found)
    assert_places(
        refused_here("compare", truth, score, june, "--tracks"),
        f"{score}: holds detections, and tracks are evaluated here",
    )
    poses = kept(tmp_path / "poses", "pose", data / "poses/truth", data / "poses/tracker")
    tracks = kept(tmp_path / "tracks", "track", data / "tracks/truth", data / "tracks/tracker")
    assert_places(
        refused_here("compare", data / "tracks/truth", poses, tracks),
        f"{poses}: holds poses, and tracks are evaluated here",
    )


def test_average_precision_where_others_are_asked_for(data: Path, tmp_path: Path) -> None:
    """A folder of ap --out has the predictions, if those beyond the most of a frame and category are not missing."""
    truth, found = data / "boxes/truth.parquet", data / "boxes/v1.parquet"
    june, score = kept(tmp_path / "june", "ap", truth, found), kept(tmp_path / "score", "score", truth, found)
    for submissions in ([june, found], [june, score], [june, june]):
        got = answer_here("compare", truth, *submissions, "--metrics", "f1,recall")
        assert {row["estimate"] for row in got["pairs"]} == {0}
    assert "AP" in answer_here("compare", truth, june, found)["leaderboard"][0]
    assert_places(
        refused_here("compare", truth, june, score),
        (f"{score}: holds detections, and average precision needs all predictions", "ap --out"),
    )
    assert_places(
        refused_here("compare", truth, june, found, "--tracks"),
        f"{june}: holds average precision, and tracks are evaluated here",
    )
    mixed = refused_here("compare", truth, june, found, "--metrics", "AP,f1", status=2)[-1]
    assert "--metrics" in mixed
    assert "f1" in mixed
    crowded = objects([(1, 1, float(k), 0.0) for k in range(101)], w=5.0, h=5.0, score=0.5)
    paths = tmp_path / "truth.csv", tmp_path / "found.csv"
    crowded.drop(columns="score").to_csv(paths[0], index=False)
    crowded.to_csv(paths[1], index=False)
    most = tmp_path / "most"
    assert run_here("ap", *paths, "--out", most).status == 0
    problem = (f"{most}: has at most 100 detections", "1 detection is missing", "file of the predictions")
    assert_places(complaints(refused_here("report", paths[0], most, "--out", tmp_path / "r.html")), problem)
    assert_places(complaints(refused_here("gate", paths[0], most, "--min", "f1=0.5")), problem)


def test_average_precision_of_another_truth_is_refused(data: Path, tmp_path: Path) -> None:
    june = kept(tmp_path / "june", "ap", data / "boxes/truth.parquet", data / "boxes/v1.parquet")
    sf.read_objects(data / "boxes/truth.parquet").objects[1:].to_parquet(tmp_path / "truth.parquet")
    page = tmp_path / "r.html"
    for command, *rest in (["gate", "--min", "AP=0.1"], ["compare", june], ["report", "--out", page]):
        [line] = complaints(refused_here(command, tmp_path / "truth.parquet", june, *rest))[:1]
        assert line.startswith(f"{june}: 1 truth is in only one of TRUTH and this folder: sequence 1, frame 1")


def test_results_by_class_are_compared_with_each_other_alone(tmp_path: Path) -> None:
    truth, found, june = tmp_path / "truth.csv", tmp_path / "found.csv", tmp_path / "june"
    cars = objects([(1, frame, 10.0 * frame, 0.0) for frame in range(4)], category=["car", "car", "car", "bus"])
    cars.to_csv(truth, index=False)
    cars[:3].to_csv(found, index=False)
    sf.save(sf.track(sf.read_objects(truth), sf.read_objects(found), by="category"), june)
    got = answer_here("compare", truth, june, june, "--tracks")
    assert {row["estimate"] for row in got["pairs"]} == {0}
    [problem] = complaints(refused_here("compare", truth, june, found, "--tracks"))
    assert "by category" in problem


def test_another_rule_is_refused(data: Path, tmp_path: Path) -> None:
    truth, found = data / "sample/truth.json", data / "sample/eager.json"
    june = kept(tmp_path / "june", "score", truth, found, "--tau", 5)
    rules = "was evaluated by tau 5 px, epsilon 3 px, and the rule is tau 10 px, epsilon 3 px now"
    problem = (f"{june}: {rules}", "give the same rule")
    assert_places(refused_here("compare", truth, june, found), problem)
    assert_places(refused_here("report", truth, june, "--out", tmp_path / "r.html"), problem)
    assert not (tmp_path / "r.html").exists()
    got = answer_here("compare", truth, june, found, "--tau", 5)
    assert {row["estimate"] for row in got["pairs"]} == {0}


def test_another_truth_is_refused(data: Path, tmp_path: Path) -> None:
    june = kept(tmp_path / "june", "track", data / "tracks/truth", data / "tracks/tracker")
    shutil.copytree(data / "tracks/truth", tmp_path / "truth")
    lines = (tmp_path / "truth/plaza/gt/gt.txt").read_text().splitlines(keepends=True)
    (tmp_path / "truth/plaza/gt/gt.txt").write_text("".join(lines[1:]))
    for command, *rest in (["compare", june], ["report", "--out", tmp_path / "r.html"]):
        [line] = refused_here(command, tmp_path / "truth", june, *rest)[:1]
        assert line.startswith(f"{june}: 1 truth is in only one of TRUTH and this folder: sequence plaza, frame 1")


def test_what_is_no_submission_is_refused(data: Path, tmp_path: Path) -> None:
    truth, found = data / "boxes/truth.parquet", data / "boxes/v1.parquet"
    swept = kept(tmp_path / "swept", "sweep", truth, found)
    assert_places(
        refused_here("compare", truth, swept, found), (f"{swept}: holds a result of type Sweep", "match table")
    )
    june = kept(tmp_path / "june", "score", truth, found)
    (june / "matches.parquet").write_bytes(b"PAR1")
    damaged = f"{june / 'matches.parquet'}: is not as it was saved"
    assert_places(refused_here("compare", truth, june, found), damaged)


@pytest.mark.parametrize("table", ["polars", "pyarrow"])
def test_results_and_predictions_of_other_kinds(table: str, data: Path, tmp_path: Path) -> None:
    truth, found = (sf.read_objects(data / "boxes" / f"{name}.parquet", table=table) for name in ("truth", "v1"))
    sf.save(sf.match(truth, found), tmp_path / "matches")
    sf.save(found, tmp_path / "found")
    done = run_here("compare", data / "boxes/truth.parquet", tmp_path / "matches", tmp_path / "found")
    assert (done.status, complaints(done.err)) == (0, [])
    noted = "a rule that is not noted" if table == "polars" else "similarity iou, threshold 0.5"
    assert done.out.splitlines()[0].endswith(noted)
    assert answer_here("compare", data / "boxes/truth.parquet", tmp_path / "matches", tmp_path / "found")["pairs"]


def test_as_processes(data: Path, tmp_path: Path) -> None:
    truth, found, june = data / "tracks/truth", data / "tracks/tracker", tmp_path / "june"
    for arguments in (["track", truth, found, "--out", june], ["compare", truth, june, found]):
        done = run_process(*arguments)
        assert (done.status, complaints(done.err)) == (0, [])
    assert "june tracker  combined   HOTA   0.0000" in done.out
