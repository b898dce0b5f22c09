"""Times scoring from two competition files to the summary against a plain per-frame loop, in one run.

    python benchmarks/spotgeo.py TRUTH SUBMISSION      the challenge's own files
    python benchmarks/spotgeo.py                       files of the same size, made here

Each side first scores each pair of files, and the two have to agree; then both are timed in turn, and the median of
the ratios is what counts, since machines drift. Prints the ratio as the files are, four times over, and with 25
clustered objects a frame; what the whole command takes next to bare imports, and a report next to it; and how time
grows from 1,000 to 1,000,000 frames, and the memory that takes.
"""

import argparse
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import spotgeo_frames as sf

TAU, EPSILON = 10.0, 3.0


def loop_score(truth_path: Path, submission_path: Path) -> dict[str, float]:
    """The rival: json.load, then cdist and linear_sum_assignment frame by frame."""
    truth, submission = (
        {(entry["sequence_id"], entry["frame"]): entry["object_coords"] for entry in json.loads(path.read_text())}
        for path in (truth_path, submission_path)
    )
    tp = fn = fp = 0
    squared = 0.0
    kelvins: dict[int, list[float]] = {}
    for key, truths in truth.items():
        predictions = submission[key]
        distances = np.zeros(0)
        if truths and predictions:
            costs = cdist(np.array(predictions), np.array(truths))
            costs[costs > TAU] = max(1000, 2 * min(costs.shape) * TAU)
            pairs = costs[linear_sum_assignment(costs)]
            distances = pairs[pairs <= TAU]
        hits, misses, alarms = len(distances), len(truths) - len(distances), len(predictions) - len(distances)
        tp, fn, fp = tp + hits, fn + misses, fp + alarms
        squared += (distances[distances > EPSILON] ** 2).sum() + (misses + alarms) * TAU**2
        sums = kelvins.setdefault(key[0], [0.0, 0])
        plain = distances[(distances >= EPSILON) & (distances < TAU)].sum()
        sums[0] += plain + (misses + alarms) * TAU**2
        sums[1] += hits + misses + alarms
    counted = tp + fn + fp
    return {
        "tp": tp,
        "fn": fn,
        "fp": fp,
        "mse": squared / counted,
        "kelvins_mse": sum(total / count for total, count in kelvins.values() if count),
    }


def frames_score(truth_path: Path, submission_path: Path) -> dict[str, float]:
    matches = sf.match(sf.read_spotgeo(truth_path), sf.read_spotgeo(submission_path), TAU, EPSILON)
    return dict(sf.summarize(matches).iloc[0])


def table_score(truth: sf.Annotations, predictions: sf.Annotations) -> None:
    sf.summarize(sf.match(truth, predictions, TAU, EPSILON))


def compare(name: str, truth: Path, submission: Path, rounds: int = 9) -> None:
    """Checks that both sides agree on the files, then prints how many times faster the project is."""
    loop, frames = loop_score(truth, submission), frames_score(truth, submission)
    for key, value in loop.items():
        if not math.isclose(value, frames[key], rel_tol=1e-9):
            raise SystemExit(f"{name}: {key} is {value} in the loop and {frames[key]} here")
    times = [[timed(score, truth, submission) for score in (loop_score, frames_score)] for _ in range(rounds)]
    ratio = statistics.median(slow / fast for slow, fast in times)
    slow, fast = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"{name:32}  loop {slow * 1e3:7.1f} ms   here {fast * 1e3:7.1f} ms   {ratio:5.1f} times faster")


