"""Makes the pictures of README.md and of the pages: python docs/pictures/make_pictures.py [NAME ...], from anywhere.

All show the samples in `data/`. Those of reports are photographs of pages in Chromium, and are left out without it.
`large_data` evaluates points in processes of their own and measures their memory, which takes a minute and needs Linux.
"""

import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import spotgeo_frames as sf
from spotgeo_frames import plots
from spotgeo_frames.presentation.drawing import display

FOLDER = Path(__file__).parent
DATA = FOLDER.parents[1] / "data"

# What the processes run whose memory is measured; they print it in MiB.
IN_MEMORY = (
    "sf.summarize(sf.match(sf.read_objects(f'{folder}/truth.parquet'), sf.read_objects(f'{folder}/found.parquet')))"
)
AS_DATASET = "sf.score_dataset(f'{folder}/truth.parquet', f'{folder}/found.parquet', workers=1)"
MEASURED = r"""
import re, sys
from pathlib import Path
import spotgeo_frames as sf
folder = sys.argv[1]
{code}
print(int(re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024)
"""


def sample(name: str) -> sf.Annotations:
    return sf.read_objects(DATA / "sample" / f"{name}.parquet")


def sample_matches(name: str) -> pd.DataFrame:
    return sf.match(sample("truth"), sample(name))


def detections(name: str) -> sf.AveragePrecision:
    return sf.average_precision(*sf.read_coco(DATA / "coco/annotations.json", DATA / f"coco/{name}.json", boxes=True))


def tracks() -> sf.TrackResult:
    return sf.track(*sf.read_motchallenge(DATA / "tracks/truth", DATA / "tracks/tracker"))


def boxes(name: str) -> pd.DataFrame:
    truth = sf.read_objects(DATA / "boxes/truth.parquet", frames=DATA / "boxes/frames.parquet")
    return sf.match(truth, sf.read_objects(DATA / f"boxes/{name}.parquet"))


def evaluation() -> Figure:
    """Frames of points, boxes and poses; recall by brightness, and differences of two detectors, with intervals."""
    figure = plt.figure(figsize=(8, 6.1), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1.1], hspace=0.04)
    left, right = below.subfigures(1, 2, width_ratios=[1.1, 1])
    matches = {name: sample_matches(name) for name in ("eager", "cautious")}
    images = sf.match(*sf.read_coco(DATA / "coco/annotations.json", DATA / "coco/precise.json", boxes=True))
    poses = sf.pose(*sf.read_posetrack(DATA / "poses/truth", DATA / "poses/tracker")).matches
    shown = {"points": (matches["eager"], 1, 3), "boxes": (images, 39, 1), "poses": (poses, "corner", 23)}
    for ax, (name, frame) in zip(above.subplots(1, 3), shown.items(), strict=True):
        plots.frame(*frame, ax=ax)
        ax.set(xlabel="", ylabel="", xticks=[], yticks=[], aspect="auto")
        ax.set_title(name, pad=14)  # above the identities of poses
        legend = ax.get_legend()
        legend.remove()
        if name == "points":
            words = [text.get_text() for text in legend.get_texts()]
            above.legend(legend.legend_handles, words, loc="outside lower center", ncols=4)
    plots.metric_by_slice(
        sf.intervals(matches["eager"], by={"truth_brightness": 5}, metrics=["recall"]), ax=left.subplots()
    )
    left.axes[0].set(title="Recall of faint and bright objects", ylabel="brightness, counts")
    metrics = ["f1", "precision", "recall"]
    pairs = sf.compare(matches, metrics=metrics).pairs
    for ax, metric in zip(right.subplots(3, 1, sharex=True), metrics, strict=True):
        plots.forest(pairs, ax=ax, metric=metric)
        ax.set_title("")  # the label of the axis says it, and there is no room for both
    return figure


