"""MOTChallenge folders: read, preprocessed, written, and refused with file and line."""

import contextlib
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import trackeval

import spotgeo_frames as sf
from helpers import official
from helpers.problems import Place, refused, warned
from helpers.reference import PROJECT
from spotgeo_frames.formats import motchallenge, motchallenge_lines
from spotgeo_frames.formats.benchmarks import BENCHMARKS
from spotgeo_frames.formats.motchallenge_lines import CLASSES
from spotgeo_frames.support import reading

TRUTH = "1,1,10,10,20,40,1,1,0.5\n2,1,12,10,20,40,1,1,1\n"
CLAIM = "1,7,10,10,20,40,0.9,-1,-1,-1\n2,7,12,10,20,40,0.8,-1,-1,-1\n"


def folders(
    tmp_path: Path, truth: str | bytes = TRUTH, claims: str | bytes = CLAIM, length: int | None = 2
) -> list[Path]:
    """A folder of truth and one of a tracker, of one sequence called A."""
    nested = tmp_path / "truth" / "A"
    (nested / "gt").mkdir(parents=True)
    (tmp_path / "tracker").mkdir()
    for path, text in ((nested / "gt" / "gt.txt", truth), (tmp_path / "tracker" / "A.txt", claims)):
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    if length is not None:
        (nested / "seqinfo.ini").write_text(f"[Sequence]\nname=A\nseqLength={length}\n")
    return [tmp_path / "truth", tmp_path / "tracker"]


def assert_refused(truth: Path, tracker: Path, *places: Place) -> None:
    """The two folders cannot be read, and these places say why."""
    with refused(*places):
        sf.read_motchallenge(truth, tracker)


def test_what_is_read(tmp_path: Path) -> None:
    truth, predictions = sf.read_motchallenge(*folders(tmp_path, length=3))
    assert truth.objects.to_dict("list") == {
        **{"sequence": ["A", "A"], "frame": [1, 2], "object": [1, 1], "x": [10, 12], "y": [10, 10]},
        **{"w": [20, 20], "h": [40, 40], "visibility": [0.5, 1]},
    }
    assert [str(kind) for kind in truth.objects.dtypes] == ["str", "int64", "int64", *["float64"] * 5]
    assert truth.frames.to_dict("list") == {"sequence": ["A"] * 3, "frame": [1, 2, 3]}
    assert list(predictions.objects) == ["sequence", "frame", "object", "x", "y", "w", "h", "score"]
    assert predictions.frames is None


def test_all_rows_where_nothing_is_taken_out(tmp_path: Path) -> None:
    truth = TRUTH + "1,2,50,10,20,40,0,7,0.25\n"
    everything, _ = sf.read_motchallenge(*folders(tmp_path, truth), preprocess=False)
    assert everything.objects["object"].tolist() == [1, 2, 1]
    assert everything.objects["considered"].tolist() == [True, False, True]
    assert everything.objects["class_id"].tolist() == [1, 7, 1]


def test_length_is_that_of_the_last_row_where_nobody_says(tmp_path: Path) -> None:
    truth, _ = sf.read_motchallenge(*folders(tmp_path, claims=CLAIM + "5,7,0,0,5,5,1,-1,-1,-1\n", length=None))
    assert truth.frames["frame"].tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "text",
    [
        TRUTH.replace("\n", "\r\n"),
        "\ufeff" + TRUTH,
        TRUTH.replace("\n", ",\n"),
        TRUTH.replace(",", ", "),
        TRUTH.replace(",", ";"),
        TRUTH.replace(",", "\t"),
        TRUTH.replace(",", " "),
        TRUTH.replace(",", "   "),
        TRUTH.replace("\n", "\n\n"),
        TRUTH.replace("1,1,10", "1.0,1.000e+00,1e1"),
        TRUTH.rstrip(),
        "\n".join(TRUTH.splitlines()[::-1]),
        TRUTH.replace("40,1,1,0.5", "40,1.9,1.9,0.5"),
    ],
)
def test_the_same_in_other_words(tmp_path: Path, text: str) -> None:
    plain, _ = sf.read_motchallenge(*folders(tmp_path / "plain"))
    other, _ = sf.read_motchallenge(*folders(tmp_path / "other", text))
    pd.testing.assert_frame_equal(plain.objects, other.objects)


