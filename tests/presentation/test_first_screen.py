"""The first screen of the page: what it says of planted cases, and that its numbers are those of the page."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

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
    texts = re.findall(r'<p class="lead">(.*?)[ ]?(?:<span|</p>)', page.raw, re.DOTALL)
    return "".join(texts)


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
    assert heading(page).endswith(" are not shown to differ in F1, recall or precision.")
    assert re.match(r"F1 cannot tell them apart \([+−]\d\.\d points, −\d+\.\d to \+\d+\.\d\)\.", lead(page))


def test_the_same_submission_twice(tmp_path: Path) -> None:
    truth, found = planted(one=(0.8, 0.3))
    page = page_of(truth, {"a": found["one"], "b": found["one"]}, tmp_path)
    assert (heading(page), lead(page)) == ("a and b are equally good.", "F1 is the same.")


def test_few_sequences_say_why_nothing_is_sure(tmp_path: Path) -> None:
    truth, found = planted(2, eager=(0.95, 0.9), calm=(0.5, 0.02))
    with warned("fewer than 20 sequences", "with 2 sequences no p-value"):
        page = page_of(truth, found, tmp_path)
    assert heading(page).endswith(" are not shown to differ in F1, recall or precision.")
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
        ({"a": 0.8, "b": 0.8, "c": 0.8}, r"None of the 3 is shown to be the best; [abc] has the highest F1\."),
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
    assert (
        heading(page_of(truth, found, tmp_path)) == "one finds none of 400 objects: it has no prediction that counts."
    )


def test_nothing_at_all(tmp_path: Path) -> None:
    truth = sf.Annotations(objects([]), pd.DataFrame({"sequence": [1, 1], "frame": [1, 2]}))
    with warned("only one sequence"):
        page = page_of(truth, {"a": objects([])}, tmp_path)
    assert heading(page) == "There is nothing to find: a has 0 false alarms."
    assert page.says("F1 is not known.")
    with warned("only one sequence", "with 1 sequence no p-value"):
        page = page_of(truth, {"a": objects([]), "b": objects([])}, tmp_path)
    assert page.says("F1 is not known of any submission.")
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
    assert heading(page).endswith(" are not shown to differ in HOTA, DetA or AssA.")
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
        lost = next(text for text in texts if text.startswith(f"{name}: not seen (lost) costs "))
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
    [first, *_] = [str(attrs["href"]) for tag, attrs in page.elements if tag == "a" and "view?" in str(attrs["href"])]
    assert parse_qs(first.partition("?")[2])["submission"] == [page.data["looks"][0]["submission"]], (
        "as the page has it"
    )


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


def test_equal_counts_are_no_equal_submissions(tmp_path: Path) -> None:
    truth, _ = planted()
    table = truth.objects
    first = table["object"] == 0
    found = {name: table[~(first & (table["sequence"] % 2 == rest))] for rest, name in enumerate("ab")}
    assert heading(page_of(truth, found, tmp_path)) == "a and b are not shown to differ in F1, recall or precision."


def test_what_else_differs_is_said(tmp_path: Path) -> None:
    truth, _ = planted()
    table, random = truth.objects, np.random.default_rng(0)
    near, far = (table[random.random(len(table)) < 0.9] for _ in range(2))
    page = page_of(truth, {"near": near, "far": far.assign(x=far["x"] + 9)}, tmp_path)
    assert heading(page).endswith(" are not shown to differ in F1, recall or precision.")
    assert re.search(r"They differ in .*mean distance.*\.", lead(page))


def test_one_finds_everything_and_the_other_nothing(tmp_path: Path) -> None:
    """Doubling sums changes no metric of 0 or 1; the differences are those of these nevertheless."""
    truth, _ = planted()
    table = truth.objects
    page = page_of(truth, {"all": table, "none": table.assign(y=300.0)}, tmp_path)
    assert heading(page) == "all finds 100 points more of the objects and is right 100 points more often."
    page = page_of(truth, {"all": table, "none": table.iloc[:0]}, tmp_path)
    assert heading(page) == "all finds 100 points more of the objects."


def test_the_metric_that_ranks_comes_first_where_the_sides_say_otherwise(tmp_path: Path) -> None:
    """Many detections of low scores make precision low, and cost AP little."""
    random = np.random.default_rng(1)
    key = pd.MultiIndex.from_product([range(40), range(2), range(5)], names=["sequence", "frame", "object"])
    truth = key.to_frame(index=False)
    truth = truth.assign(x=100.0 * truth["object"], y=50.0, w=40.0, h=40.0)
    raw = truth.assign(score=0.9)
    junk = pd.concat([truth.assign(object=truth["object"] + 10 * k, y=200.0 + 50 * k) for k in range(1, 5)])
    raw = pd.concat([raw, junk.assign(score=random.uniform(0.01, 0.1, len(junk)))])
    loose = truth.assign(x=truth["x"] + random.normal(0, 6, len(truth)), score=0.9)
    page = page_of(truth, {"raw": raw, "loose": loose}, tmp_path)
    assert re.match(r"raw has the higher AP, by \d+ points; loose is right \d+ points more often\.", heading(page))
    assert lead(page).endswith("Recall and precision are of all detections, whatever their scores.")


def test_submissions_that_are_the_same(tmp_path: Path) -> None:
    truth, found = planted(one=(0.8, 0.3))
    page = page_of(truth, dict.fromkeys("abc", found["one"]), tmp_path)
    assert heading(page) == "All 3 are equally good: their F1 is the same."


def test_the_last_may_not_be_shown_to_be_worse(tmp_path: Path) -> None:
    truth, _ = planted()
    table = truth.objects
    missed = (table["object"] == 0) & (table["frame"] == 0)
    few, many = (table[~(missed & (table["sequence"] < count))] for count in (5, 30))
    alarms = pd.DataFrame(
        {"sequence": 0, "frame": 0, "object": range(10, 70), "x": 5.0, "y": np.arange(60) * 50 + 99.0}
    )
    page = page_of(truth, {"a": few, "b": many, "c": pd.concat([few, alarms])}, tmp_path)
    assert heading(page) == "a has the highest F1; c is not shown to be worse, b is."


@pytest.mark.parametrize("values", [[15.0, 15.1], [999.0, 1004.0], [0.0, 1e9]])
def test_slices_are_told_apart(tmp_path: Path, values: list[float]) -> None:
    truth, found = planted(one=(0.8, 0.3))
    truth.objects["c"] = np.random.default_rng(2).uniform(*values, len(truth.objects))
    page = page_of(truth, found, tmp_path)
    intervals = sf.intervals(sf.match(truth, found["one"]), by={"truth_c": 5}, metrics=["recall"])
    titles = [text for text in page.text if text.startswith("one: recall") and "where c is" in text]
    assert [float(text.split()[2].rstrip("%")) for text in titles] == pytest.approx(
        100 * intervals["estimate"], abs=0.06
    )


def test_infinite_attributes_are_not_sliced(tmp_path: Path) -> None:
    truth, found = planted(one=(0.8, 0.3))
    truth.objects["c"] = np.where(truth.objects["sequence"] == 0, np.inf, np.arange(len(truth.objects)) * 1.0)
    assert "Where: recall by c" not in page_of(truth, found, tmp_path).text


def test_shares_of_nearly_all_are_not_all(tmp_path: Path) -> None:
    truth, _ = planted(500)
    page = page_of(truth, {"one": truth.objects.iloc[1:]}, tmp_path)
    assert heading(page) == "one finds over 99.9% of the objects and is right 100.0% of the time."


def test_what_does_not_count_is_no_nothing(tmp_path: Path) -> None:
    truth, _ = planted()
    page = page_of(truth, {"p": truth.objects.assign(frame=truth.objects["frame"] + 50)}, tmp_path, frames="labelled")
    assert heading(page) == "p finds none of 400 objects: it has no prediction that counts."
