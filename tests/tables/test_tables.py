"""What the checks accept, and that they name every problem of what they refuse."""

from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import spotgeo_frames as sf
from helpers.reference import match_rows
from helpers.scenes import SCENES, Scene, objects

GOOD = objects([(1, 1, 0, 0), (1, 2, 5, 5), (2, 1, 1, 1)])


def problems(truth, predictions=GOOD, **options) -> list[str]:
    with pytest.raises(sf.InputError) as caught:
        sf.match(truth, predictions, **options)
    return caught.value.problems


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
    assert match_rows(sf.match(convert(truth), convert(predictions))) == match_rows(sf.match(truth, predictions))


def test_duckdb_literals_and_enums() -> None:
    query = "select 1 as sequence, 1 as frame, 0 as object, 1.5 as x, 2.5 as y, 'a'::enum('a', 'b') as kind"
    matches = sf.match(duckdb.sql(query), duckdb.sql(query))
    assert matches["distance"].tolist() == [0.0]
    assert matches["truth_x"].tolist() == [1.5]
    assert matches["truth_kind"].tolist() == ["a"]


def test_polars_categoricals_as_keys() -> None:
    table = pl.DataFrame({"sequence": ["b", "a"], "frame": [1, 1], "object": [0, 0], "x": [1.0, 2.0], "y": [1.0, 2.0]})
    matches = sf.match(table.with_columns(pl.col("sequence").cast(pl.Categorical)), table)
    assert matches["sequence"].tolist() == ["a", "b"]
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
            "frame": [1.0, 2.0, 3.0, 4.0, 5.0],
            "x": [0.0, np.nan, np.inf, 1.0, 2.0],
            "y": ["0", "1", "2", "3", "4"],
            "score": ["high"] * 5,
        }
    )
    frames = pd.DataFrame({"sequence": ["a", "a", "b"], "frame": [1, 1, 2], "n_truth": 0})
    assert problems(sf.Annotations(bad, frames)) == [
        "truth: column sequence: 1 row is null: sequence nan, frame 2.0",
        "truth: column frame is of type float64; int64 is needed",
        "truth: column object is missing; there are sequence, frame, x, y, score",
        "truth: column x: 2 rows are not finite: sequence nan, frame 2.0; sequence b, frame 3.0",
        "truth: column y is of type str; numbers are needed",
        "truth: column score is of type str; numbers are needed",
        "truth frames: column n_truth is a name of the match table itself; give it another",
        "truth frames: 2 rows are the same (sequence, frame) as another: sequence a, frame 1; sequence a, frame 1",
    ]


def test_only_the_first_few_keys_are_named() -> None:
    many = objects([(1, 1, float(k), 0) for k in range(9)]).assign(x=np.nan)
    [problem] = problems(many)
    assert problem.startswith("truth: column x: 9 rows are not finite: sequence 1, frame 1, object 0; ")
    assert problem.endswith("object 2; ...")


@pytest.mark.parametrize("column", ["sequence", "frame", "object", "x"])
def test_booleans_are_neither_keys_nor_numbers(column: str) -> None:
    [problem] = problems(GOOD.assign(**{column: True}))
    assert problem.startswith(f"truth: column {column} is of type bool; ")


def test_a_key_twice() -> None:
    twice = pd.concat([GOOD, GOOD.head(1)])
    expected = "2 rows are the same (sequence, frame, object) as another: sequence 1, frame 1, object 0; "
    assert problems(twice)[0].startswith(f"truth: {expected}")
    assert problems(GOOD, twice)[0].startswith(f"predictions: {expected}")


def test_a_column_twice() -> None:
    assert problems(pd.concat([GOOD, GOOD[["x"]]], axis=1)) == ["truth: column x is there more than once"]


@pytest.mark.parametrize("nothing", [[1, 2], GOOD["x"], None])
def test_what_is_no_table(nothing) -> None:
    what = f"is a {type(nothing).__name__}; a pandas DataFrame or an Arrow table (polars, DuckDB) is needed"
    assert problems(nothing) == [f"truth: {what}"]


def test_key_types_that_differ() -> None:
    [problem] = problems(GOOD, GOOD.astype({"sequence": "str"}))
    assert problem == "predictions: column sequence is str, and in truth it is int64; make them the same"
    frames = pd.DataFrame({"sequence": ["1", "2"], "frame": 1})
    [problem] = problems(sf.Annotations(GOOD, frames))
    assert problem == "truth: column sequence is int64, and in its frames table str"


def test_sequences_that_have_nothing_in_common() -> None:
    [problem] = problems(GOOD, GOOD.assign(sequence=GOOD["sequence"] + 100))
    assert problem == "predictions: no sequence is the truth's; it has 101, 102 and the truth has 1, 2"


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
    assert problems(truth) == [
        'predictions: 1 object is in frames that the truth does not have (frames="union" would count them): '
        "sequence 2, frame 1"
    ]
    assert sf.match(truth, GOOD, frames="union")["outcome"].tolist() == ["TP", "TP", "FP"]


def test_frames_tables_that_do_not_agree() -> None:
    frames = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3]})
    truth = sf.Annotations(GOOD.head(2), frames)
    other = sf.Annotations(GOOD.head(1), frames.assign(frame=[1, 2, 4]))
    assert problems(truth, other) == [
        "predictions: 1 frame is missing: sequence 1, frame 3",
        "predictions: 1 frame is not in the truth: sequence 1, frame 4",
    ]
    union = sf.match(truth, other, frames="union")
    assert union["outcome"].tolist() == ["TP", "FN", "empty", "empty"]


