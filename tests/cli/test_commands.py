"""The command line: its output, its exit status, and what it leaves behind; of each command once as a process."""

import hashlib
import importlib
import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import spotgeo_frames as sf
from helpers.commands import complaints, refused_here, run_here, run_process
from helpers.problems import Place, assert_places
from helpers.reference import PROJECT
from helpers.scenes import objects
from spotgeo_frames.cli.commands import COMMANDS
from spotgeo_frames.presentation.folders.saving import MANIFEST
from spotgeo_frames.scoring.registry import summary_columns
from spotgeo_frames.support.pandas_tables import with_text

KEYS = [*summary_columns(by_similarity=False), "tau", "epsilon"]
KEYS.insert(KEYS.index("f1") + 1, "one_minus_f1")
KEYS.append("provenance")


def answer(*arguments: object) -> dict[str, Any]:
    """The JSON of a command that says nothing else."""
    done = run_here(*arguments, "--json")
    assert (done.status, done.err) == (0, "")
    read: dict[str, Any] = json.loads(done.out, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))
    return read


def misused(*arguments: object) -> str:
    """What the last line says of wrong usage, without the word that comes before every such message."""
    return refused_here(*arguments, status=2)[-1].removeprefix("Error: ")


def loss(row: dict[str, Any]) -> dict[str, float]:
    """What JSON has besides the columns of a summary."""
    return {"one_minus_f1": 1 - row["f1"]}


def test_score_as_json(sample: Path) -> None:
    got = answer("score", sample / "truth.json", sample / "eager.json")
    matches = sf.match(sf.read_spotgeo(sample / "truth.json"), sf.read_spotgeo(sample / "eager.json"))
    [expected] = sf.summarize(matches).to_dict("records")
    assert list(got) == KEYS
    said = got.pop("provenance")
    assert said.startswith("f1 and kelvins_mse as the spotGEO challenge's server computes them, mse as")
    assert got == pytest.approx(expected | loss(expected) | {"tau": 10, "epsilon": 3})
    assert all(isinstance(got[name], int) for name in ("tp", "fn", "fp", "n_sequences", "n_frames", "n_truth"))


def test_score_of_tables_is_that_of_json(sample: Path, tmp_path: Path) -> None:
    expected = answer("score", sample / "truth.json", sample / "cautious.json")
    frames = ["--frames", sample / "frames.parquet"]
    assert answer("score", sample / "truth.parquet", sample / "cautious.parquet", *frames) == expected
    assert answer("score", sample / "truth.json", sample / "cautious.parquet") == expected
    pd.read_parquet(sample / "frames.parquet").to_csv(tmp_path / "frames.csv", index=False)
    pd.read_parquet(sample / "truth.parquet").to_csv(tmp_path / "truth.csv", index=False)
    csv = answer("score", tmp_path / "truth.csv", sample / "cautious.json", "--frames", tmp_path / "frames.csv")
    assert csv == expected
    with zipfile.ZipFile(tmp_path / "cautious.zip", "w") as archive:
        archive.write(sample / "cautious.json", "cautious.json")
    assert answer("score", sample / "truth.json", tmp_path / "cautious.zip") == expected


def test_score_by_slices(sample: Path) -> None:
    truth, frames = sample / "truth.parquet", sample / "frames.parquet"
    got = answer(
        *("score", truth, sample / "eager.parquet", "--frames", frames),
        *("--by", "truth_brightness:4", "--by", "frame_n_truth", "--by", "frame_sky:2"),
    )
    assert list(got["by"]) == ["truth_brightness", "frame_n_truth", "frame_sky"]
    by_brightness = got["by"]["truth_brightness"]
    assert [list(row) for row in by_brightness] == [["value", *KEYS[:-1]]] * 4
    assert all(row["precision"] is None and row["fp"] is None for row in by_brightness)
    assert sum(row["tp"] for row in by_brightness) == got["tp"]
    assert [row["value"] for row in got["by"]["frame_n_truth"]] == [0, 1, 2, 3, 4, 5]
    assert got["by"]["frame_n_truth"][0]["recall"] is None
    assert sum(row["fp"] for row in got["by"]["frame_sky"]) == got["fp"]


def test_score_with_other_thresholds_and_without_some_sequences(sample: Path) -> None:
    sides = [sf.read_spotgeo(sample / name) for name in ("truth.json", "eager.json")]
    got = answer(
        *("score", sample / "truth.json", sample / "eager.json", "--tau", 5, "--epsilon", 0, "--exclude", "5,9-12")
    )
    [expected] = sf.summarize(sf.match(*sides, tau=5, epsilon=0), exclude=[5, 9, 10, 11, 12]).to_dict("records")
    assert got.pop("provenance").startswith("the spotGEO challenge's rule with tau=5; epsilon=0: comparable with no")
    assert got == pytest.approx(expected | loss(expected) | {"tau": 5, "epsilon": 0})


def test_crossed_slices(sample: Path, tmp_path: Path) -> None:
    truth, eager, frames = (sample / f"{name}.parquet" for name in ("truth", "eager", "frames"))
    given = truth, eager, "--frames", frames
    got = answer("score", *given, "--by", "truth_brightness:3*frame", "--out", tmp_path)["by"]
    assert list(got) == ["truth_brightness*frame"]
    matches = sf.match(sf.read_objects(truth, frames=frames), sf.read_objects(eager))
    expected = sf.summarize(matches, by={"truth_brightness": 3, "frame": None})
    assert [row["tp"] for row in got["truth_brightness*frame"]] == expected["tp"].tolist()
    assert [row["value"][1] for row in got["truth_brightness*frame"]] == expected["frame"].tolist()
    assert (tmp_path / "by_truth_brightness_frame.parquet").exists()
    report = ["report", *given, "--out", tmp_path / "r.html", "--tables", tmp_path / "tables"]
    assert run_here(*report, "--by", "truth_brightness:3*frame").status == 0
    assert "By truth_brightness and frame" in (tmp_path / "r.html").read_text("utf-8")
    kept = pd.read_parquet(tmp_path / "tables" / "by_truth_brightness_frame.parquet")
    assert kept["tp"].tolist() == expected["tp"].tolist()


def test_bins_read_as_from_to(sample: Path) -> None:
    truth, eager, frames = (sample / f"{name}.parquet" for name in ("truth", "eager", "frames"))
    command = ["score", truth, eager, "--frames", frames, "--by", "truth_brightness:4"]
    by_brightness = answer(*command)["by"]["truth_brightness"]
    bins = [row["value"].split(" to ") for row in by_brightness]
    assert [low for low, _ in bins[1:]] == [high for _, high in bins[:-1]]
    brightness = pd.read_parquet(truth)["brightness"]
    assert float(bins[0][0]) == pytest.approx(brightness.min(), abs=0.002)
    assert " to ".join(bins[1]) in run_here(*command).out


