"""The page in short, as Markdown for the description of a pull request: the sentence, the numbers, and two pictures.

All of it comes from the functions that make the first screen and the headline numbers of the page. Names stay text:
they make no HTML, links, mentions or references, and end no cell.
"""

from __future__ import annotations  # the first screen needs an extra

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ...support import __version__
from .asked import Asked
from .evaluation import Evaluation
from .html.blocks import without_direction_marks
from .html.marks import Picture

if TYPE_CHECKING:
    from .sections.first_screen import FirstScreen

# The pictures that Markdown may show, in their order, with what the names of their files end in; and how many it shows.
PICTURES = {"first-numbers": "numbers", "first-costs": "costs", "first-trade": "trade"}
MOST_PICTURES = 2

# The labels and values of the footer.
About = Sequence[tuple[str, str]]

# What has a meaning within a line of Markdown; HTML is escaped otherwise.
MEANING = re.compile(r"([\\`*_{}\[\]|~$!])")

# What begins a list or a heading, up to the sign that has a backslash then.
BEGINNING = re.compile(r"^(\s*(?:\d+(?=[.)](?:\s|$)))?)([-+#=.)])")

# What GitHub makes links of: addresses, mentions and references; a space of no width keeps each from being one.
LINKED = re.compile(r"(?<=@)|(?<=#)|(?<=://)|(?<=\bGH)(?=-)|(?<=\bwww)(?=\.)", re.IGNORECASE)
NO_WIDTH = "\u200b"


def escaped(text: str) -> str:
    """Text as Markdown that shows it as it is, within a line or a cell, without HTML, links, mentions or references."""
    line = "".join(char if char.isprintable() else " " for char in without_direction_marks(text))
    unlinked = LINKED.sub(NO_WIDTH, line).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return BEGINNING.sub(r"\1\\\2", MEANING.sub(r"\\\1", unlinked))


def beside(path: Path) -> dict[str, Path]:
    """The files beside a file of Markdown, by the names of the pictures that it may show."""
    return {name: path.with_name(f"{path.stem}_{ending}.svg") for name, ending in PICTURES.items()}


def shown_in_markdown(first: FirstScreen, path: Path) -> dict[Path, Picture]:
    """The pictures of the first screen that Markdown shows, by their files: the first that there are."""
    made = {picture.name: picture for picture in first.pictures}
    known = [(file, made[name]) for name, file in beside(path).items() if name in made]
    return dict(known[:MOST_PICTURES])


def markdown(
    evaluation: Evaluation, first: FirstScreen, pictures: Mapping[Path, Picture], made_with: About, asked: Asked
) -> str:
    """The text; `pictures` are those beside it, and `made_with` are the labels and values of the page's footer."""
    sentence = "".join(text for text, _ in first.sentence)
    paragraphs = [
        f"## {escaped(asked.title)}" if asked.title else "",
        f"**{escaped(sentence)}**",
        escaped(first.more),
        _table(evaluation),
        "\n".join(_image(path, picture) for path, picture in pictures.items()),
        escaped(f"{first.about}."),
        _details([*made_with, ("official numbers", evaluation.provenance)]),
        asked.note.strip(),  # last, since code that a note opens and does not close swallows what follows
    ]
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def _table(evaluation: Evaluation) -> str:
    """The headline numbers of the page, each with its interval, or without one."""
    from .sections.headline import headline  # imported here, since its charts need the extra

    lines = [
        f"| metric | {' | '.join(map(escaped, evaluation.names))} |",
        f"| --- | {' | '.join('---:' for _ in evaluation.names)} |",
    ]
    for row in headline(evaluation):
        cells = [escaped(f"{cell['estimate']} ({cell['interval']})") for cell in row["cells"]]
        lines.append(f"| {escaped(row['label'])} {row['better']} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", "With 95% intervals; ↑ more is better, ↓ less is better."])


def _image(path: Path, picture: Picture) -> str:
    """A picture beside the text, with what it shows for who cannot see it."""
    return f"![{escaped(f'{picture.title}: {picture.description}')}]({quote(path.name)})"


def _details(made_with: About) -> str:
    """What the numbers were made with, folded."""
    lines = "\n".join(f"- {escaped(label)}: {escaped(value)}" for label, value in made_with)
    return f"<details><summary>Made with spotgeo_frames {escaped(__version__)}</summary>\n\n{lines}\n\n</details>"
