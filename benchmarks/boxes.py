"""Boxes: `sweep` over 200 score thresholds and `diagnose`, against one `match` of the same boxes.

    python benchmarks/boxes.py

A detector that finds most of 100,000 boxes, some twice, and claims some where nothing is, makes as many predictions.
Sweeps are checked at some thresholds against `match` of the predictions that are left before anything is timed, and the
kinds of error against the counts of errors. All steps are timed in turn, and the least processor time of several rounds
counts. `sweep` is to take at most four times as long as `match`, and `diagnose` at most twice as long.
"""

import resource
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

import spotgeo_frames as sf

N_BOXES, IN_FRAME = 100_000, 20
WIDTH, HEIGHT = 1920, 1080
CHECKED = 5
ROUNDS = 7


class Scene:
    """Boxes in so many sequences, the words of a rule, and what is timed: the truth and the scored predictions."""

    def __init__(self, name: str, n_sequences: int, width: int = WIDTH, words: Mapping[str, Any] | None = None):
        random = np.random.default_rng(18)
        self.name, self.words = name, words or {}
        frame = np.repeat(np.arange(N_BOXES // IN_FRAME), IN_FRAME)
        truth = pd.DataFrame({"frame": frame, "object": np.arange(N_BOXES), **places(random, N_BOXES, width)})
        parts = []
        for chance, error, scores in ((0.85, 3.0, (5, 2)), (0.1, 5.0, (2, 3))):  # most are found, some once more
            found = truth[random.random(N_BOXES) < chance]
            moved = {axis: found[axis] + random.normal(0, error, len(found)) for axis in "xy"}
            parts.append(found.assign(**moved, score=random.beta(*scores, len(found))))
        n_false = N_BOXES - sum(map(len, parts))
        claimed = {"frame": random.choice(frame, n_false), **places(random, n_false, width)}
        parts.append(pd.DataFrame(claimed | {"score": random.beta(2, 4, n_false)}))
        predictions = pd.concat(parts, ignore_index=True).assign(object=np.arange(N_BOXES))
        self.truth, self.predictions = (
            side.assign(sequence=side["frame"] * n_sequences // (frame[-1] + 1)).sort_values("frame", ignore_index=True)
            for side in (truth, predictions)
        )

    def match(self) -> pd.DataFrame:
        return sf.match(self.truth, self.predictions, **self.words)

    def sweep(self) -> sf.Sweep:
        return sf.sweep(self.truth, self.predictions, **self.words)

    def match_above(self, score: float) -> dict[str, Any]:
        """The summary of the predictions with at least this score, matched by themselves."""
        left = self.predictions[self.predictions["score"] >= score]
        [row] = sf.summarize(sf.match(self.truth, left, **self.words)).to_dict("records")
        return row

    def check(self) -> None:
        """Ends the benchmark unless the sweep and the kinds of error are right."""
        curve = self.sweep().curve
        for row in curve.iloc[:: len(curve) // CHECKED].to_dict("records"):
            wanted = self.match_above(row["score_threshold"])
            if not np.allclose(*([of[name] for name in curve if name in wanted] for of in (row, wanted))):
                raise SystemExit(f"{self.name}: the sweep differs from match at {row['score_threshold']}")
        matches = self.match()
        if sf.diagnose(matches)["kind"].notna().sum() != matches["outcome"].isin(["FN", "FP"]).sum():
            raise SystemExit(f"{self.name}: the kinds do not add up to the errors")


def places(random: np.random.Generator, count: int, width: int) -> dict[str, np.ndarray]:
    sizes = {side: random.uniform(20, 120, count) for side in "wh"}
    return {"x": random.uniform(0, width, count), "y": random.uniform(0, HEIGHT * width / WIDTH, count)} | sizes


def seconds(function: Callable[[], object]) -> float:
    began = time.process_time()
    function()
    return time.process_time() - began


def main() -> None:
    print(f"spotgeo_frames {sf.__version__}, {N_BOXES:,} boxes and as many predictions, processor time")
    for scene in (
        Scene("boxes", 500),
        Scene("crowded boxes", 500, WIDTH // 3),
        Scene("centres of boxes, by distance", 500, words={"tau": 10.0}),
        Scene("boxes of 5,000 sequences", 5000),
    ):
        scene.check()
        matches = scene.match()
        steps: dict[str, Callable[[], object]] = {
            "match": scene.match,
            "sweep, 200 score thresholds": scene.sweep,
            "diagnose": lambda table=matches: sf.diagnose(table),
            "match above the median score": lambda of=scene: of.match_above(of.predictions["score"].median()),
        }
        times = [{name: seconds(step) for name, step in steps.items()} for _ in range(ROUNDS)]
        least = {name: min(of[name] for of in times) for name in steps}
        print(scene.name)
        for name, taken in least.items():
            print(f"  {name:30}{1000 * taken:8.0f} ms  {taken / least['match']:6.2f} times match")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MiB, the making of the data included")


if __name__ == "__main__":
    main()
