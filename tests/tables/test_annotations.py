"""Annotations: what they hold, how they show themselves, and the attributes of sequences."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import spotgeo_frames as sf
from helpers.problems import Place, refused
from helpers.scenes import objects
from spotgeo_frames.tables.arrow import as_pandas

TRUTH = objects([(1, 1, 0, 0), (1, 1, 50, 0), (2, 1, 0, 0), (3, 1, 5, 5)])
PREDICTIONS = objects([(1, 1, 0, 0), (2, 1, 90, 0), (3, 1, 5, 5)])
FRAMES = pd.DataFrame({"sequence": [1, 1, 2, 3], "frame": [1, 2, 1, 1]})
# Sequence 3 is not listed, and 9 has no frames.
SEQUENCES = pd.DataFrame(
    {"sequence": [9, 2, 1], "weather": ["hail", "rain", "sun"], "exposure": [1, 2, 3], "dark": [True, False, True]}
)


def test_attributes_are_carried_into_every_row() -> None:
    matches = sf.match(sf.Annotations(TRUTH, FRAMES, SEQUENCES), PREDICTIONS)
    assert list(matches)[-3:] == ["sequence_weather", "sequence_exposure", "sequence_dark"]
    assert matches["sequence_weather"].fillna("-").tolist() == ["sun", "sun", "sun", "rain", "rain", "-"]
    assert matches["sequence_exposure"].tolist()[:5] == [3, 3, 3, 2, 2]
    kinds = [str(matches[f"sequence_{name}"].dtype) for name in ("weather", "exposure", "dark")]
    assert kinds == ["str", "float64", "boolean"]
    bare = sf.match(sf.Annotations(TRUTH, FRAMES), PREDICTIONS)
    pd.testing.assert_frame_equal(matches[list(bare)], bare)


def test_slices_by_an_attribute() -> None:
    by_weather = sf.summarize(sf.match(sf.Annotations(TRUTH, None, SEQUENCES), PREDICTIONS), by="sequence_weather")
    assert by_weather[["sequence_weather", "tp", "fn", "fp"]].to_numpy().tolist() == [
        ["rain", 0, 1, 1],
        ["sun", 1, 1, 0],
    ]


@pytest.mark.parametrize("convert", [pl.from_pandas, lambda table: pa.Table.from_pandas(table, preserve_index=False)])
def test_other_kinds_of_tables(convert) -> None:
    matches = sf.match(sf.Annotations(*map(convert, (TRUTH, FRAMES, SEQUENCES))), convert(PREDICTIONS))
    assert type(matches) is type(convert(TRUTH))
    expected = sf.match(sf.Annotations(TRUTH, FRAMES, SEQUENCES), PREDICTIONS)
    found = as_pandas(matches, "matches")
    assert found["sequence_weather"].tolist()[:5] == expected["sequence_weather"].tolist()[:5]


def test_text_as_the_key_and_a_lazy_frame() -> None:
    named = [table.assign(sequence=table["sequence"].astype("str")) for table in (TRUTH, SEQUENCES, PREDICTIONS)]
    truth = sf.Annotations(pl.from_pandas(named[0]), None, pl.from_pandas(named[1]).lazy())
    matches = sf.match(truth, named[2])
    assert matches["sequence_weather"].to_list() == ["sun", "sun", "rain", "rain", None]


@pytest.mark.parametrize("side", ["truth", "predictions"])
@pytest.mark.parametrize(
    ("sequences", "place"),
    [
        (SEQUENCES.assign(sequence=[1, 1, 2]), ("{side} sequences: 2 rows", "sequence 1; sequence 1")),
        (SEQUENCES.assign(sequence=[1, None, 2]), ("{side} sequences: column sequence", "1 row")),
        (SEQUENCES.assign(sequence=["1", "2", "3"]), ("{side}: column sequence", "int64", "sequences table", "str")),
        (SEQUENCES.drop(columns="sequence"), ("{side} sequences: column sequence", "weather, exposure, dark")),
        (SEQUENCES.assign(exposure=2**60), ("{side} sequences: column exposure", "2**53", "sequence 9")),
        ("rain", ("{side} sequences", "str")),
    ],
)
def test_what_is_wrong_with_sequences(side: str, sequences: Any, place: Place) -> None:
    sides = {"truth": sf.Annotations(TRUTH), "predictions": sf.Annotations(PREDICTIONS)}
    sides[side] = sides[side]._replace(sequences=sequences)
    with refused(tuple(text.format(side=side) for text in place)):
        sf.match(**sides)


def test_nothing_is_listed_or_there() -> None:
    none = sf.match(sf.Annotations(TRUTH, None, SEQUENCES.head(0)), PREDICTIONS)
    assert none["sequence_weather"].isna().all()
    only_keys = sf.match(sf.Annotations(TRUTH, None, SEQUENCES[["sequence"]]), PREDICTIONS)
    assert not [name for name in only_keys if name.startswith("sequence_")]
    empty = sf.match(sf.Annotations(TRUTH.head(0), FRAMES, SEQUENCES), PREDICTIONS.head(0))
    assert empty["sequence_weather"].tolist()[:3] == ["sun", "sun", "rain"]
    assert len(sf.match(sf.Annotations(TRUTH.head(0), None, SEQUENCES), PREDICTIONS.head(0))) == 0


def test_whole_poses_joints_tracks_and_crowds_keep_them() -> None:
    joints = pd.concat([TRUTH.assign(joint=name) for name in "ab"], ignore_index=True).assign(area=900.0, crowd=False)
    joints.loc[joints["sequence"] == 2, "crowd"] = True
    truth = sf.Annotations(joints, FRAMES, SEQUENCES)
    for words in ({}, {"similarity": "oks", "sigmas": {"a": 0.1, "b": 0.1}}):
        matches = sf.match(truth, joints.drop(columns="crowd"), **words)
        assert dict(matches[["sequence", "sequence_weather"]].fillna("-").to_numpy().tolist()) == {
            1: "sun",
            2: "rain",
            3: "-",
        }
    tracks = sf.track(sf.Annotations(TRUTH, FRAMES, SEQUENCES), PREDICTIONS, tau=10).matches
    assert tracks["sequence_weather"].tolist()[:5] == ["sun", "sun", "sun", "rain", "rain"]


def test_the_callers_matcher_and_reports_keep_them(tmp_path: Path) -> None:
    truth = sf.Annotations(TRUTH, FRAMES, SEQUENCES)
    matches = sf.match_frames(truth, PREDICTIONS, lambda known, claimed: ([0], [0]))
    pd.testing.assert_frame_equal(matches, sf.match(truth, PREDICTIONS))
    sf.report(truth, PREDICTIONS, tmp_path / "r.html", by="sequence_weather", exclude=[3], tables=tmp_path / "t")
    rows = pd.read_parquet(tmp_path / "t" / "matches.parquet")
    assert rows["sequence_weather"].tolist() == ["sun", "sun", "sun", "rain", "rain"]
    assert "`weather` of the sequence" in (tmp_path / "t" / "README.md").read_text("utf-8")


def test_they_show_their_sizes() -> None:
    assert repr(sf.Annotations(TRUTH, None, SEQUENCES)).splitlines() == [
        "Annotations",
        "  objects     4 rows × 5 columns",
        "  frames      none",
        "  sequences   3 rows × 4 columns",
        "  categories  none",
    ]
    assert "hail" in str(sf.Annotations(TRUTH, FRAMES, SEQUENCES)._repr_html_())


def test_intervals_by_an_attribute_resample_whole_sequences() -> None:
    random = np.random.default_rng(1)
    truth = objects([(s, 1, 40.0 * k, 0.0) for s in range(40) for k in range(3)])
    sequences = pd.DataFrame({"sequence": range(40), "weather": ["sun", "rain"] * 20})
    predictions = truth[random.random(len(truth)) < 0.7]
    matches = sf.match(sf.Annotations(truth, None, sequences), predictions)
    rows = sf.intervals(matches, by="sequence_weather", metrics=["recall"])
    assert rows["sequence_weather"].tolist() == ["rain", "sun"]
    assert ((rows["low"] < rows["estimate"]) & (rows["estimate"] < rows["high"])).all()


def test_categories_may_have_attributes_and_are_checked() -> None:
    categories = pd.DataFrame({"category": ["cat", "dog"], "frequency": ["r", "f"]})
    truth = TRUTH.assign(category="cat")
    assert sf.Annotations(truth, None, None, categories).categories is categories
    wrong = {
        "column category is missing": categories.drop(columns="category"),
        "2 rows are the same": categories.assign(category="cat"),
        "1 row is null": categories.assign(category=["cat", None]),
    }
    for reason, table in wrong.items():
        with pytest.raises(sf.InputError, match=f"truth categories.*{reason}"):
            sf.match(sf.Annotations(truth, None, None, table), PREDICTIONS)
