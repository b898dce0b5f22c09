"""The same kind of table comes out as went in, and nothing of it is lost on the way."""

import datetime as dt
import doctest
import importlib
import inspect
import subprocess
import sys
import warnings
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.kinds import CLASSES, CONVERTERS, of_kind, plain, tables_of
from helpers.problems import refused
from helpers.reference import PROJECT
from helpers.scenes import objects
from spotgeo_frames.support.pandas_tables import TEXT
from spotgeo_frames.tables.arrow import as_pandas
from spotgeo_frames.tables.table_kinds import as_kind

SAMPLE = PROJECT / "data" / "sample"
KINDS = list(CONVERTERS)
READ = ["pandas", "polars", "pyarrow"]
GOOD = objects([(1, 1, 0, 0), (1, 2, 5, 5), (2, 1, 1, 1)])


def sides() -> tuple[sf.Annotations, ...]:
    """Truth, and the predictions of two submissions, of some sequences of the sample."""
    read = [sf.read_objects(SAMPLE / f"{name}.parquet") for name in ("truth", "eager", "cautious")]
    frames = sf.read_objects(SAMPLE / "truth.parquet", SAMPLE / "frames.parquet").frames
    some = [side.objects[side.objects["sequence"] <= 25] for side in read]
    assert frames is not None
    return sf.Annotations(some[0], frames[frames["sequence"] <= 25]), sf.Annotations(some[1]), sf.Annotations(some[2])


TRUTH, EAGER, CAUTIOUS = sides()
RESTARTED = TRUTH.objects.assign(object=range(len(TRUTH.objects)))
MATCHES = sf.match(TRUTH, EAGER)
WITHOUT_NOTES = MATCHES.copy()
WITHOUT_NOTES.attrs = {}  # as a table of polars; pandas would tell the rule
NAMED = {"eager": MATCHES, "cautious": sf.match(TRUTH, CAUTIOUS)}
BOXES = sf.read_motchallenge(PROJECT / "data/tracks/truth", PROJECT / "data/tracks/tracker")
CLASSED = tuple(side._replace(objects=side.objects.assign(category=side.objects["frame"] % 3)) for side in BOXES)
ONE = objects([(1, 1, 0, 0), (1, 2, 5, 5)]).assign(joint="nose", area=100.0)
PEOPLE = (ONE, ONE.drop(columns="area").assign(score=[0.5, 0.75]))
POSES = sf.read_posetrack(PROJECT / "data/poses/truth", PROJECT / "data/poses/tracker")


def saved_and_loaded(x: Any) -> Any:
    """What comes back of a table or a result; a tuple of tables of another kind is a result of the same type."""
    with TemporaryDirectory() as folder:
        sf.save(x if not isinstance(x, tuple) else sf.TrackResult(*x), folder)
        return sf.load(folder)


def tables_of_precision(truth: Any, predictions: Any) -> tuple[Any, ...]:
    result = sf.average_precision(truth, predictions, thresholds=[0.5, 0.75])
    return result.summary, result.categories, result.curve, result.matches


def tables_of_errors(truth: Any, predictions: Any) -> tuple[Any, ...]:
    result = sf.average_precision(truth, predictions)
    return sf.diagnose(result), sf.error_costs(result), sf.confusion(result)


