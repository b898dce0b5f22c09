"""Small pictures at the top of the gallery, each a link to the code that draws it.

They are the outputs of the cells, so a new plot or chart appears by itself.
"""

import html
import json
import re
from pathlib import Path

import altair

CELL = '<div class="cell docutils container">'
CALL = re.compile(r"^sf\.(plots|charts)\.(\w+)\(", re.MULTILINE)
CODE = re.compile(r"<pre>(.*?)</pre>", re.DOTALL)
PICTURE = re.compile(r'<img [^>]*?src="([^"]+)"')
CHART = re.compile(r'<div class="vega-chart"><script type="application/json">(.*?)</script>', re.DOTALL)


def add(page: Path) -> None:
    """Writes the thumbnails below the first paragraph of a page, and the places that they lead to into its cells."""
    head, *cells = page.read_text("utf-8").split(CELL)
    found: dict[str, str] = {}
    for position, cell in enumerate(cells):
        call = CALL.search(html.unescape(re.sub(r"<[^>]+>", "", "".join(CODE.findall(cell)[:1]))))
        name = ".".join(call.groups()) if call else ""
        picture = "" if not name or name in found else picture_of(cell, page.parent, name)
        if picture:
            found[name] = picture
            cells[position] = f'<span class="place" id="{name}"></span>{CELL}{cell}'
        else:
            cells[position] = CELL + cell
    end_of_first = head.index("</p>", head.index("</h1>")) + len("</p>")
    links = "".join(map(thumbnail, found, found.values()))
    top = f'{head[:end_of_first]}\n<div class="thumbnails">{links}</div>{head[end_of_first:]}'
    page.write_text("".join([top, *cells]), "utf-8")


def picture_of(cell: str, folder: Path, name: str) -> str:
    """The address of what a cell draws; a chart is drawn here."""
    picture, chart = PICTURE.search(cell), CHART.search(cell)
    if chart is None:
        return picture[1] if picture else ""
    path = folder / "_images" / f"{name}.png"
    altair.Chart.from_dict(json.loads(chart[1])).save(path)
    return path.relative_to(folder).as_posix()


def thumbnail(name: str, picture: str) -> str:
    return f'<a href="#{name}"><img src="{picture}" alt="" loading="lazy"><code>{name}</code></a>'
