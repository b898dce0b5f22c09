"""Quantile bins are the same wherever numbers can be sliced: in Python, in datasets, in reports and in commands."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.commands import answer_here, refused_here
from helpers.pandas_versions import quantile_bins
from helpers.problems import refused
from spotgeo_frames.support.texts import bins_as_text

pytestmark = pytest.mark.filterwarnings("ignore:.*(fewer than|only one|null low):UserWarning")

# Ties on edges, values between them, whole numbers, and few distinct ones; nulls are in no bin.
VALUES = st.one_of(
    st.lists(st.integers(0, 4), min_size=8, max_size=40),
    st.lists(st.sampled_from([0.1, 0.25, 7.5, None, float("nan")]), min_size=8, max_size=40),
    st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 4)), min_size=8, max_size=40),
).filter(lambda values: len({*pd.Series(values, dtype=float).dropna()}) > 1)


def scene(values: list[Any]) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Four truths a sequence, each with its value; one submission finds all, another the first of each sequence."""
    n = np.arange(len(values))
    truth = pd.DataFrame({"sequence": n // 4, "frame": 1, "object": n % 4, "x": 100.0 * (n % 4), "y": 0.0, "v": values})
    found = truth.drop(columns="v").assign(score=n / 7)
    return truth, {"all": found, "first": found[found["object"] == 0]}


def labels(table: Any, column: str = "truth_v") -> list[str]:
    """The labels of the slices in the order of their rows, each once."""
    if isinstance(table, pd.DataFrame):
        return [str(text) for text in bins_as_text(table)[column].drop_duplicates()]
    return list(dict.fromkeys(map(str, table[column].to_pylist() if isinstance(table, pa.Table) else table[column])))


def expected(values: Any, bins: int) -> list[str]:
    """What `pandas.qcut` makes of them, without empty bins."""
    cut = quantile_bins(pd.Series(values, dtype=float, name="v") + 0.0, bins)  # -0.0 is 0.0
    return labels(cut.dropna().sort_values().to_frame(), "v")


def in_memory(truth: pd.DataFrame, sides: dict[str, pd.DataFrame], bins: Any) -> Iterator[tuple[str, list[str]]]:
    """The labels of slices by every function that takes match tables."""
    by = {"truth_v": bins}
    matched = {name: sf.match(truth, side) for name, side in sides.items()}
    for name, matches in matched.items():
        yield f"summarize {name}", labels(sf.summarize(matches, by=by))
        yield f"polars {name}", labels(sf.summarize(pl.from_pandas(matches), by=by))
        yield f"pyarrow {name}", labels(sf.summarize(pa.Table.from_pandas(matches), by=by))
        yield f"intervals {name}", labels(sf.intervals(matches, by=by, metrics=["recall"]))
        yield f"tracks {name}", labels(sf.summarize(sf.track(truth, sides[name], tau=10).matches, by=by))
    yield "bias", labels(sf.bias(matched["all"], by=by))
    compared = sf.compare(matched, ["recall"], by=by, resamples=5)
    yield "leaderboard", labels(compared.leaderboard)
    yield "pairs", labels(compared.pairs)


@settings(max_examples=8)
@given(VALUES, st.integers(2, 9))
def test_functions_of_tables_make_the_same_bins(values: list[Any], bins: int) -> None:
    wanted = expected(values, bins)
    for path, found in in_memory(*scene(values), bins):
        assert found == wanted, path


def test_files_datasets_reports_and_commands_make_the_same_bins(tmp_path: Path) -> None:
    """Scores differ between submissions, so in a report their bins are those of all predictions together."""
    values = np.random.default_rng(3).uniform(0, 50, 48).round(1).tolist()
    truth, sides = scene([None, *values[1:]])
    paths = {name: str(tmp_path / f"{name}.parquet") for name in ("truth", *sides)}
    for name, table in {"truth": truth, **sides}.items():
        table.to_parquet(paths[name])
    by: dict[str, int | None] = {"truth_v": 5}
    wanted = expected(truth["v"], 5)
    assert labels(sf.score_dataset(paths["truth"], paths["all"], by=by)) == wanted
    scored = answer_here("score", paths["truth"], paths["first"], "--by", "truth_v:5")
    assert [row["value"] for row in scored["by"]["truth_v"]] == wanted
    compared = answer_here("compare", *paths.values(), "--by", "truth_v:5")
    assert list(dict.fromkeys(row["truth_v"] for row in compared["leaderboard"])) == wanted
    sf.report(truth, sides, tmp_path / "page.html", by=by | {"predicted_score": 4}, tables=tmp_path / "tables")
    assert labels(pd.read_parquet(tmp_path / "tables" / "by_truth_v.parquet")) == wanted
    scores = pd.concat([side["score"] for side in sides.values()])
    by_score = pd.read_parquet(tmp_path / "tables" / "by_predicted_score.parquet")
    assert {*labels(by_score, "predicted_score")} == {*expected(scores, 4)}
    matches = sf.match(truth, sides["first"])
    worst = sf.worst_slices(matches, ["truth_v"], bins=5, min_sequences=2, rate=1)
    assert {*worst["slice"]} <= {f"truth_v {label}" for label in wanted}


@pytest.mark.parametrize(
    ("values", "edges", "text", "wanted"),
    [
        ([*range(48)], [0, 10, np.inf], "0,10,inf", ["0 to 10", "10 to inf"]),
        ([None, *range(5, 52)], [-np.inf, 7.25, 20, 40], "-inf,7.25,20,40", ["-inf to 7.25", "7.25 to 20", "20 to 40"]),
        (
            [None, *pd.date_range("2024-01-01", periods=47, freq="5h")],
            ["2024-01-02", "2024-01-05", "2024-01-08 12:00"],
            "2024-01-02,2024-01-05,2024-01-08 12:00",
            ["2024-01-02 00:00:00 to 2024-01-05 00:00:00", "2024-01-05 00:00:00 to 2024-01-08 12:00:00"],
        ),
    ],
    ids=["numbers", "nulls", "times"],
)
def test_edges_of_the_callers_are_the_same_everywhere(
    values: list[Any], edges: list[Any], text: str, wanted: list[str], tmp_path: Path
) -> None:
    truth, sides = scene(values)
    for path, found in in_memory(truth, sides, edges):
        assert found == wanted, path
    matches, by = sf.match(truth, sides["first"]), {"truth_v": edges}
    parts = [matches[matches["sequence"] % 2 == k] for k in range(2)]
    assert sf.combine([sf.sums(part, by=by) for part in parts])["truth_v"].tolist() == wanted
    paths = {name: str(tmp_path / f"{name}.parquet") for name in ("truth", *sides)}
    for name, table in {"truth": truth, **sides}.items():
        table.to_parquet(paths[name])
    summary = sf.summarize(matches, by=by)
    counts = summary[["tp", "fn"]].to_numpy().tolist()
    found = sf.score_dataset(paths["truth"], paths["first"], by=by)
    assert labels(found) == wanted
    assert found[["tp", "fn"]].to_numpy().tolist() == counts
    for dataset in ([], ["--dataset"]):
        answer = answer_here("score", paths["truth"], paths["first"], "--by", f"truth_v:{text}", *dataset)
        rows = answer["by"]["truth_v"]
        assert [row["value"] for row in rows] == wanted
        assert [[row["tp"], row["fn"]] for row in rows] == counts
    compared = answer_here("compare", *paths.values(), "--by", f"truth_v:{text}")
    assert list(dict.fromkeys(row["truth_v"] for row in compared["leaderboard"])) == wanted
    sf.report(truth, sides, tmp_path / "page.html", by=by, tables=tmp_path / "tables")
    assert labels(pd.read_parquet(tmp_path / "tables" / "by_truth_v.parquet")) == wanted


def test_times_have_the_same_quantile_bins_everywhere(tmp_path: Path) -> None:
    values = [None, *pd.date_range("2024-01-01", periods=47, freq="5h")]
    truth, sides = scene(values)
    paths = [str(tmp_path / f"{name}.parquet") for name in ("truth", "all")]
    for path, table in zip(paths, (truth, sides["all"]), strict=True):
        table.to_parquet(path)
    bins = pd.qcut(truth["v"], 3).value_counts(sort=False)
    wanted = [f"{values[1]} to {bins.index[0].right}", *(f"{bin.left} to {bin.right}" for bin in bins.index[1:])]
    for path, found in in_memory(truth, sides, 3):
        assert found == wanted, path
    found = sf.score_dataset(*paths, by={"truth_v": 3})
    assert labels(found) == wanted
    assert found["n_truth"].tolist() == bins.tolist()


def test_average_precision_has_edges() -> None:
    truth, sides = scene([*range(40)])
    boxes = truth.assign(w=10.0, h=10.0)
    claims = sides["all"].assign(w=10.0, h=10.0, v=[*range(5, 45)])
    found = sf.average_precision(boxes, claims, by={"truth_v": [-1, 9, 30]}).summary
    assert labels(found) == ["-1 to 9", "9 to 30"]
    times = pd.Timestamp("2024-01-01") + pd.to_timedelta(boxes["v"], unit="D")
    for side in (claims, claims.drop(columns="v"), claims.assign(v=times + pd.Timedelta("5D"))):
        found = sf.average_precision(boxes.assign(v=times), side, by={"truth_v": ["2024-01-01", "2024-01-11"]}).summary
        assert labels(found) == ["2024-01-01 00:00:00 to 2024-01-11 00:00:00"]


@pytest.mark.parametrize("text", ["v:5,0", "v:0,", "v:1,a", "v:,", "v:nan,1", "v:1,1"])
def test_edges_that_are_none_are_wrong_usage(text: str) -> None:
    problems = refused_here("score", "truth.parquet", "found.parquet", "--by", text, status=2)
    assert any("--by: v" in problem for problem in problems)


def test_excluded_sequences_are_in_no_bin(tmp_path: Path) -> None:
    truth, sides = scene([*range(900, 908), *range(40)])
    matches, exclude = sf.match(truth, sides["all"]), [0, 1]
    wanted = expected(range(40), 4)
    by: dict[str, int | None] = {"truth_v": 4}
    assert labels(sf.summarize(matches, by=by, exclude=exclude)) == wanted
    everything = {name: sf.match(truth, side) for name, side in sides.items()}
    assert labels(sf.compare(everything, ["recall"], by=by, exclude=exclude, resamples=5).pairs) == wanted
    truth.to_parquet(tmp_path / "truth.parquet")
    sides["all"].to_parquet(tmp_path / "all.parquet")
    paths = tmp_path / "truth.parquet", tmp_path / "all.parquet"
    assert labels(sf.score_dataset(*paths, by=by, exclude=exclude)) == wanted
    assert [
        row["value"] for row in answer_here("score", *paths, "--by", "truth_v:4", "--exclude", "0,1")["by"]["truth_v"]
    ] == wanted
    series = matches["truth_v"].rename("mine")
    pd.testing.assert_frame_equal(
        sf.summarize(matches, by=series, exclude=exclude),
        sf.summarize(matches[matches["sequence"] > 1], by=series[matches["sequence"] > 1]),
    )


def test_crowds_are_in_no_bin(tmp_path: Path) -> None:
    """Crowds are no rows of the match table; which predictions they explain is known only after matching."""
    truth, sides = scene(list(range(40)))
    truth["crowd"] = truth["object"] == 3
    paths = tmp_path / "truth.parquet", tmp_path / "all.parquet"
    truth.to_parquet(paths[0])
    sides["all"].to_parquet(paths[1])
    wanted = expected(truth.loc[~truth["crowd"], "v"], 4)
    assert labels(sf.summarize(sf.match(truth, sides["all"]), by={"truth_v": 4})) == wanted
    assert labels(sf.score_dataset(*paths, by={"truth_v": 4})) == wanted
    with refused(("column predicted_score", "cannot be binned in a dataset with crowds", "columns of truths can")):
        sf.score_dataset(*paths, by={"predicted_score": 4})
    truth.assign(crowd=0).to_parquet(paths[0])
    sf.score_dataset(*paths, by={"predicted_score": 4})


def test_bins_of_attributes_of_sequences_are_over_the_sequences_of_a_track() -> None:
    truth, sides = scene(list(range(40)))
    sequences = pd.DataFrame({"sequence": range(10), "sky": [1.0, 1, 2, 3, 5, 8, 13, 21, 34, 55]})
    result = sf.track(sf.Annotations(truth, sequences=sequences), sides["all"], tau=10)
    wanted = expected(sequences["sky"], 3)
    by: dict[str, int | None] = {"sequence_sky": 3}
    for found in (sf.summarize(result, by=by), sf.intervals(result, by=by, metrics=["HOTA"])):
        assert labels(found, "sequence_sky") == wanted
    assert sf.summarize(result, by=by)["n_sequences"].tolist() == [4, 3, 3]


def test_infinite_values_are_refused_alike(tmp_path: Path) -> None:
    truth, sides = scene([np.inf, *range(39)])
    by: dict[str, int | None] = {"truth_v": 4}
    matched = {name: sf.match(truth, side) for name, side in sides.items()}
    paths = tmp_path / "truth.parquet", tmp_path / "all.parquet"
    truth.to_parquet(paths[0])
    sides["all"].to_parquet(paths[1])
    for function in (
        lambda: sf.summarize(matched["all"], by=by),
        lambda: sf.intervals(matched["all"], by=by),
        lambda: sf.compare(matched, by=by),
        lambda: sf.score_dataset(*paths, by=by),
        lambda: sf.report(truth, sides, tmp_path / "page.html", by=by),
    ):
        with warnings.catch_warnings(), refused(("column truth_v holds infinite values", "it cannot be binned")):
            function()
