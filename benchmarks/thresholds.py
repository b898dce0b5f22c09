"""What a score threshold that was chosen on the same data is worth: `sweep` held against the truth, by simulation.

    python benchmarks/thresholds.py [--replicates 1000]

Each population draws sequences of scored predictions. `sweep` chooses a threshold from some of them; the truth is the
f1 at that threshold of 200,000 other sequences. The apparent f1 and the cross-validated one are to be near it on
average, and 95% intervals are to hold it in 95% of cases. Seeded: the figures come out the same each time.
docs/uncertainty.md has them.
"""

import argparse
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

import spotgeo_frames as sf

SIZES = (5, 10, 20, 60)
N_TRUE = 200_000


class Population(NamedTuple):
    """Sequences of `n_objects` truths on average and as many false alarms.

    `size`, `hard` and `shift` are the standard deviations between sequences of the logarithm of their size, of the
    logit of recall, and of the scores. Of `good` sequences all truths are found and nearly nothing else is.
    """

    n_objects: float
    size: float = 0.0
    hard: float = 0.5
    shift: float = 0.3
    good: float = 0.0


POPULATIONS = {
    "small": Population(4),
    "even": Population(10),
    "shifted": Population(4, hard=1.0, shift=1.0),
    "uneven": Population(10, size=1.2, shift=0.5),
    "rare": Population(10, good=0.9),
}


class Drawn(NamedTuple):
    """The count of truths of each sequence; and of each prediction its sequence, its score and whether it is a hit."""

    n_truth: np.ndarray
    sequence: np.ndarray
    score: np.ndarray
    hit: np.ndarray


def draw(population: Population, random: np.random.Generator, n: int) -> Drawn:
    """Draws n sequences."""
    n_objects, size, hard, shift, good = population
    mean = n_objects * np.exp(random.normal(0, size, n))
    n_truth = random.poisson(mean)
    found = random.binomial(n_truth, expit(2 + random.normal(0, hard, n)))
    false = random.poisson(mean * np.exp(random.normal(0, 0.5, n)))
    is_good = random.random(n) < good
    found, false = np.where(is_good, n_truth, found), np.where(is_good, random.binomial(1, 0.1, n), false)
    sequence = np.repeat(np.tile(np.arange(n), 2), np.concatenate([found, false]))
    hit = np.arange(len(sequence)) < found.sum()
    score = expit(np.where(hit, 1, -1) + random.normal(0, 1, len(sequence)) + random.normal(0, shift, n)[sequence])
    return Drawn(n_truth, sequence, score, hit)


def tables(drawn: Drawn) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Truth and predictions: the hits lie on truths, false alarms far away."""

    def objects(sequence: np.ndarray, y: float) -> pd.DataFrame:
        rows = pd.DataFrame({"sequence": sequence, "frame": 1})
        order = rows.groupby("sequence").cumcount()
        return rows.assign(object=order + int(y), x=50.0 * order, y=y)

    hits, others = (objects(drawn.sequence[of], y) for of, y in ((drawn.hit, 0.0), (~drawn.hit, 5000.0)))
    scores = np.concatenate([drawn.score[drawn.hit], drawn.score[~drawn.hit]])
    truth = objects(np.repeat(np.arange(len(drawn.n_truth)), drawn.n_truth), 0.0)
    return truth, pd.concat([hits, others], ignore_index=True).assign(score=scores)


def true_f1(drawn: Drawn) -> Callable[[np.ndarray], np.ndarray]:
    """A function from thresholds to f1 at them."""
    order = np.argsort(drawn.score)
    left = [np.append(np.cumsum(of[order][::-1])[::-1], 0) for of in (drawn.hit, ~drawn.hit)]

    def f1(thresholds: np.ndarray) -> np.ndarray:
        tp, fp = (of[np.searchsorted(drawn.score[order], thresholds)] for of in left)
        return 2 * tp / (tp + fp + drawn.n_truth.sum())

    return f1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=1000)
    replicates = parser.parse_args().replicates
    print(f"f1 of the chosen threshold, {replicates:,} replicates; apparent and cross-validated: minus the true one")
    print(f"  {'population':12}{'sequences':>10}{'apparent':>12}{'cross-validated':>18}{'95% intervals hold':>20}")
    for name, population in POPULATIONS.items():
        f1 = true_f1(draw(population, np.random.default_rng(99), N_TRUE))
        for n in SIZES:
            drawn = (draw(population, np.random.default_rng([seed, n]), n) for seed in range(replicates))
            best = pd.concat([sf.sweep(*tables(of)).best for of in drawn], ignore_index=True)
            true = f1(best["score_threshold"].to_numpy())
            validated, low, high = (best[f"f1_cross_validated{end}"] for end in ("", "_low", "_high"))
            apart = [(of - true).mean() for of in (best["f1"], validated)]
            held = ((low <= true) & (true <= high)).mean()
            print(f"  {name:12}{n:10}{apart[0]:+12.3f}{apart[1]:+18.3f}{held:20.1%}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
