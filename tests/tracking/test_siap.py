"""SIAP against Stone Soup, and against scenes worked out by hand."""

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.official_further import FILLED, OF_STONE_SOUP, least_cover, nearest_spans, stone_soup

NAMES = [*OF_STONE_SOUP]
TAU = 10.0


def points(rows: list[tuple[int, ...]]) -> pd.DataFrame:
    """Sequence, frame, object, x of points."""
    table = pd.DataFrame(rows, columns=["sequence", "frame", "object", "x"]).astype({"x": float})
    return table.assign(y=0.0)


def siap(truth: pd.DataFrame, predictions: pd.DataFrame, **words: object) -> pd.DataFrame:
    return sf.track(truth, predictions, tau=TAU, metrics=["siap"], **words).summary


def line(sequence: int, name: int, frames: list[int], x: float = 0) -> list[tuple[int, ...]]:
    return [(sequence, frame, name, x) for frame in frames]


# Truth, predictions, and completeness, ambiguity, spuriousness, accuracy, longest segment, rate of number changes.
SCENES = {
    "one track all along": (line(1, 1, [1, 2, 3]), line(1, 7, [1, 2, 3], 4), (1, 1, 0, 4, 1, 0)),
    # The second track begins where the first ends: two are needed in 1 + 2 frames of time.
    "a track takes over": (
        line(1, 1, [1, 2, 3, 4, 5]),
        line(1, 7, [1, 2]) + line(1, 8, [3, 4, 5], 6),
        (1, 1, 0, 18 / 5, 2 / 4, 1 / 3),
    ),
    # One track comes and goes; its two spans of 1 frame each add up to the longest time, and both are needed.
    "lost and found again": (
        line(1, 1, [1, 2, 3, 4, 5]),
        line(1, 7, [1, 2]) + line(1, 7, [3], 99) + line(1, 7, [4, 5]),
        (4 / 5, 1, 1 / 5, 0, 2 / 4, 1 / 2),
    ),
    # Two tracks on one truth: nothing is spurious, and the one that lasts is enough.
    "two tracks on a truth": (
        line(1, 1, [1, 2, 3]),
        line(1, 7, [1, 2, 3], 3) + line(1, 8, [2, 3], 5),
        (1, 5 / 3, 0, (3 * 3 + 2 * 5) / 5, 1, 0),
    ),
    # The better of two ways to cover four frames takes two spans: 1 to 3, then 3 to 4.
    "the least number of tracks": (
        line(1, 1, [1, 2, 3, 4]),
        line(1, 7, [1, 2, 3]) + line(1, 8, [3, 4]) + line(1, 9, [2, 3]),
        (1, 7 / 4, 0, 0, 2 / 3, 1 / 3),
    ),
    # A frame with a truth and no track between the two spans, and one whose number is missing: 5 - 3 is two frames.
    "times are numbers of frames": (
        line(1, 1, [1, 2, 3, 5]),
        line(1, 7, [1]) + line(1, 8, [3, 5]),
        (3 / 4, 1, 0, 0, 2 / 4, 1 / 2),
    ),
    "a single frame takes no time": (line(1, 1, [1]), line(1, 7, [1], 2), (1, 1, 0, 2, None, None)),
    "nothing is found": (line(1, 1, [1, 2]), line(1, 7, [1, 2], 11), (0, None, 1, None, 0, None)),
    "within tau is at most tau": (line(1, 1, [1, 2]), line(1, 7, [1, 2], 10), (1, 1, 0, 10, 1, 0)),
    "the nearer of two truths": (
        line(1, 1, [1, 2]) + line(1, 2, [1, 2], 8),
        line(1, 7, [1, 2], 5),
        (1 / 2, 1, 0, 3, 1 / 2, 0),
    ),
    "of two equally near the first": (
        line(1, 1, [1, 2]) + line(1, 2, [1, 2], 8),
        line(1, 7, [1, 2], 4) + line(1, 8, [1, 2], 6),
        (1, 1, 0, 3, 1, 0),
    ),
    "sequences add up": (
        line(1, 1, [1, 2]) + line(2, 1, [1, 2, 3, 4]),
        line(1, 7, [1, 2], 2) + line(2, 7, [1, 2, 3], 1),
        (5 / 6, 1, 0, (2 * 2 + 3 * 1) / 5, 3 / 4, 0),
    ),
}


@pytest.mark.parametrize("name", SCENES)
def test_scenes(name: str) -> None:
    truth, predictions, wanted = SCENES[name]
    got = siap(points(truth), points(predictions)).iloc[-1][NAMES].astype(float)
    assert got.tolist() == pytest.approx([np.nan if value is None else value for value in wanted], nan_ok=True)


def test_one_side_alone() -> None:
    frames = pd.DataFrame({"sequence": 1, "frame": [1, 2]})
    some, none = points(line(1, 1, [1, 2])), points([]).astype({"sequence": int, "frame": int, "object": int})
    unfound = siap(sf.Annotations(some, frames), none).iloc[-1][NAMES].astype(float)
    assert unfound.tolist() == pytest.approx([0, np.nan, np.nan, np.nan, 0, np.nan], nan_ok=True)
    spurious = siap(sf.Annotations(none, frames), some).iloc[-1][NAMES].astype(float)
    assert spurious.tolist() == pytest.approx([np.nan, np.nan, 1, np.nan, np.nan, np.nan], nan_ok=True)


