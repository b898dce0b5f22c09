"""The explorer: the viewer as a widget of notebooks, which gives rows back.

opening.py has `explore()`, and widget.py what it returns. contents.py numbers frames and rows of match tables, and
messages.py packs what is looked at and checks what is asked. rows.py finds rows again, by conditions (conditions.py)
and by keys; charts.py counts and sorts them. assets/ has the part that runs in the browser.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
