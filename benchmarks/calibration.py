"""Whether intervals of the expected calibration error hold it, by simulation.

    python benchmarks/calibration.py [--replicates 200]

Each population draws sequences of scored detections that are right with a known chance. The truth is the expected
calibration error of 50,000 other sequences. Seeded: the figures come out the same each time. docs/uncertainty.md has
them.
"""

import argparse
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.special import ndtr

import spotgeo_frames as sf
from spotgeo_frames.tables.schema import OUTCOMES

SIZES = (20, 60, 250)
N_TRUE = 50_000

# Detections that are alike within a sequence: the correlation of their luck.
ALIKE = 0.25

# The chance of being right, by the score.
POPULATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "calibrated": lambda score: score,
    "slightly off": lambda score: np.maximum(score - 0.03, 0),
    "too sure": lambda score: score**1.5,
    "off at the top": lambda score: np.where(score > 0.9, score - 0.15, score),
}


def draw(chance: Callable[[np.ndarray], np.ndarray], random: np.random.Generator, n: int) -> pd.DataFrame:
    """The match table of n sequences with nine detections on average, uneven."""
    n_predicted = 1 + random.poisson(8 * np.exp(random.normal(-0.18, 0.6, n)))
    sequence = np.repeat(np.arange(n), n_predicted)
    score = random.beta(2, 1.2, len(sequence))
    shared, own = random.normal(size=n)[sequence], random.normal(size=len(sequence))
    right = ndtr(np.sqrt(ALIKE) * shared + np.sqrt(1 - ALIKE) * own) < chance(score)
    table = pd.DataFrame({"sequence": sequence, "frame": 1, "predicted_score": score, "distance": 0.0})
    outcome = pd.Categorical(np.where(right, "TP", "FP"), OUTCOMES)
    return table.assign(outcome=outcome, squared_error=0.0, kelvins_error=0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=200)
    replicates = parser.parse_args().replicates
    print(f"Expected calibration error in ten bins, {replicates:,} replicates")
    print(f"  {'population':16}{'sequences':>10}{'true':>8}{'estimate':>10}{'by chance':>11}{'95% intervals hold':>20}")
    for name, chance in POPULATIONS.items():
        [true] = sf.calibration(draw(chance, np.random.default_rng(99), N_TRUE)).summary["expected_calibration_error"]
        for n in SIZES:
            drawn = (draw(chance, np.random.default_rng([seed, n]), n) for seed in range(replicates))
            found = pd.concat([sf.calibration(table).summary for table in drawn])
            held = ((found["low"] <= true) & (true <= found["high"])).mean()
            means = found[["expected_calibration_error", "by_chance"]].mean()
            print(f"  {name:16}{n:10}{true:8.3f}{means.iloc[0]:10.3f}{means.iloc[1]:11.3f}{held:20.1%}", flush=True)


if __name__ == "__main__":
    main()
