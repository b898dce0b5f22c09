"""Writes the page: one HTML file without external files that sends no request to any server.

Text reaches the page in two ways only: through the template, which escapes it, and as JSON, which the page's script
inserts as text, never as HTML. (The compressed columns of the viewer hold numbers; their texts are in the JSON.) On
both ways marks that turn the direction of text around are replaced by their codes, since a name with such a mark could
look like another. A content security policy allows only the page's own scripts, by their digests, and blocks everything
that would be loaded.
"""

import base64
import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple
from urllib.parse import quote

import jinja2
import msgspec

from ....support import DASH, without_direction_marks
from ...drawing.charts import page_spec, short_names
from ...theme import page_style
from ...viewer import scripts
from .blocks import Block, Figure, Figures, Metrics, Section, Table, Viewer
from .marks import Picture

# The count of rows of a table that the page shows at first.
ROWS_SHOWN = 25

# The modules of the page's script, each after those that it imports.
MODULES = [
    f"page/html/assets/{name}.js"
    for name in (
        "match_rows",
        "filters",
        "filter_form",
        "gallery",
        "patch_rows",
        "links",
        "frames_section",
        "class_curves",
        "tables",
        "charts",
        "contents",
        "page",
    )
]


class Told(NamedTuple):
    """What a page tells besides its sections.

    Attributes
    ----------
    heading, title
        The title of its window, and the author's title, which may be empty.
    first
        The FirstScreen of sections/first_screen.py.
    note
        The author's note as harmless HTML, which may be empty.
    made_with
        The labels and values of the footer.
    """

    heading: str
    title: str
    first: Any
    note: str
    made_with: Sequence[tuple[str, str]]


def page(told: Told, sections: Sequence[Section], names: Sequence[str], vega_script: Callable[[], str]) -> str:
    """Renders the HTML of the page; `names` are the submissions, and `vega_script` gives the script for charts."""
    vega = vega_script() if any(isinstance(block, Figure) for block in _all_blocks(sections)) else ""
    script = scripts.script_of([*scripts.VIEWER, *MODULES])
    viewer = next((block for block in _all_blocks(sections) if isinstance(block, Viewer)), None)
    explained = [name for block in _all_blocks(sections) if isinstance(block, Metrics) for name, _, _ in block.rows]
    style = page_style() + "".join(map(_asset, ("page.css", "pictures.css", "classes.css", "contents.css")))
    return _template("page.html").render(
        told._asdict(),
        sections=sections,
        rows_shown=ROWS_SHOWN,
        anchors={name: f"metric-{place}" for place, name in enumerate(explained)},
        icon=f"data:image/svg+xml,{quote(_asset('icon.svg'))}",
        style=style + scripts.viewer_style() + _asset("print.css"),
        data=embedded_json(_embedded(sections, names, viewer)),
        content="" if viewer is None else viewer.content,
        vega=vega,
        script=script,
        policy=_policy([vega, script] if vega else [script]),
    )


def svg(picture: Picture, names: Sequence[tuple[str, str]]) -> str:
    """A picture of the first screen as a file of its own; `names` are the submissions with their shapes."""
    style = page_style() + _asset("pictures.css")
    return _template("picture.svg").render(picture=picture, names=names, style=style)


def embedded_json(data: Any) -> str:
    """Encodes JSON, with null for NaN, such that no text in it can end the HTML element around it.

    Marks of direction are replaced by their codes.
    """
    return without_direction_marks(msgspec.json.encode(data).decode().replace("<", "\\u003c"))


@cache  # compiling it takes a seventh of the time of a small report
def _template(name: str) -> jinja2.Template:
    """A template in assets/, with autoescape."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        # Scripts and styles, which are marked as safe and so of another type, stay as they are.
        finalize=lambda value: without_direction_marks(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["form"] = lambda block: type(block).__name__
    return environment.get_template(name)


def _asset(name: str) -> str:
    """The text of a file in assets/."""
    return (resources.files(__package__) / "assets" / name).read_text("utf-8")


def _embedded(sections: Sequence[Section], names: Sequence[str], viewer: Viewer | None) -> dict[str, Any]:
    """The data that the page's script reads."""
    blocks = [*_all_blocks(sections)]
    return {
        "dash": DASH,
        "rows_shown": ROWS_SHOWN,
        "tables": {block.name: _embedded_table(block) for block in blocks if isinstance(block, Table)},
        "charts": {block.name: page_spec(block.drawing) for block in blocks if isinstance(block, Figure)},
        "names": names,
        "short_names": short_names(names),
        "view": None if viewer is None else viewer.about,
        "pictures": [] if viewer is None else [*viewer.pictures.items()],
        "looks": [] if viewer is None else [look._asdict() for look in viewer.looks],
    }


def _embedded_table(table: Table) -> dict[str, Any]:
    """What the page's script needs of a table."""
    names = ("kinds", "rows", "positions", "filters", "links")
    known = {name: getattr(table, name) for name in names}
    curves = [of._asdict() | {"lines": [line._asdict() for line in of.lines]} for of in table.curves]
    return known | ({"curves": curves, "curve_of_row": table.curve_of_row} if curves else {})


def _all_blocks(sections: Sequence[Section]) -> Iterator[Block]:
    """All blocks of sections, also those within others."""
    for section in sections:
        for block in section.blocks:
            yield block
            if isinstance(block, Figures):
                yield from block.figures


def _policy(scripts: Sequence[str]) -> str:
    """The content security policy, which allows these scripts by their SHA-256 and no other."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"
