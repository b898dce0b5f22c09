"""An Accumulator: 1,000 batches of 32 frames one by one, against one evaluation of all of them.

    python benchmarks/batches.py

Boxes of ten classes, as arrays of each batch and as tables. It is checked first that both ways give equal counts, and
that errors differ by rounding only. Then all steps are timed in turn, and the median of several rounds counts. Batches
of arrays are to take at most 1.5 times as long as joining them to tables and evaluating these once.
"""

import pickle
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import spotgeo_frames as sf

N_BATCHES, BATCH_FRAMES, IN_SEQUENCE = 1000, 32, 40
MOST_OBJECTS, N_CLASSES = 8, 10
WIDTH, HEIGHT = 1920, 1080
ROUNDS = 9

Arrays = dict[str, np.ndarray]


def made() -> list[tuple[Arrays, Arrays]]:
    """The truth and the predictions of each batch, as arrays."""
    random = np.random.default_rng(26)
    return [batch(random, number) for number in range(N_BATCHES)]


def batch(random: np.random.Generator, number: int) -> tuple[Arrays, Arrays]:
    """A batch whose detector finds most of the objects and claims some that are not there."""
    frame = np.repeat(np.arange(BATCH_FRAMES), random.integers(0, MOST_OBJECTS + 1, BATCH_FRAMES))
    frame += number * BATCH_FRAMES
    truth = side(frame, boxes(random, len(frame)), random.integers(0, N_CLASSES, len(frame)))
    found = random.random(len(frame)) < 0.85
    false = random.choice(frame, int(0.2 * len(frame)))
    places = truth["boxes"][found] + random.normal(0, 3, (int(found.sum()), 4))
    claimed = np.concatenate([places, boxes(random, len(false))])
    classes = np.concatenate([truth["classes"][found], random.integers(0, N_CLASSES, len(false))])
    frame = np.concatenate([frame[found], false])
    order = np.argsort(frame, kind="stable")
    return truth, side(frame[order], claimed[order], classes[order]) | {"scores": random.random(len(frame))}


def boxes(random: np.random.Generator, count: int) -> np.ndarray:
    """Boxes (count, 4): x, y, w, h in px."""
    corners = random.uniform(0, (WIDTH, HEIGHT), (count, 2))
    return np.concatenate([corners, random.uniform(20, 120, (count, 2))], axis=1)


def side(frame: np.ndarray, places: np.ndarray, classes: np.ndarray) -> Arrays:
    return {"sequence": frame // IN_SEQUENCE, "frame": frame, "boxes": places, "classes": classes}


def table(arrays: Arrays) -> pd.DataFrame:
    """The table of objects that arrays stand for."""
    columns = dict(zip("xywh", arrays["boxes"].T.copy(), strict=True))
    key = {"sequence": arrays["sequence"], "frame": arrays["frame"], "object": np.arange(len(arrays["frame"]))}
    scores = {"score": arrays["scores"]} if "scores" in arrays else {}
    return pd.DataFrame(key | columns | {"category": arrays["classes"]} | scores)


def joined(batches: list[tuple[Arrays, Arrays]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables of all batches together."""
    sides = zip(*batches, strict=True)
    truth, predictions = (
        table({key: np.concatenate([arrays[key] for arrays in of_side]) for key in of_side[0]}) for of_side in sides
    )
    return truth, predictions


def evaluated(truth: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    return sf.summarize(sf.match(truth, predictions))


def accumulated(batches: list[tuple[Any, Any]]) -> pd.DataFrame:
    scores = sf.Accumulator()
    for truth, predictions in batches:
        scores.update(truth, predictions)
    return scores.compute()


def check(found: pd.DataFrame, wanted: pd.DataFrame, how: str) -> None:
    """Ends the benchmark unless the counts are equal and the other metrics are equal but for rounding."""
    counts = [name for name in wanted if wanted[name].dtype.kind in "iu"]
    if not found[counts].equals(wanted[counts]) or not np.allclose(
        *(of.astype(float) for of in (found, wanted)), rtol=1e-12, equal_nan=True
    ):
        raise SystemExit(f"batches {how} give other metrics than one evaluation")


def main() -> None:
    batches = made()
    tables = [(table(truth), table(predictions)) for truth, predictions in batches]
    whole = joined(batches)
    wanted = evaluated(*whole)
    parts = [sf.Accumulator() for _ in range(4)]
    for number, sides in enumerate(batches):
        parts[number % 4].update(*sides)
    merged = parts[0].merge(parts[1]).merge(parts[2]).merge(parts[3])
    for how, found in (("of arrays", accumulated(batches)), ("of tables", accumulated(tables))):
        check(found, wanted, how)
    check(merged.compute(), wanted, "in four parts, merged,")
    steps: dict[str, Callable[[], object]] = {
        "one evaluation of the joined tables": lambda: evaluated(*whole),
        "arrays: joined, evaluated once": lambda: evaluated(*joined(batches)),
        "arrays: Accumulator": lambda: accumulated(batches),
        "tables: joined, evaluated once": lambda: evaluated(*map(concat, zip(*tables, strict=True))),
        "tables: Accumulator": lambda: accumulated(tables),
    }
    times = [{name: seconds(step) for name, step in steps.items()} for _ in range(ROUNDS)]
    median = {name: statistics.median(of[name] for of in times) for name in steps}
    print(f"spotgeo_frames {sf.__version__}: {N_BATCHES:,} batches of {BATCH_FRAMES} frames,")
    print(f"{len(whole[0]):,} boxes and {len(whole[1]):,} predictions in {wanted.loc[0, 'n_sequences']:,} sequences")
    once = median["one evaluation of the joined tables"]
    for name, taken in median.items():
        print(f"  {name:38}{1000 * taken:7.0f} ms  {taken / once:5.2f} times one evaluation")
    for kind in ("arrays", "tables"):
        ratio = median[f"{kind}: Accumulator"] / median[f"{kind}: joined, evaluated once"]
        print(f"  {kind}: batches take {ratio:.2f} times as long as joining them and evaluating once")
    print(f"  what an accumulator keeps: {len(pickle.dumps(merged)) / 1024:.0f} KiB")


def concat(parts: tuple[pd.DataFrame, ...]) -> pd.DataFrame:
    """The tables of one side together; objects are numbered anew, since each batch numbers its own."""
    whole = pd.concat(parts, ignore_index=True)
    return whole.assign(object=np.arange(len(whole)))


def seconds(function: Callable[[], object]) -> float:
    began = time.process_time()
    function()
    return time.process_time() - began


if __name__ == "__main__":
    main()
