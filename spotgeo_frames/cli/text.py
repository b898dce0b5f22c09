"""What the commands print for people: tables as aligned text, and problems as one line each."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from ..analysis.comparison import Comparison
from ..support.labels import bins_as_text


def one_line(text: str) -> str:
    """A key or a path may hold line breaks and the like; a problem is one line all the same."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def overview(row: Mapping[Hashable, Any]) -> str:
    def number(name: str, digits: int = 4) -> str:
        return "-" if pd.isna(row[name]) else f"{row[name]:,.{digits}f}"

    nouns = {"n_sequences": "sequence", "n_frames": "frame", "n_truth": "truth", "n_predicted": "prediction"}
    counts = ", ".join(f"{row[name]:,} {noun}{'' if row[name] == 1 else 's'}" for name, noun in nouns.items())
    return f"""{counts}

  TP {row["tp"]:,.0f}   FN {row["fn"]:,.0f}   FP {row["fp"]:,.0f}

  precision      {number("precision"):>12}
  recall         {number("recall"):>12}
  F1             {number("f1"):>12}   1 - F1 = {number("one_minus_f1", 6)}
  mse            {number("mse"):>12}   px², by the metric document: mean over TP, FN and FP
  kelvins mse    {number("kelvins_mse"):>12}   by the competition's server: sum of the sequences' means
  accuracy       {number("det_a"):>12}   TP / (TP + FN + FP)
  mean distance  {number("mean_distance"):>12}   px, true positives
  rmse           {number("rmse"):>12}   px, true positives"""


def slice_text(table: pd.DataFrame, columns: Sequence[str]) -> str:
    """A summary by these columns as aligned text, with a dash for what is not known."""
    shown = [*columns, "tp", "fn", "fp", "precision", "recall", "f1", "mse", "mean_distance", "n_frames"]

    def text(value: Any) -> str:
        return "-" if pd.isna(value) else f"{value:.4f}" if isinstance(value, float) else f"{value}"

    return bins_as_text(table)[shown].map(text).to_string(index=False)


def comparison_text(compared: Comparison) -> str:
    """The leaderboard and the differences as aligned text."""
    board, pairs = compared
    names = board["name"].map(one_line)
    chance = board[[column for column in board if str(column).startswith("chance_of_rank_")]].to_numpy()
    shown = pd.DataFrame(
        {
            "rank": board["rank"],
            "name": names,
            "f1": board["f1"].map(number_text),
            "from": board["f1_low"].map(number_text),
            "to": board["f1_high"].map(number_text),
            "kelvins mse": board["kelvins_mse"].map("{:,.1f}".format),
            "chance of rank 1": pd.Series(chance[:, 0]).map(lambda value: "-" if pd.isna(value) else f"{value:.1%}"),
            "apart from next": board["apart_from_next"].map({True: "yes", False: "no"}).fillna("-"),
        }
    )
    numbers = pairs[["estimate", "low", "high", "p_value", "p_adjusted"]].map(number_text)
    differences = pairs[["a", "b"]].map(one_line).join(pairs["metric"]).join(numbers)
    return f"""{shown.to_string(index=False)}

{differences.to_string(index=False)}

estimate: a less b; low to high: 95% interval, by drawing sequences; p_value: by swapping sequences between the two,
p_adjusted: by Holm's method over all pairs; apart from next: p_adjusted of f1 below 0.05"""


def number_text(value: float) -> str:
    return "-" if pd.isna(value) else f"{value:.4f}"


def track_text(summary: pd.DataFrame) -> str:
    """The numbers of tracks as aligned text, shares in percent."""
    shares = ["HOTA", "DetA", "AssA", "LocA", "MOTA", "MOTP", "IDF1"]
    counts = ["IDSW", "Frag", "MT", "PT", "ML", "TP", "FN", "FP"]
    shown = summary[shares].mul(100).map("{:.2f}".format).join(summary[counts].map("{:,}".format))
    shown.insert(0, "", [*(one_line(str(name)) for name in summary["sequence"][:-1]), "combined"])
    return f"""{shown.to_string(index=False)}

shares in percent; HOTA, DetA, AssA and LocA are means over alpha, LocA 100 where nothing matches
IDSW switches of identity, Frag fragmentations; MT, PT, ML objects mostly, partly tracked and mostly lost"""


def pose_text(combined: pd.DataFrame) -> str:
    """The numbers of joints as aligned text, in percent."""
    names = ["HOTA", "DetA", "AssA", "LocA"]
    columns = combined[names].mul(100).join(combined[["mota", "motp", "pre", "rec", "ap"]])
    shown = columns.map(lambda value: "-" if pd.isna(value) else f"{value:.2f}").join(combined["switches"])
    shown.insert(0, "", combined["joint"].fillna("total"))
    return f"""{shown.to_string(index=False)}

in percent; HOTA, DetA, AssA and LocA are keypoint HOTA's, means over alpha, LocA 100 where nothing matches
mota, motp, pre, rec and switches are poseval's of tracks, ap its average precision of poses"""
