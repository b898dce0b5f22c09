"""The report's page in a real browser: what people see, click and read, offline, in light and dark, wide and narrow."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

import spotgeo_frames as sf
from helpers.problems import warned
from helpers.reference import PROJECT
from helpers.report_inputs import HOSTILE, QUOTED, Page, folder_of_pictures, many, many_boxes, many_poses
from helpers.scenes import objects

AXE = Path(os.environ.get("AXE_CORE", PROJECT / ".venv" / "browser" / "node_modules" / "axe-core" / "axe.min.js"))

# What a container without a screen needs, and what keeps the browser itself from asking for anything.
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"]

WIDE, NARROW = 1280, 375


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        pytest.skip("chromium and its driver are not here; `make browser` installs them")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    yield started
    started.quit()


Opened = Callable[..., webdriver.Chrome]


@pytest.fixture
def opened(driver: webdriver.Chrome) -> Iterator[Opened]:
    """Opens a page, and looks at the end of the test whether anything was said or asked for."""
    pages: list[str] = []

    def open_page(path: Path, width: int = WIDE, scheme: str = "light") -> webdriver.Chrome:
        driver.get("about:blank")
        driver.get_log("browser")  # reading a log empties it
        driver.get_log("performance")
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width == NARROW}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        pages.append(path.as_uri())
        driver.get(path.as_uri())
        drawn = "return document.documentElement.dataset.drawn === 'yes'"
        WebDriverWait(driver, 60).until(lambda one: one.execute_script(drawn))
        return driver

    yield open_page
    assert driver.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}
    assert {url for url in asked if not url.startswith("data:")} == {*pages}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    """A report of two submissions with scores."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    submissions = {name: sf.read_objects(sample / f"{name}.parquet") for name in ("eager", "cautious")}
    truth = sf.read_objects(sample / "truth.parquet", frames=sample / "frames.parquet")
    sf.report(truth, submissions, path, by={"truth_brightness": 4})
    return path


def text(driver: webdriver.Chrome, selector: str) -> str:
    return driver.find_element(By.CSS_SELECTOR, selector).text


def click(driver: webdriver.Chrome, selector: str) -> None:
    driver.find_element(By.CSS_SELECTOR, selector).click()


def marks(place: WebElement) -> list[WebElement]:
    """The symbols, bars, cells and lines of a chart, without axes and legends."""
    return place.find_elements(By.CSS_SELECTOR, "g.role-mark > path, g.role-mark > line, g.role-mark > image")


def column(driver: webdriver.Chrome, table: str, title: str) -> list[str]:
    """The cells of a table under a heading, top down."""
    headings = driver.find_elements(By.CSS_SELECTOR, f"[data-table='{table}'] thead th")
    [position] = [place for place, heading in enumerate(headings) if heading.text == title]
    rows = driver.find_elements(By.CSS_SELECTOR, f"[data-table='{table}'] tbody tr")
    return [row.find_elements(By.CSS_SELECTOR, "th, td")[position].text for row in rows]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_charts_are_drawn_and_nothing_is_wider_than_the_page(
    opened: Opened, page: Path, width: int, scheme: str
) -> None:
    driver = opened(page, width, scheme)
    places = driver.find_elements(By.CSS_SELECTOR, ".chart")
    assert len(places) == 8
    for place in places:
        name = place.get_attribute("data-chart") or "frame"
        assert len(marks(place)) >= 2, name
        [picture] = place.find_elements(By.TAG_NAME, "svg")
        assert picture.get_attribute("role") == "img"
        assert picture.get_attribute("aria-label")
        assert picture.size["height"] >= 60, name
        assert picture.size["width"] <= place.size["width"] + 1, name
    page_width = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    needed, there = driver.execute_script(page_width)
    assert needed <= there <= width
    background = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")


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

        WebDriverWait(driver, 60).until(square)


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
    assert f"25 of {n_rows} rows" in text(driver, "[data-more='slice-0']")
    click(driver, "[data-more='slice-0'] button")
    assert len(column(driver, "slice-0", "sequence")) == min(n_rows, 125)
    click(driver, "[data-table='slice-0'] thead th:nth-child(3) button")
    assert len(column(driver, "slice-0", "sequence")) == min(n_rows, 125), "sorted anew it is as long"


