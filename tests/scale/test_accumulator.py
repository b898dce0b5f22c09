"""Accumulator: batches in any order, merged from any parts, give what one evaluation of everything gives."""

import copy
import pickle
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers import datasets
from helpers.detectors import Detector, boxes, people, points
from helpers.kinds import CLASSES, of_kind
from helpers.problems import refused, warned
from spotgeo_frames.scale import accumulator

SIZE = Detector(sequences=6, frames=4)


class Scene(NamedTuple):
    """Two sides, whose truth lists the frames, and the words of a rule."""

    truth: sf.Annotations
    predictions: pd.DataFrame
    words: dict[str, Any]

    def whole(self) -> pd.DataFrame:
        """The match table of everything."""
        return sf.match(self.truth, self.predictions, **self.words)

    def accumulator(self, **more: Any) -> sf.Accumulator:
        return sf.Accumulator(**self.words, **more)

    def batch(self, frames: pd.DataFrame) -> tuple[sf.Annotations, pd.DataFrame]:
        """Both sides in these frames, of the scene's table of frames."""
        truth, predictions = (
            side.merge(frames[["sequence", "frame"]], on=["sequence", "frame"])
            for side in (self.truth.objects, self.predictions)
        )
        return sf.Annotations(truth, frames), predictions


def made(make: Any, **words: Any) -> Scene:
    return Scene(*make(np.random.default_rng(5), SIZE), words)


def with_crowds(scene: Scene) -> Scene:
    crowd = np.random.default_rng(6).random(len(scene.truth.objects)) < 0.2
    return scene._replace(truth=scene.truth._replace(objects=scene.truth.objects.assign(crowd=crowd)))


def named(scene: Scene) -> Scene:
    """The scene with text for sequences, whose order is not that of the numbers, and for categories."""
    tables = [
        table.assign(sequence=(17 - table["sequence"]).map("s{}".format))
        for table in (scene.truth.objects, scene.truth.frames, scene.predictions)
        if table is not None
    ]
    truth, frames, predictions = (
        table.assign(category=table["category"].map("class {}".format)) if "category" in table else table
        for table in tables
    )
    return Scene(sf.Annotations(truth, frames), predictions, scene.words)


