"""Defines the colours, markers, line styles and CSS variables of every picture. It takes no tables.

All rooms of this wing use it. Words, units and digits stand in `drawing`: `wording` and `display`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