def test_the_frame_browser_steps_through_frames_and_sequences(opened: Opened, page: Path, sample: Path) -> None:
    driver = opened(page)
    truth = sf.read_objects(sample / "truth.parquet", frames=sample / "frames.parquet")
    matches = sf.match(truth, sf.read_objects(sample / "cautious.parquet"))
    by_frame = sf.summarize(matches, by=["sequence", "frame"]).set_index(["sequence", "frame"])
    Select(driver.find_element(By.ID, "submission")).select_by_visible_text("cautious")
    click(driver, "#worst")
    by_sequence = sf.summarize(matches, by="sequence")
    worst = by_sequence["sequence"].iloc[int((by_sequence["fn"] + by_sequence["fp"]).to_numpy().argmax())]
    seen = []
    while True:
        status = text(driver, "#frame-status")
        frame = int(status.partition("frame ")[2].partition(" ")[0])
        seen.append(frame)
        row = by_frame.loc[(worst, frame)]
        counts = f"{row['tp']:.0f} found, {row['fn']:.0f} missed, {row['fp']:.0f} false"
        assert status.startswith(f"cautious, sequence {worst}, frame {frame} (")
        assert status.endswith(counts)
        outcomes = [cell.text for cell in driver.find_elements(By.CSS_SELECTOR, "#frame-rows tbody th")]
        assert [outcomes.count(name) for name in ("found", "missed", "false")] == [row["tp"], row["fn"], row["fp"]]
        symbols = driver.find_elements(By.CSS_SELECTOR, "#frame-chart g.mark-symbol.role-mark > path")
        assert len(symbols) == 2 * row["tp"] + row["fn"] + row["fp"]
        links = driver.find_elements(By.CSS_SELECTOR, "#frame-chart g.mark-rule.role-mark > line")
        assert len(links) == row["tp"]
        if driver.find_element(By.ID, "next-frame").get_attribute("aria-disabled") == "true":
            break
        click(driver, "#next-frame")
    assert seen == by_frame.loc[worst].index.tolist()
    click(driver, "#previous-frame")
    assert f"frame {seen[-2]} (" in text(driver, "#frame-status")
    first = text(driver, "#frame-status")
    click(driver, "#next-sequence")
    assert text(driver, "#frame-status").split(", ")[1] != first.split(", ")[1]
    click(driver, "#previous-sequence")
    assert text(driver, "#frame-status").startswith(f"cautious, sequence {worst}, frame {seen[0]} (1 of")
    assert driver.find_element(By.ID, "previous-sequence").get_attribute("aria-disabled") == "true"
    driver.find_element(By.ID, "next-frame").send_keys(Keys.ARROW_RIGHT)
    assert f"frame {seen[1]} (2 of" in text(driver, "#frame-status")
    driver.find_element(By.ID, "next-frame").send_keys(Keys.ARROW_LEFT)
    assert f"frame {seen[0]} (1 of" in text(driver, "#frame-status")


def box_paths(driver: webdriver.Chrome) -> list[dict[str, float]]:
    """The places (screen px) of the boxes of the frame."""
    code = "const r = arguments[0].getBoundingClientRect(); return {x: r.x, y: r.y, w: r.width, h: r.height}"
    paths = driver.find_elements(By.CSS_SELECTOR, "#frame-chart g.mark-rect.role-mark > path")
    return [driver.execute_script(code, path) for path in paths]


def counts_of_frame(driver: webdriver.Chrome) -> list[int]:
    """How many are found, missed and false in the frame that is shown."""
    return [int(part.split()[0]) for part in text(driver, "#frame-status").partition(": ")[2].split(", ")]


def test_boxes_are_drawn_from_corner_to_corner(opened: Opened, tmp_path: Path) -> None:
    truth, predictions = many_boxes(2)
    sf.report(truth, predictions, tmp_path / "boxes.html", similarity="iou")
    driver = opened(tmp_path / "boxes.html")
    found, missed, false = counts_of_frame(driver)
    drawn = box_paths(driver)
    assert len(drawn) == 2 * found + missed + false
    whole = [box for box in drawn if box["w"] == max(one["w"] for one in drawn)]
    assert whole[0]["w"] / whole[0]["h"] == pytest.approx(2, rel=0.1), "40 x 20 px"
    rows = Page(tmp_path / "boxes.html").data["browser"]["rows"]
    known = [(x, x + 40) for x in rows["truth_x"][: found + missed]]
    spread = max(x for x, _ in known) - min(x for x, _ in known)
    truths = drawn[: found + missed]
    shown = max(box["x"] for box in truths) - min(box["x"] for box in truths)
    assert shown / whole[0]["w"] == pytest.approx(spread / 40, rel=0.1), "the left edges are as far apart as their x"


def test_poses_are_drawn_with_their_joints(opened: Opened, tmp_path: Path) -> None:
    truth, predictions = many_poses(2)
    sf.report(truth, predictions, tmp_path / "poses.html", similarity="oks")
    driver = opened(tmp_path / "poses.html")
    found, missed, false = counts_of_frame(driver)
    symbols = driver.find_elements(By.CSS_SELECTOR, "#frame-chart g.mark-symbol.role-mark > path")
    assert len(symbols) == (3 + 1) * (2 * found + missed + false), "three joints, and the mark of the pose"
    assert len(box_paths(driver)) == 2 * found + missed + false


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
    assert marks(browser.find_element(By.ID, "frame-chart"))
    assert browser.find_elements(By.CSS_SELECTOR, "#frame-rows tbody tr")


def test_a_sequence_of_the_table_is_shown_in_the_browser(opened: Opened, page: Path) -> None:
    driver = opened(page)
    button = "[data-table='slice-0'] tbody tr:nth-child(3) button"
    sequence, submission = text(driver, button), text(driver, "[data-table='slice-0'] tbody tr:nth-child(3) th")
    click(driver, button)
    assert text(driver, "#frame-status").startswith(f"{submission}, sequence {sequence}, ")
    assert driver.switch_to.active_element.get_attribute("id") == "frames-heading"
    assert Select(driver.find_element(By.ID, "submission")).first_selected_option.text == submission


