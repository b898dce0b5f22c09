"""explore() without a browser: what it takes and refuses, what it sends when asked, and what comes back."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

pytest.importorskip("anywidget")

import spotgeo_frames as sf
from helpers.explorers import Browser
from helpers.kinds import CLASSES, of_kind
from helpers.problems import refused
from helpers.reference import PROJECT
from helpers.report_inputs import HOSTILE, QUOTED, folder_of_pictures, many, many_boxes, many_poses
from spotgeo_frames.presentation.explorer import contents

DATA = PROJECT / "data"


def matched(n_sequences: int = 4) -> pd.DataFrame:
    truth, predictions = many(n_sequences)
    return sf.match(truth._replace(objects=truth.objects.assign(brightness=truth.objects["x"] / 10)), predictions)


def shuffled(matches: pd.DataFrame) -> pd.DataFrame:
    """The same rows in another order, with labels of their own."""
    labelled = matches.set_axis([f"row {row}" for row in range(len(matches))])
    return labelled.sample(frac=1, random_state=0)


def points() -> Any:
    return matched()


def boxes() -> Any:
    return sf.diagnose(sf.match(*many_boxes(3)))


def poses() -> Any:
    return sf.match(*many_poses(3), similarity="oks")


def joints() -> Any:
    return sf.match(*many_poses(3))


def tracks() -> Any:
    return sf.track(*sf.read_motchallenge(DATA / "tracks/truth", DATA / "tracks/tracker"))


def joint_tracks() -> Any:
    return sf.pose(*sf.read_posetrack(DATA / "poses/truth", DATA / "poses/tracker"))


def precision() -> Any:
    return sf.average_precision(*sf.read_coco(DATA / "coco/annotations.json", DATA / "coco/fast.json", boxes=True))


def precision_at_half() -> Any:
    matches = precision().matches
    return matches[matches["threshold"] == 0.5]


def in_other_order() -> Any:
    return shuffled(matched())


KINDS = {
    points: ("points", False),
    boxes: ("boxes", False),
    poses: ("poses", False),
    joints: ("joints", False),
    tracks: ("boxes", True),
    joint_tracks: ("joints", True),
    precision: ("boxes", False),
    precision_at_half: ("boxes", False),
    in_other_order: ("points", False),
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small chunks and stretches, so that small tables have many."""
    monkeypatch.setattr(contents, "ROWS_TOGETHER", 20)
    monkeypatch.setattr(contents, "ROWS_OF_STRETCH", 60)


def table_of(x: Any) -> pd.DataFrame:
    matches = x if isinstance(x, pd.DataFrame) else x.matches
    return matches[matches["threshold"] == 0.5] if "threshold" in matches else matches


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
@pytest.mark.usefixtures("small")
def test_each_object_is_sent_once_and_comes_back_as_its_row(make: Any) -> None:
    x = make()
    table = table_of(x)
    browser = Browser(sf.explore(x))
    about = browser.outline["about"]
    assert (about["kind"], about["identities"]) == KINDS[make]
    n_chunks = int(max(browser.frames["sequences"]["chunk"])) + 1
    assert n_chunks > 2
    n_objects = {"truth": 0, "predicted": 0}
    for number in range(n_chunks):
        view, first = browser.chunk(number)
        assert view["joints"] == about["joints"]
        for side, objects in (("truth", view["truth"]), ("predicted", view["submissions"]["matches"]["predicted"])):
            begin = first[side] if side == "truth" else first[side][0]
            assert begin == n_objects[side]
            n_objects[side] += len(objects["x"])
            for place in {0, len(objects["x"]) - 1} if objects["x"] else ():
                browser.send(ask="mark", object=[side, 0, begin + place], more=False)
                [row] = browser.widget.selection.to_dict("records")
                assert row[f"{side}_x"] == pytest.approx(objects["x"][place], abs=0.1)
                assert row[f"{side}_object"] == objects["object"][place]
                assert str(row.get("joint")) == str(objects["joint"][place] if "joint" in objects else None)
    counts = {"truth": ["TP", "FN"], "predicted": ["TP", "FP"]}
    assert n_objects == {side: table["outcome"].isin(of).sum() for side, of in counts.items()}


