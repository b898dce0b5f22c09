"""flat(): the numbers of results by name."""

import json
import math
import posixpath
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.problems import refused


@pytest.fixture(scope="module")
def matches() -> pd.DataFrame:
    """One of two truths found in each of six sequences, and a false alarm in the first."""
    rows = {"sequence": np.repeat(range(6), 2), "frame": 1, "object": [1, 2] * 6, "x": [10.0, 50.0] * 6, "y": 5.0}
    truth = pd.DataFrame(rows).assign(category=["car", "van"] * 6, size=[3.5, None] * 6)
    found = truth[truth["object"] == 1].drop(columns="size")
    alarm = found.head(1).assign(object=9, x=500.0)
    return sf.match(truth, pd.concat([found, alarm], ignore_index=True))


@pytest.fixture(scope="module")
def tracked(request: pytest.FixtureRequest):
    folder: Path = request.getfixturevalue("tracks")
    return sf.track(*sf.read_motchallenge(folder / "truth", folder / "tracker"))


def test_a_summary_by_name_without_nulls(matches) -> None:
    numbers = sf.flat(sf.summarize(matches), prefix="val/")
    assert numbers["val/recall"] == 0.5
    assert numbers["val/tp"] == 6.0
    assert all(type(value) is float and math.isfinite(value) for value in numbers.values())
    assert "val/loc_a" not in numbers


def test_slices_are_named_by_column_and_value(matches) -> None:
    numbers = sf.flat(sf.summarize(matches, by="truth_category"), prefix="val/")
    assert numbers["val/recall.truth_category/car"] == 1.0
    assert numbers["val/recall.truth_category/van"] == 0.0
    assert "val/f1.truth_category/car" not in numbers  # false alarms have no truth, so it is null
    crossed = sf.flat(sf.summarize(matches, by=["category", "sequence"]))
    assert crossed["f1.category.sequence/car/3"] == 1.0


def test_bins_and_null_slices_have_names(matches) -> None:
    binned = sf.summarize(matches, by=pd.cut(matches["truth_x"], [0, 20, 60]))
    assert sf.flat(binned)["recall.truth_x/0 to 20"] == 1.0
    with_null = sf.flat(sf.summarize(matches, by="truth_size", dropna=False))
    assert with_null["tp.truth_size/3.5"] == 6.0
    assert with_null["tp.truth_size/null"] == 0.0


def test_a_slice_by_a_column_called_rank_is_no_leaderboard(matches) -> None:
    assert sf.flat(sf.summarize(matches.assign(rank=2), by="rank"))["tp.rank/2"] == 6.0
    assert "tp.name/new" in sf.flat(sf.leaderboard({"new": matches}))


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_other_kinds_of_tables(matches, kind) -> None:
    table = sf.summarize(matches, by="category")
    library = pytest.importorskip(kind)
    other = library.from_pandas(table) if kind == "polars" else library.Table.from_pandas(table)
    assert sf.flat(other) == sf.flat(table)


def test_tracks_have_the_numbers_of_all_sequences(tracked) -> None:
    numbers = sf.flat(tracked, "val/")
    assert numbers["val/HOTA"] == tracked.summary["HOTA"].iloc[-1]
    assert numbers["val/HOTA_0"] == tracked.summary["HOTA(0)"].iloc[-1]  # MLflow takes no brackets
    assert not any("sequence" in name for name in numbers if "n_sequences" not in name)
    each = sf.flat(tracked.summary)
    assert each["HOTA.sequence/plaza"] == tracked.summary["HOTA"].iloc[1]
    assert each["HOTA"] == numbers["val/HOTA"]


def test_poses_have_the_numbers_of_each_joint(poses: Path) -> None:
    result = sf.pose(*sf.read_posetrack(poses / "truth", poses / "tracker"))
    numbers = sf.flat(result)
    assert numbers["mota"] == result.summary["mota"].iloc[-1]
    assert "HOTA.joint/nose" in numbers


def test_average_precision_and_its_categories(coco: Path) -> None:
    result = sf.average_precision(*sf.read_coco(coco / "annotations.json", coco / "fast.json", boxes=True))
    assert sf.flat(result, "val/")["val/AP50"] == result.summary["AP50"].iloc[0]
    assert sf.flat(result.categories)["AP.category/person"] == result.categories["AP"].iloc[0]


def test_bounds_of_intervals_on_request(matches, tracked) -> None:
    table = sf.intervals(matches, metrics=["recall", "f1"])
    assert sf.flat(table) == {"recall": table["estimate"][0], "f1": table["estimate"][1]}
    bounded = sf.flat(table, bounds=True)
    assert bounded["f1_low"] == table["low"][1]
    assert bounded["f1_high"] == table["high"][1]
    by_class = sf.flat(sf.intervals(matches, by="category", metrics=["f1"]), bounds=True)
    assert "f1_low.category/car" in by_class
    of_tracks = sf.flat(sf.intervals(tracked, metrics=["HOTA"]))
    assert of_tracks["HOTA"] == tracked.summary["HOTA"].iloc[-1]
    assert "HOTA.aggregate/macro" in of_tracks