# A call of every public function that takes tables and returns some, and the tables that it takes first.
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "match": (sf.match, (TRUTH, EAGER)),
    "match boxes": (sf.match, BOXES),
    "match joints": (lambda *pair: sf.match(*pair, tau=10), POSES),
    "match bare tables": (sf.match, (TRUTH.objects, EAGER.objects)),
    "match_frames": (lambda *pair: sf.match_frames(*pair, lambda truth, found: ([0], [0])), (TRUTH, EAGER)),
    "summarize": (sf.summarize, (MATCHES,)),
    "summarize by": (lambda table: sf.summarize(table, by=["outcome", "frame_sky"]), (MATCHES,)),
    "summarize bins": (lambda table: sf.summarize(table, by={"truth_brightness": 3}), (MATCHES,)),
    "sums": (lambda table: sf.sums(table, by="frame_sky"), (WITHOUT_NOTES,)),
    "combine": (lambda *tables: sf.combine(list(tables)), (sf.sums(MATCHES), sf.sums(MATCHES))),
    "leaderboard": (sf.leaderboard, (NAMED,)),
    "intervals": (lambda table: sf.intervals(table, {"truth_x": 2}, resamples=50), (MATCHES,)),
    "compare": (lambda tables: sf.compare(tables, resamples=50), (NAMED,)),
    "non_inferiority": (lambda table, other: sf.non_inferiority(table, other, "f1", 0.1).table, (MATCHES, MATCHES)),
    "sample_size": (lambda table: sf.sample_size(table, "f1", 0.1), (MATCHES,)),
    "diagnose": (lambda table: sf.diagnose(table, tau=10), (MATCHES,)),
    "error_costs": (sf.error_costs, (sf.diagnose(MATCHES),)),
    "error_costs of tracks": (lambda *pair: sf.error_costs(sf.track(*pair), similarity="iou"), BOXES),
    "error_costs of poses": (lambda *pair: sf.error_costs(sf.pose(*pair)), POSES),
    "diagnose poses": (sf.diagnose, (sf.pose(*POSES).matches,)),
    "bias of poses": (sf.bias, (sf.pose(*POSES).matches,)),
    "changes": (lambda *pair: sf.changes(*pair, tau=10), (MATCHES, sf.match(TRUTH, CAUTIOUS))),
    "bias": (lambda table: sf.bias(table, "sequence", tau=10, epsilon=3), (MATCHES,)),
    "object_summary": (sf.object_summary, (MATCHES,)),
    "identity_breaks": (sf.identity_breaks, (sf.track(*BOXES).matches,)),
    "identity_breaks of joints": (sf.identity_breaks, (sf.pose(*POSES).matches,)),
    "object_summary of tracks": (sf.object_summary, (sf.track(*BOXES).matches,)),
    "worst_slices": (lambda table: sf.worst_slices(table, ["truth_x", "frame"], rate=1, min_sequences=2), (MATCHES,)),
    "worst_slices, none": (lambda table: sf.worst_slices(table, ["frame"], min_sequences=25), (MATCHES,)),
    "detection_limit": (lambda table: sf.detection_limit(table, "truth_brightness", "frame_sky"), (MATCHES,)),
    "detection_limit of bins": (lambda table: sf.detection_limit(table, "frame_sky", {"truth_x": 2}), (MATCHES,)),
    "label_suspects": (lambda table: sf.label_suspects(table, tau=10), (MATCHES,)),
    "calibration": (lambda table: sf.calibration(table, bins=4), (MATCHES,)),
    "calibration of ap": (lambda *pair: sf.calibration(sf.average_precision(*pair), bins=2), BOXES),
    "operating_point": (lambda table: sf.operating_point(table, precision=0.9), (MATCHES,)),
    "operating_point by class": (lambda table: sf.operating_point(table, recall=0.5), (sf.match(*CLASSED),)),
    "operating_point of ap": (lambda *pair: sf.operating_point(sf.average_precision(*pair), recall=0.5), CLASSED),
    "tidy": (lambda table: sf.tidy(table, x="y", y="x"), (TRUTH.objects,)),
    "align_times": (
        lambda *pair: sf.align_times(*pair, 0.5),
        tuple(side.objects.assign(time=side.objects["frame"] * 1.0) for side in (TRUTH, EAGER)),
    ),
    "check": (sf.check, (TRUTH, EAGER)),
    "check swapped": (sf.check, (TRUTH, TRUTH.objects.rename(columns={"x": "y", "y": "x"}))),
    "check tracks": (lambda *pair: sf.check(*pair, tracks=True), (TRUTH, RESTARTED)),
    "sweep tracks": (lambda *pair: sf.sweep(*pair, score=[0.3, 0.6], tracks=True), (TRUTH, EAGER)),
    "sweep": (lambda *pair: sf.sweep(*pair, score=[0.3, 0.6]), (TRUTH, EAGER)),
    "track": (sf.track, BOXES),
    "track by class": (lambda *pair: sf.track(*pair, by="category"), CLASSED),
    "pose": (sf.pose, POSES),
    "reidentify": (lambda *pair: sf.reidentify(*pair, identity="object"), POSES),
    "average_precision by": (lambda *pair: sf.average_precision(*pair, by={"truth_w": 2}).summary, BOXES),
    "intervals of average precision": (lambda *pair: sf.intervals(sf.average_precision(*pair)), BOXES),
    "average_precision": (tables_of_precision, BOXES),
    "average_precision of poses": (tables_of_precision, PEOPLE),
    "protocols": (sf.protocols, CLASSED),
    "confusion and errors of average_precision": (tables_of_errors, CLASSED),
    "readable": (sf.readable, (sf.summarize(MATCHES)[["tp", "precision", "recall", "f1"]],)),
    "save and load": (saved_and_loaded, (MATCHES,)),
    "save and load tracks": (saved_and_loaded, (sf.track(*BOXES),)),
    "validate_spotgeo": (lambda truth: sf.validate_spotgeo(SAMPLE / "eager.json", truth), (TRUTH,)),
    "read_objects": (sf.read_objects, (TRUTH.objects, TRUTH.frames)),
}  # fmt: skip


