"""metric(): own metrics give what built-in ones give by the same formula, and say what is wrong with them."""

import inspect
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.boxes import boxes
from helpers.own_metrics import remove_own_metrics
from helpers.problems import refused, warned
from helpers.scenes import SCENES, grid, objects
from spotgeo_frames.matching.options import MatchOptions
from spotgeo_frames.matching.rule import Rule
from spotgeo_frames.presentation.drawing.display import texts
from spotgeo_frames.presentation.page.evaluation import evaluate
from spotgeo_frames.presentation.page.folder import files
from spotgeo_frames.presentation.page.html.blocks import Numbers, Table
from spotgeo_frames.presentation.page.sections import sections_of, tables_behind
from spotgeo_frames.scoring.own_metrics import BUILT_IN_SUMS, TRACK_METRIC_NAMES
from spotgeo_frames.scoring.registry import METRICS, own_metrics, summary_columns
from spotgeo_frames.support.writing import write_together
from spotgeo_frames.tracking import registry as of_tracks

BUILT_IN = list(METRICS)

# Those of a table by distance.
SUMMARY = summary_columns(by_similarity=False)


def nothing(rows: pd.DataFrame) -> dict[str, Any]:
    return {}


def missed(rows: pd.DataFrame) -> dict[str, Any]:
    is_missed = rows["outcome"] == "FN"
    return {"count": is_missed, "brightness": rows["truth_brightness"].where(is_missed, 0.0)}


def mean_brightness(sums: dict[str, np.ndarray]) -> np.ndarray:
    return sums["brightness"] / sums["count"]


def f2(sums: dict[str, np.ndarray]) -> np.ndarray:
    return 5 * sums["tp"] / (5 * sums["tp"] + 4 * sums["fn"] + sums["fp"])


def worked_example() -> pd.DataFrame:
    """TP 2, FN 1, FP 2; the brightness of the truths is 4, 2 and 7, of which the last is missed."""
    truth, predictions = SCENES[0].sides()
    return sf.match(truth.objects.assign(brightness=[4.0, 2.0, 7.0]), predictions)


def two_sequences(name: Callable[[int], Any] = int) -> pd.DataFrame:
    """Sequence 1: a hit of brightness 1, a miss of 3. Sequence 2: a miss of 8, a false alarm. Sequence 3: nothing."""
    truth = objects([(1, 1, 0, 0), (1, 1, 50, 0), (2, 1, 0, 0)], brightness=[1.0, 3.0, 8.0])
    predictions = objects([(1, 1, 1, 0), (2, 1, 90, 0)])
    frames = pd.DataFrame({"sequence": [1, 2, 3], "frame": 1})
    for table in (truth, predictions, frames):
        table["sequence"] = table["sequence"].map(name)
    return sf.match(sf.Annotations(truth, frames), predictions)


def test_values_by_hand() -> None:
    sf.metric("f2", nothing, f2)
    sf.metric("missed_brightness", missed, mean_brightness)
    sf.metric("false_alarms_a_frame", nothing, lambda sums: sums["fp"] / sums["n_frames"], higher_is_better=False)
    found = sf.summarize(worked_example())
    assert found.columns.tolist() == [*SUMMARY, "f2", "missed_brightness", "false_alarms_a_frame"]
    assert found["f2"].tolist() == [10 / 16]
    assert found["missed_brightness"].tolist() == [7.0]
    assert found["false_alarms_a_frame"].tolist() == [2.0]
    matches = two_sequences()
    assert sf.summarize(matches)["missed_brightness"].tolist() == [11 / 2]
    by_sequence = sf.summarize(matches, by="sequence")
    np.testing.assert_array_equal(by_sequence["missed_brightness"], [3.0, 8.0, np.nan])
    np.testing.assert_array_equal(by_sequence["f2"], [5 / 9, 0.0, np.nan])
    assert sf.summarize(matches, exclude=[2])["missed_brightness"].tolist() == [3.0]


