"""sums() and combine(): parts evaluated anywhere give, to the last bit, what one evaluation of everything gives."""

import io
from collections.abc import Callable
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers import datasets
from helpers.detectors import Detector, boxes, people
from helpers.kinds import CLASSES, CONVERTERS, of_kind, plain
from helpers.problems import refused, warned
from helpers.reference import PROJECT
from helpers.scenes import objects

# Tracks and poses have hundreds of sums.
pytestmark = pytest.mark.filterwarnings("error::pandas.errors.PerformanceWarning")

SIZE = Detector(sequences=12, frames=3)
Evaluate = Callable[..., Any]


class Kind(NamedTuple):
    """Two sides, whose truth lists the frames; how they are evaluated; and what `combine` gives of all of it."""

    truth: sf.Annotations
    predictions: pd.DataFrame
    evaluate: Evaluate
    whole: Callable[[Any], pd.DataFrame]

    def part(self, sequences: Any) -> Any:
        """The evaluation of some sequences."""
        truth, frames, predictions = (
            table[table["sequence"].isin(sequences)].reset_index(drop=True)
            for table in (self.truth.objects, self.truth.frames, self.predictions)
            if table is not None
        )
        return self.evaluate(sf.Annotations(truth, frames), predictions)


def listed(truth: pd.DataFrame, predictions: pd.DataFrame) -> tuple[sf.Annotations, pd.DataFrame]:
    """The sides with a table of all frames."""
    frames = pd.concat([truth, predictions])[["sequence", "frame"]].drop_duplicates(ignore_index=True)
    return sf.Annotations(truth, frames), predictions


def made(make: Any, seed: int = 3) -> tuple[sf.Annotations, pd.DataFrame]:
    return make(np.random.default_rng(seed), SIZE)


def walkers(n_sequences: int = 8) -> tuple[sf.Annotations, pd.DataFrame]:
    """The sample's poses, cut into sequences, and shifted a little differently in each."""
    truth, found = sf.read_posetrack(PROJECT / "data/poses/truth", PROJECT / "data/poses/tracker")
    sides = [side.objects[side.objects["sequence"] == "street"] for side in (truth, found)]
    shifts = np.random.default_rng(0).normal(0, 2, n_sequences)
    both = [
        pd.concat([side.assign(sequence=f"s{n}", x=side["x"] + k * shift) for n, shift in enumerate(shifts)])
        for k, side in enumerate(sides)
    ]
    return listed(*(side.reset_index(drop=True) for side in both))


SCORED = listed(*datasets.points(12))
CLASSED = made(boxes)
TRACKED = listed(*datasets.tracks(8))
BOX_TRACKS = listed(*(side.assign(w=9.0, h=9.0, category=side["object"] % 3) for side in datasets.tracks(8)))
WALKERS = walkers()

ON_REQUEST = ["siap", "vace", "ideucl", "ospa2_3"]

KINDS = {
    "points": Kind(*SCORED, sf.match, sf.summarize),
    "names": Kind(*listed(*datasets.points(12, kind="str")), sf.match, sf.summarize),
    "boxes": Kind(*CLASSED, sf.match, sf.summarize),
    "centres": Kind(*CLASSED, lambda *sides: sf.match(*sides, tau=5, epsilon=1), sf.summarize),
    "poses": Kind(*made(people), lambda *sides: sf.match(*sides, similarity="oks"), sf.summarize),
    "joints": Kind(*made(people), sf.match, sf.summarize),
    "point tracks": Kind(*TRACKED, lambda *sides: sf.track(*sides, tau=8), lambda result: result.summary),
    "box tracks": Kind(*BOX_TRACKS, sf.track, lambda result: result.summary),
    "classes": Kind(*BOX_TRACKS, lambda *sides: sf.track(*sides, by="category"), lambda result: result.summary),
    "on request": Kind(
        *TRACKED, lambda *sides: sf.track(*sides, tau=8, metrics=ON_REQUEST), lambda result: result.summary
    ),
    "classes on request": Kind(
        *BOX_TRACKS,
        lambda *sides: sf.track(*sides, tau=8, by="category", metrics=ON_REQUEST),
        lambda result: result.summary,
    ),
    "joint tracks": Kind(*WALKERS, sf.pose, sf.summarize),
    "tracks as matches": Kind(*TRACKED, lambda *sides: sf.track(*sides).matches, sf.summarize),
}
WHOLE = {name: kind.evaluate(kind.truth, kind.predictions) for name, kind in KINDS.items()}
MATCHES = WHOLE["points"]
GROUPS = {
    "points": ["sequence", "truth_label", "predicted_score", "frame", ["truth_label", "truth_brightness"]],
    "boxes": ["category", "outcome"],
    "joints": ["joint"],
    "point tracks": ["sequence"],
    "classes": ["category", "sequence", ["category", "sequence"]],
    "classes on request": ["category", ["category", "sequence"]],
    "joint tracks": ["joint", "sequence", ["sequence", "joint"]],
}
GROUPED = [(name, by) for name, groups in GROUPS.items() for by in groups]


