"""Intervals, p-values and gates held against the truth, by simulation of known processes; and how fast they are.

    python benchmarks/uncertainty.py [--replicates 2000] [--mot17 GT TRACKER] [--only coverage ...]

Each population draws sequences whose true numbers are known: of a process, not of the sequences drawn. Of 95%
intervals, 95% are to hold the true number. Of two detectors that are equally good in a metric, p-values of at most 0.05
are to occur in 5%. With the folders of MOT17's truth and of a tracker, its sequences are drawn and jittered, and HOTA,
MOTA and IDF1 are held against the truth. Seeded: the shares come out the same each time. docs/uncertainty.md has them.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from populations import DIFFICULTIES, PAIRS, POPULATIONS, Counts, five_alike, five_that_miss
from scipy.optimize import brentq
from scipy.special import expit, logit

import spotgeo_frames as sf
from spotgeo_frames.analysis.certainty.estimates import functions_of_means
from spotgeo_frames.analysis.certainty.jackknife import Functions, jackknife, single_share
from spotgeo_frames.analysis.certainty.left_out_pairs import PairTests, left_out_of, pair_tests
from spotgeo_frames.analysis.certainty.pair_tables import curves_of
from spotgeo_frames.analysis.certainty.resampling import Matrix, matrix_of, only_used
from spotgeo_frames.analysis.certainty.swaps import SwapTests, swap_tests
from spotgeo_frames.scoring.registry import METRICS, RANKING, values_of
from spotgeo_frames.scoring.sequence_sums import MetricSet, NamedSums
from spotgeo_frames.tables.schema import OUTCOMES
from spotgeo_frames.tracking.track_sums import TRACK_SUMS, TRACKS, sums_of_table

SIZES = (5, 7, 10, 20, 60)
ASKED = ["f1", "precision", "recall", "mse", "det_a", "kelvins_mse", "mean_distance", "rmse"]
TAU, EPSILON = 10.0, 3.0
N_SWAPS = 2000

DETECTIONS = MetricSet(METRICS, RANKING, (), values_of, lambda sums: sums["tp"] + sums["fn"] + sums["fp"])


def match_table(counts: Counts, random: np.random.Generator) -> pd.DataFrame:
    """A match table with these counts in each sequence."""
    kinds = ("TP", "FN", "FP")
    n_rows = np.stack(counts[:3], axis=1)
    sequence = np.repeat(np.arange(len(n_rows)), n_rows.sum(axis=1))
    outcome = np.repeat(np.tile([OUTCOMES.index(kind) for kind in kinds], len(n_rows)), n_rows.ravel())
    hit = outcome == OUTCOMES.index("TP")
    distance = np.where(hit, np.minimum(TAU, random.gamma(2, 1, len(hit)) * counts[3][sequence]), np.nan)
    error = np.where(hit, np.where(distance > EPSILON, distance**2, 0), TAU**2)
    of_server = np.where(hit, np.where((distance >= EPSILON) & (distance < TAU), distance, 0), TAU**2)
    table = {"sequence": sequence, "frame": 1, "outcome": pd.Categorical.from_codes(outcome, OUTCOMES)}
    answer = pd.DataFrame(table | {"distance": distance, "squared_error": error, "kelvins_error": of_server})
    answer.attrs = {"rule": "distance", "tau": TAU, "epsilon": EPSILON}
    return answer


def coverage(replicates: int) -> None:
    """How often the default intervals hold the true number; each replicate is a group of its own sequences."""
    print(f"95% intervals that hold the true number, {replicates:,} replicates\n  population    n" + _heads(ASKED))
    for name, population in POPULATIONS.items():
        random = np.random.default_rng(99)
        many = sf.summarize(match_table(population(random, 400_000), random)).iloc[0]
        for n in SIZES:
            true = {metric: many[metric] * (n / 400_000 if metric == "kelvins_mse" else 1) for metric in ASKED}
            random = np.random.default_rng([1, n])
            matches = match_table(population(random, n * replicates), random)
            found = sf.intervals(matches, by=pd.Series(matches["sequence"] // n, name="replicate"), metrics=ASKED)
            number = found["metric"].map(true)
            held = ((found["low"] <= number + 1e-9) & (number <= found["high"] + 1e-9)).groupby(found["metric"]).mean()
            print(f"  {name:10}{n:5}" + "".join(f"{held[metric]:14.1%}" for metric in ASKED), flush=True)


OF_POINT_SETS = ["gospa", "ospa", "localisation", "missed", "false", "lrp", "f2"]


def point_sets(replicates: int) -> None:
    """The same of GOSPA, OSPA and their parts, and of metrics by name, also of so few sequences that none is shown."""
    sf.add_metrics("lrp", "f2")
    METRICS.update({name: METRICS[name]._replace(fewest=0) for name in OF_POINT_SETS})
    print(
        f"95% intervals that hold the true number, {replicates:,} replicates\n  population    n" + _heads(OF_POINT_SETS)
    )
    for name, population in POPULATIONS.items():
        random = np.random.default_rng(99)
        true = sf.summarize(in_frames(match_table(population(random, 100_000), random), random)).iloc[0]
        for n in SIZES:
            random = np.random.default_rng([1, n])
            matches = in_frames(match_table(population(random, n * replicates), random), random)
            replicate = pd.Series(matches["sequence"] // n, name="replicate")
            found = sf.intervals(matches, by=replicate, metrics=OF_POINT_SETS).dropna(subset=["low", "high"])
            number = found["metric"].map(true)
            held = ((found["low"] <= number + 1e-9) & (number <= found["high"] + 1e-9)).groupby(found["metric"]).mean()
            print(f"  {name:10}{n:5}" + "".join(f"{held[metric]:14.1%}" for metric in OF_POINT_SETS), flush=True)


def in_frames(matches: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
    """A match table whose rows lie in five frames of each sequence, with the costs of assignment="least"."""
    error = np.where(matches["outcome"] == "TP", matches["distance"] ** 2, TAU**2 / 2)
    table = matches.assign(frame=random.integers(1, 6, len(matches)), gospa_error=error)
    sequence, frame = (
        np.arange(table["sequence"].max() + 1).repeat(5),
        np.tile(np.arange(1, 6), table["sequence"].max() + 1),
    )
    every = pd.DataFrame({"sequence": sequence, "frame": frame})
    seen = pd.MultiIndex.from_frame(table[["sequence", "frame"]])
    empty = every[~pd.MultiIndex.from_frame(every).isin(seen)]
    rows = empty.assign(outcome=pd.Categorical(["empty"] * len(empty), categories=OUTCOMES))
    answer = pd.concat([table, rows]).sort_values(["sequence", "frame", "outcome"], kind="stable", ignore_index=True)
    answer.attrs = matches.attrs | {"assignment": "least", "power": 2.0}
    return answer


def _heads(names: Sequence[str]) -> str:
    return "".join(f"{name:>14}" for name in names)


# Draws what two detectors make of the same sequences.
Pair = Callable[..., Sequence[Counts]]

# How many long sequences are evaluated together.
AT_ONCE = 100


def pair_sums(sides: Sequence[Counts]) -> Matrix:
    """The sums (sequences, detectors, sums) of detectors on the same sequences."""
    named = {name: np.stack([side[at] for side in sides], axis=1) for at, name in enumerate(("tp", "fn", "fp"))}
    return Matrix(np.stack(list(named.values()), axis=-1).astype(float), dict.fromkeys(named, ()))


def pair_of(sums: Matrix, metric: str, seed: int, pairs: Sequence[tuple[int, int]] = ((0, 1),)) -> SwapTests:
    """The tests of `compare` for pairs of submissions, whose sums are (sequences, submissions, sums)."""
    functions = functions_of_detections(metric)
    sides = [left_out_of(sums.named(sums.values[:, at]), functions) for at in range(sums.values.shape[1])]
    tests = [pair_tests(sides[a], sides[b], 0.95) for a, b in pairs]
    leaving_out = PairTests(*(np.stack(column) for column in zip(*tests, strict=True)))
    n_sequences = np.full(len(pairs), len(sums.values))
    curves = curves_of(DETECTIONS, [metric])
    return swap_tests(sums, pairs, n_sequences, curves, leaving_out, N_SWAPS, seed)


def functions_of_detections(metric: str) -> Functions:
    """A share of detections as a function of sums."""
    value, weight = METRICS[metric].value, METRICS[metric].weight
    assert value is not None
    assert weight is not None
    return single_share(value, weight)


def p_values(replicates: int) -> None:
    """How often p-values of pairs are at most 0.05, and how often intervals of differences hold the true one."""

    def shares(pair: Pair, metric: str, true: float, n: int) -> str:
        small = held = 0
        for seed in range(replicates):
            tests = pair_of(pair_sums(pair(np.random.default_rng([seed, n, 7]), n)), metric, seed)
            small += tests.p_value[0, 0] <= 0.05
            held += tests.low[0, 0] <= true <= tests.high[0, 0]
        return f"{small / replicates:6.1%} ({held / replicates:.0%})"

    print(f"p-values of at most 0.05 (intervals that hold the true difference), {replicates:,} replicates")
    _print_pairs(shares)


def gates(replicates: int) -> None:
    """How often a gate passes whose margin is what the second detector is worse by, or better."""

    def share(pair: Pair, metric: str, true: float, n: int) -> str:
        passed = 0
        for seed in range(replicates):
            sums = pair_sums(pair(np.random.default_rng([seed, n, 13]), n))
            passed += pair_of(sums, metric, seed, [(1, 0)]).low[0, 0] > -true
        return f"{passed / replicates:.1%}"

    print(f"gates at the margin that pass (asked: 2.5%), {replicates:,} replicates")
    _print_pairs(share)


def _print_pairs(shares: Callable[[Pair, str, float, int], str]) -> None:
    """Prints what comes out for each pair and count of sequences, from the pair, its metric and true difference."""
    counts = (6, *SIZES[1:])
    print(f"  {'pair':34}" + _heads([f"n = {n}" for n in counts]))
    for name, (pair, metric) in PAIRS.items():
        true = _true_difference(pair, metric)
        print(f"  {name:34}" + _heads([shares(pair, metric, true, n) for n in counts]), flush=True)


def families(replicates: int) -> None:
    """How often any adjusted p-value of five equal detectors is at most 0.05."""
    print(f"any p_adjusted of at most 0.05 among five equal detectors, {replicates:,} replicates")
    pairs = list(combinations(range(5), 2))
    for name, population, metric in (
        ("alike", five_alike, "f1"),
        ("two miss anywhere, three wholly", five_that_miss, "recall"),
    ):
        shares = []
        for n in (10, 20, 60):
            small = 0
            for seed in range(replicates):
                sums = pair_sums(population(np.random.default_rng([seed, n, 17]), n))
                small += bool((pair_of(sums, metric, seed, pairs).p_adjusted <= 0.05).any())
            shares.append(small / replicates)
        print(f"  {name:34}" + "".join(f"{share:14.1%}" for share in shares), flush=True)


def _true_difference(pair: Pair, metric: str) -> float:
    """By how much the first detector of a pair is better over very many sequences."""
    many = pair_sums(pair(np.random.default_rng(99), 400_000))
    one, other = functions_of_detections(metric).values(many.named(many.values.sum(axis=0)))[:, 0]
    return float(one - other)


def one_long_sequence(replicates: int) -> None:
    """Intervals of recall in a single sequence whose difficulty changes slowly: how many are given, and hold."""
    print(f"95% intervals of recall from one long sequence, {replicates:,} replicates")
    print(f"  {'population':14}{'autocorrelation':>16}{'frames':>8}" + _heads(["given", "hold", "frames alone"]))
    for name, difficulty in DIFFICULTIES.items():
        true = difficulty(np.random.default_rng(0), 1_000_000, 1, 0.0).mean()
        for n_frames in (60, 120, 300, 600, 1500, 3000):
            for rho in (0.0, 0.5, 0.9, 0.97, 0.98, 0.99):
                found = [
                    _long_sequences(difficulty, n_frames, rho, np.random.default_rng([first, n_frames, int(100 * rho)]))
                    for first in range(0, replicates, AT_ONCE)
                ]
                by_batches, alone = (pd.concat(tables) for tables in zip(*found, strict=True))
                given = by_batches[by_batches["low"].notna()]
                shares = [((of["low"] <= true) & (true <= of["high"])).mean() for of in (given, alone)]
                numbers = [len(given) / len(by_batches), *shares]
                print(f"  {name:14}{rho:16}{n_frames:8}" + "".join(f"{number:14.1%}" for number in numbers), flush=True)


def _long_sequences(
    difficulty: Callable[..., np.ndarray], n_frames: int, rho: float, random: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The intervals of AT_ONCE sequences by batch means, and with their frames taken for independent sequences."""
    chance = difficulty(random, AT_ONCE, n_frames, rho)
    n_truth = 1 + random.poisson(5, chance.size)
    tp = random.binomial(n_truth, chance.ravel())
    matches = match_table((tp, n_truth - tp, np.zeros_like(tp), np.ones(len(tp))), random)
    frames = matches["sequence"]
    matches = matches.assign(sequence=frames // n_frames, frame=frames % n_frames)
    by_batches = sf.intervals(matches, by="sequence", metrics=["recall"], method="batch_means")
    alone = matches.assign(replicate=matches["sequence"], sequence=frames)
    return by_batches, sf.intervals(alone, by=alone["replicate"], metrics=["recall"])


def trackers(folders: Sequence[str], replicates: int) -> None:
    """HOTA, MOTA and IDF1: macro intervals and comparisons of trackers whose sequences are MOT17's, jittered."""
    names = ["HOTA", "MOTA", "IDF1"]
    table = sf.track(*sf.read_motchallenge(*folders)).sums
    real = {name: of.astype(float) for name, of in sums_of_table(table, TRACK_SUMS).items()}
    print("MOT17, macro intervals of 95% that hold; p-values of at most 0.05: macro, combined (two equal trackers)")
    print(f"  {'':16}{'n':>4}" + _heads(names))
    for n in (5, 7, 10, 20):
        of_one = draw_trackers(real, np.random.default_rng([n, 1]), (replicates, n), [0.3])
        values = _values(of_one, names)[:, :, 0]
        many = _values(draw_trackers(real, np.random.default_rng(9), (1, 100_000), [0.3]), names)[0, :, 0].mean(axis=0)
        of_each, group = values.reshape(-1, len(names)), np.repeat(np.arange(replicates), n)
        ends = (np.array([getattr(TRACKS.metrics[name], end) for name in names]) for end in ("low", "high"))
        cells = {"value": of_each, "n": np.ones_like(of_each)}
        found = jackknife(cells, group, replicates, functions_of_means(*ends))
        held = ((found.low <= many) & (many <= found.high)).mean(axis=0)
        print(f"  {'macro holds':16}{n:4}" + "".join(f"{share:14.1%}" for share in held), flush=True)
    for kind, jitter in (("as steady", [0.3, 0.3]), ("less steady", [0.1, 0.5])):
        shift = {name: _equal(real, jitter, name) for name in names}
        for n in (7, 10, 20):
            by_swaps = [
                _small(real, jitter, name, shift[name], n, replicates if n <= 12 else replicates // 4) for name in names
            ]
            print(
                f"  {kind:16}{n:4}" + "".join(f"{macro:7.1%}, {combined:.1%}" for macro, combined in by_swaps),
                flush=True,
            )


def _small(
    real: NamedSums, jitter: Sequence[float], name: str, shift: tuple[float, float], n: int, replicates: int
) -> tuple[float, float]:
    """How often p-values of the macro mean, and of the combined number, are at most 0.05."""
    curves, small = curves_of(TRACKS, [name]), [0.0, 0.0]
    for of_macro in (True, False):
        drawn = draw_trackers(real, np.random.default_rng([n, 2]), (replicates, n), jitter, shift[not of_macro])
        if of_macro:
            values = _values(drawn, [name])
            tests = [_macro_test(of, name) for of in values[..., 0]]
            small[0] = float(np.mean([test.p_value[0] <= 0.05 for test in tests]))
            continue
        for seed in range(replicates):
            sums = matrix_of({key: of[seed].reshape(n * 2, *of.shape[3:]) for key, of in drawn.items()}, n * 2)
            sums = sums._replace(values=sums.values.reshape(n, 2, -1))
            sides = [left_out_of(sums.named(sums.values[:, at]), _of_trackers(name)) for at in (0, 1)]
            test = pair_tests(sides[0], sides[1], 0.95)
            leaving_out = PairTests(*(column[None] for column in test))
            used, of_used = only_used(sums, curves)
            found = swap_tests(used, [(0, 1)], np.array([n]), of_used, leaving_out, N_SWAPS, seed)
            small[1] += float(found.p_value[0, 0] <= 0.05) / replicates
    return small[0], small[1]


def _macro_test(values: np.ndarray, name: str) -> PairTests:
    """The test of the means over sequences of two trackers, from the values of each, (sequences, trackers)."""
    metric = TRACKS.metrics[name]
    functions = functions_of_means(np.array([metric.low]), np.array([metric.high]))
    sides = [{"value": of[:, None], "n": np.ones((len(of), 1))} for of in values.T]
    return pair_tests(left_out_of(sides[0], functions), left_out_of(sides[1], functions), 0.95, is_alone=True)


def _of_trackers(name: str) -> Functions:
    """A metric of tracks as a function of sums."""
    metric = TRACKS.metrics[name]
    return Functions(
        lambda sums: TRACKS.numbers(sums, [name]),
        lambda sums: (metric.weight or TRACKS.counted)(sums)[..., None],
        np.array([metric.low]),
        np.array([metric.high]),
        np.zeros(1, bool),
    )


def _equal(real: NamedSums, jitter: Sequence[float], name: str) -> tuple[float, float]:
    """By how much the second tracker must be better to be equal in the macro mean, and in the combined number."""

    def gaps(shift: float) -> tuple[float, float]:
        drawn = draw_trackers(real, np.random.default_rng(5), (1, 50_000), jitter, shift)
        macro = _values(drawn, [name])[0].mean(axis=0)[:, 0]
        combined = _values({key: of.sum(axis=1) for key, of in drawn.items()}, [name])[0, :, 0]
        return macro[1] - macro[0], combined[1] - combined[0]

    if jitter[0] == jitter[1]:
        return 0.0, 0.0
    return brentq(lambda x: gaps(x)[0], -1, 1, xtol=1e-3), brentq(lambda x: gaps(x)[1], -1, 1, xtol=1e-3)


def draw_trackers(
    real: NamedSums, random: np.random.Generator, shape: tuple[int, int], jitter: Sequence[float], shift: float = 0.0
) -> dict[str, np.ndarray]:
    """Sums (*shape, trackers, ...) of sequences drawn from the real ones, each of another size and difficulty.

    What is hard about a sequence (recall, false alarms, association, switches) is shared; `jitter` is what is each
    tracker's own, in logits. The second tracker is better in all of these by `shift`.
    """
    drawn, size = random.integers(0, len(real["TP"]), shape), np.exp(random.normal(0, 0.4, shape))
    shared, sides = random.normal(0, 0.4, (4, *shape)), []
    good = np.array([1.0, -1.0, 1.0, -1.0]).reshape(4, 1, 1)
    for own, by in zip(jitter, (0.0, shift), strict=False):
        recall, alarms, association, switches = shared + random.normal(0, own, (4, *shape)) + by * good
        side = {name: of[drawn] * size.reshape(*shape, *[1] * (of.ndim - 1)) for name, of in real.items()}
        n_truth = side["hota_tp"] + side["hota_fn"]
        tp = n_truth * _moved(side["hota_tp"] / n_truth, recall[..., None])
        linked = tp * _moved(side["hota_association"] / side["hota_tp"], association[..., None])
        fp = side["hota_fp"] * (tp / side["hota_tp"]) * np.exp(alarms)[..., None]
        of_truth = side["TP"] + side["FN"]
        found = of_truth * _moved(side["TP"] / of_truth, recall)
        identified = of_truth * _moved(side["IDTP"] / of_truth, recall / 2 + association)
        of_alarms = side["IDFP"] * (identified / side["IDTP"]) * np.exp(alarms)
        side |= {"hota_tp": tp, "hota_fn": n_truth - tp, "hota_fp": fp, "hota_association": linked}
        side |= {"TP": found, "FN": of_truth - found, "FP": side["FP"] * np.exp(alarms)}
        side |= {"IDTP": identified, "IDFN": of_truth - identified, "IDFP": of_alarms}
        sides.append(side | {"IDSW": side["IDSW"] * np.exp(switches)})
    return {name: np.stack([side[name] for side in sides], axis=2) for name in sides[0]}


def _moved(share: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Shares moved by so much on the scale of logits."""
    return expit(logit(np.clip(share, 1e-6, 1 - 1e-6)) + by)


def _values(sums: NamedSums, names: Sequence[str]) -> np.ndarray:
    return np.stack(list(TRACKS.compute(sums, names).values()), axis=-1)


def speed() -> None:
    """The default intervals against `summarize`, and 10,000 swaps of ten pairs, of 5,120 sequences of five frames."""
    random, n_frames = np.random.default_rng(3), 5120 * 5
    frame = np.repeat(np.arange(n_frames), random.poisson(2, n_frames))
    truth = pd.DataFrame({"sequence": frame // 5, "frame": frame % 5, "object": np.arange(len(frame))})
    truth = truth.assign(x=600 * random.random(len(frame)), y=400 * random.random(len(frame)))
    frames = pd.DataFrame({"sequence": np.arange(n_frames) // 5, "frame": np.arange(n_frames) % 5})
    tables = {}
    for k in range(5):
        found = truth[random.random(len(truth)) < 0.6 + 0.01 * k]
        found = found.assign(x=found["x"] + random.normal(0, 2, len(found)))
        tables[f"{k}"] = sf.match(sf.Annotations(truth, frames), found)
    both = [(_taken(sf.summarize, tables["0"]), _taken(sf.intervals, tables["0"])) for _ in range(41)]
    of_summary, of_intervals = (statistics.median(column) for column in zip(*both, strict=True))
    print(f"5,120 sequences: summarize {of_summary:.4f} s, intervals {of_intervals:.4f} s, ", end="")
    print(f"{of_intervals / of_summary:.1f} times as long; compare {_taken(sf.compare, tables):.1f} s")


def _taken(function: Callable[..., object], *arguments: object) -> float:
    began = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - began


PARTS: dict[str, Callable[[int], None]] = {
    "speed": lambda _: speed(),
    "coverage": coverage,
    "point_sets": point_sets,
    "p_values": p_values,
    "gates": gates,
    "families": families,
    "one_long_sequence": one_long_sequence,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--mot17", nargs=2, metavar=("GT", "TRACKER"))
    parser.add_argument("--only", nargs="*", choices=[*PARTS, "trackers"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    parts = {**PARTS}
    if options.mot17:
        parts["trackers"] = lambda replicates: trackers(options.mot17, replicates)
    for name, part in parts.items():
        if not options.only or name in options.only:
            part(options.replicates)
