"""Whether plans have the power that they promise, and whether always-valid bounds hold however often one looks.

    python benchmarks/gates.py [--replicates 400] [--only plans looks widths]

Each population draws two detectors on the same sequences, whose true difference in F1 is that of a million sequences.
Plans: pilots of 10, 20 and 40 sequences are planned with by `sample_size`, and held against how many sequences
`compare` really needs for a power of 0.8. Looks: a bound that is looked at after each of 10 or 50 batches of sequences
is wrong if it is ever above the true difference. Seeded: the shares come out the same each time. docs/uncertainty.md
has them.
"""

import argparse
import warnings
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy.special import expit, stdtrit

import spotgeo_frames as sf
from spotgeo_frames.analysis.certainty.contributions import Pair, contributions_of, pair_of
from spotgeo_frames.analysis.certainty.gates import ONE_SIDED, always_valid_reach, bound_at_all_times
from spotgeo_frames.tables.schema import OUTCOMES

METRIC, POWER = "f1", 0.8
PILOTS = (10, 20, 40)
SCHEDULES = {"10 looks, 6 to 60": range(6, 61, 6), "10 looks, 20 to 200": range(20, 201, 20)}
MANY_LOOKS = {"50 looks, 6 to 300": range(6, 301, 6)}

# tp, fn and fp (sequences, 2 detectors each), the newer detector first.
Counts = tuple[np.ndarray, np.ndarray, np.ndarray]


def counts(n_truth: np.ndarray, found: list[np.ndarray], false: list[np.ndarray]) -> Counts:
    """The counts of both detectors, from how many truths each found and its false alarms."""
    tp = np.stack(found, axis=-1)
    return tp, n_truth[..., None] - tp, np.stack(false, axis=-1)


def even(random: np.random.Generator, shape: tuple[int, ...]) -> Counts:
    """As many objects everywhere; the newer finds 5% more."""
    n_truth, chance = random.poisson(10, shape), random.beta(5, 2, shape)
    found = [random.binomial(n_truth, np.minimum(chance + more, 1)) for more in (0.05, 0.0)]
    return counts(n_truth, found, [random.poisson(1.5, shape) for _ in range(2)])


def uneven(random: np.random.Generator, shape: tuple[int, ...]) -> Counts:
    """A few sequences have most objects and are harder; the newer finds more everywhere."""
    size = random.normal(0, 1, shape)
    n_truth = 1 + random.poisson(12 * np.exp(size))
    ease = 1 - 0.5 * size + random.normal(0, 0.7, shape)
    found = [random.binomial(n_truth, expit(ease + more + random.normal(0, 0.2, shape))) for more in (0.35, 0.0)]
    return counts(n_truth, found, [random.poisson(0.15 * n_truth) for _ in range(2)])


def failing(random: np.random.Generator, shape: tuple[int, ...]) -> Counts:
    """Two versions of one detector; the newer finds nothing in 8% of sequences, and the same elsewhere."""
    n_truth = 1 + random.poisson(9, shape)
    found, false = random.binomial(n_truth, random.beta(9, 1, shape)), random.poisson(1, shape)
    return counts(n_truth, [np.where(random.random(shape) < 0.08, 0, found), found], [false, false])


def losing(random: np.random.Generator, shape: tuple[int, ...]) -> Counts:
    """Two versions of one detector; the newer loses 3% of what the older found."""
    n_truth = 1 + random.poisson(9, shape)
    found, false = random.binomial(n_truth, random.beta(9, 1, shape)), random.poisson(1, shape)
    return counts(n_truth, [random.binomial(found, 0.97), found], [false, false])


def uneven_failing(random: np.random.Generator, shape: tuple[int, ...]) -> Counts:
    """As `failing`, and a few sequences have most objects."""
    n_truth = 1 + random.poisson(12 * np.exp(random.normal(0, 1, shape)))
    found, false = random.binomial(n_truth, random.beta(9, 1, shape)), random.poisson(1, shape)
    return counts(n_truth, [np.where(random.random(shape) < 0.08, 0, found), found], [false, false])


def rare(random: np.random.Generator, shape: tuple[int, ...]) -> Counts:
    """Two equal detectors that make mistakes in one sequence of twenty each."""
    n_truth = 1 + random.poisson(9, shape)
    found = [np.where(random.random(shape) < 0.05, random.binomial(n_truth, 0.4), n_truth) for _ in range(2)]
    return counts(n_truth, found, [random.poisson(0.05, shape) for _ in range(2)])