def same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert found.attrs == expected.attrs


@st.composite
def partitions(draw: Any, name: str) -> list[Any]:
    """The sequences of a kind in parts, some of which may be empty, in any order."""
    sequences = sorted({*KINDS[name].truth.frames["sequence"]})  # type: ignore[index]
    parts = draw(st.lists(st.integers(0, 3), min_size=len(sequences), max_size=len(sequences)))
    return [
        [s for s, of in zip(sequences, parts, strict=True) if of == part] for part in draw(st.permutations(range(4)))
    ]


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=5)
@given(data=st.data())
def test_parts_give_what_the_whole_gives(name: str, data: st.DataObject) -> None:
    kind = KINDS[name]
    tables = [sf.sums(kind.part(part)) for part in data.draw(partitions(name))]
    same(sf.combine(tables), kind.whole(WHOLE[name]))


@pytest.mark.parametrize(("name", "by"), GROUPED)
@settings(max_examples=3)
@given(data=st.data())
def test_groups_are_those_of_the_whole(name: str, by: Any, data: st.DataObject) -> None:
    kind = KINDS[name]
    tables = [sf.sums(kind.part(part), by) for part in data.draw(partitions(name))]
    same(sf.combine(tables), sf.summarize(WHOLE[name], by))


@pytest.mark.parametrize("name", KINDS)
def test_sums_of_every_sequence_by_itself(name: str) -> None:
    """Each part knows only its own classes and joints."""
    kind = KINDS[name]
    by = GROUPS.get(name, [None])[-1]
    parts = [[s] for s in sorted({*kind.truth.frames["sequence"]})]  # type: ignore[index]
    tables = [sf.sums(kind.part(part), by) for part in parts]
    same(sf.combine(tables), kind.whole(WHOLE[name]) if by is None else sf.summarize(WHOLE[name], by))


@st.composite
def loose_tables(draw: Any) -> pd.DataFrame:
    """A match table with nothing but what numbers are made of, and labels, some of them null; rows are in any order."""
    errors = st.floats(0, 100, allow_subnormal=False)
    row = st.tuples(
        st.integers(0, 3),
        st.integers(1, 3),
        st.sampled_from(["TP", "FN", "FP"]),
        errors,
        st.sampled_from(["a", "b", "c", None]),
    )
    rows = [(0, 1, "TP", 4.0, None), *draw(st.lists(row, max_size=60))]
    table = pd.DataFrame(rows, columns=["sequence", "frame", "outcome", "squared_error", "label"])
    found = table["outcome"] == "TP"
    distance = table["squared_error"].pow(0.5).where(found)
    return table.assign(distance=distance, kelvins_error=table["squared_error"] / 3)


@settings(max_examples=60)
@given(matches=loose_tables(), part_of=st.lists(st.integers(0, 2), min_size=4, max_size=4))
def test_rows_of_no_group_do_not_change_how_others_are_rounded(matches: pd.DataFrame, part_of: list[int]) -> None:
    part = matches["sequence"].map(dict(enumerate(part_of)))
    tables = [sf.sums(of_part, by="label") for _, of_part in matches.groupby(part)]
    same(sf.combine(tables), sf.summarize(matches, by="label"))
    same(sf.combine(sf.sums(matches, by="label")), sf.summarize(matches, by="label"))


