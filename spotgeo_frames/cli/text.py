"""The text that the commands print for people: metrics one below the other, and aligned tables."""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..scoring import FEW_NOTE, Metric, few_marked, held_by_few, registry, sequence_sums
from ..support import bins_as_text, label, plain_value
from ..tables import messages
from .printing import one_line

if TYPE_CHECKING:
    import pandas as pd

# How many rows of a curve are printed.
MOST_STEPS = 10

# How many reasons of missing intervals are printed.
MOST_REASONS = 3


def rule_text(notes: Mapping[Hashable, Any]) -> str:
    """Formats the rule of a table, such as `tau 10 px, epsilon 3 px` or `similarity iou, threshold 0.5`.

    That of a caller's distance begins with its name, as in `distance great_circle, tau 2 arcsec, epsilon 0 arcsec`.
    """
    if "rule" not in notes:  # as in tables of polars, which have no place for it
        return "a rule that is not noted"
    unit = f" {notes.get('unit', 'px')}".rstrip()
    units = {"tau": unit, "epsilon": unit}
    thresholds = [
        f"{name.replace('_', ' ')} {label(notes[name])}{units.get(name, '')}"
        for name in ("tau", "epsilon", "threshold", "head_sizes")
        if name in notes
    ]
    of_class = [f"by {notes['by']}"] if "by" in notes else []
    word = "distance" if "epsilon" in notes else "similarity"  # rules by distance alone have it
    measure = [] if notes["rule"] == "distance" else [f"{word} {notes['rule']}"]
    chosen = [f"{name} {label(notes[name])}" for name in ("assignment", "power") if name in notes]
    return ", ".join([*measure, *thresholds, *chosen, *of_class])


def overview(row: Mapping[str, Any], unit: str | None = None) -> str:
    """Formats a summary: its counts, then one line for each metric with its unit and formula.

    `unit` is that of the rule's distances here and below, as notes have it: None for px.
    """
    nouns = {"n_sequences": "sequence", "n_frames": "frame", "n_truth": "truth", "n_predicted": "prediction"}
    counts = ", ".join(messages.several(row[name], noun) for name, noun in nouns.items())
    outcomes = "   ".join(f"{registry.METRICS[name].label} {row[name]:,.0f}" for name in ("tp", "fn", "fp"))
    kind = _kind(row)
    metrics = [
        metric
        for metric in (registry.METRICS[name] for name in row if name in registry.METRICS)
        if metric.written != "count" and metric.is_defined(*kind)
    ]
    width = max(len(metric.label) for metric in metrics)
    lines = [_line(metric, row[metric.name], width, unit) for metric in metrics]
    return "\n".join([counts, "", f"  {outcomes}", "", *lines])


def _kind(names: Container[Hashable]) -> tuple[bool, str]:
    """The kind of matching by which a table of metrics was made: whether by similarity, and the assignment."""
    return "loc_a" in names, sequence_sums.assignment_of(names)


def _line(metric: Metric, value: float, width: int, unit: str | None) -> str:
    """The line of a metric: its label, its value, its unit and its formula."""
    number = number_text(value, ",.4f")
    own = metric.unit_in(unit)
    formula = f"{own}, {metric.formula}" if own else metric.formula
    return f"  {metric.label:<{width}} {number:>14}   {formula}"


def slice_text(table: pd.DataFrame, columns: Sequence[str]) -> str:
    """Formats a summary by the given columns as aligned text, with a dash for null and few sequences marked."""
    shown = [*columns, *registry.defined(registry.SLICED, *_kind(table))]

    def text(value: Any) -> str:
        return number_text(value) if plain_value(value) is None or isinstance(value, float) else one_line(f"{value}")

    cells, any_few = few_marked(bins_as_text(table)[shown].map(text), table)
    lines = cells.rename(columns=one_line).to_string(index=False)
    return f"{lines}\n\n{FEW_NOTE}" if any_few else lines


