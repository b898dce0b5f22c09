"""The HTML of results in a browser, as notebooks show it: it fits a screen however large the result is."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from selenium import webdriver

import spotgeo_frames as sf
from helpers.browser import WIDE

# The style of tables in JupyterLab, whose rows are higher than a browser's own.
STYLE = """
body { font: 14px/1.5 sans-serif; margin: 0 } table { border-collapse: collapse; font-size: 12px; line-height: normal }
td, th { padding: 0.5em; text-align: right }
"""
HIGHEST = 700


def many_boxes(n_sequences: int, n_classes: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Truth and predictions with so many sequences and classes."""
    places = np.arange(n_sequences * 30)
    truth = pd.DataFrame(
        {
            "sequence": [f"a_sequence_with_a_long_name_{place // 30:04}" for place in places],
            "frame": places % 30 // 3,
            "object": places % 3,
            "category": [f"class {place % 3 + 3 * (place // 30 % (n_classes // 3))}" for place in places],
            "x": places % 3 * 100.0,
            "y": 5.0,
            "w": 20.0,
            "h": 20.0,
        }
    )
    return truth, truth.assign(x=truth["x"] + places % 7, score=1 - places % 11 / 12)


@pytest.fixture(scope="module")
def results(sample: Path, tracks: Path, poses: Path) -> dict[str, Any]:
    """Small and large results of each kind."""
    truth = sf.read_objects(sample / "truth.parquet", sample / "frames.parquet")
    sides = {name: sf.read_objects(sample / f"{name}.parquet") for name in ("eager", "cautious")}
    matches = {name: sf.match(truth, side) for name, side in sides.items()}
    many = {f"{name}, trained anew with seed {seed}": of for seed in range(6) for name, of in matches.items()}
    large, predicted = many_boxes(200, 90)
    return {
        "annotations": truth,
        "large annotations": sf.Annotations(large.assign(**{f"attribute_{place}": "x" * 200 for place in range(40)})),
        "compared": sf.compare(matches, resamples=20),
        "twelve compared by groups": sf.compare(many, by={"frame_n_truth": 2}, metrics=["f1"], resamples=20),
        "swept": sf.sweep(truth, sides["eager"], tau=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], score=[0.3, 0.5]),
        "tracked": sf.track(*sf.read_motchallenge(tracks / "truth", tracks / "tracker")),
        "200 sequences tracked": sf.track(large, predicted),
        "200 sequences tracked by class": sf.track(large, predicted, by="category"),
        "posed": sf.pose(*sf.read_posetrack(poses / "truth", poses / "tracker")),
        "precision of 90 classes": sf.average_precision(large, predicted),
        "precision by sequence": sf.average_precision(large, predicted, by="sequence"),
        "limits": sf.detection_limit(matches["eager"], "truth_brightness"),
        "calibrated": sf.calibration(matches["eager"]),
    }


@pytest.fixture
def shown(driver: webdriver.Chrome, tmp_path: Path) -> Iterator[Any]:
    """Opens the HTML of a result, and looks at the end whether it asked for anything or something was wrong."""
    path = tmp_path / "result.html"

    def show(result: Any) -> webdriver.Chrome:
        driver.get("about:blank")
        driver.get_log("browser")
        driver.get_log("performance")
        size = {"width": WIDE, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        html = f"<!doctype html><meta charset=utf-8><style>{STYLE}</style><main>{result._repr_html_()}</main>"
        path.write_text(html, "utf-8")
        driver.get(path.as_uri())
        return driver

    yield show
    assert driver.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}
    assert asked <= {path.as_uri()}


def height(driver: webdriver.Chrome) -> float:
    return float(driver.execute_script("return document.querySelector('main').getBoundingClientRect().height"))


def test_every_result_fits_a_screen(results: dict[str, Any], shown: Any) -> None:
    heights = {name: height(shown(result)) for name, result in results.items()}
    assert {name: high for name, high in heights.items() if high > HIGHEST} == {}


def test_the_text_of_every_result_has_at_most_25_lines(results: dict[str, Any]) -> None:
    assert max(len(repr(result).splitlines()) for result in results.values()) <= 25


def test_a_notebook_with_a_large_result_stays_small(results: dict[str, Any]) -> None:
    sizes = {name: len(result._repr_html_()) for name, result in results.items()}
    assert {name: size for name, size in sizes.items() if size > 100_000} == {}


CELLS = """
const table = document.querySelector('main > div > div table');
const heads = [...table.querySelectorAll('th')].map((head) => head.textContent);
return [...table.querySelectorAll('tbody tr')].flatMap((row) => [...row.children].map((cell, place) => {
    const style = getComputedStyle(cell);
    return [heads[place], cell.textContent, style.textAlign, style.fontVariantNumeric];
}));
"""


@pytest.mark.parametrize("name", ["200 sequences tracked", "posed", "twelve compared by groups"])
def test_numbers_are_at_the_right_with_digits_of_one_width(results: dict[str, Any], shown: Any, name: str) -> None:
    cells = shown(results[name]).execute_script(CELLS)
    names = {"sequence", "joint", "name", "frame_n_truth", "apart_from_next"}
    assert {head: side for head, _, side, _ in cells} == {
        head: "left" if head in names else "right" for head, *_ in cells
    }
    assert {digits for *_, digits in cells} == {"tabular-nums"}
    assert len({text for _, text, *_ in cells}) > 6


def test_a_click_unfolds_a_table(results: dict[str, Any], shown: Any) -> None:
    driver = shown(results["tracked"])
    before = height(driver)
    details = driver.find_elements("css selector", "details")
    assert [one.get_attribute("open") for one in details] == [None] * 6
    details[1].find_element("css selector", "summary").click()
    assert "alpha" in details[1].text
    assert "columns: sequence, alpha, HOTA" in details[1].text
    assert height(driver) > before


def test_names_run_no_script(results: dict[str, Any], shown: Any) -> None:
    hostile = "</td></table><script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\">"
    tracked = results["tracked"]
    summary = tracked.summary.assign(sequence=hostile).rename(columns={"HOTA": hostile})
    objects = pd.DataFrame({"sequence": [hostile], hostile: [hostile], "category": [hostile]})
    for result in (tracked._replace(summary=summary), sf.Annotations(objects)):
        driver = shown(result)
        assert driver.title != "run"
        assert driver.find_elements("css selector", "main script, main img") == []