def test_objects_outside_their_own_frames() -> None:
    frames = pd.DataFrame({"sequence": [1, 1], "frame": [1, 2]})
    assert problems(sf.Annotations(GOOD, frames), GOOD.head(2)) == [
        "truth: 1 object is in frames that its frames table does not have: sequence 2, frame 1"
    ]
    assert problems(GOOD, sf.Annotations(GOOD.head(2), frames)) == [
        "predictions: 1 object of the truth is in frames that are missing from its frames: sequence 2, frame 1"
    ]


def test_a_choice_of_frames_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="'truth' or 'union' is needed"):
        sf.match(GOOD, GOOD, frames="all")


def test_categories_that_cannot_be_compared() -> None:
    assert problems(GOOD.assign(category=["a", None, "b"]), GOOD.assign(category="a")) == [
        "truth: column category: 1 row is null"
    ]
    [problem] = problems(GOOD.assign(category="a"), GOOD.assign(category=1))
    assert problem == "predictions: column category is int64, and in truth it is str; make them the same"


def test_joints_on_one_side_only() -> None:
    [problem] = problems(GOOD.assign(joint="nose"))
    assert problem == "column joint is on one side only; keypoints are matched with keypoints"


def test_integers_that_no_float_can_hold() -> None:
    [problem] = problems(GOOD.assign(catalogue=[1, -(2**60), 2**53]))
    what = "1 row is beyond 2**53, which a match table cannot hold exactly; make them strings"
    assert problem == f"truth: column catalogue: {what}: sequence 1, frame 2, object 0"
    nullable = GOOD.assign(catalogue=pd.array([1, None, 2**53], "Int64"))
    assert sf.match(nullable, GOOD)["truth_catalogue"].tolist() == pytest.approx([1, np.nan, 2**53], nan_ok=True)


def test_decimals_that_fit_no_integer() -> None:
    table = pa.Table.from_pandas(GOOD, preserve_index=False)
    large = pa.array([Decimal(2**64 + 1)] * 3, pa.decimal128(38, 0))
    assert problems(table.set_column(0, "sequence", large)) == [
        "truth: column sequence: cannot be read: Integer value out of bounds"
    ]


def test_text_that_is_not_utf8_and_times_that_are_out_of_range() -> None:
    table = pa.Table.from_pandas(GOOD, preserve_index=False)
    latin = pa.Array.from_buffers(pa.string(), 3, [*pa.array(["a", "b", "c"]).buffers()[:2], pa.py_buffer(b"\xe9bc")])
    late = pa.array([2**31 - 1] * 3, pa.int32()).cast(pa.date32())
    found = problems(table.append_column("name", latin).append_column("day", late))
    assert [line.split(": cannot be read: ")[0] for line in found] == ["truth: column name", "truth: column day"]


def test_what_says_nothing_of_its_type() -> None:
    nothing = pd.DataFrame(columns=[*GOOD, "score"])
    matches = sf.match(GOOD, nothing)
    assert matches["outcome"].tolist() == ["FN"] * 3
    assert matches["predicted_score"].dtype == np.float64
    assert sf.match(GOOD, GOOD.assign(score=None))["predicted_score"].isna().all()


@pytest.mark.parametrize("column", ["sequence", "frame"])
def test_categorical_keys_with_nulls(column: str) -> None:
    [problem] = problems(GOOD.assign(**{column: pd.Categorical([1, None, 1])}))
    assert problem.startswith(f"truth: column {column}: 1 row is null: ")


def test_categories_of_nothing_comparable() -> None:
    null = GOOD.assign(category=pd.Categorical([1, None, 1]))
    assert problems(null, GOOD.assign(category=1)) == ["truth: column category: 1 row is null"]
    mixed = GOOD.assign(category=[["a"], ["b"], ["c"]])
    assert problems(mixed, mixed)[0].startswith("column category: its values cannot be compared: ")


def test_categories_of_different_widths() -> None:
    narrow = GOOD.assign(category=np.array([-100, 100, 7], np.int8))
    matches = sf.match(narrow, GOOD.assign(category=[-100, 100, 7]))
    assert matches["outcome"].tolist() == ["TP"] * 3


def test_flags_from_arrow_keep_their_type() -> None:
    table = pa.Table.from_pandas(GOOD, preserve_index=False)
    for flags in ([True, False, True], [True, None, False]):
        matches = sf.match(table.append_column("flag", pa.array(flags)), GOOD)
        assert matches["truth_flag"].dtype == "boolean"


def test_names_of_columns() -> None:
    assert problems(GOOD.assign(**{"a": 1}).rename(columns={"a": 5})) == [
        "truth: column 5: its name has to be a string"
    ]
    frames = GOOD[["sequence", "frame"]].assign(joint="x")
    assert problems(sf.Annotations(GOOD, frames)) == [
        "truth frames: column joint is a name of the match table itself; give it another"
    ]


def test_flags_of_frames_keep_their_type() -> None:
    frames = pd.DataFrame({"sequence": [1, 1], "frame": [1, 2], "clear": [True, False]})
    truth = sf.Annotations(GOOD.head(2), frames)
    for matches in (sf.match(truth, GOOD.head(2)), sf.match(truth, GOOD, frames="union")):
        assert matches["frame_clear"].dtype == "boolean"


def test_complex_numbers_are_no_coordinates() -> None:
    assert problems(GOOD.assign(x=1j)) == ["truth: column x is of type complex128; numbers are needed"]


def test_sizes_have_to_be_finite() -> None:
    assert problems(GOOD.assign(w=1.0, h=[1.0, np.nan, 2.0])) == [
        "truth: column h: 1 row is not finite: sequence 1, frame 2, object 0"
    ]
    assert sf.match(GOOD.assign(w=[1.0, np.nan, 1.0]), GOOD)["truth_w"].isna().sum() == 1
