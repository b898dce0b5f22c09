"""The docs site in Chromium, opened from disk. `make docs` makes it and says in SITE where it is."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import spotgeo_frames as sf
from helpers.browser import NARROW, WIDE, Wait, click, page_width, reads, started, text

pytestmark = pytest.mark.skipif("SITE" not in os.environ, reason="`make docs` makes the site and looks at it")

# What people search for, and the page that is to be among the first three.
WORDS = {
    "confusion matrix": "gallery",
    "ground truth": "glossary",
    "PR curve": "gallery",
    "precision-recall curve": "tasks/boxes_and_poses",
    "mAP": "tasks/boxes_and_poses",
    "mean average precision": "tasks/boxes_and_poses",
    "per class": "tasks/boxes_and_poses",
    "heatmap": "gallery",
    "annotations": "your_data",
    "labels": "formats",
    "detections": "your_data",
    "dataset": "tasks/large_data",
    "bounding box": "tasks/boxes_and_poses",
    "object detection": "tasks/boxes_and_poses",
    "instance segmentation": "tasks/oriented_boxes_and_masks",
    "pose estimation": "tasks/boxes_and_poses",
    "IoU threshold": "tables",
    "confidence threshold": "tasks/score_points",
    "ID switch": "tasks/where_does_identity_break",
    "ID switches": "tasks/where_does_identity_break",
    "MOTA": "tasks/tracks",
    "multi-object tracking": "tasks/tracks",
    "tracking by detection": "tasks/tracks",
    "leaderboard": "tasks/score_points",
    "benchmark": "formats",
    "F-score": "glossary",
    "sensitivity": "glossary",
    "false positive": "glossary",
    "false positives": "tasks/what_did_my_model_break",
    "error analysis": "tasks/what_did_my_model_break",
    "significance": "tasks/is_b_better",
    "error bars": "tasks/is_b_better",
    "confidence interval": "tasks/is_b_better",
    "confidence intervals": "tasks/is_b_better",
    "evaluation script": "why",
    "COCO eval": "migrate/pycocotools",
    "pycocotools": "migrate/pycocotools",
    "video": "gallery",
    "label errors": "tasks/suspect_labels",
    "astronomy": "tasks/sky",
    "install": "start",
    "dashboard": "tasks/report",
}

# The colour of the titles of each chart; null where it is not drawn yet.
INK = """
return [...document.querySelectorAll(".vega-chart")].map(
  (place) => place.querySelector("svg :is(.role-title, .role-axis-title) text")?.getAttribute("fill"))
