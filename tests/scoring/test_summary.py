"""summarize() and leaderboard(): numbers, slices, and what slices cannot know."""

import warnings
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.kinds import plain
from helpers.pandas_versions import quantile_bins
from helpers.problems import refused, warned
from helpers.scenes import SCENES, grid, objects
from spotgeo_frames.scoring.registry import summary_columns
from spotgeo_frames.scoring.summary import few_marked, held_by_few, rests_on_few

NUMBERS = summary_columns(by_similarity=False)
TRUTH = objects(
    [(1, 1, 0, 0), (1, 1, 50, 0), (1, 2, 0, 0), (2, 1, 0, 0), (2, 1, 90, 90)],
    brightness=[1.0, 2.0, 3.0, 4.0, np.nan],
)
PREDICTIONS = objects(
    [(1, 1, 4, 0), (1, 1, 200, 0), (1, 2, 0, 1), (2, 1, 0, 5), (2, 1, 300, 0)], score=[0.9, 0.2, 0.8, 0.7, np.nan]
)
FRAMES = pd.DataFrame(
    {"sequence": [1, 1, 2, 2, 3], "frame": [1, 2, 1, 2, 1], "sky": ["dark", "dark", "bright", "bright", "dark"]}
)
MATCHES = sf.match(sf.Annotations(TRUTH, FRAMES), PREDICTIONS)


def test_every_number_by_hand() -> None:
    [row] = sf.summarize(MATCHES).to_dict("records")
    assert row == pytest.approx(
        {
            "tp": 3,
            "fn": 2,
            "fp": 2,
            "precision": 3 / 5,
            "recall": 3 / 5,
            "f1": 3 / 5,
            "mse": (16 + 0 + 25 + 4 * 100) / 7,
            "kelvins_mse": (4 + 200 + 0) / 4 + (5 + 200) / 3,
            "det_a": 3 / 7,
            "mean_distance": (4 + 1 + 5) / 3,
            "rmse": np.sqrt((16 + 1 + 25) / 3),
            "n_sequences": 3,
            "n_frames": 5,
            "n_truth": 5,
            "n_predicted": 5,
        }
    )
    assert list(row) == NUMBERS
    assert sf.summarize(MATCHES).attrs == MATCHES.attrs


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_scenes_add_up(scene) -> None:
    row = sf.summarize(sf.match(*scene.sides())).loc[0]
    counts = [[outcome for outcome, *_ in scene.outcomes].count(kind) for kind in ("TP", "FN", "FP")]
    assert [row["tp"], row["fn"], row["fp"]] == counts
    errors = [error for *_, error, _ in scene.outcomes if error is not None]
    assert row["mse"] == pytest.approx(sum(errors) / len(errors) if errors else 0)


def test_nothing_to_divide_by() -> None:
    nothing = sf.summarize(MATCHES, by="sequence").set_index("sequence").loc[3]
    assert nothing[["precision", "recall", "f1", "det_a", "mean_distance", "rmse"]].isna().all()
    assert nothing[["mse", "kelvins_mse", "tp", "fn", "fp"]].tolist() == [0, 0, 0, 0, 0]
    missed = sf.summarize(sf.match(objects([(1, 1, 0, 0)]), objects([]))).loc[0]
    assert missed.isna().to_dict()["precision"]
    assert missed["f1"] == missed["recall"] == 0


def test_no_rows_at_all() -> None:
    empty = sf.match(objects([]), objects([]))
    [row] = sf.summarize(empty).to_dict("records")
    assert (row["tp"], row["n_frames"], row["mse"], row["kelvins_mse"]) == (0, 0, 0, 0)
    assert pd.isna(row["f1"])
    assert len(sf.summarize(empty, by="sequence")) == 0


def test_slices_are_rows_and_columns_stay_columns() -> None:
    by_sky = sf.summarize(MATCHES, by="frame_sky")
    assert by_sky.columns.tolist() == ["frame_sky", *NUMBERS]
    assert by_sky["frame_sky"].tolist() == ["bright", "dark"]
    assert by_sky["n_frames"].tolist() == [2, 3]
    assert by_sky["n_sequences"].tolist() == [1, 2]
    assert by_sky["tp"].tolist() == [1, 2]
    assert isinstance(by_sky.index, pd.RangeIndex)


