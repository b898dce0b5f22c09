"""The section that explains every metric of the page once: what it is, which way is better, and whose number it is."""

from collections.abc import Iterable, Mapping

from ....scoring import AP_METRICS, Metric, official
from ....tracking import HOTA_NUMBERS, POSEVAL_NUMBERS, TRACK_METRICS, PoseResult, TrackResult
from ...drawing import wording
from ..evaluation import Evaluation
from ..html.blocks import Figures, Metrics, Section, Table, Text

ABOUT = (
    "Each metric of this page, by its name in tables and charts. The headings of tables show the same under a pointer, "
    "and screen readers tell it there. A heading such as “F1 from” or “F1 gained” is about the metric that it begins "
    "with."
)
DIRECTIONS = {True: " More is better.", False: " Less is better.", None: ""}
OF_COUNTS = " A count grows with the data, so it has no interval."


def metrics(evaluation: Evaluation, sections: Iterable[Section]) -> Section:
    """Makes the section of the metrics that the numbers and the tables of these sections have."""
    unit, whose = evaluation.rule.unit, _official(evaluation)
    names = dict.fromkeys([*evaluation.headline, *_in_tables(sections)])
    entries = {known.metric.name: known.metric for name in names if (known := wording.reading(name))}
    rows = [(name, _term(metric, unit), _text(metric) + whose.get(name, "")) for name, metric in entries.items()]
    return Section("metrics", "Metrics", "Metrics", [Text(ABOUT, "note"), Metrics(rows)])


def _in_tables(sections: Iterable[Section]) -> list[str]:
    """The columns of tables that are metrics, in the order of the page."""
    blocks = [block for section in sections for block in section.blocks if not isinstance(block, Figures)]
    return [name for block in blocks if isinstance(block, Table) for name, _ in block.meanings.values()]


def _term(metric: Metric, unit: str | None) -> str:
    """The name of a metric with its unit and its direction."""
    return f"{wording.with_unit(metric.label, metric.unit_in(unit))} {wording.arrow(metric)}".rstrip()


def _text(metric: Metric) -> str:
    """What a metric is, in sentences."""
    no_interval = OF_COUNTS if metric.written == "count" else ""
    no_interval = f" It has no interval: {metric.no_interval}." if metric.no_interval else no_interval
    return f"{wording.definition(metric)}.{DIRECTIONS[metric.higher_is_better]}{no_interval}"


def _official(evaluation: Evaluation) -> dict[str, str]:
    """For each metric that is an official number, the sentence that says whose; of all submissions alike."""
    told = [_whose(official.of_matches(matches.attrs), official.OF_SPOTGEO) for matches in evaluation.matched.values()]
    for kind, names in ((TrackResult, [*TRACK_METRICS]), (PoseResult, [*HOTA_NUMBERS, *POSEVAL_NUMBERS])):
        told += [_whose(x.provenance, names) for x in evaluation.tracked.values() if isinstance(x, kind)]
    told += [_whose(x.provenance, AP_METRICS) for x in evaluation.precisions.values()]
    alike: Mapping[str, set[str]] = {name: {of[name] for of in told if name in of} for of in told for name in of}
    return {name: text for name, texts in alike.items() if len(texts) == 1 for text in texts}


def _whose(provenance: str, names: Iterable[str]) -> dict[str, str]:
    """The sentence of these metrics; an empty one where they are no official number."""
    text = f" Official: {provenance}." if official.is_official(provenance) else ""
    return dict.fromkeys(names, text)
