"""The commands `sweep` and `diagnose`, and what every command with `--out` keeps."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

import spotgeo_frames as sf
from helpers.commands import answer_here, complaints, refused_here, run_here, run_process
from helpers.problems import Place, assert_places
from helpers.scenes import objects
from spotgeo_frames.presentation.folders.saving import MANIFEST
from spotgeo_frames.support.pandas_tables import with_text

# Four truths: one found, one found 15 px off (mislocated), one never (lost), one found twice (its second is a
# duplicate); and one prediction near nothing (background).
TRUTH = [("a", 1, 10.0, 10.0), ("a", 2, 50.0, 10.0), ("b", 1, 90.0, 90.0), ("b", 2, 30.0, 30.0)]
PREDICTIONS = [
    *[("a", 1, 12.0, 10.0), ("a", 2, 65.0, 10.0), ("b", 2, 31.0, 30.0), ("b", 2, 34.0, 30.0), ("b", 1, 10.0, 10.0)],
]
SCORES = [0.9, 0.8, 0.7, 0.4, 0.2]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """The truth and the predictions as files."""
    paths = [tmp_path / "truth.csv", tmp_path / "found.csv"]
    objects(TRUTH).to_csv(paths[0], index=False)
    objects(PREDICTIONS, score=SCORES).to_csv(paths[1], index=False)
    return paths


def test_sweep_as_json(files: list[Path]) -> None:
    got = answer_here("sweep", *files)
    assert list(got) == ["curve", "best"]
    counts = [(row["score_threshold"], row["tp"], row["fn"], row["fp"]) for row in got["curve"]]
    assert counts == [(0.2, 2, 2, 3), (0.4, 2, 2, 2), (0.7, 2, 2, 1), (0.8, 1, 3, 1), (0.9, 1, 3, 0)]
    assert {row["tau"] for row in got["curve"]} == {10}
    [best] = got["best"]
    assert (best["score_threshold"], best["f1"]) == (0.7, pytest.approx(4 / 7))
    swept = sf.sweep(*(sf.read_objects(path) for path in files))
    assert [list(row) for row in (got["curve"][0], best)] == [[*swept.curve], [*swept.best]]


def test_sweep_in_words(files: list[Path]) -> None:
    done = run_here("sweep", *files, "--tau", 20)
    assert (done.status, done.err) == (0, "")
    heading, _, _, _, titles, best, *rest = done.out.splitlines()
    assert heading == f"{files[1]} against {files[0]}, epsilon 3 px"
    assert titles.split()[:6] == ["tau,", "px", "area", "under", "the", "curve"]
    assert titles.endswith("F1 F1 cross-validated F1 cross-validated from F1 cross-validated to")
    assert (best.split()[0], best.split()[2]) == ("20", "0.7")
    assert "5 of 5 thresholds; --json gives all:" in rest
    assert "nan" not in done.out.lower()


def test_a_long_curve_is_shown_in_steps(sample: Path) -> None:
    done = run_here("sweep", sample / "truth.parquet", sample / "eager.parquet")
    [place] = [place for place, line in enumerate(done.out.splitlines()) if "10 of 200 thresholds" in line]
    rows = [line.split() for line in done.out.splitlines()[place + 3 : place + 13]]
    thresholds = [float(row[1]) for row in rows]
    assert thresholds == sorted(thresholds)
    curve = answer_here("sweep", sample / "truth.parquet", sample / "eager.parquet")["curve"]
    assert [int(rows[end][2]) for end in (0, -1)] == [curve[end]["n_predicted"] for end in (0, -1)]


def test_diagnose_as_json(files: list[Path]) -> None:
    got = answer_here("diagnose", *files)
    assert list(got) == ["kinds", "tau", "epsilon"]
    counts = {row["kind"]: (row["n_misses"], row["n_false_alarms"]) for row in got["kinds"]}
    assert {kind: errors for kind, errors in counts.items() if any(errors)} == {
        **{"lost": (1, 0), "mislocated": (1, 1), "duplicate": (0, 1), "background": (0, 1)},
        "all": (2, 3),
    }
    by_kind = {row["kind"]: row for row in got["kinds"]}
    assert by_kind["mislocated"]["f1_gain"] == pytest.approx(6 / 9 - 4 / 9)  # of 2 TP, 2 FN and 3 FP
    assert by_kind["all"]["f1"] == 1
    costs = sf.error_costs(sf.diagnose(sf.match(*(sf.read_objects(path) for path in files))))
    assert list(got["kinds"][0]) == [*costs]


def test_diagnose_in_words(files: list[Path]) -> None:
    done = run_here("diagnose", *files, "--tau", 20, "--epsilon", 1)
    assert (done.status, done.err) == (0, "")
    heading, _, titles, *rows = done.out.splitlines()
    assert heading == f"{files[1]} against {files[0]}, tau 20 px, epsilon 1 px"
    for title in ("kind", "misses", "false alarms", "F1", "F1 gained", "mse, px²", "mse gained, px²"):
        assert title in titles
    assert ["lost", "1", "0"] in [row.split()[:3] for row in rows]
    assert ["mislocated", "0", "0"] in [row.split()[:3] for row in rows]


# Of the first image the truth is found twice, that of the second 5 px off (IoU 1/3, OKS 0.04), that of the third never.
BOXES = [(1, [0, 0, 10, 10]), (2, [0, 0, 10, 10]), (3, [0, 0, 10, 10])]
FOUND_BOXES = [(1, [0, 0, 10, 10], 0.9), (1, [1, 0, 10, 10], 0.4), (2, [5, 0, 10, 10], 0.7)]


@pytest.fixture
def coco(tmp_path: Path) -> list[Path]:
    """Annotations and results of COCO, each with a box and with keypoints at its corners."""

    def annotated(image: int, box: list[float], **others: float) -> dict[str, Any]:
        left, top, width, height = box
        corners = [left, top, 2, left + width, top + height, 2]
        return {"image_id": image, "category_id": 1, "bbox": box, "keypoints": corners, **others}

    truth = {
        "images": [{"id": image} for image, _ in BOXES],
        "annotations": [annotated(image, box, id=image, area=1500) for image, box in BOXES],
        "categories": [{"id": 1, "name": "cat", "keypoints": ["nose", "left_eye"]}],
    }
    results = [annotated(image, box, score=score) for image, box, score in FOUND_BOXES]
    paths = [tmp_path / "truth.json", tmp_path / "results.json"]
    for path, document in zip(paths, (truth, results), strict=True):
        path.write_text(json.dumps(document))
    return paths


@pytest.mark.parametrize("similarity", ["iou", "oks"])
def test_cocos_files(similarity: str, coco: list[Path], tmp_path: Path) -> None:
    given = [*coco, "--similarity", similarity]
    got = answer_here("score", *given)
    assert [got[name] for name in ("tp", "fn", "fp", "similarity", "threshold")] == [1, 2, 2, similarity, 0.5]
    board = answer_here("compare", *coco, coco[1], *given[2:])["leaderboard"]
    assert [row["f1"] for row in board] == [got["f1"]] * 2
    kinds = answer_here("diagnose", *given, "--out", tmp_path / "out")
    assert (kinds["similarity"], kinds["threshold"]) == (similarity, 0.5)
    counts = {row["kind"]: (row["n_misses"], row["n_false_alarms"]) for row in kinds["kinds"]}
    assert (counts["duplicate"], counts["all"]) == ((0, 1), (2, 2))
    if similarity == "iou":
        assert (counts["mislocated"], counts["lost"]) == ((1, 1), (1, 0))
        assert answer_here("score", *given, "--threshold", 0.3)["tp"] == 2
    assert pd.read_parquet(tmp_path / "out" / "matches.parquet").attrs["truth"] == "truth.json"
    heading, _, titles, *_ = run_here("diagnose", *given).out.splitlines()
    assert heading.endswith(f", similarity {similarity}, threshold 0.5")
    assert "mse" not in titles


def test_cocos_files_read_as_others(coco: list[Path], files: list[Path]) -> None:
    both = [f"{path}: is a COCO file" for path in coco]
    for command in ("diagnose", "sweep"):
        said = refused_here(command, *coco)
        assert_places(said, *((start, "on the command line", "--similarity iou") for start in both))
    assert_places(refused_here("diagnose", coco[0], files[1], "--similarity", "iou"), (both[0], "both files as JSON"))
    said = refused_here("diagnose", *coco[::-1], "--similarity", "iou")
    assert_places(said, (f"{coco[1]}", "is a list", "the other way round"))


@pytest.mark.parametrize("command", ["sweep", "diagnose"])
def test_nothing_to_evaluate(command: str, tmp_path: Path) -> None:
    """Without truths, without predictions, and without either: null in JSON, and no nan in words."""
    full, empty = tmp_path / "full.csv", tmp_path / "empty.csv"
    objects(TRUTH[:1], score=[0.5]).to_csv(full, index=False)
    empty.write_text("sequence,frame,object,x,y,score\n")
    for given in ([full, empty], [empty, full], [empty, empty], [full, full]):
        answer_here(command, *given)
        done = run_here(command, *given)
        said = ["no truth at all"] if given == [empty, full] else []
        said += ["only one sequence"] if command == "sweep" and full == given[1] else []
        assert done.status == 0
        assert all(text in line for text, line in zip(said, done.err.splitlines(), strict=True)), done.err
        assert "nan" not in done.out.lower()
        assert "Empty" not in done.out
    assert answer_here("sweep", empty, empty)["best"][0]["f1"] is None
    assert answer_here("diagnose", empty, empty)["kinds"][-1]["f1"] is None


KEPT = {
    "sweep": ["curve", "best"],
    "diagnose": ["matches", "error_costs"],
    "compare": ["leaderboard", "pairs", "single"],
}


@pytest.mark.parametrize("command", KEPT)
def test_out_keeps_the_tables_and_the_json(command: str, files: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    others = files[1:] if command == "compare" else []
    done = run_here(command, *files, *others, "--tau", 12, "--json", "--out", out)
    assert (done.status, complaints(done.err)) == (0, [])
    expected = {f"{command}.json", MANIFEST, *(f"{name}.parquet" for name in KEPT[command])}
    assert {path.name for path in out.iterdir()} == expected
    assert (out / f"{command}.json").read_text() == done.out
    assert run_here(command, *files, *others, "--tau", 12, "--json").out == done.out
    roles = ["truth", *(["submission found", "submission found (2)"] if others else ["submission"])]
    for name in KEPT[command]:
        metadata = pq.read_schema(out / f"{name}.parquet").metadata
        assert (metadata[b"epsilon"], metadata[b"version"]) == (b"3.0", sf.__version__.encode())
        for role, path in zip(roles, [*files, *others], strict=True):
            assert metadata[role.encode()] == path.name.encode()
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            assert metadata[f"{role}_sha256".encode()] == digest.encode()


def test_submissions_whose_names_are_no_text(files: list[Path], tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"\xff.csv")
    odd.write_bytes(files[1].read_bytes())
    done = run_here("compare", *files, odd, "--json", "--out", tmp_path / "out")
    assert (done.status, complaints(done.err)) == (0, [])
    assert {row["name"] for row in json.loads(done.out)["leaderboard"]} == {"found", r"\xff"}
    assert rb"submission \xff_sha256" in pq.read_schema(tmp_path / "out" / "pairs.parquet").metadata


def test_kept_tables_are_those_of_python(files: list[Path], tmp_path: Path) -> None:
    truth, found = (sf.read_objects(path) for path in files)
    swept = sf.sweep(truth, found)
    diagnosed = sf.diagnose(sf.match(truth, found))
    expected = {**swept._asdict(), "matches": diagnosed, "error_costs": sf.error_costs(diagnosed)}
    for command in ("sweep", "diagnose"):
        assert run_here(command, *files, "--out", tmp_path / command).status == 0
        for name in KEPT[command]:
            kept = with_text(pd.read_parquet(tmp_path / command / f"{name}.parquet"))
            pd.testing.assert_frame_equal(kept, expected[name], check_dtype=name != "matches")


def test_poses_are_kept(poses: Path, tmp_path: Path) -> None:
    done = run_here("pose", poses / "truth", poses / "tracker", "--json", "--out", tmp_path)
    assert (done.status, done.err) == (0, "")
    assert (tmp_path / "pose.json").read_text() == done.out
    result = sf.pose(*sf.read_posetrack(poses / "truth", poses / "tracker"))
    for name, table in result._asdict().items():
        pd.testing.assert_frame_equal(with_text(pd.read_parquet(tmp_path / f"{name}.parquet")), table)
        metadata = pq.read_schema(tmp_path / f"{name}.parquet").metadata
        assert metadata[b"predictions"] == b"tracker"
        assert len(metadata[b"truth_sha256"]) == len(metadata[b"predictions_sha256"]) == 64
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f"{name}.parquet" for name in result._fields),
        "pose.json",
        MANIFEST,
    }
    assert isinstance(sf.load(tmp_path), sf.PoseResult)


@pytest.mark.parametrize("command", KEPT)
def test_out_that_cannot_be_written_to(command: str, files: list[Path], tmp_path: Path) -> None:
    given = [*files, *(files[1:] if command == "compare" else [])]
    (tmp_path / "file").write_text("in the way")
    said = refused_here(command, *given, "--out", tmp_path / "file")
    assert_places(said, (f"{tmp_path / 'file'}: cannot be written", "not a folder"))
    # The file of an earlier result would be replaced.
    there = tmp_path / "earlier" / "table.parquet"
    sf.save(pd.read_csv(files[1]), there.parent)
    given[-1] = there
    assert_places(refused_here(command, *given, "--out", there.parent), (f"{there.parent}", f"{there}, an input"))
    assert "score" in pd.read_parquet(there)
    # A folder stands where the JSON should go: no table is there either.
    given[-1] = files[1]
    (tmp_path / "out" / f"{command}.json").mkdir(parents=True)
    said = refused_here(command, *given, "--out", tmp_path / "out")
    assert_places(complaints(said), f"{tmp_path / 'out' / command}.json: cannot be written")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [f"{command}.json"]


@pytest.mark.parametrize("command", ["sweep", "diagnose"])
def test_bad_files_leave_nothing_behind(command: str, files: list[Path], tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    table = pd.read_csv(files[1])
    cases: list[tuple[pd.DataFrame, Place]] = [
        (table.drop(columns="x"), (f"{bad}: column x", "missing")),
        (table.assign(x=float("inf")), (f"{bad}: column x", "5 rows")),
        (table.assign(sequence=[1, 2, 3, 4, 5]), (f"{bad}: column sequence", "int64")),
        (table.assign(frame=1.5), f"{bad}: column frame"),
    ]
    for wrong, place in cases:
        wrong.to_csv(bad, index=False)
        assert_places(refused_here(command, files[0], bad, "--out", tmp_path / "out"), place)
    assert_places(refused_here(command, files[0], tmp_path / "none.csv"), f"{tmp_path / 'none.csv'}")
    assert not (tmp_path / "out").exists()


def test_scores_are_needed(files: list[Path]) -> None:
    assert_places(refused_here("sweep", files[1], files[0]), (f"{files[0]}: column score", "missing"))
    table = pd.read_csv(files[1])
    table.assign(score=[None, *SCORES[1:]]).to_csv(files[1], index=False)
    assert_places(refused_here("sweep", *files), (f"{files[1]}: column score", "sequence a, frame 1, object 0"))


@pytest.mark.parametrize("command", ["score", "compare", "check", "sweep", "diagnose", "report"])
@pytest.mark.parametrize(
    ("options", "place"),
    [
        (["--tau", "-1"], "tau is -1"),
        (["--tau", "3", "--epsilon", "3"], ("tau", "epsilon 3")),
        (["--similarity", "giou"], ("similarity is 'giou'", "'iou'")),
        (["--similarity", "iou", "--tau", "3"], ("tau", "similarity='iou'")),
        (["--similarity", "oks", "--epsilon", "3"], ("epsilon", "similarity='oks'")),
        (["--threshold", "2"], "threshold is 2.0"),
        (["--threshold", "0.5", "--tau", "9"], "threshold belongs to a similarity"),
        (["--threshold", "half"], ("argument --threshold", "'half'")),
    ],
)
def test_rules_that_cannot_be(command: str, options: list[str], place: Place, files: list[Path]) -> None:
    given = [*files, *(files[1:] if command == "compare" else [])]
    out = ["--out", "r.html"] if command == "report" else []
    said = refused_here(command, *given, *out, *options, status=2)[-1]
    assert_places([said.removeprefix("Error: ")], place)


@pytest.mark.parametrize("command", ["sweep", "diagnose"])
def test_wrong_usage(command: str, files: list[Path]) -> None:
    cases: list[tuple[list[Any], Place]] = [
        ([], ("the following arguments are required", "TRUTH, SUBMISSION")),
        ([*files, files[1]], ("unrecognized", f"{files[1]}")),
        ([*files, "--by", "frame"], ("No such option", "'--by'")),
        ([*files, "--out"], "option --out"),
    ]
    for arguments, place in cases:
        said = refused_here(command, *arguments, status=2)[-1]
        assert_places([said.removeprefix("Error: ")], place)


def test_whole_processes(files: list[Path], tmp_path: Path) -> None:
    done = run_process("sweep", *files, "--json", "--out", tmp_path / "out")
    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out) == answer_here("sweep", *files)
    done = run_process("diagnose", files[0], tmp_path / "none.csv")
    assert (done.status, done.out, len(done.err.splitlines())) == (1, "", 1)
    done = run_process("diagnose", *files, "--tau", "x")
    assert (done.status, done.out) == (2, "")


@pytest.mark.parametrize("command", ["sweep", "diagnose"])
def test_only_what_is_needed_is_loaded(command: str, files: list[Path]) -> None:
    code = "import sys; from spotgeo_frames.cli.app import run; run(sys.argv[1:]); print(*sys.modules)"
    arguments = [sys.executable, "-c", code, command, *map(str, files), "--json"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert loaded & {"matplotlib", "altair", "jinja2", "loky", "scipy.optimize"} == set()
    rooms = {name.split(".")[1] for name in loaded if name.startswith("spotgeo_frames.") and name.count(".") > 1}
    assert rooms & {"presentation", "scale"} == set()
