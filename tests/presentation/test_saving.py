"""What `save` writes, `load` gives back exactly, or refuses with the file and what to do."""

import hashlib
import json
import os
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.kinds import of_kind
from helpers.problems import refused, warned
from helpers.reference import PROJECT
from helpers.scenes import SCENES
from spotgeo_frames.presentation.folders import saving
from spotgeo_frames.presentation.folders.saving import MANIFEST
from spotgeo_frames.support import memory
from spotgeo_frames.support.pandas_tables import TEXT
from spotgeo_frames.support.texts import bins_as_text
from spotgeo_frames.tables.provenance import SOURCE

DATA = PROJECT / "data"


def assert_same(saved: Any, loaded: Any) -> None:
    """The same types, values and notes; but for the note of a file, which the loaded table was not read from."""
    assert type(saved) is type(loaded)
    if isinstance(saved, tuple):
        for before, after in zip(saved, loaded, strict=True):
            assert_same(before, after)
    elif isinstance(saved, sf.AveragePrecision):
        for name in ("summary", "categories", "curve", "matches"):
            assert_same(getattr(saved, name), getattr(loaded, name))
    elif isinstance(saved, pd.DataFrame):
        pd.testing.assert_frame_equal(loaded, saved, check_exact=True)
        assert loaded.attrs == {key: note for key, note in saved.attrs.items() if key != SOURCE}
    elif saved is not None:
        assert saved.schema == loaded.schema
        assert saved.equals(loaded)
    if isinstance(saved, pa.Table):
        assert saved.schema.metadata[b"PANDAS_ATTRS"] == loaded.schema.metadata[b"PANDAS_ATTRS"]


def points(table: str = "pandas") -> tuple[Any, Any]:
    return tuple(sf.read_objects(DATA / "sample" / f"{name}.parquet", table=table) for name in ("truth", "eager"))


def boxes(table: str = "pandas") -> tuple[Any, Any]:
    return tuple(sf.read_objects(DATA / "boxes" / f"{name}.parquet", table=table) for name in ("truth", "v1"))


def tracks(table: str = "pandas") -> sf.TrackResult:
    return sf.track(*sf.read_motchallenge(DATA / "tracks/truth", DATA / "tracks/tracker", table=table))


def poses(table: str = "pandas") -> sf.PoseResult:
    return sf.pose(*sf.read_posetrack(DATA / "poses/truth", DATA / "poses/tracker", table=table))


def precision(table: str = "pandas") -> sf.AveragePrecision:
    """Boxes with a class, attributes of frames and of sequences, at two thresholds."""
    truth, found = (side.assign(category=side["object"] % 2) for side in map(plain_boxes, ("truth", "v1")))
    frames = truth[["sequence", "frame"]].drop_duplicates().assign(night=lambda rows: rows["frame"] % 2 == 0)
    sequences = frames[["sequence"]].drop_duplicates().assign(weather="rain")
    truth = of_kind(sf.Annotations(truth, frames, sequences), table)
    return sf.average_precision(truth, of_kind(found, table), thresholds=[0.5, 0.75])


def plain_boxes(name: str) -> pd.DataFrame:
    return pd.read_parquet(DATA / "boxes" / f"{name}.parquet")


def pose_precision(table: str = "pandas") -> sf.AveragePrecision:
    """One person in each of two images, found well and badly."""
    joints = {"sequence": [1, 1, 2, 2], "frame": 1, "object": 1, "joint": ["left_eye", "right_eye"] * 2}
    truth = pd.DataFrame(joints | {"x": [0.0, 9.0] * 2, "y": 0.0, "area": 400.0})
    found = truth.drop(columns="area").assign(x=[0.0, 9.0, 3.0, 8.0], score=[0.9, 0.9, 0.8, 0.8])
    return sf.average_precision(of_kind(truth, table), of_kind(found, table), thresholds=[0.5])


