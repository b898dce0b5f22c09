"""The command `ap`."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spotgeo_frames as sf
from helpers import coco_scenes
from helpers.commands import answer_here, refused_here, run_here
from helpers.problems import assert_places
from helpers.scenes import squares

pytestmark = pytest.mark.filterwarnings("ignore:average_precision")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Truth and results of boxes, then of poses."""
    folder = tmp_path_factory.mktemp("coco")
    made = {"boxes": coco_scenes.boxes(1, 4), "poses": coco_scenes.poses(1, 1)}
    paths = []
    for name, sides in made.items():
        for side, content in zip(("truth", "results"), sides, strict=True):
            paths.append(folder / f"{name}_{side}.json")
            paths[-1].write_text(json.dumps(content))
    return paths


def official(files: list[Path], kind: str) -> np.ndarray:
    return coco_scenes.official(*(json.loads(path.read_text()) for path in files), kind).stats


def lines_of_precision(*arguments: object) -> list[str]:
    """The lines that `ap` prints below the heading and its first three numbers with their intervals."""
    heading, first, rest = run_here("ap", *arguments).out.split("\n\n")
    truth, results, *_ = arguments
    assert heading.startswith(f"{results} against {truth}, protocol coco, mean over similarity 0.50 to 0.95; at most ")
    assert [line.split()[0] for line in first.splitlines()][:3] == ["AP", "AP50", "AP75"]
    return rest.splitlines()


def test_the_lines_are_those_of_pycocotools(files: list[Path]) -> None:
    for kind, pair, options in (("bbox", files[:2], []), ("keypoints", files[2:], ["--keypoints"])):
        *printed, said = lines_of_precision(*pair, *options)
        assert said == f"COCO {kind} AP as pycocotools 2.0.11 computes it, bit for bit"
        values = [line.rpartition("= ")[2] for line in printed]
        assert values == ["-" if value == -1 else f"{value:.3f}" for value in official(pair, kind)[3:]]
    assert printed[0] == f" Average Precision  (AP) @[ IoU=0.50:0.95 | area=medium | maxDets= 20 ] = {values[0]}"


def test_json_has_the_numbers_in_their_order_and_the_categories(files: list[Path], tmp_path: Path) -> None:
    got = json.loads(run_here("ap", *files[:2], "--json", "--out", tmp_path / "out").out)
    numbers = ["AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl"]
    assert [*got] == [*numbers, "categories", "protocol", "provenance"]
    wanted = official(files[:2], "bbox")
    assert [got[name] for name in numbers] == pytest.approx([None if v == -1 else v for v in wanted])
    result = sf.average_precision(*sf.read_coco(*files[:2], boxes=True))
    assert [*got["categories"]] == result.categories["category"].tolist()
    row = got["categories"]["class 1"]
    assert row == result.categories.set_index("category").loc["class 1", ["AP", "AP50", "AP75"]].to_dict()
    assert json.loads((tmp_path / "out" / "ap.json").read_text()) == got
    kept = sf.load(tmp_path / "out")
    assert kept.summary.equals(result.summary)
    assert sorted(kept.matches["threshold"].unique()) == [0.5, 0.75]


def test_what_is_left_out_is_told_and_max_detections_takes_it(tmp_path: Path) -> None:
    """150 flawless boxes of one image: AP at 100 of them, and at all."""
    truth = squares(*((20 * k, "cat", 0.9) for k in range(150)))
    truth.to_parquet(tmp_path / "both.parquet")
    files = [tmp_path / "both.parquet"] * 2
    done = run_here("ap", *files, "--json")
    assert done.status == 0
    assert_places(
        done.err.splitlines(),
        ("warning: average_precision", "50 detections in 1 frame are left out", "beyond the 100", "--max-detections"),
    )
    assert json.loads(done.out)["AR100"] == pytest.approx(2 / 3)
    every = run_here("ap", *files, "--json", "--max-detections", "150")
    assert every.err == ""
    numbers = json.loads(every.out)
    assert [numbers[name] for name in ("AP", "AR100", "AR150")] == pytest.approx([1.0, 2 / 3, 1.0])
    *printed, said = lines_of_precision(*files, "--max-detections", "150")
    assert said.startswith("COCO's rule with max_detections=150; ")
    assert [line.split("maxDets=")[1][:3] for line in printed] == ["150"] * 3 + ["  1", " 10", "100"] + ["150"] * 4
    for wrong in ("0", "-5", "1.5", "many"):
        done = run_here("ap", *files, "--max-detections", wrong)
        assert done.status == 2
        assert "--max-detections" in done.err