def test_the_first_ten_problems_and_a_count(sample: Path, tmp_path: Path) -> None:
    entry = {"sequence_id": 1, "frame": 1, "num_objects": 1, "object_coords": [["x", 1]]}
    (tmp_path / "wrong.json").write_text(json.dumps([entry | {"sequence_id": number} for number in range(12)]))
    every = refused_here("validate", tmp_path / "wrong.json")
    assert len(every) >= 12
    first = refused_here("score", sample / "truth.json", tmp_path / "wrong.json")
    assert len(first) == 11
    assert first[0].startswith(str(tmp_path / "wrong.json"))
    assert re.fullmatch(r"and \d+ more problems?", first[-1])


def test_report_makes_only_the_folder_of_the_page(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "a" / "b" / "report.html"
    said = refused_here("report", sample / "truth.parquet", sample / "eager.parquet", "--out", out)
    assert_places(said, (f"{out}: cannot be written", f"folder {tmp_path / 'a'}"))
    assert not (tmp_path / "a").exists()


def test_datasets_at_addresses(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "sorted"
    done = run_process("repartition", (sample / "eager.parquet").as_uri(), out)
    assert (done.status, done.out.startswith(f"{out}: 1 file")) == (0, True)
    truth = (sample / "truth.parquet").as_uri()
    dataset = ["--dataset", "--frames", (sample / "frames.parquet").as_uri(), "--out", tmp_path / "run"]
    got = answer("score", truth, out.as_uri(), *dataset)
    assert json.loads((tmp_path / "run" / "score.json").read_text()) == got
    files = sample / "truth.parquet", sample / "eager.parquet", "--frames", sample / "frames.parquet"
    wanted = answer("score", *files)
    assert got.pop("provenance") == wanted.pop("provenance")
    assert got == pytest.approx(wanted, rel=1e-12)  # errors are added in another order


def test_score_for_people(sample: Path) -> None:
    done = run_process(
        "score", sample / "truth.json", sample / "eager.json", "--by", "frame_n_truth", "--by", "truth_x:2"
    )
    assert (done.status, done.err) == (0, "")
    for text in ("TP 558", "F1", "0.8194", "px²", "metric document", "competition's server", "frame_n_truth"):
        assert text in done.out
    assert "nan" not in done.out.lower()
    assert "NA" not in done.out


def test_out_writes_tables_that_say_what_they_were_made_from(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    truth, submission = sample / "truth.parquet", sample / "eager.parquet"
    command = ["score", truth, submission, "--by", "truth_brightness:3", "--by", "frame", "--exclude", "7"]
    command += ["--frames", sample / "frames.parquet"]
    done = run_here(*command, "--out", out)
    assert (done.status, done.err) == (0, "")
    names = ["by_frame.parquet", "by_truth_brightness.parquet", "matches.parquet", "summary.parquet"]
    assert {path.name for path in out.iterdir()} == {*names, "score.json", MANIFEST}
    assert (out / "score.json").read_text() == run_here(*command, "--json").out
    expected = {
        "tau": "10.0",
        "epsilon": "3.0",
        "version": sf.__version__,
        "exclude": "7",
        "truth": "truth.parquet",
        "truth_sha256": hashlib.sha256(truth.read_bytes()).hexdigest(),
        "submission": "eager.parquet",
        "submission_sha256": hashlib.sha256(submission.read_bytes()).hexdigest(),
    }
    for name in names:
        metadata = {key.decode(): value.decode() for key, value in pq.read_schema(out / name).metadata.items()}
        assert metadata | expected == metadata
    matches = pd.read_parquet(out / "matches.parquet")
    assert matches.attrs["tau"] == 10.0
    assert 7 not in set(matches["sequence"])
    pd.testing.assert_frame_equal(sf.summarize(matches), pd.read_parquet(out / "summary.parquet"))
    by_frame = pd.read_parquet(out / "by_frame.parquet")
    pd.testing.assert_frame_equal(sf.summarize(matches, by="frame"), by_frame)
    assert pd.read_parquet(out / "by_truth_brightness.parquet")["truth_brightness"].str.contains(" to ").all()
    assert pq.read_table(out / "matches.parquet")["distance"].null_count == (matches["outcome"] != "TP").sum()


def test_validate(sample: Path, tmp_path: Path) -> None:
    done = run_process("validate", sample / "eager.json", "--sequences", "1-60")
    assert (done.status, done.err) == (0, "")
    assert "nothing is wrong" in done.out
    assert run_here("validate", sample / "eager.parquet", "--truth", sample / "truth.json").status == 0
    missing = refused_here("validate", sample / "eager.json", "--sequences", "1-61")
    assert_places(missing, *(f"{sample / 'eager.json'}: sequence 61, frame {frame}" for frame in range(1, 6)))
    path = tmp_path / "submission.json"
    entry = {"sequence_id": 1, "frame": 1, "num_objects": 1, "object_coords": [[641.2, 1]]}
    path.write_text(json.dumps([entry, entry | {"frame": 2, "num_objects": 3}]))
    assert_places(
        refused_here("validate", path, "--truth", sample / "truth.json")[:3],
        (f"{path}: [0].object_coords[0][0]", "641.2", "639.5"),
        (f"{path}: [1].object_coords[0][0]", "641.2", "639.5"),
        (f"{path}: [1].num_objects", "3", "1"),
    )


def loaded_by(*arguments: object) -> set[str]:
    """The modules that a command has loaded when it is done."""
    code = "import sys; from spotgeo_frames.cli.app import run; run(sys.argv[1:]); print(*sys.modules)"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1].split())


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_the_help_loads_nothing_that_does_the_work(command: list[str]) -> None:
    loaded = loaded_by(*command, "--help")
    assert loaded & {"numpy", "pandas", "pyarrow", "scipy", "msgspec", "tqdm", "difflib"} == set()
    assert {name for name in loaded if name.startswith("spotgeo_frames.cli.")} == {
        f"spotgeo_frames.cli.{name}"
        for name in (
            "app",
            "commands",
            "option_kinds",
            "printing",
            "shared_options",
            "submissions",
            "terminal",
            "usage",
        )
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_takes_the_arguments_that_its_help_lists(name: str) -> None:
    module = importlib.import_module(f"spotgeo_frames.cli.{COMMANDS[name].module}")
    taken = {*inspect.signature(getattr(module, name)).parameters}
    if "how" in taken:  # what the options of the rule are collected to
        rule = {"tau", "epsilon", "similarity", "threshold", "labelled", "tracks", "benchmark", "columns", "box_format"}
        rule |= {"masks", "assignment", "power"} | ({"protocol"} if name in ("compare", "gate") else set())
        taken = taken - {"how"} | (rule - {"benchmark", "tracks"} if name == "score" else rule)
    if "videos" in taken:  # the sequences to draw, and the pictures behind them
        taken = taken - {"videos"} | {"video", "images"}
    if any(argument.name == "--json" for argument in COMMANDS[name].arguments):  # each answers in both ways
        taken |= {"as_json"}
    assert taken == {
        argument.details.get("dest", argument.name.removeprefix("--")) for argument in COMMANDS[name].arguments
    }
    usage, *text = run_here(name, "--help").out.splitlines()
    metavars = [argument.details.get("metavar", "") for argument in COMMANDS[name].arguments]
    positions = [argument for argument in COMMANDS[name].arguments if not argument.name.startswith("--")]
    assert usage.split("[OPTIONS] ")[1] == " ".join(metavars[: len(positions)])
    words = " ".join(" ".join(text).split())
    for argument in COMMANDS[name].arguments:
        shown = argument.details.get("metavar", "")
        entry = f"{argument.name} {shown}".strip() if argument.name.startswith("--") else shown
        assert f"{entry} {argument.help.partition(' [default')[0]}" in words
    assert COMMANDS[name].help in words
    assert COMMANDS[name].notes in words


def test_the_list_of_commands_fits_the_terminal() -> None:
    command = [sys.executable, "-m", "spotgeo_frames"]
    environment = os.environ | {"COLUMNS": "50"}
    lines = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True, env=environment).stdout
    assert 40 < max(map(len, lines.splitlines())) <= 50
    assert re.findall(r"^  ([a-z]+)  ", lines, re.MULTILINE) == [*COMMANDS]


def test_where_options_may_stand(sample: Path) -> None:
    truth, eager, cautious = (sample / f"{name}.json" for name in ("truth", "eager", "cautious"))
    expected = answer("compare", truth, eager, cautious, "--tau", 9, "--exclude", "1-3")
    assert answer("compare", "--tau=9", truth, eager, "--exclude", "1-3", cautious) == expected
    assert answer("compare", "--tau=4", truth, "--tau", "9", "--exclude=1-3", "--json", eager, cautious) == expected
    done = run_here("compare", "--tau", "9", "--json", "--exclude", "1-3", truth, "--", eager, cautious)
    assert json.loads(done.out) == expected


def test_values_that_begin_like_options(sample: Path) -> None:
    given = ["score", sample / "truth.json", sample / "eager.json"]
    for arguments in (["--exclude", "-5,3"], ["--exclude=-5,3"]):
        done = run_here(*given, *arguments)
        assert (done.status, "59 sequences" in done.out) == (0, True)
        assert_places(done.err.splitlines(), ("warning: exclude", "-5"))
    assert_places([misused(*given, "--exclude", "--json")], "--exclude: '--json'")
    assert_places(refused_here("score", "--", "-x.json", "--"), "-x.json", "--")


def test_names_that_no_terminal_should_see(sample: Path, tmp_path: Path) -> None:
    names = {b"red\x1b[31m\n.json": r"red\x1b[31m\n.json", b"\xff.json": r"\udcff.json"}
    for name, shown in names.items():
        path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
        path.write_bytes((sample / "eager.json").read_bytes())
        done = run_process("check", sample / "truth.json", path)
        assert (done.status, done.err) == (0, "")
        assert done.out == f"{tmp_path}/{shown}: nothing is suspicious\n"
        path.unlink()
        assert refused_here("check", sample / "truth.json", path)[0].startswith(f"{tmp_path}/{shown}: ")


def test_a_reader_that_stops_reading(sample: Path) -> None:
    command = [sys.executable, "-m", "spotgeo_frames", "score", sample / "truth.json", sample / "eager.json"]
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert (process.stderr.read(), process.wait()) == (b"", 1)


def test_output_that_is_declared_to_be_ascii(sample: Path) -> None:
    command = [sys.executable, "-m", "spotgeo_frames", "score", sample / "truth.json", sample / "eager.json"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*map(str, command)], capture_output=True, check=True, env=environment)
    assert "px²" in done.stdout.decode()