@pytest.mark.parametrize("name", ["mse", "recall", "mean_distance"])
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000))
@example(seed=1901)  # a resample whose mean distance is the estimate but for rounding
def test_an_own_metric_equals_the_built_in_one_of_the_same_formula(name: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    truth, predictions = grid(random, 40, 3, 30)
    truth["size"] = random.integers(0, 3, len(truth)).astype(float)
    submissions = {"a": sf.match(truth, predictions), "b": sf.match(truth, predictions.iloc[::2].assign(x=9.0))}
    formulas: dict[str, Any] = {
        "mse": (lambda rows: rows["squared_error"].fillna(0), lambda s: s["own"] / (s["tp"] + s["fn"] + s["fp"])),
        "recall": (lambda rows: rows["outcome"].isin(["TP", "FN"]), lambda s: s["tp"] / s["own"]),
        "mean_distance": (lambda rows: rows["distance"].fillna(0), lambda s: s["own"] / s["tp"]),
    }
    of_row, value = formulas[name]
    try:
        sf.metric("again", lambda rows: {"own": of_row(rows)}, value)
        both = [name, "again"]
        matches = submissions["a"]
        for by in (None, "sequence", "truth_size", {"predicted_x": 3}, ["sequence", "truth_size"]):
            if name == "mse" and by == "sequence":
                continue  # a sequence with nothing to count has a mse of 0
            same(*(sf.summarize(matches, by=by)[column] for column in both))
        for by, method in (
            (None, "percentile"),
            ("truth_size", "percentile"),
            ({"predicted_x": 3}, "percentile"),
        ):
            rows = sf.intervals(matches, by=by, metrics=both, resamples=60, method=method)
            for column in ("estimate", "low", "high"):
                same(*(rows.loc[rows["metric"] == metric, column] for metric in both))
        compared = sf.compare(submissions, metrics=both, resamples=60)
        same(compared.leaderboard[name], compared.leaderboard["again"])
        # The range of an own metric is not known, so its interval is another, and may be null.
        same(*(compared.pairs.loc[compared.pairs["metric"] == metric, "estimate"] for metric in both))
        same(*(sf.leaderboard(submissions)[column] for column in both))
    finally:
        remove_own_metrics()


def same(one: pd.Series, other: pd.Series) -> None:
    np.testing.assert_allclose(one.to_numpy(float), other.to_numpy(float), rtol=1e-9, atol=1e-12)


def test_slices_that_cannot_know_are_null_where_a_metric_uses_what_is_unknown() -> None:
    sf.metric("f2", nothing, f2)
    sf.metric("hits", nothing, lambda sums: sums["tp"])
    sf.metric("of_misses", missed, mean_brightness)
    sf.metric("of_rows", lambda rows: {"rows": np.ones(len(rows))}, lambda sums: sums["rows"])
    sf.metric("error", nothing, lambda sums: sums["squared_error"])
    matches = two_sequences()
    own = own_metrics()
    of_truths = sf.summarize(matches, by="truth_brightness", dropna=False)[own]
    assert of_truths.notna().any().to_dict() == dict(zip(own, [False, True, True, False, False], strict=True))
    assert sf.summarize(matches, by="truth_brightness")["of_misses"].fillna(-1).tolist() == [-1.0, 3.0, 8.0]
    of_predictions = sf.summarize(matches, by="predicted_x")[own]
    assert of_predictions.notna().any().to_dict() == dict(zip(own, [False, True, False, False, False], strict=True))
    rows = sf.intervals(matches, by="truth_brightness", metrics=own, resamples=20).set_index("metric")
    assert rows.loc["of_rows", ["estimate", "low", "high"]].isna().all(axis=None)
    assert rows.loc["hits", "estimate"].tolist() == [1.0, 0.0, 0.0]


def test_sums_are_made_once_for_each_table_and_of_the_rows_that_count() -> None:
    calls = []

    def counting(rows: pd.DataFrame) -> dict[str, Any]:
        calls.append(len(rows))
        return {"rows": np.ones(len(rows), int)}

    matches = two_sequences()
    tables = {"a": matches, "b": matches}
    sf.metric("rows", counting, lambda sums: sums["rows"])
    used: list[tuple[Callable[[], Any], list[int]]] = [
        (lambda: sf.summarize(matches, by=["sequence", "truth_brightness"]), [5]),
        (lambda: sf.summarize(matches, exclude=[2]), [3]),
        (lambda: sf.leaderboard(tables), [5, 5]),
        (lambda: sf.intervals(matches, by="sequence", metrics=["rows"], resamples=50), [5]),
        (lambda: sf.intervals(matches, metrics=["f1"], resamples=50), []),
        (lambda: sf.compare(tables, metrics=["rows"], resamples=50), [5, 5]),
    ]
    for use, expected in used:
        calls.clear()
        use()
        assert calls == expected, inspect.getsource(use)


def test_sums_may_differ_from_table_to_table() -> None:
    """A sum for each value of a column: one table has a value that the other lacks."""

    def by_place(rows: pd.DataFrame) -> dict[str, Any]:
        return {f"at {x}": rows["predicted_x"] == x for x in rows["predicted_x"].dropna().unique()}

    sf.metric("places", by_place, lambda sums: sum(sums[name] > 0 for name in sums if name.startswith("at ")))
    truth = objects([(1, 1, 0, 0), (2, 1, 0, 0)])
    one = objects([(1, 1, 0, 0), (2, 1, 0, 0)])
    submissions = {"one": sf.match(truth, one), "two": sf.match(truth, one.assign(x=[0, 3]))}
    compared = sf.compare(submissions, metrics=["places"], resamples=20)
    assert compared.leaderboard.set_index("name")["places"].to_dict() == {"one": 1.0, "two": 2.0}
    assert compared.pairs["estimate"].abs().tolist() == [1.0]


def test_built_in_numbers_do_not_change() -> None:
    matches = two_sequences()
    tables = {"a": matches, "b": matches}

    def results() -> list[pd.DataFrame]:
        compared = sf.compare(tables, resamples=50)
        sliced = sf.summarize(matches, by="truth_brightness")
        return [sf.summarize(matches), sliced, sf.intervals(matches, resamples=50), compared.pairs]

    before = results()
    sf.metric("f2", nothing, f2)
    sf.metric("missed_brightness", missed, mean_brightness)
    for one, other in zip(before, results(), strict=True):
        pd.testing.assert_frame_equal(one, other[one.columns.tolist()], check_exact=True)


def test_calling_again_replaces_a_metric_and_none_takes_it_out() -> None:
    matches = worked_example()
    sf.metric("f2", nothing, lambda sums: sums["tp"])
    sf.metric("other", nothing, lambda sums: sums["fp"])
    sf.metric("f2", nothing, f2)
    assert own_metrics() == ["f2", "other"]
    assert sf.summarize(matches)["f2"].tolist() == [10 / 16]
    sf.metric("f2", None, None)
    assert own_metrics() == ["other"]
    sf.metric("other", None, None)
    assert list(METRICS) == BUILT_IN
    with refused(("metric", "f2", "none")):
        sf.metric("f2", None, None)


@pytest.mark.parametrize("given", [pl.from_pandas, pa.Table.from_pandas])
def test_functions_get_pandas_whatever_the_table_is(given: Callable[[pd.DataFrame], Any]) -> None:
    sf.metric("missed_brightness", missed, mean_brightness)
    matches = two_sequences()
    plain = given(matches.astype({"outcome": "str"}))
    found = sf.summarize(plain, by="sequence")
    assert type(found) is type(plain)
    assert pd.Series(found["missed_brightness"].to_numpy()).fillna(-1).tolist() == [3.0, 8.0, -1.0]


def test_string_keys() -> None:
    sf.metric("missed_brightness", missed, mean_brightness)
    compared = sf.compare({"a": two_sequences("night {}".format), "b": two_sequences("night {}".format)}, resamples=20)
    assert compared.leaderboard["missed_brightness"].tolist() == [5.5, 5.5]


def test_tables_of_no_rows_of_no_truth_and_of_no_predictions() -> None:
    sf.metric("f2", nothing, f2)
    sf.metric(
        "mean_x", lambda rows: {"x": rows["truth_x"].fillna(0)}, lambda sums: sums["x"] / (sums["tp"] + sums["fn"])
    )
    some, none = objects([(1, 1, 4, 0)]), objects([])
    cases = [(some, none, 0.0, 4.0), (none, some, 0.0, np.nan), (some, some, 1.0, 4.0), (none, none, np.nan, np.nan)]
    for truth, predictions, f2_wanted, x_wanted in cases:
        matches = sf.match(truth, predictions)
        found = sf.summarize(matches)
        np.testing.assert_array_equal(found[["f2", "mean_x"]], [[f2_wanted, x_wanted]])
        assert len(sf.summarize(matches, by="sequence")) == (len(matches) > 0)


def test_after_matching_by_similarity() -> None:
    sf.metric("f2", nothing, f2)
    sf.metric("overlap", nothing, lambda sums: sums["near"] / sums["tp"])
    sf.metric("error", nothing, lambda sums: sums["squared_error"] / sums["tp"])
    found = sf.summarize(sf.match(boxes([(1, 1, 1, 0, 0)]), boxes([(1, 1, 1, 2, 0)])))
    np.testing.assert_allclose(found[["f2", "overlap", "error"]], [[1.0, 80 / 120, np.nan]])


def test_what_functions_do_to_their_arguments_stays_with_them() -> None:
    def careless(rows: pd.DataFrame) -> dict[str, Any]:
        rows.loc[:, "squared_error"] = 0.0
        rows["outcome"] = "TP"
        return {"rows": rows["outcome"] == "TP"}

    def more_careless(sums: dict[str, np.ndarray]) -> np.ndarray:
        sums["tp"] += 100
        sums.clear()
        return np.array([1.0])

    matches = worked_example()
    kept, expected = matches.copy(), sf.summarize(matches)
    for name in ("first", "second"):
        sf.metric(name, careless, more_careless)
    found = sf.summarize(matches)
    pd.testing.assert_frame_equal(matches, kept)
    pd.testing.assert_frame_equal(found[expected.columns.tolist()], expected)
    assert found[["first", "second"]].to_numpy().tolist() == [[1.0, 1.0]]


def test_what_is_not_finite_is_null() -> None:
    sf.metric("odds", nothing, lambda sums: sums["tp"] / (sums["tp"] - sums["tp"]))
    sf.metric("root", nothing, lambda sums: np.sqrt(-sums["tp"]))
    sf.metric("masked", nothing, lambda sums: np.ma.masked_invalid(sums["tp"] / 0))
    assert sf.summarize(worked_example())[["odds", "root", "masked"]].isna().all(axis=None)


def _no_key(rows: pd.DataFrame) -> dict[str, Any]:
    raise KeyError


SUMS_REFUSED: dict[str, tuple[Any, tuple[str, ...]]] = {
    "another missing key": (lambda rows: {"a": {}["b"]}, ("failed: KeyError: 'b'",)),
    "a missing key called like a column": (lambda rows: {"a": {}["truth_h"]}, ("failed: KeyError: 'truth_h'",)),
    "a key error of its own": (_no_key, ("failed: KeyError",)),
    "an unknown name": (lambda rows: {"a": no_such}, ("failed: NameError",)),  # type: ignore[name-defined]  # noqa: F821
    "it raises": (lambda rows: {"a": 1 / 0}, ("failed: ZeroDivisionError: division by zero",)),
    "no dict": (lambda rows: rows["distance"], ("returned a Series", "dict")),
    "a name that is no text": (lambda rows: {1: np.ones(len(rows))}, ("1 is no name",)),
    "a name of all metrics": (lambda rows: {"tp": np.ones(len(rows))}, ("'tp' is a sum that every metric has",)),
    "a single number": (lambda rows: {"a": 1.0}, ("a has the shape ()", "5 rows")),
    "too few": (lambda rows: {"a": np.ones(4)}, ("a has the shape (4,)", "5 rows")),
    "two dimensions": (lambda rows: {"a": np.ones((5, 1))}, ("a has the shape (5, 1)",)),
    "unequal lists": (lambda rows: {"a": [[1], [1, 2]]}, ("a has the shape (2, None)",)),
    "another order": (lambda rows: {"a": rows["distance"].fillna(0).sort_values()}, ("a is a Series", "index")),
    "text": (lambda rows: {"a": rows["outcome"].astype(str)}, ("a is of type",)),
    "objects": (lambda rows: {"a": [None] * len(rows)}, ("a is of type object",)),
    "null": (lambda rows: {"a": rows["truth_brightness"]}, ("2 rows are not finite", "row 3 first", "outcome FP", "0")),
    "null of pandas": (lambda rows: {"a": pd.array([1, 2, 3, 4, None])}, ("1 row is not finite", "row 4")),
    "infinite": (lambda rows: {"a": np.full(len(rows), np.inf)}, ("5 rows are not finite", "row 0", "outcome TP")),
}


@pytest.mark.parametrize("case", SUMS_REFUSED)
def test_sums_that_are_refused(case: str) -> None:
    function, names = SUMS_REFUSED[case]
    sf.metric("mine", function, lambda sums: sums["tp"])
    matches = worked_example()
    uses: list[Callable[[], Any]] = [
        lambda: sf.summarize(matches),
        lambda: sf.intervals(matches, metrics=["mine"]),
        lambda: sf.compare({"a": matches, "b": matches}),
    ]
    for use in uses:
        with pytest.raises(sf.InputError) as caught:
            use()
        [problem] = caught.value.problems
        assert problem.startswith("metric mine: sums")
        assert [name for name in names if name not in problem] == [], problem


VALUES_REFUSED: dict[str, tuple[Any, tuple[str, ...]]] = {
    "a missing sum": (lambda sums: sums["brightnes"], ("asks for the sum 'brightnes'", "brightness")),
    "a sum of another metric": (lambda sums: sums["other.a"], ("asks for the sum 'other.a'", "tp")),
    "it raises": (lambda sums: sums["tp"].no_such, ("failed: AttributeError",)),
    "a single number": (lambda sums: 1.0, ("returned the shape ()", "1 totals")),
    "too many": (lambda sums: np.ones(2), ("returned the shape (2,)", "1 totals")),
    "none": (lambda sums: None, ("returned the shape ()",)),
    "text": (lambda sums: ["much"], ("type <U4",)),
    "complex": (lambda sums: sums["tp"] * 1j, ("type complex128",)),
}


@pytest.mark.parametrize("case", VALUES_REFUSED)
def test_values_that_are_refused(case: str) -> None:
    function, names = VALUES_REFUSED[case]
    sf.metric("other", lambda rows: {"a": np.ones(len(rows))}, lambda sums: sums["a"])
    sf.metric("mine", missed, function)
    with pytest.raises(sf.InputError) as caught:
        sf.summarize(worked_example())
    [problem] = caught.value.problems
    assert problem.startswith("metric mine: value")
    assert [name for name in names if name not in problem] == [], problem


ASKS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "a column": lambda rows: rows["truth_brightness"],
    "a list of columns": lambda rows: rows[["truth_x", "truth_brightness"]].sum(axis=1),
    "a list of missing columns": lambda rows: rows[["truth_brightness", "truth_size"]].sum(axis=1),
    "by label": lambda rows: rows.loc[rows["outcome"] == "FN", "truth_brightness"],
    "an attribute": lambda rows: rows.truth_brightness,
    "an expression": lambda rows: rows.eval("truth_brightness > 3"),
    "a group": lambda rows: rows.groupby("truth_brightness")["truth_x"].transform("size"),
    "text": lambda rows: rows["truth_brightness"].str.len(),
    "polars": lambda rows: pl.from_pandas(rows.astype({"outcome": "str"}))["truth_brightness"],
}


