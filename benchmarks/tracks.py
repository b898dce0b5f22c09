"""Times tracks, from MOTChallenge files to HOTA, CLEAR and Identity: this project, trackeval and motrics, in one run.

    python benchmarks/tracks.py TRUTH_DIR TRACKER_DIR [BENCHMARK]   MOT16, MOT17 (the default), MOT20 or DanceTrack
    python benchmarks/tracks.py                                     a made-up set of about MOT17's size

First the engines have to agree: with trackeval in every number, with motrics in HOTA and Identity; motrics 0.3.0 pairs
a little otherwise than trackeval for CLEAR, and by how much is printed. Then they are timed in turn, and the median of
the ratios is what counts, since machines drift. "From tables" leaves out reading and preprocessing: this project begins
with two tables, motrics with its lists of boxes, trackeval with similarities computed already. `identity_breaks`,
`error_costs` and a sweep of 50 thresholds are each timed in turn with `track`. Peak memory is that of a process of its
own for each, its imports included.
"""

import argparse
import contextlib
import io
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import psutil

import spotgeo_frames as sf

# What trackeval calls the fields of the summary.
FIELDS = {
    **{name: ("HOTA", name) for name in ("HOTA", "DetA", "AssA", "DetRe", "DetPr", "AssRe", "AssPr", "LocA")},
    **{name: ("CLEAR", name) for name in ("MOTA", "MOTP", "MODA", "IDSW", "Frag", "MT", "PT", "ML")},
    **{name: ("CLEAR", f"CLR_{name}") for name in ("TP", "FN", "FP")},
    **{name: ("Identity", name) for name in ("IDF1", "IDP", "IDR", "IDTP", "IDFN", "IDFP")},
}

# What motrics calls them; it has no combined numbers.
MOTRICS = {
    **{name: ("hota", name.lower()) for name in ("HOTA", "DetA", "AssA", "LocA")},
    **{name: ("identity", name.lower()) for name in ("IDF1", "IDP", "IDR", "IDTP", "IDFN", "IDFP")},
    **{"TP": ("clear", "num_matches"), "IDSW": ("clear", "num_switches"), "Frag": ("clear", "frag")},
}
NOT_THE_SAME = {"motrics": ["TP", "IDSW", "Frag"]}

Numbers = dict[str | None, dict[str, float]]


class Engine(NamedTuple):
    """One of the three: `load` gives what its `evaluate` begins with; both say nothing."""

    load: Callable[[], Any]
    evaluate: Callable[[Any], Numbers]


def whole(engine: Engine) -> Numbers:
    return engine.evaluate(engine.load())


def spotgeo_frames_engine(truth: Path, tracker: Path, benchmark: str) -> Engine:
    def evaluate(sides: tuple[sf.Annotations, sf.Annotations]) -> Numbers:
        summary = sf.track(*sides).summary
        return {None if pd.isna(row["sequence"]) else row["sequence"]: row for row in summary.to_dict("records")}

    return Engine(lambda: sf.read_motchallenge(truth, tracker, benchmark), evaluate)


def trackeval_engine(truth: Path, tracker: Path, benchmark: str) -> Engine:
    import trackeval

    quiet = {"PRINT_CONFIG": False}
    with silence():
        metrics = {
            "HOTA": trackeval.metrics.HOTA(),
            "CLEAR": trackeval.metrics.CLEAR(quiet),
            "Identity": trackeval.metrics.Identity(quiet),
        }
    config = {"TRACKERS_FOLDER": str(tracker.parent), "TRACKERS_TO_EVAL": [tracker.name], "TRACKER_SUB_FOLDER": ""}
    config |= {"GT_FOLDER": str(truth), "BENCHMARK": benchmark, "SKIP_SPLIT_FOL": True, "PRINT_CONFIG": False}

    def load() -> dict[str, Any]:
        with silence():
            dataset = trackeval.datasets.MotChallenge2DBox({**config, "SEQ_INFO": lengths(truth, tracker)})
            raw = {sequence: dataset.get_raw_seq_data(tracker.name, sequence) for sequence in dataset.seq_list}
            return {name: dataset.get_preprocessed_seq_data(data, "pedestrian") for name, data in raw.items()}

    def evaluate(loaded: dict[str, Any]) -> Numbers:
        with silence():
            found = {
                sequence: {name: metric.eval_sequence(data) for name, metric in metrics.items()}
                for sequence, data in loaded.items()
            }
            combined = {
                name: metric.combine_sequences({sequence: each[name] for sequence, each in found.items()})
                for name, metric in metrics.items()
            }
        return {
            sequence: {field: float(np.mean(each[metric][name])) for field, (metric, name) in FIELDS.items()}
            for sequence, each in {**found, None: combined}.items()
        }

    return Engine(load, evaluate)


