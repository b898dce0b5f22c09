"""The frames of the report's page in a real browser: the viewer, its filter and gallery, links, and addresses."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import pandas as pd
import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

import spotgeo_frames as sf
from helpers.browser import (
    MISSED,
    NARROW,
    ON_DARK,
    WIDE,
    Wait,
    axe_findings,
    button,
    click,
    column,
    has_colour,
    marks,
    page_width,
    reads,
    text,
)
from helpers.problems import warned
from helpers.report_inputs import HOSTILE, QUOTED, folder_of_pictures, many, many_boxes
from helpers.scenes import JOINTS, shaped

Opened = Callable[..., webdriver.Chrome]

ONE_SEQUENCE = "only one sequence"
STATUS, TOLD, GALLERY = ".viewer-status", ".filter-status", ".gallery-status"
WORDS: dict[str, dict[str, Any]] = {
    "points": {},
    "boxes": {"similarity": "iou"},
    "oriented boxes": {},
    "poses": {"similarity": "oks"},
    "joints": {"tau": 10},
    "tracks": {"tracks": True},
}


def scene(kind: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Three sequences of four frames: object 1 is found, 2 is missed, and prediction 3 is false; all move to the right.

    In the first frame they are at 100, 100, at 200, 100 and at 300, 150; the right prediction is 2 px to the right.
    """
    rows = [(sequence, frame) for sequence in (1, 2, 3) for frame in (1, 2, 3, 4)]
    sides = {
        "truth": [(*row, name, x + 20.0 * (row[1] - 1), 100.0) for row in rows for name, x in ((1, 100), (2, 200))],
        "predicted": [
            (*row, name, x + 20.0 * (row[1] - 1), y)
            for row in rows
            for name, x, y in ((1, 102, 100.0), (3, 300, 150.0))
        ],
    }
    names = ["sequence", "frame", "object", "x", "y"]
    truth, predicted = (shaped(pd.DataFrame(side, columns=names), kind) for side in sides.values())
    return truth, predicted.assign(score=0.5 + 0.1 * predicted["frame"])


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of the scene of a kind, which is made once."""
    folder = tmp_path_factory.mktemp("kinds")

    def page_of(kind: str) -> Path:
        path = folder / f"{kind}.html"
        if not path.exists():
            sf.report(*scene(kind), path, **WORDS[kind])
        return path

    return page_of


def view(**words: Any) -> str:
    """The address of a view."""
    return "#view?" + urlencode(words, doseq=True)


def address_of(driver: webdriver.Chrome) -> str:
    """The part of the address that names the view, as soon as it has followed."""
    time.sleep(0.4)
    return str(driver.execute_script("return location.hash"))


def named(driver: webdriver.Chrome) -> dict[str, list[str]]:
    """What the address names."""
    return parse_qs(address_of(driver).removeprefix("#view?"))


def chips(driver: webdriver.Chrome) -> list[str]:
    return [chip.text for chip in driver.find_elements(By.CSS_SELECTOR, ".chips button")]


def thumbnails(driver: webdriver.Chrome) -> list[WebElement]:
    return driver.find_elements(By.CSS_SELECTOR, ".gallery button")


def choose(driver: webdriver.Chrome, place: int, name: str) -> None:
    """Chooses in a list of the filter's form."""
    Select(driver.find_elements(By.CSS_SELECTOR, ".frames-filter select")[place]).select_by_visible_text(name)


# Trails on the dark field let it shine through.
FOUND_TRAIL = (122, 172, 138)

# Where marks of each kind have lines, relative to the place of the object.
LINES = {
    "points": [(0, 0)],
    "boxes": [(-20, 0), (20, 5), (5, -15), (-5, 15)],
    "oriented boxes": [(-15, 0), (15, 5), (5, -20), (-5, 20)],
    "poses": [(0, 30)],
    "joints": [*JOINTS.values()],
    "tracks": [(-20, 0), (20, 5), (5, -15), (-5, 15)],
}