@pytest.mark.usefixtures("small")
def test_frames_are_in_order_and_long_sequences_in_stretches() -> None:
    browser = Browser(sf.explore(joint_tracks()))
    frames, sequences = browser.frames["frames"], browser.frames["sequences"]
    assert frames["sequence"] == sorted(frames["sequence"])
    table = joint_tracks().matches.drop_duplicates(["sequence", "frame"])
    assert frames["frame"] == table["frame"].tolist()
    assert {name.partition(",")[0] for name in sequences["name"]} == {*table["sequence"]}
    assert sequences["name"][0] == "corner, frames 0 to 1"
    assert len({*zip(sequences["left"], sequences["right"], strict=True)}) == 2, "each has the area of its sequence"


def test_small_sequences_are_sent_together() -> None:
    browser = Browser(sf.explore(matched(6)))
    assert {*browser.frames["sequences"]["chunk"]} == {0}
    assert browser.frames["sequences"]["missed"] == [
        (rows["outcome"] == "FN").sum() for _, rows in matched(6).groupby("sequence")
    ]


@pytest.mark.parametrize("make", [points, boxes, joints, joint_tracks, precision], ids=lambda make: make.__name__)
def test_whole_tables_lack_nothing(make: Any) -> None:
    frames = Browser(sf.explore(make())).frames["frames"]
    assert [name for name in frames if name.startswith("frame_n")] == []


def test_a_filtered_table_says_what_its_frames_lack() -> None:
    matches = matched()
    kept = matches[matches["truth_x"] < 300]
    browser = Browser(sf.explore(kept))
    view, _ = browser.chunk(0)
    lacking = browser.frames["frames"]
    [one] = view["submissions"].values()
    n_predicted = one["frames"]["n_predicted"]
    expected = kept.drop_duplicates(["sequence", "frame"])
    assert np.add(lacking["frame_n_truth_0"], view["frames"]["n_truth"]).tolist() == expected["frame_n_truth"].tolist()
    assert np.add(lacking["frame_n_predicted_0"], n_predicted).tolist() == expected["frame_n_predicted"].tolist()
    assert sum(lacking["frame_n_predicted_0"]) > 0
    assert (np.array(one["pairs"]["pair"]) >= 0).sum() == (kept["outcome"] == "TP").sum(), "pairs keep both sides"


def test_joints_that_were_filtered_out_are_counted() -> None:
    matches = joints()
    kept = matches[matches["joint"] != "nose"]
    assert "frame_n_truth_0" not in Browser(sf.explore(kept)).frames["frames"], "each joint has counts of its own"
    kept = matches[matches["outcome"] == "FN"]
    lacking = Browser(sf.explore(kept)).frames["frames"]["frame_n_predicted_0"]
    assert sum(lacking) == kept.drop_duplicates(["sequence", "frame", "joint"])["frame_n_predicted"].sum()


def test_marks_are_added_and_taken_away() -> None:
    matches = shuffled(matched())
    browser = Browser(sf.explore(matches))
    assert len(browser.widget.selection) == 0
    assert browser.widget.selection.columns.equals(matches.columns)
    for number, more in ((3, False), (5, True), (9, True), (5, True)):
        browser.send(ask="mark", object=["truth", 0, number], more=more)
    selection = browser.widget.selection
    pd.testing.assert_frame_equal(
        selection, matches.loc[[label for label in matches.index if label in selection.index]]
    )
    assert len(selection) == 2
    content, _ = browser.told("marked")
    assert content["n_rows"] == 2
    truths = [number for side, _, number in content["objects"] if side == "truth"]
    assert truths == [3, 9]
    assert len(content["objects"]) == 2 + (selection["outcome"] == "TP").sum(), "both sides of a pair are marked"
    browser.send(ask="mark", object=None, more=True)
    assert len(browser.widget.selection) == 2, "a click beside all objects with Shift changes nothing"
    browser.send(ask="mark", object=None, more=False)
    assert len(browser.widget.selection) == 0


