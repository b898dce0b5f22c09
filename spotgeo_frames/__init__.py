"""Evaluates detectors and trackers: truth and predictions in as tables, one match table out, every number from it.

Each room exports its public names, and this package exports those of all rooms. They are loaded when they are first
used; `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