def anywhere(random: np.random.Generator, shape: tuple[int, ...]) -> Counts:
    """Both find 97%: the newer misses whole sequences, the older objects anywhere."""
    n_truth = 1 + random.poisson(9, shape)
    found = [np.where(random.random(shape) < 0.03, 0, n_truth), random.binomial(n_truth, 0.97)]
    return counts(n_truth, found, [np.zeros(shape, np.int64)] * 2)


Population = Callable[[np.random.Generator, tuple[int, ...]], Counts]
PLANNED: Mapping[str, Population] = {
    "even": even,
    "uneven": uneven,
    "failing": failing,
    "losing": losing,
    "uneven, failing": uneven_failing,
}
LOOKED_AT: Mapping[str, Population] = PLANNED | {"rare": rare, "anywhere": anywhere}


def shares(of: Counts) -> tuple[np.ndarray, np.ndarray]:
    """What F1 is the ratio of, for each sequence and detector."""
    tp, fn, fp = of
    return 2.0 * tp, 2.0 * tp + fn + fp


def true_difference(population: Population) -> float:
    """The newer detector's F1 minus the older's, of a million sequences."""
    above, below = (of.sum(axis=0) for of in shares(population(np.random.default_rng(5), (1_000_000,))))
    return float(np.diff((above / below)[::-1])[0])


def power(population: Population, n: int, replicates: int = 6000) -> float:
    """How often a two-sided t test of n sequences at 5%, with the jackknife's standard error, sees the difference."""
    above, below = shares(population(np.random.default_rng([1, n]), (replicates, n)))
    all_above, all_below = above.sum(axis=1, keepdims=True), below.sum(axis=1, keepdims=True)
    difference = np.diff((all_above / all_below)[:, 0])[:, 0]
    changes = np.diff((all_above - above) / (all_below - below))[..., 0] - difference[:, None]
    error = np.sqrt((n - 1) / n * (changes**2).sum(axis=1))
    return float((np.abs(difference) > stdtrit(n - 1, 0.975) * error).mean())