def test_lines_of_different_length(tmp_path: Path) -> None:
    """The visibility is null where a line has none, and the other lines are checked as ever."""
    truth, _ = sf.read_motchallenge(*folders(tmp_path, TRUTH.replace(",0.5\n", "\n")))
    assert truth.objects["visibility"].isna().tolist() == [True, False]
    claims = "1,7,10,10,20,40,0.9\n2,7,12,10,20,40,0.8,2\n"
    truth_dir, tracker = folders(tmp_path / "b", claims=claims)
    assert_refused(truth_dir, tracker, (f"{tracker / 'A.txt'}, line 2", "class 2"))


@pytest.mark.parametrize("end", [",", ", ", ",,", ",7", ""])
def test_a_comma_after_the_last_field_changes_nothing(tmp_path: Path, end: str) -> None:
    plain = sf.read_motchallenge(*folders(tmp_path / "plain"))
    other = folders(tmp_path / "other", claims=CLAIM.replace("\n", f"{end}\n"))
    if end == ",,":
        # The evaluator, too, passes over one.
        assert_refused(*other, *((f"{other[1] / 'A.txt'}, line {line}: field 11") for line in (1, 2)))
    else:
        pd.testing.assert_frame_equal(sf.read_motchallenge(*other)[1].objects, plain[1].objects)


def test_flat_and_zipped(tmp_path: Path) -> None:
    truth, tracker = folders(tmp_path, length=None)
    nested = sf.read_motchallenge(truth, tracker)
    (tmp_path / "flat").mkdir()
    (tmp_path / "flat" / "A.txt").write_text(TRUTH)
    (tmp_path / "flat" / "readme.md").write_text("not a sequence")
    with zipfile.ZipFile(tmp_path / "tracker.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data/A.txt", CLAIM)
        archive.writestr("__MACOSX/data/._A.txt", b"\0")
    for sides in ((tmp_path / "flat", tmp_path / "tracker.zip"), (tmp_path / "flat", tracker)):
        flat = sf.read_motchallenge(*sides)
        for one, other in zip(nested, flat, strict=True):
            pd.testing.assert_frame_equal(one.objects, other.objects)


