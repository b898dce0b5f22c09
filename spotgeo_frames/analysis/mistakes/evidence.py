"""How much evidence `check` asks for before it suspects a mistake. Small sets show signs of any mistake by chance.

Signs that chance cannot make, such as joints at a negative visibility or sequences of other names, need none.

What most pairs of a truth and a prediction have in common, for `check`: an offset, a scale, or frames between them.

Every pair of a frame votes for the offset (or the scale) that would bring its prediction onto its truth. Pairs of the
same object agree, and all others scatter, so one place gets far more votes than any other. A vote weighs as much as the
frame does in its sequence: an object that stands still in all frames counts once, as one that is seen in one.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ...geometries import centres, geometry_of, labelled_joints, sides_of_matches
from ...matching import Rule, alignment
from ...support import arrays
from ...tables import Annotations, schema

# The least count of each kind of evidence.
FEWEST = {
    "gained objects": 5,  # net, and beyond chance, once the mistake is corrected: with more hits less with fewer
    "gained objects there": 15,  # in sequences that are looked at because few are hit there, which any change mends
    "repeated objects": 5,  # listed twice
    "sequences": 20,  # of a small offset, or of exchanged sides
    "sequences there": 3,  # that have predictions, while others have none
    "sequences on a side": 3,  # with an offset, and without it
    "late objects": 5,  # that are nearer in another frame; one in all frames of a sequence counts once
    "frames": 20,  # of a cap
    "capped sequences": 5,
    "sized objects": 20,  # boxes whose size is compared
    "worse sequences": 2,  # whose F1 is far below that of the others, and of these
    "other sequences": 2,
    "pairs": 5,  # that one assignment finds more than another
    "steps": 10,  # from frame to frame, of matched objects
    "mended steps": 6,  # that no longer break an identity, or would break it rightly
}


def enough(evidence: str, count: float) -> bool:
    """Whether a count of this evidence, a key of FEWEST, is enough to suspect a mistake."""
    return count >= FEWEST[evidence]


# How many predictions vote, spread over all; fewer where each would be compared with many truths.
VOTERS, MOST_PAIRS = 600, 30_000

# The fewest objects that a clear peak has more than twice those of the next one.
FEWEST_VOTES = 3

# Peaks are this many bins wide, and other peaks at least as far away.
PEAK_BINS, FARTHEST_BIN = 2, 1 << 20


class Peak(NamedTuple):
    """The place (2,) with the most votes, how many objects vote for it, and for the next best place elsewhere."""

    place: np.ndarray
    n_objects: float
    n_next: float

    @property
    def is_clear(self) -> bool:
        """Whether chance does not make such a peak beside the next one."""
        return self.n_objects >= 2 * self.n_next + FEWEST_VOTES


class FramePairs(NamedTuple):
    """P pairs of a frame: the places (P, 2) of the truth and of the prediction, and the weights (P,) of the votes."""

    true: np.ndarray
    claimed: np.ndarray
    weight: np.ndarray


def of_one_joint(objects: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    """The objects, of joints those labelled of the truth's most frequent joint: a person has one place."""
    if "joint" not in objects:
        return objects
    objects = objects[labelled_joints(objects)]
    joint = truth["joint"].mode()
    return objects[objects["joint"].isin(joint.head(1))].drop(columns="joint").reset_index(drop=True)