@pytest.mark.parametrize("way", ASKS)
def test_a_metric_that_nobody_named_is_left_out_where_its_column_is_missing(way: str) -> None:
    sf.metric("mine", lambda rows: {"a": ASKS[way](rows)}, lambda sums: sums["a"])
    sf.metric("f2", nothing, f2)
    bare = sf.match(*SCENES[0].sides())
    with warned(("summarize: metric mine is left out", "truth_brightness")):
        found = sf.summarize(bare)
    assert found.columns.tolist() == [*SUMMARY, "f2"]
    with refused(("metric mine: sums", "column", "truth_brightness", "truth_x")):
        sf.intervals(bare, metrics=["mine"])


def test_one_warning_a_call(tmp_path: Path) -> None:
    """Whatever computes all metrics leaves out those whose columns are missing, and says so once."""
    sf.metric("mine", missed, mean_brightness)
    sf.metric("other", lambda rows: {"a": rows["predicted_size"]}, lambda sums: sums["a"])
    truth, found = objects([(k, 1, 0, 0) for k in range(20)]), objects([(k, 1, 1, 0) for k in range(20)])
    bare = sf.match(truth, found)
    tables = {"a": bare, "b": bare}
    left_out = ("metric mine is left out", "metric other is left out", "truth_brightness", "predicted_size")
    uses: list[Callable[[], Any]] = [
        lambda: sf.summarize(bare, by="sequence"),
        lambda: sf.summarize(pl.from_pandas(bare.astype({"outcome": "str"}))),
        lambda: sf.leaderboard(tables),
        lambda: sf.compare(tables, ["f1"], resamples=20),
        lambda: sf.compare(tables, ["f1"], {"truth_x": 2}, resamples=20),
        lambda: sf.sums(bare),
        lambda: sf.Accumulator().update(truth, found).compute(),
        lambda: sf.report(truth, {"one": found}, tmp_path / "page.html"),
        lambda: sf.report(truth, {"one": found, "two": found}, tmp_path / "page.html"),
    ]
    for use in uses:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            use()
        texts = [str(warning.message) for warning in caught if "left out" in str(warning.message)]
        assert len(texts) == 1, inspect.getsource(use)
        assert all(name in texts[0] for name in left_out), inspect.getsource(use)
    with warned():
        sf.intervals(bare)
        sf.non_inferiority(bare, bare, "f1", 0.1)
    named: list[Callable[[], Any]] = [
        lambda: sf.intervals(bare, metrics=["f1", "mine"]),
        lambda: sf.compare(tables, ["f1", "mine"]),
        lambda: sf.compare({"bare": bare, "full": sf.match(truth.assign(brightness=1.0), found)}, ["mine"]),
        lambda: sf.non_inferiority(bare, bare, "mine", 0.1),
        lambda: sf.sample_size(bare, "mine", 0.1),
    ]
    for use in named:
        with refused(("metric mine: sums", "column", "truth_brightness")):
            use()