def test_a_pair_is_one_row_whichever_side_is_clicked() -> None:
    matches = matched()
    browser = Browser(sf.explore(matches))
    view, _ = browser.chunk(0)
    truth = next(row for row, pair in enumerate(view["submissions"]["matches"]["pairs"]["pair"]) if pair >= 0)
    browser.send(ask="mark", object=["truth", 0, truth], more=False)
    [(_, _, predicted)] = [one for one in browser.told("marked")[0]["objects"] if one[0] == "predicted"]
    browser.send(ask="mark", object=["predicted", 0, predicted], more=True)
    assert len(browser.widget.selection) == 0


@pytest.mark.parametrize("kind", CLASSES)
def test_the_same_kind_of_table_comes_back(kind: str) -> None:
    matches = of_kind(matched(), kind)
    widget = sf.explore(matches)
    browser = Browser(widget)
    browser.send(ask="mark", object=["truth", 0, 3], more=False)
    browser.send(ask="tag", tag="unclear")
    assert type(widget.selection) is type(widget.tags) is CLASSES[kind]
    assert len(widget.selection) == len(widget.tags) == 1
    again = sf.explore(matches)
    again.tags = widget.tags
    assert len(again.tags) == 1
    view = Browser(again)
    again.filter = widget.selection
    assert [truths for truths, _, _ in view.passing()] == [[3]]


def test_several_tables_share_their_truths() -> None:
    truth, predictions = many(3)
    tables = {"all": sf.match(truth, predictions), "few": sf.match(truth, predictions[predictions["score"] > 0.5])}
    browser = Browser(sf.explore(tables))
    assert browser.names == ["all", "few"]
    assert browser.outline["sizes"]["truth"] == len(truth.objects)
    view, _ = browser.chunk(0)
    assert [len(one["predicted"]["x"]) for one in view["submissions"].values()] == [
        len(predictions),
        (predictions["score"] > 0.5).sum(),
    ]
    browser.send(ask="mark", object=["truth", 0, 4], more=False)
    browser.send(ask="mark", object=["truth", 1, 4], more=True)
    selection = browser.widget.selection
    assert selection["submission"].tolist() == ["all", "few"]
    assert selection["truth_x"].iloc[0] == selection["truth_x"].iloc[1]
    browser.send(ask="tag", tag="twice")
    assert browser.widget.tags["submission"].tolist() == ["all", "few"]
    assert Browser(sf.explore(list(tables.values()))).names == ["1", "2"]


@pytest.mark.parametrize("is_level", [False, True])
def test_a_table_may_have_several_submissions(is_level: bool) -> None:
    matches = matched()
    several = pd.concat({"a": matches, 7: matches}, names=["submission", None])
    browser = Browser(sf.explore(several if is_level else several.reset_index("submission")))
    assert browser.names == ["a", "7"]
    assert browser.chunk(0)[0]["submissions"].keys() == {"a", "7"}
    browser.send(ask="mark", object=["predicted", 1, 0], more=False)
    [row] = browser.widget.selection.to_dict("records")
    assert (row["submission"], row["predicted_object"]) == ("7", matches["predicted_object"].iloc[0])
    browser.widget.filter = "submission == '7' and outcome == 'FN'"
    assert browser.told("filter")[0]["n_rows"] == (matches["outcome"] == "FN").sum()


def test_a_table_of_one_submission_keeps_its_name() -> None:
    browser = Browser(sf.explore(matched().assign(submission="a")))
    assert browser.names == ["a"]
    browser.send(ask="mark", object=["truth", 0, 0], more=False)
    assert browser.widget.selection["submission"].tolist() == ["a"]
    assert browser.chunk(0)[0]["submissions"].keys() == {"a"}