def test_what_was_kept_has_the_numbers_that_were_printed(files: list[Path], tmp_path: Path) -> None:
    """Matches are kept at two thresholds, and AP is the mean over ten all the same."""
    printed = json.loads(run_here("ap", *files[:2], "--out", tmp_path / "kept", "--max-detections", "7", "--json").out)
    kept = sf.load(tmp_path / "kept")
    assert kept.matches["threshold"].unique().tolist() == [0.5, 0.75]
    for again in (kept.summary, sf.summarize(kept)):
        assert again["AP"][0] == pytest.approx(printed["AP"])
        assert again.attrs["max_detections"] == 7
    assert sf.intervals(kept, metrics=["AP75", "AR7"])["estimate"][:2].tolist() == pytest.approx(
        [printed["AP75"], printed["AR7"]]
    )


def test_tables_are_taken_as_well(files: list[Path], tmp_path: Path) -> None:
    truth, found = sf.read_coco(*files[:2], boxes=True)
    for name, side in (("truth", truth), ("found", found)):
        side.objects.to_parquet(tmp_path / f"{name}.parquet")
    tables = run_here("ap", tmp_path / "truth.parquet", tmp_path / "found.parquet", "--json")
    assert json.loads(tables.out) == json.loads(run_here("ap", *files[:2], "--json").out)


def test_tables_without_categories_have_none_in_json(tmp_path: Path) -> None:
    box = squares((10, "cat", 0.9)).drop(columns="category")
    box.to_parquet(tmp_path / "both.parquet")
    assert answer_here("ap", *[tmp_path / "both.parquet"] * 2)["categories"] == {}


def test_what_cannot_be_read_is_named(files: list[Path], tmp_path: Path) -> None:
    truth, results = files[:2]
    said = refused_here("ap", results, truth)
    assert len(said) == 1
    assert "the other way round" in said[0]
    document = json.loads(truth.read_text())
    unknown = tmp_path / "unknown.json"
    unknown.write_text(json.dumps([{"image_id": 99, "category_id": 77, "bbox": [0, 0, 1, 1], "score": 1}]))
    places = (f"{unknown}: [0].image_id", "99"), (f"{unknown}: [0].category_id", "77")
    assert_places(refused_here("ap", truth, unknown), *places)
    unscored = tmp_path / "unscored.json"
    image, category = document["images"][0]["id"], document["categories"][0]["id"]
    unscored.write_text(json.dumps([{"image_id": image, "category_id": category, "bbox": [0, 0, 1, 1]}]))
    assert_places(refused_here("ap", truth, unscored), (f"{unscored}: [0]", "score"))
    assert_places(refused_here("ap", truth, unscored, "--out", truth.parent / "boxes_truth.json"), f"{truth}")


