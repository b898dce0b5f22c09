"""The explorer in JupyterLab, as people use it: frames are drawn, clicks mark rows, filters move the view."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from helpers.browser import started
from helpers.jupyter import READY, Notebook, jupyterlab
from helpers.reference import PROJECT
from helpers.report_inputs import HOSTILE, QUOTED, folder_of_pictures

# What JupyterLab says itself: it asks for language servers in vain, and its own scripts fail in narrow windows. The
# widget's script has an address that begins with blob:.
NOT_OURS = ("/lsp/status", "favicon", "/static/lab/")

PREPARED = f"""
import sys
sys.path.insert(0, {str(PROJECT / "tests")!r})
import pandas as pd
import spotgeo_frames as sf
from helpers.masks import corners
from helpers.report_inputs import many, many_boxes, many_poses
data = {str(PROJECT / "data")!r}
matches = sf.match(*many(4))
"""

KINDS = {
    "points": "matches",
    "boxes": "sf.match(*many_boxes(3))",
    "poses": "sf.match(*many_poses(3), similarity='oks')",
    "masks": "sf.match(*corners())",
    "joints": "sf.match(*many_poses(3))",
    "tracks": "sf.track(*sf.read_motchallenge(data + '/tracks/truth', data + '/tracks/tracker'))",
    "tracks of joints": "sf.pose(*sf.read_posetrack(data + '/poses/truth', data + '/poses/tracker'))",
    "precision": "sf.average_precision(*sf.read_coco(data + '/coco/annotations.json', data + '/coco/fast.json', True))",
    "several": "{'all': matches, 'again': matches}",
}


PICTURE = "document.querySelector('.explorer .viewer-stage canvas')"
PIXELS = f"{PICTURE}.getContext('2d').getImageData(0, 0, {PICTURE}.width, {PICTURE}.height).data.buffer"
N_COLOURS = f"new Set(new Uint32Array({PIXELS})).size"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="module")
def lab(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Notebook, str]]:
    pytest.importorskip("anywidget")
    with jupyterlab(folder) as address:
        driver = started(tmp_path_factory.mktemp("browser"))
        try:
            notebook = Notebook(driver, address, folder)
            notebook.run(PREPARED)
            yield notebook, address
        finally:
            driver.quit()


@pytest.fixture
def notebook(lab: tuple[Notebook, str]) -> Iterator[Notebook]:
    """The notebook; at the end of the test it is looked at whether anything was said, or asked for elsewhere."""
    shown, address = lab
    size = {"width": 1280, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    shown.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield shown
    said = [entry["message"] for entry in shown.driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert [message for message in said if not any(name in message for name in NOT_OURS)] == []
    events = [json.loads(entry["message"])["message"] for entry in shown.driver.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    ours = (address, f"blob:{address}", "data:", "chrome:")
    assert [url for url in asked if not url.startswith(ours)] == []


def status(driver: webdriver.Chrome) -> str:
    return str(driver.find_element(By.CSS_SELECTOR, ".explorer .viewer-status").text)


def lines(driver: webdriver.Chrome) -> list[WebElement]:
    return driver.find_elements(By.CSS_SELECTOR, ".explorer .viewer-objects tbody tr")


def shift_click(driver: webdriver.Chrome, element: WebElement) -> None:
    ActionChains(driver).key_down(Keys.SHIFT).click(element).key_up(Keys.SHIFT).perform()


def says(notebook: Notebook, selector: str, part: str) -> None:
    """Waits until an element of the explorer has this text in it."""
    script = "return document.querySelector(`.explorer ${arguments[0]}`)?.textContent.includes(arguments[1])"
    notebook.wait(script, selector, part)


def count_of_colours(driver: webdriver.Chrome) -> int:
    """How many different colours the canvas of the frame has."""
    return int(driver.execute_script(f"return {N_COLOURS}"))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_drawn_and_a_marked_row_arrives(kind: str, notebook: Notebook) -> None:
    driver = notebook.driver
    notebook.show(f"widget = sf.explore({KINDS[kind]}); widget")
    notebook.wait("return document.querySelector('.explorer .viewer-objects tbody tr')")
    assert count_of_colours(driver) > 3
    assert "found" in status(driver)
    lines(driver)[0].click()
    says(notebook, ".explorer-marks", "1 row marked")
    frame = int(status(driver).partition(", frame ")[2].partition(" ")[0])
    printed = notebook.run("print(len(widget.selection), widget.selection['frame'].iloc[0])")
    assert printed.split() == ["1", str(frame)]


def test_masks_are_filled_and_those_that_are_left_out_are_boxes(notebook: Notebook) -> None:
    filled = f"return new Uint8Array({PIXELS}).filter((value, i) => i % 4 === 3 && value === 51).length"
    notebook.show("sf.explore(sf.match(*corners()))")
    notebook.wait(filled)
    assert notebook.driver.execute_script(filled) > 5000
    assert "masks are drawn as the boxes" not in status(notebook.driver)
    leave_out = "from spotgeo_frames.presentation.viewer import masks\nmasks.MOST_OF_FRAME = {}\n"
    notebook.show(leave_out.format(10) + "sf.explore(sf.match(*corners()))")
    says(notebook, ".viewer-status", "its masks are drawn as the boxes around them")
    assert notebook.driver.execute_script(filled) < 100
    notebook.run(leave_out.format(200_000))


def test_clicks_with_shift_add_rows_and_take_them_away(notebook: Notebook) -> None:
    driver = notebook.driver
    notebook.show("widget = sf.explore(matches); widget")
    headings = [one.text for one in driver.find_elements(By.CSS_SELECTOR, ".explorer .viewer-objects thead th")]
    assert headings[:3] == ["outcome", "truth", "prediction"], "a match table knows no kinds of error"
    first, second, third = lines(driver)[:3]
    place = "return document.querySelector('.explorer .viewer-stage').offsetTop"
    before = driver.execute_script(place)
    first.click()
    says(notebook, ".explorer-marks", "1 row marked")
    assert driver.execute_script(place) == before, "the frame stays where it is, for the next click"
    shift_click(driver, second)
    says(notebook, ".explorer-marks", "2 rows marked")
    shift_click(driver, third)
    says(notebook, ".explorer-marks", "3 rows marked")
    shift_click(driver, second)
    says(notebook, ".explorer-marks", "2 rows marked")
    pressed = [line.find_element(By.TAG_NAME, "button").get_attribute("aria-pressed") for line in lines(driver)[:3]]
    assert pressed == ["true", "false", "true"]
    same = "matches.loc[widget.selection.index].equals(widget.selection)"
    assert notebook.run(f"print(list(widget.selection.index), {same})").strip() == "[0, 2] True"
    lines(driver)[1].click()
    says(notebook, ".explorer-marks", "1 row marked")
    assert notebook.run("print(list(widget.selection.index))").strip() == "[1]"


def test_a_click_in_the_picture_marks_what_is_there(notebook: Notebook) -> None:
    driver = notebook.driver
    notebook.show(
        "lone = pd.DataFrame({'sequence': [1], 'frame': [1], 'object': [7], 'x': [50.0], 'y': [40.0]})\n"
        "widget = sf.explore(sf.match(lone, lone)); widget"
    )
    canvas = driver.find_element(By.CSS_SELECTOR, ".explorer .viewer-stage canvas")
    ActionChains(driver).click(canvas).perform()  # an object alone is in the middle
    says(notebook, ".explorer-marks", "1 row marked")
    assert notebook.run("print(widget.selection['truth_object'].tolist())").strip() == "[7]"
    ActionChains(driver).move_to_element_with_offset(canvas, 200, 100).click().perform()
    says(notebook, ".explorer-marks", "No row is marked")
    assert notebook.run("print(len(widget.selection))").strip() == "0"


def test_a_filter_moves_the_view(notebook: Notebook) -> None:
    driver = notebook.driver
    notebook.show("widget = sf.explore(matches); widget")
    assert status(driver).startswith("sequence 1, frame 1 ")
    notebook.run("widget.filter = 'sequence == 3 and frame > 2'")
    says(notebook, ".viewer-status", "sequence 3, frame 3 (3 of 5)")
    says(notebook, ".viewer-status", "3 frames pass the filter")
    says(notebook, ".explorer-filter", "Filter: sequence == 3 and frame > 2")
    notebook.run("widget.filter = \"outcome == 'FN'\"")
    notebook.wait("return document.querySelector('.explorer .viewer-objects tbody tr.viewer-pale')")
    pale = [
        line.find_elements(By.TAG_NAME, "th")[0].text
        for line in lines(driver)
        if "viewer-pale" in str(line.get_attribute("class"))
    ]
    assert "missed" not in pale
    notebook.run("widget.filter = None")
    notebook.wait("return document.querySelector('.explorer .explorer-filter').hidden")
    notebook.wait("return !document.querySelector('.explorer .viewer-pale')")


def test_a_filtered_table_says_what_it_lacks(notebook: Notebook) -> None:
    notebook.show("kept = matches.groupby(['sequence', 'frame']).head(1); widget = sf.explore(kept); widget")
    assert "(1 of 5): 1 found, 0 missed, 0 false; 3 truths and 3 predictions of this frame were filtered out" in status(
        notebook.driver
    )


def test_tags_survive_in_a_second_view(notebook: Notebook) -> None:
    driver = notebook.driver
    notebook.show("widget = sf.explore(matches); widget")
    lines(driver)[0].click()
    says(notebook, ".explorer-marks", "1 row marked")
    field = driver.find_element(By.CSS_SELECTOR, ".explorer-form input")
    field.send_keys("aabb x", Keys.ENTER)  # a and b are commands of JupyterLab
    says(notebook, ".explorer-tags", "aabb x (1)")
    assert notebook.run("print(widget.tags['tag'].tolist(), len(widget.selection))").strip() == "['aabb x'] 1"
    notebook.show("widget")
    says(notebook, ".explorer-marks", "1 row marked, tagged aabb x (1)")
    merged = "matches.merge(widget.tags, how='left')"
    assert notebook.run(f"print(len({merged}) == len(matches), {merged}['tag'].count())").strip() == "True 1"
    notebook.show("earlier = widget.tags; widget = sf.explore(matches); widget.tags = earlier; widget")
    says(notebook, ".explorer-tags", "aabb x (1)")


def test_steps_go_through_frames_that_are_sent_when_they_are_looked_at(notebook: Notebook) -> None:
    driver = notebook.driver
    notebook.show(
        "from spotgeo_frames.presentation.explorer import contents, widget as module\n"
        "contents.ROWS_TOGETHER = 10\n"
        "asked = []\n"
        "real = module.chunk\n"
        "module.chunk = lambda of, number: asked.append(number) or real(of, number)\n"
        "widget = sf.explore(matches); widget"
    )
    stage = driver.find_element(By.CSS_SELECTOR, ".explorer .viewer-stages")
    stage.send_keys(Keys.ARROW_RIGHT)
    says(notebook, ".viewer-status", "sequence 1, frame 2 ")
    stage.send_keys(Keys.PAGE_DOWN)
    says(notebook, ".viewer-status", "sequence 2, frame 1 ")
    stage.send_keys(Keys.PAGE_UP)
    says(notebook, ".viewer-status", "sequence 1, frame 1 ")
    assert notebook.run("print(asked); module.chunk = real; contents.ROWS_TOGETHER = 5000").strip() == "[0, 1]"


def test_keys_in_the_viewer_are_no_commands_of_jupyterlab(notebook: Notebook) -> None:
    driver = notebook.driver
    notebook.show("widget = sf.explore(matches); widget")
    cells = "return document.querySelectorAll('.jp-Notebook .jp-Cell').length"
    before = driver.execute_script(cells)
    buttons = driver.find_elements(By.CSS_SELECTOR, ".explorer .viewer-buttons button[aria-disabled='false']")
    for focused in (driver.find_element(By.CSS_SELECTOR, ".explorer .viewer-stages"), *buttons[:1]):
        driver.execute_script("arguments[0].focus()", focused)
        ActionChains(driver).send_keys("abdd", Keys.ARROW_DOWN).perform()  # cells above and below, and one deleted
        assert driver.execute_script("return document.activeElement === arguments[0]", focused)
    assert driver.execute_script(cells) == before
    ActionChains(driver).send_keys(Keys.ARROW_RIGHT).perform()
    says(notebook, ".viewer-status", "frame 2 ")


def test_pictures_lie_behind_frames(notebook: Notebook, folder: Path) -> None:
    folder_of_pictures(folder / "images", n_frames=1)
    notebook.show("widget = sf.explore(matches, images='images'); widget")
    notebook.wait("return document.querySelector('.explorer .viewer-stage').dataset.picture")
    assert count_of_colours(notebook.driver) > 50
    notebook.driver.find_element(By.CSS_SELECTOR, ".explorer .viewer-stages").send_keys(Keys.ARROW_RIGHT)
    says(notebook, ".viewer-status", "there is no such file")


def test_colours_follow_the_theme_of_jupyterlab(notebook: Notebook) -> None:
    driver = notebook.driver
    notebook.show("widget = sf.explore(matches); widget")
    paper = "return getComputedStyle(document.querySelector('.explorer')).backgroundColor"
    papers = []
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        driver.execute_script(
            "return jupyterapp.commands.execute('apputils:change-theme', {theme: arguments[0]})", theme
        )
        light = str(theme.endswith("Light")).lower()
        notebook.wait("return document.body.dataset.jpThemeLight === arguments[0]", light)
        notebook.wait(f"return {PICTURE}.width > 100 && {N_COLOURS} > 3")
        papers.append(driver.execute_script(paper))
    assert papers == ["rgb(20, 23, 27)", "rgb(255, 255, 255)"]


def test_nothing_is_wider_than_a_narrow_notebook(notebook: Notebook) -> None:
    size = {"width": 480, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    notebook.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    notebook.show("widget = sf.explore({'one': matches, 'two': matches}); widget")
    notebook.wait("const one = document.querySelector('.explorer'); return one.scrollWidth <= one.clientWidth")


def test_hostile_names_are_text(notebook: Notebook) -> None:
    driver = notebook.driver
    notebook.show(
        f"hostile = {HOSTILE + QUOTED!r}\n"
        "truth, predictions = many(1)\n"
        "named = truth.objects.assign(sequence=hostile, object=[f'{hostile}{row}' for row in truth.objects.index])\n"
        "named['__proto__'] = hostile\n"
        "claims = predictions.assign(sequence=hostile, object=predictions.index.map(str) + hostile)\n"
        "matches_of = sf.match(named, claims)\n"
        "widget = sf.explore({hostile: matches_of, '__proto__': matches_of}); widget"
    )
    assert HOSTILE in status(driver)
    lines(driver)[0].click()
    says(notebook, ".explorer-marks", "1 row marked")
    driver.find_element(By.CSS_SELECTOR, ".explorer-form input").send_keys(HOSTILE + QUOTED, Keys.ENTER)
    says(notebook, ".explorer-tags", HOSTILE + QUOTED)
    notebook.run("widget.filter = '`truth___proto__` == \"' + hostile.replace('\"', '\\\\\"') + '\"'")
    says(notebook, ".explorer-filter", "onerror")
    assert driver.find_elements(By.CSS_SELECTOR, ".explorer img, .explorer script") == []


def test_a_view_without_its_kernel_says_so(notebook: Notebook) -> None:
    notebook.show("widget = sf.explore(matches); widget")
    restart = "jupyterapp.shell.currentWidget.sessionContext.restartKernel().then(() => arguments[0]())"
    notebook.driver.execute_async_script(restart)
    says(notebook, ".explorer-problem", "run the cell again")
    notebook.wait(READY)
    notebook.run(PREPARED)
    notebook.show("widget = sf.explore(matches); widget")
    assert notebook.driver.find_elements(By.CSS_SELECTOR, ".explorer-problem:not([hidden])") == []


def test_a_closed_widget_goes_away(notebook: Notebook) -> None:
    notebook.show("widget = sf.explore(matches); widget")
    notebook.run("widget.close()")
    notebook.wait("return !document.querySelector('.explorer')")
    printed = notebook.run("try:\n    widget.filter = 'frame > 1'\nexcept sf.InputError as error:\n    print(error)")
    assert "closed" in printed


def unfold(notebook: Notebook, title: str, ready: str) -> WebElement:
    """Unfolds a part of the explorer, and returns it once it has what is waited for."""
    [part] = notebook.driver.find_elements(By.XPATH, f"//details[summary[. = '{title}']]")
    part.find_element(By.TAG_NAME, "summary").click()
    notebook.wait(f"return document.querySelector('.explorer {ready}')")
    notebook.driver.execute_script("arguments[0].scrollIntoView()", part)
    return part


def test_a_lasso_marks_the_rows_within(notebook: Notebook) -> None:
    """A square around the middle of the scatter: the same rows come back in Python, and can be the filter."""
    driver = notebook.driver
    notebook.show("widget = sf.explore(matches); widget")
    unfold(notebook, "Scatter", ".explorer-scatter[aria-label]")
    canvas = driver.find_element(By.CSS_SELECTOR, ".explorer .explorer-scatter")
    assert canvas.get_attribute("aria-label") == "truth_y over truth_x, 80 rows"
    width, height = canvas.size["width"], canvas.size["height"]
    drag = ActionChains(driver).move_to_element_with_offset(canvas, -width // 4, -height // 4).click_and_hold()
    for dx, dy in ((width // 2, 0), (0, height // 2), (-width // 2, 0)):
        drag = drag.move_by_offset(dx, dy)
    drag.release().perform()
    says(notebook, ".explorer-marks", "rows marked")
    code = f"""