def motrics_engine(truth: Path, tracker: Path, benchmark: str) -> Engine:
    import motrics

    def load() -> dict[str, Any]:
        return {
            sequence: motrics.preprocess_motchallenge(
                motrics.load_motchallenge_gt(truth / sequence / "gt" / "gt.txt"),
                motrics.load_motchallenge(tracker / f"{sequence}.txt"),
                benchmark=benchmark,
            )
            for sequence in sequences(truth)
        }

    def evaluate(loaded: dict[str, Any]) -> Numbers:
        numbers: Numbers = {}
        for sequence, (ids, boxes, predicted_ids, predicted_boxes) in loaded.items():
            found = motrics.evaluate(motrics.Frames(ids, boxes), motrics.Frames(predicted_ids, predicted_boxes))
            numbers[sequence] = {
                field: float(getattr(getattr(found, metric), name)) for field, (metric, name) in MOTRICS.items()
            }
        return numbers

    return Engine(load, evaluate)


ENGINES = {"spotgeo_frames": spotgeo_frames_engine, "trackeval": trackeval_engine, "motrics": motrics_engine}
RIVALS = ["trackeval", "motrics"]


@contextlib.contextmanager
def silence() -> Any:
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def sequences(truth: Path) -> list[str]:
    return sorted(path.parent.parent.name for path in truth.glob("*/gt/gt.txt"))


def lengths(truth: Path, tracker: Path) -> dict[str, int]:
    """Each sequence's last frame: trackeval has to be told."""
    return {
        sequence: max(
            int(float(line.split(",", 1)[0]))
            for path in (truth / sequence / "gt" / "gt.txt", tracker / f"{sequence}.txt")
            for line in path.read_text().splitlines()
        )
        for sequence in sequences(truth)
    }


def check(engines: dict[str, Engine]) -> None:
    """Ends the run where the engines do not agree, and prints where they need not."""
    mine = whole(engines["spotgeo_frames"])
    for name in RIVALS:
        theirs = whole(engines[name])
        others = NOT_THE_SAME.get(name, [])
        for sequence, numbers in theirs.items():
            for field, value in numbers.items():
                if field not in others and not math.isclose(value, mine[sequence][field], rel_tol=1e-9, abs_tol=1e-9):
                    where = sequence or "combined"
                    raise SystemExit(f"{where}: {field} is {value} in {name} and {mine[sequence][field]} here")
        for field in others:
            sums = [sum(found[sequence][field] for sequence in theirs) for found in (theirs, mine)]
            print(f"{name} counts {sums[0]:,.0f} {field}, trackeval and this project {sums[1]:,.0f}")


