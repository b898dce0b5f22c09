"""Measures pages: their size, the CPU time they take to write, and the time of a step to the next frame in a browser.

    python benchmarks/page.py --folders TRUTH_DIR TRACKER_DIR --benchmark MOT17
    python benchmarks/page.py                          tracks of MOT17's size, made here

`report` of two trackers, the second without each tenth box, is measured by reading and tracking each in Python, with
all its tables, as whole processes in turn; the CPU time of a process and its children counts, the least of all rounds.
So is that of one tracker. (The command `track` makes no tables for its text, so it takes less.) The chart library is
bundled beforehand, as by an earlier report, and modules are compiled; what bundling takes is told. The share of
intervals and comparisons is that of `interval_table` and `compare` within a report in this process.

Steps are taken in Chromium, where it is installed with its driver: from the key to the end of drawing and layout. There
is a page of 200 boxes a frame and two submissions; one of 5,000 truths a frame and as many predictions, which is 10,000
shapes; and one of a sequence of 10,000 frames. Chromium draws without a graphics card here, as most servers do.
"""

import argparse
import importlib.util
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import tracks

import spotgeo_frames as sf

MOST_MEGABYTES, MOST_TRACKS, MOST_STEP = 8.0, 3.0, 50.0  # MB, times the evaluation, ms
N_BOXES, N_FRAMES = 200, 120
MOST_CROWDED = 100.0  # ms

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900"]

# Reads folders and tracks them, with all tables of the result.
TRACK = "import sys, spotgeo_frames as sf; sf.track(*sf.read_motchallenge(*sys.argv[1:3], benchmark=sys.argv[3]))"

STEPS = """
const done = arguments[1];
const stages = document.querySelector(".viewer-stages"), status = document.querySelector(".viewer-status");
const times = [], seen = new Set();
(async () => {
  for (let i = 0; i < arguments[0]; i++) {
    const start = performance.now();
    stages.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    await new Promise((resolve) => setTimeout(resolve));
    document.body.getBoundingClientRect();
    times.push(performance.now() - start);
    seen.add(status.textContent);
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  }
  done([times, seen.size]);
})();
"""


def cpu_time(command: Sequence[str], cache: Path) -> float:
    """Seconds that a process and its children computed; compiled modules and the chart library stay in `cache`."""
    kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(cache / "compiled"), "XDG_CACHE_HOME": str(cache)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=os.environ | kept)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def thinned(tracker: Path, folder: Path) -> Path:
    """Writes a tracker's files without each tenth line."""
    folder.mkdir()
    for file in tracker.rglob("*.txt"):
        lines = file.read_text().splitlines(keepends=True)
        (folder / file.name).write_text("".join(line for place, line in enumerate(lines) if place % 10))
    return folder


def write_page(path: Path, n_frames: int, n_boxes: int, trackers: Sequence[str]) -> None:
    """Writes the page of a sequence of boxes that trackers follow, or of many that one detects, with errors."""
    random = np.random.default_rng(0)
    frames = np.repeat(np.arange(1, n_frames + 1), n_boxes)
    starts = random.uniform(0, (1900, 1000), (n_boxes, 2))
    places = np.tile(starts, (n_frames, 1)) + 0.3 * (frames % 200)[:, None]
    names = np.tile(np.arange(n_boxes), n_frames)
    truth = pd.DataFrame({"sequence": "dense", "frame": frames, "object": names, "x": places[:, 0], "y": places[:, 1]})
    truth = truth.assign(w=30.0, h=60.0)
    found = {
        name: truth[random.random(len(truth)) > 0.1].assign(
            x=lambda table: table["x"] + random.normal(0, 3, len(table)),
            object=lambda table: table["object"] + 1000 * (table["frame"] // 40),
        )
        for name in trackers
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of one sequence little is known
        sf.report(truth, found, path, tracks=n_boxes <= N_BOXES)


def steps(path: Path, n_steps: int) -> list[float]:
    """The milliseconds of each step through the frames of a page; none without a browser."""
    binary, driver_path = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver_path is None or importlib.util.find_spec("selenium") is None:
        return []
    from selenium import webdriver
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in FLAGS:
        options.add_argument(flag)
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(driver_path)) as driver:
        driver.get(path.as_uri())
        WebDriverWait(driver, 60).until(lambda one: one.execute_script("return document.documentElement.dataset.drawn"))
        times, n_seen = driver.execute_async_script(STEPS, n_steps)
    if n_seen != n_steps:
        raise SystemExit(f"{n_steps} steps showed {n_seen} frames")
    return [float(time) for time in times]


def share_of_certainty(truth: Path, tracker: Path, other: Path, benchmark: str | None, page: Path) -> float:
    """The share of a report's CPU time, without imports, that intervals and comparisons take."""
    from spotgeo_frames.presentation.page import evaluation

    sides = [sf.read_motchallenge(truth, side, benchmark=benchmark or "MOT17") for side in (tracker, other)]
    found = {name: predictions for name, (_, predictions) in zip(("first", "second"), sides, strict=True)}
    taken = [0.0]

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **words: Any) -> Any:
            start = time.process_time()
            answer = function(*given, **words)
            taken[0] += time.process_time() - start
            return answer

        return call

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few sequences little is known
        sf.report(sides[0][0], found, page, tracks=True)  # imports and bundles
        with (
            patch.object(evaluation, "interval_table", timed(evaluation.interval_table)),
            patch.object(evaluation, "compare", timed(evaluation.compare)),
        ):
            start = time.process_time()
            sf.report(sides[0][0], found, page, tracks=True)
            return taken[0] / (time.process_time() - start)


