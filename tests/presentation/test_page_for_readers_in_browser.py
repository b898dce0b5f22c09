"""The page for each reader in a real browser: contents that stay, the note, the skip link, and paper."""

import base64
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import spotgeo_frames as sf
from helpers.browser import NARROW, WIDE, Wait, axe_findings, click, page_width, text
from helpers.report_inputs import many

Opened = Callable[..., webdriver.Chrome]

NOTE = "# Read this\n\nSee [the errors](#errors) and [the run](https://example.org).\n\n| a | b |\n| - | - |\n| 1 | 2 |"


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    """A report of two submissions with a title and a note."""
    path = tmp_path_factory.mktemp("noted") / "report.html"
    submissions = {name: sf.read_objects(sample / f"{name}.parquet") for name in ("eager", "cautious")}
    truth = sf.read_objects(sample / "truth.parquet", frames=sample / "frames.parquet")
    sf.report(truth, submissions, path, by={"truth_brightness": 4}, title="Nightly", note=NOTE)
    return path


def current(driver: webdriver.Chrome) -> str:
    """The text of the link to the section in view."""
    [link] = driver.find_elements(By.CSS_SELECTOR, "nav a[aria-current]")
    return str(link.get_attribute("textContent"))


def scrolled_to(driver: webdriver.Chrome, name: str, title: str) -> None:
    driver.execute_script("document.getElementById(arguments[0]).scrollIntoView()", name)
    Wait(driver, 20).until(lambda one: current(one) == title)


def test_contents_stay_beside_the_sections_and_mark_the_one_in_view(opened: Opened, noted: Path) -> None:
    driver = opened(noted)
    assert current(driver) == "First screen"
    contents = driver.find_element(By.CSS_SELECTOR, "nav")
    for name, title in (("errors", "Errors"), ("slices", "Slices"), ("note", "Note")):
        scrolled_to(driver, name, title)
        box = driver.execute_script("return arguments[0].getBoundingClientRect().toJSON()", contents)
        heading = driver.find_element(By.ID, f"{name}-heading").rect
        assert box["top"] >= 0
        assert box["bottom"] <= 800
        assert box["right"] <= heading["x"], "it covers nothing"
    driver.execute_script("scrollTo(0, document.body.scrollHeight)")
    Wait(driver, 20).until(lambda one: current(one) == "Made with")
    click(driver, "nav a[href='#places']")
    Wait(driver, 20).until(lambda one: current(one) == "Places")
    summary = driver.find_element(By.CSS_SELECTOR, "nav summary")
    assert summary.get_attribute("tabindex") == "-1", "it stays open where there is room"
    assert driver.execute_script("return getComputedStyle(arguments[0]).pointerEvents", summary) == "none"


def test_contents_of_a_phone_are_a_bar_that_opens(opened: Opened, noted: Path) -> None:
    driver = opened(noted, NARROW)
    link = driver.find_element(By.CSS_SELECTOR, "nav a[href='#errors']")
    assert not link.is_displayed()
    scrolled_to(driver, "places", "Places")
    assert text(driver, "nav summary") == "Contents: Places"
    driver.find_element(By.CSS_SELECTOR, "nav summary").send_keys(Keys.ENTER)
    Wait(driver, 20).until(lambda _: link.is_displayed())
    assert page_width(driver) <= NARROW
    link.send_keys(Keys.ENTER)
    Wait(driver, 20).until(lambda one: current(one) == "Errors")
    Wait(driver, 20).until(lambda _: not link.is_displayed())
    top = driver.execute_script("return document.getElementById('errors-heading').getBoundingClientRect().top")
    bar = driver.execute_script("return document.querySelector('nav').getBoundingClientRect().bottom")
    assert top >= bar, "the bar does not cover the heading"


def test_the_first_key_skips_to_the_sections(opened: Opened, noted: Path) -> None:
    driver = opened(noted)
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    skip = driver.switch_to.active_element
    assert skip.text == "Skip to the sections"
    assert skip.rect["x"] >= 0, "it is seen while it has the focus"
    skip.send_keys(Keys.ENTER)
    Wait(driver, 20).until(lambda one: one.switch_to.active_element.get_attribute("id") == "sections")
    driver.switch_to.active_element.send_keys(Keys.TAB)
    assert driver.switch_to.active_element.get_attribute("href").endswith("#errors"), "the first link of the note"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_screen_readers_find_nothing_wrong(opened: Opened, noted: Path, width: int, scheme: str) -> None:
    driver = opened(noted, width, scheme)
    if width == NARROW:
        click(driver, "nav summary")
    assert axe_findings(driver) == []


