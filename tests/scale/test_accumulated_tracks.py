"""Accumulator(tracks=True): sequences in any batches, on any processes, give what one evaluation gives, bit by bit."""

import copy
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.problems import refused, warned

AP = ["ap", "ap_pre", "ap_rec"]
N_FRAMES = 5


class Scene(NamedTuple):
    """Two sides, and the words of the rule."""

    truth: sf.Annotations
    predictions: pd.DataFrame
    words: dict[str, Any]

    def whole(self) -> Any:
        """What one evaluation of everything gives."""
        if "joint" in self.predictions:
            return sf.pose(self.truth, self.predictions)
        return sf.track(self.truth, self.predictions, **self.words)

    def summary(self) -> pd.DataFrame:
        return self.whole().summary.drop(columns=AP, errors="ignore")

    def accumulator(self, **more: Any) -> sf.Accumulator:
        return sf.Accumulator(**self.words, tracks=True, **more)

    def frames(self) -> pd.DataFrame:
        """The frames that count."""
        sides = [self.truth.objects, self.predictions] if self.truth.frames is None else [self.truth.frames]
        return pd.concat([side[["sequence", "frame"]] for side in sides]).drop_duplicates(ignore_index=True)

    def batch(self, frames: pd.DataFrame) -> tuple[sf.Annotations, pd.DataFrame]:
        """Both sides in these frames."""
        key = ["sequence", "frame"]
        truth, listed, predictions = (
            None if side is None else side.merge(frames[key], on=key)
            for side in (self.truth.objects, self.truth.frames, self.predictions)
        )
        return self.truth._replace(objects=truth, frames=listed), predictions