def test_every_function_with_tables_is_called() -> None:
    taking = {name for name in sf.__all__ if hasattr(getattr(sf, name), "__wrapped__")}
    assert taking <= {name.partition(" ")[0].rstrip(",") for name in CALLS}
    assert len(taking) > 12


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:worst_slices. no slice was tested", "ignore:detection_limit:UserWarning")
@pytest.mark.filterwarnings("ignore:object_summary. matches. the truths of each frame are numbered")
def test_the_kind_of_table_that_went_in_comes_out(name: str, kind: str) -> None:
    call, given_tables = CALLS[name]
    expected, got = call(*given_tables), call(*of_kind(given_tables, kind))
    assert type(got) is type(expected) or not isinstance(expected, tuple)
    expected, got = tables_of(expected), tables_of(got)
    assert {type(table) for table in got} == {CLASSES[kind]}
    for table, pandas_table in zip(got, expected, strict=True):
        assert plain(table) == plain(pandas_table)


def test_the_first_table_decides() -> None:
    assert isinstance(sf.match(TRUTH, of_kind(EAGER, "polars")), pd.DataFrame)
    assert isinstance(sf.match(of_kind(TRUTH, "pyarrow"), of_kind(EAGER, "polars")), pa.Table)
    mixed = {"eager": of_kind(MATCHES, "polars"), "cautious": NAMED["cautious"]}
    assert isinstance(sf.leaderboard(mixed), pl.DataFrame)
    assert isinstance(sf.match(predictions=EAGER, truth=of_kind(TRUTH, "lazy")), pl.DataFrame)


def test_columns_may_have_the_names_of_methods() -> None:
    """A DataFrame has its columns as attributes, too."""
    assert sf.match(GOOD.assign(in_kind=7), GOOD)["truth_in_kind"].tolist() == [7, 7, 7]


def test_what_only_exports_a_stream_comes_back_as_pandas() -> None:
    relation = duckdb.connect().from_arrow(of_kind(GOOD, "pyarrow"))
    assert isinstance(sf.match(relation, GOOD), pd.DataFrame)


@pytest.mark.parametrize("make", [lambda table: table.to_batches()[0], lambda table: table.to_reader()])
def test_batches_and_readers_of_pyarrow_come_back_as_tables(make) -> None:
    assert isinstance(sf.match(make(of_kind(GOOD, "pyarrow")), GOOD), pa.Table)


# --- categories, nulls, types ---


def test_outcomes_are_an_enum_in_their_order() -> None:
    matches = sf.match(of_kind(TRUTH, "polars"), of_kind(EAGER, "polars"))
    assert matches["outcome"].dtype == pl.Enum(["TP", "FN", "FP", "empty"])
    assert matches["truth_object"].dtype == pl.Int64
    assert (
        matches["truth_object"].null_count()
        == (matches["outcome"] == "FP").sum() + (matches["outcome"] == "empty").sum()
    )
    assert not any(matches[name].is_nan().any() for name, kind in matches.schema.items() if kind == pl.Float64)


def test_categories_of_polars_come_back_as_such() -> None:
    named = of_kind(GOOD, "polars").with_columns(
        band=pl.Series(["b", "a", None], dtype=pl.Categorical),
        sky=pl.Series(["z", None, "y"], dtype=pl.Enum(["z", "y"])),
    )
    matches = sf.match(named, named.lazy())
    for side in ("truth", "predicted"):
        assert matches[f"{side}_band"].dtype == pl.Categorical
        assert matches[f"{side}_band"].to_list() == ["b", "a", None]
        assert matches[f"{side}_sky"].dtype == pl.Enum(["z", "y"])
        assert matches[f"{side}_sky"].to_list() == ["z", None, "y"]
    assert sf.summarize(matches, by="truth_band")["truth_band"].dtype == pl.Categorical
    assert sf.summarize(matches, by="truth_sky")["truth_sky"].to_list() == ["z", "y"]
    assert sf.diagnose(matches, tau=10)["truth_band"].dtype == pl.Categorical
    assert sf.read_objects(named.lazy()).objects["band"].dtype == pl.Categorical


