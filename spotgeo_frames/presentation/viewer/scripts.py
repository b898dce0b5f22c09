"""Puts modules of JavaScript into one script that stands alone, as a page without external files needs it.

The modules use named imports and exports only, so they can be put one after the other without these lines. No top-level
name may then be in two modules.
"""

import re
from collections.abc import Sequence
from importlib import resources

from ..theme import viewer_style as colours_of_viewer

# The modules of the viewer, each after those that it imports.
VIEWER = [
    f"viewer/assets/{name}.js"
    for name in (
        "columns",
        "marks",
        "gains",
        "lives",
        "source",
        "masks",
        "geometry",
        "palette",
        "strokes",
        "labels",
        "corners",
        "draw",
        "steps",
        "texts",
        "life_bars",
        "state",
        "elements",
        "controls",
        "legend",
        "objects",
        "cross",
        "panel",
        "player",
        "time_line",
        "scenes",
        "keys",
        "viewer",
        "patches",
    )
]

PRESENTATION = __package__.rpartition(".")[0]
IMPORT = re.compile(r'^import \{[^}]*\} from "\.{1,2}/[\w/.]+";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?function |const )", re.MULTILINE)


def script_of(modules: Sequence[str]) -> str:
    """Returns one script made of modules, wrapped in a function so that their names stay their own.

    `modules` are files below `presentation`, such as viewer/assets/draw.js, each after those that it imports.
    """
    return f'(() => {{\n"use strict";\n{"".join(map(_body, modules))}}})();\n'


def module_of(modules: Sequence[str]) -> str:
    """Returns one module made of modules, as widgets of notebooks need it; `export default` stays.

    `modules` are files below `presentation`, each after those that it imports.
    """
    return "".join(map(_body, modules))


def viewer_style() -> str:
    """Returns the style sheet of the viewer, with the colours of the theme."""
    own = resources.files(PRESENTATION).joinpath("viewer/assets/viewer.css").read_text("utf-8")
    return colours_of_viewer() + own


def _body(module: str) -> str:
    """The text of a module without its imports and without `export`."""
    text = resources.files(PRESENTATION).joinpath(module).read_text("utf-8")
    return EXPORT.sub("", IMPORT.sub("", text))