@pytest.mark.parametrize("kind", LINES)
def test_each_kind_is_drawn_where_it_is(opened: Opened, drawn: Callable[[str], Path], kind: str) -> None:
    driver = opened(drawn(kind), address=view(sequence=1, frame=1, zoom="200 120 2"))
    n = 3 if kind == "joints" else 1
    assert f"{n} found, {n} missed, {n} false" in text(driver, STATUS)
    reach = 8 if kind in ("points", "joints") else 5
    colours = [*(ON_DARK.values() if kind == "tracks" else ON_DARK)]
    for dx, dy in LINES[kind]:
        for colour, x, y in zip(colours, (100, 200, 102, 300), (100, 100, 100, 150), strict=True):
            assert has_colour(driver, colour, x + dx, y + dy, reach=reach), (colour, dx, dy)
    for colour in colours:
        assert not has_colour(driver, colour, 250, 60, reach=20), "nothing is there"
    driver.get("about:blank")


def test_trails_lead_to_where_objects_were(opened: Opened, drawn: Callable[[str], Path]) -> None:
    place = {"x": 150, "y": 100, "reach": 3}  # between the middles in frames 3 and 4, away from any edge
    for trail in (0, 10):
        driver = opened(drawn("tracks"), address=view(sequence=1, frame=4, zoom="200 120 2", trail=trail))
        assert has_colour(driver, FOUND_TRAIL, **place) == (trail > 0)


def test_tracks_without_pictures_have_trails_on_a_dark_field(opened: Opened, drawn: Callable[[str], Path]) -> None:
    driver = opened(drawn("tracks"), address=view(sequence=1, frame=4, zoom="200 120 2"))
    trails = Select(driver.find_element(By.XPATH, "//label[starts-with(., 'Trails')]/select"))
    assert trails.first_selected_option.text == "10 frames"
    assert has_colour(driver, FOUND_TRAIL, 150, 100, reach=3)
    stage = driver.find_element(By.CSS_SELECTOR, ".viewer-stage")
    assert stage.value_of_css_property("background-color") == "rgba(20, 23, 27, 1)"


def test_playing_moves_the_picture_to_the_end_of_the_sequence(opened: Opened, drawn: Callable[[str], Path]) -> None:
    driver = opened(drawn("points"), address=view(sequence=2, frame=1, zoom="200 120 2"))
    assert has_colour(driver, MISSED, 200, 100, reach=8)
    button(driver, "Play").click()
    reads(driver, STATUS, "sequence 2, frame 4 (4 of 4)")
    Wait(driver, 20).until(lambda one: button(one, "Play"))
    assert has_colour(driver, MISSED, 260, 100, reach=8), "it moved by 20 px a frame"
    assert not has_colour(driver, MISSED, 200, 100, reach=8)
    assert named(driver)["frame"] == ["4"], "the address follows when playing ends"
    driver.find_element(By.CSS_SELECTOR, ".viewer-stages").send_keys(" ")
    reads(driver, STATUS, "frame 4 (4 of 4)")
    Wait(driver, 20).until(lambda one: button(one, "Play"))
    assert "sequence 2, " in text(driver, STATUS), "from the first frame again, and no further than its sequence"


def test_playing_goes_no_further_where_it_is_paused(opened: Opened, tmp_path: Path) -> None:
    truth, predictions = many(1, n_frames=60)
    sf.report(truth, predictions, tmp_path / "report.html")
    driver = opened(tmp_path / "report.html", address=view(sequence=1, frame=1))
    stages = driver.find_element(By.CSS_SELECTOR, ".viewer-stages")
    stages.send_keys(" ")
    Wait(driver, 20).until(lambda one: not re.search(r"\([1-4] of 60\)", text(one, STATUS)))
    stages.send_keys(" ")
    Wait(driver, 20).until(lambda one: button(one, "Play"))
    before = text(driver, STATUS)
    time.sleep(0.5)
    assert text(driver, STATUS) == before
    objects = column_of_objects(driver)
    stages.send_keys(Keys.ARROW_LEFT, Keys.ARROW_RIGHT)
    reads(driver, STATUS, before)
    assert column_of_objects(driver) == objects, "the table is that of the frame"


def column_of_objects(driver: webdriver.Chrome) -> list[str]:
    return [cell.text for cell in driver.find_elements(By.CSS_SELECTOR, ".viewer tbody td")]


