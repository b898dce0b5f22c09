"""Whichever call to the file system fails, a command says so in one line and leaves earlier results as they were.

So does everything else that goes wrong around a command: Ctrl-C, a full output, a working directory that is gone.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from helpers.faults import ERRORS, Call, calls
from helpers.problems import assert_places
from spotgeo_frames.cli.app import run
from spotgeo_frames.presentation.page import build

RULE = ["--tau", "8", "--epsilon", "2"]
COMMANDS = {
    "score": ["score", "truth.json", "eager.json", "--by", "sequence", "--out", "out"],
    "score of tables": ["score", "truth.parquet", "eager.parquet", "--frames", "frames.parquet", "--out", "out"],
    "score of a dataset": ["score", "truth.parquet", "eager.parquet", "--dataset", "--by", "sequence", "--out", "out"],
    "track": ["track", "tracks/truth", "tracks/tracker", "--out", "out"],
    "repartition": ["repartition", "eager.parquet", "out"],
    "report": ["report", "truth.json", "eager.json", "--out", "pages/page.html", "--tables", "out"],
}


class Ended(NamedTuple):
    """How a command ended, and the calls to the file system that it made."""

    status: object
    out: str
    err: str
    made: list[Call]


@pytest.fixture
def area(sample: Path, tracks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the inputs of all commands; and reports are computed once, since only their files are looked at."""
    area = tmp_path / "area"
    shutil.copytree(sample, area)
    for side, file in (("truth", "crossing/gt/gt.txt"), ("tracker", "crossing.txt")):
        (area / "tracks" / side / file).parent.mkdir(parents=True)
        shutil.copy(tracks / side / file, area / "tracks" / side / file)
    shutil.copy(tracks / "truth" / "crossing" / "seqinfo.ini", area / "tracks" / "truth" / "crossing")
    computed: dict[str, build.Made] = {}
    compute = build._page

    def compute_once(*arguments: Any) -> build.Made:
        if not computed:
            made = compute(*arguments)
            computed["report"] = made._replace(texts={path: text[:1000] for path, text in made.texts.items()})
        return computed["report"]

    monkeypatch.setattr(build, "_page", compute_once)
    return area


def ended(
    capsys: pytest.CaptureFixture[str], area: Path, command: Sequence[str], failing: int | None = None, code: int = 0
) -> Ended:
    """Runs a command on the files of the area, where the call at the position `failing` fails with this error."""
    texts = [f"{area / text}" if text == "out" or {*text} & {*"./"} else text for text in command]
    status: object = 0
    with calls(area, failing, code) as made:
        try:
            run(texts)
        except SystemExit as error:
            status = error.code
    return Ended(status, *capsys.readouterr(), made)


