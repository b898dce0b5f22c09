"""What people see on a terminal: colours, lines that fit, the steps of long work; and what pipes get instead."""

import json
import re
import shlex
import shutil
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.commands import Screen, run_here, run_process, run_terminal
from helpers.reference import PROJECT
from spotgeo_frames.cli import layout, terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs terminals as Unix has them")

SAMPLE, TRACKS = PROJECT / "data" / "sample", PROJECT / "data" / "tracks"
SCORE = ["score", SAMPLE / "truth.json", SAMPLE / "eager.json"]
CODES = re.compile(r"\x1b\[\d*m")
BOLD, RED, GREEN, YELLOW = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m"


def widest(screen: Screen | str) -> int:
    text = screen if isinstance(screen, str) else screen.text
    return max(map(len, CODES.sub("", text).splitlines()))


def test_numbers_are_bold_on_a_terminal_and_plain_in_a_pipe() -> None:
    assert f"{BOLD}0.8194" in run_terminal(*SCORE).text
    assert "\x1b" not in run_process(*SCORE).out


def test_numbers_without_a_formula_are_there_on_a_terminal_too() -> None:
    folders = [TRACKS / name for name in ("truth", "tracker")]
    for text in (run_terminal("track", *folders).text, run_process("track", *folders).out):
        assert re.findall(r"^  (\S+) +(\d\.\d{4})", CODES.sub("", text), re.MULTILINE)[:3] == [
            ("HOTA", "0.7238"),
            ("DetA", "0.7644"),
            ("AssA", "0.6869"),
        ]


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
    ],
)
def test_variables_switch_colours_off_and_on(variables: dict[str, str], coloured: bool) -> None:
    assert ("\x1b" in run_terminal("nonsense", **variables).text) == coloured


def test_colours_in_a_pipe_where_they_are_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = run_here(*SCORE).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    forced = run_here(*SCORE).out
    assert BOLD in forced
    assert CODES.sub("", forced) == plain  # colours say nothing that words do not
    assert "\x1b" not in run_here(*SCORE, "--json").out


def test_errors_warnings_and_checks_have_colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert f"{RED}Error:" in run_here("nonsense").err
    assert f"{RED}{tmp_path / 'no.json'}" in run_here("score", tmp_path / "no.json", tmp_path / "no.json").err
    assert f"{YELLOW}warning:" in run_here(*SCORE, "--exclude", "99").err
    out = run_here("gate", *SCORE[1:], "--min", "f1=0.9", "--max", "mse=40").out
    assert f"{RED}NOT PASSED" in out
    assert f"{GREEN}passed" in out


