"""The report's page in a real browser: its charts and tables, offline, in light and dark, wide and narrow."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

import spotgeo_frames as sf
from helpers.browser import NARROW, WIDE, Wait, axe_findings, button, click, column, marks, page_width, text
from helpers.problems import warned
from helpers.report_inputs import Page, many
from helpers.scenes import objects

Opened = Callable[..., webdriver.Chrome]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_charts_are_drawn_and_nothing_is_wider_than_the_page(
    opened: Opened, page: Path, width: int, scheme: str
) -> None:
    driver = opened(page, width, scheme)
    places = driver.find_elements(By.CSS_SELECTOR, ".chart")
    assert len(places) >= 7
    for place in places:
        name = place.get_attribute("data-chart")
        assert len(marks(place)) >= 2, name
        [picture] = place.find_elements(By.TAG_NAME, "svg")
        assert picture.get_attribute("role") == "img"
        assert picture.get_attribute("aria-label")
        assert picture.size["height"] >= 60, name
        assert picture.size["width"] <= place.size["width"] + 1, name
    assert page_width(driver) <= width
    background = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")


def test_the_first_screen_needs_no_scrolling(opened: Opened, page: Path) -> None:
    """It says who is better, draws the frames to look at, and leads there."""
    driver = opened(page)
    assert driver.execute_script("return document.querySelector('header').getBoundingClientRect().bottom") <= 720
    sentence = "eager finds 19 points more of the objects, cautious is right 22 points more often."
    assert text(driver, "h1") == sentence
    inked = "const c = arguments[0].getContext('2d'), {width, height} = arguments[0];"
    inked += "return c.getImageData(0, 0, width, height).data.some((value) => value > 0)"
    looks = driver.find_elements(By.CSS_SELECTOR, ".looks canvas")
    assert len(looks) == 3
    for canvas in looks:
        Wait(driver, 60).until(lambda one, canvas=canvas: one.execute_script(inked, canvas))
    click(driver, ".looks a")
    named = text(driver, ".looks a strong")
    place = named.removeprefix("sequence ")
    Wait(driver, 60).until(lambda one: place in text(one, ".viewer-status"))


def test_axes_of_pixels_keep_their_ratio_when_the_window_changes(opened: Opened, page: Path) -> None:
    driver = opened(page)
    shape = "const r = document.querySelector('[data-chart=residuals] .background').getBoundingClientRect();"
    shape += "return [r.width, r.height]"
    for width in (WIDE, 700, NARROW, WIDE):
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

        def square(one: webdriver.Chrome) -> bool:
            across, down = one.execute_script(shape)
            return across > 100 and abs(across - down) < 3

        Wait(driver, 60).until(square)


def test_a_table_sorts_by_a_click_and_a_dash_stays_last(opened: Opened, page: Path) -> None:
    driver = opened(page)
    by_count = "[data-table='slice-1']"
    heading = f"{by_count} thead th:nth-child(7) button"
    assert text(driver, heading) == "recall"
    for order, reverse in (("descending", True), ("ascending", False)):
        click(driver, heading)
        [sorted_heading] = driver.find_elements(By.CSS_SELECTOR, f"{by_count} th[aria-sort]")
        assert sorted_heading.get_attribute("aria-sort") == order
        shown = column(driver, "slice-1", "recall")
        values = [float(cell.rstrip("%")) for cell in shown if cell != "–"]
        assert values == sorted(values, reverse=reverse)
        assert len({*values}) > 3
        assert shown[len(values) :] == ["–"] * (len(shown) - len(values))
        assert "–" in shown, "frames without a truth have no recall"


def test_bins_sort_by_their_place_and_names_by_their_numbers(opened: Opened, page: Path) -> None:
    driver = opened(page)
    bins = list(dict.fromkeys(column(driver, "slice-2", "truth_brightness")))
    assert len(bins) == 4
    for order in (bins, bins[::-1]):
        click(driver, "[data-table='slice-2'] thead th:nth-child(2) button")
        assert column(driver, "slice-2", "truth_brightness") == [name for name in order for _ in range(2)]
    click(driver, "[data-table='slice-0'] thead th:nth-child(2) button")
    click(driver, "[data-table='slice-0'] thead th:nth-child(2) button")
    names = [int(name) for name in column(driver, "slice-0", "sequence")]
    assert names == sorted(names)


def test_long_tables_show_more_when_asked(opened: Opened, page: Path) -> None:
    driver = opened(page)
    n_rows = len(Page(page).data["tables"]["slice-0"]["rows"])
    assert len(column(driver, "slice-0", "sequence")) == 25
    assert button(driver, f"Show {min(100, n_rows - 25)} more").is_displayed()
    assert f"25 of {n_rows} rows" in text(driver, "[data-more='slice-0']")
    click(driver, "[data-more='slice-0'] button")
    assert len(column(driver, "slice-0", "sequence")) == min(n_rows, 125)
    click(driver, "[data-table='slice-0'] thead th:nth-child(3) button")
    assert len(column(driver, "slice-0", "sequence")) == min(n_rows, 125), "sorted anew it is as long"


def test_charts_show_the_submission_that_is_picked(opened: Opened, page: Path) -> None:
    driver = opened(page)
    place = driver.find_element(By.CSS_SELECTOR, "[data-chart='residuals']")
    before = [mark.get_attribute("d") for mark in marks(place)]
    Select(driver.find_element(By.ID, "picked")).select_by_visible_text("cautious")
    Wait(driver, 60).until(lambda _: [mark.get_attribute("d") for mark in marks(place)] != before)


@pytest.mark.parametrize("kind", ["tracks", "poses"])
def test_pages_of_tracks_are_drawn_to_their_end(
    opened: Opened, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    root = request.getfixturevalue(kind)
    read = sf.read_motchallenge if kind == "tracks" else sf.read_posetrack
    truth, found = read(root / "truth", root / "tracker")
    sf.report(truth, found, tmp_path / "report.html", tracks=True)
    browser = opened(tmp_path / "report.html")
    assert text(browser, ".headline tbody th").startswith("HOTA ↑")
    for name in ("costs", "by_threshold", "measures"):
        assert marks(browser.find_element(By.CSS_SELECTOR, f"[data-chart='{name}']")), name
    assert browser.find_elements(By.CSS_SELECTOR, ".viewer tbody tr")


@pytest.mark.parametrize("name", ["constructor", "__proto__", "a name of many characters " * 3])
def test_any_name_is_drawn_within_the_page(opened: Opened, tmp_path: Path, name: str) -> None:
    truth, predictions = many(3)
    sides = [
        side.assign(sequence=("sequence" * 10 + side["sequence"].astype("str")).astype("str"))
        for side in (truth.objects, predictions)
    ]
    sf.report(sides[0], {name: sides[1], "other": sides[1].iloc[::2]}, tmp_path / "report.html")
    driver = opened(tmp_path / "report.html", NARROW)
    assert all(marks(place) for place in driver.find_elements(By.CSS_SELECTOR, ".chart"))
    assert page_width(driver) <= NARROW


def test_columns_of_flags_sort(opened: Opened, tmp_path: Path) -> None:
    truth, predictions = many(3)
    flagged = truth.objects.assign(bright=truth.objects["object"] > 1)
    sf.report(flagged, predictions, tmp_path / "report.html", by=["truth_bright"])
    driver = opened(tmp_path / "report.html")
    for expected in (["False", "True"], ["True", "False"]):
        click(driver, "[data-table='slice-2'] thead th:nth-child(1) button")
        assert column(driver, "slice-2", "truth_bright") == expected


def test_a_page_of_nothing_says_so_quietly(opened: Opened, tmp_path: Path) -> None:
    truth = sf.Annotations(objects([]), pd.DataFrame({"sequence": [1, 1], "frame": [1, 2]}))
    with warned("only one sequence", "with 1 sequence no p-value can be below 1, so low and high are null"):
        sf.report(truth, {"a": objects([]), "b": objects([])}, tmp_path / "report.html")
    driver = opened(tmp_path / "report.html")
    assert "a 0 found, 0 missed, 0 false" in text(driver, ".viewer-status")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_screen_reader_can_read_it(opened: Opened, page: Path, width: int, scheme: str) -> None:
    assert axe_findings(opened(page, width, scheme)) == []
