"""Times small evaluations, of which people run thousands in a loop: warm, pinned to one core, by CPU time.

    python benchmarks/small.py [--rounds 5]

Ten rows a side are matched and summarised, tracked, and ranked by average precision; so are the poses of 40 images, and
an Accumulator takes batches of 16 images. The rivals are a loop over frames with SciPy, motrics and hotcoco. Both have
to give equal results first. Then each is called again and again in turn; the median of the rounds counts.
"""

import argparse
import contextlib
import io
import json
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from average_precision import hotcoco, made_up_poses, ours
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import spotgeo_frames as sf

N_ROWS, N_FRAMES, N_CLASSES = 10, 2, 3
TAU, EPSILON = 10.0, 3.0
N_BATCHES, BATCH_IMAGES, BATCH_TRUTHS, BATCH_DETECTIONS = 60, 16, 480, 960

# A round calls each as often as takes about so long, s.
ROUND = 0.2

# Metrics that motrics has as well, and where.
OF_MOTRICS = {
    **{name: ("hota", name.lower()) for name in ("HOTA", "DetA", "AssA", "LocA")},
    **{name: ("identity", name.lower()) for name in ("IDF1", "IDP", "IDR", "IDTP", "IDFN", "IDFP")},
}

Sides = tuple[pd.DataFrame, pd.DataFrame]
Arrays = dict[str, np.ndarray]


class Work(NamedTuple):
    """Something to time: this project's call, the rival's name and call if there is one, and how many calls it is."""

    name: str
    ours: Callable[[], Any]
    rival: str = ""
    theirs: Callable[[], Any] | None = None
    n_calls: int = 1


