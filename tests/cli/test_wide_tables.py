"""Wide tables on the command line: columns that play no part are not read, so that features cost nothing."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest

from helpers.commands import answer_here, run_here
from spotgeo_frames.formats import objects
from spotgeo_frames.formats.any_file import Needed
from spotgeo_frames.formats.objects import read_needed

OBJECTS = pd.DataFrame(
    {
        "sequence": [1, 1, 2, 2],
        "frame": [1, 2, 1, 2],
        "object": [1, 1, 1, 1],
        "x": [1.0, 2.0, 3.0, 4.0],
        "y": [1.0, 2.0, 3.0, 4.0],
        "score": [0.9, 0.8, 0.7, 0.6],
        "track": ["a", "a", "b", "b"],
        "brightness": [10.0, 20.0, 30.0, 40.0],
    }
)


def in_parts(table: pa.Table, path: Path) -> None:
    path.mkdir()
    for position in range(2):
        pq.write_table(table.slice(2 * position, 2), path / f"{position}.parquet")


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    "wide.parquet": pq.write_table,
    "wide": in_parts,
    "wide.csv": pc.write_csv,
    "wide.arrow": lambda table, path: pf.write_feather(table, path, "uncompressed"),
}


@pytest.fixture(params=[*WRITERS])
def wide(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table with a column that cannot be read, and more columns than are carried along."""
    monkeypatch.setattr(objects, "MOST_CARRIED", 8)
    broken = pa.array([b"\xff"] * len(OBJECTS)).view(pa.string())
    table = pa.Table.from_pandas(OBJECTS, preserve_index=False).append_column("broken", broken)
    path = tmp_path / str(request.param)
    WRITERS[request.param](table, path)
    return path


COMMANDS = ["score", "check", "sweep", "diagnose", "track --identity track", "score --by truth_brightness:2"]


@pytest.mark.parametrize("command", COMMANDS)
def test_columns_that_play_no_part_are_not_read(wide: Path, command: str) -> None:
    name, *options = command.split()
    answer_here(name, wide, wide, *options)


def test_submissions_are_compared_and_gated_without_them(wide: Path) -> None:
    assert run_here("compare", wide, wide, wide, "--json").status == 0
    assert run_here("gate", wide, wide, "--min", "f1=0.5").status == 0


def test_a_column_that_is_asked_for_by_name_is_read(wide: Path) -> None:
    answer = answer_here("score", wide, wide, "--by", "truth_brightness")
    assert [row["value"] for row in answer["by"]["truth_brightness"]] == OBJECTS["brightness"].tolist()
    table = read_needed(wide, "truth", Needed(["truth_brightness", "predicted_track"], carried=False))
    assert [*table.columns] == [*OBJECTS.columns.drop("track")]


def test_where_a_column_is_not_there_the_problem_is_that_of_the_whole_table(wide: Path) -> None:
    done = run_here("score", wide, wide, "--by", "truth_nowhere")
    assert done.status in (1, 2)
    assert (f"{wide}, line 2" if wide.suffix == ".csv" else f"{wide}: column broken") in done.err


def test_that_columns_are_not_kept_is_said(wide: Path, tmp_path: Path) -> None:
    done = run_here("score", wide, wide, "--out", tmp_path / "out")
    assert done.status == 0
    assert f"{wide}: has 9 columns, of which 6 are read" in done.err
    kept = pq.read_schema(tmp_path / "out" / "matches.parquet").names
    assert ("truth_score" in kept, "truth_brightness" in kept) == (True, False)


def test_a_table_that_is_not_wide_is_carried_whole(tmp_path: Path) -> None:
    path = tmp_path / "objects.parquet"
    features = pd.DataFrame({f"feature_{i}": [0.0] * len(OBJECTS) for i in range(300)})
    pd.concat([OBJECTS, features], axis=1).to_parquet(path)
    done = run_here("score", path, path, "--out", tmp_path / "out")
    assert (done.status, "columns" in done.err) == (0, False)
    assert "predicted_feature_299" in pq.read_schema(tmp_path / "out" / "matches.parquet").names
