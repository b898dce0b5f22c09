"""Whatever a name holds, nothing in it acts on the terminal: one function prints, and it escapes."""

import ast
import json
import warnings
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pandas as pd
import pytest

import spotgeo_frames.cli
from helpers.commands import run_here, run_process
from spotgeo_frames.cli.answers import formatted
from spotgeo_frames.cli.printing import one_line, problems_reported, tell

# A colour, the same by one character of eight bits, a new title of the window, a backspace, a text turned around, and
# an invisible mark.
HOSTILE = "a\x1b[31m\x9b32m\x1b]0;x\x07\x08\u202eb\u200f"
SHOWN = "a\\x1b[31m\\x9b32m\\x1b]0;x\\x07\\x08\\u202eb\\u200f"


def printed(*arguments: object) -> str:
    """What a command prints; no line of it has a character that a terminal may act on."""
    done = run_here(*arguments)
    assert done.status == 0, done.err
    assert [line for line in (done.out + done.err).split("\n") if not line.isprintable()] == []
    return done.out


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A table whose file, sequence, column and value have such names."""
    table = pd.DataFrame({"sequence": [HOSTILE, "b"], "frame": 1, "object": 1, "x": [1.0, 2.0], "y": 1.0})
    path = tmp_path / f"{HOSTILE.replace('/', '')}.parquet"
    table.assign(**{HOSTILE: [HOSTILE, "c"]}).to_parquet(path)
    return path


def test_names_in_tables_and_headings_are_escaped(hostile: Path) -> None:
    out = printed("score", hostile, hostile, "--by", "sequence", "--by", f"truth_{HOSTILE}", "--exclude", "b,\x1b[0m")
    heading, *rows = [line for line in out.splitlines() if SHOWN in line]
    assert heading.count(SHOWN) == 2
    assert len(rows) == 3  # the sequence, then the column's heading and value
    assert SHOWN in printed("compare", hostile, hostile, hostile)
    assert SHOWN in printed("score", "--dataset", hostile, hostile, "--by", "sequence")


def test_names_of_sequences_of_tracks_are_escaped(tmp_path: Path) -> None:
    for side in ("truth", "tracker"):
        (tmp_path / side).mkdir()
        (tmp_path / side / f"{HOSTILE}.txt").write_text("1,1,10,10,20,20,1,1,1\n")
    assert SHOWN in printed("track", tmp_path / "truth", tmp_path / "tracker")


def test_json_escapes_them_and_keeps_their_values(hostile: Path) -> None:
    out = printed("score", hostile, hostile, "--by", "sequence", "--json")
    assert [row["value"] for row in json.loads(out)["by"]["sequence"]] == [HOSTILE, "b"]
    assert run_process("score", hostile, hostile, "--by", "sequence", "--json").out == out


def test_lines_are_kept_and_nothing_else_that_cannot_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    tell("é 漢 px²\n\x1b\r\t\u2028\ud800")
    assert capsys.readouterr().out == "é 漢 px²\n\\x1b\\r\\t\\u2028\\ud800\n"
    assert one_line("a\nb") == "a\\nb"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "koi8-r", "cp1252", "utf-16"])
def test_characters_that_an_encoding_does_not_have_are_escaped(encoding: str) -> None:
    names = ["é", "漢", "😀", "я", "a\\b", "px²"]
    with TextIOWrapper(BytesIO(), encoding) as file, redirect_stdout(file):
        tell(formatted({"names": names}))
        file.seek(0)
        assert json.loads(file.read()) == {"names": names}
    with TextIOWrapper(BytesIO(), "ascii") as file, redirect_stderr(file):
        tell("é: px²", is_problem=True)
        file.seek(0)
        assert file.read() == "\\u00e9: px\\u00b2\n"


def test_only_one_function_prints() -> None:
    folder = Path(spotgeo_frames.cli.__file__).parent
    writers = {
        path.name
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Name) and node.id == "print")
        or (isinstance(node, ast.Attribute) and node.attr in ("print_help", "print_usage", "write"))
    }
    assert writers == {"printing.py"}


def test_what_libraries_tell_programmers_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with problems_reported():
        warnings.warn("of use to people", stacklevel=1)
        warnings.warn("a library's old name", DeprecationWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: of use to people\n"
