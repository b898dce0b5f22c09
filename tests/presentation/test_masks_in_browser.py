"""Masks of the report's page in a real browser: their lines, their fill, and what is beside them in their boxes."""

import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

import spotgeo_frames as sf
from helpers.browser import FALSE, FOUND, MISSED, PIXELS, RIGHT, WIDE, Wait, has_colour, reads, text
from helpers.masks import corners
from spotgeo_frames.presentation.viewer import masks as viewer_masks

Opened = Callable[..., webdriver.Chrome]

ZOOM = (160, 120, 2)
VIEW = "#view?" + urlencode({"sequence": 1, "frame": 1, "zoom": "160 120 2"})
FILL = 51  # a fifth of 255
DRAWN_AS_BOXES = "its masks are drawn as the boxes around them"

# The shares of the pixels of each small picture that are filled.
FILLED = """
return [...document.querySelectorAll(arguments[0])].map((canvas) => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
  copy.drawImage(canvas, 0, 0);
  const data = copy.getImageData(0, 0, canvas.width, canvas.height).data;
  const alphas = [...data].filter((_, i) => i % 4 === 3);
  return alphas.filter((alpha) => alpha >= 49 && alpha <= 53).length / alphas.length;
});
"""


@pytest.fixture(scope="module")
def masks_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("masks") / "report.html"
    sf.report(*corners(), path)
    return path


def alpha(driver: webdriver.Chrome, x: float, y: float) -> int:
    """How opaque the pixel at a place (px of the image) is."""
    return int(driver.execute_script(PIXELS, 0, x, y, 0)[3])


def pointed(driver: webdriver.Chrome, x: float, y: float) -> ActionChains:
    """The pointer moved to a place (px of the image)."""
    canvas = driver.find_element(By.CSS_SELECTOR, ".viewer-stage canvas")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    offset = [int((to - middle) * ZOOM[2]) for to, middle in zip((x, y), ZOOM, strict=False)]
    return ActionChains(driver).move_to_element_with_offset(canvas, *offset)


def pressed(driver: webdriver.Chrome) -> list[str]:
    """The first two cells of the selected lines of the table."""
    lines = driver.find_elements(By.CSS_SELECTOR, ".viewer-objects tbody tr")
    return [one.text for one in lines if one.find_elements(By.CSS_SELECTOR, "[aria-pressed='true']")]


def test_a_mask_is_filled_within_its_lines_and_not_in_the_notch_of_its_box(opened: Opened, masks_page: Path) -> None:
    driver = opened(masks_page, address=VIEW)
    for colour, left, top in ((FOUND, 20, 20), (RIGHT, 21, 20), (MISSED, 120, 20), (FALSE, 220, 120)):
        for x, y in ((0, 30), (20, 12), (20, 30), (40, 40), (60, 50), (30, 60)):
            assert has_colour(driver, colour, left + x, top + y, reach=6), (colour, x, y)
        assert not has_colour(driver, colour, left + 52, top + 8, reach=12), "no line leads along the box"
    assert alpha(driver, 130, 40) == alpha(driver, 150, 70) == alpha(driver, 230, 150) == FILL
    assert FILL < alpha(driver, 30, 50) < 2 * FILL, "the fill of a pair, one over the other"
    assert alpha(driver, 165, 35) == alpha(driver, 265, 135) == alpha(driver, 68, 32) == 0
    legend = driver.execute_script(FILLED, ".viewer-legend canvas")
    assert min(legend) > 0.1, "the legend shows that masks are filled"


def test_a_click_means_a_mask_within_it_and_nothing_in_the_notch(opened: Opened, masks_page: Path) -> None:
    driver = opened(masks_page, address=VIEW)
    pointed(driver, 130, 40).click().perform()
    Wait(driver, 20).until(pressed)
    assert [one.split()[0] for one in pressed(driver)] == ["missed"]
    pointed(driver, 168, 32).click().perform()
    Wait(driver, 20).until(lambda one: not pressed(one))
    pointed(driver, 265, 170).click().perform()
    Wait(driver, 20).until(pressed)
    assert [one.split()[0] for one in pressed(driver)] == ["false"]


