"""What an operating point is worth on new data: `operating_point` held against the truth, by simulation.

    python benchmarks/operating_points.py [--replicates 1000]

The populations are those of thresholds.py. `operating_point` chooses a threshold from some sequences; the truth is the
precision and the recall at that threshold of 200,000 other sequences. The apparent and the cross-validated precision
are to be near it on average, and 95% intervals are to hold it in 95% of cases. Seeded: the figures come out the same
each time. docs/uncertainty.md has them.
"""

import argparse

import numpy as np
import pandas as pd
from thresholds import N_TRUE, POPULATIONS, SIZES, Drawn, draw

import spotgeo_frames as sf
from spotgeo_frames.tables.schema import OUTCOMES

ASKED = {"precision": 0.8, "recall": 0.7}


def match_table(drawn: Drawn) -> pd.DataFrame:
    """A row for each hit, miss and false alarm."""
    n_missed = drawn.n_truth - np.bincount(drawn.sequence[drawn.hit], minlength=len(drawn.n_truth))
    missed = np.repeat(np.arange(len(n_missed)), n_missed)
    outcome = np.concatenate([np.where(drawn.hit, "TP", "FP"), np.full(len(missed), "FN")])
    rows = {"sequence": np.concatenate([drawn.sequence, missed]), "frame": 1}
    rows |= {"outcome": pd.Categorical(outcome, OUTCOMES), "distance": np.nan}
    scores = np.concatenate([drawn.score, np.full(len(missed), np.nan)])
    return pd.DataFrame(rows | {"squared_error": 0.0, "kelvins_error": 0.0, "predicted_score": scores})


def true_shares(drawn: Drawn, thresholds: np.ndarray) -> dict[str, np.ndarray]:
    """Precision and recall at thresholds."""
    order = np.argsort(drawn.score)
    left = [np.append(np.cumsum(of[order][::-1])[::-1], 0) for of in (drawn.hit, ~drawn.hit)]
    tp, fp = (of[np.searchsorted(drawn.score[order], thresholds)] for of in left)
    return {"precision": tp / np.maximum(tp + fp, 1), "recall": tp / drawn.n_truth.sum()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=1000)
    replicates = parser.parse_args().replicates
    for name, least in ASKED.items():
        print(
            f"Thresholds for a {name} of {least}, {replicates:,} replicates; apparent and cross-validated {name}: minus"
        )
        print(f"the true one, and cases in which the true {name} is less than {least}")
        heads = ["given", "apparent", "validated", "less", "low holds", "precision", "recall"]
        print(f"  {'population':12}{'sequences':>10}" + "".join(f"{head:>12}" for head in heads))
        for population, of in POPULATIONS.items():
            many = draw(of, np.random.default_rng(99), N_TRUE)
            for n in SIZES:
                matches = match_table(draw(of, np.random.default_rng([7, n]), n * replicates))
                points = sf.operating_point(matches.assign(category=matches["sequence"] // n), **{name: least})
                points = points[points["category"].notna()]
                given = points[points["reason"].isna()]
                true = true_shares(many, given["score_threshold"].to_numpy())
                apart = [(given[of_data] - true[name]).mean() for of_data in (name, f"{name}_cross_validated")]
                low, high = ({of: given[f"{of}_cross_validated_{end}"] for of in true} for end in ("low", "high"))
                numbers = [f"{len(given) / len(points):12.0%}", *(f"{value:+12.3f}" for value in apart)]
                numbers += [f"{(true[name] < least).mean():12.0%}", f"{(low[name] <= true[name]).mean():12.1%}"]
                numbers += [f"{((low[of] <= true[of]) & (true[of] <= high[of])).mean():12.1%}" for of in true]
                print(f"  {population:12}{n:10}" + "".join(numbers), flush=True)


if __name__ == "__main__":
    main()