def comparison_text(board: pd.DataFrame, pairs: pd.DataFrame) -> str:
    """Formats the leaderboard and the differences of a comparison as aligned text."""
    import pandas as pd

    from ..presentation.drawing import wording

    undefined = {name for name, metric in registry.METRICS.items() if not metric.is_defined(*_kind(board))}
    first, *others = (name for name in wording.BOARD if name in board and name not in undefined)
    by = _named(board, [str(column) for column in board.columns[: board.columns.get_loc("rank")]])
    count = "n_sequences" if "n_sequences" in board else "n_frames"
    forms, unit = {"kelvins_mse": ",.1f"}, board.attrs.get("unit")
    ranking = {
        "rank": board["rank"],
        "name": board["name"].map(one_line),
        wording.title(first, unit): board[first].map(number_text),
        "from": board[f"{first}_low"].map(number_text),
        "to": board[f"{first}_high"].map(number_text),
        **{
            wording.title(name, unit): board[name].map(partial(number_text, written=forms.get(name, ".4f")))
            for name in others
        },
        "apart from next": board["apart_from_next"].map({True: "yes", False: "no"}).fillna("-"),
        count: board[count],
    }
    ranks, any_few = few_marked(by.join(pd.DataFrame(ranking)), board)
    of = [name for name in ("aggregate",) if name in pairs]
    shown = pairs[~pairs["metric"].isin(undefined)]
    values = shown[["estimate", "low", "high", "p_value", "p_adjusted"]].map(number_text)
    differences = _named(shown, [*by, "a", "b", *of, "metric"]).join(values)
    notes = [
        "estimate: a minus b; low to high: 95% interval, and p_value: from swapping and leaving out sequences",
        f"both ask {board.attrs['question']}",
        "p_adjusted: over all pairs and metrics together",
        f"apart from next: by {wording.title(first, unit)}, p_adjusted < 0.05; no: not shown to differ",
    ]
    if of and (pairs["aggregate"] == "macro").any():
        notes.append("macro: the mean over sequences")
    if any_few:
        notes.append(FEW_NOTE)
    reasons = dict.fromkeys([*board["reason"].dropna(), *shown["reason"].dropna()])
    notes += [f"no interval: {one_line(reason)}" for reason in list(reasons)[:MOST_REASONS]]
    tables = (ranks, differences)
    return "\n\n".join([*(table.to_string(index=False) for table in tables), "\n".join(notes)])