def test_a_column_that_only_some_submissions_have(tmp_path: Path) -> None:
    truth, found = objects([(k, 1, 0, 0) for k in range(20)]), objects([(k, 1, 1, 0) for k in range(20)])
    sf.metric("size", lambda rows: {"a": rows["predicted_size"]}, lambda sums: sums["a"] / sums["tp"])
    sides = {"sized": found.assign(size=2.0), "bare": found}
    with warned(("leaderboard: metric size is left out", "predicted_size")):
        board = sf.leaderboard({name: sf.match(truth, side) for name, side in sides.items()})
    assert board.set_index("name")["size"].fillna(-1).to_dict() == {"sized": 2.0, "bare": -1.0}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sf.report(truth, sides, tmp_path / "page.html")
    assert sum("metric size is left out" in str(warning.message) for warning in caught) == 1


def test_batches_that_lack_a_column() -> None:
    sf.metric("missed_brightness", missed, mean_brightness)
    truth = objects([(1, 1, 0, 0)], brightness=[2.0])
    total = sf.Accumulator().update(truth, truth)
    other = sf.Accumulator().update(truth.drop(columns="brightness").assign(frame=2), truth.assign(frame=2))
    assert "missed_brightness" in total.compute()
    with warned(("Accumulator: metric missed_brightness is left out", "truth_brightness")):
        found = pickle.loads(pickle.dumps(total.merge(other))).compute()
    assert "missed_brightness" not in found
    assert found["tp"].tolist() == [2]


