"""Keys that are written as floats or dates, wherever tables are taken."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import spotgeo_frames as sf
from helpers.problems import refused

DAYS = [date(2024, 1, 1), date(2024, 1, 31)]
NAMES = ["2024-01-01", "2024-01-31"]

# Sequences as columns may have them, and the names that they get.
SEQUENCES: dict[str, tuple[Any, list[Any]]] = {
    "floats": ([1.0, 2.0], [1, 2]),
    "short floats": (np.array([1, 2], np.float32), [1, 2]),
    "days": (DAYS, NAMES),
    "midnights": ([datetime(2024, 1, 1), datetime(2024, 1, 31)], NAMES),
    "times of days": ([datetime(2024, 1, 1), datetime(2024, 1, 31, 12, 30)], [NAMES[0], "2024-01-31T12:30:00"]),
    "parts of seconds": (
        [datetime(2024, 1, 1, 0, 0, 0, 5), datetime(2024, 1, 31, 12)],
        ["2024-01-01T00:00:00.000005", "2024-01-31T12:00:00"],
    ),
    "times of a zone": (
        [datetime(2024, 1, day, tzinfo=UTC) for day in (1, 31)],
        ["2024-01-01T00:00:00+00:00", "2024-01-31T00:00:00+00:00"],
    ),
    "times without days": ([time(1, 2), time(3, 4, 5)], ["01:02:00", "03:04:05"]),
}

KINDS: dict[str, Callable[[Any], Any]] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def table_of(sequences: Any, **others: Any) -> dict[str, Any]:
    return {"sequence": sequences, "frame": [1, 2], "object": [1, 2], "x": [1.0, 2.0], "y": [1.0, 2.0], **others}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", SEQUENCES)
def test_sequences_of_any_form(form: str, kind: str) -> None:
    given, names = SEQUENCES[form]
    table = KINDS[kind](table_of(given))
    matches = sf.match(table, table)
    assert pd.Series(matches["sequence"].to_pylist() if kind == "pyarrow" else matches["sequence"]).tolist() == names
    plain = sf.match(KINDS[kind](table_of(names)), table)
    assert sf.summarize(plain)["tp"][0] == (pa.scalar(2) if kind == "pyarrow" else 2)


@pytest.mark.parametrize("form", SEQUENCES)
def test_datasets_and_batches_do_the_same(form: str, tmp_path: Path) -> None:
    given, names = SEQUENCES[form]
    table = pd.DataFrame(table_of(given, frame=[1.0, 2.0]))
    table.to_parquet(tmp_path / "some.parquet")
    pd.DataFrame(table_of(names)).to_parquet(tmp_path / "names.parquet", row_group_size=1)
    for path in ("some.parquet", "names.parquet"):
        summary = sf.score_dataset(tmp_path / "some.parquet", tmp_path / path, by="sequence")
        assert summary[["sequence", "tp"]].to_numpy().tolist() == [[name, 1] for name in names]
    tracked = sf.track_dataset(tmp_path / "some.parquet", tmp_path / "names.parquet")
    assert tracked["sequence"].tolist()[:-1] == names
    batches = sf.Accumulator()
    for rows in (table.iloc[:1], pd.DataFrame(table_of(names)).iloc[1:]):
        batches.update(rows, rows)
    assert batches.compute()["tp"].item() == 2


def test_frames_and_sequences_have_keys_of_the_same_forms() -> None:
    objects, names = pd.DataFrame(table_of(NAMES)), pd.to_datetime(pd.Series(NAMES))
    frames = pd.DataFrame({"sequence": names, "frame": [1.0, 2.0], "sky": [5, 6]})
    sides = sf.Annotations(objects, frames, pd.DataFrame({"sequence": names, "weather": ["rain", "sun"]}))
    matches = sf.match(sides, objects)
    assert matches[["frame_sky", "sequence_weather"]].to_numpy().tolist() == [[5, "rain"], [6, "sun"]]
    excluded = sf.summarize(matches, exclude=[NAMES[0]])
    assert excluded["tp"].item() == 1


@pytest.mark.parametrize("column", ["sequence", "frame", "object"])
@pytest.mark.parametrize("value", [2.5, np.inf, 1e17])
def test_floats_that_are_no_integers_are_named_with_their_row(column: str, value: float) -> None:
    table = pd.DataFrame(table_of([1, 2])).astype({column: float})
    table.loc[1, column] = value
    with refused((f"truth: column {column}", "float64", "1 row", f"{column} {value}", "integers")):
        sf.match(table, pd.DataFrame(table_of([1, 2])))
    with refused(("truth: column frame", "datetime64")):
        sf.match(pd.DataFrame(table_of([1, 2], frame=pd.to_datetime(NAMES).astype("datetime64[ns]"))), table)


@pytest.mark.parametrize("column", ["sequence", "frame", "object"])
def test_a_dataset_names_the_value(column: str, tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    table = pd.DataFrame(table_of([1, 2])).astype({column: float})
    table.loc[1, column] = 2.5
    table.to_parquet(path)
    place = f"{path}: column sequence" if column == "sequence" else f"{path}: row group 0: column {column}"
    pd.DataFrame(table_of([1, 2])).to_parquet(tmp_path / "right.parquet")
    with refused((place, "2.5 is no whole number")):
        sf.score_dataset(path, tmp_path / "right.parquet")


def test_blanks_around_names_of_columns() -> None:
    table = pd.DataFrame(table_of([1, 2]))
    spaced = table.rename(columns={"frame": " frame", "x": "x "})
    pd.testing.assert_frame_equal(sf.match(spaced, table), sf.match(table, table))
    both = sf.match(table.assign(**{" x": 5.0}), table)
    assert both["truth_x"].tolist() == [1.0, 2.0]
    assert both["truth_ x"].tolist() == [5.0, 5.0]
