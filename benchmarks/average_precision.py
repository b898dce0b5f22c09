"""Times average precision of boxes: this project, pycocotools and hotcoco, in one run.

    python benchmarks/average_precision.py [--images 5000] [--classes 80] [--rounds 3]
    python benchmarks/average_precision.py TRUTH.json RESULTS.json

The engines have to agree first, in all twelve numbers. Then they are timed in turn, from what each has in memory when
it has read the files (this project: two tables) to the numbers: pycocotools' and hotcoco's `evaluate` and `accumulate`,
and `average_precision`. The median of the ratios is what counts, since machines drift. Peak memory is that of a process
of its own for each, reading and imports included. Last, the table of all protocols is timed against one of them.
"""

import argparse
import contextlib
import io
import json
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

NUMBERS = ["AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl"]


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


def ours(truth: Path, results: Path) -> Callable[[], Any]:
    import spotgeo_frames as sf

    sides = sf.read_coco(truth, results, boxes=True)
    return lambda: sf.average_precision(*sides).summary[NUMBERS].iloc[0].to_numpy()


def pycocotools(truth: Path, results: Path) -> Callable[[], Any]:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    known = COCO(str(truth))
    return _evaluated(COCOeval, known, known.loadRes(str(results)))


def hotcoco(truth: Path, results: Path) -> Callable[[], Any]:
    from hotcoco import COCO, COCOeval

    known = COCO(str(truth))
    return _evaluated(COCOeval, known, known.load_res(str(results)))


def _evaluated(evaluator: Any, known: Any, found: Any) -> Callable[[], Any]:
    def evaluate() -> Any:
        evaluation = evaluator(known, found, "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        return np.array(evaluation.stats)

    return evaluate


ENGINES = {"spotgeo_frames": ours, "pycocotools": pycocotools, "hotcoco": hotcoco}


def timed(evaluate: Callable[[], Any]) -> float:
    began = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        evaluate()
    return time.perf_counter() - began


def report(truth: Path, results: Path, rounds: int) -> None:
    """Compares the engines' numbers, and prints the ratios of their times, and their peak memory."""
    with contextlib.redirect_stdout(io.StringIO()):
        loaded = {name: engine(truth, results) for name, engine in ENGINES.items()}
        numbers = {name: np.where(np.isnan(of := evaluate()), -1, of) for name, evaluate in loaded.items()}
    for name, values in numbers.items():
        assert np.allclose(values, numbers["pycocotools"], atol=1e-9), f"{name}: {values}"
    print(f"equal: AP {numbers['pycocotools'][0]:.4f}")
    times = [{name: timed(evaluate) for name, evaluate in loaded.items()} for _ in range(rounds)]
    for name in ENGINES:
        ratio = statistics.median(of_round[name] / of_round["spotgeo_frames"] for of_round in times)
        seconds = statistics.median(of_round[name] for of_round in times)
        print(
            f"{name:16}{seconds:8.2f} s{ratio:8.2f} times spotgeo_frames{_peak(name, truth, results):8.0f} MB at most"
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
    times = [{name: timed(call) for name, call in calls.items()} for _ in range(rounds)]
    ratio = statistics.median(of_round["all"] / of_round["one"] for of_round in times)
    print(f"{n_protocols} protocols: {ratio:.2f} times one average_precision")


def _peak(name: str, truth: Path, results: Path) -> float:
    """The peak memory (MB) of a process that only runs this engine."""
    words = [sys.executable, __file__, str(truth), str(results), "--only", name]
    return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[-1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="COCO's annotations and results")
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--classes", type=int, default=80)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=[*ENGINES], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        with contextlib.redirect_stdout(io.StringIO()):
            ENGINES[options.only](*options.files)()
        # getrusage would begin with the memory of the process that started this one.
        status = Path("/proc/self/status").read_text()
        print(int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024)  # type: ignore[index]
        sys.exit()
    with tempfile.TemporaryDirectory() as folder:
        paths = options.files or made_up(Path(folder), options.images, options.classes)
        report(*paths, options.rounds)
        report_protocols(*paths, options.rounds)
