"""The page of tracks in a real browser: small charts, breaks with the frames around them, headings that tell."""

from collections.abc import Callable
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import spotgeo_frames as sf
from helpers.browser import NARROW, WIDE, axe_findings, click, marks, page_width, reads, text
from helpers.report_inputs import Page, many
from spotgeo_frames.presentation.page.sections import shown_frames

Opened = Callable[..., webdriver.Chrome]
PANELS = ["HOTA", "DetA", "AssA", "MOTA", "IDF1"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, tracks: Path) -> Path:
    """A report of two trackers, by a condition."""
    path = tmp_path_factory.mktemp("tracks") / "report.html"
    truth, found = sf.read_motchallenge(tracks / "truth", tracks / "tracker")
    few = sf.Annotations(found.objects[found.objects["object"] % 2 > 0])
    sf.report(truth, {"all": found, "few": few}, path, {"truth_visibility": [0, 0.5, 1]}, tracks=True)
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_it_is_drawn_and_a_screen_reader_can_read_it(opened: Opened, page: Path, width: int, scheme: str) -> None:
    driver = opened(page, width, scheme)
    for prefix in ("sequences", "tracks-1"):
        panels = [driver.find_element(By.CSS_SELECTOR, f"[data-chart='{prefix}-{metric}']") for metric in PANELS]
        assert all(len(marks(panel)) >= 4 for panel in panels)
        rows = {panel.location["y"] for panel in panels}
        assert len(rows) == (1 if width == WIDE else len(PANELS)), "side by side where there is room"
    assert page_width(driver) <= width
    assert axe_findings(driver) == []


@pytest.mark.parametrize("name", ["constructor", "__proto__", "<b>a name of many characters</b> " * 3])
def test_sequences_of_any_name_are_drawn(opened: Opened, tmp_path: Path, name: str) -> None:
    truth, found = many(3)
    sides = [side.assign(sequence=side["sequence"].map({1: name, 2: "b", 3: "c"})) for side in (truth.objects, found)]
    sf.report(*sides, tmp_path / "report.html", tracks=True)
    driver = opened(tmp_path / "report.html", NARROW)
    for metric in PANELS:
        panel = driver.find_element(By.CSS_SELECTOR, f"[data-chart='sequences-{metric}']")
        assert len(marks(panel)) >= 4, "a dot for each sequence, and one for all"
    assert page_width(driver) <= NARROW


def test_headings_tell_what_their_metric_is(opened: Opened, page: Path) -> None:
    driver = opened(page)
    heading = driver.find_element(By.CSS_SELECTOR, "[data-table='tracks-by-sequence'] th:nth-child(3) button")
    assert (heading.text, heading.get_attribute("title")) == (
        "HOTA",
        "sqrt(DetA AssA); mean over alpha = 0.05, 0.10 ... 0.95",
    )
    told = driver.find_element(By.ID, str(heading.get_attribute("aria-describedby")))
    assert "Official: HOTA, CLEAR and Identity as trackeval 1.3.0 computes them" in told.text


def test_a_cause_shows_its_frames(opened: Opened, page: Path) -> None:
    driver = opened(page)
    row = driver.find_element(By.CSS_SELECTOR, "[data-table='causes'] tbody tr")
    name, _, cause, count = (cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td"))
    row.find_elements(By.TAG_NAME, "button")[-1].click()
    assert f"cause is {cause}: {count} of" in reads(driver, ".frames-filter", f"{name}, cause is {cause}")


def test_a_break_leads_to_its_frame_and_the_frames_around(
    opened: Opened, tracks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the truth that broke selected; on a page that has no room for all frames, too."""
    for name, most in (("MOST_ROWS", 100), ("ROWS_CHOSEN", 100), ("ROWS_AROUND", 700)):
        monkeypatch.setattr(shown_frames, name, most)
    truth, found = sf.read_motchallenge(tracks / "truth", tracks / "tracker")
    sf.report(truth, found, tmp_path / "report.html", tracks=True)
    rows = Page(tmp_path / "report.html").data["tables"]["breaks"]["rows"]
    sequence, frame, selected, *_ = row = next(row for row in rows if 11 <= int(row[1]) <= 79)
    driver = opened(tmp_path / "report.html")
    place = f"[data-table='breaks'] tbody tr:nth-child({rows.index(row) + 1}) a"
    assert text(driver, place) == frame
    click(driver, place)
    reads(driver, ".viewer-status", f"sequence {sequence}, frame {frame} ")
    chosen = driver.find_elements(By.CSS_SELECTOR, ".viewer tbody tr:has([aria-pressed='true'])")
    assert [selected in line.text.split() for line in chosen] == [True]
    stage = driver.find_element(By.CSS_SELECTOR, ".viewer-stages")
    for key, step in ((Keys.ARROW_LEFT, -1), (Keys.ARROW_RIGHT, 1)):
        click(driver, place)
        reads(driver, ".viewer-status", f"frame {frame} ")
        for away in range(1, 11):
            stage.send_keys(key)
            reads(driver, ".viewer-status", f"sequence {sequence}, frame {int(frame) + step * away} ")