RESULTS: dict[str, Callable[[str], Any]] = {
    "Annotations": lambda table: sf.read_posetrack(DATA / "poses/truth", DATA / "poses/tracker", table=table)[0],
    "Annotations without frames": lambda table: boxes(table)[1],
    "points": lambda table: sf.match(*points(table)),
    "boxes": lambda table: sf.match(*boxes(table)),
    "kinds of error": lambda table: sf.diagnose(sf.match(*boxes(table))),
    "costs": lambda table: sf.error_costs(sf.diagnose(sf.match(*boxes(table)))),
    "tracks": tracks,
    "poses": poses,
    "ReidentifiedPoses": lambda table: sf.reidentify(
        *sf.read_posetrack(DATA / "poses/truth", DATA / "poses/tracker", table=table), identity="object"
    ),
    "AveragePrecision": precision,
    "AveragePrecision of poses": pose_precision,
    "sums": lambda table: tracks(table).sums,
    "summary": lambda table: sf.summarize(sf.match(*points(table)), by="truth_brightness"),
    "leaderboard": lambda table: sf.leaderboard({"a": tracks(table)}),
    "intervals": lambda table: sf.intervals(poses(table), by="joint"),
    "Comparison": lambda table: sf.compare({name: tracks(table) for name in "ab"}),
    "Sweep": lambda table: sf.sweep(*boxes(table)),
    "NonInferiority": lambda table: sf.non_inferiority(*[sf.match(*boxes(table))] * 2, "f1", 0.01),
    "DetectionLimit": lambda table: sf.DetectionLimit(
        *map(bins_as_text, sf.detection_limit(sf.match(*points(table)), "truth_brightness"))
    ),
    "Calibration": lambda table: sf.Calibration(*map(bins_as_text, sf.calibration(sf.match(*points(table))))),
    "changes": lambda table: sf.changes(*[sf.match(*boxes(table))] * 2),
    "bias": lambda table: sf.bias(sf.match(*points(table))),
    "objects": lambda table: sf.object_summary(sf.match(*boxes(table))),
    "breaks": lambda table: sf.identity_breaks(tracks(table)),
    "slices": lambda table: sf.worst_slices(sf.match(*points(table)), ["truth_brightness"]),
    "suspicions": lambda table: sf.check(*points(table)),
}


def test_every_result_of_tables_can_be_saved() -> None:
    assert {name for name in sf.__all__ if hasattr(getattr(sf, name), "_fields")} == {*saving.RESULTS}


@pytest.mark.filterwarnings("ignore:detection_limit")
@pytest.mark.parametrize("name", RESULTS)
def test_every_result_comes_back(name: str, tmp_path: Path) -> None:
    result = RESULTS[name]("pandas")
    sf.save(result, tmp_path / "new" / "folder")
    assert_same(result, sf.load(tmp_path / "new" / "folder"))


@pytest.mark.parametrize("table", ["polars", "pyarrow"])
@pytest.mark.parametrize("name", ["Annotations", "boxes", "tracks", "Comparison", "AveragePrecision"])
def test_results_of_other_kinds_come_back(name: str, table: str, tmp_path: Path) -> None:
    result = RESULTS[name](table)
    sf.save(result, tmp_path)
    assert_same(result, sf.load(tmp_path))


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_match_tables_come_back(scene: Any, tmp_path: Path) -> None:
    matches = sf.match(*scene.sides())
    for table in (matches, matches.iloc[:0]):
        sf.save(table, tmp_path)
        assert_same(table, sf.load(tmp_path))


NUMBERS = st.floats(allow_infinity=True, allow_nan=True)
INTEGERS = st.integers(-(1 << 62), 1 << 62)
NAMES = st.text(st.characters(codec="utf-8"), max_size=4)
DATES = st.dates(date(1900, 1, 1), date(2100, 1, 1))


