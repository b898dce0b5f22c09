"""Every plot of `sf.plots` with what it draws, of two submissions where it knows several."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import pandas as pd

import spotgeo_frames as sf
from helpers.reference import PROJECT

DATA = PROJECT / "data"


class Plotted(NamedTuple):
    """What a plot draws.

    Attributes
    ----------
    given
        What it takes of one submission and of another.
    several
        Whether it takes a dict of both.
    covers
        Whether it covers its Axes, so that a second call is refused.
    more
        Further arguments that it needs, such as the frame.
    """

    given: tuple[Any, Any]
    several: bool = True
    covers: bool = False
    more: tuple[Any, ...] = ()

    def draw(self, name: str, of: Any = None, **words: Any) -> Any:
        """Draws by the plot of this name: the first submission, or what is given."""
        plot: Callable[..., Any] = getattr(sf.plots, name)
        return plot(self.given[0] if of is None else of, *self.more, **words)


@cache
def every_plot() -> dict[str, Plotted]:
    """Each plot by its name; tests do not change what is drawn."""
    truth = sf.read_objects(DATA / "sample/truth.parquet", frames=DATA / "sample/frames.parquet")
    sides = [sf.read_objects(DATA / f"sample/{name}.parquet") for name in ("eager", "cautious")]
    matches = [sf.match(truth, side) for side in sides]
    boxes = [sf.read_coco(DATA / "coco/annotations.json", DATA / f"coco/{name}.json", boxes=True) for name in BOXES]
    results = [sf.average_precision(*of) for of in boxes]
    tracked = sf.track(*sf.read_motchallenge(DATA / "tracks/truth", DATA / "tracks/tracker"))
    worse = tracked.curve.assign(HOTA=tracked.curve["HOTA"] * 0.9)
    frame = (1, 3)
    return {
        "calibration": Plotted(_two(sf.calibration, results)),
        "confusion": Plotted(_two(sf.confusion, results), several=False, covers=True),
        "detection_limit": Plotted(_two(lambda of: sf.detection_limit(of, "truth_brightness"), matches)),
        "distances": Plotted(_two(lambda of: of, matches)),
        "error_costs": Plotted(_two(lambda of: sf.error_costs(sf.diagnose(of)), matches)),
        "forest": Plotted(_two(lambda metric: _pairs(matches, metric), ["f1", "f1"])),
        "frame": Plotted(_two(lambda of: of, matches), several=False, more=frame),
        "gallery": Plotted(_two(lambda of: of[(of["sequence"] < 3) & (of["frame"] < 3)], matches), several=False),
        "gospa": Plotted(_two(lambda side: sf.match(truth, side, assignment="least"), sides)),
        "hota_curve": Plotted((tracked.curve, worse)),
        "metric_by_slice": Plotted(_two(lambda of: sf.intervals(of, by="frame", metrics=["recall"]), matches)),
        "patches": Plotted(_two(lambda of: of.head(3), matches), several=False),
        "precision_recall": Plotted(_two(lambda of: of.curve, results)),
        "protocols": Plotted(_two(lambda of: sf.protocols(*of, names=["coco", "voc2007"]), boxes)),
        "recall_map": Plotted(_two(lambda of: of, matches), several=False, covers=True),
        "residuals": Plotted(_two(lambda of: of, matches)),
        "sequence": Plotted(_two(lambda of: of, matches), several=False, more=(2,)),
        "strip": Plotted(_two(lambda of: of, matches), several=False, more=frame),
        "sweep_curves": Plotted(_two(lambda side: sf.sweep(truth, side, score=[0.2, 0.4, 0.6]).curve, sides)),
    }


BOXES = ("fast", "precise")


def _two(function: Callable[[Any], Any], given: list[Any]) -> tuple[Any, Any]:
    """What a function makes of the first and of the second."""
    first, second = map(function, given)
    return first, second


def _pairs(matches: list[pd.DataFrame], metric: str) -> pd.DataFrame:
    """The comparison of two match tables."""
    return sf.compare(dict(zip(("eager", "cautious"), matches, strict=True)), metrics=[metric], resamples=100).pairs
