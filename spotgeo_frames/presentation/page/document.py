"""Writes the page: one HTML file without external files that sends no request to any server.

Text reaches the page in two ways only: through the template, which escapes it, and as JSON, which the page's script
inserts as text, never as HTML. On both ways marks that turn the direction of text around are replaced by their codes,
since a name with such a mark could look like another. A content security policy allows only the page's own scripts, by
their digests, and blocks everything that would be loaded.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

import jinja2
import msgspec

from ...support.labels import DASH
from ...tables.schema import BOX, SIDE_PREFIXES
from ..display import texts, words
from ..metric_text import title
from .chart_data import short_names
from .encodings import Spec
from .evaluation import RESAMPLES, Evaluation
from .page_tables import Table, counts, headline, lead, other_tables, rests_on, slice_table
from .rule_texts import kind_texts, measure_name, measure_title

# The count of rows of a table that the page shows at first.
ROWS_SHOWN = 25

# The prefixes of both sides, and how the page calls their coordinates.
SIDES = list(zip(SIDE_PREFIXES, ("true", "predicted"), strict=True))

# The marks that set the direction of text, with the text that stands for each, such as [U+202E].
DIRECTION_MARKS = {
    code: f"[U+{code:04X}]" for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}

# The longest list of names in a title, in characters; with longer ones the title counts the submissions.
LONGEST_TITLE = 60


def page(
    evaluation: Evaluation,
    specs: Mapping[str, Spec],
    browser: Mapping[str, Any],
    notes: Sequence[str],
    made_with: Sequence[tuple[str, str]],
    vega: str,
) -> str:
    """Renders the HTML of the page.

    `specs` are the charts, `browser` is the data of the frame browser and `notes` are sentences about it, `made_with`
    are the labels and values of the footer, and `vega` is the script that draws charts.
    """
    slices = [
        slice_table(f"slice-{position}", columns, summary, evaluation.names)
        for position, (columns, summary) in enumerate(evaluation.slices.items())
    ]
    tables = {table.name: table for table in [*slices, *other_tables(evaluation)]}
    script = _asset("page.js")
    return _template().render(
        title=_heading(evaluation.names),
        lead=lead(evaluation),
        names=evaluation.names,
        ranked_by=title(evaluation.headline[0]),
        thresholds=0 if evaluation.sweep is None else int(evaluation.sweep.curve["submission"].value_counts().max()),
        headline=headline(evaluation),
        counts=counts(evaluation),
        suspicions=texts(evaluation.suspicions).to_dict("records"),
        rests_on=rests_on(evaluation),
        warnings=evaluation.warnings,
        about_pairs=evaluation.about_pairs,
        resamples=f"{RESAMPLES:,}",
        dash=DASH,
        rows_shown=ROWS_SHOWN,
        tables=tables,
        slices=[table.name for table in slices],
        charts=list(specs),
        kinds=_kinds(evaluation),
        measure_name=measure_name(evaluation.rule),
        measure_title=measure_title(evaluation.rule),
        geometry=[(title, _geometry(browser["rows"], side)) for side, title in SIDES],
        has_scores="score" in browser["rows"],
        notes=notes,
        made_with=made_with,
        style=_asset("page.css"),
        data=embedded_json(_embedded(evaluation, tables.values(), specs, browser)),
        vega=vega,
        script=script,
        policy=_policy([vega, script]),
    )


def embedded_json(data: Any) -> str:
    """Encodes JSON, with null for NaN, such that no text in it can end the HTML element around it.

    Marks of direction are replaced by their codes.
    """
    return msgspec.json.encode(data).decode().replace("<", "\\u003c").translate(DIRECTION_MARKS)


def _template() -> jinja2.Template:
    """The template of the page, with autoescape."""
    loader = jinja2.FunctionLoader(_asset)
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_without_direction_marks,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


def _without_direction_marks(value: Any) -> Any:
    """A value for the template with its marks of direction as codes; scripts and styles (safe) stay as they are."""
    return value.translate(DIRECTION_MARKS) if type(value) is str else value


def _asset(name: str) -> str:
    """The text of a file in assets/."""
    return (resources.files(__package__) / "assets" / name).read_text("utf-8")


def _heading(names: Sequence[str]) -> str:
    """The title of the page."""
    if len(names) == 1:
        return f"How good is {names[0]}?"
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return f"How good are {listed}?" if len(listed) <= LONGEST_TITLE else f"{len(names)} submissions compared"


def _embedded(
    evaluation: Evaluation, tables: Iterable[Table], specs: Mapping[str, Spec], browser: Mapping[str, Any]
) -> dict[str, Any]:
    """The data that the page's script reads."""
    return {
        "dash": DASH,
        "rows_shown": ROWS_SHOWN,
        "tables": {
            table.name: {"kinds": table.kinds, "rows": table.rows, "positions": table.positions} for table in tables
        },
        "charts": specs,
        "browser": browser,
        "picks": short_names(evaluation.names),
    }


def _kinds(evaluation: Evaluation) -> list[tuple[str, str]]:
    """The kinds of errors that the report tells of, in words, with what they mean."""
    notes = evaluation.matches.attrs
    farthest = notes["reach"] if "reach" in notes else notes["least_similarity"]
    kinds = evaluation.costs["kind"].drop_duplicates().tolist()
    return [(words(kind), text) for kind, text in kind_texts(kinds, evaluation.rule, farthest).items()]


def _geometry(rows: Mapping[str, Any], side: str) -> str:
    """The names of the coordinates that the rows of the frame browser have for one side, such as "x, y"."""
    return ", ".join(name for name in BOX if f"{side}{name}" in rows)


def _policy(scripts: Sequence[str]) -> str:
    """The content security policy, which allows these scripts by their SHA-256 and no other."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"
