"""Intervals of `bias` held against the true offset: do they keep 95%?

    python benchmarks/offsets.py [--replicates 1000]

Sequences are drawn whose points lie off by an offset of their sequence and noise of their own. The true offset is that
of all sequences, each weighted by its true positives. Beside the intervals of `bias` stand the quantiles of 1,000
bootstrap samples of sequences. Seeded: the shares come out the same each time. docs/uncertainty.md has them.
"""

import argparse
import warnings
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

import spotgeo_frames as sf
from spotgeo_frames.tables.schema import OUTCOMES

SIZES = (5, 7, 10, 20, 60)
MANY = 300_000  # sequences that stand for all
RESAMPLES = 1000


class Population(NamedTuple):
    """Sequences of about 12 true positives.

    `uneven` is the standard deviation of the logarithm of their sizes, and `offset` draws the offsets (px) of sequences
    from their sizes, as multiples of the usual one.
    """

    uneven: float
    offset: Callable[[np.random.Generator, np.ndarray], np.ndarray]


POPULATIONS: Mapping[str, Population] = {
    "even": Population(0.0, lambda random, size: random.normal(0.5, 1, len(size))),
    "uneven": Population(0.8, lambda random, size: random.normal(0.5, 1, len(size))),
    "larger is worse": Population(0.8, lambda random, size: random.normal(0.5, 1, len(size)) * np.sqrt(size)),
    "skewed": Population(0.5, lambda random, size: random.exponential(1, len(size))),
    "frames alone": Population(0.8, lambda random, size: np.full(len(size), 0.5)),
    "one in ten": Population(0.3, lambda random, size: 3.0 * (random.random(len(size)) < 0.1)),
}


def drawn(population: Population, seed: list[int], n: int) -> tuple[np.ndarray, np.ndarray]:
    """How many true positives n sequences have, and the sums of their offsets (px)."""
    random = np.random.default_rng(seed)
    size = np.exp(random.normal(0, population.uneven, n))
    count = 1 + random.poisson(11 * size)
    return count, count * population.offset(random, size) + random.normal(0, 1, n) * np.sqrt(count)


def match_table(count: np.ndarray, total: np.ndarray) -> pd.DataFrame:
    """A match table whose true positives all lie off by the mean offset of their sequence, in x."""
    sequence = np.repeat(np.arange(len(count)), count)
    off = (total / count)[sequence]
    row = np.arange(len(sequence))
    table = {"sequence": sequence, "frame": 1, "outcome": pd.Categorical.from_codes(row * 0, OUTCOMES)}
    table |= {"distance": np.abs(off), "squared_error": 0.0, "kelvins_error": 0.0, "truth_object": row}
    table |= {"predicted_object": row, "truth_x": 1000.0 * row, "truth_y": 0.0}
    table |= {"predicted_x": 1000.0 * row + off, "predicted_y": 0.0}
    return pd.DataFrame(table | {"frame_n_truth": count[sequence], "frame_n_predicted": count[sequence]})


def quantiles(random: np.random.Generator, count: np.ndarray, total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The percentile bootstrap's intervals of counts and sums (replicates, n)."""
    n = count.shape[1]
    ends = []
    for of, sums in zip(count, total, strict=True):
        taken = random.integers(0, n, (RESAMPLES, n))
        ends.append(np.quantile(sums[taken].sum(axis=1) / of[taken].sum(axis=1), [0.025, 0.975]))
    return tuple(np.transpose(ends))


def coverage(replicates: int) -> None:
    print(f"95% intervals that hold the true offset, {replicates:,} replicates")
    print(f"  {'population':18}{'n':>4}{'given':>9}{'hold':>9}{'percentile':>12}{'width':>8}")
    for of_population, (name, population) in enumerate(POPULATIONS.items()):
        count, total = drawn(population, [99, of_population], MANY)
        true = total.sum() / count.sum()
        for n in SIZES:
            count, total = drawn(population, [1, of_population, n], n * replicates)
            table = match_table(count, total)
            replicate = pd.Series(table["sequence"] // n, name="replicate")
            found = sf.bias(table, by=replicate, tau=1e4, epsilon=1)
            found = found[found["metric"] == "dx"]
            given = found["low"].notna()
            held = ((found["low"] <= true) & (true <= found["high"]))[given].mean()
            low, high = quantiles(np.random.default_rng([2, n]), count.reshape(-1, n), total.reshape(-1, n))
            width = (found["high"] - found["low"]).median() / np.median(high - low)
            of_quantiles = np.mean((low <= true) & (true <= high))
            print(f"  {name:18}{n:4}{given.mean():9.1%}{held:9.1%}{of_quantiles:12.1%}{width:8.2f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=1000)
    warnings.simplefilter("ignore")
    coverage(parser.parse_args().replicates)
