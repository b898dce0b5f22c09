"""VACE and IDEucl against trackeval, and against scenes worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.boxes import NONE, box_matrix, boxes, crowd
from helpers.official_further import OF_TRACKEVAL, trackeval_averages, trackeval_numbers
from helpers.problems import refused
from spotgeo_frames.tracking.metrics import identity, vace

NAMES = [*OF_TRACKEVAL]
ASKED = ["vace", "ideucl"]


def check(truth: pd.DataFrame, predictions: pd.DataFrame, frames: pd.DataFrame) -> None:
    """Each sequence and all combined have trackeval's numbers."""
    found = sf.track(sf.Annotations(truth, frames), predictions, "iou", metrics=ASKED).summary
    wanted = trackeval_numbers(truth, predictions, box_matrix, frames)
    for row in found.to_dict("records"):
        sequence = None if pd.isna(row["sequence"]) else row["sequence"]
        got = {name: row[name] for name in NAMES}
        assert got == pytest.approx(wanted[sequence], rel=1e-9, abs=1e-9, nan_ok=True), sequence


@pytest.mark.parametrize("seed", range(20))
def test_small_crowds(seed: int) -> None:
    random = np.random.default_rng(seed)
    tables = [crowd(random, 9, int(random.integers(1, 14)), 14, whole=seed % 3 > 0) for _ in range(3)]
    parts = [[table.assign(sequence=number) for table in trio] for number, trio in enumerate(tables)]
    check(*(pd.concat(side, ignore_index=True) for side in zip(*parts, strict=True)))


objects = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3), st.integers(0, 7), st.integers(0, 3)), max_size=18)


@settings(max_examples=100)
@given(objects, objects)
def test_any_boxes_on_a_grid(truth: list[tuple[int, ...]], predictions: list[tuple[int, ...]]) -> None:
    sides = [boxes([(1, *row) for row in {row[:2]: row for row in rows}.values()]) for rows in (truth, predictions)]
    check(*sides, pd.DataFrame({"sequence": 1, "frame": range(1, 5)}))