def test_a_table_may_lack_frames_of_another() -> None:
    matches = matched()
    browser = Browser(sf.explore({"whole": matches, "part": matches[matches["sequence"] < 3]}))
    view, _ = browser.chunk(0)
    assert -1 in view["submissions"]["part"]["frames"]["n_predicted"]


def test_a_condition_draws_others_pale_and_names_frames_to_visit() -> None:
    matches = shuffled(matched())
    browser = Browser(sf.explore(matches))
    browser.widget.filter = "truth_brightness < 30 and outcome == 'FN'"
    passing = matches[(matches["truth_brightness"] < 30) & (matches["outcome"] == "FN")]
    [(truths, predictions, frames)] = browser.passing()
    view, _ = browser.chunk(0)
    assert sorted(view["truth"]["brightness"][truth] for truth in truths) == pytest.approx(
        sorted(passing["truth_brightness"]), abs=0.01
    )
    assert predictions == []
    keys = {(row.sequence, row.frame) for row in passing.itertuples()}
    named = [browser.frames["sequences"]["name"][int(part)] for part in browser.frames["frames"]["sequence"]]
    assert {(int(named[frame]), browser.frames["frames"]["frame"][frame]) for frame in frames} == keys
    content, _ = browser.told("filter")
    assert content == {"tell": "filter", "text": browser.widget.filter, "n_rows": len(passing)}
    browser.widget.filter = None
    assert browser.told("filter") == ({"tell": "filter", "text": None}, [])


@pytest.mark.parametrize(
    "make",
    [
        lambda matches: matches[matches["outcome"] == "FN"],
        lambda matches: matches["outcome"] == "FN",
        lambda matches: (matches["outcome"] == "FN").to_numpy(),
        lambda matches: {"matches": matches["outcome"] == "FN"},
        lambda matches: {"matches": matches[matches["outcome"] == "FN"]},
        lambda matches: pl.from_pandas(matches).filter(pl.col("outcome") == "FN"),
        lambda matches: pl.from_pandas(matches)["outcome"] == "FN",
        lambda matches: "outcome == 'FN'",
        lambda matches: "not outcome in ['TP', \"FP\", 'empty']",
        lambda matches: "predicted_x != predicted_x & truth_x > -1",
        lambda matches: "`a column's name` == 'FN'",
        lambda matches: "outcome == 'FN'\n  and truth_x > -1",
        lambda matches: "outcome == 'FN'\r\n  and truth_x * 2 > -1 and (outcome == 'FN') * frame > 0",
    ],
)
def test_all_filters_pass_the_same_rows(make: Any) -> None:
    matches = shuffled(matched()).assign(**{"a column's name": lambda table: table["outcome"].astype(object)})
    browser = Browser(sf.explore(matches))
    browser.widget.filter = make(matches)
    [(truths, predictions, _)] = browser.passing()
    assert len(truths) == (matches["outcome"] == "FN").sum()
    assert predictions == []
    if not isinstance(make(matches), str):
        assert browser.told("filter")[0]["text"] == "chosen rows"


