"""The tables of a TrackResult, made from sums, identities and CLEAR's pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..matching import Aligned, Pairs, Rule, Side, layout
from ..scoring import Sums, sequence_sums
from ..support import arrays
from ..tables import Columns, coded, dataframe_of, match_dataframe
from .identities import Identities, Tracks, rows_in, with_nulls
from .metrics.clear import COVERAGES, ClearPairs, coverage, tracked_share
from .metrics.hota import ALPHAS, HOTA_COUNTS, hota_numbers
from .track_sums import TRACK_CURVES, track_numbers

if TYPE_CHECKING:
    import pandas as pd


def track_summary(sums: Sums) -> pd.DataFrame:
    """The table `summary`: one row of metrics a sequence, or a class of a sequence, then the combined rows."""
    return _dataframe(_keys(sums.labels) | track_columns(sums).arrays)


def track_columns(sums: Sums) -> Columns:
    """The metrics of each sequence, in the order of the labels of the sums, then those of the combined rows."""
    values = _with_combined(sums)
    combined = np.arange(len(values["n_frames"])) >= len(sums.labels)
    return Columns(_with_average(track_numbers(values, list(sums.metrics.entries), combined), sums.labels))


def track_curve(sums: Sums) -> pd.DataFrame:
    """The table `curve`: HOTA's metrics of each row of the summary at every alpha."""
    values = _with_combined(sums)
    counts = {name: values[of] for name, of in zip(["TP", "FN", "FP"], HOTA_COUNTS, strict=True)}
    numbers = hota_numbers(values)
    columns = _with_average({name: numbers[name] for name in TRACK_CURVES} | counts, sums.labels)
    keys = {name: column.repeat(len(ALPHAS)) for name, column in _keys(sums.labels).items()}
    alphas = np.tile(np.round(ALPHAS, 2), len(columns["HOTA"]))
    return _dataframe(keys | {"alpha": alphas, **{name: column.ravel() for name, column in columns.items()}})


def _dataframe(columns: dict[str, Any]) -> pd.DataFrame:
    """A table of columns with memory of its own, since metrics may share theirs."""
    return dataframe_of(Columns({name: values.copy() for name, values in columns.items()}))


