"""A page for each reader: chosen sections, a title, a note in Markdown, and the short form for a pull request."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from markdown_it import MarkdownIt

import spotgeo_frames as sf
from helpers.commands import run_here, run_process
from helpers.problems import refused
from helpers.report_inputs import HOSTILE, QUOTED, Page, many
from spotgeo_frames.presentation.page import sections as page_sections
from spotgeo_frames.presentation.page.html import notes
from spotgeo_frames.presentation.page.html.blocks import Figure, Figures
from spotgeo_frames.presentation.page.markdown import escaped
from spotgeo_frames.presentation.page.sections import NAMES, SECTIONS, WITHOUT_CHARTS

Written = Callable[..., Page]


@pytest.fixture
def written(sample: Path, tmp_path: Path) -> Written:
    """Writes a page of two submissions with scores, and returns it."""
    truth = sf.read_objects(sample / "truth.parquet", frames=sample / "frames.parquet")
    submissions = {name: sf.read_objects(sample / f"{name}.parquet") for name in ("eager", "cautious")}

    def write(**words: Any) -> Page:
        sf.report(truth, submissions, tmp_path / "report.html", **words)
        return Page(tmp_path / "report.html")

    return write


def sections_in(page: Page) -> list[str]:
    """The names of the sections of a page, from top to bottom."""
    return re.findall(r'<section id="(\w+)"', page.raw)


def contents_of(page: Page) -> list[str]:
    """The places that the table of contents leads to."""
    [inside] = re.findall(r"<nav.*?</nav>", page.raw, re.DOTALL)
    return re.findall(r'href="#(\w+)"', inside)


def test_a_page_has_the_sections_that_are_asked_for_in_their_order(written: Written) -> None:
    page = written(sections=["slices", "numbers", "errors"])
    assert sections_in(page) == ["slices", "numbers", "errors"]
    assert contents_of(page) == ["top", "slices", "numbers", "errors", "made"]
    assert not {*page.data["charts"]} & {"recall_map", "by_threshold", "differences"}


def test_every_page_has_all_sections_under_their_names(written: Written) -> None:
    page = written()
    lacking = ("precision", "tracks", "hota", "conditions", "classes", "identities")
    asked = [name for name in NAMES if name not in lacking]
    assert sections_in(page) == asked
    assert contents_of(page) == ["top", *asked, "made"]


def test_what_only_other_sections_need_is_not_computed(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []

    def watched(name: str, make: Any) -> Any:
        return lambda evaluation: computed.append(name) or make(evaluation)

    monkeypatch.setattr(page_sections, "SECTIONS", {name: watched(name, make) for name, make in SECTIONS.items()})
    monkeypatch.setattr(
        "spotgeo_frames.presentation.page.html.vega.vega_script",
        lambda: pytest.fail("the library of charts is not needed"),
    )
    page = written(sections=["numbers", "changes"])
    assert computed == ["numbers", "changes"]
    assert len(page.raw) < 400_000
    assert not page.says("Vega")
    assert re.findall(r'id="(first-\w+)"', page.raw) == ["first-numbers", "first-trade", "first-where"]


def test_sections_said_to_have_no_chart_have_none(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: set[str] = set()

    def watched(name: str, make: Any) -> Any:
        def made(evaluation: Any) -> Any:
            section = make(evaluation)
            if section and any(isinstance(block, Figure | Figures) for block in section.blocks):
                drawn.add(name)
            return section

        return made

    monkeypatch.setattr(page_sections, "SECTIONS", {name: watched(name, make) for name, make in SECTIONS.items()})
    written()
    assert not drawn & {*WITHOUT_CHARTS}
    assert len(drawn) >= 5


def test_the_tables_are_those_of_the_sections_and_those_that_all_follow_from(written: Written, tmp_path: Path) -> None:
    written(sections=["errors"], tables=tmp_path / "tables")
    names = {path.stem for path in (tmp_path / "tables").glob("*.parquet")}
    assert names == {"matches", "summary", "intervals", "diagnosis", "error_costs"}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"sections": ["numbrs"]}, "did you mean numbers?"),
        ({"sections": ["xyz"]}, "The sections are suspicions, numbers"),
        ({"sections": []}, "has no name"),
        ({"sections": ["errors", "errors"]}, "errors is there twice"),
        ({"title": " "}, "title is ' '"),
        ({"title": "a" * 201}, "201 characters"),
        ({"note": ""}, "Markdown is needed"),
        ({"note": "a" * 20_001}, "20,001 characters"),
        ({"format": "pdf"}, "'html' or 'md'"),
        ({"format": "md"}, "ends in .html"),
        ({"sections": ["errors"], "images": "."}, "not asked for"),
    ],
)
def test_what_no_page_can_be_is_refused_before_any_work(words: dict[str, Any], problem: str, tmp_path: Path) -> None:
    truth, found = many(2)
    with pytest.raises(ValueError, match=re.escape(problem)):
        sf.report(truth.objects.drop(columns="x"), found, tmp_path / "report.html", **words)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("name", "why"), [("hota", "tracks=True"), ("precision", "boxes or whole poses"), ("comparison", "only one")]
)
def test_a_section_that_data_have_nothing_for_is_refused(name: str, why: str, tmp_path: Path) -> None:
    truth, found = many(30)
    with refused(("report: sections", f"{name} has nothing to show", why)):
        sf.report(truth, found, tmp_path / "report.html", sections=["numbers", name])
    assert [*tmp_path.iterdir()] == []


def test_a_title_is_text(written: Written) -> None:
    page = written(sections=["numbers"], title=f" {HOSTILE}\n {QUOTED} ")
    assert page.says(f"{HOSTILE} {QUOTED}")
    assert not [attrs for tag, attrs in page.elements if tag == "img"]
    assert HOSTILE not in page.raw


NOTE = f"""\
# Read *this*