def places_of(objects: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    """The key and the centre of each object, and its category if it has one; persons are where their joint is."""
    one = of_one_joint(objects, truth)
    x, y = centres(one)
    kept = [name for name in ("category",) if name in one]
    return one[[*schema.FRAME_KEY, *kept]].assign(x=x, y=y).reset_index(drop=True)


def sampled(predictions: pd.DataFrame, n_compared: float) -> pd.DataFrame:
    """Predictions spread over all of them; each is compared with `n_compared` truths. Their `weight` adds up to all."""
    n = int(max(1, min(VOTERS, MOST_PAIRS / max(n_compared, 1.0))))
    step = max(1, len(predictions) // n)
    voters = predictions.iloc[::step]
    return voters.assign(weight=len(predictions) / max(len(voters), 1))


def frame_pairs(truth: pd.DataFrame, predictions: pd.DataFrame) -> FramePairs:
    """All pairs of a truth and a sampled prediction of its frame; both sides are `places_of` objects."""
    _, first = arrays.grouped(arrays.row_keys(truth, schema.FRAME_KEY))
    n_frames = truth.iloc[first].groupby("sequence").size()
    voters = sampled(predictions, len(truth) / max(len(first), 1))
    pairs = voters.merge(truth, on=schema.FRAME_KEY, suffixes=("_claimed", "_true"))
    weight = pairs["weight"].to_numpy() / n_frames.reindex(pairs["sequence"]).to_numpy(np.float64)
    true, claimed = (pairs[[f"x_{side}", f"y_{side}"]].to_numpy(np.float64) for side in ("true", "claimed"))
    return FramePairs(true, claimed, weight)


def frame_offsets(truth: pd.DataFrame, predictions: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """How far off sampled predictions are from all truths of their frames along two axes, (P, 2), and the weights (P,).

    The offsets are those that `bias` measures of the geometry, in its unit.
    """
    geometry = geometry_of(predictions)
    assert geometry.offsets is not None  # it can be moved
    _, first = arrays.grouped(arrays.row_keys(truth, schema.FRAME_KEY))
    n_frames = truth.iloc[first].groupby("sequence").size()
    columns = [*geometry.columns]
    voters = sampled(predictions, len(truth) / max(len(first), 1))[[*schema.FRAME_KEY, *columns, "weight"]]
    known, claimed = (
        side.rename(columns={name: f"{prefix}{name}" for name in columns})
        for side, prefix in zip((truth[[*schema.FRAME_KEY, *columns]], voters), schema.SIDE_PREFIXES, strict=True)
    )
    pairs = claimed.merge(known, on=schema.FRAME_KEY)
    weight = pairs["weight"].to_numpy() / n_frames.reindex(pairs["sequence"]).to_numpy(np.float64)
    return geometry.offsets.measured(*sides_of_matches(pairs))[:, 0, :2], weight


def fullest(values: np.ndarray, weight: np.ndarray, width: float) -> Peak | None:
    """The peak of values (P, 2), `width` wide in both directions; None without values."""
    with np.errstate(over="ignore", invalid="ignore"):
        bins = np.floor(values / (width / PEAK_BINS))
    usable = (np.abs(bins) < FARTHEST_BIN).all(axis=1)
    values, weight, bins = values[usable], weight[usable], bins[usable].astype(np.int64) + FARTHEST_BIN
    if not len(values):
        return None
    shifts = [(across, down) for across in range(PEAK_BINS) for down in range(PEAK_BINS)]
    windows = np.concatenate([(bins[:, 0] - across) << 32 | (bins[:, 1] - down) for across, down in shifts])
    keys, of_vote = np.unique(windows, return_inverse=True)
    votes = arrays.added_at(of_vote, np.tile(weight, len(shifts)), len(keys))
    best = int(np.argmax(votes))
    corners = np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1)
    elsewhere = (np.abs(corners - corners[best]) > PEAK_BINS).any(axis=1)
    inside = ((bins >= corners[best]) & (bins < corners[best] + PEAK_BINS)).all(axis=1)
    n_next = votes[elsewhere].max(initial=0.0)
    return Peak(np.median(values[inside], axis=0), float(votes[best]), float(n_next))


def frame_votes(truth: pd.DataFrame, predictions: pd.DataFrame, reach: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compares sampled predictions with the truths of all frames of their sequence, up to `reach` px away.

    For each count of frames that a prediction may be late by, `later`, in order: how many objects are near a truth
    then, `n_objects`, and the median `distance` (px) from it. The second table has both for each `sequence`.
    """
    frames = truth.groupby("sequence")["frame"].nunique()
    voters = sampled(predictions, len(truth) / max(len(frames), 1))
    pairs = near(truth.assign(frame=0), voters.assign(frame=0), reach)
    of_truth, of_voter = truth.iloc[pairs[0]], voters.iloc[pairs[1]]
    later = of_truth["frame"].to_numpy() - of_voter["frame"].to_numpy()
    far = np.hypot(*(of_truth[axis].to_numpy() - of_voter[axis].to_numpy() for axis in "xy"))
    order = np.lexsort([far, later, pairs[1]])
    later, voter, far = later[order], pairs[1][order], far[order]
    nearest = np.ones(len(later), bool)
    nearest[1:] = (later[1:] != later[:-1]) | (voter[1:] != voter[:-1])
    later, voter, far = later[nearest], voter[nearest], far[nearest]
    sequence = voters["sequence"].iloc[voter]
    weight = voters["weight"].to_numpy()[voter] / frames.reindex(sequence).to_numpy(np.float64)
    votes = pd.DataFrame({"sequence": sequence.array, "later": later, "n_objects": weight, "distance": far})
    of_all, of_sequences = (
        votes.groupby(by, observed=True).agg({"n_objects": "sum", "distance": "median"}).reset_index()
        for by in ("later", ["sequence", "later"])
    )
    return of_all, of_sequences


def near(truth: pd.DataFrame, predictions: pd.DataFrame, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the pairs that are at most `reach` px apart, of the frame that both sides have."""
    sides = [side[[*schema.FRAME_KEY, "x", "y"]].assign(object=np.arange(len(side))) for side in (truth, predictions)]
    aligned = alignment.align(Annotations(sides[0]), Annotations(sides[1]), "union", may_be_disjoint=True)
    pairs = Rule("distance", reach).near_pairs(aligned)
    return aligned.truth.table["object"][pairs.truth], aligned.predictions.table["object"][pairs.prediction]