def test_no_name_colours_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that hold the marks of styles, or codes, stay text."""
    name = "".join(terminal.MARKS.values()) + "\x1b[31mx" + terminal.END
    table = pd.DataFrame({"sequence": [name, "b"], "frame": 1, "object": 1, "x": [1.0, 2.0], "y": 1.0, name: "c"})
    path = tmp_path / f"{name.replace('/', '')}.parquet"
    table.to_parquet(path)
    monkeypatch.setenv("FORCE_COLOR", "1")
    by = ["--by", "sequence", "--by", f"truth_{name}"]
    for words in (["score", path, path, *by], ["compare", path, path, path], ["track", path, path]):
        done = run_here(*words)
        assert done.status == 0, done.err
        without = CODES.sub("", done.out)
        assert "\\ue000\\ue001" in without
        assert all(line.isprintable() for line in without.splitlines())
        for line in done.out.splitlines():
            if "\\ue000" in line:
                assert RED not in line


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize(
    "words",
    [
        [*SCORE[:1], SAMPLE / "truth.parquet", SAMPLE / "eager.parquet", "--by", "truth_brightness:4"],
        ["track", TRACKS / "truth", TRACKS / "tracker", "--metrics", "siap"],
        ["ap", PROJECT / "data/coco/annotations.json", PROJECT / "data/coco/fast.json"],
        ["compare", *SCORE[1:], SAMPLE / "cautious.json"],
    ],
    ids=["score", "track", "ap", "compare"],
)
def test_lines_fit_the_terminal_and_nothing_is_dropped(
    words: list[object], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = run_here(*words).out
    monkeypatch.setenv("COLUMNS", str(width))
    narrow = run_here(*words).out
    paths = re.compile(r"\S*/\S*")  # which are not broken, so that they can be copied
    assert widest(paths.sub("", narrow)) <= width
    if words[0] != "ap":  # whose lines are shorter there
        assert {*wide.split()} == {*narrow.split()}


def test_lines_fit_a_real_terminal() -> None:
    wide, narrow = (run_terminal("track", "truth", "tracker", width=width, code=IN_TRACKS) for width in (150, 70))
    assert (wide.status, narrow.status) == (0, 0)
    assert 100 < widest(wide) <= 150
    assert 60 < widest(narrow) <= 70
    assert {*CODES.sub("", wide.text).split()} == {*CODES.sub("", narrow.text).split()}


IN_TRACKS = f"import os; os.chdir({str(TRACKS)!r}); from spotgeo_frames.cli.app import main; main()"


def test_a_terminal_of_unknown_width_limits_no_line() -> None:
    """Its width is 0, as on serial lines and in some containers."""
    assert widest(run_terminal("track", "truth", "tracker", width=0, code=IN_TRACKS)) > 80


def test_no_terminal_is_taken_for_narrower_than_60_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert terminal.width() == terminal.NARROWEST
    monkeypatch.setenv("COLUMNS", "0")
    assert terminal.width() is None  # not said, and no terminal here


def test_long_names_lose_their_middle_only_where_they_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    apart = [f"recording_{at}_{'of_a_night_' * 8}{at}" for at in range(3)]
    same = [f"recording_{'of_a_night_' * 4}{at}{'_in_the_south' * 4}" for at in range(3)]
    for names in (apart, same):
        text = layout.aligned({"name": names, "F1": ["0.5"] * 3})
        assert (max(map(len, text.splitlines())) <= 60) == (names is apart)
        assert all(name in text for name in names) == (names is same)


def test_long_names_leave_half_the_width_to_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"recording_{at}_{'of_a_night_' * 4}{at}" for at in range(3)]
    columns = {f"metric{at}": ["0.1234"] * 3 for at in range(8)}
    blocks = layout.aligned({"": names, **columns}).split("\n\n")
    assert [block.split("\n")[0].split() for block in blocks] == [[*columns][:4], [*columns][4:]]


def test_no_column_stands_alone_below_a_full_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    columns = {f"metric{at}": ["0.1234"] for at in range(8)}
    blocks = layout.aligned({"": ["a"], **columns}).split("\n\n")
    assert [block.count("metric") for block in blocks] == [4, 4]


cells = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=25)


@given(st.data(), st.integers(1, 12), st.integers(1, 4), st.integers(60, 120))
def test_blocks_hold_every_cell_once_beside_its_name(data: st.DataObject, n: int, n_rows: int, width: int) -> None:
    columns = {f"h{at}": [data.draw(cells) for _ in range(n_rows)] for at in range(n)}
    names = [f"row{at}" for at in range(n_rows)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("COLUMNS", str(width))
        blocks = layout.aligned({"name": names, **columns}).split("\n\n")
    assert all(len(line) <= width for block in blocks for line in block.split("\n"))
    found: dict[str, list[str]] = {}
    for block in blocks:
        header, *rows = [line.split() for line in block.split("\n")]
        assert [row[0] for row in rows] == names
        found |= {heading: [row[at] for row in rows] for at, heading in enumerate(header) if at}
    assert found == columns


def test_characters_of_two_columns_stay_aligned(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = layout.aligned({"": ["夜空", "ab"], "F1": ["0.5", "0.25"]}).split("\n")
    assert [layout.length(line) for line in lines] == [9, 9, 9]
    monkeypatch.setenv("COLUMNS", "80")
    lines = layout.aligned({"": ["汉字" * 30 + "1", "汉字" * 30 + "2"], "F1": ["0.5", "0.25"]}).split("\n")
    assert len({layout.length(line) for line in lines}) == 1
    assert layout.length(lines[0]) <= 40 + 5


@given(st.lists(st.text("ab汉字-", min_size=1, max_size=30), max_size=40), st.integers(0, 12), st.integers(60, 90))
def test_prose_is_broken_between_words_by_the_columns_that_they_take(words: list[str], n: int, width: int) -> None:
    lines = layout.prose(" ".join(words), " " * n, width).split("\n")
    assert " ".join(lines).split() == words
    assert all(line[:n].isspace() or not n for line in lines)
    for line, later in pairwise(lines):
        assert layout.length(line) <= width or len(line.split()) == 1
        assert layout.length(f"{line} {later.split()[0]}") > width


def test_a_heading_with_wide_characters_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"{'夜空の観測データ' * 3}.json"
    shutil.copy(SCORE[2], path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    lines = run_here("score", path.name, path.name).out.splitlines()
    assert max(map(layout.length, lines)) <= 80


# Work whose steps take as long as they are looked at. The first step is over before anything is shown of it.
SLOW = """
import sys, time
from spotgeo_frames.support import work
work.PATIENCE = 0.2
work.SHOWN.wanted = sys.argv[1] != "quiet"
with work.step("reading"):
    time.sleep(0.05)