def scene(seed: int, *, gaps: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Objects that wander in two sequences, and tracks near them that change, end, double and are made up."""
    random = np.random.default_rng(seed)
    sides: tuple[list[tuple[float, ...]], list[tuple[float, ...]]] = [], []
    for sequence in (1, 2):
        for of_side, rows in enumerate(sides):
            for name in range(int(random.integers(1, 5))):
                first, last = sorted(random.integers(1, 12, 2))
                frames = np.arange(first, last + 1)
                if gaps:
                    frames = frames[random.random(len(frames)) < 0.8]
                place = np.cumsum(random.integers(-6, 7, (len(frames), 2)), axis=0) + random.integers(0, 30, 2)
                rows += [(sequence, frame, 10 * of_side + name, *xy) for frame, xy in zip(frames, place, strict=True)]
    truth, predictions = (pd.DataFrame(rows, columns=["sequence", "frame", "object", "x", "y"]) for rows in sides)
    return truth, predictions


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_stone_soup_with_the_same_associations(seed: int, gaps: bool) -> None:
    """Ties, single frames and tracks that lack frames included."""
    truth, predictions = scene(seed, gaps=gaps)
    by_sequence = siap(truth, predictions).dropna(subset="sequence").set_index("sequence")[NAMES]
    for sequence, got in by_sequence.iterrows():
        sides = [side[side["sequence"] == sequence] for side in (truth, predictions)]
        wanted = stone_soup(*sides, nearest_spans(*sides, TAU))
        assert got.fillna(FILLED).to_dict() == pytest.approx(wanted), sequence


def turns(seed: int, *, n_tracks: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Three objects far apart, and tracks that stay with one for two frames or more, then go to another or astray."""
    random = np.random.default_rng(seed)
    truth = [row for name in range(3) for row in line(1, name, [*range(1, 21)], 40 * name)]
    predictions = []
    for track in range(n_tracks):
        frame, last = int(random.integers(1, 8)), int(random.integers(12, 20))
        while frame < last:
            length = int(random.integers(2, 7))
            place = 40 * random.integers(0, 4) + random.uniform(-9, 9)
            predictions += line(1, 100 + track, [*range(frame, min(frame + length, 21))], place)
            frame += length
    return points(truth), points(predictions)


@pytest.mark.parametrize("seed", range(30))
def test_stone_soup_with_its_own_associations(seed: int) -> None:
    """`TrackToTruth` that begins and ends an association at once finds ours, where no frame stands alone."""
    sides = turns(seed, n_tracks=4)
    spans = nearest_spans(*sides, TAU)
    got = siap(*sides).iloc[-1][NAMES].astype(float)
    assert got.fillna(FILLED).to_dict() == pytest.approx(stone_soup(*sides, spans, TAU))


@pytest.mark.parametrize("seed", range(30))
def test_stone_soup_counts_changes_as_we_do_where_tracks_take_turns(seed: int) -> None:
    """With one track at a time, its own count of the tracks that a truth needs has no choice."""
    truth, predictions = turns(seed, n_tracks=1)
    renamed = predictions.assign(object=100 + (predictions["x"].diff() != 0).cumsum())  # a track for each turn
    got = siap(truth, renamed).iloc[-1][NAMES].astype(float)
    wanted = stone_soup(truth, renamed, nearest_spans(truth, renamed, TAU), as_it_is=True)
    assert got.fillna(FILLED).to_dict() == pytest.approx(wanted)


# Truth in all frames; predicted tracks; tracks that it needs, and that Stone Soup says it needs.
MISCOUNTED = {
    # 8 covers frame 6 alone when 7 has ended. Stone Soup stops there, before it has seen 9.
    "stops": ([(7, [1, 2, 3, 4, 5]), (8, [3, 4, 5, 6]), (9, [8, 9])], 3, 2),
    # Of the two that are there in frame 1, it takes the one that comes back latest, and 8 and 7 again after it.
    "in another order": ([(7, [1, 2, 3]), (8, [1, 2, 3, 4, 5, 6, 7]), (7, [9, 10])], 2, 3),
}


@pytest.mark.parametrize("name", MISCOUNTED)
def test_the_least_number_of_tracks_and_stone_soups(name: str) -> None:
    spans, least, told = MISCOUNTED[name]
    frames = [*range(1, 11)]
    truth = points(line(1, 1, frames))
    tracks = {track: [frame for of, there in spans if of == track for frame in there] for track, _ in spans}
    rows = [line(1, track, there) for track, there in tracks.items()]
    away = [line(1, 7, [*range(4, 9)], 99)] if name == "in another order" else []
    predictions = points([row for rows_of in (*rows, *away) for row in rows_of])
    got = siap(truth, predictions).iloc[-1]["rate_of_number_changes"]
    found = nearest_spans(truth, predictions, TAU)
    assert least_cover(found) == least
    wanted = stone_soup(truth, predictions, found)["rate_of_number_changes"]
    assert got == pytest.approx(wanted)
    time = (least - 1) / got
    as_it_is = stone_soup(truth, predictions, found, as_it_is=True)["rate_of_number_changes"]
    assert as_it_is * time == pytest.approx(told - 1)
