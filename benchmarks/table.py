"""Prints the table of docs/speed.md: each kind of work against a rival, in one run.

    python benchmarks/table.py [--rounds 5] [--only TEXT] [--large]

Both sides of a row have to give equal results first. Then they run in turn, pinned to one core, and again on two. What
counts is the median of the ratios of the rounds: of CPU time on one core, which other processes disturb least, and of
elapsed time on two. `--only` measures the rows whose group has that text in its name, and `--large` adds what takes
minutes. The scenes are those of the other benchmarks, which print more about each kind of work.
"""

import argparse
import contextlib
import datetime
import io
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import average_precision as precision
import comparisons
import crowded
import keys
import layouts
import numpy as np
import pandas as pd
import psutil
import pyarrow.parquet as pq
import small
import spotgeo
import tracks

import scale
import spotgeo_frames as sf


class Row(NamedTuple):
    """A kind of work, what it is measured against, and the aim: how many times as long, or how long, it may take."""

    work: str
    rival: str
    most: float | str
    ours: Callable[[], object]
    theirs: Callable[[], object]


def used() -> np.ndarray:
    """Seconds of processors, also of the processes that this one has waited for, and of the clock."""
    of_children = sum(os.times()[2:4])
    return np.array([time.process_time() + of_children, time.perf_counter()])


def taken(call: Callable[[], object]) -> np.ndarray:
    """The CPU time and the elapsed time of a call, s; a short one is repeated for a tenth of a second."""
    n_calls, began = 0, used()
    while n_calls == 0 or (used() - began)[1] < 0.1:
        with contextlib.redirect_stdout(io.StringIO()):
            call()
        n_calls += 1
    return (used() - began) / n_calls


def same(what: str, ours: Any, theirs: Any, rounding: float = 1e-9) -> None:
    """Ends the benchmark unless both sides give the same numbers."""
    if not np.allclose(np.asarray(ours, float), np.asarray(theirs, float), rtol=rounding, atol=1e-9, equal_nan=True):
        raise SystemExit(f"{what}: {ours} here, {theirs} of the rival")


def of_spotgeo(folder: Path, _: argparse.Namespace) -> Iterator[Row]:
    files = spotgeo.written("sparse", spotgeo.scene(1280, 1.75, 100.0, seed=0), folder)
    theirs = spotgeo.loop_score(*files)
    same("spotGEO", [spotgeo.frames_score(*files)[name] for name in theirs], [*theirs.values()])
    yield Row(
        "files of 1,280 spotGEO sequences to the summary",
        "a loop over frames with `cdist` and `linear_sum_assignment`",
        0.2,
        lambda: spotgeo.frames_score(*files),
        lambda: spotgeo.loop_score(*files),
    )


def of_crowds(_: Path, __: argparse.Namespace) -> Iterator[Row]:
    for name, columns, costs, n_rows, in_frame, most in (
        ("points", "xy", crowded.distances, 60_000, 2000, 1 / 3),
        ("boxes", "xywh", crowded.dissimilarities, 60_000, 200, 1 / 4),
    ):
        sides = crowded.scene(columns, n_rows, in_frame)
        frames = [side["frame"].to_numpy() for side in sides]
        values = [side[[*columns]].to_numpy().T.copy() for side in sides]
        loop = crowded.loop
        same("crowds", crowded.counts(sf.match(*sides)), loop(frames, values, costs))
        yield Row(
            f"`match` of {in_frame:,} {name} a frame",
            "the same loop over arrays",
            most,
            lambda sides=sides: sf.match(*sides),
            lambda of=(frames, values, costs), loop=loop: loop(*of),
        )


def of_tracks(folder: Path, _: argparse.Namespace) -> Iterator[Row]:
    folders = tracks.made_up(folder)
    engines = {name: engine(*folders, "MOT17") for name, engine in tracks.ENGINES.items()}
    with contextlib.redirect_stdout(io.StringIO()):
        tracks.check(engines)
    mine = engines["spotgeo_frames"]
    loaded = {name: engine.load() for name, engine in engines.items()}
    for name, rival, most_files, most_tables in (
        ("trackeval", "trackeval 1.3.0", 1 / 15, 1 / 10),
        ("motrics", "motrics 0.3.0 (Rust)", 1 / 7, 1.0),
    ):
        theirs = engines[name]
        yield Row(
            "files of MOT17's size to HOTA, CLEAR and Identity",
            rival,
            most_files,
            lambda: tracks.whole(mine),
            lambda theirs=theirs: tracks.whole(theirs),
        )
        yield Row(
            "tables of them to the same",
            rival,
            most_tables,
            lambda: mine.evaluate(loaded["spotgeo_frames"]),
            lambda theirs=theirs, name=name: theirs.evaluate(loaded[name]),
        )


