"""The text that the commands print for people: metrics one below the other, and aligned tables."""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..scoring import FEW_NOTE, Metric, few_marked, held_by_few, registry, sequence_sums
from ..support import bins_as_text, label, plain_value
from ..tables import Columns, messages
from .headlines import Headline, headline_text
from .layout import aligned, note, sentence
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


def overview(row: Mapping[str, Any], headlines: Sequence[Headline], unit: str | None = None) -> str:
    """Formats a summary: its counts, its first numbers, then a line for each other metric with its unit and formula.

    `unit` is that of the rule's distances here and below, as notes have it: None for px.
    """
    nouns = {"n_sequences": "sequence", "n_frames": "frame", "n_truth": "truth", "n_predicted": "prediction"}
    counts = ", ".join(messages.several(row[name], noun) for name, noun in nouns.items())
    outcomes = "   ".join(f"{registry.METRICS[name].label} {row[name]:,.0f}" for name in ("tp", "fn", "fp"))
    kind, first = _kind(row), [headline.name for headline in headlines]
    metrics = [
        metric
        for metric in (registry.METRICS[name] for name in row if name in registry.METRICS and name not in first)
        if metric.written != "count" and metric.is_defined(*kind)
    ]
    width = max(len(metric.label) for metric in metrics)
    lines = [_line(metric, row[metric.name], width, unit) for metric in metrics]
    return "\n".join([counts, "", headline_text(headlines), "", f"  {outcomes}", "", *lines])


def _kind(names: Container[Hashable]) -> tuple[bool, str]:
    """The kind of matching by which a table of metrics was made: whether by similarity, and the assignment."""
    return "loc_a" in names, sequence_sums.assignment_of(names)


def _line(metric: Metric, value: float, width: int, unit: str | None) -> str:
    """The line of a metric: its label, its value, its unit and its formula."""
    number = number_text(value, ",.4f")
    own = metric.unit_in(unit)
    formula = f"{own}, {metric.formula}" if own else metric.formula
    return sentence(formula, f"  {metric.label:<{width}} {number:>14}   ")


def slice_text(table: pd.DataFrame, columns: Sequence[str]) -> str:
    """Formats a summary by the given columns as aligned text, with a dash for null and few sequences marked."""
    shown = [*columns, *registry.defined(registry.SLICED, *_kind(table))]

    def text(value: Any) -> str:
        return number_text(value) if plain_value(value) is None or isinstance(value, float) else one_line(f"{value}")

    cells, any_few = few_marked(bins_as_text(table)[shown].map(text), table)
    lines = aligned(_texts(cells), len(columns))
    return f"{lines}\n\n{note(FEW_NOTE)}" if any_few else lines


def _texts(cells: pd.DataFrame) -> dict[str, list[str]]:
    """The columns of a table of texts by their headings, which are on one line each."""
    return {one_line(f"{name}"): [f"{text}" for text in cells[name]] for name in cells}


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
        _heading(first, unit): board[first].map(number_text),
        "from": board[f"{first}_low"].map(number_text),
        "to": board[f"{first}_high"].map(number_text),
        **{
            _heading(name, unit): _of_one(board[name], name).map(partial(number_text, written=forms.get(name, ".4f")))
            for name in others
        },
        "apart from next": board["apart_from_next"].map({True: "yes", False: "no"}).fillna("-"),
        count: board[count],
    }
    ranks, any_few = few_marked(by.join(pd.DataFrame(ranking)), board)
    of = [name for name in ("aggregate",) if name in pairs]
    shown = pairs[~pairs["metric"].isin(undefined)]
    scale = shown["metric"].map(lambda name: 100 if _is_percent(name) else 1)
    values = shown[["estimate", "low", "high"]].div(scale, axis=0).join(shown[["p_value", "p_adjusted"]])
    values = values.map(number_text)
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
    tables = aligned(_texts(ranks), len(by.columns) + 2), aligned(_texts(differences), len(differences.columns) - 5)
    return "\n\n".join([*tables, note("\n".join(notes))])