CARRIED: dict[str, tuple[list[Any], Any]] = {
    "date": ([dt.date(2020, 1, 2), None, dt.date(9999, 12, 31)], pl.Date),
    "time": ([dt.time(1, 2, 3, 4), None, dt.time(0)], pl.Time),
    "duration": ([dt.timedelta(days=1, microseconds=1), None, dt.timedelta(0)], pl.Duration("us")),
    "datetime": ([dt.datetime(2020, 1, 2, 3, 4, 5, 6), None, dt.datetime(1900, 1, 1)], pl.Datetime("us")),
    "zoned": ([dt.datetime(2020, 1, 2, tzinfo=dt.UTC), None, None], pl.Datetime("ms", "UTC")),
    "bytes": ([b"\x00", None, b""], pl.Binary),
    "list": ([[1, None, 2**60], None, []], pl.List(pl.Int64)),
    "array": ([[1.5, 2.5], None, [3.5, 4.5]], pl.Array(pl.Float64, 2)),
    "struct": ([{"a": 2**60, "b": "x"}, None, {"a": None, "b": "y"}], pl.Struct({"a": pl.Int64, "b": pl.String})),
    "nothing": ([None, None, None], pl.Null),
    "enum": (["b", None, "a"], pl.Enum(["c", "b", "a"])),
    "flag": ([True, None, False], pl.Boolean),
    "text": (["a", None, ""], pl.String),
}


def type_of(column: Any) -> Any:
    """The type of a column; of a dictionary of pyarrow its categories, since how wide its codes are is no matter."""
    if isinstance(column, pl.Series):
        return column.dtype
    return column.chunk(0).dictionary.to_pylist() if pa.types.is_dictionary(column.type) else column.type


@pytest.mark.parametrize("name", CARRIED)
@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_carried_columns_come_back_without_loss(name: str, kind: str) -> None:
    values, dtype = CARRIED[name]
    column = pl.Series("extra", values, dtype=dtype)
    table = of_kind(GOOD, "polars").with_columns(column)
    alone = table.head(1).with_columns(object=pl.lit(99), x=pl.lit(900.0))
    if kind == "pyarrow":
        table, alone = (part.to_arrow(compat_level=pl.CompatLevel.oldest()) for part in (table, alone))
    matches = sf.match(table, table)
    diagnosed = sf.diagnose(matches, tau=10)
    unmatched = sf.match(table, alone)  # whose false alarm has a null instead
    for got in (matches["truth_extra"], matches["predicted_extra"], diagnosed["truth_extra"]):
        assert type_of(got) == type_of(table["extra"])
        assert (got.to_list() if kind == "polars" else got.to_pylist()) == column.to_list()
    lost = unmatched["truth_extra"]
    assert type_of(lost) == type_of(table["extra"])
    # Sides without rows give the same types.
    empty = sf.match(table, table[:0] if kind == "polars" else table.slice(0, 0))["predicted_extra"]
    assert type_of(empty) == type_of(table["extra"])


@pytest.mark.parametrize("name", ["date", "time", "list", "struct"])
def test_types_of_files_are_kept_unless_pandas_is_asked_for(name: str, tmp_path: Path) -> None:
    values, dtype = CARRIED[name]
    path = tmp_path / "objects.parquet"
    of_kind(GOOD, "polars").with_columns(pl.Series("extra", values, dtype=dtype)).write_parquet(path)
    read = sf.read_objects(path, table="polars").objects
    assert read["extra"].dtype == dtype
    assert read["extra"].to_list() == values
    # pandas has objects of Python, because it cannot read such lists back from its own Parquet files.
    matches = sf.match(sf.read_objects(path), GOOD)
    assert matches["truth_extra"].dtype == object
    matches.to_parquet(tmp_path / "matches.parquet")
    assert len(pd.read_parquet(tmp_path / "matches.parquet")) == 3