@pytest.mark.parametrize("name", ["", "my f2", "2f", "f-2", None, 2, "f2\n"])
def test_names_that_are_none(name: Any) -> None:
    with refused(("metric", "is no name")):
        sf.metric(name, nothing, f2)


def test_names_that_are_taken() -> None:
    tracks = [registry for registry in of_tracks.TRACKS_AND_POSES if registry is not of_tracks.TRACK_SIZES]
    assert TRACK_METRIC_NAMES.split() == [name for registry in tracks for name in registry]
    matches = two_sequences()
    compared = sf.compare({"a": matches, "b": matches}, resamples=20)
    scored = objects([(1, 1, 0, 0)], score=[1.0])
    tables = [
        matches,
        sf.diagnose(matches),
        sf.summarize(matches),
        sf.intervals(matches, by="sequence", resamples=20),
        *compared,
        sf.error_costs(sf.diagnose(matches)),
        *sf.sweep(scored, scored),
    ]
    names = {str(column) for table in tables for column in table} - {"n_misses", "n_false_alarms"}
    for name in [*names, *TRACK_METRIC_NAMES.split(), "pair_similarity", "average_precision", "AP50", "f2_low"]:
        with refused(("metric", name)):
            sf.metric(name, nothing, f2)
        with refused(("metric", name)):
            sf.metric(name, None, None)
    assert list(METRICS) == BUILT_IN