def timed(function: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def scene(n_sequences: int, per_frame: float, spread: float, seed: int) -> tuple[sf.Annotations, sf.Annotations]:
    """Truth and submission over five-frame sequences: about `per_frame` objects around one place, `spread` px wide.

    One object in ten is missed, the others are found within a normal error of 2 px, in another order, and there is
    one false alarm for ten objects.
    """
    random = np.random.default_rng(seed)
    frames = pd.DataFrame(
        {"sequence": np.repeat(np.arange(1, n_sequences + 1), 5), "frame": np.tile(np.arange(1, 6), n_sequences)}
    )

    def objects(frame: np.ndarray, xy: np.ndarray) -> sf.Annotations:
        order = np.argsort(frame, kind="stable")
        table = frames.iloc[frame[order]].reset_index(drop=True)
        table["object"] = table.groupby(["sequence", "frame"]).cumcount()
        return sf.Annotations(table.assign(x=xy[order, 0], y=xy[order, 1]), frames)

    counts = random.poisson(per_frame, len(frames))
    frame = np.repeat(np.arange(len(frames)), counts)
    centre = random.uniform([80, 80], [560, 400], (len(frames), 2))
    xy = centre[frame] + random.normal(0, spread, (len(frame), 2))
    found = np.flatnonzero(random.random(len(frame)) < 0.9)
    found = found[random.permutation(len(found))]
    alarm = np.flatnonzero(random.random(len(frame)) < 0.1)
    predicted_frame = np.concatenate([frame[found], frame[alarm]])
    predicted_xy = np.concatenate([xy[found] + random.normal(0, 2, (len(found), 2)), xy[alarm] + 3 * spread])
    return objects(frame, xy), objects(predicted_frame, predicted_xy)


def repeated(path: Path, times: int, folder: Path) -> Path:
    """The file several times over, with sequence numbers that go on."""
    entries = json.loads(path.read_text())
    step = max(entry["sequence_id"] for entry in entries)
    copies = [{**entry, "sequence_id": entry["sequence_id"] + k * step} for k in range(times) for entry in entries]
    target = folder / f"{times}_{path.name}"
    target.write_text(json.dumps(copies))
    return target


def written(name: str, sides: tuple[sf.Annotations, sf.Annotations], folder: Path) -> tuple[Path, Path]:
    paths = folder / f"{name}_truth.json", folder / f"{name}_submission.json"
    for side, path in zip(sides, paths, strict=True):
        # The files of the competition have a space after commas and colons; so do these.
        sf.write_spotgeo(side, path)
        path.write_text(json.dumps(json.loads(path.read_text())))
    return paths


def startup(truth: Path, submission: Path, rounds: int = 7) -> None:
    """How long the whole command takes, against importing what nobody who scores can do without."""
    score = [sys.executable, "-m", "spotgeo_frames", "score", str(truth), str(submission)]
    bare = [sys.executable, "-c", "import pandas, pyarrow, scipy.optimize"]
    run = partial(subprocess.run, check=True, stdout=subprocess.DEVNULL)
    times = [[timed(run, command) for command in (score, bare)] for _ in range(rounds)]
    whole, imports = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(a / b for a, b in times)
    print(f"{'the whole command':32}  bare {imports * 1e3:7.1f} ms   here {whole * 1e3:7.1f} ms   {ratio:5.2f} times")


def reporting(truth: Path, submission: Path, folder: Path, rounds: int = 7) -> None:
    """How long a report takes, against scoring, both as whole commands; and how large the page is."""
    command = [sys.executable, "-m", "spotgeo_frames"]
    page = folder / "report.html"
    score = [*command, "score", str(truth), str(submission)]
    report = [*command, "report", str(truth), str(submission), "--out", str(page)]
    run = partial(subprocess.run, check=True, stdout=subprocess.DEVNULL)
    times = [[timed(run, one) for one in (report, score)] for _ in range(rounds)]
    whole, scoring = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(a / b for a, b in times)
    print(
        f"{'a report':32} score {scoring * 1e3:7.1f} ms   here {whole * 1e3:7.1f} ms   {ratio:5.2f} times, "
        f"{page.stat().st_size / 1e6:.1f} MB"
    )


def growth() -> None:
    """How long matching and summing takes, and the peak memory of it all, with two objects a frame."""
    for n_frames in (1_000, 10_000, 100_000, 1_000_000):
        truth, predictions = scene(n_frames // 5, 2.0, 60.0, seed=2)
        seconds = min(timed(table_score, truth, predictions) for _ in range(3))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{n_frames:9,} frames, {len(truth.objects):9,} and {len(predictions.objects):9,} objects: "
            f"{seconds:7.3f} s, {seconds / n_frames * 1e6:5.2f} us a frame, peak so far {peak:5.0f} MiB"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="TRUTH SUBMISSION")
    given = parser.parse_args().files
    memory = psutil.virtual_memory().total / 2**30
    print(f"spotgeo_frames {sf.__version__}, {psutil.cpu_count()} cores, {memory:.0f} GiB")
    if len(given) not in (0, 2):
        parser.error("give both files, or none")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        truth, submission = given or written("sparse", scene(1280, 1.75, 100.0, seed=0), folder)
        compare("as it is", truth, submission)
        larger = [repeated(path, 4, folder) for path in (truth, submission)]
        compare("four times over", *larger)
        startup(truth, submission)
        reporting(*larger, folder)
        compare("25 clustered objects a frame", *written("clustered", scene(256, 25.0, 12.0, seed=1), folder))
    growth()


if __name__ == "__main__":
    main()