x, y = matches["truth_x"], matches["truth_y"]
def place(values, size, before, after):  # the room that axes leave
    room = 0.03 * (values.max() - values.min())
    share = (values - values.min() + room) / (values.max() - values.min() + 2 * room)
    return before + (size - before - after) * share
px, py = place(x, {width}, 56, 12), place(y, {height}, 12, 34)
within = px.between({width} / 4, {width} * 3 / 4) & py.between({height} / 4, {height} * 3 / 4)
print(len(widget.selection), set(widget.selection.index) == set(matches.index[within]))
"""
    n_rows, same = notebook.run(code).split()
    assert int(n_rows) > 5
    assert same == "True"
    driver.find_element(By.XPATH, "//button[. = 'Filter by the marked rows']").click()
    says(notebook, ".explorer-filter", f"Filter: chosen rows ({n_rows} rows pass)")
    label = f"truth_y over truth_x, {n_rows} rows"
    notebook.wait("return document.querySelector('.explorer-scatter').ariaLabel === arguments[0]", label)
    driver.find_element(By.XPATH, "//button[. = 'Remove the filter']").click()
    notebook.wait("return document.querySelector('.explorer .explorer-filter').hidden")


def test_a_count_marks_its_rows(notebook: Notebook) -> None:
    notebook.show(f"widget = sf.explore({KINDS['precision']}); widget")
    part = unfold(notebook, "Counts", ".explorer-counts")
    headings = [one.text for one in part.find_elements(By.CSS_SELECTOR, "thead th")]
    assert headings == ["true class, by what it was detected as", "bicycle", "car", "person", "truck", "background"]
    cell = part.find_element(By.XPATH, ".//tr[th[. = 'car']]/td[5]/button")
    count = cell.text
    cell.click()
    says(notebook, ".explorer-marks", f"{count} rows marked")
    asked = "widget.selection[['outcome', 'truth_category']].drop_duplicates().to_numpy().tolist()"
    assert notebook.run(f"print(len(widget.selection), {asked})").strip() == f"{count} [['FN', 'car']]"


def test_patches_are_of_errors_or_of_marked_rows(notebook: Notebook) -> None:
    driver = notebook.driver
    notebook.show("widget = sf.explore(matches); widget")
    part = unfold(notebook, "Patches", ".viewer-patches button")
    status = part.find_element(By.CSS_SELECTOR, ".explorer-help")
    assert status.text == "12 of 20 errors"
    every = "return [...document.querySelectorAll('.viewer-patches {}')].every((one) => {})"
    notebook.wait(every.format("strong", "one.textContent === 'missed'"))
    notebook.wait(every.format("canvas", "one.toDataURL().length > 1000"))
    first, second = part.find_elements(By.CSS_SELECTOR, ".viewer-patches button")[:2]
    first.click()
    says(notebook, ".explorer-marks", "1 row marked")
    shift_click(driver, second)
    says(notebook, ".explorer-marks", "2 rows marked")
    assert [one.get_attribute("aria-pressed") for one in (first, second)] == ["true", "true"]
    assert notebook.run("print(widget.selection['outcome'].tolist())").strip() == "['FN', 'FN']"
    Select(part.find_element(By.XPATH, ".//label[starts-with(., 'Show')]/select")).select_by_visible_text("marked rows")
    says(notebook, ".explorer-part .explorer-help", "2 of 2 marked rows")