def test_filters_of_several_tables() -> None:
    matches = matched()
    browser = Browser(sf.explore({"a": matches, "b": matches}))
    browser.widget.filter = "submission == 'b' and outcome == 'TP'"
    n_found = (matches["outcome"] == "TP").sum()
    assert [len(predictions) for _, predictions, _ in browser.passing()] == [0, n_found]
    browser.widget.filter = {"a": matches["outcome"] == "TP"}
    assert [len(predictions) for _, predictions, _ in browser.passing()] == [n_found, 0]
    with refused(("explore: filter", "dict")):
        browser.widget.filter = matches["outcome"] == "TP"


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        ("truth_brigtness < 5", ["truth_brigtness", "truth_brightness"]),
        ("`no such` < 5", ["no such"]),
        ("truth_x <", ["at its end"]),
        ("truth_x < < 5", ["< 5"]),
        ("", ["names no column"]),
        ("truth_x", ["is no condition"]),
        ("1 == 1", ["names no column"]),
        ("truth_x < 'a'", ["cannot be evaluated"]),
        ("@sf.x > 1", ["@sf.x > 1"]),
        ("truth_x.sum() > 1", ["truth_x.sum()"]),
        ("truth_x.real > 1", ["truth_x.real"]),
        ("__import__('os').system('true') == 0", ["Call"]),
        ("abs(truth_x) > 1", ["abs(truth_x)"]),
        ("truth_x[0] > 1", ["truth_x[0]"]),
        ("[1 for truth_x in [2]] == 1", ["ListComp"]),
        ("(lambda: 1) == 1", ["Lambda"]),
        ("(truth_x := 3) > 2", ["NamedExpr"]),
        ("f'{truth_x}' == 'a'", ["JoinedStr"]),
        ("truth_x ** 9 ** 9 > 1", ["Pow"]),
        ("truth_x > 1 # all", ["#"]),
        ("truth_x > `", ["`"]),
        ("truth_x > \\\n 1", ["\\"]),
        ("(" * 500 + "truth_x", ["cannot be parsed"]),
        ("truth_x > 1\x00", ["cannot be parsed"]),
        ("outcome == 'a' * 10000000000", ["'a'", "product"]),
        ("outcome == '%10000000000d' % 5", ["product"]),
        ("frame in [1] * 10000000000", ["[1]", "product"]),
        ("-(frame + 'a' * 10000000000) > 1", ["'a'", "product"]),
        ("name * 10000000000 == 'a'", ["column name", "numbers"]),
    ],
)
def test_conditions_that_are_none(condition: str, named: list[str]) -> None:
    widget = sf.explore(matched().assign(name="a"))
    widget.filter = "truth_x > 5"
    with pytest.raises(sf.InputError) as caught:
        widget.filter = condition
    assert str(caught.value).startswith("explore: filter: ")
    for name in named:
        assert name in str(caught.value)
    assert widget.filter == "truth_x > 5", "the filter before stays"


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda matches: 5, "int"),
        (lambda matches: True, "bool"),
        (lambda matches: matches["truth_x"], "float64"),
        (lambda matches: [True, False], "2 values"),
        (lambda matches: (matches["truth_x"] > 5).reset_index(drop=True), "index"),
        (lambda matches: matches[["truth_x"]], "column sequence"),
        (lambda matches: matches.assign(sequence="a"), "column sequence"),
        (lambda matches: {"other": matches}, "matches"),
    ],
)
def test_filters_that_do_not_fit(make: Any, named: str) -> None:
    matches = shuffled(matched())
    with pytest.raises(sf.InputError, match=r"^explore: filter") as caught:
        sf.explore(matches).filter = make(matches)
    assert named in str(caught.value)


def test_messages_show_only_the_beginning_of_a_long_condition() -> None:
    with pytest.raises(sf.InputError) as caught:
        sf.explore(matched()).filter = "x" * 10_000 + " < < 5"
    assert len(str(caught.value)) < 500


def test_tags_become_a_column() -> None:
    matches = matched()
    widget = sf.explore(matches)
    browser = Browser(widget)
    assert list(widget.tags) == ["sequence", "frame", "truth_object", "predicted_object", "tag"]
    for side, number, tag in (
        ("truth", 0, " unclear "),
        ("truth", 1, "faint"),
        ("predicted", 2, "bright"),
        ("truth", 0, "gone"),
    ):
        browser.send(ask="mark", object=[side, 0, number], more=False)
        browser.send(ask="tag", tag=tag)
    assert widget.tags["tag"].tolist().count("unclear") == 0, "the last tag counts"
    tagged = matches.merge(widget.tags, how="left")
    assert tagged["tag"].notna().sum() == 3
    assert len(tagged) == len(matches)
    assert sf.summarize(tagged, by="tag")["tag"].tolist() == ["bright", "faint", "gone"]
    truth = many(4)[0].objects
    of_truth = widget.tags.rename(columns={"truth_object": "object"})[["sequence", "frame", "object", "tag"]]
    assert truth.merge(of_truth, how="left")["tag"].iloc[:2].tolist() == ["gone", "faint"]
    assert browser.told("marked")[0]["tagged"] == [["gone", 1]]
    browser.send(ask="tag", tag=None)
    assert len(widget.tags) == 2
    browser.send(ask="tag", tag="  ")
    assert len(widget.tags) == 2


