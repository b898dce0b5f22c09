"""The first screen of the page: what it says of planted cases, and that its numbers are those of the page."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.problems import warned
from helpers.report_inputs import Page, many_boxes
from helpers.scenes import objects


def planted(
    n_sequences: int = 40, **submissions: tuple[float, float]
) -> tuple[sf.Annotations, dict[str, pd.DataFrame]]:
    """Five objects a frame; each submission finds a share of them, and has so many false alarms a frame."""
    key = pd.MultiIndex.from_product([range(n_sequences), range(2), range(5)], names=["sequence", "frame", "object"])
    table = key.to_frame(index=False)
    table = table.assign(x=100.0 * table["object"] + 50, y=50.0 + 3 * table["frame"])
    frames = table[["sequence", "frame"]].drop_duplicates()
    found = {}
    for place, (name, (share, rate)) in enumerate(submissions.items()):
        random = np.random.default_rng(place)
        hits = table[random.random(len(table)) < share]
        wrong = frames.iloc[np.flatnonzero(random.random(len(frames)) < rate)]
        alarms = wrong.assign(object=np.arange(len(wrong)) + 10, x=random.uniform(0, 500, len(wrong)), y=400.0)
        found[name] = pd.concat([hits, alarms], ignore_index=True)
    return sf.Annotations(table, frames), found


def page_of(truth: Any, submissions: Any, path: Path, **words: Any) -> Page:
    sf.report(truth, submissions, path / "report.html", **words)
    return Page(path / "report.html")


def heading(page: Page) -> str:
    """The sentence with which the page begins."""
    [text] = re.findall(r"<h1>(.*?)</h1>", page.raw, re.DOTALL)
    return re.sub(r"<.*?>", "", text)


def lead(page: Page) -> str:
    [text] = re.findall(r'<p class="lead">(.*?)[ ]?(?:<span|</p>)', page.raw, re.DOTALL)
    return text


def points(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.0995 else f"{100 * share:.1f}"


def difference(truth: Any, found: dict[str, Any], metric: str) -> Any:
    """The difference that compare() finds, of the better minus the other."""
    pairs = sf.compare({name: sf.match(truth, side) for name, side in found.items()}, metrics=[metric]).pairs
    return pairs.iloc[0]


def test_one_finds_more_and_the_other_is_right_more_often(tmp_path: Path) -> None:
    truth, found = planted(eager=(0.95, 0.9), calm=(0.75, 0.02))
    page = page_of(truth, found, tmp_path)
    recall, precision = (abs(difference(truth, found, name)["estimate"]) for name in ("recall", "precision"))
    assert heading(page) == (
        f"eager finds {points(recall)} points more of the objects, calm is right {points(precision)} points more often."
    )


def test_one_is_better_at_both(tmp_path: Path) -> None:
    truth, found = planted(old=(0.7, 0.9), new=(0.9, 0.1))
    page = page_of(truth, found, tmp_path)
    assert re.fullmatch(r"new finds \d+ points more of the objects and is right \d+ points more often\.", heading(page))
    row = difference(truth, found, "f1")
    size = abs(row["estimate"])
    low, high = sorted([abs(row["low"]), abs(row["high"])])
    assert lead(page) == f"F1 is higher for new (+{100 * size:.1f} points, +{100 * low:.1f} to +{100 * high:.1f})."


def test_one_finds_more_and_is_right_as_often(tmp_path: Path) -> None:
    truth, found = planted(one=(0.9, 0.0), other=(0.6, 0.0))
    page = page_of(truth, found, tmp_path)
    assert re.fullmatch(r"one finds \d+ points more of the objects\.", heading(page))
    assert "In precision they are not shown to differ (+0.0 points, " in lead(page)


def test_nothing_tells_them_apart(tmp_path: Path) -> None:
    truth, found = planted(one=(0.8, 0.3), other=(0.8, 0.3))
    page = page_of(truth, found, tmp_path)
    assert heading(page).endswith(" are not shown to differ.")
    assert re.match(r"F1 cannot tell them apart \([+−]\d\.\d points, −\d+\.\d to \+\d+\.\d\)\.", lead(page))


def test_the_same_submission_twice(tmp_path: Path) -> None:
    truth, found = planted(one=(0.8, 0.3))
    page = page_of(truth, {"a": found["one"], "b": found["one"]}, tmp_path)
    assert (heading(page), lead(page)) == ("a and b are equally good.", "F1 is the same.")


def test_few_sequences_say_why_nothing_is_sure(tmp_path: Path) -> None:
    truth, found = planted(2, eager=(0.95, 0.9), calm=(0.5, 0.02))
    with warned("fewer than 20 sequences", "with 2 sequences no p-value"):
        page = page_of(truth, found, tmp_path)
    assert heading(page).endswith(" are not shown to differ.")
    assert "no interval: 2 sequences are too few" in lead(page)


def test_one_submission(tmp_path: Path) -> None:
    truth, found = planted(one=(0.8, 0.3))
    summary = sf.summarize(sf.match(truth, found["one"])).iloc[0]
    page = page_of(truth, found, tmp_path)
    recall, precision = (f"{summary[name]:.1%}" for name in ("recall", "precision"))
    assert heading(page) == f"one finds {recall} of the objects and is right {precision} of the time."
    assert lead(page) == ""


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ({"a": 0.95, "b": 0.7, "c": 0.4}, r"a is the best of 3: its F1 is \d+ points above that of b\."),
        ({"a": 0.9, "b": 0.9, "c": 0.4}, r"[ab] and [ab] are not shown to differ; F1 is lower for c\."),
        (
            {"a": 0.9, "b": 0.9, "c": 0.4, "d": 0.2},
            r"[ab] and [ab] are not shown to differ; F1 is lower for 2 others\.",
        ),
        ({"a": 0.8, "b": 0.8, "c": 0.8}, r"None of the 3 is shown to be the best: [abc] has the highest F1, .*"),
        (
            {"a": 0.8, "b": 0.8, "c": 0.8, "d": 0.3},
            r"[abc] has the highest F1; [abc] and [abc] are not shown to be worse, d is\.",
        ),
    ],
)
def test_several(tmp_path: Path, shares: dict[str, float], sentence: str) -> None:
    truth, found = planted(**{name: (share, 0.1) for name, share in shares.items()})
    page = page_of(truth, found, tmp_path)
    assert re.fullmatch(sentence, heading(page)), heading(page)
    assert re.match(r"F1: [a-d] minus [a-d] is \+\d+\.\d points, ", lead(page))


def test_there_is_nothing_to_find(tmp_path: Path) -> None:
    truth, found = planted(one=(0.0, 0.5), other=(0.0, 0.1))
    page = page_of(truth._replace(objects=truth.objects.iloc[:0]), found, tmp_path)
    counts = {name: len(side) for name, side in found.items()}
    assert heading(page).startswith("There is nothing to find: ")
    assert {f"{name} has {count} false alarms" in heading(page) for name, count in counts.items()} == {True}


def test_nothing_is_predicted(tmp_path: Path) -> None:
    truth, found = planted(one=(0.0, 0.0))
    assert heading(page_of(truth, found, tmp_path)) == "one finds none of 400 objects: it predicts nothing."


def test_nothing_at_all(tmp_path: Path) -> None:
    truth = sf.Annotations(objects([]), pd.DataFrame({"sequence": [1, 1], "frame": [1, 2]}))
    with warned("only one sequence"):
        page = page_of(truth, {"a": objects([])}, tmp_path)
    assert heading(page) == "There is nothing to find: a has 0 false alarms."
    assert 'class="card' not in page.raw.partition("<header")[2].partition("</header>")[0]


def test_ap_ranks_and_recall_and_precision_explain(tmp_path: Path) -> None:
    truth, found = many_boxes(30)
    truth = truth.objects
    half = found[found["object"] > 0]
    page = page_of(truth, {"all": found, "half": half}, tmp_path)
    assert re.match(r"all finds \d+ points more of the objects\.", heading(page))
    assert lead(page).startswith("AP is higher for all (+")
    assert "Where: recall by size, px" not in page.text, "all are of one size"


def test_tracks(tmp_path: Path) -> None:
    truth, found = planted(3, good=(1.0, 0.0), bad=(0.6, 0.5))
    with warned("fewer than 20 sequences", "good: null low and high of MOTA", "with 3 sequences no p-value"):
        page = page_of(truth, found, tmp_path, tracks=True, tau=5)
    assert heading(page).endswith(" are not shown to differ.")
    assert "The trade: AssA against DetA" in page.text
    result = sf.track(truth, found["good"], tau=5).summary.iloc[-1]
    titles = [text for text in page.text if text.startswith("good: HOTA")]
    assert titles[0].startswith(f"good: HOTA {result['HOTA']:.1%}")


def test_numbers_and_slices_are_those_of_the_package(tmp_path: Path, sample: Path) -> None:
    truth = sf.read_objects(sample / "truth.parquet", frames=sample / "frames.parquet")
    found = {name: sf.read_objects(sample / f"{name}.parquet") for name in ("eager", "cautious")}
    page = page_of(truth, found, tmp_path)
    texts = {*page.text}
    for name, side in found.items():
        matches = sf.match(truth, side)
        for row in sf.intervals(matches, metrics=["f1", "recall", "precision"]).to_dict("records"):
            label = {"f1": "F1"}.get(row["metric"], row["metric"])
            shown = f"{row['estimate']:.1%} ({row['low']:.1%} to {row['high']:.1%})"
            assert f"{name}: {label} {shown}" in texts
        slices = sf.intervals(matches, by={"truth_brightness": 5}, metrics=["recall"])
        for row in slices.to_dict("records"):
            shown = f"{row['estimate']:.1%} ({row['low']:.1%} to {row['high']:.1%})"
            assert any(text.startswith(f"{name}: recall {shown} where brightness is ") for text in texts)
        costs = sf.error_costs(sf.diagnose(matches)).set_index("kind")["f1_gain"]
        lost = next(text for text in texts if text.startswith(f"{name}: never seen (lost) costs "))
        assert lost.endswith(f" {100 * costs['lost']:.1f} points of F1")


def test_slices_that_are_asked_for_come_first(tmp_path: Path, sample: Path) -> None:
    truth = sf.read_objects(sample / "truth.parquet", frames=sample / "frames.parquet")
    truth.objects["colour"] = np.where(truth.objects["object"] % 2, "red", "blue")
    page = page_of(truth, sf.read_objects(sample / "eager.parquet"), tmp_path, by="truth_colour")
    assert "Where: recall by colour" in page.text
    assert {"red", "blue"} <= {*page.text}


def test_names_stay_text(tmp_path: Path) -> None:
    truth, found = planted(one=(0.8, 0.3))
    name = "<script>alert(1)</script>\u202e&"
    page = page_of(truth, {name: found["one"], "b": found["one"].iloc[::2]}, tmp_path)
    assert "<script>alert" not in page.raw
    assert "\u202e" not in page.raw
    assert any("<script>alert(1)</script>[U+202E]&" in text for text in page.text)


def test_the_worst_frames_are_looked_at_first(tmp_path: Path) -> None:
    truth, found = planted(one=(0.8, 0.3))
    matches = sf.match(truth, found["one"])
    errors = matches["outcome"].isin(["FN", "FP"]).groupby([matches["sequence"], matches["frame"]]).sum()
    page = page_of(truth, found, tmp_path)
    looks = page.data["looks"]
    assert len({look["sequence"] for look in looks}) == len(looks) == 3
    counts = [errors[int(look["sequence"]), int(look["frame"])] for look in looks]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == errors.max()
    addresses = [attrs["href"] for tag, attrs in page.elements if tag == "a" and "view?" in str(attrs["href"])]
    assert addresses[0] == f"#view?sequence={looks[0]['sequence']}&frame={looks[0]['frame']}&submission=one"