def _named(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Columns of names and bins as text on one line each."""
    return bins_as_text(table)[list(columns)].map(lambda value: one_line(f"{value}"))


def costs_text(costs: pd.DataFrame) -> str:
    """Formats what each kind of error costs as aligned text."""
    gained = "gained: by which the metric would improve if all errors of the kind, and no others, were corrected"
    return f"{table_text(costs)}\n\n{note(gained)}"


def sweep_text(curve: pd.DataFrame, best: pd.DataFrame) -> str:
    """Formats the best threshold of a sweep, and rows at even steps along its curve, as aligned text."""
    if not len(curve):
        return "There are no predictions, and so no thresholds."
    steps = curve.take(sorted({step * (len(curve) - 1) // (MOST_STEPS - 1) for step in range(MOST_STEPS)}))
    n_keys = 1 + ("tau" in curve)
    notes = (
        "cross-validated: what to expect on new sequences, where others chose the threshold; from, to: its 95% interval"
    )
    notes += "\na prediction counts where its score is at least the threshold"
    return f"""The best threshold of the score:

{table_text(best, "tau" in best)}

{len(steps):,} of {len(curve):,} thresholds; --json gives all:

{table_text(steps, n_keys)}

{note(notes)}"""


def table_text(table: pd.DataFrame, n_keys: int = 1) -> str:
    """Formats a table as aligned text, its metrics under their labels with units; columns of nothing but null go.

    Its first `n_keys` columns name the rows.
    """
    columns = [str(column) for column in table if table[column].notna().any()]
    unit = table.attrs.get("unit")
    return aligned({one_line(_heading(column, unit)): _cells(table, column).tolist() for column in columns}, n_keys)


def _heading(column: str, unit: str | None) -> str:
    """The label of a metric with its unit, or the name of another column in words."""
    from ..presentation.drawing import wording

    suffix = next(suffix for suffix in ("_low", "_high", "") if column.endswith(suffix))
    words = column.removeprefix("n_").removesuffix(suffix).replace("_", " ") + wording.SUFFIXES[suffix][0]
    tau = wording.with_unit("tau", wording.unit_of_distances(unit))
    title = wording.title(column, unit) or (tau if column == "tau" else words)
    return title.removesuffix(", %") if _is_percent(column) else title


def _is_percent(column: str) -> bool:
    """Whether the values of a metric's column are in percent, as those of poseval are; texts have shares of 1."""
    from ..presentation.drawing import wording

    known = wording.reading(column)
    return known is not None and known.metric.unit == "%"


def _of_one(values: pd.Series, column: str) -> pd.Series:
    """The values of a column, with those in percent as shares of 1."""
    return values / 100 if _is_percent(column) else values


def _cells(table: pd.DataFrame, column: str) -> pd.Series:
    """Formats the values of a column: numbers with separators, those of metrics with four decimals, null as a dash."""
    from ..presentation.drawing import wording

    written = "z,.4f" if wording.reading(column) else ",.6g"  # z: what rounds to 0 has no sign

    def text(value: Any) -> str:
        if plain_value(value) is None or isinstance(value, float):
            return number_text(value, written)
        return one_line(value) if isinstance(value, str) else f"{value:,}"

    return _of_one(table[column], column).map(text)


def number_text(value: float | None, written: str = ".4f") -> str:
    """Formats a number, with four decimals unless told otherwise, or a dash for null."""
    return "-" if plain_value(value) is None else f"{value:{written}}"


def held_text(held: str) -> str:
    """A line of its own that says which sequences hold most of the true objects."""
    return note(one_line(f"Note: {held}"))


def track_text(summary: Columns, sequences: Sequence[str], headlines: Sequence[Headline]) -> str:
    """Formats the first numbers of tracks, and a row of all for each sequence, then of all combined.

    A note says which sequences hold most of the true objects, if any do.
    """
    names = [*map(one_line, sequences), "combined"]
    n_truth = summary["TP"] + summary["FN"]
    held = held_by_few(sequences, n_truth[: len(sequences)], ".2f")
    notes = "HOTA, DetA, AssA and LocA are means over alpha; LocA is 1 where nothing matches\n"
    notes += "IDSW: identity switches; Frag: fragmentations; MT, PT, ML: objects mostly tracked, partly tracked and "
    notes += "mostly lost"
    parts = [headline_text(headlines), aligned({"": names} | _track_columns(summary)), note(notes)]
    return "\n\n".join(parts) + (f"\n{held_text(held)}" if held else "")


def track_slices_text(table: Columns, columns: Sequence[str]) -> str:
    """Formats the combined metrics of the slices by these columns as aligned text."""
    keys = {one_line(name): [one_line(f"{value}") for value in table[name].tolist()] for name in columns}
    return aligned(keys | _track_columns(table), len(keys))


def _track_columns(summary: Columns) -> dict[str, list[str]]:
    """The metrics of tracks that are shown, as text: shares, then counts, then those on request."""
    from ..tracking import TRACK_METRICS, metrics_on_request

    names = ["HOTA", "DetA", "AssA", "LocA", "MOTA", "MOTP", "IDF1", "IDSW", "Frag", "MT", "PT", "ML", "TP", "FN", "FP"]
    names += metrics_on_request(map(str, summary))
    counts = [name for name in names if name in TRACK_METRICS and TRACK_METRICS[name].written == "count"]
    return {
        name: [f"{value:,}" if name in counts else number_text(value) for value in summary[name].tolist()]
        for name in names
    }


def pose_text(combined: pd.DataFrame, headlines: Sequence[Headline] = ()) -> str:
    """Formats the metrics of joints as aligned text; with notes on what they mean below the first numbers, if given."""
    shares = combined[["HOTA", "DetA", "AssA", "LocA"]]
    shares = shares.join(combined[["mota", "motp", "pre", "rec", "ap"]] / 100)  # which poseval has in percent
    shown = shares.map(number_text).join(combined["switches"].map("{:,}".format))
    table = aligned({"": combined["joint"].fillna("total").map(one_line).tolist()} | _texts(shown))
    if not headlines:
        return table
    notes = "HOTA, DetA, AssA and LocA: by keypoint HOTA, means over alpha; LocA is 1 where nothing matches; "
    notes += "mota, motp, pre, rec and switches: of tracks, by poseval; ap: average precision of poses, by poseval; "
    notes += "poseval itself, and --json, has its shares in percent"
    return "\n\n".join([headline_text(headlines), table, note(notes)])


def near_no_truth_text(n: int) -> str:
    """How many predictions no truth took, in words."""
    which = "1 prediction that no truth took counts" if n == 1 else f"{n:,} predictions that no truth took count"
    return f"{which} in every slice of truths that has their frame"