def test_tags_go_on_in_another_widget() -> None:
    matches = matched()
    first = sf.explore(matches)
    first.tags = matches.iloc[:6].assign(tag=[f"tag {row}" for row in range(6)])
    part = sf.explore(matches.iloc[3:])
    part.tags = first.tags
    assert sorted(part.tags["tag"]) == [f"tag {row}" for row in range(6)], "rows that it does not have are kept"
    assert Browser(part).ask("outline")
    pd.testing.assert_frame_equal(
        first.tags.convert_dtypes(), part.tags.sort_values("tag", ignore_index=True).convert_dtypes()
    )
    part.tags = None
    assert len(part.tags) == 0


def test_tags_from_a_file(tmp_path: Path) -> None:
    matches = matched()
    widget = sf.explore(matches)
    widget.tags = matches.groupby("outcome", observed=True).head(2).assign(tag="seen")
    widget.tags.to_csv(tmp_path / "tags.csv", index=False)
    again = sf.explore(matches)
    again.tags = pd.read_csv(tmp_path / "tags.csv")
    pd.testing.assert_frame_equal(again.tags, widget.tags)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda tags: tags.drop(columns="tag"), "column tag"),
        (lambda tags: tags.drop(columns="frame"), "column frame"),
        (lambda tags: tags.assign(tag=3), "column tag"),
        (lambda tags: tags.assign(tag=None), "column tag"),
        (lambda tags: tags.assign(sequence="a"), "column sequence"),
        (lambda tags: tags.assign(frame=1.5), "column frame"),
        (lambda tags: 5, "int"),
    ],
)
def test_tags_that_do_not_fit(change: Any, named: str) -> None:
    matches = matched()
    widget = sf.explore(matches)
    widget.tags = matches.iloc[:3].assign(tag="a")
    with pytest.raises(sf.InputError, match=r"^explore: tags") as caught:
        widget.tags = change(widget.tags)
    assert named in str(caught.value)
    assert len(widget.tags) == 3


@pytest.mark.parametrize(
    ("make", "places"),
    [
        (lambda matches: matches.iloc[:0], ["explore: x"]),
        (lambda matches: {}, ["explore: x"]),
        (lambda matches: 5, [("explore: x", "int")]),
        (lambda matches: many(2)[0], [("explore: x", "Annotations")]),
        (
            lambda matches: matches.drop(columns=["truth_x", "truth_y"]),
            ["explore: x: column truth_x", "explore: x: column truth_y"],
        ),
        (lambda matches: matches.drop(columns="truth_object"), ["explore: x: column truth_object"]),
        (lambda matches: {"a": matches, "b": matches.assign(truth_x=1.0)}, ["explore: b"]),
        (lambda matches: {"a": matches, "b": matches[matches["outcome"] != "FN"]}, [("explore: b", "widget.filter")]),
        (lambda matches: {"a": matches, "b": joints()}, [("explore: a and b", "joint")]),
        (lambda matches: {"a": matches, "b": sf.match(*many_boxes(4))}, [("explore: a and b", "similarity")]),
        (lambda matches: {"a": matches, "b": matches.assign(sequence="x")}, [("explore: a and b", "sequence")]),
        (lambda matches: {"1": matches, 1: matches}, ["explore: x"]),
        (lambda matches: precision().matches, [("explore: x", "thresholds")]),
        (lambda matches: {"a": matches.assign(submission="b")}, [("explore: a", "submission")]),
        (lambda matches: matches.assign(submission=None), [("explore: x", "submission")]),
    ],
)
def test_what_cannot_be_opened(make: Any, places: list[Any]) -> None:
    with refused(*places):
        sf.explore(make(matched()))