def needed(population: Population) -> int:
    """How many sequences `compare` needs for the power; sought from the number of the t test on."""
    few = smallest(5, 6, lambda n: power(population, n))
    return smallest(few - 1, few + few // 4, lambda n: power_of_compare(population, n))


def smallest(few: int, many: int, power_of: Callable[[int], float]) -> int:
    """The least count of sequences above `few` that has the power, to 2%."""
    while power_of(many) < POWER:
        few, many = many, many * 3 // 2
    while many - few > max(1, many // 50):
        middle = (few + many) // 2
        few, many = (middle, many) if power_of(middle) < POWER else (few, middle)
    return many


def power_of_compare(population: Population, n: int, replicates: int = 300) -> float:
    """How often `compare` has a p-value of at most 0.05."""
    found = 0
    for seed in range(replicates):
        new, old = tables(population(np.random.default_rng([seed, 91]), (n,)))
        pairs = sf.compare({"new": new, "old": old}, METRIC, baseline="old", resamples=1000, seed=seed).pairs
        found += pairs["p_value"].iloc[0] <= 0.05
    return found / replicates


def tables(of: Counts) -> list[pd.DataFrame]:
    """The match tables of both detectors, from counts (sequences, 2)."""
    answer = []
    for side in range(2):
        n_rows = np.stack([kind[:, side] for kind in of], axis=1)
        sequence = np.repeat(np.arange(len(n_rows)), n_rows.sum(axis=1))
        outcome = np.repeat(np.tile([OUTCOMES.index(name) for name in ("TP", "FN", "FP")], len(n_rows)), n_rows.ravel())
        error = np.where(outcome == OUTCOMES.index("TP"), 0.0, 100.0)
        columns = {"sequence": sequence, "frame": 1, "outcome": pd.Categorical.from_codes(outcome, OUTCOMES)}
        columns |= {"distance": np.where(error > 0, np.nan, 0.0), "squared_error": error, "kelvins_error": error}
        answer.append(pd.DataFrame(columns))
        answer[-1].attrs = {"rule": "distance", "tau": 10.0, "epsilon": 3.0}
    return answer


def plans(replicates: int) -> None:
    """How many pilots are given a plan, how many plans are enough, and what the ranges hold."""
    print(f"Plans for a power of {POWER}, {replicates:,} pilots each")
    heads = ("needed", "pilot", "given", "enough", "naive", "median plan", "low too high", "high too low")
    print(f"  {'population':16}" + "".join(f"{head:>14}" for head in heads))
    for name, population in PLANNED.items():
        margin, really = abs(true_difference(population)), needed(population)
        for n in PILOTS:
            random = np.random.default_rng([n, 7])
            pilots = [tables(population(random, (n,))) for _ in range(replicates)]
            rows = pd.concat([sf.sample_size(new, METRIC, margin, old) for new, old in pilots], ignore_index=True)
            error = np.maximum(rows["standard_error"].to_numpy(), 1e-12)
            naive = np.maximum(n * (error * (stdtrit(1e9, 0.975) + stdtrit(1e9, POWER)) / margin) ** 2, 6) >= really
            given = rows["n_sequences"].notna().to_numpy()
            known = rows[given].astype({column: float for column in rows if column.startswith("n_sequences")})
            found = [
                f"{really}",
                f"{n}",
                f"{given.mean():.0%}",
                f"{(known['n_sequences'] >= really).mean():.0%}",
                f"{naive.mean():.0%}",
                f"{known['n_sequences'].median():.0f}",
                f"{(known['n_sequences_low'] > really).sum() / replicates:.1%}",
                f"{(known['n_sequences_high'] < really).sum() / replicates:.1%}",
            ]
            print(f"  {name:16}" + "".join(f"{text:>14}" for text in found), flush=True)


def looks(replicates: int) -> None:
    """How often a bound is above the true difference at any look: always-valid ones, and those of one look."""
    print("Lower bounds that are ever above the true difference, in brackets those of a t test of one look")
    schedules = SCHEDULES | MANY_LOOKS
    print(f"  {'population':16}" + "".join(f"{name:>22}" for name in schedules))
    for name, population in LOOKED_AT.items():
        true, texts = true_difference(population), []
        for schedule, at in schedules.items():
            n_replicates = replicates // 4 if schedule in MANY_LOOKS else replicates
            wrong = np.zeros(2)
            for seed in range(n_replicates):
                drawn = population(np.random.default_rng([seed, 11]), (at[-1],))
                pair = pair_of(*tables(drawn), METRIC, "looks")
                wrong += np.max([lows(first_sequences(pair, n)) for n in at], axis=0) > true
            always, once = wrong / n_replicates
            texts.append(f"{always:.1%} ({once:.0%})")
        print(f"  {name:16}" + "".join(f"{text:>22}" for text in texts), flush=True)


def first_sequences(pair: Pair, n: int) -> Pair:
    """The same pair when only the first n sequences are there."""
    cut = {
        name: of._replace(
            group=of.group[:n], sequence=of.sequence[:n], sums={key: rows[:n] for key, rows in of.sums.items()}
        )
        for name, of in pair.group.sums.items()
    }
    return pair._replace(group=pair.group._replace(sums=cut))


def lows(pair: Pair) -> tuple[float, float]:
    """The always-valid bound, and that of a t test of one look; minus infinity where there is none."""
    found = contributions_of(pair)
    low = bound_at_all_times(pair, found.estimate).low
    error = np.sqrt((found.values**2).sum() / (len(found.values) * (len(found.values) - 1)))
    once = found.estimate - stdtrit(found.degrees_of_freedom, ONE_SIDED) * error
    return (low if np.isfinite(low) else -np.inf), (once if error > 0 else -np.inf)


def widths(_: int) -> None:
    """How many times as far from the estimate as the bound of one look the always-valid one is."""
    print("Always-valid bounds, in distances of bounds of one look, of equal sequences without skewness")
    for n in (6, 8, 10, 20, 60, 200, 1000):
        print(f"  {n:6}{float(always_valid_reach(n, 1 - ONE_SIDED)) / stdtrit(n - 1, ONE_SIDED):8.2f}")


PARTS: Mapping[str, Callable[[int], None]] = {"plans": plans, "looks": looks, "widths": widths}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--replicates", type=int, default=400)
    parser.add_argument("--only", nargs="+", choices=[*PARTS], default=[*PARTS])
    given = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in given.only:
            PARTS[part](given.replicates)
