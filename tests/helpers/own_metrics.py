"""Metrics that a test has added, by `metric()` or from another package: they last as long as the process."""

import spotgeo_frames as sf
from spotgeo_frames.scoring.registry import own_metrics


def remove_own_metrics() -> None:
    for name in own_metrics():
        sf.metric(name, None, None)