def column(values: st.SearchStrategy[Any], kind: Any, null: bool = True) -> Callable[[int], st.SearchStrategy[Any]]:
    """A column of so many rows."""
    cells = st.none() | values if null else values
    return lambda size: st.lists(cells, min_size=size, max_size=size).map(lambda of: pd.Series(pd.array(of, kind)))


def categorical(size: int) -> st.SearchStrategy[pd.Series]:
    """A column of categories in any order, not all of which need occur."""
    categories = st.lists(NAMES, unique=True, max_size=4) | st.lists(INTEGERS, unique=True, min_size=1, max_size=4)
    categories |= st.lists(st.floats(allow_nan=False, allow_infinity=False), unique=True, min_size=1, max_size=4)

    def of(values: list[Any]) -> st.SearchStrategy[pd.Series]:
        codes = st.lists(st.integers(-1, len(values) - 1), min_size=size, max_size=size)
        index = pd.Index(values, dtype=TEXT if all(isinstance(value, str) for value in values) else None)
        return st.tuples(codes, st.booleans()).map(
            lambda pair: pd.Series(pd.Categorical.from_codes(pair[0], index, ordered=pair[1]))
        )

    return categories.flatmap(of)


COLUMNS: list[Callable[[int], st.SearchStrategy[Any]]] = [
    column(NUMBERS, np.float64, null=False),
    column(INTEGERS, np.int64, null=False),
    column(st.booleans(), np.bool_, null=False),
    column(INTEGERS, "Int64"),
    column(st.booleans(), "boolean"),
    column(NAMES, TEXT),
    column(NAMES, "string"),
    column(st.datetimes(pd.Timestamp(1900, 1, 1), pd.Timestamp(2100, 1, 1)), "datetime64[us]"),
    column(st.floats(width=32), np.float32, null=False),
    lambda size: st.just(pd.Series([None] * size, dtype=object)),
    lambda size: st.lists(DATES, min_size=size, max_size=size).map(lambda of: pd.Series(of, dtype=object)),
    categorical,
]
NOTES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 60), 1 << 60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    size = draw(st.integers(0, 5))
    known = NAMES.filter(lambda name: not name.startswith("__index_level_"))
    names = draw(st.lists(known, unique=True, min_size=1, max_size=6))
    table = pd.DataFrame({name: draw(draw(st.sampled_from(COLUMNS))(size)) for name in names}, index=range(size))
    table.attrs = draw(st.dictionaries(NAMES, NOTES, max_size=3))
    return table


@given(tables())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_table_comes_back(tmp_path: Path, table: pd.DataFrame) -> None:
    sf.save(table, tmp_path)
    assert_same(table, sf.load(tmp_path))


def test_last_months_run_is_compared_with_todays(tmp_path: Path) -> None:
    truth, v1 = boxes()
    matches, result = sf.match(truth, v1), tracks()
    for today in (matches, result, poses()):
        sf.save(today, tmp_path)
        compared = sf.compare({"old": sf.load(tmp_path), "new": today})
        assert (compared.pairs["estimate"].dropna() == 0).all()
        assert (compared.pairs["p_value"].dropna() == 1).all()
    sf.save(sf.match(truth, v1, threshold=0.75), tmp_path)
    with refused(("compare: the match tables were not made with the same rule", "0.75", "0.5")):
        sf.compare({"old": sf.load(tmp_path), "new": matches})


def test_bins_become_text_and_rows_are_numbered_anew(tmp_path: Path) -> None:
    matches = sf.match(*points())
    sf.save(sf.summarize(matches, by=pd.cut(matches["truth_x"], [0, 200, 640])), tmp_path)
    assert sf.load(tmp_path)["truth_x"].tolist() == ["0 to 200", "200 to 640"]
    errors = matches[matches["outcome"] != "TP"]
    sf.save(errors, tmp_path)
    assert_same(errors.reset_index(drop=True), sf.load(tmp_path))


