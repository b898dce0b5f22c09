"""The page: one HTML file that needs nothing else and asks nothing of any server.

Text gets into it in two ways only: through the template, which escapes it, and as JSON that the page's script puts
into the document as text. A content security policy allows the page's own scripts, by their digests, and nothing that
is loaded from anywhere.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import jinja2
import msgspec

from ...support.labels import DASH
from ..display import texts
from .chart_data import short_names
from .encodings import Spec
from .evaluation import Evaluation
from .page_tables import counts, headline, lead, other_tables, slice_table

# Rows of a table that are shown at first.
ROWS_SHOWN = 25

# The longest list of names that a title can bear, in characters.
LONGEST_TITLE = 60


def page(
    evaluation: Evaluation,
    specs: Mapping[str, Spec],
    browser: Mapping[str, Any],
    notes: Sequence[str],
    made_with: Sequence[tuple[str, str]],
    vega: str,
) -> str:
    """The page's HTML. `browser` is what the frame browser holds, `notes` what to say of it; `made_with` is its foot;
    `vega` is the script that draws the charts.
    """
    slices = [
        slice_table(f"slice-{number}", column, summary, evaluation.names)
        for number, (column, summary) in enumerate(evaluation.slices.items())
    ]
    tables = {table.name: table for table in [*slices, *other_tables(evaluation)]}
    embedded = {
        "dash": DASH,
        "rows_shown": ROWS_SHOWN,
        "tables": {
            table.name: {"kinds": table.kinds, "rows": table.rows, "positions": table.positions}
            for table in tables.values()
        },
        "charts": specs,
        "browser": browser,
        "picks": short_names(evaluation.names),
    }
    script = _asset("page.js")
    rule = evaluation.matches.attrs
    return _template().render(
        title=_heading(evaluation.names),
        lead=lead(evaluation, rule["tau"], rule["epsilon"]),
        names=evaluation.names,
        headline=headline(evaluation),
        counts=counts(evaluation),
        suspicions=None if evaluation.suspicions is None else texts(evaluation.suspicions).to_dict("records"),
        resamples=f"{evaluation.intervals.attrs['resamples']:,}",
        dash=DASH,
        rows_shown=ROWS_SHOWN,
        tables=tables,
        slices=[table.name for table in slices],
        charts=list(specs),
        has_scores="score" in browser["rows"],
        notes=notes,
        made_with=made_with,
        style=_asset("page.css"),
        data=embedded_json(embedded),
        vega=vega,
        script=script,
        policy=_policy([vega, script]),
    )


def embedded_json(data: Any) -> str:
    """JSON that no HTML parser takes for the end of the element it is in; msgspec writes NaN as null."""
    return msgspec.json.encode(data).decode().replace("<", "\\u003c")


def _template() -> jinja2.Template:
    loader = jinja2.FunctionLoader(_asset)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("page.html")


def _asset(name: str) -> str:
    return (resources.files(__package__) / "assets" / name).read_text("utf-8")


def _heading(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"How good is {names[0]}?"
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return f"How good are {listed}?" if len(listed) <= LONGEST_TITLE else f"{len(names)} submissions compared"


def _policy(scripts: Sequence[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"