def test_crossed_slices() -> None:
    crossed = sf.summarize(MATCHES, by=["frame_sky", "sequence"])
    assert crossed[["frame_sky", "sequence"]].to_numpy().tolist() == [["bright", 2], ["dark", 1], ["dark", 3]]
    assert crossed["tp"].tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    "by", ["sequence", "frame", "frame_n_truth", "frame_sky", ["sequence", "frame"], ["frame_sky", "frame"]]
)
def test_slices_are_the_summary_of_their_rows(by) -> None:
    shuffled = MATCHES.sample(frac=1, random_state=1)
    for matches in (MATCHES, shuffled):
        slices = sf.summarize(matches, by=by)
        names = [by] if isinstance(by, str) else by
        for _, row in slices.iterrows():
            part = MATCHES[(MATCHES[names] == row[names]).all(axis=1)]
            pd.testing.assert_frame_equal(
                row[NUMBERS].to_frame().T.astype("float64").reset_index(drop=True),
                sf.summarize(part).astype("float64"),
            )


def test_slices_of_truths_know_no_false_positives() -> None:
    slices = sf.summarize(MATCHES, by=pd.cut(MATCHES["truth_brightness"], [0, 2, 4]))
    assert slices.columns[0] == "truth_brightness"
    unknown = ["fp", "n_predicted", "precision", "f1", "mse", "kelvins_mse", "det_a"]
    assert slices[unknown].isna().all(axis=None)
    assert slices["recall"].tolist() == [0.5, 1.0]
    assert slices["mean_distance"].tolist() == [4, 3]
    assert slices["n_truth"].tolist() == [2, 2]


def test_slices_of_predictions_know_no_misses() -> None:
    slices = sf.summarize(MATCHES, by="predicted_score")
    unknown = ["fn", "n_truth", "recall", "f1", "mse", "kelvins_mse", "det_a"]
    assert slices[unknown].isna().all(axis=None)
    assert slices["precision"].tolist() == [0, 1, 1, 1]
    both = sf.summarize(MATCHES, by=["truth_brightness", "predicted_score"])
    assert both[[*unknown, "fp", "n_predicted", "precision"]].isna().all(axis=None)
    assert both["tp"].tolist() == [1, 1, 1]


def test_without_false_positives_a_slice_of_truths_knows_all() -> None:
    matches = MATCHES[MATCHES["outcome"] != "FP"].drop(columns="frame_n_predicted")  # as if there had never been any
    assert sf.summarize(matches, by="truth_brightness")["precision"].tolist()[0] == 1
    assert sf.summarize(matches, by="truth_brightness")["fp"].tolist() == [0, 0, 0, 0]


def test_slices_that_nothing_is_in() -> None:
    some, nothing = objects([(1, 1, 0, 0)]), objects([])
    missed, false = sf.match(some, nothing), sf.match(nothing, some)
    for matches, by in [(false, "truth_x"), (missed, "predicted_x"), (missed, "distance")]:
        slices = sf.summarize(matches, by=by)
        assert len(slices) == 0
        assert slices.columns.tolist() == [by, *NUMBERS]


@pytest.mark.filterwarnings("ignore:.*belongs to truths")  # by chance
@pytest.mark.parametrize(
    "values",
    [
        [True, False, True, True, False, False, True, False, True],
        pd.to_datetime(["2020-01-02", "2020-01-01", "2020-01-02"] * 3),
        pd.array([1, None, 2] * 3, "Int64"),
        pd.Categorical(["b", "a", "b"] * 3, categories=["b", "a", "c"], ordered=True),
        [0.5, 0.25, 0.75] * 3,
    ],
)
def test_slices_by_values_of_any_kind(values) -> None:
    by = pd.Series(values, index=MATCHES.index, name="kind")
    slices = sf.summarize(MATCHES, by=by)
    expected = MATCHES.groupby(by, observed=True)["outcome"].agg(lambda some: (some == "TP").sum())
    assert slices["kind"].tolist() == expected.index.tolist()
    assert slices["tp"].tolist() == expected.tolist()