def key(random: np.random.Generator) -> pd.DataFrame:
    frame = np.repeat(np.arange(N_FRAMES), N_ROWS // N_FRAMES)
    columns = {"sequence": 0, "frame": frame, "object": np.arange(N_ROWS) % (N_ROWS // N_FRAMES)}
    return pd.DataFrame(columns).assign(x=random.uniform(0, 100, N_ROWS), y=random.uniform(0, 100, N_ROWS))


def moved(random: np.random.Generator, truth: pd.DataFrame) -> pd.DataFrame:
    """What a detector finds a few pixels beside the truth."""
    return truth.assign(x=truth["x"] + random.normal(0, 5, N_ROWS), y=truth["y"] + random.normal(0, 5, N_ROWS))


def boxes(random: np.random.Generator) -> Sides:
    truth = key(random).assign(w=random.uniform(20, 60, N_ROWS), h=random.uniform(20, 60, N_ROWS))
    return truth, moved(random, truth)


def ranked(random: np.random.Generator) -> Sides:
    truth, found = (side.assign(category=np.arange(N_ROWS) % N_CLASSES) for side in boxes(random))
    return truth, found.assign(score=random.permutation(N_ROWS) / N_ROWS)


def loop(truth: pd.DataFrame, predictions: pd.DataFrame) -> dict[str, float]:
    """tp, fn, fp and mse, frame by frame, as one would compute them without this project."""
    sides = [(side["frame"].to_numpy(), side[["x", "y"]].to_numpy()) for side in (truth, predictions)]
    tp = fn = fp = 0
    squared = 0.0
    for frame in np.union1d(sides[0][0], sides[1][0]):
        truths, found = (places[frames == frame] for frames, places in sides)
        costs = cdist(found, truths)
        costs[costs > TAU] = max(1000, 2 * min(costs.shape) * TAU)
        pairs = costs[linear_sum_assignment(costs)]
        distances = pairs[pairs <= TAU]
        tp, fn, fp = tp + len(distances), fn + len(truths) - len(distances), fp + len(found) - len(distances)
        squared += (distances[distances > EPSILON] ** 2).sum()
    return {"tp": tp, "fn": fn, "fp": fp, "mse": (squared + (fn + fp) * TAU**2) / (tp + fn + fp)}


def matched(sides: Sides) -> Work:
    def evaluate() -> dict[str, float]:
        return sf.summarize(sf.match(*sides, tau=TAU)).loc[0, ["tp", "fn", "fp", "mse"]].to_dict()  # type: ignore[no-any-return]

    check(evaluate(), loop(*sides))
    return Work("match, summarize", lambda: sf.summarize(sf.match(*sides, tau=TAU)), "a loop", lambda: loop(*sides))


def tracked(sides: Sides) -> Work:
    import motrics

    frames = [[of for _, of in side.groupby("frame")] for side in sides]
    lists = [
        motrics.Frames([of["object"].tolist() for of in of_side], [corners(of) for of in of_side]) for of_side in frames
    ]
    found = motrics.evaluate(*lists)
    theirs = {name: float(getattr(getattr(found, of), field)) for name, (of, field) in OF_MOTRICS.items()}
    check(sf.track(*sides).summary.iloc[-1][[*theirs]].astype(float).to_dict(), theirs)
    return Work("track", lambda: sf.track(*sides), "motrics", lambda: motrics.evaluate(*lists))


def corners(rows: pd.DataFrame) -> list[list[float]]:
    """Boxes as motrics has them: left, top, right and bottom."""
    return np.column_stack([rows["x"], rows["y"], rows["x"] + rows["w"], rows["y"] + rows["h"]]).tolist()  # type: ignore[no-any-return]


def in_coco(folder: Path, sides: Sides) -> tuple[Path, Path]:
    """The boxes of both sides as COCO's files."""
    rows = [side.rename(columns={"frame": "image_id", "category": "category_id"}) for side in sides]
    listed = [
        [
            {name: row[name] for name in ("image_id", "category_id", "score") if name in row}
            | {"bbox": [row[name] for name in "xywh"], "id": number + 1, "area": row["w"] * row["h"], "iscrowd": 0}
            for number, row in enumerate(of.to_dict("records"))
        ]
        for of in rows
    ]
    truth = {
        "images": [{"id": frame} for frame in range(N_FRAMES)],
        "categories": [{"id": number, "name": str(number)} for number in range(N_CLASSES)],
        "annotations": listed[0],
    }
    paths = folder / "boxes.json", folder / "found.json"
    for path, content in zip(paths, (truth, listed[1]), strict=True):
        path.write_text(json.dumps(content))
    return paths


def precise(folder: Path, sides: Sides) -> Work:
    theirs = silent(hotcoco)(*in_coco(folder, sides), "boxes")
    check_numbers(sf.average_precision(*sides).summary.iloc[0, :12], silent(theirs)())
    return Work("average_precision", lambda: sf.average_precision(*sides), "hotcoco", theirs)


def precise_poses(folder: Path) -> Work:
    files = made_up_poses(folder)
    mine, theirs = ours(*files, "poses"), silent(hotcoco)(*files, "poses")
    check_numbers(mine(), silent(theirs)())
    return Work("the same, poses of 40 images", mine, "hotcoco", theirs)


def batches(random: np.random.Generator) -> list[tuple[Arrays, Arrays]]:
    """Truth and predictions of each batch, as arrays."""
    made = []
    for number in range(N_BATCHES):
        sides = []
        for n_rows in (BATCH_TRUTHS, BATCH_DETECTIONS):
            frame = np.repeat(np.arange(BATCH_IMAGES), n_rows // BATCH_IMAGES) + BATCH_IMAGES * number
            places = np.hstack([random.uniform(0, 1000, (n_rows, 2)), random.uniform(20, 120, (n_rows, 2))])
            classes = random.integers(0, 10, n_rows)
            sides.append({"sequence": 0 * frame, "frame": frame, "boxes": places, "classes": classes})
        sides[1]["boxes"][::2] = sides[0]["boxes"] + random.normal(0, 3, sides[0]["boxes"].shape)
        made.append((sides[0], sides[1] | {"scores": random.random(BATCH_DETECTIONS)}))
    return made


def table(arrays: Arrays) -> pd.DataFrame:
    """The table of objects that arrays stand for."""
    named = {name: arrays[name] for name in ("sequence", "frame")} | {"object": np.arange(len(arrays["frame"]))}
    named |= dict(zip("xywh", arrays["boxes"].T.copy(), strict=True)) | {"category": arrays["classes"]}
    return pd.DataFrame(named | ({"score": arrays["scores"]} if "scores" in arrays else {}))


def accumulated(given: list[Any]) -> sf.Accumulator:
    scores = sf.Accumulator()
    for sides in given:
        scores.update(*sides)
    return scores


def accumulators(random: np.random.Generator) -> list[Work]:
    of_arrays = batches(random)
    of_tables = [(table(truth), table(found)) for truth, found in of_arrays]
    whole = [pd.concat(side, ignore_index=True) for side in zip(*of_tables, strict=True)]
    whole = [side.assign(object=np.arange(len(side))) for side in whole]
    wanted = sf.summarize(sf.match(*whole)).loc[0, ["tp", "fn", "fp", "f1"]].to_dict()
    full = accumulated(of_arrays)
    for scores in (full, accumulated(of_tables)):
        check(scores.compute().loc[0, [*wanted]].to_dict(), wanted)
    return [
        Work("Accumulator.update, tables", lambda: accumulated(of_tables), n_calls=N_BATCHES),
        Work("Accumulator.update, arrays", lambda: accumulated(of_arrays), n_calls=N_BATCHES),
        Work(f"compute after {N_BATCHES} batches", full.compute),
    ]


def check(found: dict[Any, float], wanted: dict[str, float]) -> None:
    """Ends the benchmark unless all numbers are equal but for rounding."""
    for name, value in wanted.items():
        if not np.isclose(found[name], value, rtol=1e-9, atol=1e-12):
            raise SystemExit(f"{name} is {found[name]} here, and {value} there")


def check_numbers(found: Any, wanted: Any) -> None:
    """The same of COCO's numbers, which are -1 there where they are null here."""
    numbers = np.nan_to_num(np.asarray(found, np.float64), nan=-1.0)
    check(dict(enumerate(numbers)), dict(enumerate(wanted)))  # type: ignore[arg-type]


def silent(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function without what it prints."""

    def call(*arguments: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            return function(*arguments)

    return call


def seconds(function: Callable[[], Any], n_times: int) -> float:
    """The CPU time of a call, s."""
    with contextlib.redirect_stdout(io.StringIO()):
        began = time.process_time()
        for _ in range(n_times):
            function()
        return (time.process_time() - began) / n_times


def report(work: Work, rounds: int) -> None:
    """Prints a row: the median times of a call, and of the ratios."""
    calls = [work.ours, *([] if work.theirs is None else [work.theirs])]
    often = [max(1, int(ROUND / max(seconds(call, 2), 1e-6))) for call in calls]
    times = np.array([[seconds(call, n) for call, n in zip(calls, often, strict=True)] for _ in range(rounds)])
    own = statistics.median(times[:, 0]) / work.n_calls
    text = f"{work.name:30}{1000 * own:9.3f} ms"
    if work.theirs is not None:
        ratio = statistics.median(times[:, 0] / times[:, 1])
        text += f"   {work.rival:8}{1000 * statistics.median(times[:, 1]):9.3f} ms   {ratio:6.1f} times as long here"
    print(text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    warnings.simplefilter("ignore")  # of detections that are left out
    random = np.random.default_rng(48)
    points = key(random)
    print(f"spotgeo_frames {sf.__version__}, {N_ROWS} rows a side unless a row says otherwise, CPU time of a call")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        works = [matched((points, moved(random, points))), tracked(boxes(random)), precise(folder, ranked(random))]
        for work in [*works, precise_poses(folder), *accumulators(random)]:
            report(work, rounds)


if __name__ == "__main__":
    main()
