"""Specifications of Vega-Lite as plain dicts: channels, marks, and layers of marks.

The page has them as they are, so a report does not load Altair, whose import takes longer than all charts of a page.
Altair makes charts of notebooks from the same dicts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Spec = dict[str, Any]

# The version of Vega-Lite that the specifications are written for.
VEGA_LITE = "6.4.1"
SCHEMA = f"https://vega.github.io/schema/vega-lite/v{VEGA_LITE}.json"

# The kinds of values that a field has, by the letters that name them, as in Altair.
TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}


def channel(field: str, **options: Any) -> Spec:
    """A channel that shows a field, with options such as `title`, `axis` and `scale`.

    The letter after a colon is the type of its values: Q for numbers, N for names, O for positions. The second end of a
    mark has that of the first.

    >>> channel("recall:Q", title="recall")
    {'field': 'recall', 'type': 'quantitative', 'title': 'recall'}
    """
    name, _, kind = field.partition(":")
    return {"field": name} | ({"type": TYPES[kind]} if kind else {}) | options


def marks(data: str, kind: str, look: Mapping[str, Any] | None = None, where: Any = None, **channels: Any) -> Spec:
    """Marks of a kind, one for each row of `data`, with properties that all have, and channels.

    A channel is a dict, or only the name of a field as `channel` takes it. `where` says which rows have a mark.

    >>> marks("limits", "rule", {"strokeWidth": 2}, x="at:Q")["encoding"]
    {'x': {'field': 'at', 'type': 'quantitative'}}
    """
    chart = {"data": {"name": data}, "mark": {"type": kind, **(look or {})}}
    return encoded(chart if where is None else filtered(chart, where), **channels)


def encoded(chart: Spec, **channels: Any) -> Spec:
    """The marks with further channels, or with others in place of those of the same name."""
    more = {name: channel(of) if isinstance(of, str) else of for name, of in channels.items()}
    return chart | {"encoding": chart.get("encoding", {}) | more}


def filtered(chart: Spec, where: Any) -> Spec:
    """The marks of some rows: an expression that says which, or a predicate of a field."""
    return chart | {"transform": [{"filter": where}]}


def layered(*charts: Spec) -> Spec:
    """Marks over one another, the first ones below."""
    return {"layer": [*charts]}


def units(chart: Spec) -> Sequence[Spec]:
    """The marks of each layer of a chart, or of the only one."""
    return chart.get("layer", [chart])
