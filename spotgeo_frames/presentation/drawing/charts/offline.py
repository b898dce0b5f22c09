"""Charts that notebooks show without a network, and keep as pictures.

Altair's own way to show a chart is a page that loads scripts from the internet. Here a chart gives notebooks its
specification, which JupyterLab, Jupyter Notebook and VS Code draw with scripts of their own, and beside it a picture:
what cannot draw the specification (nbconvert, GitHub) shows that. A renderer of Altair that the user has chosen stays
chosen, and no renderer is switched here.
"""

import copy
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import altair as alt
import vl_convert

# JupyterLab knows specifications of Vega-Lite as those of version 5, and draws what charts here use of version 6.
SPECIFICATION = "application/vnd.vegalite.v5+json"
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"

# The renderer that Altair has where nobody has chosen another.
USUAL = "default"


class _Offline:
    """What charts that are shown without a network have besides; charts that they are joined to become such, too."""

    def _repr_mimebundle_(self, *args: Any, **kwargs: Any) -> Any:
        if alt.renderers.active != USUAL or alt.renderers.options:
            return super()._repr_mimebundle_(*args, **kwargs)  # type: ignore[misc]
        made = self.to_dict()  # type: ignore[attr-defined]
        shown = {SPECIFICATION: _for_version_5(made), "text/plain": repr(self)}
        with suppress(ValueError):  # what cannot be drawn says so where the specification is drawn
            shown["image/svg+xml"] = vl_convert.vegalite_to_svg(made)
        return shown

    def __add__(self, other: Any) -> Any:
        return offline(super().__add__(other))  # type: ignore[misc]

    def __or__(self, other: Any) -> Any:
        return offline(super().__or__(other))  # type: ignore[misc]

    def __and__(self, other: Any) -> Any:
        return offline(super().__and__(other))  # type: ignore[misc]


def _for_version_5(made: dict[str, Any]) -> dict[str, Any]:
    """A specification that Vega-Lite 5.6, which JupyterLab has, draws: choices stand in the views that they are of.

    Altair names these views in a list of all choices, and 5.6 then takes a choice twice. It shares one of the same name
    among joined charts by itself; within the layers of a chart, one view is enough.
    """
    answer = copy.deepcopy(made) | {"$schema": SCHEMA}
    choices = answer.pop("params", [])
    for choice in choices:
        moved = {name: value for name, value in choice.items() if name != "views"}
        for chart in _joined(answer) if "views" in choice else ():
            own = [view for view in _views(chart) if view.get("name") in choice["views"]]
            for view in own[:1]:
                view["params"] = [*view.get("params", []), moved]
    kept = [choice for choice in choices if "views" not in choice]
    return answer | ({"params": [*kept, *answer.get("params", [])]} if kept else {})


def _joined(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The charts that a specification joins, or itself if it joins none."""
    inner = [chart for kind in ("hconcat", "vconcat") for chart in part.get(kind, [])]
    for chart in inner:
        yield from _joined(chart)
    if not inner:
        yield part


def _views(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A chart and all its layers."""
    yield part
    for layer in part.get("layer", []):
        yield from _views(layer)


class _Chart(_Offline, alt.Chart):
    pass


class _LayerChart(_Offline, alt.LayerChart):
    pass


class _HConcatChart(_Offline, alt.HConcatChart):
    pass


class _VConcatChart(_Offline, alt.VConcatChart):
    pass


KINDS: dict[type, type] = {
    alt.Chart: _Chart,
    alt.LayerChart: _LayerChart,
    alt.HConcatChart: _HConcatChart,
    alt.VConcatChart: _VConcatChart,
}


def offline(chart: Any) -> Any:
    """The same chart, shown without a network."""
    object.__setattr__(chart, "__class__", KINDS.get(type(chart), type(chart)))  # what else is set becomes a property
    return chart