def test_the_installed_command() -> None:
    command = Path(sys.executable).with_name("spotgeo-frames")
    done = subprocess.run([command, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "validate" in done.stdout
    assert "score" in done.stdout
    assert run_process("--help").out == done.stdout


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["score"], ("the following arguments are required", "TRUTH, SUBMISSION")),
        (["score", "{truth}"], "the following arguments are required: SUBMISSION"),
        (["report", "{truth}", "{submission}"], "the following arguments are required: --out"),
        (["compare", "{truth}", "{submission}"], "give two submissions"),
        (["score", "{truth}", "{submission}", "extra", "more"], ("unrecognized", "extra more")),
        (["score", "{truth}", "{submission}", "--taau", "3"], ("No such option", "'--taau'", "--tau?")),
        (["score", "{truth}", "{submission}", "--data"], ("No such option", "'--data'", "--dataset")),
        (["score", "{truth}", "{submission}", "-5"], ("No such option", "'-5'", "--by")),
        (["score", "{truth}", "{submission}", "--x\x1b\n"], ("No such option", "'--x\\x1b\\n'")),
        (["score", "{truth}", "{submission}", "--tau"], ("option --tau", "<float>")),
        (["score", "{truth}", "{submission}", "--json=yes"], ("option --json", "'=yes'")),
        (["score", "{truth}", "{submission}", "--tau", "-1"], "tau is -1"),
        (["score", "{truth}", "{submission}", "--tau=-inf"], "tau is -inf"),
        (["score", "{truth}", "{submission}", "--epsilon", ""], ("argument --epsilon", "''", "number")),
        (["score", "{truth}", "{submission}", "--by", "x\x1b"], ("--by: match table", "column x\\x1b")),
        (["score", "{truth}", "{submission}", "--tau", "3", "--epsilon", "3"], ("tau", "epsilon 3")),
        (["score", "{truth}", "{submission}", "--epsilon", "nan"], ("tau", "epsilon nan")),
        (["score", "{truth}", "{submission}", "--tau", "far"], ("argument --tau", "'far'", "number")),
        (["score", "{truth}", "{submission}", "--by", "brightness"], ("--by: match table", "column brightness")),
        (["score", "{truth}", "{submission}", "--by", "outcome:3"], "--by: column outcome"),
        (["score", "{truth}", "{submission}", "--by", "truth_x:1"], ("--by: truth_x", "1 bins", "2 to 1000")),
        (["score", "{truth}", "{submission}", "--by", "truth_x:"], ("--by: truth_x", "0 bins", "2 to 1000")),
        (["score", "{truth}", "{submission}", "--by", "frame", "--by", "frame:2"], ("--by: 'frame:2'", "twice")),
        (["score", "{truth}", "{submission}", "--by", "frame**truth_x"], ("--by: 'frame**truth_x'", "without a name")),
        (["score", "{truth}", "{submission}", "--exclude", "5,x"], "--exclude: 'x'"),
        (["score", "{truth}", "{submission}", "--exclude", "9-5"], "--exclude: '9-5'"),
        (["validate", "{submission}", "--sequences", "1-99999999999"], "--sequences: '1-99999999999'"),
        (["validate", "{submission}", "--sequences", "1-60", "--truth", "{truth}"], ("give", "--truth", "--sequences")),
        (["nonsense"], ("No such command", "'nonsense'", "validate, score")),
        (["scor"], ("No such command", "'scor'", "score?")),
        (["--json", "score"], ("No such option", "'--json'", "--help")),
    ],
)
def test_wrong_usage(sample: Path, arguments: list[str], place: Place) -> None:
    files = {"{truth}": sample / "truth.json", "{submission}": sample / "eager.json"}
    assert_places([misused(*(files.get(argument, argument) for argument in arguments))], place)