def test_numbers_are_carried_as_float64_and_too_large_ones_refused() -> None:
    table = of_kind(GOOD, "polars")
    exact = pl.Series([Decimal("1.25"), None, Decimal("3.5")], dtype=pl.Decimal(10, 2))
    matches = sf.match(table.with_columns(price=exact), table)
    assert matches["truth_price"].dtype == pl.Float64
    assert matches["truth_price"].to_list() == [1.25, None, 3.5]
    large = pl.Series([Decimal(2**70), None, None], dtype=pl.Decimal(38, 0))
    with refused(("truth: column price", "cannot be read")):
        sf.match(table.with_columns(price=large), table)
    with refused(("truth: column catalogue", "2**53", "make them strings")):
        sf.match(table.with_columns(catalogue=pl.Series([2**53 + 1, None, None])), table)


def test_columns_that_arrow_does_not_know_are_refused_by_name() -> None:
    table = of_kind(GOOD, "polars").with_columns(
        pl.Series("thing", [object()] * 3, dtype=pl.Object), pl.Series("wide", [1] * 3, dtype=pl.Int128)
    )
    with refused(("truth: column thing", "Object", "drop it"), ("truth: column wide", "Int128", "drop it")):
        sf.match(table, table)


@pytest.mark.parametrize("name", ["list", "struct"])
def test_nested_columns_cannot_be_grouped_by(name: str) -> None:
    table = of_kind(GOOD, "polars").with_columns(pl.Series("extra", CARRIED[name][0], dtype=CARRIED[name][1]))
    with refused(("by: truth_extra", "cannot be grouped by")):
        sf.summarize(sf.match(table, table), by="truth_extra")


def test_dates_can_be_grouped_by() -> None:
    days = [dt.date(2020, 1, 2), dt.date(2020, 1, 1), dt.date(2020, 1, 2)]
    table = of_kind(GOOD, "polars").with_columns(day=pl.Series(days))
    by_day = sf.summarize(sf.match(table, table), by="truth_day")
    assert by_day["truth_day"].to_list() == sorted({*days})
    assert by_day["truth_day"].dtype == pl.Date
    assert by_day["tp"].to_list() == [1, 2]


def test_whole_poses_carry_columns_of_any_type() -> None:
    joints = pd.concat([GOOD.assign(joint=joint, area=100.0) for joint in ("nose", "left_eye")])
    table = of_kind(joints, "polars").with_columns(pl.lit(dt.date(2020, 1, 2)).alias("day"))
    matches = sf.match(table, table, similarity="oks")
    assert matches["truth_day"].to_list() == [dt.date(2020, 1, 2)] * 3


COLUMNS = {
    "int64": st.integers(-(2**63), 2**63 - 1),
    "Int64": st.none() | st.integers(-(2**63), 2**63 - 1),
    "float64": st.none() | st.floats(allow_nan=False),
    "str": st.none() | st.text(st.characters(codec="utf-8")),
    "bool": st.booleans(),
    "boolean": st.none() | st.booleans(),
    "category": st.none() | st.sampled_from(["b", "a", "c"]),
    "datetime64[us]": st.none() | st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)),
    "timedelta64[us]": st.none() | st.timedeltas(dt.timedelta(-9999), dt.timedelta(9999)),
    "date32[day][pyarrow]": st.none() | st.dates(),
    "list<item: int64>[pyarrow]": st.none() | st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=3),
}
ROWS = st.integers(0, 5).flatmap(
    lambda n: st.fixed_dictionaries(
        {name: st.lists(values, min_size=n, max_size=n) for name, values in COLUMNS.items()}
    )
)


def pandas_column(values: list[Any], kind: str) -> Any:
    if kind == "category":
        return pd.Categorical(values, ["c", "b", "a"])
    if kind.startswith("list"):
        return pd.array(values, pd.ArrowDtype(pa.list_(pa.int64())))
    return pd.Series(values, dtype=TEXT if kind == "str" else kind).array  # "str" means objects in pandas 2.3


@settings(max_examples=60)
@given(ROWS, st.sampled_from(["polars", "pyarrow"]))
def test_a_table_survives_the_way_there_and_back(rows: dict[str, list[Any]], kind: Any) -> None:
    frame = pd.DataFrame({name: pandas_column(values, name) for name, values in rows.items()})
    there = as_kind(frame, kind)
    lists = {name: there[name].to_list() if kind == "polars" else there[name].to_pylist() for name in rows}
    assert lists == rows
    back = as_pandas(there, "table")
    assert plain(back.drop(columns=["list<item: int64>[pyarrow]"])) == plain(
        frame.drop(columns=["list<item: int64>[pyarrow]"])
    )
    again = as_kind(back, kind)
    assert again.equals(there)
    assert again.schema == there.schema


# --- notes ---