def test_charts_show_the_submission_that_is_picked(opened: Opened, page: Path) -> None:
    driver = opened(page)
    place = driver.find_element(By.CSS_SELECTOR, "[data-chart='residuals']")
    before = [mark.get_attribute("d") for mark in marks(place)]
    Select(driver.find_element(By.ID, "picked")).select_by_visible_text("cautious")
    WebDriverWait(driver, 60).until(lambda _: [mark.get_attribute("d") for mark in marks(place)] != before)


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
    assert driver.execute_script("return document.documentElement.scrollWidth") <= NARROW


def test_sequences_that_a_submission_does_not_have_are_not_shown_of_it(opened: Opened, tmp_path: Path) -> None:
    truth, predictions = many(3)
    elsewhere = pd.concat([predictions, predictions.assign(sequence=predictions["sequence"] + 100)])
    sf.report(truth.objects, {"a": predictions, "b": elsewhere}, tmp_path / "report.html")
    driver = opened(tmp_path / "report.html")
    Select(driver.find_element(By.ID, "submission")).select_by_visible_text("b")
    sequences = Select(driver.find_element(By.ID, "sequence"))
    [option] = [option for option in sequences.options if option.text.startswith("101: ")]
    option.click()
    assert text(driver, "#frame-status").startswith("b, sequence 101, ")
    Select(driver.find_element(By.ID, "submission")).select_by_visible_text("a")
    assert text(driver, "#frame-status").startswith("a, sequence ")
    assert not any(one.text.startswith("10") for one in Select(driver.find_element(By.ID, "sequence")).options)


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
    assert "0 found, 0 missed, 0 false" in text(driver, "#frame-status")


def test_pictures_lie_behind_the_frames(opened: Opened, tmp_path: Path) -> None:
    truth, predictions = many(1)
    images = folder_of_pictures(tmp_path / "images", n_frames=4)
    with warned("only one sequence", ("images: 1 of 5 frames", f"{images / '1' / '5.png'}")):
        sf.report(truth, predictions, tmp_path / "report.html", images=images)
    driver = opened(tmp_path / "report.html")
    pictures = "#frame-chart image"
    for frame in range(1, 6):
        found = driver.find_elements(By.CSS_SELECTOR, pictures)
        assert len(found) == (frame < 5)
        assert ("(no picture)" in text(driver, "#frame-status")) == (frame == 5)
        if found:
            shape = "const r = arguments[0].getBoundingClientRect(); return r.width / r.height"
            assert driver.execute_script(shape, found[0]) == pytest.approx(4 / 3, rel=0.02)
        if frame < 5:
            click(driver, "#next-frame")


def test_hostile_names_are_only_text(opened: Opened, tmp_path: Path) -> None:
    truth, predictions = many(3)
    names = {1: HOSTILE, 2: QUOTED, 3: "</script><img src=x onerror=alert(3)>"}
    sides: list[Any] = [
        side.assign(sequence=side["sequence"].map(names).astype("str"), **{HOSTILE: QUOTED})
        for side in (truth.objects, predictions)
    ]
    sides = [side.assign(object=(HOSTILE + side["object"].astype("str")).astype("str")) for side in sides]
    submissions = {QUOTED: sides[1], HOSTILE: sides[1].iloc[::2]}
    sf.report(sides[0], submissions, tmp_path / "report.html", by=[f"truth_{HOSTILE}"])
    driver = opened(tmp_path / "report.html")
    Select(driver.find_element(By.ID, "picked")).select_by_visible_text(HOSTILE)
    click(driver, "[data-table='slice-0'] thead th:nth-child(2) button")
    click(driver, "[data-table='slice-0'] tbody button")
    click(driver, "#next-sequence")
    assert {QUOTED, HOSTILE} <= {*column(driver, "slice-0", "submission")}
    assert {*column(driver, "slice-0", "sequence")} == {*names.values()}
    assert {*column(driver, "slice-2", f"truth_{HOSTILE}")} == {QUOTED}
    assert any(f", sequence {name}, " in text(driver, "#frame-status") for name in names.values())
    mark = driver.find_element(By.CSS_SELECTOR, "#frame-chart g.mark-symbol.role-mark > path")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", mark)
    webdriver.ActionChains(driver).move_to_element(mark).perform()
    WebDriverWait(driver, 60).until(lambda one: HOSTILE in text(one, "#vg-tooltip-element"))
    assert driver.find_elements(By.CSS_SELECTOR, "main img, #vg-tooltip-element img, main script") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_screen_reader_can_read_it(opened: Opened, page: Path, width: int, scheme: str) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not here; `make browser` installs it, or AXE_CORE says where axe.min.js is")
    driver = opened(page, width, scheme)
    driver.execute_script(AXE.read_text("utf-8"))
    found = driver.execute_async_script(
        "const done = arguments[0]; axe.run().then((result) => done(result.violations))"
    )
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []
