"""Detection limits held against the truth: do their intervals keep 95%, and are curves called bent that are not?

    python benchmarks/limits.py [--replicates 2000] [--only coverage bends ceilings speed]

Sequences are drawn from processes whose curve of recall is known, from a fit to very many. Sequences differ in how hard
they are, and the truths of one share that. The naive interval, beside ours, takes all truths as independent. Seeded:
the shares come out the same each time. docs/uncertainty.md has them.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit

import spotgeo_frames as sf
from spotgeo_frames.tables.schema import OUTCOMES

SIZES = (5, 10, 20, 60)
MANY = 100_000  # sequences that stand for all


class Population(NamedTuple):
    """Sequences whose truths have a normal value, of variance 1, and a logit of recall that is a function of it.

    `unlike` is the standard deviation of the sequences' difficulty, in logits; `uneven` that of the logarithm of their
    sizes; `shared` the share of the values' variance that lies between sequences. `column` makes of the value what the
    table has of it.
    """

    logit_of: Callable[[np.ndarray], np.ndarray]
    unlike: float = 1.0
    uneven: float = 1.0
    shared: float = 0.0
    column: Callable[[np.ndarray], np.ndarray] = np.positive

    def draw(self, random: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The sequence, the value and whether it was found, of each truth of n sequences."""
        size = 1 + random.poisson(12 * np.exp(random.normal(0, self.uneven, n)))
        sequence = np.repeat(np.arange(n), size)
        of_sequence, difficulty = random.normal(0, np.sqrt(self.shared), n), random.normal(0, self.unlike, n)
        value = of_sequence[sequence] + random.normal(0, np.sqrt(1 - self.shared), len(sequence))
        found = random.random(len(sequence)) < expit(self.logit_of(value) - difficulty[sequence])
        return sequence, self.column(value), found


LOGISTIC: Mapping[str, Population] = {
    "even": Population(lambda x: 1 + 1.5 * x, unlike=0.6, uneven=0.0),
    "uneven": Population(lambda x: 1 + 1.5 * x),
    "falling": Population(lambda x: 1 - 1.5 * x),
    "steep": Population(lambda x: 0.5 + 5 * x),
    "weak": Population(lambda x: 1 + 0.6 * x),
    "few missed": Population(lambda x: 3 + x),
    "alike in a sequence": Population(lambda x: 1 + 1.5 * x, shared=0.99),
    "long tail": Population(lambda x: 1.5 * np.exp(x) - 1, column=np.exp),
}
BENT: Mapping[str, Population] = {
    "in the logarithm": Population(lambda x: 0.5 + 2 * x, column=np.exp),
    "in the logarithm, 0.25": Population(lambda x: 0.5 + 2 * x, column=lambda x: np.exp(x / 4)),
    "at most 80%": Population(lambda x: logit(0.8 * expit(1 + 3 * x)), unlike=0.6),
    "best in the middle": Population(lambda x: 2 - x**2, unlike=0.6),
}


