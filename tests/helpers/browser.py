"""Chromium for the tests of the report's page: how it starts, and what is read of a page, clicked and measured."""

import os
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from helpers.reference import PROJECT
from spotgeo_frames.presentation.theme.palettes import DARK, LIGHT

AXE = Path(os.environ.get("AXE_CORE", PROJECT / ".venv" / "browser" / "node_modules" / "axe-core" / "axe.min.js"))

# What a container without a screen needs, and what keeps the browser itself from asking for anything.
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"]

WIDE, NARROW = 1280, 375

OUTCOMES = ("found", "missed", "right", "false")


def rgb(color: str) -> tuple[int, int, int]:
    """A colour such as #1f8b73 as red, green and blue."""
    red, green, blue = bytes.fromhex(color[1:])
    return red, green, blue


# The colours of marks on a light page.
FOUND, MISSED, RIGHT, FALSE = (rgb(LIGHT.outcomes[name]) for name in OUTCOMES)

# Those on pictures, and on the dark field of tracks without pictures.
ON_DARK = dict(zip((FOUND, MISSED, RIGHT, FALSE), (rgb(DARK.outcomes[name]) for name in OUTCOMES), strict=True))


def started(folder: Path) -> webdriver.Chrome:
    """Starts the browser, which keeps its files in a folder; the test is skipped where there is none."""
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        pytest.skip("chromium and its driver are not here; `make browser` installs them")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in [*FLAGS, f"--user-data-dir={folder}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))


# Looks whether what it waits for is there every 50 ms, and not every half second.
Wait = partial(WebDriverWait, poll_frequency=0.05)


def text(driver: webdriver.Chrome, selector: str) -> str:
    return driver.find_element(By.CSS_SELECTOR, selector).text


def click(driver: webdriver.Chrome, selector: str) -> None:
    driver.find_element(By.CSS_SELECTOR, selector).click()


def button(driver: webdriver.Chrome, name: str) -> WebElement:
    """The button of this text."""
    return next(one for one in driver.find_elements(By.TAG_NAME, "button") if one.text == name)


def reads(driver: webdriver.Chrome, selector: str, part: str) -> str:
    """Waits until an element has this text in it; returns all of its text."""
    Wait(driver, 20).until(lambda one: part in text(one, selector))
    return text(driver, selector)


def marks(place: WebElement) -> list[WebElement]:
    """The symbols, bars, cells and lines of a chart, without axes and legends."""
    return place.find_elements(By.CSS_SELECTOR, "g.role-mark > path, g.role-mark > line, g.role-mark > image")


def column(driver: webdriver.Chrome, table: str, title: str) -> list[str]:
    """The cells of a table under a heading, top down."""
    headings = driver.find_elements(By.CSS_SELECTOR, f"[data-table='{table}'] thead th")
    [position] = [place for place, heading in enumerate(headings) if heading.text == title]
    rows = driver.find_elements(By.CSS_SELECTOR, f"[data-table='{table}'] tbody tr")
    return [row.find_elements(By.CSS_SELECTOR, "th, td")[position].text for row in rows]


def page_width(driver: webdriver.Chrome) -> int:
    return int(driver.execute_script("return document.documentElement.scrollWidth"))


def axe_findings(driver: webdriver.Chrome) -> list[Any]:
    """What axe-core finds wrong for screen readers; the test is skipped where it is missing."""
    if not AXE.is_file():
        pytest.skip("axe-core is not here; `make browser` installs it, or AXE_CORE says where axe.min.js is")
    driver.execute_script(AXE.read_text("utf-8"))
    found = driver.execute_async_script(
        "const done = arguments[0]; axe.run().then((result) => done(result.violations))"
    )
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]


PIXELS = """
const [panel, x, y, reach] = arguments;
const canvas = document.querySelectorAll('.viewer-stage canvas')[panel];
const [cx, cy, scale] = new URLSearchParams(location.hash.slice(6)).get('zoom').split(' ').map(Number);
const at = [canvas.clientWidth / 2 + (x - cx) * scale, canvas.clientHeight / 2 + (y - cy) * scale].map(Math.round);
const side = 2 * reach + 1;
const copy = new OffscreenCanvas(side, side).getContext('2d', {willReadFrequently: true});
copy.drawImage(canvas, reach - at[0], reach - at[1]);
return [...copy.getImageData(0, 0, side, side).data];
"""


def has_colour(
    driver: webdriver.Chrome, colour: tuple[int, int, int], x: float, y: float, panel: int = 0, reach: int = 2
) -> bool:
    """Whether a colour is within `reach` pixels of a place (px of the image), where the address has the zoom."""
    data = driver.execute_script(PIXELS, panel, x, y, reach)
    pixels = [data[i : i + 4] for i in range(0, len(data), 4)]
    near = (sum(abs(a - b) for a, b in zip(one, colour, strict=False)) for one in pixels if one[3] > 128)
    return any(apart < 60 for apart in near)