def test_as_a_process(files: list[Path]) -> None:
    words = [sys.executable, "-m", "spotgeo_frames", "ap", *map(str, files[2:]), "--keypoints", "--json"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert [*json.loads(done.stdout)] == [
        *["AP", "AP50", "AP75", "APm", "APl", "AR", "AR50", "AR75", "ARm", "ARl"],
        *["categories", "protocol", "provenance"],
    ]
    assert answer_here("ap", *files[2:], "--keypoints") == json.loads(done.stdout)


def test_protocols_thresholds_tau_and_slices(tmp_path: Path) -> None:
    truth = squares((0, "cat"), (100, "dog"), (200, "cat"))
    found = squares((1, "cat", 0.9), (102, "dog", 0.8), (300, "cat", 0.7))
    files = [tmp_path / "truth.parquet", tmp_path / "found.parquet"]
    for path, table in zip(files, (truth, found), strict=True):
        table.to_parquet(path)
    got = answer_here("ap", *files, "--protocol", "voc2010", "--by", "category")
    assert [*got] == ["AP", "categories", "protocol", "provenance", "by"]
    assert got["categories"] == {"cat": {"AP": 0.5}, "dog": {"AP": 1.0}}
    assert [(row["category"], row["AP"]) for row in got["by"]["category"]] == [("cat", 0.5), ("dog", 1.0)]
    assert answer_here("ap", *files, "--thresholds", "dog=0.9,0.5")["categories"]["dog"]["AP"] == 0.0
    near = answer_here("ap", *files, "--tau", "1.5,3")
    assert near["categories"]["dog"]["AP"] == pytest.approx(0.5)
    assert near["sensitivity_8"] == near["CPM"] == pytest.approx(0.5)
    frames = truth[["sequence", "frame"]].drop_duplicates().assign(negative_categories=[[]])
    frames.assign(not_exhaustive_categories=[["cat"]]).to_parquet(tmp_path / "frames.parquet")
    (tmp_path / "classes.csv").write_text("category,frequency\ncat,r\ndog,f\n")
    tables = ["--frames", tmp_path / "frames.parquet", "--categories", tmp_path / "classes.csv"]
    lvis = answer_here("ap", *files, "--protocol", "lvis", *tables)
    assert lvis["APf"] == pytest.approx(answer_here("ap", *files)["categories"]["dog"]["AP"])
    assert lvis["APc"] is None
    said = run_here("ap", *files, "--protocol", "voc2010", "--by", "category").out
    assert "category" in said
    assert "Pascal VOC's AP since 2010" in said
    assert_places(
        refused_here("ap", *files, "--protocol", "open_images"),
        (f"{files[0]}: protocol open_images", "negative_categories"),
    )
    for wrong in (["--protocol", "voc"], ["--tau", "-1"], ["--thresholds", "2"], ["--tau", "3", "--thresholds", "0.5"]):
        assert refused_here("ap", *files, *wrong, status=2)


def test_several_distances_are_of_average_precision(tmp_path: Path) -> None:
    """gate and compare take them as ap does; other metrics are within one distance."""
    truth = squares((0, "cat"), (100, "cat"))
    found = squares((1, "cat", 0.9), (102, "cat", 0.8))
    files = [tmp_path / "truth.parquet", tmp_path / "found.parquet"]
    for path, table in zip(files, (truth, found), strict=True):
        table.to_parquet(path)
    expected = answer_here("ap", *files, "--tau", "1.5,3")["AP"]
    assert 0 < expected < answer_here("ap", *files, "--tau", "3")["AP"]
    [check] = answer_here("gate", *files, "--tau", "1.5,3", "--min", "AP=0.1")["checks"]
    assert check["estimate"] == expected
    words = [files[0], f"a={files[1]}", f"b={files[1]}", "--metrics", "AP", "--tau", "1.5,3", "--quiet"]
    assert {row["AP"] for row in answer_here("compare", *words)["leaderboard"]} == {expected}
    for words, metric in (
        (["gate", *files, "--min", "f1=0.1"], "f1"),
        (["gate", *files, "--min", "f1=0.1", "--min", "AP=0.1"], "f1"),
        (["compare", files[0], files[1], files[1]], "other metrics"),
    ):
        said = refused_here(*words, "--tau", "1.5,3", status=2)[-1]
        assert_places([said], ("Error: --tau", metric, "average precision"))
    assert answer_here("gate", *files, "--tau", "1.5", "--min", "f1=0.1")["checks"][0]["estimate"] == 0.5


def test_options_of_other_commands_have_others_in_their_place(files: list[Path]) -> None:
    for option, value, instead in (
        ("--threshold", "0.5", "--thresholds 0.5"),
        ("--assignment", "score", "--protocol"),
        ("--similarity", "oks", "--keypoints"),
        ("--epsilon", "0", "--tau"),
        ("--tracks", None, "to track"),
    ):
        said = refused_here("ap", *files[:2], option, *([value] if value else []), status=2)[-1]
        assert_places([said], (f"Error: No such option '{option}'", instead))


def test_a_protocol_is_of_average_precision(files: list[Path]) -> None:
    """compare takes its AP by itself, and with other metrics it is refused."""
    voc = [*files[:2], "--protocol", "voc2007"]
    compared = answer_here("compare", files[0], f"a={files[1]}", f"b={files[1]}", "--protocol", "voc2007")
    alone = answer_here("ap", *voc)["AP"]
    assert [row["AP"] for row in compared["leaderboard"]] == pytest.approx([alone, alone])
    assert answer_here("gate", *voc, "--min", "AP=0")["checks"][0]["estimate"] == pytest.approx(alone)
    for wrong in (
        ["gate", *voc, "--min", "f1=0.1"],
        ["compare", files[0], f"a={files[1]}", f"b={files[1]}", "--protocol", "voc2007", "--metrics", "f1"],
    ):
        done = run_here(*wrong)
        assert done.status == 2
        assert "--protocol applies to average precision only, and f1 is not part of it" in done.err
