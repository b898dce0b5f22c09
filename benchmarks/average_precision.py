"""Times average precision of boxes and of poses: this project, pycocotools, hotcoco and ultrafast-pycocotools.

    python benchmarks/average_precision.py [--images 5000] [--classes 80] [--rounds 5] [--cores 1 2] [--large]
    python benchmarks/average_precision.py TRUTH.json RESULTS.json

The engines have to agree first, in all official numbers. Then they are timed in turn, pinned to one core and to two:
warm, from what each has in memory when it has read the files (this project: two tables) to the numbers, and as whole
processes from files, imports included (this project: the command `ap --json`). What counts is the median of the ratios
of CPU time, since machines drift and are shared; that of elapsed time is beside it. Peak memory is that of a whole
process. `--large` has 2 million detections in place of 300,000. Then follow small poses, and the table of all protocols
against one of them.
"""

import argparse
import contextlib
import io
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

# What rivals call the geometries that are read.
KINDS = {"boxes": "bbox", "poses": "keypoints"}

# The engines that are timed; pycocotools is what they have to agree with.
TIMED = ("spotgeo_frames", "hotcoco", "ultrafast")


def made_up(folder: Path, n_images: int, n_classes: int) -> tuple[Path, Path]:
    """Files with seven objects an image, of classes of very different frequency, and about 65 detections."""
    random = np.random.default_rng(0)
    image = np.repeat(np.arange(n_images), random.poisson(7, n_images))
    of_class = random.dirichlet(np.full(n_classes, 0.7))
    category = random.choice(n_classes, len(image), p=of_class)
    box = np.column_stack([random.uniform(0, 500, (len(image), 2)), np.exp(random.normal(4, 1, (len(image), 2)))])
    found = np.repeat(np.arange(len(image)), random.integers(0, 8, len(image)))
    near = box[found]
    near[:, :2] += random.normal(0, 0.12, (len(found), 2)) * near[:, 2:]
    near[:, 2:] *= np.exp(random.normal(0, 0.15, (len(found), 2)))
    n_false = 40 * n_images
    false = np.column_stack([random.uniform(0, 500, (n_false, 2)), np.exp(random.normal(4, 1, (n_false, 2)))])
    of_result = np.concatenate([image[found], random.integers(0, n_images, n_false)])
    claimed = np.concatenate([category[found], random.choice(n_classes, n_false, p=of_class)])
    score = np.round(random.random(len(of_result)), 3)
    truth = {
        "images": [{"id": int(k)} for k in range(n_images)],
        "categories": [{"id": int(k), "name": f"class {k}"} for k in range(n_classes)],
        "annotations": [
            {
                "id": k + 1,
                "image_id": int(i),
                "category_id": int(c),
                "bbox": b.tolist(),
                "area": float(0.7 * b[2] * b[3]),
            }
            | {"iscrowd": int(k % 100 == 0)}
            for k, (i, c, b) in enumerate(zip(image, category, box, strict=True))
        ],
    }
    results = [
        {"image_id": int(i), "category_id": int(c), "bbox": b.tolist(), "score": float(s)}
        for i, c, b, s in zip(of_result, claimed, np.concatenate([near, false]), score, strict=True)
    ]
    paths = folder / "truth.json", folder / "results.json"
    for path, content in zip(paths, (truth, results), strict=True):
        path.write_text(json.dumps(content))
    return paths