def test_pyarrow_keeps_the_rule_and_gives_it_back() -> None:
    matches = sf.match(of_kind(TRUTH, "pyarrow"), of_kind(EAGER, "pyarrow"), tau=8, epsilon=2)
    assert matches.schema.metadata[b"tau"] == b"8.0"
    assert as_pandas(matches, "matches").attrs == sf.match(TRUTH, EAGER, tau=8, epsilon=2).attrs
    expected = sf.bias(sf.match(TRUTH, EAGER, tau=8, epsilon=2))
    assert plain(sf.bias(matches)) == plain(expected)
    assert as_pandas(sf.diagnose(matches), "diagnosed").attrs["tau"] == 8
    other = sf.match(of_kind(TRUTH, "pyarrow"), of_kind(EAGER, "pyarrow"))
    with refused(("leaderboard", "tau 8.0", "tau 10.0")):
        sf.leaderboard({"a": matches, "b": other})


def test_parquet_gives_pyarrow_the_rule(tmp_path: Path) -> None:
    MATCHES.to_parquet(tmp_path / "matches.parquet")
    assert isinstance(sf.diagnose(pq.read_table(tmp_path / "matches.parquet")), pa.Table)


@pytest.mark.parametrize("notes", [b"{", b"[1]", b'"text"', b"\xff"])
def test_metadata_of_others_is_no_error(notes: bytes) -> None:
    table = of_kind(GOOD, "pyarrow").replace_schema_metadata({b"PANDAS_ATTRS": notes})
    assert len(sf.match(table, table)) == 3


def test_no_file_is_claimed_for_tables_that_cannot_prove_it() -> None:
    read = sf.read_objects(SAMPLE / "truth.parquet", table="pyarrow").objects
    assert not any(b"truth.parquet" in value for key, value in read.schema.metadata.items() if key != b"pandas")
    wrong = read.set_column(read.schema.get_field_index("x"), "x", pa.nulls(len(read), pa.float64()))
    with refused("predictions: column x"):
        sf.match(read, wrong)


@pytest.mark.parametrize(
    ("call", "missing"),
    [
        (lambda table, **rule: sf.diagnose(table, **rule), {"tau": 10}),
        (sf.bias, {"tau": 10, "epsilon": 3}),
        (lambda table, **rule: sf.plots.residuals(table, **rule), {"tau": 10}),
    ],
)
def test_polars_is_asked_for_the_rule(call, missing: dict[str, float]) -> None:
    table = of_kind(MATCHES, "polars")
    with refused(("match table", "give tau=, in px")):
        call(table)
    call(table, **missing)


def test_plots_take_every_kind() -> None:
    table = of_kind(MATCHES, "lazy")
    for draw in (sf.plots.recall_map, sf.plots.distances):
        draw(table)
    sf.plots.frame(table, 1, 1)
    sf.plots.sequence(table, 1)


# --- by= ---


def test_expressions_group_as_their_columns_do() -> None:
    table = of_kind(MATCHES, "polars")
    for matches in (table, table.lazy()):
        by_expression = sf.summarize(matches, by=[pl.col("frame_n_truth"), (pl.col("frame") % 2).alias("odd")])
        series = (MATCHES["frame"] % 2).rename("odd")
        assert plain(by_expression) == plain(sf.summarize(MATCHES, by=["frame_n_truth", series]))
        assert sf.summarize(matches, by=pl.col("truth_x") > 100)["truth_x"].to_list() == [False, True]
        assert len(sf.intervals(matches, pl.col("frame"), resamples=20)) > 0
        assert len(sf.bias(matches, pl.col("sequence"), tau=10, epsilon=3)) > 0
    got = sf.summarize(table, by=table["frame"])
    assert plain(got) == plain(sf.summarize(MATCHES, by="frame"))


def test_arrays_of_pyarrow_group() -> None:
    table = of_kind(MATCHES, "pyarrow")
    for frames in (table["frame"], table["frame"].combine_chunks()):
        got = sf.summarize(table, by=frames)
        assert got.column_names[0] == "by"
        assert got["tp"].to_pylist() == sf.summarize(MATCHES, by="frame")["tp"].tolist()
    with refused(("by: the Series by", "2 values", "rows")):
        sf.summarize(table, by=pa.array([1, 2]))


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        (pl.col("frame", "sequence"), ("2 columns", "frame, sequence")),
        (pl.col("frame").sum(), ("1 values", "rows")),
        (pl.col("nowhere"), ("fails", "nowhere")),
    ],
)
def test_expressions_that_cannot_be_grouped_by(expression: pl.Expr, says: tuple[str, ...]) -> None:
    for by in (expression, ["frame_n_truth", expression]):
        with refused(("by: the expression", *says)):
            sf.summarize(of_kind(MATCHES, "polars"), by=by)


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_an_expression_needs_a_table_of_polars(kind: str) -> None:
    with refused(("by:", "expression of polars", "give the table as polars")):
        sf.summarize(of_kind(MATCHES, kind), by=pl.col("frame"))


