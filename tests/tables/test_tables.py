"""What the checks accept, and that they name every problem of what they refuse."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import spotgeo_frames as sf
from helpers.problems import Place, refused
from helpers.reference import match_rows
from helpers.scenes import SCENES, Scene, objects
from spotgeo_frames.tables.arrow import as_pandas
from spotgeo_frames.tables.checks import check_frames, check_objects
from spotgeo_frames.tables.columns import dataframe_of
from spotgeo_frames.tables.plain import plain_dataframe, plain_objects, plain_side

GOOD = objects([(1, 1, 0, 0), (1, 2, 5, 5), (2, 1, 1, 1)])


def assert_refused(truth, predictions=GOOD, *, at: list[Place]) -> None:
    """The two cannot be matched, and these places say why."""
    with refused(*at):
        sf.match(truth, predictions)


def as_duckdb(table: pd.DataFrame) -> duckdb.DuckDBPyRelation:
    arrow = pa.Table.from_pandas(table, preserve_index=False)  # the name that the query finds it by
    return duckdb.connect().from_arrow(arrow)


@pytest.mark.parametrize(
    "scene", [scene for scene in SCENES if scene.truth and scene.predictions], ids=lambda s: s.name
)
@pytest.mark.parametrize(
    "convert", [pl.from_pandas, lambda table: pa.Table.from_pandas(table, preserve_index=False), as_duckdb]
)
def test_arrow_tables_do_as_well_as_pandas(scene: Scene, convert) -> None:
    truth, predictions = (side.objects for side in scene.sides())
    matches = as_pandas(sf.match(convert(truth), convert(predictions)), "matches")
    assert match_rows(matches) == match_rows(sf.match(truth, predictions))


def test_duckdb_literals_and_enums() -> None:
    query = "select 1 as sequence, 1 as frame, 0 as object, 1.5 as x, 2.5 as y, 'a'::enum('a', 'b') as kind"
    matches = sf.match(duckdb.sql(query), duckdb.sql(query))
    assert matches["distance"].tolist() == [0.0]
    assert matches["truth_x"].tolist() == [1.5]
    assert matches["truth_kind"].tolist() == ["a"]


def test_datasets_of_pyarrow_are_tables(tmp_path: Path) -> None:
    """Also one that is filtered, or several as one, and a scanner, whose rows are read once."""
    pq.write_table(pa.Table.from_pandas(GOOD), tmp_path / "some.parquet")
    dataset = ds.dataset(tmp_path / "some.parquet")
    expected = sf.match(pa.Table.from_pandas(GOOD), GOOD)
    for given in (
        dataset,
        ds.dataset([dataset]),
        dataset.scanner(),
        ds.Scanner.from_batches(dataset.to_batches(), schema=dataset.schema),
    ):
        matches = sf.match(given, GOOD)
        assert isinstance(matches, pa.Table)
        assert matches.equals(expected)
    assert sf.match(dataset.filter(ds.field("sequence") == 1), GOOD.head(2)).num_rows == 2
    pq.write_table(sf.match(dataset, GOOD, tau=5), tmp_path / "matches.parquet")
    summary = sf.summarize(ds.dataset(tmp_path / "matches.parquet"))
    assert as_pandas(summary, "summary").attrs["tau"] == 5


def test_polars_categoricals_as_keys() -> None:
    table = pl.DataFrame({"sequence": ["b", "a"], "frame": [1, 1], "object": [0, 0], "x": [1.0, 2.0], "y": [1.0, 2.0]})
    matches = sf.match(table.with_columns(pl.col("sequence").cast(pl.Categorical)), table)
    assert matches["sequence"].to_list() == ["a", "b"]
    assert (matches["outcome"] == "TP").all()


@pytest.mark.parametrize("kind", ["int32", "uint8", "Int64", "int64[pyarrow]"])
def test_integers_of_any_kind_are_keys(kind: str) -> None:
    table = GOOD.astype({"sequence": kind, "frame": kind, "object": kind, "x": "float32", "y": "float32"})
    matches = sf.match(table, GOOD)
    assert matches["sequence"].dtype == np.int64
    assert (matches["outcome"] == "TP").all()


def test_keys_in_the_index_are_found() -> None:
    indexed = GOOD.set_index(["sequence", "frame"])
    pd.testing.assert_frame_equal(sf.match(indexed, GOOD), sf.match(GOOD, GOOD))


@pytest.mark.parametrize("index", [[7, 7, 7], ["a", "b", "c"], [2, 1, 0]])
def test_other_indexes_change_nothing(index: list) -> None:
    odd = GOOD.set_axis(index, axis="index")
    shuffled = odd.iloc[[2, 0, 1]]
    expected = sf.match(GOOD, GOOD)
    pd.testing.assert_frame_equal(sf.match(odd, GOOD), expected)
    pd.testing.assert_frame_equal(sf.match(shuffled, odd.assign(x=odd["x"].astype("float32"))), expected)
    frames = GOOD[["sequence", "frame"]].assign(sky=[3, 4, 5]).set_axis(index, axis="index").iloc[[1, 2, 0]]
    with_frames = sf.match(sf.Annotations(odd, frames), shuffled)
    assert with_frames["frame_sky"].tolist() == [3, 4, 5]


def test_large_keys_that_span_nearly_everything() -> None:
    table = GOOD.assign(sequence=[-(2**62), -(2**62), 2**62], frame=[-(2**40), 2**40, 0], object=[2**60, -1, 5])
    matches = sf.match(table, table.iloc[::-1])
    assert matches["outcome"].tolist() == ["TP"] * 3
    assert matches["sequence"].tolist() == [-(2**62), -(2**62), 2**62]
    assert sf.summarize(matches, by="sequence")["n_frames"].tolist() == [2, 1]


def test_every_problem_is_named() -> None:
    bad = pd.DataFrame(
        {
            "sequence": ["a", None, "b", "b", "b"],
            "frame": [1.0, 2.0, 3.0, 4.5, 5.0],
            "x": [0.0, np.nan, np.inf, 1.0, 2.0],
            "y": ["0", "1", "2", "3", "4"],
            "score": ["high"] * 5,
        }
    )
    frames = pd.DataFrame({"sequence": ["a", "a", "b"], "frame": [1, 1, 2], "n_truth": 0})
    assert_refused(
        sf.Annotations(bad, frames),
        at=[
            ("truth: column sequence", "1 row", "frame 2.0"),
            ("truth: column frame", "float64", "1 row", "sequence b, frame 4.5", "integers"),
            ("truth: column x", "2 rows", "sequence null, frame 2.0", "sequence b, frame 3.0"),
            ("truth: column y", "str"),
            ("truth: column score", "str"),
            "truth frames: column n_truth",
            ("truth frames: 2 rows", "(sequence, frame)", "sequence a, frame 1; sequence a, frame 1"),
        ],
    )


def test_a_missing_column_is_told_with_the_nearest() -> None:
    points = objects([(1, 1, 0.0, 0.0)])
    boxes = points.assign(w=8.0, h=8.0)
    renamed = boxes.rename(columns={"w": "width", "h": "H"})
    with refused(("truth: column x", "did you mean xx")):
        sf.match(points.rename(columns={"x": "xx"}), points)
    with refused(("truth: column w", "did you mean width"), ("truth: column h", "did you mean H")):
        sf.match(renamed, boxes, similarity="iou")
    with refused(("predictions: has boxes", "did you mean width or H")):
        sf.match(renamed, boxes)
    with refused(("predictions: column score", "did you mean scores")):
        sf.sweep(points, points.assign(scores=0.5))
    with refused(("match table: column truth_y", "did you mean truth_Y")):
        sf.bias(sf.match(points, points).rename(columns={"truth_y": "truth_Y"}))
    with pytest.raises(sf.InputError) as caught:
        sf.bias(sf.match(points, points).drop(columns="truth_y"))
    assert "mean" not in str(caught.value)  # truth_x is no misspelling of truth_y


def test_only_the_first_few_keys_are_named() -> None:
    many = objects([(1, 1, float(k), 0) for k in range(9)]).assign(x=np.nan)
    named = "; ".join(f"sequence 1, frame 1, object {k}" for k in range(3)) + "; ..."
    assert_refused(many, at=[("truth: column x", "9 rows", named)])


@pytest.mark.parametrize("column", ["sequence", "frame", "object", "x"])
def test_booleans_are_neither_keys_nor_numbers(column: str) -> None:
    assert_refused(GOOD.assign(**{column: True}), at=[(f"truth: column {column}", "bool")])


def test_a_key_twice() -> None:
    twice = pd.concat([GOOD, GOOD.head(1)])
    named = ("(sequence, frame, object)", "sequence 1, frame 1, object 0")
    assert_refused(twice, at=[("truth: 2 rows", *named)])
    assert_refused(GOOD, twice, at=[("predictions: 2 rows", *named)])


def test_a_column_twice() -> None:
    assert_refused(pd.concat([GOOD, GOOD[["x"]]], axis=1), at=[("truth: column x", "more than once")])


@pytest.mark.parametrize("nothing", [[1, 2], GOOD["x"], None])
def test_what_is_no_table(nothing) -> None:
    assert_refused(nothing, at=[("truth", type(nothing).__name__, "pandas DataFrame", "Arrow table")])


def test_key_types_that_differ() -> None:
    text = GOOD.astype({"sequence": "str"})
    assert_refused(GOOD, text, at=[("predictions: column sequence", "str", "truth", "int64")])
    frames = pd.DataFrame({"sequence": ["1", "2"], "frame": 1})
    assert_refused(sf.Annotations(GOOD, frames), at=[("truth: column sequence", "int64", "frames table", "str")])


def test_sequences_that_have_nothing_in_common() -> None:
    elsewhere = GOOD.assign(sequence=GOOD["sequence"] + 100)
    assert_refused(GOOD, elsewhere, at=[("predictions", "sequence", "101, 102", "truth", "1, 2")])


def test_an_empty_table_fits_any_keys() -> None:
    empty = pd.DataFrame({column: [] for column in GOOD})
    assert sf.match(GOOD, empty)["outcome"].tolist() == ["FN"] * 3
    assert sf.match(empty, GOOD)["outcome"].tolist() == ["FP"] * 3
    named = GOOD.assign(sequence=["a", "a", "b"])
    assert sf.match(named, empty)["sequence"].tolist() == ["a", "a", "b"]
    assert len(sf.match(empty, empty)) == 0


def test_predictions_outside_the_frames_of_the_truth() -> None:
    frames = pd.DataFrame({"sequence": [1, 1], "frame": [1, 2]})
    truth = sf.Annotations(GOOD.head(2), frames)
    assert_refused(truth, at=[("predictions: 1 object", 'frames="union"', "sequence 2, frame 1")])
    assert sf.match(truth, GOOD, frames="union")["outcome"].tolist() == ["TP", "TP", "FP"]


def test_frames_tables_that_do_not_agree() -> None:
    frames = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3]})
    truth = sf.Annotations(GOOD.head(2), frames)
    other = sf.Annotations(GOOD.head(1), frames.assign(frame=[1, 2, 4]))
    assert_refused(
        truth,
        other,
        at=[("predictions: 1 frame", "sequence 1, frame 3"), ("predictions: 1 frame", "truth: sequence 1, frame 4")],
    )
    union = sf.match(truth, other, frames="union")
    assert union["outcome"].tolist() == ["TP", "FN", "empty", "empty"]


def test_objects_outside_their_own_frames() -> None:
    frames = pd.DataFrame({"sequence": [1, 1], "frame": [1, 2]})
    named = ("frames", "sequence 2, frame 1")
    assert_refused(sf.Annotations(GOOD, frames), GOOD.head(2), at=[("truth: 1 object", *named)])
    assert_refused(GOOD, sf.Annotations(GOOD.head(2), frames), at=[("predictions: 1 object of the truth", *named)])


def test_a_choice_of_frames_that_there_is_not() -> None:
    with refused(("frames", "'all'", "'truth', 'union' or 'labelled'"), error=ValueError):
        sf.match(GOOD, GOOD, frames="all")


def test_categories_that_cannot_be_compared() -> None:
    null = GOOD.assign(category=["a", None, "b"])
    assert_refused(null, GOOD.assign(category="a"), at=[("truth: column category", "1 row")])
    differ = ("predictions: column category", "int64", "truth", "str")
    assert_refused(GOOD.assign(category="a"), GOOD.assign(category=1), at=[differ])


def test_joints_on_one_side_only() -> None:
    assert_refused(GOOD.assign(joint="nose"), at=[("column joint", "one side")])


def test_integers_that_no_float_can_hold() -> None:
    large = GOOD.assign(catalogue=[1, -(2**60), 2**53])
    assert_refused(large, at=[("truth: column catalogue", "1 row", "2**53", "sequence 1, frame 2, object 0")])
    nullable = GOOD.assign(catalogue=pd.array([1, None, 2**53], "Int64"))
    assert sf.match(nullable, GOOD)["truth_catalogue"].tolist() == pytest.approx([1, np.nan, 2**53], nan_ok=True)


def test_decimals_that_fit_no_integer() -> None:
    table = pa.Table.from_pandas(GOOD, preserve_index=False)
    large = pa.array([Decimal(2**64 + 1)] * 3, pa.decimal128(38, 0))
    assert_refused(table.set_column(0, "sequence", large), at=["truth: column sequence: cannot be read"])


def test_text_that_is_not_utf8_and_times_that_are_out_of_range() -> None:
    table = pa.Table.from_pandas(GOOD, preserve_index=False)
    latin = pa.Array.from_buffers(pa.string(), 3, [*pa.array(["a", "b", "c"]).buffers()[:2], pa.py_buffer(b"\xe9bc")])
    late = pa.array([2**31 - 1] * 3, pa.int32()).cast(pa.date32())
    unreadable = [f"truth: column {name}: cannot be read" for name in ("name", "day")]
    assert_refused(table.append_column("name", latin).append_column("day", late), at=unreadable)


def test_what_says_nothing_of_its_type() -> None:
    nothing = pd.DataFrame(columns=[*GOOD, "score"])
    matches = sf.match(GOOD, nothing)
    assert matches["outcome"].tolist() == ["FN"] * 3
    assert matches["predicted_score"].dtype == np.float64
    assert sf.match(GOOD, GOOD.assign(score=None))["predicted_score"].isna().all()


@pytest.mark.parametrize("null", [pd.Categorical([1, None, 1]), pd.array([1, None, 1], "Int64"), [1, None, 1]])
@pytest.mark.parametrize("column", ["sequence", "frame"])
def test_keys_with_nulls(column: str, null: Any) -> None:
    named = "sequence null, frame 2, object 0" if column == "sequence" else "sequence 1, frame null"
    table = GOOD.assign(**{column: null})
    assert_refused(table, at=[(f"truth: column {column}", "1 row", named)])


def test_categories_of_nothing_comparable() -> None:
    null = GOOD.assign(category=pd.Categorical([1, None, 1]))
    assert_refused(null, GOOD.assign(category=1), at=[("truth: column category", "1 row")])
    mixed = GOOD.assign(category=[["a"], ["b"], ["c"]])
    assert_refused(mixed, mixed, at=[("column category", "list")])


def test_categories_of_different_widths() -> None:
    narrow = GOOD.assign(category=np.array([-100, 100, 7], np.int8))
    matches = sf.match(narrow, GOOD.assign(category=[-100, 100, 7]))
    assert matches["outcome"].tolist() == ["TP"] * 3


def test_flags_from_arrow_keep_their_type() -> None:
    table = pa.Table.from_pandas(GOOD, preserve_index=False)
    for flags in ([True, False, True], [True, None, False]):
        matches = sf.match(sf.read_objects(table.append_column("flag", pa.array(flags)), table="pandas"), GOOD)
        assert matches["truth_flag"].dtype == "boolean"


def test_names_of_columns() -> None:
    assert_refused(GOOD.assign(**{"a": 1}).rename(columns={"a": 5}), at=[("truth: column 5", "string")])
    frames = GOOD[["sequence", "frame"]].assign(joint="x")
    assert_refused(sf.Annotations(GOOD, frames), at=["truth frames: column joint"])


def test_flags_of_frames_keep_their_type() -> None:
    frames = pd.DataFrame({"sequence": [1, 1], "frame": [1, 2], "clear": [True, False]})
    truth = sf.Annotations(GOOD.head(2), frames)
    for matches in (sf.match(truth, GOOD.head(2)), sf.match(truth, GOOD, frames="union")):
        assert matches["frame_clear"].dtype == "boolean"


def test_complex_numbers_are_no_coordinates() -> None:
    assert_refused(GOOD.assign(x=1j), at=[("truth: column x", "complex128")])


def test_sizes_have_to_be_finite() -> None:
    infinite = GOOD.assign(w=1.0, h=[1.0, np.nan, 2.0])
    assert_refused(infinite, at=[("truth: column h", "1 row", "sequence 1, frame 2, object 0")])
    assert sf.match(GOOD.assign(w=[1.0, np.nan, 1.0]), GOOD, tau=10)["truth_w"].isna().sum() == 1


def plain(**columns: Any) -> pa.Table:
    """Objects in the order of their keys, with other columns or values."""
    table = {"sequence": [1, 1, 2], "frame": [1, 1, 1], "object": [0, 1, 0], "x": [0.5, 1, 2], "y": [0.0, 0, 0]}
    return pa.table(table | columns)


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"joint": [0, 1, 0], "object": [0, 0, 0], "visibility": pa.array([0, 1, 2], pa.int8())},
        {"w": [1.0, 2, 3], "h": [1.0, 2, 3], "score": [0.5, np.nan, np.inf]},
        {"object": [1, 0, 0]},  # in no order
    ],
)
def test_plain_objects_are_left_as_they_are(columns: dict[str, Any]) -> None:
    table = plain(**columns)
    found = plain_objects(table)
    assert found is not None
    pd.testing.assert_frame_equal(dataframe_of(found), check_objects(table, "truth"), check_exact=True)
    frame = check_objects(table, "truth").assign(is_far=[True, False, True])
    of_pandas = plain_dataframe(frame)
    assert of_pandas is not None
    pd.testing.assert_frame_equal(dataframe_of(of_pandas), check_objects(frame, "truth"), check_exact=True)


@pytest.mark.parametrize(
    ("columns", "is_plain"),
    [
        ({"sequence": ["b", "b", "a"]}, True),  # together, in whatever order
        ({"sequence": ["b", "a", "b"], "object": [0, 0, 1]}, True),
        ({"sequence": ["b", "a", "b"], "object": [0, 0, 0]}, False),  # twice
        ({"joint": ["right", "left", "right"], "object": [0, 0, 1]}, True),
        ({"joint": ["left", "left", "left"], "object": [0, 0, 1]}, False),
        ({"sequence": ["a", "a", None]}, False),
        ({"object": ["x", "y", "x"]}, True),
        ({"category": pd.Categorical(["car", None, "bus"]), "crowd": [True, False, False]}, True),
        ({"score": pd.Categorical([1, 1, 2])}, False),
    ],
)
def test_plain_text_and_categories_are_left_as_they_are(columns: dict[str, Any], is_plain: bool) -> None:
    frame = plain().to_pandas().assign(**{name: pd.Series(values) for name, values in columns.items()})
    frame = check_objects(frame, "truth") if is_plain else frame
    found = plain_dataframe(frame)
    assert (found is not None) == is_plain
    if found is not None:
        pd.testing.assert_frame_equal(dataframe_of(found), frame, check_exact=True)


def test_frames_of_a_plain_side_are_plain() -> None:
    objects = plain().to_pandas()
    frames = pd.DataFrame({"sequence": [1, 2, 2], "frame": [1, 1, 2], "is_dark": [True, False, True]})
    found = plain_side(sf.Annotations(objects, frames))
    assert found is not None
    assert found.frames is not None
    pd.testing.assert_frame_equal(dataframe_of(found.frames), frames)
    turned = plain_side(sf.Annotations(objects, frames[::-1]))
    assert turned is not None
    assert turned.frames is not None
    expected = check_frames(frames[::-1], "truth").reset_index(drop=True)
    pd.testing.assert_frame_equal(dataframe_of(turned.frames), expected)
    others = (
        pd.concat([frames] * 2),
        frames.rename(columns={"is_dark": "joint"}),
        frames.assign(frame=frames["frame"] / 1),
    )
    assert [plain_side(sf.Annotations(objects, other)) for other in others] == [None, None, None]
    assert plain_side(sf.Annotations(objects, None, frames[["sequence"]])) is None


@pytest.mark.parametrize(
    "columns",
    [
        {"sequence": pa.array([1, 1, 2], pa.int32())},
        {"object": [0, 0, 0]},  # twice
        {"frame": [1, None, 1]},
        {"x": [0.5, np.nan, 2]},
        {"x": [0.5, None, 2]},
        {"x": [0, 1, 2]},
        {"w": [1.0, np.inf, 3], "h": [1.0, 2, 3]},
        {"crowd": [True, False, False]},
        {"id": [1, 2, 1 << 60]},
        {"date": pa.array([1, 2, 3], pa.date32())},
    ],
)
def test_other_objects_take_a_closer_look(columns: dict[str, Any]) -> None:
    assert plain_objects(plain(**columns)) is None
    assert plain_objects(plain().drop_columns(["y"])) is None
    if "crowd" not in columns:  # pandas has a type of its own for the flags of Arrow
        assert plain_dataframe(plain(**columns).to_pandas()) is None


@pytest.mark.parametrize(
    "changed",
    [
        lambda table: table.drop(columns="y"),
        lambda table: table.rename(columns={"x": " x"}),
        lambda table: table.rename(columns={"x": 0}),
        lambda table: table.set_index("object", append=True),
        lambda table: table.rename_axis("row"),
        lambda table: table.assign(score=["a", "b", "c"]),
        lambda table: table.assign(score=[True, False, True]),
        lambda table: table.assign(name=pd.Series(["a", "b", "c"], dtype=object)),
        lambda table: pd.concat([table, table[["x"]]], axis="columns"),
        lambda table: pa.Table.from_pandas(table),
    ],
)
def test_other_dataframes_take_a_closer_look(changed: Callable[[pd.DataFrame], Any]) -> None:
    table = plain().to_pandas()
    assert plain_dataframe(table) is not None
    assert plain_dataframe(changed(table)) is None