def test_a_lazy_frame_and_an_arrow_stream_are_saved(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": [1, 2]})
    sf.save(pl.from_pandas(table).lazy(), tmp_path)
    assert sf.load(tmp_path).equals(pl.from_pandas(table))
    sf.save(of_kind(table, "pyarrow"), tmp_path)
    assert sf.load(tmp_path).equals(pa.table({"a": [1, 2]}))


def test_what_was_loaded_can_be_changed(tmp_path: Path) -> None:
    sf.save(pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["x", "y"])}), tmp_path)
    table = sf.load(tmp_path)
    table.loc[0, "a"], table.loc[0, "b"] = 5.0, "y"
    assert table.to_dict("list") == {"a": [5.0, 2.0], "b": ["y", "y"]}


def test_the_manifest_says_what_the_folder_holds(tmp_path: Path) -> None:
    truth = sf.read_spotgeo(DATA / "sample" / "truth.json")
    sf.save(truth, tmp_path)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert (manifest["format"], manifest["version"], manifest["kind"]) == (1, sf.__version__, "Annotations")
    assert manifest["tables"]["frames"]["rows"] == len(truth.frames)
    assert manifest["made_from"]["objects"] == "truth.json"
    assert len(manifest["made_from"]["objects_sha256"]) == 64
    assert {path.name for path in tmp_path.iterdir()} == {MANIFEST, "objects.parquet", "frames.parquet"}
    matches = sf.match(*points())
    sf.save(matches, tmp_path)  # which replaces the earlier result as a whole
    assert {path.name for path in tmp_path.iterdir()} == {MANIFEST, "matches.parquet"}
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert manifest["kind"] == "match table"
    assert manifest["tables"]["matches"]["notes"]["tau"] == 10.0
    assert pd.read_parquet(tmp_path / "matches.parquet").attrs["rule"] == "distance"  # other readers get the rule, too


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for x in (None, 5, {"a": 1}, [pd.DataFrame()], (pd.DataFrame(),), pd.Series([1])):
        with refused(f"save: x is of type {type(x).__name__}"):
            sf.save(x, out)
    table = pd.DataFrame({"a": [1]})
    wrong: dict[str, pd.DataFrame] = {
        "has rows and no columns": pd.DataFrame(index=[0]),
        "column 5: its name": table.assign(**{}).rename(columns={"a": 5}),
        "column b: has Python objects, which would come back as int64": table.assign(b=pd.Series([1], dtype=object)),
        "column b: cannot be kept": table.assign(b=pd.Series([object()])),
        "column b: categories: Timestamp": table.assign(b=pd.Categorical(pd.to_datetime(["2020-01-01"]))),
    }
    for problem, bad in wrong.items():
        with refused(f"{out}: cannot be written: {problem}"):
            sf.save(bad, out)
    for note in (float("nan"), (1, 2), object(), {1: 2}, np.datetime64("2020"), "\ud800", b"x"):
        table.attrs = {"mine": note}
        with refused(f"{out}: cannot be written: notes (attrs): mine:"):
            sf.save(table, out)
    with refused(f"{out}: cannot be written: curve:"):
        sf.save(tracks()._replace(curve=None), out)
    assert not out.exists()


