"""Why, where and how sure: intervals, comparisons, kinds of error, offsets, histories, slices, mistakes, sweeps.

In come match tables, or truth and predictions to match anew; out come tables. `presentation` and `cli` may use it; it
uses `tracking`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