@pytest.mark.parametrize(
    ("arguments", "places"),
    [
        ((None, f2), ["metric: f2: sums is None"]),
        ((nothing, None), ["metric: f2: value is None"]),
        (({"a": 1}, "tp"), ["metric: f2: sums is {'a': 1}", "metric: f2: value is 'tp'"]),
        ((nothing, f2, None), ["metric: f2: unit is None"]),
        ((nothing, f2, "px", None), ["metric: f2: higher_is_better is None"]),
        ((nothing, f2, "px", "yes"), ["metric: f2: higher_is_better is 'yes'"]),
    ],
)
def test_arguments_that_are_refused(arguments: tuple[Any, ...], places: list[str]) -> None:
    with refused(*places):
        sf.metric("f2", *arguments)
    assert own_metrics() == []


def test_the_built_in_sums_are_there_whoever_asks() -> None:
    seen: list[set[str]] = []

    def value(sums: dict[str, np.ndarray]) -> np.ndarray:
        assert {array.ndim for array in sums.values()} == {1}
        seen.append({*sums})
        return sums["n_frames"] + sums["n_sequences"]

    sf.metric("mine", nothing, value)
    matches = two_sequences()
    assert sf.summarize(matches)["mine"].tolist() == [6.0]
    found = sf.intervals(matches, metrics=["mine"], resamples=20, method="percentile")
    assert found[["estimate", "low", "high"]].to_numpy().tolist() == [[6.0, 6.0, 6.0]], "as many are drawn as there are"
    pairs = sf.compare({"a": matches, "b": matches}, metrics=["mine"], resamples=20).pairs
    assert pairs[["estimate", "p_value"]].to_numpy().tolist() == [[0.0, 1.0]]
    assert seen == [{*BUILT_IN_SUMS}] * len(seen)
    documented = str(inspect.getdoc(sf.metric))
    assert [name for name in BUILT_IN_SUMS if f"`{name}`" not in documented] == []