def made_up_poses(folder: Path, n_images: int = 40) -> tuple[Path, Path]:
    """Files with four people an image, and a few poses near each."""
    random = np.random.default_rng(0)
    image = np.repeat(np.arange(n_images), random.poisson(4, n_images))
    corner, size = random.uniform(0, 500, (len(image), 1, 2)), random.uniform(30, 140, (len(image), 1, 2))
    joints = corner + size * random.random((len(image), 17, 2))
    visibility = random.choice([0, 1, 2], (len(image), 17), p=[0.3, 0.2, 0.5])
    found = np.repeat(np.arange(len(image)), random.integers(0, 6, len(image)))
    near = joints[found] + random.normal(0, 1, (len(found), 17, 2)) * random.uniform(1, 20, (len(found), 1, 1))
    known = np.concatenate([joints * (visibility > 0)[..., None], visibility[..., None]], axis=2)
    truth = {
        "images": [{"id": k} for k in range(n_images)],
        "categories": [{"id": 1, "name": "person"}],
        "annotations": [
            {"id": k + 1, "image_id": int(image[k]), "category_id": 1, "iscrowd": 0}
            | {"keypoints": known[k].ravel().tolist(), "num_keypoints": int((visibility[k] > 0).sum())}
            | {"bbox": [*corner[k, 0].tolist(), *size[k, 0].tolist()], "area": 0.6 * float(size[k].prod())}
            for k in range(len(image))
        ],
    }
    results = [
        {"image_id": int(image[k]), "category_id": 1, "score": float(np.round(random.random(), 3))}
        | {"keypoints": np.concatenate([pose, np.ones((17, 1))], axis=1).ravel().tolist()}
        for k, pose in zip(found, near, strict=True)
    ]
    paths = folder / "people.json", folder / "poses.json"
    for path, content in zip(paths, (truth, results), strict=True):
        path.write_text(json.dumps(content))
    return paths


def ours(truth: Path, results: Path, kind: str) -> Callable[[], Any]:
    import spotgeo_frames as sf

    sides = sf.read_coco(truth, results, boxes=kind == "boxes")
    n_numbers = 12 if kind == "boxes" else 10
    return lambda: sf.average_precision(*sides).summary.iloc[0, :n_numbers].to_numpy(np.float64)


def pycocotools(truth: Path, results: Path, kind: str) -> Callable[[], Any]:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    known = COCO(str(truth))
    return _evaluated(COCOeval, known, known.loadRes(str(results)), kind)


def hotcoco(truth: Path, results: Path, kind: str) -> Callable[[], Any]:
    from hotcoco import COCO, COCOeval

    known = COCO(str(truth))
    return _evaluated(COCOeval, known, known.load_res(str(results)), kind)


def ultrafast(truth: Path, results: Path, kind: str) -> Callable[[], Any]:
    from ultrafast_pycocotools.coco import COCO
    from ultrafast_pycocotools.cocoeval import COCOeval

    known = COCO(str(truth))
    return _evaluated(COCOeval, known, known.loadRes(str(results)), kind)


def _evaluated(evaluator: Any, known: Any, found: Any, kind: str) -> Callable[[], Any]:
    def evaluate() -> Any:
        evaluation = evaluator(known, found, KINDS[kind])
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        return np.array(evaluation.stats)

    return evaluate


ENGINES = {"spotgeo_frames": ours, "pycocotools": pycocotools, "hotcoco": hotcoco, "ultrafast": ultrafast}


def timed(evaluate: Callable[[], Any]) -> np.ndarray:
    """The CPU time and the elapsed time, s."""
    began = np.array([time.process_time(), time.perf_counter()])
    with contextlib.redirect_stdout(io.StringIO()):
        evaluate()
    return np.array([time.process_time(), time.perf_counter()]) - began


def report_warm(truth: Path, results: Path, kind: str, rounds: int, agreed: bool) -> None:
    """Compares the engines' numbers unless they have agreed before, and prints the ratios of their times."""
    names = TIMED if agreed else tuple(ENGINES)
    with contextlib.redirect_stdout(io.StringIO()):
        loaded = {name: ENGINES[name](truth, results, kind) for name in names}
        numbers = {name: np.where(np.isnan(of := evaluate()), -1, of) for name, evaluate in loaded.items()}
    for name, values in numbers.items():
        assert np.allclose(values, numbers[names[-1]], atol=1e-9), f"{name}: {values}"
    print(f"  warm, all equal: AP {numbers[names[0]][0]:.4f}")
    print_ratios({name: [timed(loaded[name]) for _ in range(rounds)] for name in TIMED})


def report_whole(truth: Path, results: Path, rounds: int) -> None:
    """Prints the ratios of the times of whole processes, and their peak memory."""
    print("  whole processes, from files")
    runs: dict[str, list[np.ndarray]] = {name: [] for name in TIMED}
    for number in range(rounds + 1):  # the first one compiles modules, and reads all from disk
        for name in TIMED:
            run = whole(name, truth, results)
            runs[name] += [run] if number else []
    print_ratios({name: [run[:2] for run in of] for name, of in runs.items()})
    print(
        "  at most "
        + ", ".join(f"{statistics.median(run[2] for run in of):.0f} MB {name}" for name, of in runs.items())
    )


