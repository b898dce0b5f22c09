"""What one of two submissions gains and loses against the other, in a real browser: marks, words, steps, one cursor."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

import spotgeo_frames as sf
from helpers.browser import NARROW, WIDE, Wait, axe_findings, button, has_colour, page_width, reads, text
from helpers.scenes import shaped

Opened = Callable[..., webdriver.Chrome]

STATUS, STAGES, CROSSES = ".viewer-status", ".viewer-stages", ".viewer-panel:not([hidden]) .viewer-cross"
RULES: dict[str, dict[str, Any]] = {
    "points": {},
    "boxes": {"similarity": "iou"},
    "poses": {"similarity": "oks"},
    "joints": {"tau": 10},
    "tracks": {"tracks": True},
}
INK = (27, 31, 36)

# The labels that are drawn from now on, with the panel that they are drawn in.
LISTEN = """
window.labels = [];
const draw = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
  const panel = [...document.querySelectorAll('.viewer-stage canvas')].indexOf(this.canvas);
  if (panel >= 0) window.labels.push([panel, text]);
  return draw.call(this, text, ...place);
};
"""


def missed_by(name: str, frames: list[tuple[str, int]]) -> set[tuple[str, int, int]]:
    """The objects that A or B misses: both miss 4; in the third frame of "s" A misses 2 and 3, and B misses 1; in the
    second frame of "t" B misses 1.
    """
    own = {"A": {("s", 3, 2), ("s", 3, 3)}, "B": {("s", 3, 1), ("t", 2, 1)}}
    return own[name] | {(*frame, 4) for frame in frames}


def scene(kind: str) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Four objects, 100 px apart from 105, 100 on, which move by 5 px from frame to frame; object 4 is found by nobody.

    What is found lies 2 px to the right.
    """
    frames = [(sequence, frame) for sequence in ("s", "t") for frame in (1, 2, 3, 4)]
    rows = [(*frame, name, 100.0 * name + 5 * frame[1], 100.0) for frame in frames for name in (1, 2, 3, 4)]
    names = ["sequence", "frame", "object", "x", "y"]
    found = {one: [row for row in rows if row[:3] not in missed_by(one, frames)] for one in ("A", "B")}
    truth, *predicted = (pd.DataFrame(side, columns=names) for side in (rows, *found.values()))
    moved = [shaped(one.assign(x=one["x"] + 2), kind) for one in predicted]
    return shaped(truth, kind), dict(zip(found, moved, strict=True))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of the scene of a kind, which is made once."""
    folder = tmp_path_factory.mktemp("kinds")

    def page_of(kind: str) -> Path:
        path = folder / f"{kind}.html"
        if not path.exists():
            truth, submissions = scene(kind)
            sf.report(truth, submissions, path, sections=["frames"], **RULES[kind])
        return path

    return page_of


def view(**words: Any) -> str:
    """The address of a view of both submissions."""
    return "#view?" + urlencode({"submission": ["A", "B"]} | words, doseq=True)


def legend(driver: webdriver.Chrome) -> list[str]:
    return [one.text for one in driver.find_elements(By.CSS_SELECTOR, ".viewer-legend li")]


def labels_after(driver: webdriver.Chrome, act: Callable[[], None]) -> set[tuple[int, str]]:
    """The labels that tell of changes and are drawn after an act of the reader, with their panel."""
    driver.execute_script(LISTEN)
    act()
    Wait(driver, 20).until(lambda one: one.execute_script("return window.labels.length"))
    told = driver.execute_script("return window.labels")
    return {(panel, label) for panel, label in told if label.startswith(("gained", "lost"))}


@pytest.mark.parametrize("kind", RULES)
def test_differences_are_marked_by_words_and_counted(opened: Opened, drawn: Callable[[str], Path], kind: str) -> None:
    driver = opened(drawn(kind), address=view(sequence="s", frame=1))
    assert text(driver, STATUS).endswith("; the same truths are found")
    told = labels_after(driver, lambda: driver.find_element(By.CSS_SELECTOR, STAGES).send_keys("c"))
    reads(driver, STATUS, "sequence s, frame 3 ")
    n = 3 if kind == "joints" else 1  # each joint is a truth
    assert text(driver, STATUS).endswith(f"; B gains {2 * n} and loses {n} against A")
    words = {(panel, label.split()[0]) for panel, label in told}
    assert words == {(panel, word) for panel in (0, 1) for word in ("gained", "lost")}
    if kind == "tracks":
        assert {(0, "gained #2 gap"), (1, "lost #1 gap")} < told
    assert {"gained: found by B, missed by A", "lost: found by A, missed by B"} < {*legend(driver)}
    described = driver.find_element(By.CSS_SELECTOR, ".viewer-stage canvas").get_attribute("aria-label")
    assert str(described).endswith(f"; B gains {2 * n} and loses {n} against A")
    cells = [row.text for row in driver.find_elements(By.CSS_SELECTOR, ".viewer tbody th")]
    assert (cells.count("missed (gained by B)"), cells.count("found (gained by B)")) == (2 * n, 2 * n)
    assert (cells.count("missed (lost by B)"), cells.count("found (lost by B)")) == (n, n)
    layout = Select(driver.find_element(By.XPATH, "//label[starts-with(., 'Submissions')]/select"))
    over = labels_after(driver, lambda: layout.select_by_index(1))
    assert {(panel, label.split()[0]) for panel, label in over} == {(0, "gained"), (0, "lost")}


def test_steps_lead_to_frames_with_a_change(opened: Opened, drawn: Callable[[str], Path]) -> None:
    driver = opened(drawn("points"), address=view(sequence="s", frame=1))
    bars = driver.find_element(By.CSS_SELECTOR, ".viewer-scrubber canvas")
    assert bars.get_attribute("aria-label") == "Errors by frame: 4 of 4 frames have some, 1 a change"
    for place in ("s, frame 3 ", "t, frame 2 ", "t, frame 2 "):
        button(driver, "Next change").click()
        reads(driver, STATUS, f"sequence {place}")
    assert text(driver, STATUS).endswith("; B loses 1 against A")
    driver.find_element(By.CSS_SELECTOR, STAGES).send_keys("C")
    reads(driver, STATUS, "sequence s, frame 3 ")
    assert "c to the next frame where the submissions differ" in text(driver, ".viewer-player + .viewer-keys")


def test_one_submission_has_no_changes(opened: Opened, drawn: Callable[[str], Path]) -> None:
    driver = opened(drawn("points"), address=view(sequence="s", frame=3, submission=["B"]))
    assert text(driver, STATUS).endswith("2 found, 2 missed, 0 false")
    assert not [one for one in legend(driver) if one.startswith(("gained", "lost"))]
    assert not [one for one in driver.find_elements(By.TAG_NAME, "button") if one.text == "Next change"]
    driver.find_element(By.CSS_SELECTOR, STAGES).send_keys("c")
    reads(driver, STATUS, "sequence s, frame 3 ")


def test_gained_and_lost_differ_by_shape(opened: Opened, drawn: Callable[[str], Path]) -> None:
    """Around boxes of 40 x 30 px, drawn twice as large: corners along the edges, or rays that leave the corners."""
    for layout in ("beside", "over"):
        driver = opened(drawn("boxes"), address=view(sequence="s", frame=3, zoom="215 100 2", layout=layout))
        for panel in (0, 1) if layout == "beside" else (0,):
            left, right, bottom = -20 - 11 / 2, 20 + 11 / 2, 15 + 11 / 2  # of the marks, from the middle of a box
            for x, is_gained in ((215, True), (115, False)):
                along_edge = has_colour(driver, INK, x + right - 2.5, 100 + bottom, panel, reach=0)
                outwards = has_colour(driver, INK, x + left - 1, 100 + bottom + 1, panel, reach=0)
                assert (along_edge, outwards) == (is_gained, not is_gained), (layout, panel, x)


def test_the_tip_says_who_finds_it(opened: Opened, drawn: Callable[[str], Path]) -> None:
    driver = opened(drawn("boxes"), address=view(sequence="s", frame=3, zoom="215 100 2"))
    canvas = driver.find_element(By.CSS_SELECTOR, ".viewer-stage canvas")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    ActionChains(driver).move_to_element_with_offset(canvas, -40, 5).perform()
    assert "gained\nfound by B, missed by A" in reads(driver, ".viewer-tip", "missed truth")
    ActionChains(driver).move_to_element_with_offset(canvas, -232, 5).perform()
    assert "lost truth\nfound by A, missed by B" in reads(driver, ".viewer-tip", "right prediction")


# Where a cross is, from the middle of a canvas, and whether the canvas gets what is clicked there.
UNDER = """
const [cross, canvas] = arguments;
const [{x, y}, {left, top, width, height}] = [cross, canvas].map((one) => one.getBoundingClientRect());
return [x - left - width / 2, y - top - height / 2, document.elementFromPoint(x, y) === canvas];
"""


def crosses(driver: webdriver.Chrome) -> list[bool]:
    return [one.get_attribute("hidden") is None for one in driver.find_elements(By.CSS_SELECTOR, CROSSES)]


def test_the_pointer_is_seen_in_the_other_panel(opened: Opened, drawn: Callable[[str], Path]) -> None:
    driver = opened(drawn("boxes"), address=view(sequence="s", frame=3, zoom="215 100 2"))
    canvases = driver.find_elements(By.CSS_SELECTOR, ".viewer-panel:not([hidden]) canvas")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvases[0])
    assert crosses(driver) == [False, False]
    for panel in (0, 1):
        ActionChains(driver).move_to_element_with_offset(canvases[panel], 30, -20).perform()
        assert crosses(driver) == [panel == 1, panel == 0]
        cross = driver.find_elements(By.CSS_SELECTOR, CROSSES)[1 - panel]
        *place, lets_through = driver.execute_script(UNDER, cross, canvases[1 - panel])
        assert place == pytest.approx([30, -20], abs=1)
        assert lets_through, "it is in the way of no click"
    ActionChains(driver).move_to_element(driver.find_element(By.CSS_SELECTOR, STATUS)).perform()
    assert crosses(driver) == [False, False]


def test_images_of_a_frame_each_have_the_step(opened: Opened, tmp_path: Path) -> None:
    """A sequence of one frame cannot be played, but a change may be in the next one."""
    truth = pd.DataFrame({"sequence": [1, 2, 3], "frame": 1, "object": 1, "x": 50.0, "y": 50.0})
    found = {name: truth[truth["sequence"] != missed] for name, missed in (("A", 1), ("B", 3))}
    sf.report(truth, found, tmp_path / "report.html", sections=["frames"])
    driver = opened(tmp_path / "report.html", address=view(sequence=1, frame=1))
    assert text(driver, STATUS).endswith("; B gains 1 against A")
    shown = [one.text for one in driver.find_elements(By.CSS_SELECTOR, ".viewer-player button") if one.is_displayed()]
    assert shown == ["Next change"]
    button(driver, "Next change").click()
    assert reads(driver, STATUS, "sequence 3, frame 1 ").endswith("; B loses 1 against A")


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_a_screen_reader_can_read_it(opened: Opened, drawn: Callable[[str], Path], width: int, scheme: str) -> None:
    filtered = json.dumps([{"column": "outcome", "is": ["missed"]}])
    driver = opened(drawn("boxes"), width, scheme, view(sequence="s", frame=3, filter=filtered))
    assert page_width(driver) <= width
    assert axe_findings(driver) == []
