"""What IPython, and so Jupyter, shows as HTML; without importing IPython where it does not run."""

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
    """The HTML of a table as a notebook shows it; None where its options, or its kind, give none."""
    formatter = html_formatter()
    if formatter is not None:
        try:
            return formatter.lookup(table)(table)
        except KeyError:  # nobody registered a function for this kind of table
            pass
    written = getattr(table, "_repr_html_", None)
    return None if written is None else written()