def test_a_crowd_is_the_same_in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames looked up a few at a time, and matrices of tracks given to the solver for sparse ones."""
    sides = crowd(np.random.default_rng(3), 30, 40, 30)
    monkeypatch.setattr(vace, "ROWS_AT_ONCE", 7)
    monkeypatch.setattr(identity, "MOST_CELLS", 3)
    check(*sides)


def test_sequences_with_one_side_or_none() -> None:
    frames = pd.DataFrame({"sequence": [1, 1, 2, 2, 3, 3, 4], "frame": [1, 2, 1, 2, 1, 2, 1]})
    truth = boxes([(2, 1, 1, 0, 0), (2, 2, 1, 0, 0), (4, 1, 5, 0, 0)])
    predictions = boxes([(1, 1, 1, 0, 0), (1, 2, 1, 0, 0), (4, 1, 9, 1, 0)])
    check(truth, predictions, frames)
    found = sf.track(sf.Annotations(truth, frames), predictions, metrics=ASKED).summary
    assert found["ATA"].isna().tolist() == [False, False, True, False, False]
    check(NONE, NONE, frames)


@pytest.mark.parametrize("seed", range(6))
def test_classes(seed: int) -> None:
    random = np.random.default_rng(seed)
    tables = [crowd(random, 6, 9, 14) for _ in range(2)]
    truth, predictions = (
        pd.concat([table.assign(sequence=number) for number, table in enumerate(of)], ignore_index=True)
        for of in zip(*[trio[:2] for trio in tables], strict=True)
    )
    frames = pd.concat([trio[2].assign(sequence=number) for number, trio in enumerate(tables)])
    truth, predictions = (side.assign(category=np.array([*"abc"])[side["object"] % 3]) for side in (truth, predictions))
    predictions = predictions[(predictions["category"] != "b") | (predictions["sequence"] > 0)]
    found = sf.track(sf.Annotations(truth, frames), predictions, metrics=ASKED, by="category").summary
    for average, wanted in trackeval_averages(truth, predictions, box_matrix, frames).items():
        row = found[found["average"] == average].iloc[0]
        assert row[NAMES].astype(float).to_dict() == pytest.approx(wanted), average


# Truth, predictions, and ATA, SFDA, IDEucl.
SCENES = {
    "perfect": ([(1, f, 1, 5 * f, 0) for f in (1, 2, 3)], [(1, f, 7, 5 * f, 0) for f in (1, 2, 3)], (1, 1, 1)),
    # Track 7 is with the truth in 2 of 3 frames, and there are three tracks, so 2/3 of 1.5; it goes 4 of 10 px along.
    "two tracks share a truth": (
        [(1, 1, 1, 0, 0), (1, 2, 1, 4, 0), (1, 3, 1, 10, 0)],
        [(1, 1, 7, 0, 0), (1, 2, 7, 4, 0), (1, 3, 8, 10, 0)],
        ((2 / 3) / 1.5, 1, 4 / 10),
    ),
    # IoU of 1/3 and 1 in the two frames, the second with 1.5 objects a side; both are similar in one of the two.
    "one in three": (
        [(1, 1, 1, 0, 0), (1, 2, 1, 8, 0)],
        [(1, 1, 7, 5, 0), (1, 2, 7, 8, 0), (1, 2, 8, 90, 0)],
        ((1 / 2) / 1.5, (1 / 3 + 1 / 1.5) / 2, 0),
    ),
    # Straight over the frame in which it is lost: 10 px along, of 6 + 8 px.
    "lost at a corner": (
        [(1, 1, 1, 0, 0), (1, 2, 1, 6, 0), (1, 3, 1, 6, 8)],
        [(1, 1, 7, 0, 0), (1, 2, 7, 99, 0), (1, 3, 7, 6, 8)],
        (2 / 3, 2 / 3, 10 / 14),
    ),
    "nothing is similar": (
        [(1, f, 1, 5 * f, 0) for f in (1, 2)],
        [(1, f, 1, 50 + 5 * f, 0) for f in (1, 2)],
        (0, 0, 0),
    ),
    "nothing moves": ([(1, f, 1, 0, 0) for f in (1, 2)], [(1, f, 1, 0, 0) for f in (1, 2)], (1, 1, 0)),
    "the mean of two sequences": (
        [(s, f, 1, 100 * s * f, 0) for s in (1, 2) for f in (1, 2)],
        [(1, f, 1, 100 * f, 0) for f in (1, 2)],
        (1 / 1.5, 1 / 2, 1 / 2),
    ),
}


@pytest.mark.parametrize("name", SCENES)
def test_scenes(name: str) -> None:
    truth, predictions, wanted = SCENES[name]
    got = sf.track(boxes(truth), boxes(predictions), metrics=ASKED).summary.iloc[-1]
    assert got[NAMES].astype(float).tolist() == pytest.approx(wanted)


def test_trackeval_fails_where_nothing_is_similar() -> None:
    truth, predictions, _ = SCENES["nothing is similar"]
    frames = pd.DataFrame({"sequence": 1, "frame": [1, 2]})
    with pytest.raises(ValueError, match="zero-size array"):
        trackeval_numbers(boxes(truth), boxes(predictions), box_matrix, frames, as_it_is=True)
    check(boxes(truth), boxes(predictions), frames)


def test_a_box_that_grows_goes_half_as_far_as_it_grows() -> None:
    """trackeval takes the size for the far corner: (x + w) / 2. The box stays where it is and becomes 6 px wider."""
    truth = boxes([(1, 1, 1, 0, 0), (1, 2, 1, 0, 0), (1, 3, 1, 4, 0)])
    truth.loc[1:, "w"] = 16.0
    predictions = truth.assign(object=[7, 7, 8])
    got = sf.track(truth, predictions, metrics="IDEucl").summary.iloc[-1]["IDEucl"]
    assert got == pytest.approx(6 / (6 + 4))
    check(truth, predictions, pd.DataFrame({"sequence": 1, "frame": [1, 2, 3]}))


def test_points_go_their_distance() -> None:
    """In pixels, in the sky, in space, and by a distance of the caller's."""
    truth = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3], "object": 1, "x": [0.0, 3, 3], "y": [0.0, 4, 9]})
    found = truth.assign(object=[7, 7, 8])
    assert sf.track(truth, found, metrics="ideucl").summary.iloc[-1]["IDEucl"] == pytest.approx(5 / 10)
    space = [side.assign(z=[0.0, 12, 12]) for side in (truth, found)]
    assert sf.track(*space, metrics="ideucl").summary.iloc[-1]["IDEucl"] == pytest.approx(13 / 18)
    own = {"distance": lambda one, other: abs(one["y"] - other["y"]), "tau": 1}
    assert sf.track(truth, found, metrics="ideucl", **own).summary.iloc[-1]["IDEucl"] == pytest.approx(4 / 9)
    sky = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3], "object": 1, "ra": [359.999, 0.0, 0.0]})
    sky["dec"] = [0.0, 0.0, 0.003]
    assert sf.track(sky, sky.assign(object=[7, 7, 8]), tau=1, metrics="ideucl").summary.iloc[-1][
        "IDEucl"
    ] == pytest.approx(1 / 4)


def test_a_similarity_of_the_callers_has_no_ways() -> None:
    sides = boxes([(1, 1, 1, 0, 0)]), boxes([(1, 1, 1, 0, 0)])
    with refused(("metrics: ideucl", "no middles")):
        sf.track(*sides, lambda one, other: np.ones(len(one)), metrics="ideucl")
