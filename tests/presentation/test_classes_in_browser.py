"""Matrices and curves of classes in a real browser: what a click or a key on a cell shows."""

from collections.abc import Callable
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import spotgeo_frames as sf
from helpers.browser import NARROW, WIDE, Wait, axe_findings, page_width, text
from helpers.report_inputs import PETS, pets
from spotgeo_frames.analysis.errors import with_confused

Opened = Callable[..., webdriver.Chrome]
TOLD = ".filter-status"


@pytest.fixture(scope="module")
def classed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of two detectors of three classes."""
    truth, sides = pets(PETS)
    path = tmp_path_factory.mktemp("classed") / "report.html"
    sf.report(truth, sides, path)
    return path


def test_every_cell_shows_the_rows_that_it_counts(opened: Opened, classed: Path) -> None:
    driver = opened(classed)
    links = driver.find_elements(By.CSS_SELECTOR, "a[data-cell]")
    assert len(links) > 15
    for link in links:
        name = str(link.get_attribute("aria-label"))
        before = text(driver, TOLD)
        link.send_keys(Keys.ENTER)
        Wait(driver, 20).until(lambda one, before=before: text(one, TOLD) not in ("", before))
        assert f": {name.split(',')[0]} of " in text(driver, TOLD), name
        assert driver.execute_script("return document.activeElement.closest('#frames') !== null")
        driver.execute_script("document.querySelector('#classes').scrollIntoView()")


def test_patches_of_a_cell_are_its_rows(opened: Opened, classed: Path) -> None:
    """The cats that are taken for dogs, each in its frame; a click shows the one that was clicked."""
    truth, sides = pets(PETS)
    of = sf.average_precision(truth, sides["eager"])
    rows = of.matches[of.matches["threshold"] == 0.5].assign(submission="eager")
    told, _ = with_confused(rows, {"eager": of}, 0.5)
    cats = told[(told["truth_category"] == "cat") & (told["detected_as"] == "dog")]
    driver = opened(classed)
    cell = driver.find_element(By.XPATH, "//a[@data-cell and contains(@aria-label, 'cat detected as dog')]")
    cell.send_keys(Keys.ENTER)
    status = f"{len(cats)} of {len(cats)} rows of eager that pass the filter"
    Wait(driver, 20).until(lambda one: text(one, ".frames-patches .gallery-status") == status)
    patches = driver.find_elements(By.CSS_SELECTOR, ".viewer-patches button")
    Wait(driver, 20).until(lambda _: all(patch.text.startswith("missed (confused), cat") for patch in patches))
    frames = sorted(
        f"{sequence}, frame {frame}" for sequence, frame in zip(cats["sequence"], cats["frame"], strict=True)
    )
    assert sorted(patch.text.split("\n")[1] for patch in patches) == frames
    driver.execute_script("document.querySelector('.viewer-patches').scrollIntoView()")
    painted = (
        "return [...document.querySelectorAll('.viewer-patches canvas')].every((one) => one.toDataURL().length > 1500)"
    )
    Wait(driver, 20).until(lambda one: one.execute_script(painted))
    patches[1].send_keys(Keys.ENTER)
    chosen = ".viewer tbody tr:has([aria-pressed='true'])"
    Wait(driver, 20).until(lambda one: "cat" in text(one, chosen) or "missed" in text(one, chosen))


def test_a_cell_whose_frames_are_not_here_is_no_link(opened: Opened, classed: Path, tmp_path: Path) -> None:
    content = classed.read_text("utf-8").replace("%5B%22cat%22%5D", "%5B%22gone%22%5D")
    (tmp_path / "report.html").write_text(content, "utf-8")
    driver = opened(tmp_path / "report.html")
    left = driver.find_elements(By.CSS_SELECTOR, "a[data-cell]")
    assert not any("cat" in str(link.get_attribute("aria-label")).split(": ")[1].split() for link in left)
    plain = driver.find_elements(By.CSS_SELECTOR, ".matrix td > span")
    assert plain
    assert all(one.get_attribute("title") == "This page cannot show these frames" for one in plain)


def test_a_class_unfolds_its_curve_and_folds_it_again(opened: Opened, classed: Path) -> None:
    driver = opened(classed)
    fold = driver.find_element(By.CSS_SELECTOR, "[data-table='classes'] .unfolds")
    assert fold.get_attribute("aria-expanded") == "false"
    fold.send_keys(Keys.ENTER)
    assert fold.get_attribute("aria-expanded") == "true"
    [picture] = driver.find_elements(By.CSS_SELECTOR, ".unfolded svg")
    assert str(picture.get_attribute("aria-label")).startswith("Precision over recall of ")
    assert len(picture.find_elements(By.TAG_NAME, "path")) == 4, "of two submissions at two similarities"
    fold.send_keys(Keys.ENTER)
    assert not driver.find_elements(By.CSS_SELECTOR, ".unfolded")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_screen_reader_can_read_it(opened: Opened, classed: Path, width: int, scheme: str) -> None:
    driver = opened(classed, width, scheme)
    driver.find_element(By.CSS_SELECTOR, "[data-table='classes'] .unfolds").send_keys(Keys.ENTER)
    assert axe_findings(driver) == []
    assert page_width(driver) <= width