with work.step("matching"):
    time.sleep(0.6)
    for _ in work.progress(range(3), "drawing", "frame"):
        time.sleep(0.2)
print("done")
"""


def test_long_steps_are_named_and_leave_nothing_behind() -> None:
    text = run_terminal("loud", code=SLOW).text
    assert "matching: 0 s" in text
    assert "drawing" in text
    assert "reading" not in text
    assert text.rpartition("\r")[2] == "done\n"  # no bar that stands still at 100%
    assert run_terminal("quiet", code=SLOW).text == "done\n"


def test_standard_error_may_be_closed() -> None:
    """The result is there, and no warning gets into it."""
    import subprocess

    words = shlex.join(
        map(str, [sys.executable, "-m", "spotgeo_frames", "compare", *SCORE[1:], SAMPLE / "cautious.json"])
    )
    for options in ("", "--exclude 99"):
        done = subprocess.run(["sh", "-c", f"{words} --json {options} 2>&-"], capture_output=True, check=False)
        assert done.returncode == 0
        assert [row["name"] for row in json.loads(done.stdout)["leaderboard"]] == ["eager", "cautious"]


def test_pipes_get_no_steps() -> None:
    import subprocess

    done = subprocess.run([sys.executable, "-c", SLOW, "loud"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("done\n", "")


@pytest.mark.parametrize("option", ["--quiet", "-q"])
def test_quiet_leaves_out_warnings_and_hints_but_no_error(option: str, tmp_path: Path) -> None:
    loud, quiet = run_here(*SCORE, "--exclude", "99"), run_here(*SCORE, "--exclude", "99", option)
    assert "warning:" in loud.err
    assert (quiet.status, quiet.out, quiet.err) == (0, loud.out, "")
    table = pd.DataFrame({"video": ["a"], "image_id": [1], "xmin": np.ones(1), "ymin": 1.0})
    table.to_csv(tmp_path / "other.csv", index=False)
    words = ["score", tmp_path / "other.csv", tmp_path / "other.csv"]
    loud, quiet = run_here(*words), run_here(*words, option)
    assert "hint:" in loud.err
    assert quiet.err == "".join(line for line in loud.err.splitlines(keepends=True) if not line.startswith("hint:"))
    assert quiet.status == loud.status == 1
    assert run_here(option, *SCORE, "--exclude", "99") == run_here(*SCORE, "--exclude", "99", option)
    assert run_here(option) == run_here()


def test_options_before_the_command_are_listed() -> None:
    done = run_here("-x", *SCORE)
    assert (done.status, "known: --version, --quiet, --help" in done.err) == (2, True)
    assert "--quiet" in run_here("--help").out