def walkers(words: dict[str, Any], *, size: float = 0.0, lists: bool = False, names: bool = False) -> Scene:
    """Objects that walk through four sequences, of which one has no prediction and one no truth; boxes have a size."""
    random = np.random.default_rng(7)
    key = pd.MultiIndex.from_product(
        [range(4), range(1, N_FRAMES + 1), range(3)], names=["sequence", "frame", "object"]
    )
    objects = key.to_frame(index=False)
    x, y = 40.0 * objects["object"] + 3.0 * objects["frame"], 20.0 * objects["sequence"]
    objects = objects.assign(x=x, y=y, **({"w": size, "h": size} if size else {}), cover=random.random(len(objects)))
    kept = random.random((2, len(objects))) < 0.8
    truth, found = objects[kept[0] & (objects["sequence"] != 2)], objects[kept[1] & (objects["sequence"] != 1)]
    noise = random.normal(0, 1.5, (2, len(found)))
    found = found.assign(
        object=found["object"] + 10 * (found["frame"] // 3), x=found["x"] + noise[0], y=found["y"] + noise[1]
    )
    frames = objects[["sequence", "frame"]].drop_duplicates(ignore_index=True) if lists else None
    tables = [table if table is None else table.reset_index(drop=True) for table in (truth, found, frames)]
    if names:
        tables = [
            table if table is None else table.assign(sequence="s" + (9 - table["sequence"]).astype(str))
            for table in tables
        ]
        tables[1] = tables[1].assign(object="p" + tables[1]["object"].astype(str))
    return Scene(sf.Annotations(tables[0], tables[2]), tables[1], words)


def marked(scene: Scene, mark: str) -> Scene:
    marks = np.random.default_rng(8).random(len(scene.truth.objects)) < 0.3
    return scene._replace(truth=scene.truth._replace(objects=scene.truth.objects.assign(**{mark: marks})))


def people() -> Scene:
    """The project's poses, in their first frames."""
    truth, predictions = sf.read_posetrack("data/poses/truth", "data/poses/tracker")
    objects, frames, found = (
        table[table["frame"].isin(sorted(table["frame"].unique())[:N_FRAMES])].reset_index(drop=True)
        for table in (truth.objects, truth.frames, predictions.objects)
    )
    return Scene(truth._replace(objects=objects, frames=frames), found, {})


def closeness(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
    return np.exp(-np.abs(truth["x"].to_numpy() - predictions["x"].to_numpy()) / 9)


BOXES = walkers({}, size=12.0, lists=True)
SCENES = {
    "points": walkers({}),
    "points within tau": walkers({"tau": 3.0}, lists=True),
    "boxes": BOXES,
    "names": walkers({}, size=12.0, names=True),
    "crowds": marked(BOXES, "crowd"),
    "ignored": marked(BOXES, "ignore"),
    "a function": walkers({"similarity": closeness}),
    "poses": people(),
}

pytestmark = pytest.mark.filterwarnings("ignore:.*(no truth|have predictions)")


def same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert found.attrs == expected.attrs


class Step(NamedTuple):
    """A batch: its frames, which of their sequences go on, and which of three processes gets it."""

    frames: pd.DataFrame
    more: list[Any]
    process: int


def loops(random: np.random.Generator, frames: pd.DataFrame) -> list[Step]:
    """All frames in batches: a sequence stays with its process, its frames, in any order, in up to three batches."""
    steps = []
    for process, names in enumerate(np.array_split(random.permutation(sorted(frames["sequence"].unique())), 3)):
        pieces = []
        for name in names:
            order = random.permutation(np.flatnonzero(frames["sequence"] == name))
            cuts = np.unique(random.integers(1, len(order), random.integers(3))) if len(order) > 1 else []
            pieces.append([frames.iloc[rows] for rows in np.split(order, cuts)])
        while any(pieces):
            chosen = [at for at in random.permutation(len(pieces)) if pieces[at]][: random.integers(1, 1 + len(pieces))]
            taken = [pieces[at].pop(0) for at in chosen]
            more = [names[at] for at in chosen if pieces[at]]
            steps.append(Step(pd.concat(taken), more, process))
    return steps


@pytest.mark.parametrize("keep", [None, "matches"])
@pytest.mark.parametrize("name", SCENES)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_batches_give_what_the_whole_gives_to_the_last_bit(name: str, keep: Any, seed: int) -> None:
    scene, random = SCENES[name], np.random.default_rng(seed)
    processes = [scene.accumulator(keep=keep) for _ in range(3)]
    for frames, more, process in loops(random, scene.frames()):
        assert processes[process].update(*scene.batch(frames), more=more) is processes[process]
    total = scene.accumulator(keep=keep)
    for process in (processes[at] for at in random.permutation(3)):
        assert total.merge(pickle.loads(pickle.dumps(process))) is total
    same(total.compute(), scene.summary())
    if keep:
        same(total.matches, scene.whole().matches)


@pytest.mark.parametrize("name", ["boxes", "poses"])
def test_sequences_that_go_on_count_as_far_as_they_are(name: str) -> None:
    scene = SCENES[name]
    frames, scores = scene.frames(), scene.accumulator(keep="matches")
    first = frames[frames["frame"].isin(sorted(frames["frame"].unique())[:3])]
    scores.update(*scene.batch(first), more=True)
    so_far = scene._replace(truth=scene.batch(first)[0], predictions=scene.batch(first)[1])
    for _ in range(2):  # to look changes nothing
        same(scores.compute(), so_far.summary())
        same(scores.matches, so_far.whole().matches)
    assert "go on" in repr(scores)
    scores.update(*scene.batch(frames.drop(first.index)))
    same(scores.compute(), scene.summary())
    assert "go on" not in repr(scores)


def test_rows_are_kept_only_while_a_sequence_goes_on() -> None:
    scores = sf.Accumulator(tracks=True)
    frame = {"sequence": np.zeros(20_000, int), "object": np.arange(20_000), "xy": np.zeros((20_000, 2))}
    frame["xy"][:, 0] = 100 * np.arange(20_000)
    for number in range(3):
        batch = frame | {"frame": np.full(20_000, number)}
        scores.update(batch, batch, more=number < 2)
        size = len(pickle.dumps(scores))
        assert (size > 1_000_000) == (number < 2)
    assert scores.compute()["IDF1"].tolist() == [1, 1]


def test_small_tables_of_sums_are_joined() -> None:
    scores = sf.Accumulator(tracks=True)
    for sequence in range(200):
        batch = {"sequence": sequence, "frame": 1, "object": [3], "xy": [[1.0, 2.0]]}
        scores.update(batch, batch)
    assert len(pickle.dumps(scores)) < 200 * 3_000
    assert scores.compute()["TP"].iloc[-1] == 200


def test_arrays_with_empty_frames() -> None:
    scores = sf.Accumulator(tracks=True)
    for frame in range(4):
        here = {"sequence": "night", "frame": frame, "object": ["a"], "boxes": [[10 + frame, 5, 20, 20]]}
        nobody = {"sequence": "night", "frame": frame, "object": [], "boxes": []}
        scores.update(here if frame else nobody, nobody if frame == 1 else here, more=frame < 3)
    row = scores.compute().iloc[0]
    assert row[["n_frames", "TP", "FN", "FP", "IDSW"]].tolist() == [4, 2, 1, 1, 0]


def test_poses_of_a_frame_without_predictions() -> None:
    scene = SCENES["poses"]
    truth = scene.truth._replace(objects=scene.truth.objects.drop(columns="visibility", errors="ignore"))
    first, *_ = truth.objects["sequence"].unique().tolist()
    nobody = {"sequence": [], "frame": [], "object": [], "xy": []}
    scores = sf.Accumulator(tracks=True)
    scores.update(truth._replace(objects=truth.objects[truth.objects["sequence"] == first], frames=None), nobody)
    assert scores.compute()["switches"].iloc[-1] == 0


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_tables_are_of_the_kind_of_the_truth(kind: str) -> None:
    make = pl.from_pandas if kind == "polars" else __import__("pyarrow").Table.from_pandas
    scene = SCENES["boxes"]
    sides = sf.Annotations(make(scene.truth.objects), make(scene.truth.frames)), make(scene.predictions)
    found, expected = scene.accumulator().update(*sides).compute(), sf.track(*sides).summary
    assert type(found) is type(expected)
    assert found.equals(expected)


def batch(sequence: Any = 1, frame: int = 1, name: Any = 1, **more: Any) -> dict[str, Any]:
    return {"sequence": sequence, "frame": frame, "object": [name], "xy": [[10.0, 20.0]], **more}


def test_a_sequence_is_never_counted_twice() -> None:
    scores = sf.Accumulator(tracks=True).update(batch(), batch())
    before = scores.compute()
    for frame in (1, 2):
        with refused(("this batch: sequence 1 is in an earlier batch, which ended it", "more=True", "reset()")):
            scores.update(batch(frame=frame), batch(frame=frame))
    same(scores.compute(), before)
    scores.update(batch(2), batch(2), more=True)
    with refused(("this batch: sequence 2, frame 1", "an earlier batch has this frame, too", "count twice")):
        scores.update(batch(2), batch(2))
    assert scores.reset().update(batch(), batch()).compute()["TP"].iloc[-1] == 1


REFUSED: dict[str, tuple[Any, Any, Any, tuple[str, ...]]] = {
    "no object": (
        batch() | {"sequence": 5},
        {"sequence": 5, "frame": 1, "xy": [[1.0, 2.0]]},
        False,
        ("predictions: key object is missing",),
    ),
    "no object, to go on": (
        batch(5),
        {"sequence": 5, "frame": 1, "xy": [[1.0, 2.0]]},
        True,
        ("predictions: key object is missing",),
    ),
    "text": (batch("five"), batch("five"), False, ("this batch", "column sequence is text")),
    "an unknown sequence": (batch(5), batch(5), [6], ("more: this batch has no sequence 6",)),
    "one name": (batch(5), batch(5), "five", ("more is 'five'", "a list of sequences")),
    "names": (
        batch(3, 2, "a"),
        batch(3, 2, "a"),
        False,
        ("this batch: truth: sequence 3", "column object is text in one", "same"),
    ),
    "twice": (
        batch(5) | {"object": [1, 1], "xy": [[1.0, 2.0], [3.0, 4.0]]},
        batch(5),
        True,
        ("truth", "the same", "object 1"),
    ),
    "classes": (
        batch(5, classes=[1]),
        batch(5),
        False,
        ("this batch: truth", "it has category", "unlike earlier batches"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_batches_are_refused_and_change_nothing(name: str) -> None:
    scores = sf.Accumulator(tracks=True).update(batch(), batch()).update(batch(3), batch(3), more=True)
    before = pickle.dumps(scores)
    truth, predictions, more, parts = REFUSED[name]
    with refused(parts):
        scores.update(truth, predictions, more=more)
    assert pickle.dumps(scores) == before


def test_merging() -> None:
    parts = [sf.Accumulator(tracks=True).update(batch(name), batch(name)) for name in (1, 2)]
    going_on = sf.Accumulator(tracks=True).update(batch(3), batch(3), more=True)
    parts[0].merge(parts[1]).merge(going_on)
    parts[0].update(batch(3, 2), batch(3, 2))
    assert parts[0].compute()["n_frames"].tolist() == [1, 1, 2, 4]
    assert going_on.compute()["n_frames"].tolist() == [1, 1], "the other one is not changed"
    for other in (parts[1], going_on):
        with refused(("merge: other: sequence", "is here, too", "one process")):
            parts[0].merge(other)
    with refused(("merge: other was made with another tracks", "make both with the same")):
        parts[0].merge(sf.Accumulator())
    with refused(("merge: other was made with another rule", "make both with the same")):
        parts[0].merge(sf.Accumulator(tracks=True, tau=5))
    with refused(("merge: other", "column sequence is text")):
        parts[0].merge(sf.Accumulator(tracks=True).update(batch("a"), batch("a")))


def test_a_copy_goes_its_own_way() -> None:
    scores = sf.Accumulator(tracks=True).update(batch(), batch(), more=True)
    other = copy.copy(scores).update(batch(frame=2), batch(frame=2))
    assert [of.compute()["n_frames"].iloc[-1] for of in (scores, other)] == [1, 2]


def test_what_does_not_fit_is_told() -> None:
    scores = sf.Accumulator(tracks=True).update(batch("a"), batch("a"))
    scores.update({"sequence": [], "frame": [], "object": [], "xy": []}, batch("b"))
    with warned(("Accumulator: 1 sequence of the predictions (b)", "no truth at all")):
        scores.compute()


def test_words_that_are_wrong() -> None:
    with pytest.raises(ValueError, match="keep='scores' is for average precision, which knows no identities"):
        sf.Accumulator(tracks=True, keep="scores")
    with pytest.raises(ValueError, match="threshold does not apply with tracks=True"):
        sf.Accumulator(tracks=True, threshold=0.7)
    with pytest.raises(ValueError, match="more is for tracks=True"):
        sf.Accumulator().update(batch(), batch(), more=True)
    with refused(("compute: there is no batch yet",)):
        sf.Accumulator(tracks=True).compute()
    with refused(("precision: the scores were not kept", 'keep="scores"')):
        sf.Accumulator(tracks=True).precision()


def test_real_sequences_in_thirds(mot17: Path) -> None:
    sides = sf.read_motchallenge(mot17 / "gt", mot17 / "trackers" / "tracker_a" / "data", benchmark="MOT17")
    scene = Scene(sides[0], sides[1].objects, {})
    scores = scene.accumulator()
    for _, frames in scene.frames().groupby("sequence"):
        for third, rows in enumerate(np.array_split(np.arange(len(frames)), 3)):
            scores.update(*scene.batch(frames.iloc[rows]), more=third < 2)
    same(scores.compute(), scene.summary())


def test_batches_do_not_share_memory_with_what_was_given() -> None:
    scores, expected = sf.Accumulator(tracks=True), []
    side = pd.DataFrame({"sequence": 1, "frame": 0, "object": [4, 5], "x": [10.0, 90.0], "y": 5.0})
    frames = pd.DataFrame({"sequence": [1], "frame": [0]})
    for frame in range(3):
        side.loc[:, "frame"] = frames.loc[:, "frame"] = frame
        side.loc[:, "x"] += 1.0
        scores.update(sf.Annotations(side, frames), side, more=frame < 2)
        expected.append(side.copy())
    same(scores.compute(), sf.track(pd.concat(expected), pd.concat(expected)).summary)


def test_rows_in_no_order_with_sequences_mixed() -> None:
    scene = SCENES["names"]
    mixed = scene._replace(
        truth=scene.truth._replace(objects=scene.truth.objects.sample(frac=1, random_state=1)),
        predictions=scene.predictions.sample(frac=1, random_state=2),
    )
    scores = scene.accumulator()
    scores.update(mixed.truth, mixed.predictions)
    same(scores.compute(), scene.summary())


def test_frames_one_by_one_are_kept_in_few_tables() -> None:
    """What a batch costs must not grow with the batches before."""
    key = pd.MultiIndex.from_product([[1], range(150), range(2)], names=["sequence", "frame", "object"])
    objects = key.to_frame(index=False)
    truth = objects.assign(x=40.0 * objects["object"] + objects["frame"], y=5.0)
    found = truth.assign(x=truth["x"] + np.random.default_rng(3).normal(0, 2, len(truth)))
    scores = sf.Accumulator(tracks=True)
    for frame in range(150):
        here = [side[side["frame"] == frame] for side in (truth, found)]
        scores.update(*here, more=frame < 149)
        if frame == 140:
            assert len(scores._tracked.open[1].parts) < 20  # type: ignore[union-attr]
    same(scores.compute(), sf.track(truth, found).summary)


def test_a_first_batch_of_joints_may_have_nobody() -> None:
    joints = pd.DataFrame(
        {"sequence": 1, "frame": 2, "object": 1, "joint": ["nose", "neck"], "x": [1.0, 5.0], "y": 1.0}
    )
    truth = joints.assign(head_size=6.0)
    scores, frames = sf.Accumulator(tracks=True), pd.DataFrame({"sequence": [1], "frame": [1]})
    scores.update(sf.Annotations(truth.head(0), frames), joints.head(0), more=True)
    assert scores.compute()["joint"].notna().any(), "a batch without rows tells that these are joints"
    scores.update(sf.Annotations(truth, frames.assign(frame=2)), joints)
    both = pd.concat([frames, frames.assign(frame=2)], ignore_index=True)
    found = scores.compute()
    same(found, sf.pose(sf.Annotations(truth, both), joints).summary[[*found]])
