"""Whatever a front end sends is answered: with what it asks for, or with what is wrong with the message."""

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, example, given, settings

import spotgeo_frames as sf
from helpers.explorers import Browser
from helpers.report_inputs import many

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["truth", "predicted", -1, 10**4000]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
ASKS = st.sampled_from(
    ["outline", "news", "chunk", "picture", "mark", "choose", "only", "tag", "counts", "points", "patches", "nothing"]
)
MESSAGES = VALUES | st.fixed_dictionaries(
    {"ask": ASKS | VALUES},
    optional={
        "id": VALUES,
        **dict.fromkeys(["chunk", "frame", "object", "more", "tag", "row", "column", "corners", "n", "on"], VALUES),
        **dict.fromkeys(["by", "x", "y"], st.sampled_from(["truth_x", "truth_y", "sequence"]) | VALUES),
        "of": st.sampled_from(["errors", "filter", "marked"]) | VALUES,
    },
)


@pytest.fixture(scope="module")
def browser() -> Browser:
    return Browser(sf.explore(sf.match(*many(3))))


def send(browser: Browser, content: Any) -> list[dict[str, Any]]:
    """What the widget sends back, as JSON in UTF-8."""
    browser.heard.clear()
    browser.widget._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})
    answers = [answer for answer, _ in browser.heard]
    json.dumps(answers, allow_nan=False, ensure_ascii=False).encode("utf-8")
    return answers


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=MESSAGES)
@example(content={"ask": "mark", "object": ["truth", 0, float("nan")]})
@example(content={"ask": "mark", "object": ["truth", 0, 10**4000], "id": 10**4000})
@example(content={"ask": "tag", "tag": "\ud800"})
@example(content={"ask": "\ud800", "id": "\ud800"})
@example(content={"ask": ["outline"], "id": {"a": 1}})
def test_any_message_is_answered(browser: Browser, content: Any) -> None:
    answers = send(browser, content)
    assert answers
    assert all("error" in answer or "tell" in answer or "id" in answer for answer in answers)
    assert isinstance(len(browser.widget.selection) + len(browser.widget.tags), int)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ([1, 2], ["a list of 2"]),
        (None, ["None"]),
        ({}, ["ask", "outline"]),
        ({"ask": "nothing"}, ["'nothing'", "outline"]),
        ({"ask": 7}, ["ask", "7"]),
        ({"ask": "chunk"}, ["chunk", "None", "integer"]),
        ({"ask": "chunk", "chunk": "0"}, ["chunk", "'0'"]),
        ({"ask": "chunk", "chunk": True}, ["chunk", "True"]),
        ({"ask": "chunk", "chunk": -1}, ["chunk", "-1"]),
        ({"ask": "chunk", "chunk": 10**9}, ["chunk", "1000000000"]),
        ({"ask": "chunk", "chunk": 10**4000}, ["chunk", "13,288 bits"]),
        ({"ask": "picture", "frame": 0}, ["images="]),
        ({"ask": "mark", "object": 3}, ["object", "3"]),
        ({"ask": "mark", "object": ["truth", 0]}, ["object", "a list of 2"]),
        ({"ask": "mark", "object": ["both", 0, 0]}, ["object"]),
        ({"ask": "mark", "object": ["truth", 7, 1]}, ["object[1]", "7"]),
        ({"ask": "mark", "object": ["predicted", 0, -5]}, ["object[2]", "-5"]),
        ({"ask": "mark", "object": ["truth", 0, [1]]}, ["object[2]", "a list of 1"]),
        ({"ask": "mark", "object": None, "more": "yes"}, ["more", "'yes'"]),
        ({"ask": "counts"}, ["''", "truth_x"]),
        ({"ask": "counts", "by": "confusion 0"}, ["'confusion 0'", "truth_x"]),
        ({"ask": "choose", "by": "sequence", "row": 3, "column": 0}, ["row", "3"]),
        ({"ask": "choose", "by": "sequence", "row": 0, "column": None}, ["column", "None"]),
        ({"ask": "choose", "x": "truth_x", "y": "truth_y", "corners": [[0, 0], [1, 1]]}, ["corners", "a list of 2"]),
        ({"ask": "choose", "x": "truth_x", "y": "truth_y", "corners": [[0, 0], [1, 1], [1]]}, ["corners"]),
        ({"ask": "choose", "x": "truth_x", "y": "truth_y", "corners": [[0, 0], [1, 1], [1, 1e999]]}, ["corners"]),
        ({"ask": "choose", "x": "truth_x", "y": "outcome", "corners": [[0, 0]] * 3}, ["'outcome'", "truth_x"]),
        ({"ask": "points", "x": "truth_x"}, ["''", "truth_y"]),
        ({"ask": "patches", "of": "all", "by": "", "n": 5}, ["of", "'all'", "errors"]),
        ({"ask": "patches", "of": "errors", "by": "nothing", "n": 5}, ["'nothing'"]),
        ({"ask": "patches", "of": "errors", "by": "", "n": 121}, ["n", "121"]),
        ({"ask": "only", "on": 1}, ["on", "1"]),
        ({"ask": "tag", "tag": {"a": 1}}, ["tag", "an object of 1"]),
    ],
)
def test_what_is_wrong_is_told(browser: Browser, content: Any, named: list[str]) -> None:
    if isinstance(content, dict):
        content = content | {"id": "view 5"}
    send(browser, {"ask": "mark", "object": ["truth", 0, 1], "more": False})
    [answer] = send(browser, content)
    assert answer["id"] == ("view 5" if isinstance(content, dict) else None)
    assert all(name in answer["error"] for name in ["explore:", *named]), answer["error"]
    assert len(browser.widget.selection) == 1, "it changes nothing"


def test_a_frame_that_there_is_not_has_no_picture(tmp_path: Any) -> None:
    browser = Browser(sf.explore(sf.match(*many(1)), images=tmp_path))
    [answer] = send(browser, {"ask": "picture", "frame": 10**9, "id": 1})
    assert "frame is 1000000000" in answer["error"]