def points() -> Figure:
    """A frame, and the brightness at which objects are found."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
    matches = sample_matches("eager")
    plots.frame(matches, 1, 3, ax=left)
    plots.detection_limit(sf.detection_limit(matches, "truth_brightness"), ax=right)
    right.set_xlabel("brightness of the truth, counts")
    return figure


def sky() -> Figure:
    """An exposure, how far off detections are, and the magnitude at which stars are found."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(16, 4.2), layout="constrained")
    truth = sf.read_objects(DATA / "sky/truth.parquet", frames=DATA / "sky/exposures.parquet")
    matches = sf.match(truth, sf.read_objects(DATA / "sky/detections.parquet"), tau=1.5)
    plots.frame(matches, 1, 1, ax=left)
    plots.residuals(matches, ax=middle)
    plots.detection_limit(sf.detection_limit(matches, "truth_magnitude"), ax=right)
    right.set_xlabel("magnitude of the truth")
    return figure


def turned() -> Figure:
    """Oriented boxes of a frame, and masks of another one."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
    ships = pd.DataFrame(
        {"sequence": 1, "frame": 1, "object": [1, 2, 3], "cx": [120.0, 260.0, 200.0], "cy": [80.0, 130.0, 40.0]}
    ).assign(w=[120.0, 90.0, 60.0], h=[30.0, 24.0, 20.0], angle=[20.0, 110.0, -35.0])
    found = ships.assign(cx=ships["cx"] + 4, angle=ships["angle"] + [3.0, -4.0, 40.0])
    plots.frame(sf.match(ships, found), 1, 1, ax=left)
    polygons = [[[30.0, 20, 110, 15, 120, 60, 70, 95, 35, 70]], [[150.0, 60, 210, 50, 230, 110, 160, 115]]]
    claimed = [[[36.0, 24, 112, 22, 116, 66, 74, 92, 30, 76]], [[190.0, 20, 240, 24, 236, 60, 195, 58]]]
    sides = [
        sf.tidy(
            pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "outline": of}), mask="outline", size=(260, 140)
        )
        for of in (polygons, claimed)
    ]
    plots.frame(sf.match(*sides), 1, 1, ax=right)
    return figure


def boxes_and_poses() -> Figure:
    """Precision over recall of a detector of boxes, and a frame of poses."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained", width_ratios=[1, 1.2])
    plots.precision_recall(detections("precise").curve, ax=left)
    poses = sf.pose(*sf.read_posetrack(DATA / "poses/truth", DATA / "poses/tracker"))
    plots.frame(poses.matches, "corner", 23, ax=right)
    right.set_title(right.get_title(), pad=14)  # above the identities
    return figure


def hota() -> Figure:
    """HOTA and its parts over alpha."""
    figure, ax = plt.subplots(figsize=(6.6, 3.6), layout="constrained")
    plots.hota_curve(tracks().curve, ax=ax)
    return figure


def comparison() -> Figure:
    """Differences of two detectors, with their intervals."""
    metrics = ["f1", "precision", "recall"]
    submissions = {name: sample_matches(name) for name in ("eager", "cautious")}
    pairs = sf.compare(submissions, metrics=metrics).pairs
    figure, axes = plt.subplots(3, 1, figsize=(6.6, 3.6), layout="constrained", sharex=True)
    for ax, metric in zip(axes, metrics, strict=True):
        plots.forest(pairs, ax=ax, metric=metric)
    return figure


