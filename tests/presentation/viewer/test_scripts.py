"""JavaScript of the viewer and of the page: its tests by Node, how it reads what Python packed, and its one script."""

import json
import re
import zlib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.node import FOLDER, TOP_LEVEL, node
from helpers.report_inputs import many, many_boxes, many_poses
from spotgeo_frames.presentation.page.html.document import MODULES
from spotgeo_frames.presentation.viewer.scripts import VIEWER, script_of
from spotgeo_frames.presentation.viewer.view import view_of

HERE = Path(__file__).parent
SCRIPT = [*VIEWER, *MODULES]
TEXTS = {name: (FOLDER / name).read_text("utf-8") for name in SCRIPT}
MAKERS = {"points": (many, {}), "boxes": (many_boxes, {}), "poses": (many_poses, {"similarity": "oks"})}


def test_the_modules_pass_their_own_tests() -> None:
    assert "# fail 0" in node("--test", "--test-reporter", "tap", *sorted(HERE.parent.glob("*/*.test.mjs")))


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
    folders = {(FOLDER / name).parent for name in SCRIPT}
    assert {FOLDER / name for name in SCRIPT} == {path for folder in folders for path in folder.glob("*.js")}
    seen: set[Path] = set()
    for name, text in TEXTS.items():
        path = FOLDER / name
        imported = re.findall(r'^import .* from "(.*)";$', text, re.MULTILINE)
        assert {(path.parent / one).resolve() for one in imported} <= seen, name
        seen.add(path.resolve())


def test_no_top_level_name_is_in_two_modules() -> None:
    names = [name for text in TEXTS.values() for name in TOP_LEVEL.findall(text)]
    assert len(names) == len({*names}) > 50


def test_the_script_is_one_that_a_page_can_hold(tmp_path: Path) -> None:
    script = script_of(SCRIPT)
    assert not re.search(r"^\s*(?:import|export)\b", script, re.MULTILINE)
    assert "</script" not in script
    assert "<!--" not in script
    (tmp_path / "script.js").write_text(script)
    node("--check", tmp_path / "script.js")


@pytest.mark.parametrize("name", SCRIPT)
def test_no_module_makes_html_or_code_of_text_or_asks_for_anything(name: str) -> None:
    makes = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function"
    asks = r"\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|https?:"
    assert re.findall(f"{makes}|{asks}", TEXTS[name]) == []