def _named(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Columns of names and bins as text on one line each."""
    return bins_as_text(table)[list(columns)].map(lambda value: one_line(f"{value}"))


def costs_text(costs: pd.DataFrame) -> str:
    """Formats what each kind of error costs as aligned text."""
    return f"""{table_text(costs)}

gained: by which the metric would improve if all errors of the kind, and no others, were corrected"""


def sweep_text(curve: pd.DataFrame, best: pd.DataFrame) -> str:
    """Formats the best threshold of a sweep, and rows at even steps along its curve, as aligned text."""
    if not len(curve):
        return "There are no predictions, and so no thresholds."
    steps = curve.take(sorted({step * (len(curve) - 1) // (MOST_STEPS - 1) for step in range(MOST_STEPS)}))
    return f"""The best threshold of the score:

{table_text(best)}

{len(steps):,} of {len(curve):,} thresholds; --json gives all:

{table_text(steps)}

cross-validated: what to expect on new sequences, where others chose the threshold; from, to: its 95% interval
a prediction counts where its score is at least the threshold"""


def table_text(table: pd.DataFrame) -> str:
    """Formats a table as aligned text, its metrics under their labels with units; columns of nothing but null go."""
    import pandas as pd

    columns = [str(column) for column in table if table[column].notna().any()]
    unit = table.attrs.get("unit")
    return pd.DataFrame({_heading(column, unit): _cells(table, column) for column in columns}).to_string(index=False)


def _heading(column: str, unit: str | None) -> str:
    """The label of a metric with its unit, or the name of another column in words."""
    from ..presentation.drawing import wording

    suffix = next(suffix for suffix in ("_low", "_high", "") if column.endswith(suffix))
    words = column.removeprefix("n_").removesuffix(suffix).replace("_", " ") + wording.SUFFIXES[suffix][0]
    tau = wording.with_unit("tau", wording.unit_of_distances(unit))
    return wording.title(column, unit) or (tau if column == "tau" else words)


def _cells(table: pd.DataFrame, column: str) -> pd.Series:
    """Formats the values of a column: numbers with separators, those of metrics with four decimals, null as a dash."""
    from ..presentation.drawing import wording

    written = "z,.4f" if wording.reading(column) else ",.6g"  # z: what rounds to 0 has no sign

    def text(value: Any) -> str:
        if plain_value(value) is None or isinstance(value, float):
            return number_text(value, written)
        return one_line(value) if isinstance(value, str) else f"{value:,}"

    return table[column].map(text)


def number_text(value: float | None, written: str = ".4f") -> str:
    """Formats a number, with four decimals unless told otherwise, or a dash for null."""
    return "-" if plain_value(value) is None else f"{value:{written}}"


def held_text(held: str) -> str:
    """A line of its own that says which sequences hold most of the true objects."""
    return one_line(f"Note: {held}")


def track_text(summary: pd.DataFrame, sequences: Sequence[str]) -> str:
    """Formats the metrics of tracks as aligned text, shares in percent: a row for each sequence, then of all.

    A note says which sequences hold most of the true objects, if any do.
    """
    shown = _track_columns(summary)
    shown.insert(0, "", [*map(one_line, sequences), "combined"])
    n_truth = summary["TP"].to_numpy() + summary["FN"].to_numpy()
    held = held_by_few(sequences, n_truth[: len(sequences)])
    note = held_text(held) if held else ""
    return f"""{shown.to_string(index=False)}

shares in percent; HOTA, DetA, AssA and LocA are means over alpha; LocA is 100 where nothing matches
IDSW: identity switches; Frag: fragmentations; MT, PT, ML: objects mostly tracked, partly tracked and mostly lost
{note}""".rstrip()


def track_slices_text(table: pd.DataFrame, columns: Sequence[str]) -> str:
    """Formats the combined metrics of the slices by these columns as aligned text, shares in percent."""
    cells = table[[*columns]].map(lambda value: one_line(f"{value}"))
    return cells.join(_track_columns(table)).rename(columns=one_line).to_string(index=False)


def _track_columns(summary: pd.DataFrame) -> pd.DataFrame:
    """The metrics of tracks that are shown, as text: shares in percent, then counts, then those on request."""
    from ..tracking import TRACK_METRICS, known_metric, metrics_on_request

    names = ["HOTA", "DetA", "AssA", "LocA", "MOTA", "MOTP", "IDF1", "IDSW", "Frag", "MT", "PT", "ML", "TP", "FN", "FP"]
    shares = [name for name in names if TRACK_METRICS[name].written == "share"]
    counts = [name for name in names if TRACK_METRICS[name].written == "count"]
    percent = summary[shares].mul(100).map(lambda value: number_text(value, ".2f"))
    shown = percent.join(summary[counts].map("{:,}".format))
    for name in metrics_on_request(map(str, summary)):
        entry = known_metric(name)
        is_share = entry is not None and entry.written == "share"
        values = summary[name] * (100 if is_share else 1)
        shown[name] = values.map(lambda value, places=".2f" if is_share else ".4f": number_text(value, places))
    return shown


def pose_text(combined: pd.DataFrame, *, with_notes: bool = True) -> str:
    """Formats the metrics of joints as aligned text, in percent; with notes on what they mean, if these are wanted."""
    names = ["HOTA", "DetA", "AssA", "LocA"]
    columns = combined[names].mul(100).join(combined[["mota", "motp", "pre", "rec", "ap"]])
    shown = columns.map(lambda value: number_text(value, ".2f")).join(combined["switches"])
    shown.insert(0, "", combined["joint"].fillna("total"))
    if not with_notes:
        return shown.to_string(index=False)
    return f"""{shown.to_string(index=False)}

in percent, but switches is a count; HOTA, DetA, AssA and LocA: by keypoint HOTA, means over alpha; LocA is 100 where
nothing matches; mota, motp, pre, rec and switches: of tracks, by poseval; ap: average precision of poses, by poseval"""
