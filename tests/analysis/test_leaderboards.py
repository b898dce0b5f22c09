"""The intervals of leaderboards: those of `intervals`, and null where those are."""

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.counted import counted, tracked

TABLES = {
    "a": counted([3, 5, 1, 8], [1, 0, 3, 2], [1, 2, 0, 1]),
    "b": counted([4, 5, 3, 9], [0, 0, 1, 1], [0, 2, 1, 1]),
}


def test_the_intervals_of_detections_are_those_of_intervals() -> None:
    board = sf.leaderboard(TABLES)
    assert board["name"].tolist() == ["b", "a"]
    for name, row in board.set_index("name").iterrows():
        found = sf.intervals(TABLES[str(name)], metrics=["f1", "kelvins_mse"]).set_index("metric")
        for metric, of_metric in found.iterrows():
            bounds = [row[f"{metric}_low"], row[f"{metric}_high"]]
            assert bounds == pytest.approx([of_metric["low"], of_metric["high"]])
            assert bounds[0] < row[str(metric)] < bounds[1]


def test_excluded_sequences_do_not_count() -> None:
    left = sf.leaderboard(TABLES, exclude=[0]).set_index("name").loc["a"]
    table = TABLES["a"]
    alone = sf.intervals(table[table["sequence"] > 0], metrics=["f1"]).iloc[0]
    assert [left["f1_low"], left["f1_high"]] == pytest.approx([alone["low"], alone["high"]])


def test_hota_of_few_sequences_has_no_interval() -> None:
    few, many = (sf.leaderboard({"a": tracked([3, 5, 2, 4] * n)}) for n in (1, 5))
    assert few[["HOTA_low", "HOTA_high"]].isna().all(axis=None)
    assert pd.notna(many["HOTA_low"]).all()