def tree(folder: Path) -> dict[str, bytes | None]:
    """The content of every file in a folder, and None for each folder."""
    return {f"{path.relative_to(folder)}": path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def telling(made: Sequence[Call]) -> list[int]:
    """The positions of the first and the last call of each function for files of a kind in each folder."""
    kinds = [(call.function, Path(call.path).parent, ".tmp" in call.path, Path(call.path).suffix) for call in made]
    last = {kind: position for position, kind in enumerate(kinds)}
    return sorted({*last.values(), *(kinds.index(kind) for kind in last)})


@pytest.mark.parametrize(
    ("name", "has_earlier"),
    [*((name, name != "repartition") for name in COMMANDS), ("score", False), ("score of a dataset", False)],
)
def test_calls_that_fail(
    area: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, has_earlier: bool
) -> None:
    command = COMMANDS[name]
    is_dataset = name == "score of a dataset"
    if has_earlier:
        ended(capsys, area, command)
        for path in () if is_dataset else [*(area / "out").glob("*.parquet"), *area.glob("pages/*")]:
            path.write_bytes(b"earlier")
    saved = tmp_path / "saved"
    shutil.copytree(area, saved)
    before = tree(area)
    good = ended(capsys, area, command)
    after = tree(area)
    assert good.status == 0
    assert len(good.made) > 20
    for count, position in enumerate(telling(good.made)):
        call = good.made[position]
        shutil.rmtree(area)
        shutil.copytree(saved, area)
        got = ended(capsys, area, command, position, ERRORS[count % len(ERRORS)])
        now = tree(area)
        left = {path for path in now if ".tmp" in path}
        assert not left or ".tmp" in call.path, call  # it is what could not be removed
        if got.status == 0:  # the call was of no importance, such as one that cleans up
            assert (got.err, {*now} - left) == (good.err, {*after}), call
        else:
            problem = got.err.replace(good.err, "", 1)  # which are warnings
            assert (got.status, got.out, problem.count("\n")) == (1, "", 1), call
            assert problem.startswith(f"{area}"), call
            assert ".tmp" not in problem, call
            assert "Errno" not in problem, call
            if has_earlier or not is_dataset:  # which keeps its folder for a run that goes on
                assert {path: now[path] for path in {*now} - left} == before, call


def test_a_dataset_goes_on_after_an_error(area: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = COMMANDS["score of a dataset"]
    good = ended(capsys, area, command)
    [half] = [position for position, call in enumerate(good.made) if call.function == "replace" and "sums" in call.path]
    shutil.rmtree(area / "out")
    assert ended(capsys, area, command, half, ERRORS[0]).status == 1
    assert ended(capsys, area, command)[:3] == good[:3]


def in_process(code: str, *arguments: object, cwd: Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs code, and then the command line with these arguments."""
    program = f"import os, signal, sys\nfrom spotgeo_frames.cli import app\n{code}\napp.main()"
    path = os.pathsep.join([os.getcwd(), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options,  # type: ignore[call-overload]
        text=True,
        env=os.environ | {"PYTHONPATH": path},
        cwd=cwd,
        timeout=120,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no output that is always full")
@pytest.mark.parametrize("arguments", [["score", "truth.json", "eager.json", "--json"], ["--help"]])
def test_a_full_output(sample: Path, arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = in_process("", *arguments, cwd=sample, stdout=full)
        assert done.returncode == 1
        assert_places(done.stderr.splitlines(), "standard output")
        assert in_process("", *arguments, cwd=sample, stdout=full, stderr=full).returncode == 1


def test_a_working_directory_that_is_gone(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    arguments = "score", sample / "truth.json", sample / "eager.json", "--out", "out"
    done = in_process("os.rmdir(os.getcwd())", *arguments, cwd=tmp_path / "gone")
    assert (done.returncode, done.stdout) == (1, "")
    assert_places(done.stderr.splitlines(), "the working directory")


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("where", ["import", "__del__"])
def test_a_signal_where_it_would_be_lost(tmp_path: Path, ending: signal.Signals, where: str) -> None:
    send = f"os.kill(os.getpid(), {int(ending)})"
    (tmp_path / "badly_installed.py").write_text(
        f"import os\ntry:\n    {send}\nexcept BaseException:\n    raise ImportError('badly installed')\n"
    )
    code = {
        "import": "import badly_installed",
        "__del__": f"class Last:\n        def __del__(self):\n            {send}\n    Last()",
    }[where]
    heard = f"signal.signal({int(ending)}, signal.SIG_DFL)"  # the tests may run under nohup, which has SIGHUP ignored
    code = f"import time\n{heard}\nsys.path.insert(0, '')\ndef work(_):\n    {code}\n    time.sleep(60)\napp.run = work"
    done = in_process(code, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (128 + ending, "", f"ended by {ending.name}\n")


def test_names_of_submissions_that_are_no_text(sample: Path, tmp_path: Path) -> None:
    paths = [Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)) for name in (b"\xff.json", b"\xfe.json")]
    for path in paths:
        shutil.copy(sample / "eager.json", path)
    done = in_process("", "compare", sample / "truth.json", *paths, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [row["name"] for row in json.loads(done.stdout)["leaderboard"]] == ["\\xff", "\\xfe"]