def drawn(population: Population, seed: list[int], n: int, replicates: int) -> tuple[pd.DataFrame, pd.Series]:
    """A match table of n sequences for each replicate, and the replicate of each row."""
    sequence, value, found = population.draw(np.random.default_rng(seed), n * replicates)
    outcome = pd.Categorical.from_codes(np.where(found, 0, 1), OUTCOMES)
    table = {"sequence": sequence, "frame": 1, "outcome": outcome, "distance": np.nan, "squared_error": 0.0}
    matches = pd.DataFrame(table | {"kelvins_error": 0.0, "truth_value": value})
    return matches, pd.Series(sequence // n, name="replicate")


def naive(matches: pd.DataFrame, replicate: np.ndarray, limits: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """The intervals of the same limits by the delta method, with all truths taken as independent."""
    value, curves = matches["truth_value"].to_numpy(), limits.iloc[::2]
    recall = expit(curves["intercept"].to_numpy()[replicate] + curves["slope"].to_numpy()[replicate] * value)
    powers = [np.bincount(replicate, recall * (1 - recall) * value**k).repeat(2) for k in range(3)]
    at = (logit(limits["recall"]) - limits["intercept"]) / limits["slope"]
    variance = (powers[2] - 2 * at * powers[1] + at**2 * powers[0]) / (powers[0] * powers[2] - powers[1] ** 2)
    reach = 1.96 * np.sqrt(variance) / limits["slope"].abs()
    return limits["estimate"] - reach, limits["estimate"] + reach


def coverage(replicates: int) -> None:
    """How often limits are told, and how often those told hold the true limit: ours, and naive intervals."""
    print(
        f"Limits told, of these 95% intervals that hold the true one, and naive ones that do; {replicates:,} replicates"
    )
    print(f"  {'population':22}{'n':>4}{'at 50%':>26}{'at 90%':>26}")
    for name, population in LOGISTIC.items():
        many, _ = drawn(population, [99], MANY, 1)
        true = np.tile(sf.detection_limit(many, "truth_value").limits["estimate"], replicates)
        for n in SIZES:
            matches, replicate = drawn(population, [1, n], n, replicates)
            limits = sf.detection_limit(matches, "truth_value", by=replicate).limits
            told = limits["low"].notna() | limits["high"].notna()
            held = ~(limits["low"] > true) & ~(limits["high"] < true)
            low, high = naive(matches, replicate.to_numpy(), limits)
            shares = [
                (told[of].mean(), held[of & told].mean(), ((low <= true) & (true <= high))[of & told].mean())
                for of in (limits["recall"] == 0.5, limits["recall"] == 0.9)
            ]
            print(
                f"  {name:22}{n:4}" + "".join("{:10.1%}{:8.1%}{:8.1%}".format(*share) for share in shares), flush=True
            )


def bends(replicates: int) -> None:
    """How often `bend_p_value` is at most 0.05: of logistic curves, where 5% may be, and of others."""
    print(
        f"bend_p_value of at most 0.05, {replicates:,} replicates\n  {'curve':22}" + "".join(f"{n:>8}" for n in SIZES)
    )
    for name, population in {**LOGISTIC, **BENT}.items():
        shares = []
        for n in SIZES:
            matches, replicate = drawn(population, [2, n], n, replicates)
            limits = sf.detection_limit(matches, "truth_value", by=replicate).limits
            shares.append((limits["bend_p_value"].dropna() <= 0.05).mean())
        print(f"  {name:22}" + "".join(f"{share:8.1%}" for share in shares), flush=True)


CEILINGS: Mapping[str, Population] = {
    "at most 80%": Population(lambda x: logit(0.8 * expit(1 + 3 * x)), unlike=0.6),
    "at most 85%": Population(lambda x: logit(0.85 * expit(1 + 3 * x)), unlike=0.6),
    "at most 85%, all alike": Population(lambda x: logit(0.85 * expit(1 + 3 * x)), unlike=0.0, uneven=0.0),
    "at most 85%, slowly": Population(lambda x: logit(0.85 * expit(1 + 1.5 * x)), unlike=0.6),
}


def ceilings(replicates: int) -> None:
    """How often recall is said to level off below 90%: of logistic curves, where it does not, and of others."""
    print(
        f"recall is said not to reach 90%, {replicates:,} replicates\n  {'curve':22}"
        + "".join(f"{n:>8}" for n in SIZES)
    )
    for name, population in {**LOGISTIC, **CEILINGS}.items():
        shares = []
        for n in SIZES:
            matches, replicate = drawn(population, [4, n], n, replicates)
            limits = sf.detection_limit(matches, "truth_value", by=replicate).limits
            reason = limits.loc[limits["recall"] == 0.9, "reason"]
            shares.append(reason.str.contains("does not go beyond").fillna(False).mean())
        print(f"  {name:22}" + "".join(f"{share:8.1%}" for share in shares), flush=True)


def speed(_: int) -> None:
    """5,120 sequences in one group, and in a group each."""
    matches, _ = drawn(LOGISTIC["even"], [3], 5120, 1)
    for by in (None, "sequence"):
        began = time.perf_counter()
        sf.detection_limit(matches, "truth_value", by=by)
        print(f"5,120 sequences, {len(matches):,} truths, by={by}: {time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    parts: dict[str, Callable[[int], None]]
    parts = {"speed": speed, "coverage": coverage, "bends": bends, "ceilings": ceilings}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--only", nargs="*", choices=list(parts))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, part in parts.items():
        if not options.only or name in options.only:
            part(options.replicates)
