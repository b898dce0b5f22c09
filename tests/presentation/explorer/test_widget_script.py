"""The widget's JavaScript: its own tests by Node, and its modules as one module that anywidget takes."""

import re
from pathlib import Path

import pytest

pytest.importorskip("anywidget")

from helpers.node import FOLDER, TOP_LEVEL, node
from spotgeo_frames.presentation.explorer.widget import MODULES, Explorer

HERE = Path(__file__).parent
TEXTS = {name: (FOLDER / name).read_text("utf-8") for name in MODULES}
OWN = [name for name in MODULES if name.startswith("explorer/")]


def test_the_modules_pass_their_own_tests() -> None:
    assert "# fail 0" in node("--test", "--test-reporter", "tap", *sorted(HERE.glob("*.test.mjs")))


def test_every_module_is_there_after_those_it_imports() -> None:
    assert {Path(name).name for name in OWN} == {path.name for path in (FOLDER / "explorer/assets").glob("*.js")}
    seen: set[str] = set()
    for name, text in TEXTS.items():
        imported = re.findall(r'^import .* from "\.{1,2}/(?:.*/)?(.*)";$', text, re.MULTILINE)
        assert {*imported} <= seen, name
        seen.add(Path(name).name)


def test_no_top_level_name_is_in_two_modules() -> None:
    names = [name for text in TEXTS.values() for name in TOP_LEVEL.findall(text)]
    assert len(names) == len({*names}) > 50


def test_the_module_stands_alone(tmp_path: Path) -> None:
    exports = re.findall(r"^(?:import|export)\b.*", Explorer._esm, re.MULTILINE)
    assert exports == ["export default { render };"]
    (tmp_path / "widget.mjs").write_text(Explorer._esm)
    node("--check", tmp_path / "widget.mjs")


@pytest.mark.parametrize("name", OWN)
def test_no_module_makes_html_or_code_of_text_or_asks_for_anything(name: str) -> None:
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\bfetch\(|XMLHttp|https?:"
    )
    assert re.findall(forbidden, TEXTS[name]) == []


def test_the_colours_are_those_of_jupyterlab_before_those_of_the_system() -> None:
    for is_light, scheme in (("true", "light"), ("false", "dark")):
        [rules] = re.findall(rf'\[data-jp-theme-light="{is_light}"\] \.viewer {{(.*?)}}', Explorer._css, re.DOTALL)
        assert f"--viewer-scheme: {scheme}" in rules
        assert "--viewer-found" in rules
    assert "url(" not in Explorer._css
    assert "@import" not in Explorer._css
