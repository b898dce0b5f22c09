"""What the docs site is made of: the gallery has every picture, docstrings become Markdown, and bad links are found."""

import inspect
import re
import sys
from pathlib import Path

import pytest

import spotgeo_frames as sf
from helpers.reference import PROJECT

SITE = PROJECT / "docs" / "site"


@pytest.fixture(autouse=True)
def scripts_of_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SITE))
    for name in ("build", "docstrings", "kernel", "links", "pages", "reference", "thumbnails"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.parametrize("module", ["plots", "charts"])
def test_the_gallery_has_every_plot_and_every_chart(module: str) -> None:
    shown = re.findall(rf"^sf\.{module}\.(\w+)\(", (PROJECT / "docs" / "gallery.md").read_text(), flags=re.MULTILINE)
    assert sorted(shown) == sorted(getattr(sf, module).__all__)


def test_sections_of_a_docstring_become_definitions() -> None:
    import docstrings

    def area(w, h=1.0):
        """Multiplies.

        Parameters
        ----------
        w, h
            The size (px),
            of a box.

        Returns
        -------
        The area
        (px²).

        Raises
        ------
        ValueError: `w` is
            below 0.

        Examples
        --------
        >>> area(2.0)
        2.0
        """

    head, sections = docstrings.parts(inspect.getdoc(area) or "")
    text = {name: docstrings.section(name, body, {"w": "float", "h": "float"}) for name, body in sections.items()}
    assert head.strip() == "Multiplies."
    assert text["Parameters"].strip() == "**w, h** : `float`\n: The size (px),\n  of a box."
    assert text["Returns"].strip() == "The area\n(px²)."
    assert text["Raises"].strip() == "`ValueError`\n: `w` is\n  below 0."
    assert text["Examples"].strip() == "```pycon\n>>> area(2.0)\n2.0\n```"


def test_names_in_docstrings_lead_to_their_pages() -> None:
    import docstrings

    text = docstrings.linked(
        "What `match` gave `Sweep`, not `tau`, not `check`.\n\n```pycon\n`match`\n```", "", {"check"}
    )
    assert text == (
        "What [`match`](match.md) gave [`Sweep`](classes/Sweep.md), not `tau`, not `check`.\n\n```pycon\n`match`\n```"
    )


def test_links_of_pages_lead_to_where_the_pages_are_on_the_site(tmp_path: Path) -> None:
    import pages

    text = "[a](../CHANGELOG.md#x) [b](scale.md) [c](https://example.org/a.md) [d](../data/make_boxes.py) [e](#f)"
    page = PROJECT / "docs" / "quirks.md"
    got = pages.with_links(text, page, tmp_path / "quirks.md", PROJECT, tmp_path)
    first, rest = got.split(" [b]")
    assert first == "[a](changelog.md#x)"
    assert rest.startswith("(scale.md) [c](https://example.org/a.md) [d](..")
    assert rest.endswith("/data/make_boxes.py) [e](#f)")


def test_other_words_for_a_place_become_entries_of_the_index(tmp_path: Path) -> None:
    import pages

    page = tmp_path / "glossary.md"
    entries = "**false positive (FP)**, false alarm: a claim.\n\n**HOTA(0)**, **LocA(0)**: HOTA and LocA.\n"
    page.write_text(f"# Words\n\n<!-- index: jargon, terms -->\n\n{entries}")
    pages.write_page(page, tmp_path / "target.md", tmp_path, tmp_path)
    assert (tmp_path / "target.md").read_text() == (
        "# Words\n\n```{index} ! jargon, ! terms\n```\n\n"
        "```{index} ! false positive, ! FP, ! false alarm\n```\n\n**false positive (FP)**, false alarm: a claim.\n\n"
        "```{index} ! HOTA(0), ! LocA(0)\n```\n\n**HOTA(0)**, **LocA(0)**: HOTA and LocA.\n"
    )


def test_what_the_cells_of_a_page_draw_stands_at_its_top(tmp_path: Path) -> None:
    import thumbnails

    spec = '{"data": {"values": [{"a": 1}]}, "mark": "bar", "encoding": {"x": {"field": "a", "type": "nominal"}}}'
    chart = f'<div class="vega-chart"><script type="application/json">{spec}</script></div>'
    cells = [
        '<pre><span class="n">sf</span>.plots.frame(x);</pre><img alt="a" src="_images/a.png">',
        "<pre>sf.match(a, b)</pre>",
        f"<pre>y = 1\nsf.charts.forest(y)</pre>{chart}",
    ]
    page = tmp_path / "gallery.html"
    page.write_text("<p>x</p><h1>Gallery</h1><p>All.</p>" + "".join(thumbnails.CELL + cell for cell in cells))
    (tmp_path / "_images").mkdir()
    thumbnails.add(page)
    links = [("plots.frame", "_images/a.png"), ("charts.forest", "_images/charts.forest.png")]
    top = "".join(thumbnails.thumbnail(*link) for link in links)
    place = '<span class="place" id="{}"></span>'.format
    marked = [place("plots.frame"), "", place("charts.forest")]
    assert page.read_text() == (
        f'<p>x</p><h1>Gallery</h1><p>All.</p>\n<div class="thumbnails">{top}</div>'
        + "".join(f"{mark}{thumbnails.CELL}{cell}" for mark, cell in zip(marked, cells, strict=True))
    )
    assert (tmp_path / "_images" / "charts.forest.png").read_bytes().startswith(b"\x89PNG")


def test_a_failure_of_sphinx_is_told_by_sphinx_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import build
    import kernel
    import pages

    monkeypatch.setattr(build, "SOURCE", tmp_path / "source")
    monkeypatch.setattr(pages, "put_together", lambda *folders: None)
    monkeypatch.setattr(kernel, "prepare", lambda source: None)  # so that Sphinx finds no source
    assert build.main(tmp_path / "target") == 1


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    import links

    (tmp_path / "index.html").write_text(
        '<a href="other.html#here">x</a> <a href="#">top</a> <a href="index.html">y</a>'
    )
    (tmp_path / "other.html").write_text(
        '<h1 id="there"></h1><a href="none.html">x</a><img src="https://example.org/x.png"><a href="https://a.b">c</a>'
    )
    assert links.problems(tmp_path) == [
        "index.html: other.html#here leads to no place in other.html",
        "other.html: https://example.org/x.png is loaded from elsewhere",
        "other.html: none.html leads to no file",
        "other.html: no link leads back to index.html",
    ]
