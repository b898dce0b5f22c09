"""The viewer's JavaScript: its own tests by Node, what it reads of Python's views, and its modules as one script."""

import json
import re
import shutil
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.reference import PROJECT
from helpers.report_inputs import many, many_boxes, many_poses
from spotgeo_frames.presentation.viewer.scripts import PRESENTATION, VIEWER, script_of
from spotgeo_frames.presentation.viewer.view import view_of

HERE = Path(__file__).parent
FOLDER = PROJECT.joinpath(*PRESENTATION.split("."))
MODULES = {name: (FOLDER / name).read_text("utf-8") for name in VIEWER}
TOP_LEVEL = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)
MAKERS = {"points": (many, {}), "boxes": (many_boxes, {}), "poses": (many_poses, {"similarity": "oks"})}


def node(*arguments: str | Path) -> str:
    """What a program of Node prints; the test is skipped where there is no Node that knows modules by their content."""
    program = shutil.which("node")
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout if program else "v0.0"
    if program is None or tuple(map(int, version[1:].split(".")[:2])) < (20, 19):
        pytest.skip("node 20.19 or later is not here; Debian's package is called nodejs")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_modules_pass_their_own_tests() -> None:
    assert "# fail 0" in node("--test", "--test-reporter", "tap", *sorted(HERE.glob("*.test.mjs")))


@pytest.mark.parametrize("kind", MAKERS)
def test_javascript_reads_what_python_packed(kind: str, tmp_path: Path) -> None:
    make, rule = MAKERS[kind]
    truth, predictions = make(3)
    matches = sf.match(truth, predictions, **rule)
    view = view_of(matches.assign(submission=pd.Categorical(["one"] * len(matches))), "distance, px", 10.0)
    (tmp_path / "about.json").write_text(json.dumps(view.about))
    (tmp_path / "content").write_bytes(zlib.compress(view.content))
    read: dict[str, Any] = json.loads(node(HERE / "read_view.mjs", tmp_path))
    score = sf.summarize(matches).iloc[0]
    assert read["kind"] == kind
    assert read["sequences"] == ["1", "2", "3"]
    assert len(read["truths"]) == len(read["x"]) == score["tp"] + score["fn"]
    assert None not in read["x"]
    assert (read["found"], read["missed"], read["wrong"]) == ([score["tp"]], [score["fn"]], [score["fp"]])


def test_every_module_is_in_the_script_after_those_it_imports() -> None:
    assert {Path(name).name for name in VIEWER} == {path.name for path in (FOLDER / "viewer/assets").glob("*.js")}
    seen: set[str] = set()
    for name, text in MODULES.items():
        imported = set(re.findall(r'^import .* from "\./(.*)";$', text, re.MULTILINE))
        assert imported <= seen, name
        seen.add(Path(name).name)


def test_no_top_level_name_is_in_two_modules() -> None:
    names = [name for text in MODULES.values() for name in TOP_LEVEL.findall(text)]
    assert len(names) == len({*names}) > 50


def test_the_script_is_one_that_a_page_can_hold(tmp_path: Path) -> None:
    script = script_of(VIEWER)
    assert not re.search(r"^\s*(?:import|export)\b", script, re.MULTILINE)
    assert "</script" not in script
    assert "<!--" not in script
    (tmp_path / "script.js").write_text(script)
    node("--check", tmp_path / "script.js")


@pytest.mark.parametrize("name", VIEWER)
def test_no_module_makes_html_or_code_of_text_or_asks_for_anything(name: str) -> None:
    makes = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function"
    asks = r"\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|https?:"
    assert re.findall(f"{makes}|{asks}", MODULES[name]) == []