COORDINATES = "[[1,2]]"
ENTRY = '[{"sequence_id":1,"frame":1,"num_objects":1,"object_coords":%s}]'
BAD_SUBMISSIONS = {
    "empty.json": b"",
    "truncated.json": b'[{"sequence_id": 1, "frame": 1, "num_obj',
    "shape.json": b'{"a": 1}',
    "nan.json": (ENTRY % "[[NaN,2]]").encode(),
    "infinity.json": (ENTRY % "[[1,Infinity]]").encode(),
    "large.json": (ENTRY % "[[1e999,2]]").encode(),
    "string.json": (ENTRY % '[["1",2]]').encode(),
    "triple.json": (ENTRY % "[[1,2,3]]").encode(),
    "nested.json": b"[" * 10_000 + b"]" * 10_000,
    "integer.json": (ENTRY % COORDINATES).replace('"frame":1', '"frame":' + "1" * 30).encode(),
    "coordinate.json": (ENTRY % f"[[{'1' * 30},2]]").encode(),
    "true.json": (ENTRY % "[[true,2]]").encode(),
    "twice.json": (ENTRY % COORDINATES).replace("}]", "}," + (ENTRY % COORDINATES)[1:]).encode(),
    "others.json": (ENTRY % COORDINATES).replace(':1,"frame"', ':9,"frame"').encode(),
    "frames.json": (ENTRY % COORDINATES).replace('"frame":1', '"frame":9').encode(),
    "bytes.json": b"\xff\xfe\x00",
    "short.parquet": b"PAR1 and nothing else",
    "broken.zip": b"PK no",
    "broken.json.gz": b"\x1f\x8b no",
}


@pytest.mark.parametrize("name", BAD_SUBMISSIONS)
def test_bad_submissions_leave_nothing_behind(tmp_path: Path, name: str) -> None:
    truth, path, out = tmp_path / "truth.json", tmp_path / name, tmp_path / "out"
    truth.write_text(ENTRY % COORDINATES)
    path.write_bytes(BAD_SUBMISSIONS[name])
    said = refused_here("score", truth, path, "--out", out)
    assert said
    assert all(line.startswith(f"{path}: ") for line in said)
    assert sorted(tmp_path.iterdir()) == sorted([truth, path])


def test_refusals_of_whole_processes(sample: Path, tmp_path: Path) -> None:
    """What is refused as input, by the system, and as usage has the same lines and status as in the other tests."""
    wrong = tmp_path / "wrong.json"
    wrong.write_bytes(BAD_SUBMISSIONS["truncated.json"])
    files = [sample / "truth.json", sample / "eager.json"]
    cases = {(files[0], wrong): 1, (*files, "--out", "x" * 300): 1, (*files, "--tau", "far"): 2}
    for arguments, status in cases.items():
        done = run_process("score", *arguments)
        assert (done.status, done.out) == (status, "")
        assert done.err.splitlines() == refused_here("score", *arguments, status=status)


def test_other_bad_inputs(tmp_path: Path) -> None:
    truth, folder = tmp_path / "truth.json", tmp_path / "folder"
    truth.write_text(ENTRY % COORDINATES)
    folder.mkdir()
    assert_places(refused_here("score", truth, folder), f"{folder}")
    missing = tmp_path / "missing.json"
    assert_places(refused_here("score", missing, folder), f"{missing}", f"{folder}")
    archive = tmp_path / "two.zip"
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("a.json", "[]")
        members.writestr("b.json", "[]")
    assert_places(refused_here("validate", archive), (f"{archive}", "2 files"))
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("../a.json", "[]")
    assert_places(refused_here("score", truth, archive), (f"{archive}", "'../a.json'"))
    table = tmp_path / "strings.csv"
    objects([("a", 1, 0, 0)]).to_csv(table, index=False)
    assert_places(refused_here("score", truth, table), (f"{table}: column sequence", "str", f"{truth}", "int64"))


def test_out_that_cannot_be_written(sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    for out in (file, file / "below"):
        said = refused_here("score", sample / "truth.json", sample / "eager.json", "--out", out)
        assert_places(said, (f"{out}: cannot be written", f"{file}"))
    assert file.read_text() == "in the way"
    # A folder stands where a file should go: what was begun is taken away again.
    out = tmp_path / "out"
    (out / "summary.parquet" / "something").mkdir(parents=True)
    said = refused_here("score", sample / "truth.json", sample / "eager.json", "--by", "frame", "--out", out)
    assert_places(said, f"{out / 'summary.parquet'}: cannot be written")
    assert [path.name for path in out.iterdir()] == ["summary.parquet"]


def test_folders_that_have_no_name(sample: Path) -> None:
    out = "x" * 300
    said = refused_here("score", sample / "truth.json", sample / "eager.json", "--out", out)
    assert_places(said, f"{out}: cannot be written")


def test_columns_that_cannot_be_written(tmp_path: Path) -> None:
    path, out = tmp_path / "table.parquet", tmp_path / "out"
    table = pa.Table.from_pandas(objects([(1, 1, 0, 0)]), preserve_index=False)
    pq.write_table(table.append_column("map", pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))), path)
    assert_places(refused_here("score", path, path, "--out", out), (f"{out}: cannot be written: column truth_map",))
    assert not out.exists()


def test_a_problem_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    rows = objects([("a\nb", 1, 0, 0), ("a\nb", 1, 1, 1)]).assign(object=0)
    rows.to_csv(path, index=False)
    # The file is named once, though it is wrong on both sides.
    assert_places(refused_here("score", path, path), (f"{path}: 2 rows", "sequence a\\nb, frame 1"))


