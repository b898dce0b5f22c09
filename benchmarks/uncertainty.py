"""Intervals and p-values held against the truth, by simulation from a known process; and how fast they are.

    python benchmarks/uncertainty.py [--replicates 2000]

Sequences differ: each has its own chance of finding an object and its own rate of false alarms, so that what happens
in one sequence is not independent. The true F1 of the process is known. Of the intervals of 200 sequences each, 95% are
to hold it. Of two independent runs of one detector on one truth, no difference is real, so that p-values of at most x
are to occur in a share of at most x. Seeded: the shares come out the same each time. docs/uncertainty.md has them.
"""

import argparse
import resource
import statistics
import time

import numpy as np
import pandas as pd
from tqdm import tqdm

import spotgeo_frames as sf
from spotgeo_frames.tables.schema import OUTCOMES

N_SEQUENCES, N_FRAMES = 200, 5
TRUTHS, ALARMS = 8.0, 2.0  # a sequence, on average
FOUND = 4.0, 2.0  # of the Beta distribution of the chance to find an object
TRUE_F1 = 2 * (TRUTHS * 2 / 3) / (TRUTHS * 2 / 3 + ALARMS + TRUTHS)


class Scene:
    """One truth, and how hard each of its sequences is."""

    def __init__(self, random: np.random.Generator, n_sequences: int = N_SEQUENCES):
        self.random = random
        self.n_truth = random.poisson(TRUTHS, n_sequences)
        self.chance = random.beta(*FOUND, n_sequences)
        self.rate = random.gamma(1.0, ALARMS, n_sequences)

    def run(self) -> pd.DataFrame:
        """The match table of one run of the detector."""
        n_found = self.random.binomial(self.n_truth, self.chance)
        n_alarms = self.random.poisson(self.rate)
        parts = [("TP", n_found), ("FN", self.n_truth - n_found), ("FP", n_alarms), ("empty", np.ones_like(n_found))]
        sequence = np.concatenate([np.repeat(np.arange(len(counts)), counts) for _, counts in parts])
        outcome = np.concatenate([np.full(counts.sum(), OUTCOMES.index(kind)) for kind, counts in parts])
        distance = np.where(outcome == 0, self.random.uniform(0, 10, len(outcome)), np.nan)
        error = np.where(outcome == 0, distance**2, np.where(outcome == 3, np.nan, 100.0))
        table = {"sequence": sequence, "frame": 1, "outcome": pd.Categorical.from_codes(outcome, OUTCOMES)}
        table |= {"distance": distance, "squared_error": error, "kelvins_error": error}
        return pd.DataFrame(table).sort_values("sequence", kind="stable", ignore_index=True)


def coverage(replicates: int) -> None:
    held = {"percentile": 0, "bca": 0}
    for seed in tqdm(range(replicates), "coverage", leave=False):
        matches = Scene(np.random.default_rng([seed, 1])).run()
        for method in held:
            [row] = sf.intervals(matches, metrics=["f1"], resamples=2000, method=method, seed=seed).to_dict("records")
            held[method] += row["low"] <= TRUE_F1 <= row["high"]
    for method, number in held.items():
        print(
            f"95% intervals by {method:10} hold the true F1 in {number / replicates:.1%} of {replicates:,} replicates"
        )


def null_p_values(replicates: int) -> None:
    found = []
    for seed in tqdm(range(replicates), "p-values", leave=False):
        scene = Scene(np.random.default_rng([seed, 2]))
        _, pairs = sf.compare({"a": scene.run(), "b": scene.run()}, metrics=["f1"], resamples=2000, seed=seed)
        found.append(pairs["p_value"].iloc[0])
    for level in (0.01, 0.05, 0.1, 0.5):
        share = np.mean(np.array(found) <= level)
        print(f"p-values of equal detectors: at most {level:4} in {share:.1%} of {replicates:,} replicates")


def speed() -> None:
    """10,000 resamples of 5,120 sequences, against summarize on tables resampled by their rows."""
    matches = Scene(np.random.default_rng(3), 5120).run()
    rows = np.split(np.arange(len(matches)), np.flatnonzero(np.diff(matches["sequence"])) + 1)
    random = np.random.default_rng(0)
    each, making = [], []
    for _ in range(20):
        drawn = random.integers(0, len(rows), len(rows))
        began = time.perf_counter()
        table = matches.iloc[np.concatenate([rows[k] for k in drawn])]
        names = np.repeat(np.arange(len(rows)), [len(rows[k]) for k in drawn])
        resampled = table.assign(sequence=names).reset_index(drop=True)
        making.append(time.perf_counter() - began)
        began = time.perf_counter()
        sf.summarize(resampled)
        each.append(time.perf_counter() - began)
    ours = []
    for _ in range(5):
        began = time.perf_counter()
        sf.intervals(matches, metrics=["f1", "mse"])
        ours.append(time.perf_counter() - began)
    mine, alone, whole = (statistics.median(values) for values in (ours, each, np.add(each, making)))
    print(f"10,000 resamples of 5,120 sequences: {mine:.2f} s")
    print(f"  summarize on as many tables: {1e4 * alone:.0f} s, {1e4 * alone / mine:.0f} times as long")
    print(f"  making these tables, too: {1e4 * whole:.0f} s, {1e4 * whole / mine:.0f} times as long")
    print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=2000)
    replicates = parser.parse_args().replicates
    speed()
    coverage(replicates)
    null_p_values(replicates)