def timed(function: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def report(title: str, times: dict[str, list[float]]) -> None:
    own = times["spotgeo_frames"]
    print(f"{title:24}here {statistics.median(own) * 1e3:7.0f} ms")
    for name in RIVALS:
        ratio = statistics.median(theirs / ours for theirs, ours in zip(times[name], own, strict=True))
        print(f"{'':12}{name:12}{statistics.median(times[name]) * 1e3:9.0f} ms   {ratio:5.1f} times as long")


def peak_memory(name: str, arguments: list[str]) -> float:
    """MiB of a process that imports one engine and evaluates once."""
    command = [sys.executable, __file__, *arguments, "--only", name]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def peak_resident() -> float:
    """MiB that this process had resident at most. What getrusage says begins with the peak of the parent process."""
    status = Path("/proc/self/status")
    if not status.exists():  # not Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024


def made_up(folder: Path) -> tuple[Path, Path]:
    """Seven sequences of 760 frames with 21 walkers each, of whom the tracker finds nine in ten and mixes some up."""
    random = np.random.default_rng(0)
    n_frames, n_walkers = 760, 21
    frame, walker = (part.ravel() for part in np.mgrid[1 : n_frames + 1, 0:n_walkers])
    truth, tracker = [], []
    for number in range(1, 8):
        steps = random.normal(0, 2, (n_frames, n_walkers, 2)) + random.normal(0, 1, (n_walkers, 2))
        places = (random.uniform(0, 1, (n_walkers, 2)) * [1900, 1000] + np.cumsum(steps, axis=0)) % [1900, 1000]
        x, y = np.round(places.reshape(-1, 2)).T
        width = np.tile(random.integers(30, 90, n_walkers), n_frames).astype(float)
        boxes = pd.DataFrame(
            {"sequence": f"MADE-{number:02}", "frame": frame, "object": walker + 1, "x": x, "y": y, "w": width}
        ).assign(h=2.5 * width, considered=True, class_id=np.where(walker < 18, 1, np.where(walker < 20, 7, 3)))
        truth.append(boxes.assign(visibility=np.round(random.uniform(size=len(boxes)), 3)))
        seen = boxes[random.random(len(boxes)) < 0.9].drop(columns=["considered", "class_id"])
        error = random.normal(0, 0.05, (len(seen), 2)) * seen[["w", "h"]].to_numpy()
        seen = seen.assign(x=seen["x"] + error[:, 0], y=seen["y"] + error[:, 1], score=1.0)
        tracker.append(seen.assign(object=(seen["object"] + 100 * (seen["frame"] // 150 * (seen["object"] % 3 == 0)))))
    sf.write_motchallenge(pd.concat(truth, ignore_index=True), folder / "gt", truth=True)
    sf.write_motchallenge(pd.concat(tracker, ignore_index=True), folder / "tracker")
    return folder / "gt", folder / "tracker"


def time_sweep(truth: sf.Annotations, predictions: sf.Annotations) -> None:
    """Times a sweep of 50 thresholds, of scores drawn for each track or for each row, beside `track`."""
    warnings.filterwarnings("ignore", "sweep: fewer than 20 sequences")  # each round would warn of it
    random, objects = np.random.default_rng(0), predictions.objects
    of_rows = random.random(len(objects))
    of_tracks = pd.Series(of_rows).groupby([objects["sequence"], objects["object"]]).transform("first")
    for scores, drawn in (("tracks", of_tracks + of_rows / 100), ("rows", of_rows)):
        scored = predictions._replace(objects=objects.assign(score=drawn))
        sweep = partial(sf.sweep, tracks=True)
        both = [(timed(sf.track, truth, scored), timed(sweep, truth, scored)) for _ in range(5)]
        times = statistics.median(swept / track for track, swept in both)
        milliseconds = statistics.median(swept for _, swept in both) * 1e3
        print(f"{f'sweep, scores of {scores}':24}here {milliseconds:7.0f} ms   {times:.1f} times track")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("given", nargs="*", metavar="TRUTH_DIR TRACKER_DIR [BENCHMARK]")
    parser.add_argument("--only", choices=ENGINES, help="evaluate once with this engine and print the peak memory, MiB")
    options = parser.parse_args()
    if len(options.given) not in (0, 2, 3):
        parser.error("give both folders, or none")
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(path) for path in options.given[:2]] or made_up(Path(name))
        benchmark = options.given[2] if len(options.given) == 3 else "MOT17"
        if options.only:
            whole(ENGINES[options.only](*folders, benchmark))
            print(peak_resident())
            return
        memory = psutil.virtual_memory().total / 2**30
        print(f"spotgeo_frames {sf.__version__}, {psutil.cpu_count()} cores, {memory:.0f} GiB")
        engines = {name: engine(*folders, benchmark) for name, engine in ENGINES.items()}
        check(engines)
        rounds = range(5)
        files = [{name: timed(whole, engine) for name, engine in engines.items()} for _ in rounds]
        report("from files", {name: [times[name] for times in files] for name in ENGINES})
        loaded = {name: engine.load() for name, engine in engines.items()}
        tables = [{name: timed(engine.evaluate, loaded[name]) for name, engine in engines.items()} for _ in rounds]
        report("from tables", {name: [times[name] for times in tables] for name in ENGINES})
        sides = loaded["spotgeo_frames"]
        result = sf.track(*sides)
        for asked, n_rounds in ((sf.identity_breaks, 15), (sf.error_costs, 5)):
            both = [(timed(sf.track, *sides), timed(asked, result)) for _ in range(n_rounds)]
            share, seconds = (statistics.median(times) for times in zip(*((b / a, b) for a, b in both), strict=True))
            print(f"{asked.__name__:24}here {seconds * 1e3:7.0f} ms   {share:.2f} of track")
        time_sweep(*sides)
        arguments = [*map(str, folders), benchmark]
        peaks = {name: peak_memory(name, arguments) for name in ENGINES}
        print(f"{'peak memory':24}" + ", ".join(f"{name} {peak:.0f} MiB" for name, peak in peaks.items()))


if __name__ == "__main__":
    main()
