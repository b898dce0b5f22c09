"""to_markdown() and to_latex(): readable tables as text for pull requests and for papers.

Names of classes, sequences and columns stay text: in Markdown they make no HTML, links, mentions or references and end
no cell; in LaTeX they are no commands.
"""

import re
from collections.abc import Sequence

from ...support import DASH, without_direction_marks
from ...tables import Table
from .readable_tables import FOOTNOTES, MARKS, as_texts

# What has a meaning within a line of Markdown; HTML is escaped otherwise.
MEANING = re.compile(r"([\\`*_{}\[\]|~$!])")

# What begins a list or a heading, up to the sign that has a backslash then.
BEGINNING = re.compile(r"^(\s*(?:\d+(?=[.)](?:\s|$)))?)([-+#=.)])")

# What GitHub makes links of: addresses, mentions and references; a space of no width keeps each from being one.
LINKED = re.compile(r"(?<=@)|(?<=#)|(?<=://)|(?<=\bGH)(?=-)|(?<=\bwww)(?=\.)", re.IGNORECASE)
NO_WIDTH = "\u200b"

# What a cell of numbers holds: a number, perhaps in percent, with an interval, or with the mark of a footnote.
NUMBER = re.compile(rf"(-?(\d[\d,.]*(e[-+]?\d+)?|inf)%?|{DASH})( [\[(].*)?( [{MARKS}]+)?")

# Cells that Markdown shows as they are, brackets and the minus of numbers included; those of [1](2) make a link.
PLAIN = re.compile(rf"(?!.*\]\()[-\d.,%()\[\] {DASH}{MARKS}]*")

# The minus of a number, which is no hyphen.
MINUS = re.compile(r"(?<![\w.])-(?=\d)")

# Characters that LaTeX gives a meaning, or that its older fonts lack, as it writes them.
LATEX = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "`": r"\`{}",
    DASH: "--",
    "²": "$^2$",
    "³": "$^3$",
    "°": r"$^\circ$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "µ": r"$\mu$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\rightarrow$",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "§": r"\S{}",
    "¶": r"\P{}",
}


def to_markdown(table: Table) -> str:
    """Writes a table as Markdown, as `readable` has it, for GitHub and GitLab: numbers at the right.

    Parameters
    ----------
    table
        A table of this package, or what `readable` returned. Select the columns and rows you want before you call this.
        Names stay text whatever they are: they make no HTML, links or mentions, and `|` ends no cell.

    Returns
    -------
    The text, without a line break at its end. Footnotes follow the table.

    Raises
    ------
    InputError: it is no table, such as a result of several tables, or its columns have several levels.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> summary = sf.summarize(sf.match(truth, sf.read_objects("data/sample/eager.parquet")))
    >>> print(sf.to_markdown(summary[["f1", "mse", "n_sequences"]]))
    | F1 | mse (px²) | sequences |
    | ---: | ---: | ---: |
    | 0.8194 | 35.42 | 60 |
    """
    cells = as_texts(table)
    notes = [f"{mark} {escaped(meaning)}" for mark, meaning in cells.attrs[FOOTNOTES].items()]
    return "\n\n".join([markdown_of(list(map(str, cells)), cells.to_numpy().tolist()), *notes])


def to_latex(table: Table) -> str:
    r"""Writes a table as LaTeX's `tabular`, as `readable` has it, with the rules of the package booktabs.

    Parameters
    ----------
    table
        A table of this package, or what `readable` returned. Select the columns and rows you want before you call this.
        Names stay text whatever they are: `_`, `%`, `&` and other signs with a meaning are escaped.

    Returns
    -------
    The text, without a line break at its end, to put into a `table` whose document has `\usepackage{booktabs}`. Units
    are written as in `px$^2$`, and null as a dash. Footnotes follow the `tabular` as paragraphs.

    Raises
    ------
    InputError: it is no table, such as a result of several tables, or its columns have several levels.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet")
    >>> summary = sf.summarize(sf.match(truth, sf.read_objects("data/sample/eager.parquet")))
    >>> print(sf.to_latex(summary[["f1", "mse", "n_sequences"]]))
    \begin{tabular}{rrr}
    \toprule
    F1 & mse (px$^2$) & sequences \\
    \midrule
    0.8194 & 35.42 & 60 \\
    \bottomrule
    \end{tabular}
    """
    cells = as_texts(table)
    rows = cells.to_numpy().tolist()
    sides = "".join("r" if is_number else "l" for is_number in _are_numbers(rows, cells.shape[1]))
    head, *body = (f"{' & '.join(map(in_latex, row))} \\\\" for row in [list(map(str, cells)), *rows])
    lines = [f"\\begin{{tabular}}{{{sides}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    notes = [f"{in_latex(mark)} {in_latex(meaning)}" for mark, meaning in cells.attrs[FOOTNOTES].items()]
    return "\n".join([*lines, *(f"\n{{\\footnotesize {note}\\par}}" for note in notes)])


def markdown_of(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown from texts, whose columns of numbers are at the right."""
    sides = ["---:" if is_number else "---" for is_number in _are_numbers(rows, len(heads))]
    cells = [[text if PLAIN.fullmatch(text) else escaped(text) for text in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [list(map(escaped, heads)), sides, *cells])


def escaped(text: str) -> str:
    """Text as Markdown that shows it as it is, within a line or a cell, without HTML, links, mentions or references."""
    unlinked = LINKED.sub(NO_WIDTH, _line(text)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return BEGINNING.sub(r"\1\\\2", MEANING.sub(r"\\\1", unlinked))


def in_latex(text: str) -> str:
    """Text as LaTeX that shows it as it is, within a cell."""
    line = _line(text).strip()
    if NUMBER.fullmatch(line):
        parts = MINUS.split(line)
        return "$-$".join(_latex_signs(part) for part in parts)
    # At the beginning of a row, these would be arguments of the end of the row before.
    return f"{{{line[0]}}}{_latex_signs(line[1:])}" if line.startswith(("[", "*")) else _latex_signs(line)


def _latex_signs(text: str) -> str:
    """Text with the signs that have a meaning written out; braces keep apart those that would become one (--, '')."""
    pairs = zip(text, f"{text[1:]} ", strict=False)
    return "".join(LATEX.get(char, char) + ("{}" if char == after and char in "-'," else "") for char, after in pairs)


def _line(text: str) -> str:
    """Text on a line of its own, without signs that show nothing and marks that turn it around."""
    return "".join(char if char.isprintable() else " " for char in without_direction_marks(text))


def _are_numbers(rows: Sequence[Sequence[str]], n_columns: int) -> list[bool]:
    """Whether each column has numbers only."""
    columns = [[row[place] for row in rows] for place in range(n_columns)]
    return [bool(column) and all(map(NUMBER.fullmatch, column)) for column in columns]
