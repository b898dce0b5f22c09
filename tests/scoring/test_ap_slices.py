"""Slices of average precision, held against what is computed from a part of the tables alone."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import spotgeo_frames as sf
from helpers.detectors import Detector, boxes
from helpers.problems import refused, warned
from spotgeo_frames.scoring.ap.numbers import BOX_NUMBERS
from spotgeo_frames.scoring.sequence_sums import evaluable

pytestmark = pytest.mark.filterwarnings("ignore:average_precision")

NUMBERS = list(BOX_NUMBERS)
FRAME = pd.DataFrame({"sequence": [1, 2], "frame": 1, "object": 1, "x": 10.0, "y": 5.0, "w": 40.0, "h": 40.0})


def scene() -> tuple[sf.Annotations, pd.DataFrame]:
    """Boxes of four classes in 60 frames of 30 sequences, with attributes of frames, sequences, truths and claims."""
    random = np.random.default_rng(4)
    truth, claims = boxes(random, Detector())
    assert truth.frames is not None
    frames = truth.frames.assign(sky=random.choice(["clear", "cloudy", None], len(truth.frames)))
    sequences = pd.DataFrame({"sequence": range(1, 31), "night": random.integers(0, 3, 30)})
    objects = truth.objects.assign(
        size=_sizes(truth.objects), seen=random.choice(["well", "badly"], len(truth.objects))
    )
    objects["tags"] = [[tag] for tag in objects["seen"]]
    return sf.Annotations(objects, frames, sequences), claims.assign(size=_sizes(claims))


def _sizes(objects: pd.DataFrame) -> list[str]:
    areas = objects["w"] * objects["h"]
    return ["small" if area <= 32**2 else "medium" if area <= 96**2 else "large" for area in areas]


TRUTH, CLAIMS = scene()
RESULT = sf.average_precision(TRUTH, CLAIMS)


def in_frames(keys: pd.DataFrame) -> pd.DataFrame:
    """The summary of these frames alone."""
    key = ["sequence", "frame"]
    truth = sf.Annotations(TRUTH.objects.merge(keys[key]), keys[key])
    return sf.average_precision(truth, CLAIMS.merge(keys[key])).summary


def test_frames_and_sequences_are_as_if_alone() -> None:
    frames = TRUTH.frames.merge(TRUTH.sequences)
    by_sky = sf.summarize(RESULT, by="frame_sky")
    assert by_sky["frame_sky"].tolist() == ["clear", "cloudy"], "frames without a value are in no slice"
    by_both = sf.summarize(RESULT, by=["sequence_night", "frame_sky"])
    assert len(by_both) == 6
    for table in (by_sky, by_both):
        for _, row in table.iterrows():
            picked = frames[frames["sky"] == row["frame_sky"]]
            if "sequence_night" in row:
                picked = picked[picked["night"] == row["sequence_night"]]
            [alone] = in_frames(picked).to_dict("records")
            assert row[[*NUMBERS, "n_frames", "n_truth", "n_predicted"]].to_dict() == pytest.approx(alone, nan_ok=True)


def test_counts_of_a_frame_are_those_of_match_tables() -> None:
    matches = sf.match(TRUTH, CLAIMS, assignment="score")
    for column in ("frame_n_truth", "frame_n_predicted"):
        counts = matches.drop_duplicates(["sequence", "frame"])
        found = sf.summarize(RESULT, by=column)
        assert found["n_frames"].tolist() == counts.groupby(column).size().tolist()
        for _, row in found.iterrows():
            [alone] = in_frames(counts[counts[column] == row[column]]).to_dict("records")
            assert row[NUMBERS].to_dict() == pytest.approx({name: alone[name] for name in NUMBERS}, nan_ok=True)
    binned = sf.average_precision(TRUTH, CLAIMS, by={"frame_n_truth": [0, 2, np.inf]}).summary
    assert binned["n_frames"].sum() == len(TRUTH.frames)
    assert len(sf.intervals(RESULT, by="frame_n_truth", metrics=["AP"])) == matches["frame_n_truth"].nunique()


def test_counts_of_a_frame_leave_out_crowds_and_what_is_ignored() -> None:
    """A crowd and what it explains count in no frame, as in `match`; so do detections that come after the most."""
    truth = pd.concat([FRAME, FRAME[:1].assign(object=2, x=200.0, w=400.0)]).assign(crowd=[0, 0, 1])
    claims = pd.concat([FRAME, FRAME[:1].assign(object=2, x=300.0)]).assign(score=[0.9, 0.8, 0.7])
    result = sf.average_precision(truth, claims)
    matches = sf.match(truth, claims)
    for column in ("frame_n_truth", "frame_n_predicted"):
        assert sf.summarize(result, by=column)[column].tolist() == matches[column].unique().tolist() == [1]
    wrong = pd.concat([claims, claims.assign(x=900.0, object=9, score=0.1)[:1]])
    beyond = sf.average_precision(truth, wrong, by="frame_n_predicted", max_detections=2).summary
    assert beyond["frame_n_predicted"].tolist() == [1]


def test_by_category_has_the_numbers_of_each_class() -> None:
    found = sf.summarize(RESULT, by="category")
    wanted = RESULT.categories.sort_values("category", ignore_index=True)
    pd.testing.assert_frame_equal(found[["category", *NUMBERS]], wanted[["category", *NUMBERS]])
    assert found["n_truth"].tolist() == wanted["n_truth"].tolist()
    crossed = sf.summarize(RESULT, by=["category", "frame_sky"])
    of_sky = sf.summarize(RESULT, by="frame_sky").set_index("frame_sky")
    assert crossed.groupby("frame_sky")["AP"].mean().to_dict() == pytest.approx(of_sky["AP"].to_dict())


def test_truths_of_a_size_are_cut_out_as_area_ranges_are() -> None:
    found = sf.summarize(RESULT, by="truth_size").set_index("truth_size")
    for size in ("small", "medium", "large"):
        ends = {"AP": f"AP{size[0]}", "AR100": f"AR{size[0]}"}
        assert found.loc[size, [*ends]].tolist() == RESULT.summary.loc[0, [*ends.values()]].tolist()


def test_area_needs_no_column() -> None:
    [edge] = np.quantile(TRUTH.objects["w"] * TRUTH.objects["h"], [0.5])
    halves = sf.summarize(RESULT, by={"truth_area": 2})
    named = [side.assign(half=side["w"] * side["h"] > edge) for side in (TRUTH.objects, CLAIMS)]
    by_half = sf.average_precision(TRUTH._replace(objects=named[0]), named[1], by="truth_half").summary
    pd.testing.assert_frame_equal(halves[NUMBERS], by_half[NUMBERS])
    assert halves["truth_area"].iloc[1].left == pytest.approx(edge, abs=0.01)


def test_a_slice_that_cannot_know_its_false_alarms_has_recall_only() -> None:
    found = sf.average_precision(TRUTH, CLAIMS, by="truth_seen").summary
    of_precision = [name for name in NUMBERS if name.startswith("AP")]
    assert found[[*of_precision, "n_predicted"]].isna().all(axis=None)
    assert found["AR100"].notna().all()
    # Truths that are looked for alone are found as often, but where another truth takes their detection.
    alone = TRUTH._replace(objects=TRUTH.objects[TRUTH.objects["seen"] == "well"])
    recall = sf.average_precision(alone, CLAIMS).summary["AR100"][0]
    assert found.set_index("truth_seen").loc["well", "AR100"] == pytest.approx(recall, abs=0.02)
    strange = CLAIMS.assign(seen=7)  # a number, where truths have text
    assert sf.average_precision(TRUTH, strange, by="truth_seen").summary["AP"].isna().all()


def test_a_false_alarm_whose_value_no_truth_has_is_of_no_slice() -> None:
    """It is not unknown whose it is: of a colour that is not looked for."""
    truth = FRAME.assign(colour=["red", "blue"])
    claims = FRAME.assign(score=[0.8, 0.7], colour=["red", "blue"])
    green = claims.assign(x=200.0, score=0.9, object=2, colour="green")
    found = sf.average_precision(truth, pd.concat([claims, green]), by="truth_colour").summary
    alone = sf.average_precision(truth, claims, by="truth_colour").summary
    # One detection a frame is that with the highest score, of whatever slice, as in area ranges.
    pd.testing.assert_frame_equal(found.drop(columns="AR1"), alone.drop(columns="AR1"))
    assert found[["AP", "n_predicted"]].to_numpy().tolist() == [[pytest.approx(1.0), 1]] * 2
    red = pd.concat([claims, green, green.iloc[:1].assign(x=300.0, colour="red", object=3)])
    found = sf.average_precision(truth, red, by="truth_colour").summary.set_index("truth_colour")
    assert found["AP"].to_dict() == pytest.approx({"blue": 1.0, "red": 0.5})
    numbered = [side.assign(colour=side["colour"].map({"red": 1, "blue": 2, "green": 3})) for side in (truth, red)]
    by_number = sf.average_precision(*numbered, by="truth_colour").summary.set_index("truth_colour")
    assert by_number["AP"].to_dict() == pytest.approx({1: 0.5, 2: 1.0})


def test_crossed_columns_are_known_one_by_one() -> None:
    """A false alarm without a size is of no slice, whatever its colour; if none has one, nothing is known of them."""
    truth = FRAME.assign(colour=["red", "blue"], size="big")
    claims = truth.assign(score=[0.8, 0.7])
    wrong = claims.assign(x=200.0, score=0.9, object=2)
    by = ["truth_colour", "truth_size"]
    for colours, sizes, known in (
        (["green", "green"], [None, "big"], True),
        (["green", None], [None, "big"], True),
        (["red", "blue"], [None, None], False),
        ([None, None], ["big", "big"], False),
    ):
        found = sf.average_precision(truth, pd.concat([claims, wrong.assign(colour=colours, size=sizes)]), by=by)
        assert found.summary["AP"].fillna(-1).tolist() == pytest.approx([1.0 if known else -1] * 2), (colours, sizes)


def test_lists_in_the_predictions_are_refused_as_in_the_truth() -> None:
    truth, claims = FRAME.assign(tag="a"), FRAME.assign(tag=[["a"], ["b"]], score=0.5)
    with refused(("by: truth_tag cannot be grouped by", "list")):
        sf.average_precision(truth, claims, by="truth_tag")


def test_values_of_which_truths_have_none_are_told() -> None:
    """Small is not small: no false alarm is in a slice, which a warning says wherever slices are asked for."""
    truth, claims = FRAME.assign(size="small"), FRAME.assign(size="Small", score=0.5)
    wrong = claims.assign(x=200.0, object=2)
    text = ("by: truth_size: the truths have 'small', the predictions 'Small', so no false alarm is in a slice",)
    with warned(("average_precision", *text)):
        result = sf.average_precision(truth, pd.concat([claims, wrong]), by="truth_size")
    assert result.summary["AP"][0] == pytest.approx(1.0)
    with warned(("summarize", *text)):
        sf.summarize(result, by="truth_size")
    with pytest.warns(UserWarning, match=text[0]):
        sf.intervals(result, by="truth_size")
    with warned():
        sf.summarize(sf.average_precision(truth, pd.concat([FRAME.assign(score=0.5), wrong.assign(size=None)])))


def test_by_hand() -> None:
    truth = FRAME.assign(colour=["red", "blue"])
    claims = FRAME.assign(score=[0.8, 0.7], colour=["red", "blue"])
    wrong = claims.assign(x=200.0, score=0.9, object=2)  # one false alarm of each colour
    found = sf.average_precision(truth, pd.concat([claims, wrong]), by="truth_colour").summary
    assert found["truth_colour"].tolist() == ["blue", "red"]
    assert found["AP"].tolist() == pytest.approx([1 / 2, 1 / 2]), "the other colour's false alarm does not count"
    assert found[["n_truth", "n_predicted"]].to_numpy().tolist() == [[1, 2], [1, 2]]
    assert sf.average_precision(truth, pd.concat([claims, wrong])).summary["AP"][0] == pytest.approx(1 / 2)
    unknown = pd.concat([claims, wrong.assign(colour=None)])
    [lost] = {*sf.average_precision(truth, unknown, by="truth_colour").summary["AP"].fillna(-1)}
    assert lost == -1, "no false alarm has a colour"


def test_detections_beyond_the_bins_are_in_the_outermost() -> None:
    truth = pd.concat([FRAME, FRAME.assign(object=2, x=300.0, w=80.0)])
    claims = truth.assign(score=0.5)
    huge = FRAME.iloc[:1].assign(object=9, x=600.0, w=500.0, score=0.9)
    found = sf.average_precision(truth, pd.concat([claims, huge]), by={"truth_w": 2}).summary
    assert found["AP"].tolist() == pytest.approx([1.0, 2 / 3]), "the huge one is a false alarm among the wide ones"


def test_summarize_is_the_same_and_leaves_sequences_out() -> None:
    for by in (None, "category", {"truth_w": 3, "frame_sky": None}):
        pd.testing.assert_frame_equal(
            sf.summarize(RESULT, by=by), sf.average_precision(TRUTH, CLAIMS, "iou", by).summary
        )
    kept = TRUTH.frames[TRUTH.frames["sequence"] > 3]
    pd.testing.assert_frame_equal(sf.summarize(RESULT, exclude=[1, 2, 3]), in_frames(kept))


@pytest.mark.parametrize(
    ("by", "place"),
    [
        (pd.Series(0, range(3), name="mine"), ("by: is or holds the Series mine", "names of columns")),
        (pl.Series("mine", [0]), ("by: is or holds the Series mine", "names of columns")),
        ("frame_ski", ("average precision: there is no column frame_ski", "frame_sky")),
        ("predicted_score", ("by: predicted_score", "of predictions", "category")),
        ({"category": 3}, ("by: category", "classes")),
        ({"truth_seen": 2}, ("column truth_seen holds no numbers",)),
        ({"truth_w": 1}, ("by: truth_w", "1 bins")),
        ("truth_tags", ("by: truth_tags cannot be grouped by", "list")),
        (["frame_sky", "frame_sky"], ("by: frame_sky, frame_sky",)),
    ],
)
def test_what_cannot_be_sliced_by(by: Any, place: tuple[str, ...]) -> None:
    with refused(place):
        sf.summarize(RESULT, by=by)
    with refused(place):
        sf.average_precision(TRUTH, CLAIMS, by=by)


def test_without_categories_there_are_no_classes() -> None:
    with refused(("average precision: there is no column category", "both sides")):
        sf.average_precision(FRAME, FRAME.assign(score=1.0), by="category")


def test_empty_tables() -> None:
    none = FRAME[:0]
    for truth, claims in ((none, FRAME), (FRAME, none), (none, none)):
        sides = sf.Annotations(truth, FRAME[["sequence", "frame"]].assign(sky=[1.0, None])), claims.assign(score=0.5)
        found = sf.average_precision(*sides, by="frame_sky").summary
        assert found["n_frames"].tolist() == [1]
        assert found["AP"].fillna(-1).tolist() == ([0.0] if len(truth) else [-1.0])
        assert len(sf.average_precision(*sides, by="truth_w").summary) == (1 if len(truth) else 0)
        # With a column of categories that has no rows, there are no categories at all.
        classes = sides[0]._replace(objects=truth.assign(category="a")), sides[1].assign(category="a")
        assert sf.summarize(sf.average_precision(*classes))["n_frames"].tolist() == [len(FRAME)]
        assert len(sf.average_precision(*sides, by=["truth_w", "frame_sky"]).summary) == (1 if len(truth) else 0)


@pytest.mark.parametrize("to", [pl.from_pandas, lambda table: pl.from_pandas(table).to_arrow()])
def test_other_kinds_of_tables(to: Any) -> None:
    sides = TRUTH._replace(objects=to(TRUTH.objects), frames=to(TRUTH.frames), sequences=to(TRUTH.sequences))
    result = sf.average_precision(sides, to(CLAIMS), by=["category", "sequence_night"])
    wanted = sf.summarize(RESULT, by=["category", "sequence_night"])
    found = pl.from_arrow(result.summary) if not isinstance(result.summary, pl.DataFrame) else result.summary
    assert isinstance(result.summary, type(to(CLAIMS)))
    assert found["AP"].to_list() == pytest.approx(wanted["AP"].tolist())
    assert found.columns == list(wanted)


@pytest.mark.parametrize("column", ["category", "truth_seen", "frame_sky"])
def test_a_sequence_counts_in_a_slice_by_its_truths_there(column: str) -> None:
    """Or as one, if it has detections there only."""
    asked = evaluable(RESULT, "")
    sums = asked.evaluate(asked.table, column, ())
    cells = pd.DataFrame({"slice": sums.labels[column].take(sums.group), "sequence": sums.sequence})
    wanted = TRUTH.objects.merge(TRUTH.frames).groupby([column.split("_")[-1], "sequence"]).size()
    assert {*cells["slice"]} == {*wanted.index.get_level_values(0)}
    cells["n"] = [int(wanted.get(key, 0)) for key in zip(cells["slice"], cells["sequence"], strict=True)]
    found = sums.metrics.counted(sums.values)
    assert found[cells["n"] > 0].tolist() == cells["n"][cells["n"] > 0].tolist()
    assert {*found[cells["n"] == 0].tolist()} <= {0.0, 1.0}


@pytest.mark.parametrize(("n", "n_groups"), [(99, 99), (100, 100), (101, 100)])
def test_sequences_are_left_out_one_by_one_up_to_a_hundred(n: int, n_groups: int) -> None:
    sides = [FRAME.head(1).merge(pd.DataFrame({"to": range(n)}), how="cross").assign(score=0.5) for _ in range(2)]
    truth, claims = (side.assign(sequence=side["to"]).drop(columns="to") for side in sides)
    asked = evaluable(sf.average_precision(truth.drop(columns="score"), claims), "")
    assert len(asked.evaluate(asked.table, None, ()).sequence) == n_groups


@pytest.mark.parametrize("claimed", [True, False])
@pytest.mark.parametrize("bins", [3, [0.0, 20.0, 35.0, 90.0]])
def test_bins_of_times_are_those_of_numbers(claimed: bool, bins: int | list[float]) -> None:
    """Whether the predictions have the column, too, or lack it, so that nothing tells whose false alarms are whose."""
    day, start = pd.Timedelta(days=1), pd.Timestamp("2026-01-01")
    sides = [side.assign(age=side["w"], time=start + side["w"].round(3) * day) for side in (TRUTH.objects, CLAIMS)]
    claims = sides[1] if claimed else sides[1].drop(columns=["age", "time"])
    result = sf.average_precision(TRUTH._replace(objects=sides[0]), claims)
    edges = bins if isinstance(bins, int) else [start + edge * day for edge in bins]
    ages, times = (sf.summarize(result, by=by) for by in ({"truth_age": bins}, {"truth_time": edges}))
    pd.testing.assert_frame_equal(times[[*NUMBERS, "n_truth"]], ages[[*NUMBERS, "n_truth"]])
    assert len(ages) == 3
    assert ages["AP"].notna().all() == claimed
    assert ages["AR100"].notna().all()


def test_without_the_only_sequence_of_a_class_the_mean_over_classes_is_null() -> None:
    """As it would be a mean over other classes; numbers of the classes that are left stay."""
    truth = pd.concat([FRAME.assign(category="cat"), FRAME.head(1).assign(sequence=3, category="dog")])
    asked = evaluable(sf.average_precision(truth, truth.assign(score=0.5)), "")
    for by, numbers in ((None, [1.0, np.nan, 1.0]), ("category", [1.0, 1.0, 1.0])):  # the first slice is that of cats
        sums = asked.evaluate(asked.table, by, ())
        for rows, number in zip(([0, 1, 2], [0, 1], [0, 2]), numbers, strict=True):
            some = sums.take(np.array(rows))
            found = some.metrics.numbers(some.totals(), ["AP"])[0, 0]
            assert found == pytest.approx(number, nan_ok=True)
