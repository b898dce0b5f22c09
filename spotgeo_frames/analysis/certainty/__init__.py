"""How sure the numbers are: intervals, comparisons, gates, sample sizes, limits, slices that stand out.

In come match tables, and what `track()`, `pose()` and `average_precision()` return; out come tables of estimates with
their bounds and p-values. The other wings of `analysis` use it; it uses none of them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