def test_run_lengths_are_nowhere_to_be_read(opened: Opened, masks_page: Path) -> None:
    driver = opened(masks_page, address=VIEW)
    texts = {*corners()[0]["mask"], *corners()[1]["mask"]}
    pointed(driver, 130, 40).perform()
    tip = Wait(driver, 20).until(lambda one: text(one, ".viewer-tip"))
    assert "missed truth" in tip
    assert "mask_h" in tip
    names = [one.text for one in driver.find_elements(By.CSS_SELECTOR, ".frames-filter select option")]
    assert {"truth_mask_h", "predicted_mask_w"} <= {*names}
    assert not {"truth_mask", "predicted_mask", "truth_masks"} & {*names}
    everything = driver.execute_script("return document.body.textContent")
    visible = driver.execute_script("return document.body.innerText")
    assert not [one for one in texts if one in visible or one in everything]
    assert DRAWN_AS_BOXES not in text(driver, ".viewer-status")


def test_small_pictures_are_filled(opened: Opened, masks_page: Path) -> None:
    driver = opened(masks_page)
    for selector in (".gallery canvas", "canvas[data-look]"):
        Wait(driver, 20).until(lambda one, place=selector: min(one.execute_script(FILLED, place), default=0))
        assert min(driver.execute_script(FILLED, selector)) > 0.05


def test_beyond_the_cap_boxes_are_drawn_and_a_note_says_so(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer_masks, "MOST_OF_FRAME", 10)
    sf.report(*corners(), tmp_path / "report.html")
    driver = opened(tmp_path / "report.html", address=VIEW)
    assert DRAWN_AS_BOXES in text(driver, ".viewer-status")
    notes = [one.text for one in driver.find_elements(By.CSS_SELECTOR, "#frames .note, section .note")]
    assert any(note.startswith("In 2 of 2 frames with masks, the boxes around the masks are drawn") for note in notes)
    assert alpha(driver, 130, 40) == 0
    assert has_colour(driver, MISSED, 180, 40, reach=4), "the right side of the box"
    pointed(driver, 168, 32).click().perform()
    Wait(driver, 20).until(pressed)
    assert driver.execute_script(FILLED, ".gallery canvas")[0] < 0.02


def test_masks_over_each_other_and_far_away(opened: Opened, tmp_path: Path) -> None:
    truth, predictions = corners()
    sf.report(truth, {"one": predictions, "other": predictions[predictions["object"] == 3]}, tmp_path / "report.html")
    words = {"submission": ["one", "other"], "layout": "over", "sequence": 1, "frame": 1}
    driver = opened(tmp_path / "report.html", address="#view?" + urlencode(words | {"zoom": "160 120 2"}, doseq=True))
    assert alpha(driver, 130, 40) == FILL, "truths are drawn once"
    assert alpha(driver, 165, 35) == 0
    far = "#view?" + urlencode(words | {"zoom": "160 120 0.03"}, doseq=True)
    driver = opened(tmp_path / "report.html", address=far)
    assert alpha(driver, 150, 50) > 0, "a mask of less than a pixel is seen"


def test_tracks_of_masks(opened: Opened, tmp_path: Path) -> None:
    truth, predictions = corners(3)
    sf.report(truth, predictions, tmp_path / "report.html", tracks=True)
    driver = opened(tmp_path / "report.html", WIDE, "dark", VIEW)
    assert alpha(driver, 130, 40) == FILL
    assert alpha(driver, 165, 35) == 0
    driver.find_element(By.CSS_SELECTOR, ".viewer-stages").send_keys("\ue014")
    reads(driver, ".viewer-status", "frame 2 (2 of 3)")
    time.sleep(0.4)  # until the address follows
    assert alpha(driver, 130, 40) == FILL