def test_slices_with_infinite_values(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    rows = [(1, k, 0, 0) for k in range(4)]
    objects(rows, size=[1.0, 2.0, float("inf"), float("-inf")]).to_parquet(path)
    values = [row["value"] for row in answer("score", path, path, "--by", "truth_size")["by"]["truth_size"]]
    assert values == ["-inf", 1, 2, "inf"]
    assert_places([misused("score", path, path, "--by", "truth_size:2")], ("--by: column truth_size", "infinite"))


def test_sequences_as_strings(tmp_path: Path) -> None:
    for name in ("truth", "submission"):
        objects([("night-1", 1, 0, 0), ("night-2", 1, 0, 0)]).to_parquet(tmp_path / f"{name}.parquet")
    arguments = ["score", tmp_path / "truth.parquet", tmp_path / "submission.parquet", "--by", "sequence"]
    assert [row["value"] for row in answer(*arguments)["by"]["sequence"]] == ["night-1", "night-2"]
    assert answer(*arguments, "--exclude", "night-1")["tp"] == 1
    done = run_here(*arguments, "--exclude", "1-2")
    assert done.status == 0
    assert_places(done.err.splitlines(), ("warning: exclude", "'1-2'"))


def test_slices_of_a_column_that_says_nothing(tmp_path: Path) -> None:
    objects([(1, 1, 0, 0)]).to_parquet(tmp_path / "truth.parquet")
    objects([(1, 1, 90, 0)]).to_parquet(tmp_path / "submission.parquet")
    arguments = ["score", tmp_path / "truth.parquet", tmp_path / "submission.parquet", "--by", "distance:3"]
    slices = answer(*arguments, "--by", "frame:4")["by"]
    assert slices["distance"] == []
    assert [row["value"] for row in slices["frame"]] == [1]
    assert "distance is null in every row" in run_here(*arguments).out


def test_slices_by_times_and_other_values_that_json_does_not_know(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    when = [pd.Timestamp("2020-01-02"), pd.Timestamp("2020-01-01")]
    objects([(1, 1, 0, 0), (1, 2, 0, 0)], when=when, flag=[True, False], tags=[[1], [2, 3]]).to_parquet(path)
    slices = answer("score", path, path, "--by", "truth_when", "--by", "truth_flag")["by"]
    assert [row["value"] for row in slices["truth_when"]] == ["2020-01-01 00:00:00", "2020-01-02 00:00:00"]
    assert [row["value"] for row in slices["truth_flag"]] == [False, True]
    for by, place in (("truth_flag:2", "--by: column truth_flag"), ("truth_tags", ("--by", "truth_tags"))):
        assert_places([misused("score", path, path, "--by", by)], place)


def test_a_column_named_like_a_path(tmp_path: Path) -> None:
    for name in ("truth", "submission"):
        objects([(1, 1, 0, 0)], **{"../../x": [1]}).to_parquet(tmp_path / f"{name}.parquet")
    out = tmp_path / "deep" / "deeper" / "out"
    arguments = ["score", tmp_path / "truth.parquet", tmp_path / "submission.parquet", "--out", out]
    assert run_here(*arguments, "--by", "truth_../../x").status == 0
    assert (out / "by_truth_..%2f..%2fx.parquet").exists()


def test_scoring_loads_no_more_than_it_needs(sample: Path) -> None:
    code = "import spotgeo_frames, sys; print([m for m in sys.argv[1:] if m in sys.modules])"
    lazy = ["matplotlib", "scipy", "tqdm", "argparse", "pyarrow.dataset", "pyarrow.csv", "pyarrow.parquet"]
    done = subprocess.run([sys.executable, "-c", code, *lazy], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    loaded = loaded_by("score", sample / "truth.json", sample / "eager.json")
    assert loaded & {"matplotlib", "tqdm", "pandas", "scipy.special", "scipy.stats"} == set()
    # The rooms are there, since the package lists their names, but nothing in those that `score` has no use for.
    rooms = {module.split(".")[1] for module in loaded if re.fullmatch(r"spotgeo_frames\.\w+\.\w+", module)}
    assert rooms == {"analysis", "cli", "formats", "geometries", "matching", "scoring", "support", "tables"}
    certainty = {f"spotgeo_frames.analysis.{name}" for name in ("certainty", "errors", "mistakes", "thresholds")}
    assert certainty & loaded == {"spotgeo_frames.analysis.certainty"}
    commands = {command.module for command in COMMANDS.values()}
    assert {f"spotgeo_frames.cli.{module}" for module in commands} & loaded == {"spotgeo_frames.cli.scores"}


HEAVY = {"pandas", "pyarrow", "scipy.optimize", "scipy.sparse"}


def test_competition_files_are_scored_without_pandas_arrow_and_scipy(sample: Path) -> None:
    files = [sample / "truth.json", sample / "eager.json"]
    for options in ([], ["--json"], ["--exclude", "3,5-9"], ["--tau", "5"]):
        assert loaded_by("score", *files, *options) & HEAVY == set()
    assert loaded_by("score", *files, "--by", "frame_n_truth") & HEAVY >= {"pandas"}


def test_tracks_are_scored_without_pandas_and_scipy() -> None:
    folders = [PROJECT / "data/tracks/truth", PROJECT / "data/tracks/tracker"]
    assert loaded_by("track", *folders, "--json") & HEAVY <= {"pyarrow"}  # which reads the files


def test_boxes_of_coco_are_ranked_without_pandas_arrow_and_scipy(tmp_path: Path) -> None:
    document = json.loads((PROJECT / "data/coco/annotations.json").read_text())
    for image in document["images"]:  # as COCO's are, without flags, for which there are columns of pandas only
        del image["night"]
        image |= {"file_name": f"{image['id']}.jpg", "license": 4, "date_captured": "2013-11-14"}
    for category in document["categories"]:
        category["supercategory"] = "outdoor"
    truth, results = tmp_path / "annotations.json", PROJECT / "data/coco/precise.json"
    truth.write_text(json.dumps(document))
    assert loaded_by("ap", truth, results, "--json") & HEAVY == set()
    assert loaded_by("ap", truth, results, "--by", "frame_date_captured", "--json") & HEAVY >= {"pandas"}


def test_tracks_kept_and_not_kept_have_the_same_numbers(tmp_path: Path) -> None:
    command = ["track", PROJECT / "data/tracks/truth", PROJECT / "data/tracks/tracker", "--json"]
    assert run_here(*command).out == run_here(*command, "--out", tmp_path / "out").out


@pytest.mark.parametrize("options", [[], ["--exclude", "3,5-9"], ["--tau", "4", "--epsilon", "1"]])
def test_numbers_of_files_are_those_of_tables(sample: Path, tmp_path: Path, options: list[str]) -> None:
    files = [sample / "truth.json", sample / "eager.json"]
    printed = [
        json.loads(run_here("score", *files, *options, *more, "--json").out) for more in ([], ["--out", tmp_path])
    ]
    assert printed[0] == printed[1]
    rule = {name: float(value) for name, value in zip(options[::2], options[1::2], strict=True) if name != "--exclude"}
    matches = sf.match(*map(sf.read_spotgeo, files), *rule.values())
    excluded = [3, *range(5, 10)] if "--exclude" in options else None
    assert sf.summarize(matches, exclude=excluded).iloc[0].to_dict().items() <= printed[0].items()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_ended_leaves_no_file_behind(sample: Path, tmp_path: Path, ending: signal.Signals) -> None:
    # The second table is half written when the process is told to end.
    code = f"""
import os, signal, sys
from spotgeo_frames.cli.app import main
signal.signal({int(ending)}, signal.SIG_DFL)  # the tests may run under nohup, which has SIGHUP ignored
from spotgeo_frames.support import writing
write = writing._write_parquet

def dying(table, path, attrs):
    write(table, path, attrs)
    if "summary" in path.name:
        os.truncate(path, 100)
        os.kill(os.getpid(), {int(ending)})

writing._write_parquet = dying
main()
"""
    out = tmp_path / "out"
    arguments = ["score", sample / "truth.json", sample / "eager.json", "--out", out]
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.decode()) == (128 + ending, b"", f"ended by {ending.name}\n")
    assert list(tmp_path.iterdir()) == []


TRACK_KEYS = ["HOTA", "DetA", "AssA", "DetRe", "DetPr", "AssRe", "AssPr", "LocA", "MOTA", "MOTP", "MODA"]
TRACK_KEYS += ["IDSW", "Frag", "MT", "PT", "ML", "TP", "FN", "FP", "IDF1", "IDP", "IDR", "IDTP", "IDFN", "IDFP"]


def test_track_as_json(tracks: Path) -> None:
    got = answer("track", tracks / "truth", tracks / "tracker")
    assert list(got) == ["combined", "sequences", "provenance"]
    assert got["provenance"] == "HOTA, CLEAR and Identity as trackeval 1.3.0 computes them"
    assert list(got["sequences"]) == ["crossing", "plaza"]
    summary = sf.track(*sf.read_motchallenge(tracks / "truth", tracks / "tracker")).summary.to_dict("records")
    for row, numbers in zip(summary, [*got["sequences"].values(), got["combined"]], strict=True):
        assert list(numbers) == TRACK_KEYS
        assert numbers == pytest.approx({key: row[key] for key in TRACK_KEYS})
    assert isinstance(got["combined"]["IDSW"], int)
    other = answer("track", tracks / "truth", tracks / "tracker", "--benchmark", "MOT15")
    assert other["combined"]["FP"] > got["combined"]["FP"]  # nobody takes the cyclist out


def test_track_in_words(tracks: Path) -> None:
    done = run_process("track", tracks / "truth", tracks / "tracker")
    assert (done.status, done.err) == (0, "")
    assert "by the rules of MOT17" in done.out
    lines = done.out.splitlines()
    assert [line.split() for line in lines[2:5]] == [["HOTA", "0.7238"], ["DetA", "0.7644"], ["AssA", "0.6869"]]
    assert "no interval: fewer than 20 sequences" in lines[5]
    assert [line.split()[0] for line in lines[8:11]] == ["crossing", "plaza", "combined"]


def test_track_keeps_its_tables(tracks: Path, tmp_path: Path) -> None:
    got = answer("track", tracks / "truth", tracks / "tracker", "--out", tmp_path / "out")
    result = sf.track(*sf.read_motchallenge(tracks / "truth", tracks / "tracker"))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *(f"{name}.parquet" for name in result._fields),
        "track.json",
        MANIFEST,
    }
    assert json.loads((tmp_path / "out" / "track.json").read_text()) == got
    for name, table in result._asdict().items():
        kept = with_text(pd.read_parquet(tmp_path / "out" / f"{name}.parquet"))
        pd.testing.assert_frame_equal(kept, table)
        metadata = pq.read_schema(tmp_path / "out" / f"{name}.parquet").metadata
        assert metadata[b"benchmark"] == b"MOT17"
        assert metadata[b"rule"] == b"iou"
        assert metadata[b"tracker"] == b"tracker"
        assert len(metadata[b"truth_sha256"]) == 64


def test_track_refuses(tracks: Path, tmp_path: Path) -> None:
    (tmp_path / "tracker").mkdir()
    (tmp_path / "tracker" / "plaza.txt").write_text("1,1,0,0,5,5,1\n1,1,0,x\n")
    tracker = tmp_path / "tracker"
    assert_places(refused_here("track", tracks / "truth", tracker), (f"{tracker}", "crossing.txt"))
    (tracker / "crossing.txt").write_text("1,1,0,0,5,5,1\n1,1,9,9,5,5,1\n")
    assert_places(
        refused_here("track", tracks / "truth", tracker),
        (f"{tracker / 'crossing.txt'}, line 1: identity 1", "frame 1"),
        (f"{tracker / 'crossing.txt'}, line 2: identity 1", "frame 1"),
        (f"{tracker / 'plaza.txt'}, line 2", "4 fields"),
    )
    refused_here("track", tracks / "truth", tracks / "tracker", "--benchmark", "MOT18", status=2)
    (tmp_path / "file").write_text("")
    said = refused_here("track", tracks / "truth", tracks / "tracker", "--out", tmp_path / "file")
    assert_places(said, f"{tmp_path / 'file'}: cannot be written")


def test_track_warns_in_one_line(tracks: Path, tmp_path: Path) -> None:
    (tmp_path / "tracker").mkdir()
    for name in ("plaza", "crossing"):
        (tmp_path / "tracker" / f"{name}.txt").write_text("1,1,0,0,0,5,1\n2,1,9,9,-5,5,1\n")
    done = run_here("track", tracks / "truth", tmp_path / "tracker", "--json")
    assert done.status == 0
    assert_places(done.err.splitlines(), ("warning: boxes", "4 of the predictions"))
    assert json.loads(done.out)["combined"]["FP"] == 4


KEYPOINT_HOTA_KEYS = ["HOTA", "DetA", "AssA", "DetRe", "DetPr", "AssRe", "AssPr", "LocA", "RHOTA", "FragA"]
KEYPOINT_HOTA_KEYS += ["FA-HOTA", "FA-RHOTA", "HOTA(0)", "LocA(0)", "HOTALocA(0)"]


def test_pose_as_json(poses: Path) -> None:
    got = answer("pose", poses / "truth", poses / "tracker")
    summary = sf.pose(*sf.read_posetrack(poses / "truth", poses / "tracker")).summary
    combined = summary[summary["sequence"].isna()].set_index("joint")
    assert list(got) == ["keypoint_hota", "poseval", "provenance"]
    hota, poseval, said = got.values()
    assert said == "keypoint HOTA as the PoseTrack21 kit computes it, MOTA and AP as poseval computes them"
    assert list(hota) == ["joints", *KEYPOINT_HOTA_KEYS]
    assert hota["joints"] == [
        *["Nose", "Neck", "Head", "LS", "RS", "LE", "RE", "LW", "RW", "LH", "RH", "LK", "RK", "LA", "RA"],
        "total",
    ]
    assert list(poseval) == ["joints", "mota", "motp", "pre", "rec", "ap", "ap_pre", "ap_rec"]
    assert poseval["joints"][:4] == ["right_ankle", "right_knee", "right_hip", "left_hip"]
    assert poseval["joints"][12:] == ["neck", "nose", "head_top", "total"]
    for key in KEYPOINT_HOTA_KEYS:
        assert len(hota[key]) == 16
        assert hota[key][7] == pytest.approx(combined.loc["left_wrist", key])
        assert hota[key][15] == pytest.approx(summary.iloc[-1][key])
    assert poseval["mota"][12] == pytest.approx(combined.loc["head_bottom", "mota"])
    assert poseval["ap"][15] == pytest.approx(summary.iloc[-1]["ap"])


def test_pose_of_nobody(poses: Path, tmp_path: Path) -> None:
    """What there is nothing to divide by for is null."""
    folders = []
    for side in ("truth", "tracker"):
        folders.append(tmp_path / side)
        folders[-1].mkdir()
        document = json.loads((poses / side / "corner.json").read_text()) | {"annotations": []}
        (folders[-1] / "corner.json").write_text(json.dumps(document))
    got = answer("pose", *folders)
    assert got["poseval"]["mota"] == [None] * 16
    assert got["keypoint_hota"]["LocA"] == [1.0] * 16
    done = run_here("pose", *folders)
    [total] = [line.split() for line in done.out.splitlines() if line.strip().startswith("total")]
    assert total[1:] == ["0.0000", "0.0000", "0.0000", "1.0000", "-", "0.0000", "-", "-", "0.0000", "0"]


def test_pose_in_words(poses: Path) -> None:
    done = run_process("pose", poses / "truth", poses / "tracker")
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["HOTA", "DetA", "AssA"]
    assert [line.split()[0] for line in lines[8:11]] == ["nose", "head_bottom", "head_top"]
    assert lines[23].split()[0] == "total"


def test_pose_refuses(poses: Path, tmp_path: Path) -> None:
    tracker = tmp_path / "tracker"
    tracker.mkdir()
    document = json.loads((poses / "tracker" / "street.json").read_text())
    document["annotations"][5]["keypoints"].pop()
    document["annotations"][7]["image_id"] = 77
    (tracker / "street.json").write_text(json.dumps(document))
    assert_places(refused_here("pose", poses / "truth", tracker), (f"{tracker}", "corner.json"))
    (tracker / "corner.json").write_text((poses / "tracker" / "corner.json").read_text())
    assert_places(
        refused_here("pose", poses / "truth", tracker),
        (f"{tracker / 'street.json'}: annotations[5].keypoints", "50", "51"),
        (f"{tracker / 'street.json'}: annotations[7].image_id", "image 77"),
    )
    refused_here("pose", poses / "truth", status=2)


def test_compare_as_json(sample: Path) -> None:
    truth, eager = sample / "truth.json", sample / "eager.json"
    names = sorted(path.stem for path in sample.glob("*.json") if path.stem != "truth")
    got = answer("compare", truth, *(sample / f"{name}.json" for name in names))
    sides = {name: sf.match(sf.read_spotgeo(truth), sf.read_spotgeo(sample / f"{name}.json")) for name in names}
    board, pairs, _ = sf.compare(sides)
    assert [row["name"] for row in got["leaderboard"]] == board["name"].tolist()
    assert [row["f1"] for row in got["leaderboard"]] == pytest.approx(board["f1"].tolist())
    assert {"name", "rank", "f1", "kelvins_mse"} <= set(got["leaderboard"][0])
    assert list(got["pairs"][0]) == ["a", "b", "metric", "estimate", "low", "high", "p_value", "p_adjusted", "reason"]
    assert {row["reason"] for row in got["pairs"]} == {None}
    assert [row["p_value"] for row in got["pairs"]] == pytest.approx(pairs["p_value"].tolist())
    itself = answer("compare", truth, eager, eager)
    assert [row["name"] for row in itself["leaderboard"]] == ["eager", "eager (2)"]
    assert {row["estimate"] for row in itself["pairs"]} == {0}
    assert {row["p_value"] for row in itself["pairs"]} == {1}


def test_compare_in_words(sample: Path) -> None:
    done = run_process(
        "compare", sample / "truth.json", sample / "eager.json", sample / "eager.parquet", "--exclude", "1-3"
    )
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert "apart from next" in lines[2]
    assert len(lines) == 3 + 2 + 2 + 6 + 1 + 4
    assert lines[-1].startswith("apart from next: by F1, p_adjusted < 0.05; no: not shown to differ")


def test_compare_of_boxes_has_no_kelvins_mse(tmp_path: Path) -> None:
    boxes = pd.DataFrame({"sequence": 1, "frame": [1, 2], "object": 1, "x": 5.0, "y": 5.0, "w": 4.0, "h": 4.0})
    for name in ("truth", "right", "half"):
        boxes.head(1 if name == "half" else 2).to_csv(tmp_path / f"{name}.csv", index=False)
    done = run_here("compare", *(tmp_path / f"{name}.csv" for name in ("truth", "right", "half")))
    assert done.status == 0, done.err
    assert ["1", "right", "1.0000"] in [line.split()[:3] for line in done.out.splitlines()]
    for word in ("nan", "kelvins", "mse"):
        assert word not in done.out


def test_compare_refuses(sample: Path, tmp_path: Path) -> None:
    refused_here("compare", sample / "truth.json", sample / "eager.json", status=2)
    (tmp_path / "other.json").write_text("[]")
    said = refused_here("compare", sample / "truth.json", sample / "eager.json", tmp_path / "nothing.json")
    assert_places(said, f"{tmp_path / 'nothing.json'}")
    assert refused_here("compare", sample / "truth.json", sample / "eager.json", tmp_path / "other.json")


def test_check(sample: Path, tmp_path: Path) -> None:
    truth, eager = sample / "truth.json", sample / "eager.json"
    assert answer("check", truth, eager) == {"suspicions": []}
    done = run_process("check", truth, eager)
    assert (done.status, done.out) == (0, f"{eager}: nothing is suspicious\n")
    found = sf.read_spotgeo(eager)
    swapped = found.objects.assign(x=found.objects["y"], y=found.objects["x"])
    sf.write_spotgeo(found._replace(objects=swapped), tmp_path / "swapped.json")
    [suspicion] = answer("check", truth, tmp_path / "swapped.json")["suspicions"]
    assert list(suspicion) == ["suspicion", "f1", "f1_corrected", "advice"]
    assert suspicion["suspicion"] == "x and y are swapped"
    assert run_here("check", truth, tmp_path / "swapped.json").out.startswith("x and y are swapped (F1 0.")
    assert_places(refused_here("check", truth, tmp_path / "none.json"), f"{tmp_path / 'none.json'}")


def test_submissions_are_called_by_what_tells_them_apart(sample: Path, tmp_path: Path) -> None:
    eager, cautious = ((sample / f"{name}.json").read_bytes() for name in ("eager", "cautious"))
    for path, content in (("a/p.json", eager), ("b/p.json", cautious), ("v1.1.json", eager), ("v1.2.json", cautious)):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)

    def called(*paths: object) -> list[str]:
        board = answer("compare", sample / "truth.json", *paths)["leaderboard"]
        return [row["name"] for row in board]

    assert called(tmp_path / "a" / "p.json", tmp_path / "b" / "p.json") == ["a/p", "b/p"]
    assert called(tmp_path / "v1.1.json", tmp_path / "v1.2.json") == ["v1.1", "v1.2"]
    assert called(sample / "eager.json", sample / "eager.parquet") == ["eager.json", "eager.parquet"]
    assert called(tmp_path / "a" / "p.json", tmp_path / "b" / ".." / "a" / "p.json") == ["p", "p (2)"]


