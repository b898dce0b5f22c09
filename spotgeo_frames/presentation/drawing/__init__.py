"""Plots by Matplotlib, charts by Altair, and the words, colours and units that both share with the page.

In come tables of the other rooms; out come axes, charts and texts. The page and the explorer use it; it uses the
viewer's extents.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
