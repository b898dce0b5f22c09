"""Why a detection limit is not known, and the warnings of `detection_limit`."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...scoring.few_sequences import FEW_SEQUENCES
from ...support.arrays import added_at
from ...tables.messages import counted
from ...tables.schema import FN
from .interval_tables import FEW_DEGREES, RESTS_ON_FEW
from .logistic_curves import Truths, ends

# A curve is called no logistic one if the p-value of its bend, times the count of curves, is at most this.
RARE = 0.05


def why_no_curve(truths: Truths) -> np.ndarray:
    """Why each group has no curve, (G,); None where it has one."""
    group, n_groups = truths.group, truths.n_groups
    n, n_found = np.bincount(group, minlength=n_groups), added_at(group, truths.found, n_groups)
    least, greatest = ends(truths.value, group, n_groups)
    between = (truths.value > least[group]) & (truths.value < greatest[group])
    is_few = added_at(group, between, n_groups) == 0
    found, missed = (ends(truths.value[of], group[of], n_groups) for of in (truths.found == 1, truths.found == 0))
    rises, falls = missed[1] <= found[0], found[1] <= missed[0]
    reasons = np.full(n_groups, None, object)
    for g in np.flatnonzero(is_few | rises | falls):  # of all found or all missed, one side has no ends
        if n[g] == 0:
            reasons[g] = "no truth has a value"
        elif n_found[g] in (0, n[g]):
            reasons[g] = f"all truths were {'found' if n_found[g] else 'missed'}"
        elif is_few[g]:
            reasons[g] = "there are fewer than three values, so nothing tells how recall goes between them"
        else:
            (first, below), (then, above) = ("missed", missed), ("found", found)
            if falls[g]:
                (first, below), (then, above) = (then, above), (first, below)
            reasons[g] = (
                f"all truths up to {below[1][g]:.6g} were {first}, and all from {above[0][g]:.6g} on were {then}"
            )
    return reasons


def why_null(row: Mapping[Hashable, Any]) -> str:
    """Why a row of `limits` of a group that has a curve holds nulls.

    The row has what the curve says besides: `least` and `greatest`, of the group's values; `crossing`, where the curve
    has the recall; `is_sloped`, whether the slope can be told from 0; `agree`, whether the interval has no width;
    `ceiling`, the recall at which the data level off below, null if they do not.
    """
    outside = f"all values, which go from {row['least']:.6g} to {row['greatest']:.6g}"
    if np.isnan(row["slope"]):
        return "the curve cannot be fitted, because a few values are far from all others"
    if row["n_sequences"] > 1 and not row["is_sloped"]:
        degrees = f"{row['degrees_of_freedom']:.2g} degrees of freedom"
        return f"{row['n_sequences']} sequences do not tell the slope from 0 ({degrees})"
    if not np.isnan(row["ceiling"]):
        return (
            f"recall does not go beyond about {row['ceiling']:.0%} in these data, where the curve says "
            f"{row['recall']:.0%} and more"
        )
    if np.isnan(row["estimate"]):
        where = "above" if (row["slope"] > 0) == (row["crossing"] < row["least"]) else "below"
        return f"the curve is {where} {row['recall']:.0%} at {outside}"
    if row["n_sequences"] == 1:
        return "there is only one sequence, so nothing tells how others differ"
    if row["agree"]:
        return "all sequences agree, so nothing tells how others differ"
    bounds = [name for name in ("low", "high") if np.isnan(row[name])]
    return f"{' and '.join(bounds)} would lie outside {outside}"


def warning_texts(limits: pd.DataFrame, column: str, n_left_out: Mapping[int, int]) -> list[str]:
    """The texts of warnings: what was left out, where little is known, why values are null, and which curves bend.

    `n_left_out` is how many truths of each outcome have no finite value.
    """
    n_recalls = max(limits["recall"].nunique(), 1)
    n_curves, texts = len(limits) // n_recalls, []
    if n := sum(n_left_out.values()):
        missed = f"{n_left_out[FN]:,} of them missed"
        texts.append(f"{counted(n, 'truth')} left out, {missed}, because {column} is null or infinite there")
    few = (limits["n_sequences"] < FEW_SEQUENCES) | (limits["degrees_of_freedom"] < FEW_DEGREES)
    few &= limits["n_sequences"] > 1
    if few.any():
        texts.append(
            RESTS_ON_FEW if n_curves == 1 else f"{few.sum():,} of {len(limits):,} limits rest on {RESTS_ON_FEW}"
        )
    null = limits["reason"].notna()
    if n_curves == 1:
        for reason, rows in limits[null].groupby("reason", sort=False):
            texts.append(f"recall of {' and '.join(f'{recall:.0%}' for recall in rows['recall'])}: {reason}")
    elif null.any():
        texts.append(f"{null.sum():,} of {len(limits):,} limits have nulls; the column reason says why")
    p_value = limits["bend_p_value"].iloc[::n_recalls].dropna()
    bends = p_value * len(p_value) <= RARE
    if bends.any():
        which = f"bend_p_value {p_value.iloc[0]:.2g}" if n_curves == 1 else f"{bends.sum():,} of {n_curves:,} groups"
        how = "compare recall with recall_of_curve in bins, and try the logarithm of the column"
        texts.append(f"recall is no logistic curve of {column} ({which}), so the limits may be off; {how}")
    return texts
