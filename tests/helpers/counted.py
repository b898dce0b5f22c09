"""Match tables, and tracks, from how much each sequence has of what."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

import spotgeo_frames as sf
from spotgeo_frames.tables.schema import OUTCOMES

TAU = 10.0


def counted(
    tp: Sequence[int], fn: Sequence[int], fp: Sequence[int], distance: Sequence[float] | float = 0.0
) -> pd.DataFrame:
    """A match table of so many true positives, misses and false alarms in sequences 0, 1, ..., one frame each.

    `distance` (px) is that of all true positives of a sequence.
    """
    n_rows = np.stack([tp, fn, fp], axis=1)
    sequence = np.repeat(np.arange(len(n_rows)), n_rows.sum(axis=1))
    kind = np.repeat(np.tile([OUTCOMES.index(name) for name in ("TP", "FN", "FP")], len(n_rows)), n_rows.ravel())
    hit = kind == OUTCOMES.index("TP")
    far = np.broadcast_to(distance, len(n_rows))[sequence]
    table = {"sequence": sequence, "frame": 1, "outcome": pd.Categorical.from_codes(kind, OUTCOMES)}
    table |= {"distance": np.where(hit, far, np.nan), "squared_error": np.where(hit, far**2 * (far > 3), TAU**2)}
    answer = pd.DataFrame(table | {"kelvins_error": np.where(hit, far * (far >= 3), TAU**2)})
    answer.attrs = {"rule": "distance", "tau": TAU, "epsilon": 3.0, "version": sf.__version__}
    return answer


def tracked(lost: Sequence[int], n_frames: int = 10) -> sf.TrackResult:
    """Two tracks in each sequence 0, 1, ..., the first of which is lost in so many of its frames."""
    keys = [(s, f, o) for s in range(len(lost)) for f in range(n_frames) for o in range(2)]
    truth = pd.DataFrame(keys, columns=["sequence", "frame", "object"]).astype("int64")
    truth = truth.assign(x=100.0 * truth["object"], y=0.0, night=truth["sequence"] // 2)
    is_lost = (truth["object"] == 0) & (truth["frame"] < truth["sequence"].map(dict(enumerate(lost))))
    nights = truth[["sequence", "night"]].drop_duplicates()
    return sf.track(sf.Annotations(truth.drop(columns="night"), None, nights), truth[~is_lost].drop(columns="night"))