def test_leaderboards_and_differences(matches) -> None:
    compared = sf.compare({"old": matches, "new": matches}, metrics=["f1"])
    assert sf.flat(compared.pairs) == {"f1.a.b/old/new": 0.0}
    board = sf.flat(compared.leaderboard)
    assert "f1.name/old" in board
    assert "f1_low.name/old" not in board
    assert "f1_low.name/old" in sf.flat(compared.leaderboard, bounds=True)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("a/b", "a_x2f_b"),
        ("a:b*c?", "a_x3a_b_x2a_c_x3f_"),
        ("../x", ".._x2f_x"),
        ("ä ö", "ä ö"),
        ("", "_x_"),
        ("..", "_x2e__x2e_"),
        ("a=b", "a_x3d_b"),
        ("50%", "50_x25_"),
        ("a_b", "a_b"),
        ("a_x3d_b", "a_x5f_x3d_x5f_b"),
        ("–", "_x2013_"),
    ],
)
def test_characters_that_trackers_refuse_are_written_by_their_code(value: str, name: str) -> None:
    table = pd.DataFrame({"kind": [value], "f1": [0.5]})
    assert sf.flat(table) == {f"f1.kind/{name}": 0.5}


def test_a_column_with_a_dot_is_one_column() -> None:
    one = pd.DataFrame({"a.b": ["x"], "f1": [0.5]})
    two = pd.DataFrame({"a": ["x"], "b": ["x"], "f1": [0.5]})
    assert sf.flat(one) | sf.flat(two) == {"f1.a_x2e_b/x": 0.5, "f1.a.b/x/x": 0.5}


def test_no_two_numbers_share_a_name() -> None:
    table = pd.DataFrame({"kind": ["null", None], "f1": [0.5, 0.25]})
    with refused(("flat", "f1.kind/null")):
        sf.flat(table)


def test_what_is_no_result_is_refused(matches, tracked) -> None:
    for given_, place in [
        (matches, "flat: result"),
        (3, "flat: result"),
        ({"f1": 0.5}, "flat: result"),
        (pd.DataFrame({"a": [1]}), "flat: result"),
        (sf.Annotations(matches), "flat: result"),
    ]:
        with pytest.raises(sf.InputError, match=place.replace(" result", "")):
            sf.flat(given_)
    with refused("flat: prefix"):
        sf.flat(sf.summarize(matches), prefix=None)  # type: ignore[arg-type]


def assert_fit_for_mlflow(names: Iterable[str]) -> None:
    """As mlflow/utils/validation.py has it; and in its store of local files no metric may be a folder of another."""
    for name in names:
        assert re.fullmatch(r"[/\w.\- ]+", name), name
        assert posixpath.normpath(name) == name
        assert not name.startswith(("..", "/"))
        assert not any(other.startswith(f"{name}/") for other in names)


TEXTS = st.one_of(st.text(max_size=5), st.text("_x3=d./", max_size=6))


@given(st.lists(st.tuples(TEXTS, TEXTS), unique=True, max_size=5))
def test_names_are_fit_for_mlflow_and_differ(rows: list[tuple[str, str]]) -> None:
    """Those of all rows, of slices by one column and by two, in one run."""
    crossed = pd.DataFrame(rows, columns=["kind", "a b=c"], dtype=object).assign(f1=0.5)
    single = crossed[["kind", "f1"]].drop_duplicates()
    both = [sf.flat(table) for table in (crossed, single)]
    assert [len(numbers) for numbers in both] == [len(crossed), len(single)]
    assert_fit_for_mlflow({"f1", *both[0], *both[1]})


def test_dvclive_takes_them(matches, tracked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes / for a folder; in its file, numbers of slices stand beside those of all rows."""
    dvclive = pytest.importorskip("dvclive", reason="needs `pip install dvclive`")
    monkeypatch.chdir(tmp_path)
    numbers = sf.flat(sf.summarize(matches, by="category"), "val/") | sf.flat(tracked, "val/")
    with dvclive.Live("kept", save_dvc_exp=False) as live:
        for name, value in numbers.items():
            live.log_metric(name, value)
    kept = json.loads((tmp_path / "kept" / "metrics.json").read_text("utf-8"))
    for name, value in numbers.items():
        of_name = kept
        for part in name.split("/"):
            of_name = of_name[part]
        assert of_name == value


def test_mlflow_takes_them(matches, tracked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All in one call, into its store of local files, where `f1` is a file and can be no folder."""
    sliced = sf.summarize(matches.assign(kind="a=b, 50%"), by=["category", "kind"])
    numbers = sf.flat(sf.summarize(matches), "val/") | sf.flat(sf.summarize(matches, by="category"), "val/")
    numbers |= sf.flat(sliced, "val/") | sf.flat(tracked, "tracks/") | sf.flat(tracked.summary, "tracks/")
    assert_fit_for_mlflow(numbers)
    mlflow = pytest.importorskip("mlflow", reason="needs `pip install mlflow-skinny`")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        mlflow.log_metrics(numbers)
    assert mlflow.get_run(run.info.run_id).data.metrics == numbers


def test_tensorboard_takes_them(matches, tmp_path: Path) -> None:
    writers = pytest.importorskip("tensorboardX", reason="needs `pip install tensorboardX`")
    with writers.SummaryWriter(str(tmp_path)) as writer:
        for name, value in sf.flat(sf.summarize(matches, by="category"), "val/").items():
            writer.add_scalar(name, value, 1)
    assert any(tmp_path.iterdir())


def test_it_imports_no_tracker() -> None:
    code = "import sys, spotgeo_frames as sf; sf.flat; print({'mlflow', 'wandb', 'tensorboardX'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
