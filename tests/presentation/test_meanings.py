"""One number has one name and one meaning on every page, which its heading tells, and whose number it is."""

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.report_inputs import Page, many, many_boxes
from spotgeo_frames.presentation.drawing.wording import reading
from spotgeo_frames.tracking.registry import REGISTRIES

# Metrics of one label that are one number: CLEAR's counts are those of the match table.
SAME = {"TP": "tp", "FN": "fn", "FP": "fp"}


def test_no_two_metrics_have_one_name() -> None:
    labels = {(metric.label, SAME.get(name, name)) for registry in REGISTRIES for name, metric in registry.items()}
    assert [label for label, count in Counter(label for label, _ in labels).items() if count > 1] == []


def test_counts_of_one_name_are_one_number(tracks: Path) -> None:
    result = sf.track(*sf.read_motchallenge(tracks / "truth", tracks / "tracker"))
    of_matches = sf.summarize(result.matches).iloc[0]
    assert [result.summary[name].iloc[-1] for name in SAME] == [of_matches[name] for name in SAME.values()]


@pytest.fixture(scope="module", params=["points", "boxes", "tracks", "poses"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Page]:
    """A page of each kind."""
    path, kind = tmp_path_factory.mktemp(request.param) / "report.html", request.param
    if kind in ("points", "boxes"):
        truth, found = (many if kind == "points" else many_boxes)(24)
        sf.report(truth, {"all": found, "few": found[found["object"] > 0]}, path, by="frame")
    else:
        root, read = request.getfixturevalue(kind), sf.read_motchallenge if kind == "tracks" else sf.read_posetrack
        truth, side = read(root / "truth", root / "tracker")
        sf.report(truth, {"all": side, "few": sf.Annotations(side.objects.iloc[::2])}, path, tracks=True)
    return kind, Page(path)


def explained(page: Page) -> dict[str, str]:
    """The text of each metric of the section on metrics, by its id."""
    _, _, section = page.raw.partition('id="metrics-heading"')
    parts = section.partition("</section>")[0].split('<dd id="')[1:]
    return {part.partition('"')[0]: part.partition(">")[2].partition("</dd>")[0] for part in parts}


def test_each_heading_that_is_a_metric_tells_what_it_is(page: tuple[str, Page]) -> None:
    _, read = page
    texts, headings = explained(read), [attrs for tag, attrs in read.elements if tag == "button"]
    told = [attrs for attrs in headings if "aria-describedby" in attrs]
    assert len(told) > 20
    assert all(attrs["aria-describedby"] in texts and attrs["title"] for attrs in told)
    ids = Counter(attrs["id"] for _, attrs in read.elements if "id" in attrs)
    assert ids.most_common(1)[0][1] == 1


def test_no_page_has_two_numbers_of_one_name(page: tuple[str, Page]) -> None:
    _, _, section = page[1].raw.partition('id="metrics-heading"')
    terms = [part.partition("</dt>")[0] for part in section.partition("</section>")[0].split("<dt>")[1:]]
    assert [term for term, count in Counter(terms).items() if count > 1] == []


OFFICIAL = {
    "points": {"F1": "the spotGEO challenge", "kelvins mse": "the spotGEO challenge", "mse, px²": "metric document"},
    "boxes": {},
    "tracks": dict.fromkeys(["HOTA", "DetA", "AssA", "MOTA", "IDF1", "IDSW", "Frag", "MT", "PT", "ML"], "trackeval"),
    "poses": {"HOTA": "PoseTrack21 kit", "mota, %": "poseval", "ap, %": "poseval"},
}


def test_a_number_says_whose_it_is(page: tuple[str, Page]) -> None:
    """Boxes have the areas of no annotation, so their AP is no official number; nor is F1 of tracks."""
    kind, read = page
    _, _, section = read.raw.partition('id="metrics-heading"')
    entries = [part.partition("</dt>") for part in section.partition("</section>")[0].split("<dt>")[1:]]
    official = {term.rstrip(" ↑↓"): text for term, _, text in entries if "Official: " in text}
    for name, whose in OFFICIAL[kind].items():
        assert whose in official[name], name
    if kind != "poses":
        assert {*official} - {"LocA", "MOTP", "DetRe", "DetPr"} == {*OFFICIAL[kind]}
    assert ("F1" in official) == (kind == "points")


def test_the_intervals_and_differences_of_both_sides_are_kept(tracks: Path, tmp_path: Path) -> None:
    """The first screen tells them, and no table had them."""
    truth, side = sf.read_motchallenge(tracks / "truth", tracks / "tracker")
    few = sf.Annotations(side.objects[side.objects["object"] % 2 > 0])
    sf.report(truth, {"all": side, "few": few}, tmp_path / "page.html", tracks=True, tables=tmp_path / "tables")
    results: Any = {name: sf.track(truth, of) for name, of in {"all": side, "few": few}.items()}
    intervals, pairs = (pd.read_parquet(tmp_path / "tables" / f"{name}.parquet") for name in ("intervals", "pairs"))
    metrics = ["HOTA", "DetA", "AssA", "MOTA", "IDF1"]
    for name, result in results.items():
        rows = intervals[(intervals["submission"].astype("str") == name) & intervals["metric"].isin(metrics)]
        expected = sf.intervals(result, metrics=metrics)
        assert rows["estimate"].tolist() == expected["estimate"].tolist()
        assert rows["low"].tolist() == pytest.approx(expected["low"].tolist(), nan_ok=True)
    compared = sf.compare(results, metrics).pairs
    assert pairs["metric"].tolist() == compared["metric"].tolist()
    assert pairs["estimate"].tolist() == pytest.approx(compared["estimate"].tolist())


def test_headings_of_derived_columns_tell_of_their_metric() -> None:
    known = reading("HOTA_gain")
    assert known is not None
    assert known.metric.name == "HOTA"