def hota_over_alpha(curve: Any) -> str:
    """HOTA of all sequences over alpha as a small curve of HTML; empty where there is none, or there are several."""
    keys = [name for name in ("sequence", "category", "joint", "HOTA") if name in getattr(curve, "columns", ())]
    if not hasattr(curve, "isna") or "HOTA" not in keys:  # of another kind than pandas'
        return ""
    values = curve.loc[curve[keys[:-1]].isna().all(axis=1), "HOTA"].to_numpy()
    if len(values) != len(ALPHAS):
        return ""
    from ..support import result_views  # imported here, because it needs pandas

    read = [f"{values[place]:.2f} at {ALPHAS[place]:.2f}" for place in (0, len(ALPHAS) // 2, -1)]
    return result_views.sparkline(values, f"HOTA over alpha: {', '.join(read)}")


def _with_combined(sums: Sums) -> dict[str, np.ndarray]:
    """The sums with rows added: one for each class if there are classes, and one for everything."""
    if "category" not in sums.labels:
        return {name: sequence_sums.with_total(rows) for name, rows in sums.values.items()}
    of_row, first = arrays.grouped(arrays.row_keys(sums.labels, ["category"]))
    return {
        name: np.concatenate([rows, sequence_sums.with_total(sequence_sums.total_rows(rows, of_row, len(first)))])
        for name, rows in sums.values.items()
    }


def _with_average(columns: dict[str, np.ndarray], labels: Columns) -> dict[str, np.ndarray]:
    """Metrics with a row for the average of the classes before the last row, if there are classes.

    Counts, which alone are integers, are added instead. This is trackeval's `combine_classes_class_averaged`; the last
    row, from the added sums of all classes, is its `combine_classes_det_averaged`.
    """
    if "category" not in labels:
        return columns
    averaged = {}
    for name, rows in columns.items():
        of_classes = rows[len(labels) : -1]
        share = 1 if rows.dtype.kind == "i" else len(of_classes) or np.nan
        average = (of_classes.sum(axis=0, keepdims=True) / share).astype(rows.dtype)
        averaged[name] = np.concatenate([rows[:-1], average, rows[-1:]])
    return averaged


def _keys(labels: Columns) -> dict[str, Any]:
    """The key of each row of the summary: those of the labels, then of the combined rows, null where it spans all."""
    n_rows = len(labels)
    if "category" not in labels:
        return {"sequence": with_nulls(labels["sequence"], n_rows + 1)}
    import pandas as pd

    from ..support import pandas_tables

    _, first = arrays.grouped(arrays.row_keys(labels, ["category"]))
    n_classes = len(first)
    index = np.concatenate([np.arange(n_rows), first, [-1, -1]])
    return {
        "sequence": with_nulls(labels["sequence"], len(index)),
        "category": with_nulls(labels["category"], n_rows + 1).take(index),
        "average": pd.array([None] * (n_rows + n_classes) + ["class", "detection"], dtype=pandas_tables.TEXT),
    }


def track_matches(aligned: Aligned, tracks: Tracks, found: ClearPairs, rule: Rule) -> pd.DataFrame:
    """The table `matches`: the match table of CLEAR of sides as they were aligned, with events and fragmentations."""
    if tracks.aligned is not aligned:  # classes were laid out apart
        truth, prediction = rows_in(aligned, tracks.aligned)
        pairs = Pairs(prediction[found.pairs.prediction], truth[found.pairs.truth], found.pairs.measure)
        order = np.argsort(pairs.truth)
        found = ClearPairs(pairs.take(order), found.switch[order], found.fragmentation[order])
    table = layout.match_table(aligned, found.pairs, rule)
    return match_dataframe(layout.with_events(table, found.switch, {"fragmentation": found.fragmentation}))


def truth_objects(tracks: Tracks, found: ClearPairs) -> pd.DataFrame:
    """The table `truth_objects`: one row a true object, and how much of it was tracked."""
    of_pair = tracks.truth.of_row[found.pairs.truth]
    table = _objects(tracks, tracks.aligned.truth, tracks.truth, of_pair)
    share = tracked_share(tracks, found)
    return dataframe_of(
        table.assign(
            {
                "tracked_share": share,
                "n_switches": np.bincount(of_pair[found.switch], minlength=len(table)),
                "n_fragmentations": np.bincount(of_pair[found.fragmentation], minlength=len(table)),
                "coverage": coded(coverage(share), COVERAGES),
            }
        )
    )


def predicted_objects(tracks: Tracks, found: ClearPairs) -> pd.DataFrame:
    """The table `predicted_objects`: one row a predicted object, and how much of it was right."""
    of_pair = tracks.predictions.of_row[found.pairs.prediction]
    table = _objects(tracks, tracks.aligned.predictions, tracks.predictions, of_pair)
    together, _ = arrays.distinct(np.sort(tracks.joint_keys(found.pairs.truth, found.pairs.prediction)))
    return dataframe_of(
        table.assign(
            {
                "matched_share": table["n_matched"] / table["n_frames"],
                "n_truth_objects": np.bincount(tracks.split_keys(together)[1], minlength=len(table)),
                "n_switches": np.bincount(of_pair[found.switch], minlength=len(table)),
            }
        )
    )


def _objects(tracks: Tracks, side: Side, identities: Identities, of_pair: np.ndarray) -> Columns:
    """One row an identity of a side: its sequence, its name, how many frames it has, and in how many it is matched."""
    return tracks.labels.take(identities.sequence).assign(
        {
            "object": side.table[identities.column].take(identities.first_row),
            "n_frames": identities.n_rows,
            "n_matched": np.bincount(of_pair, minlength=len(identities.n_rows)),
        }
    )