def of_precision(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    boxes = precision.made_up(folder, 5000, 80)
    yield from _precision("average precision, 324,000 detections in 5,000 images", boxes, "boxes", 1.0)
    yield from _precision(
        "average precision of poses in 40 images", precision.made_up_poses(folder), "poses", 4.0, ["hotcoco"]
    )
    for name in ("hotcoco", "ultrafast"):
        yield Row(
            "the files of 5,000 images to average precision, whole processes",
            RUST[name],
            1.6,
            _process("spotgeo_frames", boxes),
            _process(name, boxes),
        )
    if options.large:
        large = folder / "large"
        large.mkdir()
        files = precision.made_up(large, 34_000, 80)
        yield from _precision("average precision, 2.2 million detections", files, "boxes", 0.9, ["hotcoco"])


RUST = {"hotcoco": "hotcoco 1.3.0 (Rust)", "ultrafast": "ultrafast-pycocotools 0.1.14 (Rust)"}


def _precision(
    work: str, files: tuple[Path, Path], kind: str, most: float, rivals: list[str] | None = None
) -> Iterator[Row]:
    with contextlib.redirect_stdout(io.StringIO()):
        calls = {name: precision.ENGINES[name](*files, kind) for name in ("spotgeo_frames", *(rivals or RUST))}
        numbers = {name: np.where(np.isnan(of := call()), -1, of) for name, call in calls.items()}
    for name in rivals or RUST:
        same(work, numbers["spotgeo_frames"], numbers[name])
        yield Row(work, RUST[name], most, calls["spotgeo_frames"], calls[name])


def _process(name: str, files: tuple[Path, Path]) -> Callable[[], object]:
    return lambda: precision.whole(name, *files)


def of_small(folder: Path, _: argparse.Namespace) -> Iterator[Row]:
    random = np.random.default_rng(48)
    points = small.key(random)
    sides = points, small.moved(random, points)
    for work, rival, most in (
        (small.matched(sides), "a loop with `cdist` and `linear_sum_assignment`", "1.5 ms"),
        (small.tracked(small.boxes(random)), "motrics 0.3.0 (Rust)", "4 ms"),
        (small.precise(folder, small.ranked(random)), RUST["hotcoco"], "5 ms"),
    ):
        assert work.theirs is not None
        yield Row(f"`{work.name}` of 10 rows a side", rival, most, work.ours, work.theirs)


def of_comparisons(_: Path, __: argparse.Namespace) -> Iterator[Row]:
    truth, submissions = comparisons.scene(200_000, 8000)
    matches = {name: sf.match(truth, side) for name, side in submissions.items()}
    comparisons.check(matches)
    yield Row(
        "`compare` of two submissions of 200,000 points in 8,000 sequences",
        "`match` of one of them",
        5.0,
        lambda: sf.compare(matches),
        lambda: sf.match(truth, submissions["a"]),
    )


def of_commands(folder: Path, _: argparse.Namespace) -> Iterator[Row]:
    files = [str(file) for file in spotgeo.written("sparse", spotgeo.scene(1280, 1.75, 100.0, seed=0), folder)]
    folders, page = [str(path) for path in tracks.made_up(folder)], str(folder / "page.html")
    for words in (["score", *files], ["track", *folders]):
        yield Row(
            f"`{words[0]}` as text, whole processes",
            "the same with `--json`",
            1.3,
            _command(words),
            _command([*words, "--json"]),
        )
    yield Row(
        "`report` of one tracker, whole processes",
        "`track` of it as text",
        3.0,
        _command(["report", *folders, "--out", page]),
        _command(["track", *folders]),
    )


def of_keys(_: Path, __: argparse.Namespace) -> Iterator[Row]:
    tables = scale.scene(0, 10_000, np.random.default_rng(7))
    sides = [table.to_pandas() for table in tables]
    for names, most in (("categorical", 1.15), ("text", 1.3), ("object", 1.4)):
        made = keys.named(sides, ["sequence"], keys.KINDS[names])
        numbers = sf.match(*sides)["distance"], sf.match(*made)["distance"]
        same("keys", *numbers)
        yield Row(
            f"`match` of 200,000 points, names of sequences {'as text' if names == 'text' else f'as {names} column'}",
            "integers",
            most,
            lambda made=made: sf.match(*made),
            lambda: sf.match(*sides),
        )
    million = [table.to_pandas() for table in scale.scene(0, 50_000, np.random.default_rng(7))]
    truth, claimed = keys.million(million, "str")
    yield Row(
        "`match` of a million sequences with names in no order",
        "`pandas.factorize` of the names alone",
        "1 s",
        lambda: sf.match(truth, claimed),
        lambda: pd.factorize(pd.concat([truth["sequence"], claimed["sequence"]]), sort=False),
    )


def of_batches(_: Path, __: argparse.Namespace) -> Iterator[Row]:
    made = small.batches(np.random.default_rng(48))
    tables = [tuple(map(small.table, sides)) for sides in made]
    both = [sf.summarize(sf.match(*sides))["tp"].sum() for sides in tables]
    same("batches", small.accumulated(made).compute()["tp"], sum(both))
    for kind, batches, most in (("arrays", made, "15 ms"), ("tables", tables, "30 ms")):
        yield Row(
            f"`Accumulator.update` of 60 batches of 16 images as {kind}",
            "`match` and `summarize` of each batch",
            most,
            lambda batches=batches: small.accumulated(batches),
            lambda: [sf.summarize(sf.match(*sides)) for sides in tables],
        )


def of_datasets(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    if not options.large:
        return
    datasets = scale.make(1_000_000, folder)
    [many, _] = layouts.LAYOUTS["5,000 sequences, a sorted file for each"]
    one = many._replace(files=layouts.one_file)
    of_one, of_many = (
        [layouts.write(pq.read_table(side), layout, folder / name / side.name) for side in datasets]
        for name, layout in (("one", one), ("many", many))
    )
    results = [sf.score_dataset(*of, workers=1).iloc[0, 1:9].astype(float) for of in (of_one, of_many)]
    same("files", *results)
    yield Row(
        "`score_dataset` of 5,000 files a side, a sequence each",
        "the same rows in one file a side",
        4.0,
        lambda: sf.score_dataset(*of_many, workers=1),
        lambda: sf.score_dataset(*of_one, workers=1),
    )
    large = scale.make(10_000_000, folder)
    yield Row(
        "`score_dataset` of 10 million truth rows",
        "reading them with pyarrow",
        3.0,
        lambda: sf.score_dataset(*large, workers=1),
        lambda: _read(large),
    )


def _read(folders: tuple[Path, Path]) -> int:
    columns = ["sequence", "frame", "object", "x", "y"]
    files = [file for folder in folders for file in sorted(folder.glob("*.parquet"))]
    return sum(len(batch) for file in files for batch in pq.ParquetFile(file).iter_batches(1 << 16, columns=columns))


def _command(words: list[str]) -> Callable[[], object]:
    command = [sys.executable, "-m", "spotgeo_frames", *words]
    return lambda: subprocess.run(command, check=True, capture_output=True)


GROUPS = {
    "spotgeo": of_spotgeo,
    "crowds": of_crowds,
    "tracks": of_tracks,
    "precision": of_precision,
    "small": of_small,
    "comparisons": of_comparisons,
    "keys": of_keys,
    "batches": of_batches,
    "datasets": of_datasets,
    "commands": of_commands,
}


def measured(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Each row with its times and ratios, measured on as many cores as this process may use."""
    warnings.simplefilter("ignore")
    for name, rows in GROUPS.items():
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for row in rows(Path(folder), options):
                row.ours(), row.theirs()
                rounds = [(taken(row.ours), taken(row.theirs)) for _ in range(options.rounds)]
                ratios = np.median([mine / other for mine, other in rounds], axis=0)
                times = np.median([mine for mine, _ in rounds], axis=0)
                yield {"work": row.work, "rival": row.rival, "most": row.most} | {
                    "ratios": ratios.tolist(),
                    "times": times.tolist(),
                }


def on_cores(n_cores: int, options: argparse.Namespace) -> list[dict[str, Any]]:
    """What is measured in a process on so many cores; libraries count these when they are loaded."""
    threads = dict.fromkeys(("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(n_cores))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"  # since rivals print what they like
        words = [sys.executable, *sys.argv, "--cores", str(n_cores), "--into", str(file)]
        # An installed package has its modules compiled, whatever this environment says.
        compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}
        subprocess.run(words, check=True, env=os.environ | threads | compiled, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text())


def times_as_long(ratio: float | str) -> str:
    """A ratio with two digits or more; an aim may be a time."""
    if isinstance(ratio, str):
        return ratio
    return f"{ratio:.3f}" if ratio < 0.1 else f"{ratio:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", metavar="TEXT", help=f"the groups are {', '.join(GROUPS)}")
    parser.add_argument("--large", action="store_true", help="also what takes minutes")
    parser.add_argument("--cores", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.cores])
        options.into.write_text(json.dumps([*measured(options)]))
        return
    one, two = (on_cores(n_cores, options) for n_cores in (1, 2))
    memory = psutil.virtual_memory().total / 2**30
    print(
        f"Measured on {datetime.date.today()} with Python {platform.python_version()}, NumPy {np.__version__} and"
        f" spotgeo_frames {sf.__version__} on a machine with {psutil.cpu_count()} cores and {memory:.0f} GiB.\n"
    )
    print("| work | against | time here | one core, CPU time | two cores, elapsed time | at most |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for on_one, on_two in zip(one, two, strict=True):
        milliseconds = 1000 * on_one["times"][0]
        shown = f"{milliseconds / 1000:.2f} s" if milliseconds >= 1000 else f"{milliseconds:.3g} ms"
        cells = [on_one["work"], on_one["rival"], shown, times_as_long(on_one["ratios"][0])]
        print(f"| {' | '.join([*cells, times_as_long(on_two['ratios'][1]), times_as_long(on_one['most'])])} |")


if __name__ == "__main__":
    main()
