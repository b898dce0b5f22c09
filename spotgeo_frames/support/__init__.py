"""Tools that know nothing of evaluation: keys as integers, chunks, files, progress, errors, text of values.

In come arrays, paths and texts, and out come arrays, bytes and texts. Every room may use it; it uses none.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
