"""The sections that take numbers apart: by kinds of error and their costs, and by slices."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ....analysis.errors import error_costs
from ....scoring import FEW_NOTE, OF_FEW, few_marked, registry, rests_on_few
from ....support import bins_as_text, is_binned, label
from ....tables import schema
from ...drawing import display, drawn_tables, wording
from ...drawing.charts import of_tables, shown_name
from ..evaluation import Evaluation, intervals_of, matches_of_name, summary_by
from ..folder import DIFFERENCES, OF_DIFFERENCES, kept, kept_slices
from ..html.blocks import (
    Block,
    Definitions,
    Figure,
    Figures,
    Section,
    Table,
    Text,
    column_title,
    having,
    meanings_of,
    sorting,
    table_of,
)
from .multiples import without_interval
from .slice_differences import ABOUT_DIFFERENCES, differences_by_slice, titled
from .slice_words import worst_in_words

ABOUT = (
    "The cost of a kind of error is the gain if this kind alone were corrected: its false alarms removed, its misses "
    "found."
)
ABOUT_TRACKS = " A corrected switch or gap keeps the identity from before; tracks are evaluated again for each kind."
NO_TRACK_COSTS = (
    " What the kinds cost in {metric} is left out, because evaluating so many objects again for each kind takes longer "
    "than the rest of this page; error_costs() computes it from what track() or pose() returned."
)
ABOUT_AP = (
    " Misses and false alarms are those of the frames. The gain in AP is that of TIDE, which takes detections in the "
    "order of their scores, as AP does: an error may have another kind there, a taken truth is lost, and a false alarm "
    "in a frame without truth is background."
)
NO_AP_COSTS = (
    " What each kind costs in AP is left out, because it takes long for so many objects; error_costs() computes it "
    "from what average_precision() returned."
)
COSTS = ["kind", "n_misses", "n_false_alarms", "AP_gain", "AP50_gain", "f1", "f1_gain", "mse", "mse_gain"]
TRACK_COSTS = ["kind", "n_misses", "n_false_alarms", "n_breaks"]
TRACK_COSTS += ["HOTA", "HOTA_gain", "MOTA_gain", "IDF1_gain", "f1_gain"]
ABOUT_SLICES = (
    "Charts have intervals; the tables below them have none, and intervals(match_table, by=...) computes those. Click "
    "a heading to sort. A dash is an unknown value. For instance, in slices by a column that only truths have, false "
    "alarms belong to no slice."
)
CAPTIONS = {"sequence": "By sequence", "frame_n_truth": "By the number of truths in a frame (frame_n_truth)"}

# The most rows of match tables, of all submissions, up to which tracks are evaluated again for each kind.
MOST_EVALUATED = 100_000

# Those up to which costs in AP are computed: they would double the time of a report of COCO's 5,000 images.
MOST_COSTED = 100_000

# The most slices that a chart shows.
MOST_DRAWN = 40

# The count of rows of a table that a page has room for.
MOST_ROWS = 16_000


def errors(evaluation: Evaluation) -> Section:
    """Makes the section of the kinds of error and their costs."""
    metric, costs = evaluation.headline[0], _costs(evaluation)
    of_tracks = "n_breaks" in costs
    in_ap = _costs_in_ap(evaluation)
    blocks: list[Block] = [Text(ABOUT + _about(evaluation, of_tracks, in_ap is not None), "note")]
    with_ap = costs if in_ap is None else _with_gains(costs, in_ap)
    if drawing := of_tables.error_costs(with_ap, evaluation.names, metric if f"{metric}_gain" in with_ap else "f1"):
        blocks.append(Figure("costs", "The cost of each kind of error", drawing))
    columns = [name for name in TRACK_COSTS if name != "IDF1_gain" or "IDF1" in evaluation.headline]  # poses have none
    named = with_ap.assign(kind=costs["kind"].map(display.words))
    shown = having(named, [*evaluation.whose, *(columns if of_tracks else COSTS)])
    blocks.append(table_of("costs", "Kinds of error and their cost", shown, ["submission", "kind"]))
    blocks.append(Definitions(_meanings(evaluation, costs)))
    tables = {"diagnosis": _diagnosis(evaluation.matches), "error_costs": costs}
    tables |= {} if in_ap is None else {"precision_costs": in_ap}
    return Section("errors", "Errors", "Errors", blocks, kept(tables))


def _about(evaluation: Evaluation, of_tracks: bool, in_ap: bool) -> str:
    """What the costs of tracks and in average precision are, or why they are left out."""
    if evaluation.tracks:
        return ABOUT_TRACKS if of_tracks else NO_TRACK_COSTS.format(metric=wording.title(evaluation.headline[0]))
    return "" if not evaluation.precisions else ABOUT_AP if in_ap else NO_AP_COSTS


def _costs_in_ap(evaluation: Evaluation) -> pd.DataFrame | None:
    """What each kind of error costs in average precision; None without it, and where that would take too long."""
    if not evaluation.precisions or len(evaluation.matches) > MOST_COSTED:
        return None
    return drawn_tables.together({name: error_costs(x) for name, x in evaluation.precisions.items()})


def _with_gains(costs: pd.DataFrame, in_ap: pd.DataFrame) -> pd.DataFrame:
    """The costs of the kinds of the match tables, with what those of the same name cost in average precision."""
    keys, gains = ["submission", "kind"], [name for name in ("AP_gain", "AP50_gain") if name in in_ap]
    answer = costs.merge(in_ap[[*keys, *gains]], how="left", on=keys)
    answer.attrs = costs.attrs
    return answer


def _costs(evaluation: Evaluation) -> pd.DataFrame:
    """The costs of the kinds of error of each submission; those of many tracks in F1 only."""
    matches, given = evaluation.matches, evaluation.options
    if evaluation.tracks and len(matches) <= MOST_EVALUATED:
        results = evaluation.results.items()
        of_rule: dict[str, Any] = {"similarity": given.similarity, "distance": given.distance, "tau": given.tau}
        return drawn_tables.together({name: error_costs(x, **of_rule) for name, x in results})
    return drawn_tables.together(
        {name: error_costs(matches[matches["submission"] == name]) for name in evaluation.names}
    )


def _meanings(evaluation: Evaluation, costs: pd.DataFrame) -> list[tuple[str, str]]:
    """The kinds of error that the report tells of, in words, with what they mean."""
    notes = evaluation.matches.attrs
    farthest = notes["reach"] if "reach" in notes else notes["least_similarity"]
    kinds = costs["kind"].drop_duplicates().tolist()
    return [(display.words(kind), text) for kind, text in wording.kind_texts(kinds, evaluation.rule, farthest).items()]


def _diagnosis(matches: pd.DataFrame) -> pd.DataFrame:
    """The errors with their kinds: which, where, and what else there was."""
    wrong = matches[matches["outcome"].cat.codes.isin([schema.FN, schema.FP])]
    measures = [str(column) for column in matches if str(column).startswith("pair_")]
    columns = [
        "submission",
        *schema.frame_columns(matches),
        "outcome",
        "kind",
        *measures,
        "truth_object",
        "predicted_object",
    ]
    return having(wrong, [*columns, *(f"{side}{name}" for side in schema.SIDE_PREFIXES for name in schema.BOX)])


def slices(evaluation: Evaluation) -> Section:
    """Makes the section of the metrics by sequence, by the count of truths in a frame, and by the columns asked for."""
    own, names = evaluation.own_metrics, evaluation.names
    summaries = {
        columns: drawn_tables.together(
            {
                name: summary_by(matches_of_name(evaluation, name), of_name[name], evaluation.rule, own)
                for name in names
                if name in of_name
            }
        )
        for columns, of_name in evaluation.cuts.items()
    }
    worst, tables = worst_in_words(evaluation)
    blocks: list[Block] = [*worst, Text(ABOUT_SLICES, "note")]
    compared = dict[tuple[str, ...], pd.DataFrame]()
    for position, (columns, summary) in enumerate(summaries.items()):
        drawn, differ = _slices_drawn(f"slices-{position}", evaluation, columns)
        blocks += [*drawn, slice_table(f"slice-{position}", columns, summary, names)]
        compared |= {} if differ is None else {columns: differ}
    blocks += [Text(ABOUT_DIFFERENCES, "note")] if compared else []
    tables |= kept_slices(summaries) | kept_slices(compared, OF_DIFFERENCES, DIFFERENCES)
    return Section("slices", "Slices", "Slices", blocks, tables)


def _slices_drawn(
    name: str, evaluation: Evaluation, columns: tuple[str, ...]
) -> tuple[list[Block], pd.DataFrame | None]:
    """The chart of a metric by slices with intervals, differences beside it, and the table of these differences.

    There is nothing where it would have too many slices, or no number. False alarms have no values in columns of
    truths, so there it is recall; misses have none in those of predictions, so there it is precision; otherwise it is
    F1. Tracks by condition have a chart of HOTA of their own.
    """
    cuts = evaluation.cuts[columns]
    n_slices = len(pd.concat([pd.concat(of, axis=1) for of in cuts.values()]).dropna().drop_duplicates())
    if columns == ("sequence",) or columns in evaluation.by_condition or not 1 < n_slices <= MOST_DRAWN:
        return [], None
    of_sides = zip(("recall", "precision"), schema.SIDE_PREFIXES, strict=True)
    metric = next((of for of, side in of_sides if any(name.startswith(side) for name in columns)), "f1")
    names = [of for of in evaluation.names if of in cuts]
    rows = drawn_tables.together(
        {of: intervals_of(matches_of_name(evaluation, of), cuts[of], [metric]) for of in names}
    )
    figure = slices_figure(name, f"{titled(metric)} by {' and '.join(columns)}", rows, names, columns)
    if figure is None:
        return [], None
    table, block, told = differences_by_slice(evaluation, columns, names, n_slices, metric, f"{name}-differences")
    beside: list[Block] = [Figures([figure, block])] if isinstance(block, Figure) else [figure]
    beside += [] if block is None or isinstance(block, Figure) else [block]
    return [*beside, *without_interval(rows, names, columns), *([Text(told)] if told else [])], table


def slices_figure(
    name: str, heading: str, rows: pd.DataFrame, names: Sequence[str], columns: Sequence[str]
) -> Figure | None:
    """The chart of intervals of one metric by slices of these submissions; None where there is no number."""
    if rows["estimate"].isna().all():
        return None
    metric = str(rows["metric"].iloc[0])
    slices = [shown_name(of) for of in drawn_tables.slice_names(rows, columns)]
    drawing = of_tables.estimates_by_slice(rows, names, slices, ", ".join(columns), metric)
    note = f"hollow: {OF_FEW}" if rests_on_few(rows).any() else ""
    return Figure(name, f"{heading}{',' if note else ''}", drawing, note)


def slice_table(name: str, columns: Sequence[str], summary: pd.DataFrame, names: Sequence[str]) -> Table:
    """Makes the table of a summary by columns: its first MOST_ROWS rows, sequences with the most errors first."""
    by = [*columns] if len(names) == 1 else ["submission", *columns]
    binned = [by.index(column) for column in columns if isinstance(summary[column].dtype, pd.CategoricalDtype)]
    unit = summary.attrs.get("unit")
    metrics = [metric for metric in [*registry.SLICED, *registry.own_metrics()] if metric in summary]
    table = summary
    if [*columns] == ["sequence"] and not binned:
        errors = (summary["fn"].fillna(0) + summary["fp"].fillna(0)).astype("int64")
        metrics = ["errors", *(metric for metric in metrics if metric != "n_sequences")]
        table = summary.assign(errors=errors).take(np.argsort(-errors.to_numpy(), kind="stable"))
    shown = table.head(MOST_ROWS)[[*by, *metrics]]
    # Bins as text would not sort by their bounds, and rounded texts could make different values look equal.
    kinds = ["position" if place in binned else kind for place, kind in enumerate(sorting(shown))]
    exact = bins_as_text(shown)[[*columns]].map(label).to_numpy().tolist()
    first, last = len(by) - len(columns), len(by)
    cells, any_few = few_marked(display.texts(shown), shown)
    rows = [[*row[:first], *values, *row[last:]] for row, values in zip(cells.to_numpy(), exact, strict=True)]
    return Table(
        name,
        CAPTIONS.get("*".join(columns), f"By {' and '.join(columns)}"),
        [*by, *(column_title(metric, unit) for metric in metrics)],
        kinds,
        rows,
        sorted_by=len(by) if "errors" in metrics else None,
        positions={place: shown[by[place]].cat.codes.tolist() for place in binned},
        n_left_out=len(table) - len(shown),
        note=FEW_NOTE if any_few else "",
        meanings={place + len(by): told for place, told in meanings_of(metrics, unit).items()},
        filters={place: binned_name(name) if is_binned(summary[name]) else name for place, name in enumerate(by)},
    )


def bins_of(evaluation: Evaluation) -> dict[str, np.ndarray]:
    """The bins of columns that slices are cut into, as text or None, for each row of the evaluation's match tables.

    They are named as `binned_name` does. Where two slicings cut a column differently, the bins are those of the first.
    """
    answer: dict[str, np.ndarray] = {}
    for columns, of_name in evaluation.cuts.items():
        for position, column in enumerate(columns):
            parts = {name: series[position] for name, series in of_name.items()}
            if binned_name(column) not in answer and any(is_binned(values) for values in parts.values()):
                answer[binned_name(column)] = np.concatenate(
                    [
                        _bin_texts(parts[name])
                        if name in parts
                        else np.full(len(matches_of_name(evaluation, name)), None)
                        for name in evaluation.names
                    ]
                )
    return answer


def binned_name(column: str) -> str:
    """The name of the column that has the bins of this one."""
    return f"{column} (bins)"


def _bin_texts(values: pd.Series) -> np.ndarray:
    """The bin of each row as the tables of slices show it; None for null."""
    bins = pd.Categorical(values)
    each = pd.Categorical.from_codes(range(len(bins.categories)), dtype=bins.dtype)
    texts = bins_as_text(pd.DataFrame({"bin": each}))["bin"].map(label)
    return np.array([*texts, None], dtype=object)[bins.codes]
