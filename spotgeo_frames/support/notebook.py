"""The HTML that IPython, and so Jupyter, shows for a table. IPython is never imported unless it runs already."""

import sys
from typing import Any


def html_formatter() -> Any | None:
    """IPython's registry of functions that write objects as HTML; None outside IPython."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython  # it is loaded already

    shell = get_ipython()
    return shell.display_formatter.formatters["text/html"] if shell and shell.display_formatter else None


def html_of(table: Any) -> str | None:
    """The HTML of a table as a notebook shows it; None if pandas' options or the table's type give none."""
    formatter = html_formatter()
    if formatter is not None:
        try:
            return formatter.lookup(table)(table)
        except KeyError:  # no function is registered for this type of table
            pass
    written = getattr(table, "_repr_html_", None)
    return None if written is None else written()