@pytest.mark.parametrize(
    ("truth", "claims", "places"),
    [
        (TRUTH + "3,1\n", CLAIM, [("gt.txt, line 3", "2 fields", "frame, object, x, y, w, h, considered, class_id")]),
        (TRUTH, "\n" + CLAIM + "2,8,1,x,3,4,1\n", [("A.txt, line 4: y", "'x'")]),
        (TRUTH, CLAIM + "2,8,1,2,3\n", [("A.txt, line 3", "5 fields", "frame, object, x, y, w, h, score")]),
        (TRUTH.replace("10,20", "nan,20", 1), CLAIM, [("gt.txt, line 1: y", "nan")]),
        (TRUTH, CLAIM.replace("20,40", "inf,40", 1), [("A.txt, line 1: w", "inf")]),
        (TRUTH, CLAIM.replace("2,7", "2.5,7"), [("A.txt, line 2: frame 2.5", "1 to 2", "seqinfo.ini")]),
        (TRUTH, CLAIM.replace("2,7", "3,7"), [("A.txt, line 2: frame 3", "1 to 2", "seqinfo.ini")]),
        (TRUTH.replace("1,1,10", "0,1,10"), CLAIM, [("gt.txt, line 1: frame 0", "1 to 2")]),
        (TRUTH, CLAIM.replace("1,7,", "1,7.5,"), ["A.txt, line 1: identity 7.5"]),
        (TRUTH, CLAIM + "1,7,0,0,1,1,1\n", [(f"A.txt, line {line}: identity 7", "frame 1") for line in (1, 3)]),
        (
            TRUTH + "2,1,0,0,1,1,0,7,1\n",
            CLAIM,
            [(f"gt.txt, line {line}: identity 1", "frame 2") for line in (2, 3)],
        ),
        (TRUTH.replace(",1,1,0.5", ",1,14,0.5"), CLAIM, [("gt.txt, line 1: class 14", "1 to 13")]),
        (TRUTH.replace(",1,1,0.5", ",1,nan,0.5"), CLAIM, [("gt.txt, line 1: class nan", "1 to 13")]),
        (TRUTH, CLAIM.replace("0.9,-1", "0.9,2"), [("A.txt, line 1: class 2", "1")]),
        (
            TRUTH.replace(",1,0.5", "").replace(",1,1\n", ",1\n"),
            CLAIM,
            [("gt.txt, line 1", "7 fields", "frame, object, x, y, w, h, considered, class_id")],
        ),
        (b"\xff\xfe1\x00", CLAIM, ["gt.txt, line 1"]),
        (TRUTH, CLAIM.replace("0.8,-1,-1,-1", "0.8,-1,1<1,-1"), [("A.txt, line 2: field 9", "'1<1'")]),
        (TRUTH, "\n" + CLAIM.replace("0.8,-1,-1,-1", "0.8,-1,-1,x"), [("A.txt, line 3: field 10", "'x'")]),
        (TRUTH, CLAIM.replace("0.8,-1,-1,-1", "0.8,-1,,-1"), [("A.txt, line 2: field 9", "''")]),
        (TRUTH, CLAIM.replace("-1\n", "-1,\n", 1).replace("-1\n", "-1,x\n"), [("A.txt, line 2: field 11", "'x'")]),
        (TRUTH, CLAIM.replace("0.8,-1,-1,-1", "0.8,-1,-1,-1\0"), ["A.txt, line 2"]),
        (TRUTH, CLAIM.replace("0.8", "0.8\0"), ["A.txt, line 2"]),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(
    tmp_path: Path, truth: str | bytes, claims: str, places: list[Place]
) -> None:
    truth_dir, tracker = folders(tmp_path, truth, claims)
    wanted = []
    for place in places:
        start, *named = [place] if isinstance(place, str) else place
        folder = tracker if start.startswith("A.txt") else truth_dir / "A" / "gt"
        wanted.append((f"{folder}/{start}", *named))
    assert_refused(truth_dir, tracker, *wanted)


def test_every_problem_of_every_file_is_listed(tmp_path: Path) -> None:
    truth, tracker = folders(tmp_path, TRUTH + "x\n" + TRUTH + "y\n", CLAIM.replace("20", "nan"))
    annotations, claims = truth / "A" / "gt" / "gt.txt", tracker / "A.txt"
    places = f"{annotations}, line 3", f"{annotations}, line 6", f"{claims}, line 1: w", f"{claims}, line 2: w"
    assert_refused(truth, tracker, *places)


def test_folders_that_do_not_fit(tmp_path: Path) -> None:
    truth, tracker = folders(tmp_path)
    (tracker / "B.txt").write_text(CLAIM)
    (tracker / "A.txt").unlink()
    missing, unknown = (f"{tracker}", "A.txt"), (f"{tracker / 'B.txt'}", "sequence B", f"{truth}")
    assert_refused(truth, tracker, missing, unknown)
    assert_refused(tmp_path / "no", tracker, f"{tmp_path / 'no'}")
    assert_refused(truth, tmp_path / "no", f"{tmp_path / 'no'}")
    (tmp_path / "data").mkdir()
    assert_refused(tmp_path / "data", tracker, (f"{tmp_path / 'data'}", "SEQUENCE/gt/gt.txt", "SEQUENCE.txt"))
    assert_refused(truth, tmp_path / "data", (f"{tmp_path / 'data'}", "SEQUENCE.txt"))
    (truth / "A" / "gt" / "gt.txt").unlink()
    (tracker / "A.txt").write_text(CLAIM)
    (tracker / "B.txt").unlink()
    assert_refused(truth, tracker, f"{truth / 'A' / 'gt' / 'gt.txt'}")


@pytest.mark.parametrize(
    "text",
    ["", "[Sequence]\nname=A\n", "[Sequence]\nseqLength=many\n", "seqLength=3", "[Sequence]\nseqLength=1000000000\n"],
)
def test_a_length_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    truth, tracker = folders(tmp_path)
    (truth / "A" / "seqinfo.ini").write_text(text)
    assert_refused(truth, tracker, (f"{truth / 'A' / 'seqinfo.ini'}", "[Sequence]", "seqLength", "1000000"))


def test_an_empty_file_is_all_misses(tmp_path: Path) -> None:
    summary = sf.track(*sf.read_motchallenge(*folders(tmp_path, claims=""))).summary
    assert summary[["TP", "FN", "FP", "ML"]].iloc[-1].tolist() == [0, 2, 0, 1]
    nothing = sf.track(*sf.read_motchallenge(*folders(tmp_path / "b", truth="", claims=""))).summary
    assert nothing[["TP", "FN", "FP", "n_frames"]].iloc[-1].tolist() == [0, 0, 0, 2]


def test_sides_need_not_have_rows_in_the_same_sequence(tmp_path: Path) -> None:
    truth, tracker = folders(tmp_path, claims="")
    (truth / "B" / "gt").mkdir(parents=True)
    (truth / "B" / "gt" / "gt.txt").write_text("")
    (tracker / "B.txt").write_text(CLAIM)
    summary = sf.track(*sf.read_motchallenge(truth, tracker)).summary
    assert summary[["TP", "FN", "FP"]].to_numpy().tolist() == [[0, 2, 0], [0, 0, 2], [0, 2, 2]]


def test_scores_may_be_missing(tmp_path: Path) -> None:
    sides = sf.read_motchallenge(*folders(tmp_path, claims=CLAIM.replace("0.9", "nan")))
    assert sides[1].objects["score"].isna().tolist() == [True, False]
    matches = sf.track(*sides).matches
    assert matches["predicted_score"].isna().tolist() == [True, False]


def test_boxes_without_area(tmp_path: Path) -> None:
    sides = sf.read_motchallenge(*folders(tmp_path, claims=CLAIM.replace("20,40", "-20,40", 1)))
    with warned(("boxes", "1 of the predictions")):
        assert sf.track(*sides).summary["TP"].iloc[-1] == 1


def test_hostile_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, _ = folders(tmp_path)
    path = tmp_path / "tracker.zip"

    def packed(contents: dict[str, str]) -> Path:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in contents.items():
                archive.writestr(name, content)
        return path

    assert_refused(truth, packed({"../A.txt": CLAIM}), (f"{path}", "outside the archive", "'../A.txt'"))
    assert_refused(truth, packed({"a/A.txt": CLAIM, "b/A.txt": CLAIM}), (f"{path}", "A.txt", "more than once"))
    assert_refused(truth, packed({}), (f"{path}", "no sequences", "SEQUENCE.txt"))
    assert_refused(packed({"A/gt/gt.txt": TRUTH}), truth, (f"{path}", "unpack it", "SEQUENCE.txt"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("A.txt", CLAIM)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("A.txt", "")
    assert_refused(truth, path, (f"{path}", "same name"))
    monkeypatch.setattr(reading, "LARGEST_UNPACKED", 1 << 20)
    assert_refused(truth, packed({"A.txt": CLAIM, "b.txt": " " * (1 << 20)}), (f"{path}", "unpacks", "1 MiB"))
    path.write_bytes(b"no archive")
    assert_refused(truth, path, f"{path}: cannot be read")
    path.rename(tmp_path / "tracker.txt")
    assert_refused(truth, tmp_path / "tracker.txt", (f"{tmp_path / 'tracker.txt'}", "folder", ".zip"))


def test_a_frame_number_cannot_fill_the_memory(tmp_path: Path) -> None:
    truth, tracker = folders(tmp_path, claims=CLAIM.replace("2,7", "2e12,7"), length=None)
    assert_refused(truth, tracker, (f"{tracker / 'A.txt'}, line 2: frame 2000000000000", "1 to 1000000"))


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    truth, tracker = folders(tmp_path)
    for path in (tracker / "A.txt", truth / "A" / "gt" / "gt.txt"):
        path.unlink()
        os.mkfifo(path)
    assert_refused(truth, tracker, f"{truth / 'A' / 'gt' / 'gt.txt'}", f"{tracker / 'A.txt'}")
    os.mkfifo(tmp_path / "f.zip")
    assert_refused(truth, tmp_path / "f.zip", f"{tmp_path / 'f.zip'}")
    long = tmp_path / ("x" * 300)
    assert_refused(long, tracker, f"{long}")


def test_frames_in_all_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(motchallenge, "MOST_FRAMES_IN_ALL", 1)
    assert_refused(*folders(tmp_path), (f"{tmp_path / 'truth'}", "2 frames", "1"))


def test_neighbouring_identities_stay_apart(tmp_path: Path) -> None:
    claims = CLAIM.replace(",7,", ",9007199254740991,", 1)
    _, predictions = sf.read_motchallenge(*folders(tmp_path, claims=claims))
    assert predictions.objects["object"].tolist() == [9007199254740991, 7]
    truth, tracker = folders(tmp_path / "b", claims=claims.replace("991,", "992,"))
    assert_refused(truth, tracker, (f"{tracker / 'A.txt'}, line 1: identity 9.00719925474099e+15", "2**53"))


@pytest.mark.parametrize("field", ["frame", "object"])
@pytest.mark.parametrize("text", ["1e-400", "1.00000000000000000001", "0.99999999999999999999", "0x1"])
@pytest.mark.parametrize("end", ["", ",0,0"], ids=["fast", "slow"])  # lines of different length are read one by one
def test_numbers_that_only_rounding_makes_whole_are_no_integers(
    tmp_path: Path, field: str, text: str, end: str
) -> None:
    line = f"{text},7,10,10,20,40,0.9{end}\n" if field == "frame" else f"1,{text},10,10,20,40,0.9{end}\n"
    truth, tracker = folders(tmp_path, claims=f"{line}2,7,12,10,20,40,0.8\n")
    assert_refused(truth, tracker, (f"{tracker / 'A.txt'}, line 1: {field} is", f"'{text}'"))


@pytest.mark.parametrize("end", ["", ",0,0"], ids=["fast", "slow"])
def test_whole_numbers_in_other_words_are_integers(tmp_path: Path, end: str) -> None:
    for number, words in enumerate(["7.0", "7.000000000000000000e+00", "+7", "007", "70e-1"]):
        claims = CLAIM.replace(",7,", f",{words},", 1).replace(",-1,-1,-1\n2", f"{end}\n2")
        _, predictions = sf.read_motchallenge(*folders(tmp_path / str(number), claims=claims))
        assert predictions.objects["object"].tolist() == [7, 7]


def test_the_slow_road_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(motchallenge_lines, "MOST_PROBLEMS", 5)
    truth, tracker = folders(tmp_path, truth="x\n" * 100)
    assert_refused(truth, tracker, *(f"{truth / 'A' / 'gt' / 'gt.txt'}, line {line}" for line in range(1, 7)))


def test_an_unknown_benchmark(tmp_path: Path) -> None:
    with refused(("benchmark", "'MOT18'", "MOT15, MOT16, MOT17, MOT20, DanceTrack"), error=ValueError):
        sf.read_motchallenge(*folders(tmp_path), benchmark="MOT18")


# Rows of truth with their mark and class, next to claims at the same places: which of both are kept.
RULES = [
    ("MOT17", [(1, 1), (0, 1), (1, 3), (0, 7), (0, 8), (1, 2), (1, 12), (0, 6)], [0], [0, 1, 2, 7]),
    ("MOT16", [(1, 1), (0, 1), (1, 3), (0, 7), (0, 8), (1, 2), (1, 12), (0, 6)], [0], [0, 1, 2, 7]),
    ("MOT20", [(1, 1), (0, 1), (1, 3), (0, 7), (0, 8), (1, 2), (1, 12), (0, 6)], [0], [0, 1, 2]),
    ("DanceTrack", [(1, 1), (0, 1), (1, 1)], [0, 2], [0, 1, 2]),
    ("MOT15", [(1, -1), (0, -1), (1, -1)], [0, 2], [0, 1, 2]),
]


@pytest.mark.parametrize(("benchmark", "rows", "truths", "claims"), RULES)
def test_rules_of_the_benchmarks(tmp_path: Path, benchmark: str, rows: list, truths: list, claims: list) -> None:
    truth = "".join(f"1,{k},{100 * k},0,20,40,{mark},{kind},1\n" for k, (mark, kind) in enumerate(rows))
    tracker = "".join(f"1,{k},{100 * k + 2},0,20,40,1,-1,-1,-1\n" for k in range(len(rows)))
    sides = sf.read_motchallenge(*folders(tmp_path, truth, tracker), benchmark=benchmark)
    assert [side.objects["object"].tolist() for side in sides] == [truths, claims]


def test_coordinates_of_mot15_are_no_classes(tmp_path: Path) -> None:
    claims = CLAIM.replace("-1,-1,-1", "5.2,7.1,0")
    truth = TRUTH.replace(",1,0.5", ",-1,-1,-1").replace(",1,1\n", ",-1,-1,-1\n")
    truth, predictions = sf.read_motchallenge(*folders(tmp_path, truth, claims), benchmark="MOT15")
    assert list(truth.objects) == ["sequence", "frame", "object", "x", "y", "w", "h"]
    assert len(predictions.objects) == 2


def random_folders(random: np.random.Generator, root: Path, benchmark: str) -> dict[str, int]:
    """Sequences of all classes and marks, and a tracker of them; returns their lengths."""
    lengths = {}
    for number in range(int(random.integers(1, 4))):
        name, n_frames, n = f"S-{number:02}", int(random.integers(1, 12)), int(random.integers(0, 22))
        places, size = random.uniform(0, 150, (n, 2)).round(1), random.uniform(5, 40, (n, 2)).round()
        classes = random.choice([1, 1, 1, *CLASSES.values()], n)
        marks = random.random(n) < 0.85
        lines: tuple[list[str], list[str]] = ([], [])
        for frame in range(1, n_frames + 1):
            places = places + random.normal(0, 2, places.shape).round()
            for k in np.flatnonzero(random.random(n) < 0.9):
                x, y, w, h = *places[k], *size[k]
                rest = "-1,-1,-1" if benchmark == "MOT15" else f"{classes[k]},0.5"
                lines[0].append(f"{frame},{k + 1},{x},{y},{w},{h},{marks[k]:d},{rest}")
            for k in random.permutation(np.flatnonzero(random.random(n) < 0.9)):
                x, y, w, h = *(places[k] + random.integers(-3, 4, 2)), *(size[k] + random.integers(-8, 3, 2))
                lines[1].append(f"{frame},{k + 10 + 50 * (frame // 5)},{x},{y},{w},{h},1,-1,-1,-1")
        paths = root / "truth" / name / "gt" / "gt.txt", root / "trackers" / "one" / "data" / f"{name}.txt"
        for path, text in zip(paths, lines, strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            random.shuffle(text)
            path.write_text("".join(f"{line}\n" for line in text if random.random() < 0.99 and number < 2))
        (root / "truth" / name / "seqinfo.ini").write_text(f"[Sequence]\nseqLength={n_frames}\n")
        lengths[name] = n_frames
    return lengths


def official_numbers(root: Path, benchmark: str, lengths: dict[str, int]) -> dict[Any, dict[str, Any]]:
    """What trackeval makes of the files, its own reader and preprocessing included."""
    config = {"GT_FOLDER": str(root / "truth"), "TRACKERS_FOLDER": str(root / "trackers"), "TRACKERS_TO_EVAL": ["one"]}
    config |= {"BENCHMARK": benchmark, "SKIP_SPLIT_FOL": True, "SEQ_INFO": dict(lengths), "PRINT_CONFIG": False}
    with contextlib.redirect_stdout(io.StringIO()):
        dataset = trackeval.datasets.MotChallenge2DBox(config)
        return official.numbers(
            {
                name: dataset.get_preprocessed_seq_data(dataset.get_raw_seq_data("one", name), "pedestrian")
                for name in lengths
            }
        )


@pytest.mark.parametrize("benchmark", [name for name, of in BENCHMARKS.items() if of.files == "motchallenge"])
@pytest.mark.parametrize("seed", range(6))
def test_files_are_evaluated_as_trackeval_does(tmp_path: Path, benchmark: str, seed: int) -> None:
    lengths = random_folders(np.random.default_rng(seed), tmp_path, benchmark)
    wanted = official_numbers(tmp_path, benchmark, lengths)
    sides = sf.read_motchallenge(tmp_path / "truth", tmp_path / "trackers" / "one" / "data", benchmark)
    official.same(sf.track(*sides), wanted)


def test_sample_is_evaluated_as_trackeval_does(tracks: Path, tmp_path: Path) -> None:
    (tmp_path / "trackers" / "one").mkdir(parents=True)
    (tmp_path / "trackers" / "one" / "data").symlink_to(tracks / "tracker")
    (tmp_path / "truth").symlink_to(tracks / "truth")
    wanted = official_numbers(tmp_path, "MOT17", {"crossing": 90, "plaza": 90})
    official.same(sf.track(*sf.read_motchallenge(tracks / "truth", tracks / "tracker")), wanted)


def test_mot17_has_the_expected_numbers(mot17: Path) -> None:
    expected = json.loads((mot17 / "expected_tracker_a.json").read_text())
    result = sf.track(*sf.read_motchallenge(mot17 / "gt", mot17 / "trackers" / "tracker_a" / "data"))
    wanted = {**expected["sequences"], None: expected["combined"]}
    official.same(result, {name: official.fields(found) for name, found in wanted.items()})
    for name, counts in expected["counts"].items():
        [row] = result.summary[result.summary["sequence"] == name].to_dict("records")
        sizes = ["n_frames", "n_truth", "n_predicted", "n_truth_objects", "n_predicted_objects"]
        assert [row[size] for size in sizes] == list(counts.values())


def test_what_is_written_is_read_back(tracks: Path, tmp_path: Path) -> None:
    truth, predictions = sf.read_motchallenge(tracks / "truth", tracks / "tracker", preprocess=False)
    for target in (tmp_path / "tracker", tmp_path / "tracker.zip"):
        sf.write_motchallenge(predictions, target)
        sf.write_motchallenge(truth, tmp_path / "truth", truth=True)
        again = sf.read_motchallenge(tmp_path / "truth", target, preprocess=False)
        pd.testing.assert_frame_equal(again[0].objects, truth.objects)
        pd.testing.assert_frame_equal(again[0].frames, truth.frames)
        pd.testing.assert_frame_equal(again[1].objects, predictions.objects)
    assert not list(tmp_path.rglob(".*"))


def test_odd_floats_and_empty_sequences_survive(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"sequence": 7, "frame": [2, 1], "object": [1, 1], "x": [0.1 + 0.2, 1e-300], "y": [1 / 3, -0.0]}
    )
    table = table.assign(w=1e22, h=123456789.123456789)
    frames = pd.DataFrame({"sequence": [7, 7, 8], "frame": [1, 2, 1]})
    sf.write_motchallenge(sf.Annotations(table, frames), tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["7.txt", "8.txt"]
    assert (tmp_path / "out" / "8.txt").read_text() == ""
    sf.write_motchallenge(sf.Annotations(table, frames), tmp_path / "truth", truth=True)
    got, predictions = sf.read_motchallenge(tmp_path / "truth", tmp_path / "out")
    for side in (got, predictions):
        assert (
            side.objects[["x", "y", "w", "h"]].to_numpy().tolist()
            == table[["x", "y", "w", "h"]].to_numpy()[::-1].tolist()
        )
    assert got.frames["sequence"].tolist() == ["7", "7", "8"]


@pytest.mark.parametrize(
    ("column", "value", "named"),
    [
        ("visibility", None, ("1 row", "sequence a, frame 2, object 1")),
        ("visibility", "half", ("str",)),
        ("class_id", pd.NA, ("1 row", "sequence a, frame 2, object 1")),
        ("class_id", "car", ("str",)),
        ("considered", None, ("1 row", "sequence a, frame 2, object 1")),
        ("object", 1 << 60, ("2**53",)),
    ],
)
def test_truth_that_cannot_be_written(tmp_path: Path, column: str, value: Any, named: tuple[str, ...]) -> None:
    table = pd.DataFrame({"sequence": "a", "frame": [1, 2], "object": 1, "x": 0.0, "y": 0.0, "w": 1.0, "h": 1.0})
    table[column] = pd.Series([1, value], dtype="Int64" if not isinstance(value, str) else "object").astype(
        "str" if isinstance(value, str) else "Int64"
    )
    with refused((f"annotations: column {column}", *named)):
        sf.write_motchallenge(table, tmp_path / "truth", truth=True)
    assert not (tmp_path / "truth").exists()


def test_what_cannot_be_written(tmp_path: Path) -> None:
    table = pd.DataFrame({"sequence": ["../a"], "frame": [0], "object": ["x"], "x": [0.0], "y": [0.0], "w": [1.0]})
    with refused(
        "annotations: column h",
        "annotations: sequence '../a'",
        ("annotations: sequence ../a", "1"),
        ("annotations: column object", "str"),
    ):
        sf.write_motchallenge(table, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (tmp_path / "file").write_text("")
    sound = table.assign(sequence="a", frame=1, object=1, h=1.0)
    with refused(f"{tmp_path / 'file'}: cannot be written"):
        sf.write_motchallenge(sound, tmp_path / "file")


@pytest.mark.parametrize("column", ["crowd", "ignore"])
def test_truth_with_marks_that_a_file_cannot_tell_is_refused(column: str, tmp_path: Path) -> None:
    truth = sf.read_motchallenge("data/tracks/truth", None)[0].objects
    marked = truth.assign(**{column: truth.index == 0})
    with pytest.raises(sf.InputError, match=f"annotations: column {column}: 1 row .* class_id 8 .*frame 1"):
        sf.write_motchallenge(marked, tmp_path / "truth", truth=True)
    assert not (tmp_path / "truth").exists()
    sf.write_motchallenge(truth.assign(**{column: False}), tmp_path / "truth", truth=True)


def test_reading_imports_no_more_than_it_needs() -> None:
    # Importing pandas takes longer than reading. pyarrow imports it by itself for some conversions.
    code = """
import sys
from spotgeo_frames.formats.motchallenge import read_numbered
read_numbered("data/tracks/truth", "data/tracks/tracker")
print([name for name in ("pyarrow", "pandas", "zipfile") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT)
    assert done.stdout.strip() == "['pyarrow']"