def verdict(value: float, most: float) -> str:
    return f"bound {most:g} {'holds' if value <= most else 'DOES NOT HOLD'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folders", nargs=2, type=Path, metavar=("TRUTH_DIR", "TRACKER_DIR"))
    parser.add_argument("--benchmark", help="whose rules the folders have, such as MOT17")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        truth, tracker = options.folders or tracks.made_up(scratch)
        rules = ["--benchmark", options.benchmark] if options.benchmark else []
        page, package = scratch / "page.html", [sys.executable, "-m", "spotgeo_frames"]
        other = thinned(tracker, scratch / "thinned")
        track, track_other = (
            [sys.executable, "-c", TRACK, str(truth), str(side), options.benchmark or "MOT17"]
            for side in (tracker, other)
        )
        report_one = [*package, "report", str(truth), str(tracker), "--out", str(page), *rules]
        report = [*package, "report", str(truth), str(tracker), str(other), "--out", str(page), *rules]
        commands = (track, track_other, report_one, report)
        at_first = cpu_time(report_one, scratch)
        rounds = [[cpu_time(command, scratch) for command in commands] for _ in range(options.rounds)]
        size = page.stat().st_size / 1e6
        share = share_of_certainty(truth, tracker, other, options.benchmark, page)
        scenes = {
            "of 200 boxes, two trackers": (N_FRAMES, N_BOXES, ("first", "second"), N_FRAMES // 2, MOST_STEP),
            "of 10,000 shapes": (8, 5_000, ("first",), 6, MOST_CROWDED),
            "of 10,000 frames": (10_000, 5, ("first",), 30, MOST_STEP),
        }
        taken = {}
        for name, (n_frames, n_boxes, trackers, n_steps, _) in scenes.items():
            write_page(scratch / "scene.html", n_frames, n_boxes, trackers)
            taken[name] = steps(scratch / "scene.html", n_steps)
    print(f"spotgeo_frames {sf.__version__}, {os.cpu_count()} cores, {options.rounds} rounds")
    [of_track, of_other, of_one, of_both] = [min(each) for each in zip(*rounds, strict=True)]
    print(f"page of two trackers  {size:6.2f} MB: {verdict(size, MOST_MEGABYTES)}")
    for name, taken_by, of_evaluation in (("one", of_one, of_track), ("two", of_both, of_track + of_other)):
        ratio = taken_by / of_evaluation
        told = f"{ratio:.1f} times track: {verdict(ratio, MOST_TRACKS)}"
        print(f"report of {name}         {taken_by:6.2f} s of CPU, {told}")
    print(
        f"the first report      {at_first:6.2f} s of CPU, in which modules are compiled and the chart library bundled"
    )
    print(f"intervals, comparison {share:6.0%} of the report of two, without imports")
    for name, of_steps in taken.items():
        if of_steps:
            middle, worst = statistics.median(of_steps), max(of_steps)
            print(f"a step {name}: {middle:.1f} ms, at most {worst:.1f} ms: {verdict(middle, scenes[name][-1])}")
        else:
            print(f"a step {name}: Chromium, its driver and selenium are needed")


if __name__ == "__main__":
    main()
