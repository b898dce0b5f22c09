"""Folders that keep results: `save()` writes one, `load()` reads it back and checks that nothing was changed.

In come results; out come folders of Parquet and JSON, and the same results again.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
