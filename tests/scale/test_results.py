"""What came of a part, to a file and back."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from spotgeo_frames.scale.results import Result, read_result, write_result
from spotgeo_frames.scoring.group_sums import Sums
from spotgeo_frames.support.pandas_versions import TEXT
from spotgeo_frames.support.storage import place_of
from spotgeo_frames.tables.columns import Columns, dataframe_of


@pytest.mark.parametrize("n_rows", [0, 1, 3])
def test_sums_come_back_from_their_file(n_rows: int, tmp_path: Path) -> None:
    values = {"count": np.arange(n_rows), "error": np.linspace(0, 1, n_rows), "curve": np.ones((n_rows, 19)) / 3}
    labels = Columns({"sequence": pd.array(range(n_rows), "Int64")})
    labelled = Sums(labels, values, {1: (3, 2)}, True, {"a": "b"})
    whole = Sums(Columns({}, n_rows=1), {"count": np.ones(1)}, {}, False, {})
    place = place_of(tmp_path / "sums.arrow")
    write_result(place, Result([labelled, whole], {"truth": 2}, {"truth": (1, ["x"])}, 5, ["odd"], [7], 10))
    found = read_result(place)
    assert found[1:] == ({"truth": 2}, {"truth": (1, ["x"])}, 5, ["odd"], [7], 10)
    for sums, expected in zip(found.sums, [labelled, whole], strict=True):
        pd.testing.assert_frame_equal(dataframe_of(sums.labels), dataframe_of(expected.labels))
        assert sums[2:] == expected[2:]
        for name, array in expected.values.items():
            np.testing.assert_array_equal(sums.values[name], array)
            assert sums.values[name].dtype == array.dtype
            assert sums.values[name].flags.writeable


def test_curves_are_lists_of_a_fixed_size(tmp_path: Path) -> None:
    place = place_of(tmp_path / "sums.arrow")
    sums = Sums(Columns({"sequence": pd.array(["a", "b"], TEXT)}), {"curve": np.ones((2, 19))}, {}, True, {})
    write_result(place, Result([sums], {}, {}, 0, [], []))
    with pa.OSFile(str(tmp_path / "sums.arrow")) as stream:
        tables = [pa.ipc.open_stream(stream).read_all() for _ in range(3)]
    assert tables[2].schema.field("curve").type == pa.list_(pa.float64(), 19)
