"""Times whole processes, from the start of Python to its end, in one run.

    python benchmarks/start.py --files TRUTH SUBMISSION --folders TRUTH_DIR TRACKER_DIR
    python benchmarks/start.py                          files of the challenge's size and tracks of MOT17's, made here

Prints how long `import spotgeo_frames`, `--help`, `score` of two competition files and `track` of two folders of
MOTChallenge take, as JSON and as text, and whether that is within bounds. They are measured by `import numpy`, by the
plain loop of `plain_loop.py`, and by `trackers eval` of the PyPI package `trackers` where that is installed; texts,
which have intervals, by the same command's JSON.

First the results have to agree. Then the processes run in turn, round after round, with all bytecode compiled
beforehand. The least time of a process is what counts, because whatever else a machine does only adds to it; the median
is printed beside it. `--rounds` of 5 give a first idea. `--cpu` measures the time of processors instead, which other
processes disturb less.
"""

import argparse
import compileall
import json
import math
import os
import py_compile
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import spotgeo
import tracks

import spotgeo_frames as sf

PLAIN_LOOP = Path(__file__).with_name("plain_loop.py")
FOUND = "trackers.json"  # what `trackers eval` writes, in the scratch folder

Command = list[str]


class Bound(NamedTuple):
    """`process` may take at most `most` times as long as `rival`, and `aim` times would be good."""

    process: str
    rival: str
    most: float
    aim: float | None = None


BOUNDS = [
    Bound("import spotgeo_frames", "import numpy", 1.5),
    Bound("--help", "import numpy", 1.5),
    Bound("score --json", "plain loop", 0.6, 0.35),
    Bound("track --json", "import numpy", 8.5, 6.0),
    Bound("track --json", "trackers eval", 1.0),
    Bound("score", "score --json", 1.3),
    Bound("track", "track --json", 1.3),
]


def commands(files: Sequence[Path], folders: Sequence[Path], trackers: str | None, scratch: Path) -> dict[str, Command]:
    """The processes by name; those that others are measured by come first."""
    loop = py_compile.compile(str(PLAIN_LOOP), cfile=str(scratch / "plain_loop.pyc"), doraise=True)
    python, package = [sys.executable], [sys.executable, "-m", "spotgeo_frames"]
    truth_dir, tracker_dir = map(str, folders)
    evaluated = ["--gt-dir", truth_dir, "--tracker-dir", tracker_dir, "--metrics", "HOTA", "CLEAR", "Identity"]
    return {
        "import numpy": [*python, "-c", "import numpy"],
        "plain loop": [*python, str(loop), *map(str, files)],
        **({"trackers eval": [trackers, "eval", *evaluated, "--output", str(scratch / FOUND)]} if trackers else {}),
        "import spotgeo_frames": [*python, "-c", "import spotgeo_frames"],
        "--help": [*package, "--help"],
        "score --json": [*package, "score", *map(str, files), "--json"],
        "track --json": [*package, "track", truth_dir, tracker_dir, "--json"],
        "score": [*package, "score", *map(str, files)],
        "track": [*package, "track", truth_dir, tracker_dir],
    }


def run(command: Command) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def timed(command: Command, *, cpu: bool) -> float:
    """The seconds that a process takes, or those of the processors."""
    start = seconds(cpu=cpu)
    run(command)
    return seconds(cpu=cpu) - start


def seconds(*, cpu: bool) -> float:
    if not cpu:
        return time.perf_counter()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def check(processes: dict[str, Command], scratch: Path) -> None:
    """Ends the benchmark where results are not equal; also runs every process once before it is timed."""
    compileall.compile_dir(Path(sf.__file__).parent, quiet=1)
    printed = {name: run(command) for name, command in processes.items()}
    same("score --json", json.loads(printed["plain loop"]), json.loads(printed["score --json"]))
    for name, key in (("score", "f1"), ("track", "HOTA")):
        numbers = json.loads(printed[f"{name} --json"])
        if f"{numbers.get('combined', numbers)[key]:.4f}" not in printed[name]:
            raise SystemExit(f"{name}: the text lacks the {key} of the JSON")
    if "trackers eval" in processes:
        combined = json.loads((scratch / FOUND).read_text())["aggregate"]
        theirs = {name: combined[of][name] for of, name in [("HOTA", "HOTA"), ("CLEAR", "MOTA"), ("Identity", "IDF1")]}
        same("track --json", theirs, json.loads(printed["track --json"])["combined"])


def same(name: str, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    for key, value in theirs.items():
        if not math.isclose(value, ours[key], rel_tol=1e-9):
            raise SystemExit(f"{name}: {key} is {ours[key]} here and {value} elsewhere")


def verdict(bound: Bound, times: dict[str, list[float]]) -> str:
    least, middle = (of(times[bound.process]) / of(times[bound.rival]) for of in (min, statistics.median))
    aim = f", aim {bound.aim} {'reached' if least <= bound.aim else 'missed'}" if bound.aim else ""
    return (
        f"{bound.process:24}{least:6.2f} times {bound.rival} (of medians {middle:.2f}): "
        f"bound {bound.most} {'holds' if least <= bound.most else 'DOES NOT HOLD'}{aim}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", nargs=2, type=Path, metavar=("TRUTH", "SUBMISSION"))
    parser.add_argument("--folders", nargs=2, type=Path, metavar=("TRUTH_DIR", "TRACKER_DIR"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--cpu", action="store_true", help="the time of processors")
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    parser.add_argument("--trackers", default=shutil.which("trackers", path=beside), help="the command `trackers`")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        files = options.files or spotgeo.written("made", spotgeo.scene(1280, 1.75, 100.0, seed=0), scratch)
        folders = options.folders or tracks.made_up(scratch)
        processes = commands(files, folders, options.trackers, scratch)
        check(processes, scratch)
        rounds = [
            {name: timed(command, cpu=options.cpu) for name, command in processes.items()}
            for _ in range(options.rounds)
        ]
    print(f"spotgeo_frames {sf.__version__}, {os.cpu_count()} cores, {options.rounds} rounds")
    times = {name: [each[name] for each in rounds] for name in processes}
    for name, each in times.items():
        print(f"{name:24}{min(each) * 1e3:7.0f} ms   median {statistics.median(each) * 1e3:7.0f} ms")
    for bound in BOUNDS:
        print(verdict(bound, times) if bound.rival in times else f"{bound.process:24}{bound.rival} is not installed")


if __name__ == "__main__":
    main()