def test_the_slider_and_the_marks_above_it_lead_to_frames(opened: Opened, drawn: Callable[[str], Path]) -> None:
    driver = opened(drawn("points"), address=view(sequence=1, frame=1, zoom="200 120 2"))
    slider = driver.find_element(By.CSS_SELECTOR, ".viewer-scrubber input")
    slider.send_keys(Keys.ARROW_RIGHT)
    reads(driver, STATUS, "sequence 1, frame 2 (2 of 4)")
    assert has_colour(driver, MISSED, 220, 100, reach=8), "scrubbing moves the picture"
    assert slider.get_attribute("aria-valuetext") == "frame 2 (2 of 4)"
    errors = driver.find_element(By.CSS_SELECTOR, ".viewer-scrubber canvas")
    assert errors.get_attribute("aria-label") == "Errors by frame: 4 of 4 frames have some"
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", errors)
    ActionChains(driver).move_to_element_with_offset(errors, errors.size["width"] // 2 - 9, 0).click().perform()
    reads(driver, STATUS, "sequence 1, frame 4 (4 of 4)")


def test_keys_lead_to_errors_and_breaks(opened: Opened, tmp_path: Path) -> None:
    """Of two sequences, that with errors comes first: a miss in its third frame, and a false alarm in its sixth."""
    rows = [(name, frame, 1, 10.0 * frame, 0.0, 20.0, 20.0) for name in ("a", "b") for frame in range(1, 11)]
    truth = pd.DataFrame(rows, columns=["sequence", "frame", "object", "x", "y", "w", "h"])
    wrong = pd.DataFrame([("b", 6, 9, 500.0, 0.0, 20.0, 20.0)], columns=truth.columns)
    found = truth[(truth["sequence"] == "a") | (truth["frame"] != 3)]
    sf.report(truth, pd.concat([found, wrong], ignore_index=True), tmp_path / "report.html", tracks=True)
    driver = opened(tmp_path / "report.html", address=view(sequence="b", frame=1))
    stages = driver.find_element(By.CSS_SELECTOR, ".viewer-stages")
    for key, place in (("n", "b, frame 3 "), ("n", "b, frame 6 "), ("n", "b, frame 6 "), ("N", "b, frame 3 ")):
        stages.send_keys(key)
        reads(driver, STATUS, f"sequence {place}")
    for key, place in ((Keys.PAGE_DOWN, "a, frame 1 "), ("B", "b, frame 3 "), ("b", "b, frame 3 ")):
        stages.send_keys(key)
        reads(driver, STATUS, f"sequence {place}")


def test_the_tip_says_why_two_are_no_pair(opened: Opened, tmp_path: Path) -> None:
    """One prediction overlaps too little, and another is a second one of a truth that is taken."""
    columns = ["sequence", "frame", "object", "x", "y", "w", "h", "score"]
    truth = pd.DataFrame([(1, 1, 1, 100, 100, 40, 40, 0), (1, 1, 2, 200, 100, 40, 40, 0)], columns=columns)
    rows = [(1, 1, 5, 118, 100, 40, 40, 0.9), (1, 1, 6, 200, 100, 40, 40, 0.8), (1, 1, 7, 201, 100, 40, 40, 0.7)]
    sf.report(truth.drop(columns="score"), pd.DataFrame(rows, columns=columns), tmp_path / "report.html")
    driver = opened(tmp_path / "report.html", address=view(sequence=1, frame=1, zoom="170 120 3"))
    canvas = driver.find_element(By.CSS_SELECTOR, ".viewer-stage canvas")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    for x, told in ((158, "#1, IoU 0.379; 0.5 is needed"), (241, "#2, IoU 0.951, taken by #6")):
        ActionChains(driver).move_to_element_with_offset(canvas, 3 * (x - 170), 30).perform()
        assert told in reads(driver, ".viewer-tip", "nearest truth")


def test_frames_are_called_by_the_files_of_their_pictures(opened: Opened, tmp_path: Path) -> None:
    truth, predictions = scene("boxes")
    frames = truth[["sequence", "frame"]].drop_duplicates()
    named_frames = frames.assign(
        file_name="day/" + frames["sequence"].astype(str) + frames["frame"].astype(str) + ".jpg"
    )
    sf.report(sf.Annotations(truth, named_frames), predictions, tmp_path / "report.html")
    driver = opened(tmp_path / "report.html", address=view(sequence=2, frame=3))
    reads(driver, STATUS, "day/23.jpg, sequence 2, frame 3 (3 of 4)")
    assert thumbnails(driver)[0].text.split("\n")[0].endswith(".jpg")


def test_steps_by_button_key_and_sequence(opened: Opened, drawn: Callable[[str], Path]) -> None:
    driver = opened(drawn("points"))
    assert "sequence 1, frame 1 (1 of 4)" in text(driver, STATUS)
    button(driver, "Next frame").click()
    reads(driver, STATUS, "frame 2 (2 of 4)")
    driver.find_element(By.CSS_SELECTOR, ".viewer-stages").send_keys(Keys.ARROW_RIGHT)
    reads(driver, STATUS, "frame 3 (3 of 4)")
    driver.find_element(By.CSS_SELECTOR, ".viewer-stages").send_keys(Keys.PAGE_DOWN)
    reads(driver, STATUS, "sequence 2, frame 1 (1 of 4)")
    assert named(driver)["sequence"] == ["2"], "the address follows"
    button(driver, "Previous sequence").click()
    reads(driver, STATUS, "sequence 1, frame 1 (1 of 4)")
    assert button(driver, "Previous frame").get_attribute("aria-disabled") == "true"


def test_zoom_by_button_and_wheel(opened: Opened, drawn: Callable[[str], Path]) -> None:
    driver = opened(drawn("points"), address=view(sequence=1, frame=1, zoom="200 120 2"))
    button(driver, "Zoom in").click()
    Wait(driver, 20).until(lambda one: float(named(one)["zoom"][0].split()[2]) > 2)
    assert has_colour(driver, MISSED, 200, 100, reach=8), "where it now is"
    before = float(named(driver)["zoom"][0].split()[2])
    canvas = driver.find_element(By.CSS_SELECTOR, ".viewer-stage canvas")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    middle = "const r = arguments[0].getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]"
    x, y = driver.execute_script(middle, canvas)
    wheel = {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": 200}
    driver.execute_cdp_cmd("Input.dispatchMouseEvent", wheel | {"modifiers": 2})  # Ctrl
    Wait(driver, 20).until(lambda one: float(named(one)["zoom"][0].split()[2]) < before)
    button(driver, "Whole frame").click()
    Wait(driver, 20).until(lambda one: "zoom" not in named(one))


def test_the_time_line_jumps(opened: Opened, drawn: Callable[[str], Path]) -> None:
    driver = opened(drawn("tracks"))
    assert "a triangle a switch" in text(driver, ".viewer-time:not([hidden]) + .viewer-keys")
    line = driver.find_element(By.CSS_SELECTOR, ".viewer-time canvas")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", line)
    ActionChains(driver).move_to_element_with_offset(line, line.size["width"] // 2 - 20, 0).click().perform()
    reads(driver, STATUS, "frame 4 (4 of 4)")


def test_a_filter_by_its_form_is_told_and_removed(opened: Opened, page: Path, sample: Path) -> None:
    driver = opened(page, address=view(submission="eager"))
    truth = sf.read_objects(sample / "truth.parquet", frames=sample / "frames.parquet")
    matches = sf.match(truth, sf.read_objects(sample / "eager.parquet"))
    rows = matches[matches["outcome"] != "empty"]
    choose(driver, 0, "outcome")
    choose(driver, 1, "missed")
    button(driver, "Add to the filter").click()
    missed = rows[rows["outcome"] == "FN"]
    n_frames = len(missed[["sequence", "frame"]].drop_duplicates())
    told = f"{len(missed)} of {len(rows)} rows on this page, in {n_frames} frames."
    assert reads(driver, TOLD, "rows").endswith(told)
    assert chips(driver) == ["outcome is missed ×"]
    assert f"{n_frames} frames pass the filter" in text(driver, STATUS)
    choose(driver, 0, "truth_brightness")
    [low, _] = driver.find_elements(By.CSS_SELECTOR, ".filter-range input")
    low.send_keys("60", Keys.ENTER)
    bright = missed[missed["truth_brightness"] >= 60]
    reads(driver, TOLD, f"{len(bright)} of {len(rows)} rows")
    assert chips(driver) == ["outcome is missed ×", "truth_brightness is at least 60 ×", "the whole filter ×"]
    button(driver, "outcome is missed ×").send_keys(Keys.ENTER)
    reads(driver, TOLD, f"{(rows['truth_brightness'] >= 60).sum()} of {len(rows)} rows")
    button(driver, "truth_brightness is at least 60 ×").click()
    Wait(driver, 20).until(lambda one: text(one, TOLD) == "")
    assert "filter" not in named(driver)


def test_steps_visit_only_frames_that_pass(opened: Opened, drawn: Callable[[str], Path]) -> None:
    condition = json.dumps([{"column": "predicted_score", "from": 0.8, "to": None}])
    driver = opened(drawn("points"), address=view(filter=condition))
    assert "sequence 1, frame 3 (3 of 4)" in text(driver, STATUS)
    for place in ("sequence 1, frame 4", "sequence 2, frame 3", "sequence 2, frame 4"):
        button(driver, "Next frame").click()
        reads(driver, STATUS, place)


def test_an_empty_filter_says_so_and_can_be_removed(opened: Opened, drawn: Callable[[str], Path]) -> None:
    conditions = [{"column": "outcome", "is": ["found"]}, {"column": "predicted_score", "from": 2, "to": None}]
    driver = opened(drawn("points"), address=view(filter=json.dumps(conditions)))
    assert "nothing on this page passes this filter" in text(driver, TOLD)
    assert not thumbnails(driver)
    button(driver, "the whole filter ×").click()
    Wait(driver, 20).until(lambda one: thumbnails(one))
    assert text(driver, TOLD) == ""


def test_a_bar_shows_the_frames_that_it_counts(opened: Opened, page: Path) -> None:
    driver = opened(page)
    place = driver.find_element(By.CSS_SELECTOR, "[data-chart='costs']")
    bar = max(place.find_elements(By.CSS_SELECTOR, ".mark-rect path"), key=lambda one: one.size["width"])
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", bar)
    ActionChains(driver).move_to_element(bar).click().perform()
    told = reads(driver, TOLD, "rows")
    kind = chips(driver)[0].removeprefix("kind is ").removesuffix(" ×")
    name = told.split(",")[0]
    costs = list(zip(column(driver, "costs", "submission"), column(driver, "costs", "kind"), strict=True))
    at = costs.index((name, kind))
    counted = [int(column(driver, "costs", title)[at].replace(",", "")) for title in ("misses", "false alarms")]
    assert told.startswith(f"{name}, kind is {kind}: {sum(counted)} of ")
    assert driver.switch_to.active_element.get_attribute("id") == "frames-heading"
    assert named(driver)["submission"] == [name]


def test_a_cell_of_the_map_shows_the_truths_in_it(opened: Opened, page: Path) -> None:
    driver = opened(page)
    place = driver.find_element(By.CSS_SELECTOR, "[data-chart='recall_map']")
    cell = marks(place)[40]
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", cell)
    ActionChains(driver).move_to_element(cell).perform()
    told = reads(driver, "#vg-tooltip-element", "truths").split("\n")
    values = dict(line.rsplit(" ", 1) for line in told)
    ActionChains(driver).click().perform()
    assert f": {values['truths']} of " in reads(driver, TOLD, "rows")
    assert [chip.split(" is ")[0] for chip in chips(driver)[:2]] == ["truth_centre_x", "truth_centre_y"]


# At most a hundred marks, from the first to the last: a map has hundreds of cells.
CLICK_MARKS = """
const [chart, count, done] = arguments;
const told = document.querySelector('.filter-status');
const paths = [...document.querySelectorAll(`[data-chart=${chart}] g.role-mark > path`)];
const marks = paths.filter((one) => one.__data__?.datum?.[count] !== undefined);
const n = Math.min(100, marks.length);
const clicked = [...Array(n).keys()].map((k) => marks[Math.round((k * (marks.length - 1)) / Math.max(n - 1, 1))]);
const found = [];
for (const mark of clicked) {
  told.textContent = '';
  mark.dispatchEvent(new MouseEvent('click', {bubbles: true}));
  while (!told.textContent) await new Promise((resolve) => setTimeout(resolve, 2));
  found.push([mark.__data__.datum[count], told.textContent]);
}
done(found);
"""


@pytest.mark.parametrize(("chart", "count"), [("measures", "n"), ("residuals", "n"), ("recall_map", "truths")])
def test_every_bar_and_cell_shows_just_the_rows_that_it_counts(
    opened: Opened, tmp_path: Path, chart: str, count: str
) -> None:
    truth, predictions = many(60)
    third = 1 / 3  # so many digits that rounded numbers would be in other bins
    moved = predictions.assign(x=predictions["x"] + third * (predictions["object"] % 7), y=predictions["y"] - third)
    near = truth.objects.assign(x=truth.objects["x"] * third)
    sf.report(near, moved.assign(x=moved["x"] * third), tmp_path / "report.html")
    driver = opened(tmp_path / "report.html")
    found = driver.execute_async_script(CLICK_MARKS, chart, count)
    assert len(found) >= 10
    assert [told for n, told in found if f": {n:,} of " not in told and (n or "nothing" not in told)] == []


def test_a_row_of_a_table_shows_its_frames_also_by_keyboard(opened: Opened, page: Path) -> None:
    driver = opened(page)
    row = driver.find_elements(By.CSS_SELECTOR, "[data-table='slice-0'] tbody tr")[2]
    submission, sequence = (cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td")[:2])
    row.find_elements(By.TAG_NAME, "button")[1].send_keys(Keys.ENTER)
    reads(driver, STATUS, f"{submission}, sequence {sequence}, ")
    assert driver.switch_to.active_element.get_attribute("id") == "frames-heading"
    assert chips(driver) == [f"sequence is {sequence} ×"]
    bins = "[data-table='slice-2'] tbody tr:nth-child(2)"
    name, shown = text(driver, f"{bins} th"), text(driver, f"{bins} td")
    driver.find_elements(By.CSS_SELECTOR, f"{bins} button")[1].click()
    told = reads(driver, TOLD, "(bins)")
    truths = sum(int(column(driver, "slice-2", title)[1]) for title in ("TP", "FN"))
    assert told.startswith(f"{name}, truth_brightness (bins) is {shown}: {truths} of ")


def test_what_changed_shows_both_submissions(opened: Opened, page: Path) -> None:
    driver = opened(page, address=view(submission="cautious"))
    row = driver.find_element(By.CSS_SELECTOR, "[data-table='changes'] tbody tr")
    cells = [cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td")]
    row.find_element(By.TAG_NAME, "button").click()
    told = reads(driver, TOLD, "change is")
    assert "eager → cautious: found → missed" in cells
    n_truths = next(int(cell.replace(",", "")) for cell in cells if cell.replace(",", "").isdecimal())
    assert f": {2 * n_truths} of " in told, "a row of each submission"
    assert text(driver, STATUS).count(" found, ") == 2
    assert len(driver.find_elements(By.CSS_SELECTOR, ".viewer-panel:not([hidden])")) == 2


def test_sequences_that_the_page_does_not_hold_are_no_buttons(opened: Opened, tmp_path: Path) -> None:
    truth, predictions = many(1300, n_frames=2, n_objects=2)
    sf.report(truth, predictions, tmp_path / "report.html")
    driver = opened(tmp_path / "report.html")
    click(driver, "[data-more='slice-0'] button:last-child")
    code = "return [...document.querySelectorAll('[data-table=slice-0] tbody th')]"
    cells = driver.execute_script(f"{code}.map((one) => [one.firstElementChild !== null, one.title])")
    held = sum(is_button for is_button, _ in cells)
    assert 0 < held < len(cells)
    assert {title for is_button, title in cells if not is_button} == {"This page cannot show these frames"}


def test_the_gallery_opens_frames_by_mouse_and_keyboard(opened: Opened, page: Path) -> None:
    driver = opened(page, address=view(submission="cautious"))
    assert len(thumbnails(driver)) == 12
    second = thumbnails(driver)[1]
    place, tally = second.text.split("\n")
    second.send_keys(Keys.ENTER)
    sequence, _, frame = place.partition(", frame ")
    assert f"sequence {sequence}, frame {frame} (" in reads(driver, STATUS, tally)
    button(driver, "12 more frames").click()
    Wait(driver, 20).until(lambda one: len(thumbnails(one)) == 24)
    errors = [
        sum(map(int, (part.split()[0] for part in one.text.split("\n")[1].split(", ")[1:])))
        for one in thumbnails(driver)
    ]
    assert errors == sorted(errors, reverse=True)
    painted = "return [...document.querySelectorAll('.gallery canvas')].every((one) => one.toDataURL().length > 1500)"
    Wait(driver, 20).until(lambda one: one.execute_script(painted))


def test_a_random_sample_is_new_each_time_and_kept_by_the_link(opened: Opened, page: Path) -> None:
    driver = opened(page)
    samples = []
    for _ in range(2):
        button(driver, "Random sample").click()
        samples.append([one.text for one in thumbnails(driver)])
    assert samples[0] != samples[1]
    address = address_of(driver)
    again = opened(page, address=address)
    assert [one.text for one in thumbnails(again)] == samples[1]


def test_a_link_reopens_the_view(opened: Opened, page: Path) -> None:
    driver = opened(page)
    choose(driver, 0, "kind")
    button(driver, "Add to the filter").click()
    reads(driver, TOLD, "rows")
    button(driver, "Next frame").click()
    button(driver, "Zoom in").click()
    Select(driver.find_element(By.XPATH, "//label[starts-with(., 'Submissions')]/select")).select_by_index(1)
    driver.find_element(By.CSS_SELECTOR, ".viewer tbody button").click()
    Wait(driver, 20).until(lambda one: "selected" in named(one))
    address = address_of(driver)
    told = [text(driver, STATUS), text(driver, TOLD), text(driver, GALLERY), chips(driver)]
    again = opened(page, address=address)
    assert [text(again, STATUS), text(again, TOLD), text(again, GALLERY), chips(again)] == told
    assert address_of(again) == address
    assert again.execute_script("return scrollY") > 500, "the frames are in view"
    assert named(again)["layout"] == ["over"]
    assert again.find_elements(By.CSS_SELECTOR, ".viewer tbody [aria-pressed='true']")


def test_a_link_followed_within_the_page_and_other_anchors_work(opened: Opened, drawn: Callable[[str], Path]) -> None:
    driver = opened(drawn("points"), address="#errors")
    assert driver.execute_script("return location.hash") == "#errors"
    assert abs(driver.find_element(By.ID, "errors").rect["y"] - driver.execute_script("return scrollY")) < 60
    driver.execute_script("location.hash = '#view?sequence=3&frame=2'")
    reads(driver, STATUS, "sequence 3, frame 2")


@pytest.mark.parametrize(
    "words",
    [
        {
            "sequence": "__proto__",
            "frame": "constructor",
            "submission": "toString",
            "layout": "x",
            "colour": "identity",
        },
        {"filter": '[{"column": "__proto__", "is": ["x"]}, {"column": "outcome", "is": ["<img src=x>\u202e"]}]'},
        {
            "filter": "[",
            "zoom": "NaN Infinity -1",
            "selected": "truth 9 9999",
            "gallery": "random -5 1e99",
            "trail": "1e9",
        },
        {"zoom": "0 0 0", "selected": "__proto__ 0 0", "frame": "1\u202e"},
    ],
)
def test_what_an_address_may_say_wrongly_is_passed_over(
    opened: Opened, drawn: Callable[[str], Path], words: dict[str, str]
) -> None:
    driver = opened(drawn("points"), address=view(**words))
    assert "sequence 1, frame 1 (1 of 4): 1 found, 1 missed, 1 false" in text(driver, STATUS)
    assert not chips(driver)
    assert "\u202e" not in str(driver.execute_script("return document.body.innerText"))


def test_the_link_is_copied_or_shown(opened: Opened, drawn: Callable[[str], Path]) -> None:
    driver = opened(drawn("points"), address=view(sequence=2, frame=3))
    driver.execute_script(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: (text) => { window.copied = text; }}})"
    )
    button(driver, "Copy link to this view").click()
    reads(driver, ".frames-link", "Copied.")
    assert "sequence=2&frame=3&" in driver.execute_script("return window.copied")
    driver.execute_script("navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'))")
    button(driver, "Copy link to this view").click()
    assert "report" not in reads(driver, ".frames-link", "points.html#view?sequence=2&frame=3&")


def test_sequences_that_a_submission_does_not_have(opened: Opened, tmp_path: Path) -> None:
    truth, predictions = many(3)
    elsewhere = pd.concat([predictions, predictions.assign(sequence=predictions["sequence"] + 100)])
    sf.report(truth.objects, {"a": predictions, "b": elsewhere}, tmp_path / "report.html")
    driver = opened(tmp_path / "report.html", address=view(sequence=101, frame=1))
    assert "a does not have this frame" in text(driver, STATUS)
    rows = driver.find_elements(By.CSS_SELECTOR, ".viewer tbody tr")
    assert rows
    assert all("false" in row.text for row in rows)


def test_infinite_scores_leave_the_page_quiet(opened: Opened, tmp_path: Path) -> None:
    truth, predictions = many(30)
    infinite = predictions.assign(score=predictions["score"].where(predictions["object"] > 0, -float("inf")))
    infinite.loc[0, "score"] = float("inf")
    sf.report(truth, infinite, tmp_path / "report.html")
    driver = opened(tmp_path / "report.html")  # at its end the test looks whether the console is empty
    assert marks(driver.find_element(By.CSS_SELECTOR, "[data-chart='by_threshold']"))


NAMES = ["__proto__", "constructor", HOSTILE, QUOTED]


def test_hostile_names_are_only_text(opened: Opened, tmp_path: Path) -> None:
    truth, predictions = many_boxes(4)
    names = dict(enumerate(NAMES, 1))
    sides: list[pd.DataFrame] = [
        side.assign(
            sequence=side["sequence"].map(names).astype("str"),
            category=side["object"].map(dict(enumerate(NAMES))).astype("str"),
            object=(HOSTILE + side["object"].astype("str")).astype("str"),
            **dict.fromkeys(NAMES, QUOTED),
        )
        for side in (truth.objects, predictions)
    ]
    submissions = {name: sides[1].iloc[i::2] for i, name in enumerate(("__proto__", "constructor"))}
    sf.report(
        sides[0], submissions | {HOSTILE: sides[1]}, tmp_path / "report.html", by=[f"truth_{HOSTILE}", "category"]
    )
    driver = opened(tmp_path / "report.html")
    Select(driver.find_element(By.ID, "picked")).select_by_visible_text(HOSTILE)
    click(driver, "[data-table='slice-0'] thead th:nth-child(2) button")
    for row in range(0, 12, 3):
        cells = driver.find_elements(By.CSS_SELECTOR, "[data-table='slice-0'] tbody tr")[row]
        submission, sequence = cells.find_element(By.TAG_NAME, "th").text, cells.find_element(By.TAG_NAME, "td").text
        cells.find_elements(By.TAG_NAME, "button")[1].click()
        reads(driver, STATUS, f"{submission}, sequence {sequence}, ")
    for name in ("truth___proto__", f"predicted_{HOSTILE}", "truth_constructor", "category"):
        choose(driver, 0, name)
        choose(driver, 1, QUOTED)
        button(driver, "Add to the filter").click()
        reads(driver, ".chips", f"{name} is {QUOTED}")
    assert "rows on this page" in text(driver, TOLD)
    address = address_of(driver)
    assert len(chips(opened(tmp_path / "report.html", address=address))) == 6
    canvas = driver.find_element(By.CSS_SELECTOR, ".viewer-stage canvas")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    driver.find_element(By.CSS_SELECTOR, ".viewer tbody button").click()
    assert driver.find_elements(By.CSS_SELECTOR, "main img, main script, main iframe") == []


def test_pictures_lie_behind_the_frames(opened: Opened, tmp_path: Path) -> None:
    truth, predictions = many(1)
    images = folder_of_pictures(tmp_path / "images", n_frames=4)
    with warned(ONE_SEQUENCE, ("images: 1 of 5 frames", f"{images / '1' / '5.png'}")):
        sf.report(truth, predictions, tmp_path / "report.html", images=images)
    grey = [(shade, shade, shade) for shade in (0x28, 0x48, 0x68, 0x88, 0xA8, 0xC8)]
    for frame in range(1, 6):
        driver = opened(tmp_path / "report.html", address=view(sequence=1, frame=frame, zoom="320 240 0.8", marks="no"))
        assert ("(no picture)" in text(driver, STATUS)) == (frame == 5)
        inside = any(has_colour(driver, shade, 400, 300, reach=6) for shade in grey)
        assert inside == (frame < 5), "the picture is drawn up to its edges"
        assert not any(has_colour(driver, shade, 660, 300, reach=6) for shade in grey[2:])


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
@pytest.mark.parametrize("kind", WORDS)
def test_a_screen_reader_can_read_the_frames(
    opened: Opened, drawn: Callable[[str], Path], kind: str, width: int, scheme: str
) -> None:
    filtered = json.dumps([{"column": "outcome", "is": ["missed", "false"]}])
    driver = opened(drawn(kind), width, scheme, view(filter=filtered, gallery="random 1 12"))
    assert page_width(driver) <= width
    assert axe_findings(driver) == []


def test_the_first_frame_that_is_shown_has_an_error(opened: Opened, tmp_path: Path) -> None:
    truth = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3, 4], "object": 1, "x": 50.0, "y": 50.0})
    with warned(ONE_SEQUENCE):
        sf.report(truth, truth[truth["frame"] != 3], tmp_path / "report.html")
    driver = opened(tmp_path / "report.html")
    assert "sequence 1, frame 3 (3 of 4): 0 found, 1 missed, 0 false" in text(driver, STATUS)
