"""Makes one match table of truth and predictions: rule, frames that count, near pairs, assignment, layout.

In come two `Annotations`; out comes the match table. Every room over `geometries` may use it; it uses
`geometries`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
