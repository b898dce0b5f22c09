"""The charts of tables, by Vega-Lite: those of the page, and those of notebooks, which Altair shows.

In come tables of the other rooms; out come specifications of Vega-Lite with their data. of_places.py and of_tables.py
make rows of plain values, then the chart of them; parts.py has what all share, and in_notebooks.py, which alone needs
Altair, what notebooks add.
The names of fields are fixed in these modules; names from the user's data appear only as data or options of a chart,
never in an expression that Vega evaluates.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