def test_report_writes_a_page_and_its_tables(sample: Path, tmp_path: Path) -> None:
    out, tables = tmp_path / "new" / "report.html", tmp_path / "tables"
    given = [sample / "truth.parquet", sample / "eager.parquet", sample / "cautious.parquet"]
    options = ["--frames", sample / "frames.parquet", "--by", "truth_brightness:4", "--exclude", "2-3"]
    done = run_process("report", *given, "--out", out, *options, "--tables", tables)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"{out}: ")
    assert "<title>How good are " in out.read_text("utf-8")
    summary = pd.read_parquet(tables / "summary.parquet").set_index("submission")
    got = answer("score", sample / "truth.json", sample / "eager.json", "--exclude", "2-3")
    assert summary.loc["eager", "kelvins_mse"] == got["kelvins_mse"]
    assert (tables / "by_truth_brightness.parquet").exists()


def test_a_sequence_without_objects_can_be_excluded(tmp_path: Path) -> None:
    named = objects([(1, 1, 10.0, 10.0), (2, 1, 20.0, 20.0)])
    named = named.assign(sequence=named["sequence"].map({1: "a", 2: "b"}))
    frames = pd.DataFrame({"sequence": ["a", "b", "c"], "frame": 1})
    named.to_parquet(tmp_path / "truth.parquet")
    frames.to_parquet(tmp_path / "frames.parquet")
    given = [tmp_path / "truth.parquet", tmp_path / "truth.parquet", "--frames", tmp_path / "frames.parquet"]
    out = ["--out", tmp_path / "report.html"]
    for command in (["score", *given], ["report", *given, *out]):
        done = run_here(*command, "--exclude", "c")
        assert (done.status, complaints(done.err)) == (0, [])
        done = run_here(*command, "--exclude", "c,d")
        assert done.status == 0
        assert_places(complaints(done.err), ("warning: exclude", "'d'"))


