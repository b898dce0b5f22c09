"""Worst slices held against the truth, by simulation: what is found of planted ones, and what where there are none.

    python benchmarks/slices.py [--replicates 200] [--only nothing planted jitter speed]

Each data set is a match table of random sequences. Where no slice is worse, at most 5% of data sets are to have a row.
Where one is planted, it is to be found by the contrast that it was planted for, and the intervals of the rows found are
to hold the true differences. Seeded: the shares come out the same each time. docs/uncertainty.md has them.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

import spotgeo_frames as sf
from spotgeo_frames.tables.schema import OUTCOMES

COLUMNS = ["truth_kind", "truth_band", "truth_x", "truth_night", "truth_weather", "predicted_score"]

# The planted slice of each contrast.
PLANTED = {"within sequences": "truth_kind = a and truth_band = 1.0", "between sequences": "truth_night = 1.0"}

# True differences are measured in a data set of this many sequences.
MANY = 8000

# The recall of each sequence, and how many truths and false alarms it has.
Sequences = tuple[np.ndarray, np.ndarray, np.ndarray]


def even(random: np.random.Generator, n: int) -> Sequences:
    """Twenty truths everywhere; sequences differ in how hard they are."""
    return random.beta(6, 3, n), np.full(n, 20), random.poisson(5, n)


def uneven(random: np.random.Generator, n: int) -> Sequences:
    """A few sequences have most truths."""
    size = np.exp(random.normal(0, 1, n))
    return random.beta(6, 3, n), 1 + random.poisson(12 * size), random.poisson(3 * size)


def rare(random: np.random.Generator, n: int) -> Sequences:
    """One sequence in twenty has errors at all."""
    is_bad = random.random(n) < 0.05
    return np.where(is_bad, random.beta(2, 3, n), 1.0), np.full(n, 20), np.where(is_bad, random.poisson(5, n), 0)


POPULATIONS: Mapping[str, Callable[[np.random.Generator, int], Sequences]] = {
    "even": even,
    "uneven": uneven,
    "rare": rare,
}


def data_set(
    seed: int,
    n: int,
    population: Callable[[np.random.Generator, int], Sequences] = even,
    lower: Mapping[str, float] | None = None,
    jitter: float = 0.3,
) -> pd.DataFrame:
    """A match table of n sequences, in which recall is lower by `lower` where that is.

    "within sequences": kind a and band 1, which are 1/9 of the truths. "between sequences": night 1, a quarter of the
    sequences. "weather": the quarter with the least weather, of which each truth has a value off by `jitter`.
    """
    random, lower = np.random.default_rng([seed, n]), lower or {}
    recall, n_truth, n_wrong = population(random, n)
    night, weather = random.permutation(n) % 4, (random.permutation(n) + 0.5) / n
    sequence = np.repeat(np.arange(n), n_truth)
    kind, band = random.choice(["a", "b", "c"], len(sequence)), random.integers(0, 3, len(sequence))
    worse = {"within sequences": (kind == "a") & (band == 1), "between sequences": night[sequence] == 1}
    worse["weather"] = weather[sequence] < 0.25
    chance = recall[sequence] - sum(by * worse[where] for where, by in lower.items())
    is_hit = random.random(len(sequence)) < chance
    truths = {
        "sequence": sequence,
        "outcome": np.where(is_hit, "TP", "FN"),
        "truth_kind": kind,
        "truth_band": band,
        "truth_x": quarter(random.random(len(sequence))),
        "truth_night": night[sequence],
        "truth_weather": quarter(weather[sequence] + jitter * random.normal(size=len(sequence))),
        "predicted_score": np.where(is_hit, quarter(random.random(len(sequence))), np.nan),
    }
    wrong = {"sequence": np.repeat(np.arange(n), n_wrong), "outcome": "FP"}
    wrong |= {"predicted_score": quarter(random.random(len(wrong["sequence"])))}
    table = pd.concat([pd.DataFrame(truths), pd.DataFrame(wrong)], ignore_index=True)
    table = table.sort_values("sequence", kind="stable", ignore_index=True)
    error = np.where(table["outcome"] == "TP", 0.0, 100.0)
    table = table.assign(frame=1, outcome=pd.Categorical(table["outcome"], OUTCOMES))
    table = table.assign(distance=np.where(error, np.nan, 1.0), squared_error=error, kelvins_error=error)
    table.attrs = {"rule": "distance", "tau": 10.0, "epsilon": 3.0}
    return table


def quarter(values: np.ndarray) -> np.ndarray:
    """The quarter of the range from 0 to 1 in which values lie, 0 to 3, the same in each data set."""
    return np.clip(np.floor(4 * values), 0, 3)


def nothing(replicates: int) -> None:
    """How many data sets without worse slices have a row."""
    print(f"data sets without worse slices that have a row, of {replicates:,}")
    print(f"  {'':10}" + "".join(f"{f'n = {n}':>10}" for n in (12, 20, 60, 300)))
    for name, population in POPULATIONS.items():
        shares = [
            np.mean([len(sf.worst_slices(data_set(seed, n, population), COLUMNS)) > 0 for seed in range(replicates)])
            for n in (12, 20, 60, 300)
        ]
        print(f"  {name:10}" + "".join(f"{share:10.1%}" for share in shares), flush=True)


def planted(replicates: int) -> None:
    """How often planted slices are found, and how well the estimates and intervals of all rows found hold.

    All rows: the share of data sets in which the intervals of all rows found hold; all tests: those of all tests.
    """
    print(f"planted slices that are found, {replicates:,} replicates")
    heads = [f"{head:>11}" for head in ("lower by", "n", "found", "mean error", "rows hold", "all rows", "all tests")]
    print(f"  {'contrast':20}" + "".join(heads))
    keys = ["slice", "metric", "contrast"]
    for contrast, sizes in (
        ("within sequences", {60: (0.12, 0.16), 300: (0.06, 0.08)}),
        ("between sequences", {60: (0.16, 0.2), 300: (0.07, 0.1)}),
    ):
        for n, by in ((n, by) for n, many in sizes.items() for by in many):
            true = sf.worst_slices(data_set(0, MANY, lower={contrast: by}), COLUMNS, rate=1).set_index(keys)["estimate"]
            tables = []
            for seed in range(replicates):
                tested = sf.worst_slices(data_set(seed, n, lower={contrast: by}), COLUMNS, rate=1)
                tables.append(tested.join(true.rename("true"), on=keys).assign(seed=seed))
            table = pd.concat(tables)
            table["holds"] = (table["low"] <= table["true"]) & (table["true"] <= table["high"])
            rows = table[(table["p_adjusted"] <= 0.05) & (table["estimate"] < 0)]
            is_planted = (rows["slice"] == PLANTED[contrast]) & (rows["contrast"] == contrast)
            error = (rows["estimate"] - rows["true"]).mean()
            of_rows = 1 - rows.loc[~rows["holds"], "seed"].nunique() / replicates
            of_tests = table.groupby("seed")["holds"].all().mean()
            shares = [rows["holds"].mean(), of_rows, of_tests]
            print(
                f"  {contrast:20}{by:11}{n:11}{is_planted.sum() / replicates:11.1%}{error:11.3f}"
                + "".join(f"{share:11.1%}" for share in shares),
                flush=True,
            )


def jitter(replicates: int) -> None:
    """How often worse weather is found as it varies more and more within sequences."""
    print("data sets of 60 sequences in which worse weather is found, of 20: that column alone, six columns")
    for by in (0.4, 0.3):
        for size in (0.0, 0.02, 0.05, 0.1, 0.2):
            tables = [data_set(seed, 60, lower={"weather": by}, jitter=size) for seed in range(20)]
            found = [
                sum("truth_weather = 0.0" in sf.worst_slices(table, columns)["slice"].tolist() for table in tables)
                for columns in (["truth_weather"], COLUMNS)
            ]
            print(f"  lower by {by}, jitter {size:4}: {found[0]}, {found[1]}", flush=True)


def speed(replicates: int) -> None:
    """The time that three columns of 1,280 sequences take."""
    table = data_set(0, 1280)
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        sf.worst_slices(table, ["truth_kind", "truth_x", "truth_weather"])
        taken.append(time.perf_counter() - began)
    print(f"three columns of 1,280 sequences: {statistics.median(taken):.2f} s")


if __name__ == "__main__":
    parts = {"nothing": nothing, "planted": planted, "jitter": jitter, "speed": speed}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--only", nargs="*", choices=list(parts))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, part in parts.items():
        if not options.only or name in options.only:
            part(options.replicates)
