"""The numbers of a match table: its sums, its summary and its slices.

In come match tables; out come summaries. `tracking` and all rooms over it may use it; it uses `matching`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
