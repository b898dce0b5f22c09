"""Charts in JupyterLab as people see them: drawn without a network, and kept as pictures in the executed notebook."""

import json
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter

from helpers.browser import started
from helpers.jupyter import Notebook, jupyterlab
from helpers.reference import PROJECT
from spotgeo_frames import charts

PREPARED = f"""
import sys
sys.path.insert(0, {str(PROJECT / "tests")!r})
import pandas as pd
import spotgeo_frames as sf
from spotgeo_frames import charts
data = {str(PROJECT / "data")!r}
truth = sf.read_objects(data + "/sample/truth.parquet")
sides = {{name: sf.read_objects(data + f"/sample/{{name}}.parquet") for name in ("eager", "cautious")}}
matches = {{name: sf.match(truth, side) for name, side in sides.items()}}
eager = matches["eager"]
precision = sf.average_precision(*sf.read_coco(data + "/coco/annotations.json", data + "/coco/fast.json", boxes=True))
together = lambda tables: pd.concat(tables, names=["submission"])
tracks = sf.track(*sf.read_motchallenge(data + "/tracks/truth", data + "/tracks/tracker"))
"""

TABLES = {
    "recall_map": "eager",
    "distances": "eager",
    "residuals": "eager",
    "metric_by_slice": "sf.intervals(eager, by='frame', metrics=['recall'])",
    "error_costs": "sf.error_costs(sf.diagnose(eager))",
    "sweep_curves": "sf.sweep(truth, sides['eager'], [0.2, 0.5, 0.8]).curve",
    "forest": "sf.compare(matches, resamples=100).pairs",
    "hota_curve": "tracks.curve",
    "precision_recall": "precision.curve",
    "confusion": "sf.confusion(precision)",
    "calibration": "sf.calibration(precision)",
    "detection_limit": "sf.detection_limit(eager, 'truth_brightness')",
    "gospa": "sf.match(truth, sides['eager'], assignment='least')",
    "protocols": "sf.protocols(*sf.read_coco(data + '/coco/annotations.json', data + '/coco/fast.json', boxes=True))",
}
EVERY = [f"charts.{name}({table})" for name, table in TABLES.items()]
SEVERAL = [
    "charts.sweep_curves(together({name: sf.sweep(truth, side, [0.2, 0.8]).curve for name, side in sides.items()}))",
    "charts.hota_curve(together({'one': tracks.curve, 'other': tracks.curve}))",
    "charts.residuals(together(matches))",
    "charts.confusion({'one': sf.confusion(precision), 'other': sf.confusion(precision)})",
    "charts.recall_map(eager) | charts.distances(eager)",
]

# What JupyterLab says itself.
NOT_OURS = ("/lsp/status", "favicon", "/static/lab/")


@pytest.mark.filterwarnings("ignore")
def test_every_chart_is_drawn_without_a_network_and_kept_as_a_picture(tmp_path: Path) -> None:
    assert sorted(TABLES) == sorted(charts.__all__)
    with jupyterlab(tmp_path) as address:
        driver = started(tmp_path / "browser")
        try:
            notebook = Notebook(driver, address, tmp_path)
            notebook.run(PREPARED)
            kept = []
            for code in [*EVERY, *SEVERAL]:
                outputs = notebook.run_all(code)
                notebook.wait("return document.querySelector('.vega-embed :is(canvas, svg)')?.clientWidth > 100")
                kept.append(outputs)
            said = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
            events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
        finally:
            driver.quit()
    assert [message for message in said if not any(name in message for name in NOT_OURS)] == []
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert [url for url in asked if not url.startswith((address, f"blob:{address}", "data:", "chrome:"))] == []
    for outputs in kept:
        [shown] = [output["data"] for output in outputs if output["output_type"] == "execute_result"]
        assert "text/html" not in shown
        assert "".join(shown["image/svg+xml"]).startswith("<svg")
    page = converted([output for outputs in kept for output in outputs])
    assert page.count("data:image/svg+xml;base64") >= len(kept)
    assert "cdn.jsdelivr.net/npm/vega" not in page


def converted(outputs: list[nbformat.NotebookNode]) -> str:
    """The page that nbconvert makes of a notebook with these outputs."""
    cell = nbformat.v4.new_code_cell("charts")
    cell.outputs = [nbformat.from_dict(output) for output in outputs]
    page, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    return str(page)