def test_frames_that_are_added_batch_by_batch() -> None:
    """Tables of batches have several rows of a sequence and group, whose errors may differ in the last digits."""
    tables = [sf.sums(of_frame, "truth_label") for _, of_frame in MATCHES.groupby("frame")]
    expected = sf.combine(sf.sums(MATCHES, "truth_label"))
    pd.testing.assert_frame_equal(sf.combine(tables), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", KINDS)
def test_one_table_has_all_that_is_needed(name: str) -> None:
    """Also without its notes, with rows in any order, as text in a file, and with columns of others."""
    table = sf.sums(WHOLE[name])
    expected = KINDS[name].whole(WHOLE[name])
    assert len(table) == len(table.drop_duplicates([c for c in ("sequence", "joint", "category") if c in table]))
    kinds = {"pandas": table.sample(frac=1, random_state=1).assign(bucket=7)}
    kinds["csv"] = pl.read_csv(io.StringIO(pl.from_pandas(table).write_csv())).to_pandas()
    kinds["duckdb"] = duckdb.from_df(table).order("hash(sequence)").df()
    for given_table in kinds.values():
        given_table.attrs = {}
        same(sf.combine(given_table), expected)


@pytest.mark.parametrize("name", ["points", "boxes", "classes", "joint tracks"])
@pytest.mark.parametrize("kind", CONVERTERS)
def test_every_kind_of_table(name: str, kind: str) -> None:
    of = KINDS[name]
    parts = [of.part([*{*of.truth.frames["sequence"]}][k::2]) for k in range(2)]  # type: ignore[index]
    of_parts = [of_kind(part, kind) if isinstance(part, pd.DataFrame) else type(part)(*of_kind(tuple(part), kind))
                for part in parts]  # fmt: skip
    tables = [sf.sums(part) for part in of_parts]
    assert {type(table) for table in tables} == {CLASSES[kind]}
    combined = sf.combine(tables)
    assert type(combined) is CLASSES[kind]
    assert plain(combined) == plain(of.whole(WHOLE[name]))
    joined = pl.concat(tables) if isinstance(tables[0], pl.DataFrame) else pa.concat_tables(tables)
    assert plain(sf.combine(joined)) == plain(combined)


# --- groups ---


def cut(matches: pd.DataFrame) -> pd.Series:
    return pd.cut(matches["truth_x"], [0, 5, 20, 60], include_lowest=True)


def test_bins_keep_their_order_as_text() -> None:
    halves = [KINDS["points"].part(range(k, 12, 2)) for k in range(2)]
    tables = [sf.sums(half, cut(half)) for half in halves]
    assert plain(sf.combine(tables)).pop("truth_x") == ("category", ["0 to 5", "5 to 20", "20 to 60"])
    expected = sf.summarize(MATCHES, cut(MATCHES))
    same(sf.combine(tables).drop(columns="truth_x"), expected.drop(columns="truth_x"))
    assert sf.combine([of_kind(table, "pyarrow") for table in tables])["truth_x"].to_pylist()[1] == "5 to 20"


def test_expressions_of_polars() -> None:
    table = of_kind(MATCHES, "polars")
    by = [pl.col("frame") > 2, (pl.col("truth_x") > 9).alias("right")]
    assert plain(sf.combine(sf.sums(table, by))) == plain(sf.summarize(table, by))


def test_slices_that_cannot_know_are_known_only_together() -> None:
    """One part has no false alarms, so by itself it cannot tell that they are null in a column of the truth."""
    truth = objects([(1, 1, 0, 0), (2, 1, 0, 0)], band=["a", "b"])
    parts = [truth[:1], truth[1:]], [truth[:1], objects([(2, 1, 0, 0), (2, 1, 50, 0)])]
    tables = [sf.sums(sf.match(*sides), "truth_band") for sides in zip(*parts, strict=True)]
    whole = sf.match(truth, pd.concat([truth[:1].drop(columns="band"), parts[1][1]]))
    same(sf.combine(tables), sf.summarize(whole, "truth_band"))
    assert sf.combine(tables)["precision"].isna().all()
    assert sf.combine(tables[:1])["precision"].tolist() == [1.0]


def test_two_values_that_belong_to_truths_are_known_together() -> None:
    """One part has the misses of both values, another the false alarms, so neither can tell by itself."""
    truth = objects([(1, 1, 0, 0), (1, 1, 50, 0), (2, 1, 0, 0), (2, 1, 50, 0)], brightness=[60, 20, 60, 20])
    found = objects([(2, 1, 0, 0), (2, 1, 50, 0), (2, 1, 90, 0)])
    listed = sf.Annotations(truth, truth[["sequence", "frame"]].drop_duplicates())
    whole = sf.match(listed, found, frames="union")
    parts = [whole[whole["sequence"] == sequence].reset_index(drop=True) for sequence in (1, 2)]
    tables = [sf.sums(part, part["truth_brightness"] > 50) for part in parts]
    with warned(("combine: by: truth_brightness", "truths"), ("summarize: by: truth_brightness", "truths")):
        combined, expected = sf.combine(tables), sf.summarize(whole, whole["truth_brightness"] > 50)
    same(combined, expected)
    assert combined["precision"].isna().all()
    assert combined["recall"].tolist() == [0.5, 0.5]
    with warned(("combine: by: truth_brightness", "truths")):
        same(sf.combine(tables[::-1]), expected)


@pytest.mark.parametrize("by", [None, "truth_label", "predicted_score", "sequence"])
def test_own_metrics(by: str | None) -> None:
    def brightness(rows: pd.DataFrame) -> dict[str, Any]:
        missed = rows["truth_brightness"].where(rows["outcome"] == "FN", 0.0)
        return {"missed": missed, "alarms": rows["outcome"] == "FP", "far": rows["distance"].fillna(0.0) ** 3}

    sf.metric("missed_brightness", brightness, lambda s: s["missed"] / s["fn"])
    sf.metric("alarms_a_frame", brightness, lambda s: s["alarms"] / s["n_frames"], higher_is_better=False)
    sf.metric("cubed", brightness, lambda s: s["far"] / s["tp"])
    sf.metric("f2", lambda rows: {}, lambda s: 5 * s["tp"] / (5 * s["tp"] + 4 * s["fn"] + s["fp"]))
    tables = [sf.sums(KINDS["points"].part(range(k, 12, 3)), by) for k in range(3)]
    same(sf.combine(tables), sf.summarize(MATCHES, by))
    sf.metric("f2", None, None)
    sf.metric("f3", lambda rows: {}, lambda s: s["tp"])
    with warned(
        ("combine: metrics of your own that have no sums in these tables", "f3"),
        ("combine: metrics of your own that are not defined here", "f2"),
    ):
        combined = sf.combine(tables)
    same(combined, sf.summarize(MATCHES, by).drop(columns="f3"))


# --- sequences in several tables, and parts that have little ---


def test_parts_of_a_sequence_by_frames_add_up() -> None:
    by_frame = [MATCHES[MATCHES["frame"] % 2 == k] for k in range(2)]
    tables = [sf.sums(part, "truth_label") for part in by_frame]
    assert len(tables[0]) < len(pd.concat(tables)[["sequence", "truth_label"]])
    datasets.assert_same(sf.combine(tables), sf.summarize(MATCHES, "truth_label"))
    datasets.assert_same(sf.combine([sf.sums(part) for part in by_frame]), sf.summarize(MATCHES))


@pytest.mark.parametrize("name", ["point tracks", "classes", "joint tracks"])
def test_tracks_cannot_be_put_together_from_parts_of_a_sequence(name: str) -> None:
    table = sf.sums(WHOLE[name])
    twice = table[table["sequence"] == table["sequence"].iloc[0]].iloc[:1]
    sequence = twice["sequence"].iloc[0]
    n_rows = int((table["sequence"] == sequence).sum())
    with refused((f"combine: tables: sequence {sequence}", f"{n_rows + 1} rows", f"made {n_rows}", "in one piece")):
        sf.combine([table, twice])
    if n_rows > 1:
        with refused((f"combine: tables: sequence {sequence}", f"{n_rows - 1} rows", f"made {n_rows}")):
            sf.combine(table[1:])


def test_a_sequence_whose_classes_came_one_by_one_is_noticed() -> None:
    truth = objects([(1, 1, 0, 0), (1, 2, 0, 0)], category=["car", "bus"])
    tables = [sf.sums(sf.track(truth[row : row + 1], truth[row : row + 1], by="category")) for row in range(2)]
    with refused(("combine: tables: sequence 1", "2 rows", "made 1", "in one piece")):
        sf.combine(tables)


@pytest.mark.parametrize("evaluate", [sf.track, sf.pose, sf.match])
def test_attributes_of_sequences(evaluate: Evaluate) -> None:
    truth, found = WALKERS if evaluate is sf.pose else TRACKED
    names = pd.Series(sorted({*found["sequence"]}))
    sky = pd.DataFrame({"sequence": names, "sky": ["clear", "cloudy", None, "clear"] * 2})

    def part(sequences: Any) -> Any:
        tables = [table[table["sequence"].isin(sequences)] for table in (truth.objects, truth.frames, sky)]
        return evaluate(sf.Annotations(*tables), found[found["sequence"].isin(sequences)])

    tables = [sf.sums(part(names[k::3]), "sequence_sky") for k in range(3)]
    same(sf.combine(tables), sf.summarize(part(names), "sequence_sky"))


def test_crowds_are_counted_once() -> None:
    truth = objects([(1, 1, 0, 0), (1, 1, 50, 50), (2, 1, 0, 0), (2, 1, 70, 0)], crowd=[False, True, False, True])
    truth, found = (table.assign(w=20.0, h=20.0) for table in (truth, truth.drop(columns="crowd")))
    tables = [sf.sums(sf.match(truth[rows], found[rows]), "frame") for rows in (slice(0, 2), slice(2, 4))]
    whole = sf.summarize(sf.match(truth, found), "frame")
    assert whole.attrs["crowds"] == 2
    same(sf.combine(tables), whole)


@pytest.mark.parametrize("name", KINDS)
def test_nothing_at_all(name: str) -> None:
    kind = KINDS[name]
    nothing = kind.part([])
    empty = sf.sums(nothing)
    assert len(empty) == 0
    same(sf.combine([empty, empty]), kind.whole(nothing))
    same(sf.combine([empty, sf.sums(WHOLE[name]), empty]), kind.whole(WHOLE[name]))


def test_joints_that_only_some_parts_have() -> None:
    """A tail is none of PoseTrack's joints, so the joints are those that occur in any part."""
    truth, found = WALKERS
    kinds = [
        side.assign(joint=side["joint"].where(side["sequence"] != "s1", "tail")) for side in (truth.objects, found)
    ]
    kinds = [side.drop_duplicates(["sequence", "frame", "object", "joint"]) for side in kinds]
    kind = Kind(truth._replace(objects=kinds[0]), kinds[1], sf.pose, sf.summarize)
    whole = kind.part({*found["sequence"]})
    tables = [sf.sums(kind.part(part)) for part in (["s1"], ["s0", "s5"], ["s2", "s3", "s4", "s6", "s7"])]
    same(sf.combine(tables), sf.summarize(whole))
    noses = kind._replace(truth=truth._replace(objects=kinds[0][kinds[0]["joint"].isin(["nose", "tail"])]),
                          predictions=kinds[1][kinds[1]["joint"].isin(["nose", "tail"])])  # fmt: skip
    tables = [sf.sums(noses.part(part), "joint") for part in (["s1"], ["s0", "s2", "s3", "s4", "s5", "s6", "s7"])]
    same(sf.combine(tables), sf.summarize(noses.part({*found["sequence"]}), "joint"))


def test_frames_of_no_class_are_not_lost_in_silence() -> None:
    truth, found = objects([(1, 1, 0, 0)]), objects([(1, 1, 0, 0)])
    sides = (
        sf.Annotations(truth[:0].assign(category="a"), truth[["sequence", "frame"]]),
        found[:0].assign(category="a"),
    )
    with refused(("sums: x", "together with others")):
        sf.sums(sf.track(*sides, by="category"))


# --- what is refused ---

SUMS = sf.sums(MATCHES)
OTHER = sf.sums(sf.match(*[side[side["sequence"] == 3] for side in datasets.points(12)], tau=8))
OF_TRACKS = sf.sums(WHOLE["point tracks"])


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (OTHER, ("tau 10.0", "sequence 3", "tau 8.0")),
        (OF_TRACKS, ("matches by distance", "tracks by similarity")),
        (sf.sums(MATCHES, "truth_label"), ("one row a sequence,", "one row a sequence and truth_label")),
    ],
)
@pytest.mark.parametrize("as_one", [True, False])
def test_what_was_made_in_another_way_is_not_added(other: pd.DataFrame, says: tuple[str, ...], as_one: bool) -> None:
    places = ("combine: tables", "combine: tables") if as_one else ("combine: tables[0]", "combine: tables[1]")
    with pytest.raises(sf.InputError) as caught:
        sf.combine(pd.concat([SUMS, other]) if as_one else [SUMS, other])
    [problem] = caught.value.problems
    assert problem.startswith(f"{places[0]}: sequence 0 has sums of ")
    assert f"; {places[1]}: sequence " in problem
    assert [word for word in says if word not in problem] == []