def closeness(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
    return np.exp(-np.abs(truth["x"].to_numpy() - predictions["x"].to_numpy()) / 9)


BOXES = made(boxes)
SCENES = {
    "points": made(points),
    "points by similarity": made(points, similarity="point", tau=4),
    "boxes": BOXES,
    "centres": made(boxes, tau=5, epsilon=1),
    "crowds": with_crowds(BOXES),
    "crowds among points": with_crowds(made(points)),
    "names": named(BOXES),
    "joints": made(people),
    "poses": made(people, similarity="oks"),
    "a function": made(points, similarity=closeness),
}


@pytest.fixture(params=["one by one", "all together"])
def _waiting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches that are matched soon, or only at the end."""
    if request.param == "one by one":
        monkeypatch.setattr(accumulator, "WAITING_ROWS", 0)


def same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    datasets.assert_same(found, expected)
    assert found.attrs == expected.attrs


@st.composite
def splits(draw: Any, frames: pd.DataFrame) -> list[list[pd.DataFrame]]:
    """Three parts of a table of frames, each in batches; all in any order."""
    order = draw(st.permutations(range(len(frames))))
    cuts = sorted(draw(st.lists(st.integers(0, len(frames)), max_size=8)))
    batches = [frames.iloc[rows] for rows in np.split(np.array(order), cuts) if len(rows)]
    parts = draw(st.lists(st.integers(0, 2), min_size=len(batches), max_size=len(batches)))
    return [[batch for batch, of in zip(batches, parts, strict=True) if of == part] for part in range(3)]


@pytest.mark.usefixtures("_waiting")
@pytest.mark.parametrize("name", SCENES)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_batches_in_any_parts_give_what_the_whole_gives(name: str, data: st.DataObject) -> None:
    scene = SCENES[name]
    parts = []
    for batches in data.draw(splits(scene.truth.frames)):
        parts.append(scene.accumulator())
        for frames in batches:
            assert parts[-1].update(*scene.batch(frames)) is parts[-1]
    total = scene.accumulator()
    for part in parts:
        assert total.merge(pickle.loads(pickle.dumps(part))) is total
    same(total.compute(), sf.summarize(scene.whole()))


@pytest.mark.parametrize("name", SCENES)
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_match_tables_that_are_kept(name: str, data: st.DataObject) -> None:
    scene = SCENES[name]
    total = scene.accumulator(keep="matches")
    for batches in data.draw(splits(scene.truth.frames)):
        part = scene.accumulator(keep="matches")
        for frames in batches:
            part.update(*scene.batch(frames))
        total.merge(part)
    whole = scene.whole()
    pd.testing.assert_frame_equal(total.matches[list(whole)], whole, check_exact=True)
    assert total.matches.attrs == whole.attrs
    same(total.compute(), sf.summarize(whole))


def arrays(side: pd.DataFrame, key: str = "boxes") -> dict[str, Any]:
    """The arrays of one side of a batch of boxes."""
    places = side[["x", "y", "w", "h"]].to_numpy()
    if key == "boxes_xyxy":
        places = np.concatenate([places[:, :2], places[:, :2] + places[:, 2:]], axis=1)
    given = {name: side[name].to_numpy() for name in ("sequence", "frame")} | {key: places}
    given |= {"classes": side["category"].to_numpy()}
    return given | ({"scores": side["score"].to_numpy()} if "score" in side else {})


class Tensor:
    """What an accumulator asks of a tensor of torch, on another device and of a type that NumPy does not have."""

    requires_grad = False

    def __init__(self, values: np.ndarray, here: bool = False, known: bool = False):
        self.values, self.here, self.known = values, here, known

    def detach(self) -> "Tensor":
        return self

    def cpu(self) -> "Tensor":
        return Tensor(self.values, True, self.known)

    def double(self) -> "Tensor":
        return Tensor(self.values.astype(np.float64), self.here, True)

    def numpy(self) -> np.ndarray:
        if not (self.here and self.known):
            raise TypeError("this memory, or this type, is not NumPy's")
        return self.values


WAYS = {
    "arrays": lambda values: values,
    "lists": lambda values: values.tolist(),
    "tensors": lambda values: Tensor(values, known=values.dtype.kind == "i"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scene", [BOXES, named(BOXES)], ids=["numbers", "names"])
def test_arrays_are_what_tables_are(way: str, scene: Scene) -> None:
    total = sf.Accumulator()
    for _, frames in scene.truth.frames.groupby(["frame"]):
        sides = scene.batch(frames)
        given = [
            {name: WAYS[way](values) if values.dtype.kind in "if" else values for name, values in arrays(side).items()}
            for side in (sides[0].objects, sides[1])
        ]
        listed = {name: frames[name].tolist() for name in ("sequence", "frame")}
        total.update(sf.Annotations(given[0], listed), given[1])
    same(total.compute(), sf.summarize(scene.whole()))


def test_boxes_by_their_corners() -> None:
    truth, found = [[10.0, 20.0, 30.0, 40.0]], [[11.0, 20.0, 30.0, 40.0]]
    frame = {"sequence": 1, "frame": 1}
    by_size = sf.Accumulator().update(frame | {"boxes": truth}, frame | {"boxes": found}).compute()
    corners = [[10.0, 20.0, 40.0, 60.0]], [[11.0, 20.0, 41.0, 60.0]]
    truth, found = (frame | {"boxes_xyxy": side} for side in corners)
    same(sf.Accumulator().update(truth, found).compute(), by_size)
    assert by_size.loc[0, "loc_a"] == pytest.approx(29 / 31)


def test_points_with_attributes_in_the_match_table() -> None:
    truth = {"sequence": "a", "frame": 3, "xy": [[1.0, 2.0], [50.0, 2.0]], "brightness": [4.0, 8.0]}
    found = {"sequence": "a", "frame": 3, "xy": [[1.0, 5.0]], "scores": [0.5]}
    kept = sf.Accumulator(keep="matches").update(truth, found).matches
    assert kept["truth_brightness"].tolist() == [4.0, 8.0]
    assert kept["distance"].dropna().tolist() == [3.0]
    assert kept["predicted_score"].dropna().tolist() == [0.5]


def test_a_frame_that_is_named_counts_though_it_is_empty() -> None:
    nothing = {"sequence": 1, "frame": 7, "xy": np.zeros((0, 2))}
    [row] = sf.Accumulator().update(nothing, nothing).compute().to_dict("records")
    assert (row["n_sequences"], row["n_frames"], row["n_truth"]) == (1, 1, 0)


def test_empty_batches_do_not_decide_the_rule() -> None:
    nothing = {"sequence": 1, "frame": 7, "boxes": []}
    box = {"sequence": 1, "frame": 8, "boxes": [[1, 2, 3, 4]]}
    for words in ({}, {"threshold": 0.3}):
        total = sf.Accumulator(**words).update(nothing, nothing)
        assert total.compute().loc[0, "n_frames"] == 1
        summary = total.update(box, box).compute()
        assert summary.attrs["rule"] == "iou"
        assert summary.loc[0, ["tp", "n_frames"]].tolist() == [1, 2]


@pytest.mark.parametrize("large", [2**40, -5], ids=["beyond 32 bits", "below 0"])
def test_frames_of_any_integer(large: int) -> None:
    total = sf.Accumulator()
    for sequence, frame in ((1, large), (large, 1), (1, 1)):
        batch = {"sequence": sequence, "frame": frame, "xy": [[1.0, 2.0]]}
        total.update(batch, batch)
    both = {"sequence": [1, 2], "frame": [large, 1], "xy": [[1.0, 2.0], [3.0, 4.0]]}
    with refused(("this batch", "sequence 1", f"frame {large}", "reset")):
        total.update(both, both)
    assert total.compute().loc[0, ["tp", "n_sequences", "n_frames"]].tolist() == [3, 2, 3]


def test_batches_do_not_share_memory_with_what_was_given() -> None:
    places, frame = np.array([[1.0, 2.0]]), np.array([4])
    batch = {"sequence": 1, "frame": frame, "xy": places, "classes": np.array([3])}
    total = sf.Accumulator().update(batch, batch | {"xy": places.copy()})
    places[:], frame[:] = 99.0, 5
    assert total.compute().loc[0, ["tp", "n_frames"]].tolist() == [1, 1]


@pytest.mark.parametrize("kind", ["polars", "lazy", "pyarrow"])
@pytest.mark.parametrize("words", [{}, {"similarity": "iou", "keep": "matches"}], ids=["sums", "matches"])
def test_tables_are_of_the_kind_of_the_truth(kind: str, words: dict[str, Any]) -> None:
    scene = named(BOXES)
    total = sf.Accumulator(**words).update(of_kind(scene.truth, kind), of_kind(scene.predictions, kind))
    found, expected = total.compute(), sf.summarize(scene.whole())
    assert type(found) is CLASSES[kind]
    assert [found[name].to_pylist() if kind == "pyarrow" else found[name].to_list() for name in ("tp", "n_frames")] == [
        expected[name].tolist() for name in ("tp", "n_frames")
    ]
    assert not words or type(total.matches) is CLASSES[kind]


def test_a_function_gets_tables_of_the_kind_of_the_truth() -> None:
    def measure(truth: pl.DataFrame, predictions: pl.DataFrame) -> np.ndarray:
        assert isinstance(truth, pl.DataFrame)
        return (truth["x"] == predictions["x"]).cast(float).to_numpy()

    table = pl.DataFrame({"sequence": [1, 1], "frame": [1, 2], "object": [1, 1], "x": [1.0, 2.0], "y": [1.0, 2.0]})
    summary = sf.Accumulator(similarity=measure).update(table, table).compute()
    assert isinstance(summary, pl.DataFrame)
    assert summary["tp"].to_list() == [2]


def test_metrics_of_your_own() -> None:
    sf.metric("worst", lambda rows: {"d": rows["predicted_score"].fillna(0.0)}, lambda sums: sums["d"] / sums["tp"])
    total = sf.Accumulator()
    for _, frames in BOXES.truth.frames.groupby("sequence"):
        total.update(*BOXES.batch(frames))
    datasets.assert_same(total.compute(), sf.summarize(BOXES.whole()))


def test_metrics_of_your_own_that_are_gone_are_left_out() -> None:
    """As in another process, which does not know them."""
    sf.metric("alarms", lambda rows: {"n": rows["outcome"] == "FP"}, lambda sums: sums["n"] / sums["n_frames"])
    total = sf.Accumulator().update(POINT, POINT)
    sf.metric("alarms", None, None)
    summary = total.update(POINT | {"frame": 10}, POINT | {"frame": 10}).compute()
    assert summary.loc[0, "tp"] == 2
    assert "alarms" not in summary


@pytest.mark.parametrize("classes", [[1, 2], ["car", "bus"]], ids=["numbers", "text"])
def test_categorical_classes(classes: list[Any]) -> None:
    total = sf.Accumulator()
    for number, kind in enumerate(["category", None]):
        table = pd.DataFrame({"sequence": 1, "frame": number, "object": [1, 2], "x": [1.0, 9.0], "y": 2.0})
        side = table.assign(category=pd.Series(classes, dtype=kind))
        total.update(side, side)
    assert total.compute().loc[0, "tp"] == 4


def test_reset_forgets_all_but_the_rule() -> None:
    total = sf.Accumulator(tau=5, epsilon=1, keep="matches")
    batch = {"sequence": 1, "frame": 1, "xy": [[1.0, 2.0]]}
    total.update(batch, batch).reset()
    assert total.compute().loc[0, "n_frames"] == 0
    total.update({"sequence": "a", "frame": 1, "xy": [[1.0, 2.0]]}, {"sequence": "a", "frame": 1, "xy": []})
    assert total.compute().attrs["tau"] == 5
    assert len(total.matches) == 1


def test_what_is_kept_grows_with_frames_and_not_with_rows() -> None:
    """Batches of one sequence, with few and with many objects in a frame."""

    def kept(n_objects: int, n_batches: int) -> int:
        total, places = sf.Accumulator(), np.random.default_rng(1).uniform(0, 500, (4 * n_objects, 2))
        for number in range(n_batches):
            frame = np.repeat(np.arange(4), n_objects) + 4 * number
            batch = {"sequence": 1, "frame": frame, "xy": places}
            total.update(batch, batch)
        return len(pickle.dumps(total))

    assert kept(40, 20) == kept(1, 20)
    assert kept(1, 40) - kept(1, 20) <= 80 * 12


def test_no_more_rows_wait_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulator, "WAITING_ROWS", 100)
    total = sf.Accumulator()
    for number in range(30):
        batch = {"sequence": 1, "frame": number, "xy": np.ones((10, 2))}
        total.update(batch, batch)
        assert total._n_waiting <= 120
    assert total.compute().loc[0, "tp"] == 300


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_names_of_objects_do_not_keep_batches_from_waiting(kind: str) -> None:
    table = TABLE.assign(object="left", sequence="night", score=None)
    total = sf.Accumulator().update(*[of_kind(table, kind)] * 2)
    assert total._n_waiting == 2
    with refused(("truth", "2 rows", "object")):
        total.update(of_kind(pd.concat([table, table]).assign(frame=10), kind), table)


def test_no_more_batches_wait_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them takes memory, even without a row."""
    monkeypatch.setattr(accumulator, "WAITING_BATCHES", 5)
    total = sf.Accumulator()
    for number in range(30):
        batch = {"sequence": number, "frame": 1, "xy": []}
        total.update(batch, batch)
        assert len(total._waiting) <= 6
    assert total.compute().loc[0, "n_frames"] == 30


def test_large_batches_do_not_wait() -> None:
    batch = {"sequence": "a", "frame": np.arange(20_000), "xy": np.ones((20_000, 2))}
    total = sf.Accumulator().update(batch, batch)
    assert not total._n_waiting
    assert total.compute().loc[0, ["tp", "n_frames"]].tolist() == [20_000, 20_000]


def test_a_copy_goes_its_own_way() -> None:
    first = {"sequence": "a", "frame": 1, "xy": [[1.0, 2.0]]}
    total = sf.Accumulator().update(first, first)
    other = copy.deepcopy(total)
    other.update(first | {"frame": 2}, first | {"frame": 2})
    assert [of.compute().loc[0, "tp"] for of in (total, other)] == [1, 2]


def test_what_matching_leaves_out_of_account_is_told() -> None:
    frame = {"sequence": 1, "frame": 1, "xy": [[1.0, 2.0]]}
    total = sf.Accumulator().update(frame | {"classes": [1]}, frame)
    with warned(("Accumulator", "category")) as found:
        total.compute()
    assert found[0].filename == __file__


def test_a_shallow_copy_goes_its_own_way_too() -> None:
    first = {"sequence": "a", "frame": 1, "xy": [[1.0, 2.0]]}
    total = sf.Accumulator().update(first, first)
    copy.copy(total).update(first | {"frame": 2}, first | {"frame": 2})
    assert total.update(first | {"frame": 2}, first | {"frame": 2}).compute().loc[0, "tp"] == 2


def test_match_tables_of_empty_batches_follow_the_rule_of_all() -> None:
    """An empty batch does not tell that there are boxes, and its empty columns may be of any type."""
    nothing = {"sequence": [], "frame": [], "boxes": [], "classes": []}
    empty_frame = nothing | {"sequence": "a", "frame": 1}
    box = {"sequence": "a", "frame": [2], "boxes": [[1, 2, 3, 4]], "classes": [1]}
    total = sf.Accumulator(keep="matches")
    for batch in (nothing, empty_frame, box):
        total.update(batch, batch)
    frames = {"sequence": ["a", "a"], "frame": [1, 2]}
    table = pd.DataFrame({"sequence": "a", "frame": [2], "object": [0], "x": 1.0, "y": 2.0, "w": 3.0, "h": 4.0})
    whole = sf.match(sf.Annotations(table.assign(category=1), pd.DataFrame(frames)), table.assign(category=1))
    pd.testing.assert_frame_equal(total.matches[list(whole)], whole)
    assert "distance" not in total.matches
    same(sf.summarize(total.matches), total.compute())


POINT = {"sequence": 1, "frame": 9, "xy": [[1.0, 2.0]]}
GRADIENT = Tensor(np.ones((1, 2)))
GRADIENT.requires_grad = True
FRAMES = {"sequence": [1, 1], "frame": [9, 9]}
TABLE = pd.DataFrame({"sequence": [1], "frame": [9], "object": [1], "x": [1.0], "y": [2.0]})
BAD = {
    "a gradient": (POINT | {"xy": GRADIENT}, ("truth: key xy", "gradient")),
    "a wrong width": (POINT | {"xy": [[1.0, 2.0, 3.0]]}, ("truth: key xy", "(1, 3)", "(n, 2)")),
    "one box flat": (POINT | {"xy": [1.0, 2.0]}, ("truth: key xy", "(2,)", "(n, 2)")),
    "unequal lengths": (POINT | {"scores": [0.5, 0.6]}, ("truth: key scores", "(2,)", "(1,)")),
    "no places": ({"sequence": 1, "frame": 9}, ("truth", "xy", "boxes")),
    "two places": (POINT | {"boxes": [[1, 2, 3, 4]]}, ("truth: keys xy and boxes", "one")),
    "torchvision's word": (POINT | {"labels": [1]}, ("truth: key labels", "classes")),
    "text for places": (POINT | {"xy": [["a", "b"]]}, ("truth: key xy", "numbers")),
    "text beside numbers": (
        {"sequence": 1, "frame": 9, "xy": [[1, 2], [3, 4]], "classes": [1, "car"]},
        ("truth: key classes", "text beside other values"),
    ),
    "masked values": (POINT | {"xy": np.ma.masked_array([[1.0, 2.0]], [[0, 1]])}, ("truth: key xy", "masked")),
    "a column of the places twice": (POINT | {"y": [4.0]}, ("truth: keys xy and y", "one")),
    "sizes beside points": (POINT | {"w": [4.0], "h": [4.0]}, ("truth: keys xy and w and h", "one")),
    "joints of no object": (POINT | {"joint": ["nose"]}, ("truth: key object", "missing")),
    "scores twice": (POINT | {"scores": [0.5], "score": [0.5]}, ("truth: keys scores and score", "one")),
    "a null frame": (TABLE.assign(frame=pd.array([None], "Int64")), ("truth: column frame", "null")),
    "a null object": (TABLE.assign(object=pd.array([None], "Int64")), ("truth: column object", "null")),
    "sequences that are wrong": (
        sf.Annotations(TABLE, None, pd.DataFrame({"sequence": [1, 1]})),
        ("truth sequences", "2 rows"),
    ),
    "a ragged list": (POINT | {"xy": [[1.0], [2.0, 3.0]]}, "truth: key xy"),
    "not finite": (POINT | {"xy": [[np.nan, 2.0]]}, ("truth: column x", "not finite")),
    "no sequence": ({"frame": 9, "xy": [[1.0, 2.0]]}, ("truth: column sequence", "missing")),
    "frames that are no integers": (POINT | {"frame": [9.5]}, ("truth: column frame", "frame 9.5", "integers")),
    "sequences that are no keys": (POINT | {"sequence": [1.5]}, ("truth: column sequence", "1.5", "integers or text")),
    "a null category": (POINT | {"classes": [np.nan]}, ("truth: column category", "null")),
    "an object twice": (
        {"sequence": 1, "frame": 9, "xy": [[1, 2], [3, 4]], "object": [1, 1]},
        ("truth", "2 rows", "object"),
    ),
    "no crowd": (POINT | {"crowd": [2]}, ("truth: column crowd", "neither")),
    "a frame twice": (sf.Annotations(POINT, FRAMES), ("truth frames", "2 rows")),
    "frames without it": (
        sf.Annotations(POINT | {"frame": [9]}, {"sequence": 1, "frame": [4]}),
        ("truth", "frames table"),
    ),
    "no table": ([1, 2], ("truth", "list")),
    "a table that is wrong": (TABLE.assign(x=["a"]), ("truth: column x", "numbers")),
}


@pytest.mark.filterwarnings("ignore:.*column crowd plays no part:UserWarning")
@pytest.mark.parametrize("known", [True, False], ids=["after a batch", "at first"])
@pytest.mark.parametrize("name", BAD)
def test_bad_batches_are_refused_and_change_nothing(name: str, known: bool) -> None:
    total = sf.Accumulator()
    if known:
        good = {"sequence": 1, "frame": [1, 1], "xy": [[1.0, 2.0], [30.0, 4.0]]}
        good |= {"classes": [1, 2]} if name == "a null category" else {"crowd": [0, 1]} if name == "no crowd" else {}
        total.update(good, good)
    before = total.compute()
    truth, place = BAD[name]
    predictions = POINT | {"frame": [9]} | ({"classes": [1]} if name == "a null category" else {})
    places = [place, "predictions"] if name == "frames without it" else [place]
    with refused(*places):
        total.update(truth, predictions)
    same(total.compute(), before)
    right = {"sequence": 1, "frame": 9, "xy": [[1.0, 2.0]]}  # the frame of the refused batch is still to come
    right |= {} if not known else {"classes": [1]} if name == "a null category" else {}
    right |= {"crowd": [0]} if known and name == "no crowd" else {}
    assert total.update(right, right).compute().loc[0, "n_frames"] == 1 + known


@pytest.mark.parametrize("as_table", [False, True], ids=["arrays", "tables"])
def test_a_frame_that_comes_again_is_refused(as_table: bool) -> None:
    def batch(*frames: int) -> Any:
        keys = {"sequence": "night", "frame": frames, "xy": [[1.0, 2.0]] * len(frames)}
        table = pd.DataFrame({"sequence": "night", "frame": frames, "object": 0, "x": 1.0, "y": 2.0})
        return table if as_table else keys

    total = sf.Accumulator().update(batch(1, 2, 3), batch(1, 2, 3))
    with refused(("this batch", "sequence night", "frame 2", "1 more")):
        total.update(batch(2, 3, 4), batch(4))
    assert total.update(batch(4), batch(4)).compute().loc[0, ["tp", "n_frames"]].tolist() == [4, 4]


OTHER = {
    "text for sequences": ({"sequence": "a"}, ("this batch: column sequence", "text", "numbers")),
    "text for classes": ({"classes": ["car"]}, ("this batch: column category", "text", "numbers")),
    "no classes": ({"classes": None}, ("this batch: truth", "lacks category")),
    "crowds": ({"crowd": [0]}, ("this batch: truth", "has crowd")),
}


@pytest.mark.parametrize("name", OTHER)
def test_batches_of_another_form_are_refused(name: str) -> None:
    batch = POINT | {"classes": [1]}
    total = sf.Accumulator().update(batch, batch)
    changed, place = OTHER[name]
    truth = {key: value for key, value in (batch | {"frame": 10} | changed).items() if value is not None}
    predictions = batch | {"frame": 10} | {key: truth[key] for key in ("sequence", "classes") if key in truth}
    with refused(place):
        total.update(truth, predictions)
    assert total.compute().loc[0, "n_frames"] == 1


def test_sides_of_other_types_are_refused() -> None:
    with refused(("this batch: column sequence", "text", "numbers")):
        sf.Accumulator().update(POINT, POINT | {"sequence": "a"})
    with refused(("truth", "has boxes", "tau")):
        sf.Accumulator().update({"sequence": 1, "frame": 9, "boxes": [[1, 2, 3, 4]]}, POINT)


def test_accumulators_that_cannot_be_merged() -> None:
    total = sf.Accumulator().update(POINT, POINT)
    text, boxes_ = POINT | {"sequence": "a"}, {"sequence": 2, "frame": 9, "boxes": [[1, 2, 3, 4]]}
    with refused(("merge: other", "itself")):
        total.merge(total)
    with refused(("merge: other", "dict")):
        total.merge({})  # type: ignore[arg-type]
    with refused(("merge: other", "rule")):
        total.merge(sf.Accumulator(tau=5))
    with refused(("merge: other", "keep")):
        total.merge(sf.Accumulator(keep="matches"))
    with refused(("merge: other", "sequence 1, frame 9")):
        total.merge(sf.Accumulator().update(POINT, POINT))
    with refused(("merge: other: column sequence", "text", "numbers")):
        total.merge(sf.Accumulator().update(text, text))
    with refused(("merge: other: truth", "h, w"), ("merge: other: predictions", "h, w")):
        total.merge(sf.Accumulator().update(boxes_, boxes_))
    assert total.compute().loc[0, ["tp", "n_frames"]].tolist() == [1, 1]


def test_words_that_are_wrong() -> None:
    with refused(("keep", "'tables'", "'matches'"), error=ValueError):
        sf.Accumulator(keep="tables")  # type: ignore[arg-type]
    with refused("tau", error=ValueError):
        sf.Accumulator(tau=-1)
    with refused(("matches", "keep")):
        _ = sf.Accumulator().matches
    with refused(("matches", "update")):
        _ = sf.Accumulator(keep="matches").matches


def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch")
    places = torch.tensor([[10.0, 20.0, 40.0, 60.0]])
    batch = {"sequence": "a", "frame": 1, "boxes_xyxy": places.to(torch.bfloat16), "classes": torch.tensor([3])}
    half = batch | {"boxes_xyxy": places.half(), "scores": torch.tensor([0.5])}
    assert sf.Accumulator().update(batch, half).compute().loc[0, "loc_a"] == 1.0
    listed = {
        "sequence": torch.tensor([1]),
        "frame": torch.tensor([2]),
        "boxes": places,
        "classes": torch.tensor([3.0]),
    }
    assert sf.Accumulator().update(listed, listed).compute().loc[0, "tp"] == 1
    with refused(("truth: key boxes_xyxy", "gradient")):
        sf.Accumulator().update(batch | {"boxes_xyxy": places.requires_grad_()}, batch)
