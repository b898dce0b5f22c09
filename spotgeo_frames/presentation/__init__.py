"""Displays results to people: tables as text, plots, and the HTML report with a folder of Parquet tables.

In come truth, predictions and the tables of the other rooms; out come texts, HTML and files. `cli` may use it; it uses
`analysis`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