def alone(name: str, truth: Path, results: Path) -> None:
    """Evaluates files of boxes with one engine, as a process of its own does."""
    if name == "spotgeo_frames":
        from spotgeo_frames.cli.app import run

        run(["ap", str(truth), str(results), "--json"])
    else:
        ENGINES[name](truth, results, "boxes")()


def whole(name: str, truth: Path, results: Path) -> np.ndarray:
    """The CPU time and elapsed time (s) and the peak memory (MB) of a process that only runs this engine."""
    began = time.perf_counter()
    words = [sys.executable, __file__, str(truth), str(results), "--only", name]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    return np.array([float(told[-2]), time.perf_counter() - began, float(told[-1])])


def print_ratios(times: dict[str, list[np.ndarray]]) -> None:
    """Prints the median times, and by how much spotgeo_frames takes longer, round by round."""
    for name, of in times.items():
        pairs = zip(times["spotgeo_frames"], of, strict=True)
        ratio, seconds = np.median([first / other for first, other in pairs], axis=0), np.median(of, axis=0)
        print(
            f"    {name:16}{seconds[0]:9.4f} s CPU{seconds[1]:9.4f} s"
            f"   spotgeo_frames {ratio[0]:.2f} times the CPU time, {ratio[1]:.2f} times the time"
        )


def report_protocols(truth: Path, results: Path, rounds: int) -> None:
    """Prints how much longer `protocols` takes than one `average_precision`, where every protocol of boxes applies."""
    import pandas as pd

    import spotgeo_frames as sf

    known, found = sf.read_coco(truth, results, boxes=True)
    names = known.objects["category"].cat.categories
    lists = {
        "negative_categories": [[*names]] * len(known.frames),
        "not_exhaustive_categories": [[]] * len(known.frames),
    }
    categories = pd.DataFrame({"category": names, "frequency": [*"rcf" * len(names)][: len(names)], "parent": None})
    known = known._replace(frames=known.frames.assign(**lists), categories=categories)
    n_protocols = int(sf.protocols(known, found)["AP"].notna().sum())
    calls = {"one": lambda: sf.average_precision(known, found), "all": lambda: sf.protocols(known, found)}
    times = [{name: timed(call)[0] for name, call in calls.items()} for _ in range(rounds)]
    ratio = statistics.median(of_round["all"] / of_round["one"] for of_round in times)
    print(f"{n_protocols} protocols: {ratio:.2f} times one average_precision")


def pin(n_cores: int) -> None:
    """Has this process, and those that it starts, run on so many cores."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n_cores])


def report(options: argparse.Namespace, folder: Path) -> None:
    """Prints everything, on the first of the cores that are asked for."""
    n_cores = options.cores[0]
    pin(n_cores)
    n_images = 34_000 if options.large else options.images
    boxes = options.files or made_up(folder, n_images, options.classes)
    print(f"{n_cores} cores" if n_cores > 1 else "1 core")
    report_warm(*boxes, "boxes", options.rounds, options.large)
    report_whole(*boxes, options.rounds)
    print("  small poses")
    report_warm(*made_up_poses(folder), "poses", 5 * options.rounds, options.large)
    if n_cores == 1:
        report_protocols(*boxes, options.rounds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="COCO's annotations and results")
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--classes", type=int, default=80)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--large", action="store_true", help="2 million detections")
    parser.add_argument("--only", choices=[*ENGINES], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        with contextlib.redirect_stdout(io.StringIO()):
            alone(options.only, *options.files)
        # getrusage would begin with the memory of the process that started this one.
        status = Path("/proc/self/status").read_text()
        print(time.process_time(), int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024)  # type: ignore[index]
    elif len(options.cores) > 1:  # a process each, since libraries count the cores when they are loaded
        for n_cores in options.cores:
            threads = dict.fromkeys(("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(n_cores))
            subprocess.run([sys.executable, *sys.argv, "--cores", str(n_cores)], check=True, env=os.environ | threads)
    else:
        with tempfile.TemporaryDirectory() as folder:
            # An installed package has its modules compiled, whatever this environment says.
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
            os.environ["PYTHONPYCACHEPREFIX"] = folder
            report(options, Path(folder))