def test_lost_notes_are_not_compared() -> None:
    lost = sf.sums(of_kind(sf.match(*[side[side["sequence"] == 3] for side in datasets.points(12)]), "polars"))
    left = SUMS[SUMS["sequence"] != 3]
    assert sf.combine([left, lost]).attrs == MATCHES.attrs
    together = sf.combine([lost, left])
    assert plain(together) == plain(sf.summarize(MATCHES))
    assert len(sf.combine(lost)) == 1


BROKEN = {
    "a match table": (MATCHES, ("combine: tables: column made_with", "sums()")),
    "a sum is missing": (SUMS.drop(columns="near"), "combine: tables: column near"),
    "a key is missing": (SUMS.drop(columns="sequence"), "combine: tables: column sequence"),
    "a label is missing": (sf.sums(MATCHES, "frame").drop(columns="frame"), "combine: tables: column frame"),
    "a sum on request is missing": (sf.sums(WHOLE["on request"]).drop(columns="STDA"), "combine: tables: column STDA"),
    "a sum of tracks is missing": (OF_TRACKS.drop(columns="IDTP"), "combine: tables: column IDTP"),
    "tracks of an earlier version": (
        OF_TRACKS.drop(columns=[name for name in OF_TRACKS if name.startswith("hota_fragment")]),
        ("combine: tables: column hota_fragment_0.05", "earlier version"),
    ),
    "null": (SUMS.assign(tp=np.nan), ("combine: tables: column tp", "not finite")),
    "infinite": (SUMS.assign(near=np.inf), ("combine: tables: column near", "not finite")),
    "text": (SUMS.assign(tp="many"), ("combine: tables: column tp", "numbers are needed")),
    "a null key": (SUMS.assign(sequence=[None, *"abcdefghijk"]), ("combine: tables: column sequence", "1 row", "null")),
    "other text": (SUMS.assign(made_with="{}"), "combine: tables: column made_with"),
    "no text": (SUMS.assign(made_with=[None, *SUMS["made_with"][1:]]), "combine: tables: column made_with"),
    "no table": (None, ("combine: tables", "NoneType")),
    "a dict": ({"a": SUMS}, ("combine: tables", "dict")),
    "text and numbers": (
        [SUMS, SUMS.assign(sequence=SUMS["sequence"].astype("str"))],
        ("combine: tables: column sequence", "text", "numbers"),
    ),
    "one of several": ([SUMS, SUMS.drop(columns="fp")], "combine: tables[1]: column fp"),
    "no tables": ([], ("combine: tables", "no rows")),
    "no rows, no notes": (pd.DataFrame({name: [] for name in SUMS}), ("combine: tables", "no rows")),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_table_of_sums_is_refused(name: str) -> None:
    given_tables, place = BROKEN[name]
    with refused(place):  # type: ignore[arg-type]
        sf.combine(given_tables)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("by", "place"),
    [
        ({"truth_x": 3}, ("by: truth_x", "edges")),
        ("truth_lable", ("match table: there is no column truth_lable", "truth_label")),
        ((MATCHES["frame"] % 2).rename("sequence"), ("by: a Series is called sequence", "rename")),
        (MATCHES["frame"].rename("near"), ("by: near", "column of sums")),
        (MATCHES["frame"].rename("made_with"), ("by: made_with", "column of sums")),
        (MATCHES["frame"].rename("tp"), ("by: tp", "metric")),
    ],
)
def test_groups_that_sums_cannot_have(by: Any, place: Any) -> None:
    with refused(place):
        sf.sums(MATCHES, by)


def test_what_has_no_sums() -> None:
    with refused(("sums: x", "average precision")):
        sf.sums(sf.average_precision(*CLASSED))
    with refused(("sums: x", "tuple")):
        sf.sums((MATCHES,))  # type: ignore[arg-type]


def test_a_filtered_table_is_warned_of() -> None:
    with warned(("sums: the match table lacks rows", "by=")):
        sf.sums(MATCHES[MATCHES["outcome"] != "FP"])