def test_expressions_where_only_names_will_do(tmp_path: Path) -> None:
    truth, eager = of_kind(TRUTH, "polars"), of_kind(EAGER, "polars")
    with refused(("by:", "names of columns are needed")):
        sf.report(truth, eager, tmp_path / "report.html", by=[pl.col("truth_x")])


def test_a_similarity_gets_the_kind_of_the_tables() -> None:
    kinds = set()

    def alike(truth: Any, predictions: Any) -> Any:
        kinds.add(type(truth))
        return (truth["x"] - predictions["x"]).abs() < 1

    matches = sf.match(of_kind(GOOD, "polars"), GOOD, similarity=alike)
    assert kinds == {pl.DataFrame}
    assert matches["outcome"].to_list() == ["TP"] * 3
    assert (
        as_pandas(sf.match(of_kind(GOOD, "pyarrow"), GOOD, similarity=lambda a, b: np.ones(len(a))), "").attrs["rule"]
        == "<lambda>"
    )


# --- readers ---

READERS: dict[str, Callable[..., Any]] = {
    "read_spotgeo": lambda **kind: sf.read_spotgeo(SAMPLE / "truth.json", **kind),
    "read_objects": lambda **kind: sf.read_objects(SAMPLE / "truth.parquet", SAMPLE / "frames.parquet", **kind),
    "read_motchallenge": lambda **kind: sf.read_motchallenge(
        PROJECT / "data/tracks/truth", PROJECT / "data/tracks/tracker", **kind
    ),
    "read_posetrack": lambda **kind: sf.read_posetrack(
        PROJECT / "data/poses/truth", PROJECT / "data/poses/tracker", **kind
    ),
    "read_posetrack, boxes": lambda **kind: sf.read_posetrack(
        PROJECT / "data/poses/truth", PROJECT / "data/poses/tracker", boxes=True, **kind
    ),
}


@pytest.mark.parametrize("kind", READ)
@pytest.mark.parametrize("name", READERS)
def test_readers_give_the_kind_that_is_asked_for(name: str, kind: str) -> None:
    read, expected = (tables_of(READERS[name](**given)) for given in ({"table": kind}, {}))
    assert {type(table) for table in read} == {CLASSES[kind]}
    assert [plain(table) for table in read] == [plain(table) for table in expected]


@pytest.mark.parametrize("name", [name for name in sf.__all__ if name.startswith("read_")])
@pytest.mark.parametrize("wrong", ["dask", None, 1, ["polars"]])
def test_readers_refuse_kinds_that_there_are_not(name: str, wrong: Any) -> None:
    if name == "read_objects" and wrong is None:
        return
    of_one = name in ("read_spotgeo", "read_objects", "read_dota", "read_mots")
    paths = ["nowhere"] if of_one else ["nowhere", "nowhere"]
    others = {"benchmark": "KITTI"} if name == "read_benchmark" else {}
    with refused(("table is", repr(wrong), "'pandas', 'polars' or 'pyarrow'"), error=ValueError):
        getattr(sf, name)(*paths, table=wrong, **others)


def test_a_reader_of_tables_in_memory_can_convert() -> None:
    assert isinstance(sf.read_objects(GOOD, table="polars").objects, pl.DataFrame)
    assert isinstance(sf.read_objects(of_kind(GOOD, "lazy"), table="pandas").objects, pd.DataFrame)


def test_without_polars_the_reader_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="pip install polars"):
        sf.read_spotgeo(SAMPLE / "truth.json", table="polars")


# --- what is refused ---


class OfDask:
    """Like a DataFrame of dask: lazy, and without an Arrow stream."""

    columns = ("x", "y")

    def compute(self) -> None: ...


class OfSpark:
    def toPandas(self) -> None: ...


