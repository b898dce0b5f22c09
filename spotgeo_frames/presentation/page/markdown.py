"""The page in short, as Markdown for the description of a pull request: the sentence, the numbers, and two pictures.

All of it comes from the functions that make the first screen and the headline numbers of the page. Names stay text:
they make no HTML, links, mentions or references, and end no cell.
"""

from __future__ import annotations  # the first screen needs an extra

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ...support import __version__
from ..drawing import escaped, markdown_of
from .asked import Asked
from .evaluation import Evaluation
from .html.marks import Picture

if TYPE_CHECKING:
    from .sections.first_screen import FirstScreen

# The pictures that Markdown may show, in their order, with what the names of their files end in; and how many it shows.
PICTURES = {"first-numbers": "numbers", "first-costs": "costs", "first-trade": "trade"}
MOST_PICTURES = 2

# The labels and values of the footer.
About = Sequence[tuple[str, str]]


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

    rows = [
        [f"{row['label']} {row['better']}", *(f"{cell['estimate']} ({cell['interval']})" for cell in row["cells"])]
        for row in headline(evaluation)
    ]
    table = markdown_of(["metric", *evaluation.names], rows)
    return f"{table}\n\nWith 95% intervals; ↑ more is better, ↓ less is better."


def _image(path: Path, picture: Picture) -> str:
    """A picture beside the text, with what it shows for who cannot see it."""
    return f"![{escaped(f'{picture.title}: {picture.description}')}]({quote(path.name)})"


def _details(made_with: About) -> str:
    """What the numbers were made with, folded."""
    lines = "\n".join(f"- {escaped(label)}: {escaped(value)}" for label, value in made_with)
    return f"<details><summary>Made with spotgeo_frames {escaped(__version__)}</summary>\n\n{lines}\n\n</details>"