def costs() -> Figure:
    """What each kind of error costs two versions of a detector."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 3.4), layout="constrained", sharex=True)
    for ax, name in zip(axes, ["v1", "v2"], strict=True):
        plots.error_costs(sf.error_costs(sf.diagnose(boxes(name))), ax=ax)
        ax.set_title(f"{name}: {ax.get_title()}")
    return figure


def breaks() -> Figure:
    """The frames around a switch of identity."""
    result = tracks()
    switches = sf.identity_breaks(result).query("`break` == 'switch'")
    first = switches.iloc[0]
    near = result.matches.query("sequence == @first.sequence and -2 <= frame - @first.frame <= 1")
    panels = plots.sequence(near, first["sequence"], most=4)
    figure = panels[0].figure
    for ax in panels:
        ax.set_xlim(0, 250)  # where the identity switches; the others are far to the right
        ax.set_title(ax.get_title().partition("\n")[0])
    figure.set_size_inches(9.5, 3.6)
    return figure


def large_data() -> Figure:
    """Peak memory by the count of truths, of tables in memory and of datasets."""
    figure, ax = plt.subplots(figsize=(6.6, 3.6), layout="constrained")
    for label, code, marker, sizes in (
        ("match() of tables in memory", IN_MEMORY, "o-", [1e5, 3e5, 1e6, 3e6]),
        ("score_dataset(), one process", AS_DATASET, "s--", [1e5, 3e5, 1e6, 3e6, 1e7]),
    ):
        ax.plot(sizes, [peak_memory(code, int(size)) for size in sizes], marker, label=label)
    ax.set(xscale="log", xlabel="truths (and about as many predictions)", ylabel="peak memory, MiB", ylim=(0, None))
    ax.set_title("Memory of whole processes")
    ax.legend()
    ax.grid(alpha=0.3)
    return figure


def peak_memory(code: str, n_truth: int) -> float:
    """The peak memory, in MiB, of a process that runs the code for so many points."""
    random = np.random.default_rng(1)
    position = np.arange(n_truth)
    truth = pd.DataFrame(
        {
            "sequence": position // 20,
            "frame": position // 4 % 5,
            "object": position % 4,
            "x": random.uniform(0, 640, n_truth),
            "y": random.uniform(0, 480, n_truth),
        }
    )
    found = truth[random.uniform(size=n_truth) < 0.9] + [0, 0, 0, 1, 1]
    with tempfile.TemporaryDirectory() as folder:
        for name, table in (("truth", truth), ("found", found.astype(truth.dtypes))):
            table.to_parquet(f"{folder}/{name}.parquet", row_group_size=500_000)
        command = [sys.executable, "-c", MEASURED.format(code=code), folder]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def photograph(name: str, folder: Path) -> None:
    """The first screen of a report's page in Chromium."""
    browser = shutil.which("chromium")
    if browser is None:
        print(f"{name}: left out, since Chromium is not here")
        return
    from PIL import Image

    page, whole = folder / "report.html", folder / "whole.png"
    truth, submissions, words = REPORTS[name]()
    sf.report(truth, submissions, page, **words)
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={folder}/browser"]
    shot = [f"--screenshot={whole}", "--window-size=1280,720", "--virtual-time-budget=8000"]
    subprocess.run([browser, *options, *shot, page.as_uri()], check=True, capture_output=True)
    few_colours(Image.open(whole).convert("RGB")).save(FOLDER / f"{name}.png", optimize=True)


def few_colours(picture: Any) -> Any:
    """A picture with at most 256 colours, among them those of small marks."""
    from PIL import Image

    return picture.quantize(256, Image.Quantize.MAXCOVERAGE)


