"""Tables of objects without `object`: rows are numbered within their frame, which makes no identities of them."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import spotgeo_frames as sf
from helpers.problems import refused, warned
from helpers.scenes import objects

NAMED = objects([(s, f, 10.0 * o, 5.0 * s) for s in (1, 2, 3) for f in (1, 2) for o in range(4)]).assign(w=4.0, h=4.0)
BARE = NAMED.drop(columns="object").sample(frac=1, random_state=1).reset_index(drop=True)


def test_the_numbers_are_those_of_named_rows() -> None:
    expected = sf.summarize(sf.match(NAMED, NAMED))
    matches = sf.match(BARE, BARE)
    pd.testing.assert_frame_equal(sf.summarize(matches), expected)
    assert matches.groupby(["sequence", "frame"])["truth_object"].apply(sorted).tolist() == [[0, 1, 2, 3]] * 6
    assert sf.average_precision(BARE, BARE.assign(score=0.5)).summary["AP50"].tolist() == pytest.approx([1.0])
    accumulator = sf.Accumulator()
    for _, batch in BARE.groupby(["sequence", "frame"]):
        accumulator.update(batch, batch)
    assert accumulator.compute()["tp"].tolist() == expected["tp"].tolist()


def test_datasets_number_rows_as_tables_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "bare.parquet"
    BARE.to_parquet(path, row_group_size=5)
    sf.score_dataset(path, path, out=tmp_path / "out")
    parts = pd.concat(pq.read_table(part).to_pandas() for part in sorted((tmp_path / "out" / "matches").iterdir()))
    expected = sf.match(BARE, BARE)
    for name in ("truth_object", "predicted_object", "truth_x"):
        assert parts[name].tolist() == expected[name].tolist()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_readers_leave_the_column_out(kind: Any, tmp_path: Path) -> None:
    """Whoever reads a table and adds identities to it has identities."""
    path = tmp_path / "bare.csv"
    NAMED.drop(columns="object").to_csv(path, index=False)
    read = sf.read_objects(path, table=kind)
    assert "object" not in list(getattr(read.objects, "column_names", read.objects.columns))
    with refused((str(path) if kind == "pandas" else "truth", "column object is missing", "tracks need")):
        sf.track(read, read)
    if kind == "pandas":
        named = read.objects.assign(object=NAMED["object"])
        assert sf.track(named, named).summary["HOTA"].iloc[-1] == 1.0
        assert len(sf.object_summary(sf.match(named, named))) == 12


def test_what_follows_objects_refuses_numbers() -> None:
    told = ("object_summary: matches", "the truth had no column object")
    with refused(told):
        sf.object_summary(sf.match(BARE, BARE))
    with refused(told):
        sf.object_summary(sf.average_precision(BARE, BARE.assign(score=0.5), thresholds=[0.5]).matches)
    accumulator = sf.Accumulator(keep="matches").update(BARE, BARE)
    accumulator.compute()
    with refused(told):
        sf.object_summary(accumulator.matches)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("moved", [0.0, 3.0])
def test_truths_in_another_order_are_other_truths_and_the_reason_is_told(kind: str, moved: float) -> None:
    """Also where one truth has moved, and where the notes were lost (in polars, the places alone can tell)."""
    other = BARE.assign(x=BARE["x"] + moved * (BARE.index == 0)).sample(frac=1, random_state=2)
    sides = [side if kind == "pandas" else pl.DataFrame(side) for side in (BARE, other)]
    tables = {"a": sf.match(sides[0], sides[0]), "b": sf.match(sides[1], sides[1])}
    why = "where the truth has no column object, its rows are numbered within their frame and their order counts"
    told = ["truths are in only one of", why] if kind == "pandas" or not moved else ["truths are in only one of"]
    with refused(("compare", *told)):
        sf.compare(tables)
    with refused(("changes", *told)):
        sf.changes(*tables.values(), similarity="iou", threshold=0.5)


def test_named_truths_that_differ_are_not_called_numbered() -> None:
    tables = {name: sf.match(side, side) for name, side in (("a", NAMED), ("b", NAMED.assign(x=NAMED["x"] + 1)))}
    with pytest.raises(sf.InputError) as caught:
        sf.compare(tables)
    assert "numbered" not in str(caught.value)


def test_what_polars_forgot_is_warned_about_where_the_rows_show_it() -> None:
    """polars keeps no notes: truths that are numbered from 0 in each frame, as their count changes, follow nothing."""
    fewer = BARE[(BARE["frame"] == 1) | (BARE["y"] > 5) | (BARE["x"] > 0)]
    matches = sf.match(pl.DataFrame(fewer), pl.DataFrame(fewer))
    with warned(("object_summary: matches", "the truths of each frame are numbered from 0")):
        sf.object_summary(matches)
    with warned():
        sf.object_summary(matches, identity="object")
        named = pl.DataFrame(NAMED)
        sf.object_summary(sf.match(named, named))
        gone = named.filter((pl.col("frame") == 1) | (pl.col("object") > 0))
        sf.object_summary(sf.match(gone, gone))
