"""What a threshold of the score does: sweeps, operating points, calibration.

In come truth and predictions, or results with scores; out come tables over thresholds. It uses `certainty`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