def one_face(folder: Path) -> None:
    """Recall by brightness of two detectors, as a plot, a chart, a page and a table, and a frame of the viewer."""
    from PIL import Image, ImageDraw, ImageFont
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    truth, submissions, _ = of_points("eager", "cautious")
    matches = {name: sf.match(truth, side) for name, side in submissions.items()}
    edges = {"truth_brightness": [0, 40, 60, 80, 400]}
    slices = {name: sf.intervals(of, by=edges, metrics=["recall"]) for name, of in matches.items()}
    figure, ax = plt.subplots(figsize=(6.2, 3.2), layout="constrained")
    plots.metric_by_slice(slices, ax=ax)
    figure.savefig(folder / "plot.png", dpi=100)
    sf.charts.metric_by_slice(slices).save(folder / "chart.png", ppi=90)
    sf.report(truth, submissions, folder / "page.html", by=edges)
    table = pd.concat(slices, names=["submission"]).reset_index("submission")
    table = table[["submission", "truth_brightness", "estimate", "low", "high"]].assign(metric="recall")
    table = table.rename_axis(columns=None)[["submission", "truth_brightness", "metric", "estimate", "low", "high"]]
    cells = display.texts(table).to_html(index=False, border=0)
    style = "body { font: 14px sans-serif; } td, th { padding: 2px 12px; text-align: right; }"
    (folder / "table.html").write_text(f"<meta charset=utf-8><style>{style}</style>{cells}", "utf-8")
    options = webdriver.ChromeOptions()
    for option in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--window-size=1100,900"):
        options.add_argument(option)
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))) as driver:
        driver.get((folder / "table.html").as_uri())
        driver.find_element(By.TAG_NAME, "table").screenshot(str(folder / "table.png"))
        driver.get((folder / "page.html").as_uri())
        ready = "return document.documentElement.dataset.drawn === 'yes'"
        WebDriverWait(driver, 60).until(lambda one: one.execute_script(ready))
        for name, found in (("page", "[data-chart=slices-2]"), ("viewer", ".frames-viewer .viewer-stages")):
            driver.find_element(By.CSS_SELECTOR, found).screenshot(str(folder / f"{name}.png"))
    shown = {"plot": "sf.plots", "chart": "sf.charts", "page": "report", "table": "table", "viewer": "viewer"}
    whole, font = Image.new("RGB", (1290, 1110), "white"), ImageFont.load_default(18)
    for position, (name, text) in enumerate(shown.items()):
        left, top = 20 + 640 * (position % 2), 10 + 370 * (position // 2)
        ImageDraw.Draw(whole).text((left, top), text, "black", font)
        picture = Image.open(folder / f"{name}.png").convert("RGB")
        picture.thumbnail((1250 if name == "viewer" else 620, 330))
        whole.paste(picture, (left, top + 30))
    few_colours(whole).save(FOLDER / "one_face.png", optimize=True)


Reported = tuple[Any, dict[str, Any], dict[str, Any]]


def of_points(*names: str) -> Reported:
    """The sample's detectors."""
    truth = sf.read_objects(DATA / "sample/truth.parquet", frames=DATA / "sample/frames.parquet")
    return truth, {name: sample(name) for name in names}, {}


def of_five() -> Reported:
    """The sample's detectors, and the first of them with fewer and fewer of its predictions."""
    truth, submissions, words = of_points("eager", "cautious")
    objects, kept = submissions["eager"].objects, np.random.default_rng(0)
    fewer = {f"eager, {share:.0%}": objects[kept.random(len(objects)) < share] for share in (0.9, 0.6, 0.3)}
    return truth, submissions | fewer, words


def of_boxes() -> Reported:
    """Two versions of a detector of boxes."""
    truth = sf.read_objects(DATA / "boxes/truth.parquet", frames=DATA / "boxes/frames.parquet")
    return truth, {name: sf.read_objects(DATA / f"boxes/{name}.parquet") for name in ("v1", "v2")}, {}


def of_poses() -> Reported:
    """A tracker of poses."""
    truth, tracker = sf.read_posetrack(DATA / "poses/truth", DATA / "poses/tracker")
    return truth, {"tracker": tracker}, {"tracks": True}


def of_tracks() -> Reported:
    """A tracker of boxes."""
    truth, tracker = sf.read_motchallenge(DATA / "tracks/truth", DATA / "tracks/tracker")
    return truth, {"tracker": tracker}, {"tracks": True}


def of_two_trackers() -> Reported:
    """Two trackers, by how much of an object is visible."""
    truth = sf.read_objects(DATA / "streets/truth.parquet")
    truth = truth._replace(sequences=pd.read_parquet(DATA / "streets/sequences.parquet"))
    trackers = {name: sf.read_objects(DATA / f"streets/{name}.parquet") for name in ("calm", "keen")}
    return truth, trackers, {"tracks": True, "by": {"truth_h": 4}}


def of_sky() -> Reported:
    """A detector of stars."""
    truth = sf.read_objects(DATA / "sky/truth.parquet", frames=DATA / "sky/exposures.parquet")
    return truth, {"detections": sf.read_objects(DATA / "sky/detections.parquet")}, {"tau": 1.5}


def of_masks() -> Reported:
    """A detector of cells, which has lost small ones; those that it has found are a bit off, a few of them far."""
    random = np.random.default_rng(4)
    cells = pd.DataFrame(
        [(sequence, 1, cell) for sequence in range(1, 13) for cell in range(1, 13)],
        columns=["sequence", "frame", "object"],
    )
    size = random.uniform(8, 34, len(cells))
    middle = random.uniform(40, [440, 260], (len(cells), 2))
    waves = random.normal(0, 0.12, (4, len(cells), 1)) * size[:, None] / np.arange(1, 5)[:, None, None]
    phases = random.uniform(0, 2 * np.pi, (4, len(cells), 1))
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    bent = (waves * np.cos(np.arange(2, 6)[:, None, None] * angle + phases)).sum(axis=0)

    def masks(shift: np.ndarray, grown: np.ndarray) -> pd.DataFrame:
        radius = (size[:, None] + bent) * grown[:, None]
        corners = radius[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=1) + (middle + shift)[:, None]
        outlines = [[ring] for ring in corners.reshape(len(cells), -1).tolist()]
        return sf.tidy(cells.assign(outline=outlines), mask="outline", size=(480, 300))

    is_astray = random.random((len(cells), 1)) < 0.1
    found = masks(random.normal(0, np.where(is_astray, 16, 2), middle.shape), random.normal(1, 0.07, len(cells)))
    found["score"] = np.clip(size / 40 + random.normal(0, 0.1, len(cells)), 0.02, 0.98)
    return (
        masks(np.zeros(middle.shape), np.ones(len(cells))),
        {"detector": found[random.random(len(cells)) < size / 22]},
        {},
    )


def of_nothing() -> Reported:
    """Frames without a truth, and detectors that find nothing there."""
    truth, submissions, words = of_points("eager", "cautious")
    none = {name: side._replace(objects=side.objects.iloc[:0]) for name, side in submissions.items()}
    return truth._replace(objects=truth.objects.iloc[:0]), none, words


REPORTS: dict[str, Callable[[], Reported]] = {
    "report": lambda: of_points("eager", "cautious"),
    "report_of_one": lambda: of_points("eager"),
    "report_of_five": of_five,
    "report_of_boxes": of_boxes,
    "report_of_poses": of_poses,
    "report_of_tracks": of_tracks,
    "report_of_two_trackers": of_two_trackers,
    "report_of_the_sky": of_sky,
    "report_of_masks": of_masks,
    "report_of_nothing": of_nothing,
}

DRAWN: dict[str, Callable[[], Figure]] = {
    "evaluation": evaluation,
    "points": points,
    "sky": sky,
    "oriented_boxes_and_masks": turned,
    "boxes_and_poses": boxes_and_poses,
    "tracks": hota,
    "comparison": comparison,
    "costs": costs,
    "breaks": breaks,
    "large_data": large_data,
}


def main(names: list[str]) -> None:
    warnings.simplefilter("ignore", UserWarning)  # of few sequences
    for name in names or [*DRAWN, *REPORTS, "one_face"]:
        if name not in DRAWN:
            with tempfile.TemporaryDirectory() as folder:
                one_face(Path(folder)) if name == "one_face" else photograph(name, Path(folder))
        else:
            # Without the version of matplotlib, so that the same picture is the same file.
            DRAWN[name]().savefig(FOLDER / f"{name}.png", dpi=80, metadata={"Software": None})
            plt.close("all")


if __name__ == "__main__":
    main(sys.argv[1:])