"""


@pytest.fixture(scope="module")
def site() -> Path:
    return Path(os.environ["SITE"]).resolve()


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    driver = started(tmp_path_factory.mktemp("chromium"))
    driver.set_script_timeout(60)
    yield driver
    driver.quit()


def wide(driver: webdriver.Chrome, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def pages_of(site: Path) -> list[Path]:
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def test_a_word_is_searched_and_found(driver: webdriver.Chrome, site: Path) -> None:
    wide(driver, WIDE)
    driver.get((site / "index.html").as_uri())
    click(driver, ".search-button__button")
    field = Wait(driver, 20).until(lambda one: one.find_element(By.CSS_SELECTOR, "dialog input[type=search]"))
    field.send_keys("jackknife", Keys.ENTER)
    reads(driver, "#search-results", "matching the search query")
    found = driver.find_elements(By.CSS_SELECTOR, "#search-results li a")
    assert "Glossary" in [link.text for link in found]
    next(link for link in found if link.text == "intervals").click()
    assert reads(driver, "h1", "intervals")


@pytest.mark.parametrize("words", WORDS)
def test_words_of_users_lead_to_the_page(driver: webdriver.Chrome, site: Path, words: str) -> None:
    driver.get(f"{(site / 'search.html').as_uri()}?q={quote(words)}")
    reads(driver, "#search-results", "matching the search query")
    found = [link.get_attribute("href") for link in driver.find_elements(By.CSS_SELECTOR, "#search-results li a")[:3]]
    assert WORDS[words] in [of.removeprefix(f"{site.as_uri()}/").partition(".html")[0] for of in found]


def test_the_first_screen_shows_what_it_does(driver: webdriver.Chrome, site: Path) -> None:
    size = {"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get((site / "index.html").as_uri())
    for shown in ("h1", "article div.highlight", "article img", "article ul"):
        rect = driver.find_element(By.CSS_SELECTOR, shown).rect
        assert rect["y"] + rect["height"] <= 720, shown


def test_each_picture_of_the_gallery_leads_to_its_code(driver: webdriver.Chrome, site: Path) -> None:
    driver.get((site / "gallery.html").as_uri())
    links = driver.find_elements(By.CSS_SELECTOR, ".thumbnails a")
    drawn = [f"{module}.{name}" for module in ("plots", "charts") for name in getattr(sf, module).__all__]
    assert sorted(link.text for link in links) == sorted(drawn)
    for link in links:
        place = driver.find_element(By.ID, link.text)
        assert f"sf.{link.text}(" in driver.execute_script("return arguments[0].nextElementSibling.innerText", place)
        assert link.get_attribute("href").endswith(f"#{link.text}")
        picture = link.find_element(By.TAG_NAME, "img")
        driver.execute_script("arguments[0].scrollIntoView()", picture)
        Wait(driver, 20).until(lambda _, of=picture: of.get_property("naturalWidth") > 50)


def test_the_site_has_an_icon(driver: webdriver.Chrome, site: Path) -> None:
    driver.get((site / "index.html").as_uri())
    icon = driver.find_element(By.CSS_SELECTOR, "link[rel='icon']").get_attribute("href")
    assert icon.startswith(site.as_uri())
    assert Path(urlsplit(icon).path).is_file()


def test_links_lead_from_the_first_page_to_a_function_and_back(driver: webdriver.Chrome, site: Path) -> None:
    wide(driver, WIDE)
    driver.get((site / "index.html").as_uri())
    for name in ("Reference", "matching", "match("):
        driver.find_element(By.CSS_SELECTOR, "article").find_element(By.PARTIAL_LINK_TEXT, name).click()
    assert "spotgeo_frames.match(" in text(driver, "dt.sig")
    click(driver, ".bd-breadcrumbs a[href$='index.html']")
    assert text(driver, "h1") == "spotgeo_frames"


def test_charts_are_drawn_in_the_colours_of_the_page(driver: webdriver.Chrome, site: Path) -> None:
    wide(driver, WIDE)
    driver.get((site / "gallery.html").as_uri())
    places = driver.find_elements(By.CSS_SELECTOR, ".vega-chart")
    assert len(places) > 5
    for theme, ink in (("light", "#000"), ("dark", "#fff")):
        driver.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
        drawn = [ink] * len(places)
        Wait(driver, 60).until(lambda one, drawn=drawn: one.execute_script(INK) == drawn)


def test_no_page_is_wider_than_a_narrow_window(driver: webdriver.Chrome, site: Path) -> None:
    wide(driver, NARROW)
    too_wide = []
    for path in pages_of(site):
        driver.get(path.as_uri())
        if page_width(driver) > NARROW:
            too_wide.append((path.relative_to(site).as_posix(), page_width(driver)))
    assert too_wide == []


def test_nothing_is_loaded_from_elsewhere_and_no_script_fails(driver: webdriver.Chrome, site: Path) -> None:
    wide(driver, WIDE)
    # The browser forgets what the theme has stored, so that each page is opened as on a first visit.
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "localStorage.clear()"})
    driver.get_log("browser")
    driver.get_log("performance")
    for path in [page for page in pages_of(site) if page.parent == site or page.parent.name == "notebooks"]:
        driver.get(path.as_uri())
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert asked
    assert [address for address in asked if not address.startswith(("file:", "data:", "blob:"))] == []
    assert [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