@pytest.mark.parametrize(
    ("table", "hint"),
    [
        ({"x": [1]}, "dict"),
        ([1], "list"),
        (np.zeros((2, 2)), "ndarray"),
        (OfDask(), "compute()"),
        (OfSpark(), "toPandas()"),
    ],
)
def test_unknown_kinds_are_refused_with_what_is_taken(table: Any, hint: str) -> None:
    with refused(("predictions: is of type", hint, "pandas DataFrame", "polars DataFrame or LazyFrame", "Arrow table")):
        sf.match(GOOD, table)


@pytest.mark.parametrize("lazy", [
    of_kind(GOOD, "polars").lazy().select("nowhere"),
    pl.scan_parquet("nowhere.parquet"),
    of_kind(GOOD, "polars").lazy().map_batches(lambda table: 1 / 0),
])  # fmt: skip
def test_a_lazyframe_that_fails(lazy: pl.LazyFrame) -> None:
    with refused(("truth", "the LazyFrame cannot be collected")):
        sf.match(lazy, GOOD)
    with refused(("predictions", "the LazyFrame cannot be collected")):
        sf.match(GOOD, lazy)
    with refused(("matches: a", "the LazyFrame cannot be collected")):
        sf.leaderboard({"a": lazy})


def test_a_lazyframe_is_collected_once() -> None:
    collected = []
    lazy = of_kind(MATCHES, "polars").lazy().map_batches(lambda table: collected.append(1) or table)
    sf.summarize(lazy, by=[pl.col("frame") > 2, "frame_n_truth"])
    assert collected == [1]
    sf.bias(lazy, tau=10, epsilon=3)
    assert collected == [1, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_what_only_pandas_can_hold(kind: str) -> None:
    mixed = GOOD.assign(thing=[object(), 1, "a"])
    with refused(("the result", "column predicted_thing", "without that column")):
        sf.match(of_kind(GOOD, kind), mixed)


def test_categories_of_numbers_and_bins_that_polars_does_not_know() -> None:
    odd = GOOD.assign(band=pd.Categorical([3, 1, None], [3, 1]), bin=pd.cut(GOOD["x"], [-1, 2, 9]))
    read = sf.read_objects(odd, table="polars").objects
    assert read["band"].to_list() == [3, 1, None]
    assert read["bin"].to_list() == ["-1 to 2", "2 to 9", "-1 to 2"]


# --- the decorator ---


def test_functions_keep_their_name_signature_and_docstring() -> None:
    assert sf.match.__name__ == "match"
    assert sf.match.__module__ == "spotgeo_frames.matching.matcher"
    assert list(inspect.signature(sf.match).parameters)[:4] == ["truth", "predictions", "tau", "epsilon"]
    assert str(sf.match.__doc__).startswith("Matches predictions")
    module = importlib.import_module("spotgeo_frames.matching.matcher")
    assert any(found.examples for found in doctest.DocTestFinder().find(module) if found.name.endswith(".match"))
    with pytest.raises(TypeError, match=r"match\(\) missing 1 required positional argument: 'predictions'"):
        sf.match(of_kind(GOOD, "polars"))  # type: ignore[call-arg]


@pytest.mark.parametrize("kind", ["pandas", *KINDS])
def test_warnings_point_at_the_line_of_the_caller(kind: str) -> None:
    some = of_kind(MATCHES[MATCHES["truth_x"] > 50], kind)
    flat = of_kind(GOOD.assign(w=0.0, h=1.0), kind)
    for call in (
        lambda: sf.summarize(some),
        lambda: sf.leaderboard({"a": some}),
        lambda: sf.intervals(some, resamples=10),
        lambda: sf.compare({"a": some, "b": some}, resamples=10),
        lambda: sf.match(flat, flat),
        lambda: sf.track(flat, flat),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert [warning.filename for warning in caught] == [__file__]


def test_results_show_the_same_text_in_every_kind() -> None:
    """But for the line that says which official number it is: polars keeps no notes that tell it."""
    expected = str(sf.track(*BOXES))
    for kind in KINDS:
        shown = str(sf.track(*of_kind(BOXES, kind)))
        told = [line for line in expected.splitlines() if "trackeval" not in line or "trackeval" in shown]
        assert shown.splitlines() == told


def test_pandas_users_load_neither_polars_nor_narwhals() -> None:
    code = (
        "import sys, spotgeo_frames as sf; m = sf.match(*[sf.read_spotgeo('data/sample/truth.json')] * 2);"
        "sf.summarize(m, by='frame'); print(sorted({'polars', 'narwhals'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
