"""--columns and --box-format: tables in other words on the command line."""

import json
from pathlib import Path

import pandas as pd
import pytest

from helpers.commands import run_here, run_process
from helpers.reference import PROJECT

BOXES = pd.DataFrame(
    {
        "video": "a",
        "image_id": [1, 1, 2],
        "xmin": [10.0, 90, 12],
        "ymin": [20.0, 5, 20],
        "xmax": [40.0, 99, 41],
        "ymax": [60.0, 9, 61],
        "label": ["car", "bus", "car"],
        "what": [1, 2, 3],
    }
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "truth.csv", tmp_path / "found.parquet"
    BOXES.to_csv(paths[0], index=False)
    BOXES.assign(confidence=0.5).to_parquet(paths[1])
    return paths


@pytest.mark.parametrize(
    "words",
    [
        ["--columns", "frame=image_id"],
        ["--columns", "frame=image_id,x=xmin,y=ymin,w=xmax,h=ymax", "--box-format", "xyxy"],
        ["--columns", "score=confidence,category=label"],
        ["--box-format", "xyxy"],
    ],
)
def test_boxes_in_other_words(words: list[str], files: tuple[Path, Path]) -> None:
    done = run_here("score", *files, *words, "--json")
    answer = json.loads(done.out)
    assert (answer["tp"], answer["fn"], answer["fp"], answer["similarity"]) == (3, 0, 0, "iou")
    assert "tidy took sequence from video" in done.err


def test_average_precision_of_tables_in_other_words(files: tuple[Path, Path]) -> None:
    done = run_here("ap", *files, "--columns", "frame=image_id", "--json")
    assert json.loads(done.out)["AP"] == 1.0
    done = run_here("ap", *files, "--columns", "frame=imageid")
    assert (done.status, "truth.csv: column imageid is missing" in done.err) == (1, True)
    done = run_process(
        "ap",
        *(PROJECT / "data" / "coco" / name for name in ("annotations.json", "precise.json")),
        "--columns",
        "frame=a",
    )
    assert (done.status, "--columns: is for tables (Parquet, CSV or Arrow)" in done.err) == (2, True)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_boxes_in_lists(ending: str, tmp_path: Path) -> None:
    size = BOXES[["xmax", "ymax"]].to_numpy() - BOXES[["xmin", "ymin"]].to_numpy()
    boxes = [
        [*corner, *of] for corner, of in zip(BOXES[["xmin", "ymin"]].to_numpy().tolist(), size.tolist(), strict=True)
    ]
    table, path = BOXES[["video", "image_id", "label"]].assign(bbox=boxes), tmp_path / f"truth.{ending}"
    table.to_csv(path, index=False) if ending == "csv" else table.to_parquet(path)
    BOXES.to_csv(tmp_path / "found.csv", index=False)
    for words in (["--box-format", "xywh"], ["--columns", "box=bbox", "--box-format", "xywh"]):
        done = run_here("score", path, path, *words, "--json")
        assert json.loads(done.out)["tp"] == 3, done.err


def test_a_format_is_not_that_of_boxes_under_their_own_names(files: tuple[Path, Path]) -> None:
    size = BOXES[["xmax", "ymax"]].to_numpy() - BOXES[["xmin", "ymin"]].to_numpy()
    own = BOXES.rename(columns={"xmin": "x", "ymin": "y"}).drop(columns=["xmax", "ymax"])
    own.assign(w=size[:, 0], h=size[:, 1]).to_csv(files[0], index=False)
    done = run_here("score", *files, "--box-format", "xyxy", "--json")
    assert json.loads(done.out)["tp"] == 3


def test_classes_that_one_side_lacks(files: tuple[Path, Path]) -> None:
    BOXES.drop(columns="label").to_parquet(files[1])
    done = run_here("score", *files, "--columns", "category=label", "--json")
    assert json.loads(done.out)["tp"] == 3
    assert "categories are not compared, since only the truth has a column category" in done.err
    done = run_here("score", *files[::-1], "--columns", "category=label", "--json")
    assert done.status == 1
    assert "found.parquet: column label is missing" in done.err
    assert "leave category out of --columns" in done.err


def test_tracks_in_other_words(files: tuple[Path, Path]) -> None:
    done = run_here("track", *files, "--columns", "object=what", "--json")
    assert json.loads(done.out)["combined"]["HOTA"] == 1.0


def test_only_the_predictions_may_be_in_other_words(files: tuple[Path, Path]) -> None:
    size = BOXES[["xmax", "ymax"]].to_numpy() - BOXES[["xmin", "ymin"]].to_numpy()
    names = {"video": "sequence", "image_id": "frame", "xmin": "x", "ymin": "y", "label": "category"}
    own = BOXES.rename(columns=names).drop(columns=["xmax", "ymax", "what"])
    own.assign(w=size[:, 0], h=size[:, 1]).to_csv(files[0], index=False)
    words = "frame=image_id,x=xmin,y=ymin,w=xmax,h=ymax,category=label,score=confidence,object=what"
    done = run_here("score", *files, "--columns", words, "--box-format", "xyxy", "--json")
    assert done.status == 1
    assert "truth.csv: column what is missing" in done.err
    done = run_here("score", *files, "--columns", words.removesuffix(",object=what"), "--box-format", "xyxy", "--json")
    answer = json.loads(done.out)
    assert (answer["tp"], answer["fn"], answer["fp"], answer["similarity"]) == (3, 0, 0, "iou")
    assert "truth.csv: has no image_id, so frame stays as it is" in done.err
    assert "truth.csv: has no xmin, ymin, xmax, ymax, so x, y, w, h stay as they are" in done.err


def test_predictions_need_no_names_of_objects(files: tuple[Path, Path]) -> None:
    BOXES.drop(columns="what").to_parquet(files[1])
    done = run_here("score", *files, "--columns", "object=what", "--json")
    assert json.loads(done.out)["tp"] == 3


FRAMES = pd.DataFrame(
    {"video": "a", "image_id": [1, 2, 3], "label": ["wet", "dry", "dry"], "x": 5, "y": 6, "width": 640, "height": 480}
)


@pytest.mark.parametrize(
    ("frames", "words"),
    [
        (FRAMES, "frame=image_id"),
        (FRAMES, "sequence=video,frame=image_id,category=label"),
        (FRAMES, "score=confidence"),  # the usual names are found
        (FRAMES.rename(columns={"video": "sequence", "image_id": "frame"}), "sequence=video,frame=image_id"),
    ],
)
def test_frames_in_other_words(frames: pd.DataFrame, words: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    """Only their sequence and frame are renamed: what else a frame has is its own."""
    path = tmp_path / "frames.csv"
    frames.to_csv(path, index=False)
    done = run_process("score", *files, "--frames", path, "--columns", words, "--by", "frame_label", "--json")
    assert done.status == 0, done.err
    answer = json.loads(done.out)
    assert (answer["tp"], answer["n_frames"]) == (3, 3)
    assert [(row["value"], row["n_frames"]) for row in answer["by"]["frame_label"]] == [("dry", 2), ("wet", 1)]


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        (FRAMES.rename(columns={"image_id": "number"}), "frames.csv: column image_id is missing"),
        (FRAMES.assign(video_id="b"), "columns video and video_id may both be sequence"),
        (FRAMES.assign(frame=7), "frames.csv: column image_id is to be frame, and there is a column frame already"),
    ],
)
def test_frames_that_cannot_be_told(frames: pd.DataFrame, said: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    frames.to_csv(tmp_path / "frames.csv", index=False)
    done = run_here("score", *files, "--frames", tmp_path / "frames.csv", "--columns", "frame=image_id", "--json")
    assert done.status == 1
    assert said in done.err


def test_files_that_are_no_tables_keep_their_names(tmp_path: Path) -> None:
    truth = PROJECT / "data" / "sample" / "truth.json"
    found = pd.read_parquet(PROJECT / "data" / "sample" / "eager.parquet").rename(columns={"frame": "image_id"})
    found.to_parquet(tmp_path / "found.parquet")
    done = run_process("score", truth, tmp_path / "found.parquet", "--columns", "frame=image_id", "--json")
    assert done.status == 0
    assert "truth.json: is no table, so --columns plays no part in it" in done.err
    expected = run_here("score", truth, PROJECT / "data" / "sample" / "eager.json", "--json")
    assert json.loads(done.out) == json.loads(expected.out)


@pytest.mark.parametrize(
    ("folder", "names", "words"),
    [
        ("sample", ["truth.json", "eager.json"], ["--columns", "frame=image_id"]),
        ("sample", ["truth.json", "eager.json"], ["--columns", "box=bbox", "--box-format", "xyxy"]),
        ("coco", ["annotations.json", "precise.json"], ["--similarity", "iou", "--columns", "frame=image_id"]),
    ],
)
def test_words_that_no_file_can_take_are_wrong_usage(folder: str, names: list[str], words: list[str]) -> None:
    done = run_process("score", *(PROJECT / "data" / folder / name for name in names), *words)
    assert done.status == 2
    assert (
        f"--columns: is for tables (Parquet, CSV or Arrow), and {PROJECT / 'data' / folder / names[0]} is none"
        in done.err
    )
    done = run_here("compare", *(PROJECT / "data" / folder / name for name in [*names, names[1]]), *words)
    assert done.status == 2


def test_without_the_option_the_columns_are_refused(files: tuple[Path, Path]) -> None:
    done = run_here("score", *files)
    assert done.status == 1
    assert "column sequence is missing" in done.err
    assert "column object is missing" not in done.err
    assert "hint: --columns, such as --columns frame=image_id" in done.err


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--columns", "frame=imageid"], 1, "did you mean image_id"),
        (["--columns", "category=labell"], 1, "truth.csv: column labell is missing"),
        (["--columns", "score=confidense"], 1, "found.parquet: column confidense is missing"),
        (["--columns", "crowd=what_crowd"], 1, "truth.csv: column what_crowd is missing"),
        (["--columns", "colour=label"], 2, "'colour=label' is no COLUMN=NAME"),
        (["--columns", "frame"], 2, "'frame' is no COLUMN=NAME"),
        (["--columns", "frame=image_id,frame=what"], 2, "frame is given twice"),
        (["--columns", "x=xmin", "--box-format", "xyxy"], 2, "needs y, w, h in --columns"),
        (["--columns", "x=xmin,y=ymin,w=xmax,h=ymax", "--box-format", "corners"], 2, "needs box=, a column of lists"),
        (["--columns", "box=xmin", "--box-format", "ltrb"], 2, "'ltrb' is none of"),
        (["--columns", "frame=image_id", "--dataset"], 2, "is read in parts"),
    ],
)
def test_what_is_wrong(words: list[str], status: int, said: str, files: tuple[Path, Path]) -> None:
    done = run_here("score", *files, *words)
    assert done.status == status
    assert said in done.err


def test_folders_have_no_columns(tracks: Path) -> None:
    done = run_here("track", tracks / "truth", tracks / "tracker", "--columns", "frame=image_id")
    assert done.status == 2
    assert "is a folder of files" in done.err
