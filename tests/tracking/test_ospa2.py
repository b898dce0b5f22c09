"""OSPA(2) by hand, and by trying all pairs of tracks in every window."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import refused
from spotgeo_frames.tracking.metrics import ospa2

TAU = 6.0


def apart(truth: pd.DataFrame, predictions: pd.DataFrame) -> float:
    """OSPA(2) of the rows of a window."""
    tracks = [
        [rows.set_index("frame")[["x", "y"]] for _, rows in side.groupby("object")] for side in (truth, predictions)
    ]
    smaller, larger = sorted(tracks, key=len)
    if not larger:
        return 0.0

    def distance(one: pd.DataFrame, other: pd.DataFrame) -> float:
        both = one.index.intersection(other.index)
        near = np.minimum(np.sqrt(((one.loc[both] - other.loc[both]) ** 2).sum(axis=1)), TAU)
        n_frames = len(one.index.union(other.index))
        return float((near.sum() + TAU * (n_frames - len(both))) / n_frames)

    costs = np.array([[distance(one, other) for other in larger] for one in smaller]).reshape(len(smaller), len(larger))
    rows = np.arange(len(smaller))
    least = min(costs[rows, list(columns)].sum() for columns in permutations(range(len(larger)), len(smaller)))
    return float((least + TAU * (len(larger) - len(smaller))) / len(larger))


def plain(truth: pd.DataFrame, predictions: pd.DataFrame, frames: list[int], size: int) -> float:
    """The mean over the windows that end at each of the frames of a sequence."""
    values = []
    for end in range(len(frames)):
        window = frames[max(0, end + 1 - size) : end + 1]
        values.append(apart(*(side[side["frame"].isin(window)] for side in (truth, predictions))))
    return float(np.mean(values))


def scene(seed: int) -> tuple[sf.Annotations, pd.DataFrame]:
    """Objects on a grid in three sequences, some of whose frames are empty, and tracks near them that mix them up."""
    random = np.random.default_rng(seed)
    sides: tuple[list[tuple[int, ...]], list[tuple[int, ...]]] = [], []
    for sequence in range(3):
        for rows in sides:
            for name in range(int(random.integers(0, 5))):
                frames = np.flatnonzero(random.random(9) < random.choice([0.4, 0.9]))
                place = random.integers(0, 14, 2)
                rows += [(sequence, 2 * frame, name, *(place + random.integers(-2, 3, 2))) for frame in frames]
    tables = [pd.DataFrame(rows, columns=["sequence", "frame", "object", "x", "y"]) for rows in sides]
    truth, predictions = (
        table.astype(dict.fromkeys(table, "int64")).astype({"x": float, "y": float}) for table in tables
    )
    frames = pd.DataFrame({"sequence": np.repeat(range(3), 9), "frame": np.tile(range(0, 18, 2), 3)})
    return sf.Annotations(truth, frames), predictions


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("size", [1, 3, 20])
def test_every_window_by_all_pairs(seed: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, predictions = scene(seed)
    if seed % 2:
        monkeypatch.setattr(ospa2, "PAIRS_AT_ONCE", 5)
    name = f"ospa2_{size}"
    found = sf.track(truth, predictions, tau=TAU, metrics=name).summary
    assert truth.frames is not None
    wanted = []
    for sequence in range(3):
        frames = truth.frames["frame"][truth.frames["sequence"] == sequence].tolist()
        sides = [side[side["sequence"] == sequence] for side in (truth.objects, predictions)]
        wanted.append(plain(*sides, frames, size))
    assert found[name].tolist() == pytest.approx([*wanted, np.mean(wanted)])


def test_windows_of_one_frame_are_ospa() -> None:
    truth, predictions = scene(3)
    of_tracks = sf.track(truth, predictions, tau=TAU, metrics=["ospa2_1"]).summary.iloc[-1]["ospa2_1"]
    of_frames = sf.summarize(sf.match(truth, predictions, TAU, 0, assignment="least", power=1))["ospa"].item()
    assert of_tracks == pytest.approx(of_frames)


@pytest.mark.parametrize("seed", range(6))
def test_a_class_has_the_windows_of_all_frames(seed: int) -> None:
    truth, predictions = scene(seed)
    marked = [
        side.assign(category=np.where(side["object"] % 2, "odd", "even")) for side in (truth.objects, predictions)
    ]
    found = sf.track(
        sf.Annotations(marked[0], truth.frames), marked[1], tau=TAU, metrics="ospa2_3", by="category"
    ).summary
    of_classes = found[found["sequence"].isna() & found["category"].notna()].set_index("category")["ospa2_3"]
    for name, value in of_classes.items():
        alone = sf.Annotations(truth.objects[marked[0]["category"] == name], truth.frames)
        of_class = predictions[marked[1]["category"] == name]
        assert value == pytest.approx(sf.track(alone, of_class, tau=TAU, metrics="ospa2_3").summary.iloc[-1]["ospa2_3"])


def test_by_hand() -> None:
    """Two frames: 3 px off, then lost. Windows of one frame: 3 and 6; of two: 3, and the mean of 3 and 6."""
    truth = pd.DataFrame({"sequence": 1, "frame": [1, 2], "object": 1, "x": 0.0, "y": 0.0})
    found = truth.head(1).assign(x=3.0)
    got = sf.track(truth, found, tau=TAU, metrics=["ospa2_1", "ospa2_2"]).summary.iloc[-1]
    assert got[["ospa2_1", "ospa2_2"]].tolist() == pytest.approx([(3 + 6) / 2, (3 + 4.5) / 2])
    # A second track adds one that is left: (4.5 + 6) / 2 in the second window.
    doubled = pd.concat([found, found.assign(frame=2, object=2, x=50.0)])
    got = sf.track(truth, doubled, tau=TAU, metrics="ospa2_2").summary.iloc[-1]
    assert got["ospa2_2"] == pytest.approx((3 + (4.5 + 6) / 2) / 2)


def test_boxes_by_their_overlap_have_none() -> None:
    box = pd.DataFrame({"sequence": 1, "frame": [1], "object": 1, "x": 0.0, "y": 0.0, "w": 4.0, "h": 4.0})
    with refused(("metrics: ospa2_10", "'iou'", "give tau")):
        sf.track(box, box, metrics="ospa2_10")
    assert sf.track(box, box, tau=TAU, metrics="ospa2_10").summary["ospa2_10"].tolist() == [0, 0]