def test_report_refuses_before_it_reads(sample: Path, tmp_path: Path) -> None:
    given = ["report", tmp_path / "none.json", sample / "eager.json"]
    assert_places(refused_here(*given, "--out", tmp_path), f"{tmp_path}: cannot be written")
    images = tmp_path / "images"
    said = refused_here(*given, "--out", tmp_path / "report.html", "--images", images)
    assert_places(said, (f"{images}", "images", "SEQUENCE/FRAME.png"))
    given[1] = sample / "truth.json"
    said = [misused(*given, "--out", tmp_path / "report.html", "--by", "truth_brightness")]
    assert_places(said, ("--by: match table", "column truth_brightness"))
    refused_here(*given, status=2)
    assert list(tmp_path.iterdir()) == []


def test_report_says_what_to_install(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "jinja2.py").write_text("raise ImportError")
    command = [sys.executable, "-m", "spotgeo_frames", "report", sample / "truth.json", sample / "eager.json"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [*map(str, command), "--out", str(tmp_path / "report.html")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )
    assert done.returncode == 1
    assert_places(done.stderr.splitlines(), ("report: jinja2", "pip install 'spotgeo_frames[report]'"))


def test_want_of_memory_outside_of_the_work_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: object) -> None:
        raise ImportError("libarrow.so: failed to map segment from shared object")

    monkeypatch.setattr("spotgeo_frames.cli.app.import_module", lacking)
    [line] = refused_here("check", "truth.csv", "submission.csv")
    assert line.startswith("there is not enough memory: libarrow.so")