def test_images_must_be_a_folder(tmp_path: Path) -> None:
    with refused("explore: images"):
        sf.explore(matched(), images=tmp_path / "none")


def test_pictures_are_sent_one_at_a_time(tmp_path: Path) -> None:
    browser = Browser(sf.explore(matched(), images=folder_of_pictures(tmp_path / "images", n_frames=2)))
    assert browser.outline["pictures"] is True
    content, [picture] = browser.ask("picture", frame=1)
    assert picture[:4] == b"RIFF"
    assert {name: content[name] for name in ("left", "right", "top", "bottom")} == {
        "left": -0.5,
        "right": 639.5,
        "top": -0.5,
        "bottom": 479.5,
    }
    content, pictures = browser.ask("picture", frame=2)
    assert pictures == []
    assert "there is no such file" in content["problem"]


def test_a_closed_widget_keeps_what_it_has() -> None:
    widget = sf.explore(matched())
    browser = Browser(widget)
    browser.send(ask="mark", object=["truth", 0, 1], more=False)
    browser.send(ask="tag", tag="kept")
    widget.close()
    assert len(widget.selection) == len(widget.tags) == 1
    with refused("explore: the widget is closed"):
        widget.filter = "truth_x > 3"
    with refused("explore: the widget is closed"):
        widget.tags = None


@pytest.mark.parametrize(
    "content",
    [{}, {"ask": "nothing"}, {"ask": "mark", "object": ["truth", 7, 1]}, {"ask": "mark", "object": ["x", 0, -5]}],
)
def test_messages_that_make_no_sense_change_nothing(content: dict[str, Any]) -> None:
    browser = Browser(sf.explore(matched()))
    browser.send(**content)
    assert len(browser.widget.selection) == 0


def test_a_new_view_is_told_what_is_filtered_and_marked() -> None:
    widget = sf.explore(matched())
    widget.filter = "truth_x > 3"
    Browser(widget).send(ask="mark", object=["truth", 0, 1], more=False)
    browser = Browser(widget)
    browser.send(ask="news")
    assert browser.told("filter")[0]["text"] == "truth_x > 3"
    assert browser.told("marked")[0]["n_rows"] == 1


def test_the_given_table_stays_as_it_is_and_later_changes_do_not_matter() -> None:
    matches = matched()
    before = matches.copy()
    widget = sf.explore(matches)
    Browser(widget).send(ask="mark", object=["truth", 0, 1], more=False)
    selected = widget.selection
    pd.testing.assert_frame_equal(matches, before)
    assert matches.attrs == before.attrs
    matches["truth_x"] = 0.0
    pd.testing.assert_frame_equal(widget.selection, selected)


def test_hostile_names_are_plain_text() -> None:
    truth, predictions = many(1)
    name = {1: f"{HOSTILE}{QUOTED}"}
    truth = sf.Annotations(
        truth.objects.assign(sequence=truth.objects["sequence"].map(name), **{QUOTED: HOSTILE, "__proto__": 1})
    )
    matches = sf.match(truth, predictions.assign(sequence=predictions["sequence"].map(name)))
    browser = Browser(sf.explore({HOSTILE: matches, "__proto__": matches}))
    assert browser.names == [HOSTILE, "__proto__"]
    assert browser.frames["sequences"]["name"] == [f"{HOSTILE}{QUOTED}"]
    browser.widget.filter = f"`truth_{QUOTED}` == '{HOSTILE}'"
    assert len(browser.passing()[0][0]) == len(truth.objects)


def test_it_shows_itself_as_text() -> None:
    assert repr(sf.explore(matched())) == f"Explorer of matches: {len(matched()):,} rows in 20 frames"
