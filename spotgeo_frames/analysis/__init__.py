"""Explains results: why and where they are wrong, and how certain they are.

The room computes confidence intervals, leaderboards, comparisons of submissions, kinds of error, confused categories,
labels that may be wrong, offsets, histories of objects, the worst slices, detection limits, calibration, operating
points, common mistakes, and sweeps over score thresholds. In come match tables, or truth and predictions to match anew;
out come tables.
`presentation` and `cli` may use it; it uses `tracking`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
