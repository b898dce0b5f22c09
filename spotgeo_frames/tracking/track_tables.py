"""The tables of a TrackResult, made from sums, identities and CLEAR's pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..matching.alignment import Aligned, Side
from ..matching.layout import match_table, with_events
from ..matching.rule import Rule
from ..scoring.group_sums import Sums, with_total
from ..support.keys import distinct
from ..tables.columns import Columns, dataframe_of
from ..tables.match_tables import match_dataframe
from .families import TRACK_COLUMNS, track_numbers
from .identities import Identities, Tracks, with_null
from .metrics.clear import ClearPairs, coverage, tracked_share
from .metrics.hota import ALPHAS, HOTA_COUNTS, hota_numbers

if TYPE_CHECKING:
    import pandas as pd

COVERAGES = ["MT", "PT", "ML"]


def track_summary(sums: Sums) -> pd.DataFrame:
    """The table `summary`: one row of metrics a sequence, then a row of all combined."""
    import pandas as pd

    return pd.DataFrame({"sequence": with_null(sums.labels["sequence"]), **track_columns(sums).arrays})


def track_columns(sums: Sums) -> Columns:
    """The metrics of each sequence, in the order of the labels of the sums, then those of all combined."""
    combined = np.arange(len(sums.labels) + 1) == len(sums.labels)
    return Columns(track_numbers(with_total(sums.values), list(TRACK_COLUMNS), combined))


def track_curve(sums: Sums) -> pd.DataFrame:
    """The table `curve`: HOTA's metrics of each sequence at every alpha, those of all combined last."""
    import pandas as pd

    values, names = with_total(sums.values), with_null(sums.labels["sequence"])
    counts = {name: values[of] for name, of in zip(["TP", "FN", "FP"], HOTA_COUNTS, strict=True)}
    columns = hota_numbers(values) | counts
    return pd.DataFrame(
        {
            "sequence": names.repeat(len(ALPHAS)),
            "alpha": np.tile(np.round(ALPHAS, 2), len(names)),
            **{name: column.ravel() for name, column in columns.items()},
        }
    )


def track_matches(tracks: Tracks, found: ClearPairs, rule: Rule) -> pd.DataFrame:
    """The table `matches`: the match table of CLEAR, with events and fragmentations."""
    table = match_table(tracks.aligned, found.pairs, rule)
    return match_dataframe(with_events(table, found.switch, {"fragmentation": found.fragmentation}))


def truth_objects(tracks: Tracks, found: ClearPairs) -> pd.DataFrame:
    """The table `truth_objects`: one row a true object, and how much of it was tracked."""
    import pandas as pd

    of_pair = tracks.truth.of_row[found.pairs.truth]
    table = _objects(tracks.aligned, tracks.aligned.truth, tracks.truth, of_pair)
    share = tracked_share(tracks, found)
    return table.assign(
        tracked_share=share,
        n_switches=np.bincount(of_pair[found.switch], minlength=len(table)),
        n_fragmentations=np.bincount(of_pair[found.fragmentation], minlength=len(table)),
        coverage=pd.Categorical(coverage(share), COVERAGES),
    )


def predicted_objects(tracks: Tracks, found: ClearPairs) -> pd.DataFrame:
    """The table `predicted_objects`: one row a predicted object, and how much of it was right."""
    of_pair = tracks.predictions.of_row[found.pairs.prediction]
    table = _objects(tracks.aligned, tracks.aligned.predictions, tracks.predictions, of_pair)
    together, _ = distinct(np.sort(tracks.joint_keys(found.pairs.truth, found.pairs.prediction)))
    return table.assign(
        matched_share=table["n_matched"] / table["n_frames"],
        n_truth_objects=np.bincount(tracks.split_keys(together)[1], minlength=len(table)),
        n_switches=np.bincount(of_pair[found.switch], minlength=len(table)),
    )


def _objects(aligned: Aligned, side: Side, identities: Identities, of_pair: np.ndarray) -> pd.DataFrame:
    """One row an identity of a side: its sequence, its name, how many frames it has, and in how many it is matched."""
    return dataframe_of(
        Columns(
            {
                "sequence": aligned.frames["sequence"].take(side.frame[identities.first_row]),
                "object": side.table[identities.column].take(identities.first_row),
                "n_frames": identities.n_rows,
                "n_matched": np.bincount(of_pair, minlength=len(identities.n_rows)),
            }
        )
    )
