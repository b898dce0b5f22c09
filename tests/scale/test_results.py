"""What came of a part, to a file and back."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from helpers.problems import refused
from spotgeo_frames.scale.folder import RunFolder, plan_text
from spotgeo_frames.scale.results import Result, read_result, write_result
from spotgeo_frames.scoring.sequence_sums import Sums
from spotgeo_frames.support.pandas_tables import TEXT
from spotgeo_frames.support.stores import Digest, digest_of, place_of, written
from spotgeo_frames.tables.columns import Columns, dataframe_of
from spotgeo_frames.tracking.track_sums import TRACKS


def folder_in(path: Path) -> RunFolder:
    """A folder of a run with its plan."""
    folder = RunFolder(place_of(path), "a")
    with written(folder.plan) as stream:
        stream.write(plan_text({"run": "a"}))
    (path / "sums").mkdir()
    return folder


def sums_of(labels: Columns, values: Any, notes: Any, rows: Any, by_similarity: bool) -> Sums:
    """Sums with a row for each group."""
    return Sums(TRACKS, labels, np.arange(len(labels)), None, values, notes, rows, by_similarity)


@pytest.mark.parametrize("n_rows", [0, 1, 3])
def test_sums_come_back_from_their_file(n_rows: int, tmp_path: Path) -> None:
    values = {"count": np.arange(n_rows), "error": np.linspace(0, 1, n_rows), "curve": np.ones((n_rows, 19)) / 3}
    labels = Columns({"sequence": pd.array(range(n_rows), "Int64")})
    labelled = sums_of(labels, values, {"a": "b"}, {1: (3, 2)}, by_similarity=True)
    whole = sums_of(Columns({}, n_rows=1), {"count": np.ones(1)}, {}, {}, by_similarity=False)
    matches = {"matches/part-00003.parquet": Digest(10, "ab")}
    result = Result([labelled, whole], {"truth": 2}, {"truth": (1, ["x"])}, 5, ["odd"], [7], matches)
    folder = folder_in(tmp_path)
    written = write_result(folder, 3, result)
    found = read_result(folder, 3)
    assert found[1:] == written[1:]
    assert written[1:6] == result[1:6]
    assert written.files == matches | {"sums/part-00003.arrow": digest_of(folder.sums(3))}
    with refused((f"{folder.sums(3).name}", "another run or part")):
        read_result(folder._replace(identity="b"), 3)
    for sums, expected in zip(found.sums, [labelled, whole], strict=True):
        pd.testing.assert_frame_equal(dataframe_of(sums.labels), dataframe_of(expected.labels))
        np.testing.assert_array_equal(sums.group, expected.group)
        assert sums[5:] == expected[5:]
        for name, array in expected.values.items():
            np.testing.assert_array_equal(sums.values[name], array)
            assert sums.values[name].dtype == array.dtype
            assert sums.values[name].flags.writeable


def test_curves_are_lists_of_a_fixed_size(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    labels = Columns({"sequence": pd.array(["a", "b"], TEXT)})
    sums = sums_of(labels, {"curve": np.ones((2, 19))}, {}, {}, by_similarity=True)
    write_result(folder, 0, Result([sums], {}, {}, 0, [], [], {}))
    with pa.OSFile(folder.sums(0).path) as stream:
        tables = [pa.ipc.open_stream(stream).read_all() for _ in range(3)]
    assert tables[2].schema.field("curve").type == pa.list_(pa.float64(), 19)
