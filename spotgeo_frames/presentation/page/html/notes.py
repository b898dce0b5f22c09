"""The note of an author: Markdown as HTML that has no HTML of the author's, no pictures, and only harmless links.

CommonMark with tables. What looks like HTML stays text. Links lead to addresses of http, https and mailto and to places
of the page itself; others stay text, too. Of a picture there is its alternative text, since the page loads nothing.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....support import without_direction_marks

if TYPE_CHECKING:
    from markdown_it.token import Token

# Where links may lead.
HARMLESS = re.compile(r"(https?://|mailto:|#)", re.IGNORECASE)

# The highest heading that a note may have, since the page's sections have those above.
HIGHEST = 3


def note_as_html(note: str) -> str:
    """A note in Markdown as HTML."""
    from markdown_it import MarkdownIt  # imported here, since few pages have a note

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.validateLink = lambda address: HARMLESS.match(address) is not None  # type: ignore[method-assign, assignment]
    parser.add_render_rule("image", _alternative)
    tokens = parser.parse(without_direction_marks(note))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1:]) + HIGHEST - 1, 6)}"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer")
    return parser.renderer.render(tokens, parser.options, {})


def _alternative(renderer: Any, tokens: Sequence[Token], position: int, options: Any, env: Any) -> str:
    """The alternative text of a picture."""
    token = tokens[position]
    return html.escape(renderer.renderInlineAsText(token.children, options, env))
