"""A browser for the tests of the report's page; after each of them it looks whether anything was said or asked for."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium import webdriver

import spotgeo_frames as sf
from helpers.browser import NARROW, WIDE, Wait, started

Opened = Callable[..., webdriver.Chrome]


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    browser = started(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.quit()


@pytest.fixture
def opened(driver: webdriver.Chrome) -> Iterator[Opened]:
    """Opens a page, and looks at the end of the test whether anything was said or asked for."""
    pages: list[str] = []

    def open_page(path: Path, width: int = WIDE, scheme: str = "light", address: str = "") -> webdriver.Chrome:
        driver.get("about:blank")
        driver.get_log("browser")  # reading a log empties it
        driver.get_log("performance")
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width == NARROW}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        pages.append(path.as_uri())
        driver.get(path.as_uri() + address)
        drawn = "return document.documentElement.dataset.drawn === 'yes'"
        Wait(driver, 60).until(lambda one: one.execute_script(drawn))
        return driver

    yield open_page
    assert driver.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}
    assert {url for url in asked if not url.startswith("data:")} == {*pages}


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    """A report of two submissions with scores."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    submissions = {name: sf.read_objects(sample / f"{name}.parquet") for name in ("eager", "cautious")}
    truth = sf.read_objects(sample / "truth.parquet", frames=sample / "frames.parquet")
    sf.report(truth, submissions, path, by={"truth_brightness": 4})
    return path