Sizes of anchors; see [the run](https://example.org/run?a=1&b=2), [errors](#errors), <mailto:a@b.org>.
{HOSTILE} {QUOTED}

| a | b |
| --- | --- |
| <i>1</i> | `2` |

![a pixel](https://evil.example/p.png "t") [![badge](https://evil.example/b.svg)](https://example.org)
[one](javascript:alert(1)) [two](JaVaScRiPt:alert(1)) [three](data:text/html;base64,PHM+)
[four](&#106;avascript:alert(1))
[five](vbscript:x) [six](file:///etc/passwd) [seven](//evil.example) [eight](java
script:alert(1)) <javascript:alert(1)>

```"><script>
code
```
"""


def test_a_note_is_markdown_without_html_pictures_and_other_links(written: Written) -> None:
    page = written(sections=["numbers"], note=NOTE)
    start = [attrs.get("id") for _, attrs in page.elements].index("note")
    end = [attrs.get("id") for _, attrs in page.elements].index("numbers")
    inside = page.elements[start:end]
    assert {attrs["href"] for tag, attrs in inside if tag == "a"} == {
        *("https://example.org/run?a=1&b=2", "#errors", "mailto:a@b.org", "https://example.org")
    }
    assert {tag for tag, _ in inside} <= {
        *("section", "h2", "div", "h3", "em", "p", "a", "table", "thead", "tbody", "tr", "th", "td", "code", "pre")
    }
    assert {name for _, attrs in inside for name in attrs} <= {
        "id",
        "aria-labelledby",
        "tabindex",
        "class",
        "href",
        "rel",
    }
    assert page.says("a pixel")
    assert page.says(HOSTILE)
    assert contents_of(page) == ["top", "note", "numbers", "made"]


@pytest.mark.parametrize("mark", ["[", "*a ", "![", "> ", "`", "<a ", "- ", "[a](", "\\", "|", "&#", "_a**"])
def test_a_note_of_the_longest_kind_takes_no_long_time(mark: str) -> None:
    """A note of as many marks as it may have is done within the test's patience, and stays bounded."""
    assert len(notes.note_as_html((mark * 20_000)[:20_000])) < 2_000_000


def test_a_note_cannot_turn_text_around() -> None:
    assert "[U+202E]" in notes.note_as_html("a\u202eb")


def shown(text: str) -> str:
    """What a reader sees of Markdown: its text, rendered with HTML as GitHub does."""
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    return " ".join(ElementTree.fromstring(f"<all>{html}</all>").itertext())


@pytest.mark.parametrize(
    "name",
    [
        *(
            HOSTILE,
            QUOTED,
            "a|b",
            "`code`",
            "**bold** _it_ ~~no~~",
            "[a](http://x.y)",
            "![a](b.png)",
            "# a",
            "1. a",
            "- a",
        ),
        *(
            "@someone and @org/team",
            "#123, GH-12, org/repo#4",
            "http://x.y www.x.y a@b.org",
            "$x$",
            "\\",
            "&lt;",
            "a\nb",
        ),
        *("<!-- ", "]]>", "| --- |", "> a", "==="),
    ],
)
def test_names_stay_text_in_markdown(name: str) -> None:
    text = escaped(name)
    assert "\n" not in text
    for rendered in (text, f"**{text}**", f"## {text}", f"| a |\n| --- |\n| {text} |"):
        seen = re.sub(r"\s+", " ", shown(rendered).replace("\u200b", ""))
        assert re.sub(r"\s+", " ", name) in seen
        html = MarkdownIt("commonmark", {"html": True}).enable("table").render(rendered)
        assert not re.search(r"<(a|img|script|em|code|ol|ul|blockquote|h1)\b", html)
    assert not re.search(r"(?<![\w`])@\w|#\d|GH-\d|://\w|www\.", text), "GitHub would make links of these"


def test_markdown_has_the_sentence_the_numbers_and_two_pictures_of_the_page(
    written: Written, sample: Path, tmp_path: Path
) -> None:
    page = written()
    truth = sf.read_objects(sample / "truth.parquet", frames=sample / "frames.parquet")
    submissions = {name: sf.read_objects(sample / f"{name}.parquet") for name in ("eager", "cautious")}
    out = tmp_path / "pull (1).md"
    sf.report(truth, submissions, out, title="Nightly", note="Anchors *changed*.")
    assert {path.name for path in tmp_path.iterdir()} == {
        *("report.html", "pull (1).md", "pull (1)_numbers.svg", "pull (1)_costs.svg")
    }
    text = out.read_text("utf-8")
    [sentence] = re.findall(r"<h1>(.*?)</h1>", page.raw, re.DOTALL)
    plain = re.sub("<.*?>", "", sentence)
    assert text.startswith(f"## Nightly\n\n**{plain}**\n\n")
    assert text.endswith("\n\nAnchors *changed*.\n"), "last, since it may open what it does not close"
    rows = re.findall(r"^\| (\S.*?) [↑↓] \| (\S+) \((.*?)\) \| (\S+) \((.*?)\) \|$", text, re.MULTILINE)
    estimates = [data for _, first, _, second, _ in rows for data in (first, second)]
    assert estimates == re.findall(r"<data [^>]*>(.*?)</data>", page.raw)
    bounds = [data for _, _, first, _, second in rows for data in (first, second)]
    assert bounds == re.findall(r'<span class="interval">(.*?)</span>', page.raw)
    assert re.findall(r"\]\((\S+)\)", text) == ["pull%20%281%29_numbers.svg", "pull%20%281%29_costs.svg"]
    for name in ("numbers", "costs"):
        picture = ElementTree.parse(tmp_path / f"pull (1)_{name}.svg").getroot()
        assert picture.tag == "{http://www.w3.org/2000/svg}svg"
        labels = {*picture.itertext()}
        assert {"eager", "cautious"} <= labels
        assert not re.search(
            r"<(script|image|a|foreignObject)\b|href=|url\(", (tmp_path / f"pull (1)_{name}.svg").read_text()
        )


def test_markdown_of_hostile_names(tmp_path: Path) -> None:
    truth, found = many(25)
    other = found[found["score"] > 0.3]
    names = {f"{HOSTILE} @me #1": found, "a|b`c` [x](http://y.z)": other}
    sf.report(truth, names, tmp_path / "page.md", epsilon=0)
    text = (tmp_path / "page.md").read_text("utf-8")
    assert HOSTILE not in text
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert [*re.findall(r"<(?!/)(\w+)", html)].count("img") == 2
    assert not re.search(r"<(a|script|code)\b", html)
    assert html.count("<th") - html.count("<thead") == 3, "names end no cell"
    picture = (tmp_path / "page_numbers.svg").read_text("utf-8")
    assert HOSTILE not in picture
    ElementTree.fromstring(picture)


def test_markdown_refuses_what_it_has_not(tmp_path: Path) -> None:
    truth, found = many(3)
    for words, problem in (
        ({"sections": ["numbers"]}, "has no sections"),
        ({"images": tmp_path}, "pictures lie behind"),
    ):
        with pytest.raises(ValueError, match=problem):
            sf.report(truth, found, tmp_path / "page.md", **words)
    (tmp_path / "page_costs.svg").mkdir()
    with refused((str(tmp_path / "page_costs.svg"), "it is a folder")):
        sf.report(truth, found, tmp_path / "page.md")


def test_markdown_keeps_the_tables_and_replaces_no_input(tmp_path: Path) -> None:
    truth, found = many(25)
    table = tmp_path / "found.parquet"
    found.to_parquet(tmp_path / "page_numbers.svg")
    table.symlink_to(tmp_path / "page_numbers.svg")
    with refused((str(tmp_path / "page_numbers.svg"), "an input")):
        sf.report(truth, sf.read_objects(table), tmp_path / "page.md")
    sf.report(truth, found, tmp_path / "other.md", tables=tmp_path / "tables")
    assert pd.read_parquet(tmp_path / "tables" / "summary.parquet")["submission"].tolist() == ["submission"]


def test_where_nothing_is_wrong_markdown_shows_the_pictures_there_are(tmp_path: Path) -> None:
    truth, _ = many(25)
    sf.report(truth, truth, tmp_path / "page.md")
    shown_pictures = re.findall(r"\]\((\S+)\)", (tmp_path / "page.md").read_text("utf-8"))
    assert shown_pictures == ["page_numbers.svg", "page_trade.svg"], "there are no costs"
    assert {path.name for path in tmp_path.glob("*.svg")} == {*shown_pictures}


def test_the_command_takes_the_same_words(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("See **this**.", "utf-8")
    given = ["report", sample / "truth.json", sample / "eager.json"]
    out = tmp_path / "page.html"
    words = ["--title", "A <b>", "--note", tmp_path / "note.md", "--sections", "errors, numbers"]
    done = run_process(*given, "--out", out, *words)
    assert done.status == 0, done.err
    page = Page(out)
    assert sections_in(page) == ["note", "errors", "numbers"]
    assert page.says("A <b>")
    assert "<strong>this</strong>" in page.raw
    done = run_here(*given, "--out", tmp_path / "pull.md", "--format", "md", "--title", "A")
    assert (done.status, done.err) == (0, "")
    assert (tmp_path / "pull.md").read_text("utf-8").startswith("## A\n")


@pytest.mark.parametrize(
    ("words", "status", "problem"),
    [
        (["--sections", "numbrs"], 2, "did you mean numbers?"),
        (["--sections", "hota"], 1, "hota has nothing to show"),
        (["--format", "pdf"], 2, "'html' or 'md'"),
        (["--format", "md"], 2, "ends in .html"),
        (["--note", "none.md"], 1, "none.md"),
        (["--title", ""], 2, "title"),
    ],
)
def test_the_command_refuses_the_same(
    sample: Path, tmp_path: Path, words: list[str], status: int, problem: str
) -> None:
    done = run_here("report", sample / "truth.json", sample / "eager.json", "--out", tmp_path / "page.html", *words)
    assert done.status == status
    assert problem in done.err
    assert not (tmp_path / "page.html").exists()


def test_a_note_that_is_no_text_is_refused(sample: Path, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    given = ["report", sample / "truth.json", sample / "eager.json", "--out", tmp_path / "page.html", "--note", note]
    for content, problem in ((b"\xff\xfe\x00", "NUL"), (b"\xff\xfe", "UTF-8"), (b"a" * (2 << 20), "at most 20,000")):
        note.write_bytes(content)
        done = run_here(*given)
        assert done.status == 1
        assert problem in done.err