def test_a_page_without_frames_and_charts_works(opened: Opened, tmp_path: Path) -> None:
    truth, found = many(30)
    sf.report(truth, {"a": found, "b": found[::2]}, tmp_path / "page.html", sections=["numbers", "changes"])
    driver = opened(tmp_path / "page.html")
    assert len(driver.find_elements(By.CSS_SELECTOR, "[data-table='changes'] tbody tr")) == 7
    assert not driver.find_elements(By.CSS_SELECTOR, "[data-table='changes'] tbody button"), "no frames to lead to"
    assert not driver.find_elements(By.CSS_SELECTOR, ".chart, .frames-viewer, canvas")
    assert axe_findings(driver) == []


def test_charts_without_frames_are_no_links(opened: Opened, tmp_path: Path) -> None:
    truth, found = many(30)
    sf.report(truth, {"a": found, "b": found[::2]}, tmp_path / "page.html", sections=["places", "errors"])
    driver = opened(tmp_path / "page.html")
    assert driver.find_elements(By.CSS_SELECTOR, ".chart svg")
    assert not driver.find_elements(By.CSS_SELECTOR, ".chart[data-linked]")
    options = driver.find_elements(By.CSS_SELECTOR, "#picked option")
    assert [one.text for one in options] == ["a", "b"]


def printed(driver: webdriver.Chrome, path: Path) -> list[str]:
    """Prints the page to a PDF; returns the text of each of its pages, laid out as it is printed."""
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not here; poppler-utils has it")
    made = driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    path.write_bytes(base64.b64decode(made["data"]))
    done = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True)
    return done.stdout.split("\f")[:-1]


def test_paper_has_a_section_a_page_with_whole_tables(opened: Opened, noted: Path, tmp_path: Path) -> None:
    driver = opened(noted, scheme="dark")
    pages = printed(driver, tmp_path / "page.pdf")
    assert 6 <= len(pages) <= 14
    for title in ("Numbers", "Comparison", "Errors", "Places and distance", "Score thresholds", "Slices"):
        [page] = [one for one in pages if re.search(rf"^\s*{title}$", one, re.MULTILINE)]
        assert page.strip().startswith(title), "it begins a page"
    whole = "".join(pages)
    assert "Contents" not in whole
    assert "Frames can be looked at in the page itself" in whole
    assert "the run (https://example.org)" in whole
    # The last columns of the widest tables are there, and each table stands on one page.
    [slices] = [one for one in pages if "By the number of truths in a frame" in one]
    assert re.search(r"^\s*submission +frame_n_truth .* frames$", slices, re.MULTILINE)
    assert len(re.findall(r"^\s*(?:eager|cautious) +\d+ ", slices.split("By the number")[1], re.MULTILINE)) >= 12
    colours = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert colours == "rgb(20, 23, 27)", "the screen stays dark"


def test_paper_repeats_the_head_of_a_long_table_and_opens_details(opened: Opened, tmp_path: Path) -> None:
    truth, found = many(90)
    sf.report(truth, found, tmp_path / "page.html", sections=["slices"])
    driver = opened(tmp_path / "page.html", NARROW)
    for one in driver.find_elements(By.CSS_SELECTOR, "[data-more='slice-0'] button")[1:]:
        one.click()
    opened_for = "addEventListener('beforeprint', () => { window.was = document.querySelector('nav details').open; })"
    driver.execute_script(opened_for)
    pages = printed(driver, tmp_path / "page.pdf")
    heads = [page for page in pages if re.search(r"sequence +errors +TP", page)]
    assert len(heads) >= 2, "the head is repeated where the table goes on"
    assert driver.execute_script("return window.was")
    assert not driver.execute_script("return document.querySelector('nav details').open"), "closed again afterwards"


def test_pictures_of_markdown_are_drawn(driver: webdriver.Chrome, noted: Path, tmp_path: Path) -> None:
    truth, found = many(30)
    sf.report(truth, {"<b>a</b>": found, "b": found[::2]}, tmp_path / "page.md")
    for name in ("numbers", "costs"):
        driver.get((tmp_path / f"page_{name}.svg").as_uri())
        marks = driver.find_elements(By.CSS_SELECTOR, ".dot")
        assert len(marks) >= 4
        frame = driver.execute_script("return document.documentElement.getBoundingClientRect().toJSON()")
        for mark in driver.find_elements(By.CSS_SELECTOR, "text, .dot"):
            box = driver.execute_script("return arguments[0].getBoundingClientRect().toJSON()", mark)
            assert frame["left"] <= box["left"]
            assert box["right"] <= frame["right"] + 1
            assert box["bottom"] <= frame["bottom"] + 1
