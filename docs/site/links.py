"""Checks the pages of the site as they lie on disk: each link, each picture and each script leads to a file that is
there, each anchor to a place in its page, and each page has a way back to the first one."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, the files that it loads, and the places in it that links may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        self.loaded += [given["src"]] if "src" in given else []
        self.loaded += [given["href"]] if tag == "link" and "href" in given else []


def problems(site: Path) -> list[str]:
    """What is wrong with the pages of a folder, a line each."""
    pages = {
        path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts
    }
    found = []
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        found += [f"{name}: {problem}" for problem in _of_page(path, page, pages)]
        goals = {_goal(path, link) for link in page.links}
        if site / "index.html" not in goals:
            found.append(f"{name}: no link leads back to index.html")
    return found


def _of_page(path: Path, page: Page, pages: dict[Path, Page]) -> list[str]:
    """What is wrong with the links of one page."""
    found = [f"{link} is loaded from elsewhere" for link in page.loaded if urlsplit(link).netloc]
    for link in dict.fromkeys([*page.links, *page.loaded]):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        goal = _goal(path, link)
        if not goal.is_file():
            found.append(f"{link} leads to no file")
        elif parts.fragment and goal in pages and unquote(parts.fragment) not in pages[goal].places:
            found.append(f"{link} leads to no place in {goal.name}")
    return found


def _goal(path: Path, link: str) -> Path:
    """The file that a link of a page leads to; a folder stands for its first page."""
    parts = urlsplit(link)
    goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    return goal / "index.html" if parts.path and goal.is_dir() else goal