def test_outcomes_as_other_categories_or_strings() -> None:
    for outcome in (MATCHES["outcome"].astype("str"), MATCHES["outcome"].astype("str").astype("category")):
        pd.testing.assert_frame_equal(sf.summarize(MATCHES.assign(outcome=outcome)), sf.summarize(MATCHES))


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint32", "uint64", "Int8"])
def test_narrow_integers_are_grouped_by_as_wide_ones(kind: str) -> None:
    random = np.random.default_rng(4)
    values = {name: pd.Series(random.integers(0, 100, 9), MATCHES.index, name=name) for name in ("a", "b")}
    narrow = [column.astype(kind) for column in values.values()]
    wide = sf.summarize(MATCHES, by=list(values.values()))
    pd.testing.assert_frame_equal(sf.summarize(MATCHES, by=narrow), wide, check_dtype=False)
    one = sf.summarize(MATCHES, by=values["a"] // 40)
    pd.testing.assert_frame_equal(sf.summarize(MATCHES, by=narrow[0] // 40), one, check_dtype=False)
    mixed = [narrow[0], values["b"] * 1000]
    pd.testing.assert_frame_equal(
        sf.summarize(MATCHES, by=mixed), sf.summarize(MATCHES, by=[values["a"], mixed[1]]), check_dtype=False
    )


@pytest.mark.parametrize("kind", ["int16", "uint32", "uint64"])
def test_match_tables_with_narrow_keys(kind: str) -> None:
    truth = objects([(1, 5, 0, 0), (257, 5, 0, 0), (2, 255, 0, 0)])
    matches = sf.match(truth, truth)
    narrow = matches.astype({"sequence": kind, "frame": kind}).sample(frac=1, random_state=2)
    pd.testing.assert_frame_equal(sf.summarize(narrow), sf.summarize(matches))
    by_sequence = sf.summarize(narrow.astype({"frame": "int64"}), by="sequence")
    pd.testing.assert_frame_equal(by_sequence, sf.summarize(matches, by="sequence"), check_dtype=False)


def test_null_slices_on_demand() -> None:
    slices = sf.summarize(MATCHES, by="truth_brightness", dropna=False)
    assert slices["truth_brightness"].isna().tolist() == [False] * 4 + [True]
    assert slices["precision"].isna().all()
    sky = MATCHES.assign(frame_sky=MATCHES["frame_sky"].where(MATCHES["sequence"] != 1))
    assert sf.summarize(sky, by="frame_sky")["precision"].tolist()[0] == pytest.approx(0.5)
    assert sf.summarize(sky, by="frame_sky", dropna=False)["tp"].tolist() == [1, 0, 2]


def test_bins_keep_their_order_and_empty_ones_are_left_out() -> None:
    bins = pd.cut(MATCHES["frame_n_truth"], [-1, 0, 1, 2, 10, 100], labels=["none", "one", "two", "some", "many"])
    assert sf.summarize(MATCHES, by=bins)["frame_n_truth"].astype(str).tolist() == ["none", "one", "two"]


def test_excluded_sequences() -> None:
    without = sf.summarize(MATCHES[MATCHES["sequence"] != 2])
    for same in ([2], iter([2]), np.array([2], np.int32), {np.uint8(2)}, pl.Series([2])):
        pd.testing.assert_frame_equal(sf.summarize(MATCHES, exclude=same), without)
    assert sf.summarize(MATCHES, exclude=range(1, 3))["n_sequences"].item() == 1
    for kind in ("Int64", "float64", "object", "category"):  # what merges and other tools make of integers
        others = MATCHES.astype({"sequence": kind})
        assert sf.summarize(others, exclude=[1, 2])["n_sequences"].item() == 1
        with refused(("exclude: '2'", "integers")):
            sf.summarize(others, exclude=["2"])
    with refused(("exclude: '2'", "integers")):
        sf.summarize(MATCHES, exclude=["2"])
    for wrong in (2.0, True, None):
        with refused((f"exclude: {wrong!r}", type(wrong).__name__)):
            sf.summarize(MATCHES, exclude=[wrong])
    named = MATCHES.assign(sequence=MATCHES["sequence"].astype(str))
    with refused((r"exclude: 'f\udce9e'", "UTF-8")):  # as the shell hands over another encoding
        sf.summarize(named, exclude=["f\udce9e"])


def test_sequences_to_leave_out_that_are_not_there_are_named() -> None:
    without = sf.summarize(MATCHES[MATCHES["sequence"] != 2])
    with warned(("summarize: exclude", f"99, {1 << 70}")) as caught:
        pd.testing.assert_frame_equal(sf.summarize(MATCHES, exclude=[2, 99, 1 << 70]), without)
    assert caught[0].filename == __file__
    # What one of several tables has is there.
    tables = {"both": MATCHES, "one": MATCHES[MATCHES["sequence"] != 2]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sf.leaderboard(tables, exclude=[2])
    few = ("compare: fewer than 20 sequences", "0.5")
    with warned(few):
        sf.compare({"a": MATCHES, "b": MATCHES}, exclude=iter([2]), resamples=10)
    few = ("compare: fewer than 20 sequences", "0.25")
    for function, others in ((sf.leaderboard, []), (sf.compare, [few])):
        with warned((f"{function.__name__}: exclude", "98"), *others) as caught:
            function({"a": MATCHES, "b": MATCHES}, exclude=[98])
        assert {warning.filename for warning in caught} == {__file__}


def test_every_way_to_say_by() -> None:
    x = MATCHES["truth_x"].rename("x")
    bins = quantile_bins(x, 3).rename("truth_x")
    frame = MATCHES["frame"]
    for same in ("frame", frame, pl.Series("frame", frame.to_list()), ["frame"], ("frame",), {"frame": None}):
        pd.testing.assert_frame_equal(sf.summarize(MATCHES, by=same), sf.summarize(MATCHES, by="frame"))
    pd.testing.assert_frame_equal(sf.summarize(MATCHES, by={"truth_x": 3}), sf.summarize(MATCHES, by=bins))
    crossed = sf.summarize(MATCHES, by=[bins, "frame"])
    pd.testing.assert_frame_equal(sf.summarize(MATCHES, by={"truth_x": np.int64(3), "frame": None}), crossed)
    for function in (sf.intervals, sf.bias):
        pd.testing.assert_frame_equal(function(MATCHES, by={"truth_x": 3}), function(MATCHES, by=bins))
    assert "by" in sf.summarize(pl.from_pandas(MATCHES), by=pl.Series(frame.to_list()))
    for wrong in (1, True):
        with refused(("by: truth_x", str(wrong))):
            sf.summarize(MATCHES, by={"truth_x": wrong})
    with refused(("by", "Series frame", "2 values")):
        sf.summarize(MATCHES, by=pl.Series("frame", [1, 2]))
    with refused(("by", "DataFrame")):
        sf.summarize(MATCHES, by=MATCHES[["frame"]])


def test_columns_that_are_not_there() -> None:
    with refused(("match table", "column brightness", "did you mean", "truth_brightness")):
        sf.summarize(MATCHES, by="brightness")
    with refused(("by", "Series sequence", "index")):
        sf.summarize(MATCHES, by=MATCHES["sequence"].head(3))
    with refused("by: sequence, sequence"):
        sf.summarize(MATCHES, by=["sequence", "sequence"])
    with refused("by: tp"):
        sf.summarize(MATCHES, by=MATCHES["sequence"].rename("tp"))
    for by in (np.arange(9), 5, [5]):
        with refused(("by", "int64" if isinstance(by, np.ndarray) else "int")):
            sf.summarize(MATCHES, by=by)
    for exclude in (1, "a"):
        with refused(("exclude", repr(exclude))):
            sf.summarize(MATCHES, exclude=exclude)
    with refused(("match table: column distance", "str")):
        sf.summarize(MATCHES.assign(distance="far"))
    with refused("match table: column outcome"):
        sf.summarize(MATCHES.drop(columns="outcome"))
    with refused(("match table: column outcome", "1 row", "'tp'")):
        sf.summarize(MATCHES.assign(outcome=["tp", *MATCHES["outcome"].tolist()[1:]]))


def test_leaderboard_in_the_competitions_order() -> None:
    truth = objects([(1, 1, 0, 0), (1, 1, 50, 0)])
    near, far, none = objects([(1, 1, 0, 0)]), objects([(1, 1, 5, 0)]), objects([(1, 1, 500, 0)])
    board = sf.leaderboard(
        {name: sf.match(truth, some) for name, some in zip("abcd", (none, far, near, far), strict=True)}
    )
    assert board[["rank", "name"]].to_numpy().tolist() == [[1, "c"], [2, "b"], [2, "d"], [4, "a"]]
    bounds = [f"{name}_{end}" for name in ("f1", "kelvins_mse") for end in ("low", "high")]
    assert board.columns.tolist() == ["rank", "name", *NUMBERS, *bounds, "reason"]
    assert board["reason"].str.contains("only one sequence").all()
    assert board[bounds].isna().all(axis=None), "nothing tells how other sequences differ"
    assert board.attrs == sf.match(truth, near).attrs
    assert sf.leaderboard({"a": sf.match(truth, near)}, exclude=[1])["n_sequences"].item() == 0
    with refused(("leaderboard", "a with rule distance, tau 10.0", "b with rule distance, tau 5.0")):
        sf.leaderboard({"a": sf.match(truth, near), "b": sf.match(truth, near, tau=5)})
    elsewhere = pl.from_pandas(sf.match(truth, near))  # which knows no attrs
    assert sf.leaderboard({"a": elsewhere, "b": sf.match(truth, far)})["name"].to_list() == ["a", "b"]
    for wrong, kind in (({}, "empty"), ([sf.match(truth, near)], "list"), (sf.match(truth, near), "DataFrame")):
        with refused(("leaderboard: matches", kind, "a dict")):
            sf.leaderboard(wrong)
    with pytest.raises(sf.InputError, match="leaderboard: matches: b: is of type int"):
        sf.leaderboard({"a": elsewhere, "b": 5})  # type: ignore[dict-item]


SQL = """
    with s as (
        select sequence, avg(kelvins_error) as k from m group by sequence
    ), t as (
        select count(*) filter (outcome = 'TP') as tp, count(*) filter (outcome = 'FN') as fn,
               count(*) filter (outcome = 'FP') as fp, coalesce(avg(squared_error), 0) as mse,
               count(distinct sequence) as n_sequences
        from m
    )
    select tp, fn, fp, tp / (tp + fp) as precision, tp / (tp + fn) as recall, mse,
           (select coalesce(sum(k), 0) from s) as kelvins_mse, n_sequences
    from t
"""


def test_parquet_and_sql_give_the_same_numbers(tmp_path: Path) -> None:
    truth, predictions = grid(np.random.default_rng(1), 200, 5, 40)
    matches = sf.match(truth, predictions)
    path = tmp_path / "matches.parquet"
    matches.to_parquet(path)
    m = duckdb.read_parquet(str(path))  # the query finds it by this name
    [row] = m.query("m", SQL).df().to_dict("records")
    assert row == pytest.approx({name: sf.summarize(matches)[name].item() for name in row})
    for back in (pd.read_parquet(path), pl.read_parquet(path), m):
        for by in (None, "sequence"):
            assert plain(sf.summarize(back, by)) == plain(sf.summarize(matches, by))
    assert pd.read_parquet(path).attrs == matches.attrs


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_parts_add_up(seed: int, cut: int) -> None:
    truth, predictions = grid(np.random.default_rng(seed), 60, 4, 30)
    matches = sf.match(truth, predictions)
    whole = sf.summarize(matches).loc[0]
    parts = pd.concat([sf.summarize(matches[matches["sequence"] % cut == k]) for k in range(cut)])
    adding = ["tp", "fn", "fp", "kelvins_mse", "n_sequences", "n_frames", "n_truth", "n_predicted"]
    assert parts[adding].sum().to_dict() == pytest.approx(whole[adding].to_dict())


def test_which_rows_rest_on_few_sequences() -> None:
    """A star in each of 21 sequences, a moon in 20 and a comet in 3."""
    kinds = [("star", 21), ("moon", 20), ("comet", 3)]
    rows = [(n, 1, 100.0 * place, 5.0) for place, (_, most) in enumerate(kinds) for n in range(most)]
    truth = objects(rows).assign(body=[kind for kind, most in kinds for _ in range(most)])
    matches = sf.match(truth, truth.drop(columns="body"))
    by_body = sf.summarize(matches, by="truth_body")
    assert by_body[["truth_body", "n_sequences"]].to_numpy().tolist() == [["comet", 3], ["moon", 20], ["star", 21]]
    assert rests_on_few(by_body).tolist() == [True, False, False]
    assert not rests_on_few(sf.summarize(matches, by="sequence")).any(), "each row is a sequence"
    assert not rests_on_few(by_body.drop(columns="n_sequences")).any()
    marked, any_few = few_marked(by_body.astype(str), by_body)
    assert marked["n_sequences"].tolist() == ["3 (few)", "20", "21"]
    assert any_few
    assert not few_marked(by_body[1:].astype(str), by_body[1:])[1]


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([50, 30, 20], "sequence a holds 50% of the true objects"),
        ([10, 39, 26, 25], "sequences b and c hold 65% of the true objects"),
        ([34, 33, 33], None),  # of three, two always hold most
        ([60, 40], None),
        ([30, 25, 25, 20], None),
        ([0, 0, 0], None),
    ],
)
def test_one_or_two_sequences_that_hold_most_are_named(counts: list[int], words: str | None) -> None:
    held = held_by_few("abcd"[: len(counts)], np.array(counts))
    assert held == (words and f"{words}, and so much of every combined number")