def completions(shell: str, line: str, folder: Path) -> set[str]:
    """What a shell offers at the end of a line, by the script that the command prints."""
    (folder / "script.sh").write_text(run_here("completion", shell).out, encoding="utf-8")
    if shell == "fish":
        code = f"source ./script.sh; complete --do-complete '{line}'"
    else:
        words = line.split(" ")
        code = f"source ./script.sh; COMP_WORDS=({' '.join(words[:-1])} '{words[-1]}'); COMP_CWORD={len(words) - 1}; "
        code += "_shtab_spotgeo_frames spotgeo-frames; printf '%s\\n' \"${COMPREPLY[@]}\""
    done = subprocess.run([shell, "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    return {text.split("\t")[0] for text in done.stdout.splitlines()}


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_shell_completes_commands_options_values_and_files(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    (tmp_path / "truth.json").touch()
    assert completions(shell, "spotgeo-frames s", tmp_path) == {"score", "sweep"}
    assert completions(shell, "spotgeo-frames score --ta", tmp_path) == {"--tau"}
    assert completions(shell, "spotgeo-frames score --vid", tmp_path) == {"--video"}
    assert completions(shell, "spotgeo-frames score --assignment ", tmp_path) == {"most", "least", "score"}
    assert "truth.json" in completions(shell, "spotgeo-frames score tr", tmp_path)


def test_the_script_for_zsh_is_one_that_it_can_read(tmp_path: Path) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("needs zsh")
    (tmp_path / "script.sh").write_text(run_here("completion", "zsh").out, encoding="utf-8")
    code = 'autoload -U compinit; compinit -u; eval "$(cat script.sh)"; print $_comps[spotgeo-frames]'
    done = subprocess.run(["zsh", "-fc", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "_shtab_spotgeo_frames"


@pytest.mark.parametrize("arguments", [("-h",), ("score", "-h"), ("score", "truth.json", "-h")])
def test_the_short_option_shows_the_help(arguments: tuple[str, ...]) -> None:
    named = [name for name in arguments if name in COMMANDS]
    assert run_here(*arguments).out == run_here(*named, "--help").out


def test_the_version_is_shown() -> None:
    assert run_here("--version").out == f"spotgeo-frames {sf.__version__}\n"