def test_numbers_of_numpy_in_notes_become_plain(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": [1]})
    table.attrs = {"a": np.float64(0.5), "b": {"c": [np.int64(3), np.bool_(True)]}}
    sf.save(table, tmp_path)
    assert sf.load(tmp_path).attrs == {"a": 0.5, "b": {"c": [3, True]}}


def test_other_files_of_the_folder_stay(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": [1]})
    (tmp_path / "notes.txt").write_text("mine")
    with refused(f"{tmp_path / 'notes.txt'}: cannot be written"):
        sf.save(table, tmp_path / "notes.txt")
    with refused(f"{tmp_path / 'notes.txt'}: is no folder"):
        sf.load(tmp_path / "notes.txt")
    out = tmp_path / "out"
    sf.save(table, out)
    (out / "mine.parquet").write_bytes(b"mine")
    sf.save(table.assign(a=2), out)
    assert sf.load(out)["a"].tolist() == [2]
    sf.save(sf.match(*points()), out)
    assert {path.name for path in out.iterdir()} == {MANIFEST, "matches.parquet", "mine.parquet"}
    assert (out / "mine.parquet").read_bytes() == b"mine"
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt", "out"}


def test_an_input_is_not_replaced(tmp_path: Path) -> None:
    truth = points()[0]
    sf.save(truth, tmp_path)
    read = sf.read_objects(tmp_path / "objects.parquet")
    with refused((f"{tmp_path}", "objects.parquet, an input")):
        sf.save(read, tmp_path)
    assert_same(truth, sf.load(tmp_path))


def test_an_error_leaves_the_earlier_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = tracks()
    sf.save(result, tmp_path)
    monkeypatch.setattr(saving, "_write_manifest", lambda *_: (_ for _ in ()).throw(OSError(28, "no space left")))
    with refused(f"{tmp_path / MANIFEST}: cannot be written: no space left"):
        sf.save(points()[0], tmp_path)
    assert_same(result, sf.load(tmp_path))
    assert not list(tmp_path.glob(".*"))


def changed(folder: Path, **values: Any) -> None:
    """Changes the manifest of a folder."""
    path = folder / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_folders_that_are_not_whole(tmp_path: Path) -> None:
    result = tracks()
    folder = tmp_path / "out"
    with refused((f"{folder}: is no folder", "save or --out")):
        sf.load(folder)
    folder.mkdir()
    with refused((f"{folder}: holds no result", MANIFEST)):
        sf.load(folder)
    sf.save(result, folder)
    for name in result._fields:
        path = folder / f"{name}.parquet"
        content = path.read_bytes()
        for damaged in (content[:-5], content + b"x", b"", content.replace(b"sequence", b"Sequence")):
            path.write_bytes(damaged)
            with refused((f"{path}: is not as it was saved", "SHA-256", "save the result again")):
                sf.load(folder)
        path.unlink()
        with refused((f"{path}: is missing, so the result is not whole", "save the result again")):
            sf.load(folder)
        path.write_bytes(content)
    whole = (folder / MANIFEST).read_bytes()
    for damaged in (b"", whole[:100], b"\0", b"[" * 100_000, b"[]", b'{"format": "1"}'):
        (folder / MANIFEST).write_bytes(damaged)
        for call in (lambda: sf.load(folder), lambda: sf.save(result, folder)):
            with refused(f"{folder / MANIFEST}:"):
                call()
    (folder / MANIFEST).write_bytes(whole)
    assert_same(result, sf.load(folder))


def test_another_version_of_the_format_is_named(tmp_path: Path) -> None:
    sf.save(pd.DataFrame({"a": [1]}), tmp_path)
    (tmp_path / MANIFEST).write_text('{"format": 2, "version": "9.1", "kind": 5, "anything": []}')
    for call in (lambda: sf.load(tmp_path), lambda: sf.save(pd.DataFrame({"a": [1]}), tmp_path)):
        with refused((f"{tmp_path / MANIFEST}: is of format 2, by spotgeo_frames 9.1", "format 1")):
            call()


def test_results_of_datasets_are_told_apart(tmp_path: Path) -> None:
    with warned(("10 sequences", "predictions only")):
        sf.score_dataset(DATA / "sample/truth.parquet", DATA / "sample/eager.parquet", tmp_path)
    with refused((f"{tmp_path}: holds no result", "summary.parquet")):
        sf.load(tmp_path)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    sf.save(pd.DataFrame({"a": [1, 2], "b": pd.Categorical(["x", "y"])}), folder)
    return folder


@pytest.mark.parametrize("name", ["../table", "/etc/table", "..\\table", "C:table", "a/../table", "x\0", "", "."])
def test_no_name_leaves_the_folder(saved: Path, name: str) -> None:
    (saved.parent / "table.parquet").write_bytes((saved / "table.parquet").read_bytes())
    manifest = json.loads((saved / MANIFEST).read_text())
    digest = manifest["files"]["table.parquet"]
    changed(saved, files={f"{name}.parquet": digest}, tables={name: manifest["tables"]["table"]})
    for call in (lambda: sf.load(saved), lambda: sf.save(pd.DataFrame({"a": [1]}), saved)):
        with refused(f"{saved / MANIFEST}: files: {f'{name}.parquet'!r} is no name of a file in this folder"):
            call()
    assert (saved.parent / "table.parquet").exists()


def test_manifests_that_somebody_made_up(saved: Path, tmp_path: Path) -> None:
    manifest = json.loads((saved / MANIFEST).read_text())
    table = manifest["tables"]["table"]
    wrong: dict[str, dict[str, Any]] = {
        "kind: 'Sorcery'": {"kind": "Sorcery"},
        f"tables: table; a TrackResult has {', '.join(sf.TrackResult._fields)}": {"kind": "TrackResult"},
        "files: table.parquet is missing": {"files": {}},
        "tables: ; a table has table": {"tables": {}},
        "tables[...].rows": {"tables": {"table": table | {"rows": "many"}}},
    }
    for problem, values in wrong.items():
        changed(saved, **(manifest | values))
        with refused(f"{saved / MANIFEST}: {problem}"):
            sf.load(saved)
    file = saved / "table.parquet"
    odd: dict[str, dict[str, Any]] = {
        "has 2 rows, and 3 were saved": {"rows": 3},
        "cannot be read": {"categories": {"b": {"values": [1], "dtype": "no such type", "ordered": False}}},
        "cannot be read:": {"categories": {"c": {"values": ["x"], "dtype": "str", "ordered": False}}},
    }
    for problem, values in odd.items():
        changed(saved, tables={"table": table | values}, files=manifest["files"])
        with refused(f"{file}: {problem}"):
            sf.load(saved)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_files_that_somebody_made_up(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved / "table.parquet"
    manifest = json.loads((saved / MANIFEST).read_text())
    forms = manifest["tables"]
    of_columns = json.dumps({"columns": [{"name": 5}], "index_columns": [{"kind": "range"}]}).encode()
    for of_pandas in (b"[" * 1000, of_columns, b'{"columns": 3}'):
        made_up = pa.table({"a": [1, 2], "b": ["x", "y"]}).replace_schema_metadata({b"pandas": of_pandas})
        pq.write_table(made_up, path)
        changed(saved, files={path.name: digest(path)})
        with refused(f"{path}: cannot be read"):
            sf.load(saved)
    path.write_bytes(b"PAR1 and nothing else")
    changed(saved, files={path.name: digest(path)})
    with refused(f"{path}: cannot be read"):
        sf.load(saved)
    # A small file of very many rows is refused before they are laid out.
    n_rows = 50_000_000
    pq.write_table(pa.table({"a": pa.nulls(n_rows, pa.int8())}), path)
    assert path.stat().st_size < 1 << 20
    changed(saved, files={path.name: digest(path)}, tables={"table": forms["table"] | {"rows": n_rows}})
    monkeypatch.setattr(memory, "memory_at_hand", lambda: 1 << 20)
    with refused((f"{path}: the table would need", "GiB")):
        sf.load(saved)
    path.unlink()
    os.mkfifo(path)
    with refused(f"{path}: is no regular file"):
        sf.load(saved)
    monkeypatch.setattr(saving, "LARGEST_MANIFEST", 10)
    with refused(f"{saved / MANIFEST}: has more than"):
        sf.load(saved)


def test_tables_of_polars_need_polars(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sf.save(pl.DataFrame({"a": [1]}), saved)
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(ImportError, match="polars"):
        sf.load(saved)
