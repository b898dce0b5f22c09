"""Evaluates tracks and poses: identities, and the metrics HOTA, CLEAR, Identity and those of keypoints.

In come two `Annotations` whose objects keep their names from frame to frame; out come `TrackResult` and `PoseResult`.
`analysis`, `presentation`, `scale` and `cli` may use it; it uses `scoring`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
