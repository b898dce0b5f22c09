"""Displays results to people and keeps them: text, plots, the HTML report with its Parquet, and saved results.

In come truth, predictions and the results of the other rooms; out come texts, HTML and files, and what was saved in
them. `cli` may use it; it uses `analysis`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