def test_tables_and_plots_show_the_label_and_the_unit() -> None:
    sf.metric("missed_brightness", missed, mean_brightness, unit="mag", higher_is_better=False)
    sure = sf.intervals(two_sequences(), by="sequence", metrics=["missed_brightness"], resamples=20)
    assert texts(sure)["estimate"].tolist() == ["3.00", "8.00", "–"]
    assert sf.plots.metric_by_slice(sure).get_xlabel() == "missed brightness, mag"


def test_the_report_has_own_metrics(tmp_path: Path) -> None:
    sf.metric("missed_brightness", missed, mean_brightness, unit="mag", higher_is_better=False)
    truth = objects([(1, 1, 0, 0), (1, 1, 50, 0), (2, 1, 0, 0)], brightness=[1.0, 3.0, 8.0])
    submissions = {"a": sf.Annotations(truth.head(2)), "b": sf.Annotations(truth.head(1))}
    evaluation = evaluate(
        sf.Annotations(truth),
        submissions,
        [{"sequence": None}],
        MatchOptions(),
        Rule("distance", 10.0, 3.0),
        tracks=False,
    )
    sections = sections_of(evaluation)
    blocks = [block for section in sections for block in section.blocks]
    head = next(block for block in blocks if isinstance(block, Numbers)).rows[-1]
    assert (head["label"], head["better"]) == ("missed brightness, mag", "↓")
    assert [cell["estimate"] for cell in head["cells"]] == ["8.00", "5.50"]
    [of_sequences] = [block for block in blocks if isinstance(block, Table) and block.caption == "By sequence"]
    assert of_sequences.titles[-1] == "missed brightness, mag"
    assert evaluation.compared is not None
    assert "missed_brightness" in evaluation.compared.pairs["metric"].tolist()
    write_together(files(tables_behind(evaluation, sections), evaluation.rule, tmp_path, {}))
    assert "| `missed_brightness` | float64 | mag, a metric of your own |" in (tmp_path / "README.md").read_text(
        "utf-8"
    )


def test_datasets_leave_own_metrics_out_and_say_so(tmp_path: Path) -> None:
    sf.metric("missed_brightness", missed, mean_brightness)
    truth, predictions = tmp_path / "truth.parquet", tmp_path / "predictions.parquet"
    objects([(1, 1, 0, 0), (1, 1, 50, 0), (2, 1, 0, 0)], brightness=[1.0, 3.0, 8.0]).to_parquet(truth)
    objects([(1, 1, 1, 0), (2, 1, 90, 0)]).to_parquet(predictions)
    with warned("metrics of your own are not computed for datasets: missed_brightness"):
        summary = sf.score_dataset(truth, predictions, out=tmp_path / "run")
    assert "missed_brightness" not in summary
    kept = sf.summarize(pd.read_parquet(tmp_path / "run" / "matches"))
    assert kept["missed_brightness"].tolist() == [11 / 2]
